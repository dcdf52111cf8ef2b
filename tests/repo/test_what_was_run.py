"""The list of the programs that were run, and the page that counts them."""
import collections
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KINDS = {'ends', 'works', 'needs', 'fails in its version', 'fails in every version', 'fails here'}


def rows():
    text = (ROOT / 'tests/data/programs/what_was_run.tsv').read_text(encoding='utf-8')
    for line in text.splitlines()[1:]:
        yield (*line.split('\t'), '', '')[:5]


@pytest.mark.parametrize('language', ['en', 'zh'])
def test_the_page_has_the_counts_of_the_list(language):
    page = (ROOT / 'docs' / language / 'run.md').read_text(encoding='utf-8')
    counts = collections.Counter((source, kind) for source, _, _, kind, _ in rows())
    versions = [f'mxnet {version}' for version in ('1.9.1', '1.3.1', '1.0.0', '0.9.5')]
    kinds = ('ends', 'works', 'needs', 'fails in its version', 'fails here')
    expected = [[counts[version, kind] for version in versions] for kind in kinds]
    expected.append([sum(column) for column in zip(*expected)])
    table = page[page.index('| 1.9.1 | 1.3.1 |'):]
    found = [[int(cell) for cell in re.findall(r'\| (\d+) ', line)] for line in table.splitlines()[2:8]]
    assert found == [[*row, sum(row)] for row in expected]


def test_the_other_counts():
    page = ' '.join((ROOT / 'docs/en/run.md').read_text(encoding='utf-8').split())
    books = [row for row in rows() if row[1] == 'notebook']
    public = [row for row in rows() if row[1].startswith('Python')]
    kinds = collections.Counter(row[3] for row in books)
    assert f'Of the {len(books)} notebooks' in page
    assert f'{kinds["ends"]} ran to the end, {kinds["works"]} were stopped without an error' in page
    assert f'{len(public)} programs from {len({row[0] for row in public})} public repositories' in page
    assert f'{sum(row[1] == "Python 2" for row in public)} of them Python 2' in page
    kinds = collections.Counter(row[3] for row in public)
    runs = kinds['ends'] + kinds['works']
    assert f'`remx run` runs {runs}, ' in page and f'{kinds["needs"]} need something that is missing' in page
    assert f'Of the {len(public) - kinds["needs"]} that can run, {runs} do' in page


def test_rows_are_whole():
    found = list(rows())
    assert {row[3] for row in found} == KINDS and len({row[:3] for row in found}) == len(found)
    assert all(bool(row[4]) == (row[3] not in ('ends', 'works')) for row in found if 'prepared' not in row[4])
