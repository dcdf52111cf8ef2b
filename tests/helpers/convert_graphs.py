"""Graphs of the kinds that people have in old checkpoints, for tests of `remx convert`.

`GRAPHS` has {name: function}; a function gives a symbol and the shapes of its inputs, for a batch of one.
`write` makes a checkpoint of one, with random parameters.
"""
import glob
import os

import numpy as np

import mxnet as mx

GOLDEN = os.environ.get('REMX_GOLDEN_FILES') or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'shared', 'golden', 'files')
GRAPHS: dict = {}
INTEGERS: dict = {}         # {name of a graph: {parameter: array}} that are not random floats


def graph(function):
    GRAPHS[function.__name__] = function
    return function


def write(name, prefix):
    """Writes the checkpoint of a graph -> the shapes of its inputs."""
    return save(*GRAPHS[name](), prefix, INTEGERS.get(name, {}))


def save(symbol, shapes, prefix, given=None):
    """Writes a symbol with random parameters."""
    given = given or {}
    labels = {n: None for n in symbol.list_arguments() if n.endswith('label')}
    lengths = {**{n: a.shape for n, a in given.items()}, **shapes}
    arguments, _, states = symbol.infer_shape_partial(**lengths)
    random = np.random.RandomState(0)
    arrays = {}
    for kind, names, found in (('arg', symbol.list_arguments(), arguments),
                               ('aux', symbol.list_auxiliary_states(), states)):
        for name, shape in zip(names, found):
            if name in shapes or name in labels:
                continue
            assert shape and 0 not in shape, (name, shape)
            low, high = (0.5, 1.5) if name.endswith(('var', 'gamma')) else (-0.3, 0.3)
            arrays[f'{kind}:{name}'] = mx.nd.array(given[name], dtype=given[name].dtype) if name in given else \
                mx.nd.array(random.uniform(low, high, shape))
    symbol.save(f'{prefix}-symbol.json')
    mx.nd.save(f'{prefix}-0000.params', arrays)
    return shapes


def golden():
    """{name: (file, shapes, axes of the batch)} of the recorded graphs of MXNet 1.9.1, for a batch of one.

    One of them (`group`) says itself that its batch is two.
    """
    inputs = {'cell': {'seq': (1, 2, 4)}, 'export': {'data': (1, 3, 6, 6)}, 'export_np': {'data': (1, 3)},
              'foreach': {'data': (4, 1, 3), 'state': (1, 3)}, 'group': {'a': (2, 3), 'b': (2, 3)},
              'module': {'data': (1, 3, 8, 8)}}
    found = {}
    for file in sorted(glob.glob(os.path.join(GOLDEN, '*-symbol.json'))):
        name = os.path.basename(file).removesuffix('-symbol.json')
        found[name] = (file, inputs[name], {'data': 1} if name == 'foreach' else {})
    return found


# ---------------------------------------------------------------------- recurrent
def _rnn(mode, **options):
    data = mx.sym.var('data')           # (batch, time, channels)
    count = 2 if options.get('bidirectional') else 1
    layers = options.pop('num_layers', 2)
    size = options.get('projection_size') or 6
    x = mx.sym.SwapAxis(data, dim1=0, dim2=1)
    zeros = mx.sym.zeros_like(mx.sym.slice_axis(mx.sym.sum(x, axis=2, keepdims=True), axis=0, begin=0, end=1))

    def state(length):
        return mx.sym.tile(zeros, reps=(layers * count, 1, length))
    inputs = [x, mx.sym.var('rnn_parameters'), state(size)]
    if mode == 'lstm':
        inputs.append(state(6))
    x = mx.sym.RNN(*inputs, mode=mode, state_size=6, num_layers=layers, name='rnn', **options)
    x = x if len(x.list_outputs()) == 1 else x[0]
    x = mx.sym.SequenceLast(x)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=3, name='fc'), name='softmax'), {'data': (1, 5, 4)}


@graph
def rnn_lstm():
    return _rnn('lstm')


@graph
def rnn_lstm_bidirectional():
    return _rnn('lstm', bidirectional=True, state_outputs=True)


@graph
def rnn_lstm_projection():
    return _rnn('lstm', projection_size=4, num_layers=1)


@graph
def rnn_gru():
    return _rnn('gru', bidirectional=True)


@graph
def rnn_relu():
    return _rnn('rnn_relu')


@graph
def rnn_tanh_dropout():
    return _rnn('rnn_tanh', p=0.5)


@graph
def rnn_cells():
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.BidirectionalCell(mx.rnn.LSTMCell(4, prefix='l_'), mx.rnn.GRUCell(3, prefix='r_')))
    stack.add(mx.rnn.ResidualCell(mx.rnn.RNNCell(7, prefix='top_')))
    outputs, _ = stack.unroll(4, mx.sym.var('data'), merge_outputs=True)
    return mx.sym.FullyConnected(outputs, num_hidden=2, name='fc'), {'data': (1, 4, 3)}


@graph
def words():
    x = mx.sym.Embedding(mx.sym.var('data'), input_dim=20, output_dim=5, name='embed')
    x = mx.sym.expand_dims(x, axis=1)
    pooled = [mx.sym.Pooling(mx.sym.Activation(mx.sym.Convolution(x, kernel=(k, 5), num_filter=4, name=f'conv{k}'),
                                               act_type='relu'), pool_type='max', kernel=(8 - k + 1, 1))
              for k in (2, 3)]
    x = mx.sym.Dropout(mx.sym.Concat(*pooled, dim=1), p=0.5)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=2, name='fc'), name='softmax'), {'data': (1, 8)}


# ---------------------------------------------------------------------- heads
def _dense(count=3):
    return mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=count, name='fc'), {'data': (1, 4)}


@graph
def head_linear():
    x, shapes = _dense()
    return mx.sym.LinearRegressionOutput(x, mx.sym.var('label'), name='head'), shapes


@graph
def head_logistic():
    x, shapes = _dense()
    return mx.sym.LogisticRegressionOutput(x, name='head'), shapes


@graph
def head_mae():
    x, shapes = _dense()
    return mx.sym.MAERegressionOutput(x, name='head'), shapes


@graph
def head_svm():
    x, shapes = _dense()
    return mx.sym.SVMOutput(x, name='svm'), shapes


@graph
def head_make_loss():
    x, shapes = _dense()
    loss = mx.sym.MakeLoss(mx.sym.square(x - mx.sym.var('label')), name='loss')
    return mx.sym.Group([mx.sym.BlockGrad(x, name='kept'), loss]), shapes


@graph
def head_make_loss_alone():
    x, shapes = _dense()
    return mx.sym.MakeLoss(mx.sym.sum(mx.sym.abs(x), axis=1), name='loss'), shapes


@graph
def head_softmax_cross_entropy():
    x, shapes = _dense()
    return mx.sym.Group([mx.sym.softmax(x), mx.sym.softmax_cross_entropy(x, mx.sym.var('label'))]), shapes


@graph
def head_pixels():
    data = mx.sym.var('data')
    x = mx.sym.Convolution(data, kernel=(3, 3), num_filter=4, pad=(1, 1), name='conv')
    x = mx.sym.Deconvolution(x, kernel=(4, 4), stride=(2, 2), pad=(1, 1), num_filter=3, name='up')
    x = mx.sym.Crop(x, data, num_args=2, center_crop=True)
    return mx.sym.SoftmaxOutput(x, multi_output=True, use_ignore=True, ignore_label=255, name='softmax'), \
        {'data': (1, 3, 8, 8)}


@graph
def head_several():
    x, shapes = _dense(6)
    parts = mx.sym.SliceChannel(x, num_outputs=3, name='cut')
    return mx.sym.Group([mx.sym.SoftmaxOutput(x, name='softmax'), parts[2], mx.sym.topk(x, k=2), x]), shapes


# ---------------------------------------------------------------------- detection
def _detector():
    x = mx.sym.Convolution(mx.sym.var('data'), kernel=(3, 3), pad=(1, 1), num_filter=4, name='body')
    x = mx.sym.L2Normalization(mx.sym.Activation(x, act_type='relu'), mode='channel', name='norm')
    classes = mx.sym.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=9, name='classes')
    boxes = mx.sym.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=12, name='boxes')
    anchors = mx.sym.contrib.MultiBoxPrior(x, sizes=(0.3, 0.6), ratios=(1, 2), name='anchors')
    classes = mx.sym.Reshape(mx.sym.transpose(classes, axes=(0, 2, 3, 1)), shape=(0, -1, 3))
    classes = mx.sym.SoftmaxActivation(mx.sym.transpose(classes, axes=(0, 2, 1)), mode='channel')
    boxes = mx.sym.Flatten(mx.sym.transpose(boxes, axes=(0, 2, 3, 1)))
    return classes, boxes, anchors


@graph
def detection_ssd():
    classes, boxes, anchors = _detector()
    return mx.sym.contrib.MultiBoxDetection(classes, boxes, anchors, nms_threshold=0.5, force_suppress=False,
                                            variances=(0.1, 0.1, 0.2, 0.2), nms_topk=20), {'data': (1, 3, 6, 6)}


@graph
def detection_ssd_few():
    classes, boxes, anchors = _detector()
    return mx.sym.contrib.MultiBoxDetection(classes, boxes, anchors, nms_threshold=0.3, force_suppress=True, clip=False,
                                            threshold=0.34, nms_topk=7), {'data': (1, 3, 6, 6)}


@graph
def detection_nms():
    classes, boxes, anchors = _detector()
    scores = mx.sym.transpose(classes, axes=(0, 2, 1))
    best = mx.sym.max(scores, axis=2, keepdims=True)
    corners = mx.sym.broadcast_add(mx.sym.Reshape(boxes, shape=(0, -1, 4)) * 0.1, anchors)
    rows = mx.sym.Concat(best, corners, dim=2)
    return mx.sym.contrib.box_nms(rows, overlap_thresh=0.4, valid_thresh=0.01, topk=10, coord_start=1, score_index=0,
                                  id_index=-1), {'data': (1, 3, 5, 5)}


@graph
def detection_rois():
    x = mx.sym.Convolution(mx.sym.var('data'), kernel=(3, 3), pad=(1, 1), num_filter=4, name='body')
    rois = mx.sym.var('rois_weight')
    one = mx.sym.ROIPooling(x, rois, pooled_size=(2, 2), spatial_scale=1.0)
    other = mx.sym.contrib.ROIAlign(x, rois, pooled_size=(2, 2), spatial_scale=1.0)
    return one + other, {'data': (1, 3, 8, 8)}


INTEGERS['detection_rois'] = {'rois_weight': np.array([[0, 0, 0, 5, 5], [0, 1, 2, 6, 7]], 'float32')}


# ---------------------------------------------------------------------- control flow
@graph
def loop_foreach():
    def step(x, states):
        out = mx.sym.FullyConnected(mx.sym.Concat(x, states[0], dim=1), num_hidden=3, name='cell', weight=weight,
                                    bias=bias)
        out = mx.sym.tanh(out)
        return out, [out]
    weight, bias = mx.sym.var('cell_weight'), mx.sym.var('cell_bias')
    data = mx.sym.SwapAxis(mx.sym.var('data'), dim1=0, dim2=1)
    first = mx.sym.zeros_like(mx.sym.SequenceLast(data))
    outputs, states = mx.sym.contrib.foreach(step, data, [first])
    return mx.sym.Group([mx.sym.SwapAxis(outputs, dim1=0, dim2=1), states[0]]), {'data': (1, 4, 3)}


@graph
def loop_while():
    def cond(i, x):
        return i < 4

    def step(i, x):
        return x, [i + 1, mx.sym.tanh(mx.sym.broadcast_mul(x, scale))]
    scale = mx.sym.var('scale_weight', shape=(1, 3))
    outputs, states = mx.sym.contrib.while_loop(cond, step, [mx.sym.zeros((1,)), mx.sym.var('data')],
                                                max_iterations=6)
    return mx.sym.Group([outputs[0] if isinstance(outputs, list) else outputs, states[1]]), {'data': (1, 3)}


@graph
def branch():
    x = mx.sym.var('data')
    weight = mx.sym.var('fc_weight', shape=(3, 4))
    return mx.sym.contrib.cond(mx.sym.sum(x) > 0, lambda: mx.sym.dot(x, weight, transpose_b=True),
                               lambda: mx.sym.dot(x, weight, transpose_b=True) * -2), {'data': (1, 4)}


# ---------------------------------------------------------------------- sharing, norms, old operators
@graph
def shared_weights():
    weight, bias = mx.sym.var('both_weight'), mx.sym.var('both_bias')
    x, y = mx.sym.var('left'), mx.sym.var('right')
    x, y = (mx.sym.FullyConnected(v, weight=weight, bias=bias, num_hidden=3, name=n) for v, n in ((x, 'a'), (y, 'b')))
    tied = mx.sym.dot(x, weight)
    return mx.sym.Group([mx.sym.L2Normalization(x) - mx.sym.L2Normalization(y), tied]), \
        {'left': (1, 4), 'right': (1, 4)}


@graph
def norms():
    x = mx.sym.Convolution(mx.sym.var('data'), kernel=(3, 3), num_filter=4, name='conv')
    x = mx.sym.BatchNorm(x, fix_gamma=True, eps=1e-3, momentum=0.8, name='bn0')
    x = mx.sym.BatchNorm(x, fix_gamma=False, use_global_stats=True, eps=2e-5, name='bn1')
    x = mx.sym.LRN(mx.sym.LeakyReLU(x, act_type='prelu', name='prelu'), nsize=3)
    x = mx.sym.InstanceNorm(x, name='instance')
    x = mx.sym.GroupNorm(x, num_groups=2, name='group')
    return mx.sym.LayerNorm(mx.sym.Flatten(x), name='layer'), {'data': (1, 3, 6, 6)}


@graph
def odd_pooling():
    x = mx.sym.Pooling(mx.sym.var('data'), kernel=(3, 3), stride=(2, 2), pooling_convention='full', pool_type='max')
    y = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pooling_convention='full', pool_type='avg',
                       count_include_pad=False)
    z = mx.sym.Pooling(mx.sym.abs(y), kernel=(2, 2), pool_type='lp', p_value=2)
    w = mx.sym.Pooling(z, global_pool=True, kernel=(1, 1), pool_type='sum')
    return mx.sym.Group([mx.sym.Flatten(z), w]), {'data': (1, 2, 11, 11)}


@graph
def reshapes():
    x = mx.sym.var('data')
    a = mx.sym.Reshape(x, shape=(0, -4, -1, 2, -2))
    b = mx.sym.Reshape(x, shape=(-3, 0))
    c = mx.sym.Reshape(a, shape=(0, -3, -1))
    d = mx.sym.slice_like(mx.sym.broadcast_axis(mx.sym.sum(x, axis=1, keepdims=True), axis=1, size=5), c, axes=(1,))
    e = mx.sym.pick(mx.sym.softmax(b), mx.sym.argmax(b, axis=1), axis=1)
    return mx.sym.Group([c, d, mx.sym.Reshape(e, shape=(-1, 4)), mx.sym.one_hot(mx.sym.argmax(x, axis=2), depth=3)]), \
        {'data': (1, 4, 3)}


@graph
def old_operators():
    x = mx.sym.var('data')
    x = mx.sym.UpSampling(x, scale=2, sample_type='nearest')
    x = mx.sym.Pad(x, mode='reflect', pad_width=(0, 0, 0, 0, 1, 1, 1, 1))
    x = mx.sym.SpatialTransformer(x, mx.sym.Reshape(mx.sym.FullyConnected(x, num_hidden=6, name='loc'), shape=(-1, 6)),
                                  target_shape=(5, 5), transform_type='affine', sampler_type='bilinear')
    x = mx.sym.ElementWiseSum(x, mx.sym.clip(x, a_min=-0.1, a_max=0.1))
    return mx.sym.SwapAxis(mx.sym.BilinearSampler(x, mx.sym.tanh(mx.sym.Convolution(
        x, kernel=(1, 1), num_filter=2, name='grid'))), dim1=1, dim2=2), {'data': (1, 2, 4, 4)}


# ---------------------------------------------------------------------- Gluon and mx.np
def _exported(block, *shapes, np_mode=False):
    """The symbol of a block that is exported, with its inputs."""
    import tempfile
    block.initialize(mx.init.Uniform(0.3))
    block.hybridize()
    make = mx.np.zeros if np_mode else mx.nd.zeros
    block(*[make(s) for s in shapes])
    with tempfile.TemporaryDirectory() as folder:
        block.export(os.path.join(folder, 'net'))
        symbol = mx.sym.load(os.path.join(folder, 'net-symbol.json'))
    names = ['data'] if len(shapes) == 1 else [f'data{i}' for i in range(len(shapes))]
    return symbol, dict(zip(names, shapes))


@graph
def gluon_two_inputs():
    from mxnet import gluon

    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.left, self.right = gluon.nn.Dense(4, activation='relu'), gluon.nn.Dense(4)

        def hybrid_forward(self, F, x, y):
            return F.broadcast_mul(self.left(x), self.right(y)), F.concat(x, y, dim=1)
    return _exported(Net(), (1, 3), (1, 2))


@graph
def gluon_lstm():
    from mxnet import gluon
    net = gluon.nn.HybridSequential()
    net.add(gluon.rnn.LSTM(5, num_layers=2, layout='NTC', bidirectional=True), gluon.nn.Dense(3, flatten=False))
    return _exported(net, (1, 4, 3))


@graph
def numpy_block():
    from mxnet import gluon, np, npx
    npx.set_np()
    try:
        class Net(gluon.HybridBlock):
            def __init__(self):
                super().__init__()
                self.dense = gluon.nn.Dense(6, flatten=False)

            def hybrid_forward(self, F, x):
                y = self.dense(x)
                y = F.np.concatenate([F.npx.relu(y), F.np.tanh(y)], axis=-1)
                y = F.np.where(y > 0.1, y, y * 2)
                return F.np.einsum('bij,bkj->bik', y, y), F.np.mean(y, axis=(1, 2)), F.np.expand_dims(y[:, 0], 1)
        assert np is not None
        return _exported(Net(), (1, 3, 4), np_mode=True)
    finally:
        npx.reset_np()
