"""JSON from files: a value, or an error that names the file and the byte."""

from __future__ import annotations

import json
from typing import Any

from mxnet._files import limits
from mxnet.base import MXNetError

__all__ = ["load", "shown"]


def load(data: bytes | bytearray | memoryview | str, where: str, what: str = "JSON") -> Any:
    """The value in a text; `what` says what it should have been."""
    if isinstance(data, str):
        text, size = data, len(data)
    else:
        size = len(data)
        try:
            text = bytes(data).decode()
        except UnicodeDecodeError as error:
            raise MXNetError(
                f"{where}: byte {error.start}: not {what}: {error.object[error.start : error.end]!r} is not UTF-8"
            ) from None
    # an empty list is two characters and a comma in the file, and eight times that in memory, or more
    limits.check(72 * (text.count("[") + text.count("{")) + 24 * text.count(","), size, where, f"the {what}")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = len(text[: error.pos].encode("utf-8", "surrogatepass"))
        found = text[error.pos : error.pos + 20]
        raise MXNetError(
            f"{where}: byte {place}: not {what}: {error.msg}"
            + (f", found {limits.printable(found)!r}" if found else ", but the text ends there")
        ) from None
    except RecursionError:
        raise MXNetError(f"{where}: not {what}: its lists are nested too deeply") from None
    except ValueError as error:  # a number of more digits than Python reads
        raise MXNetError(f"{where}: not {what}: {error}") from None


def shown(value: Any) -> str:
    """A value of a file for an error: short, and without what a terminal would act upon."""
    if isinstance(value, str):
        text = repr(limits.printable(value[:60]))
    elif isinstance(value, (int, float, bool, type(None))):
        text = repr(value) if not isinstance(value, int) or abs(value) < 10**60 else "a number of many digits"
    elif isinstance(value, (list, tuple)):
        text = f"a list of {len(value)}" if value else "an empty list"
    else:
        text = f"a {type(value).__name__}"
    return text
