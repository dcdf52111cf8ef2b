"""Data sets and models that tests and examples fetch."""
from __future__ import annotations

import bz2
import gzip
import logging
import os
import shutil
import stat
import time
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from .._files import downloading, downloads, idx, limits, paths, published
from ..base import FileError, MXNetError
from ..gluon.utils import _check_scheme

if TYPE_CHECKING:
    from .._typing import Path, Shape

__all__ = ['download', 'download_model', 'get_bz2_data', 'get_cifar10', 'get_mnist', 'get_mnist_iterator',
           'get_mnist_pkl', 'get_mnist_ubyte', 'get_zip_data']

_SITE = 'http://data.mxnet.io'


def download(url: str, fname: Path | None = None, dirname: Path | None = None, overwrite: bool = False,
             retries: int = 5) -> str:
    """Fetches a URL into a file and returns the file's name.

    `fname` is the last part of the URL unless given; a file that is there is kept, unless `overwrite`.  The file
    appears only when it is complete.
    """
    if retries < 0:
        raise AssertionError(f'retries must not be negative, but is {retries}')
    _check_scheme(url)
    fname = os.path.join(dirname or '', fname or url.split('/')[-1])
    if os.path.dirname(fname):
        os.makedirs(os.path.dirname(fname), exist_ok=True)
    if os.path.exists(fname) and not overwrite:
        logging.info('%s already exists', fname)
        return fname
    for left in reversed(range(max(retries, 1))):
        try:
            downloading.fetch(url, fname, files=url.startswith('file://'))
            break
        except OSError as error:
            found = None if left else downloads.stand_in(url)
            if found is not None:
                shutil.copyfile(found, fname)
                break
            if not left:
                raise OSError(f'cannot fetch {url}: {error}') from error
            logging.info('cannot fetch %s (%s); trying again', url, error)
            time.sleep(0.1)
    return fname


def _models():
    """{name: where its files are, without '-symbol.json' and '-0000.params'}."""
    found = {f'imagenet1k-resnet-{n}': f'imagenet/resnet/{n}-layers/resnet-{n}' for n in (18, 34, 50, 101, 152)}
    found |= {f'imagenet1k-resnext-{n}': f'imagenet/resnext/{n}-layers/resnext-{n}' for n in (50, 101)}
    found['imagenet1k-resnext-101-64x4d'] = 'imagenet/resnext/101-layers/resnext-101-64x4d'
    found['imagenet11k-resnet-152'] = 'imagenet-11k/resnet-152/resnet-152'
    found |= {f'imagenet11k-place365ch-resnet-{n}': f'imagenet-11k-place365-ch/resnet-{n}' for n in (152, 50)}
    files = {name: {'symbol': f'{_SITE}/models/{at}-symbol.json', 'params': f'{_SITE}/models/{at}-0000.params'}
             for name, at in found.items()}
    inception = f'{_SITE}/models/imagenet/inception-bn/Inception-BN'
    files['imagenet1k-inception-bn'] = {'symbol': f'{inception}-symbol.json', 'params': f'{inception}-0126.params'}
    return files


def download_model(model_name: str, dst_dir: str = './', meta_info: Any = None) -> Any:
    """Fetches a checkpoint and returns (its prefix, epoch 0); (None, 0) for a name that is not known.

    `meta_info` may name other models: {name: {'symbol': url, 'params': url}}.
    """
    known = _models() if meta_info is None else dict(meta_info)
    if model_name not in known:
        return None, 0
    prefix = os.path.join(dst_dir, model_name)
    for part, ending in (('symbol', '-symbol.json'), ('params', '-0000.params')):
        if part not in known[model_name]:
            raise AssertionError(f'meta_info has no {part!r} URL for {model_name}')
        download(known[model_name][part], prefix + ending)
    return prefix, 0


# ---------------------------------------------------------------------- archives
def unpack(archive, folder):
    """Unpacks a zip file, of which every member must stay inside the folder; links are not made."""
    try:
        with zipfile.ZipFile(archive) as packed:
            limits.check(sum(member.file_size for member in packed.infolist()), os.path.getsize(archive), archive,
                         'what it unpacks to')
            for member in packed.infolist():
                target = os.path.normpath(os.path.join(folder, member.filename))
                if os.path.isabs(member.filename) or '\\' in member.filename or ':' in member.filename \
                        or os.path.commonpath([os.path.abspath(folder), os.path.abspath(target)]) \
                        != os.path.abspath(folder) or stat.S_ISLNK(member.external_attr >> 16):
                    raise FileError(f'{archive}: the member {member.filename!r} would not be a file inside of {folder}')
            packed.extractall(folder)
    except MXNetError:
        raise
    except Exception as error:          # damaged archives make the library raise many things
        raise FileError(f'{archive} is damaged: {limits.broken(error)}') from error


def get_zip_data(data_dir: str, url: str, data_origin_name: str) -> None:
    """Fetches a zip file into a folder and unpacks it there, unless it is there already."""
    archive = os.path.join(data_dir, data_origin_name)
    if not os.path.exists(archive):
        download(url, fname=data_origin_name, dirname=data_dir)
        unpack(archive, data_dir)


def get_bz2_data(data_dir: str, data_name: str, url: str, data_origin_name: str) -> None:
    """Fetches a bz2 file and unpacks it into the file `data_name` of a folder, unless that is there already."""
    target = os.path.join(data_dir, data_name)
    if os.path.exists(target):
        return
    archive = download(url, fname=data_origin_name, dirname=data_dir)
    with bz2.BZ2File(archive) as packed:
        paths.write_atomic(target, iter(lambda: packed.read(1 << 20), b''))
    os.remove(archive)


def _unpacked(url, folder, names):
    """Fetches and unpacks a zip file into data/, unless all of `names` are in `folder` already."""
    if not all(os.path.exists(os.path.join(folder, name)) for name in names):
        unpack(download(url, dirname='data'), 'data')


# ---------------------------------------------------------------------- MNIST and CIFAR-10
def get_mnist() -> Any:
    """MNIST as NumPy arrays: a dict with train_data, train_label, test_data, test_label; images are (n, 1, 28, 28)."""
    def content(name, axes):
        path = name if os.path.exists(name) else published.local('mnist', name)
        if path is None:
            try:
                path = download(f'{_SITE}/data/mnist/{name}')
            except OSError as error:
                raise OSError(f'{error}. {published.hint("mnist")}') from error
        try:
            with gzip.open(path) as file:
                return idx.parse(limits.unpacked(file, os.path.getsize(path), path, 'the packed data'), axes)
        except (OSError, EOFError, zlib.error) as error:
            raise FileError(f'{path} is damaged: {error}') from error
        except idx.Malformed as error:
            raise FileError(f'{path} {error}') from None

    def read(part):
        labels = content(f'{part}-labels-idx1-ubyte.gz', 1).view(np.int8)
        pictures = content(f'{part}-images-idx3-ubyte.gz', 3)[:, None]
        return pictures.astype(np.float32) / 255, labels

    (train_data, train_label), (test_data, test_label) = read('train'), read('t10k')
    return {'train_data': train_data, 'train_label': train_label, 'test_data': test_data, 'test_label': test_label}


def get_mnist_pkl() -> None:
    """MNIST as data/mnist.pkl.gz."""
    download('http://deeplearning.net/data/mnist/mnist.pkl.gz', dirname='data')


_MNIST = {part: (f'{part}-images-idx3-ubyte', f'{part}-labels-idx1-ubyte') for part in ('train', 't10k')}


def get_mnist_ubyte() -> None:
    """MNIST in its original format, in data/."""
    _unpacked(f'{_SITE}/mxnet/data/mnist.zip', 'data', (*_MNIST['train'], *_MNIST['t10k']))


def get_cifar10() -> None:
    """CIFAR-10 as record files, in data/cifar/."""
    _unpacked(f'{_SITE}/mxnet/data/cifar10.zip', 'data/cifar', ('train.rec', 'test.rec', 'train.lst', 'test.lst'))


def get_mnist_iterator(batch_size: int, input_shape: Shape, num_parts: int = 1, part_index: int = 0) -> Any:
    """(training, validation) iterators over MNIST."""
    from ..io import MNISTIter
    get_mnist_ubyte()

    def iterator(part, **options):
        images, labels = (os.path.join('data', name) for name in _MNIST[part])
        return MNISTIter(image=images, label=labels, input_shape=input_shape, batch_size=batch_size,
                         flat=isinstance(input_shape, int) or len(input_shape) != 3, num_parts=num_parts,
                         part_index=part_index, **options)

    return iterator('train', shuffle=True), iterator('t10k')
