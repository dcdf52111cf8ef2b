"""The table of operators: one declaration per operator, plain functions on torch tensors (see core/table.py).

A package here holds related families, and each of its modules is a family.  `core` has no operators: declarations are
written with it.  `_eager.py` has kernels for operators of several packages,
`backward_reads.py` what their gradients read.  Importing this package fills the table.
"""
import importlib
import pkgutil

from .core.table import NAMES, TABLE, Operator, operator

__all__ = ['NAMES', 'TABLE', 'Operator', 'operator']

FAMILIES = ('tensor', 'nn', 'random', 'numpy', 'vision', 'optim', 'quantized', 'sparse', 'control')

for _package in FAMILIES:
    _path = importlib.import_module(f'{__name__}.{_package}').__path__
    for _module in pkgutil.iter_modules(_path):
        if not _module.name.startswith('_'):        # parts of families that are loaded when needed
            importlib.import_module(f'{__name__}.{_package}.{_module.name}')

importlib.import_module(f'{__name__}.backward_reads')
