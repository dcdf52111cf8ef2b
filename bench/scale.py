"""`python -m bench.scale`: how the cost of a hybridized MLP grows with its depth: planning, a step, memory.

Layers of 64, batches of 64.  The memory of a step is what its values occupy at most, beside parameters and gradients,
as torch's profiler sees it; that of the plan is what Python holds on to after planning.  `--json FILE` keeps the
numbers, `--plot FILE` draws them.
"""
import argparse
import gc
import json
import sys
import time
import tracemalloc

from .cores import hold


def training(mx, depth):
    """A function that takes a step of a network with so many layers, which has no plan yet."""
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    for _ in range(depth):
        net.add(nn.Dense(64, activation='relu', in_units=64))
    net.add(nn.Dense(10, in_units=64))
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01})
    x, y = mx.nd.random.uniform(shape=(64, 64)), mx.nd.array([i % 10 for i in range(64)])

    def step():
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(64)

    step()
    return step


def kept(mx, depth):
    """Bytes that Python holds on to after planning."""
    step = training(mx, depth)
    gc.collect()
    tracemalloc.start()
    step()
    step()                              # the first run of a plan is that of its trace
    gc.collect()
    found = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return found


def occupied(torch, step):
    """Bytes that the values of a step occupy, at most."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        step()
    events = [e for e in profile.profiler.kineto_results.events() if e.name() == '[memory]']
    now = most = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return most


def measure(mx, depth):
    import torch
    step = training(mx, depth)
    begin = time.perf_counter()
    step()                              # the plan is made here
    planning = time.perf_counter() - begin
    for _ in range(3):
        step()
    memory = occupied(torch, step)
    times = []
    for _ in range(30):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    times.sort()
    return {'layers': depth, 'planning_s': planning, 'step_us': times[len(times) // 2] * 1e6,
            'values_kb': memory / 1024, 'plan_kb': kept(mx, depth) / 1024}


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench.scale', description=__doc__)
    parser.add_argument('--json', help='file for the results')
    parser.add_argument('--plot', help='file for a chart')
    parser.add_argument('--most', type=int, default=512, help='the largest number of layers')
    options = parser.parse_args(argv)
    hold()
    import mxnet as mx
    measure(mx, 1)                      # imports, threads
    rows, depth = [], 2
    while depth <= options.most:
        rows.append(measure(mx, depth))
        print('{layers:5d} layers{planning_s:9.3f} s planning{step_us:10.0f} us a step{values_kb:10.0f} KB of values'
              '{plan_kb:10.0f} KB for the plan'.format(**rows[-1]), flush=True)
        depth *= 2
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(rows, file, indent=1)
    if options.plot:
        plot(rows, options.plot)
    return 0


def plot(rows, path):
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, 4, figsize=(13, 3), layout='constrained')
    layers = [row['layers'] for row in rows]
    for axis, key, label in zip(axes, ('step_us', 'planning_s', 'values_kb', 'plan_kb'),
                                ('a step, us', 'planning, s', 'values of a step, KB', 'the plan, KB'), strict=True):
        axis.loglog(layers, [row[key] for row in rows], marker='o', base=2)
        axis.set_xlabel('layers')
        axis.set_title(label)
        axis.grid(True, which='both', alpha=0.3)
    figure.savefig(path, dpi=120)


if __name__ == '__main__':
    sys.exit(main())
