"""Gradients: `mx.autograd`.  The implementation is in `_autograd/`; here is what needs arrays and symbols."""
from __future__ import annotations

from ._array import NDArrayBase
from ._autograd import (
    Function,
    backward,
    detect_anomaly,
    grad,
    is_recording,
    is_training,
    mark_variables,
    pause,
    predict_mode,
    record,
    set_recording,
    set_training,
    train_mode,
)
from ._kinds import explain_kinds as _explain_kinds
from ._names import kind_of
from ._names import suggest_names as _suggest_names
from .ndarray import NDArray
from .symbol import Symbol
from .symbol._recorded import symbol_of as _symbol_of

# NDArray: programs that say `from mxnet.autograd import *` find it here
__all__ = ['Function', 'NDArray', 'backward', 'detect_anomaly', 'get_symbol', 'grad', 'is_recording', 'is_training',
           'mark_variables', 'pause', 'predict_mode', 'record', 'set_recording', 'set_training', 'train_mode']


def get_symbol(x: NDArray) -> Symbol:
    """The Symbol of the recorded computation that led to `x`.

    Arrays with a gradient are its variables var0, var1, ...; all others that went in are null0, null1, ...

    >>> x = mx.nd.ones((2,))
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y = mx.nd.exp(x) + 1
    >>> mx.autograd.get_symbol(y).list_arguments()
    ['var0']
    """
    if not isinstance(x, NDArrayBase):
        raise TypeError(f'get_symbol takes an array, not {kind_of(x)}')
    return _symbol_of(x)


for _name in __all__:
    if str(getattr(globals()[_name], '__module__', None)).startswith('mxnet._autograd'):
        globals()[_name].__module__ = __name__

_explain_kinds(globals(), ('mark_variables',))
_suggest_names(globals())
