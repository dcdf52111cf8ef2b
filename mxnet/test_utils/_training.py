"""Checks of optimizers and of blocks."""
from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from .. import autograd
from .. import ndarray as nd
from ..context import current_context
from ..util import use_np
from ._compare import assert_almost_equal, compare_ndarray_tuple
from ._generate import rand_ndarray

if TYPE_CHECKING:
    from .._typing import DType, Shape

__all__ = ['check_gluon_hybridize_consistency', 'compare_optimizer']


def _pair(shape, dtype, stype, **options):
    """A random array of a storage type, and a dense copy."""
    if stype == 'default':
        array = nd.random.uniform(shape=shape, ctx=current_context(), dtype=dtype)
    else:
        array = rand_ndarray(shape, stype, dtype=dtype, **options)
    return array.copyto(current_context()).tostype('default'), array


def compare_optimizer(opt1: Any, opt2: Any, shape: Shape, dtype: DType, w_stype: str = 'default',
                      g_stype: str = 'default', rtol: float | None = 1e-4, atol: float | None = 1e-5,
                      compare_states: bool = True, ntensors: int = 1) -> None:
    """One step of two optimizers on the same weights must lead to the same weights and states.

    For a list of shapes, the second optimizer updates all weights in one call, the first one by one.
    """
    if isinstance(shape, list):
        _compare_together(opt1, opt2, shape, dtype, rtol, atol, compare_states, ntensors)
        return
    if ntensors != 1:
        raise AssertionError('several tensors need a list of shapes')
    weight1, weight2 = _pair(shape, dtype, w_stype, density=1)
    gradient1, gradient2 = _pair(shape, dtype, g_stype)
    state1 = opt1.create_state_multi_precision(0, weight1)
    state2 = opt2.create_state_multi_precision(0, weight2)
    if compare_states:
        compare_ndarray_tuple(state1, state2)
    opt1.update_multi_precision(0, weight1, gradient1, state1)
    opt2.update_multi_precision(0, weight2, gradient2, state2)
    if compare_states:
        compare_ndarray_tuple(state1, state2, rtol=rtol, atol=atol)
    assert_almost_equal(weight1, weight2, rtol=rtol, atol=atol)


def _compare_together(opt1, opt2, shapes, dtype, rtol, atol, compare_states, ntensors):
    weights = tuple(_pair(shape, dtype, 'default')[0] for shape in shapes)
    gradients = tuple(_pair(shape, dtype, 'default')[0] for shape in shapes)
    together = deepcopy(weights)
    states = [opt2.create_state_multi_precision(0, together[i]) for i in range(ntensors)]
    opt2.update_multi_precision(list(range(ntensors)), together, deepcopy(gradients), states)
    for i in range(ntensors):
        state = opt1.create_state_multi_precision(i, weights[i])
        opt1.update_multi_precision(i, weights[i], gradients[i], state)
        if compare_states:
            compare_ndarray_tuple(state, states[i], rtol, atol)
        compare_ndarray_tuple(weights[i], together[i], rtol, atol)


@use_np
def check_gluon_hybridize_consistency(net_builder: Any, data_l: Any, numpy_func: Any = None, test_grad: bool = True,
                                      rtol: float | None = 1E-4, atol: float | None = 1E-4) -> None:
    """Compares outputs and input gradients of a block with and without `hybridize()`, and outputs with `numpy_func`.

    `net_builder(prefix=...)` makes the block, which must draw no random numbers; `data_l` are its inputs.
    """
    from ..initializer import Initializer

    class Same(Initializer):
        """Gives a block the parameters of another."""

        def __init__(self, values):
            super().__init__()
            self._values = values

        def _init_weight(self, name, arr):
            arr[()] = self._values[name]

    output = gradients = parameters = None
    for hybridize in (False, True):
        for use_autograd in (False, True) if test_grad else (False,):
            net = net_builder(prefix='net_')
            net.initialize(*([] if parameters is None else [parameters]))
            if hybridize:
                net.hybridize()
            inputs = [x.copy() for x in data_l]
            if use_autograd:
                for x in inputs:
                    x.attach_grad()
                with autograd.record():
                    result = net(*inputs)
                result.backward(result)
            else:
                result = net(*inputs)
            if parameters is None:
                parameters = Same({name: p.data().asnumpy() for name, p in net.collect_params().items()})
                output = result.asnumpy()
            assert_almost_equal(result, output, rtol=rtol, atol=atol)
            if use_autograd:
                if gradients is None:
                    gradients = [x.grad.asnumpy() for x in inputs]
                for x, gradient in zip(inputs, gradients, strict=True):
                    assert_almost_equal(x.grad, gradient, rtol=rtol, atol=atol)
    if numpy_func is not None:
        assert_almost_equal(output, numpy_func(*[x.asnumpy() for x in data_l]), rtol=rtol, atol=atol)
