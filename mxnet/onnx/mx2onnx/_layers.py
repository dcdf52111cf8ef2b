"""Translations of layers: convolutions, pooling, normalisation, dense layers, outputs, resizing."""
import numpy as np

from ._builder import translates


def _spatial(c, key, default):
    """An attribute with one number for each spatial axis."""
    return list(c[key]) or [default] * (c.rank - 2)


def _first_channels(c, allowed=('NCW', 'NCHW', 'NCDHW', None)):
    if c['layout'] not in allowed:
        raise c.error(f'layout {c["layout"]} is not translated, only those with channels first')


@translates('Convolution')
def convolution(c):
    _first_channels(c)
    pad = _spatial(c, 'pad', 0)
    return c.op('Conv', *c.inputs, kernel_shape=list(c['kernel']), strides=_spatial(c, 'stride', 1),
                dilations=_spatial(c, 'dilate', 1), pads=pad * 2, group=c['num_group'])


@translates('Deconvolution')
def deconvolution(c):
    _first_channels(c)
    pad, adj = _spatial(c, 'pad', 0), _spatial(c, 'adj', 0)
    kernel, stride, dilate = list(c['kernel']), _spatial(c, 'stride', 1), _spatial(c, 'dilate', 1)
    if c['target_shape']:
        # upstream's rule: what is too much is cut off on both sides, an odd one at the end
        sizes = c.fixed(c.shape[2:], 'the size of the input, with target_shape,')
        for place, wanted in enumerate(c['target_shape']):
            total = stride[place] * (sizes[place] - 1) + dilate[place] * (kernel[place] - 1) + 1 - wanted
            adj[place] = total % 2
            pad[place] = (total + adj[place]) // 2
    return c.op('ConvTranspose', *c.inputs, kernel_shape=kernel, strides=stride, dilations=dilate, pads=pad * 2,
                output_padding=adj, group=c['num_group'])


@translates('FullyConnected')
def fully_connected(c):
    x, weight, *bias = c.inputs
    if c['flatten'] and c.rank != 2:
        x = c.op('Flatten', x, axis=1)
    if c['flatten'] or c.rank == 2:
        return c.op('Gemm', x, weight, *bias, transB=1)
    product = c.op('MatMul', x, c.transpose(weight, 1, 0))
    return c.op('Add', product, bias[0]) if bias else product


@translates('Flatten')
def flatten(c):
    return c.op('Flatten', c.x, axis=1)


# ---------------------------------------------------------------------- pooling
@translates('Pooling', 'Pooling_v1')
def pooling(c):
    if c.kind == 'Pooling':
        _first_channels(c)
    kind = c['pool_type']
    if c['global_pool']:
        if kind == 'lp':
            return c.op('GlobalLpPool', c.x, p=c['p_value'])
        if kind == 'sum':
            return c.op('ReduceSum', c.x, c.ints(range(2, c.rank)), keepdims=1)
        return c.op({'max': 'GlobalMaxPool', 'avg': 'GlobalAveragePool'}[kind], c.x)
    kernel, stride, pad = list(c['kernel']), _spatial(c, 'stride', 1), _spatial(c, 'pad', 0)
    x, before, after = c.x, list(pad), list(pad)
    where = {'kernel_shape': kernel, 'strides': stride}
    include = kind == 'sum' or c['count_include_pad'] is not False
    if c['pooling_convention'] == 'same':
        where['auto_pad'] = 'SAME_UPPER'
    elif c['pooling_convention'] == 'full':
        # windows that begin within the padded picture all count, also where they reach beyond it
        sizes = c.fixed(c.shape[2:], "the size of the input, with pooling_convention='full',")
        for place, size in enumerate(sizes):
            beyond = (c.out_shapes[0][place + 2] - 1) * stride[place] + kernel[place] - size - 2 * pad[place]
            after[place] += max(0, beyond)
    if 'auto_pad' not in where:
        if any(width >= size for width, size in zip(after, kernel)) and kind != 'lp':
            # runtimes allow no padding that is as wide as the window, so it comes before
            widths = [0, 0, *before, 0, 0, *after]
            lowest = np.finfo(c.dtype).min if c.dtype.kind == 'f' else np.iinfo(c.dtype).min
            x = c.op('Pad', x, c.ints(widths), c.scalar(lowest if kind == 'max' else 0))
            where['pads'] = [0] * (2 * len(kernel))
        else:
            where['pads'] = before + after
    if kind == 'max':
        return c.op('MaxPool', x, **where)
    if kind == 'lp':
        return c.op('LpPool', x, p=c['p_value'], **where)
    if kind == 'avg' and (x != c.x or after != before and include):
        return _counted(c, x, before, where, include)
    pooled = c.op('AveragePool', x, count_include_pad=int(include), **where)
    return c.op('Mul', pooled, c.scalar(np.prod(kernel))) if kind == 'sum' else pooled


def _counted(c, x, before, where, include):
    """An average in which the padding counts or not, and what a window has beyond the padding does not.

    The sum over a window is divided by a constant: how many places of the padded picture, or of the picture, it has.
    """
    counts = np.ones(())
    for place, pad in enumerate(before):
        size = c.fixed([c.shape[place + 2]], 'the size of the input')[0]
        begins = np.arange(c.out_shapes[0][place + 2]) * where['strides'][place]
        ends = begins + where['kernel_shape'][place]
        first, last = (0, size + 2 * pad) if include else (pad, size + pad)
        along = np.minimum(ends, last) - np.maximum(begins, first)
        counts = np.multiply.outer(counts, np.maximum(along, 1))
    pooled = c.op('AveragePool', x, count_include_pad=1, **where)
    return c.op('Mul', pooled, c.scalar(np.prod(where['kernel_shape']) / counts))


@translates('_contrib_AdaptiveAvgPooling2D')
def adaptive_pooling(c):
    size = c['output_size'] or (1, 1)
    size = tuple(size) * 2 if len(size) == 1 else tuple(size)
    if size == (1, 1):
        return c.op('GlobalAveragePool', c.x)
    height, width = c.fixed(c.shape[2:], 'the size of the input')
    if height % size[0] or width % size[1]:
        raise c.error(f'an input of {height} x {width} is not a multiple of the output, {size}')
    kernel = [height // size[0], width // size[1]]
    return c.op('AveragePool', c.x, kernel_shape=kernel, strides=kernel)


# ---------------------------------------------------------------------- normalisation
@translates('BatchNorm', 'BatchNorm_v1')
def batch_norm(c):
    x, gamma, beta, mean, variance = c.inputs
    axis = c.axis(c['axis']) if 'axis' in c.attrs else 1
    if c['fix_gamma']:
        gamma = c.const(np.ones(c.fixed(c.shapes[1], 'gamma')), c.dtypes[1])
    order = None
    if c.rank == 1:
        raise c.error('an input of one axis')
    if axis != 1:
        order = [a for a in range(c.rank) if a != axis]
        order.insert(1, axis)
        x = c.transpose(x, *order)
    # what ONNX calls momentum is the share of the old, too
    x = c.op('BatchNormalization', x, gamma, beta, mean, variance, epsilon=c['eps'], momentum=c['momentum'])
    return x if order is None else c.transpose(x, *np.argsort(order).tolist())


@translates('LayerNorm')
def layer_norm(c):
    if c['output_mean_var']:
        raise c.error('output_mean_var')
    axis = c.axis(c['axis'])
    if axis == c.rank - 1:
        return c.op('LayerNormalization', *c.inputs, axis=-1, epsilon=c['eps'])
    shape = [1] * c.rank
    shape[axis] = -1
    mean = c.op('ReduceMean', c.x, axes=[axis], keepdims=1)
    apart = c.op('Sub', c.x, mean)
    variance = c.op('ReduceMean', c.op('Mul', apart, apart), axes=[axis], keepdims=1)
    normal = c.op('Div', apart, c.op('Sqrt', c.op('Add', variance, c.scalar(c['eps']))))
    return c.op('Add', c.op('Mul', normal, c.reshape(c.inputs[1], shape)), c.reshape(c.inputs[2], shape))


@translates('InstanceNorm')
def instance_norm(c):
    return c.op('InstanceNormalization', *c.inputs, epsilon=c['eps'])


@translates('GroupNorm')
def group_norm(c):
    """Groups are channels of a reshaped picture; gamma and beta have a number for each group."""
    if c['output_mean_var']:
        raise c.error('output_mean_var')
    flat = c.reshape(c.x, (0, c['num_groups'], -1))
    normal = c.op('InstanceNormalization', flat, c.inputs[1], c.inputs[2], epsilon=c['eps'])
    return c.op('Reshape', normal, c.op('Shape', c.x))


@translates('LRN')
def lrn(c):
    return c.op('LRN', c.x, alpha=c['alpha'], beta=c['beta'], bias=c['knorm'], size=c['nsize'])


@translates('L2Normalization')
def l2_normalization(c):
    axes = {'instance': range(1, c.rank), 'channel': [1], 'spatial': range(2, c.rank)}[c['mode']]
    squares = c.op('ReduceSum', c.op('Mul', c.x, c.x), c.ints(axes), keepdims=1)
    return c.op('Div', c.x, c.op('Sqrt', c.op('Add', squares, c.scalar(c['eps']))))


# ---------------------------------------------------------------------- outputs
def softmax_of(c, x, kind='Softmax'):
    if c['temperature'] not in (None, 1.0):
        x = c.op('Div', x, c.scalar(c['temperature']))
    return c.op(kind, x, axis=c.axis(c['axis']))


@translates('softmax', '_npx_softmax')
def softmax(c):
    if not c['use_length']:
        return c.to_result(softmax_of(c, c.x), c.dtype)
    # what is behind the length gets no share
    axis = c.axis(c['axis'])
    if c.shape[axis] is None:
        raise c.error('use_length on an axis whose length may vary')
    places = np.arange(c.shape[axis], dtype=np.int64).reshape([-1 if a == axis else 1 for a in range(c.rank)])
    length = c.unsqueeze(c.cast(c.inputs[1], np.int64), axis)
    inside = c.op('Less', c.const(places), length)
    masked = c.op('Where', inside, c.x, c.scalar(np.finfo(c.dtype).min))
    shares = softmax_of(c, masked)
    return c.to_result(c.op('Mul', shares, c.cast(inside, c.dtype)), c.dtype)


@translates('log_softmax', '_npx_log_softmax')
def log_softmax(c):
    return c.to_result(softmax_of(c, c.x, 'LogSoftmax'), c.dtype)


@translates('softmin')
def softmin(c):
    return c.to_result(softmax_of(c, c.op('Neg', c.x)), c.dtype)


@translates('SoftmaxOutput')
def softmax_output(c):
    if c['multi_output']:
        return c.op('Softmax', c.x, axis=1)
    if c['preserve_shape'] or c.rank == 2:
        return c.op('Softmax', c.x, axis=-1)
    flat = c.op('Softmax', c.op('Flatten', c.x, axis=1), axis=-1)
    return c.op('Reshape', flat, c.op('Shape', c.x))


@translates('SoftmaxActivation')
def softmax_activation(c):
    if c['mode'] == 'channel':
        return c.op('Softmax', c.x, axis=1)
    return c.op('Reshape', c.op('Softmax', c.op('Flatten', c.x, axis=1), axis=-1), c.op('Shape', c.x))


@translates('LogisticRegressionOutput')
def logistic(c):
    return c.op('Sigmoid', c.x)


# ---------------------------------------------------------------------- resizing
def resize(c, x, height, width, **how):
    """To a size, or by a factor where the size may vary."""
    sizes = c.out_shapes[0]
    if None not in sizes:
        return c.op('Resize', x, '', '', c.ints(sizes), **how)
    return c.op('Resize', x, '', c.const([1, 1, height, width], np.float32), **how)


@translates('UpSampling')
def upsampling(c):
    if c['sample_type'] != 'nearest':
        raise c.error("sample_type='bilinear', which is a Deconvolution with a fixed kernel: use one, or "
                      'contrib.BilinearResize2D')
    if len(c) > 1:
        raise c.error('several inputs')
    return resize(c, c.x, c['scale'], c['scale'], mode='nearest', coordinate_transformation_mode='asymmetric',
                  nearest_mode='floor')


@translates('_contrib_BilinearResize2D')
def bilinear_resize(c):
    if c['mode'] not in ('size', 'odd_scale', 'like'):
        raise c.error(f'mode {c["mode"]}')
    how = 'align_corners' if c['align_corners'] else 'half_pixel'
    if None in c.out_shapes[0][2:]:
        raise c.error('an output whose size may vary')
    if c.out_shapes[0][0] is None:
        shape = c.op('Concat', c.op('Slice', c.op('Shape', c.x), c.ints([0]), c.ints([2])),
                     c.ints(c.out_shapes[0][2:]), axis=0)
        return c.op('Resize', c.x, '', '', shape, mode='linear', coordinate_transformation_mode=how)
    return c.op('Resize', c.x, '', '', c.ints(c.out_shapes[0]), mode='linear', coordinate_transformation_mode=how)
