"""Reading an ONNX file: as a Symbol and its parameters."""
from ...._kinds import explain_kinds as _explain_kinds
from .import_onnx import GraphProto, read

__all__ = ['get_model_metadata', 'import_model']


def import_model(model_file):
    """(symbol, arguments, auxiliary states) of the network in an ONNX file; its name, or what onnx.load returned.

        net, arguments, states = mx.contrib.onnx.import_model('model.onnx')
    """
    model, where, size = read(model_file)
    return GraphProto(where, size).from_onnx(model)


def get_model_metadata(model_file):
    """What an ONNX file takes and gives.

    {'input_tensor_data': [(name, shape, ONNX's number of the dtype)], 'output_tensor_data': [(name, shape)]}
    """
    model, where, size = read(model_file)
    return GraphProto(where, size).get_graph_metadata(model)


_explain_kinds(globals(), ('import_model', 'get_model_metadata'))
