# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ...._names import suggest_names as _suggest_names
from . import batch_processor as batch_processor
from . import estimator as estimator
from . import event_handler as event_handler
from . import utils as utils
from .batch_processor import *
from .estimator import *
from .event_handler import *
