"""Recurrent layers: whole sequences, all layers and both directions, in one operator."""
from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack, overload

from ... import ndarray, symbol
from ..._deferred_compute import tracing
from ..._kinds import explain_methods as _explain_methods
from ..._names import kind_of
from ..._state import state
from ...base import MXNetError
from ...ndarray import NDArray
from ...symbol import Symbol
from ...util import is_np_array
from ..block import HybridBlock
from . import rnn_cell

if TYPE_CHECKING:
    from ..._typing import DType, Init, RecurrentOptions, Value
    from ...gluon.parameter import Parameter

__all__ = ['GRU', 'LSTM', 'RNN']

_PARAMETER = re.compile(r'(?P<side>[lr])(?P<layer>\d+)_(?P<rest>(i2h|h2h|h2r)_(weight|bias))\Z')


def _versions(arrays):
    """What changes when a program writes into arrays."""
    return [(id(tensor), tensor is None or tensor._version) for tensor in [a.materialize() for a in arrays]]


class _RNNLayer(HybridBlock):
    """What the layers have in common: parameters named as those of a stack of cells, states, the call."""

    l0_i2h_weight: Parameter

    def __init__(self, hidden_size: int, num_layers: int, layout: str, dropout: float, bidirectional: bool,
                 input_size: int, i2h_weight_initializer: Any, h2h_weight_initializer: Any,
                 i2h_bias_initializer: Any, h2h_bias_initializer: Any, mode: str, projection_size: int | None,
                 h2r_weight_initializer: Any, lstm_state_clip_min: float | None, lstm_state_clip_max: float | None,
                 lstm_state_clip_nan: bool, dtype: DType, use_sequence_length: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if layout not in ('TNC', 'NTC'):
            raise AssertionError(f"layout of a recurrent layer must be 'TNC' or 'NTC', not {layout!r}")
        if isinstance(num_layers, int) and num_layers < 1:
            raise ValueError(f'{type(self).__name__}: num_layers must be at least 1, not {num_layers}')
        self._hidden_size, self._num_layers = hidden_size, num_layers
        self._projection_size = projection_size or None
        self._mode, self._layout, self._dropout = mode, layout, dropout
        self._dir = 2 if bidirectional else 1
        self._input_size = input_size
        self._initializers = {'i2h_weight': i2h_weight_initializer, 'h2h_weight': h2h_weight_initializer,
                              'i2h_bias': i2h_bias_initializer, 'h2h_bias': h2h_bias_initializer}
        if self._projection_size:
            self._initializers['h2r_weight'] = h2r_weight_initializer
        self._clip = {'lstm_state_clip_min': lstm_state_clip_min, 'lstm_state_clip_max': lstm_state_clip_max,
                      'lstm_state_clip_nan': lstm_state_clip_nan}
        self._dtype = dtype
        self._use_sequence_length = use_sequence_length
        self.skip_states: Any = None
        self._zeros: tuple[Any, list[Any], Any] | None = None       # what `_beginning` gave last
        self._gates = {'lstm': 4, 'gru': 3}.get(mode, 1)
        for layer in range(num_layers):
            for side in self._sides():
                self._declare(side, layer)

    def _sides(self):
        return 'lr'[:self._dir]

    def _width(self):
        """Features of a state, and of the output in one direction."""
        return self._projection_size or self._hidden_size

    def _declare(self, side, layer):
        rows = self._gates * self._hidden_size
        inputs = self._dir * self._width() if layer else self._input_size
        shapes = {'i2h_weight': (rows, inputs), 'h2h_weight': (rows, self._width()), 'i2h_bias': (rows,),
                  'h2h_bias': (rows,), 'h2r_weight': (self._projection_size, self._hidden_size)}
        for name, init in self._initializers.items():
            full = f'{side}{layer}_{name}'
            setattr(self, full, self.params.get(full, shape=shapes[name], init=init, allow_deferred_init=True,
                                                dtype=self._dtype))

    def __repr__(self) -> str:
        rows, columns = self.l0_i2h_weight.shape
        parts = [f'{columns if columns > 0 else None} -> {rows // self._gates}', self._layout]
        if self._num_layers != 1:
            parts.append(f'num_layers={self._num_layers}')
        if self._dropout:
            parts.append(f'dropout={self._dropout}')
        if self._dir == 2:
            parts.append('bidirectional')
        return f'{type(self).__name__}({", ".join(parts)})'

    def _collect_params_with_prefix(self, prefix=''):
        """Names of parameters in files: those of a stack of cells, as files have always had them."""
        dot = prefix + '.' if prefix else ''
        found = {}
        for key, param in self._reg_params.items():
            place = _PARAMETER.match(key)
            assert place is not None, key
            cell = f'{place["side"]}_cell.' if self._dir == 2 else ''
            found[f'{dot}_unfused.{place["layer"]}.{cell}{place["rest"]}'] = param
        return found

    # ------------------------------------------------------------------ states
    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """A dictionary for each state, with its shape, layout and dtype."""
        rows = self._num_layers * self._dir
        sizes = [self._width(), self._hidden_size][:2 if self._mode == 'lstm' else 1]
        return [{'shape': (rows, batch_size, size), '__layout__': 'LNC', 'dtype': self._dtype} for size in sizes]

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = ndarray.zeros, **kwargs: Any) -> list[Any]:
        """The states before the first step: `func(name=..., shape=..., **kwargs)` for each.

        >>> [s.shape for s in mx.gluon.rnn.LSTM(4, num_layers=3).begin_state(batch_size=2)]
        [(3, 2, 4), (3, 2, 4)]
        """
        rnn_cell._check_batch_size(batch_size, func, kwargs)
        states = [func(name=f'{self.prefix}h0_{i}', **{**info, **kwargs})
                  for i, info in enumerate(self.state_info(batch_size))]
        return [s.as_np_ndarray() for s in states] if is_np_array() else states

    def cast(self, dtype: DType) -> None:
        super().cast(dtype)
        self._dtype = dtype

    # ------------------------------------------------------------------ the call
    @overload      # type: ignore[override]
    def __call__(self, inputs: Value, states: None = None, sequence_length: Any = None, **kwargs: Any) -> Value: ...

    @overload
    def __call__(self, inputs: Value, states: Any, sequence_length: Any = None,
                 **kwargs: Any) -> tuple[Value, list[Value]]: ...

    def __call__(self, inputs: Any, states: Any = None, sequence_length: Any = None, **kwargs: Any) -> Any:
        """The output; with `states` given, (output, states after the last step)."""
        skip = states is None
        if skip is not self.skip_states:
            self.skip_states = skip
            self._clear_cached_op()         # a graph gives states back or it does not
        if skip:
            if isinstance(inputs, NDArray):
                states = self._beginning(inputs)
                if not self._use_sequence_length and sequence_length is None and not kwargs:
                    return self._from_zeros(inputs, states)
            else:
                states = self.begin_state(0, func=symbol.zeros)
        elif isinstance(states, (NDArray, Symbol)):
            states = [states]
        if self._use_sequence_length:
            if sequence_length is None:
                raise ValueError(f'{self.name} was made with use_sequence_length=True, so it must be called with '
                                 'sequence_length')
            return self._run(inputs, states, sequence_length, **kwargs)
        if sequence_length is not None:
            warnings.warn(f'sequence_length is ignored by {self.name}; make the layer with use_sequence_length=True',
                          stacklevel=2)
        return self._run(inputs, states, **kwargs)

    def _run(self, inputs, states, *args, **kwargs):
        try:
            return super().__call__(inputs, states, *args, **kwargs)
        except (ValueError, TypeError, AttributeError, MXNetError) as error:
            if isinstance(inputs, NDArray):
                # as upstream: shapes that cannot be inferred are a ValueError, shapes that the operator refuses are not
                refused = ValueError if isinstance(error, ValueError) else MXNetError
                if inputs.ndim != 3:
                    raise refused(f'{self.name}: the inputs must have three axes ({self._layout}), not the shape '
                                  f'{inputs.shape}') from error
                if not isinstance(states, (list, tuple)) or not all(isinstance(s, NDArray) for s in states):
                    raise TypeError(f'{self.name}: the states must be a list of NDArrays, not '
                                    f'{kind_of(states)}') from error
                self._check_states(inputs, states)
                width = inputs.shape[2]
                if self._input_size and width != self._input_size:
                    raise refused(f'{self.name}: inputs of shape {inputs.shape} ({self._layout}) have {width} '
                                  f'values a step, but the layer takes {self._input_size}') from error
            raise

    def _beginning(self, inputs):
        """The states before the first step of a batch: the same arrays as for the batch before, if they are still 0."""
        kind = inputs.shape[self._layout.find('N')], inputs.context, inputs.dtype, is_np_array()
        if self._zeros is None or tracing() or self._zeros[0] != kind or self._zeros[2] != _versions(self._zeros[1]):
            states = self.begin_state(kind[0], ctx=kind[1], dtype=kind[2])
            if tracing() or type(self).begin_state is not _RNNLayer.begin_state:
                return states               # parts of a graph, or what a program has made
            self._zeros = kind, states, _versions(states)
        return list(self._zeros[1])

    def _from_zeros(self, inputs, states):
        """The output of a call without states, which may be like the one before (_lazy/bound_calls.py)."""
        bound = self._bound_call if state.recording else self._bound_prediction
        if bound is not None:
            out = bound((inputs, *states))
            if out is not None:
                return out
        out = self._run(inputs, states)
        op, arguments = self._cached_op, self._cached_op_args
        if op is not None and self._active and isinstance(out, NDArray):
            params = [what for is_input, what in arguments if not is_input]
            numbers = [(i, what) for i, (is_input, what) in enumerate(arguments) if is_input]
            self._bind_call(op, params, numbers, (inputs, *states), out)
        return out

    def hybrid_forward(self, F: Any, inputs: Any, states: Any, sequence_length: NDArray | None = None,
                       **params: Any) -> Any:
        if F is ndarray:
            self._check_states(inputs, states)
        numpy_like = is_np_array()
        swap = F.np.swapaxes if numpy_like else F.swapaxes
        join = F.np._internal.rnn_param_concat if numpy_like else F._internal._rnn_param_concat
        run = F.npx.rnn if numpy_like else F.RNN
        if self._layout == 'NTC':
            inputs = swap(inputs, 0, 1)
        order = [f'{side}{layer}_{part}_{kind}' for kind in ('weight', 'bias') for layer in range(self._num_layers)
                 for side in self._sides() for part in ('i2h', 'h2h', 'h2r')]
        weights = join(*[params[name].reshape(-1) for name in order if name in params], dim=0)
        lengths = [sequence_length] if self._use_sequence_length else []
        outputs, *states = run(inputs, weights, *states, *lengths, use_sequence_length=self._use_sequence_length,
                               state_size=self._hidden_size, projection_size=self._projection_size,
                               num_layers=self._num_layers, bidirectional=self._dir == 2, p=self._dropout,
                               state_outputs=True, mode=self._mode, **self._clip)
        if self._layout == 'NTC':
            outputs = swap(outputs, 0, 1)
        return outputs if self.skip_states else (outputs, states)

    def _check_states(self, inputs, states):
        expected = [info['shape'] for info in self.state_info(inputs.shape[self._layout.find('N')])]
        given = [s.shape for s in states]
        if given != expected:
            raise ValueError(f'{self.name}: the states must have shapes {expected} for inputs of shape {inputs.shape} '
                             f'({self._layout}), but have {given}')

    # ------------------------------------------------------------------ cells
    def _unfuse(self):
        """A stack of cells with the same parameters."""
        if any(value is not None for key, value in self._clip.items() if key != 'lstm_state_clip_nan'):
            raise AssertionError(f'{self.name} clips its states, which cells cannot')
        stack = rnn_cell.HybridSequentialRNNCell(prefix=self.prefix, params=self.params)
        with stack.name_scope():
            for layer in range(self._num_layers):
                cells = [self._cell(f'{side}{layer}_', layer) for side in self._sides()]
                stack.add(rnn_cell.BidirectionalCell(*cells) if self._dir == 2 else cells[0])
                if self._dropout > 0 and layer != self._num_layers - 1:
                    stack.add(rnn_cell.DropoutCell(self._dropout))
        return stack

    def _cell(self, prefix, layer):
        options = {f'{name}_initializer': init for name, init in self._initializers.items()}
        options |= {'input_size': self._dir * self._width() if layer else self._input_size, 'prefix': prefix}
        if self._projection_size:
            from ..contrib.rnn import LSTMPCell
            return LSTMPCell(self._hidden_size, self._projection_size, **options)
        if self._mode.startswith('rnn_'):
            return rnn_cell.RNNCell(self._hidden_size, activation=self._mode.removeprefix('rnn_'), **options)
        return {'lstm': rnn_cell.LSTMCell, 'gru': rnn_cell.GRUCell}[self._mode](self._hidden_size, **options)


class RNN(_RNNLayer):
    """Layers of simple recurrent cells with `activation` 'relu' or 'tanh'.

    Inputs have shape (steps, batch, features) with layout 'TNC' and (batch, steps, features) with 'NTC'; `dropout` acts
    between layers while training.  With `use_sequence_length=True` the call takes `sequence_length`, of shape (batch,),
    and outputs behind the end of a sequence are zero.
    """

    def __init__(self, hidden_size: int, num_layers: int = 1, activation: str = 'relu', layout: str = 'TNC',
                 dropout: float = 0, bidirectional: bool = False, i2h_weight_initializer: Init | None = None,
                 h2h_weight_initializer: Init | None = None, i2h_bias_initializer: Init = 'zeros',
                 h2h_bias_initializer: Init = 'zeros', input_size: int = 0, dtype: DType = 'float32',
                 **kwargs: Unpack[RecurrentOptions]) -> None:
        if activation not in ('relu', 'tanh'):
            raise ValueError(f"RNN: activation must be 'relu' or 'tanh', not {activation!r}")
        super().__init__(hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
                         h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, 'rnn_' + activation, None,
                         None, None, None, False, dtype, **kwargs)


class LSTM(_RNNLayer):
    """Layers of long short-term memory; `projection_size` makes the state h smaller than the cell c.

    Inputs and options as for `RNN`.  `state_clip_min` and `state_clip_max` limit c, on a GPU.

    >>> layer = mx.gluon.rnn.LSTM(4, num_layers=2, bidirectional=True)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((5, 3, 10))).shape
    (5, 3, 8)
    >>> output, (h, c) = layer(mx.nd.ones((5, 3, 10)), layer.begin_state(batch_size=3))
    >>> h.shape
    (4, 3, 4)
    """

    def __init__(self, hidden_size: int, num_layers: int = 1, layout: str = 'TNC', dropout: float = 0,
                 bidirectional: bool = False, input_size: int = 0, i2h_weight_initializer: Init | None = None,
                 h2h_weight_initializer: Init | None = None, i2h_bias_initializer: Init = 'zeros',
                 h2h_bias_initializer: Init = 'zeros', projection_size: int | None = None,
                 h2r_weight_initializer: Init | None = None, state_clip_min: float | None = None,
                 state_clip_max: float | None = None, state_clip_nan: bool = False, dtype: DType = 'float32',
                 **kwargs: Unpack[RecurrentOptions]) -> None:
        super().__init__(hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
                         h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, 'lstm', projection_size,
                         h2r_weight_initializer, state_clip_min, state_clip_max, state_clip_nan, dtype, **kwargs)


class GRU(_RNNLayer):
    """Layers of gated recurrent units, in the form of cuDNN.  Inputs and options as for `RNN`."""

    def __init__(self, hidden_size: int, num_layers: int = 1, layout: str = 'TNC', dropout: float = 0,
                 bidirectional: bool = False, input_size: int = 0, i2h_weight_initializer: Init | None = None,
                 h2h_weight_initializer: Init | None = None, i2h_bias_initializer: Init = 'zeros',
                 h2h_bias_initializer: Init = 'zeros', dtype: DType = 'float32',
                 **kwargs: Unpack[RecurrentOptions]) -> None:
        super().__init__(hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
                         h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, 'gru', None, None, None,
                         None, False, dtype, **kwargs)


_explain_methods(_RNNLayer, 'begin_state')
