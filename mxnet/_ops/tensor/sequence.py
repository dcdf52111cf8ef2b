"""Sequences of different lengths in one array.

One of the first two axes is time (`axis`), the other the batch.  With `use_sequence_length`, `sequence_length` holds
how many steps of each sequence count; without, all do.
"""
import torch

from ...base import MXNetError
from ..core import shapes
from ..core.checks import in_range
from ..core.late_reads import reads_late
from ..core.table import operator

_LENGTHS = {'sequence_length': lambda a: a['use_sequence_length']}


def _check(name, data, axis):
    if axis not in (0, 1):
        raise MXNetError(f'operator {name}: argument axis={axis} is not accepted; it takes 0 or 1')
    if data.dim() < 2:
        raise MXNetError(f'operator {name}: data has shape {tuple(data.shape)}; it must have at least 2 axes, time and '
                         'batch')


@operator(aliases=('_npx_sequence_mask',), optional=_LENGTHS, shapes=shapes.sequence_length)
@reads_late('sequence_length')
def SequenceMask(data, sequence_length=None, *, use_sequence_length: bool = False, value: float = 0.0, axis: int = 0):
    """`data` with `value` in all steps behind the end of each sequence."""
    _check('SequenceMask', data, axis)
    if not use_sequence_length:
        return data
    steps = torch.arange(data.shape[axis], device=data.device)
    behind = steps.unsqueeze(1 - axis) >= sequence_length.unsqueeze(axis)
    value = value if data.is_floating_point() else int(value)
    return data.masked_fill(behind.reshape(behind.shape + (1,) * (data.dim() - 2)), value)


@operator(optional=_LENGTHS, shapes=shapes.sequence_length)
@reads_late('sequence_length')
def SequenceLast(data, sequence_length=None, *, use_sequence_length: bool = False, axis: int = 0):
    """The last step of each sequence; the time axis is gone."""
    _check('SequenceLast', data, axis)
    if not use_sequence_length:
        return data.select(axis, -1)
    last = (sequence_length.long() - 1).clamp(0, data.shape[axis] - 1)
    batch = torch.arange(data.shape[1 - axis], device=data.device)
    return data[batch, last] if axis else data[last, batch]


@operator(optional=_LENGTHS, shapes=shapes.sequence_length)
@reads_late('sequence_length')
def SequenceReverse(data, sequence_length=None, *, use_sequence_length: bool = False, axis: int = 0):
    """The steps of each sequence in reverse order; those behind its end stay where they are."""
    _check('SequenceReverse', data, axis)
    if not use_sequence_length:
        return data.flip(axis)
    lengths = sequence_length.long().clamp(min=0)
    lengths = in_range('SequenceReverse', 'sequence_length', lengths, data.shape[axis] + 1).unsqueeze(axis)
    steps = torch.arange(data.shape[axis], device=data.device).unsqueeze(1 - axis)
    source = torch.where(steps < lengths, lengths - 1 - steps, steps)
    batch = torch.arange(data.shape[1 - axis], device=data.device).unsqueeze(axis)
    return data[batch, source] if axis else data[source, batch]
