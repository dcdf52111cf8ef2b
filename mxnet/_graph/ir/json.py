"""Graphs as `-symbol.json`, read and written as upstream does.

Reading accepts the files of all older versions: attributes under `param` (0.8) or `attr` (until 0.12), keys without
underscores, heads and inputs without a version number, operators since renamed.
"""
from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ..._files import jsons, limits
from ..._ops.core.attributes import DataType, literal
from ..._ops.core.table import NAMES
from ..._state import state
from ...base import MXNetError
from .control_flow import control_flow_problem
from .node import HIDDEN, Entry, Node, cached_node, is_hidden, topological

# operators of old releases, and of builds with plug-ins, by the names that they have now
RENAMED = {'CuDNNBatchNorm': 'BatchNorm', 'MultiBoxDetection': '_contrib_MultiBoxDetection',
           'MultiBoxPrior': '_contrib_MultiBoxPrior', 'MultiBoxTarget': '_contrib_MultiBoxTarget',
           '_random_gaussian': '_random_normal', '_sample_gennegbinomial': '_random_generalized_negative_binomial',
           '_sample_negbinomial': '_random_negative_binomial', 'element_mask': 'broadcast_mul',
           'exponential': '_random_exponential', 'poisson': '_random_poisson',
           'negative_binomial': '_random_negative_binomial',
           'generalized_negative_binomial': '_random_generalized_negative_binomial'}
VERSION = 10901          # what we write: the format of 1.9.1


def dumps(entries: Sequence[Entry], *, np_shape: bool = False) -> str:
    """The text of a graph, laid out as upstream's."""
    return _layout(to_dict(entries, np_shape=np_shape))


def to_dict(entries: Sequence[Entry], *, np_shape: bool = False) -> dict:
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


def _layout(value: Any, depth: int = 0) -> str:
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
        if any(isinstance(v, dict | list) for v in value):
            return '[' + ', '.join(_layout(v, depth + 1) for v in value) + ']'
    return json.dumps(value)


# ---------------------------------------------------------------------- reading
_OUTPUT, _NODE = 100, 800       # bytes that an output of a node takes, with its name; a node
_GRAPHS = 20                    # of graphs in graphs; inference needs more of Python's stack for each than reading does


def loads(text: str | bytes, where: str = 'the JSON') -> list[Entry]:
    """The outputs of the graph in a text.  What is wrong in it is named with the node where it stands."""
    return _Reader(where, len(text)).graph(jsons.load(text, where, 'a symbol'), '', 0)


def from_dict(data: dict, where: str = 'the JSON') -> list[Entry]:
    return _Reader(where, len(data.get('nodes', ())) * 100 if isinstance(data, dict) else 0).graph(data, '', 0)


class _Reader:
    """Makes nodes of what JSON has, none of which is believed."""

    def __init__(self, where: str, size: int) -> None:
        self.where, self.size = where, size
        self.outputs = self.nodes = 0

    def fail(self, place: str, text: str) -> NoReturn:
        raise MXNetError(f'{self.where} is not a symbol: {place}{": " if place else ""}{text}')

    def graph(self, data: Any, place: str, depth: int) -> list[Entry]:
        if depth > _GRAPHS:
            self.fail(place, f'its graphs are nested deeper than {_GRAPHS}')
        if not isinstance(data, dict) or 'nodes' not in data or 'heads' not in data:
            self.fail(place, 'it has no nodes or heads')
        notes = data.get('attrs', {})
        # where 0 is a length like others, an unknown one is -1
        unknown = state.np_shape and not (isinstance(notes, dict) and 'is_np_shape' in notes)
        made: list[Node] = []
        self.nodes += len(self.listed(data['nodes'], place, 'nodes'))
        limits.check(self.nodes * _NODE, self.size, self.where, f'{place}{self.nodes} nodes')
        for i, record in enumerate(data['nodes']):
            made.append(self.node(record, made, f'{place}node {i}', unknown, depth))
        heads = [self.entry(head, made, f'{place}head {i}') for i, head in
                 enumerate(self.listed(data['heads'], place, 'heads'))]
        if not heads:
            self.fail(place, 'it has no outputs: its heads are an empty list')
        return heads

    def listed(self, value: Any, place: str, what: str) -> list[Any]:
        if not isinstance(value, list):
            self.fail(place, f'expected a list of {what}, found {jsons.shown(value)}')
        return value

    def entry(self, entry: Any, made: list[Node], place: str) -> Entry:
        """What [number of a node, number of its output] stands for; the version behind them says nothing."""
        if not isinstance(entry, list) or len(entry) < 2 or any(type(number) is not int for number in entry):
            self.fail(place, f'expected [node, output], found {jsons.shown(entry)}')
        number, output = entry[:2]
        if not 0 <= number < len(made):
            if place.count(', input'):
                self.fail(place, f'it takes node {number}, which does not come before it')
            self.fail(place, f'there is no node {number}; there are {len(made)}')
        node = made[number]
        if not 0 <= output < max(1, node.output_count()):
            self.fail(place, f'node {number} ({limits.printable(node.name)}) has no output {output}; it has '
                             f'{node.output_count()}')
        return node, output

    def node(self, record: Any, made: list[Node], place: str, unknown: bool, depth: int) -> Node:
        if not isinstance(record, dict):
            self.fail(place, f'expected a dictionary, found {jsons.shown(record)}')
        for key in ('op', 'name'):
            if not isinstance(record.get(key), str):
                self.fail(place, f'expected a text as its {key}, found '
                                 f'{jsons.shown(record[key]) if key in record else "none"}')
        name = record['name']
        place = f'{place} ({limits.printable(name)})'
        attrs = self.attributes(record, place)
        if unknown and '__shape__' in attrs:
            attrs['__shape__'] = re.sub(r'\b0\b', '-1', attrs['__shape__'])
        inputs = [self.entry(entry, made, f'{place}, input {i}') for i, entry in
                  enumerate(self.listed(record.get('inputs', []), place, 'inputs'))]
        subgraphs = [self.graph(inner, f'{place}, graph {i}, ', depth + 1) for i, inner in
                     enumerate(self.listed(record.get('subgraphs', []), place, 'subgraphs'))]
        try:
            node = self.make(record['op'], name, attrs, inputs, subgraphs, place, depth)
            self.outputs += node.output_count()
        except MXNetError as error:
            if str(error).startswith(self.where):
                raise
            raise MXNetError(f'{self.where}: {place}: {error}') from None
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            self.fail(place, f'operator {record["op"]} cannot be made of its attributes '
                             f'({type(error).__name__}: {error})')
        limits.check(self.outputs * _OUTPUT, self.size, self.where, f'{place}: outputs, {self.outputs} up to here,')
        return node

    def attributes(self, record: dict[str, Any], place: str) -> dict[str, str]:
        """attrs of today, with the keys of older versions brought into their form."""
        attrs = {}
        for era in ('param', 'attr', 'attrs'):
            found = record.get(era)
            if found is not None and not isinstance(found, dict):
                self.fail(place, f'expected a dictionary of attributes, found {jsons.shown(found)}')
            if found:
                attrs.update(found)
        result = {}
        for key, value in attrs.items():
            if key in HIDDEN:
                key = f'__{key}__'
            if isinstance(value, (list, dict)):     # some programs wrote numbers; none wrote lists
                if isinstance(value, dict) or any(isinstance(part, (list, dict)) for part in value):
                    self.fail(place, f'expected a text as its attribute {key}, found {jsons.shown(value)}')
            result[key] = value if isinstance(value, str) else str(value)
        problem = declared_problem(result)
        if problem:
            self.fail(place, problem)
        return result

    def make(self, op_name: str, name: str, attrs: Mapping[str, str], inputs: list[Entry],
             subgraphs: list[list[Entry]], place: str, depth: int) -> Node:
        if op_name == 'null':
            if inputs:
                self.fail(place, f'a variable has no inputs, but there are {len(inputs)}')
            return Node(None, name, attrs)
        op = NAMES.get(RENAMED.get(op_name, op_name))
        if op is None:
            raise MXNetError(f'{self.where}: {place} is of operator {limits.printable(op_name)}, which is not known')
        known = op.attributes
        # files of old versions hold attributes that their operator no longer has, and the user's own without __
        kept = {}
        for key, value in attrs.items():
            if key in known or is_hidden(key) or op.extra is not None:
                kept[key] = value
            else:
                kept[f'__{key}__'] = value
        if op.name == '_CachedOp':
            body = subgraphs[0] if subgraphs else self.graph(
                jsons.load(kept.get('subgraph', ''), f'{self.where}: {place}', 'a symbol'), f'{place}, ', depth + 1)
            return cached_node(name, kept, inputs, body)
        complete = op.complete(op.parse({k: v for k, v in kept.items() if k in known}))
        wanted = op.input_names(complete, len(inputs))
        if op.variadic is None:
            # before 0.9 auxiliary states were not inputs
            for missing in wanted[len(inputs):]:
                inputs.append((Node(None, f'{name}_{missing}', {}), 0))
        # upstream counts the graphs of loops and branches among the inputs
        counts = (len(inputs), len(inputs) + len(subgraphs))
        if len(inputs) != len(wanted) or op.variadic in known and op.variadic_names is None \
                and complete[op.variadic] not in counts:
            count = complete[op.variadic] if op.variadic in known else len(wanted)
            self.fail(place, f'operator {op.name} takes {count} inputs with these attributes, but there are '
                             f'{len(inputs)}')
        if op.wants_subgraphs and not subgraphs:
            self.fail(place, f'operator {op.name} has no graph to run')
        node = Node(op, name, kept, inputs, subgraphs)
        if subgraphs:
            problem = control_flow_problem(node)
            if problem:
                self.fail(place, f'operator {op.name} {problem}')
        return node


def declared_problem(attrs: Mapping[str, str]) -> str:
    """What is wrong with what a variable says of its shape, dtype and multipliers; '' if nothing is."""
    text = attrs.get('__shape__')
    if text is not None:
        try:
            found = literal(text)
            good = all(isinstance(n, int) for n in (found if isinstance(found, tuple | list) else (found,)))
        except ValueError:
            good = False
        if not good:
            return f'__shape__={jsons.shown(text)} is not a shape such as (2, 3)'
    text = attrs.get('__dtype__', '-1')
    if text != '-1':
        try:
            DataType().parse(text)
        except (MXNetError, KeyError, ValueError, TypeError):
            return f'__dtype__={jsons.shown(text)} is not the number or the name of a dtype'
    for key in ('lr_mult', 'wd_mult'):
        for name in (key, f'__{key}__'):
            try:
                float(attrs.get(name, 1))
            except ValueError:
                return f'{name}={jsons.shown(attrs[name])} is not a number'
    return ''
