"""Which layers lose most by int8, found by running the network with one of them in int8 at a time."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def difference(found: Any, expected: Any) -> float:
    """How far outputs are from those of the float network, relative to their size."""
    off = size = 0.0
    for one, other in zip(found, expected, strict=True):
        off += float(np.square(one - other, dtype='float64').sum())
        size += float(np.square(other, dtype='float64').sum())
    return float(np.sqrt(off / size)) if size else float(np.sqrt(off))


def single_losses(layers: list[str], loss_without: Callable[[list[str]], float],
                  progress: Callable[[int, int], None] | None = None) -> dict[str, float]:
    """{layer: what is lost if it alone is int8}, the largest first.

    loss_without(names): what is lost if the named layers stay floating point
    """
    found = {}
    for number, layer in enumerate(layers):
        found[layer] = loss_without([other for other in layers if other != layer])
        if progress is not None:
            progress(number + 1, len(layers))
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def excluded_for(losses: dict[str, float], loss_without: Callable[[list[str]], float], tolerance: float) -> list[str]:
    """The fewest of the most sensitive layers without which no more than `tolerance` is lost."""
    order = list(losses)
    if loss_without([]) <= tolerance:
        return []
    few, many = 0, len(order)           # `few` lose too much, `many` do not
    while many - few > 1:
        middle = (few + many) // 2
        if loss_without(order[:middle]) <= tolerance:
            many = middle
        else:
            few = middle
    return order[:many]
