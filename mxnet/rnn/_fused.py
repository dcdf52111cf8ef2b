"""Several layers over all steps as one operator."""
from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import initializer, ndarray, symbol
from ._base_cell import BaseRNNCell, steps_of
from ._cells import GRUCell, LSTMCell, RNNCell
from ._combined import BidirectionalCell, DropoutCell, SequentialRNNCell

if TYPE_CHECKING:
    from ..ndarray import NDArray
    from ..rnn import RNNParams
    from ..symbol import Symbol

_GATES = {'rnn_relu': [''], 'rnn_tanh': [''], 'lstm': ['_i', '_f', '_c', '_o'], 'gru': ['_r', '_z', '_o']}


class FusedRNNCell(BaseRNNCell):
    """Layers of 'rnn_relu', 'rnn_tanh', 'lstm' or 'gru' in one operator: faster, but it can only be unrolled.

    get_next_state: whether `unroll` gives the last states
    dropout: of the outputs between layers
    forget_bias: what the bias of an LSTM's forget gate begins with
    """

    def __init__(self, num_hidden: int, num_layers: int = 1, mode: str = 'lstm', bidirectional: bool = False,
                 dropout: float = 0., get_next_state: bool = False, forget_bias: float = 1.0, prefix: str | None = None,
                 params: RNNParams | None = None) -> None:
        super().__init__(prefix=f'{mode}_' if prefix is None else prefix, params=params)
        self._num_hidden, self._num_layers, self._mode = num_hidden, num_layers, mode
        self._bidirectional, self._dropout, self._get_next_state = bidirectional, dropout, get_next_state
        self._directions = ['l', 'r'] if bidirectional else ['l']
        init = initializer.FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        self._parameter = self.params.get('parameters', init=init)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """A dict with the shape (0 is the batch size) and `__layout__` of each state."""
        shape = (len(self._directions) * self._num_layers, 0, self._num_hidden)
        return [{'shape': shape, '__layout__': 'LNC'} for _ in range(2 if self._mode == 'lstm' else 1)]

    @property
    def _gate_names(self):
        return _GATES[self._mode]

    @property
    def _num_gates(self):
        return len(self._gate_names)

    # ------------------------------------------------------------------ weights
    def _slice_weights(self, arr, li, lh):
        """{name: part of the parameter vector} for inputs of `li` and states of `lh` values: weights, then biases."""
        if li < 1 or arr.size != self._total_size(li):
            raise AssertionError(f'{self._prefix}parameters has {arr.size} elements, which does not match '
                                 f'{self._num_layers} {self._mode} layers of {lh} units')
        parts, start = {}, 0
        layers = [(f'{self._prefix}{direction}{layer}', layer) for layer in range(self._num_layers)
                  for direction in self._directions]
        for kind in ('weight', 'bias'):
            for name, layer in layers:
                below = li if layer == 0 else lh * len(self._directions)
                for group, width in (('i2h', below), ('h2h', lh)):
                    shape = (lh, width) if kind == 'weight' else (lh,)
                    size = lh * width if kind == 'weight' else lh
                    for gate in self._gate_names:
                        parts[f'{name}_{group}{gate}_{kind}'] = arr[start:start + size].reshape(shape)
                        start += size
        return parts

    def _total_size(self, inputs):
        """How many parameters there are for an input of this size."""
        both, size = len(self._directions), self._num_hidden
        return both * self._num_gates * size * (inputs + size + 2 + (self._num_layers - 1) * (size + both * size + 2))

    def _input_size(self, total):
        """The size of the input, from that of the parameter vector."""
        both, size = len(self._directions), self._num_hidden
        per_unit = total // both // size // self._num_gates
        return per_unit - (self._num_layers - 1) * (size + both * size + 2) - size - 2

    def unpack_weights(self, args: Mapping[str, NDArray]) -> Mapping[str, NDArray]:
        """A dict of parameters in which weights stand for themselves, `lstm_l0_i2h_f_weight` and so on."""
        args = dict(args)
        packed = args.pop(self._parameter.name)
        parts = self._slice_weights(packed, self._input_size(packed.size), self._num_hidden)
        args.update((name, part.copy()) for name, part in parts.items())
        return args

    def pack_weights(self, args: Mapping[str, NDArray]) -> Mapping[str, NDArray]:
        """The reverse of `unpack_weights`."""
        args = dict(args)
        first = args[f'{self._prefix}l0_i2h{self._gate_names[0]}_weight']
        inputs = first.shape[1]
        packed = ndarray.zeros((self._total_size(inputs),), ctx=first.context, dtype=first.dtype)
        for name, part in self._slice_weights(packed, inputs, self._num_hidden).items():
            part[:] = args.pop(name)
        args[self._parameter.name] = packed
        return args

    # ------------------------------------------------------------------ time
    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """There is no single step."""
        raise NotImplementedError('FusedRNNCell cannot be stepped; use unroll, or unfuse first')

    def unroll(self, length: int, inputs: Any, begin_state: list[Symbol] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None) -> tuple[Any, list[Symbol]]:
        """(outputs, last states); see `BaseRNNCell.unroll`."""
        self.reset()
        inputs, axis = steps_of(length, inputs, layout, True)
        if axis not in (0, 1):
            raise AssertionError(f'unroll: layout {layout!r} is not supported; TNC and NTC are')
        if axis == 1:
            warnings.warn("FusedRNNCell.unroll: layout 'TNC' is faster than 'NTC'", UserWarning, stacklevel=2)
            inputs = symbol.swapaxes(inputs, dim1=0, dim2=1)
        states = self.begin_state() if begin_state is None else begin_state
        names = ('state', 'state_cell') if self._mode == 'lstm' else ('state',)
        rnn = symbol.RNN(data=inputs, parameters=self._parameter, state_size=self._num_hidden,
                         num_layers=self._num_layers, bidirectional=self._bidirectional, p=self._dropout,
                         state_outputs=self._get_next_state, mode=self._mode, name=f'{self._prefix}rnn',      # type: ignore[arg-type]
                         **dict(zip(names, states, strict=False)))      # type: ignore[arg-type]
        outputs, states = rnn, []
        if self._get_next_state:
            outputs, states = rnn[0], [rnn[i + 1] for i in range(len(names))]
            for state in states:
                state._set_attr(__layout__='LNC')
        if axis == 1:
            outputs = symbol.swapaxes(outputs, dim1=0, dim2=1)
        return steps_of(length, outputs, layout, merge_outputs)[0], states

    def unfuse(self) -> SequentialRNNCell:
        """A SequentialRNNCell of plain cells with the same parameters (see `unpack_weights`), which can be stepped."""
        make = {'rnn_relu': lambda prefix: RNNCell(self._num_hidden, activation='relu', prefix=prefix),
                'rnn_tanh': lambda prefix: RNNCell(self._num_hidden, activation='tanh', prefix=prefix),
                'lstm': lambda prefix: LSTMCell(self._num_hidden, prefix=prefix),
                'gru': lambda prefix: GRUCell(self._num_hidden, prefix=prefix)}[self._mode]
        stack = SequentialRNNCell()
        for i in range(self._num_layers):
            left = make(f'{self._prefix}l{i}_')
            stack.add(BidirectionalCell(left, make(f'{self._prefix}r{i}_'), output_prefix=f'{self._prefix}bi_l{i}_')
                      if self._bidirectional else left)
            if self._dropout > 0 and i != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout, prefix=f'{self._prefix}_dropout{i}_'))
        return stack
