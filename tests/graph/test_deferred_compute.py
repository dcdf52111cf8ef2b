"""HybridBlocks whose `forward` is written on arrays: what they do as graphs is what they do by themselves."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd, np, npx
from mxnet.gluon import nn, rnn


@pytest.fixture
def numpy_mode():
    npx.set_np()
    yield
    npx.reset_np()


def block(function):
    class Written(nn.HybridBlock):
        def forward(self, *args):
            return function(*args)
    return Written()


def flat(values):
    return [values] if isinstance(values, nd.NDArray) else [v for part in values for v in flat(part)]


def compare(net, *args, gradients=True):
    """Compares a block with itself as a graph, forward and, with `gradients`, backward.

    As a graph it runs three times: the first time as a program, then by a plan.
    """
    def run():
        inputs = [a.copy() if isinstance(a, nd.NDArray) else a for a in args]
        arrays = [a for a in inputs if isinstance(a, nd.NDArray) and 'float' in str(onp.dtype(a.dtype))]
        for a in arrays:
            a.attach_grad()
        with autograd.record() if gradients else autograd.pause():
            result = flat(net(*inputs))
            heads = [r for r in result
                     if 'float' in str(onp.dtype(r.dtype)) and r.size and r.materialize().requires_grad]
        if gradients and heads:
            autograd.backward(heads)
        return result, [a.grad for a in arrays]

    plain, plain_grads = run()
    net.hybridize()
    for _ in range(3):
        found, grads = run()
        for a, b in zip(plain, found, strict=True):
            assert type(a) is type(b) and a.shape == b.shape and a.dtype == b.dtype
            onp.testing.assert_allclose(b.asnumpy(), a.asnumpy(), rtol=1e-5, atol=1e-6)
        if gradients:
            for a, b in zip(plain_grads, grads, strict=True):
                onp.testing.assert_allclose(b.asnumpy(), a.asnumpy(), rtol=1e-4, atol=1e-5)
    assert net._traces.failure is None


def np_writes(x):
    y = np.zeros(x.shape)
    y[:] = x
    y[0] = 1
    y[:, 1] = x[:, 0]
    y[1:3, 2:4] = 5
    y += 1
    z = x * 1
    z[z > 0] = 0
    y *= x
    y -= z
    return y, z


def np_filled(x):
    y = np.empty((x.shape[0] + 1, 6))
    y[0] = 3
    y[1:] = x.detach()
    return y


NUMPY = {
    'basic keys': lambda x, i: (x[0], x[1, 2], x[:, 1:3], x[..., ::-1], x[None], x[:, None, ::2], x[-1, -1], x[1:-1]),
    'arrays as keys': lambda x, i: (x[np.array([1, 0, 3], dtype='int32')], x[:, [0, 2]], x[np.arange(4), i],
                                    x[1:, [0, 1]]),
    'writing': lambda x, i: np_writes(x),
    'iterating': lambda x, i: sum(r * 2 for r in x),
    'splitting': lambda x, i: np.split(x, 2, axis=1),
    'shapes': lambda x, i: (np.stack([x, x * 2]).transpose(1, 0, 2).reshape(x.shape[0], -1), x.T, x.reshape(-1),
                            np.expand_dims(x, 1), x.expand_dims(0), x.squeeze(), np.repeat(x, 2, axis=0), x.flatten(),
                            np.broadcast_to(x, (2, 4, 6)), np.swapaxes(x, 0, 1), np.flip(x, 0), x.copy()),
    'choosing': lambda x, i: (np.where(x > 0, x, 0), np.where(x > 0, x, -x), npx.pick(x, i), np.take(x, i, axis=0),
                              np.maximum(x, 0), np.clip(x, 0, 1)),
    'products': lambda x, i: (np.einsum('ij,kj->ik', x, x), x @ x.T, np.dot(x, x.T), np.tensordot(x, x.T, 1)),
    'arithmetic': lambda x, i: (-x, abs(x), x**2, 2 / x, 1 - x, x > 0, x.astype('float64'), x == x),
    'reductions': lambda x, i: (x.mean(), x.std(axis=0), x.max(axis=1, keepdims=True), x.argmax(axis=1),
                                x.cumsum(axis=0), np.linalg.norm(x)),
    'networks': lambda x, i: (npx.softmax(x), npx.relu(x), npx.one_hot(i, 4), npx.log_softmax(x), npx.batch_flatten(x),
                              npx.leaky_relu(x, act_type='gelu'), npx.topk(x, k=2)),
    'new arrays': lambda x, i: (np.zeros((x.shape[0], 2)) + x[:, :2], np.ones_like(x), np.arange(x.shape[1]) * x,
                                np.full((2, 2), 7.0) + x[:2, :2], np.eye(4) @ x, np.linspace(0, 1, 6) * x, np.zeros(3)),
    'copies and empty arrays': lambda x, i: (np.array(x), np.array(x, dtype='float64'), np_filled(x),
                                             np.asarray(x) + 1),
    'nested results': lambda x, i: [x, [x + 1, (x * 2,)]],
    'both faces': lambda x, i: (nd.relu(x.as_nd_ndarray()).as_np_ndarray() * x,),
}


@pytest.mark.parametrize('case', NUMPY)
def test_numpy_functions(case, numpy_mode):
    mx.random.seed(1)
    compare(block(NUMPY[case]), np.random.normal(size=(4, 6)), np.array([2, 0, 1, 3], dtype='int64'),
            gradients=case != 'writing')


def nd_writes(x):
    y = nd.zeros(x.shape)
    y[:] = x
    y[0] = 1
    y[:, 1] = x[:, 0]
    y[1:3, 2:4] = 5
    y += 1
    y *= x
    y /= 2
    y -= 1
    return y


LEGACY = {
    'basic keys': lambda x, i: (x[0], x[1, 2], x[:, 1:3], x[..., ::-1], x[None], x[:, None, ::2], x[-1, -1], x[1:-1],
                                x[:]),
    'arrays as keys': lambda x, i: (x[nd.array([1, 0, 3])], x[:, [0, 2]], x[nd.arange(4), i], x[1:, [0, 1]]),
    'writing': lambda x, i: nd_writes(x),
    'shapes': lambda x, i: (x.reshape((0, -1)), x.reshape((-1,)), x.reshape(2, -1), x.reshape((x.shape[0], 2, 3)),
                            x.reshape((-3,)), x.reshape((-4, 2, 2, -2)), x.flatten(), x.expand_dims(0), x.T,
                            x.transpose((1, 0)), x.swapaxes(0, 1)),
    'arithmetic': lambda x, i: (x + 1, 1 - x, x / 2, 2 / x, x**2, x > 0, x == x, -x, abs(x), x * x, x.sum(),
                                x.mean(axis=0),
                                nd.dot(x, x.T)),
    'functions': lambda x, i: (nd.relu(x), nd.concat(x, x, dim=1), nd.stack(x, x), nd.split(x, 2, axis=1)[0],
                               nd.softmax(x), nd.pick(x, i), nd.one_hot(i, 4), nd.where(x > 0, x, -x), nd.zeros_like(x),
                               nd.SliceChannel(x, num_outputs=2), nd.ones((2, 3)), nd.arange(3),
                               nd.LayerNorm(x, nd.ones(6), nd.zeros(6))),
    'copies': lambda x, i: (x.copy(), x.astype('float64'), x.detach(), x.as_in_context(mx.cpu()),
                            x.broadcast_to((4, 6)), x.slice_axis(1, 0, 2), x.clip(0, 1)),
}


@pytest.mark.parametrize('case', LEGACY)
def test_legacy_functions(case):
    mx.random.seed(1)
    compare(block(LEGACY[case]), nd.random.normal(shape=(4, 6)), nd.array([2, 0, 1, 3]), gradients=case != 'writing')


# ---------------------------------------------------------------------- parameters, nesting
class Written(nn.HybridBlock):
    """Own parameters of unknown shape, and children of the other style."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.weight = self.params.get('weight', shape=(5, 0), allow_deferred_init=True)
            self.dense, self.rnn = nn.Dense(4), rnn.LSTM(3)

    def forward(self, x):
        h = nd.FullyConnected(x, self.weight.data(x.context), no_bias=True, num_hidden=5)
        return self.rnn(self.dense(h).expand_dims(0))[0] * 2


class Hybrid(nn.HybridBlock):
    """hybrid_forward around a child whose forward is written on arrays."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.inner = Written()
            self.weight = self.params.get('weight', shape=(3, 0), allow_deferred_init=True)

    def hybrid_forward(self, F, x, weight):
        return F.FullyConnected(self.inner(x), weight, no_bias=True, num_hidden=3)


@pytest.mark.parametrize('hybridize_first', [False, True])
def test_blocks_of_both_styles_find_their_shapes(hybridize_first, tmp_path):
    net = nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(nn.BatchNorm(axis=-1), nn.Dense(4), Hybrid())
    net.initialize()
    x = nd.random.normal(shape=(2, 6))
    if hybridize_first:
        net.hybridize()
        net(x)
    assert net(x).shape == (2, 3)
    assert net[2].inner.weight.shape == (5, 4) and net[2].weight.shape == (3, 3)
    compare(net, x)
    assert all(p.grad().asnumpy().any() for p in net[2].collect_params('.*weight').values()
               if 'h2h' not in p.name)         # the first state is 0
    assert net.export(str(tmp_path / 'net')) is None
    paths = [str(tmp_path / f'net{end}') for end in ('-symbol.json', '-0000.params')]
    loaded = gluon.SymbolBlock.imports(paths[0], 'data', paths[1])
    for batch in (x, nd.random.normal(shape=(5, 6))):
        onp.testing.assert_allclose(loaded(batch).asnumpy(), net(batch).asnumpy(), rtol=1e-5, atol=1e-6)
    assert 'net_hybrid0_written0_dense0_fullyconnected0' in mx.sym.load(paths[0]).get_internals().tojson()


def test_a_shape_that_no_operator_tells():
    class Lost(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.weight = self.params.get('weight', shape=(0, 0), allow_deferred_init=True)

        def forward(self, x):
            return x + self.weight.data().sum()

    net = Lost()
    net.initialize()
    with pytest.raises(ValueError, match='weight.*not fully known.*Operator sum'):
        net(nd.ones((2, 3)))


def test_infer_shape_by_the_block_itself():
    class Told(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.weight = self.params.get('weight', shape=(0,), allow_deferred_init=True)

        def forward(self, x):
            return x.reshape((-1, self.weight.data().shape[0])) * self.weight.data()

        def infer_shape(self, x):
            self.weight.shape = (x.shape[-1],)

    net = Told()
    net.initialize()
    assert net(nd.ones((2, 3))).shape == (2, 3) and net.weight.shape == (3,)


def test_children_that_were_never_called_are_named(tmp_path):
    class Half(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.used, self.forgotten = nn.Dense(2), nn.Dense(3)

        def forward(self, x):
            return self.used(x)

    net = Half()
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 4)))
    with pytest.raises(gluon.DeferredInitializationError, match='forgotten.weight.*Never called: forgotten'):
        net.save_parameters(str(tmp_path / 'x.params'))
    with pytest.raises(gluon.DeferredInitializationError, match=f'{net.forgotten.weight.name}.*never called'):
        net.forgotten.weight.data()


# ---------------------------------------------------------------------- what a trace depends on
def test_traces_by_shapes_numbers_and_modes():
    calls = []

    def forward(x, factor, flag=None):
        calls.append(1)
        if autograd.is_training():
            x = x + 100
        return x * factor * x.shape[0] if flag is None else x

    net = block(forward)
    net.hybridize()
    one, two = nd.ones((1,)), nd.ones((2,))
    assert net(one, 2).asscalar() == 2 and net(two, 2)[0].asscalar() == 4 and net(one, 3).asscalar() == 3
    assert net(one, 2, 'x').asscalar() == 1
    before = len(calls)
    assert net(one, 2).asscalar() == 2 and net(two, 2)[0].asscalar() == 4
    assert len(calls) == before                 # Python is not asked again
    with autograd.record():
        assert net(one, 2).asscalar() == 202
    with autograd.record(train_mode=False):
        assert net(one, 2).asscalar() == 2


def test_one_trace_for_all_shapes_if_none_is_read():
    calls = []
    net = block(lambda x: (calls.append(1), nd.relu(x) * 2)[1])
    net.hybridize()
    assert [net(nd.ones((n, 3))).shape for n in (1, 5, 2)] == [(1, 3), (5, 3), (2, 3)] and len(calls) == 1


def test_random_numbers_are_drawn_anew():
    net = block(lambda x: nd.Dropout(nd.ones_like(x), p=0.5) + nd.random.uniform(shape=(50,)))
    net.hybridize()
    with autograd.record():
        a, b, c = (net(nd.ones((50,))).asnumpy() for _ in range(3))
    assert (a != b).any() and (b != c).any()
    assert net(nd.ones((50,))).asnumpy().min() >= 1            # no dropout in prediction


def test_pause_stops_the_gradient():
    def forward(x):
        with autograd.pause():
            y = x * x
        assert autograd.is_recording()
        return y * x

    net = block(forward)
    net.hybridize()
    for _ in range(3):
        x = nd.array([3.])
        x.attach_grad()
        with autograd.record():
            y = net(x)
        y.backward()
        assert x.grad.asscalar() == 9


def test_arrays_from_elsewhere_are_read_anew_and_learn(tmp_path):
    scale = nd.array([2.0])
    scale.attach_grad()
    net = block(lambda x: x * scale)
    net.hybridize()
    for value in (2, 3, 4):
        scale[:] = value
        with autograd.record():
            y = net(nd.ones((3,)))
        y.backward()
        assert y.asnumpy().tolist() == [value] * 3 and scale.grad.asscalar() == 3
    assert net.export(str(tmp_path / 'scaled')) is None
    paths = [str(tmp_path / f'scaled{end}') for end in ('-symbol.json', '-0000.params')]
    assert nd.load(paths[1])['arg:constant0'].asscalar() == 4


def test_running_averages_of_children_move():
    class Normed(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm(in_channels=2)

        def forward(self, x):
            return self.norm(x)

    net = Normed()
    net.initialize()
    net.hybridize()
    x = nd.random.normal(5, 1, shape=(8, 2))
    means = []
    for _ in range(3):
        with autograd.record():
            out = net(x)
        out.backward()
        means.append(net.norm.running_mean.data().asnumpy().copy())
    assert (means[0] > 0.3).all() and (means[1] > means[0]).all() and (means[2] > means[1]).all()


# ---------------------------------------------------------------------- what cannot be a graph
def test_blocks_that_look_at_values_run_as_they_are(tmp_path):
    class Branching(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2)

        def forward(self, x):
            return self.dense(x) if x.sum().asscalar() > 0 else -self.dense(x)

    net = Branching()
    net.initialize()
    net.hybridize()
    x = nd.ones((1, 3))
    with pytest.warns(UserWarning, match=r'cannot become one graph: asscalar\(\) needs the values'):
        first = net(x)
    assert (net(-x) == -net.dense(-x)).asnumpy().all() and (net(x) == first).asnumpy().all()
    assert net.dense._cached_op is not None               # the child is a graph
    with pytest.raises(RuntimeError, match='cannot become one graph'):
        net.export(str(tmp_path / 'no'))


UNTRACEABLE = {
    'keeps arrays': (lambda self, x: setattr(self, 'attention', nd.softmax(x)) or self.attention * 2, 'attention'),
    'writes into its input': (lambda self, x: x.__iadd__(1), 'writes into an input'),
    'writes into a view': (lambda self, x: _write_view(x), 'other arrays show parts'),
    'masks': (lambda self, x: x[x[:, 0].astype('bool')], 'mask'),
    'gives no array': (lambda self, x: 5, 'no array'),
    'goes through torch': (lambda self, x: nd.from_dlpack(x.to_dlpack_for_read()), 'needs the values'),
}


def _write_view(x):
    y = x * 1
    y[0][:] = 5
    return y


@pytest.mark.parametrize('case', UNTRACEABLE)
def test_what_a_graph_has_no_place_for(case):
    function, why = UNTRACEABLE[case]
    net = type('Odd', (nn.HybridBlock,), {'forward': function})()
    expected = net(nd.ones((2, 2)))
    net.hybridize()
    with pytest.warns(UserWarning, match=why):
        found = net(nd.ones((2, 2)))
    assert found == expected if isinstance(found, int) else (found == expected).asnumpy().all()


def test_mistakes_are_reported_as_they_are():
    net = block(lambda x: nd.dot(x, x))
    net.hybridize()
    with pytest.raises(mx.MXNetError, match='operator dot'):
        net(nd.ones((2, 3)))


# ---------------------------------------------------------------------- the rest of a block's life
def test_hooks_casts_contexts_and_backends():
    net = block(lambda x: nd.tanh(x) * 2)
    net.hybridize()
    x = nd.ones((2,))
    net(x)
    seen = []
    net.register_op_hook(lambda name, operator, array: seen.append(operator))
    net(x)
    assert seen == ['tanh', '_mul_scalar']
    net.cast('float64')
    assert net(x.astype('float64')).dtype is onp.float64
    assert net(x.as_in_context(mx.cpu(1))).context == mx.cpu(1)
    from mxnet._graph.ir import backends
    from mxnet._graph.ir.node import rebuild
    backends.BACKENDS['no_tanh'] = lambda entries, options, args, aux: rebuild(
        entries, lambda node, inputs: inputs if node.op is not None and node.op.name == 'tanh' else None)
    try:
        other = block(lambda x: nd.tanh(x) * 2)
        other.optimize_for(x, backend='no_tanh')
        assert other(x).asnumpy().tolist() == [2, 2]
    finally:
        del backends.BACKENDS['no_tanh']


def test_a_graph_that_holds_for_one_size_says_so(tmp_path):
    net = block(lambda x: nd.arange(x.shape[0]) + x)
    net.hybridize()
    net(nd.ones((3,)))
    with pytest.warns(UserWarning, match=r'holds for inputs of shapes \[\(3,\)\] only'):
        net.export(str(tmp_path / 'net'))


def test_symbols_go_through():
    net = block(lambda x: mx.sym.relu(x) if isinstance(x, mx.sym.Symbol) else nd.relu(x))
    net.hybridize()
    assert net(mx.sym.var('x')).list_arguments() == ['x']


def test_empty_arrays_and_numbers_in_graphs(numpy_mode):
    class Sums(nn.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.np.sum(x), F.np.concatenate([x, x]), F.np.resize(x, (2,))

    for net in (Sums(), block(lambda x: (x.sum(), np.concatenate([x, x]), np.resize(x, (2,))))):
        net.hybridize()
        for _ in range(2):
            total, twice, two = net(np.zeros((0, 3)))
            assert total.shape == () and twice.shape == (0, 3) and two.tolist() == [0, 0]
    x = mx.sym.var('x').as_np_ndarray()
    assert (x * 2).infer_shape(x=(0, 3))[1] == [(0, 3)] and mx.sym.np.sum(x).infer_shape(x=())[1] == [()]
    assert (x + 1).infer_shape_partial(x=(-1, 3))[1] == [(-1, 3)]
    executor = mx.sym.np.sum(x * 2).simple_bind(mx.cpu(), x=(0, 3))
    assert executor.forward(is_train=True)[0].shape == ()
    executor.backward()
    assert executor.grad_dict['x'].shape == (0, 3)
    dense = nn.Dense(2)
    dense.initialize()
    dense.hybridize()
    assert dense(np.ones((0, 3))).shape == (0, 2) and dense.weight.shape == (2, 3)


@pytest.mark.gpu
def test_the_same_graph_on_a_gpu(numpy_mode):
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense, self.norm = nn.Dense(8, flatten=False), nn.LayerNorm()
            self.table = np.arange(5).reshape(1, 5, 1)

        def forward(self, x):
            h = self.norm(self.dense(x)) + self.table.as_in_ctx(x.ctx)
            padded = np.concatenate([np.zeros((x.shape[0], 1, 8), ctx=x.ctx), h], axis=1)
            return np.tanh(padded[:, 1:]) * h[:, [0]]

    net = Net()
    net.initialize(ctx=[npx.cpu(), npx.gpu(0)])
    net.hybridize(static_alloc=True, static_shape=True)
    x = np.random.normal(size=(2, 5, 3))
    results, gradients = [], []
    for ctx in (npx.cpu(), npx.gpu(0)):
        for _ in range(3):
            with autograd.record():
                y = net(x.as_in_ctx(ctx))
            y.backward()
        assert y.ctx == ctx
        results.append(y.asnumpy())
        gradients.append(net.dense.weight.grad(ctx).asnumpy())
    assert net._traces.failure is None
    onp.testing.assert_allclose(results[1], results[0], rtol=1e-3, atol=1e-4)
    onp.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize('hybridize', [False, True])
def test_outputs_of_both_kinds_are_a_mistake_in_np_mode(hybridize):
    @mx.use_np
    class Mixed(nn.HybridBlock):
        def hybrid_forward(self, F, x):
            return x.as_nd_ndarray() + x.as_nd_ndarray(), F.np.multiply(x, x)

    net = Mixed(prefix='mixed_')
    if hybridize:
        net.hybridize()
    with pytest.raises(TypeError, match='mixed gives a .* in np mode'):
        net(np.ones((2, 3)))
