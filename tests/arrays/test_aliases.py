"""Results that share memory with their source, and copies, as in MXNet 1.9.1."""
import json
import os
import subprocess
from pathlib import Path

import alias_cases
import pytest


def expected():
    return {kind: {f'{expression} | {shape} | {mode}': answer for expression, shape, answer in alias_cases.cases(kind)
                   for mode in alias_cases.MODES} for kind in ('nd', 'np')}


def test_results_are_related_to_their_source_as_in_1_9_1():
    assert alias_cases.answers() == expected()


def test_the_table_is_what_1_9_1_answers():
    python = os.environ.get('MXNET191_PYTHON')
    if python is None:
        pytest.skip('MXNET191_PYTHON names no Python with MXNet 1.9.1')
    environment = {k: v for k, v in os.environ.items() if k != 'PYTHONPATH'}
    done = subprocess.run([python, '-W', 'ignore', Path(alias_cases.__file__).resolve()], env=environment, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected()
