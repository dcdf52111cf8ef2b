"""Random numbers: one generator per context, none of torch's own touched."""
from __future__ import annotations

import random as _python
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._state import state
from .base import MXNetError
from .context import Context

if TYPE_CHECKING:
    from .ndarray._random import exponential as exponential
    from .ndarray._random import gamma as gamma
    from .ndarray._random import generalized_negative_binomial as generalized_negative_binomial
    from .ndarray._random import multinomial as multinomial
    from .ndarray._random import negative_binomial as negative_binomial
    from .ndarray._random import normal as normal
    from .ndarray._random import poisson as poisson
    from .ndarray._random import randint as randint
    from .ndarray._random import randn as randn
    from .ndarray._random import shuffle as shuffle
    from .ndarray._random import uniform as uniform

__all__ = ['generator', 'like_numpy', 'like_python', 'seed']

_lock = threading.Lock()
_generators: dict[Context, Any] = {}
_seed = 0        # the seed of contexts that are first used later on; 0 from the start, as upstream
_seeded = False  # has the program asked for random numbers that it can have again


def generator(ctx: Context) -> Any:
    """The `torch.Generator` that a context's random operators draw from."""
    for step in state.draws:        # numbers are drawn in the order of the program
        if step.ctx == ctx:
            step.run()
    if state.batch_generators is not None and ctx.device_type == 'cpu':
        return state.batch_generators.mx
    found = _generators.get(ctx)
    if found is None:
        import torch
        with _lock:
            found = _generators.get(ctx)
            if found is None:
                found = torch.Generator(device=ctx.torch_device)
                found.manual_seed(_mix(_seed, ctx))
                _generators[ctx] = found
    return found


def like_python() -> Any:
    """What augmenters draw from as upstream's draw from Python's `random`: that, or a loader's for its batch."""
    return _python if state.batch_generators is None else state.batch_generators.python


def like_numpy() -> Any:
    """The same of `numpy.random`."""
    if state.batch_generators is not None:
        return state.batch_generators.numpy
    import numpy
    return numpy.random


def seed(seed_state: int, ctx: Context | str = 'all') -> None:
    """Seeds the random numbers.

    With ctx='all' every context's; two contexts still draw different numbers.  With one context, only that one, and
    then cpu(0) and gpu(0), seeded alike, differ only by their device's algorithm.
    """
    global _seed, _seeded
    for step in state.draws:
        step.run()
    try:
        value = int(seed_state)
        if value != seed_state:
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(f'the seed must be an int, not {seed_state!r}') from None
    if isinstance(ctx, str):
        if ctx != 'all':
            raise MXNetError(f"ctx must be 'all' or a Context, not {ctx!r}")
        with _lock:
            _seed, _seeded = value, True
            for known, gen in _generators.items():
                gen.manual_seed(_mix(value, known))
    else:
        generator(Context(ctx)).manual_seed(value & _MASK)


def _get_states() -> dict[str, Any]:
    """The states of all generators that the library draws from, those of NumPy and Python as well, as plain values."""
    import numpy
    for step in state.draws:
        step.run()
    own = {(ctx.device_type, ctx.device_id): gen.get_state().cpu().numpy().tobytes()
           for ctx, gen in _generators.items()}
    return {'mx': own, 'seed': _seed, 'seeded': _seeded, 'numpy': numpy.random.get_state(),
            'python': _python.getstate()}


def _set_states(states: Mapping[str, Any]) -> None:
    """Goes on with random numbers where `_get_states` was called; what belongs to devices that are not here is "
    "ignored."""
    global _seed, _seeded
    import numpy
    import torch
    for step in state.draws:
        step.run()
    try:
        with _lock:
            _seed, _seeded = int(states['seed']), bool(states['seeded'])
        for (kind, number), text in states['mx'].items():
            try:
                gen = generator(Context(kind, number))
            except MXNetError:
                continue
            gen.set_state(torch.frombuffer(bytearray(text), dtype=torch.uint8))
        numpy.random.set_state(states['numpy'])
        _python.setstate(states['python'])
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise MXNetError(f'the states of random generators are damaged: {error}') from error


_MASK = (1 << 63) - 1


def _mix(value: int, ctx: Context) -> int:
    # any odd multiplier will do: contexts of one seed must not draw the same numbers
    return (value + ctx.device_id * 0x9E3779B97F4A7C15) & _MASK
