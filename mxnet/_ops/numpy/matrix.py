"""Products of arrays, as NumPy has them."""
import torch

from ...base import MXNetError
from ..core import shapes
from ..core.attributes import Shape
from ..core.table import operator
from ..tensor import products
from .binary import floating, promoted


def _check(name, a, b, left, right):
    if left != right:
        raise MXNetError(f'operator {name}: a has shape {tuple(a.shape)}, b {tuple(b.shape)}; the axes that are '
                         f'summed over have lengths {left} and {right}')


@operator(outputs='out', shapes=shapes.matrix_product)
def _npi_matmul(a, b):
    """The matrix product over the last two axes; all others broadcast.  A vector is a row on the left, a column on
    the right.
    """
    a, b = promoted(a, b)
    if not a.dim() or not b.dim():
        raise MXNetError('operator _npi_matmul: a number cannot be a factor; use multiply')
    _check('_npi_matmul', a, b, a.shape[-1], b.shape[-1 if b.dim() == 1 else -2])
    return products.matmul(a, b)


@operator(shapes=shapes.matrix_product)
def _np_dot(a, b):
    """The sum of products over the last axis of `a` and the last but one of `b` (a vector's only one).

    A number multiplies.
    """
    a, b = promoted(a, b)
    if not a.dim() or not b.dim():
        return a * b
    _check('_np_dot', a, b, a.shape[-1], b.shape[-1 if b.dim() == 1 else -2])
    if b.dim() <= 2:
        return products.matmul(a, b)
    return products.tensordot(a, b, dims=([a.dim() - 1], [b.dim() - 2]))


@operator()
def _npi_tensordot(a, b, *, a_axes_summed: Shape, b_axes_summed: Shape):
    """The sum of products over pairs of axes; the others of `a` come first, then those of `b`."""
    a, b = promoted(a, b)
    if len(a_axes_summed) != len(b_axes_summed):
        raise MXNetError(f'operator _npi_tensordot: a_axes_summed={a_axes_summed} and b_axes_summed={b_axes_summed} '
                         'must name the same number of axes')
    return products.tensordot(a, b, dims=(list(a_axes_summed), list(b_axes_summed)))


@operator()
def _npi_tensordot_int_axes(a, b, *, axes: int):
    """The sum of products over the last `axes` axes of `a` and the first of `b`."""
    a, b = promoted(a, b)
    if axes < 0 or axes > min(a.dim(), b.dim()):
        raise MXNetError(f'operator _npi_tensordot_int_axes: axes={axes} is not accepted for shapes {tuple(a.shape)} '
                         f'and {tuple(b.shape)}')
    return products.tensordot(a, b, dims=axes)


@operator(variadic='num_args')
def _npi_einsum(*data, num_args: int, subscripts: str = '', optimize: int = 0):
    """Einstein's sum: axes with one letter are multiplied, those whose letter is not in the result summed over.

    >>> mx.np.einsum('ij,kj->ik', mx.np.ones((2, 3)), mx.np.ones((4, 3))).shape
    (2, 4)
    """
    dtype = data[0].dtype
    for x in data[1:]:
        dtype = torch.promote_types(dtype, x.dtype)
    return products.einsum(subscripts, *[x.to(dtype) for x in data])


@operator()
def _npi_polyval(p, x):
    """A polynomial at each `x`; `p` has its coefficients, that of the highest power first."""
    p, x = promoted(p, x)
    if p.dim() != 1:
        raise MXNetError(f'operator _npi_polyval: p has shape {tuple(p.shape)}; it takes a vector')
    total = torch.zeros_like(x)
    for coefficient in p.unbind(0):
        total = total * x + coefficient
    return total


def float_matrices(name, *matrices):
    """Arrays of matrices in one floating point dtype."""
    for m in matrices:
        if m.dim() < 2:
            raise MXNetError(f'operator {name}: a matrix is needed, not an array of shape {tuple(m.shape)}')
    floats = [floating(m) for m in matrices]
    return floats if len(floats) == 1 else promoted(*floats)
