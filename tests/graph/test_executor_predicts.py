"""Predictions of a bound symbol on a CPU: parameters that stay are prepared once, whoever writes them when."""
import gc
import weakref

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet._graph.passes.packed import can_pack

pytestmark = pytest.mark.skipif(not can_pack(), reason='this torch was built without oneDNN')


def network():
    x = mx.sym.Convolution(mx.sym.var('data'), kernel=(3, 3), num_filter=8, name='conv')
    x = mx.sym.Activation(mx.sym.BatchNorm(x, fix_gamma=False, name='bn'), act_type='relu')
    x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type='max')
    return mx.sym.softmax(mx.sym.FullyConnected(x, num_hidden=3, name='fc'))


def bound(grad_req='null'):
    exe = network().simple_bind(mx.cpu(), data=(2, 3, 10, 10), grad_req=grad_req)
    for name, array in (*exe.arg_dict.items(), *exe.aux_dict.items()):
        array[:] = np.random.uniform(0.1, 0.5, array.shape) * (1 if 'var' in name else np.random.choice([-1, 1]))
    return exe


def expected(exe):
    """What the same arrays give without any plan."""
    other = network().bind(mx.cpu(), dict(exe.arg_dict), aux_states=dict(exe.aux_dict), grad_req='null')
    return other.forward()[0].asnumpy()


def check(exe, **kwargs):
    found = exe.forward(**kwargs)[0].asnumpy()
    np.testing.assert_allclose(found, expected(exe), rtol=1e-4, atol=1e-6)


def prepared(exe):
    """Whether the last prediction had its weights packed."""
    ready = exe._bound_runs.get(False)
    return ready is not None and ready.folded is not None and ready.folded._predictor is not None


def batch():
    return nd.random.uniform(shape=(2, 3, 10, 10))


def test_weights_are_packed_once_it_is_known_what_the_inputs_are():
    exe = bound()
    for _ in range(5):
        check(exe, data=batch())
    assert prepared(exe)
    texts = [p.source for p in exe._plans._plans.values() if p is not None and p.infer]
    assert len(texts) == 1 and '_convolution_pointwise' in texts[0]


def test_without_inputs_that_change_nothing_is_assumed():
    exe = bound()
    for _ in range(5):
        check(exe)
    assert not prepared(exe)
    for _ in range(3):
        check(exe, data=batch())
    assert prepared(exe)
    for _ in range(2):
        check(exe)


@pytest.mark.parametrize('name', ['conv_weight', 'conv_bias', 'bn_gamma', 'bn_moving_var', 'fc_weight'])
def test_parameters_may_be_written_at_any_time(name):
    exe = bound()
    array = {**exe.arg_dict, **exe.aux_dict}[name]
    for _ in range(4):
        check(exe, data=batch())
    for _ in range(3):
        array[:] = array * 1.5
        check(exe, data=batch())
        check(exe, data=batch())
    exe.copy_params_from({name: array * 2} if name in exe.arg_dict else {}, {name: array * 2} if name in exe.aux_dict
                         else {})
    check(exe)
    check(exe, data=batch())


def test_training_and_predicting_in_turns():
    exe = bound('write')
    for _ in range(6):
        exe.forward(is_train=True, data=batch())
        exe.backward()
        for name, array in exe.arg_dict.items():
            if name != 'data':
                array -= 0.1 * exe.grad_dict[name]
        check(exe, data=batch())
    assert not prepared(exe)
    for _ in range(3):
        check(exe, data=batch())
    assert prepared(exe)


def test_modules_score_between_epochs():
    data, label = np.random.rand(12, 3, 10, 10).astype('float32'), np.arange(12, dtype='float32') % 3
    module = mx.mod.Module(mx.sym.SoftmaxOutput(network().get_internals()['fc_output'], name='softmax'))
    batches = mx.io.NDArrayIter(data, label, batch_size=2)
    module.fit(batches, eval_data=mx.io.NDArrayIter(data, label, batch_size=2), num_epoch=3, eval_metric='ce',
               optimizer_params={'learning_rate': 0.05})
    found = module.predict(mx.io.NDArrayIter(data, label, batch_size=2)).asnumpy()
    net = mx.gluon.SymbolBlock(network().get_internals()['fc_output'], [mx.sym.var('data')])
    for name, value in {**module.get_params()[0], **module.get_params()[1]}.items():
        net.collect_params()[name]._load_init(value, mx.cpu())
    np.testing.assert_allclose(found, nd.softmax(net(nd.array(data))).asnumpy(), rtol=1e-4, atol=1e-6)


def test_outputs_of_before_stay():
    exe = bound()
    kept = []
    for _ in range(5):
        out = exe.forward(data=batch())[0]
        kept.append((out.copy(), out.materialize()))
    for copy, tensor in kept:
        np.testing.assert_array_equal(copy.asnumpy(), tensor.numpy())


def test_nothing_holds_an_executor():
    exe = bound()
    for _ in range(5):
        exe.forward(data=batch())
    assert prepared(exe)
    gc.disable()
    try:
        gone = weakref.ref(exe)
        del exe
        assert gone() is None
    finally:
        gc.enable()
