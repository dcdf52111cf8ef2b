"""A cell with a projection, dropout that stays the same over a sequence, and unrolling as a loop."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...._names import suggest_names as _suggest_names
from ...rnn import BidirectionalCell, ModifierCell
from ...rnn import _sequence as sequence
from ...rnn.rnn_cell import _GateCell

if TYPE_CHECKING:
    from ...._typing import Init
    from ....gluon.parameter import Parameter, ParameterDict
    from ....gluon.rnn import RecurrentCell
    from ....ndarray import NDArray

__all__ = ['LSTMPCell', 'VariationalDropoutCell']


class VariationalDropoutCell(ModifierCell):
    """Dropout of a cell's inputs, states and outputs with masks that stay the same until `reset`.

    `unroll` resets by itself; who goes step by step calls `reset` before each sequence.  Of the states, the first (h)
    is dropped.
    """

    def __init__(self, base_cell: RecurrentCell, drop_inputs: float = 0., drop_states: float = 0.,
                 drop_outputs: float = 0.) -> None:
        if drop_states and isinstance(base_cell, BidirectionalCell):
            raise AssertionError('states of a BidirectionalCell cannot be dropped; put VariationalDropoutCells around '
                                 'the cells inside')
        super().__init__(base_cell)
        self.drop_inputs: float
        self.drop_states: float
        self.drop_outputs: float
        self.drop_inputs, self.drop_states, self.drop_outputs = drop_inputs, drop_states, drop_outputs
        self._forget()

    def _forget(self):
        self.drop_inputs_mask: None
        self.drop_states_mask: None
        self.drop_outputs_mask: None
        self.drop_inputs_mask = self.drop_states_mask = self.drop_outputs_mask = None

    def _alias(self):
        return 'vardrop'

    def __repr__(self) -> str:
        return f'{type(self).__name__}(p_out = {self.drop_outputs}, p_state = {self.drop_states})'

    def reset(self) -> None:
        super().reset()
        self._forget()

    def _remembers(self):
        return True

    def _drop(self, F, what, values):
        """Applies the mask of inputs, states or outputs, made on first use."""
        p = getattr(self, f'drop_{what}')
        if not p:
            return values
        name = f'drop_{what}_mask'
        if getattr(self, name) is None:
            setattr(self, name, F.Dropout(F.ones_like(values), p=p))
        return values * getattr(self, name)

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        states = [self._drop(F, 'states', states[0]), *states[1:]]
        output, states = self.base_cell(self._drop(F, 'inputs', inputs), states)
        return self._drop(F, 'outputs', output), states

    def unroll(self, length: int, inputs: Any, begin_state: Sequence[Any] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None, valid_length: NDArray | None = None) -> tuple[Any, list[Any]]:
        if self.drop_states:
            return super().unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        # nothing is dropped between steps, so that all steps can be done at once
        self.reset()
        sequence.check(length, inputs, layout)
        states = self._begin(inputs, layout, begin_state)
        time, _ = sequence.axes(layout)
        inputs = sequence.whole(inputs, layout)
        F = sequence.functions(inputs)
        if self.drop_inputs:
            inputs = F.Dropout(inputs, p=self.drop_inputs, axes=(time,))
        outputs, states = self._with_base('unroll', length, inputs, states, layout, True, valid_length)
        if self.drop_outputs:
            outputs = F.Dropout(outputs, p=self.drop_outputs, axes=(time,))
        return sequence.arranged(outputs, length, layout, merge_outputs), states


class LSTMPCell(_GateCell):
    """An `LSTMCell` whose state h, and output, is projected to `projection_size` features."""

    _gates = 4
    h2r_weight: Parameter

    def __init__(self, hidden_size: int, projection_size: int, i2h_weight_initializer: Init | None = None,
                 h2h_weight_initializer: Init | None = None, h2r_weight_initializer: Init | None = None,
                 i2h_bias_initializer: Init = 'zeros', h2h_bias_initializer: Init = 'zeros', input_size: int = 0,
                 prefix: str | None = None, params: ParameterDict | None = None) -> None:
        self._projection_size = projection_size
        # Trainer numbers parameters in the order in which they are made, and files of its states have these numbers
        super().__init__(hidden_size, input_size, {
            'i2h_weight': i2h_weight_initializer, 'h2h_weight': h2h_weight_initializer,
            'h2r_weight': h2r_weight_initializer, 'i2h_bias': i2h_bias_initializer,
            'h2h_bias': h2h_bias_initializer}, prefix, params, output_size=projection_size)

    def _alias(self):
        return 'lstmp'

    def _mapping(self):
        return f'{super()._mapping()} -> {self.h2r_weight.shape[0]}'

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return [{'shape': (batch_size, self._projection_size), '__layout__': 'NC'}, *super().state_info(batch_size)]

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, h2r_weight: Any,
                       i2h_bias: Any, h2h_bias: Any) -> Any:
        step = f't{self._counter}_'
        i2h, h2h = self._products(F, step, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        enter, forget, new, leave = F.SliceChannel(F.elemwise_add(i2h, h2h), num_outputs=4, name=step + 'slice')
        next_c = F.elemwise_add(F.elemwise_mul(F.sigmoid(forget), states[1]),
                                F.elemwise_mul(F.sigmoid(enter), F.tanh(new)), name=step + 'state')
        hidden = F.elemwise_mul(F.sigmoid(leave), F.tanh(next_c), name=step + 'hidden')
        next_r = F.FullyConnected(hidden, h2r_weight, num_hidden=self._projection_size, no_bias=True, name=step + 'out')
        return next_r, [next_r, next_c]


def dynamic_unroll(cell: RecurrentCell, inputs: Any, begin_state: Sequence[Any] | None, drop_inputs: float = 0,
                   drop_outputs: float = 0, layout: str = 'TNC',
                   valid_length: NDArray | None = None) -> tuple[Any, list[Any]]:
    """Runs a cell over a whole sequence with a loop operator, so that a graph serves any number of steps.

    -> (outputs as a whole sequence, states after the last step of each sequence).

    >>> cell = mx.gluon.rnn.GRUCell(4)
    >>> cell.initialize()
    >>> outputs, states = dynamic_unroll(cell, mx.nd.ones((3, 2, 5)), cell.begin_state(batch_size=2),
    ...                                  valid_length=mx.nd.array([1, 3]))
    >>> outputs.shape, float(outputs[2, 0].sum().asscalar())
    ((3, 2, 4), 0.0)
    """
    time, _ = sequence.axes(layout)
    inputs = sequence.whole(inputs, layout)
    F = sequence.functions(inputs)
    if drop_inputs:
        inputs = F.Dropout(inputs, p=drop_inputs, axes=(time,))
    if time:
        inputs = F.swapaxes(inputs, 0, time)
    states = list(begin_state) if isinstance(begin_state, (list, tuple)) else [begin_state]
    if valid_length is None:
        outputs, states = F.contrib.foreach(cell, inputs, states)
    else:
        def step(x, states_and_number):
            *before, number = states_and_number
            output, after = cell(x, before)
            goes_on = F.broadcast_greater(valid_length, number)
            return output, [*[F.where(goes_on, a, b) for a, b in zip(after, before, strict=True)], number + 1]

        outputs, states = F.contrib.foreach(step, inputs, [*states, F.zeros((1,))])
        states = states[:-1]
    if time:
        outputs = F.swapaxes(outputs, 0, time)
    if drop_outputs:
        outputs = F.Dropout(outputs, p=drop_outputs, axes=(time,))
    if valid_length is not None:
        outputs = sequence.masked(outputs, valid_length, layout)
    return outputs, states


_suggest_names(globals())
