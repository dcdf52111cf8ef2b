"""One worker of bench/kvstore.py: prints one JSON object a case.

    remx launch -n 2 python bench/kvstore_worker.py dist_sync

Ours and the bare engine are measured in turns, so that what else runs on the machine slows both down.
"""
import json
import statistics
import sys
import time

import numpy
import torch

import mxnet as mx

SIZES = {'1 KB': 2**8, '1 MB': 2**18, '100 MB': 25 * 2**20}


def medians(calls, seconds=2.0, agree=lambda count: count):
    """{name: median seconds} of calls that take turns, as often as fits into some seconds."""
    for call in calls.values():
        call()
    start = time.perf_counter()
    for call in calls.values():
        call()
    count = agree(max(7, min(500, int(seconds / (time.perf_counter() - start)))))
    times = {name: [] for name in calls}
    for _ in range(count):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def say(**found):
    print(json.dumps(found), flush=True)


def local():
    """Two devices; bare: the sum and the copies in torch."""
    store = mx.kv.create('local')
    for size, count in SIZES.items():
        values = [mx.nd.ones((count,), mx.cpu(i)) for i in range(2)]
        outs = [mx.nd.zeros((count,), mx.cpu(i)) for i in range(2)]
        tensors, copies = ([torch.ones(count) for _ in range(2)] for _ in range(2))
        kept = torch.zeros(count)

        def bare(tensors=tensors, kept=kept, copies=copies):
            torch.add(*tensors, out=kept)
            for copy in copies:
                copy.copy_(kept)

        def ours(size=size, values=values, outs=outs):
            store.push(size, values)
            store.pull(size, outs)

        store.init(size, values[0])
        found = medians({'ours': ours, 'bare': bare})
        say(case=f'local {size}', **found)


def dist_sync():
    """Bare: Gloo's all_reduce of a tensor of the same size, in place."""
    import torch.distributed as dist
    store = mx.kv.create('dist_sync')
    if not dist.is_initialized():
        dist.init_process_group('gloo')     # of the benchmark's own: the store has connections of another kind

    def agree(count):
        count = torch.tensor([count])
        dist.broadcast(count, 0)            # every worker makes the same number of calls: worker 0 decides
        return int(count)

    for size, keys, count in [*((size, 1, count) for size, count in SIZES.items()), ('100 keys of 10 KB', 100, 2560)]:
        names = [f'{size} {i}' for i in range(keys)]
        values, outs = ([mx.nd.ones((count,)) for _ in names] for _ in range(2))
        flat = torch.ones(keys * count)
        store.init(names, values)
        found = medians({'ours': lambda n=names, v=values, o=outs: store.pushpull(n, v, out=o),
                         'bare': lambda f=flat: dist.all_reduce(f)}, agree=agree)
        if store.rank == 0:
            say(case=f'dist_sync {size}', **found)


class Bare:
    """What a program would write itself: an actor with an array."""

    def __init__(self, count):
        self.value = numpy.zeros(count, 'float32')

    def push(self, value):
        """Takes it over."""
        self.value[:] = value

    def pull(self):
        """Gives it."""
        return self.value


def dist_async():
    """Bare: the same two calls of an actor that has one array."""
    store = mx.kv.create('dist_async')
    import ray
    for size, count in SIZES.items():
        value, out = mx.nd.ones((count,)), mx.nd.zeros((count,))
        array, copy = numpy.ones(count, 'float32'), numpy.zeros(count, 'float32')
        actor = ray.remote(num_cpus=0)(Bare).remote(count)

        def bare(actor=actor, array=array, copy=copy):
            actor.push.remote(array)
            numpy.copyto(copy, ray.get(actor.pull.remote()))

        def ours(size=size, value=value, out=out):
            store.push(size, value)
            store.pull(size, out)

        store.init(size, value)
        for _ in range(12):                 # the files of the server's journal have their size then
            ours()
        found = medians({'ours': ours, 'bare': bare,
                         'pushpull': lambda s=size, v=value, o=out: store.pushpull(s, v, out=o)}, seconds=4)
        say(case=f'dist_async {size}', **found)
        ray.kill(actor)


def mlp(batch=256, steps=60):
    """Seconds of a step of the MLP, each worker on a batch of its own."""
    store = mx.kv.create('dist_sync')
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(64, activation='relu'), mx.gluon.nn.Dense(64, activation='relu'), mx.gluon.nn.Dense(10))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01}, kvstore=store)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    data, label = mx.nd.random.uniform(shape=(batch, 784)), mx.nd.zeros((batch,))
    times = []
    for _ in range(steps + 10):
        start = time.perf_counter()
        with mx.autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(batch * store.num_workers)
        mx.nd.waitall()
        times.append(time.perf_counter() - start)
    if store.rank == 0:
        say(case='mlp', workers=store.num_workers, seconds=statistics.median(times[10:]), batch=batch)


if __name__ == '__main__':
    {'local': local, 'dist_sync': dist_sync, 'dist_async': dist_async, 'mlp': mlp}[sys.argv[1]]()
