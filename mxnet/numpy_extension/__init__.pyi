# Made by `python -m mxnet._frontend.stubs`: do not edit.
from .._frontend.examples import attach as _attach
from .._names import suggest_names as _suggest_names
from ..context import Context as Context
from ..context import cpu as cpu
from ..context import cpu_pinned as cpu_pinned
from ..context import current_context as current_context
from ..context import gpu as gpu
from ..context import gpu_memory_info as gpu_memory_info
from ..context import num_gpus as num_gpus
from ..ndarray import waitall as waitall
from ..util import get_cuda_compute_capability as get_cuda_compute_capability
from ..util import is_np_array as is_np_array
from ..util import is_np_shape as is_np_shape
from ..util import np_array as np_array
from ..util import np_shape as np_shape
from ..util import reset_np as reset_np
from ..util import set_np as set_np
from ..util import use_np as use_np
from ..util import use_np_array as use_np_array
from ..util import use_np_shape as use_np_shape
from . import image as image
from . import random as random
from . import utils as utils
from ._op import *
from .utils import load as load
from .utils import save as save
