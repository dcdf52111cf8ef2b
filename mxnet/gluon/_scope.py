"""Names of blocks and their parameters: `net_` + `dense0_` + `weight`."""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

from .. import name as _name
from .parameter import ParameterDict

if TYPE_CHECKING:
    from ..gluon.block import Block

_current = threading.local()


class BlockScope:
    """`with net.name_scope():` blocks made inside get the net's prefix, and counters of their own."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._counter: dict[Any, Any] = {}
        self._outer: list[Any] = []

    @staticmethod
    def create(prefix: str | None, params: ParameterDict | None, hint: str) -> tuple[str, ParameterDict]:
        """(prefix, parameter dictionary) of a new block."""
        scope = getattr(_current, 'value', None)
        if scope is None:
            if prefix is None:
                prefix = _name.NameManager.current.get(None, hint) + '_'
            return prefix, ParameterDict(prefix) if params is None else ParameterDict(params.prefix, params)
        if prefix is None:
            number = scope._counter.get(hint, 0)
            scope._counter[hint] = number + 1
            prefix = f'{hint}{number}_'
        if params is None:
            parent = scope._block.params
            params = ParameterDict(parent.prefix + prefix, parent._shared)
        else:
            params = ParameterDict(params.prefix, params)
        return scope._block.prefix + prefix, params

    def __enter__(self) -> Self:
        if not self._block._empty_prefix:
            names = _name.Prefix(self._block.prefix)
            names.__enter__()
            self._outer.append((getattr(_current, 'value', None), names))
            _current.value = self
        return self

    def __exit__(self, ptype: Any, value: Any, trace: Any) -> None:
        if not self._block._empty_prefix:
            _current.value, names = self._outer.pop()
            names.__exit__(ptype, value, trace)
