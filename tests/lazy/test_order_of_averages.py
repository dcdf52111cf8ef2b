"""BatchNorm that is called more than once before `backward`: its averages are moved in the order of upstream."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._state import state

nn = gluon.nn
ROWS = np.arange(12).reshape(3, 4)
X, Z, U = nd.array(ROWS * .1), nd.array(ROWS[::-1, ::-1] ** 2 * .1), nd.array(ROWS[::-1, ::-1] ** .5)
MODES = {'plain': None, 'hybrid': {}, 'static': {'static_alloc': True, 'static_shape': True}}

# (whether one block computes it, expression, first running mean after three steps in MXNet 1.9.1, plain and hybridized)
CASES = [
    (True, 'bn(x) + bn(z)', [0.577, 1.04437, 1.42294]),
    (True, 'bn(z) + bn(x)', [0.63267, 1.14513, 1.56022]),
    (True, 'bn(d1(x)) + bn(d2(z))', [0.5654, 1.02337, 1.39433]),
    (True, 'bn(d1(x)) + bn(d1(z))', [0.5214, 0.94373, 1.28582]),
    (True, 'bn(bn(x))', [0.04, 0.0724, 0.09864]),
    (False, 'bn(d1(x)) + bn(d2(z))', [0.5654, 1.02337, 1.39433]),
    (False, 'bn(d2(z)) + bn(d1(x))', [0.5214, 0.94373, 1.28582]),
    (False, 'bn(d1(x)) + bn(d1(z))', [0.5214, 0.94373, 1.28582]),
    (False, 'bn(bn(x))', [0.04, 0.0724, 0.09864]),
    (False, 'bn(x) + bn(z) + bn(u)', [0.78475, 1.35683, 1.77388]),
    (False, 'bn(x) + (bn(z) + bn(u)) * 2', [0.78475, 1.35683, 1.77388]),
    (False, 'bn(bn(x) + bn(z)) + bn(u)', [0.76397, 1.26522, 1.59408]),
    (False, 'bn(d1(x)) + bn(z)', [0.65607, 1.18748, 1.61793]),
    (False, 'bn(z) + bn(d1(x))', [0.65607, 1.18748, 1.61793]),
    (False, 'F.broadcast_mul(bn(x), bn(d1(z)))', [0.4954, 0.89667, 1.22171]),
]


class Both(gluon.HybridBlock):
    def __init__(self, expression):
        super().__init__()
        self._expression = expression
        self.bn = nn.BatchNorm(in_channels=4)
        self.d1, self.d2 = nn.Dense(4, in_units=4), nn.Dense(4, in_units=4)

    def hybrid_forward(self, F, x, z):
        return eval(self._expression, {'F': F, 'x': x, 'z': z, 'u': U, 'bn': self.bn, 'd1': self.d1, 'd2': self.d2})


@pytest.mark.filterwarnings('ignore')           # parameters that an expression does not use
@pytest.mark.parametrize('mode', ['plain', 'hybrid', 'static', 'naive'])
@pytest.mark.parametrize('inside, expression, means', CASES, ids=[f'{e} {"inside" if i else "outside"}'
                                                                  for i, e, _ in CASES])
def test_order(inside, expression, means, mode, monkeypatch):
    monkeypatch.setattr(state, 'naive', mode == 'naive')
    net = Both(expression)
    net.initialize(mx.init.Constant(.3))
    if MODES.get(mode) is not None:
        for block in (net,) if inside else (net.bn, net.d1, net.d2):
            block.hybridize(**MODES[mode])
    found = []
    for _ in means:
        with autograd.record():
            out = (net(X, Z) if inside else net.hybrid_forward(nd, X, Z)) * 2
        out.backward()
        found.append(float(net.bn.running_mean.data()[0].asscalar()))
    assert np.allclose(found, means, atol=2e-5)


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('heads, means', [('op', [0.577, 1.04437, 1.42294]), ('po', [0.63267, 1.14513, 1.56022])])
def test_order_of_heads(heads, means, mode):
    bn = nn.BatchNorm(in_channels=4)
    bn.initialize()
    if MODES[mode] is not None:
        bn.hybridize(**MODES[mode])
    found = []
    for _ in means:
        with autograd.record():
            made = {'o': bn(X) * 2, 'p': bn(Z) * 2}
        autograd.backward([made[h] for h in heads])
        found.append(float(bn.running_mean.data()[0].asscalar()))
    assert np.allclose(found, means, atol=2e-5)


# The same where x has a gradient as well, so that a search from the heads finds x before the parameters.  The last one
# has more than seven calls, whose gradients upstream adds one after the other.
ATTACHED = [
    ('bn(d1(x)) + bn(d1(z))', [0.5654, 1.02337, 1.39433]),
    ('bn(d1(z)) + bn(d1(x))', [0.5654, 1.02337, 1.39433]),
    ('bn(d2(d1(x))) + bn(d2(z)) + bn(x * z)', [0.64964, 1.12323, 1.46847]),
    ('F.tanh(bn(d1(z))) * bn(d1(x)) + bn(z)', [1.10553, 1.91146, 2.49898]),
    ('bn(bn(bn(bn(x)))) * bn(bn(z)) + bn(bn(z) + bn(bn(z)))', [1.03395, 1.39447, 1.52017]),
]


@pytest.mark.filterwarnings('ignore')           # as above
@pytest.mark.parametrize('mode', ['plain', 'naive', 'hybrid', 'static'])
@pytest.mark.parametrize('expression, means', ATTACHED, ids=[e for e, _ in ATTACHED])
def test_order_with_a_gradient_of_an_input(expression, means, mode, monkeypatch):
    monkeypatch.setattr(state, 'naive', mode == 'naive')
    net = Both(expression)
    net.initialize(mx.init.Constant(.3))
    if MODES.get(mode) is not None:
        net.hybridize(**MODES[mode])
    found = []
    for _ in means:
        x = X.copy()
        x.attach_grad()
        with autograd.record():
            out = net(x, Z) * 2
        out.backward()
        found.append(float(net.bn.running_mean.data()[0].asscalar()))
    assert np.allclose(found, means, atol=2e-5)


# The variables of `autograd.grad` are asked for in the order in which they are given.
VARIABLES = {'x': lambda net, x, z: [x], 'z': lambda net, x, z: [z], 'xz': lambda net, x, z: [x, z],
             'zx': lambda net, x, z: [z, x], 'weight': lambda net, x, z: [net.d1.weight.data()],
             'bias x': lambda net, x, z: [net.d1.bias.data(), x],
             'x beta': lambda net, x, z: [x, net.bn.beta.data()], 'beta x': lambda net, x, z: [net.bn.beta.data(), x]}
ASKED = [           # means of MXNet 1.9.1, plain and hybridized
    ('bn(d1(x)) + bn(d1(z))', 'x', [0.066, 0.1254, 0.17886]),
    ('bn(d1(x)) + bn(d1(z))', 'xz', [0.5654, 1.02337, 1.39433]),
    ('bn(d1(x)) + bn(d1(z))', 'zx', [0.5214, 0.94373, 1.28582]),
    ('bn(d1(x)) + bn(d1(z))', 'weight', [0.5214, 0.94373, 1.28582]),
    ('bn(d1(x)) + bn(d1(z))', 'bias x', [0.5214, 0.94373, 1.28582]),
    ('bn(d1(x)) + bn(d1(z))', 'x beta', [0.5654, 1.02337, 1.39433]),
    ('bn(d2(z)) + bn(d1(x))', 'beta x', [0.5654, 1.02337, 1.39433]),
    ('bn(bn(x) + bn(z)) * bn(d1(x))', 'z', [0.59667, 1.07997, 1.47144]),
    ('bn(bn(x) + bn(z)) * bn(d1(x))', 'xz', [0.68078, 1.12744, 1.4205]),
    ('bn(bn(x) + bn(z)) * bn(d1(x))', 'beta x', [0.62511, 1.03525, 1.30434]),
    ('F.tanh(bn(d1(z))) * bn(d1(x)) + bn(d1(x * z))', 'xz', [0.66341, 1.14704, 1.4996]),
    ('F.tanh(bn(d1(z))) * bn(d1(x)) + bn(d1(x * z))', 'zx', [0.61941, 1.07096, 1.40014]),
]


@pytest.mark.filterwarnings('ignore')           # as above
@pytest.mark.parametrize('mode', ['plain', 'naive', 'hybrid', 'static'])
@pytest.mark.parametrize('expression, variables, means', ASKED, ids=[f'{e} {v}' for e, v, _ in ASKED])
def test_order_of_the_variables_of_grad(expression, variables, means, mode, monkeypatch):
    monkeypatch.setattr(state, 'naive', mode == 'naive')
    net = Both(expression)
    net.initialize(mx.init.Constant(.3))
    if MODES.get(mode) is not None:
        for block in (net.bn, net.d1, net.d2):
            block.hybridize(**MODES[mode])
    found = []
    for _ in means:
        x, z = X.copy(), Z.copy()
        x.attach_grad(), z.attach_grad()
        with autograd.record():
            out = net.hybrid_forward(nd, x, z) * 2
            autograd.grad(out, VARIABLES[variables](net, x, z))
        found.append(float(net.bn.running_mean.data()[0].asscalar()))
    assert np.allclose(found, means, atol=2e-5)


@pytest.mark.parametrize('mode', ['plain', 'naive', 'hybrid', 'static'])
@pytest.mark.parametrize('with_loss', [True, False])
def test_a_gradient_of_a_gradient_moves_averages_once(with_loss, mode, monkeypatch):
    monkeypatch.setattr(state, 'naive', mode == 'naive')
    net = nn.HybridSequential()
    net.add(nn.BatchNorm(in_channels=4, momentum=.5), nn.Activation('sigmoid'))
    net.initialize()
    if MODES.get(mode) is not None:
        net.hybridize(**MODES[mode])
    for _ in range(4):
        net[0].running_mean.set_data(nd.zeros(4))
        x = X.copy()
        x.attach_grad()
        with autograd.record():
            loss = net(x).sum()
            gradient = autograd.grad(loss, [x], create_graph=True)[0]
            penalty = (gradient ** 2).sum()
            if with_loss:
                penalty = penalty + loss
        penalty.backward()
        assert np.allclose(net[0].running_mean.data().asnumpy(), .75 * X.mean(axis=0).asnumpy())
