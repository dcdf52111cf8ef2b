"""Factories that make objects of a family (optimizers, metrics, initializers) by name.

>>> class Shape: pass
>>> register = mx.registry.get_register_func(Shape, 'shape')
>>> create = mx.registry.get_create_func(Shape, 'shape')
>>> @register
... class Circle(Shape):
...     def __init__(self, radius=1):
...         self.radius = radius
>>> create('circle', radius=3).radius, create('["circle", {"radius": 4}]').radius
(3, 4)
"""
from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from ._kinds import explain_kinds as _explain_kinds
from ._names import kind_of, near
from ._names import suggest_names as _suggest_names
from ._wording import plain
from .base import MXNetError, UnknownName

__all__ = ['get_alias_func', 'get_create_func', 'get_register_func', 'get_registry']

_Class = TypeVar('_Class')


class Register(Protocol):
    """A class decorator that keeps the class as it is."""

    def __call__(self, klass: _Class, name: str | None = None) -> _Class: ...


_registries: dict[type, dict[str, type]] = {}


def get_registry(base_class: type) -> Any:
    """A copy of the table {lower-case name: class} of the family of `base_class`."""
    return dict(_table(base_class))


def _table(base_class):
    return _registries.setdefault(base_class, {})


def get_register_func(base_class: type, nickname: str) -> Register:
    """A class decorator that registers subclasses of `base_class` under their lower-case name.

    `nickname` is what messages call the family, e.g. 'optimizer'.
    """
    table = _table(base_class)

    def register(klass: Any, name: str | None = None) -> Any:
        if not (isinstance(klass, type) and issubclass(klass, base_class)):
            raise TypeError(f'only subclasses of {base_class.__name__} can be registered as {nickname}, not {klass!r}')
        name = (name or klass.__name__).lower()
        old = table.get(name)
        if old is not None and old is not klass:
            warnings.warn(f'{nickname} {name!r} was {old.__module__}.{old.__qualname__} and is now '
                          f'{klass.__module__}.{klass.__qualname__}', UserWarning, stacklevel=2)
        table[name] = klass
        return klass

    register.__doc__ = f'Register a {nickname} class, under its own name or `name`.'
    return register


def get_alias_func(base_class: type, nickname: str) -> Callable[..., Callable[[_Class], _Class]]:
    """A function `alias(*names)` that returns a class decorator: further names for a class."""
    register = get_register_func(base_class, nickname)

    def alias(*aliases):
        def register_all(klass):
            for name in aliases:
                register(klass, name)
            return klass
        return register_all

    alias.__doc__ = f'Register a {nickname} class under each of these names.'
    return alias


def get_create_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """A function that makes an object of the family of `base_class` from a name, a dict or JSON."""
    table = _table(base_class)

    def create(*args, **kwargs):
        if args:
            name, args = args[0], args[1:]
        elif nickname in kwargs:
            name = kwargs.pop(nickname)
        else:
            raise MXNetError(f'which {nickname}? Give its name, or an object')
        if isinstance(name, base_class):
            if args or kwargs:
                raise MXNetError(f'{nickname} is already an object, {name!r}; it cannot take arguments any more: '
                                 f'{_show(args, kwargs)}')
            return name
        if isinstance(name, str) and name.startswith(('[', '{')):
            if args or kwargs:
                raise MXNetError(f'{nickname} given as {name[:200]!r} already contains its arguments; '
                                 f'take out {_show(args, kwargs)}')
            return written(name)
        if isinstance(name, dict):
            if args or kwargs:
                raise MXNetError(f'{nickname} given as {name!r} already contains its arguments; '
                                 f'take out {_show(args, kwargs)}')
            return create(**name)
        if not isinstance(name, str):
            article = 'an' if base_class.__name__[0] in 'AEIOU' else 'a'
            hint = f'; call it to make one: {name.__name__}()' if isinstance(name, type) else \
                '; pass a device as ctx=' if type(name).__name__ == 'Context' else ''
            raise UnknownName(f'{nickname} must be a name, a dict or {article} {base_class.__name__}, not '
                             f'{kind_of(name)}{hint}')
        found = table.get(name.lower())
        if found is None:
            raise UnknownName(f'there is no {nickname} called {name!r}{near(name, table)}; registered are '
                             f'{", ".join(sorted(table))}')
        return found(*args, **kwargs)

    def written(text):
        """What a text asks for, which may have come from a file: it is made, or an error names what is wrong."""
        config = _parse(text, nickname)
        try:
            return create(**config)
        except MXNetError:
            raise
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
            raise MXNetError(f'{nickname} cannot be made of {text[:200]!r}: {plain(error)}') from None

    create.__doc__ = (f'Make a {nickname}: from its name and arguments, from a dict with an entry {nickname!r}, or '
                      f'from the JSON of either. A {base_class.__name__} object is returned as it is.')
    return create


def _parse(text, nickname):
    """JSON, either {nickname: name, ...arguments} or [name, {arguments}], as the former."""
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MXNetError(f'{nickname} is neither a name nor valid JSON: {text[:200]!r} ({error})') from None
    if isinstance(config, list):
        if len(config) != 2 or not isinstance(config[1], dict):
            raise MXNetError(f'{nickname} as a JSON list must be [name, {{arguments}}], not {text[:200]!r}')
        config = {**config[1], nickname: config[0]}
    return config


def _show(args, kwargs):
    return ', '.join([repr(arg) for arg in args] + [f'{key}={value!r}' for key, value in kwargs.items()])


_explain_kinds(globals(), __all__)
_suggest_names(globals())
