"""Random networks as statements that build them."""
import dataclasses
import re

from .program import Statement as S
from .program import lines, statements

ACTIVATIONS = ('relu', 'tanh', 'sigmoid', 'softrelu', 'softsign')
NP_SIMPLE = lines('''
    nn.LeakyReLU(0.1)
    nn.PReLU()
    nn.SELU()
    nn.ELU()
    nn.Swish()
    nn.Activation('relu')
    nn.Activation('tanh')
    nn.HybridLambda(lambda F, x: x * 2 - 1)
''')
SIMPLE = NP_SIMPLE + lines('''
    nn.GELU()
    nn.HybridLambda('tanh')
    gluon.contrib.nn.Identity()
''')
NORMS = lines('''
    nn.BatchNorm()
    nn.BatchNorm(momentum=0.5)
    nn.BatchNorm(scale=False)
    nn.BatchNorm(center=False)
    nn.BatchNorm(use_global_stats=True)
''')
CLASSES = 3
KINDS = (*('vector',) * 5, *('picture',) * 2, *('custom',) * 3, *('outputs',) * 2, 'large', 'words', 'block', 'shared')


@dataclasses.dataclass
class Net:
    """What statements must know of a network."""

    name: str
    shape: tuple                    # of an example, without the batch
    kind: str = 'vector'            # vector, picture, words
    call: str = 'o = {net}({x})'    # how it is called, giving o
    parts: bool = False             # whether net[0] is there
    several: bool = False           # and net[1:]
    random: bool = False            # real dropout
    more: tuple = ()                # other names that a call gives
    norm: bool = False              # BatchNorm: few examples make it ill-conditioned


def random_net(g, name='net', kind=None):
    """(statements, Net)."""
    if g.np and kind is None:
        kind = g.r.choice(('vector', 'vector', 'picture'))
    made, net = MAKERS[kind or g.r.choice(KINDS)](g, name)
    made.append(S(f'{name}.initialize(Fixed())'))
    if g.r.random() < 0.5:
        made.append(S(net.call.format(net=name, x=g.data(net, 2))))
        made.append(S(f'fill({name}, {g.r.randint(0, 99)})'))
    if g.r.random() < 0.9:
        made.append(S(f'H({name})'))
    return made, net


def _sequence(g, name, layers):
    kind = 'nn.HybridSequential' if g.r.random() < 0.9 else 'nn.Sequential'
    simpler = [tuple(f'{name}.add({text})' for text in simple) for _, *simple in layers]
    added = [S(f'{name}.add({layer})', simpler=s) for (layer, *_), s in zip(layers, simpler, strict=True)]
    return [S(f'{name} = {kind}()'), *added]


# ---------------------------------------------------------------------- layers in a row
def vector(g, name):
    r = g.r
    width, net = g.width, Net(name, (g.width,), parts=True)
    layers, known = [], r.random() < 0.5
    for _ in range(r.choice((0, 1, 1, 2))):
        units, given = r.choice((4, 5, 6)), f', in_units={width}' if known else ''
        if r.random() < 0.3:
            # no bias before it: its gradient would be rounding alone
            layers += [(f'nn.Dense({units}, use_bias=False{given})',), (r.choice(NORMS), 'nn.BatchNorm()')]
            net.norm = True
        else:
            act = r.choice((*ACTIVATIONS, None))
            plain = f'nn.Dense({units}{given})'
            layers.append((plain[:-1] + f", activation='{act}')", plain) if act else (plain,))
        width, extra = units, r.random()
        if extra < 0.25:
            layers.append((r.choice(NP_SIMPLE if g.np else SIMPLE),))
        elif extra < 0.35:
            layers.append(('nn.LayerNorm()',))
        elif extra < 0.45:
            net.random = r.random() < 0.4
            layers.append((f'nn.Dropout({0.5 if net.random else 0})',))
        elif extra < 0.55 and not g.np:
            layers.append((f'Branches({width})',))
    layers.append((f'nn.Dense({CLASSES}' + (f', in_units={width})' if known else ')'),))
    made = _sequence(g, name, layers)
    net.several = len(layers) > 1
    net.random = any('Dropout(0.5' in layer for layer, *_ in layers)
    if any('Branches' in layer for layer, *_ in layers):
        made.insert(0, _branches(g))
    return made, net


def large(g, name):
    """Weights of more than 32,768 elements, whose gradients may be deferred."""
    act = g.r.choice(ACTIVATIONS)
    layers = [(f"nn.Dense(257, activation='{act}')", 'nn.Dense(257)'), ('nn.Dense(128, in_units=257)',),
              (f'nn.Dense({CLASSES})',)]
    return _sequence(g, name, layers), Net(name, (g.width,), parts=True, several=True)


BRANCHES = lines('''
    return self.one(x) + x
    return F.relu(self.one(x)) * 0.5 + x
    return self.one(self.one(x)) - x
    return F.where(x > 0, self.one(x), x)
    return F.maximum(self.one(x), x * 0.5)
    return F.broadcast_mul(self.one(x), F.mean(x, axis=1, keepdims=True))
''')


def _branches(g):
    """A residual block."""
    way = g.r.choice(BRANCHES)
    plain = 'self.one = nn.Dense(units, in_units=units)'
    one = S(plain[:-1] + f", activation='{g.r.choice(ACTIVATIONS)}')", simpler=(plain,))
    return S('class Branches(gluon.HybridBlock):', (
        S('def __init__(self, units):', (S('super().__init__()'), S('with self.name_scope():', (one,)))),
        S('def hybrid_forward(self, F, x):', (S(way, simpler=('return self.one(x)',)),))))


def picture(g, name):
    r = g.r
    net = Net(name, (2, 6, 6), 'picture', parts=True, several=True)
    norm = r.choice(('BatchNorm', None, None) if g.np else ('BatchNorm', 'InstanceNorm', None, None))
    plain = f'nn.Conv2D(3, 1, use_bias={norm is None})'
    sizes = f'{r.choice((3, 4))}, {r.choice((1, 3))}, padding={r.choice((0, 1))}'
    layers = [(f'nn.Conv2D({sizes}, use_bias={norm is None})', plain)]
    if norm:
        layers.append((f'nn.{norm}()',))
        net.norm = norm == 'BatchNorm'
    layers.append((r.choice(NP_SIMPLE if g.np else SIMPLE),))
    pool = r.choice(('nn.MaxPool2D(2)', 'nn.AvgPool2D(2)', 'nn.GlobalAvgPool2D()', 'nn.GlobalMaxPool2D()'))
    layers.append((pool, 'nn.GlobalAvgPool2D()'))
    if r.random() < 0.2 and not g.np:
        layers.append(('nn.Conv2DTranspose(2, 2)', 'nn.Conv2D(2, 1)'))
    if r.random() < 0.5:
        layers.append(('nn.Flatten()',))
    if r.random() < 0.2:
        layers.append(('nn.Dropout(0)',))
    layers.append((f'nn.Dense({CLASSES})',))
    return _sequence(g, name, layers), net


# ---------------------------------------------------------------------- classes
def _class(name, makes, head, body, base='gluon.HybridBlock'):
    # a layer that is never used has no gradient, and `step` would refuse each time
    makes = [line for line in makes if line.split()[0] in ' '.join(body) or line.startswith('self.weight')]
    makes = S('with self.name_scope():', tuple(S(line) for line in makes))
    return S(f'class {name}({base}):', (S('def __init__(self):', (S('super().__init__()'), makes)),
                                        S(f'def {head}:', tuple(s for line in body for s in statements(line)))))


RECURRENT = lines('''
    rnn.LSTM(4, input_size=4, layout='NTC')
    rnn.GRU(4, input_size=4, layout='NTC')
    rnn.RNN(4, input_size=4, layout='NTC')
    rnn.LSTM(2, input_size=4, layout='NTC', bidirectional=True)
    rnn.GRU(4, num_layers=2, input_size=4, layout='NTC')
''')
OVER_TIME = lines('''
    h = F.mean(h, axis=1)
    h = F.max(h, axis=1)
    h = F.squeeze(F.slice_axis(h, axis=1, begin=-1, end=None), axis=1)
''')


def words(g, name):
    r = g.r
    if r.random() < 0.4:
        layers = [(r.choice(('nn.Embedding(7, 4)', 'nn.Embedding(7, 4, sparse_grad=True)')), 'nn.Embedding(7, 4)'),
                  (f'nn.Dense({CLASSES})',)]
        return _sequence(g, name, layers), Net(name, (4,), 'words', parts=True, several=True)
    makes = ['self.embed = nn.Embedding(7, 4)', f'self.rnn = {r.choice(RECURRENT)}',
             f'self.last = nn.Dense({CLASSES}, in_units=4)']
    body = ['h = self.rnn(self.embed(x))', r.choice(OVER_TIME), 'return self.last(h)']
    made = [_class('Words', makes, 'hybrid_forward(self, F, x)', body), S(f'{name} = Words()')]
    return made, Net(name, (4,), 'words')


STEPS = lines('''
    h = F.relu(h)
    h = F.tanh(h)
    h = F.sigmoid(h) * 2
    h = h * 0.5 + r
    h = h - r
    r = h
    h = self.two(h)
    h = F.slice_axis(F.concat(h, r, dim=1), axis=1, begin=0, end=5)
    h = F.broadcast_add(h, F.mean(h, axis=0, keepdims=True))
    h = -h
    h = F.where(h > 0, h, r)
    h = F.softmax(h)
    h = F.log_softmax(h)
    h = h.reshape((0, -1))
    h = F.BlockGrad(r) + h
    h = F.stack(h, r, axis=1).mean(axis=1)
    h = F.clip(h, -0.7, 0.7) + r
    h = F.broadcast_mul(h, F.sum(r, axis=1, keepdims=True))
    h = F.LayerNorm(h, F.ones((5,)), F.zeros((5,)))
    h = F.transpose(F.transpose(h))
    h = F.expand_dims(h, axis=1).squeeze(axis=1)
    h = F.Dropout(h, p=0)
    h = F.abs(h) + r
    h = F.square(h) * 0.5
    h = F.sqrt(F.abs(h) + 1)
    h = F.exp(h * 0.5)
    h = F.flip(h, axis=1)
    h = F.identity(h)
    h = F.contrib.cond(F.sum(h) > 0, lambda: r * 2, lambda: r - 1) + h
    h, s = F.contrib.foreach(lambda a, s: (a + s[0] * 0.5, [a]), h, [F.sum(h, axis=0)])
''')
PLAIN_STEPS = lines('''
    h = nd.relu(h)
    h = h.tanh()
    h = h * 0.5 + r
    h = h - r
    r = h
    h = self.two(h)
    h = nd.concat(h, r, dim=1)[:, :5]
    h = -h
    h = h.reshape((0, -1))
    h = h.detach() + h
    see(h)
    see(h.shape)
    h = h.softmax()
    h = nd.BlockGrad(r) + h
    h = (h + r) / 2
    h = h if h.shape[0] > 3 else h * 2
    h = h * (2 if autograd.is_training() else 1)
    h = h + (1 if autograd.is_recording() else 0)
    h = h[:, ::-1]
    self.seen = h
    h = nd.where(h > 0, h, r)
    h = h * float(r.mean().asscalar())
    h = h.T.T
    h.wait_to_read()
    with autograd.pause():
    |     self.seen = h * 2
    h = Doubled()(h)
    with autograd.pause():
    |     self.two.weight.data()[:] = self.two.weight.data() * 0.5
''')


def _makes(width):
    return [f"self.one = nn.Dense(5, in_units={width}, activation='tanh')", 'self.two = nn.Dense(5, in_units=5)',
            f'self.last = nn.Dense({CLASSES}, in_units=5)']


def custom(g, name):
    steps = [g.r.choice(STEPS) for _ in range(g.r.randint(1, 5))]
    body = ['h = self.one(x)', 'r = h', *steps, 'return self.last(h)']
    made = [_class('Custom', _makes(g.width), 'hybrid_forward(self, F, x)', body), S(f'{name} = Custom()')]
    return made, Net(name, (g.width,))


def block(g, name):
    """Written on arrays; its parts are hybridized, it itself cannot be."""
    steps = [g.r.choice(PLAIN_STEPS) for _ in range(g.r.randint(1, 5))]
    body = ['h = self.one(x)', 'r = h', *steps, 'return self.last(h)']
    made = [_class('Parts', _makes(g.width), 'forward(self, x)', body, 'gluon.Block'), S(f'{name} = Parts()')]
    return made, Net(name, (g.width,))


OUTPUTS = lines('''
    return o, h; o, h = {net}({x})
    return [o, [h, x]]; o, (h, i) = {net}({x})
    return o, x; o, i = {net}({x})
    return o, weight; o, q = {net}({x})
    return [o], h, x * 2; (o,), h, i = {net}({x})
    return o, F.BlockGrad(h); o, h = {net}({x})
    return o, h.reshape((-1,)); o, h = {net}({x})
''')


def outputs(g, name):
    """More than one output: nested, its own input, a parameter.

    Not the same one twice: upstream's hybridized blocks give two arrays then, others one.
    """
    result, call = g.r.choice(OUTPUTS).split('; ')
    makes = [*_makes(g.width), "self.weight = self.params.get('weight', shape=(5,), init=mx.init.Constant(0.5))"]
    body = ['h = self.one(x)', 'h = F.broadcast_mul(h, weight)', 'o = self.last(h)', result]
    made = [_class('Outputs', makes, 'hybrid_forward(self, F, x, weight)', body), S(f'{name} = Outputs()')]
    more = tuple(re.findall(r'\b[hiq]\b', call.split('=')[0]))
    return made, Net(name, (g.width,), call=call, more=more)


def shared(g, name):
    """Layers that have the same parameters, or are used twice."""
    if g.r.random() < 0.4:
        first = f'nn.Dense({g.width}, in_units={g.width}'
        layers = [(first + ", activation='tanh')",), (first + f', params={name}[0].params)',),
                  (f'nn.Dense({CLASSES}, in_units={g.width})',)]
        return _sequence(g, name, layers), Net(name, (g.width,), parts=True)
    body = ['h = self.one(x)', 'h = self.two(h)', 'h = self.two(h) + h', 'return self.last(h)']
    made = [_class('Twice', _makes(g.width), 'hybrid_forward(self, F, x)', body), S(f'{name} = Twice()')]
    return made, Net(name, (g.width,))


MAKERS = {'vector': vector, 'large': large, 'picture': picture, 'words': words, 'custom': custom, 'outputs': outputs,
          'block': block, 'shared': shared}
