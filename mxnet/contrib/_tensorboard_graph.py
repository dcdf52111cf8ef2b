"""A network as the graph that TensorBoard draws.

TensorBoard folds what has a common beginning up to a slash.  So parameters go below their layer (`fc1/weight`), and
what a block computes below the block (`features/conv0/fwd`).
"""
from .._graph.infer.inference import complete, infer
from .._graph.ir.node import topological
from .._ops.core.dtypes import NAME
from ..gluon import HybridBlock
from ..symbol import Symbol

NOT_A_NETWORK = ('add_graph takes a Symbol, or a HybridBlock that was hybridized and has run once; not {}')


def graph(net, shape=None):
    """(GraphDef, RunMetadata), as torch's FileWriter takes them."""
    from tensorboard.compat.proto.attr_value_pb2 import AttrValue
    from tensorboard.compat.proto.config_pb2 import RunMetadata
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.compat.proto.node_def_pb2 import NodeDef
    from tensorboard.compat.proto.step_stats_pb2 import StepStats
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
    from tensorboard.compat.proto.versions_pb2 import VersionDef

    symbol, known, scopes = _parts(net)
    entries = symbol._entries
    known.update({name: tuple(lengths) for name, lengths in (shape or {}).items()})
    facts = infer(entries, known, {})
    nodes = topological(entries)
    paths = _paths(nodes, scopes)

    def shapes(node):
        found = []
        for number in range(node.visible_count()):
            lengths = facts.shape((node, number))
            if not complete(lengths):
                return None
            found.append(TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in lengths]))
        return AttrValue(list=AttrValue.ListValue(shape=found))

    made = []
    for node in nodes:
        inputs = [paths[id(child)] + (f':{number}' if number else '') for child, number in node.inputs]
        attributes = {key: AttrValue(s=str(value).encode()) for key, value in sorted(node.attrs.items())}
        dtype = facts.dtype((node, 0))
        if dtype is not None:
            attributes.setdefault('dtype', AttrValue(s=NAME[dtype].encode()))
        found = shapes(node)
        if found is not None:
            attributes['_output_shapes'] = found
        made.append(NodeDef(name=paths[id(node)], op='Variable' if node.is_variable else node.op.name, input=inputs,
                            attr=attributes))
    return GraphDef(node=made, versions=VersionDef(producer=22)), RunMetadata(step_stats=StepStats())


def _parts(net):
    """(symbol, shapes known of its variables, [(prefix of names, path)])"""
    if isinstance(net, Symbol):
        return net, {}, []
    if not isinstance(net, HybridBlock):
        raise TypeError(NOT_A_NETWORK.format(f'a {type(net).__name__}'))
    if not net._cached_graph:
        raise ValueError(NOT_A_NETWORK.format(f'{net.name}, which has no graph yet'))
    known = {p.name: p.shape for p in net.collect_params().values() if p.shape and complete(p.shape)}
    scopes = []

    def visit(block, path):
        scopes.append((block.prefix, path))
        for key, child in block._children.items():
            # a child with prefix='' has the names of its parent, which do not tell the two apart
            label = child.prefix.removeprefix(block.prefix).removesuffix('_')
            visit(child, [*path, label or key] if child.prefix != block.prefix else path)

    visit(net, [])
    return net._cached_graph[1], known, sorted(scopes, key=lambda scope: len(scope[0]))


def _paths(nodes, scopes):
    """id of a node -> its path; no two nodes have the same one."""
    layers = {node.name for node in nodes if not node.is_variable}
    paths, taken = {}, set()
    for node in nodes:
        path = None
        for prefix, parts in scopes:
            if prefix and node.name.startswith(prefix) and len(node.name) > len(prefix):
                path = '/'.join([*parts, node.name[len(prefix):]])
        if path is None:
            layer, _, rest = node.name.rpartition('_')
            while layer and node.is_variable and layer not in layers:         # moving_mean has an underscore itself
                layer, _, more = layer.rpartition('_')
                rest = f'{more}_{rest}'
            path = f'{layer}/{rest}' if node.is_variable and layer else node.name
        # TensorBoard takes a colon for the number of an output
        path = path.replace(':', '_').replace(' ', '_')
        unique, number = path, 1
        while unique in taken:
            unique, number = f'{path}_{number}', number + 1
        taken.add(unique)
        paths[id(node)] = unique
    return paths
