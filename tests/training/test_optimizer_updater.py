"""`Updater`: states made, moved, saved and read, in upstream's format and never by executing a file."""
import pickle
import pickletools

import numpy as np
import pytest

import mxnet as mx
from mxnet.optimizer import _updater
from mxnet.optimizer._builtin import BuiltIn


def trained(name='adam', steps=2, **options):
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, **options))
    weights = [mx.nd.ones((2, 3)), mx.nd.ones((4,))]
    for _ in range(steps):
        updater([0, 1], [mx.nd.ones((2, 3)), mx.nd.ones((4,))], weights)
    return updater, weights


class Recorder(BuiltIn):
    """Notes what comes in one call."""

    calls: list = []

    def _step(self, indices, weights, grads, states, lrs, wds):
        self.calls.append(list(indices))


@pytest.fixture
def recorder():
    Recorder.calls = []
    return mx.optimizer.get_updater(Recorder())


# ---------------------------------------------------------------------- calls
def test_all_in_one_call(recorder):
    arrays = [mx.nd.ones((n,)) for n in range(1, 101)]
    recorder(list(range(100)), arrays, arrays)
    recorder(tuple(range(3)), tuple(arrays[:3]), tuple(arrays[:3]))
    recorder(7, arrays[0], arrays[0])
    recorder([], [], [])
    assert Recorder.calls == [list(range(100)), [0, 1, 2], [7]]


def test_one_call_for_each_dtype(recorder):
    arrays = [mx.nd.ones((2,), dtype=t) for t in ('float32', 'float64', 'float32', 'float64')]
    recorder([0, 1, 2, 3], arrays, arrays)
    assert Recorder.calls == [[0, 2], [1, 3]]


def test_limits(recorder, monkeypatch):
    arrays = [mx.nd.ones((2,))] * 5
    monkeypatch.setenv('MXNET_OPTIMIZER_AGGREGATION_SIZE', '2')
    recorder([0, 1, 2, 3, 4], arrays, arrays)
    recorder.aggregate_updates = False
    recorder([0, 1], arrays[:2], arrays[:2])
    assert Recorder.calls == [[0, 1], [2, 3], [4], [0], [1]]


def test_names_as_bytes(recorder):
    recorder([b'fc', 'conv'], [mx.nd.ones((1,))] * 2, [mx.nd.ones((1,)), mx.nd.ones((1,))])
    assert Recorder.calls == [['fc', 'conv']] and list(recorder.states) == ['fc', 'conv']


def test_lists_of_different_lengths(recorder):
    with pytest.raises(ValueError, match='zip'):
        recorder([0, 1], [mx.nd.ones((1,))] * 2, [mx.nd.ones((1,))])


def test_memory_stays():
    updater, weights = trained('sgd', momentum=0.9)
    before = [w.materialize() for w in weights], [updater.states[i].materialize() for i in range(2)]
    pointers = [[t.data_ptr() for t in column] for column in before]
    updater([0, 1], [mx.nd.ones((2, 3)), mx.nd.ones((4,))], weights)
    assert all(a is b for a, b in zip(before[0], [w.materialize() for w in weights]))
    assert pointers == [[t.data_ptr() for t in column] for column in
                        ([w.materialize() for w in weights], [updater.states[i].materialize() for i in range(2)])]


# ---------------------------------------------------------------------- states
@pytest.mark.parametrize('name, options', [('sgd', {'momentum': 0.9}), ('sgd', {}), ('adam', {}), ('lamb', {}),
                                           ('dcasgd', {}), ('rmsprop', {'centered': True}), ('nadam', {}),
                                           ('lbsgd', {'batch_scale': 3}), ('lars', {'momentum': 0.5})])
@pytest.mark.parametrize('whole', [True, False])
def test_going_on_from_saved_states(name, options, whole):
    updater, weights = trained(name, 4, **options)
    copies = [w.copy() for w in weights]
    other = mx.optimizer.get_updater(mx.optimizer.create(name, **options))
    other.set_states(updater.get_states(dump_optimizer=whole))
    if not whole:
        other.optimizer.__setstate__(pickle.loads(pickle.dumps(updater.optimizer)).__dict__)
    for u, w in ((updater, weights), (other, copies)):
        u([0, 1], [mx.nd.ones((2, 3)) * 0.5, mx.nd.ones((4,)) * 0.5], w)
    for a, b in zip(weights, copies):
        assert (a.asnumpy() == b.asnumpy()).all()


def test_states_go_to_the_weight():
    updater, _ = trained('adam')
    other = mx.optimizer.get_updater(mx.optimizer.Adam())
    other.set_states(updater.get_states())
    assert other.states_synced == {0: False, 1: False}
    w = mx.nd.ones((2, 3), ctx=mx.cpu(1))
    other(0, mx.nd.ones((2, 3), ctx=mx.cpu(1)), w)
    assert [s.context for s in other.states[0]] == [mx.cpu(1)] * 2
    assert other.states_synced == {0: True, 1: False}


def test_sync_state_context():
    updater, _ = trained()
    a = mx.nd.ones((2,))
    moved = updater.sync_state_context((a, [a, None], 'text'), mx.cpu(2))
    assert moved[0].context == moved[1][0].context == mx.cpu(2)
    assert type(moved[1]) is list and moved[1][1] is None and moved[2] == 'text'
    assert updater.sync_state_context(a, mx.cpu(0)) is a


def test_loaded_optimizer_decides_how_it_is_called():
    updater, _ = trained('test')
    assert not updater.aggregate_updates
    other, weights = trained('adam')
    updater.set_states(other.get_states(dump_optimizer=True))
    assert updater.aggregate_updates and type(updater.optimizer) is mx.optimizer.Adam


def test_format():
    """Protocol 4, arrays as upstream pickles them, classes where upstream has them."""
    scheduler = mx.lr_scheduler.CosineScheduler(10)
    updater, _ = trained('adam', learning_rate=0.01, lr_scheduler=scheduler)
    data = updater.get_states(dump_optimizer=True)
    operations = list(pickletools.genops(data))
    assert operations[0][1] == 4
    names = [argument for operation, argument, _ in operations if operation.name == 'SHORT_BINUNICODE']
    assert {'mxnet.ndarray.ndarray', 'NDArray', 'handle', 'mxnet.optimizer.optimizer', 'Adam', 'mxnet.lr_scheduler',
            'CosineScheduler'} <= set(names)
    assert not [n for n in names if n.startswith(('mxnet.optimizer._', 'torch'))]
    assert 'param_dict' not in names


class MyScheduler(mx.lr_scheduler.LRScheduler):
    def __call__(self, num_update):
        return 1.0 / num_update


class MyOptimizer(mx.optimizer.SGD):
    pass


def test_classes_of_the_program():
    updater = mx.optimizer.get_updater(MyOptimizer(momentum=0.5, lr_scheduler=MyScheduler()))
    updater(0, mx.nd.ones((2,)), mx.nd.ones((2,)))
    other = mx.optimizer.get_updater(mx.optimizer.SGD())
    other.set_states(updater.get_states(dump_optimizer=True))
    assert type(other.optimizer) is MyOptimizer and type(other.optimizer.lr_scheduler) is MyScheduler
    assert other.optimizer.learning_rate == 1.0


def test_sparse_states():
    updater = mx.optimizer.get_updater(mx.optimizer.Adam())
    weight = mx.nd.array([[1, 2], [0, 0]]).tostype('row_sparse')
    updater(0, mx.nd.array([[1, 1], [0, 0]]).tostype('row_sparse'), weight)
    other = mx.optimizer.get_updater(mx.optimizer.Adam())
    other.set_states(updater.get_states())
    assert [s.stype for s in other.states[0]] == ['row_sparse', 'row_sparse']
    for a, b in zip(other.states[0], updater.states[0]):
        assert (a.asnumpy() == b.asnumpy()).all()


# ---------------------------------------------------------------------- hostile files
class Evil:
    def __init__(self, function, *arguments):
        self.what = function, arguments

    def __reduce__(self):
        return self.what


@pytest.mark.parametrize('payload', [
    Evil(eval, '1/0'), {0: Evil(exec, 'raise SystemExit')}, ({}, Evil(print, 'hello')),
    {0: Evil(getattr, mx.optimizer.SGD, 'update')}, Evil(__import__, 'os')])
def test_nothing_is_executed(payload, capsys):
    updater, _ = trained()
    states = updater.states
    with pytest.raises(mx.MXNetError, match='optimizer states: byte .*: refused to unpickle'):
        updater.set_states(pickle.dumps(payload))
    assert updater.states is states and not capsys.readouterr().out


@pytest.mark.parametrize('content', [[1, 2], 'text', ({}, 'sgd'), ([], mx.optimizer.SGD()), None])
def test_not_states(content):
    updater, _ = trained()
    states, optimizer = updater.states, updater.optimizer
    with pytest.raises(mx.MXNetError, match='optimizer states: expected'):
        updater.set_states(pickle.dumps(content))
    assert updater.states is states and updater.optimizer is optimizer


@pytest.mark.parametrize('state', [[], 3, {'__class__': 1}])
def test_odd_states_of_an_optimizer(state):
    """Whatever a file says an optimizer's attributes are, it stays an optimizer with attributes."""
    data = b'\x80\x04}cmxnet.optimizer.optimizer\nSGD\n)\x81' + pickle.dumps(state, 4)[2:-1] + b'b\x86.'
    updater, _ = trained()
    try:
        updater.set_states(data)
    except mx.MXNetError as error:
        assert 'optimizer states' in str(error)
    assert isinstance(updater.optimizer, mx.optimizer.Optimizer)


def test_broken_file():
    updater, _ = trained()
    data = updater.get_states()
    for cut in (0, 1, len(data) // 2, len(data) - 1):
        with pytest.raises(mx.MXNetError):
            updater.set_states(data[:cut])


def test_known_classes():
    classes = _updater._classes()
    assert classes['mxnet.ndarray.ndarray', 'NDArray'] is mx.nd.NDArray
    assert classes['mxnet.ndarray.sparse', 'RowSparseNDArray'] is mx.nd.sparse.RowSparseNDArray
    assert classes['mxnet.optimizer.contrib', 'GroupAdaGrad'] is mx.optimizer.contrib.GroupAdaGrad
    assert all(isinstance(c, type) for c in classes.values())


# ---------------------------------------------------------------------- what MXNet 1.9.1 wrote
@pytest.mark.parametrize('name', ['trainer.states', 'updater.states', 'module-0000.states'])
def test_files_of_upstream(shared, name):
    folder = shared / 'golden' / 'files'
    updater = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.5))
    if name == 'trainer.states':
        updater.set_states((folder / name).read_bytes())
    else:
        with pytest.warns(UserWarning, match='have no count of updates .* Adam computes with it.*begin_num_update'):
            updater.set_states((folder / name).read_bytes())
    if name == 'trainer.states':
        assert type(updater.optimizer) is mx.optimizer.Adam and updater.optimizer.learning_rate == 0.01
    assert updater.states
    if name == 'module-0000.states':
        return
    with np.load(folder / 'expected.npz') as expected:
        keys = [k for k in expected.files if k.startswith('trainer.states/')]
        for key in keys:
            _, i, j = key.split('/')
            assert (updater.states[int(i)][int(j)].asnumpy() == expected[key]).all()
    assert keys
    index, state = next(iter(updater.states.items()))
    updater(index, mx.nd.ones(state[0].shape), mx.nd.ones(state[0].shape))


@pytest.mark.parametrize('ctx', [mx.cpu(), pytest.param(mx.gpu(), marks=pytest.mark.gpu)], ids=str)
@pytest.mark.parametrize('options', [{}, {'wd': 0.1}, {'clip_gradient': 0.1}, {'multi_precision': True}],
                         ids=['plain', 'decay', 'clipped', 'low precision'])
def test_adam_again_and_again(ctx, options):
    """What repeats is bound to its numbers, and a CUDA graph on a GPU; the correction of the rate goes on."""
    def trained(columns):
        optimizer = mx.optimizer.Adam(learning_rate=0.1, rescale_grad=0.5, param_idx2name={0: 'a_weight', 1: 'b_bias'},
                                      **options)
        updater = mx.optimizer.get_updater(optimizer)
        dtype = 'float16' if 'multi_precision' in options else 'float32'
        weights, grads = ([mx.nd.array(np.random.RandomState(seed + n).normal(size=size), ctx=ctx, dtype=dtype)
                           for n, size in enumerate(((70, 80), (3,)))] for seed in (0, 2))
        given = columns([0, 1]), columns(grads), columns(weights)
        found = []
        for number in range(12):
            if number == 8:
                optimizer.set_learning_rate(0.05)
            if number == 10:
                updater(0, grads[0], weights[0])        # counts differ from here on
            updater(*given)
            grads[0] *= 0.9
            found.append([w.asnumpy() for w in weights])
        return found

    for one, other in zip(trained(list), trained(tuple), strict=True):
        for a, b in zip(one, other, strict=True):
            if ctx.device_type == 'cpu':
                np.testing.assert_array_equal(a, b)
            else:
                np.testing.assert_allclose(a, b, rtol=1e-6)


def test_adam_of_weights_with_different_counts():
    """An optimizer may also be asked for single weights, which are then corrected by counts of their own."""
    results = []
    for together in (True, False):
        optimizer = mx.optimizer.Adam(learning_rate=0.1)
        updater = mx.optimizer.get_updater(optimizer)
        updater.aggregate_updates = together
        weights = tuple(mx.nd.ones((3,)) * n for n in (1, 2, 3))
        gradients = tuple(mx.nd.array([1, -2, n]) for n in (1, 2, 3))
        columns = (0, 1, 2), gradients, weights
        for step in range(12):
            if step in (5, 9):
                optimizer.update_multi_precision(1, weights[1], gradients[1], updater.states[1])
            updater(*columns)
        results.append(np.stack([w.asnumpy() for w in weights]))
        assert (updater._bound is not None) is together
    np.testing.assert_allclose(*results, rtol=1e-6)
