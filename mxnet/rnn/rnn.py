"""Checkpoints of networks with recurrent cells, whose files have the weights of each gate for itself."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .._kinds import explain_kinds as _explain_kinds
from ..model import load_checkpoint, save_checkpoint
from ._base_cell import BaseRNNCell

if TYPE_CHECKING:
    from ..ndarray import NDArray
    from ..symbol import Symbol

__all__ = ['do_rnn_checkpoint', 'load_rnn_checkpoint', 'rnn_unroll', 'save_rnn_checkpoint']


def rnn_unroll(cell: BaseRNNCell, length: int, inputs: Any = None, begin_state: Any = None, input_prefix: str = '',
               layout: str = 'NTC') -> Any:
    """An old name of `cell.unroll`."""
    warnings.warn('rnn_unroll is deprecated; call cell.unroll', DeprecationWarning, stacklevel=2)
    return cell.unroll(length=length, inputs=inputs, begin_state=begin_state, layout=layout)


def _cells(cells):
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def save_rnn_checkpoint(cells: Any, prefix: str, epoch: int, symbol: Symbol, arg_params: Mapping[str, NDArray],
                        aux_params: Mapping[str, NDArray]) -> None:
    """`mx.model.save_checkpoint` with the weights of one cell, or of a list of cells, unpacked."""
    for cell in _cells(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells: Any, prefix: str, epoch: int) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """(symbol, arguments, auxiliary states) from what `save_rnn_checkpoint` wrote, the weights of the cells packed."""
    symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
    for cell in _cells(cells):
        arg_params = cell.pack_weights(arg_params)
    return symbol, arg_params, aux_params


def do_rnn_checkpoint(cells: Any, prefix: str, period: int = 1) -> Callable[..., None]:
    """An epoch callback that calls `save_rnn_checkpoint` every `period` epochs."""
    period = int(max(1, period))

    def save(iter_no, sym=None, arg=None, aux=None):
        if (iter_no + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, iter_no + 1, sym, arg, aux)
    return save


_explain_kinds(globals(), __all__)
