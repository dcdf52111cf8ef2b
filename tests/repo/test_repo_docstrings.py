"""The examples in docstrings print what they show. They see the names of their module, and `mx` and `np`.

Docstrings are found in the source: decorators, and classes that name a public module as theirs, would hide some.
"""
import ast
import doctest
import importlib

import numpy as np
import pytest
from conftest import ROOT

import mxnet as mx

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(path):
    """(line, text) of every docstring in a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            yield node.body[0].lineno, node.body[0].value.value


SOURCES = [path for path in sorted((ROOT / 'mxnet').rglob('*.py'))
           if any('>>> ' in text for _, text in docstrings(path))]


@pytest.mark.parametrize('path', SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_docstrings(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = '.'.join(path.relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__')
    names = {**vars(importlib.import_module(name)), 'mx': mx, 'np': np}
    runner, failures = doctest.DocTestRunner(), []
    for line, text in docstrings(path):
        test = doctest.DocTestParser().get_doctest(text, dict(names), name, str(path), line - 1)
        runner.run(test, out=failures.append)
    assert not failures, ''.join(failures)
    assert runner.tries
