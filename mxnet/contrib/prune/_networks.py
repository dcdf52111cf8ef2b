"""A Block, a Symbol with parameters, or a Module, as one thing: a graph with arrays."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ... import gluon, ndarray, symbol
from ...base import MXNetError
from ...gluon._to_torch import _graph
from ...io import DataDesc
from ...ndarray import NDArray
from ...symbol import Symbol
from ...symbol._predicting import label_names

NEEDED = 'prune: the network is a Block, (symbol, arguments, states) or a Module, not {what}'


class Network:
    """A graph and its arrays.  `like` gives another graph in the form of the original."""

    def __init__(self, sym: Symbol, arrays: Mapping[str, NDArray], shapes: Mapping[str, tuple[int, ...]],
                 block: Any = None, inputs: list[Any] | None = None) -> None:
        self.symbol, self.arrays, self.block = sym, dict(arrays), block
        self.states = set(sym.list_auxiliary_states())
        self.inputs = [n for n in sym.list_inputs() if n not in self.arrays]
        self.shapes = dict(shapes)
        self._input_symbols = inputs

    @classmethod
    def of(cls, network: Any, data_shapes: Any = None) -> Network:
        if isinstance(network, gluon.Block):
            return cls._of_block(network, data_shapes)
        if isinstance(network, tuple) and len(network) == 3 and isinstance(network[0], Symbol):
            sym, args, aux = network
            arrays = {**args, **aux}
        elif hasattr(network, 'get_params') and hasattr(network, 'symbol'):
            sym = network.symbol
            args, aux = network.get_params()
            arrays = {**args, **aux}
            if data_shapes is None and network.binded:
                data_shapes = {d[0]: tuple(d[1]) for d in network.data_shapes}
        else:
            raise TypeError(NEEDED.format(what=f'a {type(network).__name__}'))
        used = set(sym.list_inputs())
        arrays = {n: a for n, a in arrays.items() if n in used}
        labels = label_names(sym)
        names = [n for n in sym.list_inputs() if n not in arrays and n not in labels]
        return cls(sym, arrays, named_shapes(names, data_shapes))

    @classmethod
    def _of_block(cls, block, data_shapes):
        if isinstance(block, gluon.SymbolBlock):
            inputs, sym = block._cached_graph
            shapes = named_shapes([s.name for s in inputs], data_shapes)
            constants: dict = {}
            _known(block, shapes)
        else:
            if data_shapes is None:
                raise MXNetError('prune: data_shapes are needed to find the graph of a Block, such as '
                                 'data_shapes=(1, 3, 224, 224)')
            given = data_shapes if not isinstance(data_shapes, Mapping) else list(data_shapes.values())
            given = [given] if _is_shape(given) else list(given)
            args = [ndarray.zeros(tuple(s)) for s in given]
            with _predicting():
                block(*args)
            inputs, sym, _, constants = _graph(block, args)
            shapes = dict(zip([s.name for s in inputs], (tuple(s) for s in given), strict=True))
        parameters = {p.name: p for p in block.collect_params().values()}
        used = set(sym.list_inputs())
        arrays = {n: p.list_data()[0] for n, p in parameters.items() if n in used}
        return cls(sym, {**arrays, **{n: a for n, a in constants.items() if n in used}}, shapes, block, inputs)

    def like(self, sym: Symbol, arrays: Mapping[str, NDArray]) -> Any:
        """Another graph with arrays: a SymbolBlock where this is of a Block, else (symbol, arguments, states)."""
        if self.block is None:
            return (sym, {n: a for n, a in arrays.items() if n not in self.states},
                    {n: a for n, a in arrays.items() if n in self.states})
        own = {p.name: p for p in self.block.collect_params().values()}
        inputs = [symbol.var(s.name) for s in self._input_symbols or []]
        block = gluon.SymbolBlock(sym, inputs)
        for name, parameter in block.collect_params().items():
            before = own.get(name)
            if before is not None:
                parameter.grad_req, parameter.lr_mult, parameter.wd_mult = \
                    before.grad_req, before.lr_mult, before.wd_mult
            else:
                parameter.grad_req = 'null'
            ctx = before.list_ctx() if before is not None else [arrays[name].context]
            parameter._load_init(arrays[name], ctx, cast_dtype=True, dtype_source='saved')
        return block


def _predicting():
    from ... import autograd
    return autograd.pause(train_mode=False)


def _known(block, shapes):
    """Parameters whose shapes are open get them from a run."""
    if shapes and any(p._deferred is not None for p in block.collect_params().values()):
        with _predicting():
            block(*[ndarray.zeros(s) for s in shapes.values()])


def _is_shape(value):
    return isinstance(value, tuple) and all(isinstance(n, int) for n in value)


def named_shapes(names: list[str], given: Any) -> dict[str, tuple[int, ...]]:
    """{name: shape} of what a program gives as the shapes of the inputs."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {n: tuple(s) for n, s in given.items()}
    if _is_shape(given):
        given = [given]
    found = {}
    for i, one in enumerate(given):
        if isinstance(one, DataDesc) or len(one) == 2 and isinstance(one[0], str):
            found[one[0]] = tuple(one[1])
        elif i < len(names):
            found[names[i]] = tuple(one)
        else:
            raise MXNetError(f'prune: {len(given)} data_shapes are given, but the inputs are {", ".join(names)}')
    return found


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name, of a layer with or without the `_fwd` of Gluon, is one of the patterns."""
    names = (name, name.removesuffix('_fwd'))
    return any(p in names or any(re.fullmatch(p, n) for n in names) for p in patterns)


def checked(sparsity: float) -> float:
    """A share, as a number."""
    if not 0 <= sparsity < 1:
        raise ValueError(f'sparsity is a share from 0 to below 1, not {sparsity}')
    return float(sparsity)
