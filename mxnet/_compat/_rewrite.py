"""Rewrites the syntax tree of a program's module, so that what Python and NumPy of its time did is done again.

No line moves: nodes that are replaced keep their positions, so tracebacks and debuggers show the program's lines.
"""

import ast
import copy

from ._helpers import LISTS, METHODS, NUMBERS, TEXTS
from ._pandas import NAMES as TABLES

_CONVERSIONS = {
    'float': '__remx_float__',
    'int': '__remx_int__',
    'complex': '__remx_complex__',
    'long': '__remx_int__',
    'round': '__remx_round__',
}
_SIMPLE = (
    ast.Name,
    ast.Constant,
    ast.Attribute,
    ast.Subscript,
    ast.Load,
    ast.Store,
    ast.Tuple,
    ast.UnaryOp,
    ast.USub,
    ast.BinOp,
    ast.operator,
    ast.expr_context,
)

_IN_PLACE = {
    ast.Add: 'iadd',
    ast.Sub: 'isub',
    ast.Mult: 'imul',
    ast.FloorDiv: 'ifloordiv',
    ast.Mod: 'imod',
    ast.Pow: 'ipow',
    ast.BitOr: 'ior',
    ast.BitAnd: 'iand',
    ast.BitXor: 'ixor',
}


_CHANGES = {ast.Add: 'iadd', ast.Sub: 'isub', ast.Mult: 'imul'}
_WITH_INTEGERS = {ast.Add: 'add', ast.Sub: 'sub', ast.Mult: 'mul'}
_ORDERS = {ast.Lt: 'lt', ast.LtE: 'le', ast.Gt: 'gt', ast.GtE: 'ge'}
# methods that Python calls, under their names of Python 2
_OF_CLASSES = {
    'next': ('__next__',),
    '__nonzero__': ('__bool__',),
    '__div__': ('__truediv__',),
    '__rdiv__': ('__rtruediv__',),
    '__idiv__': ('__itruediv__',),
}
SHELL = frozenset(('magic', 'run_line_magic', 'run_cell_magic', 'system', 'getoutput'))  # of `get_ipython()`
_WHOLE_TYPES = ('uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32')


class Rewriter(ast.NodeTransformer):
    """`python2`: with the semantics of Python 2; `division`: integers are divided as integers."""

    def __init__(self, tree, python2=False, division=False):
        self.python2, self.division = python2, division
        self.divisions: list[int] = []
        # names that the module defines itself stand for what it defines
        self.defined = (
            {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            | {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
            | {
                a.asname or a.name
                for n in ast.walk(tree)
                if isinstance(n, (ast.Import, ast.ImportFrom))
                for a in n.names
            }
            | {
                a.arg
                for n in ast.walk(tree)
                if isinstance(n, ast.arguments)
                for a in (*n.posonlyargs, *n.args, *n.kwonlyargs)
            }
        )

        self.numba = {
            a.asname or a.name
            for n in ast.walk(tree)
            if isinstance(n, ast.Import) and any(a.name == 'numba' for a in n.names)
            or isinstance(n, ast.ImportFrom) and n.module == 'numba'
            for a in n.names
        }

        # lists of slices are made where slices are
        self.slices = any(
            isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == 'slice' for n in ast.walk(tree)
        )

        # names of caught errors, whose arguments were their items
        self.errors = {n.name for n in ast.walk(tree) if isinstance(n, ast.ExceptHandler) and n.name}

        # what is read of tables; of other objects it is what it is
        self.tables = TABLES if _imports(tree, 'pandas') else frozenset()

    def continues(self, earlier):
        """Adds what is known of the earlier cells of a notebook, and adds this cell to it."""
        for name in ('defined', 'numba', 'slices', 'tables'):
            known = getattr(self, name) | earlier.get(name, type(getattr(self, name))())
            earlier[name] = known
            setattr(self, name, known)

    def visit_Call(self, node):
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if isinstance(node.func, ast.Attribute) and node.func.attr in SHELL and self._is_shell(node.func.value):
            node.func.value = _call(node, '__remx_shell__', _call(node, 'globals'))
        if (
            name in _CONVERSIONS
            and name not in self.defined
            and not node.keywords
            and len(node.args) <= (2 if name == 'round' else 1)
            and node.args
            and not isinstance(node.args[0], (ast.Constant, ast.Starred))
        ):
            node.func = ast.copy_location(ast.Name(_CONVERSIONS[name], ast.Load()), node.func)
        elif (
            name == 'map'
            and node.args
            and isinstance(node.args[0], ast.Name)
            and node.args[0].id in _CONVERSIONS
            and node.args[0].id not in self.defined
            and len(node.args) == 2
        ):
            node.args[0] = ast.copy_location(ast.Name(_CONVERSIONS[node.args[0].id], ast.Load()), node.args[0])
        elif self.python2 and name == 'unicode' and name not in self.defined and len(node.args) > 1:
            node.func = ast.copy_location(ast.Name('__remx_unicode__', ast.Load()), node.func)
        elif self.python2 and name == 'bytearray' and name not in self.defined and node.args:
            node.func = ast.copy_location(ast.Name('__remx_bytearray__', ast.Load()), node.func)
        elif (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in _WHOLE_TYPES
            and len(node.args) == 1
            and not node.keywords
            and not isinstance(node.args[0], ast.Starred)
        ):
            return _call(node, '__remx_narrowed__', node.func, node.args[0])
        return node

    def _is_shell(self, node):
        """Whether an expression is `get_ipython()`, which notebooks have when they are saved as programs."""
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == 'get_ipython'
            and 'get_ipython' not in self.defined
        )

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if self.python2 and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            return _call(node, '__remx_negative__', node.operand)
        return node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if (
            isinstance(node.op, ast.Mod)
            and isinstance(node.left, ast.Constant)
            and isinstance(node.left.value, str)
            and NUMBERS.search(node.left.value)
        ):
            return _call(node, '__remx_format__', node.left, node.right)
        if isinstance(node.op, ast.Div) and self.division and not _is_float(node.left) and not _is_float(node.right):
            self.divisions.append(node.lineno)
            return _call(node, '__remx_div__', node.left, node.right)
        name = _WITH_INTEGERS.get(type(node.op))
        if name and any(map(_may_be_too_large, (node.left, node.right))):
            return _call(node, '__remx_with_integer__', ast.Constant(name), node.left, node.right)
        return node

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        name, target = _IN_PLACE.get(type(node.op)), node.target
        if self.python2 and name and isinstance(target, ast.Subscript) and not _is_fixed(target.slice):
            call = _call(node, '__remx_augment__', target.value, _key(target.slice), ast.Constant(name), node.value)
            return ast.copy_location(ast.Expr(call), node)
        name = _CHANGES.get(type(node.op))
        if self.python2 and name and isinstance(target, ast.Name) and not isinstance(node.value, ast.Constant):
            call = _call(node, '__remx_changed__', ast.Constant(name), _loaded(target), node.value)
            return ast.copy_location(ast.Assign([target], call), node)
        if (
            not isinstance(node.op, ast.Div)
            or not self.division
            or _is_float(node.value)
            or not all(isinstance(n, _SIMPLE) for n in ast.walk(node.target))
        ):
            return node
        self.divisions.append(node.lineno)
        value = _call(node, '__remx_idiv__', _loaded(node.target), node.value)
        if isinstance(node.target, ast.Subscript):
            return self._stored(ast.copy_location(ast.Assign([node.target], value), node))
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_Compare(self, node):
        self.generic_visit(node)
        name = _ORDERS.get(type(node.ops[0]))
        if not self.python2 or len(node.ops) != 1 or name is None:
            return node
        return _call(node, '__remx_compare__', ast.Constant(name), node.left, node.comparators[0])

    # ------------------------------------------------------------------ truth values
    def visit_If(self, node):
        self.generic_visit(node)
        node.test = _truth(node.test)
        return node

    visit_While = visit_IfExp = visit_Assert = visit_If

    def visit_Assign(self, node):
        self.generic_visit(node)
        return self._stored(node)

    def _stored(self, node):
        target = node.targets[0]
        if (
            len(node.targets) != 1
            or not isinstance(target, ast.Subscript)
            or isinstance(node.value, (ast.Dict, ast.JoinedStr, ast.Lambda, ast.ListComp, ast.DictComp, ast.SetComp))
            or isinstance(node.value, ast.Constant)
            and not isinstance(node.value.value, int)
        ):
            return node
        inner = target.value
        if self.tables and isinstance(inner, ast.Subscript) and not isinstance(inner.slice, (ast.Slice, ast.Tuple)):
            return ast.copy_location(
                ast.Expr(_call(node, '__remx_column__', node.value, inner.value, inner.slice, _key(target.slice))), node
            )
        call = _call(node, '__remx_store__', node.value, target.value, _key(target.slice))
        return ast.copy_location(ast.Expr(call), node)

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        if node.attr in self.tables and not (self.python2 and node.attr in LISTS):
            return _call(node, '__remx_table__', node.value, ast.Constant(node.attr), ast.Constant(self.python2))
        if self.python2 and node.attr in LISTS:
            return _call(node, '__remx_list__', node.value, ast.Constant(node.attr))
        if node.attr == '__new__':
            return _call(node, '__remx_new__', node.value)
        if self.python2 and node.attr == 'sort':
            return _call(node, '__remx_sort__', node.value)
        if self.python2 and node.attr in TEXTS:
            return _call(node, '__remx_text__', node.value, ast.Constant(node.attr))
        if node.attr in METHODS:
            return _call(node, '__remx_attr__', node.value, ast.Constant(node.attr))
        return node

    def visit_Subscript(self, node):
        self.generic_visit(node)
        wanted = self.python2 or self.slices and isinstance(node.slice, ast.Name)
        of_error = self.python2 and isinstance(node.value, ast.Name) and node.value.id in self.errors
        if not wanted or not isinstance(node.ctx, ast.Load) or _is_fixed(node.slice) and not of_error:
            return node
        return _call(node, '__remx_item__', node.value, _key(node.slice))

    def visit_FunctionDef(self, node):
        if not any(_root(d) in self.numba for d in node.decorator_list):
            return self.generic_visit(node)
        # what numba compiles stays as it is, since numba knows no functions of ours; a rewritten copy runs as Python
        plain = copy.deepcopy(node)
        plain.name, plain.decorator_list = f'_remx_plain_{node.name}', []
        node.decorator_list.append(_call(node, '__remx_numba__', ast.Name(plain.name, ast.Load())))
        return [self.generic_visit(plain), node]

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        if not self.python2 or any(k.arg == 'metaclass' for k in node.keywords):
            return node
        for statement in node.body:
            if (
                isinstance(statement, ast.Assign)
                and isinstance(statement.targets[0], ast.Name)
                and statement.targets[0].id == '__metaclass__'
            ):
                node.keywords.append(ast.keyword('metaclass', statement.value))
        methods = {s.name for s in node.body if isinstance(s, ast.FunctionDef)}
        added = [(today, old) for old, names in _OF_CLASSES.items() if old in methods
                 for today in names if today not in methods]
        if '__eq__' in methods and '__hash__' not in methods:
            added.append(('__hash__', '__remx_hash__'))
        for today, old in added:
            value = ast.Name(old, ast.Load())
            node.body.append(ast.copy_location(ast.Assign([ast.Name(today, ast.Store())], value), node.body[-1]))
        for old, decorator in (('__cmp__', '__remx_ordered__'), ('__getslice__', '__remx_sliced__')):
            if old in methods:
                node.decorator_list.append(ast.copy_location(ast.Name(decorator, ast.Load()), node))
        if not node.bases and not node.keywords and '__metaclass__' not in self.defined:
            for statement in node.body:     # a class without bases of Python 2 never called its __new__
                if isinstance(statement, ast.FunctionDef) and statement.name == '__new__':
                    statement.name = '__remx_unused_new__'
        return node


def _truth(node):
    """A condition, in which arrays are compared with None and empty arrays are false, as in NumPy 1."""
    if isinstance(node, ast.BoolOp):
        node.values = [_truth(value) for value in node.values]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node.operand = _truth(node.operand)
    elif isinstance(node, ast.Name):
        return _call(node, '__remx_truth__', node)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        if any(map(_is_no_array, (node.left, node.comparators[0]))):
            made = _call(node, '__remx_same__', node.left, node.comparators[0])
            if isinstance(node.ops[0], ast.NotEq):
                return ast.copy_location(ast.UnaryOp(ast.Not(), made), node)
            return made
    return node


def _is_no_array(node):
    """Whether an expression is None, a text or an empty list: programs compare with these to see if a value is set."""
    if isinstance(node, ast.Constant):
        return node.value is None or isinstance(node.value, str)
    return isinstance(node, (ast.List, ast.Tuple)) and not node.elts or isinstance(node, ast.Dict) and not node.keys


def _imports(tree, name):
    """Whether a module imports a package."""
    return any(
        isinstance(n, ast.Import) and any(a.name.partition('.')[0] == name for a in n.names)
        or isinstance(n, ast.ImportFrom) and not n.level and (n.module or '').partition('.')[0] == name
        for n in ast.walk(tree)
    )


def _root(node):
    """The name that an expression such as `numba.jit(...)` begins with."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_fixed(node):
    """Whether an index has no parts that are computed, and no floats."""
    return not any(
        isinstance(n, (ast.Name, ast.Call, ast.Attribute)) or isinstance(n, ast.Constant) and isinstance(n.value, float)
        for n in ast.walk(node)
    )


def _may_be_too_large(node):
    """Whether a number is one that arrays of small integers do not hold."""
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    node = node.operand if negative else node
    return isinstance(node, ast.Constant) and type(node.value) is int and (negative or node.value > 127)


def _is_float(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, (float, complex, str))


def _call(at, name, *args):
    made = ast.Call(ast.Name(name, ast.Load()), list(args), [])
    ast.copy_location(made, at)
    ast.copy_location(made.func, at)
    for argument in args:
        if not hasattr(argument, 'lineno'):
            ast.copy_location(argument, at)
    return made


def _key(node):
    """An index as an expression of its own, outside brackets."""
    if isinstance(node, ast.Slice):
        parts = [p or ast.copy_location(ast.Constant(None), node) for p in (node.lower, node.upper, node.step)]
        return _call(node, '__remx_slice__', *parts)
    if isinstance(node, ast.Tuple):
        if any(isinstance(e, ast.Slice) for e in node.elts):
            node.elts = [_key(e) for e in node.elts]
    return node


def _loaded(node):
    import copy

    found = copy.deepcopy(node)
    found.ctx = ast.Load()
    return found


def rewritten(tree, python2=False, division=False, earlier=None):
    """-> (the tree, rewritten in place; the lines of integer divisions).

    `earlier`: what the earlier cells of a notebook import and define, to which this one is added.
    """
    rewriter = Rewriter(tree, python2, division)
    if earlier is not None:
        rewriter.continues(earlier)
    tree = ast.fix_missing_locations(rewriter.visit(tree))
    return tree, rewriter.divisions
