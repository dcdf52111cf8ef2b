"""Executors: running, gradients, plans, placement, reshaping, monitoring."""
import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import nd, sym


def net():
    x = sym.FullyConnected(sym.var('data'), num_hidden=6, name='fc1')
    x = sym.BatchNorm(x, fix_gamma=False, name='bn')
    x = sym.Dropout(sym.Activation(x, act_type='tanh'), p=0.5)
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=3, name='fc2'), name='softmax')


def bound(grad_req='write', **kwargs):
    exe = net().simple_bind(mx.cpu(), data=(4, 5), grad_req=grad_req, **kwargs)
    mx.random.seed(3)
    for name, array in exe.arg_dict.items():
        array[:] = nd.array([0, 1, 2, 1]) if name == 'softmax_label' else nd.random.normal(shape=array.shape)
    exe.aux_dict['bn_moving_var'][:] = 1
    return exe


def run(exe, times):
    """Results of a training step that is repeated from the same state."""
    results = []
    for _ in range(times):
        mx.random.seed(7)
        exe.aux_dict['bn_moving_mean'][:] = 0
        exe.forward(is_train=True)
        exe.backward()
        results.append([exe.outputs[0].asnumpy(), exe.aux_dict['bn_moving_mean'].asnumpy(),
                        *[g.asnumpy() for g in exe.grad_arrays if g is not None]])
    return results


def test_a_plan_computes_the_same_bits():
    """The first run goes through torch's engine, the later ones through the plan."""
    exe = bound()
    first, *later = run(exe, 4)
    assert exe._plans._plans and None not in exe._plans._plans.values()
    for again in later:
        for a, b in zip(first, again, strict=True):
            np.testing.assert_array_equal(a, b)


def test_prediction_plan_and_states():
    exe = bound()
    before = exe.aux_dict['bn_moving_mean'].asnumpy()
    outs = [exe.forward(is_train=False)[0].asnumpy() for _ in range(3)]
    np.testing.assert_array_equal(outs[0], outs[2])
    np.testing.assert_array_equal(before, exe.aux_dict['bn_moving_mean'].asnumpy())


def test_outputs_stay_the_same_objects():
    exe = bound()
    outs = exe.outputs
    assert outs[0].shape == (4, 3) and (outs[0].asnumpy() == 0).all()
    exe.forward()
    assert exe.outputs[0] is outs[0] and outs[0].asnumpy().sum() == pytest.approx(4)


@pytest.mark.parametrize('times', [1, 3])
def test_gradients(times):
    a, b = sym.var('a'), sym.var('b')
    args = {'a': nd.array([1, 2]), 'b': nd.array([3, 4])}
    grads = {'a': nd.zeros(2), 'b': nd.ones(2)}
    exe = (a * b + a).bind(mx.cpu(), args, grads, {'a': 'write', 'b': 'add'})
    for _ in range(times):
        exe.forward(is_train=True)
        exe.backward(nd.array([10, 100]))
    assert grads['a'].asnumpy().tolist() == [40, 500]
    assert grads['b'].asnumpy().tolist() == [1 + 10 * times, 1 + 200 * times]


def test_gradients_of_some_arguments_only():
    exe = bound({'fc1_weight': 'write'})
    run(exe, 3)
    assert exe.grad_dict['fc2_weight'] is None and abs(exe.grad_dict['fc1_weight'].asnumpy()).sum() > 0


def test_several_outputs_and_missing_gradients():
    a = sym.var('a')
    exe = sym.Group([a * 2, sym.BlockGrad(a * 3)]).bind(mx.cpu(), {'a': nd.array([1.0])}, {'a': nd.zeros(1)})
    for _ in range(3):
        exe.forward(is_train=True)
        exe.backward([nd.array([5.0]), nd.array([7.0])])
        assert exe.grad_dict['a'].asscalar() == 10


def test_an_output_that_is_an_input_is_a_copy():
    a = nd.array([1, 2])
    exe = sym.identity(sym.var('a')).bind(mx.cpu(), {'a': a})
    for _ in range(3):
        exe.forward()[0][:] = 9
        assert a.asnumpy().tolist() == [1, 2]


def test_reshape_shares_parameters():
    exe = bound()
    small = exe.reshape(data=(2, 5), softmax_label=(2,))
    assert small.arg_dict['fc1_weight'] is exe.arg_dict['fc1_weight']
    assert small.forward()[0].shape == (2, 3)
    with pytest.raises(AssertionError, match='allow_up_sizing'):
        exe.reshape(data=(9, 5), softmax_label=(9,))
    assert exe.reshape(data=(9, 5), softmax_label=(9,), allow_up_sizing=True).forward()[0].shape == (9, 3)


def test_placement_on_several_contexts():
    with mx.AttrScope(ctx_group='a'):
        x = sym.FullyConnected(sym.var('data'), num_hidden=4, name='fc1')
    with mx.AttrScope(ctx_group='b'):
        y = sym.FullyConnected(x, num_hidden=2, name='fc2')
    exe = y.simple_bind(mx.cpu(0), data=(3, 5), group2ctx={'a': mx.cpu(1), 'b': mx.cpu(2)})
    assert exe.arg_dict['fc1_weight'].context == mx.cpu(1) and exe.arg_dict['fc2_weight'].context == mx.cpu(2)
    assert exe.forward()[0].context == mx.cpu(2)


def test_monitor():
    exe = bound()
    seen = []
    exe.set_monitor_callback(lambda name, array: seen.append((name, array.shape)))
    exe.forward(is_train=True)
    assert ('fc1_output', (4, 6)) in seen and ('softmax_output', (4, 3)) in seen


def test_inputs_by_keyword():
    exe = bound()
    exe.forward(data=nd.ones((4, 5)))
    assert (exe.arg_dict['data'].asnumpy() == 1).all()
    with pytest.raises(TypeError, match='no argument dta'):
        exe.forward(dta=nd.ones((4, 5)))
    with pytest.raises(ValueError, match=r'\(2, 5\).*\(4, 5\)'):
        exe.forward(data=nd.ones((2, 5)))


def test_copy_params():
    exe = bound()
    exe.copy_params_from({'fc1_bias': nd.ones(6)}, {'bn_moving_mean': nd.ones(6)})
    assert exe.arg_dict['fc1_bias'].asnumpy().sum() == 6
    with pytest.raises(ValueError, match='nope'):
        exe.copy_params_from({'nope': nd.ones(6)})
    exe.copy_params_from({'nope': nd.ones(6)}, allow_extra_params=True)


def test_errors_name_the_node():
    y = sym.FullyConnected(sym.var('x'), num_hidden=3, no_bias=True, name='head')
    exe = y.bind(mx.cpu(), {'x': nd.ones((2, 5)), 'head_weight': nd.ones((3, 4))})
    with pytest.raises(mx.MXNetError, match='head'):
        exe.forward()
    with pytest.raises(ValueError, match='head_weight missing'):
        y.bind(mx.cpu(), {'x': nd.ones((2, 5))})
    with pytest.raises(mx.MXNetError, match='head_weight'):
        y.simple_bind(mx.cpu())


def test_eval_and_loops():
    a = sym.var('a')
    assert (a * 2).eval(a=nd.array([3]))[0].asscalar() == 6
    outs, last = sym.contrib.foreach(lambda x, s: (x + s, x + s), sym.var('x'), sym.var('s'))
    exe = sym.Group([outs, last]).bind(mx.cpu(), {'x': nd.array([[1], [2], [3]]), 's': nd.zeros(1)})
    assert exe.forward()[0].asnumpy().ravel().tolist() == [1, 3, 6]
    branch = sym.contrib.cond(sym.var('p'), lambda: a + 1, lambda: a - 1)
    for p, want in ((1, 6), (0, 4)):
        assert branch.eval(a=nd.array([5]), p=nd.array([p]))[0].asscalar() == want


def test_plans_are_written_out():
    exe = bound()
    run(exe, 2)
    plan = next(iter(exe._plans._plans.values()))
    assert 'def forward(tensors):' in plan.source and 'def backward(saved, heads, targets=' in plan.source
    assert 'detach' not in plan.source and torch.is_grad_enabled()


# ---------------------------------------------------------------------- at the edges
def test_permanent_dropout_goes_back_through_what_it_drew():
    net = mx.sym.Dropout(mx.sym.var('x'), p=0.5, mode='always')
    executor = net.simple_bind(mx.cpu(), x=(20, 20))
    executor.arg_dict['x'][:] = 1
    for training in (True, False, False, False):
        executor.forward(is_train=training)
        executor.backward([nd.ones((20, 20))], is_train=training)
        assert executor.grad_dict['x'].asnumpy().tolist() == executor.outputs[0].asnumpy().tolist()


def test_the_gradient_of_an_output_without_one_is_not_looked_at():
    x = mx.sym.var('x')
    executor = mx.sym.Group([mx.sym.argmax(x, axis=1, keepdims=True), x * 2]).simple_bind(mx.cpu(), x=(2, 3))
    for _ in range(4):
        executor.forward(is_train=True)
        executor.backward([nd.ones((2, 3)), nd.ones((2, 3))])
        assert executor.grad_dict['x'].asnumpy().tolist() == [[2, 2, 2]] * 2
        executor.forward(is_train=True)
        with pytest.raises(mx.MXNetError, match=r'gradient of output 1 has shape \(3, 3\)'):
            executor.backward([nd.ones((2, 1)), nd.ones((3, 3))])


def test_monitors_of_old_programs():
    import ctypes

    from mxnet.base import NDArrayHandle
    from mxnet.ndarray import NDArray
    seen = {}

    def callback(name, array):
        handle = ctypes.cast(array, NDArrayHandle)
        seen[name] = NDArray(handle, writable=False).sum().asscalar()

    executor = (mx.sym.var('x') * 2).bind(mx.cpu(), {'x': nd.ones((3,))})
    executor.set_monitor_callback(callback, monitor_all=True)
    executor.forward()
    assert sorted(seen.values()) == [3, 3, 6] and 'x' in seen
    x = nd.ones((2,))
    handle = x.handle
    NDArray(handle)[:] = 5
    assert x.asnumpy().tolist() == [5, 5]
    del x
    with pytest.raises(mx.MXNetError, match='array was freed'):
        NDArray(handle)


@pytest.mark.parametrize('stype', ['default', 'csr'])
def test_a_monitor_shows_the_names_of_upstream_in_its_order(stype):
    """As MXNet 1.9.1 for both kinds of storage: a variable before each node that reads it."""
    graph = mx.sym.abs(mx.sym.var('x', stype=stype), name='a') + mx.sym.var('w')
    arrays = {'x': nd.array([[1, 0], [0, -2]]).tostype(stype), 'w': nd.ones((2, 2))}
    executor, names = graph.bind(mx.cpu(), arrays), []
    executor.set_monitor_callback(lambda name, array: names.append(name), monitor_all=True)
    executor.forward()
    total = graph.name
    assert names == ['x', 'a_input0', 'a_output', f'{total}_lhs', 'w', f'{total}_rhs', f'{total}_output']


@pytest.mark.parametrize('req', ['null', 'write'])
@pytest.mark.parametrize('training', [False, True])
def test_outputs_that_are_arguments_share_their_memory(training, req):
    x = mx.sym.var('x')
    executor = mx.sym.Group([x * 2, x]).simple_bind(mx.cpu(), x=(2,), grad_req=req)
    executor.arg_dict['x'][:] = 4
    assert executor.outputs[1].asnumpy().tolist() == [4, 4]
    for i in range(4):
        double, same = executor.forward(is_train=training)
        before = executor.arg_dict['x'].asnumpy()
        executor.arg_dict['x'][:] = i
        assert same.asnumpy().tolist() == [i, i] and (double.asnumpy() == before * 2).all()
        same[:] = 10 + i
        assert executor.arg_dict['x'].asnumpy().tolist() == [10 + i, 10 + i]


@pytest.mark.parametrize('states', (lambda F, m, v: (m * 1, v), lambda F, m, v: (m, F.BlockGrad(v)),
                                    lambda F, m, v: (F.zeros_like(m), F.ones_like(v))))
@pytest.mark.parametrize('flags', ({}, {'static_alloc': True, 'static_shape': True}))
def test_states_must_be_variables(states, flags):
    """A graph cannot change a state that it computes; MXNet 1.9.1 refuses it, too."""
    class Normalized(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.m = self.params.get('m', shape=(2,), init='zeros', grad_req='null')
                self.v = self.params.get('v', shape=(2,), init='ones', grad_req='null')

        def hybrid_forward(self, F, x, m, v):
            return F.BatchNorm(x, F.ones((2,)), F.zeros((2,)), *states(F, m, v))

    net = Normalized()
    net.initialize()
    net.hybridize(**flags)
    for _ in range(3):
        with mx.autograd.record(), pytest.raises(mx.MXNetError, match='changes moving_.*, which must be a variable'):
            net(mx.nd.ones((3, 2)))
    x, m, v = map(mx.sym.var, 'xmv')
    with pytest.raises(mx.MXNetError, match='must be a variable'):
        mx.sym.BatchNorm(x, mx.sym.var('g'), mx.sym.var('b'), *states(mx.sym, m, v)).simple_bind(mx.cpu(), x=(3, 2))
