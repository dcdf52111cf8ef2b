"""Networks from ONNX files, and to them (`mx.onnx`). It needs `pip install "remx[onnx]"`."""
from ..._names import suggest_names as _suggest_names
from ...onnx import export_model
from ...onnx import export_model as export_model_
from . import onnx2mx
from .onnx2mx.import_model import get_model_metadata, import_model
from .onnx2mx.import_model import get_model_metadata as get_model_metadata_
from .onnx2mx.import_model import import_model as import_model_
from .onnx2mx.import_to_gluon import import_to_gluon
from .onnx2mx.import_to_gluon import import_to_gluon as import_to_gluon_

__all__ = ['export_model', 'get_model_metadata', 'import_model', 'import_to_gluon']


_suggest_names(globals())
