"""Every program of examples/ runs, learns what it says, and draws."""
import re
import sys

import pytest
from conftest import ROOT

FOLDER = ROOT / 'examples'
HELPERS = {'figures', 'digits'}
PROGRAMS = sorted(path.stem for path in FOLDER.glob('*.py') if path.stem not in HELPERS)
pytest.importorskip('matplotlib')


@pytest.fixture
def example(run_python, tmp_path):
    def run(name, *more):
        text = run_python(str(FOLDER / f'{name}.py'), '--quick', '--out', 'out', *more, OMP_NUM_THREADS='1').stdout
        for figure in re.findall(r'^drew (.*)$', text, re.M):
            assert (tmp_path / figure).read_bytes().startswith(b'\x89PNG')
        assert 'drew ' in text
        return text
    return run


def numbers(pattern, text):
    return [float(number) for number in re.search(pattern, text).groups()]


def test_readme_lists_them_all():
    listed = re.findall(r'^\| \[(\w+)\.py\]\((\w+)\.py\)', (FOLDER / 'README.md').read_text(), re.M)
    assert sorted(name for name, _ in listed) == PROGRAMS and all(name == link for name, link in listed)


@pytest.mark.parametrize('name', PROGRAMS)
def test_help(name):
    """Said without running anything: the docstring is the help, and it shows how to call the program."""
    source = (FOLDER / f'{name}.py').read_text()
    doc = re.match(r'"""(.*?)"""', source, re.DOTALL)[1]
    assert f'examples/{name}.py' in doc and 'argparse' in source and "__name__ == '__main__'" in source
    assert len(source.splitlines()) < 230


def test_help_is_printed(run_python):
    assert '--quick' in run_python(str(FOLDER / 'linear_regression.py'), '--help').stdout


def test_linear_regression(example):
    text = example('linear_regression')
    for first, second, bias in re.findall(r'found weights \[([-\d.]+), ([-\d.]+)\] and bias ([\d.]+)', text):
        assert [float(first), float(second), float(bias)] == pytest.approx([2, -3.4, 4.2], abs=0.1)
    assert text.count('found weights') == 3


def test_tune_digits(example):
    pytest.importorskip('optuna')
    text = example('tune_digits')
    first, best = numbers(r'first trial ([\d.]+), best ([\d.]+)', text)
    assert best >= first and best > 0.7 and numbers(r'test accuracy of the best network: ([\d.]+)', text)[0] > 0.7


def test_tabular_regression(example):
    learned, mean = numbers(r'logarithms: ([\d.]+); of the mean price: ([\d.]+)', example('tabular_regression'))
    assert learned < 0.2 and mean > 0.4


def test_image_classification(example, tmp_path):
    text = example('image_classification')
    assert numbers(r'0 to 4: accuracy ([\d.]+)', text)[0] > 0.9
    transfer, scratch = numbers(r'accuracy ([\d.]+) with the old layers, ([\d.]+) from nothing', text)
    assert transfer > scratch and transfer > 0.6
    again = example('image_classification', '--checkpoint', str(tmp_path / 'out' / 'digits0to4'), '--epoch', '3')
    assert 'saved' not in again and numbers(r'accuracy ([\d.]+) with the old', again)[0] > 0.5


def test_object_detection(example):
    text = example('object_detection')
    recall, precision = numbers(r'([\d.]+) of the shapes found, ([\d.]+) of what was found', text)
    assert recall > 0.4 and precision > 0.6


@pytest.mark.slow
def test_object_detection_in_earnest(run_python):
    text = run_python(str(FOLDER / 'object_detection.py'), '--out', 'out', OMP_NUM_THREADS='1').stdout
    recall, precision = numbers(r'([\d.]+) of the shapes found, ([\d.]+) of what was found', text)
    assert recall > 0.8 and precision > 0.9


@pytest.mark.parametrize('model', ['lstm', 'transformer'])
def test_text_generation(example, tmp_path, model):
    text = example('text_generation', '--model', model)
    assert numbers(r'^perplexity ([\d.]+)', text[text.index('\nperplexity') + 1:])[0] < 25
    written = (tmp_path / 'out' / f'{model}.txt').read_text().split('\n\n')
    assert [len(piece) for piece in written] == [len('You may ') + 200, len('the Work ') + 200]


def test_several_devices(example):
    text = example('several_devices')
    assert 'gpu(3)' in text and 'copies differ by 0.0e+00' in text
    assert numbers(r'one device by ([\d.e+-]+)', text)[0] < 1e-4


def test_model_parallel_lstm(example):
    text = example('model_parallel_lstm')
    assert "'lstm0_i2h_weight': 'gpu(1)', 'lstm1_i2h_weight': 'gpu(2)'" in text
    first, last = numbers(r'loss ([\d.]+) -> ([\d.]+)', text)
    assert last < first / 2


def test_pruning(example):
    before, after, parameters, left, time = numbers(r'accuracy: ([\d.]+) before, ([\d.]+) after; parameters (\d+) and '
                                                    r'(\d+); time ([\d.]+)', example('pruning'))
    assert before > 0.85 and after > before - 0.03 and left < 0.27 * parameters and time < 0.9


def test_distillation(example):
    labels, teacher = numbers(r'from labels ([\d.]+), from the teacher ([\d.]+)', example('distillation'))
    assert labels > 0.6 and teacher > labels - 0.02


def test_gan(example):
    text = example('gan')
    assert re.search(r'epoch 1: generator [\d.]+, discriminator [\d.]+', text)


def test_custom_operator(example):
    text = example('custom_operator')
    assert numbers(r"autograd's by ([\d.e+-]+)", text)[0] < 1e-5
    assert all(float(share) > 0.9 for share in re.findall(r'found, ([\d.]+) of all right', text))


def test_bucketing(example):
    text = example('bucketing')
    assert numbers(r'perplexity ([\d.]+); networks', text)[0] < 150 and 'unrolled for [8, 16, 24, 32]' in text


def test_matrix_factorization(example):
    text = example('matrix_factorization')
    held_out, mean = numbers(r'held out ([\d.]+); the mean alone ([\d.]+)', text)
    assert held_out < mean / 2 and 'row_sparse' in text


@pytest.mark.skipif(sys.platform == 'win32', reason='torchrun')
def test_distributed(run_python):
    """Two processes; tests/distributed/test_dist_sync.py looks at what they exchange."""
    text = run_python('-m', 'mxnet.cli', 'launch', '-n', '2', sys.executable, str(FOLDER / 'distributed_mlp.py'),
                      '--epochs', '3', '--out', 'out', OMP_NUM_THREADS='1').stdout
    assert numbers(r'accuracy ([\d.]+)', text)[0] > 0.5 and text.count('drew out/loss.png') == 1
