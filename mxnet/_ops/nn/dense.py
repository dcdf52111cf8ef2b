"""Fully connected layers."""
import torch

from ...base import MXNetError
from ..core import shapes
from ..core.table import operator
from ..tensor.products import linear


@operator(aliases=('_npx_fully_connected', '_sparse_FullyConnected'), shapes=shapes.fully_connected,
          optional={'bias': lambda a: not a['no_bias']}, same_dtype=('data', 'weight', 'bias'))
def FullyConnected(data, weight, bias=None, *, num_hidden: int, no_bias: bool = False, flatten: bool = True):
    """A linear layer: `data` times the transpose of `weight`, plus `bias`.

    `weight` has shape (num_hidden, inputs).  With `flatten`, all axes of `data` but the first are one; without, the
    layer applies along the last axis.
    """
    if weight.shape[0] != num_hidden:
        raise MXNetError(f'operator FullyConnected: weight has shape {tuple(weight.shape)}, '
                         f'but num_hidden is {num_hidden}')
    if flatten and data.dim() != 2:
        data = torch.flatten(data, 1) if data.dim() > 1 else data.unsqueeze(1)
    if no_bias or bias is None:
        return linear(data, weight)
    return linear(data, weight, bias if bias.dim() == 1 else bias.flatten())      # one column: biases kept as rows
