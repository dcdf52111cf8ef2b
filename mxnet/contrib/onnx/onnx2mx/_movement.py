"""Shapes, slices, joins and look-ups."""
import math
from typing import Any

import numpy as np

from .... import symbol as sym
from ._lengths import Length
from ._registry import translates
from .import_onnx import values_of

LARGE = 2 ** 31 - 1         # an end that is the end of the axis


@translates('Reshape')
def reshape(n):
    shape = n.lengths(1, 'shape')
    if n.get('allowzero') and any(type(length) is int and length == 0 for length in shape):
        raise n.error('allowzero')
    if any(isinstance(length, Length) for length in shape):
        return sym.Reshape(n.sym(), shape=_codes(n, shape), name=n.name)
    return sym.Reshape(n.sym(), shape=tuple(shape) if shape else (1,), name=n.name)


def _codes(n, shape):
    """The shape for our Reshape: 0 keeps a length, -1 is what is left, -3 joins two, -4 divides one."""
    free = [place for place, length in enumerate(shape) if isinstance(length, Length)]
    if len(free) == 1 and -1 not in shape and 0 not in shape:
        return tuple(-1 if isinstance(length, Length) else length for length in shape)
    have, place, rest = n.dims(), 0, 0
    found: list[Any] = []
    for target in range(len(shape)):
        if target < len(found) and found[target] is None:           # the second one of a divided axis
            continue
        want = shape[target]
        here = have[place] if place < len(have) else None
        after = have[place + 1] if place + 1 < len(have) else None
        following = shape[target + 1] if target + 1 < len(shape) else None
        if type(want) is int and want == 0 or here is not None and _same(want, here):
            found.append(0)
        elif after is not None and isinstance(want, Length) and _same(want, here * after):
            found.append(-3)
            place += 1
        elif here is not None and isinstance(want, Length) and following is not None and following != -1 \
                and _same(want * following, here):
            found += [(-4, -1, following) if type(following) is int else (-4, want, -1), None]
            if not any(type(part) is int for part in (want, following)):
                break
        elif type(want) is int and want != -1:
            found.append(want)
        else:
            found.append(-1)
            rest += 1
        place += 1
    else:
        if rest < 2:
            return tuple(code for part in found if part is not None
                         for code in (part if isinstance(part, tuple) else (part,)))
    raise n.error(f'from the shape {have} to {shape}: more than one length is known only when the network runs')


def _same(one, other):
    return one.same(other) if isinstance(one, Length) else type(one) is type(other) and one == other


@translates('Flatten')
def flatten(n):
    axis = n.axis('axis', 1, extra=1) if n.get('axis', 1) >= 0 else n.get('axis') % n.rank()
    if axis == 1:
        return sym.Flatten(n.sym(), name=n.name)
    if axis == 0:
        return sym.Reshape(n.sym(), shape=(1, -1), name=n.name)
    # -3 joins two axes into one; the rest goes into the last
    front = n.sym()
    for _ in range(axis - 1):
        front = sym.Reshape(front, shape=(-3, -2))
    return sym.Reshape(front, shape=(0, -1), name=n.name)


@translates('Transpose')
def transpose(n):
    return sym.transpose(n.sym(), axes=tuple(n.get('perm', ())), name=n.name)


@translates('Squeeze')
def squeeze(n):
    axes = n.ints(1, 'axes')
    how: dict[str, Any] = {'axis': tuple(axes)} if axes else {}
    return sym.squeeze(n.sym(), name=n.name, **how)


@translates('Unsqueeze')
def unsqueeze(n):
    axes, x = n.ints(1, 'axes'), n.sym()
    if n.tensors[0].rank == 0:
        return sym.Reshape(x, shape=(1,) * len(axes), name=n.name)
    if any(axis < 0 for axis in axes):
        axes = [axis % (n.rank() + len(axes)) for axis in axes]
    for axis in sorted(axes):
        x = sym.expand_dims(x, axis=axis)
    return x


@translates('Concat')
def concat(n):
    return sym.Concat(*n.syms(), dim=n.get('axis', 1), name=n.name)


@translates('Split')
def split(n):
    axis, lengths = n.get('axis', 0), n.ints(1, 'split')
    count = len(n.outputs)
    if lengths is None and n.shape() is not None and n.shape()[axis] % count:
        # the last one is shorter
        size = -(-n.shape()[axis] // count)
        lengths = [size] * (count - 1) + [n.shape()[axis] - size * (count - 1)]
    if lengths is None or len(set(lengths)) == 1:
        return list(sym.SliceChannel(n.sym(), num_outputs=count, axis=axis, name=n.name)) if count > 1 else n.sym()
    ends = np.cumsum(lengths).tolist()
    return [sym.slice_axis(n.sym(), axis=axis, begin=end - length, end=end) for end, length in zip(ends, lengths)]


@translates('Slice')
def slice_(n):
    begins, axes = n.ints(1, 'starts'), n.ints(3, 'axes')
    axes = axes or list(range(len(begins)))
    ends = [_end(n, axis, end) for axis, end in zip(axes, n.lengths(2, 'ends'))]
    steps = n.ints(4) if n.has(4) else None
    x = n.sym()
    large = LARGE
    if steps is None or all(step == 1 for step in steps):
        for axis, begin, end in zip(axes, begins, ends):
            size = n.shape()[axis] if n.shape() is not None else 0
            if size:
                # an end beyond the axis is its end
                begin, end = max(begin, -size), min(end, size)
                if begin >= size or begin < 0 and begin + size >= (end if end >= 0 else end + size):
                    raise n.error(f'nothing is left of axis {axis}')
            x = sym.slice_axis(x, axis=axis, begin=begin, end=None if end >= large else end)
        return x
    rank = n.rank()
    where = [[None, None, None] for _ in range(rank)]
    for axis, begin, end, step in zip(axes, begins, ends, steps):
        where[axis % rank] = [None if abs(begin) >= large else begin, None if abs(end) >= large else end, step]
    return sym.slice(x, begin=tuple(w[0] for w in where), end=tuple(w[1] for w in where),
                     step=tuple(w[2] for w in where), name=n.name)


def _end(n, axis, end):
    """Where a slice ends; a length that varies is that of the axis itself, or less by a number."""
    if not isinstance(end, Length):
        return end
    less = end - n.dims()[axis]
    if type(less) is not int or less > 0:
        raise n.error(f'the end of a slice of axis {axis} is {end}; the length of the axis is {n.dims()[axis]}')
    return less or LARGE


@translates('Gather')
def gather(n):
    axis = n.get('axis', 0)
    index = n.tensors[1].values
    if index is not None and index.ndim == 0:
        index = int(index)
        taken = sym.slice_axis(n.sym(), axis=axis, begin=index, end=index + 1 if index != -1 else None)
        return sym.squeeze(taken, axis=axis, name=n.name)
    if axis == 0 and n.tensors[0].values is not None and n.tensors[0].rank == 2:
        rows, width = n.shape(0)
        return sym.Embedding(n.sym(1), n.sym(0), input_dim=rows, output_dim=width, name=n.name)
    return sym.take(n.sym(0), n.sym(1), axis=axis, mode='wrap', name=n.name)


@translates('GatherND')
def gather_nd(n):
    rank = n.rank(1)
    if n.get('batch_dims'):
        raise n.error('batch_dims')
    return sym.gather_nd(n.sym(0), sym.transpose(n.sym(1), axes=(rank - 1, *range(rank - 1))), name=n.name)


@translates('GatherElements')
def gather_elements(n):
    axis, rank = n.get('axis', 0), n.rank()
    if n.shape(1) is None or n.shape(1)[axis] != 1:
        raise n.error('more than one element along the axis')
    return sym.pick(n.sym(0), sym.squeeze(n.sym(1), axis=axis % rank), axis=axis, keepdims=True, name=n.name)


@translates('OneHot')
def one_hot(n):
    off, on = n.values(2).tolist()
    depth = int(np.ravel(n.values(1))[0])
    found = sym.one_hot(n.sym(), depth=depth, on_value=float(on), off_value=float(off), dtype=str(n.values(2).dtype))
    axis, rank = n.get('axis', -1), n.rank() + 1
    if axis in (-1, rank - 1):
        return found
    order = list(range(rank - 1))
    order.insert(axis % rank, rank - 1)
    return sym.transpose(found, axes=tuple(order), name=n.name)


@translates('Pad')
def pad(n):
    if n.input(0).rows:
        return _filled(n)
    widths = n.ints(1, 'pads')
    value = n.get('value', 0.0) if n.opset < 11 else float(np.ravel(n.values(2))[0]) if n.has(2) else 0.0
    half, x = len(widths) // 2, n.sym()
    for axis in range(half):            # less than nothing is cut off
        before, after = min(0, widths[axis]), min(0, widths[axis + half])
        if before or after:
            x = sym.slice_axis(x, axis=axis, begin=-before, end=after or None)
    widths = [max(0, width) for width in widths]
    pairs = [w for pair in zip(widths[:half], widths[half:]) for w in pair]
    return sym.Pad(x, mode=n.get('mode', 'constant'), pad_width=tuple(pairs), constant_value=value, name=n.name)


def _filled(n):
    """An output of a loop that may end early, filled with zeros to its most steps: so our loop gives it."""
    tensor, widths = n.input(0), n.lengths(1, 'pads')
    after = len(widths) // 2
    value = float(np.ravel(n.values(2))[0]) if n.has(2) else n.get('value', 0.0)
    if value != 0 or n.get('mode', 'constant') != 'constant' or not isinstance(widths[after], Length) \
            or not widths[after].same(tensor.rows - tensor.dims[0]) or any(
                type(w) is not int or w for place, w in enumerate(widths) if place != after):
        raise n.error('the outputs of a Loop that may end early are not filled with zeros up to its most steps')
    return tensor.padded


@translates('Expand')
def expand(n):
    shape, rank = n.lengths(1), n.rank()
    x = n.sym()
    for _ in range(len(shape) - max(1, rank)):
        x = sym.expand_dims(x, axis=0)
    mine = [1] * (len(shape) - rank) + list(n.dims())
    shape = [1] * (len(mine) - len(shape)) + shape
    axes, widened = [], []
    for axis, (have, want) in enumerate(zip(mine, shape)):
        if isinstance(want, Length) and type(have) is int and have == 1:
            widened.append(axis)
        elif isinstance(want, Length) or isinstance(have, Length):
            if not _same(have, want) and not (type(want) is int and want == 1):
                raise n.error(f'from {have} to {want} along axis {axis}')
        elif want not in (1, have) and have == 1:
            axes.append(axis)
    if axes:
        x = sym.broadcast_axis(x, axis=tuple(axes), size=tuple(shape[a] for a in axes), name=n.name)
    for axis in widened:
        x = n.widened(x, axis, shape[axis])
    return x


@translates('ConstantOfShape')
def constant_of_shape(n):
    shape = n.lengths(0)
    value = values_of(n.attrs['value'], n.outputs[0]) if 'value' in n.attrs else np.zeros(1, np.float32)
    small = [1 if isinstance(length, Length) else length for length in shape]
    n.room(math.prod(small), f'the shape {small}')
    found = n.parameter(np.full(tuple(small), value.ravel()[0], value.dtype), 'value')
    for axis, length in enumerate(shape):
        if isinstance(length, Length):
            found = n.widened(found, axis, length)
    return found


@translates('Range')
def range_(n):
    begin, end, step = (n.lengths(i)[0] for i in range(3))
    if not isinstance(end, Length) or isinstance(begin, Length) or isinstance(step, Length):
        raise n.error(f'from {begin} to {end} by {step}')
    source, axis = n.graph.source((end - begin) // step, n)
    found = sym.contrib.arange_like(n.graph.symbol(source), start=begin, step=step, axis=axis, name=n.name)
    return sym.Cast(found, dtype=str(n.tensors[0].dtype or 'int64'))


@translates('Tile')
def tile(n):
    counts, x = n.lengths(1, 'repeats'), n.sym()
    for axis, count in enumerate(counts):
        if isinstance(count, Length):
            if n.dims()[axis] != 1:
                raise n.error(f'{count} times along axis {axis}, which has the length {n.dims()[axis]}')
            x, counts[axis] = n.widened(x, axis, count), 1
    return sym.tile(x, reps=tuple(counts), name=n.name) if set(counts) != {1} else x


@translates('DepthToSpace')
def depth_to_space(n):
    size = n.get('blocksize')
    if n.get('mode', 'DCR') == 'CRD':
        x = sym.Reshape(n.sym(), shape=(0, -4, -1, size * size, 0, 0))
        x = sym.transpose(sym.Reshape(x, shape=(0, 0, -4, size, size, 0, 0)), axes=(0, 1, 4, 2, 5, 3))
        return sym.Reshape(x, shape=(0, 0, -3, -3), name=n.name)
    return sym.depth_to_space(n.sym(), block_size=size, name=n.name)


@translates('SpaceToDepth')
def space_to_depth(n):
    if n.get('mode', 'DCR') != 'DCR':
        raise n.error('mode CRD')
    return sym.space_to_depth(n.sym(), block_size=n.get('blocksize'), name=n.name)


@translates('Trilu')
def trilu(n):
    x, k = n.sym(), n.ints(1)[0] if n.has(1) else 0
    if n.get('upper', 1):               # what is above the diagonal lies below it in the transposed matrix
        axes = (*range(n.rank() - 2), n.rank() - 1, n.rank() - 2)
        found = sym.np.tril(sym.transpose(x, axes=axes).as_np_ndarray(), k=-k).as_nd_ndarray()
        return sym.transpose(found, axes=axes, name=n.name)
    return sym.np.tril(x.as_np_ndarray(), k=k).as_nd_ndarray()


@translates('Shape')
def shape(n):
    return sym.shape_array(n.sym(), name=n.name)


@translates('Size')
def size(n):
    return sym.size_array(n.sym(), name=n.name)
