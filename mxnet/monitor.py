"""Looking inside a network while it runs: outputs of its layers, weights and gradients."""
from __future__ import annotations

import logging
import math
import re
from typing import TYPE_CHECKING, Any

from . import ndarray
from ._kinds import explain_methods as _explain_methods
from ._names import suggest_names as _suggest_names
from .ndarray import NDArray

if TYPE_CHECKING:
    from .executor import Executor

__all__ = ['Monitor']


def _root_mean_square(array):
    return ndarray.norm(array) / math.sqrt(array.size)


class Monitor:
    """Computes a number of each array that an executor computes or holds, every `interval` batches.

    `stat_func(array)` gives an array or a list of arrays; by default it is the root mean square.  Only arrays whose
    name matches the regular expression `pattern` from its beginning are looked at: outputs of layers
    ('fc1_output'), their gradients ('fc1_backward_output0' is that of its first input), parameters and states.  With
    `monitor_all` inputs of layers ('fc1_data') come in, too.  `sort` orders by name.

    >>> x = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1, no_bias=True, name='fc')
    >>> executor = x.bind(mx.cpu(), {'data': mx.nd.ones((1, 2)), 'fc_weight': mx.nd.ones((1, 2))})
    >>> monitor = mx.mon.Monitor(interval=1, pattern='.*output')
    >>> monitor.install(executor)
    >>> monitor.tic()
    >>> result = executor.forward()
    >>> monitor.toc()
    [(1, 'fc_output', '2.0\\t')]
    """

    activated: bool
    step: int

    def __init__(self, interval: int, stat_func: Any = None, pattern: str = '.*', sort: bool = False,
                 monitor_all: bool = False) -> None:
        self.stat_func: Any = stat_func or _root_mean_square
        self.interval = interval
        self.activated = False
        self.queue: list[Any] = []
        self.step = 0
        self.exes: list[Any] = []
        self.re_prog: Any = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all

    def stat_helper(self, name: str, array: NDArray) -> None:
        """What an executor calls with each array."""
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe: Executor) -> None:
        """Watches an executor; there may be several."""
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    def tic(self) -> None:
        """Begins a batch: to be called before `forward`."""
        if self.step % self.interval == 0:
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self) -> list[tuple[int, str, str]]:
        """Ends a batch: [(number of the batch, name, text), ...], empty if it was not one of the `interval`."""
        if not self.activated:
            return []
        for exe in self.exes:
            for name, array in (*exe.arg_dict.items(), *exe.aux_dict.items()):
                self.stat_helper(name, array)
        self.activated = False
        found, self.queue = self.queue, []
        if self.sort:
            found.sort(key=lambda one: one[1])
        return [(step, name, ''.join(_text(value) + '\t' for value in _listed(name, values)))
                for step, name, values in found]

    def toc_print(self) -> None:
        """Ends a batch and logs what `toc` gives."""
        for step, name, text in self.toc():
            logging.info('Batch: %7d %-30s %s', step, name, text)


def _listed(name, values):
    values = [values] if isinstance(values, NDArray) else values
    if not isinstance(values, list) or not all(isinstance(v, NDArray) for v in values):
        raise AssertionError(f'stat_func must give an NDArray or a list of them; of {name} it gave {values!r}')
    return values


def _text(value):
    return str(value.asscalar() if value.size == 1 and value.ndim <= 1 else value.asnumpy())


_explain_methods(Monitor, '__init__ install')
_suggest_names(globals())
