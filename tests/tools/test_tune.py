"""`mx.contrib.tune`: samplers, storages, checkpoints, callbacks, reports, mistakes."""
import base64
import json
import os
import pickle
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx
from mxnet import gluon
from mxnet.cli import main
from mxnet.contrib import tune
from mxnet.contrib.tune import _locks, _optuna, _show, _storage, _worker
from mxnet.gluon import nn

optuna = pytest.importorskip('optuna')


def square(trial):
    return (trial.suggest_float('x', -9, 9) - 2) ** 2


def run(objective, trials, out, **more):
    return tune.run(objective, trials, out=str(out), **{'report': False, 'quiet': True, 'seed': 1, **more})


# ---------------------------------------------------------------------- samplers and pruners
@pytest.mark.parametrize('sampler', ['tpe', 'random', 'cma-es', 'CMAES', 'qmc', 'nsga-ii', 'tpe:multivariate=true'])
def test_samplers(sampler, tmp_path):
    study = run(square, 12, tmp_path, sampler=sampler)
    assert len(study.trials) == 12 and study.best_value < 30


def test_grid_tries_all(tmp_path):
    study = run(lambda t: t.suggest_int('a', 1, 3) + t.suggest_categorical('b', [10, 20]), 99, tmp_path, sampler='grid')
    assert sorted(t.value for t in study.trials) == [11, 12, 13, 21, 22, 23]


@pytest.mark.parametrize('pruner', ['median', 'hyperband', 'asha', 'percentile', 'threshold:upper=40', 'none'])
def test_pruners(pruner, tmp_path):
    def objective(trial):
        x = trial.suggest_float('x', -9, 9)
        for step in range(10):
            tune.report(trial, (x - 2) ** 2 + 1, step)
        return (x - 2) ** 2 + 1
    study = run(objective, 25, tmp_path, pruner=pruner, sampler='random')
    pruned = [t for t in study.trials if t.state.name == 'PRUNED']
    assert bool(pruned) == (pruner != 'none')
    assert len(study.trials) == 25


@pytest.mark.parametrize('options, said', [
    ({'sampler': 'tpee'}, "no sampler 'tpee' .did you mean tpe"),
    ({'sampler': 'tpe:multivariat=1'}, 'did you mean multivariate'),
    ({'sampler': 'tpe:multivariate'}, 'not name=value'),
    ({'pruner': 'medain'}, 'did you mean median'),
    ({'pruner': 'threshold'}, 'pruner threshold'),
    ({'direction': 'max'}, "'minimize' or 'maximize'"),
    ({'jobs': 0}, 'at least 1'),
    ({'trials': None}, 'without an end'),
    ({'backend': 'dask'}, 'processes and ray'),
])
def test_mistakes_in_settings(options, said, tmp_path):
    options = {'trials': 3, **options}
    with pytest.raises(mx.MXNetError, match=said):
        run(square, options.pop('trials'), tmp_path, **options)


def test_a_seed_gives_the_same_trials_also_after_a_stop(tmp_path):
    whole = [t.params for t in run(square, 16, tmp_path / 'a').trials]
    run(square, 7, tmp_path / 'b')
    parts = [t.params for t in run(square, 16, tmp_path / 'b').trials]
    assert whole == parts and len({p['x'] for p in parts}) == 16
    assert [t.params for t in run(square, 5, tmp_path / 'c', seed=2).trials] != whole[:5]


def test_the_state_of_cmaes_is_not_executed(tmp_path):
    """Optuna unpickles it from the storage; a stranger's storage must not run code."""
    mark = tmp_path / 'executed'

    class Evil:
        def __reduce__(self):
            return os.system, (f'touch {mark}',)
    study = run(square, 8, tmp_path, sampler='cma-es')
    store = _storage.Store(str(tmp_path / 'study.journal'), str(tmp_path))
    text = pickle.dumps(Evil()).hex()
    prefix = _optuna._plain_cmaes(optuna.samplers.CmaEsSampler)()._attr_key_optimizer
    states = [k for t in study.trials for k in t.system_attrs if k.startswith(prefix)]
    assert states, 'CMA-ES keeps its state elsewhere now'
    for trial in study.trials:
        frozen = optuna.trial.create_trial(value=1.0, params=trial.params, distributions=trial.distributions,
                                           system_attrs={f'{prefix}:0': text})
        study.add_trial(frozen)
    with pytest.raises(mx.MXNetError, match='refused to unpickle'):
        run(square, 30, tmp_path, sampler='cma-es')
    assert not mark.exists()
    pickle.loads(bytes.fromhex(text))
    assert mark.exists()                    # it would have been
    store.close()


# ---------------------------------------------------------------------- storages
@pytest.mark.parametrize('name', ['s.journal', 's.log', 's.db', 's.sqlite3'])
def test_files(name, tmp_path):
    place = str(tmp_path / name)
    run(square, 3, tmp_path, storage=place)
    assert len(run(square, 5, tmp_path, storage=place).trials) == 5
    with open(place, 'rb') as file:
        assert file.read(6) == (b'SQLite' if name.endswith(('.db', '.sqlite3')) else b'{"op_c')
    assert len(tune.load(place).trials) == 5
    assert not [n for n in os.listdir(f'{place}.workers') if n.isalnum()]


def test_urls(tmp_path):
    assert len(run(square, 2, tmp_path, storage=f'sqlite:///{tmp_path}/u.db').trials) == 2
    with pytest.raises(mx.MXNetError, match='malformed'):
        run(square, 2, tmp_path, storage='://x')
    with pytest.raises(mx.MXNetError, match='no database that SQLAlchemy knows'):
        run(square, 2, tmp_path, storage='mongo://x/y')
    with pytest.raises(mx.MXNetError, match='cannot be opened') as error:
        run(square, 2, tmp_path, storage='postgresql://me:geheim@127.0.0.1:1/none')
    assert 'geheim' not in str(error.value) and 'me:***@' in str(error.value)


def test_what_is_no_storage(tmp_path):
    (tmp_path / 'x').write_text('hello')
    with pytest.raises(mx.MXNetError, match='neither a journal of Optuna nor an SQLite'):
        run(square, 2, tmp_path, storage=str(tmp_path / 'x'))
    (tmp_path / 'y').write_text('{"a": 1}\n')
    with pytest.raises(mx.MXNetError, match='no journal of Optuna'):
        run(square, 2, tmp_path, storage=str(tmp_path / 'y'))
    with pytest.raises(mx.MXNetError, match='there is no file'):
        tune.load(str(tmp_path / 'z'))


def test_a_journal_that_was_cut_off_goes_on(tmp_path):
    """A full disk or a lost machine ends a write in the middle of a line."""
    run(square, 4, tmp_path)
    journal = tmp_path / 'study.journal'
    with open(journal, 'ab') as file:
        file.write(b'{"op_code":6,"worker')
    assert len(run(square, 6, tmp_path).trials) == 6
    for line in journal.read_text().splitlines():
        json.loads(line)
    journal.write_bytes(b'{"op_co')
    assert len(run(square, 1, tmp_path).trials) == 1


def test_another_study(tmp_path):
    run(square, 3, tmp_path, study='s')

    def other(trial):
        return trial.suggest_float('y', 0, 1)
    with pytest.raises(mx.MXNetError, match='has the trials of test_tune.py:square, and this is test_tune.py:other'):
        run(other, 5, tmp_path, study='s')
    with pytest.raises(mx.MXNetError, match='is one to minimize, and this search is one to maximize'):
        run(square, 5, tmp_path, study='s', direction='maximize')
    other.__name__ = 'square'
    with pytest.raises(mx.MXNetError, match='has other parameters: x; this search has y'):
        run(other, 5, tmp_path, study='s')
    assert [t.params for t in tune.load(str(tmp_path / 'study.journal')).trials if t.state.name == 'COMPLETE'][2:]

    def changed(trial):
        return len(trial.suggest_categorical('x', ['a', 'b']))
    changed.__name__ = 'square'
    with pytest.raises(Exception, match='dynamic value space|distribution kind'):
        run(changed, 9, tmp_path, study='s')
    # one with another name may live beside it
    assert len(run(other, 2, tmp_path, study='t').trials) == 2
    with pytest.raises(mx.MXNetError, match='has the studies s, t'):
        tune.load(str(tmp_path / 'study.journal'))


def test_trials_of_plain_optuna_can_be_gone_on_with(tmp_path):
    place = str(tmp_path / 's.db')
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    optuna.create_study(storage=f'sqlite:///{place}', study_name='square').optimize(square, n_trials=3)
    assert len(run(square, 5, tmp_path, storage=place).trials) == 5


# ---------------------------------------------------------------------- killed processes
def test_trials_of_dead_processes_fail(tmp_path):
    run(square, 2, tmp_path)
    store = _storage.Store(str(tmp_path / 'study.journal'), str(tmp_path))
    study = tune.load(str(tmp_path / 'study.journal'))
    search = _worker.Search({}, {}, 'square', store.place, str(tmp_path), trials=9)
    with _locks.Presence(store.folder) as alive:
        _worker.begin(search, store, study, alive.name)
        _worker.begin(search, store, study, 'f' * 16)           # has no file: it has ended
        _worker.begin(search, store, study, '../../etc')        # no name of ours
        store.recover(study)
        states = [t.state.name for t in study.trials]
    assert states == ['COMPLETE', 'COMPLETE', 'RUNNING', 'FAIL', 'RUNNING']
    assert store.recover(study) == [2]
    assert [_storage.counts(t) for t in study.trials] == [True, True, False, False, True]


# ---------------------------------------------------------------------- what objectives return
@pytest.mark.parametrize('value, said', [
    ('0.5', r"returned '0.5' \(of type str\)"), (None, 'Does it lack a return'), ([1, 2], 'of type list'),
    (True, 'of type bool'), (1j, 'of type complex'), (np.ones(3), r'shape \(3,\)'),
    (mx.nd.ones((2, 2)), r'shape \(2, 2\)')])
def test_what_is_no_number(value, said, tmp_path):
    with pytest.raises(TypeError, match=said):
        run(lambda trial: value, 3, tmp_path)


@pytest.mark.parametrize('value', [1, np.float32(1), np.array([1.0]), mx.nd.array([1]), mx.np.array(1.0)])
def test_what_is_a_number(value, tmp_path):
    assert run(lambda trial: value, 1, tmp_path).best_value == 1


@pytest.mark.parametrize('value', [float('nan'), mx.nd.array([np.nan]), np.inf])
def test_nan_fails_the_trial_and_not_the_search(value, tmp_path, capsys):
    study = run(lambda t: value if t.suggest_int('n', 0, 9) < 5 else 1.0, 8, tmp_path, quiet=False, sampler='random')
    failed = [t for t in study.trials if t.state.name == 'FAIL']
    assert len(study.trials) == 8 and failed and study.best_value == 1
    assert re.search(r'failed .*returned (nan|inf)\)', capsys.readouterr().out)


def test_errors_of_the_objective(tmp_path):
    def objective(trial):
        return 1 / (trial.suggest_int('n', 0, 3))
    with pytest.raises(ZeroDivisionError):
        run(objective, 40, tmp_path, sampler='grid')
    study = run(objective, 40, tmp_path / 'b', keep_going=True, sampler='random')
    assert len(study.trials) == 40
    assert any('ZeroDivisionError' in t.system_attrs[_storage.WHY] for t in study.trials if t.state.name == 'FAIL')


def test_time_limit(tmp_path):
    def objective(trial):
        time.sleep(0.05)
        return square(trial)
    start = time.monotonic()
    study = run(objective, None, tmp_path, time_limit=0.5)
    assert 2 <= len(study.trials) <= 11 and time.monotonic() - start < 10


# ---------------------------------------------------------------------- checkpoints
def test_the_best_ones_files_are_kept(tmp_path):
    values = [5, 3, 4, 1, 2]

    def objective(trial):
        with open(os.path.join(tune.folder(trial), 'w.txt'), 'w') as file:
            file.write(str(values[trial.number]))
        if trial.number == 2:
            tune.report(trial, float('nan'), 0)
        return values[trial.number]
    run(objective, 5, tmp_path)
    found = tune.best(str(tmp_path))
    assert os.listdir(tmp_path / 'trials') == ['00003'] and found['trial'] == 3 and found['value'] == 1
    with open(os.path.join(found['folder'], 'w.txt')) as file:
        assert file.read() == '1'
    # what a killed process has left goes with the next search, and a stranger's file does not lead elsewhere
    os.makedirs(tmp_path / 'trials' / '00001')
    run(objective, 5, tmp_path)
    assert os.listdir(tmp_path / 'trials') == ['00003']
    (tmp_path / 'best.json').write_text('{"folder": "../../secret"}')
    with pytest.raises(mx.MXNetError, match='no folder of a trial'):
        tune.best(str(tmp_path))
    with pytest.raises(mx.MXNetError, match='no trial of a study has finished'):
        tune.best(str(tmp_path / 'trials'))


def test_all_files_are_kept_if_wanted(tmp_path):
    run(lambda t: (tune.folder(t), square(t))[1], 3, tmp_path, keep_all=True)
    assert len(os.listdir(tmp_path / 'trials')) == 3


# ---------------------------------------------------------------------- callbacks
def data(count=60):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(count, 4)).astype('float32')
    return x, (x.sum(1) > 0).astype('float32')


@pytest.mark.filterwarnings('ignore:.*FeedForward:DeprecationWarning')
def test_module_and_feedforward(tmp_path):
    x, y = data()

    def net():
        out = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2)
        return mx.sym.SoftmaxOutput(out, name='softmax')

    def objective(trial):
        lr = trial.suggest_float('lr', 1e-3, 1, log=True)
        callback = tune.FitCallback(trial)
        held_out = mx.io.NDArrayIter(x, y, 20)
        if trial.number % 2:
            mx.model.FeedForward(net(), num_epoch=4, learning_rate=lr).fit(
                mx.io.NDArrayIter(x, y, 20), eval_data=held_out, eval_end_callback=callback)
        else:
            mx.mod.Module(net()).fit(mx.io.NDArrayIter(x, y, 20), eval_data=held_out, num_epoch=4,
                                     optimizer_params={'learning_rate': lr}, eval_end_callback=callback)
        return callback.value
    study = run(objective, 6, tmp_path, direction='maximize', pruner='threshold:lower=0.99,n_warmup_steps=1')
    steps = [sorted(t.intermediate_values) for t in study.trials]
    for trial, seen in zip(study.trials, steps):
        assert seen == list(range(len(seen)))
        assert len(seen) == 4 and trial.value == trial.intermediate_values[3] or trial.state.name == 'PRUNED'
    assert any(t.state.name == 'PRUNED' and len(t.intermediate_values) == 2 for t in study.trials)


def test_fit_callback_in_the_wrong_place(tmp_path):
    with pytest.raises(mx.MXNetError, match='belongs into eval_end_callback'):
        tune.FitCallback(None)(3)
    with pytest.raises(mx.MXNetError, match="no metric 'f1'; it has accuracy"):
        metric = mx.metric.Accuracy()
        tune.FitCallback(None, 'f1')(mx.model.BatchEndParam(0, 0, metric, None))


def test_gluon_and_estimator(tmp_path):
    x, y = data()
    batches = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), 20)

    def objective(trial):
        net = nn.Dense(2)
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': trial.suggest_float('lr', 0.01, 0.5)})
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        if trial.number % 2:
            estimator = gluon.contrib.estimator.Estimator(net, loss, mx.metric.Accuracy(), trainer=trainer)
            handler = tune.TuneHandler(trial)
            estimator.fit(batches, val_data=batches, epochs=3, event_handlers=[handler])
            return handler.value
        reporter = tune.Reporter(trial)
        for _ in range(3):
            total = 0
            for features, labels in batches:
                with mx.autograd.record():
                    values = loss(net(features), labels)
                values.backward()
                trainer.step(20)
                total += values.mean().asscalar()
            reporter(mx.nd.array([total]))
        return reporter.values[-1]
    study = run(objective, 4, tmp_path, pruner='none')
    assert [sorted(t.intermediate_values) for t in study.trials] == [[0, 1, 2]] * 4
    assert all(t.value == t.intermediate_values[2] for t in study.trials)


# ---------------------------------------------------------------------- what is shown
@pytest.fixture(scope='module')
def hostile(tmp_path_factory):
    """A study with names and values that a stranger has chosen, and its report."""
    out = tmp_path_factory.mktemp('hostile')

    def objective(trial):
        trial.suggest_categorical('<b>$name</b>', ['<script>alert(1)</script>', '\x1b[2J$x$_'])
        value = trial.suggest_float('lr', 1e-3, 1, log=True)
        trial.report(value * 2, 0)
        trial.report(value, 1)
        return value
    import matplotlib
    before = dict(matplotlib.rcParams)
    study = tune.run(objective, 8, out=str(out), seed=1, quiet=True, study='<i>')
    assert dict(matplotlib.rcParams) == before          # plots of the program look as they did
    return out, study


def test_the_report_stands_alone_and_is_escaped(hostile):
    out, _ = hostile
    page = (out / 'report.html').read_text()
    assert '<script' not in page and '<b>' not in page and '<i>' not in page and '\x1b' not in page
    assert not re.search(r'(src|href)="(?!data:)', page) and "default-src 'none'" in page
    assert page.count('src="data:image/png;base64,') == 5
    for name in ('history', 'importances', 'parallel', 'slices', 'curves'):
        picture = (out / f'{name}.png').read_bytes()
        assert picture[:4] == b'\x89PNG' and base64.b64encode(picture).decode() in page
        assert mx.image.imdecode(picture).asnumpy().std() > 5         # something is drawn
    assert f'trial {tune.load(str(out / "study.journal")).best_trial.number}' in page


def test_importances_find_what_matters(tmp_path):
    study = run(lambda t: 10 * t.suggest_float('a', 0, 1) + 0.01 * t.suggest_float('b', 0, 1), 30, tmp_path,
                sampler='random')
    assert max(tune.importances(study).items(), key=lambda p: p[1])[0] == 'a'
    assert tune.importances(run(square, 1, tmp_path / 'one')) == {}


def test_tensorboard(hostile):
    pytest.importorskip('tensorboard')
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams import plugin_data_pb2
    out, study = hostile
    for trial in study.trials:
        found = EventAccumulator(str(out / 'logs' / f'trial-{trial.number:05d}')).Reload()
        assert found.Scalars('value')[0].value == pytest.approx(trial.value)
        curve = list(trial.intermediate_values.values())
        assert [s.value for s in found.Scalars('steps/value')] == pytest.approx(curve)
        content = found.PluginTagToContent('hparams')['_hparams_/session_start_info']
        settings = plugin_data_pb2.HParamsPluginData.FromString(content).session_start_info.hparams
        assert settings['lr'].number_value == pytest.approx(trial.params['lr'])
        assert settings['<b>$name</b>'].string_value == trial.params['<b>$name</b>']


def test_nothing_in_a_study_controls_the_terminal(hostile):
    _, study = hostile
    search = _worker.Search({}, {}, 's', '', 'x')
    text = '\n'.join(_show.summary(search, study, study.trials))
    assert '\x1b' not in text and all(_show.plain(f'a{c}b') == 'a?b' for c in '\x1b\x07\x9b\r\n')


class Terminal:
    def __init__(self):
        self.text = ''

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_the_live_table(hostile):
    """What is on the screen after each redraw: finished trials once, then the running ones, then a line of counts."""
    _, study = hostile
    search = _worker.Search({}, {}, 's', '', 'x', trials=8)
    screen = Terminal()
    table = _show.Table(search, study, file=screen)
    trials = study.trials
    for count in range(1, 9):
        shown = [*trials[:count], *(optuna.trial.create_trial(state=optuna.trial.TrialState.RUNNING) for _ in (1, 2))]
        for number, trial in enumerate(shown):
            trial.number = number
        table.update(shown)
    lines: list[str] = []
    for piece in re.split(r'(\x1b\[\d+F\x1b\[J)', screen.text):
        if piece.startswith('\x1b'):
            del lines[-int(piece[2:-4]):]
        else:
            lines += piece.splitlines()
    assert [line.split()[1] for line in lines[:10]] == [str(n) for n in range(10)]
    assert [line.split()[2] for line in lines[8:10]] == ['runs', 'runs'] and lines[10].startswith('8 done, 0 pruned')
    assert len(lines) == 11


# ---------------------------------------------------------------------- commands
OBJECTIVE = '''import sys
import mxnet as mx
def objective(trial):
    print('printed by the objective', sys.argv[1:])
    return (trial.suggest_float('x', -9, 9) - 2) ** 2
def two(a, b):
    return 1
def broken(trial):
    return helper(trial)
def helper(trial):
    raise KeyError('missing')
number = 3
'''


@pytest.fixture
def program(tmp_path):
    (tmp_path / 'program.py').write_text(OBJECTIVE)
    return str(tmp_path / 'program.py')


def test_remx_tune(program, tmp_path, capsys):
    words = ['tune', program, '--trials', '4', '--seed', '1', '--out', str(tmp_path / 'o'), '--no-report']
    assert main([*words, '--', '--data', 'X']) == 0
    out = capsys.readouterr().out
    assert "printed by the objective ['--data', 'X']" in out and '4 trials done' in out and 'best: trial' in out
    assert len(re.findall(r'^trial +\d+ +(best|done) ', out, re.M)) == 4
    assert main([*words[:3], '6', *words[4:]]) == 0
    assert '6 trials done' in capsys.readouterr().out
    assert 'x = ' in (main([*words, '--quiet']), capsys.readouterr().out)[1]


@pytest.mark.parametrize('words, said', [
    (['{}:objectiv'], 'did you mean {}:objective?'),
    (['{}:two'], 'line 6: two takes 2 arguments; an objective takes one'),
    (['{}:number'], 'number is no function of a trial'),
    (['{}x'], 'there is no file {}x; did you mean {}?'),
    (['{}', '--sampler', 'bayes'], "there is no sampler 'bayes'"),
    (['{}:broken'], "KeyError: 'missing'"),
])
def test_mistakes_of_remx_tune(words, said, program, tmp_path, capsys):
    words = [w.format(program) for w in words]
    assert main(['tune', *words, '--out', str(tmp_path / 'o'), '--trials', '2', '--no-report']) == 1
    error = capsys.readouterr().err
    assert said.format(program, program) in error and '_worker.py' not in error


@pytest.mark.parametrize('text, seconds', [('90', 90), ('90s', 90), ('1.5m', 90), ('1h30m', 5400), ('2d', 172800)])
def test_times(text, seconds):
    from mxnet.cli.tune import seconds as parse
    assert parse(text) == seconds


def test_without_optuna(program, tmp_path):
    """Everything else works; what needs it says what to install."""
    code = ('import sys; sys.modules["optuna"] = None; import mxnet as mx; from mxnet.cli import main; '
            'print(sorted(mx.contrib.tune.parse_space("a=1..2"))); '
            f'print(main(["tune", {program!r}]), main(["train", "--tune", "lr=0..1"])); '
            'mx.contrib.tune.run(print)')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, cwd=tmp_path,
                          env={**os.environ, 'PYTHONPATH': str(ROOT)})
    assert done.stdout.splitlines() == ["['a']", '1 1']
    assert done.stderr.count('pip install "remx[tune]"') == 3


@pytest.fixture(scope='module')
def digits(tmp_path_factory):
    from mxnet.cli import _digits
    counts = dict(_digits.COUNTS)
    _digits.COUNTS.update(train=600, test=100)
    try:
        return str(_digits.write(str(tmp_path_factory.mktemp('digits'))))
    finally:
        _digits.COUNTS.update(counts)


def test_remx_train_tune(digits, tmp_path, capsys):
    words = ['train', '--data', digits, '--epochs', '2', '--trials', '4', '--out', str(tmp_path / 'o'), '--no-report',
             '--tune', 'lr=log:1e-3..1,optimizer=sgd|adam,hidden=8..64,momentum=0..0.9']
    assert main(words) == 0
    out = capsys.readouterr().out
    assert re.search(r'^trial +0 .* lr=0.01 optimizer=sgd hidden=64 momentum=0', out, re.M)        # the defaults first
    for params in re.findall(r'^trial .*? (lr=.*)', out, re.M):
        assert ('adam' in params) != ('momentum' in params)
    found = tune.best(str(tmp_path / 'o'))
    assert sorted(os.listdir(found['folder'])) == ['history.json', 'mlp.params']
    with open(os.path.join(found['folder'], 'history.json')) as file:
        history = json.load(file)
    assert history[-1]['validation'] == found['value'] and 'test' not in history[-1]
    assert 0 < float(re.search(r'^test accuracy of the best trial: ([\d.]+)', out, re.M)[1]) <= 1
    command = re.search(r'^train it on all digits with: remx (.*)$', out, re.M)[1].split()
    assert main([*command, '--out', str(tmp_path / 'all'), '--quiet', '--no-tensorboard']) == 0
    capsys.readouterr()
    # other ranges, or other fixed settings, are another study
    assert main([*words[:-1], 'lr=log:1e-3..1']) == 1
    assert 'has other parameters' in capsys.readouterr().err
    assert main([*words, '--batch-size', '32']) == 1
    assert 'batch-size=64 instead of batch-size=32' in capsys.readouterr().err


def test_search_options_need_tune(digits, tmp_path):
    with pytest.raises(SystemExit, match='--trials goes with --tune'):
        main(['train', '--data', digits, '--trials', '4', '--out', str(tmp_path)])


def test_validation_digits_take_no_part_in_training(digits, tmp_path, capsys):
    from mxnet.cli.train import divided
    kept, held_back = divided(600, 0.2)
    assert len(held_back) == 120 and sorted([*kept, *held_back]) == list(range(600))
    assert main(['train', '--data', digits, '--validation', '0.2', '--epochs', '1', '--quiet', '--no-tensorboard',
                 '--out', str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert '480 training and 120 held back, 100 test digits' in out and 'Validation_acc' in out


