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
    for key in ('pathname2url', 'url2pathname', 'getproxies'):
        found[key] = _name('urllib', key, lambda key=key: getattr(urllib.request, key))
    found['ContentTooShortError'] = _name('urllib', 'ContentTooShortError',
                                          lambda: urllib.error.ContentTooShortError)
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

    from . import _bytes2
    from ._helpers import one_number

    def pack(form, *values):
        if _bytes2.by_python2():
            return _bytes2.Bytes2(_pack(form, *map(_bytes2.bytes_of, values)))
        return _pack(form, *values)

    def _pack(form, *values):
        try:
            return struct.pack(form, *values)
        except (struct.error, TypeError):
            plain = [v if one_number(v) is None else one_number(v) for v in values]
            if all(a is b for a, b in zip(plain, values)):
                raise
            report.note('numpy-scalar', 'an array with one element is a number, as before NumPy 2.4')
            return struct.pack(form, *plain)

    return Standin(name, struct, {'pack': lambda: pack, 'unpack': lambda: _bytes2.takes_text_second(struct.unpack),
                                  'unpack_from': lambda: _bytes2.takes_text_second(struct.unpack_from)})


def _of_bytes(*functions):
    """An entry of a table: a module whose functions of bytes take texts from modules in Python 2."""
    def make(name):
        from . import _bytes2

        real = importlib.import_module(name)
        found = {key: functools.partial(_bytes2.takes_text, getattr(real, key)) for key in functions
                 if hasattr(real, key)}
        if name == 'base64':
            for key, today in (('encodestring', 'encodebytes'), ('decodestring', 'decodebytes')):
                found[key] = _name('base64', key, functools.partial(_bytes2.takes_text, getattr(real, today)))
        return Standin(name, real, found)

    return make


def _of_hashes(name):
    from . import _bytes2

    real = importlib.import_module(name)
    keys = ('md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'new')
    return Standin(name, real, {
        key: functools.partial(_bytes2.hashes, getattr(real, key), (0,) if (name, key) == ('hashlib', 'new') else ())
        for key in keys if hasattr(real, key)})


def _linux(*args, **kwargs):
    try:
        import platform

        found = platform.freedesktop_os_release()
        return found.get('ID', ''), found.get('VERSION_ID', ''), found.get('VERSION_CODENAME', '')
    except OSError:
        return '', '', ''


def _json(name):
    import json

    from . import _bytes2

    def without_encoding(function):
        @functools.wraps(function)
        def call(*args, encoding=None, **kwargs):
            # the parser of JSON looks at single bytes
            args = tuple(str(a) if isinstance(a, _bytes2.Bytes2) else a for a in args)
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
            'path': lambda: Standin('os.path', os.path, _names('os.path', walk=lambda: _walk)),
            **_names('os', getcwdu=lambda: os.getcwd, errno=lambda: importlib.import_module('errno'),
                     popen2=lambda: _popen(2), popen3=lambda: _popen(3), popen4=lambda: _popen(4),
                     tmpnam=lambda: importlib.import_module('tempfile').mktemp),
        },
    )


def _walk(top, visit, argument):
    for folder, folders, files in os.walk(top):
        visit(argument, folder, folders + files)


def _popen(count):
    def start(command, mode='t', bufsize=-1):
        import subprocess

        both = subprocess.STDOUT if count == 4 else subprocess.PIPE if count == 3 else None
        made = subprocess.Popen(command, shell=isinstance(command, str), stdin=subprocess.PIPE, stderr=both,
                                stdout=subprocess.PIPE, text='b' not in mode)
        return (made.stdin, made.stdout, made.stderr)[:count if count == 3 else 2]

    return start


def _random(name):
    import random

    def sample(population, k, **kwargs):
        if not isinstance(population, (list, tuple, str, bytes, range)) and hasattr(population, '__iter__'):
            report.note('random-sample', 'random.sample of sets and dictionaries, as before Python 3.11')
            population = list(population)
        return random.sample(population, k, **kwargs)

    def shuffle(values, random_=None):
        if random_ is None:
            return random.shuffle(values)
        report.note('random-shuffle', 'the second argument of random.shuffle, which Python 3.11 removed')
        for i in reversed(range(1, len(values))):
            j = int(random_() * (i + 1))
            values[i], values[j] = values[j], values[i]
        return None

    return Standin(name, random, {
        'sample': lambda: sample, 'shuffle': lambda: shuffle,
        **_names('random', jumpahead=lambda: lambda count: None)})


def _subprocess(name):
    import subprocess

    from . import _bytes2, _downloads

    return Standin(
        name,
        subprocess,
        {
            'Popen': lambda: _downloads.popen_class(),
            **{
                key: functools.partial(_downloads.command, getattr(subprocess, key))
                for key in ('call', 'check_call', 'run', 'getoutput', 'getstatusoutput')
            },
            'check_output': lambda: _bytes2.gives_text(_downloads.command(subprocess.check_output)),
        },
    )


def _gzip(name):
    import gzip

    from . import _bytes2, _downloads

    def opened(filename, mode='rb', *args, **kwargs):
        open_ = _bytes2.GzipFile if _bytes2.by_python2() and 't' not in mode else gzip.open
        return _opened(open_, filename, mode, *args, **kwargs)

    def _opened(open_, filename, mode, *args, **kwargs):
        try:
            return open_(filename, mode, *args, **kwargs)
        except FileNotFoundError:
            found = _downloads.missing(os.fspath(filename)) if set(mode).isdisjoint('wax') else None
            if found is None:
                raise
            return open_(found, mode, *args, **kwargs)

    def file(filename=None, mode=None, *args, **kwargs):
        kind = _bytes2.GzipFile if _bytes2.by_python2() else gzip.GzipFile
        return kind(filename, mode, *args, **kwargs) if filename is None else _opened(kind, filename, mode or 'rb')

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
    'base64': _of_bytes('b64encode', 'b64decode', 'b16encode', 'b16decode', 'b32encode', 'b32decode',
                        'standard_b64encode', 'standard_b64decode', 'urlsafe_b64encode', 'urlsafe_b64decode',
                        'encodebytes', 'decodebytes'),
    'binascii': _of_bytes('hexlify', 'unhexlify', 'b2a_hex', 'a2b_hex', 'b2a_base64', 'a2b_base64', 'crc32'),
    'zlib': _of_bytes('compress', 'decompress', 'crc32', 'adler32'),
    'bz2': _of_bytes('compress', 'decompress'),
    'hashlib': _of_hashes,
    'hmac': _of_hashes,
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
            exc_type=lambda: importlib.import_module('sys').exc_info()[0],
            exc_value=lambda: importlib.import_module('sys').exc_info()[1],
            exc_traceback=lambda: importlib.import_module('sys').exc_info()[2],
            getcheckinterval=lambda: lambda: 100,
            subversion=lambda: ('CPython', '', ''),
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
            isSequenceType=lambda: lambda v: hasattr(v, '__getitem__') and not isinstance(v, dict),
            isMappingType=lambda: lambda v: hasattr(v, 'keys'),
            isNumberType=lambda: lambda v: isinstance(v, (int, float, complex)),
            repeat=_lazy('operator', 'mul'),
            delslice=lambda: lambda v, a, b: v.__delitem__(slice(a, b)),
            getslice=lambda: lambda v, a, b: v[a:b],
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
    'random': _random,
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
