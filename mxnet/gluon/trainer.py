"""`Trainer`: applies an optimizer to parameters after each `backward`."""
from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _autograd as autograd
from .. import kvstore as _kv
from .. import optimizer as _optimizer
from .._dispatch import entering, interceptors
from .._files import paths
from .._guard import Guard, invalidations
from .._kinds import explain_methods as _explain_methods
from .._names import explain_arguments, kind_of
from .._names import suggest_names as _suggest_names
from .._state import state
from ..base import MXNetError
from .block import Block
from .parameter import Parameter, ParameterDict

if TYPE_CHECKING:
    from .._typing import Path
    from ..kvstore import KVStoreBase
    from ..optimizer import Optimizer

__all__ = ['Trainer']

STALE = ("the gradient of Parameter '{name}' on {ctx} has not been written by backward since the last step. Either "
         'backward was not called, or the loss does not depend on this parameter; if that is intended, pass '
         'ignore_stale_grad=True.')


@explain_arguments
class Trainer:
    """Updates parameters by an optimizer.

    With parameters on several contexts, the gradients are added up through a KVStore first.

    >>> net = mx.gluon.nn.Dense(1)
    >>> net.initialize()
    >>> trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    >>> with mx.autograd.record():
    ...     loss = (net(mx.nd.ones((4, 2))) ** 2).sum()
    >>> loss.backward()
    >>> trainer.step(batch_size=4)
    """

    def __init__(self, params: ParameterDict | Mapping[str, Parameter] | Sequence[Parameter],
                 optimizer: Optimizer | str,
                 optimizer_params: Mapping[str, Any] | Sequence[tuple[str, Any]] | None = None,
                 kvstore: KVStoreBase | str | None = 'device', compression_params: Mapping[str, Any] | None = None,
                 update_on_kvstore: bool | None = None) -> None:
        if isinstance(params, (dict, ParameterDict)):
            params = [params[key] for key in sorted(params.keys())]
        if not isinstance(params, (list, tuple)):
            hint = '; net.collect_params() gives them' if isinstance(params, Block) else ''
            raise ValueError(f'params must be a list or dict of Parameters, not {kind_of(params)}{hint}')
        self._params = []
        self._param2idx = {}
        for i, param in enumerate(params):
            if not isinstance(param, Parameter):
                raise ValueError(f'params must hold Parameters, but one is {kind_of(param)}')
            self._param2idx[param.name] = i
            self._params.append(param)
        self._contains_sparse_weight = any(p._stype != 'default' for p in self._params)
        self._contains_sparse_grad = any(p._grad_stype != 'default' for p in self._params)
        for param in self._params:
            param._set_trainer(self)
        self._compression_params = compression_params
        if not isinstance(optimizer_params, (dict, type(None))):
            raise TypeError("optimizer_params must be a dict such as {'learning_rate': 0.1}, "
                            f'not {kind_of(optimizer_params)}')
        self._init_optimizer(optimizer, optimizer_params or {})
        self._scale = self._optimizer.rescale_grad
        self._amp_loss_scaler = None    # contrib.amp.init_trainer sets it
        self._bound: _BoundParameters | None = None
        self._kvstore_params = {'kvstore': kvstore, 'update_on_kvstore': update_on_kvstore}
        self._kv_initialized = False
        self._kvstore: Any = None
        self._update_on_kvstore: Any = None
        self._params_to_init: list[Any] = []
        self._reset_kvstore()

    def _init_optimizer(self, optimizer, optimizer_params):
        by_number = dict(enumerate(self._params))
        if isinstance(optimizer, _optimizer.Optimizer):
            if optimizer_params:
                raise AssertionError('optimizer_params go with the name of an optimizer, not with an Optimizer')
            self._optimizer = optimizer
            self._optimizer.param_dict = by_number
        else:
            self._optimizer = _optimizer.create(optimizer, param_dict=by_number, **optimizer_params)
        self._updaters = [_optimizer.get_updater(self._optimizer)]

    # ------------------------------------------------------------------ the store
    def _contexts(self):
        found = None
        for param in self._params:
            own = param.list_ctx()
            if found is not None and found != own:
                raise AssertionError(f"all parameters must be on the same contexts, but '{param.name}' is on {own} "
                                     f'and the ones before on {found}')
            found = own
        return found or []

    def _reset_kvstore(self):
        if self._kvstore is not None and 'dist' in self._kvstore.type:
            raise RuntimeError('a Trainer with a distributed KVStore cannot be restarted')
        self._kv_initialized = False
        self._kvstore = None
        self._update_on_kvstore = None
        self._params_to_init = list(self._params)

    def _init_kvstore(self):
        """Chooses the store, and whether it applies the optimizer."""
        wanted, update = self._kvstore_params['kvstore'], self._kvstore_params['update_on_kvstore']
        contexts = self._contexts()
        several = len(contexts) > 1
        store = self._make_store(wanted, several)
        if store is None:
            if self._contains_sparse_weight and update is False:
                raise ValueError('sparse parameters are updated by the KVStore; update_on_kvstore cannot be False')
            update = None
        else:
            able = store.is_capable(_kv.KVStoreBase.OPTIMIZER)
            if update and not able:
                raise ValueError(f'update_on_kvstore is True, but a KVStore of type {store.type} applies no optimizer')
            if self._contains_sparse_weight:
                if update is False:
                    raise ValueError('sparse parameters are updated by the KVStore; update_on_kvstore cannot be False')
                update = True
            elif update is False and ('async' in store.type or self._contains_sparse_grad and 'dist' in store.type):
                which = ' of sparse gradients' if self._contains_sparse_grad else ''
                raise ValueError(f'a KVStore of type {store.type} updates the parameters{which}; update_on_kvstore '
                                 'cannot be False')
            elif update is None:
                if 'async' in store.type:
                    update = True
                elif self._contains_sparse_grad:
                    update = 'dist' in store.type
                else:
                    update = able and bool(int(os.environ.get('MXNET_UPDATE_ON_KVSTORE', '1')))
            if self._compression_params:
                store.set_gradient_compression(self._compression_params)
            if update:
                store.set_optimizer(self._optimizer)
        self._updaters = [_optimizer.get_updater(self._optimizer) for _ in contexts] if not update else self._updaters
        self._kvstore, self._update_on_kvstore = store, update
        self._kv_initialized = True

    def _together(self, batches):
        """The batches of a pass; in a job whose workers wait for each other, as long as all of them have one."""
        wanted = self._kvstore_params['kvstore']
        name = str(getattr(wanted, 'type', wanted))
        if not name.startswith(('dist', 'horovod')) or 'async' in name:
            return iter(batches)
        if not self._kv_initialized:
            self._init_kvstore()
        return iter(batches) if self._kvstore is None else self._kvstore.together(batches)

    def _make_store(self, wanted, several):
        if wanted is None:
            return None
        if isinstance(wanted, _kv.KVStoreBase):
            return wanted
        if not isinstance(wanted, str):
            raise ValueError(f'kvstore must be None, a name or a KVStore, not {kind_of(wanted)}')
        if 'dist' not in wanted and wanted != 'horovod' and not several and not self._contains_sparse_weight:
            return None                # one device, one process: nothing to add up
        return _kv.create(wanted)

    def _init_params(self):
        """Tells the store about parameters that it does not know yet; those of unknown shape wait."""
        waiting = []
        for param in self._params_to_init:
            if param._deferred is not None:
                waiting.append(param)
            elif self._kvstore is not None:
                arrays = param._arrays()
                number = self._param2idx[param.name]
                if param._stype != 'default':
                    self._kvstore.init(number, arrays[0])
                else:
                    self._kvstore.broadcast(number, arrays[0], out=arrays)
        self._params_to_init = waiting

    def _row_sparse_pull(self, param, arrays, row_id):
        """Fetches rows of a sparse parameter from the store, which has all of them; all that are not 0 for None."""
        self._prepare()
        number = self._param2idx[param.name]
        if row_id is None:
            self._kvstore.pull(number, out=arrays, ignore_sparse=False)
        else:
            self._kvstore.row_sparse_pull(number, out=arrays, row_ids=row_id)

    def _prepare(self):
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params()

    # ------------------------------------------------------------------ steps
    @property
    def learning_rate(self) -> float:
        """The learning rate now."""
        if not isinstance(self._optimizer, _optimizer.Optimizer):
            raise UserWarning('there is no optimizer yet')
        return self._optimizer.learning_rate

    @property
    def optimizer(self) -> Any:
        """The optimizer."""
        return self._optimizer

    def set_learning_rate(self, lr: float) -> None:
        """Sets the learning rate."""
        self._optimizer.set_learning_rate(lr)

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Updates the parameters with their gradients, which are divided by `batch_size`.

        A parameter whose gradient is not new is an error, unless `ignore_stale_grad`, which leaves it as it is.
        """
        if interceptors and (scope := entering('Trainer.step')) is not None:
            with scope:
                return Trainer.step(self, batch_size, ignore_stale_grad)
        bound = self._bound
        if bound is not None and self._amp_loss_scaler is None and not self._params_to_init and not state.naive:
            self._optimizer.rescale_grad = self._scale / batch_size if type(batch_size) is int and batch_size > 0 \
                else _divided(self._scale, batch_size)
            if bound.run_if_valid(self):
                return
        self._prepare()
        self._optimizer.rescale_grad = _divided(self._scale, batch_size)
        self._allreduce_grads()
        self._update(ignore_stale_grad)

    def _backward_and_step(self, losses, batch_size=None):
        """`backward` of losses, then `step`: for loops of ours, where nothing reads the gradients in between.

        Where a plan computes the gradients, the update is part of it: on a GPU, of its CUDA graph.

        batch_size: None for the number of losses
        """
        follows = _FollowingUpdate(self, batch_size)
        if not autograd.backward_as_plan(losses, follows):
            autograd.backward(losses)
            if follows.then is not None:        # it has been decided on, but the plan has failed
                follows.then.run()
        if follows.then is not None:
            self._bound.mark_used()        # type: ignore[union-attr]  # `then` is an update of this record
        else:
            self.step(sum([loss.meta().shape[0] for loss in losses]) if batch_size is None else batch_size)

    def allreduce_grads(self) -> None:
        """Adds up the gradients of all contexts (and workers); `update` then applies them."""
        if interceptors and (scope := entering('Trainer.allreduce_grads')) is not None:
            with scope:
                return Trainer.allreduce_grads(self)
        self._prepare()
        if self._update_on_kvstore:
            raise AssertionError('allreduce_grads is for update_on_kvstore=False; here the KVStore adds up and updates '
                                 'in step')
        self._allreduce_grads()

    def _allreduce_grads(self):
        if self._kvstore is None:
            return
        store = self._kvstore
        rows: list[tuple[int, list[Any]]] = []
        dense: list[tuple[int, list[Any]]] = []
        for i, param in enumerate(self._params):
            if param.grad_req != 'null' and param._data is not None:
                (dense if param._grad_stype == 'default' else rows).append((i, param.list_grad()))
        if dense and self._added_up_early(dense):
            dense = []
        # one call for all keys, so that sums of several workers share messages; plug-ins promise single keys only
        calls = [zip(*dense, strict=True)] if dense and isinstance(store, _kv.KVStore) else dense
        for keys, gradients in calls:
            if self._update_on_kvstore:
                store.push(keys, gradients)
            else:
                store.pushpull(keys, gradients, out=gradients)
        for i, gradients in rows:
            store.push(i, gradients, priority=-i)
            if not self._update_on_kvstore:
                store.pull(i, gradients, priority=-i, ignore_sparse=False)
        if self._update_on_kvstore:
            # Before `_update` looks for stale gradients: the store has updated already, whether or not that raises.
            updated = [(i, param._arrays()) for i, param in enumerate(self._params)
                       if param.grad_req != 'null' and param._data is not None and param._stype == 'default']
            # one call for all keys, so that servers answer once; plug-ins promise single keys only
            for keys, arrays in [zip(*updated, strict=True)] if updated and isinstance(store, _kv.KVStore) else updated:
                store.pull(keys, arrays)

    def _added_up_early(self, dense):
        """Whether the store adds up gradients of several workers by itself, from backward on."""
        add_up = getattr(self._kvstore, 'sum_gradients', None)
        if add_up is None:
            return False
        keys, gradients = zip(*dense, strict=True)
        return add_up(keys, [self._params[i].list_data() for i in keys], gradients, self._update_on_kvstore)

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Updates the parameters with gradients that `allreduce_grads` has added up."""
        if interceptors and (scope := entering('Trainer.update')) is not None:
            with scope:
                return Trainer.update(self, batch_size, ignore_stale_grad)
        self._prepare()
        if self._update_on_kvstore:
            raise AssertionError('update is for update_on_kvstore=False; here the KVStore updates in step')
        self._optimizer.rescale_grad = _divided(self._scale, batch_size)
        self._update(ignore_stale_grad)

    def _update(self, ignore_stale_grad):
        if self._amp_loss_scaler is not None and self._amp_loss_scaler.has_overflow(self._params):
            return                      # the scale of the loss was too large: no step, and a smaller one next time
        pending: list[list[Any]] = [[] for _ in self._updaters]
        for i, param in enumerate(self._params):
            if param.grad_req == 'null':
                continue
            arrays = param._arrays()
            if not ignore_stale_grad:
                for array in arrays:
                    if not array._fresh_grad:
                        raise UserWarning(STALE.format(name=param.name, ctx=array._ctx))
            if self._kvstore is not None and self._update_on_kvstore:
                continue
            for updates, array in zip(pending, arrays, strict=False):
                if not ignore_stale_grad or array._fresh_grad:
                    updates.append((i, array.grad, array))
                    array._fresh_grad = False
        if not (self._kvstore is not None and self._update_on_kvstore):
            for updater, updates in zip(self._updaters, pending, strict=False):
                if updates:
                    columns = tuple(zip(*updates, strict=True))
                    updater(*columns)
            self._bound = _BoundParameters.of(self._params, self._updaters[0], columns) \
                if len(pending) == 1 and updates else None

    # ------------------------------------------------------------------ states
    def save_states(self, fname: Path) -> None:
        """Saves the states of the optimizer, and the optimizer with them."""
        self._prepare()
        if self._update_on_kvstore:
            if self._params_to_init:
                raise AssertionError('states can be saved once all parameters are initialized')
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
        else:
            paths.write_atomic(fname, [self._updaters[0].get_states(dump_optimizer=True)])

    def load_states(self, fname: Path) -> None:
        """Loads what `save_states` wrote, and goes on with the saved optimizer."""
        self._prepare()
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            self._optimizer = self._kvstore._updater.optimizer
        else:
            states = paths.read_bytes(fname)
            for updater in self._updaters:
                updater.set_states(states, str(fname))
                updater.optimizer = self._updaters[0].optimizer
            self._optimizer = self._updaters[0].optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))


def _divided(scale, batch_size):
    """What gradients are multiplied by."""
    try:
        if batch_size > 0:
            return scale / batch_size
        if batch_size < 0:
            warnings.warn(f'batch_size={batch_size} is negative: the parameters move up the '
                          f'gradient', UserWarning, stacklevel=3)
            return scale / batch_size
    except TypeError:
        pass
    raise MXNetError(f'batch_size, which gradients are divided by, must be a positive number, not {batch_size!r}')


# A program may have its own of each of these, in a class, in a trainer, or for all trainers.
_STEP, _UPDATE, _ALLREDUCE = Trainer.step, Trainer._update, Trainer._allreduce_grads


class _FollowingUpdate:
    """The update that is to follow a plan: `update` of `Step.backward_from`.  `then` is what it gave."""

    __slots__ = ('trainer', 'batch_size', 'then')

    def __init__(self, trainer, batch_size):
        self.trainer, self.batch_size, self.then = trainer, batch_size, None

    def __call__(self, ready):
        """The update, counted as done; None where `step` must not be replaced."""
        trainer = self.trainer
        bound, size = trainer._bound, ready.length() if self.batch_size is None else self.batch_size
        if bound is None or state.naive \
                or trainer._amp_loss_scaler is not None or trainer._params_to_init \
                or type(trainer).step is not _STEP or 'step' in trainer.__dict__ \
                or not bound.holds(trainer) or not bound.is_of(ready.targets):
            return None
        trainer._optimizer.rescale_grad = _divided(trainer._scale, size)
        self.then = bound.updater._due(*bound.columns)
        return self.then


class _BoundParameters:
    """An update of all parameters, bound to a guard on their arrays, `grad_req` and gradient variables."""

    __slots__ = ('guard', 'updater', 'columns', 'variables', 'fresh')
    guard: Guard
    updater: Any
    columns: tuple[Any, Any, Any]           # numbers, gradients and arrays
    variables: list[Any]
    fresh: list[Any]                        # [whether `backward` has written it since] of each

    @classmethod
    def of(cls, params, updater, columns):
        """The record of an update of all parameters on one context; None if it was of some."""
        learned = [p for p in params if p.grad_req != 'null']
        if len(columns[0]) != len(learned):
            return None
        self = cls()
        self.updater, self.columns = updater, columns
        self.variables = [array._variable for array in columns[2]]
        self.fresh = [getattr(v, 'fresh', None) for v in self.variables]
        if None in self.fresh or True in [array._sparse for array in columns[2]]:
            return None
        self.guard = Guard(params, columns[2])
        return self

    def run_if_valid(self, trainer):
        """Updates and returns True if nothing has changed but values, and all gradients are new."""
        if [False] in self.fresh or not self.holds(trainer):
            return False
        for flag in self.fresh:
            flag[0] = False
        updater, columns = self.updater, self.columns
        bound = updater._bound
        if bound is None or not bound.run_if_valid(updater, *columns):
            updater(*columns)
        return True

    def mark_used(self):
        """Marks the gradients as used."""
        for flag in self.fresh:
            flag[0] = False

    def holds(self, trainer):
        """Whether nothing has changed but values, and the program has no parts of a step of its own."""
        own, patched = type(trainer), trainer.__dict__
        return trainer._kvstore is None and trainer._updaters[0] is self.updater \
            and type(self.updater) is _optimizer.Updater \
            and own._update is _UPDATE and own._allreduce_grads is _ALLREDUCE \
            and '_update' not in patched and '_allreduce_grads' not in patched \
            and (invalidations.count == self.guard.seen or self.guard.holds())

    def is_of(self, variables):
        """Whether gradients of these variables are all that it needs."""
        return {*map(id, self.variables)} <= {*map(id, variables)}


_explain_methods(Trainer, 'set_learning_rate save_states load_states')
_suggest_names(globals())
