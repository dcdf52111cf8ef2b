"""Images: reading, resizing, cropping, augmenting, and batches of them (`mx.image`)."""
from .._names import suggest_names as _suggest_names
from . import _augmenters, detection, image
from . import detection as det
from ._augmenters import *
from ._iterators import ImageIter
from .detection import *
from .image import (
    center_crop,
    color_normalize,
    copyMakeBorder,
    fixed_crop,
    imdecode,
    imread,
    imresize,
    imrotate,
    random_crop,
    random_rotate,
    random_size_crop,
    resize_short,
    scale_down,
)

# upstream defines the augmenters and ImageIter in this module
vars(image).update({name: getattr(_augmenters, name) for name in _augmenters.__all__}, ImageIter=ImageIter)

__all__ = [*image.__all__, *_augmenters.__all__, *detection.__all__, 'ImageIter']


_suggest_names(globals())
