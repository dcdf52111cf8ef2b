"""`mx.npx.random`: random numbers that NumPy has no function for."""
from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _random_state as _random
from .._names import suggest_names as _suggest_names
from ..numpy.random import _extension

if TYPE_CHECKING:
    from ..context import Context

bernoulli, normal_n, uniform_n = _extension.values()
__all__ = [*_extension, 'seed']


def seed(seed: int, ctx: Context = 'all') -> None:
    """Sets the state of the generators: of all devices, or of one."""
    _random.seed(seed, ctx)


_suggest_names(globals())
