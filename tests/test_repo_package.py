"""The wheel that is built from this repository, and the pins."""
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
    for name in ('pyproject.toml', 'README.md', 'LICENSE'):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / 'mxnet', source / 'mxnet', ignore=shutil.ignore_patterns('__pycache__'))
    command = [sys.executable, '-m', 'pip', 'wheel', '--no-deps', '--no-build-isolation', '--no-index', '--quiet',
               '--wheel-dir', target, source]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(target.glob('*.whl'))


def test_wheel_is_pure_and_complete(wheel):
    assert wheel.name == 'remx-1.9.2-py3-none-any.whl'
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith('remx-')}
    wanted = {str(path.relative_to(ROOT)) for path in (ROOT / 'mxnet').rglob('*')
              if path.suffix in ('.py', '.pyi', '.txt') or path.name == 'py.typed'}
    assert inside == wanted


def test_wheel_needs_torch_and_numpy_only(wheel):
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read('remx-1.9.2.dist-info/METADATA').decode()
        scripts = archive.read('remx-1.9.2.dist-info/entry_points.txt').decode()
    needs = re.findall(r'^Requires-Dist: (\S+)$', metadata, re.MULTILINE)
    assert needs == ['torch>=2.11', 'numpy>=1.23']
    assert 'remx = mxnet.cli:main' in scripts


def test_constraints_are_exact_pins():
    lines = [line for line in (ROOT / 'constraints.txt').read_text().splitlines() if not line.startswith('#')]
    loose = [line for line in lines if not re.fullmatch(r'[\w.-]+==[\w.]+', line)]
    assert not loose
    assert 'torch==2.13.0' in lines
