"""`python -m bench.gpu`: training and inference on a CUDA device, ours beside torch eager and hand-made CUDA graphs.

Every number is a median of runs taken in turns, each ended by a synchronisation.  `--json FILE` keeps them, `--compile`
adds torch.compile, `--only` chooses rows by name.
"""
import argparse
import json
import logging
import statistics
import sys
import time
import warnings


def measure(torch, functions, rounds, repeats):
    """{label: median seconds of a call}; each round runs every function `repeats` times."""
    samples = {label: [] for label in functions}
    for function in functions.values():
        for _ in range(5):
            function()
        torch.cuda.synchronize()
    for _ in range(rounds):
        for label, function in functions.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(repeats):
                function()
            torch.cuda.synchronize()
            samples[label].append((time.perf_counter() - start) / repeats)
    return {label: statistics.median(times) for label, times in samples.items()}


# ---------------------------------------------------------------------- the MLP of the tutorials
def torch_mlp(torch, graph=False):
    nn = torch.nn
    net = nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, **({'fused': True} if graph else {}))
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


def gluon_mlp(mx, batches=8):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Dense(64, activation='relu'), nn.Dense(64, activation='relu'), nn.Dense(10))
    net.initialize(mx.init.Xavier(), ctx=mx.gpu())
    net.hybridize(static_alloc=True, static_shape=True)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01})
    data = [(mx.nd.random.uniform(shape=(64, 784), ctx=mx.gpu()),
             mx.nd.array([i % 10 for i in range(64)], ctx=mx.gpu())) for _ in range(batches)]
    turn = iter(())

    def step():
        nonlocal turn
        batch = next(turn, None)
        if batch is None:
            turn = iter(data)
            batch = next(turn)
        x, y = batch
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(64)

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
    cases = {'ours': gluon_mlp(mx), 'torch': torch_mlp(torch), 'graph': torch_mlp(torch, graph=True)}
    yield 'MLP step, Gluon', measure(torch, cases, 11, 300)
    epoch, batches = module_mlp(mx)
    times = measure(torch, {'ours': epoch}, 5, 1)
    yield 'MLP step, Module.fit', {'ours': times['ours'] / batches}


# ---------------------------------------------------------------------- ResNet-50
def torch_resnet50(torch):
    from .resnet50 import network
    return network(torch.nn)


def resnet_rows(mx, torch, options):
    batch = options.batch
    yield f'ResNet-50 bf16 b{batch} step', measure(torch, {'ours': _resnet_step(mx, batch),
                                                           'torch': _torch_resnet_step(torch, batch)}, 5, 10)
    yield 'ResNet-50 fp32 b1 infer', measure(torch, {'ours': _resnet_infer(mx), 'torch': _torch_resnet_infer(torch)},
                                             7, 20)


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


def _torch_resnet_step(torch, batch):
    net = torch_resnet50(torch).cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    loss_of = torch.nn.CrossEntropyLoss()
    x = torch.rand(batch, 3, 224, 224, device='cuda').to(memory_format=torch.channels_last)
    y = torch.arange(batch, device='cuda') % 1000

    def step():
        optimizer.zero_grad()
        with torch.autocast('cuda', torch.bfloat16):
            loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()

    return step


def _resnet_infer(mx):
    net = mx.gluon.model_zoo.vision.resnet50_v1()
    net.initialize(mx.init.Xavier(), ctx=mx.gpu())
    net.hybridize(static_alloc=True, static_shape=True)
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

    yield 'LSTM 2x650 t35 b64', measure(torch, {'ours': ours, 'torch': torch_step}, 7, 20)


FAMILIES = {'mlp': mlp_rows, 'lstm': lstm_rows, 'resnet': resnet_rows}


def main(argv=None):
    parser = argparse.ArgumentParser(prog='python -m bench.gpu', description=__doc__)
    parser.add_argument('--json', help='file for the results')
    parser.add_argument('--only', default='', help='families whose name contains this: ' + ', '.join(FAMILIES))
    parser.add_argument('--batch', type=int, default=128, help='batch size of the ResNet-50 step')
    options = parser.parse_args(argv)
    import torch

    import mxnet as mx
    if not torch.cuda.is_available():
        print('torch sees no CUDA device')
        return 1
    print(f'mxnet {mx.__version__}, torch {torch.__version__}, {torch.cuda.get_device_name()}')
    rows = []
    for name, family in FAMILIES.items():
        if options.only not in name:
            continue
        for title, times in family(mx, torch, options):
            rows.append({'name': title, **times})
            line = ''.join(f'{label:>8}{seconds * 1e6:12.1f} us' for label, seconds in times.items())
            if 'torch' in times:
                line += f'   ratio {times["ours"] / times["torch"]:.3f}'
            print(f'{title:26}{line}', flush=True)
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(rows, file, indent=1)
    return 0


if __name__ == '__main__':
    sys.exit(main())
