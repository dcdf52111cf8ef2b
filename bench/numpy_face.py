"""Small arrays of `mx.np` beside torch."""

BUDGETS = {'np add': 1.7, 'np sum': 1.7, 'np slice': 1.7, 'np element': 1.7}


def nd_cases(mx):
    from mxnet import np
    a, b = np.ones((4, 4)), np.ones((4, 4))
    return {'np add': lambda: a + b, 'np sum': lambda: a.sum(), 'np slice': lambda: a[1:3],
            'np element': lambda: a[1, 2]}


def torch_cases(torch):
    a, b = torch.ones(4, 4), torch.ones(4, 4)
    return {'np add': lambda: a + b, 'np sum': lambda: a.sum(), 'np slice': lambda: a[1:3],
            'np element': lambda: a[1, 2]}
