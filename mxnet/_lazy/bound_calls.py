"""Calls of blocks like the ones before: in a loop, all but the first few.

A block that was deferred (step.py) or predicted by a plan, called again with the same parameters, inputs of the same
kinds and the same switches, does so again, and nothing else about the call has to be found out.

What a bound call depends on, and compares: the CachedOp and its hook, the switches of the thread (`_switches`), the
parameters' arrays with their tensors and gradient variables, and of each argument its class, context, shape, dtype, and
that autograd does not know it.
"""
from operator import is_
from threading import get_ident

from .._array import NDArrayBase, fill_ones
from .._changes import changes
from .._state import state
from .pending import guard
from .step import Step, drawing, will_draw


class BoundCall:
    """A deferred call, bound to what it depends on.

    A step whose calls so far were like those of an earlier one (`BoundStep` of step_plan.py) follows its route: all
    that is left to find out of a call is whether its arguments are of the same kinds.
    """

    __slots__ = ('cached', 'order', 'kinds', 'ctx', 'switches', 'cls', 'route', 'likes')

    @staticmethod
    def of(cached, params, inputs, args, out):
        """The bound call for a call that gave `out`; None if such calls are better looked at one by one.

        params: the parameters that the CachedOp is called with
        inputs: (position, number) of its other inputs, which are all of the block's arguments, by number
        """
        pending = getattr(out, '_pending', None)
        if pending is None or type(pending.work) is not Step or cached.count != 1 \
                or len(set(map(id, args))) != len(args) \
                or sorted(number for _, number in inputs) != list(range(len(args))):
            return None
        step, numbers = pending.work, dict(inputs)
        with guard:
            # another thread that read an array of the step has run it in the meantime
            if not step.is_open() or step.calls[pending.call].cached is not cached \
                    or not all(isinstance(x, NDArrayBase) for x in args):
                return None
            kinds = [_kind(x, step) for x in args]
            if None in kinds:
                return None
            # either the first call of a step, by parameters and arrays, or one that goes on with what another gives
            if params:
                if pending.call or cached.group is None or len(cached.group.arrays) != len(params) \
                        or any(k[0] is None for k in kinds):
                    return None
                self = FirstCall(params, cached.group)
                given = {position for position, _ in inputs}
                positions = [i for i in range(len(params) + len(inputs)) if i not in given]
                self.ones = [p.data(step.ctx) for i, p in zip(positions, params, strict=True)
                             if i in cached.program.ones]
                self.order = [numbers[i] for i in cached.group.free]
            else:
                if not any(k[0] is None for k in kinds):
                    return None
                self = NextCall()
                self.order = [numbers[i] for i in sorted(numbers)]
                self.taken = [number for number in self.order if kinds[number][0] is not None]
            self.cached, self.kinds, self.ctx, self.switches = cached, kinds, step.ctx, _switches()
            self.cls, self.route, self.likes = type(out), None, step.calls[pending.call].likes
            return self


class FirstCall(BoundCall):
    """The call that begins a step."""

    __slots__ = ('group', 'params', 'data', 'seen', 'ones')

    def __init__(self, params, group):
        self.group, self.params, self.seen = group, params, changes.count
        self.data = [p._data for p in params]

    def __call__(self, args):
        """The pending array that the block gives; None if this call is another."""
        cached, group, kinds = self.cached, self.group, self.kinds
        if len(args) != len(kinds) or cached.patience <= 0 or cached._monitor is not None \
                or (state.training, state.np_array, state.np_shape, state.interceptors, state.naive) != self.switches \
                or changes.count != self.seen and not self._same():
            return None
        with guard:
            if cached.group is not group or not group.is_valid():
                return None
            ctx = self.ctx
            for x, (cls, shape, dtype) in zip(args, kinds):
                if type(x) is not cls or x._ctx is not ctx or x._variable is not None or x._pending is not None:
                    return None
                tensor = x._storage
                if tensor is None:
                    tensor = x.materialize()
                if tensor.requires_grad or tensor.dtype is not dtype or tensor.shape != shape \
                        or id(x) in group.index:
                    return None
            if len(args) > 1 and len(set(map(id, args))) != len(args) or cached.draws and drawing(ctx) is not None:
                return None
            if self.ones:               # gamma of BatchNorm with `fix_gamma`
                fill_ones(self.ones)
            step = Step(ctx)
            step.take_group(group)
            for number in self.order:
                step.take(args[number])
            hidden = cached.hidden_states(self.switches[0], ctx)
            if hidden:
                step.hide_states(group.states)
            step.moves = self.switches[0] and bool(cached.program.states)
            if cached.draws:
                will_draw(step)
            route = cached.last_step
            if route is not None and (route is self.route or self._begins(route)):
                step.route = route
                return step.follow(self.cls)
            return step.add(cached, self.switches[0], group.sources, self.cls, self.likes)[0]

    def _same(self):
        """Whether the parameters have the arrays that they had."""
        count = changes.count
        if not all(map(is_, [p._data for p in self.params], self.data)):
            return False
        self.seen = count
        return True

    def _begins(self, route):
        """Whether a route begins with this call."""
        group, count = self.group, len(self.order)
        start = len(group.arrays)
        if not route.is_route() or route.structure[0] != (self.cached, self.switches[0], group.sources) \
                or route.groups != [(group, 0)] or route.np_shape != self.switches[2] \
                or route.loose[:count] != list(range(start, start + count)) \
                or route.kinds[:count] != [self.kinds[number][1:] for number in self.order]:
            return False
        self.route = route
        return True


class NextCall(BoundCall):
    """A call, without parameters, that goes on with what others of its step give."""

    __slots__ = ('at', 'start', 'expected', 'taken')

    def __call__(self, args):
        """As `FirstCall`."""
        cached, kinds = self.cached, self.kinds
        if len(args) != len(kinds) or cached.patience <= 0 or cached._monitor is not None \
                or (state.training, state.np_array, state.np_shape, state.interceptors, state.naive) != self.switches:
            return None
        with guard:
            step, ctx, given = None, self.ctx, []
            for x, kind in zip(args, kinds):
                if kind[0] is None:
                    pending = getattr(x, '_pending', None)
                    if pending is None:
                        return None
                    work = pending.work
                    if work is not step:
                        if step is not None or type(work) is not Step or work.closed or work.thread != get_ident() \
                                or work.ctx is not ctx or work.np_shape != state.np_shape or work.is_full():
                            return None
                        step = work
                    if pending.call is None:
                        return None
                    given.append((pending.call, pending.number))
                elif type(x) is not kind[0] or x._ctx is not ctx or x._variable is not None or x._pending is not None:
                    return None
                else:
                    tensor = x._storage
                    if tensor is None:
                        tensor = x.materialize()
                    if tensor.requires_grad or tensor.dtype is not kind[2] or tensor.shape != kind[1]:
                        return None
            if cached.draws:
                if drawing(ctx) not in (None, step):
                    return None
                will_draw(step)
            route = step.route
            if route is not None and (route is self.route and len(step.made) == self.at
                                      and len(step.arrays) == self.start or self._goes_on(route, step)) \
                    and given == self.expected and self._are_new(args, step):
                for number in self.taken:
                    step.take(args[number])
                return step.follow(self.cls)
            for x, kind in zip(args, kinds):        # the route says so otherwise
                if kind[0] is None:
                    like = step.like(x._pending)
                    if like.shape != kind[1] or like.dtype is not kind[2]:
                        return None
            found = []
            for number in self.order:
                x = args[number]
                pending = x._pending
                if pending is not None:
                    found.append((pending.call, pending.number))
                else:
                    known = step.number_of(x)
                    found.append(step.take(x) if known is None else known)
            return step.add(cached, self.switches[0], tuple(found), self.cls, self.likes)[0]

    def _are_new(self, args, step):
        """Whether the arguments that are no outputs are distinct, and the step does not read them yet."""
        seen = set()
        for number in self.taken:
            x = args[number]
            if id(x) in seen or step.number_of(x) is not None:
                return False
            seen.add(id(x))
        return True

    def _goes_on(self, route, step):
        """Whether a route goes on with this call."""
        at, start = len(step.made), len(step.arrays)
        if at >= len(route.structure):
            return False
        cached, training, sources = route.structure[at]
        if cached is not self.cached or training is not self.switches[0]:
            return False
        known, fresh, expected = dict(zip(route.loose, route.kinds)), start, []
        for number, source in zip(self.order, sources):
            kind = self.kinds[number]
            if kind[0] is None:
                if type(source) is int:
                    return False
                like = route.likes[source[0]]       # calls of a route have one output each
                if like.shape != kind[1] or like.dtype is not kind[2]:
                    return False
                expected.append((number, source))
            elif source != fresh or known[source] != kind[1:]:
                return False
            else:
                fresh += 1
        self.route, self.at, self.start = route, at, start
        self.expected = [source for _, source in sorted(expected)]
        return True


class BoundPrediction:
    """A prediction by a plan, bound to what it depends on: besides the above, that nothing is recorded or trained."""

    __slots__ = ('cached', 'predictor', 'params', 'data', 'arrays', 'tensors', 'inputs', 'kinds', 'ctx', 'switches',
                 'cls')

    @classmethod
    def of(cls, cached, params, inputs, args, out):
        """As `BoundCall.of`."""
        quick = cached.quick
        if quick is None or state.training or cached.count != 1 or not isinstance(out, NDArrayBase) \
                or not all(isinstance(x, NDArrayBase) and x._pending is None and not x._sparse for x in args) \
                or sorted(number for _, number in inputs) != list(range(len(args))):
            return None
        # the predictor that is bound is that of the kinds of this very call
        by_position = {position: args[number] for position, number in inputs}
        if by_position.keys() != {*quick[1]} \
                or [(*by_position[i].meta()[:2],) for i in quick[1]] != quick[0]:
            return None
        self = cls()
        self.cached, self.predictor = cached, quick[2]
        self.params, self.data, self.ctx = params, [p._data for p in params], args[0]._ctx
        self.arrays = [p.data(self.ctx) for p in params]
        self.tensors = [a.materialize() for a in self.arrays]
        self.inputs, self.kinds = inputs, [(type(x), *x.meta()[:2]) for x in args]
        self.switches, self.cls = _switches(), type(out)
        return self

    def __call__(self, args):
        """The array that the block gives; None if this call is another."""
        cached = self.cached
        if len(args) != len(self.kinds) or cached._monitor is not None or _switches() != self.switches \
                or cached.draws and state.chance is not None or cached.quick is None \
                or cached.quick[2] is not self.predictor \
                or not all(map(is_, [p._data for p in self.params], self.data)) \
                or not all(map(is_, [a._storage for a in self.arrays], self.tensors)):
            return None
        given = []
        for x, (cls, shape, dtype) in zip(args, self.kinds):
            if type(x) is not cls or x._ctx is not self.ctx:
                return None
            tensor = x.materialize()
            if tensor.requires_grad or tensor.dtype is not dtype or tensor.shape != shape:
                return None
            given.append(tensor)
        tensors = self.tensors.copy()
        for position, number in self.inputs:
            tensors.insert(position, given[number])
        return cached.follow(self.predictor, tensors, self.ctx, self.cls)[0]


def _kind(array, step):
    """Class, shape and dtype of an argument; the class is None for one that the step gives.  None: it is unknown."""
    pending = array._pending
    if pending is None:
        return type(array), *array.meta()[:2]
    if pending.work is not step or pending.call is None:
        return None
    like = step.like(pending)
    return None, like.shape, like.dtype


def _switches():
    return state.training, state.np_array, state.np_shape, state.interceptors, state.naive
