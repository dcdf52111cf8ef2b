"""Errors that Python, NumPy or torch raise inside of this package over what a program has given.

They speak of our code: `'int' object has no attribute 'shape'`, a bare KeyError, `ufunc 'floor' not supported`.  Where
`_kinds` finds no argument of a wrong kind, the error that is raised instead names the function and shows what it was
given.  It is of the same class, and an MXNetError.

An error is ours if a `raise` of this package made it: it was written for the program, and stays as it is.  So does what
a function of the program raises that it has passed in.
"""
import dis
import re
import struct
import sys
from typing import Any

from ._kinds import shown
from ._wording import plain
from .base import MXNetError, OutOfRange

__all__ = ['is_internal', 'reworded']

# modules below this package whose errors speak of their own functions
_BELOW = {'numpy', 'torch', 'cv2', 'scipy', 'onnx', *sys.stdlib_module_names} - {'__main__'}
_RAISES = ('RAISE_VARARGS', 'RERAISE')
# what says nothing about arguments, only about the operation that has failed
_RAW = re.compile(
    r"object has no attribute|attribute '\w+' of|cannot be interpreted|is not iterable|not subscriptable"
    r"|is not callable|unsupported operand|bad operand type|not supported (?:between|for)|has no len\(\)|real number"
    r"|argument must be"
    r"|can only concatenate|unhashable|bytes-like|expected string|str expected|expected str|to unpack|cannot unpack"
    r"|indices must be|not a (?:sequence|mapping)|can't multiply|index out of range|cannot fit 'int'|item assignment"
    r"|can't mix str|truth value of an? |be broadcast|can't convert|can't be converted|setting an array element|ufunc"
    r"|promoted|math domain|inhomogeneous|maximum recursion|must be str, not"
    r"|<class '|combination of arguments|SymInt|aten::|c10::|\bat::|argument '\w+'|cannot convert|by zero"
    r"|missing \d+ required"
    r"|\btensors?\b|\bTensors?\b|NoneType|could not convert|invalid literal", re.IGNORECASE)


class _BadKey(MXNetError, KeyError):
    __str__ = MXNetError.__str__


class _BadValue(MXNetError, ValueError):
    pass


class _BadType(MXNetError, TypeError):
    pass


class _BadSize(MXNetError, OverflowError):
    pass


_CLASSES: tuple[tuple[Any, type[MXNetError]], ...] = (
    (KeyError, _BadKey), (IndexError, OutOfRange), (OverflowError, _BadSize),
    ((ValueError, ArithmeticError, struct.error), _BadValue), ((TypeError, AttributeError), _BadType))


def is_internal(error: BaseException) -> bool:
    """Whether Python, NumPy or torch complain of what this package has done with the arguments."""
    if isinstance(error, MXNetError):
        return False
    step, last, root = error.__traceback__, None, ''
    while step is not None:
        root = str(step.tb_frame.f_globals.get('__name__')).partition('.')[0]
        if root != 'mxnet' and root not in _BELOW:
            return False            # a function that the program has given failed: the error is its own
        step, last = step.tb_next, step
    if last is None or root != 'mxnet':
        return last is not None
    return dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]] not in _RAISES


def reworded(function: Any, what: str, args: tuple, kwargs: dict, error: BaseException) -> MXNetError:
    """The error where no argument can be said to be the wrong one: it shows what was given."""
    import inspect

    try:
        given = dict(inspect.signature(function).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        given = {**{str(k): value for k, value in enumerate(args)}, **kwargs}
    given.pop('self', None)
    listed = ', '.join(f'{name} = {_short(value)}' for name, value in given.items())
    if isinstance(error, MemoryError):
        new = MXNetError(f'{what}: there is not enough memory for it; it was given {listed}')
    else:
        text = plain(error)
        raw = _RAW.search(text) or isinstance(error, (KeyError, AttributeError)) or ' ' not in text
        said = '' if raw else f': {text}'
        kind = next((ours for theirs, ours in _CLASSES if isinstance(error, theirs)), MXNetError)
        new = kind(f'{what} does not accept these arguments{said}; it was given {listed}')
    new.__cause__ = error
    return new


def _short(value: Any) -> str:
    if type(value) in (tuple, list) and 0 < len(value) <= 4 and len(repr(value)) > 40:
        text = f'({", ".join(map(shown, value))})'
    else:
        text = shown(value)
    return text if len(text) <= 80 else f'{text[:77]}...'
