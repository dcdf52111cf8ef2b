"""The version, and the places of native files.

This MXNet is Python on PyTorch's kernels, so there is no `libmxnet`, no C header and no TVM table to find.  The three
`find_*` functions raise RuntimeError, as they always did where the files were missing.  This file imports nothing,
because packaging reads `remx_version` from it.
"""
from __future__ import annotations

from typing import Any

__all__ = ['find_lib_path', 'find_include_path', 'find_conf_path']

# Programs compare this one with versions of Apache MXNet, so it stays in the 1.9 series, after its last release 1.9.1.
__version__ = '1.9.2'

# The version of the distribution `remx` on package indexes.
remx_version = '2.0.0'


def find_lib_path(prefix: str = 'libmxnet') -> Any:
    """Raises RuntimeError: there is no native library to load with ctypes or to link with."""
    raise RuntimeError(f'There is no {prefix} library: mxnet {__version__} is written in Python on PyTorch. Call the '
                       'Python API instead of the C API; torch.utils.cpp_extension builds operators in C++ or CUDA.')


def find_include_path() -> Any:
    """Raises RuntimeError: there are no C or C++ headers."""
    raise RuntimeError(f'There are no MXNet headers: mxnet {__version__} is written in Python on PyTorch. '
                       'torch.utils.cpp_extension.include_paths() has the headers to build an operator with.')


def find_conf_path(prefix: str = 'tvmop') -> Any:
    """Raises RuntimeError: there are no operators compiled by TVM."""
    raise RuntimeError(f'There is no {prefix}.conf: mxnet {__version__} has no operators compiled by TVM.')
