"""Files of `mx.np` arrays."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ndarray import utils as _files
from ..util import np_array, np_shape

if TYPE_CHECKING:
    from ..ndarray import NDArray

__all__ = ['save', 'load']


def save(file: str, arr: NDArray) -> None:
    """Saves an array, a list or a dict of arrays, as MXNet 1.9.1 writes them in np mode.

    >>> mx.npx.save('memory://weights.params', {'w': mx.np.ones((2, 0))})
    >>> mx.npx.load('memory://weights.params')['w'].shape
    (2, 0)
    """
    with np_shape(True):
        _files.save(file, arr)


def load(file: str) -> Any:
    """The list or dict of arrays that `save` wrote."""
    with np_shape(True), np_array(True):
        return _files.load(file)
