# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ..._names import suggest_names as _suggest_names
from ...onnx import export_model as export_model
from ...onnx import export_model as export_model_
from . import onnx2mx as onnx2mx
from .onnx2mx.import_model import get_model_metadata as get_model_metadata
from .onnx2mx.import_model import import_model as import_model
from .onnx2mx.import_model import get_model_metadata as get_model_metadata_
from .onnx2mx.import_model import import_model as import_model_
from .onnx2mx.import_to_gluon import import_to_gluon as import_to_gluon
from .onnx2mx.import_to_gluon import import_to_gluon as import_to_gluon_
