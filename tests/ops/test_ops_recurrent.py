"""Recurrent layers: against a plain loop over steps, sequence by sequence, and with dropout."""
import itertools

import numpy as np
import pytest
import torch
from ops_checks import traced

import mxnet as mx
from mxnet._ops.core.table import TABLE

RNN = TABLE['RNN'].function
MODES = ['rnn_tanh', 'rnn_relu', 'gru', 'lstm']
STEPS, BATCH, FEATURES = 5, 3, 4


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn_by_definition(data, parameters, state, cell, size, layers, directions, mode, projection=None):
    """One loop over layers, directions and steps, with the parameters read from the vector one after the other."""
    gates = {'lstm': 4, 'gru': 3}.get(mode, 1) * size
    width = projection or size
    read = 0

    def take(*shape):
        nonlocal read
        read += np.prod(shape)
        return parameters[read - np.prod(shape):read].reshape(shape)

    weights = []
    for layer, _ in itertools.product(range(layers), range(directions)):
        weights.append([take(gates, width * directions if layer else data.shape[2]), take(gates, width),
                        take(projection, size) if projection else None])
    biases = [(take(gates), take(gates)) for _ in weights]
    assert read == len(parameters)
    states, cells = [], []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            i = layer * directions + direction
            (w, u, r), (b, c) = weights[i], biases[i]
            h, s = state[i], None if cell is None else cell[i]
            steps = []
            for x in data[::-1] if direction else data:
                if mode == 'gru':
                    xr, xz, xn = np.split(x @ w.T + b, 3, -1)
                    hr, hz, hn = np.split(h @ u.T + c, 3, -1)
                    z = sigmoid(xz + hz)
                    h = (1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * h
                elif mode == 'lstm':
                    enter, forget, new, leave = np.split(x @ w.T + b + h @ u.T + c, 4, -1)
                    s = sigmoid(forget) * s + sigmoid(enter) * np.tanh(new)
                    h = sigmoid(leave) * np.tanh(s)
                    h = h if r is None else h @ r.T
                else:
                    h = x @ w.T + b + h @ u.T + c
                    h = np.tanh(h) if mode == 'rnn_tanh' else np.maximum(h, 0)
                steps.append(h)
            states.append(h)
            cells.append(s)
            outputs.append(np.stack(steps[::-1] if direction else steps))
        data = np.concatenate(outputs, -1)
    return [data, np.stack(states)] + ([np.stack(cells)] if mode == 'lstm' else [])


def make(mode, layers=1, bidirectional=False, size=3, projection=None, dtype='float64'):
    """Random inputs of the right shapes, and the arguments."""
    arguments = {'mode': mode, 'num_layers': layers, 'bidirectional': bidirectional, 'state_size': size,
                 'state_outputs': True, 'projection_size': projection}
    op = TABLE['RNN']
    shapes = op.shapes({'data': (STEPS, BATCH, FEATURES)}, op.complete(op.parse(arguments)))
    order = ['parameters', 'state', 'state_cell'] if mode == 'lstm' else ['parameters', 'state']
    random = np.random.RandomState(0)
    inputs = [random.uniform(-1, 1, s).astype(dtype) for s in ((STEPS, BATCH, FEATURES), *(shapes[n] for n in order))]
    return inputs, arguments


def run(inputs, arguments, lengths=None, training=False, rng=None):
    tensors = [torch.as_tensor(x) for x in inputs]
    if lengths is not None:
        tensors += [None] * (4 - len(tensors)) + [torch.as_tensor(lengths)]
    return RNN(*tensors, use_sequence_length=lengths is not None, training=training, rng=rng, **arguments)


CASES = [(m, n, b, None) for m in MODES for n in (1, 3) for b in (False, True)]
CASES += [('lstm', 2, b, p) for b in (False, True) for p in (2, 3)]


@pytest.mark.parametrize('mode, layers, bidirectional, projection', CASES)
def test_definition(mode, layers, bidirectional, projection):
    inputs, arguments = make(mode, layers, bidirectional, projection=projection)
    data, parameters, state, *cell = inputs
    expected = rnn_by_definition(data, parameters, state, cell[0] if cell else None, 3, layers,
                                 2 if bidirectional else 1, mode, projection)
    results = run(inputs, arguments)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-10, atol=1e-12)
    single = run([x.astype('float32') for x in inputs], arguments)
    for result, wanted in zip(single, expected, strict=True):
        np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-4, atol=1e-5)
        assert result.dtype == torch.float32
    shadows = run([torch.empty(x.shape, device='meta') for x in inputs], arguments)
    assert [s.shape for s in shadows] == [r.shape for r in results]
    assert run(inputs, {**arguments, 'state_outputs': False}).equal(results[0])


@pytest.mark.parametrize('mode', MODES)
def test_visible_outputs(mode):
    op = TABLE['RNN']
    names = op.output_names(op.complete(op.parse({'mode': mode, 'num_layers': 1, 'state_size': 2, 'state_outputs': 1})))
    assert names == ('output', 'state_output', 'statecell_output')[:3 if mode == 'lstm' else 2]
    assert op.output_names(op.complete(op.parse({'mode': mode, 'num_layers': 1, 'state_size': 2}))) == ('output',)
    inputs, arguments = make(mode, dtype='float32')
    results = mx.nd.RNN(*(mx.nd.array(x) for x in inputs), **arguments)
    assert len(results) == len(names)
    assert mx.nd.RNN(*(mx.nd.array(x) for x in inputs), **{**arguments, 'state_outputs': False}).shape == (5, 3, 3)


# ---------------------------------------------------------------------- sequences of different lengths
@pytest.mark.parametrize('mode, layers, bidirectional, projection', CASES)
def test_each_sequence_ends_by_itself(mode, layers, bidirectional, projection):
    inputs, arguments = make(mode, layers, bidirectional, projection=projection)
    lengths = [5, 2, 4]
    padding = np.arange(STEPS)[:, None] >= lengths
    inputs[0][padding] = np.nan                  # whatever is there must not matter
    together = run(inputs, arguments, lengths)
    assert not together[0].numpy()[padding].any()
    for i, length in enumerate(lengths):
        data, parameters, *states = inputs
        alone = run([data[:length, i:i + 1], parameters, *(s[:, i:i + 1].copy() for s in states)], arguments)
        torch.testing.assert_close(together[0][:length, i:i + 1], alone[0])
        for both, one in zip(together[1:], alone[1:], strict=True):
            torch.testing.assert_close(both[:, i:i + 1], one)


@pytest.mark.parametrize('lengths_dtype', ['float32', 'int32', 'int64'])
def test_lengths_of_any_type_and_of_zero(lengths_dtype):
    inputs, arguments = make('lstm', 2, True)
    output, state, cell = run(inputs, arguments, np.array([0, 5, 1], lengths_dtype))
    assert not output[:, 0].any()
    np.testing.assert_array_equal(state[:, 0].numpy(), inputs[2][:, 0])
    np.testing.assert_array_equal(cell[:, 0].numpy(), inputs[3][:, 0])


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('lengths', [None, [5, 2, 4]])
def test_gradients(mode, lengths):
    inputs, arguments = make(mode, 2, True, size=2)
    leaves = [torch.tensor(x, requires_grad=True) for x in inputs]
    assert torch.autograd.gradcheck(lambda *x: run(x, arguments, lengths), leaves, fast_mode=True)


@pytest.mark.parametrize('mode', MODES)
def test_padding_gets_no_gradient(mode):
    inputs, arguments = make(mode, 2, True)
    padding = np.arange(STEPS)[:, None] >= [5, 2, 4]
    inputs[0][padding] = np.nan
    data, parameters = (torch.tensor(x, requires_grad=True) for x in inputs[:2])
    sum(x.sum() for x in run([data, parameters, *inputs[2:]], arguments, [5, 2, 4])).backward()
    assert not data.grad.numpy()[padding].any()
    assert data.grad.numpy()[~padding].any()
    assert parameters.grad.isfinite().all()


def test_lengths_are_not_read_by_the_host():
    """A traced program holds for other lengths, too: none of them has become a constant or a shape."""
    inputs, arguments = make('lstm', 2, True)
    tensors = [torch.as_tensor(x) for x in inputs]

    def function(lengths):
        return run(tensors, arguments, lengths)
    graph = traced(function, torch.tensor([5, 2, 4]))
    for result, again in zip(function(torch.tensor([1, 3, 5])), graph(torch.tensor([1, 3, 5])), strict=True):
        torch.testing.assert_close(result, again)


# ---------------------------------------------------------------------- dropout
def test_dropout_is_between_layers_and_in_training_only():
    inputs, arguments = make('lstm', 2, True)
    plain = run(inputs, arguments)
    assert run(inputs, {**arguments, 'p': 0.5})[0].equal(plain[0])
    one, alone = make('lstm', 1)
    same = run(one, {**alone, 'p': 0.5}, training=True, rng=torch.Generator().manual_seed(1))
    assert same[0].equal(run(one, alone)[0])

    def draw(seed):
        return run(inputs, {**arguments, 'p': 0.5}, training=True, rng=torch.Generator().manual_seed(seed))
    assert draw(1)[0].equal(draw(1)[0])
    assert not draw(1)[0].equal(draw(2)[0])
    assert draw(1)[1][:2].equal(plain[1][:2])         # the first layer knows nothing of it


def test_dropout_keeps_the_mean():
    generator = torch.Generator().manual_seed(0)
    from mxnet._ops.nn.recurrent import _dropout
    dropped = _dropout(torch.ones(10000), 0.25, generator)
    assert dropped.unique().tolist() == [0, pytest.approx(4 / 3)]
    assert dropped.mean().item() == pytest.approx(1, abs=0.02)
    assert not _dropout(torch.ones(10), 1.0, generator).any()


def test_torch_generator_is_left_alone():
    before = torch.get_rng_state()
    inputs, arguments = make('gru', 2, dtype='float32')
    with mx.autograd.train_mode():
        mx.nd.RNN(*(mx.nd.array(x) for x in inputs), p=0.5, **arguments)
    assert torch.get_rng_state().equal(before)


# ---------------------------------------------------------------------- clipping, parameters, mistakes
def test_steps_clip_the_cell():
    from mxnet._ops.nn.recurrent import _clip, _lstm_steps
    inputs, _ = make('lstm')
    data, parameters, state, cell = (torch.as_tensor(x) for x in inputs)
    weights = [parameters[:48].view(12, 4), parameters[48:84].view(12, 3), parameters[84:96], parameters[96:]]
    output, cells = _lstm_steps(data, state[0], cell[0], weights, None)
    torch.testing.assert_close(output, run(inputs, make('lstm')[1])[0])
    clipped, cells = _lstm_steps(data, state[0], cell[0], weights, (-0.1, 0.1, False))
    assert cells.abs().max() <= 0.1
    assert not clipped.allclose(output)
    lost = torch.tensor([float('nan'), 3.0])
    assert _clip(lost, -1, 1, False).isnan().tolist() == [True, False]
    assert _clip(lost, -1, 1, True).tolist() == [-1, 1]


def test_parameters_are_concatenated():
    parts = [mx.nd.array(np.full(n, n)) for n in (2, 3)]
    assert mx.nd._internal._rnn_param_concat(*parts, dim=0).asnumpy().tolist() == [2, 2, 3, 3, 3]


@pytest.mark.parametrize('change, message', [
    ({'num_layers': 2}, r'parameters has shape \(108,\).*must have \(204,\)'),
    ({'bidirectional': True}, 'parameters has shape'),
    ({'num_layers': 0}, 'must be positive'),
    ({'p': 2}, 'p=2.0 must be from 0 to 1'),
    ({'mode': 'tanh'}, "mode='tanh' is not accepted"),
])
def test_mistakes_are_named(change, message):
    inputs, arguments = make('lstm', dtype='float32')
    with pytest.raises(mx.MXNetError, match=message):
        mx.nd.RNN(*(mx.nd.array(x) for x in inputs), **{**arguments, **change})


def test_mistakes_in_inputs_are_named():
    inputs, arguments = make('lstm', dtype='float32')
    data, parameters, state, cell = (mx.nd.array(x) for x in inputs)
    with pytest.raises(mx.MXNetError, match=r'data has shape \(15, 4\).*steps, batch, features'):
        mx.nd.RNN(data.reshape((15, 4)), parameters, state, cell, **arguments)
    with pytest.raises(mx.MXNetError, match=r'state has shape \(1, 3, 3\).*must have \(1, 5, 3\)'):
        mx.nd.RNN(mx.nd.ones((2, 5, 4)), parameters, state, cell, **arguments)
    with pytest.raises(mx.MXNetError, match='state_cell is missing'):
        mx.nd.RNN(data, parameters, state, **arguments)
    with pytest.raises(mx.MXNetError, match="only mode='lstm' has a projection_size"):
        mx.nd.RNN(data, parameters, state, **{**arguments, 'mode': 'gru', 'projection_size': 2})


# ---------------------------------------------------------------------- on a GPU
@pytest.mark.gpu
@pytest.mark.parametrize('mode, layers, bidirectional, projection', CASES)
@pytest.mark.parametrize('lengths', [None, [5, 2, 4]])
def test_gpu_agrees(mode, layers, bidirectional, projection, lengths):
    """Values and gradients; a warning (cuDNN's about scattered weights, say) fails the test."""
    inputs, arguments = make(mode, layers, bidirectional, projection=projection)
    heads = None
    gradients = []
    for device in ('cpu', 'cuda'):
        leaves = [torch.tensor(x, device=device, requires_grad=True) for x in inputs]
        leaves += [None] * (4 - len(leaves)) + [None if lengths is None else torch.tensor(lengths, device=device)]
        results = RNN(*leaves, use_sequence_length=lengths is not None, training=True, rng=None, **arguments)
        heads = heads or [torch.rand_like(r) for r in results]
        torch.autograd.backward(results, [h.to(device) for h in heads])
        gradients.append([r.cpu() for r in results] + [x.grad.cpu() for x in leaves[:len(inputs)]])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-8)


@pytest.mark.gpu
def test_gpu_clips_the_cell():
    inputs, arguments = make('lstm', 2, True)
    clip = {'lstm_state_clip_min': -0.1, 'lstm_state_clip_max': 0.1}
    tensors = [torch.tensor(x, device='cuda') for x in inputs]
    assert run(tensors, {**arguments, **clip})[2].abs().max() <= 0.1
    assert run(tensors, arguments)[2].abs().max() > 0.1


@pytest.mark.gpu
def test_gpu_takes_parameters_from_the_middle_of_memory():
    inputs, arguments = make('gru', 2, True, dtype='float32')
    tensors = [torch.tensor(x, device='cuda') for x in inputs]
    expected = run(tensors, arguments)
    tensors[1] = torch.cat((tensors[1][:8], tensors[1]))[8:]
    torch.testing.assert_close(run(tensors, arguments)[0], expected[0])
