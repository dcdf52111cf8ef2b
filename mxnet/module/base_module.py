"""`BaseModule`: what all modules have in common, above all `fit`, `score` and `predict`."""
from __future__ import annotations

import json
import logging
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .. import _random_state as _random
from .. import metric as _metric
from .. import ndarray
from .._dispatch import entering, interceptors
from .._kinds import explain_methods as _explain_methods
from .._names import explain_keywords, kind_of, set_by_init
from .._training import BatchEndParam, _separate
from ..base import MXNetError, _as_list
from ..context import cpu
from ..initializer import Uniform
from ..io import DataBatch, DataDesc, DataIter
from ..ndarray import NDArray
from ..optimizer._progress import keeping
from ._run import Run

if TYPE_CHECKING:
    from .._typing import Arrays, Callbacks, DataDescs, GradReq, Init, Logger, Metric, Path
    from ..kvstore import KVStoreBase
    from ..metric import EvalMetric
    from ..monitor import Monitor
    from ..optimizer import Optimizer
    from ..symbol import Symbol

__all__ = ['BaseModule']

_UNIFORM = Uniform(0.01)
_NOT_INPUTS = ('_weight', '_bias', '_gamma', '_beta')
NO_SUCH_INPUT = ('Module(..., {kind}_names={names}): the symbol has no argument {name!r}. Arguments that may be meant: '
                 '{candidates}')
OTHER_NAMES = '{kind}_shapes has {found}, but {kind}_names are {names}'
NOT_READY = '{what}: the module is not ready; call {missing} first'


def _check_input_names(symbol, names, typename, throw):
    """Raises ValueError, or warns unless `throw`, if the symbol has no argument of one of these names."""
    arguments = symbol.list_arguments()
    for name in names:
        if name in arguments:
            continue
        candidates = ', '.join(a for a in arguments if not a.endswith(_NOT_INPUTS))
        _complain(NO_SUCH_INPUT.format(kind=typename, names=names, name=name, candidates=candidates), throw)


def _check_names_match(data_names, data_shapes, name, throw):
    """Raises ValueError, or warns unless `throw`, if descriptions are not those of these names."""
    found = [d[0] for d in data_shapes]
    if sorted(found) != sorted(data_names):
        _complain(OTHER_NAMES.format(kind=name, found=found, names=list(data_names)), throw)


def _complain(message, throw):
    if throw:
        raise ValueError(message)
    warnings.warn(message, UserWarning, stacklevel=6)


def check_iterator(method: str, name: str, given: Any) -> Any:
    """Raises TypeError if what should be an iterator over batches is something else."""
    if hasattr(given, 'provide_data') and hasattr(given, 'reset'):
        return
    how = 'mx.contrib.io.DataLoaderIter converts a DataLoader' if type(given).__name__ == 'DataLoader' else \
        'mx.io.NDArrayIter(data, label, batch_size) converts arrays'
    kind: Any = type(given)
    kind = kind.__name__ if kind.__module__ == 'builtins' else f'{kind.__module__}.{kind.__name__}'
    raise TypeError(f'{method}: {name} must be a DataIter, not a {kind}; {how}')


def _described(shapes):
    """(name, shape, ...) tuples as DataDesc; None stays."""
    if shapes is None:
        return None
    if not isinstance(shapes, (list, tuple)):
        raise TypeError('shapes of data and labels are given as a list of (name, shape), such as '
                        f"[('data', (32, 10))], not {shapes!r}")
    found = []
    for desc in shapes:
        if not isinstance(desc, DataDesc):
            if not isinstance(desc, (tuple, list)) or not 2 <= len(desc) <= 4 or not isinstance(desc[0], str):
                raise TypeError('shapes of data and labels are given as a list of (name, shape), such as '
                                f"[('data', (32, 10))], not {shapes!r}")
            desc = DataDesc(*desc)
        if not isinstance(desc.shape, (tuple, list)):
            raise TypeError(f'the shape of {desc.name} must be a tuple of ints, not {kind_of(desc.shape)}')
        found.append(DataDesc(desc.name, tuple(desc.shape), desc.dtype, desc.layout))
    return found


def _parse_data_desc(data_names, label_names, data_shapes, label_shapes, need_labels=True):
    """Descriptions of data and labels as DataDesc, their names checked; labels may be missing unless needed."""
    if data_shapes is None:
        raise TypeError("bind: data_shapes must be a list of (name, shape), such as [('data', (32, 10))], not None")
    data_shapes, label_shapes = _described(data_shapes), _described(label_shapes)
    _check_names_match(data_names, data_shapes, 'data', True)
    if label_shapes or need_labels:
        _check_names_match(label_names, label_shapes or [], 'label', False)
    return data_shapes, label_shapes


class BaseModule:
    """The base of all modules: bound to shapes, they have parameters, run forward and backward, and learn.

    A module of one's own defines `bind`, `init_params`, `get_params`, `init_optimizer`, `forward`, `backward`,
    `update`, `get_outputs`, `get_input_grads`, `update_metric` and the properties `data_names`, `output_names`,
    `data_shapes`, `label_shapes` and `output_shapes`.  `fit`, `score`, `predict` and `iter_predict` follow from them.

    `binded`, `params_initialized` and `optimizer_initialized` say what has been done; `for_training` and
    `inputs_need_grad` how it was bound.
    """

    optimizer_initialized: Any
    params_initialized: Any
    binded: Any
    logger: Any

    _run = None                 # where `fit` is, see _run.py
    _states_read = False        # whether states of the optimizer were read since the last `fit`
    _extra: Any = None               # what was with them

    logger = binded = params_initialized = optimizer_initialized = set_by_init()

    def __init__(self, logger: Logger = logging) -> None:
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol: Any = None
        self._total_exec_bytes = 0

    def _require(self, what, optimizer=False):
        """Raises AssertionError unless the module is bound and has parameters (and an optimizer)."""
        if not self.binded or not self.params_initialized or (optimizer and not self.optimizer_initialized):
            missing = 'bind' if not self.binded else 'init_params' if not self.params_initialized else 'init_optimizer'
            raise AssertionError(NOT_READY.format(what=what, missing=missing))

    def _require_bound(self, what):
        if not self.binded:
            raise AssertionError(NOT_READY.format(what=what, missing='bind'))

    # ------------------------------------------------------------------ whole data sets
    def forward_backward(self, data_batch: Any) -> None:
        """`forward` for training, then `backward`."""
        if interceptors and (scope := entering('BaseModule.forward_backward')) is not None:
            with scope:
                return BaseModule.forward_backward(self, data_batch)
        self.forward(data_batch, is_train=True)
        self.backward()

    def _step(self, data_batch):
        """`forward_backward`, then `update`: what the loops of the library call, which look at nothing in between."""
        self.forward_backward(data_batch)
        self.update()

    def score(self, eval_data: DataIter, eval_metric: Metric, num_batch: int | None = None,
              batch_end_callback: Callbacks | None = None, score_end_callback: Callbacks | None = None,
              reset: bool = True, epoch: int = 0,
              sparse_row_id_fn: Callable[..., Any] | None = None) -> list[tuple[str, float]]:
        """Predicts a data set and compares with its labels: [(name of the metric, value), ...].

        num_batch: how many batches; all of them if None
        batch_end_callback, score_end_callback: functions, or lists of them, that get a BatchEndParam
        reset: whether the iterator is reset first
        """
        self._require('score')
        check_iterator('score', 'eval_data', eval_data)
        if reset:
            eval_data.reset()
        if not isinstance(eval_metric, _metric.EvalMetric):
            eval_metric = _metric.create(eval_metric)
        eval_metric.reset()
        count = 0
        for nbatch, eval_batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            self._measure(eval_metric, eval_batch)
            if batch_end_callback is not None:
                _call(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            count += 1
        if score_end_callback:
            _call(score_end_callback, BatchEndParam(epoch, count, eval_metric, locals()))
        return eval_metric.get_name_value()

    def _measure(self, eval_metric, batch):
        if isinstance(batch, list):
            self.update_metric(eval_metric, [b.label for b in batch], pre_sliced=True)
        else:
            self.update_metric(eval_metric, batch.label)

    def iter_predict(self, eval_data: Any, num_batch: int | None = None, reset: bool = True,
                     sparse_row_id_fn: Callable[..., Any] | None = None) -> Iterator[Any]:
        """Predicts batch after batch: yields (list of outputs, number of the batch, the batch).

        Outputs are without what only fills up a batch, and are valid until the next one.
        """
        self._require('iter_predict')
        if reset:
            eval_data.reset()
        for nbatch, eval_batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            yield [_unpadded(out, eval_batch.pad) for out in self.get_outputs()], nbatch, eval_batch

    def predict(self, eval_data: Any, num_batch: int | None = None, merge_batches: bool = True, reset: bool = True,
                always_output_list: bool = False, sparse_row_id_fn: Callable[..., Any] | None = None) -> Any:
        """The outputs for a data set: an array, or a list of them if the module has several outputs.

        eval_data: an iterator; or an array, which is one batch
        merge_batches: join the outputs of all batches; else a list with the list of outputs of each batch
        always_output_list: a list even if there is one output
        """
        self._require('predict')
        if isinstance(eval_data, (NDArray, numpy.ndarray)):
            batch = eval_data if isinstance(eval_data, NDArray) else ndarray.array(eval_data)
            self.forward(DataBatch([batch]), is_train=False)
            return self.get_outputs()[0]
        if not isinstance(eval_data, DataIter):
            raise ValueError(f'predict takes a DataIter, an NDArray or a NumPy array, not {kind_of(eval_data)}')
        batches = [[out.copy() for out in outputs]
                   for outputs, _, _ in self.iter_predict(eval_data, num_batch, reset, sparse_row_id_fn)]
        if not batches or not merge_batches:
            return batches
        if any(len(outputs) != len(batches[0]) for outputs in batches):
            raise AssertionError('predict: batches have different numbers of outputs and cannot be merged; with '
                                 'bucketing, use merge_batches=False')
        merged = [ndarray.concatenate(list(parts)) for parts in zip(*batches, strict=True)]
        return merged[0] if len(merged) == 1 and not always_output_list else merged

    @explain_keywords
    def fit(self, train_data: DataIter, eval_data: DataIter | None = None, eval_metric: Metric = 'acc',
            epoch_end_callback: Callbacks | None = None, batch_end_callback: Callbacks | None = None,
            kvstore: KVStoreBase | str | None = 'local', optimizer: Optimizer | str = 'sgd',
            optimizer_params: Mapping[str, Any] | Sequence[tuple[str, Any]] = (('learning_rate', 0.01),),
            eval_end_callback: Callbacks | None = None, eval_batch_end_callback: Callbacks | None = None,
            initializer: Init = _UNIFORM, arg_params: Mapping[str, NDArray] | None = None,
            aux_params: Mapping[str, NDArray] | None = None, allow_missing: bool = False, force_rebind: bool = False,
            force_init: bool = False, begin_epoch: int = 0, num_epoch: int | None = None,
            validation_metric: Metric | None = None, monitor: Monitor | None = None,
            sparse_row_id_fn: Callable[..., Any] | None = None) -> None:
        """Trains the module: binds it, fills its parameters, installs an optimizer, and runs epochs.

        train_data, eval_data: iterators; the second is scored after each epoch
        eval_metric, validation_metric: metrics, names of metrics, or lists; the second is the first unless given
        batch_end_callback: function(s) of a BatchEndParam (epoch, nbatch, eval_metric, locals)
        epoch_end_callback: function(s) of (epoch, symbol, arg_params, aux_params)
        kvstore: how devices add up their gradients: 'local', 'device', ..., or a KVStore
        optimizer, optimizer_params: an Optimizer; or its name and arguments
        initializer: what fills parameters that `arg_params` and `aux_params` do not give
        allow_missing: whether they may give only some
        begin_epoch, num_epoch: epochs run from begin_epoch to num_epoch - 1
        monitor: a `mx.mon.Monitor`

        A module that was loaded with the states of its optimizer goes on where they were saved, bit for bit, if
        `begin_epoch` is the epoch that was due: with the data that were to come and the random numbers of that time.
        """
        if num_epoch is None:
            raise AssertionError('fit: please say how many epochs: num_epoch=...')
        for name, value in (('num_epoch', num_epoch), ('begin_epoch', begin_epoch)):
            if not isinstance(value, (int, numpy.integer)):
                raise TypeError(f'fit: {name} must be an int, not {value!r}')
        check_iterator('fit', 'train_data', train_data)
        if eval_data is not None:
            check_iterator('fit', 'eval_data', eval_data)
        for name, given in (('batch_end_callback', batch_end_callback), ('epoch_end_callback', epoch_end_callback),
                            ('eval_end_callback', eval_end_callback),
                            ('eval_batch_end_callback', eval_batch_end_callback)):
            for callback in () if given is None else _as_list(given):
                if not callable(callback):
                    raise TypeError(f'fit: {name} must be a function or a list of them, not {callback!r}')
        self.bind(data_shapes=train_data.provide_data, label_shapes=train_data.provide_label, for_training=True,
                  force_rebind=force_rebind)
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(initializer=initializer, arg_params=arg_params, aux_params=aux_params,
                         allow_missing=allow_missing, force_init=force_init)
        self.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params)
        if validation_metric is None:
            validation_metric = eval_metric
        if not isinstance(eval_metric, _metric.EvalMetric):
            eval_metric = _metric.create(eval_metric)
        self._run = run = Run(train_data, eval_data)
        self._go_on(run, begin_epoch)
        for epoch in range(begin_epoch, num_epoch):
            begin = time.time()
            eval_metric.reset()
            self._train_epoch(epoch, train_data, eval_metric, batch_end_callback, monitor, sparse_row_id_fn)
            run.ended()
            self.logger.info('Epoch[%d] Time cost=%.3f', epoch, time.time() - begin)
            # devices have moving averages of their own; from here on all have the mean
            arg_params, aux_params = self.get_params()
            self.set_params(arg_params, aux_params)
            if epoch_end_callback is not None:
                for callback in _as_list(epoch_end_callback):
                    callback(epoch, self.symbol, arg_params, aux_params)
            if eval_data is not None:
                found = self.score(eval_data, validation_metric, score_end_callback=eval_end_callback,
                                   batch_end_callback=eval_batch_end_callback, epoch=epoch)
                for name, score in found:
                    self.logger.info('Epoch[%d] Validation-%s=%f', epoch, name, score)
            run.reset()
            run.ready()
        run.close()

    def _go_on(self, run, begin_epoch):
        """Has data and random numbers go on where they were when the states of the optimizer were saved."""
        if self._states_read:
            self._states_read = False
            run.go_on(self._extra, begin_epoch, self._worker(), self._draws())
            self._extra = None

    def _draws(self):
        """Whether the network draws random numbers in training."""
        return self._symbol is not None and draws(self._symbol)

    def _worker(self):
        """(rank, number of workers) in a distributed job, else None."""
        store = getattr(self, '_kvstore', None)
        return (store.rank, store.num_workers) if store is not None and 'dist' in store.type else None

    def _keeping(self):
        """State files that are written inside say where training is."""
        return keeping(self._notes())

    def _notes(self):
        nowhere = {'phase': 'ready', 'epoch': None}
        run = self._run.note() if self._run is not None else {**nowhere, 'random': _random._get_states()}
        return {'run': run, 'worker': self._worker()}

    def _train_epoch(self, epoch, train_data, eval_metric, batch_end_callback, monitor, sparse_row_id_fn):
        run = self._run
        if run is None or run.train_data is not train_data:     # called by a loop of the program's
            self._run = run = Run(train_data)
        run.begin(epoch)
        store = getattr(self, '_kvstore', None)
        batches = iter(train_data) if store is None else store.together(train_data)
        nbatch, data_batch = run.skip(batches)
        if data_batch is None and not nbatch:
            raise MXNetError('fit: train_data has no batches; was it reset?')
        values: Sequence[tuple[str, Any]] = ()
        while data_batch is not None:
            if monitor is not None:
                monitor.tic()
            self._step(data_batch)
            self._measure(eval_metric, data_batch)
            # an iterator may reuse the memory of its batches: the next one only now
            following = next(batches, None)
            if following is not None:
                self.prepare(following, sparse_row_id_fn=sparse_row_id_fn)
            else:
                # before the callbacks, which may reset the metric
                values = eval_metric.get_global_name_value()
            run.done()
            if monitor is not None:
                monitor.toc_print()
            if batch_end_callback is not None:
                _call(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            nbatch += 1
            data_batch = following
        for name, value in values:
            self.logger.info('Epoch[%d] Train-%s=%f', epoch, name, value)

    # ------------------------------------------------------------------ what it is
    @property
    def symbol(self) -> Symbol:
        """The symbol of the module; that of the bucket in use, None for modules without one."""
        return self._symbol

    @property
    def data_names(self) -> list[str]:
        """Names of the data that the module takes."""
        raise NotImplementedError(f'{type(self).__name__} has no data_names')

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        raise NotImplementedError(f'{type(self).__name__} has no output_names')

    @property
    def data_shapes(self) -> list[DataDesc]:
        """(name, shape) of the data."""
        raise NotImplementedError(f'{type(self).__name__} has no data_shapes')

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """(name, shape) of the labels."""
        raise NotImplementedError(f'{type(self).__name__} has no label_shapes')

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """(name, shape) of the outputs."""
        raise NotImplementedError(f'{type(self).__name__} has no output_shapes')

    # ------------------------------------------------------------------ parameters
    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """(arguments, auxiliary states): dicts of copies of the parameters on the CPU."""
        raise NotImplementedError(f'{type(self).__name__} has no get_params')

    def init_params(self, initializer: Init | None = _UNIFORM, arg_params: Mapping[str, NDArray] | None = None,
                    aux_params: Mapping[str, NDArray] | None = None, allow_missing: bool = False,
                    force_init: bool = False, allow_extra: bool = False) -> None:
        """Fills the parameters: from `arg_params` and `aux_params` where given, else by the initializer.

        allow_missing: the initializer fills what the dicts lack; else that is an error
        force_init: also if they are filled already
        allow_extra: the dicts may have more than the module needs
        """
        raise NotImplementedError(f'{type(self).__name__} has no init_params')

    def set_params(self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray],
                   allow_missing: bool = False, force_init: bool = True, allow_extra: bool = False) -> None:
        """Copies parameters from dicts."""
        self.init_params(initializer=None, arg_params=arg_params, aux_params=aux_params, allow_missing=allow_missing,
                         force_init=force_init, allow_extra=allow_extra)

    def save_params(self, fname: Path) -> None:
        """Writes the parameters to a .params file."""
        arg_params, aux_params = self.get_params()
        ndarray.save(fname, {f'{kind}:{name}': array.as_in_context(cpu())
                             for kind, params in (('arg', arg_params), ('aux', aux_params))
                             for name, array in params.items()})

    def load_params(self, fname: Path) -> None:
        """Reads the parameters from a .params file."""
        arg_params, aux_params, others = _separate(ndarray.load(fname))
        if others:
            raise ValueError(f'{fname} is not a file of parameters: {others[0]!r} begins with neither arg: nor aux:')
        self.set_params(arg_params, aux_params)

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """The arrays of `state_names`, for each state a list with one array a device; none here."""
        self._require('get_states')
        if merge_multi_context:
            raise AssertionError('get_states: states of several devices are not merged; pass merge_multi_context=False')
        return []

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Sets the arrays of `state_names`: from lists as `get_states` gives them, or all to one number."""
        self._require('set_states')
        if states or value:
            raise AssertionError(f'set_states: a {type(self).__name__} has no states')

    def install_monitor(self, mon: Monitor) -> None:
        """Has a `mx.mon.Monitor` watch the module."""
        raise NotImplementedError(f'{type(self).__name__} has no install_monitor')

    # ------------------------------------------------------------------ running
    def prepare(self, data_batch: Any, sparse_row_id_fn: Callable[..., Any] | None = None) -> None:
        """Makes ready for a batch that comes next: switches the bucket, fetches rows of row_sparse parameters.

        sparse_row_id_fn: a function of the batch that gives {name of a parameter: numbers of its rows that are needed}
        """
        if sparse_row_id_fn is not None:
            warnings.warn(f'sparse_row_id_fn is not used by a {type(self).__name__}', UserWarning, stacklevel=2)

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Computes the outputs of a batch.  is_train: as the module was bound, unless given.

        Batches may differ in shape from what the module was bound for.
        """
        raise NotImplementedError(f'{type(self).__name__} has no forward')

    def backward(self, out_grads: Arrays | None = None) -> None:
        """Computes the gradients; `out_grads` are those of the outputs, where they are no losses."""
        raise NotImplementedError(f'{type(self).__name__} has no backward')

    def get_outputs(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The outputs of the last `forward`.

        With merge_multi_context=False, for each output a list with one array a device.
        """
        raise NotImplementedError(f'{type(self).__name__} has no get_outputs')

    def get_input_grads(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The gradients of the data after `backward`, if bound with inputs_need_grad=True; else as `get_outputs`."""
        raise NotImplementedError(f'{type(self).__name__} has no get_input_grads')

    def update(self) -> None:
        """Updates the parameters by the optimizer and the gradients of the last `backward`."""
        raise NotImplementedError(f'{type(self).__name__} has no update')

    def update_metric(self, eval_metric: EvalMetric, labels: Arrays, pre_sliced: bool = False) -> None:
        """Compares the outputs of the last `forward` with labels.

        pre_sliced: `labels` has a list of labels for each device
        """
        raise NotImplementedError(f'{type(self).__name__} has no update_metric')

    # ------------------------------------------------------------------ making ready
    def bind(self, data_shapes: DataDescs, label_shapes: DataDescs | None = None, for_training: bool = True,
             inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: BaseModule | None = None,
             grad_req: GradReq = 'write') -> None:
        """Allocates what is needed to run with data of these shapes.

        data_shapes, label_shapes: lists of (name, shape) or DataDesc, such as `provide_data` of an iterator
        inputs_need_grad: whether `get_input_grads` will be called
        force_rebind: also if it is bound already
        shared_module: a module to share parameters and memory with
        grad_req: 'write', 'add' or 'null', for all arguments or in a list or dict for each
        """
        raise NotImplementedError(f'{type(self).__name__} has no bind')

    def init_optimizer(self, kvstore: KVStoreBase | str | None = 'local', optimizer: Optimizer | str = 'sgd',
                       optimizer_params: Mapping[str, Any] | Sequence[tuple[str, Any]] = (('learning_rate', 0.01),),
                       force_init: bool = False) -> None:
        """Installs an optimizer: an Optimizer, or a name and its arguments.

        kvstore: how devices add up their gradients
        force_init: also if there is one already
        """
        raise NotImplementedError(f'{type(self).__name__} has no init_optimizer')


def draws(symbol: Symbol) -> bool:
    """Whether a symbol draws random numbers in training."""
    for node in json.loads(symbol.tojson())['nodes']:
        options = node.get('attrs', {})
        op = node['op']
        if op == 'Dropout' or op.startswith(('_random_', '_sample_')) or op == 'RNN' and float(options.get('p', 0)) > 0:
            return True
    return False


def _call(callbacks, param):
    for callback in _as_list(callbacks):
        callback(param)


def _unpadded(out, pad):
    return out[0:out.shape[0] - pad] if pad else out


_explain_methods(BaseModule, 'score iter_predict predict fit save_params load_params')
