"""The command `remx`, run as a user runs it."""
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

from mxnet import cli

PROJECT = tomllib.loads((ROOT / 'pyproject.toml').read_text())['project']


@pytest.fixture
def remx(run_python):
    return lambda *arguments, **options: run_python('-m', 'mxnet.cli', *arguments, **options)


def doctor(remx, **options):
    return json.loads(remx('doctor', '--json', **options).stdout)


def test_version(remx):
    assert remx('--version').stdout == 'remx 2.0.0 (mxnet 1.9.2)\n'


def test_help_names_the_commands(remx):
    assert 'doctor' in remx('--help').stdout
    done = remx(check=False)
    assert done.returncode == 2 and 'doctor' in done.stdout


@pytest.mark.parametrize('command', ['doctor', 'train', 'launch', 'im2rec', 'rec2idx', 'inspect', 'convert', 'predict',
                                     'serve', 'tune', 'run', 'check', 'fetch'])
def test_help_explains_every_option(command, monkeypatch, capsys):
    """Each option has a text, and nothing refers to a file that only the repository has."""
    monkeypatch.setenv('COLUMNS', '300')
    with pytest.raises(SystemExit) as left:
        cli.main([command, '--help'])
    text = capsys.readouterr().out
    assert left.value.code == 0
    _, _, listed = text.partition('\noptions:\n')
    options = re.findall(r'^  -.*(?:\n {10,}\S.*)*', listed, re.M)      # with the lines below it that explain it
    assert len(options) >= 2 and '.md' not in text
    assert [option for option in options if not re.search(r'\S\s{2,}\S', option)] == []


def test_unknown_command(remx):
    done = remx('dotcor', check=False)
    assert done.returncode == 2 and "invalid choice: 'dotcor'" in done.stderr


def test_an_interrupt_shows_no_traceback(run_python):
    code = ('import sys; from mxnet import cli; from mxnet.cli import doctor\n'
            'def interrupted(**_): raise KeyboardInterrupt\n'
            'doctor.doctor = interrupted\n'
            'sys.exit(cli.main(["doctor"]))')
    done = run_python('-c', code, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, '', 'remx: stopped\n')


def test_installed_command():
    script = Path(sys.executable).parent / 'remx'
    if not script.exists():
        pytest.skip('mxnet runs from PYTHONPATH, not installed')
    import subprocess
    assert subprocess.run([script, '--version'], capture_output=True, text=True).stdout == 'remx 2.0.0 (mxnet 1.9.2)\n'


def test_doctor_tells_the_truth(remx):
    import numpy
    import torch
    found = doctor(remx)
    assert found['versions']['torch'] == torch.__version__
    assert found['versions']['numpy'] == numpy.__version__
    assert found['threads']['within_operators'] == torch.get_num_threads()
    assert len(found['devices']['gpus']) == torch.cuda.device_count()
    assert not found['problems']


def test_doctor_prints_every_section(remx):
    text = remx('doctor').stdout
    for title in ('versions', 'devices', 'threads', 'caches', 'environment', 'optional parts', 'hints', 'problems'):
        assert f'\n{title}\n' in f'\n{text}'


def test_doctor_sees_the_environment(remx, tmp_path):
    (tmp_path / 'models').mkdir()
    (tmp_path / 'models' / 'a').write_bytes(b'x' * 3000)
    found = doctor(remx, MXNET_HOME=str(tmp_path), MXNET_VIRTUAL_GPUS='4')
    assert found['caches'] == {'home': str(tmp_path), 'exists': True, 'files': 1, 'bytes': 3000}
    assert found['devices']['virtual_gpus'] == 4
    assert found['environment']['MXNET_VIRTUAL_GPUS'] == '4'
    text = remx('doctor', MXNET_HOME=str(tmp_path / 'nowhere'), MXNET_VIRTUAL_GPUS='4').stdout
    assert '4 GPUs on' in text and 'not created yet' in text


@pytest.mark.parametrize('build, cards, usable, words', [
    ('cpu', [], False, ''), ('CUDA 12.8', ['NVIDIA'], True, ''), ('ROCm 6.4', ['AMD'], True, ''), ('cpu', [], True, ''),
    ('CUDA 12.8', [], False, 'torch is a build for CUDA 12.8, but this machine has no GPU.*whl/cpu'),
    ('ROCm 6.4', [], False, 'torch is a build for ROCm 6.4, but this machine has no GPU.*whl/cpu'),
    ('cpu', ['NVIDIA'], False, 'has an NVIDIA GPU, but torch is a CPU build.*whl/cu'),
    ('cpu', ['AMD'], False, 'has an AMD GPU, but torch is a CPU build.*whl/rocm'),
    ('CUDA 12.8', ['NVIDIA'], False, 'torch cannot use the GPU: check that the driver')])
def test_doctor_compares_torch_with_the_machine(build, cards, usable, words):
    from mxnet.cli.doctor import _build_hint
    found = _build_hint(build, cards, usable)
    assert re.search(words, found) if words else found == ''


def test_doctor_finds_the_build_of_torch():
    from types import SimpleNamespace as Names

    from mxnet.cli.doctor import _build
    assert _build(Names(version=Names(cuda='12.8', hip=None))) == 'CUDA 12.8'
    assert _build(Names(version=Names(cuda=None, hip='6.4'))) == 'ROCm 6.4'
    assert _build(Names(version=Names(cuda=None))) == 'cpu'


def test_doctor_reports_a_bad_setting(remx):
    done = remx('doctor', MXNET_VIRTUAL_GPUS='many', check=False)
    assert done.returncode == 1 and "not 'many'" in done.stdout


@pytest.mark.parametrize('extra', ['image', 'remote', 'safetensors', 'viz', 'progress', 'plot', 'tensorboard',
                                   'notebook', 'onnx', 'ray'])
def test_doctor_says_how_to_get_what_is_missing(run_python, extra):
    """The parts are hidden by a finder that does not find them."""
    hide = ('import sys, importlib.util as u; find = u.find_spec\n'
            'u.find_spec = lambda name, *rest: None if name in {"cv2", "fsspec", "safetensors", "graphviz", "tqdm", '
            '"matplotlib", "tensorboard", "bokeh", "onnx", "ray"} else find(name, *rest)\n'
            'from mxnet.cli import main; sys.exit(main(["doctor"]))')
    assert f'pip install "remx[{extra}]"' in run_python('-c', hide).stdout


@pytest.mark.parametrize('name', ['torch', 'numpy'])
def test_doctor_works_without_what_remx_needs(run_python, name):
    block = f'import sys; sys.modules[{name!r}] = None\nfrom mxnet.cli import main; sys.exit(main(["doctor"]))'
    done = run_python('-c', block, check=False)
    assert done.returncode == 1 and f'{name} cannot be imported' in done.stdout
    assert f'pip install "{name}>=' in done.stdout


def test_doctor_warns_of_apache_mxnet(run_python, tmp_path):
    """Its wheels install a package of the same name."""
    folder = tmp_path / 'site' / 'mxnet_cu112-1.9.1.dist-info'
    folder.mkdir(parents=True)
    (folder / 'METADATA').write_text('Metadata-Version: 2.1\nName: mxnet-cu112\nVersion: 1.9.1\n')
    code = f'import sys; sys.path.append({str(folder.parent)!r})\n' \
           'from mxnet.cli import main; sys.exit(main(["doctor"]))'
    done = run_python('-c', code, check=False)
    assert done.returncode == 1 and 'pip uninstall mxnet-cu112' in done.stdout


def test_doctor_and_pyproject_agree():
    from mxnet.cli.doctor import NEEDED, OPTIONAL
    extras = PROJECT['optional-dependencies']
    for extra, (needs, _) in OPTIONAL.items():
        assert [line.split('>')[0] for line in extras[extra]] == [name for _, name in needs]
    # combinations of other extras, and those for developers
    assert extras.keys() - OPTIONAL.keys() == {'all', 'ray-serve', 'test', 'dev', 'docs', 'release'}
    assert PROJECT['dependencies'] == [f'{name}>={oldest}' for name, oldest in NEEDED.items()]
