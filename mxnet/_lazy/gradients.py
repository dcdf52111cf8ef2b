"""Deferred gradients: products of two matrices, computed when something reads them.

The gradient of a dense layer's weight is the product of what came in and what went back.  Plain gradient descent needs
it once, to add it to the weight, and BLAS adds a product to a matrix as easily as it writes one: without the gradient
in between, a step touches a third less memory.  So after `backward` of a network whose graph is static the buffer of
such a gradient is a pending array, and the two factors are kept; `Trainer.step` asks for these (`factors_of`).  A read
of the gradient, before the step or after, computes it; a program that reads it step after step gets its gradients at
once again.

Factors are what a plan made, or arrays that came in.  A write into one of those (`_array.before_write`) has the product
computed first.
"""
import threading
from weakref import ref

import torch

from .._array import readers
from .._graph.writing import OWED
from ..autograd import is_sole
from ..base import MXNetError
from .pending import Pending, fill

PATIENCE = 8            # how often a gradient may be read, until it is computed at once again
WRITTEN = ('the gradient of shape {shape} can no longer be computed: an array that `backward` read has been written '
           'since, through memory that it shares with something else than arrays. Write a copy, or set '
           'MXNET_USE_FUSION=0, which has all gradients computed in backward')


class DeferredGradient:
    """One gradient of a plan: its number, and its buffer."""

    __slots__ = ('number', '_buffer', '_factors', '_target', '_version', '_patience', '_lock', '__weakref__')

    def __init__(self, number, buffer):
        self.number, self._buffer = number, ref(buffer)
        self._factors = self._target = None
        self._version, self._patience, self._lock = 0, PATIENCE, threading.RLock()

    def target(self):
        """What the plan's next run gets for the buffer: `OWED`, or the tensor that it is to write to."""
        if self._factors is not None and self._patience > 0:
            return OWED                 # still, for nothing has read it
        buffer = self._buffer()
        if self._patience > 0:
            if is_sole(buffer):
                return OWED
            self._patience -= 1         # views of the gradient would not know that it is pending
        return buffer.materialize()

    def defer(self, factors):
        """Makes the buffer pending, as the product of two matrices."""
        with self._lock:
            known = self._factors is not None
            self._factors, self._version = factors, _version(factors)
            if known:
                return
            buffer, key = self._buffer(), id(self)
            readers[key] = ref(self, lambda _: readers.pop(key, None))
            # in this order: another thread may read it at any time
            self._target, buffer._pending = buffer.materialize(), Pending(self, None, 0)
            buffer._storage = None

    def factors(self):
        """The factors, for an update that adds their product to something; None if the gradient is there already."""
        with self._lock:
            if self._factors is not None:
                self._check()
                self._patience = PATIENCE
            return self._factors

    def reads(self, memories):
        """Whether a factor lies in one of these pieces of memory."""
        factors = self._factors
        return factors is not None and any(t.untyped_storage().data_ptr() in memories for t in factors)

    def _check(self):
        if _version(self._factors) != self._version:
            raise MXNetError(WRITTEN.format(shape=tuple(self._target.shape)))

    # ------------------------------------------------------------------ as the work of a pending array
    def run(self):
        """Computes the gradient."""
        with self._lock:
            if self._factors is None:
                return
            self._check()
            self._patience -= 1
            with torch.no_grad():
                torch.mm(*self._factors, out=self._target)
            buffer = self._buffer()
            if buffer is not None:
                fill(buffer, self._target)
            self._factors = self._target = None
            readers.pop(id(self), None)

    def like(self, pending):
        return self._target

    def borrow(self, array):
        return array.materialize()

    def backward_from(self, heads, update=None):
        return False


def _version(factors):
    return factors[0]._version + factors[1]._version


def like_deferred(array):
    """A tensor like the deferred gradient that an array is; None if it is none."""
    pending = array._pending
    return pending.work.like(None) if pending is not None and type(pending.work) is DeferredGradient else None


def factors_of(array):
    """The factors of the deferred gradient that an array is; None if it is none."""
    pending = array._pending
    return pending.work.factors() if pending is not None and type(pending.work) is DeferredGradient else None
