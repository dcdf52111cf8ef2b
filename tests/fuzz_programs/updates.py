"""Programs of optimizers by themselves: updates of several weights, whose numbers, counts and states change on the way.

Left out is what 1.9.1 refuses (other dtypes than float32 in many of its rules) or does wrongly (docs/en/optimizers.md).
"""
from .loops import made, repeated
from .program import Program, lines

OPTIMIZERS = lines('''
    'sgd'
    'sgd', momentum=0.9
    'sgd', momentum=0.5, wd=0.1, clip_gradient=0.1
    'sgd', momentum=0.9, lazy_update=False
    'nag', momentum=0.5, wd=0.1
    'nag', wd=0.1
    'lbsgd', wd=0.1
    'lbsgd', momentum=0.5, wd=0.1
    'signum', wd_lh=0.01
    'adam', epsilon=0.001
    'adam', wd=0.1, clip_gradient=0.1
    'adagrad', eps=0.001
    'adadelta', rho=0.5, wd=0.1
    'rmsprop', gamma1=0.5
    'rmsprop', centered=True, clip_weights=0.5
    'ftrl', lamda1=0.1, beta=0.5
    'ftml', beta1=0.3
    'adamax', beta1=0.5
    'nadam', epsilon=0.001, schedule_decay=0.01
    'nadam', epsilon=0.001, clip_gradient=0.1
    'dcasgd', wd=0.1
    'lamb', epsilon=0.001
''')
SCHEDULES = ('', '', ', lr_scheduler=mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.2)',
             ', lr_scheduler=mx.lr_scheduler.PolyScheduler(8, 0.2, final_lr=0.01)',
             ', lr_scheduler=mx.lr_scheduler.CosineScheduler(6, 0.2, 0.01, warmup_steps=2)')
BASE = ('updater(index, grads, weights)', 'updater(index, grads, weights)',
        'for i in index:\n    updater(i, grads[i], weights[i])')
BETWEEN = lines('''
    see(weights)
    see(held())
    see(grads)
    updater(4, grads[4], weights[4])
    updater(1, grads[1], weights[1])
    updater([1, 2], [grads[1], grads[2]], [weights[1], weights[2]])
    for i in index:
    |     grads[i][:] = A({n} + i, *grads[i].shape)
    grads[3] *= 0.5
    grads[3][:] = 0
    weights[1][:] = 0.5
    weights[1] *= 0.5
    weights[4][0:1] = 0.25
    weights = tuple(w.copy() for w in weights)
    grads = tuple(g * 2 for g in grads)
    v = weights[4][1:2]
    | v[:] = 0
    optimizer.lr = {rate}
    optimizer.wd = {few}
    optimizer.momentum = 0.0
    optimizer.momentum = 0.5
    optimizer.beta1 = 0.7
    optimizer.clip_gradient = 0.05
    optimizer.clip_gradient = None
    optimizer.set_lr_mult({1: 0.5, 'c_gamma': 2})
    optimizer.set_lr_mult({})
    optimizer.set_wd_mult({1: 0.5, 4: 2.0})
    optimizer.idx2name = {0: 'x_weight', 1: 'y_bias', 2: 'z_weight'}
    optimizer.lr_scheduler = mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.3)
    optimizer.lr_scheduler = None
    optimizer.begin_num_update = 4
    optimizer.num_update = 6
    optimizer._index_update_count[2] = 7
    see(optimizer.num_update, optimizer.learning_rate, sorted(optimizer._index_update_count.items()))
    updater = mx.optimizer.get_updater(optimizer)
    for s in held():
    |     s[:] = 0.1
    for s in held():
    |     s *= 0.5
    updater.states.clear()
    optimizer = pickle.loads(pickle.dumps(optimizer))
    | updater.optimizer = optimizer
    nd.waitall()
''')
SPARSE = lines('''
    rows = nd.sparse.row_sparse_array((A({n}, 2, 4), [0, 2]), shape=(3, 4)); updater(9, rows, wide)
    rows = nd.sparse.row_sparse_array((A({n}, 1, 4), [1]), shape=(3, 4)); updater(9, rows, wide)
    rows[:] = 0; updater(9, rows, wide)
    see(wide)
    wide[:] = A({n}, 3, 4)
''')


def updates(g):
    r = g.r
    chosen = r.choice(OPTIMIZERS)
    # 1.9.1 has no kernel for rows of the others, or computes with copies of them
    sparse = chosen.startswith(("'sgd'", "'adam'", "'adagrad'", "'nag', wd", "'lbsgd'")) and r.random() < 0.5
    names = ", param_idx2name={0: 'a_weight', 1: 'b_bias', 2: 'c_gamma'}" if r.random() < 0.3 else ''
    setup = made(f'''
        optimizer = mx.optimizer.create({chosen}, learning_rate={r.choice((0.05, 0.2))}{r.choice(SCHEDULES)}{names})
        updater = mx.optimizer.get_updater(optimizer)
        index = (0, 1, 2, 3, 4, 5)
        weights = tuple(A(i, *s) for i, s in enumerate([(3, 4), (5,), (2, 2), (4,), (3,), (2, 3)]))
        grads = tuple(A(i + 10, *w.shape) for i, w in enumerate(weights))
        wide, rows = A(7, 3, 4), nd.sparse.row_sparse_array((A(8, 1, 4), [1]), shape=(3, 4))
        def held():
        |     found, waiting = [], [s for _, s in sorted(updater.states.items())]
        |     while waiting:
        |         s = waiting.pop(0)
        |         if isinstance(s, (list, tuple)):
        |             waiting = list(s) + waiting
        |         elif s is not None:
        |             found.append(s)
        |     return found
    ''')
    extra = [text.replace('{rate}', str(r.choice((0.01, 0.1, 0.3)))).replace('{few}', str(r.choice((0.0, 0.1))))
             for text in BETWEEN]
    if chosen.startswith("'lamb'"):
        extra = [text for text in extra if 'grads[3][:] = 0' not in text]       # divides by their length
    if 'momentum=' not in chosen and 'signum' not in chosen:
        extra = [text for text in extra if 'momentum = ' not in text]           # 1.9.1 misses the state
    if sparse:
        extra = [text for text in extra if 'optimizer.wd' not in text or 'adagrad' not in chosen] + SPARSE * 2
    final = made('''
        see(weights)
        see(held())
        see(wide)
    ''')
    return Program(tuple(setup), repeated(g, [r.choice(BASE)], extra, 0.8), tuple(final), 'updates', modes=('plain',))
