"""Functions that NumPy has and upstream's `mx.np` had not, composed of operators of the table."""
from ._call import Numbers, apply, is_array
from ._elementwise import (
    abs,
    add,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    equal,
    exp,
    floor,
    less,
    log1p,
    maximum,
    mod,
    multiply,
    not_equal,
    power,
    subtract,
)

__all__ = ['floor_divide', 'left_shift', 'logaddexp', 'logical_and', 'logical_or', 'logical_xor', 'right_shift']


def _truth(x):
    if isinstance(x, Numbers):
        return bool(x)
    return x if str(getattr(x, 'dtype', '')) == 'bool' else not_equal(x, 0)


def logical_and(x1, x2, out=None):
    """Whether neither is 0."""
    return bitwise_and(_truth(x1), _truth(x2), out=out)


def logical_or(x1, x2, out=None):
    """Whether one or both are not 0."""
    return bitwise_or(_truth(x1), _truth(x2), out=out)


def logical_xor(x1, x2, out=None):
    """Whether exactly one is not 0."""
    return bitwise_xor(_truth(x1), _truth(x2), out=out)


def floor_divide(x1, x2):
    """The largest integers that are not above the quotients, in the dtype of the operands.

    >>> mx.np.floor_divide(mx.np.array([7, -7], dtype='int32'), 2)
    array([ 3, -4], dtype=int32)
    """
    array = x1 if is_array(x1) else x2
    if isinstance(x1, Numbers) or isinstance(x2, Numbers):
        from ._creation import full_like
        x1, x2 = (full_like(array, x) if isinstance(x, Numbers) else x for x in (x1, x2))
    # what is left after the remainder is taken away divides without one
    whole = subtract(x1, mod(x1, x2))
    if str(whole.dtype).startswith('float'):
        return floor(add(whole / x2, 0.5))
    divisor = x2 if x2.dtype == whole.dtype else x2.astype(whole.dtype)
    return apply('broadcast_div', (whole, divisor), {})


def left_shift(x1, x2):
    """The bits of `x1` moved to the left by `x2` places."""
    return multiply(x1, _power_of_two(x1, x2))


def right_shift(x1, x2):
    """The bits of `x1` moved to the right by `x2` places."""
    return floor_divide(x1, _power_of_two(x1, x2))


def _power_of_two(x1, x2):
    if isinstance(x2, Numbers):
        return 2 ** int(x2)
    return power(2, x2 if not is_array(x1) or x1.dtype == x2.dtype else x2.astype(x1.dtype))


def logaddexp(x1, x2):
    """`log(exp(x1) + exp(x2))`, without overflow on the way."""
    from ._index import where
    difference = subtract(x1, x2)
    smooth = add(maximum(x1, x2), log1p(exp(-abs(difference))))
    # two infinities of one sign have no difference, but a sum
    ordered = less(difference, 0) | (difference >= 0)
    return where(equal(x1, x2), add(x1, 0.6931471805599453), where(ordered, smooth, difference))
