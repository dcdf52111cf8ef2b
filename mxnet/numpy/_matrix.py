"""Products of arrays."""
import numpy

from .._array import NDArrayBase
from .._kinds import explain_kinds as _explain_kinds
from ._call import Numbers, apply, is_array, numbers, unsupported
from ._elementwise import finish, first, operand

__all__ = ['dot', 'einsum', 'inner', 'kron', 'matmul', 'matrix_transpose', 'outer', 'polyval', 'tensordot', 'vdot',
           'vecdot']


def matmul(a, b, out=None, **kwargs):
    """The matrix product over the last two axes; all others broadcast.

    >>> mx.np.matmul(mx.np.ones((2, 3)), mx.np.ones((3, 4))).shape
    (2, 4)
    """
    if isinstance(a, NDArrayBase) and isinstance(b, NDArrayBase) and not kwargs:
        return apply('_npi_matmul', (a, b), {}, first(out))
    x, y = operand(a), operand(b)
    for given, value in ((a, x), (b, y)):
        if value is None or isinstance(value, Numbers):
            raise unsupported('matmul', given)
    return finish('matmul', lambda out: apply('_npi_matmul', (x, y), {}, out), first(out), kwargs)


def dot(a, b, out=None):
    """The sum of products over the last axis of `a` and the last but one of `b`; a number multiplies."""
    if isinstance(a, NDArrayBase) and isinstance(b, NDArrayBase):
        return apply('_np_dot', (a, b), {}, out)
    if isinstance(a, Numbers) or isinstance(b, Numbers):
        from ._elementwise import multiply
        return multiply(a, b, out=out)
    return apply('_np_dot', (a, b), {}, out)


def tensordot(a, b, axes=2):
    """The sum of products over the last `axes` axes of `a` and the first of `b`, or over pairs of lists of axes."""
    if isinstance(axes, (int, numpy.integer)):
        return apply('_npi_tensordot_int_axes', (a, b), {'axes': int(axes)})
    if len(axes) != 2:
        raise ValueError('tensordot: axes must be an int, or the axes of a and those of b')
    left, right = (numbers(x) for x in axes)
    if len(left) != len(right):
        raise ValueError('tensordot: a and b must have the same number of axes to sum over')
    return apply('_npi_tensordot', (a, b), {'a_axes_summed': left, 'b_axes_summed': right})


def _of_numbers(a, b):
    return isinstance(a, Numbers) or isinstance(b, Numbers) or isinstance(a, NDArrayBase) and not a.ndim \
        or isinstance(b, NDArrayBase) and not b.ndim


def inner(a, b):
    """The sum of products over the last axes of both."""
    if _of_numbers(a, b):
        return dot(a, b)
    return tensordot(a, b, ((-1,), (-1,)))


def outer(a, b):
    """The products of each element of `a` with each of `b`, as a matrix."""
    return tensordot(_line(a), _line(b), 0)


def vdot(a, b):
    """The sum of products of all elements of both."""
    return tensordot(_line(a), _line(b), 1)


def _line(a):
    if isinstance(a, Numbers):
        from ._creation import array
        return array([a])
    return apply('_np_reshape', (a,), {'newshape': (-1,)})


def vecdot(x1, x2, axis=-1):
    """The sum of products along an axis of both."""
    return (x1 * x2).sum(axis=axis)


def matrix_transpose(x):
    """The last two axes exchanged."""
    if x.ndim < 2:
        raise ValueError('matrix_transpose: the array must have two axes or more')
    return apply('_npi_swapaxes', (x,), {'dim1': -2, 'dim2': -1})


def kron(a, b):
    """The Kronecker product: `b` times each element of `a`, in its place."""
    n = max(a.ndim, b.ndim)
    left, right = (1,) * (n - a.ndim) + a.shape, (1,) * (n - b.ndim) + b.shape
    product = a.reshape([x for k in left for x in (k, 1)]) * b.reshape([x for k in right for x in (1, k)])
    return product.reshape([x * y for x, y in zip(left, right, strict=True)])


def einsum(*operands, **kwargs):
    """Einstein's sum: axes with one letter are multiplied, those whose letter is not in the result summed over.

    >>> mx.np.einsum('ij,jk->ik', mx.np.ones((2, 3)), mx.np.ones((3, 4)))
    array([[3., 3., 3., 3.],
           [3., 3., 3., 3.]])
    """
    out = kwargs.pop('out', None)
    optimize = kwargs.pop('optimize', False)
    if kwargs:
        raise TypeError(f'einsum: unknown argument {next(iter(kwargs))}')
    if not operands or not isinstance(operands[0], str):
        raise TypeError('einsum: the subscripts must come first, as a str: einsum("ij,jk->ik", a, b)')
    subscripts, arrays = operands[0].replace(' ', ''), operands[1:]
    if not arrays or not all(is_array(x) for x in arrays):
        raise TypeError('einsum: the operands must be arrays')
    return apply('_npi_einsum', arrays, {'num_args': len(arrays), 'subscripts': subscripts,
                                         'optimize': int(bool(optimize))}, out)


def polyval(p, x):
    """A polynomial at each `x`; `p` has its coefficients, that of the highest power first."""
    if isinstance(x, Numbers) and is_array(p):
        from ._creation import array
        return apply('_npi_polyval', (p, array(x, dtype=p.dtype, ctx=p.ctx)), {})
    if not is_array(p) or not is_array(x):
        raise TypeError('polyval: p and x must be arrays')
    return apply('_npi_polyval', (p, x), {})


_explain_kinds(globals(), ('kron', 'matrix_transpose', 'tensordot', 'vecdot'))
