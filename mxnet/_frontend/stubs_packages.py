"""Stubs of packages: what `__init__.py` imports, re-exported, and the names that it loads when they are used.

A type checker counts an import without `as` in a typed package as private, and cannot follow PEP 562.
"""
import ast
import importlib
import pathlib

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
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level and node.module != '__future__':
            source = '.' * node.level + (node.module or '')
            for alias in node.names:
                public = alias.asname or alias.name
                if alias.name == '*':
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
    return '\n'.join(dict.fromkeys(lines)) + '\n' if lines else None
