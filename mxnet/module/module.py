"""`Module`: a symbol, its parameters, executors on one or more contexts, and an optimizer."""
from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from .. import optimizer as _optimizer
from .._dispatch import entering, interceptors
from .._files import paths
from .._kinds import explain_methods as _explain_methods
from .._names import explain_arguments, kind_of, label_hint
from .._names import suggest_names as _suggest_names
from .._training import (
    _create_kvstore,
    _initialize_kvstore,
    _update_params,
    _update_params_on_kvstore,
    load_checkpoint,
    params_name,
)
from ..base import MXNetError
from ..context import Context, cpu
from ..executor import check_parameter
from ..initializer import InitDesc
from ..initializer import create as create_initializer
from ..io import DataDesc
from ..ndarray import NDArray, zeros
from ..ndarray import array as _array
from ..symbol import Symbol
from ._batches import descriptions_of, explain_error, joined_shapes
from ._run import set_random_states
from ._saved_states import check_states, copies_that_differ, set_copies
from .base_module import _UNIFORM, BaseModule, _check_input_names, _parse_data_desc
from .executor_group import DataParallelExecutorGroup

if TYPE_CHECKING:
    from .._typing import Arrays, Contexts, DataDescs, GradReq, Init, Logger, Path
    from ..kvstore import KVStoreBase
    from ..metric import EvalMetric
    from ..monitor import Monitor
    from ..optimizer import Optimizer

__all__ = ['Module']

_CPU = cpu()
RESCALE = ('the optimizer has rescale_grad={found}, while 1 / batch size (of all workers) is {expected}; was that '
           'meant?')
_MISTAKES = (ValueError, TypeError, AttributeError, AssertionError, MXNetError)
RESIDUALS = 'what compressed gradients have left over is not saved with the states: it begins at zero'


@explain_arguments
class Module(BaseModule):
    """A symbol that can be trained.

    data_names, label_names: arguments of the symbol that batches bring
    context: a Context, or a list of them among which batches are split
    work_load_list: how much of a batch each context gets, in proportion
    fixed_param_names: parameters that are not trained
    state_names: arguments that neither batches nor the optimizer change, such as first states; see `set_states`
    group2ctxs: where groups of the symbol (`ctx_group`) go: {group: context or list of contexts}, or a list of dicts,
        one for each context
    compression_params: see `KVStore.set_gradient_compression`

    >>> data = mx.sym.var('data')
    >>> net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=2), name='softmax')
    >>> batches = mx.io.NDArrayIter(np.random.rand(8, 3), np.zeros(8), batch_size=4)
    >>> mod = mx.mod.Module(net)
    >>> mod.fit(batches, num_epoch=2, optimizer_params={'learning_rate': 0.1})
    >>> mod.predict(batches).shape
    (8, 2)
    """

    def __init__(self, symbol: Symbol, data_names: Sequence[str] = ('data',),
                 label_names: Sequence[str] | None = ('softmax_label',), logger: Logger = logging,
                 context: Contexts = _CPU, work_load_list: Sequence[float] | None = None,
                 fixed_param_names: Sequence[str] | None = None, state_names: Sequence[str] | None = None,
                 group2ctxs: Any = None, compression_params: Mapping[str, Any] | None = None) -> None:
        super().__init__(logger=logger)
        if not isinstance(symbol, Symbol):
            raise TypeError(f'Module: symbol must be a Symbol, not {kind_of(symbol)}')
        self._context = [context] if isinstance(context, Context) else context
        if isinstance(context, str) or not all(isinstance(c, Context) for c in self._context):
            raise TypeError(f'Module: context must be a Context, such as mx.cpu() or mx.gpu(0), or a list of them, not '
                            f'{context!r}')
        self._work_load_list = [1] * len(self._context) if work_load_list is None else work_load_list
        if len(self._work_load_list) != len(self._context):
            raise AssertionError(f'work_load_list has {len(self._work_load_list)} numbers for {len(self._context)} '
                                 'contexts')
        self._group2ctxs = group2ctxs
        self._symbol = symbol
        for what, names in (('data_names', data_names), ('label_names', label_names)):
            if isinstance(names, str):
                raise TypeError(f'Module: {what} must be a list of names such as [{names!r}], not the str {names!r}')
        self._data_names, self._label_names = list(data_names or ()), list(label_names or ())
        self._state_names, self._fixed_param_names = list(state_names or ()), list(fixed_param_names or ())
        _check_input_names(symbol, self._data_names, 'data', True)
        _check_input_names(symbol, self._label_names, 'label', False)
        _check_input_names(symbol, self._state_names, 'state', True)
        _check_input_names(symbol, self._fixed_param_names, 'fixed_param', True)
        inputs = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in symbol.list_arguments() if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self._arg_params: Any
        self._aux_params: Any
        self._arg_params = self._aux_params = None
        self._params_dirty = False          # do the contexts have newer values than the two dicts
        self._compression_params = compression_params
        self._optimizer: Any
        self._kvstore: Any
        self._update_on_kvstore: Any
        self._updater: Any
        self._optimizer = self._kvstore = self._update_on_kvstore = self._updater = None
        self._preload_opt_states: Any = None
        self._grad_req: Any = None
        self._exec_group: Any = None
        self._data_shapes: Any
        self._label_shapes: Any
        self._data_shapes = self._label_shapes = None
        self._indices: Any = None                # the optimizer's number of each parameter
        self._updates: Any = None                # what `update` passes on, as long as the arrays stay the same

    # ------------------------------------------------------------------ checkpoints
    @staticmethod
    def load(prefix: str, epoch: int, load_optimizer_states: bool = False, **kwargs: Any) -> Any:
        """A module from `prefix-symbol.json` and, for epoch 3, `prefix-0003.params`.

        load_optimizer_states: `init_optimizer` is to read `prefix-0003.states`; training then goes on where they were
            saved, see `fit`
        kwargs: those of the class
        """
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        module = Module(symbol, **kwargs)
        module._arg_params, module._aux_params = arg_params, aux_params
        module.params_initialized = True
        if load_optimizer_states:
            module._preload_opt_states = f'{prefix}-{epoch:04d}.states'
        return module

    def save_checkpoint(self, prefix: str, epoch: int, save_optimizer_states: bool = False,
                        remove_amp_cast: bool = True) -> None:
        """Writes `prefix-symbol.json` and, for epoch 3, `prefix-0003.params`, if wanted `prefix-0003.states`, too.

        They appear together or, if the process is killed before, not at all.
        """
        if not isinstance(prefix, (str, os.PathLike)):
            raise TypeError(f'save_checkpoint: prefix must be a str, not {kind_of(prefix)}')
        name = params_name(prefix, epoch)
        states = f'{prefix}-{epoch:04d}.states'
        with paths.together(prefix):
            self._symbol.save(f'{prefix}-symbol.json', remove_amp_cast=remove_amp_cast)
            self.save_params(name)
            if save_optimizer_states:
                self.save_optimizer_states(states)
        logging.info('Saved checkpoint to "%s"', name)
        if save_optimizer_states:
            logging.info('Saved optimizer state to "%s"', states)

    def save_optimizer_states(self, fname: Path) -> None:
        """Writes the states of the optimizer, its count of updates, and where training is.

        MXNet 1.9.1 reads the states, and passes by the rest.
        """
        self._require_optimizer('save_optimizer_states')
        with self._keeping():
            if self._update_on_kvstore:
                self._kvstore.save_optimizer_states(fname)
            else:
                paths.write_atomic(fname, [self._updater.get_states()])

    def load_optimizer_states(self, fname: Path) -> None:
        """Reads the states of the optimizer, which goes on with the count of updates that was saved with them."""
        self._require_optimizer('load_optimizer_states')
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            updater = getattr(self._kvstore, '_updater', None)
        else:
            updater = self._updater
            updater.set_states(paths.read_bytes(fname), str(fname))
            check_states(fname, updater, self._exec_group, self._context)
        self._states_read, self._extra = True, getattr(updater, '_extra', None)
        copies = (self._extra or {}).get('copies')
        if copies:
            set_copies(self._exec_group, copies)
            self._params_dirty = True
        if self._compression_params and self._kvstore is not None:
            warnings.warn(RESIDUALS, UserWarning, stacklevel=3)
        states = (self._extra or {}).get('states')
        if self._state_names and states:
            self.set_states([[_array(value, ctx=ctx, dtype=value.dtype) for value, ctx in
                              zip(values, self._context, strict=True)] for values in states])

    def _notes(self):
        notes = super()._notes()
        if self._state_names:
            notes['states'] = [[a.asnumpy() for a in arrays] for arrays in self.get_states(False)]
        if len(self._context) > 1:
            notes['copies'] = copies_that_differ(self._exec_group, *self.get_params())
        return notes

    def _require_optimizer(self, what):
        if not self.optimizer_initialized:
            raise AssertionError(f'{what}: there is no optimizer; call init_optimizer first')

    # ------------------------------------------------------------------ what it is
    @property
    def data_names(self) -> list[str]:
        """Names of the data."""
        return self._data_names

    @property
    def label_names(self) -> list[str]:
        """Names of the labels."""
        return self._label_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> list[DataDesc]:
        """(name, shape) of the data."""
        self._require_bound('data_shapes')
        return self._data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """(name, shape) of the labels; None if there are none."""
        self._require_bound('label_shapes')
        return self._label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """(name, shape) of the outputs."""
        self._require_bound('output_shapes')
        return self._exec_group.get_output_shapes()

    # ------------------------------------------------------------------ parameters
    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """(arguments, auxiliary states): dicts of copies of the parameters on the CPU."""
        if not self.params_initialized:
            raise AssertionError('get_params: there are no parameters; call init_params first')
        if self._params_dirty:
            self._sync_params_from_devices()
        return self._arg_params, self._aux_params

    def _sync_params_from_devices(self):
        self._exec_group.get_params(self._arg_params, self._aux_params)
        if self._kvstore and self._update_on_kvstore:
            for name, array in self._arg_params.items():
                if array.stype == 'row_sparse':
                    # contexts have only the rows that they needed last
                    self._kvstore.pull(name, array, ignore_sparse=False)
        self._params_dirty = False

    def init_params(self, initializer: Init | None = _UNIFORM, arg_params: Mapping[str, NDArray] | None = None,
                    aux_params: Mapping[str, NDArray] | None = None, allow_missing: bool = False,
                    force_init: bool = False, allow_extra: bool = False) -> None:
        """Fills the parameters; see `BaseModule.init_params`."""
        if self.params_initialized and not force_init:
            warnings.warn('init_params: the parameters are filled already; pass force_init=True to fill them again',
                          UserWarning, stacklevel=3)
            return
        if not self.binded:
            raise AssertionError('init_params: call bind first')
        attributes = self._symbol.attr_dict()
        for what, given in (('arg_params', arg_params), ('aux_params', aux_params)):
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(f'{what} must be a dict of names and NDArrays, not {kind_of(given)}')
        if initializer is not None and not isinstance(initializer, str) and not callable(initializer):
            raise TypeError(f'init_params: initializer must be an Initializer or a name, not {kind_of(initializer)}')
        if isinstance(initializer, str):
            initializer = create_initializer(initializer)
        for own, given in ((self._arg_params, arg_params), (self._aux_params, aux_params)):
            for name, array in sorted(own.items()):
                if given is not None and name in given:
                    if given[name] is not array:
                        check_parameter(name, given[name], array.shape)
                        given[name].copyto(array)
                    continue
                if given is not None and not allow_missing:
                    raise RuntimeError(f'{name} is not among the parameters given; pass allow_missing=True to have it '
                                       f'initialized.{label_hint(name)}')
                if initializer is not None:
                    initializer(InitDesc(name, attributes.get(name)), array)      # type: ignore[operator]
                elif given is None:
                    raise RuntimeError(f'{name} has no value: neither parameters nor an initializer are given')
        self.params_initialized = True
        self._params_dirty = False
        self._exec_group.set_params(self._arg_params, self._aux_params, allow_extra=allow_extra)

    def set_params(self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray],
                   allow_missing: bool = False, force_init: bool = True, allow_extra: bool = False) -> None:
        """Copies parameters from dicts; with `allow_missing`, others stay as they are."""
        if not allow_missing:
            self.init_params(None, arg_params, aux_params, force_init=force_init, allow_extra=allow_extra)
            return
        if self.params_initialized and not force_init:
            warnings.warn('set_params: the parameters are filled already; pass force_init=True to set them again',
                          UserWarning, stacklevel=3)
            return
        self._require_bound('set_params')
        self._exec_group.set_params(arg_params, aux_params, allow_extra=allow_extra)
        self._params_dirty = True
        self.params_initialized = True

    # ------------------------------------------------------------------ making ready
    def _reset_bind(self):
        self.binded = False
        self._exec_group = self._data_shapes = self._label_shapes = self._updates = None

    def bind(self, data_shapes: DataDescs, label_shapes: DataDescs | None = None, for_training: bool = True,
             inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: BaseModule | None = None,
             grad_req: GradReq = 'write') -> None:
        """Makes executors for data of these shapes; see `BaseModule.bind`."""
        if force_rebind:
            if self.binded and self._params_dirty:
                self._sync_params_from_devices()
            self._reset_bind()
        if self.binded:
            self.logger.warning('Already bound, ignoring bind()')
            return
        if inputs_need_grad and not for_training:
            raise AssertionError('bind: there are gradients of the inputs only with for_training=True')
        if shared_module is not None and not (isinstance(shared_module, Module) and shared_module.binded
                                              and shared_module.params_initialized):
            raise AssertionError('bind: shared_module must be a Module that is bound and has parameters')
        data_shapes, label_shapes = _parse_data_desc(self.data_names, self.label_names, data_shapes, label_shapes,
                                                     for_training)
        self._exec_group = DataParallelExecutorGroup(
            self._symbol, self._context, self._work_load_list, data_shapes, label_shapes, self._param_names,
            for_training, inputs_need_grad, None if shared_module is None else shared_module._exec_group,
            logger=self.logger, fixed_param_names=self._fixed_param_names, grad_req=grad_req,
            state_names=self._state_names, group2ctxs=self._group2ctxs)
        self._data_shapes, self._label_shapes = data_shapes, label_shapes
        self.for_training: bool
        self.inputs_need_grad: bool
        self.for_training, self.inputs_need_grad, self._grad_req = for_training, inputs_need_grad, grad_req
        self._total_exec_bytes = self._exec_group._total_exec_bytes
        self._updates = None
        if shared_module is not None:
            self.params_initialized: bool = True
            self._arg_params, self._aux_params = shared_module._arg_params, shared_module._aux_params
        elif self.params_initialized:
            self._exec_group.set_params(self._arg_params, self._aux_params, allow_extra=True)
        else:
            group = self._exec_group
            self._arg_params = {name: zeros(block[0].shape, dtype=block[0].dtype, stype=block[0].stype)
                                for name, block in zip(group.param_names, group.param_arrays, strict=True)}
            self._aux_params = {name: zeros(block[0].shape, dtype=block[0].dtype)
                                for name, block in zip(group.aux_names, group.aux_arrays, strict=True)}
        self.binded: bool = True
        if shared_module is not None and shared_module.optimizer_initialized:
            self.borrow_optimizer(shared_module)

    def reshape(self, data_shapes: DataDescs, label_shapes: DataDescs | None = None) -> None:
        """Makes the module ready for data of other shapes; parameters and optimizer stay."""
        self._require_bound('reshape')
        data_shapes, label_shapes = _parse_data_desc(self.data_names, self.label_names, data_shapes, label_shapes,
                                                     need_labels=False)
        self._exec_group.reshape(data_shapes, label_shapes)
        self._data_shapes, self._label_shapes = data_shapes, label_shapes
        self._updates = None

    def init_optimizer(self, kvstore: KVStoreBase | str | None = 'local', optimizer: Optimizer | str = 'sgd',
                       optimizer_params: Mapping[str, Any] | Sequence[tuple[str, Any]] = (('learning_rate', 0.01),),
                       force_init: bool = False) -> None:
        """Installs an optimizer; see `BaseModule.init_optimizer`.

        Unless `optimizer_params` say otherwise, gradients are divided by the batch size.
        """
        self._require('init_optimizer')
        if self.optimizer_initialized and not force_init:
            self.logger.warning('optimizer already initialized, ignoring...')
            return
        if self._params_dirty:
            self._sync_params_from_devices()
        store, on_store = _create_kvstore(kvstore, len(self._context), self._arg_params)
        batch_size = self._exec_group.batch_size or 1
        if store and 'dist' in store.type and '_sync' in store.type:
            batch_size *= store.num_workers
        names, devices = self._exec_group.param_names, 1 if on_store else len(self._context)
        idx2name = {i * devices + k: name for i, name in enumerate(names) for k in range(devices)}
        made = self._made_optimizer(optimizer, optimizer_params, 1.0 / batch_size, idx2name)
        self._optimizer, self._kvstore, self._update_on_kvstore = made, store, on_store
        self._indices = {name: i for i, name in enumerate(names)}
        self._updater = None if on_store else _optimizer.get_updater(made)
        self._updates = None
        if store:
            if self._compression_params:
                store.set_gradient_compression(self._compression_params)
            if on_store:
                store.set_optimizer(made)
            _initialize_kvstore(store, self._exec_group.param_arrays, self._arg_params, names, on_store)
        self.optimizer_initialized = True
        if self._preload_opt_states is not None:
            self.load_optimizer_states(self._preload_opt_states)
            self._preload_opt_states = None
            set_random_states(self._extra, self._worker())

    def _made_optimizer(self, optimizer, optimizer_params, rescale_grad, idx2name):
        """The optimizer from a name, or the one that is given."""
        if isinstance(optimizer, str):
            try:
                params = {'rescale_grad': rescale_grad, **dict(optimizer_params)}
            except (TypeError, ValueError):
                raise TypeError("optimizer_params must be a dict such as {'learning_rate': 0.1}, or pairs of names and "
                                f'values, not {kind_of(optimizer_params)}') from None
            return _optimizer.create(optimizer, sym=self.symbol, param_idx2name=idx2name, **params)
        if not isinstance(optimizer, _optimizer.Optimizer):
            raise AssertionError(f'optimizer must be an Optimizer or a name, not {kind_of(optimizer)}')
        if optimizer.rescale_grad != rescale_grad:
            warnings.warn(RESCALE.format(found=optimizer.rescale_grad, expected=rescale_grad), UserWarning,
                          stacklevel=4)
        if not optimizer.idx2name:
            optimizer.idx2name = idx2name
        return optimizer

    def borrow_optimizer(self, shared_module: Any) -> None:
        """Uses the optimizer of another module, with its states and its KVStore."""
        shared_module._require_optimizer('borrow_optimizer')
        for field in ('_optimizer', '_kvstore', '_update_on_kvstore', '_updater', '_indices'):
            setattr(self, field, getattr(shared_module, field))
        self._updates = None
        self.optimizer_initialized: bool = True

    # ------------------------------------------------------------------ running
    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Computes the outputs of a batch; if its shapes are new, the module is reshaped first."""
        if interceptors and (scope := entering('Module.forward')) is not None:
            with scope:
                return Module.forward(self, data_batch, is_train)
        try:
            self._check_batch(data_batch)
            self._exec_group.forward(data_batch, is_train)
        except _MISTAKES as error:
            raise self._mistake(data_batch, error) from error

    def _check_batch(self, data_batch):
        """Reshapes the module if the shapes of a batch are new."""
        if not (self.binded and self.params_initialized):
            self._require('forward')
        if isinstance(data_batch, list):
            found = joined_shapes(data_batch)
        else:
            found = [array.shape for array in data_batch.data]
        if found != [desc.shape for desc in self._data_shapes]:
            self.reshape(*descriptions_of(data_batch, found, self._data_shapes, self._label_shapes))

    def _mistake(self, batch, error):
        """The error that says what is wrong with a batch that could not be computed."""
        if isinstance(batch, list) or not self.binded:
            return error
        return explain_error(batch, error, self._data_shapes, self._label_shapes)

    def _step(self, data_batch):
        # once `_updates` are there, one context and no KVStore has a part in it
        if self._updates is None or _parts_of_step(type(self)) != _OWN or not _PARTS.isdisjoint(self.__dict__) \
                or isinstance(data_batch, list):
            super()._step(data_batch)
            return
        try:
            self._check_batch(data_batch)
            self._params_dirty = True
            done = self._exec_group.forward_backward(data_batch, self._due)
        except _MISTAKES as error:
            raise self._mistake(data_batch, error) from error
        if not done:
            self.update()

    def _due(self):
        """The update that is to follow, for a plan that includes it; None where `update` has to look closer."""
        if self._updates is None or type(self._updater) is not _optimizer.Updater:
            return None
        return self._updater._due(*self._updates)

    def forward_backward(self, data_batch: Any) -> None:
        """`forward` for training, then `backward`; together where nothing reads the outputs in between."""
        if interceptors and (scope := entering('Module.forward_backward')) is not None:
            with scope:
                return Module.forward_backward(self, data_batch)
        own = type(self)
        if own.forward is not Module.forward or own.backward is not Module.backward or isinstance(data_batch, list) \
                or 'forward' in self.__dict__ or 'backward' in self.__dict__:
            super().forward_backward(data_batch)
            return
        try:
            self._check_batch(data_batch)
            self._exec_group.forward_backward(data_batch)
        except _MISTAKES as error:
            raise self._mistake(data_batch, error) from error

    def backward(self, out_grads: Arrays | None = None) -> None:
        """Computes the gradients; `out_grads` are those of the outputs, where they are no losses."""
        if interceptors and (scope := entering('Module.backward')) is not None:
            with scope:
                return Module.backward(self, out_grads)
        if not (self.binded and self.params_initialized):
            self._require('backward')
        self._exec_group.backward(out_grads)

    def update(self) -> None:
        """Updates the parameters by the gradients of the last `backward`."""
        if interceptors and (scope := entering('Module.update')) is not None:
            with scope:
                return Module.update(self)
        if not (self.binded and self.params_initialized and self.optimizer_initialized):
            self._require('update', optimizer=True)
        self._params_dirty = True
        group = self._exec_group
        if self._update_on_kvstore:
            _update_params_on_kvstore(group.param_arrays, group.grad_arrays, self._kvstore, group.param_names)
        elif self._kvstore is not None or len(self._context) > 1:
            _update_params(group.param_arrays, group.grad_arrays, self._updater, len(self._context), self._kvstore,
                           group.param_names)
        else:
            if self._updates is None:
                rows = [(self._indices.get(name, name), grads[0], weights[0]) for name, grads, weights
                        in zip(group.param_names, group.grad_arrays, group.param_arrays, strict=True)
                        if grads[0] is not None]
                self._updates = tuple(zip(*rows, strict=True)) or ((), (), ())
            self._updater(*self._updates)

    def get_outputs(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The outputs of the last `forward`; see `BaseModule.get_outputs`."""
        self._require('get_outputs')
        return self._exec_group.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The gradients of the data; see `BaseModule.get_input_grads`."""
        self._require('get_input_grads')
        return self._exec_group.get_input_grads(merge_multi_context)

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """For each of `state_names` a list with one array a context; with merge_multi_context=False only."""
        self._require('get_states')
        return self._exec_group.get_states(merge_multi_context)

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Sets the arrays of `state_names`: from lists as `get_states` gives them, or all to one number."""
        self._require('set_states')
        self._exec_group.set_states(states, value)

    def update_metric(self, eval_metric: EvalMetric, labels: Arrays, pre_sliced: bool = False) -> None:
        """Compares the outputs of the last `forward` with labels."""
        if isinstance(eval_metric, str):
            raise TypeError(f'update_metric: eval_metric must be a metric, not {kind_of(eval_metric)}; '
                            f'mx.metric.create({eval_metric!r}) makes one')
        self._exec_group.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Monitor) -> None:
        """Has a `mx.mon.Monitor` watch all executors."""
        self._require_bound('install_monitor')
        if not hasattr(mon, 'install'):
            raise TypeError(f'install_monitor: mon must be a mx.mon.Monitor, not {kind_of(mon)}')
        self._exec_group.install_monitor(mon)

    def prepare(self, data_batch: Any, sparse_row_id_fn: Callable[..., Any] | None = None) -> None:
        """Fetches rows of row_sparse parameters that the next batch needs; see `BaseModule.prepare`."""
        self._require_bound('prepare')
        if sparse_row_id_fn is None:
            return
        if not self._kvstore or not self._update_on_kvstore:
            warnings.warn('prepare: parameters are not updated in a KVStore, so sparse_row_id_fn is not needed',
                          UserWarning, stacklevel=3)
            return
        rows = sparse_row_id_fn(data_batch)
        if not isinstance(rows, dict):
            raise AssertionError(f'sparse_row_id_fn must give a dict, not {kind_of(rows)}')
        for name, numbers in rows.items():
            arrays = self._exec_group.param_arrays[self._exec_group.param_names.index(name)]
            if arrays[0].stype == 'row_sparse':
                self._kvstore.row_sparse_pull(name, arrays, row_ids=numbers)
            else:
                warnings.warn(f'prepare: {name} is not row_sparse, so all of its rows are available', UserWarning,
                              stacklevel=3)


# What a step consists of.  A program may have its own of each, in a class, in a module, or for all modules.
_PARTS = frozenset(('forward', 'backward', 'forward_backward', 'update'))
_parts_of_step = attrgetter(*sorted(_PARTS))
_OWN = _parts_of_step(Module)


_explain_methods(Module, 'load save_checkpoint save_optimizer_states load_optimizer_states init_params '
                 'set_params bind reshape init_optimizer borrow_optimizer set_states install_monitor prepare '
                 'update_metric')


_suggest_names(globals())
