"""Steps on several contexts from one thread: the results of one, and on GPUs no waiting between their launches."""
import contextlib
import warnings

import numpy
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon.utils import split_and_load


@contextlib.contextmanager
def no_waiting():
    """What waits for a GPU is an error."""
    import torch

    def switch(mode):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')         # torch calls it a prototype
            torch.cuda.set_sync_debug_mode(mode)

    try:
        switch('error')
        yield
    finally:
        switch('default')


def network(ctx):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(16, activation='relu', in_units=12), gluon.nn.Dense(3, in_units=16))
    net.initialize(mx.init.Xavier(), ctx=ctx)
    net.hybridize(static_alloc=True, static_shape=True)
    return net


def trained(ctx, steps=6, step_is=None):
    """Parameters after some steps; `step_is(function)` calls a step."""
    mx.random.seed(5)
    numpy.random.seed(5)
    net, loss_of = network(ctx), gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.2, 'momentum': 0.9}, kvstore='device')
    batches = [(nd.array(numpy.random.rand(8, 12)), nd.array(numpy.random.randint(0, 3, 8))) for _ in range(steps)]

    def step(x, y):
        with autograd.record():
            losses = [loss_of(net(a), b) for a, b in zip(split_and_load(x, ctx), split_and_load(y, ctx), strict=True)]
        autograd.backward(losses)
        trainer.step(8)

    for number, batch in enumerate(batches):
        if step_is is None or number < 3:       # the first ones make plans
            step(*batch)
        else:
            step_is(lambda batch=batch: step(*batch))
    return [p.data(ctx[-1]).asnumpy() for p in net.collect_params().values()]


def module_trained(ctx, steps=6, step_is=None, home=None):
    """The same for a `Module`, whose batches are on `home`; a step is what `fit` does for a batch."""
    mx.random.seed(5)
    numpy.random.seed(5)
    net = mx.sym.var('data')
    for number, width in enumerate((16, 3)):
        net = mx.sym.FullyConnected(net, num_hidden=width, name=f'fc{number}')
        net = net if number else mx.sym.Activation(net, act_type='relu')
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name='softmax'), context=ctx)
    x, y = numpy.random.rand(8 * steps, 12), numpy.random.randint(0, 3, 8 * steps)
    feed = mx.io.NDArrayIter(nd.array(x, ctx=home), nd.array(y, ctx=home), 8)
    module.bind(feed.provide_data, feed.provide_label)
    module.init_params(mx.init.Xavier())
    module.init_optimizer('device', 'sgd', {'learning_rate': 0.2, 'momentum': 0.9})
    metric = mx.metric.create('acc')

    def step():
        batch = next(feed)
        module._step(batch)
        module.update_metric(metric, batch.label)

    for number in range(steps):
        if step_is is None or number < steps // 2:      # the first ones make plans and graphs
            step()
        else:
            step_is(step)
    assert 0 <= metric.get()[1] <= 1
    return [array.asnumpy() for _, array in sorted(module.get_params()[0].items())]


def test_two_contexts_train_as_one():
    for alone, together in zip(trained([mx.cpu()]), trained([mx.cpu(0), mx.cpu(1)]), strict=True):
        numpy.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-6)


def test_module_of_two_contexts():
    x, y = numpy.random.RandomState(0).rand(32, 12), numpy.arange(32) % 3
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc'), name='softmax')
    found = []
    for ctx in ([mx.cpu()], [mx.cpu(0), mx.cpu(1)]):
        module = mx.mod.Module(net, context=ctx)
        module.fit(mx.io.NDArrayIter(x, y, 8), num_epoch=2, initializer=mx.init.One(), kvstore='device',
                   optimizer_params={'learning_rate': 0.1})
        found.append(module.get_params()[0]['fc_weight'].asnumpy())
    numpy.testing.assert_allclose(*found, rtol=1e-4, atol=1e-6)


# ---------------------------------------------------------------------- on a GPU, which stands for two
NO_WAITING = '''
import sys; sys.path.insert(0, {tests!r})
import mxnet as mx
from test_several_devices import module_trained, no_waiting, trained
def call(step):
    with no_waiting():
        step()
for train, steps, homes in ((trained, 12, [()]), (module_trained, 90, [(mx.gpu(0),), (mx.cpu(),)])):
    found = [train(ctx, steps, call, *home) for ctx in ([mx.gpu(0)], [mx.gpu(0), mx.gpu(1)]) for home in homes]
    for one, two in zip(found, found[1:]):
        for a, b in zip(one, two, strict=True):
            assert abs(a - b).max() < 1e-3, (train, abs(a - b).max())
print('never waited')
'''


@pytest.mark.gpu
def test_launches_do_not_wait_for_each_other(run_python, root):
    done = run_python('-c', NO_WAITING.format(tests=str(root / 'tests' / 'lazy')), MXNET_VIRTUAL_GPUS='2')
    assert 'never waited' in done.stdout


# ---------------------------------------------------------------------- copies to a GPU
def busy():
    """Work that keeps the device from reading what is copied to it now."""
    x = nd.ones((4096, 4096), ctx=mx.gpu())
    for _ in range(20):
        x = nd.dot(x, x) * 1e-4
    return x


@pytest.mark.gpu
@pytest.mark.parametrize('change', [
    lambda x, n: x.__setitem__(slice(None), n), lambda x, n: x.__iadd__(1), lambda x, n: nd.ones_like(x).copyto(x),
    lambda x, n: nd.elemwise_add(x, x, out=x), lambda x, n: x[1:].__setitem__(slice(None), n),
    lambda x, n: x.reshape((-1,)).__iadd__(1)], ids=['all', 'add', 'copyto', 'out', 'part', 'view'])
@pytest.mark.parametrize('home', [mx.cpu(), mx.cpu_pinned()], ids=str)
def test_what_is_copied_may_be_overwritten(home, change):
    x = nd.zeros((512, 2048), ctx=home)
    for n in range(1, 6):
        expected = x.asnumpy()
        load = busy()
        there = x.as_in_context(mx.gpu())
        change(x, n)
        numpy.testing.assert_array_equal(there.asnumpy(), expected)
        load.wait_to_read()


@pytest.mark.gpu
def test_numpy_memory_may_be_overwritten():
    values = numpy.zeros((512, 2048), 'float32')
    target = nd.zeros(values.shape, ctx=mx.gpu())
    for n in range(1, 6):
        load = busy()
        there = nd.array(values, ctx=mx.gpu())
        target[:] = values
        values[:] = n
        assert (there.asnumpy() == n - 1).all() and (target.asnumpy() == n - 1).all()
        load.wait_to_read()


@pytest.mark.gpu
@pytest.mark.parametrize('pin', [True, False])
def test_loaders_race_with_the_device(pin):
    dataset = gluon.data.ArrayDataset(numpy.arange(64 * 2048, dtype='float32').reshape(64, 2048), numpy.arange(64))
    for _ in range(3):
        sums = []
        for x, y in gluon.data.DataLoader(dataset, 4, pin_memory=pin):
            load = busy()
            sums += [(x.as_in_context(mx.gpu()).sum(axis=1), y.as_in_context(mx.gpu()), load)]
        for values, label, _ in sums:
            expected = [dataset[int(i)][0].astype('float64').sum() for i in label.asnumpy()]
            numpy.testing.assert_allclose(values.asnumpy(), expected, rtol=1e-5)


@pytest.mark.gpu
def test_copies_do_not_wait():
    x = nd.ones((64, 64), ctx=mx.cpu())
    pinned, there = x.as_in_context(mx.cpu_pinned()), nd.zeros((64, 64), ctx=mx.gpu())
    assert pinned.materialize().is_pinned() and there.as_in_context(mx.cpu_pinned()).materialize().is_pinned()
    with no_waiting():
        for source in (x, pinned):
            source.as_in_context(mx.gpu())
            source.copyto(there)
            there[:] = source
        nd.array(numpy.ones((3, 4)), ctx=mx.gpu())
        there[1:3] = numpy.ones((2, 64))
    assert (there.asnumpy() == 1).all()
