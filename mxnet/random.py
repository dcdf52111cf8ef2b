"""Random numbers: `mx.random`.  Generators are in `_random_state.py`, the distributions are those of `mx.nd.random`."""
from typing import TYPE_CHECKING

from ._names import suggest_names as _suggest_names
from ._random_state import _get_states, _set_states, generator, like_numpy, like_python, seed  # noqa: F401

__all__ = ['seed', 'exponential', 'gamma', 'generalized_negative_binomial', 'multinomial', 'negative_binomial',
           'normal', 'poisson', 'randint', 'randn', 'shuffle', 'uniform']

if TYPE_CHECKING:
    from .ndarray.random import (
        exponential,
        gamma,
        generalized_negative_binomial,
        multinomial,
        negative_binomial,
        normal,
        poisson,
        randint,
        randn,
        shuffle,
        uniform,
    )


def _forward(name):
    def draw(*args, **kwargs):
        from .ndarray import random
        return getattr(random, name)(*args, **kwargs)
    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = f'`mx.nd.random.{name}`.'
    return draw


# The distributions are those of mx.nd.random, which replaces these names when it is loaded.  Seeding does not load it.
globals().update({_name: _forward(_name) for _name in __all__ if _name != 'seed'})
seed.__module__ = __name__

_suggest_names(globals())
