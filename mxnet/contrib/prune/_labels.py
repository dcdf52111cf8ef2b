"""Labels of channels, and which of them must go together.

A label is a number that stands for one channel of one layer.  `Labels` couples labels: coupled ones are kept or removed
together.  0 is the label of what always stays.
"""
from __future__ import annotations

from typing import Any

import numpy as np


class Labels:
    """Disjoint sets of labels, and the reasons why some must stay."""

    def __init__(self) -> None:
        self._parent = np.zeros(1, np.int64)
        self.fixed: dict[int, str] = {}             # label -> why it stays

    def fresh(self, count: int) -> Any:
        """New labels, each in a set of its own."""
        first = len(self._parent)
        made = np.arange(first, first + count, dtype=np.int64)
        self._parent = np.concatenate([self._parent, made])
        return made

    def find(self, labels: Any) -> Any:
        """The representative of each label's set: its smallest."""
        labels = np.asarray(labels)
        while True:
            above = self._parent[labels]
            if np.array_equal(above, labels):
                return labels
            labels = above

    def couple(self, a: Any, b: Any, why: str) -> None:
        """Couples labels pairwise.  A label that is coupled with 0 stays."""
        a, b = np.broadcast_arrays(a, b)
        pairs = np.unique(np.stack([a.ravel(), b.ravel()]), axis=1).T.tolist()
        parent = self._parent
        for first, second in pairs:
            if not first or not second:
                if first or second:
                    self.fixed.setdefault(first or second, why)
                continue
            while parent[first] != first:
                parent[first] = parent[parent[first]]
                first = parent[first]
            while parent[second] != second:
                parent[second] = parent[parent[second]]
                second = parent[second]
            if first != second:
                parent[max(first, second)] = min(first, second)

    def fix(self, labels: Any, why: str) -> None:
        """These labels stay."""
        for label in np.unique(labels).tolist():
            if label:
                self.fixed.setdefault(label, why)

    def reasons(self) -> dict[int, str]:
        """{representative: why its set stays}"""
        if not self.fixed:
            return {}
        roots = self.find(np.fromiter(self.fixed, np.int64)).tolist()
        found: dict[int, str] = {}
        for root, why in zip(roots, self.fixed.values(), strict=True):
            found.setdefault(root, why)
        return found

    def classes(self, axes: Any) -> int:
        """How many sets there would be if the labels of each row were coupled."""
        rows = [set(self.find(row).ravel().tolist()) for row in axes]
        merged: list[set[int]] = []
        for row in rows:
            rest = []
            for other in merged:
                if row & other:
                    row = row | other
                else:
                    rest.append(other)
            merged = [*rest, row]
        return len(merged)


def collapsed(labels: Any) -> Any:
    """The same with length 1 along axes on which nothing varies."""
    for axis in range(labels.ndim):
        if labels.shape[axis] > 1:
            first = labels.take([0], axis)
            if (labels == first).all():
                labels = first
    return labels


def varying(labels: Any) -> list[int]:
    """The axes along which labels differ."""
    return [axis for axis, length in enumerate(labels.shape) if length > 1]
