"""Matrix products, attention products and the fully connected layer."""
import math

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet._ops.core.table import NAMES
from mxnet.base import MXNetError

torch.manual_seed(0)


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64)


CASES = [
    ('dot', (rand(2, 3), rand(3, 4)), {}, 'ij,jk->ik'),
    ('dot', (rand(3, 2), rand(4, 3)), {'transpose_a': True, 'transpose_b': True}, 'ji,kj->ik'),
    ('dot', (rand(2, 5, 3), rand(3, 4, 2)), {}, 'aij,jkl->aikl'),
    ('dot', (rand(3, 2, 5), rand(4, 2, 3)), {'transpose_a': True, 'transpose_b': True}, 'jai,klj->aikl'),
    ('dot', (rand(2, 3), rand(3)), {}, 'ij,j->i'),
    ('dot', (rand(3), rand(2, 3)), {'transpose_b': True}, 'j,ij->i'),
    ('batch_dot', (rand(2, 3, 4), rand(2, 4, 5)), {}, 'bij,bjk->bik'),
    ('batch_dot', (rand(2, 2, 4, 3), rand(2, 2, 5, 4)), {'transpose_a': True, 'transpose_b': True}, 'abji,abkj->abik'),
]


@pytest.mark.parametrize(('name', 'inputs', 'attributes', 'formula'), CASES, ids=[c[3] for c in CASES])
def test_products(name, inputs, attributes, formula):
    function = NAMES[name].function
    y = function(*inputs, **attributes)
    torch.testing.assert_close(y, torch.einsum(formula, *inputs))
    assert function(*[x.to('meta') for x in inputs], **attributes).shape == y.shape
    assert torch.autograd.gradcheck(lambda a, b: function(a, b, **attributes), [x.requires_grad_() for x in inputs])


def test_dot_of_vectors_has_shape_1():
    x = mx.nd.array([1, 2, 3])
    assert mx.nd.dot(x, x).asnumpy().tolist() == [14]


@pytest.mark.parametrize('dtype', ['float16', 'float64', 'int32'])
def test_products_keep_the_dtype(dtype):
    a = mx.nd.array([[1, 2], [3, 4]], dtype=dtype)
    y = mx.nd.dot(a, a)
    assert (y.dtype, y.asnumpy().tolist()) == (np.dtype(dtype), [[7, 10], [15, 22]])
    y = mx.nd.FullyConnected(a, a, num_hidden=2, no_bias=True)
    assert (y.dtype, y.asnumpy().tolist()) == (np.dtype(dtype), [[5, 11], [11, 25]])


def test_empty_products():
    assert mx.nd.dot(mx.nd.array(np.zeros((0, 3))), mx.nd.ones((3, 2))).shape == (0, 2)


# ---------------------------------------------------------------------- attention
def heads_of(fused, heads, parts):
    """(length, batch, heads * parts * features) -> parts x (batch, heads, length, features)"""
    length, batch, _ = fused.shape
    return fused.reshape(length, batch, heads, parts, -1).permute(3, 1, 2, 0, 4)


def test_attention_is_that_of_torch():
    heads, fused = 2, rand(5, 3, 2 * 3 * 4)
    q, k, v = heads_of(fused, heads, 3)
    scores = NAMES['_contrib_interleaved_matmul_selfatt_qk'].function(fused, heads=heads)
    torch.testing.assert_close(scores, (q @ k.mT / math.sqrt(4)).reshape(6, 5, 5))
    y = NAMES['_contrib_interleaved_matmul_selfatt_valatt'].function(fused, scores.softmax(-1), heads=heads)
    wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(y, wanted.permute(2, 0, 1, 3).reshape(5, 3, 8))


def test_attention_to_another_sequence_is_that_of_torch():
    heads, queries, fused = 2, rand(4, 3, 2 * 4), rand(5, 3, 2 * 2 * 4)
    (q,), (k, v) = heads_of(queries, heads, 1), heads_of(fused, heads, 2)
    scores = NAMES['_contrib_interleaved_matmul_encdec_qk'].function(queries, fused, heads=heads)
    assert scores.shape == (6, 4, 5)
    y = NAMES['_contrib_interleaved_matmul_encdec_valatt'].function(fused, scores.softmax(-1), heads=heads)
    wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(y, wanted.permute(2, 0, 1, 3).reshape(4, 3, 8))


# ---------------------------------------------------------------------- fully connected
@pytest.mark.parametrize(('data', 'weight', 'attributes', 'shape'), [
    ((3, 4), (2, 4), {}, (3, 2)), ((3, 4, 5), (2, 20), {}, (3, 2)), ((3, 4, 5), (2, 5), {'flatten': False}, (3, 4, 2)),
    ((3,), (2, 1), {}, (3, 2)), ((3,), (2, 3), {'flatten': False}, (2,)), ((0, 4), (2, 4), {}, (0, 2))])
def test_fully_connected(data, weight, attributes, shape):
    data, weight, bias = rand(*data), rand(*weight), rand(2)
    function = NAMES['FullyConnected'].function
    y = function(data, weight, bias, num_hidden=2, **attributes)
    flat = data if attributes.get('flatten') is False else data.reshape(len(data), weight.shape[1])
    assert y.shape == shape
    torch.testing.assert_close(y, flat @ weight.T + bias)
    assert function(data.to('meta'), weight.to('meta'), None, num_hidden=2, no_bias=True, **attributes).shape == shape


def test_fully_connected_trains_in_half_precision_on_the_cpu():
    x, w, b = (mx.nd.array(a, dtype='float16') for a in ([[1, 2]], [[3, 4], [5, 6]], [1, 1]))
    for a in (x, w, b):
        a.attach_grad()
    with mx.autograd.record():
        y = mx.nd.FullyConnected(x, w, b, num_hidden=2)
    y.backward()
    assert (y.dtype, y.asnumpy().tolist()) == (np.float16, [[12, 18]])
    assert (w.grad.dtype, w.grad.asnumpy().tolist()) == (np.float16, [[1, 2], [1, 2]])
    assert x.grad.asnumpy().tolist() == [[8, 10]]


ONES = mx.nd.ones
ERRORS = [
    (lambda: mx.nd.dot(ONES((2, 3)), ONES((2, 3))), r'dot\(lhs=float32\(2, 3\)'),
    (lambda: mx.nd.dot(ONES((2, 3)), ONES((3, 2), dtype='float64')), 'dtype'),
    (lambda: mx.nd.dot(ONES((2, 3, 4)), ONES(3)), r'axis 2 of lhs with shape \(2, 3, 4\)'),
    (lambda: mx.nd.dot(ONES(3), ONES(3), transpose_a=True), 'are vectors'),
    (lambda: mx.nd.batch_dot(ONES((2, 3, 4)), ONES((1, 4, 5))), 'the same lengths on all but the last two'),
    (lambda: mx.nd.batch_dot(ONES((3, 4)), ONES((4, 5))), '3 axes or more'),
    (lambda: mx.nd.FullyConnected(ONES((3, 4)), ONES((5, 4)), ONES(2), num_hidden=2), 'num_hidden is 2'),
    (lambda: mx.nd.FullyConnected(ONES((3, 4)), ONES((2, 3)), ONES(2), num_hidden=2), r'weight=float32\(2, 3\)'),
    (lambda: mx.nd.contrib.interleaved_matmul_selfatt_qk(ONES((5, 2, 10)), heads=2), 'a multiple of 6'),
    (lambda: mx.nd.contrib.interleaved_matmul_selfatt_valatt(ONES((5, 2, 12)), ONES((2, 5, 5)), heads=2),
     r'here \(4, n, 5\)'),
]


@pytest.mark.parametrize(('call', 'message'), ERRORS, ids=[m for _, m in ERRORS])
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(MXNetError, match=message):
        call()


@pytest.mark.gpu
@pytest.mark.parametrize(('name', 'inputs', 'attributes', 'formula'), CASES, ids=[c[3] for c in CASES])
@pytest.mark.parametrize('dtype', [torch.float64, torch.float16])
def test_gpu_agrees_with_cpu(name, inputs, attributes, formula, dtype):
    inputs = [x.detach().to(dtype) for x in inputs]
    found = NAMES[name].function(*[x.cuda() for x in inputs], **attributes)
    torch.testing.assert_close(found.cpu(), NAMES[name].function(*inputs, **attributes), rtol=1e-2, atol=1e-2)
