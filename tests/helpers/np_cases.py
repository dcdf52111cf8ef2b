"""Calls of functions of mx.np, and what tests do with their arguments and results."""
import numpy as onp

import mxnet as mx

A = onp.array([[1.5, -2.25, 0.5], [3.0, 0.75, -1.0]], dtype='float32')
B = onp.array([[0.5, 1.25, 2.0], [1.0, 2.5, 0.25]], dtype='float32')
V = onp.array([2.0, -1.0, 0.5], dtype='float32')
S = onp.array([[4.0, 1.0], [1.0, 3.0]], dtype='float32')
I = onp.array([[3, 1, 2], [0, 5, 4]], dtype='int32')
T = onp.arange(24, dtype='float32').reshape(2, 3, 4) / 7


class K:
    """Arguments of a call."""

    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs

    def __repr__(self):
        def short(x):
            return 'x'.join(map(str, x.shape)) if isinstance(x, onp.ndarray) else repr(x)
        return ','.join([*map(short, self.args), *[f'{k}={short(v)}' for k, v in self.kwargs.items()]])


# function, arguments; '!' in front: arrays only, not symbols
CASES = [
    ('abs', K(A)), ('exp', K(A)), ('sqrt', K(B)), ('log', K(B)), ('sin', K(A)), ('tanh', K(A)), ('floor', K(A)),
    ('around', K(A)), ('around', K(A, 1)), ('isnan', K(A)), ('logical_not', K(A)), ('negative', K(I)),
    ('bitwise_not', K(I)), ('clip', K(A, -1, 1)), ('clip', K(A, None, 1)),
    ('nan_to_num', K(onp.array([1, onp.nan, onp.inf]))),
    ('add', K(A, V)), ('subtract', K(A, 2.5)), ('subtract', K(2.5, A)), ('multiply', K(A, B)), ('true_divide', K(A, B)),
    ('true_divide', K(1.0, B)), ('mod', K(A, B)), ('power', K(B, A)), ('power', K(2.0, A)), ('maximum', K(A, B)),
    ('minimum', K(A, 0.5)), ('hypot', K(A, B)), ('arctan2', K(A, B)), ('copysign', K(A, B)), ('equal', K(A, A)),
    ('greater', K(A, B)), ('less_equal', K(1.0, A)), ('bitwise_and', K(I, I + 1)), ('bitwise_or', K(I, 4)),
    ('lcm', K(I, I + 1)), ('ldexp', K(A, I)),
    ('sum', K(T)), ('sum', K(T, axis=1)), ('sum', K(T, axis=(0, -1), keepdims=True)), ('sum', K(T, axis=())),
    ('mean', K(T, axis=0)), ('prod', K(B, axis=1)), ('std', K(T, axis=1, ddof=1)), ('var', K(T)),
    ('max', K(A, axis=0)), ('min', K(A)), ('argmax', K(A, axis=1)), ('argmin', K(A)), ('all', K(A, axis=0)),
    ('any', K(A > 2)), ('cumsum', K(A, axis=1)), ('cumsum', K(A)), ('average', K(A, axis=1, weights=V)),
    ('percentile', K(T, 30.0, axis=1)), ('percentile', K(T, onp.array([10.0, 60.0]))), ('quantile', K(A, 0.4)),
    ('diff', K(T, n=2)), ('!diff', K(A, prepend=0, append=onp.ones((2, 2), 'float32'))), ('ediff1d', K(A)),
    ('!ediff1d', K(A, to_end=[1, 2], to_begin=onp.array([5.0], 'float32'))),
    ('!bincount', K(I.reshape(-1))), ('!unique', K(I % 3)),
    ('!histogram', K(A, onp.array([-3.0, 0.0, 1.0, 3.0], 'float32'))), ('!histogram', K(A, 4)),
    ('reshape', K(T, (4, -1))), ('!reshape', K(A, (3, 2), order='F')), ('ravel', K(T)), ('transpose', K(T, (1, 0, 2))),
    ('transpose', K(T)), ('swapaxes', K(T, 0, 2)), ('moveaxis', K(T, 0, -1)), ('moveaxis', K(T, (0, 1), (1, 2))),
    ('expand_dims', K(A, 1)), ('!expand_dims', K(A, (0, 2))), ('squeeze', K(A.reshape(1, 2, 1, 3))),
    ('squeeze', K(A.reshape(1, 2, 1, 3), axis=2)), ('broadcast_to', K(V, (2, 3))), ('flip', K(T)),
    ('flip', K(T, axis=(0, 2))), ('flipud', K(A)), ('fliplr', K(A)), ('roll', K(A, 1)),
    ('roll', K(A, (1, 2), axis=(0, 1))),
    ('rot90', K(A)), ('rot90', K(A, k=2)), ('repeat', K(A, 2)), ('repeat', K(A, 2, axis=0)),
    ('!repeat', K(A, [1, 2], axis=0)),
    ('tile', K(A, 2)), ('tile', K(A, (2, 1, 2))), ('resize', K(A, (4, 2))), ('pad', K(A, ((1, 0), (2, 1)))),
    ('pad', K(A, ((1, 0), (1, 1)), mode='edge')), ('pad', K(A, ((1, 0), (2, 1)), mode='reflect')),
    ('pad', K(A, ((1, 2), (2, 1)), mode='symmetric')), ('pad', K(A, 1, mode='maximum')),
    ('pad', K(A, 1, mode='minimum')),
    ('diag', K(V)), ('diag', K(A, 1)), ('diagflat', K(A, 1)), ('diagonal', K(T, axis1=1, axis2=2)), ('trace', K(T)),
    ('tril', K(A)), ('!triu', K(A, 1)), ('concatenate', K((A, B))), ('concatenate', K((A, B), axis=None)),
    ('append', K(A, B, axis=1)), ('stack', K((A, B), axis=1)), ('vstack', K((V, A))), ('hstack', K((A, B))),
    ('dstack', K((A, B))), ('column_stack', K((A, V[:2]))), ('split', K(T, 2, axis=2)), ('split', K(T, (1, 3), axis=2)),
    ('array_split', K(V, 2)), ('hsplit', K(T, 3)), ('vsplit', K(A, 2)), ('dsplit', K(T, 2)),
    ('atleast_2d', K(V)), ('atleast_3d', K(V)), ('!meshgrid', K(V, B[0])), ('!meshgrid', K(V, B[0], indexing='ij')),
    ('!broadcast_arrays', K(V, B)), ('where', K(A > 0, A, B)), ('!nonzero', K(A > 0)),
    ('take', K(A, I[0] - 1, axis=1, mode='wrap')),
    ('!take', K(A, [0, -1], axis=0)), ('sort', K(A, axis=0)), ('argsort', K(A)), ('delete', K(A, 1, axis=1)),
    ('!delete', K(A, [0, 2], axis=1)), ('delete', K(T, slice(0, 3, 2), axis=2)), ('insert', K(V, 1, 7.0)),
    ('insert', K(A, 1, V, axis=0)), ('!insert', K(A, [0, 2], 9.0, axis=1)),
    ('insert', K(A, slice(0, 2), B[:, :2], axis=1)),
    ('!insert', K(A, [1], B[:, :1], axis=1)), ('!unravel_index', K(I, (2, 3))), ('!diag_indices_from', K(S)),
    ('dot', K(A, V)), ('dot', K(T, onp.ones((2, 4, 2), 'float32'))), ('matmul', K(T, onp.ones((4, 2), 'float32'))),
    ('inner', K(A, B)), ('outer', K(V, V)), ('vdot', K(A, B)), ('tensordot', K(T, T, ((0, 1), (0, 1)))),
    ('tensordot', K(A, onp.ones((3, 2), 'float32'), 1)), ('einsum', K('ij,kj->ik', A, B)), ('polyval', K(V, A)),
    ('!kron', K(A, S)), ('linalg.norm', K(A)), ('linalg.norm', K(A, ord=1)), ('linalg.norm', K(A, ord='nuc')),
    ('linalg.norm', K(A, axis=1)), ('linalg.norm', K(T, ord=3, axis=2)), ('!linalg.norm', K(V, ord=onp.inf)),
    ('linalg.cholesky', K(S)), ('linalg.inv', K(S)), ('linalg.det', K(S)), ('linalg.slogdet', K(S)),
    ('linalg.solve', K(S, V[:2])), ('linalg.eigvalsh', K(S)), ('linalg.eigvals', K(onp.diag(V))), ('linalg.pinv', K(A)),
    ('linalg.tensorinv', K(onp.eye(4, dtype='float32').reshape(2, 2, 4))),
    ('linalg.tensorsolve', K(onp.eye(4, dtype='float32').reshape(2, 2, 4), S)),
    ('!linalg.matrix_rank', K(S)), ('!linalg.matrix_power', K(S, 3)), ('!linalg.multi_dot', K([A, A.T])),
    ('!linalg.cond', K(S)),
    ('!allclose', K(A, A)), ('!array_equal', K(A, B)), ('!isclose', K(A, A)), ('!count_nonzero', K(I)), ('!ptp', K(A)),
    ('!flatnonzero', K(I)), ('!argwhere', K(I)), ('!searchsorted', K(onp.sort(V), V)), ('!digitize', K(V, onp.sort(V))),
    ('!union1d', K(V, V + 1)), ('!isin', K(I, onp.array([1, 5]))), ('!heaviside', K(A, 0.5)), ('!float_power', K(B, 2)),
    ('!divmod', K(A, B)), ('!interp', K(V, onp.arange(3.0), V)), ('!cov', K(A)), ('!corrcoef', K(A)),
    ('!nanmax', K(A, axis=0)),
    ('!nanpercentile', K(A, 40)), ('!nanquantile', K(A, 0.4)), ('!histogram2d', K(V, V)), ('!partition', K(V, 1)),
    ('!take_along_axis', K(A, I % 3, axis=1)), ('!rollaxis', K(T, 2)), ('!i0', K(V)), ('!signbit', K(A)), ('!select',
     K([A > 0, A < -1], [A, B])), ('!trim_zeros', K(onp.array([0, 0, 1, 0]))), ('!vander', K(V)), ('!polyfit',
     K(V, V, 1)),
]


def of(module, name):
    for part in name.split('.'):
        module = getattr(module, part)
    return module


def mapped(value, change):
    if isinstance(value, onp.ndarray):
        return change(value)
    return type(value)(mapped(v, change) for v in value) if isinstance(value, (list, tuple)) else value


def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, (list, tuple)) else [value]


def to_numpy(value):
    return value.asnumpy() if isinstance(value, mx.nd.NDArray) else onp.asarray(value)


IDS = [f'{name}({arguments!r})' for name, arguments in CASES]
