"""The modules of mxnet, what each imports at run time, and the cycles of these imports.

An import inside a function counts like any other: it binds two modules together as much.  Imports for type checkers
only (`if TYPE_CHECKING:`) do not count.
"""
import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / 'mxnet'


def files(package=PACKAGE):
    """The Python files of the package."""
    return sorted(package.rglob('*.py'))


def parts(path, package=PACKAGE):
    """mxnet/gluon/nn.py -> ['mxnet', 'gluon', 'nn']"""
    names = [package.name, *path.relative_to(package).with_suffix('').parts]
    return names[:-1] if names[-1] == '__init__' else names


def is_type_checking(node):
    """Whether a statement is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in ('TYPE_CHECKING', 'typing.TYPE_CHECKING')


def statement(node, path, package=PACKAGE):
    """(module, names taken from it) for an import statement, or a call of import_module with a constant."""
    if isinstance(node, ast.Import):
        return [(alias.name, ()) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        where = parts(path, package) if path.name == '__init__.py' else parts(path, package)[:-1]
        above = where[:len(where) - node.level + 1] if node.level else []
        return [('.'.join([*above, *([node.module] if node.module else [])]), [alias.name for alias in node.names])]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ('import_module', 'importlib.import_module'):
        first = node.args[0] if node.args else None
        return [(first.value, ())] if isinstance(first, ast.Constant) else []
    return []


def statements(path, package=PACKAGE):
    """(line, module, names taken from it, inside a function) for each import of a file that happens at run time."""
    found = []

    def visit(node, deferred):
        if is_type_checking(node):
            for child in node.orelse:
                visit(child, deferred)
            return
        found.extend((node.lineno, module, names, deferred) for module, names in statement(node, path, package))
        inside = deferred or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(path.read_text()), False)
    return found


def graph(package=PACKAGE):
    """{module: {imported module: line}}, for all modules of the package.

    `from .a import b` imports a.b if that is a module, and else a.  That Python runs the `__init__.py` of the packages
    around a module first does not count: those of mxnet import only from below.
    """
    modules = {'.'.join(parts(path, package)): path for path in files(package)}
    found: dict = {}
    for module, path in modules.items():
        edges = found.setdefault(module, {})
        for line, base, names, _ in statements(path, package):
            for target in [f'{base}.{name}' for name in names] or [base]:
                target = target if target in modules else base
                if target in modules and target != module:
                    edges.setdefault(target, line)
    return found


def cycles(edges):
    """The strongly connected components of more than one module, the largest first (Tarjan's algorithm)."""
    index: dict = {}
    low: dict = {}
    stack: list = []
    on_stack = set()
    found = []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    if len(component) > 1:
                        found.append(sorted(component))
            elif target not in index:
                index[target] = low[target] = len(index)
                stack.append(target)
                on_stack.add(target)
                work.append((target, iter(edges[target])))
            elif target in on_stack:
                low[node] = min(low[node], index[target])
    return sorted(found, key=lambda c: (-len(c), c))
