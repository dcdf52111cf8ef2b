"""What is said when a plan needs more memory than there is: which part of it, at which node, and what would help."""
from __future__ import annotations

from types import TracebackType

from ..._wording import is_out_of_memory, plain
from ...base import MXNetError
from ..ir.labels import LABELS

SOURCE = '__source__'            # where the functions of a plan have their text, among their globals
_PARTS = {'forward': 'the forward pass', 'backward': 'the backward pass', 'joint': 'a training step',
          'prepare': 'a prediction', 'infer': 'a prediction', 'recorded': 'a step'}


def failure(error: RuntimeError, part: str) -> MXNetError | None:
    """The error to be raised in place of one that a function of a plan has met; None if it is not about memory."""
    text = str(error)
    if not is_out_of_memory(text):
        return None
    return MXNetError(f'{_PARTS[part]}{_place(error.__traceback__)}: {plain(text)}')


def _place(trace: TracebackType | None) -> str:
    """The node whose call has failed, from the line of the plan that it is on."""
    if trace is None:
        return ''
    scope = trace.tb_frame.f_globals
    lines = scope.get(SOURCE, '').split('\n')
    if trace.tb_lineno > len(lines):
        return ''
    label = scope.get(LABELS, {}).get(lines[trace.tb_lineno - 1].partition('=')[0].strip())
    return '' if label is None else f' at node {label[1]} (operator {label[0].removeprefix("_backward_")})'
