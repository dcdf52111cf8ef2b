"""The tensors that a sparse array consists of: from and to dense ones, slices, checks.

- csr: values (n,), indptr (rows + 1,), indices (n,).  Row i has the values indptr[i]:indptr[i + 1], whose columns
  are in `indices`, in rising order.
- row_sparse: values (n, ...), indices (n,).  Row indices[i] of the array is values[i]; the other rows are 0.

Files may hold int32 indices; they are kept as they are and widened where torch needs it.
"""
import torch

from .._wording import plain
from ..base import MXNetError

SPARSE = 8          # rows that are this many times as few as their largest number are searched for, not looked up


# ---------------------------------------------------------------------- csr
def csr_from_dense(dense):
    rows, columns = (dense != 0).nonzero(as_tuple=True)
    return dense[rows, columns], _indptr(rows, dense.shape[0]), columns


def csr_from_coordinates(values, rows, columns, shape):
    """Sorts by row and column; values of the same place are added."""
    flat = rows * shape[1] + columns
    places, where = flat.unique(return_inverse=True)
    totals = torch.zeros(len(places), dtype=values.dtype, device=values.device).index_add_(0, where, values)
    rows = places.div(max(shape[1], 1), rounding_mode='floor')
    return totals, _indptr(rows, shape[0]), places - rows * shape[1]


def _indptr(rows, count):
    indptr = torch.zeros(count + 1, dtype=torch.int64, device=rows.device)
    indptr[1:] = torch.bincount(rows, minlength=count).cumsum(0)
    return indptr


def csr_places(parts):
    """(rows, columns) of the stored values."""
    _, indptr, indices = parts
    rows = torch.arange(len(indptr) - 1, device=indptr.device).repeat_interleave(indptr.diff().long())
    return rows, indices.long()


def csr_to_dense(parts, shape):
    return _dense('csr', shape, parts[0], lambda: csr_places(parts))


def csr_rows(parts, begin, end):
    """The parts of the rows begin:end."""
    values, indptr, indices = parts
    first, last = int(indptr[begin]), int(indptr[end])
    return values[first:last].clone(), indptr[begin:end + 1] - first, indices[first:last].clone()


def csr_columns(parts, begin, end):
    """The parts of the columns begin:end."""
    values, indptr, columns = parts
    inside = (columns >= begin) & (columns < end)
    before = torch.zeros(len(columns) + 1, dtype=torch.int64, device=columns.device)
    before[1:] = inside.cumsum(0)
    return values[inside], before[indptr.long()], columns[inside] - begin


def csr_take(parts, rows):
    """The parts of some rows, in that order."""
    values, indptr, columns = parts
    indptr = indptr.long()
    counts = indptr.diff()[rows]
    ends = counts.cumsum(0)
    begins = torch.cat([ends.new_zeros(1), ends])
    # the places of a row's values, counted from its begin in the source
    source = torch.arange(int(begins[-1]), device=rows.device) + (indptr[rows] - begins[:-1]).repeat_interleave(counts)
    return values[source], begins, columns[source]


def _flat(parts, shape):
    rows, columns = csr_places(parts)
    return rows * shape[1] + columns


def csr_merged(left, right, shape):
    """(values of left, of right, indptr, columns) at the places that either stores."""
    first, second = _flat(left, shape), _flat(right, shape)
    places = torch.cat([first, second]).unique()

    def spread(parts, flat):
        values = torch.zeros(len(places), dtype=parts[0].dtype, device=places.device)
        return values.index_add_(0, torch.searchsorted(places, flat), parts[0])
    rows = places.div(max(shape[1], 1), rounding_mode='floor')
    return spread(left, first), spread(right, second), _indptr(rows, shape[0]), places - rows * shape[1]


def csr_at(parts, where, shape):
    """The values of one csr array at the places that another one stores."""
    values, flat = parts[0], _flat(parts, shape)
    if not rises(flat):
        flat, order = flat.sort(stable=True)
        values = values[order]
    return rows_at((values, flat), _flat(where, shape))


def csr_problems(parts, shape):
    """What is wrong with the parts, or None, three times: their lengths, the places they name, the order."""
    values, indptr, indices = parts
    if len(indptr) != shape[0] + 1 or len(values) != len(indices):
        yield (f'a csr array of shape {shape} needs {shape[0] + 1} entries in indptr, not {len(indptr)}, and as many '
               f'indices as values, not {len(indices)} for {len(values)}')
    yield None
    if int(indptr[0]) != 0 or int(indptr[-1]) != len(indices) or bool((indptr.diff() < 0).any()):
        yield f'indptr of a csr array must rise from 0 to the number of values, {len(indices)}, and never fall'
    yield _range_problem(indices, shape[1], 'column indices of this csr array')
    # within a row columns rise; where a new row begins they may fall
    begins = torch.zeros(len(indices) + 1, dtype=torch.bool, device=indices.device)
    begins[indptr.long()] = True
    falls = (indices.diff() <= 0) & ~begins[1:-1]
    yield 'column indices of a csr array must rise in each row, without duplicates' if bool(falls.any()) else None


# ---------------------------------------------------------------------- row_sparse
def rows_from_dense(dense):
    filled = dense != 0
    rows = (filled.flatten(1).any(1) if dense.dim() > 1 else filled).nonzero().reshape(-1)
    return dense[rows], rows


def rows_to_dense(parts, shape):
    values, indices = parts
    return _dense('row_sparse', shape, values, indices.long)


def _dense(kind, shape, values, places):
    try:
        dense = torch.zeros(shape, dtype=values.dtype, device=values.device)
        dense[places()] = values
    except RuntimeError as error:           # most often it is larger than the memory
        name = str(values.dtype).removeprefix('torch.')
        raise MXNetError(f'a {kind} array of shape {tuple(shape)} and {name} cannot be made dense: {plain(error)}') \
            from error
    return dense


def rises(rows):
    """Whether each number is larger than the one before."""
    return bool((rows.diff() > 0).all())


def all_there(indices):
    """Whether rising indices leave none out: 0, 1, 2, ..."""
    return len(indices) > 0 and int(indices[-1]) == len(indices) - 1


def rows_found(indices, rows):
    """(where rows stand among indices that never fall, whether they are there; None if all of them are)"""
    if all_there(indices):
        if not rows.numel() or int(rows.max()) < len(indices):
            return rows, None
        return rows.clamp(max=len(indices) - 1), rows < len(indices)
    place, there = _looked_up(indices, rows)
    return place, (None if bool(there.all()) else there)


def _looked_up(indices, rows):
    last = int(indices[-1])
    if last < SPARSE * len(indices):
        # most are there: a table answers faster than a search; it is kept with the indices
        table = getattr(indices, '_table', None)
        if table is None:
            table = indices.new_full((last + 1,), -1, dtype=torch.int32)
            table[indices] = torch.arange(len(indices), dtype=torch.int32, device=indices.device)
            indices._table = table
        place = table.index_select(0, rows.clamp(max=last)).long()
        there = place >= 0
        if rows.numel() and int(rows.max()) > last:
            there &= rows <= last
        return place.clamp(min=0), there
    place = (torch.searchsorted(indices, rows, right=True) - 1).clamp(min=0)
    return place, indices[place] == rows


def rows_at(parts, rows):
    """The stored values of some rows, of parts in order; zeros for a row that is not stored."""
    values, indices = parts
    if not len(indices):
        return values.new_zeros((len(rows), *values.shape[1:]))
    place, there = rows_found(indices, rows)
    result = values.index_select(0, place)
    if there is not None:
        result[~there] = 0
    return result


class Later:
    """The parts of a row_sparse array of which a function of rows, 0 for 0, makes the values when they are read.

    The function is told whether it may overwrite what it is given.
    """

    __slots__ = ('_function', '_parts')

    def __init__(self, function, parts):
        self._function, self._parts = function, parts

    def __call__(self):
        return self._function(self._parts[0], False), self._parts[1]

    def __getitem__(self, number):
        """A tensor of the same dtype and device as that part."""
        return self._parts[number]

    def at(self, rows):
        """The values of some rows, without those of the others."""
        return self._function(rows_at(self._parts, rows), True)


def rows_summed(gradients):
    """(values, rows) of the sum of several."""
    (values, rows), *others = gradients
    if all(r is rows or torch.equal(r, rows) for _, r in others):
        for more, _ in others:
            values = values + more
        return values, rows
    rows = torch.cat([r for _, r in gradients]).unique()
    total = values.new_zeros((len(rows), *values.shape[1:]))
    for more, where in gradients:
        total.index_add_(0, torch.searchsorted(rows, where), more)
    return total, rows


def rows_merged(left, right, shape):
    """(values of left, of right, rows) for the rows that either stores."""
    rows = torch.cat([left[1], right[1]]).unique()
    return rows_at(left, rows), rows_at(right, rows), rows


def rows_problems(parts, shape):
    """What is wrong with the parts, or None, three times: their shapes, the places they name, the order."""
    values, indices = parts
    expected = (len(indices), *shape[1:])
    if tuple(values.shape) != expected:
        yield (f'a row_sparse array of shape {shape} with {len(indices)} indices needs data of shape {expected}, not '
               f'{tuple(values.shape)}')
    yield None
    yield _range_problem(indices, shape[0], 'row indices of this row_sparse array')
    falls = indices.diff() <= 0
    yield 'row indices of a row_sparse array must rise, without duplicates' if bool(falls.any()) else None


def _range_problem(indices, limit, what):
    if len(indices):
        low, high = (int(n) for n in indices.aminmax())
        if low < 0 or high >= limit:
            return f'{what} must be from 0 to {limit - 1}, not {low if low < 0 else high}'
    return None
