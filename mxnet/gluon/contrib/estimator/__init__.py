"""Training without writing the loop: an Estimator, and handlers of what happens in it."""
from ...._names import suggest_names as _suggest_names
from . import batch_processor, estimator, event_handler, utils
from .batch_processor import *
from .estimator import *
from .event_handler import *

_suggest_names(globals())
