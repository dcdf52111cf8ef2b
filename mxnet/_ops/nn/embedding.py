"""Embeddings: rows of a weight, chosen by index."""
from torch.nn import functional as F

from ...base import MXNetError
from ..core import shapes
from ..core.attributes import DType
from ..core.late_reads import reads_late
from ..core.table import operator
from ..tensor.gather import within


def _rows(name, data, weight, input_dim, output_dim, sparse_grad):
    if tuple(weight.shape) != (input_dim, output_dim):
        raise MXNetError(f'operator {name}: weight has shape {tuple(weight.shape)}, but (input_dim, output_dim) is '
                         f'{(input_dim, output_dim)}')
    # autograd marks a leaf whose gradient may come as rows
    return F.embedding(within(data, input_dim), weight, sparse=sparse_grad and getattr(weight, '_wants_rows', False))


@operator(aliases=('_npx_embedding', '_sparse_Embedding'), shapes=shapes.embedding, dtype_of='weight')
@reads_late('data')
def Embedding(data, weight, *, input_dim: int, output_dim: int, dtype: DType = 'float32', sparse_grad: bool = False):
    """The rows of `weight` at the indices in `data`: a new last axis of length `output_dim`.

    Indices outside of 0 to input_dim - 1 are clipped.  `dtype` is that of a weight which a graph creates by itself.
    """
    return _rows('Embedding', data, weight, input_dim, output_dim, sparse_grad)


@operator('_contrib_SparseEmbedding', shapes=shapes.embedding, dtype_of='weight')
@reads_late('data')
def sparse_embedding(data, weight, *, input_dim: int, output_dim: int, dtype: DType = 'float32',
                     sparse_grad: bool = False, deterministic: bool = False):
    """The old name of `Embedding` with a gradient that holds only the rows in use; it is deterministic anyway."""
    return _rows('_contrib_SparseEmbedding', data, weight, input_dim, output_dim, True)
