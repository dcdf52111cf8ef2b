# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ..._names import suggest_names as _suggest_names
from ._channels import Channels as Channels
from ._channels import Group as Group
from ._channels import channels as channels
from ._channels import shrink as shrink
from ._masks import Masks as Masks
from ._masks import magnitude as magnitude
from ._masks import sparsity as sparsity
from ._sensitivity import Sensitivity as Sensitivity
from ._sensitivity import sensitivity as sensitivity
from ._training import Pruner as Pruner
from ._training import Schedule as Schedule
