"""Modules of the standard library, and a few of its age, that are not there any more."""
import functools
import importlib
import sys
import types

from ._report import report
from ._standin import Standin
from ._stdlib import _made, _pickle, _same


def _imp():
    import importlib.machinery
    import importlib.util

    def load_source(name, path, file=None):
        from ._importing import Loader

        spec = importlib.util.spec_from_file_location(name, path, loader=Loader(name, path))
        assert spec is not None and spec.loader is not None         # the loader was given
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    def find_module(name, path=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None:
            raise ImportError(f'No module named {name}')
        return None, spec.origin, ('', '', 5 if spec.submodule_search_locations else 1)

    def load_module(name, file, path, description):
        import os

        return load_source(name, os.path.join(path, '__init__.py') if os.path.isdir(path) else path)

    return {
        'load_source': load_source,
        'find_module': find_module,
        'load_module': load_module,
        'reload': importlib.reload,
        'new_module': types.ModuleType,
        'PY_SOURCE': 1,
        'PY_COMPILED': 2,
        'PKG_DIRECTORY': 5,
        'acquire_lock': lambda: None,
        'release_lock': lambda: None,
        'get_suffixes': lambda: [('.py', 'r', 1)],
    }


def _distutils_version():
    import re

    @functools.total_ordering
    class LooseVersion:
        def __init__(self, vstring=''):
            self.vstring = vstring
            self.version = [int(p) if p.isdigit() else p for p in re.findall(r'\d+|[a-z]+', vstring)]

        def _key(self):
            return [(1, p, '') if isinstance(p, int) else (0, 0, p) for p in self.version]

        def __eq__(self, other):
            return self._key() == (other if isinstance(other, LooseVersion) else LooseVersion(other))._key()

        def __lt__(self, other):
            return self._key() < (other if isinstance(other, LooseVersion) else LooseVersion(other))._key()

        __hash__ = None         # type: ignore[assignment]  # as of every class with __eq__ only

        def __str__(self):
            return self.vstring

        def __repr__(self):
            return f"LooseVersion ('{self.vstring}')"

    return {'LooseVersion': LooseVersion, 'StrictVersion': type('StrictVersion', (LooseVersion,), {})}


def _strtobool(text):
    if text.lower() in ('y', 'yes', 't', 'true', 'on', '1'):
        return 1
    if text.lower() in ('n', 'no', 'f', 'false', 'off', '0'):
        return 0
    raise ValueError(f'invalid truth value {text!r}')


def _distutils_util():
    import platform

    return {'strtobool': _strtobool, 'get_platform': lambda: platform.system().lower() + '-' + platform.machine()}


def _copy_tree(source, target, **kwargs):
    import shutil

    return [shutil.copytree(source, target, dirs_exist_ok=True)]


def _pkg_resources():
    import os
    from importlib import metadata

    version = _distutils_version()['LooseVersion']

    def resource_filename(package, name):
        return os.path.join(os.path.dirname(importlib.import_module(package).__file__ or ''), name)

    def get_distribution(name):
        return types.SimpleNamespace(version=metadata.version(name), project_name=name, key=name.lower())

    def resource_string(package, name):
        with open(resource_filename(package, name), 'rb') as file:
            return file.read()

    return {
        'resource_filename': resource_filename,
        'get_distribution': get_distribution,
        'parse_version': version,
        'resource_string': resource_string,
        'resource_exists': lambda p, n: os.path.exists(resource_filename(p, n)),
        'resource_stream': lambda p, n: open(resource_filename(p, n), 'rb'),
        'require': lambda *args: [],
        'DistributionNotFound': metadata.PackageNotFoundError,
        'working_set': [],
    }


def _urllib2():
    import urllib.error
    import urllib.request

    from . import _downloads

    return {
        **{k: v for k, v in vars(urllib.request).items() if not k.startswith('_')},
        'URLError': urllib.error.URLError,
        'HTTPError': urllib.error.HTTPError,
        'urlopen': _downloads.urlopen,
    }


def _string_io():
    import io

    class StringIO(io.StringIO):
        """Takes texts; bytes make it hold bytes."""

        def __new__(cls, initial=''):
            from . import _bytes2

            return _bytes2.BytesIO(initial) if isinstance(initial, bytes) else super().__new__(cls)

    return {'StringIO': StringIO, 'InputType': io.StringIO, 'OutputType': io.StringIO}


def _commands():
    import subprocess

    return {'getoutput': subprocess.getoutput, 'getstatusoutput': subprocess.getstatusoutput}


def _hash(name):
    import hashlib

    from . import _bytes2

    return dict.fromkeys(('new', name), _bytes2.hashes(getattr(hashlib, name)))


def _builtin_module(name):
    import builtins

    from ._importing import builtins_of

    class Builtins(Standin):
        def __setattr__(self, key, value):
            builtins_of(True)[key] = builtins_of(False)[key] = value
            setattr(builtins, key, value)

    report.note('module-__builtin__', 'the module __builtin__, builtins today')
    return Builtins(name, builtins, {})


def _config_parser(name):
    import configparser

    report.note(f'module-{name}', f'the module {name}, configparser today')
    return Standin(name, configparser, {'SafeConfigParser': lambda: configparser.ConfigParser})


def _user_dict():
    import collections
    from collections.abc import MutableMapping

    class DictMixin(MutableMapping):
        """A mapping by `keys` and the methods for one key."""

        def __iter__(self):
            return iter(self.keys())

        def __len__(self):
            return len(self.keys())

        def keys(self):
            raise NotImplementedError

        def values(self):
            return [self[key] for key in self.keys()]

        def items(self):
            return [(key, self[key]) for key in self.keys()]

        def __setitem__(self, key, value):
            raise AttributeError('__setitem__')

        def __delitem__(self, key):
            raise AttributeError('__delitem__')

    return {'UserDict': collections.UserDict, 'IterableUserDict': collections.UserDict, 'DictMixin': DictMixin}


_EMPTY: dict = {}


GONE: dict = {
    'cPickle': _pickle,
    'cpickle': _pickle,
    'urllib2': _made(_urllib2),
    'urlparse': _same('urllib.parse'),
    'Queue': _same('queue'),
    'StringIO': _made(_string_io),
    'cStringIO': _made(_string_io),
    'ConfigParser': _config_parser,
    'commands': _made(_commands),
    'HTMLParser': _same('html.parser'),
    'httplib': _same('http.client'),
    'Cookie': _same('http.cookies'),
    'cookielib': _same('http.cookiejar'),
    '__builtin__': _builtin_module,
    'Tkinter': _same('tkinter'),
    'tkMessageBox': _same('tkinter.messagebox'),
    'tkFileDialog': _same('tkinter.filedialog'),
    'thread': _same('_thread'),
    'dummy_thread': _same('_thread'),
    'exceptions': _made(
        lambda: (
            {
                k: v
                for k, v in vars(importlib.import_module('builtins')).items()
                if isinstance(v, type) and issubclass(v, BaseException)
            }
            | {'StandardError': Exception}
        )
    ),
    'sets': _made(lambda: {'Set': set, 'ImmutableSet': frozenset}),
    'md5': _made(lambda: _hash('md5')),
    'sha': _made(lambda: _hash('sha1')),
    'copy_reg': _same('copyreg'),
    'SocketServer': _same('socketserver'),
    'BaseHTTPServer': _same('http.server'),
    'SimpleHTTPServer': _same('http.server'),
    'xmlrpclib': _same('xmlrpc.client'),
    'htmlentitydefs': _same('html.entities'),
    'anydbm': _same('dbm'),
    'UserDict': _made(lambda: _user_dict()),
    'UserList': _same('collections'),
    'UserString': _same('collections'),
    'ttk': _same('tkinter.ttk'),
    'tkFont': _same('tkinter.font'),
    'tkSimpleDialog': _same('tkinter.simpledialog'),
    'tkColorChooser': _same('tkinter.colorchooser'),
    'tkCommonDialog': _same('tkinter.commondialog'),
    'ScrolledText': _same('tkinter.scrolledtext'),
    'Tkconstants': _same('tkinter.constants'),
    'FileDialog': _same('tkinter.filedialog'),
    'dummy_threading': _same('threading'),
    '_dummy_threading': _same('threading'),
    'CGIHTTPServer': _same('http.server'),
    'SimpleXMLRPCServer': _same('xmlrpc.server'),
    'DocXMLRPCServer': _same('xmlrpc.server'),
    'robotparser': _same('urllib.robotparser'),
    'dbhash': _same('dbm.dumb'),
    'gdbm': _same('dbm'),
    'dumbdbm': _same('dbm.dumb'),
    'whichdb': _made(lambda: {'whichdb': importlib.import_module('dbm').whichdb}),
    'repr': _same('reprlib'),
    '_winreg': _same('winreg'),
    'new': _made(lambda: {'instancemethod': types.MethodType, 'function': types.FunctionType,
                          'module': types.ModuleType, 'classobj': type}),
    'future_builtins': _made(lambda: {
        'ascii': ascii, 'filter': filter, 'hex': hex, 'map': map, 'oct': oct, 'zip': zip}),
    'popen2': _made(lambda: {f'popen{n}': importlib.import_module('mxnet._compat._stdlib')._popen(n)
                             for n in (2, 3, 4)}),
    'user': _made(dict),
    'imp': _made(_imp),
    'distutils': _made(
        lambda: {
            'version': GONE['distutils.version']('distutils.version'),
            'util': GONE['distutils.util']('distutils.util'),
        }
    ),
    'distutils.version': _made(_distutils_version),
    'distutils.util': _made(_distutils_util),
    'distutils.spawn': _made(lambda: {'find_executable': __import__('shutil').which}),
    'distutils.dir_util': _made(
        lambda: {
            'copy_tree': _copy_tree,
            'mkpath': lambda p, *a: __import__('os').makedirs(p, exist_ok=True),
            'remove_tree': __import__('shutil').rmtree,
        }
    ),
    'distutils.file_util': _made(lambda: {'copy_file': __import__('shutil').copy}),
    'pkg_resources': _made(_pkg_resources),
    'pipes': _made(lambda: {'quote': __import__('shlex').quote}),
    'contextlib2': _same('contextlib'),
    'unittest2': _same('unittest'),
    'mock': _same('unittest.mock'),
    'pathlib2': _same('pathlib'),
    'simplejson': _same('json'),
    'asyncore': _made(lambda: _EMPTY),
    'past': _made(
        lambda: {'builtins': GONE['past.builtins']('past.builtins'), 'utils': GONE['past.utils']('past.utils')}
    ),
    'past.builtins': _made(
        lambda: {
            'xrange': range,
            'unicode': str,
            'basestring': str,
            'long': int,
            'raw_input': input,
            'reduce': functools.reduce,
            'map': map,
            'range': range,
        }
    ),
    'past.utils': _made(lambda: {'old_div': importlib.import_module('mxnet._compat._helpers').divided}),
    'future': _made(
        lambda: {'standard_library': types.SimpleNamespace(install_aliases=lambda: None, install_hooks=lambda: None)}
    ),
    'future.utils': _made(
        lambda: {
            'iteritems': lambda d: iter(d.items()),
            'itervalues': lambda d: iter(d.values()),
            'iterkeys': lambda d: iter(d),
            'PY2': False,
            'PY3': True,
            'with_metaclass': lambda meta, *bases: meta('Base', bases or (object,), {}),
            'viewitems': lambda d: d.items(),
            'viewvalues': lambda d: d.values(),
        }
    ),
}
