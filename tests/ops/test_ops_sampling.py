"""Resizing, sampling at computed places, and correlation."""
import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import mxnet as mx
from mxnet._ops.core.table import TABLE

nd = mx.nd


def function(name):
    return TABLE[name].function


def random(*shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype('float32')


def double(*shape, seed=0):
    return torch.tensor(random(*shape, seed=seed), dtype=torch.float64, requires_grad=True)


# ---------------------------------------------------------------------- UpSampling
def test_nearest_repeats_pixels():
    data = random(2, 3, 2, 4)
    result = nd.UpSampling(nd.array(data), scale=3, sample_type='nearest')
    np.testing.assert_array_equal(result.asnumpy(), data.repeat(3, 2).repeat(3, 3))


@pytest.mark.parametrize('mode', ['concat', 'sum'])
def test_further_inputs_come_to_the_size_of_the_first(mode):
    first, second = random(2, 3, 4, 4), random(2, 3, 2, 2, seed=1)
    result = nd.UpSampling(nd.array(first), nd.array(second), scale=2, sample_type='nearest', multi_input_mode=mode)
    a, b = first.repeat(2, 2).repeat(2, 3), second.repeat(4, 2).repeat(4, 3)
    np.testing.assert_array_equal(result.asnumpy(), a + b if mode == 'sum' else np.concatenate([a, b], 1))


@pytest.mark.parametrize('scale', [1, 2, 3, 4])
def test_bilinear_upsampling_is_a_deconvolution_by_channel(scale):
    op = TABLE['UpSampling']
    given = {'scale': scale, 'sample_type': 'bilinear', 'num_filter': 3, 'num_args': 2}
    assert op.input_names(op.complete(op.parse(given))) == ('data', 'weight')
    shape = op.shapes({'data': (2, 3, 4, 5)}, op.complete(op.parse(given)))['weight']
    data, weight = nd.array(random(2, 3, 4, 5)), nd.array(random(*shape, seed=1))
    result = nd.UpSampling(data, weight, **given)
    expected = nd.Deconvolution(data, weight, kernel=shape[2:], stride=(scale,) * 2, pad=(scale // 2,) * 2,
                                num_filter=3, num_group=3)
    assert result.shape == (2, 3, 4 * scale, 5 * scale)
    np.testing.assert_array_equal(result.asnumpy(), expected.asnumpy())


@pytest.mark.parametrize('shapes, arguments, message', [
    ([(1, 1, 2, 2), (1, 1, 3, 3)], {'sample_type': 'nearest'}, 'arg1 has shape .* does not divide the output'),
    ([(1, 1, 2, 2), (1, 2, 2, 2)], {'sample_type': 'nearest', 'multi_input_mode': 'sum'}, 'same number of channels'),
    ([(1, 1, 2, 2)], {'sample_type': 'bilinear'}, 'takes data and weight'),
    ([(1, 1, 2, 2), (1, 1, 3, 3)], {'sample_type': 'bilinear'}, r'weight has shape .* must have \(1, 1, 4, 4\)'),
    ([(1, 2, 2)], {'sample_type': 'nearest'}, 'must have 4 dimensions'),
])
def test_mistakes_of_upsampling(shapes, arguments, message):
    with pytest.raises(mx.MXNetError, match=message):
        nd.UpSampling(*(nd.ones(s) for s in shapes), scale=2, **arguments)


# ---------------------------------------------------------------------- BilinearResize2D
@pytest.mark.parametrize('shape, arguments, expected', [
    ((4, 5), {'height': 6, 'width': 3}, (6, 3)),
    ((4, 5), {'scale_height': 2, 'scale_width': 1.5}, (8, 7)),
    ((4, 5), {'scale_height': 2, 'scale_width': 1.5, 'mode': 'odd_scale'}, (8, 7)),
    ((5, 7), {'scale_height': 0.5, 'scale_width': 2, 'mode': 'odd_scale'}, (3, 13)),
    ((4, 5), {'mode': 'to_even_down'}, (4, 4)), ((4, 5), {'mode': 'to_even_up'}, (4, 6)),
    ((4, 5), {'mode': 'to_odd_down'}, (3, 5)), ((4, 5), {'mode': 'to_odd_up'}, (5, 5)),
    ((10, 10), {'scale_height': 0.1, 'scale_width': 0.7}, (1, 7)),
])
def test_resized_lengths(shape, arguments, expected):
    resize = function('_contrib_BilinearResize2D')
    assert resize(torch.ones(2, 3, *shape), **arguments).shape == (2, 3, *expected)
    assert resize(torch.empty(2, 3, *shape, device='meta'), **arguments).shape == (2, 3, *expected)


def test_resize_like():
    result = nd.contrib.BilinearResize2D(nd.ones((2, 3, 4, 5)), nd.ones((1, 1, 8, 9)), mode='like')
    assert result.shape == (2, 3, 8, 9)


def test_resize_keeps_corners_or_areas():
    data = nd.array([[[[0., 1., 2., 3.]]]])
    aligned = nd.contrib.BilinearResize2D(data, height=1, width=7)
    np.testing.assert_allclose(aligned.asnumpy().ravel(), np.arange(7) / 2, rtol=1e-6)
    areas = nd.contrib.BilinearResize2D(data, height=1, width=2, align_corners=False)
    np.testing.assert_allclose(areas.asnumpy().ravel(), [0.5, 2.5], rtol=1e-6)
    first = nd.contrib.BilinearResize2D(data, height=1, width=1, align_corners=False)
    assert first.asscalar() == 0


def test_resize_without_scales():
    with pytest.raises(mx.MXNetError, match='needs scale_height and scale_width'):
        nd.contrib.BilinearResize2D(nd.ones((1, 1, 3, 3)), mode='odd_scale')
    with pytest.raises(mx.MXNetError, match='height 0 and width 1'):
        nd.contrib.BilinearResize2D(nd.ones((1, 1, 3, 3)), scale_height=0.1, scale_width=0.5)


# ---------------------------------------------------------------------- grids
IDENTITY = [1, 0, 0, 0, 1, 0]


def test_identity_grid():
    grid = nd.GridGenerator(nd.array([IDENTITY]), transform_type='affine', target_shape=(3, 5)).asnumpy()
    np.testing.assert_allclose(grid[0, 0], np.broadcast_to(np.linspace(-1, 1, 5), (3, 5)), atol=1e-6)
    np.testing.assert_allclose(grid[0, 1], np.broadcast_to(np.linspace(-1, 1, 3)[:, None], (3, 5)), atol=1e-6)


def test_sampling_on_the_identity_grid_changes_nothing():
    data = random(2, 3, 4, 5)
    affine = nd.GridGenerator(nd.array([IDENTITY] * 2), transform_type='affine', target_shape=(4, 5))
    still = nd.GridGenerator(nd.zeros((2, 2, 4, 5)), transform_type='warp')
    for grid in (affine, still):
        np.testing.assert_allclose(nd.BilinearSampler(nd.array(data), grid).asnumpy(), data, atol=1e-6)
    direct = nd.SpatialTransformer(nd.array(data), nd.array([IDENTITY] * 2), target_shape=(4, 5),
                                   transform_type='affine', sampler_type='bilinear')
    np.testing.assert_allclose(direct.asnumpy(), data, atol=1e-6)


def test_warp_moves_by_pixels():
    data, flow = random(1, 1, 4, 5), np.zeros((1, 2, 4, 5), 'float32')
    flow[:, 0] = 1
    result = nd.BilinearSampler(nd.array(data), nd.GridGenerator(nd.array(flow), transform_type='warp')).asnumpy()
    np.testing.assert_allclose(result[..., :-1], data[..., 1:], atol=1e-5)
    np.testing.assert_allclose(result[..., -1], 0, atol=1e-5)


def test_a_grid_of_one_point_is_the_middle():
    grid = nd.GridGenerator(nd.array([IDENTITY]), transform_type='affine', target_shape=(1, 1))
    assert grid.asnumpy().ravel().tolist() == [0, 0]


def test_gradients_of_sampling():
    sampler, transformer, generate = (function(n) for n in ('BilinearSampler', 'SpatialTransformer', 'GridGenerator'))
    data, grid, maps = double(1, 2, 4, 4), double(1, 2, 3, 3, seed=1), double(1, 6, seed=2)
    assert gradcheck(sampler, (data, grid))
    assert gradcheck(lambda d, m: transformer(d, m, target_shape=(3, 4), transform_type='affine',
                                              sampler_type='bilinear'), (data, maps))
    assert gradcheck(lambda m: generate(m, transform_type='affine', target_shape=(3, 2)), (maps,))
    assert gradcheck(lambda g: generate(g, transform_type='warp'), (grid,))


def test_mistakes_of_sampling():
    with pytest.raises(mx.MXNetError, match=r'grid has shape \(1, 3, 2, 2\)'):
        nd.BilinearSampler(nd.ones((1, 1, 3, 3)), nd.ones((1, 3, 2, 2)))
    with pytest.raises(mx.MXNetError, match=r'affine maps need \(batch, 6\)'):
        nd.GridGenerator(nd.ones((1, 5)), transform_type='affine', target_shape=(2, 2))
    with pytest.raises(mx.MXNetError, match=r'target_shape=\(0, 0\)'):
        nd.GridGenerator(nd.ones((1, 6)), transform_type='affine')


# ---------------------------------------------------------------------- Correlation
def correlation_by_definition(first, second, kernel, reach, stride1, stride2, pad, multiply):
    first, second = (np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)]) for x in (first, second))
    border = reach + kernel // 2
    rows, columns = (-(-(n - 2 * border) // stride1) for n in first.shape[2:])
    moves = [i * stride2 for i in range(-(reach // stride2), reach // stride2 + 1)]
    result = np.zeros((first.shape[0], len(moves) ** 2, rows, columns))
    for i in range(rows):
        for j in range(columns):
            y, x = i * stride1 + reach, j * stride1 + reach
            for channel, (dy, dx) in enumerate((dy, dx) for dy in moves for dx in moves):
                a = first[:, :, y:y + kernel, x:x + kernel]
                b = second[:, :, y + dy:y + dy + kernel, x + dx:x + dx + kernel]
                result[:, channel, i, j] = (a * b if multiply else np.abs(a - b)).mean((1, 2, 3))
    return result


@pytest.mark.parametrize('multiply', [True, False])
@pytest.mark.parametrize('kernel, reach, stride1, stride2, pad', [(1, 1, 1, 1, 1), (1, 3, 2, 2, 4), (3, 2, 1, 1, 3),
                                                                 (3, 2, 2, 2, 2)])
def test_correlation(kernel, reach, stride1, stride2, pad, multiply):
    first, second = random(2, 3, 5, 6), random(2, 3, 5, 6, seed=1)
    arguments = {'kernel_size': kernel, 'max_displacement': reach, 'stride1': stride1, 'stride2': stride2,
                 'pad_size': pad, 'is_multiply': multiply}
    result = nd.Correlation(nd.array(first), nd.array(second), **arguments)
    expected = correlation_by_definition(first, second, kernel, reach, stride1, stride2, pad, multiply)
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-4, atol=1e-6)
    meta = [torch.empty(2, 3, 5, 6, device='meta')] * 2
    assert function('Correlation')(*meta, **arguments).shape == result.shape


@pytest.mark.parametrize('multiply', [True, False])
def test_gradient_of_correlation(multiply):
    correlate = function('Correlation')
    assert gradcheck(lambda a, b: correlate(a, b, pad_size=1, is_multiply=multiply),
                     (double(1, 2, 3, 3), double(1, 2, 3, 3, seed=1)))


def test_equal_pixels_have_a_slope_in_correlation():
    first, second = (torch.ones(1, 1, 1, 1, requires_grad=True) for _ in range(2))
    function('Correlation')(first, second, max_displacement=0, is_multiply=False).sum().backward()
    assert (first.grad.item(), second.grad.item()) == (1, -1)


def test_mistakes_of_correlation():
    with pytest.raises(mx.MXNetError, match='kernel_size=2 must be odd'):
        nd.Correlation(nd.ones((1, 1, 4, 4)), nd.ones((1, 1, 4, 4)), kernel_size=2)
    with pytest.raises(mx.MXNetError, match='do not fit'):
        nd.Correlation(nd.ones((1, 1, 4, 4)), nd.ones((1, 1, 4, 4)), max_displacement=3)
