"""Programs of arrays by themselves: variables, views, writes and gradients without networks."""
from .program import Program, lines, statements
from .program import Statement as S

OPERATORS = lines('''
    h = a * b
    h = a + b * 2
    h = nd.dot(a, b.T)
    h = a.reshape((4, 3))
    h = a[0:2]
    h = a[1]
    h = a * c
    h = nd.concat(a, b, dim=0)
    h = a.T
    h = a.exp() * b
    h = nd.where(a > 0, a, b)
    h = nd.softmax(a) * b
    h = a.detach() * b
    h = nd.BlockGrad(a) + b
    h = a.sum(axis=0)
    h = a ** 2 / (b ** 2 + 1)
    h = nd.stack(a, b)
    h = a.flatten() * 2
    h = a.clip(-0.5, 0.5)
    h = nd.take(a, nd.array([0, 2]))
    h = a.expand_dims(0) - b
    h = nd.maximum(a, b)
    h = a.copy() * b
    h = a.as_in_context(CTX) * 2
    h = nd.identity(a) * b
    h = a.norm(axis=1)
    h = nd.elemwise_mul(a, a)
    h = nd.slice_axis(a, axis=1, begin=0, end=2)
''')
STEPS = lines('''
    h = h * 2
    h = h.tanh()
    h = h + 1
    h = -h
    h = h / 3
    h = h.reshape((-1,))
    h = h * h
    h = h.sum()
    with autograd.pause():
    |     keep.append(h * 2)
    see(h)
    h = h.square().mean()
    g = h
    h = h[0:1]
''')
BACK = lines('''
    h.backward()
    h.backward()
    h.backward(retain_graph=True)
    h.backward(nd.ones(h.shape) * 2)
    autograd.backward([h])
    with autograd.record():
    |     q = autograd.grad(nd.square(a) + nd.sin(a), [a], create_graph=True)[0]
    |     q = nd.square(q).sum()
    | q.backward()
    see(autograd.grad(h, [a], retain_graph=True))
''')
BETWEEN = lines('''
    see(a.grad)
    see(b.grad)
    see(a)
    see(h)
    see(v)
    see(c)
    see(t)
    t *= 2; see(c)
    t[:] = 1; see(c)
    t = c.T
    t = a.T
    t = c.T.T
    v = a[0:1]
    v = a.reshape((-1,))
    v = a[1]
    v = h
    v = a.T
    v = a.detach()
    v = a.grad
    v = c[1:3]
    v = nd.transpose(c)
    v = c.transpose()
    v = nd.identity(c)
    v = c.flatten()
    v = c.reshape((2, 2))
    v = c.expand_dims(0)
    v = c.squeeze()
    v = c.astype('float32')
    v = c.astype('float32', copy=False)
    v = c.as_in_context(CTX)
    v = c.copy()
    v = c.as_nd_ndarray()
    v = c.reshape((-1,))[0:2]
    v = nd.reshape(c, shape=(2, 2))
    v = c.broadcast_to((4,))
    v = nd.swapaxes(a, 0, 1)
    v = a[:, 0:2]
    v = a[0][1:3]
    v = a[1:3].reshape((-1,))
    v = c.as_np_ndarray()
    v = a[0:3]
    v = c.reshape_like(c)
    v = nd.stop_gradient(c)
    v = c.slice(begin=(0,), end=(2,))
    v[:] = 7
    v *= 2
    v += 1
    v[0] = 3
    a[:] = a * 0.5
    a *= 0.5
    a[0:1] = 1
    c[:] = 2; see(t, v)
    c += 1
    a.grad[:] = 0
    a.attach_grad()
    a.attach_grad('add')
    a.attach_grad('null')
    a = A(5, 3, 4)
    b = a
    b = a.copy()
    keep.append(a.grad)
    see(keep)
    see(type(v).__name__, v.shape)
    a.grad[:] = 5; see(keep)
    b[:] = 1
    see(a.detach().grad)
    a.copyto(b)
    nd.elemwise_add(a, b, out=b)
    a += b
    b -= a * 0.1
    c[1:3] = nd.ones((2,))
    c[nd.array([0, 1])] = 5
    a[:-1] = a[1:]
    c[0:3] = c[1:4]
    a[nd.array([2, 1])] = a[:2]
    a[::2] = a[:2]
    v = a; v **= 2; see(a, v)
    c **= 2; see(c, t)
    a.wait_to_read()
    with autograd.record():
    |     with autograd.pause():
    |         a *= 0.5
    |     h = (a * b).sum()
    with autograd.record():
    |     h = a * b
    |     with autograd.pause():
    |         c *= 2
    |     h = (h * c).sum()
    | h.backward()
    nd.waitall()
''')


def arrays(g):
    r = g.r
    setup = [S(line) for line in lines(f'''
        a = A(1, 3, 4)
        b = A(2, 3, 4)
        c = A(3, 4)
        a.attach_grad()
        b.attach_grad('{r.choice(('write', 'add', 'null'))}')
        keep = []
        v = a[0:1]
        h = a.sum()
        t = c.T
    ''')]

    def body():
        found = [r.choice(OPERATORS), *(r.choice(STEPS) for _ in range(r.randint(0, 3)))]
        return S('with autograd.record():', tuple(s for text in found for s in statements(text)))
    usual, back = body(), r.choice(BACK)
    some = r.sample(BETWEEN, 8)
    iterations = []
    for _ in range(r.randint(3, 7)):
        made = [[body() if r.random() < 0.3 else usual], statements(r.choice(BACK) if r.random() < 0.2 else back)]
        for _ in range(r.choice((0, 1, 2, 3))):
            made.insert(r.randint(0, len(made)), statements(r.choice(some)))
        iterations.append(tuple(s for part in made for s in part))
    final = (S('see(a, b, c, v, t)'), S('see(a.grad, b.grad)'), S('see(keep)'))
    return Program(tuple(setup), tuple(iterations), final, 'arrays', modes=('plain',))
