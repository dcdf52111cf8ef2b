"""Which channels of a network can be removed together, and the network without them."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._graph.infer.inference import complete, infer
from ..._graph.ir.node import Node, rebuild, topological
from ...base import MXNetError
from ...ndarray import array
from ...symbol.symbol import make
from ._labels import Labels, collapsed, varying
from ._masks import Masks
from ._networks import Network, checked, matches
from ._rules import rule_of, run_on_labels

CRITERIA = ('l1', 'l2', 'gamma')


class Graph:
    """Labels of all values and parameters of a graph.  The rules write into it."""

    def __init__(self, network: Network, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._network, self._entries = network, network.symbol._entries
        self._sets = Labels()
        self._values: dict[tuple[int, int], Any] = {}
        self._parameters: dict[str, list[Any]] = {}         # name -> labels along each axis
        self.edits: dict[int, list[Callable]] = {}
        self.producers: list[tuple[Node, str, int]] = []    # node, weight, axis of the weight
        known = {**{n: a.shape for n, a in network.arrays.items()}, **shapes}
        self._facts = infer(self._entries, known, {})
        self._nodes = topological(self._entries)
        open_ = [n.name for n in self._nodes if n.is_variable and not complete(self._facts.shape((n, 0)))]
        if open_:
            raise MXNetError(f'prune: the shapes of {", ".join(open_)} are not known: give data_shapes, such as '
                             f"{{'{open_[0]}': (1, 3, 224, 224)}}")
        for node in self._nodes:
            self._visit(node)
        for node, i in self._entries:
            self.fix(self.labels((node, i)), f'{node.name} is an output of the network')
        for name in self._network.inputs:
            self._parameters.pop(name, None)
        self.reasons = self._sets.reasons()

    def _visit(self, node):
        if node.is_variable:
            return
        step = None if node.subgraphs else rule_of(node)
        found = self.unknown(node) if step is None else step(self, node)
        for i in range(max(1, node.output_count())):
            self._values[id(node), i] = found[min(i, len(found) - 1)]

    # ------------------------------------------------------------------ what the rules ask
    def shape(self, entry: Any) -> tuple[int, ...]:
        found = self._facts.shape(entry)
        if not complete(found):
            raise MXNetError(f'prune: the shape of {entry[0].entry_name(entry[1])} is not known: give data_shapes')
        return found

    @staticmethod
    def named(node: Any) -> str:
        return f'{node.name} ({node.op.name})'

    def labels(self, entry: Any) -> Any:
        """Labels of a value.  A parameter has those of its one axis that is longer than 1."""
        node, i = entry
        if not node.is_variable:
            return self._values[id(node), i]
        shape = self.shape(entry)
        if node.name not in self._network.arrays:
            return np.zeros((1,) * len(shape), np.int64)
        axes = self._axes(node)
        long = [axis for axis, n in enumerate(shape) if n > 1]
        if len(long) != 1:
            for axis in axes:
                self.fix(axis, f'{node.name} is used as a whole')
            return np.zeros((1,) * len(shape), np.int64)
        return axes[long[0]].reshape([-1 if axis == long[0] else 1 for axis in range(len(shape))])

    def _axes(self, variable):
        if variable.name not in self._parameters:
            self._parameters[variable.name] = [self._sets.fresh(n) for n in self.shape((variable, 0))]
        return self._parameters[variable.name]

    def parameter(self, node: Any, position: int) -> Any:
        """Labels along each axis of a weight; None of one that is no parameter."""
        child = node.inputs[position][0]
        return self._axes(child) if child.is_variable and child.name in self._network.arrays else None

    def produces(self, node: Any, axis: int) -> None:
        """The weight of a layer makes channels along one of its axes."""
        self.producers.append((node, node.inputs[1][0].name, axis))

    def vector(self, node: Any, position: int, along: Any) -> None:
        """A parameter with a number for each channel, if there is one at this position."""
        if position < len(node.inputs):
            axes = self.parameter(node, position)
            self.couple(0 if axes is None else axes[0], along, node)

    def along(self, node: Any, labels: Any, axis: int, entry: Any) -> None:
        """The same for channels along an axis, where one number may be there for all."""
        if self.shape(entry) == (1,):
            return
        if varying(labels) in ([], [axis]):
            position = next(i for i, e in enumerate(node.inputs) if e is entry)
            self.vector(node, position, labels.reshape(-1))
        else:
            self.fix(labels, f'{self.named(node)} does not see them as channels')

    def couple(self, a: Any, b: Any, node: Any) -> None:
        self._sets.couple(a, b, f'{self.named(node)} combines them with what always stays')

    def fix(self, labels: Any, why: str) -> None:
        self._sets.fix(labels, why)

    def edit(self, node: Any, change: Callable) -> None:
        """`change(kept)` gives attributes of the smaller node; `kept(labels)` tells which are left."""
        self.edits.setdefault(id(node), []).append(change)

    def nothing(self, node: Any) -> list[Any]:
        """Outputs without channels that could go."""
        return [np.zeros((1,) * len(self._facts.shape((node, i)) or ()), np.int64)
                for i in range(max(1, node.output_count()))]

    def unknown(self, node: Any) -> list[Any]:
        """An operator about which nothing is known: all of its inputs stay."""
        for entry in node.inputs:
            self.fix(self.labels(entry), f'{self.named(node)} is an operator whose channels are not understood')
        return self.nothing(node)

    def one_axis(self, labels: Any, node: Any) -> Any:
        """Labels that vary along one axis: those of the others are coupled."""
        labels = collapsed(self._sets.find(labels))
        axes = varying(labels)
        if len(axes) < 2:
            return labels
        count = {axis: self._sets.classes(np.moveaxis(labels, axis, 0)) for axis in axes}
        best = max(axes, key=lambda axis: count[axis])
        rows = np.moveaxis(labels, best, 0).reshape(labels.shape[best], -1)
        self.couple(rows, rows[:, :1], node)
        return collapsed(self._sets.find(labels))

    def run(self, node: Any) -> list[Any]:
        """Labels moved by the operator itself."""
        labels = [self.labels(entry) for entry in node.inputs]
        if not any(one.any() for one in labels):
            return self.nothing(node)
        found = run_on_labels(node, labels, [self.shape(entry) for entry in node.inputs])
        return [self.one_axis(one, node) for one in found]

    # ------------------------------------------------------------------ what there is
    def slices(self) -> dict[str, list[Any]]:
        """{parameter: representatives of the labels along each axis}"""
        return {name: [self._sets.find(axis) for axis in axes] for name, axes in self._parameters.items()}

    def find(self, labels: Any) -> Any:
        return self._sets.find(labels)


@dataclass
class Group:
    """Channels of one or more layers that are chosen among each other.

    layers: names of the layers that make them;  size: how many there are (of coupled layers, counted once)
    reason: why they cannot be removed; None if they can
    """

    layers: list[str]
    size: int
    reason: str | None
    keys: Any = field(repr=False)               # a representative for each channel
    scores: Any = field(default=None, repr=False)
    removed: int = 0


class Channels:
    """The channels of a network that are removed: `masks` hides them, `shrink()` is the network without them."""

    def __init__(self, network: Network, graph: Graph) -> None:
        self._network, self._graph = network, graph
        self._slices = graph.slices()
        self.groups = self._find_groups()
        self._gone = np.zeros(0, np.int64)

    def _find_groups(self):
        touched: dict[int, set[Any]] = {}
        order: dict[int, None] = {}
        made = []
        for node, weight, axis in self._graph.producers:
            keys = self._slices[weight][axis]
            made.append((node.name, keys))
            for key in keys.tolist():
                order.setdefault(key)
        for name, axes in self._slices.items():
            for axis, keys in enumerate(axes):
                for key in np.unique(keys).tolist():
                    touched.setdefault(key, set()).add((name, axis))
        reasons = self._graph.reasons
        sets: dict[Any, list[int]] = {}
        for key in order:
            sets.setdefault((frozenset(touched[key]), reasons.get(key)), []).append(key)
        groups = []
        for (_, reason), keys in sets.items():
            among = set(keys)
            layers = [name for name, own in made if not among.isdisjoint(own.tolist())]
            groups.append(Group(list(dict.fromkeys(layers)), len(keys), reason, np.array(keys)))
        return groups

    # ------------------------------------------------------------------ choosing
    def score(self, criterion: str | Callable = 'l2') -> None:
        """Gives each channel a score; those with the smallest are removed first."""
        totals: dict[int, float] = {}
        for name, axis in self._scored(criterion):
            values = self._network.arrays[name].asnumpy()
            keys = self._slices[name][axis]
            rows = np.moveaxis(values, axis, 0).reshape(len(keys), -1)
            if callable(criterion):
                part = np.asarray(criterion(name, rows), 'float64')
                if part.shape != (len(keys),):
                    raise MXNetError(f'prune: criterion gives {part.shape} numbers for {name}, which has {len(keys)} '
                                     'channels')
            else:
                part = np.square(rows, dtype='float64').sum(1) if criterion == 'l2' else np.abs(rows).sum(1)
            for key, one in zip(keys.tolist(), part.tolist(), strict=True):
                totals[key] = totals.get(key, 0.0) + one
        for group in self.groups:
            found = np.array([totals.get(key, 0.0) for key in group.keys.tolist()])
            group.scores = np.sqrt(found) if criterion == 'l2' else found

    def _scored(self, criterion):
        if criterion not in CRITERIA and not callable(criterion):
            raise ValueError(f"criterion must be one of {', '.join(map(repr, CRITERIA))} or a function, not "
                             f'{criterion!r}')
        weights = [(weight, axis) for _, weight, axis in self._graph.producers]
        if criterion == 'gamma':
            known = {key for name, axes in self._slices.items() if name.endswith('gamma') for key in axes[0].tolist()}
            gammas = [(name, 0) for name in self._slices if name.endswith('gamma')]
            return gammas + [(w, a) for w, a in weights if known.isdisjoint(self._slices[w][a].tolist())]
        return list(dict.fromkeys(weights))

    def choose(self, sparsity: float | Mapping[str, float], scope: str = 'layer', exclude: Sequence[str] = (),
               round_to: int = 1, keep: float = 0.0) -> None:
        """Chooses the channels that are removed, by their scores."""
        shares = [self._share(group, sparsity, exclude) for group in self.groups]
        if scope == 'layer':
            wanted = [round(group.size * share) for group, share in zip(self.groups, shares, strict=True)]
        elif scope == 'global':
            if isinstance(sparsity, Mapping):
                raise ValueError("prune: a sparsity for each layer is for scope='layer'")
            wanted = self._everywhere([g if s else None for g, s in zip(self.groups, shares, strict=True)], sparsity)
        else:
            raise ValueError(f"scope must be 'layer' or 'global', not {scope!r}")
        gone = []
        for group, count in zip(self.groups, wanted, strict=True):
            least = max(1, int(np.ceil(group.size * keep)))
            left = max(least, group.size - count)
            left = min(group.size, -(-left // round_to) * round_to)
            group.removed = group.size - left if group.reason is None else 0
            order = np.argsort(group.scores, kind='stable')
            gone.append(group.keys[order[:group.removed]])
        self._gone = np.concatenate(gone) if gone else np.zeros(0, np.int64)

    @staticmethod
    def _everywhere(groups, sparsity):
        """How many channels of each group are among the smallest of all, in terms of their group's mean."""
        scaled = [g.scores / (g.scores.mean() or 1.0) if g is not None else np.zeros(0) for g in groups]
        every = np.sort(np.concatenate(scaled)) if scaled else np.zeros(0)
        count = round(len(every) * sparsity)
        limit = every[count - 1] if count else -1.0
        return [int((one <= limit).sum()) for one in scaled]

    def _share(self, group, sparsity, exclude):
        if group.reason is not None or any(matches(name, exclude) for name in group.layers):
            return 0.0
        if not isinstance(sparsity, Mapping):
            return checked(sparsity)
        found = [checked(share) for name, share in sparsity.items()
                 if any(matches(layer, [name]) for layer in group.layers)]
        return min(found, default=0.0)

    # ------------------------------------------------------------------ what comes of it
    def _kept(self, labels):
        return ~np.isin(self._graph.find(labels), self._gone)

    @property
    def masks(self) -> Any:
        """Masks of the parameters in which removed channels are 0, both where they are made and where they are used."""
        found = Masks()
        for name, axes in self._slices.items():
            if name in self._network.states:
                continue
            parts = [self._kept(axis) for axis in axes]
            if all(part.all() for part in parts):
                continue
            mask = np.ones([1] * len(axes), bool)
            for axis, part in enumerate(parts):
                mask = mask & part.reshape([-1 if n == axis else 1 for n in range(len(axes))])
            own = self._network.arrays[name]
            found[name] = array(mask, ctx=own.context, dtype=own.dtype)
        return found

    def shrink(self) -> Any:
        """The network without the removed channels: a SymbolBlock of a Block, else (symbol, arguments, states)."""
        arrays = dict(self._network.arrays)
        for name, axes in self._slices.items():
            values = None
            for axis, labels in enumerate(axes):
                kept = self._kept(labels)
                if not kept.all():
                    values = (arrays[name].asnumpy() if values is None else values).take(np.flatnonzero(kept), axis)
            if values is not None:
                arrays[name] = array(values, ctx=arrays[name].context, dtype=arrays[name].dtype)
        symbol = self._network.symbol
        changed: dict[str, Any] = {n: a for n, a in arrays.items() if a is not self._network.arrays[n]}

        def change(node, inputs):
            if node.is_variable:
                if node.name not in changed or '__shape__' not in node.attrs:
                    return None
                return [(Node(None, node.name, {**node.attrs, '__shape__': str(changed[node.name].shape)}), 0)]
            if id(node) not in self._graph.edits:
                return None
            new = {name: str(int(value) if np.ndim(value) == 0 else value)
                   for edit in self._graph.edits[id(node)] for name, value in edit(self._kept).items()}
            copy = Node(node.op, node.name, {**node.attrs, **new}, inputs, node.subgraphs)
            return [(copy, i) for i in range(max(1, copy.output_count()))]
        small = make(type(symbol), rebuild(symbol._entries, change))
        return self._network.like(small, arrays)

    def table(self) -> str:
        """The groups as text."""
        rows = [('channels', 'removed', 'layers', 'cannot be removed because')]
        rows += [(str(g.size), str(g.removed), ', '.join(g.layers), g.reason or '') for g in self.groups]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        return '\n'.join(f'{a:>{widths[0]}}  {b:>{widths[1]}}  {c:{widths[2]}}  {d}'.rstrip() for a, b, c, d in rows)

    def __repr__(self) -> str:
        total, gone = sum(g.size for g in self.groups), sum(g.removed for g in self.groups)
        return f'<{gone} of {total} channels removed, in {len(self.groups)} groups>'


def channels(network: Any, sparsity: float | Mapping[str, float] = 0.5, *, data_shapes: Any = None,
             scope: str = 'layer', criterion: str | Callable[[str, Any], Any] = 'l2', exclude: Sequence[str] = (),
             round_to: int = 1, keep: float = 0.0) -> Channels:
    """Chooses channels of convolutions and neurons of dense layers to remove.

    network: a Block, (symbol, arguments, states), or a Module
    sparsity: the share of channels that is removed, or {name of a layer (or a regular expression): share}
    data_shapes: shapes of the inputs: a tuple, a list of tuples, or {name: shape}
    scope: 'layer' removes the share in each layer, 'global' the smallest of all layers
    criterion: 'l2' and 'l1' norms of the weights that make a channel, 'gamma' of BatchNorm, or function(name, rows)
        that gives a number for each row
    exclude: names of layers that keep all channels;  round_to: numbers of channels are multiples of it
    keep: the least share of channels that a layer keeps

    >>> net = mx.gluon.nn.HybridSequential()
    >>> net.add(mx.gluon.nn.Dense(8, in_units=4), mx.gluon.nn.Dense(2, in_units=8))
    >>> net.initialize()
    >>> small = mx.contrib.prune.channels(net, 0.5, data_shapes=(1, 4)).shrink()
    >>> [p.shape for p in small.collect_params().values()]
    [(4, 4), (4,), (2, 4), (2,)]
    """
    found = Network.of(network, data_shapes)
    plan = Channels(found, Graph(found, found.shapes))
    plan.score(criterion)
    plan.choose(sparsity, scope, exclude, round_to, keep)
    return plan


def shrink(network: Any, sparsity: float | Mapping[str, float] = 0.5, **options: Any) -> Any:
    """The network without a share of its channels: `channels(network, sparsity, ...).shrink()`."""
    return channels(network, sparsity, **options).shrink()
