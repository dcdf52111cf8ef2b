"""Runs a program in this process as `python PROGRAM` would, with what is gone put back for it."""

import atexit
import importlib.util
import json
import linecache
import os
import signal
import sys
import types

from ..base import MXNetError
from . import _children, _downloads, _importing
from ._notebooks import Shell, cells_of
from ._report import report

_OWN = os.path.dirname(os.path.abspath(__file__))
STATE = 'REMX_RUN'  # the environment variable that tells started processes how this one runs


def start(*, cpu=None, data=(), made_up=False, python2=None, packages=(), quiet=False):
    """Puts things back for the modules that are loaded from now on.

    cpu: `mx.gpu(i)` is on the CPU; None: where there is no GPU
    data: folders where files of failed downloads are looked for; made_up: else they are made up, where that is known
    python2: whether files are Python 2; None: as each one looks
    packages: installed packages that are of the program's age, and get the same
    """
    report.quiet = quiet
    _importing.settings.python2 = python2
    _downloads.settings.folders = [os.path.abspath(folder) for folder in data]
    _downloads.settings.made_up = made_up
    for folder in _downloads.settings.folders:
        if not os.path.isdir(folder):
            raise MXNetError(f'--data {folder}: there is no such folder')
    _importing.HOOKS['__remx_shell__'] = Shell
    _importing.install(packages)
    from .. import context
    from .._files import downloads
    from .._state import State

    downloads.fallback = _downloads.replacement
    downloads.missing = _downloads.missing
    context.missing_gpu = _on_cpu
    State.truth = staticmethod(_is_there)
    State.shorter = staticmethod(_shorter)
    State.kept = staticmethod(_kept)
    context.without_gpus = bool(cpu)
    _state.update(
        {
            'cpu': cpu,
            'data': _downloads.settings.folders,
            'made_up': made_up,
            'python2': python2,
            'packages': list(packages),
            'quiet': True,
        }
    )
    _children.options[:] = _options()
    _tell_children()
    _importing.before_spawning = _spawned_likewise


_state: dict = {}


def _tell_children(program=None, package=None):
    os.environ[STATE] = json.dumps({**_state, 'program': program, 'package': package})


def _options():
    """The options of `remx run` with which a process that the program starts runs as the program does."""
    found = ['--quiet']
    if _state.get('cpu'):
        found.append('--cpu')
    if _state.get('made_up'):
        found.append('--made-up-data')
    if _state.get('python2') is not None:
        found.append('--python2' if _state['python2'] else '--python3')
    for folder in _state.get('data', ()):
        found += ['--data', folder]
    for package in _state.get('packages', ()):
        found += ['--package', package]
    return found


def _is_there(array):
    report.note('ndarray-truth', '`if array:` is true for an array of several elements, as before MXNet 0.10')
    return True


def _shorter(array, shape):
    report.note('ndarray-reshape', 'an NDArray reshaped to fewer elements has the first ones, as before MXNet 1.6')
    import math

    return array.reshape((-1,))[: math.prod(shape)].reshape(shape)


def _kept():
    report.note('slice-channel', 'SliceChannel with squeeze_axis keeps an axis whose parts are longer than 1, as '
                                 'before MXNet 0.9.5')


def _on_cpu(ctx):
    if not report.places.get('gpu'):
        report.say(f'{ctx} was requested, but there is no GPU (or --cpu was given): GPU contexts use the CPU')
    report.note('gpu', 'GPU contexts use the CPU')
    import torch

    return torch.device('cpu')


def _spawned_likewise():
    """Processes that multiprocessing spawns load the program as this one does.

    A spawned process imports the program's file again as `__mp_main__`, by `runpy`, which does not ask the import
    system and so passes our loader by.  `get_preparation_data` says what is imported there.  It can be influenced
    without a patch by `__main__.__spec__` alone; but programs see that name, and Python 3.14 shows it in the usage
    message of `argparse`.  The patch exists in processes of `remx run` only.
    """
    from multiprocessing import spawn

    if hasattr(spawn.get_preparation_data, '_remx'):
        return
    before = spawn.get_preparation_data

    def get_preparation_data(name):
        found = before(name)
        by_path, by_name = found.pop('init_main_from_path', None), found.pop('init_main_from_name', None)
        if by_path is not None or by_name is not None:
            found['init_main_from_name'] = 'mxnet._compat._spawned'
        return found

    get_preparation_data._remx = True  # type: ignore[attr-defined]
    spawn.get_preparation_data = get_preparation_data


# ---------------------------------------------------------------------- programs
def _main_module(path):
    module = types.ModuleType('__main__')
    module.__dict__.update(
        __file__=path, __cached__=None, __doc__=None, __loader__=None, __package__=None, __spec__=None
    )
    sys.modules['__main__'] = module
    return module


def run_path(path, arguments=()):
    """Runs a file; returns its namespace."""
    try:
        with open(path, 'rb') as file:
            source = file.read()
    except IsADirectoryError:
        inner = os.path.join(path, '__main__.py')
        if not os.path.exists(inner):
            raise MXNetError(f"{path}: can't find '__main__' module in this folder") from None
        return run_path(inner, arguments)
    except OSError as error:
        raise MXNetError(f"can't open file {path!r}: {error.strerror}") from error
    report.program = os.path.abspath(path)
    sys.argv[:] = [path, *arguments]
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    path = os.path.abspath(path)
    _tell_children(path)
    module = _main_module(path)
    if path.endswith('.ipynb'):
        return _run_notebook(module, source, path)
    return _execute(module, source, path)


def _execute(module, source, path):
    code, python2 = _importing.code_of(source, path)
    _importing.prepare(module.__dict__, python2)
    exec(code, module.__dict__)
    return module.__dict__


def run_text(source, arguments=(), name='<stdin>'):
    """Runs a program's text."""
    report.program = name
    sys.argv[:] = ['-' if name == '<stdin>' else name, *arguments]
    sys.path[0] = ''
    module = _main_module(name)
    del module.__file__
    text = source if isinstance(source, str) else source.decode('utf-8', 'replace')
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    return _execute(module, source, name)


def run_module(name, arguments=()):
    """Runs a module or a package's `__main__`, as `python -m`."""
    sys.path[0] = os.getcwd()
    sys.argv[:] = [name, *arguments]
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name += '.__main__'
            spec = importlib.util.find_spec(name)
    except ImportError as error:
        raise MXNetError(f'No module named {name} ({error})') from error
    if spec is None or not spec.origin or not os.path.exists(spec.origin):
        raise MXNetError(f'No module named {name}')
    report.program = spec.origin
    sys.argv[0] = spec.origin
    module = _main_module(spec.origin)
    module.__package__, module.__spec__, module.__loader__ = spec.parent, spec, spec.loader
    _tell_children(os.path.abspath(spec.origin), spec.parent)
    with open(spec.origin, 'rb') as file:
        return _execute(module, file.read(), spec.origin)


def _run_notebook(module, source, path):
    """Runs the code cells of a notebook, one after the other; the value of a last expression is shown."""
    from . import _notebooks

    cells, python2 = cells_of(source, path)
    if python2 is not None and _importing.settings.python2 is None:
        _importing.settings.python2 = python2 or None
    for number, text, original in cells:
        name = f'{path}[cell {number}]'
        linecache.cache[name] = len(original), None, original.splitlines(True), name
        module.__dict__['__remx_notebook__'] = _notebooks.Magics(module.__dict__)
        module.__dict__.setdefault('display', _notebooks.display)
        code, is_two = _importing.code_of(text, name)
        _importing.prepare(module.__dict__, is_two)
        module.__builtins__ = module.__dict__['__builtins__']
        _notebooks.execute(text, name, module.__dict__, is_two)
        _notebooks.show_figures()
    return module.__dict__


# ---------------------------------------------------------------------- ends
def tell_at_end(path=None):
    """Prints the report when this process ends, after its threads; `path`: writes it as JSON as well."""
    status = {'status': 0}

    def end():
        report.tell()
        if path:
            report.write(path, status['status'])

    atexit.register(end)
    return status


def print_error(error):
    """Prints an error as Python does, without frames of ours."""
    seen: set[int] = set()
    link = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        link.__traceback__ = _without_own(link.__traceback__)
        link = link.__cause__ or link.__context__
    if sys.excepthook is sys.__excepthook__:
        import traceback  # which knows lines that are in no file: cells, standard input

        traceback.print_exception(error)
    else:
        sys.excepthook(type(error), error, error.__traceback__)


def _without_own(trace):
    frames = []
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if (
            not path.startswith(_OWN)
            and not path.endswith(os.path.join('mxnet', 'cli', 'run.py'))
            and not path.endswith(os.path.join('mxnet', 'cli', '__init__.py'))
        ):
            frames.append(trace)
        trace = trace.tb_next
    kept = None
    for frame in reversed(frames):
        kept = types.TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept


def stop_by_signal():
    """Ends the process as Ctrl-C ends Python: by the signal, so that shells and parents see it."""
    sys.stdout.flush()
    if os.name == 'posix':
        report.tell()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 130
