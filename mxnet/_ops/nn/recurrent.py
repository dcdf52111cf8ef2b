"""Recurrent layers: all of a stack in one operator, on torch's fused kernels."""
import contextlib
from collections.abc import Callable
from typing import Any, Literal

import torch
from torch.nn import functional as F

from ...base import MXNetError
from ..core import shapes
from ..core.attributes import NonNegative, Rng, Training
from ..core.checks import in_range
from ..core.gradients import clamp
from ..core.table import operator
from .spatial import check_shape

_FUSED: dict[str, Callable[..., Any]] = {
    'lstm': torch.lstm, 'gru': torch.gru, 'rnn_tanh': torch.rnn_tanh, 'rnn_relu': torch.rnn_relu}

# added to a gate's argument, it closes or opens the gate exactly in every float type, and half can still hold it
_SATURATED = 1e4


def _unpack(parameters, sizes):
    """The weights of each layer and direction, as views into the flat vector.

    Upstream's order is that of cuDNN: first all matrices (input, state, projection of each layer and direction), then
    all biases (input, state).  torch wants a list of (input, state, bias, bias, projection).
    """
    matrices = [shape for layer in sizes for shape in layer.matrices]
    biases = [layer.gates for layer in sizes for _ in range(2)]
    lengths = [rows * columns for rows, columns in matrices]
    # one split, not many slices: its gradient is one concatenation
    pieces = iter(parameters.split(lengths + biases))
    layers = [[next(pieces).view(shape) for shape in layer.matrices] for layer in sizes]
    for weights in layers:
        weights[2:2] = next(pieces), next(pieces)
    return layers


def _compact(weights):
    """Copies of weights in one piece of memory, as cuDNN wants them: else it warns and copies them itself."""
    matrices = [(*one[:2], *one[4:]) for one in weights]
    pieces = [m.reshape(-1) for some in matrices for m in some] + [b for one in weights for b in one[2:4]]
    sizes = [shapes.RecurrentLayer(tuple(m.shape for m in some), one[2].numel())
             for some, one in zip(matrices, weights, strict=True)]
    return _unpack(torch.cat(pieces), sizes)


def _is_traced(data):
    return type(data).__name__ == 'Traced'         # by name, since what traces is built on operators


def _fused(mode, data, state, state_cell, weights, layers, bidirectional):
    """torch's kernel over `layers` layers without dropout -> (output, state, state cell or None)."""
    if data.is_cuda and not data.is_meta and _is_traced(data):
        from . import _cudnn_rnn
        return _cudnn_rnn.run(mode, data, state, state_cell, weights, layers, bidirectional)
    hidden = (state, state_cell) if mode == 'lstm' else state
    flat = [w for one in weights for w in one]
    used = (data, state, *flat) if state_cell is None else (data, state, state_cell, *flat)
    # cuDNN keeps what a gradient needs only when told that this is training
    keep = torch.is_grad_enabled() and any(x.requires_grad for x in used)
    # oneDNN has two kernels for an LSTM, whose last digits differ, and takes the one for the grad mode
    # (torch.export would record the change of the mode, in a form that it cannot save)
    mode_of_grad = contextlib.nullcontext() if torch.compiler.is_exporting() else \
        torch.set_grad_enabled(mode == 'lstm' or torch.is_grad_enabled())
    with mode_of_grad:
        result = _FUSED[mode](data, hidden, flat, True, layers, 0.0, keep, bidirectional, False)
    return result if mode == 'lstm' else (*result, None)


def _clip(cell, low, high, stop_nan):
    if stop_nan:
        return cell.fmax(cell.new_tensor(low)).fmin(cell.new_tensor(high))
    return clamp(cell, low, high)


def _lstm_steps(data, state, cell, weights, clip):
    """One direction of an LSTM layer, step by step, for what the fused kernels cannot do -> output, all cells."""
    from_input, from_state, bias1, bias2, *projection = weights
    inputs = F.linear(data, from_input, bias1 + bias2)
    outputs, cells = [], []
    for step in inputs:
        enter, forget, new, leave = (step + torch.matmul(state, from_state.t())).chunk(4, -1)
        cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
        if clip is not None:
            cell = _clip(cell, *clip)
        state = leave.sigmoid() * cell.tanh()
        if projection:
            state = torch.matmul(state, projection[0].t())
        outputs.append(state)
        cells.append(cell)
    return torch.stack(outputs), torch.stack(cells)


class _Lengths:
    """Sequences of different lengths in one padded batch, without asking a device for a single number."""

    def __init__(self, lengths, steps):
        lengths = in_range('RNN', 'sequence_length', lengths.long().clamp(min=0), steps + 1)
        time = torch.arange(steps, device=lengths.device)[:, None]
        self.valid = (time < lengths).unsqueeze(-1)                              # (steps, batch, 1)
        self.last = (lengths - 1).clamp(min=0)[None, :, None]                    # (1, batch, 1)
        self.empty = (lengths < 1)[None, :, None]
        self.mirror = torch.where(self.valid.squeeze(-1), lengths - 1 - time, time).unsqueeze(-1)

    def reverse(self, data):
        """Turns each sequence around and leaves its padding behind it."""
        return data.gather(0, self.mirror.expand_as(data))

    def final(self, data, initial):
        """What each sequence ends with."""
        last = data.gather(0, self.last.expand(1, *data.shape[1:]))
        return torch.where(self.empty, initial, last)

    def cut(self, data):
        return torch.where(self.valid, data, 0)


def _padded_direction(mode, data, state, cell, weights, lengths, backwards):
    """One direction of a layer over sequences of given lengths."""
    if backwards:
        data = lengths.reverse(data)
    if mode == 'lstm':
        # One more input feature says "this is padding": it closes the input gate and opens the forget gate, so that
        # the cell arrives unchanged at the last step.
        data = torch.cat((data, (~lengths.valid).to(data.dtype)), -1)
        gate = cell.new_full((cell.shape[-1], 1), _SATURATED)
        column = torch.cat((-gate, gate, torch.zeros_like(gate), torch.zeros_like(gate)))
        weights = [torch.cat((weights[0], column), 1), *weights[1:]]
    weights = _compact([weights]) if data.is_cuda else [weights]
    output, _, cell = _fused(mode, data, state, cell, weights, 1, False)
    state = lengths.final(output, state)
    return lengths.reverse(output) if backwards else output, state, cell


def _stepped_direction(data, state, cell, weights, lengths, backwards, clip):
    """One direction of an LSTM layer, step by step, over whole or padded sequences."""
    turn = (lambda x: x.flip(0)) if lengths is None else lengths.reverse
    if backwards:
        data = turn(data)
    output, cells = _lstm_steps(data, state[0], cell[0], weights, clip)
    if lengths is None:
        state, cell = output[-1:], cells[-1:]
    else:
        state, cell = lengths.final(output, state), lengths.final(cells, cell)
    return turn(output) if backwards else output, state, cell


def _dropout(data, p, rng):
    keep = torch.rand(data.shape, generator=rng, device=data.device) >= p
    return torch.where(keep, data / (1 - p) if p < 1 else data, 0)


def _by_layer(mode, data, state, cell, weights, layers, directions, p, rng, lengths, clip, stepped):
    """The stack layer by layer: where dropout comes between, lengths differ or a fused kernel does not do."""
    states, cells = [], []
    if lengths is not None:
        data = lengths.cut(data)            # a NaN in the padding would reach the weights' gradients
    for layer in range(layers):
        if layer and p:
            data = _dropout(data, p, rng)
        rows = [slice(i, i + 1) for i in range(layer * directions, (layer + 1) * directions)]
        if lengths is None and not stepped:
            part = slice(rows[0].start, rows[-1].stop)
            mine = _compact(weights[part]) if data.is_cuda else weights[part]
            data, *final = _fused(mode, data, state[part], None if cell is None else cell[part], mine, 1,
                                  directions == 2)
            finals = [final]
        else:
            outputs, finals = [], []
            for backwards, row in enumerate(rows):
                first = state[row], None if cell is None else cell[row]
                if stepped:
                    output, *final = _stepped_direction(data, *first, weights[row.start], lengths, backwards, clip)
                else:
                    output, *final = _padded_direction(mode, data, *first, weights[row.start], lengths, backwards)
                outputs.append(output)
                finals.append(final)
            data = torch.cat(outputs, -1) if len(outputs) > 1 else outputs[0]
            if lengths is not None:
                data = lengths.cut(data)
        states += [f[0] for f in finals]
        cells += [f[1] for f in finals]
    return data, torch.cat(states), torch.cat(cells) if mode == 'lstm' else None


def _output_names(attributes):
    if not attributes['state_outputs']:
        return ('output',)
    return ('output', 'state_output', 'statecell_output')[:3 if attributes['mode'] == 'lstm' else 2]


@operator(aliases=('_npx_rnn',), shapes=shapes.rnn, outputs=_output_names,
          optional={'state_cell': lambda a: a['mode'] == 'lstm', 'sequence_length': lambda a: a['use_sequence_length']},
          same_dtype=('data', 'parameters', 'state', 'state_cell'))
def RNN(data, parameters, state, state_cell=None, sequence_length=None, *, state_size: NonNegative,
        num_layers: NonNegative, bidirectional: bool = False, mode: Literal['gru', 'lstm', 'rnn_relu', 'rnn_tanh'],
        p: float = 0.0, state_outputs: bool = False, projection_size: int | None = None,
        lstm_state_clip_min: float | None = None, lstm_state_clip_max: float | None = None,
        lstm_state_clip_nan: bool = False, use_sequence_length: bool = False, training: Training, rng: Rng):
    """A stack of recurrent layers over sequences `data` of shape (steps, batch, features).

    `parameters` is one vector: the matrices of all layers and directions (input, state, projection), then all biases,
    with gates in the order i, f, g, o for 'lstm' and r, z, n for 'gru'.  `state` and the LSTM's `state_cell` have shape
    (layers * directions, batch, size); `state_outputs` returns their final values, too.  `p` is the dropout between
    layers while training.  With `use_sequence_length`, each sequence ends after its own `sequence_length` steps and
    the output behind it is zero.  `lstm_state_clip_*` act on a GPU only, as
    upstream's do.
    """
    if data.dim() != 3:
        raise MXNetError(f'operator RNN: data has shape {tuple(data.shape)}, but it must be (steps, batch, features)')
    if num_layers < 1 or state_size < 1:
        raise MXNetError(f'operator RNN: num_layers={num_layers} and state_size={state_size} must be positive')
    if projection_size is not None and mode != 'lstm':
        raise MXNetError(f"operator RNN: only mode='lstm' has a projection_size, not mode={mode!r}")
    if not 0 <= p <= 1:
        raise MXNetError(f'operator RNN: argument p={p} must be from 0 to 1')
    steps, batch, features = data.shape
    directions = 2 if bidirectional else 1
    sizes = shapes.rnn_layers(features, state_size, num_layers, directions, mode, projection_size)
    total = shapes.rnn_parameters(sizes)
    width = projection_size or state_size
    check_shape('RNN', 'parameters', parameters, (total,))
    check_shape('RNN', 'state', state, (num_layers * directions, batch, width))
    if mode == 'lstm':
        check_shape('RNN', 'state_cell', state_cell, (num_layers * directions, batch, state_size))
    else:
        state_cell = None
    if use_sequence_length:
        check_shape('RNN', 'sequence_length', sequence_length, (batch,))

    if data.is_meta:        # torch would go through all the steps to find what is known
        output = data.new_empty(steps, batch, directions * width), state.clone(), state_cell
    else:
        if data.is_cuda and parameters.storage_offset():
            parameters = parameters.clone()     # cuDNN takes the vector as it is only from the start of its memory
        weights = _unpack(parameters, sizes)
        state = state.contiguous()
        state_cell = state_cell.contiguous() if mode == 'lstm' else None
        clip = None
        if mode == 'lstm' and lstm_state_clip_min is not None and lstm_state_clip_max is not None and data.is_cuda:
            clip = lstm_state_clip_min, lstm_state_clip_max, lstm_state_clip_nan
        lengths = _Lengths(sequence_length, steps) if use_sequence_length else None
        # torch takes a projection to the same size for none, and warns of every projection on a CPU
        stepped = clip is not None or (projection_size is not None and (projection_size == state_size
                                                                        or not data.is_cuda))
        drop = p if training and num_layers > 1 else 0.0
        if lengths is None and not stepped and not drop:
            output = _fused(mode, data, state, state_cell, weights, num_layers, bidirectional)
        else:
            output = _by_layer(mode, data, state, state_cell, weights, num_layers, directions, drop, rng, lengths,
                               clip, stepped)
    if not state_outputs:
        return output[0]
    return tuple(output[:3 if mode == 'lstm' else 2])


@operator(aliases=('_npi_rnn_param_concat',), variadic='num_args', same_dtype='*', shapes_back=shapes.rnn_param_concat)
def _rnn_param_concat(*data, num_args: int, dim: int = 1):
    """Joins the parts of an `RNN`'s parameter vector: `Concat` under the name that recurrent layers use."""
    return torch.cat(data, dim)
