"""`NDArray`: a multi-dimensional array on a device."""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack
from weakref import ref

import numpy
import torch

from .. import _autograd
from .._array import NDArrayBase, readable, wrap, writable, write
from .._dispatch import entering, interceptors
from .._hooks import hooks
from .._kinds import explain_methods as _explain_methods
from .._lazy.operators import getitem as deferred_getitem
from .._lazy.operators import reshape as deferred_reshape
from .._names import kind_of
from .._names import suggest_members as _suggest_members
from .._names import suggest_names as _suggest_names
from .._ops import NAMES
from .._ops.core.checks import look, records
from .._ops.core.dtypes import BFLOAT16, NAME, NUMPY, torch_dtype
from .._ops.tensor.reshape_codes import resolve
from .._provenance import SETITEM, record_result, source
from .._state import state
from ..base import MXNetError, NDArrayHandle
from ..context import Context, given_context
from . import _arithmetic as _a
from . import _indexing, _interop, _invoke
from ._generated import make_method
from ._methods import OperatorMethods

if TYPE_CHECKING:
    from .._typing import DType, Gradient, ReshapeOptions, Scalar, Shape, TransposeOptions
    from ..numpy import ndarray

_new = object.__new__
py_slice = slice        # programs import it from here
# and this: files have the numbers
_STORAGE_TYPE_STR_TO_ID = {'undefined': -1, 'default': 0, 'row_sparse': 1, 'csr': 2}
NO_SCALAR = 'an array of shape {shape} is not a scalar; take its mean() or sum() first, or asnumpy() for all numbers'


class ShapeMismatch(MXNetError, ValueError):
    """Shapes that do not fit; programs of different times catch it as one or the other."""


_cast = make_method(NAMES['Cast'], 'cast')


class NDArray(OperatorMethods, NDArrayBase):
    """An array of numbers of one dtype on one context.

    Made by `mx.nd.array`, `zeros`, `ones`, ... and by operators.  Slices that are contiguous in memory and `reshape`
    share memory with the array they come from; everything else is a copy.

    >>> x = mx.nd.array([[1, 2], [3, 4]])
    >>> x * 2 + 1
    <BLANKLINE>
    [[3. 5.]
     [7. 9.]]
    <NDArray 2x2 @cpu(0)>
    """

    __slots__ = ()
    _dense: Any            # what operators on arrays of this type return
    __array_priority__: float = 1000.0        # NumPy's operators leave `numpy_array + x` to us

    def __init__(self, handle: Any = None, writable: bool = True) -> None:
        if isinstance(handle, NDArrayHandle):
            other = _interop.array_of(handle)
            self._storage, self._ctx = other.materialize(), other._ctx
            self._variable, self._pending = other._variable, None
            return
        tensor = torch.empty(0) if handle is None else handle
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f'an NDArray is made by mx.nd.array, not from a {type(handle).__name__}')
        self._storage, self._variable, self._pending = _interop.compact(tensor), None, None
        self._ctx = _interop.context_of(tensor)

    # ------------------------------------------------------------------ properties
    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple((self.meta() if self._storage is None else self._storage).shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.meta().shape) if self._storage is None else self._storage.dim()

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.meta().shape.numel() if self._storage is None else self._storage.numel()

    @property
    def dtype(self) -> type[Any]:
        """Type of the elements, as a NumPy type."""
        return NUMPY[NAME[(self.meta() if self._storage is None else self._storage).dtype]]

    @property
    def __numpy_dtype__(self) -> numpy.dtype[Any]:
        """What `numpy.dtype(x)` is."""
        return numpy.dtype(self.dtype)

    @property
    def context(self) -> Context:
        """The device that the array is on."""
        return self._ctx

    ctx = context

    @property
    def stype(self) -> str:
        """Storage type: 'default', 'row_sparse' or 'csr'."""
        return 'default'

    @property
    def handle(self) -> Any:
        """A number that stands for the array: `NDArray(x.handle)` shares its memory.

        Programs of MXNet 1.x have `NDArray(ctypes.cast(x, NDArrayHandle))` in their monitors.
        """
        return _interop.handle_of(self)

    _as_parameter_ = handle

    @property
    def T(self) -> Self:
        """The transpose: a copy with the axes in reverse order; the array itself if it has fewer than two."""
        return self if self.ndim < 2 else self.transpose()

    @property
    def writable(self) -> bool:
        """Whether the array can be written into; it always can."""
        return True

    @property
    def grad(self) -> Gradient:
        """The gradient that `backward` fills; None until `attach_grad`.  With grad_req='null' it stays as it is."""
        return None if self._variable is None else self._variable.buffer       # type: ignore[return-value]

    @property
    def _fresh_grad(self):
        """Whether `backward` has written the gradient since this was last set to False."""
        return self._variable is not None and self._variable.fresh[0]

    @_fresh_grad.setter
    def _fresh_grad(self, fresh):
        if self._variable is not None:
            self._variable.fresh[0] = bool(fresh)

    # ------------------------------------------------------------------ Python's operators
    __add__: ClassVar[Callable[[Any, Any], NDArray]]
    __radd__: ClassVar[Callable[[Any, Any], NDArray]]
    __add__ = __radd__ = _a.fast_binary(torch.add, _a.add, _a.NUMERIC)
    __sub__: ClassVar[Callable[[Any, Any], NDArray]] = _a.fast_binary(torch.sub, _a.subtract, _a.NUMERIC)
    __mul__: ClassVar[Callable[[Any, Any], NDArray]]
    __rmul__: ClassVar[Callable[[Any, Any], NDArray]]
    __mul__ = __rmul__ = _a.fast_binary(torch.mul, _a.multiply, _a.NUMERIC)
    __truediv__: ClassVar[Callable[[Any, Any], NDArray]]
    __div__: ClassVar[Callable[[Any, Any], NDArray]]
    __truediv__ = __div__ = _a.fast_binary(torch.div, _a.divide, _a.FLOATS)

    def __rsub__(self, other: Any) -> NDArray:
        return _a.subtract(other, self)

    def __rtruediv__(self, other: Any) -> NDArray:
        return _a.divide(other, self)

    __rdiv__ = __rtruediv__

    def __mod__(self, other: Any) -> NDArray:
        return _a.modulo(self, other)

    def __rmod__(self, other: Any) -> NDArray:
        return _a.modulo(other, self)

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, NDArrayBase):
            return NotImplemented
        raise TypeError('@ is not defined for mx.nd arrays; use mx.nd.dot for matrices, mx.nd.batch_dot for batches of '
                        'them, or mx.np arrays')

    def __pow__(self, other: Any) -> NDArray:
        return _a.power(self, other)

    def __rpow__(self, other: Any) -> NDArray:
        return _a.power(other, self)

    if TYPE_CHECKING:           # for type checkers: an assigned method has no declared type
        def __neg__(self) -> NDArray: ...
    else:
        __neg__ = _a.fast_negative(__mul__)

    def __abs__(self) -> Self:
        return self.abs()

    def __eq__(self, other: Any) -> NDArray:      # type: ignore[override]
        return _a.equal(self, other)

    def __ne__(self, other: Any) -> NDArray:      # type: ignore[override]
        return _a.not_equal(self, other)

    def __gt__(self, other: Any) -> NDArray:
        return _a.greater(self, other)

    def __ge__(self, other: Any) -> NDArray:
        return _a.greater_equal(self, other)

    def __lt__(self, other: Any) -> NDArray:
        return _a.lesser(self, other)

    def __le__(self, other: Any) -> NDArray:
        return _a.lesser_equal(self, other)

    def __hash__(self) -> int:
        return id(self) // 16

    __iadd__: Any = _a.fast_inplace(torch.Tensor.add_, _a.add, '+=', _a.NUMERIC)
    __isub__: Any = _a.fast_inplace(torch.Tensor.sub_, _a.subtract, '-=', _a.NUMERIC)
    __imul__: Any = _a.fast_inplace(torch.Tensor.mul_, _a.multiply, '*=', _a.NUMERIC)
    __itruediv__: Any
    __itruediv__ = __idiv__ = _a.fast_inplace(torch.Tensor.div_, _a.divide, '/=', _a.FLOATS)

    def __imod__(self, other: Any) -> NDArray:
        write(self, _a.modulo(self, other).materialize(), '%=')
        return self

    def __bool__(self) -> bool:
        if self.size > 1:
            if state.truth is not None:
                return state.truth(self)
            raise ValueError('the truth value of an NDArray with several elements is ambiguous')
        return bool(self.size) and bool(_interop.item(self.materialize()))

    __nonzero__ = __bool__

    def __len__(self) -> int:
        shape = (self.meta() if self._storage is None else self._storage).shape
        if not shape:
            raise TypeError('an array without axes has no len()')
        return shape[0]

    def __iter__(self) -> Iterator[Self]:
        for i in range(len(self)):
            yield self[i]

    def __float__(self) -> float:
        return float(self.asscalar())

    def __int__(self) -> int:
        return int(self.asscalar())

    def __index__(self) -> int:
        if self.meta().dtype.is_floating_point:
            raise TypeError(f'only an array of ints can be an index, not {NAME[self.meta().dtype]}')
        return int(self.asscalar())

    # ------------------------------------------------------------------ indexing
    _basic_indexing_slice_is_contiguous = staticmethod(_indexing.slice_is_contiguous)

    def __getitem__(self, key: Any) -> Self:
        kind = type(key)
        if kind is slice and not state.recording:
            # rows of a plain array; what torch's slices cannot do goes the long way
            tensor = self._storage
            if tensor is None:
                tensor = self.materialize()
            try:
                if key.stop is None and key.start is None and (key.step is None or key.step == 1) and tensor.dim():
                    return self
                result = tensor[key]
            except (TypeError, ValueError, IndexError):
                result = _indexing.read(tensor, key)
            if not result.is_contiguous():
                result = result.contiguous()
            if result.requires_grad:
                result = result.detach()
            array = _new(self._dense)
            array._storage = result
            array._ctx = self._ctx
            array._variable = None
            array._pending = None
            return array
        recording = state.recording
        if recording and self._pending is not None:
            if kind is slice and key.start is None and key.stop is None and key.step is None and self.ndim:
                return self
            found = deferred_getitem(self, key, NDArray.__getitem__)
            if found is not None:
                return found
        tensor = self._storage
        if tensor is None:
            tensor = self.materialize()
        if recording and self._variable is not None:
            tensor = self._variable.leaf
        if _indexing.selects_all(key, kind) and (tensor.dim() or kind is tuple):
            return self
        try:
            result = tensor[key] if kind is int and tensor.dim() else _indexing.read(tensor, key)
        except IndexError as error:
            raise _indexing.out_of_range(error, key, tensor) from None
        if not result.dim() and not state.np_shape and (tensor.dim() or type(key) is not tuple):
            result = result.view(1)
        if recording:
            result = _indexing.recorded(self, key, tensor, result)
        elif result.requires_grad:
            result = result.detach()
        array = _new(self._dense)
        array._storage = result
        array._ctx = self._ctx
        array._variable = None
        array._pending = None
        return array

    def __setitem__(self, key: Any, value: Any) -> None:
        tensor = writable(self, 'x[...] = ...')
        sources = None
        if isinstance(value, NDArrayBase):
            if state.recording:
                sources = source(self), source(value)
            value = readable(value)
            if value.dtype is not tensor.dtype or value.device != tensor.device:
                value = _interop.fitted(value, tensor)
        elif not isinstance(value, (int, float)):
            value = _interop.constant(value, tensor)
        _indexing.write(tensor, key, value)
        if sources is not None and tensor.requires_grad:
            tensor._provenance = (SETITEM, (key, tensor.shape, value.shape), sources, 0,      # type: ignore[attr-defined]
                                  (ref(tensor),), ())

    # ------------------------------------------------------------------ copies and conversions
    def asnumpy(self) -> numpy.ndarray[Any, Any]:
        """A copy as a NumPy array; waits until the array is computed."""
        if interceptors and (scope := entering('NDArray.asnumpy')) is not None:
            with scope:
                return NDArray.asnumpy(self)
        tensor = self.materialize().detach()
        if tensor.dtype is torch.bfloat16:
            found = tensor.cpu().view(torch.int16).numpy().astype(numpy.uint16).view(BFLOAT16)
        elif tensor.device.type == 'cpu':
            found = tensor.numpy().copy()
        else:
            found = tensor.cpu().numpy()
        if records:                     # a GPU has noted an error
            look()
        return found

    def asscalar(self) -> Scalar:
        """The only element of the array, as a NumPy number."""
        if self.meta().shape.numel() != 1:
            raise ValueError(NO_SCALAR.format(shape=self.shape))
        return self.asnumpy().reshape(-1)[0]

    def item(self) -> Any:
        """The only element of the array, as a Python number."""
        if self.meta().shape.numel() != 1:
            raise ValueError(NO_SCALAR.format(shape=self.shape))
        return _interop.item(self.materialize())

    def tolist(self) -> Any:
        """The elements as nested Python lists."""
        found = self.materialize().tolist()
        if records:
            look()
        return found

    def astype(self, dtype: DType, copy: bool = True) -> Self:
        """The array in another dtype; with copy=False, the array itself if it has that dtype already."""
        wanted = torch_dtype(dtype)
        if not copy and self.meta().dtype is wanted:
            return self
        return _cast(self, NAME[wanted])

    def copy(self) -> Self:
        """A copy on the same context."""
        result = readable(self).clone()
        record_result(NAMES['_copy'], {}, (self,), result)
        return wrap(result, self._ctx, self._dense)

    def copyto(self, other: NDArray | Context) -> NDArray:
        """Copies the values into another array, or makes a copy on another context."""
        if interceptors and (scope := entering('NDArray.copyto')) is not None:
            with scope:
                return NDArray.copyto(self, other)
        if isinstance(other, NDArrayBase):
            if other is self:
                warnings.warn('an array was copied to itself', RuntimeWarning, stacklevel=2)
                return other
            tensor = readable(self)
            if tuple(tensor.shape) != other.shape:
                raise ShapeMismatch(f'copyto: an array of shape {tuple(tensor.shape)} does not fit into {other.shape}')
            write(other, tensor, 'copyto')
            if tensor.requires_grad:
                record_result(NAMES['_copyto'], {}, (self,), other.materialize())
            return other
        if isinstance(other, Context):
            result = _interop.move(readable(self), other)
            record_result(NAMES['_copyto'], {}, (self,), result)
            return wrap(result, other, self._dense)
        raise TypeError(f'copyto takes an array or a Context, not {kind_of(other)}')

    def as_in_context(self, context: Context) -> Any:
        """The array on a context: itself if it is there, else a copy."""
        if self._ctx is context or self._ctx == context:
            return self
        if context is None:
            raise TypeError('as_in_context: context must be a Context, such as mx.cpu() or mx.gpu(0), not None')
        return self.copyto(context if isinstance(context, Context) else given_context(context))

    as_in_ctx = as_in_context

    def detach(self) -> Self:
        """The same memory, without the history that autograd keeps."""
        return wrap(self.materialize().detach(), self._ctx, self._dense)

    def as_nd_ndarray(self) -> NDArray:
        """The array as an `mx.nd.NDArray`, sharing memory."""
        return self

    def as_np_ndarray(self) -> ndarray:
        """The array as an `mx.np.ndarray`, sharing memory."""
        array = wrap(self.materialize(), self._ctx, hooks.np_ndarray)
        array._variable = self._variable
        return array

    def tostype(self, stype: str) -> Any:
        """A copy in another storage type, or in the same one."""
        if stype == 'default':
            return self.copy()
        return hooks.from_dense(self, stype)

    # ------------------------------------------------------------------ shape
    def reshape(self, *sizes: Any, **kwargs: Unpack[ReshapeOptions]) -> Self:
        """The same memory under another shape.

        0 keeps an axis, -1 is found from the others, -2 keeps all the rest, -3 joins two axes, -4 splits one in the
        two that follow; `reverse=True` reads the codes from the right.

        >>> mx.nd.zeros((2, 3, 4)).reshape((0, -3)).shape
        (2, 12)
        """
        shape: Any = sizes
        if len(shape) == 1 and not kwargs and not state.recording:
            # the common call, x.reshape((2, 8)), of a plain array; codes below -1 torch refuses, and 0 where it is a
            # code
            tensor = self._storage
            if tensor is None:
                tensor = self.materialize()
            try:
                result = tensor.view(*shape[0])           # twice as fast as a tuple
            except (RuntimeError, TypeError):
                pass
            else:
                if result.numel():
                    if result.requires_grad:
                        result = result.detach()
                    array = _new(self._dense)
                    array._storage = result
                    array._ctx = self._ctx
                    array._variable = None
                    array._pending = None
                    return array
        if len(shape) == 1 and type(shape[0]) is not int:
            shape = shape[0]
            if isinstance(shape, (str, float)) or shape is None:
                raise TypeError(f'reshape: shape must be ints or a tuple of ints, not {kind_of(shape)}')
            if isinstance(shape, (int, numpy.integer)):
                shape = (int(shape),)
        elif not shape:
            shape = kwargs.pop('shape', None)
            if shape is None:
                raise ValueError('reshape: the new shape is missing')
            shape = (shape,) if isinstance(shape, int) else tuple(shape)
        reverse = kwargs.pop('reverse', False) if kwargs else False
        if kwargs:
            raise TypeError(f'reshape: unknown argument {next(iter(kwargs))}')
        recording = state.recording
        if recording and self._pending is not None and not reverse:
            found = deferred_reshape(self, (tuple(shape),), NDArray.reshape)
            if found is not None:
                return found
        tensor = self._storage
        if tensor is None:
            tensor = self.materialize()
        if recording and self._variable is not None:
            tensor = self._variable.leaf
        try:
            if reverse or 0 in shape or min(shape, default=0) < -1:
                result = tensor.view(resolve(tuple(tensor.shape), tuple(shape), reverse))
            else:
                result = tensor.view(shape)
        except TypeError:
            raise TypeError(f'reshape: a shape is one int or several, each below 2**63, not {shape!r}') from None
        except RuntimeError as error:
            if isinstance(error, MXNetError):
                raise
            if state.shorter is not None and not recording and not reverse and 0 < math.prod(shape) < tensor.numel():
                return state.shorter(self, tuple(shape))
            raise ShapeMismatch(f'reshape: an array of shape {self.shape} does not fit into {tuple(shape)}') from None
        if recording:
            record_result(NAMES['Reshape'], {'shape': tuple(result.shape)}, (self,), result)
        elif result.requires_grad:
            result = result.detach()
        array = _new(self._dense)
        array._storage = result
        array._ctx = self._ctx
        array._variable = None
        array._pending = None
        return array

    def _view(self, tensor):
        if state.recording:
            record_result(NAMES['Reshape'], {'shape': tuple(tensor.shape)}, (self,), tensor)
        else:
            tensor = tensor.detach()
        return wrap(tensor, self._ctx, self._dense)

    def expand_dims(self, axis: int, inplace: bool = False) -> Self:     # type: ignore[override]
        """A copy with a new axis of length 1; with inplace=True it shares memory."""
        if inplace:
            return self._view(readable(self).unsqueeze(axis))
        return OperatorMethods.expand_dims(self, axis)

    def squeeze(self, axis: Shape | None = None, inplace: bool = False) -> Self:     # type: ignore[override]
        """A copy without axes of length 1; with inplace=True it shares memory."""
        if not inplace:
            return OperatorMethods.squeeze(self, axis)
        tensor = readable(self)
        axes = range(tensor.dim()) if axis is None else (axis,) if isinstance(axis, int) else axis
        drop = {a % tensor.dim() for a in axes} if axis is not None else {a for a in axes if tensor.shape[a] == 1}
        if any(tensor.shape[a] != 1 for a in drop):
            raise ValueError(f'squeeze: axis {axis} of shape {self.shape} is not of length 1')
        kept = [n for a, n in enumerate(tensor.shape) if a not in drop]
        return self._view(tensor.view(kept or (1,)))

    def flatten(self, inplace: bool = False) -> Self:
        """A copy as a matrix: all axes but the first in one; with inplace=True it shares memory."""
        if inplace:
            return self.reshape((self.shape[0], -1))
        return _invoke.call(NAMES['Flatten'], (self,), {}, self._dense)

    def broadcast_to(self, shape: Shape) -> Self:     # type: ignore[override]
        """A copy with axes of length 1 repeated to fit `shape`."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        own = self.shape
        target = shape[len(shape) - len(own):]
        if len(shape) < len(own) or any(n not in (1, m) and m != 0 for n, m in zip(own, target, strict=True)):
            raise ValueError(f'broadcast_to: an array of shape {own} cannot be broadcast to {shape}')
        padded = self if len(own) == len(shape) else self.reshape((1,) * (len(shape) - len(own)) + own)
        return _invoke.call(NAMES['broadcast_to'], (padded,), {'shape': shape}, self._dense)

    def broadcast_like(self, other: NDArray) -> Self:     # type: ignore[override]
        """A copy with axes of length 1 repeated to fit the shape of `other`."""
        return self.broadcast_to(other.shape)

    def transpose(self, *order: Any, **kwargs: Unpack[TransposeOptions]) -> Self:
        """A copy with the axes in another order; in reverse order if none is given."""
        if kwargs:
            return _invoke.call(NAMES['transpose'], (self, *order), kwargs, self._dense)
        if len(order) == 1 and not isinstance(order[0], int):
            order = order[0]
        return _invoke.call(NAMES['transpose'], (self,), {'axes': tuple(order)} if order else {}, self._dense)

    def split_v2(self, *args: Any, **kwargs: Any) -> Any:
        """See `mx.nd.split_v2`."""
        return hooks.split_v2(self, *args, **kwargs)

    def diag(self, k: int = 0, **kwargs: Any) -> Self:     # type: ignore[override]
        """The k-th diagonal, or a matrix with this one."""
        return _invoke.call(NAMES['diag'], (self,), {'k': k, **kwargs}, self._dense)

    def slice_assign(self, rhs: NDArray, begin: Any, end: Any, step: Any) -> Self:
        """Writes `rhs` into the slice `begin:end:step` of the array."""
        return _invoke.call(NAMES['_slice_assign'], (self, rhs),
                            {'begin': begin, 'end': end, 'step': step, 'out': self}, self._dense)

    def slice_assign_scalar(self, value: Any, begin: Any, end: Any, step: Any) -> Self:
        """Writes a number into the slice `begin:end:step` of the array."""
        return _invoke.call(NAMES['_slice_assign_scalar'], (self,),
                            {'scalar': value, 'begin': begin, 'end': end, 'step': step, 'out': self}, self._dense)

    # ------------------------------------------------------------------ waiting
    def wait_to_read(self) -> None:
        """Waits until the array is computed; an error of the computation is raised here at the latest."""
        if interceptors and (scope := entering('NDArray.wait_to_read')) is not None:
            with scope:
                return NDArray.wait_to_read(self)
        _interop.synchronize(self.materialize().device)

    wait_to_write = wait_to_read

    # ------------------------------------------------------------------ gradients
    def attach_grad(self, grad_req: str = 'write', stype: str | None = None) -> None:
        """Gives the array a gradient buffer, `x.grad`, that `backward` writes ('write') or adds ('add') to."""
        if stype is not None and stype != 'default':
            buffer = hooks.sparse_zeros(stype, self.shape, self._ctx, self.dtype)
        else:
            buffer = wrap(torch.zeros_like(self.materialize(), requires_grad=False), self._ctx, self._dense)
        _autograd.mark_variables([self], [buffer], [grad_req])

    if TYPE_CHECKING:
        def backward(self, out_grad: NDArray | None = None, retain_graph: bool = False,
                     train_mode: bool = True) -> None: ...
    else:
        backward = _autograd.backward_from_array

    # ------------------------------------------------------------------ other libraries
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        if copy is False:
            if self.meta().device.type != 'cpu' or (dtype is not None and numpy.dtype(dtype) != self.dtype):
                raise ValueError('this array cannot become a NumPy array without a copy')
            return self.materialize().detach().numpy()
        values = self.asnumpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.materialize().detach().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.materialize().__dlpack_device__()

    def to_dlpack_for_read(self) -> Any:
        """A DLPack capsule for a library that only reads."""
        return _interop.to_dlpack_for_read(self)

    def to_dlpack_for_write(self) -> Any:
        """A DLPack capsule for a library that also writes."""
        return _interop.to_dlpack_for_write(self)

    def to_torch(self) -> torch.Tensor:
        """The array as a `torch.Tensor`, sharing memory."""
        tensor = readable(self)
        # without what ours remember of their operators: torch would save and copy it
        return tensor.view_as(tensor) if hasattr(tensor, '_provenance') else tensor

    # ------------------------------------------------------------------ pickling and printing
    def __reduce__(self) -> Any:
        state = self.__getstate__()         # first: an array that waits has another class until it is looked at
        return type(self), (None,), state

    def __getstate__(self) -> Any:
        return {'handle': hooks.to_bytes(self)}

    def __setstate__(self, state: Any) -> None:
        handle = hooks.handle_of(state, type(self).__name__)
        if handle is not None:
            hooks.set_from_bytes(self, handle)

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def __repr__(self) -> str:
        shape = 'x'.join(str(n) for n in self.meta().shape)
        return f'\n{self._values()!s}\n<{type(self).__name__} {shape} @{self._ctx}>'

    def _values(self):
        """The values as NumPy prints them."""
        if self.meta().dtype is torch.bfloat16:
            return self.materialize().detach().float().cpu().numpy()
        return self.asnumpy()

    def _repr_html_(self):
        from ._html import describe
        return describe(self, self._values())


NDArray._dense = NDArray


_suggest_names(globals())
_suggest_members(NDArray, {
    'numpy': 'asnumpy()', 'cuda': 'as_in_context(mx.gpu())', 'cpu': 'as_in_context(mx.cpu())',
    'to': 'as_in_context(context) or astype(dtype)', 'view': 'reshape(shape)', 'dim': 'ndim',
    'permute': 'transpose(axes)', 'unsqueeze': 'expand_dims(axis)', 'requires_grad_': 'attach_grad()',
    'clone': 'copy()', 'float': "astype('float32')", 'long': "astype('int64')", 'append': 'mx.nd.concat(a, b, dim=0)'})


_explain_methods(NDArray, 'broadcast_to tostype')
hooks.NDArray = NDArray
