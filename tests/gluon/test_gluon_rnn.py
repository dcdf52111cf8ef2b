"""Recurrent cells and layers: against torch, against each other, in graphs, with lengths, in files."""
import inspect
import itertools
import pickle

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import contrib, rnn

MODES = {'rnn_tanh': (rnn.RNN, rnn.RNNCell, torch.nn.RNN, {'activation': 'tanh'}),
         'rnn_relu': (rnn.RNN, rnn.RNNCell, torch.nn.RNN, {'activation': 'relu'}),
         'lstm': (rnn.LSTM, rnn.LSTMCell, torch.nn.LSTM, {}),
         'gru': (rnn.GRU, rnn.GRUCell, torch.nn.GRU, {})}


def random(*shape, dtype='float32'):
    return mx.nd.array(np.random.default_rng(sum(shape)).normal(size=shape), dtype=dtype)


def same(a, b, tolerance=1e-5):
    np.testing.assert_allclose(a.asnumpy(), b.asnumpy() if hasattr(b, 'asnumpy') else b, tolerance, tolerance)


def names_of(outputs):
    return outputs.list_outputs()


# ---------------------------------------------------------------------- layers
@pytest.mark.parametrize('mode, layers, bidirectional', list(itertools.product(MODES, (1, 2), (False, True))))
def test_layers_compute_what_torch_does(mode, layers, bidirectional):
    make, _, theirs, options = MODES[mode]
    layer = make(5, layers, bidirectional=bidirectional, **options)
    layer.initialize(mx.init.Uniform(0.5))
    x = random(4, 2, 3)
    states = layer.begin_state(2, func=mx.nd.ones)
    output, new_states = layer(x, states)
    kind = {'nonlinearity': options['activation']} if options else {}
    other = theirs(3, 5, layers, bidirectional=bidirectional, **kind)
    for name, param in layer.collect_params().items():
        side, _, part = name.removeprefix(layer.prefix).partition('_')
        part, _, what = part.partition('_')
        suffix = '_reverse' if side[0] == 'r' else ''
        own = getattr(other, f'{what}_{"ih" if part == "i2h" else "hh"}_l{side[1:]}{suffix}')
        own.data = torch.from_numpy(param.data().asnumpy())
    begin = [torch.from_numpy(s.asnumpy()) for s in states]
    expected, last = other(torch.from_numpy(x.asnumpy()), tuple(begin) if mode == 'lstm' else begin[0])
    same(output, expected.detach().numpy())
    for ours, wanted in zip(new_states, last if mode == 'lstm' else [last], strict=True):
        same(ours, wanted.detach().numpy())


@pytest.mark.parametrize('mode, layout, bidirectional', list(itertools.product(MODES, ('TNC', 'NTC'), (False, True))))
def test_a_layer_and_its_cells_agree(mode, layout, bidirectional):
    """Outputs, states and gradients, and the layer hybridized."""
    make, _, _, options = MODES[mode]
    layer = make(4, 3, layout=layout, bidirectional=bidirectional, **options)
    stack = layer._unfuse()
    layer.initialize(mx.init.Uniform(0.5))
    x = random(3, 3, 2)
    found = []
    for run in (lambda: layer(x, layer.begin_state(3)), lambda: layer(x, layer.begin_state(3)),
                lambda: stack.unroll(3, x, layout=layout, merge_outputs=True)):
        with mx.autograd.record():
            output, states = run()
        output.backward()
        found.append((output, states, [p.grad().copy() for p in layer.collect_params().values()]))
        layer.hybridize()
    for output, states, gradients in found[1:]:
        same(output, found[0][0])
        for a, b in zip(gradients, found[0][2], strict=True):
            same(a, b)
        if len(states) == len(found[0][1]):
            for a, b in zip(states, found[0][1], strict=True):
                same(a, b)


def test_a_projection_and_its_cells_agree():
    layer = rnn.LSTM(6, 2, projection_size=3, bidirectional=True)
    stack = layer._unfuse()
    layer.initialize(mx.init.Uniform(0.5))
    x = random(4, 2, 5)
    output, (h, c) = layer(x, layer.begin_state(2))
    assert (output.shape, h.shape, c.shape) == ((4, 2, 6), (4, 2, 3), (4, 2, 6))
    same(output, stack.unroll(4, x, layout='TNC', merge_outputs=True)[0])
    assert 'l0_h2r_weight' in layer._reg_params


def test_parameters_have_upstreams_names():
    layer = rnn.GRU(3, 2, bidirectional=True, prefix='g_')
    assert list(layer.collect_params())[:5] == ['g_l0_i2h_weight', 'g_l0_h2h_weight', 'g_l0_i2h_bias', 'g_l0_h2h_bias',
                                                'g_r0_i2h_weight']
    assert list(layer._collect_params_with_prefix())[4] == '_unfused.0.r_cell.i2h_weight'
    assert list(rnn.GRU(3)._collect_params_with_prefix('0'))[0] == '0._unfused.0.i2h_weight'
    deep = rnn.RNN(2, num_layers=11)
    assert '_unfused.10.h2h_bias' in deep._collect_params_with_prefix()


def test_files_go_round(tmp_path):
    first, second = (rnn.LSTM(3, 2, bidirectional=True, input_size=2) for _ in range(2))
    first.initialize()
    first.save_parameters(str(tmp_path / 'a.params'))
    second.load_parameters(str(tmp_path / 'a.params'))
    x = random(3, 1, 2)
    same(first(x), second(x), 0)


def test_states_decide_what_a_layer_returns():
    layer = rnn.LSTM(3)
    layer.initialize()
    x = random(2, 1, 4)
    for _ in range(2):
        assert isinstance(layer(x), mx.nd.NDArray)
        output, states = layer(x, layer.begin_state(1))
        assert len(states) == 2
        same(output, layer(x))
        layer.hybridize()
    one = rnn.GRU(3)
    one.initialize()
    assert len(one(x, one.begin_state(1)[0])) == 2              # a single state needs no list
    with pytest.raises(ValueError, match=r'\(1, 1, 3\).*have \[\(1, 2, 3\)\]'):
        one(x, mx.nd.zeros((1, 2, 3)))


@pytest.mark.parametrize('bidirectional', (False, True))
def test_sequences_of_different_lengths(bidirectional):
    layer = rnn.LSTM(3, 2, bidirectional=bidirectional, use_sequence_length=True)
    plain = rnn.LSTM(3, 2, bidirectional=bidirectional, params=layer.params, prefix=layer.prefix)
    layer.initialize(mx.init.Uniform(0.5))
    x = random(5, 3, 2)
    lengths = [5, 2, 3]
    output, (h, c) = layer(x, layer.begin_state(3), mx.nd.array(lengths))
    for i, n in enumerate(lengths):
        alone, (h1, c1) = plain(x[:n, i:i + 1], plain.begin_state(1))
        same(output[:n, i:i + 1], alone)
        assert not output[n:, i].asnumpy().any()
        same(h[:, i:i + 1], h1)
        same(c[:, i:i + 1], c1)
    with pytest.raises(ValueError, match='sequence_length'):
        layer(x)
    with pytest.warns(UserWarning, match='use_sequence_length=True'):
        plain(x, sequence_length=mx.nd.array(lengths))


def test_layers_in_nets():
    net = gluon.nn.HybridSequential()
    net.add(rnn.LSTM(4, 2, layout='NTC', bidirectional=True, dropout=0.3), gluon.nn.Dense(2, flatten=False))
    net.initialize()
    plain = net(random(3, 5, 2))
    net.hybridize()
    same(net(random(3, 5, 2)), plain)
    assert net(random(7, 5, 2)).shape == (7, 5, 2)              # another batch size
    assert net[0].l0_i2h_weight.shape == net[0].r0_i2h_weight.shape == (16, 2)


def test_dtypes():
    layer = rnn.GRU(3, dtype='float64')
    layer.initialize()
    assert layer(random(2, 1, 4, dtype='float64')).dtype == np.float64
    layer.cast('float32')
    assert layer(random(2, 1, 4)).dtype == np.float32 and layer.state_info(1)[0]['dtype'] == 'float32'
    cell = rnn.LSTMCell(3)
    cell.cast('float64')
    cell.initialize()
    outputs, states = cell.unroll(2, random(1, 2, 4, dtype='float64'), merge_outputs=True)
    assert outputs.dtype == states[0].dtype == np.float64


def test_dropout_is_between_layers_and_in_training_only():
    layer = rnn.RNN(50, 2, dropout=0.5)
    layer.initialize(mx.init.Uniform(0.5))
    x = random(3, 2, 4)
    same(layer(x), layer(x), 0)
    with mx.autograd.train_mode():
        assert (layer(x).asnumpy() != layer(x).asnumpy()).any()


@pytest.mark.parametrize('layer, text', [
    (rnn.LSTM(3, 2, bidirectional=True), 'LSTM(None -> 3, TNC, num_layers=2, bidirectional)'),
    (rnn.RNN(4, dropout=0.2, input_size=7), 'RNN(7 -> 4, TNC, dropout=0.2)'),
    (rnn.GRU(4, 2, layout='NTC'), 'GRU(None -> 4, NTC, num_layers=2)'),
    (rnn.LSTMCell(3), 'LSTMCell(None -> 12)'),
    (rnn.RNNCell(3, input_size=2), 'RNNCell(2 -> 3, tanh)'),
    (rnn.ZoneoutCell(rnn.LSTMCell(3), 0.1, 0.2), 'ZoneoutCell(p_out=0.1, p_state=0.2, LSTMCell(None -> 12))'),
    (rnn.ResidualCell(rnn.GRUCell(3)), 'ResidualCell(GRUCell(None -> 9))'),
    (rnn.BidirectionalCell(rnn.RNNCell(3), rnn.RNNCell(3)),
     'BidirectionalCell(forward=RNNCell(None -> 3, tanh), backward=RNNCell(None -> 3, tanh))'),
    (rnn.DropoutCell(0.3), 'DropoutCell(rate=0.3, axes=())'),
    (contrib.rnn.LSTMPCell(3, 2), 'LSTMPCell(None -> 12 -> 2)'),
    (contrib.rnn.VariationalDropoutCell(rnn.RNNCell(2)), 'VariationalDropoutCell(p_out = 0.0, p_state = 0.0)'),
    (contrib.rnn.Conv2DLSTMCell((3, 8, 8), 4, 3, 3), 'Conv2DLSTMCell(3 -> 16, tanh, NCHW)'),
], ids=lambda x: x if isinstance(x, str) else '')
def test_layers_and_cells_print_as_upstreams(layer, text):
    assert repr(layer) == text


def test_the_weights_of_a_projected_cell_have_upstreams_order():
    # a Trainer numbers parameters in this order, and a file of optimizer states has these numbers
    cell = contrib.rnn.LSTMPCell(4, 3, input_size=2, prefix='')
    assert list(cell.collect_params()) == ['i2h_weight', 'h2h_weight', 'h2r_weight', 'i2h_bias', 'h2h_bias']


# ---------------------------------------------------------------------- cells
@pytest.mark.parametrize('dims, layout', [(1, 'NCW'), (2, 'NCHW'), (3, 'NCDHW')])
@pytest.mark.parametrize('kind, gates', [('RNN', 1), ('LSTM', 4), ('GRU', 3)])
def test_convolutional_cells_show_their_dimensions(kind, gates, dims, layout):
    cls = getattr(contrib.rnn, f'Conv{dims}D{kind}Cell')
    defaults = {p.name: p.default for p in inspect.signature(cls).parameters.values()}
    assert list(defaults)[:4] == ['input_shape', 'hidden_channels', 'i2h_kernel', 'h2h_kernel']
    assert [defaults[n] for n in ('i2h_pad', 'i2h_dilate', 'h2h_dilate')] == [(0,) * dims, (1,) * dims, (1,) * dims]
    assert (defaults['conv_layout'], defaults['activation']) == (layout, 'tanh')
    assert pickle.loads(pickle.dumps(cls)) is cls

    class Mine(cls):
        """A class of a program's own has the same constructor."""

    cell = Mine((2, *[5] * dims), 3, 3, 3)
    assert repr(cell) == f'Mine(2 -> {3 * gates}, tanh, {layout})'
    assert cell.state_info(4)[0] == {'shape': (4, 3, *[3] * dims), '__layout__': layout}


def test_a_cells_graph_has_upstreams_names():
    cell = rnn.GRUCell(4, prefix='rnn_')
    outputs, states = cell.unroll(2, [mx.sym.var('a'), mx.sym.var('b')])
    assert names_of(mx.sym.Group(outputs)) == ['rnn_t0_out_output', 'rnn_t1_out_output']
    assert sorted(cell.collect_params()) == ['rnn_h2h_bias', 'rnn_h2h_weight', 'rnn_i2h_bias', 'rnn_i2h_weight']
    assert mx.sym.Group(outputs).infer_shape(a=(3, 5), b=(3, 5))[1] == [(3, 4), (3, 4)]
    both = rnn.BidirectionalCell(rnn.LSTMCell(2), rnn.LSTMCell(2), output_prefix='bi_')
    assert names_of(both.unroll(2, mx.sym.var('x'), merge_outputs=True)[0]) == ['bi_out_output']


def cells():
    stack = rnn.HybridSequentialRNNCell()
    stack.add(rnn.LSTMCell(3))
    stack.add(rnn.ResidualCell(rnn.GRUCell(3)))
    return [rnn.RNNCell(3, activation='softsign'), rnn.LSTMCell(3, activation='relu'), rnn.GRUCell(3), stack,
            rnn.BidirectionalCell(rnn.LSTMCell(3), rnn.GRUCell(3)), contrib.rnn.LSTMPCell(4, 3),
            rnn.ResidualCell(rnn.BidirectionalCell(rnn.RNNCell(1), rnn.RNNCell(1)))]


@pytest.mark.parametrize('cell', cells(), ids=lambda cell: type(cell).__name__)
def test_lengths_cut_sequences(cell):
    cell.initialize(mx.init.Uniform(0.5), force_reinit=True)
    x = random(3, 5, 2)
    lengths = [2, 5, 3]
    for layout, inputs in (('NTC', x), ('TNC', x.swapaxes(0, 1)), ('NTC', [x[:, i] for i in range(5)])):
        outputs, states = cell.unroll(5, inputs, layout=layout, merge_outputs=True, valid_length=mx.nd.array(lengths))
        outputs = outputs if layout == 'NTC' else outputs.swapaxes(0, 1)
        for i, n in enumerate(lengths):
            alone, last = cell.unroll(n, x[i:i + 1, :n], merge_outputs=True)
            same(outputs[i:i + 1, :n], alone)
            assert not outputs[i, n:].asnumpy().any()
            for a, b in zip(states, last, strict=True):
                same(a[i:i + 1], b)


@pytest.mark.parametrize('cell', cells()[:4], ids=lambda cell: type(cell).__name__)
def test_steps_and_unrolling_agree_hybridized_or_not(cell):
    cell.initialize(mx.init.Uniform(0.5), force_reinit=True)
    x = random(2, 4, 3)
    whole, last = cell.unroll(4, x, merge_outputs=True)
    for _ in range(2):
        states = cell.begin_state(batch_size=2)
        cell.reset()
        for t in range(4):
            output, states = cell(x[:, t], states)
            same(output, whole[:, t])
        for a, b in zip(states, last, strict=True):
            same(a, b)
        cell.hybridize()


def test_merging():
    cell = rnn.RNNCell(3)
    cell.initialize()
    x = random(2, 4, 5)
    steps, _ = cell.unroll(4, x)
    assert isinstance(steps, list) and len(steps) == 4
    merged, _ = cell.unroll(4, steps_of(x), merge_outputs=True, layout='TNC')
    assert merged.shape == (4, 2, 3)
    same(merged[2], steps[2])
    assert len(cell.unroll(1, x[:, :1], merge_outputs=False)[0]) == 1


def steps_of(x):
    return [x[:, i] for i in range(x.shape[1])]


@pytest.mark.parametrize('arguments, message', [
    ((3, None), 'needs inputs'),
    ((3, mx.nd.ones((2, 4, 5))), r'length is 3, but axis 1 of inputs of shape \(2, 4, 5\)'),
    ((3, [mx.nd.ones((2, 5))] * 2), 'inputs has 2 steps'),
    ((2, []), 'at least one step'),
    ((2, mx.sym.Group([mx.sym.var('a'), mx.sym.var('b')])), 'group of 2 symbols'),
    ((4, mx.nd.ones((2, 4, 5)), None, 'NC'), "layout 'NC'"),
], ids=range(6))
def test_wrong_inputs_of_unroll(arguments, message):
    with pytest.raises(ValueError, match=message):
        rnn.RNNCell(3).unroll(*arguments)


def test_modifiers_guard_their_cells():
    cell = rnn.LSTMCell(3)
    outer = rnn.ResidualCell(cell)
    with pytest.raises(AssertionError, match='modifier'):
        cell.begin_state(batch_size=1)
    with pytest.raises(AssertionError, match='modifier'):
        rnn.ZoneoutCell(cell)
    assert outer.begin_state(batch_size=2)[0].shape == (2, 3)
    assert isinstance(outer.begin_state()[0], mx.sym.Symbol)
    with pytest.raises(AssertionError, match='single steps'):
        rnn.ZoneoutCell(rnn.BidirectionalCell(rnn.RNNCell(1), rnn.RNNCell(1)))
    with pytest.raises(NotImplementedError, match='unroll'):
        rnn.BidirectionalCell(rnn.RNNCell(1), rnn.RNNCell(1))(mx.nd.ones((1, 1)), [])


@pytest.mark.parametrize('hybridize', (False, True))
def test_zoneout_keeps_values_of_the_step_before(hybridize):
    cell = rnn.ZoneoutCell(rnn.RNNCell(200), zoneout_outputs=0.5, zoneout_states=0.25)
    cell.initialize(mx.init.Uniform(0.5))
    if hybridize:
        cell.hybridize()
    x = random(1, 3, 4)
    with mx.autograd.train_mode():
        outputs, states = cell.unroll(3, x, merge_outputs=True)
    first, second, third = (outputs[0, i].asnumpy() for i in range(3))
    assert 0.3 < (first == 0).mean() < 0.7
    for before, after in ((first, second), (second, third)):
        assert 0.3 < (before == after).mean() < 0.7
    plain, last = cell.unroll(3, x, merge_outputs=True)
    assert (plain.asnumpy() != 0).all()
    same(last[0], plain[0, 2:3])


def test_variational_dropout_keeps_its_masks():
    cell = contrib.rnn.VariationalDropoutCell(rnn.RNNCell(50, activation='relu', i2h_weight_initializer='ones',
                                                          h2h_weight_initializer='zeros'), drop_outputs=0.5)
    stepping = contrib.rnn.VariationalDropoutCell(rnn.RNNCell(50, h2h_weight_initializer='zeros'), drop_inputs=0.4,
                                                  drop_states=0.4, drop_outputs=0.5)
    for one in (cell, stepping):
        one.initialize(mx.init.One())
        for _ in range(2):
            with mx.autograd.train_mode():
                outputs, _ = one.unroll(3, mx.nd.ones((2, 3, 20)), merge_outputs=True)
                again, _ = one.unroll(3, mx.nd.ones((2, 3, 20)), merge_outputs=True)
            zero = outputs.asnumpy() == 0
            assert 0.2 < zero.mean() < 0.8
            assert (zero == zero[:, :1]).all()                  # the same mask at every step
            assert (zero != (again.asnumpy() == 0)).any()       # and another one for another sequence
            one.hybridize()


def test_dropout_cells():
    cell = rnn.DropoutCell(0.5)
    x = mx.nd.ones((2, 3, 50))
    with mx.autograd.train_mode():
        whole, states = cell.unroll(3, x)
        assert states == [] and 0.3 < (whole.asnumpy() == 0).mean() < 0.7
        assert len(cell.unroll(3, x, merge_outputs=False)[0]) == 3
    same(cell.unroll(3, x)[0], x, 0)
    with pytest.raises(AssertionError, match='rate'):
        rnn.DropoutCell('half')


def test_stacks():
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(3))
    stack.add(rnn.DropoutCell(0.2))
    stack.add(rnn.GRUCell(2))
    assert len(stack) == 3 and isinstance(stack[-1], rnn.GRUCell)
    assert [i['shape'] for i in stack.state_info(4)] == [(4, 3), (4, 3), (4, 2)]
    stack.initialize()
    output, states = stack(mx.nd.ones((1, 5)), stack.begin_state(batch_size=1))
    assert output.shape == (1, 2) and len(states) == 3
    assert repr(stack).splitlines()[1] == '(0): LSTMCell(5 -> 12)'
    with pytest.raises(ValueError, match='HybridBlock'):
        rnn.HybridSequentialRNNCell().add(stack)


def test_activations_may_be_blocks_and_functions():
    x, state = mx.nd.array([[-1.0, 1.0]]), [mx.nd.zeros((1, 2))]
    one = {'i2h_weight_initializer': 'ones', 'h2h_weight_initializer': 'zeros'}
    for activation, expected in ((gluon.nn.LeakyReLU(0.5), -1.5), (gluon.nn.ELU(), np.expm1(-3)), ('softrelu', None),
                                 (lambda x, **names: x * 2, -6)):
        cell = rnn.RNNCell(2, activation, **one)
        cell.initialize()
        value = cell(x - 1.5, state)[0].asnumpy()[0, 0]
        np.testing.assert_allclose(value, np.log1p(np.exp(-3)) if expected is None else expected, 1e-5)


def test_graphs_of_unrolled_cells_run_exported(tmp_path):
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.cell = rnn.BidirectionalCell(rnn.LSTMCell(3), rnn.LSTMCell(3))

        def hybrid_forward(self, F, x, lengths):
            return self.cell.unroll(4, x, merge_outputs=True, valid_length=lengths)[0]

    net = Net()
    net.initialize()
    x, lengths = random(2, 4, 5), mx.nd.array([4, 2])
    plain = net(x, lengths)
    net.hybridize()
    same(net(x, lengths), plain)
    net.export(str(tmp_path / 'net'))
    back = gluon.SymbolBlock.imports(str(tmp_path / 'net-symbol.json'), ['data0', 'data1'],
                                     str(tmp_path / 'net-0000.params'))
    same(back(x, lengths), plain)


# ---------------------------------------------------------------------- contrib
@pytest.mark.parametrize('dimensions, kind', list(itertools.product((1, 2, 3), ('RNN', 'LSTM', 'GRU'))))
def test_convolutional_cells(dimensions, kind):
    make = getattr(contrib.rnn, f'Conv{dimensions}D{kind}Cell')
    cell = make((2, *[6] * dimensions), 3, 3, 3, i2h_pad=1, i2h_dilate=1, h2h_dilate=2)
    cell.initialize(mx.init.Constant(0.05))
    x = random(2, 3, 2, *[6] * dimensions)
    outputs, states = cell.unroll(3, x, merge_outputs=True)
    assert outputs.shape == (2, 3, 3, *[6] * dimensions) and len(states) == 1 + (kind == 'LSTM')
    if dimensions > 1:
        channels_last = make((*[6] * dimensions, 2), 3, 3, 3, i2h_pad=1, h2h_dilate=2,
                             conv_layout={2: 'NHWC', 3: 'NDHWC'}[dimensions])
        channels_last.initialize(mx.init.Constant(0.05))
        axes = [0, 1, *range(3, 3 + dimensions), 2]
        turned, _ = channels_last.unroll(3, x.transpose(axes), merge_outputs=True)
        same(turned, outputs.transpose(axes), 1e-4)
    with pytest.raises(AssertionError, match='odd'):
        make((2, *[6] * dimensions), 3, 3, 2)
    with pytest.raises(AssertionError, match='i2h_kernel'):
        make((2, *[6] * dimensions), 3, (3,) * (dimensions + 1), 3)


def test_loops_compute_what_unrolling_does():
    for make, (layout, shape) in itertools.product((rnn.LSTMCell, rnn.GRUCell),
                                                   (('TNC', (4, 2, 3)), ('NTC', (2, 4, 3)))):
        cell = make(3)
        cell.initialize(mx.init.Uniform(0.5))
        x = random(*shape)
        for lengths in (None, mx.nd.array([2, 4])):
            expected, last = cell.unroll(4, x, cell.begin_state(batch_size=2), layout, True, lengths)
            outputs, states = contrib.rnn.rnn_cell.dynamic_unroll(cell, x, cell.begin_state(batch_size=2),
                                                                  layout=layout, valid_length=lengths)
            same(outputs, expected)
            for a, b in zip(states, last, strict=True):
                same(a, b)
    with mx.autograd.train_mode():
        outputs, _ = contrib.rnn.rnn_cell.dynamic_unroll(cell, x, cell.begin_state(batch_size=2), 0.3, 0.5, 'NTC')
    zero = outputs.asnumpy() == 0
    assert zero.any() and (zero == zero[:, :1]).all()


# ---------------------------------------------------------------------- on a GPU
@pytest.mark.gpu
@pytest.mark.parametrize('mode, bidirectional', list(itertools.product(MODES, (False, True))))
def test_layers_on_a_gpu(mode, bidirectional):
    make, _, _, options = MODES[mode]
    layer = make(8, 2, bidirectional=bidirectional, **options)
    layer.initialize(mx.init.Uniform(0.3))
    x = random(5, 3, 4)
    expected = layer(x)
    layer.reset_ctx(mx.gpu())
    for _ in range(3):
        with mx.autograd.record():
            output = layer(x.as_in_context(mx.gpu()))
        output.backward()
        assert output.context == mx.gpu()
        same(output, expected, 2e-3)        # cuDNN multiplies in TF32
        layer.hybridize(static_alloc=True, static_shape=True)
    half = make(8, dtype='float16', **options)
    half.initialize(ctx=mx.gpu())
    assert half(x.astype('float16').as_in_context(mx.gpu())).dtype == np.float16


@pytest.mark.parametrize('layer', ['RNN', 'LSTM', 'GRU'])
@pytest.mark.parametrize('train_mode', [False, True])
def test_calls_without_states_begin_at_zero_each_time(layer, train_mode):
    """They may share arrays for that, which nobody must have written into."""
    x = nd.random.uniform(shape=(3, 2, 4))
    plain, hybrid = (getattr(gluon.rnn, layer)(5, num_layers=2, input_size=4) for _ in range(2))
    for each in (plain, hybrid):
        mx.random.seed(1)
        each.initialize(mx.init.Xavier())
    hybrid.hybridize(static_alloc=True, static_shape=True)
    given = []
    hybrid.register_forward_pre_hook(lambda block, inputs: given.append(inputs[1]))
    for number in range(6):
        if number == 4:
            for state in given[-1]:
                state[:] = 1                # by a hook, say
        with mx.autograd.record(train_mode):
            found, wanted = hybrid(x), plain(x)
        np.testing.assert_array_equal(found.asnumpy(), wanted.asnumpy())
    hybrid._forward_pre_hooks.clear()
    for batch in (2, 3, 2, 2, 2):           # of several lengths, twice in a step
        x = nd.random.uniform(shape=(3, batch, 4))
        gradients = []
        for each in (hybrid, plain):
            with mx.autograd.record():
                out = each(x) + each(x * 2)
            out.backward()
            gradients.append([p.grad().asnumpy() for p in each.collect_params().values()])
        for found, wanted in zip(*gradients, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_call_without_states_repeats_the_one_before():
    """In a loop, nothing about it has to be found out anew."""
    layer = gluon.rnn.LSTM(5, input_size=4)
    layer.initialize()
    layer.hybridize(static_alloc=True, static_shape=True)
    x = nd.ones((3, 2, 4))
    for _ in range(4):
        with mx.autograd.record():
            out = layer(x)
        out.backward()
    assert layer._bound_call is not None
    kept = layer._zeros
    with mx.autograd.record():
        out = layer._bound_call((x, *kept[1]))
    assert out is not None
    out.backward()
    wanted = layer(x).asnumpy()
    for _ in range(4):
        np.testing.assert_array_equal(layer(x).asnumpy(), wanted)
    assert layer._zeros is kept and layer._bound_prediction is not None
    np.testing.assert_array_equal(layer._bound_prediction((x, *kept[1])).asnumpy(), wanted)


@pytest.mark.parametrize('hybrid', [False, True])
@pytest.mark.parametrize('shape', [(2, 3, 2, 4), (2, 4), (2, 3, 5)])
def test_wrong_inputs_are_the_same_error_plain_and_hybridized(shape, hybrid):
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.rnn = gluon.rnn.LSTM(4, input_size=4, layout='NTC')

        def hybrid_forward(self, F, x):
            return self.rnn(x)
    net = Net()
    net.initialize()
    net.hybridize(hybrid)
    net(nd.ones((2, 3, 4)))
    with pytest.raises(mx.MXNetError):
        net(nd.ones(shape))
