"""Where the time and the memory go: a profile with the names of operators, layers and blocks in it.

>>> from mxnet import profiler
>>> profiler.set_config(filename='steps.json')             # doctest: +SKIP
>>> profiler.start()                                       # doctest: +SKIP
... # a few steps of training
>>> profiler.stop()                                        # doctest: +SKIP
>>> print(profiler.dumps())       # a table                # doctest: +SKIP
>>> profiler.dump()               # steps.json, for https://ui.perfetto.dev         # doctest: +SKIP

It stands on torch.profiler, and is an interceptor (see docs/en/architecture.md): while it is off, it costs nothing.
"""
from __future__ import annotations

import os
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any, Self

from .. import _dispatch
from .._kinds import explain_kinds as _explain_kinds
from .._names import suggest_names as _suggest_names
from ..base import MXNetError
from ._session import session as _current
from ._table import SORTS as _SORTS

if TYPE_CHECKING:
    from .._typing import Path

__all__ = ['Counter', 'Domain', 'Event', 'Frame', 'Marker', 'Task', 'dump', 'dump_profile', 'dumps', 'pause',
           'profiler_set_config', 'profiler_set_state', 'resume', 'scope', 'set_config', 'set_kvstore_handle',
           'set_state', 'start', 'stop']

profiler_kvstore_handle = None


def set_kvstore_handle(handle: Any) -> None:
    """Says which KVStore has the servers that `profile_process='server'` is about."""
    global profiler_kvstore_handle
    profiler_kvstore_handle = handle


def _on_servers(what, profile_process, **arguments):
    """Whether the servers are meant; if so, they are told."""
    if profile_process == 'worker':
        return False
    if profile_process != 'server':
        raise MXNetError(f"profiler.{what}: profile_process takes 'worker' or 'server', not {profile_process!r}")
    store = profiler_kvstore_handle or (_dispatch.servers() if _dispatch.servers is not None else None)
    if store is None:
        raise MXNetError(f"profiler.{what}(profile_process='server'): there is no KVStore with servers; create one "
                         "with mx.kv.create('dist_async') and pass it to profiler.set_kvstore_handle")
    tell = getattr(store, '_profile_servers', None)
    if tell is None:
        kind = getattr(store, 'type', type(store).__name__)
        raise MXNetError(f"profiler.{what}(profile_process='server'): a KVStore of type {kind!r} has no servers; "
                         'profile its workers instead, each with a filename of its own')
    tell(what, arguments)
    return True


# ---------------------------------------------------------------------- the profile
def set_config(**kwargs: Any) -> None:
    """Says what is measured; takes keyword arguments only, and those not given have their default.

    Parameters
    ----------
    filename : str
        Where `dump` writes; 'profile.json' if not given.
    profile_symbolic, profile_imperative : bool
        Whether operators of graphs (hybridized blocks, executors), and those called on arrays, get names.
    profile_memory : bool
        Whether allocations are noted.
    profile_api : bool
        Whether calls such as `Trainer.step`, `backward` or `asnumpy` get names.
    profile_all : bool
        All of these.
    continuous_dump : bool
        Whether the file is written every `dump_period` seconds, between calls of the API.
    dump_period : float
        See there; 1 if not given.
    aggregate_stats : bool
        Accepted and not needed: the table of `dumps` is always there, since it costs nothing while measuring.
    profile_process : 'worker' or 'server'
        Whether this is about this process or about the servers of a KVStore.
    """
    if not _on_servers('set_config', kwargs.get('profile_process', 'worker'),
                       **{k: v for k, v in kwargs.items() if k != 'profile_process'}):
        _current.configure(kwargs)


def set_state(state: Any = 'stop', profile_process: str = 'worker') -> None:
    """Starts ('run') or stops ('stop') measuring."""
    changes = {'run': _current.run, 'stop': _current.stop}
    if not isinstance(state, str) or state not in changes:
        raise KeyError(f"profiler.set_state: state must be 'run' or 'stop', not {state!r}")
    if not _on_servers('set_state', profile_process, state=state):
        changes[state]()


def start(profile_process: str = 'worker') -> None:
    """Starts measuring: `set_state('run')`."""
    set_state('run', profile_process)


def stop(profile_process: str = 'worker') -> None:
    """Stops measuring: `set_state('stop')`.  What was measured stays until `dump`."""
    set_state('stop', profile_process)


def pause(profile_process: str = 'worker') -> None:
    """Stops measuring until `resume`."""
    if not _on_servers('pause', profile_process):
        _current.pause()


def resume(profile_process: str = 'worker') -> None:
    """Goes on measuring after `pause`."""
    if not _on_servers('resume', profile_process):
        _current.resume()


def dump(finished: bool = True, profile_process: str = 'worker') -> None:
    """Writes the file, a trace for https://ui.perfetto.dev or chrome://tracing.

    With `finished`, measuring stops and a later `dump` begins a new file; without, it goes on, and later events are
    added.
    """
    if not _on_servers('dump', profile_process, finished=finished):
        _current.dump(bool(finished))


def dumps(reset: bool = False, format: str = 'table', sort_by: str = 'total', ascending: bool = False) -> str:
    """Sums of the times by name, as a table or as JSON.

    The time of an operator is that of its kernels on a GPU, that of the call on a CPU.

    Parameters
    ----------
    reset : bool
        Whether the sums start again at 0.
    format : 'table' or 'json'
    sort_by : 'total', 'avg', 'min', 'max' or 'count'
        What the rows of each part are sorted by.
    ascending : bool
        Whether the smallest is first.
    """
    assert format in ('table', 'json'), f"Invalid value provided for format: {format}. Support: 'table', 'json'"
    assert sort_by in _SORTS, f"Invalid value provided for sort_by: {sort_by}. Support: {', '.join(map(repr, _SORTS))}"
    assert ascending in (False, True), f'Invalid value provided for ascending: {ascending}. Support: False, True'
    assert reset in (False, True), f'Invalid value provided for reset: {reset}. Support: False, True'
    return _current.table(reset, format == 'json', sort_by, ascending)


# ---------------------------------------------------------------------- old names
def profiler_set_config(mode: str = 'symbolic', filename: Path = 'profile.json') -> None:
    """Deprecated: `set_config`.  `mode` is 'symbolic' or 'all'."""
    warnings.warn('profiler.profiler_set_config() is deprecated. Please use profiler.set_config() instead',
                  stacklevel=2)
    set_config(**{f'profile_{mode}': True, 'filename': filename})


def profiler_set_state(state: Any = 'stop') -> None:
    """Deprecated: `set_state`."""
    warnings.warn('profiler.profiler_set_state() is deprecated. Please use profiler.set_state() instead', stacklevel=2)
    set_state(state)


def dump_profile() -> None:
    """Deprecated: `dump`."""
    warnings.warn('profiler.dump_profile() is deprecated. Please use profiler.dump() instead', stacklevel=2)
    dump(True)


# ---------------------------------------------------------------------- events of the program's own
class Domain:
    """A group of tasks, frames, counters and markers, with a name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    def new_task(self, name: str) -> Any:
        """A `Task` of this domain."""
        return Task(self, name)

    def new_frame(self, name: str) -> Any:
        """A `Frame` of this domain."""
        return Frame(self, name)

    def new_counter(self, name: str, value: Any = None) -> Any:
        """A `Counter` of this domain."""
        return Counter(self, name, value)

    def new_marker(self, name: str) -> Any:
        """A `Marker` of this domain."""
        return Marker(self, name)


class _Duration:
    """Something with a beginning and an end; also a scope: `with domain.new_task('load'):`."""

    def __init__(self, category: str, name: str) -> None:
        self.name = name
        self._category = category
        self._since: Any = None

    def start(self) -> None:
        """It begins now."""
        self._since = time.time_ns() if _current.active else None

    def stop(self) -> None:
        """It ends now.  It counts if measuring was on at both ends."""
        since, self._since = self._since, None
        if since is None or not _current.active:
            return
        now = time.time_ns()
        event = {'cat': self._category, 'name': self.name, 'id': f'{id(self):x}.{since:x}'}
        _current.note({**event, 'ph': 'b'}, since)
        _current.note({**event, 'ph': 'e'}, now)
        _current.statistics.add_time(self._category, self.name, (now - since) / 1e3)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: Any) -> None:
        self.stop()

    def __del__(self) -> None:
        if self.__dict__.get('_since') is not None:         # nothing else can stop it
            self.stop()

    def __str__(self) -> str:
        return self.name


class Task(_Duration):
    """A piece of work of the program, between `start` and `stop`; times of the same name are summed up."""

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(domain.name, name)


class Frame(_Duration):
    """The same for what recurs, such as an iteration: it has a row of its own in the trace."""

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(f'{domain.name},frame', name)


class Event(_Duration):
    """The same without a domain."""

    def __init__(self, name: str) -> None:
        super().__init__('event', name)


def scope(name: str = '<unk>') -> Any:
    """A range with this name around everything that runs inside: `with profiler.scope('encoder'):`."""
    return Event(name)


class Counter:
    """A number that changes, drawn over time in the trace."""

    def __init__(self, domain: Domain, name: str, value: Any = None) -> None:
        self.name = name
        self._category = domain.name
        self._value = 0
        self._lock = threading.Lock()
        if value is not None:
            self.set_value(value)

    def set_value(self, value: Any) -> None:
        """Sets the number."""
        with self._lock:
            self._value = int(value)
            self._note()

    def increment(self, delta: int = 1) -> None:
        """Adds to the number."""
        with self._lock:
            self._value += int(delta)
            self._note()

    def decrement(self, delta: int = 1) -> None:
        """Subtracts from the number."""
        self.increment(-int(delta))

    def _note(self):
        if _current.active:
            self._draw()
            _current.statistics.add_counter(self._category, self.name, self._value)

    def _draw(self):
        if _current.active:
            _current.note({'ph': 'C', 'cat': self._category, 'name': self.name, 'args': {self.name: self._value}})

    def __del__(self) -> None:
        if self.__dict__.get('_value'):
            self._value = 0                 # its line in the trace comes down where it ends
            self._draw()

    def __iadd__(self, delta: int) -> Self:
        self.increment(delta)
        return self

    def __isub__(self, delta: int) -> Self:
        self.decrement(delta)
        return self

    def __str__(self) -> str:
        return self.name


class Marker:
    """A moment with a name."""

    _SCOPES = {'global': 'g', 'process': 'p', 'thread': 't', 'task': 't', 'marker': 't'}

    def __init__(self, domain: Any, name: str) -> None:
        self.name = name
        self.domain = domain

    def mark(self, scope: str = 'process') -> None:
        """Marks this moment.

        `scope` ('global', 'process', 'thread', 'task', 'marker') says how far its line is drawn.
        """
        if scope not in self._SCOPES:
            raise MXNetError(f'Marker.mark: scope takes {", ".join(map(repr, self._SCOPES))}, not {scope!r}')
        if _current.active:
            _current.note({'ph': 'i', 'cat': f'{self.domain.name},instant_marker', 'name': self.name,
                           's': self._SCOPES[scope]})

    def __str__(self) -> str:
        return self.name


def _autostart():
    """What MXNET_PROFILER_AUTOSTART=1 asks for; MXNET_PROFILER_MODE=0 is about graphs alone."""
    everything = os.environ.get('MXNET_PROFILER_MODE', '0') not in ('', '0')
    set_config(profile_imperative=everything, profile_api=everything, profile_memory=everything)
    start()


_explain_kinds(globals(), ('Counter', 'Frame', 'Task', 'set_config'))
_suggest_names(globals())
