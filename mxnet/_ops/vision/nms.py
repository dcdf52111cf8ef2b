"""Overlaps of boxes and greedy suppression, which the detection operators share.

Boxes here are (left, top, right, bottom).  Which boxes survive depends on values step by step, so suppression is an
operator of torch's own library, `remx::suppress`: one node for whoever traces a graph, and shapes on meta tensors.
"""
import torch

from ..core.library import define

MANY = 1024         # from this many boxes on, groups are taken one by one
BLOCK = 64          # boxes that meet all later ones together, on a CPU: what fits into its cache


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


def suppress(boxes, group, valid, threshold, inclusive=False, most=0):
    """Which boxes are kept, (batch, n) -> bool, where earlier boxes are better ones.

    A box goes if it overlaps a better one that is kept and has the same `group` (None: all have) by more than
    `threshold`, or just that much if `inclusive`.  Boxes that are not `valid` are neither kept nor suppress others.
    Who needs only the best few says how many (`most`), and may be told of no others.
    """
    boxes = boxes.detach()
    if boxes.dtype not in (torch.float32, torch.float64):
        boxes = boxes.float()
    return _suppress(boxes, None if group is None else group.detach(), valid, threshold, inclusive, most)


def _survivors(boxes, group, valid, threshold, inclusive, most):
    if not boxes.is_cuda:
        return torch.stack([_of_image(b, g, v, threshold, inclusive, most) for b, g, v in
                            zip(boxes, [None] * len(boxes) if group is None else group, valid, strict=True)]) \
            if len(boxes) else valid.clone()
    return _side_by_side(boxes, group, valid, threshold, inclusive)


_suppress = define('suppress(Tensor boxes, Tensor? group, Tensor valid, float threshold, bool inclusive, int most) '
                   '-> Tensor', _survivors, lambda boxes, group, valid, *rest: torch.empty_like(valid))


def _of_image(boxes, group, valid, threshold, inclusive, most):
    """On a CPU: a block of the best that are left removes what it overlaps; the others are not looked at again."""
    if group is not None and len(valid) >= MANY:        # boxes of different groups do not meet at all
        alive = valid.clone()
        for g in group[valid].unique():
            here = (valid & (group == g)).nonzero()[:, 0]
            if len(here) > 1:
                alive[here] = _of_image(boxes[here], None, valid[here], threshold, inclusive, most)
        return alive
    alive, numbers = torch.zeros_like(valid), valid.nonzero()[:, 0]
    left = torch.cat((boxes.t(), _area(boxes)[None]))[:, numbers]           # sides and areas
    groups, found = None if group is None else group[numbers], 0
    while len(numbers):
        block, rest = left[:, :BLOCK], left[:, BLOCK:]
        mine, others = (None, None) if groups is None else (groups[:BLOCK], groups[BLOCK:])
        inside = _clash(block, block, mine, mine, threshold, inclusive).triu_(1)
        kept = _settle(torch.ones(1, block.shape[1], dtype=torch.bool), inside[None])[0]
        alive[numbers[:BLOCK][kept]] = True
        found += int(kept.sum())
        if not rest.shape[1] or 0 < most <= found:
            break
        clash = _clash(block[:, kept], rest, None if mine is None else mine[kept], others, threshold, inclusive)
        stays = (clash.view(torch.uint8).amax(0) == 0).nonzero()[:, 0]      # `any` takes ten times as long
        numbers, left = numbers[BLOCK:][stays], rest[:, stays]
        groups = None if others is None else others[stays]
    return alive


def _side_by_side(boxes, group, valid, threshold, inclusive):
    """On a GPU: all images at once, in few launches, without asking what is left."""
    batch, count = valid.shape
    alive = valid.clone()
    block = max(16, min(1024, (1 << 25) // max(1, batch * count)))
    known = torch.cat((boxes.movedim(-1, 0), _area(boxes)[None]))
    for start in range(0, count, block):
        here, after = slice(start, start + block), slice(start + block, count)
        mine, others = (None, None) if group is None else (group[:, here], group[:, after])
        inside = _clash(known[..., here], known[..., here], mine, mine, threshold, inclusive).triu_(1)
        alive[:, here] = kept = _settle(alive[:, here], inside)
        if start + block < count:
            clash = _clash(known[..., here], known[..., after], mine, others, threshold, inclusive)
            alive[:, after] &= ~_any(clash, kept)
    return alive


def _clash(a, b, group_a, group_b, threshold, inclusive):
    """Which box of `a` would suppress which one of `b`, both (sides and area, ..., n); as `iou`, in little memory."""
    left_a, top_a, right_a, bottom_a, area_a = a.unsqueeze(-1)
    left_b, top_b, right_b, bottom_b, area_b = b.unsqueeze(-2)
    inter = torch.minimum(right_a, right_b)
    inter.sub_(torch.maximum(left_a, left_b)).clamp_min_(0)
    height = torch.minimum(bottom_a, bottom_b)
    height.sub_(torch.maximum(top_a, top_b)).clamp_min_(0)
    inter.mul_(height)
    union = torch.add(area_a, area_b, out=height).sub_(inter)
    inter.div_(union)         # nothing over nothing is NaN, which is above no threshold
    clash = inter >= threshold if inclusive else inter > threshold
    return clash if group_a is None else clash.bitwise_and_(group_a.unsqueeze(-1) == group_b.unsqueeze(-2))


def _any(clash, kept):
    if not clash.is_cuda:
        return (clash & kept[..., None]).view(torch.uint8).amax(-2) > 0
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
