"""Python 2: how its programs are recognized, and its syntax as that of Python 3.

The syntax is converted by fissix, the successor of lib2to3 (which Python 3.13 no longer has).  Only fixers of syntax
are used; names and semantics are put back when the program runs.
"""

import ast
import re
import tokenize
import warnings
from io import BytesIO

from ..base import MXNetError

FIXERS = ('except', 'exec', 'ne', 'numliterals', 'print', 'raise', 'repr', 'tuple_params', 'throw', 'paren', 'ws_comma')
MISSING = (
    '{path} has the syntax of Python 2 ({error}); converting it needs the package fissix: pip install fissix '
    '(or pip install "remx[old]")'
)
# names that only Python 2 has, as builtins, methods and modules
NAMES = {
    'xrange',
    'raw_input',
    'unicode',
    'basestring',
    'long',
    'unichr',
    'execfile',
    'file',
    'reduce',
    'cmp',
    'apply',
    'intern',
    'coerce',
    'buffer',
    'reload',
}
METHODS = {'iteritems', 'iterkeys', 'itervalues', 'has_key', 'viewitems', 'viewkeys', 'viewvalues'}
MODULES = {
    'cPickle',
    'urllib2',
    'urlparse',
    'Queue',
    'StringIO',
    'cStringIO',
    'ConfigParser',
    'commands',
    'HTMLParser',
    'httplib',
    '__builtin__',
    'Tkinter',
    'thread',
    'exceptions',
    'sets',
    'md5',
    'copy_reg',
    'SocketServer',
    'BaseHTTPServer',
    'xmlrpclib',
    'htmlentitydefs',
    'anydbm',
}
# a program that uses one of these names, or imports one of these modules, knows both versions
_BOTH = {'version_info', 'PY2', 'PY3', 'ImportError', 'ModuleNotFoundError'}
_MODULES_OF_BOTH = {'six', 'past', 'future', 'builtins', 'PY2', 'PY3'}
_NUL = re.compile('\0[^\n]*')
_TODAY = re.compile(r'^#!.*python2', re.MULTILINE)


def read(source: bytes) -> str:
    """The text of a source file by its declared encoding; bytes that are none become replacement characters."""
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(source).readline)
    except SyntaxError:
        encoding = 'latin-1'
    try:
        text = source.decode(encoding)
    except UnicodeDecodeError:
        text = source.decode('latin-1')
    text = text.removeprefix('\ufeff').replace('\r\n', '\n').replace('\r', '\n')
    # Python 2 ended a line at a NUL; today's Python refuses the file
    return _NUL.sub('', text) if '\0' in text else text


def parse(text: str, path: str, python2=None):
    """-> (tree, whether the file is Python 2, the error of Python 3's parser or None).

    `python2` is what is known of the program: True, False, or None to find out.
    """
    error: Exception | None = None
    if python2 is not True or _parses(text):
        try:
            tree = _parse(text, path)
            return tree, python2 if python2 is not None else is_python2(text, tree), None
        except SyntaxError as found:
            error = found
    if 'unicodeescape' in str(error):
        text = plain_escapes(text)
    text = _one_line(text)
    for attempt in (unchanged, renamed_async, untabbed):
        candidate = attempt(text)
        if attempt is unchanged or candidate != text:
            try:
                tree = _parse(candidate, path)
                return tree, python2 if python2 is not None else is_python2(candidate, tree), error
            except SyntaxError:
                text = candidate if attempt is untabbed else text
    converted = convert(text if 'unicode_literals' in text else plain_escapes(text), path, error)
    return converted, python2 is not False, error


_RAW = re.compile(r'''(?<![\w'"])[uU][rR](?=['"])''')
_UNPACKED = re.compile(r'^(\s*)except\s+([^\n:]+?),\s*(\([^\n)]*\))\s*:[ \t]*(?=[^\s#])', re.MULTILINE)


def _one_line(text):
    """Constructions that fissix does not read: `ur'...'`, and `except E, (a, b): statement` in one line."""
    text = _RAW.sub('r', text)
    return _UNPACKED.sub(r'\1except \2 as __remx_error__: \3 = __remx_error__.args; ', text)


def _parses(text):
    try:
        _parse(text, '<program>')
    except SyntaxError:
        return False
    return True


def _parse(text, path):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # escapes such as '\\d' in plain texts
        try:
            return ast.parse(text, path)
        except (MemoryError, RecursionError):       # the parser's own limits
            raise SyntaxError('an expression is nested too deeply') from None


def is_python2(text, tree):
    """Whether a file that Python 3 can parse was written for Python 2 alone."""
    if _TODAY.match(text):
        return True
    if _knows_both(tree) or _is_newer(tree):
        return False
    if inherited[0]:
        return True
    bound = (
        {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        | {a.asname or a.name for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}
        | {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        | {a.arg for n in ast.walk(tree) if isinstance(n, ast.arguments) for a in n.args}
    )
    if not has_true_division(tree) and _counts_by_division(tree) or _provides_lists(tree) or _has_unused_new(tree):
        return True
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in NAMES - bound:
            return True
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            return True
        if isinstance(node, ast.Import) and any(a.name in MODULES for a in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and not node.level and node.module in MODULES:
            return True
    return False


def _knows_both(tree):
    """Whether a file asks for the version, or imports what only programs for both versions import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _BOTH:
            return True
        if isinstance(node, ast.Attribute) and (
            node.attr in _BOTH or node.attr == 'version' and isinstance(node.value, ast.Name) and node.value.id == 'sys'
        ):
            return True
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules = [node.module or '', *(alias.name for alias in node.names if alias.name in _MODULES_OF_BOTH)]
        else:
            continue
        if any(module.partition('.')[0] in _MODULES_OF_BOTH for module in modules):
            return True
    return False


def _provides_lists(tree):
    """Whether results of `zip`, `d.values()` and the like are lists: indexed, added, counted, or `provide_data`."""
    return any(
        isinstance(node, ast.Subscript) and _gives_lists(node.value)
        or isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and any(map(_gives_a_list, (node.left, node.right)))
        or isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == 'len'
        and any(isinstance(arg, ast.Call) and isinstance(arg.func, ast.Name) and _gives_lists(arg) for arg in node.args)
        for node in ast.walk(tree)
    ) or any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id in ('zip', 'map', 'filter')
        and any(isinstance(t, ast.Attribute) and 'provide_' in t.attr for t in node.targets)
        for node in ast.walk(tree)
    )


def _gives_a_list(node):
    """The same, or `range(...)`."""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
    return name == 'range' or _gives_lists(node)


def _has_unused_new(tree):
    """Whether a class without bases has a `__new__` that hands arguments to that of `object`.

    Python 3 refuses them; Python 2 never called the method of such a class.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or node.bases or node.keywords:
            continue
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name == '__new__' and any(
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == '__new__'
                and (len(call.args) > 1 or call.keywords)
                and ast.unparse(call.func.value).startswith(('super(', 'object'))
                for call in ast.walk(method)
            ):
                return True
    return False


def _gives_lists(node):
    """Whether a node is `zip(...)`, `map(...)`, `filter(...)`, or `x.keys()`, `x.values()`, `x.items()`."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in ('keys', 'values', 'items') and not node.args and not node.keywords
    return isinstance(node.func, ast.Name) and node.func.id in ('zip', 'map', 'filter') and len(node.args) > 1


def _counts_by_division(tree):
    """Whether a quotient is the argument of `range` or the bound of a slice, which Python 3 always refuses.

    The quotient may be there itself, as a part of sums and products, or by a name whose assignments are all such.
    """
    values: dict[str, list] = {}
    other = {a.arg for n in ast.walk(tree) if isinstance(n, ast.arguments) for a in (*n.args, *n.kwonlyargs)}
    known = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
            known.add(node.targets[0])
    other |= {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n not in known
    }
    names: set[str] = set()
    while True:  # names of quotients, until no further one is found
        more = {
            name
            for name, found in values.items()
            if name not in names and name not in other and all(_is_quotient(value, names) for value in found)
        }
        if not more:
            break
        names |= more
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == 'range':
            parts = node.args
        elif isinstance(node, ast.Slice):
            parts = [part for part in (node.lower, node.upper) if part is not None]
        else:
            continue
        if any(_is_quotient(part, names) for part in parts):
            return True
    return False


def _is_quotient(value, names):
    """Whether a value is `a / b`, or a sum or product with one: an integer in Python 2, a float in Python 3."""
    if isinstance(value, ast.Name):
        return value.id in names
    if isinstance(value, ast.UnaryOp):
        return _is_quotient(value.operand, names)
    if not isinstance(value, ast.BinOp):
        return False
    if isinstance(value.op, ast.Div):
        return True
    return isinstance(value.op, (ast.Add, ast.Sub, ast.Mult)) and (
        _is_quotient(value.left, names) or _is_quotient(value.right, names)
    )


inherited = [False]         # the main file has the syntax of Python 2, so files beside it are Python 2 as well


def _is_newer(tree):
    """Whether a file has syntax that Python 2 did not have."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.JoinedStr, ast.AnnAssign, ast.Nonlocal, ast.AsyncFunctionDef, ast.YieldFrom)):
            return True
        if isinstance(node, ast.FunctionDef) and (node.returns is not None or node.args.kwonlyargs):
            return True
    return False


def future_first(tree):
    """Moves `from __future__ import ...` to the beginning of a module, where Python wants it."""
    futures = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == '__future__' and not n.level]
    if futures:
        described = isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant)
        rest = [n for n in tree.body if n not in futures]
        # in the order of their lines: the compiler compares each with the line of the last one
        tree.body[:] = [*rest[:described], *futures, *rest[described:]]


def has_true_division(tree):
    """Whether a file has `from __future__ import division`."""
    return any(
        isinstance(n, ast.ImportFrom) and n.module == '__future__' and any(a.name == 'division' for a in n.names)
        for n in tree.body
    )


_LITERAL = re.compile(r'#[^\n]*|([bBrRuU]{0,2})("""|\'\'\'|"|\')((?:\\.|(?!\2).)*)\2', re.DOTALL)
_UNICODE_ESCAPE = re.compile(r'(?<!\\)((?:\\\\)*)\\(?=[uUN])')


def plain_escapes(text):
    """A text in which `\\U`, `\\u` and `\\N` in byte strings, such as 'C:\\Users', are backslashes, as in Python 2."""

    def literal(match):
        if not match[2] or set(match[1].lower()) & {'u', 'r'}:
            return match[0]
        return match[1] + match[2] + _UNICODE_ESCAPE.sub(r'\1\\\\', match[3]) + match[2]

    return _LITERAL.sub(literal, text)


def unchanged(text):
    return text


def renamed_async(text):
    """A text in which names `async` and `await`, which were no keywords before Python 3.7, are others."""
    return re.sub(r'\basync\b(?!\s+(?:def|for|with)\b)|\bawait\b(?=\s*[=,)\]])', lambda m: m[0] + '_', text)


def untabbed(text):
    """A text with spaces in the place of tabs that indent, as Python 2 counted them: up to a multiple of 8."""
    lines = text.split('\n')
    inside = _inside_texts(text)
    for i, line in enumerate(lines):
        if i not in inside:
            body = line.lstrip(' \t')
            lines[i] = line[: len(line) - len(body)].expandtabs(8) + body
    return '\n'.join(lines)


def _inside_texts(text):
    """The numbers of lines that begin within a text of several lines."""
    found: set[int] = set()
    for match in re.finditer(r'("""|\'\'\')(?:\\.|(?!\1).)*\1', text, re.DOTALL):
        first = text.count('\n', 0, match.start())
        found.update(range(first + 1, first + match.group().count('\n') + 1))
    return found


_tool = None


def convert(text, path, error):
    """The tree of a text in the syntax of Python 2, with the line numbers of that text."""
    new = converted_text(text, path, error)
    try:
        tree = _parse(new, path)
    except SyntaxError as still:
        raise _syntax_error(error or still) from None
    _renumber(tree, text if text.endswith('\n') else text + '\n', new)
    return tree


def converted_text(text, path, error=None, fixers=FIXERS):
    """The text in the syntax of Python 3."""
    global _tool
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            from fissix import refactor
    except ImportError:
        raise MXNetError(MISSING.format(path=path, error=getattr(error, 'msg', error))) from None
    names = [f'fissix.fixes.fix_{name}' for name in fixers]
    if fixers is not FIXERS:
        tool = refactor.RefactoringTool(names)
    else:
        tool = _tool = _tool or refactor.RefactoringTool(names)
    text = untabbed(text) if '\t' in text else text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            return str(tool.refactor_string(text if text.endswith('\n') else text + '\n', path))
    except Exception as found:  # fissix raises errors of its own parser
        if error is None:
            raise MXNetError(f'{path} is neither Python 3 nor Python 2: {found}') from None
        raise _syntax_error(error) from None


def _syntax_error(error):
    return error.with_traceback(None)  # the frames of the parser are not the program's


def _renumber(tree, old, new):
    """Gives the nodes the line numbers of the old text; conversion adds lines in a few places."""
    before, after = old.split('\n'), new.split('\n')
    if len(before) == len(after):
        return
    import difflib

    lines = {}
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for _, a, b, c, d in matcher.get_opcodes():
        for k in range(d - c):
            lines[c + k + 1] = min(a + k, max(b - 1, a)) + 1
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr | ast.excepthandler | ast.arg | ast.keyword | ast.alias | ast.pattern):
            node.lineno = lines.get(node.lineno, node.lineno)
            if node.end_lineno is not None:
                node.end_lineno = max(lines.get(node.end_lineno, node.end_lineno), node.lineno)
