"""`python -m bench.scale`: how the cost of a hybridized MLP grows with its depth: planning, a step, the plan.

Layers of 64, batches of 64.  `--json FILE` keeps the numbers, `--plot FILE` draws them.
"""
import argparse
import json
import sys
import time


def measure(mx, depth):
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
    begin = time.perf_counter()
    step()                              # the plan is made here
    planning = time.perf_counter() - begin
    memory = len(net._cached_op.last_step.runner.plan.source)
    for _ in range(3):
        step()
    times = []
    for _ in range(30):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    times.sort()
    return {'layers': depth, 'planning_s': planning, 'step_us': times[len(times) // 2] * 1e6,
            'source_kb': memory / 1024}


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench.scale', description=__doc__)
    parser.add_argument('--json', help='file for the results')
    parser.add_argument('--plot', help='file for a chart')
    parser.add_argument('--most', type=int, default=512, help='the largest number of layers')
    options = parser.parse_args(argv)
    import mxnet as mx
    measure(mx, 1)                      # imports, threads
    rows, depth = [], 2
    while depth <= options.most:
        rows.append(measure(mx, depth))
        print('{layers:5d} layers{planning_s:9.3f} s planning{step_us:10.0f} us a step{source_kb:10.0f} KB of source'
              .format(**rows[-1]), flush=True)
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
    figure, axes = pyplot.subplots(1, 3, figsize=(10, 3), layout='constrained')
    layers = [row['layers'] for row in rows]
    for axis, key, label in zip(axes, ('step_us', 'planning_s', 'source_kb'),
                                ('a step, us', 'planning, s', 'the plan, KB of source'), strict=True):
        axis.loglog(layers, [row[key] for row in rows], marker='o', base=2)
        axis.set_xlabel('layers')
        axis.set_title(label)
        axis.grid(True, which='both', alpha=0.3)
    figure.savefig(path, dpi=120)


if __name__ == '__main__':
    sys.exit(main())
