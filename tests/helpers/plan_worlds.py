"""Small worlds to run a program in twice, plain and hybridized: networks, data, losses and trainers, and a log of what
the program has seen.

A program is data (`Program`), so that one that shows a difference can be made shorter and written down as a test.
"""
import copy
import dataclasses
import itertools
import os
import tempfile

import numpy
import plan_calls
import plan_changes
import plan_looks
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd

nn = gluon.nn
ACTIONS = {**plan_looks.action, **plan_changes.action, **plan_calls.action}


def seeds(count):
    """`count` seeds of random programs; MXNET_TEST_PROGRAMS=SEED:FACTOR runs others, and so many times more."""
    first, factor = map(int, os.environ.get('MXNET_TEST_PROGRAMS', '1:1').split(':'))
    return range(first * 10000, first * 10000 + count * factor)


@dataclasses.dataclass(frozen=True)
class Round:
    """A step of training, and the names of actions on its way."""

    batch: int = 4
    before: tuple = ()          # between forward and backward
    between: tuple = ()         # between backward and the update
    after: tuple = ()


@dataclasses.dataclass(frozen=True)
class Program:
    """What to run: keys of the tables below, and rounds."""

    net: str = 'dense'
    loss: str = 'softmax'
    data: str = 'new'
    optimizer: str = 'sgd'
    flags: tuple = ()           # of hybridize
    back: str = 'method'
    update: str = 'step'
    req: str = 'write'
    dtype: str = 'float32'
    contexts: int = 1
    np: bool = False
    seed: int = 0
    rounds: tuple = (Round(),) * 5

    def overwrites(self):
        """Whether it writes, before anything need have been computed, where others than the array tell us so."""
        return any({*part.before} & {'write_base', 'write_kept', 'write_aliases'} for part in self.rounds)


# ---------------------------------------------------------------------- networks
def chain(*layers):
    net = nn.HybridSequential()
    net.add(*layers)
    return net


class Twice(gluon.HybridBlock):
    """A layer that is used twice, and one that shares its parameters."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.one = nn.Dense(5, in_units=5, activation='tanh')
            self.same = nn.Dense(5, in_units=5, params=self.one.params)
            self.last = nn.Dense(3, in_units=5)

    def hybrid_forward(self, F, x):
        return self.last(self.same(self.one(self.one(x))) + x)


class Several(gluon.HybridBlock):
    """Two outputs, of which the second has no gradient of its own, and a branch that nothing goes back through."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.one, self.two = nn.Dense(6, in_units=5, activation='sigmoid'), nn.Dense(3, in_units=6)

    def hybrid_forward(self, F, x):
        hidden = self.one(x)
        stays = F.BlockGrad(F.sum(hidden, axis=1, keepdims=True))
        return F.broadcast_add(self.two(hidden), stays), F.softmax(hidden)


class Parts(gluon.Block):
    """Not hybridized itself: two parts that are, and plain operators between them."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.one, self.two = nn.Dense(6, in_units=5, activation='relu'), nn.Dense(3, in_units=6)

    def forward(self, x):
        hidden = self.one(x)
        return self.two(hidden * 0.5 + nd.tanh(hidden))


class Words(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.embed, self.lstm = nn.Embedding(7, 4), gluon.rnn.LSTM(4, input_size=4, layout='NTC')
            self.last = nn.Dense(3, in_units=4)

    def hybrid_forward(self, F, x):
        return self.last(F.mean(self.lstm(self.embed(x)), axis=1))


class Loop(gluon.HybridBlock):
    """Control flow within the graph."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.one, self.last = nn.Dense(5, in_units=5, activation='tanh'), nn.Dense(3, in_units=5)

    def hybrid_forward(self, F, x):
        steps = F.stack(x, x * 0.5, x - 1)
        outs, _ = F.contrib.foreach(lambda a, s: (F.tanh(a + s[0]), [s[0] * 0.5 + a]), steps, [F.zeros_like(x)])
        picked = F.contrib.cond(F.sum(x) > 0, lambda: x * 2, lambda: x - 2)
        return self.last(self.one(F.sum(outs, axis=0) + picked))


class Squared(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * in_data[0] * 2)


@mx.operator.register('plan_squared')
class SquaredProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Squared()


class Custom(gluon.HybridBlock):
    """An operator of the program's own, which no plan can have."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.one, self.last = nn.Dense(5, in_units=5, activation='tanh'), nn.Dense(3, in_units=5)

    def hybrid_forward(self, F, x):
        return self.last(F.Custom(self.one(x), op_type='plan_squared') + x)


class Pair(gluon.Block):
    """A part that is used twice, once without a gradient for the other."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.one = nn.HybridSequential()
            self.one.add(nn.Dense(6, in_units=5, activation='tanh'), nn.Dense(4, in_units=6))
            self.two = nn.HybridSequential()
            self.two.add(nn.Dense(5, in_units=4, activation='relu'), nn.Dense(3, in_units=5))

    def forward(self, x):
        made = self.one(x)
        return self.two(made) - self.two(made.detach()) * 0.5


class Carried(gluon.HybridBlock):
    """States go in and come out, in a list, and through the next step without their history."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.cell, self.last = gluon.rnn.LSTMCell(4, input_size=5), nn.Dense(3, in_units=4)

    def hybrid_forward(self, F, x, states):
        out, states = self.cell(x, states)
        return self.last(out), states


NETS = {
    'dense': lambda: chain(nn.Dense(6, activation='relu', in_units=5), nn.Dense(3, in_units=6)),
    'norm': lambda: chain(nn.Dense(6, in_units=5), nn.BatchNorm(in_channels=6), nn.Activation('relu'), nn.Dropout(0.5),
                          nn.Dense(3, in_units=6)),
    'layers': lambda: chain(nn.Dense(6, in_units=5), nn.LayerNorm(in_channels=6), nn.LeakyReLU(0.1),
                            nn.Dense(3, in_units=6)),
    'picture': lambda: chain(nn.Conv2D(4, 3, in_channels=2, use_bias=False), nn.BatchNorm(in_channels=4),
                             nn.Activation('relu'), nn.MaxPool2D(2), nn.InstanceNorm(in_channels=4), nn.Flatten(),
                             nn.Dense(3, in_units=4 * 4)),
    'words': Words, 'twice': Twice, 'several': Several, 'parts': Parts, 'loop': Loop, 'pair': Pair,
    'carried': Carried, 'custom': Custom,
    'rows': lambda: chain(nn.Embedding(7, 4, sparse_grad=True), nn.Dense(3, in_units=16)),
    'large': lambda: chain(nn.Dense(257, activation='relu', in_units=5), nn.Dense(128, in_units=257),
                           nn.Dense(3, in_units=128)),
    'deferred': lambda: chain(nn.Dense(6, activation='relu'), nn.BatchNorm(), nn.Dense(3)),
}
VIEWS, PARTS = ('words', 'carried'), ('twice', 'pair')
SHAPES = {'picture': (2, 6, 6), 'words': (4,), 'rows': (4,)}


# ---------------------------------------------------------------------- losses
class OwnLoss(gluon.HybridBlock):
    def hybrid_forward(self, F, out, label):
        return F.mean(F.square(F.pick(out, label) - 1) + F.mean(F.square(out), axis=1) * 0.25)


def _own(hybridize):
    own = OwnLoss()
    if hybridize:
        own.hybridize()
    return own


LOSSES = {
    'softmax': lambda planned: gluon.loss.SoftmaxCrossEntropyLoss(),
    'l2': lambda planned: _one_hot(gluon.loss.L2Loss()),
    'hinge': lambda planned: _one_hot(gluon.loss.HingeLoss()),
    'own': _own,
    'plain': lambda planned: lambda out, y: ((out - 1) ** 2).mean(axis=1) * (y.astype(out.dtype) + 1),
    'none': lambda planned: lambda out, y: out,
    'scaled': lambda planned: lambda out, y: gluon.loss.SoftmaxCrossEntropyLoss()(out, y) * 0.5 / 3,
    'mixed': lambda planned: _mixed(gluon.loss.SoftmaxCrossEntropyLoss()),
    'sum': lambda planned: lambda out, y: gluon.loss.SoftmaxCrossEntropyLoss()(out, y).mean(),
}


def _mixed(loss):
    """A loss of which the program computes parts by itself, in one of three ways."""
    turns = itertools.cycle(range(6))

    def function(out, y):
        way = next(turns)
        if way == 0:
            return loss(out, y).mean() + (out ** 2).sum() * 0.01
        if way == 1:
            return (loss(out, y) - out.sum(axis=1)) / len(y)
        if way == 2:
            return loss(out.reshape((-1, 3)), y.reshape((-1,))) * out[:, 0] - out[..., -1]
        if way == 3:
            return out[0] * out[-1, ::2].sum() + out[0:1, 1]
        if way == 4:
            return loss(out.astype('float64'), y)[1:].sum() if len(y) > 1 else loss(out, y)
        return loss(out * 0.5, y) + (1 - out).mean()
    return function


def _one_hot(loss):
    return lambda out, y: loss(out, nd.one_hot(y, 3, dtype=out.dtype))


# ---------------------------------------------------------------------- optimizers
class Own(mx.optimizer.Optimizer):
    """One of the program's own, which computes with operators and looks at what it gets."""

    def create_state(self, index, weight):
        return nd.zeros(weight.shape, ctx=weight.context, dtype=weight.dtype)

    def update(self, index, weight, grad, state):
        self._update_count(index)
        state[:] = state * 0.5 + grad * self.rescale_grad
        weight -= self._get_lr(index) * state


def _scheduled():
    return mx.optimizer.SGD(learning_rate=0.2, momentum=0.5, lr_scheduler=mx.lr_scheduler.FactorScheduler(2, 0.5))


OPTIMIZERS = {
    'sgd': lambda: mx.optimizer.SGD(learning_rate=0.1),
    'momentum': lambda: mx.optimizer.SGD(learning_rate=0.1, momentum=0.9, wd=0.01, clip_gradient=0.5),
    'adam': lambda: mx.optimizer.Adam(learning_rate=0.05),
    'scheduled': _scheduled,
    'own': lambda: Own(learning_rate=0.1),
    'lamb': lambda: mx.optimizer.LAMB(learning_rate=0.05),
    'nag': lambda: mx.optimizer.NAG(learning_rate=0.1, momentum=0.9),
}


# ---------------------------------------------------------------------- the world
class World:
    """A network that learns, and the log of what was seen of it."""

    def __init__(self, program, planned):
        self.program, self.planned, self.log = program, planned, []
        self.random = numpy.random.RandomState(program.seed)
        mx.random.seed(program.seed)
        numpy.random.seed(program.seed)
        self.contexts = [mx.cpu(i) for i in range(program.contexts)]
        self.net = NETS[program.net]()
        self.net.initialize(mx.init.Xavier(magnitude=2), ctx=self.contexts)
        if program.net == 'deferred':
            self.net((mx.np if program.np else nd).ones((2, 5)))
        if program.dtype != 'float32':
            self.net.cast(program.dtype)
        self.loss_of = LOSSES[program.loss](planned)
        self.hybridize(True)
        self.params = list(self.net.collect_params().values())
        if program.req != 'write':
            for number, p in enumerate(self.params):
                p.grad_req = program.req if program.req != 'mixed' else ('add', 'write', 'null')[number % 3]
        optimizer = OPTIMIZERS[program.optimizer]()
        optimizer.multi_precision = program.dtype == 'float16' and program.optimizer != 'own'
        self.trainer = gluon.Trainer(self.params, optimizer)      # a dict would be sorted: dense10 before dense9
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        learned = [p for p in self.params if p.grad_req != 'null']
        self.held = [p.grad() for p in learned]
        self.aliases = None
        self.weights = [p.data() for p in self.params]
        self.states = {}
        self.kept, self.store, self.base, self.x = [], None, None, None

    def hybridize(self, active, **flags):
        if self.planned:
            self.net.hybridize(active, **(flags or dict.fromkeys(self.program.flags, True)))

    def learned(self):
        return [p for p in self.params if p.grad_req != 'null']

    def see(self, label, value):
        """Notes a value that the program has looked at."""
        if isinstance(value, nd.NDArray):
            value = value.asnumpy()
        elif isinstance(value, torch.Tensor):
            value = value.detach().numpy().copy()
        self.log.append((label, copy.deepcopy(value)))

    def attempt(self, label, function, *args):
        """Runs something that may fail, which is seen, too."""
        try:
            return function(*args)
        except (mx.MXNetError, RuntimeError, ValueError, TypeError, IndexError, AssertionError, UserWarning) \
                as error:
            # a graph says which node it is, operators by themselves may have an error of their own
            self.log.append((label, 'MXNetError' if isinstance(error, mx.MXNetError) else type(error).__name__))
            return error

    # ------------------------------------------------------------------ a round
    def fetch(self, batch):
        """Data and labels of a step."""
        shape, kind = (batch, *SHAPES.get(self.program.net, (5,))), self.program.data
        values = self.random.normal(size=shape).astype(self.program.dtype)
        if self.program.net in ('words', 'rows'):
            values = self.random.randint(0, 7, shape).astype('float32')
        if kind == 'view':
            self.base = nd.array(numpy.concatenate([values, values]), dtype=values.dtype)
            x = self.base[0:batch]
        elif kind == 'same' and self.x is not None and self.x.shape == shape:
            x = self.x
            x[:] = values
        elif kind == 'torch':
            self.base = torch.from_numpy(values.copy())
            x = nd.from_torch(self.base)
        elif kind == 'numpy':
            self.base = values.copy()
            x = nd.from_numpy(self.base)
            self.base.flags.writeable = True        # as a loader does that fills the same memory again and again
        else:
            x = nd.array(values, dtype=values.dtype)
        if kind == 'grad' and self.program.net not in ('words', 'rows'):
            x.attach_grad()
        y = nd.array(self.random.randint(0, 3, batch))
        self.x, self.y = (x.as_np_ndarray(), y.as_np_ndarray()) if self.program.np else (x, y)

    def run(self):
        """The log of the whole program."""
        with self.folder:
            for number, part in enumerate(self.program.rounds):
                self.log.append(('round', number))
                if not self.round(part):
                    return self.log
            for p in self.params:
                self.see(p.name.split('_', 1)[-1], p.data())
        return self.log

    def round(self, part):
        self.fetch(part.batch)
        with autograd.record():
            losses = [self.forward(self.x, self.y)]
            for ctx in self.contexts[1:]:
                losses.insert(0, self.forward((self.x * 0.5).as_in_context(ctx), self.y.as_in_context(ctx)))
            self.loss = losses[-1]
            if self.program.back == 'two':
                losses.append(self.loss_of(self.call(self.x * 0.5), self.y))
            if self.program.back == 'inside' and not self.go_back(losses):
                return False
        for name in part.before:
            self.attempt(name, ACTIONS[name], self)
        if self.program.update == 'learn' and not part.between and self.program.back in ('method', 'list', 'two'):
            if self.attempt('backward', self.trainer._backward_and_step, losses, part.batch) is not None:
                return False
        else:
            if self.program.back != 'inside' and not self.go_back(losses):
                return False
            for name in part.between:
                self.attempt(name, ACTIONS[name], self)
            self.update(part.batch)
        for name in part.after:
            self.attempt(name, ACTIONS[name], self)
        if part.after or self.program.seed % 2:
            self.see('loss', self.loss)
        return True

    def go_back(self, losses):
        """Whether there were gradients; else how far it came is not said."""
        kind = self.program.back
        if kind in ('list', 'two'):
            return self.attempt('backward', autograd.backward, losses) is None
        for loss in losses:
            given = [loss.ones_like() * 0.5] if kind == 'heads' else []
            if kind == 'retain' and self.attempt('backward', lambda loss=loss: loss.backward(retain_graph=True)) \
                    is not None or self.attempt('backward', loss.backward, *given) is not None:
                return False
        return True

    def call(self, x):
        """What the network gives for some data."""
        if self.program.net != 'carried':
            out = self.net(x)
            return out[0] if isinstance(out, (list, tuple)) else out
        states = self.states.get(x.context)
        if states is None or states[0].shape[0] != x.shape[0]:
            states = [nd.zeros((x.shape[0], 4), ctx=x.context, dtype=x.dtype)] * 2
        out, self.states[x.context] = self.net(x, [s.detach() for s in states])
        return out

    def forward(self, x, y):
        if self.program.net == 'several':
            self.out, self.other = self.net(x)
        else:
            self.out = self.call(x)
        return self.loss_of(self.out, y)

    def update(self, batch):
        kind = self.program.update
        if kind in ('step', 'learn'):
            self.attempt('step', self.trainer.step, batch)
        elif kind == 'stale':
            self.attempt('step', lambda: self.trainer.step(batch, ignore_stale_grad=True))
        elif kind == 'update':
            self.attempt('allreduce', self.trainer.allreduce_grads)
            self.attempt('update', self.trainer.update, batch)
        elif kind == 'by hand':
            for p in self.learned():
                p.set_data(p.data() - 0.1 * p.grad())
        elif kind == 'operator':
            for p in self.learned():
                nd.sgd_update(p.data(), p.grad(), lr=0.1, out=p.data())
        elif kind == 'never':
            pass
        if self.program.req in ('add', 'mixed') and self.program.seed % 3 == 0:
            for p in self.learned():
                p.zero_grad()


# ---------------------------------------------------------------------- comparing
def run(program, planned):
    with mx.util.np_array(program.np), mx.util.np_shape(program.np):
        return World(program, planned).run()


def difference(program):
    """What a program sees otherwise when it is hybridized; None if nothing.

    Everything is the same bit for bit, but for predictions with static_alloc and static_shape, which fold and pack
    weights, for networks whose graph goes on with views that a plain block copies (`VIEWS`), and for gradients of more
    than two parts (`PARTS`) that come from two calls: those of each are added up first.
    """
    return first_difference(program, run(program, False), run(program, True))


def rounds_otherwise(program):
    """Whether last digits may differ although nothing is folded."""
    return program.net in VIEWS or program.net in PARTS and program.back == 'two'


def first_difference(program, plain, planned):
    """The same of two logs."""
    folds = {'static_alloc', 'static_shape'} <= set(program.flags)
    for number, (a, b) in enumerate(zip(plain, planned, strict=False)):
        if a[0] == 'backward' and b[0] != 'backward':
            return None                     # a plan may not need what was overwritten
        if b[0] == 'backward' and program.net in VIEWS:
            return None                     # overwritten: what a view is of
        if a[0] == 'anomaly' and isinstance(a[1], str):
            return None                     # infinite within a network, of which only the outputs are looked at
        if isinstance(b[1], str) and b[1] == 'MXNetError' and program.overwrites():
            return None                     # data or parameters that were not computed with yet
        rtol = 1e-5 if folds and a[0] == 'prediction' else 0
        if rounds_otherwise(program):
            rtol = 1e-4
        if a[0] != b[0] or type(a[1]) is not type(b[1]) or not _same(a[1], b[1], rtol):
            where = [label for label, _ in plain[:number] if label != 'round']
            turn = [value for label, value in plain[:number] if label == 'round'][-1:]
            return f'round {turn}: {a[0]!r} gives {a[1]!r}, hybridized {b[0]!r} {b[1]!r}; before it {where[-3:]}'
    if len(plain) != len(planned):
        return f'{len(plain)} things were seen, hybridized {len(planned)}'
    return None


def _same(a, b, rtol):
    if isinstance(a, (numpy.ndarray, float)):
        a, b = numpy.asarray(a), numpy.asarray(b)
        return a.shape == b.shape and a.dtype == b.dtype and numpy.allclose(a, b, rtol=rtol, atol=rtol, equal_nan=True)
    return a == b


def shrunk(program, fails):
    """The shortest program found, by leaving things out, for which `fails` still holds."""
    plain, again = Program(), True
    while again:
        again = False
        for smaller in _smaller(program, plain):
            if fails(smaller):
                program, again = smaller, True
                break
    return program


def _smaller(program, plain):
    replace = dataclasses.replace
    rounds = program.rounds
    for i in range(len(rounds)):
        yield replace(program, rounds=rounds[:i] + rounds[i + 1:])
    for i, part in enumerate(rounds):
        for place in ('before', 'between', 'after'):
            names = getattr(part, place)
            for k in range(len(names)):
                fewer = replace(part, **{place: names[:k] + names[k + 1:]})
                yield replace(program, rounds=(*rounds[:i], fewer, *rounds[i + 1:]))
        if part.batch != 4:
            yield replace(program, rounds=(*rounds[:i], replace(part, batch=4), *rounds[i + 1:]))
    for field in dataclasses.fields(program):
        if field.name != 'rounds' and getattr(program, field.name) != getattr(plain, field.name):
            yield replace(program, **{field.name: getattr(plain, field.name)})
