"""Loggers that write a coloured line: level, time, process, place, message."""
from __future__ import annotations

import logging
import warnings
from logging import CRITICAL, DEBUG, ERROR, INFO, NOTSET, WARNING
from typing import TYPE_CHECKING, Any

from ._kinds import explain_kinds as _explain_kinds

if TYPE_CHECKING:
    from ._typing import Path

__all__ = ['CRITICAL', 'DEBUG', 'ERROR', 'INFO', 'NOTSET', 'WARNING', 'getLogger', 'get_logger']

_LABELS = {CRITICAL: 'C', ERROR: 'E', WARNING: 'W', INFO: 'I', DEBUG: 'D'}
_RED, _GREEN, _BLUE, _PLAIN = '\x1b[31m', '\x1b[32m', '\x1b[34m', '\x1b[0m'


class _Formatter(logging.Formatter):
    def __init__(self):
        super().__init__('%(mx_color)s%(mx_label)s%(asctime)s %(process)d %(pathname)s:%(funcName)s:%(lineno)d]'
                         f'{_PLAIN} %(message)s', '%m%d %H:%M:%S')

    def formatMessage(self, record):
        record.mx_color = _RED if record.levelno >= WARNING else _GREEN if record.levelno >= INFO else _BLUE
        record.mx_label = _LABELS.get(record.levelno, 'U')
        return super().formatMessage(record)


def get_logger(name: str | None = None, filename: Path | None = None, filemode: str | None = None,
               level: int = WARNING) -> Any:
    """The logger `name`; at the first call for a name it gets a handler and `level`.

    With `filename`, messages go into that file, plain and without place (opened with `filemode`, default 'a').
    Otherwise coloured lines go to stderr.  Without `name` it is Python's root logger, left as it is.
    """
    logger = logging.getLogger(name)
    if name is None or getattr(logger, '_init_done', False):
        return logger
    handler: logging.Handler
    if filename:
        handler = logging.FileHandler(filename, filemode or 'a')
    else:
        handler = logging.StreamHandler()
        handler.setFormatter(_Formatter())
    logger.addHandler(handler)
    logger.setLevel(level)
    logger._init_done = True  # type: ignore[attr-defined]
    return logger


def getLogger(name: str | None = None, filename: Path | None = None, filemode: Any = None, level: int = WARNING) -> Any:
    """The old name of `get_logger`."""
    warnings.warn('mx.log.getLogger is deprecated: use mx.log.get_logger', DeprecationWarning, stacklevel=2)
    return get_logger(name, filename, filemode, level)


_explain_kinds(globals(), __all__)
