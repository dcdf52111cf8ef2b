"""The switches of a thread: whether calls are recorded, and whether they behave as in training."""
from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch

from .. import _paused_writes
from .._dispatch import interceptors
from .._dispatch import tracer as _tracer
from .._state import state


def is_recording() -> bool:
    """Whether operators on this thread are being recorded."""
    tracer = _tracer()          # it knows whether the calls that it makes nodes of are recorded
    return state.recording if tracer is None else tracer.recording


def is_training() -> bool:
    """Whether operators on this thread behave as in training (Dropout drops, BatchNorm uses the batch)."""
    return state.training


def set_recording(is_recording: bool) -> bool:
    """Switches recording; returns the previous setting."""
    tracer = _tracer()
    if tracer is not None:
        before, tracer.recording = tracer.recording, bool(is_recording)
        return before
    before, state.recording = state.recording, bool(is_recording)
    return before


def set_training(train_mode: bool) -> bool:
    """Switches train mode; returns the previous setting."""
    before, state.training = state.training, bool(train_mode)
    return before


class _Scope:
    """Sets the switches on entry (None: leaves one alone) and restores them on exit."""

    __slots__ = ('_recording', '_training', '_before')
    # recording, training, whether torch's grad mode was off, writes, and what an outer use of this object restores
    _before: Any

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._recording, self._training, self._before = recording, training, None

    def __enter__(self) -> None:
        recording = self._recording
        tracer = _tracer() if interceptors else None
        if tracer is not None:
            self._before = tracer.recording, state.training, False, state.writes, self._before
            tracer.recording = tracer.recording if recording is None else recording
            state.training = state.training if self._training is None else self._training
            return
        # inside torch.no_grad() nothing would be recorded: our scope turns it on, and off again at its end
        silenced = recording and not torch.is_grad_enabled()
        # what was before, with what an outer use of this same object will restore
        self._before = state.recording, state.training, silenced, state.writes, self._before
        if silenced:
            torch.set_grad_enabled(True)
        if recording is not None and recording is not state.recording:
            if _paused_writes.uncounted and recording and state.writes is None:
                _paused_writes.count_all()
            state.writes = None if recording else []
            state.recording = recording
        if self._training is not None:
            state.training = self._training

    def __exit__(self, *exc: Any) -> None:
        recording, state.training, silenced, writes, self._before = self._before
        tracer = _tracer() if interceptors else None
        if tracer is None:
            if state.writes and state.writes is not writes:
                _paused_writes.restore_versions(state.writes)
            state.recording, state.writes = recording, writes
        else:
            tracer.recording = recording
        if silenced:
            torch.set_grad_enabled(False)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """As a decorator: the whole function runs in the scope."""
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with _Scope(self._recording, self._training):
                return function(*args, **kwargs)
        return inside


def record(train_mode: bool = True) -> AbstractContextManager[Any]:
    """A scope in which operators are recorded for `backward`.

    >>> x = mx.nd.array([1, 2, 3])
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    <BLANKLINE>
    [2. 4. 6.]
    <NDArray 3 @cpu(0)>
    """
    return _Scope(True, train_mode)


def pause(train_mode: bool = False) -> AbstractContextManager[Any]:
    """A scope in which nothing is recorded."""
    return _Scope(False, train_mode)


def train_mode() -> AbstractContextManager[Any]:
    """A scope in which operators behave as in training, recorded or not."""
    return _Scope(None, True)


def predict_mode() -> AbstractContextManager[Any]:
    """A scope in which operators behave as in prediction, recorded or not."""
    return _Scope(None, False)
