"""Texts of errors that blocks raise: a call that does not fit `forward`, a child that is not a block."""
import inspect
import os
import re

from .._internal_errors import is_internal, reworded
from .._names import kind_of

__all__ = ['explain_call', 'not_a_child', 'pattern_of']


def _inputs(*inputs):
    """The signature that errors show the inputs of a block by."""


_ARGUMENTS = re.compile(r'(?:\w+\.)*(hybrid_forward|forward)\(\) (?:missing|takes|got) ')
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def explain_call(block, error, args):
    """An error that names the block, the inputs it takes and those it was given; what code of the program, or a `raise`
    of this package, has raised stays as it is."""
    found = _ARGUMENTS.match(str(error)) if isinstance(error, TypeError) else None
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    if found is None or not trace.tb_frame.f_code.co_filename.startswith(_HERE):
        if not is_internal(error):
            return error                # raised by code of the block itself
        return reworded(_inputs, f'{block.name} ({type(block).__name__})', args, {}, error)
    caller = trace.tb_frame.f_locals.get('self')
    if caller is not block and caller is not None:
        return error                    # a block inside this one has explained it already
    method = 'hybrid_forward' if not block._traced and hasattr(block, 'hybrid_forward') else 'forward'
    signature = inspect.signature(getattr(type(block), method))
    names = list(signature.parameters)[1:]
    own = list(getattr(block, '_reg_params', {}))
    what = f'{block.name} ({type(block).__name__})'
    shown = f'{type(block).__name__}.{method}{signature}'
    if method == 'hybrid_forward':
        if names[:1] != ['F'] and len(names) <= len(args):
            return TypeError(f'{what}: hybrid_forward must take F as its first argument after self, '
                             f'but is defined as {shown}')
        accepts_any = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
        missing = [] if accepts_any else [n for n in own if n not in names]
        if missing:
            return TypeError(f'{what}: hybrid_forward must take the parameter {missing[0]!r} of the block as an '
                             f'argument of this name, but is defined as {shown}')
        names = [n for n in names[1:] if n not in own]
    elif names[:1] == ['F'] and len(args) == len(names) - 1:
        return TypeError(f'{what}: forward takes no F, but is defined as {shown}; only hybrid_forward does')
    given = f'{len(args)} input{"s" * (len(args) != 1)}'
    return TypeError(f'{what} was called with {given}, but {method} takes {", ".join(names) or "none"}')


def not_a_child(parent, child, name=None):
    """The text of an error for a child that a block cannot have."""
    hybrid = hasattr(parent, 'hybrid_forward')
    what = f'{type(parent).__name__}: ' + (f'child {name!r}' if name else 'a child')
    said = f'{what} must be a {"HybridBlock" if hybrid else "Block"}, not {kind_of(child)}'
    if isinstance(child, type):
        return f'{said}; call it to make one: {child.__name__}(...)'
    if isinstance(child, (list, tuple)):
        return f'{said}; pass its items: add(*blocks)'
    if getattr(child, '_is_sequence', False):
        return f'{said}; use HybridSequential instead of Sequential'
    if callable(child) and not hasattr(child, 'collect_params'):
        return f'{said}; {"HybridLambda" if hybrid else "Lambda"}(function) converts it'
    return said


def pattern_of(select):
    """The compiled regular expression of `collect_params`."""
    try:
        return re.compile(select)
    except re.error as error:
        fix = f"; for names that end in {select[1:]!r}, write '.*{select[1:]}'" if select.startswith('*') else ''
        raise re.error(f'collect_params: select={select!r} is not a regular expression: {error.msg}{fix}', select,
                       error.pos) from None
    except TypeError:
        raise TypeError(f'collect_params: select must be a str, not {kind_of(select)}') from None
