"""Arrays that wait: they have a place in what is still to be computed instead of a tensor.

Their class answers the first look at `_tensor`, which every use of an array needs, by having that computed.  Shape and
dtype are mostly known before.
"""
import threading
from operator import is_, itemgetter

from .._array import class_of, wrap
from .._changes import changes

guard = threading.RLock()      # held while arrays begin or cease to wait, never while anything is computed


class Place:
    """Where a waiting array stands: input `number` of the step, or output `number` of its call `call`."""

    __slots__ = ('step', 'call', 'number')

    def __init__(self, step, call, number):
        self.step, self.call, self.number = step, call, number


def _look(self, name):
    """`__getattr__` of waiting arrays."""
    if name == '_tensor':
        self._place.step.run()
        return self._tensor
    raise AttributeError(f'{type(self).__name__!r} object has no attribute {name!r}')


def like(array):
    """A tensor with shape and dtype of an array; None if it waits, and nothing tells them."""
    with guard:
        return array._place.step.like(array._place) if array._waits else array._tensor


def _like(array):
    found = like(array)
    return array._tensor if found is None else found


def _known(name):
    """A property that does not look at values."""
    return property(lambda self: getattr(wrap(_like(self), self._ctx, class_of(self)), name))


# what waiting arrays do otherwise than others; `_step_operators` has more
METHODS: dict = {**{name: _known(name) for name in ('shape', 'ndim', 'size', 'dtype')},
                 '__len__': lambda self: len(wrap(_like(self), self._ctx, class_of(self)))}
CLASSES: dict[type, type] = {}         # of arrays that do not wait -> of those that do


def waiting(cls):
    """The class of arrays of class `cls` while they wait."""
    found = CLASSES.get(cls)
    if found is None:
        found = CLASSES[cls] = type(cls.__name__, (cls,), {
            '__slots__': (), '__module__': cls.__module__, '__qualname__': cls.__qualname__, '__doc__': cls.__doc__,
            '_waits': True, '_ready_class': cls, '__getattr__': _look, **METHODS})
    return found


class Kept(Place):
    """Where an array of a bundle stands, step after step."""

    __slots__ = ('bundle',)

    def __init__(self, bundle, number):
        self.step, self.call, self.number, self.bundle = None, None, number, bundle


class Bundle:
    """The inputs of a CachedOp that are parameters, which are the same arrays call after call.

    step: what they wait for now; None if they do not
    shared: whether one of them has also waited otherwise, so that it has to be asked
    """

    __slots__ = ('_pick', 'arrays', 'variables', 'tensors', 'free', 'sources', '_places', '_classes', '_seen', 'step',
                 'shared')

    def __init__(self, args, positions):
        self._pick = itemgetter(*positions) if len(positions) > 1 else lambda args: (args[positions[0]],)
        self.arrays = self._pick(args)
        self.variables = [a._variable for a in self.arrays]
        self.tensors = [a._tensor for a in self.arrays]
        fixed = set(positions)
        self.free = [i for i in range(len(args)) if i not in fixed]
        # where the inputs come from, if the others are arrays that do not wait, and the step begins with this call
        numbers = {position: number for number, position in enumerate((*positions, *self.free))}
        self.sources = tuple([numbers[i] for i in range(len(args))])
        self._places = [Kept(self, number) for number in range(len(positions))]
        self._classes = [waiting(type(a)) for a in self.arrays]
        self._seen, self.step, self.shared = changes.count, None, False
        for array, place in zip(self.arrays, self._places, strict=True):
            other = getattr(array, '_place', None)
            if type(other) is Kept:
                other.bundle.shared = self.shared = True
            array._place = place

    def fits(self, args):
        """Whether a call has these very arrays, none of them waiting."""
        return all(map(is_, self._pick(args), self.arrays)) and self.ready()

    def ready(self):
        """Whether the arrays are as they were, and none of them waits."""
        count = changes.count
        if count == self._seen and not self.shared:
            return self.step is None
        for array, variable, tensor in zip(self.arrays, self.variables, self.tensors):
            if array._waits or array._variable is not variable or array._tensor is not tensor:
                return False
        self._seen = count
        return True

    def hide(self, step, offset):
        """Puts the tensors aside; they are numbered from `offset` on."""
        self.step = step
        for array, place, cls in zip(self.arrays, self._places, self._classes):
            place.step = step
            del array._tensor
            array.__class__ = cls
        if self.shared:
            for array, place in zip(self.arrays, self._places):
                array._place = place
        if self._places[0].number != offset:
            for number, place in enumerate(self._places):
                place.number = offset + number


def fill(refs, tensors):
    """Gives output arrays that still exist their tensors."""
    for made, tensor in zip(refs, tensors, strict=True):
        array = made()
        if array is not None:
            array._tensor = tensor
            array.__class__ = array._ready_class


class Shown:
    """Outputs that lie in the memory of a CUDA graph; whoever looks at them, before the next launch, gets copies.

    A loop that trains has forgotten them by then, so that mostly there is nothing to copy.
    """

    __slots__ = ('_refs', '_tensors', '_lock')

    def __init__(self, refs, tensors):
        self._refs, self._tensors, self._lock = refs, tensors, threading.Lock()
        for number, made in enumerate(refs):
            array = made()
            if array is not None:
                array._place = Place(self, None, number)

    def hide(self):
        """Puts the tensors of arrays that do not wait aside."""
        for made in self._refs:
            array = made()
            del array._tensor
            array.__class__ = waiting(type(array))

    def run(self):
        """Copies what is still of interest."""
        with self._lock:            # whoever launches the graph next waits until the copies are under way
            there = [(made, tensor) for made, tensor in zip(self._refs, self._tensors, strict=True)
                     if made() is not None]
            for made, tensor in there:
                tensor = tensor.clone()
                tensor._used_up = True
                fill([made], [tensor])
            self._refs = self._tensors = ()

    def still(self, arrays, tensors):
        """Whether arrays lie there that nobody has looked at since."""
        return self._tensors is tensors and False not in [a._waits and a._place.step is self for a in arrays]

    def backward_from(self, heads, update=None):
        return False

    def like(self, place):
        return self._tensors[place.number] if self._tensors else None

    def peek(self, array):
        """The tensor of an array as it lies there."""
        return self._tensors[array._place.number] if self._tensors else array._tensor
