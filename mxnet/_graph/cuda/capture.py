"""CUDA graphs: a function of tensors whose kernels are recorded once, and launched again together.

Recording fixes addresses.  Tensors that stay where they are (parameters, states, gradients) are read and written in
place; all others are copied into memory of the graph's own by, or before, each launch, and its results lie there until
the next.
"""
from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import torch

from ..._state import state
from ..._torch.lists import foreach_copy_
from ..._torch.memory import clear_cublas_workspaces
from ..passes.batch_norm import available

if TYPE_CHECKING:
    from .kernels import Fetcher

WARM = 2                # runs before a function is recorded, so that libraries have chosen and set up what they use
LARGEST_FETCHED = 1 << 24               # bytes; a copy of torch's is as good for larger tensors
# Bytes; as much is taken from the device in one piece.  Pieces as large as the first values that they are for would
# leave gaps, since a graph's memory is not given back while it is recorded.
LARGE = 1 << 26
_streams: dict[int, list] = {}          # of each device, those that are recorded on
recording = threading.RLock()          # they are for one thread at a time
_alive: WeakSet = WeakSet()             # what has been recorded


def wanted() -> bool:
    """Whether graphs may be recorded at all."""
    return os.environ.get('MXNET_ENABLE_CUDA_GRAPHS', '1') != '0' and not state.naive


class Branches:
    """Streams of a graph while it is recorded: what plans for several of them (see streams.py) call."""

    def __init__(self, device: torch.device) -> None:
        # torch's own stream for recording is of one device only
        self._streams, self._device = _streams.setdefault(device.index, []), device
        self._events: dict[int, torch.cuda.Event] = {}

    def stream(self, number: int) -> torch.cuda.Stream:
        while number >= len(self._streams):
            self._streams.append(torch.cuda.Stream(self._device))
        return self._streams[number]

    def at(self, number: int, marks: Iterable[int]) -> None:
        """Goes to a stream, which waits for marks."""
        stream = self.stream(number)
        torch.cuda.set_stream(stream)
        for mark in marks:
            stream.wait_event(self._events[mark])

    def mark(self, number: int) -> None:
        """Notes what the current stream has been given so far."""
        event = self._events[number] = torch.cuda.Event()
        event.record()


class _Alone:
    """One stream, for runs that are not recorded."""

    def at(self, number: int, marks: Iterable[int]) -> None:
        pass

    def mark(self, number: int) -> None:
        pass


ALONE = _Alone()


class Captured:
    """A recorded function.

    `moving` are the positions of tensors that are new each time.  `results` is what the function returned: its tensors
    are the graph's, and change with each `launch`.  `size` is how much memory of the device was taken for it, in bytes.
    """

    __slots__ = ('_graph', '_fixed', '_staying', '_own', '_fetcher', 'moving', 'results', 'size', '__weakref__')

    def __init__(self, function: Callable[..., Any], tensors: Sequence[torch.Tensor], moving: Iterable[int],
                 generators: Sequence[torch.Generator] = (), branches: bool = False, memory: int = 0) -> None:
        """Records `function(tensors)`; with `branches`, `function(tensors, Branches(...))`.

        generators: those that random kernels draw from; each launch goes on where the one before has left them
        memory: how many bytes the function's values occupy, at most
        """
        self.moving = tuple(moving)
        self._own = [torch.empty_like(tensors[i]) for i in self.moving]
        given = list(tensors)
        for i, own in zip(self.moving, self._own, strict=True):
            given[i] = own
        staying = [i for i in range(len(tensors)) if i not in set(self.moving)]
        self._staying = itemgetter(*staying) if len(staying) > 1 else lambda tensors: [tensors[i] for i in staying]
        self._fixed = [tensors[i] for i in staying]
        self._fetcher = _fetcher(self._own)
        self._graph = torch.cuda.CUDAGraph()
        for generator in generators:
            self._graph.register_generator_state(generator)
        device = tensors[0].device
        with recording, torch.cuda.device(device), _no_garbage():
            torch.cuda.synchronize(device)
            if self._fetcher is not None:
                self._fetcher.tell(self._own)
                self._fetcher.run()
                torch.cuda.synchronize(device)
            if memory >= LARGE and not _alive:
                # cuBLAS keeps memory for each stream that it was called on, which would lie idle beside that of the
                # graph, and takes new memory when it is called there again.  Graphs that are alive use it.
                clear_cublas_workspaces()
            streams = Branches(device)
            try:
                # other threads, such as those that load data, may go on using the device meanwhile
                with torch.cuda.graph(self._graph, stream=streams.stream(0), capture_error_mode='thread_local'):
                    before = torch.cuda.memory_reserved(device)
                    try:
                        if memory >= LARGE:
                            torch.empty(memory, dtype=torch.uint8, device=device)
                        if self._fetcher is not None:
                            self._fetcher.run()
                        self.results = function(given, streams) if branches else function(given)
                    finally:
                        streams.at(0, ())           # a recording ends on the stream that it began on
                    self.size = torch.cuda.memory_reserved(device) - before
            except RuntimeError:
                _recover(device, generators)
                raise
            # the generators' numbers for recording were written on that stream; launches come after them
            torch.cuda.current_stream(device).wait_stream(streams.stream(0))
            _alive.add(self)

    def fits(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether the tensors that are not copied are those of the recording."""
        return all(map(is_, self._staying(tensors), self._fixed))

    def launch(self, tensors: Sequence[torch.Tensor]) -> None:
        """Runs the kernels for these tensors, which must fit."""
        if self._fetcher is not None:
            given = [tensors[i] for i in self.moving]
            given = [t if t.is_contiguous() and not t.data_ptr() & 3 else
                     t.clone(memory_format=torch.contiguous_format) for t in given]     # alive until the launch
            self._fetcher.tell(given)
        elif self.moving:
            foreach_copy_(self._own, [tensors[i] for i in self.moving])
        self._graph.replay()


@contextlib.contextmanager
def _no_garbage() -> Iterator[None]:
    """Collects no garbage meanwhile: there may be graphs among it, and to destroy one can break off a recording."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _recover(device: torch.device, generators: Sequence[torch.Generator]) -> None:
    """Leaves generators as if there had been no recording, after one that CUDA has broken off."""
    if generators:
        # they would go on waiting for its end, which that of another is as well
        other = torch.cuda.CUDAGraph()
        for generator in generators:
            other.register_generator_state(generator)
        number = torch.zeros(1, device=device)
        with contextlib.suppress(RuntimeError), torch.cuda.graph(other, capture_error_mode='thread_local'):
            number.add_(1)


def _fetcher(targets: Sequence[torch.Tensor]) -> Fetcher | None:
    """What has a graph copy its inputs itself; None where `launch` has to."""
    if not targets or not available(targets[0].device) or any(t.element_size() < 4 or not t.is_contiguous()
                                                              for t in targets) \
            or not 0 < sum(t.nbytes for t in targets) <= LARGEST_FETCHED or not all(t.numel() for t in targets):
        return None
    from .kernels import Fetcher
    return Fetcher(targets)
