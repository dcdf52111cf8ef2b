"""Operators by precision, for float16."""
from . import _families

FP16_FUNCS = list(_families.PRODUCTS)
FP32_FUNCS = list(_families.FLOAT32)
FP16_FP32_FUNCS = list(_families.EITHER)
CONDITIONAL_FP32_FUNCS = list(_families.CONDITIONAL)
WIDEST_TYPE_CASTS = list(_families.WIDEST)
LOSS_OUTPUT_FUNCTIONS = list(_families.OUTPUTS)
