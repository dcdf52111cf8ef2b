"""QuantizeLinear and DequantizeLinear: rounding in floating point.

A pair that is symmetric, with one scale, becomes the chain of `quantization.quantize_aware_net`, which
`quantization.convert_aware_net` makes int8.
"""
import numpy as np

from .... import symbol as sym
from ..._quantize_aware import NOTE
from ._registry import translates

_LIMITS = {'int8': (-128.0, 127.0), 'uint8': (0.0, 255.0), 'int16': (-32768.0, 32767.0), 'uint16': (0.0, 65535.0)}


def _scale_and_zero(n):
    """Scale and zero point, with axes such that they broadcast; and the dtype of the whole numbers."""
    scale = np.asarray(n.values(1), np.float32)
    zero = n.values(2)
    kind = str(zero.dtype) if zero is not None else 'uint8' if n.kind == 'QuantizeLinear' else str(n.input(0).dtype)
    if kind not in (*_LIMITS, 'int32'):
        raise n.error(f'whole numbers of type {kind} are not translated')
    zero = np.zeros_like(scale) if zero is None else zero.astype(np.float32)
    if n.get('block_size'):
        raise n.error('scales by blocks are not translated')
    if scale.size > 1:
        rank = n.rank(0)
        axis = n.get('axis', 1) % rank
        scale, zero = (a.reshape([-1 if i == axis else 1 for i in range(rank)]) for a in (scale, zero))
    return scale, zero, kind


def _rounded(x, name=None):
    """float32 rounded to whole numbers, halves to even ones, as ONNX says; the gradient goes straight through.

    Between this number and twice it, the steps of float32 are 1.
    """
    much = 12582912.0
    return sym._internal._minus_scalar(x + much, scalar=much, name=name)


def _plain(scale, zero, kind):
    return scale.size == 1 and not zero.any() and kind == 'int8'


def _broadcast(n, values):
    rank = n.rank(0)
    return np.broadcast_to(values, (1,) * rank).copy() if values.size == 1 else values


@translates('QuantizeLinear')
def quantize_linear(n):
    scale, zero, kind = _scale_and_zero(n)
    low, high = _LIMITS[kind]
    x = n.sym()
    if _plain(scale, zero, kind):
        counted = sym.broadcast_div(x, n.parameter(scale.reshape(1) * 127, 'range')) * 127.0
        return _rounded(sym.clip(counted, low, high), n.name)
    counted = sym.broadcast_div(x, n.parameter(_broadcast(n, scale), 'scale'))
    zero = n.parameter(_broadcast(n, zero), 'zero')
    limited = sym.clip(counted, -1e6, 1e6)
    return sym.clip(sym.broadcast_add(_rounded(limited), zero), low, high, name=n.name)


@translates('DequantizeLinear')
def dequantize_linear(n):
    scale, zero, kind = _scale_and_zero(n)
    if n.tensors[0].values is not None:             # a weight
        return n.parameter((n.tensors[0].values.astype(np.float32) - zero) * scale, 'dequantized')
    x = n.sym()
    node = x._entries[0][0]
    if _plain(scale, zero, kind) and not node.is_variable and node.op.name == '_minus_scalar':
        while node.op.name != 'broadcast_div':          # where the rounding begins
            node = node.inputs[0][0]
        value = node.inputs[0]
        result = sym.broadcast_mul(x, n.parameter(scale.reshape(1) * 127, 'range')) / 127.0
        result._entries[0][0].attrs[NOTE] = value[0].entry_name(value[1])
        return result
    moved = sym.broadcast_sub(sym.cast(x, dtype='float32'), n.parameter(_broadcast(n, zero), 'zero'))
    return sym.broadcast_mul(moved, n.parameter(_broadcast(n, scale), 'scale'), name=n.name)
