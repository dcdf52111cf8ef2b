"""The operator reference: every public operator and function has an example that prints what it shows, and the pages
that are made from the table have all of them.
"""
import inspect
import re

import numpy
import pytest

import mxnet as mx
from mxnet._frontend import reference
from mxnet._frontend.examples import attach, example_of, examples
from mxnet._ops.core.table import NAMES, TABLE

PLACES = {'nd': mx.nd, 'nd.contrib': mx.nd.contrib, 'nd.linalg': mx.nd.linalg, 'nd.random': mx.nd.random,
          'nd.image': mx.nd.image, 'nd.sparse': mx.nd.sparse, 'np': mx.np, 'np.linalg': mx.np.linalg,
          'np.random': mx.np.random, 'npx': mx.npx, 'npx.image': mx.npx.image, 'npx.random': mx.npx.random}
# where functions come from that are in these modules and are no operators: switches, devices, what makes functions
NOT_OPERATORS = {'mxnet._frontend.namespaces', 'mxnet._frontend.examples', 'mxnet.context', 'mxnet.util',
                 'mxnet.ndarray._indexing', 'mxnet.numpy._call'}
HELPERS = {'make_function', 'makers', 'from_dense', 'from_record'}


def public_functions():
    """(full name, function) of everything that programs can call."""
    for place, module in PLACES.items():
        for name, thing in vars(module).items():
            if inspect.isfunction(thing) and not name.startswith('_') and name not in HELPERS \
                    and (thing.__module__ or '').startswith('mxnet') and thing.__module__ not in NOT_OPERATORS:
                yield f'{place}.{name}', thing


FUNCTIONS = dict(public_functions())


def needs(session):
    """Optional packages that a session uses."""
    return ['cv2'] if 'imdecode' in session or 'image.resize' in session else []


@pytest.mark.parametrize('name', examples())
def test_example(name):
    session = examples()[name]
    for package in needs(session):
        pytest.importorskip(package)
    assert not reference.run(session, name)


@pytest.mark.parametrize('name', examples())
def test_example_is_about_its_operator(name):
    """It calls what it stands for, under one of its names, and shows something."""
    called = reference.names_of(NAMES[name]) if name in NAMES else [name]
    session = examples()[name]
    assert any(re.search(rf'\b{re.escape(n)}\(', session) for n in called if not n.startswith('NDArray')), called
    assert re.search(r'^(?!>>> |\.\.\. )', session, re.MULTILINE) or 'waitall' in name or 'constraint_check' in name


def test_every_public_function_has_an_example():
    without = [name for name, function in FUNCTIONS.items() if '>>> ' not in (function.__doc__ or '')]
    assert len(FUNCTIONS) > 700
    assert without == [], 'add examples to mxnet/_frontend/examples'


def test_every_public_operator_has_an_example():
    assert [op.name for op in reference.public_operators() if reference.example_of(op) is None] == []
    hidden = [op for op in TABLE.values() if op not in reference.public_operators()]
    assert all(all(n.startswith('_') for n in op.names) for op in hidden), 'an operator with a public name is left out'


def test_no_example_is_left_over():
    """Each belongs to an operator or a function that there is."""
    assert [name for name in examples() if name not in NAMES and name not in FUNCTIONS] == []


def test_help_shows_the_example():
    assert '>>> nd.relu(nd.array([-2, 0, 3])).asnumpy()' in mx.nd.relu.__doc__
    assert '>>> npx.relu(np.array([-2, 0, 3]))' in mx.npx.relu.__doc__
    assert ">>> x = nd.sparse.csr_matrix([[0, 4], [9, 0]])" in mx.nd.sparse.sqrt.__doc__
    assert '>>> np.add(np.array([1, 2]), 10)' in mx.np.add.__doc__
    assert '>>> nd.sum(x, axis=1).asnumpy()' in mx.nd.NDArray.sum.__doc__
    assert mx.np.linalg.matrix_rank.__doc__ == numpy.linalg.matrix_rank.__doc__, "NumPy's stay as they are"


def test_attach_leaves_docstrings_with_examples_alone():
    def relu():
        """Mine.

        >>> relu()
        """
    relu.__module__ = 'mxnet.mine'
    before = relu.__doc__
    attach({'relu': relu}, 'npx')
    assert relu.__doc__ == before
    assert example_of(relu, 'relu', 'npx') == examples()['npx.relu']


# ---------------------------------------------------------------------- pages
@pytest.fixture(scope='module')
def pages(tmp_path_factory):
    pytest.importorskip('cv2')
    folder = tmp_path_factory.mktemp('operators')
    assert reference.main(['--out', str(folder)]) == 0
    return {path.name: path.read_text(encoding='utf-8') for path in folder.iterdir()}


def section(pages, operator):
    op = TABLE[operator]
    text = pages[f'{reference.family(op)[1]}.md']
    return text.split(f'({reference.anchor(op)})=\n')[1].split('\n(operator-')[0]


def test_pages_hold_every_operator_once(pages):
    everything = '\n'.join(text for name, text in pages.items() if name != 'index.md')
    found = re.findall(r'^\((operator-[\w-]+)\)=$', everything, re.MULTILINE)
    assert sorted(found) == sorted(reference.anchor(op) for op in reference.public_operators())
    assert len(set(found)) == len(found)
    assert set(re.findall(r'\(#(operator-[\w-]+)\)', pages['index.md'])) == set(found)
    assert 'other.md' not in pages, 'an operator belongs to no family: see FAMILIES'


def test_an_entry(pages):
    text = section(pages, 'FullyConnected')
    assert 'nd.FullyConnected(data, weight, bias=None, num_hidden, no_bias=False, flatten=True)' in text
    assert ('**Names** `nd.FullyConnected`, `nd.sparse.FullyConnected`, `npx.fully_connected`; the same below `sym`'
            in text)
    assert '| `bias` | array, with some attributes only | |' in text
    assert '| `num_hidden` | an int' in text and '| required |' in text
    assert 'data (1, 2), weight (3, 2), bias (3,) → (1, 3)' in text
    assert '**Gradient** To `data`, `weight`, `bias`.' in text


@pytest.mark.parametrize(('operator', 'sentence'), [
    ('BlockGrad', 'None goes through it, on purpose.'), ('SoftmaxOutput', 'To `data`, by a rule of its own.'),
    ('argmax', 'None.'), ('sgd_update', 'None is asked for'), ('_random_uniform', 'None.'),
    ('Cast', 'To `data`.'), ('Dropout', 'To `data`.'),
    ('Embedding', 'To `weight`.'), ('Convolution', 'To `data`, `weight`.')])
def test_gradients(pages, operator, sentence):
    assert f'**Gradient** {sentence}' in section(pages, operator)


def test_choices_and_methods(pages):
    assert re.search(r'`act_type` \|.*softsign.*\| required', section(pages, 'Activation'))
    assert '`NDArray.sum`' in section(pages, 'sum')
    assert 'a state that is updated' in section(pages, 'BatchNorm')
