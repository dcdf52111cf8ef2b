"""What a traced graph does not need: calls that change nothing, that repeat others, or whose result never changes.

Works on the graph of a plan (see plan.py): ATen calls, each with what its result looks like in `meta['val']`.
"""
from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Set
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch.fx.node import map_arg

from ..._ops.core.library import CHECKS
from ..._torch.dispatch import OpOverload, signature
from ..._torch.operators import UNSAFE_VIEW

if TYPE_CHECKING:
    from ..types import FxNode

aten = torch.ops.aten

# calls that only pass their input on
_IDENTITIES = {aten.detach.default, aten.alias.default, aten.lift_fresh_copy.default}
# calls that give a view, which may be of the same shape as their input
_VIEWS = {aten.view.default, UNSAFE_VIEW, aten.expand.default, aten.slice.Tensor, aten.permute.default}
# views that add or drop an axis of length 1
_ONE_AXIS = {aten.squeeze.dim, aten.unsqueeze.default}
# sums and the like, over given axes
_OVER_AXES = {aten.sum.dim_IntList, aten.mean.dim, aten.amax.default, aten.amin.default}
LARGEST_CONSTANT = 1 << 18     # elements; larger ones are computed again, so that they do not occupy memory for good


def is_pure(node: FxNode) -> bool:
    return _is_pure(node.target)


def can_go(node: FxNode) -> bool:
    """Whether a call that nothing uses may be left out.  A check of values may not: it raises an error."""
    return node.op == 'call_function' and not node.users and is_pure(node) and node.target not in CHECKS


@cache
def _is_pure(target: Any) -> bool:
    if not isinstance(target, OpOverload):
        return target is operator.getitem
    known = signature(target)
    return not known.mutable and not known.gives_nothing and torch.Tag.nondeterministic_seeded not in target.tags


def simplify(graph: torch.fx.Graph, apart: int = 0) -> None:
    """Cleans a graph in place.

    apart: how many results the forward half has, where backward is a call of its own.  The program may have written an
        input in the meantime (inside `autograd.pause()`, or an argument of an executor).  What upstream's backward
        computes of inputs it computes of the new values, so it is no repetition of a forward call; but parts of
        concatenated inputs stay copies, which it reads
    """
    mutated = written_to(graph)
    seen: dict[Any, FxNode] = {}
    nodes = list(graph.nodes)
    results = {*next(n for n in nodes if n.op == 'output').args[0][:apart]}
    end = max((i for i, node in enumerate(nodes) if node in results), default=-1)
    for i, node in enumerate(nodes):
        if i == end + 1 and apart:          # from here on backward
            seen = {key: other for key, other in seen.items()
                    if _shares(other.target) or not any(map(_is_input, other.all_input_nodes))}
        if node.op != 'call_function' or node in mutated or any(a in mutated for a in node.all_input_nodes):
            continue
        same = _same_as(node, bool(apart))
        if same is None and is_pure(node):
            _rewrite(node)
            same = _same_as(node, bool(apart)) \
                or seen.setdefault((node.target, _hashable(node.args), _hashable(node.kwargs)), node)
        if same is not None and same is not node:
            node.replace_all_uses_with(same)
    for node in reversed(list(graph.nodes)):
        if can_go(node):
            graph.erase_node(node)


def written_to(graph: torch.fx.Graph) -> set[FxNode]:
    """Nodes whose memory a call writes to, under whatever name."""
    return sharing_memory(graph, {n.args[0] for n in graph.nodes if n.op == 'call_function' and n.args
                                   and isinstance(n.target, OpOverload) and signature(n.target).mutable})


def sharing_memory(graph: torch.fx.Graph, written: Iterable[FxNode]) -> set[FxNode]:
    """Nodes, and all that may share memory with one of them: views, parts, and what those were taken of."""
    group: dict[FxNode, FxNode] = {}        # node -> the first node of those that share its memory
    for node in graph.nodes:
        first = node.args[0] if node.args else None
        shares = node.op == 'call_function' and isinstance(first, torch.fx.Node) and _shares(node.target)
        group[node] = group.get(first, first) if shares else node
    groups = {group.get(node, node) for node in written}
    return {node for node, root in group.items() if root in groups}


@cache
def _shares(target: Any) -> bool:
    """Whether what a call gives may share memory with its first argument."""
    if not isinstance(target, OpOverload):
        return target is operator.getitem
    name = signature(target).name
    return target.is_view or signature(target).mutable or target in _IDENTITIES or target in _VIEWS \
        or any(part in name for part in ('split', 'unbind', 'chunk', 'contiguous', 'reshape', 'view', 'to.'))


def _same_as(node: FxNode, keep_joined: bool) -> FxNode | None:
    """The node whose value a node only passes on, or None."""
    if not node.args or not isinstance(node.args[0], torch.fx.Node):
        return None
    first: FxNode = node.args[0]
    if node.target in _IDENTITIES:
        return first
    if node.target is aten.t.default and first.target is aten.t.default:
        return first.args[0]
    if node.target is aten.view.default and first.target is aten.view.default \
            and first.args[0].meta['val'].is_contiguous():
        node.args = (first.args[0], node.args[1])
        first = first.args[0]
    if node.target in _VIEWS and _layout(node) is not None and _layout(node) == _layout(first):
        return first
    # where the trace had it within a larger tensor that is gone now, the layouts it has noted differ
    if node.target is aten.view.default and 'val' in node.meta and 'val' in first.meta \
            and node.meta['val'].shape == first.meta['val'].shape and first.meta['val'].is_contiguous():
        return first
    part = _piece(node, first)
    return None if part is not None and keep_joined and _is_input(part) else part


def _is_input(node: FxNode) -> bool:
    """Whether a node is an input, or a view of one."""
    while node.op == 'call_function' and isinstance(node.target, OpOverload) and node.target.is_view:
        node = node.args[0]
    return node.op == 'placeholder'


def _piece(node: FxNode, first: FxNode) -> FxNode | None:
    """The tensor that a call takes out of several that were joined, or None."""
    if node.target is operator.getitem and first.target is aten.split_with_sizes.default:
        joined, sizes, *axis = first.args
        start = sum(sizes[:node.args[1]])
        end = start + sizes[node.args[1]]
        axis = axis[0] if axis else 0
    elif node.target is aten.slice.Tensor and len(node.args) == 4:
        joined, axis, start, end = node.args
    else:
        return None
    if joined.target is not aten.cat.default or (joined.args[1] if len(joined.args) > 1 else 0) != axis:
        return None
    at = 0
    for part in joined.args[0]:
        length = part.meta['val'].shape[axis]
        if (at, at + length) == (start, end):
            return part if _stands_for(part.meta['val'], node.meta['val']) else None
        at += length
    return None


def _stands_for(tensor: torch.Tensor, traced: torch.Tensor) -> bool:
    """Whether a tensor may take the place of one with the same elements: it has its dtype, and calls that were traced
    with the layout of that one, such as views, can be made with its own.

    Its elements must lie side by side, with the axes in the same order.  Axes of length 1 do not count.
    """
    if tensor.dtype is not traced.dtype:
        return False
    mine, its = ([(n, stride) for n, stride in zip(t.shape, t.stride(), strict=True) if n != 1]
                 for t in (tensor, traced))
    if [n for n, _ in mine] != [n for n, _ in its]:
        return False
    size = 1
    for axis in sorted(range(len(its)), key=lambda a: (its[a][1], -a)):
        length, stride = mine[axis]
        if stride != size:
            return tensor.numel() == 0
        size *= length
    return True


def _layout(node: FxNode) -> tuple[Any, ...] | None:
    value = node.meta.get('val')
    if not isinstance(value, torch.Tensor):
        return None
    return value.dtype, tuple(value.shape), value.stride(), value.storage_offset()


def _rewrite(node: FxNode) -> None:
    """Says the same in fewer or cheaper calls."""
    if node.target in _OVER_AXES and len(node.args) > 1 and node.args[1] and not node.kwargs \
            and node.meta['val'].numel() == node.args[0].meta['val'].numel() \
            and _stands_for(node.args[0].meta['val'], node.meta['val']):
        # over axes of length 1; sums of integers are int64
        _become_view(node, node.args[0])
    elif node.target is aten.t.default and 1 in node.meta['val'].shape and node.args[0].meta['val'].is_contiguous() \
            or node.target in _ONE_AXIS and _is_thin(node.args[0]):
        _become_view(node, node.args[0])
    elif node.target is aten.mul.Tensor and type(node.args[1]) in (int, float) and node.args[1] == -1 \
            and node.meta['val'].dtype.is_floating_point and not node.kwargs \
            and node.args[0].meta['val'].dtype is node.meta['val'].dtype:       # integers times -1. are floating point
        node.target, node.args = aten.neg.default, node.args[:1]
        _view_later(node)
    elif node.target is aten.neg.default:
        _view_later(node)
    elif node.target is aten.view.default:
        # a sum that keeps its axes, and a view that drops them
        total = node.args[0]
        if total.target is aten.sum.dim_IntList and len(total.users) == 1 and total.args[2:] == (True,) \
                and not total.kwargs and 'val' in total.meta:
            kept = total.meta['val'].shape
            axes = {a % len(kept) for a in total.args[1]}
            if tuple(node.args[1]) == tuple(n for a, n in enumerate(kept) if a not in axes):
                node.target, node.args = aten.sum.dim_IntList, total.args[:2]
                return
        _view_of_one_axis(node)
    elif node.target is aten.addmm.default and not node.kwargs:
        bias, data, weight = node.args
        if weight.target is aten.t.default and bias.meta['val'].dim() == 1:
            node.target, node.args = aten.linear.default, (data, weight.args[0], bias)
    elif node.target is aten.mm.default and node.args[1].target is aten.t.default:
        node.target, node.args = aten.linear.default, (node.args[0], node.args[1].args[0])


def _is_thin(node: FxNode) -> bool:
    """Whether a node is a view with the elements of a row-major tensor in their order."""
    return (node.target in _ONE_AXIS or node.target is aten.view.default) and 'val' in node.args[0].meta \
        and node.args[0].meta['val'].is_contiguous()


def _become_view(node: FxNode, of: FxNode) -> None:
    """Makes a node a view, of a tensor that has the same elements in the same order."""
    if _is_thin(of):
        of = of.args[0]
    node.target, node.args = aten.view.default, (of, list(node.meta['val'].shape))
    _view_of_one_axis(node)


def _view_later(node: FxNode) -> None:
    """Makes a call on a view the view of a call, so that views of views meet."""
    view = node.args[0]
    if _is_thin(view) and len(view.users) == 1:
        with node.graph.inserting_before(node):
            inner = node.graph.call_function(node.target, view.args[:1])
        inner.meta = {**node.meta, 'val': view.args[0].meta['val']}
        _become_view(node, inner)


def _view_of_one_axis(node: FxNode) -> None:
    """A view that drops or adds an axis of length 1 has a cheaper name."""
    if 'val' not in node.args[0].meta:
        return
    before, after = list(node.args[0].meta['val'].shape), list(node.meta['val'].shape)
    if abs(len(before) - len(after)) == 1:
        longer, shorter = (before, after) if len(before) > len(after) else (after, before)
        for axis, length in enumerate(longer):
            if length == 1 and longer[:axis] + longer[axis + 1:] == shorter:
                node.target = aten.squeeze.dim if longer is before else aten.unsqueeze.default
                node.args = (node.args[0], axis)
                return


def constants(graph: torch.fx.Graph, attributes: Mapping[FxNode, Any],
              handed_out: Set[FxNode]) -> dict[FxNode, torch.Tensor]:
    """{node: tensor} of calls that have the same small result each time, because nothing goes into them.

    `attributes` are the constants that the trace has found by itself.  What a plan hands out is computed in each
    run, for programs write into it (`copy_constants`); so are checks of values, which raise their error each time.
    """
    mutated = sharing_memory(graph, {a for n in graph.nodes if n.op == 'call_function' and not is_pure(n)
                                      for a in n.all_input_nodes})
    found = {n: t for n, t in attributes.items() if type(t) is torch.Tensor}
    for node in graph.nodes:
        if node.op != 'call_function' or node in handed_out or node in mutated or not is_pure(node) \
                or not isinstance(node.target, OpOverload) or node.target in CHECKS \
                or any(a not in found for a in node.all_input_nodes):
            continue
        value = node.meta.get('val')
        if isinstance(value, torch.Tensor) and value.numel() <= LARGEST_CONSTANT:
            with torch.no_grad():
                found[node] = node.target(*map_arg(node.args, found.get), **map_arg(node.kwargs, found.get))
    return {n: t for n, t in found.items() if n not in attributes}


def copy_constants(graph: torch.fx.Graph, known: Iterable[FxNode]) -> None:
    """Has a plan hand out copies of constants, and of views of them: programs write into what they are given."""
    output = next(n for n in graph.nodes if n.op == 'output')
    shared = sharing_memory(graph, known)
    copies: dict[FxNode, FxNode] = {}
    for node in output.args[0]:
        if node in shared and node not in copies:
            with graph.inserting_after(node):
                copies[node] = graph.call_function(aten.clone.default, (node,),
                                                   {'memory_format': torch.contiguous_format})
            copies[node].meta = {**node.meta, 'val': node.meta['val'].contiguous()}
    output.args = ([copies.get(node, node) for node in output.args[0]],)


def _hashable(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_hashable(v) for v in value)
    if isinstance(value, dict):
        return tuple((k, _hashable(v)) for k, v in value.items())
    if isinstance(value, (bool, int, float)):
        return type(value), repr(value)
    return value if value.__hash__ else id(value)
