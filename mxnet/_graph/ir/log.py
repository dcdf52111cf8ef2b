"""The log of plans, which MXNET_LOG_PLANS=1 turns on."""
from __future__ import annotations

import logging
import os
from typing import Any

_log = logging.getLogger('mxnet.plans')


def is_logging() -> bool:
    """Whether plans are logged."""
    return os.environ.get('MXNET_LOG_PLANS', '0') not in ('0', '')


def log(message: str, *values: Any) -> None:
    """Logs a message if plans are logged."""
    if is_logging():
        _log.warning(message, *values)


def reason(error: BaseException) -> str:
    """An error in a line, with the one that it came up in the handling of."""
    first = error.__cause__ or error.__context__
    said = f'{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ""}'
    return said if first is None else f'{said} (after {reason(first)})'
