"""Notebooks as programs: cells, magics, and the value of a cell's last expression."""

import ast
import importlib
import json
import os
import re
import shlex
import sys

from ..base import MXNetError
from ._report import report

_MAGIC = re.compile(r'^(\s*)(?:([\w, ]+?)\s*=\s*)?([%!]{1,2})(.*)$')
_HELP = re.compile(r'^\s*(\?{1,2}[\w.]+|[\w.]+\?{1,2})\s*(#.*)?$')


def cells_of(source, path):
    """-> ([(number, text without magics, original text)], whether its kernel was Python 2; None: not said)."""
    try:
        found = json.loads(source.decode('utf-8') if isinstance(source, bytes) else source)
        sheets = [found] if 'cells' in found else found['worksheets']
        cells = [c for sheet in sheets for c in sheet['cells'] if c.get('cell_type') == 'code']
        metadata = found.get('metadata', {})
        version = str(metadata.get('language_info', {}).get('version', ''))
        kernel = metadata.get('kernelspec', {}).get('name', '')
        texts = [cell.get('source', cell.get('input', '')) for cell in cells]
        texts = [''.join(text) if isinstance(text, list) else text for text in texts]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError('the text of a cell is not text')
    except RecursionError:
        raise MXNetError(f'{path} is not a notebook: its JSON is nested too deeply') from None
    except KeyError as error:
        raise MXNetError(f'{path} is not a notebook: it has no {error}') from None
    except (AttributeError, TypeError):
        raise MXNetError(f'{path} is not a notebook: cells, worksheets, metadata or the text of a cell are not what a '
                         'notebook has there') from None
    except ValueError as error:
        raise MXNetError(f'{path} is not a notebook: {error}') from None
    python2 = True if version.startswith('2') or kernel == 'python2' else False if version or kernel else None
    return [(number, plain(text), text) for number, text in enumerate(texts, 1) if text.strip()], python2


def plain(text):
    """A cell without magics, on the same lines."""
    lines = text.split('\n')
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith('%%'):
        words = lines[first][2:].split()
        if words and words[0] in ('bash', 'sh', 'script'):
            body = '\n'.join(lines[first + 1 :])
            return '\n' * first + f'__remx_notebook__.shell({body!r})'
        if words and words[0] in ('writefile', 'file'):
            body = '\n'.join(lines[first + 1 :])
            return '\n' * first + f'__remx_notebook__.write({words[-1]!r}, {body!r})'
        if words and words[0] in ('html', 'javascript', 'js', 'latex', 'svg', 'markdown', 'HTML', 'R', 'perl'):
            return ''
        lines[first] = ''
    inside = _texts(text)
    for i, line in enumerate(lines):
        if i in inside:
            continue
        if _HELP.match(line):
            lines[i] = ''
            continue
        match = _MAGIC.match(line)
        if match and not _continues(lines, i):
            indent, target, kind, rest = match.groups()
            lines[i] = (
                f'{indent}{target + " = " if target else ""}__remx_notebook__.{"line" if kind[0] == "%" else "shell"}'
                f'({rest.strip()!r})'
            )
    return '\n'.join(lines)


def _texts(text):
    from ._python2 import _inside_texts

    return _inside_texts(text)


def _continues(lines, i):
    """Whether a line goes on from those above it: `%` is an operator then."""
    above = re.sub(r'("""|\'\'\'|"|\').*?\1|#.*', '', '\n'.join(lines[:i]))
    return above.rstrip().endswith('\\') or sum(above.count(c) for c in '([{') > sum(above.count(c) for c in ')]}')


# what `%pylab` imports, with the names of pylab, which has those of NumPy
_PYLAB = '''
import numpy
import matplotlib
from matplotlib import mlab, pylab, pyplot
np, plt = numpy, pyplot
'''


class Magics:
    """What the magics of a cell call."""

    def __init__(self, namespace):
        self._namespace = namespace

    def shell(self, line):
        """`!line`: runs it; returns its lines."""
        import subprocess

        from . import _downloads

        line = re.sub(r'\{(\w+)\}|\$(\w+)', lambda m: str(self._namespace.get(m[1] or m[2], m[0])), line)
        if re.match(r'\s*(pip|pip3|conda|apt|apt-get|sudo)\b', line):
            report.say(f'not run: !{line.strip()}')
            return []
        done = subprocess.run(_downloads._with_files(line), shell=True, capture_output=True, text=True)
        print(done.stdout, end='')
        print(done.stderr, end='', file=sys.stderr)
        return done.stdout.splitlines()

    def write(self, path, text):
        """`%%writefile path`."""
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    def line(self, line):
        """`%name arguments`."""
        name, _, rest = line.lstrip('%').partition(' ')
        if name == 'cd':
            os.chdir(os.path.expanduser(rest.strip() or '~'))
        elif name == 'pwd':
            return os.getcwd()
        elif name == 'run':
            from ._importing import code_of

            path, *arguments = shlex.split(rest)
            before, sys.argv[:] = sys.argv[:], [path, *arguments]
            with open(path, 'rb') as file:
                code, _ = code_of(file.read(), path)
            exec(code, self._namespace)
            sys.argv[:] = before
        elif name in ('time', 'timeit', 'prun', 'memit'):
            statement = re.sub(r'^(-\w+ *\d* *)+', '', rest)
            execute(statement, '<magic>', self._namespace, '__remx_python2__' in self._namespace)
        elif name in ('env', 'set_env') and '=' in rest:
            key, _, value = rest.partition('=')
            os.environ[key.strip()] = value.strip()
        elif name == 'pylab':
            names = vars(importlib.import_module('matplotlib.pylab'))
            self._namespace.update({key: value for key, value in names.items() if not key.startswith('_')})
            execute(_PYLAB, '<magic>', self._namespace, '__remx_python2__' in self._namespace)
        elif name not in (
            'matplotlib',
            'load_ext',
            'reload_ext',
            'autoreload',
            'config',
            'reset',
            'precision',
        ):
            report.say(f'the magic %{name} is left out')
        return None


class Shell:
    """What `get_ipython()` gives in a notebook that was saved as a program."""

    def __init__(self, namespace):
        self._magics = Magics(namespace)
        report.note('get-ipython', 'get_ipython() of a notebook that was saved as a program')

    def magic(self, line):
        return self._magics.line(line)

    def run_line_magic(self, name, line, **kwargs):
        return self._magics.line(f'{name} {line}')

    def run_cell_magic(self, name, line, cell):
        exec(compile(plain(f'%%{name} {line}\n{cell}'), '<cell>', 'exec'), {
            **self._magics._namespace, '__remx_notebook__': self._magics})

    def system(self, line):
        self._magics.shell(line)

    def getoutput(self, line):
        return self._magics.shell(line)


def display(*values, **kwargs):
    """Shows values as a notebook does, as text."""
    for value in values:
        print(value if isinstance(value, str) else repr(value))


def execute(text, name, namespace, python2):
    """Runs a cell; a last expression's value is printed."""
    from . import _importing, _python2
    from ._rewrite import rewritten

    tree, _, _ = _python2.parse(text, name, _importing.settings.python2)
    last = tree.body[-1] if tree.body else None
    shown = isinstance(last, ast.Expr) and not text.rstrip().endswith(';')
    _python2.future_first(tree)     # magics may stand before it
    if _python2.has_true_division(tree):
        namespace['__remx_true_division__'] = True      # it holds for the cells that follow as well
    division = bool(python2) and '__remx_true_division__' not in namespace
    tree, _ = rewritten(tree, python2, division, namespace.setdefault('__remx_cells__', {}))
    if shown and isinstance(tree.body[-1], ast.Expr):
        final = tree.body.pop()
        exec(compile(tree, name, 'exec', dont_inherit=True), namespace)
        value = eval(compile(ast.Expression(final.value), name, 'eval', dont_inherit=True), namespace)
        if value is not None:
            print(repr(value))
        return
    exec(compile(tree, name, 'exec', dont_inherit=True), namespace)


def show_figures():
    """Saves the figures that a cell has drawn, which a notebook would show below it."""
    pyplot = sys.modules.get('matplotlib.pyplot')
    if pyplot is not None and pyplot.get_fignums():
        from . import _packages

        _packages._show()
