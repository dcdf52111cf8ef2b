"""Images as arrays: (height, width, channels), or with a batch axis in front.

Random adjustments draw their factor from the generator that the caller supplies and keep it a tensor, so that they can
be traced.  Values of uint8 images are cut to 0 ... 255 and lose their fraction; others are left as computed.
"""

import torch

from ...base import MXNetError
from ..core.attributes import Floats, Rng, Shape
from ..core.table import operator
from . import opencv


def _image(name, data, channels=(1, 3)):
    """Checks that it is an image or a batch of them."""
    if data.dim() not in (3, 4) or (channels and data.shape[-1] not in channels):
        allowed = f' with {" or ".join(map(str, channels))} channels' if channels else ''
        raise MXNetError(f'operator {name}: data has shape {tuple(data.shape)}; an image has (height, width, channels) '
                         f'and a batch (images, height, width, channels){allowed}')


def _saturate(values, dtype):
    if dtype is torch.uint8:
        values = values.clamp(0, 255)
    return values.to(dtype)


def _float(data):
    return data if data.is_floating_point() else data.float()


# ---------------------------------------------------------------------- layout and values
@operator('_image_to_tensor', aliases=('_npx__image_to_tensor',))
def to_tensor(data):
    """From (height, width, channels) and 0 ... 255 to float32 (channels, height, width) and 0 ... 1."""
    _image('_image_to_tensor', data, ())
    moved = data.movedim(-1, -3).contiguous()
    return (moved if moved.dtype is torch.float32 else moved.float()) / 255.0


_NO_MEAN, _NO_STD = (0.0,) * 4, (1.0,) * 4


@operator('_image_normalize', aliases=('_npx__image_normalize',))
def normalize(data, *, mean: Floats = _NO_MEAN, std: Floats = _NO_STD):
    """`(data - mean) / std` per channel of (channels, height, width); one value stands for all channels."""
    if data.dim() not in (3, 4) or data.shape[-3] not in (1, 3):
        raise MXNetError(f'operator _image_normalize: data has shape {tuple(data.shape)}; it must be (channels, '
                         'height, width) or (images, channels, height, width) with 1 or 3 channels')
    channels = data.shape[-3]
    values = _float(data)
    mean = _per_channel('mean', mean, _NO_MEAN, channels, values)
    std = _per_channel('std', std, _NO_STD, channels, values)
    return ((values - mean) / std).to(data.dtype)


def _per_channel(argument, given, default, channels, like):
    if given == default or len(given) == 1:
        return given[0]
    if len(given) != channels:
        raise MXNetError(f'operator _image_normalize: {argument} has {len(given)} values; it takes 1, or {channels} '
                         f'for data with {channels} channels')
    return torch.tensor(given, dtype=like.dtype, device=like.device).reshape(-1, 1, 1)


# ---------------------------------------------------------------------- geometry
@operator('_image_crop', aliases=('_npx__image_crop',))
def crop(data, *, x: int, y: int, width: int, height: int):
    """The part of an image, `width` wide and `height` high, with its left upper corner at column `x`, row `y`."""
    _image('_image_crop', data)
    if width <= 0 or height <= 0 or x < 0 or y < 0 or x + width > data.shape[-2] or y + height > data.shape[-3]:
        raise MXNetError(f'operator _image_crop: x={x}, y={y}, width={width}, height={height} is not inside of an '
                         f'image of width {data.shape[-2]} and height {data.shape[-3]}')
    return data[..., y:y + height, x:x + width, :].clone(memory_format=torch.contiguous_format)


@operator('_image_flip_left_right', aliases=('_npx__image_flip_left_right',))
def flip_left_right(data):
    """The image mirrored: its columns in reverse order."""
    _image('_image_flip_left_right', data)
    return opencv.mirrored(data) if data.dim() == 3 and opencv.takes(data) else data.flip(-2)


@operator('_image_flip_top_bottom', aliases=('_npx__image_flip_top_bottom',))
def flip_top_bottom(data):
    """The image upside down: its rows in reverse order."""
    _image('_image_flip_top_bottom', data)
    return data.flip(-3)


def _perhaps(data, change, rng):
    coin = torch.empty((), device=data.device).uniform_(generator=rng) < 0.5
    if type(data) is torch.Tensor and data.device.type == 'cpu':        # nobody traces this
        return data.clone() if coin else change(data)
    return torch.where(coin, data, change(data))


@operator('_image_random_flip_left_right', aliases=('_npx__image_random_flip_left_right',))
def random_flip_left_right(data, *, rng: Rng = None):
    """The image or its mirror image, each as likely."""
    return _perhaps(data, flip_left_right, rng)


@operator('_image_random_flip_top_bottom', aliases=('_npx__image_random_flip_top_bottom',))
def random_flip_top_bottom(data, *, rng: Rng = None):
    """The image as it is or upside down, each as likely."""
    return _perhaps(data, flip_top_bottom, rng)


@operator('_image_resize', aliases=('_npx__image_resize',))
def resize(data, *, size: Shape = (), keep_ratio: bool = False, interp: int = 1):
    """Scales an image to `size`: (width, height), or one number for both.

    With `keep_ratio`, one number is the length of the shorter side.  `interp` is OpenCV's number: 0 nearest,
    1 bilinear, 2 bicubic, 3 by area, 4 Lanczos over 8 x 8 pixels.
    """
    name = '_image_resize'
    _image(name, data, ())
    height, width = _new_size(name, data.shape[-3], data.shape[-2], size, keep_ratio)
    if interp not in (0, 1, 2, 3, 4):
        raise MXNetError(f'operator {name}: interp={interp} is not accepted; it takes 0 (nearest), 1 (bilinear), '
                         '2 (bicubic), 3 (area) or 4 (Lanczos)')
    if opencv.takes(data):
        return opencv.resized(data, height, width, interp)
    planes = (data if data.dim() == 4 else data[None]).permute(0, 3, 1, 2)
    result = _resampled(planes, height, width, interp).permute(0, 2, 3, 1).contiguous()
    return result if data.dim() == 4 else result[0]


def _new_size(name, height, width, size, keep_ratio):
    if len(size) not in (1, 2) or min(size) <= 0:
        raise MXNetError(f'operator {name}: size={size} is not accepted; it takes (width, height) or one number, all '
                         'above 0')
    if len(size) == 2:
        return size[1], size[0]
    if not keep_ratio:
        return size[0], size[0]
    if height > width:
        return height * size[0] // width, size[0]
    return size[0], width * size[0] // height


def _resampled(planes, height, width, interp):
    """(images, channels, height, width) in, the same out with another height and width."""
    if interp == 0:
        return _nearest(planes, height, width)
    if interp == 1 and planes.dtype is torch.uint8:
        return _bilinear_bytes(planes, height, width)
    values = _float(planes)
    if interp == 1:
        # two pixels a row and column: cheaper than a matrix of weights
        for axis, old, new in ((-1, planes.shape[-1], width), (-2, planes.shape[-2], height)):
            first, fraction = _source(old, new)
            left, right = (values.index_select(axis, i.clamp(0, old - 1).to(values.device)) for i in (first, first + 1))
            share = fraction.to(values)
            values = left + (right - left) * (share if axis == -1 else share[:, None])
    else:
        shrinks = height <= planes.shape[-2] and width <= planes.shape[-1]
        weights = _cubic if interp == 2 else _lanczos if interp == 4 else _overlaps if shrinks else _grown
        tall = weights(planes.shape[-2], height).to(values)
        wide = weights(planes.shape[-1], width).to(values)
        values = torch.einsum('yh,nchw,xw->ncyx', tall, values, wide)
    if values.dtype is planes.dtype:
        return values
    low, high = torch.iinfo(planes.dtype).min, torch.iinfo(planes.dtype).max
    return values.round().clamp(low, high).to(planes.dtype)


def _nearest(planes, height, width):
    rows = torch.arange(height, device=planes.device) * planes.shape[-2] // height
    columns = torch.arange(width, device=planes.device) * planes.shape[-1] // width
    return planes[..., rows[:, None], columns]


def _source(old, new):
    """Where new pixels lie among the old ones: (the one before, how far behind it), in OpenCV's precision."""
    at = ((torch.arange(new, dtype=torch.float64) + 0.5) * (old / new) - 0.5).float()
    first = at.floor()
    return first.long(), (at - first).double()


def _bilinear_bytes(planes, height, width):
    """OpenCV's arithmetic for bytes: weights in steps of 1/2048, sums cut down on the way."""
    values = planes.int()
    parts = []
    for axis, old, new in ((-1, planes.shape[-1], width), (-2, planes.shape[-2], height)):
        first, fraction = _source(old, new)
        fraction = torch.where((first < 0) | (first >= old - 1), 0.0, fraction)
        shares = [(s * 2048).round().int().to(planes.device) for s in (1 - fraction, fraction)]
        if axis == -2:
            values = values >> 4
            shares = [s[:, None] for s in shares]
        parts = [values.index_select(axis, i.clamp(0, old - 1).to(planes.device)) * share
                 for i, share in zip((first, first + 1), shares, strict=True)]
        if axis == -1:
            values = parts[0] + parts[1]
    return (((parts[0] >> 16) + (parts[1] >> 16) + 2) >> 2).to(torch.uint8)


def _cubic(old, new):
    """Weights (new, old) of bicubic interpolation with OpenCV's slope, -0.75."""
    first, x = _source(old, new)
    x = x[:, None]

    def near(t):
        return (1.25 * t - 2.25) * t * t + 1

    def far(t):
        return ((-0.75 * t + 3.75) * t - 6) * t + 3

    return _taps(first[:, None] - 1, torch.cat((far(x + 1), near(x), near(1 - x), far(2 - x)), 1), old)


def _overlaps(old, new):
    """Weights (new, old) of resampling by area."""
    at = torch.arange(new, dtype=torch.float64)[:, None]
    source = torch.arange(old, dtype=torch.float64)
    right = torch.minimum((at + 1) * (old / new), source + 1)
    overlap = (right - torch.maximum(at * (old / new), source)).clamp_min(0)
    return overlap / overlap.sum(1, keepdim=True)


def _grown(old, new):
    """Weights (new, old) that OpenCV takes for areas unless both sides shrink: bilinear with sharper edges."""
    at = torch.arange(new, dtype=torch.float64)[:, None]
    first = (at * (old / new)).floor()
    fraction = (at + 1) - (first + 1) * (new / old)
    fraction = torch.where(fraction <= 0, 0.0, fraction - fraction.floor())
    return _taps(first.long(), torch.cat((1 - fraction, fraction), 1), old)


def _lanczos(old, new):
    """Weights (new, old) of Lanczos interpolation over 8 pixels."""
    first, fraction = _source(old, new)
    distance = fraction[:, None] - torch.arange(-3, 5, dtype=torch.float64)
    taps = torch.sinc(distance) * torch.sinc(distance / 4)
    return _taps(first[:, None] - 3, taps / taps.sum(1, keepdim=True), old)


def _taps(first, taps, old):
    # pixels beyond the border are those at the border
    columns = (first + torch.arange(taps.shape[1])).clamp(0, old - 1)
    return torch.zeros(taps.shape[0], old, dtype=torch.float64).scatter_add_(1, columns, taps)


# ---------------------------------------------------------------------- light and colour
_GRAY = (0.299, 0.587, 0.114)       # how bright red, green and blue seem


def _factor(name, data, low, high, rng):
    if low < 0 or high < low:
        raise MXNetError(f'operator {name}: min_factor={low}, max_factor={high} is not accepted; it must be '
                         '0 <= min_factor <= max_factor')
    return torch.empty((), device=data.device).uniform_(low, high, generator=rng)


def _blend(data, factor, other):
    """`other` at factor 0, the image itself at 1, and beyond."""
    return data * factor + (1.0 - factor) * other


def _mean_gray(values):
    gray = values if values.shape[-1] == 1 else values * values.new_tensor(_GRAY)
    return gray.sum(-1, keepdim=True).mean((-3, -2), keepdim=True)


def _pixel_gray(values):
    # upstream's operators take the share of blue alone for the gray of a pixel
    return values if values.shape[-1] == 1 else values[..., 2:] * _GRAY[2]


@operator('_image_random_brightness', aliases=('_npx__image_random_brightness',))
def random_brightness(data, *, min_factor: float, max_factor: float, rng: Rng = None):
    """The image times a random factor between `min_factor` and `max_factor`."""
    name = '_image_random_brightness'
    _image(name, data)
    return _saturate(_float(data) * _factor(name, data, min_factor, max_factor, rng), data.dtype)


@operator('_image_random_contrast', aliases=('_npx__image_random_contrast',))
def random_contrast(data, *, min_factor: float, max_factor: float, rng: Rng = None):
    """Moves all values away from the image's mean brightness by a random factor, or towards it if that is below 1."""
    name = '_image_random_contrast'
    _image(name, data)
    values = _float(data)
    factor = _factor(name, data, min_factor, max_factor, rng)
    return _saturate(_blend(values, factor, _mean_gray(values)), data.dtype)


@operator('_image_random_saturation', aliases=('_npx__image_random_saturation',))
def random_saturation(data, *, min_factor: float, max_factor: float, rng: Rng = None):
    """Makes colours stronger by a random factor, or paler if that is below 1."""
    name = '_image_random_saturation'
    _image(name, data)
    values = _float(data)
    factor = _factor(name, data, min_factor, max_factor, rng)
    return _saturate(_blend(values, factor, _pixel_gray(values)), data.dtype)


@operator('_image_random_hue', aliases=('_npx__image_random_hue',))
def random_hue(data, *, min_factor: float, max_factor: float, rng: Rng = None):
    """Turns all hues around the colour circle by a random number of turns; gray stays gray."""
    name = '_image_random_hue'
    _image(name, data)
    turns = _factor(name, data, min_factor, max_factor, rng)
    return _saturate(_turn_hue(_float(data), turns), data.dtype)


def _turn_hue(values, turns):
    """Hue, lightness, saturation and back: the hue moves, the other two stay."""
    if values.shape[-1] == 1:
        return values
    red, green, blue = (values / 255.0).unbind(-1)
    high = torch.maximum(torch.maximum(red, green), blue)
    low = torch.minimum(torch.minimum(red, green), blue)
    light, spread = (high + low) / 2, high - low
    coloured = spread > torch.finfo(torch.float32).eps
    divisor = torch.where(coloured, spread, 1.0)
    hue = torch.where(high == red, (green - blue) / divisor,
                      torch.where(high == green, (blue - red) / divisor + 2, (red - green) / divisor + 4))
    strength = spread / torch.where(coloured, torch.where(light < 0.5, high + low, 2 - high - low), 1.0)
    upper = torch.where(light <= 0.5, light * (1 + strength), light + strength - light * strength)
    lower = 2 * light - upper
    hue = hue + turns * 6

    def channel(offset):
        k = torch.remainder(hue + offset, 6.0)
        return lower + (upper - lower) * torch.minimum(k, 4 - k).clamp(0, 1)

    turned = torch.stack((channel(2), channel(0), channel(-2)), -1)
    return torch.where(coloured[..., None], turned, light[..., None]) * 255.0


@operator('_image_random_color_jitter', aliases=('_npx__image_random_color_jitter',))
def random_color_jitter(data, *, brightness: float, contrast: float, saturation: float, hue: float, rng: Rng = None):
    """Random brightness, contrast, saturation and hue, in random order.

    The first three factors are up to that much above or below 1; `hue` is the most that colours turn.
    """
    _image('_image_random_color_jitter', data)
    reach = [max(v, 0.0) for v in (brightness, contrast, saturation, hue)]
    values = _float(data)
    noise = torch.empty(4, device=data.device).uniform_(-1, 1, generator=rng) * values.new_tensor(reach).float()
    # the turn of hues is no factor: its step multiplies by 1
    factors = torch.cat((noise[:3] + 1.0, torch.ones_like(noise[:1])))
    order = torch.randperm(4, generator=rng, device=data.device)
    if type(data) is torch.Tensor and data.device.type == 'cpu':        # the order can be looked at
        grays = lambda v: 0.0, _mean_gray, _pixel_gray
        for step in order.tolist():
            if step == 3 and not reach[3]:
                continue
            changed = _turn_hue(values, noise[3]) if step == 3 else _blend(values, factors[step], grays[step](values))
            values = _saturate(changed, data.dtype).to(values.dtype)
        return values.to(data.dtype)
    for step in order.unbind():
        gray = torch.where(step == 1, _mean_gray(values), torch.where(step == 2, _pixel_gray(values), 0.0))
        changed = _blend(values, factors.take(step), gray)
        if reach[3]:
            changed = torch.where(step == 3, _turn_hue(values, noise[3]), changed)
        values = _saturate(changed, data.dtype).to(values.dtype)
    return values.to(data.dtype)


# eigenvectors times roots of eigenvalues of the colours of ImageNet (Krizhevsky et al. 2012)
_LIGHTING = ((55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009),
             (55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140),
             (55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203))


def _lit(data, alpha):
    if data.shape[-1] == 1:
        return data.clone()
    values = _float(data)
    return _saturate(values + (alpha.new_tensor(_LIGHTING) @ alpha).to(values.dtype), data.dtype)


@operator('_image_adjust_lighting', aliases=('_npx__image_adjust_lighting',))
def adjust_lighting(data, *, alpha: Floats):
    """Adds light along the three main directions that colours of ImageNet vary in, by the amounts of `alpha`."""
    _image('_image_adjust_lighting', data)
    if len(alpha) != 3:
        raise MXNetError(f'operator _image_adjust_lighting: alpha has {len(alpha)} values; it takes 3')
    return _lit(data, torch.tensor(alpha, dtype=torch.float32, device=data.device))


@operator('_image_random_lighting', aliases=('_npx__image_random_lighting',))
def random_lighting(data, *, alpha_std: float = 0.05, rng: Rng = None):
    """`adjust_lighting` by normally distributed amounts with deviation `alpha_std`."""
    _image('_image_random_lighting', data)
    return _lit(data, torch.empty(3, device=data.device).normal_(0, alpha_std, generator=rng))
