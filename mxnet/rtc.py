"""CUDA source in a program: compiled while it runs, launched on arrays.

    source = r'''
    extern "C" __global__ void axpy(const float *x, float *y, float alpha) {
        int i = threadIdx.x + blockIdx.x * blockDim.x;
        y[i] += alpha * x[i];
    }'''
    axpy = mx.rtc.CudaModule(source).get_kernel('axpy', 'const float *x, float *y, float alpha')
    axpy.launch([x, y, 3.0], mx.gpu(0), grid_dims=(1, 1, 1), block_dims=(10, 1, 1))

The compiler is NVIDIA's NVRTC, which comes with CUDA builds of PyTorch. torch's wrapper around it is used through
`_torch/tools.py`.
"""
from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy
import torch

from ._names import kind_of
from ._names import suggest_names as _suggest_names
from ._ops.core.dtypes import NAME
from ._torch.tools import compile_cuda, cuda_launch
from .base import MXNetError
from .ndarray import NDArray

if TYPE_CHECKING:
    from .context import Context

__all__ = ['CudaKernel', 'CudaModule']

_TYPES = {'float': 'float32', 'double': 'float64', '__half': 'float16', 'uint8_t': 'uint8', 'int': 'int32',
          'int32_t': 'int32', 'int8_t': 'int8', 'char': 'int8', 'int64_t': 'int64'}
_PARAMETER = re.compile(r'(?P<const>const )?(?P<type>\w+) ?(?P<pointer>\*)? ?(?:__restrict__ )?(?P<name>\w+)?')

NO_GPU = ('mx.rtc compiles CUDA source for an NVIDIA GPU, and {why}. Operators in Python run everywhere: see '
          'mx.operator and mx.autograd.Function')
NO_COMPILER = 'torch {version} offers no runtime compiler ({missing})'


def _compiled(source, name, options):
    """(the module of the driver, the function in it) of a kernel, for the current device."""
    try:
        return compile_cuda(source, name, options)
    except NotImplementedError as error:
        raise _no_compiler(error) from None
    except (RuntimeError, AttributeError, OSError) as error:
        raise MXNetError(f'mx.rtc: kernel {name}: {error}') from error


def _launch():
    try:
        return cuda_launch()
    except NotImplementedError as error:
        raise _no_compiler(error) from None


def _no_compiler(error):
    return MXNetError(NO_GPU.format(why=NO_COMPILER.format(version=torch.__version__, missing=error)))


def _check_gpu():
    if not torch.cuda.is_available():
        why = f'torch {torch.__version__} is a build without CUDA' if torch.version.cuda is None else 'there is none'
        raise MXNetError(NO_GPU.format(why=why))


class CudaModule:
    """CUDA source with one or more kernels.

    source: the whole source.  A kernel is declared `extern "C" __global__`, or named in `exports`.
    options: flags of the compiler, such as '-I/usr/local/cuda/include' or '--use_fast_math'.
    exports: names of kernels that are compiled at once, so that mistakes show here; instances of templates, such as
        'axpy<float>', can be among them.  Others are compiled by `get_kernel`.
    """

    def __init__(self, source: Any, options: Sequence[Any] = (), exports: Sequence[Any] = ()) -> None:
        _check_gpu()
        self._source = source
        self._options = (options,) if isinstance(options, str) else tuple(options)
        self._functions: dict[Any, Any] = {}        # (name, number of the device): what `_compiled` gives
        for name in (exports,) if isinstance(exports, str) else exports:
            self._function(name, torch.cuda.current_device())

    def _function(self, name, device):
        found = self._functions.get((name, device))
        if found is None:
            with torch.cuda.device(device):
                found = self._functions[name, device] = _compiled(self._source, name, self._options)
        return found[1]

    def get_kernel(self, name: str, signature: Any) -> Any:
        """A kernel of the module.

        signature: its parameters as in the source, 'const float *x, double *y, int n'; names may be left out.  A
            pointer stands for an array, `const` for one that is only read.
        """
        arrays, types = _parsed(signature)
        self._function(name, torch.cuda.current_device())
        return CudaKernel(self, name, arrays, types)


def _parsed(signature):
    """([is it an array], [name of the dtype]) of a kernel's parameters."""
    arrays, types = [], []
    for text in signature.split(','):
        text = ' '.join(text.split())
        match = _PARAMETER.fullmatch(text)
        if match is None or match['type'] == 'const':
            raise ValueError(f'a parameter of a kernel is "const type *name", of which const, * and name may be left '
                             f'out, not "{text}"')
        if match['type'] not in _TYPES:
            raise TypeError(f'parameter "{text}" of a kernel has no type that arrays have: {", ".join(_TYPES)}')
        arrays.append(match['pointer'] is not None)
        types.append(_TYPES[match['type']])
    return arrays, types


class CudaKernel:
    """A kernel that can be launched; `CudaModule.get_kernel` makes it."""

    def __init__(self, handle: Any, name: str, is_ndarray: Any, dtypes: Any) -> None:
        self._module, self._name, self._is_ndarray, self._dtypes = handle, name, is_ndarray, dtypes

    def launch(self, args: Any, ctx: Context, grid_dims: Any, block_dims: Any, shared_mem: int = 0) -> None:
        """Runs the kernel on a GPU, after the work that is queued there already.

        args: an array on that GPU for each pointer of the signature, a number for each other parameter
        grid_dims, block_dims: three ints each
        shared_mem: bytes of dynamic shared memory
        """
        if ctx.device_type != 'gpu' or ctx.torch_device.type != 'cuda':
            raise AssertionError(f'kernel {self._name}: ctx must be a GPU, not {ctx}')
        for what, dims in ('grid_dims', grid_dims), ('block_dims', block_dims):
            if len(dims) != 3:
                raise AssertionError(f'kernel {self._name}: {what} has three ints, not {len(dims)}')
        if len(args) != len(self._dtypes):
            raise AssertionError(f'kernel {self._name} takes {len(self._dtypes)} arguments, {len(args)} were given')
        values = [self._value(i, arg, ctx) for i, arg in enumerate(args)]
        pointers = (ctypes.c_void_p * len(values))(*[v.ctypes.data for v in values])
        device = ctx.torch_device.index or 0
        function = self._module._function(self._name, device)
        with torch.cuda.device(device):
            status = _launch()(function, *[int(n) for n in (*grid_dims, *block_dims)], int(shared_mem),
                               ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), pointers, None)
        if status:
            raise MXNetError(f'kernel {self._name}: the driver refused the launch with error {status}; grid_dims='
                             f'{tuple(grid_dims)}, block_dims={tuple(block_dims)}, shared_mem={shared_mem}')

    def _value(self, number, arg, ctx):
        """What the driver copies for an argument: an address or a number, in memory of NumPy's."""
        wanted = self._dtypes[number]
        if not self._is_ndarray[number]:
            if not isinstance(arg, (Number, numpy.generic)):
                raise AssertionError(f'kernel {self._name}: argument {number} must be a number, not '
                                     f'{kind_of(arg)}')
            return numpy.array(arg, wanted)
        if not isinstance(arg, NDArray) or arg.stype != 'default':
            raise AssertionError(f'kernel {self._name}: argument {number} must be a dense array, not '
                                 f'{kind_of(arg)}')
        tensor = arg.materialize()
        if tensor.device != ctx.torch_device or NAME[tensor.dtype] != wanted:
            raise MXNetError(f'kernel {self._name}: argument {number} must be a {wanted} array on {ctx}, not a '
                             f'{NAME[tensor.dtype]} array on {arg.context}')
        return numpy.array(tensor.data_ptr(), 'uint64')


_suggest_names(globals())
