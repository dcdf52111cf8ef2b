"""What training has to know to go on besides the states of weights: counts of updates, and what an optimizer and its
schedule remember in attributes.

MXNet 1.9.1 keeps none of it in its state files.  Ours have it behind the end of the pickle, which a program that
unpickles (such as MXNet 1.9.1) does not read:

    pickle of {index: state} | pickle of this progress | length of that pickle, 8 bytes | MARK

Attributes are compared with what they were before training began.  Those that a program has set otherwise this time, it
has set on purpose: they stay.  The others go on from what was saved.
"""
from __future__ import annotations

import contextlib
import pickle
import pickletools
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy

from .._files import pickles
from .._names import kind_of
from ..base import MXNetError
from ..lr_scheduler import LRScheduler
from ..ndarray.ndarray import NDArray

MARK = b'remx progress 1\n'
_TAIL = 8 + len(MARK)
_PROTOCOL = 4

# Not attributes that training changes, or kept under a name of their own.
_APART = frozenset(('idx2name', 'param_dict', 'sym_info', 'lr_scheduler', 'begin_num_update', 'num_update',
                    '_all_index_update_counts', '_index_update_count'))
_CONSTANT = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)

NO_COUNT = ('these states have no count of updates (MXNet 1.9.1 writes none), and {what}: training goes on as if no '
            'update had been made. Pass the number of updates so far to the optimizer, as begin_num_update')
OTHER_COUNT = ('the optimizer was made with begin_num_update={given}, so the count of updates starts there; these '
               'states were saved after {found}')
OTHER_OPTIMIZER = 'these states were saved by {found}, and are used by {given}: its count of updates starts at {start}'
NOT_KEPT = ('{names} of {owner} cannot be saved with the states, since state files hold plain values, arrays and '
            'schedulers only: training that goes on from this file begins with new ones')

_extra: list[dict] = []         # what else is to be kept, see `keeping`


# ---------------------------------------------------------------------- files
def packed(states, progress):
    """The bytes of a state file: those of the pickle `states`, and the progress behind them."""
    text = pickle.dumps(progress, _PROTOCOL)
    return b''.join((states, text, len(text).to_bytes(8, 'little'), MARK))


def unpacked(data, classes, where='optimizer states'):
    """(bytes of the pickle, progress) of a state file; the progress is None where there is none."""
    data = bytes(data)
    if not data.endswith(MARK):
        if _end_of_pickle(data) != len(data):
            raise MXNetError(f'{where}: the file is cut off behind the states, or something else follows them')
        return data, None
    end = len(data) - _TAIL
    start = end - int.from_bytes(data[end:end + 8], 'little') if end > 0 else -1
    if start < 0:
        raise MXNetError(f'{where}: what is behind the states is longer than the file')
    progress = pickles.load(data[start:end], classes, f'{where}, what is behind them')
    if not isinstance(progress, dict):
        raise MXNetError(f'{where}: behind them there should be a dict, not {kind_of(progress)}')
    return data[:start], progress


def _end_of_pickle(data):
    """Where the first pickle in bytes ends; their length where that cannot be told, which its reader will say."""
    try:
        for operation, _, position in pickletools.genops(data):
            if operation.name == 'STOP' and position is not None:
                return position + 1
    except Exception:                   # whatever damaged bytes lead to
        pass
    return len(data)


@contextlib.contextmanager
def keeping(extra: Any) -> Iterator[Any]:
    """State files that are written inside have `extra`, {name: plain value}, in their progress; the outermost counts.
    """
    if _extra:
        yield
        return
    _extra.append(extra)
    try:
        yield
    finally:
        _extra.pop()


# ---------------------------------------------------------------------- optimizers
def attributes(owner, classes, left_out=None):
    """Copies of the attributes of an optimizer or schedule that a state file can hold; names of others go to a list."""
    found = {}
    for name, value in vars(owner).items():
        if name in _APART or isinstance(value, _CONSTANT):
            continue
        try:
            found[name] = pickles.load(pickle.dumps(value, _PROTOCOL), classes)
        except Exception:               # whatever a program's own class raises when it is pickled
            if left_out is not None:
                left_out.append(name)
    return found


def snapshot(optimizer, classes):
    """The attributes of an optimizer and of its schedule, to tell later what training has changed."""
    schedule = optimizer.lr_scheduler
    return attributes(optimizer, classes), {} if schedule is None or not hasattr(schedule, '__dict__') \
        else attributes(schedule, classes)


def progress_of(optimizer, before, classes):
    """The progress of an optimizer; `before` is a `snapshot` of the time before training."""
    schedule = optimizer.lr_scheduler
    own: list[str] = []
    scheduled: list[str] = []
    now = attributes(optimizer, classes, own)
    progress = {'optimizer': _kind(optimizer), 'begin_num_update': optimizer.begin_num_update,
                'num_update': optimizer.num_update, 'before': before[0], 'now': _changed(before[0], now),
                'counts': {device: dict(counts) for device, counts in optimizer._all_index_update_counts.items()}}
    if schedule is not None and hasattr(schedule, '__dict__'):
        now = attributes(schedule, classes, scheduled)
        progress |= {'schedule': _kind(schedule), 'schedule before': before[1],
                     'schedule now': _changed(before[1], now)}
    for owner, names in ((optimizer, own), (schedule, scheduled)):
        if names:
            warnings.warn(NOT_KEPT.format(names=', '.join(names), owner=type(owner).__name__), UserWarning,
                          stacklevel=4)
    if _extra:
        progress['extra'] = _extra[0]
    return progress


def restore(optimizer, progress, before):
    """Has an optimizer go on from a progress; `before` is a `snapshot` of it as the program made it."""
    if not _is_progress(progress):
        raise MXNetError('optimizer states: what is behind them is no progress of an optimizer')
    if progress['optimizer'] != _kind(optimizer):
        _warn(OTHER_OPTIMIZER.format(found=progress['optimizer'], given=_kind(optimizer),
                                     start=optimizer.begin_num_update))
        return
    for owner, name, old in ((optimizer, '', before[0]), (optimizer.lr_scheduler, 'schedule ', before[1])):
        if owner is None or f'{name}now' not in progress or name and progress['schedule'] != _kind(owner):
            continue
        saved = progress[f'{name}before']
        if name and not _same(saved, old):
            continue                    # another schedule: it finds its place by the count
        for key, value in progress[f'{name}now'].items():
            if type(key) is not str or key.startswith('__') or (key in saved) != (key in old):
                continue
            if _same(saved.get(key), old.get(key)):
                setattr(owner, key, value)
    if optimizer.begin_num_update != progress['begin_num_update']:
        if optimizer.begin_num_update != progress['num_update']:
            _warn(OTHER_COUNT.format(given=optimizer.begin_num_update, found=progress['num_update']))
            return
        optimizer.begin_num_update = progress['begin_num_update']
    counts = optimizer._all_index_update_counts
    for device in [*counts]:
        counts[device].clear()          # the dicts stay: one of them is that of the device in use
    for device, found in progress['counts'].items():
        counts.setdefault(device, {}).update(found)
    optimizer.num_update = progress['num_update']


def warn_of_no_count(optimizer):
    """Warns that states came without a count, where that makes a difference."""
    if optimizer.begin_num_update:
        return
    reasons = []
    if optimizer.lr_scheduler is not None:
        reasons.append('the learning rate follows a schedule')
    if optimizer._needs_count:
        reasons.append(f'{type(optimizer).__name__} computes with it')
    if reasons:
        _warn(NO_COUNT.format(what=' and '.join(reasons)))


def _warn(text):
    warnings.warn(text, UserWarning, stacklevel=4)


def _kind(value):
    return f'{type(value).__module__}.{type(value).__qualname__}'


def _changed(before, now):
    return {name: value for name, value in now.items() if name not in before or not _same(before[name], value)}


def _is_progress(progress):
    numbers = (progress.get(name) for name in ('num_update', 'begin_num_update'))
    dicts = (progress.get(name) for name in ('before', 'now', 'counts'))
    return isinstance(progress.get('optimizer'), str) and all(type(n) is int for n in numbers) \
        and all(type(d) is dict for d in dicts) and all(type(d) is dict for d in progress['counts'].values()) \
        and ('schedule' not in progress or all(type(progress.get(f'schedule {name}')) is dict
                                               for name in ('before', 'now')))


def _same(one, other):
    """Whether two values of a state file are equal in all of their parts."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, NDArray):
        return one.stype == other.stype and _same(one.asnumpy(), other.asnumpy())
    if isinstance(one, numpy.ndarray):
        return one.dtype == other.dtype and numpy.array_equal(one, other)
    if isinstance(one, LRScheduler):
        return _same(vars(one), vars(other))
    return bool(one == other) or one != one and other != other      # NaN, too
