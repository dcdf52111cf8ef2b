"""A traced graph as a plan: cleaned, and written out as flat Python functions."""
from __future__ import annotations

import operator
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import torch

from ..._dispatch import interceptors, plan_made
from ..._ops.core.complaints import CAUGHT
from ..._ops.core.library import KERNELS
from ..._ops.core.traceable import CannotTrace
from ..._torch.dispatch import OpOverload, below_autograd, builtin_of, signature
from ..._torch.operators import TO_COPY, direct_functions
from ..cuda.streams import START, most, peak, schedule, split_convolutions
from ..ir.labels import LABELS, labels_of
from ..passes import batch_norm
from ..passes.casts import settle_casts, uncast_gradients
from ..passes.dense import fuse_dense
from ..passes.few_classes import turn_scores
from ..passes.fold import depends_only, fold_batch_norms, fold_into_next
from ..passes.growing import grow_concatenations
from ..passes.one_thread import Alone, alone, threads
from ..passes.packed import can_pack_layers, convolutions_as_layers, pack_convolutions, pack_layers
from ..passes.simplify import constants, copy_constants, sharing_memory, simplify
from .failures import SOURCE, failure

if TYPE_CHECKING:
    from ..cuda.streams import Schedule
    from ..types import FxNode

aten = torch.ops.aten


class Plan:
    """Two flat functions, or one that does the work of both.

    forward(tensors) -> (outputs, states, saved)
    backward(saved, heads, targets) -> gradients; `targets`, if given, has for each a tensor, to which those that
        `direct` names are written, or None
    joint(tensors, targets) -> (outputs, states, gradients), where the gradient of the heads is known to be 1
    prepare(tensors) -> what follows from the parameters alone; infer(tensors, prepared) -> outputs
    wanted, state_numbers: the variables that the gradients, and the new values of states, belong to
    state_weights: None where a value is the new one; else the backward pass moves the state towards the value by this
    differentiable: which outputs gradients can go to
    fresh: which outputs are new row-major tensors that nothing else refers to
    adoptable: the same, of the gradients of `joint`
    present: which gradients there are; others are always zero
    recorded: as `joint` or `infer`, for CUDA graphs, with `at` and `mark` of `capture.Branches`; None for the same
    memory: bytes that the values of `joint` or `infer` occupy, at most; 0 if it is not known
    peak: the same, on one stream; 0 on a CPU
    aliases: which saved tensors and outputs share memory (ndarray/_plan_node.py); None until the first run tells
    """

    __slots__ = ('forward', 'backward', 'joint', 'prepare', 'infer', 'state_numbers', 'state_weights', 'wanted',
                 'differentiable', 'fresh', 'adoptable', 'direct', 'present', 'source', 'recorded', 'memory', 'peak',
                 'aliases', '_plain', '__weakref__')
    live: WeakSet[Plan] = WeakSet()     # all plans there are, for interceptors that come later
    forward: Any
    backward: Any
    joint: Any
    prepare: Any
    infer: Any
    state_numbers: tuple[int, ...]
    state_weights: tuple[float | None, ...]
    wanted: tuple[int, ...]
    differentiable: tuple[bool, ...]
    fresh: tuple[bool, ...]
    adoptable: tuple[bool, ...]
    direct: tuple[bool, ...]
    present: tuple[bool, ...]
    source: str
    recorded: Any
    memory: int
    peak: int
    aliases: tuple[list[int], list[int], list[int]] | None
    _plain: dict[str, Any] | None

    def __init__(self, **fields: Any) -> None:
        self.recorded, self.memory, self.peak = None, 0, 0
        self.state_weights = ()
        self.aliases = self._plain = None
        for name, value in fields.items():
            setattr(self, name, value)
        Plan.live.add(self)
        if interceptors:
            plan_made(self)

    def instrument(self, rewrite: Callable[[str, Any], str], names: Mapping[str, Any]) -> None:
        """Runs its functions in another form until `restore`.

        rewrite(source, labels): the text of the functions, from theirs and from {name of a value: (operator, node)}
        names: what the new text uses besides what the functions know
        """
        plain: dict[str, Any] = {s: getattr(self, s, None) for s in FUNCTIONS}
        plain = {s: f for s, f in plain.items() if LABELS in getattr(f, '__globals__', ())}
        if not plain or self._plain is not None:
            return
        scope = {**next(iter(plain.values())).__globals__, **names}
        scope[SOURCE] = rewrite(self.source, scope[LABELS])
        exec(compile(scope[SOURCE], '<plan>', 'exec'), scope)
        for slot, function in plain.items():
            setattr(self, slot, scope[function.__name__])
        self._plain = plain

    def restore(self) -> None:
        """Runs its functions as they were written."""
        for slot, function in (self._plain or {}).items():
            setattr(self, slot, function)
        self._plain = None

    def record(self, *parts: Any) -> None:
        """Writes `recorded`, if that pays; then calls are on several streams, which have memory of their own."""
        self.recorded = _recorded(*parts)
        if self.recorded is not None:
            self.memory = 0


FUNCTIONS = ('forward', 'backward', 'joint', 'prepare', 'infer')


class Writer:
    """Turns nodes into lines, with everything that is not a name or a number bound as a constant."""

    def __init__(self) -> None:
        self.constants: dict[str, Any] = {}
        self.names: dict[int, str] = {}         # of constants, by identity
        self.named: dict[FxNode, str] = {}      # nodes that are constants
        self.targets: dict[FxNode, str] = {}    # nodes that are written to a target, if there is one, and its name

    def constant(self, value: Any, hint: str) -> str:
        name = self.names.get(id(value))
        if name is None:
            name = self.names[id(value)] = f'_{hint}{len(self.constants)}'
            self.constants[name] = value
        return name

    def value(self, v: Any) -> str:
        if isinstance(v, torch.fx.Node):
            return self.named.get(v, v.name)
        if isinstance(v, (list, tuple)):
            inner = ', '.join(self.value(x) for x in v)
            return f'[{inner}]' if isinstance(v, list) else f'({inner},)' if len(v) == 1 else f'({inner})'
        if v is None or isinstance(v, (bool, int, str)):
            return repr(v)
        if isinstance(v, float):
            return repr(v) if v == v and abs(v) != float('inf') else f"float('{v}')"
        return self.constant(v, 'c')

    def line(self, node: FxNode, in_place: bool = False) -> str:
        args = [self.value(a) for a in node.args]
        if node.target is operator.getitem:
            return f'{node.name} = {args[0]}[{args[1]}]'
        args += [f'{k}={self.value(v)}' for k, v in node.kwargs.items()]
        if node in self.targets:
            args.append(f'out={self.targets[node]}')
        if node.target is TO_COPY and node.kwargs.keys() == {'dtype'} \
                and node.kwargs['dtype'] in _CASTS and 'val' in node.args[0].meta \
                and node.kwargs['dtype'] is not node.args[0].meta['val'].dtype:
            return f'{node.name} = {args[0]}.{_CASTS[node.kwargs["dtype"]]}()'
        if in_place and node.target in _INTO:
            builtin, keyword = _INTO[node.target]
            function = self.constant(builtin, 'reuse')
            args.append(f'{keyword}={args[0]}')
        else:
            function = self.constant(_IN_PLACE[node.target], 'reuse') if in_place else self.callable(node)
        return f'{node.name} = {function}({", ".join(args)})'

    def callable(self, node: FxNode) -> str:
        target = node.target
        if target in KERNELS:               # a Python function, which torch would call through its dispatcher
            return self.constant(KERNELS[target], 'own')
        if isinstance(target, OpOverload):
            name = signature(target).name.removeprefix('aten::')
            if name in _DIRECT:
                return self.constant(_DIRECT[name], name)
            # OpOverload.__call__ is Python; the builtin behind it takes the same arguments
            builtin = builtin_of(target)
            if name == 'mkldnn_rnn_layer':
                builtin = _in_grad_mode(builtin)
            return self.constant(builtin, name.replace(':', '_').replace('.', '_'))
        return self.constant(target, 'f')


def _in_grad_mode(function: Callable[..., Any]) -> Callable[..., Any]:
    """oneDNN keeps what a backward pass needs only in grad mode, whatever it is told."""
    def call(*args: Any) -> Any:
        with torch.enable_grad():
            return function(*args)
    return call


# methods that cast, cheaper calls than `to`
_CASTS = {torch.float32: 'float', torch.float64: 'double', torch.float16: 'half', torch.bfloat16: 'bfloat16',
          torch.int64: 'long', torch.int32: 'int', torch.int8: 'char', torch.uint8: 'byte', torch.bool: 'bool'}
# calls that can write to the memory of their first argument, if nothing needs that any more
_IN_PLACE = {aten.relu.default: torch.relu_, aten.sigmoid.default: torch.sigmoid_, aten.tanh.default: torch.tanh_,
             aten.neg.default: torch.neg_, aten.add.Tensor: torch.Tensor.add_, aten.sub.Tensor: torch.Tensor.sub_,
             aten.mul.Tensor: torch.Tensor.mul_, aten.div.Tensor: torch.Tensor.div_,
             aten.scatter_add.default: torch.Tensor.scatter_add_, aten.clamp.default: torch.clamp_,
             aten.exp.default: torch.exp_}
# calls that write their result to a tensor given by this name, which may be their first argument
_INTO = {aten.threshold_backward.default: (builtin_of(aten.threshold_backward.grad_input), 'grad_input')}
# calls whose function in torch takes `out`
_OUT = {aten.mm.default, aten.sum.dim_IntList}


# ATen names whose function in torch takes the same arguments and is called faster
_DIRECT = direct_functions()


def step_plan(graph: torch.fx.Graph, found: Mapping[str, Any], n_tensors: int, facts: dict[str, Any],
              wanted: tuple[int, ...], at_once: bool) -> Plan:
    on_cpu = facts['device'].type == 'cpu'
    settle_casts(graph)
    n_outputs, n_states = len(facts['differentiable']), len(facts['states'])
    apart = n_outputs + n_states if wanted and not at_once else 0
    simplify(graph, apart)
    if at_once:
        uncast_gradients(graph, len(facts['differentiable']) + len(facts['states']))
    if on_cpu and turn_scores(graph):
        simplify(graph, apart)
    if at_once and facts['channels_last'] and batch_norm.available(facts['device']):
        batch_norm.fuse_batch_norms(graph)
    attributes = {n: found[n.target] for n in graph.nodes if n.op == 'get_attr'}
    folded = constants(graph, attributes, {*next(n for n in graph.nodes if n.op == 'output').args[0]})
    copy_constants(graph, [*attributes, *folded])
    nodes = list(graph.nodes)
    inputs = [n for n in nodes if n.op == 'placeholder']
    tensors, heads = inputs[:n_tensors], inputs[n_tensors:]
    result = next(n for n in nodes if n.op == 'output').args[0]
    outputs, states, gradients = (result[:n_outputs], result[n_outputs:n_outputs + n_states],
                                  result[n_outputs + n_states:])
    writer = Writer()
    for node, constant in {**attributes, **folded}.items():
        writer.named[node] = writer.constant(constant, 't')
    calls = [n for n in nodes if n.op == 'call_function' and n not in folded]
    results = {*outputs, *states}
    last = max((i for i, n in enumerate(calls) if n in results), default=-1)
    first_part, second_part = calls[:last + 1], calls[last + 1:]
    early = {*first_part, *tensors}
    # what a call gives is taken apart on its side of the cut, since only tensors can be saved; and it is checked there
    parts = [n for n in second_part if n.target is operator.getitem and n.args[0] in early]
    early.update(parts)
    parts += [n for n in second_part if isinstance(n.target, OpOverload) and signature(n.target).gives_nothing
              and early.issuperset(n.all_input_nodes)]
    first_part, early = first_part + parts, early.union(parts)
    second_part = [n for n in second_part if n not in early]
    late = set(second_part)
    known = {*[g for g in gradients if isinstance(g, torch.fx.Node)]}
    able, times = {*calls} if at_once else late, Counter(gradients)
    viewed = {_root(n) for n in results}        # memory that the program may write into is no buffer's
    direct = tuple(g in able and g not in viewed and g.target in _OUT and times[g] == 1
                   and g.meta['val'].dtype is tensors[n].meta['val'].dtype for g, n in zip(gradients, wanted))
    writer.targets = {g: f'target_{i}' for i, g in enumerate(gradients) if direct[i]}
    held = {*outputs, *states, *known}
    nothing = writer.constant((None,) * len(gradients), 'nothing')
    targets = [f'target_{i}' if d else '_' for i, d in enumerate(direct)] if any(direct) else []
    if at_once:
        unpack = [(_names(tensors), 'tensors'), (targets, 'targets')]
        source = _function('joint', ['tensors', f'targets={nothing}'], unpack, calls, [outputs, states, gradients],
                           writer, held, on_cpu=on_cpu)
    else:
        needed = {a for n in second_part for a in n.all_input_nodes if a in early}
        needed |= {g for g in known if g in early}
        saved = [n for n in (*tensors, *first_part) if n in needed]
        forward = _function('forward', ['tensors'], [(_names(tensors), 'tensors')], first_part,
                            [outputs, states, saved], writer, {*outputs, *states, *saved}, on_cpu=on_cpu)
        backward = _function('backward', ['saved', 'heads', f'targets={nothing}'],
                             [(_names(saved), 'saved'), (_names(heads), 'heads'), (targets, 'targets')], second_part,
                             [gradients], writer, known, on_cpu=on_cpu)
        source = forward + '\n\n' + backward
    scope = {**writer.constants, LABELS: labels_of(calls), SOURCE: source}
    exec(compile(source, '<plan>', 'exec'), scope)
    plan = Plan(**{name: scope.get(name) for name in FUNCTIONS}, state_numbers=facts['states'],
                state_weights=facts['weights'], wanted=wanted, differentiable=facts['differentiable'], direct=direct,
                source=source, fresh=_fresh(outputs, early, (*states, *gradients)),
                adoptable=_fresh(gradients, {*calls}, (*outputs, *states)),
                present=tuple(g is not None for g in gradients))
    if at_once and facts['device'].type == 'cuda':
        plan.memory = plan.peak = peak(calls, *_lifetimes(calls, writer, {*outputs, *states, *known}))
        plan.record(graph, facts['device'], ['tensors', 'targets'], unpack, calls, (n_outputs, n_states), writer,
                    direct)
    elif facts['device'].type == 'cuda' and not wanted:
        plan.memory = plan.peak = peak(first_part, *_lifetimes(first_part, writer, {*outputs, *states}))
    return plan


def prediction_plan(graph: torch.fx.Graph, found: Mapping[str, Any], n_tensors: int, facts: dict[str, Any],
                    parameters: Sequence[int], folds: bool = True) -> Plan:
    if facts['states']:
        raise CannotTrace('states change in prediction')
    settle_casts(graph)
    simplify(graph)
    placeholders = [n for n in graph.nodes if n.op == 'placeholder'][:n_tensors]
    fixed = [placeholders[i] for i in parameters]
    if folds:
        fold_batch_norms(graph, fixed)
    layers = folds and facts['device'].type == 'cpu' and can_pack_layers()
    if layers:          # before convolutions are packed: a dense layer is faster
        convolutions_as_layers(graph)
    if facts['channels_last'] and facts['device'].type == 'cpu':
        if folds and fold_into_next(graph, fixed):
            grow_concatenations(graph)
        pack_convolutions(graph, fixed)
    if layers:
        pack_layers(graph, fixed)
    attributes = {n: found[n.target] for n in graph.nodes if n.op == 'get_attr'}
    folded = constants(graph, attributes, {*next(n for n in graph.nodes if n.op == 'output').args[0]})
    copy_constants(graph, [*attributes, *folded])
    nodes = list(graph.nodes)
    outputs = next(n for n in nodes if n.op == 'output').args[0]
    writer = Writer()
    for node, constant in {**attributes, **folded}.items():
        writer.named[node] = writer.constant(constant, 't')
    calls = [n for n in nodes if n.op == 'call_function' and n not in folded]
    # memory that is handed out is new each time, and what is computed from it is computed again
    early = depends_only(graph, fixed, sharing_memory(graph, outputs)) - set(folded)
    # views of parameters themselves change with them and cost nothing: they are taken where they are needed
    thin = set()
    for node in calls:
        if node in early and node.target.is_view and (node.args[0] in fixed or node.args[0] in thin):
            thin.add(node)
    first = [n for n in calls if n in early]
    late = {n for n in calls if n not in early}
    for node in reversed(first):
        if node in thin and not late.isdisjoint(node.users):
            late.add(node)
    second = [n for n in calls if n in late]
    prepared = [n for n in first if n not in thin and any(u not in early for u in n.users)]
    prepare = _function('prepare', ['tensors'], [(_names(placeholders), 'tensors')], first, [prepared], writer,
                        set(prepared))
    unpack = [(_names(placeholders), 'tensors'), (_names(prepared), 'prepared')]
    infer = _function('infer', ['tensors', 'prepared'], unpack, second, [outputs], writer, set(outputs),
                      on_cpu=facts['device'].type == 'cpu')
    source = prepare + '\n\n' + infer
    scope = {**writer.constants, LABELS: labels_of(calls), SOURCE: source}
    exec(compile(source, '<plan>', 'exec'), scope)
    plan = Plan(**{name: scope.get(name) for name in FUNCTIONS}, state_numbers=(), wanted=(),
                differentiable=facts['differentiable'], adoptable=(), direct=(), source=source, present=(),
                fresh=_fresh(outputs, set(second)))
    if facts['device'].type == 'cuda':
        plan.memory = plan.peak = peak(second, *_lifetimes(second, writer, set(outputs)))
        plan.record(graph, facts['device'], ['tensors', 'prepared'], unpack, second, (), writer)
    return plan


def _fresh(outputs: Sequence[FxNode], made: Set[FxNode], others: Sequence[FxNode] = ()) -> tuple[bool, ...]:
    """Which outputs are row-major tensors in memory that one of the calls `made` gave, and nothing else refers to."""
    roots = [_root(node) for node in (*outputs, *others)]
    times = Counter(roots)
    return tuple(root in made and times[root] == 1 and _has_memory(root) and node.meta['val'].is_contiguous()
                 for node, root in zip(outputs, roots, strict=False))


def _root(node: FxNode) -> FxNode:
    """What a node is a view of."""
    while isinstance(node, torch.fx.Node) and isinstance(node.target, OpOverload) and node.target.is_view:
        node = node.args[0]
    return node


def _has_memory(node: FxNode) -> bool:
    """Whether the tensor that a call gives has memory of its own."""
    call = node.args[0] if node.target is operator.getitem else node
    if not isinstance(call.target, OpOverload) or call.target.is_view:
        return False
    return isinstance(node.meta.get('val'), torch.Tensor) and not signature(call.target).aliases


def _reuses(node: FxNode, dying: Set[FxNode]) -> bool:
    """Whether a call may write its result to the memory of its first argument, one of the values that end with it."""
    if node.target not in _IN_PLACE and node.target not in _INTO:
        return False
    first = node.args[0]
    if first not in dying or len(first.users) != 1 or any(a is first for a in node.args[1:]) or not _has_memory(first):
        return False
    mine, its = node.meta.get('val'), first.meta['val']
    return isinstance(mine, torch.Tensor) and mine.dtype is its.dtype and mine.shape == its.shape \
        and mine.stride() == its.stride()


def _names(nodes: Iterable[FxNode]) -> list[str]:
    return [n.name for n in nodes]


def fusing() -> bool:
    """Whether products may be computed with what comes next, which rounds otherwise."""
    return os.environ.get('MXNET_USE_FUSION', '1') != '0'


def _recorded(graph: torch.fx.Graph, device: torch.device, parameters: Sequence[str],
              unpack: Sequence[tuple[list[str], str]], calls: Sequence[FxNode], sizes: Sequence[int], writer: Writer,
              direct: Sequence[bool] = ()) -> Callable[..., Any] | None:
    """The function of a plan for CUDA graphs: fused kernels, several streams.  None where neither pays.

    Changes the graph.  `sizes`: how many results the groups before the last one have.
    """
    before = set(graph.nodes)
    fused = fuse_dense(graph, set(calls)) if batch_norm.available(device) and fusing() else 0
    known, limit = set(calls), most()
    if limit > 1:
        split_convolutions(graph, known)
    calls = [n for n in graph.nodes if n in known or n not in before]
    result = list(next(n for n in graph.nodes if n.op == 'output').args[0])
    groups = []
    for size in sizes:
        groups.append(result[:size])
        result = result[size:]
    groups.append(result)
    # what is taken out of a call is written by that call
    written = [g.args[0] if d and g.target is operator.getitem else g for g, d in zip(result, direct, strict=False)]
    writer.targets = {g: f'target_{i}' for i, (g, d) in enumerate(zip(written, direct, strict=False)) if d}
    kept = {n for group in groups for n in group if isinstance(n, torch.fx.Node)}
    dying, reused = _lifetimes(calls, writer, kept)
    reused |= {i for i, n in enumerate(calls) if n.meta.get('in_place')}
    branches = schedule(calls, reused, dying, limit)
    if not fused and branches is None:
        return None
    source = _function('recorded', [*parameters, 'at', 'mark'], unpack, calls, groups, writer, kept, branches)
    scope = {**writer.constants, SOURCE: source}
    exec(compile(source, '<recorded>', 'exec'), scope)
    return scope['recorded']


def _lifetimes(calls: Sequence[FxNode], writer: Writer, kept: set[FxNode]) -> tuple[dict[int, list[FxNode]], set[int]]:
    """({number of a call: values that end with it}, numbers of calls that write to their first argument's memory)."""
    last_use = {}
    for i, node in enumerate(calls):
        for a in node.all_input_nodes:
            last_use[a] = i
        last_use.setdefault(node, i)
    dying: dict[int, list] = {}
    for node, i in last_use.items():
        if node not in kept and node.op == 'call_function' and node not in writer.named:
            dying.setdefault(i, []).append(node)
    own = set(calls)
    return dying, {i for i, node in enumerate(calls) if _reuses(node, own.intersection(dying.get(i, ())))}


def _function(name: str, parameters: Sequence[str], unpack: Sequence[tuple[list[str], str]], calls: Sequence[FxNode],
              results: Sequence[Sequence[FxNode]], writer: Writer, kept: set[FxNode], branches: Schedule | None = None,
              on_cpu: bool = False) -> str:
    lines = []
    for names, source in unpack:
        if names:
            lines.append(f'{", ".join(names)}, = {source}')
    dying, reused = _lifetimes(calls, writer, kept)
    here = alone(calls, name == 'infer') if on_cpu else set()
    before: dict[int, tuple[int, list[int]]] = {}
    marks: Set[int] = frozenset()
    after: list[str] = []
    if branches is not None:
        before, marks, dying, after = branches.before, branches.marks, branches.ends, [f'at(0, {branches.last})']
        lines.append(f'mark({START})')
    for i, node in enumerate(calls):
        if i in before:
            lines.append('at({}, {})'.format(*before[i]))
        if i in here and i - 1 not in here:
            lines.append('alone.begin()')
        lines.append(writer.line(node, i in reused))
        if i in here and i + 1 not in here:
            lines.append('alone.end()')
        if i in marks:
            lines.append(f'mark({i})')
        if i in dying:
            lines.append(f'del {", ".join(_names(dying[i]))}')
    texts = ['(' + ''.join(f'{writer.value(n)}, ' for n in group) + ')' for group in results]
    lines += [*after, f'return {", ".join(texts)}']
    head = [f'def {name}({", ".join(parameters)}):']
    if calls:
        more = f', {writer.constant(Alone, "Alone")}({threads()}) as alone' if here else ''
        head.append(f'    with {writer.constant(below_autograd, "below")}(){more}:')
    if not calls:
        return '\n'.join([*head, *['    ' + line for line in lines]])
    body = [*head[1:], *['    ' * len(head) + line for line in lines]]
    # values that an error would keep are let go, so that a program that catches it has their memory
    values = [n for names, _ in unpack for n in names] + _names(calls)
    failed = writer.constant(failure, 'failure')
    return '\n'.join([
        head[0], '    try:', *['    ' + line for line in body],
        f'    except {writer.constant(CAUGHT, "CAUGHT")} as error:',
        f'        _ = {failed}(error, {name!r})',
        f'        __ = {" = ".join(values)} = None',
        '        if _ is None:',
        '            raise',
        '        raise _ from None'])
