"""Which of NumPy's functions, called on our arrays, run here (NEP 13 and NEP 18).

All of them can be called: what is not in these lists goes through NumPy and comes back as one of our arrays.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

_NUMPY_ARRAY_FUNCTION_LIST = [
    'all', 'amax', 'amin', 'any', 'append', 'argmax', 'argmin', 'argsort', 'around', 'array_split',
    'atleast_1d', 'atleast_2d', 'atleast_3d', 'bincount', 'broadcast_arrays', 'broadcast_to', 'clip',
    'column_stack', 'concatenate', 'copy', 'cumsum', 'delete', 'diag', 'diag_indices_from', 'diagflat',
    'diagonal', 'diff', 'dot', 'dsplit', 'dstack', 'ediff1d', 'einsum', 'empty_like', 'expand_dims', 'fix',
    'flip', 'fliplr', 'flipud', 'full_like', 'hsplit', 'hstack', 'inner', 'insert', 'isfinite', 'isinf',
    'isnan', 'isneginf', 'isposinf', 'linalg.cholesky', 'linalg.eig', 'linalg.eigh', 'linalg.eigvals',
    'linalg.eigvalsh', 'linalg.inv', 'linalg.norm', 'linalg.pinv', 'linalg.solve', 'linalg.tensorinv',
    'linalg.tensorsolve', 'max', 'may_share_memory', 'mean', 'meshgrid', 'min', 'nan_to_num', 'nonzero',
    'ones_like', 'outer', 'pad', 'percentile', 'polyval', 'prod', 'product', 'quantile', 'ravel', 'repeat',
    'reshape', 'resize', 'roll', 'round', 'round_', 'shape', 'shares_memory', 'sometrue', 'sort', 'split',
    'squeeze', 'stack', 'std', 'sum', 'swapaxes', 'take', 'tensordot', 'tile', 'trace', 'transpose', 'tril',
    'unique', 'unravel_index', 'var', 'vdot', 'vsplit', 'vstack', 'where', 'zeros_like',
]
_NUMPY_ARRAY_UFUNC_LIST = [
    'abs', 'absolute', 'add', 'arccos', 'arccosh', 'arcsin', 'arcsinh', 'arctan', 'arctan2', 'arctanh',
    'bitwise_and', 'bitwise_not', 'bitwise_or', 'bitwise_xor', 'cbrt', 'ceil', 'copysign', 'cos', 'cosh',
    'degrees', 'equal', 'exp', 'expm1', 'fabs', 'floor', 'greater', 'greater_equal', 'hypot', 'invert', 'lcm',
    'less', 'less_equal', 'log', 'log10', 'log2', 'logical_not', 'matmul', 'maximum', 'minimum', 'mod',
    'multiply', 'negative', 'not_equal', 'power', 'reciprocal', 'remainder', 'rint', 'sign', 'sin', 'sinh',
    'sqrt', 'square', 'subtract', 'tan', 'tanh', 'true_divide', 'trunc',
]


def with_array_function_protocol(func: Callable[..., Any]) -> Any:
    """Marks a function that needs `__array_function__`; every NumPy that this package runs with has it."""
    return func


def with_array_ufunc_protocol(func: Callable[..., Any]) -> Any:
    """Marks a function that needs `__array_ufunc__`; every NumPy that this package runs with has it."""
    return func
