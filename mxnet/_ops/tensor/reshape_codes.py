"""The codes of `reshape`: numbers in a target shape that stand for something.

| code       | stands for                                                             |
| ---------- | ---------------------------------------------------------------------- |
| 0          | the length of the source axis at this place                            |
| -1         | what is left over; at most one                                         |
| -2         | all source axes that are left                                          |
| -3         | the product of the next two source axes                                |
| -4, a, b   | the next source axis split into a and b, one of which may be -1        |

Every other code passes over one source axis.  With `reverse`, source shape and codes are read from right to left (so
-4 then stands behind its two numbers).
"""
from functools import lru_cache
from math import prod

from ...base import MXNetError


def resolve(shape, codes, reverse=False) -> tuple[int, ...]:
    """The shape that `codes` ask of an array of shape `shape`.

    >>> resolve((2, 3, 4), (0, -1))
    (2, 12)
    >>> resolve((2, 3, 4), (-4, 1, -1, -2))
    (1, 2, 3, 4)
    """
    if codes and min(codes) > 0:
        if prod(codes) != prod(shape):
            raise _misfit(shape, codes, codes)
        return tuple(codes)
    try:
        return _resolve(tuple(shape), tuple(codes), bool(reverse))
    except TypeError:           # lengths that torch.export keeps open have no hash
        return _resolve.__wrapped__(tuple(shape), tuple(codes), bool(reverse))


@lru_cache(4096)
def _resolve(shape, codes, reverse):
    source = shape[::-1] if reverse else shape
    todo = iter(codes[::-1] if reverse else codes)
    target = []
    at = 0              # the next source axis
    free = None         # where in the target the -1 stands

    def take():
        nonlocal at
        if at >= len(source):
            raise _bad(shape, codes, f'it needs more than the {len(source)} axes that there are')
        at += 1
        return source[at - 1]

    for code in todo:
        if code == 0:
            target.append(take())
        elif code == -1:
            if free is not None:
                raise _bad(shape, codes, '-1 may occur only once')
            free = len(target)
            target.append(1)
            at += 1
        elif code == -2:
            target.extend(source[at:])
            at = max(at, len(source))
        elif code == -3:
            target.append(take() * take())
        elif code == -4:
            target.extend(_halves(take(), todo, shape, codes))
        elif code > 0:
            target.append(code)
            at += 1
        else:
            raise _bad(shape, codes, f'{code} means nothing; there are 0, -1, -2, -3 and -4')
    if free is not None:
        rest = prod(target)
        target[free] = prod(shape) // rest if rest else 0
    if prod(target) != prod(shape):
        raise _misfit(shape, codes, tuple(target[::-1] if reverse else target))
    return tuple(target[::-1] if reverse else target)


def _halves(length, todo, shape, codes):
    """The two lengths that -4 splits an axis into."""
    first, second = next(todo, None), next(todo, None)
    if first is None or second is None:
        raise _bad(shape, codes, '-4 must be followed by two numbers')
    if first == -1 and second == -1:
        raise _bad(shape, codes, 'only one of the two numbers after -4 may be -1')
    if first == -1 and second > 0:
        first = length // second
    elif second == -1 and first > 0:
        second = length // first
    if first < 0 or second < 0 or first * second != length:
        raise _bad(shape, codes, f'-4 cannot split an axis of length {length} into {first} and {second}')
    return first, second


def _bad(shape, codes, why):
    return MXNetError(f'reshape: an array of shape {tuple(shape)} cannot take shape={tuple(codes)}: {why}')


def _misfit(shape, codes, target):
    became = '' if tuple(codes) == target else f', that is {target},'
    return MXNetError(f'reshape: an array of shape {tuple(shape)} has {prod(shape)} elements, '
                      f'but shape={tuple(codes)}{became} has {prod(target)}')
