"""Modules whose data are csr matrices: gradients by rows or dense ones, and updates of the rows alone.

Left out is what 1.9.1 refuses: grad_req='add' of such products, and updates of row sparse weights with rows missing.
"""
from .loops import made, repeated
from .program import Program, lines

# what stands between the weight and the product; those that leave a row sparse weight's gradient as it is for both
BETWEEN = ('w', 'w', 'w * 2', '-w', '1 - w', 'w + 0.5', 'sym.exp(w)', 'sym.square(w)', 'sym.relu(w)', 'sym.tanh(w)',
           'w + sym.var("v_weight", shape=(6, 2))', 'w * sym.var("v_weight", shape=(6, 2))', 'w * 2 + sym.exp(w)',
           'sym.reshape(w, shape=(6, 2))')
OPTIMIZERS = ("'sgd', {'momentum': 0.9}", "'sgd', {'wd': 0.1}", "'sgd', {'momentum': 0.5, 'wd': 0.1}",
              "'sgd', {'momentum': 0.9, 'wd': 0.1, 'lazy_update': False}", "'adam', {'wd': 0.1, 'epsilon': 0.01}",
              "'nag', {'wd': 0.1}", "'adagrad', {'eps': 0.01}")
BASE = ('mod.forward_backward(batch({n})); mod.update()',
        'mod.forward(batch({n}), is_train=True)\nmod.backward()\nmod.update()')
EXTRA = lines('''
    mod.forward(batch({n}), is_train=False); see(mod.get_outputs())
    see(mod.get_outputs())
    see(mod.get_params()[0]['w_weight'])
    see([(a.stype, a) for part in mod._exec_group.grad_arrays for a in part])
    mod.update()
    arg, aux = mod.get_params(); mod.set_params({k: v * 0.5 for k, v in arg.items()}, aux)
    mod.init_params(Fixed({n}), force_init=True)
''')


def sparse_models(g):
    r = g.r
    between, chosen = r.choice(BETWEEN), r.choice(OPTIMIZERS)
    setup = made(f'''
        sym = mx.sym
        w = sym.var('w_weight', stype='{r.choice(('default', 'default', 'row_sparse'))}', shape=(6, 2))
        out = sym.LinearRegressionOutput(sym.dot(sym.var('x', stype='csr'), {between}), sym.var('label'))
        mod = mx.mod.Module(out, data_names=['x'], label_names=['label'], context=CTX)
        mod.bind([('x', (4, 6))], [('label', (4, 2))])
        mod.init_params(Fixed())
        mod.init_optimizer({r.choice(("None", "'local'", "'device'"))}, {chosen})
        mod._optimizer.lr = {r.choice((0.1, 0.02))}
        def batch(n):
        |     x = numbers(n, (4, 6)) * (np.random.RandomState(n).rand(4, 6) < 0.3)
        |     return mx.io.DataBatch([nd.array(x).tostype('csr')], [A(n + 1, 4, 2)])
        mod.forward(batch(0), is_train=True); mod.backward()
    ''')
    final = made('''
        see([a for part in mod.get_params() for _, a in sorted(part.items())])
    ''')
    iterations = repeated(g, [r.choice(BASE)], EXTRA, 0.6)
    return Program(tuple(setup), iterations, tuple(final), 'sparse_models', modes=('plain',))
