"""`mx.np.ndarray`: NumPy's semantics on the same memory that `mx.nd.NDArray` has, with gradients and GPUs."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy
import torch

from .._array import readable, wrap, write
from .._hooks import hooks
from .._lazy.operators import getitem as deferred_getitem
from .._lazy.operators import reshape as deferred_reshape
from .._np_mode import NumpyShapes
from .._ops.core.dtypes import NAME, torch_dtype
from .._ops.core.table import NAMES
from .._provenance import record_result
from .._state import state
from ..base import MXNetError
from ..ndarray import _indexing, _interop
from ..ndarray._arithmetic import FLOATS, NUMERIC, fast_inplace
from ..ndarray.ndarray import NDArray
from . import _call, _index, _matrix, _more, _protocols, _shape
from . import _elementwise as _e
from ._call import apply
from ._methods import ArrayMethods

if TYPE_CHECKING:
    from .._typing import DType, Shape
    from ..context import Context

_new = object.__new__
_nd_dtype: Any = vars(NDArray)['dtype'].fget
_DTYPES = {t: numpy.dtype(n) for t, n in NAME.items() if n != 'bfloat16'}


def _inplace(function, what):
    def method(self, other):
        result = function(self, other)
        if result.meta().shape != self.meta().shape:
            raise ValueError(f'{what}: the result has shape {result.shape}, but the array {self.shape}')
        write(self, result.materialize(), what)
        return self
    return method


class ndarray(ArrayMethods, NDArray):  # type: ignore[misc]  # methods with NumPy's arguments instead of nd's
    """An array with NumPy's semantics.

    Made by `mx.np.array`, `zeros`, `arange`, ... and by the functions of `mx.np` and `mx.npx`.  It may have no axes,
    or axes of length 0; comparisons give booleans, and those select elements.

    >>> x = mx.np.arange(6).reshape(2, 3)
    >>> x[x > 2]
    array([3., 4., 5.])
    >>> x.sum()
    array(15.)
    """

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """Type of the elements, as a NumPy dtype."""
        return _DTYPES.get((self.meta() if self._storage is None else self._storage).dtype) or _nd_dtype(self)

    @property
    def mT(self) -> Self:
        """The last two axes exchanged: a copy."""
        return _matrix.matrix_transpose(self)

    @property
    def device(self) -> Context:
        """The device that the array is on, as the array API names it."""
        return self._ctx

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.meta().dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.meta().shape.numel() * self.meta().dtype.itemsize

    if TYPE_CHECKING:
        @property
        def grad(self) -> ndarray: ...       # type: ignore[override]

    # ------------------------------------------------------------------ Python's operators
    __add__: ClassVar[Callable[[Any, Any], ndarray]] = _e.add.method
    __radd__: ClassVar[Callable[[Any, Any], ndarray]] = _e.add.reflected
    __sub__: ClassVar[Callable[[Any, Any], ndarray]] = _e.subtract.method
    __rsub__: ClassVar[Callable[[Any, Any], ndarray]] = _e.subtract.reflected
    __mul__: ClassVar[Callable[[Any, Any], ndarray]] = _e.multiply.method
    __rmul__: ClassVar[Callable[[Any, Any], ndarray]] = _e.multiply.reflected
    __truediv__: ClassVar[Callable[[Any, Any], ndarray]]
    __div__: ClassVar[Callable[[Any, Any], ndarray]]
    __truediv__ = __div__ = _e.true_divide.method
    __rtruediv__: ClassVar[Callable[[Any, Any], ndarray]]
    __rdiv__: ClassVar[Callable[[Any, Any], ndarray]]      # type: ignore[misc]
    __rtruediv__ = __rdiv__ = _e.true_divide.reflected
    __mod__: ClassVar[Callable[[Any, Any], ndarray]] = _e.mod.method
    __rmod__: ClassVar[Callable[[Any, Any], ndarray]] = _e.mod.reflected
    __pow__: ClassVar[Callable[[Any, Any], ndarray]] = _e.power.method
    __rpow__: ClassVar[Callable[[Any, Any], ndarray]] = _e.power.reflected
    __and__: ClassVar[Callable[[Any, Any], ndarray]]
    __rand__: ClassVar[Callable[[Any, Any], ndarray]]
    __and__ = __rand__ = _e.bitwise_and.method
    __or__: ClassVar[Callable[[Any, Any], ndarray]]
    __ror__: ClassVar[Callable[[Any, Any], ndarray]]
    __or__ = __ror__ = _e.bitwise_or.method
    __xor__: ClassVar[Callable[[Any, Any], ndarray]]
    __rxor__: ClassVar[Callable[[Any, Any], ndarray]]
    __xor__ = __rxor__ = _e.bitwise_xor.method
    __eq__: ClassVar[Callable[[Any, Any], ndarray]] = _e.equal.method
    __ne__: ClassVar[Callable[[Any, Any], ndarray]] = _e.not_equal.method
    __gt__: ClassVar[Callable[[Any, Any], ndarray]] = _e.greater.method
    __ge__: ClassVar[Callable[[Any, Any], ndarray]] = _e.greater_equal.method
    __lt__: ClassVar[Callable[[Any, Any], ndarray]] = _e.less.method
    __le__: ClassVar[Callable[[Any, Any], ndarray]] = _e.less_equal.method

    __iadd__: Any = fast_inplace(torch.Tensor.add_, _e.add.method, '+=', NUMERIC)
    __isub__: Any = fast_inplace(torch.Tensor.sub_, _e.subtract.method, '-=', NUMERIC)
    __imul__: Any = fast_inplace(torch.Tensor.mul_, _e.multiply.method, '*=', NUMERIC)
    __itruediv__: Any
    __idiv__: ClassVar[Callable[[Any, Any], ndarray]]      # type: ignore[misc]
    __itruediv__ = __idiv__ = fast_inplace(torch.Tensor.div_, _e.true_divide.method, '/=', FLOATS)

    __imod__: ClassVar[Callable[[Any, Any], ndarray]] = _inplace(_e.mod.method, '%=')
    __iand__: Any = _inplace(_e.bitwise_and.method, '&=')
    __ior__: Any = _inplace(_e.bitwise_or.method, '|=')
    __ixor__: Any = _inplace(_e.bitwise_xor.method, '^=')

    def __matmul__(self, other: Any) -> Self:
        return _matrix.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Self:
        return _matrix.matmul(other, self)

    __imatmul__: Any = _inplace(lambda self, other: _matrix.matmul(self, other), '@=')

    def __floordiv__(self, other: Any) -> Self:
        return _more.floor_divide(self, other)

    def __rfloordiv__(self, other: Any) -> Self:
        return _more.floor_divide(other, self)

    def __lshift__(self, other: Any) -> Self:
        return _more.left_shift(self, other)

    def __rshift__(self, other: Any) -> Self:
        return _more.right_shift(self, other)

    __ifloordiv__: Any = _inplace(lambda self, other: _more.floor_divide(self, other), '//=')

    def __neg__(self) -> Self:
        return _e.negative(self)

    def __pos__(self) -> Self:
        return self.copy()

    def __invert__(self) -> Self:
        return _e.invert(self)

    def __abs__(self) -> Self:
        return _e.abs(self)

    def __round__(self, n: int = 0) -> Self:
        return _e.around(self, n)

    def __floor__(self) -> Self:
        return _e.floor(self)

    def __ceil__(self) -> Self:
        return _e.ceil(self)

    def __trunc__(self) -> Self:
        return _e.trunc(self)

    def __hash__(self) -> int:
        return id(self) // 16

    def __bool__(self) -> bool:
        count = self.meta().shape.numel()
        if count == 1:
            return bool(_interop.item(self.materialize()))
        if count:
            raise ValueError('The truth value of an ndarray with multiple elements is ambiguous; use any() or all()')
        warnings.warn('an empty array is neither true nor false; it counts as False, but that will become an error',
                      DeprecationWarning, stacklevel=2)
        return False

    __nonzero__ = __bool__

    def _only(self):
        if self.meta().shape.numel() != 1:
            raise TypeError('only size-1 arrays can be converted to Python scalars')
        return _interop.item(self.materialize())

    def __float__(self) -> float:
        return float(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def __complex__(self) -> complex:
        return complex(self._only())

    def __index__(self) -> int:
        if self.meta().dtype.is_floating_point or self.meta().shape.numel() != 1:
            raise TypeError('only integer scalar arrays can be converted to a scalar index')
        return int(_interop.item(self.materialize()))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    # ------------------------------------------------------------------ indexing
    def __getitem__(self, key: Any) -> Self:
        kind = type(key)
        if self._pending is not None and state.recording:
            found = deferred_getitem(self, key, ndarray.__getitem__)
            if found is not None:
                return found
        tensor = self._storage
        if tensor is None:
            tensor = self.materialize()
        if state.recording and self._variable is not None:
            tensor = self._variable.leaf
        try:
            if kind is int and tensor.dim():
                result = tensor[key]
            elif _indexing.selects_all(key, kind) and (tensor.dim() or kind is tuple):
                return self
            elif kind is tuple and {int}.issuperset(map(type, key)) or kind is slice and key.step is None \
                    and tensor.dim() and (key.start is None or type(key.start) is int) \
                    and (key.stop is None or type(key.stop) is int):
                result = tensor[key]
            else:
                result = _indexing.read(tensor, key)
        except IndexError as error:
            raise _indexing.out_of_range(error, key, tensor) from None
        if state.recording:
            result = _indexing.recorded(self, key, tensor, result)
        elif result.requires_grad:
            result = result.detach()
        array = _new(ndarray)
        array._storage = result
        array._ctx = self._ctx
        array._variable = None
        array._pending = None
        return array        # type: ignore[return-value]

    def sort(self, axis: Shape | None = -1, kind: str | None = None, order: Any = None) -> None:      # type: ignore[override]
        """Sorts the elements along an axis, in place; `mx.np.sort` makes a new array."""
        self[...] = _index.sort(self, axis, kind, order)

    # ------------------------------------------------------------------ shape
    def reshape(self, *args: Any, **kwargs: Any) -> Self:
        """A copy in another shape, where -1 stands for what is left over; `reshape_view` shares memory.

        >>> mx.np.arange(6).reshape(2, -1).shape
        (2, 3)
        """
        return self._reshaped(True, args, kwargs)

    def reshape_view(self, *shape: Any, **kwargs: Any) -> Self:
        """The same memory under another shape."""
        return self._reshaped(False, shape, kwargs)

    def _reshaped(self, copy, args, kwargs):
        order = kwargs.pop('order', 'C') if kwargs else 'C'
        shape = args[0] if len(args) == 1 and type(args[0]) is not int else args
        if not args:
            shape = kwargs.pop('newshape', kwargs.pop('shape', None))
            if shape is None:
                raise TypeError('reshape: the new shape is missing')
        if kwargs:
            raise TypeError(f'reshape: unknown argument {next(iter(kwargs))}')
        if order != 'C':
            return _shape.reshape(self, shape, order)
        recording = state.recording
        if recording and self._pending is not None:
            found = deferred_reshape(self, (shape,), ndarray.reshape)
            if found is not None:
                return found
        tensor = self._storage
        if tensor is None:
            tensor = self.materialize()
        if recording and self._variable is not None:
            tensor = self._variable.leaf
        try:
            result = tensor.view(shape if type(shape) is tuple else _call.numbers(shape))
        except (RuntimeError, TypeError):
            raise MXNetError(f'reshape: an array of shape {self.shape} does not fit into {shape}') from None
        if copy:
            result = result.clone()
        if recording:
            record_result(NAMES['_np_reshape'], {'newshape': tuple(result.shape)}, (self,), result)
        elif result.requires_grad:
            result = result.detach()
        return wrap(result, self._ctx, ndarray)

    # ------------------------------------------------------------------ copies and conversions
    def item(self, *args: Any) -> Any:
        """The only element, the one at a flat position, or the one at a position along all axes, as a Python number."""
        if not args:
            if self.meta().shape.numel() != 1:
                raise ValueError('can only convert an array of size 1 to a Python scalar')
            return _interop.item(self.materialize())
        return self.asnumpy().item(*args)

    def astype(self, dtype: DType, order: str = 'K', casting: Any = 'unsafe', subok: bool = True,  # type: ignore[override]
               copy: bool = True) -> Self:
        """The array in another dtype; with copy=False, the array itself if it has that dtype already."""
        if order not in (None, 'K', 'C', 'A'):
            raise ValueError("astype: order must be 'K', 'C' or 'A': arrays are row-major")
        if casting != 'unsafe' and not numpy.can_cast(self.dtype, numpy.dtype(dtype), casting):
            raise TypeError(f'astype: {self.dtype} cannot become {numpy.dtype(dtype)} by the rule {casting!r}')
        wanted = torch_dtype(dtype)
        if not copy and self.meta().dtype is wanted:
            return self
        return apply('_npi_cast', (self,), {'dtype': NAME[wanted]})

    def copy(self, order: str = 'C') -> Self:
        """A copy on the same context."""
        if order not in ('C', 'K', 'A'):
            raise NotImplementedError("copy: arrays are row-major, so order must be 'C'")
        result = readable(self).clone()
        record_result(NAMES['_np_copy'], {}, (self,), result)
        return wrap(result, self._ctx, ndarray)     # type: ignore[return-value]  # also of a subclass

    def as_in_ctx(self, ctx: Context) -> Self:
        """The array on a context: itself if it is there, else a copy."""
        return self.as_in_context(ctx)

    def to_device(self, device: Context, *, stream: Any = None) -> Self:
        """The array on a device, as the array API names it."""
        return self.as_in_context(device)

    def as_nd_ndarray(self) -> NDArray:
        """The array as an `mx.nd.NDArray`, sharing memory."""
        array = wrap(self.materialize(), self._ctx, NDArray)
        array._variable = self._variable
        return array

    def as_np_ndarray(self) -> Self:
        """The array itself."""
        return self

    def tostype(self, stype: str) -> Self:
        """Arrays with NumPy's semantics are dense: this is for `mx.nd`."""
        if stype == 'default':
            return self
        raise NotImplementedError('an mx.np.ndarray is always dense; use as_nd_ndarray().tostype(...)')

    def __reduce__(self) -> Any:
        return ndarray, (None,), self.__getstate__()

    def __getstate__(self) -> Any:
        from ..ndarray.utils import to_bytes
        with NumpyShapes():
            return {'handle': to_bytes(self)}

    def __setstate__(self, state: Any) -> None:
        from ..ndarray.utils import set_from_bytes
        with NumpyShapes():
            set_from_bytes(self, state['handle'])

    # ------------------------------------------------------------------ printing
    def __repr__(self) -> str:
        text = repr(self._values())
        kind = self.meta().dtype
        if 'dtype=' in text:
            if kind is torch.float32:
                text = text[:text.rindex(',')] + ')'
        elif kind not in (torch.float32, torch.bool):
            text = f'{text[:-1]}, dtype={NAME[kind]})'
        if self._ctx.device_type == 'cpu':
            return text
        return f'{text[:-1]}, ctx={self._ctx})'

    def __str__(self) -> str:
        text = str(self._values())
        if self._ctx.device_type == 'cpu' or not self.meta().shape:
            return text
        return f'{text} @{self._ctx}'

    def __format__(self, fmt: str) -> str:
        if not fmt:
            return str(self)
        if self.meta().shape:
            raise TypeError(f'an array of shape {self.shape} cannot be formatted with {fmt!r}; a number can')
        return format(_interop.item(self.materialize()), fmt)

    # ------------------------------------------------------------------ protocols
    __array_ufunc__: Any = _protocols.array_ufunc
    __array_function__: Any = _protocols.array_function
    __array_namespace__: Any = _protocols.array_namespace


ndarray._dense = ndarray
ndarray.__module__ = 'mxnet.numpy'
_call.array_class = hooks.np_ndarray = ndarray

from ._creation import *  # noqa: E402
from ._elementwise import *  # noqa: E402
from ._index import *  # noqa: E402
from ._matrix import *  # noqa: E402
from ._reduce import *  # noqa: E402
from ._shape import *  # noqa: E402
