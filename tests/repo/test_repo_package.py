"""The wheel that is built from this repository, and the pins."""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from conftest import ROOT


@pytest.fixture(scope='module')
def wheel(tmp_path_factory):
    """Built from a copy, since setuptools leaves files behind."""
    source, target = tmp_path_factory.mktemp('source'), tmp_path_factory.mktemp('wheel')
    for name in ('pyproject.toml', 'setup.py', 'README.md', 'LICENSE'):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / 'mxnet', source / 'mxnet', ignore=shutil.ignore_patterns('__pycache__'))
    command = [sys.executable, '-m', 'pip', 'wheel', '--no-deps', '--no-build-isolation', '--no-index', '--quiet',
               '--wheel-dir', target, source]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(target.glob('*.whl'))


def test_wheel_is_pure_and_complete(wheel):
    assert wheel.name == 'remx-2.0.0-py3-none-any.whl'
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith('remx-')}
    wanted = {str(path.relative_to(ROOT)) for path in (ROOT / 'mxnet').rglob('*')
              if path.suffix in ('.py', '.pyi', '.txt', '.html') or path.name == 'py.typed'}
    assert inside == wanted


def test_wheel_needs_torch_and_numpy_only(wheel):
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read('remx-2.0.0.dist-info/METADATA').decode()
        scripts = archive.read('remx-2.0.0.dist-info/entry_points.txt').decode()
    needs = re.findall(r'^Requires-Dist: (\S+)$', metadata, re.MULTILINE)
    assert needs == ['torch>=2.11', 'numpy>=1.23']
    assert 'remx = mxnet.cli:main' in scripts


def test_wheel_describes_the_project(wheel):
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read('remx-2.0.0.dist-info/METADATA').decode()
    head, _, text = metadata.partition('\n\n')
    assert 'Author: The remx maintainers' in head and 'License-Expression: Apache-2.0' in head
    kinds = re.findall(r'^Project-URL: (\w+), https://\S+$', head, re.MULTILINE)
    assert sorted(kinds) == ['Changelog', 'Documentation', 'Homepage', 'Issues', 'Repository']
    targets = re.findall(r'\]\(([^)\s]+)\)', text)
    assert targets and not [target for target in targets if not target.startswith(('https://', 'http://', '#'))]


@pytest.mark.slow
def test_release_is_reproducible(tmp_path):
    """Two builds of one commit are the same bytes; the SBOM names what an installation brings."""
    for name in ('one', 'two'):
        subprocess.run([sys.executable, ROOT / 'tools' / 'release.py', '--out', tmp_path / name], check=True,
                       env={**os.environ, 'SOURCE_DATE_EPOCH': '1800000000'}, capture_output=True)
    sums = (tmp_path / 'one' / 'SHA256SUMS').read_text()
    assert sums == (tmp_path / 'two' / 'SHA256SUMS').read_text() and len(sums.splitlines()) == 3
    bill = json.loads((tmp_path / 'one' / 'remx-2.0.0.cdx.json').read_text())
    assert bill['bomFormat'] == 'CycloneDX' and bill['metadata']['component']['name'] == 'remx'
    assert {'torch', 'numpy', 'filelock', 'sympy'} <= {part['name'] for part in bill['components']}
    if importlib.util.find_spec('twine'):
        files = (tmp_path / 'one').glob('remx-2.0.0[.-]*[lz]')
        subprocess.run([sys.executable, '-m', 'twine', 'check', '--strict', *files], check=True)


# ---------------------------------------------------------------------- installed from the wheel
OLD_PROGRAM = """
import mxnet as mx
import numpy as np
print 'sum', mx.nd.array(np.ones((2, 3), dtype=np.float)).sum().asscalar()
"""


class Installed:
    """A fresh virtual environment with the wheel, and a folder that has nothing of the repository but its data."""

    def __init__(self, wheel, folder):
        self.wheel, self.folder = wheel, folder
        self.python = folder / 'venv' / 'bin' / 'python'
        self.place = folder / 'place'
        (self.place / 'examples').mkdir(parents=True)
        (self.place / 'examples' / 'data').symlink_to(ROOT / 'examples' / 'data')
        (self.place / 'LICENSE').symlink_to(ROOT / 'LICENSE')
        subprocess.run([sys.executable, '-m', 'venv', folder / 'venv'], check=True)

    def install(self, extra=''):
        subprocess.run([self.python, '-m', 'pip', 'install', '--quiet', '-c', ROOT / 'constraints.txt',
                        f'{self.wheel}{extra}'], check=True)

    def run(self, *command, status=0):
        environment = {key: value for key, value in os.environ.items() if key != 'PYTHONPATH'}
        environment |= {'MXNET_HOME': str(self.folder), 'OMP_NUM_THREADS': '1'}
        done = subprocess.run(command, cwd=self.place, env=environment, capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def remx(self, *arguments, status=0):
        return self.run(self.python.parent / 'remx', *arguments, status=status)


@pytest.fixture(scope='module')
def installed(wheel, tmp_path_factory):
    """With PyTorch, NumPy and what they need, and nothing else."""
    found = Installed(wheel, tmp_path_factory.mktemp('installed'))
    found.install()
    return found


def without_decoders(installed):
    """Whether the environment has PyTorch and NumPy only."""
    return installed.run(installed.python, '-c', 'import importlib.util as u\n'
                         'print([n for n in ("cv2", "PIL", "matplotlib", "scipy", "onnx") if u.find_spec(n)])')


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_examples_with_torch_and_numpy_only(installed):
    """Every example runs, without figures; what needs an optional part says which."""
    assert without_decoders(installed) == '[]\n'
    where = installed.run(installed.python, '-c', 'import mxnet; print(mxnet.__file__)')
    assert where.startswith(str(installed.folder / 'venv'))
    names = sorted(path.stem for path in (ROOT / 'examples').glob('*.py') if path.stem not in ('digits', 'figures'))
    assert len(names) > 15
    for name in names:
        program = [installed.python, ROOT / 'examples' / f'{name}.py']
        assert '--quick' in installed.run(*program, '--help'), name
        if name == 'tune_digits':
            assert 'pip install "remx[tune]"' in installed.run(*program, '--quick', status=1)
        else:
            installed.run(*program, '--quick')


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize('readme', ['README.md', 'README.zh-CN.md'])
def test_readme_with_the_wheel(installed, readme):
    """README's commands, then its programs, which also read a picture."""
    installed.install('[image,old]')
    (installed.place / 'old_program.py').write_text(OLD_PROGRAM)
    text = (ROOT / readme).read_text(encoding='utf-8')
    shown = '\n'.join(re.findall(r'^```bash\n(.*?)^```', text, re.MULTILINE | re.DOTALL))
    commands = re.findall(r'^(remx [^#\n]*?) *(?:#.*)?$', shown, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ['run', 'check', 'doctor']
    printed = [installed.remx(*command.split()[1:], status=int('check' in command)) for command in commands]
    assert printed[0].startswith('sum 6.0') and 'numpy.float' in printed[1] and 'remx    2.0.0' in printed[2]
    options = re.search(r'make train ARGS="(--model [^"]*)"', ' '.join(text.split()))[1].split()
    installed.remx('train', '--quiet', *options)
    shutil.rmtree(installed.place / 'remx-train')
    installed.remx('train', '--quiet')
    installed.run(installed.python, '-c',
                  f'import sys; sys.path.insert(0, {str(ROOT / "tests" / "helpers")!r})\n'
                  'from docs_runner import run_page\n'
                  f'sys.exit(run_page({str(ROOT / readme)!r}, {str(installed.place)!r}) or 0)')


def test_constraints_are_exact_pins():
    lines = [line for line in (ROOT / 'constraints.txt').read_text().splitlines() if not line.startswith('#')]
    loose = [line for line in lines if not re.fullmatch(r'[\w.-]+==[\w.]+', line)]
    assert not loose
    assert 'torch==2.13.0' in lines
