"""Sampling of graphs against a walk written with Python's own containers."""
import logging

import numpy
import pytest

import mxnet as mx
from mxnet import nd


def make_graph(count=12, density=0.25, seed=0):
    """(csr array whose values number the edges, {vertex: [(neighbour, edge)]})"""
    chosen = numpy.random.RandomState(seed).rand(count, count) < density
    rows, columns = chosen.nonzero()
    indptr = numpy.concatenate([[0], chosen.sum(1).cumsum()])
    graph = nd.sparse.csr_matrix((numpy.arange(len(rows), dtype='int64'), columns, indptr), shape=(count, count))
    return graph, {v: [(int(c), i) for i, (r, c) in enumerate(zip(rows, columns, strict=True)) if r == v]
                   for v in range(count)}


def walk(edges, seeds, hops, limit):
    """{vertex: hops}, {vertex: its edges} of a walk through all edges that stops when `limit` vertices are met."""
    levels = dict.fromkeys(seeds, 0)
    queue, taken = list(levels), {}
    while queue and len(levels) < limit:
        vertex = queue.pop(0)
        if levels[vertex] >= hops:
            continue
        taken[vertex] = edges[vertex]
        for other, _ in edges[vertex]:
            if len(levels) < limit and other not in levels:
                levels[other] = levels[vertex] + 1
                queue.append(other)
    return levels, taken


def rows_of(graph):
    values, indptr, columns = (x.asnumpy().tolist() for x in (graph.data, graph.indptr, graph.indices))
    return [list(zip(columns[a:b], values[a:b], strict=True)) for a, b in zip(indptr, indptr[1:], strict=False)]


@pytest.mark.parametrize(('seeds', 'hops', 'limit'), [([0], 1, 12), ([3, 1], 2, 12), ([3, 1], 3, 7), ([5, 5, 2], 2, 4),
                                                      ([0, 1, 2, 3], 0, 6), ([7], 5, 40)])
def test_walk_through_all_neighbours(seeds, hops, limit):
    graph, edges = make_graph()
    ids, drawn, levels = nd.contrib.dgl_csr_neighbor_uniform_sample(
        graph, nd.array(seeds, dtype='int64'), num_args=2, num_hops=hops, num_neighbor=100, max_num_vertices=limit)
    expected, taken = walk(edges, seeds, hops, limit)
    count = int(ids[-1].asscalar())
    vertices = ids.asnumpy()[:count].tolist()
    assert ids.shape == (limit + 1,) and drawn.shape == (limit, 12) and levels.shape == (limit,)
    assert vertices == sorted(expected)
    assert levels.asnumpy()[:count].tolist() == [expected[v] for v in vertices]
    drawn.check_format()
    assert rows_of(drawn) == [taken.get(v, []) for v in vertices] + [[]] * (limit - count)


def test_neighbours_are_drawn_uniformly_and_without_repetition():
    graph, edges = make_graph(density=0.9)
    seed = nd.array([0], dtype='int64')
    mx.random.seed(3)
    counts = numpy.zeros(12)
    for _ in range(400):
        _, drawn, _ = nd.contrib.dgl_csr_neighbor_uniform_sample(graph, seed, num_hops=1, num_neighbor=3,
                                                                 max_num_vertices=12)
        columns = drawn.indices.asnumpy()
        assert len(set(columns.tolist())) == 3 and set(rows_of(drawn)[0]) <= set(edges[0])
        counts[columns] += 1
    neighbours = [v for v, _ in edges[0]]
    expected = 400 * 3 / len(neighbours)
    assert abs(counts[neighbours] - expected).max() < 5 * expected ** 0.5


def test_neighbours_are_drawn_by_probability():
    count = 5
    graph, _ = make_graph(count, density=2)
    chances = numpy.array([1, 2, 3, 4, 10.], 'float32')
    mx.random.seed(4)
    hits = numpy.zeros(count)
    for _ in range(500):
        ids, drawn, found, levels = nd.contrib.dgl_csr_neighbor_non_uniform_sample(
            graph, nd.array(chances), nd.array([0], dtype='int64'), num_hops=1, num_neighbor=1, max_num_vertices=5)
        hits[drawn.indices.asnumpy()] += 1
        number = int(ids[-1].asscalar())
        numpy.testing.assert_array_equal(found.asnumpy()[:number], chances[ids.asnumpy()[:number]])
        assert levels.asnumpy()[:number].max() <= 1
    expected = 500 * chances / chances.sum()
    assert (abs(hits - expected) < 5 * expected ** 0.5).all()


def test_the_same_seed_draws_the_same_walk():
    graph, _ = make_graph(60, 0.5)
    seeds = nd.array([1, 2], dtype='int64'), nd.array([5], dtype='int64')
    draws = []
    for _ in range(2):
        mx.random.seed(11)
        draws.append(nd.contrib.dgl_csr_neighbor_uniform_sample(graph, *seeds, num_hops=2, num_neighbor=3,
                                                                max_num_vertices=50))
    assert len(draws[0]) == 6
    for first, second in zip(*draws, strict=True):
        numpy.testing.assert_array_equal(first.asnumpy(), second.asnumpy())


def test_compact():
    graph, _ = make_graph(30, 0.3)
    ids, drawn, _ = nd.contrib.dgl_csr_neighbor_uniform_sample(graph, nd.array([3, 8], dtype='int64'), num_hops=2,
                                                               num_neighbor=2, max_num_vertices=25)
    size = int(ids[-1].asscalar())
    small, mapping = nd.contrib.dgl_graph_compact(drawn, ids, graph_sizes=(size,), return_mapping=True)
    assert small.shape == mapping.shape == (size, size)
    vertices = ids.asnumpy()
    assert [[(vertices[c], e) for c, e in row] for row in rows_of(mapping)] == rows_of(drawn)[:size]
    assert small.data.asnumpy().tolist() == list(range(len(drawn.data)))
    assert nd.contrib.dgl_graph_compact(drawn, ids, graph_sizes=size, return_mapping=False).shape == (size, size)


def test_compact_refuses_edges_out_of_the_sample(caplog):
    graph, _ = make_graph()
    with caplog.at_level(logging.WARNING, 'mxnet'):
        ids, drawn, _ = nd.contrib.dgl_csr_neighbor_uniform_sample(graph, nd.array([3, 1], dtype='int64'), num_hops=2,
                                                                   num_neighbor=100, max_num_vertices=4)
    assert 'max_num_vertices=4' in caplog.text
    with pytest.raises(mx.MXNetError, match='larger max_num_vertices'):
        nd.contrib.dgl_graph_compact(drawn, ids, graph_sizes=(4,), return_mapping=False)


def test_subgraph():
    graph, edges = make_graph(20, 0.4)
    vertices = [1, 4, 5, 9, 17]
    new, old = nd.contrib.dgl_subgraph(graph, nd.array(vertices, dtype='int64'), return_mapping=True)
    assert rows_of(old) == [[(vertices.index(c), e) for c, e in edges[v] if c in vertices] for v in vertices]
    assert new.data.asnumpy().tolist() == list(range(len(old.data)))
    numpy.testing.assert_array_equal(new.indices.asnumpy(), old.indices.asnumpy())


def test_edge_id_and_adjacency():
    graph, edges = make_graph()
    u, v = numpy.indices((12, 12)).reshape(2, -1)
    expected = [dict(edges[a]).get(b, -1) for a, b in zip(u, v, strict=True)]
    assert nd.contrib.edge_id(graph, nd.array(u), nd.array(v)).asnumpy().tolist() == expected
    ones = nd.contrib.dgl_adjacency(graph)
    assert ones.dtype == numpy.float32 and ones.stype == 'csr'
    numpy.testing.assert_array_equal(ones.asnumpy().reshape(-1) > 0, numpy.array(expected) >= 0)


def test_mistakes_are_explained():
    graph, _ = make_graph()
    seeds = nd.array([0, 1], dtype='int64')
    sample = nd.contrib.dgl_csr_neighbor_uniform_sample
    for function, message in (
            (lambda: nd.contrib.edge_id(nd.ones((2, 2)), seeds, seeds), 'must be a csr array'),
            (lambda: sample(nd.ones((2, 2)), seeds), 'must be a csr array'),
            (lambda: sample(graph, seeds, max_num_vertices=1), 'less than the 2 seeds'),
            (lambda: sample(graph, seeds + 11), 'from 0 to 11'),
            (lambda: nd.contrib.dgl_subgraph(graph, seeds[::-1], return_mapping=False), 'must rise')):
        with pytest.raises(mx.MXNetError, match=message):
            function()


def test_in_a_graph():
    graph, edges = make_graph()
    data, u, v = (mx.sym.Variable(n) for n in ('data', 'u', 'v'))
    symbol = mx.sym.contrib.edge_id(data, u, v)
    executor = symbol.bind(mx.cpu(), {'data': graph, 'u': nd.array([0, 1]), 'v': nd.array([2, 3])}, grad_req='null')
    assert executor.forward()[0].asnumpy().tolist() == [dict(edges[a]).get(b, -1) for a, b in ((0, 2), (1, 3))]
    sample = mx.sym.contrib.dgl_csr_neighbor_uniform_sample(data, u, num_args=2, num_neighbor=100, max_num_vertices=9)
    assert sample.infer_shape(data=(12, 12), u=(2,))[1] == [(10,), (9, 12), (9,)]
    outputs = sample.bind(mx.cpu(), {'data': graph, 'u': nd.array([0, 1], dtype='int64')}, grad_req='null').forward()
    assert [o.stype for o in outputs] == ['default', 'csr', 'default']
    expected, _ = walk(edges, [0, 1], 1, 9)
    assert outputs[0].asnumpy()[:len(expected)].tolist() == sorted(expected)
