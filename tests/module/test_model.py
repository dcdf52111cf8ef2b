"""Checkpoints, FeedForward, the helpers around stores, and the executor manager of old programs."""
import logging
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, sym
from mxnet.executor_manager import (
    DataParallelExecutorGroup,
    DataParallelExecutorManager,
    _check_arguments,
    _load_data,
    _load_label,
    _split_input_slice,
)
from mxnet.io import DataBatch, NDArrayIter
from mxnet.model import _create_kvstore, _update_params, _update_params_on_kvstore

pytestmark = pytest.mark.filterwarnings('ignore:mx.model.FeedForward:DeprecationWarning')


def net():
    return sym.SoftmaxOutput(sym.FullyConnected(sym.var('data'), num_hidden=2, name='fc'), name='softmax')


def clouds(count=80):
    random = np.random.RandomState(0)
    label = random.randint(0, 2, count)
    return (random.normal(size=(count, 3)) + 3 * label[:, None]).astype('float32'), label.astype('float32')


# ---------------------------------------------------------------------- checkpoints
def test_checkpoints(tmp_path, caplog):
    prefix = str(tmp_path / 'model')
    with caplog.at_level(logging.INFO):
        mx.model.save_checkpoint(prefix, 12, net(), {'fc_weight': nd.ones((2, 3), ctx=mx.cpu(1))},
                                 {'state': nd.zeros((1,))})
    assert f'Saved checkpoint to "{prefix}-0012.params"' in caplog.text
    assert sorted(nd.load(prefix + '-0012.params')) == ['arg:fc_weight', 'aux:state']
    symbol, arg, aux = mx.model.load_checkpoint(prefix, 12)
    assert symbol.tojson() == net().tojson() and list(arg) == ['fc_weight'] and list(aux) == ['state']
    assert arg['fc_weight'].context == mx.cpu(0)
    mx.model.save_checkpoint(prefix, 13, None, {}, {})
    with caplog.at_level(logging.WARNING):
        assert mx.model.load_params(prefix, 13) == ({}, {})
    assert 'is empty' in caplog.text
    nd.save(prefix + '-0014.params', {'plain': nd.zeros((1,)), 'arg:a:b': nd.zeros((1,))})
    assert [list(part) for part in mx.model.load_params(prefix, 14)] == [['a:b'], []], 'other names are left out'


# ---------------------------------------------------------------------- FeedForward
def test_feed_forward_takes_the_name_of_an_initializer():
    data, label = clouds()
    model = mx.model.FeedForward(net(), num_epoch=1, initializer='ones', learning_rate=0.0)
    model.fit(data, label)
    assert (model.arg_params['fc_weight'].asnumpy() == 1).all() and (model.arg_params['fc_bias'].asnumpy() == 0).all()


def test_feed_forward_without_parameters_predicts_nothing():
    with pytest.raises(mx.MXNetError, match='no parameters yet: call fit, or give arg_params'):
        mx.model.FeedForward(net()).predict(clouds()[0])


def test_feed_forward_learns(tmp_path):
    data, label = clouds()
    model = mx.model.FeedForward(net(), num_epoch=10, numpy_batch_size=20, learning_rate=0.5, momentum=0.9)
    model.fit(data, label[:, None], eval_data=(data.tolist(), label.tolist()))
    prediction = model.predict(data)
    assert prediction.shape == (80, 2) and (prediction.argmax(1) == label).mean() > 0.9
    assert model.score(NDArrayIter(data, label, batch_size=20)) == (prediction.argmax(1) == label).mean()
    outputs, same, zeros = model.predict(data[:30], return_data=True)
    assert (same == data[:30]).all() and zeros.tolist() == [0] * 30 and (outputs == prediction[:30]).all()
    assert model.predict(NDArrayIter(data, batch_size=20), num_batch=2).shape == (40, 2)

    model.save(str(tmp_path / 'model'))
    again = mx.model.FeedForward.load(str(tmp_path / 'model'), 10)
    assert again.begin_epoch == 10 and (again.predict(data) == prediction).all()
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.predict(data) == prediction).all()


def test_predictions_follow_the_parameters():
    given = {'fc_weight': nd.zeros((2, 3)), 'fc_bias': nd.array([0, 1])}
    model = mx.model.FeedForward(net(), arg_params=given, aux_params={})
    first = model.predict(np.ones((2, 3)))
    model.arg_params['fc_bias'][:] = 0
    assert (model.predict(np.ones((2, 3))) == 0.5).all() and (first != 0.5).all()
    assert model.predict(np.ones((5, 3))).shape == (5, 2)


def test_several_outputs():
    data = sym.var('data')
    model = mx.model.FeedForward(sym.Group([data * 2, data + 1]), arg_params={}, aux_params={})
    twice, more = model.predict(np.ones((3, 2)))
    assert (twice == 2).all() and (more == 2).all()


def test_epochs_and_callbacks(caplog):
    data, label = clouds(40)
    events = []
    model = mx.model.FeedForward(net(), num_epoch=3, epoch_size=3, begin_epoch=1)
    with caplog.at_level(logging.INFO):
        model.fit(NDArrayIter(data, label, batch_size=20), eval_data=NDArrayIter(data, label, batch_size=20),
                  batch_end_callback=lambda p: events.append((p.epoch, p.nbatch, p.eval_metric.num_inst)),
                  epoch_end_callback=[lambda *args: events.append(args)], eval_batch_end_callback=lambda p: None)
    assert events[:3] == [(1, 1, 20), (1, 2, 40), (1, 3, 60)], 'batches are counted from 1, and the data begun again'
    assert events[3] == (1, model.symbol, model.arg_params, model.aux_params) and len(events) == 8
    assert 'Epoch[1] Resetting Data Iterator' in caplog.text and 'Epoch[2] Validation-accuracy=' in caplog.text
    assert "Start training with [cpu(0)]" in caplog.text


def test_an_optimizer_of_ones_own():
    data, label = clouds(40)
    optimizer = mx.optimizer.SGD(learning_rate=0.5, rescale_grad=1 / 7)
    model = mx.model.FeedForward(net(), num_epoch=1, optimizer=optimizer, numpy_batch_size=20)
    model.fit(data, label)
    assert optimizer.num_update == 2 and optimizer.idx2name == {0: 'fc_weight', 1: 'fc_bias'}
    monitor = mx.mon.Monitor(1)
    with pytest.raises(AttributeError):
        model.fit(data, label, monitor=SimpleNamespace(install=monitor.install))       # a monitor is asked for its tic
    model.fit(data, label, monitor=monitor, work_load_list=[1])


def test_several_contexts():
    data, label = clouds(40)
    models = []
    for ctx in (mx.cpu(), [mx.cpu(0), mx.cpu(1)]):
        model = mx.model.FeedForward(net(), ctx=ctx, num_epoch=3, learning_rate=0.5, initializer=mx.init.Constant(0.1))
        model.fit(NDArrayIter(data, label, batch_size=20))
        models.append(model)
    for a, b in zip(models[0].arg_params.values(), models[1].arg_params.values(), strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-4, atol=1e-6)


def test_given_parameters():
    data, label = clouds(20)
    given = {'fc_weight': nd.ones((2, 3)), 'other': nd.ones((1,))}
    model = mx.model.FeedForward(net(), num_epoch=1, learning_rate=0.0, arg_params=given, allow_extra_params=True,
                                 initializer=mx.init.Constant(2))
    model.fit(data, label)
    assert {n: a.asnumpy().max() for n, a in model.arg_params.items()} == {'fc_weight': 1, 'fc_bias': 0}


def test_symbols_for_buckets():
    class Batches(NDArrayIter):
        default_bucket_key = 3

        def next(self):
            batch = super().next()
            batch.bucket_key, batch.provide_data, batch.provide_label = 3, self.provide_data, self.provide_label
            return batch

    data, label = clouds(40)
    model = mx.model.FeedForward(lambda key: net(), num_epoch=5, learning_rate=0.5)
    model.fit(Batches(data, label, batch_size=20))
    assert model.score(NDArrayIter(data, label, batch_size=20)) > 0.8
    with pytest.raises(AssertionError, match='symbol must be a Symbol or a function'):
        mx.model.FeedForward(3)


@pytest.mark.parametrize('X, y, error, message', [
    ([1], None, TypeError, 'X must be a DataIter, an NDArray or a NumPy array, not a list'),
    (np.zeros((2, 3)), None, ValueError, 'y must be given'),
    (np.zeros((2, 3)), [1, 2], TypeError, 'y must be an array when X is one, not a list'),
    (np.zeros((2, 3)), np.zeros(3), ValueError, 'X has 2 examples, y has 3 labels'),
    (np.zeros((2, 3)), np.zeros((2, 2)), ValueError, r'not \(2, 2\)'),
])
def test_wrong_data(X, y, error, message):
    with pytest.raises(error, match=message):
        mx.model.FeedForward(net(), num_epoch=1).fit(X, y)


def test_wrong_evaluation_data():
    model = mx.model.FeedForward(net(), num_epoch=1)
    data = NDArrayIter(np.zeros((2, 3)), np.zeros(2))
    assert model._init_eval_iter((data, None)) is data and model._init_eval_iter(None) is None
    with pytest.raises(ValueError, match='the data are None'):
        model.fit(data, eval_data=(None, None))
    with pytest.raises(TypeError, match='eval_data must be a DataIter or a pair'):
        model.fit(data, eval_data=3)
    with pytest.raises(AssertionError, match='pass epoch='):
        mx.model.FeedForward(net()).save('x')
    empty = mx.io.ResizeIter(data, 0)
    with pytest.raises(mx.MXNetError, match='no batches'):
        mx.model.FeedForward(net(), num_epoch=1).fit(empty)


def test_names_used_twice():
    same = sym.var('x') + sym.FullyConnected(sym.var('x'), num_hidden=2)
    with pytest.raises(ValueError, match="two arguments of the symbol are called 'x'"):
        _check_arguments(same)


# ---------------------------------------------------------------------- stores
def test_which_store(monkeypatch):
    small, large = {'w': nd.zeros((2,))}, {'w': nd.zeros((2,)), 'v': SimpleNamespace(size=1 << 25)}
    assert _create_kvstore(None, 2, small) == (None, False) == _create_kvstore('device', 1, small)
    store, on_store = _create_kvstore('local', 2, small)
    assert store.type == 'local' and on_store
    assert _create_kvstore('local', 2, large)[1] is False and _create_kvstore('device', 2, large)[1] is True
    own = mx.kv.create('teststore')
    assert _create_kvstore(own, 1, small) == (own, False)
    monkeypatch.setenv('MXNET_UPDATE_ON_KVSTORE', '0')
    assert _create_kvstore('local', 2, small)[1] is False
    with pytest.raises(TypeError, match='kvstore must be a KVStore, a str or None, not the int 3'):
        _create_kvstore(3, 2, small)


def test_stores_of_others_get_one_key_at_a_time():
    calls = []
    store = SimpleNamespace(pushpull=lambda key, value, out=None, priority=0: calls.append((key, priority)),
                            push=lambda key, value, priority=0: calls.append(('push', key)),
                            pull=lambda key, out=None, priority=0: calls.append(('pull', key)))
    dense, rows = nd.zeros((2, 2)), nd.zeros((2, 2)).tostype('row_sparse')
    weights, grads = [[dense], [dense], [rows]], [[dense], [None], [rows]]
    _update_params_on_kvstore(weights, grads, store, ['a', 'b', 'c'])
    assert calls == [('a', 0), ('push', 'c'), ('pull', 'c')]
    calls.clear()
    updates = []
    _update_params(weights, grads, lambda *args: updates.append(args[0]), 1, store, ['a', 'b', 'c'])
    assert calls == [('a', 0), ('push', 'c'), ('pull', 'c')] and updates == [[0, 2]]
    _update_params([[dense]], [[None]], None, 1)


# ---------------------------------------------------------------------- executor manager
def test_slices():
    assert _split_input_slice(10, [1, 1]) == [slice(0, 5), slice(5, 10)]
    assert _split_input_slice(10, [1, 1, 1]) == [slice(0, 3), slice(3, 6), slice(6, 10)]
    assert _split_input_slice(9, [2, 1]) == [slice(0, 6), slice(6, 9)]
    with pytest.raises(ValueError, match='some would get nothing'):
        _split_input_slice(1, [1, 1])


def test_executor_manager():
    data, label = clouds(40)
    train = NDArrayIter(data, label, batch_size=20)
    symbol = net()
    manager = DataParallelExecutorManager(symbol, [mx.cpu(0), mx.cpu(1)], train, symbol.list_arguments(),
                                          ['fc_weight', 'fc_bias'], [])
    module = mx.mod.Module(symbol)
    module.bind(train.provide_data, train.provide_label)
    params = {'fc_weight': nd.ones((2, 3)), 'fc_bias': nd.zeros((2,))}
    manager.set_params(params, {})
    module.init_params(arg_params=params)
    batch = next(train)
    manager.load_data_batch(batch)
    manager.forward(is_train=True)
    manager.backward()
    module.forward_backward(batch)
    total = sum(g.asnumpy() for g in manager.grad_arrays[0])
    np.testing.assert_allclose(total, module._exec_group.grad_arrays[0][0].asnumpy(), rtol=1e-4)
    metrics = mx.metric.create('acc'), mx.metric.create('acc')
    manager.update_metric(metrics[0], batch.label)
    manager.update_metric(metrics[1], [[l[:10] for l in batch.label], [l[10:] for l in batch.label]], pre_sliced=True)
    assert metrics[0].get() == metrics[1].get()
    manager.param_arrays[0][0][:] = 3
    targets = {'fc_weight': nd.zeros((2, 3)), 'fc_bias': nd.zeros((2,))}
    manager.copy_to(targets, {})
    assert (targets['fc_weight'].asnumpy() == 2).all() and manager.aux_arrays == []
    monitor = mx.mon.Monitor(1)
    manager.install_monitor(monitor)
    assert len(monitor.exes) == 2
    with pytest.raises(AssertionError, match='a batch of 20 is expected, but there are 3'):
        _load_data(DataBatch([nd.zeros((3, 3))]), manager.execgrp.data_arrays)
    target = nd.zeros((3,))
    _load_label(DataBatch([], [nd.ones((3,))]), [target])
    assert target.asnumpy().tolist() == [1, 1, 1]
    with pytest.raises(AssertionError, match='work_load_list must be a list with a number for each of 1 contexts'):
        DataParallelExecutorManager(symbol, [mx.cpu()], train, [], [], [], work_load_list=[1, 2])


def test_executor_manager_with_buckets():
    data, label = clouds(40)
    train = NDArrayIter(data, label, batch_size=20)
    train.default_bucket_key = 'a'
    names = net().list_arguments()
    manager = DataParallelExecutorManager(net(), [mx.cpu()], train, names, ['fc_weight', 'fc_bias'], [],
                                          sym_gen=lambda key: net())
    for key in 'aba':
        batch = DataBatch([nd.ones((20, 3))], [nd.zeros((20,))], bucket_key=key, provide_data=train.provide_data,
                          provide_label=train.provide_label)
        manager.load_data_batch(batch)
        manager.forward()
    first, second = (manager.execgrp_bucket[key] for key in 'ab')
    assert isinstance(first, DataParallelExecutorGroup) and first.param_arrays[0][0] is second.param_arrays[0][0]
    with pytest.raises(NotImplementedError, match='use mx.mod.BucketingModule'):
        manager.install_monitor(None)
