"""The two kinds of sparse arrays; `_sparse` has the functions that make them.

`_sparse_dispatch` runs operators on them: on their parts where the result is sparse, too, else through the dense array
that they stand for.
"""
from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy
import torch

from .. import _autograd as autograd
from .._array import INPLACE, Meta, NDArrayBase, readable, wrap
from .._files import params
from .._hooks import hooks
from .._ops.core.dtypes import NAME, NUMPY, torch_dtype
from .._state import state
from ..base import MXNetError, NotSupportedForSparseNDArray
from ..context import Context, current_context
from . import _arithmetic, _indexing, _interop, _sparse_arithmetic, _sparse_links, _sparse_parts
from .ndarray import NDArray

if TYPE_CHECKING:
    from .._typing import DType, Shape

STYPES = ('default', 'row_sparse', 'csr')


def _copied(part: int, doc: str) -> Any:
    """A property that gives a copy of a part; parts cannot be set one by one."""
    def get(self):
        return wrap(self._parts()[part].clone(), self._ctx, NDArray)

    def refuse(self, value):
        raise NotImplementedError(f'a part of a {type(self).__name__} cannot be set alone; make a new array, or write '
                                  'all of it with x[:] = ...')
    return property(get, refuse, doc=doc)


class BaseSparseNDArray(NDArray):
    """What CSRNDArray and RowSparseNDArray have in common."""

    # _stored: the stored values, then the index tensors, or a `Later` that computes them; replaced as a whole, but for
    #     updates of weights by optimizers
    # _checked: whether the indices are known to lie inside of the array
    # _rising: whether the rows of a row_sparse array are known to rise
    # _history: the anchor by which autograd knows the array, where it was computed while recording: see _sparse_links
    __slots__ = ('_stored', '_shape', '_checked', '_rising', '_history')

    _sparse = True
    _stype: str
    _smallest: tuple[int, ...]
    _from_dense: Callable
    _to_dense: Callable
    _problems: Callable

    def __init__(self, handle: torch.Tensor | None = None, writable: bool = True) -> None:
        if handle is not None:
            raise TypeError(f'a {type(self).__name__} is made by csr_matrix, row_sparse_array, zeros or tostype')
        self._stored, self._shape, self._ctx = nothing(self._stype, self._smallest, torch.float32, current_context())
        self._checked, self._rising, self._history = True, True, None
        self._storage = self._variable = self._pending = None

    # ------------------------------------------------------------------ parts
    def _parts(self):
        """The stored values, then the index tensors, computed if they were left for later."""
        if type(self._stored) is not tuple:
            self._stored = self._stored()
        return self._stored

    @classmethod
    def _make(cls, parts, shape, ctx, checked=True, history=None):
        array = object.__new__(cls)
        array._stored, array._shape, array._ctx = tuple(parts), tuple(shape), ctx
        array._checked, array._rising, array._history = checked, False, history
        array._storage = array._variable = array._pending = None
        return array

    def _take(self, other):
        """Becomes what `other`, of the same type, is; the context stays."""
        self._stored, self._shape, self._history = other._parts(), other._shape, other._history
        self._checked, self._rising = other._checked, other._rising

    def _like(self, parts, history=None):
        array = self._make(parts, self._shape, self._ctx, self._checked, history)
        array._rising = self._rising and array._parts()[1] is self._parts()[1]
        return array

    def _problem(self, depth):
        return next(filter(None, itertools.islice(self._problems(self._parts(), self._shape), depth)), None)

    def _safe_parts(self):
        """The parts, once their indices are known to lie inside of the array."""
        if not self._checked:
            problem = self._problem(2)
            if problem:
                raise MXNetError(problem)
            self._checked = True
        return self._parts()

    def _values(self):
        """The dense tensor, without history."""
        return self._to_dense(self._safe_parts(), self._shape)

    def meta(self) -> Any:
        return Meta(torch.Size(self._shape), self._stored[0].dtype, self._ctx)

    def materialize(self, borrow: bool = False) -> Any:
        """A dense copy."""
        return _sparse_links.linked(self._history, self._values())

    def _rebind(self, dense):
        self._stored, self._shape = self._from_dense(dense.detach()), tuple(dense.shape)
        self._checked = self._rising = True
        self._history = _sparse_links.anchored(dense)

    def _link(self):
        """The tensor by which autograd finds the array in its graph; it has no values."""
        return self._variable.anchor if self._variable is not None else self._history if self._history is not None \
            else _sparse_links.anchor(self._shape, self._stored[0].dtype, self._stored[0].device)

    def _recorded_link(self):
        """The anchor whose history an operator must go on with, if there is one."""
        if not state.recording:
            return None
        link = self._history if self._variable is None else self._variable.link()
        return link if link is not None and link.requires_grad else None

    def _recorded(self):
        """The dense tensor whose history an operator must go on with, if there is one."""
        link = self._recorded_link()
        return None if link is None else _sparse_links.linked(link, self._values())

    def _attach(self, buffer, req):
        self._history = None
        self._variable = _sparse_links.SparseVariable(self, buffer, req)

    def _take_gradient(self, gradient, req):
        """Writes or adds a gradient, be it one of torch's sparse tensors, which hold some rows."""
        if isinstance(self, RowSparseNDArray) and gradient.layout is not torch.strided:
            values, rows = _sparse_links.rows_of(gradient)
            if req == 'add' and len(self._parts()[1]):
                values, rows = _sparse_parts.rows_summed([self._ordered_parts(), (values, rows)])
            self._stored, self._history = (values.to(self.meta().dtype), rows), None
            self._checked = self._rising = True
            return
        gradient = _sparse_links.dense_gradient(gradient)
        self._overwrite(self._values() + gradient if req == 'add' else gradient)

    def _overwrite(self, dense):
        """Stores the values of a dense tensor, whatever autograd knows of the array."""
        values = self._parts()[0]
        dense = dense.to(values.device, values.dtype).expand(self._shape)
        self._rebind(dense if state.recording else dense.detach())

    def _check_writable(self, what):
        if state.recording and (self._variable is not None or self._history is not None):
            raise MXNetError(INPLACE.format(what=what))

    def _write(self, value, what):
        """Stores a tensor, or an array of any storage type, of the same shape."""
        self._check_writable(what)
        if tuple(value.shape) != self._shape:
            raise MXNetError(f'{what}: an array of shape {tuple(value.shape)} does not fit into {self._shape}')
        if type(value) is type(self):
            values = self._parts()[0]
            parts = [p.to(values.device, copy=True) for p in value._parts()]
            parts[0] = parts[0].to(values.dtype)
            link = value._recorded_link()
            if link is not None:
                link = link.to(values.device, values.dtype)
            self._take(self._make(parts, self._shape, self._ctx, value._checked, link))
        elif isinstance(value, BaseSparseNDArray):
            raise TypeError(f'{what}: a {value.stype} array cannot be stored in a {self.stype} one; '
                            "convert it with tostype('default')")
        else:
            self._overwrite(readable(value) if isinstance(value, NDArrayBase) else value)

    # ------------------------------------------------------------------ properties
    @property
    def stype(self) -> str:
        """Storage type: 'csr' or 'row_sparse'."""
        return self._stype

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self._shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._shape)

    @property
    def size(self) -> Any:
        """Not there: it could mean the elements or the stored ones."""
        raise NotImplementedError('the size of a sparse array is ambiguous; use shape, or data.size')

    @property
    def dtype(self) -> type[Any]:
        """Type of the elements, as a NumPy type."""
        return NUMPY[NAME[self._stored[0].dtype]]

    @property
    def _num_aux(self):
        return len(self._parts()) - 1

    @property
    def _aux_types(self):
        return [NUMPY[NAME[p.dtype]] for p in self._parts()[1:]]

    # ------------------------------------------------------------------ Python's operators
    def __add__(self, other: Any) -> Any:
        return _sparse_arithmetic.add(self, other)

    def __sub__(self, other: Any) -> Any:
        return _sparse_arithmetic.subtract(self, other)

    def __mul__(self, other: Any) -> Any:
        return _sparse_arithmetic.multiply(self, other)

    def __truediv__(self, other: Any) -> Any:
        return _sparse_arithmetic.divide(self, other)

    __div__: ClassVar[Callable[[Any, Any], Any]] = __truediv__

    # Python asks a subclass first: `dense * sparse` comes here, and is dense
    def __radd__(self, other: Any) -> NDArray:
        return _arithmetic.add(other, self) if isinstance(other, NDArrayBase) else self + other

    def __rmul__(self, other: Any) -> Any:
        return _arithmetic.multiply(other, self) if isinstance(other, NDArrayBase) else self * other

    def __neg__(self) -> Any:
        return _sparse_arithmetic.multiply(self, -1)

    def __iadd__(self, other: Any) -> Self:
        self._write(_sparse_arithmetic.add(self, other), '+=')
        return self

    def __isub__(self, other: Any) -> Self:
        self._write(_sparse_arithmetic.subtract(self, other), '-=')
        return self

    def __imul__(self, other: Any) -> Self:
        self._write(_sparse_arithmetic.multiply(self, other), '*=')
        return self

    def __itruediv__(self, other: Any) -> Self:
        self._write(_sparse_arithmetic.divide(self, other), '/=')
        return self

    __idiv__ = __itruediv__

    def __imod__(self, other: Any) -> Self:
        self._write(_arithmetic.modulo(self, other), '%=')
        return self

    def __bool__(self) -> bool:
        return bool(self.tostype('default'))

    __nonzero__ = __bool__

    def __len__(self) -> int:
        return self._shape[0]

    def __setitem__(self, key: Any, value: Any) -> None:
        name = type(self).__name__
        if not isinstance(key, slice):
            raise TypeError(f'{name}: only x[:] = ... can be assigned, not single elements')
        if key != slice(None):
            raise ValueError(f'{name}: only x[:] = ... can be assigned, not a part of the array')
        if value is self:
            return
        if not isinstance(value, NDArrayBase):
            if not isinstance(value, (int, float)):
                value = _interop.constant(value, self._parts()[0])
            if not isinstance(value, torch.Tensor):
                value = self._filled(value)
        self._write(value, 'x[:] = ...')

    def _clear(self):
        """Sets the array to zeros, none of which are stored."""
        self._write(self._make(*nothing(self._stype, self._shape, self.meta().dtype, self._ctx)), 'zeros')

    def _filled(self, value):
        """What `x[:] = value` stores."""
        if value == 0:
            return self._make(*nothing(self._stype, self._shape, self.meta().dtype, self._ctx))
        return torch.full(self._shape, value, dtype=self.meta().dtype, device=self._parts()[0].device)

    # ------------------------------------------------------------------ copies and conversions
    def astype(self, dtype: DType, copy: bool = True) -> Any:
        """The array in another dtype; with copy=False, the array itself if it has that dtype already."""
        wanted = torch_dtype(dtype)
        if not copy and self.meta().dtype is wanted:
            return self
        link = self._recorded_link()
        return self._like((self._parts()[0].to(wanted, copy=True), *[p.clone() for p in self._parts()[1:]]),
                          None if link is None else link.to(wanted))

    def copy(self) -> Any:
        """A copy on the same context."""
        return self.copyto(self._ctx)

    def copyto(self, other: Any) -> Any:
        """Copies the values into an array of this storage type or a dense one, or makes a copy on another context."""
        if isinstance(other, Context):
            link = self._recorded_link()
            return self._make([_interop.move(p, other) for p in self._parts()], self._shape, other, self._checked,
                              None if link is None else link.to(other.torch_device))
        if other is self or not isinstance(other, BaseSparseNDArray):
            return super().copyto(other)
        other._write(self, 'copyto')
        return other

    def detach(self) -> Any:
        """The same parts, without the history that autograd keeps."""
        return self._like(self._parts())

    def tostype(self, stype: str) -> Any:
        """A copy in another storage type."""
        if stype == 'default':
            return wrap(readable(self), self._ctx, NDArray)
        if stype == self._stype:
            return self.copy()
        if stype in STYPES:
            raise ValueError(f'a {self._stype} array cannot become a {stype} one directly; '
                             f"use tostype('default').tostype({stype!r})")
        raise unknown_stype(stype)

    def as_np_ndarray(self) -> Any:
        """Not there: NumPy's arrays are dense."""
        raise ValueError(f"a {self._stype} array cannot be an mx.np.ndarray; use tostype('default').as_np_ndarray()")

    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        """Not there: sparse arrays keep their shape."""
        raise NotSupportedForSparseNDArray(self.reshape, None, shape)

    def broadcast_to(self, shape: Shape) -> NDArray:      # type: ignore[override]
        """A dense array with axes of length 1 repeated to fit `shape`."""
        return self.tostype('default').broadcast_to(shape)

    def check_format(self, full_check: bool = True) -> None:
        """Raises MXNetError where the parts do not make up an array of this storage type.

        With full_check=False only their shapes are looked at.
        """
        problem = self._problem(3 if full_check else 1)
        if problem:
            raise MXNetError(problem)

    def wait_to_read(self) -> None:
        """Waits until the array is computed; an error of the computation is raised here at the latest."""
        _interop.synchronize(self._parts()[0].device)

    wait_to_write = wait_to_read

    def attach_grad(self, grad_req: str = 'write', stype: str | None = None) -> None:
        """Gives the array a gradient buffer, `x.grad`, of its own storage type unless `stype` is given."""
        stype = stype or self._stype
        buffer = self._make(*nothing(stype, self._shape, self.meta().dtype,
                                     self._ctx)) if stype == self._stype else \
            wrap(torch.zeros_like(self._values()), self._ctx, NDArray).tostype(stype)
        autograd.mark_variables([self], [buffer], [grad_req])

    def to_torch(self) -> Any:
        """A copy of the array as a dense `torch.Tensor`."""
        return readable(self)

    def __array__(self, dtype: DType | None = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError('a sparse array cannot become a NumPy array without a copy')
        return super().__array__(dtype)

    # ------------------------------------------------------------------ files and printing
    def _record(self, context):
        """What a file holds of the array; see utils.py."""
        values, *aux = [p.cpu() for p in self._parts()]
        return params.Record(self._stype, self._shape, values, tuple(aux), context)

    def __setstate__(self, state: Any) -> None:
        handle = hooks.handle_of(state, type(self).__name__)
        if handle is not None:
            loaded = hooks.from_record(params.decode_record(handle, f'a pickled {type(self).__name__}'))
            if type(loaded) is not type(self):
                raise MXNetError(f'a pickled {type(self).__name__} holds a {loaded.stype} array')
            self._take(loaded)
            self._ctx, self._storage, self._variable, self._pending = loaded._ctx, None, None, None

    def __repr__(self) -> str:
        return f'\n<{type(self).__name__} {"x".join(str(n) for n in self._shape)} @{self._ctx}>'

    def _repr_html_(self):
        shape = ' &times; '.join(str(n) for n in self._shape)
        return (f'<div><code>{type(self).__name__}</code> {shape}, {NAME[self.meta().dtype]}, {self._ctx}, '
                f'{len(self._parts()[-1])} stored</div>')


class CSRNDArray(BaseSparseNDArray):
    """A matrix that stores its non-zero elements row by row.

    Row i has the values `data[indptr[i]:indptr[i + 1]]` in the columns `indices[indptr[i]:indptr[i + 1]]`.

    >>> x = mx.nd.array([[0, 1, 0], [2, 0, 3]]).tostype('csr')
    >>> x.indptr.asnumpy().tolist(), x.indices.asnumpy().tolist()
    ([0, 1, 3], [1, 0, 2])
    """

    __slots__ = ()
    _stype = 'csr'
    _smallest = (0, 0)
    _from_dense = staticmethod(_sparse_parts.csr_from_dense)
    _to_dense = staticmethod(_sparse_parts.csr_to_dense)
    _problems = staticmethod(_sparse_parts.csr_problems)

    data: NDArray = _copied(0, 'A copy of the stored values, row after row.')
    indptr: NDArray = _copied(1, 'A copy of the positions in `data` where each row begins, and the end of the last.')
    indices: NDArray = _copied(2, 'A copy of the columns of the stored values.')

    def __getitem__(self, key: Any) -> Any:
        rows = self._shape[0]
        if isinstance(key, (int, numpy.integer)):
            if not -rows <= key < rows:
                raise IndexError(f'row {key} of a csr array with {rows} rows')
            begin = int(key) % rows
            end = begin + 1
        elif isinstance(key, slice):
            if key.step not in (None, 1):
                raise ValueError(f'CSRNDArray: only consecutive rows can be taken, not every {key.step}')
            if key == slice(None):
                return self
            begin, end, _ = key.indices(rows)
            end = max(begin, end)
        else:
            raise ValueError('CSRNDArray: one row or consecutive rows can be taken, x[2] or x[1:3], '
                             f'not x[{_indexing._spell(key)}]; tostype("default") makes a dense array')
        link = self._recorded_link()
        return self._make(_sparse_parts.csr_rows(self._safe_parts(), begin, end), (end - begin, self._shape[1]),
                          self._ctx, history=None if link is None else link[begin:end])

    def asscipy(self, copy: bool = True) -> Any:
        """A copy as a `scipy.sparse.csr_matrix`; with copy=False it shares the memory of an array on the CPU."""
        try:
            import scipy.sparse
        except ImportError:
            raise ImportError('asscipy needs SciPy: pip install scipy') from None
        values, indptr, indices = [p.cpu().numpy() for p in self._safe_parts()]
        return scipy.sparse.csr_matrix((values, indices, indptr), shape=self._shape, copy=copy)

    def to_torch_sparse(self) -> Any:
        """The array as a `torch.sparse_csr` tensor, which shares its memory."""
        values, indptr, indices = self._safe_parts()
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', UserWarning)        # torch calls its csr tensors a prototype
            return torch.sparse_csr_tensor(indptr, indices, values, self._shape)


class RowSparseNDArray(BaseSparseNDArray):
    """An array that stores some of its rows; the others are 0.

    Row `indices[i]` of the array is `data[i]`.  Gradients of embeddings have this form.

    >>> x = mx.nd.array([[0, 0], [1, 2], [0, 0]]).tostype('row_sparse')
    >>> x.indices.asnumpy().tolist(), x.data.asnumpy().tolist()
    ([1], [[1.0, 2.0]])
    """

    __slots__ = ()
    _stype = 'row_sparse'
    _smallest = (0,)
    _from_dense = staticmethod(_sparse_parts.rows_from_dense)
    _to_dense = staticmethod(_sparse_parts.rows_to_dense)
    _problems = staticmethod(_sparse_parts.rows_problems)

    data: NDArray = _copied(0, 'A copy of the stored rows.')
    indices: NDArray = _copied(1, 'A copy of the positions of the stored rows.')

    @classmethod
    def _later(cls, later, shape, ctx, history):
        """An array whose values, of rows in rising order, are computed when they are read."""
        array = cls._make((), shape, ctx, history=history)
        array._stored, array._rising = later, True
        return array

    def _filled(self, value):
        # Every row is stored, of zeros, too: lazy updates then go to all rows.
        device = self._parts()[0].device
        values = torch.full(self._shape, value, dtype=self.meta().dtype, device=device)
        return self._make((values, torch.arange(self._shape[0], device=device)), self._shape, self._ctx)

    def _ordered_parts(self):
        """The parts with the rows in rising order, as 64-bit numbers."""
        values, rows = self._safe_parts()
        rows = rows.long()
        if not self._rising:
            if not _sparse_parts.rises(rows):
                order = rows.argsort(stable=True)
                return values[order], rows[order]
            self._rising = True
        return values, rows

    def __getitem__(self, key: Any) -> Self:
        if isinstance(key, slice) and key == slice(None):
            return self
        raise ValueError(f'RowSparseNDArray: only x[:] can be taken, not x[{_indexing._spell(key)}]; retain() selects '
                         'rows, tostype("default") makes a dense array')

    def to_torch_sparse(self) -> Any:
        """The array as a `torch.sparse_coo` tensor of rows, which shares its memory."""
        values, rows = self._ordered_parts()
        _sparse_links.be_warned()
        return torch.sparse_coo_tensor(rows.unsqueeze(0), values, self._shape, is_coalesced=True,
                                       check_invariants=False)

    def retain(self, indices: NDArray, out: Any = None) -> Any:
        """The array with only the rows at `indices`; see `mx.nd.sparse.retain`."""
        return hooks.retain(self, indices, out)


# pickles name the place where upstream has them
BaseSparseNDArray.__module__ = CSRNDArray.__module__ = RowSparseNDArray.__module__ = 'mxnet.ndarray.sparse'
CLASSES = {'csr': CSRNDArray, 'row_sparse': RowSparseNDArray}


def unknown_stype(stype):
    return MXNetError(f"a storage type is 'default', 'row_sparse' or 'csr', not {stype!r}")


def check_axes(stype, shape, error):
    if stype == 'csr' and len(shape) != 2:
        raise error(f'a csr array has two axes, which shape {tuple(shape)} has not')
    if not shape:
        raise error('a row_sparse array has at least one axis')


def from_dense(array: NDArray, stype: str) -> Any:
    """A dense array in a sparse storage type; `x.tostype(stype)`."""
    if stype not in CLASSES:
        raise unknown_stype(stype)
    check_axes(stype, array.shape, ValueError)
    cls = CLASSES[stype]
    tensor = readable(array)
    # while recording, the gradient of all elements goes back, stored or not
    return cls._make(cls._from_dense(tensor.detach()), array.shape, array._ctx,
                     history=_sparse_links.anchored(tensor))


def from_record(record: Any, ctx: Context) -> Any:
    """The array that a file holds; see utils.py."""
    parts = [_interop.allocate(p, ctx) for p in (record.data, *record.aux)]
    return CLASSES[record.stype]._make(parts, record.shape, ctx)


def nothing(stype, shape, dtype, ctx):
    """(parts, shape, context) of an array of zeros."""
    def filled(*lengths, of=torch.int64):
        return _interop.allocate(torch.zeros(lengths, dtype=of, device=ctx.torch_device), ctx)
    if stype == 'csr':
        return (filled(0, of=dtype), filled(shape[0] + 1), filled(0)), shape, ctx
    return (filled(0, *shape[1:], of=dtype), filled(0)), shape, ctx


hooks.from_dense = from_dense
