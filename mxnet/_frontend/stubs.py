"""Writes the `.pyi` files, so that editors and type checkers see what a program sees.

Three kinds of modules need them:

- modules of functions that are derived from the operator table (`mx.nd`, `mx.sym`, `mx.npx`, methods of arrays);
- `mx.np`, whose functions are partly made by factories; their signatures are read at run time (`stubs_numpy`);
- packages that re-export names or load them when they are used (`stubs_packages`).

`python -m mxnet._frontend.stubs` writes the files, `--check` says which are stale (a test does).
"""
import argparse
import inspect
import pathlib
import sys
from typing import Any

from .._ops import TABLE
from .._ops.core import attributes
from .._ops.core.table import Operator
from . import stubs_numpy, stubs_packages
from .namespaces import namespace
from .signature import default_of

PACKAGE = pathlib.Path(__file__).parents[1]
HEADER = '# Made by `python -m mxnet._frontend.stubs`: do not edit.\n'
TYPES = ('from collections.abc import Mapping, Sequence\nfrom typing import Any, Literal\n\n'
         'from mxnet._typing import DType\n')

# stub file -> (namespace, lines for what the module has beside derived functions)
MODULES = {
    'ndarray/op.pyi': ('', 'from ._cached_op import CachedOp as CachedOp\n'),
    'ndarray/_internal.pyi': ('_internal', ''),
    'ndarray/contrib.pyi': ('contrib', 'from ._contrib import *\nfrom ._contrib_optimizers import *\n'),
    'ndarray/linalg.pyi': ('linalg', ''),
    'ndarray/image.pyi': ('image', ''),
    'ndarray/sparse.pyi': ('sparse', 'from ._sparse import *\n' + ''.join(
        f'from .{module} import {name} as {name}\n' for module, names in {
            '_sparse': ('array', 'empty', 'from_scipy', 'from_torch', 'zeros'),
            '_sparse_array': ('from_dense', 'from_record')}.items() for name in names)),
    'ndarray/random.pyi': ('random', 'from ._random import *\n'),
    'ndarray/numpy/_internal.pyi': ('np._internal', ''),
    'numpy_extension/_op.pyi': ('npx', 'from ._own import *\n'),
    'numpy_extension/image.pyi': ('image', ''),
    'symbol/op.pyi': ('', ''),
    'symbol/_internal.pyi': ('_internal', ''),
    'symbol/contrib.pyi': ('contrib', 'from ._contrib import *\n'),
    'symbol/linalg.pyi': ('linalg', ''),
    'symbol/image.pyi': ('image', ''),
    'symbol/sparse.pyi': ('sparse', ''),
    'symbol/numpy/_internal.pyi': ('np._internal', ''),
    'symbol/numpy_extension/_op.pyi': ('npx', ''),
    'symbol/numpy_extension/image.pyi': ('image', ''),
}

# operators that the module has a function of its own for
BY_HAND = {'sparse': ('array', 'cast_storage', 'retain', 'zeros'), 'npx': ('constraint_check', 'nonzero', 'reshape')}

NUMPY_ARRAYS = 'from mxnet.ndarray.ndarray import NDArray\nfrom mxnet.numpy.multiarray import ndarray\n'

# path -> the class of arrays that the functions take and return, and where it comes from
ARRAYS = {
    'numpy_extension/': ('ndarray', NUMPY_ARRAYS),
    'ndarray/numpy/': ('ndarray', NUMPY_ARRAYS),
    'symbol/numpy': ('_Symbol', 'from mxnet.symbol.numpy._symbol import _Symbol\n'),
    'symbol/': ('Symbol', 'from mxnet.symbol.symbol import Symbol\n'),
    'ndarray/': ('NDArray', 'from mxnet.ndarray.ndarray import NDArray\n'),
}


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
        case attributes.DataType():
            return 'DType'
        case attributes.Maybe():
            return python_type(kind.kind) + ' | None'
        case _:
            return 'Any'


def parameters(op: Operator, array: str, *, method: bool = False) -> str:
    """The text between the parentheses of a stub; `array` is the class of the inputs."""
    graph = 'Symbol' in array

    def attribute(name, needed=False):
        a = op.attributes[name]
        kind = python_type(a.kind)
        if a.required and needed:           # nothing before it has a default
            return f'{name}: {kind}'
        default = '...' if a.required else default_of(a.default)
        # a default that the attribute itself does not accept stands for "not given"
        optional = ' | None' if default == 'None' and 'None' not in kind and kind != 'Any' else ''
        return f'{name}: {kind}{optional} = {default}'

    array = 'NDArray' if array == 'ndarray' else array           # arrays of either kind are taken
    if op.variadic is not None:
        parts = [f'*data: {array}', *[attribute(n) for n in op.attributes]]
    else:
        names = list(op.positional)
        if method:
            names.remove(op.inputs[0])
        parts = []
        required = not graph                # a graph makes variables for inputs that are not given
        for name in names:
            if name in op.attributes:
                parts.append(attribute(name, required))
                required = required and op.attributes[name].required
            elif required and name not in op.optional:
                parts.append(f'{name}: {array}')
            else:
                parts.append(f'{name}: {array} | None = None')
                required = False
        parts.append('*')
    if graph:
        parts += ['name: str | None = None', 'attr: Mapping[str, str] | None = None']
        if not method and op.name == 'Custom':
            parts.append('**kwargs: Any')
    else:
        parts += ['out: Any = None', 'name: str | None = None']
    if op.extra is not None and parts[-1] != '**kwargs: Any':
        parts.append('**kwargs: Any')
    return ', '.join((['self'] if method else []) + parts)


def result(op: Operator, array: str) -> str:
    """What a call returns: one array, a list, or `Any` where the attributes decide."""
    names = op.outputs
    if callable(names):
        try:
            names = op.output_names(op.complete({}))
        except Exception:           # the number of outputs is an attribute without a default
            return 'Any'
        return array if len(names) == 1 else 'Any'
    return array if len(names) == 1 or 'Symbol' in array else f'list[{array}]'


def define(op: Operator, name: str, array: str, indent: str = '', *, method: bool = False, static: bool = False) -> str:
    """The stub of one function."""
    first = inspect.cleandoc(op.doc).splitlines()[0] if op.doc else f'The operator {op.name}.'
    text = first.replace('\\', '\\\\').replace('"""', "'''")
    returned = result(op, 'Self' if method else 'NDArray' if static else array)
    return ((f'{indent}@staticmethod\n' if static else '')
            + f'{indent}def {name}({parameters(op, array, method=method)}) -> {returned}:\n{indent}    """{text}"""\n')


def derived(which: str) -> dict[str, Operator]:
    """The operators that a module of a namespace has derived functions for, by name."""
    return {name: op for name, op in sorted(namespace(which).items())
            if name.isidentifier() and name not in BY_HAND.get(which, ())
            and not (which == 'npx' and name.startswith('_'))}


def module_stub(which: str, extra: str, path: str = '') -> str:
    array, source = next(found for prefix, found in ARRAYS.items() if path.startswith(prefix))
    body = ''.join(define(op, name, array) + '\n' for name, op in derived(which).items())
    return HEADER + TYPES + source + extra + '\n' + body.rstrip('\n') + '\n'


def methods_stub(array: str, source: str) -> str:
    """The methods that arrays, or symbols, get from the table."""
    found = {name: op for op in TABLE.values() for name in op.methods}
    body = ''.join(define(op, name, array, '    ', method=True) + '\n' for name, op in sorted(found.items()))
    return (HEADER + TYPES.replace('Any, Literal', 'Any, Literal, Self') + source
            + '\nclass OperatorMethods:\n' + body.rstrip('\n') + '\n')


def operators_stub() -> str:
    """`F` of `hybrid_forward`, which is `mx.nd` or `mx.sym`: everything that both have, on inputs of either kind."""
    import mxnet
    arrays: Any = mxnet.nd
    graphs: Any = mxnet.sym
    table = derived('')
    body = ''.join(define(op, name, 'Any', '    ', static=True) + '\n' for name, op in table.items())
    shared = sorted(n for n in dir(arrays) if not n.startswith('_') and n not in table and hasattr(graphs, n)
                    and inspect.isfunction(getattr(arrays, n)))
    for name in shared:
        body += f'    @staticmethod\n    def {name}(*args: Any, **kwargs: Any) -> NDArray: ...\n'
    spaces = ''.join(f'    from mxnet.ndarray import {n} as {n}\n'
                     for n in ('contrib', 'image', 'linalg', 'np', 'npx', 'random', 'sparse'))
    doc = '    """What `hybrid_forward` gets as `F`: the functions of `mx.nd`, or those of `mx.sym`."""\n\n'
    return (HEADER + TYPES + 'from mxnet.ndarray.ndarray import NDArray\n\nclass Operators:\n' + doc + spaces + '\n'
            + body.rstrip('\n') + '\n')


def all_stubs() -> dict[pathlib.Path, str]:
    """Every stub file and what it should hold."""
    stubs = {path: module_stub(*what, path) for path, what in MODULES.items()}
    stubs['ndarray/_methods.pyi'] = methods_stub('NDArray', ARRAYS['ndarray/'][1])
    stubs['symbol/_methods.pyi'] = methods_stub('Symbol', ARRAYS['symbol/'][1])
    stubs['gluon/_namespaces.pyi'] = operators_stub()
    stubs |= {path: HEADER + text for path, text in stubs_numpy.stubs().items()}
    stubs |= {path: HEADER + text for path, text in stubs_packages.stubs(PACKAGE).items()}
    return {PACKAGE / path: text for path, text in stubs.items()}


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m mxnet._frontend.stubs', description=__doc__.splitlines()[0])
    parser.add_argument('--check', action='store_true', help='write nothing; exit 1 if a stub is stale')
    options = parser.parse_args(argv)
    wanted = all_stubs()
    stale = [p for p, text in wanted.items() if not p.exists() or p.read_text() != text]
    left_over = sorted(set(PACKAGE.rglob('*.pyi')) - set(wanted))
    if options.check:
        for path in stale:
            print(f'{path} is stale: run make stubs')
        for path in left_over:
            print(f'{path} is left over: run make stubs')
        return 1 if stale or left_over else 0
    for path in stale:
        path.write_text(wanted[path])
        print(f'wrote {path}')
    for path in left_over:
        path.unlink()
        print(f'removed {path}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
