"""A search from its settings to its report: what `run`, `remx tune` and `remx train --tune` share."""
from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from ..._names import kind_of
from ...base import MXNetError
from . import _checkpoints, _report
from ._optuna import make_pruner, optuna, quietly
from ._show import summary
from ._storage import Store
from ._supervisor import execute
from ._worker import Outcome, Search

NOT_FOUND = 'several processes find an objective by its file and name: define {} at the top level of a file{}'


def run(objective: Callable[[Any], Any], trials: int | None = 20, *, time_limit: float | None = None,
        direction: str = 'minimize', sampler: str = 'tpe', pruner: str = 'median', seed: int | None = None,
        jobs: int = 1, study: str | None = None, storage: str | None = None, out: str | None = None,
        backend: str = 'processes', keep_all: bool = False, keep_going: bool = False, report: bool = True,
        quiet: bool = False) -> Any:
    """Searches for the parameters with which `objective(trial)` returns the best number; returns Optuna's study.

    trials: how many the study has in all; a study that exists goes on.  None: until `time_limit`
    time_limit: seconds after which no trial begins
    direction: 'minimize' or 'maximize'
    sampler: tpe, random, cma-es, gp, qmc, nsga-ii or grid, with arguments as in 'tpe:multivariate=true'
    pruner: median, hyperband, halving, percentile, threshold, wilcoxon or none
    seed: of the sampler
    jobs: processes; the objective must be a function of a file then
    study: its name; that of the function unless given
    storage: a file (a journal, or SQLite if its name ends with .db) or the URL of a database; `out`/study.journal
        unless given
    out: folder for the report, logs and the files of the best trial; `remx-tune`/`study` unless given
    backend: 'processes', or 'ray' for tasks on a Ray cluster
    keep_all: the files of all trials are kept
    keep_going: an exception in the objective fails the trial, not the search
    report: write report.html, plots and logs for TensorBoard
    quiet: print nothing

        study = mx.contrib.tune.run(objective, trials=50, direction='maximize', jobs=2, seed=1)
        study.best_params
    """
    optuna()
    if os.environ.get('REMX_TUNE_IMPORTS'):
        raise MXNetError(f'{os.environ["REMX_TUNE_IMPORTS"]} starts a search when it is imported, and the processes of '
                         "a search import it: put the call of tune.run below if __name__ == '__main__':")
    if not callable(objective):
        raise TypeError(f'the objective must be a function of a trial, not {kind_of(objective)}')
    name = getattr(objective, '__name__', type(objective).__name__)
    try:
        file = inspect.getsourcefile(objective)
    except TypeError:
        file = None
    spec: dict[str, Any] = {}
    if jobs > 1 or backend == 'ray':
        if file is None or not os.path.exists(file) or getattr(objective, '__qualname__', '.') != name \
                or not name.isidentifier():
            raise MXNetError(NOT_FOUND.format(name, '' if name.isidentifier() else ', with def'))
        spec = {'file': os.path.abspath(file), 'function': name}
    study = study or (name if name.isidentifier() else 'study')
    made_by = f'{os.path.basename(file)}:{name}' if file and os.path.exists(file) else name
    search = Search(objective=spec, maker={'objective': made_by}, **settings(
        study=study, trials=trials, time_limit=time_limit, direction=direction, sampler=sampler, pruner=pruner,
        seed=seed, jobs=jobs, storage=storage, out=out, keep_all=keep_all, keep_going=keep_going))
    return finish(search, objective, backend=backend, report=report, quiet=quiet)[0]


def settings(*, study: str, storage: str | None, out: str | None, trials: int | None, time_limit: float | None,
             **others: Any) -> dict[str, Any]:
    """The fields of a Search, checked, with what was not given."""
    if others['direction'] not in ('minimize', 'maximize'):
        raise MXNetError(f"direction is 'minimize' or 'maximize', not {others['direction']!r}")
    if others['jobs'] < 1:
        raise MXNetError(f'jobs must be at least 1, not {others["jobs"]}')
    if trials is None and time_limit is None:
        raise MXNetError('a search without an end: give a number of trials or a time')
    if trials is not None and trials < 0:
        raise MXNetError(f'the number of trials must not be negative: {trials}')
    make_pruner(others['pruner'])               # a wrong name is said now
    out = out or _checkpoints.default_out(study)
    deadline = None if time_limit is None else time.time() + time_limit
    return {'study': study, 'storage': storage or os.path.join(out, 'study.journal'), 'out': out, 'trials': trials,
            'deadline': deadline, **others}


def finish(search: Search, objective: Any = None, *, backend: str = 'processes', report: bool = True,
           quiet: bool = False, raises: bool = True) -> tuple[Any, Outcome]:
    """Runs a search, says what it found and writes its report."""
    logs: list[Any] = []

    def watch(trials: Any, study: Any) -> None:
        if report:
            if not logs:
                logs.append(_report.board_log(search.out, study, search.value))
            if logs[0] is not None:
                logs[0](trials)
    store, study, outcome = execute(search, objective, backend=backend, quiet=quiet, watch=watch)
    trials = store.trials(study)
    if not quiet:
        for line in summary(search, study, trials, outcome.spent):
            print(line)
    if report and any(t.state.name == 'COMPLETE' for t in trials):
        written = _report.write_report(study, search.out, search.value)
        if not quiet:
            print(f'report: {written[0]}' + ('' if len(written) > 1 else f'; {_report.NO_PLOTS}'))
            if logs and logs[0] is not None:
                print(f'watch it with: tensorboard --logdir {os.path.join(search.out, "logs")}')
    sys.stdout.flush()
    if raises and outcome.cause is not None:
        raise outcome.cause
    if raises and outcome.error is not None:
        raise MXNetError(outcome.error)
    if raises and outcome.stopped:
        raise KeyboardInterrupt
    return study, outcome


def load(storage: str, study: str | None = None) -> Any:
    """The study in a file or a database: Optuna's, with all its methods.

        study = mx.contrib.tune.load('remx-tune/train/study.journal')
        study.trials_dataframe()

    study: its name, where there are several
    """
    package = optuna()
    if '://' not in storage and not os.path.exists(storage):
        raise MXNetError(f'there is no file {storage}')
    store = Store(storage, os.path.dirname(storage) if '://' not in storage else '.')
    names = [found.study_name for found in store.storage.get_all_studies()]
    if study is None:
        if len(names) != 1:
            raise MXNetError(f'{store.shown} has the studies {", ".join(names) or "(none)"}: say which')
        study = names[0]
    elif study not in names:
        raise MXNetError(f'{store.shown} has no study {study!r}; it has {", ".join(names) or "none"}')
    with quietly():
        return package.load_study(study_name=study, storage=store.storage)
