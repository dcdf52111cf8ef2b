"""The codes of `npx.reshape`: numbers in a target shape that stand for something.

| code       | stands for                                                      |
| ---------- | --------------------------------------------------------------- |
| -1         | what is left over; at most one                                  |
| -2         | the length of the source axis at this place                     |
| -3         | nothing: the source axis, of length 1, is dropped               |
| -4         | all source axes that are left                                   |
| -5         | the product of the next two source axes                         |
| -6, a, b   | the next source axis split into a and b, one of which may be -1 |

They differ from those of `nd.reshape`, where 0 keeps an axis; here 0 is a length.
"""
from math import prod

from ...base import MXNetError


def resolve(shape, codes, reverse=False):
    """The shape that `codes` ask of an array of shape `shape`.

    >>> resolve((2, 3, 8), (-2, -2, -6, 2, -1))
    (2, 3, 2, 4)
    """
    def bad(why):
        return MXNetError(f'npx.reshape: an array of shape {shape} cannot take newshape={tuple(codes)}: {why}')

    source = shape[::-1] if reverse else shape
    todo = iter(codes[::-1] if reverse else codes)
    target, at, free = [], 0, None

    def take():
        nonlocal at
        if at >= len(source):
            raise bad(f'it needs more than the {len(source)} axes that there are')
        at += 1
        return source[at - 1]

    for code in todo:
        if code >= 0:
            target.append(code)
            at += 1
        elif code == -1:
            if free is not None:
                raise bad('-1 may occur only once')
            free = len(target)
            target.append(1)
            at += 1
        elif code == -2:
            target.append(take())
        elif code == -3:
            if take() != 1:
                raise bad('-3 may only drop an axis of length 1')
        elif code == -4:
            target.extend(source[at:])
            at = max(at, len(source))
        elif code == -5:
            target.append(take() * take())
        elif code == -6:
            target.extend(_halves(take(), next(todo, None), next(todo, None), bad))
        else:
            raise bad(f'{code} means nothing; there are -1 to -6')
    if free is not None:
        rest = prod(target)
        if not rest or prod(shape) % rest:
            raise bad('the remaining length is not an integer')
        target[free] = prod(shape) // rest
    if prod(target) != prod(shape):
        raise bad(f'it has {prod(target)} elements')
    return tuple(target[::-1] if reverse else target)


def _halves(length, first, second, bad):
    """The two lengths that -6 splits an axis into."""
    if second is None or first == second == -1:
        raise bad('-6 must be followed by two numbers, one of which may be -1')
    if first == -1 and second > 0:
        first = length // second
    elif second == -1 and first > 0:
        second = length // first
    if first < 0 or second < 0 or first * second != length:
        raise bad(f'-6 cannot split an axis of length {length} into {first} and {second}')
    return first, second
