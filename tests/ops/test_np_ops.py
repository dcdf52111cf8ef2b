"""Operators of _ops/numpy: on meta tensors, traced, differentiated; and what they refuse."""
import numpy as np
import pytest
import torch
from ops_checks import check

import mxnet as mx
from mxnet._ops import NAMES
from mxnet.base import MXNetError

A = np.array([[1.5, -2.25, 0.5], [3.0, 0.75, -1.0]])
B = np.array([[0.5, 1.25, 2.0], [1.0, 2.5, 0.25]])
T = np.arange(24.0).reshape(2, 3, 4) / 7
S = np.array([[4.0, 1.0], [1.0, 3.0]])


@pytest.mark.parametrize('name, inputs, expected, attributes', [
    ('_npi_exp', [A], np.exp(A), {}), ('_npi_absolute', [A], np.abs(A), {}), ('_npi_cbrt', [B], np.cbrt(B), {}),
    ('_npi_add', [A, B[0]], A + B[0], {}), ('_npi_true_divide', [A, B], A / B, {}), ('_npi_power', [B, A], B ** A, {}),
    ('_npi_hypot', [A, B], np.hypot(A, B), {}), ('_npi_arctan2', [A, B], np.arctan2(A, B), {}),
    ('_npi_multiply_scalar', [A], A * 2.5, {'scalar': 2.5}), ('_npi_rpower_scalar', [A], 2.0 ** A, {'scalar': 2}),
    ('_npi_rarctan2_scalar', [A], np.arctan2(2, A), {'scalar': 2}), ('_npi_ldexp_scalar', [A], A * 8, {'scalar': 3}),
    ('_npi_rldexp_scalar', [A], 3 * 2.0 ** A, {'scalar': 3}),
    ('_npi_rcopysign_scalar', [A], np.copysign(2, A), {'scalar': 2}),
    ('_npi_greater', [A, B], A > B, {}), ('_npi_less_scalar', [A], A < 1, {'scalar': 1}),
    ('_npi_isinf', [A], np.isinf(A), {}),
    ('_np_sum', [T], T.sum((0, 2)), {'axis': (0, 2)}), ('_np_sum', [T], np.asarray(T.sum() + 2), {'initial': 2}),
    ('_np_prod', [A], A.prod(1), {'axis': 1}),
    ('_npi_mean', [T], T.mean(1, keepdims=True), {'axis': 1, 'keepdims': True}),
    ('_npi_std', [T], T.std(2, ddof=1), {'axis': 2, 'ddof': 1}), ('_npi_var', [T], np.asarray(T.var()), {}),
    ('_np_max', [A], A.max(0), {'axis': 0}), ('_np_min', [A], np.asarray(-5.0), {'initial': -5}),
    ('_npi_argmax', [A], A.argmax(1), {'axis': 1}), ('_np_all', [A], np.all(A, 0), {'axis': 0}),
    ('_npi_average', [A, B], np.asarray((A * B).sum() / B.sum()), {}),
    ('_npi_average', [A], A.mean(0), {'axis': 0, 'weighted': False}),
    ('_np_reshape', [T], T.reshape(6, 4), {'newshape': (6, -1)}),
    ('_np_reshape', [A], A.reshape(3, 2, order='F'), {'newshape': (3, 2), 'order': 'F'}),
    ('_np_transpose', [T], T.transpose(2, 0, 1), {'axes': (2, 0, 1)}), ('_np_roll', [A], np.roll(A, 1), {'shift': 1}),
    ('_npi_rot90', [A], np.rot90(A), {}),
    ('_npi_pad', [A], np.pad(A, ((1, 0), (3, 4)), 'reflect'), {'pad_width': ((1, 0), (3, 4)), 'mode': 'reflect'}),
    ('_npi_pad', [A], np.pad(A, 2, 'symmetric'), {'pad_width': '((2, 2),)', 'mode': 'symmetric'}),
    ('_npi_pad', [A], np.pad(A, 1, constant_values=3), {'pad_width': ((1, 1),), 'constant_value': 3}),
    ('_np_diagonal', [T], T.diagonal(1, 1, 2), {'offset': 1, 'axis1': 1, 'axis2': 2}),
    ('_np_trace', [T], T.trace(), {}),
    ('_npi_tril', [A], np.tril(A), {}),
    ('_npi_concatenate', [A, B], np.concatenate([A, B], 1), {'num_args': 2, 'axis': 1}),
    ('_npi_hsplit', [A], list(np.hsplit(A, 3)), {'indices': (), 'sections': 3}),
    ('_np_atleast_3d', [A[0]], np.atleast_3d(A[0]), {'num_args': 1}),
    ('_npi_where', [A > 0, A, B], np.where(A > 0, A, B), {}),
    ('_npi_where_lscalar', [A > 0, B], np.where(A > 0, 2, B), {'scalar': 2}),
    ('_npi_diff', [T], np.diff(T, 2), {'n': 2}), ('_npi_delete', [A], np.delete(A, 1, 1), {'int_ind': 1, 'axis': 1}),
    ('_npi_boolean_mask_assign_scalar', [A, A > 0], np.where(A > 0, 7, A), {'value': 7, 'start_axis': 0}),
    ('_npi_boolean_mask_assign_scalar', [T, T[0] > 1], np.where(T[0] > 1, 7, T), {'value': 7, 'start_axis': 1}),
    ('_npi_percentile', [T], np.percentile(T, 30, axis=1), {'axis': 1, 'q_scalar': 30}),
    ('_npi_matmul', [T, T[0].T], T @ T[0].T, {}),
    ('_np_dot', [A, T[:, :, :1]], np.dot(A, T[:, :, :1]), {}),
    ('_npi_tensordot', [T, T], np.tensordot(T, T, ((0, 2), (0, 2))),
     {'a_axes_summed': (0, 2), 'b_axes_summed': (0, 2)}),
    ('_npi_einsum', [A, B], np.einsum('ij,ij->j', A, B), {'num_args': 2, 'subscripts': 'ij,ij->j'}),
    ('_npi_polyval', [A[0], B], np.polyval(A[0], B), {}),
    ('_npi_solve', [S, A], np.linalg.solve(S, A), {}), ('_npi_norm', [A], np.asarray(np.linalg.norm(A)), {'flag': -2}),
    ('_npi_norm', [A], np.linalg.norm(A, 3, 1), {'ord': 3, 'axis': 1, 'flag': 0}),
    ('_npi_nan_to_num', [np.array([1, np.inf, -np.inf])], np.array([1, 6, -7.0]),
     {'nan': 5, 'posinf': 6, 'neginf': -7}),
    ('_npi_indices', [], np.indices((2, 3)).astype('int32'), {'dimensions': (2, 3)}),
    ('_npi_full_like', [A], np.full_like(A, 3), {'fill_value': 3}),
    ('_npi_around', [np.array([15, 25])], np.array([20, 20]), {'decimals': -1})], ids=lambda x: x if isinstance(x,
    str) else '')
def test_operators(name, inputs, expected, attributes):
    gradient = not name.startswith(('_npi_full_like', '_npi_nan', '_npi_pad')) or 'mode' in attributes
    check(NAMES[name].name, inputs, expected, gradient=gradient, **attributes)


@pytest.mark.parametrize('name, inputs, expected, attributes', [
    ('_npx_nonzero', [A > 1], np.argwhere(A > 1), {}),
    ('_npi_unique', [np.array([3, 1, 3])], [np.array([1, 3]), np.array([1, 0]), np.array([1, 0, 1]), np.array([1, 2])],
                                                        {'return_index': True, 'return_inverse': True,
                                                         'return_counts': True}),
    ('_npi_bincount', [np.array([1, 1, 3])], np.array([0, 2, 0, 1]), {}),
    ('_npi_boolean_mask_assign_tensor', [A, A > 0, np.arange(4.0)], np.array([[0, -2.25, 1], [2, 3, -1]]),
     {'start_axis': 0}),
    ('_npi_insert_tensor', [A, B, np.array([0, 1, 3])], np.insert(A, [0, 1, 3], B, axis=1), {'axis': 1}),
    ('_npi_delete', [A, np.array([-1, 0])], np.delete(A, [-1, 0], 1), {'axis': 1}),
    ('_npi_share_memory', [A, B], np.asarray(False), {}),
    ('_npi_eigh', [np.diag([2.0, 5.0])], [np.array([2.0, 5.0]), np.eye(2)], {})], ids=lambda x: x if isinstance(x,
    str) else '')
def test_operators_whose_shapes_or_ways_depend_on_values(name, inputs, expected, attributes):
    check(NAMES[name].name, inputs, expected, meta=False, gradient=False, **attributes)


X, V = mx.np.ones((2, 3)), mx.np.arange(3)


@pytest.mark.parametrize('call, why', [
    (lambda np: np.max(np.zeros((0, 3))), 'length 0'), (lambda np: np.argmax(np.zeros((0,))), 'no values'),
    (lambda np: np.sum(X, axis=5), 'axis 5'),
    (lambda np: np.squeeze(X, axis=0), 'not of length 1'), (lambda np: np.reshape(X, (-2, -1)), 'accepted is -1'),
    (lambda np: np.broadcast_to(X, (4, 2)), 'cannot be broadcast'),
    (lambda np: np.transpose(X, (0, 0)), 'new order'), (lambda np: np.diag(np.ones((2, 2, 2))), 'vector or a matrix'),
    (lambda np: np.trace(V), 'not two axes'),
    (lambda np: np.rot90(X, axes=(0, 0)), 'two different axes'),
    (lambda np: np.pad(X, ((1, 1),) * 3), 'broadcast|not accepted|does not accept'),
    (lambda np: np.roll(X, (1, 2, 3), axis=(0, 1)), 'do not fit'),
    (lambda np: np.matmul(X, X), 'lengths 3 and 2'), (lambda np: np.dot(X, X), 'lengths 3 and 2'),
    (lambda np: np.matmul(np.array(1), X), 'number'),
    (lambda np: np.tensordot(X, X, ((0, 1), (0,))), 'same number of axes'),
    (lambda np: np.tensordot(X, X, 5), 'not accepted'), (lambda np: np.polyval(X, X), 'vector'),
    (lambda np: np.linalg.cholesky(X), 'square'), (lambda np: np.linalg.cholesky(-np.eye(2)), 'positive-definite'),
    (lambda np: np.linalg.inv(V), 'square'),
    (lambda np: np.linalg.eigvals(np.array([[0, 1], [-1, 0]])), 'complex'),
    (lambda np: np.linalg.norm(X, ord=7), 'order 7'), (lambda np: np.linalg.norm(V, ord='fro'), 'order'),
    (lambda np: np.linalg.norm(np.ones((2, 2, 2)), ord=2), 'one axis or two'),
    (lambda np: np.linalg.tensorinv(X), 'elements'), (lambda np: np.linalg.solve(V, V), 'square'),
    (lambda np: np.take(X, 9), 'out of bounds'), (lambda np: np.take(X, 0, mode='no'), 'mode'),
    (lambda np: np.delete(V, 7), 'out of bounds'), (lambda np: np.delete(V, [7]), 'outside'),
    (lambda np: np.insert(V, 9, 1), 'out of bounds'), (lambda np: np.insert(V, [0, 9], 1), 'outside'),
    (lambda np: np.bincount(V), 'integers'), (lambda np: np.bincount(V, minlength=-1), 'negative'),
    (lambda np: np.bincount(np.array([-1], dtype='int32')), 'negative'),
    (lambda np: np.percentile(V, 101), 'between 0 and 100'), (lambda np: np.percentile(V, [1, 101]), 'between'),
    (lambda np: np.percentile(np.zeros((0,)), 1), 'no values'),
    (lambda np: np.average(X, weights=V), 'do not fit'), (lambda np: np.split(V, 2), 'equal parts'),
    (lambda np: np.split(V, 0), 'positive'), (lambda np: np.vsplit(V, 1), 'two axes'),
    (lambda np: np.dsplit(X, 1), 'three axes'), (lambda np: np.hsplit(np.array(1), 1), 'an axis'),
    (lambda np: np.concatenate([]), 'at least one'), (lambda np: np.where(X, X), 'both'),
    (lambda np: np.unravel_index(V, (2, 2)), 'ints'), (lambda np: np.diag_indices_from(X), 'one length'),
    (lambda np: np.moveaxis(X, 0, (0, 1)), 'same number'), (lambda np: np.clip(X, None, None), 'must be given'),
    (lambda np: np.pad(X, 1, mode='mean'), 'not known'), (lambda np: np.pad(X, 1, stat_length=2), 'no option'),
    (lambda np: np.pad(X, 1.5), 'ints'), (lambda np: np.pad(X, X), 'not an array'),
    (lambda np: np.pad(X, 1, constant_values=(1, 2)), 'a number'),
    (lambda np: np.meshgrid(V, indexing='no'), 'indexing'), (lambda np: np.histogram(V, 'auto'), 'bins'),
    (lambda np: np.einsum('i->', V, foo=1), 'foo'),
    (lambda np: np.diff(V, n=-1), 'n=-1'), (lambda np: np.matrix_transpose(V), 'two axes'),
    (lambda np: np.tensordot(X, X, (0, 1, 2)), 'axes')])
def test_mistakes(call, why):
    with pytest.raises((MXNetError, ValueError, IndexError, TypeError), match=why):
        call(mx.np)


def test_graphs_that_leave_an_input_out():
    """A `-symbol.json` file can do that: the operator names what is missing."""
    with pytest.raises(MXNetError, match='_npi_bernoulli: argument prob is missing'):
        NAMES['_npi_bernoulli'].function(prob=None, logit=0.0, is_logit=False)
    with pytest.raises(MXNetError, match='_npi_percentile: q is missing'):
        NAMES['_npi_percentile'].function(torch.ones(2))


@pytest.mark.parametrize('call', [
    lambda np: np.sort(V, order='f'), lambda np: np.argsort(V, order='f'), lambda np: np.ravel(X, order='K'),
    lambda np: np.percentile(V, 1, overwrite_input=True),
    lambda np: np.histogram(V, density=True), lambda np: np.meshgrid(V, copy=False),
    lambda np: np.unravel_index(0, (2,), order='F')])
def test_what_is_not_there(call):
    with pytest.raises(NotImplementedError):
        call(mx.np)


@pytest.mark.parametrize('dtype, result', [('float16', 'float32'), ('float64', 'float64'), ('int8', 'float32')])
def test_percentiles_have_upstreams_dtypes(dtype, result):
    found = mx.np.percentile(mx.np.array([3, 1, 2, 7]).astype(dtype), 37.0)
    assert found.dtype == result and found.item() == pytest.approx(2.11)


def test_pad_says_that_it_frames_with_zeros():
    with pytest.warns(UserWarning, match='zeros'):
        assert mx.np.pad(V, 1, constant_values=5).tolist() == [0, 0, 1, 2, 0]


def test_numbers_instead_of_arrays():
    np = mx.np
    assert np.broadcast_to(1.5, (2,)).tolist() == [1.5, 1.5] and np.ravel(3).tolist() == [3]
    assert np.where(True, 1, 2) == 1
    assert np.unravel_index(5, (2, 3)) == (1, 2) and np.size(X) == 6 and np.size(X, 1) == 3 and np.ndim(X) == 2
    assert np.shape([1, 2]) == (2,)
    assert np.size([1, 2]) == 2 and np.ndim(3) == 0 and np.flip(3) == 3 and np.tile(2, 2).tolist() == [2, 2]
    assert np.clip(5, 0, 3) == 3
    assert np.dot(X, 2).tolist() == (X * 2).tolist() and np.inner(X, 2).shape == (2, 3)
    assert np.outer(2, V).shape == (1, 3) and np.polyval(V, 2.0) == 4
    assert np.atleast_1d(3).shape == (1,) and np.nan_to_num(float('nan')) == 0
    assert np.around(2.567, 1) == pytest.approx(2.6)
    assert np.clip(X, np.zeros(3), 0.5).max() == 0.5 and np.vecdot(X, X).tolist() == [3, 3]
    assert np.matrix_transpose(X).shape == (3, 2)
    assert np.average(X, returned=True)[1] == 6 and np.linalg.norm(X, ord=2).item() == pytest.approx(6 ** 0.5)


def test_functions_of_finance_and_other_ways_through_numpy(tmp_path):
    np = mx.np
    assert np.npv(0.1, np.array([-10.0, 6.0, 6.0])) == pytest.approx(0.413223, rel=1e-5)
    assert np.pv(0.0, 4, -2.5) == 10 and np.pv(0.05, 10, -100, 50) == pytest.approx(741.4778, rel=1e-5)
    assert np.ppmt(0.01, 1, 12, 1000) == pytest.approx(-78.8488, rel=1e-4)
    assert np.ppmt(0.0, 1, 4, 100, when='begin') == pytest.approx(-25)
    assert np.rate(10, 0, -100, 200) == pytest.approx(2 ** 0.1 - 1, abs=1e-6)
    assert np.mirr([-100, 60, 70], 0.1, 0.12) == pytest.approx(0.171324, rel=1e-4)
    assert np.isnan(np.mirr([1, 2], 0.1, 0.1))
    assert np.alltrue(X) and np.in1d(V, np.array([1.0])).tolist() == [False, True, False]
    assert np.msort(np.array([[2, 1], [1, 2]])).tolist() == [[1, 1], [2, 2]]
    assert np.trapz(V) == 2 and np.histogramdd(X)[0].sum() == 2 and np.sometrue(X) and np.product(X) == 1
    out = np.zeros(3)
    assert np.nanmax(X, axis=0, out=out) is out and out.tolist() == [1, 1, 1]
    (tmp_path / 'a.csv').write_text('1,2\n3,4\n')
    assert np.genfromtxt(tmp_path / 'a.csv', delimiter=',').tolist() == [[1, 2], [3, 4]]
    np.set_printoptions(precision=3)
    assert repr(np.array([1.23456])) == 'array([1.235])'
    np.set_printoptions(precision=8)


def test_random_operators_on_meta_tensors():
    parameter = torch.ones(3, device='meta')
    for name, given in (('_npi_normal', {'loc': None, 'scale': 1.0}), ('_npi_uniform', {'low': None, 'high': 1.0}),
                        ('_npi_gamma', {'shape': None, 'scale': 1.0}),
                        ('_npi_exponential', {'scale': None}), ('_npi_powerd', {'a': None}),
                        ('_npi_bernoulli', {'prob': None, 'logit': None, 'is_logit': True})):
        assert NAMES[name].function(parameter, size=(2, 3), **given).shape == (2, 3)
    assert NAMES['_npi_choice'].function(a=4, size=(2,), ctx='meta').shape == (2,)
    assert NAMES['_npi_multinomial'].function(parameter, n=3, size=(2,)).shape == (2, 3)
