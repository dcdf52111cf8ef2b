"""What `remx predict` does."""
import json
import sys

import numpy as np

from .._files import limits
from ..base import MXNetError
from . import _networks
from ._convert import parse_shapes
from ._inputs import Preprocessing, finite, read_file, top_classes
from ._rows import rows_of_outputs


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
    examples = [list(model.example({name: (1, *shape[1:])}, seed).values()) for seed in range(2)]
    results = compute(model.module(ctx), [array for _, array in items], options.batch, ctx, examples, shape)
    if options.out:
        from .._files import paths
        with paths.replacing(options.out) as temporary, open(temporary, 'wb') as file:
            np.save(file, results)
    _print(options, [label for label, _ in items], results, names)
    return 0


def compute(block, rows, batch, ctx, examples, shape):
    """The first output of a network for each row.

    examples: two inputs of one row, by which the rows of the output are found
    shape: of the input, as it was given
    """
    from .. import ndarray

    def outputs(values):
        result = block(*[ndarray.array(v, ctx=ctx, dtype=v.dtype) for v in values])
        return [r.asnumpy() for r in (result if isinstance(result, (list, tuple)) else [result])][:1]
    counts = rows_of_outputs(outputs, *examples)
    if counts is None and shape[0] != 1:
        raise MXNetError(f'the network does not compute the {shape[0]} rows of its input apart from each other (its '
                         'first axis may be time, or its batch fixed), so that files cannot be put in as rows')
    if counts is None:
        return np.stack([outputs([row[None]])[0] for row in rows])
    found = np.concatenate([outputs([np.stack(rows[start:start + batch])])[0]
                            for start in range(0, len(rows), batch)])
    return found if counts[0] == 1 else found.reshape(len(rows), counts[0], *found.shape[1:])


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
            text = json.dumps(finite({'input': label, **value}), ensure_ascii=False, allow_nan=False)
            # letters stay readable; what a terminal acts upon is escaped as JSON writes it
            print(''.join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text))
        return
    width = max(map(len, labels), default=0)
    for label, row in zip(labels, results, strict=True):
        if raw:
            text = np.array2string(row, threshold=16, precision=6)
            print(f'{label:<{width}}  {text}')
            continue
        for place, (number, text, value) in enumerate(top_classes(row, names, options.top)):
            shown = limits.printable(text) if text != str(number) else f'class {number}'
            print(f'{label if not place else "":<{width}}  {value:10.6f}  {shown}')
    sys.stdout.flush()
