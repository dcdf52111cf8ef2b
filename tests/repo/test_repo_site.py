"""The built site in a browser: search in both languages, home, gallery."""
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / 'docs' / 'tools'))

from search_index import stem, terms

# what readers search for, and the page that must come first
FIRST = {
    'zh': """
        gluon-layers: 卷积, 卷积层, 批量归一化, 损失函数, convolution
        gluon: 保存模型, 如何保存模型, 加载模型, save model
        gpu: 多GPU训练, 多卡训练, 怎么使用GPU
        optimizers: 学习率, 学习率调度
        module: 断点续训, 恢复训练
        autograd: 自动求导, 梯度
        distributed: 分布式训练, 多机训练
        gluon-data: 数据集
        gluon-rnn: LSTM
        install: 安装, 国内镜像
        to-pytorch: 迁移到PyTorch
        troubleshooting: 报错
        amp: 混合精度
        text: 词向量
        quantization: 量化
        sparse: 稀疏矩阵
        metrics: 准确率
        estimator: 早停""",
    'en': """
        gluon-layers: convolution, batch normalization
        gluon: save model, saving a model, load parameters
        optimizers: learning rate, learning rates
        gpu: multi gpu training
        module: resume training, checkpoint
        gluon-rnn: lstm
        gluon-data: data loader
        install: how to install
        operators/convolution: Convolution
        amp: mixed precision
        onnx: onnx
        troubleshooting: out of memory
        estimator: early stopping
        to-pytorch: convert to pytorch
        distributed: distributed
        profiler: profiling
        autograd: autograd
        np: numpy""",
}


def queries(language):
    for line in FIRST[language].strip().splitlines():
        page, _, words = line.strip().partition(': ')
        yield from ((query, page) for query in words.split(', '))


def test_terms():
    assert terms('学习率 schedules') == ['学习', '习率', 'schedul']
    assert terms('多GPU训练') == ['多', 'gpu', '训练']
    assert terms('load_parameters') == ['load_parameter', 'load', 'parameter']
    assert terms('SoftmaxCELoss') == ['softmaxcelos', 'softmax', 'ce', 'los'] and terms('the') == []
    assert stem('training') == stem('trained') == stem('trains') == 'train'


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    for package in ('sphinx', 'myst_parser', 'furo', 'sphinx_copybutton', 'nbformat'):
        pytest.importorskip(package)
    target = tmp_path_factory.mktemp('docs')
    done = subprocess.run([sys.executable, ROOT / 'docs' / 'tools' / 'build.py', '--out', target], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return target / 'site'


@pytest.fixture(scope='module')
def browser():
    api = pytest.importorskip('playwright.sync_api')
    program = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
    if program is None:
        pytest.skip('there is no browser')
    with api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=program, args=['--no-sandbox'])
        yield chromium
        chromium.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize('language', ['zh', 'en'])
def test_search(site, browser, language):
    page = browser.new_page()
    problems = []
    page.on('pageerror', lambda error: problems.append(str(error)))
    wrong = {}
    for query, expected in queries(language):
        page.goto((site / language / 'index.html').as_uri())
        box = page.locator('input.sidebar-search')
        box.fill(query)
        box.press('Enter')
        page.wait_for_selector('#search-results ul.search li a', timeout=20000)
        found = page.locator('#search-results ul.search li a').first.get_attribute('href')
        if found != f'{expected}.html':
            wrong[query] = found
    page.goto((site / language / 'search.html').as_uri() + '?q=zzzqqqxxx')
    page.wait_for_selector('#search-results p')
    assert page.locator('#search-results li').count() == 0
    page.close()
    assert not wrong and not problems


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize('language', ['zh', 'en'])
def test_pages(site, browser, language):
    page = browser.new_page(viewport={'width': 1280, 'height': 900})
    page.goto((site / language / 'index.html').as_uri())
    assert page.locator('.cards .card').count() == 3 and page.locator('article img').count() == 1
    assert page.locator('.site-version').inner_text().endswith('2.0.0')
    assert page.locator('link[rel~=icon]').count() == 1
    for card in page.locator('.cards .card').all():
        assert (site / language / card.get_attribute('href').partition('#')[0]).exists()
    page.goto((site / language / 'examples.html').as_uri())
    assert page.locator('.cards .card').count() >= 14
    for image in page.locator('.cards .card img').all():
        image.scroll_into_view_if_needed()
        page.wait_for_function('image => image.complete', arg=image.element_handle())
        assert image.evaluate('image => image.naturalWidth') > 100
    page.goto((site / language / 'api.html').as_uri())
    rows = page.locator('article table tbody tr').all_inner_texts()
    assert len(rows) > 50 and all(row.split('\t')[-1].strip() for row in rows)
    page.goto((site / language / 'ndarray.html').as_uri())
    links = [link.get_attribute('href') for link in page.locator('.notebook-links a').all()]
    assert (site / language / links[0]).resolve().exists() and links[1].startswith('https://colab.research.google.com/')
    page.close()
