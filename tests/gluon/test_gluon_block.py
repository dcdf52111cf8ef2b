"""Blocks, parameters, hybridization, Trainer."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd


class Layer(gluon.HybridBlock):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        with self.name_scope():
            self.weight = self.params.get('weight', shape=(units, 0), allow_deferred_init=True)
            self.bias = self.params.get('bias', shape=(units,), init='zeros')

    def hybrid_forward(self, F, x, weight, bias):
        return F.FullyConnected(x, weight, bias, num_hidden=self.units)


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = Layer(4)
            self.second = Layer(2)

    def hybrid_forward(self, F, x):
        return self.second(F.Dropout(F.tanh(self.first(x)), p=0.5))


def ready(hybrid=False, ctx=None):
    mx.random.seed(1)
    net = Net(prefix='net_')
    net.initialize(mx.init.Normal(1), ctx=ctx)
    if hybrid:
        net.hybridize()
    return net


def test_names():
    net = ready()
    assert list(net.collect_params()) == ['net_layer0_weight', 'net_layer0_bias', 'net_layer1_weight',
                                          'net_layer1_bias']
    assert list(net.collect_params('.*bias')) == ['net_layer0_bias', 'net_layer1_bias']
    assert 'Net(' in repr(net) and '(first): Layer(' in repr(net)


def step(net, x):
    mx.random.seed(5)
    with autograd.record():
        loss = (net(x) ** 2).sum()
    loss.backward()
    return [loss.asnumpy(), *[p.grad().asnumpy() for p in net.collect_params().values()]]


def test_hybridized_computes_the_same_bits():
    x = nd.random.normal(shape=(3, 5))
    plain, hybrid = ready(), ready()
    plain(x), hybrid(x)
    for a, b in zip(plain.collect_params().values(), hybrid.collect_params().values(), strict=True):
        b.set_data(a.data())
    hybrid.hybridize()
    want = step(plain, x)
    for _ in range(4):             # the first goes through torch's engine, the others through a plan
        for a, b in zip(want, step(hybrid, x), strict=True):
            np.testing.assert_array_equal(a, b)
    with autograd.predict_mode():
        np.testing.assert_array_equal(plain(x).asnumpy(), hybrid(x).asnumpy())


def test_gradients_through_plain_and_hybrid_parts():
    x = nd.array([[1.0, 2.0]])
    x.attach_grad()
    layer = Layer(3)
    layer.initialize(mx.init.One())
    layer.hybridize()
    for _ in range(3):
        with autograd.record():
            y = (layer(x * 2) * 3).sum()
        y.backward()
        assert x.grad.asnumpy().tolist() == [[18, 18]]


def test_second_derivative_through_a_hybridized_block():
    class Cube(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return x * x * x
    net = Cube()
    net.hybridize()
    x = nd.array([2.0])
    x.attach_grad()
    for _ in range(3):
        with autograd.record():
            y = net(x)
            first = autograd.grad(y, x, create_graph=True)[0]
        first.backward()
        assert x.grad.asscalar() == 12


def test_changing_shapes():
    net = ready(hybrid=True)
    for n in (1, 4, 4, 2, 1):
        assert net(nd.ones((n, 5))).shape == (n, 2)


def test_deferred_initialization_errors():
    net = ready()
    with pytest.raises(gluon.DeferredInitializationError, match=r'net_layer0_weight.*\(4, 0\)'):
        net.first.weight.data()
    with pytest.raises(RuntimeError, match='initialize'):
        Net()(nd.ones((1, 5)))
    net(nd.ones((1, 5)))
    with pytest.raises(RuntimeError, match=r'cpu\(3\)'):
        net.first.weight.data(mx.cpu(3))


def test_files(tmp_path):
    path = str(tmp_path / 'net.params')
    x = nd.ones((2, 5))
    net = ready()
    want = net(x).asnumpy()
    net.save_parameters(path)
    assert sorted(nd.load(path)) == ['first.bias', 'first.weight', 'second.bias', 'second.weight']
    other = Net(prefix='other_')
    other.load_parameters(path)
    np.testing.assert_array_equal(other(x).asnumpy(), want)

    class Less(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.frist = Layer(4)
    with pytest.raises(AssertionError, match=r"frist.weight(.|\n)*close: 'first.weight'"):
        Less().load_parameters(path)
    net.hybridize()
    net(x)
    assert net.export(str(tmp_path / 'model'), 3) is None
    files = [str(tmp_path / f'model{end}') for end in ('-symbol.json', '-0003.params')]
    assert files[1].endswith('model-0003.params')
    block = gluon.SymbolBlock.imports(files[0], ['data'], files[1])
    np.testing.assert_array_equal(block(x).asnumpy(), want)


def test_sharing():
    a = Layer(3)
    b = Layer(3, params=a.params)
    a.initialize(mx.init.One())
    assert b(nd.ones((1, 2))).asnumpy().tolist() == a(nd.ones((1, 2))).asnumpy().tolist()
    assert a.weight is b.params[a.weight.name]


def test_several_contexts_train_as_one():
    x, y = nd.random.normal(shape=(4, 5)), nd.random.normal(shape=(4, 2))

    def train(contexts):
        net = ready(ctx=contexts)
        with autograd.predict_mode():
            net(x.as_in_context(contexts[0]))
        for i, p in enumerate(net.collect_params().values()):
            p.set_data(nd.ones(p.shape) * (i + 1) / 10)
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9})
        for _ in range(3):
            with autograd.record(train_mode=False):
                losses = [((net(a) - b) ** 2).sum() for a, b in zip(gluon.utils.split_and_load(x, contexts),
                                                                    gluon.utils.split_and_load(y,
                                                                                               contexts), strict=True)]
            for loss in losses:
                loss.backward()
            trainer.step(4)
        return [p.data(contexts[-1]).asnumpy() for p in net.collect_params().values()]

    for a, b in zip(train([mx.cpu(0)]), train([mx.cpu(0), mx.cpu(1)]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_stale_gradients_are_an_error():
    net = ready()
    trainer = gluon.Trainer(net.collect_params(), 'sgd')
    step(net, nd.ones((1, 5)))
    trainer.step(1)
    with pytest.raises(UserWarning, match='net_layer0_'):
        trainer.step(1)
    trainer.step(1, ignore_stale_grad=True)


def test_hooks_and_summary(capsys):
    net = ready()
    seen = []
    handle = net.first.register_forward_hook(lambda block, inputs, output: seen.append(output.shape))
    net(nd.ones((2, 5)))
    handle.detach()
    net(nd.ones((2, 5)))
    assert seen == [(2, 4)]
    net.summary(nd.ones((2, 5)))
    assert 'Layer-1' in capsys.readouterr().out


def test_mistakes():
    with pytest.raises(ValueError, match='HybridBlock'):
        class Wrong(gluon.HybridBlock):
            def __init__(self):
                super().__init__()
                self.child = gluon.Block()
        Wrong()
    net = ready(hybrid=True)
    with pytest.raises(ValueError, match='at least one array or symbol as input, not int'):
        net(3)
    with pytest.raises(TypeError, match="ctx must be a Context, .* not 'cpu'"):
        net.initialize(ctx='cpu', force_reinit=True)
    with pytest.raises(KeyError, match="there is no Parameter 'wieght'; there are '.*weight'"):
        net.collect_params()['wieght']
    net(nd.ones((1, 5)))
    with pytest.raises(ValueError, match='nested'):
        net(nd.ones((1, 5)), nd.ones((1, 5)))


def test_a_file_of_another_network_is_an_error_that_names_both_sides(tmp_path):
    """A layer's file in a stack of layers: not a word about prefixes, which nobody has asked for."""
    layer, stack = gluon.nn.Dense(3, in_units=3), gluon.nn.HybridSequential()
    stack.add(gluon.nn.Dense(3, in_units=3))
    layer.initialize()
    layer.save_parameters(str(tmp_path / 'layer.params'))
    with pytest.raises(AssertionError, match=r"'0.weight'   \(close: 'weight'\)"):
        stack.load_parameters(str(tmp_path / 'layer.params'))


@pytest.mark.filterwarnings('ignore')           # the input is not used
@pytest.mark.parametrize('hybrid', [False, True])
@pytest.mark.parametrize('recorded', [False, True])
def test_graphs_without_inputs(hybrid, recorded):
    """What a block computes may depend on none of its inputs; the context is theirs."""
    class Both(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return x, F.zeros((2, 1)), F.ones((3, 2))

    class Constant(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.ones((3, 2))
    ctx = mx.cpu(1)
    for _ in range(3):
        for net in (Both(), Constant()):
            net.hybridize(hybrid)
            with autograd.record(recorded) if recorded else autograd.pause():
                found = net(nd.ones((2,), ctx=ctx))
            found = found[-1] if isinstance(found, (list, tuple)) else found
            assert found.shape == (3, 2)
            if hybrid:
                assert found.context == ctx


def test_parameters_of_a_symbol_block_have_upstreams_order(tmp_path):
    """Arguments, then states: files of a Trainer's states know parameters by their number."""
    out = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=5, name='fc1')
    out = mx.sym.FullyConnected(mx.sym.BatchNorm(out, name='bn'), num_hidden=4, name='fc2')
    expected = ['fc1_weight', 'fc1_bias', 'bn_gamma', 'bn_beta', 'fc2_weight', 'fc2_bias', 'bn_moving_mean',
                'bn_moving_var']             # of 1.9.1
    block = gluon.SymbolBlock(out, mx.sym.var('data'))
    assert list(block.collect_params()) == expected
    block.initialize()
    block.hybridize()
    block(mx.nd.ones((1, 2)))
    block.export(str(tmp_path / 'block'))
    files = str(tmp_path / 'block-symbol.json'), ['data'], str(tmp_path / 'block-0000.params')
    assert list(gluon.SymbolBlock.imports(*files).collect_params()) == expected
    given = gluon.SymbolBlock(out, mx.sym.var('data'), params=block.collect_params())
    assert list(given.collect_params()) == expected


@pytest.mark.parametrize('sparse', [False, True])
def test_cast_keeps_gradients(sparse):
    layer = gluon.nn.Embedding(7, 4, sparse_grad=sparse)
    layer.initialize(mx.init.One())
    with autograd.record():
        loss = layer(nd.array([1, 2, 2])).sum()
    loss.backward()
    for dtype in ('float64', 'float32'):
        layer.cast(dtype)
        gradient = layer.weight.grad()
        assert gradient.dtype == np.dtype(dtype) and gradient.stype == ('row_sparse' if sparse else 'default')
        assert gradient.asnumpy()[:, 0].tolist() == [0, 1, 2, 0, 0, 0, 0]           # as in MXNet 1.9.1
