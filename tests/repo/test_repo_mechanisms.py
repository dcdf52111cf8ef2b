"""What the engine remembers of calls is in the table of mxnet/_lazy/README.md: every guard, and every cache by key."""
import ast
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import ROOT

from mxnet._cache import Cache

README = (ROOT / 'mxnet' / '_lazy' / 'README.md').read_text()
TABLE = re.search(r'^## What is remembered.*', README, re.M | re.S)[0]
ENGINE = ('_array.py', '_autograd/', '_deferred_compute.py', '_executor_runs.py', '_graph/', '_lazy/', 'executor.py',
          'gluon/_', 'gluon/block.py', 'gluon/trainer.py', 'module/', 'ndarray/', 'optimizer/')


def modules():
    for path in sorted((ROOT / 'mxnet').rglob('*.py')):
        name = str(path.relative_to(ROOT / 'mxnet'))
        if name.startswith(ENGINE):
            yield name, ast.parse(path.read_text())


def guarded():
    """Classes that make a Guard."""
    return {cls.name for _, tree in modules() for cls in ast.walk(tree) if isinstance(cls, ast.ClassDef)
            for node in ast.walk(cls) if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'Guard'}


def caches():
    """[(module, name of what it is assigned to)] of all caches by key."""
    for name, tree in modules():
        for node in ast.walk(tree):
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            target = node.targets[-1] if isinstance(node, ast.Assign) else node.target
            if any(isinstance(n, ast.Call) and getattr(n.func, 'id', '') == 'Cache' for n in ast.walk(node.value)):
                while isinstance(target, ast.Subscript):        # a cache in a cache
                    target = target.value
                yield name, getattr(target, 'attr', getattr(target, 'id', ''))


def evicts(tree):
    """Whether code takes entries out of a dict because there are many: what `Cache` is for."""
    def uses(tree, *names):
        return any(isinstance(node, ast.Attribute) and node.attr in names for node in ast.walk(tree))
    return uses(tree, 'popitem', 'move_to_end') or any(
        isinstance(node, (ast.If, ast.While)) and isinstance(node.test, ast.Compare)
        and ast.unparse(node.test.left).startswith('len(') and uses(node, 'clear') for node in ast.walk(tree))


def test_guards_and_caches_are_found():
    assert {'FirstCall', 'BoundUpdate', 'BoundRun'} <= guarded()
    assert {('_graph/codegen/plan.py', '_plans'), ('ndarray/_generated.py', 'known'),
            ('_lazy/deferral.py', 'operators'), ('_graph/infer/inference.py', '_learned')} <= set(caches())


@pytest.mark.parametrize('name', sorted(guarded()))
def test_every_guard_is_in_the_table(name):
    assert f'`{name}`' in TABLE


@pytest.mark.parametrize('module, name', sorted(set(caches())))
def test_every_cache_is_in_the_table(module, name):
    assert any(f'`{name}`' in line.split('|')[1] and f'({module})' in line.split('|')[1]
               for line in TABLE.splitlines() if line.startswith('| '))


def test_caches_have_one_class():
    assert not [name for name, tree in modules() if evicts(tree)]
    assert evicts(ast.parse('if len(known) > LIMIT:\n    known.clear()'))
    assert evicts(ast.parse('while len(known) > LIMIT:\n    known.popitem(last=False)'))


def test_a_cache_keeps_what_was_added_last():
    cache = Cache(3)
    for key in 'abcde':
        cache[key] = key.upper()
    assert cache == {'c': 'C', 'd': 'D', 'e': 'E'} and cache.get('a') is None
    cache['c'] = cache.pop('c')
    cache['f'] = 'F'
    assert list(cache) == ['e', 'c', 'f']


def test_threads_share_a_cache():
    cache, interval = Cache(8), sys.getswitchinterval()

    def use(first):
        for number in range(first, first + 3000):
            cache[number] = -number
            assert cache.get(number) in (-number, None)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(use, range(0, 400, 100)))
    finally:
        sys.setswitchinterval(interval)
    assert len(cache) == 8 and all(value == -key for key, value in cache.items())


def test_there_are_four_mechanisms():
    first = re.search(r'(^\|.*\n)+', TABLE, re.M)[0]
    rows = [line for line in first.splitlines() if line.startswith('| ')][2:]
    names = [row.split('|')[1].strip() for row in rows]
    assert names == ['caches by key', 'bound calls', 'bound updates', 'bound runs']
