"""Stochastic variance reduced gradients (Johnson and Zhang, 2013) for modules.

Now and then the gradient of all data is computed and kept beside the weights it belongs to.  A batch then says only by
how much its gradient differs from that of the kept weights, which has less variance than the gradient itself: learning
rates can stay large to the end.
"""
from . import svrg_module, svrg_optimizer

__all__ = ['svrg_module', 'svrg_optimizer']
