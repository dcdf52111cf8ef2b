"""Translations of what detectors use: boxes and regions of interest."""
import numpy as np

from ... import ndarray as nd
from ._builder import translates

LOWEST = float(np.finfo(np.float32).min)


@translates('ROIPooling')
def roi_pooling(c):
    return c.op('MaxRoiPool', *c.inputs, pooled_shape=list(c['pooled_size']), spatial_scale=c['spatial_scale'])


@translates('_contrib_ROIAlign')
def roi_align(c):
    if c['position_sensitive']:
        raise c.error('position_sensitive')
    boxes = c.slice(c.inputs[1], [1], [1], [5])
    batch = c.cast(c.squeeze(c.slice(c.inputs[1], [1], [0], [1]), 1), np.int64)
    height, width = c['pooled_size']
    found = c.op('RoiAlign', c.x, boxes, c.op('Max', batch, c.const(0, np.int64)), output_height=height,
                 output_width=width, spatial_scale=c['spatial_scale'], sampling_ratio=max(0, c['sample_ratio']),
                 mode='avg', coordinate_transformation_mode='half_pixel' if c['aligned'] else 'output_half_pixel')
    # a negative number of a picture is no picture
    there = c.op('Not', c.op('Less', batch, c.const(0, np.int64)))
    return c.op('Mul', found, c.unsqueeze(c.cast(there, c.dtype), 1, 2, 3))


def _halves(c, boxes):
    """The first two numbers of each box, and the other two."""
    return c.slice(boxes, [-1], [0], [2]), c.slice(boxes, [-1], [2], [4])


def _corners(c, boxes):
    """(x, y, width, height) -> (left, top, right, bottom)"""
    middle, size = _halves(c, boxes)
    half = c.op('Mul', size, c.scalar(0.5))
    return c.op('Concat', c.op('Sub', middle, half), c.op('Add', middle, half), axis=-1)


def _centres(c, boxes):
    first, last = _halves(c, boxes)
    size = c.op('Sub', last, first)
    return c.op('Concat', c.op('Add', first, c.op('Mul', size, c.scalar(0.5))), size, axis=-1)


@translates('_contrib_box_decode')
def box_decode(c):
    anchors = _centres(c, c.inputs[1]) if c['format'] == 'corner' else c.inputs[1]
    place, size = _halves(c, anchors)
    shift, scale = _halves(c, c.x)
    shift = c.op('Add', c.op('Mul', c.op('Mul', shift, c.scalar([c['std0'], c['std1']])), size), place)
    scale = c.op('Mul', scale, c.scalar([c['std2'], c['std3']]))
    if c['clip'] > 0:
        scale = c.op('Min', scale, c.scalar(c['clip']))
    half = c.op('Mul', c.op('Mul', c.op('Exp', scale), size), c.scalar(0.5))
    return c.op('Concat', c.op('Sub', shift, half), c.op('Add', shift, half), axis=-1)


@translates('_contrib_box_nms')
def box_nms(c):
    """What NonMaxSuppression keeps comes first, by score; all other rows are -1."""
    if c.dtype != np.float32:
        raise c.error(f'{c.dtype}: ONNX supports float32 only')
    if c['in_format'] != c['out_format']:
        raise c.error('in_format and out_format that differ')
    if c['background_id'] >= 0:
        raise c.error('background_id')
    count, width = c.fixed(c.shape[-2:], 'the number of boxes')
    rows = c.reshape(c.x, (-1, count, width))

    def column(number):
        return c.squeeze(c.slice(rows, [2], [number], [number + 1]), 2)
    score = column(c['score_index'])
    boxes = c.slice(rows, [2], [c['coord_start']], [c['coord_start'] + 4])
    if c['in_format'] == 'center':
        boxes = _corners(c, boxes)
    if c['id_index'] >= 0 and not c['force_suppress']:
        # boxes of other classes are moved away, so that they do not overlap
        reach = c.op('Add', c.op('ReduceMax', c.op('Abs', boxes), keepdims=0), c.scalar(1))
        away = c.op('Mul', column(c['id_index']), c.op('Mul', reach, c.scalar(2)))
        boxes = c.op('Add', boxes, c.unsqueeze(away, 2))
    candidate = score
    if 0 < c['topk'] < count:
        best, _ = c.op('TopK', score, c.ints([c['topk']]), outputs=2, axis=1)
        least = c.slice(best, [1], [c['topk'] - 1], [c['topk']])
        candidate = c.op('Where', c.op('Less', score, least), c.scalar(LOWEST), score)
    kept = c.op('NonMaxSuppression', boxes, c.unsqueeze(candidate, 1), c.ints([count]),
                c.const([c['overlap_thresh']], np.float32), c.const([c['valid_thresh']], np.float32))
    place = c.op('Gather', kept, c.ints([0, 2]), axis=1)              # (number of the picture, number of the box)
    ones = c.op('Expand', c.const([1.0], np.float32), c.slice(c.op('Shape', place), [0], [0], [1]))
    mask = c.op('ScatterND', c.op('Mul', score, c.scalar(0)), place, ones)
    ranked = c.op('Where', c.op('Greater', mask, c.scalar(0)), score, c.scalar(LOWEST))
    _, order = c.op('TopK', ranked, c.ints([count]), outputs=2, axis=1)
    order = c.unsqueeze(order, 2)
    sorted_rows = c.op('GatherND', rows, order, batch_dims=1)
    valid = c.unsqueeze(c.op('Greater', c.op('GatherND', mask, order, batch_dims=1), c.scalar(0)), 2)
    found = c.op('Where', valid, sorted_rows, c.scalar(-1))
    return c.op('Reshape', found, c.op('Shape', c.x))


@translates('_contrib_MultiBoxPrior')
def anchors(c):
    """They depend on the size of the map only, so they are a constant."""
    size = c.fixed(c.shape[2:], 'the size of the map')
    known = {name: c[name] for name in ('sizes', 'ratios', 'clip', 'steps', 'offsets')}
    values = nd.contrib.MultiBoxPrior(nd.zeros((1, 1, *size)), **known).asnumpy()
    return c.op('Identity', c.const(values, c.out_dtypes[0]))


@translates('_contrib_MultiBoxDetection')
def multibox_detection(c):
    """Rows by score; the class of those that NonMaxSuppression does not keep is -1."""
    count = c.fixed(c.shapes[0][2:], 'the number of anchors')[0]
    offsets = c.op('Mul', c.reshape(c.inputs[1], (-1, count, 4)), c.scalar(list(c['variances'])))
    place, size = _halves(c, _centres(c, c.inputs[2]))
    shift, scale = _halves(c, offsets)
    middle = c.op('Add', c.op('Mul', shift, size), place)
    half = c.op('Mul', c.op('Mul', c.op('Exp', scale), size), c.scalar(0.5))
    boxes = c.op('Concat', c.op('Sub', middle, half), c.op('Add', middle, half), axis=-1)
    if c['clip']:
        boxes = c.op('Clip', boxes, c.scalar(0), c.scalar(1))
    classes = c.slice(c.x, [1], [1], [np.iinfo(np.int64).max])
    score = c.op('ReduceMax', classes, axes=[1], keepdims=0)
    which = c.cast(c.op('ArgMax', classes, axis=1, keepdims=0), c.dtype)
    valid = c.op('Not', c.op('Less', score, c.scalar(c['threshold'])))
    rows = c.op('Concat', c.unsqueeze(which, 2), c.unsqueeze(score, 2), boxes, axis=2)
    rows = c.op('Where', c.unsqueeze(valid, 2), rows, c.scalar(-1))

    def sorted_by(key, *arrays):
        _, order = c.op('TopK', key, c.ints([count]), outputs=2, axis=1)
        order = c.unsqueeze(order, 2)
        return [c.op('GatherND', array, order, batch_dims=1) for array in arrays]
    # detections to the front, in their order
    number = np.arange(count, dtype=c.dtype)
    packed, = sorted_by(c.op('Where', valid, c.scalar(2 * count - number), c.scalar(count - number)), rows)
    if not 0 < c['nms_threshold'] <= 1:
        return packed
    ranked, there = sorted_by(c.op('Where', valid, score, c.scalar(LOWEST)), rows, valid)
    if 0 < c['nms_topk'] < count:
        # those beyond stay where they were
        there = c.op('And', there, c.const(number < c['nms_topk']))
        ranked = c.op('Where', c.unsqueeze(there, 2), ranked, packed)
    corners, least = c.slice(ranked, [2], [2], [6]), LOWEST / 2
    if not c['force_suppress']:
        reach = c.op('Add', c.op('ReduceMax', c.op('Abs', corners), keepdims=0), c.scalar(1))
        corners = c.op('Add', corners, c.op('Mul', c.slice(ranked, [2], [0], [1]), c.op('Mul', reach, c.scalar(2))))
    scores = c.op('Where', there, c.squeeze(c.slice(ranked, [2], [1], [2]), 2), c.scalar(LOWEST))
    # boxes that overlap by the threshold itself go, too
    limit = np.nextafter(np.float32(c['nms_threshold']), np.float32(0))
    kept = c.op('NonMaxSuppression', corners, c.unsqueeze(scores, 1), c.ints([count]), c.const([limit], np.float32),
                c.const([least], np.float32))
    place = c.op('Gather', kept, c.ints([0, 2]), axis=1)
    ones = c.op('Expand', c.const([1.0], np.float32), c.slice(c.op('Shape', place), [0], [0], [1]))
    mask = c.op('ScatterND', c.op('Mul', scores, c.scalar(0)), place, ones)
    named = c.op('Where', c.op('Greater', c.unsqueeze(mask, 2), c.scalar(0)), c.slice(ranked, [2], [0], [1]),
                 c.scalar(-1))
    return c.op('Concat', named, c.slice(ranked, [2], [1], [6]), axis=2)


# ---------------------------------------------------------------------- sampling
def _sampled(c, data, grid):
    return c.op('GridSample', data, grid, mode='bilinear', padding_mode='zeros', align_corners=1)


def _affine(c, numbers, size):
    """The grid (batch, height, width, 2) that six numbers for each picture give."""
    height, width = size
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing='ij')
    points = np.stack((x.ravel(), y.ravel(), np.ones(height * width)))             # (3, height * width)
    found = c.op('MatMul', c.reshape(numbers, (-1, 2, 3)), c.const(points, c.dtype))
    return c.reshape(c.transpose(found, 0, 2, 1), (-1, height, width, 2))


@translates('BilinearSampler')
def bilinear_sampler(c):
    return _sampled(c, c.x, c.transpose(c.inputs[1], 0, 2, 3, 1))


@translates('SpatialTransformer')
def spatial_transformer(c):
    return _sampled(c, c.x, _affine(c, c.inputs[1], c['target_shape']))


@translates('GridGenerator')
def grid_generator(c):
    if c['transform_type'] != 'affine':
        raise c.error(f'transform_type={c["transform_type"]!r}')
    return c.transpose(_affine(c, c.x, c['target_shape']), 0, 3, 1, 2)
