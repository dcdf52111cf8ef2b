"""What is done where a download fails, or where a local file is missing."""
from collections.abc import Callable

# `remx run` puts a function here: address -> the path of a file that stands for it, or None
fallback: Callable[[str], str | None] | None = None


def stand_in(url):
    """The path of a file that stands for one that cannot be downloaded; None where there is none."""
    return None if fallback is None else fallback(url)


# `remx run` puts a function here: the path of a missing local file -> the path of a file to read instead, or None
missing: Callable[[str], str | None] | None = None


def instead_of(path):
    """The path of a file to read instead of a missing local one; None where there is none."""
    return None if missing is None else missing(path)
