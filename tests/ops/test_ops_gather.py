"""Operators of gather.py, ordering.py, embedding.py and sequence.py."""
import numpy as np
import pytest
from ops_checks import check

from mxnet import autograd, nd
from mxnet._ops import TABLE
from mxnet.base import MXNetError
from mxnet.util import np_shape

R = np.random.RandomState(0)
A = R.permutation(24).reshape(2, 3, 4) + 0.5          # no ties
X = nd.array(A)


# ---------------------------------------------------------------------- along an axis
@pytest.mark.parametrize('axis', [0, 1, -1])
@pytest.mark.parametrize('mode', ['clip', 'wrap'])
@pytest.mark.parametrize('dtype', ['int32', 'int64', 'uint8', 'float32'])
def test_take(axis, mode, dtype):
    index = np.array([[0, 5], [1, 200]]).astype(dtype)
    expected = np.take(A, index.astype(int), axis, mode=mode)
    check('take', [A, index], expected, axis=axis, mode=mode, gradient=dtype != 'float32')


def test_take_of_negative_and_broken_indices():
    check('take', [A, np.array([-1, -5])], A[[0, 0]])
    check('take', [A, np.array([-1, -5])], A[[1, 1]], mode='wrap')
    assert nd.take(X, nd.array([0.9, 1.9])).asnumpy().tolist() == A.tolist()
    check('take', [A, np.zeros(0, 'int64')], A[:0])
    check('take', [A, np.array([1, 0])], A[:, [1, 0]], axis=1, mode='raise')
    for outside in (-1, 3):
        with pytest.raises(MXNetError, match='out of (range|DATA bounds)'):
            nd.take(X, nd.array([outside]), axis=1, mode='raise')


def test_gradient_of_take_adds_up():
    x = nd.array([1, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = nd.take(x, nd.array([0, 2, 2, 9]))
    y.backward(nd.array([1, 10, 100, 1000]))
    assert x.grad.asnumpy().tolist() == [1, 0, 1110]


@pytest.mark.parametrize('axis, index', [(-1, [[0, 9, 2], [3, -1, 1]]), (1, [[0, 1, 2, 9]] * 2),
                                         (0, [[1, 0, -3, 1]] * 3)])
@pytest.mark.parametrize('mode', ['clip', 'wrap'])
def test_pick(axis, index, mode):
    index = np.array(index)
    length = A.shape[axis]
    inside = np.clip(index, 0, length - 1) if mode == 'clip' else index % length
    column = np.take_along_axis(A, np.expand_dims(inside, axis), axis)
    check('pick', [A, index], column.squeeze(axis), axis=axis, mode=mode)
    check('pick', [A, np.expand_dims(index, axis)], column, axis=axis, mode=mode, keepdims=True)


def test_pick_of_a_vector():
    check('pick', [np.arange(3.), np.array([2])], np.array([2.]))
    # arrays without axes are results in np mode only
    check('pick', [np.arange(3.), np.array(2)], np.array([2.]))
    with np_shape(True):
        check('pick', [np.arange(3.), np.array(2)], np.array(2.))


def test_batch_take():
    index = np.array([[0, 1, 2], [9, -1, 3]], 'int32')
    check('batch_take', [A, index], np.take_along_axis(A, index.clip(0, 3)[..., None], -1)[..., 0])


# ---------------------------------------------------------------------- at coordinates
def test_gather_and_scatter():
    index = np.array([[0, 1, -1], [2, 0, -3]])
    check('gather_nd', [A, index], A[index[0], index[1]])
    check('gather_nd', [A, index[:, None, :2]], A[index[0, None, :2], index[1, None, :2]])
    index = np.array([[0, 1, 0], [2, 0, 1]])
    values = R.standard_normal((3, 4))
    for start, name, inputs in [(np.zeros((2, 3, 4)), 'scatter_nd', [values, index]),
                                (A, '_scatter_set_nd', [A, values, index])]:
        expected = start.copy()
        expected[index[0], index[1]] = values
        check(name, inputs, expected, shape=(2, 3, 4))


def test_replacing_rows_and_elements():
    rows = R.standard_normal((2, 4))
    check('_contrib_index_copy', [A[0], np.array([2, 0]), rows], np.stack([rows[1], A[0, 1], rows[0]]))
    expected = A[0].copy()
    expected[[0, 1, 2], [3, 0, 1]] = [7, 8, 9]
    check('fill_element_0index', [A[0], np.array([7., 8, 9]), np.array([3, 0, 1])], expected)


# ---------------------------------------------------------------------- by a condition
def test_where():
    condition = np.array([[[1, 0, 2, 0]] * 3, [[0, 0, -1, 1]] * 3])
    check('where', [condition, A, -A], np.where(condition, A, -A))
    check('where', [np.array([0, 1]), A, -A], np.stack([-A[0], A[1]]))
    check('where', [np.array([False, True]), A[0, 0, :2], -A[0, 0, :2]], np.array([-A[0, 0, 0], A[0, 0, 1]]))


def test_boolean_mask():
    check('_contrib_boolean_mask', [A, np.array([0., 2])], A[1:], meta=False, gradient=False)
    check('_contrib_boolean_mask', [A, np.array([True, False, True])], A[:, [0, 2]], meta=False, axis=1)
    check('_contrib_boolean_mask', [A, np.array([0, 0])], A[:0], meta=False)


@pytest.mark.parametrize('dtype', ['float32', 'float16', 'int32', 'uint8'])
def test_one_hot(dtype):
    index = np.array([[0, 2], [-1, 3]])
    hot = np.stack([[np.eye(3)[0], np.eye(3)[2]], np.zeros((2, 3))])
    check('one_hot', [index], hot.astype(dtype), depth=3, dtype=dtype)
    check('one_hot', [index], np.where(hot, 2.7, 1.5).astype(dtype), depth=3, on_value=2.7, off_value=1.5, dtype=dtype)
    assert nd.one_hot(nd.array([0.9, -0.9]), depth=2).asnumpy().tolist() == [[1, 0], [1, 0]]


def test_onehot_encode():
    out = nd.ones((3, 4))
    assert nd._internal._onehot_encode(nd.array([1, 3, 0]), out, out=out) is out
    assert out.asnumpy().tolist() == np.eye(4)[[1, 3, 0]].tolist()


# ---------------------------------------------------------------------- order
@pytest.mark.parametrize('axis', [0, 1, -1, None])
@pytest.mark.parametrize('is_ascend', [True, False])
def test_sorting(axis, is_ascend):
    sign = 1 if is_ascend else -1
    order = np.argsort(sign * A, axis)
    check('sort', [A], sign * np.sort(sign * A, axis), axis=axis, is_ascend=is_ascend)
    check('argsort', [A], order.astype('float32'), axis=axis, is_ascend=is_ascend)
    check('argsort', [A], order.astype('int32'), axis=axis, is_ascend=is_ascend, dtype='int32')


@pytest.mark.parametrize('axis', [0, 1, -1, None])
@pytest.mark.parametrize('is_ascend', [True, False])
@pytest.mark.parametrize('k', [1, 2, 0])
def test_topk(axis, is_ascend, k):
    order = np.argsort(A if is_ascend else -A, axis)
    order = np.take(order, range(k or order.shape[axis or 0]), 0 if axis is None else axis)
    flat = A.reshape(-1) if axis is None else A
    values = np.take_along_axis(flat, order, 0 if axis is None else axis)
    options = {'axis': axis, 'is_ascend': is_ascend, 'k': k}
    check('topk', [A], order.astype('float32'), **options)
    check('topk', [A], values, ret_typ='value', **options)
    check('topk', [A], [values, order.astype('int64')], ret_typ='both', dtype='int64', **options)
    mask = np.zeros_like(flat)
    np.put_along_axis(mask, order, 1, 0 if axis is None else axis)
    check('topk', [A], mask.reshape(A.shape), ret_typ='mask', **options)


def test_few_of_many():
    row = R.permutation(1000) * 1.
    first = [np.arange(999., 994, -1), np.argsort(-row)[:5].astype('float32')]
    check('topk', [row], first, k=5, ret_typ='both', gradient=False)


def test_equal_elements_keep_their_order():
    x = nd.array([2, 1, 2, 1] * 10)
    first = list(range(0, 40, 2))
    assert nd.argsort(x, is_ascend=False).asnumpy().tolist()[:20] == first
    assert nd.topk(x, k=20).asnumpy().tolist() == first


def test_outputs_of_topk_in_graphs():
    topk = TABLE['topk']
    seen = {kind: (topk.output_names({'ret_typ': kind}), topk.output_count({'ret_typ': kind}))
            for kind in ('indices', 'value', 'both', 'mask')}
    assert seen == {'indices': (('output',), 1), 'value': (('output0',), 2), 'both': (('output0', 'output1'), 2),
                    'mask': (('output',), 1)}


# ---------------------------------------------------------------------- embeddings
@pytest.mark.parametrize('name', ['Embedding', '_contrib_SparseEmbedding'])
def test_embedding(name):
    index = np.array([[0, 2], [9, -1]])
    check(name, [index, A[0]], A[0][[[0, 2], [2, 0]]], input_dim=3, output_dim=4)
    assert TABLE[name].shapes({'data': (7,)}, {'input_dim': 3, 'output_dim': 4}) == {'weight': (3, 4)}


def test_embedding_of_floats_has_gradients_for_the_weight_only():
    data, weight = nd.array([1, 1, 0]), nd.array(A[0])
    data.attach_grad()
    weight.attach_grad()
    with autograd.record():
        y = nd.Embedding(data, weight, input_dim=3, output_dim=4)
    y.backward()
    assert weight.grad.asnumpy().tolist() == [[1] * 4, [2] * 4, [0] * 4]
    assert data.grad.asnumpy().tolist() == [0, 0, 0]


# ---------------------------------------------------------------------- sequences
SEQUENCES = R.standard_normal((4, 3, 2))              # time, batch, feature
LENGTHS = np.array([2, 4, 1])


@pytest.mark.parametrize('axis', [0, 1])
@pytest.mark.parametrize('lengths', [LENGTHS, LENGTHS.astype('int32'), None])
def test_sequences(axis, lengths):
    def laid(x):
        return x.swapaxes(0, axis)
    data = SEQUENCES.swapaxes(0, axis)
    inputs, options = ([data], {}) if lengths is None else ([data, lengths], {'use_sequence_length': True})
    ends = [4] * 3 if lengths is None else lengths
    masked, flipped = SEQUENCES.copy(), SEQUENCES.copy()
    for b, n in enumerate(ends):
        masked[n:, b] = 7
        flipped[:n, b] = SEQUENCES[:n, b][::-1]
    check('SequenceMask', inputs, laid(masked), axis=axis, value=7, **options)
    check('SequenceReverse', inputs, laid(flipped), axis=axis, **options)
    check('SequenceLast', inputs, np.stack([SEQUENCES[n - 1, b] for b, n in enumerate(ends)]), axis=axis, **options)


def test_sequences_of_ints():
    x = nd.array([[1, 2], [3, 4]], dtype='int32')
    y = nd.SequenceMask(x, nd.array([1, 2]), use_sequence_length=True, value=-1)
    assert y.dtype == np.int32 and y.asnumpy().tolist() == [[1, 2], [-1, 4]]


# ---------------------------------------------------------------------- shapes that graphs find
@pytest.mark.parametrize('name, known, attributes, found', [
    ('SequenceMask', {'data': (4, 3, 2), 'sequence_length': None}, {'use_sequence_length': True, 'axis': 0},
     {'sequence_length': (3,)}),
    ('SequenceLast', {'data': (4, 3, 2), 'sequence_length': None}, {'use_sequence_length': True, 'axis': 1},
     {'sequence_length': (4,)}),
    ('SequenceLast', {'data': (4, 3, 2)}, {'use_sequence_length': False, 'axis': 1}, {}),
    ('pick', {'data': (4, 3, 2), 'index': None}, {'axis': 1}, {'index': (4, 2)}),
    ('pick', {'data': (4, 3, 2), 'index': (4, 0, 2)}, {'axis': 1}, {'index': (4, 1, 2)}),
    ('pick', {'data': None, 'index': (4,)}, {'axis': 1}, {}),
    ('Concat', {'arg0': (2, 3), 'arg1': None, 'arg2': (0, 4)}, {'dim': 1},
     {'arg0': (2, 3), 'arg1': (2, 0), 'arg2': (2, 4)}),
    ('stack', {'arg0': (2, 3), 'arg1': None}, {}, {'arg0': (2, 3), 'arg1': (2, 3)}),
    ('_slice_assign', {'lhs': (5, 6), 'rhs': None}, {'begin': (4,), 'end': (None,), 'step': (-2,)}, {'rhs': (3, 6)}),
    ('_slice_assign', {'lhs': (5, 6), 'rhs': None}, {'begin': (0, 1), 'end': (9, None), 'step': ()}, {'rhs': (5, 5)}),
])
def test_shape_rules(name, known, attributes, found):
    assert TABLE[name].shapes(known, attributes) == found


@pytest.mark.parametrize('known, result, found', [
    ({'condition': None, 'x': (2, 0), 'y': (0, 3)}, None, {'x': (2, 3), 'y': (2, 3)}),
    ({'condition': (4,), 'x': (0, 3), 'y': None}, (4, 0), {'x': (4, 3), 'y': (4, 3)}),
    ({'condition': (4, 3), 'x': None, 'y': None}, None, {}),
])
def test_shapes_of_where(known, result, found):
    assert TABLE['where'].shapes_back(known, {}, [result]) == found


# ---------------------------------------------------------------------- mistakes
@pytest.mark.parametrize('call, why', [
    (lambda: nd.take(X, nd.ones(1), mode='nearest'), "one of 'clip', 'raise', 'wrap'"),
    (lambda: nd.take(X, nd.ones(1), axis=3), 'out of range'),
    (lambda: nd.pick(X, nd.ones((2, 2))), r'it must have \(2, 3, 1\)'),
    (lambda: nd.pick(X, nd.ones((2, 3)), axis=None), 'takes an int'),
    (lambda: nd.batch_take(X, nd.ones(5)), 'has 6 rows'),
    (lambda: nd.gather_nd(X, nd.ones(2)), 'at least 2 axes'),
    (lambda: nd.gather_nd(X, nd.ones((4, 1))), 'at most 3 long'),
    (lambda: nd.gather_nd(X, nd.array([[2], [0]])), 'index 2 is out of bounds'),
    (lambda: nd.where(nd.ones((2, 3, 1)), X, X), 'its first axis'),
    (lambda: nd.where(nd.ones(2), X, X.astype('int32')), 'same dtype'),
    (lambda: nd.contrib.boolean_mask(X, nd.ones(3)), r'must have \(2,\)'),
    (lambda: nd.one_hot(nd.ones(1), depth=-1), 'depth=-1'),
    (lambda: nd.topk(X, k=5), 'only 4 elements'),
    (lambda: nd.Embedding(X, nd.ones((3, 4)), input_dim=4, output_dim=4), r'weight has shape \(3, 4\)'),
    (lambda: nd.SequenceMask(X, axis=2), 'takes 0 or 1'),
    (lambda: nd.SequenceLast(nd.ones(3)), 'at least 2 axes'),
    (lambda: nd.SequenceLast(X, use_sequence_length=True), 'sequence_length is missing'),
])
def test_mistakes_are_named(call, why):
    with pytest.raises(MXNetError, match=why):
        call()
