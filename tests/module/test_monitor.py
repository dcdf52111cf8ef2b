"""Monitor: which arrays of an executor it sees, how often, and what it makes of them."""
import doctest
import logging

import numpy as np
import pytest

import mxnet as mx

DATA = np.array([[1, -2], [3, 4], [0.5, -1]])


@pytest.fixture
def executor():
    net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc')
    net = mx.sym.BatchNorm(mx.sym.Activation(net, act_type='relu', name='act'), name='bn')
    found = net.simple_bind(mx.cpu(), data=DATA.shape)
    for name, values in {'data': DATA, 'fc_weight': [[1, 2], [-1, 1]], 'fc_bias': [0, 1], 'bn_gamma': [1, 1]}.items():
        found.arg_dict[name][:] = np.array(values)
    found.aux_dict['bn_moving_var'][:] = 1
    return found


def watched(executor, train=False, **arguments):
    monitor = mx.mon.Monitor(1, **arguments)
    monitor.install(executor)
    monitor.tic()
    executor.forward(is_train=train)
    if train:
        executor.backward([mx.nd.ones((3, 2))])
    return monitor.toc()


OUTPUTS = ['fc_output', 'act_output', 'bn_output']
HELD = ['data', 'fc_weight', 'fc_bias', 'bn_gamma', 'bn_beta', 'bn_moving_mean', 'bn_moving_var']


def test_examples_in_docstrings():
    result = doctest.testmod(mx.monitor, extraglobs={'mx': mx})
    assert result.attempted and not result.failed


def test_outputs_and_parameters(executor):
    found = watched(executor)
    assert [name for _, name, _ in found] == OUTPUTS + HELD
    texts = {name: text for _, name, text in found}
    output = DATA @ [[1, -1], [2, 1]] + [0, 1]
    assert float(texts['fc_output']) == pytest.approx(np.sqrt(np.mean(output ** 2)))
    assert float(texts['data']) == pytest.approx(np.sqrt(np.mean(DATA ** 2)))
    assert all(text.endswith('\t') for text in texts.values())


def test_inputs_too(executor):
    found = watched(executor, monitor_all=True, pattern='fc_|act_')
    assert [name for _, name, _ in found] == ['fc_data', 'fc_weight', 'fc_weight', 'fc_bias', 'fc_bias', 'fc_output',
                                              'act_input0', 'act_output', 'fc_weight', 'fc_bias']


def test_gradients(executor):
    """'.*backward.*' are gradients of a node's inputs, as they leave it."""
    found = {name: float(text) for _, name, text in watched(
        executor, train=True, pattern='.*backward.*', stat_func=lambda x: x.sum())}
    assert [name for name in found if name.startswith('act')] == ['act_backward_output']
    assert found['bn_backward_output2'] == 6              # beta: the sum of the gradients of the output
    gradients = {n: g.asnumpy().sum() for n, g in executor.grad_dict.items()}
    assert found['fc_backward_output0'] == pytest.approx(gradients['data'], abs=1e-6)
    assert found['fc_backward_output1'] == pytest.approx(gradients['fc_weight'], abs=1e-6)
    assert found['fc_backward_output2'] == pytest.approx(gradients['fc_bias'], abs=1e-6)


def test_gradients_of_one_user_among_two():
    x = mx.sym.var('x')
    net = mx.sym.exp(x, name='a') * 0 + mx.sym.sum(x * 3, name='s')
    executor = net.simple_bind(mx.cpu(), x=(1,))
    found = {name: float(text) for _, name, text in _run(executor, '.*backward.*')}
    assert found['a_backward_output'] == 0 and executor.grad_dict['x'].asscalar() == 3


def _run(executor, pattern):
    monitor = mx.mon.Monitor(1, pattern=pattern)
    monitor.install(executor)
    monitor.tic()
    executor.forward(is_train=True)
    executor.backward()
    return monitor.toc()


def test_watching_changes_nothing(executor):
    plain = [a.asnumpy() for a in executor.forward(is_train=True)]
    executor.backward([mx.nd.ones((3, 2))])
    gradients = {n: g.asnumpy() for n, g in executor.grad_dict.items()}
    watched(executor, train=True, monitor_all=True)
    for before, after in zip(plain, executor.outputs):
        np.testing.assert_array_equal(before, after.asnumpy())
    for name, gradient in executor.grad_dict.items():
        np.testing.assert_allclose(gradient.asnumpy(), gradients[name], rtol=1e-6, atol=1e-7)


def test_pattern_and_sorting(executor):
    found = watched(executor, pattern='.*weight|.*output', sort=True)
    assert [name for _, name, _ in found] == ['act_output', 'bn_output', 'fc_output', 'fc_weight']


def test_interval(executor):
    monitor = mx.mon.Monitor(3, pattern='fc_output')
    monitor.install(executor)
    found = []
    for _ in range(7):
        monitor.tic()
        executor.forward()
        found.append(monitor.toc())
    assert [[one[0] for one in some] for some in found] == [[1], [], [], [4], [], [], [7]]


def test_several_executors(executor):
    other = executor.reshape(data=(2, 2), partial_shaping=True)
    monitor = mx.mon.Monitor(1, pattern='.*_output')
    for one in (executor, other):
        monitor.install(one)
    monitor.tic()
    for one in (executor, other):
        one.forward()
    assert [name for _, name, _ in monitor.toc()] == OUTPUTS * 2


def test_statistics_of_ones_own(executor):
    found = watched(executor, pattern='fc_bias', stat_func=lambda x: [x, x.max()])
    assert found == [(1, 'fc_bias', '[0. 1.]\t1.0\t')]
    with pytest.raises(AssertionError, match='of fc_bias it gave 3'):
        watched(executor, pattern='fc_bias', stat_func=lambda x: 3)


def test_printing(executor, caplog):
    caplog.set_level(logging.INFO)
    monitor = mx.mon.Monitor(1, pattern='fc_bias', stat_func=lambda x: x.max())
    monitor.install(executor)
    monitor.tic()
    executor.forward()
    monitor.toc_print()
    assert caplog.messages == ['Batch:       1 fc_bias                        1.0\t']
    monitor.toc_print()
    assert len(caplog.messages) == 1
