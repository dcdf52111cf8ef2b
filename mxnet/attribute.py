"""Attributes that all symbols made within a `with` block share."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Self

from ._names import suggest_names as _suggest_names
from ._scope import Current, Scope

__all__ = ['AttrScope']


class AttrScope(Scope):
    """Gives every symbol made within `with AttrScope(...)` the same attributes.

    Values are strings.  An inner scope adds to the outer ones and wins where both set an attribute; what a symbol sets
    itself wins over both.  Operators take attributes of the form `__name__` (and `ctx_group`, `lr_mult`, `wd_mult`,
    `force_mirroring`, `mirror_stage`); other names would be taken for their parameters.

    >>> with mx.AttrScope(__stage__='1'):
    ...     with mx.AttrScope(ctx_group='dev2'):
    ...         mx.AttrScope.current.get({'lr_mult': '0.1'})
    {'__stage__': '1', 'ctx_group': 'dev2', 'lr_mult': '0.1'}
    """

    _subgraph_names: dict = defaultdict(int)      # how many bodies of loops and branches had each name

    def __init__(self, **kwargs: Any) -> None:
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ValueError(f'AttrScope: attribute {key} must be a string, not {value!r}')
        self._attr = kwargs
        self._own: list[Any] = []

    def get(self, attr: Mapping[str, str] | None) -> dict[str, str]:
        """A new dict: this scope's attributes, then those of `attr` (a dict or None) over them."""
        return {**self._attr, **(attr or {})}

    def __enter__(self) -> Self:
        self._own.append(self._attr)
        self._attr = {**self._current.value._attr, **self._attr}
        return super().__enter__()

    def __exit__(self, ptype: Any, value: Any, trace: Any) -> None:
        super().__exit__(ptype, value, trace)
        # What the surrounding scopes lent goes back, so that the object can be used elsewhere.
        self._attr = self._own.pop()


AttrScope._current = Current(AttrScope)


_suggest_names(globals())
