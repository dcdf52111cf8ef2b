"""What is exchanged while a profile is taken, so that operators, layers, blocks and calls of the API have names in it.

Nothing in the rest of the package asks whether somebody profiles: kernels are exchanged at their taps (`_taps.py`), the
functions of plans by copies with names between their lines, and a few methods by ones that open a range.
"""
import functools
import gc
import importlib
import re
import sys
import threading

import torch

from .. import _taps
from .._graph import plan as _plan
from .._graph.labels import LABELS
from .._graph.program import Program
from .._graph.runner import Forward, Predictor, Runner
from .._graph.tracing import Traced

try:
    Range = torch._C._profiler._RecordFunctionFast         # half a microsecond; the public one takes thirty
except AttributeError:
    from torch.profiler import record_function as Range  # type: ignore[assignment]

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


# ---------------------------------------------------------------------- operators
def _tapped(names, kernel):
    fixed = encode('operator', names) if isinstance(names, str) and names != 'Custom' else None

    @functools.wraps(kernel)
    def call(*args, **kwargs):
        if not _computes(args):
            return kernel(*args, **kwargs)
        text = fixed or (encode('custom', kwargs['op_type']) if names == 'Custom' else
                         encode('operator', names(*args, **kwargs)))
        with Range(text):
            return kernel(*args, **kwargs)
    return call


class _Nodes:
    """A monitor of `Program.run` that keeps a range open for the node that runs."""

    def __init__(self, other):
        self._other, self._range = other, None

    def inputs(self, node, tensors):
        self.close()
        tensors = tensors if self._other is None else self._other.inputs(node, tensors)
        custom = node.op.name == 'Custom'
        self._range = Range(encode('custom' if custom else 'operator',
                                   node.attributes['op_type'] if custom else node.op.name, node.name))
        self._range.__enter__()
        return tensors

    def output(self, node, number, tensor):
        self.close()
        if self._other is not None:
            self._other.output(node, number, tensor)

    def close(self):
        if self._range is not None:
            self._range.__exit__(None, None, None)
            self._range = None


def _run_program(run):
    def profiled(self, tensors, *, monitor=None, **kwargs):
        if not _computes(tensors) or _taps_of_plan(monitor):
            return run(self, tensors, monitor=monitor, **kwargs)
        nodes = _Nodes(monitor)
        try:
            return run(self, tensors, monitor=nodes, **kwargs)
        finally:
            nodes.close()
    return profiled


def _taps_of_plan(monitor):
    from .._graph.labels import Labels
    return isinstance(monitor, Labels)


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


def _call_by_call(run):
    """A recorded CUDA graph is one launch, in which nothing has a name: while profiling, its plan runs by itself."""
    @functools.wraps(run)
    def profiled(self, *args):
        may, self._may = self._may, False
        try:
            return run(self, *args)
        finally:
            self._may = may
    return profiled


def _nothing_offered(offer):
    """The results of a trace come without names: while profiling, plans run from the first time on."""
    return lambda *parts: None


class _Plans:
    """Exchanges the functions of all plans there are, and of those made from now on."""

    def __init__(self):
        self._exchanged = []
        self._init = _plan.Plan.__init__
        outer = self

        def init(self, *args, **kwargs):
            outer._init(self, *args, **kwargs)
            outer.exchange(self)

        _plan.Plan.__init__ = init
        for found in gc.get_objects():
            if type(found) is _plan.Plan:
                self.exchange(found)

    def exchange(self, plan):
        slots = [s for s in plan.__slots__ if LABELS in getattr(getattr(plan, s, None), '__globals__', ())]
        if not slots:
            return
        plain = {s: getattr(plan, s) for s in slots}
        scope = dict(plain[slots[0]].__globals__, _Range=Range)
        exec(compile(with_ranges(plan.source, scope[LABELS]), '<plan>', 'exec'), scope)
        for slot, function in plain.items():
            setattr(plan, slot, scope[function.__name__])
        self._exchanged.append((plan, plain))

    def restore(self):
        _plan.Plan.__init__ = self._init
        for plan, plain in self._exchanged:
            for slot, function in plain.items():
                setattr(plan, slot, function)
        self._exchanged = []


# ---------------------------------------------------------------------- blocks and the API
# (module, class or '', function): what a program calls and what can take long
API = (
    ('mxnet.autograd', '', 'backward'), ('mxnet.autograd', '', 'grad'),
    ('mxnet.ndarray.ndarray', 'NDArray', 'backward'), ('mxnet.ndarray.ndarray', 'NDArray', 'asnumpy'),
    ('mxnet.ndarray.ndarray', 'NDArray', 'wait_to_read'),
    ('mxnet.ndarray.ndarray', 'NDArray', 'copyto'), ('mxnet.ndarray', '', 'waitall'), ('mxnet.ndarray', '', 'save'),
    ('mxnet.ndarray', '', 'load'), ('mxnet.ndarray', '', 'array'), ('mxnet.executor', 'Executor', 'forward'),
    ('mxnet.executor', 'Executor', 'backward'), ('mxnet.ndarray._cached_op', 'CachedOp', '__call__'),
    ('mxnet.gluon.trainer', 'Trainer', 'step'), ('mxnet.gluon.trainer', 'Trainer', 'update'),
    ('mxnet.gluon.trainer', 'Trainer', 'allreduce_grads'), ('mxnet.module.module', 'Module', 'forward'),
    ('mxnet.module.module', 'Module', 'backward'), ('mxnet.module.module', 'Module', 'update'),
    ('mxnet.module.module', 'Module', 'forward_backward'),
    ('mxnet.module.base_module', 'BaseModule', 'forward_backward'),
    ('mxnet.kvstore.kvstore', 'KVStore', 'push'), ('mxnet.kvstore.kvstore', 'KVStore', 'pull'),
    ('mxnet.kvstore.kvstore', 'KVStore', 'pushpull'), ('mxnet.io._base', 'DataIter', '__next__'),
    ('mxnet.metric._base', 'EvalMetric', 'update_dict'),
)
# the same for modules that are not loaded for it
SELDOM = (('mxnet.kvstore._async_server', 'Table', 'push'), ('mxnet.kvstore._async_server', 'Table', 'pull'))


class _Depth(threading.local):
    depth = 0               # of calls of the API and of blocks that are going on in this thread


_open = _Depth()


class _Outer:
    """A range that counts how many of its kind it is in."""

    __slots__ = ('_range',)

    def __init__(self, text):
        self._range = Range(text)

    def __enter__(self):
        _open.depth += 1
        self._range.__enter__()

    def __exit__(self, *exc):
        self._range.__exit__(*exc)
        _open.depth -= 1


def _api(function, name, after):
    text = encode('api', name)

    @functools.wraps(function)
    def call(*args, **kwargs):
        with _Outer(text):
            result = function(*args, **kwargs)
        if _open.depth == 0:
            after()
        return result
    return call


class _Waited:
    """An iterator with a range around each wait for its next item."""

    def __init__(self, items, text):
        self._items, self._text = iter(items), text

    def __iter__(self):
        return self

    def __next__(self):
        with _Outer(self._text):
            return next(self._items)

    def __getattr__(self, name):
        return getattr(self._items, name)


def _iterated(function, name):
    text = encode('api', name)

    @functools.wraps(function)
    def iterate(self):
        return _Waited(function(self), text)
    return iterate


def _block_call(function):
    @functools.wraps(function)
    def call(self, *args, **kwargs):
        # not the tensor of an array that is sparse or pending: to read it would compute it
        if not _computes([None if getattr(x, '_sparse', True) or x._pending is not None else x._tensor for x in args]):
            return function(self, *args, **kwargs)
        with _Outer(encode('block', getattr(self, 'name', '') or type(self).__name__, type(self).__name__)):
            return function(self, *args, **kwargs)
    return call


class Ranges:
    """All of that, switched on by the constructor and off by `restore`.

    `after()` is called when a call of the API has ended that was in no other.
    """

    def __init__(self, symbolic, imperative, api, after):
        self._undo = []
        self._plans = None
        self._imperative = imperative
        if imperative:
            _taps.open_taps(_tapped)
        if symbolic:
            self._exchange(Program, 'run', _run_program)
            self._exchange(Runner, 'run', _call_by_call)
            self._exchange(Predictor, 'run', _call_by_call)
            self._exchange(Forward, 'run', _call_by_call)
            self._exchange(_plan, 'offer', _nothing_offered)
            self._plans = _Plans()
        if imperative or symbolic:
            block = importlib.import_module('mxnet.gluon.block')
            self._exchange(block.Block, '__call__', _block_call)
        if api:
            loader = importlib.import_module('mxnet.gluon.data').DataLoader
            self._exchange(loader, '__iter__', functools.partial(_iterated, name='DataLoader.next'))
            for module, owner, name in (*API, *[found for found in SELDOM if found[0] in sys.modules]):
                place = importlib.import_module(module)
                place = getattr(place, owner) if owner else place
                if name in vars(place):
                    self._exchange(place, name, functools.partial(_api, name=f'{owner}.{name}' if owner else name,
                                                                  after=after))

    def _exchange(self, owner, name, wrapper):
        plain = vars(owner)[name]
        mine = wrapper(plain)
        self._undo.append((owner, name, plain, mine))
        setattr(owner, name, mine)

    def restore(self):
        """Everything as it was.  What somebody else has exchanged since stays."""
        if self._imperative:
            _taps.close_taps()
        if self._plans is not None:
            self._plans.restore()
        for owner, name, plain, mine in reversed(self._undo):
            if vars(owner).get(name) is mine:
                setattr(owner, name, plain)
        self._undo = []
