# Made by `python -m mxnet._frontend.stubs`: do not edit.
import bz2 as bz2
import errno as errno
import gzip as gzip
import json as json
import logging as logging
import numbers as numbers
import os as os
import platform as platform
import struct as struct
import sys as sys
import time as time
import traceback as traceback
import zipfile as zipfile
from collections import OrderedDict as OrderedDict
from contextlib import contextmanager as contextmanager
import numpy as np
import numpy.random as rnd
import numpy.testing as npt
from .._names import no_attribute as _no_attribute
from ..context import Context as Context
from ..context import current_context as current_context
from ..ndarray import array as array
from ..runtime import Features as Features
from ..util import get_cuda_compute_capability as get_cuda_compute_capability
from ..util import getenv as getenv
from ..util import setenv as setenv
from ..util import use_np as use_np
from . import _compare as _compare
from . import _data as _data
from . import _generate as _generate
from . import _graphs as _graphs
from . import _statistics as _statistics
from . import _surroundings as _surroundings
from . import _training as _training
from ._compare import *
from ._compare import _numpy as _numpy
from ._data import *
from ._generate import *
from ._graphs import *
from ._graphs import _parse_aux_states as _parse_aux_states
from ._graphs import _parse_location as _parse_location
from ._statistics import *
from ._surroundings import *
from ._training import *
from ._dummy_iter import DummyIter as DummyIter
from ..symbol import Symbol as Symbol
from ..symbol.numpy import _Symbol as np_symbol
