"""Reading an ONNX file: as a Gluon block."""
from ....context import current_context
from ....gluon import SymbolBlock
from ....symbol import var
from .import_onnx import GraphProto, read

__all__ = ['import_to_gluon']


def import_to_gluon(model_file, ctx=None):
    """A `SymbolBlock` of the network in an ONNX file, with its parameters on a context or several.

        net = mx.contrib.onnx.import_to_gluon('model.onnx', mx.cpu())
    """
    model, where, size = read(model_file)
    graph = GraphProto(where, size)
    symbol, arguments, states = graph.from_onnx(model)
    inputs = [var(name) for name, *_ in graph.get_graph_metadata(model)['input_tensor_data']]
    net = SymbolBlock(symbol, inputs)
    ctx = ctx if ctx is not None else current_context()
    values = {**arguments, **states}
    for name, parameter in net.collect_params().items():
        parameter.shape, parameter.dtype = values[name].shape, values[name].dtype
        parameter.initialize(init='zeros', ctx=ctx)     # whole numbers have no random values
        parameter.set_data(values[name])
    return net
