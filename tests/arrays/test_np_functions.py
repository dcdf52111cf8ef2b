"""Functions of mx.np against NumPy, and the same functions on symbols against those on arrays."""
import numpy as onp
import pytest
from np_cases import CASES, IDS, flat, mapped, of, to_numpy

import mxnet as mx
from mxnet import autograd, np


@pytest.fixture(autouse=True)
def numpy_mode():
    mx.npx.set_np()
    yield
    mx.npx.reset_np()


@pytest.mark.parametrize('name, given', CASES, ids=IDS)
def test_values(name, given):
    name = name.removeprefix('!')
    args = mapped(given.args, lambda x: np.array(x, dtype=x.dtype))
    kwargs = {k: mapped(v, lambda x: np.array(x, dtype=x.dtype)) for k, v in given.kwargs.items()}
    results = flat(of(np, name)(*args, **kwargs))
    wanted = flat(of(onp, name)(*given.args, **given.kwargs))
    assert len(results) == len(wanted)
    for result, expected in zip(map(to_numpy, results), wanted, strict=True):
        assert result.shape == onp.shape(expected)
        onp.testing.assert_allclose(result, expected, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize('name, given', [c for c in CASES if not c[0].startswith('!')],
                         ids=[i for i in IDS if not i.startswith('!')])
def test_symbols_compute_what_arrays_do(name, given):
    values = {}

    def variable(x):
        values[f'x{len(values)}'] = np.array(x, dtype=x.dtype)
        return mx.sym.var(f'x{len(values) - 1}').as_np_ndarray()

    args = mapped(given.args, variable)
    kwargs = {k: mapped(v, variable) for k, v in given.kwargs.items()}
    symbols = flat(of(mx.sym.np, name)(*args, **kwargs))
    assert all(type(s) is mx.sym.np._Symbol for s in symbols)
    group = mx.sym.load_json(mx.sym.Group(symbols).tojson())       # through a file and back
    results = group.bind(mx.cpu(), values).forward()
    arrays = iter(values.values())
    wanted = flat(of(np, name)(*mapped(given.args, lambda x: next(arrays)),
                               **{k: mapped(v, lambda x: next(arrays)) for k, v in given.kwargs.items()}))
    for result, expected in zip(results, wanted, strict=True):
        onp.testing.assert_allclose(result.asnumpy(), to_numpy(expected), rtol=1e-6, atol=1e-6)


SMOOTH = ['exp', 'sqrt', 'log', 'sin', 'tanh', 'add', 'subtract', 'multiply', 'true_divide', 'power', 'hypot',
          'arctan2',
          'sum', 'mean', 'prod', 'std', 'var', 'cumsum', 'average', 'diff', 'ediff1d', 'reshape', 'transpose',
          'swapaxes',
          'moveaxis', 'broadcast_to', 'flip', 'roll', 'rot90', 'repeat', 'tile', 'pad', 'diag', 'diagflat', 'diagonal',
          'trace',
          'tril', 'concatenate', 'stack', 'vstack', 'hstack', 'dstack', 'column_stack', 'split', 'atleast_2d', 'where',
          'delete',
          'insert', 'dot', 'matmul', 'inner', 'outer', 'vdot', 'tensordot', 'einsum', 'polyval', 'linalg.inv',
          'linalg.det',
          'linalg.solve', 'linalg.slogdet', 'linalg.norm', 'quantile', 'sort', 'copysign', 'maximum', 'clip']


@pytest.mark.parametrize('name, given', [(n, g) for n, g in CASES if n.removeprefix('!') in SMOOTH],
                         ids=[i for (n, g), i in zip(CASES, IDS, strict=True) if n.removeprefix('!') in SMOOTH])
def test_gradients_are_differences(name, given):
    name = name.removeprefix('!')
    leaves = []

    def leaf(x):
        array = np.array(x, dtype='float64' if x.dtype.kind == 'f' else x.dtype)
        if x.dtype.kind == 'f':
            array.attach_grad()
            leaves.append(array)
        return array

    args = mapped(given.args, leaf)
    kwargs = {k: mapped(v, leaf) for k, v in given.kwargs.items()}
    weights = {}

    def loss():
        results = [r for r in flat(of(np, name)(*args, **kwargs)) if r.dtype.kind == 'f']
        for i, r in enumerate(results):
            weights.setdefault(i, np.array(onp.random.RandomState(i).uniform(0.5, 1.5, r.shape)))
        total = (results[0] * weights[0]).sum()
        for i, r in enumerate(results[1:], 1):
            total = total + (r * weights[i]).sum()
        return total

    with autograd.record():
        total = loss()
    total.backward()
    for array in leaves:
        if array.size:
            place = onp.unravel_index(array.size // 2, array.shape)
            before = array[place].item()
            array[place] = before + 1e-5
            up = loss().item()
            array[place] = before - 1e-5
            down = loss().item()
            array[place] = before
            assert array.grad[place].item() == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-6)


def test_average_over_no_axis():
    x = mx.np.arange(6).reshape(2, 3)
    assert mx.np.average(x, axis=()).asnumpy().tolist() == x.asnumpy().tolist()
    assert mx.np.average(x, axis=(), weights=x + 1).asnumpy().tolist() == x.asnumpy().tolist()
