"""Operators of reduce.py."""
import math

import numpy as np
import pytest
import torch
from ops_checks import check

from mxnet import autograd, nd
from mxnet._ops import TABLE
from mxnet.base import MXNetError

A = np.array([[[-2.5, 1.2, 0.7], [3.1, -0.4, 2.2]], [[0.9, -1.6, 4.3], [-3.7, 2.8, 1.9]]])      # no ties
HOLES = np.where(np.abs(A) < 1, np.nan, A)
REDUCTIONS = {'sum': np.sum, 'mean': np.mean, 'prod': np.prod, 'max': np.max, 'min': np.min}
AXES = [{}, {'axis': 0}, {'axis': -1}, {'axis': (0, 2)}, {'axis': (-1, 0)}, {'axis': 1, 'keepdims': True},
        {'keepdims': True}, {'axis': (0, 1, 2)}]


def gradient(function, values, **arguments):
    data = nd.array(values)
    data.attach_grad()
    with autograd.record():
        result = function(data, **arguments)
    result.backward()
    return data.grad.asnumpy().tolist()


@pytest.mark.parametrize('name', REDUCTIONS)
@pytest.mark.parametrize('arguments', AXES, ids=str)
def test_reductions(name, arguments):
    axes = arguments.get('axis')
    expected = REDUCTIONS[name](A, axis=axes, keepdims=arguments.get('keepdims', False))
    check(name, [A], np.asarray(expected).reshape(np.shape(expected) or (1,)), **arguments)


@pytest.mark.parametrize('name, neutral', [('nansum', 0), ('nanprod', 1)])
def test_without_nan(name, neutral):
    whole = np.sum if name == 'nansum' else np.prod
    filled = whole(np.nan_to_num(HOLES, nan=neutral), axis=(0, 2))
    np.testing.assert_allclose(getattr(nd, name)(nd.array(HOLES), axis=(0, 2)).asnumpy(), filled, rtol=1e-5)
    check(name, [A], whole(A, axis=(0, 2)), axis=(0, 2))
    assert not np.isnan(gradient(getattr(nd, name), HOLES)).any()


def test_exclude():
    check('sum', [A], A.sum((0, 1)), axis=-1, exclude=True)
    check('max', [A], A.max(1, keepdims=True), axis=(0, 2), exclude=True, keepdims=True)
    check('sum', [A], A, axis=(0, 1, 2), exclude=True)
    check('sum', [A], np.array([A.sum()]), axis=(), exclude=True)


@pytest.mark.parametrize('name', [*REDUCTIONS, 'nansum', 'nanprod', 'norm', '_square_sum', 'argmax', 'argmin'])
@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'int8', 'int32', 'uint8'])
def test_dtype_stays(name, dtype):
    data = torch.ones(2, 3, dtype=getattr(torch, dtype))
    for arguments in ({}, {'axis': 1 if name.startswith('arg') else (1,)}):
        assert TABLE[name].function(data, **arguments).dtype is data.dtype


def test_integers():
    data = nd.array([[3, -4], [0, 2]], dtype='int32')
    assert nd.mean(data, axis=1).asnumpy().tolist() == [0, 1]
    assert nd.sum(nd.array([200, 100], dtype='uint8')).asnumpy().tolist() == [44]
    assert nd.norm(data).asnumpy().tolist() == [5]


def test_no_axis_left_is_one():
    for result in (nd.sum(nd.array([1, 2]), axis=0), nd.max(nd.array([1, 2])), nd.norm(nd.array(A)),
                   nd.argmax(nd.array([1, 2]), axis=0), *nd.moments(nd.array(A), axes=(0, 1, 2))):
        assert result.shape == (1,)


def test_empty_arrays():
    empty = torch.empty(0, 3)
    assert TABLE['sum'].function(empty).tolist() == [0]
    assert TABLE['sum'].function(empty, axis=(0,)).tolist() == [0, 0, 0]
    assert TABLE['prod'].function(empty).tolist() == [1]


def test_every_tie_gets_the_gradient():
    assert gradient(nd.max, [1, 3, 3]) == [0, 1, 1]
    assert gradient(nd.min, [[1, 3], [1, 1]], axis=1) == [[1, 0], [1, 1]]
    assert gradient(nd.max, [[1, 3], [1, 1]], axis=1, keepdims=True) == [[0, 1], [1, 1]]
    assert gradient(nd.prod, [2, 0, 4]) == [0, 8, 0]


@pytest.mark.parametrize('name', ['sum', 'max', 'norm', 'argmax'])
def test_axes_out_of_range(name):
    with pytest.raises(MXNetError, match=rf'operator {name}: axis 3 is out of range for data of shape \(2, 2, 3\)'):
        getattr(nd, name)(nd.array(A), axis=3)


def test_an_axis_twice():
    with pytest.raises(MXNetError, match='names an axis twice'):
        nd.sum(nd.array(A), axis=(1, -2))


# ---------------------------------------------------------------------- norms and moments
@pytest.mark.parametrize('arguments', AXES, ids=str)
def test_norm(arguments):
    axes, keep = arguments.get('axis'), arguments.get('keepdims', False)
    for order, expected in ((2, np.sqrt(np.sum(A ** 2, axis=axes, keepdims=keep))),
                            (1, np.sum(np.abs(A), axis=axes, keepdims=keep))):
        check('norm', [A], np.asarray(expected).reshape(np.shape(expected) or (1,)), ord=order, **arguments)


def test_norm_into_another_dtype():
    assert nd.norm(nd.array(A, dtype='float16'), out_dtype='float64').dtype == np.float64
    with pytest.raises(MXNetError, match='ord=3'):
        nd.norm(nd.array(A), ord=3)


@pytest.mark.parametrize('arguments', [{'axes': 0}, {'axes': (0, 2)}, {'axes': (1, 2), 'keepdims': True}], ids=str)
def test_moments(arguments):
    axes, keep = arguments['axes'], arguments.get('keepdims', False)
    check('moments', [A], [A.mean(axes, keepdims=keep), A.var(axes, keepdims=keep)], **arguments)


def test_square_sum():
    check('_square_sum', [A], (A ** 2).sum(1), axis=1)


# ---------------------------------------------------------------------- positions
@pytest.mark.parametrize('name', ['argmax', 'argmin'])
@pytest.mark.parametrize('axis', [None, 0, 1, -1])
def test_positions(name, axis):
    expected = np.asarray(getattr(np, name)(A, axis=axis), 'float64')
    check(name, [A], expected.reshape(expected.shape or (1,)), axis=axis, gradient=False)
    kept = np.asarray(getattr(np, name)(A, axis=axis, keepdims=True), 'float64')
    check(name, [A], kept, axis=axis, keepdims=True, gradient=False)


def test_positions_of_ties_and_nan():
    assert nd.argmax(nd.array([1, 3, 3])).asnumpy().tolist() == [1]
    assert nd.argmin(nd.array([1, 0, math.nan])).asnumpy().tolist() == [2]
    assert nd.argmax(nd.array([1, 3], dtype='int64')).dtype == np.int64
    assert gradient(nd.argmax, [1, 3]) == [0, 0]


def test_argmax_channel():
    check('argmax_channel', [A], A.argmax(1).astype('float64'), gradient=False)


# ---------------------------------------------------------------------- running sums, histograms
@pytest.mark.parametrize('axis', [None, 0, 1, -1])
def test_cumsum(axis):
    check('_np_cumsum', [A], np.cumsum(A, axis), axis=axis)
    whole = A.astype('int8')
    check('_np_cumsum', [whole], np.cumsum(whole, axis, dtype='int8'), axis=axis)
    check('_np_cumsum', [whole], np.cumsum(whole, axis, dtype='float32'), axis=axis, dtype='float32')
    check('_np_cumsum', [whole > 0], np.cumsum(whole > 0, axis), axis=axis)


@pytest.mark.parametrize('bins, limits', [(4, (-3, 3)), (7, (-3.7, 4.3)), (1, (0, 1)), (3, (5, 9))])
def test_histogram_of_equal_intervals(bins, limits):
    counts, edges = np.histogram(A, bins, limits)
    check('_histogram', [A], [counts, edges], bin_cnt=bins, range=limits, gradient=False)


def test_histogram_of_given_intervals():
    edges = np.array([-3.7, -1.6, 0, 1.9, 4.3])
    check('_histogram', [A, edges], [np.histogram(A, edges)[0], edges], gradient=False)
    counts, _ = nd._internal._histogram(nd.array([math.nan, 0, 1, 2, 3, 9]), nd.array([0, 1, 3]))
    assert counts.asnumpy().tolist() == [1, 3] and counts.dtype == np.int64


@pytest.mark.parametrize('arguments', [{'bin_cnt': 3}, {'bin_cnt': 3, 'range': (2, 1)},
                                       {'bin_cnt': 0, 'range': (0, 1)}])
def test_what_histogram_refuses(arguments):
    with pytest.raises(MXNetError, match='not accepted'):
        nd._internal._histogram(nd.array(A), **arguments)
    with pytest.raises(MXNetError, match='bins is missing'):
        nd._internal._histogram(nd.array(A))


# ---------------------------------------------------------------------- products of columns, numbers of elements
def test_khatri_rao():
    one, two, three = A[0], A[1], A[0] + A[1]
    expected = np.stack([np.kron(np.kron(one[:, k], two[:, k]), three[:, k]) for k in range(3)], 1)
    check('khatri_rao', [one, two, three], expected, num_args=3)
    with pytest.raises(MXNetError, match=r'input 1 has shape \(2, 2\)'):
        nd.khatri_rao(nd.ones((2, 3)), nd.ones((2, 2)))
    assert TABLE['khatri_rao'].shapes({'arg0': (2, 3), 'arg1': None}, {}) == {'arg0': (2, 3), 'arg1': (0, 3)}


@pytest.mark.parametrize('dtype', ['float64', 'int32', 'int64'])
def test_numbers_and_positions(dtype):
    positions = np.array([[1, 0, 2], [3, 4, 0], [1, 1, 0]], dtype)
    numbers = np.ravel_multi_index(positions.astype(int), (3, 5, 2)).astype(dtype)
    check('_ravel_multi_index', [positions], numbers, shape=(3, 5, 2), gradient=False)
    check('_unravel_index', [numbers], positions, shape=(3, 5, 2), gradient=False)
    check('_unravel_index', [numbers], positions, shape=(-1, 5, 2), gradient=False)
    assert gradient(nd.unravel_index, [3, 4], shape=(2, 3)) == [0, 0]


def test_large_numbers_are_exact():
    position = nd.array([[2 ** 20], [5]], dtype='int64')
    number = nd.ravel_multi_index(position, shape=(2 ** 21, 2 ** 21))
    assert number.asnumpy().tolist() == [2 ** 41 + 5]
    assert nd.unravel_index(number, shape=(2 ** 21, 2 ** 21)).asnumpy().tolist() == [[2 ** 20], [5]]


def test_what_positions_refuse():
    with pytest.raises(MXNetError, match=r'data has shape \(2, 2\); for shape=\(3, 4, 5\)'):
        nd.ravel_multi_index(nd.ones((2, 2)), shape=(3, 4, 5))
    for name in ('ravel_multi_index', 'unravel_index'):
        with pytest.raises(MXNetError, match='argument shape is missing'):
            getattr(nd, name)(nd.ones((2, 2)))
