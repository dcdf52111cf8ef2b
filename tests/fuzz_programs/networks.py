"""Random networks as statements that build them."""
import dataclasses

from .program import Statement as S

ACTIVATIONS = ('relu', 'tanh', 'sigmoid', 'softrelu', 'softsign')
SIMPLE = ('nn.LeakyReLU(0.1)', 'nn.PReLU()', 'nn.SELU()', 'nn.ELU()', 'nn.Swish()', 'nn.GELU()', "nn.HybridLambda('tanh')",
          'nn.HybridLambda(lambda F, x: x * 2 - 1)', "nn.Activation('relu')", "nn.Activation('tanh')",
          'gluon.contrib.nn.Identity()')
NP_SIMPLE = ('nn.LeakyReLU(0.1)', 'nn.PReLU()', 'nn.SELU()', 'nn.ELU()', 'nn.Swish()', "nn.Activation('relu')",
             "nn.Activation('tanh')", 'nn.HybridLambda(lambda F, x: x * 2 - 1)')
CLASSES = 3


@dataclasses.dataclass
class Net:
    """What statements must know of a network."""

    name: str
    shape: tuple                    # of an example, without the batch
    kind: str = 'vector'            # vector, picture, words, sequence
    call: str = 'o = {net}({x})'    # how it is called, giving o
    parts: bool = False             # whether net[0] is there
    random: bool = False            # real dropout
    norm: bool = False              # BatchNorm
    more: tuple = ()                # other names that a call gives
    plain: bool = False             # a gluon.Block


def random_net(g, name='net', kind=None):
    """(statements, Net)."""
    r = g.r
    if g.np and kind is None:
        kind = r.choice(('vector', 'vector', 'picture'))
    kind = kind or r.choice(('vector',) * 5 + ('picture', 'picture', 'words', 'custom', 'custom', 'custom', 'outputs', 'outputs',
                                               'block', 'shared'))
    return MAKERS[kind](g, name)


def _finish(g, net, made, ready=True):
    r = g.r
    made.append(S(f'{net.name}.initialize(Fixed())'))
    if r.random() < 0.5:
        made.append(S(net.call.format(net=net.name, x=g.data(net, 2))))
        made.append(S(f'fill({net.name}, {r.randint(0, 99)})'))
    if r.random() < 0.9:
        made.append(S(f'H({net.name})'))
    return made, net


def _sequence(g, name, layers):
    kind = 'nn.HybridSequential' if g.r.random() < 0.9 else 'nn.Sequential'
    return [S(f'{name} = {kind}()'), *(S(f'{name}.add({layer})', simpler=simple) for layer, *simple in layers)]


def vector(g, name):
    r, np = g.r, g.np
    width, net = g.width, Net(name, (g.width,), parts=True)
    layers, known = [], r.random() < 0.5
    for _ in range(r.choice((0, 1, 1, 2))):
        units = r.choice((4, 5, 6))
        given = f', in_units={width}' if known else ''
        norm = r.random() < 0.3
        if norm:
            layers.append((f'nn.Dense({units}, use_bias=False{given})',))
            layers.append((r.choice(('nn.BatchNorm()', 'nn.BatchNorm(momentum=0.5)', 'nn.BatchNorm(scale=False)',
                                     'nn.BatchNorm(center=False)', 'nn.BatchNorm(use_global_stats=True)')),
                           'nn.BatchNorm()'))
            net.norm = True
        else:
            act = r.choice((*ACTIVATIONS, None))
            layers.append((f'nn.Dense({units}{given}' + (f", activation='{act}')" if act else ')'), f'nn.Dense({units}{given})'))
        width = units
        extra = r.random()
        if extra < 0.25:
            layers.append((r.choice(NP_SIMPLE if np else SIMPLE),))
        elif extra < 0.35:
            layers.append(('nn.LayerNorm()',))
        elif extra < 0.45:
            if r.random() < 0.4:
                net.random = True
                layers.append(('nn.Dropout(0.5)',))
            else:
                layers.append(('nn.Dropout(0)',))
        elif extra < 0.55:
            layers.append((f"Branches({width})" if not np else 'nn.LayerNorm()',))
    layers.append((f'nn.Dense({CLASSES}' + (f', in_units={width})' if known else ')'),))
    made = _sequence(g, name, layers)
    if any('Branches' in layer for layer, *_ in layers):
        made = [_branches(g), *made]
    return _finish(g, net, made)


def _branches(g):
    """A residual or concatenating block."""
    r = g.r
    ways = ('F.concat(self.one(x), x, dim=1)', 'self.one(x) + x', 'F.relu(self.one(x)) * 0.5 + x', 'self.one(self.one(x)) - x',
            'F.where(x > 0, self.one(x), x)', 'F.maximum(self.one(x), x * 0.5)', 'F.broadcast_mul(self.one(x), F.mean(x, axis=1, '
            'keepdims=True))')
    return S('class Branches(gluon.HybridBlock):', (
        S('def __init__(self, units):', (
            S('super().__init__()'),
            S('with self.name_scope():', (S(f"self.one = nn.Dense(units, in_units=units, activation='{r.choice(ACTIVATIONS)}')",
                                            simpler=('self.one = nn.Dense(units, in_units=units)',)),)))),
        S('def hybrid_forward(self, F, x):', (S(f'return {r.choice(ways)}', simpler=('return self.one(x)',)),))))


def picture(g, name):
    r = g.r
    net = Net(name, (2, 6, 6), 'picture', parts=True)
    layers = []
    norm = r.choice(('BatchNorm', None, None) if g.np else ('BatchNorm', 'InstanceNorm', None, None))
    layers.append((f"nn.Conv2D({r.choice((3, 4))}, {r.choice((1, 3))}, padding={r.choice((0, 1))}, use_bias={norm is None})",
                   f'nn.Conv2D(3, 1, use_bias={norm is None})'))
    if norm:
        layers.append((f'nn.{norm}()',))
        net.norm = norm == 'BatchNorm'
    layers.append((r.choice(NP_SIMPLE if g.np else SIMPLE[:-1]),))
    layers.append((r.choice(('nn.MaxPool2D(2)', 'nn.AvgPool2D(2)', 'nn.GlobalAvgPool2D()', 'nn.GlobalMaxPool2D()')),
                   'nn.GlobalAvgPool2D()'))
    if r.random() < 0.2 and not g.np:
        layers.append(('nn.Conv2DTranspose(2, 2)', 'nn.Conv2D(2, 1)'))
    if r.random() < 0.5:
        layers.append(('nn.Flatten()',))
    if r.random() < 0.2:
        layers.append(('nn.Dropout(0)',))
    layers.append((f'nn.Dense({CLASSES})',))
    return _finish(g, net, _sequence(g, name, layers))


def words(g, name):
    r = g.r
    net = Net(name, (4,), 'words')
    if r.random() < 0.4:
        net.parts = True
        return _finish(g, net, _sequence(g, name, [('nn.Embedding(7, 4)',), (f'nn.Dense({CLASSES})',)]))
    layer = r.choice(("rnn.LSTM(4, input_size=4, layout='NTC')", "rnn.GRU(4, input_size=4, layout='NTC')",
                      "rnn.RNN(4, input_size=4, layout='NTC')", "rnn.LSTM(2, input_size=4, layout='NTC', bidirectional=True)",
                      "rnn.GRU(4, num_layers=2, input_size=4, layout='NTC')"))
    made = [_class('Words', [f"self.embed, self.rnn = nn.Embedding(7, 4), {layer}", f'self.last = nn.Dense({CLASSES}, in_units=4)'], 'x', [
        'h = self.rnn(self.embed(x))', r.choice(('h = F.mean(h, axis=1)', 'h = F.max(h, axis=1)', 'h = F.squeeze(F.slice_axis(h, axis=1, begin=-1, end=None), axis=1)')),
        'return self.last(h)']), S(f'{name} = Words()')]
    return _finish(g, net, made)


def _class(name, makes, given, lines, base='gluon.HybridBlock', forward='hybrid_forward', extra=''):
    head = f'def {forward}(self, F, {given}{extra}):' if forward == 'hybrid_forward' else f'def forward(self, {given}):'
    return S(f'class {name}({base}):', (
        S('def __init__(self):', (S('super().__init__()'), S('with self.name_scope():', tuple(S(line) for line in makes)))),
        S(head, tuple(S(line) if isinstance(line, str) else line for line in lines))))


STEPS = ('h = F.relu(h)', 'h = F.tanh(h)', 'h = F.sigmoid(h) * 2', 'h = h * 0.5 + r', 'h = h - r', 'r = h', 'h = self.one(h)',
         'h = self.two(h)', 'h = F.slice_axis(F.concat(h, r, dim=1), axis=1, begin=0, end=5)', 'h = F.broadcast_add(h, F.mean(h, axis=0, keepdims=True))', 'h = -h',
         'h = F.where(h > 0, h, r)', 'h = F.softmax(h)', 'h = F.log_softmax(h)', 'h = h.reshape((0, -1))', 'h = F.BlockGrad(r) + h',
         'h = F.stack(h, r, axis=1).mean(axis=1)', 'h = F.clip(h, -0.7, 0.7) + r', 'h = h * F.sum(r, axis=1, keepdims=True)'
         .replace('h * F.sum', 'F.broadcast_mul(h, F.sum') + ')', 'h = F.LayerNorm(h, F.ones((5,)), F.zeros((5,)))',
         'h = F.transpose(F.transpose(h))', 'h = F.expand_dims(h, axis=1).squeeze(axis=1)', 'h = F.Dropout(h, p=0)',
         'h = F.abs(h) + r', 'h = F.square(h) * 0.5', 'h = F.sqrt(F.abs(h) + 1)', 'h = F.exp(h * 0.5)',
         'h = F.flip(h, axis=1)', 'h = F.identity(h)')
PLAIN_STEPS = ('h = nd.relu(h)', 'h = h.tanh()', 'h = h * 0.5 + r', 'h = h - r', 'r = h', 'h = self.one(h)', 'h = self.two(h)',
               'h = nd.concat(h, r, dim=1)[:, :5]', 'h = -h', 'h = h.reshape((0, -1))', 'h = h.detach() + h', 'see(h)', 'see(h.shape)',
               'h = h.softmax()', 'h = nd.BlockGrad(r) + h', 'h = (h + r) / 2', 'h = h if h.shape[0] > 3 else h * 2',
               'h = h * (2 if autograd.is_training() else 1)', 'h = h + (1 if autograd.is_recording() else 0)', 'h[:] = h.detach() * 1',
               'h = h[:, ::-1]', 'self.seen = h', 'h = nd.where(h > 0, h, r)', 'h = h * float(r.mean().asscalar())', 'h = h.T.T', 'h.wait_to_read()')
MAKES = ("self.one = nn.Dense(5, in_units={width}, activation='tanh')", 'self.two = nn.Dense(5, in_units=5)',
         f'self.last = nn.Dense({CLASSES}, in_units=5)')


def custom(g, name):
    r, net = g.r, Net(name, (g.width,))
    body = ['h = self.one(x)', 'r = h', *(r.choice([s for s in STEPS if 'self.one' not in s]) for _ in range(r.randint(1, 5))),
            'return self.last(h)']
    made = [_class('Custom', [m.format(width=g.width) for m in MAKES], 'x', body), S(f'{name} = Custom()')]
    return _finish(g, net, made)


def block(g, name):
    """Written on arrays; its parts are hybridized, it itself cannot be."""
    r, net = g.r, Net(name, (g.width,), plain=True)
    body = ['h = self.one(x)', 'r = h', *(r.choice([s for s in PLAIN_STEPS if 'self.one' not in s]) for _ in range(r.randint(1, 5))),
            'return self.last(h)']
    made = [_class('Parts', [m.format(width=g.width) for m in MAKES], 'x', body, 'gluon.Block', 'forward'), S(f'{name} = Parts()')]
    return _finish(g, net, made)


def outputs(g, name):
    """More than one output: nested, its own input, a parameter."""
    r = g.r
    how = r.choice((('return o, h', 'o, h = {net}({x})', ('h',)), ('return [o, [h, x]]', 'o, (h, i) = {net}({x})', ('h', 'i')),
                    ('return o, x', 'o, i = {net}({x})', ('i',)), ('return o, weight', 'o, q = {net}({x})', ('q',)),
                    ('return [o], h, x * 2', '(o,), h, i = {net}({x})', ('h', 'i')), ('return o, o', 'o, h = {net}({x})', ('h',)),
                    ('return o, F.BlockGrad(h)', 'o, h = {net}({x})', ('h',)), ('return o, h.reshape((-1,))', 'o, h = {net}({x})', ('h',))))
    makes = [m.format(width=g.width) for m in MAKES]
    makes.append("self.weight = self.params.get('weight', shape=(5,), init=mx.init.Constant(0.5))")
    body = ['h = self.one(x)', 'h = F.broadcast_mul(h, weight)', 'o = self.last(h)', how[0]]
    made = [_class('Outputs', makes, 'x', body, extra=', weight'), S(f'{name} = Outputs()')]
    return _finish(g, Net(name, (g.width,), call=how[1], more=how[2]), made)


def shared(g, name):
    """Layers that have the same parameters, or are used twice."""
    r = g.r
    way = r.randint(0, 2)
    if way == 0:
        made = [S(f'{name} = nn.HybridSequential()'), S(f"{name}.add(nn.Dense({g.width}, in_units={g.width}, activation='tanh'))"),
                S(f'{name}.add(nn.Dense({g.width}, in_units={g.width}, params={name}[0].params))'),
                S(f'{name}.add(nn.Dense({CLASSES}, in_units={g.width}))')]
        return _finish(g, Net(name, (g.width,), parts=True), made)
    body = ['h = self.one(x)', 'h = self.two(h)', 'h = self.two(h) + h', 'return self.last(h)']
    made = [_class('Twice', [m.format(width=g.width) for m in MAKES], 'x', body), S(f'{name} = Twice()')]
    return _finish(g, Net(name, (g.width,)), made)


MAKERS = {'vector': vector, 'picture': picture, 'words': words, 'custom': custom, 'outputs': outputs, 'block': block, 'shared': shared}
