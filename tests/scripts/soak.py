"""Long runs and faults as one command with a report: memory, files and threads must stay as they were.

    make soak                                   # about an hour and a half
    make soak ARGS="--steps 100000 --only gluon --only files --no-faults"

A soak repeats one thing many times in a process of its own.  Resident memory, open files and threads are noted twenty
times on the way; memory counts as flat when the median of the last five is at most 8 MB, or 2 %, above that of the
second five.  The fault suites are those tests that kill, stop, starve and damage things, slow ones included.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FAULTS = (
    'io/test_gluon_data_faults.py',
    'files/test_files_commits.py',
    'files/test_files_hostile.py',
    'files/test_files_fuzz.py',
    'files/test_files_limits.py',
    'files/test_files_paths.py',
    'files/test_files_remote.py',
    'io/test_recordio.py',
    'tools/test_cli_records.py',
    'tools/test_serve_hostile.py',
    'module/test_module_resume.py',
    'autograd/test_autograd_function.py',
    'distributed/test_dist_launch.py',
    'distributed/test_dist_sync.py',
    'distributed/test_dist_async.py',
    'distributed/test_dist_kills.py',
    'distributed/test_dist_faults.py',
    'distributed/test_dist_security.py',
)


# ---------------------------------------------------------------------- what is repeated: -> a function of a step
def gluon(mx, folder):
    """A convolutional network, hybridized, trained with Adam; batches of changing sizes."""
    from mxnet import autograd
    from mxnet.gluon import Trainer, loss, nn

    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, activation='relu'), nn.BatchNorm(), nn.MaxPool2D(), nn.Flatten(), nn.Dense(10))
    net.initialize()
    net.hybridize()
    trainer, criterion = Trainer(net.collect_params(), 'adam'), loss.SoftmaxCrossEntropyLoss()

    def step(number):
        size = 4 + number % 3
        x, y = mx.nd.random.uniform(shape=(size, 1, 12, 12)), mx.nd.array([i % 10 for i in range(size)])
        with autograd.record():
            found = criterion(net(x), y)
        found.backward()
        trainer.step(size)
        found.mean().asscalar()

    return step


def module(mx, folder):
    """Module: forward, backward, update, metrics; predictions between."""
    import numpy as np

    data = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=16)
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.relu(data), num_hidden=3), name='softmax')
    batches = mx.io.NDArrayIter(np.random.rand(32, 8), np.random.randint(0, 3, 32), 8)
    made = mx.mod.Module(net)
    made.bind(batches.provide_data, batches.provide_label)
    made.init_params()
    made.init_optimizer()
    metric = mx.metric.Accuracy()

    def step(number):
        batches.reset()
        for batch in batches:
            made.forward_backward(batch)
            made.update()
            made.update_metric(metric, batch.label)
        made.predict(batches)
        metric.reset()

    return step


def arrays(mx, folder):
    """Imperative arithmetic on arrays of random shapes, gradients, indexing, mx.np."""
    from mxnet import autograd

    chance = random.Random(1)

    def step(number):
        shape = tuple(chance.randrange(1, 30) for _ in range(chance.randrange(1, 4)))
        x = mx.nd.random.normal(shape=shape)
        x.attach_grad()
        with autograd.record():
            y = (mx.nd.exp(x) * 2 + x[0]).sum()
        y.backward()
        x.grad.asnumpy()
        mx.np.array(x.asnumpy()).std().item()

    return step


def graphs(mx, folder):
    """Symbols made, written, read, inferred, bound and run, none of them twice."""

    def step(number):
        x = mx.sym.var('x')
        for _ in range(1 + number % 4):
            x = mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=2 + number % 7), act_type='tanh')
        net = mx.sym.load_json(x.tojson())
        net.infer_shape(x=(2, 3))
        bound = net.simple_bind(mx.cpu(), x=(2, 3))
        bound.forward(is_train=True)
        bound.backward(mx.nd.ones(bound.outputs[0].shape))

    return step


def files(mx, folder):
    """Parameters, states, symbols and records, written and read again."""
    from mxnet import recordio

    net = mx.gluon.nn.Dense(4, in_units=3)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), 'adam')

    def step(number):
        with mx.autograd.record():
            net(mx.nd.ones((2, 3))).sum().backward()
        trainer.step(1)
        net.save_parameters(f'{folder}/a.params')
        net.load_parameters(f'{folder}/a.params')
        trainer.save_states(f'{folder}/a.states')
        trainer.load_states(f'{folder}/a.states')
        with recordio.MXIndexedRecordIO(f'{folder}/a.idx', f'{folder}/a.rec', 'w') as writer:
            for i in range(3):
                writer.write_idx(i, bytes(100))
        with recordio.MXIndexedRecordIO(f'{folder}/a.idx', f'{folder}/a.rec', 'r') as reader:
            reader.read_idx(2)

    return step


def mistakes(mx, folder):
    """Calls that raise: an error must not keep what it was about."""

    def step(number):
        for wrong in (
            lambda: mx.nd.ones((100, 100)) + mx.nd.ones((3, 4)),
            lambda: mx.nd.Convolution(mx.nd.ones((1, 1, 50, 50)), kernel=(3, 3), num_filter=2),
            lambda: mx.sym.load_json('{"nodes": []}'),
            lambda: mx.nd.load(f'{folder}/nothing'),
            lambda: mx.nd.ones((2, 3)).reshape((7,)),
        ):
            try:
                wrong()
            except mx.MXNetError:
                continue
            raise AssertionError('a mistake was not noticed')

    return step


def loader(mx, folder):
    """A DataLoader with two processes, left in the middle of a pass every other time."""
    import numpy as np

    from mxnet.gluon import data

    batches = data.DataLoader(data.ArrayDataset(np.random.rand(64, 50), np.arange(64)), 8, num_workers=2, shuffle=True)

    def step(number):
        for i, (x, _) in enumerate(batches):
            x.asnumpy()
            if number % 2 and i == 3:
                break

    return step


def stores(mx, folder):
    """KVStore: push and pull of several arrays, with an optimizer."""
    store = mx.kv.create('local')
    store.set_optimizer(mx.optimizer.SGD(momentum=0.9))
    keys = list(range(5))
    store.init(keys, [mx.nd.ones((50, 20))] * 5)
    out = [mx.nd.zeros((50, 20)) for _ in keys]

    def step(number):
        store.push(keys, [mx.nd.ones((50, 20)) for _ in keys])
        store.pull(keys, out=out)

    return step


# name -> (what is repeated, its share of --steps)
SOAKS = {
    'gluon': (gluon, 1.0),
    'module': (module, 0.25),
    'arrays': (arrays, 1.0),
    'graphs': (graphs, 0.25),
    'files': (files, 0.25),
    'mistakes': (mistakes, 1.0),
    'loader': (loader, 0.05),
    'stores': (stores, 1.0),
}


def measure():
    """(resident MB, open files, threads) of this process."""
    resident = int(Path('/proc/self/statm').read_text().split()[1]) * os.sysconf('SC_PAGE_SIZE') / 1e6
    return resident, len(os.listdir('/proc/self/fd')), threading.active_count()


def soak(name, steps):
    """Runs one soak in this process and prints what was noted, as JSON."""
    import gc
    import warnings

    import mxnet as mx

    warnings.simplefilter('ignore')
    make, _ = SOAKS[name]
    with tempfile.TemporaryDirectory() as folder:
        step = make(mx, folder)
        for number in range(max(3, steps // 20)):          # plans, caches and pools are made
            step(number)
        notes, began = [], time.monotonic()
        for part in range(20):
            for number in range(steps * part // 20, steps * (part + 1) // 20):
                step(number)
            gc.collect()
            notes.append(measure())
        print(json.dumps({'notes': notes, 'seconds': time.monotonic() - began}))


def flat(notes):
    """(whether a run held on to nothing, what grew)."""
    resident, files, threads = zip(*notes)
    early, late = statistics.median(resident[5:10]), statistics.median(resident[15:])
    grown = []
    if late - early > max(8, 0.02 * early):
        grown.append(f'memory from {early:.0f} to {late:.0f} MB')
    for what, numbers in (('open files', files), ('threads', threads)):
        if statistics.median(numbers[15:]) > statistics.median(numbers[5:10]) + 2:
            grown.append(f'{what} from {numbers[5]} to {numbers[-1]}')
    return not grown, ', '.join(grown)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--steps', type=int, default=20000, help='steps of a soak (20000); slow ones take a part of it')
    parser.add_argument('--only', action='append', choices=list(SOAKS), help='this soak only; may come several times')
    parser.add_argument('--no-faults', action='store_true', help='no fault suites')
    parser.add_argument('--run', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        soak(options.run, options.steps)
        return 0
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1'}
    rows, bad = [], 0
    for name in options.only or SOAKS:
        steps = max(20, int(options.steps * SOAKS[name][1]))
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), '--run', name, '--steps', str(steps)],
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            rows.append((name, steps, '', '', f'ended with status {done.returncode}: {done.stderr[-400:]}'))
            bad += 1
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        good, grown = flat(found['notes'])
        bad += not good
        resident = [n[0] for n in found['notes']]
        rows.append((name, steps, f'{found["seconds"]:.0f}', f'{resident[5]:.0f} {resident[-1]:.0f}', grown or 'flat'))
        print(f'{name}: {rows[-1][-1]}', flush=True)
    if not options.no_faults:
        for file in FAULTS:
            began = time.monotonic()
            done = subprocess.run(
                [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', str(HERE.parent / file)],
                env=environment,
                capture_output=True,
                text=True,
                cwd=ROOT,
            )
            said = done.stdout.strip().splitlines()
            rows.append((file, '', f'{time.monotonic() - began:.0f}', '', said[-1] if said else done.stderr[-200:]))
            bad += done.returncode != 0
            print(f'{file}: {rows[-1][-1]}', flush=True)
    print(f'\n{"":28} {"steps":>7} {"s":>6} {"MB":>9}  result')
    for name, steps, seconds, memory, result in rows:
        print(f'{name:28} {steps:>7} {seconds:>6} {memory:>9}  {result}')
    print(f'{bad} of {len(rows)} are not as they should be' if bad else 'all as they should be')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
