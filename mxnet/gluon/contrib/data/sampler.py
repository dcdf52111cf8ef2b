"""A sampler with steps."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...._kinds import check_kept as _check_kept
from ...._kinds import explain_kinds as _explain_kinds
from ...data import sampler

__all__ = ['IntervalSampler']


class IntervalSampler(sampler.Sampler):
    """Every `interval`-th number from 0 to `length`; then, with `rollover`, those that were skipped in the same way.

    >>> list(IntervalSampler(7, 3))
    [0, 3, 6, 1, 4, 2, 5]
    >>> list(IntervalSampler(7, 3, rollover=False))
    [0, 3, 6]
    """

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        if interval > length:
            raise AssertionError(f'interval {interval} of an IntervalSampler must not exceed its length {length}')
        self._length, self._interval, self._rollover = length, interval, rollover

    def __iter__(self) -> Iterator[Any]:
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self) -> int:
        return self._length if self._rollover else -(-self._length // self._interval)


_explain_kinds(globals(), __all__)
_check_kept(IntervalSampler, 'length interval')
