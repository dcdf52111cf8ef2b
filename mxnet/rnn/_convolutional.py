"""Cells whose gates are convolutions of pictures."""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import symbol
from ..util import with_defaults
from ._base_cell import BaseRNNCell
from ._cells import gru_step, lstm_step

if TYPE_CHECKING:
    from .._typing import Init
    from ..rnn import RNNParams
    from ..symbol import Symbol

_LEAKY = functools.partial(symbol.LeakyReLU, act_type='leaky', slope=0.2)


class BaseConvRNNCell(BaseRNNCell):
    """The base of convolutional cells.

    input_shape: that of the input of one step, with the batch size
    num_hidden: the number of channels of the state
    h2h_kernel, h2h_dilate: of the convolution of the state, which keeps its size; the kernel is odd
    i2h_kernel, i2h_stride, i2h_pad, i2h_dilate: of the convolution of the input
    i2h_weight_initializer, ...: initializers or their names
    activation: 'tanh', 'relu', ..., or a function of a symbol
    """

    _states = 2

    def __init__(self, input_shape: Sequence[int], num_hidden: int, h2h_kernel: Any, h2h_dilate: Any, i2h_kernel: Any,
                 i2h_stride: Any, i2h_pad: Any, i2h_dilate: Any, i2h_weight_initializer: Init | None,
                 h2h_weight_initializer: Init | None, i2h_bias_initializer: Init | None,
                 h2h_bias_initializer: Init | None, activation: Any, prefix: str = '',
                 params: RNNParams | None = None, conv_layout: str = 'NCHW') -> None:
        super().__init__(prefix=prefix, params=params)
        if not all(k % 2 for k in h2h_kernel):
            raise AssertionError(f'h2h_kernel must be odd, not {h2h_kernel}')
        self._num_hidden, self._input_shape = num_hidden, input_shape
        self._conv_layout, self._activation = conv_layout, activation
        self._i2h = {'kernel': i2h_kernel, 'stride': i2h_stride, 'pad': i2h_pad, 'dilate': i2h_dilate,
                     'layout': conv_layout}
        self._h2h = {'kernel': h2h_kernel, 'stride': (1, 1), 'dilate': h2h_dilate, 'layout': conv_layout,
                     'pad': tuple(d * (k - 1) // 2 for d, k in zip(h2h_dilate, h2h_kernel, strict=True))}
        state = symbol.Convolution(symbol.Variable('data'), num_filter=num_hidden, **self._i2h)
        self._state_shape = (0, *state.infer_shape(data=input_shape)[1][0][1:])
        self._iW = self.params.get('i2h_weight', init=i2h_weight_initializer)
        self._hW = self.params.get('h2h_weight', init=h2h_weight_initializer)
        self._iB = self.params.get('i2h_bias', init=i2h_bias_initializer)
        self._hB = self.params.get('h2h_bias', init=h2h_bias_initializer)

    @property
    def _num_gates(self):
        return len(self._gate_names)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """A dict with the shape (0 is the batch size) and `__layout__` of each state."""
        return [{'shape': self._state_shape, '__layout__': self._conv_layout} for _ in range(self._states)]

    def _conv_forward(self, inputs, states, name):
        filters = self._num_hidden * self._num_gates
        return (symbol.Convolution(inputs, self._iW, self._iB, num_filter=filters, name=f'{name}i2h', **self._i2h),
                symbol.Convolution(states[0], self._hW, self._hB, num_filter=filters, name=f'{name}h2h', **self._h2h))

    def _activate(self, inputs, **kwargs):
        return self._get_activation(inputs, self._activation, **kwargs)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step: (output, new states)."""
        raise NotImplementedError(f'{type(self).__name__} has no step')


class _PictureCell(BaseConvRNNCell):
    """The constructor of the cells below, which differ in the prefix of their names."""

    def __init_subclass__(cls, prefix: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if prefix is not None:
            cls.__init__ = with_defaults(_PictureCell.__init__, prefix=prefix)      # type: ignore[method-assign]

    def __init__(self, input_shape: Sequence[int], num_hidden: int, h2h_kernel: Any = (3, 3), h2h_dilate: Any = (1, 1),
                 i2h_kernel: Any = (3, 3), i2h_stride: Sequence[Any] = (1, 1), i2h_pad: Any = (1, 1),
                 i2h_dilate: Any = (1, 1), i2h_weight_initializer: Init | None = None,
                 h2h_weight_initializer: Init | None = None, i2h_bias_initializer: Init = 'zeros',
                 h2h_bias_initializer: Init = 'zeros', activation: Any = _LEAKY, prefix: str = '',
                 params: RNNParams | None = None, conv_layout: str = 'NCHW') -> None:
        super().__init__(input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad, i2h_dilate,
                         i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer,
                         activation, prefix, params, conv_layout)


class ConvRNNCell(_PictureCell, prefix='ConvRNN_'):
    """`activation(W_i * x + b_i + W_h * h + b_h)`, `*` being a convolution; see `BaseConvRNNCell`."""

    _states = 1

    @property
    def _gate_names(self):
        return ('',)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step: (output, new states)."""
        name = self._step_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        output = self._activate(i2h + h2h, name=f'{name}out')
        return output, [output]


class ConvLSTMCell(_PictureCell, prefix='ConvLSTM_'):
    """An LSTM whose gates are convolutions (Shi et al., NIPS 2015); see `BaseConvRNNCell`."""

    @property
    def _gate_names(self):
        return ['_i', '_f', '_c', '_o']

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step: (output, new states)."""
        name = self._step_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        output, memory = lstm_step(i2h + h2h, states[1], self._activate, name, axis=self._conv_layout.find('C'))
        return output, [output, memory]


class ConvGRUCell(_PictureCell, prefix='ConvGRU_'):
    """A GRU whose gates are convolutions; see `BaseConvRNNCell`."""

    _states = 1

    @property
    def _gate_names(self):
        return ['_r', '_z', '_o']

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step: (output, new states)."""
        name = self._step_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        output = gru_step(i2h, h2h, states[0], self._activate, name, axis=self._conv_layout.find('C'))
        return output, [output]
