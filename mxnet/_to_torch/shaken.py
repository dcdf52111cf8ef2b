"""The source of a function together with everything of this package that it needs, as one piece of Python.

What a generated file cannot say in torch's own functions, it holds as a copy of ours: the function of the operator,
without its declaration, and the functions, classes and constants that it refers to.
"""
import ast
import builtins
import inspect
import textwrap
import types
from typing import Any

import torch

from .._ops.core import checks
from .._ops.core.library import KERNELS
from .._ops.tensor import products
from .._state import State
from .._torch.dispatch import OpOverload

PACKAGE = __name__.partition('.')[0]
_TAKEN = ('torch', 'nn', 'F', 'json', 'Path', 'load', 'math', 'operator', 'functools', 'self')
_PLAIN = (int, float, str, bool, type(None))


def unchecked(name, what, values, *accepted):
    """The values as they are: torch's own kernels look at them."""
    return values


# what stands for checks of values on a GPU, and for products that differ from torch's on a GPU only
_INSTEAD: dict[Any, Any] = dict.fromkeys((checks.in_range, checks.checked, checks.refuse), unchecked) | {
    products.matmul: torch.matmul, products.inner: torch.dot, products.tensordot: torch.tensordot,
    products.linear: torch.nn.functional.linear, products.einsum: torch.einsum}


class CannotCopy(Exception):
    """A function refers to something that has no source."""


class Copies:
    """Collects definitions, each once; `text()` has them in an order in which they can be executed."""

    def __init__(self):
        self._names: dict[int, str] = {}         # id of an object -> its name in the file
        self._kept: list[Any] = []               # so that ids stay their own
        self._texts: dict[str, str] = {}
        self.imports: set[str] = set()

    def text(self):
        return '\n\n\n'.join(self._texts.values())

    def name(self, value, wish):
        """The name of a value in the file, which then holds its definition."""
        if id(value) in self._names:
            return self._names[id(value)]
        wish = f'{wish}_' if hasattr(builtins, wish) or wish in _TAKEN else wish
        name, number = wish, 1
        while name in self._names.values():
            name, number = f'{wish}_{number}', number + 1
        self._names[id(value)] = name
        self._kept.append(value)
        self._texts[name] = ''                   # its place among the others, which may refer to it
        text = self._definition(value, name)
        del self._texts[name]
        self._texts[name] = text
        return name

    def _definition(self, value, name):
        if isinstance(value, types.FunctionType):
            return self._function(value, name)
        if hasattr(value, '__wrapped__') and isinstance(value.__wrapped__, types.FunctionType):
            text = self._function(value.__wrapped__, name)           # functools.cache
            self.imports.add('import functools')
            return f'@functools.cache\n{text}'
        if isinstance(value, type):
            return self._class(value, name)
        return f'{name} = {self._constant(value)}'

    # ------------------------------------------------------------------ definitions
    def _function(self, function, name):
        wrapped = getattr(function, '__wrapped__', None)
        if wrapped is not None:
            function = wrapped
        tree = _lambda(function) if function.__name__ == '<lambda>' or '<lambda>' in function.__code__.co_name \
            else _parsed(function)
        if not isinstance(tree, ast.FunctionDef):
            raise CannotCopy(f'{function.__module__}.{function.__qualname__} is no plain function')
        tree.decorator_list = []
        tree.name = name
        _without_annotations(tree)
        if function.__closure__:
            cells = dict(zip(function.__code__.co_freevars, (c.cell_contents for c in function.__closure__)))
            bound = {key: self._reference(value, key) for key, value in cells.items()}
            self._resolve(tree, function.__globals__, set(bound))
            inner = ast.unparse(ast.fix_missing_locations(tree))
            arguments = ', '.join(f'{k}={v}' for k, v in bound.items())
            return (f'def _make_{name}({", ".join(bound)}):\n{textwrap.indent(inner, "    ")}\n    return {name}\n\n\n'
                    f'{name} = _make_{name}({arguments})')
        self._resolve(tree, function.__globals__, set())
        return ast.unparse(ast.fix_missing_locations(tree))

    def _class(self, value, name):
        import sys
        tree = _parsed(value)
        tree.name = name
        # how its own pickles find the class is of no use in a copy
        tree.bases = [b for b in tree.bases if getattr(b, 'id', '') != 'Portable'] \
            or [ast.parse('torch.nn.Module', mode='eval').body]
        _without_annotations(tree, fields=not any(b.__name__ == 'NamedTuple' or hasattr(b, '_fields')
                                                  for b in value.__mro__))
        self._resolve(tree, vars(sys.modules[value.__module__]), set())
        return ast.unparse(ast.fix_missing_locations(tree))

    def _constant(self, value):
        if isinstance(value, float) and value != value or value in (float('inf'), float('-inf')) \
                and isinstance(value, float):
            return f"float('{value}')"
        if isinstance(value, _PLAIN) or isinstance(value, torch.dtype):
            return repr(value)
        if isinstance(value, (tuple, list, set, frozenset)):
            inner = ', '.join(self._reference(v, 'value') for v in value)
            if isinstance(value, tuple):
                return f'({inner},)' if len(value) == 1 else f'({inner})'
            if isinstance(value, list):
                return f'[{inner}]'
            return f'{type(value).__name__}(({inner},))' if value else f'{type(value).__name__}()'
        if isinstance(value, dict):
            return '{' + ', '.join(f'{self._reference(k, "key")}: {self._reference(v, "value")}'
                                   for k, v in value.items()) + '}'
        raise CannotCopy(f'a {type(value).__name__} has no source')

    def _reference(self, value, wish):
        """An expression for a value: a literal, something of torch's, or a name in the file."""
        if isinstance(value, _PLAIN) or isinstance(value, torch.dtype):
            return self._constant(value)
        if isinstance(value, types.ModuleType):
            if value.__name__.partition('.')[0] == PACKAGE:
                raise CannotCopy(f'the module {value.__name__} itself')
            alias = value.__name__.rpartition('.')[2]
            self.imports.add(f'import {value.__name__}' if '.' not in value.__name__ else
                             f'import {value.__name__} as {alias}')
            return alias
        if isinstance(value, OpOverload) and value in KERNELS:
            value = KERNELS[value]              # what it computes, without its registration
        if isinstance(value, types.FunctionType):
            value = _INSTEAD.get(value, value)
        module = getattr(value, '__module__', None) or ''
        if isinstance(value, (types.BuiltinFunctionType, types.BuiltinMethodType)) or \
                (callable(value) and not module.startswith(PACKAGE)):
            return self._foreign(value)
        if isinstance(value, (tuple, list, set, frozenset, dict)):
            return self._constant(value)
        wanted = getattr(value, '__name__', wish)
        return self.name(value, wanted if str(wanted).isidentifier() else wish)

    def _foreign(self, value):
        import math
        import operator

        import torch
        name = getattr(value, '__name__', '')
        for prefix, where in (('torch', torch), ('torch.nn.functional', torch.nn.functional), ('math', math),
                              ('operator', operator), ('torch.special', torch.special), ('torch.linalg', torch.linalg),
                              ('torch.fft', torch.fft)):
            if getattr(where, name, None) is value:
                self.imports.add(f'import {prefix.partition(".")[0]}')
                return f'{prefix}.{name}'
        if getattr(builtins, name, None) is value:
            return name
        module = getattr(value, '__module__', None)
        if module and getattr(__import__(module, fromlist=['*']), name, None) is value:
            self.imports.add(f'from {module} import {name}')
            return name
        raise CannotCopy(f'{value!r} has no name')

    # ------------------------------------------------------------------ names that a definition refers to
    def _resolve(self, tree, space, bound):
        """Rewrites the names of our own modules in a definition to those of the file."""
        copies = self
        own = bound | {tree.name} | {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)
                                     and not isinstance(n.ctx, ast.Load)}
        own |= {a.arg for n in ast.walk(tree) if isinstance(n, ast.arguments)
                for a in (*n.posonlyargs, *n.args, *n.kwonlyargs, *filter(None, (n.vararg, n.kwarg)))}
        own |= {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ExceptHandler)) and n.name}
        space = _with_imports(tree, space)

        class Rewrite(ast.NodeTransformer):
            def visit_Attribute(self, node):
                if isinstance(node.value, ast.Name) and node.value.id not in own and node.value.id in space:
                    module = space[node.value.id]
                    if isinstance(module, State):
                        # a switch of the program: as it is now
                        return ast.parse(copies._constant(getattr(module, node.attr)), mode='eval').body
                    if isinstance(module, types.ModuleType) and module.__name__.startswith(PACKAGE):
                        return copies._expression(getattr(module, node.attr), node.attr)
                self.generic_visit(node)
                return node

            def visit_Name(self, node):
                if node.id in own or not isinstance(node.ctx, ast.Load):
                    return node
                if node.id in space:
                    return copies._expression(space[node.id], node.id)
                return node
        Rewrite().visit(tree)

    def _expression(self, value, wish):
        if wish == 'MXNetError' or isinstance(value, type) and issubclass(value, Exception) \
                and value.__module__.startswith(PACKAGE):
            return ast.Name('ValueError', ast.Load())
        return ast.parse(self._reference(value, wish), mode='eval').body


def _with_imports(tree, space):
    """The names that a definition sees, with those that it imports from this package by itself.

    What only a caller within this package reaches (a branch that imports our own tracing) is an error instead.
    """
    import importlib

    class Branches(ast.NodeTransformer):
        def visit_If(self, node):
            if any(isinstance(n, ast.ImportFrom) and n.level for n in node.body):
                node.body = ast.parse('raise NotImplementedError').body
            self.generic_visit(node)
            return node

        def visit_ImportFrom(self, node):
            if not node.level:
                return node
            package = space['__name__'].rsplit('.', node.level)[0]
            where = importlib.import_module(f'{package}.{node.module}' if node.module else package)
            for alias in node.names:
                try:
                    value = getattr(where, alias.name)
                except AttributeError:
                    value = importlib.import_module(f'{where.__name__}.{alias.name}')
                found[alias.asname or alias.name] = value
            return ast.Pass()
    found = dict(space)
    Branches().visit(tree)
    return found


def _parsed(value):
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    except (OSError, TypeError, SyntaxError) as error:
        raise CannotCopy(f'{value!r} has no source') from error


def _lambda(function):
    """A lambda as the definition of a function."""
    try:
        path = inspect.getsourcefile(function)
        if path is None:
            raise TypeError(function)
        with open(path, encoding='utf-8') as file:
            module = ast.parse(file.read())
    except (OSError, TypeError) as error:
        raise CannotCopy(f'{function!r} has no source') from error
    code = function.__code__
    found = [n for n in ast.walk(module) if isinstance(n, ast.Lambda) and n.lineno == code.co_firstlineno]
    if len(found) > 1:
        found = [n for n in found if _same_code(n, code)]
    if len(found) != 1:
        raise CannotCopy(f'{function.__module__}: a lambda on line {code.co_firstlineno} cannot be told from others')
    node = found[0]
    # Python 3.12 and newer have type_params
    return ast.FunctionDef('function', node.args, [ast.Return(node.body)], [], lineno=0,
                           type_params=[])      # type: ignore[call-arg]


def _same_code(node, code):
    made = compile(ast.Expression(node), 'lambda', 'eval').co_consts[0]
    return made.co_code == code.co_code and made.co_varnames == code.co_varnames and made.co_names == code.co_names \
        and [c for c in made.co_consts if not hasattr(c, 'co_code')] == [c for c in code.co_consts
                                                                         if not hasattr(c, 'co_code')]


def _without_annotations(tree, fields=True):
    """Drops annotations, docstrings' indentation stays as it is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
            node.type_params = []           # type: ignore[attr-defined]
        if fields and hasattr(node, 'body') and isinstance(node.body, list):
            kept = [n for n in node.body if not (isinstance(n, ast.AnnAssign) and n.value is None)]
            node.body = [ast.Assign([n.target], n.value, lineno=0) if isinstance(n, ast.AnnAssign) and n.value else n
                         for n in kept] or [ast.Pass()]
