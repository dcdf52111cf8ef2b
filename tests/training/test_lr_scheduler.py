"""Learning rate schedules against their definitions, their warm-ups, and mistakes."""
import doctest
import logging
import math
import pickle

import pytest

import mxnet as mx
from mxnet import lr_scheduler as schedules


def test_examples_in_docstrings():
    assert not doctest.testmod(schedules, extraglobs={'mx': mx}).failed


def rates(scheduler, counts):
    return [scheduler(n) for n in counts]


def test_factor():
    schedule = schedules.FactorScheduler(step=10, factor=0.5, base_lr=1.0, stop_factor_lr=0.2)
    assert rates(schedule, [0, 10, 11, 20, 21, 31, 1000]) == [1.0, 1.0, 0.5, 0.5, 0.25, 0.2, 0.2]


def test_factor_catches_up():
    """Training that goes on from a checkpoint asks for a late rate first."""
    assert schedules.FactorScheduler(step=10, factor=0.5, base_lr=1.0)(35) == 0.125
    assert schedules.MultiFactorScheduler(step=[10, 20, 30], factor=0.5, base_lr=1.0)(25) == 0.25


def test_multi_factor():
    schedule = schedules.MultiFactorScheduler(step=[5, 8], factor=0.1, base_lr=1.0)
    assert rates(schedule, [1, 5, 6, 8, 9, 100]) == pytest.approx([1, 1, 0.1, 0.1, 0.01, 0.01])


def test_poly():
    schedule = schedules.PolyScheduler(max_update=100, base_lr=2.0, pwr=3, final_lr=0.5)
    for n in range(0, 101, 10):
        assert schedule(n) == pytest.approx(0.5 + 1.5 * (1 - n / 100) ** 3)
    assert schedule(101) == 0.5


def test_cosine():
    schedule = schedules.CosineScheduler(max_update=100, base_lr=2.0, final_lr=0.5)
    for n in range(0, 101, 10):
        assert schedule(n) == pytest.approx(0.5 + 1.5 * (1 + math.cos(math.pi * n / 100)) / 2)
    assert schedule(1000) == pytest.approx(0.5)


@pytest.mark.parametrize('make', [
    lambda **kw: schedules.FactorScheduler(step=100, **kw), lambda **kw: schedules.MultiFactorScheduler([100], **kw),
    lambda **kw: schedules.PolyScheduler(100, **kw), lambda **kw: schedules.CosineScheduler(100, **kw)])
def test_warm_up(make):
    schedule = make(base_lr=1.0, warmup_steps=10, warmup_begin_lr=0.5)
    assert rates(schedule, [0, 5, 9, 10]) == pytest.approx([0.5, 0.75, 0.95, 1.0])
    schedule = make(base_lr=1.0, warmup_steps=10, warmup_begin_lr=0.5, warmup_mode='constant')
    assert rates(schedule, [0, 5, 9, 10]) == pytest.approx([0.5, 0.5, 0.5, 1.0])


def test_decay_is_counted_from_the_end_of_the_warm_up():
    schedule = schedules.PolyScheduler(100, base_lr=1.0, pwr=1, warmup_steps=50)
    assert schedule(75) == pytest.approx(0.5)
    assert schedules.CosineScheduler(100, base_lr=1.0, warmup_steps=50)(75) == pytest.approx(0.5)


def test_changes_are_logged(caplog):
    with caplog.at_level(logging.INFO):
        schedules.FactorScheduler(step=1, factor=0.5, base_lr=1.0)(2)
        schedules.MultiFactorScheduler(step=[1], factor=0.5, base_lr=1.0)(2)
    assert caplog.text.count('Change learning rate to 5.00000e-01') == 2


def test_pickle():
    schedule = schedules.MultiFactorScheduler(step=[5, 8], factor=0.1, base_lr=1.0)
    schedule(6)
    again = pickle.loads(pickle.dumps(schedule))
    assert vars(again) == vars(schedule) and again(9) == pytest.approx(0.01)


@pytest.mark.parametrize('make, error, message', [
    (lambda: schedules.LRScheduler(warmup_steps=1.5), TypeError, 'warmup_steps must be an int'),
    (lambda: schedules.LRScheduler(warmup_steps=-1), ValueError, 'at least 0'),
    (lambda: schedules.LRScheduler(base_lr=0.1, warmup_begin_lr=0.2), ValueError, 'warmup_begin_lr'),
    (lambda: schedules.LRScheduler(warmup_mode='slow'), ValueError, "'linear' or 'constant', not 'slow'"),
    (lambda: schedules.LRScheduler()(3), NotImplementedError, '__call__'),
    (lambda: schedules.LRScheduler(warmup_steps=3).get_warmup_lr(3), ValueError, 'ends after 3'),
    (lambda: schedules.FactorScheduler(0), ValueError, 'step must be at least 1'),
    (lambda: schedules.FactorScheduler(1, factor=1.5), ValueError, 'factor'),
    (lambda: schedules.MultiFactorScheduler(5), TypeError, 'a list'),
    (lambda: schedules.MultiFactorScheduler([]), TypeError, 'a list'),
    (lambda: schedules.MultiFactorScheduler([3, 3]), ValueError, 'increase'),
    (lambda: schedules.MultiFactorScheduler([0, 3]), ValueError, 'begin with 1'),
    (lambda: schedules.MultiFactorScheduler([1], factor=2), ValueError, 'factor'),
    (lambda: schedules.PolyScheduler(0), ValueError, 'max_update must be at least 1'),
    (lambda: schedules.CosineScheduler(1.0), TypeError, 'max_update must be an int'),
])
def test_mistakes(make, error, message):
    with pytest.raises(error, match=message):
        make()
