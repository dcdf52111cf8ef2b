"""Module: training, prediction, parameters, several contexts, optimizers and checkpoints."""
import logging
from collections import namedtuple

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, sym
from mxnet.io import DataBatch, DataDesc, NDArrayIter
from mxnet.module.executor_group import DataParallelExecutorGroup

SHAPES = {'data_shapes': [('data', (4, 3))], 'label_shapes': [('softmax_label', (4,))]}
DATA = np.random.RandomState(1).normal(size=(4, 3)).astype('float32')
LABEL = np.array([0, 1, 1, 0], 'float32')
PARAMS = {'fc_weight': np.random.RandomState(2).normal(size=(2, 3)).astype('float32'),
          'fc_bias': np.array([0.1, -0.2], 'float32')}


def net(**kwargs):
    return sym.SoftmaxOutput(sym.FullyConnected(sym.var('data'), num_hidden=2, name='fc'), name='softmax', **kwargs)


def batch(data=DATA, label=LABEL):
    return DataBatch([nd.array(data)], [nd.array(label)])


def params():
    return {name: nd.array(value) for name, value in PARAMS.items()}


def ready(symbol=None, optimizer=None, **kwargs):
    """A module that is bound and has PARAMS, with an optimizer if arguments for one are given."""
    module = mx.mod.Module(net() if symbol is None else symbol, **kwargs)
    module.bind(**SHAPES)
    module.init_params(arg_params=params(), allow_missing=True)
    if optimizer is not None:
        module.init_optimizer(optimizer_params=optimizer)
    return module


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def gradients(weight, bias, data=DATA, label=LABEL):
    """(output, gradients of weight and bias) by NumPy."""
    output = softmax(data @ weight.T + bias)
    error = output - np.eye(2)[label.astype(int)]
    return output, error.T @ data, error.sum(0)


def step(module, times=1, **kwargs):
    for _ in range(times):
        module.forward_backward(batch(**kwargs))
        module.update()
    return {name: array.asnumpy() for name, array in module.get_params()[0].items()}


# ---------------------------------------------------------------------- one step
def test_forward_and_backward_compute_what_numpy_does():
    module = ready()
    module.forward(batch(), is_train=True)
    output, weight, bias = gradients(*PARAMS.values())
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), output, rtol=1e-5)
    module.backward()
    grads = module._exec_group.execs[0].grad_dict
    np.testing.assert_allclose(grads['fc_weight'].asnumpy(), weight, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(grads['fc_bias'].asnumpy(), bias, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize('times', [1, 2, 5])
def test_steps_are_those_of_gradient_descent(times):
    """From the second step on a plan runs; gradients are divided by the batch size."""
    weight, bias = PARAMS.values()
    for _ in range(times):
        _, of_weight, of_bias = gradients(weight, bias)
        weight, bias = weight - 0.5 * of_weight / 4, bias - 0.5 * of_bias / 4
    found = step(ready(optimizer={'learning_rate': 0.5}), times)
    np.testing.assert_allclose(found['fc_weight'], weight, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found['fc_bias'], bias, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize('times', [1, 4])
def test_one_go_equals_two(times):
    """forward_backward reads a batch where it is; forward and backward copy it first."""
    together, apart = ready(optimizer={'learning_rate': 0.5}), ready(optimizer={'learning_rate': 0.5})
    source = batch()
    for _ in range(times):
        together.forward_backward(source)
        together.update()
        apart.forward(source, is_train=True)
        apart.backward()
        apart.update()
    for a, b in zip(together.get_params()[0].values(), apart.get_params()[0].values(), strict=True):
        assert (a.asnumpy() == b.asnumpy()).all()
    assert (source.data[0].asnumpy() == DATA).all()
    together.forward(batch(np.zeros((4, 3))))
    assert (source.data[0].asnumpy() == DATA).all(), 'a later batch must not be written over an earlier one'


def test_a_batch_of_another_dtype_is_converted():
    module, other = ready(optimizer={'learning_rate': 0.5}), ready(optimizer={'learning_rate': 0.5})
    whole = np.array([[1, 2, 3]] * 4)
    ints = DataBatch([nd.array(whole, dtype='int32')], [nd.array(LABEL, dtype='int64')])
    for _ in range(3):
        module.forward_backward(ints)
        module.update()
    assert (module.get_params()[0]['fc_weight'].asnumpy() == step(other, 3, data=whole)['fc_weight']).all()


def test_a_module_with_its_own_forward_is_asked():
    class Doubling(mx.mod.Module):
        def forward(self, data_batch, is_train=None):
            super().forward(DataBatch([data_batch.data[0] * 2], data_batch.label), is_train)

    module = Doubling(net())
    module.bind(**SHAPES)
    module.init_params(arg_params=params())
    for _ in range(3):
        module.forward_backward(batch())
    expected = gradients(*PARAMS.values(), data=DATA * 2)[1]
    np.testing.assert_allclose(module._exec_group.grad_arrays[0][0].asnumpy(), expected, rtol=1e-4)
    plain = ready()
    calls = []
    plain.forward = lambda *args, **kwargs: calls.append('forward')
    plain.backward = lambda *args, **kwargs: calls.append('backward')
    plain.forward_backward(batch())
    assert calls == ['forward', 'backward']


def test_moving_averages_and_auxiliary_states():
    layer = sym.BatchNorm(sym.var('data'), fix_gamma=False, momentum=0.5, name='bn')
    symbol = sym.SoftmaxOutput(sym.FullyConnected(layer, num_hidden=2, name='fc'), name='softmax')
    module = ready(symbol, optimizer={'learning_rate': 0.0})
    mean = np.zeros(3)
    for _ in range(4):
        module.forward_backward(batch())
        mean = 0.5 * mean + 0.5 * DATA.mean(0)
    module.update()
    np.testing.assert_allclose(module.get_params()[1]['bn_moving_mean'].asnumpy(), mean, rtol=1e-5)


# ---------------------------------------------------------------------- several contexts
@pytest.mark.parametrize('kvstore', ['local', 'device', None])
@pytest.mark.parametrize('on_store', ['0', '1'])
def test_contexts_share_the_work(kvstore, on_store, monkeypatch):
    monkeypatch.setenv('MXNET_UPDATE_ON_KVSTORE', on_store)
    alone = ready(optimizer={'learning_rate': 0.5, 'momentum': 0.9})
    module = mx.mod.Module(net(), context=[mx.cpu(0), mx.cpu(1)])
    module.bind(**SHAPES)
    module.init_params(arg_params=params())
    module.init_optimizer(kvstore=kvstore, optimizer_params={'learning_rate': 0.5, 'momentum': 0.9})
    if kvstore is None:                     # nothing adds up the gradients: each context goes its own way
        step(module)
        assert len({str(w.asnumpy()) for w in module._exec_group.param_arrays[0]}) == 2
        return
    found, expected = step(module, 3), step(alone, 3)
    for name in PARAMS:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-4, atol=1e-6)
    outputs = module.get_outputs(merge_multi_context=False)[0]
    assert [o.context for o in outputs] == [mx.cpu(0), mx.cpu(1)] and [o.shape for o in outputs] == [(2, 2)] * 2
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), alone.get_outputs()[0].asnumpy(), rtol=1e-4)


def test_work_loads():
    module = mx.mod.Module(net(), context=[mx.cpu(0), mx.cpu(1)], work_load_list=[3, 1])
    module.bind(**SHAPES)
    module.init_params(arg_params=params())
    module.forward(batch())
    assert [o.shape[0] for o in module.get_outputs(merge_multi_context=False)[0]] == [3, 1]
    with pytest.raises(AssertionError, match='work_load_list has 1 numbers for 2 contexts'):
        mx.mod.Module(net(), context=[mx.cpu(0), mx.cpu(1)], work_load_list=[1])
    with pytest.raises(ValueError, match='cannot be split among 5 devices'):
        mx.mod.Module(net(), context=[mx.cpu(i) for i in range(5)]).bind(**SHAPES)


def test_compression():
    module = mx.mod.Module(net(), context=[mx.cpu(0), mx.cpu(1)], compression_params={'type': '2bit', 'threshold': 100})
    module.bind(**SHAPES)
    module.init_params(arg_params=params())
    module.init_optimizer(kvstore='device', optimizer_params={'learning_rate': 0.5})
    assert (step(module)['fc_weight'] == PARAMS['fc_weight']).all(), 'gradients below the threshold wait'


def test_batches_that_are_split_already():
    """A list of batches, one for each context."""
    module = mx.mod.Module(net(), context=[mx.cpu(0), mx.cpu(1)])
    module.bind(**SHAPES)
    module.init_params(arg_params=params())
    parts = [batch(DATA[:2], LABEL[:2]), batch(DATA[2:], LABEL[2:])]
    module.forward(parts)
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), gradients(*PARAMS.values())[0], rtol=1e-5)
    metric = mx.metric.create('acc')
    module.update_metric(metric, [part.label for part in parts], pre_sliced=True)
    assert metric.get()[1] == (gradients(*PARAMS.values())[0].argmax(1) == LABEL).mean()
    module.forward_backward(parts)
    with pytest.raises(AssertionError, match='must have the same shapes'):
        module.forward([batch(DATA[:1], LABEL[:1]), batch(DATA[1:], LABEL[1:])])


def test_layouts_and_outputs_without_a_batch():
    data = sym.var('data')
    symbol = sym.Group([sym.Activation(data, act_type='relu', __layout__='TNC'), sym.zeros((2,), __layout__='C')])
    module = mx.mod.Module(symbol, label_names=None, context=[mx.cpu(0), mx.cpu(1)])
    module.bind([DataDesc('data', (3, 8, 5), layout='TNC')], inputs_need_grad=True)
    module.init_params()
    values = np.random.RandomState(0).normal(size=(3, 8, 5)).astype('float32')
    module.forward(DataBatch([nd.array(values)], None))
    assert module.output_shapes == [(symbol.list_outputs()[0], (3, 8, 5)), (symbol.list_outputs()[1], (2,))]
    assert (module.get_outputs()[0].asnumpy() == np.maximum(values, 0)).all() and module.get_outputs()[1].shape == (2,)
    module.backward([nd.array(values), nd.zeros((2,))])
    assert (module.get_input_grads()[0].asnumpy() == np.maximum(values, 0)).all()
    assert [g.shape for g in module.get_input_grads(merge_multi_context=False)[0]] == [(3, 4, 5)] * 2


def test_groups_on_contexts():
    with mx.AttrScope(ctx_group='first'):
        symbol = sym.FullyConnected(sym.var('data'), num_hidden=2, name='fc')
    with mx.AttrScope(ctx_group='second'):
        symbol = sym.SoftmaxOutput(symbol, name='softmax')
    module = ready(symbol, optimizer={'learning_rate': 0.5}, group2ctxs={'first': mx.cpu(1), 'second': [mx.cpu(2)]})
    assert module._exec_group.execs[0].arg_dict['fc_weight'].context == mx.cpu(1)
    expected = step(ready(optimizer={'learning_rate': 0.5}), 2)
    np.testing.assert_allclose(step(module, 2)['fc_weight'], expected['fc_weight'], rtol=1e-5)
    for wrong, message in (([], '0 members for 1 contexts'), ('first', 'must be a dict'),
                           ({'first': [mx.cpu(), mx.cpu()]}, 'has 2 contexts')):
        with pytest.raises(AssertionError, match=message):
            mx.mod.Module(symbol, group2ctxs=wrong).bind(**SHAPES)


# ---------------------------------------------------------------------- shapes
def test_batches_of_other_shapes():
    module, steady = ready(optimizer={'learning_rate': 0.5}), ready(optimizer={'learning_rate': 0.5})
    for size in (2, 4, 2, 4, 1, 4, 2):
        module.forward_backward(batch(DATA[:size], LABEL[:size]))
        module.update()
        steady.reshape([('data', (size, 3))], [('softmax_label', (size,))])
        steady.forward(batch(DATA[:size], LABEL[:size]), is_train=True)
        steady.backward()
        steady.update()
        assert module.get_outputs()[0].shape == (size, 2) and module.data_shapes[0].shape == (size, 3)
    assert (module.get_params()[0]['fc_weight'].asnumpy() == steady.get_params()[0]['fc_weight'].asnumpy()).all()
    assert module.predict(np.zeros((9, 3))).shape == (9, 2), 'labels that are not given follow the data'


def test_executors_of_known_shapes_are_kept():
    module = ready()
    seen = []
    for size in (2, 4, 2, 3):
        module.forward(batch(DATA[:size], LABEL[:size]))
        seen.append(module._exec_group.execs[0])
    assert seen[0] is seen[2] and len({id(e) for e in seen}) == 3
    for size in range(1, 40):
        module.forward(batch(np.zeros((size, 3)), np.zeros(size)))
    assert len(module._exec_group._reshaped[0]) == 16


def test_a_batch_that_does_not_fit_changes_nothing():
    module = ready()
    with pytest.raises(mx.MXNetError, match=r'data of the batch has shape \(4, 5\), but .* bound for \(4, 3\).* '
                                            r'fc_weight has '
                       r'shape \(2, 3\), and would need \(2, 5\)'):
        module.forward(batch(np.zeros((4, 5))))
    module.forward(batch())
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), gradients(*PARAMS.values())[0], rtol=1e-5)
    with pytest.raises(ValueError, match='the batch has 2 arrays of data, the module takes data'):
        module.forward(DataBatch([nd.zeros((4, 3))] * 2))
    with pytest.raises(AssertionError, match='all inputs must have the same batch size; softmax_label has shape'):
        module.reshape([('data', (4, 3))], [('softmax_label', (5,))])
    module.forward(batch())


def test_batches_say_what_they_are():
    """`provide_data` of a batch counts; anything with `data` is a batch."""
    module = ready()
    module.forward(DataBatch([nd.zeros((2, 3))], [nd.zeros((2,))], provide_data=[DataDesc('data', (2, 3))],
                             provide_label=[DataDesc('softmax_label', (2,))]))
    assert module.get_outputs()[0].shape == (2, 2)
    module.forward(namedtuple('Batch', ['data'])([nd.zeros((4, 3))]), is_train=False)
    assert module.get_outputs()[0].shape == (4, 2)
    for _ in range(3):
        module.forward_backward(namedtuple('Batch', ['data'])([nd.array(DATA)]))
    zeros = gradients(*PARAMS.values(), label=np.zeros(4))[1]
    np.testing.assert_allclose(module._exec_group.grad_arrays[0][0].asnumpy(), zeros, rtol=1e-4, atol=1e-6)


# ---------------------------------------------------------------------- whole data sets
def digits(count=200):
    """Two clouds that a line separates."""
    random = np.random.RandomState(0)
    label = random.randint(0, 2, count)
    return (random.normal(size=(count, 3)) + 3 * label[:, None]).astype('float32'), label.astype('float32')


def test_fit_learns_and_tells(caplog):
    data, label = digits()
    train, val = NDArrayIter(data, label, batch_size=20, shuffle=True), NDArrayIter(data, label, batch_size=20)
    events = []
    module = mx.mod.Module(net())
    with caplog.at_level(logging.INFO):
        module.fit(train, val, eval_metric=['acc', 'ce'], num_epoch=3, optimizer_params={'learning_rate': 0.5},
                   batch_end_callback=lambda p: events.append(('batch', p.epoch, p.nbatch, p.locals['self'] is module)),
                   epoch_end_callback=[lambda epoch, s, arg, aux: events.append(('epoch', epoch, s is module.symbol,
                                                                               sorted(arg), aux))],
                   eval_batch_end_callback=lambda p: events.append(('eval', p.nbatch)),
                   eval_end_callback=lambda p: events.append(('score', p.nbatch)))
    assert events[:10] == [('batch', 0, i, True) for i in range(10)]
    assert events[10] == ('epoch', 0, True, ['fc_bias', 'fc_weight'], {})
    assert events[11:22] == [('eval', i) for i in range(10)] + [('score', 10)] and len(events) == 66
    assert 'Epoch[2] Train-accuracy=0.9' in caplog.text and 'Epoch[0] Validation-cross-entropy=' in caplog.text
    assert 'Epoch[1] Time cost=' in caplog.text
    assert dict(module.score(val, 'acc'))['accuracy'] > 0.9


def test_fit_goes_on_where_it_was():
    data, label = digits(40)
    train = NDArrayIter(data, label, batch_size=20)
    module = mx.mod.Module(net())
    numbers = []
    with pytest.raises(AssertionError, match='how many epochs'):
        module.fit(train)
    module.fit(train, num_epoch=2, begin_epoch=1, batch_end_callback=lambda p: numbers.append(p.epoch))
    assert numbers == [1, 1]
    before = module.get_params()[0]['fc_weight'].copy()
    with pytest.warns(UserWarning, match='parameters are filled already'):
        module.fit(train, num_epoch=1)
    assert module._optimizer.num_update == 4 and (module.get_params()[0]['fc_weight'] != before).sum().asscalar() > 0
    list(train)
    with pytest.warns(UserWarning), pytest.raises(mx.MXNetError, match='train_data has no batches'):
        module.fit(train, num_epoch=1)


def test_fit_takes_parameters_and_a_monitor(caplog):
    data, label = digits(8)
    module = mx.mod.Module(net())
    monitor = mx.mon.Monitor(1, pattern='.*output')
    with caplog.at_level(logging.INFO):
        module.fit(NDArrayIter(data, label, batch_size=4), num_epoch=1, arg_params={'fc_weight': params()['fc_weight']},
                   allow_missing=True, optimizer_params={'learning_rate': 0.0}, monitor=monitor,
                   initializer=mx.init.Constant(3), validation_metric='ce')
    assert (module.get_params()[0]['fc_weight'].asnumpy() == PARAMS['fc_weight']).all()
    assert caplog.text.count('softmax_output') == 2 and caplog.text.count('fc_backward_output0') == 2


def test_the_metric_of_an_epoch_survives_callbacks(caplog):
    """A Speedometer begins the metric anew; the epoch's value is over all batches."""
    data, label = digits(80)
    values = []
    module = mx.mod.Module(net())
    with caplog.at_level(logging.INFO):
        module.fit(NDArrayIter(data, label, batch_size=20), num_epoch=1, optimizer_params={'learning_rate': 0.0},
                   batch_end_callback=[lambda p: values.append(p.eval_metric.get()[1]), mx.callback.Speedometer(20, 1)])
    shown = float(caplog.text.split('Epoch[0] Train-accuracy=')[1].split()[0])
    assert len(set(values)) > 1 and shown == pytest.approx(dict(module.score(NDArrayIter(data, label, batch_size=20),
                                                                             'acc'))['accuracy'], abs=1e-6)


def test_predict():
    data, label = digits(10)
    module = ready()
    iterator = NDArrayIter(data, label, batch_size=4)
    expected = gradients(*PARAMS.values(), data=data, label=label)[0]
    np.testing.assert_allclose(module.predict(iterator).asnumpy(), expected, rtol=1e-4, atol=1e-6)
    assert [o.shape for o in module.predict(iterator, always_output_list=True)] == [(10, 2)]
    assert module.predict(iterator, num_batch=1).shape == (4, 2)
    parts = module.predict(iterator, merge_batches=False)
    assert [[o.shape for o in part] for part in parts] == [[(4, 2)], [(4, 2)], [(2, 2)]]
    np.testing.assert_allclose(np.concatenate([p[0].asnumpy() for p in parts]), expected, rtol=1e-4, atol=1e-6)
    assert module.predict(iterator, num_batch=0) == []
    np.testing.assert_allclose(module.predict(data).asnumpy(), expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(module.predict(nd.array(data)).asnumpy(), expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match='predict takes a DataIter, an NDArray or a NumPy array, not a list'):
        module.predict([data])
    seen = [(i, [o.shape for o in outputs], b.pad) for outputs, i, b in module.iter_predict(iterator)]
    assert seen == [(0, [(4, 2)], 0), (1, [(4, 2)], 0), (2, [(2, 2)], 2)]
    assert list(module.iter_predict(iterator, reset=False)) == []
    iterator.reset()
    next(iterator)
    assert len(list(module.iter_predict(iterator, reset=False))) == 2


def test_prediction_is_not_training():
    """Also for an array, also if the module was bound for training."""
    symbol = sym.Dropout(sym.FullyConnected(sym.var('data'), num_hidden=2, name='fc'), p=0.5)
    module = mx.mod.Module(symbol, label_names=None)
    module.bind([('data', (4, 3))])
    module.init_params(mx.init.One())
    assert (module.predict(DATA).asnumpy() != 0).all()
    module.forward(DataBatch([nd.ones((4, 3))]))
    assert (module.get_outputs()[0].asnumpy() == 0).any()


def test_score():
    data, label = digits(10)
    module = ready()
    iterator = NDArrayIter(data, label, batch_size=5)
    expected = (gradients(*PARAMS.values(), data=data, label=label)[0].argmax(1) == label)
    assert module.score(iterator, ['acc', 'mse'], num_batch=1)[0] == ('accuracy', expected[:5].mean())
    metric = mx.metric.Accuracy()
    assert module.score(iterator, metric) == [('accuracy', expected.mean())] and metric.num_inst == 10
    assert np.isnan(module.score(iterator, 'acc', reset=False)[0][1])


# ---------------------------------------------------------------------- parameters
def test_init_params():
    module = mx.mod.Module(net())
    with pytest.raises(AssertionError, match='call bind first'):
        module.init_params()
    with pytest.raises(AssertionError, match='get_params: there are no parameters'):
        module.get_params()
    module.bind(**SHAPES)
    module.init_params(mx.init.Constant(2))
    assert module.get_params()[0]['fc_weight'].asnumpy().tolist() == [[2] * 3] * 2
    with pytest.warns(UserWarning, match='pass force_init=True'):
        module.init_params(mx.init.Constant(3))
    assert module.get_params()[0]['fc_weight'].asnumpy().tolist() == [[2] * 3] * 2
    module.init_params(mx.init.Constant(3), arg_params={'fc_bias': nd.ones((2,))}, allow_missing=True, force_init=True)
    assert module.get_params()[0]['fc_weight'].asnumpy().tolist() == [[3] * 3] * 2
    assert module.get_params()[0]['fc_bias'].asnumpy().tolist() == [1, 1]
    with pytest.raises(RuntimeError, match='fc_weight is not among the parameters given'):
        module.init_params(arg_params={'fc_bias': nd.ones((2,))}, force_init=True)
    with pytest.raises(RuntimeError, match='neither parameters nor an initializer'):
        module.init_params(None, force_init=True)
    with pytest.raises(ValueError, match='fc_bias has shape .* the executor expects'):
        module.init_params(arg_params={**params(), 'fc_bias': nd.ones((3,))}, force_init=True)


def test_initializers_of_variables_come_first():
    weight = sym.var('fc_weight', init=mx.init.Constant(7))
    symbol = sym.SoftmaxOutput(sym.FullyConnected(sym.var('data'), weight, num_hidden=2, name='fc'), name='softmax')
    module = mx.mod.Module(symbol)
    module.bind(**SHAPES)
    module.init_params(mx.init.Zero())
    assert (module.get_params()[0]['fc_weight'].asnumpy() == 7).all()


def test_set_params():
    module = mx.mod.Module(net())
    with pytest.raises(AssertionError, match='call bind first'):
        module.set_params(params(), {}, allow_missing=True)
    module.bind(**SHAPES)
    extra = {**params(), 'other': nd.zeros((1,))}
    module.set_params(extra, {})
    assert (module.get_params()[0]['fc_bias'].asnumpy() == PARAMS['fc_bias']).all()
    module.set_params({'fc_bias': nd.zeros((2,))}, {}, allow_missing=True)
    assert module.get_params()[0]['fc_bias'].asnumpy().tolist() == [0, 0]
    assert (module.get_params()[0]['fc_weight'].asnumpy() == PARAMS['fc_weight']).all()
    with pytest.raises(ValueError, match='there is no argument other'):
        module.set_params(extra, {}, allow_missing=True)
    module.set_params(extra, {}, allow_missing=True, allow_extra=True)
    with pytest.warns(UserWarning, match='set_params: the parameters are filled already'):
        module.set_params({'fc_bias': nd.ones((2,))}, {}, allow_missing=True, force_init=False)
    assert (module.get_params()[0]['fc_bias'].asnumpy() == PARAMS['fc_bias']).all()


def test_params_are_copies():
    module = ready(optimizer={'learning_rate': 0.5})
    before = module.get_params()[0]['fc_weight'].copy()
    module.get_params()[0]['fc_weight'][:] = 9
    module.forward(batch())
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), gradients(*PARAMS.values())[0], rtol=1e-5)
    assert (before.asnumpy() == PARAMS['fc_weight']).all()


def test_fixed_parameters():
    module = ready(optimizer={'learning_rate': 0.5}, fixed_param_names=['fc_weight'])
    found = step(module, 3)
    assert (found['fc_weight'] == PARAMS['fc_weight']).all() and (found['fc_bias'] != PARAMS['fc_bias']).all()
    assert module._exec_group.execs[0].grad_dict['fc_weight'] is None


@pytest.mark.parametrize('grad_req, factor', [('add', 3), ({'fc_weight': 'add'}, 3), ('write', 1),
                                              (['null', 'add', 'write', 'null'], 3)])
def test_grad_req(grad_req, factor):
    module = mx.mod.Module(net())
    module.bind(**SHAPES, grad_req=grad_req)
    module.init_params(arg_params=params())
    for _ in range(3):
        module.forward_backward(batch())
    expected = factor * gradients(*PARAMS.values())[1]
    np.testing.assert_allclose(module._exec_group.execs[0].grad_dict['fc_weight'].asnumpy(), expected, rtol=1e-4)


def test_wrong_grad_req():
    with pytest.raises(AssertionError, match='2 grad_reqs given for 4 arguments'):
        mx.mod.Module(net()).bind(**SHAPES, grad_req=['write', 'null'])
    with pytest.raises(ValueError, match='grad_req must be a str, a list or a dict, not the int 1'):
        mx.mod.Module(net()).bind(**SHAPES, grad_req=1)


def test_input_gradients():
    module = mx.mod.Module(net())
    with pytest.raises(AssertionError, match='only with for_training=True'):
        module.bind(**SHAPES, for_training=False, inputs_need_grad=True)
    module.bind(**SHAPES, inputs_need_grad=True)
    module.init_params(arg_params=params())
    expected = (gradients(*PARAMS.values())[0] - np.eye(2)[LABEL.astype(int)]) @ PARAMS['fc_weight']
    for _ in range(3):
        module.forward_backward(batch())
        np.testing.assert_allclose(module.get_input_grads()[0].asnumpy(), expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(AssertionError, match='inputs_need_grad=True'):
        ready().get_input_grads()


def test_states():
    symbol = sym.var('data') + sym.var('state')
    module = mx.mod.Module(symbol, label_names=None, state_names=['state'], context=[mx.cpu(0), mx.cpu(1)])
    module.bind([('data', (4, 3))], for_training=False)
    module.init_params()
    assert module.get_params() == ({}, {})
    module.set_states(value=5)
    module.forward(DataBatch([nd.zeros((4, 3))]))
    assert (module.get_outputs()[0].asnumpy() == 5).all()
    module.set_states(states=[[nd.ones((2, 3)), nd.ones((2, 3)) * 2]])
    module.forward(DataBatch([nd.zeros((4, 3))]))
    assert module.get_outputs()[0].asnumpy()[:, 0].tolist() == [1, 1, 2, 2]
    assert [s.shape for s in module.get_states(merge_multi_context=False)[0]] == [(2, 3)] * 2
    with pytest.raises(AssertionError, match='not merged'):
        module.get_states()
    for arguments in ({}, {'states': [], 'value': 1}):
        with pytest.raises(AssertionError, match='either states or value'):
            module.set_states(**arguments)


# ---------------------------------------------------------------------- optimizers and checkpoints
def test_init_optimizer():
    module = ready()
    with pytest.raises(AssertionError, match='call init_optimizer first'):
        module.update()
    module.init_optimizer(optimizer='adam', optimizer_params=(('learning_rate', 0.1), ('beta1', 0.5)))
    optimizer = module._optimizer
    assert isinstance(optimizer, mx.optimizer.Adam) and optimizer.beta1 == 0.5 and optimizer.rescale_grad == 0.25
    assert optimizer.idx2name == {0: 'fc_weight', 1: 'fc_bias'}
    module.init_optimizer('local', 'sgd')
    assert module._optimizer is optimizer, 'only once, unless forced'
    own = mx.optimizer.SGD(rescale_grad=1.0)
    with pytest.warns(UserWarning, match=r'rescale_grad=1.0, while 1 / batch size \(of all workers\) is 0.25'):
        module.init_optimizer(optimizer=own, force_init=True)
    assert module._optimizer is own and own.idx2name == {0: 'fc_weight', 1: 'fc_bias'}
    for wrong in ({'optimizer': 3}, {'kvstore': 3}):
        with pytest.raises((AssertionError, TypeError), match='not the int 3'):
            module.init_optimizer(**wrong, force_init=True)


def test_decay_and_rates_come_from_names_and_attributes():
    symbol = sym.SoftmaxOutput(sym.FullyConnected(sym.var('data'), sym.var('fc_weight', lr_mult=0.0), num_hidden=2,
                                                  name='fc'), name='softmax')
    module = ready(symbol, optimizer={'learning_rate': 0.5, 'wd': 0.5})
    found = step(module)
    assert (found['fc_weight'] == PARAMS['fc_weight']).all()
    expected = PARAMS['fc_bias'] - 0.5 * gradients(*PARAMS.values())[2] / 4
    np.testing.assert_allclose(found['fc_bias'], expected, rtol=1e-5)


def test_a_module_without_parameters():
    module = mx.mod.Module(sym.Dropout(sym.var('data'), p=0.5), label_names=None)
    module.bind([('data', (4, 3))])
    module.init_params()
    module.init_optimizer()
    module.forward_backward(DataBatch([nd.ones((4, 3))]))
    module.update()
    assert module.get_outputs()[0].shape == (4, 3)


@pytest.mark.parametrize('contexts', [[mx.cpu()], [mx.cpu(0), mx.cpu(1)]])
def test_training_goes_on_from_a_checkpoint(contexts, tmp_path, monkeypatch):
    monkeypatch.setenv('MXNET_UPDATE_ON_KVSTORE', '1')
    options = {'learning_rate': 0.5, 'momentum': 0.9}
    module = mx.mod.Module(net(), context=contexts)
    module.bind(**SHAPES)
    module.init_params(arg_params=params())
    module.init_optimizer(optimizer_params=options)
    step(module, 3)
    prefix = str(tmp_path / 'model')
    module.save_checkpoint(prefix, 3, save_optimizer_states=True)
    assert {p.name for p in tmp_path.iterdir()} == {'model-symbol.json', 'model-0003.params', 'model-0003.states'}
    expected = step(module, 2)

    again = mx.mod.Module.load(prefix, 3, load_optimizer_states=True, context=contexts)
    again.bind(**SHAPES)
    again.init_optimizer(optimizer_params=options)
    found = step(again, 2)
    for name in PARAMS:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-6)
    fresh = mx.mod.Module.load(prefix, 3, context=contexts)
    fresh.bind(**SHAPES)
    fresh.init_optimizer(optimizer_params=options)
    assert (step(fresh, 2)['fc_weight'] != expected['fc_weight']).any(), 'the momentum counts'


def test_params_files(tmp_path):
    module, other = ready(), mx.mod.Module(net())
    module.save_params(tmp_path / 'x.params')
    assert sorted(nd.load(str(tmp_path / 'x.params'))) == ['arg:fc_bias', 'arg:fc_weight']
    other.bind(**SHAPES)
    other.load_params(tmp_path / 'x.params')
    assert (other.get_params()[0]['fc_weight'].asnumpy() == PARAMS['fc_weight']).all()
    nd.save(str(tmp_path / 'y.params'), {'weight': nd.zeros((1,))})
    with pytest.raises(ValueError, match="'weight' begins with neither arg: nor aux:"):
        other.load_params(tmp_path / 'y.params')
    with pytest.raises(AssertionError, match='call init_optimizer first'):
        module.save_optimizer_states(tmp_path / 'x.states')


def test_recorded_checkpoint(shared, tmp_path):
    """What MXNet 1.9.1 saved gives the outputs that it gave, and is written again as it was."""
    folder = shared / 'golden' / 'files'
    with np.load(folder / 'expected.npz') as recorded:
        data, label, output = (recorded[f'module/{name}'] for name in ('data', 'label', 'output'))
    module = mx.mod.Module.load(str(folder / 'module'), 0, load_optimizer_states=True)
    module.bind([('data', data.shape)], [('softmax_label', label.shape)])
    module.init_optimizer(optimizer_params={'momentum': 0.9})
    np.testing.assert_allclose(module.predict(NDArrayIter(data, label, batch_size=len(data))).asnumpy(), output,
                               rtol=1e-4, atol=1e-5)
    module.save_checkpoint(str(tmp_path / 'again'), 0)
    assert (tmp_path / 'again-symbol.json').read_bytes() == (folder / 'module-symbol.json').read_bytes()
    ours, theirs = nd.load(str(tmp_path / 'again-0000.params')), nd.load(str(folder / 'module-0000.params'))
    assert ours.keys() == theirs.keys() and all((ours[k].asnumpy() == theirs[k].asnumpy()).all() for k in ours)


def test_modules_share_parameters():
    module = ready(optimizer={'learning_rate': 0.5})
    other = mx.mod.Module(net())
    other.bind([('data', (2, 3))], [('softmax_label', (2,))], shared_module=module)
    assert other.optimizer_initialized and other.params_initialized
    other.forward_backward(batch(DATA[:2], LABEL[:2]))
    other.update()
    weight = module._exec_group.execs[0].arg_dict['fc_weight']
    assert weight is other._exec_group.execs[0].arg_dict['fc_weight']
    assert (weight.asnumpy() != PARAMS['fc_weight']).any()
    shared, inner = (m._exec_group.execs[0].arg_dict['data'].materialize() for m in (module, other))
    assert shared.data_ptr() == inner.data_ptr(), 'the smaller input lies in the memory of the larger'
    with pytest.raises(AssertionError, match='must be a Module that is bound'):
        other.bind(**SHAPES, shared_module=mx.mod.Module(net()), force_rebind=True)
    third = mx.mod.Module(net())
    with pytest.raises(AssertionError, match='borrow_optimizer: there is no optimizer'):
        module.borrow_optimizer(third)
    wider = sym.SoftmaxOutput(sym.FullyConnected(sym.var('data'), num_hidden=5, name='fc'), name='softmax')
    with pytest.raises(mx.MXNetError, match=r'fc_weight has shape \(5, 3\), but \(2, 3\) in the executor'):
        mx.mod.Module(wider).bind(**SHAPES, shared_module=module)


def test_rebinding():
    module = ready(optimizer={'learning_rate': 0.5})
    expected = step(module)
    module.bind([('data', (1, 3))])
    assert module.data_shapes[0].shape == (4, 3), 'a second bind is ignored'
    module.bind([('data', (1, 3))], for_training=False, force_rebind=True)
    assert module.predict(np.zeros((1, 3))).shape == (1, 2) and module.label_shapes is None
    assert (module.get_params()[0]['fc_weight'].asnumpy() == expected['fc_weight']).all(), 'what was learned stays'
    with pytest.raises(AssertionError, match='bound for prediction'):
        module.backward()


# ---------------------------------------------------------------------- names, monitors, sparse parameters
def test_names():
    message = r"Module\(..., data_names=\['x'\]\): the symbol has no argument 'x'.*: data, soft"
    with pytest.raises(ValueError, match=message):
        mx.mod.Module(net(), data_names=['x'])
    with pytest.warns(UserWarning, match="no argument 'y'"):
        mx.mod.Module(net(), label_names=['y'])
    with pytest.raises(ValueError, match="data_shapes has \\['other'\\], but data_names are \\['data'\\]"):
        mx.mod.Module(net()).bind([('other', (4, 3))])
    with pytest.warns(UserWarning, match='label_shapes has'):
        mx.mod.Module(net()).bind([('data', (4, 3))])
    with pytest.raises(TypeError, match='the shape of data must be a tuple of ints, not an NDArray'):
        mx.mod.Module(net()).bind([('data', nd.zeros((2,)))])
    module = ready()
    assert module.data_names == ['data'] and module.label_names == ['softmax_label']
    assert module.output_names == ['softmax_output']
    assert module.data_shapes == [('data', (4, 3))] and module.label_shapes == [('softmax_label', (4,))]
    assert module.output_shapes == [('softmax_output', (4, 2))]


def test_states_of_a_module_are_checked():
    module = mx.mod.Module(net())
    for call in ('forward', 'backward', 'get_outputs', 'update', 'score', 'predict', 'get_states', 'prepare'):
        with pytest.raises(AssertionError, match='call bind first'):
            getattr(module, call)(*([None] if call in ('forward', 'predict', 'prepare') else
                                    [None, None] if call == 'score' else []))
    module.bind(**SHAPES)
    with pytest.raises(AssertionError, match='call init_params first'):
        module.forward(batch())


def test_a_monitor_stays_with_other_shapes():
    module = ready()
    monitor = mx.mon.Monitor(1, pattern='softmax_output')
    module.forward(batch(DATA[:2], LABEL[:2]))
    module.install_monitor(monitor)
    for size in (2, 4, 3):
        monitor.tic()
        module.forward_backward(batch(np.zeros((size, 3)), np.zeros(size)))
        assert [name for _, name, _ in monitor.toc()] == ['softmax_output'], size


def test_dtypes():
    data = sym.var('data', dtype='float64')
    module = mx.mod.Module(sym.FullyConnected(data, num_hidden=2, name='fc'), label_names=None)
    module.bind([('data', (4, 3))])
    module.init_params()
    module.forward(DataBatch([nd.ones((4, 3))]))
    assert module.get_outputs()[0].dtype == np.float64 == module.get_params()[0]['fc_weight'].dtype
    half = mx.mod.Module(sym.Activation(sym.var('data'), act_type='relu'), label_names=None)
    half.bind([DataDesc('data', (4, 3), 'float16')])
    half.init_params()
    half.forward(DataBatch([nd.ones((4, 3), dtype='float16')]))
    assert half.get_outputs()[0].dtype == np.float16


def test_sparse_parameters():
    weight = sym.var('w', shape=(5, 2), stype='row_sparse', init=mx.init.One())
    symbol = sym.LinearRegressionOutput(sym.dot(sym.var('data', stype='csr'), weight), sym.var('label'), name='out')
    data = np.array([[0, 2, 0, 0, 0], [0, 0, 0, 1, 0]], 'float32')
    module = mx.mod.Module(symbol, label_names=['label'])
    module.bind([('data', (2, 5))], [('label', (2, 2))])
    module.init_params()
    assert module.get_params()[0]['w'].stype == 'row_sparse'
    module.init_optimizer(optimizer_params={'learning_rate': 1.0, 'rescale_grad': 1.0})
    expected = np.ones((5, 2), 'float32')
    for _ in range(2):
        module.forward(DataBatch([nd.array(data).tostype('csr')], [nd.zeros((2, 2))]), is_train=True)
        module.backward()
        module.update()
        expected = expected - data.T @ (data @ expected) / 2
    np.testing.assert_allclose(module.get_params()[0]['w'].asnumpy(), expected, rtol=1e-5)


def test_prepare_fetches_rows():
    weight = sym.var('w', shape=(5, 2), stype='row_sparse', init=mx.init.One())
    symbol = sym.LinearRegressionOutput(sym.dot(sym.var('data', stype='csr'), weight), sym.var('label'), name='out')
    module = mx.mod.Module(symbol, label_names=['label'])
    module.bind([('data', (2, 5))], [('label', (2, 2))])
    module.init_params()
    with pytest.warns(UserWarning, match='sparse_row_id_fn is not needed'):
        module.prepare(None, sparse_row_id_fn=lambda b: {})
    module.init_optimizer(kvstore=mx.kv.create('local'))
    module.prepare(None, sparse_row_id_fn=lambda b: {'w': nd.array([1, 3])})
    weights = module._exec_group.execs[0].arg_dict['w']
    assert weights.asnumpy().sum(1).tolist() == [0, 2, 0, 2, 0]
    with pytest.raises(AssertionError, match='must give a dict, not a list'):
        module.prepare(None, sparse_row_id_fn=lambda b: [])
    dense = ready()
    dense.init_optimizer(kvstore=mx.kv.create('local'))
    with pytest.warns(UserWarning, match='fc_weight is not row_sparse'):
        dense.prepare(None, sparse_row_id_fn=lambda b: {'fc_weight': nd.array([1])})


def test_executor_group_by_itself():
    group = DataParallelExecutorGroup(net(), [mx.cpu()], [1], [('data', (4, 3))], [('softmax_label', (4,))],
                                      ['fc_bias', 'fc_weight'], True, False)
    assert group.param_names == ['fc_weight', 'fc_bias'], 'in the order of the symbol'
    assert sorted(group.shared_data_arrays[0]) == ['data', 'softmax_label']
    group.set_params(params(), {})
    group.forward(batch())
    np.testing.assert_allclose(group.get_outputs()[0].asnumpy(), gradients(*PARAMS.values())[0], rtol=1e-5)
    assert group.get_outputs(begin=1) == []
    with pytest.raises(AssertionError, match='there are no inputs'):
        group.decide_slices([])


def test_batches_without_labels_whose_class_computes_their_description():
    """Programs of 2016 wrote such classes; predictions of another size than the bound one have no labels."""
    class Batch:
        def __init__(self, data, label):
            self.data, self.label = data, label

        @property
        def provide_data(self):
            return [('data', self.data[0].shape)]

        @property
        def provide_label(self):
            return [('softmax_label', array.shape) for array in self.label]

    net = sym.SoftmaxOutput(sym.FullyConnected(sym.Variable('data'), num_hidden=3), name='softmax')
    module = mx.mod.Module(net)
    module.bind([('data', (8, 4))], [('softmax_label', (8,))])
    module.init_params()
    module.forward(Batch([nd.ones((1, 4))], None), is_train=False)
    assert module.get_outputs()[0].shape == (1, 3)
    module.forward(Batch([nd.ones((2, 4))], [nd.zeros((2,))]), is_train=True)
    assert module.get_outputs()[0].shape == (2, 3)
