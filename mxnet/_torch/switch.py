"""Looks up private names of torch."""
import os
from collections.abc import Callable
from typing import Any

import torch

ALLOWED = os.environ.get('MXNET_TORCH_PRIVATE', '1') not in ('0', '')

# name -> (what torch has by it, or None; its fallback), for the tests
NAMES: dict[str, tuple[Any, Any]] = {}


def private(name: str, fallback: Any, fits: Callable[[Any], bool] | None = None) -> Any:
    """`torch.<name>`, or the fallback where torch has no such name, or MXNET_TORCH_PRIVATE=0 forbids it.

    fits: whether what torch has by this name can be used
    """
    found: Any = torch
    for part in name.split('.'):
        found = getattr(found, part, None)
        if found is None:
            break
    if found is not None and fits is not None and not fits(found):
        found = None
    NAMES[name] = found, fallback
    return found if found is not None and ALLOWED else fallback
