"""Random programs with modules: their plans, and steps that include the update, do what runs without plans do.

`make test` runs some; MXNET_TEST_PROGRAMS=SEED:FACTOR in the environment runs others, and so many times more.
"""
import os
import random

import numpy
import pytest
from plan_worlds import seeds

import mxnet as mx
from mxnet import nd, sym
from mxnet._graph.cuda import runner
from mxnet.io import DataBatch


def dense():
    x = sym.Activation(sym.FullyConnected(sym.var('data'), num_hidden=6, name='fc1'), act_type='relu')
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=3, name='fc2'), name='softmax')


def norm():
    x = sym.BatchNorm(sym.FullyConnected(sym.var('data'), num_hidden=6, name='fc1'), fix_gamma=False, name='bn')
    x = sym.Dropout(sym.Activation(x, act_type='tanh'), p=0.3)
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=3, name='fc2'), name='softmax')


def shared():
    """A weight that is used twice, and an output that nothing goes back through."""
    weight = sym.var('weight', shape=(5, 5))
    x = sym.tanh(sym.FullyConnected(sym.var('data'), weight, num_hidden=5, no_bias=True))
    x = sym.FullyConnected(x, weight, num_hidden=5, no_bias=True) + x
    out = sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=3, name='last'), name='softmax')
    return sym.Group([out, sym.BlockGrad(sym.sum(x), name='sum')])


def regression():
    x = sym.FullyConnected(sym.LayerNorm(sym.var('data'), name='ln'), num_hidden=1, name='fc')
    return sym.LinearRegressionOutput(x, sym.var('softmax_label'), name='out')


SYMBOLS = [dense, norm, shared, regression]
OPTIMIZERS = [('sgd', {'learning_rate': 0.1}), ('sgd', {'learning_rate': 0.1, 'momentum': 0.9, 'wd': 0.01}),
              ('adam', {'learning_rate': 0.05}), ('nag', {'learning_rate': 0.1, 'momentum': 0.5}),
              ('sgd', {'lr_scheduler': 'factor'}), ('rmsprop', {'learning_rate': 0.02}),
              ('sgd', {'learning_rate': 0.1, 'clip_gradient': 0.05})]


class World:
    def __init__(self, chance, planned, folder):
        self.planned, self.folder, self.log = planned, folder, []
        self.numbers = numpy.random.RandomState(chance.randrange(1000))
        name, options = chance.choice(OPTIMIZERS)
        if 'lr_scheduler' in options:
            options = {'lr_scheduler': mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.2)}
        mx.random.seed(3)
        numpy.random.seed(3)
        self.module = mx.mod.Module(chance.choice(SYMBOLS)(), context=mx.cpu())
        self.module.bind([('data', (4, 5))], [('softmax_label', (4,))], inputs_need_grad=chance.random() < 0.3,
                         grad_req=chance.choice(('write', 'write', 'write', 'add')))
        self.module.init_params(mx.init.Xavier())
        self.module.init_optimizer(chance.choice(('local', None)), name, options)
        self.batch = None

    def see(self, what, *arrays):
        self.log += [(what, a.asnumpy()) for a in arrays]

    def fetch(self, size):
        data, label = self.numbers.normal(size=(size, 5)), self.numbers.randint(0, 3, size)
        self.batch = DataBatch([nd.array(data)], [nd.array(label)])

    def plain(self):
        """Without a plan, because somebody wants to see every value."""
        if not self.planned:
            for executor in self.module._exec_group.execs:
                executor.set_monitor_callback(lambda name, array: None)

    def learn(self, at_once, between):
        self.plain()
        if at_once and self.planned and not between:
            self.module._step(self.batch)
        else:
            self.module.forward_backward(self.batch)
            for name in between:
                ACTIONS[name](self)
                self.plain()
            self.module.update()


ACTIONS = {}


def action(function):
    ACTIONS[function.__name__] = function
    return function


@action
def outputs(w):
    if w.module._exec_group.execs[0].outputs:
        w.see('outputs', *w.module.get_outputs())


@action
def params(w):
    for part in w.module.get_params():
        for name in sorted(part):
            w.see(name, part[name])


@action
def gradients(w):
    w.see('gradients', *[g for block in w.module._exec_group.grad_arrays for g in block if g is not None])


@action
def data_gradients(w):
    if w.module.inputs_need_grad:
        w.see('gradients of data', *w.module.get_input_grads())


@action
def states(w):
    if w.module._updater is not None:
        for key in sorted(w.module._updater.states):
            state = w.module._updater.states[key]
            w.see('states', *[s for s in (state if isinstance(state, (list, tuple)) else [state]) if s is not None])


@action
def set_params(w):
    arguments, auxiliary = w.module.get_params()
    w.module.set_params({k: v * 0.5 for k, v in arguments.items()}, auxiliary)


@action
def write_weight(w):
    w.module._exec_group.execs[0].arg_arrays[1][:] = 0.25


@action
def write_gradient(w):
    for block in w.module._exec_group.grad_arrays[1:2]:
        for gradient in block:
            gradient[:] = gradient * 0.5


@action
def write_data(w):
    w.batch.data[0][:] = 0.5


@action
def write_average(w):
    for array in w.module._exec_group.execs[0].aux_arrays:
        array[:] = 0.5


@action
def rate(w):
    if w.module._optimizer.lr_scheduler is None:
        w.module._optimizer.set_learning_rate(0.05)


@action
def multipliers(w):
    w.module._optimizer.set_lr_mult({'fc1_weight': 0.5, 'weight': 0.25})
    w.module._optimizer.set_wd_mult({'fc2_weight': 2.0})


@action
def rescale(w):
    w.module._optimizer.rescale_grad = 0.1


@action
def seed(w):
    mx.random.seed(8)


@action
def draw(w):
    w.see('drawn', nd.random.uniform(shape=(2,)))


@action
def predict(w):
    w.module.forward(w.batch, is_train=False)
    w.see('prediction', *w.module.get_outputs())


@action
def predict_more(w):
    w.module.forward(DataBatch([nd.ones((6, 5))], [nd.zeros((6,))]), is_train=False)
    w.see('prediction', *w.module.get_outputs())


@action
def forward(w):
    w.module.forward(w.batch, is_train=True)


@action
def again(w):
    w.module.forward_backward(w.batch)


@action
def update_again(w):
    w.module.update()


@action
def save(w):
    prefix = str(w.folder / f'{w.planned}')
    w.module.save_checkpoint(prefix, 1, save_optimizer_states=True)
    w.see('saved', *[v for _, v in sorted(nd.load(f'{prefix}-0001.params').items())])


@action
def load(w):
    prefix = str(w.folder / f'{w.planned}')
    if os.path.exists(f'{prefix}-0001.states'):
        _, arguments, auxiliary = mx.model.load_checkpoint(prefix, 1)
        w.module.set_params(arguments, auxiliary)
        w.module.load_optimizer_states(f'{prefix}-0001.states')


@action
def metric(w):
    measure = mx.metric.MSE()
    if w.module.get_outputs()[0].shape == (w.batch.label[0].shape[0], 1):
        w.module.update_metric(measure, w.batch.label)
        w.log.append(('metric', numpy.array(measure.get()[1])))


@action
def keep(w):
    w.kept = w.module.get_outputs()


@action
def kept(w):
    w.see('kept', *getattr(w, 'kept', ()))


def run(seed, planned, folder):
    chance = random.Random(seed)
    world = World(chance, planned, folder)
    some = chance.sample(sorted(ACTIONS), 8)
    for number in range(chance.randint(6, 12)):
        world.fetch(chance.choice((4, 4, 4, 4, 3)))
        at_once = chance.random() < 0.7
        between = [chance.choice(some) for _ in range(chance.choice((0, 0, 0, 1, 2)))]
        after = [chance.choice(some) for _ in range(chance.choice((0, 0, 1)))]
        world.log.append((f'round {number}: {at_once} {between} {after}', numpy.zeros(0)))
        world.learn(at_once, between)
        for name in after:
            ACTIONS[name](world)
    for name in ('params', 'gradients', 'states', 'outputs'):
        ACTIONS[name](world)
    return world.log


@pytest.mark.parametrize('seed', seeds(30))
def test_modules(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, 'RUNS_BEFORE_JOINING', 3)
    plain, planned = run(seed, False, tmp_path), run(seed, True, tmp_path)
    said = []
    for (label, a), (_, b) in zip(plain, planned, strict=True):
        if label.startswith('round'):
            said.append(label)
        numpy.testing.assert_array_equal(a, b, err_msg=f'{label} after {said}')
