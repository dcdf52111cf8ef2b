"""Random draws and densities: moments, dtypes, devices' generators, errors."""
import math

import numpy as np
import pytest
import torch
from ops_checks import check
from torch import distributions as td

import mxnet as mx
from mxnet._ops import TABLE

nd = mx.nd
N = 20000


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def draw(name, *inputs, seed=0, **attributes):
    return TABLE[name].function(*inputs, **attributes, rng=generator(seed))


# name, attributes, mean, deviation, parameters of the operator for arrays
DRAWS = [
    ('uniform', {'low': -1.0, 'high': 3.0}, 1.0, 4 / math.sqrt(12), (-1.0, 3.0)),
    ('normal', {'loc': 1.5, 'scale': 2.0}, 1.5, 2.0, (1.5, 2.0)),
    ('gamma', {'alpha': 2.0, 'beta': 1.5}, 3.0, 1.5 * math.sqrt(2), (2.0, 1.5)),
    ('gamma', {'alpha': 0.3, 'beta': 2.0}, 0.6, 2 * math.sqrt(0.3), (0.3, 2.0)),
    ('exponential', {'lam': 4.0}, 0.25, 0.25, (4.0,)),
    ('poisson', {'lam': 3.0}, 3.0, math.sqrt(3.0), (3.0,)),
    ('negative_binomial', {'k': 3, 'p': 0.4}, 4.5, math.sqrt(4.5 / 0.4), (3.0, 0.4)),
    ('generalized_negative_binomial', {'mu': 2.0, 'alpha': 0.3}, 2.0, math.sqrt(2 + 0.3 * 4), (2.0, 0.3)),
    ('generalized_negative_binomial', {'mu': 2.0, 'alpha': 0.0}, 2.0, math.sqrt(2), (2.0, 0.0)),
]
IDS = [f'{d[0]}{i}' for i, d in enumerate(DRAWS)]


def has_moments(sample, mean, deviation):
    sample = sample.double()
    assert abs(sample.mean().item() - mean) < 6 * deviation / math.sqrt(sample.numel())
    assert abs(sample.std().item() - deviation) < 0.08 * deviation


@pytest.mark.parametrize(('name', 'attributes', 'mean', 'deviation', 'parameters'), DRAWS, ids=IDS)
def test_moments(name, attributes, mean, deviation, parameters):
    has_moments(draw(f'_random_{name}', shape=(N,), **attributes), mean, deviation)
    has_moments(draw(f'_random_{name}_like', torch.zeros(N), **attributes), mean, deviation)
    has_moments(draw(f'_sample_{name}', *[torch.tensor([p]) for p in parameters], shape=(N,)), mean, deviation)


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64', 'bfloat16'])
@pytest.mark.parametrize(('name', 'attributes', 'mean', 'deviation', 'parameters'), DRAWS, ids=IDS)
def test_dtype_and_shape_also_on_meta_tensors(name, attributes, mean, deviation, parameters, dtype):
    wanted = getattr(torch, dtype)
    arrays = [torch.full((2, 3), float(p)) for p in parameters]
    for device in ('cpu', 'meta'):
        rng = generator() if device == 'cpu' else None
        model = torch.zeros(3, dtype=wanted, device=device)
        one = TABLE[f'_random_{name}'].function(shape=(4, 5), ctx=model.device, dtype=dtype, rng=rng, **attributes)
        like = TABLE[f'_random_{name}_like'].function(model, rng=rng, **attributes)
        each = TABLE[f'_sample_{name}'].function(*[a.to(device) for a in arrays], shape=(4,), dtype=dtype, rng=rng)
        assert [(x.shape, x.dtype, x.device.type) for x in (one, like, each)] == \
            [((4, 5), wanted, device), ((3,), wanted, device), ((2, 3, 4), wanted, device)]


def test_each_element_has_its_own_distribution():
    low, high = torch.tensor([[0.0, 10.0]]), torch.tensor([[1.0, 10.5]])
    sample = draw('_sample_uniform', low, high, shape=(100,))
    assert sample.shape == (1, 2, 100)
    assert (sample[0, 0] < 1).all() and (sample[0, 1] >= 10).all() and (sample[0, 1] <= 10.5).all()


def test_draws_are_constants_for_autograd():
    mu = torch.ones(3, requires_grad=True)
    assert not draw('_sample_normal', mu, mu, shape=(2,)).requires_grad
    assert not draw('_random_normal_like', mu).requires_grad


def test_randint_covers_its_range():
    sample = draw('_random_randint', low=-2, high=3, shape=(1000,))
    assert sample.dtype == torch.int32 and sample.unique().tolist() == [-2, -1, 0, 1, 2]
    large = draw('_random_randint', low=0, high=2 ** 40, shape=(100,), dtype='int64')
    assert large.dtype == torch.int64 and large.max() > 2 ** 32


def test_shuffle_moves_rows():
    data = torch.arange(60).reshape(20, 3)
    mixed = draw('_shuffle', data)
    assert not torch.equal(mixed, data)
    assert torch.equal(mixed[mixed[:, 0].argsort()], data)


def test_multinomial_follows_the_probabilities():
    weights = torch.tensor([[0.0, 0.2, 0.0, 0.8], [0.5, 0.0, 0.5, 0.0]])
    index, logarithm = draw('_sample_multinomial', weights, shape=(N,), get_prob=True)
    assert (index.shape, index.dtype, logarithm.dtype) == ((2, N), torch.int32, torch.float32)
    shares = torch.stack([torch.bincount(row, minlength=4) for row in index]) / N
    assert (shares - weights).abs().max() < 0.02 and (shares[weights == 0] == 0).all()
    assert torch.equal(logarithm, weights.gather(1, index.long()).log())


def test_multinomial_gradient_reaches_the_probabilities():
    weights = torch.tensor([0.1, 0.2, 0.7], requires_grad=True)
    index, logarithm = draw('_sample_multinomial', weights, shape=(50,), get_prob=True)
    logarithm.sum().backward()
    torch.testing.assert_close(weights.grad, torch.bincount(index, minlength=3) / weights.detach())


@pytest.mark.parametrize(('given', 'shape', 'wanted'), [
    ((3,), (), (1,)), ((3,), (4, 2), (4, 2)), ((5, 3), (), (5,)), ((2, 5, 3), (4,), (2, 5, 4))])
def test_multinomial_shapes(given, shape, wanted):
    weights = torch.ones(given)
    assert draw('_sample_multinomial', weights, shape=shape).shape == wanted
    assert TABLE['_sample_multinomial'].function(weights.to('meta'), shape=shape).shape == wanted


def test_unique_zipfian():
    samples, tries = draw('_sample_unique_zipfian', range_max=50, shape=(200, 10))
    assert all(len(set(row)) == 10 for row in samples.tolist())
    assert samples.min() == 0 and samples.max() < 50
    assert (tries >= 10).all() and (tries > 10).any()
    assert (samples == 0).any(1).float().mean() > (samples == 40).any(1).float().mean()
    everything, _ = draw('_sample_unique_zipfian', range_max=5, shape=(3, 5))
    assert [sorted(row) for row in everything.tolist()] == [list(range(5))] * 3


def test_torchs_own_generator_is_left_alone():
    before = torch.get_rng_state()
    for name, attributes, _, _, _ in DRAWS:
        draw(f'_random_{name}', shape=(10,), **attributes)
    draw('_shuffle', torch.zeros(5))
    draw('_sample_multinomial', torch.ones(3))
    draw('_sample_unique_zipfian', range_max=9, shape=(1, 3))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(('name', 'attributes', 'argument'), [
    ('uniform', {'low': 1.0, 'high': 0.0}, 'high'), ('normal', {'scale': -1.0}, 'scale'),
    ('gamma', {'alpha': 0.0}, 'alpha'), ('gamma', {'beta': -1.0}, 'beta'), ('exponential', {'lam': 0.0}, 'lam'),
    ('poisson', {'lam': -1.0}, 'lam'), ('negative_binomial', {'k': -1}, 'k'), ('negative_binomial', {'p': 0.0}, 'p'),
    ('negative_binomial', {'p': 1.5}, 'p'), ('generalized_negative_binomial', {'alpha': -1.0}, 'alpha'),
    ('randint', {'low': 3, 'high': 3}, 'high'), ('uniform', {'dtype': 'int32'}, 'dtype'),
    ('randint', {'low': 0, 'high': 3, 'dtype': 'float32'}, 'dtype')])
def test_errors_name_operator_and_argument(name, attributes, argument):
    with pytest.raises(mx.MXNetError, match=rf'_random_{name}: {argument}='):
        draw(f'_random_{name}', shape=(2,), **attributes)


def test_parameters_of_unequal_shape_are_refused():
    with pytest.raises(mx.MXNetError, match=r'_sample_normal: .*\(2,\) and \(3,\)'):
        draw('_sample_normal', torch.ones(2), torch.ones(3))
    with pytest.raises(mx.MXNetError, match='int32'):
        draw('_random_uniform_like', torch.ones(3, dtype=torch.int32))


# ---------------------------------------------------------------------- mx.nd.random
def test_same_seed_same_numbers():
    mx.random.seed(7)
    first = [nd.random.uniform(shape=3).asnumpy(), nd.random.shuffle(nd.arange(9)).asnumpy()]
    mx.random.seed(7)
    again = [nd.random.uniform(shape=3).asnumpy(), nd.random.shuffle(nd.arange(9)).asnumpy()]
    other = nd.random.uniform(shape=3).asnumpy()
    assert all(np.array_equal(a, b) for a, b in zip(first, again)) and not np.array_equal(first[0], other)


def test_numbers_or_arrays():
    two = nd.array([1.0, 2.0])
    assert nd.random.normal().shape == (1,)
    assert nd.random.normal(0, 1, shape=(2, 3)).shape == (2, 3)
    assert nd.random.normal(two, two).shape == (2,)
    assert nd.random.normal(two, two, shape=(4, 5)).shape == (2, 4, 5)
    assert nd.random.randn(2, 3, loc=two, scale=two).shape == (2, 2, 3)
    assert nd.random.poisson(two, shape=3, dtype='float64').dtype == np.float64
    assert nd.random.exponential(np.float32(2), shape=3, ctx=mx.cpu(1)).context == mx.cpu(1)


def test_exponential_takes_the_mean():
    assert abs(nd.random.exponential(5.0, shape=N).asnumpy().mean() - 5) < 0.3
    assert abs(nd.random.exponential(nd.array([5.0]), shape=N).asnumpy().mean() - 5) < 0.3


def test_out_tells_shape_and_dtype():
    out = nd.zeros((3, 4), dtype='float64')
    assert nd.random.uniform(1, 2, out=out) is out
    assert (out.asnumpy() >= 1).all()
    with pytest.raises(mx.MXNetError, match='float32.*float64'):
        nd.random.uniform(dtype='float32', out=out)
    with pytest.raises(mx.MXNetError, match=r'\(3, 4\)'):
        nd.random.uniform(shape=(2,), out=out)


def test_mixed_and_odd_parameters():
    with pytest.raises(AssertionError, match='high'):
        nd.random.uniform(nd.array([0.0]), 1)
    with pytest.raises(ValueError, match='low is a str'):
        nd.random.uniform('a', 1)
    with pytest.raises(ValueError, match='must be numbers'):
        nd.random.randint(nd.array([0.0]), nd.array([3.0]))


def test_multinomial_records_its_log_probabilities():
    weights = nd.array([[0.3, 0.7]])
    weights.attach_grad()
    with mx.autograd.record():
        index, logarithm = nd.random.multinomial(weights, shape=5, get_prob=True)
    logarithm.backward()
    counts = np.bincount(index.asnumpy()[0], minlength=2)
    np.testing.assert_allclose(weights.grad.asnumpy()[0], counts / np.array([0.3, 0.7]), rtol=1e-5)


def test_old_names():
    for name in ('uniform', 'random_uniform', 'normal', 'random_normal', 'random_gamma', 'random_poisson'):
        assert getattr(nd, name)(shape=(2, 3)).shape == (2, 3)
    assert nd.random_randint(0, 5, shape=(2,)).dtype == np.int32
    assert nd.random.uniform_like(nd.zeros((2, 3))).shape == (2, 3)
    assert mx.random.uniform(shape=(2,)).shape == (2,)


# ---------------------------------------------------------------------- densities
def reference(name, sample, *parameters):
    parameters = [torch.as_tensor(p)[:, None] for p in parameters]
    if name == 'generalized_negative_binomial':
        mu, alpha = parameters
        parameters, name = [1 / alpha, 1 / (mu * alpha + 1)], 'negative_binomial'
    if name == 'negative_binomial':
        k, p = parameters
        return td.NegativeBinomial(k, probs=1 - p).log_prob(sample)
    kind = {'uniform': td.Uniform, 'normal': td.Normal, 'gamma': td.Gamma, 'exponential': td.Exponential,
            'poisson': td.Poisson}[name]
    return kind(*parameters).log_prob(sample)


@pytest.mark.parametrize(('name', 'parameters', 'discrete'), [
    ('uniform', ([0.0, -1.0], [9.0, 8.0]), False), ('normal', ([0.5, 1.0], [1.0, 2.0]), False),
    ('gamma', ([2.0, 0.5], [1.5, 3.0]), False), ('exponential', ([0.5, 2.0],), False),
    ('poisson', ([0.5, 2.0],), True), ('negative_binomial', ([3.0, 1.5], [0.4, 0.7]), True),
    ('generalized_negative_binomial', ([2.0, 1.0], [0.3, 0.8]), True)])
def test_density(name, parameters, discrete):
    sample = np.array([[0.0, 1.0, 3.0], [2.0, 5.0, 7.0]]) if discrete else np.array([[0.5, 1.2, 3.0], [0.1, 2.0, 7.0]])
    expected = reference(name, torch.from_numpy(sample), *[np.asarray(p) for p in parameters])
    check(f'_random_pdf_{name}', [sample, *parameters], expected.numpy(), is_log=True, gradient=not discrete)
    check(f'_random_pdf_{name}', [sample, *parameters], expected.exp().numpy(), gradient=not discrete)
    if discrete:
        leaves = [torch.tensor(p, dtype=torch.float64, requires_grad=True) for p in parameters]
        function = TABLE[f'_random_pdf_{name}'].function
        torch.autograd.gradcheck(lambda *p: function(torch.from_numpy(sample), *p, is_log=True), leaves)


def test_dirichlet_density():
    alpha, sample = np.array([[1.0, 2.0, 3.0]]), np.array([[[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]])
    expected = td.Dirichlet(torch.from_numpy(alpha[0])).log_prob(torch.from_numpy(sample[0])).numpy()[None]
    check('_random_pdf_dirichlet', [sample, alpha], expected, is_log=True)
    check('_random_pdf_dirichlet', [sample[0, 0], alpha[0]], np.exp(expected[0, :1]))


def test_density_refuses_shapes_that_do_not_start_alike():
    with pytest.raises(mx.MXNetError, match=r'_random_pdf_normal: sample has shape \(3, 4\)'):
        TABLE['_random_pdf_normal'].function(torch.ones(3, 4), torch.ones(4), torch.ones(4))
