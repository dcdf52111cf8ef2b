"""Stacks of layers, dense layers, normalizations, embeddings, and functions as layers."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Unpack

from ... import ndarray, symbol
from ..._names import kind_of, near, on_a_class
from ..._names import suggest_members as _suggest_members
from ..._ops.core.dtypes import dtype_name
from ...util import is_np_array
from .._operators import operator
from ..block import Block, HybridBlock
from ..utils import indent
from .activations import Activation

if TYPE_CHECKING:
    from ..._typing import BlockOptions, DType, Init, Shape
    from ...gluon.parameter import Parameter, ParameterDict

__all__ = ['BatchNorm', 'BatchNormReLU', 'Dense', 'Dropout', 'Embedding', 'Flatten', 'GroupNorm', 'HybridLambda',
           'HybridSequential', 'InstanceNorm', 'Lambda', 'LayerNorm', 'Sequential']


# ---------------------------------------------------------------------- stacks
class _Stack:
    """Blocks one after the other, as children named 0, 1, 2, ..."""

    _is_sequence = True         # `summary` shows what is in it, not itself

    # of the block that this is mixed into
    _children: Any
    _prefix: Any
    name_scope: Any
    register_child: Any

    def add(self, *blocks: Block) -> None:
        """Puts blocks on top of the stack."""
        if not isinstance(self, _Stack):        # nn.Sequential.add(layer, ...)
            raise on_a_class('add')
        for block in blocks:
            self.register_child(block)

    def __repr__(self) -> str:
        lines = [f'  ({key}): {indent(repr(block), 2)}' for key, block in self._children.items()]
        return f'{type(self).__name__}(\n' + '\n'.join(lines) + '\n)'

    def __getitem__(self, key: Any) -> Any:
        try:
            found = list(self._children.values())[key]
        except IndexError:
            raise IndexError(f'{type(self).__name__} has {len(self._children)} layers; there is no layer '
                             f'{key}') from None
        except TypeError:
            raise TypeError(f'a layer of {type(self).__name__} is chosen by an int or a slice, not '
                            f'{kind_of(key)}') from None
        if not isinstance(found, list):
            return found
        part = type(self)(prefix=self._prefix)      # type: ignore[call-arg]
        with part.name_scope():
            part.add(*found)
        return part

    def __len__(self) -> int:
        return len(self._children)

    if TYPE_CHECKING:           # `__getitem__` and `__len__` are all that a loop needs
        def __iter__(self) -> Iterator[Any]: ...


class Sequential(_Stack, Block):
    """Calls blocks one after the other.

    >>> net = mx.gluon.nn.Sequential()
    >>> net.add(mx.gluon.nn.Dense(8, activation='relu'), mx.gluon.nn.Dense(2))
    >>> net
    Sequential(
      (0): Dense(None -> 8, Activation(relu))
      (1): Dense(None -> 2, linear)
    )
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def forward(self, x: Any) -> Any:
        for block in self._children.values():
            x = block(x)
        return x

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Hybridizes all children that can be."""
        if self._children and all(isinstance(child, HybridBlock) for child in self._children.values()):
            warnings.warn(f"all children of Sequential '{self.prefix}' are HybridBlocks; a HybridSequential would run "
                          'them as one graph', stacklevel=2)
        super().hybridize(active, **kwargs)


class HybridSequential(_Stack, HybridBlock):
    """Calls hybrid blocks one after the other; `hybridize()` makes one graph of them.

    >>> net = mx.gluon.nn.HybridSequential()
    >>> net.add(mx.gluon.nn.Dense(8, activation='relu'), mx.gluon.nn.Dense(2))
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(mx.nd.ones((4, 3))).shape
    (4, 2)
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        for block in self._children.values():
            x = block(x)
        return x


for _stack in (Sequential, HybridSequential):
    _suggest_members(_stack, {'append': 'add(layer)', 'extend': 'add(*layers)'})


# ---------------------------------------------------------------------- dense layers, dropout, embeddings
class Dense(HybridBlock):
    """`activation(x W^T + b)`, with weights of shape (units, in_units).

    `in_units` is found with the first batch where it is not given.  All axes but the first are taken together, unless
    `flatten` is False: then the layer works on the last axis.

    >>> layer = mx.gluon.nn.Dense(2, activation='relu', in_units=3)
    >>> layer
    Dense(3 -> 2, Activation(relu))
    >>> layer.initialize()
    >>> layer(mx.nd.ones((5, 3))).shape
    (5, 2)
    """

    def __init__(self, units: int, activation: str | None = None, use_bias: bool = True, flatten: bool = True,
                 dtype: DType = 'float32', weight_initializer: Init | None = None, bias_initializer: Init = 'zeros',
                 in_units: int = 0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self.bias: Parameter            # None without a bias
        self._units, self._in_units, self._flatten = units, in_units, flatten
        with self.name_scope():
            self.weight: Parameter
            self.weight = self.params.get('weight', shape=(units, in_units), init=weight_initializer, dtype=dtype,
                                          allow_deferred_init=True)
            self.bias = self.params.get('bias', shape=(units,), init=bias_initializer, dtype=dtype,
                                        allow_deferred_init=True) if use_bias else None         # type: ignore[assignment]
            self.act: Any = Activation(activation, prefix=activation + '_') if activation is not None else None

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        out = operator(F, 'FullyConnected')(x, weight, bias, no_bias=bias is None, num_hidden=self._units,
                                            flatten=self._flatten, name='fwd')
        return out if self.act is None else self.act(out)

    def __repr__(self) -> str:
        units, in_units = self.weight.shape
        return f'{type(self).__name__}({in_units or None} -> {units}, {self.act or "linear"})'


class Dropout(HybridBlock):
    """In training, sets a random fraction `rate` of the values to 0 and scales the others up; else passes its input on.

    One decision is taken for all values along the `axes`.
    """

    def __init__(self, rate: float, axes: Shape = (), **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        if isinstance(rate, str):
            raise TypeError(f'Dropout: rate must be a number, not the str {rate!r}')
        self._rate, self._axes = rate, axes

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        if self._rate > 0:
            return operator(F, 'Dropout')(x, p=self._rate, axes=self._axes, name='fwd', cudnn_off=False)
        return F.np.copy(x) if is_np_array() else F.identity(x)

    def __repr__(self) -> str:
        return f'{type(self).__name__}(p = {self._rate}, axes={self._axes})'


class Embedding(HybridBlock):
    """Turns numbers below `input_dim` into vectors of `output_dim` values.

    With `sparse_grad`, the gradient has only the rows that were looked up.

    >>> layer = mx.gluon.nn.Embedding(10, 4)
    >>> layer.initialize()
    >>> layer(mx.nd.array([1, 3, 3])).shape
    (3, 4)
    """

    def __init__(self, input_dim: int, output_dim: int, dtype: DType = 'float32',
                 weight_initializer: Init | None = None, sparse_grad: bool = False,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self._kwargs = {'input_dim': input_dim, 'output_dim': output_dim, 'dtype': dtype, 'sparse_grad': sparse_grad}
        self.weight: Parameter
        self.weight = self.params.get('weight', shape=(input_dim, output_dim), init=weight_initializer, dtype=dtype,
                                      allow_deferred_init=True, grad_stype='row_sparse' if sparse_grad else 'default')

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        return operator(F, 'Embedding')(x, weight, name='fwd', **self._kwargs)

    def __repr__(self) -> str:
        return '{}({input_dim} -> {output_dim}, {dtype})'.format(type(self).__name__, **self._kwargs)


class Flatten(HybridBlock):
    """Takes all axes but the first together."""

    def __init__(self, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return operator(F, 'Flatten')(x)

    def __repr__(self) -> str:
        return type(self).__name__


# ---------------------------------------------------------------------- normalization
def _listed(kwargs):
    return ', '.join(f'{k}={v!r}' for k, v in kwargs.items())


class _BatchNorm(HybridBlock):
    """Batch normalization, with or without a ReLU after it."""

    def __init__(self, axis: int = 1, momentum: float = 0.9, epsilon: float = 1e-5, center: bool = True,
                 scale: bool = True, use_global_stats: bool = False, fuse_relu: bool = False,
                 beta_initializer: Init = 'zeros', gamma_initializer: Init = 'ones',
                 running_mean_initializer: Init = 'zeros', running_variance_initializer: Init = 'ones',
                 in_channels: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._kwargs = {'axis': axis, 'eps': epsilon, 'momentum': momentum, 'fix_gamma': not scale,
                        'use_global_stats': use_global_stats}
        self.fuse_relu = fuse_relu
        if in_channels:
            self.in_channels = in_channels

        def parameter(name, init, trained):
            return self.params.get(name, grad_req='write' if trained else 'null', shape=(in_channels,), init=init,
                                   allow_deferred_init=True, differentiable=trained)

        self.gamma: Parameter = parameter('gamma', gamma_initializer, scale)
        self.beta: Parameter = parameter('beta', beta_initializer, center)
        self.running_mean: Parameter = parameter('running_mean', running_mean_initializer, False)
        self.running_var: Parameter = parameter('running_var', running_variance_initializer, False)

    def cast(self, dtype: DType) -> None:
        """Converts the parameters; for inputs of 16 bits they stay in float32, since averages need its precision."""
        super().cast('float32' if dtype_name(dtype) in ('float16', 'bfloat16') else dtype)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any) -> Any:
        inputs = (x, gamma, beta, running_mean, running_var)
        if not self.fuse_relu:
            return operator(F, 'BatchNorm')(*inputs, name='fwd', **self._kwargs)
        if is_np_array():
            return F.npx.relu(F.npx.batch_norm(*inputs, name='fwd', **self._kwargs))
        return F.contrib.BatchNormWithReLU(*inputs, name='fwd', **self._kwargs)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({_listed(self._kwargs)}, in_channels={self.gamma.shape[0] or None})'


class BatchNorm(_BatchNorm):
    """Gives every channel mean `beta` and standard deviation `gamma`: in training by the averages of the batch, else by
    running ones.

    >>> layer = mx.gluon.nn.BatchNorm()
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 3, 4, 4))).shape
    (2, 3, 4, 4)
    """

    def __init__(self, axis: int = 1, momentum: float = 0.9, epsilon: float = 1e-5, center: bool = True,
                 scale: bool = True, use_global_stats: bool = False, beta_initializer: Init = 'zeros',
                 gamma_initializer: Init = 'ones', running_mean_initializer: Init = 'zeros',
                 running_variance_initializer: Init = 'ones', in_channels: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(axis, momentum, epsilon, center, scale, use_global_stats, False, beta_initializer,
                         gamma_initializer, running_mean_initializer, running_variance_initializer, in_channels,
                         **kwargs)


class BatchNormReLU(_BatchNorm):
    """`BatchNorm` with a ReLU after it."""

    def __init__(self, axis: int = 1, momentum: float = 0.9, epsilon: float = 1e-5, center: bool = True,
                 scale: bool = True, use_global_stats: bool = False, beta_initializer: Init = 'zeros',
                 gamma_initializer: Init = 'ones', running_mean_initializer: Init = 'zeros',
                 running_variance_initializer: Init = 'ones', in_channels: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(axis, momentum, epsilon, center, scale, use_global_stats, True, beta_initializer,
                         gamma_initializer, running_mean_initializer, running_variance_initializer, in_channels,
                         **kwargs)


class _Norm(HybridBlock):
    """A normalization with a gain and an offset for each of `size` channels or groups."""

    _kwargs: dict[str, Any]

    def _make_parameters(self, size, center, scale, beta_initializer, gamma_initializer):
        self.gamma: Parameter = self.params.get('gamma', grad_req='write' if scale else 'null', shape=(size,),
                                     init=gamma_initializer, allow_deferred_init=True)
        self.beta: Parameter = self.params.get('beta', grad_req='write' if center else 'null', shape=(size,),
                                    init=beta_initializer, allow_deferred_init=True)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({_listed(self._kwargs)}, in_channels={self.gamma.shape[0]})'


class InstanceNorm(_Norm):
    """Normalizes every channel of every sample by itself."""

    def __init__(self, axis: int = 1, epsilon: float = 1e-5, center: bool = True, scale: bool = False,
                 beta_initializer: Init = 'zeros', gamma_initializer: Init = 'ones', in_channels: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self._kwargs = {'eps': epsilon, 'axis': axis, 'center': center, 'scale': scale}
        self._axis, self._epsilon = axis, epsilon
        self._make_parameters(in_channels, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        normalize = operator(F, 'InstanceNorm')
        if self._axis == 1:
            return normalize(x, gamma, beta, name='fwd', eps=self._epsilon)
        return normalize(x.swapaxes(1, self._axis), gamma, beta, name='fwd', eps=self._epsilon).swapaxes(1, self._axis)


class LayerNorm(_Norm):
    """Normalizes every sample along an axis, the last one unless told otherwise.

    >>> layer = mx.gluon.nn.LayerNorm()
    >>> layer.initialize()
    >>> layer(mx.nd.array([[1, 2, 3, 4, 5]])).asnumpy().astype('float64').round(2).tolist()
    [[-1.41, -0.71, 0.0, 0.71, 1.41]]
    """

    def __init__(self, axis: int = -1, epsilon: float = 1e-5, center: bool = True, scale: bool = True,
                 beta_initializer: Init = 'zeros', gamma_initializer: Init = 'ones', in_channels: int = 0,
                 prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {'eps': epsilon, 'axis': axis, 'center': center, 'scale': scale}
        self._axis, self._epsilon, self._center, self._scale = axis, epsilon, center, scale
        self._make_parameters(in_channels, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:
        return operator(F, 'LayerNorm')(data, gamma=gamma, beta=beta, axis=self._axis, eps=self._epsilon)


class GroupNorm(_Norm):
    """Normalizes groups of channels of every sample.  Gains and offsets are per group, as upstream has them."""

    def __init__(self, num_groups: int = 1, epsilon: float = 1e-5, center: bool = True, scale: bool = True,
                 beta_initializer: Init = 'zeros', gamma_initializer: Init = 'ones', prefix: str | None = None,
                 params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {'eps': epsilon, 'num_groups': num_groups, 'center': center, 'scale': scale}
        self._num_groups, self._epsilon, self._center, self._scale = num_groups, epsilon, center, scale
        self._make_parameters(num_groups, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:
        return operator(F, 'GroupNorm')(data, gamma=gamma, beta=beta, num_groups=self._num_groups, eps=self._epsilon)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({_listed(self._kwargs)})'


# ---------------------------------------------------------------------- functions as layers
def _unknown_function(layer, function):
    return ValueError(f'{type(layer).__name__} takes a function or the name of an operator, not {function!r} of type '
                      f'{type(function).__name__}')


class Lambda(Block):
    """A function of arrays, or the name of one in `mx.nd`, as a block.

    >>> mx.gluon.nn.Lambda('tanh')
    Lambda(tanh)
    >>> mx.gluon.nn.Lambda(lambda x: x * 2)(mx.nd.array([1, 2])).asnumpy().tolist()
    [2.0, 4.0]
    """

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            if not hasattr(ndarray, function):
                raise AssertionError(f'there is no mx.nd.{function}{near(function, dir(ndarray))} for Lambda')
            self._func_impl = getattr(ndarray, function)
        elif callable(function):
            self._func_impl = function
        else:
            raise _unknown_function(self, function)

    def forward(self, *args: Any) -> Any:
        return self._func_impl(*args)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._func_impl.__name__})'


class HybridLambda(HybridBlock):
    """A function `f(F, x, ...)`, or the name of an operator, as a hybrid block.

    >>> net = mx.gluon.nn.HybridLambda(lambda F, x: F.relu(x) + 1)
    >>> net(mx.nd.array([-1, 2])).asnumpy().tolist()
    [1.0, 3.0]
    """

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            if not hasattr(ndarray, function) or not hasattr(symbol, function):
                raise AssertionError(f'there is no mx.nd.{function} and mx.sym.{function}'
                                     f'{near(function, dir(ndarray))} for HybridLambda')
            self._func = lambda F, *args: operator(F, function)(*args)
            self._func_name = function
        elif callable(function):
            self._func = function
            self._func_name = function.__name__
        else:
            raise _unknown_function(self, function)

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
        return self._func(F, x, *args)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._func_name})'
