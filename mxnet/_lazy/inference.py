"""Shapes and dtypes of the outputs of a deferred call.

A call is deferred only where these are known, so that `meta()` of a pending array never computes anything, and so that
mistakes are found where they are made.  They are known from an earlier call of the same kind
(`Deferral.output_kinds`), or by inference on meta tensors.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .._array import wrap
from .._graph.infer.inference import run_on_meta
from .pending import GraphOutputs

if TYPE_CHECKING:
    from .._ops.core.table import Operator
    from ..ndarray._cached_op import CachedOp
    from .types import Kind

DEFERRED = frozenset((
    'broadcast_add', 'broadcast_sub', 'broadcast_mul', 'broadcast_div', 'broadcast_power', 'broadcast_maximum',
    'broadcast_minimum', 'elemwise_add', 'elemwise_sub', 'elemwise_mul', 'elemwise_div', 'add_n', 'dot', 'batch_dot',
    '_plus_scalar', '_minus_scalar', '_rminus_scalar', '_mul_scalar', '_div_scalar', '_rdiv_scalar', '_power_scalar',
    '_maximum_scalar', '_minimum_scalar', 'Cast', 'amp_cast', 'negative', 'abs', 'square', 'sqrt', 'exp', 'log',
    'log1p', 'sigmoid', 'tanh', 'relu', 'Activation', 'smooth_l1', 'clip', 'softmax', 'log_softmax', 'mean', 'sum',
    'norm', 'Reshape', 'Flatten', 'transpose', 'SwapAxis', 'expand_dims', 'squeeze', 'slice', 'slice_axis', 'Concat',
    'stack', 'pick', 'where', 'zeros_like', 'ones_like', 'reshape_like', 'broadcast_like', 'slice_like',
    '_contrib_arange_like', '_contrib_MultiBoxPrior', '_random_uniform_like', '_random_normal_like',
    '_random_gamma_like', '_random_exponential_like', '_random_poisson_like', '_npi_full_like',
    '_npi_add', '_npi_subtract', '_npi_multiply', '_npi_true_divide', '_npi_add_scalar', '_npi_subtract_scalar',
    '_npi_rsubtract_scalar', '_npi_multiply_scalar', '_npi_true_divide_scalar', '_npi_power_scalar', '_npi_negative',
    '_npi_absolute', '_npi_square', '_npi_sqrt', '_npi_exp', '_npi_log', '_npi_tanh', '_npi_mean', '_np_sum', '_np_dot',
    '_npx_relu', '_npx_sigmoid', '_np_reshape', '_npx_reshape', '_np_transpose', '_np_squeeze', '_npi_concatenate',
    '_npi_stack'))
INFERRED = DEFERRED | {'max', 'min', '_copy'}       # quickly, in graphs of losses

# inputs of which an operator reads shape and dtype only
SHAPE_ONLY = {
    **dict.fromkeys(('zeros_like', 'ones_like', 'shape_array', 'size_array', '_contrib_arange_like',
                     '_contrib_index_array', '_contrib_MultiBoxPrior', '_random_uniform_like', '_random_normal_like',
                     '_random_gamma_like', '_random_exponential_like', '_random_poisson_like',
                     '_random_negative_binomial_like', '_random_generalized_negative_binomial_like'), 'data'),
    '_npi_full_like': 'a', 'broadcast_like': 'rhs', 'reshape_like': 'rhs', '_identity_with_attr_like_rhs': 'rhs',
    'slice_like': 'shape_like'}


def without_values(op: Operator, inputs: Sequence[Any], recording: bool) -> Sequence[Any]:
    """The arrays, where a stand-in without values is in the place of a pending one, of which the operator reads the
    shape only.

    While recording, the result depends on what a step computes: backward passes from it write the gradients of the
    step's variables, which are zero, and move its averages.
    """
    number = op.inputs.index(SHAPE_ONLY[op.name])
    array = inputs[number]
    pending = None if array is None else array._pending
    if pending is None or recording and type(pending.work) is not GraphOutputs:
        return inputs
    shape, dtype, ctx = array.meta()
    stand_in = wrap(torch.empty((), dtype=dtype, device=ctx.torch_device).expand(shape), ctx, type(array))
    return [stand_in if i == number else x for i, x in enumerate(inputs)]


def kinds_of(training: bool, tensors: Iterable[torch.Tensor]) -> tuple[Any, ...]:
    """What shapes and dtypes of a call's results depend on: the key of `Deferral.output_kinds`."""
    return training, *[(t.shape, t.dtype) for t in tensors]


def remember(cached: CachedOp, kinds: tuple[Any, ...], outputs: Iterable[Kind]) -> list[torch.Tensor]:
    """Caches shapes and dtypes of the outputs of calls of a kind, as meta tensors."""
    found = [torch.empty(shape, dtype=dtype, device='meta') for shape, dtype in outputs]
    cached.deferral.output_kinds[kinds] = found
    return found


def infer_outputs(cached: CachedOp, kinds: tuple[Any, ...]) -> list[torch.Tensor] | None:
    """Tensors without memory that have the shapes and dtypes of a call's outputs; None where inference does not tell.

    If they are inferred, the call makes no mistake.  Only graphs of the operators that most losses consist of are
    inferred, which is quick; torch's own rules for others import its compiler.
    """
    known = cached.deferral.output_kinds.get(kinds)
    if known is not None:
        return known
    program = cached.program
    values: list[Any] = [*kinds[1:], *[None] * (program.size - len(kinds) + 1)]
    for call in program.calls:
        given: list[Any] = [None if s is None else values[s] for s in call.sources]
        op = call.node.op
        if None in given or call.bodies or not (op.name in INFERRED or op.elementwise) \
                or op.same_dtype and len({dtype for _, dtype in given}) > 1:
            return None
        found = run_on_meta(call.node, [tuple(shape) for shape, _ in given], [dtype for _, dtype in given])
        if isinstance(found, str):
            return None
        for number, value in enumerate(found[:call.count]):
            values[call.first + number] = value
    return remember(cached, kinds, [values[n] for n in program.outputs])
