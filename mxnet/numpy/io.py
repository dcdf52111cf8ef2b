"""Arrays from text."""
from __future__ import annotations

from typing import Any

import numpy

__all__ = ['genfromtxt']


def genfromtxt(*args: Any, **kwargs: Any) -> Any:
    """The numbers in a text file, as `numpy.genfromtxt` reads them; float32 unless `dtype` says otherwise."""
    from ._creation import array
    kwargs.setdefault('dtype', numpy.float32)
    ctx = kwargs.pop('ctx', None)
    values = numpy.genfromtxt(*args, **kwargs)
    return array(values, dtype=values.dtype, ctx=ctx)
