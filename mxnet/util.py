"""NumPy semantics on and off, the environment, GPUs, and small helpers.

Two switches, both off at the start and both of one thread:

- shape (`set_np_shape`, `np_shape`, `use_np_shape`): `()` is the shape of a scalar and `(0, 2)` that of an empty array.
  When off, `()` and `0` mean "not known yet".
- array (`np_array`, `use_np_array`): Gluon makes `mx.np.ndarray` instead of `mx.nd.NDArray`.  It needs the first.

`set_np()`, `reset_np()` and `use_np` turn both.
"""
from __future__ import annotations

import functools
import inspect
import operator
import os
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import context as _context
from ._kinds import explain_kinds as _explain_kinds
from ._names import suggest_names as _suggest_names
from ._np_mode import np_ufunc_legal_option
from ._state import State, state
from .base import MXNetError

if TYPE_CHECKING:
    from ._typing import ArrayLike, DType, Path
    from .context import Context
    from .ndarray import NDArray

__all__ = ['default_array', 'get_cuda_compute_capability', 'get_gpu_count', 'get_gpu_memory', 'getenv', 'is_np_array',
           'is_np_shape', 'makedirs', 'np_array', 'np_shape', 'np_ufunc_legal_option', 'reset_np', 'set_module',
           'set_np', 'set_np_shape', 'setenv', 'use_np', 'use_np_array', 'use_np_shape', 'wrap_np_binary_func',
           'wrap_np_unary_func']


# --- the switches -----------------------------------------------------------------------------------------------------

# `set_np_shape(2)` means all threads. It sets the class attribute, which a thread reads that has no value of its own,
# so that looking at the switch stays one attribute access. A scope keeps and restores the thread's own value only.

def _own_np_shape():
    return state.__dict__.get('np_shape')


def _restore_own_np_shape(value):
    if value is None:
        state.__dict__.pop('np_shape', None)
    else:
        state.np_shape = value


def _refuse_arrays_without_shapes():
    if state.np_array:
        raise ValueError('NumPy shapes cannot be turned off while NumPy arrays are on: npx.reset_np() turns both off')


def is_np_shape() -> bool:
    """Whether shapes have NumPy's meaning in this thread."""
    return state.np_shape


def is_np_array() -> bool:
    """Whether Gluon makes `mx.np.ndarray` in this thread."""
    return state.np_array


def set_np_shape(active: bool) -> bool:
    """Turns NumPy shapes on or off in this thread and returns what was before.

    2 turns them on in all threads; False turns that off again, too.
    """
    mode = operator.index(active)
    if mode not in (0, 1, 2):
        raise ValueError(f'set_np_shape: active must be True, False or 2 (all threads), not {active!r}')
    previous = state.np_shape
    if mode:
        state.np_shape = True
        State.np_shape = State.np_shape or mode == 2
    else:
        _refuse_arrays_without_shapes()
        State.np_shape = False
        _restore_own_np_shape(None)
    return previous


def _set_np_array(active):
    previous, state.np_array = state.np_array, bool(active)
    return previous


def set_np(shape: bool = True, array: bool = True) -> None:
    """Turns NumPy shapes and NumPy arrays on or off in this thread.  Arrays need shapes.

    >>> mx.util.set_np()
    >>> mx.util.is_np_shape(), mx.util.is_np_array()
    (True, True)
    >>> mx.util.reset_np()
    """
    if array and not shape:
        raise ValueError('set_np: NumPy arrays (array=True) need NumPy shapes (shape=True)')
    before = _set_np_array(array)
    try:
        set_np_shape(shape)
    except (TypeError, ValueError):
        _set_np_array(before)           # a refused call changes nothing
        raise


def reset_np() -> None:
    """Turns NumPy shapes and NumPy arrays off."""
    set_np(shape=False, array=False)


class _NumpyShapeScope:
    def __init__(self, is_np_shape):
        self._is_np_shape = is_np_shape
        self._previous = []

    def __enter__(self):
        if self._is_np_shape is not None:
            if not self._is_np_shape:
                _refuse_arrays_without_shapes()
            self._previous.append(_own_np_shape())
            state.np_shape = bool(self._is_np_shape)

    def __exit__(self, ptype, value, trace):
        if self._is_np_shape is not None:
            _restore_own_np_shape(self._previous.pop())


class _NumpyArrayScope:
    def __init__(self, is_np_array):
        self._is_np_array = is_np_array
        self._previous = []

    def __enter__(self):
        self._previous.append(_set_np_array(self._is_np_array))
        return self

    def __exit__(self, ptype, value, trace):
        _set_np_array(self._previous.pop())


def np_shape(active: bool = True) -> Any:
    """`with mx.np_shape(): ...` has NumPy shapes on (or off) for a block of code.  None leaves them as they are."""
    return _NumpyShapeScope(active)


def np_array(active: bool = True) -> Any:
    """`with mx.np_array(): ...` has NumPy arrays on (or off) for a block of code."""
    return _NumpyArrayScope(active)


# --- the switches as decorators ---------------------------------------------------------------------------------------

# Python calls these when a class is made or looked up, not when an object is used.
_CLASS_HOOKS = frozenset(('__init_subclass__', '__class_getitem__', '__subclasshook__'))


def use_np_shape(func: Any) -> Any:
    """Decorates a function, or all methods and properties of a class: they run with NumPy shapes on."""
    return _decorate(func, 'use_np_shape', shape=True, array=False)


def use_np_array(func: Any) -> Any:
    """Decorates a function, or all methods and properties of a class: they run with NumPy arrays on."""
    return _decorate(func, 'use_np_array', shape=False, array=True)


def use_np(func: Any) -> Any:
    """Decorates a function, or all methods and properties of a class: they run with NumPy shapes and arrays on.

    >>> @mx.use_np
    ... def semantics():
    ...     return mx.is_np_shape(), mx.is_np_array()
    >>> semantics(), mx.is_np_shape()
    ((True, True), False)
    """
    return _decorate(func, 'use_np', shape=True, array=True)


def _decorate(target, decorator, shape, array):
    if isinstance(target, type):
        return _decorate_class(target, shape, array)
    if callable(target):
        return _decorate_function(target, shape, array)
    raise TypeError(f'{decorator} decorates classes and callables, not {target!r}')


def _decorate_function(func, shape, array):
    @functools.wraps(func)
    def scoped(*args, **kwargs):
        previous_shape, previous_array = _own_np_shape(), state.np_array
        if shape:
            state.np_shape = True
        if array:
            state.np_array = True
        try:
            return func(*args, **kwargs)
        finally:
            if shape:
                _restore_own_np_shape(previous_shape)
            if array:
                state.np_array = previous_array
    return scoped


def _decorate_class(cls, shape, array):
    """Inherited methods count, too: the `__call__` of a block is its base class's."""
    wrap = functools.partial(_decorate_function, shape=shape, array=array)
    scopes = {(shape, array), (True, True)}
    members = {name: (owner, member) for owner in reversed(cls.__mro__) for name, member in vars(owner).items()}
    for name, (owner, member) in members.items():
        inherited_with_scope = owner is not cls and vars(owner).get('_np_scopes') in scopes
        if name in _CLASS_HOOKS or inherited_with_scope:
            continue
        if isinstance(member, types.FunctionType):
            setattr(cls, name, wrap(member))
        elif isinstance(member, staticmethod | classmethod):
            setattr(cls, name, type(member)(wrap(member.__func__)))
        elif type(member) is property:
            get, put, delete = (accessor and wrap(accessor) for accessor in (member.fget, member.fset, member.fdel))
            setattr(cls, name, property(get, put, delete, doc=member.__doc__))
    cls._np_scopes = (shape, array)
    return cls


# --- universal functions: options that NumPy knows --------------------------------------------------------------------

_np_ufunc_default_kwargs = {'where': True, 'casting': 'same_kind', 'order': 'K', 'dtype': None, 'subok': True}


def _check_ufunc_options(function, options):
    for key, value in options.items():
        if key not in _np_ufunc_default_kwargs:
            raise TypeError(f'{function}() has no option {key!r}')
        default = _np_ufunc_default_kwargs[key]
        # an array, as `where` may be one, is not comparable to a default
        if value is default or (isinstance(value, str) and value == default):
            continue
        if np_ufunc_legal_option(key, value):
            raise NotImplementedError(f'{function}() does not have {key}={value!r}; only {key}={default!r}')
        raise TypeError(f'{function}(): {key}={value!r} is not understood')


def wrap_np_unary_func(func: Callable[..., Any]) -> Any:
    """Lets `func(x, out=None)` take the options of NumPy's universal functions, at their default values only."""
    @functools.wraps(func)
    def unary(x, out=None, **kwargs):
        if kwargs:
            _check_ufunc_options(func.__name__, kwargs)
        return func(x, out=out)
    return unary


def wrap_np_binary_func(func: Callable[..., Any]) -> Any:
    """Lets `func(x1, x2, out=None)` take the options of NumPy's universal functions, at their default values only."""
    @functools.wraps(func)
    def binary(x1, x2, out=None, **kwargs):
        if kwargs:
            _check_ufunc_options(func.__name__, kwargs)
        return func(x1, x2, out=out)
    return binary


# --- GPUs -------------------------------------------------------------------------------------------------------------

def get_gpu_count() -> int:
    """How many GPUs there are; the same as `mx.context.num_gpus()`."""
    return _context.num_gpus()


def get_gpu_memory(gpu_dev_id: int) -> tuple[int, int]:
    """(free, total) bytes of a GPU; the same as `mx.context.gpu_memory_info(gpu_dev_id)`."""
    return _context.gpu_memory_info(gpu_dev_id)


def get_cuda_compute_capability(ctx: Context) -> Any:
    """The compute capability of a GPU as a number: 90 for sm_90."""
    if ctx.device_type != 'gpu':
        raise ValueError(f'get_cuda_compute_capability: ctx must be a GPU, not {ctx}')
    device = ctx.torch_device
    if device.type != 'cuda':
        raise MXNetError(f'get_cuda_compute_capability: {ctx} is virtual and uses CPU memory')
    import torch
    major, minor = torch.cuda.get_device_capability(device)
    return 10 * major + minor


# --- the rest ---------------------------------------------------------------------------------------------------------

def getenv(name: str) -> str | None:
    """The value of an environment variable, or None."""
    return os.environ.get(name)


def setenv(name: str, value: Any) -> None:
    """Sets an environment variable; None removes it.  There is one environment: `os.environ` sees the change."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def makedirs(d: Path) -> None:
    """Makes a folder and those above it.  A folder that exists is left alone."""
    os.makedirs(d, exist_ok=True)


def set_module(module: str | None) -> Any:
    """A decorator that says a function or class belongs to the module of this name.  None changes nothing."""
    def decorator(func):
        if module is not None:
            func.__module__ = module
        return func
    return decorator


def with_defaults(function: Callable[..., Any], **defaults: Any) -> Any:
    """A copy of a function whose parameters have other defaults; `help` and `inspect` show them."""
    function = inspect.unwrap(function)
    copy: Any = types.FunctionType(function.__code__, function.__globals__, function.__name__, None,
                                   function.__closure__)
    functools.update_wrapper(copy, function)
    del copy.__wrapped__                        # whose signature is the old one
    had = [p for p in inspect.signature(function).parameters.values() if p.default is not p.empty]
    copy.__defaults__ = tuple(defaults.get(p.name, p.default) for p in had if p.kind is p.POSITIONAL_OR_KEYWORD)
    return copy


def default_array(source_array: ArrayLike, ctx: Context | None = None, dtype: DType | None = None) -> NDArray:
    """An `mx.np.ndarray` where NumPy arrays are on in this thread, else an `mx.nd.NDArray`."""
    if is_np_array():
        from . import numpy
        return numpy.array(source_array, dtype=dtype, ctx=ctx)
    from . import ndarray
    return ndarray.array(source_array, ctx=ctx, dtype=dtype)


np_ufunc_legal_option.__module__ = __name__
_explain_kinds(globals(), __all__)
_suggest_names(globals())
