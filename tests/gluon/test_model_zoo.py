"""Known networks: names, shapes and graphs are those of MXNet 1.9.1, whose parameter files must fit."""
import hashlib
import importlib.util
import json
import zipfile

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon.model_zoo import model_store, vision

DATA = ROOT / 'tests' / 'data' / 'gluon'
UPSTREAM = json.loads((DATA / 'described.json').read_text())['models']
spec = importlib.util.spec_from_file_location('gluon_make', DATA / 'make.py')
MAKE = importlib.util.module_from_spec(spec)
spec.loader.exec_module(MAKE)


@pytest.mark.parametrize('name', MAKE.MODELS)
def test_networks_are_those_of_upstream(name):
    expected, found = dict(UPSTREAM[name]), MAKE.model(name)
    numbers, own = expected.pop('numbers', {}), found.pop('numbers', {})
    assert found == expected
    for key, (mean, size) in numbers.items():
        # deep networks blow rounding up
        assert abs(own[key][0] - mean) < 0.02 * size and abs(own[key][1] - size) < 0.02 * size, (key, own[key])


def test_all_networks_have_a_name_and_a_file():
    assert sorted(vision._MODELS) == sorted(MAKE.MODELS) == sorted(model_store._model_sha1)
    with pytest.raises(ValueError, match='resnet50_v1'):
        vision.get_model('resnet51')


# the smallest pictures that the last pooling layer of a network takes
SIZES = {'alexnet': 67, 'densenet': 224, 'inceptionv3': 299, 'squeezenet1.0': 224, 'squeezenet1.1': 224}
QUICK = ('resnet18_v1', 'resnet18_v2', 'mobilenet0.25', 'mobilenetv2_0.25', 'vgg11_bn')


def results(net, x):
    mx.random.seed(3)
    with autograd.record():
        y = net(x)
        loss = (y * y).sum()
    loss.backward()
    gradients = [p.grad().asnumpy().copy() for p in net.collect_params().values() if p.grad_req != 'null']
    return y.asnumpy(), gradients


@pytest.mark.parametrize('name', [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in MAKE.MODELS])
def test_hybridized_and_plain_networks_compute_the_same(name):
    size = next((s for n, s in SIZES.items() if name.startswith(n)), 32)
    net = vision.get_model(name, classes=3)
    net.initialize(mx.init.Xavier())
    for block in MAKE.blocks(net):
        if isinstance(block, gluon.nn.Dropout):
            block._rate = 0             # the masks of a plan are others
    x = nd.random.uniform(shape=(2, 3, size, size))
    y, gradients = results(net, x)
    assert y.shape == (2, 3) and all(np.isfinite(g).all() for g in gradients)
    length = np.linalg.norm
    total = length([length(g) for g in gradients])
    net.hybridize()
    for _ in range(2):
        again, others = results(net, x)
        # Normalisation over two single places makes much of rounding, and relu may fall on the other side of 0; a bias
        # before normalisation has no gradient but what rounding leaves of large numbers.
        assert length(again - y) <= 0.02 * length(y)
        gaps = [length(a - b) for a, b in zip(others, gradients, strict=True)]
        assert length(gaps) <= 0.05 * total
        assert all(gap <= 0.3 * length(b) + 1e-4 * total for gap, b in zip(gaps, gradients, strict=True))


def test_small_pictures():
    net = vision.get_resnet(1, 18, thumbnail=True, classes=10)
    net.initialize()
    assert net(nd.ones((1, 3, 32, 32))).shape == (1, 10) and len(net.features) == 6


def test_parameters_go_through_files(tmp_path):
    nets = [vision.squeezenet1_1(classes=5, prefix=p) for p in ('a_', 'b_')]
    nets[0].initialize(mx.init.Normal(0.1))
    x = nd.random.uniform(shape=(1, 3, 224, 224))
    y = nets[0](x)
    nets[0].save_parameters(str(tmp_path / 'net.params'))
    nets[1].load_parameters(str(tmp_path / 'net.params'))
    np.testing.assert_array_equal(nets[1](x).asnumpy(), y.asnumpy())


@pytest.mark.parametrize('wrong', [lambda: vision.get_resnet(3, 18), lambda: vision.get_resnet(1, 19),
                                   lambda: vision.SqueezeNet('2.0'), lambda: vision.VGG([1], [2, 3]),
                                   lambda: vision.ResNetV1(vision.BasicBlockV1, [1, 1], [2, 2])])
def test_wrong_arguments(wrong):
    with pytest.raises(AssertionError):
        wrong()


# ---------------------------------------------------------------------- pretrained parameters
@pytest.fixture
def published(monkeypatch, tmp_path):
    """A file such as upstream published, for a network of one class; -> (folder, name of the file, its content)."""
    monkeypatch.delenv('MXNET_GLUON_REPO', raising=False)
    net = vision.mobilenet0_25(classes=1)
    net.initialize(mx.init.One())
    net(nd.zeros((1, 3, 32, 32)))
    path = tmp_path / 'net.params'
    net.save_parameters(str(path))
    content = path.read_bytes()
    monkeypatch.setitem(model_store._model_sha1, 'mobilenet0.25', hashlib.sha1(content).hexdigest())
    return tmp_path / 'models', f'mobilenet0.25-{model_store.short_hash("mobilenet0.25")}', content


def test_pretrained_parameters_come_from_the_cache(published):
    folder, name, content = published
    folder.mkdir()
    (folder / f'{name}.params').write_bytes(content)
    net = vision.mobilenet0_25(classes=1, pretrained=True, root=str(folder))
    assert net.output.weight.data().asnumpy().min() == 1
    model_store.purge(str(folder))
    assert not list(folder.iterdir())


def test_absent_parameters_are_asked_for(published):
    folder, name, _ = published
    with pytest.raises(mx.MXNetError) as error:
        vision.get_model('mobilenet0.25', classes=1, pretrained=True, root=str(folder))
    assert f'{name}.params' in str(error.value) and str(folder) in str(error.value)


def test_other_files_are_refused(published):
    folder, name, content = published
    folder.mkdir()
    (folder / f'{name}.params').write_bytes(content + b'x')
    with pytest.raises(mx.MXNetError, match='SHA-1'):
        vision.mobilenet0_25(classes=1, pretrained=True, root=str(folder))


def test_parameters_are_downloaded_from_a_given_server(published, monkeypatch, tmp_path):
    folder, name, content = published
    server = tmp_path / 'server' / 'gluon' / 'models'
    server.mkdir(parents=True)
    with zipfile.ZipFile(server / f'{name}.zip', 'w') as archive:
        archive.writestr(f'{name}.params', content)
    monkeypatch.setenv('MXNET_GLUON_REPO', (tmp_path / 'server').as_uri())
    net = vision.mobilenet0_25(classes=1, pretrained=True, root=str(folder))
    assert net.output.weight.data().asnumpy().min() == 1
    assert [p.name for p in folder.iterdir()] == [f'{name}.params']
    with zipfile.ZipFile(server / f'{name}.zip', 'w') as archive:
        archive.writestr(f'{name}.params', b'something else')
    (folder / f'{name}.params').unlink()
    with pytest.raises(ValueError, match='SHA-1'):
        model_store.get_model_file('mobilenet0.25', root=str(folder))
    assert not list(folder.iterdir())


def test_networks_without_a_file():
    with pytest.raises(ValueError, match='vgg19_bn'):
        model_store.get_model_file('resnet51')
