"""`remx tune`: searches for hyper-parameters of any function of a file."""
from __future__ import annotations

import argparse
import ast
import difflib
import os
import re
import sys
from typing import Any

from ..base import MXNetError

EXPLAIN = """Calls a function `def objective(trial)` of a file repeatedly. The function asks the trial for
parameters; the search looks for those with which it returns the smallest number (--maximize: the largest).

    remx tune train.py                      the function `objective` of train.py
    remx tune train.py:search --jobs 2 --trials 100 --sampler cma-es --pruner hyperband
    remx tune train.py -- --data DIR        arguments after -- become sys.argv of the file

To continue a study that was stopped or killed, run the same command again. Ctrl-C stops and shows the best result so
far. The page "Tuning" of the documentation has complete programs."""

UNITS = {'s': 1, 'm': 60, 'h': 3600, 'd': 86400, '': 1}


def seconds(text: str) -> float:
    """`90`, `90s`, `15m`, `2h`, `1h30m`."""
    found = re.findall(r'(\d+(?:\.\d+)?)([smhd]?)', text)
    if not found or ''.join(n + u for n, u in found) != text.replace(' ', ''):
        raise argparse.ArgumentTypeError(f'{text!r} is no time; it looks like 90s, 15m, 2h or 1h30m')
    return sum(float(number) * UNITS[unit] for number, unit in found)


def add_search_arguments(parser: Any, trials: int, seed: bool) -> None:
    """The options that `remx tune` and `remx train --tune` share."""
    def count(text):
        number = int(text)
        if number < 0:
            raise argparse.ArgumentTypeError(f'must not be negative: {text}')
        return number
    count.__name__ = 'int'

    def jobs(text):
        number = int(text)
        if number < 1:
            raise argparse.ArgumentTypeError(f'must be at least 1, not {text}')
        return number
    jobs.__name__ = 'int'
    add = parser.add_argument
    add('--trials', type=count, default=None, metavar='N',
        help=f'number of trials of the study in total (default: {trials}; unlimited with --time)')
    add('--time', type=seconds, metavar='TIME', help='no trial begins after this time: 90s, 15m, 1h30m')
    add('--jobs', type=jobs, default=1, metavar='N', help='processes, or tasks of Ray at a time')
    add('--sampler', default='tpe', metavar='NAME',
        help='tpe, random, cma-es, gp, qmc, nsga-ii or grid; with arguments: tpe:multivariate=true')
    add('--pruner', default='median', metavar='NAME',
        help='median, hyperband, halving, percentile, threshold, wilcoxon or none; median:n_warmup_steps=3')
    if seed:
        add('--seed', type=int, help='of the sampler')
    add('--study', metavar='NAME', help='name of the study in the storage')
    add('--storage', metavar='FILE|URL', help='a journal, an SQLite file (.db) or postgresql://user@host/database '
                                              '(default: OUT/study.journal)')
    add('--backend', choices=['processes', 'ray'], default='processes',
        help='where trials run: here, or as tasks on the Ray cluster of RAY_ADDRESS (without it, on a local cluster)')
    add('--gpus', type=float, default=0, metavar='N', help='GPUs that a trial takes, with --backend ray')
    add('--keep-all', action='store_true', help='keep the files of all trials, not only of the best')
    add('--keep-going', action='store_true', help='continue the search when a trial raises an error')
    add('--no-report', dest='report', action='store_false', help='no report, plots and logs for TensorBoard')


def add_arguments(parser: Any) -> None:
    parser.add_argument('file', metavar='FILE[:FUNCTION]',
                        help='a Python file, and a function of it (default: objective)')
    parser.add_argument('--maximize', action='store_true', help='maximize instead of minimize')
    add_search_arguments(parser, 20, seed=True)
    parser.add_argument('--out', help='folder for the study, its report and the files of the best trial '
                                      '(default: remx-tune/STUDY)')
    parser.add_argument('--quiet', action='store_true', help='print only the result')


def given(options: Any, trials: int) -> dict[str, Any]:
    """The settings of a search from options."""
    return {'trials': options.trials if options.trials is not None or options.time is not None else trials,
            'time_limit': options.time, 'jobs': options.jobs, 'sampler': options.sampler, 'pruner': options.pruner,
            'storage': options.storage, 'keep_all': options.keep_all, 'keep_going': options.keep_going,
            'gpus': options.gpus}


def tune(options: Any) -> int:
    """Searches; the exit status is 0, 1 after an error, 130 after Ctrl-C."""
    from ..contrib.tune import _optuna, _run
    from ..contrib.tune._worker import Search
    try:
        _optuna.optuna()
        _optuna.make_sampler(options.sampler, options.seed)
        file, function = find(options.file)
        study = options.study or (os.path.splitext(os.path.basename(file))[0]
                                  + ('' if function == 'objective' else f'-{function}'))
        spec = {'file': os.path.abspath(file), 'function': function, 'argv': options.behind}
        search = Search(objective=spec, maker={'objective': f'{os.path.basename(file)}:{function}'}, **_run.settings(
            study=study, out=options.out, direction='maximize' if options.maximize else 'minimize', seed=options.seed,
            **given(options, 20)))
        return conclude(search, options, 'remx tune')
    except (MXNetError, OSError) as error:
        print(f'remx tune: {error}', file=sys.stderr)
        return 1


def conclude(search: Any, options: Any, command: str) -> int:
    """Runs a search and returns the exit status of the command."""
    from ..contrib.tune import _run
    os.environ.setdefault('MPLBACKEND', 'Agg')
    if not options.quiet:
        limit = [f'{search.trials} trials'] if search.trials is not None else []
        limit += [f'{options.time:g} seconds'] if options.time is not None else []
        where = 'on Ray' if options.backend == 'ray' else 'in this process' if search.jobs == 1 else 'processes'
        print(f'study {search.study} in {_shown(search.storage)}: {search.direction}, {" or ".join(limit)}, '
              f'{search.sampler} and {search.pruner}, {f"{search.jobs} " if search.jobs > 1 else ""}{where}',
              flush=True)
    study, outcome = _run.finish(search, backend=options.backend, report=options.report, quiet=options.quiet,
                                 raises=False)
    if options.quiet:
        from ..contrib.tune._show import summary
        print('\n'.join(summary(search, study, study.get_trials(deepcopy=False))))
    if outcome.error is not None:
        print(f'{command}: {outcome.error}', file=sys.stderr)
        return 1
    if outcome.stopped:
        print(f'{command}: stopped; the same command goes on', file=sys.stderr)
        return 130
    return 0 if any(t.state.name == 'COMPLETE' for t in study.get_trials(deepcopy=False)) or search.trials == 0 else 1


def _shown(storage: str) -> str:
    """A storage without its password."""
    return re.sub(r'(://[^:/@]*):[^@/]*@', r'\1:***@', storage)


def find(text: str) -> tuple[str, str]:
    """(file, function) of FILE[:FUNCTION]; an error with the nearest names if it is not there."""
    file, colon, function = text.rpartition(':')
    if not colon or os.path.exists(text) or not function.isidentifier():
        file, function = text, 'objective'
    if os.path.isdir(file):
        raise MXNetError(f'{file} is a folder; give a Python file')
    if not os.path.exists(file):
        folder = os.path.dirname(file) or '.'
        there = [n for n in (os.listdir(folder) if os.path.isdir(folder) else []) if n.endswith('.py')]
        close = difflib.get_close_matches(os.path.basename(file), there, 1)
        near = f'; did you mean {os.path.join(os.path.dirname(file), close[0])}?' if close else ''
        raise MXNetError(f'there is no file {file}{near}')
    with open(file, 'rb') as source:
        try:
            tree = ast.parse(source.read(), file)
        except (SyntaxError, ValueError) as error:
            raise MXNetError(f'{file} is no Python that can be read: {error}') from None
    names = [n for node in ast.walk(tree) for n in _defined(node)]
    if function not in names:
        functions = [n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        close = difflib.get_close_matches(function, functions, 1)
        raise MXNetError(f'{file} has no function {function!r}' + (f'; did you mean {file}:{close[0]}?' if close else
                         f'; it has {", ".join(functions)}' if functions else '; it has no functions'))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            plain = len(node.args.posonlyargs) + len(node.args.args)
            needed = plain - len(node.args.defaults)
            if needed > 1 or plain < 1 and node.args.vararg is None:
                raise MXNetError(f'{file}, line {node.lineno}: {function} takes {plain} arguments; an objective takes '
                                 'one, the trial')
    return file, function


def _defined(node: ast.AST) -> list[str]:
    """Names that a statement may define at the top level: functions, classes, assignments, imports."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [t.id for t in node.targets if isinstance(t, ast.Name)]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [a.asname or a.name for a in node.names]
    return []
