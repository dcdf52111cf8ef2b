"""Names of blocks and their parameters: `net_` + `dense0_` + `weight`."""
import threading

from .. import name as _name
from .parameter import ParameterDict

_current = threading.local()


class BlockScope:
    """`with net.name_scope():` blocks made inside get the net's prefix, and counters of their own."""

    def __init__(self, block):
        self._block = block
        self._counter = {}
        self._outer = []

    @staticmethod
    def create(prefix, params, hint):
        """(prefix, parameter dictionary) of a new block."""
        scope = getattr(_current, 'value', None)
        if scope is None:
            if prefix is None:
                prefix = _name.NameManager.current.get(None, hint) + '_'
            return prefix, ParameterDict(prefix) if params is None else ParameterDict(params.prefix, params)
        if prefix is None:
            number = scope._counter.get(hint, 0)
            scope._counter[hint] = number + 1
            prefix = f'{hint}{number}_'
        if params is None:
            parent = scope._block.params
            params = ParameterDict(parent.prefix + prefix, parent._shared)
        else:
            params = ParameterDict(params.prefix, params)
        return scope._block.prefix + prefix, params

    def __enter__(self):
        if not self._block._empty_prefix:
            names = _name.Prefix(self._block.prefix)
            names.__enter__()
            self._outer.append((getattr(_current, 'value', None), names))
            _current.value = self
        return self

    def __exit__(self, ptype, value, trace):
        if not self._block._empty_prefix:
            _current.value, names = self._outer.pop()
            names.__exit__(ptype, value, trace)
