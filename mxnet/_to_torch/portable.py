"""Modules whose pickles hold the source of their classes, so that a program without `mxnet` can load them.

A pickle names classes and functions by their modules.  torch's are everywhere; ours are not.  So what is ours is
pickled as a call of `eval` on its source, which `shaken.py` and `source.py` write.  Reading such a pickle runs code, as
reading a pickle of any `torch.fx.GraphModule` does; `torch.load(weights_only=True)` refuses both.
"""
import copy
import re
from typing import Any

from torch import fx, nn

from .shaken import Copies

_OPERATOR_OF_PICKLES = '''class Operator(nn.Module):
    def forward(self, *inputs):
        return {call}

    def extra_repr(self):
        return ', '.join((self.name, *[f'{{k}}={{v!r}}' for k, v in self.attributes.items()]))'''

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

    def with_source(self, text):
        """Has a source that computes what the graph does now: a class called Network."""
        self.meta['source'] = {'code': self.code, 'text': text}
        return self

    def __reduce__(self):
        source = self.meta.get('source')
        if source is None or source['code'] != self.code:           # the graph was changed since
            return super().__reduce__()
        state = {key: value for key, value in self.__getstate__().items() if key not in _of_graphs()}
        return *rebuilding(source['text'], 'Network'), state


_keys: Any = None


def _of_graphs():
    """The attributes that a graph module has and a module has not."""
    global _keys
    if _keys is None:
        _keys = frozenset(fx.GraphModule(nn.Module(), fx.Graph()).__dict__) - frozenset(nn.Module().__dict__)
    return _keys


# ---------------------------------------------------------------------- sources
def visible(result, count):
    """The first results of an operator's function, without those that no graph shows."""
    if not isinstance(result, tuple):
        return result
    return result[:count] if count > 1 else result[0]


def class_source(kind):
    """(source, name) of a layer's class."""
    copies = Copies()
    name = copies.name(kind, kind.__name__)
    return with_imports(copies), name


def operator_source(op, attributes):
    """(source, name) of a class for an operator that computes otherwise while training."""
    copies = Copies()
    function = copies.name(op.function, function_name(op))
    random = ', rng=None' if op.wants_rng else ''
    only = copies.name(visible, 'visible')
    call = f'{function}(*inputs, **self.attributes, training=self.training{random})'
    text = _OPERATOR_OF_PICKLES.format(call=f'{only}({call}, {outputs(op, attributes)})')
    return f'{with_imports(copies)}\n\n\n{text}', 'Operator'


def with_imports(copies):
    imports = {'import torch', 'from torch import nn', 'from torch.nn import functional as F', *copies.imports}
    return '\n'.join([*sorted(imports, key=lambda line: (line.startswith('from'), line)), '\n', copies.text()])


def function_name(op):
    return re.sub(r'^_+', '', op.name) or op.name


def outputs(op, attributes):
    """The number of outputs of an operator whose function may return more; None of others."""
    if not (op.wants_training or op.mutates or op.wants_subgraphs):
        return None
    return len(op.output_names(op.complete({k: v for k, v in attributes.items() if k in op.attributes})))
