"""Sorts the arguments of a call into an operator's inputs and attributes."""
from .._names import kind_of, not_an_array
from .._ops.core.complaints import called_with
from .._ops.core.table import Operator, unknown_argument
from ..base import MXNetError, _Null


def bind(op: Operator, args: tuple, kwargs: dict, array_type: type):
    """-> (inputs, given attributes).

    Inputs are in the operator's order with None for an absent one (at the end: cut off).  Attributes are as the
    program gave them.
    """
    if op.variadic is not None:
        return _bind_variadic(op, args, kwargs, array_type)
    order = op.positional
    if len(args) > len(order):
        raise TypeError(f'operator {op.name} takes at most {len(order)} arguments ({", ".join(order)}), '
                        f'{len(args)} were given')
    given = dict(zip(order, args, strict=False))
    for name, value in kwargs.items():
        if name in given:
            raise TypeError(f'operator {op.name} got two values for argument {name}')
        given[name] = value
    inputs = []
    last = 0
    for i, name in enumerate(op.inputs):
        value = given.pop(name, None)
        if isinstance(value, array_type):
            last = i + 1
        elif value is not None and value is not _Null:
            raise TypeError(_wrong_kind(op, f'argument {name}', value, array_type))
        else:
            value = None
        inputs.append(value)
    del inputs[last:]
    return inputs, {n: v for n, v in given.items() if v is not _Null}


def _wrong_kind(op, what, value, array_type):
    what = f'operator {op.name}: {what}'
    if _of_graphs(array_type):
        return f'{what} must be a Symbol, not {kind_of(value)}; mx.sym.var makes one for an array'
    said = not_an_array(what, value, 'mx.np.array' if op.name.startswith('_np') else 'mx.nd.array')
    if type(value).__name__ in ('Symbol', '_Symbol'):
        said += '; in hybrid_forward, call the operators of F instead of those of mx.nd, and mx.sym for graphs'
    return said


def _of_graphs(array_type):
    return array_type.__name__.startswith('Symbol')


def _bind_variadic(op, args, kwargs, array_type):
    if len(args) == 1 and isinstance(args[0], (list, tuple)):
        args = tuple(args[0])
    inputs = list(args)
    given = {}
    named = {}
    for name, value in kwargs.items():
        if isinstance(value, array_type):
            named[name] = value
        elif value is not _Null:
            given[name] = value
    if named:
        # inputs by name: those the operator itself gives its inputs (data, label; arg0, arg1)
        if op.variadic in op.attributes:
            given.setdefault(op.variadic, len(args) + len(named))
        order = op.input_names(op.complete(op.parse(given)), len(args) + len(named))
        inputs += [named.pop(name, None) for name in order[len(args):]]
        if named:
            raise unknown_argument(op, next(iter(named)))
        while inputs[-1] is None:           # a graph makes variables for those at the end, and for gaps before
            inputs.pop()
        if op.variadic_names is None or not _of_graphs(array_type):
            gap = next((order[i] for i, value in enumerate(inputs) if value is None), None)
            if gap is not None:
                raise MXNetError(f'operator {op.name}: input {gap} is missing')
    filled = op.variadic_names is not None and _of_graphs(array_type)      # variables stand for what is absent
    for i, value in enumerate(inputs):
        if not isinstance(value, array_type) and not (filled and value is None):
            raise TypeError(_wrong_kind(op, f'input {i}', value, array_type))
    if op.variadic in op.attributes:
        given.setdefault(op.variadic, len(inputs))
    return inputs, given


def by_order(op: Operator, inputs: list, attributes: dict) -> list:
    """Inputs of an operator with optional ones, moved to those that are there with these attributes.

    Programs leave absent inputs out: `RNN(data, parameters, state, lengths, mode='gru', use_sequence_length=True)` has
    its lengths in the place of state_cell, which a GRU has not.
    """
    given = [x for x in inputs if x is not None]
    there = tuple(n for n, x in zip(op.inputs, inputs, strict=False) if x is not None)
    wanted = op.input_names(op.complete(attributes))
    if len(given) != len(wanted) or there == wanted:
        return inputs
    places = dict(zip(wanted, given, strict=True))
    moved = [places.get(n) for n in op.inputs]
    while moved and moved[-1] is None:
        moved.pop()
    return moved


def missing_inputs(op: Operator, inputs: list, attributes: dict):
    """The error for inputs that the operator needs with these attributes, but that were not given; None if all are."""
    if op.variadic is not None:
        return None
    wanted = op.input_names(op.complete(attributes))
    there = {n for n, x in zip(op.inputs, inputs, strict=False) if x is not None}
    missing = [n for n in wanted if n not in there]
    if not missing:
        return None
    given = called_with(attributes)
    return MXNetError(f'operator {op.name}: input {", ".join(missing)} is missing; with '
                      f'{given or "these arguments"} it takes {", ".join(wanted)}')
