"""Cells made of cells: stacks, both directions, dropout, zoneout and residual connections."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any

from .. import symbol
from .._names import kind_of
from ._base_cell import BaseRNNCell, steps_of

if TYPE_CHECKING:
    from ..ndarray import NDArray
    from ..rnn import RNNParams
    from ..symbol import Symbol


class _Group(BaseRNNCell):
    """Several cells, whose states and weights come one after the other."""

    def __init__(self, cells: Any, params: RNNParams | None) -> None:
        super().__init__(prefix='', params=params)
        self._override_cell_params = params is not None
        self._cells: list[Any] = []
        for cell in cells:
            self._append(cell)

    def _append(self, cell):
        if self._override_cell_params:
            if not cell._own_params:
                raise AssertionError(f'{type(self).__name__}: either it or its cells have params, not both')
            cell.params._params.update(self.params._params)
        self.params._params.update(cell.params._params)
        self._cells.append(cell)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """A dict with the shape (0 is the batch size) and `__layout__` of each state."""
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, **kwargs: Any) -> list[Symbol]:      # type: ignore[override]
        """Symbols for the first states of all cells; see `BaseRNNCell.begin_state`."""
        self._check_unmodified()
        return [state for cell in self._cells for state in cell.begin_state(**kwargs)]

    def unpack_weights(self, args: Mapping[str, NDArray]) -> Mapping[str, NDArray]:
        """See `BaseRNNCell.unpack_weights`."""
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args: Mapping[str, NDArray]) -> Mapping[str, NDArray]:
        """The reverse of `unpack_weights`."""
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args

    def _split(self, states):
        """(cell, its states) of all cells."""
        start = 0
        for cell in self._cells:
            count = len(cell.state_info)
            yield cell, states[start:start + count]
            start += count


class SequentialRNNCell(_Group):
    """A stack of cells: the output of each is the input of the next."""

    def __init__(self, params: RNNParams | None = None) -> None:
        super().__init__([], params)

    def add(self, cell: BaseRNNCell) -> None:
        """Puts a cell on top."""
        self._append(cell)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Any, Any]:
        """One step: (output, new states)."""
        self._counter += 1
        following = []
        for cell, own in self._split(states):
            if isinstance(cell, BidirectionalCell):
                raise AssertionError('a BidirectionalCell cannot be stepped; use unroll')
            inputs, own = cell(inputs, own)
            following.extend(own)
        return inputs, following

    def unroll(self, length: int, inputs: Any, begin_state: Any = None, layout: str = 'NTC',
               merge_outputs: bool | None = None) -> tuple[Any, list[Symbol]]:
        """(outputs, last states); see `BaseRNNCell.unroll`."""
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        following = []
        for cell, own in self._split(states):
            last = cell is self._cells[-1]
            inputs, own = cell.unroll(length, inputs=inputs, begin_state=own, layout=layout,
                                      merge_outputs=merge_outputs if last else None)
            following.extend(own)
        return inputs, following


class DropoutCell(BaseRNNCell):
    """Dropout of the input; `dropout` is the share that is set to zero."""

    def __init__(self, dropout: float, prefix: str = 'dropout_', params: RNNParams | None = None) -> None:
        super().__init__(prefix, params)
        if not isinstance(dropout, Number):
            raise AssertionError(f'dropout must be a number, not {kind_of(dropout)}')
        self.dropout = dropout

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """No states."""
        return []

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Any, Any]:
        """One step: (output, states)."""
        return symbol.Dropout(inputs, p=self.dropout) if self.dropout > 0 else inputs, states

    def unroll(self, length: int, inputs: Any, begin_state: Any = None, layout: str = 'NTC',
               merge_outputs: Any = None) -> tuple[Any, list[Symbol]]:
        """(outputs, states); see `BaseRNNCell.unroll`.  A single symbol is dropped out as a whole."""
        self.reset()
        inputs, _ = steps_of(length, inputs, layout, merge_outputs)
        if isinstance(inputs, symbol.Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, begin_state=begin_state, layout=layout, merge_outputs=merge_outputs)


class ModifierCell(BaseRNNCell):
    """A cell that changes what another one does; the other is not to be used by itself any more."""

    def __init__(self, base_cell: BaseRNNCell) -> None:
        super().__init__()
        base_cell._modified = True
        self.base_cell = base_cell

    @property
    def params(self) -> RNNParams:
        """The RNNParams of the inner cell."""
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """That of the inner cell."""
        return self.base_cell.state_info

    def begin_state(self, init_sym: Any = symbol.zeros, **kwargs: Any) -> list[Symbol]:      # type: ignore[override]
        """Symbols for the first states of the inner cell; see `BaseRNNCell.begin_state`."""
        self._check_unmodified()
        # a group of cells takes the function by its name
        kwargs.setdefault('func', init_sym)
        with _Unmodified(self.base_cell):
            return self.base_cell.begin_state(**kwargs)

    def unpack_weights(self, args: Mapping[str, NDArray]) -> Mapping[str, NDArray]:
        """See `BaseRNNCell.unpack_weights`."""
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args: Mapping[str, NDArray]) -> Mapping[str, NDArray]:
        """The reverse of `unpack_weights`."""
        return self.base_cell.pack_weights(args)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Any, Any]:
        """One step: (output, new states)."""
        raise NotImplementedError(f'{type(self).__name__} cannot be stepped')


class _Unmodified:
    """Lets the modifier of a cell use it."""

    def __init__(self, cell):
        self.cell = cell

    def __enter__(self):
        self.cell._modified = False

    def __exit__(self, *_):
        self.cell._modified = True


class ZoneoutCell(ModifierCell):
    """Zoneout: in training, random parts of outputs and states stay as they were a step before.

    zoneout_outputs, zoneout_states: the shares that stay
    """

    prev_output: Any

    def __init__(self, base_cell: BaseRNNCell, zoneout_outputs: float = 0., zoneout_states: float = 0.) -> None:
        from ._fused import FusedRNNCell
        if isinstance(base_cell, FusedRNNCell):
            raise AssertionError('FusedRNNCell has no zoneout; unfuse it first')
        if isinstance(base_cell, BidirectionalCell):
            raise AssertionError('a BidirectionalCell cannot be stepped, so it has no zoneout; apply it to its cells')
        cells = base_cell._cells if isinstance(base_cell, SequentialRNNCell) else ()
        if any(isinstance(cell, BidirectionalCell) for cell in cells):
            raise AssertionError('a stack with a BidirectionalCell cannot be stepped, so it has no zoneout; apply it '
                                 'to the cells inside')
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self.prev_output = None

    def reset(self) -> None:
        """Names and outputs begin anew."""
        super().reset()
        self.prev_output = None

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Any, Any]:
        """One step: (output, new states)."""
        output, following = self.base_cell(inputs, states)

        def mixed(share, new, old):
            if not share:
                return new
            # dropout of ones is not zero where the new value is taken
            return symbol.where(symbol.Dropout(symbol.ones_like(new), p=share), new, old)

        before = symbol.zeros((0, 0)) if self.prev_output is None else self.prev_output
        self.prev_output = mixed(self.zoneout_outputs, output, before)
        return self.prev_output, [mixed(self.zoneout_states, new, old)
                                  for new, old in zip(following, states, strict=True)]


class ResidualCell(ModifierCell):
    """Adds the input to the output of a cell (https://arxiv.org/abs/1609.08144)."""

    def __init__(self, base_cell: BaseRNNCell) -> None:
        super().__init__(base_cell)

    @staticmethod
    def _sum(output, inputs):
        return symbol.elemwise_add(output, inputs, name=f'{output.name}_plus_residual')

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Any, Any]:
        """One step: (output, new states)."""
        output, states = self.base_cell(inputs, states)
        return self._sum(output, inputs), states

    def unroll(self, length: int, inputs: Any, begin_state: Any = None, layout: str = 'NTC',
               merge_outputs: bool | None = None) -> tuple[Any, list[Symbol]]:
        """(outputs, last states); see `BaseRNNCell.unroll`."""
        self.reset()
        with _Unmodified(self.base_cell):
            outputs, states = self.base_cell.unroll(length, inputs=inputs, begin_state=begin_state, layout=layout,
                                                    merge_outputs=merge_outputs)
        merged = isinstance(outputs, symbol.Symbol) if merge_outputs is None else merge_outputs
        inputs, _ = steps_of(length, inputs, layout, merged)
        if merged:
            return self._sum(outputs, inputs), states
        return [self._sum(*pair) for pair in zip(outputs, inputs, strict=True)], states


class BidirectionalCell(_Group):
    """Two cells, one forward and one backward in time; outputs are joined.

    output_prefix: what the names of outputs begin with
    """

    def __init__(self, l_cell: BaseRNNCell, r_cell: BaseRNNCell, params: RNNParams | None = None,
                 output_prefix: str = 'bi_') -> None:
        super().__init__([l_cell, r_cell], params)
        self._output_prefix = output_prefix

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Any, Any]:
        """There is no single step."""
        raise NotImplementedError('a BidirectionalCell cannot be stepped; use unroll')

    def unroll(self, length: int, inputs: Any, begin_state: list[Symbol] | None = None, layout: str = 'NTC',
               merge_outputs: bool | None = None) -> tuple[Any, list[Symbol]]:
        """(outputs, last states); see `BaseRNNCell.unroll`."""
        self.reset()
        inputs, axis = steps_of(length, inputs, layout, False)
        states = self.begin_state() if begin_state is None else begin_state
        sides, last = [], []
        for (cell, own), ordered in zip(self._split(states), (inputs, list(reversed(inputs))), strict=True):
            outputs, own = cell.unroll(length, inputs=ordered, begin_state=own, layout=layout,
                                       merge_outputs=merge_outputs)
            sides.append(outputs)
            last.append(own)
        if merge_outputs is None:
            merge_outputs = all(isinstance(side, symbol.Symbol) for side in sides)
        left, right = (steps_of(length, side, layout, merge_outputs)[0] for side in sides)
        if merge_outputs:
            return symbol.Concat(left, symbol.reverse(right, axis=axis), dim=2, name=f'{self._output_prefix}out'), last
        return [symbol.Concat(l, r, dim=1, name=f'{self._output_prefix}t{i}')
                for i, (l, r) in enumerate(zip(left, reversed(right), strict=True))], last
