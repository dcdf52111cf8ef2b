"""Folders of trials: the best one is kept, the others are removed."""
from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from typing import Any

from ..._files import jsons
from ..._files.paths import write_atomic
from ...base import MXNetError
from . import _locks
from ._optuna import optuna
from ._storage import folder_name

_outs: dict[str, str] = {}          # study -> the folder of this process's search


def set_out(study_name: str, out: str) -> None:
    """From now on the trials of a study have their folders here."""
    _outs[study_name] = out


def default_out(study_name: str) -> str:
    """Where a study has its files if nothing else is said."""
    return os.path.join('remx-tune', folder_name(study_name))


def path_of(out: str, number: int) -> str:
    return os.path.join(out, 'trials', f'{number:05d}')


def folder(trial: Any) -> str:
    """The folder for the files of a trial, made on the first call: for checkpoints and whatever else it writes.

    The folder of the best trial is kept, those of others are removed when they have finished.

        net.save_parameters(os.path.join(mx.contrib.tune.folder(trial), 'net.params'))
    """
    name = trial.study.study_name
    path = path_of(_outs.get(name) or default_out(name), trial.number)
    os.makedirs(path, exist_ok=True)
    return path


def settle(out: str, study: Any, trials: list[Any], keep_all: bool = False) -> None:
    """Says which trial is the best in `best.json`, then removes the folders of other trials that have finished.

    The storage decides, so it may be called by any process, at any time and twice.
    """
    states = optuna().trial.TrialState
    done = [t for t in trials if t.state == states.COMPLETE]
    if not done and not os.path.isdir(os.path.join(out, 'trials')):
        return
    os.makedirs(out, exist_ok=True)
    with _locks.FileLock(os.path.join(out, '.lock')):
        best = best_of(study, done)
        if best is not None:
            _say_best(out, study, best)
        if not keep_all:
            _remove(out, {t.number: t for t in trials}, None if best is None else best.number)


def best_of(study: Any, done: list[Any]) -> Any:
    """The best of trials that are complete, the earliest of equals; None if there is none."""
    sign = 1 if study.direction.name == 'MINIMIZE' else -1
    return min(done, key=lambda t: (sign * t.value, t.number), default=None)


def _say_best(out: str, study: Any, trial: Any) -> None:
    path = os.path.join(out, 'best.json')
    here = path_of(out, trial.number)
    said = {'study': study.study_name, 'trial': trial.number, 'value': trial.value, 'params': trial.params,
            'attributes': trial.user_attrs,
            'folder': os.path.relpath(here, out).replace(os.sep, '/') if os.path.isdir(here) else None}
    text = json.dumps(said, indent=1, default=str) + '\n'
    with contextlib.suppress(OSError), open(path, encoding='utf-8') as file:
        if file.read() == text:
            return
    write_atomic(path, [text.encode()])


def _remove(out: str, trials: dict[int, Any], best: int | None) -> None:
    where = os.path.join(out, 'trials')
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(where):
            if not re.fullmatch(r'\d{5,}', name) or int(name) == best:
                continue
            trial = trials.get(int(name))
            if trial is not None and trial.state.is_finished():
                shutil.rmtree(os.path.join(where, name), ignore_errors=True)


def best(out: str) -> dict[str, Any]:
    """The best trial of a study whose files are in `out`: a dict of trial, value, params and the folder of its files.

        found = mx.contrib.tune.best('remx-tune/train')
        net.load_parameters(os.path.join(found['folder'], 'net.params'))
    """
    path = os.path.join(out, 'best.json')
    try:
        with open(path, 'rb') as file:
            found = jsons.load(file.read(), path, 'the best trial of a study')
    except FileNotFoundError:
        raise MXNetError(f'{out} has no {os.path.basename(path)}: no trial of a study has finished there') from None
    if not isinstance(found, dict):
        raise MXNetError(f'{path}: expected an object with a trial, found {jsons.shown(found)}')
    name = found.get('folder')
    if name is not None:
        if not re.fullmatch(r'trials/\d+', str(name)):
            raise MXNetError(f'{path}: {name!r} is no folder of a trial')
        found['folder'] = os.path.join(out, name)
    return found
