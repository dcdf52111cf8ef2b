"""`BucketingModule`: one module for each length of input, all with the same parameters."""
from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .. import ndarray
from .. import symbol as _symbol
from .._files import paths
from .._kinds import explain_methods as _explain_methods
from .._names import explain_arguments, kind_of
from .._names import suggest_names as _suggest_names
from .._training import load_params, params_name
from ..name import NameManager
from ..symbol.symbol import SymbolBase
from .base_module import _UNIFORM, BaseModule, _check_input_names, draws
from .module import _CPU, Module

if TYPE_CHECKING:
    from .._typing import Arrays, Contexts, DataDescs, GradReq, Init, Logger, Path
    from ..io import DataDesc
    from ..kvstore import KVStoreBase
    from ..metric import EvalMetric
    from ..monitor import Monitor
    from ..ndarray import NDArray
    from ..optimizer import Optimizer
    from ..symbol import Symbol

__all__ = ['BucketingModule']


@explain_arguments
class BucketingModule(BaseModule):
    """Trains on batches of different lengths: each length, a bucket, has a symbol of its own.

    sym_gen: a function of a bucket key that gives (symbol, data names, label names)
    default_bucket_key: the key of the largest bucket, which the module is bound for first
    Other arguments are those of `Module`.

    The key of a batch is its `bucket_key`.  All buckets share parameters, gradients and the memory of inputs.
    """

    def __init__(self, sym_gen: Callable[..., Any], default_bucket_key: Any = None, logger: Logger = logging,
                 context: Contexts = _CPU, work_load_list: Sequence[float] | None = None,
                 fixed_param_names: Sequence[str] | None = None, state_names: Sequence[str] | None = None,
                 group2ctxs: Any = None, compression_params: Mapping[str, Any] | None = None) -> None:
        super().__init__(logger=logger)
        if default_bucket_key is None:
            raise AssertionError('BucketingModule: default_bucket_key is missing')
        self._default_bucket_key = default_bucket_key
        if isinstance(sym_gen, SymbolBase) or not callable(sym_gen):
            raise TypeError('BucketingModule: sym_gen must be a function of a bucket key that returns (symbol, data '
                            f'names, label names), not {kind_of(sym_gen)}')
        self._sym_gen = sym_gen
        self._options = {'logger': logger, 'context': context, 'work_load_list': work_load_list,
                         'fixed_param_names': fixed_param_names, 'state_names': state_names, 'group2ctxs': group2ctxs,
                         'compression_params': compression_params}
        symbol, data_names, label_names = self._call_sym_gen(default_bucket_key)
        _check_input_names(symbol, list(data_names or ()), 'data', True)
        _check_input_names(symbol, list(label_names or ()), 'label', False)
        _check_input_names(symbol, list(state_names or ()), 'state', True)
        _check_input_names(symbol, list(fixed_param_names or ()), 'fixed_param', True)
        self._buckets: dict[Any, Any] = {}
        self._curr_module: Any = None
        self._curr_bucket_key = None
        self._params_dirty = False
        self._monitor: Any = None
        self._grad_req: Any = None

    def _call_sym_gen(self, key):
        # names are counted from 0 for each bucket: the parameters of all must have the same ones
        with NameManager():
            found = self._sym_gen(key)
        if not isinstance(found, (tuple, list)) or len(found) != 3:
            raise TypeError(f'BucketingModule: sym_gen({key!r}) must return (symbol, data names, label names), not '
                            f'{kind_of(found)}')
        return found

    def _reset_bind(self):
        self.binded = False
        self._buckets = {}
        self._curr_module = self._curr_bucket_key = None

    # ------------------------------------------------------------------ what it is
    @property
    def data_names(self) -> list[str]:
        """Names of the data."""
        return self._curr_module.data_names if self.binded else self._call_sym_gen(self._default_bucket_key)[1]

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        if self.binded:
            return self._curr_module.output_names
        return self._call_sym_gen(self._default_bucket_key)[0].list_outputs()

    @property
    def data_shapes(self) -> list[DataDesc]:
        """(name, shape) of the data of the bucket in use."""
        self._require_bound('data_shapes')
        return self._curr_module.data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """(name, shape) of the labels of the bucket in use; None if there are none."""
        self._require_bound('label_shapes')
        return self._curr_module.label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """(name, shape) of the outputs of the bucket in use."""
        self._require_bound('output_shapes')
        return self._curr_module.output_shapes

    @property
    def symbol(self) -> Symbol:
        """The symbol of the bucket in use."""
        self._require_bound('symbol')
        return self._curr_module.symbol

    # ------------------------------------------------------------------ parameters
    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """(arguments, auxiliary states): dicts of copies of the parameters on the CPU."""
        if not self.params_initialized:
            raise AssertionError('get_params: there are no parameters; call init_params first')
        self._curr_module._params_dirty = self._params_dirty
        params = self._curr_module.get_params()
        self._params_dirty = False
        return params

    def init_params(self, initializer: Init | None = _UNIFORM, arg_params: Mapping[str, NDArray] | None = None,
                    aux_params: Mapping[str, NDArray] | None = None, allow_missing: bool = False,
                    force_init: bool = False, allow_extra: bool = False) -> None:
        """Fills the parameters; see `BaseModule.init_params`."""
        if self.params_initialized and not force_init:
            return
        if not self.binded:
            raise AssertionError('init_params: call bind first')
        self._curr_module.init_params(initializer=initializer, arg_params=arg_params, aux_params=aux_params,
                                      allow_missing=allow_missing, force_init=force_init, allow_extra=allow_extra)
        self._params_dirty = False
        self.params_initialized = True

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
        self._curr_module.set_params(arg_params, aux_params, allow_missing=allow_missing, force_init=force_init,
                                     allow_extra=allow_extra)
        self._params_dirty = True
        self.params_initialized: bool = True

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """For each of `state_names` a list with one array a context; with merge_multi_context=False only."""
        self._require('get_states')
        return self._curr_module.get_states(merge_multi_context)

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Sets the arrays of `state_names`: from lists as `get_states` gives them, or all to one number."""
        self._require('set_states')
        self._curr_module.set_states(states, value)

    # ------------------------------------------------------------------ making ready
    def bind(self, data_shapes: DataDescs, label_shapes: DataDescs | None = None, for_training: bool = True,
             inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: BaseModule | None = None,
             grad_req: GradReq = 'write') -> None:
        """Makes the executors of the default bucket; those of others are made when they are needed."""
        kept = self.get_params() if self.params_initialized else None
        if force_rebind:
            self._reset_bind()
        if self.binded:
            self.logger.warning('Already bound, ignoring bind()')
            return
        if shared_module is not None:
            raise AssertionError('bind: a BucketingModule cannot share with another module')
        key = self._default_bucket_key
        module = self._buckets.get(key) or self._new_module(key)
        module.bind(data_shapes, label_shapes, for_training, inputs_need_grad, grad_req=grad_req)
        self.for_training: bool
        self.inputs_need_grad: bool
        self.for_training, self.inputs_need_grad, self._grad_req = for_training, inputs_need_grad, grad_req
        self.binded: bool = True
        self._buckets[key] = self._curr_module = module
        self._curr_bucket_key = key
        if kept is not None:
            self.set_params(*kept)

    def _new_module(self, key):
        return Module(*self._call_sym_gen(key), **self._options)

    def switch_bucket(self, bucket_key: Any, data_shapes: Any, label_shapes: DataDescs | None = None) -> None:
        """Makes another bucket the one in use; its executors are made for these shapes if there are none yet."""
        self._require_bound('switch_bucket')
        module = self._buckets.get(bucket_key)
        if module is None or not module.binded:
            module = module or self._new_module(bucket_key)
            module.bind(data_shapes, label_shapes, self._curr_module.for_training, self._curr_module.inputs_need_grad,
                        shared_module=self._buckets[self._default_bucket_key], grad_req=self._grad_req)
            if self._monitor is not None:
                module.install_monitor(self._monitor)
            self._buckets[bucket_key] = module
        self._curr_module, self._curr_bucket_key = module, bucket_key

    def init_optimizer(self, kvstore: KVStoreBase | str | None = 'local', optimizer: Optimizer | str = 'sgd',
                       optimizer_params: Mapping[str, Any] | Sequence[tuple[str, Any]] = (('learning_rate', 0.01),),
                       force_init: bool = False) -> None:
        """Installs an optimizer, the same for all buckets; see `BaseModule.init_optimizer`."""
        self._require('init_optimizer')
        if self.optimizer_initialized and not force_init:
            self.logger.warning('optimizer already initialized, ignoring.')
            return
        self._curr_module.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
        for module in self._buckets.values():
            if module is not self._curr_module:
                module.borrow_optimizer(self._curr_module)
        self.optimizer_initialized = True
        self._states_read, self._extra = self._curr_module._states_read, self._curr_module._extra

    def install_monitor(self, mon: Monitor) -> None:
        """Has a `mx.mon.Monitor` watch all executors, also those of buckets to come."""
        self._require_bound('install_monitor')
        self._monitor = mon
        for module in self._buckets.values():
            if module.binded:
                module.install_monitor(mon)

    # ------------------------------------------------------------------ running
    def prepare(self, data_batch: Any, sparse_row_id_fn: Callable[..., Any] | None = None) -> None:
        """Makes the executors of the next batch's bucket, if there are none yet; the bucket in use stays."""
        self._require('prepare')
        here = self._curr_bucket_key
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_module.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        self.switch_bucket(here, None, None)

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Computes the outputs of a batch, whose bucket becomes the one in use."""
        self._require('forward')
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_module.forward(data_batch, is_train=is_train)

    def backward(self, out_grads: Arrays | None = None) -> None:
        """Computes the gradients; `out_grads` are those of the outputs, where they are no losses."""
        self._require('backward')
        self._curr_module.backward(out_grads=out_grads)

    def update(self) -> None:
        """Updates the parameters by the gradients of the last `backward`."""
        self._require('update', optimizer=True)
        self._params_dirty = True
        self._curr_module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The outputs of the last `forward`; see `BaseModule.get_outputs`."""
        self._require('get_outputs')
        return self._curr_module.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The gradients of the data; see `BaseModule.get_input_grads`."""
        self._require('get_input_grads')
        return self._curr_module.get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric: EvalMetric, labels: Arrays, pre_sliced: bool = False) -> None:
        """Compares the outputs of the last `forward` with labels."""
        self._require('update_metric')
        self._curr_module.update_metric(eval_metric, labels, pre_sliced)

    # ------------------------------------------------------------------ checkpoints
    def _worker(self):
        return None if self._curr_module is None else self._curr_module._worker()

    def _draws(self):
        return draws(self.symbol)

    def save_optimizer_states(self, fname: Path) -> None:
        """Writes the states of the optimizer, which all buckets share; see `Module.save_optimizer_states`."""
        self._require('save_optimizer_states', optimizer=True)
        with self._keeping():
            self._curr_module.save_optimizer_states(fname)

    def load_optimizer_states(self, fname: Path) -> None:
        """Reads the states of the optimizer."""
        self._require('load_optimizer_states', optimizer=True)
        self._curr_module.load_optimizer_states(fname)
        self._states_read, self._extra = True, self._curr_module._extra

    def save_checkpoint(self, prefix: str, epoch: int, remove_amp_cast: bool = False,
                        save_optimizer_states: bool = False) -> None:
        """Writes `prefix-10-symbol.json` for a bucket key 10, `prefix-0003.params` for epoch 3, and `prefix.buckets`.

        Keys must be ints.  With save_optimizer_states, `prefix-0003.states`, too.
        """
        if not self._buckets:
            raise AssertionError('save_checkpoint: the module has no buckets yet; call bind first')
        with paths.together(prefix):
            self.save_params(params_name(prefix, epoch))
            for key in self._buckets:
                self._call_sym_gen(key)[0].save(f'{prefix}-{key}-symbol.json', remove_amp_cast=remove_amp_cast)
            ndarray.save(f'{prefix}.buckets', ndarray.array(list(self._buckets), dtype=numpy.int32))
            if save_optimizer_states:
                self.save_optimizer_states(f'{prefix}-{epoch:04d}.states')

    @staticmethod
    def load(prefix: str, epoch: int, sym_gen: Any = None, default_bucket_key: Any = None,
             load_optimizer_states: bool = False, **kwargs: Any) -> Any:
        """A module from what `save_checkpoint` wrote.

        sym_gen: as it was when saving; for buckets that were saved it only gives the names of data and labels
        load_optimizer_states: `init_optimizer` is to read `prefix-0003.states`; see `Module.load`
        kwargs: those of the class
        """
        def read():
            keys = ndarray.load(f'{prefix}.buckets')[0].asnumpy().tolist()
            return {key: _symbol.load(f'{prefix}-{key}-symbol.json') for key in keys}, *load_params(prefix, epoch)
        symbols, *params = paths.read_together([f'{prefix}.buckets', f'{prefix}-{epoch:04d}.params'], read)
        found = BucketingModule.load_dict(symbols, sym_gen, default_bucket_key, *params, **kwargs)
        if load_optimizer_states:
            found._curr_module._preload_opt_states = f'{prefix}-{epoch:04d}.states'
        return found

    @staticmethod
    def load_dict(sym_dict: Any = None, sym_gen: Any = None, default_bucket_key: Any = None,
                  arg_params: Mapping[str, NDArray] | None = None, aux_params: Mapping[str, NDArray] | None = None,
                  **kwargs: Any) -> Any:
        """A module from {bucket key: symbol} and the parameters that all of them share."""
        given = {'sym_dict': sym_dict, 'sym_gen': sym_gen, 'default_bucket_key': default_bucket_key,
                 'arg_params': arg_params, 'aux_params': aux_params}
        missing = [name for name, value in given.items() if value is None]
        if missing:
            raise AssertionError(f'BucketingModule.load_dict: {", ".join(missing)} missing')
        bucketing = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        for key, symbol in sym_dict.items():
            _, data_names, label_names = bucketing._call_sym_gen(key)
            bucketing._buckets[key] = Module(symbol, data_names, label_names, **bucketing._options)
        if default_bucket_key not in bucketing._buckets:
            raise AssertionError(f'BucketingModule.load_dict: there is no symbol of the default bucket '
                                 f'{default_bucket_key!r}, only of {list(sym_dict)}')
        module = bucketing._curr_module = bucketing._buckets[default_bucket_key]
        module._arg_params, module._aux_params = arg_params, aux_params
        module.params_initialized = bucketing.params_initialized = True
        return bucketing


_explain_methods(BucketingModule, 'bind init_params set_params switch_bucket init_optimizer save_checkpoint load '
                 'load_dict')


_suggest_names(globals())
