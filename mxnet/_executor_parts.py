"""Parts of `Executor` that run no graph: gradients that come in and are stored, and how much memory it takes."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import torch

from ._array import NDArrayBase, overwrite
from ._graph.codegen.plan import copy_all
from ._graph.infer import inference as _infer
from .base import MXNetError

if TYPE_CHECKING:
    from ._graph.ir.program import Program

# operators whose gradient is what they say, whatever comes back to them
_LOSSES = {'SoftmaxOutput', 'LinearRegressionOutput', 'LogisticRegressionOutput', 'MAERegressionOutput', 'SVMOutput',
           'MakeLoss', 'make_loss', 'BlockGrad'}


class Gradients:
    """The gradients of outputs, which come in, and those of arguments, which are stored."""

    _symbol: Any
    _program: Program
    _reqs: Sequence[str]
    _ones: Any
    grad_arrays: list[Any]
    _shapes: Any
    _dtypes: Any

    def _needs_no_gradient(self, number):
        """Whether an output is that of a loss, which does not look at its gradient, or sends nothing back."""
        node = self._symbol._entries[number][0]
        if node.is_variable:
            return False
        if node.op.name == 'Custom':
            return not node.op.complete(node.attributes)['definition'].prop.need_top_grad_
        return node.op.name in _LOSSES or self._sends_nothing_back(number)

    def _sends_nothing_back(self, number):
        """Whether an output is that of an operator without a gradient."""
        node, facts = self._symbol._entries[number][0], _infer.infer(
            self._symbol._entries, self._shapes(), self._dtypes(), default_dtype=torch.float32)
        return not node.is_variable and not _infer.has_gradient(node, [facts.shape(e) for e in node.inputs],
                                                                [facts.dtype(e) for e in node.inputs])

    def _head_gradients(self, out_grads, outputs):
        """A gradient for every output: the given one, else ones."""
        if isinstance(out_grads, NDArrayBase):
            out_grads = [out_grads]
        elif isinstance(out_grads, (list, tuple)) and not out_grads:
            out_grads = None                # what old modules say for outputs that are all losses
        elif isinstance(out_grads, dict):
            out_grads = [out_grads[n] for n in self._symbol.list_outputs()]
        if out_grads is None:
            key = [(o.shape, o.dtype, o.device) for o in outputs]
            if self._ones is None or self._ones[0] != key:
                self._ones = key, [torch.ones_like(o, requires_grad=False) for o in outputs]
            return self._ones[1]
        heads = []
        for i, (given, output) in enumerate(zip_longest(out_grads, outputs)):
            if output is None:
                break                       # more than there are outputs
            if i >= len(out_grads) and not self._needs_no_gradient(i):
                raise MXNetError(f'backward: {len(out_grads)} gradients given for {len(outputs)} outputs, but '
                                 f'{self._symbol.list_outputs()[i]} needs one: it is not the output of a loss')
            # most integers, and operators such as argmax, send nothing back, whatever is given
            if given is None or not output.is_floating_point() and not output.requires_grad \
                    or given.shape != tuple(output.shape) and self._sends_nothing_back(i):
                heads.append(torch.ones_like(output, requires_grad=False))
                continue
            if given.shape != tuple(output.shape):
                raise MXNetError(f'backward: the gradient of output {i} has shape {given.shape}, '
                                 f'the output {tuple(output.shape)}')
            heads.append(given.materialize().detach().to(output.device, output.dtype))
        return heads

    def _store(self, found):
        """Writes or adds gradients, by number of the variable, to their buffers."""
        targets, values = [], []
        for place, buffer, req in zip(self._program.arguments, self.grad_arrays, self._reqs, strict=True):
            if buffer is None or req == 'null' or place not in found:
                continue
            gradient = found[place]
            if buffer._sparse:
                before = buffer.materialize()
                gradient = torch.zeros_like(before) if gradient is None else gradient
                overwrite(buffer, before + gradient if req == 'add' else gradient)
                continue
            target = buffer.materialize().detach()
            if req == 'add':
                if gradient is not None:
                    target.add_(gradient)
            elif gradient is None:
                target.zero_()
            else:
                targets.append(target)
                values.append(gradient)
        with torch.no_grad():
            copy_all(targets, values)


class Memory:
    """How much memory the arrays of an executor take."""

    _symbol: Any
    _program: Program
    _learns: bool
    _shapes: Any
    _dtypes: Any

    def _megabytes(self):
        facts = _infer.infer(self._symbol._entries, self._shapes(), self._dtypes(), default_dtype=torch.float32)

        def size(key):
            shape, dtype = facts.shapes.get(key), facts.dtypes.get(key)
            if shape is None or not _infer.complete(shape):
                return 0
            return torch.empty(shape, dtype=dtype, device='meta').nbytes

        recorded = self._learns and self._needs_history()
        alive = peak = 0
        for call in self._program.calls:
            alive += sum(size((id(call.node), i)) for i in range(call.count))
            peak = max(peak, alive)
            if not recorded:
                alive -= sum(self._value_size(v, size) for v in call.dead)
        return peak // 2 ** 20

    def _value_size(self, value, size):
        for call in self._program.calls:
            if call.first <= value < call.first + call.count:
                return size((id(call.node), value - call.first))
        return 0

    def _needs_history(self):
        return any(n.op is None or n.op.name not in ('BlockGrad',) for n, _ in self._symbol._entries)
