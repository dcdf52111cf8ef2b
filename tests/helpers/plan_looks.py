"""Actions of programs that look, in every way that there is (plan_actions.py)."""
import copy
import gc
import os
import pickle

import numpy
import torch
from plan_actions import Actions, in_thread

import mxnet as mx
from mxnet import nd

action = Actions()


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
    w.see('text', repr(w.learned()[-1].grad()).split('<')[-1])


@action
def see_shapes(w):
    """None of which needs a value."""
    w.see('shapes', [(p.grad().shape, str(p.grad().context), p.grad().size, p.grad().stype) for p in w.learned()])
    w.see('shape', (w.loss.shape, w.out.shape, w.out.ndim, str(w.loss.dtype)))
    w.see('inputs', (w.x.shape, len(w.y), str(w.y.dtype), [(p.data().shape, p.data().size) for p in w.params]))


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
    w.see('norm', numpy.array([p.grad().norm().asscalar() for p in w.learned()]))
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
    w.x = w.y = nd.zeros((1, *w.x.shape[1:]), dtype=w.x.dtype)
    w.base = None
    gc.collect()


@action
def detach(w):
    w.kept = [w.loss.detach(), w.out.detach()]
    w.kept[0][:] = 0
    w.see('loss', w.loss)
