"""Blocks and symbols as torch modules: whatever torch does with a module works on its own parameters."""
import copy
import io
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn as tnn
from torch.nn.utils import parametrizations, prune

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.base import MXNetError
from mxnet.gluon import nn, rnn

X = torch.linspace(-1, 1, 2 * 64).reshape(2, 1, 8, 8)


def lenet():
    mx.random.seed(1)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, in_channels=1), nn.BatchNorm(in_channels=4), nn.Activation('relu'), nn.MaxPool2D(2, 2),
            nn.Flatten(), nn.Dense(5, activation='tanh', in_units=36), nn.Dense(3, in_units=5))
    net.initialize(mx.init.Xavier())
    return net


def symbol():
    x = mx.sym.var('data')
    x = mx.sym.Convolution(x, kernel=(3, 3), num_filter=4, name='conv0')
    x = mx.sym.Activation(x, act_type='relu', name='relu0')
    x = mx.sym.BatchNorm(x, fix_gamma=False, name='bn0')
    x = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=3, name='fc1'), name='softmax')
    shapes, _, states = x.infer_shape(data=(2, 1, 8, 8))
    mx.random.seed(2)
    arrays = {n: nd.random.uniform(0.1, 1, s) for n, s in zip(x.list_arguments(), shapes)
              if n not in ('data', 'softmax_label')}
    return x, arrays, {n: nd.random.uniform(0.5, 1, s) for n, s in zip(x.list_auxiliary_states(), states)}


def modules():
    """(module, what computes the same)"""
    net = lenet()
    yield gluon.to_torch(net).eval(), lambda x: net(nd.from_torch(x)).asnumpy()
    sym, arguments, states = symbol()

    def run(x):
        known = {**arguments, 'data': nd.from_torch(x), 'softmax_label': nd.zeros(len(x))}
        return sym.bind(mx.cpu(), known, aux_states=states, grad_req='null').forward()[0].asnumpy()
    yield gluon.to_torch(sym, [arguments, states]).eval(), run


@pytest.fixture(params=['block', 'symbol'])
def module(request):
    return next(m for (m, _), name in zip(modules(), ('block', 'symbol')) if name == request.param)


def test_it_computes_the_same_and_has_torch_names():
    for module, run in modules():
        np.testing.assert_allclose(module(X).detach().numpy(), run(X), rtol=1e-5, atol=1e-6)
    assert list(gluon.to_torch(lenet()).state_dict()) == [
        '0.weight', '0.bias', '1.weight', '1.bias', '1.running_mean', '1.running_var', '1.num_batches_tracked',
        '5.weight', '5.bias', '6.weight', '6.bias']
    sym, arguments, states = symbol()
    found = gluon.to_torch(sym, {**{f'arg:{k}': v for k, v in arguments.items()},
                                 **{f'aux:{k}': v for k, v in states.items()}})
    assert [n for n, _ in found.named_children()] == ['conv0', 'relu0', 'bn0', 'fc1']
    assert {type(m) for m in found.children()} == {tnn.Conv2d, tnn.ReLU, tnn.BatchNorm2d, tnn.Linear}
    assert 'Conv2d(1, 4, kernel_size=(3, 3)' in repr(found)


def _linear(module):
    return [m for m in module.modules() if isinstance(m, tnn.Linear)][-1]


def test_replaced_parameters_are_what_it_computes_with(module):
    zeros = {k: torch.zeros_like(v) for k, v in module.named_parameters()}
    result = torch.func.functional_call(module, zeros, (X,))
    expected = torch.full_like(result, 1 / 3) if isinstance(module.get_submodule('fc1') if hasattr(module, 'fc1')
                                                            else None, tnn.Linear) else torch.zeros_like(result)
    torch.testing.assert_close(result, expected)
    other = {k: torch.zeros_like(v) for k, v in module.state_dict().items()}
    copied = copy.deepcopy(module)
    copied.load_state_dict(other, assign=True)
    torch.testing.assert_close(copied(X), expected)
    before = module(X)
    linear = _linear(module)
    linear.weight = tnn.Parameter(torch.zeros_like(linear.weight))
    linear.bias = tnn.Parameter(torch.zeros_like(linear.bias))
    torch.testing.assert_close(module(X), expected)
    assert not torch.equal(before, expected)


def test_parametrizations_and_pruning(module):
    before = module(X).detach()
    linear = _linear(module)
    parametrizations.weight_norm(linear)
    torch.testing.assert_close(module(X), before)
    with torch.no_grad():
        linear.parametrizations.weight.original0.mul_(2)
    assert not torch.allclose(module(X), before)
    convolution = next(m for m in module.modules() if isinstance(m, tnn.Conv2d))
    changed = module(X).detach()
    prune.l1_unstructured(convolution, 'weight', amount=0.5)
    assert not torch.allclose(module(X), changed)


def test_copies_files_and_dtypes(module):
    expected = module(X)
    assert torch.equal(copy.deepcopy(module)(X), expected)
    half = copy.deepcopy(module).to(torch.bfloat16)
    assert half(X.bfloat16()).dtype is torch.bfloat16
    assert copy.deepcopy(module).double()(X.double()).dtype is torch.float64
    assert {p.dtype for p in copy.deepcopy(module).half().parameters()} == {torch.float16}
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert torch.equal(loaded(X), expected)
    twin = copy.deepcopy(module)
    with torch.no_grad():
        _linear(twin).weight.zero_()
    assert not torch.equal(twin(X), expected) and torch.equal(module(X), expected)


def test_a_pickle_needs_no_mxnet(module, tmp_path):
    torch.save(module, tmp_path / 'module.pt')
    torch.save((X, module(X).detach()), tmp_path / 'values.pt')
    program = ('import sys; sys.modules["mxnet"] = None\nimport torch\n'
               'module = torch.load("module.pt", weights_only=False); x, y = torch.load("values.pt")\n'
               'assert torch.equal(module(x), y)')
    subprocess.run([sys.executable, '-c', program], cwd=tmp_path, check=True)


@pytest.mark.filterwarnings('ignore:`torch.jit')
def test_torch_func(module):
    params = {k: v.detach() for k, v in module.named_parameters()}

    def loss(params, x):
        return torch.func.functional_call(module, params, (x,)).square().sum()
    gradients = torch.func.grad(loss)(params, X)
    module.zero_grad()
    module(X).square().sum().backward()
    for name, value in module.named_parameters():
        torch.testing.assert_close(gradients[name], value.grad)
    each = torch.func.vmap(torch.func.grad(loss), (None, 0))(params, X[:, None])
    for name, value in gradients.items():
        torch.testing.assert_close(each[name].sum(0), value, rtol=1e-4, atol=1e-5)
    _, tangent = torch.func.jvp(lambda x: module(x), (X,), (torch.ones_like(X),))
    jacobian = torch.func.jacrev(lambda x: module(x))(X)
    torch.testing.assert_close(tangent, jacobian.flatten(2).sum(-1), rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings('ignore:`torch.jit')
def test_tracing(module):
    expected = module(X)
    torch.testing.assert_close(torch.jit.trace(module, X)(X), expected)
    torch.testing.assert_close(torch.fx.symbolic_trace(module)(X), expected)
    program = torch.export.export(module, (X,), dynamic_shapes=({0: torch.export.Dim('batch')},))
    five = torch.cat((X, X, X[:1]))
    torch.testing.assert_close(program.module()(five), module(five))


@pytest.mark.slow
@pytest.mark.filterwarnings('ignore')
def test_torch_compile(module):
    torch.testing.assert_close(torch.compile(module, backend='aot_eager')(X), module(X))
    compiled = torch.compile(module, backend='aot_eager')
    compiled(X)
    with torch.no_grad():
        _linear(module).weight.zero_()
    torch.testing.assert_close(compiled(X), module(X))


PARALLEL = '''
import sys
import torch
import torch.distributed as dist
import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn
rank, size, store = int(sys.argv[1]), 2, sys.argv[2]
dist.init_process_group('gloo', init_method=f'file://{store}', rank=rank, world_size=size)
mx.random.seed(0)
net = nn.HybridSequential()
net.add(nn.Dense(8, in_units=4, activation='tanh'), nn.Dense(2, in_units=8))
net.initialize(mx.init.Xavier())
x = torch.linspace(-1, 1, 32).reshape(8, 4)
y = torch.linspace(0, 1, 16).reshape(8, 2)

def train(module, x, y):
    optimizer = torch.optim.SGD(module.parameters(), 0.5)
    for _ in range(3):
        optimizer.zero_grad()
        ((module(x) - y) ** 2).mean().backward()
        optimizer.step()
    return module

import copy
alone = train(copy.deepcopy(gluon.to_torch(net)), x, y)
mine = slice(rank * 4, rank * 4 + 4)
module = copy.deepcopy(gluon.to_torch(net))
if sys.argv[3] == 'ddp':
    train(torch.nn.parallel.DistributedDataParallel(module), x[mine], y[mine])
    found = dict(module.named_parameters())
else:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    mesh = init_device_mesh('cpu', (size,))
    for child in module.children():
        fully_shard(child, mesh=mesh)
    fully_shard(module, mesh=mesh)
    train(module, x[mine], y[mine])
    found = {k: v.full_tensor() for k, v in module.named_parameters()}
for name, value in alone.named_parameters():
    torch.testing.assert_close(found[name], value)
dist.destroy_process_group()
'''


@pytest.mark.slow
@pytest.mark.parametrize('how', ['ddp', 'fsdp'])
def test_several_processes(how, tmp_path):
    (tmp_path / 'worker.py').write_text(PARALLEL)
    workers = [subprocess.Popen([sys.executable, '-W', 'ignore', tmp_path / 'worker.py', str(rank), tmp_path / 'store',
                                 how]) for rank in range(2)]
    assert [w.wait(200) for w in workers] == [0, 0]


def test_training_gives_our_gradients_and_averages():
    net = lenet()
    module = gluon.to_torch(net)
    x = nd.from_torch(X.clone())
    for p in net.collect_params().values():
        p.zero_grad()
    with autograd.record():
        loss = (net(x) ** 2).sum()
    loss.backward()
    ours = {name: p.grad().asnumpy().copy() for name, p in net._collect_params_with_prefix().items()
            if p.grad_req != 'null'}
    (module(X) ** 2).sum().backward()
    theirs = {k: v.grad.numpy() for k, v in module.named_parameters()}
    for name, value in ours.items():
        name = name.replace('gamma', 'weight').replace('beta', 'bias')
        np.testing.assert_allclose(theirs[name], value, rtol=1e-4, atol=1e-5)
    assert module.get_submodule('1').num_batches_tracked == 1


def test_it_shares_memory_and_gradients_with_the_block():
    net = lenet()
    module = gluon.to_torch(net)
    net[6].weight.set_data(nd.ones((3, 5)))
    assert torch.equal(module.get_parameter('6.weight'), torch.ones(3, 5))
    with torch.no_grad():
        module.get_parameter('6.bias').fill_(7)
    assert net[6].bias.data().asnumpy().tolist() == [7, 7, 7]


def test_layers_that_differ():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(7, 4)
            self.scale = self.params.get('scale', shape=(4,), init='ones')
            self.fixed = self.params.get_constant('fixed', nd.array([1, 2, 3, 4]))
            self.norm = nn.LayerNorm(in_channels=4)
            self.dense = nn.Dense(4, flatten=False, in_units=4)

        def hybrid_forward(self, F, x, scale, fixed):
            y = self.embed(x) * scale + fixed
            return [self.norm(self.dense(self.dense(y))), F.softmax(y.reshape((0, -1)))]

    net = Net()
    net.initialize()
    x = torch.tensor([[1, 2, 9], [0, 3, 6]])
    module = gluon.to_torch(net).eval()
    for one, other in zip(module(x), net(nd.array(x.numpy()))):
        np.testing.assert_allclose(one.detach().numpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)
    assert {'scale', 'fixed', 'embed.weight', 'norm.weight', 'dense.bias'} <= set(module.state_dict())
    assert 'fixed' not in dict(module.named_parameters())
    assert isinstance(module.dense, tnn.Linear)


@pytest.mark.parametrize('kind', [rnn.LSTM, rnn.GRU, rnn.RNN])
def test_recurrent_layers(kind):
    layer = kind(4, 2, input_size=3, bidirectional=True, layout='NTC')
    layer.initialize()
    module = gluon.to_torch(layer).eval()
    x = torch.linspace(-1, 1, 30).reshape(2, 5, 3)
    np.testing.assert_allclose(module(x).detach().numpy(), layer(nd.from_torch(x)).asnumpy(), rtol=1e-5, atol=1e-6)
    assert isinstance(next(module.children()), tnn.RNNBase)
    zeros = {k: torch.zeros_like(v) for k, v in module.named_parameters()}
    assert torch.func.functional_call(module, zeros, (x,)).abs().max() == 0


def test_packed_weights_of_a_symbol():
    x = mx.sym.RNN(mx.sym.var('data'), mx.sym.var('lstm_parameters'), mx.sym.var('h'), mx.sym.var('c'), mode='lstm',
                   state_size=4, num_layers=2, name='lstm', state_outputs=True)
    shapes, _, _ = x.infer_shape(data=(5, 2, 3), h=(2, 2, 4), c=(2, 2, 4))
    weights = nd.random.uniform(-1, 1, dict(zip(x.list_arguments(), shapes))['lstm_parameters'])
    values = {'data': nd.random.normal(shape=(5, 2, 3)), 'h': nd.random.normal(shape=(2, 2, 4)),
              'c': nd.random.normal(shape=(2, 2, 4))}
    want = x.bind(mx.cpu(), {**values, 'lstm_parameters': weights}, grad_req='null').forward()
    module = gluon.to_torch(x, {'lstm_parameters': weights}).eval()
    for one, other in zip(module(*[v.to_torch() for v in values.values()]), want):
        np.testing.assert_allclose(one.detach().numpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)
    assert 'lstm.weight_ih_l1' in module.state_dict()


def test_unrolled_cells_have_any_batch():
    cell = rnn.LSTMCell(4, input_size=3)
    cell.initialize()

    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.cell = cell

        def hybrid_forward(self, F, x):
            return self.cell.unroll(3, x, layout='NTC', merge_outputs=True)[0]
    net = Net()
    module = gluon.to_torch(net, inputs=nd.ones((2, 3, 3))).eval()
    x = torch.randn(5, 3, 3)
    np.testing.assert_allclose(module(x).detach().numpy(), net(nd.from_torch(x)).asnumpy(), rtol=1e-5, atol=1e-6)


def test_loops_and_branches():
    def step(x, state):
        out = mx.sym.tanh(mx.sym.FullyConnected(x, weight, num_hidden=3, no_bias=True) + state[0])
        return out, [out]
    weight = mx.sym.var('w_weight')
    out, _ = mx.sym.contrib.foreach(step, mx.sym.var('data'), [mx.sym.var('state')])
    w, data, state = nd.random.normal(shape=(3, 3)), nd.random.normal(shape=(4, 2, 3)), nd.random.normal(shape=(2, 3))
    want = out.bind(mx.cpu(), {'data': data, 'state': state, 'w_weight': w}, grad_req='null').forward()[0].asnumpy()
    module = gluon.to_torch(out, {'w_weight': w}).eval()
    found = module(data.to_torch(), state.to_torch())
    np.testing.assert_allclose(found.detach().numpy(), want, rtol=1e-5, atol=1e-6)
    found.sum().backward()
    assert next(module.parameters()).grad.abs().sum() > 0
    assert torch.equal(copy.deepcopy(module)(data.to_torch(), state.to_torch()), found)


def test_blocks_written_on_arrays():
    class Net(gluon.Block):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, in_units=4)

        def forward(self, x):
            y = self.dense(x)
            return nd.concat(y, y * 2, dim=1)
    net = Net()
    net.initialize()
    with pytest.raises(MXNetError, match='give example inputs'):
        gluon.to_torch(net)
    module = gluon.to_torch(net, inputs=nd.ones((2, 4))).eval()
    x = torch.randn(5, 4)
    np.testing.assert_allclose(module(x).detach().numpy(), net(nd.from_torch(x)).asnumpy(), rtol=1e-5, atol=1e-6)
    assert list(module.state_dict()) == ['dense.weight', 'dense.bias']


def test_mistakes():
    with pytest.raises(TypeError, match='a Block or a Symbol'):
        gluon.to_torch(3)
    net = nn.Dense(3)
    net.initialize()
    with pytest.raises(gluon.DeferredInitializationError, match='run the block once'):
        gluon.to_torch(net)
    assert gluon.to_torch(net, inputs=nd.ones((2, 4)))(torch.ones(5, 4)).shape == (5, 3)
    data = mx.sym.var('data')
    with pytest.raises(MXNetError, match=r'no values for fc_weight'):
        gluon.to_torch(mx.sym.FullyConnected(data, num_hidden=2, name='fc'), {'fc_bias': nd.zeros(2)},
                       {'data': (1, 3)})
    with pytest.raises(MXNetError, match=r'no translation to torch for Custom \(odd\)'):
        class Odd(mx.operator.CustomOpProp):
            pass
        mx.operator.register('odd_of_torch')(Odd)
        gluon.to_torch(mx.sym.Custom(data, op_type='odd_of_torch', name='odd'), {})


def test_shared_weights_stay_shared():
    data, weight = mx.sym.var('data'), mx.sym.var('w_weight')
    x = mx.sym.FullyConnected(data, weight, num_hidden=3, no_bias=True, name='one')
    x = mx.sym.FullyConnected(x, weight, num_hidden=3, no_bias=True, name='two')
    x = mx.sym.dot(x, mx.sym.transpose(weight, axes=(1, 0)))
    w = nd.random.normal(shape=(3, 3))
    module = gluon.to_torch(x, {'w_weight': w}).eval()
    assert len(list(module.parameters())) == 1
    v = torch.randn(2, 3)
    t = w.to_torch()
    torch.testing.assert_close(module(v), v @ t.T @ t.T @ t.T)
    zero = {k: torch.zeros(3, 3) for k, _ in module.named_parameters()}
    assert torch.func.functional_call(module, zero, (v,)).abs().max() == 0


def test_dropout_and_frozen_statistics():
    net = nn.HybridSequential()
    net.add(nn.Dropout(0.5), nn.BatchNorm(in_channels=3, use_global_stats=True),
            nn.BatchNorm(in_channels=3, scale=False))
    net.initialize()
    module = gluon.to_torch(net)
    torch.manual_seed(0)
    x = torch.ones(1000, 3)
    assert 0.4 < (module.get_submodule('0')(x) == 0).float().mean() < 0.6
    module(x)
    assert torch.equal(module.get_buffer('1.running_mean'), torch.zeros(3))
    assert not torch.equal(module.get_buffer('2.running_mean'), torch.zeros(3))
    assert not module.get_parameter('2.weight').requires_grad
    module.eval()
    assert torch.equal(module(x), module(x))


# ---------------------------------------------------------------------- checkpoints of Module without their labels
@pytest.mark.parametrize('ending', ['params', 'safetensors'])
def test_a_checkpoint_of_module_is_a_symbol_block(tmp_path, ending):
    sym, arguments, states = symbol()
    sym.save(str(tmp_path / 'net-symbol.json'))
    prefix = ending == 'params'
    nd.save(str(tmp_path / f'net-0001.{ending}'),
            {**{f'arg:{k}' if prefix else k: v for k, v in arguments.items()},
             **{f'aux:{k}' if prefix else k: v for k, v in states.items()}})
    files = str(tmp_path / 'net-symbol.json'), str(tmp_path / f'net-0001.{ending}')
    net = gluon.SymbolBlock.imports(files[0], ['data'], files[1])
    assert net.collect_params().keys() == {*arguments, *states}
    run = list(modules())[1][1]
    np.testing.assert_allclose(net(nd.from_torch(X)).asnumpy(), run(X), rtol=1e-5)
    both = gluon.SymbolBlock.imports(files[0], ['data', 'softmax_label'], files[1])
    np.testing.assert_allclose(both(nd.from_torch(X), nd.zeros(2)).asnumpy(), run(X), rtol=1e-5)
    assert gluon.to_torch(net).eval()(X).shape == (2, 3)


@pytest.mark.parametrize('layer', ['LinearRegressionOutput', 'LogisticRegressionOutput', 'MAERegressionOutput',
                                   'SVMOutput', 'SoftmaxOutput'])
@pytest.mark.parametrize('shape', [(2, 3), (2, 3, 4)])
def test_every_loss_layer_goes(layer, shape, tmp_path):
    data = mx.sym.var('data') * 2
    label = mx.sym.Reshape(mx.sym.var('label'), shape=(-1,)) if layer == 'SoftmaxOutput' else mx.sym.var('label')
    if layer == 'SoftmaxOutput' and len(shape) == 3:
        out = mx.sym.SoftmaxOutput(data, mx.sym.var('label'), multi_output=True)
    else:
        out = getattr(mx.sym, layer)(data, label)
    file = str(tmp_path / 'net-symbol.json')
    out.save(file)
    x = nd.random.normal(shape=shape)
    labels = {'SoftmaxOutput': (2, 4) if len(shape) == 3 else (2,), 'SVMOutput': (2,)}.get(layer, shape)
    if layer == 'SVMOutput' and len(shape) == 3:
        return
    want = out.bind(mx.cpu(), {'data': x, 'label': nd.zeros(labels)}, grad_req='null').forward()[0].asnumpy()
    net = gluon.SymbolBlock.imports(file, ['data'])
    np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-5)
    np.testing.assert_allclose(gluon.to_torch(out, {}, {'data': shape})(x.to_torch()).numpy(), want, rtol=1e-5)


def test_outputs_that_need_a_label_go():
    data, label = mx.sym.var('data'), mx.sym.var('label')
    out = mx.sym.Group([mx.sym.SoftmaxOutput(data, label, name='softmax'), mx.sym.BlockGrad(label)])
    from mxnet.symbol._predicting import without_labels
    assert without_labels(out, ['data']).list_outputs() == ['softmax_output']
    with pytest.raises(MXNetError, match='needs values for label'):
        without_labels(mx.sym.BlockGrad(label), ['data'])


# ---------------------------------------------------------------------- what torch has no layer for
class _Mixed(gluon.HybridBlock):
    """Operators of every kind that torch has no function for: norms, a loop, dropout along axes."""

    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(2)
        self.scale = nn.BatchNorm(axis=-1, in_channels=3, use_global_stats=True)
        self.drop = nn.Dropout(0.5, axes=(1,))
        self.features = nn.HybridSequential()
        self.features.add(nn.LayerNorm(axis=1, in_channels=4), nn.Conv1D(4, 1, in_channels=4))

    def hybrid_forward(self, F, x):
        y = self.features(self.drop(self.scale(self.norm(x))))
        out, _ = F.contrib.foreach(lambda a, s: (F.L2Normalization(a) + s, s + a), y, F.zeros_like(F.slice_axis(
            y, axis=0, begin=0, end=1).reshape((-3, 0))))
        return out


def _mixed():
    net = _Mixed()
    net.initialize(mx.init.Normal(1))
    return net, torch.linspace(-1, 1, 24).reshape(2, 4, 3)


LOADED = '''
import sys
sys.modules['mxnet'] = None
import copy, pickle
import torch
module = torch.load('module.pt', weights_only=False)
x, y = torch.load('values.pt')
torch.testing.assert_close(module(x), y)
torch.testing.assert_close(copy.deepcopy(module)(x), y)
again = pickle.loads(pickle.dumps(copy.deepcopy(module)))
torch.testing.assert_close(again(x), y)
zeros = {k: torch.zeros_like(v) for k, v in again.named_parameters()}
assert not torch.equal(torch.func.functional_call(again, zeros, (x,)), y)
again.train()(x).sum().backward()
assert all(p.grad is not None for p in again.parameters() if p.requires_grad)
print(' '.join(module.state_dict()))
'''


def test_a_pickle_with_operators_of_ours_needs_no_mxnet(tmp_path):
    net, x = _mixed()
    module = gluon.to_torch(net, inputs=nd.ones((2, 4, 3))).eval()
    torch.save(copy.deepcopy(module), tmp_path / 'module.pt')
    torch.save((x, module(x).detach()), tmp_path / 'values.pt')
    done = subprocess.run([sys.executable, '-c', LOADED], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == list(module.state_dict())


def test_a_pickle_of_a_parametrized_layer_of_ours_is_refused():
    net = nn.BatchNorm(in_channels=3, use_global_stats=True)
    net.initialize()
    module = gluon.to_torch(net)
    layer = next(m for m in module.modules() if type(m).__name__ == 'FrozenBatchNorm')

    class Twice(tnn.Module):
        def forward(self, x):
            return 2 * x
    torch.nn.utils.parametrize.register_parametrization(layer, 'weight', Twice())
    torch.testing.assert_close(copy.deepcopy(module)(torch.ones(1, 3)), module(torch.ones(1, 3)))
    with pytest.raises(RuntimeError, match='parametrized modules'):
        torch.save(module, io.BytesIO())


def test_a_changed_graph_is_pickled_as_it_is():
    net, x = _mixed()
    module = gluon.to_torch(net, inputs=nd.ones((2, 4, 3))).eval()
    last = next(n for n in module.graph.nodes if n.op == 'output')
    with module.graph.inserting_before(last):
        last.args = (module.graph.call_function(torch.neg, (last.args[0],)),)
    module.recompile()
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    torch.testing.assert_close(torch.load(file, weights_only=False)(x), module(x))


@pytest.mark.slow
@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('layer', [lambda: nn.GroupNorm(2), lambda: nn.LayerNorm(axis=1, in_channels=4),
                                   lambda: nn.HybridLambda('L2Normalization'), lambda: nn.HybridLambda('softmax')])
def test_operators_of_ours_compile(layer):
    """They registered hooks on nodes of torch's graph, which Dynamo refuses."""
    net = nn.HybridSequential()
    net.add(nn.Conv1D(4, 1, in_channels=4), layer())
    net.initialize()
    module = gluon.to_torch(net, inputs=nd.ones((2, 4, 3))).eval()
    x = torch.linspace(-1, 1, 24).reshape(2, 4, 3)
    compiled = torch.compile(module, backend='aot_eager', fullgraph=True)
    torch.testing.assert_close(compiled(x), module(x))


@pytest.mark.parametrize('dtype', [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize('known', [True, False])
def test_states_of_cells_follow_the_dtype(dtype, known):
    data = mx.sym.var('data')
    x = mx.sym.broadcast_add(data, mx.sym.ones((1, 3)))
    out, _ = mx.sym.contrib.foreach(lambda a, s: (a + s[0], [s[0] + a]), x, [mx.sym.zeros((3,))])
    out = mx.sym.FullyConnected(out, num_hidden=2, name='fc', flatten=False)
    weights = {'fc_weight': nd.ones((2, 3)), 'fc_bias': nd.ones(2)}
    module = gluon.to_torch(out, weights, {'data': nd.ones((4, 3))} if known else None).eval()
    x = torch.linspace(-1, 1, 12).reshape(4, 3)
    found = copy.deepcopy(module).to(dtype)(x.to(dtype))
    assert found.dtype is dtype
    torch.testing.assert_close(found.float(), module(x), rtol=0.02, atol=0.02)


def test_lists_of_inputs_stay_lists():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, in_units=3)

        def hybrid_forward(self, F, xs, y):
            return [self.dense(xs[0]) + xs[1][0], [y * 2]]
    net = Net()
    net.initialize()
    with pytest.raises(MXNetError, match='If its inputs are lists, give example inputs'):
        gluon.to_torch(net)
    a, b, c = torch.randn(3, 2, 3)
    arrays = [[nd.from_torch(a), [nd.from_torch(b)]], nd.from_torch(c)]
    want = net(*arrays)
    for module in (gluon.to_torch(net, inputs=arrays), (net.hybridize(), net(*arrays), gluon.to_torch(net))[2]):
        found = module([a, [b]], c)
        torch.testing.assert_close(found[0].detach(), want[0].to_torch())
        torch.testing.assert_close(found[1][0], want[1][0].to_torch())
    batch = torch.export.Dim('batch')
    program = torch.export.export(module, ([a, [b]], c), dynamic_shapes=([{0: batch}, [{0: batch}]], {0: batch}))
    five = [torch.cat((x, x, x[:1])) for x in (a, b, c)]
    torch.testing.assert_close(program.module()([five[0], [five[1]]], five[2])[0], module([five[0], [five[1]]],
                                                                                          five[2])[0])
    with pytest.raises(TypeError, match='arrays, or lists of arrays, not dict'):
        gluon.to_torch(net, inputs=[{'x': nd.ones((2, 3))}])


def test_axes_in_reverse_order_compile():
    """Dynamo unpacks `*range(1, -1, -1)` into 1, -1 and -1."""
    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.transpose(x)
    net, x = Net(), nd.random.uniform(shape=(2, 3, 4))
    module = gluon.to_torch(net, inputs=[x])
    found = torch.compile(module, backend='eager', fullgraph=True)(x.to_torch())
    np.testing.assert_array_equal(found.numpy(), net(x).asnumpy())
