"""Whether a network computes the rows of a batch apart from each other, and which rows of its outputs are whose.

Requests can share a batch, and results can be cut into those of each input, only where that is so.  An unrolled
recurrent network gives several rows for each input; one whose first axis is time, one that compares the rows of a
batch, and one with random numbers do not compute rows apart.
"""
import numpy as np

from ..base import MXNetError

CLOSE = 1e-2            # of the largest value: sums of a batch of two are rounded otherwise


def rows_of_outputs(compute, first, second):
    """How many rows of each output belong to a row of the input; None where rows are not computed apart.

    compute: (arrays of inputs) -> arrays of outputs
    first, second: two different inputs of one row
    """
    try:
        apart = [compute(first), compute(second)]
        together = compute([np.concatenate(pair) for pair in zip(first, second, strict=True)])
    except MXNetError:
        return None                     # its batch has another length
    counts = []
    for one, other, both in zip(*apart, together, strict=True):
        if not one.shape or one.shape != other.shape or both.shape != (2 * one.shape[0], *one.shape[1:]):
            return None
        if not _close(both, np.concatenate((one, other))):
            return None
        counts.append(one.shape[0])
    return counts


def _close(found, wanted):
    found, wanted = np.asarray(found, 'float64'), np.asarray(wanted, 'float64')
    good = np.isfinite(wanted)
    if not np.array_equal(good, np.isfinite(found)):
        return False
    largest = np.abs(wanted[good]).max(initial=0)
    return bool((np.abs(found[good] - wanted[good]) <= CLOSE * largest).all())
