"""What a notebook shows of arrays, blocks and symbols, and the charts that grow while a network learns."""
import base64
import io
import re
import shutil
import subprocess

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import nn


# ---------------------------------------------------------------------- arrays
def pictures(array):
    image = pytest.importorskip('PIL.Image')
    found = re.findall(r'base64,([^"]+)"', array._repr_html_())
    return [np.asarray(image.open(io.BytesIO(base64.b64decode(text)))) for text in found]


def test_arrays_that_are_no_pictures():
    for array in (mx.nd.ones((2, 3)), mx.nd.ones((30, 30)), mx.nd.ones((64, 3, 7, 7)), mx.np.zeros((0, 3, 9, 9)),
                  mx.nd.ones((3, 16, 16), dtype='int32'), mx.nd.array([[[float('nan')] * 9] * 9] * 3)):
        text = array._repr_html_()
        assert '<img' not in text and '<pre>' in text
    assert '2 &times; 3, float32, cpu(0)' in mx.nd.ones((2, 3))._repr_html_()


@pytest.mark.parametrize('shape', [(9, 12), (9, 12, 1), (1, 9, 12), (9, 12, 3), (3, 9, 12), (9, 12, 4)])
def test_pictures_of_bytes_are_shown_as_they_are(shape):
    values = np.random.RandomState(0).randint(0, 256, shape).astype('uint8')
    shown, = pictures(mx.nd.array(values, dtype='uint8'))
    wanted = values.transpose(1, 2, 0) if shape[0] in (1, 3) else values
    np.testing.assert_array_equal(shown, wanted.squeeze())


def test_pictures_of_floats():
    values = np.random.RandomState(0).rand(3, 9, 12)
    for scale in (1, 255):
        shown, = pictures(mx.nd.array(values * scale))
        np.testing.assert_allclose(shown.transpose(2, 0, 1) / 255, values, atol=0.01)
    array = mx.nd.array(values * 4 - 2)
    shown, = pictures(array)
    assert shown.min() == 0 and shown.max() == 255
    assert re.search(r'\(-1\.98 is black, 2 white\)', array._repr_html_())


def test_batches_and_large_pictures():
    assert len(pictures(mx.nd.zeros((40, 1, 28, 28)))) == 16
    assert 'the first 16 of 40' in mx.nd.zeros((40, 1, 28, 28))._repr_html_()
    shown, = pictures(mx.nd.zeros((3, 500, 1000)))
    assert shown.shape == (72, 143, 3)
    assert len(pictures(mx.np.zeros((2, 3, 8, 8)))) == 2


# ---------------------------------------------------------------------- blocks
def test_block():
    net = nn.HybridSequential()
    net.add(nn.Dense(4, in_units=3, activation='relu'), nn.BatchNorm(), nn.Dense(2))
    text = net._repr_html_()
    assert '18 parameters (the rest known after the first batch)' in text and 'weight 2 &times; ?' in text
    net.initialize()
    net(mx.nd.ones((1, 3)))
    text = net._repr_html_()
    # 3*4+4, 4*4 of which the averages do not learn, 4*2+2
    assert '42 parameters (8 fixed)' in text
    assert '<code>Dense(3 -&gt; 4, Activation(relu))</code> 16 parameters' in re.sub('<span[^>]*>', '', text)
    assert 'weight 4 &times; 3, bias 4' in text
    assert text.count('<details') == text.count('</details>') and text.count('<div') == text.count('</div>')


def test_block_that_occurs_twice():
    layer = nn.Dense(2, in_units=2)
    net = nn.Sequential()
    net.add(layer, layer)
    assert '6 parameters' in net._repr_html_() and net._repr_html_().count('(shared)') == 1


# ---------------------------------------------------------------------- symbols
def test_symbol_is_drawn_or_listed(monkeypatch):
    net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc<1>')
    if shutil.which('dot') and pytest.importorskip('graphviz'):
        assert net._repr_html_() is None and '<svg' in net._repr_svg_()
    monkeypatch.setattr(shutil, 'which', lambda name: None)
    text = net._repr_html_()
    assert 'fc&lt;1&gt;' in text and 'num_hidden=3' in text and '1 operators on 3 variables' in text
    long = mx.sym.var('x')
    for _ in range(400):
        long = mx.sym.relu(long)
    monkeypatch.undo()
    assert long._repr_svg_() is None and long._repr_html_().count('<tr>') == 401


# ---------------------------------------------------------------------- callbacks
@pytest.fixture
def data():
    x = np.random.RandomState(0).rand(64, 4).astype('float32')
    return mx.io.NDArrayIter(x, (x.sum(axis=1) > 2).astype('float32'), 8, label_name='softmax_label')


@pytest.fixture
def module():
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2), name='softmax')
    return mx.mod.Module(net)


def test_pandas_logger(data, module):
    pytest.importorskip('pandas')
    log = mx.notebook.callback.PandasLogger(batch_size=8, frequent=4)
    module.fit(data, eval_data=data, num_epoch=3, eval_metric='acc', **log.callback_args())
    assert log.train_df['epoch'].tolist() == [0, 0, 1, 1, 2, 2]
    assert log.train_df['minibatch_count'].tolist() == [0, 4] * 3
    assert log.eval_df['epoch'].tolist() == [0, 1, 2] and log.eval_df['accuracy'].between(0, 1).all()
    assert len(log.epoch_df) == 3 and (log.epoch_df['epoch_time'].dt.total_seconds() >= 0).all()
    speeds = log.train_df['records_per_sec'] / log.train_df['batches_per_sec']
    np.testing.assert_allclose(speeds, 8)
    log.append_metrics({'epoch': 9, 'new': 1.0}, 'eval')
    assert log.all_dataframes['eval']['new'].isna().tolist() == [True] * 3 + [False]


def test_learning_curve(data, module, tmp_path):
    pytest.importorskip('bokeh')
    callback = mx.notebook.callback
    curve, log = callback.LiveLearningCurve('accuracy', display_freq=0, frequent=4), callback.PandasLogger(8, 4)
    arguments = callback.args_wrapper(curve, log)
    assert {name: len(found) for name, found in arguments.items()} == {
        'batch_end_callback': 2, 'eval_end_callback': 2, 'epoch_end_callback': 1}
    module.fit(data, eval_data=data, num_epoch=3, eval_metric='acc', **arguments)
    lengths = {name: len(source.data['y']) for name, source in curve.sources.items()}
    assert lengths == {'train': 6, 'eval': 3}
    assert curve.sources['eval'].data['y'][-1] == dict(module.score(data, 'acc'))['accuracy']
    assert list(curve.sources['train'].data['x']) == sorted(curve.sources['train'].data['x'])
    # both read the same metric, which begins anew only once
    assert list(log.train_df['accuracy']) == list(curve.sources['train'].data['y'])
    assert list(log.eval_df['accuracy']) == list(curve.sources['eval'].data['y'])
    curve.save(tmp_path / 'curve.html')
    assert 'validation' in (tmp_path / 'curve.html').read_text(encoding='utf-8')


def test_learning_curve_of_an_unknown_metric(data, module):
    pytest.importorskip('bokeh')
    curve = mx.notebook.callback.LiveLearningCurve('acuracy', display_freq=0, frequent=1)
    with pytest.raises(ValueError, match="no metric 'acuracy', only accuracy"):
        module.fit(data, num_epoch=1, eval_metric='acc', **curve.callback_args())


def test_time_series():
    pytest.importorskip('bokeh')
    chart = mx.notebook.callback.LiveTimeSeries(title='loss')
    for value in (3, 2, 1):
        chart.update_chart_data(value)
    assert list(chart.source.data['y']) == [3, 2, 1]


def test_what_to_install(run_python):
    code = ('import sys; sys.modules["pandas"] = sys.modules["bokeh"] = None\n'
            'import mxnet as mx\n'
            'try: mx.notebook.callback.PandasLogger(1)\n'
            'except ImportError as error: print(error)')
    assert 'pip install "remx[notebook]"' in run_python('-c', code).stdout


NOTEBOOK = '''
import numpy as np, mxnet as mx
x = np.random.RandomState(0).rand(64, 4).astype('float32')
data = mx.io.NDArrayIter(x, (x.sum(axis=1) > 2).astype('float32'), 8, label_name='softmax_label')
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2), name='softmax')
curve = mx.notebook.callback.LiveLearningCurve('accuracy', display_freq=0, frequent=4)
mx.mod.Module(net).fit(data, eval_data=data, num_epoch=3, eval_metric='acc', **mx.notebook.callback.args_wrapper(curve))
assert curve.handle is not None
'''


@pytest.mark.slow
@pytest.mark.filterwarnings('default')       # Jupyter's own
def test_in_a_notebook(root, monkeypatch):
    """A kernel runs the cells: the chart is shown and brought up to date, an array shows its picture."""
    nbclient, nbformat = pytest.importorskip('nbclient'), pytest.importorskip('nbformat')
    pytest.importorskip('bokeh')
    pytest.importorskip('ipykernel')
    monkeypatch.setenv('PYTHONPATH', str(root))
    monkeypatch.setenv('OMP_NUM_THREADS', '1')
    new = nbformat.v4.new_code_cell
    book = nbformat.v4.new_notebook(cells=[
        new(NOTEBOOK), new('mx.nd.ones((3, 9, 9))'), new('mx.gluon.nn.Dense(2, in_units=3)'), new('net'),
        new('bar = mx.callback.ProgressBar(total=2)\n'
            'for n in (1, 2): bar(mx.model.BatchEndParam(0, n, None, None))')])
    nbclient.NotebookClient(book, timeout=200, kernel_name='python3').execute()
    shown = [list(cell.outputs) for cell in book.cells]
    kinds = [{kind for output in outputs for kind in output.get('data', {})} for outputs in shown]
    assert 'application/vnd.bokehjs_exec.v0+json' in kinds[0]
    assert '<img' in shown[1][0].data['text/html'] and '<code>Dense' in shown[2][0].data['text/html']
    assert kinds[3] & {'image/svg+xml', 'text/html'}
    assert shown[4]


@pytest.mark.slow
def test_the_chart_in_a_browser(tmp_path):
    browser = shutil.which('chromium') or shutil.which('google-chrome')
    if browser is None:
        pytest.skip('there is no Chromium')
    pytest.importorskip('bokeh')
    image = pytest.importorskip('PIL.Image')
    chart = mx.notebook.callback.LiveTimeSeries(title='squares')
    chart.source.stream({'x': list(range(20)), 'y': [n * n for n in range(20)]})
    chart.save(tmp_path / 'chart.html')
    subprocess.run([browser, '--headless', '--no-sandbox', '--window-size=700,500', '--virtual-time-budget=5000',
                    f'--screenshot={tmp_path / "chart.png"}', (tmp_path / 'chart.html').as_uri()], check=True,
                   capture_output=True, timeout=120)
    pixels = np.asarray(image.open(tmp_path / 'chart.png').convert('RGB')).astype(int)
    blue = (pixels[..., 2] > pixels[..., 0] + 60).sum()          # the line
    assert blue > 200
