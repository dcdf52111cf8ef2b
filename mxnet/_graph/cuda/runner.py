"""Runs plans that do forward and backward at once, on a GPU as CUDA graphs."""
from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import torch
from torch.autograd.graph import increment_version

from ... import _paused_writes
from ..._autograd import LARGE
from ..._dispatch import call_by_call, interceptors
from ..._torch.lists import foreach_copy_
from ..codegen.states import move_all
from ..ir.log import log, reason
from .capture import ALONE, WARM, Captured, wanted

if TYPE_CHECKING:
    from ..codegen.writing import Plan
    from .capture import Branches, _Alone

ATTEMPTS = 3            # to record a graph
# Without a promise that shapes stay (`static_shape`), what has run so often is taken to go on like this; if it takes
# more memory than this, launching its kernels one by one is not what takes the time.
LATE, MOST_UNASKED = 20, 1 << 28
SHARE_UNASKED = 16      # graphs that were not asked for get one part in so many of a device's memory
_unasked: WeakSet[Captured] = WeakSet()           # these graphs, and a lock for who looks at them
_counting = threading.Lock()
# runs in which the same update followed a plan, before the update joins the plan's CUDA graph
RUNS_BEFORE_JOINING = 32
# Bytes of a graph that something may join, of which cuBLAS may have taken half.  It is recorded again then; to larger
# ones, a launch less does not matter.
MOST_JOINED = 1 << 28


class _Recorder:
    """Records a function of tensors as a CUDA graph once it has run a few times."""

    __slots__ = ('_may', '_asked', '_warm', '_generators', '_kept', '_runs', '_last', '_failures', 'captured')
    captured: Any                       # a Captured once it is recorded, else None; `_launched` says which
    _last: Sequence[torch.Tensor]       # the tensors of the last run that was not recorded

    def __init__(self, static: bool, generators: Sequence[torch.Generator], kept: Sequence[int] = ()) -> None:
        """
        static: whether it is recorded as soon as it can be; else once it has run `LATE` times, if it is small
        kept: the numbers of tensors that are written to, which a graph must do where they are
        """
        self._may = wanted()
        self._asked, self._warm = static, WARM if static else LATE
        self._generators, self._kept = generators, kept
        self._runs, self._last, self._failures, self.captured = 0, (), 0, None

    def _launched(self, function: Callable[..., Any], tensors: Sequence[torch.Tensor], plan: Plan,
                  again: bool = False) -> bool:
        """Whether `function(tensors, branches)` has been run as a graph, whose results are in `captured.results`.

        plan: what it follows
        again: capture once more, since the function reads or writes other memory than before
        """
        if not self._may or not tensors[0].is_cuda or interceptors and call_by_call():
            return False
        if self._runs < self._warm:
            self._runs, self._last = self._runs + 1, tensors
            return False
        if again or self.captured is None or not self.captured.fits(tensors):
            self._record(function, tensors, plan)
            if self.captured is None:
                return False
        self.captured.launch(tensors)
        return True

    def _alone(self) -> _Alone | None:
        """How to run what is not recorded: as it soon will be, so that all it needs has been set up by then."""
        if not self._may or interceptors and call_by_call():
            return None
        return ALONE if self._runs >= self._warm - WARM else None

    def _record(self, function: Callable[..., Any], tensors: Sequence[torch.Tensor], plan: Plan) -> None:
        if not self._asked and self.captured is None and not is_small(plan.peak, tensors[0].device):
            self._may = False
            size = f'would take {plan.peak >> 20} MB' if plan.peak else 'takes unknown memory'
            log('no CUDA graph: one that %s is recorded with static_alloc and static_shape only', size)
            return
        # what was the same tensor twice is one that stays: a parameter, a state, a batch that is used again and again
        moving = set() if self.captured is None else {*self.captured.moving}
        moving |= {n for n, (t, before) in enumerate(zip(tensors, self._last, strict=True)) if t is not before}
        moving.difference_update(self._kept)
        self.captured, self._last = None, tensors
        try:
            self.captured = Captured(function, tensors, sorted(moving), self._generators, branches=True,
                                     memory=plan.memory)
        except RuntimeError as error:       # it runs as it is
            self._failures += 1
            self._runs, self._may = 0, self._failures < ATTEMPTS
            log('no CUDA graph: %s', reason(error))
            return
        if not self._asked:
            with _counting:
                _unasked.add(self.captured)


def is_small(size: int, device: torch.device) -> bool:
    """Whether a graph of so many bytes (0: not known) may take them from a device although it was not asked for."""
    share = torch.cuda.get_device_properties(device).total_memory // SHARE_UNASKED
    with _counting:
        taken = sum([graph.size for graph in _unasked])
    return 0 < size <= MOST_UNASKED and size + taken <= share


class Runner(_Recorder):
    """A plan with `joint`, run again and again for tensors of the same kinds.

    reqs: 'write' or 'add', for each gradient that the plan has
    static: whether it is to become a CUDA graph soon, on a device that has them; see `_Recorder`
    generators: the random generators that the plan draws from
    adopt: function of (number, gradient) that makes a large gradient's memory its buffer's and gives None; or gives the
        buffer, which the gradient is to be copied to

    After a run as a CUDA graph (`captured` is not None), the outputs are the graph's: valid until the next run.
    """

    __slots__ = ('plan', '_into', '_copied', '_added', '_zeros', '_rest', '_adopt', '_buffers', '_written', '_joined',
                 '_seen', '_since', '_runs_before_joining', 'fresh', 'plain')
    _buffers: list[Any] | None
    _written: Sequence[torch.Tensor]
    _runs_before_joining: float

    def __init__(self, plan: Plan, reqs: Sequence[str], *, static: bool = False,
                 generators: Sequence[torch.Generator] = (),
                 adopt: Callable[[int, torch.Tensor], torch.Tensor | None] | None = None) -> None:
        super().__init__(static, generators, plan.state_numbers)
        self.plan = plan
        writes = [req == 'write' for req in reqs]
        there = plan.present
        self._into = None if all(writes) else writes
        self._copied = [i for i, p in enumerate(there) if p and writes[i] and not plan.direct[i]]
        self._added = [i for i, p in enumerate(there) if p and not writes[i]]
        self._zeros = [i for i, p in enumerate(there) if not p and writes[i]]
        self._rest = bool(self._copied or self._added or self._zeros)
        # whether, on a CPU, a run is a call of the plan's function and nothing else
        self.plain = not self._rest and self._into is None and not plan.state_numbers
        self._adopt, self._buffers, self.fresh = adopt, None, all(plan.fresh)
        self._written = ()          # the tensors that the graph writes
        self._joined = None         # the `steady` of what is part of the graph
        self._seen, self._since, self._runs_before_joining = None, 0, RUNS_BEFORE_JOINING

    def run(self, tensors: Sequence[torch.Tensor], buffers: list[Any], then: Any = None) -> Sequence[torch.Tensor]:
        """The outputs; new values of states are written into the given tensors, gradients into the buffers.

        None of the tensors may require a gradient: then nothing is recorded, whatever torch's grad mode is.

        then: what follows, such as the update of the parameters by the gradients.  It has been decided on, and is done
            when `run` returns.  An object with
            `run()`, which does it;
            `steady`, an object that stays the same as long as each time does the same; None where that is not known;
            `step()`, which does what `run` does, looking at nothing first, also while a graph is recorded;
            `written`, the tensors that it writes; and
            `joined()`, to be called when it has become part of a graph
        """
        if not self._may or not tensors[0].is_cuda or interceptors and call_by_call():
            outputs = self._follow(tensors, buffers)       # and holds on to no buffer: see `adopt`
            return outputs if then is None else self._apart(outputs, then)
        joins = self._joins(None if then is None else then.steady)
        if joins is not self._joined or self._buffers is None or not all(map(is_, buffers, self._buffers)) \
                or self.captured is None or not self.captured.fits(tensors):
            if not self._launched_new(tensors, buffers, then, joins):
                return self._apart(self._follow(tensors, buffers, self._alone()), then)
        else:
            self.captured.launch(tensors)
        increment_version(self._written)        # a graph does not tell autograd, or predictions, what it writes
        if then is not None and self._joined is None:
            then.run()
        return self.captured.results

    def _joins(self, steady: Any) -> Any:
        """`steady` if what it stands for is to be part of the graph; else None.

        Each change of a graph means recording it again.  After one, that takes longer and longer, so that rates which
        change now and then have graphs of their own only as long as that pays.
        """
        if steady is self._joined:
            return steady
        if self._joined is not None:
            self._runs_before_joining *= 2
        if steady is not self._seen:
            self._seen, self._since = steady, 0
        self._since += 1
        ready = self._since > self._runs_before_joining and self.captured is not None \
            and self.captured.size <= MOST_JOINED
        return steady if ready else None

    def _launched_new(self, tensors: Sequence[torch.Tensor], buffers: list[Any], then: Any, joins: Any) -> bool:
        """Whether the plan, with what joins it, has been run as a graph, other than that of the run before."""
        again = joins is not self._joined or self._buffers is None or not all(map(is_, buffers, self._buffers))
        self._buffers, self._joined = buffers, joins

        def work(given: Sequence[torch.Tensor], branches: Branches) -> Sequence[torch.Tensor]:
            outputs = self._own(self._follow(given, buffers, branches))
            if joins is not None:
                then.step()
            return outputs

        if not self._launched(work, tensors, self.plan, again=again):
            if joins is not None:           # each can be recorded, as they were, if not together
                self._may, self._runs_before_joining = True, math.inf
            self._joined = None
            return False
        written = self._written = [*buffers, *[tensors[n] for n in self.plan.state_numbers]]
        if joins is not None:
            written += then.written
            then.joined()
        return True

    def _apart(self, outputs: Sequence[torch.Tensor], then: Any) -> Sequence[torch.Tensor]:
        """Does what follows a plan that has been run call by call."""
        if then is not None:
            outputs = self._own(outputs)
            then.run()
        return outputs

    def _own(self, outputs: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """Outputs that are not written later: one may be a parameter, or a view of one, which is updated next."""
        if self.fresh:
            return outputs
        return tuple([o if fresh else o.clone(memory_format=torch.contiguous_format)
                      for o, fresh in zip(outputs, self.plan.fresh, strict=True)])

    def _follow(self, tensors: Sequence[torch.Tensor], buffers: list[Any],
                branches: Branches | _Alone | None = None) -> Sequence[torch.Tensor]:
        plan, into = self.plan, buffers
        if self._into is not None:
            into = [b if write else None for b, write in zip(buffers, self._into, strict=True)]
        if branches is None or plan.recorded is None:
            outputs, states, found = plan.joint(tensors, into)
        else:
            outputs, states, found = plan.recorded(tensors, into, branches.at, branches.mark)
        if states:
            write_states(plan, tensors, states)
        if self._rest:
            self._store(buffers, found)
        return outputs

    def _store(self, buffers: list[Any], found: Sequence[torch.Tensor]) -> None:
        targets, values = [], []
        for i in self._copied:
            target = buffers[i]
            if self._adopt is not None and self.plan.adoptable[i] and target.numel() >= LARGE:
                buffers[i] = target = None          # memory that something refers to stays
                target = self._adopt(i, found[i])
            if target is not None:
                targets.append(target)
                values.append(found[i])
        if targets:
            foreach_copy_(targets, values)
        for i in self._added:
            buffers[i].add_(found[i])
        for i in self._zeros:
            buffers[i].zero_()


def write_states(plan: Plan, tensors: Sequence[torch.Tensor], values: Sequence[torch.Tensor]) -> None:
    """Writes what a plan gives for states, after its backward pass."""
    if all(weight is None for weight in plan.state_weights):
        foreach_copy_([tensors[n] for n in plan.state_numbers], list(values))
        return
    moves = []
    for number, value, weight in zip(plan.state_numbers, values, plan.state_weights, strict=True):
        if weight is None:
            tensors[number].copy_(value)
        else:
            moves.append((tensors[number], value, weight))
    move_all(moves)


class Forward(_Recorder):
    """The forward half of a plan, run again and again on the same tensors, whose values change: an executor predicts.

    On a GPU it becomes a CUDA graph late (see `_Recorder`); then (`captured` is not None) the outputs are the graph's.
    """

    __slots__ = ('_plan', 'fresh')

    def __init__(self, plan: Plan, generators: Sequence[torch.Generator] = ()) -> None:
        super().__init__(False, generators)
        self._plan, self.fresh = plan, all(plan.fresh)

    def run(self, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """The outputs."""
        return self.captured.results if self._launched(self._follow, tensors, self._plan) else self._follow(tensors)

    def _follow(self, tensors: Sequence[torch.Tensor],
                branches: Branches | _Alone | None = None) -> Sequence[torch.Tensor]:
        return self._plan.forward(tensors)[0]


def _tensors_of(values: Sequence[Any]) -> list[torch.Tensor]:
    """The tensors among the results of calls, of which some (`split`) give several."""
    return [t for value in values for t in (value if isinstance(value, (list, tuple)) else (value,))]


class Predictor(_Recorder):
    """A plan with `prepare` and `infer`, run again and again for tensors of the same kinds; on a GPU a CUDA graph.

    What follows from the parameters alone is computed when one of them has been written, or is another tensor.

    outputs: the `GraphOutputs` (_lazy/pending.py) of the last run, if that was one of a CUDA graph
    """

    __slots__ = ('_plan', '_parameters', '_tensors', '_versions', '_prepared', 'fresh', 'lock', 'outputs')
    outputs: Any
    _tensors: list[torch.Tensor] | None
    _versions: list[int] | None
    _prepared: Any

    def __init__(self, plan: Plan, parameters: Sequence[int], generators: Sequence[torch.Generator] = (),
                 static: bool = True) -> None:
        super().__init__(static, generators)
        self._plan, self._parameters, self.fresh = plan, parameters, all(plan.fresh)
        self._tensors = self._versions = self._prepared = self.outputs = None
        self.lock = threading.RLock()

    def knows(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether the parameters are the tensors of the run before."""
        return self._tensors is not None and all(map(is_, [tensors[i] for i in self._parameters], self._tensors))

    def run(self, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """The outputs; those of a CUDA graph (`captured` is not None) are valid until the next run."""
        if _paused_writes.uncounted:
            _paused_writes.count_all()
        own = [tensors[i] for i in self._parameters]
        versions = [t._version for t in own]
        if self._tensors is None or not all(map(is_, own, self._tensors)):
            self._prepared, self.captured, self._runs = list(self._plan.prepare(tensors)), None, 0
            self._tensors, self._versions = own, versions
        elif versions != self._versions:
            fresh = list(self._plan.prepare(tensors))
            if self.captured is None:
                self._prepared = fresh
            elif fresh:
                foreach_copy_(_tensors_of(self._prepared), _tensors_of(fresh))     # the graph reads them where they are
            self._versions = versions
        if self._launched(self._infer, tensors, self._plan):
            return self.captured.results
        return self._infer(tensors, self._alone())

    def _infer(self, tensors: Sequence[torch.Tensor], branches: Branches | _Alone | None) -> Sequence[torch.Tensor]:
        if branches is None or self._plan.recorded is None:
            return self._plan.infer(tensors, self._prepared)
        return self._plan.recorded(tensors, self._prepared, branches.at, branches.mark)
