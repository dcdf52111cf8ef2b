"""Operators that move or relabel elements: other axes, another order, the same values."""
import torch

from ...base import MXNetError
from ..core import shapes
from ..core.attributes import Shape
from ..core.table import operator
from .reshape_codes import resolve


# ---------------------------------------------------------------------- another shape
@operator(aliases=('reshape',), shapes_back=shapes.reshape)
def Reshape(data, *, shape: Shape = (), reverse: bool = False, target_shape: Shape = (), keep_highest: bool = False):
    """The same elements in another shape.

    In `shape`, 0 keeps an axis, -1 takes what is left over, -2 copies all axes that are left, -3 joins two axes and
    -4 splits one into the two numbers behind it; `reverse` reads from the right.  `target_shape` and `keep_highest`
    are the old way to say it: there, 0 takes what is left over.
    """
    if shape:
        return data.reshape(resolve(data.shape, shape, reverse))
    if target_shape:
        codes = [-1 if n == 0 else n for n in target_shape]
        if keep_highest:
            codes[0] = data.shape[0]
        return data.reshape(codes)
    if data.numel() != 1:
        raise MXNetError('operator Reshape: argument shape is missing; it takes ints such as (2, -1)')
    return data.reshape(())


@operator(aliases=('flatten', '_npx_batch_flatten'))
def Flatten(data):
    """A matrix: all axes but the first in one."""
    return data.flatten(1) if data.dim() > 1 else data.unsqueeze(1)


@operator(aliases=('_npx_reshape_like',), methods='reshape_like')
def reshape_like(lhs, rhs, *, lhs_begin: int | None = None, lhs_end: int | None = None, rhs_begin: int | None = None,
                 rhs_end: int | None = None):
    """`lhs` in the shape of `rhs`; only its values count, so `rhs` gets no gradient.

    With the four limits, axes lhs_begin:lhs_end of `lhs` become axes rhs_begin:rhs_end of `rhs`.
    """
    own, other = tuple(lhs.shape), tuple(rhs.shape)
    begin, end, _ = slice(lhs_begin, lhs_end).indices(len(own))
    shape = own[:begin] + other[rhs_begin:rhs_end] + own[end:]
    return lhs.reshape(shape)


@operator(aliases=('_npi_expand_dims',), methods='expand_dims')
def expand_dims(data, *, axis: int):
    """A new axis of length 1 before `axis`."""
    return data.unsqueeze(axis)


@operator(methods='squeeze')
def squeeze(data, *, axis: Shape | None = None):
    """Drops axes of length 1: those in `axis`, or all.  If none is left, the result has shape (1,)."""
    if axis is None:
        result = data.squeeze()
    else:
        result = data.squeeze(axis)
        if result.dim() != data.dim() - len(axis):
            raise MXNetError(f'operator squeeze: argument axis={axis} names an axis that is not of length 1 in shape '
                             f'{tuple(data.shape)}')
    return result if result.dim() or not data.dim() else result.view(1)


# ---------------------------------------------------------------------- another order of the axes
@operator(methods='transpose')
def transpose(data, *, axes: Shape = ()):
    """The axes in the order `axes`, by default in reverse order."""
    if not axes:
        return data.permute(tuple(range(data.dim() - 1, -1, -1)))      # Dynamo takes `*range` for its arguments
    if len(axes) != data.dim() or len(set(axes)) != len(axes):
        raise MXNetError(f'operator transpose: argument axes={axes} is not accepted for shape {tuple(data.shape)}; it '
                         'takes all axes in a new order')
    return data.permute(axes)


@operator(aliases=('swapaxes', '_npi_swapaxes'), methods='swapaxes')
def SwapAxis(data, *, dim1: int = 0, dim2: int = 0):
    """Exchanges two axes."""
    return data.transpose(dim1, dim2)


@operator(aliases=('flip',), methods='flip')
def reverse(data, *, axis: Shape):
    """The elements in reverse order along the axes in `axis`."""
    return data.flip(axis)


def _check_blocks(name, data, block_size, axes, unit):
    if data.dim() != 4:
        raise MXNetError(f'operator {name}: data must have 4 axes (batch, channel, height, width), '
                         f'but its shape is {tuple(data.shape)}')
    if block_size < 1:
        raise MXNetError(f'operator {name}: argument block_size={block_size} is not accepted; it takes an int >= 1')
    if 0 in data.shape:
        raise MXNetError(f'operator {name}: data must not be empty, but its shape is {tuple(data.shape)}')
    if any(data.shape[a] % unit for a in axes):
        raise MXNetError(f'operator {name}: with block_size={block_size}, axes {axes} of data must be multiples of '
                         f'{unit}, but its shape is {tuple(data.shape)}')


@operator(methods='depth_to_space')
def depth_to_space(data, *, block_size: int):
    """Moves channels into blocks of space: (n, c, h, w) becomes (n, c / b**2, h * b, w * b)."""
    b = block_size
    _check_blocks('depth_to_space', data, b, (1,), b * b)
    n, c, h, w = data.shape
    return data.reshape(n, b, b, c // (b * b), h, w).permute(0, 3, 4, 1, 5, 2).reshape(n, c // (b * b), h * b, w * b)


@operator(methods='space_to_depth')
def space_to_depth(data, *, block_size: int):
    """Moves blocks of space into channels: (n, c, h, w) becomes (n, c * b**2, h / b, w / b)."""
    b = block_size
    _check_blocks('space_to_depth', data, b, (2, 3), b)
    n, c, h, w = data.shape
    return data.reshape(n, c, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)


# ---------------------------------------------------------------------- diagonals
@operator(methods='diag')
def diag(data, *, k: int = 0, axis1: int = 0, axis2: int = 1):
    """The k-th diagonal over two axes, as the last axis; of a vector, the matrix that has it as its k-th diagonal."""
    if data.dim() == 1:
        return torch.diag_embed(data, k)
    rows, columns = data.shape[axis1], data.shape[axis2]
    if k > columns or -k > rows:
        raise MXNetError(f'operator diag: there is no diagonal k={k} in {rows} rows and {columns} columns')
    return data.diagonal(k, axis1, axis2)
