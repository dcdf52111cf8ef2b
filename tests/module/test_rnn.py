"""Recurrent cells of symbols, sentences in buckets, and their checkpoints."""
import inspect

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, sym

DATA = np.random.RandomState(0).normal(size=(2, 3, 4)).astype('float32')        # batch, time, features


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def fill(executor, seed=1):
    """Random parameters, the same for the same names."""
    values = {}
    for name, array in executor.arg_dict.items():
        if name != 'data':
            random = np.random.RandomState([seed, *name.encode()])
            values[name] = random.normal(size=array.shape).astype('float32') * 0.5
            array[:] = values[name]
    return values


def run(cell, length=3, data=DATA, **kwargs):
    """(outputs as one array, last states, parameters) of a cell that is unrolled over DATA."""
    outputs, states = cell.unroll(length, sym.var('data'), merge_outputs=True, **kwargs)
    flat = [s for part in states for s in (part if isinstance(part, list) else [part])]
    executor = sym.Group([outputs, *flat]).simple_bind(mx.cpu(), data=data.shape, grad_req='null')
    values = fill(executor)
    found = [o.asnumpy() for o in executor.forward(data=nd.array(data))]
    return found[0], found[1:], values


def reference(step, values, prefix, count, data=DATA, size=5):
    states = [np.zeros((len(data), size)) for _ in range(count)]
    outputs = []
    for t in range(data.shape[1]):
        parts = [data[:, t] @ values[f'{prefix}i2h_weight'].T + values[f'{prefix}i2h_bias'],
                 states[0] @ values[f'{prefix}h2h_weight'].T + values[f'{prefix}h2h_bias']]
        states = step(*parts, *states)
        outputs.append(states[0])
    return np.stack(outputs, 1), states


def rnn(i2h, h2h, h):
    return [np.tanh(i2h + h2h)]


def lstm(i2h, h2h, h, c):
    i, f, g, o = np.split(i2h + h2h, 4, 1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return [sigmoid(o) * np.tanh(c), c]


def gru(i2h, h2h, h):
    (ri, zi, ni), (rh, zh, nh) = np.split(i2h, 3, 1), np.split(h2h, 3, 1)
    z = sigmoid(zi + zh)
    return [(1 - z) * np.tanh(ni + sigmoid(ri + rh) * nh) + z * h]


CELLS = {'rnn_': (mx.rnn.RNNCell, rnn, 1), 'lstm_': (mx.rnn.LSTMCell, lstm, 2), 'gru_': (mx.rnn.GRUCell, gru, 1)}


@pytest.mark.parametrize('prefix', CELLS)
def test_cells_compute_what_numpy_does(prefix):
    make, step, count = CELLS[prefix]
    outputs, states, values = run(make(5))
    expected, last = reference(step, values, prefix, count)
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-5)
    for a, b in zip(states, last, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize('prefix', CELLS)
def test_names(prefix):
    """As MXNet 1.9.1 gives them: files depend on it."""
    cell = CELLS[prefix][0](5)
    outputs, _ = cell.unroll(2, [sym.var('a'), sym.var('b')])
    group = sym.Group(outputs)
    assert sorted(cell.params._params) == [f'{prefix}{n}' for n in ('h2h_bias', 'h2h_weight', 'i2h_bias', 'i2h_weight')]
    assert group.list_outputs() == [f'{prefix}t0_out_output', f'{prefix}t1_out_output']
    inner = {'rnn_': 't0_i2h_output', 'lstm_': 't0_slice_output0', 'gru_': 't0__i2h_slice_output0'}[prefix]
    assert prefix + inner in group.get_internals().list_outputs()
    assert f'{prefix}begin_state_0' in [n.name for n in group.get_internals()]


def test_recorded_cell(shared):
    """The unrolled cell that MXNet 1.9.1 wrote is what ours unrolls to, or runs at least."""
    folder = shared / 'golden' / 'files'
    symbol = sym.load(str(folder / 'cell-symbol.json'))
    with np.load(folder / 'expected.npz') as recorded:
        values = {k[len('cell/'):]: recorded[k] for k in recorded.files if k.startswith('cell/')}
    found = symbol.bind(mx.cpu(), {n: nd.array(values[n]) for n in symbol.list_arguments()}).forward()
    np.testing.assert_allclose(found[0].asnumpy(), values['output0'], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize('layout', ['NTC', 'TNC'])
@pytest.mark.parametrize('mode', ['rnn_relu', 'rnn_tanh', 'lstm', 'gru'])
@pytest.mark.parametrize('bidirectional', [False, True])
@pytest.mark.filterwarnings('ignore:FusedRNNCell')
def test_fused_cells_and_what_they_are_made_of(mode, bidirectional, layout):
    """A fused cell, and the stack of plain ones that it is unfused to, with the same weights."""
    data = DATA if layout == 'NTC' else DATA.swapaxes(0, 1)
    fused = mx.rnn.FusedRNNCell(5, num_layers=2, mode=mode, bidirectional=bidirectional, prefix='x_')
    outputs, _, values = run(fused, layout=layout, data=data)
    parts = fused.unpack_weights({'x_parameters': nd.array(values['x_parameters'])})
    stack = fused.unfuse()
    unrolled, _ = stack.unroll(3, sym.var('data'), layout=layout, merge_outputs=True)
    packed = stack.pack_weights(parts)
    executor = unrolled.bind(mx.cpu(), {**packed, 'data': nd.array(data)})
    np.testing.assert_allclose(executor.forward()[0].asnumpy(), outputs, rtol=1e-4, atol=1e-5)
    again = fused.pack_weights(stack.unpack_weights(packed))
    assert (again['x_parameters'].asnumpy() == values['x_parameters']).all()
    assert outputs.shape == (*data.shape[:2], 10 if bidirectional else 5)


@pytest.mark.parametrize('mode, count', [('lstm', 2), ('gru', 1)])
def test_states_of_fused_cells(mode, count):
    cell = mx.rnn.FusedRNNCell(5, mode=mode, get_next_state=True)
    outputs, states, values = run(cell, layout='TNC', data=DATA.swapaxes(0, 1).copy())
    packed = {f'{mode}_parameters': nd.array(values[f'{mode}_parameters'])}
    parts = cell.unfuse().pack_weights(cell.unpack_weights(packed))
    parts = {name: array.asnumpy() for name, array in parts.items()}
    expected, last = reference({'lstm': lstm, 'gru': gru}[mode], parts, f'{mode}_l0_', count)
    np.testing.assert_allclose(outputs, expected.swapaxes(0, 1), rtol=1e-4, atol=1e-5)
    assert len(states) == count
    for a, b in zip(states, last, strict=True):
        np.testing.assert_allclose(a[0], b, rtol=1e-4, atol=1e-5)
    cell.reset()
    begin = cell.begin_state(func=sym.Variable)
    assert [s.name for s in begin] == [f'{mode}_begin_state_{i}' for i in range(count)]
    assert begin[0].attr('__layout__') == 'LNC' and cell.state_shape == [(1, 0, 5)] * count


def test_fused_cells_are_checked():
    cell = mx.rnn.FusedRNNCell(5, dropout=0.5, num_layers=2)
    assert any(isinstance(c, mx.rnn.DropoutCell) for c in cell.unfuse()._cells)
    with pytest.raises(NotImplementedError, match='cannot be stepped'):
        cell(sym.var('data'), [])
    with pytest.raises(AssertionError, match="layout 'NCT' is not supported"):
        cell.unroll(3, sym.var('data'), layout='NCT')
    with pytest.warns(UserWarning, match="layout 'TNC' is faster"):
        cell.unroll(3, sym.var('data'))
    with pytest.raises(AssertionError, match='lstm_parameters has 13 elements'):
        cell.unpack_weights({'lstm_parameters': nd.zeros((13,))})


def test_forget_bias():
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.LSTMCell(5, prefix='a_', forget_bias=2.0))
    stack.add(mx.rnn.LSTMCell(5, prefix='b_', forget_bias=0.5))
    outputs, _ = stack.unroll(3, sym.var('data'), merge_outputs=True)
    module = mx.mod.Module(outputs, label_names=None)
    module.bind([('data', (2, 3, 4))])
    module.init_params()
    biases = module.get_params()[0]
    assert biases['a_i2h_bias'].asnumpy().tolist() == [0] * 5 + [2] * 5 + [0] * 10
    assert biases['b_i2h_bias'].asnumpy()[5:10].tolist() == [0.5] * 5


def test_stacks():
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.RNNCell(5, prefix='a_'))
    stack.add(mx.rnn.DropoutCell(0.5))
    stack.add(mx.rnn.LSTMCell(5, prefix='b_'))
    outputs, states, values = run(stack)
    first, _ = reference(rnn, values, 'a_', 1)
    expected, last = reference(lstm, values, 'b_', 2, data=first)
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-5)
    assert len(states) == 3 and len(stack.state_info) == 3
    stack.reset()
    output, states = stack(sym.var('x'), stack.begin_state())
    assert output.list_outputs() == ['b_t0_out_output'] and len(states) == 3
    assert sorted(stack.params._params) == sorted(values)


def test_shared_weights():
    params = mx.rnn.RNNParams('shared_')
    one, other = mx.rnn.RNNCell(5, prefix='a_', params=params), mx.rnn.RNNCell(5, prefix='b_', params=params)
    assert one._iW is other._iW and one._iW.name == 'shared_i2h_weight'
    stack = mx.rnn.SequentialRNNCell(params=mx.rnn.RNNParams('s_'))
    with pytest.raises(AssertionError, match='either it or its cells have params'):
        stack.add(one)


def test_both_directions():
    cell = mx.rnn.BidirectionalCell(mx.rnn.GRUCell(5, prefix='l_'), mx.rnn.GRUCell(5, prefix='r_'), output_prefix='x_')
    outputs, states, values = run(cell)
    left, _ = reference(gru, values, 'l_', 1)
    right, _ = reference(gru, values, 'r_', 1, data=DATA[:, ::-1])
    np.testing.assert_allclose(outputs, np.concatenate([left, right[:, ::-1]], 2), rtol=1e-4, atol=1e-5)
    assert len(states) == 2
    parts, _ = cell.unroll(3, sym.var('data'))
    assert [p.name for p in parts] == ['x_t0', 'x_t1', 'x_t2']
    with pytest.raises(NotImplementedError, match='cannot be stepped'):
        cell(sym.var('x'), [])
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.BidirectionalCell(mx.rnn.GRUCell(5, prefix='m_'), mx.rnn.GRUCell(5, prefix='n_')))
    with pytest.raises(AssertionError, match='cannot be stepped'):
        stack(sym.var('x'), stack.begin_state())


def test_a_mixture_of_merged_and_listed_outputs():
    """A fused cell gives one symbol, a plain one a list."""
    fused = mx.rnn.FusedRNNCell(5, mode='gru', prefix='f_')
    cell = mx.rnn.BidirectionalCell(fused, mx.rnn.GRUCell(5, prefix='r_'))
    outputs, _ = cell.unroll(3, [sym.var(n) for n in 'abc'], layout='TNC')
    assert isinstance(outputs, list) and len(outputs) == 3


def test_residual():
    wide = np.concatenate([DATA, DATA[:, :, :1]], 2)
    outputs, _, values = run(mx.rnn.ResidualCell(mx.rnn.GRUCell(5, prefix='x_')), data=wide)
    expected, _ = reference(gru, values, 'x_', 1, data=wide)
    np.testing.assert_allclose(outputs, expected + wide, rtol=1e-4, atol=1e-5)
    cell = mx.rnn.ResidualCell(mx.rnn.GRUCell(5, prefix='x_'))
    parts, _ = cell.unroll(2, [sym.var('a'), sym.var('b')])
    assert [p.name for p in parts] == ['x_t0_out_plus_residual', 'x_t1_out_plus_residual']
    assert cell(sym.var('a'), cell.begin_state())[0].name == 'x_t2_out_plus_residual'
    with pytest.raises(AssertionError, match='use the modifier'):
        cell.base_cell.begin_state()
    assert cell.params is cell.base_cell.params and cell.state_info == cell.base_cell.state_info


def test_zoneout():
    """Outside training nothing stays; with a share of 1 all of it does."""
    outputs, _, values = run(mx.rnn.ZoneoutCell(mx.rnn.RNNCell(5, prefix='x_'), 0.5, 0.5))
    expected, _ = reference(rnn, values, 'x_', 1)
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-5)
    cell = mx.rnn.ZoneoutCell(mx.rnn.RNNCell(5, prefix='x_'), zoneout_outputs=0.5)
    unrolled, _ = cell.unroll(3, sym.var('data'), merge_outputs=True)
    executor = unrolled.simple_bind(mx.cpu(), data=DATA.shape)
    fill(executor)
    found = executor.forward(is_train=True, data=nd.array(DATA))[0].asnumpy()
    stays = (found[:, 0] == 0)
    assert 0 < stays.sum() < stays.size and cell.prev_output is not None
    cell.reset()
    assert cell.prev_output is None
    fused = mx.rnn.FusedRNNCell(5)
    both = mx.rnn.BidirectionalCell(mx.rnn.RNNCell(5, prefix='l_'), mx.rnn.RNNCell(5, prefix='r_'))
    stack = mx.rnn.SequentialRNNCell()
    stack.add(both)
    for wrong in (fused, both, stack):
        with pytest.raises(AssertionError, match='has no zoneout'):
            mx.rnn.ZoneoutCell(wrong)


def test_modifiers_of_modifiers_and_stacks():
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.LSTMCell(4, prefix='a_'))
    cell = mx.rnn.ResidualCell(mx.rnn.ZoneoutCell(stack))
    assert [s.name for s in cell.begin_state(func=sym.Variable)] == ['a_begin_state_0', 'a_begin_state_1']
    weights = {f'a_{n}': nd.ones(s) for n, s in (('i2h_weight', (16, 4)), ('h2h_weight', (16, 4)), ('i2h_bias', (16,)),
                                                 ('h2h_bias', (16,)))}
    parts = cell.unpack_weights(weights)
    assert parts['a_i2h_f_weight'].shape == (4, 4) and len(parts) == 16
    assert {n: a.shape for n, a in cell.pack_weights(parts).items()} == {n: a.shape for n, a in weights.items()}
    with pytest.raises(NotImplementedError, match='cannot be stepped'):
        mx.rnn.ModifierCell(mx.rnn.RNNCell(4))(None, None)


def test_dropout():
    cell = mx.rnn.DropoutCell(0.0)
    x = sym.var('x')
    assert cell(x, [])[0] is x and cell.state_info == [] and cell.begin_state() == []
    assert mx.rnn.DropoutCell(0.5).unroll(2, x)[0].list_arguments() == ['x']
    assert len(mx.rnn.DropoutCell(0.5).unroll(2, [x, x])[0]) == 2
    with pytest.raises(AssertionError, match='dropout must be a number'):
        mx.rnn.DropoutCell('a')


def test_inputs_are_checked():
    cell = mx.rnn.RNNCell(5)
    with pytest.raises(AssertionError, match='inputs is missing'):
        cell.unroll(3, None)
    with pytest.raises(AssertionError, match='1 inputs for 3 steps'):
        cell.unroll(3, [sym.var('a')])
    with pytest.raises(AssertionError, match='a group of symbols is not accepted'):
        cell.unroll(2, sym.Group([sym.var('a'), sym.var('b')]))
    base = mx.rnn.BaseRNNCell()
    with pytest.raises(NotImplementedError):
        base(None, None)
    with pytest.raises(NotImplementedError):
        base.begin_state()
    assert base.unpack_weights({'a': 1}) == {'a': 1} == base.pack_weights({'a': 1})
    with pytest.warns(DeprecationWarning, match='call cell.unroll'):
        assert len(mx.rnn.rnn_unroll(cell, 2, [sym.var('a'), sym.var('b')])[0]) == 2
    relu = mx.rnn.RNNCell(5, activation=lambda x, **kwargs: sym.relu(x, **kwargs), prefix='q_')
    assert relu(sym.var('a'), relu.begin_state())[0].name == 'q_t0_out'


@pytest.mark.parametrize('make, gates, states', [(mx.rnn.ConvRNNCell, 1, 1), (mx.rnn.ConvLSTMCell, 4, 2),
                                                 (mx.rnn.ConvGRUCell, 3, 1)])
@pytest.mark.parametrize('layout', ['NCHW', 'NHWC'])
def test_convolutional_cells(make, gates, states, layout):
    """On pictures of one pixel, with kernels of one, they are the plain cells."""
    shape = (2, 4, 1, 1) if layout == 'NCHW' else (2, 1, 1, 4)
    cell = make(shape, 5, h2h_kernel=(1, 1), i2h_kernel=(1, 1), i2h_pad=(0, 0), activation='tanh', prefix='x_',
                conv_layout=layout)
    assert len(cell.state_info) == states and cell._num_gates == gates
    assert inspect.signature(make).parameters['prefix'].default == make.__name__.removesuffix('Cell') + '_'
    data = DATA.reshape((2, 3, *shape[1:]))
    outputs, _, values = run(cell, data=data)
    values = {n: v.reshape((v.shape[0], -1)) if v.ndim == 4 else v for n, v in values.items()}
    expected, _ = reference({1: rnn, 4: lstm, 3: gru}[gates], values, 'x_', states)
    np.testing.assert_allclose(outputs.reshape((2, 3, 5)), expected, rtol=1e-4, atol=1e-5)


def test_convolutional_cells_keep_their_size():
    cell = mx.rnn.ConvLSTMCell((1, 3, 8, 6), 4, h2h_dilate=(2, 2), i2h_stride=(2, 2))
    assert cell.state_shape == [(0, 4, 4, 3)] * 2
    outputs, _ = cell.unroll(2, [sym.var('a'), sym.var('b')])
    assert sym.Group(outputs).infer_shape(a=(1, 3, 8, 6), b=(1, 3, 8, 6))[1] == [(1, 4, 4, 3)] * 2
    with pytest.raises(AssertionError, match='h2h_kernel must be odd'):
        mx.rnn.ConvRNNCell((1, 3, 8, 8), 4, h2h_kernel=(2, 2))
    base = mx.rnn.BaseConvRNNCell((1, 3, 8, 8), 4, (3, 3), (1, 1), (3, 3), (1, 1), (1, 1), (1, 1), None, None, 'zeros',
                                  'zeros', 'relu')
    assert len(base.state_info) == 2
    with pytest.raises(NotImplementedError):
        base(None, None)


# ---------------------------------------------------------------------- checkpoints
def test_checkpoints(tmp_path):
    cell = mx.rnn.LSTMCell(5)
    outputs, _ = cell.unroll(3, sym.var('data'), merge_outputs=True)
    executor = outputs.simple_bind(mx.cpu(), data=DATA.shape)
    values = {name: nd.array(value) for name, value in fill(executor).items()}
    prefix = str(tmp_path / 'model')
    save = mx.rnn.do_rnn_checkpoint(cell, prefix, period=2)
    save(0, outputs, values, {})
    assert not list(tmp_path.iterdir())
    save(1, outputs, values, {})
    assert 'arg:lstm_i2h_f_weight' in nd.load(prefix + '-0002.params')
    symbol, arg, aux = mx.rnn.load_rnn_checkpoint([cell], prefix, 2)
    assert symbol.tojson() == outputs.tojson() and aux == {} and arg.keys() == values.keys()
    assert all((arg[n].asnumpy() == values[n].asnumpy()).all() for n in arg)


# ---------------------------------------------------------------------- sentences
def test_encode_sentences():
    sentences = [['a', 'b', 'c'], ['b', 'c', 'd']]
    assert mx.rnn.encode_sentences(sentences) == ([[0, 1, 2], [1, 2, 3]], {'\n': -1, 'a': 0, 'b': 1, 'c': 2, 'd': 3})
    found = mx.rnn.encode_sentences(sentences, invalid_label=1, invalid_key='end', start_label=1)
    assert found == ([[2, 3, 4], [3, 4, 5]], {'end': 1, 'a': 2, 'b': 3, 'c': 4, 'd': 5})
    known = {'a': 1, 'b': 2, 'c': 3}
    with pytest.raises(AssertionError, match="the word 'd' is not in the vocabulary"):
        mx.rnn.encode_sentences(sentences, vocab=known)
    found = mx.rnn.encode_sentences([*sentences, ['e', 'd']], vocab=known, unknown_token='UNK')
    assert found == ([[1, 2, 3], [2, 3, 0], [0, 0]], {'a': 1, 'b': 2, 'c': 3, 'UNK': 0})


def test_sentences_in_buckets(capsys):
    sentences = [[1, 2], [3, 4], [5], [6, 7, 8], [9, 10, 11], [1] * 9]
    batches = mx.rnn.BucketSentenceIter(sentences, batch_size=2, buckets=[4, 2, 7], invalid_label=0)
    assert capsys.readouterr().out == 'WARNING: discarded 1 sentences longer than the largest bucket.\n'
    assert batches.buckets == [2, 4] and batches.default_bucket_key == 4, 'empty buckets go'
    assert batches.provide_data == [('data', (2, 4))] and batches.provide_label == [('softmax_label', (2, 4))]
    for _ in range(2):
        found = list(batches)
        assert sorted(b.bucket_key for b in found) == [2, 4]
        for batch in found:
            data, label = batch.data[0].asnumpy(), batch.label[0].asnumpy()
            assert data.shape == label.shape == (2, batch.bucket_key) == batch.provide_data[0].shape
            assert (label[:, :-1] == data[:, 1:]).all() and (label[:, -1] == 0).all(), 'the label is the next word'
        batches.reset()


def test_lengths_are_found_and_layouts():
    sentences = [[1, 2, 3]] * 4 + [[1, 2]] + [[1]] * 4
    batches = mx.rnn.BucketSentenceIter(sentences, 4, layout='TN', dtype='int32', data_name='x', label_name='y')
    assert batches.buckets == [1, 3] and batches.provide_data[0].shape == (3, 4)
    assert batches.provide_data[0].layout == 'TN' and batches.provide_label[0].name == 'y'
    shapes = {b.bucket_key: (b.data[0].shape, b.data[0].dtype) for b in batches}
    assert shapes == {1: ((1, 4), np.int32), 3: ((3, 4), np.int32)}
    with pytest.raises(ValueError, match="layout must be 'NT' or 'TN', not 'TC'"):
        mx.rnn.BucketSentenceIter(sentences, 4, layout='TC')
    with pytest.raises(ValueError, match='no sentence fits'):
        mx.rnn.BucketSentenceIter([[1, 2]], 1, buckets=[1])


def test_a_language_model_learns():
    random = np.random.RandomState(0)
    sentences = [[(start + i) % 8 + 1 for i in range(random.randint(3, 7))] for start in random.randint(0, 8, 64)]
    batches = mx.rnn.BucketSentenceIter(sentences, 8, buckets=[4, 6], invalid_label=0)
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.LSTMCell(12, prefix='l0_'))

    def generate(length):
        stack.reset()
        embedded = sym.Embedding(sym.var('data'), input_dim=10, output_dim=8, name='embed')
        outputs, _ = stack.unroll(length, embedded, merge_outputs=True)
        scores = sym.FullyConnected(sym.Reshape(outputs, shape=(-1, 12)), num_hidden=10, name='pred')
        label = sym.Reshape(sym.var('softmax_label'), shape=(-1,))
        loss = sym.SoftmaxOutput(scores, label, use_ignore=True, ignore_label=0, name='softmax')
        return loss, ('data',), ('softmax_label',)

    mx.random.seed(0)
    module = mx.mod.BucketingModule(generate, batches.default_bucket_key)
    module.fit(batches, eval_metric=mx.metric.Perplexity(0), num_epoch=20, optimizer='adam',
               optimizer_params={'learning_rate': 0.05}, initializer=mx.init.Xavier())
    assert module.score(batches, mx.metric.Perplexity(0))[0][1] < 2
