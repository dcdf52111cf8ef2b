"""Optuna, and its samplers and pruners by name."""
from __future__ import annotations

import contextlib
import difflib
import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._files import pickles
from ...base import MXNetError

MISSING = 'the search for hyper-parameters runs on Optuna, which is not installed: pip install "remx[tune]"'

# what we call it: Optuna's class
SAMPLERS = {'tpe': 'TPESampler', 'random': 'RandomSampler', 'cma-es': 'CmaEsSampler', 'gp': 'GPSampler',
            'qmc': 'QMCSampler', 'nsga-ii': 'NSGAIISampler', 'grid': 'BruteForceSampler'}
PRUNERS = {'median': 'MedianPruner', 'hyperband': 'HyperbandPruner', 'halving': 'SuccessiveHalvingPruner',
           'percentile': 'PercentilePruner', 'threshold': 'ThresholdPruner', 'wilcoxon': 'WilcoxonPruner',
           'none': 'NopPruner'}
OTHER_NAMES = {'cmaes': 'cma-es', 'cma': 'cma-es', 'asha': 'halving', 'successivehalving': 'halving',
               'nsgaii': 'nsga-ii', 'bruteforce': 'grid', 'nop': 'none', 'sobol': 'qmc'}
DEFAULTS: dict[str, dict[str, Any]] = {'percentile': {'percentile': 25.0}, 'wilcoxon': {'p_threshold': 0.1},
                                       'cma-es': {'warn_independent_sampling': False},
                                       'gp': {}, 'qmc': {'warn_independent_sampling': False,
                                                         'warn_asynchronous_seeding': False}}
NEEDS = {'cma-es': ['cmaes'], 'gp': ['scipy', 'torch'], 'qmc': ['scipy'], 'wilcoxon': ['scipy']}


def optuna() -> Any:
    """The package."""
    try:
        import optuna
    except ImportError as error:
        raise MXNetError(MISSING) from error
    return optuna


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Without Optuna's log and its notes on what is experimental; what is said, we say ourselves."""
    package = optuna()
    level = package.logging.get_verbosity()
    package.logging.set_verbosity(package.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', package.exceptions.ExperimentalWarning)
            yield
    finally:
        package.logging.set_verbosity(level)


# ---------------------------------------------------------------------- by name
def _choose(text: str, known: dict[str, str], what: str) -> tuple[str, type, dict[str, Any]]:
    """`name` or `name:key=value,key=value` -> (name, class, arguments)."""
    package = optuna()
    given, _, rest = text.partition(':')
    name = given.strip().lower().replace('_', '-')
    name = OTHER_NAMES.get(name.replace('-', ''), name)
    if name not in known:
        close = difflib.get_close_matches(name, [*known, *OTHER_NAMES], 1)
        close = [OTHER_NAMES.get(c, c) for c in close]
        raise MXNetError(f'there is no {what} {given!r}' + (f' (did you mean {close[0]}?)' if close else '')
                         + f'; there are {", ".join(known)}')
    for module in NEEDS.get(name, ()):
        try:
            __import__(module)
        except ImportError:
            raise MXNetError(f'the {what} {name} needs the package {module}: pip install {module}') from None
    cls = getattr(package.samplers if known is SAMPLERS else package.pruners, known[name])
    parameters = inspect.signature(cls).parameters
    arguments = dict(DEFAULTS.get(name, {}))
    for part in filter(None, rest.split(',')):
        key, equals, value = (piece.strip() for piece in part.partition('='))
        if not equals:
            raise MXNetError(f'{what} {text!r}: {part.strip()!r} is not name=value')
        if key not in parameters or key == 'seed':
            close = difflib.get_close_matches(key, parameters, 1)
            raise MXNetError(f'the {what} {name} has no argument {key!r}' + (f' (did you mean {close[0]}?)' if close
                                                                          else f'; it has {", ".join(parameters)}'))
        arguments[key] = _value(value)
    return name, cls, arguments


def _value(text: str) -> Any:
    named = {'true': True, 'false': False, 'none': None}
    if text.lower() in named:
        return named[text.lower()]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def make_pruner(text: str) -> Any:
    """The pruner of a name."""
    name, cls, arguments = _choose(text, PRUNERS, 'pruner')
    return _made(cls, arguments, f'pruner {name}')


def _made(cls: Any, arguments: dict[str, Any], what: str) -> Any:
    with quietly():
        try:
            return cls(**arguments)
        except (TypeError, ValueError) as error:
            raise MXNetError(f'{what}: {error}') from None


def make_sampler(text: str, seed: int | None) -> Any:
    """The sampler of a name.

    With a seed, what is drawn for a trial follows from the seed, the number of the trial and the finished trials alone:
    a study that was stopped and goes on draws what it would have drawn.
    """
    name, cls, arguments = _choose(text, SAMPLERS, 'sampler')
    if name == 'cma-es':
        cls = _plain_cmaes(cls)
    if seed is None or 'seed' not in inspect.signature(cls).parameters or name == 'qmc':
        # qmc: all processes draw from one sequence
        given = {**arguments, 'seed': seed} if name == 'qmc' else arguments
        made = _made(cls, given, f'sampler {name}')
        return _sampler(lambda number: made)

    def make(number: int) -> Any:
        drawn = int(np.random.SeedSequence([seed & 0xffffffff, number]).generate_state(1)[0])
        return _made(cls, {**arguments, 'seed': drawn}, f'sampler {name}')
    return _sampler(make)


def _sampler(make: Any) -> Any:
    base: Any = optuna().samplers.BaseSampler

    class Sampler(base):
        """The sampler that `make` gives for the number of a trial.  What samplers learn is in the storage."""

        check: Any = None           # (study, trial, name of its first parameter)

        def __init__(self) -> None:
            self._inner = make(0)
            self.exhausted = False      # there is nothing left to try

        def before_trial(self, study: Any, trial: Any) -> None:
            self._inner = make(trial.number)
            self._inner.before_trial(study, trial)

        def infer_relative_search_space(self, study: Any, trial: Any) -> Any:
            return self._inner.infer_relative_search_space(study, trial)

        def sample_relative(self, study: Any, trial: Any, search_space: Any) -> Any:
            return self._inner.sample_relative(study, trial, search_space)

        def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
            if self.check is not None and not trial.params:
                self.check(study, trial, param_name)
            return self._inner.sample_independent(study, trial, param_name, param_distribution)

        def after_trial(self, study: Any, trial: Any, state: Any, values: Any) -> None:
            try:
                self._inner.after_trial(study, trial, state, values)
            except RuntimeError as error:
                # a grid that is done stops Optuna's own loop, which ours is not
                if 'stop' not in str(error):
                    raise
                self.exhausted = True
    return Sampler()


def _plain_cmaes(cls: Any) -> Any:
    """Optuna keeps the state of CMA-ES as a pickle in the storage, which others may have written."""
    import cmaes
    if not hasattr(cls, '_restore_optimizer'):
        raise MXNetError(f'Optuna {optuna().__version__} reads the state of CMA-ES in a way that remx does not know; '
                         'it may execute what is in the storage. Take another sampler, or another version of Optuna')
    classes: Any = {(kind.__module__, kind.__name__): kind for kind in (cmaes.CMA, cmaes.SepCMA, cmaes.CMAwM)}

    class Plain(cls):
        """CMA-ES whose state is read without executing anything."""

        def _restore_optimizer(self, completed_trials: Any) -> Any:
            prefix = self._attr_key_optimizer
            for trial in reversed(completed_trials):
                parts = {k: v for k, v in trial.system_attrs.items() if k.startswith(prefix)}
                if parts:
                    text = self._concat_optimizer_attrs(parts)
                    found = pickles.load(bytes.fromhex(text), classes, f'the state of CMA-ES in trial {trial.number}')
                    if type(found) not in classes.values():
                        raise MXNetError(f'the state of CMA-ES in trial {trial.number} is a {type(found).__name__}')
                    return found
            return None
    Plain.__name__ = cls.__name__
    return Plain
