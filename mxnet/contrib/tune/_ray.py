"""`--backend ray`: each trial is a task on a Ray cluster.

RAY_ADDRESS names the cluster; without it there is one of this machine's own, on the loopback interface, which ends with
the search.  Tasks reach the study through an actor beside this process, so that the storage has to be reachable from
here only; the files of the best trial travel back.
"""
from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
from dataclasses import asdict
from typing import Any

from ...base import MXNetError
from . import _checkpoints, _locks
from ._optuna import make_pruner, make_sampler, optuna, quietly
from ._storage import KILLED, STOPPED, Store
from ._worker import POLL, ObjectiveError, Outcome, Search, begin, find_objective, perform

MOST_BYTES = 2 << 30            # of the files of one trial


class Keeper:
    """The actor that has the storage."""

    def __init__(self, place: str, out: str) -> None:
        self._store = Store(place, out)

    def call(self, name: str, args: Any, kwargs: Any) -> tuple[bool, Any]:
        """(whether it went well, result or exception) of a method of the storage."""
        try:
            return True, getattr(self._store.storage, name)(*args, **kwargs)
        except Exception as error:
            return False, error


def remote_storage(ray: Any, keeper: Any) -> Any:
    """A storage of Optuna whose methods run in the Keeper."""
    base: Any = optuna().storages.BaseStorage

    def forward(name: str) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            fine, found = ray.get(keeper.call.remote(name, args, kwargs))
            if not fine:
                raise found
            return found
        method.__name__ = name
        return method
    names = [n for n in vars(base) if not n.startswith('_') and callable(getattr(base, n))]
    methods: dict[str, Any] = {n: forward(n) for n in names}
    methods['remove_session'] = lambda self: None
    return type('RemoteStorage', (base,), methods)()


class RemoteStore:
    """What a task needs of a Store."""

    def __init__(self, storage: Any) -> None:
        self.storage = storage

    fail = Store.fail

    def trials(self, study: Any) -> list[Any]:
        return self.storage.get_all_trials(study._study_id, deepcopy=False)


def run_trial(fields: dict[str, Any], trial_id: int, keeper: Any) -> dict[str, Any]:
    """A task: one trial.  -> {'spent': seconds in the objective, 'all': seconds, 'error': text, 'files': those of a
    best one}"""
    import ray
    start = time.perf_counter()
    search = Search(**fields)
    spent = 0.0
    search.out = tempfile.mkdtemp(prefix='remx-tune-')
    try:
        storage = remote_storage(ray, keeper)
        with quietly():
            study = optuna().load_study(study_name=search.study, storage=storage,
                                        sampler=make_sampler(search.sampler, search.seed),
                                        pruner=make_pruner(search.pruner))
        _checkpoints.set_out(search.study, search.out)
        objective = find_objective(search.objective)
        with quietly():
            trial = optuna().trial.Trial(study, trial_id)

        def timed(trial: Any) -> Any:
            nonlocal spent
            began = time.perf_counter()
            try:
                return objective(trial)
            finally:
                spent += time.perf_counter() - began
        store = RemoteStore(storage)
        try:
            perform(search, store, study, trial, timed, settle=False)
        except ObjectiveError as error:
            return {'error': error.text}
        best = _checkpoints.best_of(study, [t for t in store.trials(study) if t.state.name == 'COMPLETE'])
        wanted = search.keep_all or best is not None and best.number == trial.number
        files = _read_files(_checkpoints.path_of(search.out, trial.number)) if wanted else {}
        return {'spent': spent, 'all': time.perf_counter() - start, 'files': files, 'number': trial.number}
    finally:
        shutil.rmtree(search.out, ignore_errors=True)


def _read_files(folder: str) -> dict[str, bytes]:
    found, size = {}, 0
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            size += os.path.getsize(path)
            if size > MOST_BYTES:
                raise MXNetError(f'the files of a trial have more than {MOST_BYTES >> 30} GiB; write them to a place '
                                 'that all machines share instead of tune.folder(trial)')
            with open(path, 'rb') as file:
                found[os.path.relpath(path, folder).replace(os.sep, '/')] = file.read()
    return found


def _write_files(out: str, number: int, files: dict[str, bytes]) -> None:
    """They appear together."""
    path = _checkpoints.path_of(out, number)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    folder = tempfile.mkdtemp(prefix='.', dir=os.path.dirname(path))
    for name, data in files.items():
        parts = name.split('/')
        if '..' in parts or os.path.isabs(name):
            raise MXNetError(f'a trial has sent a file with the name {name!r}')
        inner = os.path.join(folder, *parts)
        os.makedirs(os.path.dirname(inner), exist_ok=True)
        with open(inner, 'wb') as file:
            file.write(data)
    os.chmod(folder, 0o755)
    shutil.rmtree(path, ignore_errors=True)
    os.rename(folder, path)


def search_on_ray(search: Search, store: Any, study: Any, table: Any, watch: Any) -> Outcome:
    """Keeps as many tasks under way as the search has jobs."""

    from ..._dist import cluster, ray_launcher
    cluster.MISSING = "--backend ray needs Ray, which is not installed: pip install 'remx[ray]'"
    ray = cluster.ray()
    outcome = Outcome()
    # tasks find the package, and the file, where this process does
    os.environ['PYTHONPATH'] = os.pathsep.join(dict.fromkeys(os.path.abspath(p) for p in sys.path if p))
    with contextlib.ExitStack() as stack:
        if not ray.is_initialized():
            stack.enter_context(ray_launcher.cluster(max(search.jobs, 1)))
        owner = stack.enter_context(_locks.Presence(store.folder)).name
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=False)
        keeper = ray.remote(num_cpus=0, scheduling_strategy=here)(Keeper).remote(
            store.place if '://' in store.place else os.path.abspath(store.place), os.path.abspath(search.out))
        task = ray.remote(num_cpus=1, num_gpus=search.gpus, max_retries=0)(run_trial)
        tasks: dict[Any, int] = {}
        try:
            _drive(search, store, study, table, watch, outcome, ray, task, keeper, owner, tasks)
        except KeyboardInterrupt:
            outcome.stopped = True
        finally:
            for reference, trial_id in tasks.items():
                with contextlib.suppress(Exception):
                    ray.cancel(reference, force=True)
                store.fail(trial_id, STOPPED)
            with contextlib.suppress(Exception):
                ray.kill(keeper)
            trials = store.trials(study)
            _checkpoints.settle(search.out, study, trials, search.keep_all)
            table.update(trials)
            table.clear()
            watch(trials)
    return outcome


def _drive(search, store, study, table, watch, outcome, ray, task, keeper, owner, tasks) -> None:
    fields = asdict(search)
    # what a task is sent is visible to the cluster; it reaches the storage through the keeper
    fields['storage'] = ''
    lost = 0
    while outcome.error is None:
        while len(tasks) < search.jobs:
            trial = begin(search, store, study, owner)
            if trial is None:
                break
            tasks[task.remote(fields, trial._trial_id, keeper)] = trial._trial_id
        if not tasks:
            return
        ready, _ = ray.wait(list(tasks), timeout=POLL)
        for reference in ready:
            trial_id = tasks.pop(reference)
            try:
                said = ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                store.fail(trial_id, f'{type(error.cause).__name__}: {error.cause}'[:500])
                outcome.error = str(error.cause or error)
                continue
            except ray.exceptions.RayError as error:
                store.fail(trial_id, KILLED)
                lost += 1
                table.clear()
                print(f'remx tune: a task was lost ({str(error).splitlines()[0]}); the others go on', file=sys.stderr,
                      flush=True)
                if lost > 3 * search.jobs:
                    outcome.error = 'too many tasks were lost'
                continue
            if 'error' in said:
                outcome.error = said['error']
                continue
            lost = 0
            outcome.add({'trials': said['spent'], 'all': said['all']})
            if said['files']:
                _write_files(search.out, said['number'], said['files'])
        trials = store.trials(study)
        if ready:
            _checkpoints.settle(search.out, study, trials, search.keep_all)
        table.update(trials, force=bool(ready))
        watch(trials)
