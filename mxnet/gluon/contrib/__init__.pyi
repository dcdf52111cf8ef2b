# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ..._names import no_attribute as _no_attribute
from . import cnn as cnn
from . import data as data
from . import estimator as estimator
from . import nn as nn
from . import rnn as rnn
