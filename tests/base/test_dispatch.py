"""The stack of interceptors (mxnet/_dispatch.py): its order, its scopes, and that nothing is replaced."""
import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet import _autograd, _dispatch, autograd, gluon, profiler
from mxnet._deferred_compute import Tracer
from mxnet._dispatch import ANOMALY, PRECISION, PROFILE, TRACE, Interceptor
from mxnet._ops.core.dtypes import dtype_name
from mxnet.contrib import amp
from mxnet.ndarray import FullyConnected as imported_fully_connected
from mxnet.ndarray import dot as imported_dot


@pytest.fixture(autouse=True)
def empty():
    yield
    amp.stop()
    profiler.set_state('stop')
    assert _dispatch.interceptors == [] and mx._state.state.interceptors == ()


def dtype(array):
    return dtype_name(array.dtype)


def low_precision():
    amp.init('bfloat16', target_precision_ops=['dot', '_np_dot', 'FullyConnected'])


class Broken(Exception):
    pass


class Seen(Interceptor):
    """Notes the operators whose kernels run, with the dtypes of their inputs."""

    def __init__(self, **fields):
        self.calls = []
        for name, value in fields.items():
            setattr(self, name, value)

    def __enter__(self):
        _dispatch.install(self)
        return self

    def __exit__(self, *exc):
        _dispatch.remove(self)

    def kernel(self, op, function, node, tensors, attributes):
        self.calls.append((op.name, *[str(t.dtype).removeprefix('torch.') for t in tensors if hasattr(t, 'dtype')]))
        return function(*tensors, **attributes)

    @property
    def names(self):
        return [name for name, *_ in self.calls]


# ---------------------------------------------------------------------- order
def test_order_follows_rank_not_time():
    made = [Seen(rank=rank, whole_process=whole) for rank in (PROFILE, PRECISION, ANOMALY, TRACE)
            for whole in (True, False)]
    for interceptor in made:
        _dispatch.install(interceptor)
    try:
        ranks = [i.rank for i in _dispatch.stack()]
        assert ranks == sorted(ranks) and len(ranks) == len(made)
    finally:
        for interceptor in made:            # not in the reverse order of `install`
            _dispatch.remove(interceptor)
    assert _dispatch.stack() == ()


def test_of_equal_ranks_the_last_is_the_outer_one():
    order = []

    class Call(Interceptor):
        def __init__(self, name):
            self.name = name

        def call(self, proceed, *parts):
            order.append(self.name)
            return proceed(*parts)

    first, second = Call('first'), Call('second')
    _dispatch.install(first)
    _dispatch.install(second)
    mx.nd.relu(mx.nd.ones(2))
    _dispatch.remove(first)
    mx.nd.relu(mx.nd.ones(2))
    _dispatch.remove(second)
    mx.nd.relu(mx.nd.ones(2))
    assert order == ['second', 'first', 'second']


def test_casts_of_amp_are_profiled(tmp_path):
    low_precision()
    x = mx.nd.ones((2, 2))
    with Seen() as seen:
        mx.nd.dot(x, x)
    assert seen.calls == [('amp_cast', 'float32'), ('amp_cast', 'float32'), ('dot', 'bfloat16', 'bfloat16')]
    profiler.set_config(filename=str(tmp_path / 'trace.json'), profile_api=False)
    profiler.start()
    mx.nd.dot(x, x)
    profiler.stop()
    table = profiler.dumps(reset=True, format='json')
    profiler.dump()
    profiler.set_config()
    assert 'amp_cast' in table and '"dot"' in table


def test_casts_of_amp_are_traced():
    low_precision()
    with Tracer(mx.cpu()) as tracer:
        x = tracer.input('x', mx.nd.ones((2, 2)), 0)
        result = mx.nd.dot(x, x)
        symbol = tracer.symbol([result])
    assert [n for n in symbol.get_internals().list_outputs() if 'amp_cast' in n]
    assert dtype(result) == 'bfloat16'


def test_the_tracer_hides_calls_from_what_is_below():
    with Seen() as seen, autograd.detect_anomaly(), Tracer(mx.cpu()) as tracer:
        x = tracer.input('x', mx.nd.ones((2, 2)), 0)
        mx.nd.log(x - 2)
    assert seen.calls == []


def test_anomaly_sees_results_of_calls_with_casts():
    low_precision()
    x = mx.nd.array([[-1.0]])
    x.attach_grad()
    with autograd.detect_anomaly(), autograd.record(), pytest.raises(mx.MXNetError, match=r'operator log\(.*first NaN'):
        mx.nd.log(mx.nd.dot(x, mx.nd.ones((1, 1))))


@pytest.mark.parametrize('order', [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
def test_removed_in_any_order(order):
    x = mx.nd.ones((2, 2))
    anomaly = autograd.detect_anomaly()
    seen = Seen()
    on = [low_precision, anomaly.__enter__, seen.__enter__]
    off = [amp.stop, anomaly.__exit__, seen.__exit__]
    for i in (0, 1, 2):
        on[i]()
    left = {0, 1, 2}
    for i in order:
        seen.calls.clear()
        result = mx.nd.dot(x, x)
        assert dtype(result) == ('bfloat16' if 0 in left else 'float32')
        assert ('dot' in seen.names) == (2 in left)
        off[i]()
        left.remove(i)
    assert mx.nd.dot(x, x).dtype == np.float32


def test_an_exception_leaves_nothing_behind():
    class Bad(Seen):
        def kernel(self, *parts):
            raise Broken
    x = mx.nd.ones(2)
    with pytest.raises(Broken), Bad():
        mx.nd.relu(x)
    with pytest.raises(Broken), autograd.detect_anomaly(), Seen(), Bad():
        x + x
    assert (x + x).asnumpy().tolist() == [2, 2]
    with pytest.raises(mx.MXNetError, match='shapes|shape'), Seen():
        mx.nd.dot(mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))


# ---------------------------------------------------------------------- threads
def in_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def test_threads():
    x = mx.nd.ones((2, 2))
    with Seen() as everywhere, Seen(whole_process=False) as here:
        in_thread(lambda: mx.nd.relu(x))
        assert everywhere.names == ['relu'] and here.names == []
        mx.nd.relu(x)
    assert everywhere.names == ['relu', 'relu'] and here.names == ['relu']
    with Tracer(mx.cpu()):
        assert in_thread(lambda: mx.nd.relu(x).asnumpy().sum()) == 4
        assert in_thread(autograd.is_recording) is False
    low_precision()
    assert dtype(in_thread(lambda: mx.nd.dot(x, x))) == 'bfloat16'


# ---------------------------------------------------------------------- every way to call an operator
def test_functions_imported_before_are_intercepted():
    x, w = mx.nd.ones((2, 3)), mx.nd.ones((4, 3))
    before = imported_dot, mx.nd.dot, mx.nd.op.dot, mx.np.dot, mx.npx.fully_connected, mx.sym.dot
    low_precision()
    assert before == (imported_dot, mx.nd.dot, mx.nd.op.dot, mx.np.dot, mx.npx.fully_connected,
                      mx.sym.dot)
    results = [imported_dot(x, w.T), mx.nd.dot(x, w.T), mx.nd.op.dot(x, w.T),
               imported_fully_connected(x, w, no_bias=True, num_hidden=4),
               imported_fully_connected(x, w, None, 4, True),
               mx.npx.fully_connected(x.as_np_ndarray(), w.as_np_ndarray(), num_hidden=4, no_bias=True),
               mx.np.dot(x.as_np_ndarray(), w.T.as_np_ndarray())]
    assert [dtype(r) for r in results] == ['bfloat16'] * len(results)
    dense = gluon.nn.Dense(2)
    dense.initialize()
    assert dtype(dense(x)) == 'bfloat16'
    # and back to float32 where an operator needs it
    assert [f(x.astype('bfloat16')).dtype for f in (mx.nd.exp, mx.nd.softmax, mx.nd.NDArray.exp)] == [np.float32] * 3
    symbol = mx.sym.dot(mx.sym.var('a'), mx.sym.var('b'))
    assert any('amp_cast' in name for name in symbol.get_internals().list_outputs())
    amp.stop()
    assert imported_dot(x, w.T).dtype == np.float32


@pytest.mark.parametrize('recording', [False, True])
def test_every_fast_path_gives_way(recording):
    x, y, npx = mx.nd.ones((2, 2)), mx.nd.ones((2, 2)), mx.np.ones((2, 2))
    z = mx.nd.zeros((2, 2))
    calls = {'relu': lambda: mx.nd.relu(x), 'broadcast_add': lambda: x + y, '_mul_scalar': lambda: x * 2,
             'dot': lambda: mx.nd.dot(x, y), 'sum': lambda: x.sum(), 'softmax': lambda: mx.nd.softmax(x, axis=1),
             'Concat': lambda: mx.nd.concat(x, y, dim=1), '_npi_exp': lambda: mx.np.exp(npx),
             '_npi_add': lambda: npx + npx, '_np_sum': lambda: npx.sum(axis=0), '_zeros': lambda: mx.nd.zeros((2, 2)),
             '_random_normal': lambda: mx.nd.random.normal(shape=(2,)), 'expand_dims': lambda: x.expand_dims(0),
             '_arange': lambda: mx.nd.arange(3), 'Cast': lambda: x.astype('float64'),
             'Reshape': lambda: mx.nd.reshape(x, (4,)), 'transpose': lambda: x.T}
    if not recording:
        calls['broadcast_sub'] = lambda: z.__isub__(x)
    for work in calls.values():
        work()                  # with every cache filled
    for name, work in calls.items():
        with Seen() as seen, _autograd._Scope(recording, False):
            work()
        assert seen.names == [name]


def test_nodes_of_graphs_are_intercepted():
    data = mx.sym.var('data')
    executor = mx.sym.relu(mx.sym.exp(data)).bind(mx.cpu(), {'data': mx.nd.ones(2)})
    nodes = []

    class Nodes(Seen):
        def kernel(self, op, function, node, tensors, attributes):
            nodes.append(node.name)
            return super().kernel(op, function, node, tensors, attributes)
    with Nodes() as seen:
        executor.forward()
    assert seen.names == ['exp', 'relu'] and len(nodes) == 2


def test_recording_is_below_the_tracer_and_mixed_precision():
    """The gradient goes through the casts; what is recorded in a scope stays recorded when the scope has ended."""
    x = mx.nd.ones((2, 2))
    x.attach_grad()
    low_precision()
    with Seen() as seen, autograd.record():
        y = mx.nd.dot(x, x)
    amp.stop()
    y.backward()
    assert x.grad.dtype == np.float32 and x.grad.asnumpy().tolist() == [[4, 4], [4, 4]]
    assert seen.names == ['amp_cast', 'amp_cast', 'dot']
