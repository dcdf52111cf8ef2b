"""Indexing against NumPy, and which results share memory."""
import itertools

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd

SHAPE = (4, 5, 6)
KEYS = [
    0, -1, slice(1, 3), slice(None, None, 2), slice(None, None, -1), slice(3, 0, -2), Ellipsis, None, (), (1, 2),
    (1, slice(2, 4)), (slice(None), 1), (slice(None), slice(1, 4, 2), slice(None, None, -1)), (Ellipsis, 2),
    (None, 1, None, Ellipsis), (slice(2, 2),), [0, 2], [0, -1], np.array([[1, 2], [3, 0]]), ([0, 1], [2, 3]),
    ([0, 1], slice(None), [2, 3]), (slice(None), [0, 4], [1, 2]), (slice(None, None, -1), [0, 1]),
    ([[0], [1]], [2, 3]), (np.array([1, 2]), 3), (slice(1, 3), np.array([0, 0, 4]), Ellipsis),
    np.arange(4) > 1, (slice(None), np.arange(5) % 2 == 0), np.random.RandomState(0).rand(*SHAPE) > 0.5,
    np.int64(2), (np.int32(1), slice(None)), range(2), (slice(None, None, -2), slice(None, None, -1), None, 3),
]


def pair(dtype='float32'):
    values = np.arange(np.prod(SHAPE)).reshape(SHAPE).astype(dtype)
    return values, nd.array(values, dtype=dtype)


@pytest.mark.parametrize('key', KEYS, ids=repr)
def test_read(key):
    values, x = pair()
    want = values[key]
    got = x[key].asnumpy()
    assert got.shape == (want.shape or (1,))
    np.testing.assert_array_equal(got.reshape(want.shape), want)


@pytest.mark.parametrize('key', KEYS, ids=repr)
@pytest.mark.parametrize('kind', ['number', 'array', 'numpy', 'row'])
def test_write(key, kind):
    values, x = pair()
    part = values[key]
    if kind == 'number':
        new = 7.5
    elif kind == 'row':
        if part.ndim < 2:
            pytest.skip('needs two axes')
        new = np.arange(part.shape[-1], dtype='float32')
    else:
        new = -np.arange(part.size, dtype='float32').reshape(part.shape)
    values[key] = new
    x[key] = nd.array(new) if kind == 'array' else new
    np.testing.assert_array_equal(x.asnumpy(), values)


def test_arrays_of_ours_as_keys():
    values, x = pair()
    np.testing.assert_array_equal(x[nd.array([0, 3])].asnumpy(), values[[0, 3]])
    np.testing.assert_array_equal(x[nd.array([1, 0], dtype='int32'), nd.array([2, 2])].asnumpy(), values[[1, 0], [2,
                                                                                                                  2]])
    mask = nd.array([1, 0, 0, 1]).astype('bool')
    np.testing.assert_array_equal(x[mask].asnumpy(), values[[0, 3]])


def test_contiguous_parts_share_memory():
    for key in (slice(1, 3), 2, (1, 2), (0, slice(1, 3)), (2, 3, slice(1, 4)), Ellipsis):
        _, x = pair()
        x[key][:] = -1
        assert (x[key].asnumpy() == -1).all(), key


def test_other_parts_are_copies():
    for key in ((slice(None), 1), slice(None, None, 2), [0, 1], slice(None, None, -1)):
        values, x = pair()
        x[key][:] = -1
        np.testing.assert_array_equal(x.asnumpy(), values)


def test_operators_never_share_memory():
    values, x = pair()
    for y in (x.T, x.expand_dims(0), x.flatten(), x.squeeze(), x.swapaxes(0, 1), nd.reshape(x, (-1,)), x.copy(),
              x.astype('float32'), nd.identity(x), nd.slice_axis(x, axis=0, begin=0, end=2), nd.BlockGrad(x),
              x.broadcast_to(SHAPE), *nd.split(x, 2, axis=0)):
        y[:] = -1
        np.testing.assert_array_equal(x.asnumpy(), values)


def test_reshape_and_detach_share_memory():
    _, x = pair()
    for y in (x.reshape((-1,)), x.detach(), x.expand_dims(0, inplace=True), x.flatten(inplace=True), x[:]):
        y[:] += 1
    assert x.asnumpy()[0, 0, 0] == 5


@pytest.mark.parametrize('key, error, text', [
    (9, IndexError, '9'), (-9, IndexError, '-9'), ([0, 9], IndexError, '9'), ((0, 0, 0, 0), IndexError, None),
    (1.5, ValueError, '1.5'), ('a', ValueError, 'str'), (([0, 1], [0, 1, 2]), IndexError, None)])
def test_bad_keys(key, error, text):
    _, x = pair()
    with pytest.raises(error, match=text):
        x[key]


def test_bad_values():
    _, x = pair()
    with pytest.raises(ValueError, match=r'\(3,\).*\(4, 5, 6\)'):
        x[0] = np.zeros(3)
    with pytest.raises(TypeError, match='str'):
        x[0] = 'abc'


def test_dtype_and_context_of_values():
    x = nd.zeros((3,), dtype='int32')
    x[:] = nd.array([1.7, 2.2, 3.9])
    assert x.asnumpy().tolist() == [1, 2, 3]
    x[1] = nd.array([8], ctx=mx.cpu(1))
    assert x.asnumpy().tolist() == [1, 8, 3]


def test_gradient_through_parts():
    x = nd.array(np.arange(6.0).reshape(2, 3))
    x.attach_grad()
    with mx.autograd.record():
        y = (x[0] * 2).sum() + (x[:, 1] * 3).sum() + (x[[1, 1], [0, 0]]).sum() + (x[1, ::-1] * nd.array([1, 2,
                                                                                                         3])).sum()
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [[2, 5, 2], [5, 5, 1]])


def test_iteration():
    values, x = pair()
    assert len(x) == 4
    for i, row in enumerate(x):
        np.testing.assert_array_equal(row.asnumpy(), values[i])


def test_which_slices_are_one_piece_of_memory():
    values = np.arange(24).reshape(2, 3, 4)
    slices = [slice(None), slice(2), slice(1, 2), slice(None, None, 2), slice(None, None, -1), slice(3, 1)]
    for key in itertools.product(slices, repeat=3):
        expected = values[key].flags.c_contiguous
        assert nd.NDArray._basic_indexing_slice_is_contiguous(key, values.shape) == expected, key


APART = [((2, 3, 4), (0, slice(None), [0, 2])), ((2, 3, 4), (-1, slice(1, None), [0, -1])),
         ((2, 3, 4), ([0, 1], slice(None), 1)), ((2, 3, 4), (1, None, [0, 2])),
         ((2, 3, 4, 2), (0, [1, 2], slice(2), 1)), ((2, 3, 4), (0, slice(None), np.array([[0], [3]]))),
         ((2, 3, 4), (0, [1, 2])), ((2, 3, 4), ([1, 1], 0, slice(2)))]


@pytest.mark.parametrize('np_mode', (False, True))
@pytest.mark.parametrize('shape, key', APART)
def test_ints_apart_from_arrays_are_indices_too(shape, key, np_mode):
    """The assumption that was wrong: an int selects before the arrays do.  NumPy and 1.9.1 count it among the indices;
    where a slice is between them, their axes come first."""
    array = mx.np.array if np_mode else nd.array
    with mx.util.np_shape(np_mode), mx.util.np_array(np_mode):
        values = np.arange(np.prod(shape), dtype='float32').reshape(shape)
        expected = values[key]
        x = array(values)
        x.attach_grad()
        with mx.autograd.record():
            y = x[key]
        assert y.shape == expected.shape and y.asnumpy().tolist() == expected.tolist()
        head = np.arange(expected.size, dtype='float32').reshape(expected.shape)
        y.backward(array(head))
        gradient = np.zeros(shape, 'float32')
        np.add.at(gradient, key, head)
        assert x.grad.asnumpy().tolist() == gradient.tolist()
        stored = np.random.RandomState(0).permutation(expected.size).astype('float32').reshape(expected.shape)
        if len(np.unique(expected)) == expected.size:
            z = array(values)
            z[key] = array(stored)
            values[key] = stored
            assert z.asnumpy().tolist() == values.tolist()
