"""The operator reference of the site: what mxnet._frontend.reference makes of the table, behind `operators.md`."""
import functools
import re

CHINESE = {
    'Elementwise functions': '逐元素函数',
    'Arithmetic and comparison of two arrays': '两个数组的算术与比较',
    'Activation functions and softmax': '激活函数与 softmax',
    'Sums, means and other reductions': '求和、平均等归约',
    'Shapes and axes': '形状与轴',
    'Copies, casts, checks, and what changes gradients': '复制、类型转换、检查，以及改变梯度的算子',
    'Slicing, gathering and masks': '切片、收集与掩码',
    'Sorting': '排序',
    'Products of matrices, linear algebra': '矩阵乘法与线性代数',
    'Making arrays': '创建数组',
    'Random numbers': '随机数',
    'Fully connected layers, embeddings, patches': '全连接层、嵌入、图块',
    'Convolution and deformable convolution': '卷积与可变形卷积',
    'Pooling, resizing, warping': '池化、缩放、变形',
    'Normalization': '归一化',
    'Recurrent layers and attention': '循环层与注意力',
    'Losses and output layers': '损失与输出层',
    'Detection: boxes, anchors, regions': '检测：框、锚点、区域',
    'Pictures': '图像',
    'Optimizer updates': '优化器的更新',
    'Integer (quantized) networks': '整数（量化）网络',
    'Sparse arrays and graphs': '稀疏数组与图',
    'Loops, branches, operators of your own': '循环、分支与自定义算子',
    'More operators': '其他算子',
}
LABELS = {
    '**Names**': '**名字**',
    '; the same below `sym`': '；`sym` 之下同名',
    '**Gives**': '**结果**',
    '**Shapes**, in the first call below:': '**形状**（下面第一次调用）：',
    '**Gradient**': '**梯度**',
    '| argument | accepts | default |': '| 参数 | 接受 | 默认值 |',
    '| required |': '| 必填 |',
}


@functools.cache
def texts():
    """file name -> Markdown; making it runs the example of every operator."""
    from mxnet._frontend.reference import pages
    return pages()


def write(target, language):
    """Writes the pages of families below `target`/operators, and lists them at the end of the page `operators`."""
    (target / 'operators').mkdir(exist_ok=True)
    for name, text in texts().items():
        if name == 'index.md':
            listing = re.sub(r'\]\((\w+)\.md\)', r'](operators/\1.md)', text[text.index('\n## ['):])
            head, toctree, names = listing.partition(':::{toctree}\n:hidden:\n\n')
            listing = head + toctree + re.sub(r'^(\w+)$', r'operators/\1', names, flags=re.MULTILINE)
            index = target / 'operators.md'
            text = index.read_text(encoding='utf-8') + translated(listing, language)
            index.write_text(text, encoding='utf-8')
        else:
            (target / 'operators' / name).write_text(translated(text, language), encoding='utf-8')


def translated(text, language):
    """Titles and labels in the language; what is said of operators is English, as in their docstrings."""
    if language != 'zh':
        return text
    for english, chinese in LABELS.items():
        text = text.replace(english, chinese)
    text = re.sub(r'^# (.*)$', lambda found: f'# {CHINESE[found[1]]}', text, count=1, flags=re.MULTILINE)
    return re.sub(r'^## \[(.*?)\]', lambda found: f'## [{CHINESE[found[1]]}]', text, flags=re.MULTILINE)
