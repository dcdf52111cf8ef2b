"""Scales of losses, so that small gradients survive in float16."""
from __future__ import annotations

import logging
from typing import Any

from ...ndarray import multi_all_finite

START, LARGEST = 2. ** 16, 2. ** 24
GROWTH_INTERVAL = 2000                 # steps without overflow before the scale is doubled


class LossScaler:
    """A factor that follows the gradients: halved when they overflow, doubled after 2000 steps without overflow."""

    def __init__(self) -> None:
        self._loss_scale = self._next_loss_scale = START
        self._max_loss_scale = LARGEST
        self._scale_seq_len = GROWTH_INTERVAL
        self._unskipped = 0

    @property
    def loss_scale(self) -> float:
        """What losses are multiplied with now."""
        return self._loss_scale

    def has_overflow(self, params: Any) -> bool:
        """Is a gradient of these Parameters infinite or NaN?  Asked once a step: the answer moves the scale."""
        by_context: dict[Any, Any] = {}
        for param in params:
            if param.grad_req != 'null' and param._data is not None:
                for gradient in param.list_grad():
                    by_context.setdefault(gradient.context, []).append(gradient)
        # all contexts compute before the first answer is waited for
        finite = [multi_all_finite(*_values(group), num_arrays=len(group)) for group in by_context.values()]
        overflow = not all(f.asscalar() for f in finite)
        self._loss_scale = self._next_loss_scale
        if overflow:
            self._next_loss_scale = self._loss_scale = self._loss_scale / 2
            self._unskipped = 0
            logging.info('AMP: gradients overflowed; no step, and the loss scale is now %g', self._loss_scale)
        else:
            self._unskipped += 1
            if self._unskipped >= self._scale_seq_len:
                self._unskipped = 0
                self._next_loss_scale = min(self._max_loss_scale, self._loss_scale * 2)
                logging.info('AMP: the loss scale will be %g', self._next_loss_scale)
        return overflow


class NoScaling(LossScaler):
    """For bfloat16, which has the range of float32: the factor is 1, and nothing needs to be looked at."""

    def __init__(self) -> None:
        super().__init__()
        self._loss_scale = self._next_loss_scale = 1.

    def has_overflow(self, params: Any) -> bool:
        return False


def _values(gradients):
    return [g.data if g.stype == 'row_sparse' else g for g in gradients]
