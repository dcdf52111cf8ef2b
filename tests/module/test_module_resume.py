"""Training that goes on from a checkpoint is, bit for bit, training that was never interrupted."""
import pickle
import warnings

import numpy as np
import pytest
import resume_cases as cases

import mxnet as mx
from mxnet.optimizer import _progress

OPTIMIZERS = sorted(name for name in mx.optimizer.Optimizer.opt_registry
                    if mx.optimizer.Optimizer.opt_registry[name].__module__.startswith('mxnet.'))


# ---------------------------------------------------------------------- Module
@pytest.mark.parametrize('schedule', list(cases.SCHEDULES))
@pytest.mark.parametrize('optimizer', OPTIMIZERS)
def test_all_optimizers(optimizer, schedule, tmp_path):
    place = {'none': None, 'factor': 0, 'multifactor': None, 'poly': 3, 'cosine': 6}[schedule]
    assert cases.differences(optimizer, schedule, place, str(tmp_path / 'm')) == []


@pytest.mark.slow
@pytest.mark.parametrize('on_store', ['0', '1'])
@pytest.mark.parametrize('schedule', list(cases.SCHEDULES))
@pytest.mark.parametrize('optimizer', OPTIMIZERS)
def test_all_optimizers_everywhere(optimizer, schedule, on_store, tmp_path, monkeypatch):
    monkeypatch.setenv('MXNET_UPDATE_ON_KVSTORE', on_store)
    for place in (None, 0, 2, 6):
        for contexts in ([mx.cpu()], [mx.cpu(0), mx.cpu(1)]):
            assert cases.differences(optimizer, schedule, place, str(tmp_path / 'm'), contexts) == []


@pytest.mark.parametrize('on_store', ['0', '1'])
@pytest.mark.parametrize('optimizer', ['adam', 'sgld', 'nadam'])
def test_several_contexts(optimizer, on_store, tmp_path, monkeypatch):
    """In the middle of an epoch each context has moving averages of its own, and with SGLD weights."""
    monkeypatch.setenv('MXNET_UPDATE_ON_KVSTORE', on_store)
    for place in (None, 2):
        assert cases.differences(optimizer, 'multifactor', place, str(tmp_path / 'm'), [mx.cpu(0), mx.cpu(1)]) == []


def test_in_another_process(run_python, root, tmp_path):
    program = ('import sys, numpy as np; sys.path.insert(0, sys.argv[1]); import resume_cases as cases, mxnet as mx\n'
               'cases.seed(int(sys.argv[2]))\n'
               'if sys.argv[2] == "1":\n'
               '    module, begin = mx.mod.Module(cases.network()), 0\n'
               'else:\n'
               '    module, begin = mx.mod.Module.load("m", 1, load_optimizer_states=True), 1\n'
               'more = {} if begin else cases.saver(module, "m", 3)\n'
               'np.savez(sys.argv[2], **cases.fit(module, "adam", "cosine", begin_epoch=begin, **more))\n')
    for number in ('1', '2'):
        run_python('-c', program, str(root / 'tests' / 'helpers'), number)
    with np.load(tmp_path / '1.npz') as first, np.load(tmp_path / '2.npz') as second:
        assert first.files and all(np.array_equal(first[name], second[name]) for name in first.files)


class Remembers(mx.lr_scheduler.LRScheduler):
    """A schedule whose rates depend on what it was asked before."""

    def __init__(self, base_lr):
        super().__init__(base_lr)
        self.asked = []

    def __call__(self, num_update):
        self.asked.append(num_update)
        return self.base_lr / len(self.asked)


class Own(mx.optimizer.Optimizer):
    """An optimizer that remembers in attributes: a number, and an array for each weight."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.steps, self.sums = 0, {}

    def update(self, index, weight, grad, state):
        self._update_count(index)
        self.steps += 1
        self.sums[index] = self.sums.get(index, 0) + grad
        weight -= self._get_lr(index) / self.steps * self.sums[index] / self._index_update_count[index]


def test_what_programs_remember(tmp_path):
    prefix = str(tmp_path / 'm')

    def fit(module, **kwargs):
        optimizer = Own(rescale_grad=0.25, lr_scheduler=Remembers(0.1))
        module.fit(cases.data()[0], num_epoch=3, optimizer=optimizer, initializer=mx.init.Uniform(0.5), **kwargs)
        return cases.parameters(module)
    cases.seed(1)
    module = mx.mod.Module(cases.network())
    expected = fit(module, **cases.saver(module, prefix, None))
    cases.seed(2)
    again = mx.mod.Module.load(prefix, 2, load_optimizer_states=True)
    with warnings.catch_warnings():
        warnings.filterwarnings('ignore', 'init_params')
        found = fit(again, begin_epoch=2)
    assert all(np.array_equal(found[name], expected[name]) for name in expected)
    assert again._optimizer.steps > 6 and len(again._optimizer.lr_scheduler.asked) > 6


def test_rates_that_a_callback_has_changed_go_on_and_those_of_the_program_count(tmp_path):
    prefix = str(tmp_path / 'm')
    module = mx.mod.Module(cases.network())

    def slower(param):
        if param.epoch == 0 and param.nbatch == 2:
            module._optimizer.set_learning_rate(0.03)
    cases.fit(module, 'sgd', batch_end_callback=slower, **cases.saver(module, prefix, None))

    def rate(**options):
        again = mx.mod.Module.load(prefix, 1, load_optimizer_states=True)
        again.bind([('data', (4, 5))], [('softmax_label', (4,))])
        again.init_optimizer(optimizer='sgd', optimizer_params={**cases.options('sgd'), **options})
        return again._optimizer.learning_rate, again._optimizer.momentum, again._optimizer.num_update
    count = module._optimizer.num_update // 3
    assert rate() == (0.03, 0.9, pytest.approx(count, abs=1))
    assert rate(learning_rate=0.5, momentum=0.1)[:2] == (0.5, 0.1), 'what the program has set otherwise, it means'


def test_begin_num_update_of_old_programs(tmp_path):
    """They pass the count, which MXNet 1.9.1 does not keep; another number than ours is theirs, and is said."""
    prefix = str(tmp_path / 'm')
    module = mx.mod.Module(cases.network())
    cases.fit(module, 'adam', **cases.saver(module, prefix, None))

    def count(begin):
        again = mx.mod.Module.load(prefix, 3, load_optimizer_states=True)
        again.bind([('data', (4, 5))], [('softmax_label', (4,))])
        again.init_optimizer(optimizer='adam', optimizer_params={'learning_rate': 0.1, 'begin_num_update': begin})
        return again._optimizer.num_update
    real = module._optimizer.num_update
    assert count(0) == count(real) == real
    with pytest.warns(UserWarning, match=f'made with begin_num_update=5, .* saved after {real}'):
        assert count(5) == 5


# ---------------------------------------------------------------------- what cannot go on is said
def saved(tmp_path, place=None, optimizer='sgd'):
    prefix = str(tmp_path / 'm')
    module = mx.mod.Module(cases.network())
    cases.fit(module, optimizer, **cases.saver(module, prefix, place))
    return prefix


def go_on(prefix, epoch, optimizer='sgd', schedule='none', **kwargs):
    module = mx.mod.Module.load(prefix, epoch, load_optimizer_states=True)
    cases.fit(module, optimizer, schedule, **{'begin_epoch': epoch, **kwargs})


def without_progress(path):
    """The file as MXNet 1.9.1 would have written it."""
    path.write_bytes(pickle.dumps(pickle.loads(path.read_bytes()), 4))


def test_states_of_1_9_1(tmp_path):
    prefix = saved(tmp_path)
    without_progress(tmp_path / 'm-0001.states')
    with pytest.warns(UserWarning) as told:
        go_on(prefix, 1, schedule='factor')
    texts = [str(w.message) for w in told]
    assert any('no count of updates' in t and 'the learning rate follows a schedule' in t for t in texts)
    assert any('random numbers and shuffles of the data start again' in t for t in texts)
    with pytest.warns(UserWarning, match='random numbers and shuffles') as told:
        go_on(prefix, 1)
    assert len(told) == 1, 'plain SGD needs no count'


def test_another_epoch(tmp_path):
    with pytest.warns(UserWarning, match='saved after epoch 0, but fit begins with epoch 0.*begin_epoch=1'):
        go_on(saved(tmp_path), 1, begin_epoch=0)
    with pytest.warns(UserWarning, match='in epoch 1, after 3 batches.*begin_epoch=1'):
        go_on(saved(tmp_path, place=2), 1, begin_epoch=2)


def test_other_data(tmp_path):
    prefix = saved(tmp_path)

    def others():
        return mx.io.NDArrayIter(cases.X[:20], cases.Y[:20], 4, shuffle=True), cases.data()[1]
    with pytest.warns(UserWarning, match='train_data cannot resume.*num_data is 26 there, here 20'):
        go_on(prefix, 1, iterators=others)


class Plain(mx.io.DataIter):
    """An iterator of a program: a new order each epoch, and no state_dict."""

    def __init__(self):
        super().__init__(4)
        self.inner = mx.io.NDArrayIter(cases.X, cases.Y, 4)
        self.provide_data, self.provide_label = self.inner.provide_data, self.inner.provide_label
        self.reset()

    def reset(self):
        order = np.random.permutation(len(cases.X))
        self.inner = mx.io.NDArrayIter(cases.X[order], cases.Y[order], 4)

    def next(self):
        return self.inner.next()


@pytest.mark.parametrize('place', [None, 2])
def test_iterators_of_a_program_go_on_by_random_numbers(place, tmp_path):
    def iterators():
        return Plain(), None
    with pytest.warns(UserWarning, match='train_data is a Plain, which has no state_dict'):
        assert cases.differences('adam', 'none', place, str(tmp_path / 'm'), iterators=iterators) == []


def test_another_optimizer(tmp_path):
    with pytest.warns(UserWarning, match='saved by mxnet.optimizer.optimizer.SGD, and are used by .*NAG'):
        go_on(saved(tmp_path), 1, 'nag')


def test_other_weights(tmp_path):
    saved(tmp_path)
    module = mx.mod.Module(cases.network(), context=[mx.cpu(0), mx.cpu(1)])
    module.bind([('data', (4, 5))], [('softmax_label', (4,))])
    module.init_params()
    module.init_optimizer(kvstore=None)
    with pytest.warns(UserWarning, match='has no states of .*fc2_bias.*another number of contexts than 2'):
        module.load_optimizer_states(str(tmp_path / 'm-0001.states'))


class Generates(mx.optimizer.SGD):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.numbers = iter(range(100))


def test_what_a_file_cannot_hold_is_said_when_it_is_saved():
    updater = mx.optimizer.get_updater(Generates())
    updater(0, mx.nd.ones(2), mx.nd.ones(2))
    with pytest.warns(UserWarning, match='numbers of Generates cannot be saved with the states'):
        updater.get_states()


# ---------------------------------------------------------------------- other iterators, other modules
def sentences():
    draw = np.random.RandomState(3)
    lines = [draw.randint(1, 9, n).tolist() for n in draw.randint(2, 9, 60)]
    return mx.rnn.BucketSentenceIter(lines, 4, buckets=[4, 8], invalid_label=0)


def iterators_of_all_kinds(tmp_path):
    rows = '\n'.join(','.join(map(str, row)) for row in cases.X) + '\n'
    (tmp_path / 'x.csv').write_text(rows)
    (tmp_path / 'y.csv').write_text('\n'.join(map(str, cases.Y)) + '\n')

    def csv():
        return mx.io.CSVIter(data_csv=str(tmp_path / 'x.csv'), data_shape=(5,), label_csv=str(tmp_path / 'y.csv'),
                             batch_size=4, round_batch=True)
    return {'pad': lambda: mx.io.NDArrayIter(cases.X, cases.Y, 4, shuffle=True),
            'roll_over': lambda: mx.io.NDArrayIter(cases.X, cases.Y, 4, shuffle=True, last_batch_handle='roll_over'),
            'csv': csv,
            'resized': lambda: mx.io.ResizeIter(mx.io.NDArrayIter(cases.X, cases.Y, 4, shuffle=True), 9, False),
            'prefetching': lambda: mx.io.PrefetchingIter(mx.io.NDArrayIter(cases.X, cases.Y, 4)),
            'sentences': sentences}


@pytest.mark.parametrize('kind', ['pad', 'roll_over', 'csv', 'resized', 'prefetching', 'sentences'])
def test_iterators_go_on(kind, tmp_path):
    make = iterators_of_all_kinds(tmp_path)[kind]

    def batches(iterator, count=None):
        found = []
        for batch in iterator:
            found.append([a.asnumpy() for a in batch.data + batch.label] + [batch.pad])
            if len(found) == count:
                break
        return found
    cases.seed(1)
    one = make()
    batches(one)
    one.reset()
    batches(one, 3)
    state, drawn = pickle.loads(pickle.dumps(one.state_dict())), mx.random._get_states()
    cases.seed(2)
    other = make()
    batches(other, 1)
    other.load_state_dict(state)
    for _ in range(2):
        found = []
        for iterator in (one, other):
            mx.random._set_states(drawn)
            found.append(batches(iterator))
            iterator.reset()
        np.testing.assert_equal(*found)
    with pytest.raises(ValueError, match='dict'):
        one.load_state_dict([])


def test_pictures_go_on(tmp_path):
    images = [(np.random.RandomState(i).rand(12, 12, 3) * 255).astype('uint8') for i in range(7)]
    record = mx.recordio.MXIndexedRecordIO(str(tmp_path / 'x.idx'), str(tmp_path / 'x.rec'), 'w')
    for i, image in enumerate(images):
        record.write_idx(i, mx.recordio.pack_img(mx.recordio.IRHeader(0, i, i, 0), image, quality=9, img_fmt='.png'))
    record.close()
    files = {'path_imgrec': str(tmp_path / 'x.rec'), 'path_imgidx': str(tmp_path / 'x.idx'), 'batch_size': 2,
             'data_shape': (3, 8, 8)}

    def image_iter():
        return mx.image.ImageIter(shuffle=True, rand_crop=True, last_batch_handle='roll_over', **files)

    def record_iter():
        return mx.io.ImageRecordIter(shuffle=True, rand_crop=True, seed=5, **files)
    for make in (image_iter, record_iter):
        cases.seed(1)
        one = make()
        for _ in one:
            pass
        one.reset()
        next(one)
        state, drawn = one.state_dict(), mx.random._get_states()
        expected = [batch.data[0].asnumpy() for batch in one]
        cases.seed(2)
        other = make()
        other.load_state_dict(state)
        mx.random._set_states(drawn)
        found = [batch.data[0].asnumpy() for batch in other]
        assert len(found) >= 2
        np.testing.assert_equal(found, expected)


def buckets(length):
    words = mx.sym.Embedding(mx.sym.var('data'), input_dim=10, output_dim=4, name='embed')
    x = mx.sym.Dropout(mx.sym.Reshape(words, shape=(-1, 4)), p=0.3)
    x = mx.sym.FullyConnected(x, num_hidden=10, name='fc')
    label = mx.sym.Reshape(mx.sym.var('softmax_label'), shape=(-1,))
    return mx.sym.SoftmaxOutput(x, label, name='softmax'), ('data',), ('softmax_label',)


@pytest.mark.parametrize('place', [None, 4])
def test_bucketing_module(place, tmp_path):
    prefix = str(tmp_path / 'b')

    def fit(module, **kwargs):
        module.fit(sentences(), num_epoch=3, optimizer='adam', eval_metric=mx.metric.Perplexity(0),
                   optimizer_params={'learning_rate': 0.1, 'lr_scheduler': cases.SCHEDULES['multifactor']()}, **kwargs)
        return cases.parameters(module)
    cases.seed(1)
    module = mx.mod.BucketingModule(buckets, 8)

    def save(param, *_):
        if place is None and param == 0 or place is not None and (param.epoch, param.nbatch) == (1, place):
            module.save_checkpoint(prefix, 1, save_optimizer_states=True)
    expected = fit(module, **{'epoch_end_callback' if place is None else 'batch_end_callback': save})
    cases.seed(2)
    again = mx.mod.BucketingModule.load(prefix, 1, buckets, 8, load_optimizer_states=True)
    found = fit(again, begin_epoch=1)
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_sequential_module(tmp_path):
    states, params = str(tmp_path / 's.states'), str(tmp_path / 's.params')

    def chain():
        x = mx.sym.Dropout(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=6, name='fc1'), p=0.4)
        head = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc2'), name='softmax')
        return mx.mod.SequentialModule().add(mx.mod.Module(x, label_names=None)).add(
            mx.mod.Module(head), take_labels=True, auto_wiring=True)
    cases.seed(1)
    module = chain()

    def save(epoch, *_):
        if epoch == 0:
            module.save_params(params)
            module.save_optimizer_states(states)
    expected = cases.fit(module, 'adam', 'multifactor', epoch_end_callback=save)
    cases.seed(2)
    again, train = chain(), cases.data()[0]
    again.bind(train.provide_data, train.provide_label)
    again.load_params(params)
    again.init_optimizer(optimizer='adam', optimizer_params=cases.options('adam', 'multifactor'))
    again.load_optimizer_states(states)
    found = cases.fit(again, 'adam', 'multifactor', begin_epoch=1)
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize('place', [None, 3])
@pytest.mark.filterwarnings('ignore:mx.model.FeedForward is deprecated')
def test_feedforward(place, tmp_path):
    prefix = str(tmp_path / 'f')
    common = {'num_epoch': 3, 'optimizer': 'adam', 'initializer': mx.init.Uniform(0.5)}

    def fit(model, **kwargs):
        train, held_out = cases.data()
        model.fit(train, eval_data=held_out, **kwargs)
        return {name: array.asnumpy() for name, array in model.arg_params.items()}
    cases.seed(1)
    model = mx.model.FeedForward(cases.network(), **common, **cases.options('adam', 'cosine'))

    def save(param, *_):
        if place is None and param == 0 or place is not None and (param.epoch, param.nbatch) == (1, place):
            model.save(prefix, 1, save_optimizer_states=True)
    expected = fit(model, **{'epoch_end_callback' if place is None else 'batch_end_callback': save})
    with pytest.raises(AssertionError, match='only while fit runs'):
        model.save(prefix, 3, save_optimizer_states=True)
    cases.seed(2)
    again = mx.model.FeedForward.load(prefix, 1, load_optimizer_states=True, **common,
                                      **cases.options('adam', 'cosine'))
    found = fit(again)
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_states_of_a_module_go_on(tmp_path):
    """`state_names`: what a stateful network carries from batch to batch."""
    x = mx.sym.FullyConnected(mx.sym.var('data') + mx.sym.var('carried'), num_hidden=3, name='fc')
    module = mx.mod.Module(mx.sym.SoftmaxOutput(x, name='softmax'), state_names=['carried'])
    module.bind([('data', (2, 4))], [('softmax_label', (2,))])
    module.init_params()
    module.init_optimizer()
    module.set_states([[mx.nd.array([[1, 2, 3, 4], [5, 6, 7, 8]])]])
    module.save_checkpoint(str(tmp_path / 'm'), 0, save_optimizer_states=True)
    again = mx.mod.Module.load(str(tmp_path / 'm'), 0, load_optimizer_states=True, state_names=['carried'])
    again.bind([('data', (2, 4))], [('softmax_label', (2,))])
    again.init_optimizer()
    assert again.get_states(False)[0][0].asnumpy().tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]


@pytest.mark.parametrize('schedule', ['none', 'multifactor'])
@pytest.mark.parametrize('optimizer', OPTIMIZERS)
def test_trainer(optimizer, schedule, tmp_path):
    def train(net, trainer, steps):
        for _ in range(steps):
            with mx.autograd.record():
                loss = ((net(mx.nd.array(cases.X[:8])) - 1) ** 2).mean()
            loss.backward()
            trainer.step(1)

    def made():
        net = mx.gluon.nn.Dense(3, in_units=5, use_bias=optimizer != 'groupadagrad')
        net.initialize(mx.init.Uniform(0.5))
        return net, mx.gluon.Trainer(net.collect_params(), optimizer, cases.options(optimizer, schedule))
    mx.random.seed(1)
    net, trainer = made()
    train(net, trainer, 5)
    net.save_parameters(str(tmp_path / 'p'))
    trainer.save_states(str(tmp_path / 's'))
    drawn = mx.random._get_states()
    train(net, trainer, 4)
    mx.random.seed(2)
    again, its_trainer = made()
    again.load_parameters(str(tmp_path / 'p'))
    its_trainer.load_states(str(tmp_path / 's'))
    mx.random._set_states(drawn)
    train(again, its_trainer, 4)
    for one, other in zip(net.collect_params().values(), again.collect_params().values(), strict=True):
        assert np.array_equal(one.data().asnumpy(), other.data().asnumpy())


# ---------------------------------------------------------------------- files
def test_what_mxnet_1_9_1_reads_is_as_it_was():
    """It unpickles, which ends with the states: what is behind them is not looked at."""
    updater = mx.optimizer.get_updater(mx.optimizer.Adam())
    updater(0, mx.nd.ones(2), mx.nd.ones(2))
    data = updater.get_states()
    states = pickle.loads(data)
    assert list(states) == [0] and [s.shape for s in states[0]] == [(2,), (2,)]
    inner, progress = _progress.unpacked(data, mx.optimizer._updater._classes())
    assert inner == pickle.dumps(updater.states, 4) and progress['num_update'] == 1
    assert data == inner + data[len(inner):]


@pytest.mark.parametrize('progress', [[], {}, {'optimizer': 'mxnet.optimizer.optimizer.Adam'},
                                      {'optimizer': 'x', 'num_update': 1, 'begin_num_update': 'x', 'before': {},
                                       'now': {}, 'counts': {}}])
def test_damaged_progress(progress):
    updater = mx.optimizer.get_updater(mx.optimizer.Adam())
    updater(0, mx.nd.ones(2), mx.nd.ones(2))
    data = _progress.packed(pickle.dumps(updater.states, 4), progress)
    with pytest.raises(mx.MXNetError, match='optimizer states'):
        updater.set_states(data)
    with pytest.raises(mx.MXNetError, match='longer than the file'):
        updater.set_states(b'\x80\x04}.' + (1 << 40).to_bytes(8, 'little') + _progress.MARK)


def test_sgld_draws_new_noise_for_each_update():
    mx.random.seed(1)
    updater = mx.optimizer.get_updater(mx.optimizer.SGLD(learning_rate=0.1))
    weight, grad = mx.nd.zeros(50), mx.nd.zeros(50)
    index, grads, weights = (0,), (grad,), (weight,)
    steps = []
    for _ in range(6):
        before = weight.asnumpy()
        updater(index, grads, weights)
        steps.append(weight.asnumpy() - before)
    assert all(np.abs(a - b).max() > 0.1 for n, a in enumerate(steps) for b in steps[:n])
