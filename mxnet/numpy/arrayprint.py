"""How arrays are printed: as NumPy prints, with its options."""
import numpy

__all__ = ['set_printoptions']


def set_printoptions(precision=None, threshold=None, **kwarg):
    """Sets how many digits and elements are printed, of NumPy's arrays as of ours."""
    numpy.set_printoptions(precision=precision, threshold=threshold, **kwarg)
