"""`SVRGModule`: a Module that learns by stochastic variance reduced gradients."""
from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import ndarray
from ...base import MXNetError
from ...context import cpu
from ...model import _create_kvstore
from ...module import Module
from .svrg_optimizer import FULL, _SVRGOptimizer

if TYPE_CHECKING:
    from ..._typing import DataDescs, GradReq, Logger
    from ...context import Context
    from ...io import DataBatch, DataIter
    from ...kvstore import KVStoreBase
    from ...optimizer import Optimizer
    from ...symbol import Symbol

__all__ = ['SVRGModule']

_CPU = cpu()


class SVRGModule(Module):
    """A `Module` whose `fit` computes the gradient of all data every `update_freq` epochs, and corrects batches by it.

    With w0, the weights of that moment, a batch's gradient becomes: its gradient at w - its gradient at w0 + the mean
    gradient of all batches at w0.  A step costs two forward and backward passes.

    >>> from mxnet.contrib.svrg_optimization.svrg_module import SVRGModule
    >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1)
    >>> net = mx.sym.LinearRegressionOutput(net, mx.sym.var('label'))
    >>> module = SVRGModule(net, label_names=['label'], update_freq=2)
    >>> x = mx.nd.random.normal(shape=(20, 3))
    >>> data = mx.io.NDArrayIter(x, mx.nd.sum(x, axis=1), 5, label_name='label')
    >>> module.fit(data, eval_metric='mse', optimizer_params={'learning_rate': 0.2}, num_epoch=20)
    >>> module.score(data, 'mse')[0][1] < 1e-3
    True
    """

    def __init__(self, symbol: Symbol, data_names: Sequence[str] = ('data',),
                 label_names: Sequence[str] = ('softmax_label',), logger: Logger = logging, context: Context = _CPU,
                 work_load_list: Any = None, fixed_param_names: Sequence[str] | None = None,
                 state_names: Sequence[str] | None = None, group2ctxs: Any = None,
                 compression_params: Mapping[str, Any] | None = None, update_freq: Any = None) -> None:
        if not isinstance(update_freq, int):
            raise TypeError('SVRGModule: update_freq must be an int, every how many epochs the gradient of all data is '
                            f'computed, not {update_freq!r}')
        if update_freq <= 0:
            raise ValueError(f'SVRGModule: update_freq must be 1 or more, not {update_freq}')
        same = {'data_names': data_names, 'label_names': label_names, 'logger': logger, 'context': context,
                'work_load_list': work_load_list, 'fixed_param_names': fixed_param_names, 'state_names': state_names,
                'group2ctxs': group2ctxs, 'compression_params': compression_params}
        super().__init__(symbol, **same)
        self.update_freq = update_freq
        self._mod_aux = Module(symbol, **same)          # holds the weights that the full gradient belongs to
        self._param_dict: Any = None                         # full gradients: for each device {name: array}
        self._ctx_len = len(self._context)

    # ------------------------------------------------------------------ both modules
    def _reset_bind(self):
        super()._reset_bind()
        self._mod_aux._reset_bind()

    def bind(self, data_shapes: DataDescs, label_shapes: DataDescs | None = None, for_training: bool = True,
             inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
             grad_req: GradReq = 'write') -> None:
        """Binds; see `BaseModule.bind`."""
        super().bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, shared_module, grad_req)
        if for_training:
            self._mod_aux.bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, shared_module,
                               grad_req)

    def reshape(self, data_shapes: DataDescs, label_shapes: DataDescs | None = None) -> None:
        """Binds for other shapes, with the same parameters."""
        super().reshape(data_shapes, label_shapes=label_shapes)
        if self._mod_aux.binded:
            self._mod_aux.reshape(data_shapes, label_shapes=label_shapes)

    def prepare(self, data_batch: DataBatch, sparse_row_id_fn: Callable[..., Any] | None = None) -> None:
        """Makes ready for a batch; see `BaseModule.prepare`."""
        super().prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        if self._mod_aux.params_initialized:
            self._mod_aux.prepare(data_batch)

    def forward(self, data_batch: Any, is_train: Any = None) -> None:
        """Computes the outputs of a batch; for training, also with the weights of the full gradient."""
        super().forward(data_batch, is_train)
        if (self.for_training if is_train is None else is_train) and self._mod_aux.params_initialized:
            self._mod_aux.forward(data_batch, is_train=True)

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients; see `BaseModule.backward`."""
        super().backward(out_grads)
        if self._mod_aux.params_initialized:
            self._mod_aux.backward(out_grads)

    # ------------------------------------------------------------------ learning
    def init_optimizer(self, kvstore: KVStoreBase | str | None = 'local', optimizer: Optimizer | str = 'sgd',
                       optimizer_params: Mapping[str, Any] | Sequence[tuple[str, Any]] = (('learning_rate', 0.01),),
                       force_init: bool = False) -> None:
        """Installs an optimizer; see `Module.init_optimizer`.  It updates the weights by the corrected gradients."""
        self._require('init_optimizer')
        if self.optimizer_initialized and not force_init:
            self.logger.warning('optimizer already initialized, ignoring...')
            return
        names, batch_size = self._exec_group.param_names, self._exec_group.batch_size or 1
        store, on_store = _create_kvstore(kvstore, self._ctx_len, self._arg_params)
        if store and 'dist' in store.type and '_sync' in store.type:
            batch_size *= store.num_workers
        devices = 1 if on_store else self._ctx_len
        names_of = {i * devices + k: name for i, name in enumerate(names) for k in range(devices)}
        names_of.update(enumerate((name + FULL for name in names), len(names_of)))
        params = {'rescale_grad': 1 / batch_size, 'sym': self.symbol, 'param_idx2name': names_of,
                  **dict(optimizer_params)}
        super().init_optimizer(store, _SVRGOptimizer(optimizer, **params), optimizer_params, force_init)
        self._param_dict = None
        if self._kvstore:
            for name in names:
                self._kvstore.init(name + FULL, ndarray.zeros(self._arg_params[name].shape,
                                                              dtype=self._arg_params[name].dtype))

    def update_full_grads(self, train_data: DataIter) -> None:
        """Keeps the weights of the moment, and the mean gradient of all batches at them."""
        self._require('update_full_grads', optimizer=True)
        names = self._exec_group.param_names
        self._mod_aux.set_params(*self.get_params())
        totals: Any = [{} for _ in range(self._ctx_len)]
        train_data.reset()
        batches: float = 0
        for batch in train_data:
            self._mod_aux.forward(batch, is_train=True)
            self._mod_aux.backward()
            for name, gradients in zip(names, self._mod_aux._exec_group.grad_arrays, strict=True):
                for total, gradient in zip(totals, gradients, strict=True):
                    if gradient is not None:
                        total[name] = total[name] + gradient if name in total else gradient.copy()
            batches += 1 - (batch.pad or 0) / train_data.batch_size
        if not batches:
            raise MXNetError('update_full_grads: the data has no batches')
        for name in names:
            if name in totals[0]:
                means = [total[name] / batches for total in totals]
                if self._kvstore:
                    means = self._shared(name + FULL, means)
                for total, mean in zip(totals, means, strict=True):
                    total[name] = mean
        self._param_dict = totals

    def _shared(self, key, means):
        """The sum over all devices and workers, divided among them: updates add up what each of them has."""
        stored = [m if m.stype == 'default' else m.tostype('default') for m in means]
        self._kvstore.push(key, stored)
        self._kvstore._barrier()
        self._kvstore.pull(key, stored)
        parts = self._ctx_len * (self._kvstore.num_workers if 'dist' in self._kvstore.type else 1)
        return [s / parts if m.stype == 'default' else (s / parts).tostype(m.stype)
                for s, m in zip(stored, means, strict=True)]

    def update(self) -> None:
        """Corrects the gradients of the last `backward`, and updates the parameters by them."""
        if self._param_dict is not None:
            group, kept = self._exec_group, self._mod_aux._exec_group
            for name, gradients, at_kept in zip(group.param_names, group.grad_arrays, kept.grad_arrays, strict=True):
                for gradient, other, full in zip(gradients, at_kept, self._param_dict, strict=True):
                    if gradient is not None:
                        gradient[:] = gradient - other + full[name]
        super().update()

    def _train_epoch(self, epoch, train_data, *others):
        if epoch % self.update_freq == 0 or self._param_dict is None:
            self.update_full_grads(train_data)
            train_data.reset()
        super()._train_epoch(epoch, train_data, *others)
