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


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_wheel_in_an_empty_environment(wheel, tmp_path):
    """README's programs with the wheel, PyTorch, NumPy and what they need, and nothing else."""
    python = tmp_path / 'venv' / 'bin' / 'python'
    subprocess.run([sys.executable, '-m', 'venv', tmp_path / 'venv'], check=True)
    subprocess.run([python, '-m', 'pip', 'install', '--quiet', '-c', ROOT / 'constraints.txt', f'{wheel}[image]'],
                   check=True)
    place = tmp_path / 'place'
    (place / 'examples').mkdir(parents=True)
    (place / 'examples' / 'data').symlink_to(ROOT / 'examples' / 'data')
    environment = {key: value for key, value in os.environ.items() if key != 'PYTHONPATH'}
    environment |= {'MXNET_HOME': str(tmp_path), 'OMP_NUM_THREADS': '1'}
    subprocess.run([python.parent / 'remx', 'train', '--quiet'], cwd=place, env=environment, check=True)
    program = (f'import sys; sys.path.insert(0, {str(ROOT / "tests" / "helpers")!r})\n'
               'from docs_runner import run_page\n'
               f'sys.exit(run_page({str(ROOT / "README.md")!r}, {str(place)!r}) or 0)')
    done = subprocess.run([python, '-c', program], cwd=place, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    where = subprocess.run([python, '-c', 'import mxnet; print(mxnet.__file__)'], cwd=place, env=environment,
                           capture_output=True, text=True).stdout
    assert str(tmp_path / 'venv') in where


def test_constraints_are_exact_pins():
    lines = [line for line in (ROOT / 'constraints.txt').read_text().splitlines() if not line.startswith('#')]
    loose = [line for line in lines if not re.fullmatch(r'[\w.-]+==[\w.]+', line)]
    assert not loose
    assert 'torch==2.13.0' in lines
