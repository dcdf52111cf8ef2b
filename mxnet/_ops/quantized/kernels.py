"""Whole-number arithmetic under the quantized operators: scales, rounding, products of int8 matrices.

torch's product of int8 matrices (on oneDNN and cuBLASLt) is used; where it refuses, products are computed in float64,
which is exact, too.
"""
import torch
from torch.nn import functional as F

from ..._torch.operators import int_mm
from ...base import MXNetError

# Floating point values are mapped to these; the half makes the outermost steps as wide as the others
INT8_RANGE, UINT8_RANGE, INT32_RANGE = 127.5, 255.5, 2147483647.0
LEVELS = {torch.int8: 127.0, torch.uint8: 255.0, torch.int32: INT32_RANGE}
RANGES = {torch.int8: INT8_RANGE, torch.uint8: UINT8_RANGE, torch.int32: INT32_RANGE}
LIMITS = {torch.int8: (-128.0, 127.0), torch.uint8: (0.0, 255.0)}


def largest(low, high):
    """The larger absolute value of a range, as a tensor of shape (1,); of ranges by channel, one for each."""
    found = torch.maximum(low.abs(), high.abs()).float()
    return found if found.numel() > 1 else found.reshape(1)


def as_range(value, like):
    return torch.full((1,), value, dtype=torch.float32, device=like.device)


def calibrated(low, high):
    return low is not None and high is not None


def saturated(values, dtype):
    """Rounded to whole numbers, halves to even ones, and kept within the limits of a dtype."""
    if dtype is torch.int32:
        # the largest float32 that is an int32
        return values.round().clamp(-2147483648.0, 2147483520.0).to(torch.int32)
    return values.round().clamp(*LIMITS[dtype]).to(dtype)


def expect(name, what, tensor, *dtypes):
    if tensor.dtype not in dtypes:
        raise MXNetError(f'operator {name}: {what} must be {" or ".join(str(d)[6:] for d in dtypes)}, not '
                         f'{str(tensor.dtype)[6:]}')


def product_range(low_a, high_a, low_b, high_b, unsigned=False):
    """(min, max) that the whole range of int32 stands for in a product of quantized values."""
    step = (largest(low_a, high_a) / (255.0 if unsigned else 127.0)) * (largest(low_b, high_b) / 127.0)
    high = step * INT32_RANGE
    return -high, high


# ---------------------------------------------------------------------- products
def _plain(matrix):
    """With the strides of its shape: an axis of length 1 may have any, and torch's kernel takes them at their word."""
    return matrix.reshape(-1).view(matrix.shape) if matrix.is_contiguous() else matrix


def _int_mm(a, b):
    """int8 (m, k) x int8 (k, n) -> int32"""
    if a.is_cuda:
        # cuBLASLt wants more than 16 rows, and lengths that are multiples of 8
        (m, k), n = a.shape, b.shape[1]
        a = F.pad(a, (0, -k % 8, 0, max(17 - m, 0)))
        b = F.pad(b, (0, -n % 8, 0, -k % 8))
        return int_mm(a, b)[:m, :n]
    return int_mm(_plain(a), _plain(b))


def _exact_mm(a, b):
    return (a.double() @ b.double()).to(torch.int32)


def product(a, b):
    """int8 or uint8 (m, k) x int8 (k, n) -> int32, exact."""
    if a.dtype is torch.uint8:
        # 0 to 255 becomes -128 to 127, and 128 times the column sums is added again
        shift = b.sum(0, dtype=torch.int32) * 128
        return product((a.to(torch.int16) - 128).to(torch.int8), b) + shift
    if a.is_meta or not a.numel() or not b.numel():
        return a.new_zeros((a.shape[0], b.shape[1]), dtype=torch.int32)
    try:
        return _int_mm(a, b)
    except (RuntimeError, NotImplementedError):
        return _exact_mm(a, b)


ROOM = 1 << 26          # bytes that the unrolled windows of a convolution may take at a time


def convolution(data, weight, stride, dilate, pad, groups=1):
    """int8 or uint8 (n, c, ...) convolved with int8 (filters, c / groups, ...) -> int32, exact but for `_in_pairs`.

    Inside, channels come last: then a window's values lie side by side, and the product gives the result in this order,
    too.  It is given as a view, so that a layer that follows need not turn it again.
    """
    kernel = weight.shape[2:]
    last = data.movedim(1, -1).contiguous()
    if any(pad):
        last = F.pad(last, (0, 0, *[p for axis in reversed(pad) for p in (axis, axis)]))
    sizes = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(last.shape[1:], kernel, stride, dilate, strict=False)]
    if min(sizes) < 1:
        raise MXNetError(f'operator _contrib_quantized_conv: kernel {tuple(kernel)} does not fit into data of shape '
                         f'{tuple(data.shape)} with pad {tuple(pad)}')
    if data.is_meta:
        return torch.empty((data.shape[0], *sizes, weight.shape[0]), dtype=torch.int32, device='meta').movedim(-1, 1)
    width = weight[0].numel()
    if groups > 1:
        return _by_groups(data, weight, stride, dilate, pad, groups)
    matrix = weight.movedim(1, -1).reshape(-1, width).t()
    places = 1
    for n in sizes:
        places *= n
    step = max(1, ROOM // max(1, places * width))
    in_pairs = _in_pairs(data, weight)
    parts = []
    for part in last.split(step):
        rows = _windows(part, kernel, stride, dilate, sizes).reshape(-1, width)
        parts.append(product(rows, matrix))
        if in_pairs:
            _saturate_pairs(parts[-1], rows, matrix)
    result = parts[0] if len(parts) == 1 else torch.cat(parts)
    return result.reshape(data.shape[0], *sizes, weight.shape[0]).movedim(-1, 1)


def _by_groups(data, weight, stride, dilate, pad, groups):
    """Many small products: floating point has a kernel for them, and is exact for whole numbers that fit."""
    # a GPU's library may transform windows first, which makes fractions, but not in double precision
    fits = weight[0].numel() * 255 * 128 < 1 << 24 and not data.is_cuda
    dtype = torch.float32 if fits else torch.float64
    convolve = (F.conv1d, F.conv2d, F.conv3d)[weight.dim() - 3]
    return convolve(data.to(dtype), weight.to(dtype), None, stride, pad, dilate, groups).to(torch.int32)


def _windows(data, kernel, stride, dilate, sizes):
    """A view (n, places..., kernel..., c) of data (n, ..., c)."""
    outer, *inner, channel = data.stride()
    strides = (outer, *[t * s for t, s in zip(inner, stride, strict=True)],
               *[t * d for t, d in zip(inner, dilate, strict=True)], channel)
    return data.as_strided((data.shape[0], *sizes, *kernel, data.shape[-1]), strides, data.storage_offset())


# ---------------------------------------------------------------------- sums of 16 bits
def _in_pairs(data, weight):
    """Whether upstream adds the products of two channels in 16 bits, saturated, before it sums up in 32.

    Its kernels for CPUs do so with uint8 data whenever channels and filters are multiples of 4, but filters not of 16:
    on every CPU, while for other numbers it depends on the CPU, its caches and threads.  Those, and GPUs, are exact.
    """
    filters = weight.shape[0]
    return (data.dtype is torch.uint8 and not data.is_cuda and data.shape[1] % 4 == 0 and filters % 4 == 0
            and filters % 16 != 0)


def _saturate_pairs(result, rows, matrix):
    """Takes off an exact result of uint8 rows (m, k) x int8 matrix (k, n) what the sums of pairs have above 16 bits."""
    low, high = -32768, 32767
    pairs = matrix.reshape(-1, 2, matrix.shape[1]).to(torch.int32)
    # most pairs of weights cannot reach the limit, whatever the data: those that can are (pair, filter)
    reach = (255 * pairs.clamp(min=0).sum(1) > high) | (255 * pairs.clamp(max=0).sum(1) < low)
    places, filters = reach.nonzero(as_tuple=True)
    if not len(places):
        return
    columns = rows.t().reshape(-1, 2, rows.shape[0]).to(torch.int16)
    turned = torch.zeros((matrix.shape[1], rows.shape[0]), dtype=torch.int32, device=rows.device)
    step = max(1, ROOM // (8 * rows.shape[0]))
    for place, filter_ in zip(places.split(step), filters.split(step), strict=True):
        sums = (columns[place] * pairs[place, :, filter_].unsqueeze(-1)).sum(1, dtype=torch.int32)
        turned.index_add_(0, filter_, sums.clamp(low, high).sub_(sums))
    result += turned.t()
