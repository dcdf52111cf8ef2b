"""Strict plans: only what cannot be traced has no plan; a defect of the tracer or of a pass is seen."""
import warnings

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import nd
from mxnet._graph.codegen import writing
from mxnet._graph.codegen.plan import make_plan
from mxnet._graph.ir.program import Program
from mxnet._graph.trace import defects
from mxnet._graph.trace.defects import PlanDefect
from mxnet._ops.core.traceable import CannotTrace
from mxnet.gluon import nn


def program_of(symbol):
    return Program(symbol._entries)


def plan_of(program, *tensors, heads=None):
    return make_plan(program, list(tensors), (0,), training=True, generator=lambda device: None,
                     device=torch.device('cpu'), heads=heads)


def dense():
    return program_of(mx.sym.exp(mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=2, name='fc')))


def inputs():
    return torch.ones(3, 4), torch.ones(2, 4), torch.zeros(2)


def failing_pass(graph, apart=0):
    for node in graph.nodes:
        if 'label' in node.meta:
            raise KeyError(node.name)


@pytest.fixture
def broken_pass(monkeypatch):
    monkeypatch.setattr(writing, 'simplify', failing_pass)
    monkeypatch.setattr(defects, '_warned', set())
    # what is in this file is taken for a pass
    monkeypatch.setattr(defects, 'HERE', __file__.rpartition('/')[0] + '/')


def test_a_defect_of_a_pass_is_raised_in_the_tests(broken_pass):
    with pytest.raises(PlanDefect, match=r'failing_pass .*on operator FullyConnected \(node fc\): KeyError') as error:
        plan_of(dense(), *inputs())
    assert 'Please report' in str(error.value) and isinstance(error.value.__cause__, KeyError)


def test_a_defect_is_raised_by_a_step(broken_pass):
    net = nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    x = nd.ones((2, 3))
    with pytest.raises(PlanDefect):
        for _ in range(5):
            with mx.autograd.record():
                loss = net(x).sum()
            loss.backward()


def test_users_are_warned_once_and_the_program_runs(broken_pass, monkeypatch):
    monkeypatch.delenv('MXNET_PLANS')
    with pytest.warns(RuntimeWarning, match='The program runs without a plan') as seen:
        assert plan_of(dense(), *inputs()) is None
        assert plan_of(dense(), *inputs()) is None
    assert len(seen) == 1 and 'failing_pass' in str(seen[0].message) and 'MXNET_PLANS=strict' in str(seen[0].message)
    net = nn.Dense(2, in_units=3)
    net.initialize()
    x = nd.array(np.arange(6).reshape(2, 3))
    before = net(x).asnumpy()
    net.hybridize()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        for _ in range(4):
            with mx.autograd.record():
                loss = net(x)
            loss.backward()
            np.testing.assert_array_equal(loss.asnumpy(), before)


def test_an_operator_that_runs_but_cannot_be_traced_by_mistake_is_a_defect():
    program = dense()
    function = program.calls[0].function

    def only_plain(*data, **attributes):
        if type(data[0]) is not torch.Tensor:
            raise RuntimeError('no such tensors')
        return function(*data, **attributes)

    program.calls[0].function = only_plain
    with pytest.raises(PlanDefect, match=r'on operator FullyConnected \(node fc\)'):
        plan_of(program, *inputs())


def test_a_mistake_of_the_program_is_no_defect():
    assert plan_of(dense(), torch.ones(3, 4), torch.ones(2, 5), torch.zeros(2)) is None


# made in the test: an exception that lives on holds the tensors of the trace by its traceback
@pytest.mark.parametrize('kind, text', [
    (CannotTrace, 'it reads values'), (MemoryError, 'no room'),
    (RuntimeError, '[enforce fail] . DefaultCPUAllocator: not enough memory: you tried')])
def test_no_plan_without_a_word(kind, text):
    program = dense()
    function = program.calls[0].function

    def cannot(*data, **attributes):
        if type(data[0]) is not torch.Tensor:
            raise kind(text)
        return function(*data, **attributes)

    program.calls[0].function = cannot
    assert plan_of(program, *inputs()) is None


def test_an_untraced_run_draws_from_copies():
    """To find out whose mistake it is, a program is run again; its generators stay as they are."""
    program = program_of(mx.sym.Dropout(mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=2), p=0.5))
    function, generator = program.calls[0].function, torch.Generator().manual_seed(3)

    def only_plain(*data, **attributes):
        if type(data[0]) is not torch.Tensor:
            raise RuntimeError('no such tensors')
        return function(*data, **attributes)

    program.calls[0].function = only_plain
    before = generator.get_state()
    with pytest.raises(PlanDefect):
        make_plan(program, list(inputs()), (0,), training=True, generator=lambda device: generator,
                  device=torch.device('cpu'))
    assert torch.equal(generator.get_state(), before)
