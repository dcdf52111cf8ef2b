"""The examples in docstrings print what they show. They see the names of their module, and `mx` and `np`."""
import doctest
import importlib

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx

SOURCES = [path for path in sorted((ROOT / 'mxnet').rglob('*.py')) if '>>> ' in path.read_text()]


@pytest.mark.parametrize('path', SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_docstrings(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = '.'.join(path.relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__')
    module = importlib.import_module(name)
    found = doctest.DocTestFinder().find(module, name, globs={**vars(module), 'mx': mx, 'np': np})
    runner, failures = doctest.DocTestRunner(), []
    for test in found:
        runner.run(test, out=failures.append)
    assert not failures, ''.join(failures)
    written = sum(line.lstrip().startswith('>>> ') for line in path.read_text().splitlines())
    assert runner.tries == written, 'some examples were not found: is their function hidden by a decorator?'
