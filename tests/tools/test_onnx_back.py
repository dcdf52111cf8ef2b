"""ONNX files with lengths that vary, branches and loops, read back: compared with ONNX Runtime."""
import os
import sys

import numpy as np
import pytest

import mxnet as mx

onnx = pytest.importorskip('onnx')
ort = pytest.importorskip('onnxruntime')
sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'helpers'))
import convert_graphs  # noqa: E402

from mxnet.cli._convert import relative, run  # noqa: E402

helper, numpy_helper = onnx.helper, onnx.numpy_helper
FLOAT, INT64, BOOL = 1, 7, 9


def info(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


def const(name, values, dtype='int64'):
    return numpy_helper.from_array(np.array(values, dtype), name)


def model(nodes, inputs, outputs, constants=(), opset=17):
    graph = helper.make_graph(nodes, 'g', inputs, outputs, list(constants))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], producer_name='a test')
    made.ir_version = 8
    return made


def agree(made, *batches):
    """The network that was read gives what ONNX Runtime gives, for every list of inputs."""
    session = ort.InferenceSession(made.SerializeToString(), providers=['CPUExecutionProvider'])
    net = mx.contrib.onnx.import_to_gluon(made, mx.cpu())
    for arrays in batches:
        wanted = session.run(None, {i.name: a for i, a in zip(session.get_inputs(), arrays, strict=True)})
        found = net(*[mx.nd.array(a, dtype=a.dtype) for a in arrays])
        for one, other in zip(found if isinstance(found, (list, tuple)) else [found], wanted, strict=True):
            np.testing.assert_allclose(one.asnumpy().reshape(other.shape), other, rtol=1e-5, atol=1e-6)


def x(*shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype('float32')


# ---------------------------------------------------------------------- graphs of ours
@pytest.mark.parametrize('name', ['rnn_lstm', 'rnn_cells', 'gluon_lstm', 'norms', 'branch', 'loop_foreach',
                                  'loop_while', 'odd_pooling', 'numpy_block'])
def test_graphs_come_back(tmp_path, name):
    source, other, again = (str(tmp_path / part) for part in ('network', 'other', 'again'))
    shapes = convert_graphs.write(name, source)
    run(source, to='onnx', shapes=shapes, out=other)
    found = run(f'{other}.onnx', to='symbol', shapes=shapes, out=again)
    assert found['batches'] == [1, 5]
    from mxnet.cli import _networks
    first, last = (_networks.load(prefix, None, shapes=shapes) for prefix in (source, again))
    for batch in (1, 5):
        values = first.example(shapes, 3, batch, dict.fromkeys(shapes, 0))
        wanted, back = (network.module()(*[mx.nd.array(values[n]) for n in network.inputs])
                        for network in (first, last))
        for a, b in zip(wanted if isinstance(wanted, list) else [wanted], back if isinstance(back, list) else [back],
                        strict=True):
            assert relative(b.asnumpy(), a.asnumpy()) < 1e-5


def test_a_checkpoint_without_parameters(tmp_path):
    """Its file holds an empty list: there are no names that could be missing."""
    mx.sym.Pooling(mx.sym.var('data'), kernel=(2, 2), stride=(2, 2)).save(str(tmp_path / 'net-symbol.json'))
    mx.nd.save(str(tmp_path / 'net-0000.params'), {})
    net = mx.gluon.SymbolBlock.imports(str(tmp_path / 'net-symbol.json'), ['data'], str(tmp_path / 'net-0000.params'))
    assert net(mx.nd.ones((1, 1, 4, 4))).shape == (1, 1, 2, 2)


# ---------------------------------------------------------------------- lengths
def batch_of(name):
    """Nodes that put the first length of x into a vector."""
    return [node('Shape', 'x', f'{name}_all'), node('Gather', f'{name}_all zero', f'{name}_0', axis=0),
            node('Unsqueeze', f'{name}_0 zeros', name)]


ZERO = [const('zero', 0), const('zeros', [0]), const('one', 1), const('four', 4), const('minus', [-1])]


@pytest.mark.parametrize('name, nodes, constants', [
    ('rows', [node('Concat', 'b last', 's', axis=0), node('Reshape', 'x s', 'y')], [const('last', [12])]),
    ('two lengths', [node('Concat', 'b minus two', 's', axis=0), node('Reshape', 'x s', 'y')], [const('two', [2])]),
    ('joined', [node('Mul', 'b three', 'm'), node('Concat', 'm four_', 's', axis=0), node('Reshape', 'x s', 'y')],
     [const('three', [3]), const('four_', [4])]),
    ('zeros', [node('Concat', 'b five', 's', axis=0),
               node('ConstantOfShape', 's', 'y', value=const('v', [2.5], 'float32'))], [const('five', [5])]),
    ('expanded', [node('Concat', 'b ones', 's', axis=0), node('Expand', 'row s', 'y')],
     [const('ones', [1, 3]), const('row', [[1, 2, 3]], 'float32')]),
    ('tiled', [node('Concat', 'b ones', 's', axis=0), node('Tile', 'row s', 'y')],
     [const('ones', [2]), const('row', [[1, 2, 3]], 'float32')]),
    ('counted', [node('Range', 'zero b_0 one', 'r'), node('Cast', 'r', 'y', to=FLOAT)], []),
    ('asked where', [node('Concat', 'b ones', 's', axis=0), node('Equal', 's minus', 'e'),
                     node('ConstantOfShape', 'two', 'o', value=const('v', [1])), node('Where', 'e o s', 'w'),
                     node('Expand', 'row w', 'y')],
     [const('ones', [3]), const('two', [2]), const('row', [[1, 2, 3]], 'float32')]),
    ('cut', [node('Shape', 'x', 'l'), node('Gather', 'l one', 'c', axis=0), node('Sub', 'c one', 'd'),
             node('Unsqueeze', 'd zeros', 'e'), node('Slice', 'x zeros e axes', 'y')], [const('axes', [1])]),
    ('computed with', [node('Cast', 'b', 'f', to=FLOAT), node('Div', 'x f', 'y')], []),
])
def test_lengths_that_vary(name, nodes, constants):
    made = model([*batch_of('b'), *nodes], [info('x', ['n', 3, 4])], [info('y', None)], [*ZERO, *constants])
    agree(made, [x(1, 3, 4)], [x(5, 3, 4)])


def test_half_of_channels_that_the_library_does_not_follow():
    nodes = [node('Shape', 'x', 's'), *[node('Gather', f's i{i}', f'l{i}', axis=0) for i in range(4)],
             node('Div', 'l1 two', 'h'), *[node('Unsqueeze', f'{n} zeros', f'u{n}') for n in ('l0', 'h', 'l2', 'l3')],
             node('Concat', 'ul0 twos uh ul2 ul3', 't', axis=0), node('Reshape', 'x t', 'a'),
             node('Transpose', 'a', 'b', perm=[0, 2, 1, 3, 4]), node('Shape', 'b', 'bs'),
             node('Gather', 'bs i1', 'again', axis=0), node('Unsqueeze', 'again zeros', 'ua'),
             node('Concat', 'ul0 ua minus', 'v', axis=0), node('Reshape', 'b v', 'y')]
    constants = [*[const(f'i{i}', i) for i in range(4)], const('two', 2), const('twos', [2]), *ZERO]
    made = model(nodes, [info('x', ['n', 6, 'h', 'w'])], [info('y', None)], constants)
    agree(model(nodes, [info('x', ['n', 6, 2, 4])], [info('y', None)], constants), [x(1, 6, 2, 4)], [x(5, 6, 2, 4)])
    with pytest.raises(mx.MXNetError, match='more than one length is known only when the network runs'):
        mx.contrib.onnx.import_model(made)


def test_a_question_about_a_length_is_refused():
    nodes = [*batch_of('b'), node('Equal', 'b three', 'e'), node('Where', 'e three minus', 's'),
             node('Reshape', 'x s', 'y')]
    made = model(nodes, [info('x', ['n', 4])], [info('y', None)], [*ZERO, const('three', [3])])
    with pytest.raises(mx.MXNetError, match='Reshape.*computed while the network runs'):
        mx.contrib.onnx.import_model(made)


def test_lengths_that_grow_with_every_node_end():
    nodes = [*batch_of('b0'), *[node('Mul', f'b{i} b{i}', f'b{i + 1}') for i in range(60)],
             node('Concat', 'b60 minus', 's', axis=0), node('Reshape', 'x s', 'y')]
    made = model(nodes, [info('x', ['(a+b)*(c+d)*(e+f)', 4])], [info('y', None)], ZERO)
    with pytest.raises(mx.MXNetError, match='Reshape.*computed while the network runs'):
        mx.contrib.onnx.import_model(made)


# ---------------------------------------------------------------------- branches and loops
def test_branches():
    """Constants, outer tensors and a parameter that both sides and the rest of the network use."""
    yes = helper.make_graph([node('Mul', 'x w', 'p'), node('Add', 'p w1', 'yes')], 'yes', [], [info('yes', None)],
                            [const('w1', [1, 2, 3], 'float32')])
    no = helper.make_graph([node('Mul', 'x w', 'q'), node('Neg', 'q', 'no')], 'no', [], [info('no', None)])
    nodes = [node('ReduceSum', 'x', 's', keepdims=0), node('Greater', 's zero_', 'c'),
             node('If', 'c', 'm', then_branch=yes, else_branch=no), node('Mul', 'x w', 'o'), node('Add', 'm o', 'y')]
    made = model(nodes, [info('x', ['n', 3])], [info('y', None)],
                 [const('w', x(3), 'float32'), const('zero_', 0, 'float32')])
    agree(made, [np.abs(x(1, 3))], [-np.abs(x(5, 3))])
    _, arguments, _ = mx.contrib.onnx.import_model(made)
    assert sorted(arguments) == ['w', 'w1', 'zero_']


def test_a_branch_that_is_known_is_taken():
    yes = helper.make_graph([node('Relu', 'x', 'yes')], 'yes', [], [info('yes', None)])
    no = helper.make_graph([node('Neg', 'x', 'no')], 'no', [], [info('no', None)])
    made = model([node('If', 'c', 'y', then_branch=yes, else_branch=no)], [info('x', ['n', 3])], [info('y', None)],
                 [const('c', False, 'bool')])
    agree(made, [x(2, 3)])
    assert 'cond' not in mx.contrib.onnx.import_model(made)[0].tojson()


@pytest.mark.parametrize('axes', [
    {}, {'scan_input_axes': [1], 'scan_output_axes': [1]}, {'scan_input_directions': [1]},
    {'scan_output_directions': [1], 'scan_output_axes': [-1]}])
def test_scan(axes):
    shape = [1, 2] if 'scan_input_axes' not in axes else [1, 4]
    body = helper.make_graph([node('Add', 's e', 't'), node('Mul', 't k', 'o')], 'body',
                             [info('s', None), info('e', None)], [info('t', shape), info('o', shape)])
    made = model([node('Scan', 'first x', 'last y', num_scan_inputs=1, body=body, **axes)], [info('x', [4, 1, 2])]
                 if shape == [1, 2] else [info('x', [1, 3, 4])], [info('last', None), info('y', None)],
                 [const('first', np.zeros(shape), 'float32'), const('k', [0.5], 'float32')])
    agree(made, [x(4, 1, 2) if shape == [1, 2] else x(1, 3, 4)])


def loop_body(end):
    return helper.make_graph([node('Mul', 'v half', 'w'), node('Cast', 'i', 'f', to=FLOAT), node('Add', 'w f', 'row'),
                              *end], 'body', [info('i', [], INT64), info('before', [], BOOL), info('v', [2])],
                             [info('go', [], BOOL), info('w', [2]), info('row', [2])])


HALF = [const('half', 0.5, 'float32'), const('most', 6), const('yes', True, 'bool'), const('limit', 3.0, 'float32')]


def test_a_loop_of_fixed_length_gives_its_rows():
    made = model([node('Loop', 'most yes x', 'last rows', body=loop_body([node('Identity', 'before', 'go')]))],
                 [info('x', [2])], [info('last', None), info('rows', None)], HALF)
    agree(made, [x(2)])


def test_a_loop_that_may_end_early():
    """Its last values are right; its rows are as many as it ran, which no shape here can say."""
    body = loop_body([node('Less', 'f limit', 'go')])
    loop = node('Loop', 'most yes x', 'last rows', body=body)
    made = model([loop], [info('x', [2])], [info('last', None)], HALF)
    agree(made, [x(2)])
    made = model([loop], [info('x', [2])], [info('last', None), info('rows', None)], HALF)
    with pytest.raises(mx.MXNetError, match='Loop that may end early has as many rows as steps were run'):
        mx.contrib.onnx.import_model(made)
    made = model([loop, node('ReduceSum', 'rows', 'y')], [info('x', [2])], [info('y', None)], HALF)
    with pytest.raises(mx.MXNetError, match='Loop that may end early'):
        mx.contrib.onnx.import_model(made)


@pytest.mark.parametrize('change, message', [
    ('no limit', 'the number of its steps has no limit'), ('huge', 'it has at most 9223372036854775807 steps'),
    ('inputs', 'its body has 3 inputs, but it is called with 2'), ('no body', 'it has no body'),
    ('unknown', 'no translation of Hardmax')])
def test_loops_that_cannot_be_read(change, message):
    body = loop_body([node('Hardmax', 'row', 'unused')] if change == 'unknown' else [node('Identity', 'before', 'go')])
    loop = node('Loop', {'no limit': ' yes x', 'inputs': 'most yes'}.get(change, 'most yes x'), 'last rows', body=body)
    if change == 'no limit':
        del loop.input[:]
        loop.input.extend(['', 'yes', 'x'])
    if change == 'no body':
        del loop.attribute[:]
    constants = [const('most', np.iinfo('int64').max) if c.name == 'most' and change == 'huge' else c for c in HALF]
    graph = helper.make_graph([loop], 'g', [info('x', [2])], [info('last', None)], constants)
    with pytest.raises(mx.MXNetError) as error:
        mx.contrib.onnx.import_model(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)]))
    assert message in str(error.value) or change in ('inputs', 'no body') and 'contradict' in str(error.value)


# ---------------------------------------------------------------------- operators
@pytest.mark.parametrize('name, nodes, shape, constants', [
    ('depth', [node('DepthToSpace', 'x', 'y', blocksize=2, mode='CRD')], (2, 8, 3, 2), []),
    ('sum', [node('Einsum', 'x w', 'y', equation='bij,jk->bik')], (2, 3, 4), [const('w', x(4, 2), 'float32')]),
    ('upper', [node('Trilu', 'x k', 'y')], (2, 3, 4), [const('k', 1)]),
    ('lower', [node('Trilu', 'x', 'y', upper=0)], (2, 3, 4), []),
    ('celu', [node('Celu', 'x', 'y', alpha=0.5)], (2, 3), []),
    ('rest', [node('Mod', 'x w', 'y', fmod=1)], (2, 3), [const('w', [0.3, -0.2, 0.7], 'float32')]),
    ('cut', [node('Pad', 'x w', 'y')], (3, 4), [const('w', [-1, 0, 2, -1])]),
    ('odd', [node('Div', 'x w', 'd'), node('IsNaN', 'd', 'a'), node('IsInf', 'd', 'b'), node('Or', 'a b', 'o'),
             node('Cast', 'o', 'y', to=FLOAT)], (2, 3), [const('w', [0, 1, 0], 'float32')]),
    ('whole', [node('Gather', 'x w', 'y', axis=1)], (2, 3), [const('w', [2, 0])]),
])
def test_operators(name, nodes, shape, constants):
    made = model(nodes, [info('x', list(shape))], [info('y', None)], constants)
    agree(made, [x(*shape)])
