"""Parameters of blocks: arrays on one or several contexts, perhaps of a shape that the first batch will tell.

`ParameterDict` is re-exported here.
"""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy

from .. import autograd, initializer, ndarray
from .._deferred_compute import untraced
from .._dispatch import interceptors, tracer
from .._guard import invalidations
from .._kinds import explain_methods as _explain_methods
from .._names import explain_arguments, kind_of, not_an_array
from .._names import suggest_names as _suggest_names
from .._ops.core.dtypes import dtype_name
from ..base import FileError, MXNetError
from ..context import Context, cpu, current_context, given_context
from ..ndarray import NDArray
from ..symbol import Symbol
from ..util import is_np_array, is_np_shape

if TYPE_CHECKING:
    from .._typing import ArrayLike, Contexts, DType, Gradient, Init, Shape
    from ..ndarray import RowSparseNDArray

__all__ = ['Constant', 'DeferredInitializationError', 'Parameter', 'ParameterDict', 'tensor_types']

tensor_types: Any = (Symbol, NDArray)

UNIFORM = initializer.Uniform()

UNINITIALIZED = ("Parameter '{name}' has not been initialized. Call net.initialize() before training or prediction; "
                 'parameters created after that call must be initialized separately.')
DEFERRED = ("Parameter '{name}' has not been initialized yet, because its shape {shape} is not fully known: it is "
            'inferred from the first batch through its block. If the network has run already, that block was never '
            'called.{hint}')
ELSEWHERE = "Parameter '{name}' was not initialized on context {ctx}; it is on {there}."


class _BadGradReq(ValueError, AssertionError):
    """A `grad_req` that does not exist."""


class DeferredInitializationError(MXNetError):
    """A parameter is used before its shape is known."""


class _Arrays(list):
    """The arrays of a parameter.  Programs put others there, `param._data[0] = sample`, to compute with those."""

    __slots__ = ('owner',)
    owner: ref[Parameter]

    def __setitem__(self, index, array):
        super().__setitem__(index, array)
        param = self.owner()
        if param is not None and param._data is self:
            param._hold(list(self))         # guards compare the identity of the list

    def __reduce__(self):
        return list, (list(self),)


def _contexts(ctx):
    if ctx is None or isinstance(ctx, (Context, str)):
        return [given_context(ctx)]
    return [given_context(each) for each in (ctx if isinstance(ctx, (list, tuple)) else [ctx])]


def fits(partial: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether a shape agrees with one that has unknown lengths."""
    return len(partial) == len(shape) and all(a in (0, -1, b) for a, b in zip(partial, shape, strict=True))


@explain_arguments
class Parameter:
    """A named array that training changes.

    `shape` may have unknown lengths (0, or -1 in np mode); the array is then made when the first batch shows them.  On
    several contexts there is one copy each.
    """

    def __init__(self, name: str, grad_req: str = 'write', shape: Shape | None = None, dtype: DType = numpy.float32,
                 lr_mult: float = 1.0, wd_mult: float = 1.0, init: Init | None = None,
                 allow_deferred_init: bool = False, differentiable: bool = True, stype: str = 'default',
                 grad_stype: str = 'default') -> None:
        for what, value in (('stype', stype), ('grad_stype', grad_stype)):
            if value not in ('default', 'row_sparse', 'csr'):
                raise AssertionError(f"{what} of Parameter '{name}' must be default, row_sparse or csr, not {value!r}")
        if init is not None and not isinstance(init, (str, initializer.Initializer)) and not callable(init):
            raise TypeError(f"Parameter '{name}': init must be a name or an Initializer, such as mx.init.Xavier(), not "
                            f'{kind_of(init)}')
        self.name = name
        self._shape = (shape,) if isinstance(shape, int) else None if shape is None else tuple(shape)
        for length in self._shape or ():
            if not hasattr(length, '__index__'):
                raise TypeError(f"Parameter '{name}': shape must have ints, but {self._shape} has {kind_of(length)}")
        self._dtype = dtype
        self.lr_mult, self.wd_mult = lr_mult, wd_mult
        self.init = init
        self._allow_deferred_init = allow_deferred_init
        self._differentiable = differentiable
        self._stype, self._grad_stype = stype, grad_stype
        self._grad_req: Any = None
        self._data: Any = None         # one array for each of `_ctx_list`, once they are there
        self._ctx_list: Any = None          # a list of contexts, once there are arrays
        self._by_ctx: dict[Any, Any] = {}              # dense arrays by context; a single one also under None
        self._deferred: Any = None          # (init, contexts, default init, data), until the shape is known
        self._var: Any = None
        self._trainer = None
        self.grad_req = grad_req

    def __repr__(self) -> str:
        return f'{type(self).__name__} {self.name} (shape={self.shape}, dtype={self.dtype})'

    def __getstate__(self) -> Any:
        return {**self.__dict__, '_trainer': None}          # a copy is not among the parameters that it updates

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)
        if self._data is not None:
            self._hold(list(self._data))
            self._attach_gradients()                        # arrays are copied without theirs

    # ------------------------------------------------------------------ properties
    @property
    def lr_mult(self) -> float:
        """What the learning rate is multiplied with."""
        return self._lr_mult

    @lr_mult.setter
    def lr_mult(self, factor: float) -> None:
        self._lr_mult = factor
        invalidations.count += 1

    @property
    def wd_mult(self) -> float:
        """What the weight decay is multiplied with."""
        return self._wd_mult

    @wd_mult.setter
    def wd_mult(self, factor: float) -> None:
        self._wd_mult = factor
        invalidations.count += 1

    @property
    def grad_req(self) -> str:
        """'write', 'add' or 'null'."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req not in ('write', 'add', 'null'):
            raise _BadGradReq(f"grad_req of Parameter '{self.name}' must be write, add or null, not {req!r}")
        if not self._differentiable:
            req = 'null'
        if req == self._grad_req:
            return
        self._grad_req = req
        if self._data is not None:
            self._attach_gradients()

    @property
    def dtype(self) -> Any:
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: DType) -> None:
        self.cast(dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        if self._shape is None:
            return None      # type: ignore[return-value]
        if is_np_shape():
            return tuple(-1 if n in (0, -1) and not self._data else n for n in self._shape)
        return self._shape

    @shape.setter
    def shape(self, new: Any) -> None:
        new = tuple(new)
        old = self._shape
        if old is not None and not fits(old, new):
            raise AssertionError(f"Parameter '{self.name}' has shape {old}; {new} does not fit it")
        self._shape = new

    @property
    def stype(self) -> str:
        return self._stype

    # ------------------------------------------------------------------ the arrays
    def _known(self):
        return self._shape is not None and all(n > 0 for n in self._shape) or self._shape == () and is_np_shape()

    def _missing(self, hint=''):
        if self._deferred is not None:
            return DeferredInitializationError(DEFERRED.format(name=self.name, shape=self._shape, hint=hint))
        return RuntimeError(UNINITIALIZED.format(name=self.name))

    def _array(self, ctx):
        """The array on a context, dense or sparse."""
        if self._data is None:
            raise self._missing()
        if ctx is None:
            if len(self._data) == 1:
                return self._data[0]
            ctx = current_context()
        for place, array in zip(self._ctx_list, self._data, strict=True):
            # pinned and shared memory is the CPU's
            if place is ctx or place.device_typeid & ctx.device_typeid & 1 and place.device_id == ctx.device_id:
                return array
        raise RuntimeError(ELSEWHERE.format(name=self.name, ctx=ctx, there=self._ctx_list))

    def _arrays(self):
        """The arrays on all contexts, dense or sparse."""
        if self._data is None:
            raise self._missing()
        return list(self._data)

    def _check_dense(self, what):
        if self._stype != 'default':
            raise RuntimeError(f"Parameter '{self.name}' is {self._stype}, and {what}() is for dense ones; use "
                               'row_sparse_data(row_id) or list_row_sparse_data(row_id)')

    def data(self, ctx: Contexts | None = None) -> NDArray:
        """The array on a context (the current one among several)."""
        if interceptors and (tracing := tracer()) is not None:
            return tracing.parameter(self, ctx)
        found = self._by_ctx.get(None)              # the only one: contexts are hashed by a function
        if found is not None and (ctx is None or ctx is found._ctx):
            return found
        found = self._by_ctx.get(ctx)
        if found is not None:
            return found
        self._check_dense('data')
        return self._array(ctx)

    def list_data(self) -> list[NDArray]:
        """The arrays on all contexts."""
        self._check_dense('list_data')
        return self._arrays()

    def _check_gradient(self):
        if self._data is not None and self._grad_req == 'null':
            raise RuntimeError(f"there is no gradient of Parameter '{self.name}': its grad_req is 'null'")

    def grad(self, ctx: Context | None = None) -> Gradient:
        """The gradient on a context."""
        self._check_gradient()
        return self._array(ctx).grad

    def list_grad(self) -> list[NDArray]:
        """The gradients on all contexts."""
        self._check_gradient()
        return [a.grad for a in self._arrays()]

    def list_ctx(self) -> list[Context]:
        """The contexts that the parameter is, or will be, on."""
        if self._data is not None:
            return self._ctx_list
        if self._deferred is not None:
            return self._deferred[1]
        raise RuntimeError(UNINITIALIZED.format(name=self.name))

    def row_sparse_data(self, row_id: NDArray) -> RowSparseNDArray:
        """The rows `row_id` of a row_sparse parameter, on the context of `row_id`.  The Trainer's KVStore has all."""
        return self._rows(row_id, [self._array(row_id.context)])[0]

    def list_row_sparse_data(self, row_id: NDArray) -> list[NDArray]:
        """The rows `row_id` of a row_sparse parameter, on all contexts."""
        return self._rows(row_id, self._arrays())

    def _rows(self, row_id, arrays):
        if self._stype != 'row_sparse':
            raise RuntimeError(f"Parameter '{self.name}' has stype {self._stype}; row_sparse_data is for row_sparse "
                               'ones')
        if not isinstance(row_id, NDArray):
            raise TypeError(f'row_id must be an array, not {kind_of(row_id)}')
        if self._trainer is None:
            raise RuntimeError(f"the rows of Parameter '{self.name}' are managed by a Trainer; create one "
                               'with this parameter first')
        with autograd.pause():
            self._trainer._row_sparse_pull(self, arrays, row_id)
        return arrays

    # ------------------------------------------------------------------ for classes that derive from it
    # GluonNLP's parameters with dropout copy the fields of another one, and have a `data` of their own
    @property
    def _deferred_init(self):
        return getattr(self, '_deferred', None) or ()

    @_deferred_init.setter
    def _deferred_init(self, value):
        self._deferred = tuple(value) or None

    @property
    def _grad(self):
        return None if self._data is None or self._grad_req == 'null' else [a.grad for a in self._data]

    @_grad.setter
    def _grad(self, arrays):
        pass                           # the arrays of `_data` have them

    @property
    def _ctx_map(self):
        """Numbers in `_ctx_list`, by `device_typeid & 1` and device."""
        found: list[list[int | None]] = [[], []]
        for number, ctx in enumerate(self._ctx_list or ()):
            row = found[ctx.device_typeid & 1]
            row += [None] * (ctx.device_id + 1 - len(row))
            row[ctx.device_id] = number
        return found

    @_ctx_map.setter
    def _ctx_map(self, found):
        pass                           # it follows from `_ctx_list`

    def _check_and_get(self, arrays, ctx):
        """The one of `arrays`, as many as there are contexts, that is on `ctx`; all of them where that is `list`."""
        if arrays is None:
            raise self._missing()
        if interceptors and arrays is self._data and ctx is not list and (tracing := tracer()) is not None:
            return tracing.parameter(self, ctx)
        return arrays if ctx is list else arrays[[a is self._array(ctx) for a in self._data].index(True)]

    # ------------------------------------------------------------------ initialization
    def initialize(self, init: Init | None = None, ctx: Contexts | None = None, default_init: Init = UNIFORM,
                   force_reinit: bool = False) -> None:
        """Makes the arrays; later, with the first batch, if the shape is not fully known.

        `init` (or the parameter's own) wins over `default_init`.
        """
        if self._data is not None and not force_reinit:
            warnings.warn(f"Parameter '{self.name}' is already initialized, so nothing is done. Pass force_reinit=True "
                          'to initialize again.', stacklevel=3)
            return
        self._data, self._by_ctx = None, {}
        invalidations.count += 1
        contexts = _contexts(ctx)
        if init is None:
            init = default_init if self.init is None else self.init
        if not self._known() and not self._allow_deferred_init:
            raise ValueError(f"Parameter '{self.name}' cannot be initialized: its shape {self.shape} is not fully "
                             'known')
        self._deferred = (init, contexts, default_init, None)
        if self._known():
            self._finish_deferred_init()

    def _finish_deferred_init(self):
        if self._deferred is None:
            return
        init, contexts, default_init, data = self._deferred
        if not self._known():
            raise DeferredInitializationError(DEFERRED.format(name=self.name, shape=self._shape, hint=(
                ' in_units, in_channels or the like tell it at once.')))
        self._deferred = None
        with untraced(), autograd.pause():
            if data is None:
                assert self._shape is not None      # `_known` has looked
                data = ndarray.zeros(self._shape, dtype=self._dtype, ctx=cpu(), stype=self._stype)
                if is_np_array() and self._stype == 'default':
                    data = data.as_np_ndarray()
                # named in the description, an initializer fills weights whatever the parameter's name ends in
                initializer.create(default_init)(initializer.InitDesc(self.name, {'__init__': init}), data)
            self._make(data, contexts)

    def _make(self, data, contexts):
        arrays = []
        for ctx in contexts:
            array = data.copyto(ctx)
            if is_np_array() and array.stype == 'default':
                array = array.as_np_ndarray()
            arrays.append(array.tostype(self._stype) if array.stype != self._stype else array)
        self._set_arrays(arrays, contexts)

    def _set_arrays(self, arrays, contexts):
        self._ctx_list = list(contexts)
        self._hold(arrays)
        self._attach_gradients()

    def _hold(self, arrays):
        """Takes arrays, one for each of `_ctx_list`."""
        self._data, self._by_ctx = _Arrays(arrays), {}
        self._data.owner = ref(self)
        invalidations.count += 1
        if self._stype == 'default':
            self._by_ctx = dict(zip(self._ctx_list, arrays, strict=True))
            if len(arrays) == 1:
                self._by_ctx[None] = arrays[0]

    def _attach_gradients(self):
        for array in self._data:
            if self._grad_req == 'null':
                array._variable = None      # what was recorded goes on with the one that it had then
                invalidations.count += 1
            else:
                array.attach_grad(self._grad_req, None if self._grad_stype == 'default' else self._grad_stype)

    def _load_init(self, data, ctx, cast_dtype=False, dtype_source='current'):
        """Takes the values of a loaded array."""
        if cast_dtype and dtype_source not in ('current', 'saved'):
            raise ValueError(f"dtype_source must be 'current' or 'saved', not {dtype_source!r}")
        if self._shape is not None:
            if not fits(self._shape, data.shape):
                raise FileError(f"Parameter '{self.name}' has shape {self._shape}, but the loaded array has "
                                f'{data.shape}')
        self._shape = tuple(data.shape)
        if self._dtype is not None and dtype_name(self._dtype) != dtype_name(data.dtype):
            if not cast_dtype:
                raise FileError(f"Parameter '{self.name}' has dtype {dtype_name(self._dtype)}, but the loaded "
                                f'array has {dtype_name(data.dtype)}; pass cast_dtype=True to convert it')
            if dtype_source == 'current':
                data = data.astype(self._dtype)
            else:
                self.cast(data.dtype)
        if self._data is None:
            contexts = self._deferred[1] if self._deferred is not None else None
            if ctx is not None and contexts is not None and set(_contexts(ctx)) != set(contexts):
                raise AssertionError(f"Parameter '{self.name}' was to be initialized on {contexts}, "
                                     f'but is loaded to {_contexts(ctx)}')
            self._deferred = None
            self._make(data, contexts if ctx is None and contexts is not None else
                       [cpu()] if ctx is None else _contexts(ctx))
        else:
            if ctx is not None and set(_contexts(ctx)) != set(self._ctx_list):
                raise AssertionError(f"Parameter '{self.name}' is on {self._ctx_list}, but is loaded to "
                                     f'{_contexts(ctx)}; call reset_ctx first')
            self.set_data(data)
        self._deferred = None

    def set_data(self, data: Any) -> None:
        """Sets the values, on all contexts."""
        if not hasattr(data, 'shape'):
            raise TypeError(not_an_array(f"set_data of Parameter '{self.name}': data", data))
        self.shape = data.shape
        if self._data is None:
            if self._deferred is None:
                raise RuntimeError(UNINITIALIZED.format(name=self.name))
            self._deferred = (*self._deferred[:3], data)
            if self._known():
                self._finish_deferred_init()
            return
        trainer = self._trainer
        if trainer is not None and trainer._kv_initialized and trainer._update_on_kvstore \
                and self not in trainer._params_to_init:
            trainer._reset_kvstore()          # its copy of the weights is out of date
        with autograd.pause():
            for array in self._data:
                other = isinstance(data, NDArray) and data.stype != self._stype
                array[:] = data.tostype(self._stype) if other else data

    def _set_trainer(self, trainer):
        if self._stype != 'default' and self._trainer and trainer and self._trainer is not trainer:
            raise RuntimeError(f"Parameter '{self.name}' of stype {self._stype} belongs to a Trainer already, and "
                               'cannot have two')
        self._trainer = trainer

    def reset_ctx(self, ctx: Contexts | None) -> None:
        """Moves the parameter to other contexts."""
        contexts = _contexts(ctx)
        if self._data is not None:
            data = self._reduce()
            with autograd.pause():
                self._make(data, contexts)
        elif self._deferred is not None:
            init, _, default_init, data = self._deferred
            self._deferred = (init, contexts, default_init, data)
        else:
            raise ValueError(f"Parameter '{self.name}' has not been initialized, so it is nowhere to be moved from")

    def zero_grad(self) -> None:
        """Sets the gradients to 0."""
        if self._data is None or self._grad_req == 'null':
            return
        for array in self._data:
            grad = array.grad
            if grad.stype == 'default':
                grad[:] = 0
            else:
                grad._clear()

    def cast(self, dtype: DType) -> None:
        """Converts values and gradients to another dtype."""
        self._dtype = dtype
        self._var = None
        if self._data is None:
            if self._deferred is not None and self._deferred[3] is not None:
                init, contexts, default_init, data = self._deferred
                self._deferred = (init, contexts, default_init, data.astype(dtype))
            return
        with autograd.pause():
            before = list(self._data)
            self._set_arrays([array.astype(dtype) for array in before], self._ctx_list)
            for array, old in zip(self._data, before, strict=True):
                if old.grad is not None and array.grad is not None:
                    old.grad.astype(dtype).copyto(array.grad)

    def _reduce(self):
        """The mean over the contexts, on the CPU."""
        arrays = self._arrays()
        if self._stype != 'default':
            data = arrays[0].copyto(cpu())
            if self._trainer is not None:
                with autograd.pause():
                    self._trainer._row_sparse_pull(self, [data], None)
            return data
        if len(arrays) == 1:
            return arrays[0].as_in_context(cpu())
        data = ndarray.add_n(*[a.as_nd_ndarray().as_in_context(cpu()) for a in arrays]) / len(arrays)
        return data.as_np_ndarray() if is_np_array() else data

    # ------------------------------------------------------------------ in graphs
    def var(self) -> Symbol:
        """The symbol that stands for the parameter in graphs."""
        if self._var is None:
            from .. import symbol
            self._var = symbol.var(self.name, shape=self.shape, dtype=self.dtype, lr_mult=self.lr_mult,
                                   wd_mult=self.wd_mult, init=self.init, stype=self._stype)
            if is_np_array():
                self._var = self._var.as_np_ndarray()
        return self._var


class Constant(Parameter):
    """A parameter that stays as it is.

    >>> c = mx.gluon.Constant('ratio', mx.nd.array([2]))
    >>> c.initialize()
    >>> float(c.data())
    2.0
    """

    def __init__(self, name: str, value: ArrayLike) -> None:
        array = value if isinstance(value, NDArray) else ndarray.array(value)
        self.value = array

        class Init(initializer.Initializer):
            """Copies the value."""

            def _init_weight(self, _, target):
                array.copyto(target)

        super().__init__(name, grad_req='null', shape=array.shape, dtype=array.dtype, init=Init())

    def __repr__(self) -> str:
        return f'Constant {self.name} (shape={self.shape}, dtype={self.dtype})'

    @property
    def grad_req(self) -> str:
        return 'null'

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        self._grad_req = 'null'
        if req != 'null':
            warnings.warn(f"Constant '{self.name}' has no gradient; its grad_req stays 'null'", stacklevel=2)


from ._parameter_dict import ParameterDict  # noqa: E402 - it needs Parameter

_explain_methods(Parameter, 'initialize set_data reset_ctx cast')
_suggest_names(globals())
