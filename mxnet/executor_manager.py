"""Executors on several devices, as programs of MXNet's first years ran them; `mx.mod.Module` has replaced this."""
from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import ndarray
from .base import mx_real_t
from .context import cpu
from .io import DataDesc

if TYPE_CHECKING:
    from ._typing import Arrays, Logger
    from .io import DataBatch
    from .metric import EvalMetric
    from .monitor import Monitor
    from .ndarray import NDArray
    from .symbol import Symbol

__all__ = ['DataParallelExecutorGroup', 'DataParallelExecutorManager']


def _split_input_slice(batch_size, work_load_list):
    """The slices of a batch that devices get, in proportion to their work loads."""
    total = sum(work_load_list)
    counts = [round(load * batch_size / total) for load in work_load_list]
    if sum(counts) < batch_size:
        counts[-1] += batch_size - sum(counts)
    slices, end = [], 0
    for count in counts:
        begin, end = end, min(end + count, batch_size)
        if begin >= end:
            raise ValueError(f'a batch of {batch_size} cannot be split among {len(work_load_list)} devices with work '
                             f'loads {list(work_load_list)}: some would get nothing')
        slices.append(slice(begin, end))
    return slices


def _check_arguments(symbol):
    """Raises ValueError if two arguments, or two auxiliary states, of a symbol have the same name."""
    for what, names in ('argument', symbol.list_arguments()), ('auxiliary state', symbol.list_auxiliary_states()):
        seen = set()
        for name in names:
            if name in seen:
                raise ValueError(f'two {what}s of the symbol are called {name!r}; give layers different names: {names}')
            seen.add(name)


def _load_general(data, targets):
    """Copies arrays to arrays, or to those of devices: lists of (slice, array)."""
    for source, target in zip(data, targets, strict=True):
        if isinstance(target, ndarray.NDArray):
            source.copyto(target)
            continue
        expected = target[-1][0].stop
        if source.shape[0] != expected:
            raise AssertionError(f'a batch of {expected} is expected, but there are {source.shape[0]}')
        for part, array in target:
            source[part].copyto(array)


def _load_data(batch, targets):
    """Copies the data of a batch."""
    _load_general(batch.data, targets)


def _load_label(batch, targets):
    """Copies the labels of a batch."""
    _load_general(batch.label, targets)


class DataParallelExecutorGroup:
    """One executor for each context, with parameters of its own and a slice of each batch.

    sym: the symbol; arg_names: all of its arguments; param_names: those that are parameters
    ctx, slices: contexts and the slices of a batch that they get
    train_data: an iterator or a batch, which says what data and labels are like
    shared_group: a group of another bucket, to share parameters and memory with
    """

    def __init__(self, sym: Symbol, arg_names: Sequence[str], param_names: Sequence[str], ctx: Any, slices: Any,
                 train_data: Any, shared_group: Any = None) -> None:
        _check_arguments(sym)
        self.shared_data_arrays: Any = [{} for _ in ctx] if shared_group is None else shared_group.shared_data_arrays
        self.data_names: Any = [d[0] for d in train_data.provide_data]
        self.label_names: Any = [d[0] for d in train_data.provide_label]
        self.aux_names: list[str] = sym.list_auxiliary_states()
        self.param_idx: list[int] = [i for i, name in enumerate(arg_names) if name in param_names]
        self.param_names: list[str] = [arg_names[i] for i in self.param_idx]
        self.slices = slices
        inputs = [*train_data.provide_data, *train_data.provide_label]
        types = {d[0]: d.dtype if isinstance(d, DataDesc) else mx_real_t for d in inputs}
        reqs = {name: 'write' if name in self.param_names else 'null' for name in arg_names}
        self.train_execs: Any = []
        for number, (context, part) in enumerate(zip(ctx, slices, strict=True)):
            shapes = {d[0]: (part.stop - part.start, *d[1][1:]) for d in inputs}
            self.train_execs.append(sym.simple_bind(
                context, grad_req=reqs, type_dict=types, shared_arg_names=self.param_names,
                shared_exec=None if shared_group is None else shared_group.train_execs[number],
                shared_buffer=self.shared_data_arrays[number], **shapes))      # type: ignore[arg-type]
        executors = self.train_execs
        self.data_arrays: Any = [self._sliced(name) for name in self.data_names]
        self.label_arrays: Any = [self._sliced(name) for name in self.label_names]
        self.param_arrays: Any = [[e.arg_arrays[i] for e in executors] for i in self.param_idx]
        self.grad_arrays: Any = [[e.grad_arrays[i] for e in executors] for i in self.param_idx]
        self.aux_arrays: Any = [[e.aux_arrays[i] for e in executors] for i in range(len(self.aux_names))]

    def _sliced(self, name):
        return [(part, executor.arg_dict[name]) for part, executor in zip(self.slices, self.train_execs, strict=True)]

    def load_data_batch(self, data_batch: DataBatch) -> None:
        """Copies data and labels to the devices."""
        _load_data(data_batch, self.data_arrays)
        _load_label(data_batch, self.label_arrays)

    def forward(self, is_train: Any = False) -> None:
        """Runs forward on each device."""
        for executor in self.train_execs:
            executor.forward(is_train=is_train)

    def backward(self) -> None:
        """Runs backward on each device."""
        for executor in self.train_execs:
            executor.backward()

    def update_metric(self, metric: EvalMetric, labels: Arrays, pre_sliced: bool = False) -> None:
        """Compares the outputs with labels; with `pre_sliced`, there is a list of labels for each device."""
        for number, (executor, part) in enumerate(zip(self.train_execs, self.slices, strict=True)):
            metric.update(labels[number] if pre_sliced else [label[part] for label in labels], executor.outputs)


class DataParallelExecutorManager:
    """Executors for each context and, with `sym_gen`, for each bucket.

    sym_gen: a function of a bucket key that gives a symbol
    work_load_list: how much of a batch each context gets
    """

    def __init__(self, symbol: Symbol, ctx: Any, train_data: Any, arg_names: Sequence[str],
                 param_names: Sequence[str], aux_names: Sequence[str], work_load_list: list[int] | None = None,
                 logger: Logger | None = None, sym_gen: Callable[..., Any] | None = None) -> None:
        (logger or logging).info('Start training with %s', ctx)
        work_load_list = [1] * len(ctx) if work_load_list is None else work_load_list
        if not isinstance(work_load_list, list) or len(work_load_list) != len(ctx):
            raise AssertionError(f'work_load_list must be a list with a number for each of {len(ctx)} contexts, not '
                                 f'{work_load_list!r}')
        self.slices: Any = _split_input_slice(train_data.batch_size, work_load_list)
        self.arg_names: Any
        self.param_names: Any
        self.aux_names: Any
        self.arg_names, self.param_names, self.aux_names = arg_names, param_names, aux_names
        self.ctx: Any
        self.symbol: Symbol
        self.sym_gen: Any
        self.ctx, self.symbol, self.sym_gen = ctx, symbol, sym_gen
        self.execgrp: Any = DataParallelExecutorGroup(symbol, arg_names, param_names, ctx, self.slices, train_data)
        self.curr_execgrp: Any = None            # that of the batch which was loaded last
        if sym_gen is not None:
            self.execgrp_bucket: Any = {train_data.default_bucket_key: self.execgrp}

    def install_monitor(self, monitor: Monitor) -> None:
        """Has a monitor watch all executors."""
        if self.sym_gen is not None:
            raise NotImplementedError('buckets cannot be monitored here; use mx.mod.BucketingModule')
        for executor in self.execgrp.train_execs:
            monitor.install(executor)

    def set_params(self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray]) -> None:
        """Copies parameters to all devices."""
        for executor in self.execgrp.train_execs:
            executor.copy_params_from(arg_params, aux_params)

    def copy_to(self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray]) -> None:
        """Copies the parameters, the mean of those of all devices, into arrays."""
        for names, blocks, targets in ((self.execgrp.param_names, self.param_arrays, arg_params),
                                       (self.aux_names, self.aux_arrays, aux_params)):
            for name, block in zip(names, blocks, strict=True):
                _mean(block).astype(targets[name].dtype, copy=False).copyto(targets[name])

    @property
    def param_arrays(self) -> list[list[NDArray]]:
        """For each parameter a list with one array a device; all buckets share them."""
        return self.execgrp.param_arrays

    @property
    def grad_arrays(self) -> list[list[NDArray]]:
        """The gradients, in the same way."""
        return self.execgrp.grad_arrays

    @property
    def aux_arrays(self) -> Any:
        """The auxiliary states, in the same way."""
        return self.execgrp.aux_arrays

    def load_data_batch(self, data_batch: DataBatch) -> None:
        """Copies data and labels to the devices, to the executors of the batch's bucket."""
        self.curr_execgrp = self.execgrp
        if self.sym_gen is not None:
            key = data_batch.bucket_key
            if key not in self.execgrp_bucket:
                self.execgrp_bucket[key] = DataParallelExecutorGroup(
                    self.sym_gen(key), self.arg_names, self.param_names, self.ctx, self.slices, data_batch,
                    shared_group=self.execgrp)
            self.curr_execgrp = self.execgrp_bucket[key]
        self.curr_execgrp.load_data_batch(data_batch)

    def forward(self, is_train: Any = False) -> None:
        """Runs forward on the batch that was loaded."""
        self.curr_execgrp.forward(is_train=is_train)

    def backward(self) -> None:
        """Runs backward."""
        self.curr_execgrp.backward()

    def update_metric(self, metric: EvalMetric, labels: Arrays, pre_sliced: bool = False) -> None:
        """Compares the outputs with labels."""
        self.curr_execgrp.update_metric(metric, labels, pre_sliced)


def _mean(arrays):
    """The mean of arrays of several devices, on the CPU."""
    total = arrays[0].as_in_context(cpu())
    for array in arrays[1:]:
        total = total + array.as_in_context(cpu())
    return total / len(arrays) if len(arrays) > 1 else total
