"""Functions of `mx.np` as methods, of arrays and of symbols."""
from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Self

from . import _elementwise, _index, _matrix, _reduce, _shape

if TYPE_CHECKING:
    from .._typing import DType, Shape


class ArrayMethods:
    """The methods that `ndarray` and its symbolic twin share."""

    __slots__ = ()

    @property
    def T(self) -> Self:
        """The transpose: a copy with the axes in reverse order."""
        return self.transpose()

    def sum(self, axis: Shape | None = None, dtype: DType | None = None, out: Any = None,
            keepdims: bool = False) -> Self:
        """See `mx.np.sum`."""
        return _reduce.sum(self, axis, dtype, keepdims, None, out)

    def prod(self, axis: Shape | None = None, dtype: DType | None = None, out: Any = None,
             keepdims: bool = False) -> Self:
        """See `mx.np.prod`."""
        return _reduce.prod(self, axis, dtype, out, keepdims)

    def mean(self, axis: Shape | None = None, dtype: DType | None = None, out: Any = None,
             keepdims: bool = False) -> Self:
        """See `mx.np.mean`."""
        return _reduce.mean(self, axis, dtype, out, keepdims)

    def std(self, axis: Shape | None = None, dtype: DType | None = None, out: Any = None, ddof: int = 0,
            keepdims: bool = False) -> Self:
        """See `mx.np.std`."""
        return _reduce.std(self, axis, dtype, out, ddof, keepdims)

    def var(self, axis: Shape | None = None, dtype: DType | None = None, out: Any = None, ddof: int = 0,
            keepdims: bool = False) -> Self:
        """See `mx.np.var`."""
        return _reduce.var(self, axis, dtype, out, ddof, keepdims)

    def max(self, axis: Shape | None = None, out: Any = None, keepdims: bool = False) -> Self:
        """See `mx.np.max`."""
        return _reduce.max(self, axis, keepdims, out)

    def min(self, axis: Shape | None = None, out: Any = None, keepdims: bool = False) -> Self:
        """See `mx.np.min`."""
        return _reduce.min(self, axis, keepdims, out)

    def all(self, axis: Shape | None = None, out: Any = None, keepdims: bool = False) -> Self:
        """See `mx.np.all`."""
        return _reduce.all(self, axis, keepdims, out)

    def any(self, axis: Shape | None = None, out: Any = None, keepdims: bool = False) -> Self:
        """See `mx.np.any`."""
        return _reduce.any(self, axis, keepdims, out)

    def argmax(self, axis: Shape | None = None, out: Any = None, keepdims: bool = False) -> Self:
        """See `mx.np.argmax`."""
        return _reduce.argmax(self, axis, out, keepdims)

    def argmin(self, axis: Shape | None = None, out: Any = None, keepdims: bool = False) -> Self:
        """See `mx.np.argmin`."""
        return _reduce.argmin(self, axis, out, keepdims)

    def cumsum(self, axis: Shape | None = None, dtype: DType | None = None, out: Any = None) -> Self:
        """See `mx.np.cumsum`."""
        return _reduce.cumsum(self, axis, dtype, out)

    def round(self, decimals: int = 0, out: Any = None, **kwargs: Any) -> Self:
        """See `mx.np.around`."""
        return _elementwise.around(self, decimals, out, **kwargs)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Self:
        """See `mx.np.clip`."""
        return _elementwise.clip(self, min, max, out)

    def dot(self, b: Any, out: Any = None) -> Self:
        """See `mx.np.dot`."""
        return _matrix.dot(self, b, out)

    def norm(self: Any, *args: Any, **kwargs: Any) -> Any:
        """See `mx.np.linalg.norm`."""
        from .linalg import norm
        return norm(self, *args, **kwargs)

    def take(self, indices: Any, axis: Shape | None = None, mode: str = 'raise') -> Self:
        """See `mx.np.take`."""
        return _index.take(self, indices, axis, mode)

    def argsort(self, axis: Shape | None = -1, kind: str | None = None, order: Any = None) -> Self:
        """See `mx.np.argsort`."""
        return _index.argsort(self, axis, kind, order)

    def nonzero(self) -> tuple[Self, ...]:
        """See `mx.np.nonzero`."""
        return _index.nonzero(self)

    def repeat(self, repeats: Shape, axis: Shape | None = None) -> Self:
        """See `mx.np.repeat`."""
        return _shape.repeat(self, repeats, axis)

    def tile(self, reps: Shape) -> Self:
        """See `mx.np.tile`."""
        return _shape.tile(self, reps)

    def squeeze(self, axis: Shape | None = None) -> Self:
        """See `mx.np.squeeze`."""
        return _shape.squeeze(self, axis)

    def expand_dims(self, axis: Shape | None) -> Self:
        """See `mx.np.expand_dims`."""
        return _shape.expand_dims(self, axis)

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """See `mx.np.swapaxes`."""
        return _shape.swapaxes(self, axis1, axis2)

    def transpose(self, *axes: Any) -> Self:
        """A copy with the axes in another order; in reverse order if none is given."""
        if len(axes) == 1 and not isinstance(axes[0], int):
            axes = axes[0]
        return _shape.transpose(self, axes or None)

    def flatten(self, order: str = 'C') -> Self:
        """A copy with the elements in a row."""
        return _shape.ravel(self, order)

    def ravel(self, order: str = 'C') -> Self:
        """A copy with the elements in a row."""
        return _shape.ravel(self, order)

    def broadcast_to(self, shape: Shape) -> Self:
        """See `mx.np.broadcast_to`."""
        return _shape.broadcast_to(self, shape)

    def broadcast_like(self, other: Any) -> Self:
        """A copy broadcast to the shape of another array."""
        return _shape.broadcast_to(self, other.shape)

    def diag(self, k: int = 0, **kwargs: Any) -> Self:
        """See `mx.np.diag`."""
        return _shape.diag(self, k)


for _name, _method in list(vars(ArrayMethods).items()):
    if isinstance(_method, types.FunctionType):
        _method.__qualname__ = f'ndarray.{_name}'       # how Python's errors about arguments call it
del _name, _method
