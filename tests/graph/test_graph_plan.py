"""Plans: what is left out of them, where they write, when they are made, and that they compute what programs do."""
import gc
import subprocess
import sys

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import nd, sym
from mxnet._graph.codegen import plan as planning
from mxnet._graph.codegen.plan import Plans
from mxnet._graph.ir.program import Program
from mxnet._graph.trace.reused_results import TraceResults
from mxnet._graph.trace.tracing import Traced
from mxnet.ndarray._plan_node import generators_of

generator_of = generators_of(mx.cpu())


def mlp(width=6):
    x = sym.Activation(sym.FullyConnected(sym.var('data'), num_hidden=width, name='fc1'), act_type='relu')
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=3, name='fc2'), name='softmax')


def bound(symbol, seed=0, **shapes):
    exe = symbol.simple_bind(mx.cpu(), **shapes)
    random = np.random.RandomState(seed)
    for name, array in exe.arg_dict.items():
        array[:] = random.randint(0, 3, array.shape) if 'label' in name else random.normal(size=array.shape)
    return exe


def step(exe, **kwargs):
    exe.forward(is_train=True)
    exe.backward(**kwargs)
    return [o.asnumpy() for o in exe.outputs] + [g.asnumpy() for g in exe.grad_arrays if g is not None]


def plan_of(exe):
    return next(p for p in exe._plans._plans.values() if p is not None)


@pytest.mark.parametrize('symbol, shapes', [
    (mlp(), {'data': (4, 5)}),
    (sym.sum(sym.FullyConnected(sym.var('a'), num_hidden=3, no_bias=True) * 2), {'a': (4, 5)}),
    (sym.broadcast_add(sym.var('a'), sym.var('b')) * sym.var('a'), {'a': (3, 2), 'b': (1, 2)}),
    (sym.Group([sym.var('a') + sym.var('b'), sym.BlockGrad(sym.var('a')), sym.var('b')]), {'a': (2, 2), 'b': (2, 2)}),
    (sym.tanh(sym.sigmoid(sym.relu(sym.var('a') - 1) + sym.var('a')) / 3), {'a': (4, 3)}),
    (sym.transpose(sym.Reshape(sym.var('a') * 2, shape=(3, 4))), {'a': (4, 3)}),
    (sym.BatchNorm(sym.Convolution(sym.var('a'), kernel=(3, 3), num_filter=4, name='c'), fix_gamma=False, name='b'),
     {'a': (2, 3, 6, 6)}),
], ids=['mlp', 'product', 'broadcast', 'identities', 'elementwise', 'views', 'convolution'])
def test_plans_compute_what_programs_do(symbol, shapes):
    """Run after run: the first without a plan, the second with a new one, the third without looking at the arrays."""
    exe = bound(symbol, **shapes)
    states = [a.copy() for a in exe.aux_arrays]
    heads = [nd.array(np.random.RandomState(1).normal(size=o.shape)) for o in exe.outputs]
    runs = []
    for _ in range(4):
        for array, value in zip(exe.aux_arrays, states, strict=True):
            array[:] = value
        runs.append([*step(exe, out_grads=heads), *[a.asnumpy() for a in exe.aux_arrays]])
    assert exe._bound_runs, 'there must be a plan'
    for later in runs[1:]:
        for a, b in zip(runs[0], later, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_what_is_left_out():
    exe = bound(mlp(), data=(4, 5))
    for _ in range(2):
        step(exe)
    source = plan_of(exe).source
    for name in ('_arange', '_detach', '_slice', '_addmm'):
        assert name not in source
    assert source.count('_linear') == 2, 'a transpose and a product are one call'
    assert source.count('_reuse') == 2, 'relu and its gradient write over what they get'
    # data, weights and biases; nothing goes back to the label
    assert plan_of(exe).direct == (True,) * 5 + (False,), 'gradients are computed where they belong'


def test_gradients_go_to_the_memory_that_a_program_gave():
    """Also if it is a part of another array."""
    flat = nd.zeros((2 * 4 + 2,))
    grads = {'fc_weight': flat[:8].reshape((2, 4)), 'fc_bias': flat[8:]}
    args = {'data': nd.ones((3, 4)), 'fc_weight': nd.ones((2, 4)), 'fc_bias': nd.zeros((2,))}
    exe = sym.FullyConnected(sym.var('data'), num_hidden=2, name='fc').bind(mx.cpu(), args, grads)
    for _ in range(3):
        flat[:] = 0
        exe.forward(is_train=True)
        exe.backward()
        assert flat.asnumpy().tolist() == [3] * 10


def test_buffers_of_another_dtype_or_requirement_are_respected():
    weight = nd.ones((2, 4))
    grads = {'fc_weight': nd.zeros((2, 4), dtype='float64'), 'data': nd.zeros((3, 4))}
    exe = sym.FullyConnected(sym.var('data'), num_hidden=2, no_bias=True, name='fc').bind(
        mx.cpu(), {'data': nd.ones((3, 4)), 'fc_weight': weight}, grads, grad_req={'fc_weight': 'write', 'data': 'add'})
    for time in range(1, 4):
        exe.forward(is_train=True)
        exe.backward()
        assert (grads['fc_weight'].asnumpy() == 3).all() and (grads['data'].asnumpy() == 2 * time).all()


def test_outputs_are_the_programs_own():
    """One that is an input shares its memory, as upstream's does; others may be written into."""
    exe = sym.Group([sym.var('a'), sym.zeros((2,)), sym.var('a') * 1]).bind(mx.cpu(), {'a': nd.ones((2,))})
    for number in range(4):
        given, *others = exe.forward()
        for output in others:
            output[:] = 7
        assert exe.arg_dict['a'].asnumpy().tolist() == [number or 1] * 2
        given[:] = number + 1
        assert exe.arg_dict['a'].asnumpy().tolist() == [number + 1] * 2
    assert exe.forward()[1].asnumpy().tolist() == [0, 0]


def test_saved_values_survive_a_second_backward():
    """What backward reuses is its own."""
    class Twice(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.sigmoid(F.exp(x) * 2) * x

    net = Twice()
    net.hybridize()
    x = nd.array([0.3, -0.5])
    x.attach_grad()
    for _ in range(3):
        with mx.autograd.record():
            y = net(x)
        y.backward(retain_graph=True)
        first = x.grad.copy()
        y.backward()
        assert (first.asnumpy() == x.grad.asnumpy()).all()


def test_arrays_that_are_replaced_are_noticed():
    exe = bound(mlp(), data=(4, 5))
    for _ in range(3):
        expected = step(exe)
    array = exe.arg_dict['data']
    array._rebind(array.materialize().clone())
    for a, b in zip(step(exe), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    array[:] = 0
    assert (step(exe)[0] != expected[0]).any()


def test_modes_have_plans_of_their_own():
    exe = bound(sym.Dropout(sym.var('a'), p=0.5), a=(100,))
    exe.arg_dict['a'][:] = 1
    for _ in range(3):
        assert (exe.forward(is_train=True)[0].asnumpy() == 0).any()
        assert (exe.forward(is_train=False)[0].asnumpy() == 1).all()
    assert sorted(exe._bound_runs) == [False, True]


def test_a_monitor_ends_plans():
    exe = bound(mlp(), data=(4, 5))
    for _ in range(3):
        step(exe)
    seen = []
    exe.set_monitor_callback(lambda name, array: seen.append(name))
    step(exe)
    assert 'softmax_output' in seen and not exe._bound_runs


def test_reshaped_executors_share_plans():
    exe = bound(mlp(), data=(4, 5))
    small = exe.reshape(data=(2, 5), softmax_label=(2,))
    for _ in range(2):
        step(exe)
        step(small)
    made = len(exe._plans._plans)
    again = exe.reshape(data=(2, 5), softmax_label=(2,))
    for _ in range(2):
        step(again)
    assert again._plans is exe._plans and len(exe._plans._plans) == made == 2
    assert again.arg_dict['fc1_weight'] is exe.arg_dict['fc1_weight']


def test_large_graphs_earn_their_plan(monkeypatch):
    x = sym.var('a')
    for _ in range(planning.SMALL + 1):
        x = x + 1
    plans = Plans(Program(x._entries))
    assert not plans.due('kind') and not plans.due('kind')
    plans.ran('kind', planning.TRACING * planning.SMALL)
    assert not plans.due('kind')
    plans.ran('kind', 2 * planning.TRACING)
    assert plans.due('kind') and not plans.due('another')
    small = Plans(Program((sym.var('a') + 1)._entries))
    assert not small.due('kind')
    small.ran('kind', 0)
    assert small.due('kind')
    for number in range(planning.LIMIT + 1):
        small.ran(number, 0)
    assert not small.due('kind'), 'what was long ago is forgotten'


@pytest.mark.parametrize('mode', ['lstm', 'gru', 'rnn_tanh'])
@pytest.mark.filterwarnings('ignore:FusedRNNCell')
def test_recurrent_layers(mode):
    """oneDNN's LSTM keeps what backward needs only in grad mode."""
    cell = mx.rnn.FusedRNNCell(4, mode=mode, prefix='r_')
    outputs, _ = cell.unroll(3, sym.var('data'), merge_outputs=True, layout='TNC')
    exe = bound(outputs, data=(3, 2, 5))
    first = step(exe)
    for _ in range(2):
        for a, b in zip(first, step(exe), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert torch.is_grad_enabled() and plan_of(exe) is not None


def test_sums_without_their_axes():
    """A sum that keeps axes and a view that drops them are one call, whatever the axes."""
    a, b = sym.var('a'), sym.var('b')
    exe = bound(sym.broadcast_mul(a, b), a=(3, 4, 5), b=(1, 4, 1))
    first = step(exe)
    for _ in range(2):
        for x, y in zip(first, step(exe), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_a_trace_draws_no_random_numbers():
    """The same numbers, run after run, as without a plan."""
    found = []
    for hybridize in (True, False):
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Dropout(0.5))
        if hybridize:
            net.hybridize()
        mx.random.seed(7)
        for _ in range(3):
            x = mx.nd.ones((4, 8))
            x.attach_grad()
            with mx.autograd.record():
                out = net(x)
            out.backward()
            found.append((out.asnumpy(), x.grad.asnumpy()))
        if hybridize:
            assert net._cached_op.deferral.last_step.runner.plan is not None
    for one, other in zip(found[:3], found[3:], strict=True):
        assert (one[0] == other[0]).all() and (one[1] == other[1]).all()


def plan_for(symbol, tensors, **kwargs):
    program = Program(symbol._entries)
    return planning.make_plan(program, tensors, training=True, generator=generator_of, device=torch.device('cpu'),
                              **kwargs)


NET = sym.Dropout(sym.FullyConnected(sym.var('a'), sym.var('w'), no_bias=True, num_hidden=4)) + sym.var('b')
CALLS = [('joint', {'wanted': (0, 1, 2), 'heads': (0,)}), ('forward', {'wanted': ()}),
         ('infer', {'wanted': (), 'parameters': (1,)})]


def call(plan, name, tensors):
    """All results of a plan's function, with targets that gradients can be written to."""
    rest = {'joint': [[torch.zeros_like(t) for t in tensors]], 'forward': [], 'infer': [[]]}[name]
    if name == 'infer':
        rest = [plan.prepare(tensors)]
    found = getattr(plan, name)(tensors, *rest)
    found = found if name == 'infer' else [t for group in found for t in group]
    return [t.clone() for t in found], rest


@pytest.mark.parametrize('name, kwargs', CALLS, ids=[c[0] for c in CALLS])
def test_a_first_run_is_that_of_the_trace(name, kwargs):
    """Nothing is computed twice; random numbers and gradients are those of a run."""
    mx.random.seed(3)
    tensors = [torch.rand(3, 5), torch.rand(4, 5), torch.rand(3, 4)]
    plan, state = plan_for(NET, tensors, **kwargs), generator_of(torch.device('cpu')).get_state()
    first = getattr(plan, name)
    assert type(first) is TraceResults
    runs, function = [], first._function
    first._function = lambda *args: runs.append(1) or function(*args)
    one, targets = call(plan, name, tensors)
    after = generator_of(torch.device('cpu')).get_state()
    assert not runs and getattr(plan, name) is first._function, 'only the first run'
    generator_of(torch.device('cpu')).set_state(state)
    two, others = call(plan, name, tensors)
    assert runs and torch.equal(generator_of(torch.device('cpu')).get_state(), after)
    for a, b in zip(one, two, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)
    if name == 'joint':
        assert any(plan.direct)
        for a, b in zip(targets[0], others[0], strict=True):
            torch.testing.assert_close(a, b, rtol=0, atol=0)


@pytest.mark.parametrize('change', ['value', 'tensor', 'numbers'])
def test_a_first_run_with_something_else_is_computed(change):
    mx.random.seed(3)
    tensors = [torch.rand(3, 5), torch.rand(4, 5), torch.rand(3, 4)]
    plan = plan_for(NET, tensors, wanted=(0, 1, 2), heads=(0,))
    if change == 'value':
        tensors[1].mul_(2)
    elif change == 'tensor':
        tensors[1] = tensors[1] * 2
    else:
        mx.nd.random.uniform(shape=(2,))
    state = generator_of(torch.device('cpu')).get_state()
    one, _ = call(plan, 'joint', tensors)
    generator_of(torch.device('cpu')).set_state(state)
    two, _ = call(plan, 'joint', tensors)
    for a, b in zip(one, two, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)


def test_results_of_a_trace_do_not_share_memory():
    """Two outputs that are parts of one tensor, an input, and one output twice."""
    a = sym.var('a')
    joined = sym.concat(a * 2, a * 3, dim=0)
    pieces = sym.split(joined, num_outputs=2, axis=0)
    tensors = [torch.rand(2, 3)]
    plan = plan_for(sym.Group([pieces[0], pieces[1], a, a]), tensors, wanted=())
    found = plan.forward(tensors)[0]
    assert len({t.untyped_storage().data_ptr() for t in (*found, *tensors)}) == 5


@pytest.mark.parametrize('kwargs', [{'wanted': (0, 1, 2), 'heads': (0,)}, {'wanted': (1, 2)}, {'wanted': ()},
                                    {'wanted': (), 'parameters': (1,)}])
def test_a_trace_leaves_no_values_behind(kwargs):
    """Not even for the garbage collector."""
    def alive():
        return [o for o in gc.get_objects() if type(o) is Traced]

    gc.collect()
    gc.disable()
    try:
        before = len(alive())
        tensors = [torch.rand(3, 5), torch.rand(4, 5), torch.rand(3, 4)]
        net = sym.BatchNorm(sym.relu(NET), name='n')
        assert plan_for(NET if 'parameters' in kwargs else net, [*tensors, *[torch.ones(4)] * (
            0 if 'parameters' in kwargs else 4)], **kwargs) is not None
        assert len(alive()) == before
    finally:
        gc.enable()


NETWORK = """
import sys
import mxnet as mx
net = mx.gluon.nn.HybridSequential()
net.add({layers})
net.initialize(mx.init.Xavier())
net.hybridize({flags})
trainer = mx.gluon.Trainer(net.collect_params(), 'adam')
loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
x, y = mx.nd.ones({shape}), mx.nd.zeros(({shape}[0],))
for _ in range(3):
    with mx.autograd.record():
        loss = loss_of(net(x), y)
    loss.backward()
    trainer.step(4)
for _ in range(3):
    net(x).asnumpy()
assert net._cached_op.deferral.last_step.runner.plan is not None
print([m for m in ('sympy', 'torch._dynamo', 'torch.fx.experimental.symbolic_shapes') if m in sys.modules])
"""
MODULE = """
import sys
import mxnet as mx
net = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=8), act_type='relu')
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3), name='softmax')
module = mx.mod.Module(net)
data = mx.io.NDArrayIter(mx.nd.ones((12, 5)), mx.nd.zeros((12,)), 4, label_name='softmax_label')
module.fit(data, num_epoch=2)
module.predict(data).asnumpy()
assert any(module._exec_group.execs[0]._plans._plans.values())
print([m for m in ('sympy', 'torch._dynamo', 'torch.fx.experimental.symbolic_shapes') if m in sys.modules])
"""
LAYERS = 'mx.gluon.nn.Dense(8, activation="relu"), mx.gluon.nn.Dropout(0.5), mx.gluon.nn.Dense(3)'
PICTURES = ('mx.gluon.nn.Conv2D(4, 3, padding=1), mx.gluon.nn.BatchNorm(), mx.gluon.nn.Activation("relu"), '
            'mx.gluon.nn.MaxPool2D(), mx.gluon.nn.Conv2D(4, 3), mx.gluon.nn.LeakyReLU(0.1), '
            'mx.gluon.nn.GlobalAvgPool2D(), mx.gluon.nn.Flatten(), mx.gluon.nn.LayerNorm(), mx.gluon.nn.Dense(3)')
STATIC = 'static_alloc=True, static_shape=True'


@pytest.mark.parametrize('program', [
    NETWORK.format(layers=LAYERS, flags='', shape=(4, 5)), NETWORK.format(layers=LAYERS, flags=STATIC, shape=(4, 5)),
    NETWORK.format(layers=PICTURES, flags=STATIC, shape=(4, 3, 8, 8)), MODULE,
], ids=['mlp', 'static', 'pictures', 'module'])
def test_a_first_call_does_not_import_the_compiler(program):
    """A second in which nothing happens; it comes with torch's own shape rules, and with its tracer."""
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split('\n')[-2] == '[]'
