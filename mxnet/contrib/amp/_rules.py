"""What mixed precision wants of each operator: the lists, by operator of the table instead of by name."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._names import kind_of
from ..._ops.core.dtypes import dtype_name
from ..._ops.core.table import NAMES
from .lists import _families

if TYPE_CHECKING:
    from ..._ops.core.table import Operator
    from ..._typing import DType

WIDEST = 'widest'
TARGETS = ('float16', 'bfloat16')


def target_name(dtype: DType, error: Any = AssertionError) -> str:
    """'float16' or 'bfloat16', from anything that names one of them."""
    name = dtype_name(dtype)
    if name not in TARGETS:
        raise error(f'mixed precision works with {" or ".join(TARGETS)}, not with {name}')
    return name


class Rules:
    """In which dtype each operator is to run.

    Lists that are None are the default ones.  What a program lists goes before the default lists that it leaves alone.
    """

    def __init__(self, target: Any, low: Any = None, float32: Any = None,
                 conditional: Any = None) -> None:
        self.target = target
        given = {'target_dtype_ops': low, 'fp32_ops': float32, 'conditional_fp32_ops': conditional}
        chosen = {what: _operators(what, names) for what, names in given.items() if names is not None}
        _check_disjoint(chosen)
        taken = set().union(*chosen.values())

        def rest(names):
            return {NAMES[name] for name in names} - taken

        self.wanted = dict.fromkeys(rest(_families.WIDEST), WIDEST)
        self.wanted |= dict.fromkeys(rest(_families.FLOAT32) if float32 is None else chosen['fp32_ops'], 'float32')
        self.wanted |= dict.fromkeys(rest(_families.PRODUCTS) if low is None else chosen['target_dtype_ops'], target)
        self.conditions: dict[Any, Any] = {}
        for name, attribute, values in _families.CONDITIONAL if conditional is None else conditional:
            if conditional is not None or NAMES[name] not in taken:
                self.conditions.setdefault(NAMES[name], []).append((attribute, values))

    def dtype(self, op: Operator, attributes: Any) -> str | None:
        """The dtype for an operator with these (complete or given) attributes; None where any will do."""
        for attribute, values in self.conditions.get(op, ()):
            if str(attributes.get(attribute, op.attributes[attribute].default)) in values:
                return 'float32'
        return self.wanted.get(op)

    def untouched(self, op: Operator, attributes: Any, count: int) -> Any:
        """Positions of the inputs that are never cast: states, and what needs float32 anyway."""
        if op.variadic is not None:
            return set(op.mutated(op.complete(attributes), count)) if op.mutates else set()
        names = {*op.aux, *(() if callable(op.mutates) else op.mutates)}
        if self.wanted.get(op) == self.target:
            names |= {name for name in _families.FLOAT32_INPUTS.get(op.name, ()) if name}
        return {i for i, name in enumerate(op.inputs) if name in names} if names else set()


def _operators(what, names):
    if not isinstance(names, (list, tuple)):
        raise AssertionError(f'{what} must be a list, not {kind_of(names)}')
    if what.startswith('conditional'):
        for entry in names:
            if not (isinstance(entry, (list, tuple)) and len(entry) == 3 and isinstance(entry[2], (list, tuple))):
                raise AssertionError(f'{what} must hold (operator, attribute, list of values), not {entry!r}')
            if entry[0] in NAMES and entry[1] not in NAMES[entry[0]].attributes:
                raise AssertionError(f'{what}: operator {entry[0]} has no attribute {entry[1]!r}')
        names = [entry[0] for entry in names]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise AssertionError(f'{what}: there is no operator {", ".join(map(repr, unknown))}')
    return {NAMES[name] for name in names}


def _check_disjoint(chosen):
    seen: dict[str, Any] = {}
    for what, operators in chosen.items():
        for op in operators:
            if op in seen:
                raise AssertionError(f'operator {op.name} is in {seen[op]} and in {what}; it can be in one list only')
            seen[op] = what
