"""Training an MLP (784-64-64-10, batches of 64): `Module.fit` against a plain loop in torch, on the same batches.

Both descend by plain SGD and count right answers without waiting for them.  The `nd` column uses nothing but MXNet
1.x's public API, so that the same file runs on the real 1.9.1.  `python -m bench.module` prints samples per second.
"""
import logging
import warnings

BATCH, BATCHES = 64, 100
# name -> budget as a ratio to torch: 1.4 times as fast
BUDGETS = {'Module.fit, MLP': 0.71}


def _data():
    import numpy
    random = numpy.random.RandomState(0)
    return (random.rand(BATCH * BATCHES, 784).astype('float32'),
            random.randint(0, 10, BATCH * BATCHES).astype('float32'))


def mlp(mx):
    net = mx.sym.var('data')
    for number, width in enumerate((64, 64, 10)):
        net = mx.sym.FullyConnected(net, num_hidden=width, name='fc' + str(number))
        if number < 2:
            net = mx.sym.Activation(net, act_type='relu')
    return mx.sym.SoftmaxOutput(net, name='softmax')


def nd_cases(mx, ctx=None):
    """{name: function that trains an epoch}"""
    quiet = logging.Logger('quiet', logging.ERROR)
    module = mx.mod.Module(mlp(mx), context=ctx or mx.cpu(), logger=quiet)
    batches = mx.io.NDArrayIter(*_data(), batch_size=BATCH)

    def epoch():
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')         # that the second epoch goes on where the first one was
            module.fit(batches, num_epoch=1, optimizer_params={'learning_rate': 0.01}, initializer=mx.init.Xavier())

    return {'Module.fit, MLP': epoch}


def torch_cases(torch, device='cpu'):
    data, label = (torch.from_numpy(a).to(device) for a in _data())
    label = label.long()
    net = torch.nn.Sequential(torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(),
                              torch.nn.Linear(64, 10)).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    loss_of = torch.nn.CrossEntropyLoss()

    def epoch():
        right = torch.zeros((), dtype=torch.int64, device=device)
        for start in range(0, len(data), BATCH):
            x, y = data[start:start + BATCH], label[start:start + BATCH]
            scores = net(x)
            loss = loss_of(scores, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += (scores.argmax(1) == y).sum()
        return right.item() / len(data)

    return {'Module.fit, MLP': epoch}


def main():
    import torch

    import mxnet as mx

    from . import timing
    name = 'Module.fit, MLP'
    times = timing.measure({'ours': nd_cases(mx)[name], 'torch': torch_cases(torch)[name]}, rounds=15, seconds=0.3)
    for label, seconds in times.items():
        print(f'{label:8}{BATCH * BATCHES / seconds:12.0f} samples/s{seconds / BATCHES * 1e6:10.1f} us a step')
    print(f'{"ratio":8}{times["torch"] / times["ours"]:12.2f}')


if __name__ == '__main__':
    main()
