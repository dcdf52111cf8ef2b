"""Describes layers, losses and known networks; runs on ours and on MXNet 1.9.1, which wrote the .json files beside it.

    PYTHON_WITH_1.9.1 make.py FOLDER
"""
import hashlib
import json
import os
import sys
import warnings

import numpy as np

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import contrib, nn
from mxnet.gluon.model_zoo import vision

# (how to make it, shape of its input)
LAYERS = [
    ("nn.Dense(3)", (2, 4)), ("nn.Dense(3, activation='relu', in_units=4)", (2, 4)),
    ("nn.Dense(3, use_bias=False, flatten=False)", (2, 3, 4)), ("nn.Dropout(0.5)", (2, 3)),
    ("nn.Dropout(0, axes=(1,))", (2, 3)),
    ("nn.BatchNorm()", (2, 3, 4)), ("nn.BatchNorm(axis=-1, center=False, scale=False, in_channels=4)", (2, 3, 4)),
    ("nn.BatchNormReLU(momentum=0.5, epsilon=0.1)", (2, 3, 4, 4)), ("nn.InstanceNorm()", (2, 3, 4)),
    ("nn.InstanceNorm(axis=2, scale=True)", (2, 3, 4)), ("nn.LayerNorm()", (2, 3, 4)),
    ("nn.LayerNorm(axis=1, epsilon=0.1)", (2, 3, 4)),
    ("nn.GroupNorm(2)", (2, 4, 5)), ("nn.Embedding(5, 3)", (4,)), ("nn.Flatten()", (2, 3, 4)),
    ("nn.Lambda('tanh')", (2, 3)), ("nn.HybridLambda('tanh')", (2, 3)),
    ("nn.HybridLambda(lambda F, x: F.exp(x))", (2, 3)),
    ("nn.Activation('softsign')", (2, 3)), ("nn.LeakyReLU(0.1)", (2, 3)), ("nn.PReLU()", (2, 3)),
    ("nn.ELU(0.5)", (2, 3)),
    ("nn.SELU()", (2, 3)), ("nn.GELU()", (2, 3)), ("nn.Swish(2.0)", (2, 3)),
    ("nn.Conv1D(4, 3)", (2, 3, 9)), ("nn.Conv2D(4, 3, strides=2, padding=1, activation='tanh')", (2, 3, 9, 8)),
    ("nn.Conv2D(4, (3, 2), dilation=(1, 2), groups=2, use_bias=False, in_channels=2)", (2, 2, 9, 8)),
    ("nn.Conv2D(4, [3, 3], padding=[1, 1])", (2, 2, 5, 5)),
    ("nn.Conv3D(4, 3)", (1, 2, 5, 6, 7)), ("nn.Conv1DTranspose(4, 3, strides=2, output_padding=1)", (2, 3, 5)),
    ("nn.Conv2DTranspose(4, 3, strides=2, padding=1, in_channels=3)", (2, 3, 5, 6)),
    ("nn.Conv3DTranspose(4, 2, groups=2, in_channels=2)", (1, 2, 3, 4, 5)),
    ("nn.MaxPool1D()", (2, 3, 7)), ("nn.MaxPool2D(3, 2, ceil_mode=True)", (2, 3, 8, 8)),
    ("nn.MaxPool3D()", (1, 2, 4, 4, 4)),
    ("nn.AvgPool1D(3, padding=1)", (2, 3, 7)), ("nn.AvgPool2D((3, 2), 2, 1, count_include_pad=False)", (2, 3, 8, 8)),
    ("nn.AvgPool3D()", (1, 2, 4, 4, 4)), ("nn.GlobalMaxPool1D()", (2, 3, 4)), ("nn.GlobalMaxPool2D()", (2, 3, 4, 4)),
    ("nn.GlobalMaxPool3D()", (2, 3, 4, 4, 2)), ("nn.GlobalAvgPool1D()", (2, 3, 4)),
    ("nn.GlobalAvgPool2D()", (2, 3, 4, 4)),
    ("nn.GlobalAvgPool3D()", (2, 3, 4, 4, 2)), ("nn.ReflectionPad2D(2)", (1, 2, 4, 5)),
    ("stacked(nn.HybridSequential(prefix='net_'))", (2, 3, 8, 8)), ("stacked(nn.Sequential())", (2, 3, 8, 8)),
    ("stacked(nn.HybridSequential(prefix='net_'))[1:]", (2, 4, 8, 8)),
    ("contrib.nn.Identity()", (2, 3)), ("contrib.nn.PixelShuffle1D(2)", (1, 4, 3)),
    ("contrib.nn.PixelShuffle2D((2, 3))", (1, 12, 2, 2)),
    ("contrib.nn.PixelShuffle3D(2)", (1, 8, 2, 3, 2)), ("contrib.nn.SyncBatchNorm(num_devices=1)", (2, 3, 4, 4)),
    ("contrib.cnn.DeformableConvolution(4, 3, padding=1, activation='relu')", (1, 3, 6, 6)),
    ("beside(contrib.nn.HybridConcurrent(axis=1))", (2, 3)),
    ("beside(contrib.nn.Concurrent(axis=1, prefix='c_'))", (2, 3)),
    ("Two(prefix='two_')", (2, 3)),
]
LOSSES = ["L2Loss()", "L1Loss(weight=2)", "SigmoidBCELoss()", "SoftmaxCELoss(axis=1, sparse_label=False)",
          "KLDivLoss()", "CTCLoss()", "HuberLoss(rho=0.5)", "HingeLoss()", "SquaredHingeLoss(margin=2)",
          "LogisticLoss()",
          "TripletLoss()", "PoissonNLLLoss()", "CosineEmbeddingLoss()", "SDMLLoss()"]
MODELS = """alexnet densenet121 densenet161 densenet169 densenet201 inceptionv3 mobilenet0.25 mobilenet0.5 mobilenet0.75
mobilenet1.0 mobilenetv2_0.25 mobilenetv2_0.5 mobilenetv2_0.75 mobilenetv2_1.0 resnet18_v1 resnet34_v1 resnet50_v1
resnet101_v1 resnet152_v1 resnet18_v2 resnet34_v2 resnet50_v2 resnet101_v2 resnet152_v2 squeezenet1.0 squeezenet1.1
vgg11 vgg11_bn vgg13 vgg13_bn vgg16 vgg16_bn vgg19 vgg19_bn""".split()
NUMBERS = ('resnet18_v1', 'resnet18_v2', 'mobilenet0.25', 'mobilenetv2_0.25')


class Two(gluon.HybridBlock):
    """A block with a child, a parameter and a shared parameter."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = nn.Dense(3, in_units=3)
            self.second = nn.Dense(3, in_units=3, params=self.first.params)
            self.scale = self.params.get('scale', shape=(1, 3), init='ones')

    def hybrid_forward(self, F, x, scale):
        return F.broadcast_mul(self.second(self.first(x)), scale)


def stacked(net):
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, padding=1, activation='relu'), nn.BatchNorm(), nn.MaxPool2D(), nn.Flatten(),
                nn.Dense(2))
    return net


def beside(net):
    with net.name_scope():
        net.add(nn.Dense(2), contrib.nn.Identity())
    return net


def shapes(params):
    return [[name, list(p.shape)] for name, p in params.items()]


def rounded(array):
    """The mean and the mean size of the values, to five digits."""
    values = array.asnumpy().astype('float64')
    return [float(f'{v:.5g}') for v in (values.mean(), np.abs(values).mean())]


def fill(net):
    """Parameters that are the same everywhere."""
    random = np.random.RandomState(7)
    for name, p in sorted(net.collect_params().items()):
        low, high = (0.5, 1.5) if name.endswith(('var', 'gamma')) else (-0.3, 0.3)
        p.set_data(mx.nd.array(random.uniform(low, high, p.shape)))


def numbers(net, x):
    """Outputs and gradients for given parameters."""
    net(x)
    fill(net)
    found = {'output': rounded(net(x))}
    if not any('Dropout' in type(b).__name__ for b in blocks(net)):
        x.attach_grad()
        with mx.autograd.record():
            y = net(x)
            (y * y * y).sum().backward()
        found.update({'trained': rounded(y), 'gradient': rounded(x.grad)})
        states = {n: p for n, p in net.collect_params().items() if p.grad_req == 'null' and 'running' in n}
        for name in sorted(states)[:2]:
            found[name] = rounded(states[name].data())
    return found


def blocks(net):
    found = []
    net.apply(found.append)
    return found


def layer(text, shape):
    with mx.name.NameManager():
        net = eval(text)
        found = {'repr': repr(net), 'params': shapes(net.collect_params()),
                 'places': list(net._collect_params_with_prefix())}
        net.initialize(mx.init.Zero())
        x = mx.nd.array(np.random.RandomState(3).uniform(-1, 1, shape))
        if 'Embedding' in text:
            x = mx.nd.arange(4)
        y = net(x)
        found.update({'shape': list(y.shape), 'final repr': repr(net), 'final params': shapes(net.collect_params())})
        if 'Embedding' not in text and 'SyncBatchNorm' not in text:       # 1.9.1 has no right ones for the latter
            found['numbers'] = numbers(net, x)
        if isinstance(net, gluon.HybridBlock) and 'PixelShuffle' not in text:
            found['graph'] = net(mx.sym.var('data')).get_internals().list_outputs()
    return found


def loss(text):
    found = eval('gluon.loss.' + text)
    return [repr(found), found._alias()]


def digest(value):
    return hashlib.sha1(json.dumps(value).encode()).hexdigest()


def model(name):
    """Digests, since the descriptions themselves are long."""
    size = 299 if name == 'inceptionv3' else 224
    with mx.name.NameManager():
        net = vision.get_model(name, prefix='net_')
        params = shapes(net.collect_params())
        graph = net(mx.sym.var('data'))
        arguments, outputs, states = graph.infer_shape(data=(1, 3, size, size))
        names = graph.list_arguments() + graph.list_auxiliary_states()
        final = [[n, list(s)] for n, s in zip(names, arguments + states)]
        found = {'count': len(params), 'repr': digest(repr(net)), 'params': digest(params),
                 'final params': digest(final),
                 'places': digest(list(net._collect_params_with_prefix())),
                 'graph': digest(graph.get_internals().list_outputs())}
        if name in NUMBERS:
            net = vision.get_model(name, prefix='net_', classes=10)
            net.initialize(mx.init.Zero())
            found['numbers'] = numbers(net, mx.nd.array(np.random.RandomState(3).uniform(-1, 1, (2, 3, 64, 64))))
    return found


def describe():
    return {'layers': {text: layer(text, shape) for text, shape in LAYERS},
            'losses': {text: loss(text) for text in LOSSES},
            'models': {name: model(name) for name in MODELS}}


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    with open(os.path.join(sys.argv[1], 'described.json'), 'w') as file:
        json.dump(describe(), file, indent=0)
