"""`remx inspect --summary`: counts by hand, measured numbers, two networks side by side."""
import json

import pytest

import mxnet as mx
from mxnet.cli import main
from mxnet.contrib import prune
from mxnet.gluon import nn


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp('networks')
    net = nn.HybridSequential(prefix='n_')
    with net.name_scope():
        net.add(nn.Conv2D(8, 3, in_channels=2, activation='relu'), nn.BatchNorm(in_channels=8), nn.Flatten(),
                nn.Dense(5, in_units=8 * 36))
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((4, 2, 8, 8)))
    net.export(str(folder / 'before'))
    small = prune.shrink(net, 0.5, data_shapes=(4, 2, 8, 8))
    small(mx.nd.ones((4, 2, 8, 8)))
    small.export(str(folder / 'after'))
    return folder


def summary(folder, capsys, *arguments):
    status = main(['inspect', '--summary', *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_counts_and_measures(folder, capsys):
    status, out, _ = summary(folder, capsys, str(folder / 'before'), '--shape', 'data=4,2,8,8', '--json')
    assert status == 0
    [found] = json.loads(out)['networks']
    layers = {layer['name']: layer for layer in found['layers']}
    conv, dense = layers['n_conv0_fwd'], layers['n_dense0_fwd']
    assert conv['parameters'] == 8 * 2 * 9 + 8 and conv['shape'] == [4, 8, 6, 6]
    assert conv['multiply_adds'] == 4 * 8 * 36 * 2 * 9 and conv['activations'] == 4 * 8 * 36
    assert dense['parameters'] == 5 * 288 + 5 and dense['multiply_adds'] == 4 * 5 * 288
    assert layers['n_batchnorm0_fwd']['parameters'] == 4 * 8
    assert dense['bytes'] == 4 * dense['parameters']
    assert found['totals']['parameters'] == sum(layer['parameters'] for layer in found['layers'])
    assert all(layer['milliseconds'] > 0 for layer in found['layers'])
    # while it runs, the input's successor and its own result are alive
    assert conv['peak_bytes'] >= 4 * conv['activations'] and found['totals']['peak_bytes'] < 100 * 1024
    assert found['predict_milliseconds'] > 0
    assert found['file_bytes'] == sum(p.stat().st_size for p in folder.glob('before-*'))


def test_side_by_side(folder, capsys):
    names = str(folder / 'before'), str(folder / 'after')
    picture = folder / 'bars.png'
    pytest.importorskip('matplotlib')
    status, out, _ = summary(folder, capsys, *names, '--shape', 'data=4,2,8,8', '--picture', str(picture))
    assert status == 0 and '4x8x6x6 > 4x4x6x6' in out and 'after / before: parameters 0.5' in out
    assert picture.stat().st_size > 5000
    status, out, _ = summary(folder, capsys, *names, '--shape', 'data=4,2,8,8', '--json', '--repeat', '0')
    ratios = json.loads(out)['ratios']
    assert ratios['multiply_adds'] == 0.5 and ratios['milliseconds'] is None


def test_mistakes(folder, capsys):
    status, _, err = summary(folder, capsys, str(folder / 'before'))
    assert status == 1 and 'the shape of data is not known' in err
    status, _, err = summary(folder, capsys, 'a', 'b', 'c')
    assert status == 1 and 'one or two networks' in err
    assert main(['inspect', 'a', 'b']) == 1 and 'two networks are compared with --summary' in capsys.readouterr().err


@pytest.mark.parametrize('node, shapes, count', [
    (lambda x: mx.sym.Deconvolution(x, num_filter=6, kernel=(2, 2), stride=(2, 2)), (1, 4, 3, 3), 4 * 9 * 6 * 4),
    (lambda x: mx.sym.Convolution(x, num_filter=4, num_group=4, kernel=(3, 3)), (1, 4, 5, 5), 4 * 9 * 9),
    (lambda x: mx.sym.batch_dot(x, mx.sym.transpose(x, axes=(0, 2, 1))), (2, 3, 7), 2 * 3 * 3 * 7),
    (lambda x: mx.sym.RNN(x, mx.sym.var('p'), mx.sym.var('s'), mode='rnn_tanh', state_size=5, num_layers=1),
     (4, 2, 3), 4 * 2 * 5 * (3 + 5))])
def test_multiply_adds(node, shapes, count):
    from mxnet._graph.infer.inference import infer
    from mxnet.cli._summary import multiply_adds
    network = node(mx.sym.var('data'))
    facts = infer(network._entries, {'data': shapes}, {})
    [(last, _)] = network._entries
    assert multiply_adds(last, [facts.shape(e) for e in last.inputs], facts.shape((last, 0))) == count
