"""BucketingModule, SequentialModule, PythonModule, and what a module of one's own needs."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, sym
from mxnet.io import DataBatch, DataDesc, NDArrayIter

OPTIONS = {'learning_rate': 0.5, 'momentum': 0.9}


# ---------------------------------------------------------------------- buckets
def sym_gen(length):
    """The sum over time of a linear layer: all lengths have the same parameters."""
    data = sym.var('data')
    steps = sym.split(data, num_outputs=length, axis=1, squeeze_axis=False) if length > 1 else [data]
    weight, bias = sym.var('fc_weight'), sym.var('fc_bias')
    total = None
    for step in steps:
        layer = sym.FullyConnected(step, weight, bias, num_hidden=2)
        total = layer if total is None else total + layer
    return sym.SoftmaxOutput(total, name='softmax'), ('data',), ('softmax_label',)


def bucket(length, size=4):
    random = np.random.RandomState(length)
    return DataBatch([nd.array(random.normal(size=(size, length)))], [nd.array(random.randint(0, 2, size))],
                     bucket_key=length, provide_data=[DataDesc('data', (size, length))],
                     provide_label=[DataDesc('softmax_label', (size,))])


def bucketing(**kwargs):
    module = mx.mod.BucketingModule(sym_gen, default_bucket_key=3, **kwargs)
    module.bind(bucket(3).provide_data, bucket(3).provide_label)
    module.init_params(mx.init.One())
    return module


def test_buckets_learn_together():
    """As one module would that is made anew for each length, with the same weights and momentum."""
    module = bucketing()
    module.init_optimizer(optimizer_params=OPTIONS)
    weights, momenta = {'fc_weight': np.ones((2, 1)), 'fc_bias': np.zeros(2)}, {}
    for length in (3, 1, 2, 3, 1, 1, 2):
        module.forward_backward(bucket(length))
        module.update()
        single = mx.mod.Module(*sym_gen(length))
        single.bind(bucket(length).provide_data, bucket(length).provide_label)
        single.init_params(arg_params={n: nd.array(w) for n, w in weights.items()})
        single.forward_backward(bucket(length))
        for name, grads in zip(single._exec_group.param_names, single._exec_group.grad_arrays, strict=True):
            momenta[name] = 0.9 * momenta.get(name, 0) - 0.5 * grads[0].asnumpy() / 4
            weights[name] = weights[name] + momenta[name]
    assert sorted(module._buckets) == [1, 2, 3]
    for name, array in module.get_params()[0].items():
        np.testing.assert_allclose(array.asnumpy(), weights[name], rtol=1e-4)
    arrays = {id(m._exec_group.execs[0].arg_dict['fc_weight']) for m in module._buckets.values()}
    inputs = {m._exec_group.execs[0].arg_dict['data'].materialize().data_ptr() for m in module._buckets.values()}
    assert len(arrays) == len(inputs) == 1, 'all buckets use the same memory'


def test_parameters_in_another_order():
    """States of the optimizer belong to names, whatever the order of a bucket's arguments."""
    def generate(key):
        a, b = sym.var('a', shape=(1,)), sym.var('b', shape=(1,))
        data = sym.var('data')
        product = sym.broadcast_mul(data, a) + 2 * sym.broadcast_mul(data, b) if key == 1 else \
            2 * sym.broadcast_mul(data, b) + sym.broadcast_mul(data, a)
        return sym.make_loss(product), ('data',), None

    module = mx.mod.BucketingModule(generate, 1)
    module.bind([('data', (1,))])
    module.init_params(mx.init.Mixed(['.*'], [mx.init.Zero()]), arg_params={'a': nd.zeros((1,)), 'b': nd.zeros((1,))})
    module.init_optimizer(optimizer_params={'learning_rate': 1.0, 'momentum': 0.5})
    for key in (1, 2):
        module.forward_backward(DataBatch([nd.ones((1,))], None, bucket_key=key, provide_data=[('data', (1,))]))
        module.update()
    found = module.get_params()[0]
    assert (found['a'].asscalar(), found['b'].asscalar()) == (-2.5, -5.0)


def test_fit_predict_and_score():
    class Batches(mx.io.DataIter):
        provide_data, provide_label, default_bucket_key = bucket(3).provide_data, bucket(3).provide_label, 3

        def __init__(self):
            super().__init__(4)
            self.reset()

        def reset(self):
            self.left = [1, 2, 3, 2]

        def next(self):
            if not self.left:
                raise StopIteration
            return bucket(self.left.pop())

    module = mx.mod.BucketingModule(sym_gen, default_bucket_key=3)
    module.fit(Batches(), num_epoch=20, optimizer_params={'learning_rate': 0.2})
    assert module.score(Batches(), 'acc')[0][1] > 0.5
    parts = module.predict(Batches(), merge_batches=False)
    assert len(parts) == 4 and module.predict(Batches()).shape == (16, 2)
    monitor = mx.mon.Monitor(1, pattern='softmax_output')
    module.install_monitor(monitor)
    monitor.tic()
    module.forward(bucket(2))
    assert len(monitor.toc()) == 1


def test_buckets_are_made_ahead():
    module = bucketing()
    module.prepare(bucket(1))
    assert sorted(module._buckets) == [1, 3] and module.data_shapes[0].shape == (4, 3), 'the bucket in use stays'
    module.forward(bucket(1))
    assert module.data_shapes == [('data', (4, 1))] and module.label_shapes == [('softmax_label', (4,))]
    assert module.output_shapes == [('softmax_output', (4, 2))] and module.output_names == ['softmax_output']
    assert module.data_names == ['data'] and module.symbol.list_outputs() == ['softmax_output']


def test_before_binding():
    with pytest.raises(AssertionError, match='default_bucket_key is missing'):
        mx.mod.BucketingModule(sym_gen)
    module = mx.mod.BucketingModule(sym_gen, 3)
    assert list(module.data_names) == ['data'] and module.output_names == ['softmax_output']
    for call in ('symbol', 'data_shapes', 'label_shapes', 'output_shapes'):
        with pytest.raises(AssertionError, match='call bind first'):
            getattr(module, call)
    with pytest.raises(AssertionError, match='call bind first'):
        module.init_params()
    with pytest.raises(AssertionError, match='call init_params first'):
        module.get_params()
    with pytest.raises(AssertionError, match='no buckets yet'):
        module.save_checkpoint('x', 0)
    with pytest.raises(ValueError, match="no argument 'z'"):
        mx.mod.BucketingModule(sym_gen, 3, fixed_param_names=['z'])
    with pytest.raises(AssertionError, match='cannot share'):
        module.bind(bucket(3).provide_data, bucket(3).provide_label, shared_module=module)


def test_parameters():
    module = bucketing()
    module.init_params(mx.init.Zero())
    assert module.get_params()[0]['fc_weight'].asnumpy().tolist() == [[1], [1]], 'once is enough'
    module.set_params({'fc_weight': nd.zeros((2, 1))}, {}, allow_missing=True)
    assert module.get_params()[0]['fc_weight'].asnumpy().tolist() == [[0], [0]]
    with pytest.warns(UserWarning, match='filled already'):
        module.set_params({}, {}, allow_missing=True, force_init=False)
    module.set_params({'fc_weight': nd.ones((2, 1)) * 4, 'fc_bias': nd.zeros((2,))}, {})
    module.bind(bucket(3).provide_data, bucket(3).provide_label, force_rebind=True)
    assert module.get_params()[0]['fc_weight'].asnumpy().tolist() == [[4], [4]], 'what was there stays'
    module.bind(bucket(3).provide_data)
    assert module.label_shapes is not None, 'a second bind is ignored'


def test_gradients_of_inputs_and_states():
    module = mx.mod.BucketingModule(lambda key: (sym.var('data') * sym.var('state'), ('data',), None), 1,
                                    state_names=['state'])
    module.bind([('data', (2, 2))], inputs_need_grad=True)
    module.init_params()
    module.set_states(value=3)
    module.forward(DataBatch([nd.ones((2, 2))], bucket_key=1, provide_data=[('data', (2, 2))]), is_train=True)
    module.backward([nd.ones((2, 2))])
    assert (module.get_input_grads()[0].asnumpy() == 3).all()
    assert (module.get_states(merge_multi_context=False)[0][0].asnumpy() == 3).all()


@pytest.mark.parametrize('contexts', [mx.cpu(), [mx.cpu(0), mx.cpu(1)]])
def test_checkpoints_of_buckets(contexts, tmp_path):
    module = bucketing(context=contexts)
    module.init_optimizer(optimizer_params=OPTIONS)
    for length in (3, 1):
        module.forward_backward(bucket(length))
        module.update()
    prefix = str(tmp_path / 'model')
    module.save_checkpoint(prefix, 7)
    assert {p.name for p in tmp_path.iterdir()} == {'model-0007.params', 'model-1-symbol.json', 'model-3-symbol.json',
                                                    'model.buckets'}
    mx.callback.module_checkpoint(module, prefix, save_optimizer_states=True)(7)
    assert (tmp_path / 'model-0008.states').exists()
    again = mx.mod.BucketingModule.load(prefix, 7, sym_gen, default_bucket_key=3, context=contexts)
    again.bind(bucket(3).provide_data, bucket(3).provide_label)
    assert sorted(again._buckets) == [1, 3]
    for length in (1, 2, 3):
        for one in (module, again):
            one.forward(bucket(length), is_train=False)
        assert (again.get_outputs()[0].asnumpy() == module.get_outputs()[0].asnumpy()).all(), length
    with pytest.raises(AssertionError, match='sym_gen, default_bucket_key missing'):
        mx.mod.BucketingModule.load(prefix, 7)
    symbols = {1: sym_gen(1)[0]}
    with pytest.raises(AssertionError, match='no symbol of the default bucket 3'):
        mx.mod.BucketingModule.load_dict(symbols, sym_gen, 3, {}, {})


# ---------------------------------------------------------------------- chains
def chain(auto_wiring=True):
    first = mx.mod.Module(sym.FullyConnected(sym.var('data'), num_hidden=2, name='fc'), label_names=None)
    second = mx.mod.Module(sym.SoftmaxOutput(sym.var('data' if auto_wiring else 'fc_output'), name='softmax'),
                           data_names=['data' if auto_wiring else 'fc_output'])
    return mx.mod.SequentialModule().add(first).add(second, take_labels=True, auto_wiring=auto_wiring)


def whole():
    layer = sym.FullyConnected(sym.var('data'), num_hidden=2, name='fc')
    return mx.mod.Module(sym.SoftmaxOutput(layer, name='softmax'))


@pytest.mark.parametrize('auto_wiring', [True, False])
def test_a_chain_is_the_sum_of_its_parts(auto_wiring):
    modules = chain(auto_wiring), whole()
    shapes = [('data', (4, 3))], [('softmax_label', (4,))]
    batch = DataBatch([nd.array(np.random.RandomState(0).normal(size=(4, 3)))], [nd.array([0, 1, 1, 0])])
    for module in modules:
        module.bind(*shapes, inputs_need_grad=True)
        module.init_params(mx.init.Constant(0.3))
        module.init_optimizer(optimizer_params=OPTIONS)
        for _ in range(3):
            module.forward_backward(batch)
            module.update()
        metric = mx.metric.create('ce')
        module.update_metric(metric, batch.label)
        module.value = metric.get()[1]
    ours, plain = modules
    for one, other in ((ours.get_outputs(), plain.get_outputs()), (ours.get_input_grads(), plain.get_input_grads()),
                       (ours.get_params()[0].values(), plain.get_params()[0].values())):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-7)
    assert ours.value == pytest.approx(plain.value) and ours.data_names == ['data']
    assert ours.output_names == ['softmax_output'] and ours.output_shapes == [('softmax_output', (4, 2))]
    assert ours.data_shapes == [('data', (4, 3))] and ours.label_shapes == [('softmax_label', (4,))]


def test_a_chain_is_fitted():
    random = np.random.RandomState(0)
    label = random.randint(0, 2, 80)
    data = NDArrayIter(random.normal(size=(80, 3)) + 3 * label[:, None], label, batch_size=20)
    module = chain()
    module.fit(data, num_epoch=10, optimizer_params={'learning_rate': 0.5})
    assert module.score(data, 'acc')[0][1] > 0.9
    monitor = mx.mon.Monitor(1, pattern='.*output')
    module.install_monitor(monitor)
    monitor.tic()
    module.forward(DataBatch([nd.zeros((20, 3))], [nd.zeros((20,))]), is_train=False)
    assert [name for _, name, _ in monitor.toc()] == ['fc_output', 'softmax_output']


def test_chains_are_checked():
    empty = mx.mod.SequentialModule()
    assert empty.data_names == [] == empty.output_names
    with pytest.raises(AssertionError, match='the chain is empty'):
        empty.bind([('data', (4, 3))])
    with pytest.raises(AssertionError, match="'take_label' is not known"):
        empty.add(whole(), take_label=True)
    module = chain()
    with pytest.raises(AssertionError, match='call bind first'):
        module.init_params()
    with pytest.raises(AssertionError, match='only with for_training=True'):
        module.bind([('data', (4, 3))], for_training=False, inputs_need_grad=True)
    with pytest.raises(AssertionError, match='cannot share'):
        module.bind([('data', (4, 3))], shared_module=module)
    module.bind([('data', (4, 3))], [('softmax_label', (4,))])
    module.init_params()
    module.init_params()
    with pytest.raises(AssertionError, match='inputs_need_grad=True'):
        module.get_input_grads()
    module.init_optimizer()
    module.init_optimizer()
    module.bind([('data', (1, 3))])
    assert module.data_shapes[0].shape == (4, 3), 'a second bind is ignored'
    layer = sym.FullyConnected(sym.var('data'), num_hidden=3, name='fc')
    layers = [mx.mod.Module(layer, label_names=None) for _ in '12']
    twice = mx.mod.SequentialModule().add(layers[0]).add(layers[1], auto_wiring=True)
    twice.bind([('data', (4, 3))])
    assert twice.label_shapes is None
    with pytest.raises(AssertionError, match="number 0 and 1, have an argument 'fc_weight'"):
        twice.init_params()
    wide = mx.mod.Module(sym.var('a') + sym.var('b'), data_names=['a', 'b'], label_names=None)
    with pytest.raises(AssertionError, match='module 1 takes 2 arrays, but gets 1'):
        mx.mod.SequentialModule().add(layers[0]).add(wide, auto_wiring=True).bind([('data', (4, 3))], force_rebind=True)


# ---------------------------------------------------------------------- Python
def test_a_loss_in_python():
    """Softmax regression whose loss is written in NumPy learns as SoftmaxOutput does."""
    def gradient(scores, labels):
        scores = scores.asnumpy()
        e = np.exp(scores - scores.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True) - np.eye(2)[labels.asnumpy().astype(int)]

    layer = mx.mod.Module(sym.FullyConnected(sym.var('data'), num_hidden=2, name='fc'), label_names=None)
    loss = mx.mod.PythonLossModule(grad_func=gradient)
    module = mx.mod.SequentialModule().add(layer).add(loss, take_labels=True, auto_wiring=True)
    plain = whole()
    batch = DataBatch([nd.array(np.random.RandomState(0).normal(size=(4, 3)))], [nd.array([0, 1, 1, 0])])
    for one in (module, plain):
        one.bind([('data', (4, 3))], [('softmax_label', (4,))])
        one.init_params(mx.init.Constant(0.3))
        one.init_optimizer(optimizer_params=OPTIONS)
        for _ in range(3):
            one.forward_backward(batch)
            one.update()
    np.testing.assert_allclose(layer.get_params()[0]['fc_weight'].asnumpy(),
                               plain.get_params()[0]['fc_weight'].asnumpy(), rtol=1e-5)
    assert module.output_shapes == [('pyloss_output', (4, 2))]
    assert loss.data_shapes == [('data', (4, 2))] and loss.label_shapes == [('softmax_label', (4,))]
    metric = mx.metric.create('acc')
    module.update_metric(metric, batch.label)
    assert metric.num_inst == 4
    with pytest.raises(RuntimeError, match='labels cannot be in slices'):
        loss.update_metric(metric, [batch.label], pre_sliced=True)


def test_loss_modules_are_checked():
    loss = mx.mod.PythonLossModule(data_names=['scores'], label_names=['y'])
    with pytest.raises(AssertionError, match="data_shapes has \\['data'\\], but data_names are \\['scores'\\]"):
        loss.bind([('data', (4, 2))])
    with pytest.raises(AssertionError, match="grad_req='write' only"):
        loss.bind([('scores', (4, 2))], grad_req='add')
    loss.bind([('scores', (4, 2))], [('y', (4,))])
    loss.bind([('scores', (5, 2))])
    assert loss.data_shapes == [('scores', (4, 2))], 'a second bind is ignored'
    loss.init_params()
    loss.init_optimizer()
    loss.update()
    assert loss.get_params() == ({}, {}) and loss.output_names == ['pyloss_output'] and loss.data_names == ['scores']
    loss.forward(DataBatch([nd.ones((4, 2))], [nd.zeros((4,))]))
    with pytest.raises(NotImplementedError, match='needs grad_func'):
        loss.backward()
    for call in (loss.get_outputs, loss.get_input_grads):
        with pytest.raises(AssertionError, match='runs on one context'):
            call(merge_multi_context=False)
    with pytest.raises(AssertionError, match='out_grads must be None'):
        loss.backward([nd.ones((4, 2))])
    with pytest.raises(NotImplementedError, match='no executor'):
        loss.install_monitor(None)
    loss.bind([('scores', (4, 2))], for_training=False, force_rebind=True)
    loss.update_metric(None, [])                # no labels, nothing to compare
    with pytest.raises(AssertionError, match='bound for prediction'):
        loss.backward()
    with pytest.raises(AssertionError, match='one data_name and one label_name'):
        mx.mod.PythonLossModule(data_names=['a', 'b'])
    with pytest.raises(AssertionError, match='grad_func must be a function'):
        mx.mod.PythonLossModule(grad_func=3)
    with pytest.raises(NotImplementedError, match='_compute_output_shapes'):
        mx.mod.PythonModule(('data',), None, ['out']).bind([('data', (1,))])


def test_a_module_of_ones_own():
    """What is missing has a name."""
    module = mx.mod.BaseModule()
    for name in ('data_names', 'output_names', 'data_shapes', 'label_shapes', 'output_shapes'):
        with pytest.raises(NotImplementedError, match=f'BaseModule has no {name}'):
            getattr(module, name)
    for name, arguments in {'get_params': 0, 'init_params': 0, 'install_monitor': 1, 'forward': 1, 'backward': 0,
                            'get_outputs': 0, 'get_input_grads': 0, 'update': 0, 'update_metric': 2, 'bind': 1,
                            'init_optimizer': 0}.items():
        with pytest.raises(NotImplementedError, match=f'BaseModule has no {name}'):
            getattr(module, name)(*[None] * arguments)
    assert module.symbol is None
    with pytest.warns(UserWarning, match='sparse_row_id_fn is not used'):
        module.prepare(None, sparse_row_id_fn=lambda batch: {})
    module.binded = module.params_initialized = True
    assert module.get_states(merge_multi_context=False) == []
    module.set_states()
    with pytest.raises(AssertionError, match='has no states'):
        module.set_states(value=1)
    with pytest.raises(AssertionError, match='not merged'):
        module.get_states()
