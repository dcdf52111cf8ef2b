"""One update of all weights of an MLP (784-64-64-10), by optimizers of ours and by torch's with `foreach=True`.

The `nd` column uses nothing but MXNet 1.x's public API, so that the same file runs on the real 1.9.1.
`python -m bench.optimizers` measures on a GPU.
"""

SHAPES = [(64, 784), (64,), (64, 64), (64,), (10, 64), (10,)]
COUNT = 20          # updates in one call, so that waiting for a GPU does not count for much

# what is measured: (optimizer, its arguments, torch's, its arguments)
CASES = {
    'SGD': ('sgd', {}, 'SGD', {}),
    'SGD, momentum': ('sgd', {'momentum': 0.9}, 'SGD', {'momentum': 0.9}),
    'SGD, momentum, decay': ('sgd', {'momentum': 0.9, 'wd': 1e-4, 'rescale_grad': 1 / 64}, 'SGD',
                             {'momentum': 0.9, 'weight_decay': 1e-4}),
    'NAG': ('nag', {'momentum': 0.9, 'wd': 1e-4}, 'SGD', {'momentum': 0.9, 'weight_decay': 1e-4, 'nesterov': True}),
    'Adam': ('adam', {}, 'Adam', {}),
    'Adam, rescaled': ('adam', {'rescale_grad': 1 / 64}, 'Adam', {}),
    'AdaGrad': ('adagrad', {}, 'Adagrad', {}),
    'RMSProp': ('rmsprop', {}, 'RMSprop', {}),
    'AdaDelta': ('adadelta', {}, 'Adadelta', {}),
    'Adamax': ('adamax', {}, 'Adamax', {}),
    'Nadam': ('nadam', {}, 'NAdam', {}),
}
# name -> budget as a ratio to torch
BUDGETS = {'SGD': 1.1, 'SGD, momentum': 0.8, 'SGD, momentum, decay': 0.7, 'NAG': 1.3, 'Adam': 0.5,
           'Adam, rescaled': 0.6, 'RMSProp': 1.6}


def nd_cases(mx, ctx=None):
    """{name: function that updates all weights}"""
    return {name: _nd_case(mx, case[0], case[1], ctx) for name, case in CASES.items()}


def _nd_case(mx, name, options, ctx):
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=1e-3, **options))
    weights, grads = ([mx.nd.random.normal(shape=s, ctx=ctx) for s in SHAPES] for _ in range(2))
    for weight in weights:
        weight.attach_grad()
    indices = list(range(len(SHAPES)))
    return lambda: updater(indices, grads, weights)


def torch_cases(torch, device='cpu'):
    return {name: _torch_case(torch, case[2], case[3], device) for name, case in CASES.items()}


def _torch_case(torch, name, options, device):
    weights = [torch.nn.Parameter(torch.randn(s, device=device)) for s in SHAPES]
    for weight in weights:
        weight.grad = torch.randn_like(weight)
    return getattr(torch.optim, name)(weights, lr=1e-3, foreach=True, **options).step


def main():
    import torch

    import mxnet as mx

    from . import timing
    ours, theirs = nd_cases(mx, mx.gpu()), torch_cases(torch, 'cuda')
    print(f'{"one update on a GPU":22}{"ours":>13}{"torch":>13}{"ratio":>8}')
    for name in CASES:
        def batch(function):
            for _ in range(COUNT):
                function()
            torch.cuda.synchronize()
        times = timing.measure({'ours': lambda f=ours[name]: batch(f), 'torch': lambda f=theirs[name]: batch(f)},
                               rounds=9, seconds=0.03)
        a, b = (times[label] / COUNT for label in ('ours', 'torch'))
        print(f'{name:22}{a * 1e6:10.1f} us{b * 1e6:10.1f} us{a / b:8.2f}', flush=True)


if __name__ == '__main__':
    main()
