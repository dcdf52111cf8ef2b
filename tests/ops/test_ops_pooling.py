"""Pooling: against its definition, at its borders, and where several elements are the maximum."""
import itertools

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet._ops.core.table import TABLE

POOLING = TABLE['Pooling'].function
POOLING_V1 = TABLE['Pooling_v1'].function


def random(*shape):
    return np.random.RandomState(0).uniform(-1, 1, shape).astype('float32')


def pooling_by_definition(data, kernel, pool_type, stride, pad, convention, include_pad, p_value=None):
    sizes = data.shape[2:]
    rooms = [n + 2 * p - k for n, p, k in zip(sizes, pad, kernel)]
    counts = {'valid': [r // s + 1 for r, s in zip(rooms, stride)],
              'full': [-(-r // s) + 1 for r, s in zip(rooms, stride)],
              'same': [-(-n // s) for n, s in zip(sizes, stride)]}[convention]
    result = np.zeros((*data.shape[:2], *counts), data.dtype)
    for at in itertools.product(*(range(n) for n in counts)):
        starts = [i * s - p for i, s, p in zip(at, stride, pad)]
        inside = [(max(a, 0), min(a + k, n)) for a, k, n in zip(starts, kernel, sizes)]
        padded = [(a, min(a + k, n + p)) for a, k, n, p in zip(starts, kernel, sizes, pad)]
        window = data[(slice(None), slice(None), *(slice(a, max(a, b)) for a, b in inside))]
        axes = tuple(range(2, data.ndim))
        if pool_type == 'max':
            value = window.max(axes, initial=np.finfo(data.dtype).min)
        elif pool_type == 'lp':
            value = (window ** p_value).sum(axes)
            value = np.sign(value) * np.abs(value) ** (1 / p_value)
        else:
            size = np.prod([b - a for a, b in (padded if include_pad else inside)])
            value = window.sum(axes) / (max(size, 1) if pool_type == 'avg' else 1)
        result[(slice(None), slice(None), *at)] = value
    return result


WINDOWS = [      # kernel, stride, pad, convention
    ((3,), (2,), (1,), 'valid'), ((3,), (2,), (1,), 'full'), ((2,), (5,), (1,), 'full'), ((3,), (2,), (0,), 'same'),
    ((2, 3), (1, 1), (0, 0), 'valid'), ((3, 2), (2, 3), (1, 0), 'full'), ((3, 3), (2, 2), (2, 2), 'valid'),
    ((1, 1), (4, 3), (0, 0), 'full'), ((4, 3), (3, 5), (2, 2), 'full'), ((2, 2, 2), (2, 2, 2), (1, 0, 1), 'full'),
    ((2, 3, 1), (1, 2, 3), (0, 1, 0), 'valid'),
]


@pytest.mark.parametrize('kernel, stride, pad, convention', WINDOWS)
@pytest.mark.parametrize('pool_type, extra', [
    ('max', {}), ('avg', {}), ('avg', {'count_include_pad': False}), ('sum', {}), ('lp', {'p_value': 1}),
    ('lp', {'p_value': 2}), ('lp', {'p_value': 3})])
def test_pooling(kernel, stride, pad, convention, pool_type, extra):
    data = random(2, 3, *[6, 7, 5][:len(kernel)])
    expected = pooling_by_definition(data, kernel, pool_type, stride, pad, convention,
                                     extra.get('count_include_pad', True), extra.get('p_value'))
    arguments = dict(kernel=kernel, stride=stride, pad=pad, pooling_convention=convention, pool_type=pool_type, **extra)
    result = POOLING(torch.tensor(data), **arguments)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-5)
    assert POOLING(torch.empty(data.shape, device='meta'), **arguments).shape == result.shape
    if convention != 'same':
        layout = 'N' + 'DHW'[3 - len(kernel):] + 'C'
        last = POOLING(torch.tensor(data).movedim(1, -1).contiguous(), layout=layout, **arguments)
        torch.testing.assert_close(last.movedim(-1, 1), result)


@pytest.mark.parametrize('kernel, stride, pad, convention', WINDOWS)
@pytest.mark.parametrize('pool_type', ['max', 'avg', 'sum', 'lp'])
def test_gradients(kernel, stride, pad, convention, pool_type):
    data = torch.tensor(random(1, 2, *[6, 7, 5][:len(kernel)]), dtype=torch.float64, requires_grad=True)

    def pooling(x):
        return POOLING(x, kernel=kernel, stride=stride, pad=pad, pooling_convention=convention, pool_type=pool_type,
                       p_value=2, count_include_pad=False)
    assert torch.autograd.gradcheck(pooling, data)


@pytest.mark.parametrize('pool_type, expected', [('max', np.amax), ('avg', np.mean), ('sum', np.sum),
                                                 ('lp', lambda x, axes: np.sqrt((x * x).sum(axes)))])
@pytest.mark.parametrize('shape', [(2, 3, 5), (2, 3, 4, 5), (2, 3, 2, 4, 3)])
def test_global_pooling_ignores_the_window(shape, pool_type, expected):
    data = random(*shape)
    axes = tuple(range(2, len(shape)))
    result = mx.nd.Pooling(mx.nd.array(data), kernel=(2,) * len(axes), stride=(2,) * len(axes), global_pool=True,
                           pool_type=pool_type, p_value=2)
    assert result.shape == (2, 3, *[1] * len(axes))
    np.testing.assert_allclose(result.asnumpy().reshape(2, 3), expected(data, axes), rtol=1e-5, atol=1e-6)
    last = POOLING(torch.tensor(data).movedim(1, -1), layout='N' + 'DHW'[3 - len(axes):] + 'C', global_pool=True,
                   pool_type=pool_type, p_value=2)
    np.testing.assert_allclose(last.movedim(-1, 1).numpy(), result.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize('global_pool', [False, True])
def test_the_first_of_equal_maxima_gets_the_gradient(global_pool):
    data = torch.tensor([[[1., 3., 3., 2.]]], requires_grad=True)
    POOLING(data, kernel=(4,), global_pool=global_pool).sum().backward()
    assert data.grad.tolist() == [[[0, 1, 0, 0]]]


def test_lp_gradient_of_zeros_is_zero():
    data = torch.zeros(1, 1, 4, requires_grad=True)
    POOLING(data, kernel=(2,), pool_type='lp', p_value=2).sum().backward()
    assert not data.grad.any()


@pytest.mark.parametrize('kernel, stride, pad, convention', [w for w in WINDOWS if len(w[0]) == 2])
@pytest.mark.parametrize('pool_type', ['max', 'avg', 'sum'])
def test_pooling_v1_pads_with_zeros(kernel, stride, pad, convention, pool_type):
    data = random(2, 3, 6, 7)
    padded = np.pad(data, [(0, 0), (0, 0), *((p, p) for p in pad)])
    expected = pooling_by_definition(padded, kernel, 'max' if pool_type == 'max' else 'sum', stride, (0, 0), convention,
                                     True)
    expected = np.where(expected == np.finfo('float32').min, -np.inf, expected)
    result = POOLING_V1(torch.tensor(data), kernel=kernel, stride=stride, pad=pad, pooling_convention=convention,
                        pool_type=pool_type)
    np.testing.assert_allclose(result.numpy(), expected / (np.prod(kernel) if pool_type == 'avg' else 1), rtol=1e-5,
                               atol=1e-6)


def test_every_equal_maximum_gets_the_gradient_of_pooling_v1():
    data = torch.tensor([[[[1., 3.], [3., 2.]]]], requires_grad=True)
    result = POOLING_V1(data, kernel=(2, 2))
    result.sum().backward()
    assert result.item() == 3
    assert data.grad.tolist() == [[[[0, 1], [1, 0]]]]
    assert POOLING_V1(data, global_pool=True, pool_type='avg').item() == 2.25


@pytest.mark.parametrize('size, shape', [((), (1, 1)), (3, (3, 3)), ((2, 4), (2, 4)), ('(2, 4)', (2, 4))])
def test_adaptive_average(size, shape):
    data = random(2, 3, 5, 7)
    result = mx.nd.contrib.AdaptiveAvgPooling2D(mx.nd.array(data), output_size=size)
    assert result.shape == (2, 3, *shape)

    def parts(length, count):
        return [slice(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]

    for (i, rows), (j, columns) in itertools.product(enumerate(parts(5, shape[0])), enumerate(parts(7, shape[1]))):
        np.testing.assert_allclose(result.asnumpy()[:, :, i, j], data[:, :, rows, columns].mean((2, 3)), rtol=1e-4,
                                   atol=1e-6)


@pytest.mark.parametrize('arguments, message', [
    ({}, 'argument kernel is missing'),
    ({'kernel': (2,)}, r'data has shape \(1, 1, 4, 4\).*3 dimensions'),
    ({'kernel': (2, 0)}, r'kernel=\(2, 0\) must be positive'),
    ({'kernel': (5, 2), 'pooling_convention': 'full'}, r'kernel=\(5, 2\) exceeds data'),
    ({'kernel': (2, 2), 'pool_type': 'lp'}, 'p_value=None must be 1, 2 or 3'),
    ({'kernel': (2, 2), 'stride': (2,)}, r'stride=\(2,\) has 1 values'),
    ({'kernel': (2, 2), 'stride': (0, 1)}, r'stride=\(0, 1\) must be positive'),
    ({'kernel': (2, 2), 'pooling_convention': 'same'}, "'same' is for one spatial axis"),
    ({'kernel': (2, 2), 'layout': 'NWC'}, "layout='NWC' does not describe"),
    ({'kernel': (2, 2), 'pool_type': 'min'}, "pool_type='min' is not accepted"),
])
def test_mistakes_are_named(arguments, message):
    with pytest.raises(mx.MXNetError, match=message):
        mx.nd.Pooling(mx.nd.ones((1, 1, 4, 4)), **arguments)


@pytest.mark.parametrize('arguments, outputs', [({'kernel': (2, 2)}, 2), ({'kernel': (2, 2), 'pool_type': 'avg'}, 1),
                                                ({'kernel': (2, 2), 'layout': 'NHWC'}, 1), ({'global_pool': True}, 1)])
def test_outputs_of_a_node(arguments, outputs):
    op = TABLE['Pooling']
    assert op.output_count(op.complete(op.parse(arguments))) == outputs


@pytest.mark.gpu
@pytest.mark.parametrize('kernel, stride, pad, convention', WINDOWS)
@pytest.mark.parametrize('pool_type', ['max', 'avg', 'sum', 'lp'])
@pytest.mark.parametrize('channels', [1, 2, 8])
@pytest.mark.parametrize('last', [False, True])
def test_gpu_agrees(kernel, stride, pad, convention, pool_type, channels, last):
    """torch 2.11's gradient of a padded average over channels-last images is wrong on a GPU; ours must not be."""
    data = torch.tensor(random(2, channels, *[6, 7, 5][:len(kernel)]), dtype=torch.float64)
    data = data.movedim(1, -1).contiguous() if last else data
    arguments = {'kernel': kernel, 'stride': stride, 'pad': pad, 'pooling_convention': convention, 'p_value': 2,
                 'pool_type': pool_type, 'layout': 'N' + 'DHW'[3 - len(kernel):] + 'C' if last else None}
    found = []
    for device in ('cpu', 'cuda'):
        x = data.to(device, copy=True).requires_grad_()
        result = POOLING(x, **arguments)
        head = torch.arange(result.numel(), dtype=torch.float64, device=device).cos().reshape(result.shape)
        result.backward(head)
        found.append((result.detach().cpu(), x.grad.cpu()))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)
