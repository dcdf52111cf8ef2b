"""Iterators that upstream wrote in C++: how they are called, and how batches are made and read ahead."""
from __future__ import annotations

import functools
import inspect
import itertools
import logging
import warnings
from collections.abc import Callable
from typing import Any

import numpy

from .._names import near
from .._ops.core.attributes import kind_of
from ..base import MXNetError
from ._ahead import Ahead
from ._base import DataBatch, DataDesc, DataIter, check_state

# not the root logger: its first message would decide how it writes, before the program does
log = logging.getLogger('mxnet.io')
_IDLE = {'input_shape', 'data_shape'}           # what programs give all iterators, whether these ask or not

__all__ = ['MXDataIter']


class MXDataIter(DataIter):
    """What `CSVIter`, `ImageRecordIter` and the others return: batches of one data array and one label array.

    handle: what makes the batches, see `Loader`
    """

    first_batch: Any
    provide_data: Any
    provide_label: Any

    __module__ = 'mxnet.io.io'

    def __init__(self, handle: Any, data_name: str = 'data', label_name: str = 'softmax_label', **_: Any) -> None:
        super().__init__(handle.batch_size)
        self.handle = handle
        self._debug_skip_load = False
        self._epoch, self._skip, self._given = 0, 0, 0
        self._current: Any = None
        handle.begin(0, 0)
        self._ahead = Ahead(handle.next, max(1, handle.prefetch))
        self.first_batch = None
        try:
            self.first_batch = self._ahead.next()
        except StopIteration:
            raise MXNetError(f'{handle.name}: there is no data in {handle.where}') from None
        self._current = self.first_batch
        data, label = self.first_batch.data[0], self.first_batch.label[0]
        self.provide_data = [DataDesc(data_name, data.shape, data.dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, label.dtype)]

    def __del__(self) -> None:
        ahead = getattr(self, '_ahead', None)
        if ahead is not None:
            ahead.stop()
            self.handle.close()

    @property
    def corrupt(self) -> Any:
        """Examples that could not be read and were left out, as far as reading has got."""
        return list(self.handle.corrupt)

    def debug_skip_load(self) -> None:
        """From now on always gives the same batch, to see how fast a program is without loading."""
        self._debug_skip_load = True
        log.info('debug_skip_load: every batch is the same from now on')

    def reset(self) -> None:
        """Back to the first batch.

        With `round_batch`, examples that filled up the last batch have been read already: the next pass begins
        behind them.
        """
        self._ahead.stop()
        self._skip = self._current.ahead if self._current is not None else 0
        self._epoch += 1
        self._begin()

    def _begin(self):
        self._current = self.first_batch = None
        self._given = 0
        self.handle.begin(self._epoch, self._skip)
        self._ahead.start()

    def state_dict(self) -> dict[str, Any]:
        """Where the iterator is, for `load_state_dict`; its orders and augmentations follow from its seeds."""
        found = {'name': self.handle.name, 'batch_size': self.batch_size, 'epoch': self._epoch, 'skip': self._skip,
                 'given': self._given}
        if self.handle.parts is not None:
            found['num_parts'] = self.handle.parts
        return {**found, 'even_parts': True} if self.handle.even else found

    def load_state_dict(self, state: Any) -> None:
        """Goes on where `state_dict` was called; the batches of this pass that were given are read again.

        With even parts nothing is read again, and the numbers of parts may differ.
        """
        if self.handle.even:
            check_state(self.handle.name, state, name=self.handle.name, even_parts=True)
            self._ahead.stop()
            self._epoch = state['epoch']
            self._skip = state['skip'] + state['given'] * state['num_parts'] * state['batch_size']
            self._begin()
            return
        check_state(self.handle.name, state, name=self.handle.name, batch_size=self.batch_size)
        parts = self.handle.parts
        if parts is not None and state.get('num_parts', parts) != parts:
            raise ValueError(f'{self.handle.name}: the state is that of one of {state["num_parts"]} parts, and this is '
                             f'one of {parts}; with even_parts=True they may differ')
        self._ahead.stop()
        self._epoch, self._skip = state['epoch'], state['skip']
        self._begin()
        for _ in range(state['given']):
            self.iter_next()

    def iter_next(self) -> bool:
        if self.first_batch is not None:
            self.first_batch = None
            self._given = 1
            return True
        if self._debug_skip_load and self._current is not None:
            return True
        try:
            self._current = self._ahead.next()
        except StopIteration:
            return False
        self._given += 1
        return True

    def next(self) -> DataBatch:
        if not self.iter_next():
            raise StopIteration
        return self._current

    def getdata(self) -> Any:
        """The data of this batch: an array, not a list."""
        return self._current.data[0]

    def getlabel(self) -> Any:
        """Its labels: an array."""
        return self._current.label[0]

    def getindex(self) -> Any:
        return self._current.index

    def getpad(self) -> Any:
        return self._current.pad


class LoadedBatch(DataBatch):
    """A batch, and how many examples of the next pass are in it."""

    def __init__(self, data, label, pad, index, ahead=0):
        super().__init__([data], [label], pad, numpy.asarray(index, numpy.uint64))
        self.ahead = ahead


class Loader:
    """Makes batches of a stream of examples.

    A subclass says what the examples of a pass are, in pieces of any size, and what arrays are made of a batch.  A
    piece has a length, can be sliced, and its class can `join` several.  A pass that ends in the middle of a batch
    takes the rest of it from the next pass if `round_batch`, else from the batch before.
    """

    parts: int | None = None    # how many there are of the data; None where that is not known
    even = False                # whether these are dealt out batch by batch

    def __init__(self, name, where, batch_size, round_batch=True, prefetch=4):
        if batch_size < 1:
            raise MXNetError(f'{name}: batch_size must be positive, not {batch_size}')
        self.name, self.where, self.batch_size = name, where, batch_size
        self.round_batch, self.prefetch = round_batch, prefetch
        self.corrupt = []

    # ------------------------------------------------------------------ for subclasses
    def pieces(self, epoch, skip):
        """Yields the examples of a pass from number `skip` on, piece by piece."""
        raise NotImplementedError

    def arrays(self, piece):
        """-> (data, label, index) of the examples of a batch."""
        raise NotImplementedError

    # ------------------------------------------------------------------ batches
    def begin(self, epoch, skip):
        """Starts a pass behind its first `skip` examples."""
        self._epoch = epoch
        self._stream: _Stream | None = _Stream(self.pieces(epoch, skip))
        self._seen = skip
        self._last = None

    def close(self):
        """Lets go of what a pass holds, which refers back to this object."""
        self._stream = self._last = None

    def next(self):
        """The next batch; StopIteration after the last one of the pass."""
        assert self._stream is not None
        parts = self._stream.take(self.batch_size)
        count = sum(len(part) for part in parts)
        if not count:
            raise StopIteration
        self._seen += count
        pad = ahead = self.batch_size - count
        if pad and self.round_batch:
            following = itertools.count(self._epoch + 1)
            parts += _Stream(itertools.chain.from_iterable(self.pieces(e, 0) for e in following)).take(pad)
            if pad >= self._seen:
                ahead = 0           # a whole pass has been read: the next one begins anew
        elif pad:
            ahead = 0
            last = self._last if self._last is not None else parts[0].join(parts * -(-self.batch_size // count))
            parts.append(last[count:self.batch_size])
        batch = parts[0] if len(parts) == 1 else parts[0].join(parts)
        if not self.round_batch:
            self._last = batch
        data, label, index = self.arrays(batch)
        if label.stype == 'default' and label.ndim > 1 and label.size == len(batch):
            label = label.reshape((-1,))            # one label for each example: without an axis of its own
        return LoadedBatch(data, label, pad, index, ahead)


class _Stream:
    """Takes examples off an iterator of pieces."""

    def __init__(self, pieces):
        self._pieces = iter(pieces)
        self._rest = None

    def take(self, count):
        """Pieces with `count` examples in all, or what is left."""
        parts = []
        while count:
            piece = self._rest if self._rest is not None else next(self._pieces, None)
            if piece is None:
                break
            self._rest = piece[count:] if len(piece) > count else None
            parts.append(piece[:count] if len(piece) > count else piece)
            count -= len(parts[-1])
        return parts


def native(function: Callable[..., Any]) -> Callable[..., MXDataIter]:
    """Makes a function of keyword parameters that returns a Loader the function that returns its iterator.

    Values may be given as text, as upstream takes them.  Parameters that upstream would silently ignore are reported.
    """
    parameters = inspect.signature(function).parameters
    kinds = {name: kind_of(p.annotation) for name, p in parameters.items()}
    required = [name for name, p in parameters.items() if p.default is p.empty]

    @functools.wraps(function)
    def make(*args, **kwargs):
        name = function.__name__
        if args:
            raise TypeError(f'{name} takes keyword arguments only, for example {required[0]}=...')
        names = {key: kwargs.pop(key) for key in ('data_name', 'label_name') if key in kwargs}
        missing = [key for key in required if key not in kwargs]
        if missing:
            unknown = [key for key in kwargs if key not in kinds and key not in _IDLE]
            strange = f'; there is no argument {unknown[0]!r}{near(unknown[0], missing)}' if unknown else ''
            raise MXNetError(f'{name} needs {", ".join(missing)}{strange}')
        for key in [key for key in kwargs if key not in kinds]:
            del kwargs[key]
            if key in _IDLE:
                continue
            warnings.warn(f'{name} has no argument {key!r}{near(key, kinds)}; it is ignored, as in MXNet 1.9.1',
                          stacklevel=2)
        given = {}
        for key, value in kwargs.items():
            try:
                given[key] = kinds[key].parse(value)
            except (ValueError, TypeError, KeyError, SyntaxError):
                raise MXNetError(f'{name}: {key}={value!r} is not accepted; it takes {kinds[key].accepts}') from None
        return MXDataIter(function(**given), **names)

    extra = [inspect.Parameter('data_name', inspect.Parameter.KEYWORD_ONLY, default='data', annotation=str),
             inspect.Parameter('label_name', inspect.Parameter.KEYWORD_ONLY, default='softmax_label', annotation=str)]
    signed: Any = make
    signed.__signature__ = inspect.Signature([*parameters.values(), *extra], return_annotation=MXDataIter)
    return make
