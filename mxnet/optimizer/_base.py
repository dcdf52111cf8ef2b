"""`Optimizer`, the base class: learning rates, weight decays, counts of updates, and the registry of names."""
from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy

from .._array import write
from .._kinds import explain_methods as _explain_methods
from .._names import explain_arguments, kind_of, near, set_by_init
from .._ops.core.dtypes import BFLOAT16
from ..ndarray import zeros
from ..util import is_np_array

if TYPE_CHECKING:
    from ..gluon.parameter import Parameter
    from ..lr_scheduler import LRScheduler
    from ..ndarray import NDArray
    from ..symbol import Symbol

_LOW_PRECISION = (numpy.float16, BFLOAT16)

LOW_PRECISION = ('{name} accumulates in float16 or bfloat16, which can cost accuracy or slow down convergence; '
                 'multi_precision=True keeps a float32 copy of the weights')
# printed on stdout, as upstream does: programs that read logs look for this line
RATE_TWICE = 'learning rate from ``lr_scheduler`` has been overwritten by ``learning_rate`` in optimizer.'
RATE_IS_SCHEDULED = ('the learning rate comes from lr_scheduler, so set_learning_rate cannot change it; '
                     'change optimizer.lr_scheduler.base_lr, or make the optimizer without a scheduler')


def is_list(index):
    """Whether a call is about several weights: then weights, gradients and states are lists, too."""
    return isinstance(index, (list, tuple))


def aggregation_size():
    """MXNET_OPTIMIZER_AGGREGATION_SIZE, the most weights to update in one call; 0 where it is not set."""
    return int(os.environ.get('MXNET_OPTIMIZER_AGGREGATION_SIZE') or 0)


def zeros_like(weight, stype='default'):
    """A state that starts at zero.  An `NDArray` even for a weight of `mx.np`: that is what state files hold."""
    return zeros(weight.shape, weight.context, weight.dtype, stype)


_Class = TypeVar('_Class')


def _factors(method, given):
    """The dict of factors that `set_lr_mult` and `set_wd_mult` take."""
    if not isinstance(given, Mapping):
        raise TypeError(f'{method} takes a dict {{name or index: factor}}, not {kind_of(given)}')
    return given


@explain_arguments
class Optimizer:
    """Base class of all optimizers.

    rescale_grad: what gradients are multiplied by, often 1 / batch size.
    param_idx2name: {index: name} of the weights; names that end in neither `_weight` nor `_gamma` get no weight decay.
    wd: weight decay (L2).
    clip_gradient: gradients are cut to [-clip_gradient, clip_gradient] after rescaling.
    learning_rate: 0.01 if there is no lr_scheduler either; otherwise it replaces the scheduler's base_lr.
    lr_scheduler: a function of the number of updates, see `mx.lr_scheduler`.
    sym: a Symbol whose variables may say `lr_mult` and `wd_mult`.
    begin_num_update: the count of updates to start from.
    multi_precision: float16 and bfloat16 weights get a float32 copy that the arithmetic happens on.
    param_dict: {index: gluon.Parameter}, whose `lr_mult` and `wd_mult` count.

    An optimizer of one's own has `create_state` and `update`, and is registered by its lower-case name:

    >>> @mx.optimizer.register
    ... class PlainDescent(mx.optimizer.Optimizer):
    ...     def update(self, index, weight, grad, state):
    ...         self._update_count(index)
    ...         weight -= self._get_lr(index) * grad
    >>> mx.optimizer.create('plaindescent', learning_rate=0.5).learning_rate
    0.5
    """

    rescale_grad: Any
    param_dict: Any
    aggregate_num: Any
    multi_precision: Any
    begin_num_update: Any
    lr_scheduler: Any

    opt_registry: dict[str, type] = {}

    # Found only where a subclass has not called `super().__init__()`.
    lr_scheduler = begin_num_update = multi_precision = aggregate_num = param_dict = rescale_grad = set_by_init()

    # Kept on the class, not in instances: state files are read and written by MXNet 1.9.1 as well.
    _at_once: bool | None = None    # many weights in one call: any number, none, or (None) up to aggregate_num
    whole_arrays = False            # whether an update needs all of an array: servers of dist_async do not cut it then
    _needs_count = True             # do updates depend on their number, besides by a schedule; if unknown, True
    _master_last = False            # where the float32 copy stands in the state of a weight of low precision

    def __init__(self, rescale_grad: float = 1., param_idx2name: Mapping[int, str] | None = None, wd: float = 0.,
                 clip_gradient: float | None = None, learning_rate: float | None = None,
                 lr_scheduler: LRScheduler | None = None, sym: Symbol | None = None, begin_num_update: int = 0,
                 multi_precision: bool = False, param_dict: Mapping[int, Parameter] | None = None) -> None:
        if param_idx2name is not None and not isinstance(param_idx2name, dict):
            raise TypeError(f'param_idx2name must be a dict {{index: name}}, not {kind_of(param_idx2name)}')
        for key, value in (('learning_rate', learning_rate), ('wd', wd), ('rescale_grad', rescale_grad),
                           ('clip_gradient', clip_gradient)):
            if isinstance(value, (str, bytes, list, tuple, dict)):
                raise TypeError(f'{type(self).__name__}: {key} must be a number, not {value!r}')
        if lr_scheduler is not None and not callable(lr_scheduler):
            raise TypeError(f'{type(self).__name__}: lr_scheduler must be a scheduler of mx.lr_scheduler, not '
                            f'{kind_of(lr_scheduler)}')
        if lr_scheduler is None:
            learning_rate = 0.01 if learning_rate is None else learning_rate
        elif learning_rate is not None and lr_scheduler.base_lr != learning_rate:
            print(RATE_TWICE)
            lr_scheduler.base_lr = learning_rate
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        self.lr = learning_rate
        self.wd = wd
        self.lr_mult: dict[Any, Any] = {}
        self.wd_mult: dict[Any, Any] = {}
        self.begin_num_update = begin_num_update
        self.num_update: int = begin_num_update
        self._all_index_update_counts: dict[Any, Any] = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.aggregate_num = 0
        self.idx2name: dict[int, str] = dict(param_idx2name or {})
        self.sym_info: Any = () if sym is None else (sym.attr_dict(), sym.list_arguments())
        self.param_dict = param_dict or {}
        self.allow_np_array: bool = is_np_array()
        self.set_lr_mult({})
        self.set_wd_mult({})

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        explain_arguments(cls)
        own = vars(cls)
        if '_at_once' in own:
            return
        # an `update` that a program has written expects what upstream gives it
        if 'update_multi_precision' in own:
            cls._at_once = None
        elif 'update' in own and cls._at_once:
            cls._at_once = False

    # ------------------------------------------------------------------ registry
    @staticmethod
    def register(klass: _Class) -> _Class:
        """Registers a class of optimizers under its lower-case name; used as a decorator."""
        if not isinstance(klass, type):
            raise TypeError(f'only a class can be registered as an optimizer, not {klass!r}')
        name = klass.__name__.lower()
        old = Optimizer.opt_registry.get(name)
        if old is not None:
            warnings.warn(f'optimizer {name!r} was {old.__module__}.{old.__name__} and is now '
                          f'{klass.__module__}.{klass.__name__}', UserWarning, stacklevel=3)
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name: str, **kwargs: Any) -> Optimizer:
        """An optimizer by its name, upper or lower case, and its arguments.

        >>> mx.optimizer.create('adam', learning_rate=0.1).beta1
        0.9
        """
        if not isinstance(name, str):
            raise TypeError(f'optimizer must be a name such as \'sgd\' or an Optimizer, not {kind_of(name)}')
        found = Optimizer.opt_registry.get(name.lower())
        if found is None:
            known = sorted(set(Optimizer.opt_registry) - {'test'})      # 'test' is for tests of optimizers' callers
            raise ValueError(f'there is no optimizer called {name!r}{near(name, known)}; registered are '
                             f'{", ".join(known)}')
        return found(**kwargs)

    # ------------------------------------------------------------------ what an optimizer does
    def create_state(self, index: Any, weight: NDArray) -> Any:
        """What the optimizer remembers about a weight, made before its first update: None, an array or a tuple."""
        return None

    def create_state_multi_precision(self, index: Any, weight: NDArray) -> Any:
        """As `create_state`; with `multi_precision` and a weight of low precision, with a float32 copy of it."""
        if weight.dtype in _LOW_PRECISION:
            if self.multi_precision:
                master = weight.astype('float32')
                state = self.create_state(index, master)
                return (state, master) if self._master_last else (master, state)
            warnings.warn(LOW_PRECISION.format(name=type(self).__name__), UserWarning, stacklevel=2)
        return self.create_state(index, weight)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Updates a weight, in place, by its gradient; `state` is what `create_state` made."""
        raise NotImplementedError(f'{type(self).__name__} has no update')

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """As `update`; a weight of low precision is updated through its float32 copy."""
        several = is_list(index)
        if not self.multi_precision or (weight[0] if several else weight).dtype not in _LOW_PRECISION:
            self.update(index, weight, grad, state)
            return
        at = 1 if self._master_last else 0
        if several:
            master: Any
            master, inner = [s[at] for s in state], [s[1 - at] for s in state]
            self.update(index, master, [g.astype('float32') for g in grad], inner)
        else:
            master = state[at]
            self.update(index, master, grad.astype('float32'), state[1 - at])
        for low, high in zip(weight, master) if several else ((weight, master),):
            write(low, high.materialize(), f'{type(self).__name__}.update')

    # ------------------------------------------------------------------ learning rate and decay
    @property
    def learning_rate(self) -> float:
        """The learning rate now, before the multipliers of single weights."""
        return self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)  # type: ignore[return-value]

    def set_learning_rate(self, lr: float) -> None:
        """Sets the learning rate of an optimizer that has no lr_scheduler."""
        if self.lr_scheduler is not None:
            raise UserWarning(RATE_IS_SCHEDULED)
        if isinstance(lr, (str, bytes, list, tuple, dict)) or lr is None:
            raise TypeError(f'set_learning_rate: the rate must be a number, not {lr!r}')
        self.lr = lr

    def set_lr_scale(self, args_lrscale: Mapping[str, float]) -> None:
        """An old name; use `set_lr_mult`."""
        raise DeprecationWarning('set_lr_scale was removed; use set_lr_mult')

    def set_lr_mult(self, args_lr_mult: Mapping[Any, float]) -> None:
        """Factors of the learning rate of single weights, {name or index: factor}; others as the symbol says."""
        self.lr_mult = {**self._from_symbol('__lr_mult__'), **_factors('set_lr_mult', args_lr_mult)}

    def set_wd_mult(self, args_wd_mult: Mapping[Any, float]) -> None:
        """Factors of the weight decay of single weights, {name or index: factor}; others as the symbol says.

        Weights whose names (`param_idx2name`) end in neither `_weight` nor `_gamma` have the factor 0 by themselves.
        """
        self.wd_mult = {**self._without_decay(('_weight', '_gamma')), **self._from_symbol('__wd_mult__'),
                        **_factors('set_wd_mult', args_wd_mult)}

    def _without_decay(self, decaying):
        return {name: 0.0 for name in self.idx2name.values() if not name.endswith(decaying)}

    def _from_symbol(self, key):
        if not self.sym_info:
            return {}
        attributes, names = self.sym_info
        return {name: float(attributes[name][key]) for name in names if key in attributes.get(name, ())}

    def _get_lrs(self, indices):
        """The learning rates of weights."""
        return self._times(self.learning_rate, indices, 'lr_mult', self.lr_mult)

    def _get_wds(self, indices):
        """The weight decays of weights."""
        return self._times(self.wd, indices, 'wd_mult', self.wd_mult)

    def _get_lr(self, index):
        """The learning rate of a weight."""
        return self._get_lrs([index])[0]

    def _get_wd(self, index):
        """The weight decay of a weight."""
        return self._get_wds([index])[0]

    _asks_for_lists = False     # which of the methods above MXNet's optimizer asks: derived classes may have their own

    _counted_together: Any = 1      # how many weights MXNet's optimizer counts before it asks for their rates

    def _rates(self, indices, before):
        """(learning rates, weight decays) of weights, which have been counted; `before` is num_update before that.

        A scheduler is asked when as many are counted as upstream has counted by then: weights that were updated less
        often than others (frozen ones) may come before the one that raises num_update.
        """
        now, size, counts = self.num_update, self._counted_together, self._index_update_count
        if now == before or len(indices) <= size or now in [counts.get(i) for i in indices[:size]]:
            return self._rates_now(indices)
        lrs: list[Any] = []
        wds: list[Any] = []
        try:
            self.num_update = before
            for at in range(0, len(indices), size):
                part = indices[at:at + size]
                self.num_update = max(self.num_update, *[counts.get(i, 0) for i in part])
                found = self._rates_now(part)
                lrs += found[0]
                wds += found[1]
        finally:
            self.num_update = now
        return lrs, wds

    def _rates_now(self, indices):
        """(learning rates, weight decays) of weights."""
        kind, lists = type(self), self._asks_for_lists
        lrs = _rate_of_each(self._get_lrs, indices) if lists or kind._get_lr is Optimizer._get_lr \
            else [self._get_lr(index) for index in indices]
        wds = _rate_of_each(self._get_wds, indices) if lists or kind._get_wd is Optimizer._get_wd \
            else [self._get_wd(index) for index in indices]
        return lrs, wds

    def _times(self, value, indices, field, factors):
        """`value` times the factor of each weight: its parameter's, or by its index, or by its name."""
        parameters, names = self.param_dict, self.idx2name
        value = float(value)        # schedulers may compute with NumPy
        if not value or not parameters and not factors:
            return [value] * len(indices)
        if parameters:
            try:
                return [value * getattr(parameters[index], field) for index in indices]
            except KeyError:
                pass                # some weights are no parameters of the Trainer
        results = []
        for index in indices:
            if index in parameters:
                results.append(value * getattr(parameters[index], field))
            elif index in factors:
                results.append(value * factors[index])
            else:
                results.append(value * factors.get(names.get(index), 1.0))
        return results

    # ------------------------------------------------------------------ counts
    def _set_current_context(self, device_id):
        """Chooses the counts of a device: each has copies of all weights, and updates each once a step."""
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})

    def _update_count(self, index):
        """Counts an update of a weight, or of each of a list; `num_update` is the largest count."""
        counts = self._index_update_count
        begin, most = self.begin_num_update, self.num_update
        for i in index if type(index) is tuple or is_list(index) else (index,):
            counts[i] = count = counts.get(i, begin) + 1
            if count > most:
                most = count
        self.num_update = most

    # ------------------------------------------------------------------ pickling
    def __getstate__(self) -> Any:
        state = self.__dict__.copy()
        del state['param_dict']         # belongs to the Trainer, which sets it again
        return state

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise TypeError(f'the state of a {type(self).__name__} must be a dict, not {kind_of(state)}')
        self.__dict__ = {**state, 'param_dict': {}}


def _rate_of_each(get, indices):
    """What a method of an optimizer gives for weights: all together, or one by one where it counts on fewer of them."""
    found = get(indices)
    return found if len(found) == len(indices) else [get([index])[0] for index in indices]


_explain_methods(Optimizer, 'register create_optimizer set_learning_rate set_lr_mult set_wd_mult')
register, create = Optimizer.register, Optimizer.create_optimizer
