"""Data sets, the order in which they are read, and `DataLoader`, which makes batches of them."""
from ..._names import suggest_names as _suggest_names
from . import batchify, dataset, sampler, vision
from .dataloader import *
from .dataset import *
from .sampler import *

_suggest_names(globals())
