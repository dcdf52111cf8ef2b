"""Known networks."""
from . import model_store, vision
