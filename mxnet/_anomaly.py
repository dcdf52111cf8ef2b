"""Finds the operator that made the first NaN: `autograd.detect_anomaly()`.

An interceptor (_dispatch.py) of the calling thread.  It looks at the results of every recorded call, and puts hooks on
the nodes of torch's graph, which look at gradients; the hooks are gone when the graph is.
"""
from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from ._array import describe
from ._dispatch import ANOMALY, Interceptor, install, remove
from .base import MXNetError

if TYPE_CHECKING:
    from torch.autograd.graph import Node

    from ._array import NDArrayBase
    from ._ops.core.table import Operator

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep


# ---------------------------------------------------------------------- NaN
class detect_anomaly(Interceptor):
    """A scope in which the operator that makes the first NaN is an error that names it.

    It must enclose both the recorded computation and `backward`, and it is slow: for finding out, not for training.

    >>> x = mx.nd.array([0.0, 1.0])
    >>> x.attach_grad()
    >>> with mx.autograd.detect_anomaly():
    ...     with mx.autograd.record():
    ...         y = (x * mx.nd.sqrt(x)).sum()
    ...     y.backward()         # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    mxnet.base.MXNetError: the gradient of operator sqrt(data=float32(2,)@cpu(0)) contains the first NaN of the...
    """

    rank: int
    whole_process: bool
    rank, whole_process = ANOMALY, False

    def __enter__(self) -> detect_anomaly:
        install(self)
        return self

    def __exit__(self, *exc: Any) -> None:
        remove(self)

    def ran(self, op: Operator, inputs: Sequence[NDArrayBase | None], attributes: dict[str, Any],
            results: Sequence[torch.Tensor]) -> None:
        text = f'operator {op.name}({_arguments(op, inputs, attributes)})'
        where = _caller()
        given = [x.materialize() for x in inputs if x is not None]
        if any(_has_nan(r) for r in results) and not any(_has_nan(t) for t in given):
            raise MXNetError(f'{text} made the first NaN{where}')
        known = {t.grad_fn for t in given}
        for result in results:
            _mark(result.grad_fn, known, f'the gradient of {text}', where)

    def differentiate(self, heads: Sequence[torch.Tensor]) -> None:
        for head in heads:
            if _has_nan(head.detach()):
                raise MXNetError('an array that is about to be differentiated has a NaN in it, which came in with the '
                                 'data: no operator recorded under detect_anomaly made it')
            # what is left: indexing, Functions, and whatever was recorded outside of this scope
            _mark(head.grad_fn, set(), "torch's {name}", '')


def _mark(node: Node | None, known: set[Node | None], text: str, where: str) -> None:
    """Puts a hook on a node and on those below it, down to nodes that are known or have one."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node is None or node in known:
            continue
        metadata: Any = node.metadata           # a dict; torch's annotation has a method that gives one
        if 'mxnet.anomaly' in metadata:
            continue
        known.add(node)
        if node.name().endswith('AccumulateGrad'):
            continue
        metadata['mxnet.anomaly'] = True
        node.register_hook(_look(text.replace('{name}', node.name()), where))
        waiting += [below for below, _ in node.next_functions]


def _look(text: str, where: str) -> Callable[..., None]:
    def hook(results: Sequence[torch.Tensor | None], gradients: Sequence[torch.Tensor | None]) -> None:
        if any(_has_nan(r) for r in results) and not any(_has_nan(g) for g in gradients):
            raise MXNetError(f'{text} contains the first NaN of the backward pass{where}')
    return hook


def _has_nan(tensor: torch.Tensor | None) -> bool:
    return tensor is not None and tensor.is_floating_point() and bool(tensor.isnan().any())


def _arguments(op: Operator, inputs: Sequence[NDArrayBase | None], attributes: dict[str, Any]) -> str:
    names = op.inputs if op.variadic is None else [f'arg{i}' for i in range(len(inputs))]
    given = [f'{n}={describe(x)}' for n, x in zip(names, inputs, strict=False) if x is not None]
    return ', '.join(given + [f'{k}={v!r}' for k, v in attributes.items() if k in op.attributes])


def _caller() -> str:
    """Where the program itself called, as text."""
    for frame in reversed(traceback.extract_stack()):
        if not frame.filename.startswith((_PACKAGE, _TORCH)):
            return f'; called in {frame.filename}, line {frame.lineno}: {frame.line}'
    return ''
