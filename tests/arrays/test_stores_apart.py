"""Stores of an array into itself, what `**=` does, and arrays without axes: as in MXNet 1.9.1."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import nd

KEYS = [
    ('x[:-1] = x[1:]', [2, 3, 4, 5, 4, 5]), ('x[1:] = x[:-1]', [0, 1, 0, 1, 2, 3]),
    ('x[::2] = x[:2]', [0, 1, 2, 3, 2, 3]), ('x[::1] = x', [0, 1, 2, 3, 4, 5]),
    ('x[[0, 0, 1]] = x', [2, 3, 4, 5, 4, 5]),
    ('x[onp.array([2, 1])] = x[:2]', [0, 1, 2, 3, 0, 1]), ('y = x[1:]; y[:] = x[:-1]', [0, 1, 0, 1, 2, 3]),
    ('x[:, 0] = x[:2].reshape((4,))[:3]', [0, 1, 1, 3, 2, 5]), ('x[::-1] = x', [4, 5, 2, 3, 0, 1]),
]


@pytest.mark.parametrize('code, expected', KEYS)
@pytest.mark.parametrize('numpy_mode', [False, True])
def test_a_store_reads_what_was_there_before(code, expected, numpy_mode):
    kind = mx.np if numpy_mode else nd
    with mx.util.np_shape(numpy_mode), mx.util.np_array(numpy_mode):
        x = kind.arange(6).reshape((3, 2))
        exec(code, {'x': x, 'onp': onp})
        assert x.asnumpy().ravel().tolist() == expected


def test_copyto_and_out_into_overlapping_memory():
    x = nd.arange(6)
    x[:4].copyto(x[1:5])
    assert x.asnumpy().tolist() == [0, 0, 1, 2, 3, 5]
    nd.identity(x[1:5], out=x[:4])
    assert x.asnumpy().tolist() == [0, 1, 2, 3, 3, 5]


@pytest.mark.parametrize('make', [nd.array, mx.np.array, lambda v: nd.array(v).tostype('csr')])
def test_power_gives_a_new_array(make):
    x = make([[1, 2], [3, 0]])
    y = x
    x **= 2
    assert y is not x
    assert x.asnumpy().tolist() == [[1, 4], [9, 0]] and y.asnumpy().tolist() == [[1, 2], [3, 0]]


def test_power_of_a_recorded_array():
    x = nd.array([1., 2])
    x.attach_grad()
    with mx.autograd.record():
        y = x * 2
        y **= 2
    y.backward()
    assert x.grad.asnumpy().tolist() == [8, 16]


@pytest.mark.parametrize('axis', [0, -1])
@pytest.mark.parametrize('name, expected', [('prod', 3), ('std', 0), ('var', 0), ('all', 1), ('any', 1), ('average', 3),
                                            ('sum', 3), ('mean', 3), ('max', 3), ('min', 3)])
def test_an_axis_of_a_scalar(name, expected, axis):
    x = mx.np.array(3.)
    x.attach_grad()
    assert getattr(mx.np, name)(x, axis=axis).item() == expected
    if name not in ('all', 'any'):
        with mx.autograd.record():
            y = getattr(mx.np, name)(x, axis=axis)
        assert y.shape == () and y.item() == expected
        assert getattr(mx.np, name)(x, axis=axis, **({} if name == 'average' else {'keepdims': True})).shape == ()


def test_positions_in_a_scalar():
    assert [p.asnumpy().tolist() for p in mx.np.array(3.).nonzero()] == [[0]]
    assert [p.asnumpy().tolist() for p in mx.np.nonzero(mx.np.array(0.))] == [[]]


@pytest.mark.parametrize('code', ['a + b', 'a - b', 'a * b', 'a / b', 'a ** b', 'mx.np.maximum(a, b)'])
@pytest.mark.parametrize('narrow, wide', [('float16', 'float32'), ('float16', 'float64'), ('float32', 'float64')])
@pytest.mark.parametrize('recorded', [False, True])
def test_a_scalar_array_counts_for_the_dtype(code, narrow, wide, recorded):
    for first, second in ((narrow, wide), (wide, narrow)):
        for shapes in (((2,), ()), ((), (2,))):
            a, b = mx.np.ones(shapes[0], dtype=first), mx.np.ones(shapes[1], dtype=second)
            a.attach_grad()
            with mx.autograd.record() if recorded else mx.autograd.pause():
                result = eval(code, {'a': a, 'b': b, 'mx': mx})
            assert result.dtype == wide and result.shape == (2,)
            if recorded:
                result.backward()
                assert a.grad.dtype == first


def test_ldexp_by_a_fraction():
    x = mx.np.array([1., 3.])
    onp.testing.assert_allclose(mx.np.ldexp(x, .5).asnumpy(), [2 ** .5, 3 * 2 ** .5], rtol=1e-6)
    assert mx.np.ldexp(x, 2).tolist() == [4, 12] and mx.np.ldexp(x.astype('int32'), 2).tolist() == [4, 12]
