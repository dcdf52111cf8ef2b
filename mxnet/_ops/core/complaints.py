"""What is said when an operator cannot compute: its name, what it was given, and why, in words of this package.

Kernels below raise what they like: texts about their own functions, allocators and assertions.  Those that speak of the
program's arguments are kept; the others are replaced, and stay in the error's `__cause__`.
"""
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..._wording import plain, translated
from ...base import MXNetError

if TYPE_CHECKING:
    from .table import Operator

__all__ = ['CAUGHT', 'OWN', 'PROGRAMS', 'called_with', 'completed', 'said']

# what a kernel may raise about odd arguments
CAUGHT = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError, ArithmeticError, MemoryError, KeyError,
          AttributeError, AssertionError)
# errors of a program's own operators are its own: only what was ever made an MXNetError is one
PROGRAMS = ('Custom', '_CustomFunction')
OWN = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError)
_MEMORY = re.compile(r'allocate memory|not enough memory|out of memory|Unable to allocate|bad_alloc|nsufficient mem')
_TOO_LARGE = re.compile(r'overflow|too large|too big|exceeds? .*limit', re.I)
_INTERNAL = re.compile(r"object has no attribute|not subscriptable|object is not|unhashable|not supported between|"
                       r"unsupported operand|unexpected keyword|division by zero|modulo by zero|recursion|INTERNAL AS|"
                       r"enforce fail|Exception raised from|aten::|c10::|at::|std::|argument '\w+' \(?position|"
                       r"must be (?:int|tuple|float|str|Tensor|SymInt)|an integer is required|received an invalid "
                       r"combination|takes \d+ positional|missing \d+ required|unpack|literal for int|ambiguous|"
                       r"not iterable|<class|indices must be|has no len|broadcast together|shape '\[")


_PREFIX = re.compile('^_(contrib|npi|npx|np|image|linalg)_')
_SUPPLIED = ('rng', 'training', 'subgraphs', 'site')


def said(error: BaseException, op: str = '') -> str:
    """Why an operator could not compute, from what was raised below it."""
    known = translated(str(error), op)
    if known is not None:
        return known
    text = ' '.join(str(error).split('\nException raised', 1)[0].split('\n', 1)[0].split())
    if isinstance(error, MemoryError) or _MEMORY.search(text):
        found = re.search(r'(\d{4,}) bytes', text)
        return 'there is not enough memory for it' + (f': it takes {int(found[1]):,} bytes' if found else '')
    if isinstance(error, OverflowError) or isinstance(error, RuntimeError) and _TOO_LARGE.search(text):
        return 'a number or a size is too large to compute with'
    if not text or isinstance(error, (ArithmeticError, AttributeError, KeyError, AssertionError)) \
            or _INTERNAL.search(text):
        return 'these arguments do not go together'
    return plain(text)


def called_with(attributes: Mapping[str, Any]) -> str:
    """The attributes of a call, each in a few characters."""
    return ', '.join(f'{k}={_short(v)}' for k, v in attributes.items() if k not in _SUPPLIED)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + '...'


def completed(op: 'Operator', error: MXNetError, attributes: Mapping[str, Any]) -> MXNetError:
    """The error with the operator and the attributes that its text does not speak of; itself if it speaks of all."""
    text = str(error)
    unnamed = {k: v for k, v in attributes.items() if k not in text}
    shown = called_with(unnamed)
    named = any(_PREFIX.sub('', name) in text for name in op.names)
    if op.name in PROGRAMS or named and not shown or type(error).__init__ is not MXNetError.__init__:
        return error
    return type(error)(('' if named else f'operator {op.name}: ') + text + (f' (called with {shown})' if shown else ''))
