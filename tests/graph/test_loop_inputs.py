"""Loops and branches of graphs whose inputs have the same name: an entry is not known by its name.

A layer that is called twice gives two entries of one name, and a program may start two states from one array.  MXNet
1.9.1 refuses such loops as symbols ("don't have unique names"), runs them as arrays, and computes a wrong branch.
"""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


def foreach(F, x, u, v):
    return F.contrib.foreach(lambda d, s: (d + u * 2 + v * 3 + s, s + u - v), F.ones((2, 2, 2)), x)


def while_loop(F, x, u, v):
    out, (_, state) = F.contrib.while_loop(lambda i, s: i < 3, lambda i, s: (s + u * 2 + v * 3, [i + 1, s + u - v]),
                                           [F.zeros((1,)), x], max_iterations=3)
    return out, state


def cond(F, x, u, v):
    result = F.contrib.cond(x.sum() > 0, lambda: u * 2 + v, lambda: u + v * 2)
    return result, result


def states(F, x, u, v):
    out, (a, b) = F.contrib.foreach(lambda d, s: (d + s[0] + 2 * s[1], [s[0] * 2, s[1] + 1]), F.ones((2, 2, 2)), [u, v])
    return out, a + b


def nested(F, x, u, v):
    def outer(d, s):
        out, inner = F.contrib.foreach(lambda e, t: (e + t * v + s, t + u), F.ones((2, 2, 2)), x)
        return out + d, s + inner
    return F.contrib.foreach(outer, F.ones((2, 1, 2, 2)).broadcast_to((2, 2, 2, 2)), x)


class Twice(gluon.HybridBlock):
    def __init__(self, function):
        super().__init__()
        self.function = function
        with self.name_scope():
            self.layer = nn.Dense(2, in_units=2)

    def hybrid_forward(self, F, x):
        out, state = self.function(F, x, self.layer(x), self.layer(x * 2))
        return F.broadcast_add(out, state)


@pytest.mark.parametrize('function', [foreach, while_loop, cond, states, nested])
def test_a_body_uses_two_results_of_one_layer(function):
    x, found = nd.array([[1., 2], [3, 4]]), {}
    for hybridized in (False, True):
        net = Twice(function)
        net.initialize(mx.init.One())
        net.hybridize(hybridized)
        for _ in range(3):
            x.attach_grad()
            with autograd.record():
                out = net(x)
            out.backward()
        found[hybridized] = [a.asnumpy() for a in (out, x.grad, net.layer.weight.grad(), net.layer.bias.grad())]
    for plain, graph in zip(*found.values(), strict=True):
        np.testing.assert_allclose(graph, plain, rtol=1e-5)


def of_one(F, z):
    """Loops whose data and states are the same array."""
    yield F.contrib.foreach(lambda d, s: (d + s[0] * 10 + s[1] * 100, [s[0] + 1, s[1] + 2]), F.arange(3), [z, z])
    yield F.contrib.foreach(lambda d, s: (d[0] + d[1] * 2 + s, s + 1), [z, z], z)
    yield F.contrib.foreach(lambda d, s: (d + s * z, s + z), z, z)
    yield F.contrib.while_loop(lambda a, b: a < 4, lambda a, b: (a * 10 + b, [a + 1, b * 2]), [z, z], max_iterations=3)
    yield F.contrib.while_loop(lambda a, b: b < 4, lambda a, b: (a * 10 + b + z * 100, [a + 1, b * 2]), [z, z],
                               max_iterations=2)


def flat(values):
    return [v for part in values for v in flat(part)] if isinstance(values, list | tuple) else [values]


def test_states_and_data_may_be_one_array():
    z = nd.array([1.])
    arrays = [[a.asnumpy() for a in flat(result)] for result in of_one(nd, z)]
    graphs = [[a.asnumpy() for a in mx.sym.Group(flat(result)).eval(z=z)] for result in of_one(mx.sym, mx.sym.var('z'))]
    for of_arrays, of_graph in zip(arrays, graphs, strict=True):
        for a, b in zip(of_arrays, of_graph, strict=True):
            np.testing.assert_allclose(b.ravel(), a.ravel())


def test_such_a_loop_survives_a_file():
    z = mx.sym.var('z')
    for result in of_one(mx.sym, z):
        whole = mx.sym.Group(flat(result))
        again = mx.sym.load_json(whole.tojson())
        for a, b in zip(whole.eval(z=nd.array([1.])), again.eval(z=nd.array([1.])), strict=True):
            np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
