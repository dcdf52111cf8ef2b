"""The digits of examples/data/mnist, or of another folder with the four files of MNIST, as NumPy arrays."""
import gzip
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent / 'data' / 'mnist'


def load(part='train', folder=None):
    """(pictures (N, 1, 28, 28) from 0 to 1, labels (N,)), both float32; `part` is 'train' or 't10k'."""
    def read(name, offset):
        path = Path(folder or HERE) / name
        data = path.read_bytes() if path.exists() else gzip.decompress(Path(f'{path}.gz').read_bytes())
        return np.frombuffer(data, np.uint8, offset=offset).astype('float32')
    pictures = read(f'{part}-images-idx3-ubyte', 16).reshape(-1, 1, 28, 28) / 255
    return pictures, read(f'{part}-labels-idx1-ubyte', 8)
