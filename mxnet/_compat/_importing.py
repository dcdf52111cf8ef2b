"""How a program's modules get what is put back: builtins and an `import` of their own, and rewritten syntax trees.

Other modules, installed packages above all, run as always: they see today's Python and today's NumPy.
"""
import builtins
import importlib
import importlib.machinery
import os
import site
import sys
import sysconfig
import types
from collections.abc import Callable
from typing import Any

from . import _compiled, _executed, _helpers, _numba, _old_names, _project, _python2, _standin
from ._report import report
from ._rewrite import rewritten
from ._standin import Positional, Standin

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # of the package mxnet


_standins: dict[str, object] = {}


def _tables():
    """{module: (the real module's name or None, {name: function that makes the value})}, from all parts."""
    from . import _numpy, _packages, _stdlib

    return _stdlib.MODULES, _numpy.MODULES, _packages.MODULES


def standin(name):
    """The stand-in for a module; None for a module that programs see as it is."""
    found = _standins.get(name, 0)
    if found != 0:
        return found
    made: object = None
    for table in _tables():
        if name in table:
            made = table[name](name)
            break
    else:
        if any(key.startswith(name + '.') for table in _tables() for key in table):
            made = _package(name)
        elif name.startswith('sklearn.'):
            made = _package(name, Positional)
    _standins[name] = made
    return made


_standin.find = standin


def _package(name, kind=Standin):
    """The stand-in for a package of which only parts have one."""
    try:
        return kind(name, importlib.import_module(name), {})
    except ImportError:
        return None


def _missing_table():
    from . import _modules, _packages

    return {**_modules.GONE, **_packages.GONE}


def _import(name, globals, locals, fromlist, level):
    found = builtins.__import__(name, globals, locals, fromlist, level)
    if fromlist and 'find_mxnet' in fromlist and not hasattr(found, 'find_mxnet'):
        # the examples' packages `common` and `tools` had this module; copies of them often have not
        setattr(found, 'find_mxnet', _gone('find_mxnet'))  # noqa: B010
    return found


def program_import(name, globals=None, locals=None, fromlist=(), level=0):
    """`__import__` for a program's modules."""
    if level == 0:
        if globals is not None and globals.get('__remx_python2__') and globals.get('__package__'):
            inside = _implicit(name, globals)
            if inside:
                return builtins.__import__(name, globals, locals, fromlist, 1) if fromlist else _own_part(name, globals)
        target = standin(name)
        if target is not None:
            if fromlist:
                _import_parts(target, fromlist)
            if fromlist or '.' not in name:
                return target
            top = name.partition('.')[0]
            return standin(top) or builtins.__import__(top)
        if not fromlist and '.' in name:
            top = standin(name.partition('.')[0])
            if top is not None:
                try:
                    builtins.__import__(name, globals, locals, (), 0)
                except ModuleNotFoundError:
                    if name not in _missing_table() or _gone(name) is None:
                        raise
                return top
    try:
        return _import(name, globals, locals, fromlist, level)
    except ModuleNotFoundError as error:
        gone = _missing_table() if level == 0 else {}
        wanted = error.name or name
        if level == 0 and wanted == name.partition('.')[0] and globals and globals.get('__package__'):
            # Python 2 looked beside the importing module; nothing else in this module need show that it is Python 2
            if _implicit(name, globals):
                report.note('implicit-import', 'modules of the same package are imported without a dot, as in Python 2')
                return builtins.__import__(name, globals, locals, fromlist, 1) if fromlist else _own_part(name, globals)
        if level == 0 and (name in gone or wanted in gone):
            made = _gone(name) if name in gone else _part_of_successor(name, wanted)
            if made is not None:
                if fromlist:
                    _import_parts(made, fromlist)
                if fromlist or '.' not in name:
                    return made
                return _gone(name.partition('.')[0]) or made
        if level == 0 and wanted == name.partition('.')[0]:
            folder = _project.folder_above(wanted)
            if folder is not None:
                report.note(f'folder-above-{folder}', f'modules in {folder}, as in editors that run a program from '
                                                      'the top folder of its project')
                sys.path.append(folder)
                return _import(name, globals, locals, fromlist, level)
            folder = _project.folder_of_missing_path(wanted)
            if folder is not None:
                report.note(f'folder-of-path-{folder}', f'modules in {folder}, for a folder in sys.path that does not '
                                                        'exist here')
                sys.path.append(folder)
                return _import(name, globals, locals, fromlist, level)
        raise


def _import_parts(module, names):
    """Imports the submodules that `from package import names` asks for; a stand-in does not do it by itself."""
    real: Any = getattr(module, '_real', None)
    if not hasattr(real, '__path__'):
        return
    for name in names:
        if name == '*' or hasattr(module, name):
            continue
        full = f'{real.__name__}.{name}'
        try:
            importlib.import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise


def _gone(name):
    key = f'gone:{name}'
    if key not in _standins:
        table = _missing_table()
        _standins[key] = table[name](name) if name in table else None
    return _standins[key]


def _part_of_successor(name, package):
    """A module inside a package that another one stands for: that of the other package."""
    made: Any = _gone(package)
    for part in name.removeprefix(package).split('.')[1:]:
        if made is None:
            return None
        real: Any = getattr(made, '_real', made)
        if not hasattr(made, part) and hasattr(real, '__path__'):
            importlib.import_module(f'{real.__name__}.{part}')
        if not hasattr(made, part):
            return made         # a module without parts has the names of all of them
        made = getattr(made, part)
    return made


def _implicit(name, globals):
    """Whether a name is that of a module beside the importing one: Python 2 looked there first."""
    package = sys.modules.get(globals['__package__'])
    path = getattr(package, '__path__', None)
    if path is None:
        return False
    top = name.partition('.')[0]
    full = f'{globals["__package__"]}.{top}'
    if full in sys.modules or importlib.machinery.PathFinder.find_spec(full, path) is not None:
        return True
    return _compiled.spec_of(full, path) is not None


def _own_part(name, globals):
    importlib.import_module(f'.{name}', globals['__package__'])
    return sys.modules[f'{globals["__package__"]}.{name.partition(".")[0]}']


# ---------------------------------------------------------------------- which files are the program's
def _installed():
    places = {sysconfig.get_path(key) for key in ('stdlib', 'platstdlib', 'purelib', 'platlib')}
    places |= set(site.getsitepackages() if hasattr(site, 'getsitepackages') else ())
    if hasattr(site, 'getusersitepackages'):
        places.add(site.getusersitepackages())
    places |= {os.path.dirname(os.__file__), _HERE}
    return tuple({os.path.realpath(p) + os.sep for p in places if p})


_places: tuple = ()
# installed packages that get the same: those of `--package`, and those that were made for MXNet 1.x alone
_packages_too: set[str] = {'d2l', 'd2lzh', 'gluonbook', 'gluoncv', 'gluonnlp', 'minpy', 'mxboard', 'mxfusion'}


def is_programs(path):
    """Whether a file belongs to the program: it is installed nowhere."""
    global _places
    if not _places:
        _places = _installed()
    real = os.path.realpath(path)
    if 'site-packages' in real or 'dist-packages' in real:
        return any(f'{os.sep}{name}{os.sep}' in real or real.endswith(f'{os.sep}{name}.py') for name in _packages_too)
    return not real.startswith(_places)


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module of the program."""

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        return code_of(self.get_data(path), path)[0]

    def exec_module(self, module):
        path = self.get_filename(module.__name__)
        code, python2 = code_of(self.get_data(path), path)
        prepare(module.__dict__, python2)
        exec(code, module.__dict__)
        if '.' in module.__name__:
            from ._packages import AFTER

            change = AFTER.get(module.__name__)
            if change is not None:
                change(module.__dict__)


before_spawning: Callable[[], Any] | None = None        # called before multiprocessing starts a process


class Finder:
    """Finds modules as Python does, and gives those of the program our loader."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.startswith('multiprocessing.popen_') and before_spawning is not None:
            before_spawning()
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if name in _old_names.NAMES and spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = _old_names.Loader(spec.loader.name, spec.loader.path)
            return spec
        if spec is None:
            return _compiled.spec_of(name, path)
        if (
            not isinstance(spec.loader, importlib.machinery.SourceFileLoader)
            or not spec.origin
            or not is_programs(spec.origin)
        ):
            return None
        spec.loader = Loader(spec.loader.name, spec.loader.path)
        spec.cached = None
        return spec


_loaded: list[str] = []         # files of the program that were read
settings = types.SimpleNamespace(python2=None)


def code_of(source, path, first_line=True):
    """-> (the code of a module, rewritten; whether it is Python 2)."""
    text = _python2.read(source) if isinstance(source, bytes) else source
    tree, python2, error = _python2.parse(text, path, settings.python2)
    division = python2 and not _python2.has_true_division(tree)
    if error is not None:
        if python2 and not _loaded:
            _python2.inherited[0] = True
        report.note(
            'python2-syntax' if python2 else 'old-syntax',
            'the syntax of Python 2' if python2 else 'syntax that Python no longer has',
            (path, getattr(error, 'lineno', 1) or 1),
        )
    _loaded.append(path)
    _python2.future_first(tree)
    tree, divisions = rewritten(tree, python2, division)
    if divisions:
        report.note(
            'python2-division',
            f'"/" of integers rounds down, as in Python 2: {os.path.basename(path)} is taken for Python 2',
            (path, divisions[0]),
        )
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter('ignore', SyntaxWarning)
        return compile(tree, path, 'exec', dont_inherit=True), python2


def prepare(namespace, python2):
    """Gives a module's namespace the builtins of its time."""
    namespace['__builtins__'] = builtins_of(bool(python2))
    if python2:
        namespace['__remx_python2__'] = True


_builtins: dict[bool, dict] = {}


def builtins_of(python2):
    """The builtins of a program's module."""
    found = _builtins.get(python2)
    if found is None:
        from . import _builtins as names

        found = _builtins[python2] = {
            **vars(builtins),
            **names.ALL,
            **(names.PYTHON2 if python2 else {}),
            **HOOKS,
            '__import__': program_import,
        }
        if python2:
            found['__remx_round__'] = names.round2
    return found


_executed.code_of, _executed.builtins_of = code_of, builtins_of

# `_runner` adds those of notebooks
HOOKS: dict[str, Any] = {
    '__remx_float__': _helpers.to_float,
    '__remx_int__': _helpers.to_int,
    '__remx_complex__': _helpers.to_complex,
    '__remx_round__': _helpers.rounded,
    '__remx_format__': _helpers.formatted,
    '__remx_store__': _helpers.store,
    '__remx_item__': _helpers.item,
    '__remx_table__': _helpers.of_table,
    '__remx_column__': _helpers.store_in_column,
    '__remx_new__': _helpers.new,
    '__remx_augment__': _helpers.augment,
    '__remx_changed__': _helpers.changed,
    '__remx_narrowed__': _helpers.narrowed,
    '__remx_negative__': _helpers.negative,
    '__remx_with_integer__': _helpers.with_integer,
    '__remx_div__': _helpers.divided,
    '__remx_idiv__': _helpers.divided_in_place,
    '__remx_attr__': _helpers.attribute,
    '__remx_numba__': _numba.with_plain,
    '__remx_list__': _helpers.listed,
    '__remx_sort__': _helpers.sorting,
    '__remx_slice__': slice,
    '__remx_text__': _helpers.of_text,
    '__remx_unicode__': _helpers.unicode_of,
    '__remx_compare__': _helpers.compared,
    '__remx_hash__': object.__hash__,
    '__remx_truth__': _helpers.truth,
    '__remx_same__': _helpers.same,
    '__remx_ordered__': _helpers.ordered,
    '__remx_sliced__': _helpers.sliced,
}
_finder: Finder | None = None


def install(packages=()):
    """Lets modules of the program be loaded by our loader from now on; `packages` are installed ones of its age."""
    global _finder
    _packages_too.update(packages)
    if _finder is None:
        _finder = Finder()
        sys.meta_path.insert(0, _finder)
        _old_names.install()


def uninstall():
    """Ends what `install` began; modules that are loaded stay as they are."""
    global _finder
    if _finder is not None:
        sys.meta_path.remove(_finder)
        _finder = None
