"""One worker of bench/hosts.py, on a host of its own: prints one JSON object a case.

dist_sync, Gloo and torch's DistributedDataParallel take turns in the same processes.  The bytes are those that the
host's interface has counted, the share of the cores is the time of all workers on a processor.
"""
import datetime
import json
import os
import statistics
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist

import mxnet as mx
from mxnet._dist.world import world

SIZES = {'1 MB': 2**18, '16 MB': 2**22}
SECONDS = 1.0                   # for each side of a case
BATCH, LAYERS = 64, (784, 1024, 1024, 10)
WORDS, WIDTH, LENGTH = 50_000, 64, 32       # of the embedding: 12.2 MB of weights, of which a batch touches 4 %


def sent():
    """Bytes that this host has sent."""
    with open('/proc/net/dev', encoding='ascii') as file:
        return next(int(line.split()[9]) for line in file if line.split()[0] == 'eth0:')


def everyone(value):
    """What every worker gave."""
    return world().objects(value)


def measured(calls):
    """{name: (median seconds, bytes that a host sends, cores that all workers use)} of calls that take turns."""
    for call in calls.values():
        call()
    start = time.perf_counter()
    for call in calls.values():
        call()
    each = (time.perf_counter() - start) / len(calls)
    count = everyone(max(3, min(100, int(SECONDS / each))))[0]
    found = {name: [] for name in calls}
    for _ in range(count):
        for name, call in calls.items():
            world().barrier()
            bytes_before, start, used = sent(), time.perf_counter(), time.process_time()
            call()
            found[name].append((time.perf_counter() - start, sent() - bytes_before, time.process_time() - used))
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in found.items()}
    shares = everyone([medians[name][2] for name in calls])
    return {name: (*medians[name][:2], sum(share[i] for share in shares) / medians[name][0])
            for i, name in enumerate(calls)}


def sums(label, count):
    """A push and a pull, and the bare sum."""
    store = mx.kv.create('dist_sync')
    value, out, tensor = mx.nd.ones((count,)), mx.nd.zeros((count,)), torch.ones(count)
    store.init('w', value)
    packed = mx.kv.create('dist_sync')
    packed.set_gradient_compression({'type': '2bit', 'threshold': 0.5})
    packed.init('w', value)
    return {'case': label, **measured({'dist_sync': lambda: store.pushpull('w', value, out=out),
                                       'bare': lambda: dist.all_reduce(tensor),
                                       '2 bits': lambda: packed.pushpull('w', value, out=out)})}


def steps():
    """A training step of an MLP, by a Trainer and by DistributedDataParallel."""
    net = mx.gluon.nn.HybridSequential()
    for before, units in zip(LAYERS[:-2], LAYERS[1:-1], strict=True):
        net.add(mx.gluon.nn.Dense(units, activation='relu', in_units=before))
    net.add(mx.gluon.nn.Dense(LAYERS[-1], in_units=LAYERS[-2]))
    net.initialize()
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1e-3}, kvstore='dist_sync')
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    data, label = mx.nd.random.normal(shape=(BATCH, LAYERS[0])), mx.nd.zeros((BATCH,))

    def ours():
        with mx.autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(BATCH)
        net[0].bias.data().wait_to_read()

    layers = []
    for before, units in zip(LAYERS[:-1], LAYERS[1:], strict=True):
        layers += [torch.nn.Linear(before, units), torch.nn.ReLU()]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers[:-1]))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    inputs, targets = torch.randn(BATCH, LAYERS[0]), torch.zeros(BATCH, dtype=torch.int64)

    def theirs():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    return {'case': f'step of an MLP, {sum(p.numel() for p in model.parameters()) * 4 / 2**20:.1f} MB',
            **measured({'dist_sync': ours, 'bare': theirs})}


def embeddings():
    """A training step of an embedding, whose gradient has the rows of the batch's words only, and two layers."""
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Embedding(WORDS, WIDTH, sparse_grad=True), mx.gluon.nn.Flatten(),
            mx.gluon.nn.Dense(128, activation='relu', in_units=WIDTH * LENGTH),
            mx.gluon.nn.Dense(10, in_units=128))
    net.initialize()
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1e-3}, kvstore='dist_sync')
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    words = torch.randint(WORDS, (BATCH, LENGTH), generator=torch.Generator().manual_seed(world().rank))
    data, label = mx.nd.array(words.numpy()), mx.nd.zeros((BATCH,))

    def ours():
        with mx.autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(BATCH)
        net[0].weight.data().wait_to_read()

    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Embedding(WORDS, WIDTH, sparse=True), torch.nn.Flatten(), torch.nn.Linear(WIDTH * LENGTH, 128),
        torch.nn.ReLU(), torch.nn.Linear(128, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    targets = torch.zeros(BATCH, dtype=torch.int64)

    def theirs():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(words), targets).backward()
        optimizer.step()

    return {'case': 'step of an embedding', **measured({'dist_sync': ours, 'bare': theirs})}


WAYS = {'float32': (None, 0.05), '2 bits': ({'type': '2bit', 'threshold': 0.5}, 0.05),
        '1 bit': ({'type': '1bit', 'threshold': 0.0}, 0.005)}       # compression and rate; one bit stands for 1 or -1
GOAL, STEPS = 0.85, 400                     # of 500 test digits, after at most so many steps


class Learner:
    """An MLP that learns the digits of examples/data, each worker a part of every batch."""

    def __init__(self, compression, rate):
        mx.random.seed(1)
        self.net = mx.gluon.nn.HybridSequential()
        for before, units in zip(LAYERS[:-1], LAYERS[1:], strict=True):
            self.net.add(mx.gluon.nn.Dense(units, activation='relu' if units > 10 else None, in_units=before))
        self.net.initialize(mx.init.Xavier())
        self.net.hybridize()
        self.trainer = mx.gluon.Trainer(self.net.collect_params(), 'sgd', {'learning_rate': rate, 'momentum': 0.9},
                                        kvstore='dist_sync', compression_params=compression)
        sampler = mx.gluon.data.ShardedBatchSampler(1000, 32, world().size, world().rank, shuffle=True, seed=3)
        self.order = (indices for _ in range(STEPS) for indices in sampler if len(indices) == 32)
        self.steps = self.seconds = self.sent = self.accuracy = 0

    def step(self, data, label, loss_of):
        indices = next(self.order)
        x, y = mx.nd.array(data[indices]), mx.nd.array(label[indices])
        world().barrier()
        before, start = sent(), time.perf_counter()
        with mx.autograd.record():
            loss = loss_of(self.net(x), y)
        loss.backward()
        self.trainer.step(32 * world().size)
        self.net[0].bias.data().wait_to_read()
        self.seconds += time.perf_counter() - start
        self.sent += sent() - before
        self.steps += 1


def digits():
    """Time, steps and bytes until an accuracy is reached, with what is sent in full and in two bits or one."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'examples'))
    from digits import load  # type: ignore[import-not-found]  # of examples
    data, label = (array.reshape(len(array), -1).squeeze() for array in load())
    test, answers = (array.reshape(len(array), -1).squeeze() for array in load('t10k'))
    loss_of, learners = mx.gluon.loss.SoftmaxCrossEntropyLoss(), {name: Learner(*way) for name, way in WAYS.items()}
    left = dict(learners)
    while left:
        for name, learner in list(left.items()):        # in turns: what else the machine does meets all of them
            learner.step(data, label, loss_of)
            if learner.steps % 5 == 0:
                right = learner.net(mx.nd.array(test)).argmax(axis=1).asnumpy() == answers
                learner.accuracy = float(right.mean())
                if learner.accuracy >= GOAL or learner.steps >= STEPS:
                    del left[name]
    return {'case': 'digits', 'goal': GOAL,
            'training': {name: [one.seconds, one.steps, one.sent, one.accuracy] for name, one in learners.items()}}


def main():
    job = world()
    torch.set_num_threads(1)
    store = dist.TCPStore(os.environ['BENCH_MEETING'], 29555, job.size, job.rank == 0,
                          timeout=datetime.timedelta(seconds=60))
    dist.init_process_group('gloo', store=store, rank=job.rank, world_size=job.size)
    several = (lambda label=label, count=count: sums(label, count) for label, count in SIZES.items())
    for case in (*several, steps, embeddings, digits):
        found = case()
        if job.rank == 0:
            print(json.dumps(found), flush=True)
    job.barrier()
    dist.destroy_process_group()


if __name__ == '__main__':
    main()
