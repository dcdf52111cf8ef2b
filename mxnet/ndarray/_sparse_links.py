"""How autograd knows of sparse arrays: by a tensor that has their shape but no memory.

torch's graph wants a tensor for every value.  For a sparse array that is an *anchor*, one number expanded to the shape;
what the array holds is in its parts.  `linked` gives the dense tensor that an operator reads, with the way back to the
anchor; `anchored` the anchor of a dense result that is stored sparse.  A gradient on its way to an anchor may be a
sparse tensor of torch that has only some rows: `rows_gradient` makes one, `rows_of` takes it apart.
"""
import weakref

import torch

from ..autograd import Variable


def anchor(shape, dtype, device):
    """A tensor of that shape without memory for its elements."""
    return torch.zeros((), dtype=dtype, device=device).expand(shape)


class _Linked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, link, dense):
        return dense.view_as(dense)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


class _Anchored(torch.autograd.Function):
    @staticmethod
    def forward(ctx, dense):
        return anchor(dense.shape, dense.dtype, dense.device)

    @staticmethod
    def backward(ctx, gradient):
        return dense_gradient(gradient)


class _Computed(torch.autograd.Function):
    """What `compute` gives, with the gradient of `link` that `back` makes of the incoming one."""

    @staticmethod
    def forward(ctx, compute, back, link):
        ctx.back = back
        return compute()

    @staticmethod
    def backward(ctx, gradient):
        return None, None, ctx.back(gradient)


def linked(link, dense):
    """The values of a dense tensor, whose gradient goes to `link`."""
    if link is None or not link.requires_grad or not torch.is_grad_enabled():
        return dense
    return _Linked.apply(link, dense)


def anchored(dense):
    """What a sparse array keeps of a dense result with history; None of one without."""
    return _Anchored.apply(dense) if dense.requires_grad else None


def computed(compute, back, link):
    """`compute()`, a tensor, with the gradient `back(incoming)` for `link` where that wants one."""
    if link is None or not link.requires_grad or not torch.is_grad_enabled():
        return compute()
    return _Computed.apply(compute, back, link)


def rows_gradient(values, rows, shape):
    """A gradient that is 0 but for some rows, each of them once."""
    return torch.sparse_coo_tensor(rows.unsqueeze(0), values, shape, is_coalesced=True, check_invariants=False)


def rows_of(gradient):
    """(values, rows) of a gradient that holds rows only."""
    # torch forgets that rows are in order and sorts them again; to look is much faster
    rows = gradient._indices()[0]
    if bool((rows.diff() > 0).all()):
        return gradient._values(), rows
    gradient = gradient.coalesce()
    return gradient.values(), gradient.indices()[0]


def dense_gradient(gradient):
    return gradient.to_dense() if gradient.layout is not torch.strided else gradient


class SparseVariable(Variable):
    """What `attach_grad` makes of a sparse array: its leaf is the dense array of the moment, linked to an anchor."""

    __slots__ = ('anchor', '_array')

    def __init__(self, array, buffer, req):
        self._array = weakref.ref(array)
        values = array._parts[0]
        super().__init__(anchor(array._shape, values.dtype, values.device), buffer, req)

    @property
    def leaf(self):
        return linked(self.anchor, self._array()._values())

    @leaf.setter
    def leaf(self, tensor):
        self.anchor = tensor
