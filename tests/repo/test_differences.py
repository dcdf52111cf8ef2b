"""docs/en/differences.md: every line has a program that shows what it says (difference_cases.py), or is listed here."""
import json
import os
import re
import subprocess
from pathlib import Path

import difference_cases
import numpy
import pytest
from conftest import ROOT
from difference_cases import CASES, NOT_RUN

import mxnet as mx

# lines that other tests show, by the words they begin with
ELSEWHERE = {
    'Loaded optimizer states keep their update count': 'tests/module/test_module_resume.py',
    'Invalid arguments that upstream accepts': 'tests/base/test_mistakes.py',
    'An index out of range on a GPU': 'tests/ops/test_ops_checks.py',
    'A `.params` file of a Gluon network alone': 'tests/repo/test_repo_docs.py',
    '[GluonCV](https://pypi.org/project/gluoncv/) 0.8.0': 'tests/programs/test_libraries_run.py',
    '[GluonTS](https://pypi.org/project/gluonts/) 0.16.0': 'tests/programs/test_libraries_run.py',
    '[DGL](https://pypi.org/project/dgl/) 1.1.3': 'tests/programs/test_libraries_run.py',
    'Such libraries were written for older versions of NumPy.': 'tests/programs/test_libraries_run.py',
}
# lines that no test can show, with the reason
NOT_TESTED = {
    '`pip uninstall mxnet`,': 'an installation',
    'If the program is written for Python 2,': 'another package, from the network',
    'These libraries were run unmodified,': 'begins the table',
    'GluonCV 0.10.5': 'not among the installed libraries',
    '[GluonNLP](https://pypi.org/project/gluonnlp/) 0.10.0': 'not among the installed libraries',
    '[Sockeye](https://pypi.org/project/sockeye/) 2.3.24': 'needs an older NumPy',
    '[Keras-MXNet](https://pypi.org/project/keras-mxnet/) 2.2.4.3': 'not among the installed libraries',
    'The examples of MXNet 1.9.1': 'was run by hand, on programs that are not here',
    'programs for GPUs in CUDA C, Caffe, Kaldi': 'says what was not run',
    'Programs from 25 public repositories': 'was run by hand, on programs that are not here',
    'sknlp': 'another package; that there is no C library is shown by another line',
}
OWN = {'`prefix-symbol.json` with': 'test_checkpoints_of_each_are_read_by_all',
       'To continue training,': 'test_training_goes_on',
       'Run it. Names that NumPy has removed since': 'test_removed_names_of_numpy',
       'Programs run unmodified': 'test_recorded_cases',
       'GPUs': 'test_precision_on_gpus'}


def lines(language):
    """What a page says: (section, text) of its paragraphs, items of lists and rows of tables."""
    text = (ROOT / 'docs' / language / 'differences.md').read_text()
    text = re.sub(r'```.*?```', '\n', text, flags=re.DOTALL)
    found, section = [], ''
    for block in re.split(r'\n\s*\n', text):
        rows = block.strip().splitlines()
        if not rows:
            continue
        if rows[0].startswith('#'):
            section = rows[0]
        elif rows[0].startswith('|'):
            found += [(section, row.strip('| ')) for row in rows[2:]]
        else:
            for row in rows:
                item = re.match(r'(- |\d\. )(.*)', row)
                if item is not None or row is rows[0]:
                    found.append((section, (item.group(2) if item else row).lstrip('*')))
                else:
                    found[-1] = section, f'{found[-1][1]} {row.strip()}'
    return found


def test_every_line_is_shown_by_a_program_or_listed():
    known = {line for line, *_ in CASES} | set(ELSEWHERE) | set(NOT_TESTED) | set(OWN)
    said = [text for _, text in lines('en')]
    assert [text for text in said if not any(text.startswith(line) for line in known)] == []
    assert [line for line in known if sum(text.startswith(line) for text in said) != 1] == []


def test_both_languages_have_the_same_lines():
    def counts(language):
        found = {}
        for section, _ in lines(language):
            found[section] = found.get(section, 0) + 1
        return list(found.values())
    assert counts('en') == counts('zh')


def test_files_of_other_tests_are_there():
    assert all((ROOT / path).exists() for path in ELSEWHERE.values())
    assert all(name in globals() for name in OWN.values())


def plain(answer):
    return json.loads(json.dumps(answer))


@pytest.fixture(scope='module')
def theirs():
    """What MXNet 1.9.1 answers, all of it from one process; None without one."""
    python = os.environ.get('MXNET191_PYTHON')
    if python is None:
        return None
    environment = {k: v for k, v in os.environ.items() if k not in ('PYTHONPATH', 'MXNET_GLUON_REPO')}
    environment['MXNET_GLUON_REPO'] = 'http://127.0.0.1:9/'         # nothing is downloaded
    done = subprocess.run([python, '-W', 'ignore', Path(difference_cases.__file__).resolve()], env=environment,
                          text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('line, here, there, function', [pytest.param(*c, id=c[3].__name__) for c in CASES])
def test_claim(line, here, there, function, theirs, monkeypatch):
    monkeypatch.delenv('MXNET_GLUON_REPO', raising=False)
    assert plain(function()) == plain(here)
    if theirs is not None and there is not NOT_RUN:
        assert theirs[function.__name__] == plain(there)


# ---------------------------------------------------------------------- lines without another side
def network():
    graph = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc')
    return mx.sym.SoftmaxOutput(mx.sym.BatchNorm(graph, name='bn'), name='softmax')


DATA = numpy.arange(8, dtype='float32').reshape(2, 4)


def module_writes():
    module = mx.mod.Module(network())
    module.bind([('data', (2, 4))], [('softmax_label', (2,))])
    module.init_params(mx.init.Xavier())
    module.save_checkpoint('old', 10)
    return module.predict(DATA)


def feed_forward_writes():
    model = mx.model.FeedForward(network(), num_epoch=1, initializer=mx.init.Xavier())
    model.fit(mx.io.NDArrayIter(DATA, numpy.zeros(2), 2))
    model.save('old', 10)
    return mx.nd.array(model.predict(DATA))


def export_writes():
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(3), mx.gluon.nn.BatchNorm())
    net.initialize(mx.init.Xavier())
    net.hybridize()
    result = net(mx.nd.array(DATA))
    net.export('old', 10)
    return result


def module_reads():
    module = mx.mod.Module.load('old', 10, label_names=None)
    module.bind([('data', (2, 4))], for_training=False)
    return module.predict(DATA)


def feed_forward_reads():
    return mx.nd.array(mx.model.FeedForward.load('old', 10).predict(DATA))


def gluon_reads():
    labels = [n for n in mx.sym.load('old-symbol.json').list_arguments() if n.endswith('label')]
    block = mx.gluon.SymbolBlock.imports('old-symbol.json', ['data', *labels], 'old-0010.params')
    return block(mx.nd.array(DATA), *[mx.nd.zeros(2) for _ in labels])


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('reads', [module_reads, feed_forward_reads, gluon_reads])
@pytest.mark.parametrize('writes', [module_writes, feed_forward_writes, export_writes])
def test_checkpoints_of_each_are_read_by_all(writes, reads, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert writes().asnumpy() == pytest.approx(reads().asnumpy(), rel=1e-5)


@pytest.mark.filterwarnings('ignore')
def test_training_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    batches = mx.io.NDArrayIter(DATA, numpy.zeros(2), 1)
    sgd = {'optimizer': 'sgd', 'optimizer_params': {'learning_rate': 0.1, 'momentum': 0.9}}
    module = mx.mod.Module(network())
    module.fit(batches, num_epoch=10, initializer=mx.init.One(), **sgd)
    module.save_checkpoint('old', 10, save_optimizer_states=True)
    module.fit(batches, begin_epoch=10, num_epoch=12, **sgd)
    wanted = module.get_params()
    other = mx.mod.Module.load('old', 10, load_optimizer_states=True)
    other.fit(batches, begin_epoch=10, num_epoch=12, **sgd)
    _, arguments, states = mx.model.load_checkpoint('old', 10)
    without = mx.mod.Module(network())
    without.fit(batches, arg_params=arguments, aux_params=states, begin_epoch=10, num_epoch=12, **sgd)
    for found, same in ((other.get_params(), True), (without.get_params(), False)):         # it begins without momentum
        close = [found[0][n].asnumpy() == pytest.approx(wanted[0][n].asnumpy(), rel=1e-5) for n in wanted[0]]
        assert all(close) if same else not all(close)


@pytest.mark.filterwarnings('ignore')
def test_removed_names_of_numpy():
    assert [name for name in ('float', 'int', 'asscalar') if hasattr(numpy, name)] == []


def test_recorded_cases(shared):
    said = re.search(r'recorded \(([\d,]+) cases', lines('en')[0][1]).group(1)
    assert int(said.replace(',', '')) == len(json.loads((shared / 'golden' / 'index.json').read_text())['cases'])


def test_precision_on_gpus():
    import torch
    assert mx.nd.ones(1) == 1 and (torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32) \
        == (True, False)            # as PyTorch has them
