"""One order of all samples, dealt out to the workers of a job batch by batch.

The first `parts * batch` samples of the order are the first batch of each part, and so on.  So all parts have the same
number of batches, and what all of them have read is the beginning of the order, from whose end another number of parts
can go on.
"""
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ['batches_of', 'dealt']


def dealt(order: Sequence[Any], position: int, batch: int, parts: int, index: int, keep: bool = True,
          ) -> Iterator[tuple[int, Any]]:
    """Yields (place in the order, the samples there) of each batch of part `index`, from a position on.

    What is left at the end is divided evenly, so that the last batches differ by at most one sample.  Where there is
    less than one sample for each part, the others get one from the beginning.  Without `keep` it is left out.
    """
    total = len(order)
    while total - position >= parts * batch:
        begin = position + index * batch
        yield begin, order[begin:begin + batch]
        position += parts * batch
    rest = total - position
    if rest > 0 and keep:
        share, more = divmod(rest, parts)
        begin, count = position + share * index + min(index, more), share + (index < more)
        if not count:
            begin, count = (index - rest) % total, 1
        yield begin, order[begin:begin + count]


def batches_of(total: int, position: int, batch: int, parts: int, keep: bool = True) -> int:
    """How many batches `dealt` gives to every part."""
    whole, rest = divmod(max(0, total - position), parts * batch)
    return whole + (keep and rest > 0)
