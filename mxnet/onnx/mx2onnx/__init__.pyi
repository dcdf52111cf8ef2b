# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ._export import export_model as export_model
from ._export import get_operator_support as get_operator_support
