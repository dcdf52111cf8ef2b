"""What all recurrent cells have in common."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import ndarray, symbol
from .._kinds import explain_methods as _explain_methods
from .._names import set_by_init

if TYPE_CHECKING:
    from ..ndarray import NDArray
    from ..symbol import Symbol

MODIFIED = ('a cell that a modifier (ZoneoutCell, ResidualCell, ...) was applied to cannot be used by itself; use the '
            'modifier')


def steps_of(length, inputs, layout, merge, in_layout=None):
    """Inputs as one symbol (merge True), as a list of one symbol a step (False), or as they are (None).

    Returns them and the axis of time.
    """
    if inputs is None:
        raise AssertionError('unroll: inputs is missing; make variables for them first')
    axis = layout.find('T')
    in_axis = axis if in_layout is None else in_layout.find('T')
    if isinstance(inputs, symbol.Symbol):
        if merge is False:
            if len(inputs.list_outputs()) != 1:
                raise AssertionError('unroll: a group of symbols is not accepted as input; pass list(inputs)')
            return list(symbol.split(inputs, axis=in_axis, num_outputs=length, squeeze_axis=True)), axis
        return (inputs if axis == in_axis else symbol.swapaxes(inputs, dim1=axis, dim2=in_axis)), axis
    if length is not None and len(inputs) != length:
        raise AssertionError(f'unroll: {len(inputs)} inputs for {length} steps')
    if merge is True:
        inputs = symbol.Concat(*[symbol.expand_dims(i, axis=axis) for i in inputs], dim=axis)
    return inputs, axis


class RNNParams:
    """Variables by name, made when they are first asked for; cells that have the same ones share weights."""

    def __init__(self, prefix: str = '') -> None:
        self._prefix = prefix
        self._params: dict[Any, Any] = {}

    def get(self, name: str, **kwargs: Any) -> Symbol:
        """The variable `prefix + name`; `kwargs` go to `mx.sym.Variable`."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = symbol.Variable(name, **kwargs)
        return self._params[name]


class BaseRNNCell:
    """The base of recurrent cells.  One of your own has `__call__(inputs, states)`, one step, and `state_info`.

    prefix: what names of its layers begin with
    params: an RNNParams to share weights with another cell
    """

    _num_hidden: int        # of a subclass

    _own_params = _params = _prefix = _modified = _counter = _init_counter = set_by_init()

    def __init__(self, prefix: str = '', params: RNNParams | None = None) -> None:
        self._own_params = params is None
        self._params = RNNParams(prefix) if params is None else params
        self._prefix = prefix
        self._modified = False
        self.reset()

    def reset(self) -> None:
        """Names begin anew; to be called before a cell is used in another graph."""
        self._init_counter = -1
        self._counter = -1
        for cell in getattr(self, '_cells', ()):
            cell.reset()

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Any, Any]:
        """One step: (output, new states) for inputs of shape (batch, features)."""
        raise NotImplementedError(f'{type(self).__name__} cannot be stepped')

    @property
    def params(self) -> RNNParams:
        """The RNNParams of the cell."""
        self._own_params = False
        return self._params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """A dict with the shape (0 is the batch size) and `__layout__` of each state."""
        raise NotImplementedError(f'{type(self).__name__} has no state_info')

    @property
    def state_shape(self) -> Any:
        """The shapes of the states."""
        return [info['shape'] for info in self.state_info]

    @property
    def _gate_names(self):
        return ()

    def _step_name(self):
        self._counter += 1
        return f'{self._prefix}t{self._counter}_'

    def _check_unmodified(self):
        if self._modified:
            raise AssertionError(MODIFIED)

    def begin_state(self, func: Callable[..., Any] = symbol.zeros, **kwargs: Any) -> list[Symbol]:
        """Symbols for the first states: zeros; or `func(name=..., shape=..., ...)`, such as `mx.sym.Variable`."""
        self._check_unmodified()
        states = []
        for info in self.state_info:
            self._init_counter += 1
            states.append(func(name=f'{self._prefix}begin_state_{self._init_counter}', **{**kwargs, **(info or {})}))
        return states

    # ------------------------------------------------------------------ weights
    def unpack_weights(self, args: Mapping[str, NDArray]) -> Mapping[str, NDArray]:
        """A dict of parameters in which the weights of each gate stand alone, `lstm_i2h_f_weight` and so on."""
        args = dict(args)
        if not self._gate_names:
            return args
        size = self._num_hidden
        for group in ('i2h', 'h2h'):
            for kind in ('weight', 'bias'):
                packed = args.pop(f'{self._prefix}{group}_{kind}')
                for i, gate in enumerate(self._gate_names):
                    args[f'{self._prefix}{group}{gate}_{kind}'] = packed[i * size:(i + 1) * size].copy()
        return args

    def pack_weights(self, args: Mapping[str, NDArray]) -> Mapping[str, NDArray]:
        """The reverse of `unpack_weights`."""
        args = dict(args)
        if not self._gate_names:
            return args
        for group in ('i2h', 'h2h'):
            for kind in ('weight', 'bias'):
                args[f'{self._prefix}{group}_{kind}'] = ndarray.concatenate(
                    [args.pop(f'{self._prefix}{group}{gate}_{kind}') for gate in self._gate_names])
        return args

    # ------------------------------------------------------------------ time
    def unroll(self, length: int, inputs: Any, begin_state: list[Symbol] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None) -> tuple[Any, list[Symbol]]:
        """(outputs, last states) of `length` steps.

        inputs: one symbol of the given layout, or a list of one symbol a step
        begin_state: by default `begin_state()`
        merge_outputs: True for one symbol, False for a list; None for what is less work
        """
        self.reset()
        inputs, _ = steps_of(length, inputs, layout, False)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for i in range(length):
            output, states = self(inputs[i], states)
            outputs.append(output)
        return steps_of(length, outputs, layout, merge_outputs)[0], states

    def _get_activation(self, inputs, activation, **kwargs):
        if isinstance(activation, str):
            how: dict[str, Any] = {'act_type': activation, **kwargs}
            return symbol.Activation(inputs, **how)
        return activation(inputs, **kwargs)


_explain_methods(BaseRNNCell, 'begin_state pack_weights unpack_weights unroll')
