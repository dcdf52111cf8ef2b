"""Recurrent cells: one step of a sequence at a time, and `unroll` for all of them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ... import ndarray, symbol
from ..._kinds import explain_methods as _explain_methods
from ..._names import kind_of
from ..._names import suggest_names as _suggest_names
from ..._ops.core.dtypes import dtype_name
from ...base import MXNetError
from ...ndarray import NDArray
from ...symbol import Symbol
from ...util import is_np_shape
from .._structure import takes_symbols
from ..block import Block, HybridBlock
from ..utils import indent
from . import _sequence as sequence

if TYPE_CHECKING:
    from ..._typing import Init, Shape, Value
    from ...gluon.parameter import Parameter, ParameterDict

__all__ = ['BidirectionalCell', 'DropoutCell', 'GRUCell', 'HybridRecurrentCell', 'HybridSequentialRNNCell', 'LSTMCell',
           'ModifierCell', 'RNNCell', 'RecurrentCell', 'ResidualCell', 'SequentialRNNCell', 'ZoneoutCell']

MODIFIED = 'cell {name} belongs to a modifier cell such as ZoneoutCell, which must be called in its place'


def _check_batch_size(batch_size, func, kwargs):
    """Arrays need a batch size; symbols infer it."""
    if not batch_size and func is ndarray.zeros and 'shape' not in kwargs and not is_np_shape():
        raise MXNetError('begin_state: batch_size is missing; pass the number of sequences of a batch')


class RecurrentCell(Block):
    """One step of a recurrent network: `output, states = cell(inputs, states)`."""

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._modified = False
        self.reset()

    def reset(self) -> None:
        """Forgets what the last sequence left behind; `unroll` does this by itself."""
        self._init_counter = -1
        self._counter = -1
        for cell in self._children.values():
            if isinstance(cell, RecurrentCell):
                cell.reset()

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """A dictionary for each state, with its shape and layout."""
        raise NotImplementedError(f'{type(self).__name__} has no state_info')

    def _check_unmodified(self):
        if self._modified:
            raise AssertionError(MODIFIED.format(name=self.name))

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = ndarray.zeros, **kwargs: Any) -> list[Any]:
        """The states before the first step: `func(name=..., shape=..., **kwargs)` for each.

        `func` is `mx.nd.zeros`, `mx.sym.zeros`, `mx.sym.var` or the like; symbols need no batch size.

        >>> [s.shape for s in mx.gluon.rnn.LSTMCell(4).begin_state(batch_size=2)]
        [(2, 4), (2, 4)]
        """
        self._check_unmodified()
        _check_batch_size(batch_size, func, kwargs)
        states = []
        for info in self.state_info(batch_size):
            self._init_counter += 1
            states.append(func(name=f'{self._prefix}begin_state_{self._init_counter}', **{**(info or {}), **kwargs}))
        return states

    def _begin(self, inputs, layout, begin_state):
        """The given states, or zeros like the inputs."""
        if begin_state is not None:
            return begin_state
        if sequence.functions(inputs) is symbol:
            dtypes = {dtype_name(p.dtype) for p in self.collect_params().values()}
            like = {'dtype': dtypes.pop()} if len(dtypes) == 1 else {}
            return self.begin_state(func=symbol.zeros, batch_size=0, **like)
        first = inputs if sequence.is_whole(inputs) else inputs[0]
        with first.context:
            return self.begin_state(func=ndarray.zeros, batch_size=sequence.batch_size(inputs, layout),
                                    dtype=first.dtype)

    def unroll(self, length: int, inputs: Any, begin_state: Sequence[Any] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None, valid_length: NDArray | None = None) -> tuple[Any, list[Any]]:
        """Runs the cell over `length` steps -> (outputs, states after the last step).

        `inputs` is a whole sequence, whose axes `layout` names, or a list of steps.  `merge_outputs` asks for one whole
        sequence (True) or a list of steps (False).  With `valid_length`, of shape (batch,), each sequence ends after
        its own number of steps: outputs behind it are zero and its states are those after its last step.

        >>> cell = mx.gluon.rnn.GRUCell(4)
        >>> cell.initialize()
        >>> outputs, states = cell.unroll(3, mx.nd.ones((2, 3, 5)), merge_outputs=True)
        >>> outputs.shape, states[0].shape
        ((2, 3, 4), (2, 4))
        """
        self.reset()
        sequence.check(length, inputs, layout)
        states = self._begin(inputs, layout, begin_state)
        outputs, history = [], []
        for step in sequence.steps(inputs, length, layout):
            output, states = self(step, states)
            outputs.append(output)
            if valid_length is not None:
                history.append(states)
        if valid_length is not None:
            states = sequence.last(history, valid_length)
            outputs = sequence.masked(outputs, valid_length, layout)
        return sequence.arranged(outputs, length, layout, merge_outputs), states

    def _get_activation(self, F, inputs, activation, **kwargs):
        """Applies an activation: a name, a block or a function."""
        from ..nn import LeakyReLU
        if isinstance(activation, str):
            if activation in ('tanh', 'relu', 'sigmoid', 'softsign'):
                return getattr(F, activation)(inputs, **kwargs)
            return F.Activation(inputs, act_type=activation, **kwargs)
        if isinstance(activation, LeakyReLU):
            return F.LeakyReLU(inputs, act_type='leaky', slope=activation._alpha, **kwargs)
        if isinstance(activation, Block):
            return activation(inputs)
        return activation(inputs, **kwargs)

    if TYPE_CHECKING:
        def __call__(self, inputs: Value,  # type: ignore[override]
                     states: Any) -> tuple[Value, list[Value]]: ...

    @takes_symbols
    def forward(self, inputs: Any, states: Any) -> Any:
        """One step -> (output, new states)."""
        self._counter += 1
        try:
            return super().forward(inputs, states)
        except (ValueError, TypeError, IndexError, AttributeError, MXNetError) as error:
            self._check_states(inputs, states, error)
            raise

    def _check_states(self, inputs, states, error):
        """Raises ValueError, after an error, if the states are not those that `state_info` describes."""
        if not isinstance(inputs, NDArray) or not inputs.ndim:
            return
        try:
            expected = [tuple(info['shape']) for info in self.state_info(inputs.shape[0])]
        except Exception:               # a cell of the program's
            return
        given: Any = [getattr(s, 'shape', None) for s in states] if isinstance(states, (list, tuple)) \
            else type(states).__name__
        if given != expected:
            raise ValueError(f'{self.name}: the states must have shapes {expected} for inputs of shape '
                             f'{inputs.shape}, but '
                             f'have {given}; begin_state(batch_size) makes them') from error


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """A recurrent cell that can be hybridized."""

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f'{type(self).__name__} has no hybrid_forward')

    def _remembers(self):
        """Whether the cell, or one inside, keeps arrays from one step to the next."""
        return any(cell._remembers() for cell in self._children.values() if isinstance(cell, HybridRecurrentCell))

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:      # type: ignore[override]
        super().hybridize(active, **kwargs)
        if self._remembers():
            # a graph of one step has no place for what is kept; the cells inside have graphs of their own
            self._active = False


class _GateCell(HybridRecurrentCell):
    """Cells that add a product of the input and one of the state, `gates` times as wide as the state."""

    _gates = 1
    i2h_weight: Parameter

    def __init__(self, hidden_size: int, input_size: int, initializers: Any, prefix: str | None,
                 params: ParameterDict | None, output_size: Shape | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._hidden_size, self._input_size = hidden_size, input_size
        rows = self._gates * hidden_size
        shapes = {'i2h_weight': (rows, input_size), 'h2h_weight': (rows, output_size or hidden_size),
                  'h2r_weight': (output_size, hidden_size), 'i2h_bias': (rows,), 'h2h_bias': (rows,)}
        for name, init in initializers.items():
            setattr(self, name, self.params.get(name, shape=shapes[name], init=init, allow_deferred_init=True))

    def _mapping(self):
        rows, columns = self.i2h_weight.shape
        return f'{columns if columns > 0 else None} -> {rows}'

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._mapping()})'

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return [{'shape': (batch_size, self._hidden_size), '__layout__': 'NC'}]

    def _products(self, F, step, inputs, state, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        rows = self._gates * self._hidden_size
        return (F.FullyConnected(inputs, i2h_weight, i2h_bias, num_hidden=rows, name=step + 'i2h'),
                F.FullyConnected(state, h2h_weight, h2h_bias, num_hidden=rows, name=step + 'h2h'))


def _initializers(i2h_weight, h2h_weight, i2h_bias, h2h_bias):
    return {'i2h_weight': i2h_weight, 'h2h_weight': h2h_weight, 'i2h_bias': i2h_bias, 'h2h_bias': h2h_bias}


class RNNCell(_GateCell):
    """A simple recurrent cell: h' = tanh(W x + b + U h + c), or another `activation`."""

    def __init__(self, hidden_size: int, activation: str | Callable[..., Any] = 'tanh',
                 i2h_weight_initializer: Init | None = None, h2h_weight_initializer: Init | None = None,
                 i2h_bias_initializer: Init = 'zeros',
                 h2h_bias_initializer: Init = 'zeros', input_size: int = 0, prefix: str | None = None,
                 params: ParameterDict | None = None) -> None:
        super().__init__(hidden_size, input_size, _initializers(i2h_weight_initializer, h2h_weight_initializer,
                                                                i2h_bias_initializer, h2h_bias_initializer),
                         prefix, params)
        self._activation = activation

    def _alias(self):
        return 'rnn'

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._mapping()}, {self._activation})'

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any,
                       h2h_bias: Any) -> Any:
        step = f't{self._counter}_'
        i2h, h2h = self._products(F, step, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        output = self._get_activation(F, F.elemwise_add(i2h, h2h), self._activation, name=step + 'out')
        return output, [output]


class LSTMCell(_GateCell):
    """Long short-term memory, with states h and c and gates in the order i, f, g, o.

    c' = sigmoid(f) c + sigmoid(i) tanh(g); h' = sigmoid(o) tanh(c'), where each gate is W x + b + U h + c of its own.
    `activation` replaces tanh and `recurrent_activation` sigmoid.
    """

    _gates = 4

    def __init__(self, hidden_size: int, i2h_weight_initializer: Init | None = None,
                 h2h_weight_initializer: Init | None = None, i2h_bias_initializer: Init = 'zeros',
                 h2h_bias_initializer: Init = 'zeros', input_size: int = 0, prefix: str | None = None,
                 params: ParameterDict | None = None, activation: str | Callable[..., Any] = 'tanh',
                 recurrent_activation: str | Callable[..., Any] = 'sigmoid') -> None:
        super().__init__(hidden_size, input_size, _initializers(i2h_weight_initializer, h2h_weight_initializer,
                                                                i2h_bias_initializer, h2h_bias_initializer),
                         prefix, params)
        self._activation, self._recurrent_activation = activation, recurrent_activation

    def _alias(self):
        return 'lstm'

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return 2 * super().state_info(batch_size)

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any,
                       h2h_bias: Any) -> Any:
        step = f't{self._counter}_'
        i2h, h2h = self._products(F, step, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        enter, forget, new, leave = F.SliceChannel(F.elemwise_add(i2h, h2h), num_outputs=4, name=step + 'slice')
        enter, forget, leave = (self._get_activation(F, gate, self._recurrent_activation)
                                for gate in (enter, forget, leave))
        new = self._get_activation(F, new, self._activation)
        next_c = F.elemwise_add(F.elemwise_mul(forget, states[1]), F.elemwise_mul(enter, new), name=step + 'state')
        next_h = F.elemwise_mul(leave, self._get_activation(F, next_c, self._activation), name=step + 'out')
        return next_h, [next_h, next_c]


class GRUCell(_GateCell):
    """A gated recurrent unit, in the form of cuDNN, with gates in the order r, z, n.

    n = tanh(W x + b + sigmoid(r) (U h + c)); h' = (1 - sigmoid(z)) n + sigmoid(z) h.
    """

    _gates = 3

    def __init__(self, hidden_size: int, i2h_weight_initializer: Init | None = None,
                 h2h_weight_initializer: Init | None = None, i2h_bias_initializer: Init = 'zeros',
                 h2h_bias_initializer: Init = 'zeros', input_size: int = 0, prefix: str | None = None,
                 params: ParameterDict | None = None) -> None:
        super().__init__(hidden_size, input_size, _initializers(i2h_weight_initializer, h2h_weight_initializer,
                                                                i2h_bias_initializer, h2h_bias_initializer),
                         prefix, params)

    def _alias(self):
        return 'gru'

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any,
                       h2h_bias: Any) -> Any:
        step = f't{self._counter}_'
        i2h, h2h = self._products(F, step, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        i2h_r, i2h_z, i2h_n = F.SliceChannel(i2h, num_outputs=3, name=step + 'i2h_slice')
        h2h_r, h2h_z, h2h_n = F.SliceChannel(h2h, num_outputs=3, name=step + 'h2h_slice')
        reset = F.sigmoid(F.elemwise_add(i2h_r, h2h_r))
        update = F.sigmoid(F.elemwise_add(i2h_z, h2h_z))
        new = F.tanh(F.elemwise_add(i2h_n, F.elemwise_mul(reset, h2h_n)))
        output = F.elemwise_add(F.elemwise_mul(1 - update, new), F.elemwise_mul(update, states[0]), name=step + 'out')
        return output, [output]


# ---------------------------------------------------------------------- stacks
class _Stack:
    """Cells one upon the other; their states follow one another in one list."""

    # of the cell that this is mixed into
    _children: Any
    _begin: Any
    _check_unmodified: Any
    register_child: Any
    reset: Any

    def add(self, cell: RecurrentCell) -> None:
        """Puts a cell on top."""
        self.register_child(cell)

    def __repr__(self) -> str:
        body = '\n'.join(f'({key}): {indent(repr(cell), 2)}' for key, cell in self._children.items())
        return f'{type(self).__name__}(\n{body}\n)'

    def __getitem__(self, i: int) -> Any:
        return list(self._children.values())[i]

    def __len__(self) -> int:
        return len(self._children)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return [info for cell in self._children.values() for info in cell.state_info(batch_size)]

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] | None = None, **kwargs: Any) -> list[Any]:
        self._check_unmodified()
        given = {'batch_size': batch_size, **({} if func is None else {'func': func}), **kwargs}
        return [state for cell in self._children.values() for state in cell.begin_state(**given)]

    def _with_states(self, states):
        """(cell, its states) from below to the top."""
        start = 0
        for cell in self._children.values():
            count = len(cell.state_info())
            yield cell, states[start:start + count]
            start += count

    def _step(self, inputs, states):
        new_states = []
        for cell, own in self._with_states(states):
            inputs, own = cell(inputs, own)
            new_states += own
        return inputs, new_states

    def unroll(self, length: int, inputs: Any, begin_state: Sequence[Any] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None, valid_length: NDArray | None = None) -> tuple[Any, list[Any]]:
        self.reset()
        sequence.check(length, inputs, layout)
        new_states = []
        top = len(self._children) - 1
        begin_state = self._begin(inputs, layout, begin_state)
        for i, (cell, states) in enumerate(self._with_states(begin_state)):
            inputs, states = cell.unroll(length, inputs, states, layout, merge_outputs if i == top else None,
                                         valid_length)
            new_states += states
        return inputs, new_states


class SequentialRNNCell(_Stack, RecurrentCell):
    """A stack of cells of any kind."""

    def forward(self, inputs: Any, states: Any) -> Any:
        self._counter += 1
        return self._step(inputs, states)

    def hybrid_forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError('a SequentialRNNCell cannot be converted to a graph; use HybridSequentialRNNCell')


class HybridSequentialRNNCell(_Stack, HybridRecurrentCell):
    """A stack of cells that can be hybridized."""

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        return self._step(inputs, states)


class DropoutCell(HybridRecurrentCell):
    """Drops a part `rate` of the input while training; with `axes`, whole slices along these."""

    def __init__(self, rate: float, axes: Sequence[Any] = (), prefix: str | None = None,
                 params: ParameterDict | None = None) -> None:
        super().__init__(prefix, params)
        if isinstance(rate, bool) or not isinstance(rate, (int, float)):
            raise AssertionError(f'rate of a DropoutCell must be a number, not {rate!r}')
        self._rate, self._axes = rate, axes

    def _alias(self):
        return 'dropout'

    def __repr__(self) -> str:
        return f'{type(self).__name__}(rate={self._rate}, axes={self._axes})'

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return []

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        if self._rate > 0:
            inputs = F.Dropout(inputs, p=self._rate, axes=self._axes)
        return inputs, states

    def unroll(self, length: int, inputs: Any, begin_state: Sequence[Any] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None, valid_length: NDArray | None = None) -> tuple[Any, list[Any]]:
        self.reset()
        sequence.check(length, inputs, layout)
        inputs = sequence.arranged(inputs, length, layout, merge_outputs)
        if sequence.is_whole(inputs):           # all steps at once
            return self.hybrid_forward(sequence.functions(inputs), inputs, begin_state or [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)


# ---------------------------------------------------------------------- modifiers
class ModifierCell(HybridRecurrentCell):
    """A cell around another one, `base_cell`, which must no longer be called by itself."""

    def __init__(self, base_cell: RecurrentCell) -> None:
        if not isinstance(base_cell, RecurrentCell):
            raise TypeError(f'{type(self).__name__}: base_cell must be a recurrent cell, such as LSTMCell(...), not '
                            f'{kind_of(base_cell)}')
        base_cell._check_unmodified()
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    @property
    def params(self) -> ParameterDict:
        return self.base_cell.params

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self.base_cell!r})'

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return self.base_cell.state_info(batch_size)

    def begin_state(self, func: Callable[..., Any] | None = None, **kwargs: Any) -> list[Any]:      # type: ignore[override]
        """The states before the first step; without `func`, arrays if `batch_size` is given and else symbols."""
        self._check_unmodified()
        if func is None:
            func = ndarray.zeros if kwargs.get('batch_size') else symbol.zeros
        return self._with_base('begin_state', func=func, **kwargs)

    def _with_base(self, method, *args, **kwargs):
        """Calls a method of the base cell."""
        self.base_cell._modified = False
        try:
            return getattr(self.base_cell, method)(*args, **kwargs)
        finally:
            self.base_cell._modified = True

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        raise NotImplementedError(f'{type(self).__name__} has no hybrid_forward')


class ZoneoutCell(ModifierCell):
    """While training, some outputs and states keep their values of the step before.

    `zoneout_outputs` and `zoneout_states` are the parts that do.
    """

    def __init__(self, base_cell: RecurrentCell, zoneout_outputs: float = 0., zoneout_states: float = 0.) -> None:
        if isinstance(base_cell, BidirectionalCell):
            raise AssertionError('a BidirectionalCell has no single steps; put ZoneoutCells around the cells inside')
        super().__init__(base_cell)
        self.zoneout_outputs: float
        self.zoneout_states: float
        self.zoneout_outputs, self.zoneout_states = zoneout_outputs, zoneout_states
        self._prev_output = None

    def _alias(self):
        return 'zoneout'

    def __repr__(self) -> str:
        return (f'{type(self).__name__}(p_out={self.zoneout_outputs}, p_state={self.zoneout_states}, '
                f'{self.base_cell!r})')

    def reset(self) -> None:
        super().reset()
        self._prev_output = None

    def _remembers(self):
        return True

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        output, new_states = self.base_cell(inputs, states)

        def zoneout(p, new, old):
            return F.where(F.Dropout(F.ones_like(new), p=p), new, old) if p else new

        before = self._prev_output
        if before is None or isinstance(before, Symbol) is not isinstance(output, Symbol):
            before = F.zeros_like(output)
        output = zoneout(self.zoneout_outputs, output, before)
        self._prev_output = output
        return output, [zoneout(self.zoneout_states, new, old) for new, old in zip(new_states, states, strict=True)]


class ResidualCell(ModifierCell):
    """Adds the input to the output of a cell."""

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        output, states = self.base_cell(inputs, states)
        return F.elemwise_add(output, inputs, name=f't{self._counter}_fwd'), states

    def unroll(self, length: int, inputs: Any, begin_state: Sequence[Any] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None, valid_length: NDArray | None = None) -> tuple[Any, list[Any]]:
        self.reset()
        outputs, states = self._with_base('unroll', length, inputs, begin_state, layout, merge_outputs, valid_length)
        if valid_length is not None:
            inputs = sequence.masked(inputs, valid_length, layout)
        F = sequence.functions(outputs)
        if sequence.is_whole(outputs):
            return F.elemwise_add(outputs, sequence.whole(inputs, layout)), states
        inputs = sequence.steps(inputs, length, layout)
        return [F.elemwise_add(a, b) for a, b in zip(outputs, inputs, strict=True)], states


class BidirectionalCell(HybridRecurrentCell):
    """One cell over the sequence and one over it turned around, their outputs joined.

    It has `unroll` only: the last step must be known before the first.
    """

    def __init__(self, l_cell: RecurrentCell, r_cell: RecurrentCell, output_prefix: str = 'bi_') -> None:
        super().__init__(prefix='', params=None)
        self.register_child(l_cell, 'l_cell')
        self.register_child(r_cell, 'r_cell')
        self._output_prefix = output_prefix

    def __call__(self, inputs: Any, states: Any) -> Any:
        raise NotImplementedError('a BidirectionalCell cannot be called step by step; use unroll')

    def __repr__(self) -> str:
        return f'{type(self).__name__}(forward={self._children["l_cell"]!r}, backward={self._children["r_cell"]!r})'

    state_info: Any = _Stack.state_info
    begin_state: Any = _Stack.begin_state

    def unroll(self, length: int, inputs: Any, begin_state: Sequence[Any] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None, valid_length: NDArray | None = None) -> tuple[Any, list[Any]]:
        self.reset()
        sequence.check(length, inputs, layout)
        states = self._begin(inputs, layout, begin_state)
        inputs = sequence.steps(inputs, length, layout)
        left, right = self._children.values()
        count = len(left.state_info())
        forth, left_states = left.unroll(length, inputs, states[:count], layout, merge_outputs, valid_length)
        back, right_states = right.unroll(length, sequence.turned(inputs, valid_length), states[count:], layout, False,
                                          valid_length)
        back = sequence.turned(back, valid_length)
        F = sequence.functions(forth)
        if sequence.is_whole(forth):
            outputs = F.concat(forth, sequence.whole(back, layout), dim=2, name=f'{self._output_prefix}out')
        else:
            outputs = [F.concat(a, b, dim=1, name=f'{self._output_prefix}t{i}')
                       for i, (a, b) in enumerate(zip(forth, back, strict=True))]
        return outputs, left_states + right_states


_explain_methods(RecurrentCell, 'begin_state unroll')
_explain_methods(_Stack, 'unroll')


_suggest_names(globals())
