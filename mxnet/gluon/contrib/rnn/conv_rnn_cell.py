"""Recurrent cells that convolve their inputs and states, over one, two or three dimensions."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...._kinds import explain_kinds as _explain_kinds
from ....util import with_defaults
from ...rnn import HybridRecurrentCell

if TYPE_CHECKING:
    from ...._typing import Init
    from ....gluon.parameter import Parameter, ParameterDict

__all__ = ['Conv1DGRUCell', 'Conv1DLSTMCell', 'Conv1DRNNCell', 'Conv2DGRUCell', 'Conv2DLSTMCell', 'Conv2DRNNCell',
           'Conv3DGRUCell', 'Conv3DLSTMCell', 'Conv3DRNNCell']

_LAYOUTS = {1: 'NCW', 2: 'NCHW', 3: 'NCDHW'}


class _BaseConvRNNCell(HybridRecurrentCell):
    """The arguments, parameters, shapes and convolutions that all of these cells have.

    `input_shape` is that of one step without the batch axis; a length of 0 is found from the first batch.  The state's
    convolution keeps the size, so its kernel must be odd.  A number stands for itself in every dimension.
    """

    i2h_weight: Parameter

    _dims = 0
    _gates = 1
    _states = 1

    def __init_subclass__(cls, dims: int | None = None, **kwargs: Any) -> None:
        """A class over `dims` dimensions shows them in the defaults of its arguments."""
        super().__init_subclass__(**kwargs)
        if dims is not None:
            cls._dims = dims
            cls.__init__ = with_defaults(_BaseConvRNNCell.__init__, i2h_pad=(0,) * dims, i2h_dilate=(1,) * dims,      # type: ignore[method-assign]
                                         h2h_dilate=(1,) * dims, conv_layout=_LAYOUTS[dims])

    def __init__(self, input_shape: Sequence[int], hidden_channels: int, i2h_kernel: Any, h2h_kernel: Any,
                 i2h_pad: Any = 0, i2h_dilate: Any = 1, h2h_dilate: Any = 1,
                 i2h_weight_initializer: Init | None = None, h2h_weight_initializer: Init | None = None,
                 i2h_bias_initializer: Init = 'zeros', h2h_bias_initializer: Init = 'zeros', conv_layout: str = '',
                 activation: str | Callable[..., Any] = 'tanh', prefix: str | None = None,
                 params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        dims = self._dims

        def each(name, value):
            if isinstance(value, int):
                return (value,) * dims
            if len(value) != dims:
                raise AssertionError(f'{name} of a {type(self).__name__} must be a number or {dims} of them, '
                                     f'not {value}')
            return tuple(value)

        self._hidden_channels, self._input_shape = hidden_channels, tuple(input_shape)
        self._conv_layout, self._activation = conv_layout, activation
        self._channel_axis = conv_layout.find('C')
        h2h_kernel, h2h_dilate = each('h2h_kernel', h2h_kernel), each('h2h_dilate', h2h_dilate)
        if not all(k % 2 for k in h2h_kernel):
            raise AssertionError(f'h2h_kernel of a {type(self).__name__} must be odd, not {h2h_kernel}')
        self._i2h = {'kernel': each('i2h_kernel', i2h_kernel), 'pad': each('i2h_pad', i2h_pad),
                     'dilate': each('i2h_dilate', i2h_dilate)}
        self._h2h = {'kernel': h2h_kernel, 'dilate': h2h_dilate,
                     'pad': tuple(d * (k - 1) // 2 for d, k in zip(h2h_dilate, h2h_kernel, strict=True))}

        first = self._channel_axis == 1
        in_channels = self._input_shape[0 if first else -1]
        sizes = self._input_shape[1:] if first else self._input_shape[:-1]
        out_sizes = tuple(n + 2 * p - d * (k - 1) if n else 0 for n, k, p, d in zip(sizes, *(
            self._i2h[name] for name in ('kernel', 'pad', 'dilate')), strict=True))
        self._state_shape = (hidden_channels, *out_sizes) if first else (*out_sizes, hidden_channels)
        rows = self._gates * hidden_channels
        i2h_shape = _kernel_shape(rows, in_channels, self._i2h['kernel'], first)
        h2h_shape = _kernel_shape(rows, hidden_channels, h2h_kernel, first)
        declared = {'i2h_weight': (i2h_shape, i2h_weight_initializer),
                    'h2h_weight': (h2h_shape, h2h_weight_initializer),
                    'i2h_bias': ((rows,), i2h_bias_initializer), 'h2h_bias': ((rows,), h2h_bias_initializer)}
        for name, (shape, init) in declared.items():
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def __repr__(self) -> str:
        shape = self.i2h_weight.shape
        channels = shape[1 if self._channel_axis == 1 else -1]
        return (f'{type(self).__name__}({channels if channels > 0 else None} -> {shape[0]}, {self._activation}, '
                f'{self._conv_layout})')

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        shape = batch_size, *self._state_shape
        return [{'shape': shape, '__layout__': self._conv_layout} for _ in range(self._states)]

    def _products(self, F, step, inputs, state, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        common = {'num_filter': self._gates * self._hidden_channels, 'layout': self._conv_layout}
        return (F.Convolution(inputs, i2h_weight, i2h_bias, name=step + 'i2h', **self._i2h, **common),
                F.Convolution(state, h2h_weight, h2h_bias, name=step + 'h2h', **self._h2h, **common))

    def _split(self, F, gates):
        return F.SliceChannel(gates, num_outputs=self._gates, axis=self._channel_axis)


def _kernel_shape(rows, channels, kernel, channels_first):
    return (rows, channels, *kernel) if channels_first else (rows, *kernel, channels)


class _ConvRNNCell(_BaseConvRNNCell):

    def _alias(self):
        return 'conv_rnn'

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any,
                       h2h_bias: Any) -> Any:
        step = f't{self._counter}_'
        i2h, h2h = self._products(F, step, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        output = self._get_activation(F, i2h + h2h, self._activation, name=step + 'out')
        return output, [output]


class _ConvLSTMCell(_BaseConvRNNCell):

    _gates = 4
    _states = 2

    def _alias(self):
        return 'conv_lstm'

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any,
                       h2h_bias: Any) -> Any:
        step = f't{self._counter}_'
        i2h, h2h = self._products(F, step, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        enter, forget, new, leave = self._split(F, i2h + h2h)
        new = self._get_activation(F, new, self._activation)
        next_c = F.elemwise_add(F.sigmoid(forget) * states[1], F.sigmoid(enter) * new, name=step + 'state')
        next_h = F.elemwise_mul(F.sigmoid(leave), self._get_activation(F, next_c, self._activation), name=step + 'out')
        return next_h, [next_h, next_c]


class _ConvGRUCell(_BaseConvRNNCell):

    _gates = 3

    def _alias(self):
        return 'conv_gru'

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any,
                       h2h_bias: Any) -> Any:
        step = f't{self._counter}_'
        i2h, h2h = self._products(F, step, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        i2h_r, i2h_z, i2h_n = self._split(F, i2h)
        h2h_r, h2h_z, h2h_n = self._split(F, h2h)
        update = F.sigmoid(i2h_z + h2h_z)
        new = self._get_activation(F, i2h_n + F.sigmoid(i2h_r + h2h_r) * h2h_n, self._activation)
        output = F.elemwise_add((1 - update) * new, update * states[0], name=step + 'out')
        return output, [output]


class Conv1DRNNCell(_ConvRNNCell, dims=1):
    """A simple recurrent cell with convolutions over one dimension."""


class Conv1DLSTMCell(_ConvLSTMCell, dims=1):
    """Long short-term memory with convolutions over one dimension."""


class Conv1DGRUCell(_ConvGRUCell, dims=1):
    """A gated recurrent unit with convolutions over one dimension."""


class Conv2DRNNCell(_ConvRNNCell, dims=2):
    """A simple recurrent cell with convolutions over two dimensions; `conv_layout` is 'NCHW' or 'NHWC'."""


class Conv2DLSTMCell(_ConvLSTMCell, dims=2):
    """Long short-term memory with convolutions over two dimensions; `conv_layout` is 'NCHW' or 'NHWC'."""


class Conv2DGRUCell(_ConvGRUCell, dims=2):
    """A gated recurrent unit with convolutions over two dimensions; `conv_layout` is 'NCHW' or 'NHWC'."""


class Conv3DRNNCell(_ConvRNNCell, dims=3):
    """A simple recurrent cell with convolutions over three dimensions; `conv_layout` is 'NCDHW' or 'NDHWC'."""


class Conv3DLSTMCell(_ConvLSTMCell, dims=3):
    """Long short-term memory with convolutions over three dimensions; `conv_layout` is 'NCDHW' or 'NDHWC'."""


class Conv3DGRUCell(_ConvGRUCell, dims=3):
    """A gated recurrent unit with convolutions over three dimensions; `conv_layout` is 'NCDHW' or 'NDHWC'."""


_explain_kinds(globals(), __all__)
