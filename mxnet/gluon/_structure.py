"""Nested lists of arrays or symbols, taken apart and put together again."""
from .._names import kind_of
from ..ndarray import NDArray
from ..symbol import Symbol

LEAF, ABSENT = 0, -1          # else: the number of outputs of a symbol, or a list of formats


def takes_symbols(forward):
    """Marks a `forward` that runs on symbols as on arrays: the block's graph is made by calling it on symbols."""
    forward.takes_symbols = True
    return forward


def flatten(values, what):
    """-> (arrays, symbols and Nones in order, the format that `regroup` needs)."""
    if isinstance(values, NDArray):
        return [values], LEAF
    if isinstance(values, Symbol):
        return [values], len(values) if len(values) > 1 else LEAF
    if values is None:
        return [None], ABSENT
    if not isinstance(values, (list, tuple)):
        raise ValueError(f'{what} of a hybridized block must be arrays or nested lists of them, '
                         f'not {kind_of(values)}')
    flat, formats = [], []
    for value in values:
        part, form = flatten(value, what)
        flat += part
        formats.append(form)
    return flat, formats


def regroup(values, form):
    """The nesting that `flatten` took apart."""
    result, rest = _regroup(list(values), form)
    if rest:
        raise ValueError(f'{len(rest)} values too many')
    return result


def _regroup(values, form):
    if form == LEAF:
        return values[0], values[1:]
    if form == ABSENT:
        if values[0] is not None:
            raise ValueError('an array is given where the hybridized block was first called with None')
        return None, values[1:]
    if isinstance(form, int):
        return values[:form], values[form:]
    result = []
    for part in form:
        value, values = _regroup(values, part)
        result.append(value)
    return result, values


def same_format(a, b):
    """Whether two formats are equal but for Nones at the end."""
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    return longer[:len(shorter)] == shorter and all(f == ABSENT for f in longer[len(shorter):])


def check_outputs(block, values):
    """In np mode, blocks give arrays (or symbols) of that kind: one of the other kind is a mistake on the way."""
    for value in leaves(values):
        if type(value) is NDArray or type(value) is Symbol:
            raise TypeError(f'{block.name} gives a {type(value).__name__} in np mode, which is an array of mx.nd; '
                            'as_np_ndarray() makes it one of mx.np')


def leaves(values):
    """All arrays and symbols in nested lists."""
    if isinstance(values, (NDArray, Symbol)):
        yield values
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from leaves(value)
