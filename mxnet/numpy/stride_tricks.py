"""Arrays of one shape."""
import numpy

from ._shape import broadcast_to

__all__ = ['broadcast_arrays']


def broadcast_arrays(*args):
    """Copies of arrays, all of them broadcast to one shape; the arrays themselves if they have one shape already."""
    shape = numpy.broadcast_shapes(*[x.shape for x in args])
    if all(x.shape == shape for x in args):
        return list(args)
    return [broadcast_to(x, shape) for x in args]
