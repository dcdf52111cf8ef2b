"""Reads a program without running it, and finds what has gone since its time, by line."""

import ast
import dataclasses
import importlib
import importlib.util
import os
import re

from .._compat import _python2
from .._compat._notebooks import cells_of
from .._compat._table import BUILTINS, METHODS, MODULES, MXNET, NUMPY, OTHERS
from ..base import MXNetError

# modules of today that do not have the same names
_OTHER_NAMES = {'importlib', 'setuptools', 'importlib.metadata', 'packaging.version', 'hashlib', 'joblib', 'pytest'}
_GUARDS = ('ImportError', 'ModuleNotFoundError', 'AttributeError', 'NameError', 'Exception')


@dataclasses.dataclass(order=True)
class Finding:
    """What is at a place: `rule` names its kind, `fix` is (end line, end column, text to put in the place) or None."""

    path: str
    line: int
    column: int
    rule: str
    message: str
    fix: tuple | None = None
    level: str = 'error'  # 'note': it runs, but otherwise than a reader expects


def _asks_version(node):
    """Whether an expression has the version of Python, or whether something exists."""
    text = ast.dump(node)
    return any(word in text for word in ('version_info', "'version'", 'PY2', 'PY3', 'hasattr', 'python_version'))


class _Visitor(ast.NodeVisitor):
    def __init__(self, path, text, tree, python2):
        self.path, self.lines, self.python2 = path, text.split('\n'), python2
        self.found: list[Finding] = []
        self.names: dict[str, str] = {}  # the program's name -> the dotted name of a module or what is in one
        self.guarded = 0
        self.bound = (
            {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            | {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
            | {a.arg for n in ast.walk(tree) if isinstance(n, ast.arguments) for a in (*n.args, *n.kwonlyargs)}
        )
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.names[alias.asname or alias.name.partition('.')[0]] = (
                        alias.name if alias.asname else alias.name.partition('.')[0]
                    )
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                for alias in node.names:
                    self.names[alias.asname or alias.name] = f'{node.module}.{alias.name}'
        self.versions = {       # names of the version, or of what it is compared with
            target.id for n in ast.walk(tree) if isinstance(n, ast.Assign) and _asks_version(n.value)
            for target in n.targets if isinstance(target, ast.Name)
        }
        self.assigned = {
            self.dotted(n) for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
        } - {None}

    def add(self, node, rule, message, fix=None, level='error'):
        if self.guarded and level == 'error':
            level = 'note'
        end = fix and (node.end_lineno, node.end_col_offset, fix)
        self.found.append(Finding(self.path, node.lineno, node.col_offset + 1, rule, message, end, level))

    # ------------------------------------------------------------------ what is guarded
    def visit_Try(self, node):
        handles = any(h.type is None or any(g in ast.dump(h.type) for g in _GUARDS) for h in node.handlers)
        self.guarded += handles
        for statement in node.body:
            self.visit(statement)
        self.guarded -= handles
        self.guarded += handles  # the other branch of two versions
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)
        self.guarded -= handles

    def visit_If(self, node):
        guards = _asks_version(node.test) or any(
            isinstance(n, ast.Name) and n.id in self.versions for n in ast.walk(node.test)
        )
        self.guarded += guards
        self.generic_visit(node)
        self.guarded -= guards

    # ------------------------------------------------------------------ imports
    def visit_Import(self, node):
        for alias in node.names:
            today = MODULES.get(alias.name, (None,))[0]
            fix = None
            if today and today not in _OTHER_NAMES:
                fix = ast.unparse(
                    ast.Import(
                        [
                            ast.alias(today, a.asname or a.name.partition('.')[0]) if a is alias else a
                            for a in node.names
                        ]
                    )
                )
            self._module(node, alias.name, fix if '.' not in alias.name or alias.asname else None)

    def visit_ImportFrom(self, node):
        if node.level or not node.module:
            return
        today = MODULES.get(node.module, (None,))[0]
        fix = ast.unparse(ast.ImportFrom(today, node.names, 0)) if today and today not in _OTHER_NAMES else None
        if self._module(node, node.module, fix):
            return
        moved, rest = [], []
        for alias in node.names:
            if alias.name == '*':
                rest.append(alias)
                continue
            self._dotted(node, f'{node.module}.{alias.name}', imported=True)
            new = OTHERS.get(f'{node.module}.{alias.name}', (None,))[0]
            if new and '.' in new:
                where, _, name = new.rpartition('.')
                moved.append(
                    ast.unparse(
                        ast.ImportFrom(
                            where, [ast.alias(name, alias.asname or (alias.name if alias.name != name else None))], 0
                        )
                    )
                )
            else:
                rest.append(alias)
        if moved:
            text = '; '.join([*moved, *([ast.unparse(ast.ImportFrom(node.module, rest, 0))] if rest else [])])
            self.found[-1].fix = node.end_lineno, node.end_col_offset, text

    def _module(self, node, name, fix=None):
        entry = MODULES.get(name) or MODULES.get(name.partition('.')[0])
        if entry is None or not _is_gone(name) or self._is_beside(name):
            return False
        today, since = entry
        gone = 'is gone since' if name != 'find_mxnet' else 'is missing:'
        self.add(
            node, 'module', f'module {name} {gone} {since}' + (f'; {today} replaces it' if today else ''), fix
        )
        return True

    def _is_beside(self, name):
        """Whether the program has a module of this name beside it."""
        place = os.path.join(os.path.dirname(self.path.partition('[cell ')[0]), name.partition('.')[0])
        return os.path.isfile(f'{place}.py') or os.path.isdir(place)

    # ------------------------------------------------------------------ names
    def dotted(self, node):
        """The dotted name of an expression by the program's imports; None where it is none."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.names or node.id in self.bound:
            return None
        return '.'.join([self.names[node.id], *reversed(parts)])

    def visit_Attribute(self, node):
        name = self.dotted(node)
        if name in self.assigned:       # a name that the program itself gives to a module
            return
        if name is None or not self._dotted(node, name):
            self.generic_visit(node)
        if name is None and isinstance(node.ctx, ast.Load) and node.attr in METHODS:
            today, since = METHODS[node.attr]
            self.add(
                node,
                'method',
                f'method {node.attr} is gone since {since}' + (f'; {today} replaces it' if today else ''),
                self._attribute(node, today) if today else None,
            )

    def _attribute(self, node, today):
        if node.lineno != node.end_lineno:
            return None
        line = self.lines[node.lineno - 1].encode()
        return line[node.col_offset : node.end_col_offset - len(node.attr)].decode() + today

    def _dotted(self, node, name, imported=False):
        top, _, rest = name.partition('.')
        if top == 'numpy' and rest in NUMPY:
            fix, since = NUMPY[rest]
            short = next((k for k, v in self.names.items() if v == 'numpy'), 'numpy')
            fix = fix and fix.replace('{np}', short)
            there = _numpy_has(rest)        # under another meaning: numpy.bool is a type of NumPy's own since 2.0
            self.guarded += there
            self.add(
                node,
                'numpy',
                f'numpy.{rest} is gone since {since}' + (f'; {fix} replaces it' if fix else ''),
                None if imported else fix,
            )
            self.guarded -= there
            return True
        if name in OTHERS:
            fix, since = OTHERS[name]
            there = since.startswith('deprecated')
            self.add(
                node,
                'name',
                f'{name} is {since if there else f"gone since {since}"}' + (f'; {fix} replaces it' if fix else ''),
                None if imported or not fix else self._renamed(fix),
                'note' if there else 'error',
            )
            return True
        if top == 'mxnet' and rest:
            return self._mxnet(node, rest)
        return False

    def _renamed(self, today):
        """A replacement by the program's own names for modules, where it has them."""
        for short, full in sorted(self.names.items(), key=lambda item: -len(item[1])):
            if today.startswith(full + '.'):
                return short + today[len(full) :]
        return today if '.' not in today else None

    def _mxnet(self, node, rest):
        for known, message in MXNET.items():
            if rest == known or rest.startswith(known + '.'):
                self.add(node, 'mxnet', f'mx.{known}: {message}', level='note')
                return True
        if rest in ('gpu', 'context.gpu'):
            self.add(node, 'context', 'the program uses mx.gpu; `remx run --cpu` runs it on the CPU', level='note')
            return True
        missing = _missing(rest)
        if missing:
            self.add(node, 'mxnet', f'mx.{missing} does not exist')
            return True
        return True

    def visit_Name(self, node):
        if (
            isinstance(node.ctx, ast.Load)
            and node.id in BUILTINS
            and node.id not in self.bound
            and node.id not in self.names
        ):
            today = BUILTINS[node.id]
            self.add(
                node,
                'python2',
                f'{node.id} is a builtin of Python 2' + (f'; {today} replaces it' if today else ''),
                today,
            )

    # ------------------------------------------------------------------ calls and operators
    def visit_Call(self, node):
        self.generic_visit(node)
        name = self.dotted(node.func)
        if name == 'numpy.fromstring' and not any(k.arg == 'sep' for k in node.keywords) and len(node.args) < 4:
            self.add(
                node.func,
                'numpy',
                'numpy.fromstring of bytes is gone since NumPy 2.3; numpy.frombuffer replaces it',
                self._renamed('numpy.frombuffer'),
            )
        elif name == 'numpy.load' and not any(k.arg == 'allow_pickle' for k in node.keywords):
            self.add(node.func, 'numpy', 'numpy.load reads arrays of objects only with allow_pickle=True', level='note')
        elif name == 'yaml.load' and len(node.args) < 2 and not any(k.arg == 'Loader' for k in node.keywords):
            self.add(
                node.func,
                'name',
                'yaml.load needs a Loader since PyYAML 6; yaml.safe_load replaces it',
                self._renamed('yaml.safe_load'),
            )
        elif (
            isinstance(node.func, ast.Name)
            and node.func.id in ('float', 'int')
            and len(node.args) == 1
            and isinstance(node.args[0], ast.Call)
            and isinstance(node.args[0].func, ast.Attribute)
            and node.args[0].func.attr == 'asnumpy'
        ):
            self.add(
                node,
                'numpy',
                f'{node.func.id}() of an array with axes is refused since NumPy 2.4; asscalar() gives the number',
                self._asscalar(node),
            )
        elif name in (
            'urllib.request.urlretrieve',
            'urllib.urlretrieve',
            'mxnet.gluon.utils.download',
            'mxnet.test_utils.download',
            'requests.get',
        ):
            self.add(
                node.func, 'download', 'a download; its server may be gone (remx fetch, remx run --data)', level='note'
            )
        elif (
            name in ('os.system', 'subprocess.call')
            and node.args
            and re.search(r'\b(wget|curl)\b', ast.dump(node.args[0]))
        ):
            self.add(
                node.func, 'download', 'a download; its server may be gone (remx fetch, remx run --data)', level='note'
            )

    def _asscalar(self, node):
        inner = node.args[0].func.value
        if inner.lineno != inner.end_lineno or node.lineno != inner.lineno:
            return None
        line = self.lines[inner.lineno - 1].encode()
        return f'{node.func.id}({line[inner.col_offset : inner.end_col_offset].decode()}.asscalar())'

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if self.python2 and isinstance(node.op, ast.Div):
            self.add(node, 'division', '"/" of integers rounds down in Python 2; "//" does today', level='note')


_known: dict[str, str] = {}


def _missing(rest):
    """The part of a name below mxnet that is not there; '' where all of it is."""
    if rest not in _known:
        _known[rest] = _find_missing(rest)
    return _known[rest]


def _find_missing(rest):
    value, seen = importlib.import_module('mxnet'), []
    for part in rest.split('.'):
        seen.append(part)
        if not isinstance(value, type(os)) and not isinstance(value, type):
            return ''
        if isinstance(value, type):
            return '' if hasattr(value, part) else ''  # attributes of instances are not known
        if not hasattr(value, part):
            try:
                importlib.import_module('mxnet.' + '.'.join(seen))
            except ImportError:
                return '.'.join(seen)
        value = getattr(value, part)
    return ''


def _numpy_has(name):
    import warnings

    import numpy

    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return '.' not in name and hasattr(numpy, name)


def _is_gone(name):
    """Whether a module cannot be imported here."""
    try:
        return importlib.util.find_spec(name) is None
    except (ImportError, ValueError, AttributeError):
        return True


def check_text(text, path, python2=None):
    """The findings in a program's text."""
    try:
        tree, is_two, error = _python2.parse(text, path, python2)
    except SyntaxError as wrong:
        return [Finding(path, wrong.lineno or 1, wrong.offset or 1, 'syntax', f'cannot be parsed: {wrong.msg}')]
    except MXNetError as wrong:
        return [Finding(path, 1, 1, 'syntax', str(wrong))]
    visitor = _Visitor(path, text, tree, is_two)
    visitor.visit(tree)
    if error is not None:
        visitor.found.append(
            Finding(
                path,
                getattr(error, 'lineno', 1) or 1,
                1,
                'python2' if is_two else 'syntax',
                f'the syntax of Python 2 ({getattr(error, "msg", error)})'
                if is_two
                else f'syntax that Python no longer has ({getattr(error, "msg", error)})',
            )
        )
        for finding in visitor.found:  # columns are those of the converted text
            finding.fix = None
    divisions = [f for f in visitor.found if f.rule == 'division']
    for more in divisions[1:]:
        visitor.found.remove(more)
    if divisions:
        divisions[0].message += f' ({len(divisions)} places)'
    return sorted(visitor.found, key=lambda f: (f.line, f.column, f.rule))


def check_file(path, python2=None):
    """The findings in a file or a notebook."""
    with open(path, 'rb') as file:
        source = file.read()
    if not path.endswith('.ipynb'):
        return check_text(_python2.read(source), path, python2)
    try:
        cells, two = cells_of(source, path)
    except MXNetError as error:
        return [Finding(path, 1, 1, 'syntax', str(error))]
    found, parts = [], []
    for number, plain, _ in cells:
        try:
            _python2.parse(plain, path, python2)
        except (MXNetError, SyntaxError, ValueError) as error:      # the others run all the same
            found.append(Finding(f'{path}[cell {number}]', 1, 1, 'syntax', f'the cell cannot be parsed: {error}'))
            plain = '\n' * plain.count('\n')
        parts.append((number, plain))
    text = '\n'.join(plain for _, plain in parts)
    starts, line = [], 1
    for number, plain in parts:
        starts.append((line, number))
        line += plain.count('\n') + 1
    for finding in check_text(text, path, python2 if python2 is not None else two or None):
        first, number = max((s for s in starts if s[0] <= finding.line), default=(1, 1))
        found.append(
            dataclasses.replace(finding, path=f'{path}[cell {number}]', line=finding.line - first + 1, fix=None)
        )
    return found


def files_of(paths):
    """The programs that paths name: files as they are, of folders all .py and .ipynb."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for where, folders, files in os.walk(path):
            folders[:] = sorted(
                f for f in folders if not f.startswith('.') and f not in ('__pycache__', 'node_modules')
            )
            for name in sorted(files):
                if name.endswith(('.py', '.ipynb')) and not name.startswith('.'):
                    yield os.path.join(where, name)


def annotated(path, python2=None):
    """A program's lines, each with what would be put back there."""
    with open(path, 'rb') as file:
        source = file.read()
    findings: dict = {}
    for finding in check_file(path, python2):
        findings.setdefault((finding.path, finding.line), []).append(finding.message)
    parts = (
        [(f'{path}[cell {number}]', original) for number, _, original in cells_of(source, path)[0]]
        if path.endswith('.ipynb')
        else [(path, _python2.read(source))]
    )
    shown = []
    for name, text in parts:
        if len(parts) > 1:
            shown.append(f'--- {name}')
        for number, line in enumerate(text.rstrip('\n').split('\n'), 1):
            messages = findings.get((name, number), ())
            shown.append(f'{number:5}  {line}')
            shown.extend(f'       ^ {message}' for message in dict.fromkeys(messages))
    return '\n'.join(shown) + '\n'
