"""Pruning: smaller networks compute what masked ones compute, whatever the graph does with its channels."""
import json
import os
import re
import subprocess

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd, sym
from mxnet.base import MXNetError
from mxnet.contrib import prune

X = sym.var('data')


def conv(x, filters, name, kernel=3, pad=1, **more):
    return sym.Convolution(x, num_filter=filters, kernel=(kernel, kernel), pad=(pad, pad), name=name, **more)


def head(x, name='head', **more):
    return sym.FullyConnected(x, num_hidden=3, name=name, **more)


def norm(x, name, **more):
    return sym.BatchNorm(x, name=name, fix_gamma=False, **more)


def residual():
    a = sym.Activation(norm(conv(X, 8, 'c1', no_bias=True), 'b1'), act_type='relu')
    b = norm(conv(sym.relu(norm(conv(a, 8, 'c2'), 'b2')), 8, 'c3'), 'b3')
    return head(sym.Pooling(sym.relu(a + b), global_pool=True, pool_type='avg', kernel=(1, 1)))


def concatenated():
    a, b = conv(X, 6, 'c1'), conv(X, 4, 'c2', kernel=1, pad=0)
    joined = norm(sym.Concat(a, sym.tanh(b), dim=1), 'b1')
    return head(sym.Flatten(sym.Pooling(conv(sym.relu(joined), 4, 'c3'), kernel=(2, 2), stride=(2, 2))))


def depthwise():
    a = sym.relu(conv(X, 8, 'c1'))
    b = sym.relu(norm(conv(a, 16, 'dw', num_group=8), 'b1'))
    return head(conv(b, 4, 'pw', kernel=1, pad=0))


def grouped():
    return head(conv(sym.relu(conv(sym.relu(conv(X, 8, 'c1')), 12, 'g', num_group=4)), 4, 'c2'))


def transposed():
    up = sym.Deconvolution(sym.relu(conv(X, 8, 'c1')), num_filter=6, kernel=(2, 2), stride=(2, 2), name='d1')
    fixed = sym.Deconvolution(up, num_filter=6, num_group=6, kernel=(2, 2), stride=(2, 2), name='d2', no_bias=True)
    both = sym.Deconvolution(fixed, num_filter=6, num_group=2, kernel=(1, 1), name='d3')
    return head(sym.Pooling(both, global_pool=True, kernel=(1, 1), pool_type='max'))


def squeeze_and_excite():
    a = sym.relu(conv(X, 8, 'c1'))
    gate = sym.FullyConnected(sym.relu(sym.FullyConnected(sym.mean(a, axis=(2, 3)), num_hidden=4, name='f1')),
                              num_hidden=8, name='f2')
    return head(sym.broadcast_mul(a, sym.Reshape(sym.sigmoid(gate), shape=(-1, 8, 1, 1))))


def spatial_gate():
    a = conv(X, 8, 'c1')
    return head(sym.broadcast_mul(a, sym.sigmoid(conv(a, 1, 'c2'))))


def shuffled():
    a = conv(X, 12, 'c1')
    b = sym.Reshape(sym.SwapAxis(sym.Reshape(a, shape=(0, -4, 3, -1, -2)), dim1=1, dim2=2), shape=(0, -3, -2))
    return head(conv(b, 6, 'c2', num_group=3))


def divided():
    parts = sym.SliceChannel(sym.relu(conv(X, 12, 'c1')), num_outputs=2, axis=1)
    return head(sym.Concat(conv(parts[0], 4, 'c2'), parts[1], dim=1))


def sliced():
    a = conv(X, 10, 'c1')
    first, rest = sym.slice_axis(a, axis=1, begin=0, end=3), sym.slice_axis(a, axis=1, begin=3, end=None)
    corner = sym.slice(a, begin=(None, 4, 0, 0), end=(None, 9, 3, 3))
    return sym.Group([head(first, 'h1'), head(rest, 'h2'), head(corner, 'h3')])


def split_at():
    parts = sym.split_v2(conv(X, 9, 'c1'), (2, 5), axis=1)
    return sym.Group([head(p, f'h{i}') for i, p in enumerate(parts)])


def explicit_shape():
    return head(sym.Reshape(sym.transpose(conv(X, 4, 'c1'), axes=(0, 2, 3, 1)), shape=(-1, 4 * 64)), flatten=False)


def channels_last():
    a = sym.Convolution(sym.transpose(X, axes=(0, 2, 3, 1)), num_filter=8, kernel=(3, 3), layout='NHWC', name='c1')
    a = sym.Pooling(sym.relu(norm(a, 'b1', axis=3)), kernel=(2, 2), stride=(2, 2), layout='NHWC')
    return head(sym.Convolution(a, num_filter=4, kernel=(1, 1), layout='NHWC', name='c2'))


def shared_weight():
    w, b = sym.var('w'), sym.var('b')
    a = sym.Convolution(conv(X, 6, 'c1'), w, b, num_filter=6, kernel=(1, 1), name='s1')
    return head(sym.Convolution(sym.relu(a), w, b, num_filter=6, kernel=(1, 1), name='s2'))


def scaled():
    scale = sym.var('scale', shape=(1, 8, 1, 1))
    a = sym.LeakyReLU(sym.broadcast_mul(conv(X, 8, 'c1'), scale), act_type='prelu', name='p')
    return head(sym.InstanceNorm(sym.Dropout(a, p=0.5), name='i'))


def depth_and_space():
    return head(conv(sym.depth_to_space(conv(X, 16, 'c1'), block_size=2), 4, 'c2'))


def dense_only():
    a = sym.FullyConnected(sym.FullyConnected(X, num_hidden=12, name='f1'), num_hidden=8, name='f2')
    return head(sym.Concat(a, sym.softsign(a), dim=1))


def padded():
    a = sym.Pad(conv(X, 6, 'c1'), mode='edge', pad_width=(0, 0, 0, 0, 1, 1, 1, 1))
    return head(sym.UpSampling(a, scale=2, sample_type='nearest'))


GRAPHS = [residual, concatenated, depthwise, grouped, transposed, squeeze_and_excite, spatial_gate, shuffled, divided,
          sliced, split_at, explicit_shape, channels_last, shared_weight, scaled, depth_and_space, dense_only, padded]


def filled(network, shape=(2, 3, 8, 8)):
    draw = np.random.RandomState(3)
    shapes, _, states = network.infer_shape(data=shape)
    args = {n: nd.array(draw.normal(size=s)) for n, s in zip(network.list_arguments(), shapes) if n != 'data'}
    aux = {n: nd.array(draw.uniform(0.5, 2, s)) for n, s in zip(network.list_auxiliary_states(), states)}
    return network, args, aux


def outputs(network, x):
    symbol, args, aux = network
    return [o.asnumpy() for o in symbol.bind(mx.cpu(), {**args, 'data': x}, aux_states=aux).forward()]


def size(network):
    return sum(a.size for a in network[1].values())


@pytest.mark.parametrize('graph', GRAPHS, ids=lambda graph: graph.__name__)
@pytest.mark.parametrize('scope', ['layer', 'global'])
def test_a_smaller_network_computes_what_a_masked_one_does(graph, scope):
    network = filled(graph())
    x = nd.array(np.random.RandomState(1).normal(size=(2, 3, 8, 8)))
    plan = prune.channels(network, 0.5, data_shapes={'data': x.shape}, scope=scope)
    small = plan.shrink()
    before = outputs(network, x)
    plan.masks.apply(network)
    masked, found = outputs(network, x), outputs(small, x)
    assert size(small) < 0.75 * size(network), plan.table()
    for one, other, old in zip(found, masked, before):
        assert np.abs(one - other).max() <= 1e-5 * np.abs(other).max()
        assert np.abs(one - old).max() > 1e-3 * np.abs(old).max()      # something has gone
    again = mx.sym.load_json(small[0].tojson())                         # as a file holds it
    assert np.array_equal(outputs((again, *small[1:]), x)[0], found[0])


@pytest.mark.parametrize('layer, reason', [
    (lambda x: sym.LRN(x, nsize=3, name='lrn'), 'lrn .LRN. is an operator whose channels are not understood'),
    (lambda x: sym.softmax(x, axis=1, name='s'), 's .softmax. is an operator whose'),
    (lambda x: sym.sum(x, axis=1, name='total'), 'total .sum. computes with all channels'),
    (lambda x: x + sym.var('other', shape=(2, 8, 8, 8)), 'combines them with what always stays')])
def test_what_is_not_understood_stays_and_is_named(layer, reason):
    network = head(layer(conv(conv(X, 6, 'free'), 8, 'c1')))
    shapes = {'data': (2, 3, 8, 8), 'other': (2, 8, 8, 8)}
    known = {n: s for n, s in shapes.items() if n in network.list_arguments()}
    found, _, _ = network.infer_shape(**known)
    args = {n: nd.ones(s) for n, s in zip(network.list_arguments(), found) if n not in shapes}
    plan = prune.channels((network, args, {}), 0.5, data_shapes=known)
    groups = {group.layers[0]: group for group in plan.groups}
    assert groups['free'].removed == 3
    assert groups['c1'].removed == 0 and re.search(reason, groups['c1'].reason)
    assert groups['c1'].reason in plan.table()


def test_options_of_channels():
    network = filled(dense_only())
    shapes = {'data': (2, 3, 8, 8)}

    def removed(*args, **options):
        return {g.layers[0]: g.removed for g in prune.channels(network, *args, data_shapes=shapes, **options).groups}
    assert removed(0.5) == {'f1': 6, 'f2': 4, 'head': 0}
    assert removed({'f1': 0.25}) == {'f1': 3, 'f2': 0, 'head': 0}
    assert removed({'f.': 0.75}) == {'f1': 9, 'f2': 6, 'head': 0}
    assert removed(0.5, exclude=['f2']) == {'f1': 6, 'f2': 0, 'head': 0}
    assert removed(0.5, round_to=4) == {'f1': 4, 'f2': 4, 'head': 0}
    assert removed(0.9, keep=0.5) == {'f1': 6, 'f2': 4, 'head': 0}
    assert removed(0.99) == {'f1': 11, 'f2': 7, 'head': 0}
    network[1]['f1_weight'][3] = 0
    plan = prune.channels(network, 0.1, data_shapes=shapes, criterion='l1')
    assert plan.masks['f1_weight'].asnumpy()[3].sum() == 0 and plan.masks['f2_weight'].asnumpy()[:, 3].sum() == 0
    plan = prune.channels(network, 0.1, data_shapes=shapes, criterion=lambda name, rows: -np.arange(len(rows)))
    assert plan.masks['f1_weight'].asnumpy()[-1].sum() == 0
    for wrong in ({'sparsity': 1}, {'sparsity': -0.1}, {'scope': 'all'}, {'criterion': 'l7'}):
        with pytest.raises(ValueError, match='must be|share'):
            prune.channels(network, data_shapes=shapes, **wrong)


def test_criterion_gamma():
    network = filled(residual())
    network[1]['b2_gamma'][:] = np.arange(1, 9)
    plan = prune.channels(network, 0.5, data_shapes={'data': (2, 3, 8, 8)}, criterion='gamma')
    assert plan.masks['c2_weight'].asnumpy().sum((1, 2, 3)).astype(bool).tolist() == [False] * 4 + [True] * 4


# ---------------------------------------------------------------------- masks of weights
WEIGHTS = {'a_weight': nd.array(np.arange(1, 17).reshape(2, 8)), 'b_weight': nd.array(np.arange(17, 33).reshape(4, 4)),
           'a_bias': nd.ones(2)}


def test_masks_by_layer_and_everywhere():
    by_layer = prune.magnitude(WEIGHTS, 0.25)
    assert {n: int(m.sum().asscalar()) for n, m in by_layer.items()} == {'a_weight': 12, 'b_weight': 12}
    everywhere = prune.magnitude(WEIGHTS, 0.5, scope='global')
    assert {n: int(m.sum().asscalar()) for n, m in everywhere.items()} == {'a_weight': 0, 'b_weight': 16}
    assert everywhere.sparsity == 0.5
    some = prune.magnitude(WEIGHTS, {'a': 0.5})
    assert {n: int(m.sum().asscalar()) for n, m in some.items()} == {'a_weight': 8, 'b_weight': 16}
    assert list(prune.magnitude(WEIGHTS, 0.5, exclude=['a_weight'])) == ['b_weight']


@pytest.mark.parametrize('n, m', [(2, 4), (1, 4), (1, 2)])
def test_blocks(n, m):
    values = nd.array(np.random.RandomState(0).normal(size=(3, 10, 2, 2)))
    mask = prune.magnitude({'w_weight': values}, pattern=f'{n}:{m}')['w_weight'].asnumpy()
    whole = 10 // m * m
    blocks = mask[:, :whole].reshape(3, -1, m, 2, 2)
    assert (blocks.sum(2) == n).all() and mask[:, whole:].all()
    kept = np.abs(values.asnumpy())[:, :whole].reshape(3, -1, m, 2, 2)
    assert (np.where(blocks, kept, np.inf).min(2) >= np.where(blocks, 0, kept).max(2)).all()
    for wrong in '4:2', '2', (0, 4):
        with pytest.raises(ValueError, match="'2:4'"):
            prune.magnitude({'w_weight': values}, pattern=wrong)


# ---------------------------------------------------------------------- training
def small_net():
    net = gluon.nn.HybridSequential(prefix='n_')
    with net.name_scope():
        net.add(gluon.nn.Dense(16, activation='relu', in_units=8), gluon.nn.Dense(3, in_units=16))
    net.initialize(mx.init.Xavier())
    return net


DRAW = np.random.RandomState(0)
DATA = nd.array(DRAW.normal(size=(32, 8)))
LABEL = nd.array(DRAW.randint(0, 3, 32))


@pytest.mark.parametrize('optimizer', [('sgd', {'momentum': 0.9}), ('adam', {}), ('nag', {'momentum': 0.9, 'wd': 0.1})],
                         ids=lambda o: o[0])
@pytest.mark.parametrize('hybrid', [False, True])
def test_the_mask_stays_through_every_update(optimizer, hybrid):
    net = small_net()
    if hybrid:
        net.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), optimizer[0], {'learning_rate': 0.1, **optimizer[1]})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()

    def learn():
        with mx.autograd.record():
            loss = loss_of(net(DATA), LABEL)
        loss.backward()
        trainer.step(32)
    for _ in range(3):          # momentum that points at the masked weights
        learn()
    pruner = prune.Pruner(net, 0.75).attach(trainer)
    before = {n: p.data().asnumpy() for n, p in net.collect_params().items()}
    for _ in range(5):
        learn()
        for name, mask in pruner.masks.items():
            now = net.collect_params()[name].data().asnumpy()
            assert (now[mask.asnumpy() == 0] == 0).all() and (now != before[name]).any()
    assert prune.sparsity(net)['all'] == 0.75
    pruner.detach()
    learn()
    assert prune.sparsity(net)['all'] < 0.7


def test_a_schedule():
    schedule = prune.Schedule(0.8, begin=10, end=50, every=10)
    assert [round(schedule(n), 3) for n in (0, 10, 30, 50, 99)] == [0, 0, 0.7, 0.8, 0.8]
    assert [n for n in range(70) if schedule.due(n)] == [10, 20, 30, 40, 50]
    assert prune.Schedule(0.8, 0, 10, power=1)(5) == pytest.approx(0.4)
    with pytest.raises(ValueError, match='begin <= end'):
        prune.Schedule(0.5, begin=5, end=1)


def test_gradually_in_module_fit():
    net = head(sym.relu(sym.FullyConnected(X, num_hidden=16, name='f1')))
    module = mx.mod.Module(sym.SoftmaxOutput(net, name='softmax'))
    data = mx.io.NDArrayIter(DATA, LABEL, 8)
    pruner = prune.Pruner(module, prune.Schedule(0.75, begin=2, end=10, every=2))
    seen = []
    module.fit(data, num_epoch=4, optimizer_params={'learning_rate': 0.1, 'momentum': 0.9},
               batch_end_callback=[pruner, lambda p: seen.append(prune.sparsity(module)['all'])])
    assert seen == sorted(seen) and seen[0] == 0 and seen[-1] == seen[11] == 0.75
    arguments, _ = module.get_params()
    assert (arguments['f1_weight'].asnumpy() == 0).mean() == 0.75


def test_gradually_in_an_estimator_and_taken_out_at_the_end():
    from mxnet.gluon.contrib.estimator import Estimator
    net = small_net()
    pruner = prune.Pruner(net, prune.Schedule(0.5, end=4, every=2), method='channels', data_shapes=(1, 8))
    estimator = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), mx.metric.Accuracy(),
                          trainer=gluon.Trainer(net.collect_params(), 'adam'))
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(DATA, LABEL), 8)
    estimator.logger.setLevel('ERROR')
    estimator.fit(loader, epochs=3, event_handlers=[pruner.handler()])
    small = pruner.shrink()
    assert [p.shape for p in small.collect_params().values()] == [(8, 8), (8,), (3, 8), (3,)]
    assert np.allclose(small(DATA).asnumpy(), net(DATA).asnumpy(), atol=1e-5)


# ---------------------------------------------------------------------- sensitivity, files, other formats
def test_sensitivity(tmp_path):
    net = small_net()
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    before = net(DATA).asnumpy()

    def evaluate(network):
        return -float(loss_of(network(DATA), LABEL).mean().asscalar())
    for method, options in ('weights', {}), ('channels', {'data_shapes': (1, 8)}):
        steps = []
        found = prune.sensitivity(net, evaluate, (0.25, 0.75), method=method, **options,
                                  progress=lambda done, of, steps=steps: steps.append((done, of)))
        assert np.array_equal(net(DATA).asnumpy(), before)
        assert steps[-1] == (2 * len(found.scores),) * 2
        assert {tuple(scores) for scores in found.scores.values()} == {(0.25, 0.75)}
        assert found.base == evaluate(net) and found.table().count('\n') == 1 + len(found.scores)
        assert set(found.choose(1e9).values()) == {0.75} and set(found.choose(-1e9).values()) == {0.0}
        prune.channels(net, found.choose(1e9), data_shapes=(1, 8))
    pytest.importorskip('matplotlib')
    found.plot(tmp_path / 'curves.png')
    assert (tmp_path / 'curves.png').stat().st_size > 5000


def lenet():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(8, 5, activation='relu'), gluon.nn.BatchNorm(), gluon.nn.MaxPool2D(), gluon.nn.Flatten(),
            gluon.nn.Dense(16, activation='tanh'), gluon.nn.Dense(10))
    net.initialize(mx.init.Xavier())
    return net


THEIRS = """
import sys, mxnet as mx, numpy as np
x = mx.nd.array(np.load(sys.argv[1]))
sym, args, aux = mx.model.load_checkpoint(sys.argv[2], 0)
print([list(args[n].shape) for n in sym.list_arguments() if n != 'data'])
np.save(sys.argv[3], sym.bind(mx.cpu(), dict(args, data=x), aux_states=aux).forward()[0].asnumpy())
"""


def test_small_networks_are_saved_and_converted(tmp_path):
    net, x = lenet(), nd.random.normal(shape=(2, 1, 20, 20))
    small = prune.shrink(net, 0.5, data_shapes=x.shape)
    want = small(x).asnumpy()
    small.export(str(tmp_path / 'small'))
    loaded = gluon.SymbolBlock.imports(str(tmp_path / 'small-symbol.json'), ['data'],
                                       str(tmp_path / 'small-0000.params'))
    assert np.array_equal(loaded(x).asnumpy(), want)
    nodes = json.loads((tmp_path / 'small-symbol.json').read_text())['nodes']
    assert [n['attrs']['num_filter'] for n in nodes if n['op'] == 'Convolution'] == ['4']
    module = gluon.to_torch(small).eval()
    assert np.allclose(module(x.to_torch()).detach().numpy(), want, atol=1e-5)
    if 'MXNET191_PYTHON' in os.environ:
        np.save(tmp_path / 'x.npy', x.asnumpy())
        environment = {k: v for k, v in os.environ.items() if k != 'PYTHONPATH'}
        done = subprocess.run([os.environ['MXNET191_PYTHON'], '-c', THEIRS, 'x.npy', 'small', 'y.npy'], cwd=tmp_path,
                              check=True, env=environment, capture_output=True, text=True)
        assert '[4, 1, 5, 5]' in done.stdout
        assert np.allclose(np.load(tmp_path / 'y.npy'), want, atol=1e-5)
    pytest.importorskip('onnx')
    runtime = pytest.importorskip('onnxruntime')
    path = mx.onnx.export_model(str(tmp_path / 'small-symbol.json'), str(tmp_path / 'small-0000.params'), [x.shape],
                                np.float32, str(tmp_path / 'small.onnx'))
    session = runtime.InferenceSession(path, providers=['CPUExecutionProvider'])
    assert np.allclose(session.run(None, {'data': x.asnumpy()})[0], want, atol=1e-5)


@pytest.mark.parametrize('name', ['resnet18_v1', 'mobilenetv2_0.25', 'mobilenet0.25'])
def test_networks_of_the_zoo(name):
    net = gluon.model_zoo.vision.get_model(name, classes=5)
    net.initialize(mx.init.Xavier())
    x = nd.random.normal(shape=(2, 3, 64, 64))
    net(x)
    plan = prune.channels(net, 0.5, data_shapes=x.shape)
    small = plan.shrink()
    plan.masks.apply(net)
    want = net(x).asnumpy()
    assert np.abs(small(x).asnumpy() - want).max() < 1e-5 * np.abs(want).max()
    with mx.autograd.record():              # it can learn
        small(x).sum().backward()
    assert {g.reason for g in plan.groups if g.reason} == {plan.groups[-1].reason}


def test_mistakes():
    with pytest.raises(TypeError, match='a Block, .symbol, arguments, states. or a Module'):
        prune.channels(3)
    with pytest.raises(MXNetError, match='data_shapes are needed'):
        prune.channels(small_net())
    with pytest.raises(MXNetError, match='the shapes of data are not known'):
        prune.channels(filled(residual()))
    with pytest.raises(MXNetError, match='no weights to prune'):
        prune.magnitude({'a_bias': nd.ones(3)})
    with pytest.raises(MXNetError, match="method='channels'"):
        prune.Pruner(small_net(), 0.5).shrink()
    with pytest.raises(ValueError, match="'weights' or 'channels'"):
        prune.Pruner(small_net(), 0.5, method='rows')
