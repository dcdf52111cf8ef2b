"""Gradients: `with autograd.record(): ...`, then `loss.backward()`; programs find all of this in `mx.autograd`.

torch's engine below, MXNet's contract above.  `attach_grad` gives an array a `Variable`: an alias of its memory that
requires a gradient (`leaf`), the array that the gradient goes to (`buffer`) and how (`req`).  Only recording code reads
the alias, so nothing is recorded outside `record()` and torch's own grad mode stays as the program set it.

- `tape.py`: the switches of a thread, gradient variables, `backward`: what each training step runs is in one file
- `higher.py`: `grad`
- `functions.py`: `Function`, and the node that custom operators share with it
"""
from .._anomaly import detect_anomaly
from .._ops.core.late_reads import OVERWRITTEN
from .functions import Function, _Bridge, _Switches
from .higher import grad
from .tape import (
    LARGE,
    Variable,
    _Scope,
    adopted,
    backward,
    backward_as_plan,
    backward_from_array,
    is_recording,
    is_sole,
    is_training,
    mark_variables,
    on_tape,
    pause,
    predict_mode,
    record,
    set_recording,
    set_training,
    train_mode,
    written_later,
)
