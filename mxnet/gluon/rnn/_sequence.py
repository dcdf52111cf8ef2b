"""Sequences, whole or as a list of steps: taken apart, put together, masked and turned around.

A whole sequence is one array or symbol with a time axis, which `layout` names: 'NTC' or 'TNC'.  A step has no time
axis.
"""
from ... import ndarray, symbol
from ...symbol import Symbol


def axes(layout):
    """(time axis, batch axis) of a layout."""
    time, batch = layout.find('T'), layout.find('N')
    if time < 0 or batch < 0:
        raise ValueError(f"layout {layout!r} must name a time axis T and a batch axis N, as 'NTC' and 'TNC' do")
    return time, batch


def is_whole(values):
    """Whether it is one sequence, not a list of steps."""
    return not isinstance(values, (list, tuple))


def functions(values):
    """The functions for these arrays or symbols: `mx.nd` or `mx.sym`."""
    first = values if is_whole(values) else values[0]
    return symbol if isinstance(first, Symbol) else ndarray


def check(length, inputs, layout):
    """Complains of inputs that `unroll` cannot take."""
    time, _ = axes(layout)
    if inputs is None:
        raise ValueError('unroll needs inputs; make variables with mx.sym.var where there are no arrays')
    if not is_whole(inputs):
        if not inputs:
            raise ValueError('unroll needs at least one step')
        if length is not None and len(inputs) != length:
            raise ValueError(f'unroll: length is {length}, but inputs has {len(inputs)} steps')
    elif isinstance(inputs, Symbol):
        if len(inputs) != 1:
            raise ValueError(f'unroll: inputs is a group of {len(inputs)} symbols; pass list(inputs), or one symbol of '
                             'a whole sequence')
    elif length is not None and inputs.shape[time] != length:
        raise ValueError(f'unroll: length is {length}, but axis {time} of inputs of shape {inputs.shape} is the time '
                         f'({layout})')


def batch_size(inputs, layout):
    """The batch size, 0 for symbols."""
    if functions(inputs) is symbol:
        return 0
    return inputs.shape[axes(layout)[1]] if is_whole(inputs) else inputs[0].shape[0]


def split(whole, length, layout):
    """The steps of a whole sequence."""
    time, _ = axes(layout)
    F = functions(whole)
    if length is None:
        length = whole.shape[time]
    parts = F.split(whole, num_outputs=length, axis=time, squeeze_axis=True)
    return list(parts) if isinstance(parts, (list, tuple)) or isinstance(parts, Symbol) else [parts]


def steps(inputs, length, layout):
    """A list of steps, whatever is given."""
    return split(inputs, length, layout) if is_whole(inputs) else list(inputs)


def whole(inputs, layout):
    """One sequence, whatever is given."""
    return inputs if is_whole(inputs) else functions(inputs).stack(*inputs, axis=axes(layout)[0])


def arranged(values, length, layout, merge):
    """Whole (merge=True), in steps (False) or as it is (None)."""
    if merge is None:
        return values
    return whole(values, layout) if merge else steps(values, length, layout)


def masked(values, valid_length, layout):
    """A whole sequence with zeros behind the end of each one in the batch."""
    values = whole(values, layout)
    return functions(values).SequenceMask(values, sequence_length=valid_length, use_sequence_length=True,
                                          axis=axes(layout)[0])


def turned(values, valid_length):
    """Steps in reverse order; with lengths, each sequence turned around in front of its padding."""
    if valid_length is None:
        return values[::-1]
    F = functions(values)
    turned_whole = F.SequenceReverse(F.stack(*values, axis=0), sequence_length=valid_length, use_sequence_length=True)
    return split(turned_whole, len(values), 'TNC')


def last(states, valid_length):
    """From the states after each step, those after the last step of each sequence."""
    if not states[0]:
        return []
    F = functions(states[0][0])
    return [F.SequenceLast(F.stack(*history, axis=0), sequence_length=valid_length, use_sequence_length=True, axis=0)
            for history in zip(*states, strict=True)]
