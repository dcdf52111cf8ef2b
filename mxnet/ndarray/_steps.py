"""Steps: recorded calls of hybridized blocks that wait for `backward`, so that both run as one plan.

While recording, a hybridized block that ran before need not run at once: all that a program could see of it are its
outputs, and the arrays that it reads, if somebody writes into them.  So the outputs have no tensor yet, the tensors of
the inputs are put aside, and the class of all these arrays answers the first look at them (at `_tensor`, which every
use of an array but its shape and dtype needs) by running what waits, with torch's tape as ever.  A loop that trains
looks only after `backward`: then everything that waits runs as one plan (`Plan.whole`), forward and backward, without
torch's engine.

A step belongs to the thread that records it.  Another that uses the same arrays runs it first, so that each thread
differentiates its own calls only.
"""
import threading
from operator import attrgetter
from threading import get_ident
from weakref import ref

import torch

from .._array import NDArrayBase
from .._graph.plan import LIMIT
from .._notes import UNKNOWN, note_graph, source
from .._state import state
from .._whole import Whole
from ..autograd import OVERWRITTEN
from ..base import MXNetError
from ._step_plans import Known, Ready
from ._waiting import CLASSES, Bundle, Kept, Place, fill, guard, waiting

_new, _version = object.__new__, attrgetter('_version')
PATIENCE = 8            # how often a step may be looked at before `backward`, until its blocks stop waiting
CROWD = 256             # calls that wait together, at most
SEEN = 1024             # steps that a network remembers to have seen


class Call:
    """A call that waits: its CachedOp, train mode, where its inputs come from, and (weakly) its output arrays.

    likes: tensors with shapes and dtypes of the outputs, once somebody has asked, and if they are known
    """

    __slots__ = ('cached', 'training', 'sources', 'outputs', 'likes')

    def __init__(self, cached, training, sources, outputs):
        self.cached, self.training, self.sources, self.outputs = cached, training, sources, outputs
        self.likes = None


class Step:
    """Calls that wait for each other, and the arrays that they read.

    A step that is so far like an earlier one follows its `route`: `made` has (weakly) the output of each call.
    Once it is `over`, the arrays have their tensors again; once it is `done`, the outputs have theirs.
    """

    __slots__ = ('_calls', 'route', 'made', 'arrays', 'tensors', 'bundles', 'loose', 'version', 'ctx', 'over',
                 'done', 'failed', 'thread', '_lock')

    def __init__(self, ctx):
        self._calls, self.route, self.made = [], None, []
        self.arrays, self.tensors = [], []
        self.version = 0                            # of all tensors when they were put aside, added up
        self.bundles, self.loose = [], []           # bundles, and the numbers of other arrays
        self.ctx = ctx
        self.over, self.done, self.failed = False, False, None
        self.thread, self._lock = get_ident(), threading.RLock()

    @property
    def calls(self):
        """The calls; whoever asks for them leaves the route."""
        if self.route is not None:
            self._calls = [Call(*call, [made]) for call, made in zip(self.route.structure, self.made, strict=False)]
            self.route = None
        return self._calls

    @property
    def first(self):
        """The CachedOp that the step begins with."""
        return self._calls[0].cached if self.route is None else self.route.structure[0][0]

    def is_crowded(self):
        """Whether so many calls wait that they are run now: programs that never look would fill the memory."""
        return len(self.made) + len(self._calls) > CROWD

    # ------------------------------------------------------------------ growing
    def take(self, array):
        """The number of an array that is read, whose tensor is put aside."""
        place = getattr(array, '_place', None)
        if type(place) is Kept:
            place.bundle.shared = True
        number = len(self.arrays)
        tensor = array._tensor
        self.arrays.append(array)
        self.tensors.append(tensor)
        self.loose.append(number)
        self.version += tensor._version
        del array._tensor
        array._place = Place(self, None, number)
        cls = array.__class__
        array.__class__ = CLASSES.get(cls) or waiting(cls)
        return number

    def take_bundle(self, bundle):
        """Takes all arrays of a bundle."""
        offset = len(self.arrays)
        self.arrays += bundle.arrays
        self.tensors += bundle.tensors
        self.version += sum(map(_version, bundle.tensors))
        self.bundles.append(bundle)
        bundle.hide(self, offset)

    def follow(self, cls):
        """The output array of the next call of the route, of a class that waits."""
        array = _new(cls)
        array._ctx = self.ctx
        array._variable = None
        array._place = Place(self, len(self.made), 0)
        self.made.append(ref(array))
        return array

    def add(self, cached, training, sources, cls):
        """Output arrays of a new call."""
        cls = waiting(cls)
        number, arrays = len(self.calls), []
        for output in range(cached.count):
            array = _new(cls)
            array._ctx = self.ctx
            array._variable = None
            array._place = Place(self, number, output)
            arrays.append(array)
        self.calls.append(Call(cached, training, sources, [ref(array) for array in arrays]))
        return arrays

    def join(self, other):
        """Takes over another step, whose calls come after those that are here."""
        offset, more = len(self.calls), len(self.arrays)
        for number, array in enumerate(other.arrays):
            array._place.step = self
            array._place.number = more + number
        self.arrays += other.arrays
        self.tensors += other.tensors
        self.bundles += other.bundles
        self.loose += [more + number for number in other.loose]
        self.version += other.version
        for call in other.calls:
            call.sources = tuple(s + more if type(s) is int else (s[0] + offset, s[1]) for s in call.sources)
            for array in [made() for made in call.outputs]:
                if array is not None:
                    array._place.step = self
                    array._place.call += offset
            self.calls.append(call)
        if other in state.draws:
            state.draws = tuple([step for step in state.draws if step is not other])
            will_draw(self)
        other.over = True
        other._forget()

    # ------------------------------------------------------------------ looked at too early
    def run(self):
        """Runs what waits, call by call, with torch's tape."""
        with self._lock:
            if self.failed is not None:
                raise MXNetError(f'an earlier error left this array without a value: {self.failed}')
            if self.done:
                return
            for call in self.calls:
                call.cached.patience -= 1
            if not self.over:
                self._restore()
            values = [a._tensor if a._variable is None else a._variable.leaf for a in self.arrays]
            results = []
            try:
                if self._overwritten():
                    raise MXNetError(OVERWRITTEN)
                with torch.enable_grad():
                    for call in self.calls:
                        given = [values[s] if type(s) is int else results[s[0]][s[1]] for s in call.sources]
                        results.append(call.cached.compute(given, self.ctx, call.training, recording=True))
                        note_graph(call.cached.what, tuple([
                            source(self.arrays[s]) if type(s) is int else getattr(results[s[0]][s[1]], '_note', UNKNOWN)
                            for s in call.sources]), results[-1])
            except BaseException as error:
                self.failed = error
                raise
            finally:                # what was computed before a mistake is as good as ever
                for call, tensors in zip(self.calls, results):
                    fill(call.outputs, tensors)
                self._forget()

    def peek(self, array):
        return array._tensor

    def like(self, place):
        """A tensor with shape and dtype of the array at a place; None if these are not known.  For whoever holds
        `guard`.
        """
        if self.over:
            return None
        if place.call is None:
            return self.tensors[place.number]
        if self.route is not None:
            return self.route.likes and self.route.likes[place.call]
        return self._gives(place.call, place.number)

    def _gives(self, number, output):
        call = self._calls[number]
        if call.likes is None:
            given = [self.tensors[s] if type(s) is int else self._gives(*s) for s in call.sources]
            if not any(t is None for t in given):
                call.likes = call.cached.results.get(kinds_of(call.training, given))
        return call.likes and call.likes[output]

    def _restore(self):
        """Gives the arrays that are read their tensors back."""
        with guard:
            self.over = True
            self._draws_no_more()
            for array, tensor in zip(self.arrays, self.tensors, strict=True):
                array._tensor = tensor
                array.__class__ = array._ready_class
            for bundle in self.bundles:
                bundle.step = None

    def _draws_no_more(self):
        if self in state.draws:
            state.draws = tuple([step for step in state.draws if step is not self])

    def _forget(self):
        self.done = True
        self._calls = self.arrays = self.tensors = self.bundles = ()
        self.route = None

    def _overwritten(self):
        # arrays that are written to themselves end the waiting; this finds writes through others in the same memory
        return sum(map(_version, self.tensors)) != self.version

    # ------------------------------------------------------------------ backward
    def backward_from(self, heads, update=None):
        """Differentiates arrays of this step at once; False if they have to be computed first.

        update: function of the plan's `Ready` that gives what is to follow it (`then` of `Runner.run`), or None.  What
            it gives has been done if this returns True
        """
        heads = [heads] if isinstance(heads, NDArrayBase) else heads
        for head in heads:
            if not getattr(head, '_waits', False) or head._place.call is None:
                return False
            if head._place.step is not self:
                if type(head._place.step) is not Step or head._place.step.thread != self.thread:
                    return False
                with guard:
                    self.join(head._place.step)
        return self._backward(heads, update)

    def _backward(self, heads, update):
        """Runs everything, forward and backward from `heads`, as one plan; False if there is none."""
        with self._lock:
            if self.over:
                return False
            self._draws_no_more()
            ready = self.route
            follows = ready is not None and len(self.made) == len(ready.structure) and ready.begins_at(heads)
            if not follows:
                ready = self._find(heads)
            if ready is None or ready.others and self._wanted_later(ready):
                return False
            tensors = self.tensors
            if self._overwritten():
                self._restore()
                self.failed = error = MXNetError(OVERWRITTEN)
                self._forget()
                raise error
            refs = self.made if follows else [m for c in self.calls for m in c.outputs]
            self._restore()
            if not ready.run(tensors, refs, None if update is None else update(ready)):
                return False
            for cached, _, _ in ready.structure:
                cached.patience = PATIENCE
            for head in heads:
                if not head._waits:
                    head._tensor._used_up = True
            self._forget()
            return True

    def _wanted_later(self, ready):
        """Whether somebody still has what calls gave that the heads do not depend on: its own backward may come."""
        return any(made() is not None for number in ready.others for made in self.calls[number].outputs)

    def _find(self, heads):
        first = self.calls[0].cached
        ready = first.last_step
        if ready is not None and ready.fits(self, heads):
            return ready
        structure = tuple([(c.cached, c.training, c.sources) for c in self.calls])
        places = tuple([(h._place.call, h._place.number) for h in heads])
        # a plan draws from the generator that it was traced with
        drawn = self.ctx if any(c.cached.draws for c in self.calls) else None
        key = (structure, places, drawn, *[(t.shape, t.dtype, t.device, a._variable and a._variable.req)
                                           for a, t in zip(self.arrays, self.tensors, strict=True)])
        known = first.steps.get(key)
        if known is None:
            if key not in first.seen and any(c.cached.what[1] is not None for c in self.calls):
                # numbers and slices of operators may be others each time: a plan is for steps that come again
                if len(first.seen) > SEEN:
                    first.seen.clear()
                first.seen.add(key)
                return None
            known = first.steps[key] = Known(self, places)
            while len(first.steps) > LIMIT:
                first.steps.popitem(last=False)
        if known.plan is None:
            for call in self.calls:
                call.cached.patience = 0
            return None
        first.last_step = ready = Ready(self, structure, places, known)
        return ready


def kinds_of(training, tensors):
    """What shapes and dtypes of a call's results depend on."""
    return training, *[(t.shape, t.dtype) for t in tensors]


# ---------------------------------------------------------------------- what CachedOp calls
def wait(cached, args, ctx, training, cls):
    """The outputs of a recorded call, to be computed later; None if it has to run now."""
    while True:
        with guard:
            found = _wait(cached, args, ctx, training, cls)
        if type(found) is not Step:
            return found
        found.run()


def _wait(cached, args, ctx, training, cls):
    """As `wait`; or a step that has to be run first: one of another thread, or one that another thread is running."""
    bundle = cached.bundle
    known = bundle is not None and bundle.fits(args)
    step, kind, learns, able, fixed = None, [training], known, True, []
    for i in bundle.free if known else range(len(args)):
        x = args[i]
        if x._sparse or x._ctx is not ctx and x._ctx != ctx:
            return None
        variable = x._variable
        if x._waits and type(x._place.step) is Step:
            place = x._place
            if place.step.over or place.step.thread != get_ident():
                return place.step
            if step is None:
                step = place.step
            elif place.step is not step:
                step.join(place.step)
            if place.call is not None:
                kind.append(None)
                learns = True
                continue
            tensor = step.tensors[place.number]
        else:
            tensor = x._tensor
        if variable is None:
            able = able and not tensor.requires_grad
            if i not in cached.parameters:
                kind.append(None if tensor.requires_grad else (tensor.shape, tensor.dtype))
                continue
        elif variable.req != 'null':
            if type(variable.leaf) is Whole or variable.buffer._sparse:
                return None
            learns = True
        fixed.append(i)
    kind = tuple(kind)
    if kind not in cached.kinds and cached.static is not None:
        # the first of its kind runs at once, so that mistakes are found where they are made; a loss that goes with a
        # network (gluon/loss.py) has not been hybridized, and makes none
        if len(cached.kinds) > LIMIT:
            cached.kinds.clear()
        cached.kinds.add(kind)
        return None
    if not able or not learns:
        return None
    if step is not None and step.is_crowded():
        return step
    pending = drawing(ctx) if cached.draws else None
    if pending is not None and pending is not step:         # it draws first
        if pending.is_crowded():
            return pending
        if step is not None:
            pending.join(step)
        step = pending
    if not known and fixed and not any(args[i]._waits for i in fixed) \
            and len({id(args[i]) for i in fixed}) == len(fixed):
        bundle, known = Bundle(args, fixed), True
        cached.bundle = bundle
    if known and step is None and len({id(args[i]) for i in bundle.free}) == len(bundle.free):
        step = Step(ctx)
        step.take_bundle(bundle)
        for i in bundle.free:
            step.take(args[i])
        sources = bundle.sources
    else:
        if step is None:
            step = Step(ctx)
        if known:
            step.take_bundle(bundle)
        found = []
        for x in args:
            if x._waits:
                place = x._place
                found.append(place.number if place.call is None else (place.call, place.number))
            else:
                found.append(step.take(x))
        sources = tuple(found)
    if cached.draws:
        will_draw(step)
    return step.add(cached, training, sources, cls)


def drawing(ctx):
    """The step of this thread that waits, and draws random numbers of a context; None if there is none."""
    for step in state.draws:
        if step.ctx == ctx and not step.over:
            return step
    return None


def will_draw(step):
    """Notes that a step draws random numbers when it runs."""
    if step not in state.draws:
        state.draws = (*[other for other in state.draws if not other.over], step)
