"""Pruning while a network learns: masks that grow by a schedule and are kept after each update."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...base import MXNetError
from ._channels import channels
from ._masks import Masks, magnitude
from ._networks import checked


class Schedule:
    """The sparsity at each step: `initial` until `begin`, `final` from `end` on, in between by a cubic curve.

    The curve is steep at first, when there are many weights to spare: Zhu and Gupta, To prune, or not to prune, 2017.
    power: 3 for this curve, 1 for a line
    """

    def __init__(self, final: float, begin: int = 0, end: int = 1000, every: int = 100, initial: float = 0.0,
                 power: float = 3) -> None:
        self.final, self.initial = checked(final), checked(initial)
        if end < begin or every < 1 or begin < 0:
            raise ValueError(f'a schedule has 0 <= begin <= end and every >= 1, not begin={begin}, end={end}, '
                             f'every={every}')
        self.begin, self.end, self.every, self.power = begin, end, every, power

    def __call__(self, step: int) -> float:
        """The sparsity at a step."""
        if step >= self.end:
            return self.final
        if step < self.begin:
            return self.initial
        done = (step - self.begin) / (self.end - self.begin)
        return self.final + (self.initial - self.final) * (1 - done) ** self.power

    def due(self, step: int) -> bool:
        """Whether masks are made anew at a step."""
        return self.begin <= step <= self.end and ((step - self.begin) % self.every == 0 or step == self.end)


class Pruner:
    """Prunes a network once or while it learns, and keeps what is pruned at 0 through every update.

    network: a Block or a Module
    schedule: a `Schedule`, a number (masks are made at once and stay), or a function of the step's number
    method: 'weights' (see `magnitude`) or 'channels' (see `channels`)
    options: those of `magnitude` or `channels`

    >>> net = mx.gluon.nn.Dense(4, in_units=8)
    >>> net.initialize()
    >>> trainer = mx.gluon.Trainer(net.collect_params(), 'sgd')
    >>> pruner = mx.contrib.prune.Pruner(net, 0.75).attach(trainer)
    >>> with mx.autograd.record():
    ...     loss = net(mx.nd.ones((2, 8))).sum()
    >>> loss.backward()
    >>> trainer.step(2)
    >>> round(mx.contrib.prune.sparsity(net)['all'], 2)
    0.75
    """

    def __init__(self, network: Any, schedule: Schedule | float | Callable[[int], float] = 0.5,
                 method: str = 'weights', **options: Any) -> None:
        if method not in ('weights', 'channels'):
            raise ValueError(f"method must be 'weights' or 'channels', not {method!r}")
        self.network, self.method, self._options = network, method, options
        self._schedule = schedule
        self.steps = 0
        self.masks = Masks()
        self.plan: Any = None           # of channels, the last choice
        self._trainers: list[tuple[Any, Any]] = []
        if not callable(schedule):
            self.prune(schedule)

    def prune(self, sparsity: float | Mapping[str, float]) -> Masks:
        """Makes the masks for a sparsity and applies them."""
        if self.method == 'weights':
            self.masks = magnitude(self.network, sparsity, **self._options)
        else:
            self.plan = channels(self.network, sparsity, **self._options)
            self.masks = self.plan.masks
        self.apply()
        return self.masks

    def apply(self) -> None:
        """Sets masked weights to 0."""
        self.masks.apply(self.network)

    def step(self) -> None:
        """To be called after each update: makes new masks where the schedule says so, and applies them."""
        schedule = self._schedule
        if isinstance(schedule, Schedule):
            if schedule.due(self.steps):
                self.prune(schedule(self.steps))
        elif callable(schedule):
            self.prune(schedule(self.steps))
        self.steps += 1
        self.apply()

    def shrink(self) -> Any:
        """The network without the channels that are masked (method 'channels')."""
        if self.method != 'channels':
            raise MXNetError("prune: only whole channels can be taken out of a network: use method='channels'")
        # the masks decide, not the weights: training may have moved their norms since
        plan = channels(self.network, 0.0, **{k: v for k, v in self._options.items()
                                              if k in ('data_shapes', 'criterion')})
        if self.plan is not None:
            plan._gone = self.plan._gone
            for group, before in zip(plan.groups, self.plan.groups, strict=True):
                group.removed = before.removed
        return plan.shrink()

    # ------------------------------------------------------------------ loops
    def attach(self, trainer: Any) -> Pruner:
        """Calls `step` after each `trainer.step` and `trainer.update`; `detach()` ends it."""
        for name in ('step', 'update'):
            self._trainers.append((trainer, name))
            trainer.__dict__[name] = _Followed(getattr(trainer, name), self)
        return self

    def detach(self) -> None:
        """Trainers update by themselves again."""
        for trainer, name in self._trainers:
            trainer.__dict__.pop(name, None)
        self._trainers.clear()

    def __call__(self, param: Any) -> None:
        """The pruner is a `batch_end_callback` of `Module.fit`."""
        module = (param.locals or {}).get('self') if hasattr(param, 'locals') else None
        if module is not None and module is not self.network:
            self.network = module           # masks are for the arrays that learn
        self.step()

    def handler(self, priority: float = -1500) -> Any:
        """An event handler for `Estimator.fit`: after the update, before metrics."""
        from ...gluon.contrib.estimator.event_handler import BatchEnd

        class PruningHandler(BatchEnd):
            def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
                pruner.step()
        pruner, made = self, PruningHandler()
        made.priority = priority        # type: ignore[attr-defined]  # the Estimator asks for it
        return made


class _Followed:
    """A method of a trainer, and what comes after it."""

    def __init__(self, method: Any, pruner: Pruner) -> None:
        self._method, self._pruner = method, pruner

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self._method(*args, **kwargs)
        self._pruner.step()
        return result
