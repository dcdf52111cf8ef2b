"""What the engine remembers of calls is in the table of mxnet/_lazy/README.md: every guard, and every bounded cache."""
import ast
import re

import pytest
from conftest import ROOT

README = (ROOT / 'mxnet' / '_lazy' / 'README.md').read_text()
TABLE = re.search(r'^## What is remembered.*', README, re.M | re.S)[0]
ENGINE = ('_array.py', '_autograd.py', '_deferred_compute.py', '_executor_runs.py', '_graph/', '_lazy/', 'executor.py',
          'gluon/_', 'gluon/block.py', 'gluon/trainer.py', 'module/', 'ndarray/', 'optimizer/')
# sizes of caches are named so
BOUNDS = {'LIMIT', 'MANY', 'SEEN'}


def modules():
    for path in sorted((ROOT / 'mxnet').rglob('*.py')):
        name = str(path.relative_to(ROOT / 'mxnet'))
        if name.startswith(ENGINE):
            yield name, ast.parse(path.read_text())


def guarded():
    """Classes that make a Guard."""
    return {cls.name for _, tree in modules() for cls in ast.walk(tree) if isinstance(cls, ast.ClassDef)
            for node in ast.walk(cls) if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'Guard'}


def bounded():
    """Modules that declare the size of a cache."""
    return {name for name, tree in modules() for node in tree.body if isinstance(node, ast.Assign)
            for target in node.targets if getattr(target, 'id', '') in BOUNDS}


def test_guards_and_caches_are_found():
    assert {'FirstCall', 'BoundUpdate', 'BoundRun'} <= guarded()
    assert {'_graph/codegen/plan.py', 'ndarray/_generated.py', 'gluon/_traces.py'} <= bounded()


@pytest.mark.parametrize('name', sorted(guarded()))
def test_every_guard_is_in_the_table(name):
    assert f'`{name}`' in TABLE


@pytest.mark.parametrize('name', sorted(bounded()))
def test_every_bounded_cache_is_in_the_table(name):
    assert name in TABLE


def test_there_are_four_mechanisms():
    rows = [line for line in TABLE.splitlines() if line.startswith('| ')][2:]
    names = [row.split('|')[1].strip() for row in rows]
    assert names == ['caches by key', 'bound calls', 'bound updates', 'bound runs']
