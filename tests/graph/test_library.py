"""Backends and passes for `optimize_for`, graphs in one node, and what `mx.library` and `mx.rtc` answer."""
import numpy
import pytest
import torch

import mxnet as mx
from mxnet import gluon, nd, sym
from mxnet._graph.ir import backends
from mxnet.gluon import nn


@pytest.fixture(autouse=True)
def registry():
    before = dict(backends.BACKENDS)
    yield
    backends.BACKENDS.clear()
    backends.BACKENDS.update(before)


def choose(*names):
    """Registers a backend 'chosen' for some operators; gives the list of the parts that it was asked about."""
    parts = []

    @mx.library.register_backend('chosen')
    class Chosen(mx.library.Backend):
        def select(self, node):
            return node.op in names

        def create(self, subgraph, inputs, number):
            parts.append((subgraph, [s.list_outputs()[0] for s in inputs], number))
            return super().create(subgraph, inputs, number)
    return parts


def operators(symbol):
    import json
    return [n['op'] for n in json.loads(symbol.tojson())['nodes'] if n['op'] != 'null']


def run(symbol, **arrays):
    executor = symbol.bind(mx.cpu(), {k: nd.array(v) for k, v in arrays.items()},
                           args_grad={k: nd.zeros(numpy.shape(v)) for k, v in arrays.items()})
    outputs = executor.forward(is_train=True)
    executor.backward([nd.ones(o.shape) for o in outputs])
    return [o.asnumpy() for o in outputs], {k: v.asnumpy() for k, v in executor.grad_dict.items()}


def same(one, other, **arrays):
    (first, first_grads), (second, second_grads) = run(one, **arrays), run(other, **arrays)
    for x, y in zip(first, second, strict=True):
        numpy.testing.assert_allclose(x, y, rtol=1e-6)
    for name, grad in first_grads.items():
        numpy.testing.assert_allclose(grad, second_grads[name], rtol=1e-6)


# ---------------------------------------------------------------------- parts of graphs
def test_chosen_nodes_become_one():
    parts = choose('exp', 'elemwise_add')
    a, b = sym.var('a'), sym.var('b')
    net = sym.sqrt(sym.exp(a) + sym.exp(b))
    cut = net.optimize_for('chosen')
    assert operators(cut) == ['_CachedOp', 'sqrt']
    assert len(parts) == 1 and parts[0][1:] == (['a', 'b'], 0)
    assert sorted(cut.list_arguments()) == ['a', 'b']
    same(net, cut, a=[1., 2.], b=[0.5, -1])


def test_no_part_needs_its_own_result():
    # exp -> sqrt -> add: with exp and add in one part, sqrt would be its input and its output
    parts = choose('exp', 'elemwise_add')
    a = sym.var('a')
    e = sym.exp(a)
    net = sym.sqrt(e) + e
    cut = net.optimize_for('chosen')
    assert sorted(operators(cut)) == ['_CachedOp', '_CachedOp', 'sqrt']
    assert [p[2] for p in parts] == [0, 1]
    same(net, cut, a=[1., 2.])


def test_two_parts_that_would_need_each_other_stay_apart():
    # contracted, {x1, y2} and {x2, y1} would form a ring though no single way does
    choose('exp', 'elemwise_add')
    a, b = sym.var('a'), sym.var('b')
    first, second = sym.exp(a), sym.exp(b)
    net = sym.Group([sym.sqrt(first) + second, sym.sqrt(second) + first])
    cut = net.optimize_for('chosen')
    same(net, cut, a=[1., 2.], b=[3., 4.])


@pytest.mark.parametrize('seed', range(20))
def test_random_graphs_compute_the_same(seed):
    random = numpy.random.RandomState(seed)
    names = ('sin', 'cos', 'tanh', 'elemwise_add', 'elemwise_mul')
    parts = choose(*random.choice(names, 3, replace=False))
    values = [sym.var('a'), sym.var('b')]
    for _ in range(25):
        first, second = (values[random.randint(max(0, len(values) - 8), len(values))] for _ in range(2))
        kind = random.choice(names)
        values.append(getattr(sym, kind)(first) if kind in names[:3] else sym.tanh(getattr(sym, kind)(first, second)))
    net = sym.Group([values[-1], values[-4], values[-9]])
    cut = net.optimize_for('chosen')
    assert parts
    known = {n: [0.3, -0.4] for n in net.list_arguments()}
    same(net, cut, **known)
    shapes = dict.fromkeys(known, (2,))
    assert cut.infer_shape(**shapes)[1] == net.infer_shape(**shapes)[1]
    again = mx.sym.load_json(cut.tojson())
    same(cut, again, **known)


def test_states_inside_of_a_part_move():
    choose('Convolution', 'BatchNorm', 'Activation')
    data = sym.Convolution(sym.var('data'), num_filter=2, kernel=(1, 1), name='c')
    data = sym.Activation(sym.BatchNorm(data, name='b'), act_type='relu')
    cut = data.optimize_for('chosen')
    assert operators(cut) == ['_CachedOp']
    assert cut.list_auxiliary_states() == ['b_moving_mean', 'b_moving_var']
    results = []
    for net in (data, cut):
        executor = net.simple_bind(mx.cpu(), data=(4, 3, 5, 5))
        for i, array in enumerate(executor.arg_dict[n] for n in sorted(executor.arg_dict)):
            array[:] = nd.array(numpy.random.RandomState(i).randn(*array.shape))
        for _ in range(3):
            executor.forward(is_train=True)
            executor.backward(nd.ones((4, 2, 5, 5)))
        results.append([executor.outputs[0].asnumpy(), *[executor.aux_dict[n].asnumpy() for n in
                                                         ('b_moving_mean', 'b_moving_var')]])
    for a, b in zip(*results, strict=True):
        numpy.testing.assert_allclose(a, b, rtol=1e-5)
    assert abs(results[1][1]).max() > 0


def test_a_part_replaced_by_an_operator_of_ones_own():
    @mx.library.register_backend('fused')
    class Fused(mx.library.Backend):
        def select(self, node):
            return node.op in ('sin', 'square')

        def create(self, subgraph, inputs, number):
            if operators(subgraph) != ['sin', 'square']:
                return None
            x, = inputs
            return (1 - sym.cos(2 * x)) / 2
    x = sym.var('x')
    net = sym.exp(sym.square(sym.sin(x))) + sym.sin(x)
    cut = net.optimize_for('fused')
    assert 'square' not in operators(cut) and 'sin' in operators(cut)
    (first, grads), (second, other) = run(net, x=[0.1, 2.]), run(cut, x=[0.1, 2.])
    numpy.testing.assert_allclose(first[0], second[0], rtol=1e-5)
    numpy.testing.assert_allclose(grads['x'], other['x'], rtol=1e-4)

    @mx.library.register_backend('wrong')
    class Wrong(Fused):
        def create(self, subgraph, inputs, number):
            return sym.Group([inputs[0], inputs[0]])
    with pytest.raises(mx.MXNetError, match='1 outputs cannot be replaced by 2'):
        net.optimize_for('wrong')


# ---------------------------------------------------------------------- passes, options, parameters
def test_passes_get_options_and_arrays():
    seen = {}

    @mx.library.register_pass('scaled')
    def scaled(symbol, args, aux, factor=1):
        seen.update(args=args, aux=aux)
        return symbol * factor
    args = {'x': nd.ones(2)}
    cut = sym.var('x').optimize_for('scaled', args=args, aux={}, factor=3)
    assert run(cut, x=[1., 2.])[0][0].tolist() == [3, 6]
    assert seen['args'] is args and seen['aux'] == {}
    mx.library.register_pass('nothing')(lambda symbol, args, aux: None)
    with pytest.raises(TypeError, match='must give a Symbol'):
        sym.var('x').optimize_for('nothing')
    with pytest.raises(mx.MXNetError, match="'nope'.*MKLDNN.*nothing, scaled"):
        sym.var('x').optimize_for('nope')
    with pytest.raises(TypeError, match=r'mx\.library\.Backend'):
        mx.library.register_backend('function')(lambda: 1)


def test_blocks():
    parts = choose('FullyConnected', 'Activation')
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation='relu'), nn.BatchNorm(), nn.Dense(2))
    net.initialize(mx.init.Xavier())
    x = nd.random.normal(shape=(5, 3))
    expected = net(x)
    net.optimize_for(x, backend='chosen')
    assert len(parts) == 2
    numpy.testing.assert_allclose(net(x).asnumpy(), expected.asnumpy(), rtol=1e-5)
    with mx.autograd.record():
        loss = net(x).sum()
    loss.backward()
    assert float(net[0].weight.grad().norm().asscalar()) > 0


def test_a_pass_may_change_and_add_parameters():
    @mx.library.register_pass('shifted')
    def shifted(symbol, args, aux, by):
        name, = [n for n in args if n.endswith('bias')]
        args[name] = args[name] + by
        args['shift'] = nd.array([10.0])
        return sym.broadcast_add(symbol, sym.var('shift'))

    class Own(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2, in_units=3)

        def forward(self, x):
            return self.dense(x)
    for net in (nn.Dense(2, in_units=3), Own()):
        net.initialize()
        x = nd.ones((1, 3))
        expected = net(x).asnumpy() + 11
        net.optimize_for(x, backend='shifted', by=1)
        numpy.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-6)


def test_names_of_upstream_are_there():
    net = sym.relu(sym.var('x'))
    for name in ('MKLDNN', 'MKLDNN_QUANTIZE'):
        assert net.get_backend_symbol(name).tojson() == net.tojson()


# ---------------------------------------------------------------------- graphs in one node
def test_graph_in_one_node():
    inner = sym.FullyConnected(sym.var('x'), num_hidden=2, name='fc')
    outer = sym._internal._CachedOp(sym.var('a') * 2, sym.var('w'), sym.var('b'), subgraph=inner.tojson(), name='one')
    assert outer.infer_shape(a=(4, 3))[0] == [(4, 3), (2, 3), (2,)]
    plain = sym.FullyConnected(sym.var('a') * 2, sym.var('w'), sym.var('b'), num_hidden=2)
    same(outer, plain, a=[[1., 2., 3.]], w=[[1., 0, 1], [2, 2, 2]], b=[1., 2.])
    with pytest.raises(mx.MXNetError, match='3 inputs .*2 are given'):
        sym._internal._CachedOp(sym.var('a'), sym.var('w'), subgraph=inner)
    with pytest.raises(mx.MXNetError, match=r'mx\.nd\.CachedOp'):
        nd._internal._CachedOp(nd.ones(2), subgraph=inner.tojson())


# ---------------------------------------------------------------------- compiled code
def test_compiled_libraries_are_refused_with_advice(tmp_path):
    file = tmp_path / 'libops.so'
    with pytest.raises(mx.MXNetError, match='no such file'):
        mx.library.load(str(file))
    file.write_bytes(b'')
    with pytest.raises(mx.MXNetError, match=r'lib_api\.h.*mx\.operator\.CustomOp.*register_pass'):
        mx.library.load(str(file))
    other = tmp_path / 'ops.txt'
    other.write_text('')
    with pytest.raises(mx.MXNetError, match='ends in .so or .dll'):
        mx.library.load(str(other))


@pytest.mark.skipif(torch.cuda.is_available(), reason='there is a GPU')
def test_rtc_without_a_gpu_says_so():
    with pytest.raises(mx.MXNetError, match=r'NVIDIA GPU.*mx\.operator'):
        mx.rtc.CudaModule('')


def test_signatures_of_kernels():
    from mxnet import rtc
    assert rtc._parsed('const float *x, double* y,int64_t,\n __half *') == (
        [True, True, False, True], ['float32', 'float64', 'int64', 'float16'])
    with pytest.raises(ValueError, match='"const type \\*name"'):
        rtc._parsed('const *x')
    with pytest.raises(TypeError, match='no type that arrays have'):
        rtc._parsed('bool *x')


AXPY = r'''
template<typename T> __global__ void axpy(const T *x, T *y, T alpha, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) y[i] += alpha * x[i];
}
extern "C" __global__ void backwards(const float *x, float *y, int64_t n) {
    extern __shared__ float held[];
    held[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = held[n - 1 - threadIdx.x];
}
'''


@pytest.mark.gpu
def test_kernels_on_a_gpu():
    gpu = mx.gpu(0)
    source = AXPY.replace('int64_t', 'long long')
    module = mx.rtc.CudaModule(source, options=['--use_fast_math'], exports=['axpy<float>', 'axpy<double>'])
    for dtype, name in (('float32', 'float'), ('float64', 'double')):
        kernel = module.get_kernel(f'axpy<{name}>', f'const {name} *x, {name} *y, {name} alpha, int n')
        x, y = nd.arange(1000, ctx=gpu, dtype=dtype), nd.ones(1000, ctx=gpu, dtype=dtype)
        kernel.launch([x, y, 0.5, 1000], gpu, (4, 1, 1), (256, 1, 1))
        numpy.testing.assert_allclose(y.asnumpy(), numpy.arange(1000) * 0.5 + 1)
    kernel = module.get_kernel('backwards', 'const float *x, float *y, int64_t n')
    x, y = nd.arange(64, ctx=gpu), nd.zeros(64, ctx=gpu)
    kernel.launch([x, y, 64], gpu, (1, 1, 1), (64, 1, 1), shared_mem=256)
    assert y.asnumpy().tolist() == list(range(63, -1, -1))
    with pytest.raises(mx.MXNetError, match='must be a float32 array on gpu'):
        kernel.launch([x.astype('float64'), y, 64], gpu, (1, 1, 1), (64, 1, 1))
    with pytest.raises(AssertionError, match='takes 3 arguments'):
        kernel.launch([x, y], gpu, (1, 1, 1), (64, 1, 1))
    with pytest.raises(AssertionError, match='must be a GPU'):
        kernel.launch([x, y, 64], mx.cpu(), (1, 1, 1), (64, 1, 1))
    with pytest.raises(mx.MXNetError, match='error'):
        mx.rtc.CudaModule('extern "C" __global__ void f() { nonsense; }', exports='f')
