"""The store of one process: keys, devices, updaters, rows, errors; what MXNet 1.9.1 gave for the same calls."""
import numpy as np
import pytest

import mxnet as mx
from mxnet.base import MXNetError

LOCAL = ['local', 'local_update_cpu', 'local_allreduce_cpu', 'device', 'local_allreduce_device', 'nccl']
DEVICES = [mx.cpu(i) for i in range(4)]


def pulled(kv, key, shape=(2,), dtype='float32'):
    out = mx.nd.full(shape, -7, dtype=dtype)
    kv.pull(key, out=out)
    return out.asnumpy().tolist()


def ones(value=1.0, shape=(2,), ctx=None, dtype='float32'):
    return mx.nd.full(shape, value, ctx=ctx, dtype=dtype)


@pytest.fixture(params=['local', 'device'])
def kv(request):
    return mx.kv.create(request.param)


@pytest.mark.parametrize('name', LOCAL)
def test_every_local_store_adds_up(name):
    kv = mx.kv.create(name)
    assert (kv.type, kv.rank, kv.num_workers) == (name, 0, 1)
    kv.init(3, ones(2))
    assert pulled(kv, 3) == [2, 2]
    kv.push(3, [ones(i, ctx=ctx) for i, ctx in enumerate(DEVICES)])
    outs = [ones(ctx=ctx) for ctx in DEVICES]
    kv.pull(3, out=outs)
    assert [out.asnumpy().tolist() for out in outs] == [[6, 6]] * 4


def test_names():
    assert mx.kv.create('LOCAL').type == 'local'
    assert mx.kv.create().type == 'local'
    with pytest.raises(ValueError, match="no KVStore called 'foo'.*local_update_cpu.*dist_sync"):
        mx.kv.create('foo')
    with pytest.raises(TypeError, match='must be a str'):
        mx.kv.create(3)


def test_lists_of_keys(kv):
    kv.init(['b', 'a'], [ones(1), ones(2)])
    kv.push(['a', 'b'], [[ones(3), ones(4)], [ones(5), ones(6)]])
    outs = [[ones(0), ones(0)], [ones(0), ones(0)]]
    kv.pull(['b', 'a'], out=outs)
    assert [[out.asnumpy()[0] for out in row] for row in outs] == [[11, 11], [7, 7]]
    kv.push(('a', 'b'), (ones(8), ones(9)))
    assert pulled(kv, 'a') + pulled(kv, 'b') == [8, 8, 9, 9]
    kv.init([], [])


def test_a_key_twice_in_one_call_is_added_up(kv):
    kv.init(3, ones(0))
    kv.push([3, 3], [ones(1), ones(2)])
    assert pulled(kv, 3) == [3, 3]


@pytest.mark.parametrize('keys, order', [([5, 3, 4], [3, 4, 5]), (['z', 'a', 'm'], ['m', 'z', 'a'])])
def test_updaters_are_called_in_upstreams_order(kv, keys, order):
    kv.init(sorted(keys, key=order.index), [ones(0)] * 3)
    seen = []
    kv._set_updater(lambda key, value, stored: seen.append(key))
    kv.push(keys, [ones()] * 3)
    assert seen == order


def test_a_single_pushed_array_is_the_stored_value(kv):
    """As in MXNet 1.9.1: without an updater nothing is copied."""
    kv.init(3, ones(0))
    value = ones(1)
    kv.push(3, value)
    value += 5
    assert pulled(kv, 3) == [6, 6]
    kv.pull(3, out=value)
    value[0:1] = 7
    assert pulled(kv, 3) == [7, 6]
    kv.push(3, [ones(2), ones(3)])          # a sum has memory of its own
    assert pulled(kv, 3) == [5, 5] and value.asnumpy().tolist() == [7, 6]
    kv.pushpull(3, value, out=ones(0))
    value[:] = 8
    assert pulled(kv, 3) == [8, 8]
    kv.push(3, ones(1))
    assert pulled(kv, 3) == [1, 1] and value.asnumpy().tolist() == [8, 8]


def test_a_pushed_gradient_is_not_shared_by_an_updater(kv):
    kv.init(3, ones(1))
    kv._set_updater(lambda key, gradient, weight: weight.__iadd__(gradient))
    gradient = ones(3)
    kv.push(3, gradient)
    gradient[:] = 100
    assert pulled(kv, 3) == [4, 4]


def test_first_values_are_copied(kv):
    first = ones(4)
    kv.init(4, first)
    first += 1
    assert pulled(kv, 4) == [4, 4]


def test_pulled_arrays_are_not_shared(kv):
    kv.init(3, ones(1))
    out = ones(0)
    kv.pull(3, out=out)
    out += 1
    assert pulled(kv, 3) == [1, 1]


def test_own_updater(kv):
    kv.init(3, ones(4))

    def update(key, value, stored):
        stored += value * 2
    kv.set_updater(update)
    kv.push(3, [ones(1), ones(2)])
    assert pulled(kv, 3) == [10, 10]
    with pytest.raises(AssertionError, match='has no optimizer'):
        kv.save_optimizer_states('no.states')


def test_optimizer_and_its_states(kv, tmp_path):
    kv.init('w', ones(1))
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5, rescale_grad=0.5))
    for _ in range(2):
        kv.push('w', [ones(1), ones(1)])
    assert pulled(kv, 'w') == [-0.25, -0.25]          # 1 - 0.5 - (0.25 + 0.5)
    for dump in (False, True):
        kv.save_optimizer_states(str(tmp_path / 'kv.states'), dump_optimizer=dump)
        other = mx.kv.create('local')
        other.init('w', ones(-0.25))
        other.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5, rescale_grad=0.5))
        other.load_optimizer_states(str(tmp_path / 'kv.states'))
        other.push('w', [ones(1), ones(1)])
        assert pulled(other, 'w') == [-1.125, -1.125]
    for action in (mx.kv.create().save_optimizer_states, mx.kv.create().load_optimizer_states):
        with pytest.raises(AssertionError, match='call set_optimizer first'):
            action(str(tmp_path / 'kv.states'))
    with pytest.raises(TypeError, match='takes an Optimizer'):
        kv.set_optimizer('sgd')


def test_float16_with_float32_inside(kv):
    kv.init(3, ones(0, dtype='float16'))
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=.1, multi_precision=True))
    kv.push(3, ones(1, dtype='float16'))
    assert pulled(kv, 3, dtype='float16') == [-0.0999755859375] * 2      # MXNet 1.9.1's


def test_pushpull_and_broadcast(kv):
    outs = [ones(0), ones(0)]
    kv.broadcast(3, ones(5), out=outs)
    assert [out.asnumpy()[0] for out in outs] == [5, 5]
    values = [ones(1), ones(2)]
    kv.pushpull(3, values, out=outs, priority=-1)
    assert [out.asnumpy()[0] for out in outs] == [3, 3] and values[0].asnumpy()[0] == 1
    kv.pushpull(3, values)
    assert [value.asnumpy()[0] for value in values] == [3, 3]


def test_broadcast_leaves_equal_arrays_alone(kv):
    """Autograd may have recorded them: a Trainer may meet its store in the middle of a forward pass."""
    x = ones(3)
    x.attach_grad()
    with mx.autograd.record():
        y = x * x
        with mx.autograd.pause():
            kv.broadcast('x', x, out=[x])
    y.backward()
    assert x.grad.asnumpy().tolist() == [6, 6]


def test_rows(kv):
    kv.init('e', mx.nd.ones((4, 2)).tostype('row_sparse'))

    def rows(ids, dtype='float32'):
        out = mx.nd.zeros((4, 2)).tostype('row_sparse')
        kv.row_sparse_pull('e', out=out, row_ids=mx.nd.array(ids, dtype=dtype))
        return out.indices.asnumpy().tolist(), out.asnumpy()[:, 0].tolist()
    assert rows([3, 1, 3]) == rows([[3, 1], [1, 1]], 'int64') == ([1, 3], [0, 1, 0, 1])
    assert rows([]) == ([], [0, 0, 0, 0])
    assert pulled(kv, 'e', (4, 2)) == [[1, 1]] * 4
    two = [mx.nd.zeros((4, 2)).tostype('row_sparse') for _ in range(2)]
    kv.row_sparse_pull(['e'], out=[two], row_ids=[[mx.nd.array([0]), mx.nd.array([2])]])
    assert [out.indices.asnumpy().tolist() for out in two] == [[0], [2]]
    kv.row_sparse_pull('e', out=two, row_ids=mx.nd.array([1]))
    assert [out.indices.asnumpy().tolist() for out in two] == [[1], [1]]
    kept = mx.nd.array([[7, 7]] * 4).tostype('row_sparse')
    kv.pull('e', out=kept)                                  # ignored, as upstream does
    assert kept.asnumpy().tolist() == [[7, 7]] * 4
    kv.pull('e', out=kept, ignore_sparse=False)
    assert kept.asnumpy().tolist() == [[1, 1]] * 4


def test_sums_of_rows(kv):
    kv.init('e', mx.nd.zeros((3, 2)).tostype('row_sparse'))
    a, b = mx.nd.array([[1, 1], [0, 0], [0, 0]]), mx.nd.array([[2, 2], [0, 0], [3, 3]])
    kv.push('e', [a.tostype('row_sparse'), b.tostype('row_sparse')])
    assert pulled(kv, 'e', (3, 2)) == [[3, 3], [0, 0], [3, 3]]
    kv.pushpull('e', [a.tostype('row_sparse'), b.tostype('row_sparse')], out=[a.tostype('row_sparse')])
    kv.push('e', mx.nd.ones((3, 2)))
    assert pulled(kv, 'e', (3, 2)) == [[1, 1]] * 3


@pytest.mark.parametrize('error, message, call', [
    (MXNetError, 'key 3 has a value already', lambda kv: kv.init(3, ones())),
    (MXNetError, 'key 4 has a value already', lambda kv: kv.init(4, [ones(), ones()])),
    (MXNetError, 'key 9 has no value yet', lambda kv: kv.push(9, ones())),
    (MXNetError, 'key 9 has no value yet', lambda kv: kv.pull(9, ones())),
    (MXNetError, 'key 9 has no value yet', lambda kv: kv.pushpull(9, ones())),
    (MXNetError, r'shape \(5,\), the stored one \(2,\)', lambda kv: kv.push(3, [ones(), ones(shape=(5,))])),
    (MXNetError, r'shape \(2,\), the array to copy it to \(5,\)', lambda kv: kv.pull(3, ones(shape=(5,)))),
    (MXNetError, 'type float64, the stored one of type float32', lambda kv: kv.push(3, ones(dtype='float64'))),
    (MXNetError, "key 'a' is of type str, but the other keys of this KVStore are of type int",
     lambda kv: kv.init('a', ones())),
    (MXNetError, 'a csr array', lambda kv: kv.push(5, mx.nd.ones((2, 2)).tostype('csr'))),
    (MXNetError, 'the stored value of key 5 is a default array',
     lambda kv: kv.row_sparse_pull(5, out=mx.nd.ones((2, 2)).tostype('row_sparse'), row_ids=mx.nd.array([0]))),
    (MXNetError, 'out of key 5 is a default array',
     lambda kv: kv.row_sparse_pull(5, out=mx.nd.ones((2, 2)), row_ids=mx.nd.array([0]))),
    (AssertionError, 'all ints or all strs', lambda kv: kv.init([7, 'a'], [ones(), ones()])),
    (AssertionError, 'not the float', lambda kv: kv.init(1.0, ones())),
    (AssertionError, 'not the bool', lambda kv: kv.init(True, ones())),
    (AssertionError, '2 keys, but values for 3', lambda kv: kv.init([7, 8], [ones()] * 3)),
    (AssertionError, 'the value of key 7 must be an NDArray', lambda kv: kv.init(7, np.ones(2))),
    (AssertionError, 'out is missing', lambda kv: kv.pull(3)),
    (AssertionError, 'row_ids is missing', lambda kv: kv.row_sparse_pull(3, out=ones())),
    (AssertionError, 'out is missing', lambda kv: kv.row_sparse_pull(3, row_ids=ones())),
    (AssertionError, '1 arrays for key 5, but 2 row_ids',
     lambda kv: kv.row_sparse_pull(5, out=[ones(shape=(2, 2))], row_ids=[[ones(), ones()]][0])),
    (ValueError, "'fly' is not known", lambda kv: kv.is_capable('fly')),
])
def test_errors(kv, error, message, call):
    kv.init([3, 5], [ones(), ones(shape=(2, 2))])
    with pytest.raises(error, match=message):
        call(kv)
    assert pulled(kv, 3) == [1, 1]


def test_a_failed_init_stores_nothing(kv):
    kv.init(3, ones())
    with pytest.raises(MXNetError, match='key 3'):
        kv.init([4, 3], [ones(), ones()])
    kv.init(4, ones())


def test_capabilities_and_small_calls(kv):
    assert kv.is_capable('optimizer') and kv.is_capable('OPTIMIZER')
    assert kv._barrier() is None and kv._send_command_to_servers(0, '') is None


def test_plug_ins():
    @mx.kv.KVStoreBase.register
    class Doubling(mx.kv.KVStoreBase):
        type, rank, num_workers = 'doubling', 0, 1

        def broadcast(self, key, value, out, priority=0):
            out[:] = value

        def pushpull(self, key, value, out=None, priority=0):
            for array in value if out is None else out:
                array[:] = array * 2

        @staticmethod
        def is_capable(capability):
            return False

    try:
        net = mx.gluon.nn.Dense(1, use_bias=False, in_units=1)
        net.initialize(mx.init.One(), ctx=[mx.cpu(0)])
        trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1}, kvstore=mx.kv.create('Doubling'))
        with mx.autograd.record():
            loss = net(mx.nd.ones((1, 1))).sum()
        loss.backward()
        trainer.step(1)
        assert net.weight.data().asscalar() == -1               # 1 - 2 x 1
        with pytest.raises(NotImplementedError, match='Doubling has no set_optimizer'):
            mx.kv.create('doubling').set_optimizer(mx.optimizer.SGD())
        with pytest.warns(UserWarning, match="'doubling' was .* and is now"):
            mx.kv.KVStoreBase.register(type('Doubling', (Doubling,), {}))
    finally:
        del mx.kv.KVStoreBase.kv_registry['doubling']
    with pytest.raises(AssertionError, match='only a class'):
        mx.kv.KVStoreBase.register(3)


@pytest.mark.parametrize('call', [
    lambda kv: kv.broadcast(1, None, None), lambda kv: kv.pushpull(1, None), lambda kv: kv.set_optimizer(None),
    lambda kv: kv.is_capable('optimizer'), lambda kv: kv.save_optimizer_states('x'),
    lambda kv: kv.load_optimizer_states('x'),
    lambda kv: kv.type, lambda kv: kv.rank, lambda kv: kv.num_workers])
def test_the_interface_alone_does_nothing(call):
    with pytest.raises(NotImplementedError, match='KVStoreBase has no '):
        call(mx.kv.KVStoreBase())


def test_teststore():
    kv = mx.kv.create('teststore')
    assert (kv.type, kv.rank, kv.num_workers) == ('teststore', 0, 1)
    assert type(kv).is_capable('optimizer') is False
    with pytest.raises(ValueError, match='fly'):
        kv.is_capable('fly')
    out = [ones(0), ones(0)]
    kv.broadcast(1, ones(3), out=out)
    kv.pushpull(1, out)
    assert out[1].asnumpy().tolist() == [6, 6]


@pytest.mark.parametrize('update_on_kvstore', [True, False])
@pytest.mark.parametrize('name', ['local', 'device'])
def test_trainer_on_several_devices_is_one_device_with_the_whole_batch(name, update_on_kvstore):
    data = mx.nd.array(np.random.RandomState(0).normal(size=(8, 3)))
    weights = []
    for devices in ([mx.cpu(0)], DEVICES):
        net = mx.gluon.nn.Dense(2, in_units=3)
        net.initialize(mx.init.Constant(0.5), ctx=devices)
        trainer = mx.gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.1}, kvstore=name,
                                   update_on_kvstore=update_on_kvstore if len(devices) > 1 else None)
        for _ in range(3):
            with mx.autograd.record():
                losses = [(net(part) ** 2).sum() for part in mx.gluon.utils.split_and_load(data, devices)]
            mx.autograd.backward(losses)
            trainer.step(8)
        weights.append(net.weight.data(devices[-1]).asnumpy())
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-5)


def test_roles_of_old_job_scripts(monkeypatch):
    monkeypatch.setenv('DMLC_ROLE', 'server')
    with pytest.raises(SystemExit) as end:
        mx.kv.create('dist_sync')
    assert end.value.code == 0
    assert mx.kv.KVStoreServer(mx.kv.create()).run() is None


@pytest.mark.gpu
def test_weights_follow_the_first_push_to_the_gpu():
    kv = mx.kv.create('device')
    kv.init(3, ones(1))
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=1))
    out = ones(0, ctx=mx.gpu())
    kv.pushpull(3, [ones(1, ctx=mx.gpu())], out=[out])
    assert out.asnumpy().tolist() == [0, 0] and kv._values[3].context == mx.gpu()


def test_a_store_that_updates_has_updated_before_stale_gradients_are_named():
    """`step` raises for a stale gradient after the store has updated, and the devices have the new parameters."""
    contexts = [mx.cpu(0), mx.cpu(1)]
    net = mx.gluon.nn.Dense(1, in_units=2, use_bias=False)
    net.initialize(mx.init.One(), ctx=contexts)
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': .1, 'momentum': .5})
    with mx.autograd.record():
        losses = [net(mx.nd.ones((1, 2), ctx=ctx)).sum() for ctx in contexts]
    mx.autograd.backward(losses)
    trainer.step(2)
    net.collect_params().reset_ctx(contexts)            # new arrays: their gradients are zeros, and not written
    for expected in (.85, .825):                        # 1 - .1, then the momentum alone; as in 1.9.1
        with pytest.raises(UserWarning, match='has not been written'):
            trainer.step(2)
        for data in net.weight.list_data():
            assert np.allclose(data.asnumpy(), expected)
