"""The API reference: one generated page for each public module, from signatures and docstrings.

Operators that derive from the table are left out here; they have pages of their own.
"""
import importlib
import inspect
import re
import textwrap

from pages import folder, read_table

# (path below mxnet, the name that programs use), in the order of the page
MODULES = [
    ('ndarray', 'mx.nd'), ('ndarray.sparse', 'mx.nd.sparse'), ('ndarray.random', 'mx.nd.random'),
    ('ndarray.contrib', 'mx.nd.contrib'), ('autograd', 'mx.autograd'),
    ('numpy', 'mx.np'), ('numpy.linalg', 'mx.np.linalg'), ('numpy.random', 'mx.np.random'),
    ('numpy_extension', 'mx.npx'), ('numpy_extension.random', 'mx.npx.random'),
    ('symbol', 'mx.sym'), ('executor', 'mx.executor'),
    ('gluon', 'mx.gluon'), ('gluon.nn', 'mx.gluon.nn'), ('gluon.loss', 'mx.gluon.loss'), ('gluon.rnn', 'mx.gluon.rnn'),
    ('gluon.utils', 'mx.gluon.utils'), ('gluon.data', 'mx.gluon.data'), ('gluon.data.vision', 'mx.gluon.data.vision'),
    ('gluon.data.vision.transforms', 'mx.gluon.data.vision.transforms'),
    ('gluon.model_zoo.vision', 'mx.gluon.model_zoo.vision'),
    ('gluon.data.batchify', 'mx.gluon.data.batchify'), ('gluon.contrib.data', 'mx.gluon.contrib.data'),
    ('gluon.contrib.nn', 'mx.gluon.contrib.nn'), ('gluon.contrib.cnn', 'mx.gluon.contrib.cnn'),
    ('gluon.contrib.rnn', 'mx.gluon.contrib.rnn'), ('gluon.contrib.estimator', 'mx.gluon.contrib.estimator'),
    ('module', 'mx.mod'), ('model', 'mx.model'), ('rnn', 'mx.rnn'),
    ('optimizer', 'mx.optimizer'), ('lr_scheduler', 'mx.lr_scheduler'), ('metric', 'mx.metric'),
    ('initializer', 'mx.init'), ('callback', 'mx.callback'), ('kvstore', 'mx.kv'),
    ('io', 'mx.io'), ('recordio', 'mx.recordio'), ('image', 'mx.image'),
    ('contrib.amp', 'mx.contrib.amp'), ('contrib.quantization', 'mx.contrib.quantization'),
    ('contrib.prune', 'mx.contrib.prune'), ('contrib.distill', 'mx.contrib.distill'),
    ('contrib.tune', 'mx.contrib.tune'),
    ('contrib.text.vocab', 'mx.contrib.text.vocab'), ('contrib.text.embedding', 'mx.contrib.text.embedding'),
    ('contrib.tensorboard', 'mx.contrib.tensorboard'), ('onnx', 'mx.onnx'), ('contrib.onnx', 'mx.contrib.onnx'),
    ('contrib.text.utils', 'mx.contrib.text.utils'), ('contrib.io', 'mx.contrib.io'),
    ('contrib.horovod', 'mx.contrib.horovod'), ('rtc', 'mx.rtc'), ('library', 'mx.library'),
    ('visualization', 'mx.viz'), ('monitor', 'mx.mon'), ('profiler', 'mx.profiler'),
    ('notebook.callback', 'mx.notebook.callback'),
    ('random', 'mx.random'), ('context', 'mx.context'), ('operator', 'mx.operator'), ('engine', 'mx.engine'),
    ('log', 'mx.log'), ('runtime', 'mx.runtime'), ('util', 'mx.util'), ('name', 'mx.name'),
    ('attribute', 'mx.attribute'),
    ('test_utils', 'mx.test_utils'),
]
MODULE = {'en': 'module', 'zh': '模块'}
CONTENT = {'en': 'content', 'zh': '内容'}
METHODS = {'en': 'Operators that are also methods', 'zh': '同时也是方法的算子'}


# ---------------------------------------------------------------------- what a module shows
def from_the_table(thing):
    """Whether a function, or a method, was derived from an operator."""
    if hasattr(thing, 'derived_from'):
        return True
    # symbols and methods are made of operators by other ways; the form of the derived docstring is the same
    derived = re.search(r'\nParameters\n-+\n(.*\n)*(out|name) : ', inspect.getdoc(thing) or '')
    return inspect.isroutine(thing) and derived is not None


def public(module):
    """[(name, object)] of what a module offers by itself, in alphabetical order, classes behind functions."""
    names = getattr(module, '__all__', None) or [name for name in dir(module) if not name.startswith('_')]
    found = []
    for name in sorted(set(names), key=str.lower):
        thing = getattr(module, name, None)
        own = (getattr(thing, '__module__', None) or '').startswith('mxnet')
        if (inspect.isclass(thing) or inspect.isroutine(thing)) and own and not from_the_table(thing):
            found.append((name, thing))
    return sorted(found, key=lambda pair: inspect.isclass(pair[1]))


def default(value):
    """A default as it would be typed; what has no such form is three dots."""
    if inspect.isclass(value) or inspect.isroutine(value):
        return value.__name__
    text = repr(value)
    return '...' if re.search(r'<| at 0x|\n', text) or len(text) > 60 else text


def signature(thing, method=False):
    """`(a, b=1)`, without annotations and without self."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return '(...)'
    parts, star = [], False
    parameters = list(found.parameters.values())
    if method and parameters and parameters[0].name in ('self', 'cls'):
        parameters = parameters[1:]
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            star = True
            parts.append(f'*{parameter.name}')
        elif parameter.kind is parameter.VAR_KEYWORD:
            parts.append(f'**{parameter.name}')
        else:
            if parameter.kind is parameter.KEYWORD_ONLY and not star:
                star = True
                parts.append('*')
            given = parameter.default is not parameter.empty
            parts.append(f'{parameter.name}={default(parameter.default)}' if given else parameter.name)
    return f'({", ".join(parts)})'


# ---------------------------------------------------------------------- docstrings
def escape(line):
    """Markdown for a line of plain text: code spans stay, and what would be HTML or emphasis does not happen."""
    pieces = re.split(r'(`[^`]+`)', line)
    return ''.join(piece if piece.startswith('`') else re.sub(r'([<*_\[\]$#|])', r'\\\1', piece) for piece in pieces)


def markdown(docstring):
    """A docstring as Markdown: examples and indented text are blocks, lines `name: text` a list."""
    lines, out, at = docstring.expandtabs().splitlines(), [], 0
    while at < len(lines):
        line = lines[at]
        if line.lstrip().startswith('>>>'):
            block = []
            while at < len(lines) and lines[at].strip():
                block.append(re.sub(r' *# doctest: .*', '', lines[at]))
                at += 1
            out += ['', '```pycon', *textwrap.dedent('\n'.join(block)).splitlines(), '```', '']
            continue
        if line.startswith('    ') and line.strip() and (not out or not out[-1].strip()):
            block = []
            while at < len(lines) and (lines[at].startswith('    ') or not lines[at].strip()):
                block.append(lines[at])
                at += 1
            out += ['', '```text', *textwrap.dedent('\n'.join(block)).strip('\n').splitlines(), '```', '']
            continue
        entry = re.match(r'([a-z_*][\w*]*(?:, ?[a-z_*][\w*]*)*): +(.*)', line)
        if entry and at:
            names = ', '.join(f'`{name.strip()}`' for name in entry[1].split(','))
            out.append(f'- {names}: {escape(entry[2])}')
        elif re.match(r'[-*] ', line):
            out.append(line[:2] + escape(line[2:]))
        elif at + 1 < len(lines) and re.fullmatch(r'-{3,}|={3,}', lines[at + 1]):
            out += ['', f'**{line.strip()}**', '']
            at += 1
        elif re.match(r'[a-z_*][\w*, ]* : ', line):
            names, _, kind = line.partition(' : ')
            out.append(f'- `{names}`: {escape(kind)}.')
        else:
            out.append('  ' + escape(line.strip()) if out and out[-1].startswith(('- ', '  ')) and line.startswith(' ')
                       else escape(line.strip()))
        at += 1
    # Markdown wants an empty line before a list
    spaced = []
    for number, line in enumerate(out):
        before = out[number - 1] if number else ''
        if line.startswith('- ') and before.strip() and not before.startswith(('- ', '  ')):
            spaced.append('')
        spaced.append(line)
    return '\n'.join(spaced).strip('\n')


def directive(kind, name, text, body, depth=4):
    fence = ':' * depth
    return f'{fence}{{py:{kind}}} {name}{text}\n\n{body}\n{fence}\n'


def describe_class(qualified, cls, language):
    """The directive of a class with those of its methods inside."""
    parts, operators = [markdown(inspect.getdoc(cls) or '') if cls.__doc__ else ''], []
    owners = [cls] + [base for base in cls.__mro__[1:] if base.__name__.startswith('_')
                      and base.__module__.startswith('mxnet')]
    names = sorted({name for owner in owners for name in vars(owner) if not name.startswith('_')})
    for name in names:
        raw = inspect.getattr_static(cls, name)
        method = raw.__func__ if isinstance(raw, (staticmethod, classmethod)) else raw
        if from_the_table(method):
            operators.append(f'`{name}`')
        elif isinstance(raw, property):
            parts.append(directive('property', name, '', markdown(inspect.getdoc(raw) or ''), 3))
        elif inspect.isroutine(method) and inspect.getdoc(method):
            kind = {staticmethod: 'staticmethod', classmethod: 'classmethod'}.get(type(raw), 'method')
            shown = signature(method, method=kind != 'staticmethod')
            parts.append(directive(kind, name, shown, markdown(inspect.getdoc(method)), 3))
    if operators:
        parts.append(f'{METHODS[language]}: {", ".join(operators)}.')
    return directive('class', qualified, signature(cls), '\n\n'.join(part for part in parts if part))


def page(path, name, language):
    """The page of one module."""
    module = importlib.import_module(f'mxnet.{path}')
    parts = [f'# `{name}`', f'`mxnet.{path}`', markdown(inspect.getdoc(module) or '')]
    for short, thing in public(module):
        qualified = f'{name}.{short}'
        if inspect.isclass(thing):
            parts.append(describe_class(qualified, thing, language))
        else:
            parts.append(directive('function', qualified, signature(thing), markdown(inspect.getdoc(thing) or '')))
    return '\n\n'.join(parts) + '\n'


def summary(path, language):
    """A line on a module: in Chinese from docs/zh/modules.txt, else the first sentence of its docstring."""
    if language == 'zh':
        return read_table(folder(language) / 'modules.txt')[path]
    text = (inspect.getdoc(importlib.import_module(f'mxnet.{path}')) or '').split('\n\n')[0].replace('\n', ' ')
    return re.split(r'(?<=[\w)`])[.:;] (?=[A-Z`])', text)[0].rstrip('.').replace('|', '\\|').replace('<', '\\<')


def write(target, language):
    """Writes all pages below `target`/api, and lists them at the end of the page `api`."""
    (target / 'api').mkdir(exist_ok=True)
    written = []
    for path, name in MODULES:
        file = name.removeprefix('mx.').replace('.', '-')
        (target / 'api' / f'{file}.md').write_text(page(path, name, language), encoding='utf-8')
        written.append(f'api/{file}')
    index = target / 'api.md'
    table = '\n'.join([f'| {MODULE[language]} | {CONTENT[language]} |', '| --- | --- |',
                       *(f'| [`{name}`]({file}.md) | {summary(path, language)} |'
                         for (path, name), file in zip(MODULES, written, strict=True))])
    tree = '\n:::{toctree}\n:hidden:\n\n' + '\n'.join(written) + '\n:::\n'
    index.write_text(f'{index.read_text(encoding="utf-8")}\n{table}\n{tree}', encoding='utf-8')
