"""Making, saving and loading arrays, of any storage type."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._array import NDArrayBase, wrap
from .._dispatch import entering, interceptors
from .._files import params, paths, safetensors
from .._hooks import hooks
from .._names import kind_of
from .._names import suggest_names as _suggest_names
from .._ops.core import checks
from .._state import state
from ..base import MXNetError
from ..context import Context, cpu
from . import _interop
from ._creation import array as _dense_array
from ._creation import empty, zeros
from .ndarray import NDArray

if TYPE_CHECKING:
    from .._typing import ArrayLike, DType, Path

__all__ = ['array', 'empty', 'load', 'load_frombuffer', 'save', 'zeros']


def array(source_array: ArrayLike, ctx: Context | None = None, dtype: DType | None = None) -> NDArray:
    """An array from nested lists, NumPy, SciPy's sparse matrices or another array, in the storage type of the source.

    The dtype is float32 unless given or taken from an NDArray.

    >>> mx.nd.array([[1, 2], [3, 4]]).dtype
    <class 'numpy.float32'>
    """
    if interceptors and (scope := entering('array')) is not None:
        with scope:
            return array(source_array, ctx, dtype)
    if getattr(source_array, 'stype', 'default') != 'default' or hasattr(source_array, 'tocsr'):
        from . import sparse
        return sparse.array(source_array, ctx=ctx, dtype=dtype)
    return _dense_array(source_array, ctx=ctx, dtype=dtype)


# ---------------------------------------------------------------------- records
def _record(array):
    if array.stype == 'default':
        tensor = array.materialize().detach()
        here = tensor.cpu()
        if checks.records:
            checks.look()
        return params.Record('default', tuple(tensor.shape), here, (), _written_context(array))
    return array._record(_written_context(array))


def _written_context(array):
    ctx = array.context
    # upstream moves an array to the CPU before it writes it, and notes that context
    return (1, 0) if ctx.device_typeid == 2 else (ctx.device_typeid, ctx.device_id)


def _from_record(record):
    ctx = _loaded_context(record.context)
    if record.stype != 'default':
        from . import sparse
        return sparse.from_record(record, ctx)
    tensor = record.data
    if record.np_shape or state.np_array:
        cls = _array_class()
    else:
        cls = NDArray
    return wrap(_interop.allocate(tensor, ctx), ctx, cls)


def _loaded_context(found):
    """Where an array of a file belongs; the CPU if the file names a device that is not there."""
    kind, number = found
    if kind == 2 or kind not in Context.devtype2str:
        return cpu()
    return Context(Context.devtype2str[kind], number)


def _array_class():
    if not state.np_array:
        return NDArray
    return hooks.np_ndarray


def to_bytes(array: NDArray) -> bytearray:
    """One array as it stands in a file; what a pickle carries."""
    return params.encode_record(_record(array), np_shape=bool(state.np_shape))


def handle_of(state: Any, what: str) -> Any:
    """The bytes in the state of a pickled array, or None for an array without contents."""
    handle = state.get('handle') if isinstance(state, dict) else b''
    if handle is not None and not (isinstance(handle, (bytes, bytearray)) and handle):
        raise MXNetError(f'a pickled {what}: expected its bytes under "handle", found a {type(state).__name__}'
                         + (f' with a {type(handle).__name__}' if isinstance(state, dict) else ''))
    return handle


def set_from_bytes(array: NDArray, data: Any) -> None:
    """Fills an array with what `to_bytes` made."""
    loaded = _from_record(params.decode_record(bytes(data), 'a pickled NDArray'))
    array._rebind(loaded.materialize())
    array._ctx, array._variable = loaded._ctx, loaded._variable


# ---------------------------------------------------------------------- files
def _shown(data):
    if isinstance(data, dict):
        name = next((n for n in data if not isinstance(n, str)), None)
        if name is not None:
            return f'a dict with {kind_of(name)} as a name'
    values = data.values() if isinstance(data, dict) else data if isinstance(data, (list, tuple)) else ()
    wrong = next((x for x in values if not isinstance(x, NDArrayBase)), None)
    return kind_of(data) + (f' with {kind_of(wrong)}' if values else '')


def save(fname: Path, data: Any) -> Any:
    """Saves a list or a dict of arrays, as MXNet 1.9.1 writes it; `.safetensors` if the name ends so.

    `fname` may be a URL that fsspec knows: s3://, gs://, hdfs://, memory://.  The file appears whole or not at all.

    >>> mx.nd.save('memory://weights.params', {'w': mx.nd.ones((2,))})
    >>> mx.nd.load('memory://weights.params')['w'].shape
    (2,)
    """
    if interceptors and (scope := entering('save')) is not None:
        with scope:
            return save(fname, data)
    if isinstance(data, NDArrayBase):
        data = [data]
    if isinstance(data, dict):
        names, arrays = list(data), list(data.values())
        good = all(isinstance(n, str) for n in names)
    elif isinstance(data, (list, tuple)):
        names, arrays, good = [], list(data), True
    else:
        good = False
    if not good or not all(isinstance(a, NDArrayBase) for a in arrays):
        raise ValueError('nd.save: data must be an array, a list of arrays or a dict of names and arrays, not '
                         f'{_shown(data)}')
    if str(fname).endswith('.safetensors'):
        if not isinstance(data, dict):
            raise ValueError('nd.save: a .safetensors file needs names; pass a dict')
        safetensors.save(fname, {n: a.materialize().detach() for n, a in data.items()})
        return
    paths.write_atomic(fname, params.encode([_record(a) for a in arrays], names, np_shape=bool(state.np_shape)))


def load(fname: Path) -> Any:
    """The list or dict of arrays that `save` wrote."""
    if interceptors and (scope := entering('load')) is not None:
        with scope:
            return load(fname)
    if str(fname).endswith('.safetensors'):
        return {n: NDArray(t) for n, t in safetensors.load(fname).items()}
    with paths.open_read(fname) as file:
        return _collect(*params.decode(file, str(fname)), str(fname))


def load_frombuffer(buf: bytes) -> Any:
    """The list or dict of arrays in the bytes of a file."""
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise TypeError(f'load_frombuffer takes bytes, not {kind_of(buf)}')
    return _collect(*params.decode(buf, 'the buffer'), 'the buffer')


def _collect(records, names, where):
    for number, record in enumerate(records):
        shape = record.shape
        if record.np_shape != bool(state.np_shape) and shape is not None and (shape == () or 0 in shape):
            raise MXNetError(f'{where}: array {number} of shape {shape} was saved '
                             f'{"in" if record.np_shape else "outside"} NumPy '
                             'mode, where its shape means something else; load it inside '
                             f'`with mx.util.np_shape({record.np_shape}):`')
    arrays = [_from_record(r) for r in records]
    return dict(zip(names, arrays, strict=True)) if names else arrays


_suggest_names(globals())


hooks.to_bytes, hooks.handle_of, hooks.set_from_bytes = to_bytes, handle_of, set_from_bytes
hooks.from_record = _from_record
