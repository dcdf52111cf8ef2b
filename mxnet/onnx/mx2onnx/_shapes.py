"""Translations of operators that move, cut, join, look up or make elements."""
import numpy as np

from ._builder import onnx_type, translates

END = np.iinfo(np.int64).max
FRONT = -END


@translates('Reshape', '_np_reshape', '_npx_reshape', '_npi_reshape')
def reshape(c):
    return c.reshape(c.x, c.target())


@translates('reshape_like')
def reshape_like(c):
    if None not in c.out_shapes[0]:
        return c.reshape(c.x, c.target())
    if any(c[key] is not None for key in ('lhs_begin', 'lhs_end', 'rhs_begin', 'rhs_end')):
        raise c.error('a part of a shape whose lengths may vary')
    return c.op('Reshape', c.x, c.op('Shape', c.inputs[1]))


@translates('transpose', '_np_transpose')
def transpose(c):
    axes = c['axes']
    return c.transpose(c.x, *([a % c.rank for a in axes] if axes else range(c.rank - 1, -1, -1)))


@translates('SwapAxis')
def swap(c):
    axes = list(range(c.rank))
    first, second = c.axis(c['dim1']), c.axis(c['dim2'])
    axes[first], axes[second] = axes[second], axes[first]
    return c.transpose(c.x, *axes)


@translates('expand_dims', '_npi_expand_dims')
def expand_dims(c):
    return c.unsqueeze(c.x, c['axis'] if c['axis'] >= 0 else c['axis'] + c.rank + 1)


@translates('squeeze', '_np_squeeze')
def squeeze(c):
    if c['axis'] is None:
        if None in c.shape:
            raise c.error('axis=None on a shape whose lengths may vary')
        axes = [a for a, n in enumerate(c.shape) if n == 1]
    else:
        axes = c.axes(c['axis'])
    if len(axes) == c.rank and len(c.out_shapes[0]) == 1:          # outside np mode something is left
        return c.reshape(c.x, (1,))
    return c.squeeze(c.x, *axes) if axes else c.op('Identity', c.x)


# ---------------------------------------------------------------------- cutting and joining
@translates('slice', '_npi_slice')
def slice_(c):
    begins, ends, steps = c['begin'], c['end'], c['step'] or ()
    axes, starts, stops, strides = [], [], [], []
    for axis, (begin, end) in enumerate(zip(begins, ends)):
        step = (steps[axis] if axis < len(steps) else None) or 1
        axes.append(axis)
        strides.append(step)
        starts.append(begin if begin is not None else 0 if step > 0 else END)
        stops.append(end if end is not None else END if step > 0 else FRONT)
    return c.slice(c.x, axes, starts, stops, strides)


@translates('slice_axis')
def slice_axis(c):
    return c.slice(c.x, [c.axis(c['axis'])], [c['begin']], [END if c['end'] is None else c['end']])


@translates('slice_like')
def slice_like(c):
    axes = c.axes(c['axes'])
    ends = [c.shapes[1][a] for a in axes]
    if None in ends:
        stop = c.op('Gather', c.op('Shape', c.inputs[1]), c.ints(axes))
        return c.op('Slice', c.x, c.ints([0] * len(axes)), stop, c.ints(axes))
    return c.slice(c.x, axes, [0] * len(axes), ends)


@translates('Crop')
def crop(c):
    height, width = c.fixed(c.out_shapes[0][2:], 'the size of the output')
    top, left = c['offset']
    if c['center_crop']:
        sizes = c.fixed(c.shape[2:], 'the size of the input')
        top, left = (sizes[0] - height) // 2, (sizes[1] - width) // 2
    return c.slice(c.x, [2, 3], [top, left], [top + height, left + width])


@translates('SliceChannel')
def split(c):
    axis, count = c.axis(c['axis']), c['num_outputs']
    # without lengths the parts are equal
    parts = c.op('Split', c.x, outputs=count, axis=axis) if count > 1 else c.op('Identity', c.x)
    parts = parts if count > 1 else [parts]
    return [c.squeeze(part, axis) for part in parts] if c['squeeze_axis'] else parts


@translates('_split_v2', '_npi_split')
def split_v2(c):
    axis = c.axis(c['axis'])
    lengths = [1 if c['squeeze_axis'] else shape[axis] for shape in c.out_shapes]
    if len(c.out_shapes) == 1:
        parts = [c.op('Identity', c.x)]
    elif None in lengths:
        raise c.error('an axis whose length may vary')
    else:
        parts = c.op('Split', c.x, c.ints(lengths), outputs=len(lengths), axis=axis)
    return [c.squeeze(part, axis) for part in parts] if c['squeeze_axis'] else parts


@translates('Concat', '_rnn_param_concat', '_npi_concatenate')
def concat(c):
    return c.op('Concat', *c.inputs, axis=c.axis(c['axis'] if 'axis' in c.attrs else c['dim']))


@translates('stack', '_npi_stack')
def stack(c):
    axis = c['axis'] if c['axis'] >= 0 else c['axis'] + c.rank + 1
    return c.op('Concat', *[c.unsqueeze(x, axis) for x in c.inputs], axis=axis)


@translates('tile', '_npi_tile')
def tile(c):
    reps, x = list(c['reps']), c.x
    if len(reps) > c.rank:
        x = c.unsqueeze(x, *range(len(reps) - c.rank))
    return c.op('Tile', x, c.ints([1] * (c.rank - len(reps)) + reps))


@translates('repeat')
def repeat(c):
    x, axis, rank = c.x, c['axis'], c.rank
    if axis is None:
        x, axis, rank = c.reshape(x, (-1,)), 0, 1
    axis %= rank
    # each element gets an axis of its own, along which it is repeated
    reps = [1] * (rank + 1)
    reps[axis + 1] = c['repeats']
    tiled = c.op('Tile', c.unsqueeze(x, axis + 1), c.ints(reps))
    shape = [0] * rank
    shape[axis] = -1
    if axis < rank - 1:
        n = c.out_shapes[0]
        shape = [0] * axis + [-1] + list(n[axis + 1:])
        if None in shape:
            raise c.error('lengths behind the axis may vary')
    return c.reshape(tiled, shape)


@translates('reverse')
def reverse(c):
    axes = c.axes(c['axis'])
    return c.slice(c.x, axes, [END] * len(axes), [FRONT] * len(axes), [-1] * len(axes))


@translates('Pad')
def pad(c):
    widths = c['pad_width']
    both = list(widths[::2]) + list(widths[1::2])
    value = (c.scalar(c['constant_value']),) if c['mode'] == 'constant' else ()
    return c.op('Pad', c.x, c.ints(both), *value, mode=c['mode'])


@translates('depth_to_space', 'space_to_depth')
def depth(c):
    if c.kind == 'space_to_depth':
        return c.op('SpaceToDepth', c.x, blocksize=c['block_size'])
    return c.op('DepthToSpace', c.x, blocksize=c['block_size'], mode='DCR')


# ---------------------------------------------------------------------- shapes of others
def expand(c, shape):
    """Broadcasts to a shape; 1 keeps what there is."""
    return c.op('Expand', c.x, shape if isinstance(shape, str) else c.ints(shape))


@translates('broadcast_to', '_npi_broadcast_to')
def broadcast_to(c):
    return expand(c, [n or 1 for n in c.out_shapes[0]])


@translates('broadcast_axis')
def broadcast_axis(c):
    shape = [1] * c.rank
    for axis, size in zip(c.axes(c['axis']) if len(c['axis']) > 1 else [c.axis(c['axis'][0])], _sizes(c)):
        shape[axis] = size
    return expand(c, shape)


def _sizes(c):
    """Sizes in the order of the sorted axes."""
    return [size for _, size in sorted(zip((a % c.rank for a in c['axis']), c['size']))]


@translates('broadcast_like')
def broadcast_like(c):
    if c['lhs_axes'] in (None, ()):
        return expand(c, c.op('Shape', c.inputs[1]))
    shape = [c.ints([1])] * c.rank
    other = c.op('Shape', c.inputs[1])
    for mine, theirs in zip(c['lhs_axes'], c['rhs_axes']):
        shape[mine % c.rank] = c.op('Gather', other, c.ints([theirs % len(c.shapes[1])]))
    return expand(c, c.op('Concat', *shape, axis=0))


@translates('shape_array')
def shape_array(c):
    return c.op('Shape', c.x)


@translates('size_array')
def size_array(c):
    return c.unsqueeze(c.op('Size', c.x), 0)


@translates('zeros_like', 'ones_like', '_npi_zeros_like', '_npi_ones_like')
def like(c):
    return _filled(c, c.op('Shape', c.x), int('ones' in c.kind), c.out_dtypes[0])


def _filled(c, shape, value, dtype):
    from ._builder import onnx
    content = onnx().numpy_helper.from_array(np.array([value], dtype))
    return c.op('ConstantOfShape', shape, value=content)


@translates('_zeros', '_ones', '_full', '_npi_zeros', '_npi_ones', '_npi_full', '_zeros_without_dtype')
def filled(c):
    shape = c.out_shapes[0]
    value = c.attrs.get('value', int('ones' in c.kind))
    if None in shape:
        return _filled(c, c.out_shape(), value, c.out_dtypes[0])
    return c.op('Identity', c.const(np.full(shape, value, c.out_dtypes[0])))


@translates('_arange', '_npi_arange')
def arange(c):
    if c.attrs.get('infer_range'):
        raise c.error('infer_range')
    stop, start = c['stop'], c['start'] or 0
    if stop is None:
        start, stop = 0, start
    values = np.repeat(np.arange(start, stop, c['step']), c.attrs.get('repeat', 1))
    return c.op('Identity', c.const(values, c.out_dtypes[0]))


@translates('_contrib_arange_like')
def arange_like(c):
    if c['repeat'] != 1:
        raise c.error('repeat')
    axis = c['axis']
    shape = c.op('Shape', c.x)
    if axis is None:
        count = c.op('Size', c.x)
    else:
        count = c.squeeze(c.op('Gather', shape, c.ints([c.axis(axis)])), 0)
    steps = c.cast(c.op('Range', c.const(0, np.int64), count, c.const(1, np.int64)), c.dtype)
    values = c.op('Add', c.op('Mul', steps, c.scalar(c['step'])), c.scalar(c['start']))
    return values if axis is not None else c.op('Reshape', values, shape)


# ---------------------------------------------------------------------- looking up
def _within(c, indices, size, mode):
    """Indices as int64 that are within 0 and size - 1."""
    indices = c.cast(indices, np.int64)
    if size is None:
        raise c.error('an axis whose length may vary')
    if mode == 'wrap':
        return c.op('Mod', indices, c.const(size, np.int64))
    return c.op('Clip', indices, c.const(0, np.int64), c.const(size - 1, np.int64))


@translates('Embedding', '_npx_embedding')
def embedding(c):
    return c.op('Gather', c.inputs[1], _within(c, c.x, c['input_dim'], 'clip'), axis=0)


@translates('take', '_npi_take')
def take(c):
    axis = c.axis(c['axis'])
    if c['mode'] == 'raise':
        return c.op('Gather', c.x, c.cast(c.inputs[1], np.int64), axis=axis)
    return c.op('Gather', c.x, _within(c, c.inputs[1], c.shape[axis], c['mode']), axis=axis)


@translates('gather_nd')
def gather_nd(c):
    rank = len(c.shapes[1])
    indices = c.transpose(c.cast(c.inputs[1], np.int64), *range(1, rank), 0)
    return c.op('GatherND', c.x, indices)


@translates('pick')
def pick(c):
    if c['axis'] is None:
        raise c.error('axis=None')
    axis = c.axis(c['axis'])
    index = _within(c, c.inputs[1], c.shape[axis], c['mode'])
    if len(c.shapes[1]) < c.rank:
        index = c.unsqueeze(index, axis)
    found = c.op('GatherElements', c.x, index, axis=axis)
    return found if c['keepdims'] else c.squeeze(found, axis)


@translates('batch_take')
def batch_take(c):
    index = c.unsqueeze(_within(c, c.inputs[1], c.shape[1], 'clip'), 1)
    return c.squeeze(c.op('GatherElements', c.x, index, axis=1), 1)


@translates('one_hot', '_npx_one_hot')
def one_hot(c):
    values = c.const([c['off_value'], c['on_value']], c.out_dtypes[0])
    index, depth = c.cast(c.x, np.int64), c['depth']
    # ONNX takes -1 for the last; here it is none of them
    index = c.op('Where', c.op('Less', index, c.const(0, np.int64)), c.const(depth, np.int64), index)
    return c.op('OneHot', index, c.const(depth, np.int64), values, axis=-1)


# ---------------------------------------------------------------------- chance
@translates('_random_uniform', '_random_normal')
def random(c):
    dtype = onnx_type(c.out_dtypes[0])
    if c.kind == '_random_uniform':
        return c.op('RandomUniform', low=c['low'], high=c['high'], shape=list(c.out_shapes[0]), dtype=dtype)
    return c.op('RandomNormal', mean=c['loc'], scale=c['scale'], shape=list(c.out_shapes[0]), dtype=dtype)


@translates('_random_uniform_like')
def random_like(c):
    return c.op('RandomUniformLike', c.x, low=c['low'], high=c['high'])
