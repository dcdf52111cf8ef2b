"""Generated functions (mxnet/ndarray/_generated.py): bound calls give what the general way gives, bit by bit.

A do-nothing interceptor sends calls the general way, by the operator's declaration.
"""
import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import _autograd, _dispatch, autograd, nd
from mxnet._ops._eager import SPECIAL
from mxnet._ops.core.table import NAMES
from mxnet.base import MXNetError
from mxnet.ndarray import _generated, _invoke


class Nothing(_dispatch.Interceptor):
    def __enter__(self):
        _dispatch.install(self)

    def __exit__(self, *exc):
        _dispatch.remove(self)


def numbers(*shape, dtype='float32', low=-3.0, high=3.0):
    values = np.random.RandomState(7).uniform(low, high, shape)
    return nd.array(values, dtype=dtype)


def index(*values, dtype='float32'):
    return nd.array(values, dtype=dtype)


X, V, P, S = numbers(4, 6), numbers(5), numbers(2, 3, 8, 8), numbers(2, 3, 4)
BIG = numbers(2, 8, 32, 32)
CASES = {
    'softmax': [lambda x=x, kw=kw: nd.softmax(x, **kw) for x in (X, V, S) for kw in (
        {}, {'axis': 0}, {'axis': -1, 'temperature': 2.0}, {'temperature': 1.0}, {'dtype': 'float64'})]
    + [lambda: nd.softmax(X, index(1, 2, 3, 4), use_length=True), lambda: X.softmax(axis=0)],
    'log_softmax': [lambda x=x, kw=kw: nd.log_softmax(x, **kw) for x in (X, V) for kw in (
        {}, {'axis': 0}, {'temperature': 2.0}, {'dtype': 'float64'})],
    'Activation': [lambda a=a: nd.Activation(X, act_type=a)
                   for a in ('relu', 'sigmoid', 'softrelu', 'softsign', 'tanh')],
    'LeakyReLU': [lambda a=a: nd.LeakyReLU(X, act_type=a, slope=0.3) for a in ('leaky', 'elu', 'gelu', 'selu')]
    + [lambda: nd.LeakyReLU(X, numbers(6), act_type='prelu'), lambda: nd.LeakyReLU(X)],
    'FullyConnected': [lambda: nd.FullyConnected(X, numbers(3, 6), numbers(3), num_hidden=3),
                       lambda: nd.FullyConnected(X, numbers(3, 6), num_hidden=3, no_bias=True),
                       lambda: nd.FullyConnected(S, numbers(3, 12), numbers(3), num_hidden=3),
                       lambda: nd.FullyConnected(S, numbers(3, 4), numbers(3), num_hidden=3, flatten=False),
                       lambda: nd.FullyConnected(data=X, weight=numbers(3, 6), bias=numbers(3, 1), num_hidden=3),
                       lambda: nd.FullyConnected(X, numbers(3, 6), None, 3, True)],
    'Convolution': [lambda kw=kw: nd.Convolution(P, numbers(4, 3, 3, 3), numbers(4), kernel=(3, 3), num_filter=4, **kw)
                    for kw in ({}, {'pad': (1, 1)}, {'stride': (2, 1), 'dilate': (1, 2)}, {'layout': 'NCHW'})]
    + [lambda: nd.Convolution(S, numbers(2, 3, 3), kernel=(3,), num_filter=2, no_bias=True),
       lambda: nd.Convolution(P, numbers(3, 1, 3, 3), kernel=(3, 3), num_filter=3, num_group=3, no_bias=True),
       lambda: nd.Convolution(nd.transpose(P, (0, 2, 3, 1)), numbers(4, 3, 3, 3), kernel=(3, 3), num_filter=4,
                              no_bias=True, layout='NHWC')],
    'Pooling': [lambda x=x, kw=kw: nd.Pooling(x, **kw) for x in (P, BIG) for kw in (
        {'kernel': (2, 2)}, {'kernel': (2, 2), 'stride': (2, 2)}, {'kernel': (3, 2), 'stride': (2, 1), 'pad': (1, 1)},
        {'kernel': (2, 2), 'pool_type': 'avg'}, {'kernel': (3, 3), 'pool_type': 'avg', 'pad': (1, 1)},
        {'kernel': (3, 3), 'pool_type': 'avg', 'pad': (1, 1), 'count_include_pad': False, 'stride': (2, 2)},
        {'kernel': (3, 3), 'pooling_convention': 'full', 'stride': (2, 2)}, {'global_pool': True},
        {'kernel': (2, 2), 'pool_type': 'sum'}, {'global_pool': True, 'pool_type': 'avg'})]
    + [lambda: nd.Pooling(S, kernel=(2,), stride=(2,)), lambda: nd.Pooling(S, kernel=(2,), pool_type='avg')],
    'BatchNorm': [lambda kw=kw: nd.BatchNorm(P, numbers(3), numbers(3), numbers(3), numbers(3, low=0.5), **kw)
                  for kw in ({}, {'fix_gamma': False}, {'use_global_stats': True}, {'output_mean_var': True},
                             {'eps': 1e-5, 'momentum': 0.5})]
    + [lambda: nd.BatchNorm(X, numbers(6), numbers(6), numbers(6), numbers(6, low=0.5)),
       lambda: nd.BatchNorm(P, numbers(8), numbers(8), numbers(8), numbers(8, low=0.5), axis=3)],
    'LayerNorm': [lambda kw=kw: nd.LayerNorm(X, numbers(6), numbers(6), **kw)
                  for kw in ({}, {'axis': -1}, {'axis': 1, 'eps': 1e-3}, {'output_mean_var': True})]
    + [lambda: nd.LayerNorm(X, numbers(4), numbers(4), axis=0)],
    'Dropout': [lambda: nd.Dropout(X), lambda: nd.Dropout(X, p=0), lambda: nd.Dropout(X, p=0.3, axes=(0,))],
    'Concat': [lambda: nd.concat(X, X), lambda: nd.concat(X, X, dim=0), lambda: nd.Concat(X, num_args=1, dim=1),
               lambda: nd.concat([X, X, X], dim=-1), lambda: nd.concat(X, numbers(4, 2))],
    'stack': [lambda: nd.stack(X, X), lambda: nd.stack(X, X, axis=1), lambda: nd.stack(X, X, X, axis=-1)],
    'SliceChannel': [lambda: nd.split(X, num_outputs=2), lambda: nd.split(X, 3, axis=1), lambda: X.split(2, 0),
                     lambda: nd.split(X, num_outputs=6, squeeze_axis=True), lambda: nd.split(X, num_outputs=1)],
    'expand_dims': [lambda a=a: nd.expand_dims(X, axis=a) for a in (0, 1, 2, -1, -3)] + [lambda: X.expand_dims(1)],
    'squeeze': [lambda: nd.squeeze(numbers(4, 1)), lambda: nd.squeeze(numbers(1, 4, 1), axis=0),
                lambda: nd.squeeze(numbers(1, 4, 1), axis=(0, 2)), lambda: nd.squeeze(numbers(1), axis=0),
                lambda: numbers(4, 1).squeeze(-1)],
    'Reshape': [lambda s=s: nd.reshape(X, s) for s in ((24,), (2, -1), (0, -1), (-3,), (3, 8), (-4, 2, 2, 0))]
    + [lambda: nd.reshape(X, shape=(4, 6)), lambda: nd.reshape(X, (-1, 0), reverse=True)],
    'transpose': [lambda: nd.transpose(X), lambda: nd.transpose(S, axes=(2, 0, 1)), lambda: nd.transpose(S, (0, 2, 1)),
                  lambda: S.transpose((1, 0, 2)), lambda: nd.transpose(S, axes=(-1, 0, 1))],
    'slice_axis': [lambda: nd.slice_axis(X, axis=1, begin=1, end=3),
                   lambda: nd.slice_axis(X, axis=0, begin=-2, end=None),
                   lambda: nd.slice_axis(X, axis=-1, begin=0, end=6), lambda: X.slice_axis(0, 0, -1)],
    'Cast': [lambda d=d: nd.cast(X, dtype=d)
             for d in ('float32', 'float64', 'float16', 'int32', 'bool', np.int8)]
    + [lambda: X.astype('int64')],
    'clip': [lambda: nd.clip(X, 0, 1), lambda: nd.clip(X, a_min=-0.5, a_max=0.5), lambda: X.clip(-1, 1.5),
             lambda: nd.clip(X.astype('int32'), -1, 1), lambda: nd.clip(X, 0.0, 1.0), lambda: nd.clip(X, -0.0, 1.0)],
    'sum': [lambda x=x, kw=kw: nd.sum(x, **kw) for x in (X, V, S, X.astype('int32'), X.astype('float16')) for kw in (
        {}, {'axis': 0}, {'axis': -1}, {'axis': 0, 'keepdims': True}, {'axis': (0,)}, {'axis': 0, 'exclude': True})]
    + [lambda: nd.sum(S, axis=(0, 2)), lambda: X.sum(1), lambda: nd.sum(numbers(3, 1), axis=1)],
    'mean': [lambda x=x, kw=kw: nd.mean(x, **kw) for x in (X, V, X.astype('int32')) for kw in (
        {}, {'axis': 0}, {'axis': -1, 'keepdims': True})] + [lambda: nd.mean(numbers(3, 1), axis=1)],
    'max': [lambda x=x, kw=kw: nd.max(x, **kw) for x in (X, V, nd.ones((3, 4)), X.astype('int32')) for kw in (
        {}, {'axis': 0}, {'axis': 0, 'keepdims': True}, {'axis': (0,)})],
    'min': [lambda kw=kw: nd.min(X, **kw) for kw in ({}, {'axis': 1}, {'axis': 1, 'keepdims': True})],
    'argmax': [lambda x=x, kw=kw: nd.argmax(x, **kw) for x in (X, V, X.astype('float16'), X.astype('int32')) for kw in (
        {}, {'axis': 0}, {'axis': -1, 'keepdims': True})],
    'argmin': [lambda kw=kw: nd.argmin(X, **kw) for kw in ({}, {'axis': 1})],
    'norm': [lambda x=x, kw=kw: nd.norm(x, **kw) for x in (X, V, X.astype('int32')) for kw in (
        {}, {'axis': 0}, {'ord': 1, 'axis': -1}, {'axis': 0, 'keepdims': True}, {'out_dtype': 'float64'}, {'ord': 1})],
    'dot': [lambda: nd.dot(X, numbers(6, 2)), lambda: nd.dot(V, V), lambda: nd.dot(X, numbers(3, 6), transpose_b=True),
            lambda: nd.dot(S, numbers(4, 2)), lambda: nd.dot(X, numbers(4, 2), transpose_a=True)],
    'batch_dot': [lambda: nd.batch_dot(S, numbers(2, 4, 3)), lambda: nd.batch_dot(S, S, transpose_b=True),
                  lambda: nd.batch_dot(S, S, transpose_a=True), lambda: nd.batch_dot(P, P)],
    'take': [lambda kw=kw, i=i: nd.take(X, i, **kw)
             for i in (index(0, 1, 3), index(-1, 9, 2), index(1.7, 0), nd.array([[0, 1]]))
             for kw in ({}, {'axis': 1}, {'mode': 'wrap'})]
    + [lambda: nd.take(X, index(0, 1, dtype='int64'), mode='raise')],
    'Embedding': [lambda i=i: nd.Embedding(i, X, input_dim=4, output_dim=6) for i in (
        index(0, 3), index(-2, 8, 1), nd.array([[0, 1], [2, 3]]), index(1.9, 2, dtype='float64'))],
    'pick': [lambda i=i, kw=kw: nd.pick(X, i, **kw)
             for i in (index(0, 1, 5, 2), index(-1, 9, 0, 3), index(0.6, 1.9, 2, 3))
             for kw in ({}, {'axis': 1}, {'keepdims': True}, {'mode': 'wrap'})]
    + [lambda: nd.pick(X, index(0, 1, 3, 2, 1, 0), axis=0), lambda: nd.pick(S, numbers(2, 3, low=0)),
       lambda: nd.pick(V, index(2)), lambda: nd.pick(X, nd.array([[0], [1], [2], [3]]))],
    'where': [lambda: nd.where(X > 0, X, -X), lambda: nd.where(index(1, 0, 2, 0), X, -X),
              lambda: nd.where(X * 0, X, -X)],
    'one_hot': [lambda i=i, kw=kw: nd.one_hot(i, **kw) for i in (index(0, 2), index(-1, 7, 1.5), nd.array([[0, 1]]))
                for kw in ({'depth': 3}, {'depth': 3, 'dtype': 'int32'}, {'depth': 3, 'on_value': 2, 'off_value': -1})],
    'topk': [lambda kw=kw, x=x: nd.topk(x, **kw) for x in (X, nd.ones((3, 5)), numbers(2, 100)) for kw in (
        {}, {'k': 2}, {'k': 2, 'ret_typ': 'both'}, {'k': 2, 'ret_typ': 'value', 'axis': 0}, {'is_ascend': True},
        {'k': 0}, {'axis': None, 'k': 2}, {'ret_typ': 'mask', 'k': 2}, {'k': 2, 'dtype': 'int32'})],
    '_np_dot': [lambda a=a, b=b: mx.np.dot(a.as_np_ndarray(), b.as_np_ndarray()) for a, b in (
        (X, numbers(6, 2)), (V, V), (S, numbers(4, 2)), (X, numbers(6, 2, dtype='float64')))],
    '_npi_matmul': [lambda a=a, b=b: mx.np.matmul(a.as_np_ndarray(), b.as_np_ndarray()) for a, b in (
        (X, numbers(6, 2)), (V, V), (S, numbers(4, 2)), (X, numbers(6, 2, dtype='float64')))],
    '_np_transpose': [lambda axes=axes: mx.np.transpose(S.as_np_ndarray(), axes)
                      for axes in (None, (2, 0, 1), (-1, 0, 1))],
    '_npi_argmax': [lambda kw=kw, x=x: mx.np.argmax(x.as_np_ndarray(), **kw) for x in (X, V, X.astype('bool'))
                    for kw in ({}, {'axis': 0}, {'axis': -1, 'keepdims': True})],
    '_npi_argmin': [lambda: mx.np.argmin(X.as_np_ndarray(), axis=1)],
    '_npi_concatenate': [lambda kw=kw: mx.np.concatenate([X.as_np_ndarray(), X.as_np_ndarray()], **kw) for kw in (
        {}, {'axis': 1}, {'axis': None})]
    + [lambda: mx.np.concatenate([X.as_np_ndarray(), X.astype('float64').as_np_ndarray()])],
    '_npi_stack': [lambda: mx.np.stack([X.as_np_ndarray(), X.as_np_ndarray()], axis=1)],
    '_npi_where': [lambda: mx.np.where(X.as_np_ndarray() > 0, X.as_np_ndarray(), -X.as_np_ndarray()),
                   lambda: mx.np.where(X.as_np_ndarray(), X.as_np_ndarray(), V[:1].as_np_ndarray())],
}


def test_every_special_kernel_has_cases():
    assert {op.name for op in SPECIAL} == {NAMES[name].name for name in CASES}


def listed(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def agree(first, second):
    first, second = listed(first), listed(second)
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        assert type(a) is type(b) and a.shape == b.shape and a.dtype == b.dtype and a.context == b.context
        assert a.materialize().is_contiguous()
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


INPUTS = (X, V, P, S, BIG)


@pytest.mark.parametrize('training', [False, True])
@pytest.mark.parametrize('name', CASES)
def test_as_the_declaration(name, training):
    before = [x.asnumpy() for x in INPUTS]
    for case in CASES[name]:
        if name == 'Dropout' and training:
            continue
        with _autograd._Scope(False, training):
            bound = case()
            again = case()
            with Nothing():
                general = case()
            agree(bound, general)
            agree(again, general)
        for x in INPUTS:
            for r in listed(bound):         # in memory of its own
                assert r.materialize().untyped_storage().data_ptr() != x.materialize().untyped_storage().data_ptr()
    for x, values in zip(INPUTS, before, strict=True):
        np.testing.assert_array_equal(x.asnumpy(), values)


@pytest.mark.parametrize('name', CASES)
def test_gradients_as_by_the_declaration(name):
    floats = list(INPUTS)
    for x in floats:
        x.attach_grad()
    try:
        for case in CASES[name]:
            found = []
            for scope in (Nothing(), None):
                for x in floats:
                    x.grad[:] = 0
                mx.random.seed(3)
                if scope is not None:
                    scope.__enter__()
                with autograd.record(train_mode=name != 'Dropout'):
                    results = listed(case())
                if scope is not None:
                    scope.__exit__()
                heads = [r for r in results if r.materialize().requires_grad]
                if heads:
                    autograd.backward(heads, [numbers(*h.shape).astype(h.dtype).as_nd_ndarray() for h in heads])
                found.append(([r.asnumpy() for r in results], [x.grad.asnumpy() for x in floats], len(heads)))
            for a, b in zip(found[0][0] + found[0][1], found[1][0] + found[1][1], strict=True):
                np.testing.assert_array_equal(a, b)
            assert found[0][2] == found[1][2]
    finally:
        for x in floats:
            x._variable = None


@pytest.mark.parametrize('paused', [False, True])
@pytest.mark.parametrize('name', ['take', 'Embedding', 'pick', 'where'])
def test_an_index_that_is_written_before_backward_is_an_error(name, paused):
    """Its gradient reads a converted copy of the index, where upstream's reads the index."""
    x, at = numbers(4, 6), nd.ones((4, 6)) if name == 'where' else index(0, 1, 2, 3)
    x.attach_grad()
    call = {'take': lambda: nd.take(x, at), 'Embedding': lambda: nd.Embedding(at, x, input_dim=4, output_dim=6),
            'pick': lambda: nd.pick(x, at, axis=1), 'where': lambda: nd.where(at, x, x * 2)}[name]
    with autograd.record():
        result = call()
        if paused:
            with autograd.pause():
                at[:] = 0
    if not paused:
        at[:] = 0
    with pytest.raises(MXNetError, match='written in place after it was recorded'):
        result.backward()
    with autograd.record():
        result = call()
    result.backward()
    assert x.grad.asnumpy().any()


def test_an_index_that_is_written_matters_where_the_gradient_goes_through_the_call():
    """The gradient of the result itself does not read the index."""
    x, at = numbers(4, 6), index(0, 1, 2, 3)
    x.attach_grad()
    with autograd.record():
        result = nd.take(x, at)
        total = (result * result).sum()
        other = (x * x).sum() + total
    at[:] = 0
    [slope] = autograd.grad(total, [result], retain_graph=True)
    np.testing.assert_array_equal(slope.asnumpy(), 2 * result.asnumpy())
    for wanted in [x], [result, x], [x, result]:
        with pytest.raises(MXNetError, match='written in place after it was recorded'):
            autograd.grad(other, wanted, retain_graph=True)


def test_recorded_calls_without_a_gradient_run_as_calls_that_are_not_recorded(monkeypatch):
    op, calls = NAMES['max'], []

    def specialize(op, attributes, training, general):
        return (lambda x: calls.append(x) or torch.amax(x, 1)), True, False
    monkeypatch.setitem(SPECIAL, op, specialize)
    function = _generated.make(op, 'max', nd.NDArray)
    constant, variable = numbers(3, 4), numbers(3, 4)
    variable.attach_grad()
    with autograd.record():
        first = function(constant, axis=1)
        assert len(calls) == 1
        second = function(variable, axis=1)
    assert len(calls) == 1 and not first.materialize().requires_grad
    agree(first, second.detach())
    second.backward()
    assert variable.grad.asnumpy().sum() == 3


# ---------------------------------------------------------------------- keys
def outcome(case):
    try:
        return [(type(r), r.shape, r.dtype, r.asnumpy().tolist()) for r in listed(case())]
    except Exception as error:
        return type(error), str(error)


ODD = [True, False, 1, 0, 1.0, 0.0, -0.0, -1, 1.5, '1', 'x', None, np.int64(1), np.float32(1), np.bool_(True),
       float('nan'), (1,), (True,), (1.0,), [1], np.array(1), (1, 1), 2 ** 70, object()]


@pytest.mark.parametrize('call', [
    lambda v: nd.sum(X, axis=v), lambda v: nd.sum(X, axis=0, keepdims=v), lambda v: nd.expand_dims(X, axis=v),
    lambda v: nd.clip(X, a_min=v, a_max=2), lambda v: nd.softmax(X, axis=v), lambda v: nd.softmax(X, temperature=v),
    lambda v: nd.transpose(X, axes=(v, 0)) if isinstance(v, (bool, int, float, str)) else nd.transpose(X, axes=v),
    lambda v: nd.topk(X, k=v), lambda v: nd.one_hot(index(0, 1), depth=v), lambda v: X.reshape((v, -1)),
    lambda v: nd.reshape(X, (v, -1)), lambda v: nd.concat(X, X, dim=v),
    lambda v: nd.slice_axis(X, axis=v, begin=0, end=1), lambda v: nd.Dropout(X, p=v, mode='training'),
    lambda v: nd.FullyConnected(X, numbers(1, 6), num_hidden=v, no_bias=True),
    lambda v: nd.tile(X, reps=v), lambda v: nd.zeros(v), lambda v: nd.arange(v), lambda v: nd.ones((2, v)),
    lambda v: nd.LeakyReLU(X, slope=v), lambda v: nd.cast(X, dtype=v), lambda v: nd.split(X, num_outputs=v),
    lambda v: nd._internal._plus_scalar(X, scalar=v), lambda v: nd._internal._div_scalar(X, scalar=v)])
def test_equal_values_of_other_types_are_other_attributes(call):
    """In any order: what one value has bound is not taken for another that compares equal."""
    with Nothing():
        expected = [outcome(lambda v=v: call(v)) for v in ODD]
    for order in (range(len(ODD)), reversed(range(len(ODD)))):
        for i in order:
            for _ in range(2):
                assert str(outcome(lambda i=i: call(ODD[i]))) == str(expected[i]), ODD[i]


def test_train_mode_is_part_of_the_key():
    x = nd.ones((50, 50))
    for _ in range(2):
        assert (nd.Dropout(x).asnumpy() == 1).all()
        with autograd.train_mode():
            assert (nd.Dropout(x).asnumpy() != 1).all()


def test_np_shape_is_looked_at_in_each_call():
    x = nd.ones((2, 2))
    for _ in range(2):
        with pytest.raises(MXNetError):
            nd.tile(x, reps=(0, 1))
        with pytest.raises(MXNetError):
            nd.zeros((0, 2))
        with mx.util.np_shape(True):
            assert nd.tile(x, reps=(0, 1)).shape == (0, 2)
            assert nd.zeros((0, 2)).shape == (0, 2)


def test_optional_inputs_are_part_of_the_key():
    x, w, b = numbers(2, 3), numbers(4, 3), numbers(4)
    for _ in range(2):
        assert nd.FullyConnected(x, w, b, num_hidden=4).shape == (2, 4)
        with pytest.raises(MXNetError, match='bias is missing'):
            nd.FullyConnected(x, w, num_hidden=4)
        assert nd.FullyConnected(x, w, num_hidden=4, no_bias=True).shape == (2, 4)
        assert nd.FullyConnected(x, w, None, 4, True).shape == (2, 4)


def test_contexts():
    for _ in range(2):
        assert nd.zeros((2,), mx.cpu(1)).context == mx.cpu(1) and nd.zeros((2,)).context == mx.cpu(0)
        with mx.cpu(2):
            assert nd.zeros((2,)).context == mx.cpu(2) == nd.random.normal(shape=(2,)).context
        assert nd.relu(nd.ones((2,), ctx=mx.cpu(3))).context == mx.cpu(3)
        with pytest.raises(TypeError, match='ctx'):
            nd.zeros((2,), 'cpu')


def test_caches_are_bounded():
    for i in range(3 * _generated.LIMIT):
        nd.clip(X, -i - 1, i + 1)
    scope = nd.clip.__globals__
    assert 0 < len(scope['_known']) <= _generated.LIMIT


def test_draws_are_those_of_the_general_way():
    for draw in (lambda: nd.random.normal(shape=(7, 5)), lambda: nd.random.normal(1, 2, (3,), 'float64'),
                 lambda: nd.random.uniform(shape=(7, 5)), lambda: nd.random.uniform(-1, 3, shape=33),
                 lambda: nd.random.normal(0.5, 1.5, shape=(2, 3), ctx=mx.cpu(1))):
        mx.random.seed(5)
        bound = draw()
        mx.random.seed(5)
        with Nothing():
            general = draw()
        agree(bound, general)


# ---------------------------------------------------------------------- arguments
def test_all_ways_to_give_arguments():
    x, out = numbers(2, 3), nd.zeros((2,))
    expected = x.asnumpy().sum(1)
    for result in (nd.sum(x, 1), nd.sum(x, axis=1), nd.sum(data=x, axis=1), nd.sum(axis=1, data=x), x.sum(1),
                   x.sum(axis=1), nd.sum(x, axis=[1]), nd.sum(x, axis='1'), nd.sum(x, 1, name='s'),
                   nd.sum(x, 1, out=out),
                   nd.sum(x, 1, False, False, out), nd.sum(x, 1, False, False, None, 'name')):
        np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize('call, kind, text', [
    (lambda: nd.sum(X, axes=1), MXNetError, 'unknown argument axes'),
    (lambda: nd.sum(X, axis=5), MXNetError, 'axis 5'),
    (lambda: nd.sum(3), TypeError, 'data must be an'),
    (lambda: nd.sum(), MXNetError, 'data is missing'),
    (lambda: nd.sum(X, 1, False, False, None, None, 7), TypeError, 'at most'),
    (lambda: nd.dot(X, X), MXNetError, 'operator dot'),
    (lambda: nd.broadcast_add(X, X.astype('float64')), MXNetError, 'same dtype'),
    (lambda: nd.concat(X, X.astype('float64')), MXNetError, 'same dtype'),
    (lambda: nd.concat(X, 3), TypeError, 'input 1'),
    (lambda: nd.concat(), MXNetError, 'at least one input'),
    (lambda: nd.relu(X, data=X), TypeError, 'data'),
    (lambda: nd.Activation(X), MXNetError, 'act_type is missing'),
    (lambda: nd.Activation(X, act_type='no'), MXNetError, "act_type='no'"),
])
def test_mistakes(call, kind, text):
    for _ in range(2):
        with pytest.raises(kind, match=text):
            call()


def test_the_function_stays_the_same_object():
    function, code = nd.arcsinh, nd.arcsinh.__code__
    nd.arcsinh(X)
    assert nd.arcsinh is function and function.__name__ == 'arcsinh' and function.__doc__
    nd.arcsinh(X)
    assert function.__code__ is nd.arcsinh.__code__ and code is not None


# ---------------------------------------------------------------------- the short way is taken
@pytest.mark.parametrize('recording', [False, True])
def test_plain_calls_are_not_bound_again(recording, monkeypatch):
    """Operators that networks are written with: after the first call neither `bind` nor `execute` runs."""
    general = []
    for name in ('call', 'slow', '_slow_variadic'):
        monkeypatch.setattr(_generated, name, None)
    monkeypatch.setattr(_invoke, 'bind', lambda *a: general.append(a[0].name))
    monkeypatch.setattr(_invoke, 'execute', lambda op, *a: general.append(op.name))
    calls = [lambda: nd.softmax(X), lambda: nd.softmax(X, axis=1), lambda: nd.log_softmax(X),
             lambda: nd.Activation(X, 'relu'),
             lambda: nd.LeakyReLU(X, slope=0.1), lambda: nd.expand_dims(X, axis=0), lambda: X.expand_dims(0),
             lambda: nd.concat(X, X, dim=1), lambda: nd.stack(X, X), lambda: nd.split(X, num_outputs=2),
             lambda: nd.reshape(X, (2, 12)), lambda: nd.transpose(X, axes=(1, 0)), lambda: nd.clip(X, 0, 1),
             lambda: nd.sum(X, axis=1), lambda: X.mean(axis=1), lambda: nd.max(X, axis=1), lambda: nd.argmax(X, axis=1),
             lambda: nd.one_hot(V * 0, depth=4), lambda: nd.take(X, V * 0), lambda: nd.where(X, X, X),
             lambda: nd.batch_dot(S, S, transpose_b=True), lambda: nd.dot(X, X, transpose_b=True),
             lambda: nd.tile(X, reps=(2, 1)), lambda: nd.repeat(X, repeats=2, axis=1),
             lambda: nd.cast(X, dtype='float64'), lambda: X.astype('float64'), lambda: nd.norm(X),
             lambda: nd.topk(X, k=2), lambda: nd.Dropout(X, p=0.5),
             lambda: nd.pick(X, nd.ones(4)), lambda: nd.Pooling(P, kernel=(2, 2)), lambda: nd.slice_axis(X, 1, 0, 2),
             lambda: nd.relu(X), lambda: mx.np.sum(X.as_np_ndarray(), axis=1),
             lambda: mx.npx.softmax(X.as_np_ndarray()), lambda: nd.LayerNorm(X, X[0], X[1]),
             lambda: nd.FullyConnected(X, X, num_hidden=4, no_bias=True)]
    X.attach_grad()
    try:
        with _autograd._Scope(recording, False):
            for call in calls:
                call()
                del general[:]
                call()
                assert general == []
    finally:
        X._variable = None


def test_results_do_not_keep_history_outside_of_record():
    x = numbers(2, 2)
    x.attach_grad()
    with autograd.record():
        y = x * 2
    assert not nd.softmax(y).materialize().requires_grad and not nd.sum(y, axis=1).materialize().requires_grad
    assert torch.is_grad_enabled()
