"""Shapes, slices, joins and look-ups."""
from typing import Any

import numpy as np

from .... import symbol as sym
from ._registry import translates


@translates('Reshape')
def reshape(n):
    shape = n.ints(1, 'shape')
    if n.get('allowzero'):
        raise n.error('allowzero')
    return sym.Reshape(n.sym(), shape=tuple(shape) if shape else (1,), name=n.name)


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
    begins, ends = n.ints(1, 'starts'), n.ints(2, 'ends')
    axes = n.ints(3, 'axes') or list(range(len(begins)))
    steps = n.ints(4) if n.has(4) else None
    x = n.sym()
    large = 2 ** 31 - 1
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
    widths = n.ints(1, 'pads')
    value = n.get('value', 0.0) if n.opset < 11 else float(np.ravel(n.values(2))[0]) if n.has(2) else 0.0
    half = len(widths) // 2
    pairs = [w for pair in zip(widths[:half], widths[half:]) for w in pair]
    return sym.Pad(n.sym(), mode=n.get('mode', 'constant'), pad_width=tuple(pairs), constant_value=value, name=n.name)


@translates('Expand')
def expand(n):
    shape, rank = n.ints(1), n.rank()
    x = n.sym()
    for _ in range(len(shape) - max(1, rank)):
        x = sym.expand_dims(x, axis=0)
    mine = [1] * (len(shape) - rank) + list(n.shape())
    shape = [1] * (len(mine) - len(shape)) + shape
    axes = [axis for axis, (have, want) in enumerate(zip(mine, shape)) if want not in (1, have) and have == 1]
    return sym.broadcast_axis(x, axis=tuple(axes), size=tuple(shape[a] for a in axes), name=n.name) if axes else x


@translates('Tile')
def tile(n):
    return sym.tile(n.sym(), reps=tuple(n.ints(1, 'repeats')), name=n.name)


@translates('DepthToSpace')
def depth_to_space(n):
    if n.get('mode', 'DCR') != 'DCR':
        raise n.error('mode CRD')
    return sym.depth_to_space(n.sym(), block_size=n.get('blocksize'), name=n.name)


@translates('SpaceToDepth')
def space_to_depth(n):
    if n.get('mode', 'DCR') != 'DCR':
        raise n.error('mode CRD')
    return sym.space_to_depth(n.sym(), block_size=n.get('blocksize'), name=n.name)


@translates('Shape')
def shape(n):
    return sym.shape_array(n.sym(), name=n.name)


@translates('Size')
def size(n):
    return sym.size_array(n.sym(), name=n.name)
