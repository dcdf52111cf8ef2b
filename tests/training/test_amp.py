"""Mixed precision: the casts on arrays and in graphs, training with scaled losses, converted models."""
import json
import logging

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.base import MXNetError
from mxnet.contrib import amp
from mxnet.contrib.amp.loss_scaler import LossScaler, NoScaling

TARGETS = ['float16', 'bfloat16']


@pytest.fixture
def low():
    """Switches mixed precision on for a test: `low('bfloat16')`."""
    yield amp.init
    amp.stop()


def dtype(array):
    return str(array.meta().dtype).removeprefix('torch.')


def values(array):
    return array.astype('float32').asnumpy()


def nodes(symbol):
    """(operator, name, names of the inputs) of each node, with casts."""
    graph = json.loads(symbol.tojson(remove_amp_cast=False))['nodes']
    return [(n['op'], n['name'], [graph[i[0]]['name'] for i in n['inputs']]) for n in graph]


def casts(symbol):
    return [name for op, name, _ in nodes(symbol) if op.startswith('amp_')]


# ---------------------------------------------------------------------- lists
@pytest.mark.parametrize('target', [*TARGETS, np.float16, amp.amp.bfloat16])
def test_lists_name_operators_and_do_not_overlap(target):
    from mxnet._ops import NAMES
    named = [amp.list_lp16_ops(target), amp.list_fp32_ops(target), amp.list_widest_type_cast(target),
             [name for name, _, _ in amp.list_conditional_fp32_ops(target)], amp.list_lp16_fp32_ops(target)]
    operators = [{NAMES[name] for name in names} for names in named]
    assert all(operators)
    assert sum(map(len, operators)) == len(set().union(*operators)) == len(set(NAMES.values()))
    assert set(amp.list_loss_output_functions(target)) <= set(amp.list_fp32_ops(target))
    for name, attribute, _ in amp.list_conditional_fp32_ops(target):
        assert attribute in NAMES[name].attributes


def test_inputs_that_stay_in_float32_exist():
    from mxnet._ops import NAMES
    assert amp.list_lp16_use_fp32_params('float16') is None
    for name, inputs in amp.list_lp16_use_fp32_params('bfloat16').items():
        assert all(given in ('', real) for given, real in zip(inputs, NAMES[name].inputs, strict=True))


def test_other_dtypes_are_refused():
    with pytest.raises(AssertionError, match='float16 or bfloat16, not with int8'):
        amp.init('int8')
    with pytest.raises(AssertionError, match='float64'):
        amp.list_fp32_ops('float64')


# ---------------------------------------------------------------------- arrays
@pytest.mark.parametrize('target', TARGETS)
def test_calls_on_arrays_are_cast(low, target):
    x, w = nd.random.normal(shape=(4, 8)), nd.random.normal(shape=(3, 8))
    exact = nd.FullyConnected(x, w, num_hidden=3, no_bias=True)
    low(target)
    y = nd.FullyConnected(x, w, num_hidden=3, no_bias=True)
    assert dtype(y) == target
    np.testing.assert_allclose(values(y), exact.asnumpy(), rtol=5e-2, atol=5e-2)
    # float32, whichever way the operator is called
    for result in (nd.softmax(y), nd.exp(y), nd.op.exp(y), y.exp(), y.sum(), nd.sum(y), nd.mean(y, axis=0), y.softmax(),
                   y ** 2, 1 / y, nd.log_softmax(y, axis=-1), nd.Activation(y, act_type='softrelu'), nd.square(data=y)):
        assert dtype(result) == 'float32'
    # the widest
    one = nd.ones((4, 3))
    for result in (y + one, one + y, nd.broadcast_add(y, one), nd.concat(y, one, dim=0), nd.elemwise_mul(one, y),
                   nd.add(y, one), nd.where(one, y, one), nd.stack(y, one), nd.dot(y, nd.ones((3, 2)))):
        assert dtype(result) == 'float32'
    # as given
    for result in (y + y, y * 2, nd.relu(y), y.reshape((3, 4)), nd.Activation(y, act_type='relu'),
                   nd.concat(y, y, dim=0)):
        assert dtype(result) == target
    assert dtype(nd.FullyConnected(x.astype('float64'), w.astype('float64'), num_hidden=3, no_bias=True)) == 'float64'
    assert nd.exp(nd.array([1, 2], dtype='int32')).shape == (2,)


def test_off_is_as_before(low):
    before = {name: getattr(nd, name) for name in ('exp', 'FullyConnected', 'softmax', 'dot')}
    method, run = nd.NDArray.exp, nd._invoke.run
    low()
    assert dtype(nd.exp(nd.ones(2).astype('float16'))) == 'float32'
    amp.stop()
    assert all(getattr(nd, name) is function for name, function in before.items())
    assert nd.NDArray.exp is method and nd._invoke.run is run
    x = nd.ones((2, 2))
    assert dtype(nd.FullyConnected(x, x, num_hidden=2, no_bias=True)) == 'float32'
    assert dtype(nd.exp(x.astype('float16'))) == 'float16'
    with pytest.raises(MXNetError, match='same dtype'):
        nd.broadcast_add(x, x.astype('float16'))


def test_lists_of_the_program(low):
    low('float16', target_precision_ops=['dot', 'exp'], fp32_ops=['relu'],
        conditional_fp32_ops=[('clip', 'a_max', ['2.0'])])
    x = nd.ones((2, 2))
    assert dtype(nd.dot(x, x)) == dtype(nd.exp(x)) == 'float16'
    assert dtype(nd.FullyConnected(x, x, num_hidden=2, no_bias=True)) == 'float32'
    half = x.astype('float16')
    assert dtype(nd.relu(half)) == 'float32' and dtype(nd.log(half)) == 'float16'
    assert dtype(nd.clip(half, 0, 2)) == 'float32' and dtype(nd.clip(half, 0, 3)) == 'float16'


@pytest.mark.parametrize('lists, message', [
    ({'target_precision_ops': ['nothing']}, "no operator 'nothing'"),
    ({'target_precision_ops': ['exp'], 'fp32_ops': ['_sparse_exp']}, 'exp is in target_dtype_ops and in fp32_ops'),
    ({'fp32_ops': 'exp'}, 'must be a list'),
    ({'conditional_fp32_ops': ['clip']}, 'operator, attribute, list of values'),
    ({'conditional_fp32_ops': [('clip', 'top', ['1'])]}, "no attribute 'top'"),
])
def test_wrong_lists_are_refused(low, lists, message):
    with pytest.raises(AssertionError, match=message):
        low('float16', **lists)


def test_gradients_go_back_in_float32(low):
    low('bfloat16')
    w = nd.random.normal(shape=(3, 8))
    w.attach_grad()
    with autograd.record():
        y = nd.FullyConnected(nd.ones((4, 8)), w, num_hidden=3, no_bias=True)
        loss = y.sum()
    loss.backward()
    assert dtype(y) == 'bfloat16' and dtype(w.grad) == 'float32'
    np.testing.assert_array_equal(w.grad.asnumpy(), np.full((3, 8), 4))


def test_states_keep_their_dtype(low):
    low('float16', target_precision_ops=['BatchNorm'])
    x, one, zero = nd.random.normal(shape=(4, 2, 3, 3)), nd.ones(2), nd.zeros(2)
    x.attach_grad()
    mean, var = zero.copy(), one.copy()
    with autograd.record():
        y = nd.BatchNorm(x, one, zero, mean, var, fix_gamma=False)
    y.backward()
    assert dtype(y) == 'float16'
    assert dtype(mean) == dtype(var) == 'float32' and mean.asnumpy().any()


def test_torchs_state_is_left_alone(low):
    before = torch.get_default_dtype(), torch.is_grad_enabled(), torch.is_autocast_enabled()
    low()
    assert (torch.get_default_dtype(), torch.is_grad_enabled(), torch.is_autocast_enabled()) == before


# ---------------------------------------------------------------------- graphs made while it is on
def test_symbols_are_cast(low):
    low()
    x = mx.sym.var('x')
    fc = mx.sym.FullyConnected(x, num_hidden=3, name='fc')
    both = mx.sym.FullyConnected(x, num_hidden=3, name='fd') + mx.sym.exp(fc, name='e')
    assert casts(both) == ['x_amp_cast_float16', 'fd_weight_amp_cast_float16', 'fd_bias_amp_cast_float16',
                           'fc_weight_amp_cast_float16', 'fc_bias_amp_cast_float16', 'fc_output_amp_cast_float32',
                           'fd_output_amp_multicast']
    assert not casts(mx.sym.load_json(both.tojson()))
    assert both.infer_shape(x=(2, 5))[0] == fc_shapes(both)
    executor = both.simple_bind(mx.cpu(), x=(2, 5))
    assert {dtype(a) for a in executor.arg_dict.values()} == {'float32'}
    assert dtype(executor.forward(is_train=True)[0]) == 'float32'
    executor.backward(nd.ones((2, 3)))
    assert {dtype(g) for g in executor.grad_dict.values()} == {'float32'}


def fc_shapes(symbol):
    known = {'x': (2, 5), 'weight': (3, 5), 'bias': (3,)}
    return [known[name.split('_')[-1]] for name in symbol.list_arguments()]


@pytest.mark.parametrize('target', TARGETS)
def test_hybridized_is_as_plain(low, target):
    low(target)
    net = convolutional()
    x = nd.random.normal(shape=(4, 1, 12, 12))
    plain = net(x)
    net.hybridize()
    hybridized = net(x)
    assert dtype(plain) == dtype(hybridized) == target
    np.testing.assert_allclose(values(plain), values(hybridized), rtol=2e-2, atol=2e-2)
    assert any(name.endswith(f'amp_cast_{target}') for name in casts(net._cached_graph[1]))


def test_numpy_mode(low):
    low('bfloat16')
    with mx.util.np_shape(True), mx.util.np_array(True):
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(4, activation='relu'), gluon.nn.Dense(2))
        net.initialize()
        x = mx.np.ones((3, 5))
        assert dtype(net(x)) == 'bfloat16'
        for y in (mx.npx.softmax(net(x)), mx.np.linalg.svd(net(x))[1], net(x) + mx.np.ones(2)):
            assert dtype(y) == 'float32'
        net.hybridize()
        assert dtype(net(x)) == 'bfloat16'


def convolutional():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(4, 3, activation='relu'), gluon.nn.BatchNorm(), gluon.nn.MaxPool2D(2), gluon.nn.Flatten(),
            gluon.nn.Dense(16, activation='relu'), gluon.nn.Dropout(0.1), gluon.nn.Dense(10))
    net.initialize(mx.init.Xavier())
    return net


# ---------------------------------------------------------------------- training
def digits(count=300, seed=0):
    """Ten patterns with noise: what a small network learns nearly, but not quite, without errors."""
    rng = np.random.default_rng(7)
    patterns = rng.normal(size=(10, 1, 12, 12)).astype('float32')
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, count)
    return nd.array(patterns[labels] + rng.normal(size=(count, 1, 12, 12)) * 0.8), nd.array(labels)


def perceptron():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(64, activation='relu'), gluon.nn.Dense(64, activation='relu'), gluon.nn.Dense(10))
    net.initialize(mx.init.Xavier())
    return net


def train(make, hybridize, epochs=5):
    mx.random.seed(3)
    net = make()
    if hybridize:
        net.hybridize()
    x, labels = digits()
    test, wanted = digits(seed=1)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9})
    mixed = amp.amp._switch is not None
    if mixed:
        amp.init_trainer(trainer)
    for _ in range(epochs):
        for i in range(0, 300, 50):
            with autograd.record():
                loss = loss_of(net(x[i:i + 50]), labels[i:i + 50])
                if mixed:
                    with amp.scale_loss(loss, trainer) as scaled:
                        autograd.backward(scaled)
            if not mixed:
                loss.backward()
            trainer.step(50)
    assert {dtype(p.data()) for p in net.collect_params().values()} == {'float32'}
    return (net(test).argmax(axis=1).asnumpy() == wanted.asnumpy()).mean(), trainer


@pytest.mark.parametrize('make', [perceptron, convolutional])
@pytest.mark.parametrize('hybridize', [False, True])
def test_training_is_as_accurate(low, make, hybridize):
    exact, _ = train(make, hybridize)
    assert exact > 0.9
    for target in TARGETS:
        low(target)
        accuracy, trainer = train(make, hybridize)
        amp.stop()
        assert accuracy > exact - 0.02, target
        scale = trainer._amp_loss_scaler.loss_scale
        assert scale == 1 if target == 'bfloat16' else 1 < scale <= 2 ** 16


def one_weight(low, target='float16', **options):
    low(target)
    net = gluon.nn.Dense(1, in_units=2, use_bias=False)
    net.initialize(mx.init.One())
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1.0}, **options)
    amp.init_trainer(trainer)
    return net, trainer


def step(net, trainer, x):
    with autograd.record():
        with amp.scale_loss(net(x).sum(), trainer) as scaled:
            scaled.backward()
    trainer.step(1)


def test_overflow_leaves_a_step_out(low, caplog):
    net, trainer = one_weight(low)
    with caplog.at_level(logging.INFO):
        step(net, trainer, nd.array([[1000, 1]]))
    assert trainer._amp_loss_scaler.loss_scale == 2 ** 15
    assert '32768' in caplog.text
    np.testing.assert_array_equal(net.weight.data().asnumpy(), [[1, 1]])
    step(net, trainer, nd.array([[0.25, 0.5]]))
    np.testing.assert_array_equal(net.weight.data().asnumpy(), [[0.75, 0.5]])


def test_the_scale_grows_with_patience():
    scaler = LossScaler()
    scaler._scale_seq_len = 3
    param = gluon.Parameter('w', shape=(2,))
    param.initialize()
    for expected in (2 ** 16, 2 ** 16, 2 ** 16, 2 ** 17):
        assert not scaler.has_overflow([param])
        assert scaler.loss_scale == expected
    param.grad()[:] = np.array([1, np.nan])
    assert scaler.has_overflow([param])
    assert scaler.loss_scale == 2 ** 16
    assert not NoScaling().has_overflow([param])


def infinite():
    """A parameter with an infinite gradient on its second context."""
    param = gluon.Parameter('w', shape=(2,))
    param.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    param.grad(mx.cpu(1))[:] = np.inf
    return param


def test_every_context_is_looked_at():
    assert LossScaler().has_overflow([infinite()])


def test_several_contexts_train(low):
    low('float16')
    contexts = [mx.cpu(0), mx.cpu(1)]
    net = gluon.nn.Dense(1, in_units=2, use_bias=False)
    net.initialize(mx.init.One(), ctx=contexts)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1.0})
    amp.init_trainer(trainer)
    for rows in ([[1e9, 1]], [[0.25, 0.5]]):
        with autograd.record():
            losses = [net(nd.array(rows, ctx=ctx)).sum() for ctx in contexts]
            with amp.scale_loss(losses, trainer) as scaled:
                autograd.backward(scaled)
        trainer.step(2)
    for ctx in contexts:
        np.testing.assert_array_equal(net.weight.data(ctx).asnumpy(), [[0.75, 0.5]])


def test_unscale_shows_the_gradients(low):
    net, trainer = one_weight(low)
    assert trainer._amp_loss_scaler.has_overflow([infinite()])     # a smaller scale, which 0.5 fits
    with autograd.record():
        with amp.scale_loss(net(nd.array([[0.25, 0.5]])).sum(), trainer) as scaled:
            scaled.backward()
    amp.unscale(trainer)
    np.testing.assert_array_equal(net.weight.grad().asnumpy(), [[0.25, 0.5]])
    trainer.step(1)
    np.testing.assert_array_equal(net.weight.data().asnumpy(), [[0.75, 0.5]])


def test_output_layers_follow_the_scale(low):
    """Their gradient ignores what comes from behind, so it is scaled by itself."""
    net, trainer = one_weight(low)
    with autograd.record():
        out = nd.LinearRegressionOutput(net(nd.array([[0.25, 0.5]])), nd.array([[0.5]]))
        with amp.scale_loss(out, trainer) as scaled:
            scaled.backward()
    trainer.step(1)
    np.testing.assert_allclose(net.weight.data().asnumpy(), [[1 - 0.25 * 0.25, 1 - 0.25 * 0.5]])


def test_output_layers_in_graphs_are_warned_of(low, caplog):
    one_weight(low)
    mx.sym.SoftmaxOutput(mx.sym.var('x'))
    assert 'SoftmaxOutput in a graph does not follow' in caplog.text


def test_wrong_use_of_trainers(low):
    net = gluon.nn.Dense(1, in_units=2)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), 'sgd')
    with pytest.raises(AssertionError, match=r'call amp.init\(\)'):
        amp.init_trainer(trainer)
    with pytest.raises(AssertionError, match='amp.init_trainer'):
        with amp.scale_loss(nd.ones(1), trainer):
            pass
    low()
    for wrong in (mx.optimizer.SGD(), 'sgd'):
        with pytest.raises(TypeError, match='Gluon Trainer'):
            amp.init_trainer(wrong)
        with pytest.raises(TypeError, match='Gluon Trainer'):
            amp.unscale(wrong)
    storing = gluon.Trainer(net.collect_params(), 'sgd', update_on_kvstore=True)
    with pytest.raises(ValueError, match='update_on_kvstore=False'):
        amp.init_trainer(storing)


# ---------------------------------------------------------------------- conversion
def network():
    x = mx.sym.var('data')
    h = mx.sym.Convolution(x, num_filter=4, kernel=(3, 3), name='c')
    h = mx.sym.Activation(mx.sym.BatchNorm(h, name='bn'), act_type='relu', name='r')
    h = mx.sym.Activation(h, act_type='softrelu', name='sr')
    fc = mx.sym.FullyConnected(h, num_hidden=3, name='fc')
    y = mx.sym.elemwise_add(fc, mx.sym.FullyConnected(h, num_hidden=3, name='fd'), name='sum')
    y = mx.sym.elemwise_add(y, mx.sym.exp(fc, name='e'), name='all')
    return mx.sym.SoftmaxOutput(y, mx.sym.var('label'), name='out')


# as MXNet 1.9.1 converts the same graph
CASTS = ['data_amp_cast_float16', 'c_weight_amp_cast_float16', 'c_bias_amp_cast_float16', 'r_output_amp_cast_float32',
         'sr_output_amp_cast_float16', 'fc_weight_amp_cast_float16', 'fc_bias_amp_cast_float16',
         'fd_weight_amp_cast_float16', 'fd_bias_amp_cast_float16', 'sum_output_amp_cast_float32',
         'fc_output_amp_cast_float32']


def test_converted_graphs_are_those_of_mxnet():
    assert casts(amp.convert_symbol(network())) == CASTS
    params = amp.convert_symbol(network(), data_names=['data', 'label'], cast_optional_params=True)
    assert casts(params) == [name for name in CASTS if '_weight' not in name and '_bias' not in name]
    described = params.attr_dict()
    assert described['c_weight']['__dtype__'] == '2' and described['bn_gamma']['__dtype__'] == '0'
    assert '__dtype__' not in described.get('data', {})
    without = amp.convert_symbol(network(), excluded_sym_names=['fc'])
    assert casts(without) == [*CASTS[:4], CASTS[4], *CASTS[7:9], 'fd_output_amp_cast_float32']
    unknown = amp.convert_symbol(mx.sym.elemwise_add(mx.sym.var('a'), mx.sym.var('b'), name='p'))
    assert nodes(unknown)[2:] == [('amp_multicast', 'a_amp_multicast', ['a', 'b']),
                                  ('elemwise_add', 'p', ['a_amp_multicast', 'a_amp_multicast']),
                                  ('amp_cast', 'p_output_amp_cast_float32', ['p'])]


def test_a_shared_parameter_is_cast_where_products_read_it():
    w = mx.sym.var('w')
    both = mx.sym.FullyConnected(mx.sym.var('x'), w, num_hidden=3, no_bias=True, name='fc') + mx.sym.sum(w, name='s')
    converted = amp.convert_symbol(both, data_names=['x'], cast_optional_params=True)
    assert converted.attr_dict()['w']['__dtype__'] == '0'
    assert 'w_amp_cast_float16' in casts(converted)


def test_loops_run_in_float32():
    x = mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=3, name='fc')
    out, _ = mx.sym.contrib.foreach(lambda a, s: (a + s, a + s), x, mx.sym.var('s'))
    converted = amp.convert_symbol(out, 'bfloat16')
    executor = converted.simple_bind(mx.cpu(), x=(2, 5), s=(3,))
    assert dtype(executor.forward()[0]) == 'float32'


@pytest.mark.parametrize('target', TARGETS)
@pytest.mark.parametrize('stored', [False, True])
def test_converted_models_agree(target, stored):
    shapes, _, states = network().infer_shape(data=(2, 1, 8, 8), label=(2,))
    arguments = {n: nd.random.normal(0, 0.3, s) for n, s in zip(network().list_arguments(), shapes, strict=True)
                 if n not in ('data', 'label')}
    auxiliary = {n: nd.ones(s) for n, s in zip(network().list_auxiliary_states(), states, strict=True)}
    given = {'data': nd.random.normal(shape=(2, 1, 8, 8)), 'label': nd.zeros(2)}
    exact = network().bind(mx.cpu(), {**arguments, **given}, aux_states=auxiliary).forward()[0]
    converted, new, aux = amp.convert_model(network(), arguments, auxiliary, target, cast_optional_params=stored)
    assert {dtype(new[n]) for n in ('c_weight', 'fc_bias')} == {target if stored else 'float32'}
    assert dtype(new['bn_gamma']) == dtype(aux['bn_moving_var']) == dtype(arguments['c_weight']) == 'float32'
    result = converted.bind(mx.cpu(), {**new, **given}, aux_states=aux).forward()[0]
    assert dtype(result) == 'float32'
    np.testing.assert_allclose(result.asnumpy(), exact.asnumpy(), atol=1e-2)


@pytest.mark.parametrize('target', TARGETS)
@pytest.mark.parametrize('stored', [False, True])
def test_converted_blocks_agree(target, stored, tmp_path):
    net = convolutional()
    x = nd.random.normal(shape=(4, 1, 12, 12))
    net.hybridize()
    exact = net(x)
    converted = amp.convert_hybrid_block(net, target, ctx=mx.cpu(), cast_optional_params=stored)
    result = converted(x)
    assert dtype(result) == 'float32'
    np.testing.assert_allclose(result.asnumpy(), exact.asnumpy(), atol=3e-2 if target == 'bfloat16' else 1e-2)
    assert not np.array_equal(result.asnumpy(), exact.asnumpy())
    converted.export(str(tmp_path / 'net'), remove_amp_cast=False)
    again = gluon.SymbolBlock.imports(str(tmp_path / 'net-symbol.json'), ['data'], str(tmp_path / 'net-0000.params'))
    np.testing.assert_array_equal(again(x).asnumpy(), result.asnumpy())


def test_converted_bucketing_module():
    def generate(key):
        out = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=4, name='fc', flatten=False)
        return mx.sym.softmax(mx.sym.sum(out, axis=1), name='out'), ('data',), None

    module = mx.mod.BucketingModule(generate, 6, context=mx.cpu())
    module.bind([('data', (2, 6, 3))], for_training=False)
    module.init_params(mx.init.Xavier())
    batch = mx.io.DataBatch([nd.random.normal(shape=(2, 6, 3))], bucket_key=6,
                            provide_data=[mx.io.DataDesc('data', (2, 6, 3))])
    module.forward(batch, is_train=False)
    exact = module.get_outputs()[0].asnumpy()
    converted = amp.amp.convert_bucketing_module(module, 'bfloat16')
    converted.bind([('data', (2, 6, 3))], for_training=False)
    converted.forward(batch, is_train=False)
    np.testing.assert_allclose(converted.get_outputs()[0].asnumpy(), exact, atol=2e-2)


def test_wrong_conversions_are_refused():
    with pytest.raises(AssertionError, match='must be a Symbol'):
        amp.convert_symbol('net')
    with pytest.raises(AssertionError, match='excluded_sym_names must be a list'):
        amp.convert_symbol(network(), excluded_sym_names='fc')
    with pytest.raises(AssertionError, match='must be a Symbol'):
        amp.convert_model('net', {}, {})
    with pytest.raises(AssertionError, match='arg_params must be a dict'):
        amp.convert_model(network(), [], {})
    with pytest.raises(AssertionError, match='must be a HybridBlock'):
        amp.convert_hybrid_block(network())
    with pytest.raises(RuntimeError, match='hybridize'):
        amp.convert_hybrid_block(gluon.nn.Dense(2), ctx=mx.cpu())
    with pytest.raises(AssertionError, match='BucketingModule'):
        amp.amp.convert_bucketing_module(network())
