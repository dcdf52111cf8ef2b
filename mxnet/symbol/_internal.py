"""Functions derived from the operator table: `mx.sym._internal`."""
from .._frontend.namespaces import namespace
from .._graph.ir.node import cached_node
from ..attribute import AttrScope
from ..name import NameManager
from ._compose import make, make_function
from .symbol import Symbol, load_json

__all__ = []
for _name, _op in namespace('_internal').items():
    globals()[_name] = make_function(_op, _name, Symbol)
    __all__.append(_name)


def _CachedOp(*args, subgraph, name=None, **attrs):
    """One node that runs a whole graph, given as JSON or as a Symbol; the arguments are its inputs in their order."""
    body = subgraph if isinstance(subgraph, Symbol) else load_json(subgraph)
    node = cached_node(NameManager.current.get(name, '_cachedop'), {**AttrScope.current.get(None), **attrs},
                       [e for s in args for e in s._entries], body._entries)
    return make(Symbol, [(node, i) for i in range(node.visible_count())])
