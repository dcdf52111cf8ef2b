"""Which calls of a plan a GPU can run beside each other: streams for the branches of a CUDA graph.

Calls stay in their order; each is given to the stream on which it can begin first, by an estimate of what calls take.
A call waits, by events, for those on other streams that it needs.  Memory belongs to the stream that it was allocated
on, so a value is let go only when that stream has waited for all who read it.
"""
from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import torch

from ..._torch.dispatch import OpOverload, signature
from ..._torch.operators import RESHAPE_ALIAS, UNSAFE_VIEW

if TYPE_CHECKING:
    from ..types import FxNode

aten = torch.ops.aten
STREAMS = 4             # at most; each has a workspace for products of matrices
START = -1              # the mark that streams wait for before their first call
GAIN = 0.85             # branches must take at most this part of the time that calls one by one take
# Seconds, on a large GPU: for a call that does next to nothing, for a product that does, and for waiting across streams
_SMALL, _PRODUCT, _SYNC = 1.5e-6, 4e-6, 1e-6
_BYTES = 3e12           # a second
_OPERATIONS = {torch.float16: 4e14, torch.bfloat16: 4e14, torch.float32: 3e13}
_ALIASES = {UNSAFE_VIEW, RESHAPE_ALIAS}


def most() -> int:
    """How many streams there may be: MXNET_GPU_WORKER_NSTREAMS, if that is set."""
    try:
        return max(1, int(os.environ.get('MXNET_GPU_WORKER_NSTREAMS', STREAMS)))
    except ValueError:
        return STREAMS


class Schedule:
    """before: {number of a call: (its stream, marks to wait for)} where either changes;
    marks: numbers of the calls after which an event is recorded; ends: {number of a call: values let go after it};
    last: marks that the first stream waits for in the end; count: how many streams
    """

    def __init__(self, before: dict[int, tuple[int, list[int]]], marks: set[int], ends: dict[int, list[FxNode]],
                 last: list[int], count: int) -> None:
        self.before, self.marks, self.ends, self.last, self.count = before, marks, ends, last, count


def _is_thin(node: FxNode) -> bool:
    """Whether a call runs nothing on the device and gives memory that is there already."""
    target = node.target
    if target is operator.getitem or target in _ALIASES:
        return True
    return isinstance(target, OpOverload) and target.is_view


def _is_mutable(node: FxNode) -> bool:
    return isinstance(node.target, OpOverload) and signature(node.target).mutable


def _fills(node: FxNode) -> bool:
    """Whether a call writes to its first argument alone, to which nothing else refers, as random numbers do."""
    written = [number for number, _ in signature(node.target).written]
    first = node.args[0] if node.args else None
    return written == [0] and isinstance(first, torch.fx.Node) and len(first.users) == 1 \
        and first.op == 'call_function' and not _is_thin(first)


def schedule(calls: Sequence[FxNode], reused: Set[int], ends: Mapping[int, Sequence[FxNode]],
             limit: int) -> Schedule | None:
    """Streams for the calls of a plan; None where it does not pay.

    reused: numbers of calls that write to the memory of their first argument
    ends: {number of a call: values that nothing needs after it}
    """
    if limit < 2 or any(_is_mutable(n) and not _fills(n) for n in calls):
        return None
    found = _Scheduler(calls, limit)
    for number, node in enumerate(calls):
        found.add(number, node, number in reused or _is_mutable(node), ends.get(number, ()))
    return found.finish()


class _Scheduler:
    def __init__(self, calls: Sequence[FxNode], limit: int) -> None:
        self._calls, self._limit = calls, limit
        self._makers: dict = {}             # value -> numbers of the calls that it is ready after
        self._home: dict = {}               # value -> stream that its memory belongs to
        self._uses: dict = {}               # value -> [(stream, number of a call)]
        self._stream: dict = {}             # number of a call -> its stream
        self._finish: dict = {}
        self._known: dict = {}              # number of a call -> what its stream has seen of all streams by then
        self._free = [0.0] * limit
        self._seen = [[START - 1] * limit for _ in range(limit)]
        self._seen[0][0] = START
        self._pending: list[list] = [[] for _ in range(limit)]
        self._before: dict[int, tuple[int, list[int]]] = {}
        self._marks: set[int] = set()
        self._ends: dict[int, list[FxNode]] = {}
        self._at, self._serial, self._work = 0, 0.0, 0.0

    def add(self, number: int, node: FxNode, reuses: bool, ended: Sequence[FxNode]) -> None:
        inputs = node.all_input_nodes
        if _is_thin(node):
            self._makers[node] = {m for a in inputs for m in self._makers.get(a, ())}
            self._home[node] = self._home.get(inputs[0]) if inputs else None
            self._uses[node] = []
            changed = None
        else:
            needs = {m for a in inputs for m in self._makers.get(a, ())}
            changed = self._place(number, node, needs)
            self._makers[node] = (number,)
            self._home[node] = self._home.get(inputs[0]) if reuses else changed
            self._uses[node] = [(changed, number)]
            for a in inputs:
                if a in self._uses:
                    self._uses[a].append((changed, number))
        gone = [v for v in ended if self._is_over(v)]
        for value in ended:
            if value not in gone:
                self._pending[self._home[value]].append(value)
        if changed is not None and self._pending[changed]:
            over = [v for v in self._pending[changed] if self._is_over(v)]
            if over:
                gone += over
                self._pending[changed] = [v for v in self._pending[changed] if v not in set(over)]
        if gone:
            self._ends[number] = gone

    def _is_over(self, value: FxNode) -> bool:
        """Whether the stream that a value's memory belongs to has seen all uses."""
        home = self._home.get(value)
        return home is None or all(t == home or self._seen[home][t] >= n for t, n in self._uses[value])

    def _place(self, number: int, node: FxNode, needs: Set[int]) -> int:
        """Chooses the stream of a call, and notes what it waits for."""
        def begin(stream: int) -> float:
            time = self._free[stream]
            for n in needs:
                other = self._stream[n]
                late = _SYNC if other != stream and self._seen[stream][other] < n else 0.0
                time = max(time, self._finish[n] + late)
            if stream and self._seen[stream][0] < START:
                time = max(time, _SYNC)
            return time

        nearest = self._stream[max(needs, key=self._finish.__getitem__)] if needs else 0
        stream = min(range(self._limit), key=lambda s: (begin(s), s != nearest, s))
        took, work = cost(node)
        self._finish[number] = self._free[stream] = begin(stream) + took
        self._serial, self._work = self._serial + took, self._work + work
        seen = self._seen[stream]
        latest: dict[int, int] = {}         # stream -> the last call there that this one needs
        for n in needs:
            other = self._stream[n]
            if other != stream and seen[other] < n:
                latest[other] = max(n, latest.get(other, n))
        # what a stream has seen, those that wait for it have seen
        waits = [n for t, n in latest.items() if not any(self._known[m][t] >= n for m in latest.values() if m != n)]
        if stream and seen[0] < START and not waits:
            waits, seen[0] = [START], START
        for n in waits:
            if n != START:
                seen[:] = map(max, seen, self._known[n])
        seen[stream] = number
        self._known[number] = list(seen)
        self._stream[number] = stream
        self._marks.update(waits)
        if stream != self._at or waits:
            self._before[number] = stream, sorted(waits)
            self._at = stream
        return stream

    def finish(self) -> Schedule | None:
        """The schedule, if it is worth while."""
        used = set(self._stream.values())
        if len(used) < 2 or max(*self._free, self._work) > GAIN * self._serial:
            return None
        last = {}
        for number, stream in self._stream.items():
            if stream and number > self._seen[0][stream]:
                last[stream] = number
        self._marks.update(last.values())
        return Schedule(self._before, self._marks, self._ends, sorted(last.values()), max(used) + 1)


def peak(calls: Sequence[FxNode], ends: Mapping[int, Sequence[FxNode]], reused: Set[int]) -> int:
    """The bytes that values occupy, at most, if calls run one by one; see `schedule`."""
    owner: dict = {}                # value -> the one whose memory it is in
    alive: dict = {}                # that one -> how many values are in its memory
    occupied = most_occupied = 0

    def size(node: FxNode) -> int:
        return sum(-(-t.numel() * t.element_size() // 512) * 512 for t in _tensors(node.meta.get('val')))

    for number, node in enumerate(calls):
        inputs = node.all_input_nodes
        if _is_thin(node) and not (node.target is operator.getitem and not size(node.args[0])) or number in reused \
                or _is_mutable(node):
            owner[node] = owner.get(inputs[0]) if inputs else None
        else:
            owner[node] = node
            occupied += size(node)
        if owner[node] is not None:
            alive[owner[node]] = alive.get(owner[node], 0) + 1
        most_occupied = max(most_occupied, occupied)
        for value in ends.get(number, ()):
            base = owner.get(value)
            if base is not None:
                alive[base] -= 1
                if not alive[base]:
                    occupied -= size(base)
    return most_occupied


def split_convolutions(graph: torch.fx.Graph, calls: Set[FxNode]) -> None:
    """Gradients of a convolution's picture and of its weights as two calls, which need not wait for each other."""
    for node in list(graph.nodes):
        if node.target is not aten.convolution_backward.default or node not in calls or not all(node.args[10][:2]):
            continue
        parts = [user for user in node.users if user.args[1] > 0]
        with graph.inserting_after(node):
            second = graph.call_function(node.target, (*node.args[:10], [False, *node.args[10][1:]]))
        second.meta.update(node.meta)
        node.args = (*node.args[:10], [True, False, False])
        for part in parts:
            part.replace_input_with(node, second)


# ---------------------------------------------------------------------- estimates
_PRODUCTS = {aten.mm.default, aten.bmm.default, aten.linear.default, aten.addmm.default, aten.baddbmm.default,
             aten.convolution.default, aten.convolution_backward.default}


def cost(node: FxNode) -> tuple[float, float]:
    """(seconds that a call takes alone, seconds for which it keeps the whole device busy), estimated."""
    made = _tensors(node.meta.get('val'))
    given = [t for a in node.all_input_nodes for t in _tensors(a.meta.get('val'))]
    work = sum(t.numel() * t.element_size() for t in (*made, *given)) / _BYTES
    if node.target not in _PRODUCTS or not made or len(given) < 2:
        return _SMALL + work, work
    if node.target is aten.convolution_backward.default:
        picture, weight = given[0], given[2]
    else:
        picture = made[0]
        weight = given[0] if node.target in (aten.mm.default, aten.bmm.default) else given[1]
    if node.target in (aten.convolution.default, aten.convolution_backward.default):
        each = weight.numel() / max(1, weight.shape[0])
    else:
        each = weight.shape[-1]
    times = sum(node.args[10][:2]) if node.target is aten.convolution_backward.default else 1
    operations = 2 * picture.numel() * each * times
    work = max(work, operations / _OPERATIONS.get(picture.dtype, 1e13))
    return _PRODUCT * times + work, work


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for t in value if isinstance(t, torch.Tensor)]
    return []
