# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ..._names import suggest_names as _suggest_names
from . import batchify as batchify
from . import dataset as dataset
from . import sampler as sampler
from . import vision as vision
from .dataloader import *
from .dataset import *
from .sampler import *
