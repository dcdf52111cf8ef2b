"""Recurrent cells: symbols of one step, unrolled over time."""
from .._kinds import explain_kinds as _explain_kinds
from ._base_cell import BaseRNNCell, RNNParams
from ._cells import GRUCell, LSTMCell, RNNCell
from ._combined import (
    BidirectionalCell,
    DropoutCell,
    ModifierCell,
    ResidualCell,
    SequentialRNNCell,
    ZoneoutCell,
)
from ._convolutional import BaseConvRNNCell, ConvGRUCell, ConvLSTMCell, ConvRNNCell
from ._fused import FusedRNNCell

__all__ = ['BaseConvRNNCell', 'BaseRNNCell', 'BidirectionalCell', 'ConvGRUCell', 'ConvLSTMCell', 'ConvRNNCell',
           'DropoutCell', 'FusedRNNCell', 'GRUCell', 'LSTMCell', 'ModifierCell', 'RNNCell', 'RNNParams', 'ResidualCell',
           'SequentialRNNCell', 'ZoneoutCell']

for _name in __all__:
    globals()[_name].__module__ = __name__

_explain_kinds(globals(), __all__)
