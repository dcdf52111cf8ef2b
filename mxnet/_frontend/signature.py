"""Real signatures and docstrings for derived functions."""
import inspect

from .._ops.core.table import Operator
from .binding import _Null

_P = inspect.Parameter


def signature(op: Operator, array_type: str, *, method: bool = False, graph: bool = False) -> inspect.Signature:
    """The signature of the function (or method) that stands for an operator."""
    out = [_P(n, _P.KEYWORD_ONLY, default=None) for n in (('name', 'attr') if graph else ('out', 'name'))]
    out.append(_P('kwargs', _P.VAR_KEYWORD))
    if op.variadic is not None:
        first = [_P('data', _P.VAR_POSITIONAL, annotation=array_type)]
        rest = [_P(a.name, _P.KEYWORD_ONLY, default=_default(a)) for a in op.attributes.values()]
        return inspect.Signature(first + rest + out)
    names = list(op.positional)
    params = []
    if method:
        names.remove(op.inputs[0])
        params.append(_P('self', _P.POSITIONAL_OR_KEYWORD))
    for name in names:
        if name in op.attributes:
            params.append(_P(name, _P.POSITIONAL_OR_KEYWORD, default=_default(op.attributes[name])))
        else:
            params.append(_P(name, _P.POSITIONAL_OR_KEYWORD, default=None))
    return inspect.Signature(params + out)


def _default(attribute):
    return _Null if attribute.required else attribute.default


def default_of(value) -> str:
    """A default as a stub shows it: its text where that is short and can be read back, else `...`."""
    simple = value is None or isinstance(value, (bool, int, float, str))
    simple = simple or isinstance(value, tuple) and all(isinstance(v, (int, float)) for v in value)
    text = repr(value)
    return text if simple and text not in ('inf', '-inf', 'nan') else '...'


def docstring(op: Operator) -> str:
    """What the declaration says, then a list of the arguments."""
    lines = [op.doc or f'The operator {op.name}.', '', 'Parameters', '----------']
    for name in op.inputs:
        note = ' (with some attributes only)' if name in op.optional else ''
        state = ' (a state: updated in place)' if name in op.aux else ''
        lines.append(f'{name} : array{note}{state}')
    if op.variadic is not None:
        lines.append('*data : arrays')
    for a in op.attributes.values():
        what = 'required' if a.required else f'default {a.default!r}'
        lines.append(f'{a.name} : {a.kind.accepts}; {what}')
    lines.append('out : array or list of arrays that the result is written into')
    return '\n'.join(lines)
