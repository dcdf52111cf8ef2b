"""Networks of files, for the commands that convert, predict and serve: a graph without labels and its parameters."""
import codecs
import contextlib
import glob
import importlib
import os
import re
import sys

import numpy as np

from .._files import jsons
from .._names import kind_of
from ..base import MXNetError

EPOCH = re.compile(r'-(\d{4,})\.(params|safetensors)$')


class Network:
    """A network that predicts: `symbol` with `arrays` for its parameters and states, and the names of its inputs."""

    def __init__(self, symbol, arrays, source, *, block=None, whole=None, shapes=None, files=()):
        self.symbol, self.arrays, self.source = symbol, arrays, source
        self.block = block              # the Block that the graph is of, if it is of one
        self.whole = whole              # the symbol with its labels
        self.files = list(files)
        self.inputs = [n for n in symbol.list_inputs() if n not in arrays]
        if not self.inputs:
            raise MXNetError(f'{source}: the network has no input; its outputs are constants')
        self.shapes = dict(shapes or {})
        self.dtypes = {name: _input_dtype(symbol, name) for name in self.inputs}

    @property
    def name(self):
        """What it is called: the file's name without folders and endings."""
        return os.path.basename(self.source).removesuffix('-symbol.json').partition('.')[0] or 'network'

    def module(self, ctx=None):
        """A block that runs it."""
        from .. import symbol as symbols
        from ..gluon import SymbolBlock
        block = SymbolBlock(self.symbol, [symbols.var(n) for n in self.inputs])
        for name, param in block.collect_params().items():
            param._load_init(self.arrays[name], ctx, cast_dtype=True, dtype_source='saved')
        return block

    def example(self, shapes, seed=0, batch=None, axes=None):
        """Random inputs: floats, and indices where an input is one.

        batch: another length for the axis of each input that `axes` names (the first, if it names none)
        """
        random = np.random.RandomState(seed)
        found = {}
        for name in self.inputs:
            shape = tuple(shapes[name])
            if batch is not None and shape:
                axis = (axes or {}).get(name, 0)
                shape = (*shape[:axis], batch, *shape[axis + 1:])
            limit = index_limit(self.symbol, name)
            if limit:
                found[name] = random.randint(0, limit, shape).astype(self.dtypes[name])
            else:
                found[name] = random.uniform(-1, 1, shape).astype(self.dtypes[name])
        return found

    def check_shapes(self, given):
        """The shapes of all inputs, of those that are given and those that the files tell."""
        unknown = [n for n in given if n not in self.inputs]
        if unknown:
            raise MXNetError(f'--shape: {self.source} has no input {", ".join(unknown)}; it has '
                             f'{", ".join(self.inputs)}')
        shapes = {**self.shapes, **given}
        missing = [n for n in self.inputs if n not in shapes]
        if missing:
            example = ' '.join(f'--shape {n}=1,3,224,224' for n in missing)
            raise MXNetError(f'the shape of {", ".join(missing)} is not known: give it, as in {example}')
        return {n: tuple(shapes[n]) for n in self.inputs}


def index_limit(symbol, name):
    """The number of rows that an input chooses from (Embedding); 0 of an input that is no index."""
    from .._graph.ir.node import topological
    for node in topological(symbol._entries):
        if not node.is_variable and node.op.name in ('Embedding', '_contrib_SparseEmbedding') \
                and node.inputs[0][0].name == name:
            return node.attributes['input_dim']
    return 0


def _input_dtype(symbol, name):
    from .._graph.ir.node import topological
    from .._ops.core.attributes import DataType
    from .._ops.core.dtypes import NUMPY
    for node in topological(symbol._entries):
        if node.is_variable and node.name == name and node.attrs.get('__dtype__', '-1') != '-1':
            return np.dtype(NUMPY[DataType().parse(node.attrs['__dtype__'])])
    return np.dtype('float32')


# ---------------------------------------------------------------------- reading
def load(source, epoch=None, *, network=None, shapes=None, inputs=None) -> Network:
    """The network of a checkpoint (`PREFIX`, with the last epoch unless one is given), of an ONNX file, or of a file of
    parameters with the function that makes its Block."""
    source = os.fspath(source)
    if source.endswith('.onnx'):
        return _from_onnx(source)
    if network is not None:
        return _from_block(source, epoch, network, shapes or {})
    prefix = source.removesuffix('-symbol.json')
    params = None
    if prefix.endswith(('.params', '.safetensors')):
        params = prefix
        prefix = EPOCH.sub('', prefix).removesuffix('.params').removesuffix('.safetensors')
    graph = f'{prefix}-symbol.json'
    if not os.path.exists(graph):
        raise MXNetError(f'{source}: there is no {graph}. A network is PREFIX-symbol.json with PREFIX-0000.params, an '
                         '.onnx file, or a .params file of a Gluon block with --network module:function')
    params = params or parameters_file(prefix, epoch)
    return _from_symbol(prefix, graph, params, inputs, shapes or {})


def parameters_file(prefix, epoch=None):
    """The file of parameters of a checkpoint: of an epoch, or the last one."""
    if epoch is not None:
        names = [f'{prefix}-{int(epoch):04d}.params', f'{prefix}-{int(epoch):04d}.safetensors']
        found = next((n for n in names if os.path.exists(n)), None)
        if found is None:
            raise MXNetError(f'there is no {names[0]}; there are {", ".join(_all_files(prefix)) or "no others"}')
        return found
    found = _all_files(prefix)
    if not found:
        raise MXNetError(f'there are no parameters for {prefix}-symbol.json: neither {prefix}-0000.params nor '
                         f'{prefix}.safetensors')
    return found[-1]


def _all_files(prefix):
    stem = glob.escape(prefix)
    numbered = [n for n in glob.glob(f'{stem}-*.params') + glob.glob(f'{stem}-*.safetensors') if EPOCH.search(n)
                and EPOCH.sub('', n) == prefix]
    plain = [n for n in (f'{prefix}.safetensors', f'{prefix}.params') if os.path.exists(n)]
    return plain + sorted(numbered, key=lambda n: int(EPOCH.search(n)[1]))      # type: ignore[index]  # they match


def _from_symbol(prefix, graph, params, inputs, given):
    from .. import ndarray
    from .. import symbol as symbols
    from ..symbol._predicting import label_names, outputs_of, without_labels
    whole = symbols.load(graph)
    stored = ndarray.load(params)
    if not isinstance(stored, dict) and not stored:
        stored = {}                     # a network without parameters
    if not isinstance(stored, dict):
        raise MXNetError(f'{params} holds arrays without names, so that they cannot be the parameters of {graph}')
    arrays = {n.removeprefix('arg:').removeprefix('aux:'): a for n, a in stored.items()}
    unknown = [n for n in whole.list_inputs() if n not in arrays]
    data = list(inputs) if inputs else [n for n in unknown if n not in label_names(whole)]
    shapes = _described_shapes(prefix, data)
    if not inputs:
        # labels of losses that are written as expressions: they go if other outputs do without them
        labels = {n for n in data if n.endswith('label') and n not in given and n not in shapes}
        if labels and outputs_of(whole, {*arrays, *data} - labels):
            data = [n for n in data if n not in labels]
    symbol = without_labels(whole, {*arrays, *data}, graph)
    used = set(symbol.list_inputs())
    _check_parameters(symbol, arrays, data, params)
    return Network(symbol, {n: a for n, a in arrays.items() if n in used}, prefix, whole=whole, shapes=shapes,
                   files=[graph, params])


def _check_parameters(symbol, arrays, data, params):
    """A variable that looks like a parameter, but has no values, is a file that does not belong to the graph."""
    from .._graph.ir.node import topological
    first = set()
    for node in topological(symbol._entries):
        if node.is_variable:
            continue
        for name, (child, _) in zip(node.input_names(), node.inputs):
            if child.is_variable and child.name in data and name in ('weight', 'bias', 'gamma', 'beta', 'moving_mean',
                                                                     'moving_var', 'parameters'):
                first.add(child.name)
    if first:
        raise MXNetError(f'{params} has no values for {", ".join(sorted(first))}')


def _described_shapes(prefix, data):
    """The shapes of inputs in a `signature.json` of the old model server, beside the network."""
    description = signature(prefix)
    found = {}
    for entry in (description or {}).get('inputs', []):
        if entry['data_name'] in data and entry['data_shape']:
            found[entry['data_name']] = tuple(max(1, n) for n in entry['data_shape'])
    return found


def signature(prefix):
    """What the `signature.json` beside a network says; None if there is none."""
    for path in (f'{prefix}-signature.json', os.path.join(os.path.dirname(prefix), 'signature.json')):
        if os.path.exists(path):
            try:
                with open(path, 'rb') as file:
                    data = file.read()
            except OSError as error:
                raise MXNetError(f'{path}: cannot read: {error.strerror}') from None
            return _checked_signature(jsons.load(data.removeprefix(codecs.BOM_UTF8), path), path)
    return None


def _checked_signature(found, path):
    """A signature whose `inputs` are dictionaries with a name and a shape of whole numbers; either may be None."""
    if not isinstance(found, dict):
        raise MXNetError(f'{path}: a signature is a JSON object, not {kind_of(found)}')
    entries = found.get('inputs') or []
    if not isinstance(entries, list):
        raise MXNetError(f'{path}: inputs: expected a list of objects, found {jsons.shown(entries)}')
    checked = []
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise MXNetError(f'{path}: input {number}: expected an object, found {jsons.shown(entry)}')
        name, shape = entry.get('data_name'), entry.get('data_shape')
        if not isinstance(name, str | None):
            raise MXNetError(f'{path}: input {number}: data_name: expected a text, found {jsons.shown(name)}')
        if shape is not None and not (isinstance(shape, list) and len(shape) <= 32
                                      and all(type(n) is int and abs(n) < 1 << 31 for n in shape)):
            raise MXNetError(f'{path}: input {number}: data_shape: expected a list of whole numbers, found '
                             f'{shape if isinstance(shape, list) and len(str(shape)) < 100 else jsons.shown(shape)}')
        checked.append({**entry, 'data_name': name, 'data_shape': shape})
    return {**found, 'inputs': checked}


def classes(prefix, file=None):
    """The names of the classes in `synset.txt` beside a network, or in a file; None if there is none.

    A line is a name, or a WordNet number and names."""
    paths = [file] if file else [f'{prefix}-synset.txt', os.path.join(os.path.dirname(prefix), 'synset.txt')]
    for path in paths:
        if os.path.exists(path):
            try:
                with open(path, encoding='utf-8-sig') as lines:
                    return [re.sub(r'^n\d{8}\s+', '', line.strip()) for line in lines if line.strip()]
            except UnicodeDecodeError as error:
                raise MXNetError(f'{path} is not text in UTF-8: {error}') from None
    if file:
        raise MXNetError(f'there is no file {file}')
    return None


def _from_onnx(source):
    from ..contrib.onnx import get_model_metadata, import_model
    symbol, arguments, states = import_model(source)
    described = get_model_metadata(source)['input_tensor_data']
    shapes = {entry[0]: tuple(n if isinstance(n, int) and n > 0 else 1 for n in entry[1])
              for entry in described if entry[1] is not None}
    return Network(symbol, {**arguments, **states}, source, whole=symbol, shapes=shapes, files=[source])


def _said(error):
    return str(error) if isinstance(error, (ImportError, AttributeError)) else f'{type(error).__name__}: {error}'


def _from_block(source, epoch, network, shapes):
    """A Block whose parameters are in a file, as a graph."""
    from .. import ndarray
    from ..gluon import Block
    from ..gluon._to_torch import _graph
    module, _, function = network.partition(':')
    if not function:
        raise MXNetError(f'--network {network}: it takes module:function, such as nets:resnet')
    sys.path.insert(0, os.getcwd())
    try:
        make = getattr(importlib.import_module(module), function)
    except Exception as error:              # whatever the module does while it is imported
        raise MXNetError(f'--network {network}: {_said(error)}') from error
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(os.getcwd())
    try:
        block = make()
    except Exception as error:
        raise MXNetError(f'--network {network}: {function}() failed: {_said(error)}') from error
    if not isinstance(block, Block):
        raise MXNetError(f'--network {network}: {function}() gives a {type(block).__name__}, not a Gluon Block')
    if not source.endswith(('.params', '.safetensors')):
        source = parameters_file(source, epoch)
    block.load_parameters(source)
    if not shapes:
        raise MXNetError('--network needs --shape for each input, in their order')
    args = [ndarray.zeros(shape) for shape in shapes.values()]
    block(*args)
    inputs, symbol, _, constants = _graph(block, args)
    arrays = {p.name: p.data() for p in block.collect_params().values()} | constants
    used = set(symbol.list_inputs())
    named = dict(zip([s.name for s in inputs], shapes.values()))
    return Network(symbol, {n: a for n, a in arrays.items() if n in used}, source, block=block, whole=symbol,
                   shapes=named, files=[source])
