"""Loops that train Gluon networks: an iteration that is repeated, each time with something else on its way."""
import re

from .actions import ALL, CALLS, PAIRS, READS, SETTINGS, VIEWS, WRITES
from .networks import CLASSES, Net, random_net
from .program import Program, lines, statements
from .program import Statement as S

# (how it is made, its label, an attribute that may change)
LOSSES = tuple((*row.split('; '), None)[:3] for row in lines('''
    gluon.loss.SoftmaxCrossEntropyLoss(); class
    gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False); one
    gluon.loss.SoftmaxCrossEntropyLoss(weight=0.5); class
    gluon.loss.L2Loss(); like
    gluon.loss.L2Loss(weight=2); like
    gluon.loss.L1Loss(); like
    gluon.loss.HuberLoss(); like; _rho
    gluon.loss.HuberLoss(rho=0.25); like; _rho
    gluon.loss.SigmoidBinaryCrossEntropyLoss(); one
    gluon.loss.HingeLoss(); sign; _margin
    gluon.loss.SquaredHingeLoss(); sign; _margin
    gluon.loss.LogisticLoss(); sign
    gluon.loss.KLDivLoss(from_logits=False); part
    gluon.loss.PoissonNLLLoss(); part
'''))
NP_LOSSES = LOSSES[:6]
SIMPLE_OPTIMIZER = "'sgd', {'learning_rate': 0.05}"
# no sign of a gradient: where one is 0 but for rounding, both libraries are right; for the same reason a large epsilon
OPTIMIZERS = (SIMPLE_OPTIMIZER, *lines('''
    'sgd', {'learning_rate': 0.05}
    'sgd', {'learning_rate': 0.05, 'momentum': 0.9}
    'sgd', {'learning_rate': 0.05, 'wd': 0.01}
    'sgd', {'learning_rate': 0.05, 'clip_gradient': 0.05}
    'adam', {'learning_rate': 0.02, 'epsilon': 0.001}
    'nag', {'learning_rate': 0.05, 'momentum': 0.5}
    'rmsprop', {'learning_rate': 0.01, 'epsilon': 0.001}
    'adagrad', {'learning_rate': 0.05, 'eps': 0.001}
    'sgd', {'learning_rate': 0.1, 'lr_scheduler': mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.1)}
    'nadam', {'learning_rate': 0.02, 'epsilon': 0.001}
'''))
HAND = lines('''
    l = (o * o).mean()
    l = ((o - 1) ** 2).sum()
    l = (o - y).square().mean(axis=1)
    l = nd.log_softmax(o).sum(axis=1) * -1
    l = nd.abs(o).sum() / 3
    l = (o.softmax() * o).sum()
    l = o.sum()
    l = o
    l = nd.smooth_l1(o - 1, scalar=1.0).mean()
    l = -nd.pick(nd.log_softmax(o), nd.zeros((len(o),))).mean()
    l = nd.square(o.reshape((-1,)) + 1).sum()
    l = o[0].sum() + (o[:, 1] ** 2).sum()
    l = gluon.loss.TripletLoss()(o, o * 0.5, y)
    l = gluon.loss.CosineEmbeddingLoss()(o, y, nd.ones((len(o),)))
''')
AROUND = lines('''
    l = loss(o, y).mean()
    l = loss(o, y) * 0.5
    l = loss(o * 2, y)
    l = loss(o, y) + (o * o).mean()
    l = loss(o, y).sum() / 4
    l = loss(o, y) + loss(o * 0.5, y)
''')
BACKWARD = ['l.backward()'] * 8 + lines('''
    l.backward(retain_graph=True)
    | l.backward()
    autograd.backward([l])
    autograd.backward([l, o])
    l.backward(nd.ones(l.shape, dtype=l.dtype) * 0.5)
    l.backward(out_grad=A(33, *l.shape, dtype=l.dtype))
    autograd.backward([l], [nd.ones(l.shape, dtype=l.dtype) * 2])
    l.backward(train_mode=True)
''')
UPDATE = ['{trainer}.step({B})'] * 8 + lines('''
    {trainer}.allreduce_grads()
    | {trainer}.update({B})
    {trainer}.step(1)
    {trainer}.step({B}, ignore_stale_grad=True)
    {trainer}.update({B})
    pass
    for p in {net}.collect_params().values():
    |     if p.grad_req != 'null':
    |         p.set_data(p.data() - 0.05 * p.grad())
    for p in {net}.collect_params().values():
    |     if p.grad_req != 'null':
    |         p.data()[:] -= 0.05 * p.grad()
''')
# inputs that are views, or computed
INPUTS = lines('''
    base = x.copy(); x = base[0:@B]
    x = x.reshape(x.shape)
    x = nd.concat(x, x, dim=0)[0:@B]
    base = x; x = x + 0
    x = x.copy()
''')
LABELS = {'class': 'ints({seed}, 3, {batch})', 'like': 'A({seed}, {batch}, 3)',
          'one': 'nd.one_hot(ints({seed}, 3, {batch}), 3)',
          'sign': 'nd.sign(A({seed}, {batch}, 3))', 'part': 'nd.softmax(A({seed}, {batch}, 3))'}


class Training:
    """Makes one program."""

    def __init__(self, g):
        self.g, self.r, self.seeds = g, g.r, 0
        if not g.np and self.r.random() < 0.06:
            g.typed = ', dtype=DT'
        made, self.net = random_net(g, 'net')
        self.setup, self.nets = list(made), [self.net]
        if g.typed:
            self.setup.insert(0, S("DT = 'float32'"))
        if self.r.random() < 0.25 and self.net.kind == 'vector':
            self.second()
        self.loss, self.fixed = None, False
        if g.np or self.r.random() < 0.75:
            self.loss = self.r.choice(NP_LOSSES if g.np else LOSSES)
            simpler = ('loss = gluon.loss.L2Loss()',) if self.loss[1] == 'like' else ()
            self.setup.append(S(f'loss = {self.loss[0]}', simpler=simpler))
            if self.r.random() < 0.25:
                self.fixed = True           # upstream's, too, keeps its attributes and the number of its inputs
                self.setup.append(S('H(loss)'))
        self.weighted = self.r.random() < 0.15
        self.batch = self.r.choice((3, 4, 4, 5))
        self.trainers = []
        self.trainer()
        self.setup.append(S('keep, losses = [], []'))
        accuracy = self.loss is not None and self.loss[1] == 'class'
        self.setup.append(S(f'metric = mx.metric.{"Accuracy" if accuracy else "Loss"}()'))
        self.same = self.r.random() < 0.25          # the same arrays all the time

    def second(self):
        """Another network on the same inputs, maybe with the same parameters."""
        if self.net.parts and self.r.random() < 0.3:
            self.setup += [S(line) for line in lines(f'''
                net2 = nn.HybridSequential()
                net2.add(net[0])
                net2.add(nn.Dense({CLASSES}))
                net2[1].initialize(Fixed())
                H(net2)
            ''')]
            self.nets.append(Net('net2', self.net.shape, norm=self.net.norm, random=self.net.random, parts=True))
            return
        made, net = random_net(self.g, 'net2', 'vector' if self.g.np else self.r.choice(('vector', 'custom', 'shared')))
        self.setup += made
        self.nets.append(net)

    def trainer(self):
        how = SIMPLE_OPTIMIZER if self.g.typed else self.r.choice(OPTIMIZERS)       # states would keep their dtype
        if len(self.nets) > 1 or not self.net.several or self.r.random() < 0.7:
            for number, net in enumerate(self.nets):
                trainer = 'trainer' if number == 0 else 'trainer2'
                text = f'{trainer} = gluon.Trainer({net.name}.collect_params(), {{}})'
                self.setup.append(S(text.format(how), simpler=(text.format(SIMPLE_OPTIMIZER),)))
                self.trainers.append((trainer, net.name))
            return
        self.setup.append(S(f'trainer = gluon.Trainer(net[0].collect_params(), {how})'))
        self.setup.append(S(f'trainer2 = gluon.Trainer(net[1:].collect_params(), {self.r.choice(OPTIMIZERS)})'))
        self.trainers = [('trainer', 'net'), ('trainer2', 'net')]

    # ------------------------------------------------------------------ texts
    def seed(self):
        self.seeds += 1
        return self.seeds * 10 + self.r.randint(0, 9)

    def label(self, batch):
        found = LABELS[self.loss[1] if self.loss else 'like'].format(seed=self.seed(), batch=batch)
        return f'{found}.astype(DT)' if self.g.typed else found

    def call(self, net, x='x'):
        return net.call.format(net=net.name, x=x)

    def fields(self, batch):
        """What templates may name."""
        r, g = self.r, self.g
        net = r.choice(self.nets)
        other = r.choice([b for b in (1, 2, 3, 5, 6) if b != batch and not (net.norm and b < 3)])
        weighted = self.weighted if self.fixed else r.random() < 0.2
        loss = f'loss(o, y{", w" if weighted else ""})' if self.loss else '(o * o).sum()'
        number = r.randint(0, 5)
        return {'net': net.name, 'trainer': r.choice(self.trainers)[0], 'loss': 'loss', 'P': f'P({net.name}, {number})',
                'W': f'W({net.name}, {number})', 'n': number, 'B': batch, 'x': g.data(net, batch, self.seed()),
                'X': g.data(net, other, self.seed()), 'v': r.choice(('o', 'x', 'l', 'y', *net.more, *net.more)),
                'req': r.choice(('null', 'write', 'write', 'add')), 'mult': r.choice((0, 0.1, 0.5, 2.0)),
                'rate': r.choice((0.01, 0.02, 0.1)), 'call': self.call(net),
                'callX': self.call(net, g.data(net, other, self.seed())), 'callz': self.call(net, 'z'), 'lossz': loss,
                'attribute': f'{self.loss and self.loss[2] or "_weight"} = {r.choice((0.25, 0.5, 2.0))}'}

    def action(self, place, batch):
        """Random statements for a place in an iteration."""
        fits = [a for a in self.actions if place in a[0] and self.possible(a[2])]
        text = self.r.choices([a[2] for a in fits], [a[1] for a in fits])[0]
        return statements(text.format(**self.fields(batch)))

    def possible(self, text):
        if '{net}[0]' in text and not all(net.parts for net in self.nets):
            return False
        if ('{loss}' in text or 'loss(' in text) and (self.loss is None or self.fixed):
            return False
        if 'SymbolBlock' in text and any(net.more for net in self.nets):
            return False
        if '_mode():' in text and 'l = l +' in text and any(net.norm for net in self.nets):
            return False            # upstream's gradient of BatchNorm is that of the mode that `backward` is told
        # upstream's Embedding has no gradient of its input
        return not ('attach_grad' in text and ('x.' in text or 'z.' in text) and self.net.kind == 'words')

    def some(self, place, batch, count):
        return [s for _ in range(count) for s in self.action(place, batch)]

    # ------------------------------------------------------------------ the program
    def base(self, batch):
        """The iteration without anything on its way: texts by part."""
        r, g = self.r, self.g
        data = [f'x = {g.data(self.net, batch, self.seed())}', f'y = {self.label(batch)}']
        if self.same:
            data = [f'x[:] = {g.data(self.net, batch, self.seed())}'] if r.random() < 0.5 else []
        elif r.random() < 0.25:
            data.append(r.choice(INPUTS).replace('@B', str(batch)))
        record = [self.call(self.net)]
        if len(self.nets) > 1:
            record += ['held = o', self.call(self.nets[1], 'x'),
                       r.choice(('o = o + held', 'o = o - held * 0.5', 'o = o * held.detach()', 'o, held = held, o'))]
        way = r.random()
        if self.loss is None:
            record.append(r.choice(HAND))
        else:
            record.append('l = loss(o, y, w)' if self.weighted else 'l = loss(o, y)' if way < 0.8 else r.choice(AROUND))
        if r.random() < 0.1:
            record += [self.call(self.net, 'x * 0.5'), r.choice(('l = l + (o * o).mean()', 'l = (o * o).mean() + l'))]
        if r.random() < 0.07:           # gradients of two batches, added up
            data, record = self.micro(data, record)
        update = r.choice(UPDATE)
        return {'data': data, 'record': record, 'back': [r.choice(BACKWARD)],
                'update': [update.format(trainer=trainer, net=net, B=batch) for trainer, net in self.trainers]}

    def pair(self, iterations):
        """Adds something to one iteration, and its counterpart to a later one."""
        r, fields = self.r, self.fields(self.batch)
        texts = r.choice([pair for pair in PAIRS if self.possible(' '.join(pair))])
        first, second = sorted(r.sample(range(len(iterations)), 2))
        for text, at in zip(texts, (first, second), strict=True):
            place = r.choice((2, 2, len(iterations[at])))
            iterations[at][place:place] = statements(text.format(**fields))

    def micro(self, data, record):
        first = [*data, 'with autograd.record():\n    ' + '\n    '.join(record), 'l.backward()']
        zero = [f'{net.name}.collect_params().zero_grad()' for net in self.nets]
        grads = [f"{net.name}.collect_params().setattr('grad_req', 'add')" for net in self.nets]
        self.setup += [S(text) for text in grads]
        return [*zero, *first], record

    def long(self, parts):
        """So many equal iterations that everything that waits for such has happened."""
        body = [s for part in parts.values() for text in part for s in statements(text)]
        at, end = len(parts['data']), len(parts['data']) + len(parts['record'])
        body[at:end] = [S('with autograd.record():', tuple(body[at:end]))]
        return S(f'for i in range({self.r.choice((12, 35, 70))}):', tuple(body), ('for i in range(4):',))

    def iteration(self, parts, batch, busy):
        r = self.r
        parts = {name: [s for text in texts for s in statements(text)] for name, texts in parts.items()}
        made = parts['data'] + self.some('b', batch, self.count(busy))
        record, inside = parts['record'], self.some('i', batch, r.choice((0, 0, 1)) if busy else 0)
        if r.random() < 0.8:
            body = [*record, *inside]
        else:
            body = [*record[:-1], *(s for s in inside if not re.search(r'\bl\b', s.source())), record[-1]]
        if busy and r.random() < 0.05:
            # upstream must be told again in which mode it was recorded
            made += [S('with autograd.record(train_mode=False):', tuple(body)), S('l.backward(train_mode=False)')]
        else:
            made.append(S('with autograd.record():', tuple(body)))
            made += self.some('m', batch, r.choice((0, 0, 0, 1)) if busy else 0)
            made += parts['back']
        made += self.some('p', batch, self.count(busy)) + parts['update']
        return made + self.some('e', batch, self.count(busy))

    def count(self, busy):
        return self.r.choice((0, 0, 1, 1, 2)) if busy else 0

    def program(self):
        r = self.r
        chosen = ALL
        if r.random() < 0.7:            # a program does the same things again and again
            chosen = (*r.sample(READS, 4), *r.sample(VIEWS, 4), *r.sample(WRITES, 3), *r.sample(SETTINGS, 4),
                      *r.sample(CALLS, 5))
        if self.g.typed:
            casts = '\n'.join(f'{net.name}.cast(DT)' for net in self.nets)
            chosen = (*chosen, *(('e', 6, f"DT = '{dtype}'\n{casts}") for dtype in ('float32', 'float64')))
        self.actions = (*chosen, *(a for a in READS if a[2] in ('see(o)', 'see(l)', 'see({P}.data())')))
        batch = self.batch
        self.setup.append(S(f'x, y = {self.g.data(self.net, batch, 1)}, {self.label(batch)}'))
        self.setup.append(S('base = x'))
        self.setup.append(S(f'w = A(5, {batch}, 1{self.g.typed}) + 2'))
        base = self.base('@B')
        iterations, busy, quiet = [], r.choice((0.3, 0.5, 0.8)), r.random() < 0.5
        for number in range(r.randint(3, 7)):
            size = batch
            if r.random() < 0.12 and not self.same:
                size = r.choice((3, 5, 6) if any(n.norm for n in self.nets) else (1, 2, 3, 6))
            parts = {name: [t.replace('@B', str(size)) for t in texts] for name, texts in base.items()}
            if r.random() < 0.1:
                parts['back'] = [r.choice(BACKWARD)]
            if r.random() < 0.1:
                parts['update'] = []
            if not self.same and r.random() < 0.5:
                parts['data'] = [re.sub(r'\((\d+),', lambda m: f'({int(m[1]) + number},', t, count=1)      # noqa: B023
                                 for t in parts['data']]
            made = self.iteration(parts, size, r.random() < busy)
            if r.random() < self.g.long:
                made.append(self.long(parts))
            if not quiet:
                made.append(S(r.choice(('see(l)', 'see(o)', f'see(W({self.net.name}, {number}).data())'))))
            iterations.append(made)
        for _ in range(r.choice((0, 0, 1, 1, 2))):
            self.pair(iterations)
        iterations = map(tuple, iterations)
        final = [S(f'everything({", ".join(n.name for n in self.nets)})'),
                 *(S(f'see(states({t}))') for t, _ in self.trainers), S('see(x, x.grad)'), S('see(keep)')]
        return Program(tuple(self.setup), tuple(iterations), tuple(final), 'train', any(n.random for n in self.nets))


def train(g):
    return Training(g).program()
