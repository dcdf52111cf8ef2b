"""Networks as ONNX files, for other runtimes. It needs `pip install "remx[onnx]"`; reading is `mx.contrib.onnx`."""
from .._names import suggest_names as _suggest_names
from . import mx2onnx
from .mx2onnx import export_model, get_operator_support

__all__ = ['export_model', 'get_operator_support']


_suggest_names(globals())
