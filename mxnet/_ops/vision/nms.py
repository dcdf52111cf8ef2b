"""Overlaps of boxes and greedy suppression, which the detection operators share.

Boxes here are (left, top, right, bottom).  Which boxes survive depends on values step by step, so suppression is an
operator of torch's own library, `remx::suppress`: one node for whoever traces a graph, and shapes on meta tensors.
"""
import numpy
import torch

from ..core.library import define

PAIRS = 1 << 16     # pairs of boxes that are compared at a time, on a CPU: what fits into its cache
LISTED = 1 << 15    # with this many pairs of the same group or fewer, only these pairs are compared


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
        groups = [None] * len(boxes) if group is None else \
            (group.float() if group.dtype == torch.bfloat16 else group).numpy()
        alive = numpy.zeros(valid.shape, bool)
        with numpy.errstate(all='ignore'):
            for row, b, g, v in zip(alive, boxes.numpy(), groups, valid.numpy(), strict=True):
                _of_image(row, b, g, v, threshold, inclusive, most)
        return torch.from_numpy(alive)
    return _side_by_side(boxes, group, valid, threshold, inclusive)


_suppress = define('suppress(Tensor boxes, Tensor? group, Tensor valid, float threshold, bool inclusive, int most) '
                   '-> Tensor', _survivors, lambda boxes, group, valid, *rest: torch.empty_like(valid))


def _of_image(alive, boxes, group, valid, threshold, inclusive, most):
    """On a CPU: sets in `alive` which boxes of one image are kept."""
    numbers = valid.nonzero()[0]
    known = numpy.empty((5, len(boxes)), boxes.dtype)           # sides and areas
    known[:4] = boxes.T
    width, height = numpy.maximum(known[2:4] - known[:2], 0)
    numpy.multiply(width, height, out=known[4])
    if group is None:
        parts = [numbers]
    else:
        numbers = numbers[group[numbers].argsort(kind='stable')]
        sizes = _runs(group[numbers])
        if (sizes * (sizes - 1)).sum() <= 2 * LISTED:
            alive[numbers] = _compare_listed(known.take(numbers, 1), sizes, threshold, inclusive)
            return
        parts = numpy.split(numbers, sizes.cumsum()[:-1])
    for part in parts:
        for kept in _greedy(known, part, threshold, inclusive, most):
            alive[kept] = True


def _runs(values):
    """Lengths of the runs of equal values; NaN is equal to nothing."""
    ends = (values[1:] != values[:-1]).nonzero()[0] + 1
    return numpy.diff(ends, prepend=0, append=len(values))


def _compare_listed(known, sizes, threshold, inclusive):
    """Which boxes are kept, where groups of `sizes` stand one after the other: compares pairs of the same group."""
    count = known.shape[1]
    later = numpy.repeat(sizes.cumsum(), sizes) - numpy.arange(1, count + 1)    # boxes of the group after each one
    better = numpy.repeat(numpy.arange(count), later)
    worse = numpy.arange(len(better)) - numpy.repeat(later.cumsum() - later, later) + better + 1
    left, top, right, bottom, area = known.take(better, 1)
    other_left, other_top, other_right, other_bottom, other_area = known.take(worse, 1)
    width = numpy.maximum(numpy.minimum(right, other_right) - numpy.maximum(left, other_left), 0)
    height = numpy.maximum(numpy.minimum(bottom, other_bottom) - numpy.maximum(top, other_top), 0)
    shared = width * height
    overlap = shared / (area + other_area - shared)
    clash = (overlap >= threshold if inclusive else overlap > threshold).nonzero()[0]
    alive = bytearray(b'\1') * count
    for i, j in zip(better[clash].tolist(), worse[clash].tolist(), strict=True):
        if alive[i]:
            alive[j] = 0
    return numpy.frombuffer(alive, bool)


def _greedy(known, numbers, threshold, inclusive, most):
    """Arrays of those of `numbers` that are kept.

    A block of the best that are left removes what it overlaps; removed boxes are not looked at again.
    """
    known, found = known if len(numbers) == known.shape[1] else known.take(numbers, 1), 0
    while len(numbers):
        block, known_here = min(len(numbers), max(16, PAIRS // len(numbers))), torch.from_numpy(known)
        overlap = _overlaps(known_here[:, :block], known_here).numpy()
        # NumPy compares in a tenth of the time that torch takes
        clash = overlap >= threshold if inclusive else overlap > threshold
        kept = _settle_one(clash[:, :block])
        yield numbers[:block][kept]
        found += int(kept.sum())
        if block == len(numbers) or 0 < most <= found:
            return
        stays = (~clash[kept, block:].any(0)).nonzero()[0] + block
        numbers, known = numbers[stays], known.take(stays, 1)


def _settle_one(clash):
    """Which boxes of a block are kept, if (i, j) of `clash` says that i, if it is kept, removes a later j."""
    count = len(clash)
    numpy.fill_diagonal(clash, False)
    rows = numpy.packbits(clash, axis=1, bitorder='little')     # a row is one integer, whose bits are the boxes
    removed, size, data = 0, rows.shape[1], rows.tobytes()
    for i in numpy.flatnonzero(rows.any(1)).tolist():
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
