"""What upstream's own examples and tutorials, and programs of others, do that nothing else here does."""
import copy
import os
import pickle
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


# ---------------------------------------------------------------------- dtypes that a graph finds
def test_an_embedding_has_its_own_dtype_whatever_its_indices_have():
    words, weight = mx.sym.var('data'), mx.sym.var('w')
    rows = mx.sym.Embedding(words, weight=weight, input_dim=5, output_dim=4)
    assert rows.infer_type(data='int32') == ([np.int32, np.float32], [np.float32], [])
    assert rows.infer_type(data='int32', w='float16') == ([np.int32, np.float16], [np.float16], [])
    half = mx.sym.Embedding(words, weight=weight, input_dim=5, output_dim=4, dtype='float16')
    assert half.infer_type(data='int64') == ([np.int64, np.float16], [np.float16], [])
    exe = mx.sym.Dropout(rows, p=0.5).simple_bind(mx.cpu(), data=(2, 3), type_dict={'data': 'int32'})
    assert {k: v.dtype for k, v in exe.arg_dict.items()} == {'data': np.int32, 'w': np.float32}
    assert exe.forward(is_train=True)[0].dtype == np.float32


def test_a_module_learns_from_integers():
    words = mx.sym.var('data')
    scores = mx.sym.FullyConnected(mx.sym.Embedding(words, input_dim=7, output_dim=4), num_hidden=3)
    module = mx.mod.Module(mx.sym.SoftmaxOutput(scores, name='softmax'))
    module.bind([mx.io.DataDesc('data', (2, 5), np.int32)], [('softmax_label', (2,))])
    module.init_params(mx.init.One())
    module.init_optimizer()
    module.forward_backward(mx.io.DataBatch([nd.array([[0, 1, 2, 3, 4]] * 2, dtype='int32')], [nd.array([0, 1])]))
    module.update()
    assert {a.dtype for a in module.get_params()[0].values()} == {np.float32}


def test_types_are_found_without_shapes():
    a, b = mx.sym.var('a'), mx.sym.var('b')
    for symbol in (mx.sym.dot(a, b), mx.sym.batch_dot(a, b), mx.sym.SequenceMask(a, b, use_sequence_length=True)):
        assert symbol.infer_type(a='float64') == ([np.float64] * 2, [np.float64], [])
    assert mx.sym.where(a, b, b).infer_type(a='int32', b='float16') == ([np.int32, np.float16], [np.float16], [])
    with pytest.warns(UserWarning, match='a, b'):
        assert mx.sym.dot(a, b).infer_type() == (None, None, None)
    with pytest.warns(UserWarning, match='a'):
        assert mx.sym.take(a, b).infer_type(b='int32') == (None, None, None)


def test_graphs_of_integers_are_bound_by_the_shape_of_their_data():
    weight = nd.array(np.random.RandomState(0).normal(0, 0.1, (4, 4, 3, 3)))
    net = mx.sym.Convolution(mx.sym.var('data'), kernel=(3, 3), num_filter=4, no_bias=True, name='conv')
    symbol, args, states = mx.contrib.quantization.quantize_model(
        net, {'conv_weight': weight}, {}, ctx=mx.cpu(), calib_mode='none', quantized_dtype='auto', label_names=None)
    assert symbol.infer_shape(data=(8, 4, 6, 6))[1] == [(8, 4, 4, 4)]
    exe = symbol.simple_bind(mx.cpu(), grad_req='null', data=(8, 4, 6, 6))
    exe.copy_params_from(args, states)
    data = nd.random.uniform(shape=(8, 4, 6, 6))
    exact = nd.Convolution(data, weight, kernel=(3, 3), num_filter=4, no_bias=True)
    np.testing.assert_allclose(exe.forward(data=data)[0].asnumpy(), exact.asnumpy(), atol=0.1)


@pytest.mark.filterwarnings('ignore:mx.model.FeedForward')
def test_feed_forward_takes_networks_whose_types_cannot_be_found():
    data = mx.sym.var('data')
    mixed = mx.sym.take(mx.sym.var('table_weight', shape=(4, 3)), mx.sym.Cast(data, dtype='int32'))
    model = mx.model.FeedForward(mx.sym.SoftmaxOutput(mixed, name='softmax'), num_epoch=1, numpy_batch_size=4)
    model.fit(np.arange(4, dtype='float32'), np.array([0, 1, 2, 0], 'float32'))
    assert model.arg_params['table_weight'].dtype == np.float32


# ---------------------------------------------------------------------- shapes
def test_biases_may_be_a_column():
    x, weight, bias = np.random.rand(2, 3), np.random.rand(5, 3), np.random.rand(5, 1)
    symbol = mx.sym.FullyConnected(mx.sym.var('x'), bias=mx.sym.var('b', shape=(5, 1)), num_hidden=5, name='fc')
    assert symbol.infer_shape(x=(2, 3)) == ([(2, 3), (5, 3), (5, 1)], [(2, 5)], [])
    exe = symbol.bind(mx.cpu(), {'x': nd.array(x), 'fc_weight': nd.array(weight), 'b': nd.array(bias)},
                      args_grad={'b': nd.zeros((5, 1))})
    np.testing.assert_allclose(exe.forward(is_train=True)[0].asnumpy(), x @ weight.T + bias.T, rtol=1e-5)
    exe.backward(nd.ones((2, 5)))
    np.testing.assert_array_equal(exe.grad_dict['b'].asnumpy(), np.full((5, 1), 2))


def test_a_summary_of_layers_that_do_not_know_their_shapes_yet(capsys):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, activation='relu'), nn.Dense(2, activation='tanh'))
    net.initialize()
    net.summary(nd.ones((1, 1, 8, 8)))
    text = capsys.readouterr().out
    assert '(1, 4, 6, 6)' in text and 'Unique parameters in model: 330' in text
    assert re.findall(r'\w+-\d', text) == ['Activation-1', 'Conv2D-2', 'Activation-3', 'Dense-4']


def test_the_memory_of_an_executor_is_in_its_third_line_from_below():
    exe = mx.sym.relu(mx.sym.var('x')).simple_bind(mx.cpu(), x=(2,))
    assert exe.debug_str().split('\n')[-3].startswith('Total ') and 'MB allocated' in exe.debug_str().split('\n')[-3]


# ---------------------------------------------------------------------- writes before backward
def test_arrays_that_networks_keep_are_written_while_recording_pauses():
    """As in a power iteration: backward computes with what the vector has by then, as upstream's."""
    u, weight = nd.ones((1, 3)), nd.ones((3, 3))
    weight.attach_grad()
    for _ in range(2):
        u[:] = 1
        with autograd.record():
            loss = 0
            for _ in range(3):
                loss = loss + nd.dot(nd.dot(u, weight), weight).sum()
                with autograd.pause():
                    u[:] = u + 1
        loss.backward()
        assert u.asnumpy().tolist() == [[4] * 3] and weight.grad.asnumpy().tolist() == [[54] * 3] * 3
    with autograd.record():
        y = nd.dot(u, weight)
    u[:] = 0
    with pytest.raises(mx.MXNetError, match='written in place'):
        y.backward()


def test_pauses_within_pauses():
    x, kept, other = nd.ones(2), nd.ones(2), nd.ones(2)
    x.attach_grad()
    with autograd.record():
        y = x * kept * other
        with autograd.pause():
            kept[:] = 2
            with autograd.record():
                with autograd.pause():
                    other[:] = 3
            kept[:] = 5
    y.backward()
    assert x.grad.asnumpy().tolist() == [15, 15]


def test_predictions_see_what_was_written_in_a_pause():
    net = nn.Dense(2, in_units=2, use_bias=False)
    net.initialize(mx.init.One())
    net.hybridize(static_alloc=True, static_shape=True)
    ones = nd.ones((1, 2))
    for _ in range(4):
        net(ones)
    for value in (2, 3):
        with autograd.record():
            with autograd.pause():
                net.weight.set_data(nd.full((2, 2), value))
        assert net(ones).asnumpy().tolist() == [[2 * value] * 2]


@pytest.mark.parametrize('name, expected', [('relu', 1), ('exp', 5)])
def test_outputs_of_executors_are_written_before_backward(name, expected):
    exe = getattr(mx.sym, name)(mx.sym.var('x')).simple_bind(mx.cpu(), x=(2,))
    exe.arg_dict['x'][:] = 1
    for _ in range(4):                  # without a plan, then with one
        exe.forward(is_train=True)
        exe.outputs[0][:] = 5
        exe.backward(nd.ones(2))
        assert exe.grad_dict['x'].asnumpy().tolist() == [expected] * 2


@pytest.mark.parametrize('last', [mx.sym.BlockGrad, mx.sym.MakeLoss])
def test_losses_need_no_gradients_of_their_outputs(last):
    x = mx.sym.var('x')
    exe = mx.sym.Group([x * 2, last(x * 5)]).simple_bind(mx.cpu(), x=(2,))
    for heads in (nd.ones(2), [nd.ones(2)], [nd.ones(2), None]):
        exe.forward(is_train=True)
        exe.backward(heads)
        assert exe.grad_dict['x'].asnumpy().tolist() == [2 if last is mx.sym.BlockGrad else 7] * 2
    exe = mx.sym.Group([x * 2, mx.sym.LeakyReLU(x, name='leaky')]).simple_bind(mx.cpu(), x=(2,))
    exe.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match='1 gradients given for 2 outputs, but leaky_output needs one'):
        exe.backward([nd.ones(2)])
    module = mx.mod.Module(mx.sym.Group([mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc'),
                                         last(mx.sym.var('data'))]), label_names=None)
    module.bind([('data', (3, 2))])
    module.init_params()
    module.forward(mx.io.DataBatch([nd.ones((3, 2))]), is_train=True)
    module.backward([nd.ones((3, 2))])
    assert module._exec_group.execs[0].grad_dict['fc_bias'].asnumpy().tolist() == [3, 3]


# ---------------------------------------------------------------------- inputs
@mx.operator.register('three inputs')
class ThreeInputs(mx.operator.CustomOpProp):
    def list_arguments(self):
        return ['data', 'mu', 'label']

    def infer_shape(self, in_shape):
        return [in_shape[0]] * 3, [in_shape[0]], []


def test_custom_operators_have_their_inputs_by_name():
    data, label = mx.sym.var('data'), mx.sym.var('label')
    symbol = mx.sym.Custom(data=data, label=label, name='dec', op_type='three inputs')
    assert symbol.list_arguments() == ['data', 'dec_mu', 'label']
    symbol = mx.sym.Custom(label=label, name='dec', op_type='three inputs')
    assert symbol.list_arguments() == ['dec_data', 'dec_mu', 'label']
    symbol = mx.sym.Custom(data, label, name='dec', op_type='three inputs')
    assert symbol.list_arguments() == ['data', 'label', 'dec_label']
    with pytest.raises(mx.MXNetError, match='input mu is missing'):
        nd.Custom(data=nd.ones(2), label=nd.ones(2), op_type='three inputs')


def test_numbers_that_come_as_texts():
    for values in (['1', '2'], [b'1', b'2'], np.array(['1', '2']), np.array(['1', '2'], dtype=object)):
        assert nd.array(values, dtype='int32').asnumpy().tolist() == [1, 2]
    assert nd.array([['1.5', '2'], ['3', '1e3']]).asnumpy().tolist() == [[1.5, 2], [3, 1000]]
    assert nd.array(['9007199254740993'], dtype='int64').asscalar() == 9007199254740993
    with pytest.warns(UserWarning, match='None in an array becomes nan'):
        found = nd.array([None, 1.5]).asnumpy()
    assert np.isnan(found[0]) and found[1] == 1.5
    row = nd.zeros(2)
    row[:] = ['3', '4']
    assert row.asnumpy().tolist() == [3, 4] and mx.np.array(['1.5']).dtype == np.float32
    for wrong in (['a'], [[1], [2, 3]], {'a': 1}):
        with pytest.raises(TypeError, match=f'this {type(wrong).__name__} is not'):
            nd.array(wrong)


@pytest.mark.skipif(np.__version__.startswith('2.3.'), reason='NumPy 2.3 asks for a dtype in `dtype`, and nothing else')
def test_arrays_have_a_dtype_for_numpy():
    assert np.dtype(nd.ones(2, dtype='float16')) == np.float16


@pytest.mark.parametrize('groups, filters', [(6, 6), (2, 4), (6, 12)])
def test_integer_convolutions_of_groups_are_exact(groups, filters):
    random = np.random.RandomState(5)
    for low, high, dtype in (-127, 128, 'int8'), (0, 256, 'uint8'):
        data = nd.array(random.randint(low, high, (2, 6, 7, 7)), dtype=dtype)
        weight = nd.array(random.randint(-127, 128, (filters, 6 // groups, 3, 3)), dtype='int8')
        ends = [nd.array([value]) for value in (-1, 1)]
        found = nd.contrib.quantized_conv(data, weight, *ends, *ends, kernel=(3, 3), num_filter=filters, pad=(1, 1),
                                          stride=(2, 2), num_group=groups, no_bias=True)[0]
        exact = nd.Convolution(data.astype('float64'), weight.astype('float64'), kernel=(3, 3), num_filter=filters,
                               pad=(1, 1), stride=(2, 2), num_group=groups, no_bias=True)
        assert found.dtype == np.int32 and np.array_equal(found.asnumpy(), exact.asnumpy())


class OwnOrder(mx.io.NDArrayIter):
    """Shuffles its arrays itself."""

    def reset(self):
        np.random.shuffle(self.idx)
        self.data = [(name, nd.array(array.asnumpy()[self.idx])) for name, array in self.data]
        self.cursor = -self.batch_size


@pytest.mark.parametrize('shuffle', [True, False])
def test_iterators_whose_arrays_a_program_exchanges(shuffle):
    batches = OwnOrder(np.arange(12), batch_size=5, shuffle=shuffle)
    for _ in range(3):
        batches.reset()
        seen = np.concatenate([batch.data[0].asnumpy() for batch in batches])
        assert seen[:12].tolist() == batches.data[0][1].asnumpy().tolist() and sorted(seen[:12]) == list(range(12))
        assert seen[12:].tolist() == seen[:3].tolist()


# ---------------------------------------------------------------------- names
@pytest.mark.parametrize('module, names', [
    ('mxnet', 'nd sym gluon autograd cpu init mod io viz MXNetError'),
    ('mxnet.gluon', 'Trainer nn rnn loss data utils Block model_zoo contrib'),
    ('mxnet.gluon.contrib', 'cnn data rnn estimator'), ('mxnet.contrib.quantization', 'quantize_model cpu'),
    ('mxnet.model', 'BatchEndParam FeedForward')])
def test_stars_bring_what_is_loaded_late(run_python, module, names):
    run_python('-c', f'from {module} import *\nfor name in {names.split()!r}: assert name in globals(), name')


def test_schedulers_of_old():
    from mxnet import misc
    factor = misc.FactorScheduler(step=2, factor=0.5)
    factor.base_lr = 0.8
    assert [factor(n) for n in range(5)] == [0.8, 0.8, 0.4, 0.4, 0.2]


def test_names_of_the_c_library_can_be_imported():
    from mxnet.base import _LIB, OpHandle, SymbolHandle, mx_uint64  # noqa: F401
    with pytest.raises(AttributeError, match='no C library'):
        _LIB.MXNDArrayCreate()


# ---------------------------------------------------------------------- messages
def test_iterators_leave_the_root_logger_to_the_program(run_python, tmp_path):
    (tmp_path / 'images').write_bytes(struct.pack('>4i', 2051, 8, 28, 28) + bytes(8 * 28 * 28))
    (tmp_path / 'labels').write_bytes(struct.pack('>2i', 2049, 8) + bytes(8))
    done = run_python('-c', '''
import logging, mxnet as mx
mx.io.MNISTIter(image="images", label="labels", batch_size=4, input_shape=(784,))
assert not logging.getLogger().handlers
logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
logging.info("shown")
mx.io.MNISTIter(image="images", label="labels", batch_size=4)
''')
    assert 'root: shown' in done.stderr and 'mxnet.io: MNISTIter: 8 pictures' in done.stderr


# ---------------------------------------------------------------------- programs of others
def test_samples_in_the_place_of_parameters():
    """Bayes by backprop puts samples of weights into `_data`, and differentiates what they were drawn from."""
    for hybridize in (False, True):
        net = gluon.nn.Dense(2, in_units=2, use_bias=False)
        net.initialize()
        if hybridize:
            net.hybridize()
        x = mx.nd.ones((1, 2))
        net(x)
        for factor in (3, 4, 5):
            mean = mx.nd.ones((2, 2))
            mean.attach_grad()
            with autograd.record():
                net.weight._data[0] = mean * factor
                y = net(x)
            y.backward()
            assert (y.asnumpy() == 2 * factor).all() and (mean.grad.asnumpy() == factor).all()
            assert (net.weight.data().asnumpy() == factor).all()
        twin = copy.deepcopy(net)
        twin.weight._data[0] = mx.nd.zeros((2, 2))
        assert not twin(x).asnumpy().any() and net(x).asnumpy().all()


def test_no_head_gradients_at_all():
    """Old modules call `backward` with an empty list."""
    data = mx.sym.var('data')
    scores = mx.sym.reshape(mx.sym.SoftmaxOutput(data, name='softmax'), (1, -1, 3))
    net = mx.sym.Group([scores, mx.sym.BlockGrad(data)])
    executor = net.simple_bind(mx.cpu(), data=(4, 3))
    for _ in range(3):
        executor.forward(is_train=True)
        executor.backward([])
        np.testing.assert_allclose(executor.grad_arrays[0].asnumpy()[0], [-2 / 3, 1 / 3, 1 / 3], 1e-5)


def test_pickles_of_mxnet():
    """What pickle.dumps of MXNet 1.9.1 gives for mx.cpu() and for a symbol."""
    cpu = (b'\x80\x02cmxnet.context\nContext\nq\x00)\x81q\x01}q\x02(X\r\x00\x00\x00device_typeidq\x03K\x01'
           b'X\t\x00\x00\x00device_idq\x04K\x00X\x08\x00\x00\x00_old_ctxq\x05Nub.')
    found = pickle.loads(cpu)
    assert found == mx.cpu() and mx.nd.ones((2,), ctx=found).context == mx.cpu()
    assert pickle.loads(pickle.dumps(found)) is mx.cpu()
    graph = mx.sym.relu(mx.sym.var('x'))
    made = b'\x80\x02cmxnet.symbol.symbol\nSymbol\nN\x85R}X\x06\x00\x00\x00handleX'
    text = graph.tojson().encode()
    assert pickle.loads(made + len(text).to_bytes(4, 'little') + text + b'sb.').list_arguments() == ['x']
    assert b'mxnet.symbol.symbol\nSymbol' in pickle.dumps(graph, 2)
    for protocol in range(6):
        assert pickle.loads(pickle.dumps(graph, protocol)).list_arguments() == ['x']


def test_parts_of_the_model_zoo():
    from mxnet.gluon.model_zoo.vision import densenet, mobilenet, squeezenet
    x = mx.nd.ones((1, 8, 16, 16))
    for part, shape in ((densenet._make_dense_block(2, 4, 6, 0, 1), (1, 20, 16, 16)),
                        (densenet._make_transition(5), (1, 5, 8, 8)),
                        (squeezenet._make_fire(4, 6, 7), (1, 13, 16, 16))):
        part.initialize()
        assert part(x).shape == shape
    out = gluon.nn.HybridSequential()
    mobilenet._add_conv(out, 8, kernel=3, pad=1, relu6=True)
    mobilenet._add_conv_dw(out, dw_channels=8, channels=12, stride=2)
    mobilenet._add_conv(out, 4, active=False)
    out.initialize()
    assert out(x).shape == (1, 4, 8, 8) and len(out) == 3 + 6 + 2


def test_im2rec_by_its_path(tmp_path):
    script = os.path.join(mx.__path__[0], 'tools', 'im2rec.py')
    surroundings = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}
    (tmp_path / 'photos').mkdir()
    (tmp_path / 'photos' / 'a.jpg').write_bytes(b'')
    subprocess.run([sys.executable, script, '--list', 'all', 'photos'], check=True, cwd=tmp_path, env=surroundings)
    assert (tmp_path / 'all.lst').read_text().endswith('a.jpg\n')


def test_normalisation_of_too_few_axes_is_named():
    net = gluon.nn.BatchNorm(axis=1)
    net.initialize()
    with pytest.raises(ValueError, match=r'no axis 1 in data of shape \(4,\)'):
        net(mx.nd.ones((4,)))
    assert type(net.collect_params()).__module__ == 'mxnet.gluon.parameter'
