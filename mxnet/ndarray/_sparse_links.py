"""How autograd knows of sparse arrays: by a tensor that has their shape but no memory.

torch's graph wants a tensor for every value.  For a sparse array that is an *anchor*, one number expanded to the shape;
what the array holds is in its parts.  `linked` gives the dense tensor that an operator reads, with the way back to the
anchor; `anchored` the anchor of a dense result that is stored sparse.  A gradient on its way to an anchor may be a
sparse tensor of torch that has only some rows: `rows_gradient` makes one, `rows_of` takes it apart.
"""
import functools
import warnings
import weakref

import torch

from .._autograd import Variable
from ..base import MXNetError
from . import _sparse_parts


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
    """What `compute` gives, with the gradients of `links` that `back` makes of the incoming one."""

    @staticmethod
    def forward(ctx, compute, back, *links):
        ctx.back = back
        return compute()

    @staticmethod
    def backward(ctx, gradient):
        found = ctx.back(gradient)
        return None, None, *(found if isinstance(found, tuple) else (found,))


def linked(link, dense):
    """The values of a dense tensor, whose gradient goes to `link`."""
    if link is None or not link.requires_grad or not torch.is_grad_enabled():
        return dense
    return _Linked.apply(link, dense)


def anchored(dense):
    """What a sparse array keeps of a dense result with history; None of one without."""
    return _Anchored.apply(dense) if dense.requires_grad else None


def computed(compute, back, *links):
    """`compute()`, a tensor, with the gradients `back(incoming)` for `links` where one wants them."""
    if not any(link is not None and link.requires_grad for link in links) or not torch.is_grad_enabled():
        return compute()
    collectors = [getattr(link, '_collected', None) for link in links]
    return _Computed.apply(compute, back if collectors == [None] else _collecting(back, collectors), *links)


def _collecting(back, collectors):
    """`back`, but for gradients by rows of links with a collector: these go there.

    torch adds two of its sparse tensors row by row; who collects them adds all values at once.
    """
    def collect(gradient):
        found = back(gradient)
        found = list(found) if isinstance(found, tuple) else [found]
        for i, collector in enumerate(collectors):
            if collector is not None and found[i] is not None and found[i].layout is not torch.strided:
                collector.found.append(rows_of(found[i]))
                collector.used = True
                found[i] = None
        return tuple(found)
    return collect


class _Collect(torch.autograd.Function):
    """Passes a link on; its gradient is what comes from torch, if anything, and what was collected."""

    @staticmethod
    def forward(ctx, link, collected):
        ctx.collected, ctx.shape = collected, link.shape
        ctx.set_materialize_grads(False)
        return link.view_as(link)

    @staticmethod
    def backward(ctx, gradient):
        collected, ctx.collected.found = ctx.collected.found, []
        if collected:
            values, rows = _sparse_parts.rows_summed(collected)
            collected = rows_gradient(values, rows, ctx.shape)
            gradient = collected if gradient is None else gradient + collected
        return gradient, None


class _Collector:
    """Gradients by rows of all that one recording computes from an array; `used` once there were any."""

    __slots__ = ('found', 'used')

    def __init__(self):
        self.found, self.used = [], False


def collecting(link):
    """A link for all operators of a recording: their gradients by rows are added in one step."""
    collected = _Collector()
    link = _Collect.apply(link, collected)
    link._collected = collected
    return link


def check_unchanged(values, version):
    """Raises an error where what a gradient is computed from was written into since."""
    if values._version != version:
        raise MXNetError('backward: a sparse array was updated after it was used, and its gradient needs the old '
                         'values; call backward before the update')


def passed_on(link, back):
    """The anchor of an array of the same shape as that of `link`, with a gradient that `back` passes on."""
    return computed(lambda: anchor(link.shape, link.dtype, link.device), back, link)


def of_rows(function, array):
    """The anchor of a function of each element of a row_sparse array that autograd follows.

    A gradient that comes by rows goes back so; a dense one too, where the function is flat at 0.
    """
    values, rows = array._ordered_parts()
    version = values._version

    def slope(x, gradient):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = function(x)
            found = torch.autograd.grad(y, x, gradient, allow_unused=True)[0] if y.requires_grad else None
        return torch.zeros_like(x) if found is None else found.detach()

    def back(gradient):
        check_unchanged(values, version)
        if gradient.layout is not torch.strided:
            incoming, where = rows_of(gradient)
            return rows_gradient(slope(_sparse_parts.rows_at((values, rows), where), incoming), where, array._shape)
        if not float(slope(values.new_zeros(1), values.new_ones(1))):
            return rows_gradient(slope(values, gradient[rows]), rows, array._shape)
        return slope(_sparse_parts.rows_to_dense((values, rows), array._shape), gradient)
    return passed_on(array._recorded_link(), back)


@functools.cache
def be_warned():
    """torch 2.11 says once in a process that it does not check sparse tensors, even where it was told not to."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        torch.sparse_coo_tensor(torch.zeros((1, 0), dtype=torch.int64), torch.zeros(0), (1,), is_coalesced=True,
                                check_invariants=False)


def rows_gradient(values, rows, shape):
    """A gradient that is 0 but for some rows, in rising order."""
    be_warned()
    gradient = torch.sparse_coo_tensor(rows.unsqueeze(0), values, shape, is_coalesced=True, check_invariants=False)
    gradient._given = values, rows          # type: ignore[attr-defined]  # found again by `rows_of`
    return gradient


def rows_of(gradient):
    """(values, rows) of a gradient that holds rows only."""
    given = getattr(gradient, '_given', None)
    if given is not None:
        return given
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

    __slots__ = ('anchor', '_array', '_collecting')

    def __init__(self, array, buffer, req):
        self._array, self._collecting = weakref.ref(array), None
        values = array._parts()[0]
        super().__init__(anchor(array._shape, values.dtype, values.device), buffer, req)

    @property
    def leaf(self):
        return linked(self.anchor, self._array()._values())     # type: ignore[union-attr]  # the array asks for it

    @leaf.setter
    def leaf(self, tensor):
        self.anchor = tensor

    def link(self):
        """The anchor as operators take it while they are recorded."""
        if not self.anchor.requires_grad or not torch.is_grad_enabled():
            return self.anchor
        if self._collecting is None or self._collecting._collected.used:
            self._collecting = collecting(self.anchor)
        return self._collecting
