"""Optimizers, by the names that programs and state files know: `mxnet.optimizer.optimizer.SGD` and so on.

The classes are in files of their families: `_base`, `_descent`, `_large_batch`, `_adam`, `_adaptive`, `_updater`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._kinds import explain_methods as _explain_methods
from .._names import suggest_names as _suggest_names
from ..ndarray import abs as NDabs
from ..ndarray import zeros
from ._adam import AdaBound, Adam, Adamax, AMSBound, Nadam
from ._adaptive import FTML, AdaDelta, AdaGrad, Ftrl, RMSProp
from ._base import Optimizer, create, register
from ._descent import DCASGD, NAG, SGD, SGLD, Signum, ccSGD
from ._large_batch import LAMB, LARS, LBSGD
from ._updater import Updater, get_updater

if TYPE_CHECKING:
    from ..ndarray import NDArray

__all__ = ['AMSBound', 'AdaBound', 'AdaDelta', 'AdaGrad', 'Adam', 'Adamax', 'DCASGD', 'FTML', 'Ftrl', 'LAMB', 'LARS',
           'LBSGD', 'NAG', 'NDabs', 'Nadam', 'Optimizer', 'RMSProp', 'SGD', 'SGLD', 'Signum', 'Test', 'Updater',
           'ccSGD', 'create', 'get_updater', 'register']


@register
class Test(Optimizer):
    """For tests of what is around optimizers: adds the gradient to the weight, and keeps a copy as the state."""

    def create_state(self, index: Any, weight: NDArray) -> Any:
        """Zeros, until the first update."""
        return zeros(weight.shape, weight.context)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """weight + rescale_grad * grad"""
        weight[:] += grad * self.rescale_grad
        state[:] = weight


# state files name the classes by this module
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
        if 'create_state' in vars(globals()[_name]):
            _explain_methods(globals()[_name], 'create_state')


_suggest_names(globals())
