"""Functions of `mx.nd.contrib` that are not one operator: loops and branches, tests for NaN, candidate sampling."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .._array import NDArrayBase
from .._kinds import explain_kinds as _explain_kinds
from .._kinds import pair
from .._names import kind_of
from ..base import MXNetError
from . import op
from ._creation import zeros

if TYPE_CHECKING:
    from ..context import Context

__all__ = ['cond', 'foreach', 'isfinite', 'isinf', 'isnan', 'rand_zipfian', 'while_loop']


def isnan(data: Any) -> bool:
    """1 where an element is not a number, else 0, in the dtype of `data`."""
    return data != data


def isinf(data: Any) -> bool:
    """1 where an element is infinite, else 0, in the dtype of `data`."""
    return data.abs() == math.inf


def isfinite(data: Any) -> Any:
    """1 where an element is a finite number, else 0, in the dtype of `data`."""
    return (data == data) * (data.abs() != math.inf)


def rand_zipfian(true_classes: Any, num_sampled: Any, range_max: Any, ctx: Context | None = None) -> Any:
    """Draws candidate classes, the smaller the likelier: P(k) = log((k + 2) / (k + 1)) / log(range_max + 1).

    Returns the samples (with replacement) and how often the true and the sampled classes are expected among them.
    """
    from .random import uniform
    log_range = math.log(range_max + 1)
    draws = uniform(0, log_range, shape=(num_sampled,), dtype='float64', ctx=ctx)
    sampled = (draws.exp() - 1).astype('int64') % range_max

    def expected(classes):
        k = classes.astype('float64')
        return ((k + 2) / (k + 1)).log() / log_range * num_sampled

    return sampled, expected(true_classes.as_in_context(sampled.context)), expected(sampled)


# ---------------------------------------------------------------------- control flow
def _flatten(values, what):
    """-> (arrays in order, a function that gives new arrays the old nesting)."""
    if isinstance(values, NDArrayBase):
        return [values], lambda arrays: arrays[0]
    if not isinstance(values, (list, tuple)):
        raise TypeError(f'{what} must be an array or nested lists of arrays, not {kind_of(values)}')
    parts = [_flatten(v, what) for v in values]
    sizes = [len(arrays) for arrays, _ in parts]

    def rebuild(arrays):
        result, start = [], 0
        for size, (_, inner) in zip(sizes, parts, strict=True):
            result.append(inner(arrays[start:start + size]))
            start += size
        return result

    return [a for arrays, _ in parts for a in arrays], rebuild


def foreach(body: Any, data: Any, init_states: Any) -> Any:
    """Calls `out, states = body(slice, states)` for each slice of `data` along axis 0, and stacks the outs.

    >>> def add(x, total):
    ...     return x + total, x + total
    >>> outs, last = mx.nd.contrib.foreach(add, mx.nd.array([1, 2, 3]), mx.nd.zeros((1,)))
    >>> outs.reshape(-1)
    <BLANKLINE>
    [1. 3. 6.]
    <NDArray 3 @cpu(0)>
    """
    arrays, slices = _flatten(data, 'data')
    _flatten(init_states, 'init_states')
    lengths = {a.shape[0] for a in arrays}
    if len(lengths) != 1:
        raise MXNetError(f'foreach: the data arrays have different lengths {sorted(lengths)} on axis 0')
    states, collected, rebuild = init_states, [], None
    for i in range(lengths.pop()):
        out, states = pair(body(slices([a[i] for a in arrays]), states), 'foreach: body', '(output, states)')
        flat, rebuild = _flatten(out, "body's output")
        collected.append(flat)
    if rebuild is None:
        return [], states
    return rebuild([op.stack(*column) for column in zip(*collected, strict=True)]), states


def while_loop(cond: Any, func: Any, loop_vars: Any, max_iterations: int | None = None) -> Any:
    """Calls `out, loop_vars = func(*loop_vars)` while `cond(*loop_vars)` holds.

    The outs are stacked and filled up with zeros to `max_iterations` along axis 0.
    """
    if max_iterations is None:
        raise ValueError('while_loop: max_iterations is needed')
    if not hasattr(max_iterations, '__int__'):
        raise ValueError(f'while_loop: max_iterations must be an int, not {kind_of(max_iterations)}')
    limit = int(max_iterations)
    if limit < 0:
        raise ValueError(f'while_loop: max_iterations must not be negative, it is {limit}')
    single = isinstance(loop_vars, NDArrayBase)
    current = [loop_vars] if single else list(loop_vars)
    if not current:
        raise ValueError('while_loop: loop_vars must hold at least one array')
    collected: Any
    collected, rebuild = [], None
    while len(collected) < limit and bool(cond(*current)):
        out, new = pair(func(*current), 'while_loop: func', '(output, loop_vars)')
        if out is None:
            out = []
        flat, rebuild = _flatten(out, "func's output")
        new = [new] if isinstance(new, NDArrayBase) else list(new)
        if len(new) != len(current):
            raise ValueError(f'while_loop: func got {len(current)} loop_vars and returned {len(new)}')
        collected.append(flat)
        current = new
    result = current[0] if single else current
    if rebuild is None:
        return [], result
    outs = [op.stack(*column) for column in zip(*collected, strict=True)]
    missing = limit - len(collected)
    if missing:
        outs = [op.concat(o, zeros((missing, *o.shape[1:]), ctx=o.context, dtype=o.dtype), dim=0) for o in outs]
    return rebuild(outs), result


def cond(pred: Any, then_func: Any, else_func: Any) -> Any:
    """Calls `then_func()` if the one element of `pred` is not 0, else `else_func()`."""
    return then_func() if bool(pred) else else_func()


_explain_kinds(globals(), ('cond', 'foreach', 'isfinite', 'isinf', 'isnan', 'rand_zipfian', 'while_loop'))
