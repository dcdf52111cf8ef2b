"""Networks of the model zoo on a CPU, predicting and training; `python -m bench.zoo`.

Also `python -m bench --only zoo`.  Ours, torch in both layouts, ONNX Runtime (installed here, or in an environment
whose Python ORT_PYTHON names) and MXNet 1.9.1 (MXNET191_PYTHON), each in a process of its own, in turns.  All of them
have the same weights: those of our network as a file, as a torch module (`gluon.to_torch`) and as an ONNX model.

Besides the time of a call, the table has the seconds from the file to the first result, and by how much the memory of
the process grew until the end at its highest (Linux).
"""
import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import sys
import tempfile

from .peer import Peer, upstream_python
from .table import show

NETWORKS = ('resnet18_v1', 'resnet50_v1', 'mobilenet1.0', 'mobilenetv2_1.0', 'squeezenet1.1', 'densenet121',
            'inceptionv3', 'vgg11')
SMALL = ('resnet18_v1', 'resnet50_v1', 'mobilenet1.0', 'mobilenetv2_1.0')      # these also take pictures of 96 x 96
TASKS = ('predict 1', 'Module predicts 1', 'predict 16', 'train 8')
ROUNDS = 5
SECONDS = 0.25          # of calls in a sample

# what every peer has: start(...) -> (seconds until the first result, MiB); sample(count) -> seconds
_COMMON = '''
import gc, time
_work = None

def _high(reset=False):
    """MiB that the process has taken at most since the last reset."""
    try:
        if reset:
            with open('/proc/self/clear_refs', 'w') as file:
                file.write('5')
        with open('/proc/self/status') as file:
            return next(int(line.split()[1]) for line in file if line.startswith('VmHWM')) / 1024
    except OSError:
        return float('nan')

def start(*what):
    global _work
    _work = None
    gc.collect()
    before, begin = _high(True), time.perf_counter()
    _work = make(*what)
    _work()
    first = time.perf_counter() - begin
    for _ in range(3):
        _work()
    return [first, _high() - before]

def sample(count):
    time.sleep(0.003)
    begin = time.perf_counter()
    for _ in range(count):
        _work()
    return time.perf_counter() - begin
'''
# ours and 1.9.1
_MXNET = _COMMON + '''
import mxnet as mx

def make(path, task, shape):
    x = mx.nd.random.uniform(shape=shape)
    if task.startswith('Module'):
        symbol, args, auxs = mx.model.load_checkpoint(path, 0)
        module = mx.mod.Module(symbol, label_names=None)
        module.bind([('data', tuple(shape))], for_training=False)
        module.set_params(args, auxs)
        batch = mx.io.DataBatch([x])
        def work():
            module.forward(batch, is_train=False)
            module.get_outputs()[0].wait_to_read()
        return work
    net = mx.gluon.SymbolBlock.imports(path + '-symbol.json', ['data'], path + '-0000.params')
    net.hybridize(static_alloc=True, static_shape=True)
    if task.startswith('predict'):
        return lambda: net(x).wait_to_read()
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize(static_alloc=True, static_shape=True)
    y = mx.nd.arange(shape[0])
    def work():
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        mx.nd.waitall()
    return work
'''
# translated by ours, with C's allocator as it comes
_TORCH = '''
import os
os.environ['MXNET_CPU_MEM_POOL_TYPE'] = 'Unpooled'
''' + _COMMON + '''
import torch
import mxnet as mx
FORMAT = torch.{memory}

def make(path, task, shape):
    net = mx.gluon.SymbolBlock.imports(path + '-symbol.json', ['data'], path + '-0000.params')
    module = mx.gluon.to_torch(net, inputs=mx.nd.zeros(tuple(shape))).to(memory_format=FORMAT)
    x = torch.rand(shape).contiguous(memory_format=FORMAT)
    if task.startswith('predict'):
        module.eval()
        def work():
            with torch.inference_mode():
                module(x)
        return work
    loss_of, y = torch.nn.CrossEntropyLoss(reduction='sum'), torch.arange(shape[0])
    parameters = list(module.parameters())
    def work():
        for p in parameters:
            p.grad = None
        loss_of(module(x), y).backward()
    return work
'''
_ONNX = _COMMON + '''
import os
import numpy as np
import onnxruntime

def make(path, task, shape):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get('OMP_NUM_THREADS', 0)) or len(os.sched_getaffinity(0))
    session = onnxruntime.InferenceSession(f'{path}-{shape[0]}.onnx', options, providers=['CPUExecutionProvider'])
    x, name = np.random.rand(*shape).astype('float32'), session.get_inputs()[0].name
    return lambda: session.run(None, {name: x})
'''


def _onnx_python():
    named = os.environ.get('ORT_PYTHON')
    return named or (sys.executable if importlib.util.find_spec('onnxruntime') else None)


PEERS = {
    'ours': (lambda: sys.executable, _MXNET),
    'torch': (lambda: sys.executable, _TORCH.replace('{memory}', 'contiguous_format')),
    'channels last': (lambda: sys.executable, _TORCH.replace('{memory}', 'channels_last')),
    'ONNX Runtime': (_onnx_python, _ONNX),
    '1.9.1': (upstream_python, _MXNET),
}


def shape_of(name, task):
    """The pictures of a task; None where the network does not do it."""
    count = int(task.split()[-1])
    size = 299 if name == 'inceptionv3' else 96 if task.startswith('train') and name in SMALL else 224
    return None if task.startswith('train') and name not in SMALL else (count, 3, size, size)


def takes(column, task):
    """Whether a peer does a task."""
    return not (column == 'ONNX Runtime' and task.startswith('train')) \
        and not (task.startswith('Module') and column not in ('ours', '1.9.1'))


def export(folder, name):
    """Writes a network as files that all peers read; -> their common path."""
    import mxnet as mx
    path = str(pathlib.Path(folder) / name)
    net = mx.gluon.model_zoo.vision.get_model(name)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    net(mx.nd.zeros(shape_of(name, 'predict 1')))
    net.export(path)
    return path


def measure(path, name, task, columns, rounds=ROUNDS):
    """{column: {'time', 'first', 'MiB'}} of the peers that do a task."""
    import mxnet as mx
    shape, found, peers = shape_of(name, task), {}, {}
    try:
        for column in columns:
            if not takes(column, task):
                continue
            if column == 'ONNX Runtime' and not os.path.exists(f'{path}-{shape[0]}.onnx'):
                mx.onnx.export_model(path + '-symbol.json', path + '-0000.params', [shape], 'float32',
                                     f'{path}-{shape[0]}.onnx')
            peer = peers[column] = Peer(PEERS[column][0](), PEERS[column][1])
            first, memory = peer('start', path, task, shape)
            found[column] = {'first': first, 'MiB': memory}
        counts = {c: max(1, int(SECONDS / max(peer('sample', 1), 1e-6))) for c, peer in peers.items()}
        samples = {column: [] for column in peers}
        for _ in range(rounds):
            for column, peer in peers.items():
                samples[column].append(peer('sample', counts[column]) / counts[column])
        for column, times in samples.items():
            found[column]['time'] = statistics.median(times)
    finally:
        for peer in peers.values():
            peer.close()
    return found


def report(networks=NETWORKS, tasks=TASKS, rounds=ROUNDS, without=()):
    """Prints the table and returns its rows."""
    columns = [c for c, (python, _) in PEERS.items() if c not in without and python()]
    print('the model zoo: a call, ours as a ratio to it; seconds to the first result; MiB at the most')
    print(f'{"":36}' + ''.join(f'{c:>31}' for c in columns), flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in networks:
            path = export(folder, name)
            for task in tasks:
                if shape_of(name, task) is None:
                    continue
                found = measure(path, name, task, columns, rounds)
                line = f'{name + ", " + task:36}'
                for column in columns:
                    if column in found:
                        f = found[column]
                        line += f'{show(f["time"])}{found["ours"]["time"] / f["time"]:6.2f}{f["first"]:6.2f} s' \
                                f'{f["MiB"]:6.0f}'
                    else:
                        line += f'{"-":>31}'
                print(line.rstrip(), flush=True)
                rows.append({'name': f'{name}, {task}', **found, 'over': False})
    return rows


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench.zoo', description=__doc__.splitlines()[0])
    parser.add_argument('--json', help='file for the results')
    parser.add_argument('--only', default='', help='only rows whose name contains this')
    parser.add_argument('--without', default='', help='columns to leave out, such as torch,1.9.1')
    parser.add_argument('--rounds', type=int, default=ROUNDS)
    options = parser.parse_args(argv)
    networks = [n for n in NETWORKS if any(options.only in f'{n}, {t}' for t in TASKS)]
    tasks = [t for t in TASKS if any(options.only in f'{n}, {t}' for n in networks)]
    rows = report(networks, tasks, options.rounds, options.without.split(','))
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(rows, file, indent=1)
    return 0


if __name__ == '__main__':
    sys.exit(main())
