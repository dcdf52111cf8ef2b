"""Programs of the tutorials that our users learned from: arrays, gradients, a first network.

As the texts have them; `print x` is `print(x)`, NumPy prints one blank less, and four GPUs are virtual ones.
"""
import textwrap

import pytest

import mxnet as mx

ARRAYS = """
import mxnet as mx
a = mx.nd.empty((2, 3))
b = mx.nd.empty((2, 3), mx.gpu())
c = mx.nd.empty((2, 3), mx.gpu(2))
print(c.shape)
print(c.context)
a = mx.nd.zeros((2, 3))
b = mx.nd.ones((2, 3))
b[:] = 2
b = mx.nd.zeros((2, 3), mx.gpu())
a = mx.nd.ones((2, 3))
a.copyto(b)
a = mx.nd.ones((2, 3))
b = a.asnumpy()
print(type(b))
print(b)
import numpy as np
a = mx.nd.empty((2, 3))
a[:] = np.random.uniform(-0.1, 0.1, a.shape)
assert abs(a.asnumpy()).max() <= 0.1
a = mx.nd.ones((2, 3)) * 2
b = mx.nd.ones((2, 3)) * 4
print(b.asnumpy())
c = a + b
print(c.asnumpy())
d = a * b
print(d.asnumpy())
a = mx.nd.ones((2, 3)) * 2
b = mx.nd.ones((2, 3), mx.gpu()) * 3
c = a.copyto(mx.gpu()) * b
print(c.asnumpy())
"""
ARRAYS_PRINT = """\
(2, 3)
gpu(2)
<class 'numpy.ndarray'>
[[1. 1. 1.]
 [1. 1. 1.]]
[[4. 4. 4.]
 [4. 4. 4.]]
[[6. 6. 6.]
 [6. 6. 6.]]
[[8. 8. 8.]
 [8. 8. 8.]]
[[6. 6. 6.]
 [6. 6. 6.]]
"""

SAVING = """
import mxnet as mx
import pickle as pkl
a = mx.nd.ones((2, 3)) * 2
data = pkl.dumps(a)
b = pkl.loads(data)
print(b.asnumpy())
a = mx.nd.ones((2,3))*2
b = mx.nd.ones((2,3))*3
mx.nd.save('mydata.bin', [a, b])
c = mx.nd.load('mydata.bin')
print(c[0].asnumpy())
print(c[1].asnumpy())
mx.nd.save('mydata.bin', {'a':a, 'b':b})
c = mx.nd.load('mydata.bin')
print(c['a'].asnumpy())
print(c['b'].asnumpy())
"""
TWOS, THREES = '[[2. 2. 2.]\n [2. 2. 2.]]\n', '[[3. 3. 3.]\n [3. 3. 3.]]\n'

PARALLEL = """
import mxnet as mx
a = mx.nd.ones((2,3))
b = a
c = a.copyto(mx.gpu())
a += 1
b *= 3
c *= 3
print(a.asnumpy()[0, 0], b.asnumpy()[0, 0], c.asnumpy()[0, 0], c.context)
"""

GRADIENTS = """
from mxnet import nd
from mxnet import autograd

val = nd.normal(shape=(2,3))
print(val.shape)
val = nd.ones(shape=(3, 5))

w1 = nd.ones(shape=(5, 1))
b1 = nd.ones(shape=(1,))

w1.attach_grad()
b1.attach_grad()

with autograd.record():
    res = nd.dot(val, w1)
    res2 = res + b1
res2.backward()

print(w1.grad)
print(b1.grad)
"""
GRADIENTS_PRINT = """\
(2, 3)

[[3.]
 [3.]
 [3.]
 [3.]
 [3.]]
<NDArray 5x1 @cpu(0)>

[3.]
<NDArray 1 @cpu(0)>
"""

NETWORK = """
from mxnet import nd, autograd
from mxnet.gluon import nn
from mxnet.gluon import loss
from mxnet import gluon

class Net(nn.Block):
    def __init__(self, **kwargs):
        super(Net, self).__init__(**kwargs)

        self.dense0 = nn.Dense(256)
        self.dense1 = nn.Dense(1)

    def forward(self, x):
        return self.dense1(nd.relu(self.dense0(x)))

net = Net()

net.initialize()
trainer = gluon.Trainer(net.collect_params(), 'sgd',
                        {'learning_rate': 0.001})
val = nd.ones(shape=(10, 100))
label = nd.ones(shape=(10,))

criterion = loss.L2Loss()

with autograd.record():
    res = net(val)
    print(res.shape)
    loss = criterion(res, label)

loss.backward()

trainer.step(batch_size=10)

assert abs(net(val) - 1).sum().asscalar() < abs(res - 1).sum().asscalar()
print(loss.shape)
import mxnet as mx
val = nd.zeros(shape=(3,),ctx=mx.gpu())
print(val)
"""
NETWORK_PRINT = '(10, 1)\n(10,)\n\n[0. 0. 0.]\n<NDArray 3 @gpu(0)>\n'


@pytest.mark.parametrize('program, printed', [
    (ARRAYS, ARRAYS_PRINT), (SAVING, TWOS + TWOS + THREES + TWOS + THREES), (PARALLEL, '6.0 6.0 3.0 gpu(0)\n'),
    (GRADIENTS, GRADIENTS_PRINT), (NETWORK, NETWORK_PRINT)], ids=['arrays', 'saving', 'parallel', 'gradients',
                                                                  'network'])
def test_program(program, printed, run_python, tmp_path):
    (tmp_path / 'program.py').write_text(textwrap.dedent(program))
    assert run_python('program.py', MXNET_VIRTUAL_GPUS='4').stdout == printed


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
def test_remote_stores(bucket, tmp_path, monkeypatch):
    """`mybucket` is one of a server on this machine. The text's second path, `hdfs///users/...`, lacks its colon, so it
    is a file on a disk; with the colon it is one for fsspec, and needs a cluster."""
    monkeypatch.chdir(tmp_path)
    a = mx.nd.ones((2, 3)) * 2
    b = mx.nd.ones((2, 3)) * 3
    mx.nd.save(f'{bucket}/mydata.bin', [a, b])
    assert [found.asnumpy().tolist() for found in mx.nd.load(f'{bucket}/mydata.bin')] == [[[2] * 3] * 2, [[3] * 3] * 2]
    (tmp_path / 'hdfs/users/myname').mkdir(parents=True)
    mx.nd.save('hdfs///users/myname/mydata.bin', [a, b])
    assert len(mx.nd.load(str(tmp_path / 'hdfs/users/myname/mydata.bin'))) == 2
