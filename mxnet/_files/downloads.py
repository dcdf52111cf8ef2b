"""What is done where a download fails."""
from collections.abc import Callable

# `remx run` puts a function here: address -> the path of a file that stands for it, or None
fallback: Callable[[str], str | None] | None = None


def stand_in(url):
    """The path of a file that stands for one that cannot be downloaded; None where there is none."""
    return None if fallback is None else fallback(url)
