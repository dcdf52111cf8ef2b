"""Reading an ONNX file: as a Symbol and its parameters."""
from .import_onnx import GraphProto
from .import_onnx import load as _load

__all__ = ['get_model_metadata', 'import_model']


def import_model(model_file):
    """(symbol, arguments, auxiliary states) of the network in an ONNX file; its name, or what onnx.load returned.

        net, arguments, states = mx.contrib.onnx.import_model('model.onnx')
    """
    return GraphProto().from_onnx(_load(model_file))


def get_model_metadata(model_file):
    """What an ONNX file takes and gives.

    {'input_tensor_data': [(name, shape, ONNX's number of the dtype)], 'output_tensor_data': [(name, shape)]}
    """
    return GraphProto().get_graph_metadata(_load(model_file))
