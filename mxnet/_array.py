"""The storage under every array, and how its tensor is read and written.

Two rules keep torch's grad mode out of it.  Outside `autograd.record()` an operator reads tensors without history, or
drops the history of what it computed; inside, it reads an attached variable's `leaf`, an alias of the same memory that
requires a gradient and that nothing else sees.
"""
from ._ops.dtypes import NAME
from ._state import state
from .base import MXNetError

_new = object.__new__

INPLACE = ('{what} writes into an array that autograd has recorded or that has a gradient attached, while recording. '
           'Compute a new array instead (y = y + 1), or write outside of `with autograd.record():` '
           'or inside `with autograd.pause():`.')


class NDArrayBase:
    """The storage of every dense array: a tensor, the context it is said to be on, and its gradient variable.

    `_tensor` may carry torch's history if it was made while recording; `_variable` (see autograd.py) is what
    `attach_grad` made, or None.  An array that waits to be computed (see ndarray/_steps.py) has a `_place`, not a
    `_tensor`.
    """

    __slots__ = ('_tensor', '_ctx', '_variable', '_place', '__weakref__')
    _sparse = False         # a sparse array's `_tensor` is a dense copy: what is written into it is lost
    _waits = False
    _ready_class: type

    def _peek(self):
        """The tensor, to be read at once: what waits in the memory of a CUDA graph need not be copied."""
        return self._place.step.peek(self) if self._waits else self._tensor


def wrap(tensor, ctx, cls):
    array = _new(cls)
    array._tensor = tensor
    array._ctx = ctx
    array._variable = None
    return array


def class_of(array):
    """The class of an array once it has its tensor: while it waits, it has another."""
    return array._ready_class if array._waits else type(array)


def readable(array):
    """The tensor that an operator reads: with history while recording, else without."""
    if state.recording:
        variable = array._variable
        return array._tensor if variable is None else variable.leaf
    tensor = array._tensor
    return tensor.detach() if tensor.requires_grad else tensor


def writable(array, what='This'):
    """The tensor that something writes into in place."""
    if array._sparse:
        raise MXNetError(f"{what} writes into the memory of a {array.stype} array, which has none for zeros; "
                         "use x[:] = ..., or a dense array: tostype('default')")
    tensor = array._tensor
    if state.recording:
        if array._variable is not None or tensor.requires_grad:
            raise MXNetError(INPLACE.format(what=what))
        return tensor
    return tensor.detach() if tensor.requires_grad else tensor


def write(array, value, what):
    """Copies a tensor into an array."""
    if array._sparse:
        array._write(value, what)
    else:
        tensor = writable(array, what)
        tensor.copy_(value if state.recording else value.detach())
        if tensor.requires_grad and hasattr(value, '_note'):
            tensor._note = value._note          # it is the same value: see _notes.py


def overwrite(array, value):
    """Copies a tensor into an array, whatever autograd knows of it."""
    if array._sparse:
        array._overwrite(value.detach())
    else:
        array._tensor.detach().copy_(value.detach())


def describe(array):
    if array is None:
        return 'None'
    return f'{NAME[array._tensor.dtype]}{tuple(array._tensor.shape)}@{array._ctx}'
