"""Finds private names of torch in a file's syntax tree.

A name counts as private when one of its parts begins with one underscore: `torch._C`, `torch.utils._pytree`,
`aten._softmax`, `getattr(torch, '_int_mm')`.  So does an attribute of a torch object (a tensor, a storage, an
operator, a node of the tape) that begins with an underscore, such as `_schema` or `_cdata`, a private name of a private
module of torch that the room imports, as an attribute of anything or as text (`tools._nvrtc_compile`), and a library of
torch that is opened with ctypes.

`Tensor._version` and `Tensor._base` do not count: torch's notes on autograd and on views describe them, and they have
no other name.
"""
import ast
import sys
from functools import cache
from pathlib import Path

import torch

DOCUMENTED = {'_version', '_base'}
ROOM = '_torch'


def is_private(name):
    return name.startswith('_') and not name.startswith('__')


def private_modules(package):
    """Private modules of torch that the room imports, as far as they are loaded."""
    names = set()
    for path in (Path(package) / ROOM).glob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or '').split('.')[0] == 'torch':
                names |= {node.module, *[f'{node.module}.{alias.name}' for alias in node.names]}
    return [sys.modules[n] for n in sorted(names) if n in sys.modules and any(map(is_private, n.split('.')))]


@cache
def attributes(package):
    """Private attributes of torch's objects, without those that classes of the package have as well."""
    tensor = torch.ones(1, requires_grad=True)
    objects = (torch.Tensor, torch.UntypedStorage, torch.Generator, torch.fx.Node, torch.fx.Graph, torch.ops.aten.add,
               torch.ops.aten.add.Tensor, torch.cuda.CUDAGraph, torch.autograd.Function, tensor.exp().grad_fn,
               *private_modules(package))
    found = {name for o in objects for name in dir(o) if is_private(name)}
    own = set()
    for path in Path(package).rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == 'self':
                own.add(node.attr)
            elif isinstance(node, ast.FunctionDef):
                own.add(node.name)
    return found - own - DOCUMENTED


def chain(node):
    """['torch', 'ops', 'aten'] for torch.ops.aten; [] if it does not begin with a plain name."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else []


def private_names(path, package=None):
    """['line: name'] of the private names of torch in a file."""
    tree = ast.parse(Path(path).read_text())
    unlisted = attributes(package or Path(__file__).resolve().parents[2] / 'mxnet')
    aliases = {'torch'}         # names that stand for torch, or for a part of it
    found = []

    def note(node, name):
        found.append(f'{node.lineno}: {name}')

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names = alias.name.split('.')
                if names[0] == 'torch':
                    aliases.add(alias.asname or 'torch')
                    if any(map(is_private, names)):
                        note(node, alias.name)
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or '').split('.')[0] == 'torch':
            for alias in node.names:
                aliases.add(alias.asname or alias.name)
                if any(map(is_private, [*node.module.split('.'), alias.name])):
                    note(node, f'{node.module}.{alias.name}')
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) \
                and chain(node.value)[:1] == ['torch']:
            aliases.add(node.targets[0].id)
    inner = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node not in inner:
            names = chain(node)
            if names and names[0] in aliases and any(map(is_private, names[1:])):
                note(node, '.'.join(names))
                at = node
                while isinstance(at, ast.Attribute):
                    inner.add(at)
                    at = at.value
            elif node.attr in unlisted:
                note(node, '.' + node.attr)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ('getattr', 'hasattr') \
                and isinstance(node.args[1], ast.Constant) and is_private(str(node.args[1].value)) \
                and (chain(node.args[0]) or [''])[0] in aliases:
            note(node, f'{ast.unparse(node.args[0])}.{node.args[1].value}')
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) \
                and ('libtorch' in node.value or node.value in unlisted):
            note(node, node.value)
    return found
