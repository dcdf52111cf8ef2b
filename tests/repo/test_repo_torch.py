"""Private names of torch are in one room, `mxnet/_torch`, and each has a fallback that works."""
import math

import pytest
import torch
from import_graph import PACKAGE, files
from torch_fallbacks import NEEDS
from torch_names import ROOM, private_names

from mxnet._ops.core import checks
from mxnet._torch import autograd, dispatch, lists, memory, operators, switch, tools

aten = torch.ops.aten


def test_private_names_are_in_one_room():
    found = {str(path.relative_to(PACKAGE)): names for path in files()
             if path.relative_to(PACKAGE).parts[0] != ROOM and (names := private_names(path))}
    assert not found, f'private names of torch outside of mxnet/{ROOM}: {found}'


@pytest.mark.parametrize('source, private', [
    ('import torch\ntorch._foreach_add', True),
    ('import torch\ntorch.utils._pytree', True),
    ('from torch import _C', True),
    ('from torch.utils._python_dispatch import TorchDispatchMode', True),
    ('import torch._dynamo', True),
    ('import torch as t\nt._C', True),
    ('import torch\naten = torch.ops.aten\naten._softmax.default', True),
    ('import torch\ngetattr(torch, "_int_mm", None)', True),
    ('def f(op):\n    return op._schema', True),
    ('def f(t):\n    return t.untyped_storage()._cdata', True),
    ('def f(tools):\n    return tools._nvrtc_compile', True),
    ('def f(tools):\n    return getattr(tools, "_nvrtc_compile")', True),
    ('def f(find):\n    return find("_cuda_load_module")', True),
    ('import ctypes\nctypes.CDLL("libtorch_cpu.so")', True),
    ('import torch\ntorch.__version__, torch.nn.functional', False),
    ('def f(t):\n    return t._version, t._base', False),
    ('def f(array):\n    return array._tensor', False),
])
def test_the_rule_itself(source, private, tmp_path):
    path = tmp_path / 'some.py'
    path.write_text(source)
    assert bool(private_names(path, str(PACKAGE))) is private


def test_tests_that_are_skipped_exist():
    folder = PACKAGE.parent / 'tests'
    for name, tests in NEEDS.items():
        [path] = folder.rglob(name)
        for test in tests:
            assert test == '*' or f'def {test.partition("[")[0]}(' in path.read_text(), (name, test)


def test_the_switch(run_python):
    code = ('from mxnet._torch import lists, dispatch, switch\n'
            'print(switch.ALLOWED, lists.foreach_copy_.__module__, dispatch.SEES_ALL)')
    assert run_python('-c', code, MXNET_TORCH_PRIVATE='0').stdout.split() == ['False', 'mxnet._torch.lists', 'False']
    assert run_python('-c', code, MXNET_TORCH_PRIVATE='1').stdout.split()[0] == 'True'


def pair(name):
    """(what torch has, the fallback); the test is skipped where torch has nothing."""
    found, fallback = switch.NAMES[name]
    if found is None:
        pytest.skip(f'torch {torch.__version__} has no {name}')
    return found, fallback


# ---------------------------------------------------------------------- lists
def tensors(seed, count=3):
    generator = torch.Generator().manual_seed(seed)
    return [torch.rand(2, n + 1, generator=generator) for n in range(count)]


def copies(columns):
    return [[t.clone() for t in column] for column in columns]


@pytest.mark.parametrize('name, others', [
    ('_foreach_add', [tensors(1)]), ('_foreach_sub', [tensors(1)]), ('_foreach_mul', [tensors(1)]),
    ('_foreach_mul', [0.3]), ('_foreach_mul', [[1.0, 2.0, 3.0]]), ('_foreach_clamp_min', [0.3]),
    ('_foreach_clamp_max', [0.3]), ('_foreach_norm', [])])
def test_lists(name, others):
    found, fallback = pair(name)
    for a, b in zip(found(tensors(0), *others), fallback(tensors(0), *others), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize('name, others, named', [
    ('_foreach_add_', [tensors(1)], {'alpha': -0.3}), ('_foreach_mul_', [0.3], {}),
    ('_foreach_copy_', [tensors(1)], {}), ('_foreach_lerp_', [tensors(1), 0.25], {})])
def test_lists_in_place(name, others, named):
    results = []
    for function in pair(name):
        mine = tensors(0)
        function(mine, *others, **named)
        results.append(mine)
    assert all(map(torch.equal, *results))


@pytest.mark.parametrize('moms', [True, False])
def test_fused_descent(moms):
    numbers = {'weight_decay': 0.01, 'momentum': 0.9 if moms else 0.0, 'lr': -1.0 if moms else 0.1,
               'dampening': 1.1 if moms else 0.0, 'nesterov': False, 'maximize': False, 'is_first_step': False}
    results = []
    for function in pair('_fused_sgd_'):
        columns = copies([tensors(0), tensors(1), tensors(2) if moms else []])
        function(*columns, **numbers)
        results.append([*columns[0], *columns[2]])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize('name', ['_fused_adam_', '_fused_adamw_'])
def test_fused_adam(name):
    results = []
    for function in pair(name):
        columns = copies([tensors(0), tensors(1), tensors(2), tensors(3)])
        function(*columns, [], [torch.tensor(math.inf)] * 3, lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.01, eps=1e-8,
                 amsgrad=False, maximize=False)
        results.append([t for column in columns for t in column])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b)


# ---------------------------------------------------------------------- memory
def test_identity_of_memory():
    x, y = torch.rand(3), torch.rand(3)
    for identity in memory.storage_id, memory._address:
        a, b, c = (identity(t.untyped_storage()) for t in (x, x[1:], y))
        assert a == b != c
    one, two = torch.empty(0).untyped_storage(), torch.empty(0).untyped_storage()
    assert memory._address(one) != memory._address(two)


def test_users_of_memory(monkeypatch):
    assert memory.users_of(torch.rand(3)) == memory.ALONE or not memory.ALONE
    monkeypatch.setattr(memory, '_count', None)
    assert memory.users_of(torch.rand(3)) > max(1000, memory.ALONE)
    pair('_C._cuda_clearCublasWorkspaces')[1]()


# ---------------------------------------------------------------------- autograd
def test_engine():
    def gradients(run):
        x = torch.tensor([2.0], requires_grad=True)
        unused = torch.tensor([2.0], requires_grad=True)
        [a, b] = run([x * x], [torch.ones(1)], False, False, [x, unused], False)
        y = x * 3
        run([y], [torch.ones(1)], False, False, (), True)
        return a.item(), b, x.grad.item()
    assert gradients(autograd.run_backward) == gradients(autograd.checked) == (4.0, None, 3.0)


def test_histories(monkeypatch):
    view = torch.rand(3, requires_grad=True)[1:]
    monkeypatch.setattr(autograd, '_swap', None)
    assert not autograd.take_history(view) and view.requires_grad
    assert switch.NAMES['_C._autograd._get_current_graph_task_keep_graph'][1]() is True
    assert switch.NAMES['autograd._unsafe_preserve_version_counter'][1] is None


@pytest.mark.parametrize('before', [autograd._before_node, autograd.before])
def test_hooks_before_a_node(before):
    x = torch.ones(2, requires_grad=True)
    result, calls = x * x, []
    before(result, lambda gradient: calls.append('first'))
    result.register_hook(lambda gradient: calls.append('second')).remove()
    result.sum().backward()
    assert calls == ['first'] and x.grad.tolist() == [2, 2]


# ---------------------------------------------------------------------- tracing
OPERATORS = [aten.add.Tensor, aten.add_.Tensor, aten.view.default, aten.convolution.default,
             aten.native_batch_norm.default, aten.clone.default, aten.item.default,
             aten._local_scalar_dense.default, aten.split.Tensor,
             aten.bernoulli_.float, aten.copy_.default, aten.index_put_.default, aten.t.default, aten.max.dim,
             aten.sum.dim_IntList, aten.threshold_backward.default, aten.equal.default]


@pytest.mark.parametrize('operator', OPERATORS, ids=str)
def test_signatures_by_name(operator):
    exact, named = dispatch.Signature(operator), dispatch.NamedSignature(operator)
    assert (exact.name, exact.mutable, [n for n, _ in exact.written]) == \
        (named.name, named.mutable, [n for n, _ in named.written])
    assert exact.aliases <= named.aliases       # what is not sure to be new memory is taken for an alias


def test_overloads_that_write_elsewhere():
    for operator in aten.add.out, aten.threshold_backward.grad_input:
        named = dispatch.NamedSignature(operator)
        assert named.mutable and not named.written


PROGRAM = '''
import mxnet as mx
from mxnet.gluon import nn
mx.random.seed(3)
net = nn.HybridSequential()
net.add(nn.Conv2D(4, 3, activation='relu'), nn.BatchNorm(), nn.MaxPool2D(2), nn.Dense(8), nn.Dense(3))
net.initialize(mx.init.Uniform(0.3))
net.hybridize()
loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
x, y = mx.nd.random.uniform(shape=(4, 2, 8, 8)), mx.nd.array([0, 1, 2, 0])
trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
from mxnet._graph.codegen import plan
made, make = [], plan._make
def counted(*args):
    made.append(make(*args))
    return made[-1]
plan._make = counted
for _ in range(6):
    with mx.autograd.record():
        loss = loss_of(net(x), y).mean()
    loss.backward()
    trainer.step(1)
    print(loss.asscalar())
print(sum(p is not None for p in made) > 0)
'''


def test_a_program_has_plans_and_the_same_results(run_python):
    private, public = (run_python('-c', PROGRAM, MXNET_TORCH_PRIVATE=flag).stdout.split() for flag in '10')
    assert private[-1] == public[-1] == 'True'
    assert [float(a) for a in public[:-1]] == pytest.approx([float(a) for a in private[:-1]], rel=1e-6)


TRACES = '''
import torch
from mxnet._graph.trace.tracing import Shadow, trace
from mxnet._ops.core.traceable import CannotTrace

def results(function):
    found = trace(lambda tracer: function(tracer.input(torch.arange(3.0))))
    return [n.op for n in found.graph.nodes], [r.tolist() for r in found.results]

print(results(lambda x: [x * 2 + torch.ones(3)]))
zeros = torch.zeros(3)
def written(x):
    first = x + zeros
    zeros.add_(1)           # a constant is what it was when it was used
    return [first, x + zeros, zeros]
print(results(written))
def refused(function):
    try:
        results(function)
    except CannotTrace:
        return True
print(refused(lambda x: [x + torch.rand(3)]), refused(lambda x: [torch.zeros(3).copy_(x)]),
      refused(lambda x: [x + x.sum().item()]), refused(lambda x: [x.bernoulli(0.5)]),
      refused(lambda x: [torch.add(x, 1, out=torch.zeros(3))]))
'''


def test_traces_without_a_dispatch_mode(run_python):
    lines = run_python('-c', TRACES, MXNET_TORCH_PRIVATE='0').stdout.splitlines()
    assert lines[0].endswith('[[1.0, 3.0, 5.0]])')
    assert lines[1].endswith('[[0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])')
    assert lines[2] == 'True True True True True'


# ---------------------------------------------------------------------- operators
def test_absent_operators_match_nothing():
    for name, (_, fallback) in switch.NAMES.items():
        if name.startswith('ops.aten._') and fallback is not None:
            assert fallback != aten.add.Tensor and 'does not have' in repr(fallback)


def test_integer_products():
    a, b = torch.randint(-128, 128, (5, 700), dtype=torch.int8), torch.randint(-128, 128, (700, 4), dtype=torch.int8)
    exact = a.long() @ b.long()
    assert torch.equal(switch.NAMES['_int_mm'][1](a, b).long(), exact)


@pytest.mark.parametrize('alpha', [0.2, 1.0, 4.5])
def test_gamma_variates(alpha):
    generator = torch.Generator().manual_seed(1)
    drawn = operators._gamma(torch.full((200_000,), alpha), generator)
    assert (drawn >= 0).all()
    assert drawn.mean().item() == pytest.approx(alpha, rel=0.03)
    assert drawn.var().item() == pytest.approx(alpha, rel=0.05)
    again = operators._gamma(torch.full((200_000,), alpha), torch.Generator().manual_seed(1))
    assert torch.equal(drawn, again)
    assert operators._gamma(torch.tensor([0.0, -1.0]), generator).nan_to_num().tolist() == [0, 0]


# ---------------------------------------------------------------------- tools
def test_tools():
    with pair('_C._profiler._RecordFunctionFast')[1]('range'):
        pass
    assert pair('autograd._profiler_enabled')[1]() is None
    assert callable(switch.NAMES['_inductor.compile'][1])


def test_threads_and_compilers_are_left_alone(monkeypatch):
    monkeypatch.setattr(tools, 'ALLOWED', False)
    assert tools.find_openmp() is None
    for call in lambda: tools.compile_cuda('', 'kernel'), tools.cuda_launch:
        with pytest.raises(NotImplementedError, match='torch.cuda._utils has no _'):
            call()
    monkeypatch.setattr(tools, '_configuration', None)
    assert tools.profiler_configuration() is None


def test_packed_convolutions_can_be_absent(monkeypatch):
    monkeypatch.setattr(operators, '_select_backend', None)
    assert not operators.has_packed_convolutions()
    monkeypatch.setattr(operators, 'reorder_linear_weight', None)
    assert not operators.has_packed_layers()


def test_checks_of_values_without_private_names(monkeypatch):
    """Where torch cannot tell whether a mode sees a call, the operator is called."""
    assert pair('_C._len_torch_dispatch_stack')[1]() == 1
    monkeypatch.setattr(checks, 'modes', pair('_C._len_torch_dispatch_stack')[1])
    with checks.deferred_on_cpu():
        found = checks.in_range('some', 'index', torch.tensor([0, 9]), 3)
        assert found.tolist() == [0, 2]
        with pytest.raises(IndexError, match='operator some: index has the value 9; it must be from 0 to 2'):
            checks.look()


def test_a_stream_is_asked_for_its_address(monkeypatch):
    fallback = switch.NAMES['_C._cuda_getCurrentRawStream'][1]          # CPU builds of torch have no such name
    monkeypatch.setattr(torch.cuda, 'current_stream', lambda index: type('Stream', (), {'cuda_stream': 17}))
    assert fallback(0) == 17


def test_every_fallback_is_known_here():
    """A new private name needs a test of its fallback; the tests above run these."""
    tested = {'_foreach_add', '_foreach_sub', '_foreach_mul', '_foreach_clamp_min', '_foreach_clamp_max',
              '_foreach_norm', '_foreach_add_', '_foreach_mul_', '_foreach_copy_', '_foreach_lerp_', '_fused_sgd_',
              '_fused_adam_', '_fused_adamw_', 'UntypedStorage._cdata', '_C._cuda_clearCublasWorkspaces',
              '_C._autograd._get_current_graph_task_keep_graph', 'utils._python_dispatch.TorchDispatchMode',
              '_C._DisableTorchDispatch', '_C._AutoDispatchBelowAutograd', '_C._disabled_torch_function_impl',
              '_int_mm', '_standard_gamma', '_C._profiler._RecordFunctionFast', 'autograd._profiler_enabled',
              'Tensor._backward_hooks', '_inductor.compile', '_C._len_torch_dispatch_stack',
              '_C._cuda_getCurrentRawStream'}
    known = {name for name, (_, fallback) in switch.NAMES.items()
             if fallback is not None and not name.startswith('ops.aten._')}
    assert known == tested, lists.__name__
