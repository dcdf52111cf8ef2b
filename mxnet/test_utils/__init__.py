"""Tools for tests: comparisons, random arrays, checks of gradients, data sets, surroundings.

`from mxnet.test_utils import *` also gives programs the modules and names that it always gave them (np, mx, os, ...):
tests of MXNet programs rely on that.
"""
import bz2
import errno
import gzip
import importlib
import json
import logging
import numbers
import os
import platform
import struct
import sys
import time
import traceback
import zipfile
from collections import OrderedDict
from contextlib import contextmanager

import numpy as np
import numpy.random as rnd
import numpy.testing as npt

from .._names import no_attribute as _no_attribute
from ..context import Context, current_context
from ..ndarray import array
from ..runtime import Features
from ..util import get_cuda_compute_capability, getenv, setenv, use_np
from . import _compare, _data, _generate, _graphs, _statistics, _surroundings, _training
from ._compare import *
from ._compare import _numpy
from ._data import *
from ._generate import *
from ._graphs import *
from ._graphs import _parse_aux_states, _parse_location
from ._statistics import *
from ._surroundings import *
from ._training import *

mx = sys.modules[__package__.partition('.')[0]]

# loaded when a program asks for them; SciPy and requests may not be there
_OURS = {'DummyIter': ('._dummy_iter', 'DummyIter'), 'Symbol': ('..symbol', 'Symbol'),
         'np_symbol': ('..symbol.numpy', '_Symbol')}
_LATER = {**_OURS, 'ss': ('scipy.stats', None), 'requests': ('requests', None)}

__all__ = ['Context', 'Features', 'OrderedDict', 'array', 'bz2', 'contextmanager', 'current_context', 'errno',
           'get_cuda_compute_capability', 'getenv', 'gzip', 'json', 'logging', 'mx', 'np', 'npt', 'numbers', 'os',
           'platform', 'rnd', 'setenv', 'struct', 'sys', 'time', 'traceback', 'use_np', 'zipfile',
           *_compare.__all__, *_data.__all__, *_generate.__all__, *_graphs.__all__, *_statistics.__all__,
           *_surroundings.__all__, *_training.__all__, *_OURS]


def __getattr__(name):
    if name not in _LATER:
        raise _no_attribute(__name__, name)
    module, attribute = _LATER[name]
    value = importlib.import_module(module, __name__)
    if attribute is not None:
        value = getattr(value, attribute)
    globals()[name] = value
    return value
