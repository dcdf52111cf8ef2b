"""Operators of binary.py and scalar.py."""
import math

import numpy as np
import pytest
import torch
from ops_checks import check

import mxnet as mx
from mxnet import autograd, nd
from mxnet._ops import TABLE
from mxnet.base import MXNetError

I = nd._internal
A = np.array([[-2.5, -1.1, 0.7], [1.6, 2.1, 3.3]])
B = np.array([[-0.9, 2.0, 0.7], [1.0, -2.4, 0.3]])
ROW = np.array([[2.0, -1.5, 0.9]])

BOTH = {
    'add': np.add, 'sub': np.subtract, 'mul': np.multiply, 'div': np.divide, 'mod': np.mod, 'hypot': np.hypot,
    'maximum': np.maximum, 'minimum': np.minimum, 'equal': np.equal, 'not_equal': np.not_equal, 'greater': np.greater,
    'greater_equal': np.greater_equal, 'lesser': np.less, 'lesser_equal': np.less_equal,
    'logical_and': np.logical_and, 'logical_or': np.logical_or, 'logical_xor': np.logical_xor,
}
TRUTHS = [n for n in BOTH if BOTH[n](1.0, 1.0).dtype == bool]


@pytest.mark.parametrize('name', BOTH)
def test_functions_of_two_arrays(name):
    smooth = name not in TRUTHS
    one_shape = f'elemwise_{name}' if name in ('add', 'sub', 'mul', 'div') else f'_{name}'
    # equal values are a corner of some of these: only where there are none, differences tell the gradient
    check(one_shape, [A, B], BOTH[name](A, B).astype('float64'), gradient=False)
    check(one_shape, [A, B + 0.1], BOTH[name](A, B + 0.1).astype('float64'), gradient=smooth)
    check(f'broadcast_{name}', [A, ROW], BOTH[name](A, ROW).astype('float64'), gradient=smooth)
    check(f'broadcast_{name}', [ROW[0], A[..., None]], BOTH[name](ROW[0], A[..., None]).astype('float64'),
          gradient=smooth)


def test_power():
    check('broadcast_power', [np.abs(A), ROW], np.abs(A) ** ROW)
    check('_power', [np.abs(A), B], np.abs(A) ** B)


@pytest.mark.parametrize('name', [n for n in TABLE if n.startswith(('broadcast_', 'elemwise_'))
                                  and TABLE[n].inputs == ('lhs', 'rhs') and not TABLE[n].attributes])
@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'int8', 'int64', 'uint8'])
def test_dtype_stays(name, dtype):
    data = torch.tensor([1, 2, 3], dtype=getattr(torch, dtype))
    assert TABLE[name].function(data, data).dtype is data.dtype


def integers(*values):
    return nd.array(values, dtype='int32')


def test_integers():
    left, right = integers(7, -7, 7, -7), integers(2, 2, -2, -2)
    assert nd.broadcast_div(left, right).asnumpy().tolist() == [3, -3, -3, 3]
    assert nd.broadcast_mod(left, right).asnumpy().tolist() == [1, 1, -1, -1]
    assert nd.broadcast_mod(left, integers(0)).asnumpy().tolist() == [0] * 4
    assert nd.broadcast_power(integers(2, 3, 1), integers(5, -1, -1)).asnumpy().tolist() == [32, 0, 1]
    assert nd.broadcast_hypot(integers(3, 5), integers(4, 6)).asnumpy().tolist() == [5, 7]


def test_zero_and_nan():
    assert nd.broadcast_mod(nd.array([5, -5]), nd.array([0])).asnumpy().tolist() == [0, 0]
    for name in ('broadcast_maximum', 'broadcast_minimum'):
        assert np.isnan(getattr(nd, name)(nd.array([math.nan, 1]), nd.array([1, math.nan])).asnumpy()).all()
    x = nd.array([math.nan, 1])
    x.attach_grad()
    with autograd.record():
        y = nd.broadcast_maximum(x, nd.array([1, math.nan]))
    assert np.isnan(y.asnumpy()).all()


def gradients(function, *values):
    arrays = [nd.array(v) for v in values]
    for a in arrays:
        a.attach_grad()
    with autograd.record():
        result = function(*arrays)
    result.backward()
    return [a.grad.asnumpy().tolist() for a in arrays]


@pytest.mark.parametrize('name, left, right', [
    ('broadcast_maximum', [0, 1, 1], [1, 0, 0]), ('broadcast_minimum', [1, 1, 0], [0, 0, 1]),
    ('broadcast_equal', [0, 0, 0], [0, 0, 0]), ('broadcast_greater', [0, 0, 0], [0, 0, 0]),
])
def test_gradients_where_values_are_equal(name, left, right):
    assert gradients(getattr(nd, name), [1, 2, 3], [2, 2, 1]) == [left, right]


def test_gradients_are_summed_over_broadcast_axes():
    assert gradients(nd.broadcast_maximum, [[1], [3]], [[2, 2, 0]]) == [[[1], [3]], [[1, 1, 0]]]
    assert gradients(nd.broadcast_mul, [[1], [3]], [[2, 2, 0]]) == [[[4], [4]], [[4, 4, 4]]]


def test_what_is_refused():
    with pytest.raises(MXNetError, match=r'elemwise_add: lhs has shape \(2,\), rhs \(1, 2\)'):
        nd.elemwise_add(nd.zeros(2), nd.zeros((1, 2)))
    with pytest.raises(MXNetError, match='broadcast_add'):
        nd.broadcast_add(nd.zeros(2), nd.zeros(3))
    with pytest.raises(MXNetError, match='lhs is float32 and rhs is int32'):
        nd.broadcast_equal(nd.zeros(2), integers(1, 2))
    with pytest.raises(MXNetError, match='input 1'):
        nd.add_n(nd.zeros(2), nd.zeros((2, 1)))
    with pytest.raises(MXNetError, match='same dtype'):
        nd.add_n(nd.zeros(2), integers(1, 2))


def test_sum_of_many():
    check('add_n', [A, B, A], A + B + A, num_args=3)
    check('add_n', [A], A, num_args=1)
    assert gradients(nd.add_n, [1, 2], [3, 4], [5, 6]) == [[1, 1]] * 3
    assert nd.ElementWiseSum(integers(1), integers(2), integers(3)).asnumpy().tolist() == [6]


def test_shapes_tell_each_other():
    assert TABLE['elemwise_add'].elementwise and not TABLE['broadcast_add'].elementwise
    a, b = mx.sym.var('a', shape=(0, 3)), mx.sym.var('b', shape=(2, 0))
    assert mx.sym.elemwise_add(a, b).infer_shape()[0] == [(2, 3), (2, 3)]


# ---------------------------------------------------------------------- with a number
WITH_NUMBER = {
    '_plus_scalar': lambda x, s: x + s, '_minus_scalar': lambda x, s: x - s, '_rminus_scalar': lambda x, s: s - x,
    '_mul_scalar': lambda x, s: x * s, '_div_scalar': lambda x, s: x / s, '_rdiv_scalar': lambda x, s: s / x,
    '_mod_scalar': np.mod, '_rmod_scalar': lambda x, s: np.mod(s, x), '_maximum_scalar': np.maximum,
    '_minimum_scalar': np.minimum, '_hypot_scalar': np.hypot, '_equal_scalar': np.equal,
    '_not_equal_scalar': np.not_equal, '_greater_scalar': np.greater, '_greater_equal_scalar': np.greater_equal,
    '_lesser_scalar': np.less, '_lesser_equal_scalar': np.less_equal, '_logical_and_scalar': np.logical_and,
    '_logical_or_scalar': np.logical_or, '_logical_xor_scalar': np.logical_xor,
    '_scatter_plus_scalar': lambda x, s: x + s, '_scatter_minus_scalar': lambda x, s: x - s,
}


@pytest.mark.parametrize('name', WITH_NUMBER)
@pytest.mark.parametrize('scalar', [-1.5, 2.0])
def test_functions_with_a_number(name, scalar):
    expected = WITH_NUMBER[name](A, scalar)
    check(name, [A], expected.astype('float64'), scalar=scalar, gradient=expected.dtype != bool)
    at_zero = np.array([0.0, 1.0])
    if '_rdiv' not in name and '_rmod' not in name:
        check(name, [at_zero], WITH_NUMBER[name](at_zero, 1.0).astype('float64'), scalar=1, gradient=False)


def test_powers_with_a_number():
    check('_power_scalar', [np.abs(A)], np.abs(A) ** -1.5, scalar=-1.5)
    check('_rpower_scalar', [A], 1.5 ** A, scalar=1.5)
    assert I._power_scalar(integers(1, 2, 0), scalar=-1).asnumpy().tolist()[:2] == [1, 0]


@pytest.mark.parametrize('name', [*WITH_NUMBER, '_power_scalar', '_rpower_scalar'])
def test_types_with_a_number(name):
    function = TABLE[name].function
    for given, scalar, is_int, expected in [
            ('float16', 2.5, True, 'float16'), ('bfloat16', 2.5, False, 'bfloat16'), ('int32', 2.5, True, 'int32'),
            ('int32', 2.5, False, 'float64'), ('uint8', 2.0, True, 'uint8'), ('bool', 2.0, True, 'int64'),
            ('bool', 2.5, False, 'float64')]:
        data = torch.ones(2, dtype=getattr(torch, given))
        assert function(data, scalar=scalar, is_int=is_int).dtype is getattr(torch, expected), (given, is_int)


def test_a_fraction_is_lost_on_integers():
    assert I._mul_scalar(integers(3), scalar=1.9).asnumpy().tolist() == [3]
    assert I._greater_scalar(integers(2, 3), scalar=2.5).asnumpy().tolist() == [0, 1]
    assert I._mul_scalar(integers(3), scalar=1.5, is_int=False).asnumpy().tolist() == [4.5]
    assert I._div_scalar(integers(-7), scalar=2).asnumpy().tolist() == [-3]
    assert I._rdiv_scalar(integers(-2), scalar=7).asnumpy().tolist() == [-3]


def test_numbers_over_arrays_are_exact():
    data = nd.array(range(1, 100))
    assert all(I._rdiv_scalar(data[i:i + 1], scalar=i + 1.0).asscalar() == 1 for i in range(99))


def test_corners_with_a_number():
    assert gradients(lambda x: I._maximum_scalar(x, scalar=2), [1, 2, 3])[0] == [0, 1, 1]
    assert gradients(lambda x: I._minimum_scalar(x, scalar=2), [1, 2, 3])[0] == [1, 1, 0]
    assert gradients(lambda x: I._greater_scalar(x, scalar=2), [1, 2, 3])[0] == [0, 0, 0]
    assert I._mod_scalar(nd.array([1, 2]), scalar=0).asnumpy().tolist() == [0, 0]
    assert I._rmod_scalar(nd.array([0, 2]), scalar=5).asnumpy().tolist() == [0, 1]


@pytest.mark.parametrize('name, of_a, of_b', [('maximum', [0, 0, 0, 1, 1], [0, 0, 0, 0, 0]),
                                              ('minimum', [0, 0, 0, 0, 1], [0, 0, 0, 1, 0])])
def test_gradient_of_the_larger_at_nan(name, of_a, of_b):
    """As in 1.9.1: NaN is neither larger nor smaller, so none of the two receives a gradient."""
    a, b = nd.array([math.nan, 1, math.nan, 3, 2]), nd.array([1, math.nan, math.nan, 2, 2])
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y = getattr(nd, 'broadcast_' + name)(a, b)
    y.backward()
    assert y.asnumpy()[:3].tolist() != y.asnumpy()[:3].tolist()         # NaN
    assert a.grad.asnumpy().tolist() == of_a
    assert b.grad.asnumpy().tolist() == of_b
    with autograd.record():
        y = getattr(nd, 'broadcast_' + name)(a, b)
        z = y * y
    z.backward()
    assert np.isnan(a.grad.asnumpy()).tolist() == np.isnan(b.grad.asnumpy()).tolist() == [True] * 3 + [False] * 2


def test_remainders_of_and_by_limits():
    """As in 1.9.1: a remainder by 0 is 0, and the slope of the divisor is the quotient, rounded down."""
    inf = math.inf
    a, b = nd.array([[2.], [inf], [math.nan]]), nd.array([0, 3, -inf])
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y = nd.broadcast_mod(a, b)
    y.backward()
    assert y.asnumpy()[:, 0].tolist() == [0, 0, 0]
    assert a.grad.asnumpy().tolist() == [[3], [3], [3]]
    assert (nd.array([inf, math.nan, 5]) % 0).asnumpy().tolist() == [0, 0, 0]
    for divisor, slope in ((0., -inf), (-0., inf), (3., 0.), (.3, -9 if np.float32(3) / np.float32(.3) < 10 else -10),
                           (-inf, 0.)):
        d = nd.array([divisor])
        d.attach_grad()
        with autograd.record():
            y = (2 if divisor != .3 else 3) % d
        y.backward()
        assert d.grad.asnumpy().tolist() == [slope], divisor
