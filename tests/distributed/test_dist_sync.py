"""Real processes: a job of two workers runs all checks of dist_worker.py, and each is a test here; once by memory that
the workers share, once around the ring, as if they were on two machines, and once by Gloo."""
import json
import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT

WORKER = ROOT / 'tests' / 'helpers' / 'dist_worker.py'
CHECKS = re.findall(r'^def (check_\w+)', WORKER.read_text(encoding='utf-8'), re.MULTILINE)
WORKERS = 2


@pytest.fixture(scope='module', params=['', 'ring', pytest.param('gloo', marks=pytest.mark.slow)],
                ids=['shared memory', 'ring', 'gloo'])
def results(tmp_path_factory, request):
    """[{check: traceback or None}] of each worker."""
    folder = tmp_path_factory.mktemp('dist')
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'OMP_NUM_THREADS': '1', 'MXNET_KVSTORE_TIMEOUT': '30',
                   'MXNET_KVSTORE_BACKEND': request.param}
    done = subprocess.run([sys.executable, '-m', 'mxnet.cli', 'launch', '-n', str(WORKERS), sys.executable,
                           str(WORKER), str(folder)],
                          env=environment, capture_output=True, text=True, timeout=200)
    found = [json.loads((folder / f'{rank}.json').read_text()) for rank in range(WORKERS)
             if (folder / f'{rank}.json').exists()]
    assert len(found) == WORKERS, done.stdout + done.stderr
    if done.returncode:
        for result in found:
            result['the job'] = done.stdout + done.stderr
    return found


@pytest.mark.parametrize('check', CHECKS)
def test_two_workers(results, check):
    for rank, result in enumerate(results):
        problem = result.get(check, f'the worker did not come to it: {result.get("the job")}')
        assert problem is None, f'worker {rank}:\n{problem}'


def test_the_job_ends_well(results):
    assert not any('the job' in result for result in results), results[0]['the job']
