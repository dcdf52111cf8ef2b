"""Automatic mixed precision: products in float16 or bfloat16, all that needs range or exactness in float32."""
from . import amp, lists, loss_scaler
from .amp import *
