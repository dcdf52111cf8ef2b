"""A custom operator: the focal loss as a CustomOp with a hand-written gradient, in Gluon and in Module.

    python examples/custom_operator.py --out focal

The focal loss is cross-entropy that cares less for what is easy: here one class of points is ten times as rare as the
other. The gradient is checked against autograd's; the figure compares the border that each loss finds.
"""
import argparse

import figures
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


class FocalLoss(mx.operator.CustomOp):
    """-(1 - p)^gamma log(p) of the chance p that a score gives to the right one of two classes."""

    def __init__(self, gamma):
        super().__init__()
        self.gamma = gamma

    @staticmethod
    def _right(score, label):
        sign = 2 * label - 1
        return nd.sigmoid(sign * score), sign

    def forward(self, is_train, req, in_data, out_data, aux):
        p, _ = self._right(*in_data)
        self.assign(out_data[0], req[0], -(1 - p) ** self.gamma * nd.log(p + 1e-12))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        p, sign = self._right(*in_data)
        slope = sign * (1 - p) ** self.gamma * (self.gamma * p * nd.log(p + 1e-12) - (1 - p))
        self.assign(in_grad[0], req[0], out_grad[0] * slope)
        self.assign(in_grad[1], req[1], 0)


@mx.operator.register('focal_loss')
class FocalLossProp(mx.operator.CustomOpProp):
    """What the operator is called with, and the shapes that follow."""

    def __init__(self, gamma='2'):
        super().__init__(need_top_grad=True)
        self.gamma = float(gamma)               # attributes come as texts

    def list_arguments(self):
        return ['data', 'label']

    def infer_shape(self, in_shape):
        return [in_shape[0], in_shape[0]], [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        return FocalLoss(self.gamma)


def check_gradient():
    score, label = nd.array([-2, -0.3, 0.1, 1.5]), nd.array([1, 0, 1, 1])
    gradients = []
    for loss_of in (lambda s: nd.Custom(s, label, op_type='focal_loss', gamma=2),
                    lambda s: -(1 - nd.sigmoid((2 * label - 1) * s)) ** 2 * nd.log(nd.sigmoid((2 * label - 1) * s))):
        score.attach_grad()
        with autograd.record():
            loss = loss_of(score)
        loss.backward()
        gradients.append(score.grad.asnumpy())
    return abs(gradients[0] - gradients[1]).max()


def make_data(count=1100):
    rng = np.random.RandomState(0)
    rare = np.arange(count) < count // 11
    angle = rng.rand(count) * np.pi
    x = np.where(rare, np.cos(angle), 1 - np.cos(angle)) + rng.randn(count) * 0.18
    y = np.where(rare, np.sin(angle), 0.5 - np.sin(angle)) + rng.randn(count) * 0.18
    return np.stack([x, y], 1).astype('float32'), rare.astype('float32')


def train(points, labels, loss_of, epochs):
    mx.random.seed(2)
    net = nn.HybridSequential()
    net.add(nn.Dense(24, activation='tanh'), nn.Dense(24, activation='tanh'), nn.Dense(1))
    net.initialize(mx.init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.02})
    data = gluon.data.DataLoader(gluon.data.ArrayDataset(points, labels), 100, shuffle=True)
    for _ in range(epochs):
        for x, y in data:
            with autograd.record():
                loss = loss_of(net(x).reshape((-1,)), y)
            loss.backward()
            trainer.step(len(x))
    return net


def with_module(points, labels, epochs):
    """The same operator in a Symbol: its output is the loss, so MakeLoss ends the graph."""
    score = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1, name='fc')
    loss = mx.sym.Custom(mx.sym.Reshape(score, shape=(-1,)), mx.sym.var('label'), op_type='focal_loss', name='focal')
    module = mx.mod.Module(mx.sym.MakeLoss(loss), label_names=['label'])
    data = mx.io.NDArrayIter(points, labels, 100, shuffle=True, label_name='label')
    metric = mx.metric.Loss()
    module.fit(data, num_epoch=epochs, eval_metric=metric, optimizer_params={'learning_rate': 0.5})
    return metric.get()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--epochs', type=int, default=40)
    parser.add_argument('--quick', action='store_true', help='5 epochs')
    parser.add_argument('--out', default='out/custom_operator', help='folder for the figure')
    options = parser.parse_args()
    epochs = 5 if options.quick else options.epochs

    np.random.seed(1)
    print(f"the gradient by hand differs from autograd's by {check_gradient():.1e}")
    points, labels = make_data()
    nets = {'cross-entropy': train(points, labels, gluon.loss.SigmoidBinaryCrossEntropyLoss(), epochs),
            'focal loss': train(points, labels, lambda s, y: nd.Custom(s, y, op_type='focal_loss', gamma=2), epochs)}
    shares = {}
    for name, net in nets.items():
        said = net(nd.array(points)).asnumpy().ravel() > 0
        shares[name] = said[labels == 1].mean()
        print(f'{name}: {shares[name]:.3f} of the rare points found, {(said == labels).mean():.3f} of all right')
    print(f'the same operator in Module: loss {with_module(points, labels, epochs):.4f}')
    if not figures.available(options.out):
        return
    figure = figures.new_figure((9, 3.8))
    grid = np.stack(np.meshgrid(np.linspace(-1.6, 2.6, 120), np.linspace(-1.2, 1.6, 90)), -1).astype('float32')
    for axes, (name, net) in zip(figure.subplots(1, 2), nets.items()):
        chance = net(nd.array(grid.reshape(-1, 2))).sigmoid().asnumpy().reshape(grid.shape[:2])
        axes.contourf(grid[..., 0], grid[..., 1], chance, levels=np.linspace(0, 1, 11), cmap='RdBu_r', alpha=0.6)
        axes.scatter(*points.T, c=labels, cmap='coolwarm', s=4)
        axes.set(title=f'{name}: {shares[name]:.0%} of the rare ones')
    figures.save(figure, options.out, 'borders.png')


if __name__ == '__main__':
    main()
