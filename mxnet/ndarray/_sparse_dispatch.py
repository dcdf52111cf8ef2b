"""Runs operators on sparse arrays.

A rule (`_sparse_rules`, `_sparse_products`, `_sparse_graphs`, `_sparse_updates`) computes an operator on the parts of
its inputs and gives an array or a list of them, or NotImplemented for a combination of storage types that it has no way
for.  Then the operator is computed on dense copies, as in upstream; MXNET_STORAGE_FALLBACK_LOG_VERBOSE=1 tells where.
"""
import logging
import os

from .._array import wrap, write
from .._ops.core.table import NAMES, Operator
from .._state import state
from ..base import MXNetError
from . import _invoke

# by name of the operator: (rule(op, inputs, complete attributes) -> array or list of arrays, does it take out=)
RULES: dict = {}
_told: set = set()


def rule(*names, takes_out=False):
    """Declares the rule of some operators."""
    def declare(function):
        for name in names:
            if NAMES[name].name in RULES:
                raise ValueError(f'two rules for operator {name}')
            RULES[NAMES[name].name] = function, takes_out
        return function
    return declare


def run(op: Operator, inputs, attributes, out, cls):
    """Calls an operator with inputs of which some are sparse; see `_invoke.run`."""
    found = RULES.get(op.name)
    if found is not None:
        function, takes_out = found
        try:
            result = function(op, inputs, op.complete(attributes), *[out] * takes_out)
        except RuntimeError as error:
            if type(error) is not RuntimeError:     # torch's own have no class of their own
                raise
            raise _invoke.operator_error(op, inputs, attributes, error) from error
        if result is not NotImplemented:
            return result if out is None else _into(op, result, out)
    _tell(op, inputs)
    return _on_dense(op, inputs, attributes, out, cls)


def _into(op, result, out):
    if isinstance(out, (list, tuple)) or isinstance(result, list):
        results = result if isinstance(result, list) else [result]
        outs = out if isinstance(out, (list, tuple)) else [out]
        if len(outs) != len(results):
            raise MXNetError(f'operator {op.name}: out has {len(outs)} arrays, but there are {len(results)} results')
        for one, target in zip(results, outs, strict=True):
            _into(op, one, target)
        return out
    if out is result:
        return out
    if result._sparse and not out._sparse:
        result = result.tostype('default')
    write(out, result if result._sparse or out._sparse else _tensor(result), f'out= of operator {op.name}')
    return out


def _tensor(array):
    return array.materialize() if not state.recording or array._variable is None else array._variable.leaf


def _on_dense(op, inputs, attributes, out, cls):
    dense = [wrap(_tensor(x), x._ctx, cls) if x is not None and x._sparse else x for x in inputs]
    result = _invoke.run(op, dense, attributes, out, cls)
    if op.mutates:
        for position in op.mutated(op.complete(attributes), len(inputs)):
            array = inputs[position]
            if array is not None and array._sparse:
                array._overwrite(dense[position].materialize())
    return result


def _tell(op, inputs):
    if os.environ.get('MXNET_STORAGE_FALLBACK_LOG_VERBOSE') != '1':
        return
    stypes = ', '.join('None' if x is None else x.stype for x in inputs)
    if (op.name, stypes) not in _told:
        _told.add((op.name, stypes))
        logging.getLogger('mxnet').warning('operator %s(%s) is computed on dense copies of its sparse inputs', op.name,
                                           stypes)


_invoke.run_sparse = run
