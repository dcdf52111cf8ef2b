"""Operators written in Python: a `CustomOp` that computes, a `CustomOpProp` that describes it, `register` for its name.

>>> class Square(mx.operator.CustomOp):
...     def forward(self, is_train, req, in_data, out_data, aux):
...         self.assign(out_data[0], req[0], in_data[0] * in_data[0])
...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
...         self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])
>>> @mx.operator.register('my_square')
... class SquareProp(mx.operator.CustomOpProp):
...     def create_operator(self, ctx, in_shapes, in_dtypes):
...         return Square()
>>> mx.nd.Custom(mx.nd.array([1, 2, 3]), op_type='my_square').asnumpy().tolist()
[1.0, 4.0, 9.0]

`mx.sym.Custom` uses it in graphs.  The code runs in the thread that calls it (gradients on a GPU: in torch's), so it
may call anything, and nothing waits for a worker that another lock could stop.
"""
from __future__ import annotations

import collections
import ctypes
import itertools
import os
import traceback
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy
import torch

from ._array import wrap
from ._autograd import _Bridge, _Scope, _Switches
from ._names import set_by_init
from ._names import suggest_names as _suggest_names
from ._ops.control.custom import MAKERS
from ._ops.core.attributes import Choice, dtype_flag
from ._ops.core.dtypes import NAME, NUMPY, torch_dtype
from ._ops.core.integer_gradients import integers_as_constant
from ._ops.core.table import NAMES
from ._ops.core.traceable import CannotTrace
from ._state import state
from ._typing import any_signature
from .base import MXNetError, NDArrayHandle
from .context import current_context
from .ndarray import NDArray, _interop
from .symbol import Custom

if TYPE_CHECKING:
    from .symbol import Symbol

# the last three, programs that say `from mxnet.operator import *` find here
__all__ = ['CustomOp', 'CustomOpProp', 'NDArrayOp', 'NumpyOp', 'OperatorArguments', 'PythonOp',
           'get_all_registered_operators', 'get_operator_arguments', 'register', 'NDArray', 'NDArrayHandle', 'ctypes']

_Class = TypeVar('_Class', bound=type)

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


# ---------------------------------------------------------------------- what programs subclass
class CustomOp:
    """What a custom operator computes: programs override `forward` and `backward`."""

    def forward(self, is_train: Any, req: Any, in_data: Any, out_data: Any, aux: Any) -> Any:
        """Computes `out_data` from `in_data`, and may change `aux`.

        All three are lists of arrays; `req` says for each output how to store it: see `assign`.
        """

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        """Computes `in_grad`, the gradients of the inputs, from `out_grad`, those of the outputs."""

    def assign(self, dst: Any, req: Any, src: Any) -> Any:
        """Stores `src` in the array `dst` as `req` says: 'write' (or 'inplace'), 'add' or 'null'."""
        everything = () if not dst.ndim else slice(None)
        if req in ('write', 'inplace'):
            dst[everything] = src
        elif req == 'add':
            dst[everything] += src


class CustomOpProp:
    """What a custom operator is: the names of its inputs, outputs and states, their shapes and dtypes.

    The constructor gets the keyword arguments of `nd.Custom` and `sym.Custom`, all as texts.
    """

    need_top_grad_: Any = set_by_init()

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """Names of the inputs."""
        return ['data']

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return ['output']

    def list_auxiliary_states(self) -> list[str]:
        """Names of the states, which come after the inputs in a call."""
        return []

    @any_signature
    def infer_shape(self, in_shape: Any) -> Any:
        """(shapes of the inputs, of the outputs, of the states) from what is known of the inputs' (unknown: [])."""
        return in_shape, [in_shape[0]] * len(self.list_outputs()), []

    @any_signature
    def infer_type(self, in_type: Any) -> Any:
        """(dtypes of the inputs, of the outputs, of the states) from the inputs'."""
        return (in_type, [in_type[0]] * len(self.list_outputs()),
                [in_type[0]] * len(self.list_auxiliary_states()))

    def infer_storage_type(self, in_stype: Any) -> Any:
        """Storage types of inputs, outputs and states.  Arrays come dense here, whatever this says."""
        return in_stype, ['default'] * len(self.list_outputs()), ['default'] * len(self.list_auxiliary_states())

    def infer_storage_type_backward(self, ograd_stype: list[str], in_stype: Any, out_stype: Any, igrad_stype: Any,
                                    aux_stype: Any) -> Any:
        """Storage types of the arrays of `backward`.  They come dense here, whatever this says."""
        return tuple(['default'] * len(s) for s in (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype))

    def declare_backward_dependency(self, out_grad: Any, in_data: list[int], out_data: list[int]) -> list[int]:
        """The numbers, of those given, of what `backward` looks at.  All are kept for it, whatever this says."""
        return [*(out_grad if self.need_top_grad_ else ()), *in_data, *out_data]

    @any_signature
    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Any:
        """The `CustomOp` for inputs of these shapes and dtypes (as upstream's numbers) on a context.

        Called for every `nd.Custom`, and once for an executor, whose operator so keeps what it remembers.
        """
        return CustomOp()


def register(reg_name: str) -> Callable[[_Class], _Class]:
    """A decorator that makes a `CustomOpProp` class known under a name, the `op_type` of `nd.Custom` and `sym.Custom`.

    The operator's arrays are `mx.np.ndarray` if NumPy mode is on at this point.
    """
    def do_register(prop_cls):
        cls = _array_class()

        def make(arguments):
            try:
                prop = prop_cls(**arguments)
            except Exception as error:
                raise _failure(reg_name, f'{prop_cls.__name__}({", ".join(arguments)})', error) from error
            return Definition(reg_name, prop, cls)

        MAKERS[reg_name] = make
        return prop_cls
    return do_register


def _array_class():
    if state.np_array:
        from .numpy import ndarray
        return ndarray
    return NDArray


def _failure(op_type, what, error):
    """An error from inside a custom operator, with the line of the program that raised it."""
    where = ''
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_PACKAGE):
            where = f' in {frame.filename}, line {frame.lineno}, in {frame.name}: {frame.line}'
            break
    return MXNetError(f'custom operator {op_type!r}: {what} raised {type(error).__name__}: {error}{where}')


# ---------------------------------------------------------------------- what the table asks
class Definition:
    """One use of a custom operator: its prop, and what the table's entry wants to know of it."""

    def __init__(self, op_type: str, prop: Any, cls: type) -> None:
        self.op_type: str
        self.prop: Any
        self.op_type, self.prop, self._cls = op_type, prop, cls
        self.arguments: Any = self._ask('list_arguments')
        self.outputs: Any = self._ask('list_outputs')
        self.states: Any = self._ask('list_auxiliary_states')

    def _ask(self, method, *args):
        try:
            return list(getattr(self.prop, method)(*args))
        except Exception as error:
            raise _failure(self.op_type, f'{type(self.prop).__name__}.{method}', error) from error

    def _infer(self, method, given):
        """(of the inputs, of the outputs, of the states) from `infer_shape` or `infer_type`, counted."""
        found = self._ask(method, given)
        if len(found) == 2:
            found.append([])
        wanted = len(self.arguments), len(self.outputs), len(self.states)
        if len(found) != 3 or any(len(f) != n for f, n in zip(found, wanted, strict=True)):
            raise MXNetError(f'custom operator {self.op_type!r}: {type(self.prop).__name__}.{method} must return lists '
                             f'for {wanted[0]} inputs, {wanted[1]} outputs and {wanted[2]} states, not {found}')
        return found

    def complete_shapes(self, known: Any) -> Any:
        """Shapes of inputs and states that follow from those known: {name: shape}."""
        given = [list(known.get(name) or ()) for name in self.arguments]
        try:
            arguments, _, states = self._infer('infer_shape', given)
        except MXNetError:
            if all(given) and not any(0 in shape for shape in given):
                raise
            return {}                   # it needs to know more
        names = (*self.arguments, *self.states)
        return {n: tuple(s) for n, s in zip(names, (*arguments, *states), strict=True) if len(s)}

    def _outputs(self, shapes, dtypes):
        """[(shape, torch dtype)] of the outputs, once all inputs are known."""
        inferred, outputs, states = self._infer('infer_shape', [list(s) for s in shapes[:len(self.arguments)]])
        for name, given, wanted in zip((*self.arguments, *self.states), shapes, (*inferred, *states), strict=True):
            if tuple(given) != tuple(wanted):
                raise MXNetError(f'custom operator {self.op_type!r}: {name} has shape {tuple(given)}, but its '
                                 f'infer_shape requires {tuple(wanted)}')
        types = [NUMPY[NAME[d]] for d in dtypes[:len(self.arguments)]]
        _, found, _ = self._infer('infer_type', types)
        return [(tuple(s), torch_dtype(d)) for s, d in zip(outputs, found, strict=True)]

    def run(self, data: Any, training: bool, site: Any) -> Any:
        """The output tensors."""
        if len(data) != len(self.arguments) + len(self.states):
            raise MXNetError(f'custom operator {self.op_type!r} takes {len(self.arguments)} inputs '
                             f'({", ".join(self.arguments)}) and {len(self.states)} states ({", ".join(self.states)}); '
                             f'{len(data)} arrays were given')
        shapes, dtypes = [tuple(t.shape) for t in data], [t.dtype for t in data]
        outputs = self._outputs(shapes, dtypes)
        data = [integers_as_constant(t) for t in data]
        device = data[0].device if data else None
        if device is not None and device.type == 'meta':
            return tuple(torch.empty(shape, dtype=dtype, device=device) for shape, dtype in outputs)
        # torch's stand-ins for tensors: somebody traces
        if any(type(t) is not torch.Tensor for t in (*data, torch.empty(0))):
            raise CannotTrace(f'custom operator {self.op_type!r} runs code of the program')
        ctx = site.context if site is not None else None
        if ctx is None:
            ctx = _interop.context_of(data[0]) if data else current_context()
        arguments, states = data[:len(self.arguments)], data[len(self.arguments):]
        operator = self._operator(ctx, shapes, dtypes, site)
        call = _Call(self.op_type, operator, ctx, self._cls, training, arguments, states, outputs)
        if torch.is_grad_enabled() and any(t.requires_grad for t in arguments):
            return _Bridge.apply(call, *arguments)
        return call.forward(arguments)

    def _operator(self, ctx, shapes, dtypes, site):
        def create():
            count = len(self.arguments)
            try:
                return self.prop.create_operator(ctx, [list(s) for s in shapes[:count]],
                                                 [dtype_flag(d) for d in dtypes[:count]])
            except Exception as error:
                raise _failure(self.op_type, f'{type(self.prop).__name__}.create_operator', error) from error

        if site is None or site.kept is None:
            return create()
        key = ctx, tuple(shapes), tuple(dtypes)
        if key not in site.kept:
            site.kept[key] = create()
        return site.kept[key]


class _Call:
    """One call of a custom operator: its two halves, on arrays."""

    def __init__(self, op_type, operator, ctx, cls, training, arguments, states, outputs):
        self.op_type, self.operator, self.ctx, self.cls, self.training = op_type, operator, ctx, cls, training
        self.needed = [t.requires_grad for t in arguments]
        self.aux = self._arrays(states)
        self.outputs = outputs
        self.device = ctx.torch_device
        self.switches = _Switches()

    def _arrays(self, tensors):
        return [wrap(t.detach(), self.ctx, self.cls) for t in tensors]

    def _zeros(self, described):
        return [wrap(torch.zeros(shape, dtype=dtype, device=self.device), self.ctx, self.cls)
                for shape, dtype in described]

    def _call(self, half, **arguments):
        try:
            with self.switches, _Scope(False, self.training), self.ctx:
                getattr(self.operator, half)(**arguments)
        except Exception as error:
            raise _failure(self.op_type, f'{type(self.operator).__name__}.{half}', error) from error

    def forward(self, tensors):
        self.in_data, self.out_data = self._arrays(tensors), self._zeros(self.outputs)
        self._call('forward', is_train=self.training, req=['write'] * len(self.out_data), in_data=list(self.in_data),
                   out_data=list(self.out_data), aux=list(self.aux))
        # New tensors on the same memory: torch makes them know the graph, which must not hold itself.  They count
        # writes by themselves: those of the operator come before anything has read an output (_paused_writes.py).
        return tuple(x.materialize().data for x in self.out_data)

    def backward(self, gradients):
        out_grad = self._zeros(self.outputs)
        for array, gradient in zip(out_grad, gradients, strict=True):
            if gradient is not None:
                array._rebind(gradient.detach().contiguous())
        in_grad = self._zeros([(tuple(x.meta().shape), x.meta().dtype) for x in self.in_data])
        self._call('backward', req=['write' if n else 'null' for n in self.needed], out_grad=out_grad,
                   in_data=list(self.in_data), out_data=list(self.out_data), in_grad=list(in_grad), aux=list(self.aux))
        return tuple(x.materialize() if n else None for x, n in zip(in_grad, self.needed, strict=True))


register('custom_op')(CustomOpProp)


# ---------------------------------------------------------------------- the forms before CustomOp
class PythonOp:
    """What NumpyOp and NDArrayOp have in common: one object that is an operator, called on symbols."""

    _numbers = itertools.count()

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad
        warnings.warn(f'{type(self).__name__} is an old form; use CustomOp and CustomOpProp', DeprecationWarning,
                      stacklevel=2)

    def __call__(self, *args: Any, **kwargs: Any) -> Symbol:
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args: Any, **kwargs: Any) -> Any:
        """The symbol of this operator applied to symbols."""
        raise NotImplementedError(f'{type(self).__name__} has no get_symbol')

    def _symbol(self, adapter, args, kwargs):
        op_type = f'_{type(self).__name__}_{next(self._numbers)}'
        MAKERS[op_type] = lambda arguments: Definition(op_type, _PythonOpProp(self, adapter), NDArray)
        return Custom(*args, op_type=op_type, **kwargs)

    def forward(self, in_data: Any, out_data: Any) -> None:
        """Computes the outputs; copies the input unless overridden."""
        out_data[0][:] = in_data[0]

    def backward(self, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any) -> None:
        """Computes the gradients of the inputs; ones unless overridden."""
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape: Any) -> Any:
        """(shapes of the inputs, shapes of the outputs)."""
        return in_shape, [in_shape[0]]

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return ['output']

    def list_arguments(self) -> list[str]:
        """Names of the inputs."""
        return ['data']

    def need_top_grad(self) -> bool:
        """Whether `backward` looks at the gradients of the outputs."""
        return self.need_top_grad_


class NDArrayOp(PythonOp):
    """An operator in Python on arrays; an old form of `CustomOp`."""

    def get_symbol(self, *args: Any, **kwargs: Any) -> Symbol:
        """The symbol of this operator applied to symbols."""
        return self._symbol(_OnArrays, args, kwargs)

    def declare_backward_dependency(self, out_grad: Any, in_data: list[int], out_data: list[int]) -> list[int]:
        """The numbers, of those given, of what `backward` looks at."""
        return [*(out_grad if self.need_top_grad() else ()), *in_data, *out_data]


class NumpyOp(PythonOp):
    """An operator in Python on NumPy arrays; an old form of `CustomOp`."""

    def get_symbol(self, *args: Any, **kwargs: Any) -> Symbol:
        """The symbol of this operator applied to symbols."""
        return self._symbol(_OnNumpy, args, kwargs)


class _OnArrays(CustomOp):
    def __init__(self, python_op):
        self._op = python_op

    def forward(self, is_train, req, in_data, out_data, aux):
        self._op.forward(in_data=in_data, out_data=out_data)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self._op.backward(out_grad=out_grad, in_data=in_data, out_data=out_data, in_grad=in_grad)


class _OnNumpy(_OnArrays):
    def forward(self, is_train, req, in_data, out_data, aux):
        results = _numpy(out_data)
        self._op.forward(in_data=_numpy(in_data), out_data=results)
        _store(out_data, results)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        results = _numpy(in_grad)
        self._op.backward(out_grad=_numpy(out_grad), in_data=_numpy(in_data), out_data=_numpy(out_data),
                          in_grad=results)
        _store(in_grad, results)


def _numpy(arrays):
    return [x.asnumpy() for x in arrays]


def _store(arrays, values):
    for array, value in zip(arrays, values, strict=True):
        array[:] = numpy.asarray(value)


class _PythonOpProp(CustomOpProp):
    def __init__(self, python_op, adapter):
        super().__init__(python_op.need_top_grad())
        self._op, self._adapter = python_op, adapter
        vars(self).update(list_arguments=python_op.list_arguments, list_outputs=python_op.list_outputs,
                          infer_shape=python_op.infer_shape)

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return self._adapter(self._op)


# ---------------------------------------------------------------------- looking into the table
def get_all_registered_operators() -> list[str]:
    """The names of all operators, aliases included."""
    return sorted(NAMES)


OperatorArguments: Any = collections.namedtuple('OperatorArguments', ['narg', 'names', 'types'])


def get_operator_arguments(op_name: str) -> Any:
    """How many arguments an operator takes, their names, and what each of them may be.

    >>> mx.operator.get_operator_arguments('Activation').types
    ['NDArray-or-Symbol', "{'relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'}, required"]
    """
    op = NAMES.get(op_name)
    if op is None:
        raise MXNetError(f'there is no operator {op_name}')
    inputs = op.inputs if op.variadic is None else ('data',)
    kind = 'NDArray-or-Symbol' if op.variadic is None else 'NDArray-or-Symbol[]'
    names, types = list(inputs), [kind] * len(inputs)
    for attribute in op.attributes.values():
        if isinstance(attribute.kind, Choice):
            text = '{' + ', '.join(repr(o) for o in sorted(attribute.kind.options, key=str)) + '}'
        else:
            text = attribute.kind.accepts
        names.append(attribute.name)
        types.append(f'{text}, required' if attribute.required else f'{text}, optional, default={attribute.default!r}')
    return OperatorArguments(len(names), names, types)


_suggest_names(globals())
