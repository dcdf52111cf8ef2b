"""What executors share, and what a monitor or a plan must not change: recorded with MXNet 1.9.1."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet.base import MXNetError


def _symbol():
    return mx.sym.BatchNorm(mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=1, name='fc'), name='bn')


def _shared(names, buffer):
    """The arrays of an executor that change with those of another one: arguments, gradients, states."""
    first = _symbol().simple_bind(mx.cpu(), data=(2, 3))
    second = _symbol().simple_bind(mx.cpu(), data=(2, 3), shared_exec=first, shared_arg_names=names,
                                   shared_buffer=buffer)
    found = []
    for kind in ('arg_dict', 'grad_dict', 'aux_dict'):
        for array in getattr(second, kind).values():
            array[:] = 7
        found += [f'{kind}.{name}' for name, array in getattr(first, kind).items() if (array.asnumpy() == 7).all()]
    return found


@pytest.mark.parametrize('names', [None, ['fc_weight']])
def test_executors_share_nothing_without_a_buffer(names):
    assert _shared(names, None) == []


def test_executors_share_what_is_named_and_states():
    states = ['aux_dict.bn_moving_mean', 'aux_dict.bn_moving_var']
    assert _shared(None, {}) == states
    assert _shared(['fc_weight'], {}) == ['arg_dict.fc_weight', 'grad_dict.fc_weight', *states]


def test_a_buffer_holds_arguments_and_gradients_that_are_not_named():
    buffer: dict = {}
    executor = _symbol().simple_bind(mx.cpu(), data=(2, 3), shared_arg_names=['fc_weight', 'fc_bias'],
                                     shared_buffer=buffer)
    assert sorted(buffer) == ['bn_beta', 'bn_gamma', 'data', 'grad of bn_beta', 'grad of bn_gamma', 'grad of data']
    executor.grad_dict['data'][:] = 3
    assert (buffer['grad of data'].asnumpy() == 3).all()


@pytest.mark.parametrize('monitored', [False, True])
def test_a_monitor_moves_no_averages(monitored):
    symbol = mx.sym.BatchNorm(mx.sym.Variable('data'), momentum=.5, name='bn')
    frozen = mx.sym.FullyConnected(symbol, num_hidden=1, name='fc')
    reqs = {'data': 'null', 'bn_gamma': 'null', 'bn_beta': 'null', 'fc_weight': 'write', 'fc_bias': 'write'}
    for graph, grad_req, moved in ((symbol, 'null', 0), (frozen, reqs, 0), (symbol, 'write', .5)):
        executor = graph.simple_bind(mx.cpu(), grad_req=grad_req, data=(3, 2))
        executor.arg_dict['data'][:] = 1
        if monitored:
            executor.set_monitor_callback(lambda name, array: None)
        for _ in range(2):
            output, = executor.forward(is_train=True)
        executor.backward(nd.ones(output.shape))
        np.testing.assert_array_equal(executor.aux_dict['bn_moving_mean'].asnumpy(), [moved, moved])


def test_an_argument_written_before_backward_is_noticed_by_a_plan_as_well():
    executor = mx.sym.maximum(mx.sym.Variable('x'), mx.sym.Variable('y')).simple_bind(mx.cpu(), x=(2,), y=(2,))
    for written in (True, False, False, True, True, False):
        executor.arg_dict['x'][:] = 1
        executor.forward(is_train=True)
        if written:
            executor.arg_dict['x'][:] = -1
            with pytest.raises(MXNetError, match='written in place'):
                executor.backward(nd.ones(2))
        else:
            executor.backward(nd.ones(2))
            assert executor.grad_dict['x'].asnumpy().tolist() == [1, 1]


def test_a_backward_pass_that_fails_moves_no_averages():
    symbol = mx.sym.BatchNorm(mx.sym.maximum(mx.sym.Variable('x'), mx.sym.Variable('y')), momentum=.5, name='bn')
    executor = symbol.simple_bind(mx.cpu(), x=(3, 2), y=(3, 2))
    executor.arg_dict['x'][:] = 1
    for number in range(4):         # the first run has no plan
        executor.forward(is_train=True)
        executor.arg_dict['x'][:] = 1
        with pytest.raises(MXNetError, match='written in place'):
            executor.backward(nd.ones((3, 2)))
        executor.forward(is_train=True)
        with pytest.raises((MXNetError, ValueError)):
            executor.backward(nd.ones((7, 2)))
        assert executor.aux_dict['bn_moving_mean'].asnumpy().tolist() == [0, 0], number
    executor.forward(is_train=True)
    executor.backward(nd.ones((3, 2)))
    assert executor.aux_dict['bn_moving_mean'].asnumpy().tolist() == [.5, .5]


@pytest.mark.parametrize('again', [lambda s: mx.sym.load_json(s.tojson()),
                                   lambda s: mx.sym.load_json(s.tojson(remove_amp_cast=True))])
def test_a_cast_that_is_an_output_is_saved(again):
    x = mx.sym.Variable('x')
    inner = mx.sym.amp_cast(x, dtype='float16', name='inner')
    graph = again(mx.sym.Group([mx.sym.amp_cast(inner * 2, dtype='float16', name='outer'), inner + 1, inner]))
    assert [n for n in graph.get_internals().list_outputs() if 'outer' in n or 'inner' in n] \
        == ['outer_output', 'inner_output']
    outputs = graph.simple_bind(mx.cpu(), x=(2,), type_dict={'x': 'float32'}).forward()
    assert [o.dtype.__name__ for o in outputs] == ['float16', 'float32', 'float16']


@pytest.mark.parametrize('text', ['x / y', 'x / (y * y)', 'mx.sym.square(x) * mx.sym.exp(y) / (y + 1)',
                                  'mx.sym.softmax(x * y) * x', 'mx.sym.sin(x) / mx.sym.cos(y)'])
def test_backward_computes_of_the_arguments_as_they_are_then(text):
    """A call of the backward half that equals one of the forward half is no repetition: arguments may be written
    between them.  A plan gives the gradients of the first run, which has none.
    """
    executor = eval(text, {'x': mx.sym.var('x'), 'y': mx.sym.var('y'), 'mx': mx}).simple_bind(mx.cpu(), x=(3,), y=(3,))
    runs = []
    for _ in range(5):
        executor.arg_dict['x'][:] = nd.array([1, 2, 3])
        executor.arg_dict['y'][:] = nd.array([2, 4, 5])
        executor.forward(is_train=True)
        for array in executor.arg_dict.values():
            array[:] = array * 2
        executor.backward([nd.ones((3,))])
        runs.append([executor.grad_dict[name].asnumpy() for name in 'xy'])
    for run in runs[1:]:
        np.testing.assert_allclose(run, runs[0], rtol=1e-6)
    if text == 'x / y':
        np.testing.assert_allclose(runs[0], [[1 / 4, 1 / 8, 1 / 10], [-2 / 16, -4 / 64, -6 / 100]], rtol=1e-6)


@pytest.mark.parametrize('learned, ones',
                         [('fc_weight', False), ('data', True), ('bn_gamma', True), ('bn_beta', True)])
def test_gamma_is_filled_with_ones_where_gradients_go_through_its_call(learned, ones):
    """Of a front that is frozen, `fix_gamma` leaves the argument as it is, and computes as if it were ones."""
    x = mx.sym.BatchNorm(mx.sym.Variable('data'), fix_gamma=True, name='bn')
    x = mx.sym.FullyConnected(x, num_hidden=2, name='fc')
    executor = x.simple_bind(mx.cpu(), data=(3, 2), grad_req={learned: 'write'})
    for array in executor.arg_dict.values():
        array[:] = 2
    for _ in range(3):
        executor.forward(is_train=True)
        executor.backward(nd.ones((3, 2)))
    assert executor.arg_dict['bn_gamma'].asnumpy().tolist() == ([1, 1] if ones else [2, 2])
