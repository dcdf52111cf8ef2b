"""The engine: when work is done.

- On the CPU an operator has run when its call returns, and an error is raised at that call.
- On a GPU, work is queued on CUDA streams; `wait_to_read`, `asnumpy` and `mx.nd.waitall` wait for it.
- Recorded calls of hybridized blocks are deferred until `backward`, and what repeats is bound to what it depends on
  (mxnet/_lazy/README.md).
- `MXNET_ENGINE_TYPE=NaiveEngine`, set before the program starts, turns all of this off: every call computes at once, by
  the operators that the program names, nothing is deferred, traced, remembered or captured as a CUDA graph, and every
  GPU call waits until its work is done.  If a program gives other results with it than without, that is a defect of
  ours.  It is slow.  `ThreadedEngine` and `ThreadedEnginePerDevice` are the default.
- Bulking is what made many small operators cheaper in MXNet 1.x.  Nothing needs it here: the size is remembered per
  thread, so that programs which set it and set it back go on working.
"""
from __future__ import annotations

import operator
import os
import sys
import warnings
from typing import Any

from ._kinds import explain_kinds as _explain_kinds
from ._names import suggest_names as _suggest_names
from ._state import state
from .base import MXNetError

__all__ = ['bulk', 'set_bulk_size']

_ENGINE_TYPES = ('ThreadedEnginePerDevice', 'ThreadedEngine', 'NaiveEngine')


def set_bulk_size(size: int) -> int:
    """Remembers `size` (0 or more) for this thread and returns the one before."""
    size = operator.index(size)
    if size < 0:
        raise MXNetError(f'set_bulk_size: size must be 0 or more, not {size}')
    previous, state.bulk_size = state.bulk_size, size
    return previous


class _BulkScope:
    def __init__(self, size):
        self._size = size
        self._previous = []

    def __enter__(self):
        self._previous.append(set_bulk_size(self._size))
        return self

    def __exit__(self, ptype, value, trace):
        set_bulk_size(self._previous.pop())


def bulk(size: int) -> Any:
    """`with mx.engine.bulk(10): ...` sets the bulk size for a block of code."""
    return _BulkScope(size)


def _engine_type():
    name = os.environ.get('MXNET_ENGINE_TYPE') or _ENGINE_TYPES[0]
    if name not in _ENGINE_TYPES:
        raise MXNetError(f'MXNET_ENGINE_TYPE must be one of {", ".join(_ENGINE_TYPES)}, not {name!r}')
    return name


def _before_first_gpu_use():
    """Called by `mx.context` before it asks torch for a GPU for the first time."""
    if _engine_type() != 'NaiveEngine' or os.environ.get('CUDA_LAUNCH_BLOCKING') == '1':
        return
    torch = sys.modules.get('torch')
    if torch is not None and torch.cuda.is_initialized():
        # The driver reads the variable once, when it starts.
        warnings.warn('MXNET_ENGINE_TYPE=NaiveEngine has no effect: torch used a GPU before mxnet did. '
                      'Set CUDA_LAUNCH_BLOCKING=1 in the environment of the program as well.', stacklevel=2)
    else:
        os.environ['CUDA_LAUNCH_BLOCKING'] = '1'


_explain_kinds(globals(), __all__)
_suggest_names(globals())
