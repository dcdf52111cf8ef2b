"""Convolutions, pooling and padding as layers."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ..._names import call_hint, kind_of
from ..._names import suggest_names as _suggest_names
from ...base import MXNetError, numeric_types
from .._operators import operator
from ..block import HybridBlock
from .activations import Activation

if TYPE_CHECKING:
    from ..._typing import BlockOptions, Init, Shape
    from ...gluon.parameter import Parameter, ParameterDict

__all__ = ['AvgPool1D', 'AvgPool2D', 'AvgPool3D', 'Conv1D', 'Conv1DTranspose', 'Conv2D', 'Conv2DTranspose', 'Conv3D',
           'Conv3DTranspose', 'GlobalAvgPool1D', 'GlobalAvgPool2D', 'GlobalAvgPool3D', 'GlobalMaxPool1D',
           'GlobalMaxPool2D', 'GlobalMaxPool3D', 'MaxPool1D', 'MaxPool2D', 'MaxPool3D', 'ReflectionPad2D']


def _per_axis(value, count):
    """A number for every axis; lists and tuples stay as they are given."""
    return (value,) * count if isinstance(value, numeric_types) else value


def _sizes(layer, name, value, count):
    if hasattr(value, 'list_arguments') or getattr(value, 'size', 1) > 3 and hasattr(value, 'asnumpy'):
        raise TypeError(f'{type(layer).__name__}: {name} must be a number or {count} numbers, not {kind_of(value)}'
                        + call_hint(type(layer).__name__))
    value = _per_axis(value, count)
    if len(value) != count:
        raise AssertionError(f'{name} of {type(layer).__name__} must be a number or {count} numbers, not {value}')
    return value


def _check_sizes(layer, channels, kernel_size, groups, in_channels, others):
    """What no input could be convolved with is refused where it is written."""
    for name, value in (('channels', channels), ('groups', groups)):
        if isinstance(value, numeric_types) and value < 1:
            raise MXNetError(f'{layer}: {name} must be at least 1, not {value}')
    if any(isinstance(size, numeric_types) and size < 1 for size in kernel_size):
        raise MXNetError(f'{layer}: kernel_size={kernel_size} must be positive')
    for name, value in others.items():
        if isinstance(value, (tuple, list)) and len(value) != len(kernel_size):
            raise MXNetError(f'{layer}: {name} must be a number or {len(kernel_size)} numbers, not {value}')
    if isinstance(groups, numeric_types):
        for name, value in (('channels', channels), ('in_channels', in_channels)):
            if isinstance(value, numeric_types) and value % groups:
                raise MXNetError(f'{layer}: groups={groups} must divide {name}={value}')


def _check_layout(layer, layout, accepted):
    if layout not in accepted:
        raise AssertionError(f'layout of {type(layer).__name__} must be {" or ".join(accepted)}, not {layout!r}')


class _Conv(HybridBlock):
    """What all convolutions share; `op_name` says which operator it is."""

    def __init__(self, channels: int, kernel_size: Any, strides: Any, padding: Any, dilation: Any, groups: int,
                 layout: str, in_channels: int = 0, activation: str | None = None, use_bias: bool = True,
                 weight_initializer: Init | None = None, bias_initializer: Init = 'zeros', op_name: str = 'Convolution',
                 adj: Any = None, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.bias: Parameter            # None without a bias
        count = len(kernel_size)
        _check_sizes(type(self).__name__, channels, kernel_size, groups, in_channels,
                     {'strides': strides, 'padding': padding, 'dilation': dilation})
        self._channels, self._in_channels, self._op_name = channels, in_channels, op_name
        self._kwargs = {'kernel': kernel_size, 'stride': _per_axis(strides, count),
                        'dilate': _per_axis(dilation, count), 'pad': _per_axis(padding, count), 'num_filter': channels,
                        'num_group': groups, 'no_bias': not use_bias, 'layout': layout}
        if adj is not None:
            self._kwargs['adj'] = adj
        outer, inner = channels, in_channels // groups
        if op_name.lower().startswith('deconv'):
            outer, inner = in_channels, channels // groups
        shape = (outer, *kernel_size, inner) if layout.endswith('C') else (outer, inner, *kernel_size)
        with self.name_scope():
            self.weight: Parameter
            self.weight = self.params.get('weight', shape=shape, init=weight_initializer, allow_deferred_init=True)
            self.bias = self.params.get('bias', shape=(channels,), init=bias_initializer, allow_deferred_init=True) \
                if use_bias else None                   # type: ignore[assignment]
            self.act: Any = Activation(activation, prefix=activation + '_') if activation is not None else None

    def _alias(self):
        return 'conv'

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        inputs = (x, weight) if bias is None else (x, weight, bias)
        out = operator(F, self._op_name)(*inputs, name='fwd', **self._kwargs)
        return out if self.act is None else self.act(out)

    def __repr__(self) -> str:
        given, shape, count = self._kwargs, self.weight.shape, len(self._kwargs['kernel'])
        parts = [f'{shape[1] or None} -> {shape[0]}', f'kernel_size={given["kernel"]}', f'stride={given["stride"]}']
        if given['pad'] != (0,) * count:
            parts.append(f'padding={given["pad"]}')
        if given['dilate'] != (1,) * count:
            parts.append(f'dilation={given["dilate"]}')
        if given['num_group'] != 1:
            parts.append(f'groups={given["num_group"]}')
        if self.bias is None:
            parts.append('bias=False')
        if self.act is not None:
            parts.append(repr(self.act))
        return f'{type(self).__name__}({", ".join(parts)})'


class Conv1D(_Conv):
    """Convolution along one axis, of (batch, channels, width).

    `in_channels` is found with the first batch where it is not given.

    >>> layer = mx.gluon.nn.Conv1D(8, kernel_size=3)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 4, 10))).shape
    (2, 8, 8)
    """

    def __init__(self, channels: int, kernel_size: Shape, strides: Shape = 1, padding: Shape = 0, dilation: Shape = 1,
                 groups: int = 1, layout: str = 'NCW', activation: str | None = None, use_bias: bool = True,
                 weight_initializer: Init | None = None, bias_initializer: Init = 'zeros', in_channels: int = 0,
                 **kwargs: Unpack[BlockOptions]) -> None:
        _check_layout(self, layout, ('NCW',))
        super().__init__(channels, _sizes(self, 'kernel_size', kernel_size, 1), strides, padding, dilation, groups,
                         layout, in_channels, activation, use_bias, weight_initializer, bias_initializer, **kwargs)


class Conv2D(_Conv):
    """Convolution along two axes, of (batch, channels, height, width), or with the channels last (`layout='NHWC'`).

    >>> layer = mx.gluon.nn.Conv2D(8, kernel_size=3, strides=2, padding=1, activation='relu')
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 3, 32, 32))).shape
    (2, 8, 16, 16)
    """

    def __init__(self, channels: int, kernel_size: Shape, strides: Shape = (1, 1), padding: Shape = (0, 0),
                 dilation: Shape = (1, 1), groups: int = 1, layout: str = 'NCHW', activation: str | None = None,
                 use_bias: bool = True, weight_initializer: Init | None = None, bias_initializer: Init = 'zeros',
                 in_channels: int = 0, **kwargs: Unpack[BlockOptions]) -> None:
        _check_layout(self, layout, ('NCHW', 'NHWC'))
        super().__init__(channels, _sizes(self, 'kernel_size', kernel_size, 2), strides, padding, dilation, groups,
                         layout, in_channels, activation, use_bias, weight_initializer, bias_initializer, **kwargs)


class Conv3D(_Conv):
    """Convolution along three axes, of (batch, channels, depth, height, width), or with the channels last."""

    def __init__(self, channels: int, kernel_size: Shape, strides: Shape = (1, 1, 1), padding: Shape = (0, 0, 0),
                 dilation: Shape = (1, 1, 1), groups: int = 1, layout: str = 'NCDHW', activation: str | None = None,
                 use_bias: bool = True, weight_initializer: Init | None = None, bias_initializer: Init = 'zeros',
                 in_channels: int = 0, **kwargs: Unpack[BlockOptions]) -> None:
        _check_layout(self, layout, ('NCDHW', 'NDHWC'))
        super().__init__(channels, _sizes(self, 'kernel_size', kernel_size, 3), strides, padding, dilation, groups,
                         layout, in_channels, activation, use_bias, weight_initializer, bias_initializer, **kwargs)


class _ConvTranspose(_Conv):
    def __init__(self, count: int, channels: int, kernel_size: Any, strides: Any, padding: Any,
                 output_padding: Any, dilation: Any, groups: int, layout: str, *args: Any,
                 op_name: str = 'Deconvolution', **kwargs: Any) -> None:
        kernel_size = _sizes(self, 'kernel_size', kernel_size, count)
        output_padding = _sizes(self, 'output_padding', output_padding, count)
        super().__init__(channels, kernel_size, strides, padding, dilation, groups, layout, *args, op_name=op_name,      # type: ignore[misc]
                         adj=output_padding, **kwargs)
        self.outpad: Any = output_padding


class Conv1DTranspose(_ConvTranspose):
    """The transpose of `Conv1D`: with strides, it makes its input longer.

    `output_padding` adds to one side of the output, for strides that divide several lengths to the same.
    """

    def __init__(self, channels: int, kernel_size: Shape, strides: Shape = 1, padding: Shape = 0,
                 output_padding: Shape = 0, dilation: Shape = 1, groups: int = 1, layout: str = 'NCW',
                 activation: str | None = None, use_bias: bool = True, weight_initializer: Init | None = None,
                 bias_initializer: Init = 'zeros', in_channels: int = 0, **kwargs: Unpack[BlockOptions]) -> None:
        _check_layout(self, layout, ('NCW',))
        super().__init__(1, channels, kernel_size, strides, padding, output_padding, dilation, groups, layout,
                         in_channels, activation, use_bias, weight_initializer, bias_initializer, **kwargs)


class Conv2DTranspose(_ConvTranspose):
    """The transpose of `Conv2D`.

    >>> layer = mx.gluon.nn.Conv2DTranspose(3, kernel_size=4, strides=2, padding=1)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 8, 16, 16))).shape
    (2, 3, 32, 32)
    """

    def __init__(self, channels: int, kernel_size: Shape, strides: Shape = (1, 1), padding: Shape = (0, 0),
                 output_padding: Shape = (0, 0), dilation: Shape = (1, 1), groups: int = 1, layout: str = 'NCHW',
                 activation: str | None = None, use_bias: bool = True, weight_initializer: Init | None = None,
                 bias_initializer: Init = 'zeros', in_channels: int = 0, **kwargs: Unpack[BlockOptions]) -> None:
        _check_layout(self, layout, ('NCHW', 'NHWC'))
        super().__init__(2, channels, kernel_size, strides, padding, output_padding, dilation, groups, layout,
                         in_channels, activation, use_bias, weight_initializer, bias_initializer, **kwargs)


class Conv3DTranspose(_ConvTranspose):
    """The transpose of `Conv3D`."""

    def __init__(self, channels: int, kernel_size: Shape, strides: Shape = (1, 1, 1), padding: Shape = (0, 0, 0),
                 output_padding: Shape = (0, 0, 0), dilation: Shape = (1, 1, 1), groups: int = 1, layout: str = 'NCDHW',
                 activation: str | None = None, use_bias: bool = True, weight_initializer: Init | None = None,
                 bias_initializer: Init = 'zeros', in_channels: int = 0, **kwargs: Unpack[BlockOptions]) -> None:
        _check_layout(self, layout, ('NCDHW', 'NDHWC'))
        super().__init__(3, channels, kernel_size, strides, padding, output_padding, dilation, groups, layout,
                         in_channels, activation, use_bias, weight_initializer, bias_initializer, **kwargs)


# ---------------------------------------------------------------------- pooling
class _Pooling(HybridBlock):
    """What all pooling layers share."""

    def __init__(self, pool_size: Any, strides: Any, padding: Any, ceil_mode: bool, global_pool: bool,
                 pool_type: str, layout: str, count_include_pad: bool | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        count = len(pool_size)
        self._kwargs = {'kernel': pool_size, 'stride': _per_axis(pool_size if strides is None else strides, count),
                        'pad': _per_axis(padding, count), 'global_pool': global_pool, 'pool_type': pool_type,
                        'layout': layout, 'pooling_convention': 'full' if ceil_mode else 'valid'}
        if count_include_pad is not None:
            self._kwargs['count_include_pad'] = count_include_pad

    def _alias(self):
        return 'pool'

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return operator(F, 'Pooling')(x, name='fwd', **self._kwargs)

    def __repr__(self) -> str:
        k = self._kwargs
        return (f'{type(self).__name__}(size={k["kernel"]}, stride={k["stride"]}, padding={k["pad"]}, '
                f'ceil_mode={k["pooling_convention"] == "full"}, global_pool={k["global_pool"]}, '
                f'pool_type={k["pool_type"]}, layout={k["layout"]})')


_LAYOUTS = (None, ('NCW', 'NWC'), ('NCHW', 'NHWC'), ('NCDHW', 'NDHWC'))


class _Window(_Pooling):
    """Pooling of windows along `count` axes."""

    def __init__(self, count: int, pool_size: Any, strides: Any, padding: Any, ceil_mode: bool, pool_type: str,
                 layout: str, *args: Any, **kwargs: Any) -> None:
        _check_layout(self, layout, _LAYOUTS[count])
        super().__init__(_sizes(self, 'pool_size', pool_size, count), strides, padding, ceil_mode, False, pool_type,
                         layout, *args, **kwargs)


class MaxPool1D(_Window):
    """The largest value of every window; windows do not overlap unless `strides` says so."""

    def __init__(self, pool_size: Shape = 2, strides: Shape | None = None, padding: Shape = 0, layout: str = 'NCW',
                 ceil_mode: bool = False, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(1, pool_size, strides, padding, ceil_mode, 'max', layout, **kwargs)


class MaxPool2D(_Window):
    """The largest value of every window of a picture.

    With `ceil_mode`, a window that is not full at the border counts, too.

    >>> mx.gluon.nn.MaxPool2D(pool_size=3, strides=2)(mx.nd.ones((1, 8, 32, 32))).shape
    (1, 8, 15, 15)
    """

    def __init__(self, pool_size: Shape = (2, 2), strides: Shape | None = None, padding: Shape = 0,
                 layout: str = 'NCHW', ceil_mode: bool = False, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(2, pool_size, strides, padding, ceil_mode, 'max', layout, **kwargs)


class MaxPool3D(_Window):
    """The largest value of every window of a volume."""

    def __init__(self, pool_size: Shape = (2, 2, 2), strides: Shape | None = None, padding: Shape = 0,
                 ceil_mode: bool = False, layout: str = 'NCDHW', **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(3, pool_size, strides, padding, ceil_mode, 'max', layout, **kwargs)


class AvgPool1D(_Window):
    """The mean of every window; `count_include_pad` says whether the zeros of the padding count."""

    def __init__(self, pool_size: Shape = 2, strides: Shape | None = None, padding: Shape = 0, layout: str = 'NCW',
                 ceil_mode: bool = False, count_include_pad: bool = True, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(1, pool_size, strides, padding, ceil_mode, 'avg', layout, count_include_pad, **kwargs)


class AvgPool2D(_Window):
    """The mean of every window of a picture."""

    def __init__(self, pool_size: Shape = (2, 2), strides: Shape | None = None, padding: Shape = 0,
                 ceil_mode: bool = False, layout: str = 'NCHW', count_include_pad: bool = True,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(2, pool_size, strides, padding, ceil_mode, 'avg', layout, count_include_pad, **kwargs)


class AvgPool3D(_Window):
    """The mean of every window of a volume."""

    def __init__(self, pool_size: Shape = (2, 2, 2), strides: Shape | None = None, padding: Shape = 0,
                 ceil_mode: bool = False, layout: str = 'NCDHW', count_include_pad: bool = True,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(3, pool_size, strides, padding, ceil_mode, 'avg', layout, count_include_pad, **kwargs)


class _Global(_Pooling):
    """One value for every channel."""

    def __init__(self, count: int, pool_type: str, layout: str, **kwargs: Any) -> None:
        _check_layout(self, layout, _LAYOUTS[count])
        super().__init__((1,) * count, None, 0, True, True, pool_type, layout, **kwargs)


class GlobalMaxPool1D(_Global):
    """The largest value of every channel."""

    def __init__(self, layout: str = 'NCW', **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(1, 'max', layout, **kwargs)


class GlobalMaxPool2D(_Global):
    """The largest value of every channel."""

    def __init__(self, layout: str = 'NCHW', **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(2, 'max', layout, **kwargs)


class GlobalMaxPool3D(_Global):
    """The largest value of every channel."""

    def __init__(self, layout: str = 'NCDHW', **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(3, 'max', layout, **kwargs)


class GlobalAvgPool1D(_Global):
    """The mean of every channel."""

    def __init__(self, layout: str = 'NCW', **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(1, 'avg', layout, **kwargs)


class GlobalAvgPool2D(_Global):
    """The mean of every channel.

    >>> mx.gluon.nn.GlobalAvgPool2D()(mx.nd.ones((1, 8, 7, 7))).shape
    (1, 8, 1, 1)
    """

    def __init__(self, layout: str = 'NCHW', **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(2, 'avg', layout, **kwargs)


class GlobalAvgPool3D(_Global):
    """The mean of every channel."""

    def __init__(self, layout: str = 'NCDHW', **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(3, 'avg', layout, **kwargs)


# ---------------------------------------------------------------------- padding
class ReflectionPad2D(HybridBlock):
    """Continues pictures beyond their borders as in a mirror.

    `padding` is one number for all sides, or the eight of `mx.nd.pad`.

    >>> mx.gluon.nn.ReflectionPad2D(2)(mx.nd.ones((1, 3, 8, 8))).shape
    (1, 3, 12, 12)
    """

    def __init__(self, padding: Any = 0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        if isinstance(padding, numeric_types):
            padding = (0, 0, 0, 0, padding, padding, padding, padding)
        if len(padding) != 8:
            raise AssertionError(f'padding of ReflectionPad2D must be a number or 8 numbers, not {padding}')
        self._padding = padding

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return operator(F, 'pad')(x, mode='reflect', pad_width=self._padding)


_suggest_names(globals())
