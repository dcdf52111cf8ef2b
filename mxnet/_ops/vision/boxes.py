"""Bounding boxes: overlaps, suppression, matching, encoding."""
from typing import Literal

import torch

from ...base import MXNetError
from ..core.checks import in_range
from ..core.gradients import clamp_max
from ..core.table import operator
from .nms import centres, corners, iou, suppress

Format = Literal['center', 'corner']


@operator('_contrib_box_iou', same_dtype=('lhs', 'rhs'))
def box_iou(lhs, rhs, *, format: Format = 'corner'):
    """Intersection over union of every box of `lhs` (..., 4) with every one of `rhs`; it sends no gradient back.

    The result has the shape lhs.shape[:-1] + rhs.shape[:-1].  Boxes are (xmin, ymin, xmax, ymax), or with
    format='center' (x, y, width, height).
    """
    for name, boxes in (('lhs', lhs), ('rhs', rhs)):
        if boxes.dim() < 2 or boxes.shape[-1] != 4:
            raise MXNetError(f'operator _contrib_box_iou: {name} has shape {tuple(boxes.shape)}; it needs at least two '
                             'axes, and 4 coordinates along the last')
    shape = (*lhs.shape[:-1], *rhs.shape[:-1])
    lhs, rhs = lhs.detach().reshape(-1, 4), rhs.detach().reshape(-1, 4)
    if format == 'center':
        lhs, rhs = corners(lhs), corners(rhs)
    return iou(lhs, rhs).reshape(shape)


@operator('_contrib_box_nms', aliases=('_contrib_box_non_maximum_suppression',), outputs=('output0',), hidden=1)
def box_nms(data, *, overlap_thresh: float = 0.5, valid_thresh: float = 0.0, topk: int = -1, coord_start: int = 2,
            score_index: int = 1, id_index: int = -1, background_id: int = -1, force_suppress: bool = False,
            in_format: Format = 'corner', out_format: Format = 'corner'):
    """Boxes by falling score without those that overlap a better one by more than `overlap_thresh`.

    `data` is (..., boxes, values): a box has its score at `score_index`, four coordinates from `coord_start` on and,
    where `id_index` is not negative, a class; other classes do not suppress it unless `force_suppress`.  Scores up to
    `valid_thresh` and the class `background_id` are dropped, as are all but the best `topk`.  The rows that are left
    stand first, all other rows are -1.  Gradients go back to where a row came from.
    """
    name = '_contrib_box_nms'
    _check_columns(name, data, coord_start, score_index, id_index)
    count, width = data.shape[-2:]
    most = count if topk < 0 else min(count, topk)
    if most < 1:
        return data.clone()
    rows = data.reshape(-1, count, width)
    scores = rows[..., score_index].detach()
    valid = scores > valid_thresh
    if id_index >= 0:
        valid = valid & (rows[..., id_index] != background_id)
    order = torch.where(valid, scores, -torch.inf).sort(dim=1, descending=True, stable=True).indices[:, :most]
    best = _pick(rows.detach(), order)
    boxes = best[..., coord_start:coord_start + 4]
    group = best[..., id_index].trunc() if id_index >= 0 and not force_suppress else None
    kept = suppress(corners(boxes) if in_format == 'center' else boxes, group, valid.gather(1, order), overlap_thresh)
    first = (~kept).sort(dim=1, stable=True).indices
    kept, order = kept.gather(1, first), order.gather(1, first)
    out = _pick(rows, order)
    if in_format != out_format:
        turn = centres if out_format == 'center' else corners
        coordinates = turn(out[..., coord_start:coord_start + 4])
        out = torch.cat((out[..., :coord_start], coordinates, out[..., coord_start + 4:]), -1)
    out = torch.where(kept[..., None], out, -1.0)
    if most < count:
        out = torch.nn.functional.pad(out, (0, 0, 0, count - most), value=-1.0)
    return out.reshape(data.shape)


def _check_columns(name, data, coord_start, score_index, id_index):
    if data.dim() < 2:
        raise MXNetError(f'operator {name}: data has shape {tuple(data.shape)}; it must be (..., boxes, values)')
    width = data.shape[-1]
    taken = set(range(coord_start, coord_start + 4))
    places = {'score_index': score_index} | ({'id_index': id_index} if id_index >= 0 else {})
    if coord_start < 0 or coord_start + 4 > width:
        raise MXNetError(f'operator {name}: coord_start={coord_start} is not accepted; rows have {width} values, '
                         'of which four are coordinates')
    for argument, place in places.items():
        if not 0 <= place < width or place in taken:
            raise MXNetError(f'operator {name}: {argument}={place} is not accepted; rows have {width} values, of which '
                             f'{coord_start} to {coord_start + 3} are coordinates')
        taken.add(place)


def _pick(rows, order):
    return rows.gather(1, order[..., None].expand(-1, -1, rows.shape[-1]))


@operator('_contrib_bipartite_matching', outputs=('output0', 'output1'))
def bipartite_matching(data, *, is_ascend: bool = False, threshold: float, topk: int = -1):
    """Matches rows with columns of a matrix of scores, best score first, each at most once.

    The first result has the column of each row, the second the row of each column; -1 means none.  Scores that are not
    above `threshold` do not match; with `is_ascend` low scores are the good ones.  As upstream does, a positive `topk`
    ends it after topk + 1 matches.
    """
    if data.dim() < 2:
        raise MXNetError(f'operator _contrib_bipartite_matching: data has shape {tuple(data.shape)}; it must be '
                         '(..., rows, columns)')
    rows, columns = data.shape[-2:]
    scores = data.detach().reshape(-1, rows * columns)
    scores, threshold = (-scores, -threshold) if is_ascend else (scores, threshold)
    matches = min(rows, columns) if topk <= 0 else min(rows, columns, topk + 1)
    of_row = scores.new_full((scores.shape[0], rows), -1)
    of_column = scores.new_full((scores.shape[0], columns), -1)
    at_row, at_column = torch.arange(rows, device=data.device), torch.arange(columns, device=data.device)
    for _ in range(matches):
        best, where = scores.max(1, keepdim=True)
        row, column = where // columns, where % columns
        good = best > threshold
        this_row, this_column = (at_row == row) & good, (at_column == column) & good
        of_row = torch.where(this_row, column.to(of_row.dtype), of_row)
        of_column = torch.where(this_column, row.to(of_column.dtype), of_column)
        gone = this_row[:, :, None] | this_column[:, None, :]
        scores = scores.masked_fill(gone.reshape(scores.shape), -torch.inf)
    return of_row.reshape(data.shape[:-1]), of_column.reshape(*data.shape[:-2], columns)


@operator('_contrib_box_encode', outputs=('output0', 'output1'))
def box_encode(samples, matches, anchors, refs, means, stds):
    """Training targets of box regression: offsets of the matched `refs` from `anchors`, and a mask of what counts.

    `samples` (batch, anchors) is above 0.5 where an anchor is a positive sample, `matches` tells which of `refs`
    (batch, boxes, 4) is its box.  Boxes are (xmin, ymin, xmax, ymax); `means` and `stds` normalise the four offsets.
    """
    for name, boxes in (('anchors', anchors), ('refs', refs)):
        if boxes.dim() != 3 or boxes.shape[-1] != 4:
            raise MXNetError(f'operator _contrib_box_encode: {name} has shape {tuple(boxes.shape)}; it must be '
                             '(batch, boxes, 4)')
    samples, matches, anchors, refs = samples.detach(), matches.detach(), anchors.detach(), refs.detach()
    matches = in_range('_contrib_box_encode', 'matches', matches.long().clamp_min(0), refs.shape[1])
    matched = centres(_pick(refs, matches))
    own = centres(anchors)
    offsets = torch.cat(((matched[..., :2] - own[..., :2]) / own[..., 2:], (matched[..., 2:] / own[..., 2:]).log()), -1)
    positive = (samples > 0.5)[..., None].expand(anchors.shape)
    targets = torch.where(positive, (offsets - means.detach()) / stds.detach(), 0.0)
    return targets.to(anchors.dtype), positive.to(anchors.dtype)


@operator('_contrib_box_decode')
def box_decode(data, anchors, *, std0: float = 1.0, std1: float = 1.0, std2: float = 1.0, std3: float = 1.0,
               clip: float = -1.0, format: Format = 'center'):
    """Boxes (xmin, ymin, xmax, ymax) from predicted offsets `data` (batch, boxes, 4) and `anchors` (1, boxes, 4).

    `format` tells how the anchors are given.  A positive `clip` limits the logarithms of the scales.
    """
    for name, boxes in (('data', data), ('anchors', anchors)):
        if boxes.dim() != 3 or boxes.shape[-1] != 4:
            raise MXNetError(f'operator _contrib_box_decode: {name} has shape {tuple(boxes.shape)}; it must be '
                             '(batch, boxes, 4)')
    own = centres(anchors) if format == 'corner' else anchors
    shift = data[..., :2] * data.new_tensor((std0, std1)) * own[..., 2:] + own[..., :2]
    scale = data[..., 2:] * data.new_tensor((std2, std3))
    if clip > 0:
        scale = clamp_max(scale, clip)
    half = scale.exp() * own[..., 2:] * 0.5
    return torch.cat((shift - half, shift + half), -1)
