"""What the built-in optimizers share: a class says which rule and which numbers, this does the rest."""
from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from .._array import NDArrayBase, before_write, describe, readers, writable, write
from .._kinds import explain_methods as _explain_methods
from .._state import state as switches
from .._wording import plain
from ..base import MXNetError
from ..ndarray._sparse_updates import put_rows, rows_of
from . import _lists
from ._base import Optimizer, is_list, zeros_like

if TYPE_CHECKING:
    from ..ndarray import NDArray

NOT_AN_ARRAY = '{name}.update: {what} {index!r} must be an NDArray, not a {kind}'
DIFFERENT = ('{name}.update: weight {index!r} is {weight}, but its gradient is {grad}; '
             'shape, dtype and context must agree')
FOREIGN_STATE = ('{name}.update: weight {index!r} is {weight} and needs {count} array(s) like it as its state, but '
                 'that is {state}; is it the state of another network or optimizer?')


class BuiltIn(Optimizer):
    """An optimizer whose update is a pure rule, applied to any number of weights in one call.

    A subclass has `_slots` and `_rule`; or `_step`, where there is more to an update than a rule for each weight.
    """

    _at_once = True
    _needs_count = False
    _elementwise = True         # is each element updated for itself, by states of the weight's shape
    _same_rule = True           # do weights with the same rates and counts have the same rule

    _can_bind = True             # has an update the same arrays as the one before; SGLD's noise is new each time
    _clips_to_zero = False      # is clip_gradient=0 a limit, not none; as in MXNet 1.9.1's optimizers without a kernel
    _by_count = False           # whether counts matter, too: then what `_bind_update` gives may have `prepare`

    @property
    def _slots(self) -> int:
        """How many arrays the state of a weight has."""
        return 0

    @property
    def _steady(self) -> tuple[Any, ...]:
        """Numbers of an update besides the rates; () where it depends on more, such as counts."""
        return ()

    def create_state(self, index: Any, weight: NDArray) -> Any:
        """The arrays that the optimizer keeps for a weight, zeros at first: None, one, or a tuple."""
        stype = weight.stype if self._lazy(weight) else 'default'
        states = tuple(zeros_like(weight, stype) for _ in range(self._slots))
        return states if len(states) > 1 else states[0] if states else None

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Updates a weight, in place, by its gradient; or several, given as lists."""
        if not is_list(index):
            index, weight, grad, state = (index,), (weight,), (grad,), (state,)
        elif not len(index) == len(weight) == len(grad) == len(state):
            raise MXNetError(f'{type(self).__name__}.update: there are {len(index)} indices, {len(weight)} weights, '
                             f'{len(grad)} gradients and {len(state)} states; all four lists must have the same length')
        columns = self._columns(index, weight, state)
        tensors = self._plain(weight, grad, columns)
        if tensors is None:
            columns = self._columns_apart(columns, state)
            self._check(index, weight, grad, columns)
        before = self.num_update
        self._update_count(index)
        lrs, wds = self._rates(index, before)
        if tensors:
            if readers or switches.writes is not None:
                before_write(*tensors[0], *[t for column in tensors[2:] for t in column])
            self._step(index, tensors[0], tensors[1], tensors[2:], lrs, wds)
        else:
            for row in zip(index, weight, grad, zip(*columns) if columns else itertools.repeat(()), lrs, wds):
                self._update_one(*row)

    def _plain(self, weights, grads, columns, alike=True):
        """The tensors of weights, of gradients and of each slot, as lists; None where arrays are not all alike.

        Without `alike`, gradients may be of another dtype.
        """
        if switches.recording:
            return None
        tensors = [_plain_tensors(column) for column in (weights, grads, *columns)]
        if None in tensors:
            return None
        compared = tensors[:None if self._elementwise else 2]
        return tensors if _lists.alike(*(compared if alike else [compared[0], *compared[2:]])) else None

    def _update_one(self, index, weight, grad, state, lr, wd):
        """Updates a weight whose arrays may be sparse or absent: by the rows with a gradient, or by dense copies."""
        name = f'{type(self).__name__}.update'
        arrays = (weight, *state)
        if self._updates_rows(weight, grad, state):
            if not (grad._checked and grad._rising):
                grad.check_format()
            values, rows = grad._parts()[0], grad._parts()[1].long()
            for array in arrays:
                if array is not None and not array._sparse:
                    writable(array, name)
            parts = [None if a is None else rows_of(a, rows) for a in arrays]
            self._step_rows((index,), parts[:1], [values], [[part] for part in parts[1:]], [lr], [wd])
            for array, part in zip(arrays, parts):
                if array is not None:
                    put_rows(array, rows, part)
            return
        tensors = [None if a is None else a.materialize().detach() if a._sparse else writable(a, name) for a in arrays]
        self._step((index,), tensors[:1], [grad.materialize().detach()], [[t] for t in tensors[1:]], [lr], [wd])
        for array, tensor in zip(arrays, tensors):
            if array is not None and array._sparse:
                write(array, tensor, name)

    def _lazy(self, weight):
        """Whether rows of a weight that a row sparse gradient leaves out stay as they are."""
        return False

    def _updates_rows(self, weight, grad, state):
        """Whether an update writes only the rows that the gradient has."""
        return grad.stype == 'row_sparse' and self._lazy(weight)

    def _step_rows(self, indices, weights, grads, states, lrs, wds):
        """`_step` for the rows of one weight."""
        self._step(indices, weights, grads, states, lrs, wds)

    def _rule(self, index, lr, wd):
        """The rule of a weight's update (see _lists.py) and its numbers."""
        raise NotImplementedError(f'{type(self).__name__} has no rule')

    def _step(self, indices, weights, grads, states, lrs, wds):
        """Updates lists of tensors in place; `states` has a list for each slot."""
        counts = self._index_update_count
        keys = zip(lrs, wds, [counts[i] for i in indices]) if self._same_rule else indices
        for at in _lists.groups(keys).values():
            first = at[0]
            rule, numbers = self._rule(indices[first], lrs[first], wds[first])
            try:
                _lists.apply(rule, numbers, [[column[i] for i in at] for column in (weights, grads, *states)],
                             self._elementwise)
            except RuntimeError as error:
                raise MXNetError(f'{type(self).__name__}.update of {indices[first]!r} with {numbers}: {plain(error)}'
                                 ) from error

    def _bind_update(self, indices, weights, states, lrs, wds):
        """A function of gradients that does `_step` with these lists and numbers, for updates that are `_steady`.

        It may have `prepare`, which is called before each of its calls and before each replay of a CUDA graph of it; if
        that gives False, another function is needed.
        """
        return lambda grads: self._step(indices, weights, grads, states, lrs, wds)

    @property
    def _clip(self):
        """clip_gradient as operators take it: negative for none."""
        clip = self.clip_gradient
        return -1.0 if clip is None or not (clip or self._clips_to_zero) else float(clip)

    @property
    def _rescale(self):
        return float(self.rescale_grad)

    # ------------------------------------------------------------------ what an update is given
    def _columns(self, indices, weights, states):
        """The arrays of states (None for one that is absent), a list for each slot."""
        slots = self._slots
        if not slots:
            return []
        try:
            rows = [(s,) if isinstance(s, NDArrayBase) else s[:slots] for s in states]
            return [[row[slot] for row in rows] for slot in range(slots)]
        except (TypeError, IndexError):
            for index, weight, state in zip(indices, weights, states):
                state = [] if state is None else [state] if isinstance(state, NDArrayBase) else state
                if len(state) < slots:
                    raise self._foreign(index, weight, state) from None
            raise

    def _columns_apart(self, columns, states):
        """The same where weights are updated one by one, because some arrays are sparse."""
        return columns

    def _foreign(self, index, weight, state):
        return MXNetError(FOREIGN_STATE.format(name=type(self).__name__, index=index, weight=describe(weight),
                                               count=self._slots, state=', '.join(map(describe, state)) or None))

    def _check(self, indices, weights, grads, columns):
        """Finds mistakes; sparse arrays and absent states are none."""
        name = type(self).__name__
        for n, (index, weight, grad) in enumerate(zip(indices, weights, grads, strict=True)):
            for what, array in (('weight', weight), ('gradient', grad)):
                if not isinstance(array, NDArrayBase):
                    raise TypeError(NOT_AN_ARRAY.format(name=name, what=what, index=index, kind=type(array).__name__))
            if not _alike(weight, grad):
                raise MXNetError(DIFFERENT.format(name=name, index=index, weight=describe(weight),
                                                  grad=describe(grad)))
            state = [column[n] for column in columns]
            if self._elementwise and not all(s is None or _alike(weight, s) for s in state):
                raise self._foreign(index, weight, state)


def _alike(one, other):
    return one.shape == other.shape and one.dtype == other.dtype and one.context == other.context


def _plain_tensors(arrays):
    """The tensors of dense arrays that autograd does not know; None where one is of another kind."""
    try:
        if True in [a._sparse for a in arrays]:
            return None
        tensors = [a.materialize() for a in arrays]
        return None if True in [t.requires_grad for t in tensors] else tensors
    except AttributeError:
        return None


_explain_methods(BuiltIn, 'create_state')
