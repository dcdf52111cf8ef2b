"""Elements, comparisons, reductions and products."""
import numpy as np

from .... import symbol as sym
from ....onnx.mx2onnx._builder import onnx
from ._registry import translates

UNARY = {'Abs': 'abs', 'Neg': 'negative', 'Exp': 'exp', 'Log': 'log', 'Sqrt': 'sqrt', 'Ceil': 'ceil', 'Floor': 'floor',
         'Sin': 'sin', 'Cos': 'cos', 'Tan': 'tan', 'Asin': 'arcsin', 'Acos': 'arccos', 'Atan': 'arctan', 'Sinh': 'sinh',
         'Cosh': 'cosh', 'Asinh': 'arcsinh', 'Acosh': 'arccosh', 'Atanh': 'arctanh', 'Tanh': 'tanh',
         'Sigmoid': 'sigmoid', 'Relu': 'relu', 'Softsign': 'softsign', 'Sign': 'sign', 'Reciprocal': 'reciprocal',
         'Erf': 'erf', 'Identity': 'identity'}
BINARY = {'Add': 'broadcast_add', 'Sub': 'broadcast_sub', 'Mul': 'broadcast_mul', 'Div': 'broadcast_div',
          'Pow': 'broadcast_power'}
COMPARE = {'Equal': 'broadcast_equal', 'Greater': 'broadcast_greater', 'Less': 'broadcast_lesser',
           'GreaterOrEqual': 'broadcast_greater_equal', 'LessOrEqual': 'broadcast_lesser_equal'}
LOGICAL = {'And': 'broadcast_logical_and', 'Or': 'broadcast_logical_or', 'Xor': 'broadcast_logical_xor'}
VARIADIC = {'Max': 'broadcast_maximum', 'Min': 'broadcast_minimum', 'Sum': 'broadcast_add', 'Mean': 'broadcast_add'}
SCALAR = {'Add': '_plus_scalar', 'Sub': '_minus_scalar', 'Mul': '_mul_scalar', 'Div': '_div_scalar',
          'Pow': '_power_scalar'}


@translates(*UNARY)
def unary(n):
    return getattr(sym, UNARY[n.kind])(n.sym(), name=n.name)


@translates('Round')
def round_(n):
    """Halves go to the even neighbour."""
    x = n.sym()
    up = sym.floor(x + 0.5)
    return up - sym.broadcast_equal(up, x + 0.5) * (up % 2)


def _scalar(n):
    """The second input, if it is one known number that adds no axis."""
    values = n.tensors[1].values
    if values is not None and values.size == 1 and n.tensors[0].rank is not None and n.tensors[0].rank >= values.ndim \
            and values.dtype.kind in 'fiu':
        return values.item()
    return None


def _aligned(n):
    """Both inputs with as many axes: MXNet's broadcasting asks for that."""
    ranks = [t.rank for t in n.tensors]
    parts = n.syms()
    if None in ranks:
        return parts
    most = max([1, *ranks])
    for number, rank in enumerate(ranks):
        for _ in range(most - max(rank, 1)):
            parts[number] = sym.expand_dims(parts[number], axis=0)
    return parts


@translates(*BINARY)
def binary(n):
    value = _scalar(n)
    if value is not None and n.kind in SCALAR:
        return getattr(sym._internal, SCALAR[n.kind])(n.sym(), scalar=value, name=n.name)
    if n.get('broadcast') and n.get('axis') is not None and n.rank(1) < n.rank(0):        # opset 6 and before
        a, b = n.sym(0), n.sym(1)
        axis = n.axis('axis', 0)
        for _ in range(n.rank(0) - axis - n.rank(1)):
            b = sym.expand_dims(b, axis=-1)
        for _ in range(axis):
            b = sym.expand_dims(b, axis=0)
        return getattr(sym, BINARY[n.kind])(a, b, name=n.name)
    return getattr(sym, BINARY[n.kind])(*_aligned(n), name=n.name)


@translates(*COMPARE, *LOGICAL)
def compare(n):
    return getattr(sym, (COMPARE | LOGICAL)[n.kind])(*_aligned(n), name=n.name)


@translates('Mod')
def mod(n):
    if n.get('fmod'):                   # the sign of the dividend
        a, b = _aligned(n)
        return sym.broadcast_mul(sym.sign(a), sym.broadcast_mod(sym.abs(a), sym.abs(b)), name=n.name)
    return sym.broadcast_mod(*_aligned(n), name=n.name)


@translates('Not')
def logical_not(n):
    return sym.logical_not(n.sym(), name=n.name)


@translates(*VARIADIC)
def variadic(n):
    parts = _aligned(n)
    found = parts[0]
    for part in parts[1:]:
        found = getattr(sym, VARIADIC[n.kind])(found, part)
    return found / len(parts) if n.kind == 'Mean' else found


@translates('Where')
def where(n):
    condition, a, b = _aligned(n)
    # all three get the common shape by adding zeros
    kind = str(n.tensors[1].dtype or 'float32')
    condition = sym.Cast(condition, dtype=kind)
    zeros = sym.broadcast_add(sym.broadcast_add(sym.zeros_like(a), sym.zeros_like(b)), sym.zeros_like(condition))
    return sym.where(*[sym.broadcast_add(part, zeros) for part in (condition, a, b)], name=n.name)


@translates('Clip')
def clip(n):
    low, high = n.values(1, 'min'), n.values(2, 'max')
    return sym.clip(n.sym(), a_min=float(np.finfo(np.float32).min if low is None else low),
                    a_max=float(np.finfo(np.float32).max if high is None else high), name=n.name)


@translates('Cast')
def cast(n):
    kind = onnx().helper.tensor_dtype_to_np_dtype(n.get('to'))
    # nothing here is boolean: a comparison gives 0 and 1
    return sym.Cast(n.sym(), dtype='float32' if kind.kind == 'b' else str(kind), name=n.name)


# ---------------------------------------------------------------------- activations
@translates('LeakyRelu', 'Elu', 'Selu', 'Gelu')
def leaky(n):
    default = {'LeakyRelu': 0.01, 'Elu': 1.0}.get(n.kind, 0.25)
    usual = abs(n.get('alpha', 1.67326) - 1.67326) < 1e-3 and abs(n.get('gamma', 1.0507) - 1.0507) < 1e-3
    if n.kind == 'Selu' and not usual:
        raise n.error(f'alpha={n.get("alpha")}, gamma={n.get("gamma")}: ours has those of the paper')
    kind = {'LeakyRelu': 'leaky'}.get(n.kind, n.kind.lower())
    if n.kind == 'Gelu' and n.get('approximate', 'none') != 'none':
        raise n.error('approximate')
    return sym.LeakyReLU(n.sym(), act_type=kind, slope=n.get('alpha', default), name=n.name)


@translates('PRelu')
def prelu(n):
    known = n.tensors[1].values
    if known is not None and (known.size == 1 or known.ndim == n.rank() - 1 and known.size == known.shape[0]):
        return sym.LeakyReLU(n.sym(), n.parameter(known.ravel(), 'gamma'), act_type='prelu', name=n.name)
    x, slope = _aligned(n)
    return sym.relu(x) - sym.broadcast_mul(slope, sym.relu(-x))


@translates('Celu')
def celu(n):
    alpha = n.get('alpha', 1.0)
    return sym.LeakyReLU(n.sym() / alpha, act_type='elu', slope=1.0, name=n.name) * alpha


@translates('Mish')
def mish(n):
    x = n.sym()
    return sym.broadcast_mul(x, sym.tanh(sym.Activation(x, act_type='softrelu')), name=n.name)


@translates('IsNaN', 'IsInf')
def is_odd(n):
    if not n.get('detect_negative', 1) or not n.get('detect_positive', 1):
        raise n.error('infinities of one sign')
    x = n.sym()
    if n.kind == 'IsNaN':
        return sym.broadcast_not_equal(x, x, name=n.name)
    return sym.broadcast_equal(sym.abs(x), sym.ones_like(x) * np.inf, name=n.name)


@translates('Einsum')
def einsum(n):
    return sym.np.einsum(n.get('equation'), *[s.as_np_ndarray() for s in n.syms()]).as_nd_ndarray()


@translates('Softplus')
def softplus(n):
    return sym.Activation(n.sym(), act_type='softrelu', name=n.name)


@translates('HardSigmoid')
def hard_sigmoid(n):
    return sym.hard_sigmoid(n.sym(), alpha=n.get('alpha', 0.2), beta=n.get('beta', 0.5), name=n.name)


@translates('HardSwish')
def hard_swish(n):
    x = n.sym()
    return sym.broadcast_mul(x, sym.hard_sigmoid(x, alpha=1 / 6, beta=0.5), name=n.name)


@translates('Softmax', 'LogSoftmax')
def softmax(n):
    function = sym.softmax if n.kind == 'Softmax' else sym.log_softmax
    axis = n.get('axis', -1 if n.opset >= 13 else 1)
    if n.opset >= 13 or axis in (-1, n.tensors[0].rank and n.tensors[0].rank - 1):
        return function(n.sym(), axis=axis, name=n.name)
    # before opset 13 all axes from this one on were one
    flat = sym.Reshape(n.sym(), shape=(0,) * axis + (-1,))
    return sym.reshape_like(function(flat, axis=-1), n.sym(), name=n.name)


# ---------------------------------------------------------------------- reductions
REDUCE = {'ReduceSum': 'sum', 'ReduceMean': 'mean', 'ReduceMax': 'max', 'ReduceMin': 'min', 'ReduceProd': 'prod'}


def _axes(n):
    axes = n.ints(1, 'axes')
    if not axes and n.get('noop_with_empty_axes'):
        raise n.error('noop_with_empty_axes')
    return {'axis': tuple(axes)} if axes else {}


@translates(*REDUCE)
def reduce(n):
    if n.get('noop_with_empty_axes') and not n.ints(1, 'axes'):
        return n.sym()
    return getattr(sym, REDUCE[n.kind])(n.sym(), **_axes(n), keepdims=bool(n.get('keepdims', 1)), name=n.name)


@translates('ReduceL1', 'ReduceL2', 'ReduceSumSquare', 'ReduceLogSum', 'ReduceLogSumExp')
def reduce_more(n):
    x, how = n.sym(), {**_axes(n), 'keepdims': bool(n.get('keepdims', 1))}
    match n.kind:
        case 'ReduceL1':
            return sym.sum(sym.abs(x), **how, name=n.name)
        case 'ReduceL2':
            return sym.sqrt(sym.sum(sym.square(x), **how), name=n.name)
        case 'ReduceSumSquare':
            return sym.sum(sym.square(x), **how, name=n.name)
        case 'ReduceLogSum':
            return sym.log(sym.sum(x, **how), name=n.name)
    return sym.log(sym.sum(sym.exp(x), **how), name=n.name)


@translates('ArgMax', 'ArgMin')
def argmax(n):
    function = sym.argmax if n.kind == 'ArgMax' else sym.argmin
    if n.get('select_last_index'):
        raise n.error('select_last_index')
    found = function(n.sym(), axis=n.get('axis', 0), keepdims=bool(n.get('keepdims', 1)))
    return sym.Cast(found, dtype='int64', name=n.name)


@translates('TopK')
def topk(n):
    count = int(np.ravel(n.values(1, 'k'))[0])
    values, indices = sym.topk(n.sym(), axis=n.get('axis', -1), k=count, ret_typ='both', dtype='int64',
                               is_ascend=not n.get('largest', 1), name=n.name)
    return [values, indices]


@translates('CumSum')
def cumsum(n):
    if n.get('exclusive') or n.get('reverse'):
        raise n.error('exclusive and reverse')
    return sym.cumsum(n.sym(), axis=n.ints(1)[0], name=n.name)


# ---------------------------------------------------------------------- products
@translates('Gemm')
def gemm(n):
    """alpha A B + beta C.  With a constant B, A B + C is a dense layer."""
    a, alpha, beta = n.sym(0), n.get('alpha', 1.0), n.get('beta', 1.0)
    if n.get('transA'):
        a = sym.transpose(a)
    weight, bias = n.tensors[1].values, n.tensors[2].values if n.has(2) else None
    width = 0 if weight is None else weight.shape[0 if n.get('transB') else 1]
    if weight is not None and (not n.has(2) or bias is not None and bias.size == width):
        weight = weight if n.get('transB') else weight.T
        w = n.sym(1) if n.get('transB') and alpha == 1.0 else n.parameter(alpha * weight, 'weight')
        if bias is None:
            return sym.FullyConnected(sym.Flatten(a), w, num_hidden=width, no_bias=True, name=n.name)
        b = n.sym(2) if beta == 1.0 and bias.ndim == 1 else n.parameter(beta * bias.ravel(), 'bias')
        return sym.FullyConnected(sym.Flatten(a), w, b, num_hidden=width, no_bias=False, name=n.name)
    product = sym.dot(a, n.sym(1), transpose_b=bool(n.get('transB')))
    product = product if alpha == 1.0 else product * alpha
    if not n.has(2):
        return product
    c = n.sym(2)
    for _ in range(2 - max(1, n.rank(2))):
        c = sym.expand_dims(c, axis=0)
    return sym.broadcast_add(product, c if beta == 1.0 else c * beta, name=n.name)


@translates('MatMul')
def matmul(n):
    shapes = [t.shape for t in n.tensors]
    if None in shapes:
        raise n.error('the number of axes is not known')
    ranks = [len(shape) for shape in shapes]
    if ranks[1] == 2 and n.tensors[1].values is not None and ranks[0] >= 2:
        weight = n.tensors[1].values
        return sym.FullyConnected(n.sym(0), n.parameter(weight.T, 'weight'), num_hidden=weight.shape[1], no_bias=True,
                                  flatten=False, name=n.name)
    if ranks[1] <= 2:
        return sym.dot(n.sym(0), n.sym(1), name=n.name)
    if ranks[0] == ranks[1] and shapes[0][:-2] == shapes[1][:-2] and 0 not in shapes[0][:-2]:
        return sym.linalg_gemm2(n.sym(0), n.sym(1), name=n.name)
    found = sym.np.matmul(n.sym(0).as_np_ndarray(), n.sym(1).as_np_ndarray())
    return found.as_nd_ndarray()
