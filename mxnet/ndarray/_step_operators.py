"""Operators between the blocks of a step (_steps.py): they wait with them.

Programs divide their losses, add two of them up, take means.  Each such call is one of a CachedOp with a single node,
kept by the first block of the step.

Only common operators wait, which send a gradient to each of their inputs that waits, and only where shapes and dtypes
are known to fit: mistakes are found where they are made.
"""
from threading import get_ident

import torch

from .._array import wrap
from .._graph.infer import run_on_meta
from .._graph.node import Node
from .._graph.plan import LIMIT
from .._ops.table import NAMES
from .._state import state
from . import _steps
from ._waiting import METHODS, guard, like, waiting
from .ndarray import NDArray

WAIT = frozenset((
    'broadcast_add', 'broadcast_sub', 'broadcast_mul', 'broadcast_div', 'broadcast_power', 'broadcast_maximum',
    'broadcast_minimum', 'elemwise_add', 'elemwise_sub', 'elemwise_mul', 'elemwise_div', 'add_n', 'dot', 'batch_dot',
    '_plus_scalar', '_minus_scalar', '_rminus_scalar', '_mul_scalar', '_div_scalar', '_rdiv_scalar', '_power_scalar',
    '_maximum_scalar', '_minimum_scalar', 'Cast', 'amp_cast', 'negative', 'abs', 'square', 'sqrt', 'exp', 'log',
    'log1p', 'sigmoid', 'tanh', 'relu', 'Activation', 'smooth_l1', 'clip', 'softmax', 'log_softmax', 'mean', 'sum',
    'norm', 'Reshape', 'Flatten', 'transpose', 'SwapAxis', 'expand_dims', 'squeeze', 'slice', 'slice_axis', 'Concat',
    'stack', 'pick', 'where',
    '_npi_add', '_npi_subtract', '_npi_multiply', '_npi_true_divide', '_npi_add_scalar', '_npi_subtract_scalar',
    '_npi_rsubtract_scalar', '_npi_multiply_scalar', '_npi_true_divide_scalar', '_npi_power_scalar', '_npi_negative',
    '_npi_absolute', '_npi_square', '_npi_sqrt', '_npi_exp', '_npi_log', '_npi_tanh', '_npi_mean', '_np_sum', '_np_dot',
    '_npx_relu', '_npx_sigmoid', '_np_reshape', '_npx_reshape', '_np_transpose', '_np_squeeze', '_npi_concatenate',
    '_npi_stack'))
MANY = 4096             # calls that a network remembers: numbers may change from step to step
INDICES = {'pick': 1, 'where': 0}        # the input that has no gradient: labels, a condition


def join(op, inputs, attributes, cls):
    """What an operator gives for arrays of which some wait, to be computed with them; None if it has to run now."""
    if op.name not in WAIT:
        return None
    index = INDICES.get(op.name)
    with guard:
        step, sources, likes = None, [], []
        for i, x in enumerate(inputs):
            if x is None or x._sparse:
                return None
            if not x._waits:
                sources.append(None)
                likes.append(x._tensor)
                continue
            place = x._place
            if type(place.step) is not _steps.Step or place.step.over or place.step.thread != get_ident() \
                    or i == index and place.call is not None:
                return None
            known = place.step.like(place)
            if known is None:
                return None
            step = step or place.step
            sources.append(place.number if place.call is None else (place.call, place.number))
            likes.append(known)
        try:
            cached = _cached(step.first, op, attributes, len(inputs))
        except TypeError:                   # an attribute that cannot be hashed
            return None
        route = step.route
        if route is not None and len(step.made) < len(route.structure) \
                and route.structure[len(step.made)] == (cached, state.training, tuple(sources)) \
                and not any(x._place.step is not step for x in inputs):
            return step.follow(waiting(cls))
        if not _fits(cached, op, likes, index):
            return None
    arrays = _steps.wait(cached, inputs, inputs[0]._ctx, state.training, cls)
    return None if arrays is None else arrays[0]


def _cached(first, op, attributes, count):
    """The CachedOp of an operator's calls with these attributes and so many inputs."""
    key = op.name, count, *sorted(attributes.items())
    found = first.operators.get(key)
    if found is None:
        from ..symbol import Symbol
        from ..symbol._compose import make, text_of
        attrs = {k: text_of(op, k, v) for k, v in attributes.items()
                 if k in op.attributes and (v is not None or op.attributes[k].default is not None)}
        # without a name, as it is no layer of anything
        node = Node(op, '', attrs, [(Node(None, f'x{i}', {}), 0) for i in range(count)])
        if len(first.operators) > MANY:
            first.operators.clear()
        found = first.operators[key] = type(first)(make(Symbol, [(node, 0)]))
        found.what = op, attributes
    return found


def _fits(cached, op, likes, index):
    """Whether an operator takes tensors of these kinds; what it gives is noted."""
    if op.same_dtype and len({t.dtype for t in likes}) > 1:
        return False
    kinds = _steps.kinds_of(state.training, likes)
    if kinds not in cached.results:
        node = cached.program.calls[0].node
        found = run_on_meta(node, [tuple(t.shape) for t in likes], [t.dtype for t in likes])
        if isinstance(found, str) or not all(dtype.is_floating_point for _, dtype in found) \
                or not all(t.is_floating_point() for i, t in enumerate(likes) if i != index):
            return False
        if len(cached.results) > LIMIT:
            cached.results.clear()
        cached.results[kinds] = [torch.empty(shape, dtype=dtype, device='meta') for shape, dtype in found]
    return True



# ---------------------------------------------------------------------- methods of arrays that wait
def _reshape(self, *shape, **kwargs):
    """`reshape`.  What it gives may have memory of its own: on a GPU, outputs of a graph are copied one by one."""
    cls = self._ready_class
    given = None if kwargs or not state.recording or state.watch is not None else like(self)
    if given is not None:
        found = cls.reshape(_stand_in(given, self, cls), *shape)            # or says what is wrong
        found = _under_shape(self, found.shape, cls)
        if found is not None:
            return found
    return cls.reshape(self, *shape, **kwargs)


def _getitem(self, key):
    """`x[key]`, for numbers and slices."""
    cls = self._ready_class
    if state.recording and state.watch is None:
        given = like(self)
        box = None if given is None else _box(key, given.shape)
        if box is not None:
            shape = cls.__getitem__(_stand_in(given, self, cls), key).shape
            found = self
            if box != [(0, n, 1) for n in given.shape]:
                begins, ends, steps = zip(*box, strict=True)
                found = join(NAMES['slice'], (self,), {'begin': begins, 'end': ends, 'step': steps}, cls)
            if found is not None and found.shape != shape:
                found = _under_shape(found, shape, cls)
            if found is not None:
                return found
    return cls.__getitem__(self, key)


METHODS.update(reshape=_reshape, __getitem__=_getitem)


def _stand_in(given, array, cls):
    """An array without values, which has the methods of others."""
    return wrap(torch.empty(given.shape, dtype=given.dtype, device='meta'), array._ctx, cls)


def _under_shape(array, shape, cls):
    if not shape or 0 in shape or not array._waits:
        return None
    if cls is NDArray:
        return join(NAMES['Reshape'], (array,), {'shape': shape}, cls)
    return join(NAMES['_np_reshape'], (array,), {'newshape': shape}, cls)


def _box(key, shape):
    """(begin, end, step) of each axis that a key selects; None for other keys, and for those that select nothing."""
    parts = list(key) if type(key) is tuple else [key]
    kinds = [type(part) for part in parts]
    if not shape or not set(kinds) <= {int, slice, type(Ellipsis)} or kinds.count(type(Ellipsis)) > 1:
        return None
    if type(Ellipsis) in kinds:
        at = kinds.index(type(Ellipsis))
        parts[at:at + 1] = [slice(None)] * (len(shape) - len(parts) + 1)
    parts += [slice(None)] * (len(shape) - len(parts))
    if len(parts) != len(shape):
        return None
    found = []
    for part, length in zip(parts, shape, strict=True):
        if type(part) is int:
            part = slice(part, part + 1 or None)
        begin, end, step = part.indices(length)
        if step < 1 or begin >= end:
            return None
        found.append((begin, end, step))
    return found
