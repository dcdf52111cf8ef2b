"""The language of `--tune`: "lr=log:1e-4..1e-1,optimizer=sgd|adam,hidden=int:32..512".

    name=a|b|c               one of these
    name=0.1..0.9            a number between these, both included; an integer if the option is one
    name=int:32..512         an integer
    name=log:1e-4..1e-1      a number whose logarithm is drawn evenly; `int:log:` and `log:int:` for integers
    name=int:32..512/32      in steps of 32
"""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...base import MXNetError

__all__ = ['Range', 'parse_space', 'suggest']

_NUMBER = r'[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?'
_SPAN = re.compile(rf'(?P<low>{_NUMBER})?\s*\.\.\s*(?P<high>{_NUMBER})?\s*(?:/\s*(?P<step>.*))?')
_KINDS = ('log', 'int', 'float')


@dataclass
class Range:
    """The values of one name: `choices`, or the numbers from `low` to `high`."""

    name: str
    choices: tuple[Any, ...] | None = None
    low: float = 0
    high: float = 0
    step: float | None = None
    log: bool = False
    integer: bool = False

    def __str__(self) -> str:
        """The same for all ways to write it."""
        if self.choices is not None:
            return '|'.join(map(str, self.choices))
        kind = ('int:' if self.integer else '') + ('log:' if self.log else '')
        return f'{kind}{self.low:g}..{self.high:g}' + ('' if self.step is None else f'/{self.step:g}')

    def draw(self, trial: Any) -> Any:
        """The value that a trial suggests."""
        if self.choices is not None:
            return trial.suggest_categorical(self.name, self.choices)
        if self.integer:
            return trial.suggest_int(self.name, int(self.low), int(self.high), step=int(self.step or 1), log=self.log)
        return trial.suggest_float(self.name, self.low, self.high, step=self.step, log=self.log)


def suggest(trial: Any, space: str | dict[str, Range]) -> dict[str, Any]:
    """What a trial draws from a space that is written as text.

        settings = mx.contrib.tune.suggest(trial, 'lr=log:1e-4..1e-1,hidden=int:32..512,optimizer=sgd|adam')
    """
    ranges = parse_space(space) if isinstance(space, str) else space
    return {name: found.draw(trial) for name, found in ranges.items()}


def parse_space(text: str, kinds: dict[str, Callable[[str], Any]] | None = None,
                explain: Callable[[str], str] | None = None) -> dict[str, Range]:
    """The ranges of a text.  An error shows the place in it.

    kinds: what makes a value of a text, for each name that there is; without it, any name goes, and choices are numbers
        if all of them are
    explain: what to say about an unknown name
    """
    found: dict[str, Range] = {}
    if not text.strip():
        raise MXNetError('the space is empty; it looks like lr=log:1e-4..1e-1,optimizer=sgd|adam,hidden=int:32..512')
    # a comma ends a range only before the next name: gpu(0),gpu(1) and 64,64 are values
    position = 0
    for part in re.split(r',(?=\s*[^\s,=|:]*\s*=)|,(?=\s*(?:,|$))', text):
        _parse_part(text, part, position, kinds, explain, found)
        position += len(part) + 1
    return found


def _parse_part(text, part, position, kinds, explain, found) -> None:
    start = position + len(part) - len(part.lstrip())
    if not part.strip():
        raise _wrong(text, start, start + 1, 'there is nothing between two commas, or behind the last one')
    name, equals, values = part.strip().partition('=')
    name = name.strip()
    if not equals:
        raise _wrong(text, start, start + len(part.strip()), f'{part.strip()!r} is not name=range')
    if not name:
        raise _wrong(text, start, start + 1, 'there is no name before =')
    end = start + len(name)
    if kinds is not None:
        name = name.removeprefix('--').replace('_', '-')
    if kinds is not None and name not in kinds:
        raise _wrong(text, start, end, explain(name) if explain else f'there is no {name!r}')
    if name in found:
        raise _wrong(text, start, end, f'{name!r} is there twice')
    begin = start + part.strip().index('=') + 1
    begin += len(values) - len(values.lstrip())
    values = values.strip()
    if not values:
        raise _wrong(text, begin - 1, begin, f'{name!r} has no values')
    try:
        found[name] = _range(name, values, kinds[name] if kinds is not None else None)
    except _At as error:
        raise _wrong(text, begin + error.start, begin + error.end, f'{name}: {error.said}') from None


class _At(Exception):
    def __init__(self, start: int, end: int, said: str) -> None:
        self.start, self.end, self.said = start, max(end, start + 1), said


def _wrong(text: str, start: int, end: int, said: str) -> MXNetError:
    mark = ' ' * start + '^' * max(1, end - start)
    return MXNetError(f'{said} (character {start + 1})\n    {text}\n    {mark}')


def _range(name: str, values: str, kind: Callable[[str], Any] | None) -> Range:
    rest, offset, words = values, 0, []
    while ':' in rest and '|' not in rest.partition(':')[0]:
        word = rest.partition(':')[0].strip().lower()
        if word not in _KINDS:
            if '..' in rest:
                raise _At(offset, offset + len(word), f'{word!r} is no kind of range; there are log:, int: and float:')
            break
        words.append(word)
        moved = rest.partition(':')[2]
        offset += len(rest) - len(moved.lstrip())
        rest = moved.lstrip()
    if '..' in rest and '|' not in rest:
        return _span(name, rest, offset, words, kind)
    if words:
        raise _At(offset, offset + len(rest), f'{words[0]}: needs low..high, such as {words[0]}:1..10, not {rest!r}')
    return Range(name, _choices(rest, kind))


def _choices(text: str, kind: Callable[[str], Any] | None) -> tuple[Any, ...]:
    choices: list[Any] = []
    at = 0
    for piece in text.split('|'):
        word = piece.strip()
        where = at + len(piece) - len(piece.lstrip())
        if not word:
            raise _At(where, where + 1, 'there is nothing beside |')
        if '..' in word:
            raise _At(where, where + len(word), f'{word!r} is a range; choices are single values')
        try:
            value = kind(word) if kind is not None else word
        except Exception as error:          # of argparse's kinds
            raise _At(where, where + len(word), f'{word!r} is no value of this option: {error}') from None
        if value in choices:
            raise _At(where, where + len(word), f'{word!r} is there twice')
        choices.append(value)
        at += len(piece) + 1
    if kind is None:
        for number in (int, float):
            try:
                return tuple(number(c) for c in choices)
            except ValueError:
                continue
    return tuple(choices)


def _span(name, rest, offset, words, kind) -> Range:
    found = None if '...' in rest else _SPAN.fullmatch(rest)
    if found is None or found['low'] is None or found['high'] is None:
        raise _At(offset, offset + len(rest), f'{rest!r} is no range: it is low..high, two numbers')
    low, high = float(found['low']), float(found['high'])
    step = None
    if found['step'] is not None:
        at = offset + found.start('step')
        try:
            step = float(found['step'])
        except ValueError:
            raise _At(at, at + len(found['step']), f'{found["step"]!r} is no step: it is a number above 0') from None
        if not step > 0:
            raise _At(at, at + len(found['step']), f'a step is a number above 0, not {found["step"]}')
    if not low < high:
        raise _At(offset, offset + len(rest), f'the range {rest} ends at its start, or below it')
    log = 'log' in words
    if log and low <= 0:
        raise _At(offset, offset + len(found['low']), f'a logarithmic range begins above 0, not at {found["low"]}')
    if log and step is not None:
        raise _At(offset, offset + len(rest), 'a logarithmic range has no steps')
    integer = 'int' in words or 'float' not in words and _whole(kind, found)
    if integer:
        for which in ('low', 'high', 'step'):
            if found[which] is not None and float(found[which]) != int(float(found[which])):
                at = offset + found.start(which)
                raise _At(at, at + len(found[which]), f'{found[which]} is no integer')
    for which in ('low', 'high') if kind is not None else ():
        number = float(found[which])
        try:
            kind(str(int(number)) if integer else repr(number))
        except Exception as error:          # of argparse's kinds
            at = offset + found.start(which)
            raise _At(at, at + len(found[which]), f'{found[which]} is no value of this option: {error}') from None
    return Range(name, None, low, high, step, log, integer)


def _whole(kind: Any, found: Any) -> bool:
    """Without a word, an integer where the option is one; without an option, where both ends are written as one."""
    if kind is not None:
        return getattr(kind, '__name__', '') == 'int'
    return all(re.fullmatch(r'[-+]?\d+', found[which]) for which in ('low', 'high'))
