"""`Checkpoint`: everything that a training run needs to go on exactly, in one file."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy
import torch

from .. import _random_state as _random
from .. import ndarray
from .._files import jsons, paths
from .._wording import plain
from ..base import MXNetError
from ..ndarray._invoke import parse_context
from ._parameter_files import names_file
from .parameter import fits

if TYPE_CHECKING:
    from .._typing import Path
    from ..gluon.block import Block
    from ..gluon.trainer import Trainer

__all__ = ['Checkpoint', 'random_states', 'set_random_states']


def _bytes(data):
    return ndarray.array(numpy.frombuffer(bytes(data), 'uint8'), dtype='uint8') if len(data) else \
        ndarray.array(numpy.zeros(0, 'uint8'), dtype='uint8')


def random_states():
    """The states of our generators and of NumPy's global one, as arrays."""
    states = {f'mx:{ctx}': _bytes(gen.get_state().cpu().numpy().tobytes()) for ctx, gen in _random._generators.items()}
    state: Any = numpy.random.get_state()           # NumPy's annotation allows a dict, which another argument asks for
    _, keys, position, has_gauss, cached = state
    states['numpy'] = ndarray.array(keys.astype('int64'), dtype='int64')
    states['numpy:rest'] = ndarray.array([position, has_gauss, cached], dtype='float64')
    return states


def set_random_states(states):
    """Goes on with random numbers where `random_states` was taken."""
    for name, array in states.items():
        if name.startswith('mx:'):
            ctx = parse_context(name[3:])
            _random.generator(ctx).set_state(torch.from_numpy(array.asnumpy()))
    position, has_gauss, cached = states['numpy:rest'].asnumpy()
    numpy.random.set_state(('MT19937', states['numpy'].asnumpy().astype('uint32'), int(position), int(has_gauss),
                            cached))


class Checkpoint:
    """Saves and restores a run: parameters, the Trainer's states, random generators, and how far it has come.

    One file, written whole or not at all.  `epoch_states` are the `random_states()` at the start of the epoch: they
    shuffle the data the same way again, so that a run can go on in the middle of an epoch.

    >>> net = mx.gluon.nn.Dense(1, in_units=2)
    >>> net.initialize()
    >>> trainer = mx.gluon.Trainer(net.collect_params(), 'sgd')
    >>> saved = mx.gluon.Checkpoint('memory://run.ckpt', net, trainer)
    >>> saved.save(epoch=3, batch=17)
    >>> saved.load()['batch']
    17
    """

    def __init__(self, path: Path, net: Block, trainer: Trainer | None = None) -> None:
        self.path: Any
        self.net: Block
        self.trainer: Any
        self.path, self.net, self.trainer = path, net, trainer

    def save(self, epoch_states: Any = None, **progress: Any) -> None:
        """Writes the file; `progress` is kept with it (anything JSON can hold)."""
        arrays = {f'param:{k}': p._reduce() for k, p in self.net._collect_params_with_prefix().items()}
        if self.trainer is not None:
            self.trainer._prepare()
            updater = self.trainer._kvstore._updater if self.trainer._update_on_kvstore else self.trainer._updaters[0]
            arrays['trainer'] = _bytes(updater.get_states(dump_optimizer=True))
        arrays |= {f'random:{k}': v for k, v in random_states().items()}
        arrays |= {f'epoch:{k}': v for k, v in (epoch_states or {}).items()}
        arrays['progress'] = _bytes(json.dumps(progress).encode())
        ndarray.save(self.path, {k: v.as_nd_ndarray() for k, v in arrays.items()})

    def exists(self) -> bool:
        """Whether there is a file to go on from."""
        try:
            with paths.open_read(self.path):
                return True
        except MXNetError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return False
            raise               # it may well be there: a run from the start would overwrite it

    def load(self) -> Any:
        """Restores the run and returns its progress; random generators go on where they were.

        The states of the start of the epoch are under 'epoch_states'.
        """
        arrays = ndarray.load(self.path)
        if not isinstance(arrays, dict) or 'progress' not in arrays:
            raise MXNetError(f'{self.path} contains arrays, but is not a checkpoint')
        params = self.net._collect_params_with_prefix()
        for key, param in params.items():
            there = arrays.get(f'param:{key}')
            if there is None or param.shape is not None and not fits(param.shape, there.shape):
                what = f'has no {key}' if there is None else f'has {key} of shape {there.shape}, not {param.shape}'
                raise MXNetError(f'{self.path} belongs to another network: it {what}')
        for key, param in params.items():
            with names_file(self.path):
                param._load_init(arrays[f'param:{key}'], None)
        if self.trainer is not None and 'trainer' in arrays:
            self.trainer._prepare()
            states = arrays['trainer'].asnumpy().tobytes()
            trainer = self.trainer
            if trainer._update_on_kvstore:
                trainer._kvstore._updater.set_states(states, f'{self.path}: trainer')
                trainer._optimizer = trainer._kvstore._updater.optimizer
            else:
                for updater in trainer._updaters:
                    updater.set_states(states, f'{self.path}: trainer')
                    updater.optimizer = trainer._updaters[0].optimizer
                trainer._optimizer = trainer._updaters[0].optimizer
            trainer._optimizer.param_dict = dict(enumerate(trainer._params))

        def group(prefix):
            return {k[len(prefix):]: v for k, v in arrays.items() if k.startswith(prefix)}

        progress = jsons.load(arrays['progress'].asnumpy().tobytes(), f'{self.path}: progress', 'the progress of a run')
        if not isinstance(progress, dict):
            raise MXNetError(f'{self.path}: progress: expected a dictionary, found {jsons.shown(progress)}')
        try:
            set_random_states(group('random:'))
        except (KeyError, ValueError, TypeError, RuntimeError, OverflowError) as error:
            raise MXNetError(f'{self.path}: the states of random generators in it are not whole: '
                             f'{_said(error)}') from error
        return {**progress, 'epoch_states': group('epoch:')}


def _said(error):
    return f'there is no {error}' if isinstance(error, KeyError) else plain(error)
