"""Downloads: a file appears whole or not at all, and what a broken download has left is continued."""
from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import uuid
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_LOCKED_BYTE = 1 << 30          # Windows locks bytes, and what is locked cannot be read: one far behind the content


class WrongContent(OSError):
    """What came is not the file; `resumed` if it was added to what an earlier download had left."""

    def __init__(self, message: str, resumed: bool) -> None:
        super().__init__(message)
        self.resumed = resumed


def check_sha1(filename: str, sha1: str) -> bool:
    """Whether a file's content has this SHA-1 sum."""
    with open(filename, 'rb') as file:
        return hashlib.file_digest(file, 'sha1').hexdigest() == sha1


def fetch(url: str, target: str, sha1: str | None = None, *, verify_ssl: bool = True, files: bool = False,
          timeout: float = 60, tell: Callable[[str], Any] | None = None, bar: Callable[..., Any] | None = None) -> None:
    """Downloads one file; OSError if that fails.

    With a sum, a download that breaks off leaves `target`.part, which the next one continues, from any server.
    files: `file://` is an address as well
    tell: takes a line about what is done
    bar: (name, bytes in all or None, bytes there) -> an object that is told of bytes by `add`, and closed by `close`
    """
    # what a broken download has left is gone on with only where its sum can tell whether the pieces fit
    file = _part_of(target) if sha1 else None
    keep = file is not None
    if file is None:
        temporary = f'{target}.{uuid.uuid4().hex[:12]}.part'
        file = open(temporary, 'xb')
    else:
        temporary = file.name
    try:
        with file:
            begin = file.tell()
            if not (begin and sha1 and check_sha1(temporary, sha1)):    # an earlier download may have had all of it
                try:
                    begin = _receive(url, file, begin, _opener(url, verify_ssl, files), timeout, tell, bar)
                except WrongContent:
                    keep = False
                    raise
                file.flush()
                if sha1 and not check_sha1(temporary, sha1):
                    keep = False
                    raise WrongContent('the SHA-1 sum of the file is not the expected one', bool(begin))
            if os.name == 'nt':
                file.close()            # Windows moves no open file
            os.replace(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            if not keep or not os.path.getsize(temporary):
                os.unlink(temporary)


def _receive(url: str, file: IO[bytes], begin: int, opener: Any, timeout: float, tell: Any, bar: Any) -> int:
    """Appends what is missing of a file; returns how much of the earlier download was kept."""
    import urllib.error
    import urllib.request

    try:
        request = urllib.request.Request(url, headers={'Range': f'bytes={begin}-'} if begin else {})
        with opener.open(request, timeout=timeout) as answer:
            here = f'bytes {begin}-'
            if begin and answer.status == 206 and answer.headers.get('Content-Range', here).startswith(here):
                if tell is not None:
                    tell(f'going on at byte {begin}')
            else:
                begin = 0
                file.truncate(0)
                file.seek(0)
            length = answer.headers.get('Content-Length')
            total = None if length is None else begin + int(length)
            shown = None if bar is None else bar(os.path.basename(url), total, begin)
            try:
                while chunk := answer.read1(1 << 16):         # what is there: slow downloads leave a part, too
                    file.write(chunk)
                    if shown is not None:
                        shown.add(len(chunk))
            finally:
                if shown is not None:
                    shown.close()
        if total is not None and file.tell() != total:
            raise OSError(f'the connection was lost after {file.tell()} of {total} bytes')
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and begin:         # there is nothing behind what we have, and it is not the whole
            raise WrongContent('what an earlier download left is not the beginning of the file', True) from error
        raise
    except (http.client.HTTPException, ValueError) as error:
        raise OSError(f'the answer is not HTTP as it should be ({type(error).__name__}: {error})') from error
    return begin


def _part_of(target: str) -> IO[bytes] | None:
    """The file with what an earlier attempt has got, at its end; None if another process is at it."""
    file = open(f'{target}.part', 'ab')
    try:
        if os.name == 'nt':
            import msvcrt

            file.seek(_LOCKED_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)           # type: ignore[attr-defined]
            file.seek(0, os.SEEK_END)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _opener(url: str, verify_ssl: bool, files: bool) -> Any:
    """Follows redirections to web servers only, not to files or to other kinds of servers."""
    import ssl
    import urllib.request as web

    context = ssl._create_unverified_context() if url.startswith('https') and not verify_ssl else None
    opener = web.OpenerDirector()
    for handler in (web.ProxyHandler(), web.HTTPHandler(), web.HTTPSHandler(context=context), _web_redirects(),
                    web.HTTPDefaultErrorHandler(), web.HTTPErrorProcessor(), web.UnknownHandler(),
                    *([web.FileHandler()] if files else [])):
        opener.add_handler(handler)
    return opener


def _web_redirects() -> Any:
    import urllib.error
    import urllib.request

    class WebRedirects(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
            if not newurl.lower().startswith(('http://', 'https://')):
                fp.close()
                raise urllib.error.URLError(f'it leads to {newurl}, which is not a web address')
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    return WebRedirects()
