"""Thread-local switches that decide how an operator call behaves.

Plain attributes of one `threading.local`, because every operator call reads them: `recording` and `training` belong to
`mx.autograd`, `np_shape` and `np_array` to `mx.util`, `context` to `with ctx:`, `bulk_size` to `mx.engine`.
`interceptors` are those of this thread alone, `entered` the call of the API that is being entered (_dispatch.py);
`draws` are the steps that are deferred and will draw random numbers when they run (_lazy/step.py); `batch_generators`
are the generators of the batch that a loader makes in this thread (gluon/data/_seeds.py); `writes` is the list of what
was written inside a pause of a recording (_paused_writes.py), or None; `moves` whether a backward pass moves averages
(_graph/codegen/states.py), `wanted` the tensors that `autograd.grad` differentiates with respect to, while it runs;
`commits` collects the writes of a backward pass, which happen once it has succeeded, and `heads` are the tensors it
started from (autograd.py).  `truth` is what `remx run` answers for `if array:` of several elements, `shorter`
what it does with a reshape to fewer elements, `kept` is called where it keeps an axis that `SliceChannel` cannot drop.
`naive` turns all deferral off: see `mxnet.engine`.
"""
import os
import threading
from collections.abc import Sequence
from typing import Any


class State(threading.local):
    recording = False
    training = False
    np_shape = False
    np_array = False
    context: Any = None
    bulk_size = 0
    interceptors: tuple[Any, ...] = ()
    entered: Any = None
    draws: tuple[Any, ...] = ()
    batch_generators: Any = None
    writes: Any = None
    moves = True
    wanted: Any = None
    commits: Any = None
    heads: Sequence[Any] = ()
    truth: Any = None
    shorter: Any = None
    kept: Any = None
    naive = os.environ.get('MXNET_ENGINE_TYPE') == 'NaiveEngine'


state = State()
