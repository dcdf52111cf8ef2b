"""What every test may use."""
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope='session')
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope='session')
def shared() -> Path:
    """Recorded results of MXNet 1.9.1 and data sets, kept beside the repository because of their size."""
    folder = ROOT.parent / 'shared'
    if not folder.is_dir():
        pytest.skip(f'there is no {folder.name}/ beside the repository')
    return folder


@pytest.fixture
def run_python(tmp_path):
    """Runs a fresh interpreter in an empty folder: `run_python('-c', code, MXNET_HOME='x').stdout`."""
    def run(*arguments, check=True, **environment):
        environment = {**os.environ, 'PYTHONPATH': str(ROOT), **environment}
        done = subprocess.run([sys.executable, '-W', 'error', *arguments], cwd=tmp_path, env=environment,
                              capture_output=True, text=True, timeout=240)
        if check:
            assert done.returncode == 0, f'exit status {done.returncode}\n{done.stdout}\n{done.stderr}'
        return done
    return run


def pytest_configure():
    # a defect in a pass is an error, here and in programs that tests start
    os.environ['MXNET_PLANS'] = 'strict'
    # in the background of a shell Ctrl-C is ignored, and programs that are started would inherit it
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    if os.environ.get('MXNET_TORCH_PRIVATE') == '0':
        from torch_fallbacks import reason
        for item in items:
            why = reason(item.path.name, item.name)
            if why is not None:
                item.add_marker(pytest.mark.skip(reason=why))
    if not any(item.get_closest_marker('gpu') for item in items):
        return
    import torch
    if torch.cuda.is_available():
        return
    for item in items:
        if item.get_closest_marker('gpu'):
            item.add_marker(pytest.mark.skip(reason='torch sees no CUDA device'))
