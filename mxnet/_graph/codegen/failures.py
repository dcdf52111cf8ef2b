"""What is said when a function of a plan fails: the node and its operator, as when the program runs call by call.

An error of too little memory says which part of the plan it was, and what would help.
"""
from __future__ import annotations

from types import TracebackType

from ..._ops.core.complaints import PROGRAMS, said
from ..._wording import is_out_of_memory, plain
from ...base import MXNetError, OutOfRange
from ..ir.labels import LABELS
from ..ir.program import plain_kind

SOURCE = '__source__'            # where the functions of a plan have their text, among their globals
_PARTS = {'forward': 'the forward pass', 'backward': 'the backward pass', 'joint': 'a training step',
          'prepare': 'a prediction', 'infer': 'a prediction', 'recorded': 'a step'}
_BACKWARD = '_backward_'


def failure(error: Exception, part: str) -> Exception | None:
    """The error to be raised in place of one that a function of a plan has met; None where its call is not known.

    Its attribute `of_plan` says what has failed: 'forward' or 'backward' of a node, or 'memory', of which the same
    calls may need less without a plan.
    """
    text, label = str(error), _label(error.__traceback__)
    found: Exception
    if is_out_of_memory(text):
        place = '' if label is None else f' at node {label[1]} (operator {label[0].removeprefix(_BACKWARD)})'
        found, what = MXNetError(f'{_PARTS[part]}{place}: {plain(text)}'), 'memory'
    elif label is None:
        return None
    else:
        op, node = label
        what = 'backward' if op.startswith(_BACKWARD) else 'forward'
        if isinstance(error, MXNetError):
            found = plain_kind(error)(f'node {node}: {error}')
        elif op.removeprefix(_BACKWARD) in PROGRAMS:
            return None
        else:
            kind = OutOfRange if isinstance(error, IndexError) else MXNetError
            name = f'operator {op}' if what == 'forward' else f'gradient of operator {op.removeprefix(_BACKWARD)}'
            found = kind(f'node {node}: {name}: {said(error, op)}')
    found.of_plan = what        # type: ignore[attr-defined]
    return found


def _label(trace: TracebackType | None) -> tuple[str, str] | None:
    """(operator, node) of the call that has failed, from the line of the plan that it is on."""
    if trace is None:
        return None
    scope = trace.tb_frame.f_globals
    lines = scope.get(SOURCE, '').split('\n')
    if trace.tb_lineno > len(lines):
        return None
    return scope.get(LABELS, {}).get(lines[trace.tb_lineno - 1].partition('=')[0].strip())
