"""Functions of `mx.np` as methods, of arrays and of symbols."""
from . import _elementwise, _index, _matrix, _reduce, _shape


class ArrayMethods:
    """The methods that `ndarray` and its symbolic twin share."""

    __slots__ = ()

    @property
    def T(self):
        """The transpose: a copy with the axes in reverse order."""
        return self.transpose()

    def sum(self, axis=None, dtype=None, out=None, keepdims=False):
        """See `mx.np.sum`."""
        return _reduce.sum(self, axis, dtype, keepdims, None, out)

    def prod(self, axis=None, dtype=None, out=None, keepdims=False):
        """See `mx.np.prod`."""
        return _reduce.prod(self, axis, dtype, out, keepdims)

    def mean(self, axis=None, dtype=None, out=None, keepdims=False):
        """See `mx.np.mean`."""
        return _reduce.mean(self, axis, dtype, out, keepdims)

    def std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
        """See `mx.np.std`."""
        return _reduce.std(self, axis, dtype, out, ddof, keepdims)

    def var(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
        """See `mx.np.var`."""
        return _reduce.var(self, axis, dtype, out, ddof, keepdims)

    def max(self, axis=None, out=None, keepdims=False):
        """See `mx.np.max`."""
        return _reduce.max(self, axis, keepdims, out)

    def min(self, axis=None, out=None, keepdims=False):
        """See `mx.np.min`."""
        return _reduce.min(self, axis, keepdims, out)

    def all(self, axis=None, out=None, keepdims=False):
        """See `mx.np.all`."""
        return _reduce.all(self, axis, keepdims, out)

    def any(self, axis=None, out=None, keepdims=False):
        """See `mx.np.any`."""
        return _reduce.any(self, axis, keepdims, out)

    def argmax(self, axis=None, out=None, keepdims=False):
        """See `mx.np.argmax`."""
        return _reduce.argmax(self, axis, out, keepdims)

    def argmin(self, axis=None, out=None, keepdims=False):
        """See `mx.np.argmin`."""
        return _reduce.argmin(self, axis, out, keepdims)

    def cumsum(self, axis=None, dtype=None, out=None):
        """See `mx.np.cumsum`."""
        return _reduce.cumsum(self, axis, dtype, out)

    def round(self, decimals=0, out=None, **kwargs):
        """See `mx.np.around`."""
        return _elementwise.around(self, decimals, out, **kwargs)

    def clip(self, min=None, max=None, out=None):
        """See `mx.np.clip`."""
        return _elementwise.clip(self, min, max, out)

    def dot(self, b, out=None):
        """See `mx.np.dot`."""
        return _matrix.dot(self, b, out)

    def norm(self, *args, **kwargs):
        """See `mx.np.linalg.norm`."""
        from .linalg import norm
        return norm(self, *args, **kwargs)

    def take(self, indices, axis=None, mode='raise'):
        """See `mx.np.take`."""
        return _index.take(self, indices, axis, mode)

    def argsort(self, axis=-1, kind=None, order=None):
        """See `mx.np.argsort`."""
        return _index.argsort(self, axis, kind, order)

    def nonzero(self):
        """See `mx.np.nonzero`."""
        return _index.nonzero(self)

    def repeat(self, repeats, axis=None):
        """See `mx.np.repeat`."""
        return _shape.repeat(self, repeats, axis)

    def tile(self, reps):
        """See `mx.np.tile`."""
        return _shape.tile(self, reps)

    def squeeze(self, axis=None):
        """See `mx.np.squeeze`."""
        return _shape.squeeze(self, axis)

    def expand_dims(self, axis):
        """See `mx.np.expand_dims`."""
        return _shape.expand_dims(self, axis)

    def swapaxes(self, axis1, axis2):
        """See `mx.np.swapaxes`."""
        return _shape.swapaxes(self, axis1, axis2)

    def transpose(self, *axes):
        """A copy with the axes in another order; in reverse order if none is given."""
        if len(axes) == 1 and not isinstance(axes[0], int):
            axes = axes[0]
        return _shape.transpose(self, axes or None)

    def flatten(self, order='C'):
        """A copy with the elements in a row."""
        return _shape.ravel(self, order)

    def ravel(self, order='C'):
        """A copy with the elements in a row."""
        return _shape.ravel(self, order)

    def broadcast_to(self, shape):
        """See `mx.np.broadcast_to`."""
        return _shape.broadcast_to(self, shape)

    def broadcast_like(self, other):
        """A copy broadcast to the shape of another array."""
        return _shape.broadcast_to(self, other.shape)

    def diag(self, k=0, **kwargs):
        """See `mx.np.diag`."""
        return _shape.diag(self, k)
