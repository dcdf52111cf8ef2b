"""One worker of the jobs of test_dist_async.py: runs `check_` functions, writes what failed to FOLDER/RANK.json."""
import json
import os
import signal
import sys
import time
import traceback

import numpy as np

import mxnet as mx
from mxnet.base import MXNetError
from mxnet.kvstore._async_link import same_for_all

os.environ['MXNET_KVSTORE_BIGARRAY_BOUND'] = '1000'
kv = mx.kv.create('dist_async')
rank, size = kv.rank, kv.num_workers
TOTAL = size * (size + 1) // 2          # the sum of rank + 1
SHAPES = {'small': (2, 3), 'rows': (40, 50), 'flat': (1, 1211), 'scalar': (1,)}


def full(value, shape=(2, 3), dtype='float32'):
    return mx.nd.full(shape, value, dtype=dtype)


def value_of(store, key, shape=(2, 3), dtype='float32'):
    out = full(-7, shape, dtype)
    store.pull(key, out=out)
    found = np.unique(out.astype('float32').asnumpy())
    assert len(found) == 1, found
    return float(found[0])


def raises(error, words, call):
    try:
        call()
    except error as found:
        assert words in str(found), found
    else:
        raise AssertionError(f'no {error.__name__}')


def check_who():
    assert (kv.type, size, kv.num_servers) == ('dist_async', int(os.environ['WORLD_SIZE']), 2)
    assert rank == int(os.environ['RANK']) and kv.local_rank == rank
    assert kv.is_capable('optimizer')


def check_first_values_are_those_of_worker_0():
    store = mx.kv.create('dist_async')
    for key, shape in SHAPES.items():
        out = full(0, shape)
        store.broadcast(key, full(rank + 5, shape), out=out)
        assert (out.asnumpy() == 5).all()
        assert value_of(store, key, shape) == 5
    assert {len(known.parts) for known in store._values.values()} == {1, 2}
    raises(MXNetError, 'has a value already', lambda: store.init('small', full(1)))


def check_servers_are_profiled():
    store = mx.kv.create('dist_async')
    store.init('w', full(0))
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.1))
    file = os.path.join(sys.argv[1], 'profile.json')
    if rank == 0:
        mx.profiler.set_config(filename=file, profile_process='server')
        mx.profiler.set_state('run', profile_process='server')
    store.barrier()
    store.push('w', full(1))
    store.barrier()
    if rank == 0:
        mx.profiler.set_state('stop', profile_process='server')
        mx.profiler.dump(profile_process='server')
        events = []
        for number in range(kv.num_servers):
            with open(os.path.join(sys.argv[1], f'server{number}_profile.json')) as content:
                events += json.load(content)['traceEvents']
        assert {'Table.push', 'Table.pull'} & {event.get('name') for event in events}
    store.barrier()


def check_every_number_arrives_at_its_place():
    store = mx.kv.create('dist_async')
    for key, shape in {**SHAPES, 'odd': (7, 11, 13), 'turned': (40, 50)}.items():
        numbers = np.arange(np.prod(shape), dtype='float32').reshape(shape)
        first = mx.nd.array(numbers)
        if key == 'turned':
            first = mx.nd.array(numbers.T).T                # not contiguous
        store.init(key, first * 2)
        out = full(0, shape)
        store.pull(key, out)
        assert (out.asnumpy() == 2 * numbers).all(), key
        store.barrier()
        store.push(key, first)
        turned = full(0, shape[::-1]).T
        store.pull(key, turned)
        assert (turned.asnumpy() == numbers).all(), key


def check_without_an_optimizer_the_newest_push_counts():
    store = mx.kv.create('dist_async')
    store.init(3, full(1))
    store.barrier()
    if rank == 0:
        for i in range(5):
            store.push(3, full(i))
        assert value_of(store, 3) == 4
    store.barrier()
    assert value_of(store, 3) == 4


def check_pushes_of_all_workers_are_applied():
    for dtype in ('float32', 'float64', 'float16', 'bfloat16'):
        store = mx.kv.create('dist_async')
        store.init(list(SHAPES), [full(1, shape, dtype) for shape in SHAPES.values()])
        store.set_optimizer(mx.optimizer.create('test', rescale_grad=2))
        for _ in range(4):
            store.push(list(SHAPES), [[full(rank + 1, shape, dtype)] * 2 for shape in SHAPES.values()])
        store.barrier()
        for key, shape in SHAPES.items():
            assert value_of(store, key, shape, dtype) == 1 + 2 * 4 * 2 * TOTAL, (key, dtype)


def check_a_worker_sees_its_own_pushes():
    store = mx.kv.create('dist_async')
    store.init(list(SHAPES), [full(0, shape) for shape in SHAPES.values()])
    store.set_optimizer(mx.optimizer.create('test'))
    outs = [full(0, shape) for shape in SHAPES.values()]
    last = 0
    for i in range(10):
        store.pushpull(list(SHAPES), [full(1, shape) for shape in SHAPES.values()], out=outs)
        now = min(out.asnumpy().min() for out in outs)
        assert i + 1 <= now <= (i + 1) + 10 * (size - 1) and now > last
        last = now
    store.barrier()


def check_what_is_pushed_may_change_afterwards():
    store = mx.kv.create('dist_async')
    shape = (100, 500)
    store.init(['small', 'large'], [full(0), full(0, shape)])
    store.set_optimizer(mx.optimizer.create('test'))
    small, large = full(1), full(1, shape)
    store.push(['small', 'large'], [small, large])
    small[:] = 100
    large[:] = 100
    store.barrier()
    assert value_of(store, 'small') == size and value_of(store, 'large', shape) == size


def check_settings_travel_with_pushes():
    store = mx.kv.create('dist_async')
    store.init('w', full(0))
    optimizer = mx.optimizer.SGD(learning_rate=1)
    store.set_optimizer(optimizer)
    optimizer.rescale_grad = 1 / (rank + 1)
    optimizer.set_learning_rate(2)
    store.push('w', full(rank + 1))
    store.barrier()
    assert abs(value_of(store, 'w') + 2 * size) < 1e-6


def check_an_updater_of_ones_own_and_its_errors():
    store = mx.kv.create('dist_async')
    store.init('w', full(1))
    store._set_updater(lambda key, value, stored: stored.__iadd__(value * 3))
    store.push('w', full(1))
    store.barrier()
    assert value_of(store, 'w') == 1 + 3 * size

    def broken(key, value, stored):
        raise ValueError('my mistake')

    store.set_updater(broken)
    store.push('w', full(1))
    raises(MXNetError, 'my mistake', store.barrier)
    store.barrier()


def check_factors_of_parameters():
    net = mx.gluon.nn.Dense(1, in_units=1)
    net.initialize(mx.init.One())
    net.weight.lr_mult = 0.5
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1}, kvstore='dist_async')
    with mx.autograd.record():
        loss = net(mx.nd.ones((1, 1)))
    loss.backward()
    trainer.step(1)
    trainer._kvstore.barrier()
    out = mx.nd.zeros((1, 1))
    trainer._kvstore.pull(trainer._param2idx[net.weight.name], out)
    assert out.asscalar() == 1 - 0.5 * size


def check_rows():
    store = mx.kv.create('dist_async')
    for rows in (6, 500):                                   # one server; two
        shape = (rows, 4)
        key = f'e{rows}'
        first = mx.nd.zeros(shape)
        first[0] = 1
        store.init(key, first.tostype('row_sparse'))
        store.set_updater(lambda key, value, stored: stored.__iadd__(value))
        gradient = mx.nd.zeros(shape)
        gradient[rank + 1] = rank + 1
        gradient[rows - 1] = 1
        store.push(key, gradient.tostype('row_sparse'))
        store.barrier()
        out = mx.nd.zeros(shape).tostype('row_sparse')
        store.row_sparse_pull(key, out=out, row_ids=mx.nd.array([[rows - 1, 1], [0, 1]]))
        expected = np.zeros(rows)
        expected[[0, 1, rows - 1]] = 1, 1, size
        assert out.asnumpy()[:, 0].tolist() == expected.tolist(), out.asnumpy()[:, 0]
        assert out.indices.asnumpy().tolist() == [0, 1, rows - 1]
        store.row_sparse_pull(key, out=out, row_ids=mx.nd.array([], dtype='int64'))
        assert out.asnumpy().sum() == 0
        store.pull(key, out, ignore_sparse=False)
        expected[1:size + 1] = range(1, size + 1)
        assert out.asnumpy()[:, 3].tolist() == expected.tolist()
    dense = mx.nd.zeros(shape)
    raises(MXNetError, 'not row_sparse', lambda: store.row_sparse_pull(key, dense, row_ids=mx.nd.array([1])))


def check_sparse_parameters():
    weight = mx.gluon.Parameter('x', shape=(500, 4), stype='row_sparse', grad_stype='row_sparse')
    weight.initialize(init='ones')
    trainer = mx.gluon.Trainer([weight], 'sgd', {'learning_rate': 1.0}, kvstore='dist_async')
    every = mx.nd.arange(0, 500)
    with mx.autograd.record():
        loss = (rank + 1) * weight.row_sparse_data(every)
    loss.backward()
    trainer.step(1)
    trainer._kvstore.barrier()
    assert (weight.row_sparse_data(every).asnumpy() == 1 - TOTAL).all()


def check_two_bits():
    store = mx.kv.create('dist_async')
    store.set_gradient_compression({'type': '2bit', 'threshold': 0.5})
    shape = (40, 51)
    store.init('w', full(3, shape))
    store.set_optimizer(mx.optimizer.create('test'))
    total = 3
    for gradient, sent in ((0.4, 0), (0.1, 0.5), (-2, -0.5), (0, -0.5)):
        store.push('w', full(gradient, shape))
        store.barrier()
        total += sent * size
        assert value_of(store, 'w', shape) == total
        store.barrier()


def check_states():
    """Saved by servers, read by one process; and the other way round."""
    folder = sys.argv[1]
    store = mx.kv.create('dist_async')
    store.init(list(SHAPES), [full(0, shape) for shape in SHAPES.values()])
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
    store.barrier()
    if rank == 0:
        store.push(list(SHAPES), [full(i + 1, shape) for i, shape in enumerate(SHAPES.values())])
    store.barrier()
    path = f'{folder}/{rank}.states'
    store.save_optimizer_states(path, dump_optimizer=True)
    local = mx.kv.create('local')
    local.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
    local.load_optimizer_states(path)
    assert local._updater.optimizer.num_update == 1
    for i, (key, shape) in enumerate(SHAPES.items()):
        state = local._updater.states[key]
        assert state.shape == shape and (state.asnumpy() == -(i + 1)).all(), key
        state[:] = 8
    local.save_optimizer_states(path)
    store.load_optimizer_states(path)
    if rank == 0:
        store.push(list(SHAPES), [full(0, shape) for shape in SHAPES.values()])
    store.barrier()
    for i, (key, shape) in enumerate(SHAPES.items()):
        assert value_of(store, key, shape) == -(i + 1) + 4, key


def bounded_store(most):
    os.environ['MXNET_KVSTORE_MAX_STALENESS'] = str(most)
    try:
        return mx.kv.create('dist_async')
    finally:
        del os.environ['MXNET_KVSTORE_MAX_STALENESS']


def check_workers_come_to_a_bounded_store_at_different_times():
    for last in range(size):
        if rank == last:
            time.sleep(0.3)
        store = bounded_store(0)
        store.init('w', full(0))
        store.push('w', full(3))
        assert value_of(store, 'w') == 3
        store.barrier()


def check_staleness():
    store = bounded_store(2)
    store.init('w', full(0))
    store.set_optimizer(mx.optimizer.create('test'))
    store.barrier()
    start, most = time.monotonic(), 0
    for i in range(6):
        if rank:
            time.sleep(0.1)
        out = full(0)
        store.pushpull('w', full(1 if rank else 1000), out=out)
        if rank == 0:
            # how many pushes worker 0 is ahead of the others
            most = max(most, i + 1 - int(out.asnumpy()[0, 0]) % 1000 // (size - 1))
    if rank == 0:
        assert most <= 2, most
        assert time.monotonic() - start > 0.3               # without a bound nobody waits
    store.barrier()
    assert value_of(store, 'w') == 6 * (1000 + size - 1)


def check_variables_must_be_the_same():
    same_for_all(kv._world, 'a', {'X': 3})
    if rank == 0:
        same_for_all(kv._world, 'b', {'X': 3, 'Y': None})
    else:
        raises(MXNetError, f'Y is 2 for worker {rank}, and is not set for worker 0',
               lambda: same_for_all(kv._world, 'b', {'X': 3, 'Y': 2}))


def check_lengths_are_those_of_whole_arrays():
    """Of LARS and LAMB, whether arrays were cut before the optimizer was set or would be after it."""
    numbers = np.random.RandomState(3).uniform(-1, 1, (50, 40)).astype('float32')
    gradient = np.random.RandomState(4).uniform(-1, 1, (50, 40)).astype('float32')
    for name in ('lars', 'lamb'):
        found = []
        for kind, first in (('local', True), ('dist_async', True), ('dist_async', False)):
            store = mx.kv.create(kind)
            if not first:
                store.set_optimizer(mx.optimizer.create(name, learning_rate=0.1, wd=0.01))
            store.init('big', mx.nd.array(numbers))
            if first:
                if kind != 'local':
                    assert len(store._values['big'].parts) == 2
                store.set_optimizer(mx.optimizer.create(name, learning_rate=0.1, wd=0.01))
            if kind != 'local':
                assert len(store._values['big'].parts) == 1
                store.barrier()
            for _ in range(3):
                if rank == 0 or kind == 'local':
                    store.push('big', mx.nd.array(gradient))
            if kind != 'local':
                store.barrier()
            out = mx.nd.zeros((50, 40))
            store.pull('big', out)
            found.append(out.asnumpy())
        assert not np.allclose(found[0], numbers)
        np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
        np.testing.assert_allclose(found[2], found[0], rtol=1e-6)


def check_stores_that_are_no_more_are_forgotten():
    store = mx.kv.create('dist_async')
    store.init('w', full(1))
    number, link = store._id, store._links[store._values['w'].parts[0][0]]
    assert link.answer(link.ask(number, 'pull', ['w']))[0][0].sum() == 6
    store.barrier()
    del store
    kv.barrier()                        # tells the servers
    kv.barrier()                        # and all have
    raises(MXNetError, f'KeyError: {number}', lambda: link.answer(link.ask(number, 'pull', ['w'])))


def check_a_killed_server_comes_back():
    """Every push is applied exactly once, though servers are killed while pushes are under way."""
    store = mx.kv.create('dist_async')
    shape = (300, 200)
    store.init(['large', 'small'], [full(0, shape), full(0)])
    store.set_optimizer(mx.optimizer.create('test'))
    for i in range(30):
        store.push(['large', 'small'], [full(1, shape), full(1)])
        if rank == 0 and i in (7, 19):
            os.kill(store._processes()[i == 19], signal.SIGKILL)
    store.barrier()
    assert value_of(store, 'large', shape) == value_of(store, 'small') == 30 * size
    assert value_of(kv_before, 'w') == 17


def check_a_killed_server_comes_back_from_a_snapshot():
    store = mx.kv.create('dist_async')
    shape = (1000, 2000)                                    # 4 MB on each server
    store.init('w', full(0, shape))
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
    store.barrier()
    weight, momentum = 0.0, 0.0
    for i in range(22):
        momentum = 0.5 * momentum - 1
        weight += momentum
        if rank == 0:
            store.push('w', full(1, shape))
            if i == 20:
                [link.settle() for link in store._links]
                os.kill(store._processes()[0], signal.SIGKILL)
    store.barrier()
    assert abs(value_of(store, 'w', shape) - weight) < 1e-4


def check_training_comes_to_the_same_accuracy():
    """Worker 0 trains alone first; then all train, each on a part."""
    draw = np.random.RandomState(0)
    corners = draw.normal(size=(4, 8)) * 2
    label = draw.randint(4, size=640)
    points = (corners[label] + draw.normal(size=(640, 8))).astype('float32')

    def accuracy(kvstore, part, parts):
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Dense(32, activation='relu', in_units=8), mx.gluon.nn.Dense(4, in_units=32))
        mx.random.seed(1)
        net.initialize(mx.init.Xavier())
        net.hybridize()
        trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}, kvstore=kvstore)
        loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        each = 64 // parts
        for _ in range(5):
            for start in range(part * each, 640, 64):
                x, y = mx.nd.array(points[start:start + each]), mx.nd.array(label[start:start + each])
                with mx.autograd.record():
                    loss = loss_of(net(x), y)
                loss.backward()
                trainer.step(each)
        if parts > 1:
            trainer._kvstore.barrier()
            for i, parameter in enumerate(trainer._params):
                trainer._kvstore.pull(i, parameter.list_data())
        return (net(mx.nd.array(points)).argmax(axis=1).asnumpy() == label).mean()

    alone = accuracy(None, 0, 1)
    assert alone > 0.9
    assert accuracy('dist_async', rank, size) > alone - 0.01


def check_module():
    draw = np.random.RandomState(0)
    data = draw.normal(size=(128, 4)).astype('f')
    label = (data.sum(axis=1) > 0).astype('f')
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=2, name='fc'), name='softmax')
    module = mx.mod.Module(net)
    batches = mx.io.NDArrayIter(data[rank::size], label[rank::size], 16)
    module.fit(batches, num_epoch=10, kvstore='dist_async', initializer=mx.init.Xavier(),
               optimizer_params={'learning_rate': 0.5})
    assert dict(module.score(mx.io.NDArrayIter(data, label, 16), 'acc'))['accuracy'] > 0.9


def check_errors():
    store = mx.kv.create('dist_async')
    store.init('w', full(0))
    raises(MXNetError, "key 'no' has no value yet", lambda: store.push('no', full(1)))
    raises(MXNetError, "key 'no' has no value yet", lambda: store.pull('no', full(1)))
    raises(MXNetError, 'has shape (3,)', lambda: store.push('w', full(1, (3,))))
    raises(MXNetError, 'has shape (2, 3)', lambda: store.pull('w', full(1, (3,))))
    raises(MXNetError, 'is of type float64', lambda: store.push('w', full(1, dtype='float64')))
    raises(TypeError, 'takes an Optimizer', lambda: store.set_optimizer('sgd'))
    net = mx.gluon.nn.Dense(1, in_units=1)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {}, kvstore='dist_async', update_on_kvstore=False)
    raises(ValueError, 'update_on_kvstore', trainer._init_kvstore)
    for name in ('MXNET_KVSTORE_BIGARRAY_BOUND', 'MXNET_KVSTORE_MAX_STALENESS'):
        before = os.environ.get(name)
        os.environ[name] = '-1'
        try:
            raises(MXNetError, name, lambda: mx.kv.create('dist_async'))
        finally:
            os.environ.pop(name)
            if before:
                os.environ[name] = before


def main():
    results = {}
    for name, check in list(globals().items()):
        if name.startswith('check_') and name in sys.argv[2:]:
            start = time.monotonic()
            try:
                check()
                results[name] = None
            except Exception:
                # the others are elsewhere in it, and wait: the job ends
                results[name] = traceback.format_exc()
                raise
            finally:
                print(name, f'{time.monotonic() - start:.2f} s', 'failed' if results.get(name) else '', flush=True)
                with open(f'{sys.argv[1]}/{rank}.json', 'w', encoding='utf-8') as file:
                    json.dump(results, file)


if __name__ == '__main__':
    kv_before = mx.kv.create('dist_async')
    kv_before.init('w', full(17))
    main()
