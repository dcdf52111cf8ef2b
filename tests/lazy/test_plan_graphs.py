"""Random graphs of operators: hybridized blocks and executors give the bits that plain blocks do.

`make test` runs some; MXNET_TEST_PROGRAMS=SEED:FACTOR in the environment runs others, and so many times more.
"""
import dataclasses

import numpy
import pytest
from plan_graphs import (
    OWN_GRADIENT,
    SHAPES,
    SLOTS,
    STATES,
    Graph,
    Net,
    NpNet,
    chance_of,
    random_graph,
    smaller_graphs,
    symbol_of,
)
from plan_worlds import seeds

import mxnet as mx
from mxnet import autograd, nd

pytestmark = [pytest.mark.filterwarnings('ignore:.*not used by its computation'),
              pytest.mark.filterwarnings('ignore:.*_shape. is deprecated')]

FLAGS = ((), ('static_alloc',), ('static_alloc', 'static_shape'))


@dataclasses.dataclass(frozen=True)
class Case:
    graph: Graph
    flags: tuple = ()
    seed: int = 0
    req: str = 'write'
    rounds: tuple = (('all', 3),) * 4           # (what is done, size of the batch)


# ---------------------------------------------------------------------- what a round does with the network
def outputs_of(net, x, y):
    out = net(x, y)
    return list(out) if isinstance(out, (list, tuple)) else [out]


def all_(net, x, y, see):
    """Every output is differentiated."""
    with autograd.record():
        out = outputs_of(net, x, y)
    autograd.backward(out)
    return out


def first(net, x, y, see):
    """The others have no gradient."""
    with autograd.record():
        out = outputs_of(net, x, y)
    out[0].backward()
    return out


def heads(net, x, y, see):
    with autograd.record():
        out = outputs_of(net, x, y)
    autograd.backward(out, [o.detach() * 0.5 for o in out])
    return out


def outside(net, x, y, see):
    """A loss outside of the block, which uses an output twice."""
    with autograd.record():
        out = outputs_of(net, x, y)
        loss = sum((o * o).mean() for o in out) + out[-1].sum()
    loss.backward()
    return [loss]


def twice(net, x, y, see):
    with autograd.record():
        out = outputs_of(net, x, y)
    out[0].backward(retain_graph=True)
    see(x.grad)
    autograd.backward(out)
    return out


def early(net, x, y, see):
    with autograd.record():
        out = outputs_of(net, x, y)
        see(out[-1])
        loss = out[0].sum()
    see(out[0])
    loss.backward()
    return out


def chained(net, x, y, see):
    """The network on what it gave itself."""
    with autograd.record():
        out = outputs_of(net, x, y)
        out = outputs_of(net, out[0], x)
    autograd.backward(out)
    return out


def grad(net, x, y, see):
    with autograd.record():
        out = outputs_of(net, x, y)
        for g in autograd.grad(out[0], [x, y], retain_graph=False):
            see(g)
    return out


def second(net, x, y, see):
    """Gradients of gradients."""
    with autograd.record():
        out = outputs_of(net, x, y)
        slope = autograd.grad(out[0].sum(), x, create_graph=True)[0]
        loss = (slope * slope).sum()
    loss.backward()
    return [loss]


def predict(net, x, y, see):
    return outputs_of(net, x, y)


def predict_on_the_tape(net, x, y, see):
    with autograd.record(train_mode=False):
        out = outputs_of(net, x, y)
    out[0].backward()
    return out


def train_mode(net, x, y, see):
    with autograd.train_mode():
        return outputs_of(net, x, y)


def paused(net, x, y, see):
    with autograd.record():
        with autograd.pause(train_mode=True):
            inside = outputs_of(net, x, y)
        out = outputs_of(net, x * 2, inside[0])
    autograd.backward(out)
    return inside + out


def same_twice(net, x, y, see):
    with autograd.record():
        out = outputs_of(net, x, x)
    autograd.backward(out)
    return out


def detached(net, x, y, see):
    with autograd.record():
        out = outputs_of(net, x.detach(), y)
    out[-1].backward()
    return out


MODES = {f.__name__.removesuffix('_'): f for f in (all_, first, heads, outside, twice, early, chained, grad, second,
                                                   predict, predict_on_the_tape, train_mode, paused, same_twice,
                                                   detached)}
# Where results may differ in their last digits, and why.  Everything else is the same bit for bit.
# A gradient that has three parts, some through one input of a block and some through another, or from outside, is added
# up in another order; that of a sum outside has one number for all elements, which a plan copies.
ROUNDED = {'chained', 'outside', 'paused', 'second', 'same_twice', 'early'}
# Loops and branches are one operator of a graph, where the parts of a gradient from within are added up first; an
# identity is none, so that the parts of its gradient are parts of its input's.
NESTED = {'cond', 'loop', 'while', 'same'}
# torch's gradient of a product divides by its factors if none of them is 0, which a plan does not know beforehand.
LOOKS_AT_VALUES = {'reduce'}
# A graph goes on with views that a plain block copies; products of matrices, and sums, with other strides have other
# last digits.
STRIDED = {'turn', 'slice', 'split', 'joined', 'tile', 'swap', 'flip', 'instance norm', 'index', 'row', 'new axis',
           'like'}


# ---------------------------------------------------------------------- running and comparing
def values(random, batch):
    made = [nd.array(random.normal(size=(batch, 4))) for _ in range(2)]
    return [x.as_np_ndarray() for x in made] if mx.util.is_np_array() else made


def set_parameters(params, random):
    for name in sorted(params):
        base = name.removeprefix('net_').rstrip('0123456789')
        value = random.normal(size=SHAPES[base]) * 0.5
        if base in ('var', 'gamma'):
            value = numpy.abs(value) + 0.5
        params[name].set_data((mx.np if mx.util.is_np_array() else nd).array(value))


def run(case, hybridize):
    mx.random.seed(case.seed)
    random = numpy.random.RandomState(case.seed)
    net = Net(case.graph) if case.graph.table == 'nd' else NpNet(case.graph)
    net.initialize()
    params = net.collect_params()
    set_parameters(params, random)
    for number, p in enumerate(params.values()):
        if case.req == 'mixed' and not p.name.rstrip('0123456789').endswith(STATES):
            p.grad_req = ('write', 'add', 'null')[number % 3]
    if hybridize:
        net.hybridize(**dict.fromkeys(case.flags, True))
    log = []
    for mode, batch in case.rounds:
        x, y = values(random, batch)
        for array in (x, y):
            array.attach_grad()
        # parameters that no gradient reaches: a plain block leaves theirs alone, a hybridized one gives zeros
        for p in params.values():
            if p.grad_req == 'write':
                p.zero_grad()

        def see(array, mode=mode):
            log.append((mode, array.asnumpy()))
        try:
            for out in MODES[mode](net, x, y, see):
                see(out)
        except mx.MXNetError as error:
            log.append((mode, type(error).__name__))
        see(x.grad)
        see(y.grad)
        for p in params.values():
            see(p.data())
            if p.grad_req != 'null':
                see(p.grad())
                if mode == 'all':
                    p.set_data(p.data() - 0.01 * p.grad().clip(-1, 1))
    return log


def difference(case):
    plain, planned = run(case, False), run(case, True)
    folds = {'static_alloc', 'static_shape'} <= set(case.flags)
    names = {name for name, *_ in case.graph.lines}
    rounded = {m for m, _ in case.rounds} & ROUNDED or names & (LOOKS_AT_VALUES | NESTED) \
        or names & STRIDED and len(names) > 1
    for number, ((mode, a), (_, b)) in enumerate(zip(plain, planned, strict=False)):
        if isinstance(a, str) or isinstance(b, str):
            if isinstance(a, str):
                return None             # nothing to differentiate; of a block, every output depends on every input
            return f'{number}: {mode} gives {a}, hybridized {b}'
        rtol = 1e-4 if rounded else 1e-5 if folds and mode == 'predict' else 0
        if a.dtype != b.dtype or a.shape != b.shape or not numpy.allclose(a, b, rtol, rtol, equal_nan=True):
            return f'{number}: {mode} gives {a.dtype} {a}, hybridized {b.dtype} {b}'
    return None


def smaller_cases(case):
    for i in range(len(case.rounds)):
        if len(case.rounds) > 1:
            yield dataclasses.replace(case, rounds=case.rounds[:i] + case.rounds[i + 1:])
    for graph in smaller_graphs(case.graph):
        yield dataclasses.replace(case, graph=graph)
    for name, value in (('flags', ()), ('req', 'write')):
        if getattr(case, name) != value:
            yield dataclasses.replace(case, **{name: value})


def shrunk(case, fails):
    again = True
    while again:
        again = False
        for smaller in smaller_cases(case):
            if fails(smaller):
                case, again = smaller, True
                break
    return case


def check(case, difference):
    found = difference(case)
    if found is not None:
        small = shrunk(case, lambda c: difference(c) is not None)
        pytest.fail(f'{small}\n{difference(small)}\nmade from {case}:\n{found}')


@pytest.mark.parametrize('seed', seeds(60))
def test_blocks(seed):
    chance = chance_of(seed)
    graph = random_graph(chance)
    modes = ['all', *chance.sample(sorted(MODES), 3)]
    if OWN_GRADIENT & {name for name, *_ in graph.lines}:
        modes = ['all', 'heads', 'predict', 'outside']
    rounds = tuple((chance.choice(modes), chance.choice((3, 3, 2))) for _ in range(chance.randint(4, 8)))
    check(Case(graph, chance.choice(FLAGS), seed, chance.choice(('write', 'write', 'mixed')), rounds), difference)


@pytest.mark.parametrize('seed', seeds(30))
def test_traced_blocks_of_numpy_operators(seed):
    chance = chance_of(f'np {seed}')
    graph = random_graph(chance, 'np')
    modes = ['all', *chance.sample(sorted(MODES), 3)]
    rounds = tuple((chance.choice(modes), chance.choice((3, 3, 2))) for _ in range(chance.randint(4, 8)))
    with mx.util.np_array(True), mx.util.np_shape(True):
        check(Case(graph, chance.choice(FLAGS), seed, chance.choice(('write', 'write', 'mixed')), rounds), difference)


# ---------------------------------------------------------------------- executors
def bound_difference(case):
    """What an executor does otherwise than a plain block, step by step; None if nothing."""
    random = numpy.random.RandomState(case.seed)
    net, symbol = Net(case.graph), symbol_of(case.graph)
    net.initialize()
    params = net.collect_params()
    set_parameters(params, random)
    shapes = {name: (3, 4) for name in ('x', 'y') if name in symbol.list_arguments()}
    exe = symbol.simple_bind(mx.cpu(), grad_req='write', **shapes)
    for name, array in (*exe.arg_dict.items(), *exe.aux_dict.items()):
        if name not in shapes:
            array[:] = params[f'net_{name}'].data()
    for turn, (mode, _) in enumerate(case.rounds):
        x, y = values(random, 3)
        for name, array in (('x', x), ('y', y)):
            array.attach_grad()
            if name in shapes:
                exe.arg_dict[name][:] = array
        train = mode != 'predict'
        mx.random.seed(turn)
        found = exe.forward(is_train=train)
        seeds = [nd.array(random.normal(size=o.shape)) for o in found]
        if train:
            exe.backward(seeds)
        mx.random.seed(turn)
        if train:
            with autograd.record():
                out = outputs_of(net, x, y)
            try:
                autograd.backward(out, seeds)
            except mx.MXNetError:
                return None             # nothing to differentiate
        else:
            out = outputs_of(net, x, y)
        pairs = [('output', a, b) for a, b in zip(out, found, strict=True)]
        pairs += [(name, params[f'net_{name}'].data(), exe.aux_dict[name]) for name in exe.aux_dict]
        if train:
            pairs += [(name, {'x': x, 'y': y}[name].grad if name in shapes else params[f'net_{name}'].grad(), gradient)
                      for name, gradient in exe.grad_dict.items()]
        rtol = 1e-4 if {name for name, *_ in case.graph.lines} & (LOOKS_AT_VALUES | NESTED | STRIDED) else 0
        for name, a, b in pairs:
            if not numpy.allclose(a.asnumpy(), b.asnumpy(), rtol, rtol, equal_nan=True):
                return f'round {turn}, {mode}: {name} is {a.asnumpy()}, of the executor {b.asnumpy()}'
    return None


@pytest.mark.parametrize('seed', seeds(30))
def test_executors(seed):
    chance = chance_of(-seed)
    rounds = tuple((chance.choice(('all', 'all', 'predict')), 3) for _ in range(5))
    check(Case(random_graph(chance), seed=seed, rounds=rounds), bound_difference)


def test_every_parameter_is_in_a_slot():
    assert {name for slot in range(SLOTS) for name in Net(Graph()).collect_params() if name.endswith(str(slot))} \
        == {f'net_{name}{slot}' for slot in range(SLOTS) for name in SHAPES}
