"""Translations of what works on sequences: recurrent layers, attention, masks."""
import math
from typing import Any

import numpy as np

from ._builder import translates

KIND = {'lstm': 'LSTM', 'gru': 'GRU', 'rnn_tanh': 'RNN', 'rnn_relu': 'RNN'}
# our order of the gates, and where ONNX's are in it: LSTM i f c o -> i o f c, GRU r z n -> z r n
ORDER = {'lstm': (0, 3, 1, 2), 'gru': (1, 0, 2), 'rnn_tanh': (0,), 'rnn_relu': (0,)}


class Constants:
    """How the parameters of a layer are taken apart and put together, while they are known."""

    def __init__(self, c):
        self.c, self.vector = c, c.array(1)

    def take(self, start, *shape):
        return self.vector[start:start + math.prod(shape)].reshape(shape)

    def gates(self, matrix, order):
        parts = np.split(matrix, len(order))
        return np.concatenate([parts[number] for number in order])

    def stack(self, parts):
        return self.c.const(np.stack(parts))

    def join(self, a, b):
        return np.concatenate([a, b])


class Computed:
    """The same in ONNX, where the parameters are computed or given while the network runs."""

    def __init__(self, c):
        self.c, self.vector = c, c.inputs[1]

    def take(self, start, *shape):
        return self.c.reshape(self.c.slice(self.vector, [0], [start], [start + math.prod(shape)]), shape)

    def gates(self, matrix, order):
        if len(order) == 1:
            return matrix
        parts = self.c.op('Split', matrix, outputs=len(order), axis=0)
        return self.c.op('Concat', *[parts[number] for number in order], axis=0)

    def stack(self, parts):
        parts = [self.c.unsqueeze(part, 0) for part in parts]
        return parts[0] if len(parts) == 1 else self.c.op('Concat', *parts, axis=0)

    def join(self, a, b):
        return self.c.op('Concat', a, b, axis=0)


def _unpack(means, mode, layers, directions, width, size):
    """[[weights of inputs, of states, biases of both]] for each layer and direction, gates in ONNX's order"""
    order, start, cells = ORDER[mode], 0, []
    rows = len(order) * size

    def take(*shape):
        nonlocal start
        found = means.gates(means.take(start, *shape), order)
        start += math.prod(shape)
        return found
    for layer in range(layers):
        for _ in range(directions):
            cells.append([take(rows, size * directions if layer else width), take(rows, size)])
    for cell in cells:
        cell.append(means.join(take(rows), take(rows)))
    return cells


@translates('RNN')
def rnn(c):
    mode, layers, size = c['mode'], c['num_layers'], c['state_size']
    if c['projection_size'] or c['use_sequence_length'] or c['lstm_state_clip_min'] is not None:
        raise c.error('projection_size, use_sequence_length and clipping')
    directions = 2 if c['bidirectional'] else 1
    means = Constants(c) if c.is_constant(1) else Computed(c)
    cells = _unpack(means, mode, layers, directions, c.fixed(c.shape[2:], 'the width of the input')[0], size)
    states = c.inputs[2:4] if mode == 'lstm' else c.inputs[2:3]
    x = c.x
    last: list[list[Any]] = [[] for _ in states]
    for layer in range(layers):
        mine = cells[layer * directions:(layer + 1) * directions]
        weights = [means.stack([cell[k] for cell in mine]) for k in range(3)]
        start = [c.slice(s, [0], [layer * directions], [(layer + 1) * directions]) for s in states]
        activations = (['Relu'] * directions) if mode == 'rnn_relu' else None
        x, *end = c.op(KIND[mode], x, *weights, '', *start, outputs=1 + len(states), hidden_size=size,
                       direction='bidirectional' if directions == 2 else 'forward', activations=activations,
                       linear_before_reset=1 if mode == 'gru' else None)
        # (length, directions, batch, size) -> (length, batch, directions * size)
        x = c.reshape(c.transpose(x, 0, 2, 1, 3), (0, 0, -1))
        for found, state in zip(last, end):
            found.append(state)
    outputs = [x]
    if c['state_outputs']:
        outputs += [c.op('Concat', *found, axis=0) if layers > 1 else found[0] for found in last]
    return outputs


# ---------------------------------------------------------------------- attention
@translates('_contrib_div_sqrt_dim')
def div_sqrt_dim(c):
    if c.shape[-1] is None:
        raise c.error('an axis whose length may vary')
    return c.op('Div', c.x, c.scalar(math.sqrt(c.shape[-1])))


def _heads(c, x, number, heads, parts):
    """(length, batch, heads * parts * depth) -> parts of (batch * heads, length, depth)"""
    length, batch, width = c.shapes[number]
    depth = c.fixed([width], 'the width of the input')[0] // heads // parts
    if length is None and batch is None:
        raise c.error('length and batch may both vary')
    # (length, batch * heads, parts, depth)
    sizes = [0 if length is None else length, -1 if batch is None else batch * heads, parts, depth]
    x = c.reshape(x, sizes)
    return [c.transpose(c.squeeze(c.slice(x, [2], [part], [part + 1]), 2), 1, 0, 2) for part in range(parts)], depth


@translates('_contrib_interleaved_matmul_selfatt_qk')
def selfatt_qk(c):
    (query, key, _), depth = _heads(c, c.x, 0, c['heads'], 3)
    return c.op('MatMul', c.op('Div', query, c.scalar(math.sqrt(depth))), c.transpose(key, 0, 2, 1))


@translates('_contrib_interleaved_matmul_selfatt_valatt')
def selfatt_valatt(c):
    (_, _, value), depth = _heads(c, c.x, 0, c['heads'], 3)
    return _joined(c, c.op('MatMul', c.inputs[1], value), depth)


@translates('_contrib_interleaved_matmul_encdec_qk')
def encdec_qk(c):
    (query,), depth = _heads(c, c.x, 0, c['heads'], 1)
    (key, _), _ = _heads(c, c.inputs[1], 1, c['heads'], 2)
    return c.op('MatMul', c.op('Div', query, c.scalar(math.sqrt(depth))), c.transpose(key, 0, 2, 1))


@translates('_contrib_interleaved_matmul_encdec_valatt')
def encdec_valatt(c):
    (_, value), depth = _heads(c, c.x, 0, c['heads'], 2)
    return _joined(c, c.op('MatMul', c.inputs[1], value), depth)


def _joined(c, x, depth):
    """(batch * heads, length, depth) -> (length, batch, heads * depth)"""
    return c.reshape(c.transpose(x, 1, 0, 2), (0, -1, c['heads'] * depth))


# ---------------------------------------------------------------------- lengths
@translates('SequenceMask')
def sequence_mask(c):
    if not c['use_sequence_length']:
        return c.op('Identity', c.x)
    axis = c['axis']
    count = c.squeeze(c.op('Gather', c.op('Shape', c.x), c.ints([axis])), 0)
    places = c.unsqueeze(c.op('Range', c.const(0, np.int64), count, c.const(1, np.int64)), 1 - axis)
    length = c.unsqueeze(c.cast(c.inputs[1], np.int64), axis)
    inside = c.op('Less', places, length)
    if c.rank > 2:
        inside = c.unsqueeze(inside, *range(2, c.rank))
    return c.op('Where', inside, c.x, c.scalar(c['value']))


@translates('SequenceReverse')
def sequence_reverse(c):
    if c['use_sequence_length']:
        return c.op('ReverseSequence', c.x, c.cast(c.inputs[1], np.int64), batch_axis=1, time_axis=0)
    big = np.iinfo(np.int64).max
    return c.slice(c.x, [0], [big], [-big], [-1])


@translates('SequenceLast')
def sequence_last(c):
    if c['use_sequence_length']:
        raise c.error('use_sequence_length')
    return c.squeeze(c.slice(c.x, [c['axis']], [-1], [np.iinfo(np.int64).max]), c['axis'])
