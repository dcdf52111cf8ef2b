"""Training on several contexts."""
from .loops import made, repeated
from .networks import random_net
from .program import Program, lines
from .program import Statement as S

BASE = lines('''
    with autograd.record():
    |     losses = [loss(net(x), y) for x, y in zip(xs, ys)]
    | autograd.backward(losses)
    with autograd.record():
    |     losses = [loss(net(x), y) for x, y in zip(xs, ys)]
    | for l in losses:
    |     l.backward()
    losses = []
    | for x, y in zip(xs, ys):
    |     with autograd.record():
    |         l = loss(net(x), y)
    |     l.backward()
    |     losses.append(l)
''')
BETWEEN = lines('''
    see(losses)
    see(W(net, 0).list_grad())
    see(W(net, 1).list_data())
    see([net(x) for x in xs])
    trainer.allreduce_grads()
    | see(W(net, 0).list_grad())
    net.collect_params().zero_grad()
    W(net, 0).set_data(W(net, 0).data(CTXS[0]) * 0.5)
    W(net, 2).list_data()[-1][:] = 0.25
    trainer.set_learning_rate(0.02)
    P(net, 0).grad_req = 'null'
    P(net, 0).grad_req = 'write'
    W(net, 0).list_grad()[0][:] = 0.1
    H(net)
    H(net, False)
    net.collect_params().reset_ctx(CTXS[:1])
    | net.collect_params().reset_ctx(CTXS)
    net.save_parameters(FOLDER + '/p'); net.load_parameters(FOLDER + '/p', ctx=CTXS)
    trainer.save_states(FOLDER + '/s'); trainer.load_states(FOLDER + '/s')
    see([str(a.context) for a in W(net, 0).list_data()])
    loss._weight = 0.5
''')
STORES = ('', ", kvstore='local'", ", kvstore='local', update_on_kvstore=False", ', kvstore=None')


def devices(g):
    """A batch split over contexts; on a GPU there is one."""
    r = g.r
    setup, net = random_net(g, 'net', r.choice(('vector', 'custom', 'shared', 'picture')))
    setup = [S(s.text.replace('initialize(Fixed())', 'initialize(Fixed(), ctx=CTXS)'), s.body, s.simpler)
             for s in setup if not s.text.startswith('fill(')]
    optimizer = r.choice(("'sgd', {'learning_rate': 0.05}", "'sgd', {'learning_rate': 0.05, 'momentum': 0.9}",
                          "'adam', {'learning_rate': 0.02, 'epsilon': 0.001}"))
    setup = [S("CTXS = [mx.cpu(0), mx.cpu(1)] if CTX.device_type == 'cpu' else [CTX]"), *setup, *made(f'''
        loss = gluon.loss.{r.choice(('L2Loss', 'HuberLoss', 'L1Loss'))}()
        trainer = gluon.Trainer(net.collect_params(), {optimizer}{r.choice(STORES)})
        losses = []
    ''')]
    update = r.choice(('trainer.step(8)', 'trainer.step(8)', 'trainer.step(8, ignore_stale_grad=True)'))
    data = g.data(net, 8, 11).replace('11', '{n}', 1)
    base = [f'xs = gluon.utils.split_and_load({data}, CTXS)', 'ys = gluon.utils.split_and_load(A({m}, 8, 3), CTXS)',
            r.choice(BASE), update]
    final = made('''
        for p in net.collect_params().values():
        |     see(p.list_data())
        |     if p.grad_req != 'null':
        |         see(p.list_grad())
        see(losses)
    ''')
    return Program(tuple(setup), repeated(g, base, BETWEEN), tuple(final), 'devices', net.random)
