"""Executors of one symbol on several contexts, each of which runs a part of every batch."""
from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from .. import ndarray
from .._graph.codegen.plan import alike
from .._names import kind_of as described
from .._ops.core.attributes import DType, kind_of
from ..context import Context
from ..executor_manager import _mean, _split_input_slice
from ..io import DataDesc
from ..metric._base import Measured
from ..ndarray import NDArray

if TYPE_CHECKING:
    from .._typing import Arrays, GradReq, Logger
    from ..metric import EvalMetric
    from ..monitor import Monitor
    from ..symbol import Symbol

__all__ = ['DataParallelExecutorGroup']

MOST_SHAPES = 16            # executors that are kept for batches of other shapes


class DataParallelExecutorGroup:
    """One executor for each context; a batch is split among them.

    workload: how much of a batch each context gets, in proportion
    data_shapes, label_shapes: lists of DataDesc; the N of a layout is the axis that is split
    param_names: the arguments that are parameters
    for_training: whether there are gradients; inputs_need_grad: also of the data
    shared_group: a group of another symbol to share parameters and memory with
    fixed_param_names: parameters without gradients
    grad_req: 'write', 'add' or 'null', for all parameters or in a list or dict for each argument
    state_names: inputs that are neither data nor labels, and stay as they are set
    group2ctxs: for each context, where the groups of the symbol (`ctx_group`) go
    """

    batch_size: Any

    def __init__(self, symbol: Symbol, contexts: Any, workload: Any, data_shapes: Any,
                 label_shapes: Any, param_names: Sequence[str], for_training: bool, inputs_need_grad: bool,
                 shared_group: Any = None, logger: Logger = logging, fixed_param_names: Sequence[str] | None = None,
                 grad_req: GradReq = 'write', state_names: Sequence[str] | None = None, group2ctxs: Any = None) -> None:
        self.symbol = symbol
        self.contexts = contexts
        self.workload = workload
        self.arg_names: list[str] = symbol.list_arguments()
        self.param_names: list[str] = [name for name in self.arg_names if name in set(param_names)]
        self.aux_names: list[str] = symbol.list_auxiliary_states()
        self.group2ctxs: Any = _prepare_group2ctxs(group2ctxs, len(contexts))
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self.logger = logger
        self.fixed_param_names: Any = fixed_param_names or []
        self.state_names: Any = state_names or []
        data_shapes, label_shapes = _described(data_shapes), _described(label_shapes)
        self.grad_req: Any = self._requirements(grad_req if for_training else 'null', [d.name for d in data_shapes])
        self.shared_data_arrays: Any
        self.shared_data_arrays = [{} for _ in contexts] if shared_group is None else shared_group.shared_data_arrays
        self.output_names: list[str] = symbol.list_outputs()
        self.num_outputs: int = len(self.output_names)
        self.output_layouts: list[int]
        self.output_layouts = [DataDesc.get_batch_axis(symbol[i].attr('__layout__')) for i in range(self.num_outputs)]
        self.data_shapes: Any
        self.label_shapes: Any
        self.slices: Any
        self.batch_size = self.slices = self.data_shapes = self.label_shapes = None
        self.data_layouts: Any
        self.label_layouts: Any
        self.data_layouts = self.label_layouts = None
        self.label_names: Any
        self.data_names: Any
        self.data_names, self.label_names = [], []
        self.execs: list[Any] = []
        self._default_execs: Any = None          # those that were bound first; others are reshaped from them
        self._reshaped: Any = None               # {shapes: executor} of each context
        self._total_exec_bytes = 0
        self.bind_exec(data_shapes, label_shapes, shared_group)

    def _requirements(self, grad_req, data_names):
        """{argument: grad_req}; a dict changes what 'write' would give."""
        if isinstance(grad_req, (list, tuple)):
            if len(grad_req) != len(self.arg_names):
                raise AssertionError(f'{len(grad_req)} grad_reqs given for {len(self.arg_names)} arguments')
            return dict(zip(self.arg_names, grad_req, strict=True))
        if not isinstance(grad_req, (str, dict)):
            raise ValueError(f'grad_req must be a str, a list or a dict, not {described(grad_req)}')
        common = grad_req if isinstance(grad_req, str) else 'write'
        learned = {name for name in self.param_names if name not in self.fixed_param_names}
        if self.inputs_need_grad:
            learned.update(data_names)
        found = {name: common if name in learned else 'null' for name in self.arg_names}
        return found if isinstance(grad_req, str) else {**found, **grad_req}

    # ------------------------------------------------------------------ binding
    def decide_slices(self, data_shapes: Any) -> list[int]:
        """The batch axis of each input; all must have the same batch size, which is split among the contexts."""
        if not data_shapes:
            raise AssertionError('there are no inputs')
        axes = [DataDesc.get_batch_axis(d.layout) for d in data_shapes]
        for desc, axis in zip(data_shapes, axes, strict=True):
            if axis == -1:
                continue
            size = desc.shape[axis]
            if self.batch_size is None:
                self.batch_size, self.slices = size, _split_input_slice(size, self.workload)
            elif size != self.batch_size:
                raise AssertionError(f'all inputs must have the same batch size; {desc.name} has shape {desc.shape}, '
                                     f'the others a batch size of {self.batch_size}')
        return axes

    def bind_exec(self, data_shapes: Any, label_shapes: Any, shared_group: Any = None,
                  reshape: bool = False) -> None:
        """Makes the executors; with `reshape`, from those that there are."""
        self.batch_size = None
        self.data_layouts = self.decide_slices(data_shapes)
        if label_shapes:
            self.label_layouts = self.decide_slices(label_shapes)
        executors = []
        for i in range(len(self.contexts)):
            data = self._sliced_shape(data_shapes, i, self.data_layouts)
            labels = self._sliced_shape(label_shapes, i, self.label_layouts) if label_shapes else []
            executors.append(self._reshape_ith_exec(i, data, labels) if reshape else
                             self._bind_ith_exec(i, data, labels, shared_group))
        self.execs = executors
        self.data_shapes, self.label_shapes = data_shapes, label_shapes
        self.data_names = [d.name for d in data_shapes]
        self.label_names = [d.name for d in label_shapes or []]
        self._collect_arrays()

    def _sliced_shape(self, shapes, i, major_axis):
        """The descriptions of the inputs of the i-th executor."""
        found = []
        for desc, axis in zip(shapes, major_axis, strict=True):
            shape = list(desc.shape)
            if axis >= 0:
                shape[axis] = self.slices[i].stop - self.slices[i].start
            found.append(DataDesc(desc.name, tuple(shape), desc.dtype, desc.layout))
        return found

    def _bind_ith_exec(self, i, data_shapes, label_shapes, shared_group):
        types = {d.name: d.dtype for d in data_shapes}
        attributes = self.symbol.attr_dict()
        for name in types:
            own = attributes.get(name, {}).get('__dtype__', '-1')
            if own != '-1':
                types[name] = kind_of(DType).parse(own)
        types.update((d.name, d.dtype) for d in label_shapes)
        executor = self.symbol.simple_bind(
            ctx=self.contexts[i], grad_req=self.grad_req, type_dict=types, shared_arg_names=self.param_names,
            shared_exec=None if shared_group is None else shared_group.execs[i], group2ctx=self.group2ctxs[i],
            shared_buffer=self.shared_data_arrays[i], **{d.name: d.shape for d in [*data_shapes, *label_shapes]})
        return executor

    def _reshape_ith_exec(self, i, data_shapes, label_shapes):
        shapes = {d.name: d.shape for d in [*data_shapes, *label_shapes] if d.name in self.arg_names}
        known = tuple(shapes.items())
        executor = self._reshaped[i].get(known)
        if executor is None:
            # labels that are not given, and states, follow the data; parameters must not
            followers = [n for n in self.arg_names if n not in shapes and n not in self.param_names]
            if followers:
                found = dict(zip(self.arg_names, self.symbol.infer_shape_partial(**shapes)[0] or (), strict=False))
                shapes.update((name, found[name]) for name in followers if found.get(name))
            executor = self._default_execs[i].reshape(allow_up_sizing=True, **shapes)
            if len(self._reshaped[i]) >= MOST_SHAPES:
                self._reshaped[i].pop(next(iter(self._reshaped[i])))
            self._reshaped[i][known] = executor
        return executor

    def _collect_arrays(self):
        """Gathers the arrays of all executors."""
        executors, places = self.execs, {name: i for i, name in enumerate(self.arg_names)}
        parts = self.slices or [slice(i, i + 1) for i in range(len(executors))]

        def inputs(names):
            return [[(part, e.arg_arrays[places[name]]) for part, e in zip(parts, executors, strict=True)]
                    if name in places else None for name in names]

        def each(field, names):
            return [[getattr(e, field)[places[name]] for e in executors] for name in names]

        self.data_arrays: Any = inputs(self.data_names)
        self.label_arrays: Any = inputs(self.label_names) if self.label_shapes is not None else None
        # the first context's arrays of data and of labels, with their numbers among its executor's variables
        numbers = {id(array): i for i, array in enumerate(executors[0]._arrays)}
        self._inputs = tuple([None if block is None else (block[0][1], numbers[id(block[0][1])])
                              for block in blocks or ()] for blocks in (self.data_arrays, self.label_arrays))
        self.state_arrays: Any = each('arg_arrays', self.state_names)
        self.param_arrays: Any = each('arg_arrays', self.param_names)
        self.grad_arrays: Any = each('grad_arrays', self.param_names) if self.for_training else None
        self.input_grad_arrays: Any = each('grad_arrays', [n for n in self.data_names if n in places]) \
            if self.inputs_need_grad else None
        self.aux_arrays: Any = [[e.aux_arrays[i] for e in executors] for i in range(len(self.aux_names))]

    def reshape(self, data_shapes: Any, label_shapes: Any) -> None:
        """Makes the executors ready for inputs of other shapes; parameters stay."""
        if data_shapes == self.data_shapes and label_shapes == self.label_shapes:
            return
        if self._default_execs is None:
            self._default_execs = list(self.execs)
            self._reshaped = [{} for _ in self.execs]
        before = self.batch_size, self.slices, self.data_layouts, self.label_layouts
        try:
            self.bind_exec(data_shapes, label_shapes, reshape=True)
        except Exception:
            self.batch_size, self.slices, self.data_layouts, self.label_layouts = before
            raise

    # ------------------------------------------------------------------ parameters
    def set_params(self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray],
                   allow_extra: bool = False) -> None:
        """Copies parameters to all contexts."""
        for executor in self.execs:
            executor.copy_params_from(arg_params, aux_params, allow_extra_params=allow_extra)

    def get_params(self, arg_params: Mapping[str, NDArray],
                   aux_params: Mapping[str, NDArray]) -> None:
        """Copies the parameters, the mean of those of all contexts, into the arrays of two dicts."""
        for names, blocks, targets in ((self.param_names, self.param_arrays, arg_params),
                                       (self.aux_names, self.aux_arrays, aux_params)):
            for name, block in zip(names, blocks, strict=True):
                _mean(block).astype(targets[name].dtype, copy=False).copyto(targets[name])

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """For each state a list with one array a context."""
        if merge_multi_context:
            raise AssertionError('get_states: states of several contexts are not merged; pass '
                                 'merge_multi_context=False')
        return self.state_arrays

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Sets the states: from lists as `get_states` gives them, or all to one number."""
        if (states is None) == (value is None):
            raise AssertionError('set_states takes either states or value')
        if states is not None:
            for sources, targets in zip(states, self.state_arrays, strict=True):
                for source, target in zip(sources, targets, strict=True):
                    source.copyto(target)
            return
        for targets in self.state_arrays:
            for target in targets:
                target[:] = value

    # ------------------------------------------------------------------ running
    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Splits a batch, a list of batches being split already, and runs forward on each context."""
        if isinstance(data_batch, list):
            data = [[b.data[i] for b in data_batch] for i in range(len(self.data_arrays))]
            label = [[b.label[i] for b in data_batch] for i in range(len(self.label_arrays or ()))] \
                if data_batch[0].label else None
        else:
            data, label = data_batch.data, getattr(data_batch, 'label', None) if self.label_arrays else None
        _load(data, self.data_arrays, self.data_layouts)
        if self.label_arrays and label:
            _load(label, self.label_arrays, self.label_layouts)
        is_train = self.for_training if is_train is None else is_train
        for executor in self.execs:
            executor.forward(is_train=is_train)

    def forward_backward(self, data_batch: Any, update: Any = None) -> Any:
        """Runs forward, for training, and backward on each context; see `Executor._forward_backward` for `update`."""
        if len(self.execs) > 1 or not self.for_training:
            self.forward(data_batch, is_train=True)
            self.backward()
            return False
        feed = []
        for sources, inputs in zip((data_batch.data, getattr(data_batch, 'label', None)), self._inputs, strict=True):
            for source, known in zip(sources or (), inputs, strict=False):
                if known is None:
                    continue
                target, number = known
                if source._sparse or target._sparse or not alike(source.materialize(), target.materialize()):
                    source.copyto(target)
                else:
                    feed.append((number, source))
        return self.execs[0]._forward_backward(feed, update)

    def backward(self, out_grads: Arrays | None = None) -> None:
        """Runs backward on each context; `out_grads` are the gradients of whole outputs."""
        if not self.for_training:
            raise AssertionError('backward: the module was bound for prediction; bind it with for_training=True')
        if out_grads is None:
            for executor in self.execs:
                executor.backward()
            return
        out_grads = [out_grads] if isinstance(out_grads, NDArray) else out_grads
        for executor, context, part in zip(self.execs, self.contexts, self.slices, strict=True):
            executor.backward([_part(grad, axis, part).as_in_context(context)
                               for grad, axis in zip(out_grads, self.output_layouts, strict=False)])

    def get_output_shapes(self) -> Any:
        """(name, shape) of whole outputs."""
        found = []
        for name, output, axis in zip(self.output_names, self.execs[0].outputs, self.output_layouts, strict=True):
            shape = list(output.shape)
            if axis >= 0 and shape:
                shape[axis] = self.batch_size
            found.append((name, tuple(shape)))
        return found

    def get_outputs(self, merge_multi_context: bool = True, begin: int = 0, end: Any = None) -> Any:
        """The outputs from `begin` to `end`: whole ones, or for each a list with one array a context."""
        outputs = [[e.outputs[i] for e in self.execs] for i in range(self.num_outputs)][begin:end]
        return _merge(outputs, self.output_layouts[begin:end]) if merge_multi_context else outputs

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """The gradients of the data, in the same way."""
        if not self.inputs_need_grad:
            raise AssertionError('get_input_grads: bind the module with inputs_need_grad=True')
        return _merge(self.input_grad_arrays, self.data_layouts) if merge_multi_context else self.input_grad_arrays

    def update_metric(self, eval_metric: EvalMetric, labels: Arrays, pre_sliced: bool) -> None:
        """Compares the outputs of each context with its labels."""
        if len(self.execs) == 1 and labels and len(labels) == 1 and not pre_sliced \
                and isinstance(eval_metric, Measured):
            outputs = self.execs[0].outputs
            if len(outputs) == 1 and eval_metric._takes(labels[0], outputs[0]):
                return
        for i, (executor, part) in enumerate(zip(self.execs, self.slices, strict=True)):
            own = labels[i] if pre_sliced else map(_part, labels or (), self.label_layouts or (), repeat(part))
            eval_metric.update_dict(dict(zip(self.label_names, own)), dict(zip(self.output_names, executor.outputs)))

    def install_monitor(self, mon: Monitor) -> None:
        """Has a monitor watch all executors."""
        self._reshaped = None if self._reshaped is None else [{} for _ in self.execs]
        for i, executor in enumerate(self.execs):
            mon.install(executor)
            if self._default_execs is not None and self._default_execs[i] is not executor:
                self._default_execs[i].set_monitor_callback(*executor._monitor)


# ---------------------------------------------------------------------- parts and wholes
def _described(shapes):
    return None if shapes is None else [d if isinstance(d, DataDesc) else DataDesc(*d) for d in shapes]


def _part(array, axis, part):
    """The slice of an array along its batch axis; all of it if it has none."""
    if axis < 0 or (part.start == 0 and part.stop == array.shape[axis]):
        return array
    if axis == 0:
        return array[part]
    return ndarray.slice_axis(array, axis=axis, begin=part.start, end=part.stop)


def _load(sources, targets, axes):
    """Copies inputs, whole arrays or lists of parts, to the arrays of the contexts."""
    for source, blocks, axis in zip(sources, targets, axes, strict=False):
        if blocks is None:              # the symbol does not have this input
            continue
        for i, (part, target) in enumerate(blocks):
            own = source[i] if isinstance(source, (list, tuple)) else _part(source, axis, part)
            own.copyto(target)


def _merge(outputs, axes):
    """Joins the parts of contexts to whole arrays, on the first context; what has no batch axis is the same on all."""
    return [parts[0] if len(parts) == 1 or axis < 0 else
            ndarray.concat(*[part.as_in_context(parts[0].context) for part in parts], dim=axis)
            for parts, axis in zip(outputs, axes, strict=True)]


def _prepare_group2ctxs(group2ctxs, ctx_len):
    """A dict {group: context} for each context, from a list of them or from {group: context or list of contexts}."""
    if group2ctxs is None:
        return [None] * ctx_len
    if isinstance(group2ctxs, list):
        if len(group2ctxs) != ctx_len:
            raise AssertionError(f'group2ctxs has {len(group2ctxs)} members for {ctx_len} contexts')
        return group2ctxs
    if not isinstance(group2ctxs, dict):
        raise AssertionError('group2ctxs must be a dict {group: context or list of contexts} or a list of dicts, not '
                             f'{described(group2ctxs)}')
    found: list[dict[str, Any]] = [{} for _ in range(ctx_len)]
    for group, contexts in group2ctxs.items():
        contexts = [contexts] if isinstance(contexts, Context) else list(contexts)
        contexts = contexts * ctx_len if len(contexts) == 1 else contexts
        if len(contexts) != ctx_len:
            raise AssertionError(f'group2ctxs[{group!r}] has {len(contexts)} contexts; 1 or {ctx_len} are expected')
        for own, context in zip(found, contexts, strict=True):
            own[group] = context
    return found
