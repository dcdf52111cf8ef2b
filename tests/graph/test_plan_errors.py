"""What a program does wrong with values is an error in a plan as it is without one, however often the call was made."""
import warnings

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._graph.codegen.writing import Plan
from mxnet._graph.trace import defects
from mxnet._graph.trace.defects import PlanDefect
from mxnet._ops.core import checks
from mxnet.base import MXNetError

EYE = np.eye(4, dtype='float32')
GOOD, BAD = np.array([0, 1], 'float32'), np.array([0, 99], 'float32')
SINGULAR = np.zeros((4, 4), 'float32')
CALLS, WRONG = 9, (5, 6)


def plus(F, matrix, i):
    return F.broadcast_add(matrix, F.reshape(F.sum(i), (1, 1)))


# function of (F, matrix, indices, weight), and the matrix and indices that it refuses
CASES = {
    'take': (lambda F, x, i, w: F.take(F.dot(x, w), i, mode='raise'), EYE, BAD),
    'gather_nd': (lambda F, x, i, w: F.gather_nd(F.dot(x, w), F.reshape(i, (1, 2))), EYE, BAD),
    'scatter_nd': (lambda F, x, i, w: F.scatter_nd(F.slice_axis(F.dot(x, w), axis=0, begin=0, end=2),
                                                   F.reshape(i, (1, 2)), shape=(4, 4)), EYE, BAD),
    'potrf': (lambda F, x, i, w: plus(F, F.linalg.potrf(x * 2 + 0 * w), i), -EYE, GOOD),
    'potri': (lambda F, x, i, w: plus(F, F.linalg.potri(F.linalg.potrf(x * 2 + 0 * w)), i), -EYE, GOOD),
    'inverse': (lambda F, x, i, w: plus(F, F.linalg.inverse(x * 2 + 0 * w), i), SINGULAR, GOOD),
    'a factor that nothing but the end uses': (lambda F, x, i, w: F.sum(F.dot(x, w)) + 0 * F.sum(F.linalg.inverse(x))
                                               + F.sum(i), SINGULAR, GOOD)}
NP_CASES = {
    'inv': (lambda np_, x, w: np_.linalg.inv(x + 0 * w), SINGULAR),
    'cholesky': (lambda np_, x, w: np_.linalg.cholesky(x + 0 * w), -EYE),
    'solve': (lambda np_, x, w: np_.linalg.solve(x, w), SINGULAR),
    'tensorinv': (lambda np_, x, w: np_.linalg.tensorinv(x.reshape(4, 2, 2) + 0 * w.reshape(4, 2, 2), ind=1), SINGULAR),
    'tensorsolve': (lambda np_, x, w: np_.linalg.tensorsolve(x, w[0]), SINGULAR)}


class Network(gluon.HybridBlock):
    def __init__(self, function):
        super().__init__()
        self._function = function
        with self.name_scope():
            self.weight = self.params.get('weight', shape=(4, 4), init=mx.init.One())

    def hybrid_forward(self, F, x, i, weight):
        return self._function(F, x, i, weight)


class NumpyNetwork(Network):
    def hybrid_forward(self, F, x, weight):
        return self._function(F.np, x, weight)


def network(function, mode, kind=Network):
    net = kind(function)
    net.initialize()
    if mode != 'plain':
        net.hybridize(static_alloc=mode == 'static', static_shape=mode == 'static')
    return net


def calls(net, good, bad, recorded):
    """What each of several calls gives: numbers, or the class of its error and whether it names the operator."""
    given = []
    for number in range(CALLS):
        arrays = [(mx.np if type(net) is NumpyNetwork else nd).array(a) for a in (bad if number in WRONG else good)]
        net.weight.zero_grad()
        try:
            if recorded:
                with autograd.record():
                    loss = net(*arrays).sum()
                loss.backward()
                found = [loss.asnumpy(), net.weight.grad().asnumpy()]
            else:
                found = [net(*arrays).asnumpy()]
        except MXNetError as error:
            found = [type(error).__name__, 'operator' in str(error), net.weight.grad().asnumpy()]
        given.append(found)
    return given


def assert_same(given, expected):
    for number, (mine, its) in enumerate(zip(given, expected, strict=True)):
        assert len(mine) == len(its), (number, mine, its)
        for a, b in zip(mine, its, strict=True):
            if isinstance(b, np.ndarray):
                np.testing.assert_allclose(a, b, rtol=1e-5, err_msg=str(number))
            else:
                assert a == b, number


@pytest.mark.filterwarnings('ignore:input data')
@pytest.mark.parametrize('recorded', (False, True), ids=('predicts', 'trains'))
@pytest.mark.parametrize('mode', ('hybrid', 'static'))
@pytest.mark.parametrize('case', CASES)
def test_a_mistake_in_values_is_the_same_error_as_without_a_plan(case, mode, recorded):
    function, *bad = CASES[case]
    expected = calls(network(function, 'plain'), (EYE, GOOD), bad, recorded)
    assert [n for n, found in enumerate(expected) if isinstance(found[0], str)] == list(WRONG)
    assert_same(calls(network(function, mode), (EYE, GOOD), bad, recorded), expected)


@pytest.mark.parametrize('recorded', (False, True), ids=('predicts', 'trains'))
@pytest.mark.parametrize('mode', ('hybrid', 'static'))
@pytest.mark.parametrize('case', NP_CASES)
def test_linear_algebra_of_np_is_checked_in_plans(case, mode, recorded):
    function, bad = NP_CASES[case]
    good = EYE * 2
    with mx.util.np_shape(True), mx.util.np_array(True):
        expected = calls(network(function, 'plain', NumpyNetwork), (good,), (bad,), recorded)
        assert [n for n, found in enumerate(expected) if isinstance(found[0], str)] == list(WRONG)
        assert_same(calls(network(function, mode, NumpyNetwork), (good,), (bad,), recorded), expected)


def test_an_executor_checks_a_factorization():
    out = mx.sym.linalg.potrf(mx.sym.Variable('x') * 2)
    executor = out.simple_bind(mx.cpu(), x=(4, 4), grad_req='write')
    for number in range(CALLS):
        for training in (False, True):
            value = nd.array(-EYE if number in WRONG else EYE)
            if number not in WRONG:
                executor.forward(is_train=training, x=value)
                np.testing.assert_allclose(executor.outputs[0].asnumpy(), EYE * np.sqrt(2, dtype='float32'), rtol=1e-6)
                if training:
                    executor.backward(nd.ones((4, 4)))
                continue
            with pytest.raises(MXNetError, match='operator _linalg_potrf'):
                executor.forward(is_train=training, x=value)
                executor.outputs[0].wait_to_read()


def test_a_parameter_that_cannot_be_factorized_is_an_error_in_each_prediction():
    class Whitening(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.weight = self.params.get('weight', shape=(4, 4), init=mx.init.One())

        def hybrid_forward(self, F, x, weight):
            return F.dot(x, F.linalg.potrf(weight))

    net = Whitening()
    net.initialize()
    net.weight.set_data(nd.array(EYE))
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.ones((2, 4))
    for _ in range(4):
        np.testing.assert_array_equal(net(x).asnumpy(), np.ones((2, 4)))
    net.weight.set_data(nd.array(-EYE))
    for _ in range(3):
        with pytest.raises(MXNetError, match='operator _linalg_potrf'):
            net(x).wait_to_read()
    net.weight.set_data(nd.array(EYE * 4))
    np.testing.assert_array_equal(net(x).asnumpy(), np.full((2, 4), 2))


def test_where_a_check_must_not_wait_a_plan_notes_what_a_factorization_reports():
    with checks.deferred_on_cpu():
        net = network(CASES['inverse'][0], 'static')
        i = nd.array(GOOD)
        for _ in range(4):
            net(nd.array(EYE), i).wait_to_read()
        net(nd.array(SINGULAR), i)
        with pytest.raises(MXNetError, match='_linalg_inverse: the matrix cannot be factorized'):
            nd.waitall()
        net(nd.array(EYE), i).wait_to_read()


def _broken(*_):
    raise RuntimeError('a kernel of the plan is broken')


@pytest.mark.parametrize('strict', (True, False))
def test_a_plan_that_fails_where_the_program_does_not_is_a_defect(strict, monkeypatch):
    """Its step is computed call by call, and this is said."""
    monkeypatch.setattr(defects, '_warned', set())
    monkeypatch.setenv('MXNET_PLANS', 'strict' if strict else '')
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize(mx.init.One())
    net.hybridize()
    x = nd.ones((2, 3))

    def step():
        with autograd.record():
            loss = net(x).tanh().sum()
        loss.backward()
        return loss

    known = set(Plan.live)
    for _ in range(4):
        expected = step().asnumpy()
    plan, = [p for p in Plan.live if p not in known and p.joint is not None]
    scope = plan.joint.__globals__
    name = next(n for n in scope if 'tanh' in n)
    monkeypatch.setitem(scope, name, _broken)
    net.weight.zero_grad()
    if strict:
        with pytest.raises(PlanDefect, match='node .*: operator tanh: a kernel of the plan is broken'):
            step()
        return
    with pytest.warns(RuntimeWarning, match='This is a defect of mxnet'):
        loss = step()
    np.testing.assert_array_equal(loss.asnumpy(), expected)
    gradient = net.weight.grad().asnumpy()
    with warnings.catch_warnings():
        warnings.simplefilter('error')          # said once
        step()
    np.testing.assert_array_equal(net.weight.grad().asnumpy(), gradient)


def test_every_call_that_gives_nothing_stays_in_a_plan():
    """What has no result is there for its effect."""
    from mxnet._graph.passes.simplify import is_pure
    node = torch.fx.Graph().call_function(torch.ops.aten._linalg_check_errors.default)
    assert not is_pure(node)
    assert not is_pure(torch.fx.Graph().call_function(torch.ops.aten._assert_async.default))
