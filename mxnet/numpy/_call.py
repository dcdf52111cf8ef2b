"""Calls operators of the table for the NumPy interface, on arrays and on symbols alike.

The functions of `mx.np` are written once, with `apply`; given symbols, they make symbols.  So `mx.sym.np` has the same
functions, and only those without an array among their arguments (`zeros`, `random.normal`) are made for each face.
"""
from collections.abc import Sequence
from numbers import Real
from operator import index
from typing import Any

import numpy

from .._array import NDArrayBase
from .._hooks import hooks
from .._names import kind_of, not_an_array
from .._ops.core.table import NAMES
from ..ndarray import _invoke
from ..ndarray._generated import has_template, make

Numbers: Any = (Real, numpy.bool_)      # Any: a type checker does not know that `Real` stands for int and float
array_class: Any = NDArrayBase          # what functions return: `ndarray`, once multiarray.py has made it


def is_symbol(x):
    """Whether this is a symbol; found without loading `mx.sym`."""
    return hasattr(x, '_entries')


def is_array(x):
    """Whether this is an array or a symbol."""
    return isinstance(x, NDArrayBase) or is_symbol(x)


def apply(name: str, inputs: Sequence[Any], attributes: dict[str, Any], out: Any = None) -> Any:
    """Calls an operator on arrays or symbols (None: an input that is absent)."""
    op = NAMES[name]
    for x in inputs:
        if x is not None and not isinstance(x, NDArrayBase):
            return _compose(op, name, inputs, attributes, x)
    if out is None:
        return (functions.get(name) or function_of(name))(*inputs, **attributes)
    return _invoke.run(op, inputs, op.parse(attributes) if attributes or op.has_required else {}, out, array_class)


functions: dict = {}            # of operators, by name, that give arrays of the NumPy interface


def function_of(name):
    """The function of an operator that gives arrays of the NumPy interface; see ndarray/_generated.py."""
    op = NAMES[name]
    if has_template(op) and op.positional[:len(op.inputs)] == op.inputs:
        function = make(op, name, array_class)
    else:
        def function(*inputs, **attributes):
            parsed = op.parse(attributes) if attributes or op.has_required else {}
            return _invoke.run(op, inputs, parsed, None, array_class)
    functions[name] = function
    return function


def _compose(op, name, inputs, attributes, x):
    if not is_symbol(x):
        raise unsupported(name, x)
    return hooks.compose_np(op, name, inputs, attributes)


def unsupported(name, x):
    """The error for an argument that is neither an array nor a number."""
    short = name.removeprefix('_npi_').removeprefix('_npx_').removeprefix('_np_')
    said = not_an_array(f'np.{short}: an operand', x, 'mx.np.array')
    return TypeError(said.replace('an NDArray', 'an mx.np.ndarray'))


def scalar(value):
    """The attributes that hand a number to a `_scalar` operator."""
    if isinstance(value, numpy.generic):
        value = value.item()
    return {'scalar': real(value), 'is_int': isinstance(value, int)}


def real(value: Any) -> float:
    """A number as a float; operators of numbers take no complex ones."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f'a real number is needed, not {kind_of(value)}') from None


def numbers(value: Any) -> Any:
    """A tuple of ints from an int, a tuple, a list or an array of them; None stays."""
    if value is None:
        return None
    if isinstance(value, (int, numpy.integer)):
        return (int(value),)
    if isinstance(value, NDArrayBase):
        value = value.asnumpy().reshape(-1).tolist()
    try:
        return tuple(index(v.item() if isinstance(v, NDArrayBase) else v) for v in value)
    except TypeError:
        raise TypeError(f'an int or a tuple of ints is needed, not {value!r}') from None


def dtype_text(dtype, default=None):
    """The name of a dtype for an attribute."""
    from .._ops.core.dtypes import dtype_name
    return default if dtype is None else dtype_name(dtype)
