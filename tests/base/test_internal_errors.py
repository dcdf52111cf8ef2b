"""What Python, NumPy or torch raise inside of this package over a program's arguments is told in its own words."""
import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx
from mxnet._kinds import explained
from mxnet.base import MXNetError

X = mx.nd.ones((2, 3))


@pytest.mark.parametrize('call, kind, text', [
    (lambda: mx.nd.ones(b'x'), MXNetError, "a shape is an int or a tuple of ints, not b'x'"),
    (lambda: mx.nd.ones(np.array([None])), MXNetError, 'a shape is an int or a tuple of ints'),
    (lambda: mx.nd.contrib.isfinite(None), TypeError, 'isfinite: data cannot be None'),
    (lambda: mx.nd.sparse.retain(X.tostype('row_sparse'), 'x'), TypeError, "retain: indices cannot be the str 'x'"),
    (lambda: mx.np.split(mx.np.ones((2, 3)), 3, axis=None), TypeError, 'split does not accept these arguments; it was '
                                                                       'given ary = .*, axis = None'),
    (lambda: mx.image.imresize(X.reshape((1, 2, 3)), float('nan'), 2), ValueError, 'imresize does not accept these '
     'arguments: NaN is not a whole number; it was given src = an NDArray, w = the float nan'),
    (lambda: mx.gluon.loss.CTCLoss()('x', X), TypeError, r'ctcloss\d+ \(CTCLoss\) does not accept these arguments; '
                                                         r"it was given inputs = \('x', an NDArray\)|given inputs"),
    (lambda: mx.optimizer.SGD(momentum=0.9).create_state(0, None), TypeError, 'weight must be an NDArray, not None'),
    (lambda: mx.metric.Accuracy().update([[None]], [X]), TypeError, 'Accuracy.update does not accept these arguments'),
    (lambda: mx.runtime.Features().is_enabled(None), TypeError, 'feature_name must be a str, not None'),
    (lambda: X + 1j, TypeError, 'operand rhs must be an NDArray or a number, not a complex'),
    (lambda: mx.np.add(mx.np.ones((2,)), mx.sym.var('a')), TypeError, 'np.add: an operand must be an mx.np.ndarray, '
                                                                      'not a Symbol'),
    (lambda: mx.np.full((2,), None), TypeError, 'a real number is needed, not None'),
    (lambda: X[[[1], [2, 3]]], IndexError, 'its rows differ in length'),
    (lambda: mx.np.ones((-2**63,)), MXNetError, 'a length is below 0, or larger than any memory'),
    (lambda: mx.recordio.pack(mx.recordio.IRHeader(0, 1j, 2, 0), b''), ValueError,
     'pack does not accept these'),
    (lambda: X.reshape(1j), TypeError, 'reshape: a shape is one int or several, each below 2..63, not 1j'),
])
def test_words(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def _inside(what):
    """A function of this package, as far as its frames tell."""
    names = {'__name__': 'mxnet.example'}
    exec(f'def function(value, other=1):\n    {what}\n', names)
    return explained(names['function'], 'function')


@pytest.mark.parametrize('what, kind', [
    ('return {}[value]', KeyError), ('return [][other]', IndexError), ('return 1 // (other - 1)', ValueError),
    ('return value.nothing', TypeError), ('return 2.0 ** 1e9', OverflowError), ('return float(value)', ValueError),
])
def test_operations_that_fail(what, kind):
    """An error of the same class, or TypeError and ValueError, that is also an MXNetError and shows the arguments."""
    with pytest.raises(kind) as caught:
        _inside(what)('abc')
    assert isinstance(caught.value, MXNetError) or 'value must be an array' in str(caught.value)
    assert "the str 'abc'" in str(caught.value)
    assert 'function' in str(caught.value)


@pytest.mark.parametrize('what', ['raise KeyError(value)', 'raise ValueError("not a word of Python")',
                                  'try:\n        raise LookupError("ours")\n    finally:\n        value = 2'])
def test_what_a_raise_made_stays(what):
    with pytest.raises((KeyError, ValueError, LookupError)) as caught:
        _inside(what)('abc')
    assert not isinstance(caught.value, MXNetError)
    assert 'does not accept' not in str(caught.value)


def test_errors_of_the_program_stay():
    """A function that the program passes in fails: the error is its own."""
    def broken(*_):
        return {}['mine']

    with pytest.raises(KeyError) as caught:
        mx.nd.contrib.foreach(broken, X, [])
    assert type(caught.value) is KeyError and caught.value.args == ('mine',)

    class Broken(mx.gluon.Block):
        def forward(self, x):
            return x.nothing_of_this_name

    with pytest.raises(AttributeError):
        Broken()(X)


SAMPLE = ('nd.contrib.cond', 'nd.contrib.foreach', 'np.split(', 'mx.image.resize_short', 'mx.recordio.pack(mx',
          'Features()', 'gluon.utils.split_data', 'MultiFactorScheduler', 'np.tile(')


def test_a_sample_of_the_campaign():
    script = str(ROOT / 'tests' / 'scripts' / 'fuzz_arguments.py')
    done = subprocess.run([sys.executable, script, '--no-examples', *(f'--calls={text}' for text in SAMPLE)],
                          capture_output=True, text=True, timeout=300, cwd=ROOT,
                          env={'PYTHONPATH': str(ROOT), 'PATH': '', 'OMP_NUM_THREADS': '1', 'HOME': '/nonexistent'})
    defects = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"')]
    assert not defects and done.returncode == 0, done.stderr[-2000:]
    counts = eval(done.stdout.splitlines()[-1])
    assert counts['calls'] > 200 and counts['errors'] > 100 and 'good calls that fail' not in counts
