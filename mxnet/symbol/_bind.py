"""How a symbol is bound to arrays: `Symbol.bind` and `Symbol.simple_bind`."""
import math
import warnings

import numpy
import torch

from .._array import NDArrayBase, wrap
from .._graph.infer import inference as _infer
from .._graph.ir.node import topological
from .._names import kind_of, near
from .._ops.core.dtypes import NAME, torch_dtype
from ..base import MXNetError
from ..context import Context
from ..executor import Executor
from ..ndarray import NDArray, sparse
from ._gradient_storage import gradient_storage

_REQS = ('write', 'add', 'null')
_STYPES = {'1': 'row_sparse', '2': 'csr'}      # how attributes of variables write them


def _requirements(grad_req, names):
    """grad_req in any of its forms, as a list."""
    if isinstance(grad_req, str):
        reqs = [grad_req] * len(names)
    elif isinstance(grad_req, (list, tuple)):
        reqs = list(grad_req)
        if len(reqs) != len(names):
            raise MXNetError(f'{len(reqs)} grad_reqs given for {len(names)} arguments')
    elif isinstance(grad_req, dict):
        reqs = [grad_req.get(n, 'null') for n in names]
    else:
        raise TypeError(f'grad_req must be a string, a list or a dict, not {kind_of(grad_req)}')
    for req in reqs:
        if req not in _REQS:
            raise MXNetError(f"grad_req must be 'write', 'add' or 'null', not {req!r}")
    return reqs


def _arrays(given, names, what, allow_missing=False):
    """Arrays given as a list or a dict, in the order of the names."""
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError(f'{len(given)} {what} given, {len(names)} expected: {", ".join(names)}')
        arrays = list(given)
    elif isinstance(given, dict):
        missing = [n for n in names if n not in given]
        if missing and not allow_missing:
            raise ValueError(f'{what}: {", ".join(missing)} missing')
        arrays = [given.get(n) for n in names]
    else:
        raise TypeError(f'{what} must be a list or a dict of arrays, not {kind_of(given)}')
    for name, array in zip(names, arrays, strict=True):
        if not isinstance(array, NDArrayBase) and not (allow_missing and array is None):
            raise TypeError(f'{what}: {name} must be an array, not {kind_of(array)}')
    return arrays


def bind(symbol, ctx, args, args_grad, grad_req, aux_states, group2ctx):
    """`Symbol.bind`."""
    if not isinstance(ctx, Context):
        raise TypeError(f'the context must be a Context, not {kind_of(ctx)}')
    names, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    arrays = _arrays(args, names, 'args')
    aux = _arrays(aux_states if aux_states is not None else [], states, 'aux_states')
    reqs = _requirements(grad_req, names)
    if args_grad is None:
        grads, reqs = [None] * len(names), ['null'] * len(names)
    else:
        grads = _arrays(args_grad, names, 'args_grad', allow_missing=True)
        reqs = ['null' if g is None else r for g, r in zip(grads, reqs, strict=True)]
    return Executor(symbol, ctx, reqs, group2ctx, arrays, grads, aux)


def simple_bind(symbol, ctx, grad_req, type_dict, stype_dict, group2ctx, shared_arg_names, shared_exec, shared_buffer,
                shapes):
    """`Symbol.simple_bind`."""
    if not isinstance(ctx, Context):
        raise TypeError(f'simple_bind: the context must be a Context, such as mx.cpu(), not {ctx!r}')
    known = {*symbol.list_arguments(), *symbol.list_auxiliary_states()}
    # old programs give options that are no shapes here, such as is_train=False; 1.9.1 passes them over as well
    shapes = {name: shape for name, shape in shapes.items() if name in known or isinstance(shape, (tuple, list))}
    for name, shape in shapes.items():
        if not isinstance(shape, (tuple, list)) or not all(isinstance(n, (int, numpy.integer)) for n in shape):
            raise TypeError(f'simple_bind: the shape of {name} must be a tuple of ints, not {shape!r}')
    names = symbol.list_arguments()
    unknown = [n for n in shapes if n not in names and n not in symbol.list_auxiliary_states()]
    facts = _infer.infer(symbol._entries, {n: s for n, s in shapes.items() if n not in unknown},
                         {n: torch_dtype(d) for n, d in (type_dict or {}).items()}, default_dtype=torch.float32)
    variables, auxiliary = symbol._variables()
    undecided = [f'{n.name}: {facts.shape((n, 0)) or ()}' for n in variables
                 if not _infer.complete(facts.shape((n, 0)))]
    strange = ''.join(f'; there is no argument {n!r}{near(n, names)}' for n in unknown)
    if undecided:
        raise MXNetError(f'simple_bind: these shapes do not follow from those given: {", ".join(undecided)}{strange}')
    if strange:
        warnings.warn(f'simple_bind{strange.replace(";", ":", 1)}. Such shapes are ignored, as in MXNet '
                      f'1.9.1', UserWarning,
                      stacklevel=4)
    reqs = _requirements(grad_req, names)
    new = _Allocation(facts, _contexts(symbol, ctx, group2ctx or {}), ctx, stype_dict or {})
    # only a bind with a buffer shares arrays: those named with the executor, others with the buffer
    shared, shared_grads, shared_states = ({}, {}, {}) if shared_exec is None or shared_buffer is None else \
        (shared_exec.arg_dict, shared_exec.grad_dict, shared_exec.aux_dict)
    named = frozenset(shared_arg_names or ())

    def argument(node):
        if node.name not in named:
            return new(node) if shared_buffer is None else new.from_buffer(shared_buffer, node, node.name)
        if new.fits(shared.get(node.name), node):
            return shared[node.name]
        if node.name in shared:
            raise MXNetError(f'simple_bind: {node.name} has shape {facts.shape((node, 0))}, but '
                             f'{shared[node.name].shape} in the executor that it is shared with')
        return new(node)

    def gradient(node):
        # a gradient with respect to a csr array is like that array
        stype = 'csr' if new.stype(node) == 'csr' else stypes.get(id(node), 'default')
        if node.name in named and new.fits(shared_grads.get(node.name), node, stype):
            return shared_grads[node.name]
        if shared_buffer is None or node.name in named or stype != 'default':
            return new(node, stype)
        return new.from_buffer(shared_buffer, node, f'grad of {node.name}', stype)

    arguments = [n for n in variables if id(n) not in auxiliary]
    args = [argument(n) for n in arguments]
    stypes = gradient_storage(symbol._entries, new.stype)
    grads = [None if r == 'null' else gradient(n) for n, r in zip(arguments, reqs, strict=True)]
    aux = [shared_states[n.name] if new.fits(shared_states.get(n.name), n) else new(n)
           for n in variables if id(n) in auxiliary]
    return Executor(symbol, ctx, reqs, group2ctx, args, grads, aux)


class _Allocation:
    """Makes arrays for variables."""

    def __init__(self, facts, contexts, ctx, stypes):
        self._facts, self._contexts, self._ctx, self._stypes = facts, contexts, ctx, stypes

    def stype(self, node):
        """The storage type of a variable's own array."""
        return self._stypes.get(node.name) or _STYPES.get(node.attrs.get('__storage_type__'), 'default')

    def __call__(self, node, stype=None):
        """Zeros."""
        place, stype = self._contexts.get(id(node), self._ctx), stype or self.stype(node)
        shape, dtype = self._facts.shape((node, 0)), self._facts.dtype((node, 0))
        if stype != 'default':
            return sparse.zeros(stype, shape, place, NAME[dtype])
        return wrap(torch.zeros(shape, dtype=dtype, device=place.torch_device), place, NDArray)

    def fits(self, array, node, stype=None):
        """Whether an array is as the one of a variable must be."""
        return array is not None and array.stype == (stype or self.stype(node)) \
            and array.shape == self._facts.shape((node, 0)) and torch_dtype(array.dtype) is self._facts.dtype((node, 0))

    def from_buffer(self, arrays, node, name, stype=None):
        """An array that shares memory with the one of this name, which is replaced if it is too small."""
        old, stype = arrays.get(name), stype or self.stype(node)
        if self.fits(old, node, stype):
            return old
        shape = self._facts.shape((node, 0))
        if old is not None and old.stype == stype == 'default' and math.prod(shape) <= old.size \
                and old.meta().dtype is self._facts.dtype((node, 0)):
            return wrap(old.materialize().detach().view(-1)[:math.prod(shape)].view(shape), old._ctx, NDArray)
        arrays[name] = self(node, stype)
        return arrays[name]


def _contexts(symbol, ctx, group2ctx):
    """Where each variable's array goes: its own group's context, else that of the first node that takes it."""
    if not group2ctx:
        return {}
    found = {}
    for node in topological(symbol._entries):
        own = group2ctx.get(node.attrs.get('__ctx_group__'))
        if node.is_variable:
            if own is not None:
                found[id(node)] = own
        elif own is not None:
            for child, _ in node.inputs:
                if child.is_variable:
                    found.setdefault(id(child), own)
    return found
