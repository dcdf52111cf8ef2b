"""Translations of operators on single elements: arithmetic, comparisons, functions, activations."""
import math

import numpy as np

from ._builder import translates

UNARY = {'abs': 'Abs', 'negative': 'Neg', 'exp': 'Exp', 'log': 'Log', 'sqrt': 'Sqrt', 'ceil': 'Ceil', 'floor': 'Floor',
         'sin': 'Sin', 'cos': 'Cos', 'tan': 'Tan', 'arcsin': 'Asin', 'arccos': 'Acos', 'arctan': 'Atan', 'sinh': 'Sinh',
         'cosh': 'Cosh', 'arcsinh': 'Asinh', 'arccosh': 'Acosh', 'arctanh': 'Atanh', 'tanh': 'Tanh',
         'sigmoid': 'Sigmoid', 'relu': 'Relu', 'softsign': 'Softsign', 'sign': 'Sign', 'reciprocal': 'Reciprocal',
         'erf': 'Erf'}
SAME = ('_copy', 'identity', 'BlockGrad', 'Dropout', 'MakeLoss', 'make_loss', 'LinearRegressionOutput',
        'MAERegressionOutput', 'IdentityAttachKLSparseReg', '_identity_with_attr_like_rhs')
BINARY = {'add': 'Add', 'plus': 'Add', 'sub': 'Sub', 'minus': 'Sub', 'mul': 'Mul', 'div': 'Div', 'power': 'Pow'}
COMPARISONS = {'equal': 'Equal', 'greater': 'Greater', 'greater_equal': 'GreaterOrEqual', 'lesser': 'Less',
               'lesser_equal': 'LessOrEqual'}
LOGICAL = {'logical_and': 'And', 'logical_or': 'Or', 'logical_xor': 'Xor'}


@translates(*UNARY, *(f'_npi_{name}' for name in UNARY), '_npx_relu', '_npx_sigmoid')
def unary(c):
    name = c.kind.removeprefix('_npi_').removeprefix('_npx_')
    return c.op(UNARY[name], c.x)


@translates(*SAME)
def same(c):
    if c.kind == 'Dropout' and c['mode'] == 'always':
        raise c.error("mode='always' drops while predicting, too, which ONNX's runtimes do not")
    return c.op('Identity', c.x)


@translates('square')
def square(c):
    return c.op('Mul', c.x, c.x)


@translates('log2', 'log10', 'log1p', 'expm1', 'rsqrt', 'cbrt', 'rcbrt', 'exp2')
def functions(c):
    match c.kind:
        case 'log2' | 'log10':
            return c.op('Div', c.op('Log', c.x), c.scalar(math.log(2 if c.kind == 'log2' else 10)))
        case 'log1p':
            return c.op('Log', c.op('Add', c.x, c.scalar(1)))
        case 'expm1':
            return c.op('Sub', c.op('Exp', c.x), c.scalar(1))
        case 'exp2':
            return c.op('Pow', c.scalar(2), c.x)
        case 'rsqrt':
            return c.op('Reciprocal', c.op('Sqrt', c.x))
    root = c.op('Mul', c.op('Sign', c.x), c.op('Pow', c.op('Abs', c.x), c.scalar(1 / 3)))
    return root if c.kind == 'cbrt' else c.op('Reciprocal', root)


@translates('rint', 'round', 'fix', '_contrib_round_ste')
def rounding(c):
    """Of two that are as near, rint takes the smaller, round the one that is farther from 0; fix goes towards 0."""
    if c.kind == 'rint':
        return c.op('Ceil', c.op('Sub', c.x, c.scalar(0.5)))
    size = c.op('Abs', c.x)
    size = c.op('Floor', size if c.kind == 'fix' else c.op('Add', size, c.scalar(0.5)))
    return c.op('Mul', c.op('Sign', c.x), size)


@translates('degrees', 'radians')
def angles(c):
    return c.op('Mul', c.x, c.scalar(180 / math.pi if c.kind == 'degrees' else math.pi / 180))


@translates('Cast', 'amp_cast', '_npi_cast')
def cast(c):
    return c.cast(c.x, c.out_dtypes[0])


@translates('amp_multicast')
def multicast(c):
    return [c.cast(x, dtype) for x, dtype in zip(c.inputs, c.out_dtypes)]


@translates('clip', '_npi_clip')
def clip(c):
    return c.op('Clip', c.x, c.scalar(c['a_min']), c.scalar(c['a_max']))


@translates('hard_sigmoid')
def hard_sigmoid(c):
    return c.op('HardSigmoid', c.x, alpha=c['alpha'], beta=c['beta'])


@translates('logical_not')
def logical_not(c):
    return c.cast(c.op('Not', c.cast(c.x, bool)), c.out_dtypes[0])


# ---------------------------------------------------------------------- two arrays
def _names(*kinds):
    found = {}
    for kind in kinds:
        for start in ('broadcast_', 'elemwise_', '_', '_npi_'):
            found[start + kind] = kind
    return found


_BINARY = {**_names(*BINARY), '_npi_subtract': 'sub', '_npi_multiply': 'mul', '_npi_true_divide': 'div',
           '_grad_add': 'add'}
_COMPARISONS = _names(*COMPARISONS, 'not_equal') | {'_npi_less': 'lesser', '_npi_less_equal': 'lesser_equal'}
_LOGICAL = _names(*LOGICAL)
_EXTREMES = {name: 'Max' if 'max' in name else 'Min' for name in _names('maximum', 'minimum')}


@translates(*_BINARY)
def binary(c):
    return c.op(BINARY[_BINARY[c.kind]], *_same_dtype(c))


def _same_dtype(c):
    """mx.np computes with mixed dtypes; ONNX does not."""
    if c.dtypes[0] == c.dtypes[1]:
        return c.inputs
    return [x if dtype == c.out_dtypes[0] else c.cast(x, c.out_dtypes[0]) for x, dtype in zip(c.inputs, c.dtypes)]


@translates(*_EXTREMES)
def extremes(c):
    return c.op(_EXTREMES[c.kind], *_same_dtype(c))


@translates('broadcast_mod', '_mod', '_npi_mod')
def modulo(c):
    return _modulo(c, *c.inputs)


def _modulo(c, a, b):
    """The remainder with the sign of the divisor, as Python's; of a division by 0, 0."""
    none = c.op('Equal', b, c.scalar(0))
    b = c.op('Where', none, c.scalar(1), b)
    if c.dtype.kind in 'iu':
        rest = c.op('Mod', a, b)
    else:
        rest = c.op('Sub', a, c.op('Mul', c.op('Floor', c.op('Div', a, b)), b))
    return c.op('Where', none, c.scalar(0), rest)


@translates(*_COMPARISONS)
def comparisons(c):
    return _compare(c, _COMPARISONS[c.kind], *c.inputs)


def _compare(c, kind, a, b):
    if kind == 'not_equal':
        return c.cast(c.op('Not', c.op('Equal', a, b)), c.out_dtypes[0])
    return c.cast(c.op(COMPARISONS[kind], a, b), c.out_dtypes[0])


@translates(*_LOGICAL)
def logical(c):
    a, b = (c.cast(x, bool) for x in c.inputs)
    return c.cast(c.op(LOGICAL[_LOGICAL[c.kind]], a, b), c.out_dtypes[0])


@translates('_hypot', 'broadcast_hypot')
def hypot(c):
    a, b = (c.op('Mul', x, x) for x in c.inputs)
    return c.op('Sqrt', c.op('Add', a, b))


@translates('add_n')
def add_n(c):
    return c.op('Sum', *c.inputs)


@translates('where', '_npi_where')
def where(c):
    condition = c.cast(c.x, bool)
    if c.rank == 1 and len(c.shapes[1]) > 1 and c.kind == 'where':            # it chooses rows
        condition = c.unsqueeze(condition, *range(1, len(c.shapes[1])))
    return c.op('Where', condition, c.inputs[1], c.inputs[2])


# ---------------------------------------------------------------------- an array and a number
SCALAR = {'plus': 'Add', 'minus': 'Sub', 'mul': 'Mul', 'div': 'Div', 'power': 'Pow', 'maximum': 'Max', 'minimum': 'Min'}
_SCALAR = {f'_{name}_scalar': name for name in SCALAR} | {
    '_npi_add_scalar': 'plus', '_npi_subtract_scalar': 'minus', '_npi_multiply_scalar': 'mul',
    '_npi_true_divide_scalar': 'div', '_npi_power_scalar': 'power', '_npi_maximum_scalar': 'maximum',
    '_npi_minimum_scalar': 'minimum'}
_REVERSED = {f'_r{name}_scalar': name for name in ('minus', 'div', 'power', 'mod')} | {
    '_npi_rsubtract_scalar': 'minus', '_npi_rtrue_divide_scalar': 'div', '_npi_rpower_scalar': 'power',
    '_npi_rmod_scalar': 'mod'}
_COMPARE_SCALAR = {f'_{name}_scalar': name for name in (*COMPARISONS, 'not_equal')} | {
    f'_npi_{name}_scalar': name.replace('less', 'lesser') if name.startswith('less') else name
    for name in ('equal', 'not_equal', 'greater', 'greater_equal', 'less', 'less_equal')}


def _operand(c):
    """(array, number), of the output's dtype where that is a float and the array is not"""
    x, dtype = c.x, c.dtype
    if c.out_dtypes[0] != dtype and c.out_dtypes[0].kind == 'f':
        x, dtype = c.cast(x, c.out_dtypes[0]), c.out_dtypes[0]
    value = c['scalar']
    if dtype.kind in 'iu':
        value = int(value)
    return x, c.const(value, dtype)


@translates(*_SCALAR)
def scalar(c):
    x, value = _operand(c)
    return c.op(SCALAR[_SCALAR[c.kind]], x, value)


@translates(*_REVERSED)
def reversed_scalar(c):
    kind = _REVERSED[c.kind]
    x, value = _operand(c)
    return _modulo(c, value, x) if kind == 'mod' else c.op(SCALAR[kind], value, x)


@translates('_mod_scalar', '_npi_mod_scalar')
def mod_scalar(c):
    return _modulo(c, *_operand(c))


@translates(*_COMPARE_SCALAR)
def compare_scalar(c):
    x, value = c.x, c['scalar']
    if c.dtype.kind in 'iu' and value != int(value):
        x = c.cast(x, np.float32)
        return _compare(c, _COMPARE_SCALAR[c.kind], x, c.const(value, np.float32))
    return _compare(c, _COMPARE_SCALAR[c.kind], x, c.scalar(value))


@translates('_logical_and_scalar', '_logical_or_scalar', '_logical_xor_scalar')
def logical_scalar(c):
    kind = LOGICAL[c.kind.removesuffix('_scalar').removeprefix('_')]
    return c.cast(c.op(kind, c.cast(c.x, bool), c.const(bool(c['scalar']))), c.out_dtypes[0])


@translates('smooth_l1')
def smooth_l1(c):
    s = c['scalar'] ** 2
    size = c.op('Abs', c.x)
    small = c.op('Mul', c.op('Mul', c.x, c.x), c.scalar(0.5 * s))
    return c.op('Where', c.op('Less', size, c.scalar(1 / s)), small, c.op('Sub', size, c.scalar(0.5 / s)))


# ---------------------------------------------------------------------- activations
@translates('Activation')
def activation(c):
    return activate(c, c.x, c['act_type'])


def activate(c, x, kind):
    return c.op({'relu': 'Relu', 'sigmoid': 'Sigmoid', 'tanh': 'Tanh', 'softrelu': 'Softplus',
                 'softsign': 'Softsign'}[kind], x)


@translates('LeakyReLU')
def leaky_relu(c):
    match c['act_type']:
        case 'leaky':
            return c.op('LeakyRelu', c.x, alpha=c['slope'])
        case 'elu':
            return c.op('Elu', c.x, alpha=c['slope'])
        case 'selu':
            return c.op('Selu', c.x)
        case 'gelu':
            return gelu(c, c.x)
        case 'rrelu':
            return c.op('LeakyRelu', c.x, alpha=(c['lower_bound'] + c['upper_bound']) / 2)
    slope = c.inputs[1]
    if len(c.shapes[1]) == 1 and c.rank > 2:
        slope = c.reshape(slope, (-1, *[1] * (c.rank - 2)))
    return c.op('PRelu', c.x, slope)


def gelu(c, x):
    inner = c.op('Add', c.op('Erf', c.op('Div', x, c.scalar(math.sqrt(2)))), c.scalar(1))
    return c.op('Mul', c.op('Mul', x, inner), c.scalar(0.5))


@translates('_npx_leaky_relu')
def npx_leaky_relu(c):
    return leaky_relu(c)
