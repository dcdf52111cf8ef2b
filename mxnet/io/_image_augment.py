"""What `ImageRecordIter` does to a picture before it becomes numbers.  Pictures are BGR bytes, as OpenCV has them."""
import math

import numpy

from ..base import MXNetError

METHODS = (0, 1, 2, 3, 4, 9, 10)

# eigenvalue times eigenvector of the colours of ImageNet
_PCA = numpy.array([[55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009],
                    [55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140],
                    [55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203]])


# the numbers from -256 to 511, kept within hues or bytes: from place 256 + n on are those of n, n + 1, ...
_HUES, _BYTES = (numpy.clip(numpy.arange(-256, 768), 0, limit).astype(numpy.uint8) for limit in (180, 255))


def opencv(name):
    try:
        import cv2
    except ImportError as error:
        raise ImportError(f'{name} needs OpenCV: pip install opencv-python-headless') from error
    return cv2


def interpolation(method, old, new, draw):
    """OpenCV's number of a method; `old` and `new` are (width, height).  9 looks at the sizes, 10 is any."""
    if method == 9:
        if new[0] > old[0] and new[1] > old[1]:
            return 2        # cubic, to enlarge
        return 3 if new[0] < old[0] and new[1] < old[1] else 1      # area, to shrink; else linear
    return draw.randint(0, 4) if method == 10 else method


def resized(picture, width, height, method, draw):
    size = picture.shape[1], picture.shape[0]
    if size == (width, height):
        return picture
    import cv2
    return cv2.resize(picture, (width, height), interpolation=interpolation(method, size, (width, height), draw))


def short_edge(picture, length, method, draw):
    """The picture with its shorter edge resized to a length, the other in proportion."""
    rows, columns = picture.shape[:2]
    if rows > columns:
        return resized(picture, length, length * rows // columns, method, draw)
    return resized(picture, length * columns // rows, length, method, draw)


def mapped(picture, tables):
    """The picture with each value v of channel c replaced by tables[c][v], where tables are of bytes."""
    import cv2
    if picture.ndim == 2:
        return cv2.LUT(picture, tables[0])
    return cv2.LUT(picture, numpy.ascontiguousarray(tables[:picture.shape[2]].T)[None])


def linear_table(scale, offset=0):
    """Table of v * scale + offset, rounded and kept within bytes."""
    values = numpy.arange(256) * scale + offset
    return numpy.tile(numpy.clip(numpy.rint(values), 0, 255).astype(numpy.uint8), (4, 1))


def shifted_hls(picture, hue, lightness, saturation):
    """The picture with whole numbers added to its channels in HLS."""
    import cv2
    table = numpy.empty((256, 3), numpy.uint8)
    for channel, (by, numbers) in enumerate(((hue, _HUES), (lightness, _BYTES), (saturation, _BYTES))):
        by = max(-256, min(by, 256))
        table[:, channel] = numbers[256 + by:512 + by]
    return cv2.cvtColor(cv2.LUT(cv2.cvtColor(picture, cv2.COLOR_BGR2HLS), table[None]), cv2.COLOR_HLS2BGR)


class Augmenter:
    """Resizes, turns, pads, crops and colours, in this order, as far as parameters ask for it."""

    # the parameters of `ImageRecordIter`
    resize: int
    rand_crop: bool
    random_resized_crop: bool
    max_rotate_angle: int
    max_aspect_ratio: float
    min_aspect_ratio: float | None
    max_shear_ratio: float
    max_crop_size: int
    min_crop_size: int
    max_random_scale: float
    min_random_scale: float
    max_random_area: float
    min_random_area: float
    max_img_size: float
    min_img_size: float
    brightness: float
    contrast: float
    saturation: float
    pca_noise: float
    random_h: int
    random_s: int
    random_l: int
    rotate: int
    rotate_list: tuple[int, ...]
    fill_value: int
    inter_method: int
    pad: int

    def __init__(self, name, data_shape, options):
        self.__dict__.update(options)
        self._name = name
        self._height, self._width = data_shape[1:]
        if self.inter_method not in METHODS:
            raise MXNetError(f'{name}: inter_method is one of {METHODS}, not {self.inter_method}')
        if self.min_aspect_ratio is None:
            self._aspect = 1 - self.max_aspect_ratio, 1 + self.max_aspect_ratio
        else:
            self._aspect = self.min_aspect_ratio, self.max_aspect_ratio
        if self.random_resized_crop:
            self._check_resized_crop()
        self._fill = (self.fill_value,) * 3
        self._affine = (
            self.max_rotate_angle > 0 or self.max_shear_ratio > 0 or self.rotate > 0 or bool(self.rotate_list)
            or (self.min_random_scale, self.max_random_scale) != (1, 1)
            or (self.min_img_size, self.max_img_size) != (0, 1e10)
            or (not self.random_resized_crop and self._aspect != (1, 1)))
        self._jitter = self.brightness > 0 or self.contrast > 0 or self.saturation > 0
        self._hls = bool(self.random_h or self.random_s or self.random_l)
        # whether two pictures that are alike may become different: only then is a generator needed
        self.draws = (self._affine or self._jitter or self._hls or self.rand_crop or self.random_resized_crop
                      or self.pca_noise > 0 or self.inter_method == 10 or self.min_crop_size != self.max_crop_size)

    def _check_resized_crop(self):
        for name, neutral in (('min_random_scale', 1), ('max_random_scale', 1), ('min_crop_size', -1),
                              ('max_crop_size', -1), ('rand_crop', False)):
            if getattr(self, name) != neutral:
                raise MXNetError(f'{self._name}: random_resized_crop excludes {name}={getattr(self, name)}')
        if self.min_random_area > self.max_random_area or not 0 < self._aspect[0] <= self._aspect[1]:
            raise MXNetError(f'{self._name}: random_resized_crop needs min_random_area <= max_random_area and positive '
                             f'aspect ratios, but areas are {self.min_random_area} to {self.max_random_area} and '
                             f'ratios {self._aspect[0]} to {self._aspect[1]}')

    def __call__(self, picture, draw):
        """The picture in the size of data_shape."""
        if self.resize != -1:
            picture = short_edge(picture, self.resize, self.inter_method, draw)
        if self._affine:
            picture = self._turned(picture, draw)
        if self.pad > 0:
            import cv2
            picture = cv2.copyMakeBorder(picture, *(self.pad,) * 4, cv2.BORDER_CONSTANT, value=self._fill)
        picture = self._cropped(picture, draw)
        if self._jitter:
            picture = self._jittered(picture, draw)
        if self._hls:
            # the sum of two draws keeps most of them away from the limits
            near = [(draw.random() + 4 * draw.random()) / 5 * 2 - 1 for _ in range(3)]
            picture = shifted_hls(picture, int(near[0] * self.random_h), int(near[2] * self.random_l),
                                  int(near[1] * self.random_s))
        if self.pca_noise > 0:
            noise = _PCA @ [draw.gauss(0, self.pca_noise) for _ in range(3)]
            values = numpy.arange(256) + noise[::-1, None]
            picture = mapped(picture, numpy.clip(numpy.trunc(values), 0, 255).astype(numpy.uint8))
        return picture

    # ------------------------------------------------------------------ geometry
    def _turned(self, picture, draw):
        import cv2
        rows, columns = picture.shape[:2]
        shear = draw.uniform(-self.max_shear_ratio, self.max_shear_ratio)
        angle = draw.randint(-self.max_rotate_angle, self.max_rotate_angle)
        if self.rotate > 0:
            angle = self.rotate
        if self.rotate_list:
            angle = draw.choice(self.rotate_list)
        cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        scale = ratio = 1.0
        if not self.random_resized_crop:
            scale = draw.uniform(self.min_random_scale, self.max_random_scale)
            ratio = draw.uniform(*self._aspect)
        across = 2 * scale / (1 + ratio)
        down = ratio * across
        width = max(self.min_img_size, min(self.max_img_size, scale * columns))
        height = max(self.min_img_size, min(self.max_img_size, scale * rows))
        a, b = across * cosine - shear * sine * down, across * sine + shear * cosine * down
        c, d = -sine * down, cosine * down
        matrix = numpy.array([[a, b, (width - a * columns - b * rows) / 2],
                              [c, d, (height - c * columns - d * rows) / 2]], numpy.float32)
        method = interpolation(self.inter_method, (columns, rows), (width, height), draw)
        return cv2.warpAffine(picture, matrix, (int(width), int(height)), flags=method, borderMode=cv2.BORDER_CONSTANT,
                              borderValue=self._fill)

    def _cropped(self, picture, draw):
        rows, columns = picture.shape[:2]
        if self.random_resized_crop:
            box = self._random_box(rows, columns, draw)
        elif self.max_crop_size != -1 or self.min_crop_size != -1:
            if not self.min_crop_size <= self.max_crop_size <= min(rows, columns):
                raise MXNetError(f'{self._name}: min_crop_size={self.min_crop_size} <= max_crop_size='
                                 f'{self.max_crop_size} must fit in a picture of {rows} x {columns}')
            size = self.max_crop_size
            if self.min_crop_size < size:
                size = draw.randint(self.min_crop_size, size)
            box = *self._corner(rows - size, columns - size, draw), size, size
        else:
            box = None
        if box is not None:
            top, left, height, width = box
            return resized(picture[top:top + height, left:left + width], self._width, self._height, self.inter_method,
                           draw)
        picture = self._enlarged(picture, draw)
        rows, columns = picture.shape[:2]
        top, left = self._corner(rows - self._height, columns - self._width, draw)
        return picture[top:top + self._height, left:left + self._width]

    def _corner(self, free_rows, free_columns, draw):
        if self.rand_crop:
            return draw.randint(0, free_rows), draw.randint(0, free_columns)
        return free_rows // 2, free_columns // 2

    def _random_box(self, rows, columns, draw):
        """(top, left, height, width) of a random part of the picture; None if ten attempts do not fit."""
        if (self.min_random_area, self.max_random_area) == (1, 1) and self._aspect == (1, 1):
            return None
        for _ in range(10):
            area = rows * columns * draw.uniform(self.min_random_area, self.max_random_area)
            ratio = draw.uniform(*self._aspect)
            height, width = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
            if draw.random() > 0.5:
                height, width = width, height
            if 0 < height <= rows and 0 < width <= columns:
                return draw.randint(0, rows - height), draw.randint(0, columns - width), height, width
        return None

    def _enlarged(self, picture, draw):
        """The picture, in proportion, at least as large as what is cut out of it."""
        rows, columns = picture.shape[:2]
        single = numpy.float32          # as upstream computes, so that sizes are never one off
        method = interpolation(self.inter_method, (columns, rows), (self._width, self._height), draw)
        if rows < self._height:
            columns = int(single(self._height) / single(rows) * single(columns))
            picture = resized(picture, columns, self._height, method, draw)
            rows = self._height
        if columns < self._width:
            rows = int(single(self._width) / single(columns) * single(rows))
            picture = resized(picture, self._width, rows, method, draw)
        if picture.shape[0] < self._height or picture.shape[1] < self._width:
            raise MXNetError(f'{self._name}: a picture of {picture.shape[:2]} cannot be cropped to '
                             f'{(self._height, self._width)}')
        return picture

    # ------------------------------------------------------------------ colour
    def _jittered(self, picture, draw):
        import cv2
        grey = (lambda p: p) if picture.ndim == 2 else (lambda p: cv2.cvtColor(p, cv2.COLOR_RGB2GRAY))
        brightness, contrast, saturation = (1 + draw.uniform(-by, by)
                                            for by in (self.brightness, self.contrast, self.saturation))
        steps = ['brightness', 'contrast', 'saturation']
        draw.shuffle(steps)
        for step in steps:
            if step == 'brightness':
                picture = mapped(picture, linear_table(brightness))
            elif step == 'contrast':
                picture = mapped(picture, linear_table(contrast, (1 - contrast) * cv2.mean(grey(picture))[0]))
            elif picture.ndim == 3:
                without = cv2.cvtColor(grey(picture), cv2.COLOR_GRAY2BGR)
                picture = cv2.addWeighted(picture, saturation, without, 1 - saturation, 0)
        return picture
