"""Pickles that others wrote (optimizer states), read without executing anything that they name.

A pickle is a program.  This reader runs it with what it may touch written down here:

- plain values: None, numbers, text, bytes; list, tuple, dict, set, frozenset, OrderedDict
- NumPy scalars and arrays of numbers or text, and dtypes (no objects, no structures: their state holds raw pointers)
- the classes that the caller registers

Everything else is refused by name.  Also refused is what needs no forbidden name to do harm: calling or changing
anything but a registered class's own new instance, sizes that are not in the file, keys so deeply nested that hashing
them never ends, and values that refer to one another so often (or to themselves) that whoever visits each of them as if
it were there once for each reference would never come to an end: sixty pairs can stand for 2**60 values.  Python 2's
pickles (protocol 0 to 2) are read as well.
"""

from __future__ import annotations

import math
import pickletools
import re
import types
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mxnet._files import limits
from mxnet._wording import plain
from mxnet.base import MXNetError

__all__ = ["load"]

_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}  # as Python 2 called them
_NUMPY_TYPES = (
    "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
_DTYPE = re.compile(r"[<>=|]?(b1|[iu][1248]|f[248]|c(8|16)|[SU]\d{1,9}|\?)")
_MAX_NDIM = 32
_MAX_KEY = 64


def load(
    data: bytes | bytearray | memoryview,
    extra_classes: Mapping[tuple[str, str], type] | None = None,
    where: str = "pickle",
) -> Any:
    """The object in a pickle.

    extra_classes: {(module, name): class}, with the names as the pickle has them.  A class is called with arguments
        from the file or made by `__new__`; then its `__setstate__` gets the state or, where it has none, its
        attributes are set.  Both must bear any value.
    where: what errors call this pickle.
    """
    machine = _Machine(extra_classes or {})
    try:
        found = machine.run(bytes(data))
        _check_references(found, len(data))
        return found
    except _Refused as error:
        raise MXNetError(f"{where}: byte {machine.position}: refused to unpickle {error}") from None
    except MXNetError as error:
        raise MXNetError(f"{where}: byte {machine.position}: {error}") from error
    except Exception as error:
        # the words of others come only where they speak of the file, not of Python's lists and arguments
        reason = _WRONG.get(type(error)) or plain(error)
        raise MXNetError(
            f"{where}: byte {machine.position}: not a whole pickle of plain values, arrays and known classes: {reason}"
        ) from error


_WRONG = {
    IndexError: "an instruction needs more values than there are",
    KeyError: "an instruction refers to a value that was not stored",
    TypeError: "something is made of values that it cannot be made of",
    AttributeError: "something is made of values that it cannot be made of",
    RecursionError: "its values are nested too deeply",
    MemoryError: "it asks for too much memory",
}


class _Refused(Exception):
    """Raised with the words that name what was refused."""


def _called(value: Any) -> str:
    """A name for an error message.  No repr: that of nested tuples can take forever, as can their hash."""
    if isinstance(value, str):
        return repr(value[:60])
    return getattr(value, "__qualname__", None) or f"a {type(value).__name__}"


_CODE = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_CONTAINERS = (list, tuple, dict, OrderedDict, set, frozenset)
_VISIT = 100  # bytes that a value takes, more or less, in whatever is made of it


def _check_references(value: Any, size: int) -> None:
    """Refuses values that are too many, seen as a tree, or too deep for functions that call themselves.

    Each container is visited once.  An instance of a class ends a branch, and its attributes are trees of their own.
    """
    totals: dict[int, tuple[int, int]] = {}  # id of a container -> (how many values it is as a tree, depth)
    roots, kept, seen = [value], [value], set()
    while roots:
        root = roots.pop()
        stack = [(root, iter(_parts(root)))]
        inside = {id(root)}
        sums = [(1, 1)]
        while stack:
            current, rest = stack[-1]
            part = next(rest, None)
            if part is None:
                stack.pop()
                inside.discard(id(current))
                count, depth = totals[id(current)] = sums.pop()
                if depth > limits.DEPTH:
                    raise _Refused(f"values that are nested {depth} deep: there is room for {limits.DEPTH}")
                limits.check(count * _VISIT, size, "a pickle", f"a {type(current).__name__} of {count:,} values")
            elif id(part[0]) in inside:
                raise _Refused(f"a {type(part[0]).__name__} that is inside of itself")
            elif type(part[0]) in _CONTAINERS and id(part[0]) not in totals:
                inside.add(id(part[0]))
                stack.append((part[0], iter(_parts(part[0]))))
                sums.append((1, 1))
                continue
            else:
                if callable(part[0]) and part[0] not in _VALUE_TYPES and isinstance(part[0], _CODE):
                    raise _Refused(f"{_called(part[0])} as a value, which is not what a file holds")
                if type(part[0]) not in _CONTAINERS and hasattr(part[0], "__dict__") and id(part[0]) not in seen:
                    seen.add(id(part[0]))
                    own = vars(part[0])
                    kept.append(own)
                    roots.append(own)
                count, depth = totals.get(id(part[0]), (1, 0))
            if sums:
                sums[-1] = sums[-1][0] + count, max(sums[-1][1], depth + 1)


def _parts(value: Any) -> Any:
    """The values in a container, each in a tuple of its own, so that none of them means the end."""
    if isinstance(value, dict):
        return ((part,) for pair in value.items() for part in pair)
    return ((part,) for part in value) if isinstance(value, _CONTAINERS) else ()


# ---- what a pickle may call ----------------------------------------------------------------------------------------


def _bytearray(data: bytes | str = b"", encoding: str = "latin-1") -> bytearray:
    """bytearray itself would take a number and allocate that many bytes."""
    return bytearray(_bytes(data, encoding))


def _bytes(data: bytes | str = b"", encoding: str = "latin-1") -> bytes:
    """bytes, and the call by which protocol 2 writes them."""
    if isinstance(data, str) and encoding in ("latin1", "latin-1"):
        return data.encode("latin-1")
    if isinstance(data, (bytes, bytearray)):
        return bytes(data)
    raise _Refused(f"bytes of {type(data).__name__}")


def _complex(real: float, imag: float) -> complex:
    if type(real) is not float or type(imag) is not float:
        raise _Refused("a complex number of something else than two floats")
    return complex(real, imag)


def _set(items: list = []) -> set:  # noqa: B006
    return set(_checked_keys(items))


def _frozenset(items: list = []) -> frozenset:  # noqa: B006
    return frozenset(_checked_keys(items))


def _ordered_dict(pairs: list = []) -> OrderedDict:  # noqa: B006
    if type(pairs) is not list or any(type(pair) not in (list, tuple) or len(pair) != 2 for pair in pairs):
        raise _Refused("an OrderedDict of something else than pairs")
    _checked_keys([pair[0] for pair in pairs])
    return OrderedDict(pairs)


def _dtype(code: str, align: bool = False, copy: bool = True) -> np.dtype:
    if isinstance(code, bytes):
        code = code.decode("latin-1")
    if not isinstance(code, str) or not _DTYPE.fullmatch(code):
        raise _Refused(f"the NumPy dtype {_called(code)}: only numbers and text")
    return np.dtype(code, copy=True)


def _empty_array(kind: type, shape: tuple, code: bytes | str) -> np.ndarray:
    """What NumPy's `_reconstruct` makes before the state comes."""
    if kind is not np.ndarray or shape != (0,):
        raise _Refused("a NumPy array that is not made empty first")
    return np.empty(0, np.int8)


def _array_of_buffer(data: bytes, dtype: np.dtype, shape: tuple, order: Any) -> np.ndarray:
    """What protocol 5 calls."""
    dtype = _checked_dtype(dtype)
    data = _checked_data(data, dtype, shape)
    if order not in ("C", "F"):
        raise _Refused(f"a NumPy array in the order {_called(order)}")
    return np.ndarray(shape, dtype, bytearray(data), order=order)


def _scalar(dtype: np.dtype, data: bytes | str) -> Any:
    dtype = _checked_dtype(dtype)
    return np.frombuffer(_checked_data(data, dtype, ()), dtype)[0]


def _checked_dtype(dtype: Any) -> np.dtype:
    if isinstance(dtype, np.dtype) and dtype.itemsize:  # _dtype has made it
        return dtype
    raise _Refused(f"a NumPy array of {_called(dtype)}")


def _checked_data(data: Any, dtype: np.dtype, shape: Any) -> bytes:
    if type(shape) is not tuple or len(shape) > _MAX_NDIM or any(type(n) is not int or n < 0 for n in shape):
        raise _Refused("a NumPy array of a shape that is not some numbers")
    if math.prod(max(n, 1) for n in shape) * dtype.itemsize >= 1 << 63:
        raise _Refused(f"a NumPy array of shape {shape}: too large")
    data = _bytes(data)
    if len(data) != math.prod(shape) * dtype.itemsize:
        raise _Refused(f"a NumPy array of shape {shape} and {dtype} with {len(data)} bytes")
    return data


def _checked_keys(keys: Any) -> Any:
    """Refuses keys whose hash takes forever (tuples of the same tuples of the same tuples ...) or runs code."""
    if type(keys) not in (list, tuple):
        raise _Refused(f"a set of {type(keys).__name__}")
    for key in keys:
        waiting, count = [key], 0
        while waiting:
            item = waiting.pop()
            count += 1
            if type(item) is tuple and count + len(waiting) + len(item) <= _MAX_KEY:
                waiting.extend(item)
            elif type(item) not in (str, bytes, int, float, bool, complex, type(None)) and type(item) not in _SCALARS:
                raise _Refused(f"a dictionary or set with a key of type {type(item).__name__}")
    return keys


_SCALARS = {getattr(np, name) for name in _NUMPY_TYPES}
_FUNCTIONS: dict[tuple[str, str], Callable[..., Any]] = {
    ("builtins", "bytearray"): _bytearray,
    ("builtins", "bytes"): _bytes,
    ("builtins", "complex"): _complex,
    ("builtins", "frozenset"): _frozenset,
    ("builtins", "set"): _set,
    ("_codecs", "encode"): _bytes,
    ("collections", "OrderedDict"): _ordered_dict,
    ("numpy", "dtype"): _dtype,
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _empty_array for core in ("core", "_core")},
    **{(f"numpy.{core}.multiarray", "scalar"): _scalar for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): _array_of_buffer for core in ("core", "_core")},
}
# May stand in a pickle, but not be called.
_NAMES: dict[tuple[str, str], Any] = {
    ("builtins", "object"): object,
    ("numpy", "ndarray"): np.ndarray,
    **{("numpy", name): getattr(np, name) for name in _NUMPY_TYPES},
}


_VALUE_TYPES = set(_NAMES.values())


# ---- the machine ---------------------------------------------------------------------------------------------------

_VALUES = {
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT",
    "STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8",
    "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8",
}  # fmt: skip
_NEW: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False,
    "EMPTY_LIST": list, "EMPTY_TUPLE": tuple, "EMPTY_DICT": dict, "EMPTY_SET": set,
}  # fmt: skip


# bytes that an instruction makes, more or less; 100 stands for the time that it takes
_COSTS = {"EMPTY_SET": 240, "FROZENSET": 240, "REDUCE": 400, "NEWOBJ": 400, "BUILD": 400, "MEMOIZE": 200}


class _Machine:
    """Runs a pickle's instructions.  `pickletools` decodes them and compares every length with the bytes there are."""

    def __init__(self, classes: Mapping[tuple[str, str], type]) -> None:
        self._types = set(classes.values())
        functions = {**_FUNCTIONS, ("copyreg", "_reconstructor"): self._reconstruct, **classes}
        self._names = {**_NAMES, **functions}
        self._callable = {id(function) for function in functions.values()}
        self._stack: list[Any] = []
        self._outer: list[list[Any]] = []  # the stacks below each open MARK
        self._memo: dict[int, Any] = {}
        self.position = 0

    def run(self, data: bytes) -> Any:
        room, spent = limits.allowance(len(data)), 0
        for instruction, argument, position in pickletools.genops(data):
            self.position = position or 0
            name = instruction.name
            spent += _COSTS.get(name, 100)
            if spent > room:
                limits.check(spent, len(data), "a pickle", f"what its instructions make up to byte {self.position}")
            if name in _VALUES:
                self._stack.append(argument)
            elif name in _NEW:
                self._stack.append(_NEW[name]())
            elif name == "STOP":
                return self._stack.pop()
            else:
                step = getattr(self, f"_{name.lower()}", None)
                if step is None:  # old-style instances, the extension registry, objects outside of the file
                    raise _Refused(f"the instruction {name}, which no state file needs")
                step(argument)
        raise _Refused("a pickle without an end")

    def _since_mark(self) -> list[Any]:
        items, self._stack = self._stack, self._outer.pop()
        return items

    def _ignore(self, _: Any) -> None:
        pass

    _proto = _frame = _ignore

    def _mark(self, _: Any) -> None:
        self._outer.append(self._stack)
        self._stack = []

    def _pop(self, _: Any) -> None:
        if self._stack:
            self._stack.pop()
        else:
            self._since_mark()

    def _pop_mark(self, _: Any) -> None:
        self._since_mark()

    def _dup(self, _: Any) -> None:
        self._stack.append(self._stack[-1])

    def _put(self, index: int) -> None:
        self._memo[index] = self._stack[-1]

    _binput = _long_binput = _put

    def _memoize(self, _: Any) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def _get(self, index: int) -> None:
        self._stack.append(self._memo[index])

    _binget = _long_binget = _get

    # Containers.  Pickle would call `append` or `__setitem__` of whatever lies on the stack: here only of real ones.

    def _tuple(self, _: Any) -> None:
        items = self._since_mark()
        self._stack.append(tuple(items))

    def _tuple1(self, _: Any) -> None:
        self._stack[-1:] = [(self._stack[-1],)]

    def _tuple2(self, _: Any) -> None:
        self._stack[-2:] = [(self._stack[-2], self._stack[-1])]

    def _tuple3(self, _: Any) -> None:
        self._stack[-3:] = [(self._stack[-3], self._stack[-2], self._stack[-1])]

    def _list(self, _: Any) -> None:
        items = self._since_mark()
        self._stack.append(items)

    def _append(self, _: Any) -> None:
        item = self._stack.pop()
        self._container(list).append(item)

    def _appends(self, _: Any) -> None:
        items = self._since_mark()
        self._container(list).extend(items)

    def _dict(self, _: Any) -> None:
        items = self._since_mark()
        self._stack.append({})
        self._fill(items)

    def _setitem(self, _: Any) -> None:
        value = self._stack.pop()
        self._fill([self._stack.pop(), value])

    def _setitems(self, _: Any) -> None:
        self._fill(self._since_mark())

    def _fill(self, items: list[Any]) -> None:
        target = self._container(dict, OrderedDict)
        target.update(zip(_checked_keys(items[::2]), items[1::2], strict=True))

    def _additems(self, _: Any) -> None:
        items = self._since_mark()
        self._container(set).update(_checked_keys(items))

    def _frozenset(self, _: Any) -> None:
        items = self._since_mark()
        self._stack.append(_frozenset(items))

    def _container(self, *kinds: type) -> Any:
        target = self._stack[-1]
        if type(target) not in kinds:
            raise _Refused(f"a {type(target).__name__} that is filled like a {kinds[0].__name__}")
        return target

    # Names, calls and states.

    def _global(self, names: str) -> None:
        module, _, name = names.partition(" ")
        self._push_named(module, name)

    def _stack_global(self, _: Any) -> None:
        name = self._stack.pop()
        self._push_named(self._stack.pop(), name)

    def _push_named(self, module: Any, name: Any) -> None:
        if type(module) is not str or type(name) is not str:
            raise _Refused("a name that is not text")
        key = (_MODULES.get(module, module), name)
        if key not in self._names:
            raise _Refused(f"{module}.{name}")
        self._stack.append(self._names[key])

    def _reduce(self, _: Any) -> None:
        arguments = self._stack.pop()
        function = self._stack.pop()
        if id(function) not in self._callable or type(arguments) is not tuple:
            raise _Refused(f"a call of {_called(function)}")
        self._stack.append(function(*arguments))

    def _newobj(self, _: Any) -> None:
        arguments = self._stack.pop()
        cls = self._stack.pop()
        if type(arguments) is not tuple:
            raise _Refused(f"a new instance made from a {type(arguments).__name__}")
        self._stack.append(self._instance(cls, *arguments))

    def _reconstruct(self, cls: Any, base: Any, state: Any) -> Any:
        """How protocols 0 and 1 make an instance of an ordinary class."""
        if base is not object or state is not None:
            raise _Refused("an instance of a built-in type's subclass")
        return self._instance(cls)

    def _instance(self, cls: Any, *arguments: Any) -> Any:
        if not isinstance(cls, type) or cls not in self._types:
            raise _Refused(f"a new instance of {_called(cls)}")
        return cls.__new__(cls, *arguments)

    def _build(self, _: Any) -> None:
        state = self._stack.pop()
        target: Any = self._stack[-1]
        if type(target) is np.ndarray:
            _set_array(target, state)
        elif isinstance(target, np.dtype):
            _set_dtype(target, state)
        elif type(target) not in self._types:
            raise _Refused(f"a change of a {type(target).__name__}")
        elif hasattr(type(target), "__setstate__"):
            target.__setstate__(state)
        elif type(state) is dict and all(type(key) is str and not key.startswith("__") for key in state):
            vars(target).update(state)
        else:
            raise _Refused(f"a state of {type(target).__name__} that is not a dictionary of attributes")


def _set_array(array: Any, state: Any) -> None:
    if type(state) is not tuple or len(state) not in (4, 5):
        raise _Refused("a state of a NumPy array that is not a plain one")
    shape, dtype, fortran, data = state[-4:]
    data = _checked_data(data, _checked_dtype(dtype), shape)
    array.__setstate__((1, shape, dtype, bool(fortran), data))


def _set_dtype(dtype: Any, state: Any) -> None:
    """Only the byte order may differ from what the dtype's own name says."""
    own = dtype.__reduce__()[2]
    if type(state) is not tuple or len(state) != len(own) or state[1] not in ("<", ">", "|", "="):
        raise _Refused("a state of a NumPy dtype that is not a plain one")
    if (*own[:1], state[1], *own[2:]) != state:
        raise _Refused("a state of a NumPy dtype that is not a plain one")
    dtype.__setstate__(state)
