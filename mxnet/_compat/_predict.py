"""`mxnet_predict`: the module that deployment programs of 2016 to 2019 copied from upstream's amalgamation folder."""

import numpy

from .. import context
from ..base import MXNetError


class Predictor:
    """Runs a saved network forward.

    symbol_file: the text of the symbol (not its path); param_raw_bytes: the bytes of the file of parameters
    input_shapes: {name: shape}; dev_type: 'cpu' or 'gpu'; type_dict: {name: dtype}
    """

    def __init__(self, symbol_file, param_raw_bytes, input_shapes, dev_type='cpu', dev_id=0, type_dict=None):
        for shape in input_shapes.values():
            if not isinstance(shape, tuple):
                raise ValueError('Expect input_shapes to be dict str->tuple')
        from ..symbol import load_json

        self._symbol = load_json(symbol_file)
        self._device = context.Context(dev_type, dev_id)
        saved = _arrays(param_raw_bytes)
        self._params = {name.split(':', 1)[-1]: value for name, value in saved.items()}
        self._types = type_dict or {}
        self._bind(input_shapes)

    def _bind(self, shapes):
        types = {name: self._types.get(name, 'float32') for name in shapes}
        self._executor = self._symbol.simple_bind(self._device, grad_req='null', type_dict=types, **shapes)
        args = {k: v for k, v in self._params.items() if k in self._executor.arg_dict and k not in shapes}
        aux = {k: v for k, v in self._params.items() if k in self._executor.aux_dict}
        self._executor.copy_params_from(args, aux)
        self._inputs = set(shapes)

    def forward(self, **kwargs):
        """Computes the outputs of the given NumPy arrays."""
        for name, value in kwargs.items():
            if name not in self._inputs:
                raise MXNetError(f'Predictor.forward: {name!r} is not an input; the inputs are {sorted(self._inputs)}')
            if not isinstance(value, numpy.ndarray):
                raise ValueError('Expect numpy ndarray as input')
            target = self._executor.arg_dict[name]
            target[:] = numpy.asarray(value, target.dtype).reshape(target.shape)
        self._executor.forward(is_train=False)

    def reshape(self, input_shapes):
        """Takes inputs of other shapes from now on."""
        self._bind(input_shapes)

    def get_output(self, index):
        """An output of the last `forward`, as a NumPy array."""
        return self._executor.outputs[index].asnumpy()


def _arrays(content):
    from ..ndarray import load_frombuffer

    return load_frombuffer(bytes(content))


def load_ndarray_file(nd_bytes):
    """The arrays in the bytes of a file that `mx.nd.save` wrote: {name: NumPy array}, or a list."""
    saved = _arrays(nd_bytes)
    if isinstance(saved, dict):
        return {name: value.asnumpy() for name, value in saved.items()}
    return [value.asnumpy() for value in saved]


def names():
    """The names of the module."""
    return {'Predictor': Predictor, 'load_ndarray_file': load_ndarray_file}
