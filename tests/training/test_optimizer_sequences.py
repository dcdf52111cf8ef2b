"""Sequences of updates whose numbers change: counts that differ, momentum switched off and on, a rate of 0.

What is expected follows from MXNet 1.9.1, which updates most weights one after the other.
"""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

# SGD and LARS count four weights at a time; SGLD draws numbers, Test is for tests
ONE_BY_ONE = ('adadelta', 'adagrad', 'adam', 'adamax', 'dcasgd', 'ftml', 'ftrl', 'lamb', 'nadam', 'nag', 'rmsprop',
              'signum')


def arrays(count, seed=0, dtype='float32'):
    values = np.random.RandomState(seed)
    return tuple(nd.array(values.uniform(-1, 1, size=5), dtype=dtype) for _ in range(count))


def halved(count):
    """A scheduler's rate: half as much with every update."""
    return 0.4 * 0.5 ** count


class Halving(mx.lr_scheduler.LRScheduler):
    def __call__(self, num_update):
        return halved(num_update)


def after(name, at_once, dtype='float32', steps=4, **options):
    """Weights after some steps, where the fifth of six has been updated twice before."""
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, lr_scheduler=Halving(), **options))
    weights, grads, index = arrays(6, 1, dtype), arrays(6, 2, dtype), tuple(range(6))
    for _ in range(2):
        updater(4, grads[4], weights[4])
    for _ in range(steps):
        if at_once:
            updater(index, grads, weights)
        else:
            for i in index:
                updater(i, grads[i], weights[i])
    return np.stack([w.asnumpy() for w in weights])


@pytest.mark.parametrize('name', ONE_BY_ONE)
def test_rates_follow_the_count_so_far(name):
    np.testing.assert_allclose(after(name, True), after(name, False), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('momentum', [0.0, 0.5])
def test_sgd_counts_four_weights_and_asks_for_their_rates(dtype, momentum):
    found = after('sgd', True, dtype, steps=3, momentum=momentum)
    for i, (weight, grad) in enumerate(zip(arrays(6, 1, dtype), arrays(6, 2, dtype), strict=True)):
        weight, grad, mom = weight.asnumpy(), grad.asnumpy(), 0
        # the first four come before the fifth raises the count
        counts = [1, 2, 3, 4, 5] if i == 4 else [2, 3, 4] if i < 4 else [3, 4, 5]
        for count in counts:
            mom = momentum * mom - halved(count) * grad
            weight = weight + mom
        np.testing.assert_allclose(found[i], weight, rtol=1e-5, atol=1e-6)


def test_thawed_layer_with_a_scheduler():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(2, in_units=2, prefix='a_'), gluon.nn.Dense(1, in_units=2, prefix='b_'))     # in this order
    net.initialize(mx.init.One())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), 'nag', {'lr_scheduler': Halving()})
    frozen = net[0].collect_params()
    frozen.setattr('grad_req', 'null')
    for step in range(5):
        if step == 3:
            frozen.setattr('grad_req', 'write')
        before = net[0].bias.data().asnumpy()
        with autograd.record():
            loss = net(nd.array([[1, 2]])).sum()
        loss.backward()
        trainer.step(1)
    # 1.9.1: the first layer is updated before the second one counts the fifth step
    moved = before - net[0].bias.data().asnumpy()
    np.testing.assert_allclose(moved, halved(4) * net[0].bias.grad().asnumpy(), rtol=1e-5)


STEPS = (0.5, 0.5, 0, 0, 0.5, 0, 0.9, 0.9)      # momentum of each update


def toggled(name, dtype):
    optimizer = mx.optimizer.create(name, learning_rate=0.5, momentum=0.5, wd=0.1)
    updater, weights, grads, seen = mx.optimizer.get_updater(optimizer), arrays(1, 1, dtype), arrays(1, 2, dtype), []
    for momentum in STEPS:
        optimizer.momentum = momentum
        updater((0,), grads, weights)
        seen.append(weights[0].asnumpy())
    return seen


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('name', ['nag', 'signum', 'lbsgd', 'sgd'])
def test_momentum_switched_off_and_on(name, dtype):
    """With momentum 0, all but SGD keep writing the state that is there; SGD leaves it alone."""
    (weight,), (grad,) = arrays(1, 1, dtype), arrays(1, 2, dtype)
    mom = nd.zeros(weight.shape, dtype=dtype)
    update = {'nag': nd.nag_mom_update, 'signum': nd.signum_update}.get(name, nd.sgd_mom_update)
    for momentum, found in zip(STEPS, toggled(name, dtype), strict=True):
        if name == 'sgd' and not momentum:
            nd.sgd_update(weight, grad, lr=0.5, wd=0.1, out=weight)
        else:
            update(weight, grad, mom, lr=0.5, wd=0.1, momentum=momentum, out=weight)
        np.testing.assert_allclose(found, weight.asnumpy(), rtol=1e-5, atol=1e-6)


# momentum and weight after each of three updates, with momentum 0.9, 0 and 0.5, of MXNet 1.9.1
SPARSE = {False: [([0, -.2, 0], [1, .8, 1]), ([-.2, 0, -.2], [.8, .8, .8]), ([-.3, 0, -.3], [.5, .8, .5])],
          True: [([0, -.2, 0], [1, .8, 1]), ([-.2, -.2, -.2], [.8, .8, .8]), ([-.3, -.2, -.3], [.5, .8, .5])]}


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('lazy', [False, True])
def test_momentum_of_sparse_gradients_switched_off_and_on(lazy, dtype):
    """SGD keeps writing the state that is there, too, where gradients are sparse."""
    optimizer = mx.optimizer.create('sgd', momentum=0.9, lazy_update=lazy, learning_rate=0.2)
    updater, weight = mx.optimizer.get_updater(optimizer), nd.ones((3, 1), dtype=dtype)
    for momentum, rows, (state, moved) in zip((.9, 0, .5), ([1], [0, 2], [0, 2]), SPARSE[lazy], strict=True):
        optimizer.momentum = momentum
        ones = nd.ones((len(rows), 1), dtype=dtype)
        updater(0, nd.sparse.row_sparse_array((ones, rows), shape=(3, 1), dtype=dtype), weight)
        np.testing.assert_allclose(updater.states[0].asnumpy().ravel(), state, rtol=1e-6)
        np.testing.assert_allclose(weight.asnumpy().ravel(), moved, rtol=1e-6)


@pytest.mark.parametrize(('name', 'moves'), [
    ('adagrad', False), ('adadelta', False), ('nadam', False), ('dcasgd', False),
    ('sgd', True), ('adam', True), ('rmsprop', True), ('ftrl', True)])
def test_clip_gradient_of_0(name, moves):
    """A limit for 1.9.1's optimizers written with nd's operators; none for those with a kernel."""
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.5, clip_gradient=0.0))
    weight = nd.ones((3,))
    updater(0, nd.ones((3,)), weight)
    assert bool((weight != 1).max().asscalar()) == moves


def test_nan_stays_visible_in_ftrl():
    updater = mx.optimizer.get_updater(mx.optimizer.create('ftrl', learning_rate=0.5))
    weight = nd.ones((2,))
    for grad in ([np.nan, 1], [1, 1]):
        updater(0, nd.array(grad), weight)
    assert np.isnan(weight.asnumpy()).tolist() == [True, False]


@pytest.mark.parametrize('name', ['ftml', 'ftrl'])
def test_rate_of_0_divides(name):
    """Both rules divide by the rate; the weights are NaN in 1.9.1, too."""
    optimizer = mx.optimizer.create(name, learning_rate=0.5)
    updater, weight = mx.optimizer.get_updater(optimizer), nd.ones((2,))
    for rate in (0.5, 0, 0):
        optimizer.lr = rate
        updater(0, nd.ones((2,)), weight)
    assert np.isnan(weight.asnumpy()).all()


@pytest.mark.parametrize(('write', 'rows'), [
    (lambda p: p.zero_grad(), []), (lambda p: p.grad().__setitem__(slice(None), 0), [0, 1, 2, 3, 4, 5])])
def test_rows_of_a_sparse_gradient_set_to_zero(write, rows):
    """`zero_grad` leaves no rows, `grad[:] = 0` has all of them, and lazy updates go to the rows that are there."""
    p = gluon.Parameter('p', shape=(6, 2), grad_stype='row_sparse')
    p.initialize(mx.init.One())
    with autograd.record():
        loss = nd.Embedding(nd.array([1, 3]), p.data(), input_dim=6, output_dim=2, sparse_grad=True).sum()
    loss.backward()
    write(p)
    assert p.grad().indices.asnumpy().tolist() == rows
    updater = mx.optimizer.get_updater(mx.optimizer.create('sgd', learning_rate=0.1, wd=0.1))
    updater(0, p.grad(), p.data())
    assert np.flatnonzero((p.data().asnumpy() != 1).any(axis=1)).tolist() == rows
