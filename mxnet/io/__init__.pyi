# Made by `python -m mxnet._frontend.stubs`: do not edit.
from .._names import suggest_names as _suggest_names
from . import io as io
from . import utils as utils
from .io import *
from .utils import _getdata_by_idx as _getdata_by_idx
from .utils import _has_instance as _has_instance
from .utils import _init_data as _init_data
