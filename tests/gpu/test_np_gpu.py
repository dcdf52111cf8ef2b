"""mx.np on a GPU: what the CPU computes, on the device that the arrays are on."""
import numpy as onp
import pytest
from np_cases import CASES, IDS, flat, mapped, of, to_numpy

import mxnet as mx
from mxnet import autograd, np, npx

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize('name, given', CASES, ids=IDS)
def test_values(name, given):
    name = name.removeprefix('!')

    def run(ctx):
        args = mapped(given.args, lambda x: np.array(x, dtype=x.dtype, ctx=ctx))
        kwargs = {k: mapped(v, lambda x: np.array(x, dtype=x.dtype, ctx=ctx)) for k, v in given.kwargs.items()}
        return flat(of(np, name)(*args, **kwargs))

    for result, expected in zip(run(mx.gpu(0)), run(mx.cpu()), strict=True):
        if isinstance(result, np.ndarray):
            assert result.ctx == mx.gpu(0) and result.dtype == expected.dtype
        onp.testing.assert_allclose(to_numpy(result), to_numpy(expected), rtol=1e-4, atol=1e-4)


def test_random_numbers_come_from_the_device():
    mx.random.seed(5, ctx=mx.gpu(0))
    for draw in (lambda: np.random.normal(size=(1000,), ctx=mx.gpu(0)),
                 lambda: np.random.uniform(size=1000, ctx=mx.gpu(0)),
                 lambda: np.random.gamma(2.0, size=1000, ctx=mx.gpu(0)),
                 lambda: np.random.gumbel(size=1000, ctx=mx.gpu(0)),
                 lambda: np.random.randint(9, size=1000, ctx=mx.gpu(0)),
                 lambda: np.random.choice(9, 1000, ctx=mx.gpu(0)),
                 lambda: np.random.exponential(np.ones(1000, ctx=mx.gpu(0))),
                 lambda: np.random.beta(1.0, 2.0, size=1000, ctx=mx.gpu(0)),
                 lambda: npx.random.bernoulli(prob=np.full((1000,), 0.5, ctx=mx.gpu(0))),
                 lambda: np.random.multinomial(5, np.array([0.5, 0.5], ctx=mx.gpu(0)), size=500)):
        x = draw()
        assert x.ctx == mx.gpu(0) and x.size == 1000 and (x.asnumpy() != x.asnumpy().reshape(-1)[0]).any()


def test_arrays():
    x = np.arange(6, ctx=mx.gpu(0)).reshape(2, 3)
    assert repr(x[0]) == 'array([0., 1., 2.], ctx=gpu(0))' and str(x[0]) == '[0. 1. 2.] @gpu(0)'
    assert str(x[0, 0]) == '0.0'
    x.attach_grad()
    with autograd.record():
        y = (x[x > 2] * 2).sum() + np.linalg.norm(x)
    y.backward()
    assert x.grad.ctx == mx.gpu(0) and x.grad[0, 0] == 0 and x.grad[1, 0].item() == pytest.approx(2 + 3 / 55 ** 0.5)
    i = np.array([1, 2], dtype='int32', ctx=mx.gpu(0))
    i.attach_grad()
    with autograd.record():
        z = i * i
    z.backward()
    assert i.grad.tolist() == [2, 4]
    with mx.gpu(0):
        assert np.zeros(2).ctx == np.array([1]).ctx == mx.gpu(0)
    x[x > 3] = -1
    assert x.asnumpy().tolist() == [[0, 1, 2], [3, -1, -1]] and x.as_in_ctx(mx.cpu()).ctx == mx.cpu()
