"""Errors speak of what the program did: of its data, its labels and its layers, never of what computes inside."""
import os
import re
import warnings

import mistakes
import numpy as onp
import pytest

import mxnet as mx
from mxnet import _names, _wording, autograd, gluon, nd, sym
from mxnet.gluon import loss as L

# words of torch, of its C++ inside, and of Python's inside, none of which the program has written
FORBIDDEN = re.compile(r"\baten\b|\bat::|c10|mat1|mat2|tensor a\b|Expected all tensors|Allocator|enforce "
                       r"fail|\btensors?\b|RuntimeError"
                       r"|NoneType' object|object has no attribute(?! '\w+'. Use )|not subscriptable"
                       r"|unsupported operand|not callable")
X, Y = onp.ones((8, 5), 'float32'), onp.zeros(8, 'float32')


# ---------------------------------------------------------------------- what the programs of the table use
def A(*shape):
    return nd.ones(shape)


def mlp():
    x = sym.Activation(sym.FullyConnected(sym.var('data'), num_hidden=4, name='fc1'), act_type='relu')
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=3, name='fc2'), name='softmax')


def mod():
    module = mx.mod.Module(mlp())
    module.bind([('data', (4, 5))], [('softmax_label', (4,))])
    module.init_params()
    module.init_optimizer()
    return module


def unlabelled():
    module = mx.mod.Module(mlp(), label_names=None)
    module.bind([('data', (4, 5))], for_training=False)
    return module


def init(block, hybrid=False):
    block.initialize()
    if hybrid:
        block.hybridize()
    return block


def dense(units=3, **kwargs):
    return init(gluon.nn.Dense(units, **kwargs))


def seq(hybrid=False):
    net = gluon.nn.HybridSequential()
    with net.name_scope():
        net.add(gluon.nn.Dense(4, in_units=5, activation='relu'), gluon.nn.Dense(3, in_units=4))
    return init(net, hybrid)


def twice(net, good, bad):
    for _ in range(3):
        net(good)
    return net(bad)


def rec(function):
    with autograd.record():
        return function()


def tr():
    net = dense(in_units=2)
    trainer = gluon.Trainer(net.collect_params(), 'sgd')
    with autograd.record():
        loss = net(A(2, 2)).sum()
    loss.backward()
    return trainer


def inpl():
    a = A(2, 3)
    a += A(4)
    return a


def asg(key, value):
    a = A(2, 3)
    a[key] = value
    return a


def npm(function):
    with mx.util.np_array(True), mx.util.np_shape(True):
        return function()


def kvl():
    store = mx.kv.create('local')
    store.init('a', A(2, 2))
    return store


def R():
    return mx.recordio.MXIndexedRecordIO('a.idx', 'a.rec', 'r')


def tape():
    """The result of a recorded computation."""
    x = A(2)
    x.attach_grad()
    with autograd.record():
        return x * 2


def hybrid(head, result, init=''):
    """A hybridized block with one method, `def <head>: return <result>`."""
    names = {'gluon': gluon, 'nd': nd}
    exec(f'class Net(gluon.HybridBlock):\n    def __init__(self):\n        super().__init__()\n        {init or "pass"}'
         f'\n    def {head}: return {result}', names)
    net = names['Net']()
    net.initialize()
    net.hybridize()
    return net


NAMES = {'A': A, 'L': L, 'M': mx.metric, 'R': R, 'X': X, 'Y': Y, 'asg': asg, 'autograd': autograd, 'dense': dense,
         'gluon': gluon, 'hybrid': hybrid, 'init': init, 'inpl': inpl, 'kvl': kvl, 'mlp': mlp, 'mod': mod, 'mx': mx,
         'nd': nd, 'nn': gluon.nn, 'np': mx.np, 'npm': npm, 'npx': mx.npx, 'onp': onp, 'rec': rec, 'seq': seq,
         'sym': sym, 'tape': tape, 'tr': tr, 'twice': twice, 'unlabelled': unlabelled}


@pytest.fixture(scope='module', autouse=True)
def files(tmp_path_factory):
    """A folder with a good record file, and others that are none of what their names say."""
    before, folder = os.getcwd(), tmp_path_factory.mktemp('mistakes')
    os.chdir(folder)
    for name, text in (('junk.params', 'hello world, this is no params file'), ('junk.json', '{"a":'),
                       ('junk.jpg', 'hello'), ('junk.rec', 'hello world, this is no record file'),
                       ('junk.csv', 'a,b\n1,x\n')):
        (folder / name).write_text(text)
    record = mx.recordio.MXIndexedRecordIO('a.idx', 'a.rec', 'w')
    for i in range(3):
        record.write_idx(i, b'abc')
    record.close()
    yield
    os.chdir(before)


def rows():
    for name in ('MODULES', 'GLUON', 'OTHERS', 'NEWCOMERS', 'READERS', 'CALLS'):
        for line in getattr(mistakes, name).strip().splitlines():
            program, kind, words = line.split(' | ')
            yield pytest.param(program, kind, words.split('; '), id=program[:70])


@pytest.mark.filterwarnings('ignore:mx.model.FeedForward is deprecated', 'ignore:label_shapes has')
@pytest.mark.parametrize('program, kind, words', list(rows()))
def test_mistake(program, kind, words):
    if kind == 'UserWarning':
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter('always')
            mx.context._interned.pop((1, -1), None), mx.context._interned.pop((2, -1), None)
            try:
                eval(program, dict(NAMES))
            except UserWarning as error:        # Trainer.step raises it, as in MXNet 1.9.1
                told.append(warnings.WarningMessage(error, UserWarning, '', 0))
        text = ' '.join(str(w.message) for w in told if issubclass(w.category, UserWarning))
    else:
        with pytest.raises(Exception) as caught:
            eval(program, dict(NAMES)).wait_to_read()
        kind = {'error': re.error.__name__}.get(kind, kind)          # PatternError since Python 3.13
        assert kind in [cls.__name__ for cls in type(caught.value).__mro__]
        text = str(caught.value)
    for word in words:
        assert word in text
    found = FORBIDDEN.search(text)
    assert found is None, f'{found[0]!r} in: {text}'


LOSSES = ('L1Loss', 'L2Loss', 'SigmoidBinaryCrossEntropyLoss', 'SoftmaxCrossEntropyLoss', 'KLDivLoss', 'HuberLoss',
          'HingeLoss', 'SquaredHingeLoss', 'LogisticLoss', 'PoissonNLLLoss')


@pytest.mark.parametrize('way', ['plain', 'hybrid', 'step', 'hybrid step'])
@pytest.mark.parametrize('name', LOSSES)
def test_labels_of_a_wrong_shape(name, way):
    """All losses name the label and both shapes, however they are computed."""
    for wrong in ((5,), (4, 7), (5, 3)):
        loss, net = getattr(L, name)(), init(gluon.nn.Dense(3, in_units=5), 'step' in way)
        if 'hybrid' in way:
            loss.hybridize()
        good = A(4) if name == 'SoftmaxCrossEntropyLoss' else A(4, 3)
        with pytest.raises(mx.MXNetError) as caught:
            if 'step' not in way:
                loss(A(4, 3), A(*wrong))
            for n in range(4):
                with autograd.record():
                    out = loss(net(A(4, 5)), A(*wrong) if n == 3 else good)
                out.backward()
        text = str(caught.value)
        assert f'label has shape {wrong}' in text and '(4, 3)' in text and name.lower() in text.lower()
        assert FORBIDDEN.search(text) is None, text


@pytest.mark.parametrize('text, said', [
    ("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate "
     "4096 bytes. "
     'Error code 12 (Cannot allocate memory)', 'there is not enough memory: 4096 bytes (4.0 KiB) are needed'),
    ('CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 139.00 GiB of which 1.00 GiB is '
     'free. '
     'Process 1 has 3 GiB memory in use.',
     'the GPU has not enough memory: 2.00 GiB are needed, 1.00 GiB of 139.00 GiB are free. A smaller batch needs less, '
     'as do hybridize() and mixed precision (mx.contrib.amp); grad_req="add" makes one step of several small batches'),
    ('mat1 and mat2 shapes cannot be multiplied (4x5 and 6x4)',
     'matrices of shapes (4, 5) and (6, 4) cannot be multiplied: the first has 5 columns, the second 6 rows'),
    ('Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!',
     'the arrays are on different devices, cuda:0 and cpu; bring them together with as_in_context'),
    ('"addmm_impl_cpu_" not implemented for \'Half\'', 'it is not defined for float16'),
    ('expected scalar type Float but found Double', 'the dtype must be float32, not float64'),
    ('something at::native::foo about a tensor of c10::Half', 'something foo about a array of Half'),
    ('what we have said ourselves (2, 3)', 'what we have said ourselves (2, 3)')])
def test_wording(text, said):
    assert _wording.plain(RuntimeError(text)) == said


@pytest.mark.parametrize('text', [
    'mat1 and mat2 shapes cannot be multiplied (4x6 and 5x3)',
    'size mismatch, got input (3), mat (3x4), vec (5)',
    'The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1',
    'Dimension out of range (expected to be in range of [-2, 1], but got 5)'])
@pytest.mark.parametrize('kernel', ['addmm: ', 'aten.mm: ', 'baddbmm(): '])
def test_wording_after_the_name_of_a_kernel(kernel, text):
    """torch 2.15 writes the name of its kernel before what is wrong; neither may reach a user."""
    said = _wording.plain(RuntimeError(text))
    assert said != text and _wording.plain(RuntimeError(kernel + text)) == said
    assert _wording.translated(kernel + text, 'FullyConnected') == _wording.translated(text, 'FullyConnected')


def test_names_that_are_near():
    assert _names.near('dta', ['data', 'label']) == ' (did you mean data?)' and _names.near('zzz', ['data']) == ''


def test_a_name_of_an_initializer_will_do():
    module = mx.mod.Module(mlp())
    module.fit(mx.io.NDArrayIter(X, Y, 4), num_epoch=1, initializer='ones', optimizer_params={'learning_rate': 0.0})
    assert (module.get_params()[0]['fc1_weight'].asnumpy() == 1).all()


def test_what_1_9_1_accepts_is_accepted():
    assert mx.nd.full((2, 2), [1, 2]).asnumpy().tolist() == [[1, 2], [1, 2]]
    assert mx.nd.full((2, 2), nd.array([1, 2])).asnumpy().tolist() == [[1, 2], [1, 2]]
    for dtype in ('float32', 'int32'):          # the limits are crossed: 1.9.1 looks at the upper one first
        x = nd.array([0, 2, 5], dtype=dtype)
        assert nd.clip(x, 3, 1).asnumpy().tolist() == [3, 1, 1]
    x = nd.array([0.0, 2.0, 5.0])
    x.attach_grad()
    with autograd.record():
        y = nd.clip(x, 3, 1)
    y.backward()
    assert y.asnumpy().tolist() == [3, 1, 1] and x.grad.asnumpy().tolist() == [0, 0, 0]
    net = gluon.nn.HybridLambda(lambda F, x: F.clip(x, 3, 1))
    net.hybridize()
    assert [net(x).asnumpy().tolist() for _ in range(3)] == [[3, 1, 1]] * 3


def test_an_input_of_a_saved_network_that_has_another_name():
    """The input was taken for a parameter, which the file then lacks; the name that was given is the mistake."""
    net = init(gluon.nn.HybridSequential(), hybrid=True)
    net.add(dense(2, in_units=3))
    net(A(1, 3))
    net.export('saved')
    with pytest.raises(mx.MXNetError, match="input_names has 'x', but the network has no such input.*'data'"):
        gluon.SymbolBlock.imports('saved-symbol.json', ['x'], 'saved-0000.params')
