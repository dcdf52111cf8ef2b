"""What a batch brings to a Module: its shapes, and what is wrong with one that could not be computed."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .._names import kind_of, not_an_array
from ..base import MXNetError
from ..io import DataDesc
from ..ndarray import NDArray

Descs = Sequence[DataDesc] | None


def explain_error(batch: Any, error: Exception, data_shapes: Sequence[DataDesc], label_shapes: Descs) -> Exception:
    """What is wrong with a batch that could not be computed, if it is the batch; else the error itself."""
    if not hasattr(batch, 'data'):
        return TypeError(f'forward: a batch is an mx.io.DataBatch, not {kind_of(batch)}; '
                         'mx.io.DataBatch([data], [label]) converts arrays')
    labels = getattr(batch, 'label', None) or ()
    wrong = _wrong_kind('data', batch.data or (), data_shapes) or _wrong_kind('label', labels, label_shapes or ())
    if wrong is not None:
        return wrong
    if isinstance(error, MXNetError) and not isinstance(error, (AssertionError, ValueError)):
        return error                # of an operator, whose node and shapes it names
    for array, desc in zip(batch.data, data_shapes, strict=False):
        if array.shape[1:] != desc.shape[1:]:
            found = re.match(r'the shape of (\S+) changes from (\(.*?\)) to (\(.*?\))', str(error))
            why = str(error) if found is None else f'{found[1]} has shape {found[2]}, and would need {found[3]}'
            return MXNetError(f'forward: {desc.name} of the batch has shape {array.shape}, but the module was bound '
                              f'for {desc.shape}, and its parameters fit that: {why}')
    samples = batch.data[0].shape[0] if batch.data else None
    for array, desc in zip(labels, label_shapes or (), strict=False):
        expected = (samples, *desc.shape[1:])
        if array.shape != expected:
            return ValueError(f'forward: the label {desc.name} of the batch has shape {array.shape}, but for data of '
                              f'shape {batch.data[0].shape} it must have {expected}')
    return error


def _wrong_kind(what: str, arrays: Any, descs: Sequence[DataDesc]) -> TypeError | None:
    """The error of data or labels that are no list of arrays."""
    if not isinstance(arrays, (list, tuple)):
        return TypeError(f'forward: {what} of a batch must be a list of NDArrays, not {kind_of(arrays)}')
    for array, desc in zip(arrays, descs, strict=False):
        if not isinstance(array, NDArray):
            return TypeError(not_an_array(f'forward: {what} {desc.name!r} of the batch', array))
    return None


def joined_shapes(batches: Sequence[Any]) -> list[tuple[int, ...]]:
    """The shapes of the data of batches that stand for one, each for one context."""
    shapes = []
    for arrays in zip(*[batch.data for batch in batches], strict=True):
        first = arrays[0].shape
        if any(array.shape != first for array in arrays):
            raise AssertionError(f'forward: batches in a list must have the same shapes, not '
                                 f'{[array.shape for array in arrays]}')
        shapes.append((first[0] * len(arrays), *first[1:]))
    return shapes


def descriptions_of(batch: Any, shapes: Sequence[tuple[int, ...]], data_shapes: Sequence[DataDesc],
                    label_shapes: Descs) -> tuple[Any, Any]:
    """(data, labels or None) for `reshape`: what a batch says of itself, else as before with its shapes."""
    data = getattr(batch, 'provide_data', None)
    if not data:
        if len(shapes) != len(data_shapes):
            raise ValueError(f'forward: the batch has {len(shapes)} arrays of data, the module takes '
                             f'{", ".join([desc.name for desc in data_shapes])}')
        data = [_with_shape(d, shape) for d, shape in zip(data_shapes, shapes, strict=True)]
    # a batch class may compute this from its labels, which predictions do not have
    labels = None if getattr(batch, 'label', batch) is None else getattr(batch, 'provide_label', None)
    if not labels and getattr(batch, 'label', None) and label_shapes:
        labels = [_with_shape(d, array.shape) for d, array in zip(label_shapes, batch.label, strict=True)]
    return data, labels or None


def _with_shape(desc: DataDesc, shape: Sequence[int]) -> DataDesc:
    return DataDesc(desc.name, shape, desc.dtype, desc.layout)
