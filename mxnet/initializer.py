"""How parameters begin: `mx.init`.

>>> weight = mx.nd.zeros((3, 2))
>>> mx.init.Constant(0.5)(mx.init.InitDesc('fc1_weight'), weight)
>>> weight
<BLANKLINE>
[[0.5 0.5]
 [0.5 0.5]
 [0.5 0.5]]
<NDArray 3x2 @cpu(0)>

An initializer looks at a parameter's name: what ends in `weight` gets the initializer's own values; `bias` and `beta`
are 0, `gamma` is 1.  A variable may bring an initializer of its own (`mx.sym.var('w', init=mx.init.One())`), which
comes first.
"""
from __future__ import annotations

import json
import logging
import math
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy
import torch

from . import ndarray, random, registry
from ._array import NDArrayBase
from ._kinds import explain_kinds as _explain_kinds
from ._kinds import explain_methods as _explain_methods
from ._names import explain_arguments, kind_of, set_by_init
from ._names import label_hint as _label_hint
from ._names import suggest_names as _suggest_names
from ._ops.core import shapes as _shapes
from ._typing import any_signature
from .base import FileError
from .ndarray import NDArray

if TYPE_CHECKING:
    from ._typing import Path

__all__ = ['Bilinear', 'Constant', 'FusedRNN', 'InitDesc', 'Initializer', 'LSTMBias', 'Load', 'MSRAPrelu', 'Mixed',
           'Normal', 'One', 'Orthogonal', 'Uniform', 'Xavier', 'Zero', 'alias', 'create', 'register']

UNKNOWN = ('{name}: no rule says how it begins. By their names only parameters that end in weight, bias, gamma, beta, '
           'min or max have one. Give the variable an initializer: mx.sym.var({name!r}, init=mx.init.Zero()).')
LEGACY = ('an initializer is called with a name, {name!r}, which is deprecated; '
          'call it with mx.init.InitDesc({name!r}) instead')

# endings of names, in the order in which they are tried, and the method that fills such a parameter
_RULES = (('weight', '_init_weight'), ('bias', '_init_bias'), ('gamma', '_init_gamma'), ('beta', '_init_beta'),
          ('min', '_init_zero'), ('max', '_init_one'), ('weight_quantize', '_init_quantized_weight'),
          ('bias_quantize', '_init_quantized_bias'))
# the same for plain names, as programs before InitDesc passed them
_LEGACY_RULES = (('bias', '_init_bias'), ('gamma', '_init_gamma'), ('beta', '_init_beta'), ('weight', '_init_weight'),
                 ('moving_mean', '_init_zero'), ('moving_var', '_init_one'), ('moving_inv_var', '_init_zero'),
                 ('moving_avg', '_init_zero'), ('min', '_init_zero'), ('max', '_init_one'))


class InitDesc(str):
    """The name of a parameter, with its attributes and the initializer that stands in where they name none."""

    attrs: Mapping[str, str]
    global_init: Initializer | None

    def __new__(cls, name: str, attrs: Mapping[str, str] | None = None, global_init: Initializer | None = None) -> Self:
        desc = super().__new__(cls, name)
        desc.attrs = attrs or {}
        desc.global_init = global_init
        return desc


class Initializer:
    """The base class of initializers.

    One of your own defines `_init_weight(self, name, arr)`, which fills `arr`, and may define `_init_bias`,
    `_init_gamma`, `_init_beta` and `_init_default` for the other names.  It passes its arguments to `__init__`, so that
    `dumps` can write them down.
    """

    _kwargs = _verbose = _print_func = set_by_init()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        explain_arguments(cls)

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs
        self._verbose = False
        self._print_func = None

    def set_verbosity(self, verbose: bool = False, print_func: Callable[..., Any] | None = None) -> Self:
        """Logs what is initialized, with `print_func(array)`; by default its root mean square."""
        self._verbose = verbose
        self._print_func = print_func or _root_mean_square
        return self

    def _verbose_print(self, desc, init, arr):
        if self._verbose and self._print_func:
            logging.info('Initialized %s as %s: %s', desc, init, self._print_func(arr))

    def dumps(self) -> str:
        """The initializer as JSON, from which `create` makes one like it.

        >>> mx.init.Normal(0.5).dumps()
        '["normal", {"sigma": 0.5}]'
        """
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, desc: Any, arr: NDArray) -> None:
        """Fills an array as its `InitDesc` says."""
        if not isinstance(desc, InitDesc):
            self._legacy_init(desc, arr)
            return
        if desc.global_init is None:
            desc.global_init = self
        own = desc.attrs.get('__init__', '')
        if own:
            create(own)._init_weight(desc, arr)
            self._verbose_print(desc, own, arr)
            return
        for ending, method in _RULES:
            if desc.endswith(ending):
                getattr(self, method)(desc, arr)
                self._verbose_print(desc, ending, arr)
                return
        self._init_default(desc, arr)

    def _legacy_init(self, name, arr):
        warnings.warn(LEGACY.format(name=name), DeprecationWarning, stacklevel=4)
        if not isinstance(name, str):
            raise TypeError(f'the name of a parameter must be a string, not {kind_of(name)}')
        if not isinstance(arr, NDArray):
            raise TypeError(f'{name}: only an NDArray can be initialized, not {kind_of(arr)}')
        if name.startswith('upsampling'):
            self._init_bilinear(name, arr)
        elif name.startswith('stn_loc') and name.endswith('weight'):
            self._init_zero(name, arr)
        elif name.startswith('stn_loc') and name.endswith('bias'):
            self._init_loc_bias(name, arr)
        else:
            method = next((m for ending, m in _LEGACY_RULES if name.endswith(ending)), '_init_default')
            getattr(self, method)(name, arr)

    def _init_bilinear(self, _, arr):
        arr[:] = _bilinear(arr.shape)

    def _init_loc_bias(self, name, arr):
        if arr.shape[0] != 6:
            raise AssertionError(f'{name}: the bias of a localization network has 6 values, not {arr.shape[0]}')
        arr[:] = numpy.array([1.0, 0, 0, 0, 1.0, 0])        # the transformation that changes nothing

    def _init_zero(self, _, arr):
        _set_zeros(arr)

    def _init_one(self, _, arr):
        arr[:] = 1.0

    _init_bias = _init_beta = _init_quantized_bias = _init_zero
    _init_gamma = _init_one

    @any_signature
    def _init_weight(self, name, arr):
        raise NotImplementedError(f'{type(self).__name__} does not define _init_weight')

    def _init_quantized_weight(self, _, arr):
        arr[:] = random.randint(-127, 127, shape=arr.shape, dtype='int32').astype('int8')

    def _init_default(self, name: Any, arr: Any) -> None:
        raise ValueError(UNKNOWN.format(name=str(name)) + _label_hint(str(name)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Initializer):
            return NotImplemented
        return type(self) is type(other) and self._kwargs == other._kwargs


def _root_mean_square(array):
    return str((ndarray.norm(array) / math.sqrt(array.size)).asscalar())


_Class = TypeVar('_Class')
_register = registry.get_register_func(Initializer, 'initializer')
alias = registry.get_alias_func(Initializer, 'initializer')
create = registry.get_create_func(Initializer, 'initializer')


def register(klass: _Class) -> _Class:
    """A class decorator: the initializer can be made by its lower-case name from then on.

    >>> @mx.init.register
    ... class Tenths(mx.init.Initializer):
    ...     def _init_weight(self, name, arr):
    ...         arr[:] = 0.1
    >>> mx.init.create('tenths').dumps()
    '["tenths", {}]'
    """
    return _register(klass)


class Load:
    """Takes parameters from a file or a dict, whose names may begin with `arg:` or `aux:`, else from `default_init`."""

    def __init__(self, param: Path | Mapping[str, NDArray], default_init: Any = None,
                 verbose: bool = False) -> None:
        where = ''
        if isinstance(param, (str, os.PathLike)):
            where, param = f'{os.fspath(param)}: ', ndarray.load(param)
        if not isinstance(param, dict):
            raise FileError(f'{where}Load takes a dict of arrays or a file with one, not {kind_of(param)}')
        self.param: Any
        self.param = {name[4:] if name.startswith(('arg:', 'aux:')) else name: array for name, array in param.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name: Any, arr: NDArray) -> None:
        if name in self.param:
            found = self.param[name]
            if arr.shape != found.shape:
                raise AssertionError(f'{name} has shape {arr.shape}, but {found.shape} where it is loaded from')
            arr[:] = found
        elif self.default_init is None:
            raise AssertionError(f'{name} is not among the loaded parameters, and there is no default_init')
        else:
            self.default_init(name, arr)
        if self.verbose:
            logging.info('Initialized %s by %s', name, 'loading' if name in self.param else 'default')


class Mixed:
    """Chooses an initializer by regular expressions, the first that matches the beginning of a parameter's name.

    >>> mixed = mx.init.Mixed(['.*bias', '.*'], [mx.init.Zero(), mx.init.Uniform(0.1)])
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Initializer]) -> None:
        if len(patterns) != len(initializers):
            raise AssertionError(f'Mixed needs an initializer for each pattern; there are {len(patterns)} patterns and '
                                 f'{len(initializers)} initializers')
        self.map: Any = [(re.compile(pattern), init) for pattern, init in zip(patterns, initializers)]

    def __call__(self, name: Any, arr: NDArray) -> None:
        for pattern, init in self.map:
            if pattern.match(name):
                init(name, arr)
                return
        raise ValueError(f'{name} matches none of the patterns {", ".join(repr(p.pattern) for p, _ in self.map)}; '
                         "a last pattern '.*' would take all others")


# ---------------------------------------------------------------------- constants
def _set_zeros(arr):
    if arr.stype == 'default':
        arr[:] = 0
    else:
        arr._clear()            # `arr[:] = 0` would store every row of a row_sparse weight


@register
@alias('zeros')
class Zero(Initializer):
    """Weights are 0."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, _, arr):
        _set_zeros(arr)


@register
@alias('ones')
class One(Initializer):
    """Weights are 1."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, _, arr):
        arr[:] = 1


@register
class Constant(Initializer):
    """Weights are `value`, a number or an array of their shape."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, _, arr):
        arr[:] = self.value

    def dumps(self) -> str:
        """The initializer as JSON, from which `create` makes one like it."""
        value = self._kwargs['value']
        if isinstance(value, (NDArrayBase, numpy.ndarray, numpy.generic)):
            self._kwargs['value'] = value.tolist()      # type: ignore[union-attr]
        return super().dumps()

    def __eq__(self, other: object) -> bool:
        # arrays cannot be compared as numbers are
        return type(self) is type(other) and self.dumps() == other.dumps()


# ---------------------------------------------------------------------- random numbers
@register
class Uniform(Initializer):
    """Weights are uniformly distributed between -scale and scale."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, _, arr):
        random.uniform(-self.scale, self.scale, arr.shape, out=arr)


@register
class Normal(Initializer):
    """Weights are normally distributed around 0 with standard deviation `sigma`."""

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, _, arr):
        random.normal(0, self.sigma, arr.shape, out=arr)


@register
class Orthogonal(Initializer):
    """Weights are an orthogonal matrix times `scale`: https://arxiv.org/abs/1312.6120

    Axes after the first count as one.  `rand_type` ('uniform' or 'normal') is what the matrix is made from.
    """

    def __init__(self, scale: float = 1.414, rand_type: str = 'uniform') -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name, arr):
        shape = (arr.shape[0], math.prod(arr.shape[1:]))
        if self.rand_type == 'uniform':
            drawn = random.uniform(-1.0, 1.0, shape=shape)
        elif self.rand_type == 'normal':
            drawn = random.normal(0.0, 1.0, shape=shape)
        else:
            raise ValueError(f"{name}: rand_type of Orthogonal must be 'uniform' or 'normal', not {self.rand_type!r}")
        left, _, right = torch.linalg.svd(drawn.materialize().cpu(), full_matrices=False)
        matrix = left if tuple(left.shape) == shape else right
        arr[:] = (matrix * self.scale).numpy().reshape(arr.shape)


@register
class Xavier(Initializer):
    """Weights are random with variance magnitude / (3 n) ('uniform') or magnitude / n ('gaussian').

    n is what a unit takes in (`factor_type='in'`), what it feeds ('out'), or the mean of both ('avg'), so that
    signals keep their size from layer to layer.  Proposed by Glorot and Bengio.
    """

    def __init__(self, rnd_type: str = 'uniform', factor_type: str = 'avg', magnitude: float = 3) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name, arr):
        shape = arr.shape
        if len(shape) < 2:
            raise ValueError(f'{name} has shape {shape}; {type(self).__name__} is for arrays of 2 or more axes')
        window = math.prod(shape[2:])
        fan_in, fan_out = shape[1] * window, shape[0] * window
        factors = {'avg': (fan_in + fan_out) / 2, 'in': fan_in, 'out': fan_out}
        if self.factor_type not in factors:
            raise ValueError(f"factor_type must be 'avg', 'in' or 'out', not {self.factor_type!r}")
        scale = math.sqrt(self.magnitude / factors[self.factor_type])
        if self.rnd_type == 'uniform':
            random.uniform(-scale, scale, shape, out=arr)
        elif self.rnd_type == 'gaussian':
            random.normal(0, scale, shape, out=arr)
        else:
            raise ValueError(f"rnd_type must be 'uniform' or 'gaussian', not {self.rnd_type!r}")


@register
class MSRAPrelu(Xavier):
    """Weights for layers before ReLU or PReLU, whose slope begins at `slope`: https://arxiv.org/abs/1502.01852"""

    def __init__(self, factor_type: str = 'avg', slope: float = 0.25) -> None:
        super().__init__('gaussian', factor_type, 2 / (1 + slope ** 2))
        self._kwargs = {'factor_type': factor_type, 'slope': slope}


# ---------------------------------------------------------------------- for certain layers
def _bilinear(shape):
    """The weights of a Deconvolution that interpolates, the same for all channels."""
    half = math.ceil(shape[3] / 2)
    centre = (2 * half - 1 - half % 2) / (2 * half)
    rows, columns = ((1 - abs(numpy.arange(n) / half - centre)) for n in shape[2:])
    return numpy.broadcast_to(numpy.outer(rows, columns), shape).astype('float32')


@register
class Bilinear(Initializer):
    """Weights of a Deconvolution that enlarges pictures by bilinear interpolation."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, _, arr):
        arr[:] = _bilinear(arr.shape)


@register
class LSTMBias(Initializer):
    """All biases of an LSTM cell are 0, but those of the forget gate, which are `forget_bias`."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, _, arr):
        arr[:] = 0.0
        gate = arr.shape[0] // 4
        arr[gate:2 * gate] = self.forget_bias       # the second of four


_GATES = {'rnn_relu': ('',), 'rnn_tanh': ('',), 'lstm': ('_i', '_f', '_c', '_o'), 'gru': ('_r', '_z', '_o')}


@register
class FusedRNN(Initializer):
    """Fills the one parameter of a fused recurrent layer: each gate's matrices and biases for themselves.

    `init` fills them, or the initializer of the whole network if it is None; the other arguments are those of
    FusedRNNCell.
    """

    def __init__(self, init: Any, num_hidden: int, num_layers: int, mode: str, bidirectional: bool = False,
                 forget_bias: float = 1.0) -> None:
        if mode not in _GATES:
            raise ValueError(f'mode must be one of {", ".join(_GATES)}, not {mode!r}')
        if isinstance(init, str):
            init = create(init)
        super().__init__(init=None if init is None else init.dumps(), num_hidden=num_hidden, num_layers=num_layers,
                         mode=mode, bidirectional=bidirectional, forget_bias=forget_bias)
        self._init = init
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._forget_bias = forget_bias

    def _init_weight(self, desc, arr):
        network = getattr(desc, 'global_init', None)
        init = network if self._init is None else self._init
        if init is None:
            raise ValueError(f'{desc}: FusedRNN without init needs the initializer of the network')
        for name, part in self._parts(desc, arr):
            if self._mode == 'lstm' and name.endswith('_f_bias'):
                part[:] = self._forget_bias
            else:
                init(InitDesc(name, global_init=network), part)

    def _parts(self, desc, arr):
        """(name, slice of the flat array) of each gate, in the order of the RNN operator."""
        hidden, layers = self._num_hidden, self._num_layers
        gates, directions = _GATES[self._mode], ('l', 'r') if self._bidirectional else ('l',)
        columns = arr.size // (len(directions) * len(gates) * hidden)
        features = columns - (hidden + 2) - (layers - 1) * (hidden * (len(directions) + 1) + 2)
        stack = _shapes.rnn_layers(features, hidden, layers, len(directions), self._mode, None)
        if features < 1 or _shapes.rnn_parameters(stack) != arr.size:
            raise ValueError(f'{desc} of {arr.size} values cannot belong to a recurrent layer with {self._kwargs}')
        names = [f'{direction}{layer}' for layer in range(layers) for direction in directions]
        parts: list[tuple[str, tuple[int, ...]]] = [
            (f'{name}_{kind}{gate}_weight', (hidden, matrix[1])) for name, layer in zip(names, stack)
            for kind, matrix in zip(('i2h', 'h2h'), layer.matrices) for gate in gates]
        parts += [(f'{name}_{kind}{gate}_bias', (hidden,)) for name in names for kind in ('i2h', 'h2h')
                  for gate in gates]
        start = 0
        for name, shape in parts:
            end = start + math.prod(shape)
            yield name, arr[start:end].reshape(shape)
            start = end


_explain_kinds(globals(), ('Mixed', 'Load'))
_explain_methods(Initializer, 'set_verbosity __call__')
_explain_methods(Load, '__call__')
_explain_methods(Mixed, '__call__')
_suggest_names(globals())
