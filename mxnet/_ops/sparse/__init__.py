"""Operators of sparse arrays. A tensor here is dense: the rules for sparse storage are in `ndarray`."""
