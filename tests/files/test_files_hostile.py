"""Damaged and malicious files: an MXNetError or values; never a crash, a hang, much memory or running code."""
import io
import json
import struct
import sys

import numpy as np
import pytest
from conftest import ROOT
from files_legacy import listed, v2

from mxnet._files import params
from mxnet.base import MXNetError

HELPERS = ROOT / 'tests' / 'helpers'
ONE = v2(np.ones(2, 'float32'), 0)


@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='limits memory the way Linux does')
@pytest.mark.parametrize('kind, count', [('params', 6000), ('pickle', 6000), ('safetensors', 400)])
def test_mutants(run_python, kind, count):
    if kind == 'safetensors':
        pytest.importorskip('safetensors')
        pytest.importorskip('fsspec')
    seen = json.loads(run_python(str(HELPERS / 'files_mutants.py'), kind, str(count)).stdout)
    assert seen['refused'] > count / 2
    assert seen['read'] > 20  # damage in values goes unnoticed, so some must be readable


def head(*fields):
    """A list with one record: numbers of 32 bits, and bytes as they are."""
    parts = [(field % 2**32).to_bytes(4, 'little') if isinstance(field, int) else field for field in fields]
    return struct.pack('<QQQ', 0x112, 0, 1) + b''.join(parts)


def q(*numbers):
    return struct.pack(f'<{len(numbers)}q', *numbers)


CPU = struct.pack('<ii', 1, 0)
V2, V3 = 0xF993FAC9, 0xF993FACA


@pytest.mark.parametrize('data, words', [
    (b'', r'byte 0: .*expected 16 bytes of the header .*, found 0'),
    (b'PK\3\4' + bytes(30), r'byte 0: not an MXNet array file: expected the number 0x112'),
    (struct.pack('<QQQ', 0x112, 0, 2**60), r'byte 16: expected a number of arrays that fits in the 0 bytes left'),
    (listed([ONE])[:-12], r'byte 56: array 0: .*expected 8 bytes of values, float32 of shape \(2,\), found 4'),
    (listed([ONE], ['a', 'b']), r'expected 0 or 1 names for 1 arrays, found 2'),
    (listed([ONE])[:-8] + struct.pack('<QQ', 1, 2**62), r'expected 4611686018427387904 bytes of a name, found 0'),
    (listed([ONE])[:-8] + struct.pack('<QQ', 1, 2) + b'\xff\xfe', r'expected a name in UTF-8'),
    (head(77), r'byte 24: array 0: expected version 0xf993fac9, .* found 0x4d'),
    (head(0xDEADBEEF), r'byte 24: array 0: expected version .* found 0xdeadbeef'),
    (head(V2, 9), r'byte 28: array 0: expected storage type 0 \(default\), 1 \(row_sparse\), 2 \(csr\), found 9'),
    (head(V2, 0, 33), r'byte 32: array 0: expected 0 to 32 dimensions in the shape, found 33'),
    (head(V2, 0, -1), r'expected 0 to 32 dimensions in the shape, found -1'),
    (head(V2, 0, 2, q(-1, 3)), r'byte 36: array 0: expected dimensions of 0 or more in the shape, found \(-1, 3\)'),
    (head(V2, 0, 1, q(2), 9, 0, 0), r'array 0: expected device type 1 \(cpu\), .*, found 9'),
    (head(V2, 0, 1, q(2), CPU, 99), r'expected the element type to be 0 \(float32\), .*12 \(bfloat16\), found 99'),
    (head(V2, 0, 2, q(2**40, 2**40), CPU, 0), r'expected 4835703278458516698824704 bytes of values, float32'),
    (head(V2, 0, 3, q(0, 2**62, 2**62), CPU, 0), r'expected values of fewer than 2\*\*63 bytes, found shape'),
    (head(V2, 0, 1, q(2**40), CPU, 0), r'array 0: .*expected 4398046511104 bytes of values, float32 of'),
    (head(V3, 1, 1, q(2)), r'expected a dense array under NumPy shape semantics, found row_sparse'),
    (head(V2, 1, 2, q(1, 2), 2, q(4, 3), CPU, 0, 6, 1, q(1)), r'expected row_sparse values of shape \(1, 3\)'),
    (head(V2, 1, 2, q(1, 3), 2, q(4, 3), CPU, 0, 0, 1, q(1)), r'expected indices of int64 or int32, found float32'),
    (head(V2, 1, 2, q(1, 1), 2, q(4, 1), CPU, 3, 6, 1, q(1), b'x', q(4)), r'row_sparse indices from 0 to 3, found 4'),
    (head(V2, 1, 2, q(1, 1), 2, q(4, 1), CPU, 3, 6, 1, q(1), b'x', q(-9)), r'indices from 0 to 3, found -9'),
    (head(V2, 2, 1, q(1), 3, q(1, 1, 1), CPU, 3, 6, 1, q(2), 6, 1, q(1)), r'expected a csr array of 2 dimensions'),
    (head(V2, 2, 1, q(1), 2, q(2, 2), CPU, 3, 6, 1, q(2), 6, 1, q(1)), r'expected a csr indptr of shape \(3,\)'),
    (head(V2, 2, 1, q(1), 2, q(1, 2), CPU, 3, 6, 1, q(2), 6, 1, q(2)), r'expected csr values and indices of one shape'),
    (head(V2, 2, 1, q(1), 2, q(1, 2), CPU, 3, 6, 1, q(2), 6, 1, q(1), b'x', q(0, 5), q(0)), r'rises from 0 to 1'),
    (head(V2, 2, 1, q(1), 2, q(1, 2), CPU, 3, 6, 1, q(2), 6, 1, q(1), b'x', q(0, 1), q(2)), r'csr indices from 0 to 1'),
], ids=range(28))
def test_errors_say_file_place_and_expectation(data, words):
    for source in (data, io.BytesIO(data)):
        with pytest.raises(MXNetError, match=words) as caught:
            params.decode(source, 'some/file.params')
        assert str(caught.value).startswith('some/file.params: byte ')


def test_a_file_that_shrinks_while_it_is_read():
    class Shrinking(io.BytesIO):
        def readinto(self, target):
            return 0 if len(target) > 100 else super().readinto(target)

    data = listed([v2(np.ones(200, 'float32'), 0)])
    with pytest.raises(MXNetError, match='became shorter while it was read'):
        params.decode(Shrinking(data), 'x')
