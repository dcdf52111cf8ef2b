"""Operators of creation.py and contrib_math.py."""
from math import exp, log

import numpy as np
import pytest
from ops_checks import check

import mxnet as mx
from mxnet import autograd, nd
from mxnet.base import MXNetError

I = nd._internal
R = np.random.RandomState(0)


# ---------------------------------------------------------------------- constants
@pytest.mark.parametrize('dtype', ['float32', 'float64', 'float16', 'int32', 'uint8', 'bool'])
def test_constants(dtype):
    for made, wanted in [(I._zeros(shape=(2, 3), dtype=dtype), np.zeros((2, 3), dtype)),
                         (I._ones(shape=(3,), dtype=dtype), np.ones(3, dtype)),
                         (I._full(shape=(2,), value=2.7, dtype=dtype), np.full(2, 2.7).astype(dtype))]:
        assert made.dtype == wanted.dtype and made.asnumpy().tolist() == wanted.tolist()


def test_constants_know_their_context():
    assert I._zeros(shape=(2,), ctx='cpu(1)').context == mx.cpu(1)
    assert I._full(shape=2, value=1, ctx=mx.cpu(1)).shape == (2,)
    with mx.cpu(1):
        assert I._ones(shape=(1,)).context == mx.cpu(1)
    assert I._zeros_without_dtype(shape=(2,), dtype=4).dtype == np.int32
    assert I._zeros_without_dtype(shape=(2,)).dtype == np.float32
    assert I._NoGradient().asnumpy().tolist() == [0]


@pytest.mark.parametrize('rows, columns, k', [(3, 0, 0), (3, 4, 0), (3, 4, 1), (3, 4, -2), (2, 5, 9)])
def test_eye(rows, columns, k):
    assert I._eye(N=rows, M=columns, k=k).asnumpy().tolist() == np.eye(rows, columns or None, k).tolist()


# ---------------------------------------------------------------------- ranges
@pytest.mark.parametrize('limits', [(5,), (2, 7), (1, 9, 2), (0, 1, 0.25), (5, 1, -2), (0, 1, 0.3), (-1.5, 3)])
@pytest.mark.parametrize('dtype', ['float32', 'float64', 'float16'])
def test_arange(limits, dtype):
    names = dict(zip(('start', 'stop', 'step'), limits))
    made = I._arange(dtype=dtype, **names)
    tolerance = 1e-3 if dtype == 'float16' else 1e-6
    np.testing.assert_allclose(made.asnumpy(), np.arange(*limits, dtype=dtype), rtol=tolerance)
    assert made.dtype == np.dtype(dtype)
    assert I._arange(repeat=3, **names).asnumpy().tolist() == I._arange(**names).asnumpy().repeat(3).tolist()


def test_arange_of_ints_cuts_first():
    assert I._arange(start=0, stop=1, step=0.25, dtype='int32').asnumpy().tolist() == [0] * 4
    assert I._arange(start=0, stop=2**40 + 2, step=2**40, dtype='int64').asnumpy().tolist() == [0, 2**40]


@pytest.mark.parametrize('limits', [(0,), (3, 1), (1, 3, -1), (0, 1, 0)])
def test_arange_without_numbers(limits):
    with pytest.raises(MXNetError, match='give no numbers'):
        I._arange(**dict(zip(('start', 'stop', 'step'), limits)))


@pytest.mark.parametrize('start, stop, num, endpoint', [(0, 1, 5, True), (-1, 2, 6, False), (3, 3, 2, True),
                                                        (0, 1, 1, True), (0, 1, 0, True)])
def test_linspace(start, stop, num, endpoint):
    made = I._linspace(start=start, stop=stop, num=num, endpoint=endpoint, dtype='float64')
    np.testing.assert_allclose(made.asnumpy(), np.linspace(start, stop, num, endpoint))


def test_like():
    x = np.ones((3, 4))
    numbers = np.array([1., 3, 5, 7]).repeat(3).reshape(3, 4)
    check('_contrib_arange_like', [x], numbers, start=1, step=2, repeat=3)
    check('_contrib_arange_like', [x.astype('int32')], np.arange(4, dtype='int32'), axis=-1)
    grid = np.stack(np.indices((3, 4)), -1)
    check('_contrib_index_array', [x], grid)
    check('_contrib_index_array', [x], grid[..., [1, 0, 1]], axes=(-1, 0, 1))


def test_copies():
    x = nd.array([1, 2.5])
    for copied in (I._copyto(x), I._CrossDeviceCopy(x)):
        copied += 1
    assert x.asnumpy().tolist() == [1, 2.5]
    out = nd.zeros(2, dtype='int32', ctx=mx.cpu(1))
    assert I._copyto(x, out=out) is out and out.asnumpy().tolist() == [1, 2]
    y = nd.array([1, 2.5])
    y.attach_grad()
    with autograd.record():
        z = I._copyto(y) * 2
    z.backward()
    assert y.grad.asnumpy().tolist() == [2, 2]


# ---------------------------------------------------------------------- contrib mathematics
def test_allclose():
    a = nd.array([1, np.nan, 1e10])
    assert nd.contrib.allclose(a, a).asnumpy() == 1
    assert nd.contrib.allclose(a, a, equal_nan=False).asnumpy() == 0
    assert nd.contrib.allclose(a, nd.array([1, np.nan, 1.000005e10])).asnumpy() == 1
    result = nd.contrib.allclose(a, nd.array([1, np.nan, 1.1e10]), rtol=0.01)
    assert result.asnumpy() == 0 and result.dtype == np.uint8
    with pytest.raises(MXNetError, match='one shape'):
        nd.contrib.allclose(a, nd.ones(1))


@pytest.mark.parametrize('shape', [(3, 5), (2, 1, 2, 4)])
def test_fft(shape):
    x = R.standard_normal(shape)
    spectrum = np.fft.fft(x)
    pairs = np.stack([spectrum.real, spectrum.imag], -1).reshape(*shape[:-1], -1)
    check('_contrib_fft', [x], pairs)
    check('_contrib_ifft', [pairs], x * shape[-1])


def test_count_sketch():
    data, h, s = R.standard_normal((2, 3, 5)), np.array([[0, 3, 3, 1, 0]]), np.array([[1, -1, 1, 1, -1]])
    expected = np.zeros((2, 3, 4))
    for i in range(5):
        expected[..., h[0, i]] += s[0, i] * data[..., i]
    check('_contrib_count_sketch', [data, h, s], expected, out_dim=4)
    with pytest.raises(MXNetError, match='one value per element'):
        nd.contrib.count_sketch(nd.ones((2, 5)), nd.ones(4), nd.ones(4), out_dim=4)


def hawkes(lda, alpha, beta, state, lags, marks, max_time):
    """Log likelihood and final state of one sample, by the definition with all past points kept."""
    times = np.cumsum(lags)

    def memory(k, t, before):
        past = [u for u, m in zip(times[:before], marks) if m == k]
        return state[k] * exp(-beta[k] * t) + sum(exp(-beta[k] * (t - u)) for u in past)

    likelihood = sum(log(lda[k] + alpha[k] * beta[k] * memory(k, t, i)) for i, (t, k) in enumerate(zip(times, marks)))
    for k in range(len(alpha)):
        likelihood -= lda[k] * max_time + alpha[k] * state[k] * (1 - exp(-beta[k] * max_time))
        likelihood -= sum(alpha[k] * (1 - exp(-beta[k] * (max_time - u))) for u, m in zip(times, marks) if m == k)
    return likelihood, [memory(k, max_time, len(times)) for k in range(len(alpha))]


def test_hawkes_process():
    lda, state = R.uniform(1, 3, (2, 3)), R.uniform(0, 1, (2, 3))
    alpha, beta = np.array([0.2, 0.3, 0.4]), np.array([1., 2, 3])
    lags, marks = R.uniform(0.1, 1, (2, 4)), np.array([[0, 1, 1, 2], [2, 2, 0, 1]], 'int32')
    lengths, max_time = np.array([3, 4]), np.array([5., 6])
    samples = [hawkes(lda[n], alpha, beta, state[n], lags[n, :k], marks[n, :k], max_time[n])
               for n, k in enumerate(lengths)]
    check('_contrib_hawkesll', [lda, alpha, beta, state, lags, marks, lengths, max_time],
          [np.array([s[0] for s in samples]), np.array([s[1] for s in samples])])
