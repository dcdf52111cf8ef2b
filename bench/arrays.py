"""What the array benchmarks compute, once for `mx.nd` and once for torch.

The `nd` column uses nothing but MXNet 1.x's public API, so that the same file runs on the real 1.9.1.
"""

SMALL = (4, 4)
LARGE = (4096, 4096)

# name -> (budget as a ratio to torch, what it is held to)
BUDGETS = {
    'add': 1.6, 'multiply by scalar': 1.6, 'sum': 2.0, 'dot': 1.6, 'slice': 1.6, 'reshape': 1.6, 'in-place add': 1.6,
    'large add': 1.02, 'large dot': 1.02,
}


def nd_cases(mx):
    """{name: (callable, wait)}: the work on arrays of ours or of upstream."""
    a, b = mx.nd.ones(SMALL), mx.nd.ones(SMALL)
    c = mx.nd.ones(SMALL)
    big_a, big_b = mx.nd.ones(LARGE), mx.nd.ones(LARGE)

    def add_in_place():
        nonlocal c
        c += b

    return {
        'add': lambda: a + b,
        'multiply by scalar': lambda: a * 2.0,
        'sum': lambda: a.sum(),
        'dot': lambda: mx.nd.dot(a, b),
        'slice': lambda: a[1:3],
        'reshape': lambda: a.reshape((2, 8)),
        'in-place add': add_in_place,
        'large add': lambda: (big_a + big_b).wait_to_read(),
        'large dot': lambda: mx.nd.dot(big_a, big_b).wait_to_read(),
    }


def torch_cases(torch):
    a, b = torch.ones(SMALL), torch.ones(SMALL)
    c = torch.ones(SMALL)
    big_a, big_b = torch.ones(LARGE), torch.ones(LARGE)

    def add_in_place():
        nonlocal c
        c += b

    return {
        'add': lambda: a + b,
        'multiply by scalar': lambda: a * 2.0,
        'sum': lambda: a.sum(),
        'dot': lambda: torch.mm(a, b),
        'slice': lambda: a[1:3],
        'reshape': lambda: a.reshape((2, 8)),
        'in-place add': add_in_place,
        'large add': lambda: big_a + big_b,
        'large dot': lambda: torch.mm(big_a, big_b),
    }
