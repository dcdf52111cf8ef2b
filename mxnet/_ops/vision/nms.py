"""Overlaps of boxes and greedy suppression, which the detection operators share.

Boxes here are (left, top, right, bottom).  Which boxes survive depends on values step by step, so suppression is an
operator of torch's own library, `remx::suppress`: one node for whoever traces a graph, and shapes on meta tensors.
"""
import numpy
import torch

from ..core.library import define

MANY = 1024         # from this many boxes on, groups are taken one by one
PAIRS = 1 << 16     # pairs of boxes that are compared at a time, on a CPU: what fits into its cache


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
        groups = [None] * len(boxes) if group is None else group.float() if group.dtype == torch.bfloat16 else group
        alive = numpy.zeros(valid.shape, bool)
        for row, b, g, v in zip(alive, boxes, groups, valid.numpy(), strict=True):
            _of_image(row, b, None if g is None else g.numpy(), v, threshold, inclusive, most)
        return torch.from_numpy(alive)
    return _side_by_side(boxes, group, valid, threshold, inclusive)


_suppress = define('suppress(Tensor boxes, Tensor? group, Tensor valid, float threshold, bool inclusive, int most) '
                   '-> Tensor', _survivors, lambda boxes, group, valid, *rest: torch.empty_like(valid))


def _of_image(alive, boxes, group, valid, threshold, inclusive, most):
    """On a CPU: sets in `alive` which boxes of one image are kept."""
    known, numbers = torch.cat((boxes.t(), _area(boxes)[None])), valid.nonzero()[0]
    parts = [numbers]
    if group is not None:
        group = group[numbers]
        if len(valid) >= MANY:                          # boxes of different groups do not meet at all
            alive[numbers[group != group]] = True       # NaN is equal to no other group
            parts, group = [numbers[group == g] for g in numpy.unique(group)], None
    for part in parts:
        for kept in _greedy(known, part, group, threshold, inclusive, most):
            alive[kept] = True


def _greedy(known, numbers, group, threshold, inclusive, most):
    """Arrays of those of `numbers` that are kept.

    A block of the best that are left removes what it overlaps; removed boxes are not looked at again.
    `known` has sides and areas of all boxes, `group` the groups of `numbers`.
    """
    known, found = known if len(numbers) == known.shape[1] else known[:, torch.from_numpy(numbers)], 0
    while len(numbers):
        block = min(len(numbers), max(16, PAIRS // len(numbers)))
        overlap = _overlaps(known[:, :block], known).numpy()
        # NumPy compares in a tenth of the time that torch takes
        clash = overlap >= threshold if inclusive else overlap > threshold
        if group is not None:
            clash &= group[:block, None] == group
        kept = _settle_one(clash[:, :block])
        yield numbers[:block][kept]
        found += int(kept.sum())
        if block == len(numbers) or 0 < most <= found:
            return
        stays = (~clash[kept, block:].any(0)).nonzero()[0] + block
        numbers, known = numbers[stays], known[:, torch.from_numpy(stays)]
        group = None if group is None else group[stays]


def _settle_one(clash):
    """Which boxes of a block are kept, if (i, j) of `clash` says that i, if it is kept, removes a later j."""
    count = len(clash)
    numpy.fill_diagonal(clash, False)
    rows = numpy.packbits(clash, axis=1, bitorder='little')     # a row is one integer, whose bits are the boxes
    removed, size, data = 0, rows.shape[1], rows.tobytes()
    for i in rows.any(1).nonzero()[0].tolist():
        if not removed >> i & 1:
            removed |= int.from_bytes(data[i * size:(i + 1) * size], 'little') >> i + 1 << i + 1
    bits = numpy.frombuffer(removed.to_bytes(size, 'little'), numpy.uint8)
    return numpy.unpackbits(bits, count=count, bitorder='little') == 0


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
    """Which box of `a` would suppress which one of `b`, both (sides and area, ..., n)."""
    overlap = _overlaps(a, b)
    clash = overlap >= threshold if inclusive else overlap > threshold
    return clash if group_a is None else clash.bitwise_and_(group_a.unsqueeze(-1) == group_b.unsqueeze(-2))


def _overlaps(a, b):
    """Intersection over union of `a` and `b`, both (sides and area, ..., n); as `iou`, in little memory."""
    left_a, top_a, right_a, bottom_a, area_a = a.unsqueeze(-1)
    left_b, top_b, right_b, bottom_b, area_b = b.unsqueeze(-2)
    inter = torch.minimum(right_a, right_b)
    inter.sub_(torch.maximum(left_a, left_b)).clamp_min_(0)
    height = torch.minimum(bottom_a, bottom_b)
    height.sub_(torch.maximum(top_a, top_b)).clamp_min_(0)
    inter.mul_(height)
    union = torch.add(area_a, area_b, out=height).sub_(inter)
    return inter.div_(union)        # nothing over nothing is NaN, which is above no threshold


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
