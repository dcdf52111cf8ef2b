"""Where layers and tensors of a network are: dotted names, as in a torch state dict."""
import re

from torch import nn

# how variables of symbols end that belong to a layer
_ENDINGS = ('_weight', '_bias', '_gamma', '_beta', '_moving_mean', '_moving_var', '_running_mean', '_running_var',
            '_parameters')
_GRAPH_ENDINGS = re.compile(r'_(fwd|forward)$')


class Places:
    """Paths of layers and tensors, each given once."""

    def __init__(self, order, tensors, paths, node_paths):
        self._from_block = paths is not None
        self._prefix = '' if self._from_block else _common_prefix(order, tensors)
        found = {name: paths[name] for name in tensors if name in paths} if paths is not None else {}
        for name in tensors:
            if name not in found:
                found[name] = dotted(name.removeprefix(self._prefix))
        self.paths = {name: _safe(path) for name, path in found.items()}
        self._nodes = node_paths
        self._taken: set[str] = set()
        self._groups: dict[str, set] = {}        # path of a layer -> the variables below it
        for name, path in self.paths.items():
            self._groups.setdefault(path.rpartition('.')[0], set()).add(name)
        self._ancestors = {'.'.join(parts[:i]) for path in self._groups for parts in [path.split('.')]
                           for i in range(1, len(parts))}

    def base(self, node):
        """The name of a node, without what all names of the graph begin with."""
        return _plain(_GRAPH_ENDINGS.sub('', node.name).removeprefix(self._prefix)) or node.name

    def layer(self, variables, node, kind):
        """Where a layer with these parameters goes: below the name that they share, if nothing else is there."""
        groups = {self.paths[v].rpartition('.')[0] for v in variables}
        if len(groups) != 1:
            return None
        path = groups.pop()
        if self._groups[path] != set(variables) or path in self._ancestors or not path:
            # parameters of the network itself: a layer of their own, named as the node is
            if path and self._from_block:
                return None
            if path and path in self._ancestors:
                return None
            path = _safe(kind.__name__.lower() if self._from_block else self.base(node))
            if path in self._groups or path in self._ancestors:
                return None
        return None if path in self._taken else path

    def plain(self, node, always):
        """Where a layer without parameters goes; None where there is no name for it."""
        base = _GRAPH_ENDINGS.sub('', node.name)
        if self._nodes is not None:
            path = self._nodes.get(base)
            path = None if path is None else _safe(path)
        else:
            path = _safe(self.base(node))
        if path is None or path in self._taken or path in self._groups or path in self._ancestors or not path \
                or self._inside_layer(path):
            return self.fresh(self.base(node)) if always else None
        return path

    def _inside_layer(self, path):
        parts = path.split('.')
        above = {'.'.join(parts[:i]) for i in range(1, len(parts))}
        return bool(above & (set(self._groups) | self._taken)) or any(t.startswith(f'{path}.') for t in self._taken)

    def fresh(self, base):
        """A name at the top that nothing else has."""
        base = _safe(base.replace('.', '_'))
        path, number = base, 1
        while path in self._taken or path in self._groups or path in self._ancestors or path in self.paths.values() \
                or any(t.startswith(f'{path}.') for t in self._taken):
            path, number = f'{base}_{number}', number + 1
        self._taken.add(path)
        return path

    def take(self, path):
        self._taken.add(path)

    def tensor(self, variable):
        """Where a tensor that no layer holds goes."""
        path = self.paths[variable]
        parent = path.rpartition('.')[0]
        # below a layer that was made of others, or where a layer has this very name
        if parent in self._taken or path in self._taken:
            path = self.fresh(path)
        return path


def dotted(name):
    """`conv0.weight` for the variable `conv0_weight`."""
    for ending in _ENDINGS:
        if name.endswith(ending) and len(name) > len(ending):
            return f'{_plain(name[:-len(ending)])}.{ending[1:]}'
    return _plain(name)


def _plain(name):
    return re.sub(r'[^\w]', '_', name)


def _safe(path):
    """The path without names that torch's modules have for something else."""
    return '.'.join(part + '_' if hasattr(nn.ModuleDict, part) or part in ('training', 'name', '') else part
                    for part in path.split('.')) if path else path


def _common_prefix(order, tensors):
    """What the names of all layers begin with, up to an underscore; '' of a single one."""
    import os
    names = set()
    for name in tensors:
        for ending in _ENDINGS:
            if name.endswith(ending):
                names.add(name[:-len(ending)])
                break
        else:
            names.add(name)
    if len(names) < 2:
        return ''
    prefix = os.path.commonprefix(sorted(names))
    return prefix[:prefix.rfind('_') + 1]
