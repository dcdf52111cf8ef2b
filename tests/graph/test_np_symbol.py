"""mx.sym.np, mx.sym.npx, and mx.npx."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import np, npx
from mxnet.base import MXNetError


@pytest.fixture(autouse=True)
def numpy_mode():
    npx.set_np()
    yield
    npx.reset_np()


def variables(*names):
    return [mx.sym.var(n).as_np_ndarray() for n in names]


def run(symbol, **arrays):
    return symbol.bind(mx.cpu(), {k: np.array(v) for k, v in arrays.items()}).forward()[0].asnumpy()


X = onp.arange(12, dtype='float32').reshape(3, 4)


@pytest.mark.parametrize('key',
                         [0, -1, (1, 2), slice(1, None), (slice(None), 1), (slice(None, None, 2), -1), None, (None, 0),
                                 (0, None, slice(1, 3)), (slice(0, 2), slice(None, None, -1))], ids=str)
def test_reading_elements(key):
    x, = variables('x')
    onp.testing.assert_array_equal(run(x[key], x=X), X[key])


def test_what_a_symbol_cannot_be_indexed_by():
    x, y = variables('x', 'y')
    for key in (y, [0], Ellipsis):
        with pytest.raises(IndexError):
            x[key]
    both = mx.sym.Group([x, y], mx.sym.np._Symbol)
    assert both[1].name == 'y' and [s.name for s in both] == ['x', 'y'] and both.num_outputs == len(both) == 2
    assert [s.name for s in x] == ['x']


@pytest.mark.parametrize('function', [
    lambda x: x + 1, lambda x: 1 - x, lambda x: x * x, lambda x: x / 2, lambda x: 2 / (x + 1), lambda x: x % 3,
    lambda x: x ** 2,
    lambda x: 2 ** x, lambda x: -x, lambda x: abs(x - 5), lambda x: x > 3, lambda x: x <= 3, lambda x: x == 3,
    lambda x: x != 3,
    lambda x: x < 3, lambda x: x >= 3, lambda x: x @ x.T, lambda x: x.sum(axis=1), lambda x: x.mean(),
    lambda x: x.reshape(4, -1),
    lambda x: x.astype('int32'), lambda x: x.T, lambda x: x.flatten(), lambda x: x.copy(), lambda x: x.max(axis=0),
    lambda x: x.clip(2, 5), lambda x: x.reshape_view(-1), lambda x: x.squeeze(), lambda x: x.repeat(2, axis=0),
    lambda x: x.std(),
    lambda x: x.argmax(axis=1), lambda x: x.cumsum(axis=0), lambda x: x.transpose(1, 0), lambda x: x.swapaxes(0, 1)])
def test_operators_and_methods(function):
    x, = variables('x')
    onp.testing.assert_allclose(run(function(x), x=X), function(np.array(X)).asnumpy(), rtol=1e-6)


def test_bits():
    x, = variables('x')
    values = {'x': np.array([6, 3], dtype='int32')}
    for function in (lambda x: x & 3, lambda x: x | 8, lambda x: x ^ 1, lambda x: ~x):
        assert function(x).bind(mx.cpu(), values).forward()[0].asnumpy().tolist() == function(values['x']).tolist()


def test_both_kinds_of_symbols():
    x, = variables('x')
    assert x.as_np_ndarray() is x and type(x.as_nd_ndarray()) is mx.sym.Symbol and hash(x) != hash(x + 1)
    assert type(mx.sym.npx.relu(mx.sym.var('y'))) is mx.sym.np._Symbol
    assert mx.sym.npx.fully_connected(x, num_hidden=2, name='fc').list_arguments() == ['x', 'fc_weight', 'fc_bias']
    with pytest.raises(mx.base.NotImplementedForSymbol):
        x.item()
    with pytest.raises(NotImplementedError, match='in place'):
        x.sort()


def test_names_are_upstreams():
    with mx.name.NameManager():
        x, = variables('x')
        assert [s.name for s in (x + 1, mx.sym.np.sum(x), mx.sym.npx.relu(x), mx.sym.np.zeros((2,)),
                                 mx.sym.np.random.normal(x, 1.0))] == [
            'add_scalar0', 'sum0', 'relu0', 'zeros0', 'normal0']
        assert mx.sym.np.split(x, 2)[1].list_outputs() == ['split0_output1']
        assert (x * 2.5).attr('scalar') == '2.5' and (x * 2).attr('is_int') == 'True'


def test_arrays_from_numbers():
    ones = mx.sym.np.ones((2, 3)) + mx.sym.np.arange(3) + mx.sym.np.full((3,), 2) + mx.sym.np.eye(2, 3)
    assert ones.bind(mx.cpu(), {}).forward()[0].asnumpy().tolist() == [[4, 4, 5], [3, 5, 5]]
    x, = variables('x')
    noise = mx.sym.np.random.normal(x, 1.0, size=(1000, 2))
    drawn = run(noise, x=[0.0, 50.0])
    assert drawn.shape == (1000, 2) and abs(drawn.mean(0) - [0, 50]).max() < 0.2
    assert run(mx.sym.np.random.multivariate_normal(x, mx.sym.np.eye(2), size=5), x=[0.0, 1.0]).shape == (5, 2)
    assert run(mx.sym.npx.random.bernoulli(logit=x), x=[-60.0, 60.0]).tolist() == [0, 1]
    assert sorted(run(mx.sym.np.random.shuffle(x), x=[1.0, 2.0]).tolist()) == [1, 2]
    assert run(mx.sym.np.random.choice(x, size=4), x=[3.0, 3.0]).tolist() == [3] * 4


def test_shapes_are_found():
    x, w = variables('x', 'w')
    known = mx.sym.np.dot(x, mx.sym.var('w', shape=(-1, 5)).as_np_ndarray()).infer_shape(x=(2, 3))
    assert known == ([(2, 3), (3, 5)], [(2, 5)], [])
    assert mx.sym.np.sum(x, axis=1).infer_shape(x=(2, 3))[1] == [(2,)]
    assert (x + w).infer_shape(x=(2, 1), w=(1, 3))[1] == [(2, 3)]


def test_faces_for_blocks():
    assert mx.nd.np.sum is np.sum and mx.nd.npx.relu(np.array([-1.0, 1.0])).tolist() == [0, 1]
    assert mx.nd.np._internal.add(np.ones(2), np.ones(2)).tolist() == [2, 2]
    assert mx.nd.np.linalg.norm is np.linalg.norm and mx.nd.np.random.normal is np.random.normal
    assert mx.nd.npx.image.to_tensor(np.zeros((2, 2, 3), 'uint8')).shape == (3, 2, 2)
    assert mx.nd.npx.random.bernoulli(prob=1.0) == 1
    for module in (mx.nd, mx.sym):
        with pytest.raises(AttributeError):
            _ = module.nonsense
    x, y = variables('x', 'y')
    assert (mx.sym.np._internal.add(x, y) + mx.sym.npx.image.flip_left_right(x)).list_arguments() == ['x', 'y']


def test_a_model_exported_by_upstream(shared):
    files = shared / 'golden' / 'files'
    expected = onp.load(files / 'expected.npz')
    net = mx.gluon.SymbolBlock.imports(str(files / 'export_np-symbol.json'), ['data'],
                                       str(files / 'export_np-0000.params'))
    result = net(np.array(expected['export_np/data']))
    assert type(result) is np.ndarray
    onp.testing.assert_allclose(result.asnumpy(), expected['export_np/output'], rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------------- mx.npx
@pytest.mark.parametrize('shape, codes, reverse, expected', [
    ((2, 3, 4), (-2, -1), False, (2, 12)), ((2, 3, 8), (-2, -2, -6, 2, -1), False, (2, 3, 2, 4)),
    ((2, 3, 4), (-5, -2), False, (6, 4)),
    ((2, 3, 4), (-4,), False, (2, 3, 4)), ((1, 3, 4), (-3, -4), False, (3, 4)), ((2, 3, 4), (-1, -2), True, (6, 4)),
    ((2, 0), (0, 5), False, (0, 5)), ((6,), (-6, 2, 3), False, (2, 3)), ((2, 3), (3, -1), False, (3, 2))])
def test_reshape_codes(shape, codes, reverse, expected):
    x = np.zeros(shape)
    assert npx.reshape(x, codes, reverse=reverse).shape == expected
    assert mx.sym.npx.reshape(mx.sym.var('x'), codes, reverse=reverse).bind(mx.cpu(),
                                                                            {'x': x}).forward()[0].shape == expected


@pytest.mark.parametrize('shape, codes, why', [
    ((2, 3), (-1, -1), 'once'), ((2, 3), (-3, -2), 'length 1'), ((2,), (-5,), 'more than'),
    ((6,), (-6, -1, -1), 'two numbers'),
    ((6,), (-6, 4, 2), 'cannot split'), ((2, 3), (-7,), 'nothing'), ((2, 3), (5,), 'elements'),
    ((2, 3), (4, -1), 'not an integer')])
def test_reshape_codes_that_do_not_fit(shape, codes, why):
    with pytest.raises(MXNetError, match=why):
        npx.reshape(np.zeros(shape), codes)


def test_extension():
    x = np.array([[0.0, 2.0], [3.0, 0.0]])
    assert npx.nonzero(x).tolist() == [[0, 1], [1, 0]] and npx.relu(-x).max() == 0
    assert npx.sigmoid(np.array(0.0)) == 0.5 and npx.softmax(x).shape == (2, 2)
    assert npx.constraint_check(x >= 0, 'never').item() is True
    with pytest.raises(ValueError, match='must be positive'):
        npx.constraint_check(x > 0, 'must be positive')
    with pytest.raises(ValueError, match='must be positive'):
        mx.sym.npx.constraint_check(mx.sym.var('x'), 'must be positive').bind(mx.cpu(), {'x': x > 0}).forward()
    assert npx.image.normalize(np.ones((3, 2, 2)), mean=1.0, std=2.0).max() == 0
    assert npx.cpu() == mx.cpu() and npx.num_gpus() >= 0 and npx.current_context() == mx.cpu() and npx.waitall() is None


def test_modules_that_programs_import():
    from mxnet import _numpy_op_doc, numpy_dispatch_protocol
    from mxnet.numpy.multiarray import ndarray, zeros
    from mxnet.numpy_op_signature import _get_builtin_op
    assert ndarray is np.ndarray and zeros is np.zeros and _get_builtin_op('_np_sum') is np.sum is _numpy_op_doc._np_sum
    assert _get_builtin_op('_npx_relu') is npx.relu and _get_builtin_op('dot') is None
    assert _get_builtin_op('_npx__image_crop') is npx.image.crop
    with pytest.raises(ValueError, match='no function'):
        _get_builtin_op('_np_nothing')
    for name in (*numpy_dispatch_protocol._NUMPY_ARRAY_FUNCTION_LIST, *numpy_dispatch_protocol._NUMPY_ARRAY_UFUNC_LIST):
        module, _, function = name.rpartition('.')
        assert callable(getattr(getattr(np, module) if module else np, function))
