"""Automatic mixed precision: products in float16 or bfloat16, all that needs range or exactness in float32."""
from ..._names import suggest_names as _suggest_names
from . import amp, lists, loss_scaler
from .amp import *

_suggest_names(globals())
