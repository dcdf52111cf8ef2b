"""Programs of executors, Modules and KVStores.

Outputs of Modules are not kept: those of other batch sizes and buckets have the same memory in 1.9.1 (differences.md).
"""
import re

from .loops import made, repeated
from .program import Program, lines
from .program import Statement as S

LABEL = {'softmax': ('(B,)', 'ints({m}, 3, B)'), 'linear': ('(B, 3)', 'A({m}, B, 3)'),
         'make': ('(B, 3)', 'A({m}, B, 3)')}         # B is the batch size
OUTPUTS = {'softmax': "out = mx.sym.SoftmaxOutput(h, mx.sym.Variable('label'), name='softmax')",
           'linear': "out = mx.sym.LinearRegressionOutput(h, mx.sym.Variable('label'), name='lr')",
           'make': "out = mx.sym.MakeLoss(mx.sym.mean(mx.sym.square(h - mx.sym.Variable('label'))), name='ml')",
           'plain': 'out = mx.sym.tanh(h)'}
BETWEEN_LAYERS = lines('''
    h = mx.sym.Activation(h, act_type='tanh')
    h = mx.sym.relu(h)
    h = mx.sym.LeakyReLU(h, act_type='leaky')
    h = mx.sym.sigmoid(h) * 2
    h = mx.sym.Dropout(h, p=0)
    h = h + mx.sym.FullyConnected(h, num_hidden=5, name='again')
''')
OPTIMIZERS = ("'sgd', {'learning_rate': 0.05}", "'sgd', {'learning_rate': 0.05, 'momentum': 0.9}",
              "'adam', {'learning_rate': 0.02, 'epsilon': 0.001}")


def sized(text, batch):
    """Shapes and data of a batch size."""
    return re.sub(r'\bB\b', str(batch), text)


def symbol(g):
    """(statements that build `out` on `data` and maybe `label`, the kind of label or 'plain')."""
    r = g.r
    norm = r.random() < 0.35
    kind = r.choice(('softmax', 'softmax', 'linear', 'make', 'plain'))
    found = made(f'''
        h = mx.sym.Variable('data')
        h = mx.sym.FullyConnected(h, num_hidden=5, no_bias={norm}, name='fc1')
        {f"h = mx.sym.BatchNorm(h, fix_gamma={r.random() < 0.5}, name='bn')" if norm else 'pass'}
        {r.choice(BETWEEN_LAYERS)}
        h = mx.sym.FullyConnected(h, num_hidden=3, name='fc2')
        {OUTPUTS[kind]}
        {'out = mx.sym.Group([out, h, mx.sym.BlockGrad(h)])' if kind == 'plain' and r.random() < 0.3 else 'pass'}
    ''')
    return found, kind


# ---------------------------------------------------------------------- executors
UPDATES = lines('''
    for k, a in ex.grad_dict.items():
    |     if a is not None and k not in ('data', 'label'):
    |         ex.arg_dict[k][:] -= 0.05 * a
    for k in ('fc1_weight', 'fc2_weight'):
    |     if ex.grad_dict[k] is not None:
    |         nd.sgd_update(ex.arg_dict[k], ex.grad_dict[k], lr=0.05, out=ex.arg_dict[k])
''')
BETWEEN_RUNS = lines('''
    see(ex.outputs)
    see(ex.outputs[0].shape)
    see(ex.grad_dict['fc1_weight'])
    see(ex.grad_dict['data'])
    see(ex.arg_dict['fc2_weight'])
    see(list(ex.aux_dict.values()))
    ex.forward(is_train=False, {data}); see(ex.outputs)
    ex.forward(is_train=True, {data})
    ex.forward(is_train=True)
    ex.backward({heads})
    o = ex.outputs[0]
    keep.append(ex.outputs[0])
    see(keep)
    o = ex.outputs[0]; o[:] = 1
    for a in ex.grad_dict.values():
    |     if a is not None:
    |         a[:] = 0
    ex.arg_dict['fc1_weight'][:] = 0.25
    w = ex.arg_dict['fc1_weight']; w *= 0.5
    w = ex.arg_dict['fc2_weight'][0:1]; w[:] = 0.5
    ex.copy_params_from({'fc1_weight': A(9, 5, 4)}, allow_extra_params=True)
    B = 3; ex = ex.reshape({shapes}, partial_shaping=True)
    | for a in ex.grad_dict.values():
    |     if a is not None:
    |         a[:] = 0
    | ex.forward(is_train=True, {data}); see(ex.outputs[0])
    B = 5; ex = ex.reshape({shapes}, partial_shaping=True, allow_up_sizing=True)
    | for a in ex.grad_dict.values():
    |     if a is not None:
    |         a[:] = 0
    | ex.forward(is_train=True, {data})
    for a in ex.aux_dict.values():
    |     a[:] = 0.5
    nd.waitall()
    v = ex.outputs[0][0:1]; see(v)
    see(nd.norm(ex.outputs[0]))
    see(type(ex.outputs[0]) is nd.NDArray)
    ex.arg_arrays[1][:] = ex.arg_arrays[1] * 0.5
    ex.arg_dict['data'][:] = 0.5
    ex.set_monitor_callback(lambda *_: None)
    other = out.simple_bind(CTX, {shapes}, shared_exec=ex)
    | for a in other.arg_dict.values():
    |     a[:] = 0.25
    other = out.simple_bind(CTX, {shapes}, shared_exec=ex, shared_buffer={}, shared_arg_names=['fc1_weight'])
    | other.arg_dict['fc1_weight'][:] = 0.25
    | other.arg_dict['fc2_weight'][:] = 0.5
    | see(sorted(k for k in other.arg_dict))
''')
REQUESTS = ("'write'", "'write'", "'add'",
            "{'data': 'write', 'fc1_weight': 'add', 'fc2_weight': 'write', 'fc2_bias': 'null'}",
            "{'fc2_weight': 'write', 'fc2_bias': 'write'}")         # nothing before a BatchNorm has a gradient


def executor(g):
    r = g.r
    setup, kind = symbol(g)
    label = LABEL.get(kind)
    shapes = 'data=(B, 4)' + (f', label={label[0]}' if label else '')
    data = 'data=A({n}, B, 4)' + (f', label={label[1]}' if label else '')
    heads = r.choice(('[nd.ones(o.shape) for o in ex.outputs]', '[A(4, *o.shape) for o in ex.outputs]'))
    heads = '' if label else heads
    setup.append(S('B = 5'))
    bind = f'ex = out.simple_bind(CTX, {shapes}'
    setup.append(S(f'{bind}, grad_req={r.choice(REQUESTS)})', simpler=(f'{bind})',)))
    setup += made('''
        for k, a in sorted(ex.arg_dict.items()):
        |     a[:] = nd.array(numbers(zlib.crc32(k.encode()) % 1000, a.shape)) * 0.5 + ('gamma' in k)
        for k, a in sorted(ex.aux_dict.items()):
        |     a[:] = 'var' in k
        keep = []
    ''')
    if r.random() < 0.3:
        setup += made('''
            grads = {k: nd.zeros(a.shape) for k, a in ex.arg_dict.items() if k != 'label'}
            ex = out.bind(CTX, ex.arg_dict, grads, aux_states=ex.aux_dict)
        ''')
    setup.append(S(f'ex.forward(is_train=True, {data})'.replace('{n}', '1').replace('{m}', '2'), needed=True))
    forward = r.choice((f'ex.forward(is_train=True, {data})', f'ex.forward(is_train=True, {data})',
                        "ex.arg_dict['data'][:] = A({n}, B, 4)\nex.forward(is_train=True)"))
    names = {'{data}': data, '{heads}': heads, '{shapes}': shapes}
    extra = list(BETWEEN_RUNS)
    for name, text in names.items():
        extra = [line.replace(name, text) for line in extra]
    base = [forward, f'ex.backward({heads})', r.choice(UPDATES)]
    final = made('''
        see(ex.outputs)
        see([ex.arg_dict[k] for k in sorted(ex.arg_dict)])
        see([ex.grad_dict[k] for k in sorted(ex.grad_dict)])
        see([ex.aux_dict[k] for k in sorted(ex.aux_dict)])
        see(keep)
    ''')
    return Program(tuple(setup), repeated(g, base, extra), tuple(final), 'executor', modes=('plain',))


# ---------------------------------------------------------------------- modules
BETWEEN_BATCHES = lines('''
    see(mod.get_outputs())
    see({params})
    {measure}
    mod.forward(batch, is_train=False); see(mod.get_outputs())
    {less}
    | mod.forward(batch, is_train=False)
    | see(mod.get_outputs())
    {more}
    | mod.forward(batch, is_train=True)
    | {back}
    | mod.update()
    {less}
    | mod.forward(batch, is_train=True)
    | {back}
    mod.forward(batch)
    {back}
    mod.update()
    o = mod.get_outputs()[0]; o[:] = 1
    arg, aux = mod.get_params(); mod.set_params(arg, aux)
    arg, aux = mod.get_params(); mod.set_params({k: v * 0.5 for k, v in arg.items()}, aux)
    arg, aux = mod.get_params(); mod.init_params(Fixed(), arg_params=arg, aux_params=aux, force_init=True)
    see(mod.get_input_grads())
    mod.init_params(Fixed(5), force_init=True)
    mod.save_optimizer_states(FOLDER + '/s')
    if os.path.exists(FOLDER + '/s'):
    |     mod.load_optimizer_states(FOLDER + '/s')
    mod.save_checkpoint(FOLDER + '/c', 1); see(mx.model.load_checkpoint(FOLDER + '/c', 1)[1]['fc2_weight'])
    mod.init_optimizer(optimizer='sgd', optimizer_params={'learning_rate': 0.02}, force_init=True)
    see([a for arrays in mod._exec_group.grad_arrays for a in arrays])
    for arrays in mod._exec_group.grad_arrays:
    |     for a in arrays:
    |         if a is not None:
    |             a[:] = a * 0.5
    nd.waitall()
    mod._optimizer.lr = 0.01
    arg, aux = mod.get_params(); arg['fc2_weight'][:] = 0
    mod.reshape([('data', (3, 4))], {small})
    | {less}
    | mod.forward(batch, is_train=True)
    see(mod.output_shapes)
    mod.forward_backward(batch)
    mod.fit(mx.io.NDArrayIter(A({n}, 10, 4), {labels}, batch_size=5, label_name='label'), num_epoch={epochs})
    | mod.forward(batch, is_train=True)
    mod.score(mx.io.NDArrayIter(A({n}, 10, 4), {labels}, batch_size=5, label_name='label'), metric)
    | see(float(metric.get()[1]))
    see(mod.predict(mx.io.NDArrayIter(A({n}, 10, 4), {labels}, batch_size=5, label_name='label')))
''')
PARAMS = '[a for part in mod.get_params() for _, a in sorted(part.items())]'


def module(g):
    r = g.r
    if r.random() < 0.3:
        return bucketing(g)
    setup, kind = symbol(g)
    label = LABEL.get(kind)
    shape = f"[('label', {label[0]})]" if label else 'None'
    name, options = r.choice(OPTIMIZERS).split(', ', 1)
    setup += made(f'''
        mod = mx.mod.Module(out, data_names=['data'], label_names={["label"] if label else None}, context=CTX)
        mod.bind(data_shapes=[('data', (5, 4))], label_shapes={sized(shape, 5)}, inputs_need_grad={r.random() < 0.3},
        |     grad_req='{r.choice(('write', 'write', 'add'))}')
        mod.init_params(Fixed())
        mod.init_optimizer(optimizer={name}, optimizer_params={options})
        metric = mx.metric.create('{'acc' if kind == 'softmax' else 'mse'}')
    ''')
    batches = f'batch = mx.io.DataBatch([A({{n}}, B, 4)], {f"[{label[1]}]" if label else None})'
    batch = sized(batches, 5)
    back = 'mod.backward()' if label else 'mod.backward([A(4, *o.shape) for o in mod.get_outputs()])'
    setup += [S(batch.replace('{n}', '1').replace('{m}', '2'), needed=True),
              S('mod.forward(batch, is_train=True)', needed=True)]
    ways = [[batch, 'mod.forward(batch, is_train=True)', back, 'mod.update()']]
    if label:
        ways.append([batch, 'mod.forward_backward(batch)', 'mod.update()'])
    measured = 'mod.update_metric(metric, batch.label); see(float(metric.get()[1]))'
    labels = sized(label[1], 10) if label else 'None'
    names = {'{params}': PARAMS, '{measure}': measured if kind in ('softmax', 'linear') else 'pass',
             '{less}': sized(batches, 3), '{more}': sized(batches, 8), '{back}': back,
             '{small}': sized(shape, 3), '{labels}': labels, '{epochs}': str(r.choice((1, 2, 4)))}
    extra = [line for line in BETWEEN_BATCHES if kind in ('softmax', 'linear') or 'NDArrayIter' not in line]
    extra = [line for line in extra if label or 'forward_backward' not in line]
    for key, text in names.items():
        extra = [line.replace(key, text) for line in extra]
    final = (S('see(mod.get_outputs())'), S(f'see({PARAMS})'))
    return Program(tuple(setup), repeated(g, r.choice(ways), extra), final, 'module', modes=('plain',))


BETWEEN_BUCKETS = lines('''
    see(mod.get_outputs())
    see({params})
    mod.update_metric(metric, batch.label); see(float(metric.get()[1]))
    mod.forward(batch, is_train=False); see(mod.get_outputs())
    mod.update()
    mod.backward()
    arg, aux = mod.get_params(); mod.set_params({k: v * 0.5 for k, v in arg.items()}, aux)
    mod.forward(batch)
    batch = make_batch({n}, 2, 4)
    | mod.forward(batch, is_train=False)
    | see(mod.get_outputs())
    batch = make_batch({n}, 6, 4)
    batch = make_batch({n}, 3, 4)
    batch = make_batch({n}, 6, 2)
''')


def bucketing(g):
    r = g.r
    norm = r.random() < 0.3
    name, options = r.choice(OPTIMIZERS).split(', ', 1)
    setup = made(f'''
        def make(key):
        |     h = mx.sym.Embedding(mx.sym.Variable('data'), input_dim=7, output_dim=4, name='embed')
        |     h = mx.sym.FullyConnected(mx.sym.mean(h, axis=1), num_hidden=5, no_bias={norm}, name='fc')
        |     {"h = mx.sym.BatchNorm(h, fix_gamma=False, name='bn')" if norm else 'pass'}
        |     h = mx.sym.FullyConnected(mx.sym.tanh(h) * key, num_hidden=3, name='fc2')
        |     return mx.sym.SoftmaxOutput(h, mx.sym.Variable('label'), name='softmax'), ('data',), ('label',)
        def make_batch(seed, key, size):
        |     data, label = ints(seed, 7, size, key), ints(seed + 1, 3, size)
        |     described = {{'provide_data': [('data', (size, key))], 'provide_label': [('label', (size,))]}}
        |     return mx.io.DataBatch([data], [label], bucket_key=key, **described)
        mod = mx.mod.BucketingModule(make, default_bucket_key=6, context=CTX)
        mod.bind([('data', (4, 6))], [('label', (4,))])
        mod.init_params(Fixed())
        mod.init_optimizer(optimizer={name}, optimizer_params={options})
        metric = mx.metric.create('acc')
    ''') + [S('batch = make_batch(1, 6, 4)', needed=True), S('mod.forward(batch, is_train=True)', needed=True)]
    base = [f'batch = make_batch({{n}}, {r.choice((6, 3))}, 4)', 'mod.forward(batch, is_train=True)', 'mod.backward()',
            'mod.update()']
    extra = [line.replace('{params}', PARAMS) for line in BETWEEN_BUCKETS]
    final = (S('see(mod.get_outputs())'), S(f'see({PARAMS})'))
    return Program(tuple(setup), repeated(g, base, extra, 0.8), final, 'module', modes=('plain',))


# ---------------------------------------------------------------------- KVStores
BETWEEN_PUSHES = lines('''
    a[:] = a * 2
    a *= 0.5
    see(a, b)
    see(out)
    kv.pull(3, out=out); see(out)
    kv.push(3, b)
    out[:] = 0
    kv.pull(3, out=a)
    kv.push(3, out)
    kv.pull(5, out=out); see(out)
    keep.append(out)
    see(keep)
    a = A({n}, 3, 4)
    b = a
    kv.push(3, [a, a])
    kv.pushpull(3, a)
    kv.pull(4, out=small); see(small)
    kv.push(4, nd.ones((2,)))
    with autograd.record():
    |     l = net(a)
    | l.backward()
    | kv.push(5, net.weight.grad())
    | see(net.weight.grad())
    kv.broadcast(7, a, out=out); see(out)
    kv.pull(99, out=out)
    kv.init(3, a)
    with autograd.record():
    |     o = net(a)
    | kv.push(3, [b, nd.concat(o, o[:, 0:1], dim=1)])
    a[:] = 1; kv.pull(3, out=out); see(out)
''')
STORES = lines('''
    kv.push(3, a)
    | kv.pull(3, out=out)
    | see(out)
    kv.push(3, [a, b])
    | kv.pull(3, out=[out, b])
    kv.push([3, 4], [a, nd.ones((2,))])
    | kv.pull([3, 4], out=[out, small])
    | see(out, small)
    with autograd.record():
    |     l = (net(a) ** 2).sum()
    | l.backward()
    | kv.push(5, net.weight.grad())
    | kv.pull(5, out=net.weight.data())
    kv.pushpull(3, a, out=out)
    | see(out)
''')
UPDATERS = lines('''
    pass
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.1))
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.1, momentum=0.9))
    kv.set_optimizer(mx.optimizer.Adam(learning_rate=0.05, epsilon=0.001))
    def updater(key, given, stored):
    |     stored += given * 2
    | kv._set_updater(updater)
''')


def kvstore(g):
    r = g.r
    setup = made(f'''
        kv = mx.kv.create('{r.choice(('local', 'device'))}')
        a, b = A(1, 3, 4), A(2, 3, 4)
        kv.init(3, A(5, 3, 4))
        kv.init(4, A(6, 2))
        out = nd.zeros((3, 4))
        small = nd.zeros((2,))
        net = nn.Dense(3, in_units=4)
        net.initialize(Fixed())
        H(net)
        kv.init(5, net.weight.data())
        keep = []
    ''') + made(r.choice(UPDATERS).replace('\n', '\n| '))
    final = (S('kv.pull(3, out=out); see(out)'), S('see(a, b)'), S('everything(net)'), S('see(keep)'))
    return Program(tuple(setup), repeated(g, [r.choice(STORES)], BETWEEN_PUSHES), final, 'kvstore')
