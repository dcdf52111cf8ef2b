"""The folders of tests: each test file is in one, under a name of its own, and the documentation lists all of them."""
import ast
import re
from collections import Counter

import pytest
from conftest import ROOT

TESTS = ROOT / 'tests'


def test_every_test_file_is_in_a_folder():
    assert [path.name for path in TESTS.glob('*.py')] == ['conftest.py']
    assert not [path for name in ('helpers', 'scripts', 'fuzz_programs') for path in (TESTS / name).glob('test_*.py')]


def test_names_are_unique():
    """Helpers too: they are imported by their names alone."""
    names = Counter(path.name for path in TESTS.rglob('*.py') if path.parent.name not in ('fuzz_programs', 'data')
                    and TESTS / 'data' not in path.parents)
    assert [name for name, count in names.items() if count > 1] == []


def test_tests_import_no_test_of_another_folder():
    folder = {path.stem: path.parent for path in TESTS.rglob('test_*.py')}
    wrong = []
    for path in TESTS.rglob('test_*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module] if isinstance(node, ast.ImportFrom) else \
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            wrong += [f'{path.name}: {name}' for name in names if folder.get(name or '', path.parent) != path.parent]
    assert wrong == []


@pytest.mark.parametrize('language', ['en', 'zh'])
def test_the_documentation_lists_the_folders(language):
    page = (ROOT / 'docs' / language / 'development.md').read_text(encoding='utf-8')
    listed = re.findall(r'^\| `(\w+)` \|', page, re.M)
    assert sorted(listed) == sorted(path.name for path in TESTS.iterdir() if path.is_dir() and path.name[0] not in '_.')


def test_the_fault_suites_of_soak_exist():
    """Those whose names say what they are about are all in its list."""
    tree = ast.parse((TESTS / 'scripts' / 'soak.py').read_text())
    listed = next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)
                  and getattr(node.targets[0], 'id', '') == 'FAULTS')
    assert [name for name in listed if not (TESTS / name).exists()] == []
    named = [str(path.relative_to(TESTS)) for path in TESTS.rglob('test_*.py')
             if re.search(r'_(faults|kills|security|hostile|commits|resume)$', path.stem)]
    assert sorted(set(named) - set(listed)) == []
