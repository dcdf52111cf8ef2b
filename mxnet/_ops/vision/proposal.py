"""Region proposals: the boxes that a region proposal network suggests to look at."""
import math
from typing import Any

import torch

from ...base import MXNetError
from ..core.attributes import Floats
from ..core.table import operator
from .nms import suppress

_SCALES, _RATIOS = (4.0, 8.0, 16.0, 32.0), (0.5, 1.0, 2.0)


def _base_anchors(stride, ratios, scales):
    """Boxes (xmin, ymin, xmax, ymax) around the first cell, borders included; sides are rounded to whole pixels."""
    centre = (stride - 1) / 2
    anchors = []
    for ratio in ratios:
        width = math.floor(math.sqrt(math.floor(stride * stride / ratio)) + 0.5)
        height = math.floor(width * ratio + 0.5)
        for scale in scales:
            half_w, half_h = (width * scale - 1) / 2, (height * scale - 1) / 2
            anchors.append((centre - half_w, centre - half_h, centre + half_w, centre + half_h))
    return anchors


def _proposals(name, cls_prob, bbox_pred, im_info, pre_nms, post_nms, threshold, min_size, scales, ratios, stride,
               iou_loss):
    """(images, post_nms, 4) boxes and (images, post_nms, 1) scores."""
    per_cell = len(ratios) * len(scales)
    images, doubled, height, width = cls_prob.shape if cls_prob.dim() == 4 else (0, 0, 0, 0)
    if doubled != 2 * per_cell or bbox_pred.shape != (images, 4 * per_cell, height, width) or \
            im_info.shape != (images, 3):
        raise MXNetError(f'operator {name}: cls_prob has shape {tuple(cls_prob.shape)}, bbox_pred '
                         f'{tuple(bbox_pred.shape)}, im_info {tuple(im_info.shape)}; with {len(ratios)} ratios and '
                         f'{len(scales)} scales they must be (images, {2 * per_cell}, height, width), '
                         f'(images, {4 * per_cell}, height, width) and (images, 3)')
    device = cls_prob.device
    cls_prob, bbox_pred, im_info = cls_prob.detach().float(), bbox_pred.detach().float(), im_info.detach().float()
    # cells row by row, in each cell all anchors
    scores = cls_prob[:, per_cell:].permute(0, 2, 3, 1)
    offsets = bbox_pred.reshape(images, per_cell, 4, height, width).permute(0, 3, 4, 1, 2)
    y, x = torch.arange(height, device=device), torch.arange(width, device=device)
    cells = torch.stack(torch.meshgrid(y, x, indexing='ij')[::-1], -1).float() * stride
    anchors = cells.repeat(1, 1, 2)[:, :, None] + torch.tensor(_base_anchors(stride, ratios, scales), device=device)
    boxes = anchors + offsets if iou_loss else _moved(anchors, offsets)
    tall, wide, zoom = im_info.reshape(images, 1, 1, 1, 3).unbind(-1)
    limit = torch.stack((wide, tall, wide, tall), -1) - 1
    boxes = torch.minimum(boxes, limit).clamp_min(0)
    # the feature map may be padded beyond the image
    inside = (y[:, None, None] < (tall / stride).trunc()) & (x[:, None] < (wide / stride).trunc())
    size = boxes[..., 2:] - boxes[..., :2] + 1
    least = min_size * zoom
    small = (size < least[..., None]).any(-1)
    half = least[..., None] / 2
    grown = torch.cat((boxes[..., :2] - half, boxes[..., 2:] + half), -1)
    boxes = torch.where(small[..., None], grown, boxes).reshape(images, -1, 4)
    scores = torch.where(inside & ~small, scores, -1.0).reshape(images, -1)

    count = boxes.shape[1]
    most = min(pre_nms, count) if pre_nms > 0 else count
    scores, order = scores.sort(dim=1, descending=True, stable=True)
    scores, order = scores[:, :most], order[:, :most]
    boxes = boxes.gather(1, order[..., None].expand(-1, -1, 4))
    # borders are part of a box
    whole = torch.cat((boxes[..., :2], boxes[..., 2:] + 1), -1)
    kept = suppress(whole, None, torch.ones_like(scores, dtype=torch.bool), threshold, most=post_nms)
    first = (~kept).sort(dim=1, stable=True).indices
    # if there are too few, they are repeated
    found = kept.sum(1, keepdim=True).clamp_max(min(post_nms, most))
    pick = first.gather(1, torch.arange(post_nms, device=device) % found)
    return boxes.gather(1, pick[..., None].expand(-1, -1, 4)), scores.gather(1, pick)[..., None]


def _moved(anchors, offsets):
    size = anchors[..., 2:] - anchors[..., :2] + 1
    centre = anchors[..., :2] + (size - 1) / 2 + offsets[..., :2] * size
    half = (offsets[..., 2:].exp() * size - 1) / 2
    return torch.cat((centre - half, centre + half), -1)


def _numbered(boxes):
    image = torch.arange(boxes.shape[0], device=boxes.device, dtype=boxes.dtype)
    return torch.cat((image[:, None, None].expand(*boxes.shape[:2], 1), boxes), -1).flatten(0, 1)


_FACTS: dict[str, Any] = {
    'outputs': lambda a: ('output', 'score') if a['output_score'] else ('output',),
    'hidden': lambda a: 0 if a['output_score'] else 1,
}


@operator('_contrib_Proposal', **_FACTS)
def Proposal(cls_prob, bbox_pred, im_info, *, rpn_pre_nms_top_n: int = 6000, rpn_post_nms_top_n: int = 300,
             threshold: float = 0.7, rpn_min_size: int = 16, scales: Floats = _SCALES, ratios: Floats = _RATIOS,
             feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False):
    """Regions (rpn_post_nms_top_n, 5) of one image with rows (0, xmin, ymin, xmax, ymax), best first.

    `cls_prob` (1, 2 * anchors, height, width) has the scores of background, then of objects; `bbox_pred`
    (1, 4 * anchors, height, width) the offsets, `im_info` the image's height, width and scale.  The best
    `rpn_pre_nms_top_n` boxes are thinned out by overlaps above `threshold`; if too few are left, they are repeated.
    With `output_score` the scores are a second result.
    """
    if cls_prob.shape[0] != 1:
        raise MXNetError(f'operator _contrib_Proposal takes one image, cls_prob has {cls_prob.shape[0]}; '
                         '_contrib_MultiProposal takes more')
    boxes, scores = _proposals('_contrib_Proposal', cls_prob, bbox_pred, im_info, rpn_pre_nms_top_n, rpn_post_nms_top_n,
                               threshold, rpn_min_size, scales, ratios, feature_stride, iou_loss)
    return (_numbered(boxes), scores.flatten(0, 1)) if output_score else _numbered(boxes)


@operator('_contrib_MultiProposal', **_FACTS)
def MultiProposal(cls_prob, bbox_pred, im_info, *, rpn_pre_nms_top_n: int = 6000, rpn_post_nms_top_n: int = 300,
                  threshold: float = 0.7, rpn_min_size: int = 16, scales: Floats = _SCALES, ratios: Floats = _RATIOS,
                  feature_stride: int = 16, output_score: bool = False, iou_loss: bool = False):
    """`Proposal` for several images: rows (image, xmin, ymin, xmax, ymax), rpn_post_nms_top_n for each image."""
    boxes, scores = _proposals('_contrib_MultiProposal', cls_prob, bbox_pred, im_info, rpn_pre_nms_top_n,
                               rpn_post_nms_top_n, threshold, rpn_min_size, scales, ratios, feature_stride, iou_loss)
    return (_numbered(boxes), scores.flatten(0, 1)) if output_score else _numbered(boxes)
