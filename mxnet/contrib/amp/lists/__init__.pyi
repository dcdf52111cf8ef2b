# Made by `python -m mxnet._frontend.stubs`: do not edit.
from . import symbol_bf16 as symbol_bf16
from . import symbol_fp16 as symbol_fp16
