# Made by `python -m mxnet._frontend.stubs`: do not edit.
from . import import_model as import_model
from . import import_onnx as import_onnx
from . import import_to_gluon as import_to_gluon
