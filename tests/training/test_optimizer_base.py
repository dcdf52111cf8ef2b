"""Optimizers by name, their learning rates, decays and counts, optimizers of one's own, and mistakes."""
import logging
import pickle

import numpy as np
import pytest

import mxnet as mx
from mxnet.optimizer import _updater

BUILT_IN = ['adabound', 'adadelta', 'adagrad', 'adam', 'adamax', 'adamw', 'amsbound', 'ccsgd', 'dcasgd', 'ftml', 'ftrl',
            'groupadagrad', 'lamb', 'lars', 'lbsgd', 'nadam', 'nag', 'rmsprop', 'sgd', 'sgld', 'signum', 'test']


@pytest.fixture
def registry(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(mx.optimizer.Optimizer, 'opt_registry', dict(mx.optimizer.Optimizer.opt_registry))


# ---------------------------------------------------------------------- names
def test_names():
    assert set(BUILT_IN) <= set(mx.optimizer.Optimizer.opt_registry)
    for name in BUILT_IN:
        made = mx.optimizer.create(name.upper())
        assert type(made).__name__.lower() == name
        where = mx.optimizer.contrib if name in ('adamw', 'groupadagrad') else mx.optimizer.optimizer
        assert type(made).__module__ == where.__name__ and getattr(where, type(made).__name__) is type(made)
        assert isinstance(made, mx.optimizer.Optimizer)
    assert mx.optimizer.create is mx.optimizer.Optimizer.create_optimizer
    with pytest.raises(ValueError, match="no optimizer called 'best'.*adagrad"):
        mx.optimizer.create('best')
    with pytest.raises(TypeError, match="optimizer must be a name such as 'sgd' or an Optimizer, not the int 3"):
        mx.optimizer.create(3)
    with pytest.raises(TypeError, match='momentun'):
        mx.optimizer.create('sgd', momentun=0.9)


def test_register(registry):
    @mx.optimizer.register
    class Mine(mx.optimizer.Optimizer):
        pass
    assert type(mx.optimizer.create('mine')) is Mine
    with pytest.warns(UserWarning, match="'mine' was"):
        mx.optimizer.Optimizer.register(type('Mine', (mx.optimizer.SGD,), {}))
    with pytest.raises(TypeError, match='only a class'):
        mx.optimizer.register('sgd')


def test_base_class_has_no_update():
    base = mx.optimizer.Optimizer()
    assert base.create_state(0, mx.nd.ones((2,))) is None
    with pytest.raises(NotImplementedError):
        base.update(0, mx.nd.ones((2,)), mx.nd.ones((2,)), None)
    with pytest.raises(DeprecationWarning, match='set_lr_mult'):
        base.set_lr_scale({})


# ---------------------------------------------------------------------- learning rate
def test_learning_rate():
    assert mx.optimizer.SGD().learning_rate == 0.01
    sgd = mx.optimizer.SGD(learning_rate=0.3)
    sgd.set_learning_rate(0.2)
    assert sgd.learning_rate == sgd.lr == 0.2


def test_scheduler():
    scheduler = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=1024)
    sgd = mx.optimizer.SGD(lr_scheduler=scheduler)
    assert sgd.learning_rate == 1024
    w = mx.nd.zeros((1,))
    for rate in (1024, 512, 256):
        sgd.update(0, w, mx.nd.zeros((1,)), None)
        assert sgd.learning_rate == rate
    with pytest.raises(UserWarning, match='lr_scheduler'):
        sgd.set_learning_rate(0.1)


def test_learning_rate_replaces_that_of_the_scheduler(capsys):
    scheduler = mx.lr_scheduler.FactorScheduler(step=1, base_lr=0.5)
    sgd = mx.optimizer.SGD(lr_scheduler=scheduler, learning_rate=0.3)
    assert 'has been overwritten' in capsys.readouterr().out
    assert sgd.learning_rate == 0.3
    mx.optimizer.SGD(lr_scheduler=scheduler, learning_rate=0.3)
    assert not capsys.readouterr().out


def test_ftrl_leaves_the_scheduler_its_rate():
    scheduler = mx.lr_scheduler.FactorScheduler(step=1, base_lr=0.5)
    assert mx.optimizer.Ftrl(lr_scheduler=scheduler).learning_rate == 0.5


# ---------------------------------------------------------------------- multipliers
def test_multipliers_of_a_symbol():
    bias = mx.sym.Variable('fc1_bias', lr_mult=1.0)
    fc1 = mx.sym.FullyConnected(mx.sym.Variable('data'), bias=bias, name='fc1', num_hidden=10, lr_mult=0)
    net = mx.sym.FullyConnected(fc1, name='fc2', num_hidden=10, wd_mult=0.5)
    names = dict(enumerate(net.list_arguments()[1:]))
    sgd = mx.optimizer.SGD(sym=net, param_idx2name=names, learning_rate=2.0, wd=0.5)
    assert sgd.lr_mult == {'fc1_bias': 1.0, 'fc1_weight': 0.0}
    assert sgd.wd_mult == {'fc2_bias': 0.5, 'fc2_weight': 0.5, 'fc1_bias': 0.0}
    assert sgd._get_lrs(list(names)) == [0.0, 2.0, 2.0, 2.0]
    assert sgd._get_wds(list(names)) == [0.5, 0.0, 0.25, 0.25]
    sgd.set_lr_mult({'fc1_weight': 3.0, 1: 0.5})
    assert sgd._get_lrs(list(names)) == [6.0, 1.0, 2.0, 2.0]
    assert sgd._get_lr('unheard of') == 2.0
    sgd.set_wd_mult({'fc2_weight': 2.0})
    assert [sgd._get_wd(i) for i in names] == [0.5, 0.0, 1.0, 0.25]


def test_multipliers_of_parameters():
    class Parameter:
        lr_mult, wd_mult = 0.1, 3.0
    sgd = mx.optimizer.SGD(learning_rate=2.0, wd=0.5, param_dict={1: Parameter()}, param_idx2name={0: 'a_bias'})
    assert sgd._get_lrs([0, 1]) == [2.0, 0.2] and sgd._get_wds([0, 1]) == [0.0, 1.5]
    Parameter.lr_mult = 0.0         # is asked each time
    assert sgd._get_lr(1) == 0.0


def test_wrong_names():
    with pytest.raises(TypeError, match='param_idx2name must be a dict'):
        mx.optimizer.SGD(param_idx2name=['a'])


# ---------------------------------------------------------------------- counts
def test_counts():
    adam = mx.optimizer.Adam(begin_num_update=5)
    assert adam.num_update == 5
    adam._update_count(0)
    adam._update_count([0, 'b'])
    assert adam._index_update_count == {0: 7, 'b': 6} and adam.num_update == 7
    adam._set_current_context(1)
    adam._update_count(0)
    assert adam._all_index_update_counts == {0: {0: 7, 'b': 6}, 1: {0: 6}} and adam.num_update == 7
    adam._set_current_context(0)
    assert adam._index_update_count == {0: 7, 'b': 6}


def test_copies_on_two_devices_count_once(monkeypatch):
    """Each device has its copy of a weight; the rate changes by steps, not by copies."""
    scheduler = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=1.0)
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(lr_scheduler=scheduler))
    copies = [mx.nd.zeros((1,), ctx=mx.cpu(i)) for i in range(2)]
    for _ in range(3):
        for i, w in enumerate(copies):
            updater([i], [mx.nd.ones((1,), ctx=mx.cpu(i))], [w])
    assert [w.asscalar() for w in copies] == [-1.75, -1.75]
    assert updater.optimizer._all_index_update_counts == {0: {0: 3}, 1: {1: 3}}


# ---------------------------------------------------------------------- optimizers of one's own
class Slow(mx.optimizer.Optimizer):
    """As programs write them: one weight at a time, with nd's operators."""

    def create_state(self, index, weight):
        return mx.nd.zeros(weight.shape, weight.context, dtype=weight.dtype)

    def update(self, index, weight, grad, state):
        assert isinstance(weight, mx.nd.NDArray) and not isinstance(index, (list, tuple))
        self._update_count(index)
        state += 1
        weight -= self._get_lr(index) * grad * self.rescale_grad + self._get_wd(index) * weight


@pytest.mark.parametrize('together', [True, False])
def test_own_optimizer(together):
    updater = mx.optimizer.get_updater(Slow(learning_rate=0.5, wd=0.25))
    assert not updater.aggregate_updates
    updater.aggregate_updates = together
    weights = [mx.nd.ones((2,)), mx.nd.ones((3,))]
    updater([0, 1], [mx.nd.ones((2,)), mx.nd.ones((3,))], weights)
    assert [w.asnumpy()[0] for w in weights] == [0.25, 0.25]
    assert updater.states[1].asnumpy().tolist() == [1, 1, 1]


def test_own_optimizer_in_low_precision():
    updater = mx.optimizer.get_updater(Slow(learning_rate=0.5, multi_precision=True))
    w = mx.nd.ones((2,), dtype='float16')
    updater(0, mx.nd.ones((2,), dtype='float16'), w)
    assert w.dtype == np.float16 and w.asnumpy().tolist() == [0.5, 0.5]
    master, state = updater.states[0]
    assert master.dtype == state.dtype == np.float32
    updater.optimizer.update_multi_precision(0, w, mx.nd.ones((2,), dtype='float16'), updater.states[0])
    assert w.asnumpy().tolist() == [0.0, 0.0]


@pytest.mark.parametrize('base', ['SGD', 'Adam', 'LAMB'])
def test_own_update_of_a_built_in_class(base):
    """An overridden update gets single weights, and can leave them to the built-in one."""
    seen = []

    class Watched(getattr(mx.optimizer, base)):
        def update(self, index, weight, grad, state):
            seen.append(index)
            super().update(index, weight, grad * 1, state)

    class Further(Watched):
        pass

    for cls in (Watched, Further):
        del seen[:]
        weights, plain = [[mx.nd.ones((2,)), mx.nd.ones((3,))] for _ in range(2)]
        grads = [mx.nd.ones((2,)), mx.nd.ones((3,))]
        mx.optimizer.get_updater(cls())([0, 1], grads, weights)
        assert seen == [0, 1]
        mx.optimizer.get_updater(getattr(mx.optimizer, base)())([0, 1], grads, plain)
        for a, b in zip(weights, plain):
            np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), 1e-6)


@pytest.mark.parametrize('base', ['Optimizer', 'SGD'])
def test_own_optimizer_that_takes_lists(base):
    class Listed(getattr(mx.optimizer, base)):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.aggregate_num = 2
            self.seen = []

        def update_multi_precision(self, index, weight, grad, state):
            assert len(index) == len(weight) == len(grad) == len(state)
            self.seen.append(list(index))

    updater = mx.optimizer.get_updater(Listed())
    assert updater.aggregate_updates
    arrays = [mx.nd.ones((1,), dtype=t) for t in ('float32', 'float64', 'float32', 'float32')]
    updater([0, 1, 2, 3], arrays, arrays)
    assert updater.optimizer.seen == [[0, 2], [3], [1]]


# ---------------------------------------------------------------------- mistakes
def update(name='sgd', weight=None, grad=None, state=None, **options):
    weight, grad = (mx.nd.ones((2, 3)) if a is None else a for a in (weight, grad))
    mx.optimizer.create(name, **options).update('fc', weight, grad, state)


@pytest.mark.parametrize('name', ['sgd', 'adagrad', 'lbsgd'])
def test_mistakes_are_named(name):
    state = mx.nd.zeros((2, 3)) if name == 'adagrad' else None
    with pytest.raises(TypeError, match="gradient 'fc' must be an NDArray, not a ndarray"):
        update(name, grad=np.ones((2, 3)), state=state)
    with pytest.raises(TypeError, match="weight 'fc' must be an NDArray, not a list"):
        update(name, weight=[1, 2], state=state)
    with pytest.raises(mx.MXNetError, match=r"weight 'fc' is float32\(2, 3\)@cpu\(0\), but its gradient is .*\(3, 2\)"):
        update(name, grad=mx.nd.ones((3, 2)), state=state)
    with pytest.raises(mx.MXNetError, match='float64'):
        update(name, grad=mx.nd.ones((2, 3), dtype='float64'), state=state)


@pytest.mark.parametrize('name, options', [('sgd', {'momentum': 0.9}), ('adam', {}), ('nag', {'momentum': 0.9}),
                                           ('rmsprop', {}), ('lbsgd', {'momentum': 0.9})])
def test_states_of_another_network(name, options):
    """Fused kernels would write past the end of these."""
    def states(shape=(2, 3), dtype='float32'):
        return tuple(mx.nd.zeros(shape, dtype=dtype) for _ in range(2))
    for wrong in (states((2, 2)), states(dtype='float64'), states((3, 2)), ()):
        with pytest.raises(mx.MXNetError, match="weight 'fc'.* needs . array.*state of another network"):
            update(name, state=wrong, **options)
    with pytest.raises(mx.MXNetError, match='but that is None; is it the state'):
        update(name, state=None, **options)


def test_one_wrong_state_among_many():
    adam = mx.optimizer.Adam()
    weights = [mx.nd.ones((2,)), mx.nd.ones((3,))]
    states = [adam.create_state(i, w) for i, w in enumerate(weights)]
    with pytest.raises(mx.MXNetError, match='weight 1 .*state of another'):
        adam.update([0, 1], weights, weights, [states[0], states[0]])
    with pytest.raises(mx.MXNetError, match='weight 1 .*state of another'):
        adam.update([0, 1], weights, weights, [states[0], states[1][:1]])
    assert (weights[0].asnumpy() == 1).all() and adam.num_update == 0


def test_group_adagrad_mistakes():
    group = mx.optimizer.contrib.GroupAdaGrad(wd=0.1)
    with pytest.raises(mx.MXNetError, match=r"for matrices, but weight 'fc' has shape \(3,\)"):
        group.create_state('fc', mx.nd.ones((3,)))
    w = mx.nd.ones((2, 3))
    with pytest.raises(mx.MXNetError, match="no weight decay, but wd of weight 'fc' is 0.1"):
        group.update('fc', w, w, group.create_state('fc', w))


def test_a_built_in_without_a_rule():
    class Empty(_updater.Optimizer.opt_registry['sgd'].__mro__[1]):
        pass
    with pytest.raises(NotImplementedError, match='Empty has no rule'):
        Empty().update(0, mx.nd.ones((2,)), mx.nd.ones((2,)), None)


def test_lbsgd_says_what_it_does(caplog):
    with caplog.at_level(logging.INFO):
        mx.optimizer.LBSGD(batch_scale=4, warmup_strategy='sqrt')
    assert 'batch_scale=4' in caplog.text and 'warmup_strategy=sqrt' in caplog.text


def test_test_optimizer():
    w = mx.nd.array([1.0, 2.0])
    updater = mx.optimizer.get_updater(mx.optimizer.Test(rescale_grad=0.5))
    updater(0, mx.nd.array([2.0, 4.0]), w)
    assert w.asnumpy().tolist() == updater.states[0].asnumpy().tolist() == [2.0, 4.0]


# ---------------------------------------------------------------------- pickles
@pytest.mark.parametrize('name', BUILT_IN)
def test_pickle_of_an_optimizer(name):
    made = mx.optimizer.create(name, param_dict={0: object()}, param_idx2name={0: 'a_bias'})
    made._update_count([0, 1])
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made) and again.param_dict == {}
    # counts of the current device are the same dict, not a copy
    assert again._index_update_count is again._all_index_update_counts[0]
    ours, theirs = (vars(o).copy() for o in (made, again))
    ours.pop('param_dict'), theirs.pop('param_dict')
    assert ours == theirs


def test_aggregation_size(monkeypatch):
    assert mx.optimizer.SGD().aggregate_num == mx.optimizer.LARS().aggregate_num == 4
    assert mx.optimizer.LAMB().aggregate_num == 45 and mx.optimizer.Adam().aggregate_num == 0
    monkeypatch.setenv('MXNET_OPTIMIZER_AGGREGATION_SIZE', '100')
    assert mx.optimizer.SGD().aggregate_num == 100 and mx.optimizer.LAMB().aggregate_num == 45
