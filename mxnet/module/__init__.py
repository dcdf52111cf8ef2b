"""Modules: a symbol, its parameters and what trains them, in one object: `mx.mod.Module`."""
from .._names import suggest_names as _suggest_names
from .base_module import BaseModule
from .bucketing_module import BucketingModule
from .module import Module
from .python_module import PythonLossModule, PythonModule
from .sequential_module import SequentialModule

__all__ = ['BaseModule', 'BucketingModule', 'Module', 'PythonLossModule', 'PythonModule', 'SequentialModule']


_suggest_names(globals())
