"""Why a program has no plan: it cannot be traced, it fails by itself, or something here is wrong.

Only `CannotTrace` and a lack of memory mean "no plan" without a word: what the program does depends on values, or a
trace, which keeps all of them, does not fit.  An error that the program raises without being traced, too, is the
program's; it runs, and raises it.  Every other error is a defect of the tracer, of a pass or of the code generator.  It
is raised with MXNET_PLANS=strict; otherwise the user is warned once for each kind, and the program runs without a plan.
"""
from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from ..._ops.core.traceable import CannotTrace
from ..ir.log import log, reason

HERE = str(Path(__file__).resolve().parent.parent) + os.sep
DEFECT = '{where} failed{operator}: {error}. This is a defect of mxnet, not of your program. {then}Please report it ' \
         'with this text, the program, and the traceback that MXNET_PLANS=strict shows.'
SLOWER = 'The program runs without a plan, which is slower; its results are the same. '

_warned: set = set()


class PlanDefect(Exception):
    """Tracing, a pass or the code generator has failed on a program that runs."""


def is_strict() -> bool:
    """Whether defects are raised: MXNET_PLANS=strict."""
    return os.environ.get('MXNET_PLANS', '') == 'strict'


def no_plan(error: Exception, run_untraced: Callable[[], Any]) -> None:
    """Handles an error of the tracer; `run_untraced()` computes the same without tracing it."""
    cause = _expected(error)
    if cause is None and not _fails(run_untraced):
        defect(error)
    else:
        log('no plan: %s', reason(cause or error))


def defect(error: Exception) -> None:
    """Raises an error of a pass, or of a trace of a program that runs, or warns of it."""
    where, operator = _location(error)
    text = DEFECT.format(where=where, operator=operator, error=reason(error), then='' if is_strict() else SLOWER)
    if is_strict():
        raise PlanDefect(text) from error
    kind = where, type(error)
    if kind not in _warned:
        _warned.add(kind)
        warnings.warn(text, RuntimeWarning, stacklevel=2)


def _expected(error: BaseException | None) -> BaseException | None:
    """The error in a chain of causes that says why a program cannot be traced; None if there is none."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, (CannotTrace, MemoryError, torch.OutOfMemoryError)) or 'not enough memory' in str(error):
            return error
        error = error.__cause__ or error.__context__
    return None


def _fails(run_untraced: Callable[[], Any]) -> bool:
    try:
        run_untraced()
    except Exception:       # any error: the program raises it again where the user can see it
        return True
    return False


def _location(error: BaseException) -> tuple[str, str]:
    """('pass simplify (simplify.py, line 12)', ' on operator Convolution (conv0)') from the frames of an error."""
    where, operator = 'tracing', ''
    frame = error.__traceback__
    while frame is not None:
        code, values = frame.tb_frame.f_code, frame.tb_frame.f_locals
        if code.co_filename.startswith(HERE):
            name = code.co_filename.removeprefix(HERE)
            where = f'{Path(name).stem}.{code.co_name} (mxnet/_graph/{name}, line {frame.tb_lineno})'
            found = next((v for v in values.values() if isinstance(v, torch.fx.Node)), None)
            label = found.meta.get('label') if found is not None else getattr(values.get('tracer'), 'label', None)
            if label is not None:
                operator = f' on operator {label[0]} (node {label[1]})'
            elif found is not None:
                operator = f' on the call {found.target}'
        frame = frame.tb_next
    return where, operator
