"""On a GPU as on the CPU: vision operators with gradients, sparse models, sampling of graphs, int8 networks."""
import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd

pytestmark = pytest.mark.gpu
GPU = mx.gpu(0)
R = np.random.RandomState


def draw(*shape, seed=0, scale=1.0):
    return (R(seed).randn(*shape) * scale).astype('float32')


ROIS = np.float32([[0, 2, 3, 20, 24], [1, 5, 1, 30, 28], [1, 0, 0, 12, 31]])
TURNED = np.float32([[0, 12, 12, 18, 10, 30], [1, 16, 14, 20, 22, -45]])
DATA, SMALL = draw(2, 8, 16, 16), draw(2, 4, 10, 10)
CASES = [
    ('contrib.DeformableConvolution', [DATA, draw(2, 18, 14, 14, seed=1), draw(6, 8, 3, 3, seed=2), draw(6)],
     {'kernel': (3, 3), 'num_filter': 6}),
    ('contrib.ModulatedDeformableConvolution', [DATA, draw(2, 18, 14, 14, seed=1), abs(draw(2, 9, 14, 14, seed=3)),
                                                draw(6, 8, 3, 3, seed=2), draw(6)],
     {'kernel': (3, 3), 'num_filter': 6}),
    ('contrib.DeformablePSROIPooling', [DATA, ROIS, draw(3, 2, 2, 2, scale=0.1)],
     {'spatial_scale': 0.5, 'output_dim': 2, 'group_size': 2, 'pooled_size': 2, 'part_size': 2, 'sample_per_part': 2,
      'trans_std': 0.1}),
    ('contrib.RROIAlign', [DATA, TURNED], {'pooled_size': (3, 3), 'spatial_scale': 0.5, 'sampling_ratio': 2}),
    ('Correlation', [SMALL, draw(2, 4, 10, 10, seed=1)], {'kernel_size': 1, 'max_displacement': 2, 'pad_size': 2}),
    ('SpatialTransformer', [SMALL, draw(2, 6, scale=0.3)],
     {'target_shape': (6, 6), 'transform_type': 'affine', 'sampler_type': 'bilinear'}),
    ('BilinearSampler', [SMALL, draw(2, 2, 5, 5, scale=0.5)], {}),
    ('contrib.BilinearResize2D', [SMALL], {'height': 7, 'width': 13}),
    ('contrib.AdaptiveAvgPooling2D', [SMALL], {'output_size': (3, 4)}),
    ('contrib.box_decode', [abs(draw(2, 5, 4)), abs(draw(1, 5, 4, seed=1))], {'format': 'center'}),
]


@pytest.mark.parametrize(('name', 'inputs', 'attributes'), CASES, ids=[c[0] for c in CASES])
def test_vision(name, inputs, attributes):
    function = nd
    for part in name.split('.'):
        function = getattr(function, part)
    results = []
    for ctx in (mx.cpu(), GPU):
        arrays = [nd.array(x, ctx=ctx) for x in inputs]
        for array in arrays:
            array.attach_grad()
        with autograd.record():
            y = function(*arrays, **attributes)
            y = y[0] if isinstance(y, list) else y
            loss = nd.sum(y * y)
        loss.backward()
        assert y.context == ctx
        results.append([y.asnumpy(), *[a.grad.asnumpy() for a in arrays]])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-2, atol=2e-2 * max(1e-3, abs(a).max()))      # TF32 is allowed


@pytest.mark.parametrize('optimizer', ['sgd', 'adam', 'adagrad', 'ftrl'])
def test_sparse_model(optimizer):
    weights = []
    for ctx in (mx.cpu(), GPU):
        x = nd.sparse.csr_matrix(([1., 2., 3.], [5, 10 ** 6 - 1, 7], [0, 2, 3]), shape=(2, 10 ** 6), ctx=ctx)
        w = nd.sparse.row_sparse_array((draw(3, 2), [5, 7, 9]), shape=(10 ** 6, 2), ctx=ctx)
        w.attach_grad()
        update = mx.optimizer.get_updater(mx.optimizer.create(optimizer, learning_rate=0.1))
        for _ in range(3):
            with autograd.record():
                y = nd.sum(nd.square(nd.sparse.dot(x, w)) + nd.sparse.dot(x, nd.square(w)))
            y.backward()
            assert w.grad.stype == 'row_sparse' and w.grad.context == ctx
            update(0, w.grad, w)
        weights.append((w.indices.asnumpy(), w.data.asnumpy()))
    np.testing.assert_array_equal(weights[0][0], weights[1][0])
    np.testing.assert_allclose(weights[0][1], weights[1][1], rtol=1e-3, atol=1e-4)


def test_hybridized_embedding():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Embedding(5000, 8, sparse_grad=True), gluon.nn.Dense(1))
    net.initialize(ctx=GPU)
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), 'adam')
    x = nd.array([[3, 4000], [3, 7]], ctx=GPU)
    for _ in range(4):
        with autograd.record():
            loss = (net(x) - 1) ** 2
        loss.backward()
        trainer.step(2)
    assert net[0].weight.grad().indices.asnumpy().tolist() == [3, 7, 4000]


def test_memory_is_shared_with_torch():
    x = nd.array([[0, 1], [2, 0]], ctx=GPU).tostype('csr')
    tensor = x.to_torch_sparse()
    assert tensor.is_cuda and nd.sparse.from_torch(tensor).context == GPU
    tensor.values()[0] = 5
    assert x.asnumpy()[0, 1] == 5


def test_sampling_of_graphs():
    results = []
    for ctx in (mx.cpu(), GPU):
        graph = nd.sparse.csr_matrix((np.arange(6), [1, 2, 0, 2, 3, 0], [0, 2, 3, 5, 6]), shape=(4, 4), ctx=ctx,
                                     dtype='int64')
        found = nd.contrib.dgl_csr_neighbor_uniform_sample(graph, nd.array([1], dtype='int64', ctx=ctx), num_hops=2,
                                                           num_neighbor=5, max_num_vertices=4)
        results.append([a.asnumpy().tolist() for a in found])
    assert results[0] == results[1]


def test_int8():
    from mxnet.contrib.quantization import quantize_net
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(16, 3, in_channels=8), gluon.nn.BatchNorm(), gluon.nn.Activation('relu'),
            gluon.nn.Dense(16))
    net.initialize(mx.init.Xavier(), ctx=GPU)
    x = nd.array(draw(4, 8, 12, 12), ctx=GPU)
    expected = net(x).asnumpy()
    small = quantize_net(net, calib_mode='naive', calib_data=[x], ctx=GPU)
    found = small(x)
    assert found.context == GPU
    assert abs(found.asnumpy() - expected).mean() < 0.1 * abs(expected).mean()
    assert torch.cuda.is_available()
