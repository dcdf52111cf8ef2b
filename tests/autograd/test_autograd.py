"""MXNet's contract of gradients: what is recorded, where gradients go, what is an error and says so."""
import threading

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd
from mxnet._torch import autograd as backward


def variable(*values, req='write', dtype='float32'):
    x = nd.array(values, dtype=dtype)
    x.attach_grad(req)
    return x


# ---------------------------------------------------------------------- switches
def test_recording_and_training_are_separate_switches():
    def both():
        return autograd.is_recording(), autograd.is_training()

    assert both() == (False, False)
    with autograd.record():
        assert both() == (True, True)
        with autograd.predict_mode():
            assert both() == (True, False)
        with autograd.pause():
            assert both() == (False, False)
            with autograd.train_mode():
                assert both() == (False, True)
        with autograd.pause(train_mode=True):
            assert both() == (False, True)
        assert both() == (True, True)
    with autograd.record(train_mode=False):
        assert both() == (True, False)
    assert both() == (False, False)


def test_setters_return_what_was_before():
    assert autograd.set_recording(True) is False
    assert autograd.set_recording(False) is True
    assert autograd.set_training(True) is False
    assert autograd.set_training(False) is True


def test_a_scope_ends_with_an_error_and_can_be_used_again_inside_itself():
    scope = autograd.record()
    with pytest.raises(KeyError), scope:
        raise KeyError
    assert not autograd.is_recording()
    with scope:
        with autograd.pause():
            with scope:
                assert autograd.is_recording()
            assert not autograd.is_recording()
        assert autograd.is_recording()
    assert not autograd.is_recording()


def test_a_scope_decorates():
    @autograd.record()
    def square(x):
        return x * x

    x = variable(3)
    square(x).backward()
    assert x.grad.asscalar() == 6 and not autograd.is_recording()


def test_switches_belong_to_a_thread():
    seen = []
    with autograd.record():
        thread = threading.Thread(target=lambda: seen.append((autograd.is_recording(), autograd.is_training())))
        thread.start()
        thread.join()
    assert seen == [(False, False)]


def test_threads_differentiate_at_the_same_time():
    results, start = {}, threading.Barrier(4)

    def work(number):
        start.wait()
        x = variable(number)
        for _ in range(50):
            with autograd.record():
                y = x * x * number
            y.backward()
        results[number] = x.grad.asscalar()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: 2 * n * n for n in range(4)}


def test_dropout_follows_train_mode_not_recording():
    x = nd.ones((20, 20))
    with autograd.record(train_mode=False):
        assert (nd.Dropout(x, p=0.5) == x).asnumpy().all()
    with autograd.train_mode():
        assert (nd.Dropout(x, p=0.5) == 0).asnumpy().any()


# ---------------------------------------------------------------------- torch beside us
def test_torch_sees_nothing_of_it():
    x = variable(1, 2)
    with torch.no_grad():
        with autograd.record():
            y = x * 2
        assert not torch.is_grad_enabled()
        y.backward()
    assert x.grad.asnumpy().tolist() == [2, 2]
    assert torch.is_grad_enabled()
    assert not x.to_torch().requires_grad


def test_nothing_is_recorded_outside():
    x = variable(1, 2)
    y = x * x
    assert y.materialize().grad_fn is None
    with autograd.record():
        z = x * x
        with autograd.pause():
            w = z * x
    assert w.materialize().grad_fn is None
    assert (z * 2).materialize().grad_fn is None
    with pytest.raises(mx.MXNetError, match='was not computed from an array with a gradient'):
        y.backward()


@pytest.mark.parametrize('accumulate', [True, False])
def test_the_checked_engine_computes_the_same(monkeypatch, accumulate):
    """What stands in where torch has no `run_backward` any more."""
    found = []
    for engine in (backward.unchecked, backward.checked):
        monkeypatch.setattr('mxnet._autograd.tape.run_backward', engine)
        x = variable(1, 2, 3)
        with autograd.record():
            y = (x * x).sum()
        if accumulate:
            y.backward()
            found.append(x.grad)
        else:
            found += autograd.grad(y, x)
    assert found[0].asnumpy().tolist() == found[1].asnumpy().tolist() == [2, 4, 6]


# ---------------------------------------------------------------------- where gradients go
def test_the_gradient_stays_one_object():
    x = variable(1, 2)
    gradient, memory = x.grad, x.grad.materialize().data_ptr()
    for _ in range(2):
        with autograd.record():
            y = x * 3
        y.backward()
    assert x.grad is gradient and gradient.materialize().data_ptr() == memory
    assert gradient.asnumpy().tolist() == [3, 3]


@pytest.mark.parametrize('req, expected', [('write', 2), ('add', 8), ('null', 0)])
def test_grad_req(req, expected):
    x, other = variable(1, req=req), variable(5)
    for _ in range(4):
        with autograd.record():
            y = x * 2 + other
        y.backward()
    assert x.grad.asscalar() == expected


def test_several_uses_add_up_within_one_backward():
    x = variable(3)
    with autograd.record():
        y = x * x + x * 4 + x
    y.backward()
    assert x.grad.asscalar() == 11


def test_mark_variables():
    x, y = nd.array([1, 2]), nd.array([3, 4])
    dx, dy = nd.zeros((2,)), nd.ones((2,)) * 10
    autograd.mark_variables([x, y], [dx, dy], ['write', 'add'])
    with autograd.record():
        z = x * y
    z.backward()
    assert dx.asnumpy().tolist() == [3, 4] and dy.asnumpy().tolist() == [11, 12]
    autograd.mark_variables(x, dy)
    assert x.grad is dy


@pytest.mark.parametrize('gradients, reqs, message', [
    ([nd.zeros((2,))], 'bad', "grad_req must be 'write', 'add' or 'null', not 'bad'"),
    ([nd.zeros((3,))], 'write', r'has shape \(2,\), but its gradient \(3,\)'),
    ([], 'write', '1 variables, 0 gradients'),
])
def test_mark_variables_checks(gradients, reqs, message):
    with pytest.raises(mx.MXNetError, match=message):
        autograd.mark_variables([nd.zeros((2,))], gradients, reqs)


def test_attaching_cuts_history():
    x = variable(3)
    with autograd.record():
        y = x * 2
        y.attach_grad()
        z = y * x
    z.backward()
    assert y.grad.asscalar() == 3 and x.grad.asscalar() == 6


def test_fresh_says_whether_a_gradient_came():
    x, y = variable(1), variable(2)
    assert not x._fresh_grad
    with autograd.record():
        z = x * 2
    z.backward()
    assert x._fresh_grad and not y._fresh_grad
    x._fresh_grad = False
    assert not x._fresh_grad


def test_a_gradient_that_never_comes_is_zero():
    x = variable(1, 2)
    x.grad[:] = 7
    with autograd.record():
        y = (x > 1) * 3
    y.backward()
    assert x.grad.asnumpy().tolist() == [0, 0]


@pytest.mark.parametrize('stype', ['row_sparse', 'csr'])
@pytest.mark.parametrize('req, expected', [('write', 2), ('add', 4)])
def test_sparse_gradients(stype, req, expected):
    x = nd.ones((3, 2))
    x.attach_grad(req, stype=stype)
    gradient = x.grad
    for _ in range(2):
        with autograd.record():
            y = x * 2
        y.backward()
    assert x.grad is gradient and gradient.stype == stype
    assert (gradient.asnumpy() == expected).all()


# ---------------------------------------------------------------------- heads
def test_heads_and_their_gradients():
    x = variable(1, 2)
    with autograd.record():
        y, z, constant = x * 2, x * 3, nd.ones((2,))
    with pytest.raises(mx.MXNetError, match='cannot differentiate'):
        autograd.backward([y, z, constant], [nd.array([1, 10]), None, None])
    autograd.backward([y, z], [nd.array([1, 10]), None])
    assert x.grad.asnumpy().tolist() == [5, 23]


def test_a_variable_can_be_a_head():
    x = variable(1, 2)
    x.backward(nd.array([3, 4]))
    assert x.grad.asnumpy().tolist() == [3, 4]


def test_head_gradients_take_the_dtype_of_the_head():
    x = variable(1, dtype='float16')
    with autograd.record():
        y = x * 2
    y.backward(nd.array([3]))
    assert x.grad.asscalar() == 6 and x.grad.dtype == np.float16


@pytest.mark.parametrize('mode', [None, {}, {'static_alloc': True, 'static_shape': True}])
def test_head_gradients_of_another_shape_are_read_in_order(mode):
    net = mx.gluon.nn.HybridLambda('negative')
    if mode is not None:
        net.hybridize(**mode)
    for _ in range(4):
        x = nd.array([[1, 2, 3], [4, 5, 6]])
        x.attach_grad()
        with autograd.record():
            y = net(x) * 2
        y.backward(nd.array([[1, 2], [3, 4], [5, 6]]))
        assert x.grad.asnumpy().tolist() == [[-2, -4, -6], [-8, -10, -12]]      # as in 1.9.1


@pytest.mark.parametrize('gradients, message', [
    ([nd.ones((3,))], r'head 0 has shape \(2,\), but its head gradient \(3,\), which is not as many'),
    ([nd.ones((2,)), None], '1 heads and 2 head gradients given'),
])
def test_wrong_head_gradients(gradients, message):
    x = variable(1, 2)
    with autograd.record():
        y = x * 2
    with pytest.raises(mx.MXNetError, match=message):
        autograd.backward([y], gradients)


def test_heads_are_arrays():
    with pytest.raises(TypeError, match='head 0 must be an NDArray, not the int 3'):
        autograd.backward([3])


def test_ints_have_gradients_without_a_fraction():
    x = variable(1, 2, 3, dtype='int32')
    with autograd.record():
        y = x * x * 2
        z = x.astype('float32') * 1.75
    assert y.dtype is np.int32
    y.backward()
    assert x.grad.asnumpy().tolist() == [4, 8, 12] and x.grad.dtype is np.int32
    z.backward()
    assert x.grad.asnumpy().tolist() == [1, 1, 1]
    x[:] = 5                                  # what the gradient is taken at is what the array holds now
    with autograd.record():
        y = (x * x)[1:].sum()
    y.backward()
    assert x.grad.asnumpy().tolist() == [0, 10, 10]


def test_ints_that_nothing_follows_have_no_gradient_and_the_error_says_what_to_do():
    with autograd.record():
        y = nd.array([1], dtype='int32') * 2
    with pytest.raises(mx.MXNetError, match=r"dtype int32.*astype\('float32'\)"):
        y.backward()


# ---------------------------------------------------------------------- once, twice
@pytest.mark.parametrize('function', [lambda x: x + 1, lambda x: x * x, lambda x: nd.exp(x).sum()])
def test_a_second_backward_says_what_is_wrong(function):
    x = variable(1, 2)
    with autograd.record():
        y = function(x)
    y.backward()
    with pytest.raises(mx.MXNetError, match='a second time.*retain_graph=True'):
        y.backward()


def test_retain_graph():
    x = variable(1, 2, req='add')
    with autograd.record():
        y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.asnumpy().tolist() == [4, 8]


def test_a_graph_under_two_heads_is_used_up_by_the_first():
    x = variable(2)
    with autograd.record():
        shared = x * x
        y, z = shared * x, nd.exp(shared)
    y.backward()
    with pytest.raises(mx.MXNetError, match='retain_graph=True'):
        z.backward()


def test_a_used_up_array_is_a_constant():
    x = variable(2)
    with autograd.record():
        y = x * 3
    y.backward()
    with autograd.record():
        z = y * x
    z.backward()
    with autograd.record():
        y += 1                   # nothing is known of it any more
    assert x.grad.asscalar() == 6 and y.asscalar() == 7


@pytest.mark.parametrize('arrays', [nd, mx.np], ids=['nd', 'np'])
@pytest.mark.parametrize('how', ['backward', 'grad'])
def test_a_state_is_carried_to_the_next_step_without_detach(arrays, how):
    w, h = arrays.array([2.0]), arrays.array([1.0])
    w.attach_grad()
    found = []
    for _ in range(3):
        with autograd.record():
            h = h * w
            loss = (h * h).sum()
        if how == 'backward':
            loss.backward()
            found.append(w.grad.asnumpy().item())
        else:
            found.append(autograd.grad(loss, [w])[0].asnumpy().item())
    assert found == [4, 16, 64]                 # as MXNet 1.9.1; without an end to the history it would be 4, 32, 192


@pytest.mark.parametrize('part', [lambda y: y[1], lambda y: y[1:].reshape((-1,)), lambda y: y.reshape((2, 2))[0],
                                  lambda y: nd.slice_axis(y, axis=0, begin=0, end=1).reshape((2,))])
def test_views_are_carried_without_detach(part):
    w, h = variable(2, 3), nd.ones((2,))
    found = []
    for _ in range(3):
        with autograd.record():
            y = nd.stack(h * w, h * w)
            h = part(y)
            loss = (h * h).sum() + y.sum()
        loss.backward()
        found.append(w.grad.asnumpy().tolist())
    assert found == [[6, 8], [20, 60], [72, 504]]       # as MXNet 1.9.1


@pytest.mark.parametrize('store', [lambda h, y: h.__setitem__(slice(None), y), lambda h, y: y.copyto(h),
                                   lambda h, y: nd.identity(y, out=h)])
def test_a_buffer_takes_a_new_value_in_each_step(store):
    w, h, x = variable(2), nd.ones((1,)), nd.array([3.0])
    for _ in range(3):
        with autograd.record():
            store(h, x * w)
            loss = (h * h).sum()
        loss.backward()
        assert w.grad.asscalar() == 36 and h.asscalar() == 6


def test_all_outputs_of_a_call_are_used_up_together():
    w, state = variable(2), nd.ones((1,))
    for wanted in (2, 4, 8):
        with autograd.record():
            first, state = nd.split(nd.concat(state * w, state * w, dim=0), num_outputs=2, axis=0)
        state = state * 1 if wanted == 2 else state     # one from outside of the scope, the others from inside
        first.backward()
        assert w.grad.asscalar() == wanted / 2


def test_what_was_not_differentiated_keeps_its_history():
    x = variable(2)
    with autograd.record():
        y, z = ((x * 2) ** 2).sum(), ((x * 5) ** 2).sum()
    y.backward()
    with autograd.record():
        again = z * 1
    again.backward()
    assert x.grad.asscalar() == 100


def test_notes_do_not_grow_with_the_steps():
    w, h = variable(0.5), nd.ones((1,))
    for _ in range(4):
        with autograd.record():
            h = h * w + 1
            loss = (h * h).sum()
        loss.backward()
        assert not hasattr(h.materialize(), '_provenance') and h.materialize().grad_fn is None


# ---------------------------------------------------------------------- writing in place
@pytest.mark.parametrize('write', [
    lambda a: a.__iadd__(1), lambda a: a.__setitem__(slice(None), 3), lambda a: nd.ones((2,)).copyto(a),
    lambda a: nd.ones((2,), out=a), lambda a: nd.elemwise_add(nd.ones((2,)), nd.ones((2,)), out=a),
])
@pytest.mark.parametrize('which', ['variable', 'recorded'])
def test_writing_while_recording_names_the_remedy(write, which):
    x = variable(1, 2)
    with autograd.record():
        y = x * 2
        with pytest.raises(mx.MXNetError, match=r'Compute a new array instead .*autograd.pause'):
            write(x if which == 'variable' else y)


def test_writing_what_backward_needs_names_the_remedy():
    x = variable(1, 2)
    with autograd.record():
        y = x * x
    x[:] = 5
    with pytest.raises(mx.MXNetError, match=r'written in place after it was recorded.*x\.copy\(\) before writing'):
        y.backward()


def test_writing_what_backward_does_not_need():
    x = variable(1, 2)
    with autograd.record():
        y = x * 2
        with autograd.pause():
            y[:] = 7
        z = y + x
    x += 1
    z.backward()
    assert x.grad.asnumpy().tolist() == [3, 3] and z.asnumpy().tolist() == [8, 9]


@pytest.mark.parametrize('store, expected', [
    (lambda target, x: target.__setitem__(slice(1, 3), x * 3), 18),
    (lambda target, x: (x * 3).copyto(target[1:3]), 18),
    (lambda target, x: nd.broadcast_mul(x, nd.array([3]), out=target[1:3]), 18),
])
def test_gradients_flow_through_what_is_stored(store, expected):
    x, target = variable(1, 1), nd.ones((4,))
    with autograd.record():
        store(target, x)
        y = (target * target).sum()
    y.backward()
    assert x.grad.asnumpy().tolist() == [expected] * 2


def test_writing_outside_changes_what_the_next_step_sees():
    x = variable(1, 2)
    part = x[1:]
    part[:] = 10
    with autograd.record():
        y = x * x
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 20]


def test_states_that_operators_move_are_no_mistake():
    x, gamma, beta = nd.random.uniform(shape=(4, 3)), nd.ones((3,)), nd.zeros((3,))
    mean, var = nd.zeros((3,)), nd.ones((3,))
    for array in (x, gamma, beta):
        array.attach_grad()
    with autograd.record():
        y = nd.BatchNorm(x, gamma, beta, mean, var, fix_gamma=False)
        with autograd.predict_mode():
            y = nd.BatchNorm(y, gamma, beta, mean, var, fix_gamma=False)
        y = nd.BatchNorm(y * 2, gamma, beta, mean, var, fix_gamma=False)
    y.backward()
    assert (beta.grad.asnumpy() != 0).any() and (mean.asnumpy() != 0).all()


# ---------------------------------------------------------------------- what gradients flow through
@pytest.mark.parametrize('function, expected', [
    (lambda x: x[0], [[1, 1, 1], [0, 0, 0]]),
    (lambda x: x[:, 1], [[0, 1, 0], [0, 1, 0]]),
    (lambda x: x[::-1, 1:], [[0, 1, 1], [0, 1, 1]]),
    (lambda x: x[nd.array([1, 1])], [[0, 0, 0], [2, 2, 2]]),
    (lambda x: x[0, 2] * x[1, 0], [[0, 0, 1], [1, 0, 0]]),
    (lambda x: x.reshape((3, 2))[1], [[0, 0, 1], [1, 0, 0]]),
    (lambda x: x.T[2], [[0, 0, 1], [0, 0, 1]]),
    (lambda x: x.expand_dims(0, inplace=True)[0, 1], [[0, 0, 0], [1, 1, 1]]),
    (lambda x: x.flatten(inplace=True) * 2, [[2, 2, 2], [2, 2, 2]]),
    (lambda x: nd.split(x, 3, axis=1)[1], [[0, 1, 0], [0, 1, 0]]),
    (lambda x: x.copy() + x.astype('float64').astype('float32'), [[2, 2, 2], [2, 2, 2]]),
    (lambda x: x.copyto(mx.cpu(1)).as_in_context(mx.cpu(2)) * 3, [[3, 3, 3], [3, 3, 3]]),
    (lambda x: x.detach() * x, [[1, 1, 1], [1, 1, 1]]),
    (lambda x: nd.BlockGrad(x) * x, [[1, 1, 1], [1, 1, 1]]),
    (lambda x: x.broadcast_to((4, 2, 3)), [[4, 4, 4], [4, 4, 4]]),
    (lambda x: nd.concat(x, x * 2, dim=0), [[3, 3, 3], [3, 3, 3]]),
])
def test_gradients_flow_through(function, expected):
    x = nd.ones((2, 3))
    x.attach_grad()
    with autograd.record():
        y = function(x)
    y.backward()
    assert x.grad.asnumpy().tolist() == expected


def test_outputs_of_one_operator_are_heads_of_their_own():
    x = nd.ones((4, 2))
    x.attach_grad()
    with autograd.record():
        first, second = nd.split(x, 2, axis=0)
    autograd.backward([first, second], [nd.ones((2, 2)), nd.ones((2, 2)) * 5])
    assert x.grad.asnumpy()[:, 0].tolist() == [1, 1, 5, 5]


def test_across_contexts():
    x = variable(1, 2)
    with autograd.record():
        y = x.as_in_context(mx.cpu(1)) * 2
        z = y.copyto(mx.cpu()) * x
    z.backward()
    assert y.context == mx.cpu(1) and x.grad.context == mx.cpu()
    assert x.grad.asnumpy().tolist() == [4, 8]


def test_star_import_gives_what_programs_expect(run_python):
    names = 'NDArray, record, pause, backward, grad, Function, mark_variables, get_symbol'
    run_python('-c', f'from mxnet.autograd import *; {names}')


@pytest.mark.parametrize('heads', [lambda y: y, lambda y: [y], lambda y: []])
@pytest.mark.parametrize('variables', [[], ()])
def test_grad_without_variables(heads, variables):
    x = nd.array([2., 3.])
    x.attach_grad()
    with autograd.record():
        y = x * 2
    with pytest.raises(AssertionError, match='list of variables is empty'):
        autograd.grad(heads(y), variables)
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 2]


def test_variables_without_a_gradient_among_the_heads():
    x, y = nd.array([1, 2]), nd.array([3, 4])
    x.attach_grad()
    y.attach_grad('null')
    with autograd.record():
        z = x * y
    autograd.backward([z, y])
    assert x.grad.asnumpy().tolist() == [3, 4]
    for heads in ([y], [y, y]):
        with pytest.raises(mx.MXNetError, match='cannot differentiate'):
            autograd.backward(heads)
