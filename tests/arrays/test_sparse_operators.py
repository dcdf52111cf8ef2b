"""Operators on sparse arrays: values against dense ones, storage types as upstream's, gradients that hold only rows."""
import logging

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd
from mxnet.base import MXNetError
from mxnet.ndarray._sparse_parts import Later, rows_summed

sparse = nd.sparse
A = np.array([[0, 1, 0, -2], [0, 0, 0, 0], [3, 0, 0.5, 0]], 'float32')
B = np.array([[0, 2, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]], 'float32')
STYPES = ['csr', 'row_sparse']


def make(values, stype):
    return nd.array(values).tostype(stype)


def check(result, expected, stype):
    assert result.stype == stype
    assert np.allclose(result.asnumpy(), expected, atol=1e-6)
    if stype != 'default':
        result.check_format()


@pytest.mark.parametrize('stype', STYPES)
@pytest.mark.parametrize('name', ['abs', 'sign', 'square', 'relu', 'sin', 'tanh', 'expm1', 'floor', 'negative',
                                  'arctan'])
def test_functions_that_keep_zeros(stype, name):
    check(getattr(nd, name)(make(A, stype)), getattr(nd, name)(nd.array(A)).asnumpy(), stype)
    check(getattr(sparse, name)(make(A, stype)), getattr(nd, name)(nd.array(A)).asnumpy(), stype)


@pytest.mark.parametrize('stype', STYPES)
def test_two_operands(stype):
    x, y, dense = make(A, stype), make(B, stype), nd.array(B)
    check(sparse.elemwise_add(x, y), A + B, stype)
    check(sparse.elemwise_sub(x, y), A - B, stype)
    check(sparse.elemwise_mul(x, y), A * B, stype)
    check(sparse.elemwise_mul(x, dense), A * B, stype)
    check(sparse.elemwise_mul(dense, x), A * B, stype)
    check(sparse.elemwise_add(x, dense), A + B, 'default')
    check(x * 2, A * 2, stype)
    check(x / 2, A / 2, stype)
    check(x > 1, A > 1, stype)
    check(x < 1, A < 1, 'default')
    check(sparse.clip(x, -1, 1), A.clip(-1, 1), stype)
    check(sparse.clip(x, 1, 2), A.clip(1, 2), 'default')


def test_sums():
    for stype in STYPES:
        x = make(A, stype)
        for axis in None, 0, 1:
            for name in 'sum', 'mean', 'norm':
                expected = getattr(nd, name)(nd.array(A), axis=axis) if axis is not None else getattr(nd,
                                                                                                      name)(nd.array(A))
                check(getattr(sparse, name)(x, axis=axis) if axis is not None else getattr(sparse, name)(x),
                      expected.asnumpy(), 'default')
    rows = make(A, 'row_sparse')
    check(nd._internal._square_sum(rows, axis=1, keepdims=True), (A ** 2).sum(1, keepdims=True), 'row_sparse')
    check(sparse.add_n(rows, rows, make(B, 'row_sparse')), 2 * A + B, 'row_sparse')
    assert nd.contrib.getnnz(make(A, 'csr')).asscalar() == 4
    assert nd.contrib.getnnz(make(A, 'csr'), axis=1).asnumpy().tolist() == [2, 0, 2]
    assert nd.contrib.getnnz(make(A, 'csr'), axis=0).asnumpy().tolist() == [1, 1, 1, 1]


def test_parts_of_csr():
    x = make(A, 'csr')
    check(sparse.slice(x, begin=(1,), end=(3,)), A[1:3], 'csr')
    check(sparse.slice(x, begin=(0, 1), end=(3, 3)), A[:3, 1:3], 'csr')
    check(nd.take(x, nd.array([2, 0, 2, 9])), A[[2, 0, 2, 2]], 'csr')
    check(sparse.concat(x, x, dim=0), np.concatenate([A, A]), 'csr')


@pytest.mark.parametrize('other', ['default', 'row_sparse'])
def test_dot(other):
    x = make(A, 'csr')
    right, left = np.arange(8, dtype='float32').reshape(4, 2), np.arange(6, dtype='float32').reshape(3, 2)
    check(sparse.dot(x, make(right, other) if other != 'default' else nd.array(right)), A @ right, 'default')
    turned = make(left, other) if other != 'default' else nd.array(left)
    check(sparse.dot(x, turned, transpose_a=True), A.T @ left, 'row_sparse')
    check(sparse.dot(x, turned, transpose_a=True, forward_stype='default'), A.T @ left, 'default')
    dense = nd.array(left.T)
    check(sparse.dot(dense, x), left.T @ A, 'csr')
    check(sparse.dot(nd.array(B), x, transpose_b=True), B @ A.T, 'csr')
    with pytest.raises(MXNetError, match='do not fit'):
        sparse.dot(x, nd.ones((3, 2)))


@pytest.mark.parametrize('weight_stype', ['default', 'row_sparse'])
def test_gradient_of_dot_has_only_rows_in_use(weight_stype):
    x = sparse.csr_matrix(([1.0, 2.0], [7, 3], [0, 1, 2]), shape=(2, 1000))
    weight = nd.random.normal(shape=(1000, 3))
    weight = weight if weight_stype == 'default' else weight.tostype('row_sparse')
    weight.attach_grad(stype='row_sparse')
    for _ in range(2):
        with autograd.record():
            y = sparse.dot(x, weight)
        y.backward(nd.ones((2, 3)))
        assert weight.grad.stype == 'row_sparse'
        assert weight.grad.indices.asnumpy().tolist() == [3, 7]
        assert weight.grad.data.asnumpy().tolist() == [[2, 2, 2], [1, 1, 1]]


def test_gradients_are_added():
    x = make(A, 'csr')
    weight = nd.ones((4, 2))
    weight.attach_grad('add', stype='row_sparse')
    for _ in range(2):
        with autograd.record():
            y = sparse.dot(x, weight) + sparse.dot(x, weight * weight)
        y.backward()
    assert np.allclose(weight.grad.asnumpy(), 2 * (A.T @ np.ones((3, 2)) * 3))


@pytest.mark.parametrize('weight_stype', ['default', 'row_sparse'])
def test_gradient_of_embedding_has_only_rows_in_use(weight_stype):
    weight = nd.ones((1000, 2)) if weight_stype == 'default' else nd.ones((1000, 2)).tostype('row_sparse')
    weight.attach_grad(stype='row_sparse')
    with autograd.record():
        y = nd.Embedding(nd.array([5, 2, 5]), weight, input_dim=1000, output_dim=2, sparse_grad=True)
    y.backward()
    assert weight.grad.indices.asnumpy().tolist() == [2, 5]
    assert weight.grad.data.asnumpy().tolist() == [[1, 1], [2, 2]]


def test_gradients_through_sparse_values():
    for stype in STYPES:
        x = make(A, stype)
        x.attach_grad(stype='default')
        with autograd.record():
            y = nd.square(x) * nd.array(B) + nd.relu(x)
        y.backward()
        assert np.allclose(x.grad.asnumpy(), 2 * A * B + (A > 0))
    gradient, = _second(make(A, 'row_sparse'))
    assert np.allclose(gradient.asnumpy(), 2 * A)


def _second(x):
    x.attach_grad()
    with autograd.record():
        y = nd.square(x)
    return autograd.grad(y, [x])


def test_lazy_updates_leave_rows_alone():
    weight, grad = nd.ones((4, 2)), sparse.row_sparse_array(([[1.0, 1.0]], [2]), shape=(4, 2))
    sparse.sgd_update(weight, grad, lr=0.5, wd=0.1, out=weight)
    assert weight.asnumpy().tolist() == [[1, 1], [1, 1], [np.float32(0.45)] * 2, [1, 1]]
    history = nd.zeros((4, 2)).tostype('row_sparse')
    rows = nd.ones((4, 2)).tostype('row_sparse')
    sparse.adagrad_update(rows, grad, history, lr=0.5, out=rows)
    assert np.allclose(rows.asnumpy()[2], 0.5) and rows.asnumpy()[[0, 1, 3]].tolist() == [[1, 1]] * 3
    assert history.indices.asnumpy().tolist() == [2]


def test_graphs_keep_storage_types():
    x, w = mx.sym.var('x', stype='csr'), mx.sym.var('w', stype='row_sparse')
    executor = mx.sym.Group([mx.sym.sparse.dot(x, w), mx.sym.sparse.square(x)]).simple_bind(mx.cpu(), x=(3, 4),
                                                                                            w=(4, 2))
    executor.arg_dict['x'][:] = make(A, 'csr')
    executor.arg_dict['w'][:] = nd.ones((4, 2)).tostype('row_sparse')
    y, squares = executor.forward(is_train=True)
    check(y, A @ np.ones((4, 2)), 'default')
    check(squares, A ** 2, 'csr')
    executor.backward([nd.ones((3, 2)), nd.zeros((3, 4))])
    check(executor.grad_dict['w'], A.T @ np.ones((3, 2)), 'row_sparse')
    stored = mx.sym.cast_storage(mx.sym.var('d'), stype='csr').bind(mx.cpu(), {'d': nd.array(A)}).forward()[0]
    check(stored, A, 'csr')


def test_wide_data_stays_small():
    """2 x 10**9 elements would not fit; what is stored does."""
    wide = 10 ** 9
    x = sparse.csr_matrix(([1.0, 2.0, 3.0], [5, wide - 1, 5], [0, 2, 3]), shape=(2, wide))
    w = sparse.row_sparse_array(([[1.0], [4.0]], [5, wide - 1]), shape=(wide, 1))
    w.attach_grad()
    with autograd.record():
        y = sparse.dot(x, w)
    y.backward()
    assert y.asnumpy().tolist() == [[9], [3]]
    assert w.grad.indices.asnumpy().tolist() == [5, wide - 1] and w.grad.data.asnumpy().tolist() == [[4], [2]]
    assert nd._internal._square_sum(w, axis=1, keepdims=True).data.asnumpy().tolist() == [[1], [16]]


def test_fallback_is_told(monkeypatch, caplog):
    x = make(A, 'csr')
    with caplog.at_level(logging.WARNING, 'mxnet'):
        nd.cosh(x)
        assert not caplog.records
        monkeypatch.setenv('MXNET_STORAGE_FALLBACK_LOG_VERBOSE', '1')
        nd.cosh(x)
        nd.cosh(x)
    assert [r.getMessage() for r in caplog.records] == \
        ['operator cosh(csr) is computed on dense copies of its sparse inputs']


@pytest.mark.parametrize(('name', 'states', 'expected'), [
    ('sgd_mom_update', 1, [0.99, 0.94, 0.99]), ('adam_update', 2, [0.684, 0.684, 0.684]),
    ('ftrl_update', 2, [0, 0.297, 0])])
def test_updates_of_weights_and_states_stored_in_two_ways_change_all_rows(name, states, expected):
    """As MXNet 1.9.1 does; its numbers."""
    weight = mx.nd.ones((3, 1))
    grad = mx.nd.sparse.row_sparse_array(([[0.5]], [1]), shape=(3, 1))
    others = [mx.nd.sparse.zeros('row_sparse', (3, 1)) for _ in range(states)]
    more = {'momentum': 0.9} if states == 1 else {}
    getattr(mx.nd, name)(weight, grad, *others, out=weight, lr=0.1, wd=0.1, **more)
    np.testing.assert_allclose(weight.asnumpy().ravel(), expected, atol=1e-3)


# ---------------------------------------------------------------------- SciPy's and torch's sparse matrices
def test_scipy_shares_memory():
    scipy_sparse = pytest.importorskip('scipy.sparse')
    matrix = scipy_sparse.csr_matrix(np.array([[0, 1, 0], [2, 0, 3]], 'float32'))
    x = nd.sparse.from_scipy(matrix)
    np.testing.assert_array_equal(x.asnumpy(), matrix.toarray())
    matrix.data[0] = 7
    assert x.asnumpy()[0, 1] == 7
    back = x.asscipy(copy=False)
    matrix.data[1] = 8
    assert back[1, 0] == 8 and x.asscipy()[1, 0] == 8
    np.testing.assert_array_equal(nd.sparse.dot(x, nd.ones((3, 2))).asnumpy(), matrix.toarray() @ np.ones((3, 2)))
    mixed = scipy_sparse.coo_matrix(([1., 2., 3.], ([1, 0, 1], [2, 0, 2])), shape=(2, 3))
    np.testing.assert_array_equal(nd.sparse.from_scipy(mixed).asnumpy(), mixed.toarray())
    with pytest.raises(TypeError, match='SciPy'):
        nd.sparse.from_scipy(np.ones((2, 2)))


def test_torch_shares_memory():
    x = nd.array([[0, 1, 0], [2, 0, 3]]).tostype('csr')
    tensor = x.to_torch_sparse()
    assert tensor.layout is torch.sparse_csr
    np.testing.assert_array_equal(tensor.to_dense().numpy(), x.asnumpy())
    y = nd.sparse.from_torch(tensor)
    tensor.values()[0] = 5
    assert x.asnumpy()[0, 1] == y.asnumpy()[0, 1] == 5 and y.stype == 'csr'
    w = nd.array([[0, 0], [1, 2], [0, 0]]).tostype('row_sparse')
    rows = w.to_torch_sparse()
    assert rows.sparse_dim() == 1
    np.testing.assert_array_equal(rows.to_dense().numpy(), w.asnumpy())
    again = nd.sparse.from_torch(rows)
    rows.values()[0, 0] = 9
    assert again.stype == 'row_sparse' and again.asnumpy()[1, 0] == w.asnumpy()[1, 0] == 9
    both = torch.tensor([[0., 4.], [5., 0.]]).to_sparse()
    np.testing.assert_array_equal(nd.sparse.from_torch(both).asnumpy(), both.to_dense().numpy())
    for wrong in (torch.ones(2, 2), np.ones(2)):
        with pytest.raises(TypeError, match='sparse_csr or torch.sparse_coo'):
            nd.sparse.from_torch(wrong)
    with pytest.raises(ValueError, match='one sparse axis'):
        nd.sparse.from_torch(torch.ones(2, 2, 2).to_sparse())


def test_fallback_is_logged(monkeypatch, caplog):
    from mxnet.ndarray import _sparse_dispatch
    monkeypatch.setattr(_sparse_dispatch, '_told', set())
    x = nd.array([[0, 1], [2, 0]]).tostype('csr')
    nd.cos(x)
    assert not caplog.records
    monkeypatch.setenv('MXNET_STORAGE_FALLBACK_LOG_VERBOSE', '1')
    nd.cos(x)
    nd.cos(x)
    nd.square(x)
    message, = [r.getMessage() for r in caplog.records]
    assert message == 'operator cos(csr) is computed on dense copies of its sparse inputs'


def _uses_of_a_weight(x, v):
    """A weight in products by itself, by a function of its elements, of its rows, and of the rows that are kept."""
    parts = [mx.sym.dot(x, v), mx.sym.dot(x, mx.sym.square(v) * 2),
             mx.sym.broadcast_mul(mx.sym.dot(x, mx.sym._internal._square_sum(v, axis=1, keepdims=True)),
                                  mx.sym.ones((1, 2)))]
    return mx.sym.add_n(*parts)


@pytest.mark.parametrize('rows', [[0, 1, 2, 3], [0, 3], [1]])
def test_graphs_that_use_rows_of_a_weight_in_several_ways(rows, monkeypatch):
    """Gradients of all uses are added, and functions of rows are computed where products want them, and only there."""
    def whole(later):
        raise AssertionError('all rows were computed')
    monkeypatch.setattr(Later, '__call__', whole)
    values = np.random.RandomState(0).randn(len(rows), 2).astype('float32')
    results = {}
    for stype in ('default', 'row_sparse'):
        v = sparse.row_sparse_array((values, rows), shape=(4, 2))
        v = v.tostype('default') if stype == 'default' else v
        x = nd.array(A) if stype == 'default' else make(A, 'csr')
        graph = _uses_of_a_weight(mx.sym.var('x'), mx.sym.var('v'))
        executor = graph.bind(mx.cpu(), {'x': x, 'v': v}, {'v': nd.zeros((4, 2)).tostype(stype)},
                              grad_req={'v': 'write'})
        for _ in range(2):
            executor.forward(is_train=True)
            executor.backward(nd.array([[1, 2], [3, 4], [5, 6]]))
        results[stype] = executor.outputs[0].asnumpy(), executor.grad_dict['v']
    assert results['row_sparse'][1].stype == 'row_sparse'
    assert np.allclose(results['default'][0], results['row_sparse'][0], atol=1e-5)
    assert np.allclose(results['default'][1].asnumpy(), results['row_sparse'][1].asnumpy(), atol=1e-5)


def test_sums_of_squares_stay_when_the_array_changes():
    w = sparse.row_sparse_array(([[1., 2.], [3., 0.]], [1, 3]), shape=(5, 2))
    total = nd._internal._square_sum(w, axis=1, keepdims=True)
    gradient = sparse.row_sparse_array(([[1., 1.]], [1]), shape=(5, 2))
    nd.sgd_update(w, gradient, out=w, lr=1.0)
    assert total.asnumpy().ravel().tolist() == [0, 5, 0, 9, 0]


@pytest.mark.parametrize('limit', [100, 1 << 16, 1 << 20, 1 << 31, 1 << 40])
@pytest.mark.parametrize('count', [0, 1, 3000, 1 << 15])
def test_columns_are_sorted(limit, count):
    from mxnet.ndarray._sparse_products import _sorted
    columns = torch.randint(0, limit, (count,), generator=torch.Generator().manual_seed(0))
    expected = columns.sort(stable=True)
    ordered, order = _sorted(columns, limit)
    assert torch.equal(ordered.long(), expected[0]) and torch.equal(order, expected[1])


def test_gradients_by_rows_are_added():
    parts = [(torch.ones(2, 1), torch.tensor([0, 3])), (torch.ones(2, 1), torch.tensor([0, 3])),
             (torch.ones(2, 1), torch.tensor([3, 4]))]
    assert [t.reshape(-1).tolist() for t in rows_summed(parts[:2])] == [[2, 2], [0, 3]]
    assert [t.reshape(-1).tolist() for t in rows_summed(parts)] == [[2, 3, 1], [0, 3, 4]]
    assert parts[0][0].tolist() == [[1], [1]]


@pytest.mark.parametrize('req', ['write', 'add'])
def test_recorded_gradients_of_several_uses_are_added(req):
    """Also when a graph is followed back twice, and after a recording that nothing was made of."""
    values = np.random.RandomState(0).randn(4, 2).astype('float32')
    found = {}
    for stype in ('default', 'row_sparse'):
        v = nd.array(values).tostype(stype)
        v.attach_grad(grad_req=req)
        x = make(A, 'csr')

        def loss(v=v, x=x):
            squares = nd._internal._square_sum(v, axis=1, keepdims=True)
            return (nd.dot(x, v).sum(axis=1) ** 2 + nd.dot(nd.square(x), squares).reshape(-1)).sum() + 3 * v.sum()
        with autograd.record():
            loss()
        with autograd.record():
            total = loss()
        total.backward(retain_graph=True)
        total.backward()
        with autograd.record():
            total = loss()
        total.backward()
        assert v.grad.stype == stype
        found[stype] = v.grad.asnumpy()
    assert np.allclose(found['default'], found['row_sparse'], rtol=1e-4)


def test_a_failed_backward_leaves_nothing_behind():
    class Fails(autograd.Function):
        def forward(self, x):
            return x

        def backward(self, gradient):
            raise ArithmeticError('no gradient today')
    v = nd.ones((4, 2)).tostype('row_sparse')
    v.attach_grad()
    x = make(A, 'csr')
    with autograd.record():
        total = Fails()(nd.dot(x, v)).sum() + nd.dot(x, v).sum()
    with pytest.raises(ArithmeticError):
        total.backward()
    with autograd.record():
        total = nd.dot(x, v).sum()
    total.backward()
    assert np.allclose(v.grad.asnumpy(), A.sum(0)[:, None].repeat(2, 1))


def test_shapes_that_do_not_fit_are_told_while_recording():
    a, b = nd.ones((2, 3)), nd.ones((3, 2)).tostype('csr')
    b.attach_grad()
    with autograd.record(), pytest.raises(MXNetError, match=r'operator dot.*\(2, 3\).*\(3, 2\)'):
        nd.sparse.dot(a, b, transpose_b=True)
