"""A translated network as Python source that needs torch alone."""
import builtins
import keyword
import operator as python
import re

import torch
from torch import fx, nn

from ..base import MXNetError
from . import operators
from .portable import function_name, outputs, visible, with_imports
from .shaken import CannotCopy, Copies

_INFIX = {python.add: '+', python.sub: '-', python.mul: '*', python.truediv: '/', python.pow: '**', python.ne: '!=',
          python.eq: '==', python.gt: '>', python.lt: '<', python.ge: '>=', python.le: '<='}

_LOADING = '''
_DTYPES = {'F64': torch.float64, 'F32': torch.float32, 'F16': torch.float16, 'BF16': torch.bfloat16, 'I64': torch.int64,
           'I32': torch.int32, 'I16': torch.int16, 'I8': torch.int8, 'U8': torch.uint8, 'BOOL': torch.bool}


def read_safetensors(path):
    """The tensors of a safetensors file, by name."""
    with open(path, 'rb') as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), 'little')))
        data = bytearray(file.read())
    tensors = {}
    for name, entry in header.items():
        if name != '__metadata__':
            (begin, end), dtype = entry['data_offsets'], _DTYPES[entry['dtype']]
            values = torch.frombuffer(data, dtype=torch.uint8, count=end - begin, offset=begin) if end > begin \\
                else torch.empty(0, dtype=torch.uint8)
            tensors[name] = values.clone().view(dtype).reshape(entry['shape'])
    return tensors


def load(path=None):
    """The network with its weights, ready to predict.  Call `train()` on it to train it."""
    tensors = read_safetensors(path or Path(__file__).with_suffix('.safetensors'))
    with torch.device('meta'):
        network = {name}()
    network.load_state_dict(tensors, assign=True)
    return network.eval()
'''


def write(translation, name=None, title=None, example=None):
    """Python source of a translated network: a class, and `load()`, which reads its weights from a file beside it."""
    writer = _Writer(translation, name or type(translation.module).__name__)
    return writer.text(title, example)


def state(translation):
    """The tensors that go into the file of weights: parameters and buffers by name."""
    return {name: tensor.detach() for name, tensor in translation.module.state_dict().items()}


def forward_source(translation, name='Network'):
    """Source of a class whose `forward` computes a translated network; its layers and tensors come from elsewhere."""
    writer = _Writer(translation, name, pickled=True)
    text = '\n'.join([f'class {name}(nn.Module):', *writer.forward(translation)])
    if writer.problems:
        raise CannotCopy('; '.join(writer.problems))
    return f'{with_imports(writer.copies)}\n\n\n{text}'


class _Writer:
    def __init__(self, translation, name, pickled=False):
        self.translation, self.name = translation, name
        self._pickled = pickled             # containers are plain modules then, which have no index
        self.copies = Copies()
        self._functions: dict = {}
        self._bodies: list[str] = []
        self.problems: list[str] = []

    def text(self, title, example):
        network = self._class(self.translation, self.name)
        if self.problems:
            raise MXNetError('no torch source for ' + '; '.join(self.problems))
        helpers = self.copies.text()
        imports = sorted({'import json', 'from pathlib import Path', 'import torch', 'from torch import nn',
                          'from torch.nn import functional as F', *self.copies.imports},
                         key=lambda line: (line.split()[1].partition('.')[0] == 'torch', line.startswith('from'), line))
        title = title or f'The network {self.name}, converted from MXNet by remx.'
        parts = [f'"""{title}\n\n`load()` reads the weights from the safetensors file beside this '
                 f'one.{chr(10) * 2 + example if example else ""}\n"""']
        parts.append('\n'.join(imports))
        if helpers:
            parts.append(f'# Operators that torch has no function for, as remx computes them.\n\n{helpers}')
        parts += [*self._bodies, network, _LOADING.replace('{name}', self.name).strip('\n')]
        return '\n\n\n'.join(parts).replace('"""\n\n\nimport', '"""\nimport', 1).rstrip() + '\n'

    # ------------------------------------------------------------------ one class
    def _class(self, translation, name):
        inits = self._init(translation)
        lines = [f'class {name}(nn.Module):']
        if inits:
            lines += ['    def __init__(self):', '        super().__init__()']
            lines += [f'        {line}' for line in inits] + ['']
        lines += self.forward(translation)
        return '\n'.join(lines)

    def _init(self, translation):
        """Lines that make the layers and tensors, in the order of the state dict."""
        lines = []
        module = translation.module
        for path, _ in module.named_modules():
            if not path or any(path.startswith(f'{above}.') for above in translation.layers):
                continue
            layer = translation.layers.get(path)
            if layer is None:
                made = 'nn.ModuleDict()'
            elif isinstance(layer.kind, type):
                made = self._constructor(layer)
            else:
                body = f'_{self._camel(path)}'
                self._bodies.append(self._class(layer.kind, body))
                made = f'{body}()'
            lines.append(f'{self._assign(path)}{made}{")" if self._needs_add(path) else ""}'
                         + (f'  # {layer.node.op.name} {layer.node.name}' if layer is not None else ''))
            if layer is not None and isinstance(layer.kind, type):
                lines += [f'{self._access(path)}.{key}.requires_grad_(False)'
                          for key, value in module.get_submodule(path).named_parameters(recurse=False)
                          if not value.requires_grad]
        for path, wanted in translation.tensors.items():
            tensor = dict(module.named_parameters()).get(path)
            tensor = module.get_buffer(path) if tensor is None else tensor
            *parents, last = path.split('.')
            where = self._access('.'.join(parents)) if parents else 'self'
            kind = '' if tensor.dtype is torch.float32 else f', dtype={tensor.dtype}'
            empty = f'torch.empty({_tuple(tensor.shape)}{kind})'
            lines.append(f'{where}.register_parameter({last!r}, nn.Parameter({empty}))' if wanted
                         and tensor.is_floating_point() else f'{where}.register_buffer({last!r}, {empty})')
        return lines

    def _camel(self, text):
        return ''.join(part.capitalize() for part in re.split(r'\W|_', text))

    def _needs_add(self, path):
        return not path.rpartition('.')[2].isidentifier() or keyword.iskeyword(path.rpartition('.')[2])

    def _assign(self, path):
        parent, _, last = path.rpartition('.')
        where = self._access(parent) if parent else 'self'
        return f'{where}.add_module({last!r}, ' if self._needs_add(path) else f'{where}.{last} = '

    def _access(self, path):
        """`self.features['0'].conv`"""
        text = 'self'
        for number, part in enumerate(path.split('.')):
            if part.isidentifier() and not keyword.iskeyword(part):
                text += f'.{part}'
            elif self._pickled:
                text = f'getattr({text}, {part!r})'
            elif number:
                text += f'[{part!r}]'
            else:
                text = f'self.get_submodule({part!r})'
        return text

    def _constructor(self, layer):
        kind = layer.kind
        if kind is operators.Operator:
            function = self._operator(operators.TABLE[layer.args[0]], layer.node)
            self._operator_class()
            op = operators.TABLE[layer.args[0]]
            random = ['rng=None'] if op.wants_rng else []
            function = f'lambda *x, **options: {self._only_outputs(f"{function}(*x, **options)", op, layer.options)}'
            return f'Operator({", ".join((function, *self._options(layer.options), *random))})'
        if kind.__module__ == operators.__name__:
            name = self.copies.name(kind, kind.__name__)
        else:
            name = f'nn.{kind.__name__}'
        return f'{name}({", ".join([*(self._literal(a) for a in layer.args), *self._options(layer.options)])})'

    def _operator_class(self):
        if 'Operator' not in self._functions:
            self._functions['Operator'] = True
            self._bodies.insert(0, _OPERATOR)

    def _options(self, options):
        return [f'{k}={self._literal(v)}' for k, v in options.items()]

    # ------------------------------------------------------------------ forward
    def forward(self, translation):
        names: dict = {}
        inputs = [n for n in translation.graph.nodes if n.op == 'placeholder']
        for node in inputs:
            names[node] = str(node.target)
        lines = [f'    def forward({", ".join(["self", *names.values()])}):']
        taken = set(names.values()) | {'self', 'torch', 'nn', 'F', 'json', 'Path', 'load'}
        uses = {node: len(node.users) for node in translation.graph.nodes}
        for node in translation.graph.nodes:
            if node.op == 'placeholder':
                continue
            if node.op == 'output':
                lines.append(f'        return {self._value(node.args[0], names)}')
                continue
            text = self._call(node, names, translation)
            if node.op == 'get_attr' or node.op == 'call_function' and node.target is getattr \
                    or node.op == 'call_method' and node.target == 'size' and uses[node] == 1:
                names[node] = text
                continue
            name = re.sub(r'\W', '_', node.name)
            while name in taken or keyword.iskeyword(name) or hasattr(builtins, name):
                name += '_'
            taken.add(name)
            names[node] = name
            comment = translation.comments.get(node)
            lines.append(f'        {name} = {text}' + (f'  # {comment}' if comment else ''))
        return lines

    def _call(self, node, names, translation):
        args = [self._value(a, names) for a in node.args]
        options = [f'{k}={self._value(v, names)}' for k, v in node.kwargs.items()]
        if node.op == 'get_attr':
            return self._access(str(node.target))
        if node.op == 'call_module':
            return f'{self._access(str(node.target))}({", ".join(args + options)})'
        if node.op == 'call_method':
            return f'{_grouped(args[0])}.{node.target}({", ".join(args[1:] + options)})'
        if node.target in _INFIX:
            return f' {_INFIX[node.target]} '.join(_grouped(a) for a in args)
        if node.target is python.getitem:
            return f'{args[0]}[{self._index(node.args[1], names)}]'
        if node.target is builtins.getattr:
            return f'{args[0]}.{node.args[1]}'
        if hasattr(node.target, 'operator'):
            return self._operator_call(node, names, translation.comments.get(node, ''))
        return f'{self._torch_name(node.target)}({", ".join(args + options)})'

    def _operator_call(self, node, names, comment):
        op = node.target.operator
        called = self._operator(op, comment)
        args = [self._value(a, names) for a in node.args]
        for key, value in node.kwargs.items():
            if key == 'subgraphs':
                bodies = ', '.join(f'lambda inputs: list({names[body]}(*inputs))' for body in value)
                args.append(f'subgraphs=[{bodies}]')
            else:
                args.append(f'{key}={self._value(value, names)}')
        if op.wants_rng:
            args.append('rng=None')
        return self._only_outputs(f'{called}({", ".join(args)})', op, node.kwargs)

    def _only_outputs(self, text, op, attributes):
        count = outputs(op, attributes)
        return text if count is None else f'{self.copies.name(visible, "visible")}({text}, {count})'

    def _torch_name(self, function):
        name = function.__name__
        if getattr(torch, name, None) is function:
            return f'torch.{name}'
        if getattr(nn.functional, name, None) is function:
            return f'F.{name}'
        raise MXNetError(f'no torch source for the function {name}')

    def _operator(self, op, node):
        if op.name not in self._functions:
            try:
                self._functions[op.name] = self.copies.name(op.function, function_name(op))
            except CannotCopy as error:
                where = node if isinstance(node, str) and node else getattr(node, 'name', op.name)
                self.problems.append(f'{where}: {error}')
                self._functions[op.name] = op.name
        return self._functions[op.name]

    # ------------------------------------------------------------------ values
    def _value(self, value, names):
        if isinstance(value, fx.Node):
            return names[value]
        if isinstance(value, tuple):
            inner = ', '.join(self._value(v, names) for v in value)
            return f'({inner},)' if len(value) == 1 else f'({inner})'
        if isinstance(value, list):
            return f'[{", ".join(self._value(v, names) for v in value)}]'
        if isinstance(value, dict):
            return '{' + ', '.join(f'{k!r}: {self._value(v, names)}' for k, v in value.items()) + '}'
        return self._literal(value)

    def _index(self, value, names):
        if isinstance(value, tuple) and value:
            return ', '.join(self._index(v, names) for v in value)
        if isinstance(value, slice):
            text = ':'.join('' if v is None else self._value(v, names) for v in (value.start, value.stop))
            return text if value.step is None else f'{text}:{self._value(value.step, names)}'
        return '...' if value is Ellipsis else self._value(value, names)

    def _literal(self, value):
        if isinstance(value, float) and (value != value or value in (float('inf'), float('-inf'))):
            return f"float('{value}')"
        return repr(value)


_OPERATOR = '''class Operator(nn.Module):
    """An operator that computes otherwise while training."""

    def __init__(self, function, **attributes):
        super().__init__()
        self.function, self.attributes = function, attributes

    def forward(self, *inputs):
        return self.function(*inputs, **self.attributes, training=self.training)'''


def _tuple(shape):
    return str(tuple(shape))


def _grouped(text):
    """Brackets around what is not a name, an attribute or a call."""
    return text if re.fullmatch(r"[\w.\[\]'\"()]+", text) and not text[0] == '-' else f'({text})'
