"""Operators written in Python, in arrays and in graphs; the old forms; what happens when they go wrong."""
import gc
import multiprocessing
import threading
import warnings

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd, sym
from mxnet.test_utils import check_numeric_gradient


def register(name, operator, **methods):
    """Registers `operator` (a class, or a function that makes a CustomOp), with a prop of these methods."""
    methods.setdefault('create_operator', lambda self, ctx, shapes, dtypes: operator())
    return mx.operator.register(name)(type('Prop', (mx.operator.CustomOpProp,), methods))


class Square(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])


register('t_square', Square)


class Scaled(mx.operator.CustomOp):
    """a * b * scale and a + b; counts its calls in a state."""

    def __init__(self, scale):
        self.scale = scale

    def forward(self, is_train, req, in_data, out_data, aux):
        a, b = in_data
        self.assign(out_data[0], req[0], a * b * self.scale)
        self.assign(out_data[1], req[1], a + b)
        aux[0] += 1 if is_train else 100

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        a, b = in_data
        self.assign(in_grad[0], req[0], out_grad[0] * b * self.scale + out_grad[1])
        self.assign(in_grad[1], req[1], out_grad[0] * a * self.scale + out_grad[1])
        aux[0] += 10


@mx.operator.register('t_scaled')
class ScaledProp(mx.operator.CustomOpProp):
    def __init__(self, scale='1'):
        super().__init__()
        self.scale = float(scale)

    def list_arguments(self):
        return ['a', 'b']

    def list_outputs(self):
        return ['product', 'sum']

    def list_auxiliary_states(self):
        return ['calls']

    def infer_shape(self, in_shape):
        known = in_shape[0] or in_shape[1]
        return [known, known], [known, known], [(1,)]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Scaled(self.scale)


# ---------------------------------------------------------------------- on arrays
def test_forward_and_backward():
    x = nd.array([1, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x * 2, op_type='t_square')
    y.backward(nd.array([1, 10, 100]))
    assert y.asnumpy().tolist() == [4, 16, 36]
    assert x.grad.asnumpy().tolist() == [8, 160, 2400]


def test_several_outputs_arguments_and_states():
    a, b, calls = nd.array([1, 2]), nd.array([3, 4]), nd.zeros((1,))
    a.attach_grad()
    with autograd.record():
        product, total = nd.Custom(a, b, calls, op_type='t_scaled', scale=5)
    assert product.asnumpy().tolist() == [15, 40] and total.asnumpy().tolist() == [4, 6]
    assert calls.asscalar() == 1
    autograd.backward([product, total])
    assert a.grad.asnumpy().tolist() == [16, 21]
    assert calls.asscalar() == 11                 # backward writes states too
    nd.Custom(a, b, calls, op_type='t_scaled')
    assert calls.asscalar() == 111                # and forward knows that this was no training


def test_inputs_by_name():
    product, _ = nd.Custom(b=nd.array([3]), calls=nd.zeros((1,)), a=nd.array([2]), op_type='t_scaled', scale=2.0)
    assert product.asscalar() == 12


def test_only_gradients_that_are_wanted():
    seen = []

    class Look(Scaled):
        def backward(self, req, *args, **kwargs):
            seen.append(req)
            super().backward(req, *args, **kwargs)

    class LookProp(ScaledProp):
        def create_operator(self, *args):
            return Look(1)

    mx.operator.register('t_look')(LookProp)
    a, b = nd.array([1.0]), nd.array([2.0])
    b.attach_grad()
    with autograd.record():
        y = nd.Custom(a, b, nd.zeros((1,)), op_type='t_look')[0]
    y.backward()
    assert seen == [['null', 'write']] and b.grad.asscalar() == 1


def test_what_create_operator_is_given():
    seen = []

    def create(self, ctx, shapes, dtypes):
        seen.append((ctx, shapes, dtypes))
        return Square()

    register('t_given', Square, create_operator=create)
    nd.Custom(nd.ones((2, 3), ctx=mx.cpu(1), dtype='float64'), op_type='t_given')
    assert seen == [(mx.cpu(1), [[2, 3]], [1])]


def test_the_halves_run_on_the_context_unrecorded():
    seen = []

    class Look(Square):
        def forward(self, is_train, req, in_data, out_data, aux):
            seen.append((mx.current_context(), autograd.is_recording(), autograd.is_training(), in_data[0].context))
            super().forward(is_train, req, in_data, out_data, aux)

    register('t_context', Look)
    x = nd.ones((1,), ctx=mx.cpu(3))
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type='t_context')
    assert seen == [(mx.cpu(3), False, True, mx.cpu(3))] and y.context == mx.cpu(3)


def test_no_inputs():
    class Ones(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], np.ones(out_data[0].shape))

    class OnesProp(mx.operator.CustomOpProp):
        def __init__(self, length):
            super().__init__()
            self.length = int(length)

        def list_arguments(self):
            return []

        def infer_shape(self, in_shape):
            return [], [(self.length,)], []

        def infer_type(self, in_type):
            return [], [np.float64], []

        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Ones()

    mx.operator.register('t_ones')(OnesProp)
    y = nd.Custom(length=3, op_type='t_ones')
    assert y.asnumpy().tolist() == [1, 1, 1] and y.dtype == np.float64
    assert (sym.Custom(length=3, op_type='t_ones') + sym.var('x')).eval(x=nd.ones((3,), dtype='float64')
                                                                       )[0].asnumpy().tolist() == [2, 2, 2]


def test_dtypes_follow_infer_type():
    register('t_floor', lambda: Floor(), infer_type=lambda self, types: (types, [np.int32], []))

    class Floor(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], nd.floor(in_data[0]))

    y = nd.Custom(nd.array([1.5, -0.5]), op_type='t_floor')
    assert y.dtype == np.int32 and y.asnumpy().tolist() == [1, -1]


def test_integers_with_a_gradient_are_constants_here():
    x = nd.array([1, 2], dtype='int32')
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type='t_square')
    assert y.dtype == np.int32 and y.asnumpy().tolist() == [1, 4]


@pytest.mark.parametrize('req, expected', [('null', [1, 1]), ('write', [5, 5]), ('inplace', [5, 5]), ('add', [6, 6])])
def test_assign(req, expected):
    target = nd.ones((2,))
    mx.operator.CustomOp().assign(target, req, nd.array([5, 5]))
    assert target.asnumpy().tolist() == expected


def test_an_operator_may_record_for_itself():
    class Cube(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.x = in_data[0].copy()
            self.x.attach_grad()
            with autograd.record():
                self.y = self.x ** 3
            self.assign(out_data[0], req[0], self.y)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.y.backward(out_grad[0])
            self.assign(in_grad[0], req[0], self.x.grad)

    register('t_cube', Cube)
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type='t_cube') * 2
    y.backward()
    assert x.grad.asnumpy().tolist() == [6, 24]


def test_no_second_derivative():
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        first = autograd.grad(nd.Custom(x, op_type='t_square'), x, create_graph=True)[0]
        z = first * x
    with pytest.raises(mx.MXNetError, match='has no second derivative'):
        z.backward()


def test_in_numpy_mode_arrays_are_those_of_mx_np():
    seen = []

    class Look(Square):
        def forward(self, is_train, req, in_data, out_data, aux):
            seen.append(type(in_data[0]))
            super().forward(is_train, req, in_data, out_data, aux)

    with mx.util.np_array(True):
        register('t_np', Look)
    nd.Custom(nd.ones((2,)), op_type='t_np')
    assert seen == [mx.np.ndarray]


# ---------------------------------------------------------------------- in graphs
def test_symbol():
    symbol = sym.Custom(a=sym.var('x'), op_type='t_scaled', scale=3, name='s')
    assert symbol.list_arguments() == ['x', 's_b']
    assert symbol.list_auxiliary_states() == ['s_calls']
    assert symbol.list_outputs() == ['s_product', 's_sum']
    assert symbol.infer_shape(s_b=(4, 2)) == ([(4, 2), (4, 2)], [(4, 2), (4, 2)], [(1,)])
    again = mx.sym.load_json(symbol.tojson())
    assert again.list_outputs() == symbol.list_outputs() and again.tojson() == symbol.tojson()


def test_executor_trains_and_keeps_the_operator():
    made = []

    def create(self, ctx, shapes, dtypes):
        made.append(Square())
        return made[-1]

    register('t_kept', Square, create_operator=create)
    x = nd.array([1.0, 2.0])
    executor = (sym.Custom(sym.var('x'), op_type='t_kept') * 3).bind(mx.cpu(1), {'x': x.as_in_context(mx.cpu(1))},
                                                                    {'x': nd.zeros((2,), mx.cpu(1))})
    for _ in range(4):
        executor.forward(is_train=True)
        executor.backward(nd.ones((2,)))
        assert executor.outputs[0].asnumpy().tolist() == [3, 12]
        assert executor.grad_dict['x'].asnumpy().tolist() == [6, 12]
    assert len(made) == 1


def test_executor_with_states():
    symbol = sym.Custom(sym.var('a'), sym.var('b'), sym.var('calls'), op_type='t_scaled')
    executor = symbol.simple_bind(mx.cpu(), a=(2,), b=(2,))
    for _ in range(3):
        executor.forward(is_train=True, a=nd.array([1, 2]), b=nd.array([3, 4]))
        executor.backward([nd.ones((2,)), nd.zeros((2,))])
    assert executor.grad_dict['a'].asnumpy().tolist() == [3, 4]
    assert executor.aux_dict['calls'].asscalar() == 33


def test_gradients_by_differences():
    x = sym.var('x')
    check_numeric_gradient(sym.Custom(x * 2, op_type='t_square') + x, [np.random.uniform(0.5, 1, size=(2, 3))],
                           numeric_eps=1e-3, rtol=1e-2)


def test_hybridized():
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.Custom(x * 2, op_type='t_square') + 1

    net, x = Net(), nd.array([1, 2])
    x.attach_grad()
    for hybridize in (False, True):
        if hybridize:
            net.hybridize()
        for _ in range(3):
            with autograd.record():
                y = net(x)
            y.backward()
            assert y.asnumpy().tolist() == [5, 17] and x.grad.asnumpy().tolist() == [8, 16]


# ---------------------------------------------------------------------- mistakes
def fail(*args, **kwargs):
    raise ZeroDivisionError('as asked')


@pytest.mark.parametrize('where', ['forward', 'backward', 'create_operator', 'infer_shape', 'infer_type',
                                   'list_arguments'])
def test_an_error_inside_shows_the_line_of_the_program(where):
    operator = type('Bad', (Square,), {where: fail} if where in ('forward', 'backward') else {})
    register('t_bad', operator, **({} if where in ('forward', 'backward') else {where: fail}))
    x = nd.ones((2,))
    x.attach_grad()
    with pytest.raises(mx.MXNetError, match=rf"custom operator 't_bad': \w+\.{where} raised ZeroDivisionError: as "
                                            r"asked in .*test_custom_operator.py, line \d+, in fail") as caught:
        with autograd.record():
            y = nd.Custom(x, op_type='t_bad')
        y.backward()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_error_in_a_graph_names_the_node():
    register('t_bad', type('Bad', (Square,), {'forward': fail}))
    executor = sym.Custom(sym.var('x'), op_type='t_bad', name='mine').bind(mx.cpu(), {'x': nd.ones((2,))})
    with pytest.raises(mx.MXNetError, match="node mine: custom operator 't_bad': Bad.forward raised ZeroDivisionError"):
        executor.forward()
    register('t_bad', Square, infer_shape=fail)
    with pytest.raises(mx.MXNetError, match='infer_shape raised ZeroDivisionError: as asked'):
        sym.Custom(sym.var('x'), op_type='t_bad').infer_shape(x=(2,))


@pytest.mark.parametrize('call, message', [
    (lambda x: nd.Custom(x, op_type='t_sqare'), "op_type='t_sqare' is not registered .* did you mean 't_square'"),
    (lambda x: nd.Custom(x, op_type='t_square', power=3), 'unexpected keyword argument'),
    (lambda x: nd.Custom(x), 'required argument op_type is missing'),
    (lambda x: nd.Custom(x, x, op_type='t_square'), r'takes 1 inputs \(data\) and 0 states \(\); 2 arrays were given'),
    (lambda x: nd.Custom(x, nd.ones((3,)), nd.zeros((1,)), op_type='t_scaled'),
     r"b has shape \(3,\), but its infer_shape requires \(2,\)"),
    (lambda x: nd.Custom(x, other=x, op_type='t_square'), 'unknown argument other'),
])
def test_mistakes_in_a_call(call, message):
    with pytest.raises(mx.MXNetError, match=message):
        call(nd.ones((2,)))


def test_infer_shape_must_count():
    register('t_count', Square, infer_shape=lambda self, shapes: (shapes, [], []))
    with pytest.raises(mx.MXNetError, match='infer_shape must return lists for 1 inputs, 1 outputs and 0 states'):
        nd.Custom(nd.ones((2,)), op_type='t_count')


def test_registering_again_replaces():
    register('t_again', Square)
    register('t_again', type('Plain', (mx.operator.CustomOp,), {}))
    assert nd.Custom(nd.array([3]), op_type='t_again').asscalar() == 0


# ---------------------------------------------------------------------- threads, processes, memory
def test_threads_do_not_wait_for_each_other():
    """Two calls that need each other to go on: with one worker for all custom operators they would stand still."""
    meeting, seen = threading.Barrier(2, timeout=30), []

    class Meet(Square):
        def forward(self, *args, **kwargs):
            meeting.wait()
            super().forward(*args, **kwargs)

    register('t_meet', Meet)

    def work(number):
        x = nd.array([number])
        x.attach_grad()
        with autograd.record():
            y = nd.Custom(x, op_type='t_meet')
        y.backward()
        seen.append((number, x.grad.asscalar()))

    threads = [threading.Thread(target=work, args=(n,)) for n in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(seen) == [(2, 4), (3, 6)]


def in_a_worker(queue):
    queue.put(nd.Custom(nd.array([3]), op_type='t_square').asscalar())


def test_after_a_fork():
    nd.Custom(nd.array([3]), op_type='t_square')
    fork = multiprocessing.get_context('fork')
    queue = fork.SimpleQueue()
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DeprecationWarning)     # Python 3.12 warns of a fork with threads
        worker = fork.Process(target=in_a_worker, args=(queue,))
        worker.start()
    worker.join(60)
    assert worker.exitcode == 0 and queue.get() == 9


def squared(x, y):
    return nd.Custom(x, op_type='t_square'), y


@pytest.mark.parametrize('how', [{'num_workers': 2}, {'num_workers': 2, 'thread_pool': True}],
                         ids=['processes', 'threads'])
def test_in_workers_of_a_data_loader(how):
    nd.Custom(nd.array([3]), op_type='t_square')
    data = mx.gluon.data.ArrayDataset(nd.arange(12).reshape((6, 2)), nd.arange(6)).transform(squared)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', DeprecationWarning)
        batches = [x.asnumpy() for x, _ in mx.gluon.data.DataLoader(data, batch_size=2, **how)]
    assert np.concatenate(batches).reshape(-1).tolist() == [i * i for i in range(12)]


def test_as_part_of_a_recorded_symbol():
    a, b, calls = nd.array([1, 2]), nd.array([3, 4]), nd.zeros((1,))
    a.attach_grad()
    with autograd.record():
        product, total = nd.Custom(a, b, calls, op_type='t_scaled', scale=5)
        y = product - total
    symbol = autograd.get_symbol(y)
    assert symbol.list_arguments() == ['var0', 'null0'] and symbol.list_auxiliary_states() == ['null1']
    executor = symbol.bind(mx.cpu(), {'var0': a, 'null0': b}, aux_states={'null1': calls})
    assert executor.forward()[0].asnumpy().tolist() == y.asnumpy().tolist() == [11, 34]


def test_calls_hold_no_memory():
    class Keeps(Square):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.kept = in_data, out_data
            super().forward(is_train, req, in_data, out_data, aux)

    register('t_keeps', Keeps)
    x = nd.ones((4,))
    x.attach_grad()

    def step():
        with autograd.record():
            y = nd.Custom(x, op_type='t_keeps')
        y.backward()

    step()
    gc.collect()
    gc.disable()
    try:
        before = sum(issubclass(type(o), torch.Tensor) for o in gc.get_objects())
        for _ in range(100):
            step()
        assert sum(issubclass(type(o), torch.Tensor) for o in gc.get_objects()) == before
    finally:
        gc.enable()


# ---------------------------------------------------------------------- the old forms
class OldSoftmax(mx.operator.NumpyOp):
    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ['data', 'label']

    def infer_shape(self, in_shape):
        return [in_shape[0], (in_shape[0][0],)], [in_shape[0]]

    def forward(self, in_data, out_data):
        e = np.exp(in_data[0] - in_data[0].max(axis=1, keepdims=True))
        out_data[0][:] = e / e.sum(axis=1, keepdims=True)

    def backward(self, out_grad, in_data, out_data, in_grad):
        in_grad[0][:] = out_data[0]
        in_grad[0][np.arange(len(in_data[1])), in_data[1].astype(int)] -= 1


def test_numpy_op():
    with pytest.warns(DeprecationWarning, match='OldSoftmax is an old form'):
        softmax = OldSoftmax()
    symbol = softmax(data=sym.var('x'), name='softmax')
    assert symbol.list_arguments() == ['x', 'softmax_label'] and symbol.list_outputs() == ['softmax_output']
    executor = symbol.simple_bind(mx.cpu(), x=(2, 3))
    executor.forward(is_train=True, x=nd.zeros((2, 3)), softmax_label=nd.array([0, 2]))
    executor.backward()
    third = 1 / 3
    expected = [[third - 1, third, third], [third, third, third - 1]]
    np.testing.assert_allclose(executor.grad_dict['x'].asnumpy(), expected, rtol=1e-6)


def test_ndarray_op():
    class Twice(mx.operator.NDArrayOp):
        def forward(self, in_data, out_data):
            assert isinstance(in_data[0], nd.NDArray)
            out_data[0][:] = in_data[0] * 2

        def backward(self, out_grad, in_data, out_data, in_grad):
            in_grad[0][:] = out_grad[0] * 2

    with pytest.warns(DeprecationWarning):
        twice = Twice()
    assert twice.declare_backward_dependency([0], [1], [2]) == [0, 1, 2]
    executor = twice.get_symbol(sym.var('x')).bind(mx.cpu(), {'x': nd.array([3])}, {'x': nd.zeros((1,))})
    executor.forward(is_train=True)
    executor.backward(nd.array([5]))
    assert executor.outputs[0].asscalar() == 6 and executor.grad_dict['x'].asscalar() == 10


def test_the_base_of_the_old_forms():
    with pytest.warns(DeprecationWarning):
        op = mx.operator.PythonOp()
    with pytest.raises(NotImplementedError, match='has no get_symbol'):
        op.get_symbol()
    assert op.need_top_grad() and op.infer_shape([(2,)]) == ([(2,)], [(2,)])


# ---------------------------------------------------------------------- what there is
def test_looking_into_the_table():
    names = mx.operator.get_all_registered_operators()
    assert {'Custom', 'Convolution', 'elemwise_add', '_plus'} <= set(names)
    found = mx.operator.get_operator_arguments('Concat')
    assert found.names == ['data', 'num_args', 'dim'] and found.narg == 3
    assert found.types[0] == 'NDArray-or-Symbol[]'
    with pytest.raises(mx.MXNetError, match='there is no operator Foo'):
        mx.operator.get_operator_arguments('Foo')


def test_what_a_prop_is_by_default():
    prop = mx.operator.CustomOpProp(need_top_grad=False)
    assert prop.infer_storage_type(['csr']) == (['csr'], ['default'], [])
    assert prop.infer_storage_type_backward(['csr'], ['csr'], [], [], []) == (['default'], ['default'], [], [], [])
    assert prop.declare_backward_dependency([0], [1], [2]) == [1, 2]
    assert nd.Custom(nd.array([3]), op_type='custom_op').asscalar() == 0


class Filled(autograd.Function):
    """x * x, stored into an array that exists before."""

    def forward(self, x):
        self.x, self.out = x, nd.zeros(x.shape)
        self.out[:] = x * x
        return self.out

    def backward(self, gradient):
        return gradient * 2 * self.x


class Twice(mx.gluon.HybridBlock):
    def __init__(self, custom):
        super().__init__()
        self.custom = custom

    def hybrid_forward(self, F, x):
        out = F.Custom(x, op_type='t_square') if self.custom else Filled()(x)
        return (out * out * x).sum()


@pytest.mark.parametrize('hybridized', [False, True])
@pytest.mark.parametrize('custom', [False, True])
def test_losses_through_several_calls_go_back_one_after_the_other(custom, hybridized):
    # the loop of every program with several devices; 1.9.1: 5 x ** 4
    net = Twice(custom)
    if custom:
        net.hybridize(hybridized)
    for _ in range(3):
        inputs = [nd.array([1., 2]) * (i + 1) for i in range(3)]
        for x in inputs:
            x.attach_grad()
        losses = []
        for x in inputs:
            with autograd.record():
                losses.append(net(x))
        for loss in losses:
            loss.backward()
        for x in inputs:
            np.testing.assert_allclose(x.grad.asnumpy(), 5 * x.asnumpy() ** 4)
