"""Where bytes come from and go to: local files and, through fsspec, everything with `scheme://` in its name.

- A write is atomic.  Whoever reads the file, even after a kill -9 or a full disk in the middle of a save, finds the
  old bytes or the new ones, never a mixture.
- Files are opened, not mapped: when somebody shortens a mapped file, the process dies of a bus error, while a read
  reports it.  The formats read large values straight into their tensors, so mapping would save no memory either.
- Every failure is an MXNetError that names the path.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import select
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, TextIO

from mxnet._wording import plain
from mxnet.base import MissingFile, MXNetError

from . import commits, downloads

__all__ = ["is_local", "local_name", "open_local", "open_read", "open_text", "open_write", "read_bytes",
           "read_together", "remote", "replacing", "reported", "together", "write_atomic"]

Chunk = bytes | bytearray | memoryview

# What to install for the schemes that people use; fsspec itself names the rest.
PACKAGES = {
    "s3": "s3fs", "s3a": "s3fs",
    "gs": "gcsfs", "gcs": "gcsfs",
    "hdfs": "pyarrow",
    "abfs": "adlfs", "abfss": "adlfs", "az": "adlfs", "adl": "adlfs",
    "http": "aiohttp requests", "https": "aiohttp requests",
    "sftp": "paramiko", "ssh": "paramiko",
}  # fmt: skip

# Object stores cannot rename, but show an object only when its upload is finished: we finish it or drop it.
# Everywhere else a temporary file is renamed, as on a disk; "memory" shows a file as soon as it is opened.
OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az"}

PIPE_SECONDS = 5.0  # until another process must have opened the other end of a named pipe
_HOW = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
PIECE = 16 << 20  # remote files collect what they are given: hand them slices, not a tensor of 10 GB


def is_local(path: str | os.PathLike) -> bool:
    """Whether the path is on this machine: without `scheme://`, or with `file://`."""
    return not _scheme(_name(path))


def local_name(path: str | os.PathLike) -> str:
    """The path of a local file as the system wants it, without `file://`.  `~` means itself, as upstream."""
    name = _name(path)
    return name[len("file://") :] if name[:7].lower() == "file://" else name


def open_read(path: str | os.PathLike) -> BinaryIO:
    """Opens a file for reading, seekable, at its beginning.  Close it, or use it in `with`."""
    name = _name(path)
    if _scheme(name):
        fs, inner = remote(name)
        with reported(name, "read"):
            return fs.open(inner, "rb")
    local = local_name(name)
    with reported(name, "read"):
        try:
            return _open_current(local)
        except FileNotFoundError:
            other = downloads.instead_of(local)
            if other is None:
                raise
            return _open_current(other)


def open_local(path: str | bytes | os.PathLike) -> BinaryIO:
    """Opens a local file for reading, or OSError.  What a pipe holds is read at once; devices are refused."""
    # else a pipe that nobody writes to, or a device, would hold up the program
    number = os.open(path, _HOW)
    try:
        kind = os.fstat(number).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if stat.S_ISFIFO(kind):  # `... | python -c "mx.nd.load('/dev/stdin')"`
            return io.BytesIO(_piped(number))
        if not stat.S_ISREG(kind):
            raise OSError("not a regular file")
        file = _File(number, os.fsdecode(path))
        number = -1
        return io.BufferedReader(file, 1 << 20)  # type: ignore[return-value]  # it is a BinaryIO
    finally:
        if number >= 0:
            os.close(number)


class _File(io.FileIO):
    """A local file whose failures name it, also those of a disk after the file was opened."""

    def __init__(self, number: int, path: str) -> None:
        super().__init__(number, "rb")
        self._path = path

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise MXNetError(f"{self._path}: cannot read: {error.strerror or error}") from error

    def readinto(self, buffer: Any) -> Any:
        """Reads into memory."""
        with self._named():
            return super().readinto(buffer)

    def readall(self) -> bytes:
        """All that follows."""
        with self._named():
            return super().readall()

    def seek(self, offset: int, whence: int = 0) -> int:
        """Goes to a place."""
        with self._named():
            return super().seek(offset, whence)


def _piped(number: int) -> bytes:
    """What a pipe holds that was opened without waiting; OSError if no process opens its other end."""
    end = time.monotonic() + PIPE_SECONDS
    poll = select.poll()
    poll.register(number, select.POLLIN)
    first = b""
    while not poll.poll(50):
        try:
            first = os.read(number, 1)  # nothing without a writer, an error if there is one that has not written yet
        except BlockingIOError:
            break
        if first:
            break
        if time.monotonic() > end:
            raise OSError(f"it is a pipe that no process has opened for writing within {PIPE_SECONDS:g} seconds")
    os.set_blocking(number, True)
    with open(number, "rb", closefd=False) as pipe:
        return first + pipe.read()


def read_bytes(path: str | os.PathLike) -> bytes:
    """The whole file."""
    with open_read(path) as file, reported(_name(path), "read"):
        return file.read()


def open_text(path: str | os.PathLike, encoding: str = "utf-8") -> TextIO:
    """Opens a file for reading lines of text."""
    return io.TextIOWrapper(open_read(path), encoding=encoding)


def open_write(path: str | os.PathLike) -> BinaryIO:
    """Opens an empty file to be written piece by piece, for streams that nobody can hold in memory.

    Not atomic: a local file has what was written so far, at once and unbuffered; a remote one appears when closed.
    """
    name = _name(path)
    if _scheme(name):
        fs, inner = remote(name)
        with reported(name, "write"):
            return fs.open(inner, "wb")
    with reported(name, "write"):
        return open(local_name(name), "wb", buffering=0)


def write_atomic(path: str | os.PathLike, chunks: Iterable[Chunk]) -> None:
    """Writes the pieces one after the other; the file appears, or changes, only when all of them are safe.

    An error raised by `chunks` itself passes through unchanged; the old file stays.
    """
    name = _name(path)
    if _scheme(name):
        _write_remote(name, chunks)
        return
    local = local_name(name)
    if _is_special(local):
        _write_local(local, chunks, name)
        return
    with replacing(name) as temporary:
        _write_local(temporary, chunks, name)


@contextlib.contextmanager
def replacing(path: str | os.PathLike) -> Iterator[str]:
    """For libraries that want a local file name: fill the yielded one, it replaces `path` when the block ends well.

    A link stays a link: the file it points to is replaced.  The mode (and, where the system allows it, the owner) of
    an existing file is kept; a new one follows the umask.  A write-protected file stays protected.
    """
    name = _name(path)
    with reported(name, "write"):
        target = os.path.realpath(local_name(name))
        old = _stat(target)
        if old is not None and not stat.S_ISREG(old.st_mode):
            raise OSError("not a regular file")
        if old is not None:  # the rename would not ask
            os.close(os.open(target, os.O_WRONLY))
        folder = os.path.dirname(target)
        group = commits.group_of(local_name(name), target)
        temporary, lock = commits.temporary(folder)
    try:
        with reported(name, "write"):
            mode = stat.S_IMODE(os.stat(temporary).st_mode)
            if not mode & stat.S_IWUSR:  # a umask that hides new files from ourselves
                os.chmod(temporary, mode | stat.S_IWUSR)
        yield temporary
        with reported(name, "write"):
            _sync(temporary)
            _take_after(temporary, mode, old)
            if group is not None:
                group.add(temporary, target, lock)
                lock = None
                return
            os.replace(temporary, target)
            _sync_folder(folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    finally:
        if lock is not None:
            os.close(lock)


@contextlib.contextmanager
def together(prefix: str | os.PathLike) -> Iterator[None]:
    """For the files of a checkpoint: those that are written inside, with names that begin with `prefix`, appear
    together when the block ends well, or not at all.

    After a kill in the middle of that, `open_read` and the next save in the folder find what was decided.  Remote
    stores cannot do that: there each file appears by itself.
    """
    name = _name(prefix)
    if _scheme(name):
        yield
        return
    group = commits.begin(*os.path.split(local_name(name)))
    try:
        yield
    except BaseException:
        commits.end(group, None)
        raise
    with reported(name, "write"):
        commits.end(group, _sync_folder)


def read_together(names: Iterable[str | os.PathLike], read: Callable[[], Any]) -> Any:
    """What `read` returns, which reads all of these files; none of them is of another save than the others."""
    local = [_name(name) for name in names]
    if any(_scheme(name) for name in local):
        return read()
    return commits.read_together([local_name(name) for name in local], read)


# ---- local ---------------------------------------------------------------------------------------------------------


def _name(path: str | os.PathLike) -> str:
    try:
        return os.fsdecode(path)
    except TypeError:
        raise TypeError(f"expected a file name (str or os.PathLike), got {type(path).__name__}") from None


def _scheme(name: str) -> str:
    """'s3' of 's3://bucket/key'; '' for what is on this machine."""
    scheme, mark, _ = name.partition("://")
    return scheme.lower() if mark and scheme.lower() != "file" else ""


def _open_current(local: str) -> BinaryIO:
    """Opens a file where its contents are; a save in another process may rename it at the same time."""
    while True:
        path = commits.current(local)
        try:
            return open_local(path)
        except FileNotFoundError:
            if path == local:
                raise


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _is_special(path: str) -> bool:
    """/dev/stdout, /dev/null, a named pipe: to be written to, not to be replaced by a file."""
    try:
        kind = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))


def _write_local(path: str, chunks: Iterable[Chunk], name: str) -> None:
    with reported(name, "write"):
        file = open(path, "wb", buffering=1 << 20)
    try:
        _write_pieces(file, chunks, name)
        with reported(name, "write"):
            file.close()  # a full disk may show only here
    except BaseException:
        with contextlib.suppress(Exception):
            file.close()
        raise


def _take_after(temporary: str, mode: int, old: os.stat_result | None) -> None:
    """Gives the new file the old one's owner and mode."""
    if old is not None:
        mode = stat.S_IMODE(old.st_mode) & 0o777
        if hasattr(os, "chown"):
            with contextlib.suppress(OSError):  # only root may give a file away
                os.chown(temporary, old.st_uid, old.st_gid)
    if stat.S_IMODE(os.stat(temporary).st_mode) != mode:
        os.chmod(temporary, mode)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: str) -> None:
    """Makes the rename itself last.  Some systems cannot sync a folder; the file is whole there, too."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# ---- remote --------------------------------------------------------------------------------------------------------


def remote(name: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the name of the file in it."""
    scheme = _scheme(name)
    packages = f"fsspec {PACKAGES[scheme]}" if scheme in PACKAGES else "fsspec"
    try:
        import fsspec
    except ImportError as error:
        raise MXNetError(f"{name}: {scheme}:// needs fsspec: pip install {packages}") from error
    try:
        return fsspec.core.url_to_fs(name)
    except ImportError as error:
        raise MXNetError(f"{name}: {scheme}:// needs more packages: pip install {packages} ({error})") from error
    except Exception as error:
        raise MXNetError(f"{name}: cannot reach {scheme}://: {error}") from error


def _write_remote(name: str, chunks: Iterable[Chunk]) -> None:
    fs, inner = remote(name)
    if _scheme(name) in OBJECT_STORES:
        with reported(name, "write"):
            file = fs.open(inner, "wb")
        try:
            _write_pieces(file, chunks, name)
            with reported(name, "write"):
                file.close()
        except BaseException:
            with contextlib.suppress(Exception):
                file.discard()
            file.closed = True  # else its destructor would finish the upload
            raise
        return
    folder, slash, _ = inner.rpartition("/")
    temporary = f"{folder}{slash}.mxnet-{secrets.token_hex(8)}.tmp"
    try:
        with reported(name, "write"):
            file = fs.open(temporary, "wb")
        try:
            _write_pieces(file, chunks, name)
        finally:
            with reported(name, "write"):
                file.close()
        with reported(name, "write"):
            fs.mv(temporary, inner)
            if fs.exists(temporary):  # WebHDFS answers "no" without an error
                raise OSError("the store did not rename the temporary file; does the file exist already?")
    except BaseException:
        with contextlib.suppress(Exception):
            fs.rm_file(temporary)
        raise


def _write_pieces(file: Any, chunks: Iterable[Chunk], name: str) -> None:
    for chunk in chunks:
        view = memoryview(chunk).cast("B")
        with reported(name, "write"):
            for start in range(0, len(view), PIECE):
                file.write(view[start : start + PIECE])


@contextlib.contextmanager
def reported(name: str, verb: str) -> Iterator[None]:
    """Turns what the system or a remote store says into an MXNetError that names the file."""
    try:
        yield
    except MXNetError:
        raise
    except Exception as error:
        reason = getattr(error, "strerror", None) or (plain(error) if str(error) else "")
        if isinstance(error, FileNotFoundError) and reason in name:  # all that some remote stores say
            reason = "no such file"
        reason = reason or type(error).__name__
        kind = MissingFile if isinstance(error, FileNotFoundError) else MXNetError
        raise kind(f"{name}: cannot {verb}: {reason}") from error
