"""The storage of an array is read through `meta()` and `materialize()`, and replaced through `_rebind()`.

Only the modules below read or write the slot itself: those that make arrays pending and ready, and those whose calls
are so short that a method call would be noticed.  They test for None, which a pending array has there.
"""
import ast
import re

import pytest
from conftest import ROOT

from mxnet import np
from mxnet._array import NDArrayBase
from mxnet.ndarray import NDArray

ALLOWED = {
    'mxnet/_array.py': 'the slot and its doors',
    'mxnet/_autograd/tape.py': 'the gradient of each parameter is stored in each step',
    'mxnet/_guard.py': 'guards compare tensors, and compute none',
    'mxnet/_lazy/': 'arrays become pending and ready here',
    'mxnet/gluon/data/_rows.py': 'a row of a batch: an array with a laziness of its own, behind the same doors',
    'mxnet/ndarray/_arithmetic.py': 'one eager call: a + b',
    'mxnet/ndarray/_bound_creation.py': 'one eager call: nd.zeros(shape)',
    'mxnet/ndarray/_generated.py': 'the template of eager calls: nd.exp(x)',
    'mxnet/ndarray/_invoke.py': 'the general eager call',
    'mxnet/ndarray/_sparse_array.py': 'a sparse array has no dense storage',
    'mxnet/ndarray/ndarray.py': 'one eager call: x[0], x.reshape(...), x.shape',
    'mxnet/optimizer/_bound_update.py': 'an update of all weights of a network',
    'mxnet/numpy/_reduce.py': 'one eager call: np.sum(x)',
    'mxnet/numpy/multiarray.py': 'one eager call: x[0], x.reshape(...)',
}
SLOT = '_storage'


def uses(path):
    """Lines at which a file names the slot, as an attribute or in a text that getattr and the like could be given."""
    tree = ast.parse(path.read_text())
    return [node.lineno for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr == SLOT
            or isinstance(node, ast.Constant) and isinstance(node.value, str)
            and (node.value == SLOT or re.search(rf'[}}\w]\.{SLOT}\b', node.value))]


def allowed(name):
    return any(name == entry or entry.endswith('/') and name.startswith(entry) for entry in ALLOWED)


def files():
    return {str(path.relative_to(ROOT)): path for path in sorted((ROOT / 'mxnet').rglob('*.py'))}


def test_storage_is_read_through_its_doors():
    found = [f'{name}:{line}' for name, path in files().items() if not allowed(name) for line in uses(path)]
    assert not found, f'read the array through meta() or materialize(): {found}'


@pytest.mark.parametrize('entry', ALLOWED)
def test_exemptions_are_needed(entry):
    assert any(uses(path) for name, path in files().items() if name == entry or name.startswith(entry))


def classes(cls):
    return [cls, *[c for child in cls.__subclasses__() for c in classes(child)]]


def test_no_attribute_of_an_array_computes_it():
    """Attributes are slots, methods, and properties, which tests/lazy/test_deferral_kept.py goes through."""
    from mxnet import _traced_array, gluon  # noqa: F401  all kinds of arrays
    from mxnet.ndarray import sparse  # noqa: F401
    known = classes(NDArrayBase)
    assert {NDArray, np.ndarray} < set(known) and len(known) >= 8
    for cls in known:
        assert not {'__getattr__', '__getattribute__'} & vars(cls).keys(), cls
