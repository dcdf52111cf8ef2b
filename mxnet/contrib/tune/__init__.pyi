# Made by `python -m mxnet._frontend.stubs`: do not edit.
from ..._names import suggest_names as _suggest_names
from ._callbacks import Diverged as Diverged
from ._callbacks import FitCallback as FitCallback
from ._callbacks import Reporter as Reporter
from ._callbacks import TuneHandler as TuneHandler
from ._callbacks import report as report
from ._checkpoints import best as best
from ._checkpoints import folder as folder
from ._report import importances as importances
from ._report import write_report as write_report
from ._run import load as load
from ._run import run as run
from ._space import Range as Range
from ._space import parse_space as parse_space
from ._space import suggest as suggest
