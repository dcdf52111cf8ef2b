"""Normalisation operators against formulas, finite differences, meta tensors and, where there is one, a GPU."""
import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet._ops.core.table import NAMES
from mxnet.base import MXNetError

torch.manual_seed(0)


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def batch_norm_inputs(shape, channels):
    return rand(*shape), rand(channels), rand(channels), rand(channels), rand(channels).abs() + 0.5


CASES = [
    ('BatchNorm', batch_norm_inputs((4, 3), 3), {'fix_gamma': False, 'training': True}),
    ('BatchNorm', batch_norm_inputs((4, 3), 3), {'training': True}),
    ('BatchNorm', batch_norm_inputs((2, 3, 2, 2), 3), {'fix_gamma': False, 'training': False}),
    ('BatchNorm', batch_norm_inputs((2, 3, 4), 4), {'fix_gamma': False, 'axis': -1, 'training': True}),
    ('BatchNorm', batch_norm_inputs((2, 3, 4), 3), {'fix_gamma': False, 'output_mean_var': True, 'training': True}),
    ('BatchNorm', batch_norm_inputs((2, 3, 4), 3), {'output_mean_var': True, 'training': False}),
    ('BatchNorm_v1', batch_norm_inputs((4, 3), 3), {'fix_gamma': False, 'output_mean_var': True, 'training': True}),
    ('_contrib_BatchNormWithReLU', batch_norm_inputs((4, 3), 3), {'fix_gamma': False, 'training': True}),
    ('_contrib_SyncBatchNorm', batch_norm_inputs((4, 3, 2), 3), {'fix_gamma': False, 'key': 'a', 'training': True}),
    ('LayerNorm', (rand(3, 4, 5), rand(5), rand(5)), {}),
    ('LayerNorm', (rand(3, 4, 5), rand(4), rand(4)), {'axis': 1, 'output_mean_var': True}),
    ('GroupNorm', (rand(2, 4, 3), rand(2), rand(2)), {'num_groups': 2}),
    ('GroupNorm', (rand(2, 4, 3, 2), rand(4), rand(4)), {'num_groups': 4, 'output_mean_var': True}),
    ('InstanceNorm', (rand(2, 3, 4), rand(3), rand(3)), {}),
    ('L2Normalization', (rand(2, 3, 4),), {}),
    ('L2Normalization', (rand(2, 3, 4),), {'mode': 'channel'}),
    ('L2Normalization', (rand(2, 3, 2, 2),), {'mode': 'spatial', 'eps': 0.1}),
    ('LRN', (rand(2, 6, 2, 2),), {'nsize': 3, 'alpha': 0.5}),
    ('LRN', (rand(2, 6),), {'nsize': 5}),
]
IDS = [f'{name}-{i}' for i, (name, _, _) in enumerate(CASES)]


def results(name, inputs, attributes):
    """What is visible: without the new values of states."""
    found = NAMES[name].function(*inputs, **attributes)
    found = found if isinstance(found, tuple) else (found,)
    return found[:len(found) - len(NAMES[name].mutates)]


@pytest.mark.parametrize(('name', 'inputs', 'attributes'), CASES, ids=IDS)
def test_meta_tensors_tell_shape_and_dtype(name, inputs, attributes):
    there = results(name, inputs, attributes)
    meta = results(name, [x.to('meta') for x in inputs], attributes)
    assert [(x.shape, x.dtype) for x in meta] == [(x.shape, x.dtype) for x in there]


@pytest.mark.parametrize(('name', 'inputs', 'attributes'), CASES, ids=IDS)
def test_gradient_is_that_of_finite_differences(name, inputs, attributes):
    learnt = inputs[:3]
    if attributes.get('fix_gamma', True) and 'BatchNorm' in name:
        learnt = (inputs[0], inputs[2])           # gamma's gradient is zero by definition

        def function(data, beta):
            return results(name, (data, inputs[1], beta, *inputs[3:]), attributes)[0]
    else:
        def function(*learnt):
            return results(name, (*learnt, *inputs[3:]), attributes)[0]
    assert torch.autograd.gradcheck(function, [x.clone().requires_grad_() for x in learnt], eps=1e-5, atol=1e-5)


@pytest.mark.gpu
@pytest.mark.parametrize(('name', 'inputs', 'attributes'), CASES, ids=IDS)
@pytest.mark.parametrize('dtype', [torch.float32, torch.float16])
def test_gpu_agrees_with_cpu(name, inputs, attributes, dtype):
    inputs = [x.to(torch.float32 if 'BatchNorm' in name and i else dtype) for i, x in enumerate(inputs)]
    tolerance = 1e-4 if dtype is torch.float32 else 1e-2
    found = []
    for device in ('cpu', 'cuda'):
        there = [x.detach().to(device).requires_grad_(i < 3) for i, x in enumerate(inputs)]
        visible = results(name, there, attributes)
        visible[0].backward(inputs[0].to(device))
        found.append([x.detach().cpu() for x in visible] + [x.grad.cpu() for x in there[:3]])
    torch.testing.assert_close(found[1], found[0], rtol=tolerance, atol=tolerance)


@pytest.mark.gpu
@pytest.mark.parametrize('axis', [1, 2, -1])
@pytest.mark.parametrize('dtype', [torch.float32, torch.float16, torch.bfloat16])
def test_statistics_of_cudnn_are_those_of_torch(axis, dtype):
    data = torch.randn(4, 3, 5, 6, device='cuda').to(dtype)
    parameters = [torch.rand(data.shape[axis], device='cuda') + 0.5 for _ in range(4)]
    data.requires_grad_()
    found = [NAMES['BatchNorm'].function(data, *parameters, fix_gamma=False, axis=axis, output_mean_var=True,
                                         cudnn_off=off, training=True) for off in (False, True)]
    torch.testing.assert_close(found[0][:3], found[1][:3], rtol=1e-2, atol=1e-2)


@pytest.mark.gpu
@pytest.mark.parametrize('off', [False, True])
def test_averages_on_a_gpu(off):
    """cuDNN's kernel moves them in the forward pass, to the unbiased variance; upstream's own one in the backward pass.
    """
    x = np.random.RandomState(0).randn(8, 3).astype('float32')
    data, gamma, beta = (mx.nd.array(a, ctx=mx.gpu(0)) for a in (x, np.ones(3), np.zeros(3)))
    mean, var = (a.as_in_context(mx.gpu(0)) for a in states())
    for a in (data, gamma, beta):
        a.attach_grad()
    moved = np.array([1, 2, 3]) * 0.75 + x.mean(0) * 0.25, \
        np.array([1, 0.5, 2]) * 0.75 + x.var(0, ddof=0 if off else 1) * 0.25
    before = mean.asnumpy(), var.asnumpy()
    with mx.autograd.record():
        out = mx.nd.BatchNorm(data, gamma, beta, mean, var, momentum=0.75, cudnn_off=off)
    for now, then in zip((mean, var), before if off else moved, strict=True):
        np.testing.assert_allclose(now.asnumpy(), then, rtol=1e-4)
    out.backward()
    for now, then in zip((mean, var), moved, strict=True):
        np.testing.assert_allclose(now.asnumpy(), then, rtol=1e-4)


# ---------------------------------------------------------------------- BatchNorm's states
def states():
    return mx.nd.array([1, 2, 3]), mx.nd.array([1, 0.5, 2])


@pytest.fixture
def batch():
    data = mx.nd.array(np.random.RandomState(0).randn(8, 3))
    gamma, beta = mx.nd.array([2, 2, 2]), mx.nd.array([0, 1, 0])
    for x in (data, gamma, beta):
        x.attach_grad()
    return data, gamma, beta


def test_backward_moves_the_averages(batch):
    mean, var = states()
    with mx.autograd.record():
        out = mx.nd.BatchNorm(*batch, mean, var, momentum=0.75)
    np.testing.assert_array_equal(mean.asnumpy(), [1, 2, 3])
    out.backward()
    x = batch[0].asnumpy()
    np.testing.assert_allclose(mean.asnumpy(), np.array([1, 2, 3]) * 0.75 + x.mean(0) * 0.25, rtol=1e-5)
    np.testing.assert_allclose(var.asnumpy(), np.array([1, 0.5, 2]) * 0.75 + x.var(0) * 0.25, rtol=1e-5)


@pytest.mark.parametrize('scope', [mx.autograd.train_mode, lambda: mx.autograd.record(train_mode=False),
                                   mx.autograd.predict_mode])
def test_any_other_call_leaves_the_averages(batch, scope):
    mean, var = states()
    with scope():
        mx.nd.BatchNorm(*batch, mean, var)
    assert mean.asnumpy().tolist() == [1, 2, 3] and var.asnumpy().tolist() == [1, 0.5, 2]


def test_global_statistics_are_neither_moved_nor_ignored_in_train_mode(batch):
    mean, var = states()
    with mx.autograd.record():
        y = mx.nd.BatchNorm(*batch, mean, var, use_global_stats=True, fix_gamma=False, eps=0)
    x = batch[0].asnumpy()
    wanted = (x - [1, 2, 3]) / np.sqrt([1, 0.5, 2]) * 2 + [0, 1, 0]
    np.testing.assert_allclose(y.asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    assert mean.asnumpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize('train', [False, True])
@pytest.mark.parametrize('attributes', [{}, {'use_global_stats': True}, {'output_mean_var': True}])
def test_averages_with_attached_gradients_get_none(train, attributes):
    nd = mx.nd
    x, gamma, beta, mean, var = (nd.array(a) for a in ([[1, 2], [3, 5]], [1, 2], [0, 0], [.5, 1], [1, 2]))
    for array in (x, gamma, beta, mean, var):
        array.attach_grad()
        array.grad[:] = 7
    with mx.autograd.record(train_mode=train):
        outputs = nd.BatchNorm(x, gamma, beta, mean, var, fix_gamma=False, **attributes)
        loss = (outputs[0] + outputs[1] + outputs[2] if isinstance(outputs, list) else outputs).sum()
    loss.backward()
    assert beta.grad.asnumpy().tolist() == [2, 2]
    assert mean.grad.asnumpy().tolist() == var.grad.asnumpy().tolist() == [7, 7]     # as in MXNet 1.9.1: not written


def test_fixed_gamma_is_one_and_its_gradient_is_written_as_zero(batch):
    data, gamma, beta = batch
    gamma.grad[:] = 7
    with mx.autograd.record():
        y = mx.nd.BatchNorm(data, gamma, beta, *states())
    y.backward(data)
    x = data.asnumpy()
    wanted = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3) + [0, 1, 0]
    np.testing.assert_allclose(y.asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    assert gamma.grad.asnumpy().tolist() == [0, 0, 0]


def test_batch_norm_relu_is_relu_of_batch_norm(batch):
    with mx.autograd.train_mode():
        plain = mx.nd.BatchNorm(*batch, *states()).asnumpy()
        np.testing.assert_allclose(mx.nd.contrib.BatchNormWithReLU(*batch, *states()).asnumpy(), plain.clip(0))


def test_old_and_synchronised_batch_norm_give_the_variance(batch):
    x = batch[0].asnumpy()
    mean, var = states()
    with mx.autograd.train_mode():
        old = mx.nd.BatchNorm_v1(*batch, moving_mean=mean, moving_var=var, output_mean_var=True)
        sync = mx.nd.contrib.SyncBatchNorm(*batch, *states(), key='x', output_mean_var=True)
    for results in (old, sync):
        np.testing.assert_allclose(results[1].asnumpy(), x.mean(0), rtol=1e-5)
        np.testing.assert_allclose(results[2].asnumpy(), x.var(0), rtol=1e-4)


def test_half_precision_data_has_parameters_in_single_precision():
    data = torch.randn(8, 3, 4).half()
    out, mean, inverse, _, _ = NAMES['BatchNorm'].function(
        data, torch.ones(3), torch.zeros(3), torch.zeros(3), torch.ones(3), output_mean_var=True, training=True)
    assert (out.dtype, mean.dtype, inverse.dtype) == (torch.float16, torch.float32, torch.float32)
    assert abs(out.float().std().item() - 1) < 0.1


# ---------------------------------------------------------------------- synchronised over processes
def test_several_devices_in_one_process_are_said_to_be_apart(batch):
    with mx.autograd.train_mode(), pytest.warns(UserWarning, match='one process per device'):
        mx.nd.contrib.SyncBatchNorm(*batch, *states(), key='x', ndev=2)


SYNC = '''
import sys, torch, mxnet as mx
rank = int(sys.argv[1])
store = torch.distributed.FileStore(sys.argv[2], 2)
torch.distributed.init_process_group('gloo', store=store, rank=rank, world_size=2)
torch.manual_seed(0)
whole, head = torch.randn(7, 3, 2), torch.randn(7, 3, 2)
part = slice(0, 3) if rank == 0 else slice(3, 7)          # batches of different sizes


def step(x, h, name, **attributes):
    data, gamma, beta = mx.nd.array(x.numpy()), mx.nd.array([1, 2, 3]), mx.nd.zeros(3)
    mean, var = mx.nd.zeros(3), mx.nd.ones(3)
    for a in (data, gamma, beta):
        a.attach_grad()
    with mx.autograd.record():
        y = getattr(mx.nd.contrib if name == 'SyncBatchNorm' else mx.nd, name)(
            data, gamma, beta, mean, var, fix_gamma=False, **attributes)
    y.backward(mx.nd.array(h.numpy()))
    return [torch.tensor(a.asnumpy()) for a in (y, data.grad, gamma.grad, beta.grad, mean, var)]


mine = step(whole[part], head[part], 'SyncBatchNorm', ndev=2, key='k')
for i in (2, 3):
    torch.distributed.all_reduce(mine[i])                 # what a trainer does
wanted = step(whole, head, 'BatchNorm')
for i, (a, b) in enumerate(zip(mine, wanted)):
    torch.testing.assert_close(a, b[part] if i < 2 else b, rtol=1e-4, atol=1e-5)
print('agreed')
torch.distributed.destroy_process_group()
'''


@pytest.mark.slow
def test_two_processes_normalise_as_one_would(tmp_path):
    import os
    import subprocess
    import sys
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path), 'OMP_NUM_THREADS': '1'}
    ranks = [subprocess.Popen([sys.executable, '-c', SYNC, str(rank), str(tmp_path / 'store')], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(2)]
    for rank in ranks:
        out, err = rank.communicate(timeout=120)
        assert out.strip() == 'agreed', err


# ---------------------------------------------------------------------- within a sample
def test_layer_norm_statistics_have_length_one_along_the_axis():
    x = rand(3, 4, 5)
    out, mean, std = NAMES['LayerNorm'].function(x, torch.ones(4).double(), torch.zeros(4).double(), axis=1,
                                                 output_mean_var=True)
    torch.testing.assert_close(mean, x.mean(1, keepdim=True))
    torch.testing.assert_close(std, (x.var(1, keepdim=True, correction=0) + 1e-5).sqrt())
    torch.testing.assert_close(out, (x - mean) / std)


def test_group_norm_has_one_gamma_a_group():
    x, gamma, beta = rand(2, 4, 3), rand(2), rand(2)
    out, mean, std = NAMES['GroupNorm'].function(x, gamma, beta, num_groups=2, output_mean_var=True)
    groups = x.view(2, 2, 2, 3)
    wanted = (groups - mean.view(2, 2, 1, 1)) / std.view(2, 2, 1, 1) * gamma.view(2, 1, 1) + beta.view(2, 1, 1)
    torch.testing.assert_close(mean, groups.mean((2, 3)))
    torch.testing.assert_close(out, wanted.view_as(x))


@pytest.mark.parametrize(('mode', 'axes'), [('instance', (1, 2)), ('channel', (1,)), ('spatial', (2,))])
def test_l2_normalization_gives_unit_length(mode, axes):
    norms = NAMES['L2Normalization'].function(rand(2, 3, 4), mode=mode).square().sum(axes)
    torch.testing.assert_close(norms, torch.ones_like(norms))


def test_lrn_divides_by_the_neighbouring_channels():
    x = rand(1, 5, 2, 2)
    squares = torch.nn.functional.pad(x.square(), (0, 0, 0, 0, 1, 1))
    total = squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]
    wanted = x / (2 + 0.3 / 3 * total) ** 0.75
    torch.testing.assert_close(NAMES['LRN'].function(x, nsize=3, alpha=0.3), wanted)


ONES = mx.nd.ones
ERRORS = [
    (lambda: mx.nd.BatchNorm(ONES((2, 3)), ONES(2), *[ONES(3)] * 3), r'gamma has shape \(2,\).*3 channels'),
    (lambda: mx.nd.BatchNorm(ONES((2, 3)), *[ONES(3)] * 4, axis=5), 'axis=5 is not an axis'),
    (lambda: mx.nd.LayerNorm(ONES((2, 3)), ONES(3), ONES(3), axis=2), 'axis=2 is not an axis'),
    (lambda: mx.nd.GroupNorm(ONES((2, 4)), ONES(2), ONES(2), num_groups=2), 'at least 3 axes'),
    (lambda: mx.nd.GroupNorm(ONES((2, 4, 3)), ONES(3), ONES(3), num_groups=3), 'num_groups=3 does not divide'),
    (lambda: mx.nd.GroupNorm(ONES((2, 4, 3)), ONES(4), ONES(4), num_groups=2), 'one value per group'),
    (lambda: mx.nd.InstanceNorm(ONES((2, 4)), ONES(4), ONES(4)), 'at least 3 axes'),
    (lambda: mx.nd.L2Normalization(ONES((2, 4)), mode='channel'), "mode='channel' needs at least 3 axes"),
    (lambda: mx.nd.LRN(ONES((2, 4))), 'required argument nsize'),
]


@pytest.mark.parametrize(('call', 'message'), ERRORS, ids=[m for _, m in ERRORS])
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(MXNetError, match=message):
        call()


@pytest.mark.parametrize(('name', 'data', 'attributes', 'wanted'), [
    ('BatchNorm', (2, 3, 4, 5), {'axis': 1}, {'gamma': (3,), 'beta': (3,), 'moving_mean': (3,), 'moving_var': (3,)}),
    ('BatchNorm', (0, 3, 4, 5), {'axis': -1}, {'gamma': (5,), 'beta': (5,), 'moving_mean': (5,), 'moving_var': (5,)}),
    ('BatchNorm', None, {}, {}),
    ('LayerNorm', (0, 3, 4), {}, {'gamma': (4,), 'beta': (4,)}),
    ('GroupNorm', None, {'num_groups': 2}, {'gamma': (2,), 'beta': (2,)}),
    ('InstanceNorm', (2, 3, 0), {}, {'gamma': (3,), 'beta': (3,)}),
])
def test_shapes_of_parameters_follow_from_data(name, data, attributes, wanted):
    op = NAMES[name]
    assert op.shapes({'data': data}, op.complete(attributes)) == wanted
