"""Actions of programs that change gradients, weights, data and settings (plan_actions.py)."""
from plan_actions import Actions

import mxnet as mx
from mxnet import autograd, gluon, nd

action = Actions()


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


# ---------------------------------------------------------------------- the optimizer, from within
def _states(w):
    """The arrays of the optimizer's states."""
    w.trainer._prepare()
    waiting, found = [s for _, s in sorted(w.trainer._updaters[0].states.items())], []
    while waiting:
        state = waiting.pop(0)
        if isinstance(state, (list, tuple)):
            waiting = [*state, *waiting]
        elif state is not None:
            found.append(state)
    return found


@action
def see_states(w):
    for state in _states(w):
        w.see('state', state)


@action
def write_states(w):
    for state in _states(w):
        state[:] = state * 0.5


@action
def forget_states(w):
    w.trainer._updaters[0].states.clear()


@action
def numbers(w):
    """What an optimizer was made with is written anew."""
    for name, value in (('wd', 0.02), ('momentum', 0.3), ('beta1', 0.8), ('clip_gradient', 0.1), ('epsilon', 1e-3)):
        if hasattr(w.trainer.optimizer, name):
            setattr(w.trainer.optimizer, name, value)


@action
def decay_one(w):
    w.learned()[0].wd_mult = 3.0


@action
def lr_directly(w):
    w.trainer.optimizer.lr = 0.02


@action
def count_updates(w):
    """As if it had gone on for longer."""
    optimizer = w.trainer.optimizer
    optimizer.num_update += 7
    for key in optimizer._index_update_count:
        optimizer._index_update_count[key] += 7


@action
def schedule(w):
    scheduler = w.trainer.optimizer.lr_scheduler
    if scheduler is not None:
        scheduler.base_lr *= 0.5


@action
def see_rate(w):
    w.see('rate', float(w.trainer.learning_rate))


@action
def other_optimizer(w):
    """The same arrays, updated by another optimizer from now on."""
    w.trainer = gluon.Trainer(w.net.collect_params(), mx.optimizer.Adam(learning_rate=0.01))
