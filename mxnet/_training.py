"""Checkpoints and updates of parameters: what `mx.model`, modules and callbacks share."""
from __future__ import annotations

import logging
import os
import warnings
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numpy

from . import kvstore as _kvstore
from . import ndarray
from . import symbol as _symbol
from ._files import paths
from ._names import kind_of
from .base import FileError
from .context import cpu
from .ndarray import NDArray

if TYPE_CHECKING:
    from .symbol import Symbol


BatchEndParam: Any = namedtuple('BatchEndParam', ['epoch', 'nbatch', 'eval_metric', 'locals'])
BatchEndParam.__doc__ = 'What callbacks get after a batch: where training stands, and the local names of the loop.'

# beyond this many elements of a parameter, devices update their own copies instead of fetching it from the store
_LARGE = 16 << 20


# ---------------------------------------------------------------------- checkpoints
def save_checkpoint(prefix: str, epoch: int, symbol: Symbol | None, arg_params: Any,
                    aux_params: Any, remove_amp_cast: bool = True) -> None:
    """Writes `prefix-symbol.json` (unless the symbol is None) and, for epoch 3, `prefix-0003.params`.

    remove_amp_cast: casts that mixed precision has inserted are left out

    The files appear together or, if the process is killed before, not at all; see docs/en/module.md.
    """
    name = params_name(prefix, epoch)
    for what, params in (('arg_params', arg_params), ('aux_params', aux_params)):
        if not hasattr(params, 'items'):
            raise TypeError(f'save_checkpoint: {what} must be a dict of names and NDArrays, not '
                            f'{kind_of(params)}')
    with paths.together(prefix):
        if symbol is not None:
            symbol.save(f'{prefix}-symbol.json', remove_amp_cast=remove_amp_cast)
        ndarray.save(name, {f'{kind}:{key}': array.as_in_context(cpu())
                            for kind, params in (('arg', arg_params), ('aux', aux_params))
                            for key, array in params.items()})
    logging.info('Saved checkpoint to "%s"', name)


def load_params(prefix: str, epoch: int) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
    """(arguments, auxiliary states) from `prefix-0003.params` for epoch 3."""
    name = params_name(prefix, epoch)
    found = ndarray.load(name)
    if not found:
        logging.warning("Params file '%s' is empty", name)
        return {}, {}
    if not isinstance(found, dict):
        raise FileError(f'{name} holds {len(found)} arrays without names; those of a checkpoint have names')
    return _separate(found)[:2]


def load_checkpoint(prefix: str, epoch: int) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """(symbol, arguments, auxiliary states) from what `save_checkpoint` wrote, all of one save."""
    name = f'{prefix}-symbol.json'
    return paths.read_together([name, params_name(prefix, epoch)],
                               lambda: (_symbol.load(name), *load_params(prefix, epoch)))


def params_name(prefix, epoch):
    if not isinstance(epoch, (int, numpy.integer)):
        raise TypeError(f'the epoch of a checkpoint must be an int, not {epoch!r}')
    return f'{prefix}-{epoch:04d}.params'


def _separate(arrays):
    """{'arg:name': array, ...} -> (arguments, auxiliary states, other keys)."""
    parts: dict[str, dict[str, Any]] = {'arg': {}, 'aux': {}}
    others = []
    for key, array in arrays.items():
        kind, _, name = key.partition(':')
        if kind in parts and name:
            parts[kind][name] = array
        else:
            others.append(key)
    return parts['arg'], parts['aux'], others


# ---------------------------------------------------------------------- stores and updates, for modules as well
def _create_kvstore(kvstore, num_device, arg_params):
    """(store or None, whether it updates the weights) for what a program gave as `kvstore`."""
    if isinstance(kvstore, str):
        if num_device == 1 and 'dist' not in kvstore:
            if not _kvstore.base.is_known(kvstore):
                warnings.warn(f'there is no KVStore called {kvstore!r}; with one device none is needed; with several '
                              'devices this is an error', UserWarning, stacklevel=4)
            return None, False
        name, kvstore = kvstore, _kvstore.create(kvstore)
    elif kvstore is None:
        return None, False
    elif isinstance(kvstore, _kvstore.KVStoreBase):
        name = ''
    else:
        raise TypeError(f'kvstore must be a KVStore, a str or None, not {kind_of(kvstore)}')
    on_store = bool(int(os.environ.get('MXNET_UPDATE_ON_KVSTORE', '1'))) \
        and kvstore.is_capable(_kvstore.KVStoreBase.OPTIMIZER)
    if name == 'local' and any(array.size > _LARGE for array in arg_params.values()):
        on_store = False
    return kvstore, on_store


def _initialize_kvstore(kvstore, param_arrays, arg_params, param_names, update_on_kvstore):
    """Puts the first values of parameters into a store."""
    for name, arrays in zip(param_names, param_arrays, strict=True):
        if not update_on_kvstore or arg_params[name].stype != 'default':
            kvstore.init(name, arg_params[name])
        else:
            kvstore.broadcast(name, arg_params[name], out=arrays)


def _update_params_on_kvstore(param_arrays, grad_arrays, kvstore, param_names):
    """Lets a store update the parameters by gradients; both have a list of arrays, one a device, for each name."""
    rows = [row for row in zip(param_names, grad_arrays, param_arrays, strict=True) if row[1][0] is not None]
    plain = [grads[0].stype == weights[0].stype == 'default' for _, grads, weights in rows]
    if isinstance(kvstore, _kvstore.KVStore) and all(plain) and rows:
        names, grads, weights = (list(column) for column in zip(*rows, strict=True))
        kvstore.pushpull(names, grads, out=weights)
        return
    # stores of others take one key at a time
    for number, (name, grads, weights) in enumerate(rows):
        if plain[number]:
            kvstore.pushpull(name, grads, out=weights, priority=-number)
        else:
            kvstore.push(name, grads, priority=-number)
            kvstore.pull(name, out=weights, priority=-number)


def _update_params(param_arrays, grad_arrays, updater, num_device, kvstore=None, param_names=None):
    """Updates the parameters of each device by gradients, which a store adds up first if there is one."""
    updates: list[tuple[list[Any], list[Any], list[Any]]] = [([], [], []) for _ in range(num_device)]
    for index, (weights, grads) in enumerate(zip(param_arrays, grad_arrays, strict=True)):
        if grads[0] is None:
            continue
        if kvstore is not None:
            if grads[0].stype == weights[0].stype == 'default':
                kvstore.pushpull(param_names[index], grads, priority=-index)
            else:
                kvstore.push(param_names[index], grads, priority=-index)
                kvstore.pull(param_names[index], out=grads, priority=-index)
        for device, (indices, gs, ws) in enumerate(updates):
            # each device has states of its own
            indices.append(index * num_device + device)
            gs.append(grads[device])
            ws.append(weights[device])
    for indices, gs, ws in updates:
        if indices:
            updater(indices, gs, ws)


# pickles and help name the module that programs take them from
for _public in (BatchEndParam, save_checkpoint, load_params, load_checkpoint):
    _public.__module__ = 'mxnet.model'
