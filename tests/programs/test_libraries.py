"""What libraries on top of Gluon (GluonCV, GluonNLP, GluonTS, Sockeye) take from its inside, or count on silently."""
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx
from mxnet import autograd, gluon, nd


def test_private_names():
    from mxnet.contrib import amp
    from mxnet.gluon import block, loss
    pair = [nd.zeros((1,)), [nd.ones((2,)), None]]
    flat, form = block._flatten(pair, 'input')
    assert [None if x is None else x.shape for x in flat] == [(1,), (2,), None]
    assert block._regroup(flat, form)[0] == pair
    assert loss._apply_weighting(nd, nd.ones((2,)), 3.0, nd.array([1, 2])).asnumpy().tolist() == [3, 6]
    assert loss._reshape_like(nd, nd.ones((4,)), nd.ones((2, 2))).shape == (2, 2)
    assert isinstance(nd.ones((1,)), gluon.tensor_types) and isinstance(mx.sym.var('x'), gluon.tensor_types)
    assert mx.metric.ndarray is nd
    assert amp.amp._amp_initialized is False
    with pytest.raises(AttributeError, match='nothing_like_it'):
        _ = amp.amp.nothing_like_it


def test_a_pool_of_processes_is_known_without_an_import():
    code = 'import multiprocessing, mxnet; mxnet.nd; assert multiprocessing.pool.Pool'
    subprocess.run([sys.executable, '-c', code], check=True, cwd=ROOT)


# ---------------------------------------------------------------------- parameters that derive from Parameter
class Dropped(gluon.Parameter):
    """A parameter with dropout, in place of another one."""

    def __init__(self, parameter, rate):
        self._deferred_init = parameter._deferred_init
        super().__init__(parameter.name, parameter.grad_req, parameter._shape)
        self._rate = rate
        self._var, self._data, self._grad = parameter._var, parameter._data, parameter._grad
        self._ctx_list, self._ctx_map = parameter._ctx_list, parameter._ctx_map

    def data(self, ctx=None):
        return nd.Dropout(self._check_and_get(self._data, ctx), self._rate)


@pytest.mark.parametrize('flags', [None, {}, {'static_alloc': True, 'static_shape': True}])
def test_a_parameter_with_dropout(flags):
    mx.random.seed(1)
    net = gluon.nn.Dense(1, in_units=1000, use_bias=False)
    net.initialize(mx.init.One())
    weight = Dropped(net.weight, 0.5)
    net._reg_params['weight'] = net.params._params[weight.name] = weight
    object.__setattr__(net, 'weight', weight)
    if flags is not None:
        net.hybridize(**flags)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.0})
    seen = set()
    for _ in range(30):                     # enough for whatever begins to repeat itself
        with autograd.record():
            y = net(nd.ones((1, 1000)))
        y.backward()
        trainer.step(1)
        kept = weight.grad().asnumpy() != 0
        assert 400 < kept.sum() < 600 and y.asscalar() == 2 * kept.sum()
        seen.add(kept.tobytes())
    assert len(seen) == 30
    assert net(nd.ones((1, 1000))).asscalar() == 1000


def test_fields_of_parameters():
    parameter = gluon.Parameter('w', shape=(2, 0), allow_deferred_init=True)
    assert parameter._deferred_init == () and parameter._grad is None
    with pytest.raises(RuntimeError, match="'w' has not been initialized"):
        parameter._check_and_get(parameter._data, None)
    parameter.initialize(ctx=[mx.cpu(0), mx.cpu(2)])
    assert len(parameter._deferred_init) == 4
    with pytest.raises(gluon.DeferredInitializationError):
        parameter._check_and_get(parameter._data, None)
    parameter.shape = 2, 3
    parameter._finish_deferred_init()
    assert parameter._deferred_init == () and parameter._ctx_map == [[], [0, None, 1]]
    assert parameter._check_and_get(parameter._data, mx.cpu(2)) is parameter.data(mx.cpu(2))
    assert parameter._check_and_get(parameter._grad, mx.cpu(2)) is parameter.grad(mx.cpu(2))
    assert parameter._check_and_get(parameter._data, list) is parameter._data


# ---------------------------------------------------------------------- blocks
class TopK(gluon.HybridBlock):
    """Has a `forward` of its own, which calls the one that runs `hybrid_forward`."""

    def forward(self, scores, offset):
        rows, columns = scores.shape
        indices, values = super().forward(scores.reshape((rows // 2, 2 * columns)))
        row, column = nd.unravel_index(indices, shape=(rows, columns))
        if rows > 2:
            row += offset
        return row, column, values

    def hybrid_forward(self, F, scores):
        values, indices = F.topk(scores, axis=1, k=2, ret_typ='both', is_ascend=True, dtype='int32')
        return F.reshape(indices, shape=(-1,)), F.reshape(values, shape=(-1, 1))


@pytest.mark.filterwarnings('ignore:topk.* cannot become one graph')
@pytest.mark.parametrize('hybrid', [False, True])
def test_a_forward_that_calls_the_one_it_replaces(hybrid):
    net = TopK()
    net.hybridize(hybrid)
    scores = nd.array([[3, 1, 2], [0, 5, 4], [9, 8, 7], [6, 6.5, 1]])
    for _ in range(3):
        row, column, value = net(scores, nd.array([0, 0, 2, 2], dtype='int32'))
        assert row.asnumpy().tolist() == [1, 0, 3, 3] and column.asnumpy().tolist() == [0, 1, 2, 0]
        assert value.asnumpy().ravel().tolist() == [0, 1, 1, 6]
    assert net(scores[:2], nd.zeros((2,), dtype='int32'))[0].asnumpy().tolist() == [1, 0]


def test_a_dtype_is_taken_from_an_array():
    x = nd.ones((2,))
    assert x.astype(nd.ones((1,), dtype='int32')).dtype is np.int32
    assert x.astype(x, copy=False) is x
    assert nd.zeros((1,), dtype=x).dtype is np.float32
    assert mx.np.ones((1,)).astype(mx.np.ones((1,), dtype='int8')).dtype == np.int8


def test_a_failed_download_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match='could not be downloaded') as caught:
        gluon.utils.download('http://127.0.0.1:9/nothing', str(tmp_path / 'x'), retries=0)
    assert isinstance(caught.value, mx.MXNetError)


# ---------------------------------------------------------------------- optimizers with rates of their own
def with_rates(base, one, many):
    """A class like those of Keras: its rate of weight i is `0.1 * (i + 1)`, of lists it says less than it is asked."""
    methods = {}
    if one:
        methods['_get_lr'] = lambda self, index: 0.1 * (index + 1) * self.factor
    if many:
        methods['_get_lrs'] = lambda self, indices: [0.1 * (indices[0] + 1) * self.factor]
    return type('Mine', (base,), methods | {'factor': 1.0})


@pytest.mark.parametrize('base, one, many', [
    (mx.optimizer.SGD, False, True), (mx.optimizer.SGD, True, True), (mx.optimizer.NAG, True, True),
    (mx.optimizer.NAG, True, False),
])
@pytest.mark.parametrize('how', ['trainer', 'updater'])
def test_learning_rates_of_derived_optimizers(base, one, many, how):
    optimizer = with_rates(base, one, many)(learning_rate=5.0)
    net = gluon.nn.Sequential()
    net.add(*[gluon.nn.Dense(1, in_units=2, use_bias=False, prefix=f'layer{i}_') for i in range(3)])
    net.initialize(mx.init.Zero())
    parameters = list(net.collect_params().values())
    trainer = gluon.Trainer(net.collect_params(), optimizer)
    update = mx.optimizer.get_updater(optimizer)
    wanted = np.zeros(3)
    for step in range(5):
        optimizer.factor = 1.0 if step < 3 else 0.5
        with autograd.record():
            loss = sum((parameter.data().sum() for parameter in parameters), nd.zeros((1,)))
        loss.backward()
        if how == 'trainer':
            trainer.step(1)
        else:
            for i, parameter in enumerate(parameters):
                update(i, parameter.grad(), parameter.data())
        wanted -= 0.1 * np.arange(1, 4) * optimizer.factor
    np.testing.assert_allclose([p.data().asnumpy()[0, 0] for p in parameters], wanted, rtol=1e-5)


def test_a_weight_decay_of_a_derived_optimizer():
    class Mine(mx.optimizer.Adam):
        def _get_wd(self, index):
            return float(index)

    update = mx.optimizer.get_updater(Mine(learning_rate=0.1, wd=7.0))
    weights = [nd.ones((2,)), nd.ones((2,))]
    for i, weight in enumerate(weights):
        update(i, nd.zeros((2,)), weight)
    assert weights[0].asnumpy().tolist() == [1, 1]
    np.testing.assert_allclose(weights[1].asnumpy(), 0.9, rtol=1e-5)


# ---------------------------------------------------------------------- symbols
def test_where_learns_shapes_from_its_result():
    """The states that DeepAR begins with have the size of a batch that only the rest of the network knows."""
    condition = mx.sym.var('condition')
    chosen = mx.sym.where(condition, mx.sym.zeros((0, 4)), mx.sym.zeros((0, 4)))
    net = chosen + mx.sym.FullyConnected(condition, mx.sym.var('w'), no_bias=True, num_hidden=4)
    assert net.get_internals().infer_shape(condition=(3, 4))[1] == [(3, 4)] * 4 + [(4, 4)] + [(3, 4)] * 2
    assert net.simple_bind(mx.cpu(), condition=(3, 4)).forward()[0].shape == (3, 4)
