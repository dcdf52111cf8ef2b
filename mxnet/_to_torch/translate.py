"""The translation of a graph: which torch layer, function or operator computes each node."""
import builtins
import contextlib
import keyword
import operator as python
import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import fx, nn

from .._graph.infer.inference import infer, leaves_open
from .._graph.ir.node import as_written, states_of, topological
from .._ops.core.dtypes import NAME, torch_dtype
from ..base import MXNetError
from . import operators, source
from .names import Places
from .portable import NetworkModule
from .shaken import CannotCopy

# {operator: function of a Call that adds what computes it to the torch graph}; see layers.py and functions.py
TRANSLATIONS: dict = {}

NOT_TRANSLATED = 'no translation to torch for {nodes}. Replace these operators, or cut the network before them'


def translation(*names):
    """Declares the translation of operators."""
    def declare(function):
        for name in names:
            TRANSLATIONS[name] = function
        return function
    return declare


class Layer:
    """A torch layer of a translation: where it is, and how it is made."""

    def __init__(self, path, kind, args, options, node):
        self.path, self.kind, self.args, self.options, self.node = path, kind, args, options, node

    def make(self):
        with torch.device('meta'):
            return self.kind(*self.args, **self.options)


class Translation:
    """A network in torch: `module` computes it; `layers`, `tensors` and `nodes` say how, for `source.py`."""

    def __init__(self, module, layers, tensors, graph, comments, origins):
        self.module = module
        self.layers = layers            # {path: Layer}
        self.tensors = tensors          # {path: is it a parameter}, of those that no layer holds
        self.graph = graph
        self.comments = comments        # {torch.fx node: text}
        self.origins = origins          # {variable: path of the tensor that holds its values}, where one is shared


def translate(entries, tensors: Mapping[str, torch.Tensor], inputs, *, paths=None, frozen=(), shapes=None, dtypes=None,
              output=None, name='Network', node_paths=None, arguments=None) -> Translation:
    """The network that computes `entries`.

    tensors: values of the parameters and states, by name of the variable
    inputs: names of the variables that are arguments of `forward`
    paths: {variable: dotted name in the state dict}; by default they are made from the names of the variables
    node_paths: {node name without `_fwd`: path} for layers without parameters
    frozen: variables that get no gradient
    shapes, dtypes: of the inputs, where they are known; some operators need them
    output: makes the result of `forward` of the list of outputs
    arguments: of `forward`, each the name of an input or a list of arguments; by default `inputs`
    """
    builder = Builder(entries, tensors, inputs, paths, node_paths, frozen, shapes, dtypes, arguments=arguments)
    return builder.finish(output, name)


class Call:
    """A node that is being translated: its inputs in the torch graph, and its attributes."""

    def __init__(self, builder, node, inputs):
        self.builder, self.node = builder, node
        self.attributes = node.attributes
        self.sources = dict(zip(node.input_names(), node.inputs, strict=True))
        self._inputs = dict(zip(node.input_names(), inputs, strict=True))
        self.all = list(inputs)

    def __getitem__(self, name):
        """An input in the torch graph; None where it is absent."""
        found = self._inputs.get(name)
        return found() if callable(found) else found

    def __getattr__(self, name):
        try:
            return self.attributes[name]
        except KeyError:
            raise AttributeError(name) from None

    def variable(self, name):
        """The name of the parameter that an input is; None if it is computed, or absent."""
        entry = self.sources.get(name)
        if entry is None or not entry[0].is_variable or entry[0].name not in self.builder.tensors:
            return None
        return entry[0].name

    def tensor(self, name):
        variable = self.variable(name)
        return None if variable is None else self.builder.tensors[variable]

    def shape(self, name):
        """The shape of an input, None where it is not known."""
        return self.builder.shape(self.sources[name])

    def rank(self, name):
        return self.builder.rank(self.sources[name])

    def is_floating(self, name):
        """Whether an input holds floats; what nothing is known of is taken to."""
        found = self.builder.dtype(self.sources[name])
        return found is None or found.is_floating_point

    # ------------------------------------------------------------------ what it adds
    def function(self, function, *args, **options):
        return self.builder.call('call_function', function, args, options)

    def method(self, name, *args, **options):
        return self.builder.call('call_method', name, args, options)

    def size(self, x, axis):
        return self.method('size', x, axis)

    def layer(self, kind, args, options, x, held=None, values=None, variables=None, used=()):
        """The result of a layer that holds the parameters named in `held` ({torch's name: input}); None if it cannot.

        values: tensors of the layer that are not a variable's own, {torch's name: (tensor, requires a gradient)}
        variables: {torch's name: variable}, of those that are not inputs of the node itself
        used: variables that it has a use for, but does not hold as they are
        """
        found = {theirs: self.variable(ours) for theirs, ours in (held or {}).items()} | dict(variables or {})
        return self.builder.layer(self, kind, args, options, x, found, values or {}, used)

    def plain_layer(self, kind, args=(), options=None, x=None, always=False):
        """A layer without parameters; None where the network has no place for it, unless it must be one."""
        return self.builder.plain_layer(self, kind, args, options or {}, x, always)

    def operator(self):
        """The operator's own function."""
        return self.builder.operator(self)


class Builder:
    """Builds the torch graph of a network, node by node."""

    def __init__(self, entries, tensors, inputs, paths, node_paths, frozen, shapes, dtypes, inner=False,
                 arguments=None):
        self.entries = list(entries)
        order = self.order = topological(self.entries)
        self.nodes = as_written(order)
        self.tensors = {} if inner else {n: tensors[n] for n in dict.fromkeys(v.name for v in order if v.is_variable)
                                         if n in tensors and n not in inputs}
        self.states = {v.name for v in order if id(v) in states_of(order)}
        self.frozen = set(frozen) | self.states
        self.inner = inner
        self.places = Places(order, self.tensors, paths, node_paths)
        self.graph = fx.Graph()
        self.root = nn.Module()
        self.layers: dict[str, Layer] = {}
        self.comments: dict = {}
        self._reused: dict = {}             # layers by what they are and hold
        self._owned: dict[str, str] = {}    # variable -> path of the tensor in the layer that holds it
        self._reads: dict[str, fx.Node] = {}
        self._values: dict = {}             # entry -> torch node
        self._facts = None
        self._name = 'value'
        self._hints = self._rank_hints(order)
        if not inner:
            self._check_inputs(order, inputs)
            self.check()
            self._infer(shapes, dtypes)
        self.inputs = list(inputs)
        self._arguments: dict[str, fx.Node] = {}
        given = [(argument, self.graph.placeholder(_argument_name(argument, number)))
                 for number, argument in enumerate(inputs if arguments is None else arguments)]
        for argument, node in given:
            self._take(argument, node)
        for v in order:
            if v.is_variable and v.name in self._arguments:
                self._values[id(v), 0] = self._arguments[v.name]
        self.first = self._arguments[self.inputs[0]] if self.inputs else None
        self.graph_inputs = list(self.graph.nodes)

    def _take(self, argument, node):
        """Finds the inputs within an argument of `forward`."""
        if isinstance(argument, str):
            self._arguments[argument] = node
            return
        for number, part in enumerate(argument):
            if part is not None:
                self._take(part, self.graph.call_function(python.getitem, (node, number)))

    def _check_inputs(self, order, inputs):
        unknown = [v.name for v in order if v.is_variable and v.name not in self.tensors and v.name not in inputs]
        if unknown:
            raise MXNetError(f'the network has no values for {", ".join(unknown)}; give them as parameters, or name '
                             'them as inputs')

    def _infer(self, shapes, dtypes):
        known = {n: tuple(t.shape) for n, t in self.tensors.items()}
        kinds = {n: NAME[t.dtype] for n, t in self.tensors.items()} | dict(dtypes or {})
        self._batches: list = []
        if shapes:
            default = torch.float32
            self._facts = infer(self.entries, {**known, **shapes}, kinds, default_dtype=default)
            for n in (3, 7):
                changed = {name: (n, *shape[1:]) if len(shape) else shape for name, shape in shapes.items()}
                try:
                    self._batches.append((n, infer(self.entries, {**known, **changed}, kinds, default_dtype=default)))
                except (MXNetError, ValueError, RuntimeError):
                    self._batches = []
                    break

    # ------------------------------------------------------------------ what is known
    def shape(self, entry):
        found = None if self._facts is None else self._facts.shape(entry)
        return found if found is not None and all(n > 0 for n in found) else None

    def dtype(self, entry):
        node = entry[0]
        if node.is_variable and node.name in self.tensors:
            return self.tensors[node.name].dtype
        return None if self._facts is None else self._facts.dtype(entry)

    def rank(self, entry):
        """The number of dimensions, from inference or from the layer that computed it."""
        shape = self.shape(entry)
        if shape is not None:
            return len(shape)
        node = entry[0]
        if node.is_variable:
            return self.tensors[node.name].dim() if node.name in self.tensors else self._hints.get((id(node), 0))
        if node.op.name in _WITH_KERNEL and node.attributes['kernel']:
            return len(node.attributes['kernel']) + 2
        if node.op.name == 'FullyConnected' and node.attributes['flatten'] or node.op.name == 'Flatten':
            return 2
        if node.op.elementwise or node.op.name in _SAME_RANK:
            return self.rank(node.inputs[0])
        return self._hints.get((id(node), entry[1]))

    def _rank_hints(self, order):
        """{entry: number of dimensions} of what layers with a kernel take in."""
        hints: dict = {}
        for node in reversed(order):
            if node.is_variable:
                continue
            rank = None
            if node.op.name in _WITH_KERNEL:
                rank = len(node.attributes['kernel']) + 2 if node.attributes['kernel'] else None
            elif node.inputs and (node.op.elementwise or node.op.name in _SAME_RANK):
                rank = hints.get((id(node), 0))
            if rank is not None:
                child, number = node.inputs[0]
                hints.setdefault((id(child), number), rank)
        return hints

    # ------------------------------------------------------------------ the torch graph
    def call(self, kind, target, args, options):
        # arguments that are tensors of the network are read where they are needed
        args = fx.node.map_aggregate(args, _value)
        options = fx.node.map_aggregate(options, _value)
        return self.graph.create_node(kind, target, args, options, name=self._name)

    def read(self, variable):
        """The node that reads a parameter; its path is known at the end."""
        def get():
            if variable not in self._reads:
                with self.graph.inserting_after(self._last_input()):
                    self._reads[variable] = self.graph.create_node('get_attr', variable, (), {},
                                                                   name=_identifier(variable))
            return self._reads[variable]
        return get

    def _last_input(self):
        last = self.graph_inputs[-1] if self.graph_inputs else None
        return last if last is not None else self.graph._root

    def value(self, entry):
        node, number = entry
        if node.is_variable:
            if (id(node), 0) in self._values:
                return self._values[id(node), 0]
            return self.read(node.name)
        return self._values[id(node), number]

    def translate_node(self, node):
        if node.op.name == '_CachedOp':
            self._inline(node)
            return
        if not node.inputs and not node.subgraphs:
            self._values[id(node), 0] = self._later(node)
            return
        self._translate(node)

    def _later(self, node):
        """What makes an array out of nothing is added where it is needed: layers start from zeros by themselves."""
        def get():
            if self._values[id(node), 0] is get:
                name = self._name
                self._translate(node)
                self._name = name
            return self._values[id(node), 0]
        return get

    def _translate(self, node):
        call = Call(self, node, [self.value(e) for e in node.inputs])
        self._name = _identifier(self.places.base(node))
        before = len(self.graph.nodes)
        made = None
        if node.op.name in TRANSLATIONS:
            made = TRANSLATIONS[node.op.name](call)
        if made is None:
            made = self.operator(call)
        made = _value(made)
        if len(self.graph.nodes) > before:
            for added in list(self.graph.nodes)[before - len(self.graph.nodes):]:
                if added.op != 'get_attr':
                    self.comments.setdefault(added, f'{node.op.name} {node.name}')
        count = node.visible_count()
        if count == 1 or not isinstance(made, (list, tuple)):
            self._values[id(node), 0] = made
            if count > 1:
                for number in range(count):
                    self._values[id(node), number] = self.call('call_function', python.getitem, (made, number), {})
        else:
            for number, value in enumerate(made):
                self._values[id(node), number] = value

    def _inline(self, node):
        """The nodes of a graph within a node, in its place."""
        entries = node.subgraphs[0]
        order = topological(entries)
        variables = [n for n in order if n.is_variable]
        for variable, entry in zip(variables, node.inputs, strict=True):
            self._values[id(variable), 0] = self.value(entry)
        for inner in as_written(order):
            if not inner.is_variable:
                self.translate_node(inner)
        for number, (inner, i) in enumerate(entries):
            self._values[id(node), number] = _value(self.value((inner, i)))

    # ------------------------------------------------------------------ layers
    def layer(self, call, kind, args, options, x, variables, values, used):
        if self.inner or None in variables.values() or None in used:
            return None
        key = (kind, repr(args), repr(options), tuple(variables.items()), tuple(used))
        path = self._reused.get(key)
        if path is None:
            names = [*variables.values(), *used]
            owned = [v for v in names if v in self._owned]
            path = None if owned else self.places.layer(names, call.node, kind)
            if path is None:
                return None
            layer = Layer(path, kind, args, options, call.node)
            module = layer.make()
            for theirs, variable in variables.items():
                if not _fits(module, theirs, self.tensors[variable]):
                    return None
            self.places.take(path)
            for theirs, variable in variables.items():
                _hold(module, theirs, self.tensors[variable], variable not in self.frozen)
                self._owned[variable] = f'{path}.{theirs}' if path else theirs
            for theirs, (tensor, wanted) in values.items():
                _hold(module, theirs, tensor, wanted)
            _settle_buffers(module)
            self._reused[key] = path
            self._place(layer, module)
        return self.graph.create_node('call_module', path, fx.node.map_aggregate((*_listed(x),), _value), {},
                                      name=self._name)

    def plain_layer(self, call, kind, args, options, x, always):
        path = None if self.inner else self.places.plain(call.node, always)
        if path is None and self.inner and always:
            path = self.places.fresh(self.places.base(call.node))
        if path is None:
            return None
        layer = Layer(path, kind, args, options, call.node)
        self.places.take(path)
        self._place(layer, layer.make())
        return self.graph.create_node('call_module', path, fx.node.map_aggregate((*_listed(x),), _value), {},
                                      name=self._name)

    def _place(self, layer, module):
        self.layers[layer.path] = layer
        *parents, last = layer.path.split('.')
        self._container(parents).add_module(last, module)

    def _container(self, parents):
        at = self.root
        for part in parents:
            inner = at._modules.get(part)
            if inner is None:
                inner = nn.ModuleDict()
                at.add_module(part, inner)
            at = inner
        return at

    # ------------------------------------------------------------------ operators
    def operator(self, call):
        node, op = call.node, call.node.op
        attributes = {n: v for n, v in node.attributes.items()
                      if op.attributes[n].required or v != op.attributes[n].default} \
            if op.extra is None else dict(node.attributes)
        if op.variadic is None:
            names = node.input_names()
            inputs = [call[n] if n in names else None for n in op.inputs]
            while inputs and inputs[-1] is None:
                inputs.pop()
        else:
            inputs = [_value(x) for x in call.all]
        if op.wants_device:
            attributes['ctx'] = self._device(inputs)
        if node.subgraphs:
            attributes['subgraphs'] = tuple(self._subgraph(node, i) for i in range(len(node.subgraphs)))
        if not op.variadic and not op.inputs and 'shape' in attributes and leaves_open(op, attributes['shape']):
            attributes['shape'] = self._open_shape(node, attributes['shape'])
        if op.wants_training:
            if attributes.keys() & {'ctx', 'subgraphs'}:
                raise MXNetError(NOT_TRANSLATED.format(nodes=f'{op.name} ({node.name})'))
            return self.plain_layer(call, operators.Operator, (op.name,), attributes, inputs, True)
        made = self.call('call_function', operators.operator_function(op), tuple(inputs), attributes)
        return self._of_the_network(node, made) if op.name in _FILLS else made

    def _of_the_network(self, node, made):
        """Zeros and ones follow the network to another dtype, as states of a cell must after `half()`."""
        wanted = self.dtype((node, 0)) or torch_dtype(node.attributes.get('dtype') or 'float32')
        if not wanted.is_floating_point:
            return made
        like: Any = None
        inputs = [n for n in self.inputs if self._input_dtype(n) is wanted]
        if inputs:
            like = self._arguments[inputs[0]]
        else:
            like = next((self.read(n)() for n, t in self.tensors.items() if t.dtype is wanted), None)
        return made if like is None else self.call('call_method', 'type_as', (made, like), {})

    def _input_dtype(self, name):
        entry = next(((v, 0) for v in self.order if v.is_variable and v.name == name), None)
        return None if entry is None or self._facts is None else self._facts.dtype(entry)

    def _device(self, inputs):
        for x in inputs:
            if isinstance(x, fx.Node):
                return self.call('call_function', builtins.getattr, (x, 'device'), {})
        if self.first is None:
            return None
        return self.call('call_function', builtins.getattr, (self.first, 'device'), {})

    def _open_shape(self, node, shape):
        """The lengths that were left open: numbers, or the length of the batch where they change with it."""
        found = self.shape((node, 0))
        if found is None:
            raise MXNetError(f'{node.op.name} ({node.name}) has a shape {tuple(shape)} that is left open, which the '
                             'shapes of the inputs determine: give example inputs')
        lengths: list[Any] = list(found)
        for axis in range(len(lengths)):
            others = [facts.shape((node, 0))[axis] for _, facts in self._batches]
            if others and others[0] != others[1]:
                (m, _), (n, _) = self._batches
                if (others[0] * n) != (others[1] * m):
                    raise MXNetError(f'{node.name}: its shape changes with the batch in a way that is not known')
                size = self.call('call_method', 'size', (self.first, 0), {})
                factor = others[0] // m
                lengths[axis] = size if factor == 1 else self.call('call_function', python.mul, (size, factor), {})
        return tuple(lengths)

    def _subgraph(self, node, number):
        path = self.places.fresh(f'{_identifier(node.name)}_{("body", "condition_body", "branch")[min(number, 2)]}'
                                 if len(node.subgraphs) == 1 else f'{_identifier(node.name)}_body{number}')
        entries = node.subgraphs[number]
        variables = [v.name for v in topological(entries) if v.is_variable]
        inner = Builder(entries, {}, variables, None, None, (), None, None, inner=True)
        made = inner.finish(tuple, 'Body')
        self.root.add_module(path, made.module)
        self.layers[path] = Layer(path, made, (), {}, node)
        return self.graph.create_node('get_attr', path, (), {})

    # ------------------------------------------------------------------ the end
    def check(self):
        """Refuses what cannot be translated, all of it at once."""
        missing = untranslatable(self.entries)
        if missing:
            raise MXNetError(NOT_TRANSLATED.format(nodes='; '.join(missing)))

    def finish(self, output, name):
        for node in self.nodes:
            if not node.is_variable:
                self.translate_node(node)
        results = [_value(self.value(e)) for e in self.entries]
        made = output(results) if output is not None else results[0] if len(results) == 1 else tuple(results)
        self.graph.output(made)
        for node in reversed(list(self.graph.nodes)):
            if not node.users and node.op not in ('placeholder', 'output'):
                self.graph.erase_node(node)
        rest = {}
        alive = set(self.graph.nodes)
        for variable, read in self._reads.items():
            if read not in alive:
                continue
            path = self._owned.get(variable)
            if path is None:
                path = self._owned[variable] = self.places.tensor(variable)
                *parents, last = path.split('.')
                where = self._container(parents)
                wanted = variable not in self.frozen
                _register(where, last, self.tensors[variable], wanted)
                rest[path] = wanted
            read.target = path
        called = {node.target for node in alive if node.op in ('call_module', 'get_attr')}
        self.layers = {path: layer for path, layer in self.layers.items() if path in called}
        with _no_warning():
            module = NetworkModule(self.root, self.graph, class_name=name)
        module.train(False)
        self.graph.lint()
        comments = {}
        for old, new in zip(self.graph.nodes, module.graph.nodes, strict=True):
            if old in self.comments:
                comments[new] = self.comments[old]
        made = Translation(module, self.layers, rest, module.graph, comments, dict(self._owned))
        if any(node.op == 'call_function' and hasattr(node.target, 'operator') for node in module.graph.nodes):
            # without a source of an operator, reading a pickle takes mxnet
            with contextlib.suppress(CannotCopy):
                module.with_source(source.forward_source(made))
        return made


def untranslatable(entries):
    """Texts that name the nodes of a graph which have no translation."""
    from . import functions, layers  # noqa: F401, they register
    found = []
    for node in topological(entries):
        if node.is_variable:
            continue
        for body in node.subgraphs:
            found += untranslatable(body)
        if node.op.name in TRANSLATIONS or node.op.name == '_CachedOp':
            if getattr(TRANSLATIONS.get(node.op.name), 'refuses', lambda n: None)(node) is None:
                continue
        elif not node.op.mutates and node.op.name not in _NEVER and not node.op.wants_site:
            continue
        found.append(f'{node.op.name} ({node.name})')
    return found


# ---------------------------------------------------------------------- small helpers
_SAME_RANK = frozenset(('Activation', 'LeakyReLU', 'BatchNorm', 'BatchNorm_v1', '_contrib_SyncBatchNorm', 'Dropout',
                        'LRN', 'BlockGrad', '_copy', 'Cast', 'amp_cast', 'Concat', 'elemwise_add', 'broadcast_add',
                        'InstanceNorm', 'relu', 'sigmoid', 'clip', 'UpSampling', 'Pad'))
_WITH_KERNEL = ('Convolution', 'Convolution_v1', 'Deconvolution', 'Pooling', 'Pooling_v1')
_FILLS = frozenset(('_zeros', '_ones', '_npi_zeros', '_npi_ones', '_zeros_without_dtype'))
_NEVER = frozenset(('Custom', '_CustomFunction', '_NoGradient'))


def _value(x):
    return x() if callable(x) and not isinstance(x, (type, torch.dtype)) and getattr(x, '__name__', '') == 'get' else x


def _argument_name(argument, number):
    return _identifier(argument) if isinstance(argument, str) else f'inputs{number}'


def _listed(x):
    return x if isinstance(x, (list, tuple)) else (x,)


def _identifier(name):
    text = re.sub(r'\W', '_', name) or '_'
    if text[0].isdigit() or keyword.iskeyword(text) or hasattr(builtins, text) or text in ('self', 'torch'):
        text = f'_{text}'
    return text


def _fits(module, name, tensor):
    held = module.get_parameter(name) if name in module._parameters else module.get_buffer(name)
    return tuple(held.shape) == tuple(tensor.shape)


def _hold(module, name, tensor, wanted):
    tensor = tensor.detach()
    if name in module._buffers:
        module._buffers[name] = tensor
    else:
        setattr(module, name, nn.Parameter(tensor, requires_grad=wanted and tensor.is_floating_point()))


def _register(module, name, tensor, wanted):
    tensor = tensor.detach()
    if wanted and tensor.is_floating_point():
        module.register_parameter(name, nn.Parameter(tensor))
    else:
        module.register_buffer(name, tensor)


def _settle_buffers(module):
    """Buffers that torch adds by itself (`num_batches_tracked`) get their values."""
    for name, buffer in module._buffers.items():
        if buffer is not None and buffer.is_meta:
            module._buffers[name] = torch.zeros(buffer.shape, dtype=buffer.dtype)


def _no_warning():
    import warnings
    return warnings.catch_warnings()
