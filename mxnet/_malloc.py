"""Memory of arrays on the CPU: what one gives back is kept for the next.

C's allocator hands the memory of a large array back to the system as soon as the array was freed.  The next one gets it
page by page, as it is written, each page cleared by the system first: for an array of 50 MB that takes several times
as long as an addition.  So glibc is told to keep it, up to a limit (`empty_cache` of a CPU context gives it back).

This changes the whole process.  It happens once, when a program first puts an array on a CPU, not when mxnet is
imported.  Programs that tune the allocator themselves, or set MXNET_CPU_MEM_POOL_TYPE=Unpooled, are left alone.
"""
import ctypes
import os
import sys

MOST = 1 << 30                  # bytes that are kept, at most: an eighth of the machine's, where that is less
_TRIM, _MMAP = -1, -3           # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of malloc.h
_OLD_LIMIT = 1 << 25            # the largest M_MMAP_THRESHOLD before glibc 2.35
_TUNED = ('MALLOC_TRIM_THRESHOLD_', 'MALLOC_MMAP_THRESHOLD_', 'MALLOC_TOP_PAD_', 'MALLOC_MMAP_MAX_', 'GLIBC_TUNABLES')


kept: bool | None = None        # whether memory is kept; None before a program puts an array on a CPU


def keep_memory() -> bool:
    """Has memory kept, the first time; False where that is not wanted, or the allocator is another."""
    global kept
    if kept is None:
        kept = _set_options()
    return kept


def _set_options():
    if not sys.platform.startswith('linux') or any(name in os.environ for name in _TUNED) \
            or os.environ.get('MXNET_CPU_MEM_POOL_TYPE', '').lower() == 'unpooled':
        return False
    set_option = getattr(ctypes.CDLL(None), 'mallopt', None)
    if set_option is None:
        return False
    size = min(MOST, os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') // 8)
    # either option alone would be a loss: with it, glibc no longer learns the other from what a program does
    return bool((set_option(_MMAP, size // 4) or set_option(_MMAP, min(size // 4, _OLD_LIMIT)))
                and set_option(_TRIM, size))


def give_memory_back():
    """Gives what is kept back to the system."""
    trim = getattr(ctypes.CDLL(None), 'malloc_trim', None) if sys.platform.startswith('linux') else None
    if trim is not None:
        trim(0)
