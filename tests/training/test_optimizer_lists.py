"""Updates of lists of tensors: fused kernels and their rules, small and large tensors, what autograd sees."""
import gc

import numpy as np
import optimizer_formulas as formulas
import pytest
import torch

import mxnet as mx
from mxnet._ops.optim.adaptive import adam_update
from mxnet._ops.optim.sgd import nag_mom_update, sgd_mom_update, sgd_update
from mxnet.optimizer import _lists
from mxnet.optimizer._bound_update import descend, descent_of
from mxnet.optimizer.contrib import adamw

SHAPES = [(3, 4), (37,), (), (1,), (8, 16), (0, 3)]


def tensors(seed=0, positive=False):
    draw = torch.Generator().manual_seed(seed)
    made = [torch.randn(shape, generator=draw) for shape in SHAPES]
    return [t.abs() for t in made] if positive else made


def assert_close(got, want, rtol=2e-6, atol=1e-7):
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b, rtol=rtol, atol=atol)


# ---------------------------------------------------------------------- fused kernels
NUMBERS = [{'lr': 0.1, 'wd': 0.0, 'rescale_grad': 1.0, 'clip_gradient': -1.0},
           {'lr': 0.03, 'wd': 0.2, 'rescale_grad': 1 / 64, 'clip_gradient': -1.0},
           {'lr': 0.03, 'wd': 0.2, 'rescale_grad': 0.5, 'clip_gradient': 0.1},
           {'lr': 0.0, 'wd': 0.2, 'rescale_grad': 0.5, 'clip_gradient': -1.0},
           {'lr': 0.1, 'wd': 0.2, 'rescale_grad': 0.0, 'clip_gradient': -1.0},
           {'lr': -0.1, 'wd': 0.2, 'rescale_grad': 2.0, 'clip_gradient': -1.0},
           {'lr': 1e-12, 'wd': 0.2, 'rescale_grad': 0.5, 'clip_gradient': -1.0},
           {'lr': 0.5, 'wd': 0.0, 'rescale_grad': 1e-12, 'clip_gradient': -1.0}]


@pytest.mark.parametrize('numbers', NUMBERS)
def test_descend(numbers):
    weights, grads = tensors(0), tensors(1)
    want = [sgd_update(w, g, **numbers) for w, g in zip(weights, grads)]
    descend(weights, grads, [], momentum=0.0, **numbers)
    assert_close(weights, want)
    assert_close(grads, tensors(1), 0, 0)


@pytest.mark.parametrize('numbers', NUMBERS)
@pytest.mark.parametrize('momentum', [0.9, 0.5])
@pytest.mark.parametrize('scale', [1.0, 1e-12])
def test_descend_with_momentum(numbers, momentum, scale):
    """A tiny momentum shows what tiny steps do to it; beside a large one they would not be seen."""
    weights, grads, moms = tensors(0), tensors(1), [t * scale for t in tensors(2)]
    want, new = zip(*[sgd_mom_update(w, g, m, momentum=momentum, **numbers)
                      for w, g, m in zip(weights, grads, moms)])
    descend(weights, grads, moms, momentum=momentum, **numbers)
    assert_close(weights, want)
    assert_close(moms, new, atol=1e-7 * scale)
    assert_close(grads, tensors(1), 0, 0)


@pytest.mark.parametrize('numbers', NUMBERS)
def test_nesterov(numbers):
    weights, grads, moms = (tensors(seed) for seed in range(3))
    want, new = zip(*[nag_mom_update(w, g, m, momentum=0.7, **numbers) for w, g, m in zip(weights, grads, moms)])
    _lists.nesterov(weights, grads, moms, momentum=0.7, **numbers)
    assert_close(weights, want)
    assert_close(moms, new)
    assert_close(grads, tensors(1), 0, 0)


@pytest.mark.parametrize('wd', [0.0, 0.1])
def test_adam(wd):
    weights, grads, means, variances = tensors(0), tensors(1), tensors(2), tensors(3, positive=True)
    numbers = {'lr': 0.01, 'beta1': 0.8, 'beta2': 0.9, 'epsilon': 1e-3, 'wd': wd}
    want = zip(*[adam_update(*row, **numbers) for row in zip(weights, grads, means, variances)])
    _lists.adam(weights, grads, means, variances, **numbers)
    for got, expected in zip((weights, means, variances), want):
        assert_close(got, expected)


@pytest.mark.parametrize('decay', [0.0, 0.02])
def test_adamw(decay):
    weights, grads, means, variances = tensors(0), tensors(1), tensors(2), tensors(3, positive=True)
    numbers = {'lr': 0.01, 'beta1': 0.8, 'beta2': 0.9, 'epsilon': 1e-3}
    want = zip(*[adamw(*row, decay=decay, rescale_grad=1.0, clip_gradient=-1.0, **numbers)
                 for row in zip(weights, grads, means, variances)])
    _lists.adam(weights, grads, means, variances, wd=decay / 0.01, decoupled=True, **numbers)
    for got, expected in zip((weights, means, variances), want):
        assert_close(got, expected)


@pytest.mark.parametrize('name, options', [('sgd', {}), ('sgd', {'momentum': 0.9}), ('adam', {}), ('adamw', {}),
                                           ('nag', {'momentum': 0.9})])
def test_without_fused_kernels(name, options, monkeypatch):
    """A torch that lacks them, or a device that they do not know, gives the same."""
    def run():
        updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1, wd=0.1, **options))
        weights = [mx.nd.array(np.arange(n) + 1.0) for n in (3, 5000, 4)]
        for step in range(3):
            updater([0, 1, 2], [w * 0.1 + step for w in weights], weights)
        return [w.asnumpy() for w in weights]
    fused = run()
    monkeypatch.setattr(_lists, '_HAS_FUSED', False)
    assert not _lists.fusible(torch.ones(1))
    for a, b in zip(fused, run()):
        np.testing.assert_allclose(a, b, 2e-6)


def test_only_float32_is_fused():
    """torch 2.13's kernel for the CPU gives wrong results for half precision; here they are right."""
    assert _lists.fusible(torch.ones(1))
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        assert not _lists.fusible(torch.ones(1, dtype=dtype))
    w, g = np.linspace(-1, 1, 64), np.linspace(0, 1, 64)
    for dtype in ('float16', 'bfloat16'):
        weight = mx.nd.array(w).astype(dtype)
        mx.optimizer.SGD(learning_rate=0.5, wd=0.1).update(0, weight, mx.nd.array(g).astype(dtype), None)
        want = formulas.sgd(w, [g], learning_rate=0.5, wd=0.1)
        np.testing.assert_allclose(weight.astype('float32').asnumpy(), want, atol=1e-2)


# ---------------------------------------------------------------------- any rule
def nag(columns):
    numbers = {'lr': 0.1, 'momentum': 0.9, 'wd': 0.1, 'rescale_grad': 0.5, 'clip_gradient': 0.4}
    rows = [nag_mom_update(*row, **numbers) for row in zip(*columns)]
    return numbers, [list(column) for column in zip(*rows)]


def test_small_tensors_are_joined():
    columns = [tensors(seed) for seed in range(3)]
    numbers, want = nag(columns)
    calls = []

    def rule(*row, **options):
        calls.append(row[0].shape)
        return nag_mom_update(*row, **options)
    _lists.apply(rule, numbers, columns)
    assert calls == [(sum(int(np.prod(s)) for s in SHAPES),)]
    assert_close(columns[0], want[0])
    assert_close(columns[2], want[1])


def test_large_tensors_go_piece_by_piece(monkeypatch):
    monkeypatch.setattr(_lists, '_PIECE', 10)
    monkeypatch.setattr(_lists, '_SMALL', {'cpu': 4})
    columns = [tensors(seed) for seed in range(3)]
    numbers, want = nag(columns)
    lengths = []

    def rule(*row, **options):
        lengths.append(row[0].numel())
        return nag_mom_update(*row, **options)
    threads = torch.get_num_threads()
    _lists.apply(rule, numbers, columns)
    assert max(lengths) <= max(10 * threads, 20)
    assert_close(columns[0], want[0])
    assert_close(columns[2], want[1])


def test_pieces():
    sizes = [50_000, 64, 4096, 2048, 1]
    columns = [[torch.arange(n, dtype=torch.float32) for n in sizes] for _ in range(2)]
    cut = _lists.pieces(*columns, [])
    assert [[p.numel() for p in column] for column in cut[:2]] == [[2048] * 24 + [848, 64, 2048, 2048, 2048, 1]] * 2
    assert cut[2] == []
    cut[0][1].zero_()
    assert columns[0][0][2048:4096].eq(0).all() and columns[0][0][4096] == 4096
    large = [torch.empty(1 << 21)]
    assert _lists.pieces(large)[0] is large
    turned = [torch.empty(128, 64).t()]
    assert _lists.pieces(turned)[0] is turned


@pytest.mark.gpu
@pytest.mark.parametrize('momentum', [0.0, 0.9])
@pytest.mark.parametrize('numbers', NUMBERS)
def test_recorded_updates_are_the_same(numbers, momentum):
    def update(steps):
        draw = torch.Generator('cuda').manual_seed(0)
        sizes = [(64, 784), (64,), (300, 300), (10,)]
        weights, grads = ([torch.randn(s, device='cuda', generator=draw) for s in sizes] for _ in range(2))
        moms = [torch.zeros_like(w) for w in weights] if momentum else []
        step = descent_of(weights, moms, momentum=momentum, **numbers)
        steps(lambda: step(grads))
        return weights + moms

    def recorded(step):
        graph = torch.cuda.CUDAGraph()
        gc.disable()            # graphs of earlier tests that are collected now would abort the capture
        try:
            with torch.cuda.graph(graph):
                step()
        finally:
            gc.enable()
        for _ in range(3):
            graph.replay()

    for a, b in zip(update(lambda step: [step() for _ in range(3)]), update(recorded), strict=True):
        assert torch.equal(a, b)


def test_rules_that_are_not_elementwise_get_one_weight_at_a_time():
    shapes = []

    def rule(weight, grad, **numbers):
        shapes.append(weight.shape)
        return (weight - grad,)
    weights = [torch.ones(2), torch.ones(3)]
    _lists.apply(rule, {}, [weights, weights], elementwise=False)
    assert shapes == [(2,), (3,)]
    assert not any(w.any() for w in weights)


@pytest.mark.parametrize('piecewise', [False, True])
def test_absent_states(piecewise, monkeypatch):
    if piecewise:
        monkeypatch.setattr(_lists, '_PIECE', 1)
        monkeypatch.setattr(_lists, '_SMALL', {})

    def rule(weight, grad, absent, kept):
        assert absent is None
        return weight - grad, None, kept + grad
    weights, kept = [torch.ones(3), torch.ones(4)], [torch.zeros(3), torch.zeros(4)]
    _lists.apply(rule, {}, [weights, [torch.ones(3), torch.ones(4)], [None, None], kept])
    assert not any(w.any() for w in weights) and all(k.all() for k in kept)


def test_alike():
    a, b = [torch.ones(2), torch.ones(3)], [torch.zeros(2), torch.zeros(3)]
    assert _lists.alike(a, b) and _lists.alike(a)
    assert not _lists.alike(a, b[:1])
    assert not _lists.alike(a, b[::-1])
    assert not _lists.alike(a, [torch.ones(2), torch.ones(3, dtype=torch.float64)])
    assert not _lists.alike(a, [t.to('meta') for t in b] if torch.ones(1, device='meta').get_device() != -1
                            else [torch.ones(2), torch.ones(4)])


# ---------------------------------------------------------------------- autograd
@pytest.mark.parametrize('name, options', [('sgd', {}), ('sgd', {'momentum': 0.9}), ('adam', {}), ('adamw', {}),
                                           ('nag', {'momentum': 0.9}), ('ftml', {}), ('lamb', {}), ('lars', {})])
@pytest.mark.parametrize('count', [1, 3])
def test_a_write_between_forward_and_backward_is_found(name, options, count):
    """Kernels that torch does not count as writes would give wrong gradients in silence."""
    weights = [mx.nd.array([1.0, 2.0]) for _ in range(count)]
    for w in weights:
        w.attach_grad()
    with mx.autograd.record():
        losses = [(w * w * w).sum() for w in weights]
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, **options))
    updater(list(range(count)), [mx.nd.ones((2,)) for _ in weights], weights)
    for loss in losses:
        with pytest.raises(mx.MXNetError, match='written in place'):
            loss.backward()


@pytest.mark.parametrize('name', ['sgd', 'adam', 'nag', 'lars', 'test'])
def test_update_while_recording_is_refused(name):
    w = mx.nd.ones((2,))
    w.attach_grad()
    updater = mx.optimizer.get_updater(mx.optimizer.create(name))
    with mx.autograd.record(), pytest.raises(mx.MXNetError, match='recording'):
        updater(0, mx.nd.ones((2,)), w)
    assert (w.asnumpy() == 1).all()


def test_training_goes_on_through_autograd():
    """The leaf that autograd reads and the weight are the same memory before and after updates."""
    w = mx.nd.array([4.0])
    w.attach_grad()
    alias = w.detach()
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.25, momentum=0.5))
    seen = []
    for _ in range(3):
        with mx.autograd.record():
            loss = w * w
        loss.backward()
        updater([0], [w.grad], [w])
        seen.append(w.asscalar())
    assert seen == [2.0, 0.0, -1.0] and alias.asscalar() == -1.0


def test_arrays_with_a_history():
    """What was computed while recording can be a gradient or a weight outside of it."""
    x = mx.nd.array([1.0, 2.0])
    x.attach_grad()
    with mx.autograd.record():
        weight, grad = x * 3, x * 2
    mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.5))([0], [grad], [weight])
    assert weight.asnumpy().tolist() == [2.0, 4.0]


def test_torch_grad_mode_does_not_matter():
    for mode in (torch.no_grad(), torch.enable_grad(), torch.inference_mode()):
        w = mx.nd.array([1.0, 2.0])
        with mode:
            mx.optimizer.get_updater(mx.optimizer.Adam())([0], [mx.nd.ones((2,))], [w])
        assert not w.materialize().requires_grad


# ---------------------------------------------------------------------- on a GPU
@pytest.mark.gpu
@pytest.mark.parametrize('name', ['sgd', 'nag', 'adam', 'adamw', 'lamb', 'lars', 'rmsprop', 'ftml', 'nadam', 'dcasgd'])
def test_gpu_as_cpu(name):
    def run(ctx):
        options = {'momentum': 0.9} if name in ('sgd', 'nag', 'lars', 'dcasgd') else {}
        updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1, wd=0.1, **options))
        draw = np.random.default_rng(0).normal
        weights = [mx.nd.array(draw(size=shape), ctx=ctx) for shape in ((3, 4), (50,), (300, 500))]
        for _ in range(4):
            grads = [mx.nd.array(draw(size=w.shape), ctx=ctx) for w in weights]
            updater([0, 1, 2], grads, weights)
        again = mx.optimizer.get_updater(mx.optimizer.create(name))
        again.set_states(updater.get_states(dump_optimizer=True))
        again([0, 1, 2], grads, weights)
        return [w.asnumpy() for w in weights]
    for a, b in zip(run(mx.gpu()), run(mx.cpu())):
        np.testing.assert_allclose(a, b, 1e-4, 1e-5)
