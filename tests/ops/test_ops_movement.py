"""Operators of movement.py, joining.py, slicing.py and patches.py, and the codes of reshape."""
import numpy as np
import pytest
import torch
from ops_checks import check

from mxnet import nd
from mxnet._ops.tensor.reshape_codes import resolve
from mxnet.base import MXNetError

A = np.arange(24.).reshape(2, 3, 4)
IMAGE = np.random.RandomState(0).standard_normal((2, 4, 4, 6))
INTS = np.arange(24, dtype='int32').reshape(2, 3, 4)


# ---------------------------------------------------------------------- codes of reshape
@pytest.mark.parametrize('shape, codes, reverse, result', [
    ((2, 3, 4), (4, 6), False, (4, 6)), ((2, 3, 4), (4, -1), False, (4, 6)), ((2, 3, 4), (0, -1), False, (2, 12)),
    ((2, 3, 4), (-2,), False, (2, 3, 4)), ((2, 3, 4), (0, -2), False, (2, 3, 4)),
    ((2, 3, 4), (-2, 1), False, (2, 3, 4, 1)),
    ((2, 3, 4), (-3, 4), False, (6, 4)), ((2, 3, 4, 5), (-3, -3), False, (6, 20)), ((2, 3, 4), (0, -3), False, (2, 12)),
    ((2, 3, 4), (-4, 1, 2, -2), False, (1, 2, 3, 4)), ((2, 3, 4), (2, -4, -1, 3, -2), False, (2, 1, 3, 4)),
    ((2, 3, 4), (-4, 2, -1, -1), False, (2, 1, 12)), ((8, 3, 3), (-4, 4, -1, 0, 0), False, (4, 2, 3, 3)),
    ((10, 5, 4), (-1, 0), True, (50, 4)), ((10, 5, 4), (-1, 0), False, (40, 5)), ((2, 3, 4), (0, -3), True, (2, 12)),
    ((2, 3, 4), (2, 3, 2, 2, -4), True, (2, 3, 2, 2)), ((0, 3), (-1, 3), False, (0, 3)), ((1,), (), False, ()),
])
def test_reshape_codes(shape, codes, reverse, result):
    assert resolve(shape, codes, reverse) == result
    assert resolve(torch.Size(shape), list(codes), reverse) == result


@pytest.mark.parametrize('codes, why', [
    ((5,), '6 elements'), ((0, 2), 'has 4'), ((4, -1), 'has 4'), ((0, 0, 0), 'more than the 2 axes'),
    ((-1, -1), 'only once'), ((-5,), 'means nothing'), ((-4, 1), 'two numbers'),
    ((-4, -1, -1, 0), 'only one of the two'),
    ((-4, 2, 2, 0), 'cannot split an axis of length 2'), ((0, -3), 'more than the 2 axes'),
])
def test_reshape_codes_that_do_not_fit(codes, why):
    with pytest.raises(MXNetError, match=why):
        resolve((2, 3), codes)
    with pytest.raises(MXNetError, match=why):
        nd.reshape(nd.ones((2, 3)), shape=codes)


# ---------------------------------------------------------------------- movement
@pytest.mark.parametrize('name, expected, attributes', [
    ('Reshape', A.reshape(6, 4), {'shape': (-3, 0)}),
    ('Reshape', A.reshape(2, 12), {'target_shape': (0, 12)}),
    ('Reshape', A.reshape(2, 12), {'target_shape': (9, 0), 'keep_highest': True}),
    ('Flatten', A.reshape(2, 12), {}),
    ('expand_dims', A[:, None], {'axis': 1}),
    ('expand_dims', A[..., None], {'axis': -1}),
    ('transpose', A.T, {}),
    ('transpose', A.transpose(1, 0, 2), {'axes': (1, 0, 2)}),
    ('SwapAxis', A.swapaxes(0, 2), {'dim1': 0, 'dim2': 2}),
    ('reverse', A[::-1, :, ::-1], {'axis': (0, 2)}),
    ('reverse', A[:, ::-1], {'axis': -2}),
    ('diag', np.diagonal(A, -1, 1, 2), {'k': -1, 'axis1': 1, 'axis2': 2}),
    ('diag', np.diagonal(A, 1, 2, 0), {'k': 1, 'axis1': 2, 'axis2': 0}),
    ('repeat', A.repeat(2), {'repeats': 2}),
    ('repeat', A.repeat(3, -1), {'repeats': 3, 'axis': -1}),
    ('repeat', A.repeat(0, 1), {'repeats': 0, 'axis': 1}),
    ('tile', np.tile(A, (2, 1, 3)), {'reps': (2, 1, 3)}),
    ('tile', np.tile(A, 2), {'reps': 2}),
    ('tile', np.tile(A, (2, 1, 1, 2)), {'reps': (2, 1, 1, 2)}),
    ('tile', A, {'reps': ()}),
    ('SliceChannel', [A[..., :2], A[..., 2:]], {'num_outputs': 2, 'axis': -1}),
    ('SliceChannel', [A[:, 0], A[:, 1], A[:, 2]], {'num_outputs': 3, 'squeeze_axis': True}),
    ('_split_v2', [A[:, :1], A[:, 1:1], A[:, 1:]], {'indices': (0, 1, 1), 'axis': 1}),
    ('_split_v2', [A[..., :2], A[..., 2:3], A[..., 3:]], {'indices': (), 'sections': 3, 'axis': 2}),
    ('_split_v2', [A[0], A[1]], {'indices': (0, 1), 'axis': 0, 'squeeze_axis': True}),
    ('slice', A[1:, :2], {'begin': (1, None), 'end': (None, 2)}),
    ('slice', A[:, ::-1, 3:0:-2], {'begin': (None, None, 3), 'end': (None, None, 0), 'step': (None, -1, -2)}),
    ('slice', A[5:, -9:-1], {'begin': (5, -9), 'end': (9, -1)}),
    ('slice_axis', A[..., 1:-1], {'axis': -1, 'begin': 1, 'end': -1}),
    ('slice_axis', A[:, -2:], {'axis': 1, 'begin': -2, 'end': None}),
    ('_slice_assign_scalar', np.where([[[1], [0], [1]]], 7., A),
     {'begin': (None, 2), 'end': (None, None), 'step': (1, -2), 'scalar': 7}),
])
def test_movement(name, expected, attributes):
    check(name, [A], expected, **attributes)
    check(name, [INTS], [np.asarray(e).astype('int32') for e in expected] if isinstance(expected, list)
          else np.asarray(expected).astype('int32'), **attributes)


def test_squeeze():
    x = A.reshape(1, 2, 1, 3, 4)
    check('squeeze', [x], A)
    check('squeeze', [x], x[0], axis=0)
    check('squeeze', [x], A, axis=(-3, 0))
    check('squeeze', [np.ones((1, 1))], np.ones(1))
    with pytest.raises(MXNetError, match='not of length 1'):
        nd.squeeze(nd.ones((1, 2)), axis=1)


def test_vector_edges():
    check('Flatten', [np.arange(3.)], np.arange(3.)[:, None])
    check('diag', [np.arange(1., 3)], np.diag([1., 2], -1), k=-1)
    check('diag', [np.ones((3, 4))], np.ones(0), k=4)


def test_like():
    check('reshape_like', [A, np.zeros((6, 4))], A.reshape(6, 4))
    check('reshape_like', [A, np.zeros((5, 2, 2))], A.reshape(2, 3, 2, 2), lhs_begin=-1, rhs_begin=1, rhs_end=3)
    check('slice_like', [A, np.zeros((1, 3, 2))], A[:1, :, :2])
    check('slice_like', [A, np.zeros((1, 3, 2, 7))], A[:1], axes=(0, 1))
    check('broadcast_like', [A[:, :1], np.zeros((2, 5, 4))], A[:, :1].repeat(5, 1))
    check('broadcast_like', [A[:1], np.zeros((9, 5))], A[:1].repeat(5, 0), lhs_axes=0, rhs_axes=-1)
    check('broadcast_to', [A[:1, :, :1]], np.broadcast_to(A[:1, :, :1], (2, 3, 4)), shape=(2, 0, 4))
    check('broadcast_axis', [A[:1, :, :1]], np.broadcast_to(A[:1, :, :1], (2, 3, 4)), axis=(0, -1), size=(2, 4))


def test_depth_and_space_are_inverse():
    moved = IMAGE.reshape(2, 2, 2, 1, 4, 6).transpose(0, 3, 4, 1, 5, 2).reshape(2, 1, 8, 12)
    check('depth_to_space', [IMAGE], moved, block_size=2)
    check('space_to_depth', [moved], IMAGE, block_size=2)


def test_joining():
    check('Concat', [A, A[:, :1], A + 1], np.concatenate([A, A[:, :1], A + 1], 1), num_args=3)
    check('Concat', [A, INTS.astype('float64')], np.concatenate([A, A], -1), num_args=2, dim=-1)
    check('stack', [A, A + 1], np.stack([A, A + 1], -1), num_args=2, axis=-1)
    with pytest.raises(MXNetError, match='same dtype'):
        nd.concat(nd.ones((2, 2)), nd.ones((2, 2), dtype='int32'))


@pytest.mark.parametrize('mode', ['constant', 'edge', 'reflect'])
@pytest.mark.parametrize('width', [(0, 0, 0, 0, 1, 2, 3, 0), (1, 0, 2, 1, 0, 0, 0, 1)])
def test_pad(mode, width):
    options = {'constant_values': 1.5} if mode == 'constant' else {}
    expected = np.pad(IMAGE, np.reshape(width, (4, 2)), mode=mode, **options)
    check('Pad', [IMAGE], expected, mode=mode, pad_width=width, constant_value=1.5)


def test_pad_of_ints_and_vectors():
    framed = np.pad(INTS, ((0, 1), (1, 0), (2, 2)), 'reflect')
    check('Pad', [INTS], framed, mode='reflect', pad_width=(0, 1, 1, 0, 2, 2))
    check('Pad', [np.arange(3)], np.pad(np.arange(3), (1, 2), constant_values=1), mode='constant', pad_width=(1, 2),
          constant_value=1.5)


def test_crop():
    check('Crop', [IMAGE], IMAGE[:, :, 1:3, 2:5], num_args=1, offset=(1, 2), h_w=(2, 3))
    check('Crop', [IMAGE], IMAGE[:, :, :3, 2:4], num_args=1, h_w=(3, 2), center_crop=True)
    check('Crop', [IMAGE, IMAGE[:, :, :2, :1]], IMAGE[:, :, 2:, 5:], num_args=2, offset=(2, 5))


def test_slice_assign():
    expected = A.copy()
    expected[::-1, 1:, 2::-1] = A[:, 1:, :3] * 10
    check('_slice_assign', [A, A[:, 1:, :3] * 10], expected, begin=(None, 1, 2), end=(None,) * 3, step=(-1, 1, -1))
    with pytest.raises(MXNetError, match=r'rhs has shape \(2,\), but the slice has \(2, 1, 4\)'):
        nd._internal._slice_assign(nd.ones((2, 3, 4)), nd.ones(2), begin=(None, 0), end=(None, 1))


# ---------------------------------------------------------------------- patches
def patches(x, kernel, stride, dilate, pad):
    """All patches of an array (n, c, ...), by the definition."""
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in pad])
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], kernel, stride, dilate)]
    columns = [x[(slice(None), slice(None), *[slice(i * s, i * s + d * (k - 1) + 1, d)
                                              for i, k, s, d in zip(at, kernel, stride, dilate)])].reshape(len(x), -1)
               for at in np.ndindex(*counts)]
    return np.stack(columns, -1)


@pytest.mark.parametrize('shape, window', [
    ((2, 3, 7), ((3,), (2,), (1,), (1,))), ((2, 2, 5, 6), ((3, 2), (2, 1), (1, 2), (1, 0))),
    ((1, 2, 4, 3, 4), ((2, 2, 3), (2, 1, 1), (1, 2, 1), (1, 0, 1))),
])
def test_im2col_and_back(shape, window):
    x = np.random.RandomState(1).standard_normal(shape)
    kernel, stride, dilate, pad = window
    named = {'kernel': kernel, 'stride': stride, 'dilate': dilate, 'pad': pad}
    columns = patches(x, *window)
    check('im2col', [x], columns, **named)
    # col2im is its transpose: what it makes of y, times a unit image, is y times the patches of that image
    y = np.random.RandomState(2).standard_normal(columns[:1].shape)
    units = np.eye(x[0].size).reshape(-1, *shape[1:])
    image = (patches(units, *window) * y).sum((1, 2)).reshape(1, *shape[1:])
    check('col2im', [y], image, output_size=shape[2:], **named)


# ---------------------------------------------------------------------- mistakes
@pytest.mark.parametrize('call, why', [
    (lambda x: nd.reshape(x), 'shape is missing'),
    (lambda x: nd.transpose(x, axes=(0, 1)), 'all axes in a new order'),
    (lambda x: nd.swapaxes(x, dim1=0, dim2=3), 'axis 3 is out of range'),
    (lambda x: nd.diag(x, k=4), 'no diagonal k=4 in 2 rows and 3 columns'),
    (lambda x: nd.split(x, num_outputs=2), 'cannot be split into num_outputs=2'),
    (lambda x: nd.split(x, num_outputs=1, squeeze_axis=True), 'parts of length 1'),
    (lambda x: nd._internal._split_v2(x, indices=(0, 2, 1)), 'rising positions'),
    (lambda x: nd.repeat(x, repeats=-1), 'repeats=-1'),
    (lambda x: nd.broadcast_axis(x, axis=0, size=3), 'not of length 1'),
    (lambda x: nd.broadcast_to(x, shape=(2, 3, 5)), r'cannot be broadcast to \(2, 3, 5\)'),
    (lambda x: nd.broadcast_like(x, x, lhs_axes=(0,), rhs_axes=()), 'at least one'),
    (lambda x: nd.pad(x, mode='edge', pad_width=(1, 1)), 'two lengths >= 0 per axis'),
    (lambda x: nd.pad(x, mode='mirror', pad_width=(1, 1)), "one of 'constant', 'edge', 'reflect'"),
    (lambda x: nd.pad(x, mode='reflect', pad_width=(2, 0, 0, 0, 0, 0)), 'less than 2 elements'),
    (lambda x: nd.Crop(x, h_w=(1, 1)), '4 axes'),
    (lambda x: nd.Crop(nd.ones((1, 1, 4, 4)), h_w=(2, 2), offset=(3, 0)), r'leaves \(2, 2\)'),
    (lambda x: nd.depth_to_space(x, block_size=2), '4 axes'),
    (lambda x: nd.space_to_depth(nd.ones((1, 1, 3, 4)), block_size=2), 'multiples of 2'),
    (lambda x: nd.slice(x, begin=(0,), end=(1, 1)), 'of one length'),
    (lambda x: nd.slice(x, begin=(0,), end=(1,), step=(0,)), 'other than 0'),
    (lambda x: nd.slice_axis(x, axis=1, begin=2, end=9), 'within the 3 elements'),
    (lambda x: nd.slice_like(x, nd.ones((9, 9, 9))), 'longer'),
    (lambda x: nd.im2col(x, kernel=(2, 2)), 'must have 4 axes'),
    (lambda x: nd.im2col(x, kernel=(9,)), 'does not fit'),
    (lambda x: nd.col2im(x, output_size=(5,), kernel=(2,)), r'\(n, channels \* 2, 4\)'),
    (lambda x: nd.stack(x, x, axis=9), 'out of range'),
])
def test_mistakes_are_named(call, why):
    with pytest.raises(MXNetError, match=why):
        call(nd.ones((2, 3, 4)))


def test_results_have_memory_of_their_own():
    x = nd.array(A)
    for y in [nd.reshape(x, shape=(-1,)), nd.transpose(x), nd.slice_axis(x, axis=0, begin=0, end=1), *nd.split(x, 3),
              nd.broadcast_to(x, shape=(2, 3, 4)), nd.tile(x, reps=1), nd.repeat(x, repeats=1, axis=0), nd.squeeze(x),
              nd.pad(x, mode='constant', pad_width=(0,) * 6), nd.flip(x, axis=()), nd.SequenceMask(x)]:
        y[:] = -1
    np.testing.assert_array_equal(x.asnumpy(), A)
