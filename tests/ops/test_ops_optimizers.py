"""Optimizer updates: against formulas in NumPy, one against many, states, skipping, errors."""
import numpy as np
import pytest
import torch
from ops_checks import on_meta, traced

import mxnet as mx
from mxnet._ops import TABLE

nd = mx.nd


def values(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape)


def run(name, *inputs, **attributes):
    """The operator on float64 tensors; inputs must stay as they are, and tracing must change nothing."""
    op = TABLE[name]
    inputs = [x if isinstance(x, torch.Tensor) else torch.as_tensor(x) for x in inputs]
    before = [x.clone() for x in inputs]

    def function(*tensors):
        result = op.function(*tensors, **op.parse(attributes))
        return result if type(result) is tuple else (result,)

    results = function(*inputs)
    assert all(torch.equal(x, y) for x, y in zip(inputs, before, strict=True)), 'an input was changed'
    for result, shadow in zip(results, on_meta(function, inputs), strict=True):
        assert (shadow.shape, shadow.dtype) == (result.shape, result.dtype)
    for result, again in zip(results, traced(function, *inputs)(*inputs), strict=True):
        assert torch.equal(result, again)
    return [r.numpy() if r.dtype is not torch.bfloat16 else r for r in results]


def cut(x, bound):
    return np.clip(x, -bound, bound) if bound >= 0 else x


COMMON = [{'wd': 0.0, 'rescale_grad': 1.0, 'clip_gradient': -1.0},
          {'wd': 0.1, 'rescale_grad': 0.5, 'clip_gradient': 0.3}]


# ---------------------------------------------------------------------- formulas, written out once more
def sgd(w, g, *, lr, wd, rescale_grad, clip_gradient):
    return [w - lr * (cut(rescale_grad * g, clip_gradient) + wd * w)]


def sgd_mom(w, g, m, *, lr, momentum, wd, rescale_grad, clip_gradient):
    m = momentum * m - lr * (cut(rescale_grad * g, clip_gradient) + wd * w)
    return [w + m, m]


def nag_mom(w, g, m, *, lr, momentum, wd, rescale_grad, clip_gradient):
    g, m = cut(rescale_grad * g, clip_gradient), momentum * m
    new = w - m + (1 + momentum) * (m - lr * (g + wd * w))
    return [new, m - lr * (g + wd * new)]


def signsgd(w, g, *, lr, wd, rescale_grad, clip_gradient):
    return [(1 - lr * wd) * w - lr * np.sign(g)]


def signum(w, g, m, *, lr, momentum, wd, rescale_grad, clip_gradient, wd_lh):
    m = momentum * m - (1 - momentum) * (wd * w + cut(rescale_grad * g, clip_gradient))
    return [(1 - lr * wd_lh) * w + lr * np.sign(m), m]


def adam(w, g, m, v, *, lr, beta1, beta2, epsilon, wd, rescale_grad, clip_gradient):
    g = cut(rescale_grad * g + wd * w, clip_gradient)
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    return [w - lr * m / (np.sqrt(v) + epsilon), m, v]


def rmsprop(w, g, n, *, lr, gamma1, epsilon, wd, rescale_grad, clip_gradient, clip_weights):
    g = cut(rescale_grad * g + wd * w, clip_gradient)
    n = gamma1 * n + (1 - gamma1) * g * g
    return [cut(w - lr * g / np.sqrt(n + epsilon), clip_weights), n]


def rmspropalex(w, g, n, a, d, *, lr, gamma1, gamma2, epsilon, wd, rescale_grad, clip_gradient, clip_weights):
    g = cut(rescale_grad * g + wd * w, clip_gradient)
    n, a = gamma1 * n + (1 - gamma1) * g * g, gamma1 * a + (1 - gamma1) * g
    d = gamma2 * d - lr * g / np.sqrt(n - a * a + epsilon)
    return [cut(w + d, clip_weights), n, a, d]


def ftrl(w, g, z, n, *, lr, lamda1, beta, wd, rescale_grad, clip_gradient):
    g = cut(rescale_grad * g, clip_gradient)
    z = z + g - (np.sqrt(n + g * g) - np.sqrt(n)) * w / lr
    n = n + g * g
    return [np.where(abs(z) > lamda1, (np.sign(z) * lamda1 - z) / ((beta + np.sqrt(n)) / lr + wd), 0), z, n]


RULES = [
    ('sgd_update', sgd, 0, {}), ('sgd_mom_update', sgd_mom, 1, {'momentum': 0.9}),
    ('nag_mom_update', nag_mom, 1, {'momentum': 0.9}), ('signsgd_update', signsgd, 0, {}),
    ('signum_update', signum, 1, {'momentum': 0.9, 'wd_lh': 0.2}),
    ('adam_update', adam, 2, {'beta1': 0.9, 'beta2': 0.99, 'epsilon': 1e-3}),
    ('rmsprop_update', rmsprop, 1, {'gamma1': 0.9, 'epsilon': 1e-3, 'clip_weights': 0.4}),
    ('rmspropalex_update', rmspropalex, 3, {'gamma1': 0.9, 'gamma2': 0.8, 'epsilon': 1e-1, 'clip_weights': -1.0}),
    ('ftrl_update', ftrl, 2, {'lamda1': 0.5, 'beta': 1.0}),
]


@pytest.mark.parametrize('common', COMMON, ids=['plain', 'all'])
@pytest.mark.parametrize(('name', 'rule', 'states', 'own'), RULES, ids=[r[0] for r in RULES])
def test_rule(name, rule, states, own, common):
    w, g = values(3, 4), values(3, 4, seed=1)
    held = [abs(values(3, 4, seed=2 + i)) * (0.1 if name == 'rmspropalex_update' and i else 1) for i in range(states)]
    attributes = dict(lr=0.05, **own, **common)
    for got, wanted in zip(run(name, w, g, *held, **attributes), rule(w, g, *held, **attributes), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-12)


def test_ftml_starts_at_the_first_gradient_step():
    # with no history, d = (1 - beta1) / lr * (|g| + eps) and w = w - lr * g / (|g| + eps)
    w, g, zero = values(5), values(5, seed=1), np.zeros(5)
    new, d, v, z = run('ftml_update', w, g, zero, zero, zero, lr=0.1, beta1=0.6, beta2=0.9, epsilon=1e-3, t=1)
    np.testing.assert_allclose(new, w - 0.1 * g / (abs(g) + 1e-3), rtol=1e-11)
    np.testing.assert_allclose(d, 0.4 / 0.1 * (abs(g) + 1e-3), rtol=1e-11)
    np.testing.assert_allclose(v, 0.1 * g * g, rtol=1e-11)
    np.testing.assert_allclose(z, -new * d, rtol=1e-11)


# ---------------------------------------------------------------------- low precision with float32 copies
@pytest.mark.parametrize('dtype', [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(('name', 'states'), [('sgd_update', 0), ('sgd_mom_update', 1), ('nag_mom_update', 1)])
def test_mixed_precision_computes_on_the_copy(name, states, dtype):
    w32 = torch.from_numpy(values(3, 4)).float()
    w, g = w32.to(dtype), torch.from_numpy(values(3, 4, seed=1)).to(dtype)
    held = [torch.from_numpy(values(3, 4, seed=2)).float()] * states
    attributes = {'lr': 0.05, 'wd': 0.1, 'rescale_grad': 0.5, 'clip_gradient': 0.3}
    attributes |= {'momentum': 0.9} if states else {}
    op, mixed = TABLE[name], TABLE[f'mp_{name}']
    plain = op.function(w32, g.float(), *held, **attributes)
    plain = plain if isinstance(plain, tuple) else (plain,)
    low, *rest = mixed.function(w, g, *held, w32, **attributes)
    assert low.dtype is dtype and torch.equal(low, plain[0].to(dtype))
    assert all(torch.equal(a, b) for a, b in zip(rest, (*plain[1:], plain[0]), strict=True))


# ---------------------------------------------------------------------- AdamW and LAMB
def adamw(w, g, m, v, scale, *, lr, beta1, beta2, epsilon, wd, eta, clip_gradient):
    g = cut(scale * g, clip_gradient)
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    return [w - eta * (lr * m / (np.sqrt(v) + epsilon) + wd * w), m, v]


ADAMW = {'lr': 0.1, 'beta1': 0.9, 'beta2': 0.99, 'epsilon': 1e-3, 'wd': 0.01, 'eta': 0.5, 'clip_gradient': 0.4}


def test_adamw():
    arrays = [values(3, 4), values(3, 4, seed=1), values(3, 4, seed=2), abs(values(3, 4, seed=3))]
    got = run('_adamw_update', *arrays, np.array([0.5]), **ADAMW)
    for a, b in zip(got, adamw(*arrays, 0.5, **ADAMW), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11)


@pytest.mark.parametrize('scale', [0.0, np.inf, -np.inf, np.nan])
def test_adamw_skips_steps_that_overflowed(scale):
    w, g, m, v = (nd.array(abs(values(4, seed=i))) for i in range(4))
    before = [x.asnumpy() for x in (w, m, v)]
    g[:] = np.inf
    mx.nd._internal._adamw_update(w, g, m, v, nd.array([scale]), lr=0.1, eta=1.0, out=w)
    assert all(np.array_equal(x.asnumpy(), b) for x, b in zip((w, m, v), before, strict=True))


def test_lamb_is_adams_direction_with_the_weights_length():
    w, g, zero = values(6), values(6, seed=1), np.zeros(6)
    direction, m, v = run('lamb_update_phase1', w, g, zero, zero, t=1, wd=0.0, epsilon=0.0)
    np.testing.assert_allclose(direction, np.sign(g), rtol=1e-9)       # the bias correction undoes the averages
    r1, r2 = np.linalg.norm(w), np.linalg.norm(direction)
    new, = run('lamb_update_phase2', w, direction, np.array([r1]), np.array([r2]), lr=0.1)
    np.testing.assert_allclose(new, w - 0.1 * r1 / r2 * direction, rtol=1e-11)
    both = run('_multi_lamb_update', w, g, zero, zero, learning_rates=(0.1,), wds=(0.0,), step_count=(1,), epsilon=0.0)
    for a, b in zip(both, (new, m, v), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize(('r1', 'r2', 'bounds', 'ratio'), [
    (0.0, 2.0, {}, 1.0), (2.0, 0.0, {}, 1.0), (3.0, 2.0, {}, 1.5), (3.0, 2.0, {'upper_bound': 1.0}, 0.5),
    (0.5, 2.0, {'lower_bound': 4.0}, 2.0)])
def test_lamb_trust_ratio(r1, r2, bounds, ratio):
    w, g = values(3), values(3, seed=1)
    new, = run('lamb_update_phase2', w, g, np.array([r1]), np.array([r2]), lr=0.1, **bounds)
    np.testing.assert_allclose(new, w - 0.1 * ratio * g, rtol=1e-12)


# ---------------------------------------------------------------------- many weights in one call
SHAPES = [(3, 4), (5,), (2, 1, 3)]


def columns(count, dtype='float32'):
    return [[values(*s, seed=7 * i + j).astype(dtype) for j, s in enumerate(SHAPES)] for i in range(count)]


def rows(*parts):
    return [x for row in zip(*parts, strict=True) for x in row]


@pytest.mark.parametrize('common', [{}, {'rescale_grad': 0.5, 'clip_gradient': 0.3}], ids=['plain', 'all'])
@pytest.mark.parametrize(('single', 'states', 'mixed'), [
    ('sgd_update', 0, False), ('sgd_mom_update', 1, False), ('mp_sgd_update', 0, True), ('mp_sgd_mom_update', 1, True)])
def test_many_are_as_one_by_one(single, states, mixed, common):
    weights, grads, *held = columns(2 + states)
    lrs, wds = (0.1, 0.2, 0.05), (0.0, 0.1, 0.01)
    own = {'momentum': 0.9} if states else {}
    if mixed:
        held = [*held, weights]
        weights, grads = [[x.astype('float16') for x in part] for part in (weights, grads)]
    wanted = []
    for *arrays, lr, wd in zip(weights, grads, *held, lrs, wds, strict=True):
        wanted.append(run(single, *arrays, lr=lr, wd=wd, **own, **common))
    n = len(SHAPES)
    many = single.replace('sgd', 'multi_sgd') if not mixed else 'multi_' + single
    got = run(many, *rows(weights, grads, *held), lrs=lrs, wds=wds, num_weights=n, **own, **common)
    loaded = run(f'preloaded_{many}', *rows(weights, grads, *held), np.float32(lrs), np.float32(wds), num_weights=n,
                 **own, **common)
    flat = [w[0] for w in wanted] + [s for w in wanted for s in w[1:]]
    for a, b, c in zip(got, loaded, flat, strict=True):
        assert a.dtype == b.dtype == c.dtype
        np.testing.assert_allclose(a, c, rtol=1e-3 if mixed else 1e-5, atol=1e-6)
        np.testing.assert_allclose(b, c, rtol=1e-3 if mixed else 1e-5, atol=1e-6)


@pytest.mark.parametrize('mixed', [False, True])
def test_many_adamw_are_as_one_by_one(mixed):
    weights, grads, means, variances = columns(4)
    variances = [abs(v) for v in variances]
    held = [means, variances]
    if mixed:
        held.append(weights)
        weights, grads = [[x.astype('float16') for x in part] for part in (weights, grads)]
    scale = np.float32([0.5])
    lrs, wds, etas = (0.1, 0.2, 0.05), (0.0, 0.1, 0.01), (1.0, 0.5, 2.0)
    name = '_mp_adamw_update' if mixed else '_adamw_update'
    wanted = [run(name, *arrays, scale, lr=lr, wd=wd, eta=eta)
              for *arrays, lr, wd, eta in zip(weights, grads, *held, lrs, wds, etas, strict=True)]
    got = run(name.replace('_', '_multi_', 1), *rows(weights, grads, *held), scale, lrs=lrs, wds=wds, etas=etas,
              num_weights=len(SHAPES))
    flat = [w[0] for w in wanted] + [s for w in wanted for s in w[1:]]
    assert all(np.array_equal(a, b) for a, b in zip(got, flat, strict=True))


def test_counts_that_do_not_fit_are_refused():
    w = [nd.ones((2,)) for _ in range(4)]
    with pytest.raises(mx.MXNetError, match='num_weights=1 needs 2 arrays.*4 were given'):
        nd.multi_sgd_update(*w, lrs=(0.1, 0.1), wds=(0, 0))
    with pytest.raises(mx.MXNetError, match='lrs has 1 values, but num_weights is 2'):
        nd.multi_sgd_update(*w, lrs=(0.1,), wds=(0, 0), num_weights=2)
    with pytest.raises(mx.MXNetError, match='and 2 at the end'):
        nd.preloaded_multi_sgd_update(*w, num_weights=2)


# ---------------------------------------------------------------------- on arrays
def test_states_change_in_place_and_the_weight_only_as_out():
    w, g, m = nd.ones((3,)), nd.ones((3,)), nd.zeros((3,))
    new = nd.sgd_mom_update(w, g, m, lr=0.1, momentum=0.9)
    np.testing.assert_allclose([w.asnumpy(), m.asnumpy(), new.asnumpy()], [[1] * 3, [-0.1] * 3, [0.9] * 3], rtol=1e-6)
    assert nd.sgd_mom_update(w, g, m, lr=0.1, momentum=0.9, out=w) is w
    np.testing.assert_allclose([w.asnumpy(), m.asnumpy()], [[0.81] * 3, [-0.19] * 3], rtol=1e-6)


def test_many_on_arrays_write_weights_and_states():
    w, g, m = ([nd.ones((n,)) for n in (2, 3)] for _ in range(3))
    nd.multi_sgd_mom_update(*rows(w, g, m), lrs=(0.1, 0.2), wds=(0, 0), momentum=0.5, num_weights=2, out=w)
    np.testing.assert_allclose(m[1].asnumpy(), [0.3] * 3, rtol=1e-6)
    np.testing.assert_allclose(w[0].asnumpy(), [1.4] * 2, rtol=1e-6)


def test_mixed_dtypes_are_refused():
    with pytest.raises(mx.MXNetError, match='same dtype'):
        nd.sgd_update(nd.ones((2,)), nd.ones((2,), dtype='float16'), lr=0.1)


def test_contrib_helpers_put_arrays_together():
    from mxnet.ndarray import _contrib_optimizers as helpers
    w, g, m, v = ([nd.array(abs(values(n, seed=n + i))) for n in (2, 3)] for i in range(4))
    one = [x.copy() for x in (w[1], g[1], m[1], v[1])]
    out = [nd.zeros((n,)) for n in (2, 3)]
    helpers.multi_adamw_update(w, g, m, v, 0.5, lrs=(0.1, 0.2), wds=(0, 0.1), etas=(1, 1), out=out)
    new = helpers.adamw_update(*one, rescale_grad=nd.array([0.5]), lr=0.2, eta=1, wd=0.1)
    assert np.array_equal(out[1].asnumpy(), new.asnumpy()) and np.array_equal(m[1].asnumpy(), one[2].asnumpy())
    helpers.multi_lamb_update(w, g, m, v, step_count=(1, 2), lrs=(0.1, 0.1), wds=(0, 0), out=w)
    with pytest.raises(TypeError, match='rescale_grad'):
        helpers.adamw_update(*one, rescale_grad='x', lr=0.1, eta=1)
