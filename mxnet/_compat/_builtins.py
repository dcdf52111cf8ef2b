"""Builtins of Python 2 for a program's modules."""
import builtins
import functools
import io
import os
import sys
from typing import Any

from ._executed import eval2, exec2, execfile
from ._helpers import in_order, one_number, order
from ._report import report


def _noted(name, value):
    """A builtin of Python 2 that notes its first use."""
    if isinstance(value, type):
        return value
    used: list[Any] = []

    @functools.wraps(value)
    def call(*args, **kwargs):
        if not used:
            used.append(True)
            report.note(f'python2-{name}', f'the builtin {name} of Python 2')
        return value(*args, **kwargs)

    return call


def unichr(number):
    """`chr`."""
    return chr(number)


def raw_input(prompt=''):
    """`input`."""
    return input(prompt)


def cmp(left, right):
    """-1, 0 or 1."""
    return order(left, right)


def apply(function, args=(), kwargs=None):
    """`function(*args, **kwargs)`."""
    return function(*args, **(kwargs or {}))


def reload(module):
    """`importlib.reload`; `sys` is left as it is."""
    from ._standin import Standin

    if isinstance(module, Standin):
        return module
    import importlib

    return importlib.reload(module)


def coerce(left, right):
    """Both numbers in the type of their sum."""
    kind = type(left + right)
    return kind(left), kind(right)


def opened(file, mode='r', *args, **kwargs):
    """`open`, also with the mode `U`, which Python 3.11 removed; a missing file is looked for in `--data`."""
    if isinstance(mode, str) and 'U' in mode:
        report.note('python-open-u', 'the mode "U" of open, which Python 3.11 removed')
        mode = mode.replace('U', '')
        mode = mode if 'r' in mode else 'r' + mode
    try:
        return open(file, mode, *args, **kwargs)
    except FileNotFoundError:
        from . import _downloads

        name = os.fspath(file) if isinstance(file, (str, os.PathLike)) and not set(mode) & set('wax+') else None
        found = None if name is None else _downloads.missing(name)
        if found is None:
            raise
        return open(found, mode, *args, **kwargs)


ALL = {
    'open': opened,
    'xrange': range,
    'unicode': str,
    'long': int,
    'basestring': str,
    **{f.__name__: _noted(f.__name__, f) for f in (unichr, raw_input, execfile, cmp, apply, reload, coerce)},
    'reduce': _noted('reduce', functools.reduce),
    'intern': _noted('intern', sys.intern),
    'buffer': memoryview,
    'file': _noted('file', opened),
    'StandardError': Exception,
}


# ---------------------------------------------------------------------- with other results in Python 2
def round2(number, ndigits=None):
    """`round` of Python 2: a float, halves away from 0."""
    import decimal

    found = one_number(number)
    number = number if found is None else found
    if not isinstance(number, (int, float)):
        return builtins.round(number) if ndigits is None else builtins.round(number, ndigits)
    step = decimal.Decimal(1).scaleb(-int(ndigits or 0))
    try:
        return float(decimal.Decimal(repr(float(number))).quantize(step, decimal.ROUND_HALF_UP))
    except decimal.InvalidOperation:
        return float(number)


def range_list(*args):
    """`range` of Python 2: a list; very long ones stay ranges."""
    found = range(*(int(a) if isinstance(a, float) and a.is_integer() else a for a in args))
    return list(found) if len(found) <= 10_000_000 else found


def map_list(function, *values):
    """`map` of Python 2: a list, and None as the function."""
    if function is None:
        import itertools

        return list(values[0]) if len(values) == 1 else list(itertools.zip_longest(*values))
    return list(map(function, *values))


def zip_list(*values):
    """`zip` of Python 2: a list."""
    return list(zip(*values))


def filter_list(function, values):
    """`filter` of Python 2: of the type of what is filtered."""
    found = filter(function, values)
    return ''.join(found) if isinstance(values, str) else tuple(found) if type(values) is tuple else list(found)


def sorted2(values, cmp=None, key=None, reverse=False):
    """`sorted` of Python 2, which takes a function that compares."""
    return in_order(values, cmp, key, reverse)


def input2(prompt=''):
    """`input` of Python 2, which evaluates what is typed."""
    return eval(input(prompt), sys._getframe(1).f_globals)


def open2(name, mode='r', buffering=-1, *args, **kwargs):
    """`open` of Python 2: bytes that are no UTF-8 pass through texts unharmed, and bytes meet texts as equals."""
    from . import _bytes2, _downloads

    if 'b' in mode and not args and not kwargs:
        if isinstance(name, (str, os.PathLike)) and 'r' in mode:
            name = _downloads.existing(name)
        return _bytes2.opened(name, mode.replace('U', ''), buffering)
    if 'b' not in mode and not args and not kwargs:
        return opened(name, mode, buffering if buffering != 0 else -1, encoding='utf-8', errors='surrogateescape')
    return opened(name, mode, buffering, *args, **kwargs)


class _OfFiles(type):
    def __instancecheck__(cls, value):
        return isinstance(value, io.IOBase)


class file(metaclass=_OfFiles):
    """`file`: `open`, and the type of files."""

    def __new__(cls, *args, **kwargs):
        return open2(*args, **kwargs)


def extreme(function):
    """`max` and `min`, of values of different types as well."""

    @functools.wraps(function)
    def find(*values, key=None, **kwargs):
        try:
            return function(*values, key=key, **kwargs)
        except TypeError:
            if len(values) < 1:
                raise
            every = in_order(values if len(values) > 1 else values[0], None, key, False)
            return every[0 if function is min else -1]

    return find


def buffer2(value, offset=0, size=-1):
    """`buffer`; that of a text is a text."""
    from . import _bytes2

    found = value[offset:] if isinstance(value, str) else memoryview(_bytes2.bytes_of(value))[offset:]
    return found if size < 0 else found[:size]


def bytearray2(source=(), *codec):
    """`bytearray` of Python 2, also of a text without its encoding."""
    from . import _bytes2

    return bytearray(source, *codec) if codec else bytearray(_bytes2.bytes_of(source))


def hasattr2(value, name):
    """`hasattr` of Python 2: an attribute whose computation raises anything is not there."""
    try:
        getattr(value, name)
    except Exception as error:
        if not isinstance(error, AttributeError):
            report.note('python2-hasattr', 'hasattr is False for an attribute that raises an error')
        return False
    return True


PYTHON2 = {
    'hasattr': hasattr2,
    'buffer': buffer2,
    'max': extreme(max),
    'min': extreme(min),
    'round': round2,
    'range': range_list,
    'map': map_list,
    'zip': zip_list,
    'filter': filter_list,
    'sorted': sorted2,
    'input': input2,
    'open': open2,
    'file': file,
    'exec': exec2,
    'eval': eval2,
    '__remx_bytearray__': bytearray2,
}
