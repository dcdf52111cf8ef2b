"""Workers whose arrays are on a GPU.  Two of them share one card here, so tensors travel through CPU memory."""
import importlib.util
import os
import subprocess
import sys

import pytest
from conftest import ROOT

TRAINING = '''
import sys
import numpy as np
import mxnet as mx

def weights(kvstore, part, parts, hybridized):
    draw = np.random.RandomState(0)
    data, label = draw.normal(size=(4, 16, 6)).astype('f'), draw.randint(3, size=(4, 16))
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(8, activation='relu', in_units=6), mx.gluon.nn.Dense(3, in_units=8))
    net.initialize(mx.init.Zero(), ctx=mx.gpu(0))
    for i, parameter in enumerate(net.collect_params().values()):
        parameter.set_data(mx.nd.array(np.random.RandomState(i).normal(size=parameter.shape)))
    if hybridized:
        net.hybridize(static_alloc=True, static_shape=True)
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9}, kvstore=kvstore)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    mine = slice(part * 16 // parts, (part + 1) * 16 // parts)
    for x, y in zip(data, label):
        with mx.autograd.record():
            loss = loss_of(net(mx.nd.array(x[mine], ctx=mx.gpu(0))), mx.nd.array(y[mine], ctx=mx.gpu(0)))
        loss.backward()
        trainer.step(16)
    return np.concatenate([p.data().asnumpy().reshape(-1) for p in net.collect_params().values()])

kv = mx.kv.create('dist_sync')
for hybridized in (False, True):
    np.testing.assert_allclose(weights(kv if not hybridized else 'dist_sync', kv.rank, kv.num_workers, hybridized),
                               weights(None, 0, 1, hybridized), rtol=1e-4, atol=1e-5)
large = mx.nd.ones((300, 400), ctx=mx.gpu(0)) * (kv.rank + 1)
other = mx.kv.create('dist_sync')
other.init('large', large)
other.pushpull('large', large)
assert (large.asnumpy() == sum(range(1, kv.num_workers + 1))).all()
print('well')
'''

SERVERS = '''
import mxnet as mx
kv = mx.kv.create('dist_async')
kv.init('w', mx.nd.zeros((300, 400), ctx=mx.gpu(0)))
kv.set_optimizer(mx.optimizer.create('test'))
kv.push('w', mx.nd.ones((300, 400), ctx=mx.gpu(0)) * (kv.rank + 1))
kv.barrier()
out = mx.nd.zeros((300, 400), ctx=mx.gpu(0))
kv.pull('w', out)
assert (out.asnumpy() == sum(range(1, kv.num_workers + 1))).all()
print('well')
'''


def launched(tmp_path, program, **environment):
    (tmp_path / 'job.py').write_text(program)
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '2', '-s', '1', sys.executable,
                           str(tmp_path / 'job.py')], capture_output=True, text=True, timeout=280,
                          env={**os.environ, 'PYTHONPATH': str(ROOT), 'MXNET_KVSTORE_BACKEND': 'gloo', **environment})
    assert done.stdout.count('well') == 2, done.stdout + done.stderr


@pytest.mark.gpu
def test_two_workers_on_one_card(tmp_path):
    launched(tmp_path, TRAINING)


@pytest.mark.slow
def test_two_workers_on_virtual_cards(tmp_path):
    launched(tmp_path, TRAINING, MXNET_VIRTUAL_GPUS='1', OMP_NUM_THREADS='1')


@pytest.mark.gpu
@pytest.mark.skipif(importlib.util.find_spec('ray') is None, reason='ray is not installed')
def test_servers_take_arrays_of_a_card(tmp_path):
    launched(tmp_path, SERVERS)
