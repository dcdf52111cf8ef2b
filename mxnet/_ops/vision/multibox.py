"""Anchors of single-shot detectors: where they are, what they should predict, what their predictions mean."""
import math

import torch

from ...base import MXNetError
from ..core.attributes import Floats
from ..core.table import operator
from .nms import centres, iou, suppress

_VARIANCES = (0.1, 0.1, 0.2, 0.2)


@operator('_contrib_MultiBoxPrior', aliases=('_npx_multibox_prior',))
def MultiBoxPrior(data, *, sizes: Floats = (1.0,), ratios: Floats = (1.0,), clip: bool = False,
                  steps: Floats = (-1.0, -1.0), offsets: Floats = (0.5, 0.5)):
    """Anchor boxes (1, boxes, 4) around every pixel of a feature map, in units of the image: 0 ... 1.

    Each pixel has all `sizes` with the first ratio, then the first size with the other `ratios` (width over height).
    `steps` and `offsets` are (y, x): the distance of the centres and the first one in units of it; steps that are not
    positive divide the image evenly.  `clip` cuts boxes at the border of the image.
    """
    name = '_contrib_MultiBoxPrior'
    if data.dim() < 4:
        raise MXNetError(f'operator {name}: data has shape {tuple(data.shape)}; it must be (batch, channels, height, '
                         'width)')
    if not sizes or not ratios or len(steps) != 2 or len(offsets) != 2 or not all(0 <= o <= 1 for o in offsets):
        raise MXNetError(f'operator {name}: sizes={sizes}, ratios={ratios}, steps={steps}, offsets={offsets} is not '
                         'accepted; it takes at least one size and ratio, two steps, and two offsets from 0 to 1')
    height, width = data.shape[2:4]
    step_y, step_x = steps if min(steps) > 0 else (1 / height, 1 / width)
    roots = [math.sqrt(r) for r in ratios]
    shapes = [(s, roots[0]) for s in sizes] + [(sizes[0], r) for r in roots[1:]]
    # a size is relative to the height, so that ratio 1 is a square on an image of any ratio
    half = torch.tensor([(s * height / width * r / 2, s / r / 2) for s, r in shapes], dtype=data.dtype,
                        device=data.device)
    y = (torch.arange(height, dtype=data.dtype, device=data.device) + offsets[0]) * step_y
    x = (torch.arange(width, dtype=data.dtype, device=data.device) + offsets[1]) * step_x
    centre = torch.stack(torch.meshgrid(y, x, indexing='ij')[::-1], -1)[:, :, None]
    boxes = torch.cat((centre - half, centre + half), -1).reshape(1, -1, 4)
    return boxes.clamp(0, 1) if clip else boxes


@operator('_contrib_MultiBoxTarget', aliases=('_npx_multibox_target',),
          outputs=('loc_target', 'loc_mask', 'cls_target'))
def MultiBoxTarget(anchor, label, cls_pred, *, overlap_threshold: float = 0.5, ignore_label: float = -1.0,
                   negative_mining_ratio: float = -1.0, negative_mining_thresh: float = 0.5,
                   minimum_negative_samples: int = 0, variances: Floats = _VARIANCES):
    """What anchors should predict, given the boxes in an image: (offsets, mask of the offsets, class).

    `anchor` is (1, anchors, 4), `label` (batch, boxes, 5 or more) with rows (class, xmin, ymin, xmax, ymax, ...) that
    end where the class is -1, `cls_pred` (batch, classes, anchors).  Every box gets the anchor that overlaps it most;
    further anchors get the box they overlap most if that is more than `overlap_threshold`.  Their class is one above
    the label's, since 0 is the background, which all other anchors get.  With `negative_mining_ratio`, only that many
    times the positive anchors get it: those below `negative_mining_thresh` that look least like background; the rest
    gets `ignore_label`, as do all anchors of an image without boxes.
    """
    name = '_contrib_MultiBoxTarget'
    if anchor.dim() != 3 or anchor.shape[0] != 1 or anchor.shape[2] != 4:
        raise MXNetError(f'operator {name}: anchor has shape {tuple(anchor.shape)}; it must be (1, anchors, 4)')
    if label.dim() != 3 or label.shape[2] < 5:
        raise MXNetError(f'operator {name}: label has shape {tuple(label.shape)}; it must be (batch, boxes, 5 or more)')
    if cls_pred.dim() != 3 or cls_pred.shape[2] != anchor.shape[1]:
        raise MXNetError(f'operator {name}: cls_pred has shape {tuple(cls_pred.shape)}; it must be (batch, classes, '
                         f'anchors) with {anchor.shape[1]} anchors')
    anchors, labels, dtype = anchor[0].detach().float(), label.detach().float(), label.dtype
    there = (labels[..., 0] == -1).cumsum(1) == 0
    any_box = there[:, :1]
    overlaps = torch.where(there[:, None], iou(anchors, labels[..., 1:5]), -1.0)       # (batch, anchors, boxes)
    overlap, matched = overlaps.max(2)
    positive, matched = _each_box_its_best(overlaps, there, matched)
    if overlap_threshold > 0:
        positive = positive | ((overlap > overlap_threshold) & any_box)
    if negative_mining_ratio > 0:
        wanted = (positive.sum(1, keepdim=True) * negative_mining_ratio).long().clamp_min(minimum_negative_samples)
        candidate = ~positive & (overlap < negative_mining_thresh) & any_box
        background = cls_pred.detach().float().softmax(1)[:, 0]
        order = torch.where(candidate, background, torch.inf).sort(dim=1, stable=True).indices
        rank = order.argsort(1)
        negative = candidate & (rank < wanted)
    else:
        negative = ~positive & any_box
    boxes = centres(labels[..., 1:5].gather(1, matched[..., None].expand(-1, -1, 4)))
    own = centres(anchors)
    offsets = torch.cat(((boxes[..., :2] - own[:, :2]) / own[:, 2:], (boxes[..., 2:] / own[:, 2:]).log()), -1)
    mask = positive[..., None].expand(offsets.shape)
    offsets = torch.where(mask, offsets / offsets.new_tensor(variances), 0.0)
    classes = torch.where(positive, labels[..., 0].gather(1, matched) + 1, torch.where(negative, 0.0, ignore_label))
    return offsets.flatten(1).to(dtype), mask.flatten(1).to(dtype), classes.to(dtype)


def _each_box_its_best(overlaps, there, matched):
    """Gives boxes, largest overlap first, the anchor that overlaps them most and has no box yet."""
    batch, anchors, boxes = overlaps.shape
    free = torch.where(there[:, None], overlaps, -1.0).flatten(1)
    positive = torch.zeros_like(overlaps[..., 0], dtype=torch.bool)
    at_anchor, at_box = (torch.arange(n, device=overlaps.device) for n in (anchors, boxes))
    for _ in range(boxes):
        best, where = free.max(1, keepdim=True)
        anchor, box, good = where // boxes, where % boxes, best > 1e-6
        this_anchor, this_box = (at_anchor == anchor) & good, (at_box == box) & good
        positive = positive | this_anchor
        matched = torch.where(this_anchor, box, matched)
        gone = this_anchor[:, :, None] | this_box[:, None, :]
        free = free.masked_fill(gone.flatten(1), -1.0)
    return positive, matched


@operator('_contrib_MultiBoxDetection', aliases=('_npx_multibox_detection',))
def MultiBoxDetection(cls_prob, loc_pred, anchor, *, clip: bool = True, threshold: float = 0.01, background_id: int = 0,
                      nms_threshold: float = 0.5, force_suppress: bool = False, variances: Floats = _VARIANCES,
                      nms_topk: int = -1):
    """Detections (batch, anchors, 6) with rows (class, score, xmin, ymin, xmax, ymax) from a detector's predictions.

    `cls_prob` is (batch, classes, anchors), `loc_pred` (batch, anchors * 4), `anchor` (1, anchors, 4).  Class 0 is the
    background; classes of detections count from the one after it.  Rows are sorted by score; those with class -1 are
    none: below `threshold`, beyond `nms_topk`, or overlapping a better one (of the same class, unless `force_suppress`)
    by `nms_threshold` or more.
    """
    name = '_contrib_MultiBoxDetection'
    count = anchor.shape[1] if anchor.dim() == 3 else None
    if count is None or cls_prob.dim() != 3 or cls_prob.shape[2] != count or loc_pred.shape[1:] != (4 * count,):
        raise MXNetError(f'operator {name}: cls_prob has shape {tuple(cls_prob.shape)}, loc_pred has '
                         f'{tuple(loc_pred.shape)}, anchor has {tuple(anchor.shape)}; they must be '
                         '(batch, classes, anchors), (batch, anchors * 4) and (1, anchors, 4)')
    cls_prob, loc_pred, anchor = cls_prob.detach(), loc_pred.detach(), anchor.detach()
    boxes = _decoded(loc_pred.reshape(-1, count, 4), centres(anchor), variances)
    boxes = boxes.clamp(0, 1) if clip else boxes
    score, which = cls_prob[:, 1:].max(1)
    valid = score >= threshold
    rows = torch.cat((which.to(score.dtype)[..., None], score[..., None], boxes), -1)
    # detections to the front, in their order; then the best first
    packed = _reorder(rows, (~valid).sort(dim=1, stable=True).indices)
    found = valid.sum(1, keepdim=True)
    at = torch.arange(count, device=rows.device)
    packed = torch.where((at < found)[..., None], packed, -1.0)
    if not 0 < nms_threshold <= 1:
        return packed
    order = torch.where(at < found, packed[..., 1], -torch.inf).sort(dim=1, descending=True, stable=True).indices
    most = found.clamp_max(nms_topk) if nms_topk > 0 else found
    used = at < most
    rows = torch.where(used[..., None], _reorder(packed, order), packed)
    head = count if nms_topk <= 0 else min(count, nms_topk)
    group = None if force_suppress else rows[:, :head, 0]
    kept = suppress(rows[:, :head, 2:], group, used[:, :head], nms_threshold, inclusive=True)
    kept = torch.nn.functional.pad(kept, (0, count - head))
    return torch.cat((torch.where(kept, rows[..., 0], -1.0)[..., None], rows[..., 1:]), -1)


def _decoded(offsets, own, variances):
    offsets = offsets * offsets.new_tensor(variances)
    centre = offsets[..., :2] * own[..., 2:] + own[..., :2]
    half = offsets[..., 2:].exp() * own[..., 2:] / 2
    return torch.cat((centre - half, centre + half), -1)


def _reorder(rows, order):
    return rows.gather(1, order[..., None].expand(rows.shape))
