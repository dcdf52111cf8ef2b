"""Other loops of Gluon: predictions, adversaries, carried states, threads."""
from .networks import CLASSES, Net, random_net
from .program import Program, lines, statements
from .program import Statement as S


def made(text):
    """Statements of a table; `pass` says nothing."""
    return [s for line in lines(text) for s in statements(line) if s.text != 'pass']


def repeated(g, base, extra, often=0.55):
    """Iterations that are `base` with some of `extra` between its statements; `{n}` is a number, each time another."""
    r, found = g.r, []
    for _ in range(r.randint(3, 7)):
        texts = list(base)
        if r.random() < often:
            for _ in range(r.choice((1, 1, 2, 3))):
                texts.insert(r.randint(0, len(texts)), r.choice(extra))
        if r.random() < 0.1 and len(texts) > 1:
            texts.pop(r.randrange(len(texts)))
        texts = [text.replace('{n}', str(r.randint(0, 99))).replace('{m}', str(r.randint(0, 99))) for text in texts]
        found.append(tuple(s for text in texts for s in statements(text) if s.text != 'pass'))
    return tuple(found)


# ---------------------------------------------------------------------- predictions
WAYS = lines('''
    {call}
    | see({o})
    {call}
    | see({o})
    with autograd.train_mode():
    |     {call}
    | see({o})
    with autograd.predict_mode():
    |     {call}
    | see({o})
    with autograd.record():
    |     {call}
    | see({o})
    with autograd.record(train_mode=False):
    |     {call}
    | see({o})
    with autograd.record():
    |     {call}
    | o.backward()
    | trainer.step(1, ignore_stale_grad=True)
    | see({o})
    {call}
    | keep.append(o)
    with autograd.record():
    |     with autograd.pause():
    |         {call}
    | see({o})
    with autograd.record():
    |     with autograd.predict_mode():
    |         {call}
    | see({o})
    {call}
    with autograd.record():
    |     {call}
    |     l = (o * o).sum()
    | l.backward()
''')
BETWEEN_PREDICTIONS = lines('''
    W(net, 0).set_data(W(net, 0).data() * 0.5)
    W(net, 1).data()[:] = W(net, 1).data() * 2
    d = W(net, 2).data(); d *= 0.5
    P(net, 3).set_data(P(net, 3).data() * 0.5)
    H(net)
    H(net, False)
    H(net, static_alloc=False, static_shape=False)
    x[:] = x * 2
    x *= 0.5
    o[:] = 7
    see({o})
    see(len(keep))
    P(net, 0).grad_req = 'null'
    P(net, 0).grad_req = 'write'
    mx.random.seed(3)
    v = o[0:1]; v[:] = 3; see({o})
    v = o.reshape((-1,)); v *= 2; see({o})
    see(type(o) is nd.NDArray, o.shape)
    net.initialize(Fixed(5), force_reinit=True)
    net.initialize(Fixed(), force_reinit=True)
    net.save_parameters(FOLDER + '/p'); net.load_parameters(FOLDER + '/p')
    net.cast('float64'); x = x.astype('float64')
    net.cast('float32'); x = x.astype('float32')
    see(P(net, 4).data())
    if keep:
    |     keep[-1][:] = 1
    keep = []
    nd.waitall()
    net(nd.ones((2, 3, 2, 1, 2, 7)))
    with autograd.record():
    |     {call}
    |     raise ValueError('in the middle')
    other = copy.deepcopy(net); H(other); x = x * 1
    in_thread(lambda: net(x))
    other = exported(net, x); see(other(x))
''')


def predict(g):
    """Predictions of one network, in every mode and of every shape, and now and then a step."""
    r = g.r
    kind = r.choice(('vector', 'vector', 'picture', 'words', 'custom', 'outputs', 'flat', 'dropout'))
    shapes = [f'{batch}, {{shape}}' for batch in (8, 8, 8, 4, 3, 1)]
    if kind == 'flat':
        act = r.choice(('relu', 'tanh'))
        setup = made(f'''
            net = nn.HybridSequential()
            net.add(nn.Dense(4, in_units=3, flatten=False, activation='{act}'))
            net.add(nn.Dense(2, in_units=4, flatten=False))
            net.initialize(Fixed())
            H(net)
        ''')
        net = Net('net', (3,), parts=True)
        shapes = ['2, 6, 3', '2, 6, 3', '3, 4, 3', '4, 3', '1, 3', '6, 2, 3']
    elif kind == 'dropout':
        norm = r.random() < 0.4
        setup = made(f'''
            net = nn.HybridSequential()
            net.add(nn.Dense(16, in_units=4))
            net.add(nn.Dropout(0.5))
            {'net.add(nn.BatchNorm())' if norm else 'pass'}
            net.initialize(Fixed())
            H(net)
        ''')
        net = Net('net', (4,), parts=True, random=True)
    else:
        setup, net = random_net(g, 'net', kind)

    def data():
        if net.kind == 'words':
            return g.data(net, r.choice((8, 8, 8, 4, 3, 1)), r.randint(0, 50))
        return f'A({r.randint(0, 50)}, {r.choice(shapes).format(shape=", ".join(map(str, net.shape)))})'
    usual = data()
    setup = [*setup, S(f'x = {usual}'), S('keep = []'),
             S("trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.05})")]
    seen = 'bool((o == 0).max().asscalar())' if kind == 'dropout' and not norm else 'o'
    names = {'call': net.call.format(net='net', x='x'), 'o': seen}
    way, ways = r.choice(WAYS), r.sample(WAYS, 3)
    iterations = []
    for _ in range(r.randint(4, 9)):
        texts = []
        if r.random() < 0.4:
            texts.append(f'x = {data() if r.random() < 0.6 else usual}')
        if r.random() < 0.4:
            texts.append(r.choice(BETWEEN_PREDICTIONS))
        texts += [way if r.random() < 0.6 else r.choice(ways)] * r.choice((1, 1, 2))
        iterations.append(tuple(s for text in texts for s in statements(text.format(**names))))
    final = [S('everything(net)'), S('see(keep)')]
    return Program(tuple(setup), tuple(iterations), tuple(final), 'predict', net.random)


# ---------------------------------------------------------------------- two networks against each other
FIRST = lines('''
    with autograd.record():
    |     f = G(z).detach()
    |     e = loss(D(real), one) + loss(D(f), zero)
    f = G(z)
    | with autograd.record():
    |     e = loss(D(real), one) + loss(D(f), zero)
    with autograd.record():
    |     f = G(z)
    |     e = loss(D(real), one) + loss(D(f.detach()), zero)
    with autograd.record():
    |     with autograd.pause():
    |         f = G(z)
    |     e = loss(D(real), one) + loss(D(f), zero)
    with autograd.record():
    |     e = loss(D(real), one)
    | e.backward()
    | with autograd.record():
    |     f = G(z)
    |     e = loss(D(f.detach()), zero)
    with autograd.record():
    |     f = G(z)
    |     d = D(nd.concat(real, f.detach(), dim=0))
    |     e = loss(d[0:5], one) + loss(d[5:10], zero)
''')
SECOND = lines('''
    with autograd.record():
    |     l = loss(D(G(z)), one)
    with autograd.record():
    |     f = G(z)
    |     l = loss(D(f), one)
    with autograd.record():
    |     l = loss(D(f if autograd.is_training() and False else G(z)), one) + 0.1 * (G(z) ** 2).mean()
    D.collect_params().setattr('grad_req', 'null')
    | with autograd.record():
    |     l = loss(D(G(z)), one)
''')
BETWEEN_PLAYERS = lines('''
    see(e)
    see(l)
    see(f)
    see(W(D, 0).grad())
    see(W(G, 0).grad())
    see(P(G, 3).data())
    keep.append(f)
    see(keep)
    f[:] = 1
    see(D(G(z)))
    D.collect_params().zero_grad()
    for p in D.collect_params().values():
    |     p.set_data(nd.clip(p.data(), -0.5, 0.5))
    for p in D.collect_params().values():
    |     p.data()[:] = nd.clip(p.data(), -0.5, 0.5)
    z = A(77, 5, 3)
    z.attach_grad()
    see(z.grad)
    with autograd.record():
    |     o = D(real)
    H(D)
    H(G, False)
    nd.waitall()
    everything(G, D)
    real.attach_grad()
    | with autograd.record():
    |     q = autograd.grad(D(real), real, create_graph=True, retain_graph=True)[0]
    |     q = (q.square().sum(axis=1) - 1).square().mean()
    | q.backward()
    | see(W(D, 0).grad())
    td.step(5, ignore_stale_grad=True)
    with autograd.train_mode():
    |     see(G(z))
    G.collect_params().setattr('grad_req', 'add')
    G.collect_params().setattr('grad_req', 'write')
    {weight}
''')


def gan(g):
    r = g.r
    norm, fixed = r.random() < 0.4, r.random() < 0.3
    act = r.choice(('relu', 'tanh'))
    setup = made(f'''
        G = nn.HybridSequential()
        G.add(nn.Dense(6, in_units=3, {'use_bias=False' if norm else f"activation='{act}'"}))
        {'G.add(nn.BatchNorm())' if norm else 'pass'}
        G.add(nn.Dense(4))
        G.initialize(Fixed())
        H(G)
        D = nn.HybridSequential()
        D.add(nn.Dense(5, in_units=4))
        D.add(nn.HybridLambda('sigmoid'))
        {'D.add(nn.Dropout(0))' if r.random() < 0.3 else 'pass'}
        D.add(nn.Dense(1, in_units=5))
        D.initialize(Fixed())
        H(D)
        loss = gluon.loss.SigmoidBinaryCrossEntropyLoss()
        {'H(loss)' if fixed else 'pass'}
        tg = gluon.Trainer(G.collect_params(), '{r.choice(('sgd', 'adam'))}', {{'learning_rate': 0.02}})
        td = gluon.Trainer(D.collect_params(), 'sgd', {{'learning_rate': 0.05}})
        one, zero = nd.ones((5, 1)), nd.zeros((5, 1))
        keep = []
    ''')
    second = r.choice(SECOND)
    base = ['real, z = A({n}, 5, 4), A({m}, 5, 3)', r.choice(FIRST), 'e.backward()', 'td.step(5)', second,
            'l.backward()', 'tg.step(5)']
    if "'null'" in second:
        base.append("D.collect_params().setattr('grad_req', 'write')")
    extra = [text.replace('{weight}', 'pass' if fixed else 'loss._weight = 0.5') for text in BETWEEN_PLAYERS]
    return Program(tuple(setup), repeated(g, base, extra), (S('everything(G, D)'), S('see(keep)')), 'gan')


# ---------------------------------------------------------------------- states that are carried on
BETWEEN_STATES = lines('''
    see(o)
    see(s)
    see(l)
    see(s[0].shape)
    s[0][:] = 0
    s = [a * 0.5 for a in s]
    keep.append(s)
    see(keep)
    s = [a.copy() for a in first]
    see(W(net, 0).grad())
    o, s = net(x, s){apart}
    | see(o)
    with autograd.train_mode():
    |     o, s = net(x, s){apart}
    s = [nd.zeros(a.shape) for a in s]
    for a in s:
    |     a.attach_grad()
    see(s[0].grad)
    H(net, False)
    H(net)
    with autograd.record():
    |     q, t = net(x, s)
    | q.backward()
    see(type(s[0]) is nd.NDArray, type(o) is nd.NDArray)
    v = o[0:1]; v[:] = 7; see(o)
    o[:] = 1; see(s)
    s[0] *= 2; see(o)
    net.collect_params().setattr('grad_req', 'null')
    net.collect_params().setattr('grad_req', 'write')
    nd.waitall()
    x.attach_grad()
    see(x.grad)
    {other}
''')
INNER = lines('''
    with autograd.record():
    |     o, s = net(x, s){apart}
    |     l = loss(last(o), y)
    with autograd.record():
    |     o, s = net(x, s){apart}
    |     l = loss(last(o), y)
    with autograd.record():
    |     l = 0
    |     for t in range(3):
    |         o, s = net(x * t, s){apart}
    |         l = l + loss(last(o), y)
    with autograd.record():
    |     o, s = net(x, s){apart}
    |     l = loss(last(o), y).mean() + 0.1 * sum((a ** 2).sum() for a in s)
''')


def carried(g):
    r = g.r
    layer = r.random() < 0.5
    make = r.choice(('rnn.LSTM', 'rnn.GRU', 'rnn.RNN') if layer else ('rnn.LSTMCell', 'rnn.GRUCell', 'rnn.RNNCell'))
    options = r.choice((', num_layers=2', ', bidirectional=True', ', dropout=0')) if layer and r.random() < 0.5 else ''
    net = [S(f'net = {make}(4, input_size=3{options})', simpler=(f'net = {make}(4, input_size=3)',))]
    if not layer and r.random() < 0.4:
        cell = f'{make}(4, input_size=4)'
        net = made(f'''
            net = rnn.HybridSequentialRNNCell()
            net.add({make}(4, input_size=3))
            net.add({r.choice((cell, f'rnn.ResidualCell({cell})', 'rnn.DropoutCell(0)'))})
        ''')
    setup = net + made(f'''
        net.initialize(Fixed())
        H(net)
        last = nn.Dense(3, flatten=False)
        last.initialize(Fixed())
        H(last)
        loss = gluon.loss.L2Loss()
        s = net.begin_state(batch_size=5, func=nd.zeros)
        first = [a.copy() for a in s]
        last(nd.ones((1, {8 if 'bidirectional' in options else 4})))
        learned = list(net.collect_params().values()) + list(last.collect_params().values())
        trainer = gluon.Trainer(learned, 'sgd', {{'learning_rate': 0.05}})
        keep = []
    ''')
    shape = '2, 5, 3' if layer else '5, 3'
    detach = 's = [a.detach() for a in s]'
    detach = r.choice((detach, detach, 'pass', 's = [a.copy() for a in s]'))
    other = 'see(net(x))' if layer else 'net.reset()'
    # an output of a cell that is a state as well: one array, but two of upstream's hybridized cells
    apart = '' if layer else '; o = o * 2'
    inner = r.choice(INNER).replace('{apart}', apart)
    base = [f'x, y = A({{n}}, {shape}), A({{m}}, {shape})', detach, inner, 'l.backward()', 'trainer.step(5)']
    extra = [text.replace('{other}', other).replace('{apart}', apart) for text in BETWEEN_STATES]
    final = (S('everything(net, last)'), S('see(s)'), S('see(keep)'))
    return Program(tuple(setup), repeated(g, base, extra), final, 'carried')


# ---------------------------------------------------------------------- threads
WORK = lines('''
    seen.append(l.asnumpy())
    seen.append(net(x).asnumpy())
    seen.append(W(net, 0).grad().asnumpy())
    nd.waitall()
    W(net, 1).set_data(W(net, 1).data() * 0.5)
    W(net, 0).grad()[:] = 0.1
    seen.append(net(A(seed, 2, 4)).asnumpy())
''')


def threads(g):
    """Two threads, each with a network of its own."""
    r, setup = g.r, []
    for name in ('one', 'two'):
        more, net = random_net(g, name, r.choice(('vector', 'custom', 'shared')))
        setup += [s for s in more if 'Dropout(0.5' not in s.text]       # which thread draws first, nobody knows
    text = [
        'def work(net, seed, results):', f'    loss = gluon.loss.{r.choice(("L2Loss", "HuberLoss", "L1Loss"))}()',
        "    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.05})", '    seen = []',
        f'    for i in range({r.randint(2, 5)}):', '        with CTX:',
        f'            x, y = A(seed + i, 5, 4), A(seed + i, 5, {CLASSES})',
        '            with autograd.record():', '                l = loss(net(x), y)', '            l.backward()',
        *('            ' + line for line in r.sample(WORK, r.randint(1, 3))), '            trainer.step(5)',
        '    results[seed] = seen']
    setup += [*statements('\n'.join(text)), S('results = {}')]
    run = made('''
        running = [threading.Thread(target=work, args=a) for a in ((one, 1, results), (two, 100, results))]
        for t in running:
        |     t.start()
        for t in running:
        |     t.join()
        see([results[k] for k in sorted(results)])
    ''')
    return Program(tuple(setup), (tuple(run),) * r.randint(1, 3), (S('everything(one, two)'),), 'threads')
