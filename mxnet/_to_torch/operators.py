"""Operators that torch has no layer or function for: their own functions, as functions and modules that torch can hold.

`operators.ROIPooling` is the function of that operator.  A `torch.fx` graph records calls of it, and a pickled graph
finds it again by its name here.
"""
import torch

from .._ops.core.table import TABLE
from .portable import Portable, operator_source, visible

_made: dict = {}


def __getattr__(name):
    if name.startswith('__') or name not in TABLE:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    if name not in _made:
        _made[name] = _function(TABLE[name])
    return _made[name]


def operator_function(op):
    """The function for an operator, by which a graph calls it."""
    return __getattr__(op.name)


def _function(op):
    from torch.fx import Proxy

    function, count = op.function, op.output_names
    if hasattr(function, 'late_reads'):
        function = function.__wrapped__         # torch itself finds writes before `backward` here

    def call(*inputs, **attributes):
        proxy = next((x for x in (*inputs, *attributes.values()) if isinstance(x, Proxy)), None)
        if proxy is not None:
            return proxy.tracer.create_proxy('call_function', call, inputs, attributes)
        if op.wants_rng:
            attributes['rng'] = None
        if 'subgraphs' in attributes:
            attributes['subgraphs'] = [_body(module) for module in attributes['subgraphs']]
        result = function(*inputs, **attributes)
        return visible(result, len(count(op.complete(attributes)))) if isinstance(result, tuple) else result

    call.__name__ = call.__qualname__ = op.name
    call.__module__ = __name__
    call.operator = op          # type: ignore[attr-defined]  # an attribute of functions
    return call


def _body(module):
    def run(tensors):
        return list(module(*tensors))
    return run


class Operator(Portable):
    """An operator that computes otherwise while training, such as variational dropout."""

    def __init__(self, name, **attributes):
        super().__init__()
        self.name, self.attributes = name, attributes

    def forward(self, *inputs):
        return __getattr__(self.name)(*inputs, **self.attributes, training=self.training)

    def _source(self):
        return operator_source(TABLE[self.name], self.attributes)

    def extra_repr(self):
        return ', '.join((self.name, *[f'{k}={v!r}' for k, v in self.attributes.items()]))


class BatchNorm(Portable, torch.nn.BatchNorm1d):
    """Batch normalization of inputs of any number of dimensions."""

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f'expected an input of at least 2 dimensions, but its shape is {tuple(input.shape)}')


class FrozenBatchNorm(Portable, torch.nn.BatchNorm1d):
    """Batch normalization that uses the running statistics while training, too, and never changes them."""

    def forward(self, input):
        return torch.nn.functional.batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, False,
                                              0.0, self.eps)


class FunctionalBatchNorm(Portable):
    """Batch normalization whose parameters and statistics belong to another layer, too."""

    def __init__(self, eps, momentum, learns):
        super().__init__()
        self.eps, self.momentum, self.learns = eps, momentum, learns

    def forward(self, input, running_mean, running_var, weight, bias):
        return torch.nn.functional.batch_norm(input, running_mean, running_var, weight, bias,
                                              self.training and self.learns, self.momentum, self.eps)
