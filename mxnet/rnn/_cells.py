"""The plain cells: RNN, LSTM and GRU."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import initializer, symbol
from ._base_cell import BaseRNNCell

if TYPE_CHECKING:
    from ..rnn import RNNParams
    from ..symbol import Symbol


class _Dense(BaseRNNCell):
    """A cell whose gates are linear in the input and in the last output."""

    _states = 1

    def __init__(self, num_hidden: int, prefix: str, params: RNNParams | None, **bias: Any) -> None:
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._iW = self.params.get('i2h_weight')
        self._hW = self.params.get('h2h_weight')
        self._iB = self.params.get('i2h_bias', **bias)
        self._hB = self.params.get('h2h_bias')

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """A dict with the shape (0 is the batch size) and `__layout__` of each state."""
        return [{'shape': (0, self._num_hidden), '__layout__': 'NC'} for _ in range(self._states)]

    def _linear(self, inputs, state, name):
        width = self._num_hidden * len(self._gate_names)
        return (symbol.FullyConnected(inputs, self._iW, self._iB, num_hidden=width, name=f'{name}i2h'),
                symbol.FullyConnected(state, self._hW, self._hB, num_hidden=width, name=f'{name}h2h'))


class RNNCell(_Dense):
    """`activation(W_i x + b_i + W_h h + b_h)`; the activation is 'tanh', 'relu', ..., or a function of a symbol."""

    def __init__(self, num_hidden: int, activation: str | Callable[..., Any] = 'tanh', prefix: str = 'rnn_',
                 params: RNNParams | None = None) -> None:
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    @property
    def _gate_names(self):
        return ('',)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step: (output, new states)."""
        name = self._step_name()
        i2h, h2h = self._linear(inputs, states[0], name)
        output = self._get_activation(i2h + h2h, self._activation, name=f'{name}out')
        return output, [output]


def lstm_step(gates, state, activation, name, **axis):
    """(output, new memory) of an LSTM from the sum of its four gates."""
    gates = symbol.SliceChannel(gates, num_outputs=4, name=f'{name}slice', **axis)
    enter, forget, leave = (symbol.Activation(gates[i], act_type='sigmoid', name=name + letter)
                            for i, letter in ((0, 'i'), (1, 'f'), (3, 'o')))
    candidate = activation(gates[2], name=f'{name}c')
    memory = symbol._internal._plus(forget * state, enter * candidate, name=f'{name}state')
    return symbol._internal._mul(leave, activation(memory), name=f'{name}out'), memory


def gru_step(i2h, h2h, state, activation, name, **axis):
    """The output of a GRU, as cuDNN computes it, from its gates' parts of the input and of the last output."""
    i2h_r, i2h_z, i2h = symbol.SliceChannel(i2h, num_outputs=3, name=f'{name}_i2h_slice', **axis)
    h2h_r, h2h_z, h2h = symbol.SliceChannel(h2h, num_outputs=3, name=f'{name}_h2h_slice', **axis)
    reset = symbol.Activation(i2h_r + h2h_r, act_type='sigmoid', name=f'{name}_r_act')
    update = symbol.Activation(i2h_z + h2h_z, act_type='sigmoid', name=f'{name}_z_act')
    candidate = activation(i2h + reset * h2h, name=f'{name}_h_act')
    return symbol._internal._plus((1. - update) * candidate, update * state, name=f'{name}out')


def tanh(inputs, **kwargs):
    return symbol.Activation(inputs, act_type='tanh', **kwargs)


class LSTMCell(_Dense):
    """Long short-term memory.  forget_bias: what the bias of the forget gate begins with."""

    _states = 2

    def __init__(self, num_hidden: int, prefix: str = 'lstm_', params: RNNParams | None = None,
                 forget_bias: float = 1.0) -> None:
        super().__init__(num_hidden, prefix, params, init=initializer.LSTMBias(forget_bias=forget_bias))

    @property
    def _gate_names(self):
        return ['_i', '_f', '_c', '_o']

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step: (output, new states)."""
        name = self._step_name()
        i2h, h2h = self._linear(inputs, states[0], name)
        output, memory = lstm_step(i2h + h2h, states[1], tanh, name)
        return output, [output, memory]


class GRUCell(_Dense):
    """Gated recurrent unit, as cuDNN has it."""

    def __init__(self, num_hidden: int, prefix: str = 'gru_', params: RNNParams | None = None) -> None:
        super().__init__(num_hidden, prefix, params)

    @property
    def _gate_names(self):
        return ['_r', '_z', '_o']

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step: (output, new states)."""
        name = self._step_name()
        # names of upstream's GRU have two underscores here
        i2h, h2h = self._linear(inputs, states[0], f'{name}_')
        output = gru_step(i2h, h2h, states[0], tanh, name)
        return output, [output]
