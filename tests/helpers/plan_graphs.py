"""Random graphs of operators, for blocks (nd, np) and for symbols.

All values are matrices of `WIDTH` columns, so that any operator goes with any other; those that work on something else
(pictures, sequences) reshape.  Operators with parameters take them from one of a few slots, so that some are shared.
"""
import dataclasses
import functools
import random
from types import SimpleNamespace

import mxnet as mx
from mxnet import gluon

WIDTH, SLOTS = 4, 2
SHAPES = {'w': (WIDTH, WIDTH), 'b': (WIDTH,), 'gamma': (WIDTH,), 'beta': (WIDTH,), 'mean': (WIDTH,), 'var': (WIDTH,),
          'kernel': (1, 1, 3, 3), 'table': (5, WIDTH), 'rnn': (2 * (2 * (2 + 2) + 2 * 2),)}
STATES = ('mean', 'var')


def parts(F, x, fold):
    """Applies something to pictures of one channel."""
    return F.reshape(fold(F.reshape(x, shape=(-1, 1, 2, 2))), shape=(-1, WIDTH))


def over(F, x, p):
    """A recurrent layer over two steps of two numbers."""
    steps = F.transpose(F.reshape(x, shape=(-1, 2, 2)), axes=(1, 0, 2))
    out = F.RNN(steps, p.rnn, F.zeros_like(steps), mode='rnn_tanh', state_size=2, num_layers=2)
    return F.reshape(F.transpose(out, axes=(1, 0, 2)), shape=(-1, WIDTH))


def loop(F, x, y):
    outs, last = F.contrib.foreach(lambda a, s: (F.tanh(a * s[0]), [s[0] + a]), F.stack(x, y, x), [y])
    return F.sum(outs, axis=0) * 0.3 + F.tanh(last[0])


def while_(F, x, y):
    outs, last = F.contrib.while_loop(lambda i, v: i < 2, lambda i, v: (F.sin(v), [i + 1, v * 0.5 + 1]),
                                      [F.zeros((1,)), x], max_iterations=3)
    return last[1] + F.sum(F.slice_axis(outs, axis=0, begin=0, end=2), axis=0)


# name: function of (F, value, another value, parameters)
ND = {
    'relu': lambda F, x, y, p: F.relu(x),
    'sigmoid': lambda F, x, y, p: F.sigmoid(x),
    'tanh': lambda F, x, y, p: F.tanh(x),
    'exp': lambda F, x, y, p: F.exp(F.clip(x, -2, 2)),
    'log': lambda F, x, y, p: F.log1p(F.abs(x)),
    'sqrt': lambda F, x, y, p: F.sqrt(F.abs(x) + 1),
    'square': lambda F, x, y, p: F.square(F.tanh(x)),
    'negative': lambda F, x, y, p: -x,
    'sin': lambda F, x, y, p: F.sin(x),
    'minus one': lambda F, x, y, p: x * -1,
    'affine': lambda F, x, y, p: 1 - x * 0.5,
    'power': lambda F, x, y, p: F.abs(x) ** 1.5 * 0.2,
    'reverse power': lambda F, x, y, p: 2 ** F.tanh(x),
    'divide': lambda F, x, y, p: x / (F.square(y) + 1),
    'reverse divide': lambda F, x, y, p: 1 / (F.square(x) + 1),
    'modulo': lambda F, x, y, p: x % 1.5,
    'erf': lambda F, x, y, p: F.erf(x),
    'leaky': lambda F, x, y, p: F.LeakyReLU(x, slope=0.2),
    'elu': lambda F, x, y, p: F.LeakyReLU(x, act_type='elu'),
    'gelu': lambda F, x, y, p: F.LeakyReLU(x, act_type='gelu'),
    'prelu': lambda F, x, y, p: F.LeakyReLU(x, p.gamma, act_type='prelu'),
    'softrelu': lambda F, x, y, p: F.Activation(x, act_type='softrelu'),
    'hard': lambda F, x, y, p: F.hard_sigmoid(x),
    'clip': lambda F, x, y, p: F.clip(x, -0.7, 0.7),
    'round': lambda F, x, y, p: F.round(x) + x,
    'sign': lambda F, x, y, p: F.sign(x) * x,
    'same': lambda F, x, y, p: F.identity(x),
    'blocked': lambda F, x, y, p: F.BlockGrad(x) * y,
    'softmax': lambda F, x, y, p: F.softmax(x),
    'log softmax': lambda F, x, y, p: F.log_softmax(x, axis=0),
    'softmin': lambda F, x, y, p: F.softmin(x, axis=-1),
    'L2': lambda F, x, y, p: F.L2Normalization(x),
    'add': lambda F, x, y, p: x + y,
    'subtract': lambda F, x, y, p: x - y,
    'multiply': lambda F, x, y, p: x * y,
    'twice': lambda F, x, y, p: x + x * x + x,
    'maximum': lambda F, x, y, p: F.broadcast_maximum(x, y),
    'minimum': lambda F, x, y, p: F.broadcast_minimum(x, y),
    'hypot': lambda F, x, y, p: F.broadcast_hypot(x, y + 3),
    'where': lambda F, x, y, p: F.where(x > 0, x, y),
    'compare': lambda F, x, y, p: (x > y) * x,
    'equal': lambda F, x, y, p: F.broadcast_equal(x, y) + x,
    'sum of all': lambda F, x, y, p: F.add_n(x, y, x, p.fc(y)),
    'mean': lambda F, x, y, p: F.broadcast_sub(x, F.mean(x, axis=1, keepdims=True)),
    'sum': lambda F, x, y, p: F.broadcast_add(x, F.sum(y, axis=0, keepdims=True) * 0.1),
    'total': lambda F, x, y, p: F.broadcast_mul(x, F.reshape(F.tanh(F.sum(y)), shape=(1, 1))),
    'norm': lambda F, x, y, p: F.broadcast_div(x, F.norm(y, axis=1, keepdims=True) + 1),
    'max': lambda F, x, y, p: F.broadcast_mul(x, F.max(y, axis=1, keepdims=True)),
    'turn': lambda F, x, y, p: F.transpose(F.transpose(x) * 2),
    'batch dot': lambda F, x, y, p: F.reshape(F.batch_dot(F.reshape(x, shape=(-1, 2, 2)), F.reshape(y, shape=(-1,
        2, 2)), transpose_b=True), shape=(-1, WIDTH)),
    'reshape': lambda F, x, y, p: F.reshape(F.Reshape(x, shape=(-1, 2)) + 1, shape=(-1, WIDTH)),
    'flatten': lambda F, x, y, p: F.Flatten(F.reshape(x, shape=(-1, 2, 2))),
    'flip': lambda F, x, y, p: F.flip(x, axis=1),
    'slice': lambda F, x, y, p: F.concat(F.slice_axis(x, axis=1, begin=0, end=2), F.slice(y, begin=(None, 1),
        end=(None, 3)), dim=1),
    'split': lambda F, x, y, p: F.concat(*reversed(F.split(x, num_outputs=2, axis=1)), dim=1),
    'joined': lambda F, x, y, p: F.slice_axis(F.concat(x, y, dim=1), axis=1, begin=WIDTH, end=2 * WIDTH) + x,
    'stack': lambda F, x, y, p: F.sum(F.stack(x, y, x, axis=1), axis=1),
    'tile': lambda F, x, y, p: F.slice_axis(F.tile(x, reps=(1, 2)), axis=1, begin=2, end=6),
    'swap': lambda F, x, y, p: F.reshape(F.swapaxes(F.reshape(x, shape=(-1, 2, 2)), 1, 2), shape=(-1, WIDTH)),
    'expand': lambda F, x, y, p: F.squeeze(F.expand_dims(x, axis=1) * 3, axis=1),
    'sort': lambda F, x, y, p: F.sort(x, axis=1),
    'topk': lambda F, x, y, p: F.topk(x, k=WIDTH, ret_typ='value', axis=1),
    'take': lambda F, x, y, p: F.take(x, F.argmax(y, axis=1) * 0, axis=0, mode='clip') + x,
    'pick': lambda F, x, y, p: F.broadcast_mul(x, F.pick(y, F.argmax(x, axis=1), keepdims=True)),
    'one hot': lambda F, x, y, p: F.one_hot(F.argmax(x, axis=1), WIDTH) * y,
    'cast': lambda F, x, y, p: F.cast(F.cast(x, dtype='float64') * 1.5, dtype='float32'),
    'half': lambda F, x, y, p: F.cast(F.cast(x, dtype='float16'), dtype='float32') + x,
    'dense': lambda F, x, y, p: p.fc(x),
    'dense again': lambda F, x, y, p: p.fc(F.tanh(p.fc(y))) + p.fc(x),
    'no bias': lambda F, x, y, p: F.FullyConnected(x, p.w, num_hidden=WIDTH, no_bias=True),
    'dot': lambda F, x, y, p: F.dot(x, p.w),
    'dot turned': lambda F, x, y, p: F.dot(x, p.w, transpose_b=True) * 0.5,
    'scale': lambda F, x, y, p: F.broadcast_mul(x, F.reshape(p.gamma, shape=(1, -1))),
    'batch norm': lambda F, x, y, p: F.BatchNorm(x, p.gamma, p.beta, p.mean, p.var, fix_gamma=False, eps=0.01),
    'fixed norm': lambda F, x, y, p: F.BatchNorm(x, p.gamma, p.beta, p.mean, p.var, eps=0.01, momentum=0.5),
    'global norm': lambda F, x, y, p: F.BatchNorm(x, p.gamma, p.beta, p.mean, p.var, use_global_stats=True),
    'layer norm': lambda F, x, y, p: F.LayerNorm(x, p.gamma, p.beta, eps=0.001),
    'instance norm': lambda F, x, y, p: F.slice_axis(F.reshape(F.InstanceNorm(F.reshape(F.concat(x, y, dim=1),
        shape=(-1, WIDTH, 2)), p.gamma, p.beta, eps=1e-2), shape=(-1, 2 * WIDTH)), axis=1, begin=1, end=1 + WIDTH),
    'group norm': lambda F, x, y, p: parts(F, x, lambda v: F.GroupNorm(v, F.slice_axis(p.gamma, axis=0, begin=0,
        end=1), F.slice_axis(p.beta, axis=0, begin=0, end=1), num_groups=1, eps=0.01)),
    'dropout': lambda F, x, y, p: F.Dropout(x, p=0.3),
    'dropped branches': lambda F, x, y, p: (lambda a, b: b + a)(F.Dropout(x, p=0.5), F.Dropout(y, p=0.5)),
    'always': lambda F, x, y, p: F.Dropout(x, p=0.3, mode='always'),
    'rows dropped': lambda F, x, y, p: F.Dropout(x, p=0.4, axes=(1,)),
    'noise': lambda F, x, y, p: x + F.random.uniform_like(x),
    'normal': lambda F, x, y, p: x * F.random.normal_like(y),
    'embedding': lambda F, x, y, p: F.Embedding(F.argmax(x, axis=1), p.table, input_dim=5, output_dim=WIDTH) * y,
    'convolution': lambda F, x, y, p: parts(F, x, lambda v: F.Convolution(v, p.kernel, kernel=(3, 3), pad=(1, 1),
        num_filter=1, no_bias=True)),
    'deconvolution': lambda F, x, y, p: parts(F, x, lambda v: F.Deconvolution(v, p.kernel, kernel=(3, 3), pad=(1,
        1), num_filter=1, no_bias=True)),
    'max pool': lambda F, x, y, p: parts(F, x, lambda v: F.UpSampling(F.Pooling(v, kernel=(2, 2), stride=(2, 2)),
        scale=2, sample_type='nearest')),
    'average pool': lambda F, x, y, p: parts(F, x, lambda v: F.broadcast_add(v, F.Pooling(v, global_pool=True,
        pool_type='avg', kernel=(1, 1)))),
    'pad': lambda F, x, y, p: parts(F, x, lambda v: F.Pooling(F.pad(v, mode='edge', pad_width=(0, 0, 0, 0, 1, 1, 1,
        1)), kernel=(3, 3), pool_type='avg')),
    'recurrent': lambda F, x, y, p: over(F, x, p),
    'loop': lambda F, x, y, p: loop(F, x, y),
    'while': lambda F, x, y, p: while_(F, x, y),
    'cond': lambda F, x, y, p: F.contrib.cond(F.sum(x) > 0, lambda: x * 2 + y, lambda: y - 1),
    'penalty': lambda F, x, y, p: F.MakeLoss(x, grad_scale=0.5) * 0.5,
    'softmax output': lambda F, x, y, p: F.SoftmaxOutput(x, F.argmax(y, axis=1)),
    'regression': lambda F, x, y, p: F.LinearRegressionOutput(x, y),
    'cross entropy': lambda F, x, y, p: F.broadcast_mul(x, F.reshape(F.softmax_cross_entropy(y, F.argmax(x,
        axis=1)), shape=(1, 1))),
    'smooth': lambda F, x, y, p: F.smooth_l1(x, scalar=2.0),
    'ctc': lambda F, x, y, p: F.broadcast_add(x, F.reshape(F.CTCLoss(F.stack(x, y, x, axis=0),
        F.ones_like(F.slice_axis(x, axis=1, begin=0, end=1))), shape=(-1, 1))),
    'multiply by zero': lambda F, x, y, p: x * 0 + y,
    'zeros': lambda F, x, y, p: F.zeros_like(x) + y,
    'arange': lambda F, x, y, p: F.broadcast_add(x, F.reshape(F.arange(WIDTH), shape=(1, -1))),
    'like': lambda F, x, y, p: F.broadcast_like(F.mean(x, axis=1, keepdims=True), y),
    'mask': lambda F, x, y, p: x * (y > -0.5),
    'gather': lambda F, x, y, p: F.gather_nd(x, F.stack(F.argmax(x, axis=1) * 0, F.argmax(y, axis=1))).reshape((-1,
        1)).broadcast_like(x) * x,
    'cumulate': lambda F, x, y, p: F.broadcast_mul(x, F.cumsum(y, axis=0)) * 0.3,
    'reduce': lambda F, x, y, p: F.broadcast_div(x, F.prod(F.abs(y) + 0.5, axis=1, keepdims=True)),
    'linalg': lambda F, x, y, p: F.linalg.gemm2(x, p.w, alpha=0.5),
    'gemm': lambda F, x, y, p: F.linalg.gemm(x, p.w, y),
}


np, npx = mx.np, mx.npx


def choose(x, y):
    """A branch that a trace takes apart into `where`."""
    return np.where(x > y, np.sin(x), y * 2)


# the same with NumPy's operators and indexing, for blocks whose `forward` is written on arrays
NP = {
    'relu': lambda x, y, p: npx.relu(x),
    'sigmoid': lambda x, y, p: npx.sigmoid(x),
    'tanh': lambda x, y, p: np.tanh(x),
    'exp': lambda x, y, p: np.exp(np.clip(x, -2, 2)),
    'log': lambda x, y, p: np.log1p(np.abs(x)),
    'power': lambda x, y, p: (np.abs(x) + 0.1) ** 1.5 * 0.2,
    'affine': lambda x, y, p: 1 - x * 0.5,
    'negative': lambda x, y, p: -x,
    'add': lambda x, y, p: x + y,
    'multiply': lambda x, y, p: x * y,
    'divide': lambda x, y, p: x / (y ** 2 + 1),
    'twice': lambda x, y, p: x + x * x + x,
    'maximum': lambda x, y, p: np.maximum(x, y) - np.minimum(x, 0.5),
    'where': lambda x, y, p: choose(x, y),
    'compare': lambda x, y, p: (x > y) * x,
    'mean': lambda x, y, p: x - x.mean(axis=1, keepdims=True),
    'sum': lambda x, y, p: x + y.sum(axis=0) * 0.1,
    'total': lambda x, y, p: x * np.tanh(y.sum()),
    'scalar': lambda x, y, p: x + y.mean(),
    'std': lambda x, y, p: x / (y.std(axis=1, keepdims=True) + 1),
    'max': lambda x, y, p: x * y.max(axis=1, keepdims=True),
    'turn': lambda x, y, p: (x.T * 2).T,
    'reshape': lambda x, y, p: (x.reshape(-1, 2) + 1).reshape(-1, WIDTH),
    'index': lambda x, y, p: x[:, ::-1] + y[:, :1],
    'row': lambda x, y, p: x + y[0],
    'new axis': lambda x, y, p: (x[:, None, :] * y[:, :, None]).sum(axis=1) * 0.3,
    'slice': lambda x, y, p: np.concatenate([x[:, :2], y[:, 1:3]], axis=1),
    'split': lambda x, y, p: np.concatenate(np.split(x, 2, axis=1)[::-1], axis=1),
    'stack': lambda x, y, p: np.stack([x, y, x]).sum(axis=0),
    'dot': lambda x, y, p: np.dot(x, p.w),
    'matmul': lambda x, y, p: np.matmul(x, p.w) + p.b,
    'einsum': lambda x, y, p: np.einsum('ij,jk->ik', x, p.w),
    'tensordot': lambda x, y, p: np.tensordot(x, p.w, axes=([1], [1])),
    'outer': lambda x, y, p: x * np.outer(p.b, p.gamma).sum(axis=0),
    'dense': lambda x, y, p: npx.fully_connected(x, p.w, p.b, num_hidden=WIDTH),
    'softmax': lambda x, y, p: npx.softmax(x),
    'log softmax': lambda x, y, p: npx.log_softmax(x),
    'batch norm': lambda x, y, p: npx.batch_norm(x, p.gamma, p.beta, p.mean, p.var, fix_gamma=False, eps=1e-2),
    'layer norm': lambda x, y, p: npx.layer_norm(x, p.gamma, p.beta, eps=1e-3),
    'dropout': lambda x, y, p: npx.dropout(x, p=0.3),
    'embedding': lambda x, y, p: npx.embedding(x.argmax(axis=1), p.table, input_dim=5, output_dim=WIDTH) * y,
    'pick': lambda x, y, p: x * npx.pick(y, x.argmax(axis=1)).reshape(-1, 1),
    'one hot': lambda x, y, p: npx.one_hot(x.argmax(axis=1), WIDTH) * y,
    'gelu': lambda x, y, p: npx.leaky_relu(x, act_type='gelu'),
    'sort': lambda x, y, p: np.sort(x, axis=1),
    'cumulate': lambda x, y, p: x * np.cumsum(y, axis=0) * 0.3,
    'var': lambda x, y, p: x * y.var(axis=0),
    'where zero': lambda x, y, p: np.where(x == 0, y, x) * np.ones_like(y),
    'ones': lambda x, y, p: x + np.arange(WIDTH) + np.ones((1, WIDTH)),
    'blocked': lambda x, y, p: x.detach() * y,
    'expand': lambda x, y, p: np.squeeze(np.expand_dims(x, 1) * 3, 1),
    'roll': lambda x, y, p: np.roll(x, 1, axis=1) + np.flip(y, axis=1),
    'cast': lambda x, y, p: (x.astype('float64') * 1.5).astype('float32'),
    'norm': lambda x, y, p: x / (np.linalg.norm(y, axis=1, keepdims=True) + 1),
    'mixed': lambda x, y, p: np.where(x > 0, x, 0) + np.square(y).mean(),
}

# their gradient does not depend on what is done with them: as outputs of a block they always count
OWN_GRADIENT = {'penalty', 'softmax output', 'regression'}


@dataclasses.dataclass(frozen=True)
class Graph:
    """Operators as (name, number of the value, of the other value, slot); values 0 and 1 are the inputs."""

    lines: tuple = (('relu', 0, 0, 0),)
    outputs: tuple = (2,)
    table: str = 'nd'


def compute(graph, F, x, y, slots):
    values = [x, y]
    for name, one, other, slot in graph.lines:
        values.append(ND[name](F, values[one], values[other], slots[slot]))
    return [values[i] for i in graph.outputs]


def parameters_of(slot, params):
    return SimpleNamespace(**{name: params[f'{name}{slot}'] for name in SHAPES})


class Net(gluon.HybridBlock):
    """A graph as a block."""

    def __init__(self, graph):
        super().__init__(prefix='net_')
        self._graph = graph
        with self.name_scope():
            for slot in range(SLOTS):
                for name, shape in SHAPES.items():
                    init = 'zeros' if name == 'mean' else 'ones' if name in ('var', 'gamma') else None
                    setattr(self, f'{name}{slot}', self.params.get(
                        f'{name}{slot}', shape=shape, init=init, grad_req='null' if name in STATES else 'write',
                        differentiable=name not in STATES))

    def hybrid_forward(self, F, x, y, **params):
        slots = [parameters_of(slot, params) for slot in range(SLOTS)]
        for p in slots:
            p.fc = lambda v, p=p: F.FullyConnected(v, p.w, p.b, num_hidden=WIDTH)
        found = compute(self._graph, F, x, y, slots)
        return found[0] if len(found) == 1 else tuple(found)


class NpNet(gluon.HybridBlock):
    """A graph of NumPy's operators as a block that is traced."""

    def __init__(self, graph):
        super().__init__(prefix='net_')
        self._graph = graph
        with self.name_scope():
            for slot in range(SLOTS):
                for name, shape in SHAPES.items():
                    setattr(self, f'{name}{slot}', self.params.get(
                        f'{name}{slot}', shape=shape, grad_req='null' if name in STATES else 'write',
                        differentiable=name not in STATES))

    def forward(self, x, y):
        values = [x, y]
        for name, one, other, slot in self._graph.lines:
            p = SimpleNamespace(**{n: getattr(self, f'{n}{slot}').data() for n in SHAPES})
            values.append(NP[name](values[one], values[other], p))
        found = [values[i] for i in self._graph.outputs]
        return found[0] if len(found) == 1 else tuple(found)


def symbol_of(graph):
    """A graph as a symbol, with arguments x, y and those of `SHAPES`."""
    slots = []
    for slot in range(SLOTS):
        p = SimpleNamespace(**{name: mx.sym.var(f'{name}{slot}', shape=shape) for name, shape in SHAPES.items()})
        p.fc = lambda v, p=p: mx.sym.FullyConnected(v, p.w, p.b, num_hidden=WIDTH)
        slots.append(p)
    return mx.sym.Group(compute(graph, mx.sym, mx.sym.var('x'), mx.sym.var('y'), slots))


def random_graph(chance, table='nd'):
    lines = []
    names = sorted(ND if table == 'nd' else NP)
    for number in range(chance.randint(1, 9)):
        known = 2 + number
        # often the newest value, so that graphs are deep
        pick = [known - 1 if chance.random() < 0.5 else chance.randrange(known) for _ in range(2)]
        lines.append((chance.choice(names), *pick, chance.randrange(SLOTS)))
    last = len(lines) + 1
    outputs = {last} | {chance.randrange(2, last + 1) for _ in range(chance.choice((0, 0, 1, 2)))}
    return pruned(Graph(tuple(lines), tuple(sorted(outputs, key=lambda _: chance.random())), table))


@functools.cache
def takes_two(name, table):
    """Whether an operator looks at its other value."""
    if table == 'nd':
        return 'y' in symbol_of(Graph(((name, 0, 1, 0),))).list_arguments()
    with mx.util.np_array(True), mx.util.np_shape(True):
        p = SimpleNamespace(**{n: np.ones(shape) for n, shape in SHAPES.items()})
        try:
            NP[name](np.ones((2, WIDTH)), None, p)
        except Exception:               # it did look
            return True
    return False


def pruned(graph):
    """Without lines that nothing uses: a plain block runs these, and they draw random numbers or change averages."""
    used = set(graph.outputs)
    for number in reversed(range(len(graph.lines))):
        if number + 2 in used:
            name, one, other, _ = graph.lines[number]
            used |= {one, other} if takes_two(name, graph.table) else {one}
    kept = [i for i in range(len(graph.lines)) if i + 2 in used]
    places = {0: 0, 1: 1} | {i + 2: n + 2 for n, i in enumerate(kept)}
    lines = tuple((name, places[one], places.get(other, 0), slot)
                  for name, one, other, slot in (graph.lines[i] for i in kept))
    return dataclasses.replace(graph, lines=lines, outputs=tuple(places[i] for i in graph.outputs))


def smaller_graphs(graph):
    """The graph without one of its lines, what used it taking its input instead; and with fewer outputs."""
    for gone in range(len(graph.lines)):
        name, one, other, slot = graph.lines[gone]

        def moved(i, gone=gone, one=one):
            return one if i == gone + 2 else i - 1 if i > gone + 2 else i
        lines = tuple((n, moved(a), moved(b), s) for n, a, b, s in graph.lines[:gone] + graph.lines[gone + 1:])
        outputs = tuple(dict.fromkeys(moved(i) for i in graph.outputs))
        if lines and min(outputs) > 1:
            yield pruned(dataclasses.replace(graph, lines=lines, outputs=outputs))
    if len(graph.outputs) > 1:
        for gone in range(len(graph.outputs)):
            yield pruned(dataclasses.replace(graph, outputs=graph.outputs[:gone] + graph.outputs[gone + 1:]))


def chance_of(seed):
    return random.Random(seed)
