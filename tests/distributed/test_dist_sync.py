"""Real processes: a job of two or three workers runs all checks of dist_worker.py, and each is a test here; by memory
that the workers share, around the ring, as if they were on several machines, and by Gloo."""
import json
import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT

WORKER = ROOT / 'tests' / 'helpers' / 'dist_worker.py'
CHECKS = re.findall(r'^def (check_\w+)', WORKER.read_text(encoding='utf-8'), re.MULTILINE)


@pytest.fixture(scope='module', params=[('', 2), ('ring', 2), pytest.param(('gloo', 2), marks=pytest.mark.slow),
                                        pytest.param(('', 3), marks=pytest.mark.slow),
                                        pytest.param(('ring', 3), marks=pytest.mark.slow)],
                ids=['shared memory', 'ring', 'gloo', 'shared memory of three', 'ring of three'])
def results(tmp_path_factory, request):
    """[{check: traceback or None}] of each worker."""
    folder = tmp_path_factory.mktemp('dist')
    backend, workers = request.param
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'MXNET_KVSTORE_TIMEOUT': '30',
                   'MXNET_KVSTORE_BACKEND': backend}
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', str(workers), sys.executable,
                           str(WORKER), str(folder)],
                          env=environment, capture_output=True, text=True, timeout=200)
    found = [json.loads((folder / f'{rank}.json').read_text()) for rank in range(workers)
             if (folder / f'{rank}.json').exists()]
    assert len(found) == workers, done.stdout + done.stderr
    if done.returncode:
        for result in found:
            result['the job'] = done.stdout + done.stderr
    return found


@pytest.mark.parametrize('check', CHECKS)
def test_workers(results, check):
    for rank, result in enumerate(results):
        problem = result.get(check, f'the worker did not come to it: {result.get("the job")}')
        assert problem is None, f'worker {rank}:\n{problem}'


def test_the_job_ends_well(results):
    assert not any('the job' in result for result in results), results[0]['the job']
