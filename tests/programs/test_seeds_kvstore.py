"""The KVStore programs of the seed texts, as printed there, in today's Python (print is a function)."""
import os
import subprocess
import sys

import pytest
from conftest import ROOT

PROGRAM = '''
import mxnet as mx
kv = mx.kv.create('local')
shape = (2, 3)
kv.init(3, mx.nd.ones(shape) * 2)
a = mx.nd.zeros(shape)
kv.pull(3, out=a)
print(a.asnumpy())
kv.push(3, mx.nd.ones(shape) * 8)
kv.pull(3, out=a)
print(a.asnumpy())

gpus = [mx.gpu(i) for i in range(4)]
b = [mx.nd.ones(shape, gpu) for gpu in gpus]
kv.push(3, b)
kv.pull(3, out=a)
print(a.asnumpy())


def update(key, input, stored):
    print("update on key: %d" % key)
    stored += input * 2


kv._set_updater(update)
kv.pull(3, out=a)
print(a.asnumpy())
kv.push(3, mx.nd.ones(shape))
kv.pull(3, out=a)
print(a.asnumpy())

b = [mx.nd.ones(shape, gpu) for gpu in gpus]
kv.pull(3, out=b)
print(b[1].asnumpy())

keys = [5, 7, 9]
kv.init(keys, [mx.nd.ones(shape)] * len(keys))
kv.push(keys, [mx.nd.ones(shape)] * len(keys))
b = [mx.nd.zeros(shape)] * len(keys)
kv.pull(keys, out=b)
print(b[1].asnumpy())

b = [[mx.nd.ones(shape, gpu) for gpu in gpus]] * len(keys)
kv.push(keys, b)
kv.pull(keys, out=b)
print(b[1][1].asnumpy())
'''

PRINTED = '''
[[2. 2. 2.]
 [2. 2. 2.]]
[[8. 8. 8.]
 [8. 8. 8.]]
[[4. 4. 4.]
 [4. 4. 4.]]
[[4. 4. 4.]
 [4. 4. 4.]]
update on key: 3
[[6. 6. 6.]
 [6. 6. 6.]]
[[6. 6. 6.]
 [6. 6. 6.]]
update on key: 5
update on key: 7
update on key: 9
[[3. 3. 3.]
 [3. 3. 3.]]
update on key: 5
update on key: 7
update on key: 9
[[11. 11. 11.]
 [11. 11. 11.]]
'''


@pytest.mark.parametrize('place', ['virtual GPUs', 'CPU contexts'])
def test_the_tutorial(run_python, place):
    program = PROGRAM if place == 'virtual GPUs' else PROGRAM.replace('mx.gpu(i)', 'mx.cpu(i)')
    done = run_python('-c', program, MXNET_VIRTUAL_GPUS='4')
    assert done.stdout.split() == PRINTED.split()


def test_dist_sync_in_feedforward(run_python):
    """The last program: a store that is made first and handed to FeedForward.create; here in a job of one worker."""
    done = run_python('-c', '''
import warnings
import mxnet as mx
import numpy as np
warnings.simplefilter('ignore', DeprecationWarning)       # FeedForward is old, and says so
x = np.random.RandomState(0).normal(size=(64, 4)).astype('f')
y = (x[:, 0] > 0).astype('f')
net = mx.symbol.SoftmaxOutput(mx.symbol.FullyConnected(mx.symbol.Variable('data'), num_hidden=2), name='softmax')
kv = mx.kvstore.create('dist_sync')
model = mx.model.FeedForward.create(symbol=net, X=x, y=y, kvstore=kv, num_epoch=20, learning_rate=0.5,
                                    numpy_batch_size=16)
print(model.score(mx.io.NDArrayIter(x, y, 16)) > 0.9, kv.rank, kv.num_workers)
''')
    assert done.stdout.split() == ['True', '0', '1'], done.stdout


# The text has this one in C++, without a network. Here it is Python, as MXNet's users write it; the updater, a lambda
# that subtracts eta times the gradient, is the optimizer that does the same, since it runs on the servers.
DESCENT = '''
import mxnet as mx
from mxnet import autograd
kvstore = mx.kv.create("dist_async")
eta = 0.1
kvstore.set_optimizer(mx.optimizer.SGD(learning_rate=eta, wd=0))
weight = mx.nd.zeros((2, 1))
weight.attach_grad()
kvstore.init('weight', weight)
mx.random.seed(kvstore.rank)
max_iter = 60
for i in range(max_iter):
    kvstore.pull('weight', out=weight)
    x = mx.nd.random.normal(shape=(32, 2))
    with autograd.record():
        loss = ((mx.nd.dot(x, weight) - mx.nd.dot(x, mx.nd.array([[2], [-3]]))) ** 2).mean()
    loss.backward()
    kvstore.push('weight', weight.grad)
kvstore.barrier()
kvstore.pull('weight', out=weight)
print(kvstore.rank, weight.asnumpy().round(1).tolist())
'''


@pytest.mark.slow
def test_asynchronous_descent(tmp_path):
    pytest.importorskip('ray')
    (tmp_path / 'descent.py').write_text(DESCENT)
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'MXNET_KVSTORE_TIMEOUT': '60',
                   'MXNET_KVSTORE_OBJECT_STORE_MB': '200'}
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', '2', '-s', '1', sys.executable,
                           str(tmp_path / 'descent.py')], env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in range(2):
        assert f'{rank} [[2.0], [-3.0]]' in done.stdout
