"""BatchNorm that keeps gamma at 1 (`fix_gamma`, `scale=False`) writes ones into it, when and where MXNet 1.9.1 does."""
import contextlib

import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

X = [[1, 2], [3, 6]]
SCOPES = {'predicts': contextlib.nullcontext, 'trains': autograd.train_mode, 'records': autograd.record}


@pytest.mark.parametrize('scope', SCOPES)
@pytest.mark.parametrize('name, attributes', [('BatchNorm', {}), ('BatchNorm', {'use_global_stats': True}),
                                              ('BatchNorm_v1', {}), ('contrib.SyncBatchNorm', {'key': 'k'})])
def test_of_an_operator(name, attributes, scope):
    function = nd
    for part in name.split('.'):
        function = getattr(function, part)
    gamma = nd.array([2, 2])
    gamma.attach_grad()
    before = gamma.reshape((2, 1))
    with SCOPES[scope]():
        function(data=nd.array(X).reshape((2, 2, 1, 1)), gamma=gamma, beta=nd.zeros(2), moving_mean=nd.zeros(2),
                 moving_var=nd.ones(2), **attributes)
    assert gamma.asnumpy().tolist() == [1, 1] and before.asnumpy().tolist() == [[1], [1]]
    gamma[:] = 2
    function(data=nd.array(X).reshape((2, 2, 1, 1)), gamma=gamma, beta=nd.zeros(2), moving_mean=nd.zeros(2),
             moving_var=nd.ones(2), fix_gamma=False, **attributes)
    assert gamma.asnumpy().tolist() == [2, 2]


def test_of_npx():
    with mx.util.np_array(True), mx.util.np_shape(True):
        gamma = mx.np.array([2, 2])
        mx.npx.batch_norm(mx.np.array(X), gamma, mx.np.zeros(2), mx.np.zeros(2), mx.np.ones(2))
        assert gamma.tolist() == [1, 1]


# of a hybridized block, a call that is not recorded leaves BatchNorm's gamma
@pytest.mark.parametrize('flags, scope, written', [
    (None, 'predicts', True), (None, 'trains', True), (None, 'records', True),
    ({}, 'predicts', False), ({}, 'trains', False), ({}, 'records', True),
    ({'static_alloc': True, 'static_shape': True}, 'predicts', False),
    ({'static_alloc': True, 'static_shape': True}, 'trains', False),
    ({'static_alloc': True, 'static_shape': True}, 'records', True)])
@pytest.mark.parametrize('synchronised', [False, True])
def test_of_a_layer(flags, scope, written, synchronised):
    layer = gluon.contrib.nn.SyncBatchNorm(in_channels=2, scale=False, num_devices=1) if synchronised \
        else gluon.nn.BatchNorm(in_channels=2, scale=False)
    net = gluon.nn.HybridSequential()
    net.add(layer)
    net.initialize()
    if flags is not None:
        net.hybridize(**flags)
    for _ in range(4):                  # the first calls run otherwise than later ones
        layer.gamma.set_data(nd.array([2, 2]))
        with SCOPES[scope]():
            loss = net(nd.array(X)).sum()
        if scope == 'records':
            loss.backward()
        assert layer.gamma.data().asnumpy().tolist() == ([1, 1] if written or synchronised else [2, 2])


@pytest.mark.parametrize('training', [False, True])
@pytest.mark.parametrize('req', ['write', 'add', 'null'])
@pytest.mark.parametrize('name', ['BatchNorm', 'BatchNorm_v1'])
def test_of_an_executor(name, req, training):
    executor = getattr(mx.sym, name)(mx.sym.var('data'), name='bn').simple_bind(mx.cpu(), data=(2, 2), grad_req=req)
    for _ in range(4):
        executor.arg_dict['bn_gamma'][:] = 2
        executor.forward(is_train=training)
        written = req != 'null' or name == 'BatchNorm_v1'
        assert executor.arg_dict['bn_gamma'].asnumpy().tolist() == ([1, 1] if written else [2, 2])


def test_weight_decay_does_not_add_up():
    net = mx.sym.BatchNorm(mx.sym.var('data'), name='bn')
    net = mx.sym.LinearRegressionOutput(mx.sym.sum(net, axis=1), mx.sym.var('label'))
    batches = mx.io.NDArrayIter(nd.arange(24).reshape((12, 2)), nd.zeros(12), 2, label_name='label')
    module = mx.mod.Module(net, label_names=['label'])
    module.fit(batches, num_epoch=3, initializer=mx.init.One(), optimizer='sgd',
               optimizer_params={'learning_rate': 0.1, 'wd': 0.5})
    gamma = module.get_params()[0]['bn_gamma'].asnumpy()
    assert gamma == pytest.approx([0.95, 0.95], abs=1e-6)       # of the last update only


def test_of_an_imported_graph(tmp_path):
    block = gluon.SymbolBlock(mx.sym.BatchNorm(mx.sym.var('data'), name='bn'), [mx.sym.var('data')])
    block.initialize()
    gamma = block.collect_params()['bn_gamma']
    block(nd.array(X))
    gamma.set_data(nd.array([2, 2]))
    block(nd.array(X))
    assert gamma.data().asnumpy().tolist() == [2, 2]
    with autograd.record():
        block(nd.array(X))
    assert gamma.data().asnumpy().tolist() == [1, 1]
