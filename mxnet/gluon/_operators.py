"""The operators that layers and losses are made of: `mx.nd` and `mx.sym`, in np mode those of `mx.np` and `mx.npx`."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._state import state

if TYPE_CHECKING:
    from ..gluon._namespaces import Operators

# What operators are called in np mode.  Those that are not here have no NumPy kind; arrays are converted for them.
NPX = {'Activation': 'activation', 'BatchNorm': 'batch_norm', 'Convolution': 'convolution',
       'Deconvolution': 'deconvolution', 'Dropout': 'dropout', 'Embedding': 'embedding', 'Flatten': 'batch_flatten',
       'FullyConnected': 'fully_connected',
       'LayerNorm': 'layer_norm', 'LeakyReLU': 'leaky_relu', 'Pooling': 'pooling', 'RNN': 'rnn',
       'log_softmax': 'log_softmax', 'pick': 'pick', 'relu': 'relu', 'reshape_like': 'reshape_like',
       'sigmoid': 'sigmoid', 'softmax': 'softmax'}
NP = {'abs': 'abs', 'broadcast_mul': 'multiply', 'broadcast_sub': 'subtract', 'concat': 'concatenate', 'exp': 'exp',
      'expand_dims': 'expand_dims', 'identity': 'copy', 'log': 'log', 'maximum': 'maximum', 'square': 'square',
      'tanh': 'tanh', 'where': 'where'}


def operator(F: Operators, name: str) -> Any:
    """An operator's function: `F.Pooling`, or in np mode `F.npx.pooling`."""
    if not state.np_array:
        return getattr(F, name)
    if name in NPX:
        return getattr(F.npx, NPX[name])
    if name in NP:
        return getattr(F.np, NP[name])
    return _converting(getattr(F, name))


def contrib(F: Operators, name: str) -> Any:
    """As `operator`, for those of `F.contrib`."""
    function = getattr(F.contrib, name)
    return _converting(function) if state.np_array else function


def _converting(function):
    """A function of old arrays as one of NumPy's kind."""
    def converted(*args, **kwargs):
        result = function(*map(_old, args), **{k: _old(v) for k, v in kwargs.items()})
        return [r.as_np_ndarray() for r in result] if isinstance(result, list) else result.as_np_ndarray()
    return converted


def _old(value):
    return value.as_nd_ndarray() if hasattr(value, 'as_nd_ndarray') else value
