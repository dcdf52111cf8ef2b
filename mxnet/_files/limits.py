"""How much memory and work reading a file may take: it follows from the size of the file.

A file of fifty bytes can declare a picture of four gigabytes, or a graph of two billion outputs.  Whatever a reader
makes of a file is compared with the file's allowance before memory is taken: nine times its size, and 224 MB besides,
which is enough for photographs and for tables of numbers.  MXNET_FILE_LIMIT_MB is the second number, for whoever trusts
a file that needs more.
"""

from __future__ import annotations

import os

from mxnet._wording import plain
from mxnet.base import MXNetError

__all__ = ["DEPTH", "allowance", "broken", "check", "printable", "unpacked"]

SHARE = 9
MEGABYTES = 224
DEPTH = 100  # of lists in lists in a file; Python's own stack ends at a thousand frames
_VARIABLE = "MXNET_FILE_LIMIT_MB"


def _megabytes() -> float:
    text = os.environ.get(_VARIABLE, "")
    if not text:
        return MEGABYTES
    try:
        number = float(text)
        if not 0 <= number < 1e12:
            raise ValueError
    except ValueError:
        raise MXNetError(f"{_VARIABLE}={text!r} is not accepted; it takes a number of megabytes") from None
    return number


def allowance(size: int) -> int:
    """How many bytes may be made of a file of so many."""
    return SHARE * size + int(_megabytes() * 1e6)


def check(need: int, size: int, where: str, what: str) -> None:
    """Refuses what a file asks for if it is more than the file's allowance; `what` names the part that asks."""
    allowed = allowance(size)
    if need > allowed:
        raise MXNetError(
            f"{where}: {what} takes {need:,} bytes, but {allowed:,} is all that {size:,} bytes may ask for; "
            f"for a file that is trusted, {_VARIABLE}={int((need - SHARE * size) / 1e6) + 1} allows it"
        )


def unpacked(stream, size: int, where: str, what: str) -> bytes:
    """All of a stream that unpacks `size` bytes (gzip, a member of an archive), within their allowance."""
    pieces, total = [], 0
    while piece := stream.read(1 << 20):
        total += len(piece)
        # the pieces and what joins them are there at the same time
        check(2 * total, size, where, what)
        pieces.append(piece)
    return b"".join(pieces)


def broken(error: BaseException) -> str:
    """What is wrong with an archive, from what a library has raised over it; not what it says of its own objects."""
    if isinstance(error, (IndexError, KeyError, TypeError, AttributeError, UnicodeError)) or not str(error):
        return "it is not a whole archive"
    if isinstance(error, RecursionError):
        return "its headers are nested without end"
    return " ".join(plain(error).split())


def printable(text: str) -> str:
    """A name of a file's with everything escaped that a terminal would act upon: control characters, ANSI sequences,
    marks that turn the direction of writing, line separators, characters that cannot be encoded."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
