"""Convolutions: against their definition, each other, and their shape rules."""
import itertools

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet._ops.core.table import TABLE

DEFORMABLE = TABLE['_contrib_DeformableConvolution'].function
MODULATED = TABLE['_contrib_ModulatedDeformableConvolution'].function


def random(*shape, seed=0, scale=1.0):
    return (np.random.RandomState(seed).uniform(-1, 1, shape) * scale).astype('float32')


def convolution_by_definition(data, weight, bias, stride, dilate, pad, groups):
    kernel = weight.shape[2:]
    data = np.pad(data, [(0, 0), (0, 0), *((p, p) for p in pad)])
    sizes = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(data.shape[2:], kernel, stride, dilate)]
    result = np.zeros((data.shape[0], weight.shape[0], *sizes))
    inputs, outputs = data.shape[1] // groups, weight.shape[0] // groups
    for at in itertools.product(*(range(n) for n in sizes)):
        window = tuple(slice(i * s, i * s + d * (k - 1) + 1, d) for i, s, d, k in zip(at, stride, dilate, kernel))
        for f in range(weight.shape[0]):
            g = f // outputs
            patch = data[(slice(None), slice(g * inputs, (g + 1) * inputs), *window)]
            result[(slice(None), f, *at)] = (patch * weight[f]).sum(tuple(range(1, patch.ndim))) + bias[f]
    return result


CONVOLUTIONS = [
    {'kernel': (3,)},
    {'kernel': (2,), 'stride': (2,), 'pad': (1,), 'dilate': (2,)},
    {'kernel': (3, 2)},
    {'kernel': (3, 2), 'stride': (2, 1), 'pad': (1, 0)},
    {'kernel': (2, 2), 'dilate': (2, 1), 'pad': (2, 2)},
    {'kernel': (1, 3), 'num_group': 2},
    {'kernel': (2, 1, 2), 'stride': (1, 2, 1)},
    {'kernel': (2, 2, 2), 'num_group': 2},
]


@pytest.mark.parametrize('arguments', CONVOLUTIONS, ids=str)
@pytest.mark.parametrize('name', ['Convolution', 'Convolution_v1'])
def test_convolution(name, arguments):
    count, groups = len(arguments['kernel']), arguments.get('num_group', 1)
    data, weight = random(2, 4, *[5, 6, 4][:count]), random(6, 4 // groups, *arguments['kernel'], seed=1)
    bias = random(6)
    result = getattr(mx.nd, name)(mx.nd.array(data), mx.nd.array(weight), mx.nd.array(bias), num_filter=6, **arguments)
    per_axis = [arguments.get(a, (default,) * count) for a, default in (('stride', 1), ('dilate', 1), ('pad', 0))]
    expected = convolution_by_definition(data, weight, bias, *per_axis, groups)
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize('arguments', CONVOLUTIONS, ids=str)
def test_deconvolution_is_the_adjoint(arguments):
    """<convolution(x), y> = <x, deconvolution(y)>, with `adj` for the pixels that the stride left over."""
    count, groups = len(arguments['kernel']), arguments.get('num_group', 1)
    data, weight = random(2, 4, *[5, 6, 4][:count]), mx.nd.array(random(6, 4 // groups, *arguments['kernel'], seed=1))
    forward = mx.nd.Convolution(mx.nd.array(data), weight, num_filter=6, no_bias=True, **arguments)
    other = random(*forward.shape, seed=2)
    stride, dilate, pad = [arguments.get(a, (d,) * count) for a, d in (('stride', 1), ('dilate', 1), ('pad', 0))]
    adj = tuple((n + 2 * p - d * (k - 1) - 1) % s
                for n, p, d, k, s in zip(data.shape[2:], pad, dilate, arguments['kernel'], stride))
    backward = mx.nd.Deconvolution(mx.nd.array(other), weight, num_filter=4, adj=adj, **arguments)
    assert backward.shape == data.shape
    left, right = (forward.asnumpy() * other).sum(), (data * backward.asnumpy()).sum()
    assert left == pytest.approx(right, rel=1e-4)


def test_deconvolution_has_no_bias_unless_asked():
    data, weight, bias = (mx.nd.array(random(*s)) for s in ((1, 2, 4), (2, 3, 2), (3,)))
    plain = mx.nd.Deconvolution(data, weight, kernel=(2,), num_filter=3)
    with_bias = mx.nd.Deconvolution(data, weight, bias, kernel=(2,), num_filter=3, no_bias=False)
    np.testing.assert_allclose(with_bias.asnumpy() - plain.asnumpy(),
                               np.broadcast_to(random(3)[:, None], plain.shape[1:])[None], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize('target', [(9, 9), (8, 7), (0, 8)])
def test_target_shape(target):
    data, weight = mx.nd.ones((1, 2, 4, 4)), mx.nd.ones((2, 3, 3, 3))
    result = mx.nd.Deconvolution(data, weight, kernel=(3, 3), stride=(2, 2), num_filter=3, target_shape=target)
    assert result.shape[2:] == tuple(t or 9 for t in target)


@pytest.mark.parametrize('name, layout', [('Convolution', 'NHWC'), ('Convolution', 'NDHWC'), ('Deconvolution', 'NHWC'),
                                          ('Deconvolution', 'NDHWC')])
def test_channels_last(name, layout):
    count, function = len(layout) - 2, TABLE[name].function
    data, weight = torch.tensor(random(2, 4, *[5, 6, 4][:count])), torch.tensor(random(4, 2, *[3] * count, seed=1))
    arguments = {'kernel': (3,) * count, 'num_filter': 4, 'num_group': 2, 'pad': (1,) * count, 'no_bias': True}
    expected = function(data, weight, **arguments)
    result = function(data.movedim(1, -1).contiguous(), weight.movedim(1, -1).contiguous(), layout=layout, **arguments)
    torch.testing.assert_close(result.movedim(-1, 1), expected)
    assert result.is_contiguous()


@pytest.mark.parametrize('name, arguments, message', [
    ('Convolution', {'kernel': (3, 3), 'num_filter': 5}, r'weight has shape \(4, 2, 3, 3\).*must have \(5, 2, 3, 3\)'),
    ('Convolution', {'kernel': (2, 2), 'num_filter': 4}, r'weight has shape'),
    ('Convolution', {'kernel': (3,), 'num_filter': 4}, r'data has shape \(1, 2, 5, 5\).*3 dimensions'),
    ('Convolution', {'kernel': (3, 3), 'num_filter': 4, 'stride': (1,)}, r'stride=\(1,\) has 1 values.*2 spatial axes'),
    ('Convolution', {'kernel': (3, 3), 'num_filter': 4, 'num_group': 3}, r'num_group=3 must divide'),
    ('Convolution', {'kernel': (3, 3), 'num_filter': 4, 'layout': 'NCW'}, r"layout='NCW'"),
    ('Convolution', {'kernel': (3, 3), 'num_filter': 4, 'layout': 'HWCN'}, r"layout='HWCN' is not accepted"),
    ('Convolution', {'num_filter': 4}, r'required argument kernel'),
    ('Deconvolution', {'kernel': (3, 3), 'num_filter': 4}, r'weight has shape'),
])
def test_mistakes_are_named(name, arguments, message):
    with pytest.raises(mx.MXNetError, match=message):
        getattr(mx.nd, name)(mx.nd.ones((1, 2, 5, 5)), mx.nd.ones((4, 2, 3, 3)), no_bias=True, **arguments)


def test_mistakes_of_deconvolution():
    data, weight = mx.nd.ones((1, 2, 4)), mx.nd.ones((2, 3, 2))
    with pytest.raises(mx.MXNetError, match='adj=.* must be smaller than stride'):
        mx.nd.Deconvolution(data, weight, kernel=(2,), num_filter=3, adj=(1,))
    with pytest.raises(mx.MXNetError, match='target_shape asks for 9 elements.*gets 5'):
        mx.nd.Deconvolution(data, weight, kernel=(2,), num_filter=3, target_shape=(9,))


def test_dtypes_may_not_differ():
    with pytest.raises(mx.MXNetError, match='same dtype'):
        mx.nd.Convolution(mx.nd.ones((1, 1, 3)), mx.nd.ones((1, 1, 2), dtype='float64'), kernel=(2,), num_filter=1,
                          no_bias=True)


# ---------------------------------------------------------------------- deformable
ARGUMENTS = {'kernel': (3, 2), 'stride': (1, 2), 'pad': (1, 1), 'dilate': (1, 2), 'num_filter': 4}


def plain_convolution(data, weight, bias, **arguments):
    return TABLE['Convolution'].function(data, weight, bias, **arguments)


@pytest.mark.parametrize('num_group, groups', [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_no_offset_is_a_convolution(num_group, groups):
    data, weight, bias = (torch.tensor(random(*s)) for s in ((2, 4, 6, 7), (4, 4 // num_group, 3, 2), (4,)))
    expected = plain_convolution(data, weight, bias, num_group=num_group, **ARGUMENTS)
    points = expected.shape[2:]
    offset, mask = torch.zeros(2, 12 * groups, *points), torch.ones(2, 6 * groups, *points)
    more = dict(num_group=num_group, num_deformable_group=groups, **ARGUMENTS)
    torch.testing.assert_close(DEFORMABLE(data, offset, weight, bias, **more), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(MODULATED(data, offset, mask, weight, bias, **more), expected, rtol=1e-4, atol=1e-5)
    half = MODULATED(data, offset, mask / 2, weight, bias, **more)
    torch.testing.assert_close(half - bias[:, None, None], (expected - bias[:, None, None]) / 2, rtol=1e-4, atol=1e-5)


def test_offsets_move_rows_and_columns():
    data, weight = torch.tensor(random(1, 1, 5, 6)), torch.ones(1, 1, 1, 1)
    offset = torch.zeros(1, 2, 5, 6)
    offset[:, 0], offset[:, 1] = 1, 0.5
    result = DEFORMABLE(data, offset, weight, kernel=(1, 1), num_filter=1, no_bias=True)[0, 0]
    below = data[0, 0, 1:]
    torch.testing.assert_close(result[:-1, :-1], (below[:, :-1] + below[:, 1:]) / 2)
    torch.testing.assert_close(result[:-1, -1], below[:, -1])        # the last column goes on inside of the image
    assert not result[-1].any()                                      # a row further down there is none
    soft = MODULATED(data, offset, torch.ones(1, 1, 5, 6), weight, kernel=(1, 1), num_filter=1, no_bias=True)[0, 0]
    torch.testing.assert_close(soft[:-1, -1], below[:, -1] / 2)      # the second version fades out


def test_gradients_of_deformable_convolutions():
    generator = torch.Generator().manual_seed(0)

    def double(*shape):
        return torch.rand(shape, generator=generator, dtype=torch.float64).mul_(2).sub_(1).requires_grad_()

    data, weight, bias = double(1, 2, 4, 4), double(2, 2, 2, 2), double(2)
    offset, mask = double(1, 8, 3, 3), double(1, 4, 3, 3)
    arguments = {'kernel': (2, 2), 'num_filter': 2}
    assert torch.autograd.gradcheck(lambda *x: DEFORMABLE(*x, **arguments), (data, offset, weight, bias))
    assert torch.autograd.gradcheck(lambda *x: MODULATED(*x, **arguments), (data, offset, mask, weight, bias))


def test_offset_gradient_on_a_pixel_looks_forward():
    """Offsets start as zeros, exactly on pixels: there the slope is that towards the next pixel."""
    data = torch.tensor([[[[1., 5., 7.]]]])
    offset = torch.zeros(1, 2, 1, 3, requires_grad=True)
    DEFORMABLE(data, offset, torch.ones(1, 1, 1, 1), kernel=(1, 1), num_filter=1, no_bias=True).sum().backward()
    assert offset.grad[0, 1, 0].tolist() == [4, 2, 0]


def test_mistakes_of_deformable_convolution():
    data, weight = mx.nd.ones((1, 2, 5, 5)), mx.nd.ones((4, 2, 3, 3))
    with pytest.raises(mx.MXNetError, match=r'offset has shape \(1, 9, 3, 3\).*must have \(1, 18, 3, 3\)'):
        mx.nd.contrib.DeformableConvolution(data, mx.nd.ones((1, 9, 3, 3)), weight, kernel=(3, 3), num_filter=4,
                                            no_bias=True)


# ---------------------------------------------------------------------- shapes
@pytest.mark.parametrize('name, arguments', [
    ('Convolution', {'kernel': (3, 2), 'num_filter': 6, 'num_group': 2}),
    ('Convolution', {'kernel': (3, 2), 'num_filter': 6, 'num_group': 2, 'layout': 'NHWC'}),
    ('Convolution_v1', {'kernel': (3, 2), 'num_filter': 6, 'no_bias': True}),
    ('Deconvolution', {'kernel': (3, 2), 'num_filter': 6, 'num_group': 2, 'stride': (2, 1)}),
    ('Deconvolution', {'kernel': (3, 2), 'num_filter': 6, 'num_group': 2, 'no_bias': False, 'layout': 'NHWC'}),
])
def test_shape_rules_and_meta_tensors(name, arguments):
    op, data = TABLE[name], (2, 4, 5, 4)
    complete = op.complete(op.parse(arguments))
    found = op.shapes({'data': data}, complete)
    names = op.input_names(complete)
    assert set(found) == set(names[1:])
    on_cpu = op.function(torch.ones(data), *(torch.ones(found[n]) for n in names[1:]), **arguments)
    on_meta = op.function(*(torch.empty(s, device='meta') for s in (data, *(found[n] for n in names[1:]))), **arguments)
    assert on_meta.shape == on_cpu.shape
    assert 'weight' not in op.shapes({'data': None}, complete)


def test_deformable_on_meta_tensors():
    def meta(*shape):
        return torch.empty(shape, device='meta')
    result = DEFORMABLE(meta(2, 4, 6, 6), meta(2, 18, 4, 4), meta(3, 4, 3, 3), meta(3), kernel=(3, 3), num_filter=3)
    assert result.shape == (2, 3, 4, 4)
