"""Updates of lists of tensors, in place: one kernel for many weights where torch has one.

A rule is a pure function: (weight, gradient, states..., numbers) -> (new weight, new states...).  `apply` runs any rule
and writes the results back.  Small tensors are laid end to end first, so that a hundred biases cost little more than
one.  For gradient descent, Adam and AdamW torch has kernels that do it all in one pass over the memory; `descend`
(_bound_update.py) and `adam` use them, with numbers chosen so that the arithmetic is exactly the rule's.

The fused kernels (_torch/lists.py) are called only where `fusible` says that they are there.
They check nothing (a short state would be written past its end): callers ask `alike` first.  And they
leave torch's version counter alone, which is how autograd finds out about writes; hence `increment_version`.
"""
import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.autograd.graph import increment_version

from .._torch.lists import (
    foreach_add_,
    foreach_clamp_max,
    foreach_clamp_min,
    foreach_copy_,
    foreach_mul,
    foreach_mul_,
    fused_adam_,
    fused_adamw_,
)

# Where laying tensors end to end stops paying: copying costs more than starting kernels for each.
_SMALL = {'cpu': 1 << 12, 'cuda': 1 << 20}
# On the CPU large tensors go piece by piece, so that what a rule computes on the way stays in the cache.
_PIECE = 1 << 16
# Recorded kernels of a GPU get small lists of tensors in about so many pieces, of a multiple of so many elements.
_PIECES, _LEAST = 32, 1 << 11
_FUSED = ('_fused_sgd_', '_fused_adam_', '_fused_adamw_')
_HAS_FUSED = all(hasattr(torch, name) for name in _FUSED)
_forever: dict[torch.device, torch.Tensor] = {}


def alike(*columns):
    """Whether lists of tensors agree in number and, place by place, in shape, and all tensors in dtype and device."""
    shapes = [[t.shape for t in column] for column in columns]
    return (shapes.count(shapes[0]) == len(shapes)
            and len({t.dtype for column in columns for t in column}) == 1
            and len({t.get_device() for column in columns for t in column}) == 1)


def fusible(weight):
    """Whether torch's fused kernels take this weight (and others of its dtype and device)."""
    # not float64: the numbers that we pass are rounded in the sixteenth digit; nothing below float32: the CPU's kernels
    # of torch 2.13 are wrong there
    return _HAS_FUSED and weight.dtype is torch.float32 and weight.device.type in _SMALL


# ---------------------------------------------------------------------- any rule
def apply(rule, numbers, columns, elementwise=True):
    """Updates weights and states in place; the columns are lists: weights, gradients, each of the states (or Nones)."""
    weights = columns[0]
    alone: Sequence[int] = range(len(weights))
    if elementwise and len(weights) > 1:
        limit = _SMALL.get(weights[0].device.type, 0)
        small = [i for i in alone if weights[i].numel() <= limit]
        if len(small) > 1:
            _apply_joined(rule, numbers, [[column[i] for i in small] for column in columns])
            alone = [i for i in alone if weights[i].numel() > limit]
    for i in alone:
        row = [column[i] for column in columns]
        if elementwise and row[0].numel() > 2 * _PIECE and row[0].device.type == 'cpu':
            _apply_piecewise(rule, numbers, row)
        else:
            _write_back(row, rule(*row, **numbers))


def _apply_joined(rule, numbers, columns):
    flat = [None if column[0] is None else [t.view(-1) for t in column] for column in columns]
    results = rule(*[None if tensors is None else torch.cat(tensors) for tensors in flat], **numbers)
    sizes = [t.numel() for t in columns[0]]
    for tensors, values in zip((flat[0], *flat[2:]), results, strict=True):
        if tensors is not None:
            foreach_copy_(tensors, values.split(sizes))


def _apply_piecewise(rule, numbers, row):
    length = _PIECE * torch.get_num_threads()
    pieces = [itertools.repeat(None) if t is None else t.view(-1).split(length) for t in row]
    for piece in zip(*pieces):
        _write_back(piece, rule(*piece, **numbers))


def _write_back(row, results):
    for target, value in zip((row[0], *row[2:]), results, strict=True):
        if target is not None:
            target.copy_(value)


def groups(keys):
    """{key: positions}: what has the same numbers can be updated together."""
    found: dict[Any, list[int]] = {}
    for position, key in enumerate(keys):
        found.setdefault(key, []).append(position)
    return found


def pieces(*columns):
    """The columns with their tensors in pieces, as views, where these keep more of a GPU busy.

    Kernels for lists give each block of threads 2 ** 16 elements of one tensor, which takes it longer than starting
    the kernel.  They take some fifty tensors at once.
    """
    size = sum(t.numel() for t in columns[0]) // _PIECES // _LEAST * _LEAST
    size = max(size, _LEAST)
    if size >= 1 << 16 or not all(t.is_contiguous() for column in columns for t in column):
        return columns
    return [[piece for t in column for piece in (t.view(-1).split(size) if t.numel() > size else (t,))]
            for column in columns]


def scaled(grads, rescale_grad, clip_gradient):
    """Gradients as an update uses them: new tensors, or the same where there is nothing to do."""
    if rescale_grad != 1.0:
        grads = foreach_mul(grads, rescale_grad)
    if clip_gradient >= 0:
        grads = foreach_clamp_max(foreach_clamp_min(grads, -clip_gradient), clip_gradient)
    return grads


# ---------------------------------------------------------------------- rules of their own
def nesterov(weights, grads, moms, lr, wd, momentum, rescale_grad, clip_gradient):
    """`nag_mom_update` of each weight: no kernel has its decay, but few passes over lists do."""
    if clip_gradient >= 0:
        grads, rescale_grad = scaled(grads, rescale_grad, clip_gradient), 1.0
    rate = lr * rescale_grad
    foreach_mul_(moms, momentum)
    if wd:
        foreach_mul_(weights, 1.0 - lr * wd * (momentum + 1.0))
    foreach_add_(weights, moms, alpha=momentum)
    foreach_add_(weights, grads, alpha=-rate * (momentum + 1.0))
    foreach_add_(moms, grads, alpha=-rate)
    if wd:
        foreach_add_(moms, weights, alpha=-lr * wd)


def adam(weights, grads, means, variances, lr, beta1, beta2, epsilon, wd, decoupled=False):
    """`adam_update` of each weight with gradients as they are; with `decoupled`, AdamW: wd times the weight comes off.

    lr: a number; or, on a GPU, a tensor that has it.
    The correction of the averages' bias is part of `lr`.  torch would correct again, unless it is told that infinitely
    many steps were taken.
    """
    kernel = fused_adamw_ if decoupled else fused_adam_
    device, columns = weights[0].device, (weights, grads, means, variances)
    forever = _forever.get(device)
    if forever is None:
        forever = _forever[device] = torch.tensor(math.inf, device=device)
    if weights[0].is_cuda and torch.cuda.is_current_stream_capturing():
        columns = pieces(*columns)
    kernel(*columns, [], [forever] * len(columns[0]), lr=lr, beta1=beta1, beta2=beta2, weight_decay=wd, eps=epsilon,
           amsgrad=False, maximize=False)
    increment_version([*weights, *means, *variances])
