"""Sums of products, exact for integers on a GPU as well.

torch has no matrix product of integers on GPUs.  Here their binary digits are cut into groups so short that a sum of
products of two groups is below 2**53: then float64 holds it exactly, in any order of the sum.  The parts are shifted
and added as int64, which drops what exceeds the dtype, as the sum of integers on a CPU does.
"""
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

Product = Callable[[Tensor, Tensor], Tensor]
_WHOLE = {torch.uint8: 8, torch.int8: 8, torch.int16: 16, torch.int32: 32, torch.int64: 64}
_EXACT = 53


def _is_exact(data: Tensor) -> bool:
    """Whether torch computes products of this dtype here."""
    return data.dtype not in _WHOLE or data.device.type in ('cpu', 'meta')


def integer_product(product: Product, a: Tensor, b: Tensor, terms: int) -> Tensor:
    """`product(a, b)` of integers of one dtype by `product` of float64; each result sums up to `terms` products."""
    bits = _WHOLE[a.dtype]
    width = min((_EXACT - max(terms - 1, 1).bit_length()) // 2, bits)
    count = -(-bits // width)
    mask = (1 << width) - 1 if width < 64 else -1
    left, right = ([((x >> width * i) & mask).double() for i in range(count)] for x in (a.long(), b.long()))
    total = None
    for i in range(count):
        for j in range(count - i):
            part = product(left[i], right[j]).long() << width * (i + j)
            total = part if total is None else total + part
    return total.to(a.dtype)        # type: ignore[union-attr]


# ---------------------------------------------------------------------- of two arrays
def _of_one_dtype(product: Product, a: Tensor, b: Tensor, terms: int) -> Tensor:
    if _is_exact(a) or a.dtype is not b.dtype:
        return product(a, b)
    return integer_product(product, a, b, terms)


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """As `torch.matmul`."""
    return torch.matmul(a, b) if _is_exact(a) else _of_one_dtype(torch.matmul, a, b, a.shape[-1])


def inner(a: Tensor, b: Tensor) -> Tensor:
    """As `torch.dot`."""
    return torch.dot(a, b) if _is_exact(a) else _of_one_dtype(torch.dot, a, b, a.shape[0])


def tensordot(a: Tensor, b: Tensor, dims: int | tuple[Sequence[int], Sequence[int]]) -> Tensor:
    """As `torch.tensordot`."""
    if _is_exact(a):
        return torch.tensordot(a, b, dims)      # type: ignore[arg-type]
    axes = range(a.dim() - dims, a.dim()) if isinstance(dims, int) else dims[0]
    terms = math.prod(a.shape[i] for i in axes)
    return _of_one_dtype(lambda x, y: torch.tensordot(x, y, dims), a, b, terms)      # type: ignore[arg-type]


def linear(data: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """As `F.linear`."""
    if _is_exact(data):
        return F.linear(data, weight, bias)
    result = _of_one_dtype(F.linear, data, weight, data.shape[-1])
    return result if bias is None else result + bias


# ---------------------------------------------------------------------- Einstein's sum
def einsum(subscripts: str, *data: Tensor) -> Tensor:
    """As `torch.einsum`, of arrays of one dtype; of integers on a GPU two by two, from the left."""
    if _is_exact(data[0]) or len(data) == 1:
        return torch.einsum(subscripts, *data)
    inputs, result = _subscripts(subscripts)
    if len(inputs) != len(data):
        return torch.einsum(subscripts, *data)          # which is an error
    total, labels = data[0], inputs[0]
    for i in range(1, len(data)):
        wanted = result if i == len(data) - 1 else _kept(labels + inputs[i], result + ''.join(inputs[i + 1:]))
        pair = f'{labels},{inputs[i]}->{wanted}'
        terms = _terms((labels, inputs[i]), (total, data[i]), wanted)
        total = integer_product(lambda x, y, pair=pair: torch.einsum(pair, x, y), total, data[i], terms)  # type: ignore
        labels = wanted
    return total


def _subscripts(text: str) -> tuple[list[str], str]:
    """The labels of each input and of the result."""
    given, arrow, result = text.replace(' ', '').partition('->')
    if not arrow:
        letters = given.replace(',', '').replace('.', '')
        result = '...' * ('...' in given) + ''.join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return given.split(','), result


def _kept(labels: str, needed: str) -> str:
    """Those of the labels that are needed later, each once."""
    letters = dict.fromkeys(labels.replace('.', ''))
    return '...' * ('...' in labels) + ''.join(c for c in letters if c in needed)


def _terms(labels: Sequence[str], data: Sequence[Tensor], result: str) -> int:
    """How many products an element of the result sums up, at most."""
    lengths: dict[Any, int] = {}
    for text, x in zip(labels, data, strict=True):
        front, dots, back = text.partition('...')
        axes: list[Any] = [*front, *([None] * (x.dim() - len(front) - len(back)) if dots else ()), *back]
        for label, length in zip(axes, x.shape, strict=False):
            lengths[label] = max(lengths.get(label, 1), length)
    return math.prod(n for label, n in lengths.items() if label is not None and label not in result) \
        * (1 if '...' in result or None not in lengths else max(x.numel() for x in data))
