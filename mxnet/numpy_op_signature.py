"""The public function of an operator by its registered name."""
import inspect
from types import ModuleType


def _get_builtin_op(op_name):
    """`_np_sum` is `mx.np.sum`, `_npx_relu` is `mx.npx.relu`, with a `__signature__`; None for names of other kinds."""
    from . import numpy, numpy_extension
    module: ModuleType
    if op_name.startswith('_npx_'):
        prefix, module = '_npx_', numpy_extension
    elif op_name.startswith('_np_'):
        prefix, module = '_np_', numpy
    else:
        return None
    name = op_name[len(prefix):]
    if name.startswith('_image_'):
        module, name = module.image, name.removeprefix('_image_')
    function = getattr(module, name, None)
    if function is None:
        raise ValueError(f'{module.__name__} has no function {name}')
    if not hasattr(function, '__signature__'):
        function.__signature__ = inspect.signature(function)
    return function
