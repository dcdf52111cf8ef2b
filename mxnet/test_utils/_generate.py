"""Random shapes, arrays, sparse arrays and matrices.  All draw from `numpy.random`, which tests seed."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ndarray as nd
from .._kinds import explain_kinds as _explain_kinds
from ..context import current_context
from ._compare import default_dtype

if TYPE_CHECKING:
    from .._typing import DType
    from ..ndarray import NDArray

__all__ = ['assign_each', 'assign_each2', 'create_2d_tensor', 'create_sparse_array', 'create_sparse_array_zd',
           'create_vector', 'get_identity_mat', 'get_identity_mat_batch', 'new_matrix_with_real_eigvals_2d',
           'new_matrix_with_real_eigvals_nd', 'new_orthonormal_matrix_2d', 'new_sym_matrix_with_real_eigvals_2d',
           'new_sym_matrix_with_real_eigvals_nd', 'rand_coord_2d', 'rand_ndarray', 'rand_shape_2d', 'rand_shape_3d',
           'rand_shape_nd', 'rand_sparse_ndarray', 'random_arrays', 'random_sample', 'random_uniform_arrays',
           'shuffle_csr_column_indices']


# ---------------------------------------------------------------------- shapes and dense arrays
def rand_shape_nd(num_dim: int, dim: int = 10, allow_zero_size: bool = False) -> tuple[int, ...]:
    """A random shape with lengths up to `dim`."""
    return tuple(int(n) for n in np.random.randint(0 if allow_zero_size else 1, dim + 1, size=num_dim))


def _rand_shape(limits, allow_zero_size):
    return tuple(int(np.random.randint(0 if allow_zero_size else 1, n + 1)) for n in limits)


def rand_shape_2d(dim0: int = 10, dim1: int = 10, allow_zero_size: bool = False) -> tuple[int, ...]:
    """A random shape of two axes."""
    return _rand_shape((dim0, dim1), allow_zero_size)


def rand_shape_3d(dim0: int = 10, dim1: int = 10, dim2: int = 10, allow_zero_size: bool = False) -> tuple[int, ...]:
    """A random shape of three axes."""
    return _rand_shape((dim0, dim1, dim2), allow_zero_size)


def rand_coord_2d(x_low: int, x_high: int, y_low: int, y_high: int) -> Any:
    """A random pair of ints."""
    return (np.random.randint(x_low, x_high, dtype=np.int64), np.random.randint(y_low, y_high, dtype=np.int64))


def random_arrays(*shapes: Any) -> Any:
    """NumPy arrays of normal numbers, one a shape; the array itself for one shape."""
    arrays = [np.array(np.random.randn(*shape), dtype=default_dtype()) for shape in shapes]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes: Any, low: float = 0.0, high: float = 1.0, dtype: DType | None = None) -> Any:
    """A list of NumPy arrays of numbers between `low` and `high`, one a shape."""
    return [np.random.uniform(low, high, size=shape).astype(dtype or default_dtype()) for shape in shapes]


def random_sample(population: list[int], k: int) -> list[int]:
    """k elements of a list, in random order."""
    if not 0 <= k <= len(population):
        raise AssertionError(f'{k} elements cannot be drawn from {len(population)}')
    drawn = population[:]
    np.random.shuffle(drawn)
    return drawn[:k]


def assign_each(the_input: Any, function: Callable[..., Any]) -> Any:
    """A NumPy array with a Python function of each element; a copy without one."""
    if function is None:
        return np.array(the_input)
    return np.array([function(x) for x in the_input.reshape(-1)], dtype=np.float64).reshape(the_input.shape)


def assign_each2(input1: Any, input2: Any, function: Callable[..., Any]) -> Any:
    """A NumPy array with a Python function of each pair of elements; a copy of the first without one."""
    if function is None:
        return np.array(input1)
    if input1.shape != input2.shape:
        raise AssertionError(f'the shapes {input1.shape} and {input2.shape} differ')
    pairs = zip(input1.reshape(-1), input2.reshape(-1), strict=True)
    return np.array([function(x, y) for x, y in pairs], dtype=np.float64).reshape(input1.shape)


def create_2d_tensor(rows: int, columns: int, dtype: DType = np.int64) -> NDArray:
    """A matrix whose rows hold their number."""
    return nd.arange(0, rows, dtype=dtype).reshape(rows, 1).broadcast_to((rows, columns))


def create_vector(size: int, dtype: DType = np.int64) -> NDArray:
    """0, 1, 2, ..."""
    return nd.arange(0, size, dtype=dtype)


def get_identity_mat(size: Any) -> Any:
    """The identity matrix."""
    return nd.eye(size)


def get_identity_mat_batch(size: int) -> NDArray:
    """Two identity matrices."""
    return nd.stack(nd.eye(size), nd.eye(size))


def rand_ndarray(shape: Any, stype: str = 'default', density: float | None = None, dtype: DType | None = None,
                 modifier_func: Callable[..., Any] | None = None, shuffle_csr_indices: bool = False,
                 distribution: Any = None, ctx: Any = None) -> Any:
    """A random array of a storage type."""
    ctx = ctx or current_context()
    if stype == 'default':
        return nd.array(random_arrays(shape), dtype=dtype, ctx=ctx)
    return rand_sparse_ndarray(shape, stype, density=density, modifier_func=modifier_func, dtype=dtype,
                               shuffle_csr_indices=shuffle_csr_indices, distribution=distribution, ctx=ctx)[0]


# ---------------------------------------------------------------------- sparse arrays
def rand_sparse_ndarray(shape: Any, stype: str, density: float | None = None, dtype: DType | None = None,
                        distribution: str | None = None, data_init: int | None = None, rsp_indices: Any = None,
                        modifier_func: Callable[..., Any] | None = None, shuffle_csr_indices: bool = False,
                        ctx: Any = None) -> Any:
    """A random sparse array, and what it is made of.

    row_sparse: (array, (values, indices)); csr: (array, (indptr, indices, data)).  `density` is the share of rows or
    elements that are there.  A csr array with distribution='powerlaw' has rows that are each twice as full as the one
    before.
    """
    ctx = ctx or current_context()
    density = np.random.rand() if density is None else density
    dtype = dtype or default_dtype()
    distribution = distribution or 'uniform'
    if stype == 'row_sparse':
        if distribution != 'uniform':
            raise AssertionError(f'row_sparse arrays have no distribution {distribution!r}')
        return _rand_row_sparse(shape, density, dtype, data_init, rsp_indices, modifier_func, ctx)
    if stype != 'csr':
        raise AssertionError(f"stype must be 'row_sparse' or 'csr', not {stype!r}")
    if len(shape) != 2:
        raise AssertionError(f'a csr array has two axes, not the shape {shape}')
    if distribution == 'uniform':
        csr = _uniform_csr(shape[0], shape[1], density, dtype, data_init, shuffle_csr_indices)
    elif distribution == 'powerlaw':
        csr = nd.array(_powerlaw(shape[0], shape[1], density, dtype)).tostype('csr')
    else:
        raise AssertionError(f"distribution must be 'uniform' or 'powerlaw', not {distribution!r}")
    csr = csr.as_in_context(ctx)
    return csr, (csr.indptr, csr.indices, csr.data)


def _rand_row_sparse(shape, density, dtype, data_init, indices, modifier_func, ctx):
    if indices is None:
        indices = np.flatnonzero(np.random.rand(shape[0]) < density)
    elif len(indices) > shape[0]:
        raise AssertionError(f'{len(indices)} rows given for an array with {shape[0]}')
    if not len(indices):
        empty = nd.zeros(shape, stype='row_sparse', dtype=dtype, ctx=ctx)
        return empty, (np.array([], dtype=dtype), np.array([]))
    values = np.random.rand(len(indices), *shape[1:]).astype(dtype)
    if data_init is not None:
        values.fill(data_init)
    if modifier_func is not None:
        values = assign_each(values, modifier_func)
    array = nd.sparse.row_sparse_array((values, indices), shape=shape, dtype=dtype, ctx=ctx)
    return array, (values, indices)


def _check_csr(rows, columns, density):
    if not 0 <= density <= 1:
        raise ValueError(f'density must be between 0 and 1, not {density}')
    if rows <= 0 or columns <= 0:
        raise ValueError(f'a random csr array needs rows and columns, not the shape ({rows}, {columns})')


def _uniform_csr(rows, columns, density, dtype, data_init, shuffle):
    _check_csr(rows, columns, density)
    filled = np.sort(np.random.choice(rows * columns, int(round(rows * columns * density)), replace=False))
    values = np.random.rand(len(filled)).astype(dtype)
    if data_init is not None:
        values.fill(data_init)
    indptr = np.searchsorted(filled, np.arange(rows + 1) * columns)
    indices = filled % columns
    if shuffle:
        for start, stop in zip(indptr[:-1], indptr[1:], strict=True):
            np.random.shuffle(indices[start:stop])
    return nd.sparse.csr_matrix((values, indices, indptr), shape=(rows, columns), dtype=dtype)


def _powerlaw(rows, columns, density, dtype):
    """A dense matrix with 1, 2, 4, ... elements in its rows, until there are `density` of them."""
    _check_csr(rows, columns, density)
    left = int(rows * columns * density)
    if left < 2 * rows:
        raise ValueError(f'density {density} gives the {rows} rows of a powerlaw array {left} elements; '
                         'there must be two a row or more')
    values = np.zeros((rows, columns), dtype=dtype)
    values[:, 0] = 1 + np.random.uniform(0.001, 2, size=rows)          # no row is empty
    left -= rows
    for row in range(rows):
        count = min(columns - 1, 2 ** (row + 1) - 1, left)
        values[row, 1:1 + count] = 1 + np.random.uniform(0.001, 2, size=count)
        left -= count
    if left > 0:
        raise ValueError(f'density {density} is too much for a powerlaw array of shape ({rows}, {columns})')
    return values


def shuffle_csr_column_indices(csr: Any) -> None:
    """Brings the column indices of each row of a csr matrix (ours or SciPy's) out of order, in place."""
    for i in range(len(csr.indptr) - 1):
        start, stop = int(csr.indptr[i]), int(csr.indptr[i + 1])
        part = np.array(csr.indices[start:stop])
        np.random.shuffle(part)
        csr.indices[start:stop] = part


def create_sparse_array(shape: Any, stype: str, data_init: int | None = None, rsp_indices: Any = None,
                        dtype: DType | None = None, modifier_func: Callable[..., Any] | None = None,
                        density: float = .5, shuffle_csr_indices: bool = False) -> Any:
    """A random sparse array; the rows of a row_sparse one may be given in any order."""
    if stype == 'row_sparse' and rsp_indices is not None:
        rsp_indices = np.sort(np.asarray(rsp_indices))
    return rand_sparse_ndarray(shape, stype, density=density, data_init=data_init, rsp_indices=rsp_indices, dtype=dtype,
                               modifier_func=modifier_func, shuffle_csr_indices=shuffle_csr_indices)[0]


def create_sparse_array_zd(shape: Any, stype: str, density: float, data_init: Any = None, rsp_indices: Any = None,
                           dtype: DType | None = None, modifier_func: Callable[..., Any] | None = None,
                           shuffle_csr_indices: bool = False) -> Any:
    """`create_sparse_array` where a row_sparse array has the given rows only, whatever `density` is."""
    if stype == 'row_sparse':
        density = 0.0
    return create_sparse_array(shape, stype, data_init=data_init, rsp_indices=rsp_indices, dtype=dtype,
                               modifier_func=modifier_func, density=density, shuffle_csr_indices=shuffle_csr_indices)


# ---------------------------------------------------------------------- matrices for linear algebra
def new_matrix_with_real_eigvals_2d(n: int) -> Any:
    """A well-conditioned matrix with real eigenvalues between -10 and 10."""
    while True:
        v = np.random.uniform(-1, 1, (n, 1))
        v /= np.linalg.norm(v)
        # a reflection, its columns stretched: easy to invert as long as no stretch is much smaller than another
        basis = (np.eye(n) - 2 * v @ v.T) * np.random.uniform(-1, 1, n)
        if np.linalg.cond(basis, 2) < 3:
            return np.linalg.inv(basis) @ np.diag(np.random.uniform(-10, 10, n)) @ basis


def new_orthonormal_matrix_2d(n: int) -> Any:
    """A matrix whose inverse is its transpose."""
    x = np.random.randn(n, n)
    return np.linalg.qr(x.T @ x)[0]


def new_sym_matrix_with_real_eigvals_2d(n: int) -> Any:
    """A symmetric matrix with eigenvalues between -10 and 10."""
    q = new_orthonormal_matrix_2d(n)
    return q.T @ np.diag(np.random.uniform(-10, 10, n)) @ q


def _stack(make, shape):
    count = int(np.prod(shape[:-2]))
    return np.array([make(shape[-1]) for _ in range(count)]).reshape(shape)


def new_matrix_with_real_eigvals_nd(shape: Any) -> Any:
    """`new_matrix_with_real_eigvals_2d` for the last two axes of a shape."""
    return _stack(new_matrix_with_real_eigvals_2d, shape)


def new_sym_matrix_with_real_eigvals_nd(shape: Any) -> Any:
    """`new_sym_matrix_with_real_eigvals_2d` for the last two axes of a shape."""
    return _stack(new_sym_matrix_with_real_eigvals_2d, shape)


_explain_kinds(globals(), __all__)
