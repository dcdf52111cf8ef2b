"""Programs about the memory of results: one array is written, and all others are looked at.

Blocks with several outputs, of which some are others in another shape; operators between blocks; gradients of equal
values, small and large; results of `autograd.grad`; copies.
"""
from .program import Program, lines, statements
from .program import Statement as S

# h and g are arrays of the shape of x and w
PARTS = lines('''
    h
    g
    h + g
    F.flatten(h)
    F.reshape(h, (-1,))
    h.reshape((-1,))
    F.expand_dims(h, axis=0)
    F.identity(h)
    F.BlockGrad(h)
    F.cast(h, 'float32')
    F.squeeze(h)
    F.transpose(h)
    F.swapaxes(h, 0, 1)
    F.slice_axis(h, axis=0, begin=0, end=1)
    F.split(h, 2, axis=1)[1]
    F.add_n(h)
    F.add_n(h, g)
    F.concat(h, g, dim=0)
    F.broadcast_like(h, h)
    F.slice_like(h, h)
    F.sum(F.expand_dims(h, axis=0), axis=0)
    F.clip(h, -100, 100)
    F.stack(h, axis=0)
    F.exp(h).reshape((-1,))
    F.exp(h)
    h * g
    h * 1
    F.broadcast_mul(h, F.exp(h).sum().reshape((1, 1)))
''')
FIRST = lines('''
    h, g = x, w
    h, g = x * 2, w
    h, g = x + w, w
    h, g = F.dot(x, F.transpose(w)), x
    h, g = x * w, x + w
    h = g = F.tanh(x) + w
    h, g = F.exp(x), w - x
''')
BETWEEN = lines('''
    v = outputs[0].expand_dims(0)
    v = outputs[0].flatten()
    v = outputs[0].squeeze()
    v = outputs[0].astype('float32')
    v = outputs[0].reshape((-1,))
    v = outputs[0][0:1]
    v = outputs[0].T
    v = outputs[-1] + outputs[-1]
    v = nd.array(outputs[0])
    v = nd.array(x)
    v = outputs[0].copy()
    v = outputs[0].detach()
    v = nd.identity(outputs[-1])
    v = nd.BlockGrad(outputs[-1])
    v = outputs[-1].slice_axis(axis=0, begin=0, end=1)
    v = outputs[-1].as_in_context(CTX)
''')
BACK = lines('''
    autograd.backward([*outputs, v])
    outputs[0].backward()
    v.backward()
    autograd.backward(outputs, [b.copy() for b in outputs])
    (v * v).backward()
    found = autograd.grad(outputs[0], [x, w], heads(outputs[0]))
    found = autograd.grad(list(outputs) + [v], [x, w], retain_graph=True)
    pass
''')
WRITE = ('{a}[:] = {n}', '{a} *= {n}', '{a} += {n}', '{a}[0] = {n}')


def results(g):
    r = g.r
    count = r.choice((1, 2, 2, 3))
    body = (S(r.choice(FIRST)), S(f'return {", ".join(r.sample(PARTS, count))}{"," if count == 1 else ""}'))
    rows, columns = r.choice(((2, 4), (2, 4), (190, 190)))
    if '.T' in body[0].text or 'dot' in body[0].text or 'transpose' in body[1].text:
        rows = columns
    setup = [
        S('class Several(gluon.HybridBlock):', (S('def hybrid_forward(self, F, x, w):', body),)),
        S('net = Several()'), S('H(net)'),
        S(f'x, w = A(1, {rows}, {columns}), A(2, {rows}, {columns})'),
        S(f"x.attach_grad('{r.choice(('write', 'write', 'add'))}')"), S('w.attach_grad()'), S('found, v = [], x'),
        S('def heads(array):', tuple(statements('given.append(array.detach() + 1)\nreturn given[-1]'))),
        S('given = []'),
        S('def corners(*arrays):', (S('see(*[a.reshape((-1,))[0:3] for a in arrays if a is not None])'),))]
    names = ['outputs[0]', 'outputs[-1]', 'x', 'w', 'v', 'x.grad', 'w.grad', 'found[0]', 'found[-1]', 'given[-1]']
    usual, back, writes = r.choice(BETWEEN), r.choice(BACK), r.sample(names[:7], 2)
    iterations = []
    for number in range(r.randint(4, 8)):
        made = ['given.clear()', 'found = []']
        between = usual if r.random() < 0.8 else r.choice(BETWEEN)
        if r.random() < 0.8:
            made += [f'with autograd.record():\n    outputs = net(x, w)\n    {between}',
                     back if r.random() < 0.8 else r.choice(BACK)]
        else:
            made += ['outputs = net(x, w)', between]
        for _ in range(r.choice((1, 2, 3))):
            name = r.choice(writes) if r.random() < 0.6 else r.choice(names)
            text = r.choice(WRITE).format(a='a', n=r.choice((0.5, 2, 3)))
            made.append(f'a = {name}\n{text}' if not name.startswith(('found', 'given')) else
                        f'if {name.split("[")[0]}:\n    a = {name}\n    {text}')
            made.append('corners(*outputs, x, w, v, x.grad, w.grad, *found, *given)')
        if r.random() < 0.5:
            made.append(f'x[:] = A({number + 5}, {rows}, {columns})')
        iterations.append(tuple(s for text in made for s in statements(text)))
    return Program(tuple(setup), tuple(iterations), (S('corners(x, w, x.grad, w.grad)'),), 'results')
