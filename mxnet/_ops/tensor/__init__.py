"""Arrays in general: arithmetic, reductions, shapes, indexing, matrices, creation."""
