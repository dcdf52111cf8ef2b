"""Sampling of graphs that csr arrays hold; the operators are declared in `_ops/sparse/graph_sampling.py`.

A walk goes hop by hop: the neighbours of all vertices of one hop are drawn together.
"""
import logging
from typing import Any

import torch

from .. import _random_state as _random
from .._array import wrap
from ..base import MXNetError
from . import _sparse_parts
from ._sparse_array import CSRNDArray
from ._sparse_dispatch import rule
from .ndarray import NDArray


def _graph(op, array, square=True):
    """The parts of a csr array that is a graph, with 64-bit indices."""
    if not isinstance(array, CSRNDArray):
        raise MXNetError(f'operator {op.name}: a graph must be a csr array, not a {array.stype} one')
    if square and array.shape[0] != array.shape[1]:
        raise MXNetError(f'operator {op.name}: a graph has as many rows as columns, not shape {array.shape}')
    values, indptr, columns = array._safe_parts()
    return values, indptr.long(), columns.long()


def _vertices(op, array, what, limit):
    """A vector of vertices, as 64-bit numbers, once they are known to be in the graph."""
    if array._sparse or array.ndim != 1:
        raise MXNetError(f'operator {op.name}: {what} must be dense vectors, not a {array.stype} array of shape '
                         f'{array.shape}')
    ids = array.materialize().detach().long()
    if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < limit:
        raise MXNetError(f'operator {op.name}: {what} must be from 0 to {limit - 1}, the vertices of the graph')
    return ids


# ---------------------------------------------------------------------- walks
def _draw(indptr, columns, frontier, most, chances, generator):
    """(which vertex of the frontier, position of the edge) of the edges drawn, in the frontier's order."""
    counts = indptr.diff()[frontier]
    owner = torch.arange(len(frontier), device=frontier.device).repeat_interleave(counts)
    first = counts.cumsum(0) - counts
    edges = torch.arange(len(owner), device=frontier.device) + (indptr[frontier] - first)[owner]
    if not len(edges) or int(counts.max()) <= most:
        return owner, edges
    # who wins a race of exponential clocks was drawn without replacement, in proportion to the clocks' speeds
    keys = torch.empty(len(edges), dtype=torch.float64, device=frontier.device).exponential_(generator=generator)
    if chances is not None:
        keys /= chances[columns[edges]].double()
    order = keys.argsort()
    order = order[owner[order].argsort(stable=True)]            # by owner, the quickest first
    place = torch.arange(len(order), device=frontier.device) - first[owner[order]]
    kept = order[place < most].sort().values
    return owner[kept], edges[kept]


def _walk(parts, seeds, hops, most, limit, chances, generator):
    """(vertices in rising order, their hops, the vertex and the position of each edge drawn, was it cut short)"""
    _, indptr, columns = parts
    met = torch.zeros(len(indptr) - 1, dtype=torch.bool, device=indptr.device)
    met[seeds] = True
    frontier = _first_ones(seeds)
    found, levels, owners, positions = [frontier], [torch.zeros_like(frontier)], [], []
    total, cut = len(frontier), False
    for hop in range(hops):
        if not len(frontier):
            break
        if total >= limit:
            cut = True
            break
        owner, edges = _draw(indptr, columns, frontier, most, chances, generator)
        targets = columns[edges]
        fresh = _first_ones(targets, ~met[targets])             # positions among the targets, as they were met
        if total + len(fresh) >= limit:
            # the vertex whose neighbours fill the sample is the last one that is asked
            fresh = fresh[:limit - total]
            last = int(owner[fresh[-1]])
            cut = last + 1 < len(frontier) or hop + 1 < hops
            frontier, kept = frontier[:last + 1], owner <= last
            owner, edges = owner[kept], edges[kept]
        owners.append(frontier[owner])
        positions.append(edges)
        frontier = targets[fresh]
        met[frontier] = True
        found.append(frontier)
        levels.append(torch.full_like(frontier, hop + 1))
        total += len(frontier)
    vertices, order = torch.cat(found).sort()
    nothing = seeds.new_empty(0)
    return vertices, torch.cat(levels)[order], torch.cat([nothing, *owners]), torch.cat([nothing, *positions]), cut


def _first_ones(ids, where=None):
    """The ids without repetitions, in the order they come; with `where`, the positions of those."""
    places = torch.arange(len(ids), device=ids.device) if where is None else where.nonzero().reshape(-1)
    if not len(places):
        return places if where is not None else ids
    values, inverse = ids[places].unique(return_inverse=True)
    first = torch.full((len(values),), len(ids), device=ids.device).scatter_reduce_(0, inverse, places, 'amin')
    first = first.sort().values
    return ids[first] if where is None else first


def _sample(op, graph, chances, seeds, attributes):
    """([ids], [graphs], [probabilities], [hops]) of walks from several vectors of seeds."""
    parts, limit = _graph(op, graph), attributes['max_num_vertices']
    if chances is not None:
        if chances._sparse or chances.shape != graph.shape[:1]:
            raise MXNetError(f'operator {op.name}: probability must be a dense vector with a number for each of the '
                             f'{graph.shape[0]} vertices, not shape {chances.shape}')
        chances = chances.materialize().detach()
    ids, graphs, chosen, hops = [], [], [], []
    for array in seeds:
        start = _vertices(op, array, 'seeds', graph.shape[0])
        if len(start) > limit:
            raise MXNetError(f'operator {op.name}: max_num_vertices={limit} is less than the {len(start)} seeds')
        vertices, levels, owners, edges, cut = _walk(parts, start, attributes['num_hops'], attributes['num_neighbor'],
                                                     limit, chances, _random.generator(graph._ctx))
        if cut:
            logging.getLogger('mxnet').warning('operator %s: max_num_vertices=%d ended the walk before all neighbours '
                                               'were drawn; take fewer seeds or neighbours', op.name, limit)
        count = len(vertices)
        padded = vertices.new_zeros(limit + 1)
        padded[:count], padded[limit] = vertices, count
        ids.append(wrap(padded.to(array.meta().dtype), array._ctx, NDArray))
        levels = torch.cat([levels, levels.new_zeros(limit - count)])
        hops.append(wrap(levels.to(array.meta().dtype), array._ctx, NDArray))
        if chances is not None:
            chosen.append(wrap(torch.cat([chances[vertices], chances.new_zeros(limit - count)]), array._ctx, NDArray))
        rows = torch.searchsorted(vertices, owners)
        order = rows.argsort(stable=True)
        indptr = edges.new_zeros(limit + 1)
        indptr[1:] = torch.bincount(rows, minlength=limit).cumsum(0)
        graphs.append(CSRNDArray._make((parts[0][edges[order]], indptr, parts[2][edges[order]]),
                                       (limit, graph.shape[1]), graph._ctx))
    return [*ids, *graphs, *chosen, *hops]


@rule('_contrib_dgl_csr_neighbor_uniform_sample')
def uniform_sample(op, inputs, attributes):
    graph, *seeds = inputs
    return _sample(op, graph, None, seeds, attributes)


@rule('_contrib_dgl_csr_neighbor_non_uniform_sample')
def non_uniform_sample(op, inputs, attributes):
    graph, chances, *seeds = inputs
    return _sample(op, graph, chances, seeds, attributes)


# ---------------------------------------------------------------------- parts of graphs
@rule('_contrib_dgl_subgraph')
def subgraph(op, inputs, attributes):
    graph, *lists = inputs
    parts = _graph(op, graph, square=False)
    new: list[Any] = []
    old: list[Any] = []
    for array in lists:
        ids = _vertices(op, array, 'vertices', graph.shape[0])
        if bool((ids.diff() < 0).any()):
            raise MXNetError(f'operator {op.name}: the vertices must rise; sort them first')
        values, indptr, columns = _sparse_parts.csr_take(parts, ids)
        place = torch.searchsorted(ids, columns).clamp(max=max(len(ids) - 1, 0))
        inside = ids[place] == columns if len(ids) else columns.bool()
        before = indptr.new_zeros(len(columns) + 1)
        before[1:] = inside.cumsum(0)
        _pair(graph, (values[inside], before[indptr], place[inside]), len(ids), new, old)
    return _results(new, old, attributes)


def _pair(graph, parts, size, new, old):
    """Adds a graph with its edges renumbered, and with the old numbers, to two lists."""
    values, indptr, columns = parts
    numbers = torch.arange(len(columns), device=columns.device).to(values.dtype)
    new.append(CSRNDArray._make((numbers, indptr, columns), (size, size), graph._ctx))
    old.append(CSRNDArray._make((values, indptr.clone(), columns.clone()), (size, size), graph._ctx))


def _results(new, old, attributes):
    results = [*new, *old] if attributes['return_mapping'] else new
    return results[0] if len(results) == 1 else results


@rule('_contrib_dgl_graph_compact')
def compact(op, inputs, attributes):
    count, sizes = len(inputs) // 2, attributes['graph_sizes']
    if len(inputs) != 2 * count or len(sizes) != count:
        raise MXNetError(f'operator {op.name}: there must be as many graphs as vectors of vertices and graph_sizes, '
                         f'not {len(inputs)} inputs and {len(sizes)} sizes')
    new: list[Any] = []
    old: list[Any] = []
    for graph, array, size in zip(inputs[:count], inputs[count:], sizes, strict=True):
        values, indptr, columns = _graph(op, graph, square=False)
        ids = array.materialize().detach().long()
        if len(ids) != len(indptr) or int(ids[-1]) != size:
            raise MXNetError(f'operator {op.name}: vertices must be as the sampling operators give them, '
                             f'{len(indptr)} long with the number {size} of vertices (graph_sizes) at the end')
        ids, indptr = ids[:size], indptr[:size + 1]
        ordered, order = ids.sort()
        place = torch.searchsorted(ordered, columns).clamp(max=max(size - 1, 0))
        if len(columns) and (not size or bool((ordered[place] != columns).any())):
            raise MXNetError(f'operator {op.name}: an edge leads to a vertex that is not among those given; sample '
                             'with a larger max_num_vertices')
        _pair(graph, (values, indptr, order[place] if size else columns), size, new, old)
    return _results(new, old, attributes)


@rule('_contrib_dgl_adjacency')
def adjacency(op, inputs, attributes):
    graph, = inputs
    values, indptr, columns = _graph(op, graph, square=False)
    return graph._like((torch.ones(len(values), device=values.device), indptr.clone(), columns.clone()))


@rule('_contrib_edge_id')
def edge_id(op, inputs, attributes):
    graph, u, v = inputs
    values, indptr, columns = _graph(op, graph, square=False)
    begins, ends = _vertices(op, u, 'u', graph.shape[0]), _vertices(op, v, 'v', graph.shape[1])
    if len(begins) != len(ends):
        raise MXNetError(f'operator {op.name}: u and v must have the same length, not {len(begins)} and {len(ends)}')
    # columns need not be sorted within a row: look places up in an order of our own
    width = graph.shape[1]
    flat, order = (_sparse_parts.csr_places((values, indptr, columns))[0] * width + columns).sort()
    wanted = begins * width + ends
    result = torch.full((len(wanted),), -1, dtype=values.dtype, device=values.device)
    if len(flat):
        place = torch.searchsorted(flat, wanted).clamp(max=len(flat) - 1)
        hit = flat[place] == wanted
        result[hit] = values[order[place[hit]]]
    return wrap(result, u._ctx, NDArray)
