"""Training that is saved and resumed, for test_module_resume.py: programs, and what they leave."""
import random
import warnings

import numpy as np

import mxnet as mx

_drawn = np.random.RandomState(0)
X, Y = _drawn.rand(26, 5).astype('float32'), _drawn.randint(0, 3, 26).astype('float32')

SCHEDULES = {
    'none': lambda: None,
    'factor': lambda: mx.lr_scheduler.FactorScheduler(3, 0.7, base_lr=0.1),
    'multifactor': lambda: mx.lr_scheduler.MultiFactorScheduler([2, 7, 11], 0.5, base_lr=0.1),
    'poly': lambda: mx.lr_scheduler.PolyScheduler(20, base_lr=0.1, warmup_steps=3),
    'cosine': lambda: mx.lr_scheduler.CosineScheduler(20, base_lr=0.1, final_lr=0.01, warmup_steps=2),
}
MOMENTUM = ('sgd', 'nag', 'signum', 'lars', 'lbsgd', 'dcasgd', 'ccsgd')


def network(matrices_only=False):
    """A network with dropout and moving averages; for GroupAdaGrad, one whose parameters are matrices."""
    x = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=6, name='fc1', no_bias=matrices_only)
    if not matrices_only:
        x = mx.sym.BatchNorm(x, name='bn', fix_gamma=False)
    x = mx.sym.Dropout(mx.sym.Activation(x, act_type='tanh'), p=0.4)
    x = mx.sym.FullyConnected(x, num_hidden=3, name='fc2', no_bias=matrices_only)
    return mx.sym.SoftmaxOutput(x, name='softmax')


def options(optimizer, schedule='none'):
    found = {'learning_rate': 0.1}
    if optimizer in MOMENTUM:
        found['momentum'] = 0.9
    if optimizer == 'lbsgd':
        found['batch_scale'] = 2
    schedule = SCHEDULES[schedule]()
    if schedule is not None:
        found['lr_scheduler'] = schedule
    return found


def data():
    return (mx.io.NDArrayIter(X, Y, 4, shuffle=True, last_batch_handle='roll_over'),
            mx.io.NDArrayIter(X[:8], Y[:8], 4, shuffle=True))


def seed(number):
    mx.random.seed(number)
    np.random.seed(number)
    random.seed(number)


def parameters(module):
    return {name: array.asnumpy() for params in module.get_params() for name, array in params.items()}


def fit(module, optimizer, schedule='none', iterators=data, **kwargs):
    train, held_out = iterators()
    with warnings.catch_warnings():
        warnings.filterwarnings('ignore', 'init_params: the parameters are filled already')     # as MXNet 1.9.1 warns
        warnings.filterwarnings('ignore', '.*accumulates in float16')
        module.fit(train, held_out, num_epoch=3, optimizer=optimizer, optimizer_params=options(optimizer, schedule),
                   **{'initializer': mx.init.Uniform(0.5), **kwargs})
    return parameters(module)


def saver(module, prefix, place):
    """Callbacks that save after each epoch (place None) or once, after a batch of epoch 1."""
    if place is None:
        return {'epoch_end_callback': mx.callback.module_checkpoint(module, prefix, save_optimizer_states=True)}

    def save(param):
        if (param.epoch, param.nbatch) == (1, place):
            module.save_checkpoint(prefix, 1, save_optimizer_states=True)
    return {'batch_end_callback': save}


def differences(optimizer, schedule, place, prefix, contexts=None, iterators=data):
    """Names of parameters that differ between a run of three epochs and one that goes on from what it saved."""
    symbol, contexts = network(optimizer == 'groupadagrad'), contexts or [mx.cpu()]
    seed(1)
    module = mx.mod.Module(symbol, context=list(contexts))
    expected = fit(module, optimizer, schedule, iterators, **saver(module, prefix, place))
    wrong = []
    for epoch in (1, 2) if place is None else (1,):
        seed(98 + epoch)                # what a program draws before it goes on has no part in it
        again = mx.mod.Module.load(prefix, epoch, load_optimizer_states=True, context=list(contexts))
        found = fit(again, optimizer, schedule, iterators, begin_epoch=epoch)
        wrong += [(epoch, name) for name in expected if not np.array_equal(found[name], expected[name])]
    return wrong
