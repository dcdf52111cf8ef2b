"""Models with ten million features: nothing as large as a dense array of them may come into being."""
import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import mxnet as mx
from mxnet import autograd, gluon, nd

WIDE = 10 ** 7
LARGEST = 1 << 20         # bytes; a dense weight of one column has 40 MB


class NothingLarge(TorchDispatchMode):
    """Raises where an operator of torch gives a tensor with more memory than `LARGEST`."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for t in tree_leaves(result):
            if isinstance(t, torch.Tensor) and t.layout is torch.strided and t.device.type == 'cpu':
                if t.untyped_storage().nbytes() > LARGEST:
                    raise AssertionError(f'{function} makes a tensor of shape {tuple(t.shape)}')
        return result


@pytest.fixture
def nothing_large():
    with NothingLarge():
        yield


def test_the_guard_works(nothing_large):
    with pytest.raises(AssertionError, match='shape'):
        nd.zeros((LARGEST, 1))


@pytest.fixture(scope='module')
def svm(tmp_path_factory):
    """A LibSVM file: the label is whether most of a sample's features are odd ones."""
    draw, path = np.random.RandomState(0), tmp_path_factory.mktemp('svm') / 'train.svm'
    with open(path, 'w') as file:
        for _ in range(1000):
            numbers = np.unique(draw.randint(0, 300, 15))
            label = int((numbers % 2).mean() > 0.5)
            file.write(f'{label} ' + ' '.join(f'{n * (WIDE // 300)}:1' for n in numbers) + '\n')
    return str(path)


def batches(path):
    return mx.io.LibSVMIter(data_libsvm=path, data_shape=(WIDE,), batch_size=100)


def rows_of_batch(batch):
    return dict.fromkeys(('w_weight', 'v_weight'), batch.data[0].indices)


def sparse_variable(name, columns):
    return mx.sym.var(name, stype='row_sparse', shape=(WIDE, columns), init=mx.init.Zero())


def some_rows(path, columns):
    """Random values for the features that there are."""
    used = np.unique(np.concatenate([b.data[0].indices.asnumpy() for b in batches(path)]))
    values = np.random.RandomState(1).normal(0, 0.05, (len(used), columns)).astype('float32')
    return nd.sparse.row_sparse_array((values, used), shape=(WIDE, columns))


@pytest.mark.parametrize('kvstore', [None, 'local'])
@pytest.mark.parametrize(('optimizer', 'rate'), [('sgd', 2.0), ('adam', 0.05), ('adagrad', 0.2), ('ftrl', 1.0)])
def test_linear_module(svm, nothing_large, optimizer, rate, kvstore):
    x, w, b = mx.sym.var('data', stype='csr'), sparse_variable('w_weight', 1), mx.sym.var('b_bias', shape=(1,))
    net = mx.sym.LogisticRegressionOutput(mx.sym.broadcast_add(mx.sym.sparse.dot(x, w), b), mx.sym.var('label'))
    module = mx.mod.Module(net, label_names=['label'])
    data = mx.io.LibSVMIter(data_libsvm=svm, data_shape=(WIDE,), batch_size=100, label_name='label')
    store = mx.kv.create(kvstore) if kvstore else None
    module.fit(data, num_epoch=6, kvstore=store, optimizer=optimizer, optimizer_params={'learning_rate': rate},
               eval_metric='mse',
               sparse_row_id_fn=(lambda batch: {'w_weight': batch.data[0].indices}) if kvstore else None)
    weight = module.get_params()[0]['w_weight']
    assert weight.stype == 'row_sparse' and len(weight.indices) <= 300
    assert module.score(data, 'mse')[0][1] < 0.12


class Machine(gluon.Block):
    """A factorisation machine."""

    def __init__(self, factors=4):
        super().__init__()
        rows = {'stype': 'row_sparse', 'grad_stype': 'row_sparse', 'init': 'zeros'}
        self.w = self.params.get('w', shape=(WIDE, 1), **rows)
        self.v = self.params.get('v', shape=(WIDE, factors), **rows)
        self.b = self.params.get('b', shape=(1,), init='zeros')

    def forward(self, x):
        w, v = (p.row_sparse_data(x.indices) for p in (self.w, self.v))
        pairs = nd.square(nd.sparse.dot(x, v)) - nd.sparse.dot(nd.square(x), nd.square(v))
        return nd.sparse.dot(x, w) + nd.sum(pairs, axis=1, keepdims=True) / 2 + self.b.data()


@pytest.mark.parametrize('optimizer', ['adam', 'adagrad'])
def test_factorisation_machine(svm, nothing_large, optimizer, tmp_path):
    net = Machine()
    net.initialize()
    net.v.set_data(some_rows(svm, 4))
    trainer = gluon.Trainer(net.collect_params(), optimizer, {'learning_rate': 0.05})
    loss, data, means = gluon.loss.SigmoidBCELoss(), batches(svm), []
    for _ in range(4):
        data.reset()
        losses = []
        for batch in data:
            with autograd.record():
                cost = loss(net(batch.data[0]), batch.label[0])
            cost.backward()
            trainer.step(100)
            losses.append(float(cost.mean().asscalar()))
        means.append(np.mean(losses))
    assert means[-1] < 0.5 * means[0]
    file = tmp_path / 'fm.params'
    net.save_parameters(str(file))
    assert file.stat().st_size < 30000
    other = Machine()
    other.load_parameters(str(file))
    assert other.v._data[0].stype == 'row_sparse'


def test_factorisation_machine_as_a_module(svm, nothing_large):
    x, w, v = mx.sym.var('data', stype='csr'), sparse_variable('w_weight', 1), sparse_variable('v_weight', 4)
    squares = mx.sym.dot(mx.sym.square(x), mx.sym._internal._square_sum(v, axis=1, keepdims=True))
    pairs = mx.sym.sum(mx.sym.square(mx.sym.dot(x, v)), axis=1, keepdims=True) - squares
    net = mx.sym.LogisticRegressionOutput(mx.sym.dot(x, w) + 0.5 * pairs, mx.sym.var('softmax_label'))
    module, data = mx.mod.Module(net), batches(svm)
    module.fit(data, num_epoch=5, kvstore=mx.kv.create('local'), optimizer='adam', eval_metric='mse',
               optimizer_params={'learning_rate': 0.05}, arg_params={'v_weight': some_rows(svm, 4)},
               allow_missing=True, sparse_row_id_fn=rows_of_batch)
    assert module.score(data, 'mse')[0][1] < 0.1


def test_arithmetic_stays_sparse(nothing_large):
    x = nd.sparse.csr_matrix(([1., 2., 3.], [5, WIDE - 1, 7], [0, 2, 3]), shape=(2, WIDE))
    for result in (x + x, x - x, x * x, x * 2, x / 2, -x, nd.square(x), nd.sin(x)):
        assert result.stype == 'csr'
    w = nd.sparse.row_sparse_array((np.ones((3, 2), 'float32'), [5, 7, 9]), shape=(WIDE, 2))
    for result in (w + w, w - w, w * 2, w / 2, -w, nd.square(w), nd.sparse.add_n(w, w), w.copy(),
                   nd.sparse.retain(w, nd.array([7]))):
        assert result.stype == 'row_sparse'
    assert float(nd.sum(w).asscalar()) == 6 and float(nd.norm(x).asscalar()) == pytest.approx(14 ** 0.5)
    mx.init.Zero()(mx.init.InitDesc('w_weight'), w)
    assert len(w.indices) == 0


KEPT = np.array([5, 9])
FUNCTIONS = {       # of a row_sparse array and a csr one, and the same of dense ones
    'square': (lambda w, x: nd.sparse.dot(x, nd.square(w)), lambda w, x: nd.dot(x, nd.square(w))),
    'difference': (lambda w, x: nd.sparse.dot(x, w * 3 - nd.sin(w)), lambda w, x: nd.dot(x, w * 3 - nd.sin(w))),
    'sum': (lambda w, x: nd.sparse.dot(x, nd.sparse.add_n(w, nd.tanh(w), w)),
            lambda w, x: nd.dot(x, 2 * w + nd.tanh(w))),
    'retained': (lambda w, x: nd.sparse.dot(x, nd.sparse.retain(w, nd.array(KEPT))),
                 lambda w, x: nd.dot(x, nd.broadcast_mul(w, nd.array(np.isin(np.arange(10), KEPT)).reshape(-1, 1)))),
    'decay': (lambda w, x: nd.sum(nd.square(w)) + nd.norm(w), lambda w, x: nd.sum(nd.square(w)) + nd.norm(w)),
}


@pytest.mark.parametrize('name', FUNCTIONS)
def test_gradients_come_by_rows(nothing_large, name):
    values = np.random.RandomState(0).rand(3, 2).astype('float32')
    dense, narrow = np.zeros((10, 2), 'float32'), np.zeros((2, 10), 'float32')
    dense[[5, 7, 9]], narrow[0, 5], narrow[1, [3, 7]] = values, 1, 3
    wide, small = nd.sparse.row_sparse_array((values, [5, 7, 9]), shape=(WIDE, 2)), nd.array(dense)
    csr = nd.sparse.csr_matrix(([1., 3., 3.], [5, 3, 7], [0, 1, 3]), shape=(2, WIDE))
    for w, x, function in ((wide, csr, FUNCTIONS[name][0]), (small, nd.array(narrow), FUNCTIONS[name][1])):
        w.attach_grad()
        with autograd.record():
            y = function(w, x)
        y.backward()
    assert wide.grad.stype == 'row_sparse'
    found = np.zeros((10, 2), 'float32')
    found[wide.grad.indices.asnumpy()] = wide.grad.data.asnumpy()
    np.testing.assert_allclose(found, small.grad.asnumpy(), rtol=1e-5)


def test_a_gradient_after_an_update_is_refused():
    w = nd.sparse.row_sparse_array((np.ones((2, 1), 'float32'), [1, 2]), shape=(4, 1))
    w.attach_grad()
    with autograd.record():
        y = nd.sum(nd.square(w))
    mx.optimizer.SGD(learning_rate=0.1).update(0, w, nd.sparse.row_sparse_array(([[1.]], [1]), shape=(4, 1)), None)
    with pytest.raises(mx.MXNetError, match='backward before the update'):
        y.backward()


def test_hybridized_embeddings_have_gradients_by_rows():
    results = []
    for hybridize in (False, True):
        mx.random.seed(0)
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Embedding(50000, 8, sparse_grad=True), gluon.nn.Dense(4, activation='relu'), gluon.nn.Dense(1))
        net.initialize(mx.init.Normal(0.5))
        if hybridize:
            net.hybridize()
        x = nd.array([[3, 40000], [3, 7]])
        net(x)
        trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.1})
        with NothingLarge():
            for _ in range(4):
                with autograd.record():
                    cost = (net(x) ** 2).sum()
                cost.backward()
                gradient = net[0].weight.grad()
                assert gradient.stype == 'row_sparse' and gradient.indices.asnumpy().tolist() == [3, 7, 40000]
        trainer.step(1)
        results.append((float(cost.asscalar()), gradient.data.asnumpy(), net[1].weight.data().asnumpy()))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_hybridized_blocks_take_csr(nothing_large):
    class Product(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.weight = self.params.get('weight', shape=(WIDE // 100, 1), init='ones', grad_stype='row_sparse')

        def hybrid_forward(self, F, x, weight):
            return F.dot(x, weight)
    net = Product()
    net.initialize()
    net.hybridize()
    x = nd.sparse.csr_matrix(([1., 2., 3.], [5, 99999, 7], [0, 2, 3]), shape=(2, WIDE // 100))
    for _ in range(3):
        with autograd.record():
            y = net(x)
        y.backward()
        assert y.asnumpy().tolist() == [[3], [3]]
        assert net.weight.grad().indices.asnumpy().tolist() == [5, 7, 99999]
