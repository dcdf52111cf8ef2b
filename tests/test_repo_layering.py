"""The order of the layers: a module may import from its own layer and from those above it in LAYERS.

Imports inside functions count too, for they bind two parts together just as much; the few that must go the other way
are in DOWNWARD with their reason. Imports for type checkers only (`if TYPE_CHECKING:`) do not count.
"""
import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / 'mxnet'

# Top-level modules and packages of mxnet. A new one needs a place here.
LAYERS = (
    # the ground: no torch, no NumPy
    ('_dispatch', '_guard', '_malloc', '_names', '_scope', '_state', '_typing', '_wording', 'base', 'error',
     'libinfo', 'log', 'registry'),
    # private names of torch
    ('_torch',),
    # devices, and how work is put on them
    ('context', 'engine'),
    # file formats, on bytes and tensors
    ('_files', 'recordio'),
    # the operator table
    ('_ops',),
    # the storage under arrays
    ('_array', '_notes', '_quiet'),
    # what derives from the table
    ('_frontend',),
    # switches and services around arrays
    ('_anomaly', '_whole', 'attribute', 'autograd', 'name', 'random', 'runtime', 'util'),
    # static graphs
    ('_graph', '_to_torch'),
    # deferred execution
    ('_lazy',),
    # arrays and graphs for people
    ('ndarray', 'symbol', 'executor', '_sparse_executor', 'numpy', 'numpy_extension', 'operator', '_numpy_op_doc',
     'numpy_dispatch_protocol', 'numpy_op_signature', '_deferred_compute', '_traced_array', '_traced_index', 'library',
     'rtc'),
    # training
    ('_dist', 'kvstore', 'initializer', 'lr_scheduler', 'metric', 'misc', 'optimizer'),
    # data
    ('io', 'image'),
    # models
    ('callback', 'executor_manager', 'gluon', 'module', 'model', 'rnn'),
    # tools
    ('contrib', 'monitor', 'notebook', 'onnx', 'profiler', 'test_utils', 'visualization'),
    # programs of the time of MXNet 1.x
    ('_compat', 'compat'),
    # the command, and scripts that call it
    ('_serve', 'cli', 'tools'),
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}
NO_TORCH = LAYERS[0]

# (importing file or folder, imported module; '' is the package itself): why an import inside a function may go to a
# later layer.
DOWNWARD = {
    ('cli/_findings', ''): 'names that a program uses are looked up in the package',
    ('_frontend/reference', ''): 'examples of the reference are programs: they import mxnet',
    ('_frontend/stubs', ''): 'stubs show what is in mx.nd and mx.sym',
    ('autograd', 'ndarray'): 'programs take NDArray from `from mxnet.autograd import *`',
    ('autograd', 'symbol'): 'get_symbol returns a Symbol',
    ('gluon/contrib/estimator', 'contrib'): 'fit(log_dir=) writes for TensorBoard',
    ('gluon/contrib/data', 'contrib'): 'the vocabulary of a text is one of contrib.text',
    ('kvstore', 'profiler'): 'the servers of a KVStore are profiled on request',
    ('ndarray', 'image'): 'nd.imdecode is an old name of image.imdecode',
    ('symbol', 'visualization'): 'a Symbol draws itself in a notebook',
    ('base', 'ndarray'): 'the functions of _LIB read and write arrays',
    ('random', 'ndarray'): 'mx.random.uniform and the other distributions are those of nd.random',
    ('util', 'ndarray'): 'default_array makes an NDArray',
    ('util', 'numpy'): 'default_array makes an mx.np.ndarray in np mode',
}


def files():
    return sorted(path for path in PACKAGE.rglob('*.py') if path != PACKAGE / '__init__.py')


def top_modules():
    return {path.relative_to(PACKAGE).parts[0].removesuffix('.py') for path in files()}


def parts(path):
    """mxnet/gluon/nn.py -> ['mxnet', 'gluon', 'nn']"""
    names = [PACKAGE.name, *path.relative_to(PACKAGE).with_suffix('').parts]
    return names[:-1] if names[-1] == '__init__' else names


def is_type_checking(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) in ('TYPE_CHECKING', 'typing.TYPE_CHECKING')


def targets(node, path):
    """Dotted names of the modules that an import statement, or a call of import_module, asks for."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        package = parts(path) if path.name == '__init__.py' else parts(path)[:-1]
        above = package[:len(package) - node.level + 1] if node.level else []
        base = '.'.join([*above, *([node.module] if node.module else [])])
        # `from . import x` at the top of the package means module x; deeper, the package that x lives in decides
        return [f'{base}.{alias.name}' for alias in node.names] if base == PACKAGE.name else [base]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ('import_module', 'importlib.import_module'):
        first = node.args[0] if node.args else None
        return [first.value] if isinstance(first, ast.Constant) else []
    return []


def imports(path):
    """(line, dotted name, inside a function) for each import of a file that happens at run time."""
    found = []

    def visit(node, deferred):
        if is_type_checking(node):
            for child in node.orelse:
                visit(child, deferred)
            return
        found.extend((node.lineno, name, deferred) for name in targets(node, path))
        inside = deferred or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(path.read_text()), False)
    return found


def inner_imports(path):
    """(line, dotted name, top-level module, inside a function) for each import of a part of mxnet."""
    for line, name, deferred in imports(path):
        package, _, rest = name.partition('.')
        if package == PACKAGE.name:
            yield line, name, rest.partition('.')[0], deferred


def exceptions(path):
    """What DOWNWARD allows a file."""
    where = '/'.join(parts(path)[1:])
    return {(start, to) for start, to in DOWNWARD if f'{where}/'.startswith(f'{start}/')}


def wrong_way(path):
    """Imports of `path` that go to a later layer. The package itself, which knows all of its parts, comes last."""
    mine, allowed = parts(path)[1], {to for _, to in exceptions(path)}
    for line, name, target, deferred in inner_imports(path):
        later = LAYER.get(target, len(LAYERS)) > LAYER.get(mine, -1)
        if later and not (deferred and target in allowed):
            yield f'mxnet/{path.relative_to(PACKAGE)}:{line} imports {name}, a later layer than {mine}'


def test_every_top_module_has_a_layer():
    missing = top_modules() - LAYER.keys()
    assert not missing, f'no layer for {sorted(missing)}: give each a place in LAYERS'


@pytest.mark.parametrize('path', files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_follow_the_layers(path):
    wrong = list(wrong_way(path))
    assert not wrong, '\n'.join(wrong)


@pytest.mark.parametrize('name', NO_TORCH)
def test_the_ground_loads_no_torch(name):
    for path in [PACKAGE / f'{name}.py', *(PACKAGE / name).rglob('*.py')]:
        if path.exists():
            # inside a function is late enough: base.numeric_types asks NumPy for its types when a program asks for it
            heavy = [f'{path.name}:{line}' for line, module, deferred in imports(path)
                     if not deferred and module.split('.')[0] in ('torch', 'numpy')]
            assert not heavy


def test_exceptions_are_still_needed():
    used = {(start, to) for path in files() for start, to in exceptions(path)
            if any(deferred and target == to for _, _, target, deferred in inner_imports(path))}
    assert used == DOWNWARD.keys()


@pytest.mark.parametrize('source, wrong', [
    ('from ..gluon import nn', True),
    ('from mxnet.gluon.nn import Dense', True),
    ('import mxnet.cli', True),
    ('import mxnet as mx', True),
    ('from .. import gluon', True),
    ('def f():\n    from ..gluon import nn', True),
    ('import importlib\ndef f():\n    importlib.import_module("mxnet.gluon")', True),
    ('from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..gluon import nn', False),
    ('from ..base import MXNetError', False),
    ('from .. import base', False),
    ('from . import sibling', False),
    ('from .sibling import gluon', False),
    ('import torch', False),
])
def test_the_check_itself(source, wrong, tmp_path, monkeypatch):
    """Each way to import the wrong way round is seen, and nothing else is."""
    monkeypatch.setattr(sys.modules[__name__], 'PACKAGE', tmp_path / 'mxnet')
    path = tmp_path / 'mxnet' / 'ndarray' / 'some.py'
    path.parent.mkdir(parents=True)
    path.write_text(source)
    assert bool(list(wrong_way(path))) is wrong
