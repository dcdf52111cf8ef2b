"""Names, NumPy types and torch types of what an array can hold."""
import re
from typing import Any

import numpy
import torch

from ..._names import near
from ...base import UnknownDtype

BFLOAT16 = numpy.dtype([('bfloat16', numpy.uint16)])   # upstream's stand-in: NumPy has no bfloat16

TORCH = {
    'float32': torch.float32, 'float64': torch.float64, 'float16': torch.float16, 'bfloat16': torch.bfloat16,
    'uint8': torch.uint8, 'int8': torch.int8, 'int32': torch.int32, 'int64': torch.int64, 'bool': torch.bool,
    'int16': torch.int16, 'uint16': torch.uint16, 'uint32': torch.uint32, 'uint64': torch.uint64,
}
NAME = {t: n for n, t in TORCH.items()}
NUMPY = {n: getattr(numpy, n) for n in TORCH if n not in ('bfloat16', 'bool')} | {'bool': numpy.bool_,
                                                                                  'bfloat16': BFLOAT16}
FLOATING = frozenset(t for t in NAME if t.is_floating_point)
INTEGERS = frozenset(NAME) - FLOATING - {torch.bool}

# what programs pass, straight to the torch type: the common spellings need no parsing
_KNOWN = dict(TORCH.items()) | {NUMPY[n]: t for n, t in TORCH.items() if n != 'bfloat16'}
_KNOWN |= {numpy.dtype(NUMPY[n]): t for n, t in TORCH.items()} | {t: t for t in NAME}
_KNOWN |= {float: torch.float64, int: torch.int64, bool: torch.bool}


_PLAIN = re.compile(r'[<>=|]?[A-Za-z?]\w*')          # 'float32', '<f4'; NumPy's names of a single number


def torch_dtype(dtype: Any) -> torch.dtype:
    """The torch type of anything that names a dtype: 'float32', numpy.float32, numpy.dtype, torch.float32, an array."""
    try:
        return _KNOWN[dtype]
    except (KeyError, TypeError):
        pass
    try:
        if isinstance(dtype, str) and not _PLAIN.fullmatch(dtype):
            raise TypeError             # NumPy would take it for the fields of a record, and evaluate parts of it
        # programs write x.astype(y), which NumPy before 2 understood for objects of any class
        return TORCH[numpy.dtype(getattr(dtype, 'dtype', dtype)).name]
    except (TypeError, KeyError, ValueError):
        hint = '; a shape with several axes is one tuple: (2, 3)' if isinstance(dtype, int) else ''
        raise UnknownDtype(
            f'unknown dtype {dtype!r}{near(dtype, TORCH)}; there are {", ".join(TORCH)}{hint}') from None


def dtype_name(dtype: Any) -> str:
    """'float32' and the like, from anything that names a dtype."""
    return NAME[torch_dtype(dtype)]
