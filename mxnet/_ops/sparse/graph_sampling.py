"""Operators that sample graphs.  A graph is a csr matrix whose stored values number its edges.

Only sparse arrays can tell edge 0 from no edge, so that dense ones are refused here; what the operators compute is in
`ndarray/_sparse_graphs.py`.  On meta tensors these functions give the shapes.
"""
import torch

from ...base import MXNetError
from ..core.attributes import Shape
from ..core.table import operator


def _refuse_dense(name, *graphs):
    if any(g.device.type != 'meta' for g in graphs):
        raise MXNetError(f'operator {name}: a graph must be a csr array, not a dense one; make one with '
                         "nd.sparse.csr_matrix or tostype('csr')")


def _sampled(count, kinds):
    return tuple(f'output{i}' for i in range(count * kinds))


def _sample_shapes(graph, seeds, max_num_vertices, probability=None):
    ids = [s.new_empty(max_num_vertices + 1) for s in seeds]
    graphs = [graph.new_empty(max_num_vertices, graph.shape[1]) for _ in seeds]
    chances = [] if probability is None else [probability.new_empty(max_num_vertices) for _ in seeds]
    return *ids, *graphs, *chances, *[s.new_empty(max_num_vertices) for s in seeds]


@operator('_contrib_dgl_csr_neighbor_uniform_sample', variadic='num_args', auto_inputs=False,
          variadic_names=lambda a: ('csr_matrix', *[f'seed_array{i}' for i in range(a['num_args'] - 1)]),
          outputs=lambda a: _sampled(a['num_args'] - 1, 3))
def dgl_csr_neighbor_uniform_sample(*arrays, num_args: int, num_hops: int = 1, num_neighbor: int = 2,
                                    max_num_vertices: int = 100):
    """Walks from seed vertices into a graph, through at most `num_neighbor` edges of every vertex that it meets.

    Inputs are the graph, a csr array, and one or more vectors of seeds.  For each of these there are three results: the
    vertices in rising order with their number at the end, the edges that were drawn as a csr array with a row for every
    vertex, and how many hops away from a seed each vertex was met.  Results come in the order ids, graphs, hops.
    """
    graph, *seeds = arrays
    _refuse_dense('_contrib_dgl_csr_neighbor_uniform_sample', graph)
    return _sample_shapes(graph, seeds, max_num_vertices)


@operator('_contrib_dgl_csr_neighbor_non_uniform_sample', variadic='num_args', auto_inputs=False,
          variadic_names=lambda a: ('csr_matrix', 'probability',
                                    *[f'seed_array{i}' for i in range(a['num_args'] - 2)]),
          outputs=lambda a: _sampled(a['num_args'] - 2, 4))
def dgl_csr_neighbor_non_uniform_sample(*arrays, num_args: int, num_hops: int = 1, num_neighbor: int = 2,
                                        max_num_vertices: int = 100):
    """The same as `dgl_csr_neighbor_uniform_sample`, but neighbours are drawn in proportion to their `probability`.

    The second input has one number for every vertex of the graph; results come in the order ids, graphs,
    probabilities, hops.
    """
    if len(arrays) < 3:
        raise MXNetError('operator _contrib_dgl_csr_neighbor_non_uniform_sample needs a graph, probabilities and '
                         f'seeds; {len(arrays)} inputs were given')
    graph, probability, *seeds = arrays
    _refuse_dense('_contrib_dgl_csr_neighbor_non_uniform_sample', graph)
    return _sample_shapes(graph, seeds, max_num_vertices, probability)


def _mapped(count, mapping):
    return ('output',) if count == 1 and not mapping else _sampled(count, 1 + mapping)


@operator('_contrib_dgl_subgraph', variadic='num_args',
          variadic_names=lambda a: ('graph', *[f'varray{i}' for i in range(a['num_args'] - 1)]),
          outputs=lambda a: _mapped(a['num_args'] - 1, a['return_mapping']))
def dgl_subgraph(*arrays, num_args: int, return_mapping: bool):
    """The parts of a graph that lie between given vertices, which are numbered anew in this order.

    Inputs are the graph, a csr array, and one or more vectors of vertices in rising order.  Edges are numbered anew,
    too; `return_mapping` adds for each subgraph one with the same edges that have their old numbers.
    """
    graph, *vertices = arrays
    _refuse_dense('_contrib_dgl_subgraph', graph)
    return tuple(graph.new_empty(len(v), len(v)) for v in vertices) * (1 + return_mapping)


@operator('_contrib_dgl_graph_compact', variadic='num_args',
          variadic_names=lambda a: (*[f'graph{i}' for i in range(a['num_args'] // 2)],
                                    *[f'varray{i}' for i in range(a['num_args'] // 2)]),
          outputs=lambda a: _mapped(a['num_args'] // 2, a['return_mapping']))
def dgl_graph_compact(*graph_data, num_args: int, return_mapping: bool, graph_sizes: Shape):
    """What the sampling operators drew as graphs of their own: without empty rows at the end, vertices numbered anew.

    Inputs are the sampled graphs, then their vertices; `graph_sizes` has the number of vertices of each.  Edges are
    numbered anew; `return_mapping` adds for each graph one with the old numbers of its edges.
    """
    graphs = graph_data[:len(graph_data) // 2]
    _refuse_dense('_contrib_dgl_graph_compact', *graphs)
    return tuple(g.new_empty(n, n) for g, n in zip(graphs, graph_sizes, strict=False)) * (1 + return_mapping)


@operator('_contrib_dgl_adjacency')
def dgl_adjacency(data):
    """The graph of a csr array with a float32 1 for every edge, whatever its number."""
    _refuse_dense('_contrib_dgl_adjacency', data)
    return torch.empty_like(data, dtype=torch.float32)


@operator('_contrib_edge_id')
def edge_id(data, u, v):
    """The numbers of the edges from u[i] to v[i] in a graph, a csr array; -1 where there is none."""
    _refuse_dense('_contrib_edge_id', data)
    return u.new_empty(u.shape, dtype=data.dtype)
