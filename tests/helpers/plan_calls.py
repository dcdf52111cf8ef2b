"""Actions of programs that compute something else on the way (plan_actions.py)."""
import numpy
import torch
from plan_actions import Actions, in_thread

import mxnet as mx
from mxnet import autograd, gluon, nd

action = Actions()


# ---------------------------------------------------------------------- other computations on the way
@action
def predict(w):
    w.see('prediction', w.call(w.x))


@action
def predict_on_the_tape(w):
    with autograd.record(train_mode=False):
        w.see('prediction', w.call(w.x))


@action
def go_forward(w):
    """Recorded, and never differentiated."""
    with autograd.record():
        w.other_run = w.call(w.x * 2)


@action
def go_forward_and_look(w):
    with autograd.record():
        out = w.call(w.x * 2)
    w.see('output', out)


def _again(w):
    with autograd.record():
        return w.forward(w.x * 0.5, w.y)


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
        out = w.call(w.x)
        with autograd.pause():
            inside = w.call(w.x)
        w.see('prediction', inside)
        value = w.loss_of(out, w.y)
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
    except (mx.MXNetError, TypeError, ValueError):
        w.see('failed', 'as it should')


@action
def fail_on_the_tape(w):
    try:
        with autograd.record():
            out = w.net(nd.ones((3, 2, 2, 2, 2)))
        out.backward()
    except (mx.MXNetError, TypeError, ValueError):
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


# ---------------------------------------------------------------------- parts of the network, and others with its parts
def _child(w):
    return next(iter(w.net._children.values()), None)


@action
def child(w):
    """A part of the network alone, whose parameters wait elsewhere."""
    if w.program.net in ('dense', 'norm', 'layers', 'deferred', 'large', 'picture'):
        with autograd.record():
            out = _child(w)(w.x)
        w.see('part', out)


@action
def child_waits(w):
    if w.program.net in ('dense', 'norm', 'layers', 'deferred', 'large', 'picture'):
        with autograd.record():
            w.part = _child(w)(w.x)


@action
def see_part(w):
    if hasattr(w, 'part'):
        w.see('part', w.part)


@action
def child_backward(w):
    if w.program.net in ('dense', 'norm', 'layers', 'deferred', 'large', 'picture'):
        with autograd.record():
            out = _child(w)(w.x)
        out.backward()


@action
def child_predicts(w):
    if w.program.net in ('dense', 'norm', 'layers', 'deferred', 'large', 'picture'):
        w.see('part', _child(w)(w.x))


@action
def sharing(w):
    """Another block with some of the parameters."""
    if w.program.net in ('dense', 'norm', 'layers', 'deferred'):
        if not hasattr(w, 'shared'):
            w.shared = gluon.nn.Dense(3, in_units=6, params=w.net[-1].params)
            if w.planned:
                w.shared.hybridize()
        with autograd.record():
            out = w.shared(nd.ones((2, 6), dtype=w.program.dtype))
        out.backward()
        w.see('shared', out)


@action
def hook(w):
    """Somebody looks at every output from now on, and then no more."""
    handle = w.net.register_forward_hook(lambda block, given, out: w.see('hooked', (
        out[0] if isinstance(out, (list, tuple)) else out)))
    if w.program.net != 'carried':
        with autograd.record():
            w.net(w.x)
    handle.detach()


@action
def anomaly(w):
    with autograd.detect_anomaly():
        _again(w).backward()


@action
def no_grad(w):
    """torch's own switch, which is not ours."""
    with torch.no_grad():
        _again(w).backward()


@action
def astype(w):
    w.kept = [p.grad().astype('float64') for p in w.learned()] + [w.loss.astype('float64')]


@action
def arithmetic(w):
    """On what waits, recorded and not."""
    w.see('sum', w.loss + 1)
    with autograd.record():
        w.see('product', w.out * 2)


@action
def norm_of_weights(w):
    w.see('norm', sum(float((p.data() ** 2).sum().asscalar()) for p in w.learned()))


@action
def lists(w):
    for p in w.learned():
        w.see('listed', numpy.array(p.list_grad()[0].asnumpy().tolist()))
        w.see('listed', numpy.array(p.list_data()[0].asnumpy().tolist()))


@action
def numpy_views(w):
    """np arrays of the same memory."""
    p = w.learned()[0]
    w.see('np', p.grad().as_np_ndarray())
    p.grad().as_np_ndarray()[:] *= 0.5
