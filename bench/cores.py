"""Where threads run while they are timed.

Two threads that wander between two cores meet on one of them now and then, and everything takes half as long again
until they part: seconds later, or never.  So each is kept on a core, ours and everybody else's alike.
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
