"""Plans: a program traced to ATen calls, forward and backward together, as flat Python without the autograd engine.

`make_plan` traces once for given shapes, dtypes and gradients wanted (`tracing.py`; milliseconds, no compiler).  The
trace is cleaned (no detach, no double transposes, equal calls merged, dead calls dropped) and written out as two Python
functions (`writing.py`): forward, whose last result is what backward needs, and backward.  Values are deleted after
their last use.

What cannot be traced (operators that look at values, custom operators) has no plan; the caller runs the program itself.
"""
from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch

from ..._cache import Cache
from ..._dispatch import call_by_call, interceptors
from ..._ops.core.checks import notes
from ..._ops.core.moves import Move, sort_moves
from ..._ops.core.traceable import CannotTrace
from ..._torch.autograd import gradients_of
from ..._torch.lists import foreach_copy_
from ..ir.labels import Labels
from ..ir.log import is_logging, log, reason
from ..ir.program import Program
from ..passes.packed import can_pack
from ..passes.value_checks import note_reports
from ..trace.defects import defect, no_plan
from ..trace.reused_results import offer
from ..trace.tracing import run_untraced, trace
from .inductor import compiled
from .writing import Plan, prediction_plan, step_plan

if TYPE_CHECKING:
    from ..types import Generators, Runnable

LIMIT = 64                     # plans kept per program
SMALL = 300                    # calls of a program that is traced at once
# The share of weights in kernels of more than one pixel from which on gradients are faster row by row.  Steps with
# channels last, on one thread, as a ratio: MobileNet v1 and v2 (1 and 3 % of the weights) 0.6, DenseNet-121 (31 %) 0.9,
# ResNet-50 (48 %) 0.8 to 0.9, SqueezeNet (76 %) and Inception v3 (67 %) 0.9, ResNet-18 (98 %) 1.05 to 1.1
MANY_PIXELS = 0.9
# Weights of convolutions in float32 from which on a GPU keeps channels last.  On an H200 ResNet-18 (11 million) takes
# 0.58 of the time so, LeNet (26,000) 1.06.
MANY_WEIGHTS = 1_000_000
TRACING = 1e-3                 # seconds that tracing a call takes, forward and backward, and writing it
_tracing = threading.RLock()   # one at a time, since a trace has the memory of a step


class Plans:
    """The plans of one program, by what they were traced for."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._plans: Cache[Any, Plan | None] = Cache(LIMIT)     # those used last
        self._lock = threading.RLock()
        self._spent: Cache[Any, float] = Cache(LIMIT)           # seconds of runs without a plan, by kind

    def due(self, kind: tuple[Any, ...]) -> bool:
        """Whether runs of a kind (shapes, what is wanted) have earned a plan.

        The first never has, since many graphs run once.  A graph of a thousand calls takes a second to trace: it must
        have run as long without, so that programs which run it a few times never wait much longer than these runs took.
        """
        spent = self._spent.get(kind)
        if spent is None:
            return False
        calls = len(self.program.calls)
        return calls <= SMALL or spent >= calls * TRACING

    def ran(self, kind: tuple[Any, ...], seconds: float) -> None:
        """Notes how long a run without a plan took."""
        with self._lock:
            self._spent[kind] = self._spent.get(kind, 0.0) + seconds

    def find(self, tensors: Sequence[torch.Tensor], wanted: tuple[int, ...], *, training: bool, generator: Generators,
             device: torch.device, heads: tuple[int, ...] | None = None,
             parameters: tuple[int, ...] | None = None) -> Plan | None:
        """The plan for these tensors, made on first use; None where there can be none.

        With `heads`, the outputs that a gradient of 1 comes from, a plan with `joint`; with `parameters`, the variables
        that seldom change, one with `prepare` and `infer`; else one with `forward` and `backward`.
        """
        # a plan draws from the generator that it was traced with
        drawn = generator(device) if self.program.draws else None
        key = ((training, heads, parameters, drawn), wanted, *[(t.shape, t.dtype, t.device) for t in tensors])
        with self._lock:
            if key in self._plans:
                plan = self._plans.pop(key)
            else:
                plan = make_plan(self.program, tensors, wanted, training=training, generator=generator, device=device,
                                 heads=heads, parameters=parameters, why=_why(key, self._plans))
            self._plans[key] = plan
            return plan


def _why(key: tuple[Any, ...], others: Cache[Any, Any]) -> str:
    """What is new about a plan, as MXNET_LOG_PLANS=1 says it."""
    if not others:
        return 'the first one'
    last = next(reversed(others))
    if key[0] != last[0] or key[1] != last[1]:
        return 'training or predicting, the gradients wanted or the random numbers differ'
    new = {what for mine, its in zip(key[2:], last[2:]) for what, a, b in
           zip(('shapes', 'dtypes', 'devices'), mine, its) if a != b}
    return 'new ' + ' and '.join(sorted(new))


def _log_plan(plan: Plan | None, why: str, kind: str, wanted: tuple[int, ...], tensors: Sequence[torch.Tensor],
              seconds: float) -> None:
    shapes = ', '.join(f'{tuple(t.shape)} {t.dtype}'.replace('torch.', '') for t in tensors)
    log('plan %s in %.3f s (%s; %s, gradients of %s) for %s', 'made' if plan else 'not possible', seconds, why, kind,
        wanted, shapes)


def alike(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors have the same dtype, shape and device."""
    return a.dtype is b.dtype and a.shape == b.shape and a.device == b.device


def copy_all(targets: list[torch.Tensor], values: list[torch.Tensor]) -> None:
    """Copies tensors in one call where torch can."""
    if targets and all(map(alike, targets, values)):
        foreach_copy_(targets, values)
    else:
        for target, value in zip(targets, values, strict=True):
            target.copy_(value)


# ---------------------------------------------------------------------- tracing
def make_plan(program: Runnable, tensors: Sequence[torch.Tensor], wanted: tuple[int, ...], *, training: bool | None,
              generator: Generators, device: torch.device, heads: tuple[int, ...] | None = None,
              parameters: tuple[int, ...] | None = None, why: str = 'a new step') -> Plan | None:
    """Traces a program; None if that cannot be done.  See `Plans.find`."""
    with _tracing:
        begin = perf_counter()
        plan = _make(program, tensors, wanted, training, generator, device, heads, parameters)
        if is_logging():
            kind = 'forward and backward at once' if heads is not None else \
                'prediction' if parameters is not None else f'training={training}'
            _log_plan(plan, why, kind, wanted, tensors, perf_counter() - begin)
    return plan


def _make(program: Runnable, tensors: Sequence[torch.Tensor], wanted: tuple[int, ...], training: bool | None,
          generator: Generators, device: torch.device, heads: tuple[int, ...] | None,
          parameters: tuple[int, ...] | None) -> Plan | None:
    # where backward is a call of its own, it reads inputs that the program may have written in a pause, not copies
    apart, at_once = bool(wanted) and heads is None, bool(wanted) and heads is not None
    channels_last = not apart and _channels_last(program, tensors, device, parameters, at_once)
    facts: dict[str, Any] = {'device': device, 'channels_last': channels_last}
    arrange = arranged if facts['channels_last'] else list

    def joint(tracer: Any) -> list[Any]:
        values = [tracer.input(t) for t in tensors]
        values = [v.detach().requires_grad_() if i in wanted else v for i, v in enumerate(values)]
        outputs, states = program.run(arrange(values), training=training, generator=tracer.generators(generator),
                                      device=device, monitor=Labels(tracer))
        outputs = [o.contiguous() for o in outputs]
        if wanted:
            states = sort_moves(states, outputs if heads is None else [outputs[i] for i in heads],
                                lambda: program.ranks(wanted, heads))
        changed = [(number, part) for number, value in states.items()
                   for part in (value if type(value) is list else [value])]
        facts['states'] = tuple([number for number, _ in changed])
        facts['weights'] = tuple([part.weight if type(part) is Move else None for _, part in changed])
        values_of_states = [part.value if type(part) is Move else part for _, part in changed]
        facts['differentiable'] = tuple(o.requires_grad for o in outputs)
        if heads is None:
            given = [tracer.input_like(o) for o in outputs] if wanted else []
        else:
            given = [torch.ones(o.shape, dtype=o.dtype, device=o.device) if i in heads else None
                     for i, o in enumerate(outputs)]
        chosen = [(o, h) for o, h in zip(outputs, given) if o.requires_grad and h is not None]
        gradients = ()
        if wanted and chosen:
            gradients = gradients_of([o for o, _ in chosen], [values[i] for i in wanted], [h for _, h in chosen])
        return [*outputs, *values_of_states, *gradients]

    try:
        found = trace(joint)
    except Exception as error:
        no_plan(error, lambda: run_untraced(joint))
        return None
    try:
        if notes(device):
            note_reports(found.graph)
        if program.inductor and (heads is not None or parameters is not None):
            return compiled(found.graph, found.constants, tensors, facts, wanted, parameters is not None)
        if parameters is not None:
            plan = prediction_plan(found.graph, found.constants, len(tensors), facts, parameters, program.folds)
        else:
            plan = step_plan(found.graph, found.constants, len(tensors), facts, wanted, heads is not None)
        if device.type == 'cpu' and not (interceptors and call_by_call()):
            offer(plan, tensors, found)
        return plan
    except CannotTrace as error:
        log('no plan: %s', reason(error))
    except Exception as error:
        defect(error)
    return None


def arranged(values: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """Pictures and the weights that they are convolved with, channels last in memory; operators leave them so."""
    return [_channels_moved(v) if v.dim() == 4 else v for v in values]


def _channels_moved(value: torch.Tensor) -> torch.Tensor:
    value = value.contiguous(memory_format=torch.channels_last)
    if value.shape[1] == 1 and not value.requires_grad:
        # both orders are the same memory, and strides tell torch which one is meant; a CPU is faster with rows first
        _, _, height, width = value.shape
        value = value.as_strided(value.shape, (height * width, 1 if value.is_cuda else height * width, width, 1))
    return value


def _channels_last(program: Runnable, tensors: Sequence[torch.Tensor], device: torch.device,
                   parameters: tuple[int, ...] | None, at_once: bool) -> bool:
    """Whether it pays to keep channels last in memory: a GPU's matrix units take pictures no other way.

    They compute float32 as TF32, from compute capability 8.0 on and where `torch.backends.cudnn` allows it.  Networks
    of few weights (`MANY_WEIGHTS`) gain nothing, and keep the more exact kernels of float32.  On a CPU it pays in
    predictions, with weights that are packed for it (packed.py), and in training, forward and backward at once, where
    not almost all weights are those of kernels of many pixels (`MANY_PIXELS`).
    """
    if not program.convolves:
        return False
    if device.type == 'cpu':
        if parameters is None:
            return at_once and program.rearranges and _suits_channels_last([tensors[i] for i in program.kernels])
        return can_pack() and any(t.dim() == 4 and t.dtype is torch.float32 for t in tensors)
    if device.type != 'cuda':
        return False
    fast = {torch.float16, torch.bfloat16}
    if torch.backends.cudnn.allow_tf32 and torch.cuda.get_device_capability(device)[0] >= 8 \
            and sum(tensors[i].numel() for i in program.kernels) >= MANY_WEIGHTS:
        fast.add(torch.float32)
    return any(t.dim() == 4 and t.dtype in fast for t in tensors)


def _suits_channels_last(kernels: Sequence[torch.Tensor]) -> bool:
    """Whether the gradients of convolutions on a CPU are faster with channels last; decided by their weights alone, so
    that a program computes the same each time."""
    if not kernels or not torch.backends.mkldnn.is_available() or not torch.backends.mkldnn.enabled \
            or any(k.dim() != 4 or k.dtype is not torch.float32 for k in kernels):
        return False
    large = sum(k.numel() for k in kernels if k.shape[2:].numel() > 1)
    return large < MANY_PIXELS * sum(k.numel() for k in kernels)
