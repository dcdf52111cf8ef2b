"""Where training is: which epoch and batch, where the data are, and all random numbers.

`fit` notes it as it goes along, `save_optimizer_states` writes it with the states, and `fit` of a module that has read
them goes on from there, bit for bit.
"""
from __future__ import annotations

import warnings
from typing import Any

from .. import _random_state as _random
from ..base import MXNetError
from ..io import NDArrayIter

NO_STATE = ('{what} is a {kind}, which has no state_dict: random numbers continue where they were, but an order that '
            'depends on earlier epochs starts again')
OTHER_DATA = '{what} cannot resume: {reason}'
OTHER_EPOCH = ('these states were saved {where}, but fit begins with epoch {begin}: data and random numbers start '
               'again. To resume training, pass begin_epoch={due}')
OTHER_WORKER = ('these states were saved by worker {saved}, this is worker {own}: data and random numbers start again. '
                'Each worker resumes exactly from its own checkpoint')
NOTHING_NOTED = ('these states do not say where training was (MXNet 1.9.1 does not write it): {what} start again')
DAMAGED = 'the states of the optimizer: the recorded position of training is damaged: {reason}'


def state_of(iterator):
    """The state of an iterator; None where it has none."""
    found = getattr(iterator, 'state_dict', None)
    try:
        return None if found is None else found()
    except AttributeError:              # an iterator around one that has none
        return None


class Run:
    """The place of a training loop.

    ahead: whether the loop has fetched the batch that follows when callbacks are called
    resets: whether it resets the data after the callbacks of an epoch, not before
    """

    def __init__(self, train_data: Any, eval_data: Any = None, ahead: bool = True,
                 resets: bool = True) -> None:
        self.train_data: Any
        self.train_data, self.eval_data, self.ahead, self.resets = train_data, eval_data, ahead, resets
        self.phase: Any
        self.epoch: Any
        self.batches: Any
        self.phase, self.epoch, self.batches = 'ready', None, 0
        self._at_start: Any = None
        self._final: Any = None
        self._before_reset: dict[str, Any] | None = None
        self._going_on: Any = None      # the random states to set once a resumed epoch has come to its place

    # ------------------------------------------------------------------ as training goes along
    def begin(self, epoch: int) -> None:
        """Before the first batch of an epoch."""
        self.phase, self.epoch, self.batches = 'batch', epoch, 0
        if self._going_on is None:
            self._at_start = state_of(self.train_data), _random._get_states()

    def done(self) -> None:
        """After a batch, before its callbacks."""
        self.batches += 1

    def ended(self) -> None:
        """After the last batch of an epoch, before its callbacks."""
        self.phase = 'ended'

    def reset(self) -> None:
        """Resets the data after an epoch."""
        if not hasattr(self.train_data, 'state_dict'):
            # all that is known of their order: the random numbers that it was drawn from
            self._before_reset = _random._get_states()
        self.train_data.reset()

    def ready(self) -> None:
        """After the end of an epoch, before the next one begins."""
        self.phase = 'ready'

    def close(self) -> None:
        """After training: the data are let go, where they are is remembered."""
        self._final = state_of(self.train_data), state_of(self.eval_data)
        self.train_data = self.eval_data = None

    def note(self) -> Any:
        """All of it as plain values."""
        found = {'phase': self.phase, 'epoch': self.epoch, 'random': _random._get_states()}
        if self.phase == 'batch':
            found |= {'batches': self.batches, 'train': self._at_start[0], 'random at start': self._at_start[1],
                      'random before reset': self._before_reset, 'eval': state_of(self.eval_data)}
        elif self._final is not None:
            found |= dict(zip(('train', 'eval'), self._final, strict=True))
        else:
            found |= {'train': state_of(self.train_data), 'eval': state_of(self.eval_data)}
        return found

    # ------------------------------------------------------------------ as it is resumed
    def go_on(self, extra: Any, begin_epoch: int, worker: Any, draws: Any) -> None:
        """Has the data and random numbers go on from what was noted, if training begins with the epoch that is due.

        extra: what was read with the states of the optimizer
        draws: whether the network draws random numbers
        """
        if not _noted(extra, worker):
            shuffles = getattr(self.train_data, 'shuffle', False)
            what = [w for w, wanted in (('random numbers', draws), ('shuffles of the data', shuffles)) if wanted]
            if what and not (extra or {}).get('run'):
                _warn(NOTHING_NOTED.format(what=' and '.join(what)))
            return
        note = extra['run']
        try:
            self._go_on(note, begin_epoch)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise MXNetError(DAMAGED.format(reason=f'{type(error).__name__} {error}')) from error

    def _go_on(self, note, begin_epoch):
        epoch, phase = note['epoch'], note['phase']
        if epoch is None:
            _random._set_states(note['random'])
            return
        due = epoch if phase == 'batch' else epoch + 1
        if begin_epoch != due:
            where = f'in epoch {epoch}, after {note["batches"]} batches' if phase == 'batch' else f'after epoch {epoch}'
            _warn(OTHER_EPOCH.format(where=where, begin=begin_epoch, due=due))
            return
        self._place('train_data', self.train_data, note['train'])
        if self.eval_data is not None:
            self._place('eval_data', self.eval_data, note['eval'])
        if phase == 'batch':
            # what is drawn on the way is drawn as it was
            self._before_reset = note['random before reset']
            if note['train'] is None and self._before_reset is not None:
                _random._set_states(self._before_reset)
                self.train_data.reset()
            _random._set_states(note['random at start'])
            self._at_start = note['train'], note['random at start']
            self._going_on = note
            return
        _random._set_states(note['random'])
        if phase == 'ended':
            if self.eval_data is not None:
                # the score that followed: it may have drawn random numbers, and the next one goes on from its end
                self.eval_data.reset()
                exhaust(self.eval_data)
                if not self.resets:
                    self.eval_data.reset()
            if self.resets:
                self.reset()

    def skip(self, batches: Any) -> Any:
        """Passes by the batches of this epoch that a resumed run has trained on: (how many, the next batch or None)."""
        note, self._going_on = self._going_on, None
        if note is None:
            return 0, next(batches, None) if self.ahead else None
        for _ in range(note['batches']):
            if type(batches) is NDArrayIter:
                batches.iter_next()
            else:
                next(batches, None)
        self.batches = note['batches']
        following = next(batches, None) if self.ahead else None
        _random._set_states(note['random'])
        return note['batches'], following

    @staticmethod
    def _place(what, iterator, state):
        if state is None or not hasattr(iterator, 'load_state_dict'):
            _warn(NO_STATE.format(what=what, kind=type(iterator).__name__))
            return
        try:
            iterator.load_state_dict(state)
        except ValueError as error:
            _warn(OTHER_DATA.format(what=what, reason=error))


def set_random_states(extra: Any, worker: Any) -> None:
    """Has random numbers go on from what was read with the states of the optimizer."""
    if _noted(extra, worker, warn=True) and 'random' in extra['run']:
        _random._set_states(extra['run']['random'])


def _noted(extra, worker, warn=False):
    if not isinstance(extra, dict) or not isinstance(extra.get('run'), dict):
        return False
    if extra.get('worker') != worker:
        if warn:
            _warn(OTHER_WORKER.format(saved=_named(extra.get('worker')), own=_named(worker)))
        return False
    return True


def _named(worker):
    return 'the only one' if worker is None else f'{worker[0]} of {worker[1]}'


def exhaust(iterator):
    """Goes to the end of the data."""
    if type(iterator) is NDArrayIter:
        while iterator.iter_next():
            pass
    else:
        for _ in iterator:
            pass


def _warn(text):
    warnings.warn(text, UserWarning, stacklevel=5)
