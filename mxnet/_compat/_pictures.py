"""Pillow, scipy.misc and OpenCV as programs of that time knew them."""
import functools
import importlib
import os
import re
import sys
import types

from . import _downloads
from ._report import report
from ._standin import Standin, named


def _name(module, name, make):
    return named(f'{module}-{name}', f'{module}.{name}, which is gone', make)


_FILTERS = {
    'ANTIALIAS': 'LANCZOS',
    'LINEAR': 'BILINEAR',
    'CUBIC': 'BICUBIC',
    'NEAREST': 'NEAREST',
    'BILINEAR': 'BILINEAR',
    'BICUBIC': 'BICUBIC',
    'BOX': 'BOX',
    'LANCZOS': 'LANCZOS',
    'HAMMING': 'HAMMING',
}


_TRANSPOSED = ('FLIP_LEFT_RIGHT', 'FLIP_TOP_BOTTOM', 'ROTATE_90', 'ROTATE_180', 'ROTATE_270', 'TRANSPOSE')


def _pil_image(name):
    from PIL import Image

    names = {
        key: _name('PIL.Image', key, functools.partial(getattr, Image.Resampling, value))
        for key, value in _FILTERS.items()
        if not hasattr(Image, key)
    }
    names.update(
        {
            key: _name('PIL.Image', key, functools.partial(getattr, Image.Transpose, key))
            for key in _TRANSPOSED
            if not hasattr(Image, key)
        }
    )
    names['open'] = lambda: _downloads.reads(Image.open)
    return Standin(name, Image, names)


def _imread(path, flatten=False, mode=None):
    import numpy
    from PIL import Image

    image = Image.open(_downloads.existing(path))
    return numpy.array(image.convert('F' if flatten else mode) if flatten or mode else image)


def _imresize(array, size, interp='bilinear', mode=None):
    import numpy
    from PIL import Image

    image = _to_image(array, mode)
    if isinstance(size, int):
        size = tuple((numpy.array(image.size) * size / 100.0).astype(int))
    elif isinstance(size, float):
        size = tuple((numpy.array(image.size) * size).astype(int))
    else:
        size = size[1], size[0]
    kinds = {
        'nearest': 'NEAREST',
        'lanczos': 'LANCZOS',
        'bilinear': 'BILINEAR',
        'bicubic': 'BICUBIC',
        'cubic': 'BICUBIC',
    }
    return numpy.array(image.resize(size, getattr(Image.Resampling, kinds[interp])))


def _bytescale(data, cmin=None, cmax=None, high=255, low=0):
    import numpy

    data = numpy.asarray(data)
    if data.dtype == numpy.uint8:
        return data
    cmin, cmax = data.min() if cmin is None else cmin, data.max() if cmax is None else cmax
    scaled = (data - cmin) * (float(high - low) / ((cmax - cmin) or 1)) + low
    return (scaled.clip(low, high) + 0.5).astype(numpy.uint8)


def _to_image(array, mode=None, **kwargs):
    import numpy
    from PIL import Image

    array = numpy.asarray(array)
    if array.ndim == 3 and array.shape[0] in (3, 4) and array.shape[2] not in (3, 4):
        array = array.transpose(1, 2, 0)
    if mode == 'F':
        return Image.fromarray(array.astype(numpy.float32))
    return Image.fromarray(_bytescale(array))


def _scipy_misc(name):
    report.note('scipy-misc', 'scipy.misc: imread, imsave, imresize and the like')
    module = types.ModuleType(name)
    module.__dict__.update(
        imread=_imread,
        imresize=_imresize,
        bytescale=_bytescale,
        toimage=_to_image,
        fromimage=lambda im, flatten=False, mode=None: __import__('numpy').array(im),
        imsave=lambda path, array, format=None: _to_image(array).save(path, format),
        imshow=lambda array: _to_image(array).show(),
        imrotate=lambda array, angle, interp='bilinear': __import__('numpy').array(_to_image(array).rotate(angle)),
        imfilter=None,
    )
    special = importlib.import_module('scipy.special')
    for key in ('logsumexp', 'factorial', 'comb'):
        setattr(module, key, getattr(special, key))
    vars(module).update(
        ascent=lambda: importlib.import_module('scipy.datasets').ascent(),
        face=lambda gray=False: importlib.import_module('scipy.datasets').face(gray),
        electrocardiogram=lambda: importlib.import_module('scipy.datasets').electrocardiogram(),
    )
    return module


def _cv2(name):
    import cv2

    names = {
        'CV_LOAD_IMAGE_COLOR': 'IMREAD_COLOR',
        'CV_LOAD_IMAGE_GRAYSCALE': 'IMREAD_GRAYSCALE',
        'CV_LOAD_IMAGE_UNCHANGED': 'IMREAD_UNCHANGED',
        'CV_LOAD_IMAGE_ANYCOLOR': 'IMREAD_ANYCOLOR',
        'CV_LOAD_IMAGE_ANYDEPTH': 'IMREAD_ANYDEPTH',
        'CV_AA': 'LINE_AA',
        'CV_BGR2GRAY': 'COLOR_BGR2GRAY',
        'CV_BGR2RGB': 'COLOR_BGR2RGB',
        'CV_RGB2BGR': 'COLOR_RGB2BGR',
        'CV_INTER_LINEAR': 'INTER_LINEAR',
        'CV_INTER_CUBIC': 'INTER_CUBIC',
        'CV_INTER_AREA': 'INTER_AREA',
        'CV_INTER_NN': 'INTER_NEAREST',
        'CV_FOURCC': 'VideoWriter_fourcc',
        'CV_CAP_PROP_FRAME_WIDTH': 'CAP_PROP_FRAME_WIDTH',
        'CV_CAP_PROP_FRAME_HEIGHT': 'CAP_PROP_FRAME_HEIGHT',
        'CV_CAP_PROP_FPS': 'CAP_PROP_FPS',
        'CV_CAP_PROP_FRAME_COUNT': 'CAP_PROP_FRAME_COUNT',
        'CV_CAP_PROP_POS_FRAMES': 'CAP_PROP_POS_FRAMES',
        'CV_RETR_TREE': 'RETR_TREE',
        'CV_RETR_LIST': 'RETR_LIST',
        'CV_CHAIN_APPROX_SIMPLE': 'CHAIN_APPROX_SIMPLE',
        'CV_FILLED': 'FILLED',
    }

    def old(today):
        return functools.partial(getattr, cv2, today)

    inner = {key.removeprefix('CV_') if key != 'CV_AA' else 'CV_AA': today for key, today in names.items()}
    cv = types.SimpleNamespace(
        **{key: getattr(cv2, today) for key, today in {**names, **inner}.items() if hasattr(cv2, today)}
    )
    makers = {key: _name('cv2', key, old(today)) for key, today in names.items() if hasattr(cv2, today)}
    makers['cv'] = _name('cv2', 'cv', lambda: cv)
    makers = {key: value for key, value in makers.items() if not hasattr(cv2, key)}
    makers['imread'] = lambda: _downloads.reads(cv2.imread)
    return Standin(name, cv2, {**makers, **({} if has_display() else _WINDOWS)})


def _imshow(window, picture):
    """`cv2.imshow` without a display: the window's last picture is a file in the working folder."""
    import cv2

    stem = os.path.splitext(os.path.basename(report.program or 'program'))[0] or 'program'
    path = f'{stem}-{re.sub("[^0-9A-Za-z_-]+", "_", str(window)) or "window"}.png'
    if path not in _shown:
        _shown.add(path)
        report.say(f'there is no display; the picture of the window {window!r} is saved as {path}')
    report.note('cv2-imshow', 'cv2.imshow without a display: pictures are saved as files')
    if picture.dtype.kind == 'f':  # windows show floats from 0 to 1
        picture = (picture * 255).clip(0, 255).astype('uint8')
    cv2.imwrite(path, picture)


def _wait_key(delay=0):
    """`cv2.waitKey` without a display: Esc where a key is waited for without a limit, else no key."""
    return 27 if delay <= 0 else -1


_shown: set[str] = set()
_WINDOWS = {
    'imshow': lambda: _imshow,
    'waitKey': lambda: _wait_key,
    **{
        name: lambda: lambda *args, **kwargs: None
        for name in ('namedWindow', 'destroyWindow', 'destroyAllWindows', 'moveWindow', 'resizeWindow')
    },
}


def has_display():
    """Whether windows can be opened."""
    return sys.platform in ('win32', 'darwin') or bool(os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY'))
