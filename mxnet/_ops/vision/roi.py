"""Features of regions: pooling and aligned sampling of boxes on a feature map.

Aligned variants read at fractional places.  Each output is a weighted sum of some pixels, which is what an embedding
bag computes: pixels are the rows of a table, and nothing of the size of all samples is ever stored.

`rois` never receive a gradient.
"""
import math

import torch
from torch.nn import functional as F

from ...base import MXNetError
from ..core.attributes import Shape
from ..core.library import define
from ..core.table import operator
from ..tensor.gather import within

_SAMPLES_AT_ONCE = 1 << 24
_MOST_OUTSIDE = 4       # areas of the map that a region may have to be copied for


def _check(name, data, rois, columns, pooled_size=(1, 1)):
    if data.dim() != 4 or rois.dim() != 2 or rois.shape[1] not in columns:
        raise MXNetError(f'operator {name}: data has shape {tuple(data.shape)} and rois {tuple(rois.shape)}; they must '
                         f'be (batch, channels, height, width) and (regions, {" or ".join(map(str, columns))})')
    if len(pooled_size) != 2 or min(pooled_size) < 1:
        raise MXNetError(f'operator {name}: pooled_size={pooled_size} is not accepted; it takes (height, width), both '
                         'at least 1')


def _rounded(values):
    # halves go away from zero
    return values.sign() * (values.abs() + 0.5).floor()


def _floats(rois):
    rois = rois.detach()
    return rois if rois.dtype in (torch.float32, torch.float64) else rois.float()


# ---------------------------------------------------------------------- maximum of each part
@operator(aliases=('_npx_roi_pooling',), hidden=1)
def ROIPooling(data, rois, *, pooled_size: Shape, spatial_scale: float):
    """The maximum in each of `pooled_size` (height, width) parts of each region: (regions, channels, height, width).

    `rois` has rows (image, xmin, ymin, xmax, ymax) in pixels of the image; `spatial_scale` is the size of the feature
    map over that of the image.  Corners are rounded to whole pixels, which belong to the region.  Parts that are empty
    and regions of an image that does not exist are 0.
    """
    _check('ROIPooling', data, rois, (5,), pooled_size)
    channels, area = data.shape[1], data.shape[2] * data.shape[3]
    place = _highest(data.detach(), _floats(rois), *pooled_size, spatial_scale)
    plane = rois[:, :1].detach().long() * channels + torch.arange(channels, device=data.device)
    values = data.reshape(-1).take((plane[..., None, None] * area + place).clamp(0, data.numel() - 1))
    return torch.where(place >= 0, values, 0.0)


def _search(data, rois, tall, wide, scale):
    """Where in its plane each maximum is: (regions, channels, tall, wide); -1 where there is none."""
    images, channels, height, width = data.shape
    if data.dtype not in (torch.float32, torch.float64):
        data = data.float()
    result = torch.full((rois.shape[0], channels, tall, wide), -1, dtype=torch.int64, device=data.device)
    corners = _rounded(rois[:, 1:] * scale).long().tolist()
    for number, (image, (left, top, right, bottom)) in enumerate(zip(rois[:, 0].long().tolist(), corners)):
        if not 0 <= image < images:
            continue
        right, bottom = max(right, left), max(bottom, top)
        if left >= 0 and top >= 0 and right < width and bottom < height:
            part = data[image, :, top:bottom + 1, left:right + 1]
            at = F.adaptive_max_pool2d(part, (tall, wide), return_indices=True)[1]
            across = right - left + 1
            result[number] = (at // across + top) * width + at % across + left
            continue
        down, across = bottom - top + 1, right - left + 1
        rows = slice(min(max(top, 0), height), max(min(bottom + 1, height), 0))
        columns = slice(min(max(left, 0), width), max(min(right + 1, width), 0))
        if down * across <= _MOST_OUTSIDE * height * width and rows.start < rows.stop and columns.start < columns.stop:
            # what is outside is smaller than everything
            part = data.new_full((channels, down, across), -math.inf)
            part[:, rows.start - top:rows.stop - top, columns.start - left:columns.stop - left] = \
                data[image, :, rows, columns]
            _, at = F.adaptive_max_pool2d(part, (tall, wide), return_indices=True)
            y, x = at // across + top, at % across + left
            inside = (rows.start <= y) & (y < rows.stop) & (columns.start <= x) & (x < columns.stop)
            result[number] = torch.where(inside, y * width + x, -1)
            continue
        for i, rows in enumerate(_parts(top, bottom, tall, height)):
            for j, columns in enumerate(_parts(left, right, wide, width)):
                across = columns.stop - columns.start
                if rows.stop > rows.start and across > 0:
                    at = data[image, :, rows, columns].flatten(1).argmax(1)
                    result[number, :, i, j] = (at // across + rows.start) * width + at % across + columns.start
    return result


_highest = define('roi_highest(Tensor data, Tensor rois, int tall, int wide, float scale) -> Tensor', _search,
                  lambda data, rois, tall, wide, scale:
                  data.new_empty((rois.shape[0], data.shape[1], tall, wide), dtype=torch.int64))


def _parts(first, last, parts, limit):
    length = last - first + 1
    return [slice(min(max(first + i * length // parts, 0), limit),
                  min(max(first - (-(i + 1) * length // parts), 0), limit)) for i in range(parts)]


# ---------------------------------------------------------------------- aligned: bilinear samples
def _grid(start, size, parts, samples, counts):
    """Places (regions, parts, samples) along one axis, and their share of a part's mean; none beyond `counts`."""
    step = size / parts
    at = torch.arange(parts, device=start.device)[:, None] + \
        (torch.arange(samples, device=start.device) + 0.5) / counts[:, None, None]
    share = (torch.arange(samples, device=start.device) < counts[:, None, None]) / counts[:, None, None]
    return start[:, None, None] + step[:, None, None] * at, share.expand(-1, parts, -1)


def _neighbours(at, share, limit):
    """The two pixels around each place along one axis, and their weights: none more than a pixel outside."""
    share = torch.where((at >= -1) & (at <= limit), share, 0.0)
    at = at.clamp(0, limit - 1)
    low = at.floor()
    part = at - low
    return _pixels(low, (low + 1).clamp_max(limit - 1)), torch.stack((1 - part, part), -1) * share[..., None]


def _pixels(*edges):
    """Pixels as indices.  Of a place that is NaN, as in training that has diverged, any will do: its weight is NaN."""
    return torch.stack(edges, -1).nan_to_num(0).long()


def _bags(table, rows, weights):
    """Weighted sums of rows of a table: (..., n) places and weights -> (..., width)."""
    if table.shape[1] == 1:             # bags are for wide rows
        return (table[:, 0].index_select(0, rows.reshape(-1)).reshape(rows.shape) * weights).sum(-1, keepdim=True) \
            .to(table.dtype)
    sums = F.embedding_bag(rows.reshape(-1, rows.shape[-1]), table, mode='sum',
                           per_sample_weights=weights.to(table.dtype).reshape(-1, rows.shape[-1]))
    return sums.reshape(*rows.shape[:-1], table.shape[1])


def _image_rows(image, images):
    """Image numbers that exist, and which ones were that."""
    there = (image >= 0) & (image < images)
    return torch.where(there, image, 0).long(), there


def _samples(ratio, sizes, pooled_size):
    """Samples of each part along y and x: (most along y, along x, counts along y, along x)."""
    counts = [torch.full_like(s, float(ratio)) if ratio > 0 else (s / p).ceil().clamp_min(1)
              for s, p in zip(sizes, pooled_size)]
    if ratio > 0:
        return ratio, ratio, *counts
    # as many as pixels: how many that are depends on the regions
    if sizes[0].device.type == 'meta' or sizes[0].numel() == 0:
        return 1, 1, *counts
    return int(counts[0].max()), int(counts[1].max()), *counts


@operator('_contrib_ROIAlign')
def ROIAlign(data, rois, *, pooled_size: Shape, spatial_scale: float, sample_ratio: int = -1,
             position_sensitive: bool = False, aligned: bool = False):
    """The mean of bilinear samples in each of `pooled_size` (height, width) parts of each region.

    `rois` has rows (image, xmin, ymin, xmax, ymax); `spatial_scale` is the size of the feature map over that of the
    image.  A part has `sample_ratio` times `sample_ratio` samples, or about one a pixel if that is not positive.
    `aligned` takes pixels as points at half coordinates; without, regions are at least one pixel large.  With
    `position_sensitive` each part reads channels of its own.
    """
    _check('_contrib_ROIAlign', data, rois, (5,), pooled_size)
    tall, wide = pooled_size
    images, channels, height, width = data.shape
    parts = tall * wide if position_sensitive else 1
    if channels % parts:
        raise MXNetError(f'operator _contrib_ROIAlign: data has {channels} channels; with position_sensitive it must '
                         f'be a multiple of the {parts} parts')
    rois = _floats(rois)
    image, there = _image_rows(rois[:, 0], images)
    left, top, right, bottom = (rois[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)).unbind(1)
    size_x, size_y = right - left, bottom - top
    if not aligned:
        size_x, size_y = size_x.clamp_min(1), size_y.clamp_min(1)
    most_y, most_x, count_y, count_x = _samples(sample_ratio, (size_y, size_x), pooled_size)
    at_y, share_y = _grid(top, size_y, tall, most_y, count_y)
    at_x, share_x = _grid(left, size_x, wide, most_x, count_x)
    y, weight_y = _neighbours(at_y, share_y, height)
    x, weight_x = _neighbours(at_x, share_x, width)
    each = channels // parts
    table = data.reshape(images, each, parts, height * width).permute(0, 2, 3, 1).reshape(-1, each)
    plane = image[:, None, None] * parts
    if position_sensitive:
        plane = plane + torch.arange(parts, device=data.device).reshape(tall, wide)
    weight_y = weight_y * there[:, None, None, None]
    return _means(table, plane, (y, weight_y, height), (x, weight_x, width)).permute(0, 3, 1, 2).contiguous()


def _means(table, plane, along_y, along_x):
    """Weighted sums (regions, parts along y, along x, width of the table) of samples on the planes of a table.

    along_y, along_x: pixels and their weights (regions, parts, samples, 2), and how many pixels there are
    """
    (y, weight_y, height), (x, weight_x, width) = along_y, along_x
    y, x, weight_y, weight_x = y.flatten(2), x.flatten(2), weight_y.flatten(2), weight_x.flatten(2)
    # samples of some regions at a time
    few = max(1, _SAMPLES_AT_ONCE // max(1, y[0:1].numel() * x[0:1].numel()))
    sums = []
    for first in range(0, max(1, len(y)), few):
        some = slice(first, first + few)
        rows = (plane[some, ..., None, None] * height + y[some, :, None, :, None]) * width + x[some, None, :, None, :]
        weights = weight_y[some, :, None, :, None] * weight_x[some, None, :, None, :]
        sums.append(_bags(table, rows.flatten(3), weights.flatten(3)))
    return sums[0] if len(sums) == 1 else torch.cat(sums)


@operator('_contrib_mrcnn_mask_target', outputs=('output0', 'output1'))
def mrcnn_mask_target(rois, gt_masks, matches, cls_targets, *, num_rois: int, num_classes: int, mask_size: Shape,
                      sample_ratio: int = 2, aligned: bool = False):
    """Targets of the masks of Mask R-CNN: the part of its object's mask in each region, and what counts in a loss.

    `rois` (batch, regions, 4) has rows (xmin, ymin, xmax, ymax) in pixels of `gt_masks` (batch, objects, height,
    width); `matches` (batch, regions) tells which object a region belongs to, `cls_targets` (batch, regions) its class.
    The result, and a mask with 1 in the plane of that class and 0 in all others, have shape (batch, regions,
    num_classes, *mask_size).  A pixel is the mean of `sample_ratio` times `sample_ratio` bilinear samples, or of about
    one a pixel of the mask if that is not positive; `aligned` takes pixels as points at half coordinates.
    """
    name = '_contrib_mrcnn_mask_target'
    batch, regions = rois.shape[0], rois.shape[1] if rois.dim() == 3 else -1
    if rois.shape != (batch, num_rois, 4) or gt_masks.dim() != 4 or gt_masks.shape[0] != batch \
            or matches.shape != (batch, regions) or cls_targets.shape != (batch, regions):
        raise MXNetError(f'operator {name}: rois, gt_masks, matches and cls_targets have shapes {tuple(rois.shape)}, '
                         f'{tuple(gt_masks.shape)}, {tuple(matches.shape)} and {tuple(cls_targets.shape)}; they must '
                         f'be (batch, {num_rois}, 4), (batch, objects, height, width), (batch, {num_rois}) and (batch, '
                         f'{num_rois})')
    if len(mask_size) != 2 or min(mask_size) < 1:
        raise MXNetError(f'operator {name}: mask_size={mask_size} is not accepted; it takes (height, width), both at '
                         'least 1')
    objects, height, width = gt_masks.shape[1:]
    masks, boxes = gt_masks.detach(), _floats(rois).reshape(-1, 4) - (0.5 if aligned else 0.0)
    left, top, right, bottom = boxes.unbind(1)
    size_x, size_y = right - left, bottom - top
    if not aligned:
        size_x, size_y = size_x.clamp_min(1), size_y.clamp_min(1)
    most_y, most_x, count_y, count_x = _samples(sample_ratio, (size_y, size_x), mask_size)
    at_y, share_y = _grid(top, size_y, mask_size[0], most_y, count_y)
    at_x, share_x = _grid(left, size_x, mask_size[1], most_x, count_x)
    y, x = _neighbours(at_y, share_y, height), _neighbours(at_x, share_x, width)
    image = torch.arange(batch, device=masks.device)[:, None] * objects
    plane = (image + within(matches.detach(), objects)).reshape(-1, 1, 1)
    sampled = _means(masks.reshape(-1, 1), plane, (*y, height), (*x, width))
    shape = (batch, regions, num_classes, *mask_size)
    counts = cls_targets.detach().reshape(batch, regions, 1, 1, 1) == \
        torch.arange(num_classes, device=masks.device).reshape(-1, 1, 1)
    return sampled.reshape(batch, regions, 1, *mask_size).expand(shape).to(masks.dtype).contiguous(), \
        counts.expand(shape).to(masks.dtype).contiguous()


@operator('_contrib_RROIAlign', same_dtype=('data', 'rois'))
def RROIAlign(data, rois, *, pooled_size: Shape, spatial_scale: float, sampling_ratio: int = -1):
    """`ROIAlign` of rotated regions: rows (image, centre x, centre y, width, height, angle in degrees)."""
    _check('_contrib_RROIAlign', data, rois, (6,), pooled_size)
    tall, wide = pooled_size
    images, channels, height, width = data.shape
    rois = _floats(rois)
    image, there = _image_rows(rois[:, 0], images)
    centre_x, centre_y, size_x, size_y = (rois[:, 1:5] * spatial_scale).unbind(1)
    size_x, size_y = size_x.clamp_min(1), size_y.clamp_min(1)
    most_y, most_x, count_y, count_x = _samples(sampling_ratio, (size_y, size_x), pooled_size)
    along_y, share_y = _grid(-size_y / 2, size_y, tall, most_y, count_y)
    along_x, share_x = _grid(-size_x / 2, size_x, wide, most_x, count_x)
    along_y, share_y = along_y[:, :, None, :, None], share_y[:, :, None, :, None]
    along_x, share_x = along_x[:, None, :, None, :], share_x[:, None, :, None, :]
    angle = (rois[:, 5] * (torch.pi / 180)).reshape(-1, 1, 1, 1, 1)
    cos, sin = angle.cos(), angle.sin()
    x = along_x * cos + along_y * sin + centre_x.reshape(angle.shape)
    y = along_y * cos - along_x * sin + centre_y.reshape(angle.shape)
    y, weight_y = _neighbours(y, share_y.expand(y.shape), height)
    x, weight_x = _neighbours(x, share_x.expand(x.shape), width)
    rows = y[..., :, None] * width + x[..., None, :] + image.reshape(-1, 1, 1, 1, 1, 1, 1) * (height * width)
    weights = weight_y[..., :, None] * weight_x[..., None, :] * there.reshape(-1, 1, 1, 1, 1, 1, 1)
    table = data.permute(0, 2, 3, 1).reshape(-1, channels)
    return _bags(table, rows.flatten(3), weights.flatten(3)).permute(0, 3, 1, 2).contiguous()


# ---------------------------------------------------------------------- position sensitive: a channel for each part
def _whole_pixels(rois, spatial_scale, shift=0.0):
    """(left, top) and (width, height) of regions whose corners are rounded and whose last pixel is part of them."""
    corners = _rounded(rois[:, 1:])
    start, end = corners[:, :2] * spatial_scale, (corners[:, 2:] + 1) * spatial_scale
    if shift:
        start, end = start - shift, end - shift
    return start, (end - start).clamp_min(0.1)


def _groups(name, data, output_dim, group_size, pooled_size):
    """Which of the `group_size` parts of the channels each of the pooled parts reads."""
    if data.shape[1] != output_dim * group_size * group_size:
        raise MXNetError(f'operator {name}: data has {data.shape[1]} channels; output_dim={output_dim} and '
                         f'group_size={group_size} need {output_dim * group_size * group_size}')
    return torch.arange(pooled_size, device=data.device) * group_size // pooled_size


@operator('_contrib_PSROIPooling', hidden=1)
def PSROIPooling(data, rois, *, spatial_scale: float, output_dim: int, pooled_size: int, group_size: int = 0):
    """The mean in each of `pooled_size` x `pooled_size` parts of each region, from channels that belong to the part.

    `data` has output_dim * group_size**2 channels; `group_size` is `pooled_size` where it is 0.
    """
    name = '_contrib_PSROIPooling'
    _check(name, data, rois, (5,), (pooled_size, pooled_size))
    groups = group_size or pooled_size
    group = _groups(name, data, output_dim, groups, pooled_size)
    images, channels, height, width = data.shape
    rois = _floats(rois)
    image, there = _image_rows(rois[:, 0], images)
    start, size = _whole_pixels(rois, spatial_scale)
    part = torch.arange(pooled_size, device=data.device)
    step, start = (size / pooled_size)[..., None], start[..., None]
    x0, y0 = (part * step + start).floor().nan_to_num(0).long().unbind(1)
    x1, y1 = ((part + 1) * step + start).ceil().nan_to_num(0).long().unbind(1)
    (x0, x1), (y0, y1) = ([edge.clamp(0, limit) for edge in pair] for pair, limit in (((x0, x1), width),
                                                                                     ((y0, y1), height)))
    # sums over rectangles are differences of sums from the corner; doubles, since these sums grow large
    table = F.pad(data.double().cumsum(2).cumsum(3), (1, 0, 1, 0)).reshape(-1)
    channel = (torch.arange(output_dim, device=data.device)[:, None, None] * groups + group[:, None]) * groups + group
    plane = (image.reshape(-1, 1, 1, 1) * channels + channel) * ((height + 1) * (width + 1))

    above, below = (plane + (y * (width + 1))[:, None, :, None] for y in (y0, y1))
    left, right = x0[:, None, None, :], x1[:, None, None, :]
    total = table.take(below + right) - table.take(above + right) - table.take(below + left) + table.take(above + left)
    tall, wide = (y1 - y0)[:, None, :, None], (x1 - x0)[:, None, None, :]
    area, filled = tall * wide, (tall > 0) & (wide > 0) & there.reshape(-1, 1, 1, 1)
    return torch.where(filled, total / area.clamp_min(1), 0.0).to(data.dtype)


@operator('_contrib_DeformablePSROIPooling', hidden=1, optional={'trans': lambda a: not a['no_trans']})
def DeformablePSROIPooling(data, rois, trans=None, *, spatial_scale: float, output_dim: int, group_size: int,
                           pooled_size: int, part_size: int = 0, sample_per_part: int = 1, trans_std: float = 0.0,
                           no_trans: bool = False):
    """`PSROIPooling` of bilinear samples, whose parts are shifted by `trans` (regions, 2 * classes, parts, parts).

    Shifts are in units of the region's size times `trans_std`, x before y; they have gradients.
    """
    name = '_contrib_DeformablePSROIPooling'
    _check(name, data, rois, (5,), (pooled_size, pooled_size))
    group = _groups(name, data, output_dim, group_size, pooled_size)
    images, _, height, width = data.shape
    count = rois.shape[0]
    parts = part_size or pooled_size
    classes = 1 if no_trans else trans.shape[1] // 2
    if output_dim % classes or (not no_trans and trans.shape != (count, 2 * classes, parts, parts)):
        raise MXNetError(f'operator {name}: trans has shape {tuple(trans.shape)}; it must be ({count}, 2 * classes, '
                         f'{parts}, {parts}), and output_dim={output_dim} a multiple of the classes')
    each = output_dim // classes
    rois = _floats(rois)
    image, there = _image_rows(rois[:, 0], images)
    left, top, size_x, size_y = (v.reshape(-1, 1, 1, 1, 1, 1) for pair in _whole_pixels(rois, spatial_scale, 0.5)
                                 for v in pair.unbind(1))
    part = torch.arange(pooled_size, device=data.device)
    sample = torch.arange(sample_per_part, device=data.device) / sample_per_part
    # axes: region, class, part along y, part along x, sample along y, sample along x
    x = left + (part[:, None, None] + sample) * (size_x / pooled_size)
    y = top + (part[:, None, None, None] + sample[:, None]) * (size_y / pooled_size)
    if not no_trans:
        place = part * parts // pooled_size
        shift = trans.reshape(count, classes, 2, parts, parts)[..., place[:, None], place] * trans_std
        x = x + shift[:, :, 0, :, :, None, None] * size_x
        y = y + shift[:, :, 1, :, :, None, None] * size_y
    inside = (x >= -0.5) & (x <= width - 0.5) & (y >= -0.5) & (y <= height - 0.5) & there.reshape(left.shape)
    share = inside / inside.sum((-2, -1), keepdim=True).clamp_min(1)
    x, weight_x = _between(x, width)
    y, weight_y = _between(y, height)
    weights = weight_y[..., :, None] * weight_x[..., None, :] * share[..., None, None]
    kind = torch.arange(classes, device=data.device).reshape(-1, 1, 1)
    plane = ((image.reshape(-1, 1, 1, 1) * classes + kind) * group_size + group[:, None]) * group_size + group
    rows = (plane[..., None, None, None, None] * height + y[..., :, None]) * width + x[..., None, :]
    table = data.reshape(images, classes, each, group_size, group_size, height, width)
    table = table.permute(0, 1, 3, 4, 5, 6, 2).reshape(-1, each)
    rows, weights = torch.broadcast_tensors(rows, weights)
    sums = _bags(table, rows.flatten(4), weights.flatten(4))
    return sums.permute(0, 1, 4, 2, 3).reshape(count, output_dim, pooled_size, pooled_size)


def _between(at, limit):
    at = at.clamp(0, limit - 1)
    low = at.detach().floor()
    part = at - low
    return _pixels(low, at.detach().ceil()), torch.stack((1 - part, part), -1)
