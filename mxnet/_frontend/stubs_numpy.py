"""Stubs of `mx.np`: the signatures of its functions, with types found from the names of the parameters.

The names mean the same thing throughout, as they do in NumPy; what is particular to one function is in `PARTICULAR`.
"""
import importlib
import inspect
from typing import Any

import numpy

from .signature import default_of

IMPORTS = """from builtins import bool as _bool
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as _numpy

from mxnet._typing import ArrayLike, DType, Operand
from mxnet.context import Context
"""

# parameter -> type; a default of None adds None
BY_NAME = {
    'Operand': ('x x1 x2 a b a1 a2 arr ary m v y array ar ar1 ar2 data condition obj_array fill_value values lhs rhs '
                'start stop u p val element test_elements prototype A M_ xi'),
    'Shape': 'axis shape size axes shift reps repeats newshape new_shape source destination batch_shape output_size',
    'DType': 'dtype',
    'Context': 'ctx device',
    'Any': ('kwargs kwarg args where kw casting signature extobj object obj indices weights bins range choices tup seq '
            'operands sample dimensions keys default condlist choicelist funclist initial out'),
    '_bool': ('keepdims endpoint retstep copy equal_nan returned right assume_unique return_index return_inverse '
             'return_counts return_indices invert rowvar bias full increasing density normed subok overwrite_input '
             'hermitian replace sparse compute_uv'),
    'int': 'k n N num decimals axis1 axis2 axisa axisb axisc offset minlength ddof deg ind ndmin precision threshold',
    'float': ('rtol atol step scale loc low high df alpha beta sigma rcond tol nan posinf neginf dx period discont q '
              'base prob logit a_min a_max'),
    'str': 'order kind mode subscripts interpolation method side trim bitorder UPLO indexing',
}
TYPES = {name: kind for kind, names in BY_NAME.items() for name in names.split()}
ALIASES = {'Shape': 'int | Sequence[int]'}

# (function, parameter): type; the parameter 'return' is the result
PARTICULAR = {
    ('array', 'object'): 'ArrayLike', ('asarray', 'a'): 'ArrayLike',
    ('concatenate', 'seq'): 'Sequence[ndarray]', ('stack', 'arrays'): 'Sequence[ndarray]',
    ('vstack', 'arrays'): 'Sequence[ndarray]', ('hstack', 'arrays'): 'Sequence[ndarray]',
    ('dstack', 'arrays'): 'Sequence[ndarray]', ('column_stack', 'tup'): 'Sequence[ndarray]',
    ('where', 'x'): 'Operand', ('meshgrid', 'return'): 'list[ndarray]', ('unique', 'return'): 'Any',
    ('shape', 'return'): 'tuple[int, ...]', ('ndim', 'return'): 'int', ('size', 'return'): 'int',
    ('allclose', 'return'): '_bool', ('array_equal', 'return'): '_bool', ('array_equiv', 'return'): '_bool',
    ('may_share_memory', 'return'): '_bool', ('shares_memory', 'return'): '_bool',
    ('isdtype', 'return'): '_bool', ('can_cast', 'return'): '_bool', ('isdtype', 'kind'): 'Any',
    ('set_printoptions', 'return'): 'None',
    ('result_type', 'return'): '_numpy.dtype[Any]', ('promote_types', 'return'): '_numpy.dtype[Any]',
    ('min_scalar_type', 'return'): '_numpy.dtype[Any]',
    ('random.seed', 'seed_state'): 'int', ('random.seed', 'seed'): 'int', ('random.seed', 'ctx'): 'Context | str',
    ('random.seed', 'return'): 'None', ('random.shuffle', 'return'): 'None',
    ('full', 'fill_value'): 'Any', ('full_like', 'fill_value'): 'Any', ('linspace', 'return'): 'Any',
    ('random.normal', 'loc'): 'Operand', ('random.normal', 'scale'): 'Operand',
    ('random.uniform', 'low'): 'Operand', ('random.uniform', 'high'): 'Operand',
    ('random.gamma', 'shape'): 'Operand', ('random.gamma', 'scale'): 'Operand',
    ('random.choice', 'a'): 'Any', ('random.choice', 'p'): 'Any', ('random.rand', 'size'): 'int',
    ('random.randn', 'size'): 'int', ('random.randint', 'low'): 'int', ('random.randint', 'high'): 'int',
    ('random.permutation', 'x'): 'Any', ('random.multivariate_normal', 'mean'): 'ndarray',
    ('random.multivariate_normal', 'cov'): 'ndarray',
    ('linalg.norm', 'ord'): 'Any', ('linalg.slogdet', 'return'): 'tuple[ndarray, ndarray]',
    ('linalg.svd', 'return'): 'tuple[ndarray, ndarray, ndarray]', ('linalg.qr', 'return'): 'Any',
    ('linalg.eig', 'return'): 'tuple[ndarray, ndarray]', ('linalg.eigh', 'return'): 'tuple[ndarray, ndarray]',
    ('linalg.lstsq', 'return'): 'Any', ('linalg.multi_dot', 'arrays'): 'Sequence[ndarray]',
    ('linalg.matrix_rank', 'A'): 'Any', ('linalg.matrix_power', 'n'): 'int',
    ('einsum', 'operands'): 'Any', ('pad', 'pad_width'): 'Any', ('clip', 'a_min'): 'Any', ('clip', 'a_max'): 'Any',
    ('quantile', 'q'): 'Operand', ('percentile', 'q'): 'Operand', ('tensordot', 'axes'): 'Any',
    ('insert', 'obj'): 'Any', ('delete', 'obj'): 'Any', ('gradient', 'return'): 'Any',
    ('take', 'indices'): 'Operand', ('nonzero', 'return'): 'tuple[ndarray, ...]',
    ('histogram', 'return'): 'tuple[ndarray, ndarray]',
    ('random.beta', 'a'): 'Operand', ('random.beta', 'b'): 'Operand', ('random.power', 'a'): 'Operand',
    ('random.pareto', 'a'): 'Operand', ('random.weibull', 'a'): 'Operand', ('random.chisquare', 'df'): 'Operand',
}
# functions that return several arrays, or one, depending on their arguments
SEVERAL = ('array_split split dsplit hsplit vsplit atleast_1d atleast_2d atleast_3d average broadcast_arrays divmod '
           'frexp modf tril_indices triu_indices tril_indices_from triu_indices_from diag_indices_from unravel_index '
           'histogram2d histogramdd ix_ polyfit polydiv intersect1d apply_along_axis apply_over_axes count_nonzero '
           'mirr npv ppmt pv rate choose einsum_path').split()

# module -> (stub file, class of the results, the modules of the package that it has, lines of its own)
MODULES = {
    'mxnet.numpy': ('numpy/__init__.pyi', 'ndarray'),
    'mxnet.numpy.random': ('numpy/random.pyi', 'ndarray'),
    'mxnet.numpy.linalg': ('numpy/linalg.pyi', 'ndarray'),
    'mxnet.numpy.array_api': ('numpy/array_api.pyi', 'ndarray'),
    'mxnet.numpy.utils': ('numpy/utils.pyi', 'ndarray'),
    'mxnet.numpy.arrayprint': ('numpy/arrayprint.pyi', 'ndarray'),
    'mxnet.numpy.fallback': ('numpy/fallback.pyi', 'ndarray'),
    'mxnet.numpy.fallback_linalg': ('numpy/fallback_linalg.pyi', 'ndarray'),
    'mxnet.numpy.function_base': ('numpy/function_base.pyi', 'ndarray'),
    'mxnet.numpy.stride_tricks': ('numpy/stride_tricks.pyi', 'ndarray'),
    'mxnet.numpy.io': ('numpy/io.pyi', 'ndarray'),
    'mxnet.numpy_extension.random': ('numpy_extension/random.pyi', 'ndarray'),
    'mxnet.ndarray.numpy': ('ndarray/numpy/__init__.pyi', 'ndarray'),
    'mxnet.symbol.numpy': ('symbol/numpy/__init__.pyi', '_Symbol'),
    'mxnet.symbol.numpy.random': ('symbol/numpy/random.pyi', '_Symbol'),
    'mxnet.symbol.numpy.linalg': ('symbol/numpy/linalg.pyi', '_Symbol'),
    'mxnet.symbol.numpy_extension.random': ('symbol/numpy_extension/random.pyi', '_Symbol'),
}


def stubs() -> dict[str, str]:
    """Stub file -> text."""
    return {path: module_stub(name, array) for name, (path, array) in MODULES.items()}


def module_stub(name: str, array: str) -> str:
    module = importlib.import_module(name)
    space = name.removeprefix('mxnet.').removeprefix('symbol.').removeprefix('ndarray.')
    space = space.removeprefix('numpy').removeprefix('_extension').lstrip('.')
    space = space + '.' if space in ('random', 'linalg') else ''
    source = 'from mxnet.numpy.multiarray import ndarray as ndarray\n' if array == 'ndarray' \
        else 'from mxnet.symbol.numpy._symbol import _Symbol as _Symbol\n'
    listed = getattr(module, '__all__', None) or [n for n in dir(module) if not n.startswith('_')]
    functions, constants, modules = '', '', ''
    for public in sorted(set(listed)):
        value = getattr(module, public)
        if inspect.ismodule(value):
            if value.__name__.startswith('mxnet'):
                package, _, last = value.__name__.rpartition('.')
                modules += f'from {package} import {last} as {public}\n'
        elif inspect.isclass(value):
            if value.__module__.startswith('mxnet'):
                continue                    # the class of arrays, which is imported
            constants += f'{public} = _bool\n' if value is bool else f'{public} = _numpy.{public}\n'
        elif callable(value):
            functions += define(value, public, array, space)
        else:
            constants += f'{public}: {_constant(value)}\n'
    return IMPORTS + source + modules + '\n' + constants + functions.lstrip('\n')


def _constant(value) -> str:
    if isinstance(value, numpy.dtype):
        return '_numpy.dtype[Any]'
    kind = type(value).__name__ if value is not None else 'None'
    return {'dict': 'dict[Any, Any]', 'tuple': 'tuple[Any, ...]', 'list': 'list[Any]'}.get(kind, kind)


def define(function, name: str, array: str, space: str = '') -> str:
    """The stub of one function."""
    doc = (inspect.getdoc(function) or '').split('\n\n')[0].replace('\n', ' ').replace('\\', '\\\\')
    doc = doc.replace('"""', "'''")
    text = f'\ndef {name}({parameters(function, space + name, array)}) -> {result(space + name, array)}:\n'
    return text + f'    """{doc}"""\n'


def result(name: str, array: str) -> str:
    if (name, 'return') in PARTICULAR:
        return PARTICULAR[name, 'return'].replace('ndarray', array)
    return 'Any' if name in SEVERAL else array


def parameters(function, name: str, array: str) -> str:
    texts, star = [], False
    for p in inspect.signature(function).parameters.values():
        kind = PARTICULAR.get((name, p.name)) or TYPES.get(p.name, 'Any')
        kind = ALIASES.get(kind, kind)
        if array != 'ndarray':
            kind = kind.replace('Operand', 'Any').replace('ndarray', array).replace('ArrayLike', 'Any')
        if p.kind is p.VAR_POSITIONAL:
            star = True
            texts.append(f'*{p.name}: {"int" if kind.startswith("int |") else kind}')
            continue
        if p.kind is p.VAR_KEYWORD:
            texts.append(f'**{p.name}: Any')
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            star = True
            texts.append('*')
        texts.append(f'{p.name}: ' + _with_default(kind, p))
        if p.kind is p.POSITIONAL_ONLY:
            texts = [t for t in texts if t != '/'] + ['/']
    return ', '.join(texts)


def _with_default(kind, p):
    if p.default is p.empty:
        return kind
    text = default_of(p.default)
    types: dict[str, Any] = {'_bool': bool, 'int': int, 'float': (int, float), 'str': str}
    simple = types.get(kind)
    if p.default is None or text == '...' or simple is None:
        pass
    elif not isinstance(p.default, simple):
        kind = 'Any'            # the default is of another type than the name suggests
    if (p.default is None or text == '...') and kind != 'Any' and 'None' not in kind:
        kind += ' | None'
    return f'{kind} = {text}'
