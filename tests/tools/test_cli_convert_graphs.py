"""`remx convert` on graphs of the kinds that old checkpoints have."""
import os

import convert_graphs
import numpy as np
import pytest

import mxnet as mx
from mxnet.base import MXNetError
from mxnet.cli import main
from mxnet.cli._convert import run

# operators that have no translation, and why, as the error says it
REFUSED = {('exported', 'detection_ssd'): r'multiboxdetection\d+ \(_contrib_MultiBoxDetection\)',
           ('exported', 'detection_ssd_few'): 'MultiBoxDetection', ('exported', 'detection_nms'): r'box_nms\d+ \(',
           ('exported', 'detection_rois'): r'roialign\d+',
           ('onnx', 'rnn_lstm_projection'): r'RNN \(rnn\): projection_size'}
FORMS = {'torch': {'to': 'torch'}, 'exported': {'to': 'pt2', 'compiled': False}, 'onnx': {'to': 'onnx'}}
QUICK = [('torch', 'detection_ssd'), ('onnx', 'loop_while'), ('onnx', 'detection_ssd_few'), ('onnx', 'head_make_loss'),
         ('exported', 'branch'), ('exported', 'detection_nms'), ('onnx', 'rnn_cells')]


def cases():
    for form in FORMS:
        for name in convert_graphs.GRAPHS:
            yield pytest.param(form, name, marks=[] if (form, name) in QUICK else pytest.mark.slow)


@pytest.mark.parametrize('form, name', list(cases()))
def test_graphs(tmp_path, form, name):
    if form == 'onnx':
        pytest.importorskip('onnxruntime')
    shapes = convert_graphs.write(name, str(tmp_path / 'network'))
    out = str(tmp_path / 'result')
    if (form, name) in REFUSED:
        before = set(os.listdir(tmp_path))
        with pytest.raises(MXNetError, match=REFUSED[form, name]):
            run(str(tmp_path / 'network'), shapes=shapes, out=out, **FORMS[form])
        assert set(os.listdir(tmp_path)) == before
        return
    found = run(str(tmp_path / 'network'), shapes=shapes, out=out, **FORMS[form])
    assert found['difference'] <= 1e-5 and found['batches'] == [1, 5]


@pytest.mark.slow
@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('name', ['cell', 'export', 'export_np', 'foreach', 'group', 'module'])
def test_recorded_graphs(tmp_path, form, name):
    if form == 'onnx':
        pytest.importorskip('onnxruntime')
    if not convert_graphs.golden():
        pytest.skip('no recorded graphs')
    file, shapes, axes = convert_graphs.golden()[name]
    convert_graphs.save(mx.sym.load(file), shapes, str(tmp_path / 'network'))
    found = run(str(tmp_path / 'network'), shapes=shapes, axes=axes, out=str(tmp_path / 'result'), **FORMS[form])
    assert found['difference'] <= 1e-5 and found['batches'][1:] == [5]


# ---------------------------------------------------------------------- loops and branches in ONNX
def results(path, **inputs):
    import onnxruntime
    return onnxruntime.InferenceSession(path, providers=['CPUExecutionProvider']).run(None, inputs)


@pytest.mark.parametrize('start, steps', [(0.0, 4), (2.5, 2), (9.0, 0)])
def test_a_loop_that_ends_early(tmp_path, start, steps):
    pytest.importorskip('onnxruntime')
    outputs, states = mx.sym.contrib.while_loop(lambda i, x: i < 4, lambda i, x: (x * 2, [i + 1, x + 1]),
                                                [mx.sym.var('start'), mx.sym.var('data')], max_iterations=6)
    symbol = mx.sym.Group([outputs, *states])
    path = mx.onnx.export_model(symbol, {}, [(1,), (2, 3)], np.float32, str(tmp_path / 'loop.onnx'))
    x = np.arange(6, dtype='float32').reshape(2, 3)
    rows, number, last = results(path, start=np.array([start], 'float32'), data=x)
    want = np.zeros((6, 2, 3), 'float32')
    for step in range(steps):
        want[step] = 2 * (x + step)
    np.testing.assert_array_equal(rows, want)
    assert number == start + steps
    np.testing.assert_array_equal(last, x + steps)


@pytest.mark.parametrize('sign', [1, -1])
def test_a_branch_reads_its_condition(tmp_path, sign):
    pytest.importorskip('onnxruntime')
    x = mx.sym.var('data')
    symbol = mx.sym.contrib.cond(mx.sym.sum(x) > 0, lambda: x * 2, lambda: x - 7)
    path = mx.onnx.export_model(symbol, {}, [(2, 3)], np.float32, str(tmp_path / 'branch.onnx'))
    values = np.full((2, 3), sign, 'float32')
    np.testing.assert_array_equal(results(path, data=values)[0], values * 2 if sign > 0 else values - 7)


# ---------------------------------------------------------------------- options
def test_the_axis_of_the_batch(tmp_path, capsys, monkeypatch):
    pytest.importorskip('onnxruntime')
    monkeypatch.chdir(tmp_path)
    data = mx.sym.var('data')               # (time, batch, channels)
    last = mx.sym.SequenceLast(data)
    convert_graphs.save(mx.sym.FullyConnected(last, num_hidden=2, name='fc'), {'data': (4, 1, 3)}, 'net')
    assert main(['convert', 'net', '--to', 'onnx', '--shape', 'data=4,1,3', '--batch-axis', 'data=1']) == 0
    assert 'batch 1 and 5' in capsys.readouterr().out
    assert results('net.onnx', data=np.zeros((4, 7, 3), 'float32'))[0].shape == (7, 2)
    for text, message in (('data=3', 'the shape of data is (4, 1, 3)'), ('other=0', 'there is no such input'),
                          ('data=x', 'it takes a name and the number of an axis')):
        assert main(['convert', 'net', '--to', 'onnx', '--shape', 'data=4,1,3', '--batch-axis', text]) == 1
        assert message in capsys.readouterr().err
