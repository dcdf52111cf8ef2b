"""Runs a search: in this process, in several, or on Ray."""
from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from ...base import MXNetError
from . import _checkpoints, _locks
from ._show import Between, Table
from ._storage import counts
from ._worker import POLL, ObjectiveError, Outcome, Search, find_objective, work

GRACE = 15.0            # seconds in which a worker has to stop
WORKER = 'import sys; from mxnet.contrib.tune._worker import main; sys.exit(main())'
MOST_LOST = 3           # processes in succession that end without a finished trial


def search_here(search: Search, store: Any, study: Any, objective: Any, table: Table, watch: Any) -> Outcome:
    """In this process."""
    outcome = Outcome()
    end = threading.Event()

    def refresh() -> None:
        while not end.wait(POLL):
            with contextlib.suppress(Exception), lock:
                table.update(store.trials(study), force=False)
    lock = threading.Lock()
    live = table._live
    if live:
        painter = threading.Thread(target=refresh, daemon=True)
        painter.start()

    def after() -> None:
        trials = store.trials(study)
        with lock:
            table.update(trials)
        watch(trials)
    with contextlib.ExitStack() as stack:
        if live:
            stack.enter_context(contextlib.redirect_stdout(Between(table, sys.stdout)))       # type: ignore[type-var]
            stack.enter_context(contextlib.redirect_stderr(Between(table, sys.stderr)))       # type: ignore[type-var]
        try:
            outcome.add(work(search, store, study, objective, after))
        except KeyboardInterrupt:
            outcome.stopped = True
        except ObjectiveError as error:
            outcome.error, outcome.cause = error.text, error.__cause__
        finally:
            end.set()
            if live:
                painter.join()
            table.update(store.trials(study))
            table.clear()
    return outcome


class Process:
    """A worker in a process of its own."""

    def __init__(self, number: int, search: Search) -> None:
        self.log = os.path.join(search.out, f'worker-{number}.log')
        self.number, self.error = number, None
        self.spent: dict[str, float] = {}
        self._said: queue.Queue[Any] = queue.Queue()
        with open(self.log, 'ab') as log:
            self._process = subprocess.Popen([sys.executable, '-c', WORKER], stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, stderr=log, start_new_session=True,
                                             env=_environment())
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            # not as an argument: the URL of a storage may have a password
            self._process.stdin.write(search.to_json().encode() + b'\n')
            self._process.stdin.flush()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):
                self._said.put(json.loads(line))

    def ended(self) -> int | None:
        """The exit status, or None while it runs; its messages have been read then."""
        status = self._process.poll()
        if status is not None:
            self._reader.join(5)
        while not self._said.empty():
            said = self._said.get()
            self.error = said.get('error', self.error)
            self.spent = said.get('spent', self.spent)
        return status

    def stop(self) -> None:
        """Asks it to stop: its trial is marked as stopped."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT if os.name == 'posix' else signal.SIGTERM)

    def finish(self, until: float) -> None:
        """Waits, then kills."""
        try:
            self._process.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.ended()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                stream.close()      # type: ignore[union-attr]  # they are pipes

    def tail(self) -> str:
        """The last lines of its log."""
        with open(self.log, encoding='utf-8', errors='replace') as file:
            return ''.join(file.readlines()[-15:]).rstrip()


def _environment() -> dict[str, str]:
    """Workers find the package where this process does."""
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    path = [here, *filter(None, os.environ.get('PYTHONPATH', '').split(os.pathsep))]
    found = {**os.environ, 'PYTHONPATH': os.pathsep.join(dict.fromkeys(path)), 'PYTHONUNBUFFERED': '1'}
    return found


def search_with_processes(search: Search, store: Any, study: Any, table: Table, watch: Any) -> Outcome:
    """In several processes of this machine."""
    outcome, workers, number, lost = Outcome(), [], 0, 0        # type: ignore[var-annotated]
    finished = 0
    started = time.time()
    try:
        while True:
            trials = store.trials(study)
            table.update(trials, force=False)
            watch(trials)
            done = sum(t.state.is_finished() and counts(t) for t in trials)
            for worker in list(workers):
                status = worker.ended()
                if status is None:
                    continue
                workers.remove(worker)
                outcome.add(worker.spent)
                worker.finish(0)
                if worker.error is not None:
                    outcome.error = worker.error
                elif status:
                    store.recover(study)
                    lost = 0 if done > finished else lost + 1
                    finished = done
                    how = f'was killed by signal {-status}' if status < 0 else f'ended with status {status}'
                    table.clear()
                    print(f'remx tune: worker {worker.number} {how}; its trial is lost, the others go on',
                          file=sys.stderr, flush=True)
                    if lost >= MOST_LOST:
                        outcome.error = (f'{lost} processes in succession ended before a trial was finished. The last '
                                         f'lines of {worker.log}:\n{worker.tail()}')
            if outcome.error is not None:
                break
            left = search.left(study, trials)
            wanted = search.jobs if left is None else min(search.jobs, left + sum(
                t.state.name == 'RUNNING' for t in trials))
            if left == 0 or search.late():
                if not workers:
                    break
            else:
                while len(workers) < wanted:
                    workers.append(Process(number % search.jobs, search))
                    number += 1
            time.sleep(POLL if time.time() - started > 2 else 0.05)
    except KeyboardInterrupt:
        outcome.stopped = True
    finally:
        _end(workers, outcome)
        store.recover(study)
        trials = store.trials(study)
        _checkpoints.settle(search.out, study, trials, search.keep_all)
        table.update(trials)
        table.clear()
        watch(trials)
    return outcome


def _end(workers: list[Any], outcome: Outcome) -> None:
    until = time.monotonic() + GRACE
    try:
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.finish(until)
    except KeyboardInterrupt:           # a second one: at once
        outcome.stopped = True
        for worker in workers:
            worker.finish(0)
    for worker in workers:
        outcome.add(worker.spent)
        outcome.error = outcome.error or worker.error


@contextlib.contextmanager
def terminable():
    """SIGTERM ends a search as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def execute(search: Search, objective: Any = None, *, backend: str = 'processes', quiet: bool = False,
            watch: Any = None) -> tuple[Any, Any, Outcome]:
    """Runs a search to its end -> (store, study, outcome)."""
    os.makedirs(search.out, exist_ok=True)
    store, study = search.open()
    with store.turn:
        store.recover(study)
        _locks.forget_dead(store.folder)
    for params in search.first:
        study.enqueue_trial(params, skip_if_exists=True)
    trials = store.trials(study)
    _checkpoints.settle(search.out, study, trials, search.keep_all)
    table = Table(search, study, quiet)
    table.begin(trials)

    def seen(trials: list[Any]) -> None:
        if watch is not None:
            watch(trials, study)
    with terminable():
        if backend == 'ray':
            from ._ray import search_on_ray
            outcome = search_on_ray(search, store, study, table, seen)
        elif backend != 'processes':
            raise MXNetError(f'there is no backend {backend!r}; there are processes and ray')
        elif search.jobs > 1:
            outcome = search_with_processes(search, store, study, table, seen)
        else:
            outcome = search_here(search, store, study, objective or find_objective(search.objective), table, seen)
    return store, study, outcome
