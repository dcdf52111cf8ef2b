"""The table of a search in a terminal: finished trials as lines, those that run below them, redrawn in place."""
from __future__ import annotations

import re
import shutil
import sys
import time
from typing import Any, TextIO

from . import _checkpoints
from ._optuna import optuna
from ._storage import WHY

REDRAW = 0.2            # seconds
_CONTROL = re.compile(r'[\x00-\x1f\x7f-\x9f]')


def plain(value: Any) -> str:
    """A value of a study as text.  Others may have written it: nothing in it controls the terminal."""
    text = f'{value:.5g}' if isinstance(value, float) else str(value)
    return _CONTROL.sub('?', text)


def described(params: dict[str, Any]) -> str:
    return ' '.join(f'{plain(k)}={plain(v)}' for k, v in params.items())


def duration(seconds: float) -> str:
    if seconds < 100:
        return f'{seconds:.1f} s'
    minutes, rest = divmod(int(seconds), 60)
    return f'{minutes // 60}:{minutes % 60:02d}:{rest:02d}' if minutes >= 60 else f'{minutes}:{rest:02d} min'


class Table:
    """Shows what has changed since the last time it was asked to."""

    def __init__(self, search: Any, study: Any, quiet: bool = False, file: TextIO | None = None) -> None:
        self._search, self._study, self._quiet = search, study, quiet
        self._file = file or sys.stdout
        self._live = not quiet and self._file.isatty()
        self._shown: set[int] = set()
        self._lines = 0
        self._start = self._drawn = time.monotonic()
        self._best: Any = None

    def begin(self, trials: list[Any]) -> None:
        """Trials of earlier runs are not shown again."""
        self._shown = {t.number for t in trials if t.state.is_finished()}
        done = [t for t in trials if t.state.name == 'COMPLETE']
        self._best = _checkpoints.best_of(self._study, done)

    def update(self, trials: list[Any], force: bool = True) -> None:
        """Shows trials that have finished, and, in a terminal, those that run."""
        new = [t for t in trials if t.state.is_finished() and t.number not in self._shown]
        now = time.monotonic()
        if not new and not force and now - self._drawn < REDRAW:
            return
        self._drawn = now
        new.sort(key=lambda t: t.datetime_complete or t.datetime_start)
        lines = []
        for trial in new:
            self._shown.add(trial.number)
            if trial.state.name == 'COMPLETE':
                self._best = _checkpoints.best_of(self._study, [t for t in (self._best, trial) if t is not None])
            lines.append(self._finished(trial))
        if self._quiet:
            return
        if not self._live:
            for line in lines:
                print(line, file=self._file, flush=True)
            return
        self.clear()
        width = shutil.get_terminal_size().columns
        for line in lines:
            print(line[:width - 1], file=self._file)
        self._draw(trials, width)

    def _finished(self, trial: Any) -> str:
        best = self._best is not None and self._best.number == trial.number
        took = (trial.datetime_complete - trial.datetime_start).total_seconds() if trial.datetime_complete and \
            trial.datetime_start else 0.0
        state = {'COMPLETE': 'best' if best else 'done', 'PRUNED': 'pruned', 'FAIL': 'failed'}[trial.state.name]
        value = trial.value if trial.state.name == 'COMPLETE' else _last(trial)
        shown = '' if value is None else plain(float(value))
        why = trial.system_attrs.get(WHY) if trial.state.name == 'FAIL' else None
        return (f'trial {trial.number:4d}  {state:6s}  {shown:>10s}  {duration(took):>8s}  {described(trial.params)}'
                + (f'  ({plain(why)})' if why else '')).rstrip()

    def _draw(self, trials: list[Any], width: int) -> None:
        states = optuna().trial.TrialState
        count = {s: sum(t.state == s for t in trials) for s in states}
        lines = []
        for trial in trials:
            if trial.state == states.RUNNING:
                step = max(trial.intermediate_values, default=None)
                where = '' if step is None else f'step {step}: {plain(float(trial.intermediate_values[step]))}'
                lines.append(f'trial {trial.number:4d}  runs    {where:>20s}  {described(trial.params)}')
        best = '' if self._best is None else f', best {plain(self._best.value)} of trial {self._best.number}'
        limit = '' if self._search.trials is None else f' of {self._search.trials}'
        lines.append(f'{count[states.COMPLETE]} done, {count[states.PRUNED]} pruned, {count[states.FAIL]} failed{limit}'
                     f'{best}, {duration(time.monotonic() - self._start)}')
        for line in lines:
            print(line[:width - 1], file=self._file)
        self._lines = len(lines)
        self._file.flush()

    def clear(self) -> None:
        """Makes room for other text."""
        if self._lines:
            self._file.write(f'\x1b[{self._lines}F\x1b[J')
            self._file.flush()
            self._lines = 0


class Between:
    """A stream for what an objective prints while the table is live: it appears above the table."""

    def __init__(self, table: Table, inner: TextIO) -> None:
        self._table, self._inner = table, inner

    def write(self, text: str) -> int:
        self._table.clear()
        return self._inner.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _last(trial: Any) -> float | None:
    values = trial.intermediate_values
    return values[max(values)] if values else None


def summary(search: Any, study: Any, trials: list[Any], spent: dict[str, float] | None = None) -> list[str]:
    """What is said at the end."""
    states = optuna().trial.TrialState
    done = [t for t in trials if t.state == states.COMPLETE]
    pruned = sum(t.state == states.PRUNED for t in trials)
    failed = sum(t.state == states.FAIL for t in trials)
    lines = [f'{len(done)} trials done, {pruned} pruned, {failed} failed']
    best = _checkpoints.best_of(study, done)
    if best is None:
        lines.append('no trial has finished: there is no best one')
    else:
        lines.append(f'best: trial {best.number} with {plain(best.value)}')
        lines += [f'  {plain(k)} = {plain(v)}' for k, v in best.params.items()]
        folder = _checkpoints.path_of(search.out, best.number)
        if _has_files(folder):
            lines.append(f'its files: {folder}')
    if spent and spent.get('trials'):
        share = 100 * (spent['all'] - spent['trials']) / spent['trials']
        lines.append(f'the search itself took {share:.1f} % of the time of its trials')
    return lines


def _has_files(folder: str) -> bool:
    import os
    return os.path.isdir(folder) and bool(os.listdir(folder))
