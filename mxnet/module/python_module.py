"""Modules written in Python: a part of a chain that is no symbol, such as a loss."""
from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import ndarray
from .._kinds import explain_kinds as _explain_kinds
from .._names import kind_of
from .._names import suggest_names as _suggest_names
from ..ndarray import NDArray
from .base_module import _UNIFORM, BaseModule

if TYPE_CHECKING:
    from .._typing import Arrays, DataDescs, GradReq, Init, Logger
    from ..io import DataDesc
    from ..kvstore import KVStoreBase
    from ..metric import EvalMetric
    from ..monitor import Monitor
    from ..optimizer import Optimizer

__all__ = ['PythonLossModule', 'PythonModule']


class PythonModule(BaseModule):
    """A module without parameters; one of your own defines `forward`, `backward`, `get_outputs`, `get_input_grads` and
    `_compute_output_shapes`.

    label_names: None if it takes no labels
    """

    def __init__(self, data_names: Any, label_names: Any, output_names: Any,
                 logger: Logger = logging) -> None:
        super().__init__(logger=logger)
        self._data_names = list(data_names) if isinstance(data_names, tuple) else data_names
        self._label_names = list(label_names) if isinstance(label_names, tuple) else label_names
        self._output_names = output_names
        self._data_shapes: Any
        self._label_shapes: Any
        self._output_shapes: Any
        self._data_shapes = self._label_shapes = self._output_shapes = None

    @property
    def data_names(self) -> list[str]:
        """Names of the data."""
        return self._data_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> list[DataDesc]:
        """(name, shape) of the data."""
        return self._data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """(name, shape) of the labels; None if there are none."""
        return self._label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """(name, shape) of the outputs."""
        return self._output_shapes

    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Two empty dicts."""
        return {}, {}

    def init_params(self, initializer: Init | None = _UNIFORM, arg_params: Mapping[str, NDArray] | None = None,
                    aux_params: Mapping[str, NDArray] | None = None, allow_missing: bool = False,
                    force_init: bool = False, allow_extra: bool = False) -> None:
        """Nothing to fill, so the module is ready."""
        self.params_initialized = True

    def init_optimizer(self, kvstore: KVStoreBase | str | None = 'local', optimizer: Optimizer | str = 'sgd',
                       optimizer_params: Mapping[str, Any] | Sequence[tuple[str, Any]] = (('learning_rate', 0.01),),
                       force_init: bool = False) -> None:
        """Nothing to update, so the module is ready."""
        self.optimizer_initialized = True

    def update(self) -> None:
        """Nothing to update."""

    def update_metric(self, eval_metric: EvalMetric, labels: Arrays, pre_sliced: bool = False) -> None:
        """Compares the outputs with labels, if the module takes any."""
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise RuntimeError('update_metric: a PythonModule runs on one context, so labels cannot be in slices')
        eval_metric.update(labels, self.get_outputs())

    def bind(self, data_shapes: DataDescs, label_shapes: DataDescs | None = None, for_training: bool = True,
             inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: BaseModule | None = None,
             grad_req: GradReq = 'write') -> None:
        """Notes the shapes; see `BaseModule.bind`."""
        if self.binded and not force_rebind:
            self.logger.warning('Already bound, ignoring bind()')
            return
        if grad_req != 'write':
            raise AssertionError(f"bind: a PythonModule supports grad_req='write' only, not {grad_req!r}")
        for what, names, shapes in (('data', self._data_names, data_shapes),
                                    ('label', self._label_names, label_shapes)):
            found = None if shapes is None else [d[0] for d in shapes]
            if found is not None and found != names:
                raise AssertionError(f'bind: {what}_shapes has {found}, but {what}_names are {names}')
        self.for_training: bool
        self.inputs_need_grad: bool
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._data_shapes, self._label_shapes = data_shapes, label_shapes
        self._output_shapes = self._compute_output_shapes()
        self.binded = True

    def _compute_output_shapes(self):
        """(name, shape) of the outputs, from `data_shapes` and `label_shapes`."""
        raise NotImplementedError(f'{type(self).__name__} has no _compute_output_shapes')


class PythonLossModule(PythonModule):
    """A loss whose gradient is computed in Python; its output is what it gets.

    grad_func: a function of (scores, labels) that gives the gradient of the scores, as an NDArray or a NumPy array;
        or override `_backward_impl`, which sets `_scores_grad` from `_scores` and `_labels`
    """

    def __init__(self, name: str = 'pyloss', data_names: Any = ('data',),
                 label_names: Any = ('softmax_label',), logger: Logger = logging,
                 grad_func: Any = None) -> None:
        super().__init__(data_names, label_names, [name + '_output'], logger=logger)
        if len(data_names) != 1 or len(label_names) != 1:
            raise AssertionError('PythonLossModule takes one data_name and one label_name, not '
                                 f'{list(data_names)} and {list(label_names)}')
        if grad_func is not None and not callable(grad_func):
            raise AssertionError(f'grad_func must be a function, not {kind_of(grad_func)}')
        self._name = name
        self._scores: Any
        self._scores_grad: Any
        self._scores = self._labels = self._scores_grad = None
        self._grad_func = grad_func

    def _compute_output_shapes(self):
        return [(self._name + '_output', self._data_shapes[0][1])]

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Takes the scores and, in training, the labels."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The scores."""
        self._one_context(merge_multi_context, 'get_outputs')
        return [self._scores]

    def backward(self, out_grads: Arrays | None = None) -> None:
        """Computes the gradient of the scores."""
        if out_grads is not None:
            raise AssertionError('backward: a loss has no gradients of its outputs; out_grads must be None')
        if not self.for_training:
            raise AssertionError('backward: the module was bound for prediction; bind it with for_training=True')
        self._backward_impl()

    def _backward_impl(self):
        if self._grad_func is None:
            raise NotImplementedError('PythonLossModule needs grad_func, or a subclass with _backward_impl')
        grad = self._grad_func(self._scores, self._labels)
        self._scores_grad = grad if isinstance(grad, NDArray) else ndarray.array(grad)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The gradient of the scores."""
        self._one_context(merge_multi_context, 'get_input_grads')
        return [self._scores_grad]

    @staticmethod
    def _one_context(merge_multi_context, what):
        if merge_multi_context is not True:
            raise AssertionError(f'{what}: a PythonLossModule runs on one context; there is nothing to be kept apart')

    def install_monitor(self, mon: Monitor) -> None:
        """Nothing in it can be watched."""
        raise NotImplementedError('a PythonLossModule has no executor that a monitor could watch')


_explain_kinds(globals(), __all__)


_suggest_names(globals())
