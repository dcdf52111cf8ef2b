"""Modules and names of the standard library that are gone, for a program's modules."""
import functools
import importlib
import os
import types

from ._report import report
from ._standin import Standin, extended, named


def _made(make_names):
    """An entry of a table: a module that consists of the names that a function gives."""

    def make(name):
        report.note(f'module-{name}', f'the module {name}')
        module = types.ModuleType(name)
        module.__dict__.update(make_names())
        return module

    return make


def _same(today):
    """An entry of a table: a module under another name."""

    def make(name):
        report.note(f'module-{name}', f'the module {name}, {today} today')
        return importlib.import_module(today)

    return make


def _name(module, name, make):
    return named(f'{module}-{name}', f'{module}.{name}, which is gone', make)


def _names(module, **makers):
    return {name: _name(module, name, make) for name, make in makers.items()}


def _lazy(module, name):
    return lambda: getattr(importlib.import_module(module), name)


# ---------------------------------------------------------------------- inspect, time, collections, asyncio, imp
def _getargspec(function):
    import collections
    import inspect

    found = inspect.getfullargspec(function)
    ArgSpec = collections.namedtuple('ArgSpec', ('args', 'varargs', 'keywords', 'defaults'))
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def _coroutine(function):
    return types.coroutine(function)


# ---------------------------------------------------------------------- pickle
def _text_safe(file):
    return getattr(file, 'buffer', file)


def _load(file, *args, **kwargs):
    import pickle

    kwargs.setdefault('encoding', 'latin1')
    return pickle.load(_text_safe(file), *args, **kwargs)


def _loads(data, *args, **kwargs):
    import pickle

    kwargs.setdefault('encoding', 'latin1')
    return pickle.loads(data.encode('latin1') if isinstance(data, str) else data, *args, **kwargs)


def _dump(value, file, *args, **kwargs):
    import pickle

    if hasattr(file, 'buffer'):
        file.flush()
    return pickle.dump(value, _text_safe(file), *args, **kwargs)


def _pickle(name):
    import pickle

    if name != 'pickle':
        report.note(f'module-{name}', f'the module {name}, pickle today')
    return Standin(name, pickle, {'load': lambda: _load, 'loads': lambda: _loads, 'dump': lambda: _dump})


# ---------------------------------------------------------------------- addresses


def _urllib(name):
    import urllib
    import urllib.error
    import urllib.parse
    import urllib.request

    from . import _downloads

    found = {
        key: _name('urllib', key, lambda key=key: getattr(urllib.parse, key))
        for key in ('quote', 'quote_plus', 'unquote', 'unquote_plus', 'urlencode', 'splittype', 'splithost')
        if hasattr(urllib.parse, key)
    }
    found['urlretrieve'] = _name('urllib', 'urlretrieve', lambda: _downloads.urlretrieve)
    found['urlopen'] = _name('urllib', 'urlopen', lambda: _downloads.urlopen)
    found['URLopener'] = _name('urllib', 'URLopener', lambda: _downloads.opener_class())
    found['FancyURLopener'] = found['URLopener']
    found['urlcleanup'] = _name('urllib', 'urlcleanup', lambda: urllib.request.urlcleanup)
    return Standin(name, urllib, found)


def _urllib_request(name):
    import urllib.request

    from . import _downloads

    return Standin(
        name,
        urllib.request,
        {
            'urlretrieve': lambda: _downloads.urlretrieve,
            'urlopen': lambda: _downloads.urlopen,
            'URLopener': lambda: _downloads.opener_class(),
            'FancyURLopener': lambda: _downloads.opener_class(),
        },
    )


def _string_names():
    import string

    names = {
        'letters': lambda: string.ascii_letters,
        'lowercase': lambda: string.ascii_lowercase,
        'uppercase': lambda: string.ascii_uppercase,
        'maketrans': lambda: lambda a, b: str.maketrans(a, b) if isinstance(a, str) else bytes.maketrans(a, b),
        'join': lambda: lambda words, sep=' ': sep.join(words),
        'joinfields': lambda: lambda w, s=' ': s.join(w),
        'atoi': lambda: int,
        'atof': lambda: float,
        'atol': lambda: int,
    }
    for key in (
        'split',
        'replace',
        'strip',
        'lstrip',
        'rstrip',
        'lower',
        'upper',
        'find',
        'rfind',
        'index',
        'count',
        'zfill',
        'ljust',
        'rjust',
        'center',
        'capitalize',
        'expandtabs',
        'swapcase',
    ):
        names[key] = functools.partial(getattr, str, key)
    return names


def _types_names():
    none = type(None)
    return {
        'StringType': str,
        'UnicodeType': str,
        'IntType': int,
        'LongType': int,
        'FloatType': float,
        'ListType': list,
        'TupleType': tuple,
        'DictType': dict,
        'DictionaryType': dict,
        'NoneType': none,
        'BooleanType': bool,
        'ClassType': type,
        'TypeType': type,
        'InstanceType': object,
        'StringTypes': (str,),
        'ObjectType': object,
        'FileType': object,
        'ComplexType': complex,
    }


def _math(name):
    """`math`, whose functions take arrays of one element as numbers."""
    import math

    from ._helpers import one_number

    def wrapped(function):
        @functools.wraps(function)
        def call(*args):
            try:
                return function(*args)
            except TypeError:
                plain = [a if one_number(a) is None else one_number(a) for a in args]
                if all(a is b for a, b in zip(plain, args)):
                    raise
                report.note('numpy-scalar', 'an array with one element is a number, as before NumPy 2.4')
                return function(*plain)

        return call

    return Standin(
        name,
        math,
        {
            key: functools.partial(wrapped, getattr(math, key))
            for key in dir(math)
            if callable(getattr(math, key)) and not key.startswith('_')
        },
        cache=True,
    )


def _struct(name):
    """`struct`, whose `pack` takes arrays of one element as numbers."""
    import struct

    from ._helpers import one_number

    def pack(form, *values):
        try:
            return struct.pack(form, *values)
        except (struct.error, TypeError):
            plain = [v if one_number(v) is None else one_number(v) for v in values]
            if all(a is b for a, b in zip(plain, values)):
                raise
            report.note('numpy-scalar', 'an array with one element is a number, as before NumPy 2.4')
            return struct.pack(form, *plain)

    return Standin(name, struct, {'pack': lambda: pack})


def _linux(*args, **kwargs):
    try:
        import platform

        found = platform.freedesktop_os_release()
        return found.get('ID', ''), found.get('VERSION_ID', ''), found.get('VERSION_CODENAME', '')
    except OSError:
        return '', '', ''


def _json(name):
    import json

    def without_encoding(function):
        @functools.wraps(function)
        def call(*args, encoding=None, **kwargs):
            return function(*args, **kwargs)

        return call

    return Standin(
        name,
        json,
        {key: functools.partial(without_encoding, getattr(json, key)) for key in ('load', 'loads', 'dump', 'dumps')},
    )


def _system(name):
    import os

    from . import _downloads

    return Standin(
        name,
        os,
        {
            'system': lambda: _downloads.system,
            **_names('os', getcwdu=lambda: os.getcwd, errno=lambda: importlib.import_module('errno')),
        },
    )


def _subprocess(name):
    import subprocess

    from . import _downloads

    return Standin(
        name,
        subprocess,
        {
            'Popen': lambda: _downloads.popen_class(),
            **{
                key: functools.partial(_downloads.command, getattr(subprocess, key))
                for key in ('call', 'check_call', 'run', 'check_output', 'getoutput', 'getstatusoutput')
            },
        },
    )


def _gzip(name):
    import gzip

    from . import _downloads

    def opened(filename, mode='rb', *args, **kwargs):
        try:
            return gzip.open(filename, mode, *args, **kwargs)
        except FileNotFoundError:
            found = _downloads.missing(os.fspath(filename)) if set(mode).isdisjoint('wax') else None
            if found is None:
                raise
            return gzip.open(found, mode, *args, **kwargs)

    def file(filename=None, mode=None, *args, **kwargs):
        return gzip.GzipFile(filename, mode, *args, **kwargs) if filename is None else opened(filename, mode or 'rb')

    return Standin(name, gzip, {'open': lambda: opened, 'GzipFile': lambda: file})


def _abcs():
    return {
        name: _name('collections', name, _lazy('collections.abc', name))
        for name in importlib.import_module('collections.abc').__all__
    }


MODULES = {
    'collections': lambda name: Standin(name, importlib.import_module('collections'), _abcs()),
    'inspect': extended(
        None,
        **_names('inspect', getargspec=lambda: _getargspec, formatargspec=lambda: lambda *args, **kwargs: str(args)),
    ),
    'time': extended(None, **_names('time', clock=_lazy('time', 'perf_counter'))),
    'asyncio': extended(
        None, **_names('asyncio', coroutine=lambda: _coroutine, async_=_lazy('asyncio', 'ensure_future'))
    ),
    'fractions': extended(None, **_names('fractions', gcd=_lazy('math', 'gcd'))),
    'platform': extended(None, **_names('platform', linux_distribution=lambda: _linux, dist=lambda: _linux)),
    'cgi': lambda name: _cgi(name),
    'base64': extended(
        None,
        **_names('base64', encodestring=_lazy('base64', 'encodebytes'), decodestring=_lazy('base64', 'decodebytes')),
    ),
    'string': lambda name: Standin(name, importlib.import_module('string'), _names('string', **_string_names())),
    'types': lambda name: Standin(
        name, types, {k: _name('types', k, lambda v=v: v) for k, v in _types_names().items() if not hasattr(types, k)}
    ),
    'sys': extended(
        None,
        **_names(
            'sys',
            maxint=_lazy('sys', 'maxsize'),
            setdefaultencoding=lambda: lambda encoding: None,
            setcheckinterval=lambda: lambda interval: None,
            exc_clear=lambda: lambda: None,
        ),
    ),
    'itertools': extended(
        None,
        **_names(
            'itertools',
            izip=lambda: zip,
            imap=lambda: map,
            ifilter=lambda: filter,
            izip_longest=_lazy('itertools', 'zip_longest'),
            ifilterfalse=_lazy('itertools', 'filterfalse'),
        ),
    ),
    'operator': extended(
        None,
        **_names(
            'operator',
            div=_lazy('operator', 'floordiv'),
            isCallable=lambda: callable,
            sequenceIncludes=_lazy('operator', 'contains'),
            isSequenceType=lambda: lambda v: hasattr(v, '__getitem__'),
        ),
    ),
    'threading': extended(None, **_names('threading', _sleep=_lazy('time', 'sleep'))),
    'xml.etree': extended(None, cElementTree=lambda: importlib.import_module('xml.etree.ElementTree')),
    'xml.etree.cElementTree': _same('xml.etree.ElementTree'),
    'unittest': extended(
        None,
        **_names(
            'unittest',
            makeSuite=lambda: (
                lambda case, **kwargs: importlib.import_module('unittest').defaultTestLoader.loadTestsFromTestCase(case)
            ),
        ),
    ),
    'math': _math,
    'struct': _struct,
    'json': _json,
    'pickle': _pickle,
    'os': _system,
    'subprocess': _subprocess,
    'gzip': _gzip,
    'urllib': _urllib,
    'urllib.request': _urllib_request,
    'logging': extended(None, **_names('logging', warn=_lazy('logging', 'warning'))),
    'locale': extended(None, **_names('locale', format=_lazy('locale', 'format_string'))),
}


def _cgi(name):
    import html

    report.note('module-cgi', 'cgi.escape, html.escape today')
    module = types.ModuleType(name)
    vars(module)['escape'] = functools.partial(html.escape, quote=False)
    return module


# modules that are not there at all
