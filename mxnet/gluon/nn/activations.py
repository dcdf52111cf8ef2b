"""Activations as layers."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from ... import initializer
from ...util import is_np_array
from .._operators import operator
from ..block import HybridBlock

if TYPE_CHECKING:
    from ..._typing import BlockOptions, Init
    from ...gluon.parameter import Parameter

__all__ = ['Activation', 'ELU', 'GELU', 'LeakyReLU', 'PReLU', 'SELU', 'Swish']


class Activation(HybridBlock):
    """relu, sigmoid, tanh, softrelu or softsign.

    >>> mx.gluon.nn.Activation('relu')(mx.nd.array([-1, 2])).asnumpy().tolist()
    [0.0, 2.0]
    """

    def __init__(self, activation: str, **kwargs: Unpack[BlockOptions]) -> None:
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self):
        return self._act_type

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return operator(F, 'Activation')(x, act_type=self._act_type, name='fwd')

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._act_type})'


class LeakyReLU(HybridBlock):
    """x where it is positive, `alpha * x` elsewhere."""

    def __init__(self, alpha: float, **kwargs: Unpack[BlockOptions]) -> None:
        if alpha < 0:
            raise AssertionError(f'alpha of LeakyReLU must not be negative, it is {alpha}')
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return operator(F, 'LeakyReLU')(x, act_type='leaky', slope=self._alpha, name='fwd')

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._alpha})'


_QUARTER = initializer.Constant(0.25)


class PReLU(HybridBlock):
    """A leaky ReLU whose slope is learned: one slope, or one for each of `in_channels` channels."""

    def __init__(self, alpha_initializer: Init = _QUARTER, in_channels: int = 1,
                 **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.alpha: Parameter = self.params.get('alpha', shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F: Any, x: Any, alpha: Any) -> Any:
        return operator(F, 'LeakyReLU')(x, gamma=alpha, act_type='prelu', name='fwd')


class ELU(HybridBlock):
    """x where it is positive, `alpha * (exp(x) - 1)` elsewhere."""

    def __init__(self, alpha: float = 1.0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return operator(F, 'LeakyReLU')(x, act_type='elu', slope=self._alpha)


class SELU(HybridBlock):
    """The exponential unit that scales itself: activations keep mean 0 and variance 1 through many layers."""

    def __init__(self, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return operator(F, 'LeakyReLU')(x, act_type='selu', name='fwd')


class GELU(HybridBlock):
    """x times the probability that a normal variable is below x."""

    def __init__(self, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return operator(F, 'LeakyReLU')(x, act_type='gelu', name='fwd')


class Swish(HybridBlock):
    """`x * sigmoid(beta * x)`."""

    def __init__(self, beta: float = 1.0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x * (F.npx.sigmoid(self._beta * x) if is_np_array() else F.sigmoid(self._beta * x, name='fwd'))
