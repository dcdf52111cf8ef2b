"""cuDNN's recurrent layers as two operators of our own, which can be traced.

torch's can not: it looks at the memory of the weights, and its gradient does not say what shapes it has.  Plans (see
`_graph/codegen/plan.py`) are made with these; everything else calls torch's.
"""
import torch

from ..._torch.operators import cudnn_rnn, cudnn_rnn_backward
from ..core.traceable import CannotTrace

_MODES = {'rnn_relu': 0, 'rnn_tanh': 1, 'lstm': 2, 'gru': 3}


def run(mode, data, state, cell, weights, layers, bidirectional):
    """As torch's fused layers: (output, state, cell or None).  `weights` has a list for each layer and direction."""
    if cudnn_rnn is None or cudnn_rnn_backward is None:
        raise CannotTrace('this torch does not offer the kernels of cuDNN that can be traced')
    matrices = [(*one[:2], *one[4:]) for one in weights]
    vector = torch.cat([m.reshape(-1) for some in matrices for m in some] + [b for one in weights for b in one[2:4]])
    hidden, projected = weights[0][1].shape[0] // {'lstm': 4, 'gru': 3}.get(mode, 1), len(weights[0]) > 4
    numbers = (_MODES[mode], hidden, state.shape[2] if projected else 0, layers, bidirectional)
    return _Layers.apply(data.contiguous(), vector, state.contiguous(), None if cell is None else cell.contiguous(),
                         numbers)


class _Layers(torch.autograd.Function):

    @staticmethod
    def forward(ctx, data, vector, state, cell, numbers):
        train = any(x is not None and x.requires_grad for x in (data, vector, state, cell))
        output, hidden, new_cell, reserve = torch.ops.remx.rnn(data, vector, state, cell, *numbers, train)
        ctx.save_for_backward(data, vector, state, cell, output, reserve)
        ctx.numbers = numbers
        ctx.set_materialize_grads(False)
        return output, hidden, None if cell is None else new_cell

    @staticmethod
    def backward(ctx, *gradients):
        data, vector, state, cell, output, reserve = ctx.saved_tensors
        dense = [None if g is None else g.contiguous() for g in gradients]
        if dense[0] is None:
            dense[0] = torch.zeros_like(output)
        found = torch.ops.remx.rnn_backward(data, vector, state, cell, output, reserve, *dense, *ctx.numbers)
        return found[0], found[1], found[2], None if cell is None else found[3], None


def _unpacked(vector, data, mode, hidden, projection, layers, bidirectional):
    """The weights as views of their vector, in torch's order."""
    gates = hidden * {2: 4, 3: 3}.get(mode, 1)
    width, directions = projection or hidden, 2 if bidirectional else 1
    shapes = []
    for layer in range(layers):
        inside = data.shape[2] if not layer else width * directions
        shapes += [[(gates, inside), (gates, width), *([(projection, hidden)] if projection else [])]] * directions
    pieces = iter(vector.split([a * b for some in shapes for a, b in some] + [gates] * 2 * len(shapes)))
    weights = [[next(pieces).view(shape) for shape in some] for some in shapes]
    for one in weights:
        one[2:2] = next(pieces), next(pieces)
    return weights


def _rnn(data, vector, state, cell, mode, hidden, projection, layers, bidirectional, train):
    weights = _unpacked(vector, data, mode, hidden, projection, layers, bidirectional)
    flat = [w for one in weights for w in one]
    output, new, new_cell, reserve, _ = cudnn_rnn(
        data, flat, len(weights[0]), vector, state, cell, mode, hidden, projection, layers, False, 0.0, train,
        bidirectional, [], None)
    return output, new, state.new_empty(0) if cell is None else new_cell, reserve


def _rnn_fake(data, vector, state, cell, mode, hidden, projection, layers, bidirectional, train):
    output = data.new_empty(data.shape[0], data.shape[1], state.shape[2] * (2 if bidirectional else 1))
    return (output, torch.empty_like(state), state.new_empty(0) if cell is None else torch.empty_like(cell),
            data.new_empty(0, dtype=torch.uint8))


def _rnn_backward(data, vector, state, cell, output, reserve, d_output, d_state, d_cell, mode, hidden, projection,
                  layers, bidirectional):
    weights = _unpacked(vector, data, mode, hidden, projection, layers, bidirectional)
    flat = [w for one in weights for w in one]
    # cuDNN writes into the reserve, and the program may call `backward` again (`retain_graph=True`)
    d_data, d_hidden, d_new, d_flat = cudnn_rnn_backward(
        data, flat, len(weights[0]), vector, state, cell, output, d_output, d_state, d_cell, mode, hidden, projection,
        layers, False, 0.0, True, bidirectional, [], None, reserve.clone(), [True, True, cell is not None, True])
    step = len(weights[0])
    rows = [d_flat[i:i + step] for i in range(0, len(d_flat), step)]
    d_vector = torch.cat([m.reshape(-1) for row in rows for m in (*row[:2], *row[4:])]
                         + [b.reshape(-1) for row in rows for b in row[2:4]])
    return d_data, d_vector, d_hidden, state.new_empty(0) if cell is None else d_new


def _rnn_backward_fake(data, vector, state, cell, *rest):
    return (torch.empty_like(data), torch.empty_like(vector), torch.empty_like(state),
            state.new_empty(0) if cell is None else torch.empty_like(cell))


_NUMBERS = 'int mode, int hidden, int projection, int layers, bool bidirectional'
_library = torch.library.Library('remx', 'FRAGMENT')
_library.define(f'rnn(Tensor data, Tensor vector, Tensor state, Tensor? cell, {_NUMBERS}, bool train) '
                '-> (Tensor, Tensor, Tensor, Tensor)')
_library.define('rnn_backward(Tensor data, Tensor vector, Tensor state, Tensor? cell, Tensor output, Tensor reserve, '
                f'Tensor? d_output, Tensor? d_state, Tensor? d_cell, {_NUMBERS}) '
                '-> (Tensor, Tensor, Tensor, Tensor)')
_library.impl('rnn', _rnn, 'CUDA')
_library.impl('rnn_backward', _rnn_backward, 'CUDA')
torch.library.register_fake('remx::rnn', _rnn_fake, lib=_library)
torch.library.register_fake('remx::rnn_backward', _rnn_backward_fake, lib=_library)
