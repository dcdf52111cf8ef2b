"""Maxima of windows on a CPU, which torch computes slowly: the same values, and gradients to the same places."""
import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon
from mxnet._ops import TABLE
from mxnet._ops.nn import pooling

CASES = [((2, 8, 32, 32), 2, 2, 0), ((2, 8, 33, 31), 2, 2, 0), ((1, 16, 32, 32), 3, 2, 1), ((1, 16, 32, 32), 3, 2, 0),
         ((1, 16, 30, 31), 3, 1, 1), ((3, 3, 64, 40), 3, 3, 0), ((1, 8, 40, 40), (5, 2), (1, 3), (2, 1)),
         ((1, 8, 40, 40), 1, 2, 0), ((1, 10, 40, 40), (2, 2), (2, 2), (1, 0))]


def pool(data, kernel, stride, pad):
    def two(n):
        return n if isinstance(n, tuple) else (n, n)
    op = TABLE['Pooling']
    return op.function(data, **op.parse({'kernel': two(kernel), 'stride': two(stride), 'pad': two(pad),
                                         'pool_type': 'max'}))


@pytest.mark.parametrize('dtype', [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize('shape, kernel, stride, pad', CASES)
def test_as_torch(shape, kernel, stride, pad, dtype):
    # in the second and third many are equal
    for data in (torch.randn(shape), torch.randn(shape).relu(), torch.randint(0, 3, shape).float()):
        data = data.to(dtype)
        assert pooling._is_slow(data)
        wanted = torch.max_pool2d(data, kernel, stride, pad)
        found = pool(data, kernel, stride, pad)
        assert found.is_contiguous() and torch.equal(found, wanted)
        mine, other = (data.clone().requires_grad_() for _ in range(2))
        gradient = torch.randn_like(wanted)
        result = pool(mine, kernel, stride, pad)
        assert torch.equal(result, wanted)
        result.backward(gradient)
        torch.max_pool2d(other, kernel, stride, pad).backward(gradient)
        torch.testing.assert_close(mine.grad, other.grad, rtol=1e-2 if dtype is torch.bfloat16 else 1e-6, atol=1e-6)


def test_nothing_is_lost_of_what_is_not_a_number():
    data = torch.randn(1, 8, 32, 32)
    data[0, 0, 3, 5] = torch.nan
    data[0, 1] = -torch.inf
    for kernel, stride, pad in ((2, 2, 0), (3, 2, 1)):
        wanted = torch.max_pool2d(data, kernel, stride, pad)
        assert torch.equal(pool(data, kernel, stride, pad), wanted) is False        # NaN
        np.testing.assert_array_equal(pool(data, kernel, stride, pad).numpy(), wanted.numpy())
        np.testing.assert_array_equal(pool(data.clone().requires_grad_(), kernel, stride, pad).detach().numpy(),
                                      wanted.numpy())


def test_second_derivative():
    x = torch.randn(1, 8, 32, 32, dtype=torch.float64, requires_grad=True)
    y = (pool(x * x, 2, 2, 0) ** 2).sum()
    first, = torch.autograd.grad(y, x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x)
    chosen = torch.zeros_like(x)
    where = torch.nn.functional.max_pool2d(x * x, 2, 2, return_indices=True)[1]
    chosen.view(1, 8, -1).scatter_(2, where.view(1, 8, -1), 1.0)
    torch.testing.assert_close(second, 12 * x.detach() ** 2 * chosen)


@pytest.mark.parametrize('kernel, stride, pad', [(2, 2, 0), (3, 2, 1)])
def test_networks(kernel, stride, pad):
    """Hybridized, and in an executor, as without."""
    x, results = mx.nd.random.normal(shape=(2, 3, 32, 32)), []
    nets = [gluon.nn.HybridSequential() for _ in range(2)]
    for net in nets:
        net.add(gluon.nn.Conv2D(8, 3, padding=1, in_channels=3, activation='relu'),
                gluon.nn.MaxPool2D(kernel, stride, pad), gluon.nn.Dense(4, in_units=8 * 16 * 16))
        net.initialize(mx.init.Xavier())
    for mine, other in zip(nets[0].collect_params().values(), nets[1].collect_params().values(), strict=True):
        other.set_data(mine.data())
    nets[1].hybridize()
    for net in nets:
        for _ in range(3):
            with autograd.record():
                y = net(x)
            y.backward()
        results.append([y.asnumpy(), net(x).asnumpy(), net[0].weight.grad().asnumpy()])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, 1e-4, 1e-4)


def test_kernels_that_are_too_large_are_named():
    with pytest.raises(mx.MXNetError, match=r'kernel=\(40, 40\) exceeds data with spatial shape \(32, 32\)'):
        mx.nd.Pooling(mx.nd.ones((1, 8, 32, 32)), kernel=(40, 40), pool_type='max')
