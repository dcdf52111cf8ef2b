"""From ONNX to MXNet: an operator's translation is a function in `_operators.py` or one of its neighbours."""
from . import import_model, import_onnx, import_to_gluon
