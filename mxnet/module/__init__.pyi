# Made by `python -m mxnet._frontend.stubs`: do not edit.
from .._names import suggest_names as _suggest_names
from .base_module import BaseModule as BaseModule
from .bucketing_module import BucketingModule as BucketingModule
from .module import Module as Module
from .python_module import PythonLossModule as PythonLossModule
from .python_module import PythonModule as PythonModule
from .sequential_module import SequentialModule as SequentialModule
