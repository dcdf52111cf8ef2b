"""Resizing images and reading them between their pixels."""
import struct
from typing import Literal

import torch
from torch.nn import functional as F

from ...base import MXNetError
from ..core import shapes
from ..core.attributes import NonNegative, Shape
from ..core.table import operator
from ..nn.spatial import check_rank, check_shape


# ---------------------------------------------------------------------- resizing
def _upsampling_inputs(attributes):
    if attributes['sample_type'] == 'bilinear':
        return 'data', 'weight'
    return [f'arg{i}' for i in range(attributes['num_args'])]


@operator(variadic='num_args', variadic_names=_upsampling_inputs, shapes=shapes.upsampling, same_dtype='*',
          initializers={'weight': '["bilinear", {}]'})
def UpSampling(*data, scale: int, num_filter: int = 0, sample_type: Literal['bilinear', 'nearest'],
               multi_input_mode: Literal['concat', 'sum'] = 'concat', num_args: int, workspace: NonNegative = 512):
    """Makes images `scale` times as high and as wide.

    'nearest' repeats pixels; further inputs are brought to the size of the first and then concatenated along the
    channels or added up.  'bilinear' takes an image and a weight of shape (channels, 1, k, k) with
    k = 2 scale - scale % 2, which it applies as a `Deconvolution` for each channel.
    """
    if scale < 1:
        raise MXNetError(f'operator UpSampling: argument scale={scale} must be at least 1')
    for image in data[:1] if sample_type == 'bilinear' else data:
        check_rank('UpSampling', image, 2, None)
    if sample_type == 'bilinear':
        return _upsample_bilinear(data, scale, num_filter)
    height, width = data[0].shape[2] * scale, data[0].shape[3] * scale
    for i, image in enumerate(data):
        if height % image.shape[2] or width % image.shape[3]:
            raise MXNetError(f'operator UpSampling: arg{i} has shape {tuple(image.shape)}, which does not divide the '
                             f'output of height {height} and width {width}')
    resized = [F.interpolate(image, (height, width), mode='nearest') for image in data]
    if len(resized) == 1:
        return resized[0]
    if multi_input_mode == 'concat':
        return torch.cat(resized, 1)
    if len({image.shape[1] for image in resized}) > 1:
        raise MXNetError("operator UpSampling: multi_input_mode='sum' needs inputs with the same number of channels, "
                         f'but they have {", ".join(str(image.shape[1]) for image in resized)}')
    total = resized[0]
    for image in resized[1:]:
        total = total + image
    return total


def _upsample_bilinear(data, scale, num_filter):
    if len(data) != 2:
        raise MXNetError(f"operator UpSampling: sample_type='bilinear' takes data and weight, "
                         f'but there are {len(data)} inputs')
    image, weight = data
    channels = image.shape[1]
    if num_filter not in (0, channels):
        raise MXNetError(f'operator UpSampling: argument num_filter={num_filter} must be the number of channels of '
                         f'data, {channels}')
    kernel = 2 * scale - scale % 2
    check_shape('UpSampling', 'weight', weight, (channels, 1, kernel, kernel))
    return torch.conv_transpose2d(image, weight, None, scale, scale // 2, 0, channels)


def _scaled(size, scale):
    """A length times a scale in single precision, cut to an int: so upstream does it."""
    single, = struct.unpack('f', struct.pack('f', scale))
    product, = struct.unpack('f', struct.pack('f', single * size))
    return int(product)


def _resized_length(mode, size, wanted, scale):
    odd = size % 2
    if mode == 'size':
        return wanted if scale is None else _scaled(size, scale)
    if mode == 'odd_scale':
        if scale is None:
            raise MXNetError("operator BilinearResize2D: mode='odd_scale' needs scale_height and scale_width")
        return _scaled(size - 1, scale) + 1 if odd else _scaled(size, scale)
    step = -1 if mode.endswith('down') else 1
    return size if odd == mode.startswith('to_odd') else size + step


@operator('_contrib_BilinearResize2D', optional={'like': lambda a: a['mode'] == 'like'})
def BilinearResize2D(data, like=None, *, height: int = 1, width: int = 1, scale_height: float | None = None,
                     scale_width: float | None = None,
                     mode: Literal['like', 'odd_scale', 'size', 'to_even_down', 'to_even_up', 'to_odd_down',
                                   'to_odd_up'] = 'size', align_corners: bool = True):
    """Resizes images (batch, channels, height, width) with bilinear interpolation.

    The new size is `height` and `width`, or the old times `scale_height` and `scale_width` if these are given;
    with 'odd_scale' an odd length n becomes (n - 1) scale + 1; with 'like' it is that of the second input; the other
    modes go to the next even or odd length.
    """
    check_rank('BilinearResize2D', data, 2, None)
    if mode == 'like':
        size = like.shape[2:4]
    else:
        size = (_resized_length(mode, data.shape[2], height, scale_height),
                _resized_length(mode, data.shape[3], width, scale_width))
    if min(size) < 1:
        raise MXNetError(f'operator BilinearResize2D: the result would have height {size[0]} and width {size[1]}')
    if not align_corners:
        # a length of 1 comes from the first pixel, not from the middle as torch has it
        if size[0] == 1:
            data = data[:, :, :1]
        if size[1] == 1:
            data = data[:, :, :, :1]
    return F.interpolate(data, tuple(size), mode='bilinear', align_corners=align_corners)


# ---------------------------------------------------------------------- sampling at computed places
def _sample(data, grid):
    """Bilinear samples at places (batch, 2, height, width) given as x, y from -1 to 1; zero outside."""
    return F.grid_sample(data, grid.movedim(1, -1), mode='bilinear', padding_mode='zeros', align_corners=True)


def _affine_grid(theta, height, width):
    """Places x, y that affine maps (batch, 6) assign to the pixels of a regular grid."""
    def from_minus_one_to_one(count):
        steps = torch.arange(count, device=theta.device, dtype=theta.dtype)
        return steps * (2 / (count - 1)) - 1 if count > 1 else steps

    x = from_minus_one_to_one(width).expand(height, width)
    y = from_minus_one_to_one(height)[:, None].expand(height, width)
    points = torch.stack((x, y, torch.ones_like(x))).flatten(1)
    return torch.matmul(theta.reshape(-1, 2, 3), points).unflatten(-1, (height, width))


def _check_affine(name, argument, theta, target_shape):
    if theta.dim() != 2 or theta.shape[1] != 6:
        raise MXNetError(f'operator {name}: {argument} has shape {tuple(theta.shape)}, but affine maps need (batch, 6)')
    if len(target_shape) != 2 or min(target_shape) < 1:
        raise MXNetError(f'operator {name}: argument target_shape={target_shape} must be a positive height and width')


@operator(hidden=1, same_dtype=('data', 'grid'))
def BilinearSampler(data, grid, *, cudnn_off: bool | None = None):
    """Reads images (batch, channels, height, width) at the places of `grid`, with bilinear interpolation.

    `grid` has shape (batch, 2, new height, new width): x, then y, both from -1 (first pixel) to 1 (last).  What is
    outside of the image is zero.
    """
    check_rank('BilinearSampler', data, 2, None)
    if grid.dim() != 4 or grid.shape[0] != data.shape[0] or grid.shape[1] != 2:
        raise MXNetError(f'operator BilinearSampler: grid has shape {tuple(grid.shape)}, but for data of shape '
                         f'{tuple(data.shape)} it must be ({data.shape[0]}, 2, height, width)')
    return _sample(data, grid)


@operator(hidden=1)
def GridGenerator(data, *, transform_type: Literal['affine', 'warp'], target_shape: Shape = (0, 0)):
    """Makes a grid for `BilinearSampler`.

    'affine': `data` has shape (batch, 6), a map for each image, and the grid has `target_shape`.
    'warp': `data` has shape (batch, 2, height, width), by how many pixels in x and y each place is moved.
    """
    if transform_type == 'affine':
        _check_affine('GridGenerator', 'data', data, target_shape)
        return _affine_grid(data, *target_shape)
    if data.dim() != 4 or data.shape[1] != 2:
        raise MXNetError(f'operator GridGenerator: data has shape {tuple(data.shape)}, but to warp it must be '
                         f'(batch, 2, height, width)')
    height, width = data.shape[2:]
    x = torch.arange(width, device=data.device, dtype=data.dtype)
    y = torch.arange(height, device=data.device, dtype=data.dtype)[:, None]
    return torch.stack(((data[:, 0] + x) / ((width - 1) / 2) - 1 if width > 1 else data[:, 0],
                        (data[:, 1] + y) / ((height - 1) / 2) - 1 if height > 1 else data[:, 1]), 1)


@operator(hidden=2, same_dtype=('data', 'loc'))
def SpatialTransformer(data, loc, *, target_shape: Shape = (0, 0), transform_type: Literal['affine'],
                       sampler_type: Literal['bilinear'], cudnn_off: bool | None = None):
    """Reads images through affine maps `loc` of shape (batch, 6): `GridGenerator`, then `BilinearSampler`."""
    check_rank('SpatialTransformer', data, 2, None)
    _check_affine('SpatialTransformer', 'loc', loc, target_shape)
    return _sample(data, _affine_grid(loc, *target_shape))


# ---------------------------------------------------------------------- comparing two images
@operator(hidden=2, same_dtype=('data1', 'data2'))
def Correlation(data1, data2, *, kernel_size: NonNegative = 1, max_displacement: NonNegative = 1,
                stride1: NonNegative = 1, stride2: NonNegative = 1, pad_size: NonNegative = 0,
                is_multiply: bool = True):
    """Compares patches of one image with displaced patches of another (FlowNet).

    Channel c of the result is one displacement out of (2 max_displacement // stride2 + 1) squared, rows first; its
    value is the mean over patch and channels of the products, or of the absolute differences.
    """
    check_rank('Correlation', data1, 2, None)
    check_shape('Correlation', 'data2', data2, data1.shape)
    if kernel_size % 2 == 0 or min(stride1, stride2) < 1:
        raise MXNetError(f'operator Correlation: kernel_size={kernel_size} must be odd, stride1={stride1} and '
                         f'stride2={stride2} positive')
    border = max_displacement + kernel_size // 2
    rows, columns = (-(-(size + 2 * pad_size - 2 * border) // stride1) for size in data1.shape[2:])
    if min(rows, columns) < 1:
        raise MXNetError(f'operator Correlation: kernel and displacements do not fit into data of shape '
                         f'{tuple(data1.shape)} with pad_size={pad_size}')
    first, second = (F.pad(data, (pad_size,) * 4) for data in (data1, data2))
    height, width = (rows - 1) * stride1 + kernel_size, (columns - 1) * stride1 + kernel_size
    # without patches, only every stride1-th pixel is needed at all
    step = stride1 if kernel_size == 1 else 1

    def part(image, row, column):
        return image[:, :, row:row + height:step, column:column + width:step]

    here = part(first, max_displacement, max_displacement)
    reach = max_displacement // stride2
    moves = [i * stride2 + max_displacement for i in range(-reach, reach + 1)]
    results = []
    for row in moves:
        for column in moves:
            there = part(second, row, column)
            if is_multiply:
                result = here * there
            else:
                difference = here - there
                result = torch.where(difference >= 0, difference, -difference)   # not abs: its gradient at 0 is 0
            results.append(result.mean(1))
    result = torch.stack(results, 1)
    return result if kernel_size == 1 else F.avg_pool2d(result, kernel_size, stride1)
