# Made by `python -m mxnet._frontend.stubs`: do not edit.
from .._names import no_attribute as _no_attribute
from . import amp as amp
from . import autograd as autograd
from . import horovod as horovod
from . import io as io
from . import ndarray as ndarray
from . import onnx as onnx
from . import quantization as quantization
from . import svrg_optimization as svrg_optimization
from . import symbol as symbol
from . import tensorboard as tensorboard
from . import text as text
from . import tune as tune
from . import ndarray as nd
from . import quantization as quant
from . import symbol as sym
