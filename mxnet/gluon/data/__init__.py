"""Data sets, the order in which they are read, and `DataLoader`, which makes batches of them."""
from . import batchify, dataset, sampler, vision
from .dataloader import *
from .dataset import *
from .sampler import *
