"""Operators between the blocks of a step (step.py): they are deferred with them.

Programs divide their losses, add two of them up, take means.  Each such call is one of a CachedOp with a single node,
kept by the first block of the step.  Slices and `reshape` share memory with the array that they are taken of: when the
step has run, they are made views of its tensor.

Only common operators are deferred, which send a gradient to each of their pending inputs, and only where shapes and
dtypes are known to fit: mistakes are found where they are made.
"""
from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .._array import wrap
from .._ops.core.attributes import exact
from .._ops.core.table import NAMES
from .._state import state
from .defer import defer
from .inference import DEFERRED, infer_outputs, kinds_of
from .pending import transition_lock
from .step import Step

if TYPE_CHECKING:
    from .._ops.core.table import Operator
    from ..context import Context
    from ..ndarray._cached_op import CachedOp
    from .types import Source

INDICES = {'pick': 1, 'where': 0}        # the input that has no gradient: labels, a condition


def join(op: Operator, inputs: Sequence[Any], attributes: dict[str, Any], cls: type) -> Any:
    """What an operator gives for arrays of which some are pending, deferred with them; None if it has to run now."""
    if op.name not in DEFERRED or state.naive:
        return None
    return _join(lambda first: _operator(first, op, attributes, len(inputs)), inputs, INDICES.get(op.name), cls)


def _join(find: Callable[[CachedOp], CachedOp], inputs: Sequence[Any], index: int | None, cls: type) -> Any:
    """The pending output of a call of a CachedOp that `find(first CachedOp of the step)` gives."""
    with transition_lock:
        step: Any = None                    # the Step of the first pending input
        sources: list[Source | None] = []
        output_metas: list[torch.Tensor] = []
        for i, x in enumerate(inputs):
            if x is None or x._sparse:
                return None
            pending = x._pending
            if pending is None:
                sources.append(None)
                output_metas.append(x.materialize())
                continue
            if type(pending.work) is not Step or not pending.work.is_open() \
                    or i == index and pending.call is not None:
                return None
            known = pending.work.meta_of(pending)
            step = step or pending.work
            sources.append(pending.number if pending.call is None else (pending.call, pending.number))
            output_metas.append(known)
        if step is None:
            return None                     # another thread has computed them in the meantime
        try:
            cached = find(step.first)
        except TypeError:                   # an attribute that cannot be hashed
            return None
        template = step.template
        if template is not None and len(step.outputs) < len(template.structure) \
                and template.structure[len(step.outputs)] == (cached, state.training, tuple(sources)) \
                and not any(x._pending.work is not step for x in inputs):
            return step.add_from_template(cls)
        if not _fits(cached, output_metas, index):
            return None
    arrays = defer(cached, inputs, inputs[0]._ctx, state.training, cls)
    return None if arrays is None else arrays[0]


def _operator(first: CachedOp, op: Operator, attributes: dict[str, Any], count: int) -> CachedOp:
    """The CachedOp of an operator's calls with these attributes and so many inputs."""
    key = op.name, count, *[(name, exact(value)) for name, value in sorted(attributes.items())]
    found = first.deferral.operators.get(key)
    if found is None:
        found = _keep(first, key, first.of_nodes([(op, attributes)], count))
        found.what = op, attributes
    return found


def _keep(first: CachedOp, key: Hashable, cached: CachedOp) -> CachedOp:
    first.deferral.operators[key] = cached
    return cached


def _fits(cached: CachedOp, output_metas: Sequence[torch.Tensor], index: int | None) -> bool:
    """Whether a graph of operators takes tensors of these kinds, as inference says."""
    if not all(t.is_floating_point() for i, t in enumerate(output_metas) if i != index):
        return False
    outputs = infer_outputs(cached, kinds_of(state.training, output_metas))
    return outputs is not None and all(t.is_floating_point() for t in outputs)


# ---------------------------------------------------------------------- slices and shapes
def reshape(array: Any, shape: Sequence[Any], method: Callable[..., Any]) -> Any:
    """`array.reshape(*shape)` of a pending array, deferred; None if it has to run now.

    method: the method of its class, which computes the same on tensors
    """
    given = _output_like(array)
    if given is None:
        return None
    cls = array._dense
    found = method(_stand_in(given, array, cls), *shape).shape             # or says what is wrong
    return _view(array, 'reshape', tuple(given.shape), None, found, lambda x: method(x, *shape))


def getitem(array: Any, key: Any, method: Callable[..., Any]) -> Any:
    """`array[key]` of a pending array, for numbers and slices, deferred; None if it has to run now."""
    given = _output_like(array)
    if given is None:
        return None
    box = _box(key, given.shape)
    if box is None:
        return None
    found = method(_stand_in(given, array, array._dense), key).shape
    return _view(array, 'getitem', tuple(given.shape), tuple(box), found, lambda x: method(x, key))


def _output_like(array: Any) -> torch.Tensor | None:
    """A tensor like a pending output of a step; None for other arrays, and once the step is done."""
    pending = array._pending
    if pending is None or pending.call is None or type(pending.work) is not Step or state.interceptors \
            or state.naive:
        return None
    return pending.work.meta_of(pending)


def _view(array: Any, name: str, given: tuple[int, ...], box: tuple[tuple[int, int, int], ...] | None,
          shape: tuple[int, ...], method: Callable[..., Any]) -> Any:
    if not shape or 0 in shape:
        return None
    cls = array._dense
    key = cls, name, given, box, shape          # what the result of the method depends on, but for values

    def compute(tensor: torch.Tensor, ctx: Context, recording: bool) -> torch.Tensor:
        """The same by the method that arrays have, which decides whether the result shares memory."""
        before, state.recording = state.recording, recording
        try:
            return method(wrap(tensor, ctx, cls)).materialize()
        finally:
            state.recording = before

    def find(first: CachedOp) -> CachedOp:
        found = first.deferral.operators.get(key)
        if found is None:
            nodes, now = [], given
            if box is not None and box != tuple([(0, n, 1) for n in given]):
                begins, ends, steps = zip(*box, strict=True)
                nodes.append((NAMES['slice'], {'begin': begins, 'end': ends, 'step': steps}))
                now = tuple([-(-(end - begin) // step) for begin, end, step in box])
            if now != shape or not nodes:
                nodes.append((NAMES['Reshape'], {'shape': shape}))
            found = _keep(first, key, first.of_nodes(nodes, 1))
            found.what, found.deferral.view = (nodes[-1][0], nodes[-1][1]), compute
        return found

    return _join(find, (array,), None, cls)


def _stand_in(given: torch.Tensor, array: Any, cls: type) -> Any:
    """An array without values, which has the methods of others."""
    return wrap(torch.empty(given.shape, dtype=given.dtype, device='meta'), array._ctx, cls)


def _box(key: Any, shape: Sequence[int]) -> list[tuple[int, int, int]] | None:
    """(begin, end, step) of each axis that a key selects; None for other keys, and for those that select nothing."""
    parts = list(key) if type(key) is tuple else [key]
    kinds = [type(part) for part in parts]
    if not shape or not set(kinds) <= {int, slice, type(Ellipsis)} or kinds.count(type(Ellipsis)) > 1:
        return None
    if type(Ellipsis) in kinds:
        at = kinds.index(type(Ellipsis))
        parts[at:at + 1] = [slice(None)] * (len(shape) - len(parts) + 1)
    parts += [slice(None)] * (len(shape) - len(parts))
    if len(parts) != len(shape):
        return None
    found = []
    for part, length in zip(parts, shape, strict=True):
        if type(part) is int:
            part = slice(part, part + 1 or None)
        begin, end, step = part.indices(length)
        if step < 1 or begin >= end:
            return None
        found.append((begin, end, step))
    return found
