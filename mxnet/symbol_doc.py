"""`mxnet.symbol_doc` of upstream: base classes for texts about operators; programs use `get_output_shape`."""


class SymbolDoc:
    """Base class of texts about operators of `mx.sym`."""

    @staticmethod
    def get_output_shape(sym, **input_shapes):
        """{name of an output: its shape}, for the shapes of the inputs."""
        _, shapes, _ = sym.infer_shape(**input_shapes)
        return dict(zip(sym.list_outputs(), shapes))
