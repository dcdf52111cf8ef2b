"""A torch `nn.Module` as a Block: the same memory, one tape.  The other direction is in `_to_torch.py`.

Our tape is torch's, so that a loss may run through both kinds of parts; only the leaves must be known to both sides.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .. import autograd, initializer
from .._array import NDArrayBase, wrap
from .._names import kind_of
from .._ops.core.dtypes import NAME, NUMPY
from .._state import state
from ..ndarray import NDArray, _interop
from ..numpy import ndarray
from ..util import is_np_array
from .block import Block
from .parameter import Parameter

if TYPE_CHECKING:
    from ..gluon.parameter import ParameterDict

__all__ = ['TorchBlock', 'from_torch']


def from_torch(module: torch.nn.Module) -> TorchBlock:
    """A Block that runs a torch module and trains its parameters.

    >>> import torch
    >>> net = mx.gluon.from_torch(torch.nn.Linear(3, 2))
    >>> net(mx.nd.ones((4, 3))).shape
    (4, 2)
    """
    return TorchBlock(module)


class _Shared(Parameter):
    """A parameter in the memory of a torch module, which brings its values."""

    def initialize(self, init=None, ctx=None, default_init='uniform', force_reinit=False):
        if force_reinit:
            with autograd.pause():
                initializer.create(default_init if init is None else init)(initializer.InitDesc(self.name), self.data())


class TorchBlock(Block):
    """A torch module among blocks.

    `collect_params` finds its parameters (dots in their names become underscores) and a Trainer updates them; buffers,
    such as running means, stay the module's own.
    """

    def __init__(self, module: torch.nn.Module, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        if not isinstance(module, torch.nn.Module):
            raise TypeError(f'from_torch takes a torch.nn.Module, not {kind_of(module)}')
        self._module = module
        self._places = {}
        for name, tensor in module.named_parameters():
            key = name.replace('.', '_')
            param = _Shared(self.params.prefix + key, shape=tuple(tensor.shape), dtype=NUMPY[NAME[tensor.dtype]],
                            grad_req='write' if tensor.requires_grad else 'null')
            self.params._params[param.name] = param
            ctx = _interop.context_of(tensor)
            param._set_arrays([wrap(_interop.compact(tensor.detach()), ctx, _kind())], [ctx])
            self._reg_params[key] = param
            self._places[name] = param

    def forward(self, *args: Any) -> Any:
        tensors = {}
        for name, param in self._places.items():
            array = param.data()
            tensors[name] = array._variable.leaf if state.recording and array._variable is not None \
                else array.materialize()
        self._module.train(state.training)
        given = [_unwrap(a) for a in args]
        with torch.set_grad_enabled(state.recording):
            result = torch.func.functional_call(self._module, tensors, tuple(given))
        first = next((a for a in args if isinstance(a, NDArrayBase)), None)
        ctx = first._ctx if first is not None else next(iter(self._places.values())).list_ctx()[0]
        return _wrap(result, ctx)

    def __repr__(self) -> str:
        return f'TorchBlock({self._module})'


def _kind():
    """What arrays are in this thread's mode."""
    return ndarray if is_np_array() else NDArray


def _unwrap(value):
    if not isinstance(value, NDArrayBase):
        return value
    if state.recording and value._variable is not None:
        return value._variable.leaf
    return value.materialize()


def _wrap(value, ctx):
    if isinstance(value, torch.Tensor):
        value = value.contiguous()
        return wrap(value if state.recording else value.detach(), ctx, _kind())
    if isinstance(value, (list, tuple)):
        return [_wrap(v, ctx) for v in value]
    return value
