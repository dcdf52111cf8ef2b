"""Operators of torch's own library: one call for whoever traces a graph, however many it makes.

`torch.library.custom_op` would do, but its wrapper imports torch's compiler at the first call, which takes a second.
"""
from collections.abc import Callable
from typing import Any

import torch

_library = torch.library.Library('remx', 'FRAGMENT')
KERNELS: dict[Callable[..., Any], Callable[..., Any]] = {}          # the Python function of each operator
CHECKS: set[Callable[..., Any]] = set()         # those that note or raise an error each time they run


def define(schema: str, kernel: Callable[..., Any], like: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a new operator `remx::...`; `like` gives tensors of its results' shapes, on meta tensors."""
    name = schema.partition('(')[0]
    _library.define(schema)
    _library.impl(name, kernel, 'CompositeExplicitAutograd')
    _library.impl(name, like, 'Meta')
    made = getattr(torch.ops.remx, name).default
    KERNELS[made] = kernel
    return made
