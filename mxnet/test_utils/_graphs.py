"""Checks of symbols: their values, their gradients, their agreement between devices."""
from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ndarray as nd
from .._array import NDArrayBase
from .._kinds import explain_kinds as _explain_kinds
from ..context import current_context
from ._compare import (
    _numpy,
    assert_almost_equal,
    default_dtype,
    default_numeric_eps,
    get_tolerance,
    get_tols,
)
from ._generate import create_sparse_array

if TYPE_CHECKING:
    from .._typing import DType, GradReq
    from ..executor import Executor
    from ..ndarray import NDArray
    from ..symbol import Symbol

__all__ = ['check_consistency', 'check_numeric_gradient', 'check_speed', 'check_symbolic_backward',
           'check_symbolic_forward', 'numeric_grad', 'same_symbol_structure', 'simple_forward']

_DEFAULT = default_dtype()


def simple_forward(sym: Symbol, ctx: Any = None, is_train: bool = False, **inputs: Any) -> Any:
    """The outputs of a symbol for NumPy arrays, as NumPy arrays; the array itself where there is one."""
    executor = sym.bind(ctx or current_context(), args={name: nd.array(value) for name, value in inputs.items()})
    executor.forward(is_train=is_train)
    outputs = [x.asnumpy() for x in executor.outputs]
    return outputs[0] if len(outputs) == 1 else outputs


def same_symbol_structure(sym1: Symbol, sym2: Symbol) -> bool:
    """Whether two symbols have the same operators in the same places, up to the end of the shorter one."""
    nodes1, nodes2 = (json.loads(sym.tojson())['nodes'] for sym in (sym1, sym2))
    return all(a['op'] == b['op'] for a, b in zip(nodes1, nodes2, strict=False))


# ---------------------------------------------------------------------- arguments of the checks
def _check_dtype(dtype, asnumpy=True):
    allowed = (np.float16, np.float32, np.float64)
    if not (asnumpy and isinstance(dtype, str) and dtype == 'asnumpy') and dtype not in allowed:
        raise AssertionError(f"dtype must be numpy.float16, float32, float64{' or asnumpy' * asnumpy}, not {dtype!r}")


def _array(value, ctx, dtype):
    if isinstance(value, NDArrayBase):
        return value
    value = np.asarray(value)
    return nd.array(value, ctx=ctx, dtype=value.dtype if isinstance(dtype, str) else dtype)


def _by_name(names, values, what):
    """{name: value}, from a dict that must have exactly these names or a list in their order."""
    if not isinstance(values, dict):
        return dict(zip(names, values, strict=False))
    if set(values) != set(names):
        raise ValueError(f'{what} are given for {sorted(values)}, but the symbol has {sorted(names)}')
    return {name: values[name] for name in names}


def _parse_location(sym, location, ctx, dtype=_DEFAULT):
    """Arrays for the arguments of a symbol, sorted by name."""
    given = _by_name(sym.list_arguments(), location, 'arguments')
    return {name: _array(given[name], ctx, dtype) for name in sorted(given)}


def _parse_aux_states(sym, aux_states, ctx, dtype=_DEFAULT):
    """Arrays for the auxiliary states of a symbol; None without any."""
    if aux_states is None:
        return None
    given = _by_name(sym.list_auxiliary_states(), aux_states, 'auxiliary states')
    return {name: _array(value, ctx, dtype) for name, value in given.items()}


def _compare_gradient(name, req, expected, before, gradient, what, **tolerances):
    """Is a gradient what `grad_req` makes of the expected one and of what was in its array before?"""
    names = f'{what}_{name}', f'BACKWARD_{name}'
    if req == 'write':
        assert_almost_equal(expected, gradient, names=names, **tolerances)
    elif req == 'add':
        assert_almost_equal(expected, _numpy(gradient) - before, names=names, **tolerances)
    elif req == 'null':
        assert_almost_equal(before, gradient, names=names, **tolerances)
    else:
        raise ValueError(f"grad_req of {name} must be 'write', 'add' or 'null', not {req!r}")


# ---------------------------------------------------------------------- checks
def numeric_grad(executor: Executor, location: Any, aux_states: Any = None, eps: float = 1e-4,
                 use_forward_train: bool = True, dtype: DType = _DEFAULT) -> Any:
    """Gradients of the sum of an executor's first output by finite differences: {name: NumPy array}.

    `location` ({name: NumPy array}) holds the arguments, `aux_states` the states that each evaluation starts from.
    """
    _check_dtype(dtype, asnumpy=False)

    def put(target, value):
        dense = nd.array(value, dtype=dtype)
        target[:] = dense if target.stype == 'default' else dense.tostype(target.stype)

    def evaluate():
        for name, value in (aux_states or {}).items():
            put(executor.aux_dict[name], value)
        executor.forward(is_train=use_forward_train)
        return executor.outputs[0].asnumpy()

    for name, value in location.items():
        location[name] = np.asarray(value, order='C')
        put(executor.arg_dict[name], location[name])
    gradients = {name: np.zeros(value.shape, dtype=dtype) for name, value in location.items()}
    for name, value in location.items():
        if value.dtype.kind != 'f':
            continue
        target, moved = executor.arg_dict[name], value.copy()
        for i in range(value.size):
            moved.reshape(-1)[i] += eps / 2
            put(target, moved)
            above = evaluate()
            moved.reshape(-1)[i] -= eps
            put(target, moved)
            below = evaluate()
            gradients[name].reshape(-1)[i] = (above - below).sum() / eps
            moved.reshape(-1)[i] = value.reshape(-1)[i]
        put(target, value)
    return gradients


def check_numeric_gradient(sym: Symbol, location: Any, aux_states: Any = None, numeric_eps: float | None = None,
                           rtol: float | None = None, atol: float | None = None, grad_nodes: Any = None,
                           use_forward_train: bool = True, ctx: Any = None, grad_stype_dict: Any = None,
                           dtype: DType = _DEFAULT) -> None:
    """Compares the gradients of a symbol with finite differences.

    The symbol's output is weighted with random numbers and summed, and that is differentiated at `location` (a list, or
    a dict by argument name, of arrays).  `grad_nodes` names the arguments to check, or gives their grad_req as a dict.
    """
    from .. import symbol
    _check_dtype(dtype, asnumpy=False)
    ctx = ctx or current_context()
    location = _parse_location(sym, location, ctx, dtype)
    aux_states = _parse_aux_states(sym, aux_states, ctx, dtype)
    plain_location = {name: x.asnumpy() for name, x in location.items()}
    plain_aux = None if aux_states is None else {name: x.asnumpy() for name, x in aux_states.items()}
    if grad_nodes is None:
        grad_nodes = sym.list_arguments()
    grad_req = dict(grad_nodes) if isinstance(grad_nodes, dict) else dict.fromkeys(grad_nodes, 'write')

    _, (out_shape, *_), _ = sym.infer_shape(**{name: x.shape for name, x in location.items()})
    weights = symbol.Variable('__random_proj')
    if type(sym) is not symbol.Symbol:          # of mx.np, whose product is elementwise as well, but of its own kind
        loss = symbol.make_loss((sym * weights.as_np_ndarray()).as_nd_ndarray())
    else:
        loss = symbol.make_loss(sym * weights)
    # not too close to zero, or finite differences would drown in rounding
    location['__random_proj'] = nd.array(np.random.rand(*out_shape) + 0.1, ctx=ctx, dtype=dtype)
    before = {name: np.random.normal(0, 0.01, size=location[name].shape) for name in (*grad_req, '__random_proj')}
    gradients = {name: nd.array(value, ctx=ctx, dtype=dtype) for name, value in before.items()}
    for name, stype in (grad_stype_dict or {}).items():
        if name in gradients and stype != 'default':
            gradients[name] = nd.zeros(gradients[name].shape, ctx, dtype, stype)

    executor = loss.bind(ctx, args=location, args_grad=gradients, grad_req=grad_req, aux_states=aux_states)
    if len(executor.outputs) != 1:
        raise AssertionError(f'a symbol with one output can be checked; this one has {sym.list_outputs()}')
    executor.forward(is_train=True)
    eps = get_tolerance(executor.outputs[0], numeric_eps, default_numeric_eps())
    if dtype in (np.float16, np.float32) and eps < 1e-5:
        raise AssertionError(f'numeric_eps={eps} is too small a step for {np.dtype(dtype)}; it must be 1e-5 or more')
    executor.backward()
    found = {name: _numpy(executor.grad_dict[name]) for name in grad_req}
    expected = numeric_grad(executor, plain_location, plain_aux, eps, use_forward_train, dtype)
    for name, req in grad_req.items():
        _compare_gradient(name, req, expected[name], before[name], found[name], 'NUMERICAL', rtol=rtol, atol=atol)


def check_symbolic_forward(sym: Symbol, location: Any, expected: Any, rtol: float | None = None,
                           atol: float | None = None, aux_states: Any = None, ctx: Any = None, equal_nan: bool = False,
                           dtype: DType = _DEFAULT) -> list[NDArray]:
    """Compares a symbol's outputs at `location` with `expected`; both are lists, or dicts by name.  -> outputs

    dtype='asnumpy' keeps the dtypes of the NumPy arrays given.
    """
    _check_dtype(dtype)
    ctx = ctx or current_context()
    location = _parse_location(sym, location, ctx, dtype)
    aux_states = _parse_aux_states(sym, aux_states, ctx, dtype)
    names = sym.list_outputs()
    expected = list(_by_name(names, expected, 'outputs').values())
    gradients = {name: nd.zeros(x.shape, ctx=ctx, dtype=x.dtype) for name, x in location.items()}
    executor = sym.bind(ctx=ctx, args=location, args_grad=gradients, aux_states=aux_states)
    executor.forward(is_train=False)
    for name, wanted, output in zip(names, expected, executor.outputs, strict=False):
        assert_almost_equal(wanted, output, rtol, atol, (f'EXPECTED_{name}', f'FORWARD_{name}'), equal_nan=equal_nan)
    return executor.outputs


def check_symbolic_backward(sym: Symbol, location: Any, out_grads: Any, expected: Any, rtol: float | None = None,
                            atol: float | None = None, aux_states: Any = None, grad_req: GradReq = 'write',
                            ctx: Any = None, grad_stypes: Any = None, equal_nan: bool = False,
                            dtype: DType = _DEFAULT) -> dict[str, NDArray]:
    """Compares a symbol's gradients at `location` with `expected` (a list, or a dict by argument name).

    `out_grads` are the gradients of the outputs: a list, a dict by output name, or None.  -> {name: gradient}
    """
    _check_dtype(dtype)
    ctx = ctx or current_context()
    names = sym.list_arguments()
    location = _parse_location(sym, location, ctx, dtype)
    aux_states = _parse_aux_states(sym, aux_states, ctx, dtype)
    if isinstance(expected, (list, tuple)):
        expected = dict(zip(names, expected, strict=False))
    if isinstance(grad_req, str):
        grad_req = dict.fromkeys(names, grad_req)
    elif isinstance(grad_req, (list, tuple)):
        grad_req = dict(zip(names, grad_req, strict=False))
    # numbers in the gradients beforehand show whether they are overwritten, added to or left alone
    before = {name: np.random.normal(size=expected[name].shape) for name in sorted(expected)}
    gradients = {}
    for name, value in before.items():
        stype = (grad_stypes or {}).get(name)
        if stype is not None and stype != 'default':
            gradients[name] = create_sparse_array(value.shape, stype, density=0.0)
        else:
            kind = expected[name].dtype if isinstance(dtype, str) else dtype
            gradients[name] = nd.array(value, ctx=ctx, dtype=kind)
    executor = sym.bind(ctx=ctx, args=location, args_grad=gradients, aux_states=aux_states, grad_req=grad_req)
    executor.forward(is_train=True)
    if isinstance(out_grads, dict):
        out_grads = {name: _array(value, ctx, dtype) for name, value in out_grads.items()}
    elif out_grads is not None:
        out_grads = [_array(value, ctx, dtype) for value in out_grads]
    executor.backward(out_grads)
    for name, value in expected.items():
        _compare_gradient(name, grad_req[name], value, before[name], gradients[name], 'EXPECTED', rtol=rtol, atol=atol,
                          equal_nan=equal_nan)
    return gradients


def check_speed(sym: Symbol, location: Any = None, ctx: Any = None, N: int = 20, grad_req: GradReq | None = None,
                typ: str = 'whole', **kwargs: Any) -> float:
    """Seconds that a symbol takes forward and backward (typ='whole'), or forward only (typ='forward').

    `kwargs` are the shapes of the arguments where no `location` ({name: NumPy array}) is given.
    """
    if typ not in ('whole', 'forward'):
        raise ValueError(f"typ must be 'whole' or 'forward', not {typ!r}")
    shapes = kwargs if location is None else {name: x.shape for name, x in location.items()}
    executor = sym.simple_bind(grad_req=grad_req or 'write', ctx=ctx or current_context(), **shapes)
    if location is None:
        location = {name: np.random.normal(size=x.shape) for name, x in executor.arg_dict.items()}
    for name, value in location.items():
        target = executor.arg_dict[name]
        target[:] = value.astype(target.dtype)

    def step():
        executor.forward(is_train=typ == 'whole')
        if typ == 'whole':
            executor.backward(out_grads=executor.outputs)

    step()
    nd.waitall()
    start = time.perf_counter()
    for _ in range(N):
        step()
    nd.waitall()
    return (time.perf_counter() - start) / N


def check_consistency(sym: Symbol, ctx_list: Any, scale: float = 1.0, grad_req: GradReq = 'write',
                      arg_params: Mapping[str, NDArray] | None = None, aux_params: Mapping[str, NDArray] | None = None,
                      rtol: float | None = None, atol: float | None = None, raise_on_err: bool = True,
                      ground_truth: Any = None, equal_nan: bool = False, use_uniform: bool = False,
                      rand_type: Any = np.float64) -> dict[str, NDArray]:
    """Compares a symbol (or one symbol per place) in several places: devices, dtypes.

    `ctx_list` holds the keyword arguments of one `simple_bind` each: {'ctx': ..., 'data': shape, 'type_dict': {...}}.
    The first one with the widest output, or `ground_truth` ({name: array}), is what the others are held to.  -> it
    """
    if len(ctx_list) < 2:
        raise AssertionError('two or more places are needed for a comparison')
    symbols = list(sym) if isinstance(sym, (list, tuple)) else [sym] * len(ctx_list)
    outputs, arguments = symbols[0].list_outputs(), symbols[0].list_arguments()
    for other in symbols:
        if other.list_outputs() != outputs or other.list_arguments() != arguments:
            raise AssertionError('the symbols differ in the names of their arguments or outputs')
    executors = [s.simple_bind(grad_req=grad_req, **place) for s, place in zip(symbols, ctx_list, strict=True)]
    _fill(executors, scale, grad_req, dict(arg_params or {}), dict(aux_params or {}), use_uniform, rand_type)

    for executor in executors:
        executor.forward(is_train=False)
    widths = [np.dtype(e.outputs[0].dtype).itemsize for e in executors]
    best = widths.index(max(widths))
    truth = ground_truth or dict(zip(outputs, executors[best].outputs, strict=True))

    def compare(stage, number, name, array, rtol, atol):
        try:
            assert_almost_equal(array, truth[name], rtol=rtol, atol=atol, equal_nan=equal_nan,
                                names=(f'{name} of place {number}', f'{name} of place {best}'))
        except AssertionError as error:
            if raise_on_err:
                raise AssertionError(f'{stage}: place {number} ({ctx_list[number]}) and place {best} '
                                     f'({ctx_list[best]}) differ: {error}') from None
            logging.error('%s: place %d and place %d differ: %s', stage, number, best, error)

    others = [(i, e) for i, e in enumerate(executors) if i != best]
    for i, executor in others:
        for name, array in zip(outputs, executor.outputs, strict=True):
            compare('prediction', i, name, array, rtol, atol)
    if grad_req == 'null':
        return truth

    for executor in executors:
        executor.forward(is_train=True)
    # everyone gets the same head gradients, in the least precise dtype that any output has
    heads: list[Any] = [min((e.outputs[k] for e in executors), key=lambda x: np.dtype(x.dtype).itemsize).dtype
                        for k in range(len(outputs))]
    heads = [x.astype(dtype).asnumpy() for x, dtype in zip(executors[0].outputs, heads, strict=True)]
    for place, executor in zip(ctx_list, executors, strict=True):
        executor.backward([nd.array(head, ctx=place['ctx'], dtype=x.dtype).tostype(x.stype)
                           for head, x in zip(heads, executor.outputs, strict=True)])
    if ground_truth is None:
        truth = dict(zip(outputs, executors[best].outputs, strict=True)) | executors[best].grad_dict
    for i, executor in others:
        for name, array in zip(outputs + arguments, [*executor.outputs, *executor.grad_arrays], strict=True):
            if truth[name] is None:
                if array is not None:
                    raise AssertionError(f'{name} has a gradient in place {i}, but not in place {best}')
                continue
            # a float32 gradient in an otherwise float16 graph (gamma of BatchNorm) is as precise as the graph
            compare('training', i, name, array, *get_tols(_as_narrow(array, executors[i].outputs[0].dtype),
                                                          _as_narrow(truth[name], executors[best].outputs[0].dtype),
                                                          rtol, atol))
    return truth


def _as_narrow(array, dtype):
    return array.astype(dtype) if np.dtype(dtype).itemsize < np.dtype(array.dtype).itemsize else array


def _fill(executors, scale, grad_req, arg_params, aux_params, use_uniform, rand_type):
    """Gives all executors the same arguments and states, random ones where none are given."""
    for name, array in sorted(executors[0].arg_dict.items()):
        if name not in arg_params:
            values = (np.random.uniform(-0.92 * scale, 0.92 * scale, size=array.shape) if use_uniform
                      else np.random.normal(size=array.shape, scale=scale))
            arg_params[name] = values.astype(rand_type)
    for executor in executors:
        for name, array in executor.arg_dict.items():
            array[:] = arg_params[name]
        for name, array in executor.aux_dict.items():
            array[:] = aux_params.get(name, 0)
        if grad_req == 'add':
            for array in executor.grad_arrays:
                if array is not None:
                    array[:] = 0


_explain_kinds(globals(), __all__)
