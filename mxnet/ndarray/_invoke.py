"""Runs operators of the table on arrays: unwrap, call, wrap.

This is the hottest code of the package.  An array is a slot object around a torch tensor; a call on plain arrays
without attributes goes through a path with no argument binding at all.
"""
from typing import Any
from weakref import ref

from .. import random as _random
from .._array import NDArrayBase, describe, fill_ones, overwrite, owned, readers, wrap, write
from .._dispatch import intercepted, interceptors, ran, run_kernel
from .._frontend.binding import bind, by_order, missing_inputs
from .._frontend.signature import docstring, signature
from .._graph.states import move_when_differentiated
from .._lazy.inference import SHAPE_ONLY, without_values
from .._lazy.step import run_moving_steps
from .._notes import NONE, note, note_all, source
from .._ops.complaints import CAUGHT, OWN, PROGRAMS, called_with, completed, said
from .._ops.dtypes import NAME
from .._ops.moves import Move
from .._ops.table import CallSite, Operator
from .._state import state
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
                note_all(op, attributes, inputs, result if isinstance(result, (list, tuple)) else (result,))
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
        ctx = inputs[0]._ctx
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
        raise operator_error(op, inputs, attributes, error) from error
    if op.mutates:
        result = _write_back(op, inputs, attributes, result)
    if interceptors and recording:
        ran(op, inputs, attributes, result if type(result) is tuple else (result,))
    if out is not None:
        _into(op, result, out)
        if recording:
            note_all(op, given, inputs, out if isinstance(out, (list, tuple)) else (out,))
        return out
    if type(result) is tuple:
        if len(result) == 1:
            result = result[0]
        else:
            results = [_owned(op, inputs, attributes, r, tensors) for r in result]
            results = [wrap(r if recording or not r.requires_grad else r.detach(), ctx, cls) for r in results]
            if recording:
                note_all(op, given, inputs, results)
            return results
    result = _owned(op, inputs, attributes, result, tensors)
    if result.requires_grad:
        if recording:
            result._note = (op, given, tuple([x._variable or source(x) for x in inputs if x is not None]), 0,
                            (ref(result),))
        else:
            result = result.detach()
    return wrap(result, ctx, cls)


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
            ctx = inputs[0]._ctx
        elif out is not None:
            ctx = (out[0] if isinstance(out, (list, tuple)) else out)._ctx
        else:
            ctx = current_context()
        attributes['ctx'] = ctx.torch_device
    else:
        ctx = inputs[0]._ctx if inputs else current_context()
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
    attributes = op.complete(attributes)
    positions = op.mutated(attributes, len(inputs))
    if op.ones is not None:
        fixed = op.ones(attributes)
        if fixed is not None:
            fill_ones((inputs[op.inputs.index(fixed)],))
    results = result if type(result) is tuple else (result,)
    visible = len(results) - len(positions)
    for position, value in zip(positions, results[visible:], strict=True):
        if value is None or inputs[position] is None:
            continue
        if type(value) is Move:
            move_when_differentiated([value], inputs[position].materialize())
        else:
            overwrite(inputs[position], value)
    return results[:visible] if visible != 1 else results[0]


def _into(op, result, out):
    results = result if type(result) is tuple else (result,)
    outs = out if isinstance(out, (list, tuple)) else (out,)
    if len(outs) > len(results):
        raise MXNetError(f'operator {op.name}: out has {len(outs)} arrays, but there are {len(results)} results')
    for target, value in zip(outs, results, strict=False):
        if not isinstance(target, NDArrayBase):
            raise TypeError(f'operator {op.name}: out must be an array, not {type(target).__name__}')
        if target.meta().shape != value.shape and value.dim():      # a number fills whatever there is
            raise MXNetError(f'operator {op.name}: out has shape {tuple(target.meta().shape)}, '
                             f'but the result has {tuple(value.shape)}')
        write(target, value, f'out= of operator {op.name}')


def _owned(op, inputs, attributes, result, tensors):
    """As `owned`; a view that does not fit into memory as an array is an error of the operator."""
    try:
        return owned(result, tensors)
    except (RuntimeError, MemoryError) as error:
        raise operator_error(op, inputs, attributes, error) from error


CALLS = 256             # parsed attributes that are kept per operator


def call(op: Operator, args, kwargs, cls):
    """Calls an operator as a program does: any mixture of positional and keyword arguments.

    Loops make the same calls again and again: arrays by position, the same attributes by keyword.  Their attributes are
    parsed once.
    """
    try:
        key = (len(args), *kwargs.items())
        known = op.calls.get(key)
    except TypeError:                   # something that cannot be hashed, a list perhaps
        key, known = None, None
    if known is not None:
        for x in args:
            if not isinstance(x, NDArrayBase):
                break
        else:
            return run(op, args, known, None, cls)
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
    if key is not None and len(key) > 1 and out is None and op.extra is None and len(inputs) == len(args) \
            and all(x is y for x, y in zip(inputs, args, strict=True)):
        if len(op.calls) >= CALLS:
            op.calls.clear()
        op.calls[key] = parsed
    return run(op, inputs, parsed, out, cls)


def make_function(op: Operator, name: str, cls: type):
    """The function of an operator on arrays of type `cls`."""
    plain = _takes_plain_arrays(op)
    arity = len(op.inputs)
    mixed, fresh = not op.same_dtype, op.fresh
    kernel = op.function

    def pair(*args, **kwargs):
        # the same as below for two arrays, unrolled: most operators of two are called like this
        recording = state.recording
        if not kwargs and len(args) == 2 and not interceptors:
            lhs, rhs = args
            try:
                a, b = lhs._storage, rhs._storage
                if a is None or b is None:
                    raise TypeError
                if recording:
                    if lhs._variable is not None:
                        a = lhs._variable.leaf
                    if rhs._variable is not None:
                        b = rhs._variable.leaf
                if not mixed and a.dtype is not b.dtype:
                    raise TypeError
                result = kernel(a, b)
            except Exception:
                pass        # whatever it was, the long way says it properly
            else:
                if not fresh and (result._base is not None or result is a or not result.is_contiguous()):
                    result = owned(result, (a, b))
                if result.requires_grad:
                    if recording:
                        result._note = (op, NONE, (lhs._variable or getattr(a, '_note', None) or source(lhs),
                                                   rhs._variable or getattr(b, '_note', None) or source(rhs)), 0,
                                        (ref(result),))
                    else:
                        result = result.detach()
                array = _new(cls)
                array._storage = result
                array._ctx = lhs._ctx
                array._variable = None
                array._pending = None
                return array
        return call(op, args, kwargs, cls)

    def single(*args, **kwargs):
        # and for one
        recording = state.recording
        if not kwargs and len(args) == 1 and not interceptors:
            x, = args
            try:
                tensor = x._storage
                if tensor is None:
                    raise TypeError
                if recording and x._variable is not None:
                    tensor = x._variable.leaf
                result = kernel(tensor)
            except Exception:
                pass
            else:
                if not fresh and (result._base is not None or result is tensor or not result.is_contiguous()):
                    result = owned(result, (tensor,))
                if result.requires_grad:
                    if recording:
                        result._note = (op, NONE, (x._variable or getattr(tensor, '_note', None) or source(x),), 0,
                                        (ref(result),))
                    else:
                        result = result.detach()
                array = _new(cls)
                array._storage = result
                array._ctx = x._ctx
                array._variable = None
                array._pending = None
                return array
        return call(op, args, kwargs, cls)

    def general(*args, **kwargs):
        recording = state.recording
        if plain and not kwargs and len(args) == arity and not interceptors:
            # arrays only, nothing to bind: the whole call is unwrap, compute, wrap
            try:
                if [x for x in args if x._storage is None]:
                    raise TypeError
                if recording:
                    tensors = [x._storage if x._variable is None else x._variable.leaf for x in args]
                else:
                    tensors = [x._storage for x in args]
                if not mixed and tensors[0].dtype is not tensors[-1].dtype:
                    raise TypeError
                result = kernel(*tensors)
            except Exception:
                pass        # whatever it was, the long way says it properly
            else:
                if not fresh and (result._base is not None or result is tensors[0] or not result.is_contiguous()):
                    result = owned(result, tensors)
                if recording:
                    note(op, NONE, args, result)
                elif result.requires_grad:
                    result = result.detach()
                array = _new(cls)
                array._storage = result
                array._ctx = args[0]._ctx
                array._variable = None
                array._pending = None
                return array
        return call(op, args, kwargs, cls)

    function: Any = general if not plain or arity > 2 else pair if arity == 2 else single
    function.__name__ = function.__qualname__ = name
    function.__doc__ = docstring(op)
    function.__signature__ = signature(op, cls.__name__)
    function.derived_from = op, cls         # for the reference: _frontend/examples
    return function


def make_method(op: Operator, name: str):
    """The method of arrays that calls an operator with the array as its first input."""
    plain = _takes_plain_arrays(op) and len(op.inputs) == 1
    kernel, fresh = op.function, op.fresh

    def method(self, *args, **kwargs):
        recording = state.recording
        if plain and not args and not kwargs and not interceptors and self._storage is not None:
            tensor = self._storage if not recording or self._variable is None else self._variable.leaf
            try:
                result = kernel(tensor)
            except Exception:
                pass        # as above
            else:
                if not fresh and (result._base is not None or result is tensor or not result.is_contiguous()):
                    result = owned(result, (tensor,))
                if result.requires_grad:
                    if recording:
                        origin = self._variable or getattr(tensor, '_note', None) or source(self)
                        result._note = (op, NONE, (origin,), 0, (ref(result),))
                    else:
                        result = result.detach()
                array = _new(self._dense)
                array._storage = result
                array._ctx = self._ctx
                array._variable = None
                array._pending = None
                return array
        return call(op, (self, *args), kwargs, self._dense)

    result: Any = method
    result.__name__ = name
    result.__qualname__ = f'NDArray.{name}'
    result.__doc__ = docstring(op)
    result.__signature__ = signature(op, 'NDArray', method=True)
    result.derived_from = op, None
    return result


def _takes_plain_arrays(op):
    """Can a call with exactly the inputs, all plain arrays, go straight to the kernel?"""
    if op.variadic is not None or not op.inputs or op.mutates or op.optional or op.has_required:
        return False
    if op.wants_training or op.wants_rng or op.wants_device or callable(op.outputs) or len(op.outputs) != 1:
        return False
    # two inputs of one dtype are compared on the way; more of them go the long way
    return not op.same_dtype or len(op.inputs) <= 2
