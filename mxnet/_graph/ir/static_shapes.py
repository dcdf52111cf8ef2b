"""Operators whose output shapes and dtypes follow from those of their inputs, whatever the values are.

Not all of them: those that most networks and losses consist of.  The shapes of a graph of these are known once it has
run; those of other graphs once a plan of theirs has been traced, which cannot look at values.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .program import Call

STATIC_SHAPES = frozenset((
    'Activation', 'BatchNorm', 'BlockGrad', 'CTCLoss', 'Cast', 'Concat', 'Convolution', 'Deconvolution', 'Dropout',
    'Embedding', 'Flatten', 'FullyConnected', 'GroupNorm', 'InstanceNorm', 'L2Normalization', 'LayerNorm', 'LeakyReLU',
    'Pad', 'Pooling', 'RNN', 'Reshape', 'SequenceLast', 'SequenceMask', 'SequenceReverse', 'SliceChannel',
    'SoftmaxActivation', 'SoftmaxOutput', 'SwapAxis', 'UpSampling', '_copy', '_np_dot', '_np_reshape', '_np_squeeze',
    '_np_sum', '_np_transpose', '_npi_add', '_npi_concatenate', '_npi_mean', '_npi_multiply', '_npi_stack',
    '_npi_subtract', '_npi_true_divide', '_npx_reshape', '_ones', '_rnn_param_concat', '_zeros', 'abs', 'add_n',
    'argmax', 'batch_dot', 'broadcast_add', 'broadcast_div', 'broadcast_like', 'broadcast_maximum',
    'broadcast_minimum', 'broadcast_mul', 'broadcast_power', 'broadcast_sub', 'clip', 'dot', 'elemwise_add',
    'elemwise_div', 'elemwise_mul', 'elemwise_sub', 'expand_dims', 'log_softmax', 'max', 'mean', 'min', 'norm',
    'one_hot', 'ones_like', 'pick', 'repeat', 'reshape_like', 'slice', 'slice_axis', 'smooth_l1', 'softmax', 'softmin',
    'squeeze', 'stack', 'sum', 'take', 'tile', 'transpose', 'where', 'zeros_like'))


def have_static_shapes(calls: Iterable[Call]) -> bool:
    """Whether shapes and dtypes of what calls of a program give depend on no values."""
    return all(not c.bodies and (c.node.op.elementwise or c.node.op.name in STATIC_SHAPES) for c in calls)
