"""Overlaps of boxes and greedy suppression, which the detection operators share.

Boxes here are (left, top, right, bottom).  Which boxes survive depends on values step by step, so suppression is an
operator of torch's own library, `remx::suppress`: one node for whoever traces a graph, and shapes on meta tensors.
"""
import torch

MANY = 1024         # from this many boxes on, groups are taken one by one


def corners(boxes):
    """(centre x, centre y, width, height) as (left, top, right, bottom)."""
    half = boxes[..., 2:] / 2
    return torch.cat((boxes[..., :2] - half, boxes[..., :2] + half), -1)


def centres(boxes):
    """(left, top, right, bottom) as (centre x, centre y, width, height)."""
    return torch.cat(((boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]), -1)


def iou(a, b):
    """Intersection over union of every box of `a` (..., n, 4) with every one of `b` (..., m, 4); 0 if all is empty."""
    area_a, area_b = _area(a).unsqueeze(-1), _area(b).unsqueeze(-2)
    # coordinate by coordinate: torch is slow on the last axis of a box
    left_a, top_a, right_a, bottom_a = a.movedim(-1, 0).contiguous().unsqueeze(-1)
    left_b, top_b, right_b, bottom_b = b.movedim(-1, 0).contiguous().unsqueeze(-2)
    width = (torch.minimum(right_a, right_b) - torch.maximum(left_a, left_b)).clamp_min(0)
    height = (torch.minimum(bottom_a, bottom_b) - torch.maximum(top_a, top_b)).clamp_min(0)
    inter = width * height
    union = area_a + area_b - inter
    return torch.where(union > 0, inter / union, 0.0)


def _area(boxes):
    size = (boxes[..., 2:] - boxes[..., :2]).clamp_min(0)
    return size[..., 0] * size[..., 1]


def suppress(boxes, group, valid, threshold, inclusive=False):
    """Which boxes are kept, (batch, n) -> bool, where earlier boxes are better ones.

    A box goes if it overlaps a better one that is kept and has the same `group` (None: all have) by more than
    `threshold`, or just that much if `inclusive`.  Boxes that are not `valid` are neither kept nor suppress others.
    """
    boxes = boxes.detach()
    if boxes.dtype not in (torch.float32, torch.float64):
        boxes = boxes.float()
    return _suppress(boxes, None if group is None else group.detach(), valid, threshold, inclusive)


@torch.library.custom_op('remx::suppress', mutates_args=())
def _suppress(boxes: torch.Tensor, group: torch.Tensor | None, valid: torch.Tensor, threshold: float,
              inclusive: bool) -> torch.Tensor:
    if group is not None and not boxes.is_cuda and valid.shape[1] >= MANY:
        return _group_by_group(boxes, group, valid, threshold, inclusive)
    return _among(boxes, group, valid, threshold, inclusive)


def _group_by_group(boxes, group, valid, threshold, inclusive):
    """Boxes of different groups do not meet at all; a GPU has no time for small pieces of work, but a CPU has."""
    alive = valid.clone()
    for i in range(len(valid)):
        for g in group[i][valid[i]].unique():
            here = (valid[i] & (group[i] == g)).nonzero()[:, 0]
            if len(here) > 1:
                alive[i, here] = _among(boxes[i:i + 1, here], None, valid[i:i + 1, here], threshold, inclusive)[0]
    return alive


def _among(boxes, group, valid, threshold, inclusive):
    batch, count = valid.shape
    alive = valid.clone()
    # a block of better boxes meets all later ones: on a CPU, what fits into its cache; on a GPU, few launches
    if boxes.is_cuda:
        block = max(16, min(1024, (1 << 25) // max(1, batch * count)))
    else:
        block = max(16, min(64, (1 << 22) // max(1, batch * count)))
    sides = boxes.movedim(-1, 0).contiguous().unbind()
    area = _area(boxes)
    for start in range(0, count, block):
        here, after = slice(start, start + block), slice(start + block, count)
        inside = _clash(sides, area, group, here, here, threshold, inclusive).triu_(1)
        alive[:, here] = kept = _settle(alive[:, here], inside)
        if start + block < count:
            clash = _clash(sides, area, group, here, after, threshold, inclusive)
            alive[:, after] &= ~_any(clash, kept)
    return alive


@_suppress.register_fake
def _(boxes, group, valid, threshold, inclusive):
    return torch.empty_like(valid)


def _clash(sides, area, group, a, b, threshold, inclusive):
    """Which box of the slice `a` would suppress which one of `b`; as `iou`, but with few temporaries."""
    left, top, right, bottom = sides
    inter = torch.minimum(right[:, a, None], right[:, None, b])
    inter.sub_(torch.maximum(left[:, a, None], left[:, None, b])).clamp_min_(0)
    height = torch.minimum(bottom[:, a, None], bottom[:, None, b])
    height.sub_(torch.maximum(top[:, a, None], top[:, None, b])).clamp_min_(0)
    inter.mul_(height)
    union = torch.add(area[:, a, None], area[:, None, b], out=height).sub_(inter)
    inter.div_(union)         # nothing over nothing is NaN, which is above no threshold
    clash = inter >= threshold if inclusive else inter > threshold
    return clash if group is None else clash.bitwise_and_(group[:, a, None] == group[:, None, b])


def _any(clash, kept):
    # a product of matrices is the fastest way to look whether any of the kept ones clashes
    return torch.bmm(kept[:, None].float(), clash.float())[:, 0] > 0


def _settle(alive, clash):
    """Who of `alive` is left, if (batch, i, j) of `clash` says that i, if it is left, removes a later j."""
    if alive.is_cuda and torch.cuda.is_current_stream_capturing():
        # a captured graph cannot ask whether it is done: one step per box
        kept = alive.clone()
        for i in range(alive.shape[1] - 1):
            kept[:, i + 1:] &= ~(clash[:, i, i + 1:] & kept[:, i:i + 1])
        return kept
    # each round settles at least one more link of every chain of removals; chains are short
    kept = alive
    while True:
        left = alive & ~_any(clash, kept)
        if torch.equal(left, kept):
            return left
        kept = left
