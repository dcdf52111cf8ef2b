"""Operators of torch's own library: one call for whoever traces a graph, however many it makes.

`torch.library.custom_op` would do, but its wrapper imports torch's compiler at the first call, which takes a second.
"""
import torch

_library = torch.library.Library('remx', 'FRAGMENT')
KERNELS: dict = {}          # the Python function of each operator


def define(schema, kernel, like):
    """The function of a new operator `remx::...`; `like` gives tensors of its results' shapes, on meta tensors."""
    name = schema.partition('(')[0]
    _library.define(schema)
    _library.impl(name, kernel, 'CompositeExplicitAutograd')
    _library.impl(name, like, 'Meta')
    made = getattr(torch.ops.remx, name).default
    KERNELS[made] = kernel
    return made
