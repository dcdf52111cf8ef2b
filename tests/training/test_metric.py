"""Metrics against their definitions in NumPy; sums that wait on a device; resets, names, configurations, mistakes."""
import copy
import doctest
import json
import math
import pickle

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet.metric import _base


def array(values, dtype='float32'):
    return mx.nd.array(values, dtype=dtype)


def value(metric, *batches):
    """The value of a metric after batches of (labels, predictions) as nested lists."""
    for label, pred in batches:
        metric.update([array(label)], [array(pred)])
    return metric.get()[1]


@pytest.fixture(params=['at once', 'deferred'])
def way(request, monkeypatch):
    """With 'deferred', sums stay pending as they do on a GPU."""
    if request.param == 'deferred':
        monkeypatch.setattr(_base, '_at_hand', lambda tensors: False)
    return request.param


def test_examples_in_docstrings():
    result = doctest.testmod(mx.metric, extraglobs={'mx': mx})
    assert result.attempted > 20 and not result.failed


# --- definitions ---

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def confusion(labels, preds, k):
    table = np.zeros((k, k))
    for label, pred in zip(labels, preds):
        for i, j in zip(pred.argmax(1), label):
            table[i, int(j)] += 1
    return table


def many_class_mcc(table):
    total = table.sum()
    rows, columns = table.sum(1), table.sum(0)
    return (np.trace(table) * total - rows @ columns) / math.sqrt(
        (total ** 2 - rows @ rows) * (total ** 2 - columns @ columns))


def f1(labels, preds):
    table = confusion(labels, preds, 2)
    return 2 * table[1, 1] / (2 * table[1, 1] + table[0, 1] + table[1, 0])


def mean_over_batches(function):
    return lambda labels, preds: np.mean([function([la], [p]) for la, p in zip(labels, preds)])


def log_of_chosen(labels, preds):
    return np.concatenate([np.log(p[np.arange(len(p)), la.astype(int)]) for la, p in zip(labels, preds)])


def kept(labels, label):
    return np.concatenate(labels) != label


CLASSES = {
    'acc': (5, {}, lambda ls, ps: np.mean(np.concatenate([p.argmax(1) == la for la, p in zip(ls, ps)]))),
    'top_k_accuracy': (5, {'top_k': 2}, lambda ls, ps: np.mean(np.concatenate(
        [[label in np.argsort(row)[-2:] for label, row in zip(la, p)] for la, p in zip(ls, ps)]))),
    'ce': (5, {}, lambda ls, ps: -np.mean(log_of_chosen(ls, ps))),
    'nll_loss': (5, {}, lambda ls, ps: -np.mean(log_of_chosen(ls, ps))),
    'perplexity': (5, {'ignore_label': None}, lambda ls, ps: np.exp(-np.mean(log_of_chosen(ls, ps)))),
    'perplexity but 3': (5, {'ignore_label': 3}, lambda ls, ps: np.exp(-np.mean(log_of_chosen(ls, ps)[kept(ls, 3)]))),
    'pcc': (5, {}, lambda ls, ps: many_class_mcc(confusion(ls, ps, 5))),
    'f1': (2, {}, mean_over_batches(f1)),
    'f1 micro': (2, {'average': 'micro'}, f1),
    'mcc': (2, {}, mean_over_batches(lambda ls, ps: many_class_mcc(confusion(ls, ps, 2)))),
    'mcc micro': (2, {'average': 'micro'}, lambda ls, ps: many_class_mcc(confusion(ls, ps, 2))),
    'loss': (3, {}, lambda ls, ps: np.mean(np.concatenate([p.ravel() for p in ps]))),
}


@pytest.mark.parametrize('case', CLASSES)
@pytest.mark.parametrize('dtype', ['float32', 'int32', 'int64', 'uint8'])
def test_classification(case, dtype, way):
    classes, arguments, expected = CLASSES[case]
    rng = np.random.default_rng(7)
    labels = [rng.integers(0, classes, n) for n in (9, 6, 12)]
    preds = [softmax(rng.normal(size=(len(la), classes))) for la in labels]
    metric = mx.metric.create(case.split()[0], **arguments)
    for label, pred in zip(labels, preds):
        metric.update([array(label, dtype)], [array(pred)])
    wanted = expected(labels, preds)
    assert metric.get()[1] == pytest.approx(wanted, rel=1e-6)
    assert metric.get_global()[1] == pytest.approx(wanted, rel=1e-6)


def correlation(labels, preds):
    return np.corrcoef(np.concatenate(labels).ravel(), np.concatenate(preds).ravel())[0, 1]


NUMBERS = {
    'mae': ({}, mean_over_batches(lambda ls, ps: np.abs(ls[0] - ps[0]).mean())),
    'mse': ({}, mean_over_batches(lambda ls, ps: ((ls[0] - ps[0]) ** 2).mean())),
    'rmse': ({}, mean_over_batches(lambda ls, ps: math.sqrt(((ls[0] - ps[0]) ** 2).mean()))),
    'pearsonr': ({}, mean_over_batches(correlation)),
    'pearsonr micro': ({'average': 'micro'}, correlation),
}


@pytest.mark.parametrize('case', NUMBERS)
@pytest.mark.parametrize('shape', [(8,), (8, 1), (4, 3), (2, 3, 4)])
@pytest.mark.parametrize('dtypes', [('float32', 'float32'), ('int32', 'float32'), ('float64', 'float64'),
                                    ('uint8', 'uint8')])
def test_regression(case, shape, dtypes, way):
    arguments, expected = NUMBERS[case]
    rng = np.random.default_rng(11)
    labels, preds = ([rng.integers(0, 9, shape).astype(float) for _ in range(3)] for _ in range(2))
    metric = mx.metric.create(case.split()[0], **arguments)
    for label, pred in zip(labels, preds):
        metric.update([array(label, dtypes[0])], [array(pred, dtypes[1])])
    assert metric.get()[1] == pytest.approx(expected(labels, preds), rel=1e-6)


def test_vectors_are_columns_beside_matrices():
    assert value(mx.metric.MAE(), ([1, 2], [[1, 2], [2, 4]])) == pytest.approx((0 + 1 + 0 + 2) / 4)


def test_accuracy_of_other_shapes():
    assert value(mx.metric.Accuracy(axis=-1), ([[0, 1], [1, 1]], [[[1, 0], [0, 1]], [[1, 0], [0, 1]]])) == 0.75
    assert value(mx.metric.Accuracy(), ([[0], [1]], [[1, 0], [1, 0]])) == 0.5                # labels as a column
    assert value(mx.metric.Accuracy(), ([0, 1, 3], [0.9, 1.0, 2.0])) == pytest.approx(2 / 3)   # classes themselves


def test_several_outputs_at_once():
    metric = mx.metric.F1()
    metric.update([array([1, 1]), array([0, 0])], [array([[0, 1], [1, 0]]), array([[1, 0], [1, 0]])])
    assert metric.get()[1] == pytest.approx(2 / 3)       # one table for the update, not the mean of two
    assert metric.num_inst == 1


def test_halves_do_not_overflow():
    many = np.full((10, 20000), 8.0)
    metric = mx.metric.Loss()
    metric.update(None, array(many, 'float16'))
    assert metric.get()[1] == 8
    metric = mx.metric.CrossEntropy()
    metric.update([array([0])], [array([[0, 1]], 'float16')])
    assert metric.get()[1] == pytest.approx(-math.log(1e-12), rel=1e-6)


def test_plain_arrays_and_tensors_are_taken_too():
    metric = mx.metric.Accuracy()
    metric.update([np.array([0, 1])], [np.eye(2)])
    metric.update([torch.tensor([0, 1])], [torch.eye(2, requires_grad=True)])
    assert metric.get()[1] == 1


def test_inside_of_record():
    x = mx.nd.ones((2, 2))
    x.attach_grad()
    metric = mx.metric.create(['mse', 'loss', 'acc'])
    with mx.autograd.record():
        y = x * 2
        metric.update([array([[1, 1], [1, 1]])], [y])
    y.backward()
    assert metric.get()[1] == [1, 2, 0]
    assert (x.grad.asnumpy() == 2).all()


def test_nothing_yet():
    for name in ('acc', 'f1', 'mcc', 'pcc', 'mse', 'pearsonr', 'loss', 'ce'):
        metric = mx.metric.create(name)
        assert math.isnan(metric.get()[1]) and math.isnan(metric.get_global()[1])
    assert math.isnan(mx.metric.Perplexity(0).get()[1])
    assert math.isnan(value(mx.metric.CrossEntropy(), ([], np.zeros((0, 3)))))
    assert math.isnan(value(mx.metric.F1(average='micro'), ([], np.zeros((0, 2)))))
    assert math.isnan(mx.metric.PearsonCorrelation(average='micro').get()[1])


def test_no_spread():
    assert math.isnan(value(mx.metric.PCC(), ([1, 1], [[0, 1], [0, 1]])))
    assert math.isnan(value(mx.metric.PearsonCorrelation(), ([1, 1], [1, 2])))
    assert math.isnan(value(mx.metric.PearsonCorrelation(average='micro'), ([1, 1], [1, 2])))
    assert value(mx.metric.MCC(), ([1, 1], [[0, 1], [0, 1]])) == 0
    assert value(mx.metric.F1(), ([0, 0], [[1, 0], [1, 0]])) == 0


# --- waiting ---

def test_pending_sums_are_copies(monkeypatch):
    """What a program writes into its arrays after `update` changes nothing."""
    monkeypatch.setattr(_base, '_at_hand', lambda tensors: False)
    for name in ('acc', 'ce', 'pcc', 'f1', 'mse', 'pearsonr', 'loss'):
        label, pred = array([0, 1, 0]), array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])
        if name in ('mse', 'pearsonr'):
            label, pred = array([1, 2, 4]), array([1, 3, 3])
        now, later = mx.metric.create(name), mx.metric.create(name)
        now.update([label], [pred])
        wanted = now.get()
        later.update([label], [pred])
        label[:] = 1
        pred[:] = 0.5
        assert later.get() == wanted, name


def test_pending_sums_are_bounded(monkeypatch):
    monkeypatch.setattr(_base, '_at_hand', lambda tensors: False)
    monkeypatch.setattr(_base, 'LIMIT', 10 * _base.SMALLEST)
    metric = mx.metric.Loss()
    longest = 0
    for _ in range(25):
        metric.update(None, [array([1])])
        longest = max(longest, len(metric._pending))
    assert longest == 9
    assert metric.num_inst == 25 and metric.get()[1] == 1


@pytest.mark.parametrize('metric', [mx.metric.Accuracy(), mx.metric.TopKAccuracy(2)], ids=['accuracy', 'top k'])
def test_batches_measured_together_or_one_by_one(metric):
    """Batches of one kind wait for each other; results, shapes that change and mistakes are the same."""
    random = np.random.RandomState(0)
    right = count = 0
    for number in range(100):
        rows = 5 if number % 40 else 3
        label, pred = random.randint(0, 4, rows), random.rand(rows, 4)
        metric.update([array(label)], [array(pred)])
        best = pred.argsort(1)[:, -getattr(metric, 'top_k', 1):]
        right += (best == label[:, None]).sum()
        count += rows
        if number in (7, 50, 99):
            assert metric.get()[1] == pytest.approx(right / count)
            assert metric.num_inst == count
    with pytest.raises(ValueError, match='do not fit'):
        metric.update([array([1, 2])], [array([[1, 0], [0, 1], [1, 1]])])
    again = pickle.loads(pickle.dumps(metric))
    assert again.get() == metric.get()
    metric.update([array(label)], [array(pred)])
    metric.reset()
    assert metric.num_inst == 0


def test_reset_forgets_and_reset_local_keeps_what_is_pending(way):
    metric = mx.metric.MSE()
    value(metric, ([1], [3]))
    metric.update([array([1])], [array([3])])
    metric.reset()
    assert math.isnan(metric.get_global()[1])
    metric.update([array([1])], [array([3])])
    metric.reset_local()
    metric.update([array([1])], [array([1])])
    assert metric.get()[1] == 0 and metric.get_global()[1] == 2


def test_copies_and_pickles_take_along_what_is_pending(way):
    for name in ('acc', 'pcc', 'f1'):
        metric = mx.metric.create(name)
        metric.update([array([0, 1])], [array([[1, 0], [1, 0]])])
        for twin in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
            assert twin._pending == [] and str(twin.get()) == str(metric.get())


@pytest.mark.gpu
@pytest.mark.filterwarnings('ignore:Synchronization debug mode')
@pytest.mark.parametrize('name', ['acc', 'top_k_accuracy', 'ce', 'perplexity', 'pcc', 'f1', 'mcc', 'mse', 'rmse',
                                  'pearsonr', 'loss'])
def test_update_does_not_wait_for_a_gpu(name):
    arguments = {'top_k_accuracy': {'top_k': 2}, 'perplexity': {'ignore_label': 1}}.get(name, {})
    here, there = (mx.metric.create(name, **arguments) for _ in range(2))
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, (8,) if name not in ('mse', 'rmse', 'pearsonr') else (8, 3))
    pred = softmax(rng.normal(size=(8, 3)))
    here.update([array(label)], [array(pred)])
    on_gpu = [array(label).as_in_context(mx.gpu())], [array(pred).as_in_context(mx.gpu())]
    mixed = [array(label)], on_gpu[1]
    there.update(*on_gpu)           # compiles and allocates
    there.get()
    there.reset()
    mode = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode('error')
    try:
        for _ in range(3):
            there.update(*on_gpu)
            there.update(*mixed)
    finally:
        torch.cuda.set_sync_debug_mode(mode)
    assert there.get()[1] == pytest.approx(here.get()[1], rel=1e-5)


@pytest.mark.gpu
def test_labels_out_of_range_do_no_harm_on_a_gpu():
    metric = mx.metric.CrossEntropy()
    metric.update([array([0, 7]).as_in_context(mx.gpu())], [mx.nd.ones((2, 3), ctx=mx.gpu())])
    with pytest.raises(IndexError, match='go from 0 to 7, but there are 3 classes'):
        metric.get()
    assert (mx.nd.ones((2,), ctx=mx.gpu()) + 1).asnumpy().tolist() == [2, 2]


# --- local and global ---

@pytest.mark.parametrize('name, arguments', [
    ('acc', {}), ('f1', {}), ('f1', {'average': 'micro'}), ('mcc', {'average': 'micro'}), ('pcc', {}),
    ('perplexity', {'ignore_label': None}), ('pearsonr', {}), ('pearsonr', {'average': 'micro'}), ('loss', {})])
def test_reset_local(name, arguments, way):
    rng = np.random.default_rng(5)
    batches = [(rng.integers(0, 2, 10), softmax(rng.normal(size=(10, 2)))) for _ in range(4)]
    if name == 'pearsonr':
        batches = [(rng.normal(size=(6,)), rng.normal(size=(6,))) for _ in range(4)]
    whole, parts, last = (mx.metric.create(name, **arguments) for _ in range(3))
    for label, pred in batches:
        parts.reset_local()
        value(parts, (label, pred))
        value(whole, (label, pred))
    assert parts.get()[1] == pytest.approx(value(last, batches[-1]))
    assert parts.get_global()[1] == pytest.approx(whole.get()[1])
    assert parts.get_global_name_value() == [(parts.name, parts.get_global()[1])]
    parts.reset()
    assert math.isnan(parts.get_global()[1])


def test_a_metric_of_ones_own():
    class Errors(mx.metric.EvalMetric):
        def update(self, labels, preds):
            for label, pred in zip(labels, preds):
                self.sum_metric += (label != pred).sum().asscalar()
                self.num_inst += label.size

    metric = Errors('errors')
    for _ in range(2):
        metric.update([array([1, 2])], [array([1, 3])])
    assert metric.get() == metric.get_global() == ('errors', 0.5)
    metric.sum_metric = 2.0 ** 24
    metric.update([array([1])], [array([0])])
    assert metric.sum_metric == 2 ** 24 + 1          # float32 cannot count that far
    with pytest.raises(NotImplementedError, match='EvalMetric does not define update'):
        mx.metric.EvalMetric('x').update([], [])


def test_values_print_as_plain_numbers():
    assert repr(mx.metric.create(['acc', 'mse']).get()) == "(['accuracy', 'mse'], [nan, nan])"
    assert repr(value(mx.metric.MSE(), ([1], [2]))) == '1.0'
    metric = mx.metric.np(lambda label, pred: np.float32(0.5), name='half')
    value(metric, ([1], [1]))
    assert str(metric) == "EvalMetric: {'half': 0.5}"


# --- names, configurations, mistakes ---

def test_update_dict_chooses_by_name():
    metric = mx.metric.Accuracy(output_names=['b'], label_names=['second'])
    metric.update_dict({'first': array([0]), 'second': array([1])}, {'a': array([[1, 0]]), 'b': array([[0, 1]])})
    assert metric.get()[1] == 1
    both = mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.MAE()], label_names=['y'], output_names=['p'])
    both.update_dict({'x': array([5]), 'y': array([1])}, {'p': array([1]), 'q': array([[0, 1]])})
    assert both.get() == (['accuracy', 'mae'], [1.0, 0.0])


@pytest.mark.parametrize('name, arguments', [
    ('acc', {'axis': 0}), ('top_k_acc', {'top_k': 3}), ('f1', {'average': 'micro'}), ('mcc', {'average': 'micro'}),
    ('perplexity', {'ignore_label': -1, 'axis': 1}), ('pearsonr', {'average': 'micro'}), ('pcc', {}),
    ('ce', {'eps': 1e-3}), ('loss', {'output_names': ['o'], 'label_names': ['l']}),
    ('composite', {'metrics': ['acc', 'f1']})])
def test_configurations_make_the_same_metric_again(name, arguments):
    metric = mx.metric.create(name, **arguments)
    again = mx.metric.create(json.dumps(metric.get_config()))
    assert type(again) is type(metric) and again.name == metric.name
    assert again.get_config() == metric.get_config()
    for key in ('axis', 'top_k', 'average', 'ignore_label', 'eps'):
        assert getattr(again, key, None) == getattr(metric, key, None)


def test_create():
    metric = mx.metric.Accuracy()
    assert mx.metric.create(metric) is metric
    assert mx.metric.create(mx.metric.Accuracy, axis=2).axis == 2
    assert mx.metric.create(lambda label, pred: 1).name == 'custom(<lambda>)'
    both = mx.metric.create(['acc', mx.metric.MSE(name='error')])
    both.add('mae')
    assert [m.name for m in both.metrics] == ['accuracy', 'error', 'mae'] and both.get_metric(2).name == 'mae'
    with pytest.raises(ValueError, match='no metric 3 among 3'):
        both.get_metric(3)
    with pytest.raises(mx.MXNetError, match="no metric called 'accurancy'"):
        mx.metric.create('accurancy')


def test_register():
    @mx.metric.register
    @mx.metric.alias('test_only_alias')
    class TestOnlyMetric(mx.metric.EvalMetric):
        pass

    assert type(mx.metric.create('test_only_alias', name='x')) is TestOnlyMetric
    assert type(mx.metric.create('testonlymetric', name='x')) is TestOnlyMetric


def test_functions_as_metrics():
    seen = []

    def difference(label, pred):
        seen.append((type(label), type(pred)))
        return np.abs(label - pred).sum(), label.size

    metric = mx.metric.np(difference)
    assert value(metric, ([1, 2], [2, 4])) == 1.5 and metric.name == 'difference'
    assert seen == [(np.ndarray, np.ndarray)]
    extra = mx.metric.CustomMetric(lambda label, pred: 1.0, allow_extra_outputs=True)
    extra.update([array([1])], [array([1]), array([2])])
    assert extra.get() == ('custom(<lambda>)', 1.0)
    with pytest.raises(ValueError, match='1 labels and 2 predictions'):
        metric.update([array([1])], [array([1]), array([2])])
    with pytest.raises(NotImplementedError, match='holds a function'):
        metric.get_config()


@pytest.mark.parametrize('make, label, pred, error, message', [
    (mx.metric.Accuracy, [0, 1, 2], [[1, 0], [0, 1]], ValueError, r'shape \(3,\) do not fit .*\(2, 2\): 3 labels for '
                                                                  r'2 predicted classes'),
    (mx.metric.Accuracy, [0, 1], [0, 1, 2], ValueError, r'shape \(3,\) have no axis 1'),
    (lambda: mx.metric.TopKAccuracy(2), [0], [0, 1, 2], AssertionError, r'\(samples, classes\), not \(3,\)'),
    (mx.metric.F1, [0, 1, 2], [[1, 0]] * 3, ValueError, 'f1 is for two classes'),
    (mx.metric.F1, [0, 1], [[1, 0]] * 3, ValueError, '2 labels for 3 predicted classes'),
    (mx.metric.PCC, [0, -1], [[1, 0]] * 2, ValueError, 'counted from 0; there is a -1'),
    (mx.metric.CrossEntropy, [0, 3], [[1, 0]] * 2, IndexError, 'go from 0 to 3, but there are 2 classes'),
    (mx.metric.CrossEntropy, [0], [[1, 0]] * 2, AssertionError, r'labels of shape \(1,\) do not fit predictions of '
                                                                r'shape \(2, 2\)'),
    (lambda: mx.metric.Perplexity(None), [0], [[1, 0]] * 2, AssertionError, r'\(1,\) do not fit .* \(2, 2\)'),
    (mx.metric.MSE, [[1, 2]], [[1, 2, 3]], ValueError, r'shape \(1, 2\) do not fit predictions of shape \(1, 3\)'),
    (mx.metric.PearsonCorrelation, [1, 2], [[1], [2]], ValueError, r'shape \(2,\) do not fit predictions of shape '
                                                                   r'\(2, 1\)'),
])
def test_mistakes(make, label, pred, error, message, way):
    metric = make()
    with pytest.raises(error, match=message):
        metric.update([array(label)], [array(pred)])
        metric.get()


def test_top_1_is_accuracy():
    with pytest.raises(AssertionError, match='use Accuracy'):
        mx.metric.TopKAccuracy(1)
    with pytest.raises(ValueError, match=r'top_k=5, but predictions of shape \(2, 2\) have 2 classes'):
        value(mx.metric.TopKAccuracy(5), ([0, 1], [[1, 0], [1, 0]]))
    assert value(mx.metric.TopKAccuracy(2), ([0, 1], [[1, 0], [1, 0]])) == 1          # as many classes as k


def test_check_label_shapes():
    one = array([1, 2])
    assert mx.metric.check_label_shapes(one, one, wrap=True) == ([one], [one])
    with pytest.raises(ValueError, match='2 labels and 1 predictions'):
        mx.metric.check_label_shapes([one, one], [one])
    with pytest.raises(ValueError, match=r'shape \(2,\) do not fit predictions of shape \(1,\)'):
        mx.metric.check_label_shapes(one, array([1]), shape=True)


def test_a_number_of_values_as_until_0_11():
    class PerTask(mx.metric.EvalMetric):
        def __init__(self, num=None):
            super().__init__('task', num)

        def update(self, labels, preds):
            for i in range(self.num):
                self.sum_metric[i] += i
                self.num_inst[i] += 2

    metric = PerTask(3)
    metric.update([], [])
    assert metric.get_name_value() == [('task_0', 0.0), ('task_1', 0.5), ('task_2', 1.0)]
    metric.reset()
    assert metric.sum_metric == [0.0] * 3 and metric.get_config()['output_names'] == 3
    assert PerTask().sum_metric == 0.0 and PerTask().num is None
