"""One process of a search: begins trials, runs them, and says how they ended."""
from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from ...base import MXNetError
from . import _checkpoints, _locks
from ._callbacks import Diverged, number_of
from ._optuna import make_pruner, make_sampler, optuna, quietly
from ._storage import KILLED, OWNER, STOPPED, WHY, OtherStudy, Store, check_first, counts, open_study

EXHAUSTED = 'remx:exhausted'       # attribute of a study whose grid is done
POLL = 0.25             # seconds between looks at the storage
PULSE = 5.0             # seconds between heartbeats


@dataclass
class Search:
    """Everything that a process has to know about a search."""

    objective: dict[str, Any]                   # see `find_objective`
    maker: dict[str, Any]                       # whose trials these are, for `open_study`
    study: str
    storage: str
    out: str
    direction: str = 'minimize'
    sampler: str = 'tpe'
    pruner: str = 'median'
    seed: int | None = None
    trials: int | None = None                   # of the study in all
    deadline: float | None = None               # no trial begins after this time
    keep_all: bool = False
    keep_going: bool = False
    jobs: int = 1
    value: str = 'value'                        # what the objective returns
    gpus: float = 0                             # that a trial takes on Ray
    first: list[dict[str, Any]] = field(default_factory=list)       # parameters to begin with

    def open(self) -> tuple[Store, Any]:
        """The storage and the study."""
        store = Store(self.storage, self.out)
        sampler = make_sampler(self.sampler, self.seed)
        study = open_study(store, self.study, self.direction, sampler, make_pruner(self.pruner), self.maker)
        if 'parameters' not in self.maker:
            sampler.check = check_first(store, self.study)
        _checkpoints.set_out(self.study, self.out)
        return store, study

    def left(self, study: Any, trials: list[Any]) -> int | None:
        """How many trials may still begin; None if there is no limit."""
        if self.sampler.startswith('grid') and study.user_attrs.get(EXHAUSTED):
            return 0
        return None if self.trials is None else max(0, self.trials - sum(map(counts, trials)))

    def late(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.time() >= self.deadline

    def to_json(self) -> str:
        return json.dumps(asdict(self))


class ObjectiveError(Exception):
    """The objective has raised, or returned what is no number: `text` is what the user has to see."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Outcome:
    """How a search ended: `stopped` by the user, `error` of the objective, seconds `spent`."""

    def __init__(self) -> None:
        self.stopped = False
        self.error: str | None = None
        self.cause: BaseException | None = None             # the exception itself, if it was raised here
        self.spent = {'trials': 0.0, 'all': 0.0}

    def add(self, spent: dict[str, float]) -> None:
        for key, value in spent.items():
            self.spent[key] += value


# ---------------------------------------------------------------------- the objective
def find_objective(spec: dict[str, Any]) -> Callable[[Any], Any]:
    """The function of {'file' or 'module', 'function'}; with 'arguments', what it returns when it is called with them.

    'argv' are the arguments that the file sees in sys.argv.
    """
    if 'module' in spec:
        module: Any = importlib.import_module(spec['module'])
    else:
        module = _import_file(spec['file'], spec.get('argv') or [])
    function = getattr(module, spec['function'], None)
    if 'arguments' in spec:
        return function(**spec['arguments'])            # type: ignore[misc]  # ours
    if not takes_a_trial(function):
        raise MXNetError(f'{spec.get("file", module.__name__)}: {spec["function"]} is no function of a trial')
    return function                                     # type: ignore[return-value]


def _import_file(path: str, argv: list[str]) -> Any:
    path = os.path.abspath(path)
    name = os.path.splitext(os.path.basename(path))[0]
    loaded: Any = sys.modules.get(name)
    if loaded is not None:
        if os.path.abspath(getattr(loaded, '__file__', None) or '') == path:
            return loaded
        name = f'{name}_of_remx_tune'
    elif name in sys.stdlib_module_names:
        name = f'{name}_of_remx_tune'
    made = importlib.util.spec_from_file_location(name, path)
    assert made is not None and made.loader is not None
    module = importlib.util.module_from_spec(made)
    sys.modules[name] = module
    sys.path.insert(0, os.path.dirname(path))
    sys.argv = [path, *argv]
    os.environ['REMX_TUNE_IMPORTS'] = path          # see `run`: a file that starts a search when it is imported
    try:
        made.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    finally:
        os.environ.pop('REMX_TUNE_IMPORTS', None)
    return module


# ---------------------------------------------------------------------- Ctrl-C
class Interrupts:
    """Ctrl-C and SIGTERM end the objective at once, but nothing that writes the study; a second one ends everything."""

    def __init__(self) -> None:
        self.asked = self._inside = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *error: Any) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before = {}

    def _ask(self, number: int, frame: Any) -> None:
        again, self.asked = self.asked, True
        if again or self._inside:
            self._inside = False
            raise KeyboardInterrupt

    def check(self) -> None:
        """Raises if it was asked for."""
        if self.asked:
            raise KeyboardInterrupt

    def run(self, function: Callable[[Any], Any], trial: Any) -> Any:
        """function(trial), which may be interrupted."""
        try:
            self._inside = True
            self.check()
            return function(trial)
        finally:
            self._inside = False


# ---------------------------------------------------------------------- one trial
def begin(search: Search, store: Store, study: Any, owner: str) -> Any:
    """A new trial of a process; None if there are enough, or if the time is over."""
    package = optuna()
    running = package.trial.TrialState.RUNNING
    with store.turn, quietly():
        store.recover(study)
        if search.late() or search.left(study, store.trials(study)) == 0:
            return None
        for waiting in store.storage.get_all_trials(study._study_id, deepcopy=False,
                                                    states=(package.trial.TrialState.WAITING,)):
            with contextlib.suppress(package.exceptions.UpdateFinishedTrialError):
                if store.storage.set_trial_state_values(waiting._trial_id, state=running):
                    store.storage.set_trial_system_attr(waiting._trial_id, OWNER, owner)
                    return package.trial.Trial(study, waiting._trial_id)
        # with its owner from the first moment, so that a kill leaves no trial that runs for ever
        template = package.trial.create_trial(state=running, system_attrs={OWNER: owner})
        return package.trial.Trial(study, store.storage.create_new_trial(study._study_id, template))


def perform(search: Search, store: Any, study: Any, trial: Any, objective: Callable[[Any], Any],
            settle: bool = True) -> None:
    """Runs a trial to its end and settles who is the best."""
    package = optuna()
    states = package.trial.TrialState
    trial_id = trial._trial_id
    try:
        with _heart(store, trial_id):
            value = number_of(objective(trial), f'{search.maker.get("objective", "the objective")} returned')
    except package.TrialPruned:
        with quietly():
            study.tell(trial, state=states.PRUNED)
    except KeyboardInterrupt:
        store.fail(trial_id, STOPPED)
        if settle:
            _checkpoints.settle(search.out, study, store.trials(study), search.keep_all)
        raise
    except Diverged as error:
        store.fail(trial_id, str(error))
    except Exception as error:
        text = _explained(search, trial, error)
        other = isinstance(error, OtherStudy) or text.startswith('the study')
        store.fail(trial_id, STOPPED if other else f'{type(error).__name__}: {error}'[:500])
        if other or not search.keep_going:
            raise ObjectiveError(text) from error
    else:
        with quietly():
            study.tell(trial, value)
    if getattr(study.sampler, 'exhausted', False):
        study.set_user_attr(EXHAUSTED, True)
    if settle:
        _checkpoints.settle(search.out, study, store.trials(study), search.keep_all)


def _explained(search: Search, trial: Any, error: Exception) -> str:
    """The traceback from the objective on, or only the message where that says all."""
    text = str(error)
    if isinstance(error, OtherStudy):
        return text
    if isinstance(error, ValueError) and ('dynamic value space' in text or 'different distribution kind' in text):
        return (f'the study {search.study!r} has other ranges than {search.maker.get("objective")} ({text}): give '
                'another --study, or another --storage')
    if isinstance(error, TypeError) and 'it must be one number' in text:
        return text
    frames = traceback.extract_tb(error.__traceback__)
    inner = [f for f in frames if f.filename != __file__]
    shown = ''.join(traceback.format_list(inner) + traceback.format_exception_only(type(error), error))
    return f'trial {trial.number} failed with {trial.params}:\n{shown}'.rstrip()


@contextlib.contextmanager
def _heart(store: Any, trial_id: int):
    """Tells a database that this process lives, for processes on other machines."""
    record = getattr(store.storage, 'record_heartbeat', None)
    if record is None or store.storage.get_heartbeat_interval() is None:
        yield
        return
    end = threading.Event()

    def beat() -> None:
        while True:
            with contextlib.suppress(Exception):        # a database that is away for a moment
                record(trial_id)
            if end.wait(PULSE):
                return
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


# ---------------------------------------------------------------------- the loop
def work(search: Search, store: Store, study: Any, objective: Callable[[Any], Any], after: Any = None,
         owner: str | None = None) -> dict[str, float]:
    """Runs trials until there are enough -> seconds: 'trials' in the objective, 'all' with everything around it."""
    spent, start = 0.0, time.perf_counter()
    interrupts = Interrupts()

    def timed(trial):
        nonlocal spent
        began = time.perf_counter()
        try:
            return interrupts.run(objective, trial)
        finally:
            spent += time.perf_counter() - began
    with contextlib.ExitStack() as stack:
        stack.enter_context(interrupts)
        if owner is None:
            owner = stack.enter_context(_locks.Presence(store.folder)).name
        while True:
            interrupts.check()
            trial = begin(search, store, study, owner)
            if trial is None:
                break
            perform(search, store, study, trial, timed)
            if after is not None:
                after()
    return {'trials': spent, 'all': time.perf_counter() - start}


def main() -> int:
    """A worker of several: the search comes as a line of JSON on stdin, whose end says that the parent has gone.

    Messages to the parent are lines of JSON on stdout; what the objective prints goes to stderr.
    """
    messages = os.fdopen(os.dup(1), 'w', encoding='utf-8')
    os.dup2(2, 1)

    def say(**what: Any) -> None:
        with contextlib.suppress(OSError):
            print(json.dumps(what), file=messages, flush=True)
    search = Search(**json.loads(sys.stdin.readline()))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.Thread(target=_watch_parent, daemon=True).start()
    try:
        objective = find_objective(search.objective)
        store, study = search.open()
        say(ready=True)
        say(spent=work(search, store, study, objective))
        store.close()
        return 0
    except KeyboardInterrupt:
        return 130
    except ObjectiveError as error:
        say(error=error.text)
    except MXNetError as error:
        say(error=str(error))
    except BaseException:
        say(error=traceback.format_exc())
    return 1


def _watch_parent() -> None:
    with contextlib.suppress(OSError, ValueError):
        while sys.stdin.read(1):
            pass
    import _thread
    _thread.interrupt_main()
    time.sleep(10)                  # an objective that catches it, or that is in a long call
    os._exit(130)


def takes_a_trial(function: Any) -> bool:
    """Whether a function can be called with a trial alone."""
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(None)
    except (TypeError, ValueError):
        return False
    return True


__all__ = ['KILLED', 'OWNER', 'POLL', 'WHY', 'ObjectiveError', 'Outcome', 'Search', 'begin', 'find_objective', 'main',
           'perform', 'takes_a_trial', 'work']
