"""Hybridized calls that wait for `backward` (_lazy/step.py): nobody can tell, but for the time."""
import pickle
import sys
import threading

import numpy
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._lazy import step as _steps

ROUNDS = 6


def waits(array):
    return array._pending is not None


def network(dropout=False, norm=False):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(8, activation='relu', in_units=5))
    if norm:
        net.add(gluon.nn.BatchNorm(in_channels=8))
    if dropout:
        net.add(gluon.nn.Dropout(0.5))
    net.add(gluon.nn.Dense(3, in_units=8))
    return net


def train(hybridize, step, rounds=ROUNDS, grad_req='write', **parts):
    """Parameters, and what `step(net, loss, x, y)` gives, after some rounds of training."""
    mx.random.seed(3)
    numpy.random.seed(3)
    net = network(**parts)
    net.initialize(mx.init.Xavier())
    net.collect_params().setattr('grad_req', grad_req)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9})
    seen = []
    for _ in range(rounds):
        x, y = nd.random.normal(shape=(4, 5)), nd.array([0, 1, 2, 1])
        seen.append(step(net, loss, x, y))
        trainer.step(4)
        if grad_req == 'add':
            net.collect_params().zero_grad()
    return [p.data().asnumpy() for p in net.collect_params().values()], seen


def assert_same(step, rtol=0, **parts):
    (a, seen), (b, seen_too) = train(True, step, **parts), train(False, step, **parts)
    for one, other in zip((*a, *seen), (*b, *seen_too), strict=True):
        numpy.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)


def plain(net, loss, x, y):
    with autograd.record():
        value = loss(net(x), y)
    value.backward()
    return value.asnumpy()


@pytest.mark.parametrize('parts', [{}, {'dropout': True}, {'norm': True}, {'dropout': True, 'norm': True}])
def test_a_step_gives_the_same_bits(parts):
    assert_same(plain, **parts)


def test_the_calls_do_wait_and_run_as_one_plan():
    seen = []

    def step(net, loss, x, y):
        with autograd.record():
            out = net(x)
            value = loss(out, y)
        seen.append((waits(out), waits(value), waits(x)))
        value.backward()
        seen.append((waits(out), waits(value), waits(x)))
        return out.asnumpy()

    train(True, step)
    assert seen[0] == (False, False, False)             # the first time, mistakes are found where they are made
    assert seen[-2] == (True, True, False)              # arrays that are read stay as they are
    assert seen[-1] == (False, False, False)


def test_gradients_are_added():
    def step(net, loss, x, y):
        for _ in range(2):
            plain(net, loss, x, y)
        return next(iter(net.collect_params().values())).grad().asnumpy()
    assert_same(step, grad_req='add')


def test_looking_early():
    def step(net, loss, x, y):
        with autograd.record():
            out = net(x)
            seen = out.asnumpy()
            value = loss(out, y)
        value.backward()
        return seen
    assert_same(step)


def test_who_always_looks_early_waits_no_more():
    net = network()
    net.initialize()
    net.hybridize()
    x = nd.ones((2, 5))
    for _ in range(_steps.BUDGET + 3):
        with autograd.record():
            out = net(x)
            waited = waits(out)
            out.wait_to_read()
    assert not waited


def test_shapes_and_types_of_waiting_arrays():
    net = network()
    net.initialize()
    net.hybridize()
    for _ in range(3):
        with autograd.record():
            out = net(nd.ones((2, 5)))
        assert isinstance(out, nd.NDArray) and type(out).__name__ == 'NDArray'
        assert out.context == mx.cpu()
        assert out.shape == (2, 3) and out.dtype == numpy.float32


def test_shapes_and_types_can_be_told_without_computing():
    net, loss_of = network(), gluon.loss.SoftmaxCrossEntropyLoss()
    net.initialize()
    net.hybridize()
    for number in range(15):
        size = 2 if number % 3 else 4
        x, y = nd.ones((size, 5)), nd.zeros(size, dtype='int32')
        with autograd.record():
            out = net(x)
            known = out.shape, out.ndim, out.size, len(out), out.dtype
            loss = loss_of(out, y)
        assert known == ((size, 3), 2, size * 3, size, numpy.float32)
        assert x.shape == (size, 5) and len(y) == size and y.dtype == numpy.int32
        weight = net[0].weight.data()
        assert weight.shape == (8, 5) and weight.size == 40
        assert loss.shape == (size,) and loss.dtype == numpy.float32
        if number > 11:         # each of the two sizes has been seen often enough
            assert waits(out) and waits(loss) and not waits(x) and not waits(y) and not waits(weight)
        loss.backward()
        assert out.shape == (size, 3) and loss.shape == (size,)


def test_shapes_that_depend_on_values_are_computed():
    class Some(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.weight = self.params.get('weight', shape=(3,), init='ones')

        def hybrid_forward(self, F, x, index, weight):
            return F.contrib.boolean_mask(F.broadcast_mul(x, weight), index)

    net = Some()
    net.initialize()
    net.hybridize()
    for number in range(8):
        index = nd.array([1, 1, number % 2, 0])
        with autograd.record():
            out = net(nd.ones((4, 3)), index)
            assert out.shape == (2 + number % 2, 3)
        out.backward()
        assert (net.weight.grad().asnumpy() == 2 + number % 2).all()


def test_writing_into_what_is_read():
    """The values of the call count, not those of the time when it is run."""
    def step(net, loss, x, y):
        with autograd.record():
            out = net(x)
        x[:] = 0
        return out.asnumpy()
    results = []
    for hybridize in (True, False):
        mx.random.seed(1)
        net = network()
        net.initialize(mx.init.Xavier())
        if hybridize:
            net.hybridize()
        results.append([step(net, None, nd.ones((2, 5)), None) for _ in range(3)])
    numpy.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize('write', [lambda data: data.__setitem__(slice(None), 2), lambda data: data.__imul__(2),
                                   lambda data: nd.ones((4, 5)).copyto(data),
                                   lambda data: nd.broadcast_add(data, nd.ones((1, 5)), out=data)])
def test_writing_through_a_view_runs_the_step_first(write):
    """The values of the call count; `backward` needs the data for the gradient of the weight, and says so."""
    net = network()
    net.initialize()
    net.hybridize()
    data = nd.array(numpy.random.RandomState(0).rand(4, 5))
    expected = net(data[0:2]).asnumpy()
    for _ in range(3):
        with autograd.record():
            out = net(data[0:2])
        if waits(out):
            write(data)
            assert not waits(out)
            numpy.testing.assert_array_equal(out.asnumpy(), expected)
            with pytest.raises(mx.MXNetError, match='written in place'):
                out.backward()
            break
        out.backward()
    else:
        raise AssertionError('never waited')


def test_writing_by_other_means_is_found_out():
    net = network()
    net.initialize()
    net.hybridize()
    data = nd.ones((2, 5))
    for _ in range(3):
        with autograd.record():
            out = net(data)
        if waits(out):
            data.to_torch()[:] = 2
            with pytest.raises(mx.MXNetError, match='written in place'):
                out.backward()
            with pytest.raises(mx.MXNetError, match='written in place'):
                out.asnumpy()
            break
        out.backward()
    else:
        raise AssertionError('never waited')


def test_parameters_that_are_set_in_between():
    net = network()
    net.initialize()
    x = nd.ones((2, 5))
    expected = net(x).asnumpy()
    values = {name: p.data().copy() for name, p in net.collect_params().items()}
    net.hybridize()
    waited = []
    for _ in range(3):
        with autograd.record():
            out = net(x)
        waited.append(waits(out))
        for p in net.collect_params().values():
            p.set_data(p.data() + 1)
        numpy.testing.assert_array_equal(out.asnumpy(), expected)
        for name, p in net.collect_params().items():
            p.set_data(values[name])
    assert waited[-1]


def test_averages_are_there_without_backward():
    averages = []
    for hybridize in (True, False):
        mx.random.seed(2)
        net = network(norm=True)
        net.initialize(mx.init.Xavier())
        if hybridize:
            net.hybridize()
        for _ in range(4):
            with autograd.record():
                net(nd.random.normal(shape=(6, 5)))
        averages.append(net[1].running_mean.data().asnumpy())
    numpy.testing.assert_array_equal(*averages)


def test_prediction_in_between_sees_new_averages():
    def step(net, loss, x, y):
        with autograd.record():
            value = loss(net(x), y)
        between = net(x).asnumpy()
        value.backward()
        return between
    assert_same(step, norm=True)


def test_random_numbers_are_drawn_in_order():
    def step(net, loss, x, y):
        with autograd.record():
            value = loss(net(x), y)
        between = nd.random.uniform(shape=(3,)).asnumpy()
        value.backward()
        return between
    assert_same(step, dropout=True)


def test_a_network_that_is_used_twice():
    def step(net, loss, x, y):
        with autograd.record():
            first, second = net(x), net(x * 2)
            value = loss(first, y)
            other = loss(second, y)
        autograd.backward([value, other])
        return (value + other).asnumpy()
    assert_same(step)
    assert_same(step, norm=True)


def test_two_heads_of_one_network_differentiated_one_by_one():
    def step(net, loss, x, y):
        with autograd.record():
            out = net(x)
            one, other = loss(out, y), loss(out, y * 0)
        one.backward(retain_graph=True)
        other.backward()
        return one.asnumpy()
    assert_same(step)


def test_a_second_backward_is_refused():
    def step(net, loss, x, y):
        with autograd.record():
            value = loss(net(x), y)
        value.backward()
        with pytest.raises(mx.MXNetError, match='second time'):
            value.backward()
        return value.asnumpy()
    assert_same(step)


def test_gradients_of_the_data_and_head_gradients():
    def step(net, loss, x, y):
        x.attach_grad()
        with autograd.record():
            value = loss(net(x), y)
        value.backward()
        first = x.grad.asnumpy()
        with autograd.record():
            value = loss(net(x), y)
        value.backward(nd.array([1, 2, 3, 4]))
        return numpy.stack([first, x.grad.asnumpy()])
    assert_same(step)


def test_a_plain_function_between_blocks():
    def step(net, loss, x, y):
        with autograd.record():
            value = loss(net(x * 2) ** 2, y).mean()
        value.backward()
        return value.asnumpy()
    assert_same(step)


def test_several_contexts():
    def step(contexts, hybridize):
        mx.random.seed(5)
        net = network(norm=True)
        net.initialize(mx.init.Xavier(), ctx=contexts)
        if hybridize:
            net.hybridize()
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
        for _ in range(ROUNDS):
            x = gluon.utils.split_and_load(nd.random.normal(shape=(8, 5)), contexts)
            y = gluon.utils.split_and_load(nd.array([0, 1, 2, 1, 0, 2, 2, 1]), contexts)
            with autograd.record():
                losses = [loss(net(a), b) for a, b in zip(x, y, strict=True)]
            for value in losses:
                value.backward()
            trainer.step(8)
        return net[0].weight.data(contexts[0]).asnumpy()
    contexts = [mx.cpu(0), mx.cpu(1)]
    numpy.testing.assert_array_equal(step(contexts, True), step(contexts, False))


def test_looked_at_by_another_thread():
    net = network()
    net.initialize()
    net.hybridize()
    expected = net(nd.ones((2, 5))).asnumpy()
    for _ in range(3):
        with autograd.record():
            out = net(nd.ones((2, 5)))
        seen = []
        reader = threading.Thread(target=lambda out=out, seen=seen: seen.append(out.asnumpy()))
        reader.start()
        reader.join()
        numpy.testing.assert_array_equal(seen[0], expected)


def test_second_derivatives():
    net = network()
    net.initialize(mx.init.Xavier())
    x = nd.ones((2, 5))
    found = []
    for hybridize in (False, True):
        net.hybridize(hybridize)
        for _ in range(3):
            x.attach_grad()
            with autograd.record():
                first = autograd.grad((net(x) ** 3).sum(), x, create_graph=True)[0]
                total = (first ** 2).sum()
            total.backward()
        found.append(x.grad.asnumpy())
    numpy.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def test_shapes_that_change():
    def step(net, loss, x, y):
        for rows in (4, 3, 2):
            plain(net, loss, x[:rows], y[:rows])
        return plain(net, loss, x[:1], y[:1])
    assert_same(step)


def test_one_array_for_two_inputs():
    class Sum(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense = gluon.nn.Dense(3, in_units=5)

        def hybrid_forward(self, F, one, other):
            return self.dense(one) * self.dense(other)

    found = []
    for hybridize in (True, False):
        mx.random.seed(2)
        net = Sum()
        net.initialize()
        if hybridize:
            net.hybridize()
        for _ in range(4):
            x = nd.ones((2, 5))
            with autograd.record():
                out = net(x, x)
            out.backward()
        found.append(net.dense.weight.grad().asnumpy())
    numpy.testing.assert_array_equal(*found)


def test_parameters_are_used_elsewhere_meanwhile():
    """While a parameter's tensor is put aside, recorded operators read its alias."""
    def step(net, loss, x, y):
        with autograd.record():
            value = loss(net(x), y)
            weight = net[0].weight.data()
            penalty = (weight * weight).sum() + weight.reshape((-1,))[2] + (weight + 1).mean() + weight[1].sum()
        autograd.backward([value, penalty])
        assert type(penalty) is nd.NDArray
        return net[0].weight.grad().asnumpy()
    assert_same(step, rtol=1e-5)         # the parts of a gradient are added in another order


def test_waiting_arrays_are_pickled():
    def step(net, loss, x, y):
        with autograd.record():
            out = net(x)
        return pickle.loads(pickle.dumps([out, x, net[0].weight.data()]))[0].asnumpy()
    for _ in range(2):
        found = []
        for hybridize in (True, False):
            mx.random.seed(7)
            net = network()
            net.initialize()
            if hybridize:
                net.hybridize()
            found.append([step(net, None, nd.ones((2, 5)), None) for _ in range(3)])
        numpy.testing.assert_array_equal(*found)


def test_functions_of_waiting_arrays():
    class Twice(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            return dy * 2

    def step(net, loss, x, y):
        with autograd.record():
            value = loss(Twice()(net(x)), y)
        value.backward()
        assert type(value) is nd.NDArray
        return value.asnumpy()
    assert_same(step)


def test_np_arrays():
    found = []
    for hybridize in (True, False):
        with mx.util.np_array(True), mx.util.np_shape(True):
            mx.random.seed(3)
            net = network()
            net.initialize(mx.init.Xavier())
            if hybridize:
                net.hybridize()
            loss = gluon.loss.SoftmaxCrossEntropyLoss()
            trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
            for _ in range(4):
                with autograd.record():
                    value = loss(net(mx.np.ones((2, 5))), mx.np.array([0, 1]))
                value.backward()
                trainer.step(2)
            assert type(value) is mx.np.ndarray
            found.append(value.asnumpy())
    numpy.testing.assert_array_equal(*found)


@pytest.mark.parametrize('ctx', [mx.cpu(), pytest.param(mx.gpu(), marks=pytest.mark.gpu)], ids=str)
def test_one_network_in_two_threads(ctx):
    """Each thread has the losses, and the gradients of its inputs, that belong to its own calls."""
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(16, activation='relu', in_units=8), gluon.nn.Dense(3, in_units=16))
    net.initialize(mx.init.Xavier(), ctx=ctx)
    loss_of, label = gluon.loss.SoftmaxCrossEntropyLoss(), nd.array([0, 1, 2, 0], ctx=ctx)
    batches = [nd.random.uniform(shape=(4, 8), ctx=ctx) for _ in range(8)]

    def run(x):
        with autograd.record():
            loss = loss_of(net(x), label)
        loss.backward()
        return loss.asnumpy(), None if x.grad is None else x.grad.asnumpy()

    expected = []
    for x in batches:
        x.attach_grad()
        expected.append(run(x))
    plain = [nd.array(x.asnumpy(), ctx=ctx) for x in batches]
    net.hybridize(static_alloc=True, static_shape=True)
    wrong, begin = [], threading.Barrier(2)

    def work(mine, learns):
        try:
            if ctx.device_type == 'gpu':
                nd.waitall()            # torch warns if a thread begins with a product of matrices
            begin.wait()
            for _ in range(40):
                for i in mine:
                    loss, gradient = run((batches if learns else plain)[i])
                    numpy.testing.assert_allclose(loss, expected[i][0], rtol=1e-3, atol=1e-5)
                    if learns:
                        numpy.testing.assert_allclose(gradient, expected[i][1], rtol=1e-3, atol=1e-5)
        except BaseException as error:
            wrong.append(error)

    for learns in (False, True):
        threads = [threading.Thread(target=work, args=(range(k, 8, 2), learns)) for k in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong, wrong[0]


def test_backward_of_plain_blocks_in_several_threads():
    """A pass takes only its own gradients: torch adds up those of all threads in the leaf."""
    weight = nd.ones((64,))
    weight.attach_grad()
    wrong, begin, interval = [], threading.Barrier(4), sys.getswitchinterval()

    def work(factor):
        try:
            begin.wait()
            for _ in range(300):
                with autograd.record():
                    value = (weight * factor).sum()
                value.backward()
                found = set(weight.grad.asnumpy().tolist())
                assert found <= {1.0, 2.0, 3.0, 4.0}, found
        except BaseException as error:
            wrong.append(error)

    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(factor,)) for factor in (1, 2, 3, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong, wrong[0]
