"""Parallel branches, identity, sparse embeddings, batch normalization over devices, and pixel shuffles."""
from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Unpack

from .... import context, ndarray
from ...._dist.places import place
from ....util import is_np_array
from ..._operators import contrib, operator
from ...block import Block, HybridBlock
from ...nn import BatchNorm, HybridSequential, Sequential

if TYPE_CHECKING:
    from ...._typing import BlockOptions, DType, Init, Shape
    from ....gluon.parameter import Parameter, ParameterDict

__all__ = ['Concurrent', 'HybridConcurrent', 'Identity', 'PixelShuffle1D', 'PixelShuffle2D', 'PixelShuffle3D',
           'SparseEmbedding', 'SyncBatchNorm']


def _joined(F, parts, axis):
    return F.np.concatenate(parts, axis=axis) if is_np_array() else F.concat(*parts, dim=axis)


class Concurrent(Sequential):
    """Calls blocks on the same input and joins what they return along an axis."""

    def __init__(self, axis: int = -1, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def forward(self, x: Any) -> Any:
        return _joined(ndarray, [block(x) for block in self._children.values()], self.axis)


class HybridConcurrent(HybridSequential):
    """Calls hybrid blocks on the same input and joins what they return along an axis.

    >>> net = mx.gluon.contrib.nn.HybridConcurrent(axis=1)
    >>> net.add(mx.gluon.contrib.nn.Identity(), mx.gluon.nn.Activation('relu'))
    >>> net(mx.nd.array([[-1, 2]])).asnumpy().tolist()
    [[-1.0, 2.0, 0.0, 2.0]]
    """

    def __init__(self, axis: int = -1, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _joined(F, [block(x) for block in self._children.values()], self.axis)


class Identity(HybridBlock):
    """Passes its input on: the shortcut of a `HybridConcurrent`."""

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x


class SparseEmbedding(Block):
    """An embedding with row_sparse weights: a Trainer keeps them, and each batch fetches the rows that it needs."""

    def __init__(self, input_dim: int, output_dim: int, dtype: DType = 'float32',
                 weight_initializer: Init | None = None, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self._kwargs: dict[str, Any] = {'input_dim': input_dim, 'output_dim': output_dim, 'dtype': dtype,
                                        'sparse_grad': True}
        self.weight: Parameter
        self.weight = self.params.get('weight', shape=(input_dim, output_dim), init=weight_initializer, dtype=dtype,
                                      grad_stype='row_sparse', stype='row_sparse')

    def forward(self, x: Any) -> Any:
        return ndarray.Embedding(x, self.weight.row_sparse_data(x), name='fwd', **self._kwargs)

    def __repr__(self) -> str:
        return '{}({input_dim} -> {output_dim}, {dtype})'.format(type(self).__name__, **self._kwargs)


class SyncBatchNorm(BatchNorm):
    """`BatchNorm` with the averages of the batches of all processes, one of which has each device.

    `num_devices` says how many; if it is not given, as many as the job has workers, or else as this machine has GPUs.
    Make the KVStore (`mx.kv.create('dist_sync')`) before the first batch: with it the processes join.
    """

    def __init__(self, in_channels: int = 0, num_devices: int | None = None, momentum: float = 0.9,
                 epsilon: float = 1e-5, center: bool = True, scale: bool = True, use_global_stats: bool = False,
                 beta_initializer: Init = 'zeros', gamma_initializer: Init = 'ones',
                 running_mean_initializer: Init = 'zeros', running_variance_initializer: Init = 'ones',
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(1, momentum, epsilon, center, scale, use_global_stats, beta_initializer, gamma_initializer,
                         running_mean_initializer, running_variance_initializer, in_channels, **kwargs)
        if num_devices is None:
            num_devices = place().size
            if num_devices == 1:
                num_devices = max(1, context.num_gpus())
                warnings.warn(f'SyncBatchNorm: num_devices is not given, so it is the number of GPUs here, '
                              f'{num_devices}; give it if not all of them are used', UserWarning, stacklevel=2)
        self._kwargs: dict[str, Any] = {'eps': epsilon, 'momentum': momentum, 'fix_gamma': not scale,
                        'use_global_stats': use_global_stats, 'ndev': num_devices, 'key': self.prefix}

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any) -> Any:
        return contrib(F, 'SyncBatchNorm')(x, gamma, beta, running_mean, running_var, name='fwd', **self._kwargs)


# ---------------------------------------------------------------------- pixel shuffles
class _PixelShuffle(HybridBlock):
    """Moves values from the channels into space: axis k gets `factors[k]` times as long."""

    def __init__(self, factors: tuple[int, ...], shown: Any) -> None:
        super().__init__()
        self._factors, self._shown = factors, shown

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        reshape, swapaxes = operator(F, 'reshape'), operator(F, 'swapaxes')
        count, rest = len(self._factors), math.prod(self._factors)
        x = reshape(x, (0, -4, -1, rest, *[0] * count))             # batch, channels, all factors, axes
        for k, factor in enumerate(self._factors):
            x = swapaxes(x, 2 + k, 3 + k)                           # ..., axis k, factors from k on, later axes
            rest //= factor
            if k < count - 1:
                x = reshape(x, (*[0] * (3 + k), -4, factor, rest, *[0] * (count - 1 - k)))
                x = reshape(x, (*[0] * (2 + k), -3, *[0] * (count - k)))
        return reshape(x, (*[0] * (1 + count), -3))

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._shown})'


def _factors(layer, factor, count):
    if not hasattr(factor, '__len__'):
        return (int(factor),) * count
    found = tuple(int(f) for f in factor)
    if len(found) != count:
        raise AssertionError(f'factor of {type(layer).__name__} must be a number or {count} numbers, not {factor}')
    return found


class PixelShuffle1D(_PixelShuffle):
    """(batch, factor * channels, width) to (batch, channels, factor * width).

    >>> mx.gluon.contrib.nn.PixelShuffle1D(2)(mx.nd.zeros((1, 8, 3))).shape
    (1, 4, 6)
    """

    def __init__(self, factor: int) -> None:
        super().__init__((int(factor),), int(factor))
        self._factor = int(factor)


class PixelShuffle2D(_PixelShuffle):
    """(batch, f1 * f2 * channels, height, width) to (batch, channels, f1 * height, f2 * width).

    >>> mx.gluon.contrib.nn.PixelShuffle2D((2, 3))(mx.nd.zeros((1, 12, 3, 5))).shape
    (1, 2, 6, 15)
    """

    def __init__(self, factor: Shape) -> None:
        factors = _factors(self, factor, 2)
        super().__init__(factors, factors)


class PixelShuffle3D(_PixelShuffle):
    """(batch, f1 * f2 * f3 * channels, depth, height, width) to (batch, channels, f1 * depth, f2 * height, f3 * width).
    """

    def __init__(self, factor: Shape) -> None:
        factors = _factors(self, factor, 3)
        super().__init__(factors, factors)
