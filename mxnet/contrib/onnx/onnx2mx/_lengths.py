"""Lengths of axes that are known only when a network runs, and arithmetic with them.

Programs that export networks with a batch of any length compute shapes: the first length of an input, times 4, beside
constants.  Such vectors are arrays of Python numbers and of `Length`, so that NumPy folds them as it folds constants.
What has no exact answer (half of a length, whether a length is 3) raises TypeError, and is not folded.
"""
import ast
from typing import Any

import numpy as np

__all__ = ['Length', 'named', 'settled']

MOST_TERMS, MOST_FACTORS = 64, 16


class Length:
    """A sum of products of lengths that have names, all at least one: {names of a product: how often}."""

    __slots__ = ('terms',)

    def __init__(self, terms):
        self.terms = terms

    def __repr__(self):
        return ' + '.join('*'.join([*([str(count)] if count != 1 or not names else []), *names])
                          for names, count in sorted(self.terms.items()))

    def __hash__(self):
        return hash(frozenset(self.terms.items()))

    def __add__(self, other: Any):
        found = dict(self.terms)
        for names, count in _terms(other).items():
            found[names] = found.get(names, 0) + count
        return _made(found)

    def __mul__(self, other: Any):
        found: dict = {}
        for names, count in self.terms.items():
            for more, times in _terms(other).items():
                product = tuple(sorted(names + more))
                found[product] = found.get(product, 0) + count * times
        return _made(found)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other: Any):
        return self + _terms_negative(other)

    def __rsub__(self, other: Any):
        return -self + other

    def __floordiv__(self, other: Any):
        """By one product that divides every one of the sum."""
        terms = _terms(other)
        if len(terms) != 1:
            raise TypeError(f'{self} divided by {other}')
        (divisor, times), = terms.items()
        found = {}
        for names, count in self.terms.items():
            left = list(names)
            for name in divisor:
                if name not in left:
                    raise TypeError(f'{self} divided by {other}')
                left.remove(name)
            if times == 0 or count % times:
                raise TypeError(f'{self} divided by {other}')
            found[tuple(left)] = count // times
        return _made(found)

    __truediv__ = __floordiv__

    def __rfloordiv__(self, other: Any):
        return _made(_terms(other), True) // self

    __rtruediv__ = __rfloordiv__

    def __floor__(self):
        return self

    __ceil__ = __floor__

    def __eq__(self, other: Any):
        if isinstance(other, (Length, int, float, np.number)):
            difference = self - other
            if not isinstance(difference, Length):
                return difference == 0
            counts = difference.terms.values()
            if sum(counts) > 0 and all(c > 0 for names, c in difference.terms.items() if names) or \
                    sum(counts) < 0 and all(c < 0 for names, c in difference.terms.items() if names):
                return False                # every length is at least one
            raise TypeError(f'whether {self} is {other} is known when the network runs')
        return NotImplemented

    def names(self):
        return {name for names in self.terms for name in names}

    def replaced(self, values):
        """With numbers or other lengths in place of names."""
        found: Any = 0
        for names, count in self.terms.items():
            product: Any = count
            for name in names:
                product = product * values.get(name, Length({(name,): 1}))
            found = found + product
        return found

    def same(self, other):
        """Whether both are the same for all lengths; other: a number, a Length or None."""
        return isinstance(other, Length) and self.terms == other.terms

    def __bool__(self):
        raise TypeError(f'whether {self} is 0 is known when the network runs')


def _terms(number):
    if isinstance(number, Length):
        return number.terms
    if isinstance(number, (int, float, np.number)) and float(number).is_integer():
        return {(): int(number)}
    raise TypeError(f'{number!r} is not a whole number')


def _terms_negative(number):
    return -number if isinstance(number, Length) else _made({k: -v for k, v in _terms(number).items()})


def _made(terms, always=False):
    """A Length, or a number if no name is left."""
    terms = {names: count for names, count in terms.items() if count}
    if len(terms) > MOST_TERMS or any(len(names) > MOST_FACTORS or abs(count) >> 63 for names, count in terms.items()):
        raise TypeError('a length of more parts than a network has')     # a file could double them with every node
    return Length(terms) if always or any(terms) else terms.get((), 0)


def named(text):
    """The Length of a name in a file; names such as `2*batch` are what they say."""
    try:
        return _parsed(ast.parse(text[:200], mode='eval').body)
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
        return Length({(text,): 1})


def _parsed(node):
    match node:
        case ast.Name(id=name):
            return Length({(name,): 1})
        case ast.Constant(value=int() as value):
            return value
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
            a, b = _parsed(left), _parsed(right)
            return a * b if isinstance(op, ast.Mult) else a + b if isinstance(op, ast.Add) else a - b
    raise ValueError('not a sum or a product of names')


def settled(values):
    """Folded values as an array of numbers where no Length is left in them."""
    values = np.asarray(values)
    if values.dtype != object or any(isinstance(v, Length) for v in values.ravel()):
        return values
    kinds = {type(v) for v in values.ravel()}
    real = kinds & {float, np.float32, np.float64}
    return values.astype(np.bool_ if kinds <= {bool, np.bool_} else np.float32 if real else np.int64)
