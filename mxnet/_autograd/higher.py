"""`grad`: gradients as arrays, which can themselves be differentiated."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from .._array import NDArrayBase, wrap
from .._dispatch import differentiating, entering, interceptors
from .._ops.core.gradients import no_gradient
from .._provenance import History
from .._state import state
from .._torch.autograd import reaches
from .._torch.memory import ALONE, storage_id, users_of
from ..base import MXNetError
from .tape import NOT_RECORDED, Variable, _heads, _history, _move_the_rest, _release_history, _run_engine, _write

if TYPE_CHECKING:
    from .._typing import Arrays
    from ..ndarray import NDArray


def grad(heads: Arrays, variables: Any, head_grads: NDArray | Sequence[NDArray | None] | None = None,
         retain_graph: bool | None = None, create_graph: bool = False, train_mode: bool = True) -> Any:
    """Gradients of `heads` with respect to `variables`, as a list of new arrays; no `.grad` is touched.

    With `create_graph` the result can itself be differentiated.
    """
    if interceptors and (scope := entering('grad')) is not None:
        with scope:
            return grad(heads, variables, head_grads, retain_graph, create_graph, train_mode)
    variables = [variables] if isinstance(variables, NDArrayBase) else list(variables)
    if not variables:
        raise AssertionError('grad: the list of variables is empty; it needs at least one array')
    heads, tensors, gradients, others = _heads(heads, head_grads)
    wanted = [v._link() if getattr(v, '_sparse', False) else _history(v, f'variable {i}')
              for i, v in enumerate(variables)]
    for i, tensor in enumerate(wanted):
        if not tensor.requires_grad:
            raise MXNetError(NOT_RECORDED.format(what=f'with respect to variable {i}'))
    retain_graph = create_graph if retain_graph is None else retain_graph
    if interceptors:
        differentiating(tensors)
    state.wanted = wanted
    try:
        results, commits = _run_engine(tensors, gradients, retain_graph, create_graph, wanted, False)
        history = History(tensors + others, Variable)
        known = [r for v, t in zip(variables, wanted, strict=True)
                 if (r := v._variable or getattr(t, '_provenance', None)) is not None]
        _move_the_rest(history, commits, [*wanted, *known])
        _write(commits, tensors, history, wanted, known)
    finally:
        state.wanted = None
    results = [r.to_dense() if r is not None and r.layout is not torch.strided else r for r in results]
    for i, result in enumerate(results):
        if result is None:
            if variables[i]._variable not in history.variables and not reaches(tensors, wanted[i]):
                raise MXNetError(f'cannot differentiate with respect to variable {i}: the heads do not depend on it')
            results[i] = torch.zeros_like(wanted[i], requires_grad=False)
    # torch may answer with a head's gradient itself, with one tensor twice, or with views of one
    given = {storage_id(t.untyped_storage()) for t in (*tensors, *gradients, *wanted)}
    for i, result in enumerate(results):
        memory = storage_id(result.untyped_storage())
        if memory in given or users_of(result) > ALONE:
            results[i] = result = result.clone(memory_format=torch.contiguous_format)
        given.add(memory)
    if create_graph:
        # of a linear function: a constant, yet its gradient is to be zero and not an error
        results = [r if r.requires_grad else no_gradient(lambda *_, r=r: r.clone(), *wanted) for r in results]
    if not retain_graph:
        _release_history(heads, history)
    return [wrap(r.contiguous() if v.meta().dtype.is_floating_point else r.to(v.meta().dtype), v._ctx, v._dense)
            for r, v in zip(results, variables, strict=True)]
