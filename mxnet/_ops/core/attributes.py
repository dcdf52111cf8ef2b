"""Typed attributes of operators: what a declaration's annotation accepts, and its spelling in `-symbol.json`.

An operator's keyword parameters are annotated with ordinary types; `kind_of` turns each annotation into a `Kind`, which
- `parse`s what a program or a file gives (True, 'True', '1', (3, 3), '(3, 3)', numpy.float32, ...), and
- `format`s a value as upstream writes it into files.

| annotation                     | accepts                                      |
| ------------------------------ | -------------------------------------------- |
| bool, int, float, str          | the value or its text                        |
| NonNegative                    | an int >= 0                                  |
| Count                          | an int up to 2**20, of inputs or outputs     |
| Shape                          | ints in a tuple, list or text; one int alone |
| Slices                         | the same with None inside                    |
| Floats                         | numbers in a tuple, list or text             |
| Shapes                         | several of what Shape accepts                |
| Literal['a', 'b', None]        | one of these                                 |
| DType                          | anything that names a dtype                  |
| X | None                       | X, None or 'None'                            |
| Any                            | what upstream passes through as it is        |
"""
import ast
import numbers
import re
import types
import typing
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy

from ..._names import near
from ...base import MXNetError
from .dtypes import TORCH, dtype_name

NonNegative = Annotated[int, 'non-negative']
Count = Annotated[int, 'count']         # of inputs or outputs, each of which has a name
Shape = tuple[int, ...]
Slices = tuple[int | None, ...]
Floats = tuple[float, ...]
Shapes = tuple[Shape, ...]
Locations = Annotated[tuple[int, ...], 'locations']
DType = Annotated[str, 'dtype']

# supplied by the caller's side, not by programs: see table.py
Training = Annotated[bool, 'training']
Rng = Annotated[Any, 'rng']
Device = Annotated[Any, 'device']
Subgraphs = Annotated[Any, 'subgraphs']


# text that can only be numbers, None, and lists of them, without the signs in a row that make Python's parser recurse
_LITERAL = re.compile(r'(?!.*[-+]\s*[-+])[\[\]()\d\s,.+\-eELNonTruFals]*', re.DOTALL)


def literal(text: str) -> Any:
    """The value that a text stands for: numbers, None, True, False, and tuples of these.  ValueError for others."""
    if not _LITERAL.fullmatch(text) or text.count('(') + text.count('[') > 100 and _depth(text) > 20:
        raise ValueError('this is not a tuple of numbers')
    try:
        return ast.literal_eval(text.strip().replace('L', '') or '()')
    except (SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise ValueError(str(error)) from None


def _depth(text: str) -> int:
    depth = most = 0
    for character in text:
        depth += (character in '([') - (character in ')]')
        most = max(most, depth)
    return most


class Kind:
    """What one attribute accepts."""

    accepts = 'anything'
    takes_tuples = True         # False: `parse` refuses them

    def parse(self, value: Any) -> Any:
        return value

    def format(self, value: Any) -> str:
        return str(value)


class Boolean(Kind):
    accepts = 'True or False'
    takes_tuples = False
    _words = {'True': True, 'true': True, '1': True, 'False': False, 'false': False, '0': False}

    def parse(self, value: Any) -> bool:
        if isinstance(value, (bool, numpy.bool_)):
            return bool(value)
        if isinstance(value, str):
            return self._words[value.strip()]
        if isinstance(value, numbers.Number) and value in (0, 1):
            return bool(value)
        raise ValueError


class Integer(Kind):
    accepts = 'an int'
    takes_tuples = False

    def __init__(self, low: int | None = None, high: int | None = None) -> None:
        self.low, self.high = low, high
        if low is not None:
            self.accepts = f'an int >= {low}'
        if high is not None:
            self.accepts += f'{" and" if low is not None else ""} <= {high}'

    def parse(self, value: Any) -> int:
        if isinstance(value, str):
            value = {'True': 1, 'False': 0}.get(value.strip()) if value.strip() in ('True', 'False') else int(value)
        elif isinstance(value, float) or not hasattr(value, '__index__'):
            if value != int(value):
                raise ValueError
            value = int(value)
        else:
            value = value.__index__()
        if not -1 << 63 <= value < 1 << 63:
            raise ValueError
        if self.low is not None and value < self.low or self.high is not None and value > self.high:
            raise ValueError
        return value


class Real(Kind):
    accepts = 'a number'
    takes_tuples = False

    def parse(self, value: Any) -> float:
        return float(value)


class Text(Kind):
    accepts = 'a str'

    def parse(self, value: Any) -> str:
        return value if isinstance(value, str) else str(value)


class Sequence(Kind):
    """Several values of one kind: a shape, coefficients."""

    def __init__(self, item: Kind, what: str) -> None:
        self.item, self.accepts = item, what

    def parse(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, str):
            value = literal(value)
        if isinstance(value, numpy.ndarray):
            value = value.tolist()
        if isinstance(value, numbers.Number) or value is None:
            value = (value,)
        return tuple([self.item.parse(v) for v in value])

    def format(self, value: Any) -> str:
        if isinstance(value, numbers.Number):
            return str(value)
        return str(tuple(value))


class Choice(Kind):
    takes_tuples = False

    def __init__(self, options: tuple[Any, ...]) -> None:
        self.options = options
        self.accepts = 'one of ' + ', '.join(repr(o) for o in options)

    def parse(self, value: Any) -> Any:
        if value in self.options:
            return value
        if value == 'None' and None in self.options:
            return None
        raise ValueError


class DataType(Kind):
    accepts = 'a dtype (' + ', '.join(TORCH) + ')'
    takes_tuples = False

    def parse(self, value: Any) -> str:
        if isinstance(value, str) and value.isdigit():   # the numbers that upstream's C++ side writes
            value = _DTYPE_FLAGS[int(value)]
        return dtype_name(value)

    def format(self, value: Any) -> str:
        return dtype_name(value)


_DTYPE_FLAGS = {0: 'float32', 1: 'float64', 2: 'float16', 3: 'uint8', 4: 'int32', 5: 'int8', 6: 'int64', 7: 'bool',
                8: 'int16', 9: 'uint16', 10: 'uint32', 11: 'uint64', 12: 'bfloat16'}


def dtype_flag(dtype: Any) -> int:
    """Upstream's number of a dtype."""
    name = dtype_name(dtype)
    return next(flag for flag, n in _DTYPE_FLAGS.items() if n == name)


class Maybe(Kind):
    def __init__(self, kind: Kind) -> None:
        self.kind, self.accepts = kind, kind.accepts + ', or None'
        self.takes_tuples = kind.takes_tuples

    def parse(self, value: Any) -> Any:
        return None if value is None or (isinstance(value, str) and value in ('None', '')) else self.kind.parse(value)

    def format(self, value: Any) -> str:
        return 'None' if value is None else self.kind.format(value)


COUNT = Integer(0, 1 << 20)

_SIMPLE = {bool: Boolean(), int: Integer(), float: Real(), str: Text(), Any: Kind(),
           NonNegative: Integer(low=0), Count: COUNT, DType: DataType(),
           Shape: Sequence(Integer(), 'ints such as (2, 3)'),
           Slices: Sequence(Maybe(Integer()), 'ints or None such as (0, None)'),
           Locations: Sequence(Integer(), 'ints such as [0, 2]'),
           Floats: Sequence(Real(), 'numbers such as (0.5, 1)'),
           Shapes: Sequence(Sequence(Integer(), ''), 'pairs such as ((1, 1), (0, 2))')}


def kind_of(annotation: Any) -> Kind:
    """The kind that an annotation of a declaration stands for."""
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    if get_origin(annotation) is Literal:
        return Choice(get_args(annotation))
    if get_origin(annotation) in (types.UnionType, typing.Union):
        inner = [a for a in get_args(annotation) if a is not type(None)]
        if len(inner) == 1:
            return Maybe(kind_of(inner[0]))
    raise TypeError(f'no attribute kind for annotation {annotation!r}')


def bad_attribute(operator: str, name: str, value: object, kind: Kind) -> MXNetError:
    text = repr(value)
    text = text if len(text) <= 120 else text[:117] + '...'
    choice = kind.kind if isinstance(kind, Maybe) else kind
    known = [o for o in choice.options if o] if isinstance(choice, Choice) else \
        list(TORCH) if isinstance(choice, DataType) and isinstance(value, str) else []
    hint = near(value, known) if known else ''
    return MXNetError(f'operator {operator}: argument {name}={text} is not accepted{hint}; it takes {kind.accepts}')


def exact(value: Any) -> Any:
    """A cache key of an attribute: keys are equal only for the same value of the same type.

    1, 1.0 and True are equal to each other in Python, as are 0.0 and -0.0, and operators tell them apart.
    """
    kind = type(value)
    if kind is tuple:
        return tuple([exact(v) for v in value])
    if isinstance(value, (float, numpy.floating)) and value == 0:
        return kind, value, str(value)
    return kind, value
