"""Random numbers on both faces: `makers(call)` gives the functions of `np.random` and `npx.random`."""
import numpy

from .._array import NDArrayBase
from .._names import kind_of
from ._call import Numbers, dtype_text, is_array, numbers


def parameter(name, value):
    """(number or None, array or None) of a parameter of a distribution."""
    if is_array(value):
        return None, value
    if isinstance(value, Numbers):
        return float(value), None
    if isinstance(value, (list, tuple, numpy.ndarray)):
        from ._creation import array
        return None, array(value)
    raise TypeError(f'np.random.{name}: a parameter must be a number or an array, not {kind_of(value)}')


def makers(call):
    """(functions of np.random, functions of npx.random) by `call(operator name, inputs, attributes, ctx, out)`."""
    def draw(name, parameters, size, ctx, out, **more):
        given = {k: parameter(name, v) for k, v in parameters.items()}
        inputs = tuple(array for _, array in given.values() if array is not None)
        attributes = {k: number for k, (number, _) in given.items()}
        shape = None if size is None else numbers(size)
        if shape is None and not inputs:
            shape = ()
        return call(f'_npi_{name}', inputs, {**attributes, 'size': shape, **more}, ctx, out)

    def uniform(low=0.0, high=1.0, size=None, dtype=None, ctx=None, out=None):
        """Uniformly distributed numbers between `low` (included) and `high` (excluded).

        >>> mx.np.random.uniform(0, 1, size=(2, 3)).shape
        (2, 3)
        """
        return draw('uniform', {'low': low, 'high': high}, size, ctx, out, dtype=dtype_text(dtype, 'float32'))

    def normal(loc=0.0, scale=1.0, size=None, dtype=None, ctx=None, out=None):
        """Normally distributed numbers with mean `loc` and standard deviation `scale`; gradients reach both."""
        return draw('normal', {'loc': loc, 'scale': scale}, size, ctx, out, dtype=dtype_text(dtype, 'float32'))

    def lognormal(mean=0.0, sigma=1.0, size=None, dtype=None, ctx=None, out=None):
        """Numbers whose logarithms are normally distributed with mean `mean` and deviation `sigma`."""
        from ._elementwise import exp
        return exp(normal(mean, sigma, size, dtype, ctx), out=out)

    def gumbel(loc=0.0, scale=1.0, size=None, ctx=None, out=None):
        """Gumbel distributed numbers: how far the largest of many lies out."""
        return draw('gumbel', {'loc': loc, 'scale': scale}, size, ctx, out)

    def logistic(loc=0.0, scale=1.0, size=None, ctx=None, out=None):
        """Logistically distributed numbers."""
        return draw('logistic', {'loc': loc, 'scale': scale}, size, ctx, out)

    def gamma(shape, scale=1.0, size=None, dtype=None, ctx=None, out=None):
        """Gamma distributed numbers with shape parameter `shape`: their mean is `shape * scale`."""
        return draw('gamma', {'shape': shape, 'scale': scale}, size, ctx, out, dtype=dtype_text(dtype, 'float32'))

    def beta(a, b, size=None, dtype=None, ctx=None):
        """Beta distributed numbers, between 0 and 1; their mean is `a / (a + b)`."""
        if size is None and (is_array(a) or is_array(b)):
            # both gammas must have the shape that the parameters have together
            a, b = a + b * 0, b + a * 0
        # two gammas; in float64 they do not vanish where a and b are small
        first, second = (gamma(x, 1.0, size, 'float64', ctx) for x in (a, b))
        return (first / (first + second)).astype(dtype_text(dtype, 'float32'))

    def chisquare(df, size=None, dtype=None, ctx=None):
        """Sums of `df` squared normal numbers."""
        return gamma(df / 2, 2.0, size, dtype, ctx)

    def exponential(scale=1.0, size=None, ctx=None, out=None):
        """Exponentially distributed numbers with mean `scale`."""
        return draw('exponential', {'scale': scale}, size, ctx, out)

    def rayleigh(scale=1.0, size=None, ctx=None, out=None):
        """Rayleigh distributed numbers: lengths of normal vectors in the plane."""
        return draw('rayleigh', {'scale': scale}, size, ctx, out)

    def weibull(a, size=None, ctx=None, out=None):
        """Weibull distributed numbers with shape parameter `a` and scale 1."""
        return draw('weibull', {'a': a}, size, ctx, out)

    def pareto(a, size=None, ctx=None, out=None):
        """Pareto (Lomax) distributed numbers with shape parameter `a`, from 0 on."""
        return draw('pareto', {'a': a}, size, ctx, out)

    def power(a, size=None):
        """Numbers between 0 and 1 whose density rises like `x^(a - 1)`."""
        return draw('powerd', {'a': a}, size, None, None)

    def rand(*size, **kwargs):
        """Uniformly distributed numbers between 0 and 1; the shape is given as separate arguments."""
        return uniform(0, 1, size, **kwargs)

    def randn(*size, **kwargs):
        """Normally distributed numbers; the shape is given as separate arguments."""
        return normal(0, 1, size, **kwargs)

    def randint(low, high=None, size=None, dtype=None, ctx=None, out=None):
        """Integers between `low` (included) and `high` (excluded), or from 0 up to `low` if that stands alone.

        >>> mx.np.random.randint(3, size=5).dtype
        dtype('int64')
        """
        if high is None:
            low, high = 0, low
        shape = () if size is None else numbers(size)
        return call('_npi_random_randint', (), {'low': low, 'high': high, 'shape': shape,
                                                'dtype': 'int64' if dtype is None else dtype}, ctx, out)

    def choice(a, size=None, replace=True, p=None, ctx=None, out=None):
        """Elements of `a` (or numbers from 0 up to it) drawn at random; `p` has the probability of each.

        >>> sorted(mx.np.random.choice(4, 4, replace=False).tolist())
        [0, 1, 2, 3]
        """
        if p is not None and not is_array(p):
            from ._creation import array
            p = array(p)
        count = a.shape[0] if isinstance(a, NDArrayBase) else a if not is_array(a) else None
        weights = () if p is None else (p,)
        inputs = weights if count is not None else (a, *weights)
        chosen = call('_npi_choice', inputs, {'a': count, 'size': () if size is None else numbers(size),
                                              'replace': replace, 'weighted': p is not None}, ctx,
                      out if not is_array(a) else None)
        if not is_array(a):
            return chosen
        from ._call import apply
        return apply('_npi_take', (a, chosen), {'axis': 0, 'mode': 'clip'}, out)

    def multinomial(n, pvals, size=None, **kwargs):
        """How often each of several outcomes comes up in `n` trials; `pvals` are their probabilities."""
        shape = None if size is None else numbers(size)
        if is_array(pvals):
            return call('_npi_multinomial', (pvals,), {'n': n, 'pvals': None, 'size': shape}, None, None)
        if isinstance(pvals, numpy.ndarray):
            raise ValueError('multinomial: pvals must be a list, a tuple or an array of MXNet')
        return call('_npi_multinomial', (), {'n': n, 'pvals': tuple(pvals), 'size': shape}, None, None)

    def uniform_n(low=0.0, high=1.0, batch_shape=None, dtype=None, ctx=None):
        """Uniform draws, `batch_shape` of them for each element of the parameters: batch axes come first."""
        return draw('uniform_n', {'low': low, 'high': high}, batch_shape, ctx, None, dtype=dtype_text(dtype, 'float32'))

    def normal_n(loc=0.0, scale=1.0, batch_shape=None, dtype=None, ctx=None):
        """Normal draws, `batch_shape` of them for each element of the parameters: batch axes come first."""
        return draw('normal_n', {'loc': loc, 'scale': scale}, batch_shape, ctx, None,
                    dtype=dtype_text(dtype, 'float32'))

    def bernoulli(prob=None, logit=None, size=None, dtype=None, ctx=None, out=None):
        """1 with probability `prob` (or sigmoid of `logit`), else 0."""
        if (prob is None) == (logit is None):
            raise ValueError('bernoulli: give prob or logit, and not both')
        is_logit = prob is None
        number, array = parameter('bernoulli', logit if is_logit else prob)
        shape = None if size is None else numbers(size)
        return call('_npi_bernoulli', () if array is None else (array,),
                    {'prob': None if is_logit else number, 'logit': number if is_logit else None, 'is_logit': is_logit,
                     'size': () if shape is None and array is None else shape, 'dtype': dtype_text(dtype, 'float32')},
                    ctx, out)

    np_functions = (beta, chisquare, choice, exponential, gamma, gumbel, logistic, lognormal, multinomial, normal,
                    pareto, power, rand, randint, randn, rayleigh, uniform, weibull)
    npx_functions = (bernoulli, normal_n, uniform_n)
    for function in (*np_functions, *npx_functions):
        function.__qualname__ = function.__name__
    return {f.__name__: f for f in np_functions}, {f.__name__: f for f in npx_functions}
