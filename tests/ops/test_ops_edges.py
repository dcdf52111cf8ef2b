"""Where operators and inference meet the edges: what is refused, what is unknown, what must not spread."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd


@pytest.mark.parametrize('reps', [(1, 2, -3), (1, 0, 3)])
def test_tile_refuses_to_make_nothing(reps):
    with pytest.raises(mx.MXNetError, match=r'tile: argument reps=\(1, .*ints >= 1'):
        nd.tile(nd.ones((4, 4)), reps)
    if 0 in reps:
        with mx.np_shape():
            assert nd.tile(nd.ones((4, 4)), reps).shape == (1, 0, 12)


@pytest.mark.parametrize('function, shape, block, message', [
    (nd.depth_to_space, (1, 3, 2, 2), 2, 'multiples of 4'), (nd.depth_to_space, (1, 4, 0, 2), 2, 'not be empty'),
    (nd.space_to_depth, (1, 4, 3, 2), 2, 'multiples of 2'), (nd.space_to_depth, (1, 0, 2, 2), 2, 'not be empty'),
    (nd.depth_to_space, (1, 4, 2, 2), 0, 'block_size=0'), (nd.space_to_depth, (1, 4, 2), 2, 'must have 4 axes')])
def test_blocks_that_do_not_fit(function, shape, block, message):
    with mx.np_shape(), pytest.raises(mx.MXNetError, match=message):
        function(nd.zeros(shape), block)


def test_coordinates_outside_are_index_errors():
    data = nd.array([[0, 1, 2], [3, 4, 5]])
    for column in (3, -5):
        with pytest.raises(IndexError, match='operator gather_nd.*out of bounds') as caught:
            nd.gather_nd(data, nd.array([[0, 1], [0, column]]))
        assert isinstance(caught.value, mx.MXNetError)
    symbol = mx.sym.gather_nd(mx.sym.var('data'), mx.sym.var('indices'), name='picked')
    with pytest.raises(IndexError, match='node picked'):
        symbol.eval(data=data, indices=nd.array([[0, 1], [0, 3]]))


def test_index_array_of_a_number():
    with mx.np_shape():
        assert nd.contrib.index_array(nd.ones(())).shape == (0,)


def test_ctc_does_not_look_behind_the_end():
    scores = np.random.RandomState(0).standard_normal((6, 2, 4)).astype('float32')
    lengths, label = nd.array([4, 6]), nd.array([[1, 2], [3, 0]])

    def run(values):
        data = nd.array(values)
        data.attach_grad()
        with autograd.record():
            loss = nd.CTCLoss(data, label, lengths, use_data_lengths=True)
        loss.backward()
        return loss.asnumpy(), data.grad.asnumpy()

    spoilt = scores.copy()
    spoilt[4:, 0] = np.nan
    for clean, dirty in zip(run(scores), run(spoilt), strict=True):
        np.testing.assert_allclose(dirty, clean, rtol=1e-6)


@pytest.mark.parametrize('shape, codes, reverse, result', [
    ((2, 3, 5, 5), (0, -1), False, (2, 75)), ((5, 3, 4, 5), (0, -1, 0), False, (5, 15, 4)),
    ((2, 4, 5, 3), (-1, 2, 2, 1), False, (30, 2, 2, 1)), ((8, 2, 4), (-4, 4, -1, 0, 0), False, (4, 2, 2, 4)),
    ((2, 3, 4), (-1, 0), True, (6, 4))])
def test_a_length_found_from_the_reshaped(shape, codes, reverse, result):
    for i in range(len(shape)):
        known = shape[:i] + (0,) + shape[i + 1:]
        net = mx.sym.elemwise_add(mx.sym.var('data').reshape(codes, reverse=reverse), mx.sym.ones(result))
        inputs, outputs, _ = net.infer_shape(data=known)
        assert inputs[0] == shape and outputs[0] == result


@pytest.mark.parametrize('make, result', [
    (lambda x: mx.sym.slice(x, begin=(None, 3), end=(5, 10)), (0, 7)),
    (lambda x: mx.sym.slice(x, begin=(2, 3), end=(None, 10), step=(3, 3)), (0, 3)),
    (lambda x: mx.sym.slice_axis(x, axis=0, begin=0, end=5), (0, 20)),
    (lambda x: mx.sym.slice_axis(x, axis=1, begin=0, end=5), (0, 5))])
def test_a_slice_of_an_unknown_length_is_unknown(make, result):
    assert make(mx.sym.var('x', shape=(0, 20))).infer_shape_partial()[1] == [result]


def test_a_range_that_ends_where_the_graph_says():
    counted = mx.sym.arange(start=2, stop=None, step=3, repeat=2, infer_range=True)
    executor = mx.sym.elemwise_add(counted, mx.sym.zeros(shape=[6])).bind(mx.cpu(), {})
    for _ in range(3):
        assert executor.forward()[0].asnumpy().tolist() == [2, 2, 5, 5, 8, 8]


def test_dtypes_of_a_graph_in_double_precision():
    product = mx.sym.linalg.trmm(mx.sym.var('a'), mx.sym.var('b'))
    executor = product.simple_bind(mx.cpu(), a=(3, 4, 4), b=(3, 4, 4), type_dict={'b': 'float64'})
    assert executor.arg_dict['a'].dtype == np.float64
