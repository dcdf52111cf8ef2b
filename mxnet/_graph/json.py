"""Graphs as `-symbol.json`, read and written as upstream does.

Reading accepts the files of all older versions: attributes under `param` (0.8) or `attr` (until 0.12), keys without
underscores, heads and inputs without a version number, operators since renamed.
"""
import json
import re
from collections.abc import Sequence

from .._ops.table import NAMES
from .._state import state
from ..base import MXNetError
from .node import HIDDEN, Entry, Node, cached_node, is_hidden, topological

VERSION = 10901          # what we write: the format of 1.9.1


def dumps(entries: Sequence[Entry], *, np_shape=False) -> str:
    """The text of a graph, laid out as upstream's."""
    return _layout(to_dict(entries, np_shape=np_shape))


def to_dict(entries: Sequence[Entry], *, np_shape=False) -> dict:
    order = topological(entries)
    number = {id(n): i for i, n in enumerate(order)}
    versions: dict[int, int] = {}
    nodes, row = [], [0]
    for node in order:
        changed = set(node.mutated())
        inputs = []
        for i, (child, index) in enumerate(node.inputs):
            if i in changed:
                versions[id(child)] = versions.get(id(child), 0) + 1
            inputs.append([number[id(child)], index, versions.get(id(child), 0) if i in changed else 0])
        record: dict = {'op': 'null' if node.op is None else node.op.name, 'name': node.name}
        if node.attrs:
            record['attrs'] = {k: node.attrs[k] for k in sorted(node.attrs)}
        record['inputs'] = inputs
        if node.subgraphs:
            record['subgraphs'] = [to_dict(s) for s in node.subgraphs]
            for s in record['subgraphs']:
                s.pop('attrs', None)
        nodes.append(record)
        row.append(row[-1] + node.output_count())
    attrs = {'mxnet_version': ['int', VERSION]}
    if np_shape:
        attrs = {'is_np_shape': ['int', 1], **attrs}
    return {'nodes': nodes, 'arg_nodes': [i for i, n in enumerate(order) if n.is_variable], 'node_row_ptr': row,
            'heads': [[number[id(n)], i, 0] for n, i in entries], 'attrs': attrs}


def _layout(value, depth=0) -> str:
    """JSON with upstream's line breaks: one entry a line, but lists of up to ten and single-entry objects on one."""
    pad = '  ' * (depth + 1)
    if isinstance(value, dict):
        if not value:
            return '{}'
        if len(value) == 1 and depth:
            (k, v), = value.items()
            return f'{{{json.dumps(k)}: {_layout(v, depth + 1)}}}'
        body = f', \n{pad}'.join(f'{json.dumps(k)}: {_layout(v, depth + 1)}' for k, v in value.items())
        return f'{{\n{pad}{body}\n{"  " * depth}}}'
    if isinstance(value, list):
        if len(value) > 10 or value and isinstance(value[0], dict):
            body = f', \n{pad}'.join(_layout(v, depth + 1) for v in value)
            return f'[\n{pad}{body}\n{"  " * depth}]'
        return '[' + ', '.join(_layout(v, depth + 1) for v in value) + ']'
    return json.dumps(value)


# ---------------------------------------------------------------------- reading
def loads(text: str, where: str = 'the JSON') -> list[Entry]:
    """The outputs of the graph in a text."""
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError, UnicodeDecodeError) as error:
        raise MXNetError(f'{where} is not a symbol: {error}') from None
    if not isinstance(data, dict) or 'nodes' not in data or 'heads' not in data:
        raise MXNetError(f'{where} is not a symbol: it has no nodes or heads')
    return from_dict(data, where)


def from_dict(data: dict, where: str = 'the JSON') -> list[Entry]:
    made: list[Node] = []
    try:
        # where 0 is a length like others, an unknown one is -1
        unknown = state.np_shape and 'is_np_shape' not in data.get('attrs', {})
        for i, record in enumerate(data['nodes']):
            attrs = _attributes(record)
            if unknown and '__shape__' in attrs:
                attrs['__shape__'] = re.sub(r'\b0\b', '-1', attrs['__shape__'])
            inputs = []
            for entry in record.get('inputs', []):
                if not 0 <= entry[0] < i:
                    raise MXNetError(f'{where}: node {i} ({record.get("name")}) takes node {entry[0]}, '
                                     'which does not come before it')
                inputs.append((made[entry[0]], int(entry[1])))
            subgraphs = [from_dict(s, where) for s in record.get('subgraphs', [])]
            made.append(_node(record['op'], record['name'], attrs, inputs, subgraphs, where))
        return [(made[h[0]], int(h[1])) for h in data['heads']]
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise MXNetError(f'{where} is not a symbol: {type(error).__name__} {error}') from None


def _attributes(record):
    """attrs of today, with the keys of older versions brought into their form."""
    attrs = {}
    for era in ('param', 'attr', 'attrs'):
        found = record.get(era)
        if found:
            attrs.update(found)
    result = {}
    for key, value in attrs.items():
        for hidden in HIDDEN:
            if key == hidden:
                key = f'__{key}__'
        result[key] = value
    return {k: v if isinstance(v, str) else str(v) for k, v in result.items()}


def _node(op_name, name, attrs, inputs, subgraphs, where):
    if op_name == 'null':
        return Node(None, name, attrs)
    op = NAMES.get(op_name)
    if op is None:
        raise MXNetError(f'{where}: node {name} is of operator {op_name}, which is not known')
    known = op.attributes
    # files of old versions hold attributes that their operator no longer has; and the user's own without underscores
    kept = {}
    for key, value in attrs.items():
        if key in known or is_hidden(key) or op.extra is not None:
            kept[key] = value
        else:
            kept[f'__{key}__'] = value
    if op.name == '_CachedOp':
        return cached_node(name, kept, inputs, subgraphs[0] if subgraphs else loads(kept.get('subgraph', ''), where))
    wanted = () if op.variadic is not None else op.input_names(op.complete(op.parse(
        {k: v for k, v in kept.items() if k in known})))
    # before 0.9 auxiliary states were not inputs
    for missing in wanted[len(inputs):]:
        inputs.append((Node(None, f'{name}_{missing}', {}), 0))
    return Node(op, name, kept, inputs, subgraphs)
