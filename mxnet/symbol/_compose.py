"""Makes symbols from operator calls: names, attributes, and variables for inputs that are not given."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from .._dispatch import composed, interceptors
from .._frontend.binding import bind, by_order
from .._frontend.signature import docstring, signature
from .._graph.ir.node import HIDDEN, Node, is_hidden, own_attributes
from .._ops.core.attributes import bad_attribute
from .._ops.core.complaints import called_with
from .._ops.core.table import Operator, unknown_argument
from ..attribute import AttrScope
from ..base import MXNetError
from ..name import NameManager


class SymbolBase:
    """Outputs of a graph: entries (node, number of the output).

    `_memory` is what has been found out about it, as long as no node's attributes change.
    """

    __slots__ = ('_entries', '_memory', '__weakref__')
    _entries: Any
    _memory: Any

    if TYPE_CHECKING:           # what modules below `symbol` use of the class there
        def __len__(self) -> int: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __iter__(self) -> Iterator[Any]: ...

def text_of(op: Operator, name: str, value) -> str:
    """An attribute as it stands in a file."""
    if isinstance(value, str):
        return value
    if name == 'dtype' and value is not None:
        return op.attributes[name].kind.format(op.attributes[name].kind.parse(value)) if name in op.attributes \
            else numpy.dtype(value).name
    if isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        value = type(value)(v.item() if isinstance(v, numpy.generic) else v for v in value)
    if isinstance(value, numpy.ndarray):
        value = value.tolist()
    return str(value)


def call(op: Operator, hint: str, args, kwargs, cls):
    """The symbol of an operator call."""
    name = kwargs.pop('name', None)
    attr = kwargs.pop('attr', None)
    kwargs.pop('out', None)
    own = {}
    for key, value in AttrScope.current.get(attr).items():
        own[f'__{key}__' if key in HIDDEN else key] = value
    for key in [k for k in kwargs if is_hidden(k) or k in HIDDEN]:
        own[f'__{key}__' if key in HIDDEN else key] = str(kwargs.pop(key))
    inputs, given = bind(op, args, kwargs, SymbolBase)
    for key in given:
        # operators without arguments ignore them, as upstream's; custom operators take any
        if key not in op.attributes and op.attributes and op.extra is None:
            raise unknown_argument(op, key)
    name = NameManager.current.get(name, hint)
    texts = {}
    for key, value in given.items():
        try:
            texts[key] = text_of(op, key, value)
        except (MXNetError, ValueError, TypeError, KeyError, AttributeError, OverflowError):
            if key not in op.attributes:
                raise
            raise bad_attribute(op.name, key, value, op.attributes[key].kind) from None
    return compose(op, name, inputs, texts, own, cls)


def compose(op: Operator, name: Any, inputs: Any, attrs: Any, own: Any, cls: Any) -> Any:
    """One node, with variables for the inputs that it needs and that are absent."""
    attributes = op.complete(op.parse(attrs))
    attrs = {**attrs, **own}
    if op.variadic is not None:
        entries = [e for s in inputs for e in ((None,) if s is None else s._entries)]
        if op.variadic_names is not None:
            wanted = op.input_names(attributes, len(entries))
            if len(entries) > len(wanted):
                raise MXNetError(f'operator {op.name}: with {called_with(attributes)} it takes {len(wanted)} inputs, '
                                 f'but there are {len(entries)}')
            entries += [None] * (len(wanted) - len(entries))
            entries = [_variable(op, name, wanted[i], attrs) if e is None else e for i, e in enumerate(entries)]
        if not entries and op.auto_inputs:
            entries = [_variable(op, name, n, attrs) for n in op.input_names(attributes)]
    else:
        wanted = op.input_names(attributes)
        if op.optional:
            inputs = by_order(op, inputs, op.parse(own_attributes(attrs)))
        given = dict(zip(op.inputs, inputs, strict=False))
        for unused in [n for n, s in given.items() if s is not None and n not in wanted]:
            raise MXNetError(f'operator {op.name}: with {called_with(attributes)} it takes no input {unused}; '
                             f'it takes {", ".join(wanted)}')
        entries = []
        for n in wanted:
            symbol = given.get(n)
            if symbol is None:
                if not op.auto_inputs:
                    raise MXNetError(f'operator {op.name}: input {n} is missing')
                entries.append(_variable(op, name, n, attrs))
            else:
                entries.append(_single(op, n, symbol))
    node = Node(op, name, attrs, [_with_initializer(op, i, e, attributes) for i, e in enumerate(entries)])
    count = node.visible_count()
    if not count and callable(op.outputs):
        raise MXNetError(f'operator {op.name}: with {called_with(attributes)} it has no outputs')
    symbol = make(cls, [(node, i) for i in range(count)])
    return composed(op, symbol, cls) if interceptors else symbol


def make(cls: Any, entries: Any) -> Any:
    symbol = object.__new__(cls)
    symbol._entries = tuple(entries)
    return symbol


def _single(op, name, symbol):
    if len(symbol._entries) != 1:
        raise MXNetError(f'operator {op.name}: input {name} must be one symbol, not a group of {len(symbol._entries)}; '
                         'choose an output with [i]')
    return symbol._entries[0]


def _variable(op, name, which, attrs):
    return Node(None, f'{name}_{which}', attrs), 0


def _with_initializer(op, position, entry, attributes):
    """Notes on a variable how its values start, where the operator knows better than an initializer."""
    node = entry[0]
    if op.initializers and node.is_variable and '__init__' not in node.attrs:
        names = op.input_names(attributes)
        text = op.initializers.get(names[position]) if position < len(names) else None
        if text is not None:
            node.attrs['__init__'] = text
    return entry


def make_function(op: Operator, name: str, cls: type) -> Any:
    """The function of an operator on symbols."""
    hint = name.lower()

    def function(*args, **kwargs):
        return call(op, hint, args, kwargs, cls)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = docstring(op)
    result: Any = function
    result.__signature__ = signature(op, 'Symbol', graph=True)
    return function
