"""An iterator for measuring speed."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..io import DataIter

if TYPE_CHECKING:
    from ..io import DataBatch

__all__ = ['DummyIter']


class DummyIter(DataIter):
    """Returns the first batch of another iterator for ever, so that reading data costs nothing."""

    provide_data: Any
    provide_label: Any

    def __init__(self, real_iter: Any) -> None:
        super().__init__()
        self.real_iter = real_iter
        self.provide_data, self.provide_label = real_iter.provide_data, real_iter.provide_label
        self.batch_size: Any = real_iter.batch_size
        self.the_batch: Any = next(real_iter)

    def __iter__(self) -> Iterator[Any]:
        return self

    def next(self) -> DataBatch:
        """The batch."""
        return self.the_batch
