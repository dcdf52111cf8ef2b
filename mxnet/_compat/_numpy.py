"""NumPy as programs of 2015 to 2020 knew it: names and behaviours that NumPy 1.20 to 2.4 removed."""

import functools
import importlib

from ._helpers import lenient_logging
from ._report import report
from ._standin import Standin, extended, named


def _np():
    import numpy

    return numpy


def _gone(name, make):
    return named(f'numpy-{name}', f'numpy.{name}, which is gone', make)


# ---------------------------------------------------------------------- functions with another behaviour
def _array(name):
    """`array`, `asarray`, `asanyarray`: ragged lists, `copy=False`, integers that wrap around."""
    function = getattr(_np(), name)

    @functools.wraps(function)
    def call(*args, **kwargs):
        if kwargs.get('copy', True) is False:
            kwargs['copy'] = None
        elif name == 'array' and len(args) > 2 and args[2] is False:
            args = (*args[:2],)
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            if 'inhomogeneous' not in str(error) or kwargs.get('dtype') is not None or len(args) > 1:
                raise
            report.note('numpy-ragged', 'lists of different lengths make an array of objects, as before NumPy 1.24')
            return _ragged(args[0] if args else kwargs['object'])
        except OverflowError:
            values = args[0] if args else kwargs.pop('object', None)
            dtype = kwargs.pop('dtype', None) or (args[1] if len(args) > 1 else None)
            if dtype is None:
                raise
            report.note('numpy-overflow', 'integers that do not fit wrap around, as before NumPy 2')
            return function(function(values).astype(dtype), **kwargs)

    return call


def _ragged(values):
    found = _np().empty(len(values), dtype=object)
    for i, value in enumerate(values):
        found[i] = value
    return found


def _fromstring(text, dtype=float, count=-1, *, sep='', like=None):
    numpy = _np()
    if sep:
        return numpy.fromstring(text, dtype, count, sep=sep)
    report.note('numpy-fromstring', 'numpy.fromstring of bytes, which is numpy.frombuffer today')
    return numpy.frombuffer(text.encode('latin1') if isinstance(text, str) else text, dtype, count).copy()


def _load(file, mmap_mode=None, allow_pickle=True, fix_imports=True, encoding='ASCII', **kwargs):
    from ._downloads import existing

    numpy, file = _np(), existing(file)
    try:
        return numpy.load(file, mmap_mode, allow_pickle, fix_imports, encoding=encoding, **kwargs)
    except UnicodeError:
        report.note('numpy-load', 'numpy.load of a file that Python 2 wrote (encoding="latin1")')
        if hasattr(file, 'seek'):
            file.seek(0)
        return numpy.load(file, mmap_mode, allow_pickle, fix_imports, encoding='latin1', **kwargs)


def _of_iterators(name):
    """`vstack` and the like, of iterators as well."""
    function = getattr(_np(), name)

    @functools.wraps(function)
    def call(arrays, *args, **kwargs):
        if hasattr(arrays, '__next__'):
            report.note('numpy-stack', f'numpy.{name} of an iterator, as before NumPy 1.16')
            arrays = list(arrays)
        return function(arrays, *args, **kwargs)

    return call


def _sum(values, *args, **kwargs):
    if hasattr(values, '__next__'):
        values = list(values)
    return _np().sum(values, *args, **kwargs)


def _linspace(start, stop, num=50, *args, **kwargs):
    return _np().linspace(start, stop, int(num), *args, **kwargs)


def _whole_shape(name):
    """`zeros` and the like: lengths that are floats, of which NumPy before 1.12 took the integer part."""
    function = getattr(_np(), name)

    def whole(length):
        if isinstance(length, float):
            report.note('numpy-lengths', 'lengths that are floats, as before NumPy 1.12')
            return int(length)
        return length

    @functools.wraps(function)
    def call(shape, *args, **kwargs):
        try:
            return function(shape, *args, **kwargs)
        except TypeError:
            return function(
                [whole(n) for n in shape] if isinstance(shape, (list, tuple)) else whole(shape), *args, **kwargs
            )

    return call


def _histogram(values, bins=10, range=None, normed=None, weights=None, density=None):
    return _np().histogram(values, bins, range, density if normed is None else normed, weights)


def _find_common_type(array_types, scalar_types):
    return _np().result_type(*array_types, *scalar_types)


def _recfrom(text, delimiter):
    def read(fname, **kwargs):
        numpy = _np()
        kwargs.setdefault('delimiter', delimiter)
        kwargs.setdefault('dtype', None)
        return numpy.genfromtxt(fname, **kwargs).view(numpy.recarray)

    return read


def _cast():
    class Cast(dict):
        def __missing__(self, dtype):
            return lambda values: _np().asarray(values, dtype=dtype)

    return Cast()


def _matrix(data, dtype=None):
    return _np().asmatrix(data, dtype)


def _issubclass(kind, parent):
    try:
        return issubclass(kind, parent)
    except TypeError:
        return False


_NUMBERS = {
    'float': lambda: float,
    'int': lambda: int,
    'bool': lambda: bool,
    'object': lambda: object,
    'str': lambda: str,
    'complex': lambda: complex,
    'long': lambda: int,
    'unicode': lambda: str,
    'float_': lambda: _np().float64,
    'complex_': lambda: _np().complex128,
    'string_': lambda: _np().bytes_,
    'unicode_': lambda: _np().str_,
    'int0': lambda: _np().intp,
    'uint0': lambda: _np().uintp,
    'bool8': lambda: _np().bool_,
    'object0': lambda: _np().object_,
    'str0': lambda: _np().str_,
    'bytes0': lambda: _np().bytes_,
    'void0': lambda: _np().void,
    'singlecomplex': lambda: _np().complex64,
    'cfloat': lambda: _np().complex128,
    'clongfloat': lambda: _np().clongdouble,
    'longfloat': lambda: _np().longdouble,
    'longcomplex': lambda: _np().clongdouble,
    'Inf': lambda: _np().inf,
    'Infinity': lambda: _np().inf,
    'infty': lambda: _np().inf,
    'PINF': lambda: _np().inf,
    'NINF': lambda: -_np().inf,
    'NaN': lambda: _np().nan,
    'NAN': lambda: _np().nan,
    'PZERO': lambda: 0.0,
    'NZERO': lambda: -0.0,
}
_FUNCTIONS = {
    'product': lambda: _np().prod,
    'cumproduct': lambda: _np().cumprod,
    'sometrue': lambda: _np().any,
    'alltrue': lambda: _np().all,
    'row_stack': lambda: _of_iterators('vstack'),
    'trapz': lambda: _np().trapezoid,
    'in1d': lambda: lambda a, b, *args, **kwargs: _np().isin(a, b, *args, **kwargs).ravel(),
    'asfarray': lambda: lambda a, dtype=float: _np().asarray(a, dtype=dtype),
    'asscalar': lambda: lambda a: a.item(),
    'rank': lambda: _np().ndim,
    'alen': lambda: len,
    'msort': lambda: lambda a: _np().sort(a, axis=0),
    'find_common_type': lambda: _find_common_type,
    'cast': _cast,
    'mat': lambda: _matrix,
    'round_': lambda: _np().round,
    'issubclass_': lambda: _issubclass,
    'issubsctype': lambda: _np().issubdtype,
    'issctype': lambda: lambda kind: _issubclass(kind, _np().generic),
    'obj2sctype': lambda: lambda value, default=None: _np().dtype(value).type,
    'sctype2char': lambda: lambda kind: _np().dtype(kind).char,
    'maximum_sctype': lambda: lambda kind: _np().longdouble,
    'typeDict': lambda: _np().sctypeDict,
    'sctypeNA': lambda: _np().sctypeDict,
    'set_string_function': lambda: lambda *args, **kwargs: None,
    'recfromcsv': lambda: _recfrom('csv', ','),
    'recfromtxt': lambda: _recfrom('txt', None),
    'fastCopyAndTranspose': lambda: lambda a: _np().array(a.T, order='C'),
    'safe_eval': lambda: __import__('ast').literal_eval,
    'disp': lambda: lambda message, *args: print(message),
    'byte_bounds': lambda: importlib.import_module('numpy.lib.array_utils').byte_bounds,
    'deprecate': lambda: lambda *args, **kwargs: args[0] if args and callable(args[0]) else lambda f: f,
    'loads': lambda: lambda *args, **kwargs: __import__('pickle').loads(*args, encoding='latin1', **kwargs),
    'nbytes': lambda: {
        kind: _np().dtype(kind).itemsize for kind in set(_np().sctypeDict.values()) if _np().dtype(kind).itemsize
    },
    'compare_chararrays': lambda: _np().char.compare_chararrays,
    'sctypes': lambda: {
        'int': [_np().int8, _np().int16, _np().int32, _np().int64],
        'uint': [_np().uint8, _np().uint16, _np().uint32, _np().uint64],
        'float': [_np().float16, _np().float32, _np().float64, _np().longdouble],
        'complex': [_np().complex64, _np().complex128, _np().clongdouble],
        'others': [bool, object, bytes, str, _np().void],
    },
}
def _reading(name):
    from ._downloads import reads

    return reads(getattr(_np(), name))


_CHANGED = {
    **{name: functools.partial(_reading, name) for name in ('loadtxt', 'genfromtxt', 'fromfile')},
    'array': lambda: _array('array'),
    'asarray': lambda: _array('asarray'),
    'asanyarray': lambda: _array('asanyarray'),
    'fromstring': lambda: _fromstring,
    'load': lambda: _load,
    'sum': lambda: _sum,
    'linspace': lambda: _linspace,
    'histogram': lambda: _histogram,
    **{
        name: functools.partial(_of_iterators, name)
        for name in ('vstack', 'hstack', 'dstack', 'stack', 'column_stack', 'concatenate')
    },
    **{name: functools.partial(_whole_shape, name) for name in ('zeros', 'ones', 'empty', 'full')},
}
# numpy.bool, long and str are names of NumPy 2 with other meanings, so they are noted as gone as well
NAMES = {**{name: _gone(name, make) for name, make in {**_NUMBERS, **_FUNCTIONS}.items()}, **_CHANGED}


def _module(name):
    # numbers print as numbers, not as np.float32(0.5)
    _np().set_printoptions(legacy='1.25')
    lenient_logging()
    return Standin(name, _np(), NAMES, cache=True)


def _core(name):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        real = importlib.import_module(name.replace('numpy.core', 'numpy._core', 1))
    return Standin(name, real, {key: NAMES[key] for key in NAMES if not hasattr(real, key)}, cache=True)


MODULES = {
    'numpy': _module,
    'numpy.core': _core,
    'numpy.core.numeric': _core,
    'numpy.core.multiarray': _core,
    'numpy.core.umath': _core,
    'numpy.core.fromnumeric': _core,
    'numpy.core.numerictypes': _core,
    'numpy.core.umath_tests': lambda name: _testing(),
    'numpy.random': extended(
        None, cache=True, random_integers=_gone('random.random_integers', lambda: _random_integers)
    ),
    'numpy.linalg': extended(None, cache=True, linalg=lambda: _np().linalg),
    'numpy.linalg.linalg': extended('numpy.linalg', cache=True),
    'numpy.testing': extended(
        None,
        cache=True,
        rand=_gone('testing.rand', lambda: _np().random.rand),
        run_module_suite=lambda: lambda *args, **kwargs: None,
        dec=lambda: importlib.import_module('numpy.testing'),
    ),
    'numpy.lib': extended(None, cache=True, pad=lambda: _np().pad),
}


def _random_integers(low, high=None, size=None):
    numpy = _np()
    return numpy.random.randint(1, low + 1, size) if high is None else numpy.random.randint(low, high + 1, size)


def _testing():
    raise ImportError('numpy.core.umath_tests is not there any more')
