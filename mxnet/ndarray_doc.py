"""`mxnet.ndarray_doc` of upstream: the base class for texts about operators."""


class NDArrayDoc:
    """Base class of texts about operators of `mx.nd`."""
