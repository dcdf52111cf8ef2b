"""Functions that `fit` calls after each batch or epoch: logging, progress, checkpoints.

After a batch they get an object with `epoch`, `nbatch`, `eval_metric` and `locals`; after an epoch
(epoch, symbol, arguments, auxiliary states).
"""
from __future__ import annotations

import logging
import math
import shutil
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .module import BucketingModule, Module

from ._kinds import explain_kinds as _explain_kinds
from ._names import explain_arguments
from ._names import suggest_names as _suggest_names

__all__ = ['LogValidationMetricsCallback', 'ProgressBar', 'Speedometer', 'do_checkpoint', 'log_train_metric',
           'module_checkpoint']


def module_checkpoint(mod: Module | BucketingModule, prefix: str, period: int = 1,
                      save_optimizer_states: bool = False) -> Callable[..., None]:
    """An epoch callback that saves a module every `period` epochs, with the states of its optimizer if wanted."""
    period = int(max(1, period))

    def save(iter_no, sym=None, arg=None, aux=None):
        if (iter_no + 1) % period == 0:
            # by name: it is the fourth argument of a BucketingModule's method, and the third of a Module's
            mod.save_checkpoint(prefix, iter_no + 1, save_optimizer_states=save_optimizer_states)
    return save


def do_checkpoint(prefix: str, period: int = 1) -> Callable[..., None]:
    """An epoch callback that writes `prefix-symbol.json` and `prefix-0001.params` every `period` epochs."""
    period = int(max(1, period))

    def save(iter_no, sym, arg, aux):
        if (iter_no + 1) % period == 0:
            from ._training import save_checkpoint
            save_checkpoint(prefix, iter_no + 1, sym, arg, aux)
    return save


def log_train_metric(period: int, auto_reset: bool = False) -> Callable[..., None]:
    """A batch callback that logs the metric every `period` batches, and begins it anew if `auto_reset`."""
    def log(param):
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info('Iter[%d] Batch[%d] Train-%s=%f', param.epoch, param.nbatch, name, value)
            if auto_reset:
                param.eval_metric.reset_local()
    return log


@explain_arguments
class Speedometer:
    """A batch callback that logs samples per second and the metric every `frequent` batches.

    With `auto_reset` the metric is that of these batches alone, else that of the epoch so far.
    """

    init: bool
    last_count: Any

    def __init__(self, batch_size: int, frequent: int = 50, auto_reset: bool = True) -> None:
        self.batch_size = batch_size
        self.frequent = frequent
        self.init = False
        self.tic: Any = 0
        self.last_count = 0
        self.auto_reset = auto_reset

    def __call__(self, param: Any) -> None:
        count = param.nbatch
        new_epoch = count < self.last_count
        self.last_count = count
        if not self.init or new_epoch:
            self.init = True
            self.tic = time.time()
        elif count % self.frequent == 0:
            self._log(param, count)
            self.tic = time.time()

    def _log(self, param, count):
        # asked for first: it waits for a GPU, and that time counts
        values = None if param.eval_metric is None else param.eval_metric.get_name_value()
        seconds = time.time() - self.tic
        speed = self.frequent * self.batch_size / seconds if seconds else math.inf
        if values is None:
            logging.info('Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec', param.epoch, count, speed)
            return
        start = 0
        if self.auto_reset:
            param.eval_metric.reset_local()
            start = count - self.frequent
        shown = '\t%s=%f' * len(values)
        logging.info('Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec' + shown, param.epoch, start, count, speed,
                     *(part for pair in values for part in pair))


class _TextBar:
    """What stands in for tqdm where it is not installed: a bar on one line of stderr."""

    def __init__(self, total, desc, ncols):
        self.total, self.desc, self.ncols, self.n = total, desc, ncols, 0
        self.note = ''
        self._start = self._shown = time.monotonic()

    def set_postfix_str(self, text, refresh=True):
        self.note = text

    def update(self, more):
        self.n += more
        if time.monotonic() - self._shown >= 0.1:
            self._show()

    def _show(self):
        self._shown = time.monotonic()
        left = f'{self.desc}: {100 * self.n // self.total:3d}% ['
        right = f'] {self.n}/{self.total} {self._shown - self._start:.1f}s {self.note}'.rstrip()
        room = max(5, self.ncols - len(left) - len(right))
        filled = room * min(self.n, self.total) // self.total
        sys.stderr.write('\r' + left + '=' * filled + '-' * (room - filled) + right)
        sys.stderr.flush()

    def close(self):
        self._show()
        sys.stderr.write('\n')
        sys.stderr.flush()


class ProgressBar:
    """A batch callback that shows how much of the epoch is done: a bar on stderr or, in a notebook, a widget.

    `total` is the number of batches of an epoch, `length` the most characters that the line takes.  It is tqdm's bar
    where tqdm is installed (`pip install tqdm`), else a plain one.
    """

    def __init__(self, total: int, length: int = 80) -> None:
        self.bar_len = length
        self.total = total
        self._bar: Any = None
        self._epoch = None
        self._last = self._calls = 0
        self._told = -math.inf

    def __call__(self, param: Any) -> None:
        epoch, count = getattr(param, 'epoch', None), param.nbatch
        if not self._calls or epoch != self._epoch or count < self._last:
            self._open(epoch)
        self._last = count
        self._calls += 1
        if self._bar is None:
            return
        # Module counts batches from 0, FeedForward from 1: this call ends one either way
        done = min(max(count, self._calls), self.total)
        self._note(getattr(param, 'eval_metric', None), done)
        self._bar.update(done - self._bar.n)
        if done >= self.total:
            self._close()

    def _open(self, epoch):
        if self._bar is not None:
            self._close()
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = _TextBar
        width = min(self.bar_len, shutil.get_terminal_size().columns)
        self._bar = tqdm(total=self.total, desc='Epoch' if epoch is None else f'Epoch {epoch}', ncols=width)
        self._epoch, self._calls, self._told = epoch, 0, -math.inf

    def close(self) -> None:
        """Ends the bar of an epoch that was not finished."""
        if self._bar is not None:
            self._close()

    def _close(self):
        self._bar.close()
        self._bar = None

    def _note(self, metric, done):
        # reading a metric waits for a GPU: now and then, and at the end
        now = time.monotonic()
        if metric is not None and (done >= self.total or now - self._told > 0.5):
            self._told = now
            self._bar.set_postfix_str(' '.join(f'{n}={v:.4g}' for n, v in metric.get_name_value()), refresh=False)


class LogValidationMetricsCallback:
    """An epoch-end callback of a score: logs the metric."""

    def __call__(self, param: Any) -> None:
        if param.eval_metric:
            for name, value in param.eval_metric.get_name_value():
                logging.info('Epoch[%d] Validation-%s=%f', param.epoch, name, value)


_explain_kinds(globals(), __all__)
_suggest_names(globals())
