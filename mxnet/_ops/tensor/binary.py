"""Elementwise functions of two arrays, and the sum of many.

Each exists twice: an operator that wants both arrays in one shape, and a `broadcast_` one that repeats axes of length 1
and adds missing ones in front.  Both arrays must have the same dtype, and so has the result: comparisons give 0 and 1
in it, divisions of integers drop the fraction.
"""
import torch

from ...base import MXNetError
from ..core.gradients import no_gradient, of_integers, with_gradient
from ..core.integer_gradients import integers_as_constant
from ..core.table import operator


# ---------------------------------------------------------------------- functions that torch computes differently
def divide(lhs, rhs):
    """The quotient; of integers without its fraction."""
    if lhs.is_floating_point():
        return torch.div(lhs, rhs)
    return of_integers(torch.div, lhs, rhs, value=lambda x, y: torch.div(x, y, rounding_mode='trunc'))


def modulo(lhs, rhs):
    """The remainder with the sign of `rhs`, 0 where `rhs` is 0.  The gradient of `lhs` is 1 everywhere.

    Remainders of integers have no gradient.
    """
    if not lhs.is_floating_point():
        # a remainder by 1 is 0, too, and integers by 0 would be an error
        lhs, rhs = integers_as_constant(lhs), integers_as_constant(rhs)
        return torch.remainder(lhs, torch.where(rhs == 0, 1, rhs))
    if lhs.requires_grad or rhs.requires_grad:
        return with_gradient(_remainder, _remainder_back, lhs, rhs)
    return _remainder(lhs, rhs)


def _remainder(lhs, rhs):
    return torch.where(rhs == 0, 0, torch.remainder(lhs, rhs))


def _remainder_back(gradients, inputs, outputs):
    gradient, (lhs, rhs) = gradients[0], inputs
    # not torch's quotient, which is NaN for 0 and rounds down below an infinite `rhs`
    return gradient.sum_to_size(lhs.shape), (-gradient * torch.floor(lhs / rhs)).sum_to_size(rhs.shape)


def hypotenuse(lhs, rhs):
    """The length of the hypotenuse over two legs."""
    if lhs.is_floating_point():
        return torch.hypot(lhs, rhs)
    return of_integers(torch.hypot, lhs, rhs, value=lambda x, y: torch.hypot(x.double(), y.double()).to(x.dtype))


def maximum(lhs, rhs):
    """The larger value, NaN if one is, without a gradient.  On a tie the gradient is that of `lhs`; torch would share
    it.
    """
    if lhs.requires_grad or rhs.requires_grad:
        return with_gradient(torch.maximum, _to_the_larger, lhs, rhs)
    return torch.maximum(lhs, rhs)


def minimum(lhs, rhs):
    """The smaller value, NaN if one is, without a gradient.  On a tie the gradient is that of `lhs`; torch would share
    it.
    """
    if lhs.requires_grad or rhs.requires_grad:
        return with_gradient(torch.minimum, _to_the_smaller, lhs, rhs)
    return torch.minimum(lhs, rhs)


def _to_the_larger(gradients, inputs, outputs):
    lhs, rhs = inputs
    return _chosen(gradients[0], lhs, rhs, lhs >= rhs, lhs < rhs)


def _to_the_smaller(gradients, inputs, outputs):
    lhs, rhs = inputs
    return _chosen(gradients[0], lhs, rhs, lhs <= rhs, lhs > rhs)


def _chosen(gradient, lhs, rhs, of_lhs, of_rhs):
    # products, so that a gradient that is NaN stays one
    return (gradient * of_lhs).sum_to_size(lhs.shape), (gradient * of_rhs).sum_to_size(rhs.shape)


def truth(function):
    """A function whose result is true or false, as one that gives 0 or 1 in the dtype of its input, and no gradient."""
    def compute(lhs, rhs):
        return function(lhs, rhs).to(lhs.dtype)

    def compute_recorded(lhs, rhs):
        return no_gradient(compute, lhs, rhs) if lhs.requires_grad or rhs.requires_grad else compute(lhs, rhs)
    return compute_recorded


# ---------------------------------------------------------------------- the table
_BOTH = [
    # function, names with equal shapes, names with broadcasting, what it computes
    (torch.add, 'elemwise_add _Plus _add _plus _sparse_elemwise_add',
     'broadcast_add _sparse_broadcast_add _sparse_broadcast_plus broadcast_plus', 'The sum `lhs + rhs`.'),
    (torch.sub, 'elemwise_sub _Minus _minus _sparse_elemwise_sub _sub',
     'broadcast_sub _sparse_broadcast_minus _sparse_broadcast_sub broadcast_minus', 'The difference `lhs - rhs`.'),
    (torch.mul, 'elemwise_mul _Mul _mul _sparse_elemwise_mul', 'broadcast_mul _sparse_broadcast_mul',
     'The product `lhs * rhs`.'),
    (divide, 'elemwise_div _Div _div _sparse_elemwise_div', 'broadcast_div _sparse_broadcast_div',
     'The quotient `lhs / rhs`; of integers without its fraction.'),
    (modulo, '_mod _Mod', 'broadcast_mod', 'The remainder of `lhs / rhs`, with the sign of `rhs`; 0 where `rhs` is 0.'),
    (torch.pow, '_power _Power', 'broadcast_power', '`lhs` to the power of `rhs`.'),
    (hypotenuse, '_hypot _Hypot', 'broadcast_hypot', '`sqrt(lhs^2 + rhs^2)`, without overflow on the way.'),
    (maximum, '_maximum _Maximum', 'broadcast_maximum _npi_maximum',
     'The larger of the two values; where they are equal, the gradient goes to `lhs`.'),
    (minimum, '_minimum _Minimum', 'broadcast_minimum _npi_minimum',
     'The smaller of the two values; where they are equal, the gradient goes to `lhs`.'),
    (truth(torch.eq), '_equal _Equal', 'broadcast_equal', '1 where `lhs == rhs`, else 0.'),
    (truth(torch.ne), '_not_equal _Not_Equal', 'broadcast_not_equal', '1 where `lhs != rhs`, else 0.'),
    (truth(torch.gt), '_greater _Greater', 'broadcast_greater', '1 where `lhs > rhs`, else 0.'),
    (truth(torch.ge), '_greater_equal _Greater_Equal', 'broadcast_greater_equal', '1 where `lhs >= rhs`, else 0.'),
    (truth(torch.lt), '_lesser _Lesser', 'broadcast_lesser', '1 where `lhs < rhs`, else 0.'),
    (truth(torch.le), '_lesser_equal _Lesser_Equal', 'broadcast_lesser_equal', '1 where `lhs <= rhs`, else 0.'),
    (truth(torch.logical_and), '_logical_and _Logical_And', 'broadcast_logical_and',
     '1 where neither `lhs` nor `rhs` is 0, else 0.'),
    (truth(torch.logical_or), '_logical_or _Logical_Or', 'broadcast_logical_or',
     '1 where `lhs` or `rhs` is not 0, else 0.'),
    (truth(torch.logical_xor), '_logical_xor _Logical_Xor', 'broadcast_logical_xor',
     '1 where exactly one of `lhs` and `rhs` is not 0, else 0.'),
    (torch.add, '_grad_add', None, 'The sum of two gradients of one array.'),
    (divide, '_scatter_elemwise_div', None, '`lhs / rhs`, where only stored values of a sparse `lhs` count.'),
]


def _elementwise(function, name):
    def binary(lhs, rhs):
        if lhs.shape != rhs.shape:
            raise MXNetError(f'operator {name}: lhs has shape {tuple(lhs.shape)}, rhs {tuple(rhs.shape)}; it takes '
                             f'equal shapes (broadcast_add and its kind take others)')
        return function(lhs, rhs)
    return binary


def _broadcasting(function, name):
    def binary(lhs, rhs):
        return function(lhs, rhs)
    return binary


def _declare(make, function, names, doc, equal_shapes):
    name, *aliases = names.split()
    binary = make(function, name)
    binary.__name__ = binary.__qualname__ = name
    binary.__doc__ = doc
    operator(name, aliases=aliases, same_dtype=('lhs', 'rhs'), fresh=True, elementwise=equal_shapes)(binary)


for _function, _equal_shapes, _broadcast, _doc in _BOTH:
    _declare(_elementwise, _function, _equal_shapes, _doc, True)
    if _broadcast:
        _declare(_broadcasting, _function, _broadcast, f'{_doc}  Shapes are broadcast.', False)


# ---------------------------------------------------------------------- many arrays
@operator(aliases=('ElementWiseSum', '_sparse_ElementWiseSum', '_sparse_add_n'), variadic='num_args', same_dtype='*',
          elementwise=True)
def add_n(*args, num_args: int):
    """The sum of all inputs, which have one shape and one dtype."""
    total = args[0]
    for i, x in enumerate(args):
        if x.shape != total.shape:
            raise MXNetError(f'operator add_n: input 0 has shape {tuple(total.shape)}, input {i} {tuple(x.shape)}; '
                             f'it takes equal shapes')
        if i:
            total = torch.add(total, x)
    return total
