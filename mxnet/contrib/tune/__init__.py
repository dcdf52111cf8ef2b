"""Search for hyper-parameters on Optuna: `pip install "remx[tune]"`.

    def objective(trial):
        lr = trial.suggest_float('lr', 1e-4, 1e-1, log=True)
        ...
        for epoch in range(10):
            ...
            mx.contrib.tune.report(trial, accuracy, epoch)      # raises where it is not worth going on
        return accuracy

    study = mx.contrib.tune.run(objective, trials=50, direction='maximize')
    study.best_params

`remx tune train.py` does the same with an objective in a file, `remx train --tune` with the options of `remx train`.
"""
from __future__ import annotations

from ..._names import suggest_names as _suggest_names
from ._callbacks import Diverged, FitCallback, Reporter, TuneHandler, report
from ._checkpoints import best, folder
from ._report import importances, write_report
from ._run import load, run
from ._space import Range, parse_space, suggest

__all__ = ['Diverged', 'FitCallback', 'Range', 'Reporter', 'TuneHandler', 'best', 'folder', 'importances', 'load',
           'parse_space', 'report', 'run', 'suggest', 'write_report']

_suggest_names(globals())
