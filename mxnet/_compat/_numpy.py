"""NumPy as programs of 2015 to 2020 knew it: names and behaviours that NumPy 1.20 to 2.4 removed."""

import functools
import importlib
import inspect
import os
import pathlib
import pickle
import sys
import types

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


def _frombuffer(buffer, *args, **kwargs):
    from ._bytes2 import bytes_of

    numpy = _np()
    if isinstance(buffer, str):
        report.note('numpy-frombuffer', 'numpy.frombuffer of a text, as in Python 2')
        buffer = bytes_of(buffer)
    return numpy.frombuffer(buffer, *args, **kwargs)


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


def _renamed(name, old, today):
    """A function one of whose keywords has another name today."""
    function = getattr(_np(), name)

    @functools.wraps(function)
    def call(*args, **kwargs):
        if old in kwargs:
            report.note(f'numpy-{name}-{old}', f'the argument {old} of numpy.{name}, {today} today')
            value = kwargs.pop(old)
            if value is not None:
                kwargs[today] = value
        return function(*args, **kwargs)

    return call


def _listed(name):
    """A function that gave a list, and gives a tuple since NumPy 2."""
    function = getattr(_np(), name)

    @functools.wraps(function)
    def call(*args, **kwargs):
        found = function(*args, **kwargs)
        return list(found) if type(found) is tuple else found

    return call


def _unique(values, return_index=False, return_inverse=False, return_counts=False, axis=None, **kwargs):
    found = _np().unique(values, return_index, return_inverse, return_counts, axis=axis, **kwargs)
    if not return_inverse:
        return found
    parts = list(found)
    at = 1 + bool(return_index)
    parts[at] = parts[at].reshape(-1)           # NumPy 2 gives it the shape of the values
    return tuple(parts)


def _nonzero(values):
    numpy = _np()
    return numpy.nonzero(numpy.atleast_1d(values) if numpy.ndim(values) == 0 else values)


def _bincount(values, weights=None, minlength=None):
    return _np().bincount(values, weights, minlength or 0)


def _set_printoptions(precision=None, threshold=None, *args, **kwargs):
    if threshold in ('nan', 'inf') or isinstance(threshold, float) and threshold != threshold:
        report.note('numpy-threshold', 'set_printoptions(threshold=nan), which shows all elements')
        threshold = sys.maxsize
    return _np().set_printoptions(precision, threshold, *args, **kwargs)


def _saving(name):
    """`save` and `savez`, also of lists of different lengths."""
    function = getattr(_np(), name)

    @functools.wraps(function)
    def call(file, *values, **named_values):
        try:
            return function(file, *values, **named_values)
        except ValueError as error:
            if 'inhomogeneous' not in str(error):
                raise
            array = _array('asarray')

            def made(value):
                return array(value) if isinstance(value, (list, tuple)) else value

            return function(file, *map(made, values), **{key: made(value) for key, value in named_values.items()})

    return call


def _lookfor(*args, **kwargs):
    print('numpy.lookfor has been removed')


def _source(thing, output=None):
    import inspect

    print(inspect.getsource(thing), file=output)


def _who(names=None):
    numpy = _np()
    for name, value in (names or sys._getframe(1).f_globals).items():
        if isinstance(value, numpy.ndarray):
            print(name, value.shape, value.nbytes, value.dtype)


def _mach_ar():
    numpy = _np()
    limits = numpy.finfo(float)
    names = 'eps epsneg tiny huge precision resolution xmin xmax iexp machep negep'.split()
    own = {name: getattr(limits, name) for name in names if hasattr(limits, name)}
    return lambda *args, **kwargs: types.SimpleNamespace(epsilon=limits.eps, huge=limits.max, xmax=limits.max, **{
        key: value for key, value in own.items() if key not in ('huge', 'xmax')})


def _compat(name=None):
    """`numpy.compat`: what bridged Python 2 and 3."""
    module = types.ModuleType('numpy.compat')
    module.__dict__.update(
        long=int, unicode=str, basestring=str, integer_types=(int,), bytes=bytes, strchar='U', sys=sys,
        os_PathLike=os.PathLike, os_fspath=os.fspath, Path=pathlib.Path, pickle=pickle,
        asbytes=lambda value: value if isinstance(value, bytes) else str(value).encode('latin1'),
        asstr=lambda value: value.decode('latin1') if isinstance(value, bytes) else str(value),
        asunicode=lambda value: value.decode('latin1') if isinstance(value, bytes) else str(value),
        asbytes_nested=lambda values: [str(v).encode('latin1') for v in values],
        asunicode_nested=lambda values: [str(v) for v in values],
        getexception=lambda: sys.exc_info()[1], isfileobj=lambda value: hasattr(value, 'fileno'),
        open_latin1=lambda path, mode='r': open(path, mode, encoding='iso-8859-1'),
        is_pathlib_path=lambda value: isinstance(value, pathlib.Path), getargspec=inspect.getfullargspec)
    module.__dict__['py3k'] = module
    return module


def _financial(name):
    """Functions of finance are a package of their own since NumPy 1.20."""

    def find():
        try:
            return getattr(importlib.import_module('numpy_financial'), name)
        except ImportError:
            raise AttributeError(
                f'numpy.{name} is in the package numpy_financial today: pip install numpy-financial') from None

    return find


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
# what stood in the module's namespace without being NumPy's own
_VISITORS = {name: functools.partial(importlib.import_module, name) for name in ('math', 'os', 'sys', 'warnings', 're')}
_ERRORS = ('AxisError', 'ComplexWarning', 'ModuleDeprecationWarning', 'RankWarning', 'TooHardError',
           'VisibleDeprecationWarning')
_CONSTANTS = {
    'ALLOW_THREADS': 1, 'BUFSIZE': 8192, 'UFUNC_BUFSIZE_DEFAULT': 8192, 'UFUNC_PYVALS_NAME': 'UFUNC_PYVALS',
    'CLIP': 0, 'WRAP': 1, 'RAISE': 2, 'MAXDIMS': 32, 'MAY_SHARE_BOUNDS': 0, 'MAY_SHARE_EXACT': -1,
    'ERR_IGNORE': 0, 'ERR_WARN': 1, 'ERR_RAISE': 2, 'ERR_CALL': 3, 'ERR_PRINT': 4, 'ERR_LOG': 5, 'ERR_DEFAULT': 521,
    'FPE_DIVIDEBYZERO': 1, 'FPE_OVERFLOW': 2, 'FPE_UNDERFLOW': 4, 'FPE_INVALID': 8, 'FLOATING_POINT_SUPPORT': 1,
    'SHIFT_DIVIDEBYZERO': 0, 'SHIFT_OVERFLOW': 3, 'SHIFT_UNDERFLOW': 6, 'SHIFT_INVALID': 9,
    'tracemalloc_domain': 389047, 'use_hugepage': 1, 'kernel_version': (0, 0),
}
_OTHERS = {
    **{name: lambda name=name: getattr(importlib.import_module('numpy.exceptions'), name) for name in _ERRORS},
    **{name: lambda value=value: value for name, value in _CONSTANTS.items()},
    **{name: _financial(name)
       for name in ('fv', 'pmt', 'rate', 'npv', 'irr', 'nper', 'ppmt', 'ipmt', 'pv', 'mirr')},
    'compat': _compat,
    'MachAr': _mach_ar,
    'lookfor': lambda: _lookfor,
    'source': lambda: _source,
    'who': lambda: _who,
    'DataSource': lambda: importlib.import_module('numpy.lib.npyio').DataSource,
    'Tester': lambda: object,
    'format_parser': lambda: _np().rec.format_parser,
    'chararray': lambda: _np().char.chararray,
    'unique1d': lambda: _unique,
    'intersect1d_nu': lambda: _np().intersect1d,
    'setmember1d': lambda: NAMES['in1d'](),
    'getbuffer': lambda: lambda value, *args: memoryview(value),
    'newbuffer': lambda: bytearray,
    'get_array_wrap': lambda: lambda *values: None,
    'deprecate_with_doc': lambda: lambda message: lambda function: function,
    'add_docstring': lambda: lambda *args: None,
    'add_newdoc': lambda: lambda *args: None,
    'add_newdoc_ufunc': lambda: lambda *args: None,
    **{name: lambda: lambda *args, **kwargs: None for name in ('alterdot', 'restoredot', 'seterrobj')},
    'geterrobj': lambda: lambda: [8192, 521, None],
    'set_numeric_ops': lambda: lambda **kwargs: {},
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
    'frombuffer': lambda: _frombuffer,
    'load': lambda: _load,
    'sum': lambda: _sum,
    'linspace': lambda: _linspace,
    **{name: functools.partial(_renamed, name, 'normed', 'density')
       for name in ('histogram', 'histogram2d', 'histogramdd')},
    **{name: functools.partial(_renamed, name, 'interpolation', 'method')
       for name in ('percentile', 'quantile', 'nanpercentile', 'nanquantile')},
    'reshape': functools.partial(_renamed, 'reshape', 'newshape', 'shape'),
    **{name: functools.partial(_listed, name)
       for name in ('meshgrid', 'broadcast_arrays', 'atleast_1d', 'atleast_2d', 'atleast_3d')},
    'unique': lambda: _unique,
    'nonzero': lambda: _nonzero,
    'bincount': lambda: _bincount,
    'set_printoptions': lambda: _set_printoptions,
    **{name: functools.partial(_saving, name) for name in ('save', 'savez', 'savez_compressed')},
    **{
        name: functools.partial(_of_iterators, name)
        for name in ('vstack', 'hstack', 'dstack', 'stack', 'column_stack', 'concatenate')
    },
    **{name: functools.partial(_whole_shape, name)
       for name in ('zeros', 'ones', 'empty', 'full', 'eye', 'identity', 'tri')},
}
# numpy.bool, long and str are names of NumPy 2 with other meanings, so they are noted as gone as well
NAMES: dict = {**{name: _gone(name, make) for name, make in {**_VISITORS, **_NUMBERS, **_FUNCTIONS, **_OTHERS}.items()},
         **_CHANGED}


def _module(name):
    # numbers print as numbers, not as np.float32(0.5)
    _np().set_printoptions(legacy='1.25')
    lenient_logging()
    module = Standin(name, _np(), NAMES, cache=True)
    # of `from numpy import *`, which never gave Python's modules or constants of C
    module.__dict__['__all__'] = [*dict.fromkeys((*_np().__all__, *_NUMBERS, *_FUNCTIONS))]
    return module


class _Moved(Standin):
    """A module of NumPy 1: that of today where there is one, and all public names of NumPy."""

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith('_'):
                raise
            from ._importing import standin

            try:
                return getattr(standin('numpy'), name)
            except AttributeError:
                raise AttributeError(f'module {self.__name__!r} has no attribute {name!r}') from None


def _moved(name):
    """The stand-in for a module of NumPy 1 that has another place today, or none."""
    import warnings

    parent, _, last = name.removeprefix('numpy.').rpartition('.')
    parent = parent.replace('core', '_core', 1)
    home = f'numpy.{parent}' if parent else 'numpy'
    real = None
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        # a place of today is read without its warning about the old one
        for today in (f'numpy._{last}', f'{home}._{last}_impl', f'{home}._{last}', f'{home}.{last}', home):
            try:
                real = importlib.import_module(today)
                break
            except ImportError:
                continue
        names = {key: NAMES[key] for key in NAMES if key not in _VISITORS and not hasattr(real, key)}
    module = _Moved(name, real, names, cache=True)
    module.__dict__['__all__'] = getattr(real, '__all__', None) or [n for n in dir(real) if not n.startswith('_')]
    return module


_MOVED = (
    *('core', 'matlib', 'add_newdocs', 'ctypeslib'),
    *(f'core.{name}' for name in (
        'numeric multiarray umath fromnumeric numerictypes shape_base function_base getlimits arrayprint machar '
        'einsumfunc defchararray records memmap _internal _methods overrides info').split()),
    *(f'lib.{name}' for name in (
        'arraypad arraysetops arrayterator financial function_base histograms index_tricks nanfunctions npyio '
        'polynomial scimath shape_base stride_tricks twodim_base type_check ufunclike user_array utils '
        'recfunctions').split()),
    *('linalg.linalg', 'linalg.info', 'matrixlib', 'matrixlib.defmatrix', 'fft.fftpack', 'fft.pocketfft', 'fft.helper'),
)


_OF_LENGTHS = ('rand', 'randn', 'random_sample', 'random', 'ranf', 'sample', 'permutation')


def _random(name):
    """`numpy.random`, whose functions took lengths that are floats."""
    real = importlib.import_module(name)

    def lenient(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except TypeError:
                # the size is the last argument, unless all of them are lengths
                fixed = 0 if function.__name__ in _OF_LENGTHS else max(len(args) - 1, 0)
                args = (*args[:fixed], *map(_whole_lengths, args[fixed:]))
                if 'size' in kwargs:
                    kwargs['size'] = _whole_lengths(kwargs['size'])
                found = function(*args, **kwargs)
                report.note('numpy-lengths', 'lengths that are floats, as before NumPy 1.12')
                return found

        return call

    drawn = {key for key in dir(real) if callable(getattr(real, key)) and not isinstance(getattr(real, key), type)}
    return Standin(name, real, {
        **{key: functools.partial(lenient, getattr(real, key)) for key in drawn - {'seed', 'shuffle', 'default_rng'}
           if not key.startswith('_')},
        'random_integers': _gone('random.random_integers', lambda: _random_integers),
    }, cache=True)


def _whole_lengths(value):
    if isinstance(value, float):
        return int(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_whole_lengths(v) for v in value)
    return value


def _test_names(name):
    testing = importlib.import_module('numpy.testing')
    import unittest

    marks = types.SimpleNamespace(
        skipif=unittest.skipIf, slow=lambda function: function, knownfailureif=lambda *args: lambda function: function,
        setastest=lambda flag=True: lambda function: function, deprecated=lambda *args: lambda function: function)
    return _Moved(name, testing, {
        'rand': _gone('testing.rand', lambda: _np().random.rand),
        'run_module_suite': lambda: lambda *args, **kwargs: None,
        'Tester': lambda: object,
        'dec': lambda: marks,
        'decorators': lambda: marks,
        'raises': lambda: importlib.import_module('mxnet._compat._packages')._raises,
    }, cache=True)


MODULES = {
    **{f'numpy.{name}': _moved for name in _MOVED},
    'numpy': _module,
    'numpy.core.umath_tests': lambda name: _testing(),
    'numpy.compat': _compat,
    'numpy.compat.py3k': _compat,
    'numpy.random': _random,
    'numpy.random.mtrand': extended(None, cache=True, random_integers=lambda: _random_integers),
    'numpy.linalg': extended(None, cache=True, linalg=lambda: _np().linalg),
    'numpy.testing': _test_names,
    'numpy.testing.utils': _test_names,
    'numpy.testing.decorators': _test_names,
    'numpy.testing.nosetester': _test_names,
    'numpy.lib': _moved,
    'numpy.dual': lambda name: _Moved(name, _np().linalg, {
        key: lambda key=key: getattr(_np().fft, key) for key in ('fft', 'fft2', 'fftn', 'ifft', 'ifft2', 'ifftn')}),
}


def _random_integers(low, high=None, size=None):
    numpy = _np()
    return numpy.random.randint(1, low + 1, size) if high is None else numpy.random.randint(low, high + 1, size)


def _testing():
    raise ImportError('numpy.core.umath_tests has been removed')
