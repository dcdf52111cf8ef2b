"""Where a study is kept: a journal file, an SQLite file, or a database with a URL."""
from __future__ import annotations

import contextlib
import os
import re
import weakref
from typing import Any

from ...base import MXNetError
from . import _locks
from ._optuna import optuna, quietly

KILLED, STOPPED = 'its process was killed', 'stopped'
OWNER, WHY = 'remx:process', 'remx:why'          # attributes of a trial
MAKER = 'remx:objective'                        # attribute of a study
BEAT, GRACE = 15, 90                            # seconds, for processes of other machines on one database
SQLITE = ('.db', '.sqlite', '.sqlite3')


class OtherStudy(MXNetError):
    """The storage has a study of this name that is not the one of this search."""


class Store:
    """An opened storage, and where the processes that share it keep their locks."""

    _end: Any = None

    def __init__(self, place: str, out: str) -> None:
        self.place = place
        self.shown = place
        with quietly():
            if '://' in place:
                local = place.startswith('sqlite:///') and place[10:] not in ('', ':memory:')
                self.folder = f'{place[10:]}.workers' if local else os.path.join(out, 'workers')
                self.shared = local
                self._open_url(place)
            else:
                self.folder, self.shared = f'{place}.workers', True
                self._open_file(place)
        backend: Any = getattr(self.storage, '_backend', None)
        if hasattr(backend, 'engine'):
            self._end = weakref.finalize(self.storage, _disconnect, backend.scoped_session, backend.engine)
        os.makedirs(self.folder, exist_ok=True)
        self.turn = _locks.FileLock(os.path.join(self.folder, '.turn'))     # whose turn it is to begin a trial

    def _open_file(self, path: str) -> None:
        package = optuna()
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        try:
            with open(path, 'rb') as file:
                start = file.read(16)
        except FileNotFoundError:
            start = b''
        except OSError as error:
            raise MXNetError(f'the storage {path} cannot be read: {error.strerror}') from None
        if start.startswith(b'SQLite format 3') or not start and path.endswith(SQLITE):
            from sqlalchemy.engine import URL
            self._open_url(URL.create('sqlite', database=os.path.abspath(path)).render_as_string())
            self.shown = path
            return
        if start and not start.startswith(b'{'):
            raise MXNetError(f'{path} is no storage of a study: it is neither a journal of Optuna nor an SQLite file')
        try:
            self.storage = package.storages.JournalStorage(_journal(path, self.folder))
        except (ValueError, KeyError, TypeError, AssertionError, AttributeError) as error:
            raise MXNetError(f'{path} is no journal of Optuna, or is damaged: {type(error).__name__}: '
                             f'{error}') from None

    def _open_url(self, url: str) -> None:
        package = optuna()
        from sqlalchemy import exc
        from sqlalchemy.engine import make_url
        try:
            parsed = make_url(url)
        except exc.ArgumentError:
            raise MXNetError('the URL of the storage is malformed; it looks like '
                             'postgresql://user@host/database') from None
        self.shown = parsed.render_as_string(hide_password=True)
        if parsed.drivername == 'postgresql':
            parsed = parsed.set(drivername=f'postgresql+{_postgresql_driver()}')
        server = parsed.get_backend_name() != 'sqlite'
        beat: dict[str, Any] = {'heartbeat_interval': BEAT, 'grace_period': GRACE} if server else {}
        # waits for other processes that write
        options = {} if server else {'connect_args': {'timeout': 60}}
        try:
            self.storage = package.storages.get_storage(package.storages.RDBStorage(
                parsed.render_as_string(hide_password=False), engine_kwargs=options, **beat))
        except ModuleNotFoundError as error:
            raise MXNetError(f'the storage {self.shown} needs the package {error.name}: pip install {error.name}') \
                from None
        except ImportError as error:
            raise MXNetError(f'the storage {self.shown} needs a package that is not installed: {error}') from None
        except exc.NoSuchModuleError:
            raise MXNetError(f'the storage {self.shown}: {parsed.drivername} is no database that SQLAlchemy knows; '
                             'known are postgresql, mysql and sqlite') from None
        except (exc.SQLAlchemyError, package.exceptions.StorageInternalError, RuntimeError) as error:
            cause = getattr(error, 'orig', None) or error.__cause__ or error
            said = str(getattr(cause, 'orig', cause)).strip().splitlines() or ['']
            raise MXNetError(f'the storage {self.shown} cannot be opened: {said[0]}') from None

    # ------------------------------------------------------------------ processes
    def recover(self, study: Any) -> list[int]:
        """Marks trials of killed processes as failed; returns their numbers."""
        package = optuna()
        found = []
        running = self.storage.get_all_trials(study._study_id, deepcopy=False,
                                              states=(package.trial.TrialState.RUNNING,))
        for trial in running:
            owner = trial.system_attrs.get(OWNER)
            if isinstance(owner, str) and _locks.has_died(self.folder, owner, self.shared):
                found += [trial.number] if self.fail(trial._trial_id, KILLED) else []
        if running and isinstance(self.storage, package.storages._heartbeat.BaseHeartbeat):
            with quietly():
                package.storages.fail_stale_trials(study)
        return found

    def fail(self, trial_id: int, why: str) -> bool:
        """Marks a running trial as failed; False if somebody else was faster."""
        package = optuna()
        try:
            self.storage.set_trial_system_attr(trial_id, WHY, why)
            return bool(self.storage.set_trial_state_values(trial_id, package.trial.TrialState.FAIL))
        except (package.exceptions.UpdateFinishedTrialError, RuntimeError):
            return False

    def trials(self, study: Any) -> list[Any]:
        """All trials, not copied."""
        return self.storage.get_all_trials(study._study_id, deepcopy=False)

    def close(self) -> None:
        """Ends connections to a database."""
        if self._end is not None:
            self._end()


def _disconnect(session: Any, engine: Any) -> None:
    session.remove()
    engine.dispose()


def counts(trial: Any) -> bool:
    """Whether a trial counts towards the limit: not what was lost with its process, or stopped by the user."""
    state = optuna().trial.TrialState
    if trial.state == state.FAIL:
        return trial.system_attrs.get(WHY) not in (None, KILLED, STOPPED)
    return trial.state != state.WAITING


def _postgresql_driver() -> str:
    for name in ('psycopg', 'psycopg2'):
        with contextlib.suppress(ImportError):
            __import__(name)
            return name
    raise MXNetError('a study in PostgreSQL needs the package psycopg: pip install "psycopg[binary]"')


def _journal(path: str, folder: str) -> Any:
    os.makedirs(folder, exist_ok=True)
    lock = _MendingLock(os.path.join(folder, '.journal'), path)
    with lock:
        pass
    return optuna().storages.journal.JournalFileBackend(path, lock_obj=lock)


class _MendingLock(_locks.FileLock):
    """The lock of a journal.  Whoever gets it removes a line that was cut off, so that the next one is readable."""

    def __init__(self, path: str, journal: str) -> None:
        super().__init__(path)
        self._journal = journal

    def acquire(self) -> bool:
        super().acquire()
        if os.path.exists(self._journal):
            _cut(self._journal)
        return True


def _cut(path: str) -> None:
    """Removes an unfinished last line: a full disk, or a machine that went down, ends a write in the middle."""
    with open(path, 'rb+') as file:
        size = file.seek(0, os.SEEK_END)
        if not size:
            return
        file.seek(size - 1)
        if file.read(1) == b'\n':
            return
        end = size
        while end:
            start = max(0, end - 4096)
            file.seek(start)
            where = file.read(end - start).rfind(b'\n')
            if where >= 0:
                file.truncate(start + where + 1)
                return
            end = start
        file.truncate(0)


# ---------------------------------------------------------------------- studies
def open_study(store: Store, name: str, direction: str, sampler: Any, pruner: Any, maker: dict[str, Any]) -> Any:
    """The study of a name, made if it does not exist; an error if it is one of another objective."""
    package = optuna()
    with quietly():
        study = package.create_study(storage=store.storage, study_name=name, direction=direction, sampler=sampler,
                                     pruner=pruner, load_if_exists=True)
    if len(study.directions) > 1:
        raise OtherStudy(f'the study {name!r} in {store.shown} has several values for each trial; remx tune takes one')
    if study.direction.name.lower() != direction:
        raise OtherStudy(f'the study {name!r} in {store.shown} is one to {study.direction.name.lower()}, and this '
                         f'search is one to {direction}: give another --study')
    stored = study.user_attrs.get(MAKER)
    if stored is None:
        known = {p for t in store.trials(study) for p in t.params}
        wanted = set(maker.get('parameters') or ())
        if known and wanted and known != wanted:
            raise OtherStudy(_other(name, store, sorted(known), sorted(wanted)))
        study.set_user_attr(MAKER, maker)
    elif stored != maker:
        _refuse_other(name, store, stored, maker)
    return study


def _refuse_other(name: str, store: Store, stored: Any, maker: dict[str, Any]) -> None:
    if not isinstance(stored, dict):
        stored = {}
    before, now = stored.get('parameters'), maker.get('parameters')
    if before != now:
        raise OtherStudy(_other(name, store, _described(before), _described(now)))
    if stored.get('objective') != maker.get('objective'):
        raise OtherStudy(f'the study {name!r} in {store.shown} has the trials of {stored.get("objective")}, and this '
                         f'is {maker.get("objective")}: give another --study, or another --storage')
    changed = [k for k in {**(stored.get('fixed') or {}), **(maker.get('fixed') or {})}
               if (stored.get('fixed') or {}).get(k) != (maker.get('fixed') or {}).get(k)]
    raise OtherStudy(f'the study {name!r} in {store.shown} was made with '
                     + ', '.join(f'{k}={(stored.get("fixed") or {}).get(k)}' for k in sorted(changed)) + ' instead of '
                     + ', '.join(f'{k}={(maker.get("fixed") or {}).get(k)}' for k in sorted(changed))
                     + ': their values cannot be compared; give another --study or --out')


def _described(parameters: Any) -> list[str]:
    if isinstance(parameters, dict):
        return [f'{k}={v}' for k, v in parameters.items()]
    return list(parameters or ())


def _other(name: str, store: Store, before: list[str], now: list[str]) -> str:
    return (f'the study {name!r} in {store.shown} has other parameters: {", ".join(before) or "none"}; this search has '
            f'{", ".join(now) or "none"}. Give another --study, or another --storage')


def check_first(store: Store, name: str) -> Any:
    """The objective of a file names its parameters while it runs: a sampler asks this about the first one.

    One that no finished trial has is a sign of another objective.  (Later ones may depend on earlier ones.)
    """
    def check(study: Any, trial: Any, parameter: str) -> None:
        # Hyperband hands samplers a part of the study
        trials = store.storage.get_all_trials(study._study_id, deepcopy=False)
        known = {p for t in trials if t.state.is_finished() for p in t.params}
        if known and parameter not in known:
            raise OtherStudy(_other(name, store, sorted(known), [parameter, '...']))
    return check


def folder_name(name: str) -> str:
    """A study's name as that of a folder."""
    return re.sub(r'[^\w.-]+', '-', name).strip('.-') or 'study'
