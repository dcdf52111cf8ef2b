"""What is said of odd files: the place and what is wrong there, never what Python says of its own objects."""
import json
import lzma
import pickle
import re
import struct
import zipfile

import numpy as np
import pytest

import mxnet as mx
from mxnet import _wording
from mxnet.base import FileError, MXNetError
from mxnet.cli import _networks, _npy, main
from mxnet.ndarray import sparse

RAW = re.compile(r"invalid literal|could not convert|to unpack|zip\(\)|Errno|cannot convert|object has no|not iterable|"
                 r"embedded null|enforce fail|malformed node|integer is required|recursion")


def said(call, *args):
    with pytest.raises(MXNetError) as caught:
        call(*args)
    assert not RAW.search(str(caught.value)), caught.value
    return str(caught.value)


@pytest.mark.parametrize('error, text', [
    (ValueError("invalid literal for int() with base 10: 'x'"), "'x' is not a whole number"),
    (ValueError("invalid literal for int() with base 10: b'builtins'"), "'builtins' is not a whole number"),
    (ValueError("could not convert string to float: '--1'"), "'--1' is not a number"),
    (ValueError('not enough values to unpack (expected 2, got 1)'), 'it has 1 parts, not 2'),
    (ValueError('cannot convert float NaN to integer'), 'NaN is not a whole number'),
    (ValueError('embedded null byte'), 'a name has the character NUL in it'),
    (OSError(36, 'File name too long', '/tmp/x'), 'File name too long'),
])
def test_words_of_python(error, text):
    assert _wording.plain(error) == text


def test_control_characters_in_errors_are_escaped(tmp_path):
    """A name of a file must not clear the terminal of who reads the error."""
    file = tmp_path / 'a.params'
    mx.nd.save(str(file), {'\x1b[31mred\u202e': mx.nd.ones((2,))})
    net = mx.gluon.nn.Dense(2, in_units=2)
    text = said(net.load_parameters, str(file))
    assert text.isprintable() or set(text) - {'\n'} == {c for c in text if c.isprintable()}
    assert r'\x1b[31mred\u202e' in text
    assert str(MXNetError('两行\n\tü')) == '两行\n\tü'
    assert str(FileError('a\rb')) == r'a\rb'


@pytest.mark.parametrize('line, text', [('nan\t1\tp.png', "'nan' is not a whole number"),
                                        ('1\tx\tp.png', "'x' is not a number")])
def test_lists_of_images(tmp_path, line, text):
    path = tmp_path / 'a.lst'
    path.write_text(line + '\n')
    assert text in said(lambda: mx.image.ImageIter(1, (3, 4, 4), path_imglist=str(path), path_root=str(tmp_path)))


def test_index_of_records(tmp_path):
    (tmp_path / 'a.idx').write_text('0 0\n')
    (tmp_path / 'a.rec').write_bytes(b'')
    text = said(mx.recordio.MXIndexedRecordIO, str(tmp_path / 'a.idx'), str(tmp_path / 'a.rec'), 'r')
    assert "line 1 should be a key, a tab and a position, but is '0 0': it has 1 parts, not 2" in text


@pytest.mark.parametrize('data, text', [(b'\x80\x02Ibuiltins\n.', "'builtins' is not a whole number"),
                                        (b'\x80\x02}(K\x00u.', 'keys and values are not equally many')])
def test_states(tmp_path, data, text):
    path = tmp_path / 'a.states'
    path.write_bytes(data)
    net = mx.gluon.nn.Dense(2, in_units=2)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd')
    assert text in said(trainer.load_states, str(path))


@pytest.mark.parametrize('head', ["{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}",
                                  "{'descr': '<f4', 'fortran_order': False, 'shape': (True,)}",
                                  "__import__('os').system('true')", '(' * 5000])
def test_headers_of_npy(head):
    text = (head + '\n').encode()
    data = b'\x93NUMPY\x01\0' + struct.pack('<H', len(text)) + text + bytes(100)
    assert 'x.npy is not an .npy array' in said(_npy.load, data, 'x.npy')


@pytest.mark.parametrize('head', [float('nan'), float('inf'), -float('inf')])
def test_heads_of_detection_labels(tmp_path, head):
    picture = np.zeros((8, 8, 3), 'uint8')
    path = str(tmp_path / 'a.rec')
    with mx.recordio.MXRecordIO(path, 'w') as file:
        label = np.array([head, 5, 0, .1, .1, .9, .9], 'float32')
        file.write(mx.recordio.pack_img(mx.recordio.IRHeader(0, label, 0, 0), picture))
    text = said(lambda: next(mx.io.ImageDetRecordIter(path_imgrec=path, data_shape=(3, 8, 8), batch_size=1)))
    assert f'a head of {head} and' in text


SIGNATURES = {
    '{"inputs": true}': 'inputs: expected a list of objects, found True',
    '{"inputs": ["x"]}': "input 0: expected an object, found 'x'",
    '{"inputs": [{"data_name": 5}]}': 'input 0: data_name: expected a text, found 5',
    '{"inputs": [{"data_name": "data", "data_shape": [1, "x"]}]}': 'input 0: data_shape: expected a list of whole',
    '{"inputs": [{"data_name": "data", "data_shape": 7}]}': 'input 0: data_shape: expected a list of whole numbers',
    '[]': 'a signature is a JSON object, not a list',
    '[' * 100000: 'nested too deeply',
}


@pytest.mark.parametrize('content', SIGNATURES, ids=range(len(SIGNATURES)))
def test_signatures(tmp_path, content):
    path = tmp_path / 'signature.json'
    path.write_text(content)
    text = said(_networks._described_shapes, str(tmp_path / 'net'), ['data'])
    assert str(path) in text
    assert SIGNATURES[content] in text or 'takes' in text
    path.write_text('{"inputs": [{"data_name": "data", "data_shape": [0, 3]}, {}]}')
    assert _networks._described_shapes(str(tmp_path / 'net'), ['data']) == {'data': (1, 3)}


def test_layers_with_odd_names(tmp_path, capsys):
    name = 'a"b\\c\u540d'
    net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name=name)
    mx.model.save_checkpoint(str(tmp_path / 'net'), 1, net, {f'{name}_weight': mx.nd.ones((2, 3)),
                                                             f'{name}_bias': mx.nd.ones((2,))}, {})
    assert main(['inspect', '--summary', str(tmp_path / 'net'), '--shape', 'data=1,3', '--repeat', '1', '--json']) == 0
    layers = json.loads(capsys.readouterr().out)
    assert any(layer['name'] == name and layer['peak_bytes'] for layer in _layers(layers))


def _layers(found):
    if isinstance(found, dict):
        if 'peak_bytes' in found and 'name' in found:
            yield found
        for value in found.values():
            yield from _layers(value)
    elif isinstance(found, list):
        for value in found:
            yield from _layers(value)


def test_initializers_that_lack_an_argument():
    text = said(lambda: mx.sym.load_json(mx.sym.var('a', init='["constant", {}]').tojson()).attr_dict()['a'] and
                mx.init.Uniform()(mx.init.InitDesc('a', {'__init__': '["constant", {}]'}), mx.nd.ones((2,))))
    assert "it needs the argument 'value'" in text and '__init__()' not in text


def test_shapes_that_follow_from_values():
    text = said(lambda: mx.sym.np.flatnonzero(mx.sym.var('a').as_np_ndarray()).infer_shape(a=(2, 3))
                if hasattr(mx.sym.np, 'flatnonzero') else mx.sym.npx.nonzero(mx.sym.var('a').as_np_ndarray())
                .infer_shape(a=(2, 3)))
    assert 'the shape of its result follows from values' in text


def test_archives_that_lzma_refuses(tmp_path):
    from mxnet._serve import archives
    path = tmp_path / 'm.mar'
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_LZMA) as file:
        file.writestr('MAR-INF/MANIFEST.json', json.dumps({'model': {'modelName': 'a'}}) * 50)
    data = bytearray(path.read_bytes())
    data[80:100] = b'\xff' * 20
    path.write_bytes(data)
    with pytest.raises((lzma.LZMAError, zipfile.BadZipFile)), zipfile.ZipFile(path) as file:
        file.read('MAR-INF/MANIFEST.json')
    assert 'm.mar is not a model archive' in said(archives.unpack, str(path), False)


def test_unpacked_size_of_archives(tmp_path):
    from mxnet.test_utils import _data
    path = tmp_path / 'a.zip'
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as file:
        file.writestr('bomb', bytes(300_000_000))
    assert 'what it unpacks to takes 300,000,000 bytes' in said(_data.unpack, str(path), str(tmp_path / 'out'))
    assert not (tmp_path / 'out').exists()
    with zipfile.ZipFile(path, 'w') as file:
        file.writestr('x' * 300, b'')
    assert 'a.zip is damaged: File name too long' in said(_data.unpack, str(path), str(tmp_path / 'out'))


@pytest.mark.parametrize('make, kind', [
    (lambda: sparse.row_sparse_array((np.ones((1, 1), 'float32'), [0]), shape=(1 << 45, 1)), 'row_sparse'),
    (lambda: sparse.csr_matrix((np.ones(1, 'float32'), [0], [0, 1]), shape=(1, 1 << 45)), 'csr'),
])
def test_sparse_arrays_that_fit_into_no_memory(make, kind):
    text = said(lambda: make().tostype('default'))
    assert f'a {kind} array of shape' in text and 'not enough memory' in text


@pytest.mark.parametrize('content, text', [('[1]', 'expected an object with a trial, found a list of 1'),
                                           ('[' * 100000, 'nested too deeply'), ('{', 'byte 1: not the best trial')])
def test_best_trial(tmp_path, content, text):
    pytest.importorskip('optuna')
    (tmp_path / 'best.json').write_text(content)
    told = said(mx.contrib.tune.best, str(tmp_path))
    assert 'best.json' in told and (text in told or 'may ask for' in told)


def test_programs_with_control_characters(tmp_path, capsys):
    path = tmp_path / 'p.py'
    path.write_text('x = "\x1b[2J"\n')
    main(['run', '--explain', str(path)])
    shown = capsys.readouterr().out
    assert '\x1b' not in shown and r'\x1b[2J' in shown


def test_load_names_the_file(tmp_path):
    mx.nd.save(str(tmp_path / 'list.params'), [mx.nd.ones((2,))])
    with pytest.raises(AssertionError, match='list.params: Load takes a dict of arrays or a file with one, not a list'):
        mx.init.Load(str(tmp_path / 'list.params'))


def test_pickles_end_as_before():
    """A plain state is still read: the words are of errors only."""
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(momentum=0.9))
    updater(0, mx.nd.ones((2,)), mx.nd.ones((2,)))
    again = mx.optimizer.get_updater(mx.optimizer.SGD(momentum=0.9))
    again.set_states(updater.get_states())
    assert pickle.loads(again.get_states()).keys() == {0}


def test_onnx_without_inputs(tmp_path):
    onnx = pytest.importorskip('onnx')
    helper = onnx.helper
    value = helper.make_tensor('c', 1, [2], [1.0, 2.0])
    graph = helper.make_graph([helper.make_node('Relu', ['c'], ['o'])], 'g', [],
                              [helper.make_tensor_value_info('o', 1, [2])], [value])
    path = str(tmp_path / 'm.onnx')
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)]), path)
    assert said(_networks.load, path) == f'{path}: the network has no input; its outputs are constants'


def test_onnx_with_a_missing_file_of_values(tmp_path):
    onnx = pytest.importorskip('onnx')
    helper = onnx.helper
    value = helper.make_tensor('c', 1, [2], [1.0, 2.0])
    value.ClearField('float_data')
    value.data_location = 1
    entry = value.external_data.add()
    entry.key, entry.value = 'location', 'weights.bin'
    graph = helper.make_graph([helper.make_node('Add', ['x', 'c'], ['o'])], 'g',
                              [helper.make_tensor_value_info('x', 1, [2])],
                              [helper.make_tensor_value_info('o', 1, [2])], [value])
    path = tmp_path / 'm.onnx'
    path.write_bytes(helper.make_model(graph).SerializeToString())
    text = said(mx.contrib.onnx.import_model, str(path))
    assert re.search(r'm.onnx: its values in the file .*weights.bin cannot be read: No such file or directory', text)
