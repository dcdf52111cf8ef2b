"""Guards: what a remembered call depends on.

A loop makes the same calls again and again.  What was found out about one of them is kept in a record that is bound to
a `Guard` (a call of a block, a step, a prediction, an update, a run of an executor), and is used again while the guard
holds.  A guard compares

- identities: Parameters have the arrays and `grad_req` that they had, arrays their tensors and gradient variables;
- kinds, the class, context, shape and dtype of arguments, in the record that has them;
- the switches of the thread (`switches`);
- one invalidation count.  It is raised by everything that gives a Parameter another array, an array of a Parameter
  another tensor or gradient variable, or a Parameter other factors of rates.  While it stays, identities are not looked
  at.  Values are none of these.
"""
from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import TYPE_CHECKING, Any

from ._state import state

if TYPE_CHECKING:
    from ._array import NDArrayBase
    from .gluon.parameter import Parameter


class Invalidations:
    """The invalidation count: `invalidations.count += 1` has all guards compare identities again."""

    __slots__ = ('count',)

    def __init__(self) -> None:
        self.count = 0


invalidations = Invalidations()


def switches() -> tuple[bool, bool, bool, tuple[Any, ...], bool]:
    """The settings of this thread that calls depend on."""
    return state.training, state.np_array, state.np_shape, state.interceptors, state.naive


class Guard:
    """Identities of Parameters and arrays, as they were when it was made.

    params: Parameters, by their arrays (`_data`) and `grad_req`
    arrays: arrays that are not pending, by their tensors and gradient variables
    """

    __slots__ = ('seen', '_params', '_data', '_reqs', '_arrays', '_tensors', '_variables')

    def __init__(self, params: Sequence[Parameter] = (), arrays: Sequence[NDArrayBase] = ()) -> None:
        self.seen = invalidations.count         # until then, all was as it was
        self._params, self._arrays = params, arrays
        self._data, self._reqs = [p._data for p in params], [p._grad_req for p in params]
        self._tensors, self._variables = [a.materialize() for a in arrays], [a._variable for a in arrays]

    def holds(self) -> bool:
        """Whether nothing has changed but values.  On short paths: `invalidations.count == guard.seen or ...`."""
        count = invalidations.count
        if count != self.seen:
            if not self.is_same():
                return False
            self.seen = count
        return True

    def is_same(self) -> bool:
        """As `holds`, whatever the count is; False if an array is pending."""
        return all(map(is_, [p._data for p in self._params], self._data)) \
            and [p._grad_req for p in self._params] == self._reqs \
            and all(map(is_, [a._storage for a in self._arrays], self._tensors)) \
            and all(map(is_, [a._variable for a in self._arrays], self._variables))
