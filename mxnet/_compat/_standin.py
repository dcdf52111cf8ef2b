"""Stand-ins for modules that have lost names, and entries of the tables that make them."""
import functools
import importlib
import inspect
import types
from typing import Any

from ._report import report

find: Any = None        # `_importing.standin`, which knows all tables; set there


class Standin(types.ModuleType):
    """A module as a program sees it: a real one with names that are gone, found when they are asked for."""

    def __init__(self, name, real, names, cache=False):
        super().__init__(name)
        self.__dict__.update(_real=real, _names=names, _cache=cache)
        for key in ('__file__', '__path__', '__spec__', '__loader__', '__package__', '__doc__'):
            if hasattr(real, key):
                self.__dict__[key] = getattr(real, key)

    def __getattr__(self, name):
        own = self.__dict__
        if name == '__all__':
            real = getattr(own['_real'], '__all__', None)
            if real is None:
                real = [n for n in dir(own['_real']) if not n.startswith('_')]
            return [*real, *(n for n in own['_names'] if n not in real)]
        make = own['_names'].get(name)
        if make is not None:
            value = own[name] = make()
            return value
        found = find(f'{own["__name__"]}.{name}')
        if found is not None:
            return found
        value = getattr(own['_real'], name)
        if own['_cache'] and (callable(value) or isinstance(value, types.ModuleType)):
            own[name] = value
        return value

    def __setattr__(self, name, value):
        if name in self.__dict__:
            self.__dict__[name] = value
        setattr(self._real, name, value)

    def __delattr__(self, name):
        self.__dict__.pop(name, None)
        delattr(self._real, name)

    def __dir__(self):
        return sorted({*dir(self._real), *self._names})


def extended(real_name, cache=False, **names):
    """An entry of a table: a module that is there, with further names, each with the function that makes it."""

    def make(name):
        try:
            real = importlib.import_module(real_name or name)
        except ImportError:
            return None
        missing = {key: value for key, value in names.items() if not hasattr(real, key)}
        return Standin(name, real, missing, cache) if missing else None

    return make


def positional(function, package='pandas'):
    """A function whose arguments may be given by position although its package takes them by name only now."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        if len(args) < 2:
            return function(*args, **kwargs)
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return function(*args, **kwargs)
        first = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
        if len(args) > first and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
            names = [p.name for p in parameters[first : len(args)]]
            report.note(f'{package}-positional', f'arguments by position that {package} takes by name only')
            kwargs = {**dict(zip(names, args[first:])), **kwargs}
            args = args[:first]
        return function(*args, **kwargs)

    return call


class Positional(Standin):
    """A module whose functions take all their arguments by position."""

    def __getattr__(self, name):
        value = super().__getattr__(name)
        if isinstance(value, types.FunctionType) and not name.startswith('_'):
            value = self.__dict__[name] = positional(value, self.__name__.partition('.')[0])
        return value


def named(code, text, make):
    """A function that makes a value and notes that it was asked for."""

    def found():
        report.note(code, text)
        return make()

    return found
