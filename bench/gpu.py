"""`python -m bench.gpu`: training and inference on a CUDA device, ours beside torch eager and hand-made CUDA graphs.

Every number is a median of runs taken in turns, each ended by a synchronisation.  `--json FILE` keeps them, `--compile`
adds torch.compile, `--only` chooses rows by name.  Peak memory is that of a process of its own.  Where JAX is installed
for a GPU, or JAX_PYTHON names a Python that has it, it is measured too, in a process of its own.
"""
import argparse
import contextlib
import itertools
import json
import logging
import os
import statistics
import subprocess
import sys
import time
import warnings

from .gpu_zoo import zoo_rows
from .peers import HINTS, Remote, jax_python, start


def measure(torch, functions, rounds, repeats):
    """{label: median seconds of a call}; each round runs every function `repeats` times."""
    samples = {label: [] for label in functions}
    for function in functions.values():
        _sample(torch, function, 5)
    for _ in range(rounds):
        for label, function in functions.items():
            samples[label].append(_sample(torch, function, repeats))
    return {label: statistics.median(times) for label, times in samples.items()}


def _sample(torch, function, repeats):
    """Seconds of a call; work of another process (peers.py) times itself."""
    if isinstance(function, Remote):
        return function.sample(repeats) / repeats
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(repeats):
        function()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / repeats


@contextlib.contextmanager
def jax_peer(batch):
    """A function of a row's name that gives JAX's part in it: {} where there is none."""
    python = jax_python()
    if python is None:
        print(f'no JAX: {HINTS["JAX"]}')
        yield lambda name: {}
        return
    with start(python, 'import jax_gpu', f'jax_gpu.cases({batch}), jax_gpu.settle') as peer:
        known = peer('names')
        if not known:
            print(f'no JAX: that of {python} sees no GPU')
        yield lambda name: {'JAX': Remote(peer, name)} if name in known else {}


def compiled_cases(make, options):
    """Steps with networks that torch has compiled, in two modes, if asked for; `make` takes the mode."""
    return {'compile': make('default'), 'reduce': make('reduce-overhead')} if options.compile else {}


# ---------------------------------------------------------------------- the MLP of the tutorials
def torch_mlp(torch, graph=False, compiled=None):
    nn = torch.nn
    net = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, **({'fused': True} if graph else {}))
    if compiled:
        net = torch.compile(net, mode=compiled)
    loss_of = nn.CrossEntropyLoss()
    x, y = torch.rand(64, 784, device='cuda'), torch.arange(64, device='cuda') % 10

    def step():
        optimizer.zero_grad(set_to_none=not graph)
        loss_of(net(x), y).backward()
        optimizer.step()

    return graphed(torch, step) if graph else step


def graphed(torch, step):
    """A step as a whole in a CUDA graph, as one would make it by hand."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()

    def replay(kept=step):          # what the graph reads must stay alive
        graph.replay()
    return replay


PROMISES = {'static_alloc': True, 'static_shape': True}


def gluon_mlp(mx, batches=8, estimator=False, mean=False, flags=PROMISES):
    """A step of the MLP; with `estimator`, that of `Estimator.fit` for a batch that is there."""
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Dense(64, activation='relu'), nn.Dense(64, activation='relu'), nn.Dense(10))
    net.initialize(mx.init.Xavier(), ctx=mx.gpu())
    net.hybridize(**flags)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01})
    data = [(mx.nd.random.uniform(shape=(64, 784), ctx=mx.gpu()),
             mx.nd.array([i % 10 for i in range(64)], ctx=mx.gpu())) for _ in range(batches)]
    turn = itertools.cycle(data)
    if estimator:
        made = mx.gluon.contrib.estimator.Estimator(net, loss_of, trainer=trainer, context=mx.gpu())
        return lambda: made._backward_and_step(next(turn), 0)

    def step():
        x, y = next(turn)
        with mx.autograd.record():
            loss = loss_of(net(x), y)
            if mean:
                loss = loss.mean()
        loss.backward()
        trainer.step(1 if mean else 64)

    return step


def module_mlp(mx, batches=938):
    """An epoch of `Module.fit` (as many batches as MNIST has), and their number; they are on the device already."""
    from .module import BATCH, mlp
    module = mx.mod.Module(mlp(mx), context=mx.gpu(), logger=logging.Logger('quiet', logging.ERROR))
    data = mx.nd.random.uniform(shape=(BATCH * batches, 784), ctx=mx.gpu())
    label = mx.nd.array([i % 10 for i in range(BATCH * batches)], ctx=mx.gpu())
    feed = mx.io.NDArrayIter(data, label, batch_size=BATCH)

    def epoch():
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            module.fit(feed, num_epoch=1, optimizer_params={'learning_rate': 0.01}, initializer=mx.init.Xavier())

    return epoch, batches


def mlp_rows(mx, torch, options):
    cases = {'ours': gluon_mlp(mx), 'torch': torch_mlp(torch), 'graph': torch_mlp(torch, graph=True),
             **compiled_cases(lambda mode: torch_mlp(torch, compiled=mode), options)}
    title = 'MLP step, Gluon'
    yield title, measure(torch, {**cases, **options.jax(title)}, 11, 300)
    yield 'MLP step, hybridize() alone', measure(torch, {'ours': gluon_mlp(mx, flags={})}, 11, 300)
    yield 'MLP step, mean of the losses', measure(torch, {'ours': gluon_mlp(mx, mean=True)}, 11, 300)
    yield 'MLP step, Estimator', measure(torch, {'ours': gluon_mlp(mx, estimator=True)}, 11, 300)
    epoch, batches = module_mlp(mx)
    times = measure(torch, {'ours': epoch}, 5, 1)
    yield 'MLP step, Module.fit', {'ours': times['ours'] / batches}


# ---------------------------------------------------------------------- ResNet-50
def torch_resnet50(torch):
    from .resnet50 import network
    return network(torch.nn)


def resnet_rows(mx, torch, options):
    batch = options.batch
    cases = {'ours': _resnet_step(mx, batch), 'torch': _torch_resnet_step(torch, batch),
             'graph': graphed(torch, _torch_resnet_step(torch, batch, graph=True)),
             **compiled_cases(lambda mode: _torch_resnet_step(torch, batch, compiled=mode), options)}
    title = f'ResNet-50 bf16 b{batch} step'
    yield title, measure(torch, {**cases, **options.jax(title)}, 5, 10)
    del cases
    torch.cuda.empty_cache()
    title = 'ResNet-50 fp32 b1 infer'
    yield title, measure(torch, {'ours': _resnet_infer(mx), 'torch': _torch_resnet_infer(torch),
                                 **options.jax(title)}, 7, 20)
    yield f'{title}, hybridize() alone', measure(torch, {'ours': _resnet_infer(mx, {})}, 7, 20)


def _resnet_step(mx, batch):
    net = mx.gluon.model_zoo.vision.resnet50_v1()
    net.initialize(mx.init.Xavier(), ctx=mx.gpu())
    net.cast('bfloat16')
    net.hybridize(static_alloc=True, static_shape=True)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01, 'momentum': 0.9,
                                                             'multi_precision': True})
    x = mx.nd.random.uniform(shape=(batch, 3, 224, 224), ctx=mx.gpu()).astype('bfloat16')
    y = mx.nd.array([i % 1000 for i in range(batch)], ctx=mx.gpu())

    def step():
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(batch)

    return step


def _torch_resnet_step(torch, batch, graph=False, compiled=None):
    net = torch_resnet50(torch).cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    if compiled:
        net = torch.compile(net, mode=compiled)
    loss_of = torch.nn.CrossEntropyLoss()
    x = torch.rand(batch, 3, 224, 224, device='cuda').to(memory_format=torch.channels_last)
    y = torch.arange(batch, device='cuda') % 1000

    def step():
        optimizer.zero_grad()
        with torch.autocast('cuda', torch.bfloat16, cache_enabled=not graph):
            loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()

    return step


def _resnet_infer(mx, flags=PROMISES):
    net = mx.gluon.model_zoo.vision.resnet50_v1()
    net.initialize(mx.init.Xavier(), ctx=mx.gpu())
    net.hybridize(**flags)
    x = mx.nd.random.uniform(shape=(1, 3, 224, 224), ctx=mx.gpu())
    return lambda: net(x)


def _torch_resnet_infer(torch):
    net = torch_resnet50(torch).cuda().eval()
    x = torch.rand(1, 3, 224, 224, device='cuda')

    def infer():
        with torch.no_grad():
            net(x)

    return infer


# ---------------------------------------------------------------------- LSTM
def lstm_rows(mx, torch, options):
    steps, batch, width = 35, 64, 650
    layer = mx.gluon.rnn.LSTM(width, 2, input_size=width)
    layer.initialize(ctx=mx.gpu())
    layer.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.uniform(shape=(steps, batch, width), ctx=mx.gpu())

    def ours():
        with mx.autograd.record():
            out = layer(x)
        out.backward()

    theirs = torch.nn.LSTM(width, width, 2).cuda()
    data = torch.rand(steps, batch, width, device='cuda')
    ones = torch.ones(steps, batch, width, device='cuda')

    def torch_step():
        for p in theirs.parameters():
            p.grad = None
        theirs(data)[0].backward(ones)

    title = 'LSTM 2x650 t35 b64'
    yield title, measure(torch, {'ours': ours, 'torch': torch_step, **options.jax(title)}, 7, 20)


# ---------------------------------------------------------------------- branches
@contextlib.contextmanager
def _streams(count):
    before = os.environ.get('MXNET_GPU_WORKER_NSTREAMS')
    os.environ['MXNET_GPU_WORKER_NSTREAMS'] = str(count)
    try:
        yield
    finally:
        if before is None:
            del os.environ['MXNET_GPU_WORKER_NSTREAMS']
        else:
            os.environ['MXNET_GPU_WORKER_NSTREAMS'] = before


def _trained(mx, net, inputs, label, batch):
    net.initialize(mx.init.Xavier(), ctx=mx.gpu())
    net.hybridize(static_alloc=True, static_shape=True)
    loss_of = mx.gluon.loss.L2Loss()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.001})

    def step():
        with mx.autograd.record():
            loss = loss_of(net(*inputs), label)
        loss.backward()
        trainer.step(batch)

    return step


def _heads(mx, batch=64, width=256, heads=8):
    """A trunk with several heads, as for several tasks."""
    nn = mx.gluon.nn

    class Heads(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.trunk = nn.Dense(width, activation='relu', in_units=width)
            self.heads = [nn.HybridSequential() for _ in range(heads)]
            for head in self.heads:
                head.add(nn.Dense(width, activation='relu', in_units=width), nn.Dense(8, in_units=width))
                self.register_child(head)

        def hybrid_forward(self, F, x):
            x = self.trunk(x)
            return F.concat(*[head(x) for head in self.heads], dim=1)

    x = mx.nd.random.uniform(shape=(batch, width), ctx=mx.gpu())
    return _trained(mx, Heads(), [x], mx.nd.ones((batch, 8 * heads), ctx=mx.gpu()), batch)


def _siamese(mx, batch=16):
    """Two pictures through one tower of convolutions."""
    nn = mx.gluon.nn

    class Siamese(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.tower = nn.HybridSequential()
            for channels in (16, 32, 64):
                self.tower.add(nn.Conv2D(channels, 3, activation='relu'), nn.MaxPool2D())
            self.tower.add(nn.Dense(64))

        def hybrid_forward(self, F, x, y):
            return self.tower(x) - self.tower(y)

    pictures = [mx.nd.random.uniform(shape=(batch, 1, 28, 28), ctx=mx.gpu()) for _ in range(2)]
    return _trained(mx, Siamese(), pictures, mx.nd.ones((batch, 64), ctx=mx.gpu()), batch)


def _inception_infer(mx):
    net = mx.gluon.model_zoo.vision.inception_v3()
    net.initialize(mx.init.Xavier(), ctx=mx.gpu())
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.uniform(shape=(1, 3, 299, 299), ctx=mx.gpu())
    return lambda: net(x)


def _inception_step(mx, batch=4):
    x = mx.nd.random.uniform(shape=(batch, 3, 299, 299), ctx=mx.gpu())
    return _trained(mx, mx.gluon.model_zoo.vision.inception_v3(), [x], mx.nd.ones((batch, 1000), ctx=mx.gpu()), batch)


def branch_rows(mx, torch, options):
    """Streams for independent branches beside one stream."""
    for title, make, repeats in (('8 heads b64 step', _heads, 200), ('siamese b16 step', _siamese, 200),
                                 ('Inception v3 b1 infer', _inception_infer, 30),
                                 ('Inception v3 b4 step', _inception_step, 10)):
        cases = {}
        for label, count in (('ours', 4), ('1 stream', 1)):
            with _streams(count):
                cases[label] = make(mx)
                for _ in range(8):
                    cases[label]()
        yield title, measure(torch, cases, 7, repeats)


# ---------------------------------------------------------------------- memory
def memory_rows(mx, torch, options):
    """Memory of a training step, in a process for each: what tensors occupy at most, what is held of the device."""
    title = f'ResNet-50 bf16 b{options.batch} step'
    found = {}
    for label in ('ours', 'torch'):
        text = subprocess.run([sys.executable, '-m', 'bench.gpu', '--batch', str(options.batch), '--memory', label],
                              capture_output=True, text=True, check=True).stdout
        found[label] = json.loads(text.splitlines()[-1])
    for number, what in enumerate(('peak', 'held')):
        yield f'{title}, {what}', {label: sizes[number] for label, sizes in found.items()}


def peak_memory(mx, torch, label, batch):
    """In GiB: [what tensors occupy at most during ten steps, what is held of the device after them]."""
    step = _resnet_step(mx, batch) if label == 'ours' else _torch_resnet_step(torch, batch)
    for _ in range(10):
        step()
    torch.cuda.synchronize()
    return [torch.cuda.max_memory_allocated() / 2 ** 30, torch.cuda.memory_reserved() / 2 ** 30]


FAMILIES = {'mlp': mlp_rows, 'branches': branch_rows, 'lstm': lstm_rows, 'memory': memory_rows, 'resnet': resnet_rows,
            'zoo': zoo_rows}


def _line(times, memory):
    """A row as text."""
    scale, unit = (1, 'GiB') if memory else (1e6, 'us')
    line = ''.join(f'{label:>9}{value * scale:11.{3 if memory else 1}f} {unit}' for label, value in times.items())
    other = next((label for label in ('torch', '1 stream') if label in times), None)
    return line if other is None else f'{line}   ratio {times["ours"] / times[other]:.3f}'


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench.gpu', description=__doc__)
    parser.add_argument('--json', help='file for the results')
    parser.add_argument('--only', default='', help='families whose name contains this: ' + ', '.join(FAMILIES))
    parser.add_argument('--networks', nargs='*', default=(),
                        help="of the family zoo, only these: resnet18_v1, 'vgg16_bn float32', ...")
    parser.add_argument('--batch', type=int, default=128, help='batch size of the ResNet-50 step')
    parser.add_argument('--compile', action='store_true', help='torch.compile as well, in its two modes')
    parser.add_argument('--memory', choices=('ours', 'torch'), help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    import torch

    import mxnet as mx
    if not torch.cuda.is_available():
        print('torch sees no CUDA device')
        return 1
    if options.memory:
        print(json.dumps(peak_memory(mx, torch, options.memory, options.batch)))
        return 0
    print(f'mxnet {mx.__version__}, torch {torch.__version__}, {torch.cuda.get_device_name()}')
    rows = []
    with jax_peer(options.batch) as options.jax:
        for name, family in FAMILIES.items():
            if options.only not in name:
                continue
            for title, times in family(mx, torch, options):
                rows.append({'name': title, **times})
                print(f'{title:33}{_line(times, memory=name == "memory")}', flush=True)
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(rows, file, indent=1)
    return 0


if __name__ == '__main__':
    sys.exit(main())
