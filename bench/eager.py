"""One eager call of each operator that networks are written with, on small arrays, beside the torch call.

Both sides run in one thread of one process in turns, and the time is that thread's, so that other work on the machine
does not count.  Where upstream's operators give new memory and torch gives a view (reshape, transpose, ...), the torch
side is the view and its copy.  Indices and conditions that an operator takes are float32 on our side, as in MXNet
programs, and int64 or bool on torch's; indices that an operator gives are float32 on both sides.
"""
import gc
import math
import time

from .table import Table

BUDGET, MEAN = 2.0, 1.6             # ratios to torch: of each call, and of their geometric mean


def cases(mx, torch):
    """{name: (ours, torch's)}"""
    nd, np, npx, F = mx.nd, mx.np, mx.npx, torch.nn.functional
    x, w, b, a = nd.ones((4, 4)), nd.ones((4, 4)), nd.ones((4,)), np.ones((4, 4))
    t, tw, tb = torch.ones(4, 4), torch.ones(4, 4), torch.ones(4)
    images, filters, bias, mean = nd.ones((1, 2, 4, 4)), nd.ones((2, 2, 3, 3)), nd.ones((2,)), nd.zeros((2,))
    t_images, t_filters, t_bias, t_mean = torch.ones(1, 2, 4, 4), torch.ones(2, 2, 3, 3), torch.ones(2), torch.zeros(2)
    index, t_index, t_column = nd.array([0, 1, 2, 3]), torch.arange(4), torch.arange(4)[:, None]
    stack, t_stack = nd.ones((2, 3, 3)), torch.ones(2, 3, 3)
    condition, t_condition = nd.array([[1, 0, 1, 0]] * 4), torch.tensor([[True, False, True, False]] * 4)
    column, t_narrow = nd.ones((4, 1)), torch.ones(4, 1)
    return {
        'softmax': (lambda: nd.softmax(x, axis=1), lambda: torch.softmax(t, 1)),
        'log_softmax': (lambda: nd.log_softmax(x), lambda: torch.log_softmax(t, -1)),
        'Activation': (lambda: nd.Activation(x, act_type='relu'), lambda: torch.relu(t)),
        'LeakyReLU': (lambda: nd.LeakyReLU(x, act_type='leaky', slope=0.1), lambda: F.leaky_relu(t, 0.1)),
        'FullyConnected': (lambda: nd.FullyConnected(x, w, b, num_hidden=4), lambda: F.linear(t, tw, tb)),
        'Convolution': (lambda: nd.Convolution(images, filters, bias, kernel=(3, 3), num_filter=2, pad=(1, 1)),
                        lambda: F.conv2d(t_images, t_filters, t_bias, padding=(1, 1))),
        'Pooling, max': (lambda: nd.Pooling(images, kernel=(2, 2), stride=(2, 2), pool_type='max'),
                         lambda: F.max_pool2d(t_images, (2, 2), (2, 2))),
        'Pooling, avg': (lambda: nd.Pooling(images, kernel=(2, 2), stride=(2, 2), pool_type='avg'),
                         lambda: F.avg_pool2d(t_images, (2, 2), (2, 2))),
        'BatchNorm': (lambda: nd.BatchNorm(images, bias, bias, mean, bias, fix_gamma=False),
                      lambda: F.batch_norm(t_images, t_mean, t_bias, t_bias, t_bias)),
        'LayerNorm': (lambda: nd.LayerNorm(x, b, b), lambda: F.layer_norm(t, (4,), tb, tb)),
        'Dropout': (lambda: nd.Dropout(x, p=0.5), lambda: F.dropout(t, 0.5, False).clone()),
        'concat': (lambda: nd.concat(x, w, dim=1), lambda: torch.cat((t, tw), 1)),
        'stack': (lambda: nd.stack(x, w, axis=0), lambda: torch.stack((t, tw), 0)),
        'split': (lambda: nd.split(x, num_outputs=2, axis=1), lambda: [p.clone() for p in torch.chunk(t, 2, 1)]),
        'expand_dims': (lambda: nd.expand_dims(x, axis=0), lambda: torch.unsqueeze(t, 0).clone()),
        'squeeze': (lambda: nd.squeeze(column, axis=1), lambda: torch.squeeze(t_narrow, 1).clone()),
        'nd.reshape': (lambda: nd.reshape(x, shape=(2, 8)), lambda: torch.reshape(t, (2, 8)).clone()),
        'x.reshape': (lambda: x.reshape((2, 8)), lambda: t.reshape((2, 8))),
        'transpose': (lambda: nd.transpose(x, axes=(1, 0)), lambda: torch.permute(t, (1, 0)).contiguous()),
        'slice_axis': (lambda: nd.slice_axis(x, axis=1, begin=0, end=2), lambda: torch.narrow(t, 1, 0, 2).contiguous()),
        'clip': (lambda: nd.clip(x, 0, 1), lambda: torch.clamp(t, 0, 1)),
        'sum': (lambda: nd.sum(x, axis=1), lambda: torch.sum(t, 1)),
        'mean': (lambda: nd.mean(x, axis=1), lambda: torch.mean(t, 1)),
        'max': (lambda: nd.max(x, axis=1), lambda: torch.amax(t, 1)),
        'argmax': (lambda: nd.argmax(x, axis=1), lambda: torch.argmax(t, 1).float()),
        'one_hot': (lambda: nd.one_hot(index, depth=4), lambda: F.one_hot(t_index, 4)),
        'pick': (lambda: nd.pick(x, index, axis=1), lambda: torch.gather(t, 1, t_column).squeeze(1)),
        'take': (lambda: nd.take(x, index), lambda: torch.index_select(t, 0, t_index)),
        'Embedding': (lambda: nd.Embedding(index, x, input_dim=4, output_dim=4), lambda: F.embedding(t_index, t)),
        'where': (lambda: nd.where(condition, x, w), lambda: torch.where(t_condition, t, tw)),
        'batch_dot': (lambda: nd.batch_dot(stack, stack), lambda: torch.bmm(t_stack, t_stack)),
        'nd.dot': (lambda: nd.dot(x, w), lambda: torch.mm(t, tw)),
        'tile': (lambda: nd.tile(x, reps=(2, 1)), lambda: torch.tile(t, (2, 1))),
        'repeat': (lambda: nd.repeat(x, repeats=2, axis=1), lambda: torch.repeat_interleave(t, 2, 1)),
        'zeros': (lambda: nd.zeros((4, 4)), lambda: torch.zeros((4, 4))),
        'ones': (lambda: nd.ones((4, 4)), lambda: torch.ones((4, 4))),
        'arange': (lambda: nd.arange(4), lambda: torch.arange(4, dtype=torch.float32)),
        'random.normal': (lambda: nd.random.normal(shape=(4, 4)), lambda: torch.randn((4, 4))),
        'random.uniform': (lambda: nd.random.uniform(shape=(4, 4)), lambda: torch.rand((4, 4))),
        'cast': (lambda: nd.cast(x, dtype='float64'), lambda: t.to(torch.float64)),
        'norm': (lambda: nd.norm(x), lambda: torch.norm(t)),
        'topk': (lambda: nd.topk(x, k=2), lambda: torch.topk(t, 2)[1].float()),
        'np.sum': (lambda: np.sum(a, axis=1), lambda: torch.sum(t, 1)),
        'np.exp': (lambda: np.exp(a), lambda: torch.exp(t)),
        'np.dot': (lambda: np.dot(a, a), lambda: torch.mm(t, t)),
        'np.argmax': (lambda: np.argmax(a, axis=1), lambda: torch.argmax(t, 1)),
        'np.zeros': (lambda: np.zeros((4, 4)), lambda: torch.zeros((4, 4))),
        'npx.softmax': (lambda: npx.softmax(a), lambda: torch.softmax(t, -1)),
        'npx.relu': (lambda: npx.relu(a), lambda: torch.relu(t)),
    }


# operators that are differentiated
RECORDED = ('softmax', 'log_softmax', 'Activation', 'LeakyReLU', 'FullyConnected', 'Convolution', 'Pooling, max',
            'LayerNorm', 'concat', 'stack', 'sum', 'mean', 'clip', 'batch_dot', 'nd.dot', 'transpose', 'Embedding')


def recorded(mx, torch):
    """The same while recording, on arrays that have a gradient."""
    class Variables:
        """`mx.nd` or `torch` whose constants require a gradient."""

        def __init__(self, module, ones):
            self._module, self.ones = module, ones

        def __getattr__(self, name):
            return getattr(self._module, name)

    class Ours(Variables):
        nd = Variables(mx.nd, lambda shape: attached(mx.nd.ones(shape)))

    def attached(array):
        array.attach_grad()
        return array

    chosen = cases(Ours(mx, None), Variables(torch, lambda *shape: torch.ones(*shape, requires_grad=True)))
    return {f'{name}, recorded': chosen[name] for name in RECORDED}


def _take(function, count):
    begin = time.thread_time_ns()
    for _ in range(count):
        function()
    return (time.thread_time_ns() - begin) / count * 1e-9


def measure(ours, theirs, rounds=21, count=200):
    """{'ours': seconds, 'torch': seconds}: medians of rounds in turns."""
    for function in (ours, theirs):
        _take(function, 50)
    samples = [(_take(ours, count), _take(theirs, count)) for _ in range(rounds)]
    return {label: sorted(times)[rounds // 2] for label, times in zip(('ours', 'torch'), zip(*samples), strict=True)}


def report():
    import torch

    import mxnet as mx
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    gc.disable()
    try:
        print('one eager call, thread time')
        table = Table(['torch'], width=26)
        table.head()
        for name, (ours, theirs) in cases(mx, torch).items():
            table.row(name, measure(ours, theirs), {'torch': BUDGET})
        _mean(table, 'eager call, mean of all', table.rows)
        first = len(table.rows)
        scope = mx.autograd.record(train_mode=False)
        for name, (ours, theirs) in recorded(mx, torch).items():
            with scope:
                table.row(name, measure(ours, theirs), {'torch': BUDGET})
        _mean(table, 'recorded call, mean', table.rows[first:])
        return table.rows
    finally:
        gc.enable()
        torch.set_num_threads(threads)


def _mean(table, name, rows):
    logs = {side: sum(math.log(row[side]) for row in rows) / len(rows) for side in ('ours', 'torch')}
    table.row(name, {side: math.exp(value) for side, value in logs.items()}, {'torch': MEAN})


if __name__ == '__main__':
    report()
