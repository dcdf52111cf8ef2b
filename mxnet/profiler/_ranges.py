"""The ranges of a profile: around operators, layers, blocks and calls of the API, so that these have names in it.

`Ranges` is an interceptor (_dispatch.py) of the whole process.  Plans run copies of their functions that have ranges
between the lines.
"""
import re
import threading

import torch

from .._dispatch import PROFILE, Interceptor, install, remove
from .._graph.codegen.writing import Plan
from .._graph.trace.tracing import Traced
from .._torch.tools import Range

PREFIX = 'mx:'


def encode(kind, name, layer=''):
    """The text of a range; `decode` takes it apart."""
    return f'{PREFIX}{kind}:{len(name)}:{name}{layer}'


def decode(text):
    """(kind, name, layer) of a range, or None if it is not one of ours."""
    if not text.startswith(PREFIX):
        return None
    kind, length, rest = text[len(PREFIX):].split(':', 2)
    return kind, rest[:int(length)], rest[int(length):]


def _computes(tensors):
    """Whether a call computes something: shape inference and tracing call the same functions."""
    for t in tensors:
        if isinstance(t, torch.Tensor):
            return not t.is_meta and type(t) is not Traced
    return True


# ---------------------------------------------------------------------- plans
_LINE = re.compile(r'( +)(?:(\w+) = |return )')


def with_ranges(source, labels):
    """The text of a plan's functions with a range around the calls of each node."""
    lines, current = [], None

    def go_to(label, indent):
        nonlocal current
        if label != current:
            if current is not None:
                lines.append(f'{indent}_range.__exit__(None, None, None)')
            if label is not None:
                lines.extend([f'{indent}_range = _Range({encode("operator", *label)!r})',
                              f'{indent}_range.__enter__()'])
            current = label

    for line in source.split('\n'):
        found = _LINE.match(line)
        if found and (found[2] is None or found[2] in labels):
            go_to(labels.get(found[2]), found[1])
        lines.append(line)
    return '\n'.join(lines)


# ---------------------------------------------------------------------- blocks and the API
class _Depth(threading.local):
    depth = 0               # of calls of the API and of blocks that are going on in this thread


_open = _Depth()


class _Outer:
    """A range that counts how many of its kind it is in; `after()` is called at the end of one that was in no other."""

    __slots__ = ('_range', '_after')

    def __init__(self, text, after=None):
        self._range, self._after = Range(text), after

    def __enter__(self):
        _open.depth += 1
        self._range.__enter__()

    def __exit__(self, kind, *error):
        self._range.__exit__(kind, *error)
        _open.depth -= 1
        if self._after is not None and kind is None and _open.depth == 0:
            self._after()


class Ranges(Interceptor):
    """All ranges, switched on by the constructor and off by `restore`.

    symbolic, imperative, api: whether nodes of graphs, calls on arrays and calls of the API get names
    after(): called when a call of the API has ended that was in no other
    """

    rank = PROFILE

    def __init__(self, symbolic, imperative, api, after):
        self._symbolic, self._imperative, self._api, self._after = symbolic, imperative, api, after
        self.call_by_call = symbolic        # a CUDA graph is one launch, and results of a trace come without names
        install(self)
        if symbolic:
            for plan in list(Plan.live):
                self.plan(plan)

    def restore(self):
        """Takes the ranges away."""
        remove(self)
        if self._symbolic:
            for plan in list(Plan.live):
                plan.restore()

    def kernel(self, op, function, node, tensors, attributes):
        if not (self._imperative if node is None else self._symbolic) or not _computes(tensors):
            return function(*tensors, **attributes)
        custom = op.name == 'Custom'
        with Range(encode('custom' if custom else 'operator', attributes['op_type'] if custom else op.name,
                          '' if node is None else node.name)):
            return function(*tensors, **attributes)

    def plan(self, plan):
        if self._symbolic:
            plan.instrument(with_ranges, {'_Range': Range})

    def api(self, name):
        return _Outer(encode('api', name), self._after) if self._api else None

    def block(self, block, inputs):
        # not the tensor of an array that is sparse or pending: to read it would compute it
        known = [None if getattr(x, '_sparse', True) or x._pending is not None else x.materialize() for x in inputs]
        if not (self._symbolic or self._imperative) or not _computes(known):
            return None
        return _Outer(encode('block', getattr(block, 'name', '') or type(block).__name__, type(block).__name__))
