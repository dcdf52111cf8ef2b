"""What iterators do with the arrays that they are given."""
import sys

import numpy
import torch

from .._array import wrap
from .._names import kind_of
from ..ndarray import NDArray, array
from ..ndarray._interop import tensor_of
from ..ndarray.sparse import CSRNDArray

_ACCEPTED = 'an NDArray, a numpy.ndarray, an h5py.Dataset, a SciPy csr_matrix, a list of them or a dict of them'


def _is_h5py(value):
    h5py = sys.modules.get('h5py')          # whoever has a dataset has imported it
    return h5py is not None and isinstance(value, h5py.Dataset)


def _is_array(value):
    return isinstance(value, (numpy.ndarray, NDArray)) or hasattr(value, 'tocsr') or _is_h5py(value)


def _init_data(data, allow_empty, default_name):
    """-> list of (name, array), sorted by name.

    One array has the default name; several are called _0_<name>, _1_<name>, ... unless a dict names them.  What is not
    an NDArray or an h5py.Dataset becomes an NDArray.
    """
    if data is None or (isinstance(data, (list, dict)) and not data):
        if not allow_empty:
            raise ValueError(f'{default_name!r} is empty; an iterator needs at least one array')
        return []
    if _is_array(data):
        data = [data]
    if isinstance(data, list):
        data = {default_name: data[0]} if len(data) == 1 else {f'_{i}_{default_name}': d for i, d in enumerate(data)}
    if not isinstance(data, dict):
        raise TypeError(f'{default_name!r} must be {_ACCEPTED}, not {kind_of(data)}')
    return sorted(((name, _converted(name, value)) for name, value in data.items()), key=lambda pair: pair[0])


def _converted(name, value):
    if isinstance(value, NDArray) or _is_h5py(value):
        return value
    try:
        found = array(value)
        if not hasattr(value, '__len__'):
            raise TypeError('a list must contain arrays, one for each input of the network; mx.nd.array(x) makes an '
                            'array of a list of numbers')
        return found
    except Exception as error:
        raise TypeError(f'{name!r} must be {_ACCEPTED}, not {kind_of(value)}: {error}') from error


def _has_instance(data, dtype):
    """Whether one of the (name, array) pairs has an array of this type."""
    return any(isinstance(value, dtype) for _, value in data)


def _getdata_by_idx(data, idx):
    """The (name, array) pairs with the examples in the order of `idx`; h5py datasets stay as they are."""
    return [(name, value if _is_h5py(value) else _examples(value, idx, 0)) for name, value in data]


# ---------------------------------------------------------------------- examples of an array
def _consecutive(source, begin, end, axis):
    """Examples begin to end along an axis, as an array of their own."""
    if _is_h5py(source):
        return array(source[(slice(None),) * axis + (slice(begin, end),)])
    if isinstance(source, CSRNDArray):
        return source[begin:end]
    part = source.materialize().detach()
    part = part[begin:end] if axis == 0 else part.narrow(axis, begin, end - begin)
    return wrap(part.clone(memory_format=torch.contiguous_format), source._ctx, source._dense)


def _examples(source, order, axis):
    """The examples with these numbers, in this order."""
    if _is_h5py(source):
        # h5py takes numbers in increasing order only, each of them once
        unique, places = numpy.unique(order, return_inverse=True)
        return array(source[(slice(None),) * axis + (unique,)].take(places, axis))
    if isinstance(source, CSRNDArray):
        return _csr_rows(source, order)
    order = tensor_of(order).to(source.materialize().device)
    return wrap(source.materialize().detach().index_select(axis, order), source._ctx, source._dense)


def _csr_rows(source, rows):
    values, indptr, indices = source._parts()
    rows = tensor_of(rows).to(indptr.device)
    begins, lengths = indptr[rows], indptr[rows + 1] - indptr[rows]
    ends = lengths.cumsum(0)
    places = torch.arange(int(ends[-1]) if len(rows) else 0, device=indptr.device)
    places = places + (begins - ends + lengths).repeat_interleave(lengths)
    starts = torch.cat([ends.new_zeros(1), ends])
    return CSRNDArray._make((values[places], starts, indices[places]), (len(rows), source.shape[1]), source._ctx)
