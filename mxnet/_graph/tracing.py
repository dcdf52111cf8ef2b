"""What torch's tracer of some versions lacks: random generators as arguments of calls."""
import threading
from contextlib import contextmanager

import torch
from torch.fx.experimental.proxy_tensor import PythonKeyTracer

_lock = threading.RLock()


@contextmanager
def with_generators():
    """While it lasts, a generator that a traced call is given becomes an attribute of the trace, as tensors do.

    torch 2.13 does so by itself; before, random operators could not be traced.  Nothing else changes for others who
    trace meanwhile.
    """
    with _lock:
        before = PythonKeyTracer.create_arg

        def create_arg(self, a):
            if not isinstance(a, torch.Generator):
                return before(self, a)
            try:
                return before(self, a)
            except NotImplementedError:
                name = self.get_fresh_qualname('_generator')
                setattr(self.root, name, a)
                return self.create_node('get_attr', name, (), {})

        PythonKeyTracer.create_arg = create_arg
        try:
            yield
        finally:
            PythonKeyTracer.create_arg = before
