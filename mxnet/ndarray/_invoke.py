"""Runs operators of the table on arrays: unwrap, call, wrap.

This is the hottest code of the package.  An array is a slot object around a torch tensor; a call on plain arrays
without attributes goes through a path with no argument binding at all.
"""
from traceback import clear_frames
from typing import Any
from weakref import ref

from .. import _random_state as _random
from .._array import NDArrayBase, describe, fill_ones, overwrite, owned_apart, readers, wrap, write
from .._dispatch import intercepted, interceptors, ran, run_kernel
from .._frontend.binding import bind, by_order, missing_inputs
from .._graph.codegen.states import move_when_differentiated
from .._lazy.inference import SHAPE_ONLY, without_values
from .._lazy.step import run_moving_steps
from .._names import kind_of
from .._ops.core.complaints import CAUGHT, OWN, PROGRAMS, called_with, completed, said
from .._ops.core.dtypes import NAME
from .._ops.core.gradients import depends, linked
from .._ops.core.moves import Move
from .._ops.core.table import CallSite, Operator
from .._provenance import record_results, source
from .._state import state
from .._wording import is_out_of_memory
from ..base import MXNetError, OutOfRange
from ..context import Context, current_context

_new = object.__new__


def operator_error(op, inputs, attributes, error):
    """What torch complained about, with the operator and what it was given."""
    names = op.inputs if op.variadic is None else [f'arg{i}' for i in range(len(inputs))]
    given = [f'{n}={describe(x)}' for n, x in zip(names, inputs, strict=False) if x is not None]
    given += [part for part in (called_with(attributes),) if part]
    kind = OutOfRange if isinstance(error, IndexError) else MXNetError
    return kind(f'operator {op.name}({", ".join(given)}): {error if op.name in PROGRAMS else said(error, op.name)}')



def _check_dtypes(op, inputs):
    names = op.inputs if op.variadic is None else [f'arg{i}' for i in range(len(inputs))]
    every = op.same_dtype == ('*',)
    first = None
    for name, x in zip(names, inputs, strict=False):
        if x is None or not (every or name in op.same_dtype):
            continue
        if first is None:
            first, dtype = name, (x.meta() if x._storage is None else x._storage).dtype
        elif (x.meta() if x._storage is None else x._storage).dtype is not dtype:
            raise MXNetError(f'operator {op.name}: inputs must have the same dtype, but {first} is '
                             f'{NAME[dtype]} and {name} is {NAME[x.meta().dtype]}; convert one with astype')


run_sparse: Any = None       # how calls with sparse inputs are run: `_sparse_dispatch` sets it
join_step: Any = None        # how calls with arrays that wait may wait, too: `_cached_op` sets it


# ---------------------------------------------------------------------- calling
def run(op: Operator, inputs, attributes, out, cls):
    """Calls an operator with bound inputs and parsed attributes."""
    if interceptors:
        return intercepted(execute, op, inputs, attributes, out, cls)
    return execute(op, inputs, attributes, out, cls)


def execute(op: Operator, inputs, attributes, out, cls):
    """Computes a call that all interceptors have let through."""
    recording = state.recording
    for x in inputs:
        if x is not None and x._sparse:
            result = run_sparse(op, inputs, attributes, out, cls)
            if state.recording:
                record_results(op, attributes, inputs, result if isinstance(result, (list, tuple)) else (result,))
            return result
    if recording and out is None and not (interceptors and state.interceptors) \
            and True in [x is not None and x._pending is not None for x in inputs]:
        joined = join_step(op, inputs, attributes, cls)
        if joined is not None:
            return joined
    if op.name in SHAPE_ONLY:
        inputs = without_values(op, inputs, recording)
    if readers and recording and op.mutates:
        run_moving_steps()
    if op.same_dtype and len(inputs) > 1:
        _check_dtypes(op, inputs)
    if recording:
        tensors = [None if x is None else x.materialize() if x._variable is None else x._variable.leaf for x in inputs]
    else:
        tensors = [None if x is None else x.materialize() for x in inputs]
    given = attributes
    if op.wants_training or op.wants_rng or op.wants_device:
        ctx, attributes = _supply(op, inputs, attributes, out)
    elif inputs:
        ctx = _context_of(op, inputs, attributes)
    else:
        ctx = current_context()
    try:
        if interceptors:
            result = run_kernel(op, op.function, tensors, attributes)
        else:
            result = op.function(*tensors, **attributes)
    except MXNetError as error:
        complete = completed(op, error, given)
        if complete is error:
            raise
        raise complete from error
    except CAUGHT as error:
        if op.name in PROGRAMS and not isinstance(error, OWN):
            raise
        failure = operator_error(op, inputs, attributes, error)
        if is_out_of_memory(str(error)):
            clear_frames(error.__traceback__)       # which would keep what has been computed so far
        raise failure from error
    moves: Any = ()
    if op.mutates:
        result, moves = _write_back(op, inputs, attributes, result)
    if interceptors and recording:
        ran(op, inputs, attributes, result if type(result) is tuple else (result,))
    if out is not None:
        _into(op, result, out)
        if recording:
            record_results(op, given, inputs, out if isinstance(out, (list, tuple)) else (out,), moves)
        return out
    if type(result) is tuple:
        if len(result) == 1:
            result = result[0]
        else:
            results = _owned(op, inputs, attributes, result, tensors)
            read = tensors
            if op.mutates:          # states have no gradient
                states = op.mutated(attributes, len(tensors))
                read = [t for i, t in enumerate(tensors) if i not in states]
            if recording and depends(read):
                results = [linked(r, read) for r in results]
            results = [wrap(r if recording or not r.requires_grad else r.detach(), ctx, cls) for r in results]
            if recording:
                record_results(op, given, inputs, results, moves)
            return results
    result, = _owned(op, inputs, attributes, (result,), tensors)
    differentiable = result.requires_grad
    if recording and not differentiable and depends(tensors):
        result, differentiable = linked(result, tensors), True
    if differentiable:
        if recording:
            result._provenance = (op, given, tuple([x._variable or source(x) for x in inputs if x is not None]), 0,
                                  (ref(result),), moves)
        else:
            result = result.detach()
    return wrap(result, ctx, cls)


def _context_of(op, inputs, attributes):
    if inputs[0] is None:           # None in the place of an array
        raise missing_inputs(op, inputs, attributes) or TypeError(f'operator {op.name}: its first input is None')
    return inputs[0]._ctx


def _supply(op, inputs, attributes, out):
    """The parts of a call that the program does not give: device, generator, train mode."""
    attributes = dict(attributes)
    if op.wants_device:
        given = attributes.pop('ctx', None)
        if given is not None and (not isinstance(given, str) or given):
            try:
                ctx = parse_context(given)
            except (ValueError, MXNetError):
                raise MXNetError(f'operator {op.name}: argument ctx={given!r} is not accepted; it takes a context such '
                                 "as mx.cpu() or its text, 'cpu(0)'") from None
        elif inputs:
            ctx = _context_of(op, inputs, attributes)
        elif out is not None:
            ctx = (out[0] if isinstance(out, (list, tuple)) else out)._ctx
        else:
            ctx = current_context()
        attributes['ctx'] = ctx.torch_device
    else:
        ctx = _context_of(op, inputs, attributes) if inputs else current_context()
    if op.wants_rng:
        attributes['rng'] = _random.generator(ctx)
    if op.wants_training:
        attributes['training'] = state.training
    if op.wants_site:
        attributes['site'] = CallSite(ctx)
    return ctx, attributes


def parse_context(value) -> Context:
    """A Context from itself or from its text, 'gpu(1)' or 'cpu'."""
    if isinstance(value, Context):
        return value
    kind, _, number = str(value).strip().partition('(')
    return Context(kind, int(number.rstrip(')') or 0))


def _write_back(op, inputs, attributes, result):
    """Writes the states of a call back.  -> its visible results, what moves states in backward passes"""
    attributes = op.complete(attributes)
    positions = op.mutated(attributes, len(inputs))
    if op.ones is not None:
        fixed = op.ones(attributes)
        if fixed is not None:
            fill_ones((inputs[op.inputs.index(fixed)],))
    results = result if type(result) is tuple else (result,)
    visible, moves = len(results) - len(positions), []
    for position, value in zip(positions, results[visible:], strict=True):
        if value is None or inputs[position] is None:
            continue
        if type(value) is Move:
            moves += move_when_differentiated([value], inputs[position].materialize())
        else:
            overwrite(inputs[position], value)
    return results[:visible] if visible != 1 else results[0], moves


def _into(op, result, out):
    results = result if type(result) is tuple else (result,)
    outs = out if isinstance(out, (list, tuple)) else (out,)
    if len(outs) > len(results):
        raise MXNetError(f'operator {op.name}: out has {len(outs)} arrays, but there are {len(results)} results')
    for target, value in zip(outs, results, strict=False):
        if not isinstance(target, NDArrayBase):
            raise TypeError(f'operator {op.name}: out must be an array, not {kind_of(target)}')
        if target.meta().shape != value.shape and value.dim():      # a number fills whatever there is
            raise MXNetError(f'operator {op.name}: out has shape {tuple(target.meta().shape)}, '
                             f'but the result has {tuple(value.shape)}')
        write(target, value, f'out= of operator {op.name}')


def _owned(op, inputs, attributes, results, tensors):
    """As `owned_apart`; a view that does not fit into memory as an array is an error of the operator."""
    try:
        return owned_apart(results, tensors)
    except (RuntimeError, MemoryError) as error:
        raise operator_error(op, inputs, attributes, error) from error


def call(op: Operator, args, kwargs, cls):
    """Calls an operator as a program does: any mixture of positional and keyword arguments.

    This is the general way, which binds and parses each time; ndarray/_generated.py has the short one.
    """
    out = kwargs.pop('out', None)
    kwargs.pop('name', None)
    extra = len(args) - len(op.positional)
    if 0 < extra <= 2 and op.variadic is None and out is None:
        args, (out, *_) = args[:-extra], args[-extra:]     # upstream's functions end with out and name
    inputs, given = bind(op, args, kwargs, NDArrayBase)
    parsed = op.parse(given) if given or op.has_required else {}
    if op.optional:
        inputs = by_order(op, inputs, parsed)
    if op.optional or len(inputs) < len(op.inputs):
        error = missing_inputs(op, inputs, parsed)
        if error is not None:
            raise error
    if not inputs and op.variadic is not None and op.extra is None:
        raise MXNetError(f'operator {op.name} needs at least one input')
    return run(op, inputs, parsed, out, cls)
