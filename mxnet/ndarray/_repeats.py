"""Calls of blocks like the ones before: in a loop, all but the first few.

A block that waited (_steps.py) or predicted by a plan, called again with the same parameters, inputs of the same kinds
and the same switches, does so again, and nothing else about the call has to be found out anew.
"""
from operator import is_
from threading import get_ident

from .._array import NDArrayBase, class_of
from .._changes import changes
from .._state import state
from ._steps import Step, drawing, will_draw
from ._waiting import guard


class Repeat:
    """What a block remembers of a call that waited.

    A step whose calls so far were like those of an earlier one (`Ready` of _step_plans.py) follows its route: all that
    is left to find out of a call is whether its arguments are of the same kinds.
    """

    __slots__ = ('cached', 'order', 'kinds', 'ctx', 'switches', 'cls', 'waiting', 'route')

    @staticmethod
    def of(cached, params, inputs, args, out):
        """What to remember; None if such calls are better looked at one by one.

        params: the parameters that the CachedOp is called with
        inputs: (position, number) of its other inputs, which are all of the block's arguments, by number
        """
        place = getattr(out, '_waits', False) and out._place
        if not place or type(place.step) is not Step or cached.count != 1 or len(set(map(id, args))) != len(args) \
                or sorted(number for _, number in inputs) != list(range(len(args))):
            return None
        step, numbers = place.step, dict(inputs)
        with guard:
            # another thread that looked at an array of the step has run it in the meantime
            if step.over or step.calls[place.call].cached is not cached \
                    or not all(getattr(x, '_waits', False) for x in args):
                return None
            kinds = [_kind(x, step) for x in args]
            # either the first call of a step, by parameters and arrays, or one that goes on with what another gives
            if params:
                if place.call or cached.bundle is None or len(cached.bundle.arrays) != len(params) or None in kinds:
                    return None
                self = First(params, cached.bundle)
                self.order = [numbers[i] for i in cached.bundle.free]
            else:
                if None not in kinds:
                    return None
                self = Next()
                self.order = [numbers[i] for i in sorted(numbers)]
                self.taken = [number for number in self.order if kinds[number] is not None]
            self.cached, self.kinds, self.ctx, self.switches = cached, kinds, step.ctx, _switches()
            self.cls, self.waiting, self.route = out._ready_class, type(out), None
            return self


class First(Repeat):
    """The call that begins a step."""

    __slots__ = ('bundle', 'params', 'data', 'seen')

    def __init__(self, params, bundle):
        self.bundle, self.params, self.data, self.seen = bundle, params, [p._data for p in params], changes.count

    def __call__(self, args):
        """The array that the block gives, which waits; None if this call is another."""
        cached, bundle, kinds = self.cached, self.bundle, self.kinds
        if len(args) != len(kinds) or cached.patience <= 0 or cached._monitor is not None \
                or (state.training, state.np_array, state.np_shape, state.watch) != self.switches \
                or changes.count != self.seen and not self._same():
            return None
        with guard:
            if cached.bundle is not bundle or not bundle.ready():
                return None
            ctx = self.ctx
            for x, (cls, shape, dtype) in zip(args, kinds):
                if type(x) is not cls or x._ctx is not ctx or x._variable is not None:
                    return None
                tensor = x._tensor
                if tensor.requires_grad or tensor.dtype is not dtype or tensor.shape != shape:
                    return None
            if len(args) > 1 and len(set(map(id, args))) != len(args) or cached.draws and drawing(ctx) is not None:
                return None
            step = Step(ctx)
            step.take_bundle(bundle)
            for number in self.order:
                step.take(args[number])
            if cached.draws:
                will_draw(step)
            route = cached.last_step
            if route is not None and (route is self.route or self._begins(route)):
                step.route = route
                return step.follow(self.waiting)
            return step.add(cached, self.switches[0], bundle.sources, self.cls)[0]

    def _same(self):
        """Whether the parameters have the arrays that they had."""
        count = changes.count
        if not all(map(is_, [p._data for p in self.params], self.data)):
            return False
        self.seen = count
        return True

    def _begins(self, route):
        """Whether a route begins with this call."""
        bundle, count = self.bundle, len(self.order)
        start = len(bundle.arrays)
        if route.structure[0] != (self.cached, self.switches[0], bundle.sources) or route.bundles != [bundle] \
                or route.loose[:count] != list(range(start, start + count)) \
                or route.shapes[:count] != [self.kinds[number][1:] for number in self.order]:
            return False
        self.route = route
        return True


class Next(Repeat):
    """A call, without parameters, that goes on with what others of its step give."""

    __slots__ = ('at', 'start', 'expected', 'taken')

    def __call__(self, args):
        """As `First`."""
        cached, kinds = self.cached, self.kinds
        if len(args) != len(kinds) or cached.patience <= 0 or cached._monitor is not None \
                or (state.training, state.np_array, state.np_shape, state.watch) != self.switches:
            return None
        with guard:
            step, ctx, given = None, self.ctx, []
            for x, kind in zip(args, kinds):
                if kind is None:
                    if not getattr(x, '_waits', False):
                        return None
                    place = x._place
                    mine = place.step
                    if mine is not step:
                        if step is not None or type(mine) is not Step or mine.over or mine.thread != get_ident() \
                                or mine.ctx is not ctx:
                            return None
                        step = mine
                    if place.call is None:
                        return None
                    given.append(place.call)
                elif type(x) is not kind[0] or x._ctx is not ctx or x._variable is not None:
                    return None
                else:
                    tensor = x._tensor
                    if tensor.requires_grad or tensor.dtype is not kind[2] or tensor.shape != kind[1]:
                        return None
            if cached.draws:
                if drawing(ctx) not in (None, step):
                    return None
                will_draw(step)
            route = step.route
            if route is not None and (route is self.route and len(step.made) == self.at
                                      and len(step.arrays) == self.start or self._goes_on(route, step)) \
                    and given == self.expected \
                    and (len(self.taken) < 2 or len({id(args[number]) for number in self.taken}) == len(self.taken)):
                for number in self.taken:
                    step.take(args[number])
                return step.follow(self.waiting)
            found = []
            for number in self.order:
                x = args[number]
                place = x._place if x._waits else None
                found.append(step.take(x) if place is None else
                             place.number if place.call is None else (place.call, place.number))
            return step.add(cached, self.switches[0], tuple(found), self.cls)[0]

    def _goes_on(self, route, step):
        """Whether a route goes on with this call."""
        at, start = len(step.made), len(step.arrays)
        if at >= len(route.structure):
            return False
        cached, training, sources = route.structure[at]
        if cached is not self.cached or training is not self.switches[0]:
            return False
        known, fresh, expected = dict(zip(route.loose, route.shapes)), start, {}
        for number, source in zip(self.order, sources):
            kind = self.kinds[number]
            if kind is None:
                if type(source) is int:
                    return False
                expected[number] = source[0]
            elif source != fresh or known[source] != kind[1:]:
                return False
            else:
                fresh += 1
        self.route, self.at, self.start = route, at, start
        self.expected = [expected[number] for number in sorted(expected)]
        return True


class Prediction:
    """What a block remembers of a prediction by a plan."""

    __slots__ = ('cached', 'predictor', 'params', 'data', 'arrays', 'tensors', 'inputs', 'kinds', 'ctx', 'switches',
                 'cls')

    @classmethod
    def of(cls, cached, params, inputs, args, out):
        """As `Repeat.of`."""
        quick = cached.quick
        if quick is None or cached.count != 1 or not isinstance(out, NDArrayBase) \
                or not all(isinstance(x, NDArrayBase) and not x._waits and not x._sparse for x in args) \
                or sorted(number for _, number in inputs) != list(range(len(args))):
            return None
        self = cls()
        self.cached, self.predictor = cached, quick[2]
        self.params, self.data, self.ctx = params, [p._data for p in params], args[0]._ctx
        self.arrays = [p.data(self.ctx) for p in params]
        self.tensors = [a._tensor for a in self.arrays]
        self.inputs, self.kinds = inputs, [(type(x), x._tensor.shape, x._tensor.dtype) for x in args]
        self.switches, self.cls = _switches(), class_of(out)
        return self

    def __call__(self, args):
        """The array that the block gives; None if this call is another."""
        cached = self.cached
        if len(args) != len(self.kinds) or cached._monitor is not None or _switches() != self.switches \
                or cached.draws and state.chance is not None or cached.quick is None \
                or cached.quick[2] is not self.predictor \
                or not all(map(is_, [p._data for p in self.params], self.data)) \
                or True in [a._waits for a in self.arrays] \
                or not all(map(is_, [a._tensor for a in self.arrays], self.tensors)):
            return None
        given = []
        for x, (cls, shape, dtype) in zip(args, self.kinds):
            if type(x) is not cls or x._ctx is not self.ctx:
                return None
            tensor = x._tensor
            if tensor.requires_grad or tensor.dtype is not dtype or tensor.shape != shape:
                return None
            given.append(tensor)
        tensors = self.tensors.copy()
        for position, number in self.inputs:
            tensors.insert(position, given[number])
        return cached.follow(self.predictor, tensors, self.ctx, self.cls)[0]


def _kind(array, step):
    """Class, shape and dtype of an array that a step reads; None for one that it gives."""
    if array._place.call is not None:
        return None
    tensor = step.tensors[array._place.number]
    return array._ready_class, tensor.shape, tensor.dtype


def _switches():
    return state.training, state.np_array, state.np_shape, state.watch
