"""Too little memory is an error that names the step and the node, and a program that catches it can go on."""
import gc
import sys

import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.base import MXNetError


@pytest.mark.skipif(not sys.platform.startswith('linux'), reason='the memory of a process is limited as Linux does it')
@pytest.mark.parametrize(('how', 'text'), [
    ('train', 'node square0__mul0: operator elemwise_mul'),
    ('predict', 'the forward pass at node square0__mul0 (operator elemwise_mul): there is not enough memory: ')])
def test_a_program_goes_on_after_its_memory_ran_out(how, text, root, run_python):
    lines = run_python(str(root / 'tests' / 'helpers' / 'memory_runs_out.py'), how,
                       MXNET_CPU_MEM_POOL_TYPE='Unpooled', OMP_NUM_THREADS='1').stdout.splitlines()
    assert len(lines) == 2 and lines[0].startswith(text) and 'not enough memory' in lines[0]
    assert lines[1] == 'True'


# ---------------------------------------------------------------------- on a GPU
@pytest.fixture
def network():
    ctx = mx.gpu(0)
    net = gluon.nn.HybridSequential()
    for _ in range(4):
        net.add(gluon.nn.Dense(4096, activation='relu', in_units=4096))
    net.initialize(ctx=ctx)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1e-3})

    def step(rows):
        with autograd.record():
            loss = (net(nd.ones((rows, 4096), ctx=ctx)) ** 2).mean()
        loss.backward()
        trainer.step(1)
        return loss.asscalar()
    yield net, step
    mx.nd.waitall()
    gc.collect()
    ctx.empty_cache()


def rows_that_do_not_fit():
    """Rows for which one value of the network fits into the memory of the GPU, and its gradients do not."""
    return mx.context.gpu_memory_info(0)[1] // (4096 * 4) // 6


@pytest.mark.gpu
@pytest.mark.parametrize('flags', [None, {}, {'static_alloc': True, 'static_shape': True}])
def test_a_training_step_that_does_not_fit(network, flags):
    net, step = network
    if flags is not None:
        net.hybridize(**flags)
    for _ in range(5):
        step(256)
    for _ in range(2):
        try:
            step(rows_that_do_not_fit())
        except MXNetError as error:
            text = str(error)
            assert 'the GPU has not enough memory: ' in text and 'A smaller batch needs less' in text
            # the first error may be that of the input, beside the values of the step before
            assert any(t in text for t in ('the backward pass', 'operator FullyConnected', 'operator Activation',
                                           'an array of shape', 'a training step'))
            step(256)               # while the error is handled
        else:
            raise AssertionError('the step fits')
    step(256)


@pytest.mark.gpu
def test_a_prediction_that_does_not_fit(network):
    net, _ = network
    net.hybridize(static_alloc=True, static_shape=True)
    ctx, rows = mx.gpu(0), mx.context.gpu_memory_info(0)[1] // (4096 * 4) // 5
    x = nd.ones((rows, 4096), ctx=ctx)          # a fifth; two at a time fit
    for _ in range(3):
        net(x).wait_to_read()
    kept = [nd.empty((rows, 4096), ctx=ctx) for _ in range(2)]
    kept += [nd.empty((rows // 2, 4096), ctx=ctx)]
    for _ in range(2):
        with pytest.raises(MXNetError, match='the GPU has not enough memory: '):
            net(x + 0).wait_to_read()
    del kept
    net(x).wait_to_read()


@pytest.mark.gpu
def test_memory_info_counts_what_graphs_hold(network):
    net, step = network
    net.hybridize(static_alloc=True, static_shape=True)

    def used():
        mx.nd.waitall()
        mx.gpu(0).empty_cache()
        free, total = mx.context.gpu_memory_info(0)
        assert 0 < free < total
        return total - free
    for _ in range(2):
        step(8192)
    before = used()
    for _ in range(4):
        step(8192)
    captured = net._cached_op.deferral.last_step.runner.captured
    assert captured is not None and captured.size >= 8192 * 4096 * 4
    held = used() - before
    assert captured.size // 2 < held < 2 * captured.size
