"""Modules whose pickles hold the source of their classes, so that a program without `mxnet` can load them.

A pickle names classes and functions by their modules.  torch's are everywhere; ours are not.  So what is ours is pickled
as a call of `eval` on its source, which `shaken.py` and `source.py` write.  Reading such a pickle runs code, as reading
a pickle of any `torch.fx.GraphModule` does; `torch.load(weights_only=True)` refuses both.
"""
import copy
from typing import Any

from torch import fx, nn

from .shaken import CannotCopy

# The dictionary that `eval` runs it in has `text`, `name` and `rebuild`.
_REBUILD = '(exec(text, globals()), globals()[name].__new__(globals()[name]))[1]'
_REDUCE = '''
def _reduce(self):
    return eval, (rebuild, {'text': text, 'name': name, 'rebuild': rebuild}), self.__getstate__()


%s.__reduce__ = _reduce
'''


def rebuilding(text, name):
    """What a pickle has for a class: (function, arguments), which give an empty instance of it."""
    return eval, (_REBUILD, {'text': f'{text}\n\n{_REDUCE % name}', 'name': name, 'rebuild': _REBUILD})


class Portable(nn.Module):
    """A layer of ours.  Its pickle holds its class."""

    def _source(self):
        """(source, name of the class)"""
        from .source import class_source
        return class_source(type(self))

    def __reduce__(self):
        state = self.__getstate__()             # of a parametrized module, torch raises here
        return *rebuilding(*self._source()), state

    def __deepcopy__(self, memo):
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return made


class NetworkModule(fx.GraphModule):
    """The graph of a network.  Where operators of ours are in it, its pickle is a module with its source instead."""

    def __reduce__(self):
        source = self.meta.get('source')
        try:
            found = None if source is None or source.code != self.code else source.text()
        except CannotCopy:
            found = None            # there is no source of an operator: reading it takes mxnet
        if found is None:
            return super().__reduce__()
        state = {key: value for key, value in self.__getstate__().items() if key not in _of_graphs()}
        return *rebuilding(found, source.name), state


class Source:
    """The source of a translated network, written when a pickle needs it."""

    def __init__(self, translation, code):
        self._translation, self.code, self.name = translation, code, 'Network'
        self._text: str | None = None

    def text(self):
        from .source import forward_source
        if self._text is None:
            self._text = forward_source(self._translation, self.name)
        return self._text

    def __deepcopy__(self, memo):
        return self                 # a copy of the module computes the same

    def __reduce__(self):
        return type(None), ()       # a graph that was changed does not have it


_keys: Any = None


def _of_graphs():
    """The attributes that a graph module has and a module has not."""
    global _keys
    if _keys is None:
        _keys = frozenset(fx.GraphModule(nn.Module(), fx.Graph()).__dict__) - frozenset(nn.Module().__dict__)
    return _keys
