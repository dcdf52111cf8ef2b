"""Misspelt names: every public module, class and registry suggests the name that is meant."""
import subprocess
import sys

import numpy as onp
import pytest
from mistakes_names import FORGOTTEN, KEYWORDS, NAMES_OF_OTHERS

import mxnet as mx
from mxnet import gluon, nd, sym

MODULES = (
    'nd', 'nd.op', 'nd.contrib', 'nd.random', 'nd.linalg', 'nd.image', 'nd.sparse', 'nd.np', 'nd.npx', 'sym', 'sym.op',
    'sym.contrib', 'sym.random', 'sym.linalg', 'sym.image', 'sym.sparse', 'sym.np', 'sym.npx', 'np', 'np.random',
    'np.linalg', 'npx', 'npx.random', 'npx.image', 'gluon', 'gluon.nn', 'gluon.rnn', 'gluon.loss', 'gluon.data',
    'gluon.data.vision', 'gluon.data.vision.transforms', 'gluon.utils', 'gluon.model_zoo.vision', 'gluon.contrib.nn',
    'gluon.contrib.rnn', 'gluon.contrib.cnn', 'gluon.contrib.estimator', 'optimizer', 'optimizer.optimizer', 'init',
    'metric', 'lr_scheduler', 'io', 'image', 'recordio', 'callback', 'context', 'kv', 'random', 'autograd', 'viz',
    'profiler', 'model', 'mod', 'rnn', 'operator', 'util', 'test_utils', 'monitor', 'name', 'attribute', 'engine',
    'runtime', 'registry', 'contrib', 'contrib.amp', 'contrib.text', 'contrib.quantization', 'onnx', 'visualization')


def find(path):
    found = mx
    for part in path.split('.'):
        found = getattr(found, part)
    return found


def ours(value):
    return getattr(value, '__module__', getattr(value, '__name__', 'mxnet')).startswith('mxnet')


def misspelt(name):
    """Common typing mistakes: two letters exchanged, one left out, one doubled, the case, an underscore left out."""
    middle = len(name) // 2
    if len(name) >= 4:
        yield name[:middle] + name[middle + 1:]
        yield name[:middle] + name[middle] + name[middle:]
        if name[middle] != name[middle - 1]:
            yield name[:middle - 1] + name[middle] + name[middle - 1] + name[middle + 1:]
    if len(name) >= 3:
        yield name.swapcase()
    if '_' in name:
        yield name.replace('_', '')


@pytest.mark.parametrize('path', MODULES)
def test_a_module_suggests_its_names(path):
    module = find(path)
    names = [n for n in dir(module) if not n.startswith('_') and ours(getattr(module, n))]
    tried = right = 0
    for name in names[::max(1, len(names) // 40)]:
        for wrong in misspelt(name):
            if hasattr(module, wrong):
                continue
            with pytest.raises(AttributeError) as caught:
                getattr(module, wrong)
            text = str(caught.value)
            assert wrong in text and module.__name__ in text
            tried += 1
            right += ". Did you mean: '" in text and text.rsplit("'", 2)[1].replace('_', '').lower() \
                == name.replace('_', '').lower()
    assert right >= 0.85 * tried, f'{right} of {tried}'      # names such as exp and expm1 are near to each other


def test_a_missing_name_is_a_plain_attribute_error():
    for module in (mx, nd, sym, gluon.nn):
        assert not hasattr(module, 'zzzqqq') and getattr(module, 'Dens', 5) == 5
        with pytest.raises(AttributeError, match="has no attribute 'zzzqqq'$"):
            module.zzzqqq  # noqa: B018
        with pytest.raises(AttributeError, match="has no attribute '_dense'$"):
            module._dense  # noqa: B018


def test_python_adds_no_second_suggestion():
    program = 'import mxnet as mx\nmx.nd.Convolutoin'
    said = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)
    assert said.stderr.splitlines()[-1] == \
        "AttributeError: module 'mxnet.ndarray' has no attribute 'Convolutoin'. Did you mean: 'Convolution'?"


@pytest.mark.parametrize('program, words', KEYWORDS, ids=[program for program, _ in KEYWORDS])
def test_keyword_arguments(program, words):
    names = {'mx': mx, 'nd': nd, 'sym': sym, 'gluon': gluon, 'nn': gluon.nn, 'X': onp.ones((4, 2)), 'Y': onp.ones(4),
             'net': gluon.nn.Dense(2, in_units=2), 'A': nd.ones((2, 3))}
    with pytest.raises((TypeError, ValueError, mx.MXNetError)) as caught:
        eval(program, names)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize('module, wrong, right', NAMES_OF_OTHERS)
def test_names_of_other_libraries(module, wrong, right):
    with pytest.raises(AttributeError, match=rf"'{wrong}'. Did you mean: '{right}'\?"):
        getattr(find(module), wrong)


@pytest.mark.parametrize('create', [mx.optimizer.create, mx.metric.create, mx.init.create])
def test_registries(create):
    table = {mx.optimizer.create: 'adadelta adagrad adam adamax dcasgd ftml ftrl lamb lars nadam rmsprop signum',
             mx.metric.create: 'accuracy crossentropy perplexity pearsonr top_k_accuracy composite',
             mx.init.create: 'bilinear constant lstmbias msraprelu normal orthogonal uniform xavier'}[create]
    for name in table.split():
        wrong = name[:3] + name[4:] if len(name) > 4 else name + name[-1]
        with pytest.raises((ValueError, mx.MXNetError)) as caught:
            create(wrong)
        said = str(caught.value)
        assert repr(wrong) in said and '(did you mean ' in said and '; registered are ' in said


def test_the_list_of_optimizers_is_for_users():
    with pytest.raises(ValueError) as caught:
        mx.optimizer.create('zzz')
    names = str(caught.value).split('registered are ')[1].split(', ')
    assert 'sgd' in names and 'adam' in names and 'test' not in names
    assert type(mx.optimizer.create('test')).__name__ == 'Test'         # programs may still make it


@pytest.mark.parametrize('source', FORGOTTEN)
def test_a_forgotten_super_init(source):
    base, body, use = source
    names = {'mx': mx, 'gluon': gluon, 'nn': gluon.nn, 'nd': nd}
    exec(f'class Mine({base}):\n    def __init__(self):\n        {body}\n    forward = lambda self, x: x\n'
         f'    hybrid_forward = lambda self, F, x, *y: x\n', names)
    with pytest.raises(AttributeError) as caught:
        eval(use, names)
    assert 'Mine' in str(caught.value) and 'super().__init__()' in str(caught.value)


def test_errors_of_properties_are_kept():
    class Net(gluon.nn.Block):
        @property
        def width(self):
            return self.nothing

    with pytest.raises(AttributeError, match='nothing'):
        Net().width  # noqa: B018


def test_labels_that_are_no_classes():
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    net = gluon.nn.Dense(3, in_units=2)
    net.initialize()
    net.hybridize()
    good, bad = nd.array([0, 2]), nd.array([0, 3])
    for _ in range(20):                         # also where a step repeats the one before
        with mx.autograd.record():
            out = loss(net(nd.ones((2, 2))), good)
        out.backward()
    with pytest.warns(UserWarning, match=r'labels go from 0 to 3, but .* \(2, 3\) has 3 classes, 0 to 2'):
        with mx.autograd.record():
            out = loss(net(nd.ones((2, 2))), bad)
        out.backward()
    loss(nd.ones((2, 3)), bad)                                              # it warns once
    gluon.loss.SoftmaxCrossEntropyLoss()(nd.ones((2, 3)), nd.array([0, -1]), nd.array([[1], [0]]))      # masked
    gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False)(nd.ones((2, 3)), nd.ones((2, 3)) * 7)
    with pytest.warns(UserWarning, match='SoftmaxCrossEntropyLoss: the labels go from -1 to 1'):
        gluon.loss.SoftmaxCrossEntropyLoss()(nd.ones((2, 3)), nd.array([-1, 1]))


def test_labels_that_are_no_classes_in_metrics():
    metric = mx.metric.Accuracy()
    metric.update([nd.array([0, 1, -1])], [nd.ones((3, 2))])
    with pytest.warns(UserWarning, match='metric accuracy: there is a label 2, but the predictions have 2 classes'):
        for _ in range(100):
            metric.update([nd.array([0, 2, 1])], [nd.ones((3, 2))])
        metric.get()
    with pytest.warns(UserWarning, match='top_k_accuracy_2: there is a label 9'):
        mx.metric.TopKAccuracy(2).update([nd.array([9])], [nd.ones((1, 4))])
    mx.metric.Accuracy().update([nd.array([7, 8])], [nd.array([7, 8])])     # predictions that are classes already


@pytest.mark.parametrize('data, label', [((4, 2), 5), ((4, 2), 3), ((5, 2), 1)])
def test_data_and_labels_of_different_lengths(data, label):
    with pytest.raises(mx.MXNetError, match=f"'softmax_label' has {label} examples, but 'data' has {data[0]}"):
        mx.io.NDArrayIter(onp.ones(data), onp.ones(label), 2)


def test_dir_has_no_names_of_other_libraries():
    """Programs walk over `dir()`: every name in it can be read."""
    net = gluon.nn.Dense(2, in_units=2)
    net.initialize()
    for thing in (nd.ones((2, 2)), mx.np.ones((2, 2)), net, mx.sym.var('x')):
        assert [name for name in dir(thing) if not name.startswith('_') and not hasattr(thing, name)] == []
    assert 'cuda' not in dir(nd.ones(2)) and 'asnumpy' in dir(nd.ones(2))


def test_programs_may_use_names_of_other_libraries_themselves():
    class Net(gluon.Block):
        def __init__(self):
            super().__init__()
            self.parameters = 3
    assert Net().parameters == 3 and 'parameters' in dir(Net())
