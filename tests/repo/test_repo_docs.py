"""The documentation: every Python block runs and prints what is shown below it, both languages say the same, every link
leads somewhere, notebooks run, and the site builds without a warning.

The blocks of one page run one after the other in one namespace and a fresh interpreter, in a folder that holds nothing
but `examples/data`.
"""
import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT
from docs_runner import interpreters, run_page

sys.path.insert(0, str(ROOT / 'docs' / 'tools'))

import notebooks
from pages import blocks, folder, images, links, outline, pages, sections, untranslated

READMES = [ROOT / 'README.md', ROOT / 'README.zh-CN.md']
PAGES = [*READMES, *pages('en'), *pages('zh')]
# the code of Chinese pages is compared with that of the English ones in every run, and executed by `make test-all`
RUNNING = [*READMES, *pages('en'), *[pytest.param(page, marks=pytest.mark.slow) for page in pages('zh')]]
TRANSLATED = [page for page in pages('en') if page.stem not in untranslated()]


def name_of(path):
    return str(path.relative_to(ROOT))


def language_of(path):
    return path.parent.name


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder, but for the digits that pages read."""
    (tmp_path / 'examples').mkdir()
    (tmp_path / 'examples' / 'data').symlink_to(ROOT / 'examples' / 'data')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def looks_like(drawn, shown):
    """Whether two pictures are the same, but for what another version of matplotlib or of a kernel changes."""
    from matplotlib.image import imread
    drawn, shown = imread(drawn), imread(shown)
    return drawn.shape == shown.shape and abs(drawn - shown).mean() < 0.03


def draws(text):
    return 'matplotlib' in text


def drawn_images(text):
    """Pictures that a page shows and its programs write; others are photographs of screens."""
    code = ''.join(block.code for block in blocks(text))
    return [name for name in images(text) if f"'{name}'" in code]


@pytest.fixture(scope='session')
def trained(tmp_path_factory):
    """What `make train` leaves: the READMEs go on from there."""
    place = tmp_path_factory.mktemp('trained')
    subprocess.run([sys.executable, '-m', 'mxnet.cli', 'train', '--quiet'], cwd=place, check=True, capture_output=True,
                   env={**os.environ, 'PYTHONPATH': str(ROOT), 'MXNET_HOME': str(place), 'OMP_NUM_THREADS': '1'})
    return place / 'remx-train'


@pytest.fixture(scope='session')
def fresh():
    """Runs pages in interpreters of their own."""
    with interpreters() as pool:
        yield lambda page, place: pool.submit(run_page, str(page), str(place)).result(timeout=280)


@pytest.mark.parametrize('page', RUNNING, ids=name_of)
def test_code_runs(page, place, fresh, request):
    text = page.read_text(encoding='utf-8')
    if page in READMES:
        (place / 'remx-train').symlink_to(request.getfixturevalue('trained'))
    if draws(text):
        pytest.importorskip('matplotlib')
    wrong = fresh(page, place)
    assert not wrong, wrong
    for name in drawn_images(text):
        assert looks_like(place / name, ROOT / 'docs' / 'images' / name), f'{name} is not what the program draws'


@pytest.mark.parametrize('page', PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    targets = {target.partition('#')[0] for target in links(page.read_text(encoding='utf-8'))} - {''}
    if language_of(page) == 'zh':
        targets -= {f'{name}.md' for name in untranslated()}
    assert not [target for target in targets if not (page.parent / target).exists()]


# ---------------------------------------------------------------------- two languages
def test_both_readmes_have_one_structure():
    """The translation keeps up: the same sections, the same code, the same links."""
    shapes = [outline(page.read_text(encoding='utf-8')) for page in READMES]
    for shape in shapes:
        shape['links'] = [link.replace('docs/zh/', 'docs/en/') for link in shape['links']
                          if not link.startswith('README')]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize('page', TRANSLATED, ids=lambda page: page.stem)
def test_both_languages_have_one_structure(page):
    """The same headings, code (comments and docstrings aside), printed text, links and pictures."""
    english, chinese = ((folder(language) / page.name).read_text(encoding='utf-8') for language in ('en', 'zh'))
    assert outline(chinese) == outline(english)


def test_the_gallery_is_translated():
    """docs/zh/examples.txt has one line for each example."""
    import programs
    assert sorted(programs.summaries('zh')) == sorted(name for name, _, _ in programs.programs())
    assert not programs.summaries('en')


def test_what_is_not_translated_is_listed():
    """A new page either has its Chinese counterpart or stands in docs/zh/untranslated.txt."""
    english, chinese = ({page.stem for page in pages(language)} for language in ('en', 'zh'))
    assert chinese <= english
    assert untranslated() == english - chinese


@pytest.mark.parametrize('language', ['en', 'zh'])
def test_the_index_has_every_page(language):
    text = (folder(language) / 'index.md').read_text(encoding='utf-8')
    listed = [name for _, names in sections(text) for name in names]
    assert sorted(listed) == sorted(page.stem for page in pages('en') if page.stem != 'index')


@pytest.mark.parametrize('language', ['en', 'zh'])
def test_installing_names_every_optional_part(language):
    from mxnet.cli.doctor import OPTIONAL
    text = (folder(language) / 'install.md').read_text(encoding='utf-8')
    assert [extra for extra in OPTIONAL if f'`pip install "remx[{extra}]"`' not in text] == []


# ---------------------------------------------------------------------- notebooks
@pytest.mark.parametrize('language', ['en', 'zh'])
def test_notebooks_hold_the_pages(language, tmp_path):
    nbformat = pytest.importorskip('nbformat')
    written = notebooks.write_all(language, tmp_path / 'out')
    assert len(written) >= 5
    for path in written:
        book = nbformat.read(path, as_version=4)
        nbformat.validate(book)
        cells = [cell.source for cell in book.cells if cell.cell_type == 'code']
        page = (folder(language) / f'{path.stem}.md').read_text(encoding='utf-8')
        assert cells == [block.code.strip('\n') for block in blocks(page)]


def runs_as_notebook():
    """One page in every run; the others, seconds each, with `make test-all`. Both languages have the same code."""
    for page in pages('en'):
        if notebooks.has_notebook(page):
            yield pytest.param(page, id=page.stem, marks=[] if page.stem == 'ndarray' else [pytest.mark.slow])


@pytest.mark.parametrize('page', list(runs_as_notebook()))
# what Jupyter's own packages warn of is no matter of ours
@pytest.mark.filterwarnings('default')
def test_notebooks_run(page, place, monkeypatch):
    nbclient = pytest.importorskip('nbclient')
    pytest.importorskip('ipykernel')
    if draws(page.read_text(encoding='utf-8')):
        pytest.importorskip('matplotlib')
    monkeypatch.setenv('PYTHONPATH', str(ROOT))
    monkeypatch.setenv('JUPYTER_PLATFORM_DIRS', '1')
    monkeypatch.setenv('IPYTHONDIR', str(place / 'ipython'))
    monkeypatch.delenv('MPLBACKEND', raising=False)
    book = notebooks.notebook(page, 'en')
    nbclient.NotebookClient(book, timeout=240, kernel_name='python3',
                            resources={'metadata': {'path': str(place)}}).execute()
    cells = [cell for cell in book.cells if cell.cell_type == 'code']
    for cell, block in zip(cells, blocks(page.read_text(encoding='utf-8')), strict=True):
        printed = ''.join(output.text for output in cell.outputs if output.output_type == 'stream'
                          and output.name == 'stdout')
        assert printed.rstrip() == block.printed.rstrip(), cell.source
    shown = [output for cell in cells for output in cell.outputs if 'image/png' in output.get('data', {})]
    assert len(shown) >= len(drawn_images(page.read_text(encoding='utf-8'))), 'a plot does not show in the notebook'


# ---------------------------------------------------------------------- the site
@pytest.mark.slow
def test_the_site_builds(tmp_path):
    """No warning, no dead link, nothing loaded from elsewhere: docs/tools/build.py sees to that."""
    for package in ('sphinx', 'myst_parser', 'furo', 'sphinx_copybutton', 'nbformat'):
        pytest.importorskip(package)
    done = subprocess.run([sys.executable, ROOT / 'docs' / 'tools' / 'build.py', '--out', tmp_path], text=True,
                          capture_output=True, env={**os.environ, 'PYTHONPATH': str(ROOT)})
    assert done.returncode == 0, done.stdout + done.stderr
    for language, other in (('en', '../zh/ndarray.html'), ('zh', '../en/ndarray.html')):
        assert f'href="{other}"' in (tmp_path / 'site' / language / 'ndarray.html').read_text(encoding='utf-8')
        assert len(list((tmp_path / 'site' / language / 'api').glob('*.html'))) > 30


def test_dead_links_are_found(tmp_path):
    """The link checker can say no."""
    from check_links import dead_links
    (tmp_path / 'a.html').write_text('<a href="b.html#there"></a><a href="b.html#gone"></a><a href="c.html"></a>'
                                     '<a href="https://example.org/x"></a><script src="https://example.org/x.js"></script>')
    (tmp_path / 'b.html').write_text('<p id="there">')
    assert dead_links(tmp_path) == ['a.html: loads https://example.org/x.js',
                                    'a.html: b.html#gone (no such anchor)', 'a.html: c.html']


# ---------------------------------------------------------------------- the tools
def test_chinese_lines_join_without_blanks():
    from pages import joined
    text = '第一行\n第二行，\n`code` 之后\nword\n- 一项\n  续行\n- 二项\n\n```text\n甲\n乙\n```\n'
    assert joined(text) == '第一行第二行，`code` 之后\nword\n- 一项续行\n- 二项\n\n```text\n甲\n乙\n```\n'


def test_a_translation_may_differ_in_comments_only():
    page = '# A\n\n```python\n# say it\nprint(1)  # once\n```\n```text\n1\n```\n'
    assert outline(page) == outline(page.replace('say it', '说').replace('once', '一次').replace('# A', '# 甲'))
    assert outline(page) != outline(page.replace('print(1)', 'print(2)'))
    assert outline(page) != outline(page.replace('\n1\n', '\n2\n'))


def test_docstrings_become_markdown():
    import inspect

    from reference import markdown, signature

    def example(data, *, places=(1, 2), how='a', **more):
        """Does it <fast>.

        data: what
            there is
        places, how: where

        >>> example(1)      # doctest: +SKIP
        2

            weight = weight - lr * gradient
        """

    text = markdown(inspect.getdoc(example))
    parts = ['Does it \\<fast>.', '- `data`: what\n  there is\n- `places`, `how`: where',
             '```pycon\n>>> example(1)\n2\n```', '```text\nweight = weight - lr * gradient\n```']
    assert re.split(r'\n\n+', text) == parts
    assert signature(example) == "(data, *, places=(1, 2), how='a', **more)"


def test_modules_of_the_reference_have_a_line_in_chinese():
    import reference
    assert all(reference.summary(path, 'zh') for path, _ in reference.MODULES)
