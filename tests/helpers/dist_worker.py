"""One worker of the job of test_dist_sync.py: runs every `check_` function, writes what failed to FOLDER/RANK.json."""
import json
import logging
import os
import sys
import traceback

import numpy as np
import torch

import mxnet as mx
from mxnet._dist.world import world
from mxnet.base import MXNetError

kv = mx.kv.create('dist_sync')
rank, size = kv.rank, kv.num_workers
TOTAL = size * (size + 1) / 2           # the sum of rank + 1


def full(value, shape=(2, 3), dtype='float32', ctx=None):
    return mx.nd.full(shape, value, dtype=dtype, ctx=ctx)


def value_of(store, key, shape=(2, 3), dtype='float32'):
    out = mx.nd.full(shape, -7, dtype=dtype)
    store.pull(key, out=out)
    found = np.unique(out.astype('float64').asnumpy())
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
    assert (kv.type, size) == ('dist_sync', int(os.environ['WORLD_SIZE']))
    assert rank == int(os.environ['RANK']) and kv.local_rank == rank


def check_first_values_are_those_of_worker_0():
    store = mx.kv.create('dist_sync')
    out = full(0)
    store.broadcast('w', full(rank + 5), out=out)
    assert out.asnumpy().tolist() == full(5).asnumpy().tolist()
    store.init('t', mx.nd.array(np.arange(6).reshape(2, 3) + rank).T)
    out = mx.nd.zeros((3, 2))
    store.pull('t', out)
    assert out.asnumpy().tolist() == [[0, 3], [1, 4], [2, 5]]


def check_sums():
    for name in ('dist_sync', 'dist_device_sync', 'dist_sync_device', 'dist'):
        store = mx.kv.create(name)
        assert store.type == name
        store.init(3, full(1))
        for _ in range(3):
            store.push(3, full(rank + 1))
            assert value_of(store, 3) == TOTAL
        store.push(3, [full(rank + 1, ctx=mx.cpu(i)) for i in range(4)])
        assert value_of(store, 3) == 4 * TOTAL


def check_types():
    for dtype in ('float16', 'float64', 'bfloat16', 'int32', 'int8', 'uint8', 'int64'):
        store = mx.kv.create('dist_sync')
        store.init('w', full(0, dtype=dtype))
        store.push('w', full(rank + 1, dtype=dtype))
        out = full(0, dtype=dtype)
        store.pull('w', out)
        assert (out.astype('float32').asnumpy() == TOTAL).all(), dtype


def check_a_key_pushed_twice():
    store = mx.kv.create('dist_sync')
    store.init('w', full(0))
    store._set_updater(lambda key, value, stored: stored.__iadd__(value))
    store.push('w', full(1))
    store.push('w', full(2))
    assert value_of(store, 'w') == 3 * size


def check_what_is_pushed_may_change_afterwards():
    store = mx.kv.create('dist_sync')
    store.init('w', full(0))
    value = full(1)
    store.push('w', value)
    value[:] = 100
    assert value_of(store, 'w') == size


def check_buckets():
    os.environ['MXNET_KVSTORE_BUCKET_MB'] = '0.001'      # 262 float32
    try:
        store = mx.kv.create('dist_sync')
    finally:
        del os.environ['MXNET_KVSTORE_BUCKET_MB']
    shapes = {'a': (100,), 'b': (100,), 'c': (100,), 'big': (40, 50), 'd': (3,), 'e': ()}
    shapes = {key: shape or (1,) for key, shape in shapes.items()}
    store.init(list(shapes), [full(0, shape) for shape in shapes.values()])
    for updater in (None, lambda key, value, stored: stored.__iadd__(value)):
        store._set_updater(updater)
        for turn in range(2):
            store.push(list(shapes), [full((rank + 1) * (i + 1), shape) for i, shape in enumerate(shapes.values())])
            for i, (key, shape) in enumerate(shapes.items()):
                times = 1 if updater is None else turn + 2
                assert value_of(store, key, shape) == times * TOTAL * (i + 1), (key, turn)
    raises(MXNetError, 'MXNET_KVSTORE_BUCKET_MB', lambda: _with('MXNET_KVSTORE_BUCKET_MB', 'x'))


def _with(name, value):
    os.environ[name] = value
    try:
        mx.kv.create('dist_sync')
    finally:
        del os.environ[name]


def check_sums_between_neighbours():
    job = world()
    if os.environ.get('MXNET_KVSTORE_BACKEND'):
        assert not job.side_by_side
        return
    assert job.side_by_side
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.uint8):
        for count in (0, 1, 1000, 70_001, 200_003, 1_000_003):
            value = (torch.arange(count) % 7 + rank).to(dtype)
            expected = sum(((torch.arange(count) % 7 + r).to(dtype) for r in range(size)), start=value * 0)
            found = [torch.full_like(value, 9) for _ in range(2)]
            job.wait(job.sum_to(value, found, 'a test'))
            assert all(torch.equal(one, expected) for one in found), (dtype, count)
    # more at a time than there are slots, and waited for in another order than that of their start
    values = [torch.full((count,), float(rank + 1)) for count in (3, 300_000, 1, 2, 500_000, 4, 5, 6, 7, 8)]
    works = [job.sum(value, 'a test') for value in values]
    for i in (4, 0, 9, 1, 2, 3, 5, 6, 7, 8):
        job.wait(works[i])
        assert bool((values[i] == TOTAL).all()), i


def check_many_keys():
    store = mx.kv.create('dist_sync')
    keys = [f'k{i}' for i in range(20)]
    store.init(keys, [full(0, (i + 1,)) for i in range(20)])
    for turn in range(3):
        values = [full((rank + 1) * (i + turn), (i + 1,)) for i in range(20)]
        outs = [full(-1, (i + 1,)) for i in range(20)]
        backwards = list(reversed(keys))
        store.pushpull(backwards, values[::-1], out=outs[::-1])
        for i, out in enumerate(outs):
            assert (out.asnumpy() == TOTAL * (i + turn)).all()
            assert (values[i].asnumpy() == (rank + 1) * (i + turn)).all()
            assert value_of(store, keys[i], (i + 1,)) == TOTAL * (i + turn)
        store.push(keys[:2], values[:2])
        store.push(keys[1:3], values[1:3])
        assert [value_of(store, keys[i], (i + 1,)) for i in range(4)] == [TOTAL * (i + turn) for i in range(4)]
    raises(MXNetError, 'has shape', lambda: store.push(keys, values[::-1]))
    raises(MXNetError, 'is of type', lambda: store.push(keys[:2], [value.astype('float64') for value in values[:2]]))
    order = []
    store._set_updater(lambda key, value, stored: order.append(key))
    store.push(['k3', 'k11', 'k2'], [values[3], values[11], values[2]])
    store.barrier()
    assert order == ['k2', 'k3', 'k11']


def check_large_values():
    store = mx.kv.create('dist_sync')
    for dtype, shape in (('float32', (300, 400)), ('float32', (2500, 2000)), ('float16', (300, 400))):
        key = f'{dtype} {shape}'
        numbers = (np.arange(np.prod(shape)).reshape(shape) % 7).astype(dtype)
        store.init(key, full(0, shape, dtype))
        for turn in range(3):
            outs = [full(-1, shape, dtype), full(-1, shape[::-1], dtype).T]
            value = [mx.nd.array(numbers * (rank + turn), dtype=dtype)] * 2
            store.pushpull(*((key, value, outs) if turn else ([key], [value], [outs])))
            total = 2 * sum(r + turn for r in range(size))
            assert all((out.asnumpy() == total * numbers).all() for out in outs), (key, turn)
            again = full(-1, shape, dtype)
            store.pull(key, again)
            assert (again.asnumpy() == total * numbers).all()
        value = mx.nd.array(numbers, dtype=dtype)
        store.pushpull(key, value)
        assert (value.asnumpy() == size * numbers).all()
    raises(MXNetError, 'has shape', lambda: store.pushpull(key, full(1, shape, dtype), out=full(1, (3,), dtype)))


def check_the_optimizer_is_applied_once():
    store = mx.kv.create('dist_sync')
    store.init('w', full(1))
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5))
    out = full(0)
    store.pushpull('w', full(rank + 1), out=out)
    assert (out.asnumpy() == 1 - 0.5 * TOTAL).all()
    store.save_optimizer_states(f'{sys.argv[1]}/{rank}.states')
    store.load_optimizer_states(f'{sys.argv[1]}/{rank}.states')
    store.pushpull('w', full(rank + 1), out=out)
    assert (out.asnumpy() == 1 - 0.5 * TOTAL - 0.75 * TOTAL).all()


def check_batches_of_different_sizes():
    """Each worker scales by its own batch; all use the mean, so that their weights stay equal."""
    store = mx.kv.create('dist_sync')
    store.init('w', full(0))
    optimizer = mx.optimizer.SGD(learning_rate=1)
    store.set_optimizer(optimizer)
    optimizer.rescale_grad = 1 / (rank + 1)
    store.push('w', full(1))
    mean = sum(1 / (r + 1) for r in range(size)) / size
    assert abs(value_of(store, 'w') + size * mean) < 1e-6
    assert optimizer.rescale_grad == 1 / (rank + 1)


def all_have(value):
    """Whether all workers have bit for bit the same array."""
    found = kv._world.objects(value.astype('float64').asnumpy().tolist())
    return all(one == found[0] for one in found)


def check_rows_and_compressed_gradients_in_batches_of_different_sizes():
    mean = sum(1 / (r + 1) for r in range(size)) / size
    for kind in ('rows', 'compressed', 'rows beside dense'):
        store = mx.kv.create('dist_sync')
        if kind == 'compressed':
            store.set_gradient_compression({'type': '2bit', 'threshold': 1})
        store.init(['e', 'w'], [full(0).tostype('default' if kind == 'compressed' else 'row_sparse'), full(0)])
        optimizer = mx.optimizer.SGD(learning_rate=1)
        store.set_optimizer(optimizer)
        optimizer.rescale_grad = 1 / (rank + 1)
        gradients = [full(1) if kind == 'compressed' else full(1).tostype('row_sparse'), full(1)]
        if kind == 'rows':
            store.push('e', gradients[0])
        else:
            store.push(['e', 'w'], gradients)
        for key in ('e', 'w')[:1 + (kind != 'rows')]:
            out = full(-7)
            store.pull(key, out, ignore_sparse=False)
            np.testing.assert_allclose(out.asnumpy(), -size * mean, rtol=1e-6, err_msg=f'{kind} {key}')
            assert all_have(out), (kind, key)
        assert optimizer.rescale_grad == 1 / (rank + 1)


def check_a_scale_that_is_the_mean_of_all():
    """One worker has the mean of all scales, which is not a float32: it must not go on with its own."""
    scales = [1.583, 0.746, 2.42] if size == 3 else [0.1] * size
    store = mx.kv.create('dist_sync')
    store.init('w', full(0))
    optimizer = mx.optimizer.SGD(learning_rate=1)
    store.set_optimizer(optimizer)
    optimizer.rescale_grad = scales[rank]
    store.push('w', full(1))
    out = full(0)
    store.pull('w', out)
    assert all_have(out)


def check_what_is_pushed_is_applied_as_it_was_pushed():
    """Settings that change before the sums are there count for what is pushed afterwards."""
    for stype in ('default', 'row_sparse'):
        store = mx.kv.create('dist_sync')
        store.init(['w', 'v'], [full(0).tostype(stype)] * 2)
        optimizer = mx.optimizer.SGD(learning_rate=1)
        store.set_optimizer(optimizer)
        store.push('w', full(1).tostype(stype))
        optimizer.rescale_grad, optimizer.lr = 10, 100
        store.push('v', full(1).tostype(stype))
        for key, wanted in (('w', -size), ('v', -1000 * size)):
            out = full(-7)
            store.pull(key, out, ignore_sparse=False)
            assert (out.asnumpy() == wanted).all(), (stype, key, out)
        assert (optimizer.rescale_grad, optimizer.lr) == (10, 100)


def check_low_precision_is_added_up_in_float32():
    """As on upstream's servers, where the optimizer has multi_precision: the sum itself would be too large."""
    for dtype in ('float16', 'bfloat16'):
        store = mx.kv.create('dist_sync')
        store.init(['w', 'v'], [full(1, dtype=dtype)] * 2)
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1, multi_precision=True, rescale_grad=2**-15))
        wanted = np.float16(1) - np.float16(size * 40000 / 2**15)
        for push in (lambda store=store, dtype=dtype: store.push('w', full(40000, dtype=dtype)),
                     lambda store=store, dtype=dtype: store.push(['w', 'v'], [full(40000, dtype=dtype)] * 2)):
            push()
            np.testing.assert_allclose(value_of(store, 'w', dtype=dtype), wanted, rtol=1e-2)
            wanted -= np.float16(size * 40000 / 2**15)
        store.init('r', full(1, dtype=dtype).tostype('row_sparse'))
        store.push('r', full(40000, dtype=dtype).tostype('row_sparse'))
        out = full(0, dtype=dtype)
        store.pull('r', out, ignore_sparse=False)
        np.testing.assert_allclose(out.astype('float32').asnumpy(), 1 - size * 40000 / 2**15, rtol=1e-2)
        net = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
        net.initialize(mx.init.One())
        net.cast(dtype)
        trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1, 'multi_precision': True},
                                   kvstore='dist_sync')
        for _ in range(2):
            with mx.autograd.record():
                loss = net(full(1, (1, 1), dtype)) * 40000
            loss.backward()
            trainer.step(2**15)
        np.testing.assert_allclose(net.weight.data().astype('float32').asscalar(), 1 - 2 * size * 40000 / 2**15,
                                   rtol=1e-2)


def check_workers_with_different_numbers_of_devices():
    contexts = [mx.cpu(i) for i in range(rank + 1)]
    store = mx.kv.create('dist_sync')
    store.init(['a', 'b'], [full(0), full(0)])
    store.push(['a', 'b'], [[full(1, ctx=ctx) for ctx in contexts], [full(2, ctx=ctx) for ctx in contexts]])
    assert [value_of(store, key) for key in 'ab'] == [TOTAL, 2 * TOTAL]
    data = np.random.RandomState(0).normal(size=(4, int(TOTAL), 3)).astype('f')
    first = rank * (rank + 1) // 2                  # a row of each batch for every device
    weights = []
    for kvstore, used, rows in ((None, [mx.cpu()], [slice(None)]),
                                ('dist_sync', contexts, [slice(first + i, first + i + 1) for i in range(rank + 1)])):
        for options in ({}, {'update_on_kvstore': False}) if kvstore else ({},):
            net = mx.gluon.nn.Dense(2, in_units=3)
            net.initialize(mx.init.One(), ctx=used)
            trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9},
                                       kvstore=kvstore, **options)
            for batch in data:
                with mx.autograd.record():
                    losses = [(net(mx.nd.array(batch[row], ctx)) ** 2).sum()
                              for row, ctx in zip(rows, used, strict=True)]
                mx.autograd.backward(losses)
                trainer.step(len(batch))
            weights.append([net.weight.data(ctx).asnumpy() for ctx in used])
            assert kvstore is None or all_have(net.weight.data(used[-1]))
    for found in weights[1] + weights[2]:
        np.testing.assert_allclose(found, weights[0][0], rtol=1e-5, atol=1e-6)


def check_random_programs():
    """Random calls do what a store of one process does with the devices of all workers."""
    for seed in range(12):
        draw = np.random.RandomState(seed)          # the same in all workers
        devices = draw.randint(1, 4, size)
        kinds = [('w', 'float32', 'default'), ('h', 'float64', 'default'), ('n', 'int32', 'default'),
                 ('r', 'float32', 'row_sparse'), ('q', 'float64', 'row_sparse'), ('v', 'float32', 'default')]
        kinds = kinds[:draw.randint(2, len(kinds) + 1)]
        shapes = {key: (int(draw.randint(1, 9)), int(draw.choice([1, 3, 20_000]))) for key, _, _ in kinds}
        optimizer = draw.choice(['', 'sgd', 'adam'])
        if optimizer:
            kinds = [kind for kind in kinds if kind[1] == 'float32']
        types, stypes = {key: dtype for key, dtype, _ in kinds}, {key: stype for key, _, stype in kinds}
        stores = mx.kv.create('dist_sync'), mx.kv.create('local')
        for key in types:
            first = mx.nd.array(draw.randint(-3, 4, shapes[key]), dtype=types[key]).tostype(stypes[key])
            for store in stores:
                store.init(key, first)
        if optimizer:
            for store in stores:
                store.set_optimizer(mx.optimizer.create(optimizer, learning_rate=0.1, wd=0.01))

        def drawn(key, draw=draw, shapes=shapes, types=types, stypes=stypes):
            value = draw.randint(-4, 5, shapes[key])
            value[draw.rand(len(value)) < 0.4] = 0
            return mx.nd.array(value, dtype=types[key]).tostype(stypes[key])

        for turn in range(8):
            action = draw.choice(['push', 'push many', 'pushpull', 'pushpull many'])
            chosen = list(draw.permutation(list(types)))[:draw.randint(1, len(types) + 1)] if 'many' in action \
                else [draw.choice(list(types))]
            chosen = [str(key) for key in chosen]
            # of each worker, for each key, an array of each device
            values = [[[drawn(key) for _ in range(count)] for key in chosen] for count in devices]
            everyone = [[array for worker in values for array in worker[i]] for i in range(len(chosen))]
            if 'many' not in action:
                for store, value in zip(stores, (values[rank][0], everyone[0]), strict=True):
                    if action == 'push':
                        store.push(chosen[0], value)
                    else:
                        store.pushpull(chosen[0], value, out=[array.copy() for array in value])
            else:
                for store, value in zip(stores, (values[rank], everyone), strict=True):
                    if action == 'push many':
                        store.push(chosen, value)
                    else:
                        store.pushpull(chosen, value, out=[[a.copy() for a in arrays] for arrays in value])
            for key in types if turn % 3 == 2 else ():
                found = []
                for store in stores:
                    out = mx.nd.zeros(shapes[key], dtype=types[key]).tostype(stypes[key])
                    if stypes[key] == 'default':
                        store.pull(key, out)
                    else:
                        store.row_sparse_pull(key, out=out, row_ids=mx.nd.arange(shapes[key][0]))
                    found.append(out)
                np.testing.assert_allclose(found[0].asnumpy(), found[1].asnumpy(), rtol=1e-5, atol=1e-5,
                                           err_msg=f'seed {seed}, turn {turn}, {key}')
                assert shapes[key][1] > 3 or all_have(found[0].tostype('default')), (seed, turn, key)


def check_rows():
    store = mx.kv.create('dist_sync')
    first = mx.nd.zeros((size + 2, 2))
    first[rank] = 1                                      # worker 0's counts
    store.init('e', first.tostype('row_sparse'))
    out = mx.nd.zeros((size + 2, 2)).tostype('row_sparse')
    everything = mx.nd.arange(size + 2)
    store.row_sparse_pull('e', out=out, row_ids=everything)
    assert out.asnumpy()[:, 0].tolist() == [1] + [0] * (size + 1)
    gradient = mx.nd.zeros((size + 2, 2))
    gradient[rank] = rank + 1
    gradient[size] = 1
    store.push('e', gradient.tostype('row_sparse'))
    store.row_sparse_pull('e', out=out, row_ids=everything)
    assert out.asnumpy()[:, 0].tolist() == [*range(1, size + 1), size, 0]
    store.push('e', mx.nd.sparse.zeros('row_sparse', (size + 2, 2)))
    store.row_sparse_pull('e', out=out, row_ids=everything)
    assert out.asnumpy().sum() == 0


def check_two_bits():
    store = mx.kv.create('dist_sync')
    store.set_gradient_compression({'type': '2bit', 'threshold': 0.5})
    store.init('w', full(3, (5, 5)))
    assert value_of(store, 'w', (5, 5)) == 3
    for gradient, sent in ((0.4, 0), (0.1, 0.5), (-2, -0.5), (0, -0.5)):
        store.push('w', full(gradient, (5, 5)))
        assert value_of(store, 'w', (5, 5)) == sent * size
    store.init('half', full(0, dtype='float16'))
    raises(MXNetError, 'only float32', lambda: store.push('half', full(0, dtype='float16')))


def check_one_bit():
    store = mx.kv.create('dist_sync')
    store.set_gradient_compression({'type': '1bit', 'threshold': 0})
    store.init('w', full(3))
    store.push('w', [full(1 if rank else -1), full(0)])
    assert value_of(store, 'w') == size - 2


def check_many_workers_add_up_instead_of_collecting():
    from mxnet.kvstore import dist
    before, dist.MOST_GATHERED = dist.MOST_GATHERED, 1
    try:
        check_two_bits()
    finally:
        dist.MOST_GATHERED = before


def check_barrier():
    kv._barrier()
    kv.barrier()


def check_different_calls_are_noticed():
    store = mx.kv.create('dist_sync')
    store.init(['a', 'b'], [full(0), full(0)])
    store.push('b' if rank else 'a', full(1))
    raises(MXNetError, 'all must make the same calls', lambda: value_of(store, 'b' if rank else 'a'))


def check_different_learning_rates_are_noticed():
    store = mx.kv.create('dist_sync')
    store.init('a', full(0))
    store.set_optimizer(mx.optimizer.SGD(learning_rate=rank + 1))
    store.push('a', full(1))
    raises(MXNetError, 'they must be equal', lambda: value_of(store, 'a'))


def check_errors_of_one_process():
    store = mx.kv.create('dist_sync')
    raises(MXNetError, "key 'no' has no value yet", lambda: store.push('no', full(1)))
    raises(MXNetError, "key 'no' has no value yet", lambda: store.pull('no', full(1)))


def check_horovod():
    store = mx.kv.create('horovod')
    assert (store.type, store.rank, store.num_workers, store.local_rank) == ('horovod', rank, size, rank)
    assert store.is_capable('optimizer') is False
    raises(ValueError, 'fly', lambda: store.is_capable('fly'))
    outs = [full(0), full(0)]
    store.broadcast('w', full(rank + 2), out=outs)
    assert [out.asnumpy()[0, 0] for out in outs] == [2, 2]
    values = [full(rank + 1), full(rank + 1, ctx=mx.cpu(1))]
    store.pushpull('w', values)
    assert [value.asnumpy()[0, 0] for value in values] == [2 * TOTAL] * 2
    store.pushpull(['a', 'b'], [full(1), full(2)], out=outs)
    assert [out.asnumpy()[0, 0] for out in outs] == [size, 2 * size]
    raises(MXNetError, '2 keys, 1 values', lambda: store.pushpull(['a', 'b'], [full(1)]))
    raises(MXNetError, 'takes dense arrays', lambda: store.pushpull('a', full(1).tostype('row_sparse')))


def train(kvstore, part, parts, steps=5, **options):
    """An MLP on part `part` of each batch; its weights."""
    draw = np.random.RandomState(0)
    data, label = draw.normal(size=(16, 6)).astype('f'), draw.randint(3, size=16)
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(8, activation='relu', in_units=6), mx.gluon.nn.Dense(3, in_units=8))
    net.initialize(mx.init.Zero())
    for i, parameter in enumerate(net.collect_params().values()):
        parameter.set_data(mx.nd.array(np.random.RandomState(i).normal(size=parameter.shape)))
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9}, kvstore=kvstore,
                               **options)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    mine = slice(part * 16 // parts, (part + 1) * 16 // parts)
    for _ in range(steps):
        with mx.autograd.record():
            loss = loss_of(net(mx.nd.array(data[mine])), mx.nd.array(label[mine]))
        loss.backward()
        trainer.step(16)
    return np.concatenate([p.data().asnumpy().reshape(-1) for p in net.collect_params().values()])


def check_trainer_is_one_process_with_the_whole_batch():
    alone = train(None, 0, 1)
    for kvstore, options in (('dist_sync', {}), ('dist_sync', {'update_on_kvstore': False}), ('horovod', {}),
                             (mx.kv.create('dist_device_sync'), {})):
        found = train(kvstore, rank, size, **options)
        np.testing.assert_allclose(found, alone, rtol=1e-5, atol=1e-6, err_msg=str(kvstore))


def steps_of(kvstore, between=None, backwards=1, hybridized=False, steps=4, **options):
    """Weights of two layers after some steps on this worker's part of each batch, and how often sums began early."""
    draw = np.random.RandomState(0)
    data, label = draw.normal(size=(steps, 16, 6)).astype('f'), draw.randint(3, size=(steps, 16))
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(8, activation='relu', in_units=6), mx.gluon.nn.Dense(3, in_units=8))
    net.initialize(mx.init.Zero())
    for i, parameter in enumerate(net.collect_params().values()):
        parameter.set_data(mx.nd.array(np.random.RandomState(i).normal(size=parameter.shape)))
    if hybridized:
        net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9}, kvstore=kvstore,
                               **options)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    mine = slice(rank * 16 // size, (rank + 1) * 16 // size) if kvstore is not None else slice(None)
    early = 0
    for x, y in zip(data, label, strict=True):
        for _ in range(backwards if kvstore is None or rank == 0 else 1):
            with mx.autograd.record():
                loss = loss_of(net(mx.nd.array(x[mine])), mx.nd.array(y[mine]))
            loss.backward()
        if kvstore is not None:
            found = getattr(trainer._kvstore, '_early', None)
            early += found is not None and found._next > 0
        if between is not None:
            for parameter in net.collect_params().values():
                between(parameter.list_grad()[0])
        trainer.step(16)
    return np.concatenate([p.data().asnumpy().reshape(-1) for p in net.collect_params().values()]), early


def check_sums_begin_while_backward_runs():
    alone, _ = steps_of(None)
    for options in ({}, {'update_on_kvstore': False}):
        found, early = steps_of('dist_sync', **options)
        np.testing.assert_allclose(found, alone, rtol=1e-5, atol=1e-6)
        assert early == 3, early                    # the first step is where the store learns of the parameters


def check_sums_of_gradients_that_changed_after_backward():
    def halve(gradient):
        gradient *= 0.5

    alone, _ = steps_of(None, between=halve)
    for options in ({}, {'update_on_kvstore': False}):
        found, early = steps_of('dist_sync', between=halve if rank == 0 else None, **options)
        everyone = kv._world.objects(found.tolist())
        assert everyone[0] == everyone[-1] and early
    found, _ = steps_of('dist_sync', between=halve)
    np.testing.assert_allclose(found, alone, rtol=1e-5, atol=1e-6)


def check_sums_where_one_worker_calls_backward_twice():
    alone, _ = steps_of(None)
    found, early = steps_of('dist_sync', backwards=2)
    np.testing.assert_allclose(found, alone, rtol=1e-5, atol=1e-6)
    assert early == 3


def check_batch_norm_over_workers():
    """As in one process with the whole batch: outputs, gradients, running averages."""
    draw = np.random.RandomState(3)
    data = draw.normal(size=(6 * size, 3, 4, 4)).astype('f')
    weight = draw.normal(size=data.shape).astype('f')

    def results(layer, mine):
        layer.initialize()
        x = mx.nd.array(data[mine])
        x.attach_grad()
        with mx.autograd.record():
            y = layer(x)
            loss = (y * mx.nd.array(weight[mine])).sum()
        loss.backward()
        return y.asnumpy(), x.grad.asnumpy(), layer.gamma.grad().asnumpy(), layer.running_var.data().asnumpy()

    alone = results(mx.gluon.nn.BatchNorm(in_channels=3), slice(None))
    for hybridized in (False, True):
        layer = mx.gluon.contrib.nn.SyncBatchNorm(in_channels=3)
        if hybridized:
            layer.hybridize()
        # uneven: worker 0 has more
        edges = [0, 8, *[8 + i * (len(data) - 8) // (size - 1) for i in range(1, size)]]
        mine = slice(edges[rank], edges[rank + 1])
        y, gradient, gamma, variance = results(layer, mine)
        np.testing.assert_allclose(y, alone[0][mine], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(gradient, alone[1][mine], rtol=1e-3, atol=1e-5)
        total = mx.nd.array(gamma)
        mx.kv.create('horovod').pushpull('g', total)
        np.testing.assert_allclose(total.asnumpy(), alone[2], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(variance, alone[3], rtol=1e-4)


def check_feed_forward():
    draw = np.random.RandomState(0)
    data = draw.normal(size=(64, 4)).astype('f')
    label = (data.sum(axis=1) > 0).astype('f')
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=2, name='fc'), name='softmax')
    batches = mx.io.NDArrayIter(data[rank::size], label[rank::size], 8)
    model = mx.model.FeedForward.create(net, batches, num_epoch=4, learning_rate=0.5, kvstore=kv.type,
                                        initializer=mx.init.Xavier())
    found = kv._world.objects(model.arg_params['fc_weight'].asnumpy().tolist())
    assert found[0] == found[-1]
    assert (model.predict(data).argmax(axis=1) == label).mean() > 0.9


def check_uneven_data():
    """A worker that has run out of batches takes part with gradients of nothing, and all stay equal."""
    net = mx.gluon.nn.Dense(1, in_units=2, use_bias=False)
    net.initialize(mx.init.One())
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}, kvstore='dist_sync')
    batches = [np.ones((4, 2), 'f'), np.ones((2 - rank, 2), 'f') if rank < 2 else np.ones((1, 2), 'f')]
    for x in batches:
        with mx.autograd.record():
            loss = net(mx.nd.array(x)).sum()
        loss.backward()
        trainer.step(len(x) * size)
    found = kv._world.objects(net.weight.data().asnumpy().tolist())
    assert found[0] == found[-1]


def check_horovods_names():
    import mxnet.contrib.horovod as hvd
    hvd.init()
    assert (hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size()) == (rank, size, rank, size)
    assert hvd.is_initialized() and hvd.shutdown() is None
    value = full(rank + 1)
    assert (hvd.allreduce(value).asnumpy() == TOTAL / size).all() and (value.asnumpy() == rank + 1).all()
    assert (hvd.allreduce(value, average=False, prescale_factor=2, postscale_factor=3).asnumpy() == 6 * TOTAL).all()
    assert (hvd.broadcast(value, root_rank=size - 1).asnumpy() == size).all()
    gathered = hvd.allgather(full(rank, (rank + 1, 2))).asnumpy()
    assert gathered[:, 0].tolist() == [r for r in range(size) for _ in range(r + 1)]
    params = {'w': full(rank + 1)}
    hvd.broadcast_parameters(params)
    assert (params['w'].asnumpy() == 1).all()
    raises(ValueError, 'takes a ParameterDict', lambda: hvd.broadcast_parameters([full(1)]))
    net = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
    net.initialize(mx.init.Constant(rank))
    hvd.broadcast_parameters(net.collect_params(), root_rank=size - 1)
    trainer = hvd.DistributedTrainer(net.collect_params(), 'sgd', {'learning_rate': 1})
    with mx.autograd.record():
        loss = net(full(rank + 1, (1, 1)))
    loss.backward()
    trainer.step(1)
    np.testing.assert_allclose(net.weight.data().asscalar(), size - 1 - TOTAL / size, rtol=1e-6, atol=1e-6)


def check_horovods_optimizer():
    import mxnet.contrib.horovod as hvd
    inner = mx.optimizer.SGD(learning_rate=1, momentum=0.5)
    optimizer = hvd.DistributedOptimizer(inner)
    optimizer.rescale_grad = 0.5
    optimizer.set_learning_rate(2)
    optimizer.set_lr_mult({})
    optimizer.set_wd_mult({})
    assert (inner.rescale_grad, inner.lr, optimizer.learning_rate) == (0.5, 2, 2)
    updater = mx.optimizer.get_updater(optimizer)
    weight = full(1)
    for _ in range(2):
        updater(0, full(rank + 1), weight)
    np.testing.assert_allclose(weight.asnumpy(), 1 - 2.5 * TOTAL / size, rtol=1e-6)
    optimizer.update(1, weight, full(rank), optimizer.create_state(1, weight))


def check_trainer_with_compression():
    weights = train('dist_sync', rank, size, compression_params={'type': '2bit', 'threshold': 0.1})
    found = kv._world.objects(weights.tolist())
    assert found[0] == found[-1]


def check_module():
    draw = np.random.RandomState(0)
    data, label = draw.normal(size=(36, 4)).astype('f'), draw.randint(2, size=36).astype('f')
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=2, name='fc'), name='softmax')
    weights = []
    for store, part, parts in ((mx.kv.create('dist_sync'), rank, size), (None, 0, 1)):
        module = mx.mod.Module(net)
        each = 12 // parts
        chosen = np.concatenate([np.arange(i + part * each, i + (part + 1) * each) for i in range(0, 36, 12)])
        batches = mx.io.NDArrayIter(data[chosen], label[chosen], each)
        module.fit(batches, num_epoch=2, kvstore=store, initializer=mx.init.One(),
                   optimizer_params={'learning_rate': 0.1, 'rescale_grad': 1 / 12})
        weights.append(module.get_params()[0]['fc_weight'].asnumpy())
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-5)


def check_gradients_travel_once():
    for sparse in (False, True):
        net = mx.gluon.nn.Sequential()
        net.add(mx.gluon.nn.Embedding(20, 4, sparse_grad=sparse), mx.gluon.nn.Dense(3, in_units=8, activation='tanh'),
                mx.gluon.nn.Dense(2, in_units=3))
        net.initialize(mx.init.Constant(0.1))
        trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1}, kvstore='dist_sync')
        alone = [parameter.data().asnumpy() for parameter in net.collect_params().values()]
        sums, everyone = [], world().sum

        def noted(tensor, what, sums=sums, plain=everyone):
            sums.append(what)
            return plain(tensor, what)
        world().sum = noted
        try:
            for step in range(4):
                others = []
                for worker in (*range(size), rank):         # the last pass is that of this worker
                    x = mx.nd.array([[worker, step], [5, worker + 7]])
                    with mx.autograd.record():
                        loss = (net(x) ** 2).sum()
                    if worker != rank or len(others) == size:
                        sums.append('backward')
                    grads = mx.autograd.grad(loss, [p.data() for p in net.collect_params().values()]) \
                        if len(others) < size else loss.backward()
                    others.append([g.asnumpy() for g in grads] if grads is not None else None)
                sums.append('step')
                trainer.step(1)
                for i, parameter in enumerate(net.collect_params().values()):
                    alone[i] = alone[i] - sum(gradients[i] for gradients in others[:size])
                    np.testing.assert_allclose(parameter.data().asnumpy(), alone[i], rtol=1e-5, atol=1e-6)
        finally:
            del world().sum
        travelled = [what for what in sums if what.endswith(' gradients')]
        assert travelled == [f'sum of {4 if sparse else 5} gradients'] * 4, sums
        # from the second step on while backward runs, before the step
        last = len(sums) - 1 - sums[::-1].index('step')
        assert sums[last - 1].endswith(' gradients'), sums


class Notes(logging.Handler):
    """What was logged inside."""

    def __enter__(self):
        self.said = []
        logging.getLogger().addHandler(self)
        return self.said

    def __exit__(self, *error):
        logging.getLogger().removeHandler(self)

    def emit(self, record):
        self.said.append(record.getMessage())


def check_uneven_parts_end_together():
    for store in (kv, mx.kv.create('horovod')):
        with Notes() as said:
            assert list(store.together(range(rank, 3 + 2 * rank))) == list(range(rank, rank + 3))      # 3, 4 and 5
            others = ', '.join(map(str, range(1, size)))
            ends = f'The epoch ends after 3 batches: worker 0 had no more; worker{"s" * (size > 2)} {others} had'
            assert [text.startswith(ends) for text in said] == [True] * (rank == 0), said
        with Notes() as said:
            assert list(store.together(range(4))) == list(range(4))
            assert list(store.together(())) == [] and not said
            assert list(store.together(range(7 * rank))) == []
            assert [text.split(': ')[0] for text in said] == ['The epoch ends after 0 batches'] * (rank == 0)


def check_fit_of_uneven_parts():
    draw = np.random.RandomState(rank)
    data, label = draw.normal(size=(12 + 4 * rank, 4)).astype('f'), draw.randint(2, size=12 + 4 * rank).astype('f')
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=2, name='fc'), name='softmax')
    module = mx.mod.Module(net)
    with Notes() as said:
        seen = []
        module.fit(mx.io.NDArrayIter(data, label, 4), num_epoch=2, kvstore=mx.kv.create('dist_sync'),
                   batch_end_callback=lambda param: seen.append((param.epoch, param.nbatch)))
        assert seen == [(epoch, batch) for epoch in range(2) for batch in range(3)]
        assert sum('The epoch ends after 3 batches' in text for text in said) == 2 * (rank == 0)
    weights = world().objects(module.get_params()[0]['fc_weight'].asnumpy().tolist())
    assert all(weight == weights[0] for weight in weights)

    from mxnet.gluon.contrib.estimator import estimator
    block = mx.gluon.nn.Dense(2, in_units=4)
    block.initialize()
    trainer = mx.gluon.Trainer(block.collect_params(), 'sgd', {'learning_rate': 0.1}, kvstore='dist_sync')
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(data, label), 4)
    learner = estimator.Estimator(block, mx.gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer)
    with Notes() as said:
        learner.fit(loader, epochs=2)
        assert sum('The epoch ends after 3 batches' in text for text in said) == 2 * (rank == 0)
    weights = world().objects(block.weight.data().asnumpy().tolist())
    assert all(weight == weights[0] for weight in weights)


def main():
    results = {}
    for name, check in list(globals().items()):
        if name.startswith('check_'):
            try:
                check()
                results[name] = None
            except Exception:
                results[name] = traceback.format_exc()
            with open(f'{sys.argv[1]}/{rank}.json', 'w', encoding='utf-8') as file:
                json.dump(results, file)


if __name__ == '__main__':
    main()
