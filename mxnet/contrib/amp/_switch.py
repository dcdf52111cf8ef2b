"""Mixed precision switched on: calls on arrays and on symbols get casts before them.

Nothing in the rest of the package asks whether it is on.  What every call goes through, `_invoke.run` and
`_compose.compose`, is exchanged, and so are the derived functions that have a shorter way for plain arrays.
"""
import functools
import logging

import torch

from ..._array import meta
from ..._ops.dtypes import NAME
from ..._ops.table import NAMES
from ...ndarray import _internal, _invoke, contrib, image, linalg, op, sparse
from ...ndarray.ndarray import NDArray
from ...symbol import _compose
from ._graph import Composer
from ._rules import WIDEST
from .lists import _families

_CAST = NAMES['amp_cast']
_OUTPUTS = {NAMES[name] for name in _families.OUTPUTS}
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)       # widest first


class Switch:
    """The casts of some `Rules`, until `off`; `scale()` is what losses are multiplied with, or None."""

    def __init__(self, rules, scale):
        self.rules, self.scale = rules, scale
        self.undo = []
        self.plain_run = _invoke.run
        self._exchange(_invoke, 'run', self.run)
        composer, plain_compose = Composer(rules), _compose.compose

        def compose(op, name, inputs, attrs, own, cls):
            if op in _OUTPUTS and scale() not in (None, 1):
                logging.warning('AMP: %s in a graph does not follow the scale of the loss; use gluon.loss', op.name)
            made = plain_compose(op, name, inputs, attrs, own, cls)
            node = made._entries[0][0] if made._entries else None
            changed = node and composer(node)
            return made if changed is node else _compose.make(cls, [(changed, i) for _, i in made._entries])

        self._exchange(_compose, 'compose', compose)
        self._make_functions_go_the_long_way()

    def off(self):
        while self.undo:
            owner, name, value = self.undo.pop()
            setattr(owner, name, value)

    def _exchange(self, owner, name, value):
        self.undo.append((owner, name, vars(owner)[name]))
        setattr(owner, name, value)

    # ------------------------------------------------------------------ arrays
    def run(self, op, inputs, attributes, out, cls):
        wanted = self.rules.dtype(op, attributes)
        if wanted is not None:
            inputs = self._cast(op, inputs, attributes, wanted)
            if op in _OUTPUTS and self.scale() is not None:
                attributes = {**attributes, 'grad_scale': attributes.get('grad_scale', 1.) * self.scale()}
        return self.plain_run(op, inputs, attributes, out, cls)

    def _cast(self, op, inputs, attributes, wanted):
        there = [x is not None and not x._sparse and meta(x).dtype in _FLOATS for x in inputs]
        if wanted == WIDEST:
            found = {meta(x).dtype for x, floats in zip(inputs, there, strict=True) if floats}
            if len(found) < 2:
                return inputs
            wanted = NAME[next(dtype for dtype in _FLOATS if dtype in found)]
        untouched = self.rules.untouched(op, attributes, len(inputs))
        return [self.plain_run(_CAST, (x,), {'dtype': wanted}, None, x._dense)
                if floats and i not in untouched and NAME[meta(x).dtype] != wanted else x
                for i, (x, floats) in enumerate(zip(inputs, there, strict=True))]

    def _make_functions_go_the_long_way(self):
        from ... import ndarray
        from ...ndarray.numpy import _internal as numpy_internal
        from ...numpy_extension import _op as numpy_extension
        modules = (ndarray, op, _internal, contrib, linalg, image, sparse, numpy_internal, numpy_extension)
        for owner in (*modules, *NDArray.__mro__[:-1]):
            for name, function in list(vars(owner).items()):
                known = getattr(function, 'derived_from', None)
                if known is not None and self.rules.knows(known[0]):
                    self._exchange(owner, name, _long_way(function, *known))


def _long_way(function, op, cls):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return _invoke.call(op, args, kwargs, cls or args[0]._dense)
    return call
