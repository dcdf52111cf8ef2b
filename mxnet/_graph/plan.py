"""Plans: a program traced to ATen calls, forward and backward together, as flat Python without the autograd engine.

`make_plan` traces once for given shapes, dtypes and gradients wanted (milliseconds, no compiler).  The trace is cleaned (no
detach, no double transposes, equal calls merged, dead calls dropped) and written out as two Python functions: forward, whose last
result is what backward needs, and backward.  Values are deleted after their last use.

What cannot be traced (operators that look at values, custom operators) has no plan; the caller runs the program itself.
"""
import logging
import operator
import os
from collections import OrderedDict
from collections.abc import Sequence

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from .program import Program

aten = torch.ops.aten
log = logging.getLogger('mxnet.plans')
LIMIT = 64                     # plans kept per program

# calls that only pass their input on
_IDENTITIES = {aten.detach.default, aten.alias.default, aten.lift_fresh_copy.default}
# operators whose result differs from call to call
_RANDOM = ('bernoulli', 'rand', 'normal', 'uniform', 'exponential', 'multinomial', 'poisson', 'dropout', 'geometric')


class Plan:
    """Two flat functions.  `forward(tensors) -> (outputs, states, saved)`, `backward(saved, heads) -> gradients`."""

    __slots__ = ('forward', 'backward', 'state_numbers', 'wanted', 'differentiable', 'source')

    def __init__(self, forward, backward, state_numbers, wanted, differentiable, source):
        self.forward, self.backward = forward, backward
        self.state_numbers, self.wanted, self.differentiable = state_numbers, wanted, differentiable
        self.source = source


class Plans:
    """The plans of one program, by what they were traced for."""

    def __init__(self, program: Program):
        self.program = program
        self._plans: OrderedDict = OrderedDict()

    def find(self, tensors: Sequence[torch.Tensor], wanted: tuple[int, ...], *, training: bool, generator, device):
        """The plan for these tensors, made on first use; None where there can be none."""
        key = (training, wanted, *[(t.shape, t.dtype, t.device) for t in tensors])
        plan = self._plans.get(key, self)
        if plan is not self:
            return plan
        plan = make_plan(self.program, tensors, wanted, training=training, generator=generator, device=device)
        _say(key, plan, self._plans)
        self._plans[key] = plan
        while len(self._plans) > LIMIT:
            self._plans.popitem(last=False)
        return plan


def _say(key, plan, others):
    if os.environ.get('MXNET_LOG_PLANS', '0') in ('0', ''):
        return
    shapes = ', '.join(str(tuple(k[0])) for k in key[2:])
    why = 'the first one' if not others else 'new shapes, dtypes, devices or gradients wanted'
    what = 'made' if plan is not None else 'not possible'
    log.warning('plan %s (%s; training=%s, gradients of %s) for %s', what, why, key[0], key[1], shapes)


def copy_all(targets: list[torch.Tensor], values: list[torch.Tensor]):
    """Copies tensors in one call where torch can."""
    if targets and all(t.dtype is v.dtype and t.shape == v.shape and t.device == v.device
                       for t, v in zip(targets, values, strict=True)):
        torch._foreach_copy_(targets, values)
    else:
        for target, value in zip(targets, values, strict=True):
            target.copy_(value)


# ---------------------------------------------------------------------- tracing
def make_plan(program: Program, tensors, wanted, *, training, generator, device) -> Plan | None:
    """Traces a program; None if that cannot be done."""
    facts = {}

    def joint(values, heads):
        values = [v.detach().requires_grad_() if i in wanted else v for i, v in enumerate(values)]
        outputs, states = program.run(values, training=training, generator=generator, device=device)
        facts['states'] = tuple(states)
        facts['differentiable'] = tuple(o.requires_grad for o in outputs)
        chosen = [(o, h) for o, h in zip(outputs, heads, strict=True) if o.requires_grad]
        gradients = ()
        if wanted and chosen:
            gradients = torch.autograd.grad([o for o, _ in chosen], [values[i] for i in wanted],
                                            [h for _, h in chosen], allow_unused=True)
        return [*outputs, *states.values(), *gradients]

    try:
        heads = _heads(program, tensors, training)
        with torch.enable_grad():
            traced = make_fx(joint, tracing_mode='fake')(list(tensors), heads)
        return _write(traced.graph, traced, len(tensors), len(heads), facts, wanted)
    except Exception as error:      # whatever stops a trace: the program itself runs, or says what is wrong
        if os.environ.get('MXNET_LOG_PLANS', '0') not in ('0', ''):
            log.warning('no plan: %s: %s', type(error).__name__, error)
        return None


def _heads(program, tensors, training):
    """Tensors shaped as the outputs, to trace with."""
    meta = torch.device('meta')
    with torch.no_grad():
        outputs, _ = program.run([t.to(meta) for t in tensors], training=training, generator=lambda device: None,
                                 device=meta)
    return [torch.empty(o.shape, dtype=o.dtype, device=tensors[0].device) for o in outputs]


# ---------------------------------------------------------------------- cleaning
def _is_pure(node) -> bool:
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return target is operator.getitem
    return not target._schema.is_mutable and not any(r in str(target) for r in _RANDOM)


def _clean(graph):
    mutated = {id(n.args[0]) for n in graph.nodes if n.op == 'call_function' and n.args
               and isinstance(n.target, torch._ops.OpOverload) and n.target._schema.is_mutable}
    seen = {}
    for node in list(graph.nodes):
        if node.op != 'call_function':
            continue
        first = node.args[0] if node.args else None
        if node.target in _IDENTITIES and id(node) not in mutated and id(first) not in mutated:
            node.replace_all_uses_with(first)
            continue
        if node.target is aten.t.default and isinstance(first, torch.fx.Node) and first.target is aten.t.default:
            node.replace_all_uses_with(first.args[0])
            continue
        if not _is_pure(node) or any(id(a) in mutated for a in node.all_input_nodes) or id(node) in mutated:
            continue
        key = (node.target, _hashable(node.args), _hashable(node.kwargs))
        if key in seen:
            node.replace_all_uses_with(seen[key])
        else:
            seen[key] = node
    for node in reversed(list(graph.nodes)):
        if node.op == 'call_function' and not node.users and _is_pure(node):
            graph.erase_node(node)


def _hashable(value):
    if isinstance(value, (list, tuple)):
        return tuple(_hashable(v) for v in value)
    if isinstance(value, dict):
        return tuple((k, _hashable(v)) for k, v in value.items())
    if isinstance(value, (bool, int, float)):
        return type(value), repr(value)
    return value if value.__hash__ else id(value)


# ---------------------------------------------------------------------- writing Python
class _Writer:
    """Turns nodes into lines, with everything that is not a name or a number bound as a constant."""

    def __init__(self):
        self.constants = {'torch': torch}

    def constant(self, value, hint):
        for name, known in self.constants.items():
            if known is value:
                return name
        name = f'_{hint}{len(self.constants)}'
        self.constants[name] = value
        return name

    def value(self, v) -> str:
        if isinstance(v, torch.fx.Node):
            return v.name
        if isinstance(v, (list, tuple)):
            inner = ', '.join(self.value(x) for x in v)
            return f'[{inner}]' if isinstance(v, list) else f'({inner},)' if len(v) == 1 else f'({inner})'
        if v is None or isinstance(v, (bool, int, str)):
            return repr(v)
        if isinstance(v, float):
            return repr(v) if v == v and abs(v) != float('inf') else f"float('{v}')"
        return self.constant(v, 'c')

    def line(self, node) -> str:
        args = [self.value(a) for a in node.args]
        if node.target is operator.getitem:
            return f'{node.name} = {args[0]}[{args[1]}]'
        args += [f'{k}={self.value(v)}' for k, v in node.kwargs.items()]
        return f'{node.name} = {self.callable(node)}({", ".join(args)})'

    def callable(self, node):
        target = node.target
        if isinstance(target, torch._ops.OpOverload):
            name = target._schema.name.removeprefix('aten::')
            if name in _DIRECT:
                return self.constant(_DIRECT[name], name)
            # OpOverload.__call__ is Python; the builtin behind it takes the same arguments
            return self.constant(getattr(target, '_op', target), name.replace(':', '_').replace('.', '_'))
        return self.constant(target, 'f')


def _direct():
    """ATen names whose function in torch takes the same arguments and is a cheaper call."""
    names = ('mm addmm bmm baddbmm relu sigmoid tanh exp log sqrt rsqrt add sub mul div neg abs sum mean amax amin t '
             'transpose permute unsqueeze squeeze cat stack where gather index_select convolution native_batch_norm '
             'native_layer_norm native_group_norm reciprocal pow clamp maximum minimum eq ne lt le gt ge logical_and '
             'logical_or logical_not sign erf cumsum cudnn_batch_norm embedding argmax argmin topk sort').split()
    found = {n: getattr(torch, n) for n in names if hasattr(torch, n)}
    found |= {n: getattr(torch.Tensor, n) for n in ('view', 'expand') if hasattr(torch.Tensor, n)}
    found |= {'_softmax': torch._softmax, '_log_softmax': torch._log_softmax} if hasattr(torch, '_softmax') else {}
    return found


_DIRECT = _direct()


def _write(graph, module, n_tensors, n_heads, facts, wanted) -> Plan:
    _clean(graph)
    nodes = list(graph.nodes)
    inputs = [n for n in nodes if n.op == 'placeholder']
    tensors, heads = inputs[:n_tensors], inputs[n_tensors:n_tensors + n_heads]
    result = next(n for n in nodes if n.op == 'output').args[0]
    n_outputs, n_states = len(facts['differentiable']), len(facts['states'])
    outputs, states, gradients = (result[:n_outputs], result[n_outputs:n_outputs + n_states],
                                  result[n_outputs + n_states:])
    writer = _Writer()
    names = {}
    for node in nodes:
        if node.op == 'get_attr':
            constant = module
            for part in node.target.split('.'):
                constant = getattr(constant, part)
            names[node] = writer.constant(constant.detach() if isinstance(constant, torch.Tensor) else constant, 't')
    calls = [n for n in nodes if n.op == 'call_function']
    last = max((i for i, n in enumerate(calls) if n in (*outputs, *states)), default=-1)
    first_part, second_part = calls[:last + 1], calls[last + 1:]
    early = {*first_part, *tensors}
    needed = {a for n in second_part for a in n.all_input_nodes if a in early}
    needed |= {g for g in gradients if isinstance(g, torch.fx.Node) and g in early}
    saved = [n for n in (*tensors, *first_part) if n in needed]
    forward = _function('forward', ['tensors'], [(tensors, 'tensors')], first_part,
                        [outputs, states, saved], writer, names, {*outputs, *states, *saved})
    backward = _function('backward', ['saved', 'heads'], [(saved, 'saved'), (heads, 'heads')], second_part,
                         [gradients], writer, names, {*[g for g in gradients if isinstance(g, torch.fx.Node)]})
    source = forward + '\n\n' + backward
    scope = dict(writer.constants)
    exec(compile(source, '<plan>', 'exec'), scope)
    return Plan(scope['forward'], scope['backward'], facts['states'], wanted, facts['differentiable'], source)


def _function(name, parameters, unpack, calls, results, writer, names, kept) -> str:
    lines = [f'def {name}({", ".join(parameters)}):']
    for nodes, source in unpack:
        if nodes:
            lines.append(f'    {", ".join(n.name for n in nodes)}, = {source}')
    for node, constant in names.items():
        lines.append(f'    {node.name} = {constant}')
    last_use = {}
    for i, node in enumerate(calls):
        for a in node.all_input_nodes:
            last_use[a] = i
        last_use.setdefault(node, i)
    dying: dict[int, list] = {}
    for node, i in last_use.items():
        if node not in kept and node.op == 'call_function':
            dying.setdefault(i, []).append(node.name)
    for i, node in enumerate(calls):
        lines.append('    ' + writer.line(node))
        if i in dying:
            lines.append(f'    del {", ".join(dying[i])}')
    texts = ['(' + ''.join(f'{writer.value(n)}, ' for n in group) + ')' for group in results]
    lines.append(f'    return {", ".join(texts)}')
    return '\n'.join(lines)
