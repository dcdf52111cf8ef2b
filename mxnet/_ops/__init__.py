"""THE TABLE: one declaration per operator, plain functions on torch tensors (see table.py).

A module here is a family.  Importing the package fills the table.
"""
import importlib
import pkgutil

from .table import NAMES, TABLE, Operator, operator

__all__ = ['NAMES', 'TABLE', 'Operator', 'operator']

for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith('_'):            # parts of families that are loaded when needed
        importlib.import_module(f'{__name__}.{_module.name}')
