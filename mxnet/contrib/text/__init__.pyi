# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ..._names import suggest_names as _suggest_names
from . import embedding as embedding
from . import utils as utils
from . import vocab as vocab
