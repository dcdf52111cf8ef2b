"""What `remx predict` does."""
import json
import sys

import numpy as np

from ..base import MXNetError
from . import _networks
from ._convert import parse_shapes
from ._inputs import Preprocessing, finite, read_file, top_classes


def run(options) -> int:
    """Reads the inputs, computes them batch by batch, prints or writes the results."""
    if options.batch < 1:
        raise MXNetError(f'--batch {options.batch}: it takes a number from 1 on')
    if options.top < 1:
        raise MXNetError(f'--top {options.top}: it takes a number from 1 on')
    if options.out and not options.out.endswith('.npy'):
        raise MXNetError(f'--out {options.out}: arrays are written into .npy files')
    given = parse_shapes(options.shape)
    model = _networks.load(options.source, options.epoch, network=options.network, shapes=given)
    if len(model.inputs) != 1:
        raise MXNetError(f'{options.source} has the inputs {", ".join(model.inputs)}; predict takes networks of one')
    name = model.inputs[0]
    shape = (model.shapes if options.network else model.check_shapes(given))[name]
    prepare = Preprocessing.of(shape[1:], options)
    names = _networks.classes(model.source, options.classes)
    items = [item for path in options.files for item in read_file(path, prepare, model.dtypes[name])]
    if not items:
        raise MXNetError(f'{", ".join(options.files)}: there are no inputs in the files')
    ctx = _context(options.device)
    results = compute(model.module(ctx), [array for _, array in items], options.batch, ctx)
    if options.out:
        from .._files import paths
        with paths.replacing(options.out) as temporary, open(temporary, 'wb') as file:
            np.save(file, results)
    _print(options, [label for label, _ in items], results, names)
    return 0


def compute(block, rows, batch, ctx):
    """The first output of a network for each row."""
    from .. import ndarray
    found = []
    for start in range(0, len(rows), batch):
        values = np.stack(rows[start:start + batch])
        result = block(ndarray.array(values, ctx=ctx, dtype=values.dtype))
        found.append((result[0] if isinstance(result, (list, tuple)) else result).asnumpy())
    return np.concatenate(found)


def _context(text):
    from ..context import Context
    kind, _, number = text.partition(':')
    try:
        return Context(kind, int(number or 0))
    except (ValueError, KeyError, MXNetError):
        raise MXNetError(f'--device {text}: it takes cpu, gpu or gpu:1') from None


def _print(options, labels, results, names):
    raw = options.raw or results.ndim != 2
    if options.format == 'json':
        for label, row in zip(labels, results, strict=True):
            value = {'output': row.tolist()} if raw else {'classes': [
                {'class': text, 'number': number, 'value': value}
                for number, text, value in top_classes(row, names, options.top)]}
            print(json.dumps(finite({'input': label, **value}), ensure_ascii=False, allow_nan=False))
        return
    width = max(map(len, labels), default=0)
    for label, row in zip(labels, results, strict=True):
        if raw:
            text = np.array2string(row, threshold=16, precision=6)
            print(f'{label:<{width}}  {text}')
            continue
        for place, (number, text, value) in enumerate(top_classes(row, names, options.top)):
            shown = text if text != str(number) else f'class {number}'
            print(f'{label if not place else "":<{width}}  {value:10.6f}  {shown}')
    sys.stdout.flush()
