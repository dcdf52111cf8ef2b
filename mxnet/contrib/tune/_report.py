"""What a search has found, as pictures, as a page and in TensorBoard."""
from __future__ import annotations

import base64
import contextlib
import html
import io
import os
import warnings
from typing import Any

from ..._files.paths import write_atomic
from . import _checkpoints
from ._optuna import optuna, quietly
from ._show import duration, plain
from ._storage import WHY

PLOTS = {'history': 'History', 'importances': 'Importances', 'parallel': 'Parallel coordinates', 'slices': 'Slices',
         'curves': 'Learning curves'}
NO_PLOTS = 'pip install "remx[plot]" for plots'
MOST_ROWS = 2000            # of the table on the page


def plots(study: Any, value: str = 'value') -> dict[str, bytes]:
    """The plots of a study as PNG, by name; those for which there are not enough trials are left out."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return {}
    plt.draw_if_interactive()           # loads the backend, whose settings have to stay
    # Optuna sets a style for the whole process
    with quietly(), warnings.catch_warnings(), plt.rc_context():
        warnings.simplefilter('ignore')
        from optuna.visualization import matplotlib as draw
        study = _for_plots(study)
        found = {}
        names = sorted({p for t in study.trials if t.state.name == 'COMPLETE' for p in t.params})
        makers: dict[str, Any] = {
            'history': lambda: draw.plot_optimization_history(study, target_name=value),
            'importances': lambda: draw.plot_param_importances(study, target_name=value),
            'parallel': lambda: draw.plot_parallel_coordinate(study, target_name=value),
            'slices': lambda: draw.plot_slice(study, params=names, target_name=value),
            'curves': lambda: draw.plot_intermediate_values(study),
        }
        done = sum(t.state.name == 'COMPLETE' for t in study.trials)
        for name, make in makers.items():
            if done < (2 if name != 'history' else 1) or not names and name in ('importances', 'parallel', 'slices') \
                    or name == 'curves' and not any(t.intermediate_values for t in study.trials):
                continue
            before = set(plt.get_fignums())
            try:
                # ValueError, RuntimeError: trials that do not differ
                with contextlib.suppress(ValueError, RuntimeError, ZeroDivisionError, IndexError):
                    axes = make()
                    figure = (axes.flat[0] if hasattr(axes, 'flat') else axes).figure
                    if name == 'slices':
                        figure.set_size_inches(max(6, 3 * len(names)), 4)
                    elif name == 'curves' and axes.get_legend() is not None and len(study.trials) > 12:
                        axes.get_legend().remove()
                    data = io.BytesIO()
                    figure.savefig(data, format='png', dpi=100, bbox_inches='tight', metadata={'Software': None})
                    found[name] = data.getvalue()
            finally:
                for number in set(plt.get_fignums()) - before:
                    plt.close(number)
    return found


def _for_plots(study: Any) -> Any:
    """A copy in memory with names that matplotlib does not read as formulas."""
    package = optuna()
    copy = package.create_study(directions=study.directions, study_name=study.study_name)

    def safe(text: Any) -> Any:
        return text.replace('$', r'\$') if isinstance(text, str) else text
    for trial in study.get_trials():
        if not trial.state.is_finished():
            continue
        params, distributions = {}, {}
        for name, distribution in trial.distributions.items():
            if isinstance(distribution, package.distributions.CategoricalDistribution):
                distribution = package.distributions.CategoricalDistribution(tuple(map(safe, distribution.choices)))
            params[safe(name)], distributions[safe(name)] = safe(trial.params[name]), distribution
        trial.params, trial.distributions = params, distributions
        copy.add_trial(trial)
    return copy


def importances(study: Any) -> dict[str, float]:
    """How much of the differences between trials each parameter explains; {} if there are too few trials."""
    with quietly(), contextlib.suppress(ValueError, RuntimeError, ZeroDivisionError, ImportError):
        if sum(t.state.name == 'COMPLETE' for t in study.trials) > 1:
            return optuna().importance.get_param_importances(study)
    return {}


def write_report(study: Any, out: str, value: str = 'value') -> list[str]:
    """Writes `report.html`, which needs no other file, and the plots as PNG; returns their names."""
    os.makedirs(out, exist_ok=True)
    pictures = plots(study, value)
    written = []
    for name, data in pictures.items():
        path = os.path.join(out, f'{name}.png')
        write_atomic(path, [data])
        written.append(path)
    path = os.path.join(out, 'report.html')
    write_atomic(path, [_page(study, pictures, value).encode()])
    return [path, *written]


_STYLE = """body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em;
color: #222 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums } td, th { padding: .2em .8em; text-align: left;
border-bottom: 1px solid #ddd } td.n { text-align: right } tr.best { background: #e6f4ea }
tr.FAIL, tr.PRUNED { color: #777 }
img { max-width: 100%; margin: .5em 0 } h2 { margin-top: 1.6em } .wide { overflow-x: auto }"""


def _page(study: Any, pictures: dict[str, bytes], value: str) -> str:
    def text(thing: Any) -> str:
        return html.escape(plain(thing))
    trials = study.get_trials(deepcopy=False)
    done = [t for t in trials if t.state.name == 'COMPLETE']
    best = _checkpoints.best_of(study, done)
    names = sorted({p for t in trials for p in t.params})
    parts = [f'<h1>Study {text(study.study_name)}</h1><p>{len(done)} trials done, '
             f'{sum(t.state.name == "PRUNED" for t in trials)} pruned, '
             f'{sum(t.state.name == "FAIL" for t in trials)} failed; {study.direction.name.lower()} {text(value)}.</p>']
    if best is not None:
        rows = ''.join(f'<tr><th>{text(k)}</th><td>{text(v)}</td></tr>' for k, v in best.params.items())
        parts.append(f'<h2>Best: trial {best.number}</h2><table><tr><th>{text(value)}</th>'
                     f'<td>{text(best.value)}</td></tr>{rows}</table>')
    for name, data in pictures.items():
        parts.append(f'<h2>{PLOTS[name]}</h2><img alt="{PLOTS[name]}" '
                     f'src="data:image/png;base64,{base64.b64encode(data).decode()}">')
    if not pictures:
        parts.append(f'<p>{html.escape(NO_PLOTS)}</p>')
    sign = 1 if study.direction.name == 'MINIMIZE' else -1
    order = {'COMPLETE': 0, 'PRUNED': 1, 'RUNNING': 2, 'FAIL': 3, 'WAITING': 4}
    ranked = sorted(trials, key=lambda t: (order[t.state.name], sign * t.value if t.state.name == 'COMPLETE' else 0,
                                           t.number))
    head = ''.join(f'<th>{text(n)}</th>' for n in ['trial', 'state', value, 'time', *names, ''])
    rows = ''.join(_row(t, names, best, text) for t in ranked[:MOST_ROWS])
    parts.append(f'<h2>Trials</h2><div class="wide"><table><tr>{head}</tr>{rows}</table></div>')
    if len(ranked) > MOST_ROWS:
        parts.append(f'<p>The first {MOST_ROWS} of {len(ranked)} trials.</p>')
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
            f'content="{policy}"><title>{text(study.study_name)}</title><style>{_STYLE}</style></head><body>'
            + '\n'.join(parts) + '</body></html>\n')


def _row(trial: Any, names: list[str], best: Any, text: Any) -> str:
    took = ''
    if trial.datetime_complete and trial.datetime_start:
        took = duration((trial.datetime_complete - trial.datetime_start).total_seconds())
    value = trial.value if trial.state.name == 'COMPLETE' else None
    if value is None and trial.intermediate_values:
        value = trial.intermediate_values[max(trial.intermediate_values)]
    cells = [str(trial.number), trial.state.name.lower(), '' if value is None else text(float(value)), took,
             *(text(trial.params[n]) if n in trial.params else '' for n in names),
             text(trial.system_attrs.get(WHY, '')) if trial.state.name == 'FAIL' else '']
    kind = 'best' if best is not None and trial.number == best.number else trial.state.name
    return f'<tr class="{kind}">' + ''.join(f'<td>{c}</td>' for c in cells) + '</tr>'


# ---------------------------------------------------------------------- TensorBoard
class BoardLog:
    """Writes finished trials for TensorBoard's HParams: a folder `logs/trial-00012` each."""

    def __init__(self, out: str, study: Any, value: str = 'value') -> None:
        self._folder, self._study, self._value = os.path.join(out, 'logs'), study, value
        self._written: set[int] = set()

    def __call__(self, trials: list[Any]) -> None:
        """Writes what has finished since the last call."""
        from ..tensorboard import SummaryWriter
        for trial in trials:
            if trial.state.name not in ('COMPLETE', 'PRUNED') or trial.number in self._written or not trial.params:
                continue
            self._written.add(trial.number)
            folder = os.path.join(self._folder, f'trial-{trial.number:05d}')
            if os.path.isdir(folder):           # of an earlier run
                continue
            curve = trial.intermediate_values
            last = trial.value if trial.state.name == 'COMPLETE' else curve[max(curve)] if curve else None
            if last is None:
                continue
            with SummaryWriter(folder) as writer:
                for step in sorted(curve):
                    writer.add_scalar(f'steps/{self._value}', curve[step], step)
                writer.add_hparams({**trial.params, 'state': trial.state.name.lower()},
                                   {self._value: last}, max(curve, default=0))


def board_log(out: str, study: Any, value: str = 'value') -> Any:
    """A BoardLog where tensorboard is installed, else nothing."""
    try:
        import tensorboard  # noqa: F401
    except ImportError:
        return None
    return BoardLog(out, study, value)
