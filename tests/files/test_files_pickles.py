"""State pickles: plain values and registered classes are read, everything else is refused by name."""
import builtins
import os
import pickle
import subprocess
from collections import OrderedDict, defaultdict

import numpy as np
import pytest

from mxnet._files import params, pickles
from mxnet.base import MXNetError

VALUES = [
    None, True, 0, -5, 2**100, 1.5, 1j, 'text é', b'', b'bytes\xff', bytearray(b'more'), [], [1, [2]], (), (1,), (1, 2),
    (1, 2, 3), (1, 2, 3, 4), {}, {1: 'a', (2, 'b'): None}, set(), {1, 2}, frozenset([1, (2, 'a')]),
    OrderedDict([('b', 1), ('a', 2)]), np.float32(2.5), np.bool_(True), np.int64(-3), np.float16, np.dtype('float32'),
    np.dtype('>i4'), np.zeros((0, 3)), np.array(3, 'complex128'), np.array([True, False]), np.array(['ab', 'c']),
    np.arange(6.).reshape(2, 3), np.asfortranarray(np.arange(6, dtype='>i4').reshape(2, 3)), np.array([b'a', b'bcd']),
]


@pytest.mark.parametrize('protocol', range(6))
@pytest.mark.parametrize('value', VALUES, ids=[f'{i}-{type(value).__name__}' for i, value in enumerate(VALUES)])
def test_plain_values(value, protocol):
    data = pickle.dumps(value, protocol)
    got, want = pickles.load(data), pickle.loads(data)
    assert type(got) is type(want)
    if isinstance(want, np.ndarray):
        assert got.dtype == want.dtype and got.flags.writeable
        np.testing.assert_array_equal(got, want)
    else:
        assert got == want


def test_shared_parts_stay_shared():
    inner = [1]
    got = pickles.load(pickle.dumps({'a': inner, 'b': inner}))
    assert got['a'] is got['b']


@pytest.mark.parametrize('data, words', [
    (b'\x80\x04}K\x00N' + b'2\x86' * 60 + b's.', r'a tuple of 4,194,303 values takes .* MXNET_FILE_LIMIT_MB='),
    (b'\x80\x04]2a.', 'a list that is inside of itself'),
    (b'(' * 500 + b'l' * 500 + b'.', 'values that are nested 101 deep'),
    (pickle.dumps({0: ((), [((), ())] * 3)}), None),
])
def test_references_that_never_end(data, words):
    if words is None:
        assert pickles.load(data, where='f.states') == pickle.loads(data)
        return
    with pytest.raises(MXNetError, match=words) as caught:
        pickles.load(data, where='f.states')
    assert str(caught.value).startswith('f.states: ')


# Written by Python 2.7 with protocols 0, 1 and 2.
PYTHON_2 = [
    (
        b"(dp0\nS'handle'\np1\nc__builtin__\nbytearray\np2\n(V\xc9\xff\np3\nS'latin-1'\np4\ntp5\nRp6\nsS'o"
        b"d'\np7\nccollections\nOrderedDict\np8\n((lp9\n(lp10\nS'a'\np11\naI1\naatp12\nRp13\nsS'o'\np14\nc"
        b'copy_reg\n_reconstructor\np15\n(cmxnet.optimizer\nSGD\np16\nc__builtin__\nobject\np17\nNtp18\nRp'
        b"19\n(dp20\nS'idx2name'\np21\n(dp22\nI0\nS'w'\np23\nssS'lr'\np24\nF0.5\nsbsS'n'\np25\nI1099511627"
        b"776\nsS's'\np26\nc__builtin__\nset\np27\n((lp28\nI1\natp29\nRp30\nsS'u'\np31\nV\xe9\np32\nsS't'"
        b'\np33\n(I01\nNtp34\ns.'
    ),
    (
        b'}q\x00(U\x06handleq\x01c__builtin__\nbytearray\nq\x02(X\x04\x00\x00\x00\xc3\x89\xc3\xbfq\x03U'
        b'\x07latin-1q\x04tq\x05Rq\x06U\x02odq\x07ccollections\nOrderedDict\nq\x08(]q\t]q\n(U\x01aq\x0bK'
        b'\x01eatq\x0cRq\rU\x01oq\x0eccopy_reg\n_reconstructor\nq\x0f(cmxnet.optimizer\nSGD\nq\x10c__built'
        b'in__\nobject\nq\x11Ntq\x12Rq\x13}q\x14(U\x08idx2nameq\x15}q\x16K\x00U\x01wq\x17sU\x02lrq\x18G?'
        b'\xe0\x00\x00\x00\x00\x00\x00ubU\x01nq\x19I1099511627776\nU\x01sq\x1ac__builtin__\nset\nq\x1b(]q'
        b'\x1cK\x01atq\x1dRq\x1eU\x01uq\x1fX\x02\x00\x00\x00\xc3\xa9q U\x01tq!(I01\nNtq"u.'
    ),
    (
        b'\x80\x02}q\x00(U\x06handleq\x01c__builtin__\nbytearray\nq\x02X\x04\x00\x00\x00\xc3\x89\xc3\xbfq'
        b'\x03U\x07latin-1q\x04\x86q\x05Rq\x06U\x02odq\x07ccollections\nOrderedDict\nq\x08]q\t]q\n(U\x01aq'
        b'\x0bK\x01ea\x85q\x0cRq\rU\x01oq\x0ecmxnet.optimizer\nSGD\nq\x0f)\x81q\x10}q\x11(U\x08idx2nameq'
        b'\x12}q\x13K\x00U\x01wq\x14sU\x02lrq\x15G?\xe0\x00\x00\x00\x00\x00\x00ubU\x01nq\x16I1099511627776'
        b'\nU\x01sq\x17c__builtin__\nset\nq\x18]q\x19K\x01a\x85q\x1aRq\x1bU\x01uq\x1cX\x02\x00\x00\x00\xc3'
        b'\xa9q\x1dU\x01tq\x1e\x88N\x86q\x1fu.'
    ),
]


class Optimizer:
    """Registered below; has no __setstate__."""


class Handle:
    def __init__(self, handle=None):
        self.value = handle

    def __setstate__(self, state):
        self.value = state['handle']


CLASSES = {('mxnet.optimizer', 'SGD'): Optimizer, ('mxnet.ndarray.ndarray', 'NDArray'): Handle}


@pytest.mark.parametrize('data', PYTHON_2, ids=range(3))
def test_python_2(data):
    got = pickles.load(data, CLASSES, 'x')
    assert vars(got.pop('o')) == {'lr': 0.5, 'idx2name': {0: 'w'}}
    assert got == {'handle': bytearray(b'\xc9\xff'), 'od': OrderedDict(a=1), 'n': 2**40, 's': {1}, 'u': 'é',
                   't': (True, None)}


@pytest.mark.parametrize('name', ['trainer.states', 'updater.states', 'module-0000.states'])
def test_golden_states(shared, name):
    class Array(Handle):
        def __setstate__(self, state):
            self.array = params.decode_record(state['handle'], name).data.numpy()

    data = (shared / 'golden' / 'files' / name).read_bytes()
    known = {('mxnet.ndarray.ndarray', 'NDArray'): Array}
    for optimizer in ('Adam', 'SGD'):
        known['mxnet.optimizer.optimizer', optimizer] = Optimizer
    got = pickles.load(data, known, name)
    if name == 'trainer.states':
        states, optimizer = got
        assert type(optimizer) is Optimizer and optimizer.num_update == 3 and optimizer.beta1 == 0.9
    else:
        states = got
    if name != 'module-0000.states':
        with np.load(shared / 'golden' / 'files' / 'expected.npz') as values:
            keys = [key.split('/')[1:] for key in values.files if key.startswith('trainer.states/')]
            assert keys
            for i, j in keys:
                np.testing.assert_array_equal(states[int(i)][int(j)].array, values[f'trainer.states/{i}/{j}'])
    with pytest.raises(MXNetError, match=r'^the-file: byte \d+: refused to unpickle mxnet\.ndarray\.ndarray\.NDArray$'):
        pickles.load(data, {}, 'the-file')


class Bomb:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize('protocol', range(6))
@pytest.mark.parametrize('function, arguments, name', [
    (os.system, ('touch BOOM',), r'(posix|nt)\.system'), (builtins.eval, ("open('BOOM','w')",), r'\w+\.eval'),
    (builtins.exec, ("open('BOOM','w')",), r'\w+\.exec'), (builtins.getattr, ({}, 'keys'), r'\w+\.getattr'),
    (builtins.open, ('BOOM', 'w'), r'(_io|io)\.open'),
    (subprocess.Popen, (['touch', 'BOOM'],), r'(subprocess|commands)\.Popen'),
    (builtins.__import__, ('antigravity',), r'\w+\.__import__'), (np.load, ('x',), r'numpy.*\.load'),
    (defaultdict, (list,), r'collections\.defaultdict'), (range, (10**12,), r'\w+\.x?range'),
])
def test_bombs_are_refused_by_name(function, arguments, name, protocol, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps({'state': [Bomb(function, *arguments)]}, protocol)
    with pytest.raises(MXNetError, match=rf'^x: byte \d+: refused to unpickle {name}$'):
        pickles.load(data, CLASSES, 'x')
    assert not (tmp_path / 'BOOM').exists()


def instructions(*parts):
    return b'\x80\x04' + b''.join(parts) + b'.'


def text(value):
    return b'\x8c' + bytes([len(value)]) + value.encode()


def named(module, name):
    return text(module) + text(name) + b'\x93'


def number(value):
    return b'\x8a\x08' + value.to_bytes(8, 'little', signed=True)


SGD = named('mxnet.optimizer', 'SGD')
NDARRAY = named('numpy', 'ndarray')
RECONSTRUCT = named('numpy.core.multiarray', '_reconstruct')
EMPTY_ARRAY = RECONSTRUCT + NDARRAY + number(0) + b'\x85' + b'C\x01b' + b'\x87R'


@pytest.mark.parametrize('data, words', [
    # memory that is not in the file
    (instructions(named('builtins', 'bytearray'), number(10**12), b'\x85R'), 'bytes of int'),
    (instructions(named('builtins', 'bytes'), number(10**12), b'\x85R'), 'bytes of int'),
    (instructions(b'\x96', (10**12).to_bytes(8, 'little')), 'not a whole pickle'),
    (instructions(b'\x8e', (2**62).to_bytes(8, 'little')), 'not a whole pickle'),
    (instructions(RECONSTRUCT, NDARRAY, number(10**12), b'\x85C\x01b\x87R'), 'not made empty first'),
    (instructions(EMPTY_ARRAY, b'(', number(1), number(10**12), b'\x85', named('numpy', 'dtype'), text('f4'), b'\x85R',
                  b'\x89C\x00tb'), r'shape \(1000000000000,\) and float32 with 0 bytes'),
    # raw pointers in arrays
    (instructions(named('numpy', 'dtype'), text('O8'), b'\x85R'), "the NumPy dtype 'O8'"),
    (instructions(named('numpy', 'dtype'), text('f4'), b'\x85R(', number(3), text('|'), b'NN}', number(-1), number(-1),
                  number(63), b'tb'), 'a state of a NumPy dtype'),
    # changing what others use
    (instructions(SGD, b'}', text('update'), b'Nsb'), 'a change of a type'),
    (instructions(SGD, b'N}', text('update'), b'Ns\x86b'), 'a change of a type'),
    (instructions(SGD, b')\x81', text('a'), b'b'), 'not a dictionary of attributes'),
    (instructions(SGD, b')\x81}', text('__class__'), b'Nsb'), 'not a dictionary of attributes'),
    (instructions(SGD, b')\x81', b'Na'), 'a Optimizer that is filled like a list'),
    (instructions(SGD, b')\x81', b'NNs'), 'filled like a dict'),
    # calling what is not registered
    (instructions(SGD, b')\x81', b')R'), 'a call of a Optimizer'),
    (instructions(named('numpy', 'float32'), b')R'), 'a call of float32'),
    (instructions(named('numpy', 'ndarray'), b')\x81'), 'a new instance of ndarray'),
    (instructions(b'\x82\x01'), 'the instruction EXT1'),
    (b'(imxnet.optimizer\nSGD\n.', 'the instruction INST'),
    (b'Pouter\n.', 'the instruction PERSID'),
    # names that are tricks
    (instructions(named('mxnet.optimizer', 'SGD.__init__')), r'mxnet\.optimizer\.SGD\.__init__'),
    (instructions(named('numpy.core.multiarray', 'scalar.__self__')), 'scalar.__self__'),
    (b'', 'not a whole pickle'), (b'\x80\x04.', 'not a whole pickle'), (b'hello', 'not a whole pickle'),
], ids=range(25))
def test_hand_made_attacks(data, words):
    before = dict(vars(Optimizer))
    with pytest.raises(MXNetError, match=rf'^x: .*({words})'):
        pickles.load(data, CLASSES, 'x')
    assert dict(vars(Optimizer)) == before


@pytest.mark.timeout(20)
@pytest.mark.parametrize('end', [b'N\x86R', b'}h\x00NsNR', b'(h\x00\x91'], ids=['repr', 'dict key', 'frozenset'])
def test_nested_tuples_do_not_hang(end):
    """A tuple of twice the same tuple of twice the same ...: 2**80 steps to hash or to print."""
    nest = b')' + b'\x94' + b''.join(b'h' + bytes([i]) + b'h' + bytes([i]) + b'\x86\x94' for i in range(80))
    data = instructions(nest, end.replace(b'h\x00', b'h' + bytes([80])))
    with pytest.raises(MXNetError, match='refused'):
        pickles.load(data, {}, 'x')


def test_an_error_of_a_class_names_the_file():
    class Strict(Handle):
        def __setstate__(self, state):
            params.decode_record(b'xx', 'its handle')

    data = instructions(named('mxnet.ndarray.ndarray', 'NDArray'), b'N\x85R}b')
    with pytest.raises(MXNetError, match=r'^some/file: byte 39: its handle: byte 0: .*expected 4 bytes'):
        pickles.load(data, {('mxnet.ndarray.ndarray', 'NDArray'): Strict}, 'some/file')
