"""Updates of optimizers with a row_sparse gradient: only rows that have one change, states included."""
import torch

from .._array import wrap
from ..base import MXNetError
from . import _sparse_parts
from ._sparse_array import RowSparseNDArray
from ._sparse_dispatch import rule
from .ndarray import NDArray

# updates that are lazy only if weight and states are stored alike; ftrl_update only if they are row_sparse
_ALIKE = ('sgd_mom_update', 'adam_update', 'ftrl_update')


@rule('sgd_update', 'sgd_mom_update', 'adam_update', 'ftrl_update', '_sparse_adagrad_update',
      '_contrib_group_adagrad_update', takes_out=True)
def lazy(op, inputs, attributes, out):
    """The operator itself, on the rows of the gradient; with out=weight only these are written."""
    weight, grad, *states = inputs
    if not isinstance(grad, RowSparseNDArray) or not attributes.get('lazy_update', True):
        return NotImplemented
    stypes = {x.stype for x in (weight, *states)}
    if op.name in _ALIKE and (len(stypes) > 1 or op.name == 'ftrl_update' and stypes != {'row_sparse'}):
        return NotImplemented           # all rows change, as in upstream
    values, rows = grad._ordered_parts()
    if any(x.shape[0] != weight.shape[0] for x in (grad, *states)):
        raise MXNetError(f'operator {op.name}: weight, grad and states must have the same number of rows, not '
                         f'{", ".join(str(x.shape[0]) for x in inputs)}')
    results = op.function(rows_of(weight, rows), values, *[rows_of(s, rows) for s in states], **attributes)
    results = results if type(results) is tuple else (results,)
    for state, new in zip(states, results[1:], strict=True):
        put_rows(state, rows, new)
    if out is weight:
        updated = weight
    else:
        updated = weight.detach() if weight._sparse \
            else wrap(weight.materialize().detach().clone(), weight._ctx, NDArray)
    put_rows(updated, rows, results[0])
    return updated


def rows_of(array, rows):
    """Some rows of a dense or row_sparse array, as a tensor."""
    if array._sparse:
        return _sparse_parts.rows_at(array._ordered_parts(), rows)
    return array.materialize().detach().index_select(0, rows)


def put_rows(array, rows, values):
    """Writes rows, in rising order, of a dense or row_sparse array, whatever autograd knows of it.

    Rows that a row_sparse array stores already are written where they are, as in a dense one.
    """
    if not array._sparse:
        array.materialize().detach().index_copy_(0, rows, values)
        return
    old, stored = array._ordered_parts()
    merged = rows
    if len(stored):
        place, there = _sparse_parts.rows_found(stored, rows)
        if there is None and old is array._parts()[0]:
            old.index_copy_(0, place, values)
            return
        merged = stored if there is None else torch.cat([stored, rows[~there]]).sort().values
    new = values.new_empty((len(merged), *values.shape[1:]), dtype=old.dtype)
    new.index_copy_(0, torch.searchsorted(merged, stored), old)
    new.index_copy_(0, torch.searchsorted(merged, rows), values.to(old.dtype))
    array._stored, array._checked, array._rising = (new, merged), True, True
