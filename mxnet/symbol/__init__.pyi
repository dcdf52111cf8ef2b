# Made by `python -m mxnet._frontend.stubs`: do not edit.
from .._names import no_attribute as _no_attribute
from . import _internal as _internal
from . import contrib as contrib
from . import image as image
from . import linalg as linalg
from . import op as op
from . import random as random
from . import sparse as sparse
from ._creation import *
from .op import *
from .symbol import Group as Group
from .symbol import Symbol as Symbol
from .symbol import Variable as Variable
from .symbol import fromjson as fromjson
from .symbol import load as load
from .symbol import load_json as load_json
from .symbol import var as var
from . import numpy as numpy
from . import numpy as np
from . import numpy_extension as npx
from . import numpy_extension as numpy_extension
