"""`_Symbol`: a symbol with NumPy's operators and methods."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Number
from typing import TYPE_CHECKING, Any, ClassVar

import numpy

from ..._hooks import hooks
from ...base import NotImplementedForSymbol
from ...numpy import _elementwise as _e
from ...numpy import _matrix
from ...numpy._call import apply, dtype_text, numbers
from ...numpy._methods import ArrayMethods
from .. import _compose
from .._compose import make
from ..symbol import Symbol

if TYPE_CHECKING:
    from ..._ops.core.table import Operator
    from ..._typing import DType

__all__ = ['_Symbol', 'compose']

_PREFIXES = ('_npi_', '_npx_', '_np_', '_')


def hint(name):
    """What the automatic names of an operator's nodes begin with."""
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            return name[len(prefix):].lower()
    return name.lower()


def compose(op: Operator, name: str, inputs: Any, attributes: Any) -> Any:
    """The symbol of an operator call, or a list of symbols where it has several outputs."""
    given = {k: v for k, v in attributes.items() if v is not None or op.attributes[k].default is not None}
    if op.variadic is not None:
        result = _compose.call(op, hint(name), tuple(inputs), given, _Symbol)
    else:
        named = {n: s for n, s in zip(op.inputs, inputs, strict=False) if s is not None}
        result = _compose.call(op, hint(name), (), {**named, **given}, _Symbol)
    return result if len(result._entries) == 1 else list(result)


def _operator(function, reflected=False):
    if reflected:
        return lambda self, other: function(other, self)
    return lambda self, other: function(self, other)


class _Symbol(ArrayMethods, Symbol):  # type: ignore[misc]  # methods with NumPy's arguments
    """A symbol whose operators and methods have NumPy's meaning: `mx.sym.var('x').as_np_ndarray()`.

    >>> x = mx.sym.var('x').as_np_ndarray()
    >>> mx.sym.np.exp(x * 2).list_arguments()
    ['x']
    """

    __add__: ClassVar[Callable[[Any, Any], Any]]
    __radd__: ClassVar[Callable[[Any, Any], Any]]
    __sub__: ClassVar[Callable[[Any, Any], Any]]
    __rsub__: ClassVar[Callable[[Any, Any], Any]]
    __mul__: ClassVar[Callable[[Any, Any], Any]]
    __rmul__: ClassVar[Callable[[Any, Any], Any]]
    __truediv__: ClassVar[Callable[[Any, Any], Any]]
    __rtruediv__: ClassVar[Callable[[Any, Any], Any]]
    __div__: ClassVar[Callable[[Any, Any], Any]]
    __rdiv__: ClassVar[Callable[[Any, Any], Any]]
    __mod__: ClassVar[Callable[[Any, Any], Any]]
    __rmod__: ClassVar[Callable[[Any, Any], Any]]
    __pow__: ClassVar[Callable[[Any, Any], Any]]
    __rpow__: ClassVar[Callable[[Any, Any], Any]]
    __eq__: ClassVar[Callable[[Any, Any], Any]]
    __ne__: ClassVar[Callable[[Any, Any], Any]]
    __gt__: ClassVar[Callable[[Any, Any], Any]]
    __ge__: ClassVar[Callable[[Any, Any], Any]]
    __lt__: ClassVar[Callable[[Any, Any], Any]]
    __le__: ClassVar[Callable[[Any, Any], Any]]

    __slots__ = ()

    __add__, __radd__ = _operator(_e.add), _operator(_e.add, True)
    __sub__, __rsub__ = _operator(_e.subtract), _operator(_e.subtract, True)
    __mul__, __rmul__ = _operator(_e.multiply), _operator(_e.multiply, True)
    __truediv__, __rtruediv__ = _operator(_e.true_divide), _operator(_e.true_divide, True)
    __div__, __rdiv__ = __truediv__, __rtruediv__
    __mod__, __rmod__ = _operator(_e.mod), _operator(_e.mod, True)
    __pow__, __rpow__ = _operator(_e.power), _operator(_e.power, True)
    __and__: Any
    __rand__: Any
    __and__ = __rand__ = _operator(_e.bitwise_and)
    __or__: Any
    __ror__: Any
    __or__ = __ror__ = _operator(_e.bitwise_or)
    __xor__: Any
    __rxor__: Any
    __xor__ = __rxor__ = _operator(_e.bitwise_xor)
    __matmul__: Any
    __rmatmul__: Any
    __matmul__, __rmatmul__ = _operator(_matrix.matmul), _operator(_matrix.matmul, True)
    __eq__, __ne__ = _operator(_e.equal), _operator(_e.not_equal)
    __gt__, __ge__ = _operator(_e.greater), _operator(_e.greater_equal)
    __lt__, __le__ = _operator(_e.less), _operator(_e.less_equal)

    def __neg__(self) -> Any:
        return _e.negative(self)

    def __invert__(self) -> Any:
        return _e.invert(self)

    def __abs__(self) -> Any:
        return _e.abs(self)

    def __hash__(self) -> int:
        return id(self) // 16

    @property
    def num_outputs(self) -> Any:
        """Number of outputs."""
        return len(self._entries)

    def __iter__(self) -> Iterator[Any]:
        # the outputs, where Symbol's own would take elements
        return (make(_Symbol, [e]) for e in self._entries)

    def __getitem__(self, key: Any) -> Any:
        """Elements by ints and slices; of a symbol with several outputs, an output by number or name."""
        if len(self._entries) > 1 or isinstance(key, str):
            return Symbol.__getitem__(self, key)
        parts = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(p, (int, numpy.integer, slice)) or p is None or p is Ellipsis for p in parts):
            raise IndexError(f'a symbol is indexed by ints, slices, None and ..., not by {key!r}')
        if Ellipsis in [p for p in parts if p is Ellipsis]:
            raise IndexError('the number of axes of a symbol is not known; write slices instead of ...')
        taken = [p for p in parts if p is not None]
        limits = [(p.start, p.stop, p.step) if isinstance(p, slice) else (p, p + 1 if p != -1 else None, 1)
                  for p in taken]
        result = self
        if taken:
            begin, end, step = (tuple(x[i] for x in limits) for i in range(3))
            result = apply('_npi_slice', (self,), {'begin': begin, 'end': end, 'step': step})
        # the axes of ints go, those of None come; what follows them stays
        codes = []
        for p in parts:
            codes.append(1 if p is None else -3 if isinstance(p, (int, numpy.integer)) else -2)
        if any(c != -2 for c in codes):
            result = _reshaped(result, codes)
        return result

    def reshape(self, *args: Any, **kwargs: Any) -> Any:
        """See `mx.npx.reshape`: -1 stands for what is left over, and there are more codes."""
        order = kwargs.pop('order', 'C')
        shape = args[0] if len(args) == 1 and not isinstance(args[0], Number) else args or kwargs.pop('newshape', ())
        return apply('_npi_reshape', (self,), {'newshape': numbers(shape), 'order': order, **kwargs})

    def reshape_view(self, *shape: Any, **kwargs: Any) -> Any:
        """As `reshape`."""
        return self.reshape(*shape, **kwargs)

    def flatten(self, order: str = 'C') -> Any:      # type: ignore[override]
        """The elements in a row."""
        return self.reshape(-1, order=order)

    def astype(self, dtype: DType, order: str = 'K', casting: str = 'unsafe', subok: bool = True,  # type: ignore[override]
               copy: bool = True) -> Any:
        """The array in another dtype."""
        return apply('_npi_cast', (self,), {'dtype': dtype_text(dtype)})

    def copy(self, order: str = 'C') -> Any:
        """A copy."""
        return apply('_np_copy', (self,), {})

    def as_nd_ndarray(self) -> Any:
        """The symbol as an `mx.sym.Symbol`."""
        return make(Symbol, self._entries)

    def as_np_ndarray(self) -> Any:
        """The symbol itself."""
        return self

    def item(self, *args: Any) -> Any:
        """Symbols have no values."""
        raise NotImplementedForSymbol(self.item, None)

    sort: Any = property(lambda self: _not_in_place)


def _not_in_place(*args, **kwargs):
    raise NotImplementedError('a symbol cannot be sorted in place; use mx.sym.np.sort')


def _reshaped(symbol, codes):
    """Axes dropped (-3), kept (-2) and added (1) by `npx.reshape`; those behind stay.

    A new axis passes over a source axis there, so new ones are added one by one.
    """
    result = symbol
    drops = [c for c in codes if c != 1]
    if -3 in drops:
        result = apply('_npi_reshape', (result,), {'newshape': (*drops, -4)})
    at = 0
    for code in codes:
        if code == 1:
            result = apply('_npi_expand_dims', (result,), {'axis': at})
        if code != -3:
            at += 1
    return result


hooks.np_Symbol, hooks.compose_np = _Symbol, compose
