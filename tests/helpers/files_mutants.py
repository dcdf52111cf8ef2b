"""Run by test_files_hostile.py in a process with little memory: reads thousands of damaged files.

    python files_mutants.py params|pickle|safetensors COUNT

Prints how many were read and how many refused; anything but an MXNetError ends it with a traceback.
"""
import json
import os
import pickle
import random
import resource
import signal
import struct
import sys
import tempfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch
from files_legacy import old_files

from mxnet._files import params, paths, pickles, safetensors
from mxnet.base import MXNetError

DATA = Path(__file__).parent.parent / 'data' / 'params'
SPARE = 192 << 20  # bytes that reading a few kilobytes may ask for
NUMBERS = (0, 1, -1, 2, 33, 255, 2**16, 2**24, 2**31 - 1, -2**31, 2**32 - 1, 2**33, 2**40, 2**61, 2**63 - 1, -2**63)


class Array:
    """What stands for an NDArray or an optimizer."""

    def __init__(self, handle=None):
        pass

    def __setstate__(self, state):
        if not isinstance(state, dict):
            raise MXNetError('expected a dictionary')
        if isinstance(state.get('handle'), (bytes, bytearray)):
            params.decode_record(state['handle'], 'handle')


def mutants(seeds, count, chance):
    """Truncations, extreme numbers at every place of the small files, then random damage."""
    for seed in seeds:
        yield from (seed[:end] for end in range(0, len(seed), max(1, len(seed) // 200)))
    for seed in (seed for seed in seeds if len(seed) <= 250):
        for at in range(len(seed)):
            for number in NUMBERS:
                yield seed[:at] + struct.pack('<Q', number % 2**64) + seed[at + 8:]
                yield seed[:at] + struct.pack('<I', number % 2**32) + seed[at + 4:]
    for _ in range(count):
        data = bytearray(chance.choice(seeds))
        for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
            at = chance.randrange(len(data) + 1)
            other = chance.choice(seeds)
            start = chance.randrange(len(other))
            kind = chance.randrange(7)
            if kind == 0:
                data[at:at + 1] = bytes([chance.randrange(256)])
            elif kind == 1 and at < len(data):
                data[at] ^= 1 << chance.randrange(8)
            elif kind == 2:
                data[at:at + 4] = struct.pack('<I', chance.choice(NUMBERS) % 2**32)
            elif kind == 3:
                data[at:at + 8] = struct.pack('<Q', chance.choice(NUMBERS) % 2**64)
            elif kind == 4:
                del data[at:at + chance.randrange(40)]
            elif kind == 5:
                data[at:at] = other[start:start + chance.randrange(60)]
            else:
                data[at:at + 40] = other[start:start + 40]
        yield bytes(data)


def params_seeds():
    files = [path.read_bytes() for path in sorted(DATA.glob('*.params'))]
    return files + [data for name, (data, _, _) in old_files().items() if 'v' not in name or '-1-' in name]


def read_params(data):
    records, _ = params.decode(data, 'mutant')
    for record in records:
        np_shape = record.shape == ()
        written = params.encode_record(record, np_shape=np_shape)
        again = params.decode_record(written, 'again')
        assert (again.stype, again.shape, again.context) == (record.stype, record.shape, record.context)
        assert params.encode_record(again, np_shape=np_shape) == written


def pickle_seeds():
    state = {0: [np.float32(1.5), np.arange(6.).reshape(2, 3), None], 'lr': 0.1, 'names': {'a': (1, 2), 'b': {3, 4}},
             'big': 2**70, 'bytes': b'\0\1', 'more': bytearray(b'xyz'), 'ordered': OrderedDict(x=1), 'z': 1j,
             'text': np.array(['a', 'bc']), 'set': frozenset([1, 'x']), 'flag': np.bool_(True)}
    return [(DATA / 'arrays.pickle').read_bytes()] + [pickle.dumps(state, protocol) for protocol in range(6)]


CLASSES = {('mxnet.ndarray.ndarray', 'NDArray'): Array, ('mxnet.ndarray.sparse', 'CSRNDArray'): Array,
           ('mxnet.ndarray.sparse', 'RowSparseNDArray'): Array}


def safetensors_seeds():
    import safetensors.torch
    return [safetensors.torch.save({'a': torch.ones(2, 3), 'b': torch.arange(4)}),
            safetensors.torch.save({'x': torch.ones(1, dtype=torch.bfloat16), 'é': torch.zeros(0, 2)}, {'a': 'b'})]


def read_safetensors(data):
    with open(FILE, 'wb') as file:
        file.write(data)
    safetensors.load(FILE)
    paths.write_atomic('memory://mutant', [data])
    safetensors.load('memory://mutant')


FILE = os.path.join(tempfile.gettempdir(), f'mutant-{os.getpid()}.safetensors')
KINDS = {
    'params': (params_seeds, read_params),
    'pickle': (pickle_seeds, lambda data: pickles.load(data, CLASSES, 'mutant')),
    'safetensors': (safetensors_seeds, read_safetensors),
}


def main():
    make_seeds, read = KINDS[sys.argv[1]]
    seeds = make_seeds()
    for seed in seeds:
        read(seed)
    pages = int(Path('/proc/self/statm').read_text().split()[0])
    limit = pages * resource.getpagesize() + SPARE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    good = bad = 0
    for data in mutants(seeds, int(sys.argv[2]), random.Random(11)):
        signal.alarm(5)  # kills a reader that hangs
        try:
            read(data)
            good += 1
        except MXNetError as error:
            assert str(error).startswith(('mutant', FILE, 'memory://'))
            bad += 1
        except BaseException:
            print(data, file=sys.stderr)
            raise
    signal.alarm(0)
    if os.path.exists(FILE):
        os.unlink(FILE)
    print(json.dumps({'read': good, 'refused': bad}))


if __name__ == '__main__':
    main()
