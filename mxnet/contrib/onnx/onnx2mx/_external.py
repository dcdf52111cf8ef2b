"""Values of an ONNX model that are in files beside it."""
import os
from collections.abc import Iterator
from typing import Any

from ...._files import limits, paths
from ....base import MXNetError

__all__ = ['load_external']

EXTERNAL = 1            # TensorProto.data_location


def load_external(model: Any, where: str, size: int) -> int:
    """Reads what tensors have in other files, all of which must be in the model's folder; -> the size of all files."""
    tensors = [tensor for tensor in _tensors(model.graph, where) if tensor.data_location == EXTERNAL]
    for function in model.functions:
        tensors += [tensor for node in function.node for tensor in _of_node(node, where, 0)
                    if tensor.data_location == EXTERNAL]
    folder = os.path.realpath(os.path.dirname(os.path.abspath(where)))
    wanted, sizes = 0, {}
    for tensor in tensors:
        path, start, length = _place(tensor, where, folder)
        with paths.open_local(path) as file:
            whole = sizes[path] = os.fstat(file.fileno()).st_size if not hasattr(file, 'getbuffer') else 0
            length = whole - start if length is None else length
            if not 0 <= start <= start + length <= whole:
                raise MXNetError(f'{where}: tensor {limits.printable(tensor.name)} has {length} bytes at {start} of '
                                 f'{limits.printable(path)}, which has {whole}')
            wanted += length
            limits.check(wanted, size + sum(sizes.values()), where, 'values in other files')
            file.seek(start)
            tensor.raw_data = file.read(length)
        tensor.data_location = 0
        del tensor.external_data[:]
    return size + sum(sizes.values())


def _place(tensor, where, folder):
    """(path, first byte, number of bytes or None)"""
    name = limits.printable(tensor.name)
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get('location', '')
    path = os.path.realpath(os.path.join(folder, location)) if '\0' not in location else ''
    if not location or os.path.isabs(location) or os.path.commonpath([path or os.sep, folder]) != folder:
        raise MXNetError(f'{where}: tensor {name} has its values in {limits.printable(location)!r}, which is not in '
                         'the folder of the model')
    try:
        start = int(entries.get('offset') or 0)
        length = int(entries['length']) if entries.get('length') else None
    except ValueError:
        raise MXNetError(f'{where}: tensor {name}: its offset or length in {limits.printable(location)} is not a '
                         'number') from None
    return path, start, length


def _tensors(graph, where, depth=0) -> Iterator[Any]:
    if depth > limits.DEPTH:
        raise MXNetError(f'{where}: its graphs are nested deeper than {limits.DEPTH}')
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        yield from _of_node(node, where, depth)


def _of_node(node, where, depth):
    for attribute in node.attribute:
        if attribute.HasField('t'):
            yield attribute.t
        yield from attribute.tensors
        for graph in (attribute.g, *attribute.graphs):
            yield from _tensors(graph, where, depth + 1)
