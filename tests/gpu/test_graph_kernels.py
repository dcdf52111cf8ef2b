"""Normalisation in plans for a GPU (`passes/batch_norm.py`, `cuda/kernels.py`), beside torch's own kernels."""
import numpy
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd

pytestmark = pytest.mark.gpu


def kernels():
    pytest.importorskip('triton')
    from mxnet._graph.cuda import kernels
    return kernels


@pytest.mark.parametrize('shape', [(2, 3, 5, 7), (8, 64, 56, 56), (4, 100, 9, 9), (1, 2048, 7, 7), (64, 8, 1, 1)])
@pytest.mark.parametrize('relu', [False, True])
@pytest.mark.parametrize('add', [False, True])
def test_kernels(shape, relu, add):
    k = kernels()
    generator = torch.Generator('cuda').manual_seed(0)

    def draw(*size):
        return torch.randn(size, device='cuda', generator=generator)

    def picture():
        return draw(*shape).to(memory_format=torch.channels_last)

    x, dy, gamma, beta = picture() * 3 + 50, picture(), draw(shape[1]), draw(shape[1])
    other = picture() if add else None
    leaves = [t.clone().requires_grad_() for t in (x, gamma, beta)]
    expected = torch.nn.functional.batch_norm(leaves[0], None, None, leaves[1], leaves[2], True, 0.0, 1e-3)
    if add:
        expected = expected + other
    if relu:
        expected = expected.relu()
    mean, inverse = k.batch_norm_stats(x, 1e-3)
    torch.testing.assert_close(mean, x.mean((0, 2, 3)), rtol=1e-5, atol=1e-4)
    y = k.batch_norm_apply(x, mean, inverse, gamma, beta, other, relu)
    torch.testing.assert_close(y, expected, rtol=1e-3, atol=1e-3)
    expected.backward(dy)
    # where relu's argument is next to 0, the two may fall on different sides
    numbers, share = (mean, inverse, gamma, beta), picture()
    for more in (None, dy - share):
        dgamma, dbeta, masked = k.batch_norm_sums(dy if more is None else share, more, x,
                                                  expected.detach() if relu else None, *numbers, relu, True)
        dx = k.batch_norm_back(masked, x, *numbers, dgamma, dbeta, False)
        for found, leaf in zip((dx, dgamma, dbeta), leaves, strict=True):
            torch.testing.assert_close(found, leaf.grad, rtol=1e-2, atol=2e-2)
        torch.testing.assert_close(masked, dy * (expected > 0) if relu else dy, rtol=1e-5, atol=1e-5)
    if add:
        return
    # where relu's argument was positive is computed again, as it was
    found = *k.batch_norm_sums(dy, None, x, None, *numbers, relu, True), *k.batch_norm_sums(
        dy, None, x, y if relu else None, *numbers, relu, True)
    for a, b in zip(found[:3], found[3:], strict=True):
        assert torch.equal(a, b)
    dgamma, dbeta, masked = found[:3]
    assert k.batch_norm_sums(dy, None, x, None, *numbers, relu, False)[2] is None
    assert torch.equal(k.batch_norm_back(dy, x, *numbers, dgamma, dbeta, relu),
                       k.batch_norm_back(masked, x, *numbers, dgamma, dbeta, False))


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16'])
def test_a_residual_network_trains_alike(dtype):
    """Gradients in half precision, one by one, are as near to those of float32 as without fusing."""
    kernels()
    x = nd.random.uniform(shape=(8, 3, 32, 32), ctx=mx.gpu())
    y = nd.array([0, 1, 2, 3, 0, 1, 2, 3], ctx=mx.gpu())
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    found = {}
    mx.random.seed(0)
    net = gluon.model_zoo.vision.resnet50_v1(classes=4, thumbnail=True)
    net.initialize(mx.init.Xavier(), ctx=mx.gpu())
    net(x)
    values = {n: p.data().copy() for n, p in net.collect_params().items()}
    for kind in ('float32', 'plain', 'fused'):
        own = 'float32' if kind == 'float32' else dtype
        net.cast(own)
        for n, p in net.collect_params().items():
            p.set_data(values[n].astype(p.dtype))
        net.hybridize(kind == 'fused', static_alloc=True, static_shape=True)
        for _ in range(4):
            for n, p in net.collect_params().items():
                if 'running' in n:
                    p.set_data(values[n].astype(p.dtype))
            with autograd.record():
                value = loss(net(x.astype(own)), y)
            value.backward()
        found[kind] = {n: (p.grad() if p.grad_req != 'null' else p.data()).astype('float32').asnumpy()
                       for n, p in net.collect_params().items()}
    source = net._cached_op.deferral.last_step.runner.plan.source
    calls = [line.split(' = ')[1].split('(')[0] for line in source.splitlines() if ' = ' in line and '(' in line]
    assert source.count('batch_norm_apply = ') + source.count('batch_norm_apply_') > 50, sorted(set(calls))

    def away(kind):
        gaps = [numpy.linalg.norm(found[kind][n] - v) / (numpy.linalg.norm(v) + 1e-6) for n, v in
                found['float32'].items() if not n.endswith('bias') or 'conv' not in n]
        return numpy.median(gaps), numpy.mean(gaps)

    plain, fused = away('plain'), away('fused')
    assert fused[0] <= 1.3 * plain[0] + 0.01 and fused[1] <= 1.3 * plain[1] + 0.01
    for n, v in found['fused'].items():
        if 'running' in n:
            numpy.testing.assert_allclose(v, found['float32'][n], rtol=0.2, atol=0.05, err_msg=n)


@pytest.mark.parametrize('shape', [(2, 3), (64, 64), (64, 10), (33, 130), (500, 1000)])
def test_kernels_of_dense_layers(shape):
    k = kernels()
    generator = torch.Generator('cuda').manual_seed(1)
    x, y, bias = (torch.randn(s, device='cuda', generator=generator) for s in (shape, shape, shape[1:]))
    x[0, 0] = float('nan')
    assert torch.equal(k.add_bias(x.clone(), bias, False)[1:], (x + bias)[1:])
    found = k.add_bias(x.clone(), bias, True)
    assert torch.equal(found[1:], (x + bias).relu()[1:]) and found[0, 0].isnan()
    x[0, 0] = 1.0
    target = torch.full(shape[1:], 7.0, device='cuda')
    torch.testing.assert_close(k.column_sums(x), x.sum(0), rtol=1e-4, atol=1e-4)
    assert k.column_sums(x, out=target) is target
    torch.testing.assert_close(target, x.sum(0), rtol=1e-4, atol=1e-4)
    y = y.relu()
    masked, total = k.relu_back(x, y, out=target)
    expected = torch.where(y > 0, x, 0.0)
    assert total is target and torch.equal(masked, expected)
    torch.testing.assert_close(total, expected.sum(0), rtol=1e-4, atol=1e-4)


def test_tensors_are_fetched_from_where_they_are_told_to_be():
    k = kernels()
    targets = [torch.empty(s, device='cuda', dtype=d) for s, d in (((1000, 3), torch.float32), ((5,), torch.int64),
                                                                   ((1,), torch.int32))]
    fetcher = k.Fetcher(targets)
    fetcher.tell(targets)
    fetcher.run()
    torch.cuda.synchronize()
    graph, kept = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        fetcher.run()
        sums = torch.stack([t.sum().double() for t in targets])
    expected, found = [], []
    for number in range(3 * fetcher.ROWS // 2 + 7):         # further than the table reaches
        given = [torch.full_like(t, number % 100 + i) for i, t in enumerate(targets)]
        if number % 200 < 3:
            kept.append(given)
        expected.append(sum(g.numel() * float(10 ** i) * (number % 100 + i) for i, g in enumerate(given)))
        fetcher.tell(given)
        del given
        graph.replay()
        found.append(sums * torch.tensor([1.0, 10.0, 100.0], device='cuda').double())
    numpy.testing.assert_allclose(torch.stack(found).sum(1).cpu().numpy(), expected)
