"""Products of multi-head attention on projections that are stored side by side.

The last axis of a fused projection goes over heads, then over query, key and value (or key and value), then over the
features of a head: (length, batch, heads * 3 * features).
"""
import torch

from ...base import MXNetError
from ..core.table import operator


def _split(name, argument, fused, heads, parts):
    """(length, batch, heads * parts * features) -> for each part (batch * heads, length, features)."""
    if fused.dim() != 3 or heads < 1 or fused.shape[-1] % (heads * parts):
        raise MXNetError(f'operator {name}: {argument} has shape {tuple(fused.shape)}; with heads={heads} it must be '
                         f'(length, batch, n) with n a multiple of {heads * parts}')
    length, batch, width = fused.shape
    return fused.reshape(length, batch * heads, parts, width // (heads * parts)).permute(2, 1, 0, 3).unbind(0)


def _scores(queries, keys):
    return torch.bmm(queries * queries.shape[-1] ** -0.5, keys.mT)


def _weighted(name, attention, values, heads):
    if attention.dim() != 3 or attention.shape[0] != values.shape[0] or attention.shape[2] != values.shape[1]:
        raise MXNetError(f'operator {name}: attention has shape {tuple(attention.shape)}; it must be (batch * heads, '
                         f'query length, length), here ({values.shape[0]}, n, {values.shape[1]})')
    result = torch.bmm(attention, values)
    count, length, features = result.shape
    return result.transpose(0, 1).reshape(length, count // heads, heads * features)


@operator()
def _contrib_interleaved_matmul_selfatt_qk(queries_keys_values, *, heads: int):
    """Scores of self-attention: query times key over the square root of a head's features.

    From (length, batch, heads * 3 * features) to (batch * heads, length, length).
    """
    queries, keys, _ = _split('interleaved_matmul_selfatt_qk', 'queries_keys_values', queries_keys_values, heads, 3)
    return _scores(queries, keys)


@operator(same_dtype='*')
def _contrib_interleaved_matmul_selfatt_valatt(queries_keys_values, attention, *, heads: int):
    """Values of self-attention weighted by `attention` (batch * heads, length, length).

    From (length, batch, heads * 3 * features) to (length, batch, heads * features).
    """
    name = 'interleaved_matmul_selfatt_valatt'
    _, _, values = _split(name, 'queries_keys_values', queries_keys_values, heads, 3)
    return _weighted(name, attention, values, heads)


@operator(same_dtype='*')
def _contrib_interleaved_matmul_encdec_qk(queries, keys_values, *, heads: int):
    """Scores of attention from one sequence to another: query times key over the square root of a head's features.

    From (query length, batch, heads * features) and (length, batch, heads * 2 * features) to (batch * heads,
    query length, length).
    """
    name = 'interleaved_matmul_encdec_qk'
    query, = _split(name, 'queries', queries, heads, 1)
    keys, _ = _split(name, 'keys_values', keys_values, heads, 2)
    return _scores(query, keys)


@operator(same_dtype='*')
def _contrib_interleaved_matmul_encdec_valatt(keys_values, attention, *, heads: int):
    """Values of another sequence weighted by `attention` (batch * heads, query length, length).

    From (length, batch, heads * 2 * features) to (query length, batch, heads * features).
    """
    name = 'interleaved_matmul_encdec_valatt'
    _, values = _split(name, 'keys_values', keys_values, heads, 2)
    return _weighted(name, attention, values, heads)
