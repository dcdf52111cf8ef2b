# Made by `python -m mxnet._frontend.stubs`: do not edit.
from . import svrg_module as svrg_module
from . import svrg_optimizer as svrg_optimizer
