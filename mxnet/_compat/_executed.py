"""Text that a program of Python 2 executes: `exec`, `eval` and `execfile` read it as Python 2, as its modules are read.

The names that a text binds are those of Python 3: a text that a function executes binds none of its local variables.
"""

import __future__

import ast
import builtins
import os
import sys
from typing import Any

from ..base import MXNetError

code_of: Any = None         # those of `_importing`, set there
builtins_of: Any = None


def _caller(globals, locals):
    """The namespaces of a call: those of the program's innermost frame, unless they are given."""
    if globals is not None:
        return globals, globals if locals is None else locals
    frame = sys._getframe(2)
    while '__remx_attr__' not in frame.f_builtins and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_globals, frame.f_locals if locals is None else locals


def _ready(namespace):
    """Gives a namespace that is new the builtins of the program's modules."""
    if '__builtins__' not in namespace:
        namespace['__builtins__'] = builtins_of(True)
    return namespace


def _code(source, globals, name, mode):
    """The code of a text."""
    from . import _python2
    from ._rewrite import rewritten

    text = source if isinstance(source, str) else _python2.read(bytes(source))
    future = globals.get('division') is __future__.division     # the module that executes it divides exactly
    if mode == 'exec':
        return code_of(f'from __future__ import division\n{text}' if future else text, name)[0]
    text = text.strip()
    try:
        value = ast.parse(text, name, 'eval').body
    except SyntaxError as error:
        try:
            tree = _python2.convert(f'({text}\n)', name, error)
        except MXNetError:
            raise error from None
        if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
            raise
        value = tree.body[0].value
    tree, _ = rewritten(ast.Module([ast.Expr(value)], []), True, not future)
    return compile(ast.Expression(tree.body[0].value), name, 'eval', dont_inherit=True)


def exec2(source, globals=None, locals=None):
    """`exec` of Python 2."""
    globals, locals = _caller(globals, locals)
    if not hasattr(source, 'co_code'):
        if hasattr(source, 'read'):
            source = source.read()
        _ready(globals)
        source = _code(source, globals, '<string>', 'exec')
    builtins.exec(source, globals, locals)


def eval2(source, globals=None, locals=None):
    """`eval` of Python 2."""
    globals, locals = _caller(globals, locals)
    if not hasattr(source, 'co_code'):
        _ready(globals)
        source = _code(source, globals, '<string>', 'eval')
    return builtins.eval(source, globals, locals)


def execfile(path, globals=None, locals=None):
    """Runs a file in a namespace: the caller's, unless one is given."""
    globals, locals = _caller(globals, locals)
    path = os.fspath(path)
    with open(path, 'rb') as file:
        code, _ = code_of(file.read(), path)
    builtins.exec(code, globals, locals)
