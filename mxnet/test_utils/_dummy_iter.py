"""An iterator for measuring speed."""
from ..io import DataIter

__all__ = ['DummyIter']


class DummyIter(DataIter):
    """Returns the first batch of another iterator for ever, so that reading data costs nothing."""

    def __init__(self, real_iter):
        super().__init__()
        self.real_iter = real_iter
        self.provide_data, self.provide_label = real_iter.provide_data, real_iter.provide_label
        self.batch_size = real_iter.batch_size
        self.the_batch = next(real_iter)

    def __iter__(self):
        return self

    def next(self):
        """The batch."""
        return self.the_batch
