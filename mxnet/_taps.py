"""Where the profiler gets between operators and their kernels.

Code on the hot path holds its kernel in a closure or a field of its own, so that a call costs nothing but the call.
Each such place is a tap: it says which operator the kernel computes and how to exchange it.  While nobody profiles,
nothing is exchanged, and no call asks whether somebody does.
"""
from collections.abc import Callable

# gives the last KVStore with servers, for `profiler.set_state('run', profile_process='server')`
servers: Callable | None = None

Names = str | Callable[..., str]        # of the operator; or a function of the kernel's arguments that gives it

_taps: list[tuple[Names, Callable, Callable]] = []
_wrapper: Callable | None = None


def tap(names: Names, kernel: Callable, exchange: Callable) -> None:
    """Declares a place where `exchange(other)` makes calls go to `other` instead of `kernel`."""
    _taps.append((names, kernel, exchange))
    if _wrapper is not None:
        exchange(_wrapper(names, kernel))


def open_taps(wrapper: Callable) -> None:
    """From now on calls go to `wrapper(names, kernel)`, which is asked once for each tap."""
    global _wrapper
    _wrapper = wrapper
    for names, kernel, exchange in _taps:
        exchange(wrapper(names, kernel))


def close_taps() -> None:
    """From now on calls go straight to their kernels again."""
    global _wrapper
    _wrapper = None
    for _, kernel, exchange in _taps:
        exchange(kernel)
