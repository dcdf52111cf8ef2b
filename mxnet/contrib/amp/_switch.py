"""Mixed precision switched on: an interceptor (_dispatch.py) that puts casts before calls on arrays and on symbols."""
from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import torch

from ..._dispatch import PRECISION, Interceptor
from ..._ops.core.dtypes import NAME
from ..._ops.core.table import NAMES
from ...symbol._compose import make
from ._graph import Composer
from ._rules import WIDEST
from .lists import _families

if TYPE_CHECKING:
    from ..._ops.core.table import Operator
    from ...symbol import Symbol

_CAST = NAMES['amp_cast']
_OUTPUTS = {NAMES[name] for name in _families.OUTPUTS}
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)       # widest first


class Casts(Interceptor):
    """The casts of some `Rules`; `scale()` is what losses are multiplied with, or None."""

    rank = PRECISION

    def __init__(self, rules: Any, scale: Any) -> None:
        self.rules, self.scale = rules, scale
        self._composer = Composer(rules)

    def compose(self, op: Operator, symbol: Symbol, cls: type) -> Any:
        if op in _OUTPUTS and self.scale() not in (None, 1):
            logging.warning('AMP: %s in a graph does not follow the scale of the loss; use gluon.loss', op.name)
        node = symbol._entries[0][0] if symbol._entries else None
        changed = node and self._composer(node)
        return symbol if changed is node else make(cls, [(changed, i) for _, i in symbol._entries])

    def call(self, proceed: Any, op: Operator, inputs: Any, attributes: Any, out: Any, cls: type) -> Any:
        wanted = self.rules.dtype(op, attributes)
        if wanted is not None:
            inputs = self._cast(proceed, op, inputs, attributes, wanted)
            if op in _OUTPUTS and self.scale() is not None:
                attributes = {**attributes, 'grad_scale': attributes.get('grad_scale', 1.) * self.scale()}
        return proceed(op, inputs, attributes, out, cls)

    def _cast(self, proceed, op, inputs, attributes, wanted):
        there = [x is not None and not x._sparse and x.meta().dtype in _FLOATS for x in inputs]
        if wanted == WIDEST:
            found = {x.meta().dtype for x, floats in zip(inputs, there, strict=True) if floats}
            if len(found) < 2:
                return inputs
            wanted = NAME[next(dtype for dtype in _FLOATS if dtype in found)]
        untouched = self.rules.untouched(op, attributes, len(inputs))
        return [proceed(_CAST, (x,), {'dtype': wanted}, None, x._dense)
                if floats and i not in untouched and NAME[x.meta().dtype] != wanted else x
                for i, (x, floats) in enumerate(zip(inputs, there, strict=True))]
