"""mx.np.ndarray: shapes without axes, dtypes, operators, indexing, conversions, printing, protocols."""
import copy
import math
import pickle

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np, npx
from mxnet.base import MXNetError


def same(array, expected, dtype=None):
    assert isinstance(array, np.ndarray)
    assert array.shape == onp.shape(expected)
    assert array.asnumpy().tolist() == onp.asarray(expected).tolist()
    if dtype is not None:
        assert array.dtype == dtype


# ---------------------------------------------------------------------- making
@pytest.mark.parametrize('source, dtype', [
    ([1, 2], 'float32'), ([True], 'float32'), (onp.array([1, 2]), 'int64'), (onp.ones(2), 'float64'), (3, 'float32'),
    (onp.float16(2), 'float16'), ([[1.5], [2]], 'float32'), ([], 'float32')])
def test_array_takes_the_dtype_of_arrays_and_float32_for_lists(source, dtype):
    same(np.array(source), source, dtype)


def test_array_from_arrays_and_tensors_copies():
    import torch
    x = np.array([1, 2], dtype='int8')
    y = np.array(x)
    y[0] = 5
    assert x.tolist() == [1, 2] and y.dtype == 'int8'
    t = torch.arange(3)
    same(np.array(t), [0, 1, 2], 'int64')
    same(np.array([np.array(1), 2]), [1, 2], 'float32')
    with pytest.raises(TypeError, match='nested lists'):
        np.array('text')
    assert np.asarray(x) is x and np.asarray([1, 2]).dtype == 'int64' and np.asarray([True]).dtype == 'bool'


@pytest.mark.parametrize('made, expected, dtype', [
    (lambda: np.zeros(()), 0, 'float32'), (lambda: np.zeros((2, 0)), onp.zeros((2, 0)), 'float32'),
    (lambda: np.ones(2, 'int64'), [1, 1], 'int64'), (lambda: np.full((2,), 7), [7, 7], 'float32'),
    (lambda: np.full((2,), True), [True, True], 'bool'), (lambda: np.full((2,), np.array(3)), [3, 3], 'float32'),
    (lambda: np.arange(3), [0, 1, 2], 'float32'), (lambda: np.arange(5, 0), [], 'float32'),
    (lambda: np.arange(3, 0, -1, dtype='int8'), [3, 2, 1], 'int8'),
    (lambda: np.linspace(0, 1, 3), [0, 0.5, 1], 'float32'),
    (lambda: np.logspace(0, 2, 3), [1, 10, 100], 'float32'),
    (lambda: np.eye(2, 3, k=1), [[0, 1, 0], [0, 0, 1]], 'float32'),
    (lambda: np.identity(2), [[1, 0], [0, 1]], 'float32'), (lambda: np.indices((2,)), [[0, 1]], 'int32'),
    (lambda: np.zeros_like(np.ones(2, 'int8')), [0, 0], 'int8'),
    (lambda: np.ones_like(np.ones(2), 'bool'), [True] * 2, 'bool'),
    (lambda: np.full_like(np.ones(2), 3), [3, 3], 'float32'), (lambda: np.hanning(3), [0, 1, 0], 'float32'),
    (lambda: np.blackman(1), [1], 'float32'), (lambda: np.hamming(0), [], 'float32'),
    (lambda: np.copy(np.ones(2)), [1, 1], 'float32')])
def test_creation(made, expected, dtype):
    same(made(), expected, dtype)


def test_creation_says_what_it_cannot():
    for call in (lambda: np.zeros(2, order='F'), lambda: np.empty(2, order='F'), lambda: np.linspace([0], [1]),
                 lambda: np.logspace(0, 1, axis=1), lambda: np.empty_like(np.ones(2), subok=True)):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(ZeroDivisionError):
        np.arange(1, 2, 0)
    with pytest.raises(ValueError, match='negative'):
        np.identity(-1)
    with pytest.raises(TypeError, match='unknown argument stype'):
        np.eye(2, stype='csr')
    assert np.linspace(0, 1, 5, retstep=True)[1] == 0.25 and math.isnan(np.linspace(0, 1, 1, retstep=True)[1])
    assert np.empty((2, 3)).shape == np.empty_like(np.ones((2, 3))).shape == (2, 3)


# ---------------------------------------------------------------------- dtypes
INT, FLOAT, BOOL = np.array([3, -2], dtype='int32'), np.array([1.5, 2]), np.array([True, False], dtype='bool')


@pytest.mark.parametrize('result, expected, dtype', [
    (lambda: INT + FLOAT, [4.5, 0], 'float32'), (lambda: INT + 1.5, [4, -1], 'int32'),
    (lambda: INT * 2, [6, -4], 'int32'),
    (lambda: INT / 2, [1.5, -1], 'float32'), (lambda: 1 / INT, [1 / 3, -0.5], 'float32'),
    (lambda: INT % 2, [1, 0], 'int32'),
    (lambda: BOOL + BOOL, [True, False], 'bool'), (lambda: BOOL + 1, [2, 1], 'int64'),
    (lambda: 1 - BOOL, [0, 1], 'int64'), (lambda: BOOL * 0.5, [.5, 0], 'float32'),
    (lambda: BOOL + INT, [4, -2], 'int32'),
    (lambda: INT ** 2, [9, 4], 'int32'), (lambda: 2 ** INT, [8, 0], 'int32'), (lambda: 7 % INT, [1, -1], 'int32'),
    (lambda: INT > 1.5, [True, False], 'bool'), (lambda: INT == 3, [True, False], 'bool'),
    (lambda: 1 - FLOAT, [-0.5, -1], 'float32'),
    (lambda: FLOAT.astype('float16') + FLOAT, [3, 4], 'float32'), (lambda: INT & 1, [1, 0], 'int32'),
    (lambda: ~BOOL, [False, True], 'bool'),
    (lambda: BOOL | True, [True, True], 'bool'), (lambda: 1 ^ INT, [2, -1], 'int32'), (lambda: -INT, [-3, 2], 'int32'),
    (lambda: abs(INT), [3, 2], 'int32'), (lambda: +FLOAT, [1.5, 2], 'float32'),
    (lambda: round(np.array([0.5, 1.5])), [0, 2], 'float32'),
    (lambda: math.floor(FLOAT), [1, 2], 'float32'), (lambda: math.ceil(FLOAT), [2, 2], 'float32'),
    (lambda: math.trunc(FLOAT), [1, 2], 'float32'),
    (lambda: INT.mean(), 0.5, 'float32'), (lambda: BOOL.sum(), 1, 'int64'), (lambda: INT.sum(), 1, 'int32'),
    (lambda: INT.std(), 2, 'int32'),
    (lambda: np.exp(INT), [20, 0], 'int32'), (lambda: np.argmax(INT), 0, 'int64'),
    (lambda: np.maximum(INT, FLOAT), [3, 2], 'float32'),
    (lambda: onp.ones(2) + FLOAT, [2.5, 3], 'float64'), (lambda: FLOAT @ FLOAT, 6.25, 'float32'),
    (lambda: INT.cumsum(), [3, 1], 'int32'),
    (lambda: np.where(BOOL, 1, 0), [1, 0], 'float32'), (lambda: np.where(BOOL, INT, 9.9), [3, 9], 'int32')])
def test_dtypes(result, expected, dtype):
    array = result()
    assert array.dtype == dtype and array.shape == onp.shape(expected)
    onp.testing.assert_allclose(array.asnumpy(), expected, rtol=1e-6)


def test_in_place():
    x = np.array([4.0, 6.0])
    y = x
    x += 1
    x *= np.array(2)
    x -= 4
    x /= 2
    x %= 3
    assert y is x and x.tolist() == [0.0, 2.0]
    x **= 2                                 # a new array, as in upstream
    assert x.tolist() == [0.0, 4.0] and y.tolist() == [0.0, 2.0]
    i = np.array([6, 3], dtype='int32')
    i &= 3
    i |= 8
    i ^= 1
    assert i.tolist() == [11, 10]
    m = np.eye(2)
    m @= np.ones((2, 2))
    assert m.tolist() == [[1, 1], [1, 1]]
    with pytest.raises(ValueError, match='shape'):
        i &= np.ones((2, 2), 'int32')


# ---------------------------------------------------------------------- numbers, truth
def test_numbers():
    x = np.array(2.5)
    assert (float(x), int(x), complex(x), x.item(), bool(x)) == (2.5, 2, 2.5 + 0j, 2.5, True)
    assert [1, 2, 3][np.array(1, dtype='int32')] == 2 and 2 in np.array([1, 2]) and 5 not in np.array([1, 2])
    assert np.ones((2, 3)).item(1, 2) == 1 and np.arange(6).reshape(2, 3).item(4) == 4
    assert np.sin(0.0) == 0.0 and np.add(1, 2) == 3 and np.less(1, 2)
    assert f'{x:.2f}' == '2.50' and f'{np.ones(2)}' == '[1. 1.]'
    with pytest.raises(TypeError, match='size-1'):
        float(np.ones(2))
    with pytest.raises(ValueError, match='ambiguous'):
        bool(np.ones(2))
    with pytest.warns(DeprecationWarning, match='empty'):
        assert not np.zeros((0,))
    with pytest.raises(TypeError, match='cannot be formatted'):
        format(np.ones(2), '.2f')
    with pytest.raises(TypeError, match='index'):
        [1, 2][np.array(1.0)]
    with pytest.raises(ValueError, match='size 1'):
        np.ones(2).item()


def test_printing():
    assert repr(np.array([1, 2])) == 'array([1., 2.])'
    assert repr(np.array([1], dtype='int32')) == 'array([1], dtype=int32)'
    assert repr(np.array([1], dtype='int64')) == 'array([1], dtype=int64)'
    assert repr(np.array([True], dtype='bool')) == 'array([ True])'
    assert repr(np.zeros((2, 0))) == 'array([], shape=(2, 0))'
    assert repr(np.array(1.5, dtype='float64')) == 'array(1.5, dtype=float64)'
    assert str(np.array(1.5)) == '1.5' and str(np.eye(2)) == '[[1. 0.]\n [0. 1.]]'


# ---------------------------------------------------------------------- indexing
X = onp.arange(24, dtype='float32').reshape(2, 3, 4)
KEYS = [0, -1, slice(1, None), slice(None, None, -1), (0, 1), (0, 1, 2), (slice(None), 1), (Ellipsis, 0), (None, 1),
        (1, None, 2),
        [0, 1], ([0, 1], [1, 2]), (slice(None), [0, 2]), (slice(None, None, -1), [0, 2]), X > 7, (0, X[0] > 4),
        (Ellipsis, slice(0, 3, 2)),
        onp.array([True, False]), (), True]


def converted(key):
    if isinstance(key, tuple):
        return tuple(converted(k) for k in key)
    return np.array(key, dtype=key.dtype) if isinstance(key, onp.ndarray) else key


@pytest.mark.parametrize('key', KEYS, ids=str)
def test_reading(key):
    x = np.array(X)
    own = converted(key)
    same(x[own], X[key])
    x.attach_grad()
    with autograd.record():
        y = (x[own] * 2).sum()
    y.backward()
    expected = onp.zeros_like(X)
    expected[key] = 2
    same(x.grad, expected)


@pytest.mark.parametrize('key', KEYS, ids=str)
def test_writing(key):
    x, expected = np.array(X), X.copy()
    own = converted(key)
    x[own] = -1.5
    expected[key] = -1.5
    same(x, expected)
    x[own] = np.array(onp.ones_like(expected[key]))
    expected[key] = 1
    same(x, expected)


def test_index_errors():
    with pytest.raises(IndexError):
        np.ones((2, 3))[5]
    with pytest.raises(IndexError):
        np.ones((2, 3))[np.array([5], dtype='int32')]
    with pytest.raises(ValueError, match='indexed'):
        np.ones((2, 3))[1.0]


# ---------------------------------------------------------------------- the other face
def test_both_faces_share_memory():
    x = np.ones((2, 3))
    n = x.as_nd_ndarray()
    assert type(n) is mx.nd.NDArray and isinstance(x, mx.nd.NDArray) and x.as_np_ndarray() is x
    n[0] = 5
    assert x[0].tolist() == [5, 5, 5]
    back = n.as_np_ndarray()
    back[1] = 7
    assert type(back) is np.ndarray and n[1].asnumpy().tolist() == [7, 7, 7]
    x.attach_grad()
    with autograd.record():
        y = (x.as_nd_ndarray() * 2).sum()
    y.backward()
    assert x.grad.tolist() == [[2] * 3] * 2


def test_np_wins_where_both_meet():
    x, n = np.ones(2), mx.nd.ones(2)
    for result in (x + n, n + x, x * n, n / x, np.add(n, n), np.sum(n), np.exp(n)):
        assert type(result) is np.ndarray
    assert type(mx.nd.exp(x)) is mx.nd.NDArray
    with pytest.raises(NotImplementedError, match='dense'):
        x.tostype('csr')
    assert x.tostype('default') is x


@pytest.mark.parametrize('x',
                         [np.array(1.5), np.zeros((2, 0)), np.ones((2, 3), 'int8'), np.array([True], dtype='bool')],
                         ids=repr)
def test_pickles_and_copies(x):
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x), x.copy()):
        assert type(y) is np.ndarray and (y.shape, y.dtype) == (x.shape, x.dtype) and y.tolist() == x.tolist()


def test_conversions():
    x = np.array([1.75, -2.5])
    same(x.astype('int32'), [1, -2], 'int32')
    assert x.astype('float32', copy=False) is x and x.astype(x.dtype) is not x
    with pytest.raises(TypeError, match='same_kind'):
        x.astype('int32', casting='same_kind')
    with pytest.raises(ValueError, match='order'):
        x.astype('int32', order='F')
    with pytest.raises(NotImplementedError, match='order'):
        x.copy(order='F')
    assert (x.itemsize, x.nbytes, x.device, x.T.shape) == (4, 8, mx.cpu(), (2,))
    assert x.as_in_ctx(mx.cpu(0)) is x and x.to_device(mx.cpu(1)).ctx == mx.cpu(1)


def test_shape_methods():
    x = np.arange(6).reshape(2, 3)
    x.reshape(-1)[0] = 5                # a copy, unlike NumPy's
    assert x[0, 0] == 0
    x.reshape_view(-1)[0] = 9
    assert x[0, 0] == 9
    assert x.reshape((3, 2)).shape == x.reshape(newshape=(3, 2)).shape == x.reshape_view(3, -1).shape == (3, 2)
    assert x.reshape(3, 2, order='F').tolist() == x.asnumpy().reshape(3, 2, order='F').tolist()
    assert x.reshape([onp.int64(6)]).shape == (6,)
    with pytest.raises(MXNetError, match='does not fit'):
        x.reshape(4)
    with pytest.raises(TypeError, match='missing'):
        x.reshape()
    with pytest.raises(TypeError, match='unknown argument'):
        x.reshape(6, inplace=True)
    assert x.transpose(1, 0).shape == x.transpose((1, 0)).shape == x.transpose().shape == x.T.shape == (3, 2)
    assert x.flatten().shape == x.ravel().shape == (6,) and x.expand_dims(0).squeeze(0).shape == (2, 3)
    assert x.swapaxes(0, 1).shape == (3, 2) and x.repeat(2, 1).shape == (2, 6) and x.tile(2).shape == (2, 6)
    assert x.broadcast_to((4, 2, 3)).shape == x.broadcast_like(np.ones((4, 2, 3))).shape == (4, 2, 3)
    assert x.diag().tolist() == [9, 4] and x.take([0, 1], axis=0).shape == (2, 3) and x.norm().shape == ()
    assert x.clip(1, 3).max() == 3 and x.round().shape == (2, 3) and x.dot(x.T).shape == (2, 2)
    assert [a.tolist() for a in np.array([0, 3]).nonzero()] == [[1]]
    assert x.argsort().dtype == 'int64' and x.prod() == 9 * 120
    y = np.array([3, 1, 2])
    assert y.sort() is None and y.tolist() == [1, 2, 3]
    assert (x.all().item(), x.any().item(), x.argmin().item(), x.argmax(axis=0).tolist()) == (True, True, 1, [0, 1, 1])


# ---------------------------------------------------------------------- protocols
def test_numpy_functions_on_our_arrays_give_ours():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    for result in (onp.sin(x), onp.sum(x, axis=0), onp.concatenate([x, x]), onp.add(x, 1), onp.linalg.inv(x),
                   onp.cumprod(x, 0),
                   onp.array([1.0, 1.0]) * x, onp.nancumsum(x), onp.arcsin(x * 0)):
        assert type(result) is np.ndarray
    out = np.zeros((2, 2))
    assert onp.add(x, x, out=out) is out and out.tolist() == [[2, 4], [6, 8]]
    with pytest.raises(ValueError, match='cannot write'):
        onp.add(x, x, out=onp.zeros((2, 2)))
    with pytest.raises(TypeError):
        onp.add.reduce(x)
    assert onp.asarray(x).dtype == 'float32' and x.__array_namespace__() is np.array_api
    assert onp.from_dlpack(x).tolist() == x.tolist()


def test_out_and_where():
    x, out = np.array([1.0, 4.0]), np.zeros(2)
    assert np.sqrt(x, out=out) is out and out.tolist() == [1, 2]
    assert np.add(x, 1, out=out) is out and np.sum(np.ones((2, 2)), axis=0, out=out) is out and out.tolist() == [2, 2]
    mask = np.array([True, False], dtype='bool')
    assert np.sqrt(x, where=mask).tolist() == [1, 0]
    assert np.add(x, x, out=np.full((2,), 9), where=mask).tolist() == [2, 9]
    with pytest.raises(NotImplementedError, match='where=False'):
        np.sin(x, where=False)
    with pytest.raises(NotImplementedError, match='casting'):
        np.add(x, x, casting='safe')
    with pytest.raises(TypeError, match='not understood'):
        np.sin(x, dtype='nonsense')
    with pytest.raises(TypeError, match='no option'):
        np.sin(x, colour='red')
    with pytest.raises(TypeError, match='booleans'):
        np.isnan(x, out=np.zeros(2))
    with pytest.raises(TypeError, match='booleans'):
        np.sin(x, where=np.ones(2))
    with pytest.raises(ValueError, match='one array'):
        np.sin(x, out=(out, out))


@pytest.mark.parametrize('call',
                         [lambda: np.add(np.ones(2), [1]), lambda: np.add('a', np.ones(2)), lambda: np.sin([1.0]),
                          lambda: np.sum([1]),
                                  lambda: np.ones(2) == object(), lambda: np.matmul(np.ones(2), 2),
                                  lambda: np.einsum(np.ones(2)),
                                  lambda: np.concatenate([[1], [2]]), lambda: np.delete([1], 0),
                                  lambda: np.insert([1], 0, 1),
                                  lambda: np.polyval([1], [2]), lambda: np.meshgrid([1]), lambda: np.einsum('i', [1])])
def test_what_is_no_array_is_refused(call):
    with pytest.raises(TypeError):
        call()


def test_functions_through_numpy_say_that_autograd_cannot_follow():
    x = np.array([3.0, 1.0])
    x.attach_grad()
    assert np.ptp(x) == 2
    with autograd.record(), pytest.raises(ValueError, match='autograd cannot follow'):
        np.ptp(x)
    with autograd.record():
        assert np.ptp(x.detach()) == 2


def test_the_fast_way_gives_up_history():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x * 2
    for z in (y + 1, np.exp(y), y.sum(), y.max(), y[0], y.reshape(1, 2), y @ y, y > 1, y.mean(), np.sum(y, axis=0)):
        assert not z.materialize().requires_grad


def test_switches_and_files(tmp_path):
    path = str(tmp_path / 'a.params')
    npx.save(path, {'scalar': np.array(1.5), 'none': np.zeros((0, 3)), 'mask': np.array([True, False], dtype='bool')})
    loaded = npx.load(path)
    assert {k: (type(v), v.shape, str(v.dtype)) for k, v in loaded.items()} == {
        'scalar': (np.ndarray, (), 'float32'), 'none': (np.ndarray, (0, 3), 'float32'),
        'mask': (np.ndarray, (2,), 'bool')}
    npx.save(path, [np.ones(2)])
    assert npx.load(path)[0].tolist() == [1, 1] and not npx.is_np_array()
    npx.set_np()
    assert npx.is_np_array() and npx.is_np_shape() and type(mx.util.default_array([1])) is np.ndarray
    npx.reset_np()


def test_files_are_upstreams(shared, tmp_path):
    for name in ('np.params', 'np_list.params'):
        source = shared / 'golden' / 'files' / name
        npx.save(str(tmp_path / name), npx.load(str(source)))
        assert (tmp_path / name).read_bytes() == source.read_bytes()


# ---------------------------------------------------------------------- the array API standard
def test_the_namespace_of_the_standard():
    x = np.array([[3, 1], [2, 2]], dtype='int32')
    xp = x.__array_namespace__()
    same(xp.arange(3), [0, 1, 2], 'int64')
    same(xp.asarray([1.5, 2]), [1.5, 2], 'float32')
    same(xp.full((2,), 3), [3, 3], 'int64')
    same(xp.add(x, 1), [[4, 2], [3, 3]], 'int32')
    same(xp.concat([x, x], axis=1), [[3, 1, 3, 1], [2, 2, 2, 2]], 'int32')
    same(xp.permute_dims(x, (1, 0)), [[3, 2], [1, 2]])
    same(xp.sum(x.astype('int8')), 8, 'int64')
    same(xp.sort(x, axis=1, descending=True), [[3, 1], [2, 2]])
    same(xp.cumulative_sum(x, axis=1, include_initial=True), [[0, 3, 4], [0, 2, 4]])
    values, counts = xp.unique_counts(x)
    assert values.tolist() == [1, 2, 3] and counts.tolist() == [1, 2, 1]
    assert xp.unique_all(x).inverse_indices.shape == xp.unique_inverse(x).inverse_indices.shape == (2, 2)
    assert xp.unique_values(x).tolist() == [1, 2, 3]
    assert xp.result_type(xp.int8, xp.uint8) == 'int16' and xp.can_cast(xp.int8, xp.int32)
    assert not xp.can_cast(x, 'int8')
    assert xp.isdtype(x.dtype, 'integral') and xp.isdtype(xp.bool, ('bool', 'numeric'))
    assert not xp.isdtype(x.dtype, xp.int8)
    assert xp.finfo(xp.float32).bits == 32 and xp.iinfo(x).max == 2 ** 31 - 1
    assert xp.std(x.astype('float32'), correction=1).item() == pytest.approx(0.8164966)
    assert xp.argmax(x, axis=1, keepdims=True).shape == (2, 1) and xp.argmin(x, keepdims=True).shape == (1, 1)
    assert xp.clip(x, 2, None).min() == 2 and xp.where(x > 2, x, 0).max() == 3
    assert xp.signbit(np.array([-0.0, 1])).tolist() == [True, False]
    assert [a.tolist() for a in xp.unstack(x)] == [[3, 1], [2, 2]] and xp.diff(x).tolist() == [[-2], [0]]
    assert xp.searchsorted(np.array([1, 2, 3]), np.array([2])).tolist() == [1]
    assert xp.squeeze(x[None], 0).shape == (2, 2)
    assert xp.logaddexp(np.array([0.0, np.inf]), np.array([0.0, np.inf])).tolist() == [pytest.approx(0.6931472),
                                                                                       math.inf]
    assert xp.from_dlpack(onp.arange(3)).tolist() == [0, 1, 2] and xp.floor(x).tolist() == x.tolist()
    assert xp.positive(x) is not x
    info = xp.__array_namespace_info__()
    assert info.default_dtypes()['integral'] == 'int64' and 'int8' in info.dtypes(kind='integral')
    assert mx.cpu() in info.devices()
    assert info.capabilities()['boolean indexing'] and info.default_device() == mx.cpu()
    for bad in (lambda: xp.squeeze(x, 0), lambda: xp.nonzero(np.array(1)),
                lambda: x.__array_namespace__(api_version='2099.12')):
        with pytest.raises(ValueError):
            bad()
    for bad in (lambda: xp.expand_dims(x, 7), lambda: xp.squeeze(x, 7)):
        with pytest.raises(IndexError):
            bad()


def test_linear_algebra_of_the_standard():
    la = np.array_api.linalg
    m = np.array([[4.0, 1.0], [1.0, 3.0]])
    assert la.cholesky(m, upper=True)[1, 0] == 0 and la.diagonal(m).tolist() == [4, 3] and la.trace(m) == 7
    assert la.cross(np.array([1, 0, 0]), np.array([0, 1, 0])).tolist() == [0, 0, 1]
    assert la.outer(m[0], m[0]).shape == (2, 2)
    assert la.svd(np.ones((3, 2))).U.shape == (3, 3) and la.svd(np.ones((3, 2)), full_matrices=False).U.shape == (3, 2)
    assert la.svdvals(m).shape == (2,) and la.qr(m).R.shape == (2, 2) and la.eigh(m).eigenvalues.shape == (2,)
    assert la.slogdet(m).sign == 1 and la.pinv(m).shape == (2, 2)
    assert la.matmul(m, m).shape == la.tensordot(m, m, axes=1).shape
    assert la.matrix_norm(m).item() == pytest.approx(27 ** 0.5) and la.vector_norm(m).item() == pytest.approx(27 ** 0.5)
    assert la.vector_norm(m, axis=(0, 1), keepdims=True).shape == (1, 1) == la.vector_norm(m, keepdims=True).shape
    assert la.vecdot(m, m).tolist() == [17, 10] and la.vector_norm(m, axis=0, ord=1).tolist() == [5, 4]
    with pytest.raises(ValueError, match='length 3'):
        la.cross(m, m)


def test_whole_quotients_and_shifts():
    x = np.array([7, -7], dtype='int32')
    same(x // 2, [3, -4], 'int32')
    same(9 // x, [1, -2], 'int32')
    same(x // np.array([2, 3], dtype='int32'), [3, -3], 'int32')
    same(np.array([7.5, -7.5]) // 2, [3, -4], 'float32')
    same(x << 2, [28, -28], 'int32')
    same(x >> np.array([1, 1], dtype='int32'), [3, -4], 'int32')
    x //= 2
    assert x.tolist() == [3, -4]
    assert np.logical_or(x, x * 0).tolist() == [True, True] and np.logical_and(x, 0).tolist() == [False, False]
    assert np.logical_xor(x > 0, x < 5).tolist() == [False, True] and np.logical_and(x, x > 0).tolist() == [True, False]
    assert np.ones((2, 3, 4)).mT.shape == (2, 4, 3)


def test_copies_by_array_are_recorded():
    for dtype, ctx in ((None, None), ('float64', None), (None, mx.cpu(1))):
        x = np.array([1, 2])
        x.attach_grad()
        with autograd.record():
            y = np.array(x, dtype, ctx)
            z = (y * y).sum().as_in_ctx(mx.cpu(0))
        assert y.ctx == (ctx or mx.cpu(0)) and y.dtype == (dtype or 'float32')
        z.backward()
        assert x.grad.tolist() == [2, 4]
        y[:] = 7
        assert x.tolist() == [1, 2]
