"""Arguments of a wrong kind: errors name the function and the argument, not an operation inside of our code."""
import collections.abc
import inspect
import itertools
import signal
import warnings

import pytest

import mxnet as mx
from mxnet import _kinds

# modules whose functions and classes are checked as a whole, with values that fit nowhere
MODULES = ('util', 'engine', 'callback', 'recordio', 'lr_scheduler', 'rnn', 'image', 'metric', 'initializer',
           'gluon.utils', 'gluon.nn', 'gluon.rnn', 'gluon.loss', 'gluon.data', 'gluon.data.vision', 'gluon.contrib.rnn',
           'gluon.contrib.data', 'profiler', 'contrib.text.embedding', 'contrib.text.utils', 'model', 'optimizer')
# Arguments that are of any kind by their meaning, and what checks them later: (function, what Python says)
OTHERS = {
    'BucketSentenceIter', 'encode_sentences',       # sentences are iterables of iterables
    'with_defaults', 'DetRandomPadAug', 'RandomRotation', 'ReflectionPad2D', 'SymbolBlock', 'set_module',
    'BaseConvRNNCell', 'ConvGRUCell', 'ConvLSTMCell', 'ConvRNNCell',            # kernels: a number or a tuple
    'Conv1DGRUCell', 'Conv1DLSTMCell', 'Conv1DRNNCell', 'Conv2DGRUCell', 'Conv2DLSTMCell', 'Conv2DRNNCell',
    'Conv3DGRUCell', 'Conv3DLSTMCell', 'Conv3DRNNCell', 'Block', 'profiler_set_state',
    'check_sha1', 'replace_file',                   # open(5) opens a descriptor
}
VALUES = {'int': 5, 'str': 'a', 'None': None, 'object': object(), 'list': [1, 'a'], 'dict': {'a': 1}}


def functions(path):
    module = mx
    for part in path.split('.'):
        module = getattr(module, part)
    for name in getattr(module, '__all__', dir(module)):
        found = getattr(module, name)
        if callable(found) and not name.startswith('_') and name not in OTHERS and name != 'download' \
                and str(getattr(found, '__module__', '')).startswith('mxnet') \
                and not (isinstance(found, type) and issubclass(found, BaseException)):
            yield name, found


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('path', MODULES)
def test_no_words_of_python(path, tmp_path, monkeypatch):
    """Each function with one value for all required arguments: an error is ours, whatever the value."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('MXNET_HOME', str(tmp_path))
    seen, wrong = 0, {}
    before = mx.util.is_np_shape(), mx.util.is_np_array()
    bulk = mx.engine.set_bulk_size(15)
    signal.alarm(250)
    for name, function in functions(path):
        try:
            parameters = [p for p in inspect.signature(function).parameters.values()
                          if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        except (TypeError, ValueError):
            continue
        count = sum(p.default is p.empty for p in parameters)
        for shown, value in VALUES.items():
            seen += 1
            try:
                function(*[value] * max(1, count))
                assert (mx.util.is_np_shape(), mx.util.is_np_array()) == before or path == 'util'
            except Exception as error:
                text = str(error)
                if _kinds._PYTHON.search(text) and ' must be ' not in text and ' takes ' not in text:
                    wrong[f'{name}({shown})'] = f'{type(error).__name__}: {text}'
    signal.alarm(0)
    mx.engine.set_bulk_size(bulk)
    mx.util.set_np(*before)
    assert seen > 5 and not wrong


@pytest.mark.parametrize('call, text', [
    (lambda: mx.util.set_np('yes'), "set_np_shape: active must be True or False, not the str 'yes'"),
    (lambda: mx.engine.set_bulk_size('a'), "set_bulk_size: size must be an int, not the str 'a'"),
    (lambda: mx.model.save_checkpoint('x', 1, 5, {}, {}), 'save_checkpoint: symbol must be a Symbol, not the int 5'),
    (lambda: mx.model.save_checkpoint('x', 1, mx.sym.var('a'), 5, {}),
     'save_checkpoint: arg_params must be a dict of names and NDArrays, not the int 5'),
    (lambda: mx.rnn.encode_sentences(5), 'encode_sentences: sentences must be a list or another iterable'),
    (lambda: mx.rnn.BidirectionalCell(5, 6), 'BidirectionalCell: l_cell must be a cell of mx.rnn, such as'),
    (lambda: mx.recordio.MXRecordIO(5, 'r'), 'MXRecordIO: uri must be a file name (str or os.PathLike), not the int 5'),
    (lambda: mx.recordio.unpack(5), 'unpack: s must be bytes, not the int 5'),
    (lambda: mx.image.imresize('a.jpg', 2, 2), "imresize: src must be an NDArray, not the str 'a.jpg'"),
    (lambda: mx.image.fixed_crop([1], 0, 0, 1, 1), 'fixed_crop: src must be an NDArray, not a list'),
    (lambda: mx.gluon.rnn.LSTM(None), 'LSTM: hidden_size must be an int, not None'),
    (lambda: mx.gluon.nn.Conv2D(4, None), 'Conv2D: kernel_size must be an int or a tuple of ints, not None'),
    (lambda: mx.init.Mixed(5, 6), 'Mixed: patterns must be a list or tuple of str, not the int 5'),
    (lambda: mx.autograd.mark_variables(5, 6),
     'mark_variables: variables must be an NDArray or a list or tuple of NDArrays, not the int 5'),
    (lambda: mx.profiler.Task(5, 'a'), 'Task: domain must be a profiler.Domain, not the int 5'),
    (lambda: mx.nd.split_v2([1, 2], 2), 'split_v2: ary must be an NDArray, not [1, 2]'),
    (lambda: mx.np.kron(5, 6), 'kron: a must be an array, not the int 5; mx.np.array(x) converts it'),
    (lambda: mx.nd.concat(mx.nd.ones(2), None), 'operator Concat: input 1 must be an NDArray, not None'),
    (lambda: mx.sym.stack(mx.sym.var('a'), None), 'operator stack: input 1 must be a Symbol, not None'),
    (lambda: mx.np.ones(2, 3), 'unknown dtype 3; there are '),
    (lambda: mx.np.ones(2, 3), 'a shape with several axes is one tuple: (2, 3)'),
    (lambda: mx.gluon.rnn.GRU(8, num_layers=0), 'GRU: num_layers must be at least 1, not 0'),
    (lambda: mx.gluon.utils.clip_global_norm([mx.nd.ones(2)], 'a'),
     "clip_global_norm: max_norm must be a number, not the str 'a'"),
    (lambda: mx.metric.CompositeEvalMetric('acc'), 'metrics must be a list of metrics or names, such as'),
    (lambda: mx.profiler.set_config(filname='x'), '(did you mean filename?)'),
    (lambda: mx.runtime.Features().is_enabled('CUDAA'), '(did you mean CUDA?)'),
    (lambda: (mx.sym.var('data') + 1)(dta=mx.sym.var('x')), 'has no variable dta (did you mean data?)'),
    (lambda: mx.nd.contrib.foreach(lambda x, s: (x, s, s), mx.nd.ones((2, 2)), []),
     'foreach: body must return (output, states), but returned 3 values'),
    (lambda: mx.sym.contrib.foreach(lambda x, s: x, mx.sym.var('x'), []),
     'foreach: body must return (output, states), but returned a Symbol'),
    (lambda: mx.nd.contrib.while_loop(lambda a: a < 3, lambda a: (a, [a]), [mx.nd.ones(1)], max_iterations=[1]),
     'while_loop: max_iterations must be an int, not a list'),
    (lambda: mx.nd.contrib.while_loop(lambda a: a < 3, lambda a: None, [mx.nd.ones(1)], max_iterations=2),
     'while_loop: func must return (output, loop_vars), but returned None'),
])
def test_the_argument_is_named(call, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception) as caught:
        call()
    assert text in str(caught.value)


# ---------------------------------------------------------------------- methods
SHAPES = ([('data', (4, 5))], [('softmax_label', (4,))])
ODD = {'5': 5, 'a': 'a', 'object': object(), 'list': [1, 'a'], '2.5': 2.5, 'class': dict, 'bytes': b'x'}


def _module():
    module = mx.mod.Module(_net())
    module.bind(*SHAPES)
    module.init_params()
    module.init_optimizer()
    return module


def _net():
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3), name='softmax')


def _dense():
    block = mx.gluon.nn.Dense(3, in_units=2)
    block.initialize()
    return block


def _store():
    store = mx.kv.create('local')
    store.init('a', mx.nd.ones(2))
    return store


def _recorded():
    x = mx.nd.ones(2)
    x.attach_grad()
    with mx.autograd.record():
        return x * 2


# (what makes the object, its method, good arguments, the numbers of those to replace)
METHODS = [
    (lambda: mx.mod.Module(_net()), 'bind', SHAPES, (0, 1)),
    (_module, 'set_params', ({}, {}), (0,)),
    (_module, 'score', (lambda: mx.io.NDArrayIter(mx.nd.ones((4, 5)), mx.nd.zeros(4), 4), 'acc', 1, 5), (0, 2, 3)),
    (_module, 'iter_predict', (lambda: mx.io.NDArrayIter(mx.nd.ones((4, 5)), batch_size=4),), (0,)),
    (_module, 'update_metric', (lambda: mx.metric.Accuracy(), lambda: [mx.nd.zeros(4)]), (0, 1)),
    (_module, 'borrow_optimizer', (_module,), (0,)),
    (_module, 'install_monitor', (lambda: mx.mon.Monitor(1),), (0,)),
    (_module, 'save_checkpoint', ('m', 1), (0, 1)),
    (lambda: _module()._exec_group.execs[0], 'copy_params_from', ({}, {}), (0, 1)),
    (_net, 'simple_bind', (mx.cpu(), 'write', {}, {}), (2, 3)),
    (_net, 'attr', ('a',), (0,)),
    (_net, 'save', ('s.json',), (0,)),
    (_store, 'set_optimizer', (lambda: mx.optimizer.create('sgd'),), (0,)),
    (_store, 'set_gradient_compression', ({'type': '2bit'},), (0,)),
    (_dense, 'load_parameters', ('p.params',), (0,)),
    (_dense, 'collect_params', ('.*',), (0,)),
    (_dense, 'apply', (print,), (0,)),
    (lambda: _dense().collect_params(), 'update', ({},), (0,)),
    (lambda: _dense().collect_params(), 'get', ('w',), (0,)),
    (lambda: _dense().collect_params(), 'save', ('d.params', ''), (0, 1)),
    (lambda: mx.gluon.rnn.LSTM(3), 'begin_state', (2, mx.nd.zeros), (1,)),
    (lambda: mx.gluon.data.SimpleDataset([1, 2]), 'shard', (2, 0), (0, 1)),
    (lambda: mx.gluon.data.SimpleDataset([1, 2]), 'take', (1,), (0,)),
    (lambda: mx.lr_scheduler.FactorScheduler(2), '__call__', (3,), (0,)),
    (lambda: mx.init.Xavier(), '__call__', ('x_weight', lambda: mx.nd.ones((2, 2))), (1,)),
    (lambda: mx.metric.Accuracy(), 'update_dict', ({}, {}), (0, 1)),
    (_recorded, 'backward', (None, False), (1,)),
]


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('make, method, good, places', METHODS, ids=[f'{i}-{m[1]}' for i, m in enumerate(METHODS)])
def test_no_words_of_python_from_methods(make, method, good, places, tmp_path, monkeypatch):
    """Each argument in turn is of another kind: an error names it, whatever the value."""
    monkeypatch.chdir(tmp_path)
    wrong = {}
    for place in places:
        for shown, value in ODD.items():
            if good[place] is print and callable(value):
                continue
            arguments = [a() if callable(a) and a not in (print, mx.nd.zeros) else a for a in good]
            arguments[place] = value
            try:
                found = getattr(make(), method)(*arguments)
                if inspect.isgenerator(found):
                    list(found)
            except Exception as error:
                if (_kinds._PYTHON.search(str(error)) or type(error) is KeyError) and ' must be ' not in str(error):
                    wrong[f'{place}: {shown}'] = f'{type(error).__name__}: {error}'
    assert not wrong


@pytest.mark.parametrize('call, text', [
    (lambda: _module().set_params(5, {}),
     'arg_params must be a dict of names and NDArrays, not the int 5'),
    (lambda: list(_module().iter_predict(5)), 'Module.iter_predict: eval_data must be a DataIter, not the int 5'),
    (lambda: _module()._exec_group.execs[0].copy_params_from(5),
     'Executor.copy_params_from: arg_params must be a dict of names and NDArrays, not the int 5'),
    (lambda: mx.sym.var('x', init=5), 'var: init must be an initializer of mx.init or the name of one, not the int 5'),
    (lambda: mx.sym.var('x', stype='dense'), "var: stype must be 'default', 'row_sparse', 'csr', not 'dense'"),
    (lambda: mx.image.random_size_crop(mx.nd.ones((8, 8, 3)), (4, 4), 'a', (1, 2)),
     "random_size_crop: area must be a number or a tuple of 2 numbers, not the str 'a'"),
    (lambda: mx.image.random_size_crop(mx.nd.ones((8, 8, 3)), (4,), .5, (1, 2)),
     'size must be a tuple of 2 ints, not (4,)'),
    (lambda: mx.nd.dot(None, mx.nd.ones(2)), 'operator dot: input lhs is missing'),
    (lambda: _recorded().backward(retain_graph='yes'), "retain_graph must be True or False, not the str 'yes'"),
    (lambda: mx.nd.zeros(1 << 70), 'a length is over 2**63 - 1'),
    (lambda: mx.nd.ones((2, 3)).reshape((1 << 70,)), 'reshape: a shape is one int or several, each below 2**63'),
    (lambda: mx.np.split(mx.np.ones(4), 2, axis=5), 'an array of shape (4,) has no axis 5'),
    (lambda: mx.gluon.data.DataLoader(5, 2, sampler=[0]), 'DataLoader: dataset must be a Dataset, or another object'),
    (lambda: mx.gluon.data.DataLoader([1], batch_sampler=5), 'batch_sampler must be an iterable of lists of numbers'),
    (lambda: mx.gluon.data.SequentialSampler(3, 'a'), "SequentialSampler: start must be an int, not the str 'a'"),
    (lambda: mx.gluon.data.vision.ImageRecordDataset('a.rec', transform=5),
     'transform must be a function, not the int 5'),
    (lambda: mx.viz.print_summary(_net(), line_length='a'),
     "print_summary: line_length must be an int, not the str 'a'"),
])
def test_the_argument_of_a_method_is_named(call, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with mx.recordio.MXIndexedRecordIO('a.idx', 'a.rec', 'w') as records:
        records.write_idx(0, b'x')
    with pytest.raises(Exception) as caught:
        call()
    assert text in str(caught.value)


def test_annotations_are_divided_outside_of_brackets():
    assert _kinds._divided('Sequence[str | int] | None', ' | ') == ['Sequence[str | int]', 'None']
    assert _kinds._divided('str, Callable[..., Any]', ', ') == ['str', 'Callable[..., Any]']


def test_a_refused_set_np_changes_nothing():
    for shape, array in (('yes', True), (7, True), (None, True)):
        with pytest.raises((TypeError, ValueError)):
            mx.npx.set_np(shape, array)
        assert not mx.util.is_np_array() and not mx.util.is_np_shape()


def test_pack_img_names_the_format(tmp_path):
    pytest.importorskip('cv2')
    picture = mx.nd.ones((4, 4, 3)).asnumpy()
    with pytest.raises(mx.MXNetError, match=r"pack_img: OpenCV has no encoder for img_fmt='\.xyz'; it takes"):
        mx.recordio.pack_img(mx.recordio.IRHeader(0, 1, 1, 0), picture, img_fmt='.xyz')


def test_errors_of_programs_stay():
    """An error that a function of the program raises inside of ours is not one of ours."""
    def bad(symbol):
        return symbol.nothing

    with pytest.raises(AttributeError, match="object has no attribute 'nothing'"), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        mx.gluon.data.FilterSampler(lambda x: bad(x), [1, 2])


def test_names_and_signatures_stay():
    assert mx.image.imresize.__name__ == 'imresize' and 'interp' in inspect.signature(mx.image.imresize).parameters
    assert mx.recordio.unpack.__module__ == 'mxnet.recordio'


def test_annotations_that_are_types_and_elements_that_differ():
    def types(count: int, names: list[str] | None, pair: tuple[int, str], sizes: tuple[int, ...]):
        return count + 1, names, pair, sizes

    def wrong(*args):
        with pytest.raises(TypeError) as error:
            _kinds.explained(types, 'types')(*args)
        return str(error.value)

    assert wrong('a', None, (1, 'a'), (1,)) == "types: count must be an int, not the str 'a'"
    for odd in None, object():              # the others fit, also a pair of two kinds
        assert 'types: count must be an int' in wrong(odd, ['a'], (1, 'a'), (1, 2))
    found = _kinds.complaint(types, 'types', (1, [5], (1, 'a'), (1,)), {}, TypeError("'int' object is not iterable"))
    assert str(found) == 'types: names must be a list of str, not [5]'
    found = _kinds.complaint(types, 'types', (1, None, (1, 'a'), (1, 'b')), {}, TypeError("'a' object is not iterable"))
    assert str(found) == "types: sizes must be a tuple of ints, not (1, 'b')"


def test_iterators_are_not_read_for_an_error():
    def endless(numbers: collections.abc.Iterable[int], count: int):
        return next(numbers) + count

    with pytest.raises(TypeError, match="endless: count must be an int, not the str 'a'"):
        _kinds.explained(endless, 'endless')(itertools.count(), 'a')


@pytest.mark.parametrize('call', [
    lambda: _net().infer_shape(),
    lambda: mx.sym.var('a').infer_type(),
    lambda: mx.mod.Module(_net()).bind([('data', (4, 5))], [('other', (4,))]),
    lambda: _module().init_params(),
    lambda: _module().init_optimizer(optimizer=mx.optimizer.SGD(), force_init=True),
    lambda: _module().prepare(None, lambda batch: {}),
    lambda: _dense().collect_params().setattr('colour', 1),
    lambda: _dense().weight.initialize(),
    lambda: mx.init.One()('a_weight', mx.nd.ones(2)),
    lambda: _net().simple_bind(mx.cpu(), data=(4, 5), other=(4,)),
])
def test_a_warning_of_an_explained_method_names_the_line_of_the_program(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        call()
    assert caught and caught[0].filename == __file__
