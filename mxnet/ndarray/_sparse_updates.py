"""Updates of optimizers with a row_sparse gradient: only rows that have one change, states included."""
import torch

from .._array import overwrite, wrap
from ..base import MXNetError
from . import _sparse_parts
from ._sparse_array import RowSparseNDArray
from ._sparse_dispatch import rule
from .ndarray import NDArray


@rule('sgd_update', 'sgd_mom_update', 'adam_update', 'ftrl_update', '_sparse_adagrad_update',
      '_contrib_group_adagrad_update', takes_out=True)
def lazy(op, inputs, attributes, out):
    """The operator itself, on the rows of the gradient; with out=weight only these are written."""
    weight, grad, *states = inputs
    if not isinstance(grad, RowSparseNDArray) or not attributes.get('lazy_update', True):
        return NotImplemented
    values, rows = grad._safe_parts()
    rows = rows.long()
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
        updated = weight.detach() if weight._sparse else wrap(weight._tensor.detach().clone(), weight._ctx, NDArray)
    put_rows(updated, rows, results[0])
    return updated


def rows_of(array, rows):
    """Some rows of a dense or row_sparse array, as a tensor."""
    if array._sparse:
        return _sparse_parts.rows_at(array._safe_parts(), rows)
    return array._tensor.detach().index_select(0, rows)


def put_rows(array, rows, values):
    """Writes rows of a dense or row_sparse array, whatever autograd knows of it."""
    if not array._sparse:
        array._tensor.detach().index_copy_(0, rows, values)
        return
    if array.stype != 'row_sparse':
        overwrite(array, array._values().index_copy_(0, rows, values))
        return
    old, where = array._safe_parts()
    where = where.long()
    if len(where) == array._shape[0] and bool((where.diff() > 0).all()):
        array._parts = old.index_copy(0, rows, values), array._parts[1]
        return
    merged = torch.cat([where, rows]).unique()
    new = _sparse_parts.rows_at((old, where), merged).index_copy_(0, torch.searchsorted(merged, rows), values)
    array._parts = new, merged
