"""Small products on one thread: waking others takes longer than what they would save.

Operators of torch's own divide work among threads once there is enough of it.  The libraries behind products,
convolutions and recurrent layers (MKL, oneDNN) mostly divide whatever they get.  For a few thousand numbers that costs
as much as the work itself on two cores, more on sixteen, and a hundred times as much while other programs want the
cores too.  So plans of a CPU have these libraries use the calling thread only, while small calls follow each other.

How many threads share a sum can change its last digits.  A call is left as it is unless a trial, with numbers drawn at
random, gives the same bits both ways.  Not so for convolutions of a prediction, whose weights are not what they were:
batch norms are folded into them.

Between one thread and all there is nothing: OpenMP's library ends the threads that a smaller team does not need, and
starts others for the next larger one.
"""
from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from ..._torch.dispatch import OpOverload, signature
from ..._torch.tools import find_openmp

if TYPE_CHECKING:
    from ..types import FxNode

WORK = 1e6              # multiplications and additions that are worth a second thread
STEP = 2e6              # the same for each step of a recurrent layer
NUMBERS = 1 << 16       # numbers read and written that are
GRAIN = 1 << 15         # numbers that torch itself divides
LEAST = 3               # calls for which it pays to change the number of threads; of few threads, more
FEW, MORE = 4, 8
_REORDER = 'mkldnn::_reorder_convolution_weight'
# calls of libraries: which argument is the first factor, or the weight
_PRODUCTS = {'mm': 0, 'bmm': 0, 'linear': 0, 'addmm': 1, 'baddbmm': 1}
_CONVOLUTIONS = {'convolution': 1, 'convolution_backward': 2, 'mkldnn::_convolution_pointwise': 1}
_RECURRENT = ('mkldnn_rnn_layer', 'mkldnn_rnn_layer_backward')
# calls of torch's own that divide whatever they get
_ROWS = ('native_layer_norm', 'native_layer_norm_backward', 'native_batch_norm', 'native_batch_norm_backward')
# calls that give the same bits on any number of threads, besides views and what is done number by number; the last only
# if there are few numbers
_STEADY = set('_to_copy _unsafe_view cat stack embedding gather index_select _softmax _log_softmax '
              '_softmax_backward_data _log_softmax_backward_data max_pool2d_with_indices avg_pool2d'.split())
_SUMS = set('sum mean amax amin argmax argmin scatter_add'.split())


# ---------------------------------------------------------------------- which calls
def alone(calls: Sequence[FxNode], predicts: bool = False) -> set[int]:
    """The numbers of calls that are to be on one thread: whole stretches, so that it is seldom changed."""
    if _library is None or _library.count() == 1:
        return set()
    least = LEAST if _library.count() > FEW else MORE
    found: set[int] = set()
    kinds = [_kind(node, predicts) for node in calls]
    for stays, stretch in itertools.groupby(range(len(calls)), lambda i: kinds[i] is not None):
        gains = [i for i in stretch if kinds[i]]
        if stays and sum([_times(calls[i]) for i in gains]) >= least:
            found.update(range(gains[0], gains[-1] + 1))
    return found


def _times(node: FxNode) -> int:
    """How often a call would wake the other threads."""
    return node.args[0].meta['val'].shape[0] if _name(node) in _RECURRENT else 1


def _kind(node: FxNode, predicts: bool) -> bool | None:
    """True for a call that is better on one thread, False for one that does not care, None for one that may."""
    if not isinstance(node.target, OpOverload):
        return False if node.target is operator.getitem else None
    name = _name(node)
    numbers = sum(map(_numbers, (node, *node.all_input_nodes)))
    if name in _PRODUCTS or name in _CONVOLUTIONS or name in _RECURRENT or name in _ROWS:
        work = _work(name, node)
        if name in _RECURRENT:          # steps wait for each other, and each has its share of the numbers
            small = work <= STEP
        else:
            small = work <= (_convolution() if name in _CONVOLUTIONS else WORK) and numbers <= NUMBERS
        return True if small and (predicts and name in _CONVOLUTIONS or _same_bits(node)) else None
    if node.target.is_view:
        return False
    if torch.Tag.pointwise in node.target.tags or name in _STEADY or name in _SUMS and numbers < GRAIN:
        return False if numbers <= NUMBERS else None
    return None


def _convolution() -> float:
    """As `WORK`, for convolutions: few threads find together quickly."""
    return WORK * min(1.0, math.log2(_library.count()) / 4)


def _name(node: FxNode) -> str:
    return signature(node.target).name.removeprefix('aten::') if isinstance(node.target, OpOverload) else ''


def _numbers(node: FxNode) -> int:
    """How many numbers a value has."""
    value = node.meta.get('val')
    return sum([v.numel() for v in (value if isinstance(value, (tuple, list)) else (value,))
                if isinstance(v, torch.Tensor)])


def _work(name: str, node: FxNode) -> float:
    """Multiplications and additions of a call; of a recurrent layer, for each step."""
    if name in _PRODUCTS:
        return 2 * _numbers(node) * node.args[_PRODUCTS[name]].meta['val'].shape[-1]
    if name in _CONVOLUTIONS:
        weight = next((a.args[0] for a in node.all_input_nodes if _name(a) == _REORDER), None)
        weight = (weight or node.args[_CONVOLUTIONS[name]]).meta['val']
        made = _numbers(node.args[0]) if name == 'convolution_backward' else _numbers(node)
        return 2 * made * math.prod(weight.shape[1:]) * (2 if name == 'convolution_backward' else 1)
    if name in _RECURRENT:
        batch = node.args[0].meta['val'].shape[1]
        return 2 * batch * (_numbers(node.args[1]) + _numbers(node.args[2])) * (2 if 'backward' in name else 1)
    return 0


# ---------------------------------------------------------------------- trials
_trials: dict = {}      # (call, number of threads) -> whether one thread gives the same bits


def _same_bits(node: FxNode) -> bool:
    """Whether one thread gives what all of them give; False if that cannot be tried."""
    key = str((node.target, *torch.fx.node.map_arg((node.args, node.kwargs), _described))), _library.count()
    if key not in _trials:
        try:
            _trials[key] = _tried(node)
        except (RuntimeError, KeyError, AttributeError, TypeError):
            _trials[key] = False
    return _trials[key]


def _described(node: FxNode) -> Any:
    value = node.meta.get('val')
    return _name(node) if value is None else (value.shape, value.stride(), value.dtype)


def _tried(node: FxNode) -> bool:
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), _drawn)
    with torch.enable_grad(), Alone(_library.count()) as here:         # oneDNN keeps less in another mode
        all_of_them = node.target(*args, **kwargs)
        here.begin()
        one = node.target(*args, **kwargs)
    if isinstance(one, torch.Tensor):
        all_of_them, one = [all_of_them], [one]
    return all(a is b is None or _equal(a, b) for a, b in zip(all_of_them, one, strict=True))


def _equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.dtype is torch.uint8:          # what oneDNN keeps for a backward pass, not all of it written
        return True
    return torch.equal(a.contiguous().view(-1).view(torch.uint8), b.contiguous().view(-1).view(torch.uint8))


def _drawn(node: FxNode) -> torch.Tensor:
    """A tensor like that of a node, with numbers from a generator of its own."""
    if _name(node) == _REORDER:
        return node.target(*torch.fx.node.map_arg(node.args, _drawn))
    value, generator = node.meta['val'], torch.Generator().manual_seed(7)
    own = [1 if s == 0 else n for n, s in zip(value.shape, value.stride(), strict=True)]
    made = torch.empty_strided(own, value.stride(), dtype=value.dtype)
    if made.dtype.is_floating_point:
        return made.normal_(generator=generator).expand(value.shape)
    if made.dtype is torch.uint8 and made.numel() % 4 == 0:        # what oneDNN keeps for a backward pass
        return torch.randn(made.numel() // 4, generator=generator).view(torch.uint8)
    return made.zero_().expand(value.shape)


# ---------------------------------------------------------------------- how many threads
_library: Any = find_openmp()           # None: then `alone` finds no calls, and nothing else here asks for it


class Alone:
    """A context in which the calling thread can be told to work alone, from `begin` to `end`.

    threads: how many there were in the trials; if there are others now, nothing is changed
    """

    __slots__ = ('_threads', '_mkl', '_begun')

    def __init__(self, threads: int) -> None:
        self._threads, self._begun = threads, False

    def __enter__(self) -> Alone:
        return self

    def begin(self) -> None:
        if _library.count() == self._threads:
            self._begun = True
            _library.set(1)
            self._mkl = _library.set_mkl(1)

    def end(self) -> None:
        if self._begun:
            self._begun = False
            _library.set_mkl(self._mkl)
            _library.set(self._threads)

    def __exit__(self, *_: Any) -> None:
        self.end()


def threads() -> int:
    """How many threads the calling one has."""
    return _library.count()
