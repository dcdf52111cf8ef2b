"""Masks by magnitude: which weights stay.  Single weights, in each layer or everywhere, or n of m neighbours."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ... import gluon
from ..._names import kind_of
from ...base import MXNetError
from ...ndarray import NDArray, array
from ._networks import checked, matches

_PATTERN = re.compile(r'(\d+):(\d+)')


class Masks(dict):
    """{name of a parameter: array of 0 and 1}."""

    @property
    def sparsity(self) -> float:
        """The share of weights, among those that have a mask, that are 0."""
        total = sum(m.size for m in self.values())
        return 1 - sum(float(m.sum().asscalar()) for m in self.values()) / total if total else 0.0

    def apply(self, network: Any) -> None:
        """Sets the weights that are masked to 0, in place.

        network: a Block, (symbol, arguments, states), a Module, or a dict of arrays
        """
        for name, arrays in live_arrays(network).items():
            if name in self:
                for one in arrays:
                    mask = self[name]
                    one *= mask if mask.context == one.context else mask.as_in_context(one.context)
        if hasattr(network, '_params_dirty'):       # a Module: what `get_params` gives is no longer what it has
            network._params_dirty = True

    def save(self, path: Any) -> None:
        """Writes the masks as a `.params` file."""
        from ... import ndarray
        ndarray.save(path, dict(self))

    @classmethod
    def load(cls, path: Any) -> Masks:
        """Reads what `save` wrote."""
        from ... import ndarray
        return cls(ndarray.load(path))


def live_arrays(network: Any) -> dict[str, list[NDArray]]:
    """{name: the arrays that a network computes with, one for each device}."""
    if isinstance(network, gluon.Block):
        return {p.name: p.list_data() for p in network.collect_params().values() if p._data is not None}
    if isinstance(network, Mapping):
        return {n: [a] for n, a in network.items()}
    if isinstance(network, tuple) and len(network) == 3:
        return {n: [a] for part in network[1:] for n, a in part.items()}
    group = getattr(network, '_exec_group', None)
    if group is None and hasattr(network, '_curr_module'):          # a BucketingModule
        return live_arrays(network._curr_module)
    if group is None:
        raise TypeError('prune: the network is a Block, (symbol, arguments, states), a Module that is bound, or a dict '
                        f'of arrays, not {kind_of(network)}')
    return {n: list(arrays) for n, arrays in zip(group.param_names, group.param_arrays, strict=True)}


def prunable(network: Any, layers: Sequence[str] | None = None, exclude: Sequence[str] = ()) -> dict[str, NDArray]:
    """The weights that masks are for: names that end in `weight`, of two axes or more.

    layers, exclude: names of parameters or layers, or regular expressions
    """
    found = {n: arrays[0] for n, arrays in live_arrays(network).items() if n.endswith('weight') and arrays[0].ndim > 1}

    def named(name, patterns):
        return matches(name, patterns) or matches(name.removesuffix('_weight'), patterns)
    found = {n: a for n, a in found.items() if (layers is None or named(n, layers)) and not named(n, exclude)}
    if not found:
        raise MXNetError('prune: the network has no weights to prune' + (f' among {list(layers)}' if layers else ''))
    return found


def magnitude(network: Any, sparsity: float | Mapping[str, float] = 0.5, *, scope: str = 'layer',
              pattern: str | tuple[int, int] | None = None, layers: Sequence[str] | None = None,
              exclude: Sequence[str] = ()) -> Masks:
    """Masks that keep the largest weights.

    network: a Block, (symbol, arguments, states), a Module, or a dict of arrays
    sparsity: the share of weights that becomes 0, or {name (or a regular expression): share}
    scope: 'layer' takes the share in each layer, 'global' the smallest of all layers
    pattern: '2:4' keeps 2 of each 4 neighbours along the input channels; `sparsity` is then not used.  What is left
        of an axis that is no multiple stays
    layers, exclude: names of parameters or layers, or regular expressions

    >>> weights = {'fc_weight': mx.nd.array([[1, -2, 3, -4]])}
    >>> masks = mx.contrib.prune.magnitude(weights, 0.5)
    >>> masks['fc_weight'].asnumpy().tolist()
    [[0.0, 0.0, 1.0, 1.0]]
    """
    found = prunable(network, layers, exclude)
    values = {n: np.abs(a.asnumpy().astype('float32')) for n, a in found.items()}
    if pattern is not None:
        kept = {n: _blocks(v, *_parsed(pattern)) for n, v in values.items()}
    elif scope == 'layer':
        kept = {n: _smallest(v, _of(n, sparsity)) for n, v in values.items()}
    elif scope == 'global':
        if isinstance(sparsity, Mapping):
            raise ValueError("prune: a sparsity for each layer is for scope='layer'")
        flat = np.concatenate([v.ravel() for v in values.values()])
        every = _smallest(flat, checked(sparsity))
        parts = np.split(every, np.cumsum([v.size for v in values.values()])[:-1])
        kept = {n: part.reshape(v.shape) for (n, v), part in zip(values.items(), parts, strict=True)}
    else:
        raise ValueError(f"scope must be 'layer' or 'global', not {scope!r}")
    return Masks({n: array(k, ctx=found[n].context, dtype=found[n].dtype) for n, k in kept.items()})


def _of(name, sparsity):
    if not isinstance(sparsity, Mapping):
        return checked(sparsity)
    shares = [checked(share) for key, share in sparsity.items()
              if matches(name, [key]) or matches(name.removesuffix('_weight'), [key])]
    return min(shares, default=0.0)


def _smallest(values, sparsity):
    """False for the given share of values, the smallest."""
    count = round(values.size * sparsity)
    kept = np.ones(values.size, bool)
    if count:
        kept[np.argpartition(values.ravel(), count - 1)[:count]] = False
    return kept.reshape(values.shape)


def _parsed(pattern):
    if isinstance(pattern, str):
        match = _PATTERN.fullmatch(pattern)
        pattern = (int(match[1]), int(match[2])) if match else ()
    if len(pattern) != 2 or not 0 < pattern[0] < pattern[1]:
        raise ValueError(f"pattern is 'n:m' with n below m, such as '2:4', not {pattern!r}")
    return pattern


def _blocks(values, n, m):
    """True for the n largest of each m neighbours along the second axis."""
    moved = np.moveaxis(values, 1, -1)
    whole = moved.shape[-1] // m * m
    kept = np.ones(moved.shape, bool)
    blocks = moved[..., :whole].reshape(*moved.shape[:-1], -1, m)
    order = np.argsort(-blocks, axis=-1, kind='stable')
    best = np.zeros(blocks.shape, bool)
    np.put_along_axis(best, order[..., :n], True, -1)
    kept[..., :whole] = best.reshape(*moved.shape[:-1], whole)
    return np.moveaxis(kept, -1, 1)


def sparsity(network: Any) -> dict[str, float]:
    """The share of weights that are 0, for each weight, and for all together under the name 'all'."""
    found = prunable(network)
    zeros = {n: float((a == 0).sum().asscalar()) for n, a in found.items()}
    shares = {n: zeros[n] / a.size for n, a in found.items()}
    return {**shares, 'all': sum(zeros.values()) / sum(a.size for a in found.values())}
