"""Programs of networks that are put together: SymbolBlocks, Modules of Modules, Modules that share."""
from .loops import made, repeated
from .program import Program, lines
from .program import Statement as S
from .symbolic import OPTIMIZERS, PARAMS

# ---------------------------------------------------------------------- SymbolBlock
SOURCES = lines('''
    net = gluon.SymbolBlock(out, mx.sym.var('data'))
    | net.initialize(Fixed())
    inner = nn.HybridSequential(prefix='inner_')
    | with inner.name_scope():
    |     inner.add(nn.Dense(5, in_units=4, activation='tanh'), nn.BatchNorm(in_channels=5), nn.Dense(4, in_units=5))
    | inner.initialize(Fixed())
    | net = exported(inner, A(1, 2, 4))
    body = gluon.SymbolBlock(out.get_internals()['act_output'], mx.sym.var('data'))
    | body.initialize(Fixed())
    | net = nn.HybridSequential(prefix='net_')
    | net.add(body)
    | net.add(nn.Dense(4, in_units=5, prefix='head_'))
    | net[1].initialize(Fixed())
    body = gluon.SymbolBlock([out.get_internals()['act_output'], out], mx.sym.var('data'))
    | body.initialize(Fixed())
    | net = nn.HybridLambda(lambda F, x: x)
    | net.body = body
    | net.hybrid_forward = lambda F, x: F.concat(*net.body(x), dim=1)
    inner = gluon.SymbolBlock(out, mx.sym.var('data'))
    | inner.initialize(Fixed())
    | inner.save_parameters(FOLDER + '/first')
    | net = gluon.SymbolBlock(out, mx.sym.var('data'))
    | net.load_parameters(FOLDER + '/first', ctx=CTX)
''')
BETWEEN_CALLS = lines('''
    see(net(x))
    see(net(A({n}, 2, 4)))
    everything(net)
    net.collect_params('.*bias').setattr('grad_req', 'null')
    net.collect_params('.*bias').setattr('grad_req', 'write')
    W(net, {n}).grad_req = 'add'
    W(net, {n}).set_data(W(net, {n}).data() * 0.5)
    w = W(net, {n}).data(); w *= 0.5
    H(net)
    H(net, False)
    net.cast('float64'); net.cast('float32')
    net.save_parameters(FOLDER + '/p')
    | net.load_parameters(FOLDER + '/p', ctx=CTX)
    with autograd.train_mode():
    |     o = net(x)
    | see(o)
    with autograd.record(train_mode=False):
    |     o = net(x)
    | see(o)
    x.attach_grad()
    if x.grad is not None:
    |     see(x.grad)
    with autograd.record():
    |     o = net(x)
    | see(o)
    | o.backward()
    with autograd.record():
    |     l = (net(x) * net(x * 2)).mean()
    | l.backward()
    net.collect_params().zero_grad()
    trainer.set_learning_rate(0.02)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.05, 'momentum': 0.9})
    keep.append(net(x))
    see(keep)
    see(net.collect_params().keys())
    other = copy.copy(net); see(other(x))
''')


def imported(g):
    r = g.r
    norm = r.random() < 0.5
    setup = made(f'''
        h = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=5, name='fc1')
        {"h = mx.sym.BatchNorm(h, fix_gamma=False, name='bn')" if norm else 'pass'}
        h = mx.sym.Activation(h, act_type='tanh', name='act')
        out = mx.sym.FullyConnected(h, num_hidden=4, name='fc2')
    ''') + made(r.choice(SOURCES).replace('\n', '\n| ')) + made(f'''
        H(net)
        trainer = gluon.Trainer(net.collect_params(), {r.choice(OPTIMIZERS)})
        keep = []
    ''')
    base = ['x, y = A({n}, 3, 4), A({m}, 3, 1)',
            'with autograd.record():\n    l = ((net(x) - y) ** 2).mean()', 'l.backward()',
            'trainer.step(1, ignore_stale_grad=True)', 'see(l)']
    setup.append(S('x, y = A(1, 3, 4), A(2, 3, 1)', needed=True))
    return Program(tuple(setup), repeated(g, base, BETWEEN_CALLS, 0.8), tuple(made('''
        see(net(x))
        everything(net)
        see(keep)
    ''')), 'imported')


# ---------------------------------------------------------------------- Modules of Modules
KINDS = {
    'sequential': '''
        mod = mx.mod.SequentialModule()
        mod.add(mx.mod.Module(h, data_names=['data'], label_names=None, context=CTX))
        mod.add(mx.mod.Module(last, data_names=['data'], label_names=['label'], context=CTX), take_labels=True,
        |     auto_wiring=True)
        mod.bind([('data', (4, 4))], [('label', (4,))], inputs_need_grad={inputs})
    ''',
    'python': '''
        mod = mx.mod.SequentialModule()
        mod.add(mx.mod.Module(h, data_names=['data'], label_names=None, context=CTX))
        mod.add(mx.mod.PythonLossModule(data_names=['data'], label_names=['label'], grad_func=lambda s, l: s * 0.1 + 1),
        |     take_labels=True, auto_wiring=True)
        mod.bind([('data', (4, 4))], [('label', (4,))], inputs_need_grad={inputs})
    ''',
    'fixed': '''
        mod = mx.mod.Module(whole, data_names=['data'], label_names=['label'], context=CTX,
        |     fixed_param_names=['fc1_weight'])
        mod.bind([('data', (4, 4))], [('label', (4,))], inputs_need_grad={inputs})
    ''',
    'shared': '''
        mod = mx.mod.Module(whole, data_names=['data'], label_names=['label'], context=CTX)
        mod.bind([('data', (4, 4))], [('label', (4,))], inputs_need_grad={inputs})
        mod.init_params(Fixed())
        other = mx.mod.Module(whole, data_names=['data'], label_names=['label'], context=CTX)
        other.bind([('data', (2, 4))], [('label', (2,))], shared_module=mod)
    ''',
}
BETWEEN_STEPS = lines('''
    see(mod.get_outputs())
    see({params})
    mod.update()
    mod.backward()
    mod.forward(batch, is_train=False); see(mod.get_outputs())
    arg, aux = mod.get_params(); mod.set_params({k: v * 0.5 for k, v in arg.items()}, aux)
    arg, aux = mod.get_params(); mod.set_params({'fc1_bias': arg['fc1_bias'] + 1}, aux, allow_missing=True)
    mod.set_params({'fc1_bias': nd.ones((5,)), 'no': nd.ones((1,))}, {}, allow_missing=True, allow_extra=True)
    mod.set_params({'fc1_bias': nd.ones((5,))}, {})
    mod.init_params(Fixed({n}), force_init=True)
    mod.init_optimizer(optimizer='sgd', optimizer_params={'learning_rate': 0.02}, force_init=True)
    mod.init_optimizer(optimizer='adam', optimizer_params={'learning_rate': 0.02, 'epsilon': 0.01}, force_init=True)
    mod.forward(batch)
    see(mod.output_shapes)
''')
# in 1.9.1 outputs of Modules that share are in the same memory: each looks at its own at once (differences.md)
SHARED_ONLY = lines('''
    half = mx.io.DataBatch([A({n}, 2, 4)], [ints({m}, 3, 2)])
    | other.forward(half, is_train=False); see(other.get_outputs())
    | mod.forward(batch, is_train=True)
    half = mx.io.DataBatch([A({n}, 2, 4)], [ints({m}, 3, 2)])
    | other.forward(half, is_train=True)
    | other.backward()
    | if not other.optimizer_initialized and mod.optimizer_initialized:
    |     other.borrow_optimizer(mod)
    | if other.optimizer_initialized:
    |     other.update()
    | mod.forward(batch, is_train=True)
    see([a for part in other.get_params() for _, a in sorted(part.items())])
''')


def assembled(g):
    r = g.r
    kind, inputs = r.choice(tuple(KINDS)), r.random() < 0.4
    name, options = r.choice(OPTIMIZERS).split(', ', 1)
    setup = made('''
        h = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=5, name='fc1')
        h = mx.sym.Activation(h, act_type='tanh', name='act')
        last = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc2')
        last = mx.sym.SoftmaxOutput(last, mx.sym.var('label'), name='softmax')
        whole = mx.sym.FullyConnected(h, num_hidden=3, name='fc2')
        whole = mx.sym.SoftmaxOutput(whole, mx.sym.var('label'), name='out')
    ''') + made(KINDS[kind].replace('{inputs}', str(inputs))) + made(f'''
        mod.init_params(Fixed())
        mod.init_optimizer(optimizer={name}, optimizer_params={options})
    ''')
    batch = 'batch = mx.io.DataBatch([A({n}, 4, 4)], [ints({m}, 3, 4)])'
    setup += [S(batch.replace('{n}', '1').replace('{m}', '2'), needed=True),
              S('mod.forward(batch, is_train=True)', needed=True)]
    extra = list(BETWEEN_STEPS) + (SHARED_ONLY * 3 if kind == 'shared' else [])
    if inputs and kind in ('fixed', 'shared'):          # of a SequentialModule, 1.9.1 refuses them
        extra.append('see(mod.get_input_grads())')
    extra = [line.replace('{params}', PARAMS) for line in extra]
    base = [batch, 'mod.forward(batch, is_train=True)', 'mod.backward()', 'mod.update()', 'see(mod.get_outputs())']
    final = (S('see(mod.get_outputs())'), S(f'see({PARAMS})'))
    return Program(tuple(setup), repeated(g, base, extra, 0.8), final, 'assembled', modes=('plain',))
