"""Calls of blocks like the ones before: in a loop, all but the first few.

A block that waited (_steps.py) or predicted by a plan, called again with the same parameters, inputs of the same kinds
and the same switches, does so again, and nothing else about the call has to be found out anew.
"""
from operator import is_
from threading import get_ident

from .._array import NDArrayBase, class_of
from .._state import state
from ._steps import Step, guard


class Repeat:
    """What a block remembers of a call that waited."""

    __slots__ = ('cached', 'bundle', 'params', 'data', 'order', 'kinds', 'ctx', 'switches', 'cls')

    @classmethod
    def of(cls, cached, params, inputs, args, out):
        """What to remember; None if such calls are better looked at one by one.

        params: the parameters that the CachedOp is called with
        inputs: (position, number) of its other inputs, which are all of the block's arguments, by number
        """
        place = getattr(out, '_waits', False) and out._place
        if not place or type(place.step) is not Step or cached.count != 1 or len(set(map(id, args))) != len(args) \
                or sorted(number for _, number in inputs) != list(range(len(args))):
            return None
        with guard:
            return cls._of(place.step, place, cached, params, inputs, args, out)

    @classmethod
    def _of(cls, step, place, cached, params, inputs, args, out):
        # another thread that looked at an array of the step has run it in the meantime
        if step.over or step.calls[place.call].cached is not cached \
                or not all(getattr(x, '_waits', False) for x in args):
            return None
        self = cls()
        self.cached, self.params, self.data = cached, params, [p._data for p in params]
        self.kinds = [_kind(x, step) for x in args]
        # either the first call of a step, by parameters and arrays, or one that goes on with what another gives
        self.bundle = cached.bundle if params else None
        if params and (place.call or self.bundle is None or len(self.bundle.arrays) != len(params)
                       or None in self.kinds) or not params and None not in self.kinds:
            return None
        numbers = dict(inputs)
        self.order = [numbers[i] for i in (self.bundle.free if params else sorted(numbers))]
        self.ctx, self.switches, self.cls = step.ctx, _switches(), out._ready_class
        return self

    def __call__(self, args):
        """The array that the block gives, which waits; None if this call is another."""
        cached, bundle, step = self.cached, self.bundle, None
        if len(args) != len(self.kinds) or cached.patience <= 0 or cached._monitor is not None \
                or _switches() != self.switches or not all(map(is_, [p._data for p in self.params], self.data)):
            return None
        with guard:
            if bundle is not None and (cached.bundle is not bundle or not bundle.ready()):
                return None
            for x, kind in zip(args, self.kinds):
                if kind is None:
                    if not getattr(x, '_waits', False):
                        return None
                    place, mine = x._place, x._place.step
                    if type(mine) is not Step or place.call is None or mine.over or mine.thread != get_ident() \
                            or step is not None and mine is not step:
                        return None
                    step = mine
                elif type(x) is not kind[0] or x._ctx is not self.ctx or x._variable is not None:
                    return None
                else:
                    tensor = x._tensor
                    if tensor.requires_grad or tensor.dtype is not kind[2] or tensor.shape != kind[1]:
                        return None
            if bundle is None:
                if step.ctx is not self.ctx:
                    return None
                found = []
                for number in self.order:
                    x = args[number]
                    place = x._place if x._waits else None
                    found.append(step.take(x) if place is None else
                                 place.number if place.call is None else (place.call, place.number))
                sources = tuple(found)
            elif len(args) > 1 and len(set(map(id, args))) != len(args):
                return None
            else:
                step, sources = Step(self.ctx), bundle.sources
                step.take_bundle(bundle)
                for number in self.order:
                    step.take(args[number])
            if cached.draws:
                state.draws = step
            return step.add(cached, self.switches[0], sources, self.cls)[0]


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
