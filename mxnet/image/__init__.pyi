# Made by `python -m mxnet._frontend.stubs`: do not edit.
from .._names import suggest_names as _suggest_names
from . import _augmenters as _augmenters
from . import detection as detection
from . import image as image
from . import detection as det
from ._augmenters import *
from ._iterators import ImageIter as ImageIter
from .detection import *
from .image import center_crop as center_crop
from .image import color_normalize as color_normalize
from .image import copyMakeBorder as copyMakeBorder
from .image import fixed_crop as fixed_crop
from .image import imdecode as imdecode
from .image import imread as imread
from .image import imresize as imresize
from .image import imrotate as imrotate
from .image import random_crop as random_crop
from .image import random_rotate as random_rotate
from .image import random_size_crop as random_size_crop
from .image import resize_short as resize_short
from .image import scale_down as scale_down
