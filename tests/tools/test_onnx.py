"""Networks to ONNX, whose runtime computes the same, and back; ONNX's own test models."""
import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import nn, rnn

onnx = pytest.importorskip('onnx')
runtime = pytest.importorskip('onnxruntime')


def run_onnx(path, *inputs):
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(str(path), options)
    names = [i.name for i in session.get_inputs()]
    return session.run(None, dict(zip(names, [x.asnumpy() for x in inputs], strict=True)))


def same(got, wanted, rtol=1e-4, atol=1e-5):
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b.asnumpy(), rtol, atol)


def check_symbol(symbol, inputs, tmp_path, parameters=()):
    """Exports a symbol, compares with ONNX Runtime, and reads it back."""
    parameters = dict(parameters)
    states = {n: parameters.pop(n) for n in symbol.list_auxiliary_states()}
    names = [n for n in symbol.list_arguments() if n not in parameters]
    executor = symbol.bind(mx.cpu(), {**parameters, **dict(zip(names, inputs))}, aux_states=states, grad_req='null')
    wanted = executor.forward(is_train=False)
    path = tmp_path / 'model.onnx'
    returned = mx.onnx.export_model(symbol, {**parameters, **states}, [x.shape for x in inputs],
                                    [x.dtype for x in inputs], str(path))
    assert returned == str(path)
    got = run_onnx(path, *inputs)
    same(got, wanted)
    found, arguments, states = mx.contrib.onnx.import_model(str(path))
    feed = {n: x for n, x in zip(names, inputs) if n in found.list_arguments()}
    again = found.bind(mx.cpu(), {**arguments, **feed}, aux_states=states, grad_req='null').forward(is_train=False)
    for a, b in zip(again, wanted):
        np.testing.assert_allclose(a.asnumpy().ravel(), b.asnumpy().ravel(), 1e-4, 1e-5)
    return path


def uniform(*shape, low=-1.0, high=1.0):
    return mx.nd.random.uniform(low, high, shape)


x, y = mx.sym.var('x'), mx.sym.var('y')
S = mx.sym
ONE = {   # name: (symbol of x, shape of x)
    'relu': (S.relu(x), (2, 3)), 'softrelu': (S.Activation(x, act_type='softrelu'), (2, 3)),
    'leaky': (S.LeakyReLU(x, slope=0.1), (2, 3)), 'elu': (S.LeakyReLU(x, act_type='elu'), (2, 3)),
    'gelu': (S.LeakyReLU(x, act_type='gelu'), (2, 3)), 'selu': (S.LeakyReLU(x, act_type='selu'), (2, 3)),
    'scalars': (2 ** ((3 - (x + 1) * 2) / 4), (2, 3)), 'compare': ((x > 0.1) + (x <= 0) * 2, (2, 3)),
    'clip': (S.clip(x, -0.5, 0.2), (4, 4)), 'square': (S.square(x) + S.cbrt(x), (3,)),
    'rounding': (S.rint(x * 4) + S.round(x * 4) + S.fix(x * 4), (50,)), 'mod': ((x * 7) % 2, (9,)),
    'sum': (S.sum(x, axis=1), (2, 3, 4)), 'mean': (S.mean(x, axis=(0, 2), keepdims=True), (2, 3, 4)),
    'everything': (S.max(x), (2, 3)), 'exclude': (S.min(x, axis=1, exclude=True), (2, 3, 4)),
    'norm': (S.norm(x, axis=1), (2, 3)), 'argmax': (S.argmax(x, axis=1), (4, 5)),
    'softmax': (S.softmax(x, axis=1, temperature=2), (2, 3, 4)), 'log_softmax': (S.log_softmax(x), (2, 3)),
    'reshape': (S.Reshape(x, shape=(-3, 0, -4, 2, -1)), (2, 3, 4, 6)), 'flatten': (S.Flatten(x), (2, 3, 4)),
    'transpose': (S.transpose(x, axes=(2, 0, 1)), (2, 3, 4)), 'turned': (S.transpose(x), (2, 3, 4)),
    'swap': (S.swapaxes(x, dim1=0, dim2=2), (2, 3, 4)), 'expand': (S.expand_dims(x, axis=-1), (2, 3)),
    'squeeze': (S.squeeze(x, axis=1), (2, 1, 3)),
    'slice': (S.slice(x, begin=(None, 2), end=(2, 0), step=(1, -1)), (3, 4)),
    'slice_axis': (S.slice_axis(x, axis=1, begin=-3, end=None), (2, 5)), 'tile': (S.tile(x, reps=(2, 1, 3)), (2, 3)),
    'repeat': (S.repeat(x, repeats=2, axis=1), (2, 3, 2)), 'flip': (S.reverse(x, axis=1), (2, 3)),
    'pad': (S.pad(x, mode='constant', pad_width=(0, 0, 0, 0, 1, 2, 3, 0), constant_value=4), (1, 2, 3, 4)),
    'split': (S.Group(list(S.split(x, num_outputs=3, axis=1))), (2, 6)),
    'topk': (S.Group(list(S.topk(x, k=2, ret_typ='both'))), (3, 5)),
    'one_hot': (S.one_hot(S.abs(x) * 4, depth=3), (6,)),
    'likes': (S.broadcast_add(S.ones_like(x), S.zeros_like(x)), (2, 3)),
    'pool_full': (S.Pooling(x, kernel=(3, 3), stride=(2, 2), pooling_convention='full', pool_type='avg'), (1, 2, 8, 8)),
    'pool_pad': (S.Pooling(x, kernel=(3, 3), pad=(1, 1), pool_type='avg', count_include_pad=False), (1, 2, 6, 6)),
    'pool_max': (S.Pooling(x, kernel=(2, 3), stride=(2, 2), pool_type='max'), (2, 2, 7, 7)),
    'pool_global': (S.Pooling(x, global_pool=True, kernel=(1, 1), pool_type='avg'), (2, 2, 7, 5)),
    'lrn': (S.LRN(x, nsize=3), (1, 4, 5, 5)), 'l2': (S.L2Normalization(x, mode='channel'), (2, 3, 4)),
    'upsampling': (S.UpSampling(x, scale=2, sample_type='nearest'), (1, 2, 3, 4)),
    'resize': (S.contrib.BilinearResize2D(x, height=7, width=5), (1, 2, 4, 4)),
    'adaptive': (S.contrib.AdaptiveAvgPooling2D(x, output_size=2), (1, 2, 4, 6)),
    'depth': (S.depth_to_space(x, block_size=2), (1, 8, 2, 3)),
    'arange_like': (S.contrib.arange_like(x, axis=1), (2, 3)),
    'output': (S.SoftmaxOutput(x, S.var('label')), (2, 3)), 'regression': (S.LogisticRegressionOutput(x, y), (2, 3)),
}


@pytest.mark.parametrize('name', ONE)
def test_operator(name, tmp_path):
    symbol, shape = ONE[name]
    given = uniform(*shape)
    if name in ('output', 'regression'):           # no label is needed for a prediction
        path = tmp_path / 'model.onnx'
        mx.onnx.export_model(symbol, {}, [shape], onnx_file_path=str(path))
        wanted = S.softmax(x) if name == 'output' else S.sigmoid(x)
        same(run_onnx(path, given), wanted.bind(mx.cpu(), {'x': given}).forward())
        return
    check_symbol(symbol, [given], tmp_path)


TWO = {
    'add': (S.broadcast_add(x, y), (2, 3), (1, 3)), 'power': (S.broadcast_power(S.abs(x), y), (2, 3), (2, 1)),
    'maximum': (S.broadcast_maximum(x, y), (2, 3), (2, 1)), 'dot': (S.dot(x, y), (2, 3), (3, 4)),
    'dot_turned': (S.dot(x, y, transpose_a=True, transpose_b=True), (3, 2), (4, 3)),
    'dot_more': (S.dot(x, y), (2, 5, 3), (3, 4)),
    'batch_dot': (S.batch_dot(x, y, transpose_b=True), (2, 3, 4), (2, 5, 4)),
    'gemm2': (S.linalg.gemm2(x, y, alpha=0.5), (2, 3, 4), (2, 4, 5)), 'concat': (S.concat(x, y, dim=1), (2, 3), (2, 4)),
    'stack': (S.stack(x, y, axis=1), (2, 3), (2, 3)), 'slice_like': (S.slice_like(x, y, axes=(1,)), (4, 5), (4, 3)),
    'where': (S.where(x > 0, x, y), (2, 3), (2, 3)), 'broadcast_like': (S.broadcast_like(x, y), (1, 3), (2, 3)),
    'logic': (S.broadcast_logical_and(x > 0, y > 0), (2, 3), (2, 3)),
}


@pytest.mark.parametrize('name', TWO)
def test_operator_of_two(name, tmp_path):
    symbol, *shapes = TWO[name]
    check_symbol(symbol, [uniform(*shape) for shape in shapes], tmp_path)


def test_looking_up(tmp_path):
    weight = uniform(7, 4)
    net = S.Embedding(x, S.var('weight'), input_dim=7, output_dim=4)
    check_symbol(net, [mx.nd.array([[0, 3], [6, 2]])], tmp_path, {'weight': weight})
    net = S.pick(x, S.var('where'), axis=1)
    check_symbol(net, [uniform(3, 4), mx.nd.array([0, 3, 1])], tmp_path)
    net = S.SequenceMask(x, S.var('length'), use_sequence_length=True, value=-1)
    check_symbol(net, [uniform(4, 3, 2), mx.nd.array([1, 4, 2])], tmp_path)


def exported(symbol, inputs, path):
    mx.onnx.export_model(symbol, {}, [i.shape for i in inputs], onnx_file_path=str(path))
    wanted = symbol.bind(mx.cpu(), dict(zip(symbol.list_arguments(), inputs)), grad_req='null').forward()
    return run_onnx(path, *inputs), wanted


@pytest.mark.parametrize('more', [{}, {'topk': 3}, {'force_suppress': True}, {'valid_thresh': 0.3},
                                  {'in_format': 'center', 'out_format': 'center'}])
def test_boxes(more, tmp_path):
    rng = np.random.RandomState(0)
    corners = rng.rand(2, 12, 2)
    rows = np.concatenate([rng.randint(0, 3, (2, 12, 1)), rng.rand(2, 12, 1), corners, corners + 0.4], axis=2)
    same(*exported(S.contrib.box_nms(x, overlap_thresh=0.4, id_index=0, **more), [mx.nd.array(rows)], tmp_path / 'nms'))


def test_anchors_and_offsets(tmp_path):
    same(*exported(S.contrib.MultiBoxPrior(x, sizes=(0.3, 0.5), ratios=(1, 2)), [uniform(1, 3, 4, 5)], tmp_path / 'a'))
    same(*exported(S.contrib.box_decode(x, y, std0=0.1, std2=0.2, clip=1.0, format='corner'),
                   [uniform(2, 6, 4), mx.nd.array(np.sort(np.random.RandomState(0).rand(1, 6, 4), axis=2))],
                   tmp_path / 'b'))


# ---------------------------------------------------------------------- layers
def check_block(net, inputs, tmp_path, tolerance=1e-4, **more):
    net.initialize(mx.init.Xavier())
    net.hybridize()
    wanted = net(*inputs)
    wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    path = tmp_path / 'net.onnx'
    mx.onnx.export_model(net, in_shapes=[i.shape for i in inputs], onnx_file_path=str(path), **more)
    same(run_onnx(path, *inputs), wanted, tolerance, tolerance)
    back = mx.contrib.onnx.import_to_gluon(str(path), mx.cpu())
    again = back(*inputs)
    for a, b in zip(again if isinstance(again, (list, tuple)) else [again], wanted):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), tolerance, tolerance)
    return path


LAYERS = {
    'dense': (lambda: nn.Dense(3, activation='tanh'), (2, 5)),
    'dense_rows': (lambda: nn.Dense(3, flatten=False), (2, 4, 5)),
    'conv': (lambda: nn.Conv2D(4, 3, 2, 1, dilation=2, groups=2), (2, 4, 9, 9)),
    'conv1d': (lambda: nn.Conv1D(3, 3), (2, 4, 9)),
    'conv3d': (lambda: nn.Conv3D(3, 2), (1, 2, 4, 4, 4)),
    'transposed': (lambda: nn.Conv2DTranspose(3, 4, 2, 1), (1, 2, 5, 5)),
    'batch_norm': (lambda: nn.BatchNorm(), (2, 3, 4, 4)), 'layer_norm': (lambda: nn.LayerNorm(), (2, 3, 4)),
    'instance_norm': (lambda: nn.InstanceNorm(), (2, 3, 4, 4)), 'group_norm': (lambda: nn.GroupNorm(2), (2, 4, 3, 3)),
    'prelu': (lambda: nn.PReLU(), (2, 3, 4)), 'swish': (lambda: nn.Swish(), (2, 3)),
    'dropout': (lambda: nn.Dropout(0.5), (2, 3)),
    'ceil': (lambda: nn.MaxPool2D(3, 2, ceil_mode=True), (1, 2, 8, 8)),
}


@pytest.mark.parametrize('name', LAYERS)
def test_layer(name, tmp_path):
    make, shape = LAYERS[name]
    check_block(make(), [uniform(*shape)], tmp_path)


class Sequence(mx.gluon.HybridBlock):
    """A recurrent layer that begins with zeros."""

    def __init__(self, layer, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.layer = layer

    def hybrid_forward(self, F, x):
        return self.layer(x)


@pytest.mark.parametrize('layer, more', [
    (rnn.LSTM, {}), (rnn.GRU, {}), (rnn.RNN, {'activation': 'relu'}), (rnn.RNN, {'activation': 'tanh'}),
    (rnn.LSTM, {'num_layers': 2, 'bidirectional': True}), (rnn.GRU, {'num_layers': 2, 'bidirectional': True})])
def test_recurrent(layer, more, tmp_path):
    check_block(Sequence(layer(5, input_size=4, **more)), [uniform(6, 3, 4)], tmp_path)


class Transformer(mx.gluon.HybridBlock):
    """One layer of attention and a small network, on words."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.embedding = nn.Embedding(11, 8)
            self.norm1, self.norm2 = nn.LayerNorm(), nn.LayerNorm()
            self.project, self.merge = nn.Dense(24, flatten=False), nn.Dense(8, flatten=False)
            self.body = nn.HybridSequential()
            self.body.add(nn.Dense(16, flatten=False), nn.GELU(), nn.Dense(8, flatten=False))

    def hybrid_forward(self, F, x):
        x = F.transpose(self.embedding(x), axes=(1, 0, 2))
        joined = self.project(self.norm1(x))
        weights = F.softmax(F.contrib.interleaved_matmul_selfatt_qk(joined, heads=2))
        x = x + self.merge(F.contrib.interleaved_matmul_selfatt_valatt(joined, weights, heads=2))
        return F.transpose(x + self.body(self.norm2(x)), axes=(1, 0, 2))


def test_transformer(tmp_path):
    words = mx.nd.array([[1, 5, 2, 9], [0, 10, 3, 3]])
    path = check_block(Transformer(), [words], tmp_path)
    assert onnx.load(path).graph.input[0].type.tensor_type.shape.dim[0].dim_value == 2


# ---------------------------------------------------------------------- networks
@pytest.mark.parametrize('name', [
    'resnet18_v1', 'mobilenetv2_0.25', 'squeezenet1.1',
    *(pytest.param(n, marks=pytest.mark.slow) for n in ('resnet18_v2', 'resnet50_v1', 'densenet121', 'inceptionv3',
                                                        'mobilenet0.25', 'alexnet', 'vgg11_bn'))])
def test_model_zoo(name, tmp_path):
    side = 299 if name == 'inceptionv3' else 224 if name in ('squeezenet1.1', 'densenet121', 'alexnet') else 64
    net = mx.gluon.model_zoo.vision.get_model(name, classes=10)
    path = check_block(net, [uniform(1, 3, side, side, low=0)], tmp_path, 1e-3)
    # it came back with the same parameters
    _, arguments, states = mx.contrib.onnx.import_model(str(path))
    counted = sum(p.data().size for p in net.collect_params().values())
    assert sum(a.size for a in (*arguments.values(), *states.values())) == counted


def test_a_module_checkpoint(tmp_path):
    """Files as MXNet has always written them."""
    net = S.SoftmaxOutput(S.FullyConnected(S.BatchNorm(S.var('data'), name='bn'), num_hidden=3, name='fc'),
    name='softmax')
    module = mx.mod.Module(net)
    module.bind([('data', (4, 5))], [('softmax_label', (4,))])
    module.init_params(mx.init.Xavier())
    module.save_checkpoint(str(tmp_path / 'old'), 3)
    given = uniform(4, 5)
    wanted = module.predict(mx.io.NDArrayIter(given, batch_size=4))
    path = tmp_path / 'old.onnx'
    mx.contrib.onnx.export_model(str(tmp_path / 'old-symbol.json'), str(tmp_path / 'old-0003.params'), [(4, 5)],
                                 np.float32, str(path))
    same(run_onnx(path, given), [wanted])
    arguments, states = module.get_params()
    mx.onnx.export_model(net, [arguments, states], [(4, 5)], onnx_file_path=str(path))
    same(run_onnx(path, given), [wanted])


def test_lengths_that_vary(tmp_path):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, activation='relu'), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(3))
    path = check_block(net, [uniform(2, 3, 16, 16)], tmp_path, dynamic=True)
    dims = onnx.load(path).graph.input[0].type.tensor_type.shape.dim
    assert [bool(d.dim_param) for d in dims] == [True, False, True, True] and dims[1].dim_value == 3
    for shape in ((5, 3, 16, 16), (1, 3, 20, 9)):
        other = uniform(*shape)
        same(run_onnx(path, other), [net(other)])
    mx.onnx.export_model(net, in_shapes=[(2, 3, 16, 16)], onnx_file_path=str(path), dynamic=True,
                         dynamic_input_shapes=[(None, 3, 16, 16)])
    other = uniform(7, 3, 16, 16)
    same(run_onnx(path, other), [net(other)])
    dense = nn.Dense(2, in_units=4)
    dense.initialize()
    dense.hybridize()
    dense(uniform(1, 4))
    with pytest.raises(mx.MXNetError, match='axis 1 of data cannot vary'):
        mx.onnx.export_model(dense, in_shapes=[(1, 4)], dynamic=True, dynamic_input_shapes=[(None, None)])


def test_metadata(tmp_path):
    path = tmp_path / 'm.onnx'
    mx.onnx.export_model(S.relu(x, name='r'), {}, [(2, 3)], onnx_file_path=str(path))
    assert mx.contrib.onnx.get_model_metadata(str(path)) == {
        'input_tensor_data': [('x', (2, 3), 1)], 'output_tensor_data': [('r_output', (2, 3))]}


# ---------------------------------------------------------------------- mistakes
def test_an_operator_without_a_translation_is_named(tmp_path):
    with pytest.raises(mx.MXNetError, match=r'no translation of _linalg_det \(d\)'):
        mx.onnx.export_model(S.linalg.det(x, name='d'), {}, [(3, 3)], onnx_file_path=str(tmp_path / 'x'))
    node = onnx.helper.make_node('Hardmax', ['x'], ['y'])
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([node], 'g', [info('x', 1, [2, 3])], [info('y', 1, [2, 3])])
    with pytest.raises(mx.MXNetError, match='no translation of Hardmax'):
        mx.contrib.onnx.import_model(onnx.helper.make_model(graph))
    node = onnx.helper.make_node('Resize', ['x', '', ''], ['y'])
    graph = onnx.helper.make_graph([node], 'g', [info('x', 1, [1, 2, 3, 3])], [info('y', 1, None)])
    with pytest.raises(mx.MXNetError, match='Resize.*neither scales nor sizes'):
        mx.contrib.onnx.import_model(onnx.helper.make_model(graph))
    assert 'Convolution' in mx.onnx.get_operator_support() and '_linalg_det' not in mx.onnx.get_operator_support()


def test_mistakes(tmp_path):
    with pytest.raises(ValueError, match='needs in_shapes'):
        mx.onnx.export_model(S.relu(x), {})
    with pytest.raises(ValueError, match=r'1 inputs \(x\), but there are 2'):
        mx.onnx.export_model(S.relu(x), {}, [(1,), (1,)])
    with pytest.raises(ValueError, match='no graph'):
        mx.onnx.export_model(nn.Dense(2), in_shapes=[(1, 2)])
    with pytest.raises(mx.MXNetError, match="Dropout.*mode='always'"):
        mx.onnx.export_model(S.Dropout(x, mode='always'), {}, [(1,)], onnx_file_path=str(tmp_path / 'x'))
    with pytest.raises(FileNotFoundError, match='nowhere.onnx'):
        mx.contrib.onnx.import_model(str(tmp_path / 'nowhere.onnx'))
    (tmp_path / 'text.onnx').write_text('hello world')
    with pytest.raises(mx.MXNetError, match='text.onnx is not an ONNX file'):
        mx.contrib.onnx.import_model(str(tmp_path / 'text.onnx'))


def test_what_to_install(run_python):
    code = ('import sys; sys.modules["onnx"] = None\n'
            'import mxnet as mx\n'
            'try: mx.onnx.get_operator_support()\n'
            'except ImportError as error: print(error)')
    assert 'pip install "remx[onnx]"' in run_python('-c', code).stdout


# ---------------------------------------------------------------------- ONNX's own tests
# Operators whose official test models are all read and computed right, up to what is named in BEYOND.
OFFICIAL = ('Abs', 'Add', 'And', 'Asin', 'AveragePool', 'BatchNormalization', 'Ceil', 'Clip', 'Concat', 'Conv',
            'ConvTranspose', 'Cos', 'Div', 'Elu', 'Equal', 'Erf', 'Exp', 'Flatten', 'Floor', 'Gather', 'Gemm',
            'GlobalAveragePool', 'Greater', 'HardSigmoid', 'Identity', 'InstanceNormalization', 'LRN', 'LSTM',
            'LayerNormalization', 'LeakyRelu', 'Less', 'Log', 'LogSoftmax', 'MatMul', 'Max', 'MaxPool', 'Mean', 'Min',
            'Mul', 'Neg', 'Not', 'OneHot', 'Or', 'PRelu', 'Pow', 'RNN', 'Reciprocal', 'ReduceMean', 'ReduceProd',
            'ReduceSum', 'Relu', 'Reshape', 'Round', 'Sigmoid', 'Sign', 'Slice', 'Softmax', 'Softplus', 'Softsign',
            'Split', 'Sqrt', 'Squeeze', 'Sub', 'Sum', 'Tanh', 'Tile', 'TopK', 'Transpose', 'Unsqueeze', 'Where',
            'Xor')
BEYOND = ('uint16', 'uint32', 'uint64', 'int8', 'int16', 'dilations', 'ceil', 'training_mode', 'output_shape',
          'kernel_shape', 'autopad_same', 'string', 'peepholes', 'batchwise', 'reverse', 'argmax', 'allowzero',
          'out_of_bounds', 'bool', 'empty', 'zero', 'negative_indices', 'bfloat16', 'bcast_with', 'expanded')
ARRAYS = ('Add', 'And', 'Concat', 'Div', 'Equal', 'Gather', 'Greater', 'Less', 'MatMul', 'Max', 'Mean', 'Min', 'Mul',
          'Or', 'Pow', 'Sub', 'Sum', 'Where', 'Xor')


@pytest.mark.filterwarnings('ignore::RuntimeWarning')           # of the package that makes the models
def test_official_models():
    from onnx.backend.test.loader import load_model_tests
    passed, failed = {}, []
    for case in load_model_tests(kind='node'):
        model, (inputs, outputs) = onnx.ModelProto(), case.data_sets[0] if case.data_sets else ([], [])
        model.CopyFrom(case.model)
        kind = model.graph.node[0].op_type
        if len(model.graph.node) > 1 or kind not in OFFICIAL or any(word in case.name for word in BEYOND) \
                or not all(isinstance(v, np.ndarray) for v in (*inputs, *outputs)):
            continue
        names = [i.name for i in model.graph.input]
        given = len(inputs) if kind in ARRAYS else 1               # the others are constants in a network
        for name, values in list(zip(names, inputs))[given:]:
            model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
        try:
            symbol, arguments, states = mx.contrib.onnx.import_model(model)
            feed = {n: mx.nd.array(v, dtype='float32' if v.dtype == bool else v.dtype) for n, v in
                    list(zip(names, inputs))[:given] if n in symbol.list_arguments()}
            found = symbol.bind(mx.cpu(), {**arguments, **feed}, aux_states=states, grad_req='null').forward()
            for a, b in zip(found, outputs):
                np.testing.assert_allclose(a.asnumpy().reshape(b.shape).astype('float64'), b.astype('float64'), 1e-3,
                1e-4)
            passed[kind] = passed.get(kind, 0) + 1
        except (AssertionError, mx.MXNetError, ValueError, TypeError) as error:
            failed.append(f'{case.name}: {error}')
    assert not failed, '\n'.join(failed)
    assert len(passed) > 60 and sum(passed.values()) > 250


# ---------------------------------------------------------------------- values in other files
@pytest.fixture
def external(tmp_path):
    """(path, function that writes it with other entries of where the values are)"""
    weight = onnx.numpy_helper.from_array(np.arange(6, dtype='float32').reshape(2, 3), 'w')
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([onnx.helper.make_node('MatMul', ['x', 'w'], ['y'])], 'g', [info('x', 1, [4, 2])],
                                   [info('y', 1, [4, 3])], [weight])
    path = tmp_path / 'model.onnx'
    onnx.save_model(onnx.helper.make_model(graph), str(path), save_as_external_data=True, location='data',
                    size_threshold=0)
    model = onnx.load_model(str(path), load_external_data=False)

    def written(copies=0, **entries):
        tensor = model.graph.initializer[0]
        del tensor.external_data[:]
        for key, value in entries.items():
            entry = tensor.external_data.add()
            entry.key, entry.value = key, value
        for number in range(copies):
            other = model.graph.initializer.add()
            other.CopyFrom(tensor)
            other.name = f'w{number}'
        path.write_bytes(model.SerializeToString())
        return str(path)
    return path, written


def test_values_in_other_files(external):
    path, written = external
    for place in (str(path), written(location='data'), written(location='data', offset='0', length='24')):
        found = mx.contrib.onnx.import_model(place)[1]
        np.testing.assert_array_equal(next(iter(found.values())).asnumpy().T, [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize('entries', [
    {'location': '/etc/hostname'}, {'location': '../elsewhere'}, {'location': 'link'}, {'location': ''},
    {'location': 'a\0b'}, {'location': 'dir'}, {'location': 'none'}, {'location': 'data', 'offset': '-4'},
    {'location': 'data', 'offset': 'x'}, {'location': 'data', 'length': '999999999999'},
    {'location': 'data', 'length': '9' * 5000}, {'location': 'data', 'offset': '4', 'length': '20'}])
def test_values_that_are_elsewhere(external, tmp_path, entries):
    """A model must not have other files of its reader's machine read."""
    (tmp_path / 'dir').mkdir()
    (tmp_path / 'link').symlink_to('/etc/hostname')
    (tmp_path.parent / 'elsewhere').write_bytes(bytes(24))
    with pytest.raises(mx.MXNetError, match='in other files|not in the folder|has not the|bytes at|not a number|read'):
        mx.contrib.onnx.import_model(external[1](**entries))


def test_values_of_one_file_many_times(external, tmp_path):
    with open(tmp_path / 'large', 'wb') as file:
        file.truncate(40 << 20)
    with pytest.raises(mx.MXNetError, match='values in other files takes .* bytes, but .* is all that'):
        mx.contrib.onnx.import_model(external[1](copies=30, location='large'))
