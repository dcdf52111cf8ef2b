"""Pruning: networks with fewer weights, or with fewer channels and neurons.

`magnitude` makes masks of single weights or of n:m blocks, `channels` chooses whole channels and rewrites the graph
without them, `Pruner` does either while a network learns, `sensitivity` shows which layers can spare most.
"""
from ..._names import suggest_names as _suggest_names
from ._channels import Channels, Group, channels, shrink
from ._masks import Masks, magnitude, sparsity
from ._sensitivity import Sensitivity, sensitivity
from ._training import Pruner, Schedule

__all__ = ['Channels', 'Group', 'Masks', 'Pruner', 'Schedule', 'Sensitivity', 'channels', 'magnitude', 'sensitivity',
           'shrink', 'sparsity']

_suggest_names(globals())
