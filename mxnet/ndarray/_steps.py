"""Steps: recorded calls of hybridized blocks that wait for `backward`, so that both run as one plan.

While recording, a hybridized block that ran before need not run at once: all that a program could see of it are its
outputs, and the arrays that it reads, if somebody writes into them.  So the outputs have no tensor yet, the tensors of
the inputs are put aside, and the class of all these arrays answers the first look at them (at `_tensor`, which every
use of an array needs) by running what waits, with torch's tape as ever.  A loop that trains looks only after
`backward`: then everything that waits runs as one plan (`Plan.whole`), forward and backward, without torch's engine.

A step belongs to the thread that records it.  Another that uses the same arrays runs it first, so that each thread
differentiates its own calls only.
"""
import threading
from operator import is_, itemgetter
from threading import get_ident
from weakref import ref

import torch

from .._array import NDArrayBase
from .._changes import changes
from .._graph.plan import LIMIT, make_plan
from .._graph.runner import Runner
from .._notes import UNKNOWN, note_graph, source
from .._state import state
from .._whole import Whole
from ..autograd import OVERWRITTEN, adopted
from ..base import MXNetError
from ._invoke import owned

_new = object.__new__
PATIENCE = 3            # how often a step may be looked at before `backward`, until its blocks stop waiting
CROWD = 256             # calls that wait together, at most
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


_classes: dict[type, type] = {}


def _waiting(cls):
    """The class of arrays of class `cls` while they wait."""
    found = _classes.get(cls)
    if found is None:
        found = _classes[cls] = type(cls.__name__, (cls,), {
            '__slots__': (), '__module__': cls.__module__, '__qualname__': cls.__qualname__, '__doc__': cls.__doc__,
            '_waits': True, '_ready_class': cls, '__getattr__': _look})
    return found


class Kept(Place):
    """Where an array of a bundle stands, step after step."""

    __slots__ = ('bundle',)

    def __init__(self, bundle, number):
        self.step, self.call, self.number, self.bundle = None, None, number, bundle


class Call:
    """A call that waits: its CachedOp, train mode, where its inputs come from, and (weakly) its output arrays."""

    __slots__ = ('cached', 'training', 'sources', 'outputs')

    def __init__(self, cached, training, sources, outputs):
        self.cached, self.training, self.sources, self.outputs = cached, training, sources, outputs


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
        self.free = [i for i in range(len(args)) if i not in set(positions)]
        # where the inputs come from, if the others are arrays that do not wait, and the step begins with this call
        order = [*positions, *self.free]
        self.sources = tuple([order.index(i) for i in range(len(args))])
        self._places = [Kept(self, number) for number in range(len(positions))]
        self._classes = [_waiting(type(a)) for a in self.arrays]
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


class Step:
    """Calls that wait for each other, and the arrays that they read.

    A step that is so far like an earlier one follows its `route`: `made` has (weakly) the output of each call.
    """

    __slots__ = ('_calls', 'route', 'made', 'arrays', 'tensors', 'bundles', 'loose', 'versions', 'ctx', 'over',
                 'failed', 'thread', '_lock')

    def __init__(self, ctx):
        self._calls, self.route, self.made = [], None, []
        self.arrays, self.tensors = [], []
        self.bundles, self.loose, self.versions = [], [], []    # bundles; numbers of other arrays, and their versions
        self.ctx = ctx
        self.over, self.failed = False, None
        self.thread, self._lock = get_ident(), threading.RLock()

    @property
    def calls(self):
        """The calls; whoever asks for them leaves the route."""
        if self.route is not None:
            self._calls = [Call(*call, [made]) for call, made in zip(self.route.structure, self.made, strict=False)]
            self.route = None
        return self._calls

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
        self.versions.append(tensor._version)
        del array._tensor
        array._place = Place(self, None, number)
        cls = array.__class__
        array.__class__ = _classes.get(cls) or _waiting(cls)
        return number

    def take_bundle(self, bundle):
        """Takes all arrays of a bundle."""
        offset = len(self.arrays)
        self.arrays += bundle.arrays
        self.tensors += bundle.tensors
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
        cls = _classes.get(cls) or _waiting(cls)
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
        self.versions += other.versions
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
            if self.over:
                return
            for call in self.calls:
                call.cached.patience -= 1
            self._restore()
            values = [a._tensor if a._variable is None else a._variable.leaf for a in self.arrays]
            results = []
            try:
                self._check_versions()
                with torch.enable_grad():
                    for call in self.calls:
                        given = [values[s] if type(s) is int else results[s[0]][s[1]] for s in call.sources]
                        results.append(call.cached.compute(given, self.ctx, call.training, recording=True))
                        note_graph(call.cached._symbol, tuple([
                            source(self.arrays[s]) if type(s) is int else getattr(results[s[0]][s[1]], '_note', UNKNOWN)
                            for s in call.sources]), results[-1])
            except BaseException as error:
                self.failed = error
                raise
            finally:                # what was computed before a mistake is as good as ever
                for call, tensors in zip(self.calls, results):
                    _fill(call.outputs, tensors)
                self._forget()

    def peek(self, array):
        return array._tensor

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
        self._calls = self.arrays = self.tensors = self.bundles = ()
        self.route = None

    def _check_versions(self):
        # arrays that are written to themselves end the waiting; this finds writes through others in the same memory
        tensors = self.tensors
        if [tensors[n]._version for n in self.loose] != self.versions:
            raise MXNetError(OVERWRITTEN)

    # ------------------------------------------------------------------ backward
    def backward_from(self, heads):
        """Differentiates arrays of this step at once; False if they have to be computed first."""
        heads = [heads] if isinstance(heads, NDArrayBase) else heads
        for head in heads:
            if not getattr(head, '_waits', False) or head._place.call is None:
                return False
            if head._place.step is not self:
                if type(head._place.step) is not Step or head._place.step.thread != self.thread:
                    return False
                with guard:
                    self.join(head._place.step)
        return self._backward(heads)

    def _backward(self, heads):
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
            if [tensors[n]._version for n in self.loose] != self.versions:
                self._restore()
                self.failed = error = MXNetError(OVERWRITTEN)
                self._forget()
                raise error
            if not ready.run(tensors, self.made if follows else [m for c in self.calls for m in c.outputs]):
                return False
            self._restore()
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
            known = first.steps[key] = Known(self, places)
            while len(first.steps) > LIMIT:
                first.steps.popitem(last=False)
        if known.plan is None:
            for call in self.calls:
                call.cached.patience = 0
            return None
        first.last_step = ready = Ready(self, structure, places, known)
        return ready


def _fill(refs, tensors):
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
            array.__class__ = _waiting(type(array))

    def run(self):
        """Copies what is still of interest."""
        with self._lock:            # whoever launches the graph next waits until the copies are under way
            there = [(made, tensor) for made, tensor in zip(self._refs, self._tensors, strict=True)
                     if made() is not None]
            for made, tensor in there:
                tensor = tensor.clone()
                tensor._used_up = True
                _fill([made], [tensor])
            self._refs = self._tensors = ()

    def still(self, arrays, tensors):
        """Whether arrays lie there that nobody has looked at since."""
        return self._tensors is tensors and False not in [a._waits and a._place.step is self for a in arrays]

    def backward_from(self, heads):
        return False

    def peek(self, array):
        """The tensor of an array as it lies there."""
        return self._tensors[array._place.number] if self._tensors else array._tensor


class Chain:
    """Programs one after the other, as one that `make_plan` can trace."""

    def __init__(self, calls):
        self.parts = [(c.cached.program, c.training, c.sources) for c in calls]
        self.convolves = any(c.cached.program.convolves for c in calls)
        self.inductor = any(c.cached.program.inductor for c in calls)

    def run(self, tensors, *, generator, device, training=None, monitor=None):
        values, results, states = list(tensors), [], {}
        for program, mode, sources in self.parts:
            given = [values[s] if type(s) is int else results[s[0]][s[1]] for s in sources]
            outputs, changed = program.run(given, training=mode, generator=generator, device=device, monitor=monitor)
            for place, value in changed.items():
                number = sources[place]
                values[number] = states[number] = value
            results.append(outputs)
        return [o for outputs in results for o in outputs], states


class Known:
    """The plan of all steps of one structure and with tensors of the same kinds."""

    def __init__(self, step, heads):
        from ._cached_op import generators_of
        read = {s for number in needed([c.sources for c in step.calls], heads) for s in step.calls[number].sources}
        wanted = tuple(n for n, a in enumerate(step.arrays) if n in read and a._variable is not None
                       and a._variable.req != 'null')
        firsts = [0]
        for call in step.calls:
            firsts.append(firsts[-1] + len(call.outputs))
        self.plan = make_plan(Chain(step.calls), step.tensors, wanted, training=None, generator=generators_of(step.ctx),
                              device=step.ctx.torch_device, heads=tuple(firsts[c] + n for c, n in heads))
        if not wanted or self.plan is not None and len(self.plan.present) != len(wanted):
            self.plan = None                # nothing can be differentiated: the long way says so


def needed(sources, heads):
    """Numbers of the calls that heads, (call, output), depend on; `sources` has those of each call."""
    found, waiting = set(), [call for call, _ in heads]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += [s[0] for s in sources[number] if type(s) is not int]
    return found


class Ready:
    """A plan and the arrays that it was last run with: what the next run need not find out again."""

    __slots__ = ('structure', 'heads', 'others', 'bundles', 'loose', 'shapes', 'targets', 'flags', 'runner', 'shown',
                 'plain', '_lock')

    def __init__(self, step, structure, heads, known):
        self.structure, self.heads, self.bundles = structure, heads, list(step.bundles)
        mine = needed([sources for _, _, sources in structure], heads)
        self.others = [number for number in range(len(structure)) if number not in mine]
        self.loose = list(step.loose)
        self.shapes = [(step.tensors[n].shape, step.tensors[n].dtype) for n in step.loose]
        self.targets = [step.arrays[n]._variable for n in known.plan.wanted]
        self.flags = [variable.fresh for variable in self.targets]
        wishes = {c.cached.static for c in step.calls} - {None}
        generators = []
        if any(c.cached.draws for c in step.calls):
            from ._cached_op import generators_of
            generators.append(generators_of(step.ctx)(step.ctx.torch_device))
        self.runner = Runner(known.plan, [v.req for v in self.targets], static=wishes == {True}, generators=generators,
                             adopt=None if step.tensors[0].is_cuda else self._adopt)
        self.shown, self._lock = None, threading.Lock()
        # then the functions of a plan are all there is to a run
        self.plain = self.runner.plain and not step.tensors[0].is_cuda

    def _adopt(self, number, gradient):
        buffer = self.targets[number].buffer
        return None if adopted(buffer, gradient) else buffer._tensor

    def fits(self, step, heads):
        """Whether a step is like the one before but for the values of its arrays."""
        if len(step.calls) != len(self.structure) or step.bundles != self.bundles or step.loose != self.loose:
            return False
        for call, (cached, training, sources) in zip(step.calls, self.structure):
            if call.cached is not cached or call.training is not training or call.sources != sources:
                return False
        if not self.begins_at(heads):
            return False
        arrays, tensors = step.arrays, step.tensors
        for number, (shape, dtype) in zip(step.loose, self.shapes):
            tensor = tensors[number]
            if tensor.dtype is not dtype or tensor.shape != shape or arrays[number]._variable is not None:
                return False
        return True

    def begins_at(self, heads):
        """Whether the gradients are of the same arrays as before."""
        if len(heads) != len(self.heads):
            return False
        for head, (call, number) in zip(heads, self.heads):
            if head._place.call != call or head._place.number != number:
                return False
        return True

    def run(self, tensors, refs):
        """Fills the output arrays; states and gradients go where they belong.  False if it fails."""
        with self._lock:
            if self.shown is not None:
                self.shown.run()
                self.shown = None
            runner, buffers = self.runner, [v.buffer._tensor for v in self.targets]
            try:
                outputs = runner.plan.whole(tensors, buffers)[0] if self.plain else runner.run(tensors, buffers)
            except RuntimeError:
                return False
            for flag in self.flags:
                flag[0] = True
            if runner.captured is not None:
                self.shown = Shown(refs, outputs)
            else:
                _fill(refs, outputs if runner.fresh else [owned(o, tensors) for o in outputs])
            return True


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
