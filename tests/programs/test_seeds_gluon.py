"""The programs of the tutorial on MNIST with Gluon, and what else our tutorials do with devices and NumPy arrays.

The order and the spelling are those of the texts. What had to change everywhere: `print x` is `print(x)`, `(64L,)` is
`(64,)`, NumPy prints one blank less, four GPUs are virtual ones, and the digits are the 1,500 of examples/data. What
had to change in one program stands above it.
"""
import re
import shutil

import pytest
from conftest import ROOT

# The text gives the methods one by one; the class around them and its fields follow from what they use.
# `data_itertor` is the author's typo of `data_iterator`. The text's MNIST has 60,000 digits.
FIRST = '''
import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd
from mxnet.gluon.data import DataLoader
from mxnet.gluon.data.vision import MNIST


class GluonFirst(object):
    def __init__(self):
        self.batch_size = 64
        self.num_outputs = 10
        self.model_ctx = mx.cpu()

    def load_data(self):
        def transform(data, label):
            return data.astype(np.float32) / 255., label.astype(np.float32)
        train_data = DataLoader(MNIST(train=True, transform=transform),
                                self.batch_size, shuffle=True)
        test_data = DataLoader(MNIST(train=False, transform=transform),
                               self.batch_size, shuffle=False)
        return train_data, test_data

    def model(self):
        num_hidden = 64
        net = gluon.nn.Sequential()
        with net.name_scope():
            net.add(gluon.nn.Dense(units=num_hidden, activation="relu"))
            net.add(gluon.nn.Dense(units=num_hidden, activation="relu"))
            net.add(gluon.nn.Dense(units=self.num_outputs))

        net.collect_params().initialize(init=mx.init.Normal(sigma=.1), ctx=self.model_ctx)
        print(net)  # 展示模型
        return net

    def __evaluate_accuracy(self, data_iterator, net):
        acc = mx.metric.Accuracy()  # 准确率
        for i, (data, label) in enumerate(data_iterator):
            data = data.as_in_context(self.model_ctx).reshape((-1, 784))
            label = label.as_in_context(self.model_ctx)
            output = net(data)  # 预测结果
            predictions = nd.argmax(output, axis=1)  # 类别
            acc.update(preds=predictions, labels=label)  # 更新概率和标签
        return acc.get()[1]  # 第1维是数据名称，第2维是概率

    def train(self, epochs=10, num_examples=60000):
        train_data, test_data = self.load_data()  # 训练和测试数据
        net = self.model()  # 模型

        for data, label in train_data:
            print(data.shape)  # (64L, 28L, 28L, 1L)
            print(label.shape)  # (64L,)
            break

        smoothing_constant = .01

        softmax_cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()  # 交叉熵
        trainer = gluon.Trainer(params=net.collect_params(),
                                optimizer='sgd',
                                optimizer_params={'learning_rate': smoothing_constant})

        for e in range(epochs):
            cumulative_loss = 0  # 累积的
            for i, (data, label) in enumerate(train_data):
                data = data.as_in_context(self.model_ctx).reshape((-1, 784))  # 数据
                label = label.as_in_context(self.model_ctx)  # 标签

                with autograd.record():  # 梯度
                    output = net(data)  # 输出
                    loss = softmax_cross_entropy(output, label)  # 输入和输出计算loss

                loss.backward()  # 反向传播
                trainer.step(data.shape[0])  # 设置trainer的step
                cumulative_loss += nd.sum(loss).asscalar()  # 计算全部损失

            test_accuracy = self.__evaluate_accuracy(test_data, net)
            train_accuracy = self.__evaluate_accuracy(train_data, net)
            print("Epoch %s. Loss: %s, Train_acc %s, Test_acc %s" %
                  (e, cumulative_loss / num_examples, train_accuracy, test_accuracy))
'''
MODEL_PRINT = '''\
Sequential(
  (0): Dense(None -> 64, Activation(relu))
  (1): Dense(None -> 64, Activation(relu))
  (2): Dense(None -> 10, linear)
)
'''

# `model` has already initialized the parameters on the CPU, so the second `initialize` needs force_reinit (MXNet 1.9.1,
# too, warns and leaves them where they are). Pictures become rows, as in the first program, and batches that four GPUs
# cannot share are left out; the text shows neither.
GPUS = FIRST + '''
from time import time


class GluonGPU(GluonFirst):
    @staticmethod
    def train_batch(batch, ctx, net, trainer):
        # split the data batch and load them on GPUs
        data = gluon.utils.split_and_load(batch[0], ctx)  # 列表
        label = gluon.utils.split_and_load(batch[1], ctx)  # 列表
        # compute gradient
        GluonGPU.forward_backward(net, data, label)
        # update parameters
        trainer.step(batch[0].shape[0])

    @staticmethod
    def forward_backward(net, data, label):
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        with autograd.record():
            losses = [loss(net(X), Y) for X, Y in zip(data, label)]  # loss列表
        for l in losses:  # 每个loss反向传播
            l.backward()

    @staticmethod
    def valid_batch(batch, ctx, net):
        data = batch[0].as_in_context(ctx[0])
        pred = nd.argmax(net(data), axis=1)
        return nd.sum(pred == batch[1].as_in_context(ctx[0])).asscalar()

    def train(self):
        GPU_COUNT = 4
        ctx = [mx.gpu(i) for i in range(GPU_COUNT)]
        train_data, valid_data = ([(data.reshape((-1, 784)), label) for data, label in part if len(label) % 4 == 0]
                                  for part in self.load_data())

        net = self.model()  # 模型
        net.collect_params().initialize(init=mx.init.Normal(sigma=.1), ctx=ctx, force_reinit=True)

        smoothing_constant = .01
        trainer = gluon.Trainer(params=net.collect_params(),
                                optimizer='sgd',
                                optimizer_params={'learning_rate': smoothing_constant})
        epochs = 10
        for e in range(epochs):
            start = time()
            for batch in train_data:
                self.train_batch(batch, ctx, net, trainer)
            nd.waitall()  # 等待所有异步的任务都终止
            print('Epoch %d, training time = %.1f sec' % (e, time() - start))
            correct, num = 0.0, 0.0
            for batch in valid_data:
                correct += self.valid_batch(batch, ctx, net)
                num += batch[0].shape[0]
            print('\\tvalidation accuracy = %.4f' % (correct / num))
        print(sorted(str(c) for c in net.collect_params()['sequential0_dense0_weight'].list_ctx()))


mx.random.seed(3)
np.random.seed(3)
GluonGPU().train()
'''


@pytest.fixture
def home(tmp_path):
    """~/.mxnet with MNIST where the text says it is: `.mxnet/datasets/mnist`."""
    shutil.copytree(ROOT / 'examples' / 'data' / 'mnist', tmp_path / '.mxnet' / 'datasets' / 'mnist')
    return str(tmp_path / '.mxnet')


def run(run_python, tmp_path, program, **environment):
    (tmp_path / 'program.py').write_text(program, encoding='utf-8')
    return run_python('program.py', MXNET_VIRTUAL_GPUS='4', **environment).stdout


def test_mnist(run_python, tmp_path, home):
    printed = run(run_python, tmp_path, FIRST + '\nmx.random.seed(3)\nnp.random.seed(3)\n'
                  'GluonFirst().train(num_examples=1000)\n', MXNET_HOME=home)
    assert printed.startswith(MODEL_PRINT + '(64, 28, 28, 1)\n(64,)\n')
    epochs = re.findall(r'^Epoch (\d+)\. Loss: ([\d.]+), Train_acc ([\d.]+), Test_acc ([\d.]+)$', printed, re.MULTILINE)
    losses, accuracies = [float(e[1]) for e in epochs], [float(e[3]) for e in epochs]
    assert len(epochs) == 10 and losses == sorted(losses, reverse=True)
    # 160 steps of 0.01 on 1,000 digits: far from the text's 9,380 steps, and well on the way
    assert losses[0] == pytest.approx(2.3, abs=0.2) and losses[-1] < 2.1 and accuracies[-1] > 0.4


@pytest.mark.slow
def test_mnist_as_long_as_the_text_trains(run_python, tmp_path, shared):
    """10 epochs of six times 10,000 digits: the losses and accuracies that the text shows for epochs of 60,000."""
    program = FIRST.replace('enumerate(train_data):\n                data = data.as_in',
                            'enumerate(b for _ in range(6) for b in train_data):\n                data = data.as_in')
    assert program != FIRST
    folder = tmp_path / '.mxnet' / 'datasets'
    folder.mkdir(parents=True)
    (folder / 'mnist').symlink_to(shared / 'data' / 'mnist')
    printed = run(run_python, tmp_path, program + '\nmx.random.seed(3)\nnp.random.seed(3)\nGluonFirst().train()\n',
                  MXNET_HOME=str(tmp_path / '.mxnet'))
    numbers = re.findall(r'Loss: ([\d.]+), Train_acc ([\d.]+), Test_acc ([\d.]+)', printed)
    found = [tuple(map(float, epoch)) for epoch in numbers]
    first, last = found[0], found[-1]
    assert first[0] == pytest.approx(1.2744, abs=0.25) and first[2] == pytest.approx(0.8509, abs=0.04)
    assert last[0] == pytest.approx(0.2247, abs=0.06) and last[2] == pytest.approx(0.9337, abs=0.03)


def test_four_gpus(run_python, tmp_path, home):
    """With the variable that the text sets against a warning about peer access."""
    printed = run(run_python, tmp_path, GPUS, MXNET_HOME=home, MXNET_ENABLE_GPU_P2P='0')
    found = [float(text) for text in re.findall(r'^\tvalidation accuracy = (0\.\d{4})$', printed, re.MULTILINE)]
    assert len(re.findall(r'^Epoch \d, training time = [\d.]+ sec$', printed, re.MULTILINE)) == len(found) == 10
    assert found[-1] > 0.4 and found[-1] > found[0] + 0.1
    assert printed.endswith("['gpu(0)', 'gpu(1)', 'gpu(2)', 'gpu(3)']\n")


def test_plot_network(run_python, tmp_path):
    """The text draws in a notebook; here the drawing's nodes are looked at."""
    pytest.importorskip('graphviz')
    printed = run(run_python, tmp_path, '''
import mxnet as mx
from mxnet import gluon

num_hidden = 64
net = gluon.nn.HybridSequential()
with net.name_scope():
    net.add(gluon.nn.Dense(num_hidden, activation="relu"))
    net.add(gluon.nn.Dense(num_hidden, activation="relu"))
    net.add(gluon.nn.Dense(10))

# 绘制逻辑
net.hybridize()
net.collect_params().initialize()
x = mx.sym.var('data')
sym = net(x)
drawing = mx.viz.plot_network(sym)
print(drawing.source)
''')
    for name in ('data', 'dense0_fwd', 'dense0_relu_fwd', 'dense1_fwd', 'dense1_relu_fwd', 'dense2_fwd'):
        assert name in printed
    assert 'FullyConnected\n64' in printed and 'Activation\nrelu' in printed


def test_is_the_gpu_there(run_python, tmp_path):
    printed = run(run_python, tmp_path, '''
import mxnet as mx
a = mx.nd.ones((2, 3), mx.gpu())
b = a * 2 + 1
print(repr(b.asnumpy()))
''')
    assert printed == 'array([[3., 3., 3.],\n       [3., 3., 3.]], dtype=float32)\n'


def test_devices_of_the_overview(run_python, tmp_path):
    """`nd.zeros(shape=(...), mx.gpu(0))` is no Python: `ctx=` is the argument's name. X must go to the GPU where W1 is:
    upstream, too, takes no arrays of two devices. 10,000 x 40,000 floats are 1.6 GB; a hundredth of both will do."""
    printed = run(run_python, tmp_path, '''
import mxnet as mx
import mxnet.ndarray as nd

X  = nd.zeros((100, 400), mx.cpu(0))
W1 = nd.zeros(shape=(400, 1024), ctx=mx.gpu(0))
W2 = nd.zeros(shape=(1024, 10), ctx=mx.gpu(0))

X = X.as_in_context(mx.gpu(0))

# 定义具体的计算设备GPU或者CPU
with mx.Context(mx.gpu()):
    h = nd.tanh(nd.dot(X, W1))
    y = nd.sigmoid(nd.dot(h, W2))
print(h.shape, h.context, y.shape, y.context, y[0, 0].asscalar(), nd.zeros(1).context)
''')
    assert printed == '(100, 1024) gpu(0) (100, 10) gpu(0) 0.5 cpu(0)\n'


def test_numpy_and_back(run_python, tmp_path):
    """The first half has `nd.array(A)` for an array that it named `A_np`."""
    printed = run(run_python, tmp_path, '''
import numpy as np
from mxnet import nd
# Create a numpy array from an mxnet NDArray
A_np = np.array([[0,1,2,3,4],[5,6,7,8,9]])
A_nd = nd.array(A_np)

# Convert back to a numpy array
A2_np = A_nd.asnumpy()
print(A_nd, A2_np.dtype, (A2_np == A_np).all())

# numpy.ndarray --> mx.NDArray
val = np.array([1, 2, 3])
nd_val = nd.array(val) # 深复制

# NDArray --> numpy.ndarray
val_ = nd_val.asnumpy()
val[0] = val_[1] = 9
print(nd_val)
''')
    assert printed == ('\n[[0. 1. 2. 3. 4.]\n [5. 6. 7. 8. 9.]]\n<NDArray 2x5 @cpu(0)> float32 True\n'
                       '\n[1. 2. 3.]\n<NDArray 3 @cpu(0)>\n')


def test_first_network_learns_as_shown(run_python, tmp_path):
    """The weights are random, but the text's numbers hang together: ten equal rows, a loss of (1 - res)^2 / 2, a step
    towards 1. (Equal up to the last bit: kernels may sum the rows of a product in different orders.)"""
    printed = run(run_python, tmp_path, '''
from mxnet import nd
from mxnet import autograd
from mxnet.gluon import nn
from mxnet.gluon import loss
from mxnet import gluon

class Net(nn.Block):
    def __init__(self, **kwargs):
        super(Net, self).__init__(**kwargs)

        self.dense0 = nn.Dense(256) # 我们只需要对 层的输出维度 作说明，不需要考虑输入的维度
        self.dense1 = nn.Dense(1)   # Gluon 会帮助我们 推断出 输入的 维度

    def forward(self, x):
        return self.dense1(nd.relu(self.dense0(x)))

net = Net()

net.initialize() # 要先 initialize， 再创建 trainer
trainer = gluon.Trainer(net.collect_params(), 'sgd',
                        {'learning_rate': 0.001}) # 优化方法
val = nd.ones(shape=(10, 100))
label = nd.ones(shape=(10,))

criterion = loss.L2Loss() # 创建一个 loss 标准

with autograd.record(): # 需要反向传导的地方记得 record 一下
    res = net(val)
    print(res)
    loss = criterion(res, label)

loss.backward() # 计算梯度

trainer.step(batch_size=10)  # 更新模型参数

print(net(val))
print(loss)
''')
    before, after, lost = re.findall(r'\n(\[.*?\])\n<NDArray ([\dx]+) @cpu\(0\)>', printed, re.DOTALL)
    assert (before[1], after[1], lost[1]) == ('10x1', '10x1', '10')
    values = [[float(number) for number in re.findall(r'-?\d+\.\d+(?:e-\d+)?', text)]
              for text, _ in (before, after, lost)]
    for rows in values:
        assert len(rows) == 10 and rows == pytest.approx([rows[0]] * 10, rel=1e-5)
    first, second, loss = (rows[0] for rows in values)
    assert loss == pytest.approx((1 - first) ** 2 / 2, rel=1e-4)
    assert abs(1 - second) < abs(1 - first)


def test_image_records_and_feedforward(run_python, tmp_path):
    """`mx.io.ImageRecordIter(...)`, `FeedForward.create(symbol = net, X = data, ...)`: the dots are filled in."""
    pytest.importorskip('cv2')
    printed = run(run_python, tmp_path, '''
import warnings
import mxnet as mx
import numpy as np
warnings.simplefilter('ignore', DeprecationWarning)       # FeedForward is old, and says so
np.random.seed(0)
mx.random.seed(0)
with mx.recordio.MXIndexedRecordIO('train.idx', 'train.rec', 'w') as writer:
    for number in range(64):
        picture = np.full((16, 16, 3), 230 if number % 2 else 20, np.uint8)
        writer.write_idx(number, mx.recordio.pack_img((0, number % 2, number, 0), picture, img_fmt='.png'))

data  = mx.io.ImageRecordIter(path_imgrec='train.rec', data_shape=(3, 16, 16), batch_size=16, scale=1 / 255)
net   = mx.symbol.FullyConnected(mx.symbol.Variable('data'), num_hidden=2)
net   = mx.symbol.SoftmaxOutput(net, name='softmax')
model = mx.model.FeedForward.create(symbol = net, X = data, num_epoch=30, learning_rate=0.05)
print(model.score(data))

kv    = mx.kvstore.create('dist_sync')
model = mx.model.FeedForward.create(symbol = net, X = data, kvstore = kv, num_epoch=30, learning_rate=0.05)
print(model.score(data))
''')
    assert printed == '1.0\n1.0\n'
