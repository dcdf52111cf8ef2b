"""What neural networks need beyond NumPy: `from mxnet import np, npx; npx.set_np()`."""
from .._frontend.examples import attach as _attach
from .._names import suggest_names as _suggest_names
from ..context import Context, cpu, cpu_pinned, current_context, gpu, gpu_memory_info, num_gpus
from ..ndarray import waitall
from ..util import (
    get_cuda_compute_capability,
    is_np_array,
    is_np_shape,
    np_array,
    np_shape,
    reset_np,
    set_np,
    use_np,
    use_np_array,
    use_np_shape,
)
from . import image, random, utils
from ._op import *
from .utils import load, save

for _place, _names in (('npx', globals()), ('npx.image', vars(image)), ('npx.random', vars(random))):
    _attach(_names, _place)


_suggest_names(globals())
