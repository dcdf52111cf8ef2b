"""torch's profiler, compilers and threads."""
from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.profiler import record_function

from .switch import ALLOWED, NAMES, private

# ---------------------------------------------------------------------- profiler
# a named range: half a microsecond, where the public one takes thirty
Range = private('_C._profiler._RecordFunctionFast', record_function)

# whether a profile is being taken; None where torch cannot tell: a profile that a program takes itself is not seen
is_profiling = private('autograd._profiler_enabled', lambda: None)


def profiler_configuration() -> Any:
    """Tells torch that only the file is wanted, so that it makes no objects of its own; it may not know how."""
    if _configuration is None:
        return None
    try:
        return _configuration(trace_only=True)
    except TypeError:
        return None


_configuration = private('_C._profiler._ExperimentalConfig', None)


# ---------------------------------------------------------------------- compilers
def _compile_publicly(module: torch.fx.GraphModule, inputs: Any) -> Any:
    """Compiles when the function is first called."""
    return torch.compile(module, backend='inductor', dynamic=False)


def _inductor(module: torch.fx.GraphModule, inputs: Any) -> Any:
    from torch._inductor import compile as compile_graph
    return compile_graph(module, inputs)


NAMES['_inductor.compile'] = _inductor, _compile_publicly
compile_graph = _inductor if ALLOWED else _compile_publicly


def aoti_compile_and_package(*args: Any, **kwargs: Any) -> Any:
    """Compiles an exported program ahead of time into a package; torch has no other name for it."""
    from torch._inductor import aoti_compile_and_package as compile_and_package
    return compile_and_package(*args, **kwargs)


def _of_cuda_wrapper(name: str) -> Any:
    """A function of torch's wrapper around NVRTC and the driver; NotImplementedError where torch has none."""
    found = None
    if ALLOWED:
        try:
            from torch.cuda import _utils
        except ImportError:
            pass
        else:
            found = getattr(_utils, name, None)
    if found is None:
        raise NotImplementedError(f'torch.cuda._utils has no {name}')
    return found


def compile_cuda(source: str, name: str, options: Sequence[str] = ()) -> tuple[Any, Any]:
    """(the module of the driver, the function in it) of a kernel in CUDA source, for the current device.

    NotImplementedError where torch offers no compiler; RuntimeError, AttributeError or OSError where it fails.
    """
    compile_source, load = map(_of_cuda_wrapper, ('_nvrtc_compile', '_cuda_load_module'))
    binary, symbol = compile_source(source, name, nvcc_options=list(options))
    module = load(binary)
    return module, getattr(module, symbol).func


def cuda_launch() -> Callable[..., int]:
    """`cuLaunchKernel` of the driver; NotImplementedError where torch does not offer it."""
    return _of_cuda_wrapper('_get_gpu_runtime_library')().cuLaunchKernel


# the address of the current stream of the GPU with a number
raw_stream = private('_C._cuda_getCurrentRawStream', lambda index: torch.cuda.current_stream(index).cuda_stream)


# ---------------------------------------------------------------------- threads
class OpenMP:
    """The numbers of threads of the calling thread, for OpenMP and for MKL."""

    def __init__(self, found: ctypes.PyDLL) -> None:
        self.count, self.set = found.omp_get_max_threads, found.omp_set_num_threads
        self.set_mkl = getattr(found, 'MKL_Set_Num_Threads_Local', None) or (lambda count: 0)
        self.count.argtypes, self.set.argtypes, self.set.restype = (), (ctypes.c_int,), None


def find_openmp() -> OpenMP | None:
    """What torch itself uses; None where it uses something else than OpenMP, and threads are left as they are."""
    if not ALLOWED or not sys.platform.startswith('linux') or not torch.backends.openmp.is_available():
        return None
    try:
        # functions that keep Python's lock, which take a fifth of a microsecond
        return OpenMP(ctypes.PyDLL(os.path.join(os.path.dirname(torch.__file__), 'lib', 'libtorch_cpu.so')))
    except (OSError, AttributeError):
        return None
