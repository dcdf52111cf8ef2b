"""What the gradient benchmarks compute, once for `mx.nd` and once for torch: record, three operators, backward.

The `nd` column uses nothing but MXNet 1.x's public API, so that the same file runs on the real 1.9.1.
"""

SMALL = (4, 4)

# name -> budget as a ratio to torch
BUDGETS = {'gradient, arithmetic': 1.5, 'gradient, functions': 1.5, 'gradient, add': 1.5}


def nd_cases(mx):
    """{name: callable}: the work on arrays of ours or of upstream."""
    x, w = mx.nd.ones(SMALL), mx.nd.ones(SMALL)
    x.attach_grad()
    w.attach_grad()
    total = mx.nd.ones(SMALL)
    total.attach_grad('add')

    def arithmetic():
        with mx.autograd.record():
            y = (x * 2.0 + w) * x
        y.backward()

    def functions():
        with mx.autograd.record():
            y = mx.nd.relu(mx.nd.dot(x, w)).sum()
        y.backward()

    def add():
        with mx.autograd.record():
            y = (total * 2.0 + x) * x
        y.backward()

    return {'gradient, arithmetic': arithmetic, 'gradient, functions': functions, 'gradient, add': add}


def torch_cases(torch):
    x, w = torch.ones(SMALL, requires_grad=True), torch.ones(SMALL, requires_grad=True)
    total = torch.ones(SMALL, requires_grad=True)

    def arithmetic():
        y = (x * 2.0 + w) * x
        y.backward(torch.ones_like(y))
        x.grad = w.grad = None

    def functions():
        y = torch.relu(torch.mm(x, w)).sum()
        y.backward()
        x.grad = w.grad = None

    def add():
        y = (total * 2.0 + x) * x
        y.backward(torch.ones_like(y))
        x.grad = None

    return {'gradient, arithmetic': arithmetic, 'gradient, functions': functions, 'gradient, add': add}
