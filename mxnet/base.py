"""What everything else stands on: the error types and small helpers.  Imports neither torch nor NumPy.

`integer_types`, `numeric_types` and `mx_real_t` have NumPy's types among them and are made when first asked for.
"""
from __future__ import annotations

import ctypes
import os
import re
import sys
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._names import kind_of

if TYPE_CHECKING:
    pass

__all__ = ['MXNetError']

string_types: Any = (str,)
# what the functions of upstream's C library took; for the first, see NDArray.handle
NDArrayHandle = SymbolHandle = ExecutorHandle = CachedOpHandle = OpHandle = KVStoreHandle = RecordIOHandle \
    = DataIterHandle = DataIterCreatorHandle = FunctionHandle = OpCreatorHandle = RtcHandle = CudaModuleHandle \
    = CudaKernelHandle = ProfileHandle = DLPackHandle = ctypes.c_void_p


def __getattr__(name):
    if name not in ('integer_types', 'numeric_types', 'mx_real_t'):
        from ._names import no_attribute
        raise no_attribute(__name__, name)
    import numpy
    globals().update(integer_types=(int, numpy.int32, numpy.int64), numeric_types=(float, int, numpy.generic),
                     mx_real_t=numpy.float32)
    return globals()[name]


# functions of upstream's C library, by name; `ndarray/_c_functions.py` fills this in when it is loaded
C_FUNCTIONS: dict[str, Any] = {}


class _Functions:
    """The functions of upstream's C library that programs call by hand, in Python (`ndarray/_c_functions.py`)."""

    def __getattr__(self, name):
        if name not in C_FUNCTIONS:
            raise AttributeError(f'there is no C library under this package, and {name} is not among the functions '
                                 f'that are there in Python: {", ".join(sorted(C_FUNCTIONS))}')
        return C_FUNCTIONS[name]


_LIB = _Functions()


class _NullType:
    """The default of derived functions: "not given", which None is not."""

    _only = None

    def __new__(cls):
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self):
        return '_Null'

    def __reduce__(self):
        return '_Null'


_Null: Any = _NullType()


# ---------------------------------------------------------------------- errors
_ACTED_UPON = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]')


class MXNetError(RuntimeError):
    """Raised for every mistake that MXNet itself reports.

    Its text may quote names of a file.  Characters in them that a terminal would act upon (control characters, ANSI
    sequences, marks that turn the direction of writing) are escaped.
    """

    def __str__(self) -> str:
        text = super().__str__()
        return _ACTED_UPON.sub(lambda found: found[0].encode('unicode_escape').decode(), text)


class FileError(MXNetError, ValueError, AssertionError):
    """What is wrong with what a file holds, where MXNet 1.9.1 raised a ValueError or an AssertionError."""


class MissingFile(FileError, FileNotFoundError):
    """A file or folder that is not there; programs catch it as one or the other."""


class UnknownName(MXNetError, AssertionError):
    """A name that no class is registered under; MXNet 1.9.1 raised an AssertionError."""


class UnknownDtype(MXNetError, TypeError):
    """What names no dtype; MXNet 1.9.1 raised NumPy's TypeError."""


class OutOfRange(MXNetError, IndexError):
    """An index that no element has; programs catch it as one or the other."""


error_types: dict[str, type] = {}


def register_error(func_name: Any = None, cls: type | None = None) -> Any:
    """Enters an error class into `error_types`: as a decorator, with or without a name, or as a call with both."""
    if isinstance(func_name, type):
        func_name, cls = func_name.__name__, func_name

    def register(error):
        error_types[func_name or error.__name__] = error
        return error
    return register if cls is None else register(cls)


class _NotSupported(MXNetError):
    """A function of NDArray that another kind of array lacks."""

    _for = ''

    def __init__(self, function: Callable[..., Any], alias: str | None, *args: Any) -> None:
        super().__init__(*[str(type(a)) for a in args])
        self.function: str = function.__name__
        self.alias = alias

    def __str__(self) -> str:
        operator = f' (operator {self.alias})' if self.alias and self.alias != self.function else ''
        arguments = f', called with {", ".join(self.args)},' if self.args else ''
        return f'{self.function}{operator}{arguments} is not {self._for}'


@register_error
class NotImplementedForSymbol(_NotSupported):
    """A function of NDArray that a Symbol does not have."""

    _for = 'available for a Symbol, which has no values. Call it on an NDArray, such as a result of the network'

    def __str__(self) -> str:
        if self.function == 'bool':
            return ('the truth value of a Symbol is not known, because a symbol has no values. In a hybridized block, '
                    'if, while, and, or and not cannot depend on values: use F.where, F.contrib.cond or '
                    'F.contrib.while_loop, or do not hybridize the block')
        return super().__str__()


class NotSupportedForSparseNDArray(_NotSupported):
    """A function of NDArray that does not work on a sparse one."""

    _for = 'available for a sparse array. Convert it with tostype("default")'


def c2pyerror(err_msg: str) -> Any:
    """-> (message, name of the error type or None) of an error text of a C library.

    A trace is moved to the front and turned around, so that it reads as Python's do.
    """
    trace: Any
    message, trace = [], []
    in_trace = False
    lines = err_msg.removesuffix('\n').split('\n')
    for line in lines:
        in_trace = in_trace and line.startswith('  ')
        if in_trace:
            trace.insert(0, line)
        elif line.startswith('Stack trace'):
            in_trace = True
        else:
            message.append(line)
    if trace:
        trace.insert(0, 'Traceback (most recent call last):')
    name, colon, _ = lines[0].partition(':')
    named = colon and all(c.isalnum() or c in '_.' for c in name)
    return '\n'.join(trace + message), name if named else None


def get_last_ffi_error() -> Any:
    """The error of the last function of `_LIB` that returned -1 on this thread."""
    said = C_FUNCTIONS.get('MXGetLastError')
    return MXNetError(said and said().decode() or 'a C function reported an error')


def check_call(ret: int) -> None:
    """Raises an error unless a C function returned 0."""
    if ret != 0:
        raise get_last_ffi_error()


# ---------------------------------------------------------------------- folders
def data_dir_default() -> str:
    """The folder for downloads where MXNET_HOME is not set."""
    if os.name == 'nt':
        return os.path.join(os.environ['APPDATA'], 'mxnet')
    return os.path.join(os.path.expanduser('~'), '.mxnet')


def data_dir() -> str:
    """The folder for downloaded models and data sets: $MXNET_HOME, or else `~/.mxnet`."""
    return os.environ.get('MXNET_HOME', data_dir_default())


# ---------------------------------------------------------------------- classes
def with_metaclass(meta: Any, *bases: Any) -> Any:
    """A base for `class X(with_metaclass(Meta, Base)):` that gives X the metaclass and exactly these bases."""
    class Maker(type):
        def __new__(cls, name, _, body):
            return types.new_class(name, bases, {'metaclass': meta}, lambda namespace: namespace.update(body))

    return type.__new__(Maker, 'Maker', (), {})


class _MXClassPropertyDescriptor:
    """What `classproperty` makes of a function."""

    def __init__(self, getter):
        self._getter, self._setter = getter, None

    def __get__(self, instance, owner=None):
        return self._getter(owner or type(instance))

    def __set__(self, target, value):
        cls = target if isinstance(target, type) else type(target)
        if self._setter is None:
            raise MXNetError(f'a class property of {cls.__name__} has no setter')
        self._setter(cls, value)

    def setter(self, function):
        """Decorates the function that is called when the property is set."""
        self._setter = _plain(function)
        return self


class _MXClassPropertyMetaClass(type):
    """Lets the setter of a class property see `Class.name = value`, which would else replace the property."""

    def __setattr__(cls, name, value):
        found = cls.__dict__.get(name)
        if isinstance(found, _MXClassPropertyDescriptor):
            found.__set__(cls, value)
        else:
            super().__setattr__(name, value)


def classproperty(func: Callable[..., Any]) -> Any:
    """A property of a class: the function is called with the class.

    >>> class Limits:
    ...     @mx.base.classproperty
    ...     def name(cls):
    ...         return cls.__name__.lower()
    >>> Limits.name
    'limits'
    """
    return _MXClassPropertyDescriptor(_plain(func))


def _plain(function):
    """A function of the class, from a plain one, a classmethod or a staticmethod."""
    if isinstance(function, staticmethod):
        return lambda cls, *args: function.__func__(*args)
    return function.__func__ if isinstance(function, classmethod) else function


# ---------------------------------------------------------------------- docstrings
def build_param_doc(arg_names: Sequence[str], arg_types: list[str], arg_descs: list[str],
                    remove_dup: bool = True) -> str:
    """The "Parameters" section of a docstring; `num_args` is left out, and each name comes once if `remove_dup`."""
    lines = ['Parameters', '----------']
    seen = {'num_args'}
    for name, kind, description in zip(arg_names, arg_types, arg_descs):
        if name in seen:
            continue
        if remove_dup:
            seen.add(name)
        lines.append(f'{name} : {kind}')
        if description:
            lines.append(f'    {description}')
    return '\n'.join(lines) + '\n'


def add_fileline_to_docstring(module: Any, incursive: bool = True) -> None:
    """Adds to the docstring of each function of a module (and, if `incursive`, of its classes) where it is defined."""
    import inspect  # slow to import, and few call this
    if isinstance(module, str):
        module = sys.modules[module]
    for _, member in inspect.getmembers(module):
        if inspect.isclass(member):
            if incursive:
                add_fileline_to_docstring(member, False)
        elif inspect.isfunction(member) or inspect.ismethod(member):
            function = getattr(member, '__func__', member)
            if function.__doc__ is None or 'From:' in function.__doc__:
                continue
            code = function.__code__
            if os.path.exists(code.co_filename):
                function.__doc__ += f'\n\nFrom:{code.co_filename}:{code.co_firstlineno}'


def _as_list(obj):
    """Lists and tuples as they are, anything else in a list of one."""
    return obj if isinstance(obj, (list, tuple)) else [obj]


# ---------------------------------------------------------------------- C types, for programs that call C themselves
mx_int = ctypes.c_int
mx_uint = ctypes.c_uint
mx_uint64 = ctypes.c_uint64
mx_int64 = ctypes.c_int64
mx_float = ctypes.c_float
mx_float_p: Any = ctypes.POINTER(mx_float)


class MXCallbackList(ctypes.Structure):
    """A list of C callbacks and a context for each."""

    _fields_ = [('num_callbacks', ctypes.c_int),
                ('callbacks', ctypes.POINTER(ctypes.CFUNCTYPE(ctypes.c_int))),
                ('contexts', ctypes.POINTER(ctypes.c_void_p))]


def py_str(x: Any) -> str:
    """Text from the bytes of a C string."""
    return x if isinstance(x, str) else x.decode('utf-8')       # hooks get text here


def c_str(string: str) -> Any:
    """A C string.

    >>> mx.base.c_str('abc').value
    b'abc'
    """
    return ctypes.c_char_p(string.encode('utf-8'))


def c_str_array(strings: list[str]) -> Any:
    """A C array of C strings."""
    return (ctypes.c_char_p * len(strings))(*[s.encode('utf-8') for s in strings])


def c_array(ctype: Any, values: Any) -> Any:
    """A C array of a C type with these values.

    >>> list(mx.base.c_array(mx.base.mx_uint, [1, 2]))
    [1, 2]
    """
    return (ctype * len(values))(*values)


def c_array_buf(ctype: Any, buf: bytes) -> Any:
    """A C array that shares the memory of a writable buffer, such as an `array.array` of the same item size."""
    return (ctype * len(buf)).from_buffer(buf)


def c_handle_array(objs: Any) -> Any:
    """A C array of the `handle` of each object."""
    return (ctypes.c_void_p * len(objs))(*[o.handle for o in objs])


def ctypes2buffer(cptr: Any, length: int) -> Any:
    """A bytearray with a copy of `length` bytes that a char pointer points to."""
    if not isinstance(cptr, ctypes.POINTER(ctypes.c_char)):
        raise TypeError(f'ctypes2buffer takes a pointer to c_char, not {kind_of(cptr)}')
    return bytearray(ctypes.string_at(cptr, length))


def ctypes2numpy_shared(cptr: Any, shape: Sequence[int]) -> Any:
    """A NumPy array that shares the memory a float pointer points to."""
    if not isinstance(cptr, mx_float_p):
        raise RuntimeError(f'ctypes2numpy_shared takes a pointer to c_float, not {kind_of(cptr)}')
    import numpy
    return numpy.ctypeslib.as_array(cptr, tuple(shape))
