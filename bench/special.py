"""Sparse products, a factorisation machine, detection operators and int8 inference; `python -m bench.special`.

Part of `make bench`.  Ours, SciPy's or float32's, and with MXNET191_PYTHON MXNet 1.9.1's, in turns.
"""
import importlib.util
import statistics
import sys
import time
from contextlib import ExitStack

# what runs on ours and on 1.9.1 alike: functions that do the work once and wait for it
WORK = r'''
import time
import numpy as np
import mxnet as mx


def make_csr(rows, columns, each, seed=0):
    """(values, columns, indptr) of a csr matrix with `each` values a row"""
    draw = np.random.RandomState(seed)
    step = columns // each
    indices = draw.randint(0, step, (rows, each)) + np.arange(each) * step
    return (draw.rand(rows * each).astype('float32'), indices.reshape(-1).astype('int64'),
            np.arange(0, rows * each + 1, each).astype('int64'))


ROWS, COLUMNS, EACH, WIDTH = 2048, 100000, 50, 64
csr = mx.nd.sparse.csr_matrix(make_csr(ROWS, COLUMNS, EACH), shape=(ROWS, COLUMNS))
weight = mx.nd.array(np.random.RandomState(1).rand(COLUMNS, WIDTH))
gradient = mx.nd.array(np.random.RandomState(2).rand(ROWS, WIDTH))


def csr_dense():
    mx.nd.sparse.dot(csr, weight).wait_to_read()


def csr_transposed():
    mx.nd.sparse.dot(csr, gradient, transpose_a=True).wait_to_read()


# a factorisation machine: 10,000 samples with 40 features each of 100,000, batches of 500
SAMPLES, FEATURES, FACTORS, BATCH = 10000, 100000, 16, 500
values, indices, indptr = make_csr(SAMPLES, FEATURES, 40, seed=3)
labels = (np.add.reduceat(indices % 2, indptr[:-1]) > 20).astype('float32')
everything = mx.nd.sparse.csr_matrix((np.ones_like(values), indices, indptr), shape=(SAMPLES, FEATURES))
data = [mx.io.DataBatch([everything[i:i + BATCH]], [mx.nd.array(labels[i:i + BATCH])])
        for i in range(0, SAMPLES, BATCH)]


def machine():
    x = mx.sym.var('data', stype='csr')
    w = mx.sym.var('w_weight', stype='row_sparse', shape=(FEATURES, 1), init=mx.init.Zero())
    v = mx.sym.var('v_weight', stype='row_sparse', shape=(FEATURES, FACTORS), init=mx.init.Normal(0.01))
    b = mx.sym.var('b_bias', shape=(1,), init=mx.init.Zero())
    squares = mx.sym.dot(mx.sym.square(x), mx.sym._internal._square_sum(v, axis=1, keepdims=True))
    pairs = mx.sym.sum(mx.sym.square(mx.sym.dot(x, v)), axis=1, keepdims=True) - squares
    score = mx.sym.broadcast_add(mx.sym.dot(x, w), b) + 0.5 * pairs
    module = mx.mod.Module(mx.sym.LogisticRegressionOutput(score, mx.sym.var('label')), label_names=['label'])
    module.bind([('data', (BATCH, FEATURES))], [('label', (BATCH,))])
    module.init_params()
    module.init_optimizer(kvstore=None, optimizer='sgd', optimizer_params={'learning_rate': 0.1})
    return module


module = machine()


def fm_epoch():
    for batch in data:
        module.forward_backward(batch)
        module.update()
    mx.nd.waitall()


draw = np.random.RandomState(4)
corners = draw.rand(20000, 2)
boxes = mx.nd.array(np.concatenate([draw.randint(0, 20, (20000, 1)), draw.rand(20000, 1), corners,
                                    corners + 0.02 + 0.1 * draw.rand(20000, 2)], 1)[None])


def box_nms():
    mx.nd.contrib.box_nms(boxes, overlap_thresh=0.5, coord_start=2, score_index=1, id_index=0).wait_to_read()


anchors = mx.nd.contrib.MultiBoxPrior(mx.nd.zeros((1, 3, 38, 38)), sizes=(0.2, 0.272), ratios=(1, 2, 0.5))
corners = draw.rand(32, 8, 2) * 0.7
truth = mx.nd.array(np.concatenate([draw.randint(0, 20, (32, 8, 1)), corners,
                                    corners + 0.05 + 0.25 * draw.rand(32, 8, 2)], 2))
classes = mx.nd.array(draw.rand(32, 21, anchors.shape[1]))


def multibox_target():
    for part in mx.nd.contrib.MultiBoxTarget(anchors, truth, classes, negative_mining_ratio=3):
        part.wait_to_read()


def timed(function):
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def run_csr_dense(): return timed(csr_dense)
def run_csr_transposed(): return timed(csr_transposed)
def run_fm_epoch(): return timed(fm_epoch)
def run_box_nms(): return timed(box_nms)
def run_multibox_target(): return timed(multibox_target)
'''

# what it is called: (function of WORK, rounds, most that it may take of SciPy's or float32's time and of 1.9.1's)
CASES = {
    'csr x dense': ('csr_dense', 15, (1.0, 1.0)),
    'csr.T x dense': ('csr_transposed', 15, (None, 1.0)),
    'FM, an epoch': ('fm_epoch', 5, (1.0, 1.0)),
    'box_nms, 20,000': ('box_nms', 5, (None, 1.0)),
    'MultiBoxTarget': ('multibox_target', 7, (None, 1.0)),
}
INT8 = 1.0      # most that int8 inference may take of float32's time
WORSE = 0.01    # most that int8 may be worse at telling digits apart


def scipy_cases(space):
    """The same work in SciPy and NumPy."""
    if importlib.util.find_spec('scipy') is None:
        return {}
    np = space['np']
    csr = space['csr'].asscipy()
    weight, gradient = space['weight'].asnumpy(), space['gradient'].asnumpy()
    everything, labels, batch = space['everything'].asscipy(), space['labels'].reshape(-1, 1), space['BATCH']
    w, b = np.zeros((everything.shape[1], 1), 'float32'), np.zeros(1, 'float32')
    v = np.random.RandomState(0).normal(0, 0.01, (everything.shape[1], space['FACTORS'])).astype('float32')

    def fm_epoch():
        rate = 0.1 / batch
        for first in range(0, everything.shape[0], batch):
            x, y = everything[first:first + batch], labels[first:first + batch]
            squared = x.multiply(x).tocsr()
            rows = np.unique(x.indices)
            inner = x @ v
            squares = np.zeros((len(v), 1), 'float32')
            squares[rows] = (v[rows] ** 2).sum(1, keepdims=True)
            score = x @ w + b + 0.5 * ((inner ** 2).sum(1, keepdims=True) - squared @ squares)
            slope = 1 / (1 + np.exp(-score)) - y
            narrow, narrow_squares = x[:, rows].T.tocsr(), squared[:, rows].T.tocsr()
            w[rows] -= rate * (narrow @ slope)
            v[rows] -= rate * (narrow @ (slope * inner) - v[rows] * (narrow_squares @ slope))
            b[:] -= rate * slope.sum()
    return {'csr_dense': lambda: csr @ weight, 'csr_transposed': lambda: csr.T @ gradient, 'fm_epoch': fm_epoch}


def report(rounds=None, int8=True):
    """Prints the tables; returns their rows."""
    from . import peer
    rows = []
    with ExitStack() as stack:
        space: dict = {}
        exec(WORK, space)       # the very text that 1.9.1 runs
        ours = {name: space['run_' + name] for name, _, _ in CASES.values()}
        plain = {name: (lambda f=f: space['timed'](f)) for name, f in scipy_cases(space).items()}
        python = peer.upstream_python()
        old = stack.enter_context(peer.Peer(python, WORK)) if python else None
        print(f'{"":22}{"ours":>12}{"SciPy":>12}{"ratio":>8}{"budget":>8}{"1.9.1":>12}{"ratio":>8}{"budget":>8}')
        for title, (name, count, budgets) in CASES.items():
            times: dict = {'ours': [], 'plain': [], 'old': []}
            for turn in range((rounds or count) + 1):
                for label, run in (('ours', ours[name]), ('plain', plain.get(name)), ('old', old)):
                    if run is not None:
                        taken = run('run_' + name) if run is old else run()
                        if turn:
                            times[label].append(taken)
            rows.append(_line(title, {k: statistics.median(v) for k, v in times.items() if v}, budgets))
    if int8:
        rows += [_int8(rounds or 9), _accuracy()]
    return rows


def _line(title, seconds, budgets):
    text, over = f'{title:22}{seconds["ours"] * 1e3:9.2f} ms', False
    row = {'name': title, 'ours': seconds['ours'], 'over': False}
    for label, budget in zip(('plain', 'old'), budgets, strict=True):
        if label not in seconds:
            text += ' ' * 28
            continue
        ratio = seconds['ours'] / seconds[label]
        over = over or budget is not None and ratio > budget
        text += f'{seconds[label] * 1e3:9.2f} ms{ratio:8.2f}' + (f'{budget:8.2f}' if budget else ' ' * 8)
        row |= {label: seconds[label], f'{label}_ratio': ratio}
    row['over'] = over
    print(text + '  over budget' * over, flush=True)
    return row


def _int8(rounds):
    """ResNet-18 at 1 x 3 x 224 x 224 and batches of 8: int8 against float32."""
    import mxnet as mx
    from mxnet.contrib.quantization import quantize_net
    from mxnet.gluon.model_zoo.vision import resnet18_v1
    net = resnet18_v1()
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.normal(shape=(8, 3, 224, 224))
    net(x)
    small = quantize_net(net, calib_mode='naive', calib_data=[x])
    small.hybridize(static_alloc=True, static_shape=True)
    times: dict = {'int8': [], 'float32': []}
    for turn in range(rounds + 3):
        for label, block in (('float32', net), ('int8', small)):
            begin = time.perf_counter()
            block(x).wait_to_read()
            if turn > 2:        # the first calls make plans
                times[label].append(time.perf_counter() - begin)
    medians = {k: statistics.median(v) for k, v in times.items()}
    ratio = medians['int8'] / medians['float32']
    print(f'{"ResNet-18, int8":22}{medians["int8"] * 1e3:9.2f} ms{medians["float32"] * 1e3:9.2f} ms{ratio:8.2f}'
          f'{INT8:8.2f}  (float32)' + '  over budget' * (ratio > INT8), flush=True)
    return {'name': 'ResNet-18, int8', **medians, 'ratio': ratio, 'budget': INT8, 'over': ratio > INT8}


def _accuracy():
    """A ResNet-18 with few filters learns 1,000 digits; how well float32 and int8 know 500 others."""
    import gzip
    import pathlib

    import numpy as np

    import mxnet as mx
    from mxnet.contrib.quantization import quantize_net
    from mxnet.gluon.model_zoo.vision import resnet
    folder = pathlib.Path(__file__).resolve().parents[1] / 'examples' / 'data' / 'mnist'

    def read(name, offset):
        return np.frombuffer(gzip.decompress((folder / f'{name}.gz').read_bytes()), 'uint8', offset=offset)

    def digits(part):
        return (mx.nd.array(read(f'{part}-images-idx3-ubyte', 16).reshape(-1, 1, 28, 28) / 255),
                mx.nd.array(read(f'{part}-labels-idx1-ubyte', 8)))
    mx.random.seed(0)
    np.random.seed(0)
    net = resnet.ResNetV1(resnet.BasicBlockV1, [2, 2, 2, 2], [8, 8, 16, 32, 64], classes=10, thumbnail=True)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), 'adam')
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    images, labels = digits('train')
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(images, labels), 50, shuffle=True)
    for epoch in range(7):
        trainer.set_learning_rate(0.003 if epoch < 5 else 0.0005)
        for x, y in loader:
            with mx.autograd.record():
                value = loss(net(x), y)
            value.backward()
            trainer.step(len(x))
    x, y = digits('t10k')

    def right(block):
        return float((block(x).asnumpy().argmax(1) == y.asnumpy()).mean())
    known = {'float32': right(net), 'int8': right(quantize_net(net, calib_mode='naive', calib_data=[images[:200]]))}
    over = known['int8'] < known['float32'] - WORSE
    print(f'{"digits known, int8":22}{known["int8"]:12.1%}{known["float32"]:12.1%}  (float32)' + '  over budget' * over,
          flush=True)
    return {'name': 'digits known, int8', **known, 'over': over}


if __name__ == '__main__':
    report()
    sys.exit()
