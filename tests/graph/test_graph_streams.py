"""Streams for independent branches (`_graph/cuda/streams.py`): their order, call by call, and CUDA graphs with them."""
import operator
import sys
import threading

import numpy
import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.codegen import plan as plans
from mxnet._graph.codegen import writing
from mxnet._graph.cuda import capture
from mxnet._graph.cuda.streams import START, cost, schedule, split_convolutions
from mxnet._graph.passes.simplify import simplify


# ---------------------------------------------------------------------- who waits for whom
def traced(function, *shapes):
    """The calls of a function and of its gradients, as a plan has them: (calls, what is handed out)."""
    def joint(*values):
        leaves = [v.detach().requires_grad_() for v in values]
        out = function(*leaves)
        return [out, *torch.autograd.grad(out, leaves, torch.ones_like(out))]

    graph = make_fx(joint, tracing_mode='fake')(*[torch.rand(s) for s in shapes]).graph
    simplify(graph)
    results = next(n for n in graph.nodes if n.op == 'output').args[0]
    return [n for n in graph.nodes if n.op == 'call_function'], set(results)


def check(calls, kept, limit=4):
    """Follows a schedule and asserts that nothing is read before it is made, or overwritten before it was read."""
    dying, reused = writing._lifetimes(calls, writing.Writer(), kept)
    found = schedule(calls, reused, dying, limit)
    if found is None:
        return None
    number_of = {n: i for i, n in enumerate(calls)}
    thin = {n for n in calls if n.target is operator.getitem or n.target.is_view}
    memory, home, readers = {}, {}, {}          # value -> whose memory it has; by that: stream, and calls that touch it
    known = [set() for _ in range(limit)]       # the calls that each stream comes after
    marks, at, streams = {START: set()}, 0, {}

    def makers(node):
        if node not in number_of:
            return set()
        return set().union(*[makers(a) for a in node.all_input_nodes]) if node in thin else {number_of[node]}

    alive = {}
    joined = {0}
    for i, node in enumerate(calls):
        if i in found.before:
            at, waits = found.before[i]
            for mark in waits:
                known[at] |= marks[mark]
                joined.add(at)
        assert at in joined, 'a stream begins without being part of the recording'
        if node in thin:
            memory[node] = memory.get(node.all_input_nodes[0])
        else:
            missing = set().union(*[makers(a) for a in node.all_input_nodes]) - known[at]
            assert not missing, f'{node.name} on stream {at} does not wait for {[calls[m].name for m in missing]}'
            first = node.all_input_nodes[0] if node.all_input_nodes else None
            memory[node] = memory[first] if i in reused or node.target._schema.is_mutable else node
            home.setdefault(memory[node], at)
            known[at].add(i)
            streams[i] = at
            for value in (node, *node.all_input_nodes):
                if memory.get(value) is not None:
                    readers.setdefault(memory[value], set()).add(i)
        if memory[node] is not None:
            alive.setdefault(memory[node], set()).add(node)
        if i in found.marks:
            marks[i] = set(known[at])
        for value in found.ends.get(i, ()):
            owner = memory[value]
            if owner is None:
                continue
            alive[owner].discard(value)
            if not alive[owner]:
                early = readers[owner] - known[home[owner]]
                assert not early, f'the memory of {owner.name} is free for others before {early} are over'
    for mark in found.last:
        known[0] |= marks[mark]
    assert known[0] == {i for i, n in enumerate(calls) if n not in thin}, 'something goes on after the end'
    assert len(set(streams.values())) > 1
    return found


def test_towers_run_beside_each_other():
    def net(x, *weights):
        pairs = zip(weights[::2], weights[1::2], strict=True)
        return torch.cat([torch.relu(torch.relu(x @ w) @ v) for w, v in pairs], 1)

    calls, kept = traced(net, (8, 16), *[(16, 16)] * 8)
    found = check(calls, kept)
    products = [i for i, n in enumerate(calls) if 'mm' in str(n.target)][:8]
    where = {i: stream for i, (stream, _) in found.before.items()}
    assert len({where.get(i) for i in products}) >= 3


def test_the_gradients_of_layers():
    def net(x, *weights):
        for w in weights:
            x = torch.relu(x @ w)
        return x.sum()

    assert check(*traced(net, (8, 16), *[(16, 16)] * 6)) is not None


@pytest.mark.parametrize('seed', range(12))
@pytest.mark.parametrize('limit', [2, 4])
def test_any_graph(seed, limit):
    random = numpy.random.RandomState(seed)

    def net(*values):
        values = list(values)
        for _ in range(40):
            a, b = (values[i] for i in random.randint(max(0, len(values) - 8), len(values), 2))
            kind = random.randint(6)
            values.append(a @ b if kind == 0 else a + b if kind == 1 else torch.relu(a) if kind == 2 else
                          a.t() * b if kind == 3 else torch.cat([a, b], 1)[:, :4] if kind == 4 else
                          a.reshape(2, 8).exp().view(4, 4))
        return sum(v.sum() for v in (*values[-5:], *values[:4]))

    calls, kept = traced(net, *[(4, 4)] * 4)
    check(calls, kept, limit)


def test_chains_and_large_work_stay_on_one_stream():
    def chain(x):
        for _ in range(6):
            x = torch.relu(x + 1) * 2
        return x

    assert schedule(*_prepared(*traced(chain, (8, 8))), 4) is None

    def towers(x, *weights):
        return torch.cat([x @ w for w in weights], 1)

    large = traced_fake(towers, (4096, 4096), *[(4096, 4096)] * 4)
    assert cost(large[0][0])[1] > 1e-3
    assert schedule(*_prepared(*large), 4) is None


def test_random_numbers_are_drawn_into_memory_of_their_own():
    def net(x, *weights):
        masks = [torch.empty(8, 16).bernoulli_(0.5) for _ in weights]
        return torch.cat([torch.relu(x @ w) * m for w, m in zip(weights, masks, strict=True)], 1)

    assert check(*traced(net, (8, 16), *[(16, 16)] * 4)) is not None


def test_what_writes_into_its_inputs_stays_in_order():
    calls, kept = traced_fake(lambda x, y: [x.add_(1) @ y, x @ x, y @ y, y @ x], (4, 4), (4, 4))
    assert schedule(*_prepared(calls, kept), 4) is None


def traced_fake(function, *shapes):
    graph = make_fx(function, tracing_mode='fake')(*[torch.empty(s) for s in shapes]).graph
    results = next(n for n in graph.nodes if n.op == 'output').args[0]
    return [n for n in graph.nodes if n.op == 'call_function'], set(results if isinstance(results, list) else [results])


def _prepared(calls, kept):
    dying, reused = writing._lifetimes(calls, writing.Writer(), kept)
    return calls, reused, dying


# ---------------------------------------------------------------------- what is recorded
class Kernels:
    """torch's calls in place of our kernels, which need a GPU."""

    @staticmethod
    def add_bias(x, bias, relu):
        x += bias
        return x.relu_() if relu else x

    @staticmethod
    def column_sums(dy, out=None):
        return torch.sum(dy, 0, out=out)

    @staticmethod
    def relu_back(dy, y, out=None):
        masked = torch.where(y > 0, dy, 0.0)
        return masked, torch.sum(masked, 0, out=out)


def test_what_is_recorded_computes_the_same(monkeypatch):
    """Fused, split and on streams: the same outputs, states and gradients as the plan that is not recorded."""
    class Device:
        type = 'cuda'

    write = plans.step_plan
    monkeypatch.setattr(plans, 'step_plan', lambda graph, constants, count, facts, *rest: write(
        graph, constants, count, {**facts, 'device': Device()}, *rest))
    monkeypatch.setattr(writing.batch_norm, 'available', lambda device: True)
    monkeypatch.setitem(sys.modules, 'mxnet._graph.cuda.kernels', Kernels)
    x = mx.sym.Convolution(mx.sym.var('data'), num_filter=4, kernel=(3, 3), name='conv0')
    x = mx.sym.Activation(mx.sym.BatchNorm(x, name='norm'), act_type='relu')
    x = mx.sym.Flatten(mx.sym.Convolution(x, num_filter=4, kernel=(3, 3), name='conv1'))
    heads = []
    for i in range(3):
        head = mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=8, name=f'first{i}'), act_type='relu')
        heads.append(mx.sym.FullyConnected(head, num_hidden=3, name=f'second{i}'))
    net = mx.sym.SoftmaxOutput(mx.sym.concat(*heads, dim=1), name='softmax')
    executor = net.simple_bind(mx.cpu(), data=(2, 3, 8, 8), softmax_label=(2,))
    for array in executor.arg_arrays:
        array[:] = nd.random.uniform(-1, 1, shape=array.shape)
    executor.arg_dict['softmax_label'][:] = nd.array([1, 4])
    for _ in range(3):
        executor._forward_backward([])
    plan, tensors = executor._bound_training.runner.plan, [a.materialize() for a in executor._arrays]
    source = set(plan.recorded.__code__.co_names)
    assert plan.recorded.__code__.co_varnames[:4] == ('tensors', 'targets', 'at', 'mark')
    assert any('add_bias' in str(v) for v in map(plan.recorded.__globals__.get, source))
    buffers = [b.materialize() for b in executor._bound_training.buffers]
    used, targets = set(), [[torch.full_like(b, 7.0) for b in buffers] for _ in range(2)]
    expected = plan.joint(tensors, targets[0])
    found = plan.recorded(tensors, targets[1], lambda stream, marks: used.add(stream), lambda number: None)
    assert len(used) > 2
    for group, other in zip((*expected, targets[0]), (*found, targets[1]), strict=True):
        for one, two in zip(group, other, strict=True):
            assert (one is None) == (two is None)
            if one is not None:
                torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-6)


def test_a_convolution_and_its_weights_have_gradients_in_two_calls():
    def net(x, w):
        return torch.nn.functional.conv2d(x, w)

    calls, _ = traced(net, (2, 3, 8, 8), (4, 3, 3, 3))
    graph = calls[0].graph
    split_convolutions(graph, set(calls))
    backs = [n for n in graph.nodes if n.target is torch.ops.aten.convolution_backward.default]
    assert [n.args[10] for n in backs] == [[True, False, False], [False, True, False]]
    assert [[u.args[1] for u in n.users] for n in backs] == [[0], [1]]


# ---------------------------------------------------------------------- on a GPU
class Heads(gluon.HybridBlock):
    """A trunk and several heads, with what is hard to record: normalisation, and random numbers in two branches."""

    def __init__(self, heads=4, **kwargs):
        super().__init__(**kwargs)
        self.trunk = gluon.nn.Dense(32, activation='relu', in_units=16)
        self.heads = []
        for number in range(heads):
            head = gluon.nn.HybridSequential()
            head.add(gluon.nn.Dense(24, activation='relu', in_units=32), gluon.nn.BatchNorm(in_channels=24),
                     gluon.nn.Dropout(0.3 if number < 2 else 0.0), gluon.nn.Dense(3, in_units=24))
            self.register_child(head)
            self.heads.append(head)

    def hybrid_forward(self, F, x):
        x = self.trunk(x)
        return F.concat(*[head(x) for head in self.heads], dim=1)


class Siamese(gluon.HybridBlock):
    """One tower for two pictures."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.tower = gluon.nn.HybridSequential()
        self.tower.add(gluon.nn.Conv2D(8, 3, activation='relu', in_channels=3), gluon.nn.GlobalAvgPool2D(),
                       gluon.nn.Flatten(), gluon.nn.Dense(3, in_units=8))

    def hybrid_forward(self, F, x, y):
        return self.tower(x) - self.tower(y)


def train(streams, monkeypatch, rounds=10):
    """Losses, gradients, parameters and predictions of two networks that are trained in turns."""
    monkeypatch.setenv('MXNET_GPU_WORKER_NSTREAMS', str(streams))
    mx.random.seed(5)
    numpy.random.seed(5)
    ctx, found = mx.gpu(), []
    nets = Heads(), Heads(6)
    for net in nets:
        net.initialize(mx.init.Xavier(), ctx=ctx)
        net.hybridize(static_alloc=True, static_shape=True)
    trainers = [gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9}) for net in nets]
    loss_of = gluon.loss.L2Loss()
    for _ in range(rounds):
        for net, trainer in zip(nets, trainers, strict=True):
            x = nd.array(numpy.random.rand(8, 16), ctx=ctx)
            with autograd.record():
                loss = loss_of(net(x), nd.ones((8, 3 * len(net.heads)), ctx=ctx))
            loss.backward()
            trainer.step(8)
            found += [loss.asnumpy(), net(x).asnumpy()]
    for net in nets:
        runner = net._cached_op.deferral.last_step.runner
        assert runner.captured is not None
        found += [a.asnumpy() for p in net.collect_params().values()
                  for a in (p.data(), *([p.grad()] if p.grad_req != 'null' else []))]
    return found


@pytest.mark.gpu
def test_streams_change_no_bit(monkeypatch):
    used, at = set(), capture.Branches.at

    def watched(self, number, marks):
        used.add(number)
        at(self, number, marks)

    monkeypatch.setattr(capture.Branches, 'at', watched)
    one = train(1, monkeypatch)
    assert used == {0}
    several = train(4, monkeypatch)
    assert used == {0, 1, 2, 3}
    for a, b in zip(one, several, strict=True):
        numpy.testing.assert_array_equal(a, b)


@pytest.mark.gpu
@pytest.mark.parametrize('streams', [1, 4])
def test_siamese_networks_and_inception(streams, monkeypatch):
    monkeypatch.setenv('MXNET_GPU_WORKER_NSTREAMS', str(streams))
    ctx = mx.gpu()
    net = Siamese()
    net.initialize(mx.init.Xavier(), ctx=ctx)
    pairs = [[nd.random.uniform(shape=(2, 3, 16, 16), ctx=ctx) for _ in range(2)] for _ in range(6)]

    def step(x, y):
        with autograd.record():
            out = (net(x, y) ** 2).sum()
        out.backward()
        return [out.asnumpy(), *[p.grad().asnumpy() for p in net.collect_params().values()], net(x, y).asnumpy()]

    plain = [step(*pair) for pair in pairs]
    net.hybridize(static_alloc=True, static_shape=True)
    for pair, expected in zip(pairs, plain, strict=True):
        for a, b in zip(step(*pair), expected, strict=True):
            numpy.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
    zoo = gluon.model_zoo.vision.inception_v3(classes=5)
    zoo.initialize(mx.init.Xavier(), ctx=ctx)
    pictures = [nd.random.uniform(shape=(1, 3, 299, 299), ctx=ctx) for _ in range(5)]
    plain = [zoo(x).asnumpy() for x in pictures]
    zoo.hybridize(static_alloc=True, static_shape=True)
    outputs = [zoo(x) for x in pictures]
    for a, b in zip(outputs, plain, strict=True):
        numpy.testing.assert_allclose(a.asnumpy(), b, rtol=1e-2, atol=1e-3)


@pytest.mark.gpu
def test_predictions_in_two_threads():
    """Each thread sees what belongs to its own inputs, though both launch one graph."""
    net = Heads()
    net.initialize(mx.init.Xavier(), ctx=mx.gpu())
    batches = [nd.random.uniform(shape=(4, 16), ctx=mx.gpu()) for _ in range(8)]
    expected = [net(x).asnumpy() for x in batches]
    net.hybridize(static_alloc=True, static_shape=True)
    wrong, begin = [], threading.Barrier(2)

    def work(mine):
        try:
            torch.cuda.synchronize()        # torch warns if a thread begins with a product of matrices
            begin.wait()
            for _ in range(60):
                for i in mine:
                    numpy.testing.assert_allclose(net(batches[i]).asnumpy(), expected[i], rtol=1e-3, atol=1e-4)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(range(k, 8, 2),)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]
    assert next(iter(net._cached_op.predictions.predictors.values())).captured is not None
