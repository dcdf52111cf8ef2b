"""What programs do on the way, as templates: where in an iteration each may stand, how often, and its text.

Places: b before the forward pass, i within `record`, m between `record` and `backward`, p after `backward`, e after the
update.  A line that begins with | goes on with the statement above it.  `{net}`, `{trainer}`, `{loss}` are names; `{P}`
is a parameter, `{W}` one with a gradient; `{n}` is a small number, `{B}` the batch size, `{x}` a new input, `{X}` one
of another batch size; `{v}` is one of the arrays that are there, `{call}` the call of a network on x, `{callX}` and
`{callz}` on others.
"""
from .program import lines, table

READS = table('''
imp   6 see(o)
imp   6 see(l)
imp   1 see(o.shape, l.shape)
imp   1 see(str(o.dtype), l.size)
imp   2 see(type(o) is nd.NDArray, type(l) is nd.NDArray)
imp   1 see(type({v}).__name__)
imp   2 see({v})
impe  1 see(type(x) is nd.NDArray, isinstance(x, nd.NDArray))
imp   1 see(repr(o).split('<')[-1])
imp   1 o.wait_to_read()
impe  1 nd.waitall()
imp   1 see(float(l.mean().asscalar()))
imp   1 see(len(o), o.ndim, str(o.context), o.stype)
imp   1 for row in o:
        |     see(row)
imp   1 see(o[0], o[-1])
imp   1 see(o.grad is None)
bimpe 2 see(x)
impe  3 see(x.grad)
bimpe 3 see({W}.grad())
bimpe 3 see({P}.data())
pe    2 everything({net})
mpe   1 see(float(l.asnumpy().sum()))
imp   1 see(o.astype("float64"))
mp    1 metric.update([y], [o]); see(float(metric.get()[1]))
imp   1 losses.append(l)
pe    1 see([k.mean() for k in losses[-2:]])
mp    1 see(pickle.loads(pickle.dumps(o)))
mp    1 see(copy.deepcopy(o))
mp    1 see(o.copy(), o.as_in_context(CTX))
mp    1 buffer = nd.zeros(o.shape); o.copyto(buffer); see(buffer)
mp    1 see(o.detach())
mp    1 see(in_thread(lambda: o.asnumpy()))
pe    1 see(in_thread(lambda: {W}.grad().asnumpy()))
imp   1 see(bool((o == o).min().asscalar()))
imp   1 see(o.sum(), o.T, o.reshape((-1,)))
e     1 see(states({trainer}))
mp    1 see(o.argmax(axis=1), o.max(), nd.norm(o))
m     1 del o
pe    1 o = l = None
bpe   1 see([p.grad_req for p in {net}.collect_params().values()])
bpe   1 see({P}.shape, str({P}.dtype))
pe    1 see({W}.list_grad()[0], {W}.list_data()[0])
pe    1 see({W}.data().grad)
mp    1 nd.save(FOLDER + '/a', [o, l, x]); see(nd.load(FOLDER + '/a'))
''')

VIEWS = table('''
mp    3 v = o[0:1]
i     2 v = o[0:1]
imp   2 v = o.reshape((-1,))
imp   1 v = o
imp   1 v = o[0]
bimpe 1 v = x[0:2]
bimpe 1 v = x.reshape((-1,))
pe    1 v = {W}.data()[0:1]
pe    1 v = {W}.grad()[0:1]
pe    1 v = {W}.grad()
bpe   1 v = {W}.data()
imp   1 v = l[0:1]
imp   1 v = o.detach()
imp   1 v = o.T
impe  1 v = l.reshape((-1,)).T
pe    5 v[:] = 7; see(o)
pe    2 v *= 2
pe    1 v **= 2; see(o, x)
pe    1 v += 1; see(o, l)
bimpe 2 see(v)
imp   1 v = o.expand_dims(0)
imp   1 v = nd.identity(o)
imp   1 v = o.flatten()
imp   1 v = nd.reshape(o, shape=(-1, 1))
imp   2 keep.append(o)
imp   1 keep.append({v})
imp   2 v = {v}
pe    2 {v}[:] = 3; see(x, o)
bimpe 2 see(keep[-1])
bimpe 1 see(keep[0])
pe    1 keep[-1][:] = 1
pe    1 keep[0] *= 2
i     2 if keep and keep[0].shape == o.shape:
        |     l = l + (o - keep[0]).mean()
i     1 if keep and keep[-1].shape == o.shape:
        |     o = o * keep[-1]
''')

WRITES = table('''
bpe   2 x[:] = {x}
bpe   1 x *= 2
bpe   1 base[:] = base * 0.5
bpe   1 x += 0.5
bpe   1 x[0] = 0.5
pe    2 o[:] = 7
pe    1 o *= 2
pe    1 l[:] = 0.5
pe    1 o[0:1] = 1; see(o)
bpe   3 {P}.set_data({P}.data() * 0.5)
bpe   2 {P}.data()[:] = {P}.data() * 0.5
bpe   1 d = {W}.data(); d *= 0.5
bpe   1 d = {W}.data(); d -= 0.01
bpe   1 {W}.data()[0:1] = 0.25
i     2 with autograd.pause():
        |     {W}.data()[:] = {W}.data() * 0.5
i     2 with autograd.pause():
        |     d = {W}.data()
        |     d *= 0.5
i     1 with autograd.pause():
        |     x[:] = x * 0.5
i     1 with autograd.pause():
        |     see(o * 2, {net}.name)
p     3 {W}.grad()[:] = {W}.grad() * 0.5
pe    1 {W}.zero_grad()
bpe   2 {net}.collect_params().zero_grad()
p     1 d = {W}.grad(); d *= 0.5
p     1 nd.clip({W}.grad(), -0.05, 0.05, out={W}.grad())
p     1 {W}.grad()[:] = 0
p     1 learned = [p for p in {net}.collect_params().values() if p.grad_req != 'null']
        | see(gluon.utils.clip_global_norm([p.grad() for p in learned], 0.1))
p     1 if x.grad is not None:
        |     x.grad[:] = 0
p     1 nd.sgd_update({W}.data(), {W}.grad(), lr=0.05, out={W}.data())
mp    1 y[:] = 1
m     1 x[:] = {x}
m     1 x *= 2
m     1 {P}.set_data({P}.data() * 0.5)
m     1 d = {W}.data(); d *= 0.5
m     1 o[:] = 7
m     1 l *= 2
''')

SETTINGS = table('''
be    2 {net}.collect_params().setattr('grad_req', '{req}')
bpe   3 {P}.grad_req = '{req}'
bpe   3 {W}.grad_req = '{req}'
bpe   1 {P}.lr_mult = {mult}
bpe   1 {P}.wd_mult = {mult}
bpe   2 {trainer}.set_learning_rate({rate})
be    1 {net}.collect_params().setattr('lr_mult', {mult})
be    2 {net}[0].collect_params().setattr('grad_req', '{req}')
bpe   3 {loss}._weight = {mult}
bpe   1 {loss}.{attribute}
be    2 H({net})
be    2 H({net}, False)
be    1 H({net}[0])
be    1 H({net}[0], False)
be    1 H({net}, static_alloc=True)
be    1 H({net}, static_alloc=False, static_shape=False)
be    1 H({net}, inline_limit=0)
e     1 {trainer}.save_states(FOLDER + '/states')
e     1 if os.path.exists(FOLDER + '/states'):
        |     {trainer}.load_states(FOLDER + '/states')
be    1 {net}.save_parameters(FOLDER + '/params')
be    1 if os.path.exists(FOLDER + '/params'):
        |     {net}.load_parameters(FOLDER + '/params')
be    1 {net}.save_parameters(FOLDER + '/now'); {net}.load_parameters(FOLDER + '/now')
be    1 {net}.initialize(Fixed(5), force_reinit=True)
be    1 {net}.initialize(Fixed(), force_reinit=True)
be    1 {trainer} = gluon.Trainer({net}.collect_params(), 'sgd', {{'learning_rate': 0.05, 'momentum': 0.5}})
be    1 {net}.collect_params().reset_ctx(CTX)
bpe   1 {trainer}._optimizer.wd = 0.01
bpe   1 {trainer}._optimizer.rescale_grad = 0.5
be    1 {net}.cast('float64'); {net}.cast('float32')
e     1 {trainer}._scale = 0.5
be    1 {P}.initialize(Fixed(7), force_reinit=True)
be    1 handle = {net}.register_forward_hook(lambda block, given, out: see(given[0]))
        | {call}
        | handle.detach()
''')

CALLS = table('''
bpe   4 {call}; see(o)
bpe   2 with autograd.train_mode():
        |     {call}
        | see(o)
bpe   1 with autograd.predict_mode():
        |     {call}
        | see(o)
bpe   1 with autograd.record(train_mode=False):
        |     {call}
        | see(o)
bpe   2 with autograd.record():
        |     {call}
bpe   2 {callX}; see(o)
bpe   1 with autograd.record():
        |     {callX}
        | o.backward()
bpe   2 with autograd.record():
        |     {call}
        | o.backward()
bpe   1 with autograd.record():
        |     {call}
        |     o = o * 2
        | see(o)
bpe   1 {net}(nd.ones((2, 3, 2, 1, 2, 7)))
i     1 nd.ones((2, 3)) + nd.ones((4, 5))
i     1 raise ValueError('in the middle')
bpe   1 with autograd.record():
        |     {call}
        |     raise ValueError('in the middle')
i     1 {net}(nd.ones((2, 3, 2, 1, 2, 7)))
i     2 with autograd.pause():
        |     held = o
        |     {call}
        |     see(o)
        |     o = held
i     2 with autograd.predict_mode():
        |     held = o
        |     {call}
        |     l = l + o.mean()
        |     o = held
i     1 with autograd.pause(train_mode=True):
        |     held = o
        |     {call}
        |     o = held
i     1 with autograd.train_mode():
        |     held = o
        |     {call}
        |     l = l + o.mean()
        |     o = held
bpe   1 with autograd.record():
        |     {call}
        |     q = (o * o).sum()
        | see(autograd.grad(q, {W}.data()))
bpe   1 z = {x}; z.attach_grad()
        | with autograd.record():
        |     {callz}
        |     q = (o * o).sum()
        | q.backward(); see(z.grad)
bpe   2 z = {x}; z.attach_grad()
        | with autograd.record():
        |     {callz}
        |     q = {lossz}
        | q.backward(); see(z.grad)
bpe   1 z = {x}; z.attach_grad()
        | with autograd.record():
        |     {callz}
        |     q = {lossz}
        | q.backward()
        | with autograd.record():
        |     {call}
        |     q = {lossz}
        | q.backward(); see(z.grad)
bpe   1 z = {x}; z.attach_grad()
        | with autograd.record():
        |     {callz}
        |     q = autograd.grad(o, z, create_graph=True, retain_graph=True)[0]
        |     q = nd.square(q).sum()
        | q.backward(); see(z.grad, {W}.grad())
bpe   1 z = {x}; z.attach_grad()
        | with autograd.record():
        |     {callz}
        |     q = autograd.grad(o, z, create_graph=True, retain_graph=True)[0]
        |     q = nd.square(q).sum() + nd.square(o).sum()
        | q.backward(); see(z.grad, [p.data() for p in {net}.collect_params('.*running.*').values()])
bpe   1 z = {x}; z.attach_grad()
        | with autograd.record():
        |     {call}
        |     q = nd.square(o).sum()
        |     {callz}
        |     q = q + nd.square(o).mean()
        | q = autograd.grad(q, [{W}.data(), z])
        | see(q, [p.data() for p in {net}.collect_params('.*running.*').values()])
i     1 l = l + (o * o).mean()
i     1 l = l * 0.5
i     1 l = l / 3 + 1
i     1 o = o * 2
i     1 o = Doubled()(o)
i     1 l = Doubled()(l)
i     1 l = l.sum()
i     1 l = l.mean()
i     1 l = nd.concat(l.reshape((-1,)), o.reshape((-1,)), dim=0)
i     1 l = l + o[:, 0] if l.shape == (len(o),) else l
i     1 l = l + sum((p.data() ** 2).sum() for p in {net}.collect_params().values() if p.grad_req != "null") * 0.01
p     1 l.backward()
m     1 l.backward(retain_graph=True)
m     1 autograd.backward([l, o], retain_graph=True)
p     1 o.backward()
pe    1 {trainer}.step({B}, ignore_stale_grad=True)
pe    1 {trainer}.allreduce_grads()
pe    1 {trainer}.update({B}, ignore_stale_grad=True)
bpe   1 c = {net}[0]({x}); see(c)
bpe   1 with autograd.record():
        |     c = {net}[0]({x})
        | c.backward(); see({net}[0].weight.grad())
bpe   1 with autograd.record():
        |     {call}
        |     with autograd.pause():
        |         see(o)
        |     q = o.sum()
        | q.backward()
bpe   1 in_thread(lambda: {net}({x}).asnumpy())
bpe   1 def work():
        |     with autograd.record():
        |         q = {net}({x})
        |     if isinstance(q, nd.NDArray):
        |         q.backward()
        | in_thread(work)
be    1 x.attach_grad('{req}')
b     4 x.attach_grad()
p     2 x = x + 0.1 * x.grad if x.grad is not None else x
b     1 x.attach_grad("add")
be    1 other = exported({net}, {x}); see(other({x}))
bpe   1 mx.random.seed({n})
bpe   1 o = nd.Dropout(nd.ones((4, 3)), p=0)
p     1 with autograd.record():
        |     q = (o * 2).sum()
        | q.backward()
be    1 other = copy.deepcopy({net})
bpe   1 if isinstance({net}, gluon.HybridBlock):
        |     other = gluon.SymbolBlock({net}(mx.sym.var('data')), mx.sym.var('data'), params={net}.collect_params())
        |     H(other)
        |     with autograd.record():
        |         q = other({x})
        |     autograd.backward(q)
        |     see(q, {W}.grad())
''')

# what is done before one iteration, and undone or used before a later one
PAIRS = tuple(tuple(line.split(' -> ')) for line in lines('''
    {net}.collect_params().setattr('grad_req', 'null') -> {net}.collect_params().setattr('grad_req', 'write')
    {net}[0].collect_params().setattr('grad_req', 'null') -> {net}[0].collect_params().setattr('grad_req', 'write')
    {net}[-1].collect_params().setattr('grad_req', 'null') -> {net}[-1].collect_params().setattr('grad_req', 'write')
    {P}.grad_req = 'null' -> {P}.grad_req = 'write'
    {W}.grad_req = 'add' -> {W}.grad_req = 'write'
    {net}.collect_params().setattr('grad_req', 'add') -> {net}.collect_params().zero_grad()
    {net}.collect_params().setattr('grad_req', 'add') -> {net}.collect_params().setattr('grad_req', 'write')
    {net}.collect_params().setattr('lr_mult', 0) -> {net}.collect_params().setattr('lr_mult', 1)
    {P}.lr_mult = 0.0 -> {P}.lr_mult = 1.0
    H({net}, False) -> H({net})
    H({net}, static_alloc=True) -> H({net}, static_alloc=False)
    H({net}[0]) -> H({net})
    {loss}._weight = 0.1 -> {loss}._weight = 0.01
    {loss}._weight = 0.1 -> {loss}._weight = None
    {loss}.{attribute} -> {loss}._weight = 2
    {trainer}.set_learning_rate(0.02) -> {trainer}.set_learning_rate(0.1)
    {net}.save_parameters(FOLDER + '/q') -> {net}.load_parameters(FOLDER + '/q')
    first = {W}.data() -> see(first)
    first = {W}.data() -> first *= 0.5
    first = {W}.grad() -> see(first)
    first = {W}.grad() -> first[:] = 0.25
    first = {W}.data()[0:1] -> first[:] = 0.25
    first = x -> first[:] = 1
    first = {net} -> see(first({x}))
    x.attach_grad() -> see(x.grad)
    first = x; first.attach_grad() -> see(first.grad)
    first = {W}.data().copy() -> {W}.set_data(first)
    first = {W}.data().copy() -> {W}.data()[:] = first
    mx.random.seed(3) -> mx.random.seed(3)
'''))
ALL = READS + VIEWS + WRITES + SETTINGS + CALLS
