"""The table of a network's layers, and its drawing; what happens where graphviz or its program dot is missing."""
import doctest
import math
import shutil
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import visualization
from mxnet.symbol import _drawing

needs_dot = pytest.mark.skipif(shutil.which('dot') is None, reason='the program dot of graphviz is not installed')


def picture_net():
    net = mx.sym.Convolution(mx.sym.var('data'), num_filter=8, kernel=(3, 3), stride=(2, 2), name='conv')
    net = mx.sym.Activation(mx.sym.BatchNorm(net, name='bn'), act_type='relu', name='relu')
    one = mx.sym.Pooling(net, kernel=(2, 2), pool_type='max', name='pool')
    other = mx.sym.Convolution(net, num_filter=4, kernel=(2, 2), num_group=2, no_bias=True, name='group')
    other = mx.sym.LeakyReLU(other, name='leaky')
    net = mx.sym.Flatten(mx.sym.Concat(one, other, name='concat'), name='flat')
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=10, name='fc'), name='softmax')


SHAPE = {'data': (2, 3, 16, 16)}


def table(capsys, *args, **kwargs):
    """Rows of the table as lists of its four columns, and the whole text."""
    mx.viz.print_summary(*args, **kwargs)
    text = capsys.readouterr().out
    ends = [0, 52, 76, 88, 120]
    rows = [[line[a:b].strip() for a, b in zip(ends, ends[1:])] for line in text.splitlines()
            if line.strip('_=') and not line.startswith('Total')]
    return rows[1:], text


def test_examples_in_docstrings():
    result = doctest.testmod(_drawing, extraglobs={'mx': mx})
    assert result.attempted and not result.failed


# --- the table ---

def test_layout(capsys):
    net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc')
    net = mx.sym.concat(net, mx.sym.exp(net, name='exp'), name='both')
    mx.viz.print_summary(net, {'data': (5, 4)}, line_length=60, positions=[20, 36, 46, 60])
    assert capsys.readouterr().out == '''\
____________________________________________________________
Layer (type)        Output Shape    Param #   Previous Layer
============================================================
data(null)          4               0                       
____________________________________________________________
fc(FullyConnected)  3               15        data          
____________________________________________________________
exp(exp)            3               0         fc            
____________________________________________________________
both(Concat)        6               0         fc            
                                              exp           
============================================================
Total params: 15
____________________________________________________________
'''  # noqa: W291


def test_every_parameter_is_counted_once(capsys):
    net = picture_net()
    rows, text = table(capsys, net, SHAPE)
    shapes = dict(zip(net.list_arguments(), net.infer_shape(**SHAPE)[0]))
    sizes = {n: math.prod(s) for n, s in shapes.items() if n not in ('data', 'softmax_label')}
    assert f'\nTotal params: {sum(sizes.values())}\n' in text
    for name, _, count, _ in rows:
        layer = name.split('(')[0]
        if not layer:
            continue
        assert int(count) == sum(size for n, size in sizes.items() if n.startswith(layer + '_'))
    assert rows[0] == ['data(null)', '3x16x16', '0', '']
    assert ['concat(Concat)', '12x6x6', '0', 'pool'] in rows and ['', '', '', 'leaky'] in rows


def test_shared_weights_count_once(capsys):
    weight = mx.sym.var('w')
    net = mx.sym.var('data')
    for _ in range(3):
        net = mx.sym.FullyConnected(net, weight, num_hidden=4, no_bias=True)
    assert '\nTotal params: 16\n' in table(capsys, net, {'data': (1, 4)})[1]


def test_without_shapes(capsys):
    rows, text = table(capsys, picture_net())
    assert {row[1] for row in rows} == {''}
    assert '\nTotal params: 18\n' in text             # the biases of conv and fc are all that is known


def test_flatten_false_and_embedding(capsys):
    net = mx.sym.Embedding(mx.sym.var('data'), input_dim=100, output_dim=28, name='emb')
    net = mx.sym.SliceChannel(mx.sym.FullyConnected(net, num_hidden=6, flatten=False, name='fc'), num_outputs=2, axis=2)
    rows, _ = table(capsys, net[1], {'data': (2, 5)})
    assert rows[1] == ['emb(Embedding)', '5x28', '2800', 'data']
    assert rows[2] == ['fc(FullyConnected)', '5x6', str(28 * 6 + 6), 'emb']
    assert rows[3][1] == '5x3'


def test_mistakes_in_the_table():
    with pytest.raises(TypeError, match='print_summary takes a Symbol, not a list'):
        mx.viz.print_summary([])
    with pytest.raises(ValueError, match='those of b do not follow'):
        mx.viz.print_summary(mx.sym.broadcast_add(mx.sym.var('a'), mx.sym.var('b')), {'a': (1,)})


# --- the drawing ---

def lines_of(drawing):
    return [line.strip() for line in drawing.source.splitlines()]


def node_of(drawing, name):
    start = drawing.source.index(f'\t{name} [')
    return drawing.source[start + 1:drawing.source.index(']', start) + 1]


def test_nodes():
    pytest.importorskip('graphviz')
    drawing = mx.viz.plot_network(picture_net(), title='picture', save_format='png')
    assert drawing.name == 'picture' and drawing.format == 'png'
    assert node_of(drawing, 'data') == \
        'data [label=data fillcolor="#8dd3c7" fixedsize=false height=0.8034 shape=oval style=filled width=1.3]'
    for name, label, color in (('conv', 'Convolution\n3x3/2x2, 8', '#fb8072'),
                               ('group', 'Convolution\n2x2/1, 4', '#fb8072'), ('bn', 'bn', '#bebada'),
                               ('relu', 'Activation\nrelu', '#ffffb3'),
                               ('leaky', 'LeakyReLU\nLeaky', '#ffffb3'), ('pool', 'Pooling\nmax, 2x2/1', '#80b1d3'),
                               ('concat', 'concat', '#fdb462'), ('flat', 'flat', '#fdb462'),
                               ('fc', 'FullyConnected\n10', '#fb8072'), ('softmax', 'softmax', '#fccde5')):
        text = node_of(drawing, name)
        assert text.startswith((f'{name} [label={label} ', f'{name} [label="{label}" '))
        assert f'fillcolor="{color}"' in text
    assert 'conv_weight' not in drawing.source and 'bn_moving_mean' not in drawing.source
    assert 'fc -> flat [label="" arrowtail=open dir=back]' in lines_of(drawing)
    assert 'softmax -> softmax_label [label="" arrowtail=open dir=back]' in lines_of(drawing)


def test_what_flows_along_the_edges():
    pytest.importorskip('graphviz')
    net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=10, name='fc')
    split = mx.sym.SliceChannel(net, num_outputs=2, name='split')
    net = mx.sym.exp(mx.sym.cast(split[1], dtype='float16', name='cast'), name='exp')
    drawing = mx.viz.plot_network(net, shape={'data': (2, 20)}, dtype={'data': np.float32}, hide_weights=False,
                                  node_attrs={'shape': 'oval', 'fixedsize': 'true'})
    for line in ('fc -> data [label="20(float32)" arrowtail=open dir=back]',
                 'fc -> fc_weight [label="20(float32)" arrowtail=open dir=back]',
                 'cast -> split [label="5(float32)" arrowtail=open dir=back]',
                 'exp -> cast [label="5(float16)" arrowtail=open dir=back]'):
        assert line in lines_of(drawing)
    assert 'fixedsize=true' in node_of(drawing, 'fc') and 'shape=oval' in node_of(drawing, 'fc')


def test_names_that_repeat_and_names_with_colons():
    pytest.importorskip('graphviz')
    net = mx.sym.var('a:b')
    for _ in range(3):
        net = mx.sym.FullyConnected(net, num_hidden=4, name='fc')
    with pytest.warns(RuntimeWarning, match='the same name in your graph: fc, fc_bias, fc_weight'):
        drawing = mx.viz.plot_network(net, shape={'a:b': (1, 4)})
    edges = [line.split(' [')[0] for line in lines_of(drawing) if '->' in line]
    assert edges == ['fc -> a_b', '"fc#1" -> fc', '"fc#2" -> "fc#1"']


def test_casts_of_mixed_precision_are_left_out():
    pytest.importorskip('graphviz')
    cast = mx.sym.amp_cast(mx.sym.var('data'), dtype='float16', name='hidden')
    net = mx.sym.FullyConnected(cast, num_hidden=1, name='fc')
    drawing = mx.viz.plot_network(net)
    assert 'hidden' not in drawing.source and any(line.startswith('fc -> data') for line in lines_of(drawing))


def test_mistakes_in_the_drawing():
    pytest.importorskip('graphviz')
    with pytest.raises(TypeError, match='plot_network takes a Symbol, not an NDArray'):
        mx.viz.plot_network(mx.nd.ones((1,)))
    with pytest.raises(ValueError, match='those of b do not follow'):
        mx.viz.plot_network(mx.sym.broadcast_add(mx.sym.var('a'), mx.sym.var('b')), shape={'a': (1,)})


@needs_dot
def test_real_pictures(tmp_path, capfd):
    graphviz = pytest.importorskip('graphviz')
    drawing = mx.viz.plot_network(picture_net(), shape=SHAPE, save_format='png')
    assert isinstance(drawing, graphviz.Digraph)
    path = drawing.render(str(tmp_path / 'net'))
    assert path == str(tmp_path / 'net.png')
    with open(path, 'rb') as file:
        assert file.read(8) == b'\x89PNG\r\n\x1a\n'
    assert not capfd.readouterr().err         # labels fit
    assert '<svg' in drawing._repr_mimebundle_()['image/svg+xml']          # what a notebook asks for
    assert '>FullyConnected<' in drawing.pipe(format='svg', encoding='utf-8')


@needs_dot
def test_symbols_draw_themselves():
    pytest.importorskip('graphviz')
    assert '>FullyConnected<' in picture_net()._repr_svg_()
    assert '>x<' in mx.sym.var('x')._repr_svg_()
    large = mx.sym.var('x')
    for _ in range(301):
        large = large + 1
    assert large._repr_svg_() is None          # a notebook shows the text then


def test_without_the_program_dot(monkeypatch, tmp_path):
    graphviz = pytest.importorskip('graphviz')
    monkeypatch.setenv('PATH', str(tmp_path))
    drawing = mx.viz.plot_network(picture_net())
    for draw in (lambda: drawing.render(str(tmp_path / 'net')), lambda: drawing.pipe(),
                 lambda: drawing.view(str(tmp_path / 'net'))):
        with pytest.raises(graphviz.ExecutableNotFound, match='apt-get install graphviz') as raised:
            draw()
        assert isinstance(raised.value, mx.MXNetError)
    shown = drawing._repr_mimebundle_()
    assert shown.keys() == {'text/plain'} and drawing.source in shown['text/plain']
    assert picture_net()._repr_svg_() is None


def test_without_the_package_graphviz(monkeypatch):
    monkeypatch.setitem(sys.modules, 'graphviz', None)
    visualization._drawing.cache_clear()
    with pytest.raises(ImportError, match='pip install graphviz'):
        mx.viz.plot_network(picture_net())
    assert picture_net()._repr_svg_() is None
    mx.viz.print_summary(mx.sym.var('x'))
