"""Sums over workers that begin while `backward` still computes the gradients of other parameters.

Parameters are shared out over buckets in the reverse of their order, which is about the order in which backward comes
to them.  A bucket starts when the gradients of all of its parameters are there and the bucket before it has started, so
all workers start the same buckets in the same order, whatever order their gradients come in.  What did not start by
itself starts in the Trainer's step: all of it, where a whole network is one node of the graph.

On a CPU the gradients that a program sees are written at the end of backward, when it has succeeded; what travels
before is what torch has computed.  A program may change gradients between backward and step, or call backward twice.
Every worker notices that of its own gradients, tells the others with the scale of its gradients, and all add up again.
"""
import weakref
from typing import Any

import torch

from .._array import overwrite, wrap
from .._autograd import written_later
from ..ndarray import NDArray

__all__ = ['Early']

FIRST = 2**20           # bytes of the first bucket: the sooner it is full the sooner something travels


class Bucket:
    """Gradients that travel together."""

    def __init__(self, members, gradients, dtype, device):
        self.members = members                              # their numbers
        sizes = [gradients[i][0].meta().shape.numel() for i in members]
        self.flat = torch.empty(sum(sizes), dtype=dtype, device=device)
        self.parts = self.flat.split(sizes)
        self._all = [(i, device) for i in members for device in range(len(gradients[i]))]
        self.waiting = set(self._all)
        self.work: Any = None
        self.computed: dict[Any, torch.Tensor] = {}         # gradients that are not written yet
        self.written: dict[Any, tuple[torch.Tensor, int]] = {}     # where they were written, and the versions then

    def start(self, gradients, world):
        for i, part in zip(self.members, self.parts, strict=True):
            for device, gradient in enumerate(gradients[i]):
                value = self.computed.pop((i, device), None)
                if value is None:
                    self.note((i, device), gradient)
                    value = self.written[i, device][0].detach()
                flat = value.broadcast_to(gradient.meta().shape).reshape(-1)
                if device:
                    part += flat.to(part.device)
                else:
                    part.copy_(flat)
        self.work = world.sum(self.flat, f'sum of {len(self.members)} gradients')

    def note(self, place, gradient):
        """What a gradient is now is what travels."""
        tensor = gradient.materialize()
        self.written[place] = tensor, tensor._version

    def changed(self, gradients):
        """Whether any gradient is another one than what was sent."""
        if self.written.keys() != set(self._all):
            return True                     # a pass failed before it wrote them
        return any(gradients[i][device].materialize() is not tensor or tensor._version != version
                   for (i, device), (tensor, version) in self.written.items())

    def end(self):
        """The next gradients may come."""
        self.work, self.waiting = None, set(self._all)
        self.computed, self.written = {}, {}


class Early:
    """The gradients of one Trainer, one of each device for a key; workers may differ in the number of their devices."""

    def __init__(self, store, keys, arrays, gradients, limit):
        self._store, self.keys = store, keys
        self.gradients = gradients
        self._variables: dict[tuple[int, int], Any] = {}    # of the arrays by number and device
        self._buckets: list[Any] = []
        self._of: dict[Any, Any] = {}
        self._fill(limit)
        self._next = 0                                      # the bucket to start next
        self._again = False
        own, self._what = store._header('push', [(key, store._values[key]) for key in keys])
        self._check = own[:3]
        sums: list[Any] = [None] * len(keys)
        for bucket in self._buckets:
            for i, part in zip(bucket.members, bucket.parts, strict=True):
                sums[i] = wrap(part.view(gradients[i][0].shape), gradients[i][0].context, NDArray)
        self.sums = tuple(sums)
        self.watch(arrays)

    def _fill(self, limit):
        kinds: dict[Any, Any] = {}
        sizes: dict[Any, int] = {}
        for i in reversed(range(len(self.keys))):
            tensor = self.gradients[i][0].materialize()
            kind = self._store._dtype_of_sum(tensor.dtype), tensor.device
            size = tensor.numel() * kind[0].itemsize
            room = limit if self._buckets else min(FIRST, limit)
            if kind in kinds and sizes[kind] + size > room:
                self._close(kind, kinds.pop(kind))
            kinds.setdefault(kind, []).append(i)
            sizes[kind] = sizes.get(kind, 0) + size if len(kinds[kind]) > 1 else size
        for kind, members in kinds.items():
            self._close(kind, members)

    def _close(self, kind, members):
        bucket = Bucket(members, self.gradients, *kind)
        self._buckets.append(bucket)
        self._of.update(dict.fromkeys(members, bucket))

    # ------------------------------------------------------------------ during backward
    def watch(self, arrays):
        """Has torch call when the gradient of an array is there; again where an array got another variable."""
        me = weakref.ref(self)
        places = [((i, device), array) for i, several in enumerate(arrays) for device, array in enumerate(several)]
        for place, array in places:
            variable = array._variable
            if variable is None or variable is self._variables.get(place):
                continue
            self._variables[place] = variable
            if variable.req == 'write' and variable.leaf.requires_grad and type(variable.leaf) is torch.Tensor:
                variable.leaf.register_post_accumulate_grad_hook(_caller(me, place))

    def there(self, place, leaf):
        """A gradient has been computed; `place`: its number and device."""
        variable = self._variables.get(place)
        if variable is None or variable.leaf is not leaf:
            return                                          # of an array that the parameter had before
        bucket = self._of[place[0]]
        if bucket.work is not None:
            self._again = True                              # backward was called once more
            return
        gradient = self.gradients[place[0]][place[1]]
        value = written_later(gradient, bucket.note, place, gradient)
        if value is None:
            bucket.note(place, gradient)
            bucket.computed.pop(place, None)
        else:
            bucket.written.pop(place, None)
            bucket.computed[place] = value
        bucket.waiting.discard(place)
        while self._next < len(self._buckets) and not self._buckets[self._next].waiting:
            self._buckets[self._next].start(self.gradients, self._store._world)
            self._next += 1

    # ------------------------------------------------------------------ in the step
    def finish(self):
        """Waits for the sums, which are `sums` then; returns the scale of gradients that workers agreed on."""
        store, world = self._store, self._store._world
        for bucket in self._buckets[self._next:]:
            bucket.start(self.gradients, world)
        again = self._again or any(bucket.changed(self.gradients) for bucket in self._buckets)
        own = [*self._check, *store._numbers(store._settings())]
        total, work = world.agree([*own, float(again)], self._what)
        for bucket in self._buckets:
            world.wait(bucket.work)
        world.wait(work)
        *total, again = total.tolist()
        scale = store._agreed(own, total, self._what)
        if again:
            for bucket in self._buckets:
                bucket.computed = {}
                bucket.start(self.gradients, world)
            for bucket in self._buckets:
                world.wait(bucket.work)
        for bucket in self._buckets:
            bucket.end()
        self._next, self._again = 0, False
        return scale

    def write_back(self):
        """Makes the sums the gradients."""
        for gradients, total in zip(self.gradients, self.sums, strict=True):
            for gradient in gradients:
                overwrite(gradient, total.materialize())


def _caller(me, place):
    def ready(leaf):
        early = me()
        if early is not None:
            early.there(place, leaf)
    return ready
