"""The networks of gluon.py and resnet.py in JAX, compiled as a whole by jax.jit; run by peers.py."""
import jax
import jax.numpy as jnp
from jax import lax
from timing import later


def cases():
    """{name: callable}, named as the benchmarks of ours."""
    return {'MLP step, hybridized': later(_mlp), 'large LSTM 2x200 step': later(_lstm), 'CNN predicts one': later(_cnn),
            'large resnet18 step': later(_resnet18)}


def _normal(key, *shape):
    return jax.random.normal(jax.random.PRNGKey(key), shape) * 0.05


def _cross_entropy(scores, label):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), label[:, None], axis=1))


# ---------------------------------------------------------------------- 784-64-64-10, batches of 64, SGD
def _mlp(wait=jax.block_until_ready):
    sizes = (784, 64, 64, 10)
    params = [(_normal(i, a, b), jnp.zeros(b)) for i, (a, b) in enumerate(zip(sizes, sizes[1:]))]
    x, y = jax.random.uniform(jax.random.PRNGKey(0), (64, 784)), jnp.arange(64) % 10

    def loss(params, x, y):
        h = x
        for w, b in params[:-1]:
            h = jax.nn.relu(h @ w + b)
        return _cross_entropy(h @ params[-1][0] + params[-1][1], y)

    @jax.jit
    def update(params, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, gradients), value

    def step():
        nonlocal params
        params, value = update(params, x, y)
        wait(value)

    return step


# ---------------------------------------------------------------------- two layers of 200, 35 steps, batches of 20
def _lstm(width=200, steps=35, batch=20, wait=jax.block_until_ready):
    layers = [(_normal(i, width, 4 * width), _normal(9 + i, width, 4 * width), jnp.zeros(4 * width)) for i in range(2)]
    x = jax.random.uniform(jax.random.PRNGKey(0), (steps, batch, width))

    def run(layers, h):
        for wx, wh, b in layers:
            def cell(carry, given, wh=wh):
                before, c = carry
                i, f, g, o = jnp.split(given + before @ wh, 4, axis=1)
                c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                now = jax.nn.sigmoid(o) * jnp.tanh(c)
                return (now, c), now
            zeros = jnp.zeros((batch, width))
            _, h = lax.scan(cell, (zeros, zeros), h @ wx + b)       # what does not wait for the step before, at once
        return h.sum(), h

    both = jax.jit(jax.value_and_grad(run, has_aux=True))

    def step():
        wait(both(layers, x))

    return step


# ---------------------------------------------------------------------- convolutions
def _convolve(x, w, stride=1, padding=1):
    return lax.conv_general_dilated(x, w, (stride, stride), [(padding, padding)] * 2,
                                    dimension_numbers=('NCHW', 'OIHW', 'NCHW'))


def _pool(x, size, stride, padding):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, size, size), (1, 1, stride, stride),
                             [(0, 0), (0, 0), (padding, padding), (padding, padding)])


def _column(v):
    return v[None, :, None, None]


def _cnn():
    convolutions = [(_normal(0, 8, 1, 3, 3), *(jnp.ones(8),) * 4), (_normal(1, 16, 8, 3, 3), *(jnp.ones(16),) * 4)]
    dense = [(_normal(2, 784, 64), jnp.zeros(64)), (_normal(3, 64, 10), jnp.zeros(10))]
    x = jax.random.uniform(jax.random.PRNGKey(0), (1, 1, 28, 28))

    @jax.jit
    def run(x, convolutions, dense):
        for w, gamma, beta, mean, variance in convolutions:
            x = (_convolve(x, w) - _column(mean)) * _column(gamma * lax.rsqrt(variance + 1e-5)) + _column(beta)
            x = _pool(jax.nn.relu(x), 2, 2, 0)
        (w0, b0), (w1, b1) = dense
        return jax.nn.relu(x.reshape(1, -1) @ w0 + b0) @ w1 + b1

    def predict():
        jax.block_until_ready(run(x, convolutions, dense))

    return predict


def _resnet18(batch=16, size=64, classes=10):
    keys = iter(range(1000))

    def convolution(inside, channels, kernel):
        return _normal(next(keys), channels, inside, kernel, kernel), jnp.ones(channels), jnp.zeros(channels)

    blocks, inside = [], 64
    for channels in (64, 128, 256, 512):
        for _ in range(2):
            shortcut = convolution(inside, channels, 1) if inside != channels else None
            blocks.append((convolution(inside, channels, 3), convolution(channels, channels, 3), shortcut))
            inside = channels
    strides = [2 if shortcut is not None else 1 for _, _, shortcut in blocks]
    params = convolution(3, 64, 7), blocks, (_normal(next(keys), 512, classes), jnp.zeros(classes))
    x = jax.random.uniform(jax.random.PRNGKey(0), (batch, 3, size, size))
    y = jnp.arange(batch) % classes

    def normalised(x, part, stride, padding):
        w, gamma, beta = part
        x = _convolve(x, w, stride, padding)
        mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
        x = (x - _column(mean)) * _column(gamma * lax.rsqrt(variance + 1e-5)) + _column(beta)
        return x, (mean, variance)

    def loss(params, x, y):
        first, blocks, (w, b) = params
        h, statistics = normalised(x, first, 2, 3)
        statistics = [statistics]
        h = _pool(jax.nn.relu(h), 3, 2, 1)
        for (one, two, shortcut), stride in zip(blocks, strides):
            way, seen = normalised(h, one, stride, 1)
            way, more = normalised(jax.nn.relu(way), two, 1, 1)
            statistics += [seen, more]
            if shortcut is not None:
                h, seen = normalised(h, shortcut, stride, 0)
                statistics.append(seen)
            h = jax.nn.relu(h + way)
        return _cross_entropy(h.mean((2, 3)) @ w + b, y), statistics    # for the moving averages

    both = jax.jit(jax.value_and_grad(loss, has_aux=True))

    def step():
        jax.block_until_ready(both(params, x, y))

    return step
