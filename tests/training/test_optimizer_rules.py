"""What each optimizer computes: by its formula, for one weight and for many, dense and sparse, in all precisions."""
import math
import warnings

import numpy as np
import optimizer_formulas as formulas
import pytest

import mxnet as mx

COMMON = [{}, {'rescale_grad': 0.25, 'wd': 0.03}, {'clip_gradient': 0.4, 'learning_rate': 0.05},
          {'rescale_grad': 0.5, 'clip_gradient': 0.3, 'wd': 0.01, 'learning_rate': 0.2}]
OWN = {
    'sgd': [{}, {'momentum': 0.9}],
    'ccsgd': [{'momentum': 0.5}],
    'nag': [{}, {'momentum': 0.9}],
    'signum': [{}, {'momentum': 0.0}, {'wd_lh': 0.1}],
    'dcasgd': [{}, {'momentum': 0.9, 'lamda': 0.4}],
    'adam': [{}, {'beta1': 0.7, 'beta2': 0.95, 'epsilon': 1e-3}],
    'adamw': [{}, {'correct_bias': False}],
    'adamax': [{}, {'beta1': 0.7, 'beta2': 0.9}],
    'nadam': [{}, {'schedule_decay': 0.1}],
    'adabound': [{}, {'final_lr': 0.01, 'gamma': 0.5}],
    'amsbound': [{}, {'final_lr': 0.01, 'gamma': 0.5, 'beta2': 0.5}],
    'adagrad': [{}, {'eps': 0.1}],
    'rmsprop': [{}, {'gamma1': 0.7}, {'centered': True, 'gamma2': 0.5}, {'clip_weights': 0.5}],
    'adadelta': [{}, {'rho': 0.7, 'epsilon': 1e-3}],
    'ftrl': [{}, {'lamda1': 0.5, 'beta': 0.3}],
    'ftml': [{}, {'beta1': 0.3, 'beta2': 0.9}],
    'lamb': [{}, {'bias_correction': False}, {'lower_bound': 3.0}, {'upper_bound': 0.5}],
    'lars': [{}, {'momentum': 0.9, 'eta': 0.1, 'eps': 1e-3}],
    'lbsgd': [{}, {'batch_scale': 2, 'momentum': 0.9}, {'batch_scale': 2, 'warmup_strategy': 'power2'},
              {'batch_scale': 2, 'warmup_strategy': 'sqrt', 'begin_epoch': 1},
              {'batch_scale': 2, 'warmup_epochs': 1, 'updates_per_epoch': 4}, {'warmup_strategy': 'lars'},
              {'batch_scale': 2, 'warmup_strategy': 'none'}],
}
CASES = [(name, {**common, **own}) for name, owns in OWN.items() for own in owns for common in COMMON]
NAMES = [*OWN, 'groupadagrad']
STEPS = 6


def formula(name):
    return getattr(formulas, 'sgd' if name == 'ccsgd' else name)


def data(shape=(3, 5), seed=0, steps=STEPS, dtype='float32'):
    draw = np.random.default_rng(seed).normal
    return draw(size=shape).astype(dtype), [draw(size=shape).astype(dtype) for _ in range(steps)]


def train(name, options, weight, grads):
    """The weight after all gradients have come by, each in the same array."""
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, **options))
    w, buffer = mx.nd.array(weight, dtype=weight.dtype), mx.nd.zeros(weight.shape, dtype=weight.dtype)
    memory = w.materialize().data_ptr()
    for g in grads:
        buffer[:] = mx.nd.array(g, dtype=g.dtype)
        updater(0, buffer, w)
        assert np.array_equal(buffer.asnumpy(), g), 'the gradient was changed'
    assert w.materialize().data_ptr() == memory
    return w.asnumpy()


def check(name, options, dtype='float32', rtol=2e-5, atol=2e-6):
    weight, grads = data(dtype=dtype)
    want = formula(name)(weight.astype('float64'), [g.astype('float64') for g in grads], **options)
    got = train(name, options, weight, grads)
    assert got.dtype == weight.dtype
    np.testing.assert_allclose(got, want, rtol, atol)


# ---------------------------------------------------------------------- formulas
@pytest.mark.parametrize('name, options', CASES, ids=lambda x: x if isinstance(x, str) else str(len(x)))
def test_formula(name, options):
    check(name, options)


@pytest.mark.parametrize('name', OWN)
def test_formula_in_float64(name):
    """No step of the computation falls back to float32."""
    check(name, {'learning_rate': 0.05, 'wd': 0.01, 'rescale_grad': 0.5}, 'float64',
          rtol=1e-6 if name in ('lars', 'lbsgd') else 1e-12, atol=1e-9 if name in ('lars', 'lbsgd') else 1e-14)


@pytest.mark.parametrize('options', [{}, {'rescale_grad': 0.5}, {'clip_gradient': 0.2, 'learning_rate': 0.3}])
def test_group_adagrad(options):
    check('groupadagrad', options)
    check('groupadagrad', options, 'float64', 1e-12, 1e-14)


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('dtype', ['float16', 'bfloat16'])
def test_multi_precision(name, dtype):
    """A weight of low precision follows its float32 copy, and is that copy, rounded."""
    options = {'learning_rate': 0.05}
    weight, grads = data()
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, multi_precision=True, **options))
    weight, grads = mx.nd.array(weight).astype(dtype), [mx.nd.array(g).astype(dtype) for g in grads]
    want = formula(name)(*[np.float64(weight.astype('float32').asnumpy()),
                           [np.float64(g.astype('float32').asnumpy()) for g in grads]], **options)
    for g in grads:
        updater([0], [g], [weight])
    state = updater.states[0]
    master = state[1] if name in ('sgd', 'ccsgd', 'nag', 'lars') else state[0]
    assert master.dtype == np.float32
    np.testing.assert_allclose(master.asnumpy(), want, 1e-4, 1e-5)
    assert (master.astype(dtype).astype('float32').asnumpy() == weight.astype('float32').asnumpy()).all()


@pytest.mark.parametrize('name', NAMES)
def test_low_precision_without_copy_warns_and_works(name):
    weight, grads = data(steps=2)
    w = mx.nd.array(weight).astype('float16')
    updater = mx.optimizer.get_updater(mx.optimizer.create(name))
    with pytest.warns(UserWarning, match='multi_precision=True'):
        updater(0, mx.nd.array(grads[0]).astype('float16'), w)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        updater(0, mx.nd.array(grads[1]).astype('float16'), w)
    np.testing.assert_allclose(w.asnumpy(), formula(name)(np.float64(weight), np.float64(grads)), 2e-2, 2e-2)


def test_sgld_samples_the_posterior():
    """With the gradient of x^2 / 2 the weights become standard normal."""
    mx.random.seed(3)
    sgld = mx.optimizer.SGLD(learning_rate=0.1)
    w = mx.nd.zeros((20000,))
    for _ in range(100):
        sgld.update(0, w, w.copy(), None)
    assert abs(w.asnumpy().mean()) < 0.03
    # the discretisation makes the variance 1 / (1 - lr / 4)
    assert abs(w.asnumpy().var() - 1 / (1 - 0.1 / 4)) < 0.05
    assert sgld.create_state(0, w) is None


def test_sgld_noise_and_drift():
    options = {'learning_rate': 0.3, 'wd': 0.1, 'rescale_grad': 0.5, 'clip_gradient': 0.2}
    weight, (grad,) = data(steps=1)
    mx.random.seed(5)
    got = train('sgld', options, weight, [grad])
    mx.random.seed(5)
    noise = mx.nd.random.normal(0, math.sqrt(0.3), shape=weight.shape).asnumpy()
    want = weight - 0.15 * ((0.5 * grad).clip(-0.2, 0.2) + 0.1 * weight) + noise
    np.testing.assert_allclose(got, want, 1e-5, 1e-6)


def test_adamax_leaves_weights_without_gradients():
    w = mx.nd.ones((2,))
    mx.optimizer.Adamax().update(0, w, mx.nd.array([0, 1]), (mx.nd.zeros((2,)), mx.nd.zeros((2,))))
    assert w.asnumpy()[0] == 1 and 0 < w.asnumpy()[1] < 1


def test_nadam_has_one_schedule_for_all_weights():
    nadam = mx.optimizer.Nadam()
    updater = mx.optimizer.get_updater(nadam)
    updater([0, 1], [mx.nd.ones((2,))] * 2, [mx.nd.ones((2,)), mx.nd.ones((2,))])
    now = 0.9 * (1 - 0.5 * 0.96 ** 0.004)
    assert nadam.m_schedule == pytest.approx(now ** 2)


@pytest.mark.parametrize('name', ['adabound', 'amsbound'])
def test_bounds_follow_the_learning_rate(name):
    """final_lr belongs to the first rate: half the rate, half the final one."""
    grads = [mx.nd.ones((1,))] * 2
    steps = []
    for rate in (1.0, 0.5):
        bound = mx.optimizer.create(name, learning_rate=1.0, final_lr=0.01, gamma=1e6)
        bound.set_learning_rate(rate)
        w = mx.nd.zeros((1,))
        mx.optimizer.get_updater(bound)(0, grads[0], w)
        steps.append(w.asscalar())
    assert steps[0] == pytest.approx(-0.01 * 0.1, rel=1e-4)
    assert steps[1] == pytest.approx(steps[0] / 2, rel=1e-4)
    scheduler = mx.lr_scheduler.FactorScheduler(1, base_lr=0.25)
    assert mx.optimizer.create(name, learning_rate=None, lr_scheduler=scheduler).base_lr == 0.25
    for wrong in ({'learning_rate': 0}, {'gamma': 0}):
        with pytest.raises(ValueError, match='gamma'):
            mx.optimizer.create(name, **wrong)


# ---------------------------------------------------------------------- many weights
SHAPES = [(3, 4), (5,), (70, 80), (1,), (2, 2, 2), (4, 3)]


def many(name, options, shapes, together):
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, **options))
    updater.aggregate_updates = together
    weights = [mx.nd.array(data(s, seed)[0]) for seed, s in enumerate(shapes)]
    for step in range(3):
        grads = [mx.nd.array(data(s, seed)[1][step]) for seed, s in enumerate(shapes)]
        updater(list(range(len(shapes))), grads, weights)
    return [w.asnumpy() for w in weights], updater


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('options', COMMON[::3])
def test_many_at_once_as_one_by_one(name, options):
    shapes = [s for s in SHAPES if len(s) == 2] if name == 'groupadagrad' else SHAPES
    options = {**options, 'param_idx2name': {0: 'a_weight', 1: 'a_bias', 2: 'b_weight', 3: 'b_gamma', 5: 'c_bias'}}
    if name == 'groupadagrad':
        options.pop('wd', None)
    (got, updater), (want, other) = (many(name, options, shapes, together) for together in (True, False))
    for a, b in zip(got, want):
        np.testing.assert_allclose(a, b, 1e-5, 1e-6)
    for i in range(len(shapes)):
        for a, b in zip(arrays(updater.states[i]), arrays(other.states[i]), strict=True):
            np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), 1e-5, 1e-6)


def arrays(state):
    if isinstance(state, tuple):
        return [a for part in state for a in arrays(part)]
    return [] if state is None else [state]


@pytest.mark.parametrize('name', ['sgd', 'adam', 'adamw', 'nag', 'lamb', 'lars'])
def test_multipliers_of_single_weights(name):
    """Weights with rates and decays of their own are updated by those, also in one call with others."""
    options = {'learning_rate': 0.1, 'wd': 0.2, **({'momentum': 0.9} if name in ('sgd', 'nag', 'lars') else {})}
    optimizer = mx.optimizer.create(name, **options)
    optimizer.set_lr_mult({0: 0.5, 2: 0.0})
    optimizer.set_wd_mult({1: 2.0, 2: 0.0})
    updater = mx.optimizer.get_updater(optimizer)
    weights, grads = zip(*[data(seed=seed) for seed in range(4)])
    arrays = [mx.nd.array(w) for w in weights]
    for step in range(STEPS):
        updater([0, 1, 2, 3], [mx.nd.array(g[step]) for g in grads], arrays)
    for i, (lr, wd) in enumerate([(0.05, 0.2), (0.1, 0.4), (0.0, 0.0), (0.1, 0.2)]):
        want = formula(name)(np.float64(weights[i]), np.float64(grads[i]), **{**options, 'learning_rate': lr, 'wd': wd})
        np.testing.assert_allclose(arrays[i].asnumpy(), want, 2e-5, 2e-6)


def test_lars_leaves_biases_alone():
    names = {0: 'fc_weight', 1: 'fc_bias', 2: 'bn_gamma', 3: 'bn_beta'}
    lars = mx.optimizer.LARS(learning_rate=1.0, wd=0.5, param_idx2name=names)
    assert lars.wd_mult == {'fc_bias': 0.0, 'bn_gamma': 0.0, 'bn_beta': 0.0}
    weights = [mx.nd.ones((4,)) for _ in names]
    mx.optimizer.get_updater(lars)(list(names), [mx.nd.full((4,), 0.25)] * 4, weights)
    scaled = 1 - 0.001 * 2 / (0.5 + 0.5 * 2) * (0.25 + 0.5)
    np.testing.assert_allclose([w.asnumpy()[0] for w in weights], [scaled, 0.75, 0.75, 0.75], 1e-6)


def test_lars_scales_the_momentum_along_with_the_rate():
    """Once for the step that changes the rate, for all weights, in however many calls."""
    def rate(count):
        return 0.1 if count < 3 else 0.2
    rate.base_lr = 0.1
    lars = mx.optimizer.LARS(momentum=0.5, lr_scheduler=rate, param_idx2name={0: 'a_bias', 1: 'b_bias'})
    weights, mom = [mx.nd.zeros((1,)) for _ in range(2)], 0.0
    states = [lars.create_state(i, w) for i, w in enumerate(weights)]
    for step in range(1, 5):
        for i in range(2):
            lars.update(i, weights[i], mx.nd.ones((1,)), states[i])
        mom = 0.5 * (2 if step == 3 else 1) * mom - rate(step)
        assert [s.asscalar() for s in states] == pytest.approx([mom, mom])
    lars = mx.optimizer.LARS(momentum=0.5, momentum_correction=False, lr_scheduler=rate)
    assert lars._current_momentum() == 0.5


def test_lbsgd_keeps_its_own_sum():
    """The gradient's memory is used again between the batches that are added up."""
    lbsgd = mx.optimizer.LBSGD(learning_rate=1.0, batch_scale=2, warmup_epochs=0)
    updater = mx.optimizer.get_updater(lbsgd)
    w, g = mx.nd.zeros((1,)), mx.nd.ones((1,))
    updater(0, g, w)
    assert w.asscalar() == 0
    g[:] = 3
    updater(0, g, w)
    assert w.asscalar() == -2 * (1 + 3) / 2
    with pytest.raises(mx.MXNetError, match='one weight at a time'):
        lbsgd.update([0], [w], [g], [None])


# ---------------------------------------------------------------------- sparse arrays
LAZY = {'sgd': {'momentum': 0.9}, 'adam': {}, 'adagrad': {}, 'groupadagrad': {}, 'ftrl': {}}
ROWS = [1, 3]


def sparse_data(steps=3):
    draw = np.random.default_rng(1).normal
    grads = []
    for _ in range(steps):
        g = np.zeros((5, 4), 'float32')
        g[ROWS] = draw(size=(2, 4))
        grads.append(g)
    return draw(size=(5, 4)).astype('float32'), grads


@pytest.mark.parametrize('name, weight_stype', [(name, stype) for name in LAZY for stype in ('default', 'row_sparse')
                                                # as upstream's: see test_other_rules_see_zeros
                                                if (name, stype) != ('ftrl', 'default')])
def test_lazy_rows_stay(name, weight_stype):
    options = {'learning_rate': 0.1, **({'wd': 0.1} if name in ('sgd', 'adam', 'ftrl') else {}), **LAZY[name]}
    weight, grads = sparse_data()
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, **options))
    w = mx.nd.array(weight).tostype(weight_stype)
    for g in grads:
        updater(0, mx.nd.array(g).tostype('row_sparse'), w)
    assert w.stype == weight_stype and arrays(updater.states[0])[0].stype == weight_stype
    want = weight.copy()
    want[ROWS] = formula(name)(np.float64(weight[ROWS]), [np.float64(g[ROWS]) for g in grads], **options)
    np.testing.assert_allclose(w.asnumpy(), want, 1e-5, 1e-6)


# two gradients for row 1, then one for row 2; of an optimizer that calls SGD's kernels, those of MXNet 1.9.1
ROWS_OF_1_9_1 = [
    ('nag', {'wd': .1}, [1, 1, .8806, 1.0298, .94, .98]),
    ('nag', {'wd': .1, 'momentum': .0, 'rescale_grad': .5}, [1, 1, .93035, 1.00498, .965, .985]),
    ('lars', {'wd': .1}, [1, 1, .9996, 1.0001, .9998, .9999]),
    ('lars', {'momentum': .9}, [1, 1, .9994, 1.0003, .9998, 1]),
    ('lars', {'momentum': .9, 'wd': .1}, [1, 1, .9995, 1.0001, .9998, .9999]),
    ('lbsgd', {}, [1, 1, .9, 1.05, .95, .99]),
    ('lbsgd', {'wd': .1}, [1, 1, .8806, 1.0298, .94, .98]),
    ('lbsgd', {'momentum': .9}, [1, 1, .855, 1.0725, .95, .99]),
    ('lbsgd', {'momentum': .9, 'wd': .1}, [1, 1, .8266, 1.0434, .94, .98]),
]


@pytest.mark.parametrize('weight_stype', ['default', 'row_sparse'])
@pytest.mark.parametrize('name, options, want', ROWS_OF_1_9_1)
def test_optimizers_that_call_sgd_leave_other_rows_alone(name, options, want, weight_stype):
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=.1, **options))
    w = mx.nd.ones((3, 2)).tostype(weight_stype)
    for g in ([[0, 0], [.5, -.25], [0, 0]], [[0, 0], [.5, -.25], [0, 0]], [[0, 0], [0, 0], [.5, .1]]):
        updater(0, mx.nd.array(g).tostype('row_sparse'), w)
    assert w.stype == weight_stype
    np.testing.assert_allclose(w.asnumpy().ravel(), want, atol=6e-5)


@pytest.mark.parametrize('name, options, rows, mixed', [           # every gradient row sparse; every second one
    ('lbsgd', {'batch_scale': 2, 'momentum': .9, 'wd': .1}, [.92654, .92654, 1], [.92654, .92654, .97062]),
    ('lbsgd', {'warmup_strategy': 'lars', 'momentum': .9, 'wd': .1}, [.68331, .55317, 1], [.6841, .34971, .92103]),
    ('lars', {'momentum': .9, 'wd': .1, 'rescale_grad': .5, 'clip_gradient': .1}, [.99969, .9996, 1],
     [.99969, .99922, .99984]),
    ('nag', {'wd': .1, 'clip_gradient': .1}, [.9602, .9406, 1], [.9602, .92139, .9801])])
def test_dense_and_sparse_gradients_in_turn(name, options, rows, mixed):
    for want, dense in ((rows, ()), (mixed, (0, 2))):
        optimizer = mx.optimizer.create(name, learning_rate=.1, **options)
        updater, w = mx.optimizer.get_updater(optimizer), mx.nd.ones((3, 2))
        for step in range(4):
            g = mx.nd.zeros((3, 2))
            g[step % 2] = .3
            updater(0, g if step in dense else g.tostype('row_sparse'), w)
        optimizer.momentum = 0
        updater(0, mx.nd.array([[0, 0], [.5, -.25], [0, 0]]).tostype('row_sparse'), w)
        np.testing.assert_allclose(w.asnumpy()[:, 0], want, atol=2e-5)


@pytest.mark.parametrize('name, options', [
    ('sgd', {'momentum': 0.9, 'lazy_update': False}), ('lars', {'momentum': 0.9, 'lazy_update': False}),
    ('adam', {'lazy_update': False}), ('nag', {'momentum': 0.9}),
    ('ftrl', {}), ('rmsprop', {}), ('signum', {}), ('lamb', {}), ('adamw', {})])
@pytest.mark.parametrize('grad_stype', ['row_sparse', 'default'])
def test_other_rules_see_zeros(name, options, grad_stype):
    options = {'learning_rate': 0.1, 'wd': 0.1, **options}
    weight, grads = sparse_data()
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, **options))
    w, dense = mx.nd.array(weight), mx.nd.ones((2,))
    for g in grads:
        updater([0, 1], [mx.nd.array(g).tostype(grad_stype), mx.nd.ones((2,))], [w, dense])
    options.pop('lazy_update', None)
    want = formula(name)(np.float64(weight), np.float64(grads), **options)
    np.testing.assert_allclose(w.asnumpy(), want, 2e-5, 1e-6)
    want = formula(name)(np.ones(2), np.ones((3, 2)), **options)
    np.testing.assert_allclose(dense.asnumpy(), want, 1e-5, 1e-6)


@pytest.mark.parametrize('name', ['sgd', 'adam', 'dcasgd'])
def test_csr_weights(name):
    weight, grads = sparse_data()
    updater = mx.optimizer.get_updater(mx.optimizer.create(name))
    w = mx.nd.array(weight).tostype('csr')
    for g in grads:
        updater(0, mx.nd.array(g).tostype('csr'), w)
    assert w.stype == 'csr'
    np.testing.assert_allclose(w.asnumpy(), formula(name)(np.float64(weight), np.float64(grads)), 1e-5, 1e-6)


def test_a_gradient_without_rows_changes_nothing():
    w = mx.nd.ones((3, 2))
    mx.optimizer.get_updater(mx.optimizer.SGD(wd=0.5))(0, mx.nd.sparse.zeros('row_sparse', (3, 2)), w)
    assert (w.asnumpy() == 1).all()


def test_sparse_in_low_precision():
    weight, grads = sparse_data()
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(momentum=0.9, multi_precision=True, learning_rate=0.1))
    w = mx.nd.array(weight).astype('float16').tostype('row_sparse')
    for g in grads:
        updater(0, mx.nd.array(g).astype('float16').tostype('row_sparse'), w)
    want = formulas.sgd(np.float64(weight), np.float64(grads), momentum=0.9, learning_rate=0.1)
    assert w.dtype == np.float16 and w.stype == 'row_sparse'
    np.testing.assert_allclose(w.asnumpy(), want, 1e-2, 1e-3)


# ---------------------------------------------------------------------- numbers of every kind
@pytest.mark.parametrize('kind', [np.float32, np.float64, np.array, int])
@pytest.mark.parametrize('argument', ['learning_rate', 'rescale_grad', 'wd', 'clip_gradient'])
@pytest.mark.parametrize('name', ['sgd', 'adam', 'nag', 'rmsprop', 'lamb', 'lars', 'adamw'])
def test_numbers(kind, argument, name):
    """NumPy's numbers do as well as Python's."""
    weight, grads = data(steps=2)
    got = train(name, {argument: kind(1.0)}, weight, grads)
    np.testing.assert_allclose(got, train(name, {argument: 1.0}, weight, grads), 1e-6)
