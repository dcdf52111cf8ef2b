"""torch's autograd engine without its checks, version counters that are set back, histories that are taken away."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd import set_multithreading_enabled

from .switch import private

# ---------------------------------------------------------------------- the engine
# It would run the nodes of a GPU in threads of its own.  Hooks and nodes read the state of the thread that goes back
# (`state.heads`, `state.wanted`, `state.commits`), so all of them run there.  Nodes of a CPU do in any case.
_ENGINE = private('autograd.Variable._execution_engine', None, lambda engine: hasattr(engine, 'run_backward'))
_is_initialized = (lambda: True) if torch.backends.mps.is_built() else torch.cuda.is_initialized


def unchecked(tensors: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None], retain_graph: bool | None,
              create_graph: bool, inputs: Sequence[torch.Tensor], accumulate: bool) -> Any:
    """The engine itself.  What `checked` does before costs as much as a small graph, and imports torch's compiler."""
    return _ENGINE.run_backward(tuple(tensors), tuple(gradients), retain_graph, create_graph, tuple(inputs),
                                allow_unreachable=True, accumulate_grad=accumulate)


def checked(tensors: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None], retain_graph: bool | None,
            create_graph: bool, inputs: Sequence[torch.Tensor], accumulate: bool) -> Any:
    """The public functions."""
    if accumulate:
        return torch.autograd.backward(tensors, gradients, retain_graph=retain_graph, create_graph=create_graph)
    return torch.autograd.grad(tensors, inputs, gradients, retain_graph=retain_graph, create_graph=create_graph,
                               allow_unused=True)


_engine = checked if _ENGINE is None else unchecked


def run_backward(tensors: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None], retain_graph: bool | None,
                 create_graph: bool, inputs: Sequence[torch.Tensor], accumulate: bool) -> Any:
    """Runs torch's engine in this thread."""
    if not _is_initialized():
        return _engine(tensors, gradients, retain_graph, create_graph, inputs, accumulate)
    with set_multithreading_enabled(False):
        return _engine(tensors, gradients, retain_graph, create_graph, inputs, accumulate)


def gradients_of(tensors: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor],
                 gradients: Sequence[torch.Tensor | None]) -> Any:
    """The gradients of `inputs`, None for those that nothing depends on, where those of `tensors` are given."""
    return run_backward(tensors, gradients, False, False, inputs, False)


# whether the engine was told to keep the graph; where it cannot be asked, nothing is let go early
keeps_graph = private('_C._autograd._get_current_graph_task_keep_graph', lambda: True)

# ---------------------------------------------------------------------- hooks
def _before_node(result: torch.Tensor, hook: Callable[[Any], None]) -> None:
    result.grad_fn.register_prehook(hook)           # type: ignore[union-attr]


def _before_tensor(result: torch.Tensor, hook: Callable[[Any], None]) -> None:
    # as Tensor.register_hook for the first hook of a new tensor, without a handle to remove it
    hooks = result._backward_hooks = OrderedDict()  # type: ignore[assignment]
    hooks[0] = hook
    result.grad_fn._register_hook_dict(result)      # type: ignore[union-attr]


# before(result, hook): has the engine call `hook` before it runs the node of a new result, with anything as argument.
# The private form takes a quarter of the time.  It also calls the hook where the gradient of the result itself is
# wanted; the hook must return None.
before = private('Tensor._backward_hooks', _before_node)
if before is not _before_node:
    before = _before_tensor


def reaches(heads: Sequence[torch.Tensor], variable: torch.Tensor) -> bool:
    """Whether there is a way from `heads` to a variable, be it through operators without a gradient."""
    waiting, seen = [head.grad_fn for head in heads], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        if node is variable.grad_fn or getattr(node, 'variable', None) is variable:
            return True
        seen.add(node)
        waiting += [below for below, _ in node.next_functions]
    return False


# ---------------------------------------------------------------------- version counters
# A context that sets version counters back to what they were, with `tensors` and `prev_versions`.  Without it, a write
# inside `autograd.pause()` within `record()` into an array that `backward` needs is an error, as other writes are.
PreservedVersion = private('autograd._unsafe_preserve_version_counter', None)

# ---------------------------------------------------------------------- histories
_swap = private('_C._swap_tensor_impl', None)


def take_history(tensor: torch.Tensor) -> bool:
    """Makes a view its own detached alias; False where that cannot be done: torch says then that its graph is gone."""
    if _swap is None:
        return False
    try:
        _swap(tensor, tensor.detach())
    except RuntimeError:
        return False
    return True
