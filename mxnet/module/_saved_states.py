"""What is saved with the states of a Module's optimizer, and how it is checked and taken up again."""
from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy

NO_STATES_OF = ('{fname} has no states of {names}, which start again; was it saved with another network, or another '
                'number of contexts than {devices}?')


def check_states(fname: Any, updater: Any, group: Any, contexts: Any) -> None:
    """Warns of weights that states were not saved for, and gives the counts to the devices that are in use."""
    devices = len(contexts)
    names = {i * devices + k: name for i, name in enumerate(group.param_names) for k in range(devices)
             if group.grad_arrays[i][k] is not None}
    missing = [name for index, name in names.items() if index not in updater.states]
    if updater.states and missing:
        warnings.warn(NO_STATES_OF.format(fname=fname, names=', '.join(dict.fromkeys(missing)), devices=devices),
                      UserWarning, stacklevel=3)
    counts = updater.optimizer._all_index_update_counts
    own = {context.device_id for context in contexts}
    saved = [device for device, found in counts.items() if found]
    if len(own) == len(saved) == 1 and own.isdisjoint(saved):
        counts.setdefault(*own, {}).update(counts.pop(*saved))      # trained on another device


def copies_that_differ(group: Any, *params: Mapping[str, Any]) -> dict[str, list[numpy.ndarray]]:
    """{name: values on each context} of parameters that a context has otherwise than `params`, those of `get_params`.

    In the middle of an epoch contexts have moving averages of their own, and weights, where the update draws.
    """
    found = {}
    known = {name: array for some in params for name, array in some.items()}
    for name, block in _blocks(group):
        if block[0].stype == 'default':
            values, mean = [a.asnumpy() for a in block], known[name].asnumpy()
            if not all(numpy.array_equal(value, mean) for value in values):
                found[name] = values
    return found


def set_copies(group: Any, copies: Mapping[str, Any]) -> None:
    """Gives each context the values that `copies_that_differ` has found."""
    for name, block in _blocks(group):
        for target, value in zip(block, copies.get(name, ()), strict=False):
            target[:] = value


def _blocks(group: Any) -> Any:
    """(name, arrays on each context) of parameters and auxiliary states."""
    yield from zip(group.param_names, group.param_arrays, strict=True)
    yield from zip(group.aux_names, group.aux_arrays, strict=True)
