"""Loops and branches whose bodies use what one layer gives for several inputs, and custom operators called twice."""
from .assembled import BETWEEN_CALLS
from .loops import made, repeated
from .program import Program, lines
from .program import Statement as S

# what a body does with u and v, two results of one layer, and x, an input of the same shape
BODIES = lines('''
    o, s = F.contrib.foreach(lambda d, s: (d * u + v + s, s + u - v), F.stack(x, u, axis=0), x)
    o, s = F.contrib.foreach(lambda d, s: (d + s[0] + s[1] * 2, [s[0] * 0.5, s[1] + 1]), F.stack(x, v, axis=0), [u, v])
    o, s = F.contrib.foreach(lambda d, s: (d[0] + d[1] * s[0], [s[1], s[0] * u]), [F.stack(x, v, axis=0)] * 2, [v, v])
    o, s = F.contrib.while_loop(lambda i, a: i < 2, lambda i, a: (a * u + v, [i + 1, a + u - v]), [F.zeros((1,)), x], 2)
    o, s = F.contrib.while_loop(lambda a, b: F.sum(a * a) >= 0, lambda a, b: (a * 2 + b, [b * 0.5, a + v]), [u, u], 2)
    o = s = F.contrib.cond(F.sum(x) > 0, lambda: u * 2 + v, lambda: u * v)
    o = s = F.contrib.cond(F.sum(u) > F.sum(v), lambda: u - v * x, lambda: v)
    o = s = F.Custom(u, op_type='squared') * F.Custom(v, op_type='squared')
    o, s = F.maximum(u, w), F.maximum(v, w) * x
''')


def bodies(g):
    setup = made(f'''
        class Squared(mx.operator.CustomOp):
        |     def forward(self, is_train, req, in_data, out_data, aux):
        |         self.assign(out_data[0], req[0], in_data[0] * in_data[0])
        |     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        |         self.assign(in_grad[0], req[0], out_grad[0] * in_data[0] * 2)
        | @mx.operator.register('squared')
        | class SquaredProp(mx.operator.CustomOpProp):
        |     def create_operator(self, ctx, shapes, dtypes):
        |         return Squared()
        class Twice(gluon.HybridBlock):
        |     def __init__(self):
        |         super().__init__()
        |         with self.name_scope():
        |             self.layer = nn.Dense(4, in_units=4)
        |             self.w = self.params.get('w', shape=(3, 4))
        |     def hybrid_forward(self, F, x, w):
        |         u, v = self.layer(x), self.layer(x * 2)
        |         {g.r.choice(BODIES)}
        |         s = s if isinstance(s, (list, tuple)) else [s]
        |         return F.tanh(F.concat(F.reshape(o, (-1, 4)), F.reshape(s[-1], (-1, 4)) + w, dim=0))
        net = Twice()
        net.initialize(Fixed())
        H(net)
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {{'learning_rate': 0.05, 'momentum': 0.9}})
        keep = []
    ''')
    base = ['x = A({n}, 3, 4)',
            'with autograd.record():\n    l = (net(x) ** 2).mean()\n    m = (net(x * 2) ** 2).mean()', 'l.backward()',
            'm.backward()', 'trainer.step(1, ignore_stale_grad=True)', 'see(l)']
    setup.append(S('x = A(1, 3, 4)', needed=True))
    extra = [b for b in BETWEEN_CALLS if '2, 4' not in b]       # all calls have three rows
    return Program(tuple(setup), repeated(g, base, extra, 0.8), tuple(made('''
        see(net(x))
        everything(net)
        see(keep)
    ''')), 'bodies')
