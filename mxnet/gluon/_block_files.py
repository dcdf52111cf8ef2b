"""Files of a block's parameters and of its structure."""
import json
from collections import OrderedDict
from typing import Any

from .._files import jsons, limits, paths
from .._graph.ir import json as _json
from ..base import FileError, MXNetError
from ..symbol import Symbol
from ..symbol._compose import make
from ._parameter_files import load_arrays, mismatch, names_file, save_arrays
from .parameter import DeferredInitializationError


def save_parameters(block, filename, deduplicate=False):
    """See `Block.save_parameters`."""
    params = block._collect_params_with_prefix()
    if deduplicate:
        params = {v: k for k, v in {p: k for k, p in params.items()}.items()}
    waiting = [key for key, param in params.items() if param._data is None and param._deferred is not None]
    if waiting:
        parts = sorted({key.rpartition('.')[0] or type(block).__name__ for key in waiting})
        raise DeferredInitializationError(
            f'{block.name} cannot be saved: the shapes of {", ".join(waiting)} are not known yet. '
            f'Never called: {", ".join(parts)}')
    save_arrays(filename, {key: param._reduce() for key, param in params.items()})


def load_parameters(block, filename, ctx=None, allow_missing=False, ignore_extra=False, cast_dtype=False,
                    dtype_source='current'):
    """See `Block.load_parameters`."""
    loaded = load_arrays(filename)
    params = block._collect_params_with_prefix()
    if not loaded and not params:
        return
    if not isinstance(loaded, dict):
        raise FileError(f'{filename} holds arrays without names; parameters need names')
    if (not any('.' in name for name in loaded)
            and all(name.startswith(block.prefix) for name in block.collect_params())):
        # names of the old kind: prefix and all
        block.collect_params().load(filename, ctx, allow_missing, ignore_extra, block.prefix, cast_dtype=cast_dtype,
                                   dtype_source=dtype_source)
        return
    if not allow_missing:
        places: dict[int, list[str]] = {}
        for name, param in params.items():
            places.setdefault(id(param), []).append(name)
        missing = [n for n, p in params.items() if not any(place in loaded for place in places[id(p)])]
        if missing:
            raise FileError(mismatch('missing', missing, f'file {filename}', loaded, 'allow_missing'))
    extra = [n for n in loaded if n not in params]
    if extra and not ignore_extra:
        raise FileError(mismatch('extra', extra, f'file {filename}', params, 'ignore_extra'))
    for name, value in loaded.items():
        if name in params:
            with names_file(filename):
                params[name]._load_init(value, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)


def save(block, prefix):
    """See `Block.save`."""
    model: dict[str, Any] = {}
    _write_structure(block, model, [0])
    paths.write_atomic(f'{prefix}-model.json', [json.dumps(model).encode()])
    block.save_parameters(f'{prefix}-model.params')


def _write_structure(block, model, number):
    record = model[f'{type(block).__name__.lower()}{number[0]}'] = {'orig_name': block.name}
    graph = getattr(block, '_cached_graph', None)
    if graph is not None:
        record['hybridized'] = bool(graph)
        if graph:
            inputs, out = graph
            record |= {'in_format': block._in_format, 'out_format': block._out_format,
                       'inputs': [s.tojson() for s in inputs], 'symbol': out.tojson()}
    record['children'] = {}
    for key, child in block._children.items():
        number[0] += 1
        record['children'][child.name] = key
        _write_structure(child, record, number)


def load(block, prefix):
    """See `Block.load`."""
    name = f'{prefix}-model.json'
    model = jsons.load(paths.read_bytes(name), name, 'the structure of a block')
    _read_structure(block, model, [0], name)
    block.load_parameters(f'{prefix}-model.params')


def _read_structure(block, model, number, where):
    key = f'{type(block).__name__.lower()}{number[0]}'
    record = model.get(key) if isinstance(model, dict) else None
    if not isinstance(record, dict):
        found = ', '.join(limits.printable(k[:60]) for k in model) if isinstance(model, dict) else jsons.shown(model)
        raise MXNetError(f'{where}: the saved structure has no {key}; it has {found or "nothing"}')
    where = f'{where}: {key}'

    def entry(name, kinds, what):
        if not isinstance(record.get(name), kinds):
            raise MXNetError(f'{where}: expected {what} under {name!r}, found {jsons.shown(record.get(name))}')
        return record[name]

    block._name = entry('orig_name', str, 'a name')
    if record.get('hybridized'):
        block._in_format, block._out_format = (_format(entry(name, (list, int), 'a number, or a list of them'),
                                                       f'{where}: {name}') for name in ('in_format', 'out_format'))
        texts = [*entry('inputs', list, 'a list of graphs'), entry('symbol', str, 'a graph')]
        graphs = [make(Symbol, _json.loads(text if isinstance(text, str) else '', f'{where}: graph {i}'))
                  for i, text in enumerate(texts)]
        block._cached_graph = graphs[:-1], graphs[-1]
        block._active = True
    own = block.params._params
    for old in list(own):
        # the graphs know the parameters by the names that they had
        param = own.pop(old)
        param.name, param._var = f'{block.name}_{old[len(block.params._prefix):]}', None
        own[param.name] = param
    for child in block._children.values():
        number[0] += 1
        _read_structure(child, record, number, where)
    keys = entry('children', dict, 'a dictionary of names')
    if not all(isinstance(key, str) for key in keys.values()) or len(set(keys.values())) < len(keys):
        raise MXNetError(f'{where}: expected different names under "children", found others')
    block._children = OrderedDict((keys.get(child.name, key), child) for key, child in block._children.items())


def _format(value, where):
    """How inputs or outputs are nested: numbers in lists."""
    if isinstance(value, list) and all(type(part) is int or isinstance(part, list) and _format(part, where) is not None
                                       for part in value) or type(value) is int:
        return value
    raise MXNetError(f'{where}: expected a number, or a list of them, found {jsons.shown(value)}')
