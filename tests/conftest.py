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


@pytest.fixture(scope='module')
def bucket():
    """A bucket of a fresh S3 server."""
    pytest.importorskip('s3fs')
    server_module = pytest.importorskip('moto.server')
    import logging

    import s3fs
    logging.getLogger('werkzeug').setLevel(logging.ERROR)
    server = server_module.ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for key in ('http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'):
            patch.delenv(key, raising=False)
        patch.setenv('AWS_ENDPOINT_URL', f'http://{host}:{port}')
        patch.setenv('AWS_ACCESS_KEY_ID', 'somebody')
        patch.setenv('AWS_SECRET_ACCESS_KEY', 'something')
        patch.setenv('AWS_DEFAULT_REGION', 'us-east-1')
        s3fs.S3FileSystem.clear_instance_cache()
        store = s3fs.S3FileSystem()
        if not store.exists('models'):          # the memory of moto's servers is the process's
            store.mkdir('models')
        yield 's3://models'
    s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


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
