"""Other loops of Gluon: predictions, adversaries, carried states, threads, arrays by themselves."""
from .networks import CLASSES, Net, random_net
from .program import Program
from .program import Statement as S
from .training import LOSSES, statement


def repeated(g, base, extra, count=None, often=0.5):
    """Iterations that are `base` with some of `extra`: (text, where it may stand, from and to) between its statements."""
    r = g.r
    found = []
    for _ in range(count or r.randint(3, 7)):
        texts = list(base)
        if r.random() < often:
            for _ in range(r.choice((1, 1, 2, 3))):
                texts.insert(r.randint(0, len(texts)), r.choice(extra))
        if r.random() < 0.1 and len(texts) > 1:
            texts.pop(r.randrange(len(texts)))
        found.append(tuple(statement(t() if callable(t) else t) for t in texts))
    return tuple(found)


# ---------------------------------------------------------------------- predictions
def predict(g):
    """Predictions of one network, in every mode and of every shape, and now and then a step."""
    r = g.r
    kind = r.choice(('vector', 'vector', 'picture', 'words', 'custom', 'outputs', 'flat', 'dropout'))
    if kind == 'flat':
        setup = [S('net = nn.HybridSequential()'), S(f'net.add(nn.Dense(4, in_units=3, flatten=False, activation="{r.choice(("relu", "tanh"))}"))'),
                 S('net.add(nn.Dense(2, in_units=4, flatten=False))'), S('net.initialize(Fixed())'), S('H(net)')]
        net = Net('net', (3,), parts=True)
        shapes = ['(2, 6, 3)', '(3, 4, 3)', '(4, 3)', '(1, 3)', '(6, 2, 3)']
        data = lambda: f'A({r.randint(0, 50)}, *{r.choice(shapes)})'        # noqa: E731
    else:
        if kind == 'dropout':
            setup = [S('net = nn.HybridSequential()'), S('net.add(nn.Dense(16, in_units=4))'), S('net.add(nn.Dropout(0.5))'),
                     *([S('net.add(nn.BatchNorm())')] if r.random() < 0.4 else []), S('net.initialize(Fixed())'), S('H(net)')]
            net = Net('net', (4,), parts=True, random=True)
        else:
            setup, net = random_net(g, 'net', kind)
        data = lambda: g.data(net, r.choice((8, 8, 8, 4, 3, 1)), r.randint(0, 50))        # noqa: E731
    usual = data()
    setup = [*setup, S(f'x = {usual}'), S("trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.05})"), S('keep = []')]
    call = net.call.format(net='net', x='x')
    zeros = 'see(bool((o == 0).max().asscalar()))' if kind == 'dropout' else 'see(o)'
    ways = ['{call}\n{see}', '{call}\n{see}', 'with autograd.train_mode():\n    {call}\n{see}', 'with autograd.predict_mode():\n    {call}\n{see}',
            'with autograd.record():\n    {call}\n{see}', 'with autograd.record(train_mode=False):\n    {call}\n{see}',
            'with autograd.record():\n    {call}\no.backward()\ntrainer.step(1, ignore_stale_grad=True)\n{see}', '{call}\nkeep.append(o)', 'with autograd.record():\n    with autograd.pause():\n        {call}\n{see}',
            'with autograd.record():\n    with autograd.predict_mode():\n        {call}\n{see}', '{call}']
    between = ['W(net, 0).set_data(W(net, 0).data() * 0.5)', 'W(net, 1).data()[:] = W(net, 1).data() * 2', 'd = W(net, 2).data(); d *= 0.5', 'H(net)', 'H(net, False)',
               'x[:] = x * 2', 'x *= 0.5', 'o[:] = 7', 'see(o)', 'see(keep)', "P(net, 0).grad_req = 'null'", "P(net, 0).grad_req = 'write'", 'mx.random.seed(3)',
               'v = o[0:1]; v[:] = 3; see(o)', 'v = o.reshape((-1,)); v *= 2; see(o)', 'see(type(o) is nd.NDArray, o.shape)', 'net.initialize(mx.init.Constant(0.125), force_reinit=True)',
               'net.initialize(Fixed(), force_reinit=True)', "net.save_parameters(FOLDER + '/p'); net.load_parameters(FOLDER + '/p')", 'see(in_thread(lambda: net(x)))' if not net.more else 'see(o)',
               'P(net, 3).set_data(P(net, 3).data() * 0.5)', "net.cast('float64'); x = x.astype('float64')", "net.cast('float32'); x = x.astype('float32')", 'see(P(net, 4).data())',
               'if keep:\n    keep[-1][:] = 1', 'other = copy.deepcopy(net); H(other); see(other(x))' if not net.more else 'see(o)', 'keep = []', 'nd.waitall()',
               'net(nd.ones((2, 3, 2, 1, 2, 7)))', 'with autograd.record():\n    o = net(x)\n    raise ValueError("in the middle")' if not net.more else 'see(x)']
    fill = lambda t: t.format(call=call, see=zeros)        # noqa: E731
    usual_way = fill(r.choice(ways))
    some = r.sample(ways, 3)
    iterations = []
    for _ in range(r.randint(4, 9)):
        made = []
        if r.random() < 0.4:
            made.append(f'x = {data() if r.random() < 0.6 else usual}')
        if r.random() < 0.4:
            made.append(r.choice(between))
        made += [usual_way if r.random() < 0.6 else fill(r.choice(some))] * r.choice((1, 1, 2))
        iterations.append(tuple(S(line) if '\n' not in line else statement(line) for line in made))
    return Program(tuple(setup), tuple(iterations), (S('everything(net)'), S('see(keep)') if kind != 'dropout' else S('see(len(keep))')), 'predict', net.random)


# ---------------------------------------------------------------------- two networks against each other
def gan(g):
    r = g.r
    norm = r.random() < 0.4
    setup = [S('G = nn.HybridSequential()'), S(f"G.add(nn.Dense(6, in_units=3{', use_bias=False' if norm else ', activation=' + repr(r.choice(('relu', 'tanh')))}))"),
             *([S('G.add(nn.BatchNorm())')] if norm else []), S('G.add(nn.Dense(4))'), S('G.initialize(Fixed())'), S('H(G)'),
             S('D = nn.HybridSequential()'), S('D.add(nn.Dense(5, in_units=4))'), S("D.add(nn.HybridLambda('sigmoid'))"), *([S('D.add(nn.Dropout(0))')] if r.random() < 0.3 else []),
             S('D.add(nn.Dense(1, in_units=5))'), S('D.initialize(Fixed())'), S('H(D)'), S('loss = gluon.loss.SigmoidBinaryCrossEntropyLoss()'),
             *([S('H(loss)')] if r.random() < 0.3 else []), S(f"tg = gluon.Trainer(G.collect_params(), '{r.choice(('sgd', 'adam'))}', {{'learning_rate': 0.02}})"),
             S("td = gluon.Trainer(D.collect_params(), 'sgd', {'learning_rate': 0.05})"), S('one, zero = nd.ones((5, 1)), nd.zeros((5, 1))'), S('keep = []')]
    real = lambda: f'real, z = A({r.randint(0, 99)}, 5, 4), A({r.randint(0, 99)}, 5, 3)'        # noqa: E731
    fake = r.choice(('f = G(z).detach()', 'f = G(z)\nwith autograd.record():\n    e = 0', 'with autograd.pause():\n    f = G(z)', 'f = G(z)'))
    first = r.choice((
        f'with autograd.record():\n    {fake.split(chr(10))[0]}\n    e = loss(D(real), one) + loss(D(f{".detach()" if "detach" not in fake else ""}), zero)\ne.backward()',
        'f = G(z)\nwith autograd.record():\n    e = loss(D(real), one) + loss(D(f), zero)\ne.backward()',
        'with autograd.record():\n    f = G(z)\n    e = loss(D(real), one) + loss(D(f.detach()), zero)\ne.backward()',
        'with autograd.record():\n    e = loss(D(real), one)\ne.backward()\nwith autograd.record():\n    f = G(z)\n    e = loss(D(f.detach()), zero)\ne.backward()'))
    if 'pause' in first:
        first = 'with autograd.record():\n    with autograd.pause():\n        f = G(z)\n    e = loss(D(real), one) + loss(D(f), zero)\ne.backward()'
    second = r.choice(('with autograd.record():\n    l = loss(D(G(z)), one)\nl.backward()', 'with autograd.record():\n    f = G(z)\n    l = loss(D(f), one)\nl.backward()',
                       "D.collect_params().setattr('grad_req', 'null')\nwith autograd.record():\n    l = loss(D(G(z)), one)\nl.backward()\nD.collect_params().setattr('grad_req', 'write')"))
    base = [real, *first.split('\ne.')[:1], 'e.backward()', 'td.step(5)', *second.split('\nl.')[:1], 'l.backward()', 'tg.step(5)']
    if "'write')" in second:
        base.append("D.collect_params().setattr('grad_req', 'write')")
    base = [t for text in base for t in (_apart(text) if not callable(text) else [text])]
    extra = ['see(e)', 'see(l)', 'see(f)', 'see(W(D, 0).grad())', 'see(W(G, 0).grad())', 'see(P(G, 3).data())', 'keep.append(f)', 'see(keep)', 'f[:] = 1', 'see(D(G(z)))', 'D.collect_params().zero_grad()',
             "for p in D.collect_params().values():\n    p.set_data(nd.clip(p.data(), -0.5, 0.5))", "for p in D.collect_params().values():\n    p.data()[:] = nd.clip(p.data(), -0.5, 0.5)",
             'z = A(77, 5, 3)', 'z.attach_grad()', 'see(z.grad)', 'with autograd.record():\n    o = D(real)', 'H(D)', 'H(G, False)', 'nd.waitall()', 'everything(G, D)',
             'real.attach_grad()\nwith autograd.record():\n    q = autograd.grad(D(real), real, create_graph=True, retain_graph=True)[0]\n    q = (q.square().sum(axis=1) - 1).square().mean()\nq.backward()\nsee(W(D, 0).grad())',
             'td.step(5, ignore_stale_grad=True)', 'with autograd.train_mode():\n    see(G(z))']
    return Program(tuple(setup), repeated(g, base, extra), (S('everything(G, D)'), S('see(keep)')), 'gan')


def _apart(text):
    """The statements of a text that has several at its top."""
    found = []
    for line in text.split('\n'):
        if line.startswith(' '):
            found[-1] += '\n' + line
        else:
            found.append(line)
    return found


# ---------------------------------------------------------------------- states that are carried on
def carried(g):
    r = g.r
    layer = r.random() < 0.5
    make = r.choice(('rnn.LSTM', 'rnn.GRU', 'rnn.RNN') if layer else ('rnn.LSTMCell', 'rnn.GRUCell', 'rnn.RNNCell'))
    lstm = 'LSTM' in make
    options = r.choice(('', ', num_layers=2', ', bidirectional=True')) if layer and r.random() < 0.5 else ''
    setup = [S(f'net = {make}(4, input_size=3{options})', simpler=(f'net = {make}(4, input_size=3)',)), S('net.initialize(Fixed())')]
    if not layer and r.random() < 0.3:
        setup = [S('net = rnn.HybridSequentialRNNCell()'), S(f'net.add({make}(4, input_size=3))'), S(f'net.add({make}(4, input_size=4))'), S('net.initialize(Fixed())')]
    setup += [S('H(net)'), S('last = nn.Dense(3, flatten=False)'), S('last.initialize(Fixed())'), S('H(last)'), S('loss = gluon.loss.L2Loss()'),
              S('s = net.begin_state(batch_size=5)'), S('first = [a.copy() for a in s]'), S('last(nd.ones((1, 4)))' if 'bid' not in options else 'last(nd.ones((1, 8)))'),
              S("trainer = gluon.Trainer(list(net.collect_params().values()) + list(last.collect_params().values()), 'sgd', {'learning_rate': 0.05})"), S('keep = []')]
    shape = '2, 5, 3' if layer else '5, 3'
    data = lambda: f'x, y = A({r.randint(0, 99)}, {shape}), A({r.randint(0, 99)}, {shape})'        # noqa: E731
    detach = r.choice(('s = [a.detach() for a in s]', 's = [a.detach() for a in s]', None, 's = [a.copy() for a in s]'))
    inner = ['o, s = net(x, s)', 'l = loss(last(o), y)'] if r.random() < 0.7 else ['l = 0', 'for t in range(3):\n        o, s = net(x * t, s)\n        l = l + loss(last(o), y)']
    body = 'with autograd.record():\n' + '\n'.join('    ' + line for line in inner)
    base = [data, *([detach] if detach else []), body, 'l.backward()', 'trainer.step(5)']
    extra = ['see(o)', 'see(s)', 'see(l)', 'see(s[0].shape)', 's[0][:] = 0', 's = [a * 0.5 for a in s]', 'keep.append(s)', 'see(keep[-1])', 's = [a.copy() for a in first]', 'see(W(net, 0).grad())',
             'o, s = net(x, s)\nsee(o)', 'with autograd.train_mode():\n    o, s = net(x, s)', 's = [nd.zeros(a.shape) for a in s]', 'for a in s:\n    a.attach_grad()', 'see(s[0].grad)', 'H(net, False)', 'H(net)',
             'with autograd.record():\n    q, t = net(x, s)\nq.backward()', 'see(type(s[0]) is nd.NDArray, type(o) is nd.NDArray)', 'v = o[0:1]; v[:] = 7; see(o)', 'o[:] = 1; see(s)', 's[0] *= 2; see(o)',
             "W(net, 0).grad_req = 'null'", "P(net, 0).grad_req = 'write'", 'nd.waitall()', 'net.reset()' if not layer else 'see(net(x))']
    return Program(tuple(setup), repeated(g, base, extra), (S('everything(net, last)'), S('see(s)')), 'carried')


# ---------------------------------------------------------------------- threads
def threads(g):
    """Two threads, each with a network of its own."""
    r = g.r
    setup, nets = [], []
    for name in ('one', 'two'):
        made, net = random_net(g, name, r.choice(('vector', 'custom', 'shared')))
        setup += made
        nets.append(net)
    random = any(n.random for n in nets)
    setup = [s for s in setup if 'Dropout(0.5' not in s.text]
    del random
    setup.append(S('results = {}'))
    loss = r.choice([item for item in LOSSES if item[1] == 'like'])[0]
    lines = ['def work(net, seed, results):', f'    loss = {loss}', "    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.05})", '    seen = []',
             f'    for i in range({r.randint(2, 5)}):', '        with CTX:', f'            x, y = A(seed + i, 5, 4), A(seed + i, 5, {CLASSES})']
    lines += ['            with autograd.record():', '                l = loss(net(x), y)', '            l.backward()']
    lines += ['            ' + t for t in r.sample(['seen.append(l.asnumpy())', 'seen.append(net(x).asnumpy())', 'seen.append(W(net, 0).grad().asnumpy())', 'nd.waitall()', 'W(net, 1).set_data(W(net, 1).data() * 0.5)',
                                                     'W(net, 0).grad()[:] = 0.1'], r.randint(1, 3))]
    lines += ['            trainer.step(5)', '    results[seed] = seen']
    setup.append(statement('\n'.join(lines)))
    run = statement('running = [threading.Thread(target=work, args=a) for a in ((one, 1, results), (two, 100, results))]\nfor t in running:\n    t.start()\nfor t in running:\n    t.join()')
    iterations = tuple((run, S('see([results[k] for k in sorted(results)])')) for _ in range(r.randint(1, 3)))
    return Program(tuple(setup), iterations, (S('everything(one, two)'),), 'threads')


# ---------------------------------------------------------------------- arrays by themselves
def arrays(g):
    """Variables, views, writes and gradients without networks."""
    r = g.r
    setup = [S('a = A(1, 3, 4)'), S('b = A(2, 3, 4)'), S('c = A(3, 4)'), S('a.attach_grad()'), S(f"b.attach_grad('{r.choice(('write', 'add', 'null'))}')"), S('keep = []'), S('v = a[0:1]'), S('l = a.sum()'), S('t = c.T')]
    ops = ['h = a * b', 'h = a + b * 2', 'h = nd.dot(a, b.T)', 'h = a.reshape((4, 3))', 'h = a[0:2]', 'h = a[1]', 'h = a * c', 'h = nd.concat(a, b, dim=0)', 'h = a.T', 'h = a.exp() * b', 'h = nd.where(a > 0, a, b)',
           'h = nd.softmax(a) * b', 'h = a.detach() * b', 'h = nd.BlockGrad(a) + b', 'h = a.sum(axis=0)', 'h = a ** 2 / (b ** 2 + 1)', 'h = nd.stack(a, b)', 'h = a.flatten() * 2', 'h = a.clip(-0.5, 0.5)', 'h = nd.take(a, nd.array([0, 2]))',
           'h = a.expand_dims(0) - b', 'h = nd.maximum(a, b)', 'h = a.copy() * b', 'h = a.as_in_context(CTX) * 2', "h = a.astype('float64')", 'h = nd.identity(a) * b', 'h = a.norm(axis=1)', 'h = nd.elemwise_mul(a, a)', 'h = nd.slice_axis(a, axis=1, begin=0, end=2)']
    steps = ['h = h * 2', 'h = h.tanh()', 'h = h + 1', 'h = -h', 'h = h / 3', 'h = h.reshape((-1,))', 'h = h * h', 'h = h.sum()', 'with autograd.pause():\n        keep.append(h * 2)', 'see(h)', 'h = h.square().mean()', 'g = h', 'h = h[0:1]']
    body = lambda: 'with autograd.record():\n    ' + '\n    '.join([r.choice(ops), *(r.choice(steps) for _ in range(r.randint(0, 3)))])        # noqa: E731
    back = ['h.backward()', 'h.backward()', 'h.backward(retain_graph=True)', 'h.backward(nd.ones(h.shape) * 2)', 'autograd.backward([h])',
            'with autograd.record():\n    q = autograd.grad(nd.square(a) + nd.sin(a), [a], create_graph=True)[0]\n    q = nd.square(q).sum()\nq.backward()', 'see(autograd.grad(h, [a], retain_graph=True))']
    between = ['see(a.grad)', 'see(b.grad)', 'see(a)', 'see(h)', 'see(v)', 'see(c)', 'see(t)', 't *= 2; see(c)', 't[:] = 1; see(c)', 't = c.T', 't = a.T', 't = c.T.T', 'v = a[0:1]', 'v = a.reshape((-1,))', 'v = a[1]', 'v = h', 'v = a.T', 'v = a.detach()', 'v = a.grad',
               'v = c[1:3]', 'v = nd.transpose(c)', 'v = c.transpose()', 'v = nd.identity(c)', 'v = c.flatten()', 'v = c.reshape((2, 2))', 'v = c.expand_dims(0)', 'v = c.squeeze()', "v = c.astype('float32')", "v = c.astype('float32', copy=False)",
               'v = c.as_in_context(CTX)', 'v = c.copy()', 'v = c.as_nd_ndarray()', 'v = c.reshape((-1,))[0:2]', 'v = nd.reshape(c, shape=(2, 2))', 'v = c.broadcast_to((4,))', 'v = nd.swapaxes(a, 0, 1)', 'v = a[:, 0:2]', 'v = a[0][1:3]', 'v = a[1:3].reshape((-1,))',
               'v[:] = 7', 'v *= 2', 'v += 1', 'v[0] = 3', 'a[:] = a * 0.5', 'a *= 0.5', 'a[0:1] = 1', 'c[:] = 2; see(t, v)', 'c += 1', 'a.grad[:] = 0', 'a.attach_grad()', "a.attach_grad('add')", "a.attach_grad('null')", 'a = A(5, 3, 4)', 'b = a', 'b = a.copy()', 'keep.append(a.grad)',
               'see(keep)', 'see(type(v).__name__, v.shape)', 'a.grad[:] = 5; see(keep)', "autograd.mark_variables([a], [nd.ones(a.shape)])", 'b[:] = 1', 'see(a.detach().grad)', 'a.copyto(b)', 'nd.elemwise_add(a, b, out=b)', 'a += b', 'b -= a * 0.1', 'c[1:3] = nd.ones((2,))', 'c[nd.array([0, 1])] = 5',
               'a.wait_to_read()', 'with autograd.record():\n    with autograd.pause():\n        a *= 0.5\n    h = (a * b).sum()', 'with autograd.record():\n    h = a * b\n    with autograd.pause():\n        c *= 2\n    h = (h * c).sum()\nh.backward()', 'h = None', 'a.drop_grad()' if False else 'nd.waitall()']
    usual = [body(), r.choice(back)]
    some = r.sample(between, 8)
    iterations = []
    for _ in range(r.randint(3, 7)):
        made = [body() if r.random() < 0.3 else usual[0], r.choice(back) if r.random() < 0.2 else usual[1]]
        for _ in range(r.choice((0, 1, 2, 3))):
            made.insert(r.randint(0, len(made)), r.choice(some))
        iterations.append(tuple(statement(t) for t in made))
    return Program(tuple(setup), tuple(iterations), (S('see(a, b, c, v, t)'), S('see(a.grad, b.grad)'), S('see(keep)')), 'arrays', modes=('plain',))
