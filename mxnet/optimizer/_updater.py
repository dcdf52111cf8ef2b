"""`Updater`: keeps the states of weights and updates them; what KVStore, Module and Trainer call."""
import pickle
import sys

from .._array import NDArrayBase
from .._files import pickles
from ..base import MXNetError
from ..lr_scheduler import LRScheduler
from ..ndarray.ndarray import NDArray
from ._base import Optimizer, aggregation_size, is_list

__all__ = ['Updater', 'get_updater']

_PROTOCOL = 4       # the newest that every Python with MXNet 1.9.1 reads


class Updater:
    """Updates weights by an optimizer: `updater(index, grad, weight)`, or with lists of the three.

    >>> updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.5))
    >>> weight = mx.nd.ones((2,))
    >>> updater(0, mx.nd.ones((2,)), weight)
    >>> weight
    <BLANKLINE>
    [0.5 0.5]
    <NDArray 2 @cpu(0)>

    The built-in optimizers update all weights of one dtype and device in one call.  MXNET_OPTIMIZER_AGGREGATION_SIZE
    sets a limit, and `updater.aggregate_updates = False` makes it one at a time.  Others get as many as their
    `aggregate_num` says, one at a time if that is 0.
    """

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.states = {}
        self.states_synced = {}
        self.aggregate_updates = _most_at_once(optimizer) > 0

    def __call__(self, index, grad, weight):
        if not is_list(index):
            index, grad, weight = [index], [grad], [weight]
        if not index:
            return
        optimizer = self.optimizer
        index = [i.decode() if type(i) is bytes else i for i in index]
        if not optimizer._at_once:
            # others compute with nd's operators, which have nd's semantics on nd's arrays only
            grad, weight = [g.as_nd_ndarray() for g in grad], [w.as_nd_ndarray() for w in weight]
        optimizer._set_current_context(weight[0].context.device_id)
        known, synced = self.states, self.states_synced
        for i, w in zip(index, weight, strict=True):
            if i not in known:
                known[i] = optimizer.create_state_multi_precision(i, w)
                synced[i] = True
            elif not synced[i]:
                known[i] = self.sync_state_context(known[i], w.context)
                synced[i] = True
        states = [known[i] for i in index]
        most = _most_at_once(optimizer) if self.aggregate_updates else 0
        if not most:
            for arguments in zip(index, weight, grad, states, strict=True):
                optimizer.update_multi_precision(*arguments)
            return
        for i, w, g, s in _batches(index, weight, grad, states):
            for start in range(0, len(i), most):
                part = slice(start, start + most)
                optimizer.update_multi_precision(i[part], w[part], g[part], s[part])

    def sync_state_context(self, state, context):
        """A state with all of its arrays on a context."""
        if isinstance(state, NDArrayBase):
            return state.as_in_context(context)
        if isinstance(state, (tuple, list)):
            return type(state)([self.sync_state_context(part, context) for part in state])
        return state

    def set_states(self, states):
        """Takes over states, and an optimizer if there is one, from what `get_states` gave, here or in MXNet 1.9.1.

        Nothing in it is executed: it may hold plain values, arrays, and optimizers and schedulers whose classes the
        program has.
        """
        found = pickles.load(states, _classes(), 'optimizer states')
        optimizer = self.optimizer
        if isinstance(found, tuple) and len(found) == 2:
            found, optimizer = found
        if not isinstance(found, dict) or not isinstance(optimizer, Optimizer):
            raise MXNetError('optimizer states: expected {index: state}, or that and an optimizer, not '
                             f'{type(found).__name__} and {type(optimizer).__name__}')
        self.states, self.states_synced = found, dict.fromkeys(found, False)
        if optimizer is not self.optimizer:
            self.optimizer = optimizer
            self.aggregate_updates = _most_at_once(optimizer) > 0

    def get_states(self, dump_optimizer=False):
        """All states as bytes, with `dump_optimizer` the optimizer too, in the format of MXNet 1.9.1."""
        return pickle.dumps((self.states, self.optimizer) if dump_optimizer else self.states, _PROTOCOL)


def get_updater(optimizer):
    """The `Updater` of an optimizer."""
    return Updater(optimizer)


def _most_at_once(optimizer):
    """How many weights an optimizer takes in one call; 0: one, not as a list."""
    if optimizer._at_once is None:
        return optimizer.aggregate_num
    return aggregation_size() or sys.maxsize if optimizer._at_once else 0


def _batches(*columns):
    """The columns (indices, weights, ...), once for each dtype and device of the weights."""
    tensors = [w._parts[0] if w._sparse else w._tensor for w in columns[1]]
    batches = {}
    for position, tensor in enumerate(tensors):
        batches.setdefault((tensor.dtype, tensor.get_device()), []).append(position)
    if len(batches) == 1:
        return [columns]
    return [tuple([column[i] for i in at] for column in columns) for at in batches.values()]


def _classes():
    """{(module, name): class} of what a state file may hold besides plain values."""
    waiting = [NDArray, Optimizer, LRScheduler]
    found = {}
    while waiting:
        cls = waiting.pop(0)
        found[cls.__module__, cls.__qualname__] = cls
        waiting.extend(cls.__subclasses__())
    return found
