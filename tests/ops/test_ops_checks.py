"""Values that operators refuse are noted where they are, and raised when something waits: on a CPU, as on a GPU."""
import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.codegen.writing import Plan
from mxnet._ops.core import checks
from mxnet._ops.tensor import products
from mxnet._torch import tools
from mxnet.base import MXNetError


@pytest.fixture
def deferred():
    with checks.deferred_on_cpu():
        yield


def data():
    return nd.arange(12).reshape((3, 4))


def sequences(length):
    return nd.ones((3, 2, 4)), nd.ones(4 * 4 * 8 + 32), nd.zeros((1, 2, 4)), nd.zeros((1, 2, 4)), nd.array([2, length])


# a call with an index that is out of range, the same with one that is not, and what the error names
CASES = {
    'gather_nd': (lambda i: nd.gather_nd(data(), nd.array([[0, i]])), 5, 2, 'gather_nd: indices[0] has the value 5; it '
                  'must be from -3 to 2'),
    'gather_nd of the second axis': (lambda i: nd.gather_nd(data(), nd.array([[0], [i]])), -5, -4, 'gather_nd: '
                                     'indices[1] has the value -5; it must be from -4 to 3'),
    'scatter_nd': (lambda i: nd.scatter_nd(nd.array([1.]), nd.array([[i]]), shape=(3,)), 3, 2, 'scatter_nd: indices'),
    'take': (lambda i: nd.take(data(), nd.array([[i]]), mode='raise'), -1, 0, 'take: indices has the value -1; it must '
             'be from 0 to 2'),
    'index_copy': (lambda i: nd.contrib.index_copy(data(), nd.array([i]), nd.ones((1, 4))), 5, 2, 'index_copy: '
                   'index_vector has the value 5'),
    'fill_element_0index': (lambda i: nd.fill_element_0index(data(), nd.ones(3), nd.array([0, 1, i])), 4, 3,
                            'fill_element_0index: rhs has the value 4'),
    'softmax_cross_entropy': (lambda i: nd.softmax_cross_entropy(data(), nd.array([0, 1, i])), 4, 3,
                              'softmax_cross_entropy: label has the value 4; it must be from 0 to 3'),
    'SequenceReverse': (lambda i: nd.SequenceReverse(data(), nd.array([1, 2, i, 2]), use_sequence_length=True), 9, 3,
                        'SequenceReverse: sequence_length has the value 9; it must be from 0 to 3'),
    'RNN': (lambda i: nd.RNN(*sequences(i), use_sequence_length=True, mode='lstm', state_size=4, num_layers=1), 4, 3,
            'RNN: sequence_length has the value 4'),
    'count_sketch': (lambda i: nd.contrib.count_sketch(data(), nd.array([[0, 1, i, 2]]), nd.ones((1, 4)), out_dim=3),
                     3, 2, 'count_sketch: h has the value 3'),
    'CTCLoss': (lambda i: nd.CTCLoss(nd.ones((6, 2, 4)), nd.array([[1, i], [1, 2]])), 4, 3, 'CTCLoss: label has the '
                'value 4; it must be from 0 to 3'),
    'box_encode': (lambda i: nd.contrib.box_encode(nd.ones((1, 1)), nd.array([[i]]), nd.array([[[0, 0, 4, 4]]]),
                                                   nd.array([[[2, 0, 6, 4]]]), nd.zeros(4), nd.ones(4))[0], 1, 0,
                   'box_encode: matches has the value 1'),
    'take_along_axis': (lambda i:
                        mx.np.take_along_axis(mx.np.arange(3), mx.np.array([i], dtype='int64'), None), 3, -3,
                        'take_along_axis: indices has the value 3'),
    'indexing': (lambda i: data()[nd.array([0, i])], 3, -3, 'the index of axis 0 has the value 3; it must be from -3'),
    'indexing behind an ellipsis': (lambda i: data()[..., nd.array([i])], 4, 3, 'the index of axis 1 has the value 4'),
    'indexing beside a mask': (lambda i: data().reshape((3, 2, 2))[nd.array([1, 0, 1]).astype('bool'), nd.array([i])],
                               2, 1, 'the index of axis 1 has the value 2'),
    'np indexing': (lambda i: mx.np.arange(12).reshape(3, 4)[:, mx.np.array([i])], 4, 3, 'the index of axis 1'),
}


@pytest.mark.parametrize('name', CASES)
def test_an_index_out_of_range_is_noted_and_raised_when_something_waits(name, deferred):
    call, wrong, right, text = CASES[name]
    call(right).asnumpy()
    result = call(wrong)
    with pytest.raises((MXNetError, IndexError)) as error:
        result.asnumpy()
    assert text in str(error.value)
    assert isinstance(error.value, IndexError)
    call(right).asnumpy()                   # raised once: the process goes on


@pytest.mark.parametrize('name', CASES)
def test_on_a_cpu_the_call_raises(name):
    call, wrong, right, _ = CASES[name]
    call(right).asnumpy()
    with pytest.raises((MXNetError, IndexError)):
        call(wrong)


@pytest.mark.parametrize('wait', ['asnumpy', 'asscalar', 'item', 'tolist', 'wait_to_read', 'waitall', 'bool', 'print',
                                  'save', 'other context'])
def test_everything_that_waits_raises(wait, deferred, tmp_path):
    x = nd.gather_nd(nd.arange(3), nd.array([[7]]))
    with pytest.raises(MXNetError, match='gather_nd: .* the value 7'):
        if wait == 'waitall':
            nd.waitall()
        elif wait == 'bool':
            bool(x)
        elif wait == 'print':
            str(x)
        elif wait == 'save':
            nd.save(str(tmp_path / 'x'), [x])
        elif wait == 'other context':
            x.as_in_context(mx.cpu(1)).asnumpy()
        else:
            getattr(x, wait)()


def test_writing_is_checked(deferred):
    x = data()
    x[nd.array([2])] = 5
    x[nd.array([9])] = 5
    with pytest.raises(MXNetError, match='index of axis 0 has the value 9'):
        x.asnumpy()


class Chooser(gluon.HybridBlock):
    """Two operators that check their indices, one of them by a parameter."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.weight = self.params.get('weight', shape=(4, 3))
            self.order = self.params.get_constant('order', nd.array([[2, 0, 1]]))

    def hybrid_forward(self, F, x, weight, order):
        rows = F.gather_nd(weight, x)
        return F.transpose(F.gather_nd(F.transpose(rows), order))


@pytest.mark.parametrize('flags', [{}, {'static_alloc': True, 'static_shape': True}])
@pytest.mark.parametrize('training', [False, True])
def test_plans_check_too(flags, training, deferred):
    net = Chooser()
    net.initialize()
    net.hybridize(**flags)
    good, bad = nd.array([[0, 3]]), nd.array([[0, 4]])

    def run(x):
        with autograd.record(train_mode=training) if training else autograd.pause():
            y = net(x)
            loss = y.sum()
        if training:
            loss.backward()
        return loss

    for _ in range(5):
        run(good).asnumpy()
    loss = run(bad)
    with pytest.raises(MXNetError, match=r'gather_nd: indices\[0\] has the value 4; it must be from -4 to 3'):
        loss.asnumpy()
    run(good).asnumpy()
    assert any('own' in plan.source for plan in Plan.live)


@pytest.mark.parametrize('training', [False, True])
def test_a_check_of_a_constant_raises_in_each_run_of_a_plan(training, deferred):
    """It is neither folded nor computed once for all predictions."""
    net = Chooser()
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    net.order.set_data(nd.array([[2, 0, 3]]))
    for _ in range(6):
        with pytest.raises(MXNetError, match='the value 3; it must be from -3 to 2'):
            with autograd.record() if training else autograd.pause():
                y = net(nd.array([[0, 3]])).sum()
            if training:
                y.backward()
            y.asnumpy()


def test_traces_contain_the_check():
    from mxnet._graph.passes.simplify import is_pure
    assert all(is_pure(type('Node', (), {'target': check})) for check in checks.CHECKS)      # one for equal calls


def test_the_first_error_is_the_one_that_is_raised(deferred):
    nd.gather_nd(nd.arange(3), nd.array([[7]]))
    x = nd.take(nd.arange(3), nd.array([[8]]), mode='raise')
    with pytest.raises(MXNetError, match='gather_nd'):
        x.asnumpy()
    x.asnumpy()


def test_an_axis_of_length_0(deferred):
    with mx.util.np_shape(True):
        with pytest.raises(MXNetError, match='axis of length 0'):
            nd.gather_nd(nd.zeros((0, 3)), nd.array([[0]]))
        assert nd.gather_nd(nd.zeros((0, 3)), nd.zeros((1, 0))).shape == (0, 3)


def test_values_that_are_no_indices(deferred):
    bad = torch.tensor([0.5, -1.0, float('nan')])
    refused = ~((bad >= 0) & (bad <= 1))
    found = checks.refuse('draw', 'prob', bad, refused, 'between 0 and 1', 1.0, mx.base.OutOfRange)
    assert found.tolist() == [0.5, 1.0, 1.0]
    with pytest.raises(mx.base.OutOfRange, match='operator draw: prob has values that are not accepted; it must be'):
        checks.look()
    fine = torch.tensor([0.5, 1.0])
    assert checks.refuse('draw', 'prob', fine, fine > 1, 'between 0 and 1', 1.0) is not fine
    checks.look()


# ---------------------------------------------------------------------- places that are no numbers
def test_places_that_are_nan_are_no_error():
    """As in training that has diverged: the result is NaN, on a GPU as well."""
    nan = float('nan')
    rois = nd.array([[0, nan, 0, 2, 2], [0, 0, 0, 2, 2]])
    found = nd.contrib.ROIAlign(nd.ones((1, 1, 4, 4)), rois, pooled_size=(2, 2), spatial_scale=1., sample_ratio=2)
    assert np.isnan(found.asnumpy()[0]).all() and (found.asnumpy()[1] == 1).all()
    for width in (5, 6):
        offsets = nd.full((1, 18, 3, width - 2), nan)
        found = nd.contrib.DeformableConvolution(nd.ones((1, 1, 5, width)), offsets, nd.ones((1, 1, 3, 3)),
                                                 no_bias=True, kernel=(3, 3), num_filter=1)
        assert np.isnan(found.asnumpy()).all()


# ---------------------------------------------------------------------- products of integers
WHOLE = list(products._WHOLE)


def whole(dtype, *shape):
    info = torch.iinfo(dtype)
    return torch.randint(info.min, info.max, shape, dtype=dtype)


@pytest.mark.parametrize('dtype', WHOLE)
@pytest.mark.parametrize('terms', [1, 7, 300])
def test_products_of_integers_by_doubles_are_exact(dtype, terms):
    a, b = whole(dtype, 2, 3, terms), whole(dtype, 2, terms, 5)
    assert torch.equal(products.integer_product(torch.matmul, a, b, terms), torch.matmul(a, b))
    extreme = torch.full((1, terms), torch.iinfo(dtype).min, dtype=dtype)
    assert torch.equal(products.integer_product(torch.matmul, extreme, extreme.mT, terms),
                       torch.matmul(extreme, extreme.mT))


@pytest.mark.parametrize('terms', [1, 1 << 21, (1 << 21) + 1, 1 << 33])
def test_parts_are_as_short_as_the_sum_is_long(terms):
    a = torch.tensor([[(1 << 62) + 12345]])
    assert torch.equal(products.integer_product(torch.matmul, a, a, terms), a * a)


EINSUMS = [('ij,jk,kl->il', (2, 3), (3, 4), (4, 5)), ('ij,jk', (2, 3), (3, 4)),
           ('...ij,...jk->...ik', (2, 2, 3), (2, 3, 4)),
           ('ii,i->i', (3, 3), (3,)), ('ij,ij->', (2, 3), (2, 3)), ('i...,i...', (2, 3), (2, 3)),
           ('a,b,c->cab', (2,), (3,), (4,)), ('b...,...c,cd->bd', (2, 3), (3, 4), (4, 2)), (' i j -> j i', (2, 3))]


@pytest.mark.parametrize('case', EINSUMS, ids=[c[0] for c in EINSUMS])
@pytest.mark.parametrize('dtype', WHOLE)
def test_einsum_of_integers_as_on_a_gpu(case, dtype, monkeypatch):
    subscripts, *shapes = case
    data = [whole(dtype, *s) for s in shapes]
    wanted = torch.einsum(subscripts, *data)
    monkeypatch.setattr(products, '_is_exact', lambda data: data.dtype not in products._WHOLE)
    assert torch.equal(products.einsum(subscripts, *data), wanted)


def test_other_products_of_integers_as_on_a_gpu(monkeypatch):
    a, b, c = (nd.array(whole(torch.int32, *s).numpy(), dtype='int32') for s in ((3, 4), (4, 5), (2, 4, 3)))
    rows = nd.array(whole(torch.int32, 6, 4).numpy(), dtype='int32')
    calls = [lambda: nd.dot(a, b), lambda: nd.dot(a[0], b), lambda: nd.dot(a[0], a[1]),
             lambda: nd.dot(b, a, transpose_a=True, transpose_b=True), lambda: nd.dot(a, c.transpose((1, 2, 0))),
             lambda: nd.batch_dot(c, c, transpose_a=True), lambda: nd.FullyConnected(a, rows, rows[:, 0], num_hidden=6),
             lambda: mx.np.tensordot(a.as_np_ndarray(), b.as_np_ndarray(), 1),
             lambda: mx.np.matmul(a.as_np_ndarray(), b.as_np_ndarray()),
             lambda: mx.np.dot(a.as_np_ndarray(), b.as_np_ndarray())]
    wanted = [call().asnumpy() for call in calls]
    monkeypatch.setattr(products, '_is_exact', lambda data: data.dtype not in products._WHOLE)
    monkeypatch.setattr('mxnet._ops._eager.SPECIAL', {}, raising=False)
    for call, right in zip(calls, wanted, strict=True):
        np.testing.assert_array_equal(call().asnumpy(), right)


# ---------------------------------------------------------------------- on a GPU
@pytest.mark.gpu
@pytest.mark.parametrize('name', CASES)
def test_a_gpu_notes_an_index_out_of_range_and_goes_on(name):
    call, wrong, right, text = CASES[name]
    with mx.gpu(0):
        expected = call(right).asnumpy()
        result = call(wrong)
        with pytest.raises((MXNetError, IndexError)) as error:
            result.asnumpy()
        assert text in str(error.value)
        np.testing.assert_array_equal(call(right).asnumpy(), expected)
    torch.cuda.synchronize()


@pytest.mark.gpu
def test_a_gpu_without_the_kernel_notes_the_same(monkeypatch):
    monkeypatch.setattr(tools, 'ALLOWED', False)
    monkeypatch.setattr(checks, '_by_device', {})
    monkeypatch.setattr(checks, 'records', [])
    with mx.gpu(0):
        x = nd.gather_nd(data(), nd.array([[0, 5]]))
        assert checks._by_device[0].launch is None
        with pytest.raises(MXNetError, match='has the value 5; it must be from -3 to 2'):
            checks.look()
        assert x.shape == (2, 4)
    checks.look()


@pytest.mark.gpu
@pytest.mark.parametrize('count', [1, 255, 257, 1 << 20, 3_000_001])
def test_the_kernel_looks_at_every_value(count):
    index = torch.arange(count, device='cuda') % 7
    found = checks.in_range('some', 'index', index, 7)
    checks.look()
    assert torch.equal(found, index)
    for wrong, value in ((count - 1, 7), (count // 2, -1)):
        bad = index.clone()
        bad[wrong] = value
        found = checks.in_range('some', 'index', bad, 7)
        torch.cuda.synchronize()
        with pytest.raises(MXNetError, match=f'operator some: index has the value {value}; it must be from 0 to 6'):
            checks.look()
        assert found.min() >= 0 and found.max() <= 6
    every_other = torch.stack((index, index), 1)[:, 0]
    assert torch.equal(checks.in_range('some', 'index', every_other, 7), index)


@pytest.mark.gpu
@pytest.mark.parametrize('training', [False, True])
def test_cuda_graphs_check_too(training):
    ctx = mx.gpu(0)
    net = Chooser()
    net.initialize(ctx=ctx)
    net.hybridize(static_alloc=True, static_shape=True)
    good, bad = nd.array([[0, 3]], ctx=ctx), nd.array([[0, 4]], ctx=ctx)

    def run(x):
        with autograd.record() if training else autograd.pause():
            loss = net(x.copy()).sum()
        if training:
            loss.backward()
        return loss

    for _ in range(8):
        run(good).asnumpy()
    if training:
        assert net._cached_op.deferral.last_step.runner.captured is not None
    for _ in range(2):
        loss = run(bad)
        with pytest.raises(MXNetError, match=r'gather_nd: indices\[0\] has the value 4; it must be from -4 to 3'):
            loss.asnumpy()
        run(good).asnumpy()


@pytest.mark.gpu
@pytest.mark.parametrize('dtype', WHOLE)
def test_products_of_integers_on_a_gpu(dtype):
    a, b = whole(dtype, 2, 3, 40), whole(dtype, 2, 40, 5)
    assert torch.equal(products.matmul(a.cuda(), b.cuda()).cpu(), torch.matmul(a, b))
    for subscripts, *shapes in EINSUMS:
        given = [whole(dtype, *s) for s in shapes]
        found = products.einsum(subscripts, *[x.cuda() for x in given])
        assert torch.equal(found.cpu(), torch.einsum(subscripts, *given)), subscripts


@pytest.mark.gpu
def test_integer_operators_on_a_gpu():
    a, b, c = (whole(torch.int32, *s).numpy() for s in ((3, 4), (4, 5), (2, 4, 3)))
    found = []
    for ctx in (mx.cpu(), mx.gpu(0)):
        with ctx:
            x, y, z = (nd.array(v, dtype='int32') for v in (a, b, c))
            p, q = (mx.np.array(v, dtype='int32') for v in (a, b))
            found.append([r.asnumpy() for r in (
                nd.dot(x, y), nd.dot(x, x, transpose_b=True), nd.dot(x[0], x[1]), nd.batch_dot(z, z, transpose_a=True),
                nd.FullyConnected(x, y.T, y[0], num_hidden=5), mx.np.matmul(p, q), mx.np.dot(p, q),
                mx.np.einsum('ij,jk->ki', p, q), mx.np.tensordot(p, q, 1), mx.np.inner(p, p), p @ q)])
    for ours, wanted in zip(found[1], found[0], strict=True):
        np.testing.assert_array_equal(ours, wanted)
