"""Programs of executors, Modules and KVStores."""
from .loops import _apart
from .program import Program
from .program import Statement as S
from .training import statement


def _symbol(g, loss=True):
    """Statements that build `out` on `data` (and `label`)."""
    r = g.r
    made = [S("h = mx.sym.Variable('data')")]
    norm = r.random() < 0.35
    made.append(S(f"h = mx.sym.FullyConnected(h, num_hidden=5, no_bias={norm}, name='fc1')"))
    if norm:
        made.append(S(f"h = mx.sym.BatchNorm(h, fix_gamma={r.random() < 0.5}, name='bn')"))
    made.append(S(r.choice(("h = mx.sym.Activation(h, act_type='tanh')", 'h = mx.sym.relu(h)', "h = mx.sym.LeakyReLU(h, act_type='leaky')", 'h = mx.sym.sigmoid(h) * 2', "h = mx.sym.Dropout(h, p=0)"))))
    if r.random() < 0.3:
        made.append(S("h = h + mx.sym.FullyConnected(h, num_hidden=5, name='again')"))
    made.append(S("h = mx.sym.FullyConnected(h, num_hidden=3, name='fc2')"))
    kind = r.choice(('softmax', 'softmax', 'linear', 'make', 'plain')) if loss else 'plain'
    made.append(S({'softmax': "out = mx.sym.SoftmaxOutput(h, mx.sym.Variable('label'), name='softmax')", 'linear': "out = mx.sym.LinearRegressionOutput(h, mx.sym.Variable('label'), name='lr')",
                   'make': "out = mx.sym.MakeLoss(mx.sym.mean(mx.sym.square(h - mx.sym.Variable('label'))), name='ml')", 'plain': 'out = mx.sym.tanh(h)'}[kind]))
    if r.random() < 0.2 and kind == 'plain':
        made.append(S('out = mx.sym.Group([out, h, mx.sym.BlockGrad(h)])'))
    return made, kind, norm


def _label(kind, seed, batch):
    return {'softmax': f'ints({seed}, 3, {batch})', 'linear': f'A({seed}, {batch}, 3)', 'make': f'A({seed}, {batch}, 3)'}.get(kind)


def executor(g):
    r = g.r
    made, kind, norm = _symbol(g)
    has = kind != 'plain'
    shapes = 'data=(5, 4)' + ({'softmax': ', label=(5,)'}.get(kind, ', label=(5, 3)') if has else '')
    req = r.choice(("'write'", "'write'", "'add'", "{'data': 'write', 'fc1_weight': 'add', 'fc2_weight': 'write', 'fc2_bias': 'null'}"))
    setup = [*made, S(f'ex = out.simple_bind(CTX, {shapes}, grad_req={req})', simpler=(f'ex = out.simple_bind(CTX, {shapes})',)),
             statement("for k, a in sorted(ex.arg_dict.items()):\n    a[:] = nd.array(numbers(zlib.crc32(k.encode()) % 1000, a.shape)) * 0.5 + ('gamma' in k)"), S('keep = []')]
    if norm:
        setup.append(statement("for k, a in sorted(ex.aux_dict.items()):\n    a[:] = 'var' in k"))
    if r.random() < 0.3:
        setup.append(S("ex = out.bind(CTX, ex.arg_dict, {k: nd.zeros(a.shape) for k, a in ex.arg_dict.items() if k != 'label'}, aux_states=ex.aux_dict)"))
    data = lambda b=5: f'data=A({r.randint(0, 99)}, {b}, 4)' + (f', label={_label(kind, r.randint(0, 99), b)}' if has else '')        # noqa: E731
    heads = '' if has else '[nd.ones(o.shape) for o in ex.outputs]' if r.random() < 0.5 else '[A(4, *o.shape) for o in ex.outputs]'
    forward = r.choice((lambda: f'ex.forward(is_train=True, {data()})', lambda: f'ex.forward(is_train=True, {data()})',
                        lambda: f"ex.arg_dict['data'][:] = A({r.randint(0, 99)}, 5, 4); ex.forward(is_train=True)"))
    base = [forward, f'ex.backward({heads})', r.choice(("for k, a in ex.grad_dict.items():\n    if a is not None and k not in ('data', 'label'):\n        ex.arg_dict[k][:] -= 0.05 * a",
                                                        "for k in ('fc1_weight', 'fc2_weight'):\n    nd.sgd_update(ex.arg_dict[k], ex.grad_dict[k], lr=0.05, out=ex.arg_dict[k])"))]
    extra = ['see(ex.outputs)', 'see(ex.outputs[0].shape)', "see(ex.grad_dict['fc1_weight'])", "see(ex.grad_dict['data'])", 'see(ex.arg_dict["fc2_weight"])', 'see(list(ex.aux_dict.values()))', lambda: f'ex.forward(is_train=False, {data()}); see(ex.outputs)',
             lambda: f'ex.forward(is_train=True, {data()})', 'ex.forward(is_train=True)', f'ex.backward({heads})', 'o = ex.outputs[0]', 'keep.append(ex.outputs[0])', 'see(keep)', 'o = ex.outputs[0]; o[:] = 1', "for a in ex.grad_dict.values():\n    if a is not None:\n        a[:] = 0",
             'ex.arg_dict["fc1_weight"][:] = 0.25', 'ex.arg_dict["fc1_weight"] *= 0.5', 'w = ex.arg_dict["fc1_weight"]; w *= 0.5', 'w = ex.arg_dict["fc2_weight"][0:1]; w[:] = 0.5', "ex.copy_params_from({'fc1_weight': A(9, 5, 4)}, allow_extra_params=True)",
             lambda: f'ex = ex.reshape(data=(3, 4){ {"softmax": ", label=(3,)"}.get(kind, ", label=(3, 3)") if has else ""}, partial_shaping=True)' + f'; ex.forward(is_train=True, {data(3)}); see(ex.outputs[0])',
             lambda: f'ex = ex.reshape(data=(5, 4){ {"softmax": ", label=(5,)"}.get(kind, ", label=(5, 3)") if has else ""}, partial_shaping=True, allow_up_sizing=True)', 'for a in ex.aux_dict.values():\n    a[:] = 0.5', 'nd.waitall()',
             'v = ex.outputs[0][0:1]; see(v)', 'see(nd.norm(ex.outputs[0]))', f'with autograd.record():\n    q = (A(3, 5, 4) * ex.arg_dict["data"]).sum()' if False else 'see(type(ex.outputs[0]) is nd.NDArray)', 'ex.arg_arrays[1][:] = ex.arg_arrays[1] * 0.5']
    return Program(tuple(setup), _iterations(g, base, extra), (S('see(ex.outputs)'), S('see([ex.arg_dict[k] for k in sorted(ex.arg_dict)])'), S('see([ex.grad_dict[k] for k in sorted(ex.grad_dict)])'),
                                                               S('see([ex.aux_dict[k] for k in sorted(ex.aux_dict)])'), S('see(keep)')), 'executor', modes=('plain',))


def _iterations(g, base, extra, often=0.6):
    r, found = g.r, []
    for _ in range(r.randint(3, 7)):
        texts = [t() if callable(t) else t for t in base]
        if r.random() < often:
            for _ in range(r.choice((1, 1, 2, 3))):
                t = r.choice(extra)
                texts.insert(r.randint(0, len(texts)), t() if callable(t) else t)
        if r.random() < 0.1:
            texts.pop(r.randrange(len(texts)))
        found.append(tuple(statement(part) for t in texts for part in _apart(t)))
    return tuple(found)


SETTERS = ("('sgd', {'learning_rate': 0.05})", "('sgd', {'learning_rate': 0.05, 'momentum': 0.9})", "('adam', {'learning_rate': 0.02, 'epsilon': 0.001})")


def module(g):
    r = g.r
    if r.random() < 0.3:
        return bucketing(g)
    made, kind, norm = _symbol(g)
    if kind == 'plain':
        made, kind, norm = _symbol(g)
    has = kind != 'plain'
    label = {'softmax': '(5,)'}.get(kind, '(5, 3)')
    names = "['label']" if has else 'None'
    optimizer = r.choice(SETTERS)
    setup = [*made, S(f"mod = mx.mod.Module(out, data_names=['data'], label_names={names}, context=CTX)"),
             S(f"mod.bind(data_shapes=[('data', (5, 4))], label_shapes={f'[({chr(39)}label{chr(39)}, {label})]' if has else None}, for_training=True, inputs_need_grad={r.random() < 0.3})"),
             S('mod.init_params(Fixed())'), S(f'mod.init_optimizer(optimizer={optimizer[1:].split(",", 1)[0]}, optimizer_params={optimizer[1:-1].split(",", 1)[1]})'), S('keep = []'),
             S("metric = mx.metric.create('acc')" if kind == 'softmax' else "metric = mx.metric.create('mse')")]

    def batch(size=5):
        label_ = f'[{_label(kind, r.randint(0, 99), size)}]' if has else 'None'
        return f'batch = mx.io.DataBatch([A({r.randint(0, 99)}, {size}, 4)], {label_})'
    back = 'mod.backward()' if has else 'mod.backward([A(4, *o.shape) for o in mod.get_outputs()])'
    base = r.choice(([batch, 'mod.forward(batch, is_train=True)', back, 'mod.update()'], [batch, 'mod.forward_backward(batch)', 'mod.update()']) if has else ([batch, 'mod.forward(batch, is_train=True)', back, 'mod.update()'],))
    params = '[a for p in mod.get_params() for _, a in sorted(p.items())]'
    extra = ['see(mod.get_outputs())', f'see({params})', 'mod.update_metric(metric, batch.label); see(float(metric.get()[1]))' if has and kind != 'make' else 'see(mod.get_outputs()[0].shape)', 'mod.forward(batch, is_train=False); see(mod.get_outputs())',
             lambda: batch(3) + '\nmod.forward(batch, is_train=False)\nsee(mod.get_outputs())', lambda: batch(8) + f'\nmod.forward(batch, is_train=True)\n{back}\nmod.update()', lambda: batch(3) + f'\nmod.forward(batch, is_train=True)\n{back}', 'mod.forward(batch)', back, 'mod.update()',
             'keep.append(mod.get_outputs()[0])', 'see(keep)', 'o = mod.get_outputs()[0]; o[:] = 1', 'arg, aux = mod.get_params(); mod.set_params(arg, aux)', "arg, aux = mod.get_params(); arg = {k: v * 0.5 for k, v in arg.items()}; mod.set_params(arg, aux)",
             "arg, aux = mod.get_params(); mod.init_params(Fixed(), arg_params=arg, aux_params=aux, force_init=True)", 'see(mod.get_input_grads())', 'mod.init_params(mx.init.Constant(0.125), force_init=True)', "mod.save_optimizer_states(FOLDER + '/s')", "mod.load_optimizer_states(FOLDER + '/s')",
             "mod.save_checkpoint(FOLDER + '/c', 1); see(mx.model.load_checkpoint(FOLDER + '/c', 1)[1]['fc2_weight'])", "mod.init_optimizer(optimizer='sgd', optimizer_params={'learning_rate': 0.02}, force_init=True)",
             "see([a for l in mod._exec_group.grad_arrays for a in l])", "for l in mod._exec_group.grad_arrays:\n    for a in l:\n        if a is not None:\n            a[:] = a * 0.5", 'nd.waitall()', "mod._optimizer.lr = 0.01", 'arg, aux = mod.get_params(); arg["fc2_weight"][:] = 0',
             f"mod.reshape([('data', (3, 4))], {f'[({chr(39)}label{chr(39)}, {label.replace(chr(53), chr(51), 1)})]' if has else None})", 'see(mod.predict(mx.io.NDArrayIter(A(6, 10, 4), batch_size=5)))' if not has else 'see(mod.output_shapes)']
    return Program(tuple(setup), _iterations(g, base, extra), (S('see(mod.get_outputs())'), S(f'see({params})'), S('see(keep)')), 'module', modes=('plain',))


def bucketing(g):
    r = g.r
    norm = r.random() < 0.3
    lines = ['def make(key):', "    data = mx.sym.Variable('data')", "    h = mx.sym.Embedding(data, input_dim=7, output_dim=4, name='embed')", '    h = mx.sym.mean(h, axis=1)',
             f"    h = mx.sym.FullyConnected(h, num_hidden=5, no_bias={norm}, name='fc')", *(["    h = mx.sym.BatchNorm(h, fix_gamma=False, name='bn')"] if norm else []),
             "    h = mx.sym.FullyConnected(mx.sym.tanh(h) * key, num_hidden=3, name='fc2')", "    return mx.sym.SoftmaxOutput(h, mx.sym.Variable('label'), name='softmax'), ('data',), ('label',)"]
    optimizer = r.choice(SETTERS)
    setup = [statement('\n'.join(lines)), S('mod = mx.mod.BucketingModule(make, default_bucket_key=6, context=CTX)'), S("mod.bind([('data', (4, 6))], [('label', (4,))])"), S('mod.init_params(Fixed())'),
             S(f'mod.init_optimizer(optimizer={optimizer[1:].split(",", 1)[0]}, optimizer_params={optimizer[1:-1].split(",", 1)[1]})'), S("metric = mx.metric.create('acc')"), S('keep = []')]

    def batch(size=4):
        key = r.choice((6, 6, 3, 2))
        return (f"batch = mx.io.DataBatch([ints({r.randint(0, 99)}, 7, {size}, {key})], [ints({r.randint(0, 99)}, 3, {size})], bucket_key={key}, "
                f"provide_data=[('data', ({size}, {key}))], provide_label=[('label', ({size},))])")
    base = [batch, 'mod.forward(batch, is_train=True)', 'mod.backward()', 'mod.update()']
    params = '[a for p in mod.get_params() for _, a in sorted(p.items())]'
    extra = ['see(mod.get_outputs())', f'see({params})', 'mod.update_metric(metric, batch.label); see(float(metric.get()[1]))', 'mod.forward(batch, is_train=False); see(mod.get_outputs())', 'keep.append(mod.get_outputs()[0])', 'see(keep)', 'mod.update()', 'mod.backward()',
             lambda: batch() + '\nmod.forward(batch, is_train=False)\nsee(mod.get_outputs())', 'arg, aux = mod.get_params(); mod.set_params({k: v * 0.5 for k, v in arg.items()}, aux)', 'mod.forward(batch)']
    return Program(tuple(setup), _iterations(g, base, extra), (S('see(mod.get_outputs())'), S(f'see({params})'), S('see(keep)')), 'module', modes=('plain',))


def kvstore(g):
    r = g.r
    setup = [S(f"kv = mx.kv.create('{r.choice(('local', 'device'))}')"), S('a, b = A(1, 3, 4), A(2, 3, 4)'), S('kv.init(3, A(5, 3, 4))'), S("kv.init(4, A(6, 2))"), S('out = nd.zeros((3, 4))'), S('small = nd.zeros((2,))')]
    how = r.random()
    if how < 0.3:
        setup.append(S(f'kv.set_optimizer(mx.optimizer.{r.choice(("SGD(learning_rate=0.1)", "SGD(learning_rate=0.1, momentum=0.9)", "Adam(learning_rate=0.05, epsilon=0.001)"))})'))
    elif how < 0.6:
        setup.append(statement('def updater(key, given, stored):\n    stored += given * 2'))
        setup.append(S('kv._set_updater(updater)'))
    setup += [S('net = nn.Dense(3, in_units=4)'), S('net.initialize(Fixed())'), S('H(net)'), S("kv.init(5, net.weight.data())"), S('keep = []')]
    base = r.choice((['kv.push(3, a)', 'kv.pull(3, out=out)', 'see(out)'], ['kv.push(3, [a, b])', 'kv.pull(3, out=[out, b])'], ['kv.push([3, 4], [a, nd.ones((2,))])', 'kv.pull([3, 4], out=[out, small])', 'see(out, small)'],
                     ['with autograd.record():\n    l = (net(a) ** 2).sum()', 'l.backward()', 'kv.push(5, net.weight.grad())', 'kv.pull(5, out=net.weight.data())'], ['kv.pushpull(3, a, out=out)', 'see(out)']))
    extra = ['a[:] = a * 2', 'a *= 0.5', 'see(a, b)', 'see(out)', 'kv.pull(3, out=out); see(out)', 'kv.push(3, b)', 'out[:] = 0', 'kv.pull(3, out=a)', 'kv.push(3, out)', 'kv.pull(5, out=out); see(out)', 'keep.append(out)', 'see(keep)', 'a = A(8, 3, 4)', 'b = a', 'kv.push(3, [a, a])', 'kv.pushpull(3, a)',
             'kv.pull(4, out=small); see(small)', 'kv.push(4, nd.ones((2,)))', 'with autograd.record():\n    l = net(a)\nl.backward()\nkv.push(5, net.weight.grad())\nsee(net.weight.grad())', 'kv.broadcast(7, a, out=out); see(out)', 'kv.push(3, nd.ones((2, 2)))', 'kv.pull(99, out=out)', 'kv.init(3, a)',
             'with autograd.record():\n    o = net(a)\nkv.push(3, [o.T.reshape((3, 4)) if False else b, o.detach().reshape((-1,))[0:1].broadcast_to((12,)).reshape((3, 4))])', 'a[:] = 1; kv.pull(3, out=out); see(out)']
    return Program(tuple(setup), _iterations(g, base, extra), (S('kv.pull(3, out=out); see(out)'), S('see(a, b)'), S('everything(net)'), S('see(keep)')), 'kvstore')
