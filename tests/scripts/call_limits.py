"""The limits of one call in a campaign: memory beyond what the process has, and seconds of the processor.

Seconds of the processor, because other programs may keep the machine busy.
"""
import contextlib
import resource
import signal
from pathlib import Path

SPARE, SECONDS = 2 << 30, 10


class Hang(BaseException):
    """Raised in a call that takes too long; no `except Exception` catches it."""


def _alarm(*_):
    raise Hang(f'took longer than {SECONDS} s')


@contextlib.contextmanager
def limited():
    """A call in this scope raises MemoryError or `Hang` at its limits; only in the main thread."""
    signal.signal(signal.SIGPROF, _alarm)
    used = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + SPARE, hard))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
