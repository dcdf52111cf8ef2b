"""What programs do between forward, backward and the update: looks and writes of every kind, each a function of a
`World` (plan_worlds.py)."""
import copy
import gc
import os
import pickle
import threading

import numpy
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd

ACTIONS = {}


def action(function):
    ACTIONS[function.__name__.removesuffix('_')] = function
    return function


def in_thread(function):
    """Runs something in a thread, to its end."""
    found = []

    def run():
        try:
            found.append((function(), None))
        except BaseException as error:
            found.append((None, error))
    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    value, error = found[0]
    if error is not None:
        raise error
    return value


# ---------------------------------------------------------------------- looking
@action
def see_gradients(w):
    for p in w.learned():
        w.see('gradient', p.grad())


@action
def see_last_gradient(w):
    w.see('gradient', w.learned()[-1].list_grad()[0])


@action
def see_gradient_by_array(w):
    w.see('gradient', w.learned()[0].data().grad)


@action
def see_held_gradients(w):
    for array in w.held:
        w.see('held', array)


@action
def see_loss(w):
    w.see('loss', w.loss)


@action
def see_mean_loss(w):
    w.see('loss', float(w.loss.mean().asscalar()))


@action
def see_output(w):
    w.see('output', w.out)


@action
def see_other_output(w):
    if hasattr(w, 'other'):
        w.see('other', w.other)


@action
def see_data(w):
    w.see('data', w.x)
    if w.x.grad is not None:
        w.see('gradient of the data', w.x.grad)


@action
def see_weights(w):
    for p in w.params:
        w.see('weight', p.data())


@action
def see_held_weights(w):
    for array in w.weights:
        w.see('weight', array)


@action
def see_average(w):
    for p in w.params:
        if 'running' in p.name:
            w.see('average', p.data())


@action
def see_rows(w):
    """Views of gradients and weights."""
    p = w.learned()[0]
    w.see('rows', p.grad()[0:1])
    w.see('rows', p.data()[0:1])
    w.see('flat', p.grad().reshape((-1,)))


@action
def keep_views(w):
    p = w.learned()[0]
    w.kept = [p.grad()[0:1], p.data()[0:1], p.grad().reshape((-1,)), p.data().reshape((-1,)), w.out, w.loss]


@action
def see_kept(w):
    for array in w.kept:
        w.see('kept', array)


@action
def keep_aliases(w):
    """torch's view of gradients and weights, which no look at an array of ours precedes."""
    w.aliases = [t for p in w.learned() for t in (p.grad().to_torch(), p.data().to_torch())]


@action
def see_aliases(w):
    for tensor in w.aliases or ():
        w.see('alias', tensor)


@action
def keep_numpy(w):
    """Aliases that torch knows nothing of."""
    w.aliases = [torch.from_numpy(numpy.from_dlpack(a)) for p in w.learned() for a in (p.grad(), p.data())]


@action
def see_by_dlpack(w):
    p = w.learned()[0]
    w.see('gradient', torch.from_dlpack(p.grad().to_dlpack_for_read()))
    w.see('gradient', torch.from_dlpack(nd.to_dlpack_for_read(p.grad())))
    w.see('weight', torch.from_dlpack(p.data()))


@action
def see_as_array(w):
    w.see('gradient', numpy.asarray(w.learned()[0].grad()))
    w.see('loss', numpy.array(w.loss))


@action
def see_text(w):
    w.see('text', repr(w.learned()[-1].grad() + 0))         # of a sum over one number, 0 may be -0


@action
def see_shapes(w):
    """None of which needs a value."""
    w.see('shapes', [(p.grad().shape, str(p.grad().context), p.grad().size, p.grad().stype) for p in w.learned()])
    w.see('shape', (w.loss.shape, w.out.shape, w.out.ndim, str(w.loss.dtype)))


@action
def wait(w):
    w.loss.wait_to_read()
    for p in w.learned():
        p.grad().wait_to_read()
    nd.waitall()


@action
def waitall(w):
    nd.waitall()


@action
def copy_gradients(w):
    copies = [nd.zeros(p.grad().shape, dtype=p.dtype) for p in w.learned()]
    for p, target in zip(w.learned(), copies, strict=True):
        p.grad().copyto(target)
    w.kept = copies + [p.grad().copy() for p in w.learned()] + [p.grad().as_in_context(mx.cpu(1)) for p in w.learned()]


@action
def norms(w):
    w.see('norm', [float(p.grad().norm().asscalar()) for p in w.learned()])
    w.see('finite', nd.multi_all_finite(*[p.grad() for p in w.learned()], num_arrays=len(w.learned())))
    w.see('squares', nd.multi_sum_sq(*[p.grad() for p in w.learned()], num_arrays=len(w.learned())))


@action
def metric(w):
    measure = mx.metric.Accuracy()
    measure.update([w.y], [w.out])
    w.see('accuracy', measure.get()[1])


@action
def pickle_all(w):
    for array in (w.learned()[0].grad(), w.learned()[0].data(), w.loss, w.x):
        w.see('pickled', pickle.loads(pickle.dumps(array)))


@action
def copy_net(w):
    other = copy.deepcopy(w.net)
    w.see('copied', next(iter(other.collect_params().values())).data())
    w.see('copied', copy.deepcopy(w.loss))
    w.kept = [copy.deepcopy(w.learned()[0].grad())]


@action
def save(w):
    w.net.save_parameters(os.path.join(w.folder.name, 'net.params'))
    w.trainer.save_states(os.path.join(w.folder.name, 'net.states'))
    nd.save(os.path.join(w.folder.name, 'grads'), [p.grad() for p in w.learned()])
    for array in nd.load(os.path.join(w.folder.name, 'grads')):
        w.see('saved', array)


@action
def load(w):
    if os.path.exists(os.path.join(w.folder.name, 'net.states')):
        w.net.load_parameters(os.path.join(w.folder.name, 'net.params'))
        w.trainer.load_states(os.path.join(w.folder.name, 'net.states'))


@action
def see_in_thread(w):
    for value in in_thread(lambda: [p.grad().asnumpy() for p in w.learned()] + [w.loss.asnumpy()]):
        w.see('elsewhere', value)


@action
def push(w):
    """Gradients through a KVStore."""
    if w.store is None:
        w.store = mx.kv.create('local')
        for i, p in enumerate(w.params):
            w.store.init(i, nd.zeros(p.shape, dtype=p.dtype))
    for i, p in enumerate(w.params):
        if p.grad_req != 'null':
            w.store.push(i, p.list_grad())
            total = nd.zeros(p.shape, dtype=p.dtype)
            w.store.pull(i, out=total)
            w.see('pulled', total)


@action
def profile(w):
    mx.profiler.set_config(filename=os.path.join(w.folder.name, 'profile.json'), profile_all=True)
    mx.profiler.set_state('run')
    mx.profiler.set_state('stop')
    mx.profiler.dump()


@action
def forget(w):
    """Nobody refers to what was computed."""
    w.out = w.loss = nd.zeros((1,))
    w.other, w.kept = nd.zeros((1,)), []
    gc.collect()


@action
def drop_data(w):
    w.x = w.y = nd.zeros((1, *w.x.shape[1:]))
    w.base = None
    gc.collect()


@action
def detach(w):
    w.kept = [w.loss.detach(), w.out.detach()]
    w.kept[0][:] = 0
    w.see('loss', w.loss)


# ---------------------------------------------------------------------- gradients that change
@action
def clip(w):
    w.see('norm', float(gluon.utils.clip_global_norm([p.grad() for p in w.learned()], 0.1)))


@action
def clip_lazily(w):
    norm = gluon.utils.clip_global_norm([p.grad() for p in w.learned()], 0.1, check_isfinite=False)
    w.see('norm', norm)


@action
def clip_each(w):
    for p in w.learned():
        nd.clip(p.grad(), -0.05, 0.05, out=p.grad())


@action
def halve(w):
    for p in w.learned():
        gradient = p.grad()
        gradient[:] = gradient * 0.5


@action
def add_in_place(w):
    for p in w.learned():
        gradient = p.grad()
        gradient += 0.01


@action
def write_held(w):
    for array in w.held:
        array[:] = array + 0.125


@action
def write_a_row(w):
    p = w.learned()[0]
    p.grad()[0] = 0.5
    p.grad()[0:1][:] = 0.25


@action
def write_kept(w):
    for array in w.kept[:4]:
        array[:] = 0.25


@action
def write_aliases(w):
    for tensor in w.aliases or ():
        tensor.mul_(0.5)


@action
def zero(w):
    w.net.collect_params().zero_grad()


@action
def zero_one(w):
    w.learned()[-1].zero_grad()


@action
def decay(w):
    """A gradient that an operator adds to, by hand."""
    p = w.learned()[0]
    nd.elemwise_add(p.grad(), p.data() * 0.1, out=p.grad())


@action
def exchange_buffers(w):
    """Another array becomes the gradient."""
    p = w.learned()[0]
    autograd.mark_variables([p.data()], [nd.full(p.shape, 0.5, dtype=p.dtype)], 'write')


@action
def attach_again(w):
    w.learned()[0].data().attach_grad()


@action
def attach_data(w):
    w.x.attach_grad()


# ---------------------------------------------------------------------- weights, data and others that change
@action
def set_weights(w):
    for p in w.params:
        p.set_data(p.data() * 0.5)


@action
def write_weight(w):
    w.learned()[0].data()[:] = 0.25


@action
def scale_weight(w):
    weight = w.learned()[-1].data()
    weight *= 1.5


@action
def write_a_view_of_a_weight(w):
    w.learned()[0].data()[0:1][:] = 0.5


@action
def write_average(w):
    for p in w.params:
        if 'running' in p.name:
            p.data()[:] = 0.5


@action
def write_data(w):
    w.x[:] = 0.25
    w.y[:] = 1


@action
def write_base(w):
    """The memory that the data are a view of, or share with NumPy or torch."""
    if w.base is not None:
        w.base[:] = 1


@action
def write_output(w):
    w.out[:] = 0.5


@action
def write_loss(w):
    w.loss[:] = 0.5


@action
def write_into_loss(w):
    nd.ones(w.loss.shape).copyto(w.loss)


# ---------------------------------------------------------------------- settings that change
@action
def rate(w):
    w.trainer.set_learning_rate(0.3)


@action
def slow(w):
    w.trainer.set_learning_rate(w.trainer.learning_rate * 0.5 if w.trainer.optimizer.lr_scheduler is None else 0.1)


@action
def multipliers(w):
    w.learned()[0].lr_mult, w.learned()[-1].wd_mult = 0.5, 2.0


@action
def set_lr_mult(w):
    w.trainer.optimizer.set_lr_mult({0: 0.25})


@action
def rescale(w):
    w.trainer._scale = 0.5


@action
def freeze(w):
    w.learned()[0].grad_req = 'null'


@action
def add_up(w):
    for p in w.learned():
        p.grad_req = 'add'


@action
def write_over(w):
    for p in w.params:
        p.grad_req = 'write'


@action
def seed(w):
    mx.random.seed(11)


@action
def draw(w):
    w.see('drawn', nd.random.uniform(shape=(3,)))


@action
def drop_out(w):
    with autograd.train_mode():
        w.see('dropped', nd.Dropout(nd.ones((20,)), p=0.5))


@action
def hybridize(w):
    w.hybridize(True)


@action
def hybridize_static(w):
    """Without predictions, which may then have other last digits."""
    w.hybridize(True, static_alloc=True)


@action
def unhybridize(w):
    w.hybridize(False)


@action
def cast_and_back(w):
    w.net.cast('float64')
    w.net.cast(w.program.dtype)


@action
def reset_ctx(w):
    w.net.collect_params().reset_ctx(w.contexts)


@action
def initialize(w):
    w.net.initialize(mx.init.Xavier(), ctx=w.contexts, force_reinit=True)


@action
def new_trainer(w):
    w.trainer = gluon.Trainer(w.net.collect_params(), 'sgd', {'learning_rate': 0.1})


@action
def two_trainers(w):
    """One of them updates some of the parameters, before the other has all."""
    some = {p.name: p for p in w.learned()[:2]}
    trainer = gluon.Trainer(some, 'sgd', {'learning_rate': 0.1}, kvstore=None)
    trainer.step(2)
    for p in w.learned():
        p._trainer = w.trainer


# ---------------------------------------------------------------------- other computations on the way
@action
def predict(w):
    out = w.net(w.x)
    w.see('prediction', out[0] if isinstance(out, (list, tuple)) else out)


@action
def predict_on_the_tape(w):
    with autograd.record(train_mode=False):
        out = w.net(w.x)
    w.see('prediction', out[0] if isinstance(out, (list, tuple)) else out)


@action
def go_forward(w):
    """Recorded, and never differentiated."""
    with autograd.record():
        w.other_run = w.net(w.x * 2)


@action
def go_forward_and_look(w):
    with autograd.record():
        out = w.net(w.x * 2)
    w.see('output', out[0] if isinstance(out, (list, tuple)) else out)


def _again(w):
    with autograd.record():
        out = w.net(w.x * 0.5)
        value = w.loss_of(out[0] if isinstance(out, (list, tuple)) else out, w.y)
    return value


@action
def again(w):
    """A second step: its gradients replace the first, or are added."""
    _again(w).backward()


@action
def again_in_a_thread(w):
    in_thread(lambda: _again(w).backward())


@action
def step_in_a_thread(w):
    in_thread(lambda: w.trainer.step(2))


@action
def again_with_heads(w):
    value = _again(w)
    value.backward(nd.full(value.shape, 0.5))


@action
def again_paused(w):
    with autograd.record():
        out = w.net(w.x)
        with autograd.pause():
            inside = w.net(w.x)
        w.see('prediction', inside[0] if isinstance(inside, (list, tuple)) else inside)
        value = w.loss_of(out[0] if isinstance(out, (list, tuple)) else out, w.y)
    value.backward()


@action
def penalty(w):
    """Another gradient of the parameters, without the network."""
    with autograd.record():
        total = sum((p.data() ** 2).sum() for p in w.learned())
    total.backward()
    w.see('penalty', total)


@action
def apart(w):
    """`autograd.grad` leaves gradients as they are."""
    weight = w.learned()[0].data()
    with autograd.record():
        total = (weight ** 3).sum()
    w.see('apart', autograd.grad(total, weight)[0])


@action
def fail(w):
    """A mistake in the middle."""
    try:
        w.net(nd.ones((3, 2, 2, 2, 2)))
    except mx.MXNetError:
        w.see('failed', 'as it should')


@action
def fail_on_the_tape(w):
    try:
        with autograd.record():
            out = w.net(nd.ones((3, 2, 2, 2, 2)))
        out.backward()
    except mx.MXNetError:
        w.see('failed', 'as it should')


@action
def backward_again(w):
    w.loss.backward()


@action
def keep_graph(w):
    """Before `backward`: it can be done twice."""
    w.loss.backward(retain_graph=True)


@action
def step_early(w):
    w.trainer.step(3)


@action
def step_twice(w):
    w.trainer.step(3)
    w.trainer.step(3, ignore_stale_grad=True)


@action
def average_gradients(w):
    """As a program of several workers does."""
    w.trainer.allreduce_grads()
    for p in w.learned():
        p.list_grad()[0][:] /= 2
    w.trainer.update(1)


@action
def own_updater(w):
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.05))
    for i, p in enumerate(w.learned()):
        updater(i, p.grad(), p.data())


@action
def update_by_torch(w):
    """An optimizer of torch's on the same memory."""
    for p in w.learned():
        p.data().to_torch().sub_(p.grad().to_torch(), alpha=0.1)


@action
def two_networks(w):
    """Another network's step in between, which ends later."""
    if not hasattr(w, 'second'):
        w.second = gluon.nn.Dense(2, in_units=3)
        w.second.initialize(mx.init.One())
        if w.planned:
            w.second.hybridize()
        w.second_trainer = gluon.Trainer(w.second.collect_params(), 'sgd', {'learning_rate': 0.1})
    with autograd.record():
        value = w.second(nd.ones((2, 3))).sum()
    value.backward()
    w.second_trainer.step(2)
    w.see('second', w.second.weight.data())
