"""Overlaps of boxes and greedy suppression, which the detection operators share.

Boxes here are (left, top, right, bottom).  Which boxes survive depends on values step by step, so suppression is an
operator of torch's own library, `remx::suppress`: one node for whoever traces a graph, and shapes on meta tensors.
"""
import torch


def corners(boxes):
    """(centre x, centre y, width, height) as (left, top, right, bottom)."""
    half = boxes[..., 2:] / 2
    return torch.cat((boxes[..., :2] - half, boxes[..., :2] + half), -1)


def centres(boxes):
    """(left, top, right, bottom) as (centre x, centre y, width, height)."""
    return torch.cat(((boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]), -1)


def iou(a, b):
    """Intersection over union of every box of `a` (..., n, 4) with every one of `b` (..., m, 4); 0 if all is empty."""
    a, b = a.unsqueeze(-2), b.unsqueeze(-3)
    size = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp_min(0)
    inter = size[..., 0] * size[..., 1]
    union = _area(a) + _area(b) - inter
    return torch.where(union > 0, inter / union, 0.0)


def _area(boxes):
    size = (boxes[..., 2:] - boxes[..., :2]).clamp_min(0)
    return size[..., 0] * size[..., 1]


def suppress(boxes, group, valid, threshold, inclusive=False):
    """Which boxes are kept, (batch, n) -> bool, where earlier boxes are better ones.

    A box goes if it overlaps a better one that is kept and has the same `group` by more than `threshold` (or just that
    much, if `inclusive`).  Boxes that are not `valid` are neither kept nor suppress others.
    """
    boxes = boxes.detach()
    if boxes.dtype not in (torch.float32, torch.float64):
        boxes = boxes.float()
    return _suppress(boxes, group.detach(), valid, threshold, inclusive)


@torch.library.custom_op('remx::suppress', mutates_args=())
def _suppress(boxes: torch.Tensor, group: torch.Tensor, valid: torch.Tensor, threshold: float,
              inclusive: bool) -> torch.Tensor:
    batch, count = valid.shape
    alive = valid.clone()
    # pairs of a block of better boxes with all later ones: as many as fit into a few dozen megabytes
    block = max(16, min(256, (1 << 22) // max(1, batch * count)))
    for start in range(0, count, block):
        here, after = slice(start, start + block), slice(start + block, count)
        inside = _clash(boxes[:, here], boxes[:, here], group[:, here], group[:, here], threshold, inclusive).triu(1)
        alive[:, here] = kept = _settle(alive[:, here], inside)
        if start + block < count:
            clash = _clash(boxes[:, here], boxes[:, after], group[:, here], group[:, after], threshold, inclusive)
            alive[:, after] &= ~(clash & kept[:, :, None]).any(1)
    return alive


@_suppress.register_fake
def _(boxes, group, valid, threshold, inclusive):
    return torch.empty_like(valid)


def _clash(a, b, group_a, group_b, threshold, inclusive):
    overlap = iou(a, b)
    return (overlap >= threshold if inclusive else overlap > threshold) & (group_a[:, :, None] == group_b[:, None, :])


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
        left = alive & ~(clash & kept[:, :, None]).any(1)
        if torch.equal(left, kept):
            return left
        kept = left
