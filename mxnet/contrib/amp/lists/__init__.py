"""Which operators run in which precision, for float16 and for bfloat16."""
from . import symbol_bf16, symbol_fp16
