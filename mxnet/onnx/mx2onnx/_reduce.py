"""Translations of reductions, orders and products of matrices."""
import numpy as np

from ._builder import translates

REDUCTIONS = {'sum': 'ReduceSum', 'mean': 'ReduceMean', 'max': 'ReduceMax', 'min': 'ReduceMin', 'prod': 'ReduceProd'}
_REDUCTIONS = {**{name: name for name in REDUCTIONS}, '_np_sum': 'sum', '_npi_mean': 'mean', '_np_max': 'max',
               '_np_min': 'min', '_np_prod': 'prod'}


def reduce(c, kind, x, axes, keepdims):
    if kind == 'ReduceSum':
        return c.op(kind, x, c.ints(axes), keepdims=int(keepdims))
    return c.op(kind, x, axes=list(axes), keepdims=int(keepdims))


@translates(*_REDUCTIONS)
def reductions(c):
    axes = c.axes(c['axis'], c.attrs.get('exclude', False))
    x, computed = c.x, c.dtype
    if c.out_dtypes[0] != computed:
        x = c.cast(x, c.out_dtypes[0])
    result = reduce(c, REDUCTIONS[_REDUCTIONS[c.kind]], x, axes, c['keepdims']) if axes else c.op('Identity', x)
    return _not_scalar(c, result, len(axes) == c.rank and not c['keepdims'])


def _not_scalar(c, x, everything):
    """Outside np mode the sum of everything has one axis."""
    return c.reshape(x, (1,)) if everything and len(c.out_shapes[0]) == 1 else x


@translates('norm')
def norm(c):
    if c['ord'] not in (1, 2):
        raise c.error(f'ord={c["ord"]}')
    axes = c.axes(c['axis'])
    result = c.op('ReduceL1' if c['ord'] == 1 else 'ReduceL2', c.x, axes=axes, keepdims=int(c['keepdims']))
    return _not_scalar(c, result, len(axes) == c.rank and not c['keepdims'])


@translates('argmax', 'argmin', '_npi_argmax', '_npi_argmin')
def argmax(c):
    kind = 'ArgMax' if 'max' in c.kind else 'ArgMin'
    if c['axis'] is None:
        result = c.op(kind, c.reshape(c.x, (-1,)), axis=0, keepdims=0)
        result = c.reshape(result, [1] * len(c.out_shapes[0]))
    else:
        result = c.op(kind, c.x, axis=c.axis(c['axis']), keepdims=int(c['keepdims']))
    return c.to_result(result, np.int64)


@translates('topk')
def topk(c):
    if c['ret_typ'] == 'mask':
        raise c.error("ret_typ='mask'")
    x, axis = (c.reshape(c.x, (-1,)), 0) if c['axis'] is None else (c.x, c.axis(c['axis']))
    count = c['k'] if c['k'] > 0 else c.shape[axis]
    values, indices = c.op('TopK', x, c.ints([count]), outputs=2, axis=axis, largest=int(not c['is_ascend']), sorted=1)
    place = c.out_dtypes[-1]
    match c['ret_typ']:
        case 'value':
            return values
        case 'indices':
            return c.cast(indices, place)
    return [values, c.cast(indices, place)]


@translates('sort', 'argsort')
def sort(c):
    x, axis = (c.reshape(c.x, (-1,)), 0) if c['axis'] is None else (c.x, c.axis(c['axis']))
    count = c.op('Gather', c.op('Shape', x), c.ints([axis]))
    values, indices = c.op('TopK', x, count, outputs=2, axis=axis, largest=int(not c['is_ascend']), sorted=1)
    return values if c.kind == 'sort' else c.cast(indices, c.out_dtypes[0])


@translates('_np_cumsum')
def cumsum(c):
    x, axis = (c.reshape(c.x, (-1,)), 0) if c['axis'] is None else (c.x, c.axis(c['axis']))
    return c.to_result(c.op('CumSum', x, c.const(axis, np.int64)), c.dtype)


# ---------------------------------------------------------------------- products
def _turn(c, x, rank):
    """The last two axes change places."""
    return c.transpose(x, *range(rank - 2), rank - 1, rank - 2)


@translates('dot', '_np_dot')
def dot(c):
    """Contracts the last axis of the first with the first axis of the second."""
    (a, b), ranks = c.inputs, [len(shape) for shape in c.shapes]
    if c.attrs.get('transpose_a') and ranks[0] > 1:
        a = c.transpose(a, *range(1, ranks[0]), 0)           # its first axis becomes the last
    if c.attrs.get('transpose_b') and ranks[1] > 1:
        b = c.transpose(b, ranks[1] - 1, *range(ranks[1] - 1))
    if ranks[1] > 2:
        inner = c.fixed(c.shapes[1], 'the shape of the second input')
        flat = c.reshape(b, (inner[-1] if c.attrs.get('transpose_b') else inner[0], -1))
        return c.reshape(c.op('MatMul', a, flat), c.fixed(c.out_shapes[0], 'the shape of the output'))
    product = c.op('MatMul', a, b)
    return c.reshape(product, (1,)) if ranks == [1, 1] and len(c.out_shapes[0]) == 1 else product


@translates('batch_dot', '_linalg_gemm2', '_npx_batch_dot')
def batch_dot(c):
    if c.attrs.get('axis', -2) != -2:
        raise c.error(f'axis={c["axis"]}')
    a, b = c.inputs
    if c['transpose_a']:
        a = _turn(c, a, len(c.shapes[0]))
    if c['transpose_b']:
        b = _turn(c, b, len(c.shapes[1]))
    product = c.op('MatMul', a, b)
    return product if c.attrs.get('alpha', 1.0) == 1.0 else c.op('Mul', product, c.scalar(c['alpha']))


@translates('_npi_matmul')
def matmul(c):
    return c.op('MatMul', *c.inputs)


@translates('_npi_einsum')
def einsum(c):
    if len(set(c.dtypes)) > 1:
        raise c.error('inputs of several dtypes')
    return c.op('Einsum', *c.inputs, equation=c['subscripts'])
