"""What MXNET_LOG_PLANS=1 has plans say."""
from __future__ import annotations

import logging
import os
from typing import Any

_log = logging.getLogger('mxnet.plans')


def talks() -> bool:
    """Whether somebody wants to know."""
    return os.environ.get('MXNET_LOG_PLANS', '0') not in ('0', '')


def say(message: str, *values: Any) -> None:
    """Says something if somebody wants to know."""
    if talks():
        _log.warning(message, *values)


def reason(error: BaseException) -> str:
    """An error in a line, with the one that it came up in the handling of."""
    first = error.__cause__ or error.__context__
    said = f'{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ""}'
    return said if first is None else f'{said} (after {reason(first)})'
