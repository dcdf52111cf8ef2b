"""Known networks."""
from ..._names import suggest_names as _suggest_names
from . import model_store, vision

_suggest_names(globals())
