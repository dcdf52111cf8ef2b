# Made by `python -m mxnet._frontend.stubs`: do not edit.
from .._names import suggest_names as _suggest_names
from . import mx2onnx as mx2onnx
from .mx2onnx import export_model as export_model
from .mx2onnx import get_operator_support as get_operator_support
