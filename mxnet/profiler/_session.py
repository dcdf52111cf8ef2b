"""One profile of this process: torch's profiler, started and stopped; what it measured, collected; the file.

torch's profiler tells what it has measured only when it is stopped.  Asking while it runs (`dumps`, `dump`) stops it,
reads, and starts it again.  It sees the thread that started it, and those in which torch computes gradients for it.
"""
import atexit
import json
import os
import tempfile
import threading
import time
from typing import Any

import torch

from .._names import near
from .._torch.tools import is_profiling, profiler_configuration
from ..base import MXNetError
from ._ranges import Ranges
from ._table import Statistics
from ._trace import Trace

_OFF, _RUNNING, _PAUSED = 'stop', 'run', 'pause'


def _boolean(name, value):
    text = str(value).strip().lower()
    if text in ('true', '1'):
        return True
    if text in ('false', '0'):
        return False
    raise MXNetError(f'profiler.set_config: {name} takes True or False, not {value!r}')


def _seconds(name, value):
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1.0
    if seconds <= 0:
        raise MXNetError(f'profiler.set_config: {name} takes seconds above 0, not {value!r}')
    return seconds


def _process(name, value):
    if value not in ('worker', 'server'):
        raise MXNetError(f"profiler.set_config: {name} takes 'worker' or 'server', not {value!r}")
    return value


# what can be configured: how it is read, and its default
OPTIONS = {
    'filename': (lambda name, value: os.path.abspath(value), 'profile.json'),      # wherever the program goes later
    'profile_all': (_boolean, False), 'profile_symbolic': (_boolean, True), 'profile_imperative': (_boolean, True),
    'profile_memory': (_boolean, True), 'profile_api': (_boolean, True), 'continuous_dump': (_boolean, False),
    'dump_period': (_seconds, 1.0), 'aggregate_stats': (_boolean, False), 'profile_process': (_process, 'worker'),
}


class Session:
    """What the functions of `mx.profiler` act on; there is one in a process."""

    def __init__(self):
        self.config: dict[str, Any] = {name: default for name, (_, default) in OPTIONS.items()}
        self.state = _OFF
        self.statistics = Statistics()
        self._ranges: Any = None
        self._profiler: Any = None
        self._events: list[dict] = []       # measured, and not yet in the file
        self._file: Any = None              # (path, position at which the next event is written)
        self._lock = threading.RLock()
        self._own: list[tuple] = []         # events of tasks, counters and markers: (nanoseconds, event)
        self._base: int | None = None
        self._asked = time.monotonic()
        self._thread = 0

    # ------------------------------------------------------------------ configuration
    def configure(self, given):
        parsed = {}
        for name, value in given.items():
            if name not in OPTIONS:
                raise MXNetError(f'profiler.set_config: unknown argument {name}{near(name, OPTIONS)}; it takes '
                                 f'{", ".join(OPTIONS)}')
            parsed[name] = OPTIONS[name][0](name, value)
        with self._lock:
            running = self._profiler is not None
            if running:
                self._collect()
            if parsed.get('filename', self.config['filename']) != self.config['filename']:
                self._write_rest()
            self.config = {name: default for name, (_, default) in OPTIONS.items()} | parsed
            if running:
                self._begin()

    def wants(self, what):
        return self.config['profile_all'] or self.config[f'profile_{what}']

    # ------------------------------------------------------------------ running
    def run(self):
        with self._lock:
            if self.state != _RUNNING:
                self._begin()
                self.state = _RUNNING

    def stop(self):
        with self._lock:
            if self.state == _RUNNING:
                self._collect()
            self.state = _OFF

    def pause(self):
        with self._lock:
            if self.state == _RUNNING:
                self._collect()
                self.state = _PAUSED

    def resume(self):
        with self._lock:
            if self.state == _PAUSED:
                self.run()

    @property
    def active(self):
        """Whether tasks and counters are noted now."""
        return self.state == _RUNNING

    def _begin(self):
        # kineto says on stderr that it starts and stops; who wants to read that sets the variable himself
        os.environ.setdefault('KINETO_LOG_LEVEL', '6')
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        # acc_events: there is one cycle, and torch 2.11 warns of what it would forget after the first
        profiler = torch.profiler.profile(activities=activities, profile_memory=self.wants('memory'), acc_events=True,
                                          experimental_config=profiler_configuration())
        if is_profiling():
            raise MXNetError("profiler: a torch.profiler runs already, and there can be one at a time; stop it first")
        profiler.start()
        self._profiler = profiler
        self._ranges = Ranges(self.wants('symbolic'), self.wants('imperative'), self.wants('api'), self.breathe)
        self._thread = threading.get_ident()

    def _collect(self):
        """Stops torch's profiler and reads what it has measured."""
        if threading.get_ident() != self._thread:
            raise MXNetError('profiler: it was started in another thread; stop it, or ask for its results, in that one')
        profiler, self._profiler = self._profiler, None
        self._ranges.restore()
        self._ranges = None
        if is_profiling() is False:
            self.state = _OFF
            raise MXNetError("profiler: a torch.profiler was used while this one ran; what was measured since is lost")
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            torch.cuda.synchronize()
        profiler.stop()
        handle, path = tempfile.mkstemp(suffix='.json')
        os.close(handle)
        try:
            profiler.export_chrome_trace(path)
            trace = Trace(path)
        finally:
            os.unlink(path)
        self._base = trace.base
        self.statistics.add_trace(trace)
        self._events += trace.events
        self._take_own()

    def _take_own(self):
        own, self._own = self._own, []
        base = self._base or 0
        self._events += [{**event, 'ts': (when - base) / 1e3} for when, event in own]

    def _again(self):
        """Reads what was measured so far, while it goes on."""
        if self.state == _RUNNING:
            self._collect()
            self._begin()
        else:
            self._take_own()

    def note(self, event, nanoseconds=None):
        """An event of the program's own."""
        self._own.append((nanoseconds or time.time_ns(),
                          {'pid': os.getpid(), 'tid': threading.get_native_id(), **event}))

    # ------------------------------------------------------------------ answers
    def table(self, reset, as_json, sort_by, ascending):
        with self._lock:
            self._again()
            text = self.statistics.as_json(sort_by, ascending) if as_json else \
                self.statistics.as_table(sort_by, ascending)
            if reset:
                self.statistics = Statistics()
            return text

    def dump(self, finished):
        with self._lock:
            if finished:
                self.stop()
            self._again()
            self._append()
            if finished:
                self._file = None

    def _append(self):
        """Writes the events that are not in the file behind those that are; it can be read after each time."""
        path = self.config['filename']
        if self._file is None or self._file[0] != path:
            head = {'schemaVersion': 1, 'displayTimeUnit': 'ms', 'baseTimeNanoseconds': self._base or 0}
            with open(path, 'w', encoding='utf-8') as file:
                file.write(json.dumps(head)[:-1] + ', "traceEvents": [\n')
                position = file.tell()
                file.write(']}\n')
            self._file = path, position, False
        path, position, comma = self._file
        with open(path, 'r+', encoding='utf-8') as file:
            file.seek(position)
            for event in self._events:
                file.write((',\n' if comma else '') + json.dumps(event))
                comma = True
            position = file.tell()
            file.write('\n]}\n')
            file.truncate()
        self._events, self._file = [], (path, position, comma)

    def _write_rest(self):
        """What is not in the file yet, before another one takes its place or the program ends."""
        self._take_own()
        if self._events:
            self._append()
        self._file = None

    def at_exit(self):
        with self._lock:
            if self.state == _RUNNING:
                self.stop()
            self._write_rest()

    def breathe(self):
        """Called between steps: writes the file, if `continuous_dump` is asked for and it is time to."""
        now = time.monotonic()
        if self.config['continuous_dump'] and now - self._asked >= self.config['dump_period'] and self.active \
                and threading.get_ident() == self._thread:
            self.dump(False)
            self._asked = time.monotonic()


session = Session()
atexit.register(session.at_exit)
