"""`SequentialModule`: a chain of modules, each of which takes the outputs of the one before it as its data."""
from __future__ import annotations

import copy
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from .._kinds import explain_methods as _explain_methods
from .._names import suggest_names as _suggest_names
from .base_module import _UNIFORM, BaseModule

if TYPE_CHECKING:
    from .._typing import Arrays, DataDescs, GradReq, Init, Logger, Path
    from ..io import DataDesc
    from ..kvstore import KVStoreBase
    from ..metric import EvalMetric
    from ..monitor import Monitor
    from ..ndarray import NDArray
    from ..optimizer import Optimizer

__all__ = ['SequentialModule']


class SequentialModule(BaseModule):
    """A chain of modules.

    >>> first = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=4, name='fc'), label_names=None)
    >>> second = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var('data'), name='softmax'))
    >>> chain = mx.mod.SequentialModule().add(first).add(second, take_labels=True, auto_wiring=True)
    >>> chain.bind([('data', (2, 3))], [('softmax_label', (2,))])
    >>> chain.output_shapes
    [('softmax_output', (2, 4))]
    """

    META_TAKE_LABELS = 'take_labels'
    META_AUTO_WIRING = 'auto_wiring'

    def __init__(self, logger: Logger = logging) -> None:
        super().__init__(logger=logger)
        self._modules: list[Any] = []
        self._metas: list[Any] = []
        self._label_shapes: Any = None

    def add(self, module: Any, **kwargs: Any) -> Self:
        """Appends a module; returns the chain.

        take_labels: whether the module gets the labels of batches
        auto_wiring: whether the outputs before it are its data whatever their names
        """
        known = (self.META_TAKE_LABELS, self.META_AUTO_WIRING)
        for key in kwargs:
            if key not in known:
                raise AssertionError(f'add: {key!r} is not known; there are {" and ".join(known)}')
        self._modules.append(module)
        self._metas.append(kwargs)
        self.binded = self.params_initialized = self.optimizer_initialized = False
        return self

    def _takes_labels(self, i):
        return bool(self._metas[i].get(self.META_TAKE_LABELS))

    # ------------------------------------------------------------------ what it is
    @property
    def data_names(self) -> list[str]:
        """Names of the data of the first module."""
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs of the last module."""
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self) -> list[DataDesc]:
        """(name, shape) of the data of the first module."""
        self._require_bound('data_shapes')
        return self._modules[0].data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """(name, shape) of the labels; None if no module takes them."""
        self._require_bound('label_shapes')
        return self._label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """(name, shape) of the outputs of the last module."""
        self._require_bound('output_shapes')
        return self._modules[-1].output_shapes

    # ------------------------------------------------------------------ parameters
    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """(arguments, auxiliary states) of all modules together."""
        self._require('get_params')
        arg_params, aux_params = {}, {}
        for module in self._modules:
            arguments, states = module.get_params()
            arg_params.update(arguments)
            aux_params.update(states)
        return arg_params, aux_params

    def init_params(self, initializer: Init | None = _UNIFORM, arg_params: Mapping[str, NDArray] | None = None,
                    aux_params: Mapping[str, NDArray] | None = None, allow_missing: bool = False,
                    force_init: bool = False, allow_extra: bool = False) -> None:
        """Fills the parameters of all modules, whose names must differ; see `BaseModule.init_params`."""
        if self.params_initialized and not force_init:
            return
        if not self.binded:
            raise AssertionError('init_params: call bind first')
        for module in self._modules:
            module.init_params(initializer=initializer, arg_params=arg_params, aux_params=aux_params,
                               allow_missing=allow_missing, force_init=force_init, allow_extra=allow_extra)
        owners: dict[Any, Any] = {}
        for i, module in enumerate(self._modules):
            for kind, params in zip(('argument', 'auxiliary state'), module.get_params(), strict=True):
                for name in params:
                    if (kind, name) in owners:
                        raise AssertionError(f'two modules of the chain, number {owners[kind, name]} and {i}, have an '
                                             f'{kind} {name!r}')
                    owners[kind, name] = i
        self.params_initialized: bool = True

    # ------------------------------------------------------------------ making ready
    def bind(self, data_shapes: DataDescs, label_shapes: DataDescs | None = None, for_training: bool = True,
             inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: BaseModule | None = None,
             grad_req: GradReq = 'write') -> None:
        """Binds all modules, each for the shapes of the outputs before it; see `BaseModule.bind`."""
        if self.binded and not force_rebind:
            self.logger.warning('Already bound, ignoring bind()')
            return
        if inputs_need_grad and not for_training:
            raise AssertionError('bind: there are gradients of the inputs only with for_training=True')
        if shared_module is not None:
            raise AssertionError('bind: a SequentialModule cannot share with another module')
        if not self._modules:
            raise AssertionError('bind: the chain is empty; add modules first')
        for i, module in enumerate(self._modules):
            if self._metas[i].get(self.META_AUTO_WIRING):
                names = module.data_names
                if len(names) != len(data_shapes):
                    raise AssertionError(f'bind: module {i} takes {len(names)} arrays, but gets {len(data_shapes)}')
                data_shapes = [(name, desc[1]) for name, desc in zip(names, data_shapes, strict=True)]
            module.bind(data_shapes=data_shapes, label_shapes=label_shapes if self._takes_labels(i) else None,
                        for_training=for_training, inputs_need_grad=bool(inputs_need_grad or (for_training and i > 0)),
                        force_rebind=force_rebind, grad_req=grad_req)
            data_shapes = module.output_shapes
        self.for_training: bool
        self.inputs_need_grad: bool
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._label_shapes = label_shapes if any(map(self._takes_labels, range(len(self._modules)))) else None
        self.binded: bool = True

    def init_optimizer(self, kvstore: KVStoreBase | str | None = 'local', optimizer: Optimizer | str = 'sgd',
                       optimizer_params: Mapping[str, Any] | Sequence[tuple[str, Any]] = (('learning_rate', 0.01),),
                       force_init: bool = False) -> None:
        """Installs an optimizer in all modules; see `BaseModule.init_optimizer`."""
        self._require('init_optimizer')
        if self.optimizer_initialized and not force_init:
            self.logger.warning('optimizer already initialized, ignoring.')
            return
        for module in self._modules:
            module.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params,
                                  force_init=force_init)
        self.optimizer_initialized: bool = True

    def _worker(self):
        return self._modules[0]._worker() if self._modules else None

    def _draws(self):
        return any(module._draws() for module in self._modules)

    def save_optimizer_states(self, fname: Path) -> None:
        """Writes the states of the optimizer of each module that has one, to `fname.0`, `fname.1` and so on."""
        self._require('save_optimizer_states', optimizer=True)
        with self._keeping():
            for i, module in self._with_states():
                module.save_optimizer_states(f'{fname}.{i}')

    def load_optimizer_states(self, fname: Path) -> None:
        """Reads what `save_optimizer_states` wrote."""
        self._require('load_optimizer_states', optimizer=True)
        for i, module in self._with_states():
            module.load_optimizer_states(f'{fname}.{i}')
            self._states_read, self._extra = True, module._extra

    def _with_states(self):
        return [(i, module) for i, module in enumerate(self._modules) if hasattr(module, 'save_optimizer_states')]

    def install_monitor(self, mon: Monitor) -> None:
        """Has a `mx.mon.Monitor` watch all modules."""
        self._require_bound('install_monitor')
        for module in self._modules:
            module.install_monitor(mon)

    # ------------------------------------------------------------------ running
    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Runs the modules one after the other."""
        self._require('forward')
        batch = copy.copy(data_batch)       # its bucket key, padding and labels go on, its data do not
        for module, following in zip(self._modules, [*self._modules[1:], None], strict=True):
            module.forward(batch, is_train=is_train)
            if following is not None:
                batch.data = module.get_outputs()
                if hasattr(batch, 'provide_data'):
                    batch.provide_data = [(name, array.shape)
                                          for name, array in zip(following.data_names, batch.data, strict=True)]

    def backward(self, out_grads: Arrays | None = None) -> None:
        """Runs the modules backward, from the last to the first."""
        self._require('backward')
        for i, module in reversed(list(enumerate(self._modules))):
            module.backward(out_grads=out_grads)
            if i:
                out_grads = module.get_input_grads()

    def update(self) -> None:
        """Updates the parameters of all modules."""
        self._require('update', optimizer=True)
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The outputs of the last module; see `BaseModule.get_outputs`."""
        self._require('get_outputs')
        return self._modules[-1].get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The gradients of the data of the first module; see `BaseModule.get_input_grads`."""
        self._require('get_input_grads')
        if not self.inputs_need_grad:
            raise AssertionError('get_input_grads: bind the module with inputs_need_grad=True')
        return self._modules[0].get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric: EvalMetric, labels: Arrays, pre_sliced: bool = False) -> None:
        """Compares the outputs of each module that takes labels with them."""
        self._require('update_metric')
        for i, module in enumerate(self._modules):
            if self._takes_labels(i):
                module.update_metric(eval_metric, labels, pre_sliced)


_explain_methods(SequentialModule, 'add bind init_params init_optimizer')


_suggest_names(globals())
