"""Random operators on a GPU: the generator of the device in graphs, and parameters that are refused."""
import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import gluon, nd, npx
from mxnet import np as mnp
from mxnet.base import MXNetError

pytestmark = pytest.mark.gpu
GPU = mx.gpu(0)


class Adjusted(gluon.HybridBlock):
    def __init__(self, name, attributes):
        super().__init__()
        self._operator, self._attributes = name, attributes

    def hybrid_forward(self, F, x):
        return getattr(F.image, self._operator)(x, **self._attributes)


IMAGES = [('random_brightness', {'min_factor': 0.5, 'max_factor': 1.5}),
          ('random_contrast', {'min_factor': 0.5, 'max_factor': 1.5}),
          ('random_saturation', {'min_factor': 0.5, 'max_factor': 1.5}),
          ('random_hue', {'min_factor': 0.1, 'max_factor': 0.4}),
          ('random_color_jitter', {'brightness': 0.3, 'contrast': 0.3, 'saturation': 0.3, 'hue': 0.1}),
          ('random_lighting', {'alpha_std': 0.1}), ('random_flip_left_right', {}), ('random_flip_top_bottom', {})]


@pytest.mark.parametrize(('name', 'attributes'), IMAGES, ids=[i[0] for i in IMAGES])
@pytest.mark.parametrize('how', ['plain', 'hybridized', 'static', 'symbol'])
def test_pictures_are_adjusted_on_the_gpu(name, attributes, how):
    picture = nd.array(np.random.RandomState(0).rand(8, 9, 3) * 255, ctx=GPU)
    results = []
    mx.random.seed(5)
    if how == 'symbol':
        symbol = getattr(mx.sym.image, name)(mx.sym.var('data'), **attributes)
        executor = symbol.bind(GPU, {'data': picture})
        results = [executor.forward()[0].asnumpy() for _ in range(4)]
    else:
        net = Adjusted(name, attributes)
        if how != 'plain':
            net.hybridize(static_alloc=how == 'static', static_shape=how == 'static')
        for _ in range(6):
            y = net(picture)
            assert y.context == GPU
            results.append(y.asnumpy())
    assert all(r.shape == (8, 9, 3) and np.isfinite(r).all() for r in results)
    if 'flip' not in name:
        assert len({r.tobytes() for r in results}) == len(results)


@pytest.mark.parametrize(('name', 'attributes'), IMAGES, ids=[i[0] for i in IMAGES])
@pytest.mark.parametrize('flags', [{}, {'static_alloc': True, 'static_shape': True}])
def test_pictures_are_adjusted_in_training(name, attributes, flags):
    """In a step of a network, until its plan is a CUDA graph."""
    net, picture = gluon.nn.HybridSequential(), nd.array(np.random.RandomState(0).rand(2, 8, 9, 3) * 255, ctx=GPU)
    net.add(Adjusted(name, attributes), gluon.nn.Dense(2))
    net.initialize(ctx=GPU)
    net.hybridize(**flags)
    for _ in range(30):
        with mx.autograd.record():
            y = net(picture)
            y = y + getattr(nd.image, name)(picture, **attributes).mean()
        y.backward()
    assert np.isfinite(y.asnumpy()).all()


def test_transforms_on_the_gpu():
    transforms = gluon.data.vision.transforms
    net = gluon.nn.HybridSequential()
    net.add(transforms.RandomBrightness(0.5), transforms.RandomContrast(0.5), transforms.RandomSaturation(0.5),
            transforms.RandomHue(0.1), transforms.RandomColorJitter(0.1, 0.1, 0.1, 0.1), transforms.RandomLighting(0.1))
    net.hybridize()
    picture = nd.array(np.random.RandomState(0).rand(8, 9, 3) * 255, ctx=GPU)
    for _ in range(3):
        assert net(picture).context == GPU


# a draw with a parameter that is refused, one that is not, and the error
REFUSED = {
    'gamma': (lambda v: mnp.random.gamma(v, 1.0), -1.0, 1.0, '_npi_gamma: shape has values'),
    'gamma by its scale': (lambda v: mnp.random.gamma(1.0, v), 0.0, 1.0, '_npi_gamma: scale'),
    'bernoulli': (lambda v: npx.random.bernoulli(prob=v), 1.5, 0.5, '_npi_bernoulli: prob'),
    'normal': (lambda v: mnp.random.normal(0.0, v), -1.0, 1.0, '_npi_normal: scale'),
    'gumbel': (lambda v: mnp.random.gumbel(0.0, v), -1.0, 1.0, '_npi_gumbel: scale'),
    'logistic': (lambda v: mnp.random.logistic(0.0, v), -1.0, 1.0, '_npi_logistic: scale'),
    'exponential': (lambda v: mnp.random.exponential(v), -1.0, 1.0, '_npi_exponential: scale'),
    'rayleigh': (lambda v: mnp.random.rayleigh(v), -1.0, 1.0, '_npi_rayleigh: scale'),
    'weibull': (lambda v: mnp.random.weibull(v), -1.0, 1.0, '_npi_weibull: a'),
    'pareto': (lambda v: mnp.random.pareto(v), 0.0, 1.0, '_npi_pareto: a'),
}


@pytest.mark.parametrize('name', REFUSED)
def test_parameters_that_a_cpu_refuses_are_refused(name):
    draw, wrong, right, text = REFUSED[name]
    with pytest.raises(MXNetError) as error:
        draw(mnp.array([right, wrong]))
    kind = type(error.value)
    with GPU:
        draw(mnp.array([right, right])).asnumpy()
        result = draw(mnp.array([right, wrong]))
        with pytest.raises(kind) as error:
            result.asnumpy()
        assert text in str(error.value)
        draw(mnp.array([right, right])).asnumpy()


@pytest.mark.parametrize('weights', [[-1.0, 1, 1], [float('nan'), 1, 1], [float('inf'), 1, 1], [0.0, 0, 0]])
@pytest.mark.parametrize('replace', [True, False])
def test_weights_of_a_choice(weights, replace):
    with GPU:
        result = mnp.random.choice(3, (2,), replace, p=mnp.array(weights))
        with pytest.raises(ValueError, match='_npi_choice: p has values'):
            result.asnumpy()
        mnp.random.choice(3, (2,), replace, p=mnp.array([0.5, 0.25, 0.25])).asnumpy()
    torch.cuda.synchronize()


@pytest.mark.parametrize('rate', [-1.0, float('nan')])
def test_rates_of_poisson(rate):
    with GPU:
        for call in (lambda: nd.sample_poisson(nd.array([1.0, rate])),
                     lambda: nd.sample_generalized_negative_binomial(nd.array([rate]), nd.array([0.0]))):
            result = call()
            with pytest.raises(MXNetError, match='the rate has values that are not accepted; it must be at least 0'):
                result.asnumpy()
        assert nd.sample_poisson(nd.array([1.0, 2.0])).shape == (2,)
    nd.waitall()


def test_percentiles():
    with GPU:
        with pytest.raises(ValueError, match='between 0 and 100'):
            mnp.percentile(mnp.arange(4), mnp.array([10, 190.0])).asnumpy()
        assert mnp.percentile(mnp.arange(5), mnp.array([50.0])).asnumpy() == [2]
