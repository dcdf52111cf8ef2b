"""Interceptors: the one place where something can get between a program and what it calls.

An interceptor is an object with some of the hooks of `Interceptor`.  `install` puts it on the stack of the process
(mixed precision, profiler) or of the calling thread (tracer, anomaly detection); `remove` takes it off, in any order.
No function, method or module attribute is ever replaced.

Order, outermost first.  An interceptor's place follows from its `rank`, not from when it was installed; of two with the
same rank the one that was installed last is the outer one.

1. `PRECISION`: mixed precision (contrib/amp).  It casts the inputs of a call; each cast is a call of its own, which
   passes everything below.
2. `TRACE`: deferred compute (_deferred_compute.py).  A call becomes a node of a graph; nothing below sees it.
3. Deferral and recording.  They are no interceptors but what `ndarray/_invoke.py` does with every call: a call on a
   pending array joins its step, and while recording the kernel gets the tensors that carry the history.
4. `ANOMALY`: `autograd.detect_anomaly`.  It sees inputs and results of each recorded call.
5. `PROFILE`: the profiler.  Its ranges are around the kernel alone.

A monitor of an executor or of a block belongs to that object, not to this stack: it sees the results of a node after
all of these, and outside of the profiler's range.

While `interceptors` is empty, which hot paths test, a call costs nothing more than that test.  It lists the
interceptors of all threads: a thread without any of its own takes the general path as well while another one traces.
"""
from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ._state import state

if TYPE_CHECKING:
    import torch

    from ._graph.codegen.writing import Plan
    from ._graph.ir.node import Node
    from ._ops.core.table import Operator

PRECISION, TRACE, ANOMALY, PROFILE = range(4)

interceptors: list[Interceptor] = []    # all of them, of whatever thread; the list object itself never changes
_process: tuple[Interceptor, ...] = ()  # those of every thread, in order
_lock = threading.Lock()


class Interceptor:
    """What can be intercepted; a hook that is None is not asked."""

    rank = PROFILE
    whole_process = True        # False: only calls of the thread that installed it
    traces = False              # calls become nodes of a graph instead of being computed
    call_by_call = False        # plans run as they are: not as CUDA graphs, not from the results of their trace

    # call(proceed, op, inputs, attributes, out, cls): a call with bound arrays and parsed attributes.  It gives the
    # result; `proceed(op, inputs, attributes, out, cls)` hands a call to what is below.
    call: Any = None
    # compose(op, symbol, cls): a node of a graph that a program has just made; gives the symbol to use.
    compose: Any = None
    # kernel(op, function, node, tensors, attributes): gives function(*tensors, **attributes).  `node` is None unless a
    # graph runs.
    kernel: Any = None
    # ran(op, inputs, attributes, results): a recorded call has been computed; inputs are arrays, results tensors.
    ran: Any = None
    # differentiate(heads): the graph of these tensors is about to be differentiated.
    differentiate: Any = None
    # plan(plan): a plan has been made.
    plan: Any = None
    # api(name): a context manager for a call of the public API, or None; block(block, inputs): for one of a block.
    api: Any = None
    block: Any = None


def _sorted(found: Iterable[Interceptor]) -> tuple[Interceptor, ...]:
    return tuple(sorted(found, key=lambda i: i.rank))           # stable: see `install`


def install(interceptor: Interceptor) -> None:
    """Puts an interceptor on the stack."""
    global _process
    with _lock:
        interceptors.insert(0, interceptor)
        if interceptor.whole_process:
            _process = _sorted((interceptor, *_process))
    if not interceptor.whole_process:
        state.interceptors = _sorted((interceptor, *state.interceptors))


def remove(interceptor: Interceptor) -> None:
    """Takes an interceptor off the stack; one that is not there is no error."""
    global _process
    with _lock:
        _drop(interceptors, interceptor)
        if interceptor.whole_process:
            _process = tuple(_drop(list(_process), interceptor))
    if not interceptor.whole_process:
        state.interceptors = tuple(_drop(list(state.interceptors), interceptor))


def _drop(found: list[Interceptor], interceptor: Interceptor) -> list[Interceptor]:
    for i, one in enumerate(found):
        if one is interceptor:
            del found[i]
            break
    return found


def stack() -> tuple[Interceptor, ...]:
    """The interceptors of this thread's calls, outermost first."""
    own = state.interceptors
    return _sorted((*own, *_process)) if own else _process


def tracer() -> Any:
    """What makes a graph of the calls of this thread, or None."""
    for interceptor in state.interceptors:
        if interceptor.traces:
            return interceptor
    return None


def call_by_call() -> bool:
    """Whether plans have to run as they are."""
    return any(i.call_by_call for i in stack())


# ---------------------------------------------------------------------- called where `interceptors` is not empty
def intercepted(execute: Callable[..., Any], op: Operator, inputs: Sequence[Any], attributes: dict[str, Any], out: Any,
                cls: Any) -> Any:
    """Hands a call through the stack down to `execute`."""
    chain = [i.call for i in stack() if i.call is not None]
    return _proceed(chain, execute, op, inputs, attributes, out, cls)


def _proceed(chain: list[Callable[..., Any]], execute: Callable[..., Any], op: Operator, inputs: Sequence[Any],
             attributes: dict[str, Any], out: Any, cls: Any) -> Any:
    if not chain:
        return execute(op, inputs, attributes, out, cls)
    return chain[0](functools.partial(_proceed, chain[1:], execute), op, inputs, attributes, out, cls)


def run_kernel(op: Operator, function: Callable[..., Any], tensors: Sequence[Any], attributes: Mapping[str, Any],
               node: Node | None = None) -> Any:
    """Runs a kernel with what the interceptors put around it."""
    for interceptor in reversed(stack()):
        if interceptor.kernel is not None:
            function = functools.partial(_around, interceptor, op, function, node)
    return function(*tensors, **attributes)


def _around(interceptor: Interceptor, op: Operator, function: Callable[..., Any], node: Node | None, *tensors: Any,
            **attributes: Any) -> Any:
    return interceptor.kernel(op, function, node, tensors, attributes)


def ran(op: Operator, inputs: Sequence[Any], attributes: dict[str, Any], results: Sequence[torch.Tensor]) -> None:
    """Tells the interceptors of a recorded call that has been computed."""
    for interceptor in reversed(stack()):
        if interceptor.ran is not None:
            interceptor.ran(op, inputs, attributes, results)


def composed(op: Operator, symbol: Any, cls: Any) -> Any:
    """The symbol of a node, with what the interceptors put before it."""
    for interceptor in reversed(stack()):
        if interceptor.compose is not None:
            symbol = interceptor.compose(op, symbol, cls)
    return symbol


def differentiating(heads: Sequence[torch.Tensor]) -> None:
    """Tells the interceptors that gradients of these tensors are about to be computed."""
    for interceptor in stack():
        if interceptor.differentiate is not None:
            interceptor.differentiate(heads)


def plan_made(plan: Plan) -> None:
    """Tells the interceptors of a new plan."""
    for interceptor in stack():
        if interceptor.plan is not None:
            interceptor.plan(plan)


# ---------------------------------------------------------------------- the public API
def entering(name: str, *block: Any) -> AbstractContextManager[Any] | None:
    """The scope that the interceptors put around a call of the public API (or of a block), or None.

    A function that interceptors can see begins with

        if interceptors and (scope := entering('Trainer.step')) is not None:
            with scope:
                return Trainer.step(self, batch_size)

    The call inside of the scope is the same call again, and gets None.
    """
    if state.entered == name:
        state.entered = None
        return None
    for interceptor in stack():
        hook = interceptor.block if block else interceptor.api
        scope = None if hook is None else hook(*block) if block else hook(name)
        if scope is not None:
            state.entered = name
            return scope
    return None


class Iterated:
    """An iterator whose `next` is a call of the public API."""

    def __init__(self, name: str, items: Iterable[Any]) -> None:
        self._name, self._items = name, iter(items)

    def __iter__(self) -> Iterated:
        return self

    def __next__(self) -> Any:
        if interceptors and (scope := entering(self._name)) is not None:
            with scope:
                return Iterated.__next__(self)
        return next(self._items)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._items, name)


# gives the last KVStore with servers, for `profiler.set_state('run', profile_process='server')`
servers: Callable[[], Any] | None = None
