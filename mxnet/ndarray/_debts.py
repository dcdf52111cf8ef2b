"""Gradients that are owed: products of two matrices, computed when somebody looks at them.

The gradient of a dense layer's weight is the product of what came in and what went back.  Plain gradient descent needs
it once, to add it to the weight, and BLAS adds a product to a matrix as easily as it writes one: without the gradient
in between, a step touches a third less memory.  So after `backward` of a network whose graph is static the buffer of
such a gradient waits, as other arrays do (`_waiting.py`), with the two factors put aside; `Trainer.step` asks for these
(`pay`).  Whoever looks at the gradient, before or after, has it computed; a program that does so step after step gets
its gradients at once again.

Factors are what a plan made, or arrays that came in.  Whoever writes into one of those (`_array.writable`; updates of
weights, of which one may have come in as a view) has the product computed first.
"""
import threading
from weakref import ref

import torch

from .._array import debts
from .._graph.writing import OWED
from ..autograd import is_sole
from ..base import MXNetError
from ._waiting import Place, waiting

PATIENCE = 8            # how often a gradient may be looked at, until it is computed at once again
WRITTEN = ('the gradient of shape {shape} can no longer be computed: an array that `backward` read has been written '
           'since, through memory that it shares with something else than arrays. Write a copy, or set '
           'MXNET_USE_FUSION=0, which has all gradients computed in backward')


class Debt:
    """One gradient of a plan: its number, and the buffer that it is owed to."""

    __slots__ = ('number', '_buffer', '_factors', '_target', '_version', '_patience', '_lock', '__weakref__')

    def __init__(self, number, buffer):
        self.number, self._buffer = number, ref(buffer)
        self._factors = self._target = None
        self._version, self._patience, self._lock = 0, PATIENCE, threading.RLock()

    def asks(self):
        """What the plan's next run gets for the buffer: `OWED`, or the tensor that it is to write to."""
        if self._factors is not None and self._patience > 0:
            return OWED                 # still, for nobody has looked
        buffer = self._buffer()
        if self._patience > 0:
            if is_sole(buffer):
                return OWED
            self._patience -= 1         # views of the gradient would not know that it waits
        return buffer._tensor

    def owe(self, factors):
        """Has the buffer wait for the product of two matrices."""
        with self._lock:
            known = self._factors is not None
            self._factors, self._version = factors, _version(factors)
            if known:
                return
            buffer, key = self._buffer(), id(self)
            debts[key] = ref(self, lambda _: debts.pop(key, None))
            # in this order: another thread may look at any time
            self._target, buffer._place = buffer._tensor, Place(self, None, 0)
            buffer.__class__ = waiting(type(buffer))
            del buffer._tensor

    def pay(self):
        """The factors, for an update that adds their product to something; None if the gradient is there already."""
        with self._lock:
            if self._factors is not None:
                self._check()
                self._patience = PATIENCE
            return self._factors

    def reads(self, memories):
        """Whether a factor lies in a piece of memory that begins there."""
        factors = self._factors
        return factors is not None and any(t.untyped_storage().data_ptr() in memories for t in factors)

    def _check(self):
        if _version(self._factors) != self._version:
            raise MXNetError(WRITTEN.format(shape=tuple(self._target.shape)))

    # ------------------------------------------------------------------ as what arrays wait for
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
                buffer._tensor = self._target
                buffer.__class__ = buffer._ready_class
            self._factors = self._target = None
            debts.pop(id(self), None)

    def like(self, place):
        return self._target

    def peek(self, array):
        return array._tensor

    def backward_from(self, heads, update=None):
        return False


def _version(factors):
    return factors[0]._version + factors[1]._version


def owed_to(array):
    """A tensor like the gradient that an array waits for; None if it waits for something else."""
    debt = array._place.step
    return debt.like(None) if type(debt) is Debt else None


def paid_by(array):
    """The factors of the gradient that an array waits for; None if it waits for something else."""
    debt = array._place.step
    return debt.pay() if type(debt) is Debt else None
