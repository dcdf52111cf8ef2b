"""What tracing stands on: every ATen call, stand-ins for tensors, and what is known of an operator.

Without torch's dispatch mode, the calls that a stand-in takes part in are seen, and no others.  Arrays that a program
makes of nothing are constants of the trace then, and a program that draws random numbers cannot be traced.
"""
from __future__ import annotations

import contextlib
from functools import cache
from typing import Any

import torch

from .switch import private

OpOverload: Any = type(torch.ops.aten.add.Tensor)       # Any: what its instances have is found out below
META = torch.device('meta')

with contextlib.suppress(ImportError):
    import torch.utils._python_dispatch


class SubclassMode:
    """A context without a dispatch mode: stand-ins hand the calls that they take part in to `current`.

    One trace is made at a time (`_graph/codegen/plan.py`), and torch's engine may compute gradients in other threads.
    """

    current: Any = None

    def __enter__(self) -> SubclassMode:
        self._outer, SubclassMode.current = SubclassMode.current, self
        return self

    def __exit__(self, *_: Any) -> None:
        SubclassMode.current = self._outer


DispatchMode: Any = private('utils._python_dispatch.TorchDispatchMode', SubclassMode)
SEES_ALL = DispatchMode is not SubclassMode
# a mode for calls on meta tensors, which have no stand-ins; without it, torch's own rules answer
MetaMode: Any = DispatchMode if SEES_ALL else contextlib.nullcontext

# how many modes see the calls of this thread; where torch cannot tell, one may
modes = private('_C._len_torch_dispatch_stack', lambda: 1)

# a context in which calls are no part of a trace
no_dispatch = private('_C._DisableTorchDispatch', contextlib.nullcontext)

# a context in which torch's autograd need not look at calls; they must not need it
below_autograd = private('_C._AutoDispatchBelowAutograd', contextlib.nullcontext)


# ---------------------------------------------------------------------- stand-ins
# for `__torch_function__` of a class whose calls go to `__torch_dispatch__` only.  The public one does the same, later.
no_torch_function = private('_C._disabled_torch_function_impl', torch.Tensor.__dict__['__torch_function__'])


_wrap = private('Tensor._make_wrapper_subclass', None)


def stand_in(cls: Any, tensor: torch.Tensor, device: torch.device | None = None) -> Any:
    """A tensor of class `cls` with shape, strides, dtype and device of another one; nothing reads its memory."""
    if _wrap is not None:
        return _wrap(cls, tensor.shape, strides=tensor.stride(), storage_offset=tensor.storage_offset(),
                     dtype=tensor.dtype, device=device or tensor.device)
    if cls.needs_memory:
        return tensor.data.as_subclass(cls)
    offset = tensor.storage_offset()
    length = offset + 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n)
    made = torch.empty(length, dtype=tensor.dtype, device=META).as_strided(tensor.shape, tensor.stride(), offset)
    made = made.as_subclass(cls)
    made.said_device = torch.device(device or tensor.device)
    return made


class StandIn(torch.Tensor):
    """The base of stand-ins.

    needs_memory: whether torch may look at the memory behind, where a stand-in cannot be without
    """

    needs_memory = True
    __torch_function__ = no_torch_function


class ShadowBase(StandIn):
    """The base of stand-ins without memory: where they must be on the meta device, they say what they stand for."""

    needs_memory = False

    if _wrap is None:
        device = property(lambda self: self.said_device)                        # type: ignore[assignment]
        is_cuda = property(lambda self: self.said_device.type == 'cuda')        # type: ignore[assignment]
        is_meta = property(lambda self: self.said_device.type == 'meta')        # type: ignore[assignment]


# ---------------------------------------------------------------------- operators
class Signature:
    """What is known of an operator.

    name: 'aten::add_', without its overload
    mutable: whether it writes to an argument; written: [(position, name)] of these
    aliases: whether a result may share memory with an argument
    gives_numbers: whether a result is a Python number
    gives_nothing: whether there is no result: a call checks values, and raises
    """

    __slots__ = ('name', 'mutable', 'written', 'aliases', 'gives_numbers', 'gives_nothing')

    def __init__(self, operator: Any) -> None:
        schema = _schema_of(operator)
        self.name = schema.name
        self.mutable = schema.is_mutable
        self.written = [(i, a.name) for i, a in enumerate(schema.arguments)
                        if a.alias_info is not None and a.alias_info.is_write]
        self.aliases = any(r.alias_info is not None for r in schema.returns)
        self.gives_numbers = any(str(r.type) in ('number', 'float') for r in schema.returns)
        self.gives_nothing = not schema.returns


class NamedSignature(Signature):
    """The same, from the operator's public name, tags and `is_view`.

    An operator whose name ends with an underscore writes to its first argument.  Overloads that write to arguments
    with names (`out`) are not told apart: `written` is empty for them, and nothing of ours calls one.
    """

    def __init__(self, operator: Any) -> None:
        name, _, overload = operator.name().partition('.')
        self.name = name
        in_place = name.endswith('_') and not name.endswith('__')
        self.mutable = in_place or 'out' in overload.split('_') or overload == 'grad_input'
        self.written = [(0, 'self')] if in_place else []
        self.aliases = operator.is_view or in_place or self.mutable
        self.gives_numbers = torch.Tag.data_dependent_output in operator.tags
        self.gives_nothing = any(part in name for part in ('_check_errors', '_assert', 'sym_constrain'))


_has_schema = private('ops.aten.add.Tensor._schema', None, lambda schema: hasattr(schema, 'is_mutable')) is not None


def _schema_of(operator: Any) -> Any:
    return operator._schema


@cache
def signature(operator: Any) -> Signature:
    """What is known of an operator, an `OpOverload`."""
    return Signature(operator) if _has_schema else NamedSignature(operator)


# `OpOverload.__call__` is Python; the builtin behind it takes the same arguments and is called faster
_has_builtin = private('ops.aten.add.Tensor._op', None, callable) is not None


def builtin_of(operator: Any) -> Any:
    """A function like the operator, that is called faster."""
    return operator._op if _has_builtin else operator
