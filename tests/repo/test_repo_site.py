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


# questions as readers type them: words that carry no meaning, several topics, other words than those of the page
QUESTIONS = {
    'zh': """
        amp: 半精度训练
        autograd: 对数组求导
        compress: 模型太大怎么压缩
        convert: 模型怎么部署到手机, 把mxnet模型转成pytorch
        data: 怎么读取csv文件, 图片预处理
        distributed: 一个程序跑多台机器
        estimator: 早停怎么用
        examples: 目标检测, 推荐系统
        gluon-data: 批次大小怎么选, 多进程读数据卡住
        gluon-layers: 自己写损失函数, 怎么用预训练的resnet
        gluon-rnn: 双向lstm
        gluon: 怎么冻结某一层的参数, 模型参数在哪里看
        gpu: 怎么看GPU有没有用上
        install: pip下载太慢, mac能用gpu吗
        metrics: 多标签分类
        module: 训练中断了怎么继续
        ndarray: 随机种子
        notebooks: jupyter里显示进度条
        onnx: 怎么导出onnx
        optimizers: 梯度裁剪, 学习率怎么设置
        run: 老代码python2能跑吗
        serve: 模型部署成网页接口
        support: 支持哪些python版本
        tensorboard: 怎么用tensorboard看曲线
        troubleshooting: 显存爆了怎么办, 损失变成nan
        visualization: 如何查看模型每层输出形状, 神经网络画图""",
    'en': """
        amp: half precision
        autograd: write my own operator, partial derivative of function
        data: read csv file, image preprocessing
        data|gluon-data: data augmentation for images
        distributed: train on several machines, kvstore dist_sync
        estimator: early stopping
        examples: object detection, recommender system
        gluon-data: dataloader hangs
        gluon-layers: custom loss function, use pretrained resnet
        gluon-rnn: bidirectional lstm
        gluon: freeze layers, list model parameters, share weights between layers
        gpu: cuda out of memory, move array to gpu
        hybridize: what is hybridize
        install: does it work on mac
        module: how do i continue training after a crash, load model from checkpoint
        ndarray: set random seed
        notebooks: progress bar
        optimizers: gradient clipping, set learning rate
        performance: compare speed with pytorch, slow training
        quantization: accuracy drops after quantization
        run: run old python 2 code
        serve: make a rest api for my model
        support: which python versions are supported
        text: word embeddings glove
        to-pytorch: convert mxnet model to pytorch
        troubleshooting: why is my loss nan
        tune: hyperparameter tuning
        visualization: print shape of each layer, draw the network graph""",
}


# what beginners and readers of books search for
TOPICS = {
    'zh': """
        gluon-layers: 过拟合, 迁移学习, 自定义损失函数, 卷积核大小
        gluon-data|data: 数据增强
        gluon-data: 图像增广, 划分训练集和验证集, 变长序列补齐, 最后一个批次不满
        gluon-data|data: 读取自己的图片数据集, 随机裁剪
        amp: 混合精度训练
        convert: 模型转换, 模型转成torchscript
        gluon: 自定义层, 保存参数, 模型保存与加载, 查看参数
        gluon-rnn: 循环神经网络, 隐藏状态
        distributed: 参数服务器
        troubleshooting: 显存不足, 形状不一致
        autograd: 反向传播, 二阶导数, 停止梯度, 梯度累加
        optimizers: 学习率衰减, 权重衰减, 动量, 学习率预热
        ndarray: 张量拼接, 矩阵转置, 数组切片
        install: 安装GPU版本, 卸载旧版mxnet
        module: 继续上次的训练, 训练中途保存
        onnx: 导出onnx
        metrics: 混淆矩阵, 均方误差, 参数初始化
        serve: 部署模型服务
        profiler: 哪个算子最慢
        hybridize: 静态图, 动态图转静态图
        symbol: 符号图
        examples: 文本分类例子, 图像分类
        text: 词表
        quantization: int8量化
        gpu: 指定显卡, 显存占用
        extending|autograd: 自定义算子
        visualization: 打印模型结构
        np: numpy接口
        differences: 和原版的区别, 旧版本模型兼容
        sparse: 稀疏梯度
        tune: 自动调参
        estimator: 提前停止训练
        performance: 训练速度慢, 跑分
        run: 旧程序运行""",
    'en': """
        gluon-layers: batch norm, overfitting, dropout, transfer learning, fine tuning pretrained model
        estimator: validation after each epoch
        autograd|extending: custom operator
        autograd: stop gradient, gradient is zero
        troubleshooting: shape mismatch, my network does not learn
        install: conda, install gpu, install without gpu, docker image
        onnx: export onnx, import onnx model
        module: save checkpoint every epoch
        optimizers: learning rate schedule, weight decay, cosine learning rate, adam
        gluon: save weights, load weights, custom layer, print parameters, weight sharing
        gpu: select gpu, train on two gpus, model parallel
        distributed: parameter server, multi node training, gradient compression
        data: read images from folder, record file
        gluon-data: train validation split, normalize images
        gluon-data: custom dataset, load data with several workers, shuffle dataset, augment images
        gluon-rnn: rnn, hidden state, gru, variable length sequences
        metrics: f1 score, weight initialization, confusion matrix
        hybridize: static graph
        symbol: computational graph
        profiler: which operator is slow, profile memory
        tune: grid search
        quantization: int8 inference
        serve: deploy model as web service
        convert: convert model to torchscript, run model from c++
        np: numpy arrays
        differences: differences to mxnet 1.9, old checkpoints
        amp: float16 training, bf16
        sparse: sparse gradient
        text: vocabulary
        compress: prune network, knowledge distillation
        run: old numpy names
        tensorboard: loss curves
        files: safetensors, params file format
        ndarray: slicing, concatenate arrays
        visualization: model summary""",
}


def queries(language):
    for line in '\n'.join(group[language] for group in (FIRST, QUESTIONS, TOPICS)).strip().splitlines():
        if not line.strip():
            continue
        pages, _, words = line.strip().partition(': ')
        yield from ((query, pages.split('|')) for query in words.split(', '))


def test_terms():
    assert terms('学习率 schedules') == ['学习', '习率', 'schedul']
    assert terms('多GPU训练') == ['多', 'gpu', '训练']
    assert terms('load_parameters') == ['load_parameter', 'load', 'parameter']
    assert terms('SoftmaxCELoss') == ['softmaxcelos', 'softmax', 'ce', 'los'] and terms('the') == []
    assert terms('C++ code') == ['c++', 'cod']
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
        if found.removesuffix('.html') not in expected:
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
