"""The networks of gpu.py in JAX, compiled as a whole by jax.jit; run by peers.py where JAX has a GPU.

Calls only queue work; `settle` waits for it.
"""
import os

# as much of the device's memory as is needed: others are measured beside it
os.environ.setdefault('XLA_PYTHON_CLIENT_PREALLOCATE', 'false')

import jax
import jax.numpy as jnp
from jax import lax
from jax_cases import _cross_entropy, _lstm, _mlp, _normal
from timing import later

_given = []             # what the last call gave


def settle():
    """Waits for what was given to the device."""
    jax.block_until_ready(_given)


def _keep(value):
    _given[:] = [value]


def cases(batch=128, size=224):
    """{name: callable}, named as the rows of gpu.py; none where JAX sees no GPU."""
    return _cases(batch, size) if jax.default_backend() == 'gpu' else {}


def _cases(batch, size):
    return {'MLP step, Gluon': later(lambda: _mlp(_keep)),
            'LSTM 2x650 t35 b64': later(lambda: _lstm(650, 35, 64, _keep)),
            f'ResNet-50 bf16 b{batch} step': later(lambda: _resnet50_step(batch, size)),
            'ResNet-50 fp32 b1 infer': later(lambda: _resnet50_infer(size))}


# ---------------------------------------------------------------------- ResNet-50, channels last
def _resnet50(classes=1000):
    """(parameters, moving averages) of the network that resnet50.py has."""
    keys, averages = iter(range(1000)), []

    def layer(inside, channels, kernel):
        averages.append((jnp.zeros(channels), jnp.ones(channels)))
        return _normal(next(keys), kernel, kernel, inside, channels), jnp.ones(channels), jnp.zeros(channels)

    first, blocks, inside = layer(3, 64, 7), [], 64
    for count, channels in zip((3, 4, 6, 3), (256, 512, 1024, 2048)):
        for _ in range(count):
            narrow = channels // 4
            body = layer(inside, narrow, 1), layer(narrow, narrow, 3), layer(narrow, channels, 1)
            blocks.append((body, layer(inside, channels, 1) if inside != channels else None))
            inside = channels
    return (first, blocks, (_normal(next(keys), inside, classes), jnp.zeros(classes))), averages


def _run(params, averages, x, training):
    """(scores, new averages) of pictures, in their dtype; statistics are float32."""
    old, new, dtype = iter(averages), [], x.dtype

    def normalised(x, part, stride, padding):
        w, gamma, beta = part
        x = lax.conv_general_dilated(x, w.astype(dtype), (stride, stride), [(padding, padding)] * 2,
                                     dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
        mean, variance = next(old)
        if training:
            wide = x.astype(jnp.float32)
            now = wide.mean((0, 1, 2))
            spread = (wide * wide).mean((0, 1, 2)) - now * now
            new.append((0.9 * mean + 0.1 * now, 0.9 * variance + 0.1 * spread))
            mean, variance = now, spread
        scale = gamma * lax.rsqrt(variance + 1e-5)
        return x * scale.astype(dtype) + (beta - mean * scale).astype(dtype)

    first, blocks, (w, b) = params
    h = jax.nn.relu(normalised(x, first, 2, 3))
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1),
                          [(0, 0), (1, 1), (1, 1), (0, 0)])
    for number, (body, shortcut) in enumerate(blocks):
        stride = 2 if shortcut is not None and number else 1
        way = jax.nn.relu(normalised(h, body[0], stride, 0))
        way = jax.nn.relu(normalised(way, body[1], 1, 1))
        way = normalised(way, body[2], 1, 0)
        h = jax.nn.relu(way + (h if shortcut is None else normalised(h, shortcut, stride, 0)))
    return h.mean((1, 2)) @ w.astype(dtype) + b.astype(dtype), new


def _resnet50_step(batch, size):
    params, averages = _resnet50()
    moms = jax.tree.map(jnp.zeros_like, params)
    x = jax.random.uniform(jax.random.PRNGKey(0), (batch, size, size, 3)).astype(jnp.bfloat16)
    y = jnp.arange(batch) % 1000

    def loss(params, averages, x, y):
        scores, averages = _run(params, averages, x, True)
        return _cross_entropy(scores.astype(jnp.float32), y), averages

    def update(params, moms, averages, x, y):
        (value, averages), gradients = jax.value_and_grad(loss, has_aux=True)(params, averages, x, y)
        moms = jax.tree.map(lambda m, g: 0.9 * m - 0.01 * g, moms, gradients)
        return jax.tree.map(lambda p, m: p + m, params, moms), moms, averages, value

    update = jax.jit(update, donate_argnums=(0, 1, 2))

    def step():
        nonlocal params, moms, averages
        params, moms, averages, value = update(params, moms, averages, x, y)
        _keep(value)

    return step


def _resnet50_infer(size):
    params, averages = _resnet50()
    x = jax.random.uniform(jax.random.PRNGKey(0), (1, size, size, 3))
    run = jax.jit(lambda params, averages, x: _run(params, averages, x, False)[0])
    return lambda: _keep(run(params, averages, x))
