"""From MXNet to ONNX: an operator's translation is a function in one of the files here."""
from ._export import export_model, get_operator_support

__all__ = ['export_model', 'get_operator_support']
