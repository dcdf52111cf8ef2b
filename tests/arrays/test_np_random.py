"""mx.np.random and mx.npx.random: shapes, moments, parameters as arrays, gradients that reach them, errors."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np, npx

N = 40000
# name, parameters, mean, standard deviation
DISTRIBUTIONS = [
    ('uniform', (-1, 3), 1, 4 / 12 ** 0.5), ('normal', (1.5, 2), 1.5, 2),
    ('gumbel', (0.5, 2), 0.5 + 2 * 0.57722, 2 * 1.2825),
    ('logistic', (1, 0.5), 1, 0.5 * 1.8138), ('gamma', (2, 1.5), 3, 1.5 * 2 ** 0.5), ('exponential', (2,), 2, 2),
    ('rayleigh', (2,), 2 * 1.25331, 2 * 0.65514), ('weibull', (2,), 0.886227, 0.463251),
    ('pareto', (5,), 0.25, 0.322749),
    ('power', (3,), 0.75, 0.193649), ('beta', (2, 3), 0.4, 0.2), ('chisquare', (3,), 3, 6 ** 0.5),
    ('lognormal', (0, 0.25), 1.031743, 0.262056)]


@pytest.fixture(autouse=True)
def seed():
    mx.random.seed(7)


@pytest.mark.parametrize('name, parameters, mean, deviation', DISTRIBUTIONS, ids=[d[0] for d in DISTRIBUTIONS])
def test_moments(name, parameters, mean, deviation):
    draw = getattr(np.random, name)
    x = draw(*parameters, size=N)
    assert x.shape == (N,) and x.dtype == 'float32' and type(x) is np.ndarray
    values = x.asnumpy().astype('float64')
    assert abs(values.mean() - mean) < 6 * deviation / N ** 0.5 and abs(values.std() / deviation - 1) < 0.06
    assert draw(*parameters).shape == () and draw(*parameters, size=(2, 0)).shape == (2, 0)
    arrays = [np.array([p, p]) for p in parameters]
    assert draw(*arrays).shape == (2,) and draw(*arrays, size=(3, 2)).shape == (3, 2)
    if len(parameters) == 2:
        assert draw(arrays[0].reshape(2, 1), arrays[1]).shape == (2, 2) and draw(parameters[0], arrays[1]).shape == (2,)


def test_the_seed_decides():
    def draw():
        npx.random.seed(3)
        return [np.random.normal(size=3).tolist(), np.random.choice(9, 4).tolist(),
                np.random.randint(99, size=2).tolist()]
    assert draw() == draw()


def test_integers_and_choices():
    x = np.random.randint(-2, 3, size=2000)
    assert x.dtype == 'int64' and set(x.tolist()) == {-2, -1, 0, 1, 2} and np.random.randint(4).shape == ()
    assert np.random.randint(0, 2, dtype='int32').dtype == 'int32'
    assert sorted(np.random.choice(5, 5, replace=False).tolist()) == [0, 1, 2, 3, 4]
    assert np.random.choice(np.array([7.0, 8.0]), (3,), p=[0, 1]).tolist() == [8, 8, 8]
    assert np.random.choice(3, p=np.array([0, 1, 0])).item() == 1
    assert sorted(np.random.permutation(4).tolist()) == [0, 1, 2, 3]
    rows = np.arange(6).reshape(3, 2)
    np.random.shuffle(rows)
    assert sorted(rows.tolist()) == [[0, 1], [2, 3], [4, 5]]
    for bad in (lambda: np.random.choice(3, 4, replace=False), lambda: np.random.choice(3, p=[0.5, 0.5]),
                lambda: np.random.choice(2, p=[-1, 2])):
        with pytest.raises(ValueError):
            bad()


def test_counts():
    x = np.random.multinomial(10, [0.2, 0.3, 0.5], size=(400,))
    assert x.shape == (400, 3) and x.dtype == 'int64' and (x.sum(axis=1) == 10).all()
    assert abs(x.asnumpy().mean(0) - [2, 3, 5]).max() < 0.4
    assert np.random.multinomial(4, np.array([0, 1])).tolist() == [0, 4]
    assert np.random.multinomial(0, [1.0]).tolist() == [0]
    with pytest.raises(ValueError, match='at most 1'):
        np.random.multinomial(3, [0.9, 0.9, 0.1])
    with pytest.raises(ValueError, match='list'):
        np.random.multinomial(3, onp.array([1.0]))


def test_bernoulli():
    x = npx.random.bernoulli(prob=0.3, size=N)
    assert abs(x.mean().item() - 0.3) < 0.02 and x.dtype == 'float32'
    assert npx.random.bernoulli(logit=np.array([-50.0, 50.0])).tolist() == [0, 1]
    assert npx.random.bernoulli(prob=1.0, dtype='bool').dtype == 'bool' and npx.random.bernoulli(logit=0.0).shape == ()
    with pytest.raises(ValueError, match='prob or logit'):
        npx.random.bernoulli()
    with pytest.raises(ValueError, match='between 0 and 1'):
        npx.random.bernoulli(prob=2.0)


def test_batches_come_first():
    assert npx.random.normal_n(np.zeros(3), np.ones((2, 1)), batch_shape=4).shape == (4, 2, 3)
    assert npx.random.uniform_n(0, np.ones(3), batch_shape=(4, 5)).shape == (4, 5, 3)
    assert np.random.multivariate_normal(np.zeros((3, 2)), np.eye(2), size=4).shape == (4, 3, 2)
    x = np.random.multivariate_normal(np.array([1.0, 2.0]), np.array([[2.0, 1.0], [1.0, 2.0]]), size=N)
    onp.testing.assert_allclose(onp.cov(x.asnumpy().T), [[2, 1], [1, 2]], atol=0.1)
    with pytest.raises(NotImplementedError):
        np.random.multivariate_normal(np.zeros(2), np.eye(2), tol=1)


@pytest.mark.parametrize('name, arguments', [('normal', (np.ones(3), np.ones(3))), ('gumbel', (np.ones(3), np.ones(3))),
                                             ('logistic', (np.ones(3), np.ones(3))), ('exponential', (np.ones(3),)),
                                             ('rayleigh', (np.ones(3),)), ('weibull', (np.ones(3),)),
                                             ('pareto', (np.ones(3),))])
def test_gradients_reach_the_parameters(name, arguments):
    for a in arguments:
        a.attach_grad()
    with autograd.record():
        x = getattr(np.random, name)(*arguments)
    x.backward()
    assert all((a.grad.asnumpy() != 0).all() for a in arguments)
    if name in ('exponential', 'rayleigh'):
        onp.testing.assert_allclose(arguments[0].grad.asnumpy(), x.asnumpy(),
                                    rtol=1e-5)      # proportional to the scale


@pytest.mark.parametrize('call',
                         [lambda: np.random.normal(0, -1), lambda: np.random.gamma(0, 1),
                          lambda: np.random.weibull(-1.0),
                                  lambda: np.random.exponential(np.array([-1.0])), lambda: np.random.pareto(0.0),
                                  lambda: np.random.normal(np.zeros(3), 1, size=4), lambda: np.random.gumbel(0, -1)])
def test_parameters_out_of_range(call):
    with pytest.raises(ValueError):
        call()
    with pytest.raises(TypeError, match='a number or an array'):
        np.random.normal('a')


def test_out_dtype_and_context():
    out = np.zeros(3)
    assert np.random.uniform(1, 2, size=3, out=out) is out and (out >= 1).all()
    assert np.random.uniform(size=2, dtype='float64').dtype == 'float64'
    assert np.random.normal(size=1, dtype='float16').dtype == 'float16'
    assert np.random.normal(size=2, ctx=mx.cpu(1)).ctx == mx.cpu(1)
    assert np.random.rand(2, 3).shape == np.random.randn(2, 3).shape == (2, 3)
