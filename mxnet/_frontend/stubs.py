"""Writes the `.pyi` files of derived functions, so that editors and type checkers see real signatures.

`python -m mxnet._frontend.stubs` writes them, `--check` says which are stale (a test does).
"""
import argparse
import inspect
import pathlib
import sys
from typing import Any

from .._ops import TABLE, attributes
from .._ops.table import Operator
from .namespaces import namespace

PACKAGE = pathlib.Path(__file__).parents[1]
HEADER = '# Made by `python -m mxnet._frontend.stubs` from the operator table: do not edit.\n'
TYPES = 'from collections.abc import Sequence\nfrom typing import Any, Literal\n\n'

# stub file -> (namespace, lines for what the module has beside derived functions)
MODULES = {
    'ndarray/op.pyi': ('', ''),
    'ndarray/_internal.pyi': ('_internal', ''),
    'ndarray/contrib.pyi': ('contrib', 'from ._contrib import *\nfrom ._contrib_optimizers import *\n'),
    'ndarray/linalg.pyi': ('linalg', ''),
    'ndarray/image.pyi': ('image', ''),
    'ndarray/sparse.pyi': ('sparse', 'from ._sparse import *\n'),
    'ndarray/random.pyi': ('random', 'from ._random import *\n'),
    'numpy_extension/_op.pyi': ('npx', 'from ._own import *\n'),
    'numpy_extension/image.pyi': ('image', ''),
}


# operators that the module has a function of its own for
BY_HAND = {'sparse': ('cast_storage', 'retain'), 'npx': ('constraint_check', 'nonzero', 'reshape')}


def python_type(kind) -> str:
    """The type that a checker should accept for an attribute."""
    match kind:
        case attributes.Boolean():
            return 'bool'
        case attributes.Integer():
            return 'int'
        case attributes.Real():
            return 'float'
        case attributes.Text():
            return 'str'
        case attributes.Sequence():
            item = python_type(kind.item)
            return f'{item} | Sequence[{item}]'
        case attributes.Choice():
            return f'Literal[{", ".join(repr(o) for o in kind.options)}]'
        case attributes.Maybe():
            return python_type(kind.kind) + ' | None'
        case _:
            return 'Any'


def parameters(op: Operator, *, method: bool = False) -> str:
    """The text between the parentheses of a stub."""
    def attribute(name):
        a = op.attributes[name]
        return f'{name}: {python_type(a.kind)} = ...'

    if op.variadic is not None:
        parts = ['*data: NDArray', *[attribute(n) for n in op.attributes]]
    else:
        names = list(op.positional)
        if method:
            names.remove(op.inputs[0])
        parts = [attribute(n) if n in op.attributes else f'{n}: NDArray | None = None' for n in names]
        if parts:
            parts[0] = parts[0].replace(': NDArray | None = None', ': NDArray') if not method else parts[0]
        parts.append('*')
    parts += ['out: Any = None', 'name: str | None = None']
    if op.extra is not None:
        parts.append('**kwargs: Any')
    return ', '.join((['self'] if method else []) + parts)


def result(op: Operator) -> str:
    if callable(op.outputs):
        return 'Any'
    return 'NDArray' if len(op.outputs) == 1 else 'list[NDArray]'


def _define(op, name, indent='', method=False):
    first = inspect.cleandoc(op.doc).splitlines()[0] if op.doc else f'The operator {op.name}.'
    text = first.replace('\\', '\\\\').replace('"""', "'''")
    return (f'{indent}def {name}({parameters(op, method=method)}) -> {result(op)}:\n'
            f'{indent}    """{text}"""\n')


def module_stub(which: str, extra: str, path: str = '') -> str:
    found = namespace(which)
    by_hand = BY_HAND.get(which, ())
    body = ''.join(_define(op, name) + '\n' for name, op in sorted(found.items())
                   if name.isidentifier() and name not in by_hand and not (which == 'npx' and name.startswith('_')))
    arrays = 'from ..numpy import ndarray as NDArray' if path.startswith('numpy') else 'from .ndarray import NDArray'
    return HEADER + TYPES + extra + arrays + '\n\n' + body.rstrip('\n') + '\n'


def methods_stub() -> str:
    found = {name: op for op in TABLE.values() for name in op.methods}
    body = ''.join(_define(op, name, '    ', method=True) + '\n' for name, op in sorted(found.items()))
    return (HEADER + TYPES + 'from .ndarray import NDArray\n\nclass OperatorMethods:\n' + body.rstrip('\n') + '\n')


def package_stub() -> str:
    import mxnet
    package: Any = mxnet
    there = [n for n in sorted(package._SUBMODULES) if (PACKAGE / n).is_dir() or (PACKAGE / f'{n}.py').exists()]
    lines = [f'from . import {n} as {n}' for n in there]
    lines += [f'from . import {m} as {a}' for a, m in sorted(package._ALIASES.items()) if m in there]
    lines += [f'from .{m} import {n} as {n}' for n, m in sorted(package._MEMBERS.items())]
    return HEADER + '\n'.join(lines) + '\n\n__version__: str\n'


def all_stubs() -> dict[pathlib.Path, str]:
    """Every stub file and what it should hold."""
    stubs = {PACKAGE / path: module_stub(*what, path) for path, what in MODULES.items()}
    stubs[PACKAGE / 'ndarray/_methods.pyi'] = methods_stub()
    stubs[PACKAGE / '__init__.pyi'] = package_stub()
    return stubs


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m mxnet._frontend.stubs', description=__doc__.splitlines()[0])
    parser.add_argument('--check', action='store_true', help='write nothing; exit 1 if a stub is stale')
    options = parser.parse_args(argv)
    stale = [p for p, text in all_stubs().items() if not p.exists() or p.read_text() != text]
    if options.check:
        for path in stale:
            print(f'{path} is stale: run make stubs')
        return 1 if stale else 0
    for path in stale:
        path.write_text(all_stubs()[path])
        print(f'wrote {path}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
