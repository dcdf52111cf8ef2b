"""Gradients through casts to integers, as in MXNet 1.9.1: they pass, and lose their fraction.

The assumption that was wrong: torch differentiates floating point only, so a cast to integers ends the gradient.
The expected numbers are those of 1.9.1, plain, hybridized and static.
"""
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd


def fractions(F, x, w):
    i = F.cast(x * w * 3, 'int32')
    return F.cast(i, 'float32') * 0.6 + F.cast(i, 'float32') * 1.6


# what is computed of x = (1.5, 2.5, 1) and w = (.5, 1.5, 2); the gradients of x and w for a gradient of 3
CALLS = {
    'head': (lambda F, x, w: F.cast(x * w, 'int32'), [1.5, 4.5, 6], [4.5, 7.5, 3]),
    'straight through': (lambda F, x, w: F.cast(F.cast(x * w, 'int32'), 'float32') * x, [2, 19.5, 12], [6, 17.5, 3]),
    'product': (lambda F, x, w: F.cast(F.cast(x * w * 3, 'int32') * 2, 'float32') * w, [3, 36, 72], [21, 126, 72]),
    'fractions': (fractions, [7.5, 22.5, 30], [22.5, 37.5, 15]),
    'concat': (lambda F, x, w: F.cast(F.concat(F.cast(x * w, 'int64'), F.cast(x * w, 'int64') + 1, dim=0), 'float32'),
               [3, 9, 12], [9, 15, 6]),
    'sum': (lambda F, x, w: F.sum(F.cast(x * w * 2, 'int32')), [3, 9, 12], [9, 15, 6]),
    'largest': (lambda F, x, w: F.max(F.cast(x * w * 2, 'int32'), axis=0), [0, 9, 0], [0, 15, 0]),
    'slice': (lambda F, x, w: F.slice_axis(F.cast(x * w * 2, 'int32'), axis=0, begin=0, end=2), [3, 9, 0], [9, 15, 0]),
    'of argmax': (lambda F, x, w: F.cast(F.argmax(x * w, axis=0), 'int32'), [0, 0, 0], [0, 0, 0]),
    'an index': (lambda F, x, w: F.take(w, F.cast(x * w, 'int32'), mode='clip') * w, [0, 0, 0], [3, 6, 16.5]),
    'a condition': (lambda F, x, w: F.where(F.cast(x * w, 'int32'), x, w), [0, 3, 3], [3, 0, 0]),
    'stopped': (lambda F, x, w: F.BlockGrad(F.cast(x * w, 'int32')), [0, 0, 0], [0, 0, 0]),
}


class Called(gluon.HybridBlock):
    def __init__(self, call):
        super().__init__()
        self._call = call
        with self.name_scope():
            self.w = self.params.get('w', shape=(3,))

    def hybrid_forward(self, F, x, w):
        return self._call(F, x, w)


@pytest.mark.parametrize('flags', (None, {}, {'static_alloc': True, 'static_shape': True}))
@pytest.mark.parametrize('name', CALLS)
def test_blocks(name, flags):
    call, of_x, of_w = CALLS[name]
    net = Called(call)
    net.initialize()
    net.w.set_data(nd.array([.5, 1.5, 2]))
    if flags is not None:
        net.hybridize(**flags)
    for _ in range(4):
        x = nd.array([1.5, 2.5, 1])
        x.attach_grad()
        x.grad[:] = 9
        with autograd.record():
            y = net(x * 1)
        y.backward(nd.ones_like(y) * 3)
        assert x.grad.asnumpy().tolist() == of_x
        assert net.w.grad().asnumpy().tolist() == of_w


@pytest.mark.parametrize('name', CALLS)
def test_executors(name):
    call, of_x, of_w = CALLS[name]
    executor = call(mx.sym, mx.sym.var('x'), mx.sym.var('w')).simple_bind(mx.cpu(), x=(3,), w=(3,))
    executor.arg_dict['x'][:] = nd.array([1.5, 2.5, 1])
    executor.arg_dict['w'][:] = nd.array([.5, 1.5, 2])
    for _ in range(3):
        executor.forward(is_train=True)
        executor.backward([nd.ones_like(o) * 3 for o in executor.outputs])
        assert executor.grad_dict['x'].asnumpy().tolist() == of_x
        assert executor.grad_dict['w'].asnumpy().tolist() == of_w


def test_float_results_round_as_the_operator_does():
    x = nd.array([200.5, 100.25])
    x.attach_grad()
    with autograd.record():
        bytes_ = x.astype('uint8')
        doubled = bytes_ + bytes_               # beyond 255
        y = doubled.astype('float32')
    assert doubled.asnumpy().tolist() == y.asnumpy().tolist() == [144, 200]
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 2]


def test_grad_and_symbol():
    x = nd.array([1.5, 2.5])
    x.attach_grad()
    with autograd.record():
        y = (x * 2).astype('int32').sum()
    assert autograd.get_symbol(y).list_arguments() == ['var0']
    assert autograd.grad(y, [x])[0].asnumpy().tolist() == [2, 2]


def test_integers_that_are_sorted():
    x = nd.array([3.5, 1.5, 2.5])
    x.attach_grad()
    with autograd.record():
        y = nd.sort(x.astype('int32')).astype('float32') * nd.array([1, 2, 3])
    y.backward()
    assert x.grad.asnumpy().tolist() == [3, 1, 2]


class Doubled(autograd.Function):
    """As a program writes it: it sees and gives the dtypes of its arrays."""

    def __init__(self, seen, dtype=None):
        super().__init__()
        self._seen, self._dtype = seen, dtype

    def forward(self, x):
        self._seen.append(x.dtype.__name__)
        return (x * 2).astype(self._dtype or x.dtype)

    def backward(self, dy):
        self._seen.append(dy.dtype.__name__)
        return dy * 2


@pytest.mark.parametrize('given, dtype, seen, result', [
    ('cast', None, ['int32', 'int32'], 'int32'), ('leaf', None, ['int32', 'int32'], 'int32'),
    ('float', 'int32', ['float32', 'int32'], 'int32'), ('cast', 'float32', ['int32', 'float32'], 'float32')])
def test_functions_see_integers(given, dtype, seen, result):
    found = []
    x = nd.array([1, 2], dtype='int32') if given == 'leaf' else nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = Doubled(found, dtype)(x.astype('int32') if given == 'cast' else x)
    assert (y.dtype.__name__, y.asnumpy().tolist()) == (result, [2, 4])
    y.backward()
    assert found == seen
    assert x.grad.asnumpy().tolist() == [2, 2] and x.grad.dtype is x.dtype


def test_a_function_that_returns_its_integers():
    class Same(autograd.Function):
        def forward(self, x):
            return x

        def backward(self, dy):
            return dy * 3

    x = nd.array([1.5, 2.5])
    x.attach_grad()
    with autograd.record():
        i = x.astype('int32')
        y = Same()(i)
    y.backward()
    assert x.grad.asnumpy().tolist() == [3, 3]
    y[:] = 7
    assert i.asnumpy().tolist() == [1, 2]


@pytest.mark.parametrize('dtype', ('int32', 'int64', 'uint8', 'int8'))
def test_integers_that_are_taken_from(dtype):
    """The assumption that was wrong: a result has the node of torch's graph that its history has.  The process ended.
    """
    x = nd.array([1, 2, 3], dtype=dtype)
    x.attach_grad()
    index, condition = nd.array([0, 2, 2]), nd.array([1, 0, 1])
    with autograd.record():
        y, z = nd.take(x, index), nd.where(condition, x, x * 2)
    autograd.backward([y, z], [nd.array([1, 2, 3], dtype=dtype), nd.array([1, 1, 1], dtype=dtype)])
    assert x.grad.asnumpy().tolist() == [2, 2, 6]
    with autograd.record():
        y = nd.take(x, index)
    index[:] = 0
    with pytest.raises(mx.MXNetError, match='written in place'):
        y.backward()


# of x = 0, 1, 2, 3, 6: values, and gradients for the heads 1, 2, 3, 4, 5
FUNCTIONS = {
    'exp': (nd.exp, [1, 2, 7, 20, 403], [1, 4, 21, 80, 2015]),
    'degrees': (nd.degrees, [0, 57, 114, 171, 343], [57, 114, 171, 228, 285]),
    'tan': (nd.tan, [0, 1, -2, 0, 0], [1, 4, 15, 4, 5]),
    'tanh': (nd.tanh, [0, 0, 0, 0, 0], [1, 2, 3, 4, 5]),
    'erf': (nd.erf, [0, 0, 0, 0, 1], [1, 0, 0, 0, 0]),
    'gamma': (nd.gamma, [-2 ** 31, 1, 1, 2, 120], [-2 ** 31, 0, 0, 4, 1020]),
    'sin': (nd.sin, [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]),
    'divided': (lambda x: x / 2, [0, 0, 1, 1, 3], [0, 1, 1, 2, 2]),
    'a power': (lambda x: 2 ** x, [1, 2, 4, 8, 64], [0, 2, 6, 20, 220]),
    'smooth_l1': (lambda x: nd.smooth_l1(x, scalar=1), [0, 0, 1, 2, 5], [0, 2, 3, 4, 5]),
    'hypot': (lambda x: nd.broadcast_hypot(x + 1, x * 0), [1, 2, 3, 4, 7], [1, 2, 3, 4, 5]),
    'remainder': (lambda x: x % 3, [0, 1, 2, 0, 0], [0, 0, 0, 0, 0]),
    'divisor': (lambda x: 5 % (x + 1), [0, 1, 2, 1, 5], [0, 0, 0, 0, 0]),
    'quadratic': (lambda x: nd.contrib.quadratic(x, a=1, b=2), [0, 3, 8, 15, 48], [2, 8, 18, 32, 70]),
}


@pytest.mark.parametrize('name', FUNCTIONS)
def test_functions_of_integers(name):
    """The assumption that was wrong: the gradient of a function of integers is 0, or keeps the fraction of its slope.
    Upstream cuts off the slope, as it does the value.  The numbers are those of 1.9.1.
    """
    function, values, gradient = FUNCTIONS[name]
    x = nd.array([0, 1, 2, 3, 6], dtype='int32')
    x.attach_grad()
    with autograd.record():
        y = function(x)
    y.backward(nd.array([1, 2, 3, 4, 5], dtype='int32'))
    assert y.dtype == x.grad.dtype == x.dtype
    assert y.asnumpy().tolist() == values
    assert x.grad.asnumpy().tolist() == gradient


def test_integers_that_are_broadcast():
    """The numbers are those of 1.9.1."""
    x, w = nd.array([[1], [7]], dtype='int32'), nd.array([[1, 2, -1, 3]], dtype='int32')
    x.attach_grad()
    w.attach_grad()
    for function, of_x, of_w in ((nd.broadcast_div, [[-2], [-2]], [[-36, -6, -52, 0]]),
                                 (lambda a, b: nd.broadcast_hypot(a, b * 0), [[10], [26]], [[0, 0, 0, 0]]),
                                 (nd.broadcast_maximum, [[4], [26]], [[0, 2, 0, 4]])):
        with autograd.record():
            y = function(x, w)
        y.backward(nd.arange(1, 9, dtype='int32').reshape((2, 4)))
        assert x.grad.asnumpy().tolist() == of_x
        assert w.grad.asnumpy().tolist() == of_w


def test_sums_of_floats_as_integers():
    x = nd.array([1.5, 2.5, -1.7])
    x.attach_grad()
    with autograd.record():
        y = nd.cumsum(x, dtype='int32')
    y.backward(nd.array([1, 2, 3], dtype='int32'))
    assert y.asnumpy().tolist() == [1, 3, 2]
    assert x.grad.asnumpy().tolist() == [6, 5, 3]


def test_integers_that_choose_get_zeros():
    """The assumption that was wrong: a head's shadow knows what the head was computed from."""
    a, b = nd.array([[1, 2], [3, 4]], dtype='int32'), nd.array([1, 0], dtype='int32')
    a.attach_grad()
    b.attach_grad()
    b.grad[:] = 7
    with autograd.record():
        y = nd.where(b * 1, a[0], a[1])
    y.backward()
    assert a.grad.asnumpy().tolist() == [[1, 0], [0, 1]]
    assert b.grad.asnumpy().tolist() == [0, 0]
