"""Latencies and bandwidths of this machine, and what they say about more workers than it has: docs/en/scaling.md.

    python -m bench.scaling --json scaling.json --chart docs/images/scaling.png
"""
import argparse
import json
import math
import os
import subprocess
import sys

WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)

# what others publish of their hardware: seconds of a message, bytes a second of one worker
NETWORKS = {'NVLink and 400 Gb/s InfiniBand': (6e-6, 40e9), '100 Gb/s Ethernet': (15e-6, 11e9),
            '10 Gb/s Ethernet': (30e-6, 1.1e9)}
# bytes of gradients, seconds of forward and backward
MODELS = {'ResNet-50, bf16, 128 pictures a GPU': (51e6, 0.029), 'ResNet-50, float32': (102e6, 0.060)}


# ---------------------------------------------------------------------- the model
def ring(workers, size, latency, bandwidth):
    """Seconds of adding up `size` bytes in a ring: every worker sends and receives 2 (n - 1) pieces of size / n."""
    return 0.0 if workers == 1 else 2 * (workers - 1) * (latency + size / workers / bandwidth)


def tree(workers, size, latency, bandwidth):
    """The same in a double binary tree, which NCCL takes where a ring has too many steps."""
    return 0.0 if workers == 1 else 2 * math.ceil(math.log2(workers)) * latency + 2 * size / bandwidth


def step(workers, size, compute, latency, bandwidth, bucket=25e6, overlap=0.6, jitter=0.02, sums=min):
    """Seconds of a step of dist_sync.

    Backward is two thirds of the computation, and what travels while it runs costs nothing, up to the share `overlap`.
    Everyone waits for the slowest: with a spread of `jitter` times the computation that is sqrt(2 ln n) spreads later.
    """
    buckets = max(1, math.ceil(size / bucket))
    travel = buckets * sums(ring(workers, size / buckets, latency, bandwidth),
                            tree(workers, size / buckets, latency, bandwidth))
    hidden = min(travel, overlap * compute * 2 / 3) * (buckets - 1) / buckets
    late = jitter * compute * math.sqrt(2 * math.log(workers)) if workers > 1 else 0.0
    return compute + travel - hidden + late


def asynchronous(workers, servers, size, compute, call, bandwidth):
    """Seconds of a step of dist_async: its own, or the time in which the servers get through a round of all workers."""
    own = compute + 2 * (call + size / bandwidth)
    return max(own, workers * 2 * (call + size / servers / bandwidth))


# ---------------------------------------------------------------------- measuring
def measured():
    """Latency and bandwidth of sums by Gloo and in shared memory, and of calls of Ray actors, on this machine."""
    found = {}
    for workers in (2, 4):
        times = job('all_reduce', workers)
        small, large = min(times), max(times)
        latency = times[small] / (2 * (workers - 1))
        bandwidth = 2 * (workers - 1) / workers * large / max(times[large] - times[small], 1e-9)
        found[f'all_reduce, {workers} processes'] = {'latency': latency, 'bandwidth': bandwidth, 'times': times}
    for workers in (2, 4):
        times = job('shared', workers)
        small, large = min(times), max(times)
        found[f'shared memory, {workers} processes'] = {
            'latency': times[small], 'bandwidth': large / max(times[large] - times[small], 1e-9), 'times': times}
    found['store'] = job('store', 2)
    try:
        times = job('ray', 1)
        small, large = min(times), max(times)
        found['Ray actor'] = {'latency': times[small], 'times': times,
                              'bandwidth': large / max(times[large] - times[small], 1e-9)}
    except RuntimeError as error:
        print(error, file=sys.stderr)
    return found


def job(kind, workers):
    """What worker 0 of a job of this file printed."""
    environment = {**os.environ, 'OMP_NUM_THREADS': '1', 'PYTHONPATH': os.pathsep.join(
        [os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.environ.get('PYTHONPATH', '')])}
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', str(workers), '-s', '1', sys.executable,
                           os.path.abspath(__file__), '--worker', kind], env=environment, stdout=subprocess.PIPE,
                          text=True)
    lines = [line[4:] for line in done.stdout.splitlines() if line.startswith('[0] {')]
    if done.returncode or not lines:
        raise RuntimeError(f'the job of {kind} failed:\n{done.stdout}')
    return {int(size) if size.isdigit() else size: value for size, value in json.loads(lines[-1]).items()}


def worker(kind):
    """One worker of such a job."""
    import statistics
    import time

    import numpy
    import torch
    import torch.distributed as dist

    import mxnet as mx
    from mxnet._dist.world import world

    def median(call, count):
        for _ in range(3):
            call()
        times = []
        for _ in range(count):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    found = {}
    if kind in ('all_reduce', 'shared'):
        store = mx.kv.create('dist_sync')
        if kind == 'all_reduce':
            dist.init_process_group('gloo')
        add_up = dist.all_reduce if kind == 'all_reduce' else lambda t: world().wait(world().sum(t, 'a sum'))
        for size in (2**8, 2**14, 2**18, 2**22, 2**24):
            tensor = torch.zeros(size)
            found[4 * size] = median(lambda tensor=tensor: add_up(tensor), 200 if size < 2**20 else 12)
    elif kind == 'store':
        store = mx.kv.create('dist_sync')
        member = world()._met.member
        member.set('x', 'y')
        found['operation'] = median(lambda: member.get('x'), 500)
        store.barrier()
    else:
        store = mx.kv.create('dist_async')
        link = store._links[0]
        for size in (2**8, 2**18, 2**22, 2**24):
            store.init(str(size), mx.nd.zeros((size,)))
            out = numpy.zeros(size, 'float32')
            found[4 * size] = median(lambda size=size, out=out: numpy.copyto(
                out, link.answer(link.ask(store._id, 'pull', [str(size)]))[0][0]), 100 if size < 2**20 else 12)
    if store.rank == 0:
        print(json.dumps(found), flush=True)


# ---------------------------------------------------------------------- showing
def table(found):
    """The lines of docs/en/scaling.md."""
    lines = []
    for name, value in found.items():
        if 'latency' in value:
            lines.append(f'{name}: {value["latency"] * 1e6:.0f} us a message, {value["bandwidth"] / 1e9:.2f} GB/s')
    lines.append(f'common store: {found["store"]["operation"] * 1e6:.0f} us an operation')
    for model, (size, compute) in MODELS.items():
        for network, (latency, bandwidth) in NETWORKS.items():
            times = [step(n, size, compute, latency, bandwidth) for n in (1, 8, 64, 512, 4096)]
            cells = [f'{seconds * 1e3:.0f} ms ({times[0] / seconds:.0%})' for seconds in times]
            lines.append(f'| {model} | {network} | ' + ' | '.join(cells) + ' |')
    call, bandwidth = found['Ray actor']['latency'], found['Ray actor']['bandwidth']
    size, compute = MODELS['ResNet-50, float32']
    for share in (0.125, 0.5, 1):
        cells = []
        for n in (1, 8, 64, 512, 4096):
            servers = max(1, int(n * share))
            seconds = asynchronous(n, servers, size, compute, call, bandwidth)
            cells.append(f'{seconds * 1e3:.0f} ms ({compute / seconds:.0%})')
        lines.append(f'| dist_async, {share:g} servers a worker | ' + ' | '.join(cells) + ' |')
    return lines


def chart(path):
    """Efficiency by the number of workers."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True, layout='constrained')
    for axis, (model, (size, compute)) in zip(axes, MODELS.items(), strict=True):
        for network, (latency, bandwidth) in NETWORKS.items():
            both, rings = ([compute / step(n, size, compute, latency, bandwidth, sums=sums) for n in WORKERS]
                           for sums in (min, lambda ring, tree: ring))
            line, = axis.plot(WORKERS, both, marker='o', label=network)
            axis.plot(WORKERS, rings, linestyle=':', color=line.get_color())
        axis.set(xscale='log', xlabel='workers', title=model, ylim=(0, 1.02))
        axis.set_xscale('log', base=2)
        axis.set_xticks([1, 8, 64, 512, 4096], ['1', '8', '64', '512', '4,096'])
        axis.grid(alpha=0.3)
    axes[0].set_ylabel('computing / whole step')
    figure.legend(*axes[0].get_legend_handles_labels(), loc='outside lower center', ncols=3,
                  title='full: rings or trees; dotted: rings only')
    figure.savefig(path, dpi=110)


def main(argv=None):
    """Measures, prints, draws."""
    parser = argparse.ArgumentParser(prog='python -m bench.scaling', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--worker', help=argparse.SUPPRESS)
    parser.add_argument('--json', help='file for what was measured')
    parser.add_argument('--chart', help='file for the chart')
    options = parser.parse_args(argv)
    if options.worker:
        worker(options.worker)
        return
    found = measured()
    print('\n'.join(table(found)))
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as file:
            json.dump(found, file, indent=1)
    if options.chart:
        chart(options.chart)


if __name__ == '__main__':
    main()
