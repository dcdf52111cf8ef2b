"""Grids."""
from ._call import apply, is_array

__all__ = ['meshgrid']


def meshgrid(*xi, **kwargs):
    """Arrays of coordinates of the grid that vectors span: one for each vector.

    With indexing='xy' (the default) the first two axes are exchanged, as pictures have them; 'ij' leaves them.

    >>> [g.shape for g in mx.np.meshgrid(mx.np.arange(3), mx.np.arange(2))]
    [(2, 3), (2, 3)]
    """
    indexing = kwargs.pop('indexing', 'xy')
    copy, sparse = kwargs.pop('copy', True), kwargs.pop('sparse', False)
    if kwargs:
        raise TypeError(f'meshgrid: unknown argument {next(iter(kwargs))}')
    if indexing not in ('xy', 'ij'):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', not {indexing!r}")
    if not copy:
        raise NotImplementedError('meshgrid: its results are copies; copy must be True')
    if not all(is_array(x) for x in xi):
        raise TypeError('meshgrid: it takes arrays')
    count = len(xi)
    lines = []
    for i, x in enumerate(xi):
        place = 1 - i if indexing == 'xy' and i < 2 and count > 1 else i
        shape = [1] * count
        shape[place] = -1
        lines.append(apply('_np_reshape', (x,), {'newshape': tuple(shape)}))
    if sparse:
        return lines
    from .stride_tricks import broadcast_arrays
    return broadcast_arrays(*lines)
