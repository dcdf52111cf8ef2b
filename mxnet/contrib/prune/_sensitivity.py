"""How much a network loses when one of its layers is pruned."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._channels import Channels, Graph
from ._masks import live_arrays, magnitude, prunable
from ._networks import Network

SPARSITIES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class Sensitivity:
    """The result of `sensitivity`: `base` is the score of the whole network, `scores` {layer: {sparsity: score}}."""

    def __init__(self, base: float, scores: dict[str, dict[float, float]]) -> None:
        self.base, self.scores = base, scores

    def choose(self, drop: float) -> dict[str, float]:
        """{layer: the largest sparsity at which the score falls by no more than `drop`}, for `magnitude` or `channels`.

        Losses of several layers add up: choose a drop that is smaller than what you can afford in all.
        """
        found = {}
        for layer, scores in self.scores.items():
            best = 0.0
            for share in sorted(scores):
                if self.base - scores[share] > drop:
                    break
                best = share
            found[layer] = best
        return found

    def table(self) -> str:
        """The scores as text, a line for each layer."""
        shares = sorted({s for scores in self.scores.values() for s in scores})
        width = max([5, *map(len, self.scores)])
        lines = ['layer'.ljust(width) + ''.join(f'{s:9.2f}' for s in shares)]
        lines += [name.ljust(width) + ''.join(f'{scores[s]:9.4f}' if s in scores else ' ' * 9 for s in shares)
                  for name, scores in self.scores.items()]
        return '\n'.join([f'score of the whole network: {self.base:.4f}', *lines])

    def plot(self, path: Any = None, ax: Any = None) -> Any:
        """Draws a curve for each layer; writes it to `path` if one is given.  Needs matplotlib."""
        if ax is None:
            from matplotlib.figure import Figure
            ax = Figure(figsize=(7, 4), layout='constrained').subplots()
        for name, scores in self.scores.items():
            shares = sorted(scores)
            ax.plot(shares, [scores[s] for s in shares], marker='.', label=name)
        ax.axhline(self.base, color='gray', linewidth=0.8, linestyle='--')
        ax.set(xlabel='sparsity of the layer', ylabel='score of the network')
        if len(self.scores) <= 12:
            ax.legend(fontsize='small')
        ax.grid(alpha=0.3)
        if path is not None:
            ax.figure.savefig(path, dpi=120)
        return ax


def sensitivity(network: Any, evaluate: Callable[[Any], float], sparsities: Sequence[float] = SPARSITIES, *,
                method: str = 'weights', data_shapes: Any = None, criterion: Any = 'l2',
                layers: Sequence[str] | None = None, exclude: Sequence[str] = (),
                progress: Callable[[int, int], None] | None = None) -> Sensitivity:
    """Prunes one layer at a time and scores the network.  The weights are as before when it returns.

    evaluate: function of the network that gives a number, larger for better (an accuracy)
    method: 'weights' or 'channels'; channels that several layers share are pruned together
    progress: function(done, of how many)
    """
    if method not in ('weights', 'channels'):
        raise ValueError(f"method must be 'weights' or 'channels', not {method!r}")
    trials: list[tuple[str, Callable]] = []
    if method == 'weights':
        for name in prunable(network, layers, exclude):
            trials.append((name.removesuffix('_weight'), lambda share, n=name: magnitude(network, share, layers=[n])))
    else:
        found = Network.of(network, data_shapes)
        plan = Channels(found, Graph(found, found.shapes))
        plan.score(criterion)
        for group in plan.groups:
            if group.reason is None and group.size > 1 and not set(group.layers) & set(exclude) \
                    and (layers is None or set(group.layers) & set(layers)):
                trials.append((group.layers[0], lambda share, g=group: _of_group(plan, g, share)))
    base = float(evaluate(network))
    scores: dict[str, dict[float, float]] = {}
    for number, (name, masks_at) in enumerate(trials):
        for k, share in enumerate(sparsities):
            masks = masks_at(share)
            before = {n: [a.copy() for a in arrays] for n, arrays in live_arrays(network).items() if n in masks}
            try:
                masks.apply(network)
                scores.setdefault(name, {})[float(share)] = float(evaluate(network))
            finally:
                for n, arrays in live_arrays(network).items():
                    for one, old in zip(arrays, before.get(n, ()), strict=False):
                        one[:] = old
            if progress is not None:
                progress(number * len(sparsities) + k + 1, len(trials) * len(sparsities))
    return Sensitivity(base, scores)


def _of_group(plan, group, share):
    plan.choose({group.layers[0]: share})
    return plan.masks
