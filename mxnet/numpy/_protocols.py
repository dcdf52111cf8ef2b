"""What lets other libraries work on our arrays: NumPy's function protocols, and the array API's namespace."""
from typing import Any

import numpy

# what the package has: its functions by name, how others go through NumPy, and the array API; set by its modules
functions: dict[str, Any] = {}
through_numpy: Any = None
array_api: Any = None


def _public(name):
    return functions.get(name)


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """`numpy.sin(x)` and `numpy_array + x` on our arrays give ours."""
    if method != '__call__':
        return NotImplemented
    function = _public(ufunc.__name__)
    out = kwargs.get('out')
    if out is not None and not all(isinstance(o, type(self)) for o in out):
        raise ValueError('numpy universal functions cannot write into a NumPy array from arrays of MXNet')
    if function is None:
        return _through_numpy(ufunc, inputs, kwargs)
    return function(*inputs, **kwargs)


def array_function(self, func, types, args, kwargs):
    """`numpy.sum(x)` on our arrays is `mx.np.sum(x)`; what we don't have goes through NumPy and comes back."""
    function = None
    if func.__module__ in ('numpy', 'numpy.linalg'):
        if func.__module__ == 'numpy':
            function = _public(func.__name__)
        else:
            function = getattr(_public('linalg'), func.__name__, None)
    if callable(function):
        result = function(*args, **kwargs)
        return tuple(result) if func.__name__ in _TUPLES and isinstance(result, list) else result
    return _through_numpy(func, args, kwargs)


# functions that give several arrays: NumPy's callers expect a tuple, mx.np gives a list as MXNet does
_TUPLES = {'atleast_1d', 'atleast_2d', 'atleast_3d', 'broadcast_arrays', 'meshgrid'}


def _through_numpy(function, args, kwargs):
    return through_numpy(function)(*args, **kwargs)


def array_namespace(self, *, api_version=None):
    """The functions of the array API standard, as libraries that speak it ask for them."""
    if api_version is not None and api_version > '2024.12':
        raise ValueError(f'version {api_version} of the array API is not known; 2024.12 is')
    return array_api


def to_numpy(value):
    """Our arrays in a value, in lists, tuples and dicts of it, as NumPy arrays."""
    from .._array import NDArrayBase
    if isinstance(value, NDArrayBase):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        items = [to_numpy(v) for v in value]
        return type(value)(items) if type(value) in (list, tuple) else type(value)(*items)
    if isinstance(value, dict):
        return {k: to_numpy(v) for k, v in value.items()}
    return value


def from_numpy(value, ctx):
    """NumPy arrays in a result as ours, on a context."""
    from ._creation import array
    if isinstance(value, numpy.ndarray):
        return array(value, dtype=value.dtype, ctx=ctx) if value.dtype.kind in 'biuf' else value
    if isinstance(value, (list, tuple)):
        items = [from_numpy(v, ctx) for v in value]
        return type(value)(items) if type(value) in (list, tuple) else type(value)(*items)
    return value
