"""numba for a program's modules: what it cannot compile runs as Python, as before numba 0.59."""

import functools
import importlib
import types

from ._report import report
from ._standin import Standin


def with_plain(plain):
    """Decorates a function that numba is to compile with its rewritten copy, which runs where numba does not."""

    def decorate(function):
        code = plain.__code__
        plain.__code__ = code.replace(co_name=function.__name__, co_qualname=function.__qualname__)
        plain.__name__, plain.__qualname__ = function.__name__, function.__qualname__
        function.__remx_plain__ = plain
        return function

    return decorate


def _plain(function):
    return getattr(function, '__remx_plain__', function)


def _as_python(make, function, args, kwargs):
    """A function that is compiled when it is called first; where numba cannot, it is the plain function."""
    numba = importlib.import_module('numba')
    compiled = None
    plain = False

    @functools.wraps(function)
    def call(*values, **named):
        nonlocal compiled, plain
        if not plain:
            try:
                compiled = compiled or make(*args, **kwargs)(function)
                return compiled(*values, **named)
            except numba.core.errors.NumbaError:
                report.note('numba-object-mode', 'what numba cannot compile runs as Python, as before numba 0.59')
                plain = True
        return _plain(function)(*values, **named)

    return call


def _jit(make):
    def jit(*args, **kwargs):
        if kwargs.get('nopython') or kwargs.get('forceobj'):
            return make(*args, **kwargs)
        if len(args) == 1 and isinstance(args[0], types.FunctionType) and not kwargs:
            return _as_python(make, args[0], (), {})
        return lambda function: _as_python(make, function, args, kwargs)

    return jit


def standin(name):
    """The module for programs; None where numba is not installed."""
    try:
        numba = importlib.import_module('numba')
    except ImportError:
        return None
    return Standin(name, numba, {'jit': lambda: _jit(numba.jit), 'autojit': lambda: _jit(numba.jit)})


def _unchanged(*args, **kwargs):
    """A decorator, with or without arguments, that changes nothing."""
    if len(args) == 1 and isinstance(args[0], types.FunctionType) and not kwargs:
        return _plain(args[0])
    return _plain


def names():
    """What stands for numba where it is not installed: functions run as Python, which is slower."""
    return dict.fromkeys(('jit', 'njit', 'autojit', 'generated_jit'), _unchanged) | {'prange': range}
