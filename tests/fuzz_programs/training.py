"""Loops that train Gluon networks: an iteration that is repeated, each time with something else on its way."""
import re

from .actions import ALL, CALLS, READS, SETTINGS, VIEWS, WRITES
from .networks import CLASSES, random_net
from .program import Program
from .program import Statement as S

LOSSES = (
    # (how it is made, how it is called, its label, attributes that may change)
    ('gluon.loss.SoftmaxCrossEntropyLoss()', 'class', ()),
    ('gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False)', 'one', ()),
    ('gluon.loss.SoftmaxCrossEntropyLoss(weight=0.5)', 'class', ()),
    ('gluon.loss.L2Loss()', 'like', ()), ('gluon.loss.L2Loss(weight=2)', 'like', ()), ('gluon.loss.L1Loss()', 'like', ()),
    ('gluon.loss.HuberLoss()', 'like', ('_rho',)), ('gluon.loss.HuberLoss(rho=0.25)', 'like', ('_rho',)),
    ('gluon.loss.SigmoidBinaryCrossEntropyLoss()', 'one', ()), ('gluon.loss.HingeLoss()', 'sign', ('_margin',)),
    ('gluon.loss.SquaredHingeLoss()', 'sign', ('_margin',)), ('gluon.loss.LogisticLoss()', 'sign', ()),
    ('gluon.loss.KLDivLoss(from_logits=False)', 'part', ()), ('gluon.loss.PoissonNLLLoss()', 'part', ()),
)
OPTIMIZERS = (
    "'sgd', {'learning_rate': 0.05}", "'sgd', {'learning_rate': 0.05}", "'sgd', {'learning_rate': 0.05, 'momentum': 0.9}",
    "'sgd', {'learning_rate': 0.05, 'wd': 0.01}", "'sgd', {'learning_rate': 0.05, 'clip_gradient': 0.05}",
    "'adam', {'learning_rate': 0.02, 'epsilon': 0.001}", "'nag', {'learning_rate': 0.05, 'momentum': 0.5}",
    "'rmsprop', {'learning_rate': 0.01, 'epsilon': 0.001}", "'adagrad', {'learning_rate': 0.05, 'eps': 0.001}",
    "'sgd', {'learning_rate': 0.1, 'momentum': 0.5, 'lr_scheduler': mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.1)}",
    "'ftrl', {'learning_rate': 0.05}", "'adadelta', {'epsilon': 0.001}",
)
SIMPLE_OPTIMIZER = "'sgd', {'learning_rate': 0.05}"
HAND = ('l = (o * o).mean()', 'l = ((o - 1) ** 2).sum()', 'l = (o - y).square().mean(axis=1)', 'l = nd.log_softmax(o).sum(axis=1) * -1',
        'l = nd.abs(o).sum() / 3', 'l = (o.softmax() * o).sum()', 'l = o.sum()', 'l = o', 'l = nd.smooth_l1(o - 1, scalar=1.0).mean()',
        'l = -nd.pick(nd.log_softmax(o), nd.zeros((len(o),))).mean()', 'l = nd.square(o.reshape((-1,)) + 1).sum()',
        'l = o[0].sum() + (o[:, 1] ** 2).sum()')
BACKWARD = (('l.backward()',),) * 8 + (('l.backward(retain_graph=True)', 'l.backward()'), ('autograd.backward([l])',), ('autograd.backward([l, o])',),
                                      ('l.backward(nd.ones(l.shape) * 0.5)',), ('l.backward(out_grad=A({n}, *l.shape))',), 
                                      ('autograd.backward([l], [nd.ones(l.shape) * 2])',), ('l.backward(train_mode=True)',))
UPDATE = (('{trainer}.step({B})',),) * 8 + (('{trainer}.allreduce_grads()', '{trainer}.update({B})'), ('{trainer}.step(1)',), (),
                                           ('{trainer}.step({B}, ignore_stale_grad=True)',), ('{trainer}.update({B})',),
                                           ('for p in {net}.collect_params().values():\n    if p.grad_req != "null":\n        p.set_data(p.data() - 0.05 * p.grad())',),
                                           ('for p in {net}.collect_params().values():\n    if p.grad_req != "null":\n        p.data()[:] -= 0.05 * p.grad()',))


class Training:
    """Makes one program."""

    def __init__(self, g):
        self.g, self.r = g, g.r
        self.setup = []
        made, self.net = random_net(g, 'net')
        self.setup += made
        self.nets = [self.net]
        if self.r.random() < 0.25:
            self.second()
        self.loss = None
        if g.np or self.r.random() < 0.75:
            self.loss = self.r.choice(LOSSES[:6] if g.np else LOSSES)
            self.setup.append(S(f'loss = {self.loss[0]}', simpler=('loss = gluon.loss.L2Loss()',) if self.loss[1] == 'like' else ()))
            if self.r.random() < 0.25:
                self.setup.append(S('H(loss)'))
        self.batch = self.r.choice((3, 4, 4, 5))
        self.trainers = []
        self.trainer()
        self.setup.append(S('keep, losses = [], []'))
        self.setup.append(S('metric = mx.metric.Loss()' if self.loss is None or self.loss[1] != 'class' else 'metric = mx.metric.Accuracy()'))
        self.same = self.r.random() < 0.25          # the same arrays all the time
        self.seeds = 0

    def second(self):
        """Another network on the same inputs, maybe with the same parameters."""
        g = self.g
        if self.net.parts and self.r.random() < 0.3 and self.net.kind == 'vector':
            self.setup += [S('net2 = nn.HybridSequential()'), S('net2.add(net[0])'), S(f'net2.add(nn.Dense({CLASSES}))'), S('net2[1].initialize(Fixed())'),
                           S('H(net2)')]
            self.nets.append(type(self.net)('net2', self.net.shape, norm=self.net.norm, random=self.net.random, parts=True))
            return
        if self.net.kind == 'vector':
            made, net = random_net(g, 'net2', 'vector' if g.np else self.r.choice(('vector', 'custom', 'shared')))
            self.setup += made
            self.nets.append(net)

    def trainer(self):
        how = self.r.choice(OPTIMIZERS)
        names = [net.name for net in self.nets]
        if len(names) > 1 or not self.net.parts or len(self.setup) < 7 or self.r.random() < 0.8:
            for number, name in enumerate(names):
                trainer = 'trainer' if number == 0 else 'trainer2'
                text = f'{trainer} = gluon.Trainer({name}.collect_params(), {{}})'
                self.setup.append(S(text.format(how), simpler=(text.format(SIMPLE_OPTIMIZER),)))
                self.trainers.append((trainer, name))
            return
        self.setup.append(S(f'trainer = gluon.Trainer(net[0].collect_params(), {how})'))
        self.setup.append(S(f'trainer2 = gluon.Trainer(net[1:].collect_params(), {self.r.choice(OPTIMIZERS)})'))
        self.trainers = [('trainer', 'net'), ('trainer2', 'net')]

    # ------------------------------------------------------------------ texts
    def seed(self):
        self.seeds += 1
        return self.seeds * 10 + self.r.randint(0, 9)

    def label(self, batch):
        kind, seed = self.loss[1] if self.loss else 'like', self.seed()
        return {'class': f'ints({seed}, {CLASSES}, {batch})', 'like': f'A({seed}, {batch}, {CLASSES})',
                'one': f'nd.one_hot(ints({seed}, {CLASSES}, {batch}), {CLASSES})', 'sign': f'nd.sign(A({seed}, {batch}, {CLASSES}))',
                'part': f'nd.softmax(A({seed}, {batch}, {CLASSES}))'}[kind]

    def call(self, net, x='x'):
        return net.call.format(net=net.name, x=x)

    def fields(self, batch):
        """What templates may name."""
        r = self.r
        net = r.choice(self.nets)
        other = r.choice([b for b in (1, 2, 3, 5, 6) if b != batch and not (net.norm and b < 3)])
        loss = f'loss(o, y{", w" if r.random() < 0.2 else ""})' if self.loss else '(o * o).sum()'
        number = r.randint(0, 5)
        return {'net': net.name, 'trainer': r.choice(self.trainers)[0], 'loss': 'loss', 'P': f'P({net.name}, {number})', 'W': f'W({net.name}, {number})',
                'n': number, 'B': batch, 'x': self.g.data(net, batch, self.seed()), 'X': self.g.data(net, other, self.seed()),
                'v': r.choice(('o', 'x', 'l', 'y')), 'req': r.choice(('null', 'write', 'write', 'add')), 'mult': r.choice((0, 0.1, 0.5, 2.0)),
                'rate': r.choice((0.01, 0.02, 0.1)), 'call': self.call(net), 'callX': self.call(net, self.g.data(net, other, self.seed())),
                'callz': self.call(net, 'z'), 'lossz': loss, 'loss0': loss, 'keepo': f'held = o\n    {self.call(net)}\n    '}

    def action(self, place, batch):
        """A random statement for a place in an iteration."""
        fits = [a for a in self.actions if place in a[0]]
        _, _, text = self.r.choices(fits, [a[1] for a in fits])[0]
        if '[0]' in text and '{net}[0]' in text and not all(net.parts for net in self.nets):
            return self.action(place, batch)
        if 'loss' in text and self.loss is None and ('{loss}' in text or 'loss(' in text):
            return self.action(place, batch)
        if 'attach_grad' in text and ('x.' in text or 'z.' in text) and self.net.kind == 'words':
            return self.action(place, batch)                # upstream's Embedding has no gradient of its input
        if '_batch_axis' in text and self.loss[2]:
            text = f'{{loss}}.{self.loss[2][0]} = {self.r.choice((0.25, 0.5, 2.0))}'
        return statement(text.format(**self.fields(batch)))

    # ------------------------------------------------------------------ the program
    def base(self, batch):
        """The iteration without anything on its way: parts by place."""
        r, g = self.r, self.g
        parts = {'data': [], 'record': [], 'back': [], 'update': []}
        seeds = self.seeds
        if self.same:
            parts['data'] = [f'x[:] = {g.data(self.net, batch, self.seed())}'] if r.random() < 0.5 else []
        else:
            parts['data'] = [f'x = {g.data(self.net, batch, self.seed())}', f'y = {self.label(batch)}']
        record = [self.call(self.net)]
        if len(self.nets) > 1:
            record += ['held = o', self.call(self.nets[1], 'x'),
                       r.choice(('o = o + held', 'o = o - held * 0.5', 'o = o * held.detach()', 'o, held = held, o'))]
        way = r.random()
        if self.loss is None:
            record.append(r.choice(HAND))
        elif way < 0.75:
            record.append('l = loss(o, y)')
        elif way < 0.85:
            record.append('l = loss(o, y, w)')
        elif way < 0.95:
            record.append(r.choice(('l = loss(o, y).mean()', 'l = loss(o, y) * 0.5', 'l = loss(o * 2, y)', 'l = loss(o, y) + (o * o).mean()',
                                    'l = loss(o, y).sum() / 4')))
        else:
            record += ['l = loss(o, y)', 'l = l + loss(o * 0.5, y)']
        if r.random() < 0.1:
            record.append(f'{self.call(self.net, "x * 0.5")}')
            record.append('l = l + (o * o).mean()')
        parts['record'] = record
        parts['back'] = [t.format(n=r.randint(0, 99)) for t in r.choice(BACKWARD)]
        parts['update'] = [t.format(trainer=tr, net=name, B=batch) for t in r.choice(UPDATE) for tr, name in self.trainers]
        self.seeds = seeds
        return parts

    def iteration(self, parts, batch, busy):
        r = self.r
        count = lambda: r.choice((0, 0, 1, 1, 2)) if busy else 0        # noqa: E731
        made = [statement(t) for t in parts['data']]
        made += [self.action('b', batch) for _ in range(count())]
        record = [statement(t) for t in parts['record']]
        inside = [self.action('i', batch) for _ in range(r.choice((0, 0, 1)) if busy else 0)]
        head = 'with autograd.record():' if r.random() < 0.95 or not busy else 'with autograd.record(train_mode=False):'
        body = (*record, *inside) if r.random() < 0.8 else (*record[:-1], *[s for s in inside if not uses_loss(s)], record[-1])
        made.append(S(head, tuple(body)))
        made += [self.action('m', batch) for _ in range(r.choice((0, 0, 0, 1)) if busy else 0)]
        # the gradient of what was recorded, which upstream must be told of
        still = 'train' in head
        made += [statement(t.replace('l.backward()', 'l.backward(train_mode=False)') if still else t) for t in (['l.backward()'] if still else parts['back'])]
        made += [self.action('p', batch) for _ in range(count())]
        made += [statement(t) for t in parts['update']]
        made += [self.action('e', batch) for _ in range(count())]
        return made

    def program(self, actions=None):
        r = self.r
        chosen = r.sample(READS, 4) + r.sample(VIEWS, 4) + r.sample(WRITES, 3) + r.sample(SETTINGS, 4) + r.sample(CALLS, 5)
        self.actions = chosen if r.random() < 0.7 else ALL
        # every place has something that fits
        self.actions = list(self.actions) + [a for a in READS if a[2] in ('see(o)', 'see(l)', 'see({P}.data())')]
        batch = self.batch
        self.setup.append(S(f'x, y = {self.g.data(self.net, batch, 1)}, {self.label(batch)}'))
        self.setup.append(S(f'w = A(5, {batch}, 1) + 2'))
        base = self.base('@B')
        iterations, busy = [], r.choice((0.3, 0.5, 0.8))
        quiet = r.random() < 0.5
        for number in range(r.randint(3, 7)):
            size = batch
            if r.random() < 0.12 and not self.same:
                size = r.choice((3, 5, 6) if any(n.norm for n in self.nets) else (1, 2, 3, 6))
            parts = {name: [t.replace('@B', str(size)) for t in texts] for name, texts in base.items()}
            if r.random() < 0.1:
                parts['back'] = [t.format(n=3) for t in r.choice(BACKWARD)]
            if r.random() < 0.1:
                parts['update'] = []
            if not self.same and r.random() < 0.5:
                parts['data'] = [re.sub(r'\((\d+),', lambda m: f'({int(m[1]) + number},', t, count=1) for t in parts['data']]
            made = self.iteration(parts, size, r.random() < busy)
            if not quiet:
                made.append(S(r.choice(('see(l)', 'see(o)', f'see(W({self.net.name}, {number}).data())'))))
            iterations.append(tuple(made))
        final = [S(f'everything({", ".join(n.name for n in self.nets)})'), *(S(f'see(states({t}))') for t, _ in self.trainers), S('see(x, x.grad)'), S('see(keep)')]
        return Program(tuple(self.setup), tuple(iterations), tuple(final), 'train', any(n.random for n in self.nets) or 'Dropout(0.5' in str(self.setup))


def uses_loss(s):
    return re.search(r'\bl\b', s.source()) is not None


def statement(text):
    """Text as a statement; a block that it opens can be shrunk."""
    lines = text.split('\n')
    if len(lines) == 1:
        return S(text)
    parts = _nested(lines)
    return parts[0] if len(parts) == 1 else S(text)


def _nested(lines):
    found, at = [], 0
    while at < len(lines):
        body, end = [], at + 1
        while end < len(lines) and lines[end].startswith('    '):
            body.append(lines[end][4:])
            end += 1
        found.append(S(lines[at], tuple(_nested(body)) if body else None))
        at = end
    return found


def train(g):
    return Training(g).program()
