"""The table that `Block.summary` prints."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ndarray import NDArray
from ._structure import leaves

if TYPE_CHECKING:
    from ..gluon.block import Block

WIDTHS = (20, 42, 15)


def _is_sequence(block):
    return getattr(block, '_is_sequence', False)


def summarize(net: Block, inputs: Any) -> None:
    """Runs the net once on inputs and prints output shapes and numbers of parameters of its layers."""
    rows: Any
    seen: set[Any]
    rows, seen, handles = [], set(), []

    def shapes(values):
        if isinstance(values, NDArray):
            return str(values.shape)
        return ', '.join(str(v.shape) for v in leaves(values))

    def note(block, arguments, output):
        if not all(isinstance(v, NDArray) for v in leaves(output)):
            return                      # a layer that finds out shapes has run its inner ones on symbols
        own = [p for p in block.params.values() if p._data is not None]
        sizes = {id(p): (p.data().size if p.shape else 0, p.grad_req != 'null') for p in own}
        new = {k: v for k, v in sizes.items() if k not in seen}
        shared = sum(n for k, (n, _) in sizes.items() if k in seen)
        seen.update(sizes)
        rows.append((f'{type(block).__name__}-{len(rows) + 1}', shapes(output), sum(n for n, _ in sizes.values()),
                     sum(n for n, t in new.values() if t), sum(n for n, t in new.values() if not t), shared))

    def attach(block):
        if getattr(block, '_active', False):
            raise AssertionError(f'summary needs every layer to run by itself, but {block.name} is hybridized; call '
                                 'hybridize(False) or summary before hybridize()')
        if (block is not net or not block._children) and not _is_sequence(block):
            handles.append(block.register_forward_hook(note))

    net.apply(attach)
    try:
        output = net(*inputs)
        if net._children and not _is_sequence(net):
            note(net, inputs, output)
    finally:
        for handle in handles:
            handle.detach()
    line = '-' * sum(WIDTHS) + '---'
    print(line)
    print(f'{"Layer (type)":>{WIDTHS[0]}}  {"Output Shape":>{WIDTHS[1]}} {"Param #":>{WIDTHS[2]}}')
    print('=' * len(line))
    print(f'{"Input":>{WIDTHS[0]}}  {shapes(list(inputs) if len(inputs) > 1 else inputs[0]):>{WIDTHS[1]}} '
          f'{0:>{WIDTHS[2]}}')
    for name, shape, count, *_ in rows:
        print(f'{name:>{WIDTHS[0]}}  {shape:>{WIDTHS[1]}} {count:>{WIDTHS[2]}}')
    trainable, fixed = sum(r[3] for r in rows), sum(r[4] for r in rows)
    print('=' * len(line))
    print('Parameters in forward computation graph, duplicate included')
    print(f'   Total params: {sum(r[2] for r in rows)}')
    print(f'   Trainable params: {trainable}')
    print(f'   Non-trainable params: {fixed}')
    print(f'Shared params in forward computation graph: {sum(r[5] for r in rows)}')
    print(f'Unique parameters in model: {trainable + fixed}')
    print(line)
