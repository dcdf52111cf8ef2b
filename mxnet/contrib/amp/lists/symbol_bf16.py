"""Operators by precision, for bfloat16.

They are those of float16: bfloat16 has the range of float32, but fewer digits yet, so sums and losses need float32,
too.
"""
from . import _families

BF16_FUNCS = list(_families.PRODUCTS)
FP32_FUNCS = list(_families.FLOAT32)
BF16_FP32_FUNCS = list(_families.EITHER)
BF16_USE_FP32_PARAMS = dict(_families.FLOAT32_INPUTS)
CONDITIONAL_FP32_FUNCS = list(_families.CONDITIONAL)
WIDEST_TYPE_CASTS = list(_families.WIDEST)
LOSS_OUTPUT_FUNCTIONS = list(_families.OUTPUTS)
