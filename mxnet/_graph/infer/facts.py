"""What inference knows of the entries of a graph, and partial shapes: how two of them are merged."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import torch

from ..._ops.core.complaints import called_with
from ..._ops.core.dtypes import NAME
from ..._state import state
from ...base import MXNetError
from ..ir.node import Entry, Node

if TYPE_CHECKING:
    from ..types import PartialShape

MOST = 1 << 59           # numbers in an array: a byte of each must have an address


class Facts:
    """What is known of a graph's entries while inference goes on."""

    def __init__(self) -> None:
        self.shapes: dict[tuple[int, int], tuple[int, ...] | None] = {}
        self.dtypes: dict[tuple[int, int], torch.dtype | None] = {}
        self.settled: set[Node] = set()         # operators of which everything is known
        self.shaped: set[Node] = set()          # operators of which all shapes are known
        self.places: dict[Node, tuple[Sequence[tuple[int, int]], Any]] = {}     # see `_places`
        self.changed = False
        self.waits = False                      # whether dtypes that are not known now will be
        self.unknown = unknown_length()

    def shape(self, entry: Entry) -> PartialShape | None:
        return self.shapes.get((id(entry[0]), entry[1]))

    def dtype(self, entry: Entry) -> torch.dtype | None:
        return self.dtypes.get((id(entry[0]), entry[1]))

    def learn_shape(self, entry: Entry, shape: PartialShape | None, why: Node) -> None:
        if shape is None:
            return
        key = (id(entry[0]), entry[1])
        old = self.shapes.get(key)
        new = merge(old, shape, self.unknown)
        if new is None:
            raise MXNetError(f'shapes clash at {describe(why)}: {entry[0].entry_name(entry[1])} is {old} by one way '
                             f'and {shape} by another' + _called(why))
        if new != old:
            if math.prod(n for n in new if n > 0) >= MOST:
                raise MXNetError(f'{describe(why)}: {entry[0].entry_name(entry[1])} would have the shape {new}, '
                                 'which is larger than any memory' + _called(why))
            self.shapes[key] = new
            self.changed = True

    def learn_dtype(self, entry: Entry, dtype: torch.dtype | None, why: Node) -> None:
        if dtype is None:
            return
        key = (id(entry[0]), entry[1])
        old = self.dtypes.get(key)
        if old is None:
            self.dtypes[key] = dtype
            self.changed = True
        elif old is not dtype and why.op is not None and why.op.same_dtype:
            raise MXNetError(f'dtypes clash at {describe(why)}: {entry[0].entry_name(entry[1])} is {NAME[old]} by one '
                             f'way and {NAME[dtype]} by another')


def describe(node: Node) -> str:
    return f'{node.name} ({node.op.name})' if node.op else f'variable {node.name}'


def _called(node: Node) -> str:
    given = called_with({k: v for k, v in node.attributes.items() if k in node.attrs})
    return f' (called with {given})' if given else ''


def unknown_length() -> int:
    """What stands for a length that is not known: 0, unless that is a length like others."""
    return -1 if state.np_shape else 0


def merge(a: PartialShape | None, b: PartialShape | None, unknown: int = 0) -> PartialShape | None:
    """What two partial shapes say together; None if they disagree."""
    if a is None or a == b:
        return b
    if b is None:
        return a
    if len(a) != len(b):
        return None
    merged = []
    for x, y in zip(a, b, strict=True):
        if x != unknown and y != unknown and x != y:
            return None
        merged.append(y if x == unknown else x)
    return tuple(merged)


def complete(shape: PartialShape | None) -> TypeGuard[tuple[int, ...]]:
    return shape is not None and unknown_length() not in shape
