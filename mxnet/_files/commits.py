"""Files that appear together, and what killed writers leave behind.

**Together.**  The files of a checkpoint are written to temporary names first.  Then a record that lists them appears,
and
that is the moment at which all of them count: they are renamed one after the other, and the record goes.  Whoever reads
with us after a kill in between follows the record (`current`); the next save in the folder finishes what it says.
Other readers, MXNet 1.9.1 among them, see ordinary files, and no record once a save is done.

**Left behind.**  A writer holds a lock on its temporary file, which the system takes away when it dies, however it
dies.
The next save in the folder removes files that it can lock.  Locks need not reach other machines that share a folder:
the name says under which boot of which machine a file was written, and files of others are left alone for a day.
"""
from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import socket
import stat
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

from mxnet.base import MXNetError

try:
    import fcntl
except ImportError:  # Windows has no such locks: there, files are judged by their age
    fcntl = None  # type: ignore[assignment]

TEMPORARY = re.compile(r"\.mxnet-(?:([0-9a-f]{8})-)?[0-9a-f]{16}\.tmp")
RECORD = re.compile(r"\.mxnet-(.*)\.commit", re.DOTALL)
SUFFIXES = (".json", ".params", ".states", ".buckets")  # what may be part of a checkpoint
FOREIGN_AGE = 24 * 3600  # seconds after which a file of another machine is taken for abandoned
AGAIN = 60  # seconds after which a process looks through a folder again
CHUNK = 64  # files that are locked at a time
RETRIES = 50

CUT_OFF = ("{name}: a save was cut off before {target} got its new contents, and {target} has been changed since. Its "
           "other "
           "files are those of that save. To use all files as they are, delete {record}; to use that save, rename "
           "{temporary} to {target} first")  # fmt: skip
DROPPED = ("{record}: a save was cut off before {target} got its new contents, and {target} has been changed since: "
           "that save "
           "is given up, and the files stay as they are")  # fmt: skip

_local = threading.local()
_looked: dict[str, float] = {}


# ---- temporary files -----------------------------------------------------------------------------------------------


def _boot() -> str:
    """Eight digits for this machine since it was started."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            text = file.read()
    except OSError:
        text = socket.gethostname()
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def temporary(folder: str) -> tuple[str, int | None]:
    """A new, empty file for what is to be written in a folder, and the descriptor that holds its lock.

    Close the descriptor, if there is one, when the file has its final name or is gone.
    """
    while True:
        path = os.path.join(folder, f".mxnet-{_boot()}-{secrets.token_hex(8)}.tmp")
        # The kernel applies the umask and the folder's defaults to 0666; to ask for the umask is not thread-safe.
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            if fcntl is None:
                os.close(descriptor)
                return path, None
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:  # else somebody has removed it before it was locked
                with contextlib.suppress(OSError):
                    clean(folder, os.fstat(descriptor).st_mtime)
                return path, descriptor
        except BaseException:
            with contextlib.suppress(OSError):
                os.close(descriptor)
            raise
        os.close(descriptor)


def clean(folder: str, now: float) -> None:
    """Removes what killed writers have left in a folder, and finishes their commits; `now` is the time of its disk."""
    moment = time.monotonic()
    if moment - _looked.get(folder, -AGAIN) < AGAIN:
        return
    if len(_looked) > 1000:
        _looked.clear()
    _looked[folder] = moment
    names = [name for name in os.listdir(folder) if TEMPORARY.fullmatch(name)]
    records = [name for name in os.listdir(folder) if RECORD.fullmatch(name)]
    for start in range(0, max(len(names), 1 if records else 0), CHUNK):
        held = {}
        try:
            for name in names[start : start + CHUNK]:
                descriptor = _abandoned(folder, name, now)
                if descriptor is not None:
                    held[name] = descriptor
            # Only now: a record of a writer that is gone is there by this time.
            wanted: set[str] = set()
            for name in os.listdir(folder):
                if RECORD.fullmatch(name):
                    path = os.path.join(folder, name)
                    descriptor = _abandoned(folder, name, now)
                    if descriptor is not None:
                        with contextlib.suppress(OSError, MXNetError):
                            finish(path)
                        os.close(descriptor)
                    with contextlib.suppress(OSError, MXNetError):
                        wanted.update(entry["temporary"] for entry in _read(path) or ())
            for name, descriptor in held.items():
                path = os.path.join(folder, name)
                if name not in wanted and _is(path, descriptor):
                    with contextlib.suppress(OSError):
                        os.unlink(path)
        finally:
            for descriptor in held.values():
                os.close(descriptor)


def _abandoned(folder: str, name: str, now: float) -> int | None:
    """A locked descriptor of a file whose writer is gone; None where it is not, or where nobody can tell."""
    path = os.path.join(folder, name)
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            return None
        match = TEMPORARY.fullmatch(name)
        old = now - found.st_mtime > FOREIGN_AGE
        ours = _written_here(path) if match is None else match[1] == _boot()
        if not (ours or old):
            return None
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    try:
        if fcntl is None:
            locked = old
        else:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                locked = True
            except BlockingIOError:
                locked = False
            except OSError:
                locked = old
        if locked and _is(path, descriptor):
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _is(path: str, descriptor: int) -> bool:
    """Whether a path still names an open file."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except OSError:
        return False


# ---- groups --------------------------------------------------------------------------------------------------------


class Group:
    """Files that are written, but do not count yet."""

    def __init__(self, folder: str, prefix: str) -> None:
        self.folder, self.prefix = folder, prefix
        self.files: dict[str, tuple[str, int | None]] = {}

    def add(self, temporary: str, target: str, descriptor: int | None) -> None:
        """Takes a finished temporary file; a file that is written twice counts once."""
        self._forget(os.path.basename(target))
        self.files[os.path.basename(target)] = temporary, descriptor

    def _forget(self, name: str) -> None:
        path, descriptor = self.files.pop(name, ("", None))
        if path:
            with contextlib.suppress(OSError):
                os.unlink(path)
        if descriptor is not None:
            os.close(descriptor)

    def abort(self) -> None:
        """Removes them all."""
        for name in list(self.files):
            self._forget(name)

    def commit(self, sync: Callable[[str], None]) -> None:
        """Gives them their names; `sync` makes renames in a folder last."""
        record = os.path.join(self.folder, f".mxnet-{self.prefix}.commit")
        own = None
        try:
            if os.path.lexists(record):
                finish(record)
            if len(self.files) > 1:
                own = self._announce(record)
                sync(self.folder)
        except BaseException:
            self.abort()
            raise
        try:
            for name, (path, _) in self.files.items():
                # with a record, another save may have done it for us
                with contextlib.suppress(*[] if own is None else [FileNotFoundError]):
                    os.replace(path, os.path.join(self.folder, name))
            sync(self.folder)
            if own is not None and _is(record, own):
                os.unlink(record)
        finally:
            for _, descriptor in self.files.values():
                if descriptor is not None:
                    os.close(descriptor)
            if own is not None:
                os.close(own)

    def _announce(self, record: str) -> int | None:
        entries = []
        for name, (path, _) in self.files.items():
            old = _mark(os.path.join(self.folder, name))
            entries.append({"temporary": os.path.basename(path), "target": name, "old": old})
        path, descriptor = temporary(self.folder)
        try:
            with open(path, "w") as file:
                json.dump({"boot": _boot(), "files": entries}, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(path, record)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(path)
            if descriptor is not None:
                os.close(descriptor)
            raise
        return os.open(record, os.O_RDONLY) if descriptor is None else descriptor


def group_of(path: str, target: str) -> Group | None:
    """The group that a file is to be part of: that of this thread, if the file is where its record will be."""
    group = getattr(_local, "group", None)
    if group is None or os.path.dirname(target) != group.folder or os.path.basename(target) != os.path.basename(path):
        return None
    name = os.path.basename(target)
    return group if name.startswith(group.prefix) and name.endswith(SUFFIXES) else None


def begin(folder: str, prefix: str) -> Group | None:
    """Has the files that this thread writes be part of a group until its `end`; None inside of another group."""
    if getattr(_local, "group", None) is not None:
        return None
    group = _local.group = Group(os.path.realpath(folder or "."), prefix)
    return group


def end(group: Group | None, sync: Callable[[str], None] | None) -> None:
    """Commits what `begin` gave or, without `sync`, gives it up."""
    if group is None:
        return
    _local.group = None
    if sync is None:
        group.abort()
    else:
        group.commit(sync)


# ---- records -------------------------------------------------------------------------------------------------------


def _mark(path: str) -> list[int] | None:
    """What tells whether a file has been changed."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]


def _read(path: str) -> list[dict[str, Any]] | None:
    """The entries of a record; None if it is gone."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(1 << 20))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise MXNetError(f"{path}: cannot read what a save has noted: {error}; delete it to use the files as they "
                         f"are") from error
    match = RECORD.fullmatch(os.path.basename(path))
    prefix = "" if match is None else match[1]
    entries = found.get("files") if isinstance(found, dict) else None
    if not isinstance(entries, list) or not all(_is_entry(entry, prefix) for entry in entries):
        raise MXNetError(f"{path}: not what a save notes; delete it to use the files as they are")
    return entries


def _is_entry(entry: Any, prefix: str) -> bool:
    """Whether an entry names files of its own folder only: whoever made the folder may have made the record."""
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("temporary", "target")):
        return False
    target = entry["target"]
    return TEMPORARY.fullmatch(entry["temporary"]) is not None and os.path.basename(target) == target \
        and target.startswith(prefix) and target.endswith(SUFFIXES)  # fmt: skip


def _written_here(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return json.loads(file.read(1 << 20)).get("boot") == _boot()
    except (OSError, ValueError, AttributeError):
        return False


def finish(record: str) -> None:
    """Does the renames that a record says are still to be done."""
    entries = _read(record)
    if entries is None:
        return
    folder = os.path.dirname(record)
    pending = [entry for entry in entries if os.path.lexists(os.path.join(folder, entry["temporary"]))]
    for entry in pending:
        target = os.path.join(folder, entry["target"])
        if _mark(target) != entry.get("old"):
            warnings.warn(DROPPED.format(record=record, target=target), UserWarning, stacklevel=2)
            pending = []
            break
    for entry in pending:
        with contextlib.suppress(FileNotFoundError):
            os.replace(os.path.join(folder, entry["temporary"]), os.path.join(folder, entry["target"]))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(record)


def current(path: str) -> str:
    """Where the contents of a file are: under its name or, if a save was cut off, still under a temporary one."""
    if not path.endswith(SUFFIXES):
        return path
    folder, name = os.path.split(path)
    for end in [match.start() for match in re.finditer("[-.]", name)]:
        record = os.path.join(folder, f".mxnet-{name[:end]}.commit")
        if os.path.lexists(record):
            for entry in _read(record) or ():
                if entry["target"] == name:
                    return _pending(path, record, entry)
    return path


def _pending(path: str, record: str, entry: dict[str, Any]) -> str:
    waiting = os.path.join(os.path.dirname(path), entry["temporary"])
    if not os.path.lexists(waiting):
        return path
    if _mark(path) != entry.get("old") and os.path.lexists(waiting):
        raise MXNetError(CUT_OFF.format(name=path, target=path, record=record, temporary=waiting))
    return waiting


def read_together(names: list[str], read: Callable[[], Any]) -> Any:
    """What `read` returns; it reads again if a save has exchanged one of the files in the meantime."""
    for attempt in range(RETRIES):
        before = _seen(names)
        try:
            found = read()
        except Exception:
            if _seen(names) == before or attempt == RETRIES - 1:
                raise
            continue
        if _seen(names) == before:
            return found
    raise MXNetError(f"{names[0]}: the files of this checkpoint change each time they are read")


def _seen(names: list[str]) -> list[tuple[int, int, int] | None]:
    marks: list[tuple[int, int, int] | None] = []
    for name in names:
        try:
            found = os.stat(current(name))
            marks.append((found.st_ino, found.st_size, found.st_mtime_ns))
        except OSError:
            marks.append(None)
    return marks
