"""Where threads run while they are timed.

On two cores, small work of two threads takes half as long again at times, for seconds or until the process ends,
whoever does it.  With each thread kept on a core, ours and everybody else's alike, that is rarer; it still happens, and
why is not known.  So ratios, not times, are what to look at, and more than one run.
"""
import os

ALL = sorted(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else None


def hold():
    """Keeps the threads of OpenMP on cores of their own; to be called before torch is imported."""
    os.environ.setdefault('OMP_PROC_BIND', 'true')


def release():
    """Ends it for this thread, and for processes that are started from now on."""
    os.environ.pop('OMP_PROC_BIND', None)
    everywhere()


def everywhere(cores=ALL):
    """Lets this thread run on all cores: a process inherits those of the thread that started it."""
    if cores is not None:
        os.sched_setaffinity(0, cores)
