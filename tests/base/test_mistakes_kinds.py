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
     'mark_variables: variables must be an NDArray or a list or tuple, not the int 5'),
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
            _kinds.explained(types)(*args)
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
        _kinds.explained(endless)(itertools.count(), 'a')
