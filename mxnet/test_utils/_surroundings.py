"""What a test runs in: contexts, environment variables, standard error, features of the machine."""
from __future__ import annotations

import contextlib
import functools
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import ndarray as nd
from .._state import state
from ..context import current_context
from ..runtime import Features
from ..util import get_cuda_compute_capability, get_gpu_count, setenv

if TYPE_CHECKING:
    from ..context import Context

__all__ = ['default_context', 'discard_stderr', 'environment', 'get_im2rec_path', 'has_tvm_ops', 'is_aarch64_run',
           'is_cd_run', 'is_op_runnable', 'list_gpus', 'retry', 'set_default_context']


def default_context() -> Context:
    """The context that tests run on."""
    return current_context()


def set_default_context(ctx: Any) -> None:
    """Sets the context of this thread, outside of any `with ctx:`."""
    state.context = ctx


def list_gpus() -> Any:
    """The numbers of the GPUs."""
    return range(get_gpu_count())


def retry(n: int) -> Any:
    """A decorator that repeats a test that draws random numbers up to n times, until it passes."""
    if n <= 0:
        raise AssertionError(f'a test can be tried 1 or more times, not {n}')

    def decorate(test):
        @functools.wraps(test)
        def repeated(*args, **kwargs):
            for left in reversed(range(n)):
                try:
                    return test(*args, **kwargs)
                except AssertionError:
                    if not left:
                        raise
                    nd.waitall()
        return repeated
    return decorate


@contextmanager
def environment(*args: Any) -> Iterator[Any]:
    """Sets environment variables for the length of a block: `environment(name, value)` or `environment({name: value})`.

    None removes a variable.  What was before comes back afterwards, whatever happens.
    """
    if len(args) == 1 and isinstance(args[0], dict):
        wanted = args[0]
    elif len(args) == 2:
        wanted = dict([args])
    else:
        raise AssertionError('environment takes a name and a value, or a dict of them')
    before = {name: os.environ.get(name) for name in wanted}
    for name, value in wanted.items():
        setenv(name, value)
    try:
        yield
    finally:
        nd.waitall()            # work under way may still read them
        for name, value in before.items():
            setenv(name, value)


@contextmanager
def discard_stderr() -> Iterator[Any]:
    """Throws away what is written to standard error in a block, also by libraries in C."""
    numbers = {2}
    with contextlib.suppress(AttributeError, OSError):      # it may be something that is not a file
        numbers.add(sys.stderr.fileno())
    sys.stderr.flush()
    kept = {number: os.dup(number) for number in numbers}
    try:
        with open(os.devnull, 'w') as nowhere:
            for number in numbers:
                os.dup2(nowhere.fileno(), number)
        yield
    finally:
        sys.stderr.flush()
        for number, copy in kept.items():
            os.dup2(copy, number)
            os.close(copy)


def get_im2rec_path(home_env: str = 'MXNET_HOME') -> Any:
    """Where the script `tools/im2rec.py` of an MXNet in the folder named by `home_env`, or of this one, is."""
    home = os.environ.get(home_env) or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in (home, os.path.join(home, '..', '..')):
        path = os.path.join(folder, 'tools', 'im2rec.py')
        if os.path.isfile(path):
            return path
    raise OSError(f'there is no tools/im2rec.py in {home}; `remx im2rec` makes record files')


def is_cd_run() -> bool:
    """Whether a release is being built (CD_JOB=1)."""
    return os.environ.get('CD_JOB') == '1'


def is_aarch64_run() -> bool:
    """Whether this is a 64-bit ARM machine."""
    return platform.machine() == 'aarch64'


def _modern_gpu():
    """Whether the current context is a CPU, or a GPU with float16 arithmetic."""
    ctx = current_context()
    return ctx.torch_device.type != 'cuda' or get_cuda_compute_capability(ctx) >= 53


def has_tvm_ops() -> bool:
    """Whether there are operators made by TVM."""
    return Features().is_enabled('TVM_OP') and _modern_gpu()


def is_op_runnable() -> bool:
    """Whether operators made by TVM, if there are any, run on the current context."""
    return not Features().is_enabled('TVM_OP') or _modern_gpu()
