"""Checkpoints, and `FeedForward`, the oldest way to train a symbol."""
from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from . import io, ndarray
from . import metric as _metric
from . import optimizer as _optimizer
from . import symbol as _symbol
from ._files import paths
from ._kinds import explain_kinds as _explain_kinds
from ._names import kind_of
from ._names import suggest_names as _suggest_names
from ._training import (  # noqa: F401 - programs take them from here
    BatchEndParam,
    _create_kvstore,
    _initialize_kvstore,
    _separate,
    _update_params,
    _update_params_on_kvstore,
    load_checkpoint,
    load_params,
    params_name,
    save_checkpoint,
)
from .base import MXNetError
from .callback import LogValidationMetricsCallback
from .context import Context, cpu
from .executor_manager import _check_arguments
from .initializer import InitDesc, Uniform
from .initializer import create as create_initializer
from .io import DataDesc
from .ndarray import NDArray

if TYPE_CHECKING:
    from ._typing import Callbacks, Contexts, Init, Logger, Metric
    from .kvstore import KVStoreBase
    from .monitor import Monitor
    from .optimizer import Optimizer

__all__ = ['BatchEndParam', 'FeedForward', 'load_checkpoint', 'load_params', 'save_checkpoint']

_UNIFORM, _LOG = Uniform(0.01), LogValidationMetricsCallback()
DEPRECATED = 'mx.model.FeedForward is deprecated; mx.mod.Module does the same and more'


def _multiple_callbacks(callbacks, *args, **kwargs):
    """Calls a function, or each of a list of them, or nothing."""
    for callback in callbacks if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []:
        callback(*args, **kwargs)


# ---------------------------------------------------------------------- FeedForward
class FeedForward:
    """A network with one set of data and labels that is trained and used for prediction; see `mx.mod.Module` instead.

    symbol: a Symbol, or a function of a bucket key that gives one
    ctx: a Context or a list of them
    num_epoch, epoch_size: how many epochs, and how many batches each has; as many as the data have if None
    optimizer: an Optimizer or its name, whose arguments are `kwargs`
    initializer: what fills parameters that `arg_params` and `aux_params` do not give
    numpy_batch_size: the batch size where data are arrays
    allow_extra_params: `arg_params` and `aux_params` may have more than the symbol needs
    begin_epoch: the number of the first epoch

    Arguments of the symbol that the data iterator provides are inputs; all others are parameters, which `arg_params`
    and `aux_params` have after `fit`.
    """

    def __init__(self, symbol: Any, ctx: Contexts | None = None, num_epoch: int | None = None,
                 epoch_size: int | None = None, optimizer: Optimizer | str = 'sgd', initializer: Init | None = _UNIFORM,
                 numpy_batch_size: int = 128, arg_params: Mapping[str, NDArray] | None = None,
                 aux_params: Mapping[str, NDArray] | None = None, allow_extra_params: bool = False,
                 begin_epoch: int = 0, **kwargs: Any) -> None:
        warnings.warn(DEPRECATED, DeprecationWarning, stacklevel=2)
        if isinstance(symbol, _symbol.Symbol):
            self.symbol: Any
            self.sym_gen: Any
            self.symbol, self.sym_gen = symbol, None
        elif callable(symbol):
            self.symbol, self.sym_gen = None, symbol
        else:
            raise AssertionError(f'symbol must be a Symbol or a function that gives one, not {kind_of(symbol)}')
        self.arg_params: Any = arg_params
        self.aux_params: Any = aux_params
        self.allow_extra_params = allow_extra_params
        self.argument_checked = False
        if self.sym_gen is None:
            self._check_arguments()
        self.ctx: Any = [cpu()] if ctx is None else [ctx] if isinstance(ctx, Context) else ctx
        self.num_epoch: Any = num_epoch
        self.epoch_size = epoch_size
        self.kwargs: Any = dict(kwargs)
        self.optimizer = optimizer
        self.initializer = initializer
        self.numpy_batch_size = numpy_batch_size
        self._pred_exec: Any = None
        self._trainer: Any = None            # the module that trains, while `fit` runs
        self._preload_opt_states: Any = None
        self.begin_epoch = begin_epoch

    def __getstate__(self) -> Any:
        return {**self.__dict__, '_pred_exec': None, '_trainer': None}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)

    # ------------------------------------------------------------------ what it works on
    def _check_arguments(self):
        """Sees that names are not used twice, and drops parameters that are not needed."""
        if self.argument_checked:
            return
        self.argument_checked = True
        _check_arguments(self.symbol)
        if self.allow_extra_params:
            self.arg_params = _only(self.arg_params, self.symbol.list_arguments())
            self.aux_params = _only(self.aux_params, self.symbol.list_auxiliary_states())

    def _init_params(self, inputs, overwrite=False):
        """Makes and fills the parameters for inputs of these descriptions: (arguments, parameters, states) by name."""
        inputs = [d if isinstance(d, DataDesc) else DataDesc(*d) for d in inputs]
        shapes, _, state_shapes = self.symbol.infer_shape(**{d.name: d.shape for d in inputs})
        dtypes, _, state_dtypes = self.symbol.infer_type_partial(**{d.name: d.dtype for d in inputs})
        names, states = self.symbol.list_arguments(), self.symbol.list_auxiliary_states()
        given, attributes = {d.name for d in inputs}, self.symbol.attr_dict()

        initializer = self.initializer if callable(self.initializer) else create_initializer(self.initializer)

        def filled(rows, old):
            found = {}
            for name, shape, dtype in rows:
                found[name] = array = ndarray.zeros(shape, dtype=dtype or 'float32')
                if old and name in old and not overwrite:
                    array[:] = old[name]
                else:
                    initializer(InitDesc(name, attributes.get(name)), array)
            return found

        self.arg_params = filled([row for row in zip(names, shapes, dtypes, strict=True) if row[0] not in given],
                                 self.arg_params)
        self.aux_params = filled(zip(states, state_shapes, state_dtypes, strict=True), self.aux_params)
        return names, list(self.arg_params), states

    def _init_iter(self, X, y, is_train):
        """An iterator over data and labels."""
        if isinstance(X, io.DataIter):
            return X
        if not isinstance(X, (numpy.ndarray, NDArray)):
            raise TypeError(f'X must be a DataIter, an NDArray or a NumPy array, not {kind_of(X)}')
        if y is None:
            if is_train:
                raise ValueError('y must be given when X is an array')
            y = numpy.zeros(X.shape[0])
        if not isinstance(y, (numpy.ndarray, NDArray)):
            raise TypeError(f'y must be an array when X is one, not {kind_of(y)}')
        if X.shape[0] != y.shape[0]:
            raise ValueError(f'X has {X.shape[0]} examples, y has {y.shape[0]} labels')
        if y.ndim == 2 and y.shape[1] == 1:
            y = y.reshape((-1,))
        if y.ndim != 1:
            raise ValueError(f'y must have the shape (examples,) or (examples, 1), not {y.shape}')
        size = min(X.shape[0], self.numpy_batch_size)
        if is_train:
            return io.NDArrayIter(X, y, size, shuffle=True, last_batch_handle='roll_over')
        return io.NDArrayIter(X, y, size, shuffle=False)

    def _init_eval_iter(self, eval_data):
        """An iterator over an iterator or a pair of arrays or lists; None stays."""
        if eval_data is None or isinstance(eval_data, io.DataIter):
            return eval_data
        if not isinstance(eval_data, (tuple, list)) or len(eval_data) != 2:
            raise TypeError('eval_data must be a DataIter or a pair (data, labels) of arrays or lists, not '
                            f'{kind_of(eval_data)}')
        data, label = eval_data
        if data is None:
            raise ValueError('eval_data: the data are None')
        if label is None and isinstance(data, io.DataIter):
            return data
        data, label = (numpy.array(part) if isinstance(part, list) else part for part in (data, label))
        return self._init_iter(data, label, is_train=True)

    # ------------------------------------------------------------------ using it
    def _predictor(self, X):
        """An executor for the data of an iterator, and its arrays for them."""
        if self.arg_params is None:
            raise MXNetError('this FeedForward has no parameters yet: call fit, or give arg_params')
        shapes = {d[0]: tuple(d[1]) for d in X.provide_data}
        if self._pred_exec is None or any(self._pred_exec.arg_dict[n].shape != s for n, s in shapes.items()):
            types = {name: array.dtype for name, array in self.arg_params.items()}
            types.update((d.name, d.dtype) for d in X.provide_data if isinstance(d, DataDesc))
            shapes |= {name: array.shape for name, array in self.arg_params.items() if name not in shapes}
            _check_arguments(self.symbol)
            self._pred_exec = self.symbol.simple_bind(self.ctx[0], grad_req='null', type_dict=types, **shapes)
        self._pred_exec.copy_params_from(self.arg_params, self.aux_params)
        return self._pred_exec, [self._pred_exec.arg_dict[d[0]] for d in X.provide_data]

    def predict(self, X: Any, num_batch: int | None = None, return_data: bool = False, reset: bool = True) -> Any:
        """The outputs for data, on the first context: a NumPy array, or a list of them if there are several outputs.

        num_batch: how many batches; all of them if None
        return_data: (outputs, data, labels), data and labels as arrays or lists of them
        """
        X = self._init_iter(X, None, is_train=False)
        if reset:
            X.reset()
        executor, targets = self._predictor(X)
        rows = []
        for number, batch in enumerate(X):
            if number == num_batch:
                break
            real = X.batch_size - (batch.pad or 0)
            for source, target in zip(batch.data, targets, strict=True):
                source.copyto(target)
            found = [executor.forward(is_train=False)]
            if return_data:
                found += [batch.data, batch.label]
            rows.append([[array[0:real].asnumpy() for array in arrays] for arrays in found])
        results = [_single([numpy.concatenate(parts) for parts in zip(*column, strict=True)])
                   for column in zip(*rows, strict=True)]
        return tuple(results) if return_data else results[0]

    def score(self, X: Any, eval_metric: Metric = 'acc', num_batch: int | None = None,
              batch_end_callback: Callbacks | None = None, reset: bool = True) -> float:
        """Predicts data and compares with their labels: the value of the metric."""
        if not isinstance(eval_metric, _metric.EvalMetric):
            eval_metric = _metric.create(eval_metric)
        X = self._init_iter(X, None, is_train=False)
        if reset:
            X.reset()
        executor, targets = self._predictor(X)
        for i, batch in enumerate(X):
            if i == num_batch:
                break
            for source, target in zip(batch.data, targets, strict=True):
                source.copyto(target)
            eval_metric.update(batch.label, executor.forward(is_train=False))
            if batch_end_callback is not None:
                _multiple_callbacks(batch_end_callback, BatchEndParam(0, i, eval_metric, locals()))
        return eval_metric.get()[1]

    # ------------------------------------------------------------------ training it
    def fit(self, X: Any, y: Any = None, eval_data: Any = None, eval_metric: Metric = 'acc',
            epoch_end_callback: Callbacks | None = None, batch_end_callback: Callbacks | None = None,
            kvstore: KVStoreBase | str | None = 'local', logger: Logger | None = None,
            work_load_list: Sequence[float] | None = None, monitor: Monitor | None = None,
            eval_end_callback: Callbacks = _LOG, eval_batch_end_callback: Callbacks | None = None) -> None:
        """Trains the network.

        X, y: an iterator; or arrays of data and of labels
        eval_data: an iterator or a pair of arrays, scored after each epoch
        epoch_end_callback: function(s) of (epoch, symbol, arg_params, aux_params)
        batch_end_callback, eval_end_callback, eval_batch_end_callback: function(s) of a BatchEndParam
        work_load_list: how much of a batch each context gets
        """
        data, eval_data = self._init_iter(X, y, is_train=True), self._init_eval_iter(eval_data)
        if self.sym_gen is not None:
            self.symbol = self.sym_gen(data.default_bucket_key)
            self._check_arguments()
        self._init_params([*data.provide_data, *data.provide_label])
        if not isinstance(eval_metric, _metric.EvalMetric):
            eval_metric = _metric.create(eval_metric)
        logger = logger or logging
        logger.info('Start training with %s', self.ctx)
        self._trainer = module = self._module(data, kvstore, logger, work_load_list, monitor)
        data.reset()
        from .module._run import Run
        module._run = run = Run(data, eval_data, ahead=False, resets=False)
        module._go_on(run, self.begin_epoch)
        for epoch in range(self.begin_epoch, self.num_epoch):
            begin = time.time()
            eval_metric.reset()
            self._train_epoch(epoch, module, data, eval_metric, batch_end_callback, monitor, logger)
            run.ended()
            logger.info('Epoch[%d] Time cost=%.3f', epoch, time.time() - begin)
            if epoch_end_callback or epoch + 1 == self.num_epoch:
                self._take(*module.get_params())
            _multiple_callbacks(epoch_end_callback, epoch, self.symbol, self.arg_params, self.aux_params)
            if eval_data is not None:
                module.score(eval_data, eval_metric, epoch=epoch, score_end_callback=eval_end_callback,
                             batch_end_callback=eval_batch_end_callback)
                eval_data.reset()
            run.ready()
        self._trainer = None

    def _module(self, data, kvstore, logger, work_load_list, monitor):
        """A module that is ready to train."""
        from .module import BucketingModule, Module
        names = [d[0] for d in data.provide_data], [d[0] for d in data.provide_label]
        common = {'context': self.ctx, 'work_load_list': work_load_list, 'logger': logger}
        if self.sym_gen is None:
            module: Any = Module(self.symbol, *names, **common)
        else:
            module = BucketingModule(lambda key: (self.sym_gen(key), *names), data.default_bucket_key, **common)
        module.bind(data.provide_data, data.provide_label)
        if monitor is not None:
            module.install_monitor(monitor)
        module.init_params(None, self.arg_params, self.aux_params)
        owner = module if self.sym_gen is None else module._curr_module
        owner._preload_opt_states, self._preload_opt_states = self._preload_opt_states, None
        optimizer = self.optimizer
        if isinstance(optimizer, _optimizer.Optimizer):
            with warnings.catch_warnings():
                # what rescales its gradients is the program's choice
                warnings.simplefilter('ignore', UserWarning)
                module.init_optimizer(kvstore, optimizer)
        else:
            module.init_optimizer(kvstore, optimizer, self.kwargs)
        return module

    def _train_epoch(self, epoch, module, data, eval_metric, batch_end_callback, monitor, logger):
        run = module._run
        run.begin(epoch)
        nbatch, _ = run.skip(data)
        empty = False           # the last pass had no batch: it may have begun where an epoch of epoch_size ended
        while True:
            before = nbatch
            for data_batch in data:
                if monitor is not None:
                    monitor.tic()
                module._step(data_batch)
                if monitor is not None:
                    monitor.toc_print()
                module.update_metric(eval_metric, data_batch.label)
                nbatch += 1
                run.done()
                if batch_end_callback is not None:
                    _multiple_callbacks(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
                if nbatch == self.epoch_size:
                    return
            if nbatch == before and not run.batches:
                if empty or self.epoch_size is None:
                    raise MXNetError('fit: the data have no batches')
                empty = True
            logger.info('Epoch[%d] Resetting Data Iterator', epoch)
            data.reset()
            if self.epoch_size is None:
                return

    def _take(self, arg_params, aux_params):
        """Copies parameters into the dicts that callbacks and programs know."""
        for own, new in ((self.arg_params, arg_params), (self.aux_params, aux_params)):
            for name, array in new.items():
                own[name][:] = array

    # ------------------------------------------------------------------ files
    def save(self, prefix: str, epoch: int | None = None, remove_amp_cast: bool = True,
             save_optimizer_states: bool = False) -> None:
        """Writes a checkpoint, of the epoch `num_epoch` unless given; see `save_checkpoint`.

        save_optimizer_states: also `prefix-0003.states`, from which training goes on as it was; in callbacks of `fit`
        """
        epoch = self.num_epoch if epoch is None else epoch
        if epoch is None:
            raise AssertionError('save: the model has no num_epoch; pass epoch=...')
        if save_optimizer_states and self._trainer is None:
            raise AssertionError('save: there are states of an optimizer only while fit runs; save them in a callback')
        if save_optimizer_states:
            self._take(*self._trainer.get_params())         # in the middle of an epoch, too
        with paths.together(prefix):
            save_checkpoint(prefix, epoch, self.symbol, self.arg_params, self.aux_params, remove_amp_cast)
            if save_optimizer_states:
                self._trainer.save_optimizer_states(f'{prefix}-{epoch:04d}.states')

    @staticmethod
    def load(prefix: str, epoch: int, ctx: Contexts | None = None, load_optimizer_states: bool = False,
             **kwargs: Any) -> FeedForward:
        """A model from a checkpoint; training goes on after its epoch.  `kwargs` are those of the class.

        load_optimizer_states: `fit` is to read `prefix-0003.states`, too, and goes on where they were saved
        """
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        model = FeedForward(symbol, ctx=ctx, arg_params=arg_params, aux_params=aux_params,
                            **{'begin_epoch': epoch, **kwargs})
        if load_optimizer_states:
            model._preload_opt_states = f'{prefix}-{epoch:04d}.states'
        return model

    @staticmethod
    def create(symbol: Any, X: Any, y: Any = None, ctx: Contexts | None = None, num_epoch: int | None = None,
               epoch_size: Any = None, optimizer: Optimizer | str = 'sgd', initializer: Init | None = _UNIFORM,
               eval_data: Any = None, eval_metric: Metric = 'acc', epoch_end_callback: Callbacks | None = None,
               batch_end_callback: Callbacks | None = None, kvstore: KVStoreBase | str | None = 'local',
               logger: Logger | None = None, work_load_list: Sequence[float] | None = None,
               eval_end_callback: Callbacks = _LOG, eval_batch_end_callback: Callbacks | None = None,
               **kwargs: Any) -> FeedForward:
        """Makes a model and trains it; arguments are those of the class and of `fit`."""
        model = FeedForward(symbol, ctx=ctx, num_epoch=num_epoch, epoch_size=epoch_size, optimizer=optimizer,
                            initializer=initializer, **kwargs)
        model.fit(X, y, eval_data=eval_data, eval_metric=eval_metric, epoch_end_callback=epoch_end_callback,
                  batch_end_callback=batch_end_callback, kvstore=kvstore, logger=logger,
                  work_load_list=work_load_list, eval_end_callback=eval_end_callback,
                  eval_batch_end_callback=eval_batch_end_callback)
        return model


def _only(params, names):
    return params and {name: array for name, array in params.items() if name in set(names)}


def _single(values):
    return values[0] if len(values) == 1 else values


_explain_kinds(globals(), ('load_checkpoint', 'load_params', 'save_checkpoint'))
_suggest_names(globals())
