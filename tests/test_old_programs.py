"""What upstream's own examples and tutorials do that nothing else here does."""
import struct

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
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
    assert '(1, 4, 6, 6)' in text and text.count('Activation') == 2 and 'Unique parameters in model: 330' in text


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
