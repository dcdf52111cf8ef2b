"""Gradients: `with autograd.record(): ...`, then `loss.backward()`; programs find all of this in `mx.autograd`.

torch's engine below, MXNet's contract above.  `attach_grad` gives an array a `Variable`: an alias of its memory that
requires a gradient (`leaf`), the array that the gradient goes to (`buffer`) and how (`req`).  Only recording code reads
the alias, so nothing is recorded outside `record()` and torch's own grad mode stays as the program set it.

- `switches.py`: the switches of a thread, and scopes that set them
- `variables.py`: gradient variables, hooks, how a gradient is stored
- `passes.py`: `backward`, `grad`
- `functions.py`: `Function`, and the node that custom operators share with it
"""
from .._anomaly import detect_anomaly
from .._ops.core.late_reads import OVERWRITTEN
from .functions import Function, _Bridge, _Switches
from .passes import backward, backward_as_plan, backward_from_array, grad, on_tape
from .switches import (
    _Scope,
    is_recording,
    is_training,
    pause,
    predict_mode,
    record,
    set_recording,
    set_training,
    train_mode,
)
from .variables import LARGE, Variable, adopted, is_sole, mark_variables, written_later
