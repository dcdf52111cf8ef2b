import numpy, torch
from .._array import NDArrayBase, wrap
from .._ops.dtypes import torch_dtype, NUMPY, NAME
from ..context import current_context
from .. import autograd as _autograd

class NDArray(NDArrayBase):
    __slots__ = ()
    shape = property(lambda s: tuple(s._tensor.shape))
    dtype = property(lambda s: NUMPY[NAME[s._tensor.dtype]])
    ctx = context = property(lambda s: s._ctx)
    stype = 'default'
    def asnumpy(self):
        return self._tensor.detach().cpu().numpy().copy()
    def attach_grad(self, grad_req='write', stype=None):
        g = wrap(torch.zeros_like(self._tensor), self._ctx, NDArray)
        _autograd.mark_variables([self], [g], [grad_req])
    @property
    def grad(self):
        return None if self._variable is None else self._variable.buffer
    def backward(self, out_grad=None, retain_graph=False, train_mode=True):
        _autograd.backward([self], None if out_grad is None else [out_grad], retain_graph, train_mode)
    def copy(self):
        return wrap(self._tensor.clone(), self._ctx, NDArray)

def array(source_array, ctx=None, dtype=None):
    a = numpy.array(source_array, dtype=dtype or numpy.float32)
    return wrap(torch.from_numpy(a), ctx or current_context(), NDArray)
