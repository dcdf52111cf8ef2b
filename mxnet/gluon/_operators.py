"""The operators that layers are made of, for old arrays (`mx.nd`, `mx.sym`) and, in np mode, for NumPy's kind."""
from ..util import is_np_array

# What an operator is called in `npx`.  Those that are not here have no NumPy kind; their arrays are converted.
NPX = {'Activation': 'activation', 'BatchNorm': 'batch_norm', 'Convolution': 'convolution', 'Deconvolution': 'deconvolution',
       'Dropout': 'dropout', 'Embedding': 'embedding', 'Flatten': 'batch_flatten', 'FullyConnected': 'fully_connected',
       'LayerNorm': 'layer_norm', 'LeakyReLU': 'leaky_relu', 'Pooling': 'pooling', 'RNN': 'rnn', 'log_softmax': 'log_softmax',
       'one_hot': 'one_hot', 'pick': 'pick', 'relu': 'relu', 'sigmoid': 'sigmoid', 'softmax': 'softmax', 'topk': 'topk'}


def operator(F, name):
    """An operator's function: `F.Pooling`, or `F.npx.pooling` in np mode."""
    if not is_np_array():
        return getattr(F, name)
    if name in NPX:
        return getattr(F.npx, NPX[name])
    function = F
    for part in name.split('.'):
        function = getattr(function, part)

    def converted(*args, **kwargs):
        result = function(*[_old(a) for a in args], **{k: _old(v) for k, v in kwargs.items()})
        return [r.as_np_ndarray() for r in result] if isinstance(result, list) else result.as_np_ndarray()
    return converted


def _old(value):
    return value.as_nd_ndarray() if hasattr(value, 'as_nd_ndarray') else value
