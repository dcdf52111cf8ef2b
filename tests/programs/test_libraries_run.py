"""Libraries that are written on MXNet, unmodified: `make test-libraries` installs them."""
import os

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings('ignore')]


# ---------------------------------------------------------------------- GluonCV
@pytest.mark.parametrize('name, shape', [
    ('resnet18_v1b', (1, 3, 64, 64)), ('mobilenetv3_small', (1, 3, 64, 64)), ('resnest14', (1, 3, 64, 64)),
    ('ssd_512_mobilenet1.0_voc', (1, 3, 128, 128)), ('yolo3_mobilenet1.0_voc', (1, 3, 128, 128)),
    ('center_net_resnet18_v1b_dcnv2_voc', (1, 3, 64, 64)), ('faster_rcnn_resnet50_v1b_voc', (1, 3, 64, 96)),
    ('simple_pose_resnet18_v1b', (1, 3, 64, 64)), ('i3d_resnet50_v1_kinetics400', (1, 3, 8, 64, 64)),
])
def test_networks_of_gluoncv(name, shape, monkeypatch):
    zoo = pytest.importorskip('gluoncv.model_zoo')
    monkeypatch.setattr(np, 'float', float, raising=False)          # NumPy 1.24 removed it, and Faster R-CNN uses it
    mx.random.seed(1)
    given = {} if name in ('resnet18_v1b', 'mobilenetv3_small', 'resnest14') else {'pretrained_base': False}
    net = zoo.get_model(name, pretrained=False, **given)
    net.initialize()
    x = nd.random.uniform(-1, 1, shape)
    plain = net(x)
    net.hybridize()
    graph = net(x)
    for a, b in zip(*[o if isinstance(o, (list, tuple)) else [o] for o in (plain, graph)], strict=True):
        assert np.isfinite(a.asnumpy()).all()
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-3, atol=1e-4)


def _picture(image, label):
    return image.astype('float32') / 255, label


def _mirrored(image, label):
    return image[:, ::-1].astype('float32') / 255, label


@pytest.mark.parametrize('workers', [0, 2])
def test_a_loader_of_gluoncv_that_chooses_transforms(workers):
    loaders = pytest.importorskip('gluoncv.data.dataloader')
    pictures = np.random.RandomState(0).randint(0, 255, (10, 4, 6, 3)).astype('uint8')
    dataset = gluon.data.ArrayDataset(nd.array(pictures, dtype='uint8'), list(range(10)))
    loader = loaders.RandomTransformDataLoader([_picture, _mirrored], dataset, batch_size=2, num_workers=workers)
    for _ in range(2):
        seen = []
        for images, labels in loader:
            for image, label in zip(images.asnumpy(), labels.asnumpy().astype(int), strict=True):
                given = pictures[label].astype('float32') / 255
                assert np.allclose(image, given) or np.allclose(image, given[:, ::-1])
                seen.append(label)
        assert seen == list(range(10))


def test_training_a_detector_of_gluoncv():
    gluoncv = pytest.importorskip('gluoncv')
    from gluoncv.data.batchify import Stack, Tuple
    from gluoncv.data.transforms.presets.ssd import SSDDefaultTrainTransform
    mx.random.seed(1)
    np.random.seed(1)
    net = gluoncv.model_zoo.get_model('ssd_512_mobilenet1.0_custom', classes=['a', 'b'], pretrained_base=False)
    net.initialize()
    with autograd.train_mode():
        _, _, anchors = net(nd.zeros((1, 3, 256, 256)))
    pictures = [(nd.array(np.random.randint(0, 255, (80, 100, 3)), dtype='uint8'),
                 np.array([[10, 20, 60, 70, i % 2]], 'float32')) for i in range(4)]
    dataset = gluon.data.SimpleDataset(pictures).transform(SSDDefaultTrainTransform(256, 256, anchors))
    loader = gluon.data.DataLoader(dataset, 2, batchify_fn=Tuple(Stack(), Stack(), Stack()), num_workers=2)
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1e-3, 'momentum': 0.9})
    criterion, sums = gluoncv.loss.SSDMultiBoxLoss(), []
    for _ in range(3):
        total = 0.0
        for x, classes, boxes in loader:
            with autograd.record():
                sum_loss, _, _ = criterion(*net(x)[:2], classes, boxes)
                autograd.backward(sum_loss)
            trainer.step(1)
            total += sum_loss[0].sum().asscalar()
        sums.append(total)
    assert sums[-1] < sums[0]


# ---------------------------------------------------------------------- GluonTS
def test_forecasts_of_gluonts():
    pytest.importorskip('gluonts.mx')
    import pandas as pd
    from gluonts.dataset.common import ListDataset
    from gluonts.mx import Trainer
    from gluonts.mx.model.deepar import DeepAREstimator
    mx.random.seed(1)
    np.random.seed(1)
    values = np.sin(np.arange(200) / 4) + 2
    data = ListDataset([{'start': pd.Period('2020-01-01', 'D'), 'target': values}], freq='D')
    trainer = Trainer(epochs=3, num_batches_per_epoch=20, learning_rate=0.01, hybridize=True)
    predictor = DeepAREstimator(freq='D', prediction_length=8, num_cells=16, trainer=trainer).train(data)
    forecast = next(predictor.predict(data, num_samples=50))
    assert forecast.samples.shape == (50, 8)
    wanted = np.sin(np.arange(200, 208) / 4) + 2
    assert np.abs(np.median(forecast.samples, axis=0) - wanted).mean() < 0.5


# ---------------------------------------------------------------------- d2l, DGL
def test_functions_of_d2l():
    os.environ.setdefault('MPLBACKEND', 'Agg')
    d2l = pytest.importorskip('d2l.mxnet')
    from mxnet import np as mnp
    from mxnet import npx
    npx.set_np()
    try:
        encoder = d2l.TransformerEncoder(50, 24, 48, 4, 2, 0.1)
        encoder.initialize()
        assert encoder(mnp.ones((2, 10)), mnp.array([3, 2])).shape == (2, 10, 24)
        bert = d2l.BERTModel(100, 32, 64, 2, 2, 0.1)
        bert.initialize()
        found = bert(mnp.random.randint(0, 100, (2, 8)), mnp.zeros((2, 8)), None, mnp.array([[1, 2], [3, 4]]))
        assert [f.shape for f in found] == [(2, 8, 32), (2, 2, 100), (2, 2)]
        features, labels = d2l.synthetic_data(mnp.array([2, -3.4]), 4.2, 200)
        net = gluon.nn.Dense(1)
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
        for _ in range(3):
            for x, y in d2l.load_array((features, labels), 10):
                with autograd.record():
                    loss = gluon.loss.L2Loss()(net(x), y)
                loss.backward()
                trainer.step(10)
        assert float(gluon.loss.L2Loss()(net(features), labels).mean()) < 0.01
    finally:
        npx.reset_np()


def test_a_graph_network_of_dgl(monkeypatch):
    monkeypatch.setenv('DGLBACKEND', 'mxnet')
    dgl = pytest.importorskip('dgl')
    from dgl.nn.mxnet import GraphConv
    assert dgl.backend.backend_name == 'mxnet'
    mx.random.seed(1)
    random = np.random.RandomState(0)
    graph = dgl.add_self_loop(dgl.graph((random.randint(0, 30, 120), random.randint(0, 30, 120)), num_nodes=30))
    x, y = nd.array(random.randn(30, 8)), nd.array(random.randint(0, 3, 30))
    first, second = GraphConv(8, 16, activation=nd.relu), GraphConv(16, 3)
    parameters = first.collect_params()
    parameters.update(second.collect_params())
    parameters.initialize(mx.init.Xavier())
    trainer, losses = gluon.Trainer(parameters, 'adam', {'learning_rate': 0.05}), []
    for _ in range(40):
        with autograd.record():
            loss = gluon.loss.SoftmaxCELoss()(second(graph, first(graph, x)), y).mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss.asscalar())
    assert losses[-1] < 0.5 < losses[0]
