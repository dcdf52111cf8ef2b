"""Which features this MXNet has, under the names that MXNet 1.x gave to its build options.

>>> mx.runtime.Features().is_enabled('INT64_TENSOR_SIZE')
True

A flag says what the torch below was built with and what optional packages are there, not whether a GPU is plugged in:
for that, ask `mx.context.num_gpus()`.  Torch is loaded when a flag is first read.
"""
from __future__ import annotations

import collections
import faulthandler
import importlib.util
import platform
import threading
from typing import Any, Self

from ._kinds import explain_kinds as _explain_kinds
from ._kinds import explain_methods as _explain_methods
from ._names import near
from ._names import suggest_names as _suggest_names

__all__ = ['Feature', 'Features', 'feature_list']


class Feature:
    """A feature's `name`, and whether it is `enabled`."""

    __slots__ = ('_name', '_probe')

    def __init__(self, name: str, probe: Any) -> None:
        self._name = name
        self._probe = probe

    @property
    def name(self) -> str:
        return self._name

    @property
    def enabled(self) -> bool:
        return bool(self._probe())

    def __repr__(self) -> str:
        return f'{"✔" if self.enabled else "✖"} {self.name}'


def feature_list() -> list[Feature]:
    """All features, as a list of `Feature`."""
    return [Feature(name, probe) for name, probe in _PROBES.items()]


class Features(collections.OrderedDict):
    """A dict from names to `Feature` objects.  There is only one: `Features() is Features()`."""

    instance: Any = None
    _lock = threading.Lock()

    def __new__(cls) -> Self:
        with cls._lock:
            if cls.instance is None:
                features = super().__new__(cls)
                collections.OrderedDict.__init__(features, ((feature.name, feature) for feature in feature_list()))
                cls.instance = features
        return cls.instance

    def __repr__(self) -> str:
        return repr(list(self.values()))

    def is_enabled(self, feature_name: str) -> bool:
        """Whether the feature is there; upper and lower case are the same.  An unknown name is a RuntimeError."""
        name = feature_name.upper()
        if name not in self:
            raise RuntimeError(f'there is no feature called {feature_name!r}{near(feature_name, self)}; there are '
                               f'{", ".join(self)}')
        return self[name].enabled


def _never():
    return False


def _always():
    return True


def _torch(path):
    """A probe: the flag, or what the function returns, that sits at `path` in torch."""
    def probe():
        import torch
        found = torch
        for part in path.split('.'):
            found = getattr(found, part)
        return found() if callable(found) else found
    return probe


def _all(*probes):
    return lambda: all(probe() for probe in probes)


def _package(name):
    return lambda: importlib.util.find_spec(name) is not None


def _x86():
    return platform.machine().lower() in ('x86_64', 'amd64')


def _avx2():
    # torch has its x86 kernels in three builds: for any x86-64 (which means SSE2), AVX2 and AVX-512.
    import torch
    return _x86() and torch.backends.cpu.get_cpu_capability().startswith('AVX')


def _build_setting(text):
    def probe():
        import torch
        return text in torch.__config__.show().lower()
    return probe


_PROBES = {
    'CUDA': _torch('backends.cuda.is_built'),
    'CUDNN': _torch('backends.cudnn.is_available'),
    'NCCL': _all(_torch('distributed.is_available'), _torch('distributed.is_nccl_available')),
    'CUDA_RTC': _never,
    'TENSORRT': _never,
    'CPU_SSE': _x86,
    'CPU_SSE2': _x86,
    'CPU_SSE3': _avx2,
    'CPU_SSE4_1': _avx2,
    'CPU_SSE4_2': _avx2,
    'CPU_SSE4A': _never,
    'CPU_AVX': _avx2,
    'CPU_AVX2': _avx2,
    'OPENMP': _torch('backends.openmp.is_available'),
    'SSE': _x86,
    'F16C': _avx2,
    'JEMALLOC': _never,
    'BLAS_OPEN': _build_setting('blas_info=open'),
    'BLAS_ATLAS': _build_setting('blas_info=atlas'),
    'BLAS_MKL': _torch('backends.mkl.is_available'),
    'BLAS_APPLE': _build_setting('blas_info=accelerate'),
    'LAPACK': _build_setting('lapack is enabled'),
    'MKLDNN': _torch('backends.mkldnn.is_available'),
    'OPENCV': _package('cv2'),
    'CAFFE': _never,
    'PROFILER': _all(_package('mxnet.profiler'), _torch('profiler.kineto_available')),
    'DIST_KVSTORE': _all(_package('mxnet.kvstore'), _torch('distributed.is_available')),
    'CXX14': _never,
    'INT64_TENSOR_SIZE': _always,
    # A crash prints where the program was when Python's own handler is on (python -X faulthandler).
    'SIGNAL_HANDLER': faulthandler.is_enabled,
    'DEBUG': _torch('version.debug'),
    'TVM_OP': _never,
}


_explain_kinds(globals(), __all__)
_explain_methods(Features, 'is_enabled')
_suggest_names(globals())
