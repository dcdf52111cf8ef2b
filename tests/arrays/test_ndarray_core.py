"""NDArray itself: creation, arithmetic, in-place writes, conversions, printing, pickling."""
import copy
import pickle
import threading

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import nd

DTYPES = ['float16', 'float32', 'float64', 'uint8', 'int8', 'int32', 'int64', 'bool']


# ---------------------------------------------------------------------- creation
@pytest.mark.parametrize('source, dtype', [([1, 2], 'float32'), (np.arange(3), 'float32'), (np.zeros(2), 'float32'),
                                           ([[1.5], [2]], 'float32')])
def test_array_is_float32_by_default(source, dtype):
    assert nd.array(source).dtype == np.dtype(dtype)


@pytest.mark.parametrize('dtype', DTYPES)
def test_dtypes(dtype):
    x = nd.array([[0, 1], [1, 0]], dtype=dtype)
    assert x.dtype == np.dtype(dtype) and x.asnumpy().dtype == np.dtype(dtype)
    assert nd.array(x).dtype == x.dtype
    assert nd.zeros((2,), dtype=dtype).dtype == nd.ones(2, dtype=dtype).dtype == np.dtype(dtype)
    assert x.astype('float32').asnumpy().tolist() == [[0, 1], [1, 0]]


def test_bfloat16():
    x = nd.array([1, 2.5, -3]).astype('bfloat16')
    assert x.asnumpy().view('uint16').tolist() == [0x3f80, 0x4020, 0xc040]
    assert (x + x).astype('float32').asnumpy().tolist() == [2, 5, -6]
    assert nd.array(x.asnumpy(), dtype='bfloat16').astype('float32').asnumpy().tolist() == [1, 2.5, -3]
    assert '2.5' in repr(x)


@pytest.mark.parametrize('bad', ['abc', [[1, 2], [3]], object(), {'a': 1}])
def test_array_of_nonsense(bad):
    with pytest.raises(TypeError, match='array-like'):
        nd.array(bad)


def test_array_copies():
    values = np.ones((2, 2), dtype='float32')
    x = nd.array(values)
    values[:] = 5
    assert x.asnumpy().tolist() == [[1, 1], [1, 1]]
    x.asnumpy()[:] = 9
    assert x.asnumpy().tolist() == [[1, 1], [1, 1]]


def test_creation_functions():
    assert nd.empty((2, 3)).shape == (2, 3)
    assert nd.full((2,), 3).asnumpy().tolist() == [3, 3] and nd.full((2,), 3).dtype == np.float32
    assert nd.arange(2, 8, 3).asnumpy().tolist() == [2, 5]
    assert nd.arange(2, repeat=2, dtype='int32').asnumpy().tolist() == [0, 0, 1, 1]
    assert nd.eye(2, 3, 1).asnumpy().tolist() == [[0, 1, 0], [0, 0, 1]]
    assert nd.linspace(0, 1, 3).asnumpy().tolist() == [0, 0.5, 1]
    assert nd.moveaxis(nd.zeros((1, 2, 3)), [0, 1], [-1, 0]).shape == (2, 3, 1)
    assert nd.concatenate([nd.ones((1, 2)), nd.zeros((2, 2))]).shape == (3, 2)
    assert [p.shape for p in nd.split_v2(nd.zeros((4, 3)), (1, 2))] == [(1, 3), (1, 3), (2, 3)]
    out = nd.ones((2,))
    assert nd.zeros((2,), out=out) is out and out.asnumpy().tolist() == [0, 0]
    counts, edges = nd.histogram(nd.array([0, 1, 1, 3]), bins=3)
    assert counts.asnumpy().tolist() == [1, 2, 1] and edges.asnumpy().tolist() == [0, 1, 2, 3]


# ---------------------------------------------------------------------- arithmetic
PAIRS = [(lambda a, b: a + b), (lambda a, b: a - b), (lambda a, b: a * b), (lambda a, b: a / b), (lambda a, b: a ** b)]


@pytest.mark.parametrize('f', PAIRS)
@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_operators(f, dtype):
    a, b = np.array([[1, 2], [3, 4]], dtype=dtype), np.array([[2, 1]], dtype=dtype)
    x, y = nd.array(a, dtype=dtype), nd.array(b, dtype=dtype)
    for got, want in ((f(x, y), f(a, b)), (f(x, 2), f(a, 2)), (f(2.5, x), f(2.5, a)), (f(x, np.float32(3)), f(a, 3))):
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)


def test_int_arithmetic_stays_int():
    x = nd.array([7, -7], dtype='int32')
    assert (x / 2).asnumpy().tolist() == [3, -3] and (x / 2).dtype == np.int32
    assert (x + 1.5).dtype == np.int32
    assert (x % 4).asnumpy().tolist() == [3, 1]
    big = nd.array([2 ** 60], dtype='int64') + 1
    assert big.asscalar() == 2 ** 60 + 1


def test_comparisons_keep_the_dtype():
    x = nd.array([1, 2, 3])
    assert (x > 2).dtype == np.float32 and (x > 2).asnumpy().tolist() == [0, 0, 1]
    assert (2 <= x).asnumpy().tolist() == [0, 1, 1]
    assert (x == x).asnumpy().tolist() == [1, 1, 1] and (x != 2).asnumpy().tolist() == [1, 0, 1]


@pytest.mark.parametrize('bad', [None, 'a', np.ones(2), [1, 2]])
def test_operands_that_are_not_numbers(bad):
    for f in (lambda x: x + bad, lambda x: bad * x if not isinstance(bad, (list, str)) else x * bad,
              lambda x: x == bad):
        with pytest.raises(TypeError, match='not supported'):
            f(nd.ones((2,)))


def test_errors_name_operator_shapes_and_dtypes():
    with pytest.raises(mx.MXNetError, match=r'broadcast_add.*\(2,\).*\(3,\)'):
        nd.ones((2,)) + nd.ones((3,))
    with pytest.raises(mx.MXNetError, match='float32.*int32|int32.*float32'):
        nd.ones((2,)) + nd.ones((2,), dtype='int32')
    with pytest.raises(mx.MXNetError, match='num_hiden.*num_hidden'):
        nd.FullyConnected(nd.ones((2, 3)), nd.ones((4, 3)), num_hiden=4, no_bias=True)
    with pytest.raises(mx.MXNetError, match='act_type.*relu'):
        nd.Activation(nd.ones((2,)), act_type='rulu')
    with pytest.raises(mx.MXNetError, match='bias is missing'):
        nd.FullyConnected(nd.ones((2, 3)), nd.ones((4, 3)), num_hidden=4)
    with pytest.raises(TypeError, match='data must be an NDArray, not the int 3'):
        nd.exp(3)
    with pytest.raises(TypeError, match="ctx must be a Context, such as mx.cpu.. or mx.gpu.0., not 'gpu'"):
        nd.ones(2, ctx='gpu')


def test_a_power_in_place_is_a_new_array():
    x = view = nd.array([2., 3.])
    x **= 2                                 # upstream has no power in place: other names keep the array that they had
    assert x.asnumpy().tolist() == [4, 9] and view.asnumpy().tolist() == [2, 3]
    view.attach_grad()
    with mx.autograd.record():
        y = view
        y **= 2
    y.backward()
    assert view.asnumpy().tolist() == [2, 3] and view.grad.asnumpy().tolist() == [4, 6]


def test_inplace_keeps_the_object_and_its_memory():
    x = nd.ones((2, 2))
    y, view = x, x[1]
    x += 1
    x *= nd.full((2, 2), 3)
    x -= 2.0
    x /= 2
    assert x is y and x.asnumpy().tolist() == [[2, 2], [2, 2]] and view.asnumpy().tolist() == [2, 2]
    x %= 2
    assert view.asnumpy().tolist() == [0, 0]
    with pytest.raises((ValueError, mx.MXNetError)):
        row = nd.ones((2,))
        row += nd.ones((3, 2))


def test_out():
    x, out = nd.array([1, 4]), nd.zeros((2,))
    assert nd.sqrt(x, out=out) is out and out.asnumpy().tolist() == [1, 2]
    assert nd.sqrt(x, out) is out
    with pytest.raises(mx.MXNetError, match=r'\(3,\).*\(2,\)'):
        nd.sqrt(x, out=nd.zeros((3,)))


def test_truth_and_scalars():
    assert bool(nd.ones((1,))) and not bool(nd.zeros((1,))) and not bool(nd.array([]))
    with pytest.raises(ValueError, match='ambiguous'):
        bool(nd.ones((2,)))
    assert nd.array([2.5]).asscalar() == 2.5 and float(nd.array([2.5])) == 2.5 and int(nd.array([2.5])) == 2
    with pytest.raises(ValueError, match=r'\(2,\)'):
        nd.ones((2,)).asscalar()
    x = nd.ones((1,))
    assert {x: 1}[x] == 1


@pytest.mark.parametrize('codes, want', [((0, -1), (2, 12)), ((-2,), (2, 3, 4)), ((-3, 4), (6, 4)), ((0, -3), (2, 12)),
                                         ((-4, 1, 2, -2), (1, 2, 3, 4)), ((-1, 6), (4, 6)), (24, (24,))])
def test_reshape_codes(codes, want):
    x = nd.arange(24).reshape((2, 3, 4))
    assert x.reshape(codes).shape == want
    assert (x.reshape(*codes) if isinstance(codes, tuple) else x.reshape(codes)).shape == want
    assert x.reshape(shape=codes).shape == want


def test_reshape_errors():
    with pytest.raises(mx.MXNetError, match=r'\(2, 3\).*\(4, 4\)'):
        nd.zeros((2, 3)).reshape((4, 4))
    with pytest.raises(ValueError, match='missing'):
        nd.zeros((2, 3)).reshape()


# ---------------------------------------------------------------------- contexts
def test_contexts():
    x = nd.ones((2,), ctx=mx.cpu(1))
    assert x.context == mx.cpu(1) != mx.cpu(0)
    assert (x + 1).context == mx.cpu(1) and x[0].context == mx.cpu(1)
    assert x.as_in_context(mx.cpu(1)) is x
    y = x.as_in_context(mx.cpu(0))
    y[:] = 5
    assert x.asnumpy().tolist() == [1, 1] and y.context == mx.cpu(0)
    with mx.cpu(2):
        assert nd.zeros((1,)).context == mx.cpu(2)
    target = nd.zeros((2,), ctx=mx.cpu(3))
    assert x.copyto(target) is target and target.asnumpy().tolist() == [1, 1]
    with pytest.raises(ValueError, match=r'\(2,\).*\(3,\)'):
        x.copyto(nd.zeros((3,)))
    with pytest.raises(TypeError):
        x.copyto(3)


@pytest.mark.skipif(torch.cuda.is_available(), reason='there is a GPU')
def test_a_gpu_that_is_not_there():
    assert mx.num_gpus() == 0
    with pytest.raises(mx.MXNetError, match=r'gpu\(0\) is not available.*MXNET_VIRTUAL_GPUS'):
        nd.zeros((2,), ctx=mx.gpu(0))


# ---------------------------------------------------------------------- other libraries
def test_numpy_protocol():
    x = nd.array([[1, 2]])
    assert np.asarray(x).tolist() == [[1, 2]] and np.array(x, dtype='int64').dtype == np.int64
    shared = x.__array__(copy=False)            # what np.array(x, copy=False) asks for since NumPy 2
    shared[0, 0] = 9
    assert x.asnumpy().tolist() == [[9, 2]]
    with pytest.raises(ValueError, match='without a copy'):
        x.__array__('int64', copy=False)
    assert np.log(np.asarray(x)).shape == (1, 2)


def test_from_numpy_shares_memory():
    values = np.arange(4, dtype='float32').reshape(2, 2)
    x = nd.from_numpy(values)
    x[0, 0] = 7
    assert values[0, 0] == 7 and not values.flags.writeable
    with pytest.raises(ValueError, match='contiguous'):
        nd.from_numpy(np.zeros((2, 3), dtype='float32').T)
    assert nd.from_numpy(np.zeros((2, 3), dtype='float32').T, zero_copy=False).shape == (3, 2)


def test_torch_shares_memory():
    t = torch.zeros(2, 3)
    x = nd.from_torch(t)
    x[1] = 4
    assert t[1].tolist() == [4, 4, 4]
    x.to_torch()[0] = 2
    assert x.asnumpy()[0].tolist() == [2, 2, 2]
    with pytest.raises(mx.MXNetError, match='contiguous'):
        nd.from_torch(torch.zeros(2, 3).t())


@pytest.mark.parametrize('dtype', DTYPES)
def test_dlpack(dtype):
    x = nd.array([[0, 1], [1, 1]], dtype=dtype)
    for y in (nd.from_dlpack(x.to_dlpack_for_read()), nd.from_dlpack(nd.to_dlpack_for_write(x)), nd.from_dlpack(x)):
        assert y.dtype == x.dtype and y.asnumpy().tolist() == x.asnumpy().tolist()
        y[0, 0] = 1
        assert x.asnumpy()[0, 0] == 1
        x[0, 0] = 0
    if dtype != 'bool':
        assert np.from_dlpack(x).tolist() == x.asnumpy().tolist()
    assert torch.from_dlpack(x).tolist() == x.asnumpy().tolist()


# ---------------------------------------------------------------------- printing, copying, pickling
def test_repr():
    assert repr(nd.ones((2, 3))) == '\n[[1. 1. 1.]\n [1. 1. 1.]]\n<NDArray 2x3 @cpu(0)>'
    assert repr(nd.array([1], dtype='int32', ctx=mx.cpu(1))) == '\n[1]\n<NDArray 1 @cpu(1)>'
    assert '&lt;' not in nd.ones((2,))._repr_html_() and 'float32' in nd.ones((2,))._repr_html_()


@pytest.mark.parametrize('dtype', DTYPES)
def test_pickle(dtype):
    x = nd.array([[0, 1, 1]], dtype=dtype, ctx=mx.cpu(1))
    y = pickle.loads(pickle.dumps(x))
    assert type(y) is nd.NDArray and y.dtype == x.dtype and y.context == x.context
    assert y.asnumpy().tolist() == x.asnumpy().tolist()


# pickle.dumps(mx.nd.array([[1, 2], [3, 4]]), protocol) of MXNet 1.9.1
UPSTREAM_PICKLES = {
    2: bytes.fromhex(
        '8002636d786e65742e6e6461727261792e6e6461727261790a4e4441727261790a71004e8571015271027d71035806000000'
        '68616e646c657104635f5f6275696c74696e5f5f0a6279746561727261790a7105635f636f646563730a656e636f64650a71'
        '06583e000000c389c3bac293c3b9000000000200000002000000000000000200000000000000010000000000000000000000'
        '0000c2803f00000040000040400000c28040710758060000006c6174696e31710886710952710a85710b52710c73622e'),
    4: bytes.fromhex(
        '8004958f000000000000008c156d786e65742e6e6461727261792e6e646172726179948c074e4441727261799493944e8594'
        '52947d948c0668616e646c65948c086275696c74696e73948c096279746561727261799493944338c9fa93f9000000000200'
        '0000020000000000000002000000000000000100000000000000000000000000803f00000040000040400000804094859452'
        '9473622e'),
}


@pytest.mark.parametrize('protocol', UPSTREAM_PICKLES)
def test_pickles_are_those_of_the_real_thing(protocol):
    x = pickle.loads(UPSTREAM_PICKLES[protocol])
    assert x.asnumpy().tolist() == [[1, 2], [3, 4]] and x.dtype == np.float32
    assert pickle.dumps(x, protocol) == UPSTREAM_PICKLES[protocol]


def test_copies():
    x = nd.ones((2,))
    for y in (x.copy(), copy.copy(x), copy.deepcopy(x)):
        y[:] = 3
        assert x.asnumpy().tolist() == [1, 1]
    with pytest.warns(RuntimeWarning, match='itself'):
        x.copyto(x)


# ---------------------------------------------------------------------- size and threads
@pytest.mark.slow
def test_more_elements_than_int32_can_count():
    n = 2 ** 31 + 8
    x = nd.ones((n,), dtype='int8')
    assert x.size == n and x.shape == (n,)
    x[n - 1] = 5
    assert x[n - 1].asscalar() == 5 and x[-2:].asnumpy().tolist() == [1, 5]
    assert nd.slice_axis(x, axis=0, begin=n - 2, end=n).asnumpy().tolist() == [1, 5]
    assert x.reshape((2, -1))[1, -1].asscalar() == 5
    assert nd.take(x, nd.array([n - 1], dtype='int64')).asscalar() == 5


def test_copies_by_array_are_recorded():
    for dtype, ctx in ((None, None), ('float64', None), (None, mx.cpu(1))):
        x = nd.array([1, 2])
        x.attach_grad()
        with mx.autograd.record():
            y = nd.array(x, ctx, dtype)
            z = (y * y).sum().as_in_context(mx.cpu(0))
        assert y.context == (ctx or mx.cpu(0)) and y.dtype == (np.float64 if dtype else np.float32)
        z.backward()
        assert x.grad.asnumpy().tolist() == [2, 4]
        y[:] = 7
        assert x.asnumpy().tolist() == [1, 2]


def test_threads():
    failures = []

    def work(seed):
        try:
            with mx.cpu(seed):
                x = nd.full((8,), seed)
                x.attach_grad()
                for _ in range(50):
                    with mx.autograd.record():
                        y = (x * x).sum()
                    y.backward()
                    assert y.context == mx.cpu(seed)
                    assert (x.grad.asnumpy() == 2 * seed).all()
                    assert not mx.autograd.is_recording()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_numbers_of_numpy_leave_the_dtype_of_integers():
    """The assumption that was wrong: a float of NumPy is no Python float.  Upstream makes it one."""
    i = nd.array([1, 2, 7], dtype='int32')
    for number in (2.5, np.float64(2.5), np.float32(2.5), np.float16(2.5)):
        for y in (i * number, number * i, i + number, i / number, number / i, i > number, i ** number, i % number):
            assert y.dtype == np.int32, number
        assert (i * number).asnumpy().tolist() == [2, 4, 14]
        j = i.copy()
        j *= number
        assert j.asnumpy().tolist() == [2, 4, 14]


@pytest.mark.parametrize('number', (1j, np.complex64(1j), np.complex128(1j)))
def test_complex_numbers_are_refused(number):
    a, b = nd.ones((2,)), mx.np.ones((2,))
    for call in (lambda: a + number, lambda: number * a, lambda: number - a, lambda: a ** number, lambda: a > number,
                 lambda: a == number, lambda: nd.maximum(a, number), lambda: a.__iadd__(number),
                 lambda: nd.full((2,), complex(number)), lambda: mx.sym.var('x') + number,
                 lambda: mx.sym.maximum(mx.sym.var('x'), number)):
        with pytest.raises(TypeError, match='complex'):
            call()
    for call in (lambda: b + number, lambda: complex(number) * b, lambda: b ** number, lambda: b > number,
                 lambda: mx.np.maximum(b, number), lambda: mx.np.where(b > 0, b, number)):
        with pytest.raises(TypeError, match='complex'):
            call()
    with pytest.raises(mx.MXNetError, match='real number'):
        mx.np.full((2,), complex(number))


def test_histogram_is_a_list():
    for found in (nd.histogram(nd.array([1, 2, 2, 5]), bins=2, range=(0, 6)),
                  nd.histogram(nd.array([1, 2, 2, 5]), bins=nd.array([0, 3, 6]))):
        assert type(found) is list
        assert [x.asnumpy().tolist() for x in found] == [[3, 1], [0, 3, 6]]
