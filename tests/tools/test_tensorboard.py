"""Logs for TensorBoard, read back by TensorBoard's own loader, and looked at in a browser."""
import io
import json
import os
import shutil
import subprocess
import sys
import types
import urllib.request

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx
from mxnet.gluon import nn

pytest.importorskip('tensorboard')
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util

from mxnet.contrib.tensorboard import LogMetricsCallback, SummaryWriter, TensorBoardHandler


def read(folder):
    return EventAccumulator(str(folder), size_guidance={'tensors': 0, 'scalars': 0}).Reload()


def small_net():
    net = nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, activation='relu'), nn.BatchNorm(), nn.Dense(2))
    net.initialize()
    net.hybridize()
    net(mx.nd.zeros((1, 3, 8, 8)))
    return net


def test_scalars(tmp_path):
    with SummaryWriter(str(tmp_path / 'logs')) as writer:
        for step in range(5):
            writer.add_scalar('loss', mx.nd.array([step / 2]), step)
            writer.add_scalar('both', {'a': step, 'b': -step}, step)
        writer.add_scalar('both', ('c', 7), 3)
        writer.export_scalars(str(tmp_path / 'all.json'))
        with pytest.raises(ValueError, match='one number'):
            writer.add_scalar('loss', mx.nd.ones((2,)))
        with pytest.raises(ValueError, match='not 3 things'):
            writer.add_scalar('loss', (1, 2, 3))
    assert [(e.step, e.value) for e in read(tmp_path / 'logs').Scalars('loss')] == [(i, i / 2) for i in range(5)]
    for name, sign in (('a', 1), ('b', -1)):
        found = read(tmp_path / 'logs' / 'both' / name)
        assert [e.value for e in found.Scalars('both')] == [sign * i for i in range(5)]
    exported = json.loads((tmp_path / 'all.json').read_text())
    assert [v[1:] for v in exported[f'{tmp_path / "logs"}/loss']] == [[i, i / 2] for i in range(5)]
    assert exported[f'{tmp_path / "logs"}/both/c'][0][1:] == [3, 7.0]


def test_reopen_goes_on_in_a_new_file(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar('x', 1.0, 0)
    writer.close()
    with pytest.raises(ValueError, match='reopen'):
        writer.add_scalar('x', 2.0, 1)
    writer.reopen()
    writer.add_scalar('x', 2.0, 1)
    writer.close()
    assert [e.value for e in read(tmp_path).Scalars('x')] == [1.0, 2.0]


@pytest.mark.parametrize('bins', ['default', 'auto', 10, [-10.0, 0.0, 10.0]])
def test_histograms(tmp_path, bins):
    values = mx.nd.random.normal(shape=(40, 25))
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram('h', values, 3, bins=bins)
    event, = read(tmp_path).Histograms('h')
    got, array = event.histogram_value, values.asnumpy().astype('float64')
    assert event.step == 3 and got.num == 1000 and sum(got.bucket) == 1000
    assert got.min == array.min() and got.max == array.max()
    np.testing.assert_allclose([got.sum, got.sum_squares], [array.sum(), (array ** 2).sum()], rtol=1e-6)
    if bins == [-10.0, 0.0, 10.0]:
        assert dict(zip(got.bucket_limit, got.bucket))[0.0] == (array < 0).sum()


def test_histograms_of_a_training_that_diverges(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram('some', mx.nd.array([1, float('nan'), 2, float('inf'), 3]), 0)
        writer.add_histogram('large', mx.nd.array([-1e30, 1e25, 1e30]), 0)
        writer.add_histogram('none', mx.nd.array([float('nan')] * 3), 0)
    found = read(tmp_path)
    assert found.Histograms('some')[0].histogram_value.num == 3
    assert sum(found.Histograms('large')[0].histogram_value.bucket) == 3
    assert found.Tags()['histograms'] == ['some', 'large']


@pytest.mark.parametrize('shape, size', [((6, 9), (9, 6)), ((1, 6, 9), (9, 6)), ((3, 6, 9), (9, 6)),
                                         ((4, 3, 6, 9), (36, 6))])
def test_images(tmp_path, shape, size):
    from PIL import Image
    picture = (np.arange(np.prod(shape)) % 256).reshape(shape).astype('uint8')
    with SummaryWriter(tmp_path) as writer:
        writer.add_image('bytes', mx.nd.array(picture, dtype='uint8'), 0)
        writer.add_image('floats', mx.nd.array(picture / 255.0), 0)
    found = read(tmp_path)
    for tag, within in (('bytes', 0), ('floats', 1)):
        event, = found.Images(tag)
        assert (event.width, event.height) == size
        image = np.asarray(Image.open(io.BytesIO(event.encoded_image_string)).convert('RGB')).astype(int)
        if len(shape) == 3:
            wanted = np.broadcast_to(picture.transpose(1, 2, 0), image.shape)
            assert np.abs(image - wanted).max() <= within
    with SummaryWriter(tmp_path) as writer, pytest.raises(ValueError, match='2, 3 or 4 axes'):
        writer.add_image('x', np.zeros(3))


def test_audio_and_text(tmp_path):
    sound = np.sin(np.arange(800) / 10)
    with SummaryWriter(tmp_path) as writer:
        writer.add_audio('tone', mx.nd.array(sound).reshape((1, -1)), 8000, 1)
        writer.add_text('note', '**bold**', 2)
    found = read(tmp_path)
    event, = found.Audio('tone')
    assert event.sample_rate == 8000 and event.length_frames == 800 and event.encoded_audio_string[:4] == b'RIFF'
    event, = found.Tensors('note/text_summary')
    assert event.step == 2 and tensor_util.make_ndarray(event.tensor_proto).tolist() == [b'**bold**']


def test_precision_and_recall(tmp_path):
    labels, predictions = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.4, 0.9])
    with SummaryWriter(tmp_path) as writer:
        writer.add_pr_curve('pr', mx.nd.array(labels), mx.nd.array(predictions), 11, 0)
    event, = read(tmp_path).Tensors('pr')
    curve = tensor_util.make_ndarray(event.tensor_proto)
    true, false_, _, missed, precision, recall = curve
    assert curve.shape == (6, 11)
    for number, threshold in enumerate(np.arange(11) / 10):
        if any(abs(predictions - threshold) < 1e-6):
            continue                # the side on which a value that equals the threshold falls is not the matter here
        chosen = predictions > threshold
        assert (true[number], false_[number]) == ((chosen & (labels == 1)).sum(), (chosen & (labels == 0)).sum())
        assert missed[number] == (~chosen & (labels == 1)).sum()
        if chosen.any():
            np.testing.assert_allclose(precision[number], labels[chosen].mean())
        np.testing.assert_allclose(recall[number], chosen[labels == 1].mean())


def test_embedding(tmp_path):
    points = mx.nd.random.normal(shape=(6, 3))
    with SummaryWriter(tmp_path) as writer:
        writer.add_embedding('words', points, labels=list('abcdef'), images=mx.nd.ones((6, 3, 4, 4)), global_step=2)
        with pytest.raises(ValueError, match='6 points, but 2 labels'):
            writer.add_embedding('words', points, labels=['a', 'b'])
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
    config = text_format.Parse((tmp_path / 'projector_config.pbtxt').read_text(), ProjectorConfig())
    one, = config.embeddings
    np.testing.assert_allclose(np.loadtxt(tmp_path / one.tensor_path), points.asnumpy(), rtol=1e-6)
    assert (tmp_path / one.metadata_path).read_text().split() == list('abcdef')
    assert (tmp_path / one.sprite.image_path).exists()


def test_graph_of_a_block(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(small_net(), {'data': (2, 3, 8, 8)})
    nodes = {node.name: node for node in read_graph(tmp_path).node}
    assert {'data', 'conv0/weight', 'conv0/fwd', 'conv0/relu/fwd', 'batchnorm0/fwd', 'dense0/fwd'} <= nodes.keys()
    assert list(nodes['conv0/fwd'].input) == ['data', 'conv0/weight', 'conv0/bias']
    assert nodes['conv0/fwd'].op == 'Convolution'
    shape, = nodes['conv0/fwd'].attr['_output_shapes'].list.shape
    assert [d.size for d in shape.dim] == [2, 4, 6, 6]


def read_graph(folder):
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    graph = read(folder).Graph()
    assert isinstance(graph, GraphDef)
    for node in graph.node:            # every edge leads somewhere
        assert {name.split(':')[0] for name in node.input} <= {other.name for other in graph.node}
    return graph


def test_graph_of_a_symbol(tmp_path):
    x = mx.sym.var('data')
    net = mx.sym.BatchNorm(mx.sym.FullyConnected(x, num_hidden=3, name='fc1'), name='bn')
    parts = mx.sym.split(net, num_outputs=3, name='cut')
    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(mx.sym.Group([parts[0] + parts[2]]))
    nodes = {node.name: node for node in read_graph(tmp_path).node}
    assert {'data', 'fc1', 'fc1/weight', 'fc1/bias', 'bn/gamma', 'bn/moving_mean', 'cut'} <= nodes.keys()
    assert any(list(node.input) == ['cut', 'cut:2'] for node in nodes.values())
    assert nodes['fc1'].attr['num_hidden'].s == b'3'


def test_graph_needs_a_network_that_has_run(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(ValueError, match='no graph yet'):
            writer.add_graph(nn.Dense(3, prefix='d_'))
        with pytest.raises(TypeError, match='not a list'):
            writer.add_graph([])


def test_log_metrics_callback(tmp_path):
    x = np.random.RandomState(0).rand(32, 4).astype('float32')
    data = mx.io.NDArrayIter(x, (x.sum(axis=1) > 2).astype('float32'), 8, label_name='softmax_label')
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2), name='softmax')
    mx.mod.Module(net).fit(data, eval_data=data, num_epoch=3, eval_metric='acc',
                           batch_end_callback=[LogMetricsCallback(str(tmp_path / 'train'))],
                           eval_end_callback=LogMetricsCallback(str(tmp_path / 'eval'), prefix='held-out'))
    steps = [e.step for e in read(tmp_path / 'train').Scalars('accuracy')]
    assert steps == [epoch for epoch in range(3) for _ in range(4)]
    assert [e.step for e in read(tmp_path / 'eval').Scalars('held-out-accuracy')] == [0, 1, 2]
    LogMetricsCallback(str(tmp_path / 'none'))(types.SimpleNamespace(eval_metric=None, epoch=0))


def test_estimator(tmp_path):
    from mxnet.gluon.contrib.estimator import Estimator
    x = mx.nd.random.normal(shape=(16, 3))
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x, x.sum(axis=1) > 0), batch_size=4)
    net = nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(nn.Dense(2))
    net.initialize()
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    estimator = Estimator(net, mx.gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer)
    estimator.logger.setLevel('ERROR')
    estimator.fit(loader, loader, epochs=2, log_dir=str(tmp_path / 'a'))
    found = read(tmp_path / 'a')
    assert {'training accuracy', 'validation accuracy', 'learning rate'} <= set(found.Tags()['scalars'])
    assert [e.step for e in found.Scalars('validation accuracy')] == [0, 1]
    assert found.Scalars('validation accuracy')[-1].value == pytest.approx(estimator.val_metrics[0].get()[1])
    assert any(node.name == 'dense0/weight' for node in read_graph(tmp_path / 'a').node)
    handler = TensorBoardHandler(str(tmp_path / 'b'), log_interval=2, histograms=True)
    estimator.fit(loader, epochs=1, event_handlers=[handler])
    found = read(tmp_path / 'b')
    assert [e.step for e in found.Scalars('batch/training accuracy')] == [0, 2]
    assert 'net_dense0_weight' in found.Tags()['histograms']


def test_without_tensorboard_it_says_what_to_install(run_python):
    code = ('import sys; sys.modules["tensorboard"] = None\n'
            'import mxnet as mx\n'
            'try: mx.contrib.tensorboard.SummaryWriter("logs")\n'
            'except ImportError as error: print(error)')
    assert 'pip install "remx[tensorboard]"' in run_python('-c', code).stdout


@pytest.mark.slow
def test_the_page(tmp_path):
    """TensorBoard's own page shows the curves and the network."""
    api = pytest.importorskip('playwright.sync_api')
    browser = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
    if browser is None:
        pytest.skip('there is no Chromium')
    with SummaryWriter(str(tmp_path / 'logs')) as writer:
        for step in range(20):
            writer.add_scalar('falling', 1 / (step + 1), step)
        writer.add_text('remark', 'seen in a browser', 0)
        writer.add_graph(small_net(), {'data': (2, 3, 8, 8)})
    with subprocess.Popen([sys.executable, '-m', 'tensorboard.main', '--logdir', str(tmp_path / 'logs'), '--port', '0',
                           '--load_fast=false'], stderr=subprocess.PIPE, text=True,
                          env={**os.environ, 'PYTHONPATH': str(ROOT)}) as server:
        try:
            address = next(word for line in server.stderr for word in line.split() if word.startswith('http://'))
            with urllib.request.urlopen(address + 'data/plugin/scalars/tags', timeout=60) as answer:
                assert 'falling' in json.load(answer)['.']
            with api.sync_playwright() as play:
                chromium = play.chromium.launch(executable_path=browser, args=['--no-sandbox'])
                page = chromium.new_page(viewport={'width': 1300, 'height': 900})
                page.goto(address + '#scalars')
                page.get_by_text('falling').first.wait_for(timeout=60000)
                page.goto(address + '#graphs')
                page.get_by_text('batchnorm0').first.wait_for(timeout=60000, state='attached')
                page.screenshot(path=str(tmp_path / 'graph.png'))
                page.goto(address + '#text')
                page.get_by_text('seen in a browser').first.wait_for(timeout=60000)
                chromium.close()
        finally:
            server.terminate()
    assert (tmp_path / 'graph.png').stat().st_size > 20000
