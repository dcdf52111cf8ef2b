"""Stubs of packages: what `__init__.py` imports, re-exported, and the names that it loads when they are used.

A type checker counts an import without `as` in a typed package as private, and cannot follow PEP 562.
"""
import ast
import importlib
import inspect
import pathlib
import types
import typing
from collections.abc import Callable
from typing import Any

from .signature import default_of

# packages whose __init__.py has code of its own, which a stub would hide, and those that are private
WITH_CODE = ('profiler', 'cli', 'tools', 'numpy')
# what `stubs_numpy` writes
NUMPY = ('ndarray/numpy', 'symbol/numpy')


def stubs(package: pathlib.Path) -> dict[str, str]:
    """Stub file -> text, for every public package that consists of imports."""
    found = {}
    for path in sorted(package.rglob('__init__.py')):
        parts = path.relative_to(package).parts[:-1]
        if parts and parts[0] in WITH_CODE or any(p.startswith('_') for p in parts) \
                or '/'.join(parts) in NUMPY:
            continue
        text = package_stub(path, '.'.join(('mxnet', *parts)))
        if text is not None:
            found['/'.join((*parts, '__init__.pyi'))] = text
    return found


def package_stub(path: pathlib.Path, name: str) -> str | None:
    """The stub of one package, or None where its code must be read as it is."""
    tree = ast.parse(path.read_text(encoding='utf-8'))
    module = importlib.import_module(name)
    lines: list[str] = []
    made = {public: define(public, value) for public, value in sorted(vars(module).items())
            if name == 'mxnet.io' and inspect.isfunction(value) and hasattr(value, '__signature__')}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level and node.module != '__future__':
            source = '.' * node.level + (node.module or '')
            for alias in node.names:
                public = alias.asname or alias.name
                if alias.name == '*' and made:
                    others = set(importlib.import_module(source, name).__all__) - set(made)
                    lines += [f'from {source} import {other} as {other}' for other in sorted(others)]
                elif alias.name == '*':
                    lines.append(f'from {source} import *')
                else:
                    lines.append(f'from {source} import {alias.name} as {public}')
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            # what `from mxnet.test_utils import *` gives programs beside our own names
            for alias in node.names:
                public = alias.asname or alias.name
                if public in getattr(module, '__all__', ()):
                    start = f'from {node.module} ' if isinstance(node, ast.ImportFrom) else ''
                    lines.append(f'{start}import {alias.name} as {public}')
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith('_'):
            return None
    for public in sorted(getattr(module, '_SUBMODULES', ())):
        lines.append(f'from . import {public} as {public}')
    for public, real in sorted({**getattr(module, '_ALIASES', {}), **getattr(module, '_LATER', {})}.items()):
        if isinstance(real, str):
            lines.append(f'from . import {real} as {public}')
        elif real[0].startswith('.'):
            lines.append(f'from {real[0]} import {real[1]} as {public}')
    for public, source in sorted(getattr(module, '_MEMBERS', {}).items()):
        lines.append(f'from .{source} import {public} as {public}')
    lines = list(dict.fromkeys(lines))
    if made:
        lines = ['from collections.abc import Sequence', 'from typing import Any, Literal', '', *lines, '',
                 *made.values()]
    return '\n'.join(lines) + '\n' if lines else None


def define(name: str, function: Callable[..., Any]) -> str:
    """The stub of a function of keyword arguments that is made at run time: the iterators of `mx.io`.

    Their values may be text, as upstream takes them.
    """
    parameters = list(inspect.signature(function).parameters.values())
    texts = [f'{p.name}: {type_text(p.annotation)}' + ('' if p.default is p.empty else f' = {default_of(p.default)}')
             for p in parameters]
    from ..io._native import _IDLE
    texts += [f'{idle}: Any = None' for idle in sorted(_IDLE) if idle not in {p.name for p in parameters}]
    doc = (inspect.getdoc(function) or '').splitlines()[0]
    return f'def {name}(*, {", ".join(texts)}) -> MXDataIter:\n    """{doc}"""\n'


def type_text(annotation: Any) -> str:
    """An annotation of such a function in a stub."""
    if isinstance(annotation, str):
        raise TypeError(f'{annotation!r} must be evaluated first')
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return type_text(arguments[0])
    if origin is typing.Literal:
        return f'Literal[{", ".join(map(repr, arguments))}]'
    if origin is tuple:
        return 'int | Sequence[int] | str'
    if origin in (typing.Union, types.UnionType):
        return ' | '.join(dict.fromkeys(' | '.join(map(type_text, arguments)).split(' | ')))
    if annotation in (None, types.NoneType):
        return 'None'
    return 'str' if annotation is str else f'{annotation.__name__} | str'
