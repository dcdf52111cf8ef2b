"""Convolutions that learn where to look."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....base import numeric_types
from ..._operators import contrib, operator
from ...block import HybridBlock
from ...nn import Activation

if TYPE_CHECKING:
    from ...._typing import Init, Shape
    from ....gluon.parameter import Parameter, ParameterDict

__all__ = ['DeformableConvolution', 'ModulatedDeformableConvolution']


class _Deformable(HybridBlock):
    """What both kinds share: a convolution finds offsets (and masks), a second one samples there."""

    _sampled: Any
    _per_point: int          # values that the first convolution gives for each point of the kernel

    def _set_up(self, channels, kernel_size, strides, padding, dilation, groups, num_deformable_group, layout, use_bias,
                in_channels, activation, offset_use_bias, op_name, adj):
        if layout not in ('NCHW', 'NHWC'):
            raise AssertionError(f'layout of {type(self).__name__} must be NCHW or NHWC, not {layout!r}')
        kernel, stride, pad, dilate = ((v, v) if isinstance(v, numeric_types) else v
                                       for v in (kernel_size, strides, padding, dilation))
        self._channels, self._in_channels, self._op_name = channels, in_channels, op_name
        common = {'kernel': kernel, 'stride': stride, 'dilate': dilate, 'pad': pad}
        points = num_deformable_group * kernel[0] * kernel[1]
        self._kwargs_offset = {**common, 'num_filter': self._per_point * points, 'num_group': groups,
                               'no_bias': not offset_use_bias, 'layout': layout}
        self._kwargs_deformable_conv = {**common, 'num_filter': channels, 'num_group': groups,
                                        'num_deformable_group': num_deformable_group, 'no_bias': not use_bias,
                                        'layout': layout}
        if adj:
            self._kwargs_offset['adj'] = self._kwargs_deformable_conv['adj'] = adj
        self._offsets = 2 * points
        self.act: Any = Activation(activation, prefix=activation + '_') if activation else None

    def _offset_parameters(self, use_bias, weight_initializer, bias_initializer):
        given = self._kwargs_offset
        count, inner = given['num_filter'], self._in_channels // given['num_group']
        shape = (count, inner, *given['kernel']) if given['layout'] == 'NCHW' else (count, *given['kernel'], inner)
        self.offset_weight: Parameter = self._parameter('offset_weight', shape, weight_initializer)
        self.offset_bias: Any = self._parameter('offset_bias', (count,), bias_initializer) if use_bias else None

    def _parameters(self, use_bias, weight_initializer, bias_initializer):
        shape = (self._channels, 0, *self._kwargs_deformable_conv['kernel'])
        self.deformable_conv_weight: Parameter = self._parameter('deformable_conv_weight', shape, weight_initializer)
        self.deformable_conv_bias: Any = self._parameter('deformable_conv_bias', (self._channels,), bias_initializer) \
            if use_bias else None

    def _parameter(self, name, shape, init):
        return self.params.get(name, shape=shape, init=init, allow_deferred_init=True)

    def hybrid_forward(self, F: Any, x: Any, offset_weight: Any, deformable_conv_weight: Any, offset_bias: Any = None,
                       deformable_conv_bias: Any = None) -> Any:
        inputs = (x, offset_weight) if offset_bias is None else (x, offset_weight, offset_bias)
        found = operator(F, 'Convolution')(*inputs, cudnn_off=True, **self._kwargs_offset)
        given = {'weight': deformable_conv_weight, **self._sampled(F, found)}
        if deformable_conv_bias is not None:
            given['bias'] = deformable_conv_bias
        out = contrib(F, type(self).__name__)(data=x, name='fwd', **given, **self._kwargs_deformable_conv)
        return out if self.act is None else self.act(out)


class DeformableConvolution(_Deformable):
    """A convolution that moves each point of its kernel by an offset that it computes from its input.

    >>> layer = mx.gluon.contrib.cnn.DeformableConvolution(4, kernel_size=3, padding=1)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((1, 3, 8, 8))).shape
    (1, 4, 8, 8)
    """

    _per_point = 2

    def __init__(self, channels: int, kernel_size: Shape = (1, 1), strides: Shape = (1, 1), padding: Shape = (0, 0),
                 dilation: Shape = (1, 1), groups: int = 1, num_deformable_group: int = 1, layout: str = 'NCHW',
                 use_bias: bool = True, in_channels: int = 0, activation: str | None = None,
                 weight_initializer: Init | None = None, bias_initializer: Init = 'zeros',
                 offset_weight_initializer: str = 'zeros', offset_bias_initializer: str = 'zeros',
                 offset_use_bias: bool = True, op_name: str = 'DeformableConvolution', adj: Any = None,
                 prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        with self.name_scope():
            self._set_up(channels, kernel_size, strides, padding, dilation, groups, num_deformable_group, layout,
                         use_bias, in_channels, activation, offset_use_bias, op_name, adj)
            self._offset_parameters(offset_use_bias, offset_weight_initializer, offset_bias_initializer)
            self._parameters(use_bias, weight_initializer, bias_initializer)

    def _alias(self):
        return 'deformable_conv'

    def _sampled(self, F, found):
        return {'offset': found}

    def __repr__(self) -> str:
        given, shape = self._kwargs_deformable_conv, self.deformable_conv_weight.shape
        parts = [f'{shape[1] or None} -> {shape[0]}', f'kernel_size={given["kernel"]}', f'stride={given["stride"]}']
        if given['pad'] != (0, 0):
            parts.append(f'padding={given["pad"]}')
        if given['dilate'] != (1, 1):
            parts.append(f'dilation={given["dilate"]}')
        if given['num_group'] != 1:
            parts.append(f'groups={given["num_group"]}')
        if self.deformable_conv_bias is None:
            parts.append('bias=False')
        if self.act is not None:
            parts.append(repr(self.act))
        return f'{type(self).__name__}({", ".join(parts)})'


class ModulatedDeformableConvolution(_Deformable):
    """A deformable convolution that also weighs each point, between 0 and 2."""

    _per_point = 3

    def __init__(self, channels: int, kernel_size: Shape = (1, 1), strides: Shape = (1, 1), padding: Shape = (0, 0),
                 dilation: Shape = (1, 1), groups: int = 1, num_deformable_group: int = 1, layout: str = 'NCHW',
                 use_bias: bool = True, in_channels: int = 0, activation: str | None = None,
                 weight_initializer: Init | None = None, bias_initializer: Init = 'zeros',
                 offset_weight_initializer: str = 'zeros', offset_bias_initializer: str = 'zeros',
                 offset_use_bias: bool = True, op_name: str = 'ModulatedDeformableConvolution', adj: Any = None,
                 prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        with self.name_scope():
            self._set_up(channels, kernel_size, strides, padding, dilation, groups, num_deformable_group, layout,
                         use_bias, in_channels, activation, offset_use_bias, op_name, adj)
            self._parameters(use_bias, weight_initializer, bias_initializer)
            self._offset_parameters(offset_use_bias, offset_weight_initializer, offset_bias_initializer)
        self.offset_split_index: Any = self._offsets

    def _alias(self):
        return 'modulated_deformable_conv'

    def _sampled(self, F, found):
        cut = operator(F, 'slice_axis')
        mask = operator(F, 'sigmoid')(cut(found, axis=1, begin=self._offsets, end=None)) * 2
        return {'offset': cut(found, axis=1, begin=0, end=self._offsets), 'mask': mask}
