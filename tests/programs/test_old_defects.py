"""Behaviours of MXNet 1.9.1 that programs of strangers rely on."""
import ctypes
import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.base import _LIB, check_call
from mxnet.gluon import nn


# ---------------------------------------------------------------------- Parameter(dtype=None)
class Cell(gluon.HybridBlock):
    def __init__(self, dtype, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.weight = self.params.get('weight', shape=(2, 3), dtype=dtype)

    def hybrid_forward(self, F, x, weight):
        return F.dot(x, weight, transpose_b=True)


@pytest.mark.parametrize('dtype', ['float32', 'float16'])
def test_a_parameter_without_dtype_takes_what_is_loaded(tmp_path, dtype):
    saved = Cell(dtype)
    saved.initialize()
    saved.save_parameters(str(tmp_path / 'cell.params'))
    for options in ({}, {'cast_dtype': True}, {'cast_dtype': True, 'dtype_source': 'saved'}):
        cell = Cell(None)
        cell.load_parameters(str(tmp_path / 'cell.params'), **options)
        assert cell.weight.data().dtype == np.dtype(dtype)
    started = Cell(None)
    started.initialize()
    assert started.weight.data().dtype == np.float32
    started.load_parameters(str(tmp_path / 'cell.params'))
    assert started.weight.data().dtype == np.float32
    np.testing.assert_allclose(started.weight.data().asnumpy(), saved.weight.data().asnumpy(), rtol=1e-3)


# ---------------------------------------------------------------------- names in module dictionaries
@pytest.mark.parametrize('module, names', [
    ('mxnet.random', 'normal uniform randint shuffle multinomial randn poisson gamma exponential negative_binomial'),
    ('mxnet.ndarray.ndarray', 'array zeros ones full arange concatenate add maximum waitall from_numpy imdecode eye '
                              'onehot_encode moveaxis split_v2 to_dlpack_for_read operator current_context'),
    ('mxnet.image.image', 'ImageIter Augmenter CreateAugmenter ResizeAug ColorNormalizeAug RandomOrderAug'),
    ('mxnet.symbol.symbol', 'pow maximum hypot eye zeros arange linspace histogram split_v2'),
    ('mxnet.autograd', 'NDArray')])
def test_names_are_in_module_dictionaries(run_python, module, names):
    done = run_python('-c', f'''
import importlib, mxnet as mx
mx.nd, mx.sym, mx.image
module = importlib.import_module({module!r})
print([name for name in {names.split()} if name not in vars(module) or name not in dir(module)])
''')
    assert done.stdout.strip() == '[]'


@pytest.mark.parametrize('module', ['mxnet', 'mxnet.gluon', 'mxnet.contrib'])
def test_dictionaries_of_packages_have_the_parts_that_are_loaded_late(run_python, module):
    done = run_python('-c', f'''
import importlib, sys
module = importlib.import_module({module!r})
names = dir(module)
if {module!r} != 'mxnet.gluon':                     # which loads arrays itself
    print('torch' in sys.modules)                   # `dir` loads nothing
else:
    print(False)
print([name for name in names if name not in vars(module)], [name for name in names if name not in module.__dict__])
print(vars(module)['__name__'], 'torch' in sys.modules)
try:
    module.no_such_name
except AttributeError:
    print('no such name')
''')
    assert done.stdout.splitlines() == ['False', '[] []', f'{module} True', 'no such name']


def test_random_functions_work_before_arrays_are_loaded(run_python):
    done = run_python('-c', '''
import sys
from mxnet.random import normal, seed
import mxnet.random
print('normal' in vars(mxnet.random), 'torch' in sys.modules)
print(normal(shape=(2, 3)).shape)
import mxnet as mx
print(mx.random.normal is mx.nd.random.normal)
''')
    assert done.stdout.split('\n')[:3] == ['True False', '(2, 3)', 'True']


# ---------------------------------------------------------------------- an update that overrides SGD's
@pytest.mark.parametrize('kvstore', ['local', None, 'store'])
def test_an_update_of_ones_own_gets_numbers(kvstore):
    class Counting(mx.optimizer.SGD):
        def __init__(self, seen, **kwargs):
            super().__init__(**kwargs)
            self.seen = seen

        def update(self, index, weight, grad, state):
            self.seen.append(index)
            super().update(index, weight, grad, state)

        def __deepcopy__(self, memo):
            return self
    seen = []
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc'), name='softmax')
    module = mx.mod.Module(net, context=[mx.cpu(0), mx.cpu(1)])
    data = mx.io.NDArrayIter(np.ones((4, 3), 'float32'), np.zeros(4), 4)
    module.bind(data.provide_data, data.provide_label)
    module.init_params()
    module.init_optimizer(kvstore=mx.kv.create('local') if kvstore == 'store' else kvstore,
                          optimizer=Counting(seen, rescale_grad=0.25))
    module.forward_backward(next(data))
    module.update()
    stored = module._kvstore._updater.optimizer.seen if module._update_on_kvstore else seen
    assert stored and all(isinstance(index, int) for index in stored)
    assert sorted(stored)[0] == 0


# ---------------------------------------------------------------------- functions of the C library
def test_functions_of_the_c_library():
    x = nd.array([[1, 2, 3], [4, 5, 6]])
    memory = np.empty((2, 3), 'float32')
    pointer = memory.ctypes.data_as(ctypes.c_void_p)
    check_call(_LIB.MXNDArraySyncCopyToCPU(x.handle, pointer, ctypes.c_size_t(memory.size)))
    assert memory.tolist() == [[1, 2, 3], [4, 5, 6]]
    memory *= 2
    check_call(_LIB.MXNDArraySyncCopyFromCPU(x.handle, pointer, ctypes.c_size_t(memory.size)))
    assert x.asnumpy().tolist() == [[2, 4, 6], [8, 10, 12]]
    for name, kind in (('', ctypes.c_uint), ('Ex', ctypes.c_int), ('Ex64', ctypes.c_int64)):
        count, shape = ctypes.c_int(), ctypes.POINTER(kind)()
        check_call(getattr(_LIB, f'MXNDArrayGetShape{name}')(x.handle, ctypes.byref(count), ctypes.byref(shape)))
        assert shape[:count.value] == [2, 3]
    number, other = ctypes.c_int(), ctypes.c_int()
    for dtype, expected in (('float32', 0), ('float64', 1), ('float16', 2), ('uint8', 3), ('int32', 4), ('int64', 6)):
        y = x.astype(dtype)
        check_call(_LIB.MXNDArrayGetDType(y.handle, ctypes.byref(number)))
        assert number.value == expected
    check_call(_LIB.MXNDArrayGetContext(x.handle, ctypes.byref(number), ctypes.byref(other)))
    assert (number.value, other.value) == (1, 0)
    check_call(_LIB.MXGetVersion(ctypes.byref(number)))
    assert number.value // 100 == 109
    address = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayGetData(x.handle, ctypes.byref(address)))
    assert ctypes.cast(address, ctypes.POINTER(ctypes.c_float))[5] == 12
    size, names = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListAllOpNames(ctypes.byref(size), ctypes.byref(names)))
    assert b'FullyConnected' in names[:size.value]
    for call in (lambda: _LIB.MXNDArrayWaitToRead(x.handle), _LIB.MXNDArrayWaitAll, lambda: _LIB.MXRandomSeed(3)):
        assert call() == 0
    with pytest.raises(mx.MXNetError, match=r'MXNDArraySyncCopyToCPU.*6 elements.*5'):
        check_call(_LIB.MXNDArraySyncCopyToCPU(x.handle, pointer, ctypes.c_size_t(5)))


# ---------------------------------------------------------------------- products
@pytest.mark.parametrize('place, expected', [((0, 0, 0), 0), ((0, 0, 9), 0), ((0, 1, 3), np.nan),
                                             ((1, 2, 39), np.nan)])
def test_products_with_overflow_and_zero(place, expected):
    data = np.full((2, 3, 40), 1e3, 'float32')
    data[place] = 0
    for axis in ((0, 1, 2), None):
        np.testing.assert_equal(nd.prod(nd.array(data), axis=axis).asscalar(), np.float32(expected))
        np.testing.assert_equal(nd.nanprod(nd.array(data), axis=axis).asscalar(), np.float32(expected))
    np.testing.assert_equal(mx.np.prod(mx.np.array(data)).item(), expected)


# the numbers are those of 1.9.1, which multiplies one by one in float32
@pytest.mark.parametrize('values, expected', [
    ([1e30, 1e30, 0, 1], np.nan), ([1e30, 1e30, 1e-30, 1e-30], np.inf), ([0, 1e30, 1e30], 0),
    ([1e30, -1e30, 1e-30], -np.inf), ([1e30, -1e30, 1e-30, -2], np.inf), ([1e-30, 1e-30, 1e30, 1e30], 0),
    ([np.inf, 2, 0], np.nan), ([0, 2, np.inf], np.nan), ([2, 3, np.nan, 0], np.nan), ([2, 3, 0.5], 3),
    ([1e30, 1e30] + [1e-30] * 6, np.inf)])
def test_products_are_made_in_order(values, expected):
    data = np.array(values, 'float32')
    for shape, axis in ((-1, None), ((1, -1), 1), ((-1, 1), 0), ((1, 1, -1), (0, 2))):
        found = nd.prod(nd.array(data.reshape(shape)), axis=axis).asnumpy().ravel()
        np.testing.assert_allclose(found, [expected], rtol=1e-6)
    np.testing.assert_allclose(mx.np.prod(mx.np.array(data)).item(), expected, rtol=1e-6)


def test_products_have_gradients():
    small = np.random.RandomState(0).uniform(0.5, 1.5, (2, 3, 4)).astype('float32')
    for axis in (0, 1, 2, (0, 2), (1, 2), (0, 1), None):
        for keepdims in (False, True):
            found = nd.prod(nd.array(small), axis=axis, keepdims=keepdims).asnumpy()
            expected = np.prod(small, axis=axis, keepdims=keepdims)
            np.testing.assert_allclose(found, expected if expected.ndim else [expected], rtol=1e-5)
    x = nd.array(small)
    x.attach_grad()
    with mx.autograd.record():
        y = nd.prod(x, axis=(0, 2)).sum()
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.prod(small, (0, 2), keepdims=True) / small, rtol=1e-4)


# ---------------------------------------------------------------------- mx.np arrays outside np mode
def test_hybridized_blocks_answer_np_arrays_as_others_do():
    class Twice(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return x * 2
    for hybridize in (False, True):
        block = Twice()
        block.hybridize(hybridize)
        for _ in range(3):
            assert isinstance(block(mx.np.ones((2, 3))), mx.np.ndarray)
            with mx.autograd.record():
                assert isinstance(block(mx.np.ones((2, 3))), mx.np.ndarray)
        other = Twice()
        other.hybridize(hybridize)
        assert type(other(nd.ones((2, 3)))) is nd.NDArray
        dense = nn.Dense(2, in_units=3)
        dense.initialize()
        dense.hybridize(hybridize)
        assert dense(mx.np.ones((2, 3))).shape == (2, 2)


# ---------------------------------------------------------------------- operators of old files
def test_warp_ctc():
    time, batch, alphabet, length = 6, 2, 5, 3
    scores = np.random.RandomState(0).normal(size=(time, batch, alphabet)).astype('float32')
    labels = np.array([[1, 0, 2], [3, 3, 0]], 'float32')
    net = mx.sym.WarpCTC(data=mx.sym.var('data'), label=mx.sym.var('label'), label_length=length, input_length=time)
    _, outputs, _ = net.infer_shape(data=(time * batch, alphabet))
    assert outputs == [(time * batch, alphabet)]
    assert net.infer_shape(data=(time * batch, alphabet))[0] == [(time * batch, alphabet), (batch * length,)]
    executor = net.simple_bind(mx.cpu(), data=(time * batch, alphabet), grad_req={'data': 'write', 'label': 'null'})
    executor.forward(is_train=True, data=nd.array(scores.reshape(-1, alphabet)), label=nd.array(labels.ravel()))
    np.testing.assert_allclose(executor.outputs[0].asnumpy(), nd.softmax(nd.array(scores)).asnumpy().reshape(
        -1, alphabet), rtol=1e-5)
    executor.backward()
    x = nd.array(scores)
    x.attach_grad()
    with mx.autograd.record():          # a blank within a label is left out
        loss = nd.CTCLoss(x, nd.array([[1, 2, 0], [3, 3, 0]]))
    loss.backward()
    np.testing.assert_allclose(executor.grad_dict['data'].asnumpy(), x.grad.asnumpy().reshape(-1, alphabet),
                               rtol=1e-4, atol=1e-6)
    assert mx.sym.load_json(net.tojson()).list_arguments() == ['data', 'label']
    with pytest.raises(mx.MXNetError, match='WarpCTC: label has shape'):
        nd.WarpCTC(nd.ones((12, 5)), nd.ones((5,)), input_length=6, label_length=3).wait_to_read()


@pytest.mark.parametrize('old, new', [('CuDNNBatchNorm', 'BatchNorm'), ('MultiBoxPrior', '_contrib_MultiBoxPrior')])
def test_operators_that_were_renamed_are_read(old, new):
    graph = json.loads((mx.sym.BatchNorm if new == 'BatchNorm' else mx.sym.contrib.MultiBoxPrior)(
        mx.sym.var('data'), name='n').tojson())
    for node in graph['nodes']:
        if node['op'] == new:
            node['op'] = old
    assert mx.sym.load_json(json.dumps(graph)).list_outputs() == ['n_output']


# ---------------------------------------------------------------------- small things
def test_names_and_operators_are_attributes_of_symbols():
    data = mx.sym.var('data')
    dense = mx.sym.FullyConnected(data, num_hidden=2, name='dense')
    parts = mx.sym.SliceChannel(dense, num_outputs=2, name='parts')
    assert [s.attr('name') for s in (data, dense, parts, parts[1])] == ['data', 'dense', 'parts', 'parts']
    assert [s.attr('op_name') for s in (data, dense, parts)] == ['null', 'FullyConnected', 'SliceChannel']
    group = mx.sym.Group([data, dense])
    assert group.attr('name') is None and group.attr('op_name') is None
    assert 'name' not in dense.list_attr()


def test_a_variable_is_renamed():
    v = mx.sym.var('a')
    v._set_attr(name='b')
    assert v.name == 'b' and v.list_arguments() == ['b']
    assert (v + 1).list_arguments() == ['b']


def test_messages_on_stdout(capsys):
    mx.optimizer.SGD(learning_rate=0.3, lr_scheduler=mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.1))
    assert capsys.readouterr().out == ('learning rate from ``lr_scheduler`` has been overwritten by ``learning_rate`` '
                                       'in optimizer.\n')
    mx.optimizer.SGD(learning_rate=0.1, lr_scheduler=mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.1))
    assert capsys.readouterr().out == ''
    mx.rnn.BucketSentenceIter([[1, 2], [1, 2, 3], [1] * 50], 2, buckets=[5])
    assert capsys.readouterr().out == 'WARNING: discarded 1 sentences longer than the largest bucket.\n'


def test_an_epoch_that_ends_with_the_data():
    net = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1), name='lro')
    data = mx.io.NDArrayIter(np.ones((4, 2), 'float32'), np.ones((4,), 'float32'), 2, label_name='lro_label')
    with pytest.warns(DeprecationWarning):
        model = mx.model.FeedForward(net, num_epoch=5, epoch_size=1)
    model.fit(data, eval_metric='mse')
    with pytest.warns(DeprecationWarning):
        whole = mx.model.FeedForward(net, num_epoch=3, epoch_size=2)
    whole.fit(data, eval_metric='mse')
