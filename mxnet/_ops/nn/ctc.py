"""Connectionist temporal classification."""
from typing import Literal

import torch

from ...base import MXNetError
from ..core import gradients, shapes
from ..core.checks import checked
from ..core.late_reads import reads_late
from ..core.table import operator


@operator(aliases=('_contrib_CTCLoss', '_contrib_ctc_loss', 'ctc_loss'), shapes=shapes.ctc_loss, hidden=1,
          outputs='output0', optional={'data_lengths': lambda a: a['use_data_lengths'],
                                       'label_lengths': lambda a: a['use_label_lengths']})
@reads_late('label', 'data_lengths', 'label_lengths')
def CTCLoss(data, label, data_lengths=None, label_lengths=None, *, use_data_lengths: bool = False,
            use_label_lengths: bool = False, blank_label: Literal['first', 'last'] = 'first'):
    """CTC loss of each sequence: -log of the probability that `data` spells `label`.

    `data` has shape (time, batch, alphabet) and holds scores, not probabilities; `label` has shape (batch, length).
    The blank is class 0 ('first') or the last one; unless lengths are given, a label ends at the first 0 ('first') or
    -1 ('last').  Where the label cannot fit into the time there is, loss and gradient are 0.
    """
    if data.dim() != 3 or label.dim() != 2 or data.shape[1] != label.shape[0]:
        raise MXNetError(f'operator CTCLoss: data has shape {tuple(data.shape)}, label has {tuple(label.shape)}; they '
                         'must be (time, batch, alphabet) and (batch, length)')
    time, batch, alphabet = data.shape
    first = blank_label == 'first'
    label = label.to(torch.int64)
    if use_label_lengths:
        label_lengths = _lengths('label_lengths', label_lengths, batch)
    else:
        label_lengths = (label != (0 if first else -1)).cumprod(1).sum(1)
    if use_data_lengths:
        data_lengths = _lengths('data_lengths', data_lengths, batch)
    else:
        data_lengths = torch.full((batch,), time, dtype=torch.int64, device=data.device)
    if data.is_meta:
        return data.new_empty(batch)       # torch's kernel has no meta function
    # torch's kernels read wherever a label points to, on a CPU as well; what is behind its end may be anything
    behind = torch.arange(label.shape[1], device=label.device) >= label_lengths[:, None]
    label = checked('CTCLoss', 'label', label.masked_fill(behind, 0), 0, alphabet - 1)
    scores = data if data.dtype == torch.float64 else data.float()
    if use_data_lengths:
        # what comes after the end may be anything, NaN too
        over = torch.arange(time, device=data.device)[:, None] >= data_lengths
        scores = scores.masked_fill(over[:, :, None], 0)
    loss = torch.ctc_loss(torch.log_softmax(scores, -1), label, data_lengths, label_lengths,
                          blank=0 if first else alphabet - 1, reduction=0, zero_infinity=True)
    return loss.to(data.dtype)


def _lengths(name, lengths, batch):
    if lengths.shape != (batch,):
        raise MXNetError(f'operator CTCLoss: {name} has shape {tuple(lengths.shape)}; it must be ({batch},), one '
                         'length per sequence')
    return lengths.to(torch.int64)


@operator(shapes=shapes.warp_ctc, special_gradient=True)
@reads_late('label')
def WarpCTC(data, label, *, label_length: int = 0, input_length: int = 0):
    """Softmax of the last axis; its gradient is that of the CTC loss of `data` with `label`.

    An operator of a plug-in of 2016.  `data` has shape (input_length * batch, alphabet), one moment after the other;
    `label` has batch * label_length class numbers, in which 0 is the blank and is left out.
    """
    if data.dim() != 2 or input_length < 1 or data.shape[0] % input_length:
        raise MXNetError(f'operator WarpCTC: data has shape {tuple(data.shape)}; it must be (input_length * batch, '
                         f'alphabet), and input_length is {input_length}')
    batch = data.shape[0] // input_length
    if label.numel() != batch * label_length:
        raise MXNetError(f'operator WarpCTC: label has shape {tuple(label.shape)}; it must hold {batch} * '
                         f'{label_length} class numbers (batch * label_length)')

    def forward(data, label):
        return torch.softmax(data, -1)

    def rule(incoming, inputs, outputs):
        return gradients.warp_ctc(inputs, input_length, label_length)

    return gradients.with_gradient(forward, rule, data, label)
