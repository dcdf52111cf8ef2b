"""`make shape`: figures of the structure of the code, so that a change of it can be seen.

Prints a table; `--json FILE` writes the figures.  `--mypy` counts the errors of mypy with check_untyped_defs and
without the exemptions of pyproject.toml, which takes minutes.
"""
import argparse
import ast
import functools
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = map(str, (TESTS.parent, TESTS, TESTS / 'helpers', TESTS / 'repo'))

from import_graph import PACKAGE, cycles, files, graph, parts  # noqa: E402
from torch_names import private_names  # noqa: E402

# packages whose functions programs call; each has the share of its functions that are annotated
PUBLIC = ('autograd', 'callback', 'context', 'executor', 'gluon', 'image', 'initializer', 'io', 'kvstore',
          'lr_scheduler', 'metric', 'model', 'module', 'monitor', 'ndarray', 'numpy', 'numpy_extension', 'optimizer',
          'profiler', 'random', 'recordio', 'rnn', 'symbol', 'util', 'visualization')
ROOMS = ('_graph', '_lazy', '_frontend', '_ops', '_files', '_dist')
# modules and packages of which every function counts, private and nested ones as well; kernels that Triton compiles
# have no types of Python
ENGINE = ('_anomaly', '_array', '_autograd', '_deferred_compute', '_dispatch', '_graph', '_guard', '_hooks',
          '_lazy', '_paused_writes', '_provenance', '_random_state', '_state', '_torch')


# ---------------------------------------------------------------------- a training step
def step_calls(hybridized):
    """[(file, function)] of the Python calls inside mxnet in a warm step: record, network, loss, backward, update.

    The network is the MLP of `make bench`.  Frames of comprehensions do not count: newer interpreters have none.
    """
    import mxnet as mx
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Dense(64, activation='relu'), nn.Dense(64, activation='relu'), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    if hybridized:
        net.hybridize(static_alloc=True, static_shape=True)
    loss_of, record = mx.gluon.loss.SoftmaxCrossEntropyLoss(), mx.autograd.record
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01})
    x, y = mx.nd.random.uniform(shape=(64, 784)), mx.nd.array([i % 10 for i in range(64)])
    found = []

    def step():
        with record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(64)

    def note(frame, event, argument):
        code = frame.f_code
        if event == 'call' and code.co_filename.startswith((str(PACKAGE), '<plan>')) and code.co_name[0] != '<':
            found.append((code.co_filename, code.co_name))

    for _ in range(100):
        step()
    sys.setprofile(note)
    step()
    sys.setprofile(None)
    return found


def step_figures(hybridized):
    """Calls, files and changes of file of a warm step."""
    names = [name for name, _ in step_calls(hybridized)]
    return {'calls': len(names), 'files': len(set(names)),
            'changes of file': sum(a != b for a, b in zip(names, names[1:]))}


# ---------------------------------------------------------------------- names
def storage_reads():
    """{file: number of lines that read or write the storage of an array, `_storage`, outside of the allow-list}."""
    from test_repo_storage import allowed, uses
    from test_repo_storage import files as all_files
    found = {name: len(set(uses(path))) for name, path in all_files().items() if not allowed(name)}
    return {name: count for name, count in found.items() if count}


def annotated():
    """{package: (functions with all parameters and the result annotated, functions)} of public functions and methods.

    Of public packages, what their public modules show counts, once, and only what is written there: functions that
    derive from the operator table have stubs instead.  Those of `mx.np` are written there and have their types in stubs
    (_frontend/stubs_numpy.py), which count.  Of rooms of the engine, every function without an underscore.
    """
    found = {}
    for name in PUBLIC:
        functions = {}
        for path in files():
            own = parts(path)[1:]
            if own and own[0] == name and not any(p.startswith('_') for p in own):
                module = importlib.import_module('.'.join(parts(path)))
                for public in getattr(module, '__all__', dir(module)):
                    if not public.startswith('_'):
                        _collect(getattr(module, public, None), str(PACKAGE / name), functions)
        found[name] = sum(_is_annotated(f) or _has_stub(f) for f in functions.values()), len(functions)
    for name in ROOMS:
        counts = [0, 0]
        for path in files():
            if parts(path)[1:2] == [name]:
                _count(ast.parse(path.read_text()), counts)
        found[name] = tuple(counts)
    return found


def _collect(value, package, functions):
    """Adds a function, or the public methods of a class, if it is written in the package."""
    if inspect.isfunction(value):
        if not hasattr(value, 'derived_from') and '<' not in value.__code__.co_qualname \
                and value.__code__.co_filename.startswith(package):
            functions[value.__module__, value.__qualname__] = value
    elif inspect.isclass(value) and str(value.__module__).startswith(PACKAGE.name):
        for name, member in vars(value).items():
            if not name.startswith('_') or name == '__init__':
                member = member.fget if isinstance(member, property) else getattr(member, '__func__', member)
                if inspect.isfunction(member):
                    _collect(member, package, functions)


def _is_annotated(function):
    code = function.__code__
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
                             + bool(code.co_flags & inspect.CO_VARKEYWORDS)]
    known = function.__annotations__
    method = '.' in function.__qualname__
    return (function.__name__ == '__init__' or 'return' in known) and all(n in known for n in names[method:])


@functools.cache
def _stubs():
    """{(public path of a module, function): are all of its parameters and the result annotated}"""
    found = {}
    for path in PACKAGE.rglob('*.pyi'):
        own = path.relative_to(PACKAGE.parent).with_suffix('').parts
        module = '.'.join(own[:-1] if own[-1] == '__init__' else own)
        for child in ast.parse(path.read_text()).body:
            if isinstance(child, ast.FunctionDef):
                counts = [0, 0]
                _count(ast.Module([child], []), counts)
                found[module, child.name] = counts == [1, 1]
    return found


def _has_stub(function):
    """Whether the stub of the public module that a function of a private one belongs to has all of its types."""
    module = function.__module__
    while '.' in module and module.rpartition('.')[2].startswith('_'):
        module = module.rpartition('.')[0]
    return _stubs().get((module, function.__qualname__), False)


def _count(node, counts):
    for child in node.body:
        if isinstance(child, ast.ClassDef) and not child.name.startswith('_'):
            _count(child, counts)
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and \
                (not child.name.startswith('_') or child.name == '__init__'):
            a = child.args
            given = [*a.posonlyargs, *a.args, *a.kwonlyargs, *[x for x in (a.vararg, a.kwarg) if x is not None]]
            counts[1] += 1
            counts[0] += (child.returns is not None or child.name == '__init__') and \
                all(x.annotation is not None for x in given[isinstance(node, ast.ClassDef):])


def engine_annotated():
    """{module or package: (functions with all parameters and the result annotated, functions)} of the engine."""
    found = {}
    for name in ENGINE:
        counts = [0, 0]
        for path in files():
            if parts(path)[1:2] == [name]:
                _count_all(ast.parse(path.read_text()), False, counts)
        found[name] = tuple(counts)
    return found


def _count_all(node, in_class, counts):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            decorators = [ast.unparse(d) for d in child.decorator_list]
            if 'triton.jit' not in decorators:
                a = child.args
                given = [*a.posonlyargs, *a.args, *a.kwonlyargs, *[x for x in (a.vararg, a.kwarg) if x is not None]]
                own = given[in_class and 'staticmethod' not in decorators:]
                counts[1] += 1
                counts[0] += child.returns is not None and all(x.annotation is not None for x in own)
            _count_all(child, False, counts)
        else:
            _count_all(child, isinstance(child, ast.ClassDef) or in_class, counts)


def mechanisms():
    """Rows of the table of what is remembered, in mxnet/_lazy/README.md."""
    text = (PACKAGE / '_lazy' / 'README.md').read_text()
    section = re.search(r'^## What is remembered.*?(?=^## |\Z)', text, re.M | re.S)
    rows = [line for line in section[0].splitlines() if line.startswith('|')][2:] if section else []
    return [row.split('|')[1].strip() for row in rows]


def mypy_errors():
    """Errors of mypy with check_untyped_defs, without the exemptions of pyproject.toml."""
    command = [sys.executable, '-m', 'mypy', '--config-file=', '--check-untyped-defs', '--ignore-missing-imports',
               '--python-version', '3.11', '--cache-dir', str(PACKAGE.parent / 'build' / 'mypy-shape'), str(PACKAGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=PACKAGE.parent)
    return sum(': error:' in line for line in done.stdout.splitlines())


# ---------------------------------------------------------------------- the table
def figures(mypy=False):
    """All figures, as numbers, lists and dictionaries."""
    private = {'/'.join(parts(path)): sorted(set(names)) for path in files() if (names := private_names(path))}
    found = cycles(graph())
    share = annotated()
    result = {
        'mechanisms that remember a call': mechanisms(),
        'warm step, hybridized': step_figures(True),
        'warm step, plain': step_figures(False),
        'lines that read storage': storage_reads(),
        'private names of torch': private,
        'import cycles': found,
        'annotated functions': share,
        'annotated functions of the engine': engine_annotated(),
    }
    if mypy:
        result['errors of mypy, check_untyped_defs'] = mypy_errors()
    return result


def report(found):
    """The figures as lines of text."""
    def step(name):
        f = found[name]
        return f'{f["calls"]} calls / {f["files"]} files / {f["changes of file"]} changes of file'

    reads = found['lines that read storage']
    private = found['private names of torch']
    done, total = (sum(c[i] for n, c in found['annotated functions'].items() if n in PUBLIC) for i in (0, 1))
    engine = [sum(column) for column in zip(*found['annotated functions of the engine'].values())]
    largest = found['import cycles'][0] if found['import cycles'] else []
    rows = [('mechanisms that remember a call', len(found['mechanisms that remember a call'])),
            ('warm step, hybridized', step('warm step, hybridized')),
            ('warm step, plain', step('warm step, plain')),
            ('lines that read storage outside of the doors', f'{sum(reads.values())} in {len(reads)} files'),
            ('files with private names of torch', len(private)),
            ('largest import cycle, deferred imports counted', f'{len(largest)} modules'),
            ('annotated functions of public packages', f'{done} of {total} ({100 * done // max(1, total)} %)'),
            ('annotated functions of the engine, private ones too',
             f'{engine[0]} of {engine[1]} ({100 * engine[0] // max(1, engine[1])} %)')]
    if 'errors of mypy, check_untyped_defs' in found:
        rows.append(('errors of mypy, check_untyped_defs', found['errors of mypy, check_untyped_defs']))
    wide = max(len(name) for name, _ in rows)
    lines = [f'{name:{wide}}  {value}' for name, value in rows]
    lines += ['', 'import cycles:', *[f'  {len(c)}: {" ".join(c)}' for c in found['import cycles']]]
    lines += ['', 'private names of torch:', *[f'  {name}: {" ".join(names)}' for name, names in private.items()]]
    lines += ['', 'annotated functions:', *[f'  {name}: {d} of {t}' for name, (d, t) in
                                            found['annotated functions'].items() if t]]
    lines += ['', 'annotated functions of the engine, private ones too:', *[
        f'  {name}: {d} of {t}' for name, (d, t) in found['annotated functions of the engine'].items() if t]]
    return '\n'.join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(prog='make shape', description=__doc__)
    parser.add_argument('--json', help='file for the figures')
    parser.add_argument('--mypy', action='store_true', help='count the errors of mypy as well (minutes)')
    options = parser.parse_args(argv)
    found = figures(options.mypy)
    print(report(found))
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + os.linesep)


if __name__ == '__main__':
    main()
