"""Symbols: names, parts, composition, attributes, inference, files."""
import copy
import json
import pickle

import numpy as np
import pytest

import mxnet as mx
from mxnet import sym


@pytest.fixture(autouse=True)
def fresh_names():
    with mx.name.NameManager():
        yield


def mlp():
    data = sym.var('data')
    hidden = sym.Activation(sym.FullyConnected(data, num_hidden=8, name='fc1'), act_type='relu', name='relu1')
    return sym.SoftmaxOutput(sym.FullyConnected(hidden, num_hidden=3, name='fc2'), name='softmax')


def test_names_and_lists():
    net = mlp()
    assert net.list_arguments() == ['data', 'fc1_weight', 'fc1_bias', 'fc2_weight', 'fc2_bias', 'softmax_label']
    assert net.list_outputs() == ['softmax_output'] and net.name == 'softmax' and repr(net) == '<Symbol softmax>'
    bn = sym.BatchNorm(sym.var('x'), name='bn')
    assert bn.list_auxiliary_states() == ['bn_moving_mean', 'bn_moving_var']
    assert bn.list_arguments() == ['x', 'bn_gamma', 'bn_beta']
    assert sym.FullyConnected(sym.var('x'), num_hidden=1).name == 'fullyconnected0'
    assert (sym.var('a') + 1).name == '_plusscalar0' and (sym.var('a') * sym.var('b')).name == '_mul0'
    with mx.name.Prefix('left_'):
        assert sym.relu(sym.var('x')).name == 'left_relu0'


def test_parts():
    net = mlp()
    internals = net.get_internals()
    assert internals['fc1_output'].list_arguments() == ['data', 'fc1_weight', 'fc1_bias']
    assert net.get_children().list_outputs() == ['fc2_output', 'softmax_label']
    assert sym.var('x').get_children() is None
    parts = sym.SliceChannel(sym.var('x'), num_outputs=3, name='cut')
    assert len(parts) == 3 and parts[1].list_outputs() == ['cut_output1']
    assert parts[1:].list_outputs()[0] == 'cut_output1'
    group = sym.Group([net, internals['fc1_output']])
    assert group.list_outputs() == ['softmax_output', 'fc1_output'] and group.name is None
    with pytest.raises(ValueError, match="'fc1_otput'.*fc1_output"):
        internals['fc1_otput']
    with pytest.raises(IndexError, match='output 5'):
        net[5]


def test_composition():
    net = mlp()
    other = sym.FullyConnected(sym.var('x'), num_hidden=4, name='front')
    joined = net(data=other, name='joined')
    assert joined.list_arguments()[:3] == ['x', 'front_weight', 'front_bias'] and joined.name == 'joined'
    assert net.list_arguments()[0] == 'data'
    with pytest.raises(mx.MXNetError, match='no variable dta.*data'):
        net(dta=other)
    with pytest.raises(mx.MXNetError, match='choose an output'):
        sym.relu(sym.Group([net, other]))


def test_attributes():
    with mx.AttrScope(ctx_group='stage1', __mood__='happy'):
        a = sym.var('a', lr_mult=2, shape=(2, 3), dtype='float16')
        b = sym.relu(a, name='act')
    assert a.attr('__lr_mult__') == '2' and a.attr('lr_mult') == '2' and a.attr('__dtype__') == '2'
    assert b.attr('ctx_group') == 'stage1' and b.attr_dict()['act']['__mood__'] == 'happy'
    with pytest.raises(ValueError, match='__flavour__'):
        sym.var('c', flavour='sweet')
    with pytest.raises(mx.MXNetError, match='num_hiden.*num_hidden'):
        sym.FullyConnected(a, num_hiden=3)


# ---------------------------------------------------------------------- inference
def test_shapes_forward():
    args, outs, aux = mlp().infer_shape(data=(5, 4))
    assert args == [(5, 4), (8, 4), (8,), (3, 8), (3,), (5,)] and outs == [(5, 3)] and aux == []


@pytest.mark.parametrize('build, known, want', [
    (lambda: sym.var('a', shape=(0, 10)) + sym.var('b', shape=(12, 0)), {}, {'a': (12, 10), 'b': (12, 10)}),
    (lambda: sym.FullyConnected(sym.var('a', shape=(0, 10)), num_hidden=21, name='f') + sym.var('c', shape=(5, 0)), {},
     {'a': (5, 10), 'c': (5, 21), 'f_weight': (21, 10)}),
    (lambda: sym.Convolution(sym.var('a', shape=(0, 3, 0, 0)), kernel=(3, 3), num_filter=2, name='c') + sym.var('b'),
     {'b': (4, 2, 10, 6)}, {'a': (4, 3, 12, 8)}),
    (lambda: sym.Concat(sym.var('a', shape=(0, 10)), sym.var('b', shape=(0, 5)), dim=1) + sym.var('d', shape=(2, 0)),
     {},
     {'a': (2, 10), 'b': (2, 5), 'd': (2, 15)}),
    (lambda: sym.transpose(sym.var('a', shape=(2, 0, 0))) * sym.var('b'), {'b': (4, 3, 2)}, {'a': (2, 3, 4)}),
])
def test_shapes_backward(build, known, want):
    net = build()
    args, _, _ = net.infer_shape(**known)
    found = dict(zip(net.list_arguments(), args, strict=True))
    assert {k: found[k] for k in want} == want


def test_partial_shapes():
    x = sym.var('x')
    assert sym.dot(x, sym.var('y')).infer_shape_partial(x=(0, 3, 4), y=(4, 5))[1] == [(0, 3, 5)]
    assert sym.sin(x).infer_shape_partial() == ([()], [()], [])
    with pytest.warns(UserWarning, match='fc1_weight'):
        assert mlp().infer_shape() == (None, None, None)


def test_shapes_are_remembered():
    """Programs with images of many sizes ask for every batch."""
    net, weight = mlp(), sym.var('w')
    first = net.infer_shape(data=(5, 4))
    first[0].append('mine')
    assert net.infer_shape(data=(5, 4))[0] == first[0][:-1] and net.infer_shape(data=[6, 4])[1] == [(6, 3)]
    for rows in range(1, 200):
        assert net.infer_shape(data=(rows, 4))[1] == [(rows, 3)]
    total = sym.dot(sym.var('x'), weight)
    assert total.infer_shape_partial(x=(2, 3))[1] == [()]
    weight._set_attr(__shape__='(3, 5)')
    assert total.infer_shape(x=(2, 3))[1] == [(2, 5)]
    assert sym.sin(sym.var('x')).infer_shape_partial(x=(0, 2))[1] == [(0, 2)]
    with mx.np_shape():
        scalar = sym.sin(sym.var('x'))
        assert scalar.infer_shape(x=())[1] == [()]
    with pytest.warns(UserWarning):
        assert scalar.infer_shape(x=())[1] is None


def test_names_that_are_none_are_an_error():
    for infer in (mlp().infer_shape, mlp().infer_shape_partial):
        with pytest.raises(mx.MXNetError, match=r'there is no argument dta \(did you mean data\?\); there are data, '
                                                'fc1_weight'):
            infer(dta=(5, 4))
    with pytest.raises(mx.MXNetError, match='no argument dta'):
        mlp().infer_type(dta='float32')


def test_shapes_that_clash_are_named():
    with pytest.raises(mx.MXNetError, match=r'fc1.*\(1, 4\)'):
        mlp().infer_shape(data=(5, 4), fc1_weight=(1, 4))
    with pytest.raises(mx.MXNetError, match=r'total.*\(2, 3\).*\(2, 4\)'):
        sym.elemwise_add(sym.var('a'), sym.var('b'), name='total').infer_shape(a=(2, 3), b=(2, 4))


def test_types():
    net = sym.FullyConnected(sym.cast(sym.var('data'), dtype='float64'), num_hidden=3, name='fc')
    args, outs, _ = net.infer_type(data='float16')
    assert args == [np.float16, np.float64, np.float64] and outs == [np.float64]
    assert net.infer_type_partial()[0][0] is None


def test_a_deep_graph_builds_saves_and_infers():
    """Deeper than Python's stack: nothing may recurse from node to node."""
    x = sym.var('x')
    for i in range(20000):
        x = sym.relu(x, name=f'r{i}') if i % 2 else x + 1
    assert x.infer_shape(x=(2, 3))[1] == [(2, 3)]
    again = sym.load_json(x.tojson())
    assert again.list_outputs() == x.list_outputs() and again.tojson() == x.tojson()


# ---------------------------------------------------------------------- files
def test_json_round_trip(tmp_path):
    net = mlp()
    net.save(str(tmp_path / 'net-symbol.json'))
    again = sym.load(str(tmp_path / 'net-symbol.json'))
    assert again.tojson() == net.tojson() and again.list_arguments() == net.list_arguments()
    assert pickle.loads(pickle.dumps(net)).tojson() == net.tojson()
    assert copy.deepcopy(net).tojson() == net.tojson()
    assert json.loads(net.tojson())['attrs'] == {'mxnet_version': ['int', 10901]}


def test_golden_files_byte_for_byte(shared):
    for name in ('module', 'export', 'group', 'cell'):
        path = shared / 'golden' / 'files' / f'{name}-symbol.json'
        assert sym.load(str(path)).tojson() == path.read_text(), name


def test_files_of_old_versions():
    text = json.dumps({
        'nodes': [{'op': 'null', 'param': {}, 'name': 'data', 'inputs': [], 'backward_source_id': -1},
                  {'op': 'null', 'param': {}, 'name': 'fc_weight', 'inputs': [], 'backward_source_id': -1,
                   'attr': {'lr_mult': '2'}},
                  {'op': 'FullyConnected', 'param': {'no_bias': 'True', 'num_hidden': '3'}, 'name': 'fc',
                   'inputs': [[0, 0], [1, 0]], 'backward_source_id': -1},
                  {'op': 'BatchNorm', 'param': {'eps': '0.001', 'fix_gamma': 'True'}, 'name': 'bn', 'inputs': [[2,
                                                                                                                0]]}],
        'arg_nodes': [0, 1], 'heads': [[3, 0]]})
    net = sym.load_json(text)
    assert net.list_arguments() == ['data', 'fc_weight', 'bn_gamma', 'bn_beta']
    assert net.list_auxiliary_states() == ['bn_moving_mean', 'bn_moving_var']
    assert net.attr_dict()['fc_weight']['__lr_mult__'] == '2'
    assert net.infer_shape(data=(2, 5))[1] == [(2, 3)]


@pytest.mark.parametrize('text', ['', '{', '[]', '{"nodes": []}',
                                  '{"nodes": [{"op": "relu", "name": "r", "inputs": [[3, 0, 0]]}], "heads": [[0, 0]]}',
                                  '{"nodes": [{"op": "nope", "name": "r", "inputs": []}], "heads": [[0, 0, 0]]}',
                                  '{"nodes": [{"op": "null", "name": "r"}], "heads": [[7, 0, 0]]}'])
def test_bad_json(text):
    with pytest.raises(mx.MXNetError):
        sym.load_json(text)


def test_not_for_symbols():
    with pytest.raises(mx.base.NotImplementedForSymbol):
        bool(sym.var('x'))
    with pytest.raises(mx.base.NotImplementedForSymbol):
        x = sym.var('x')
        x += 1
    with pytest.raises(TypeError, match='not supported'):
        sym.var('x') + np.ones(2)


def test_backends_rewrite_graphs():
    from mxnet._graph.ir import backends
    from mxnet._graph.ir.node import rebuild

    @backends.register('without_dropout')
    def without_dropout(entries, options, args, aux):
        return rebuild(entries, lambda node, inputs: list(inputs) if node.op and node.op.name == 'Dropout' else None)
    try:
        net = sym.relu(sym.Dropout(sym.var('x'), name='drop'), name='act')
        assert 'drop' not in net.optimize_for('without_dropout').tojson()
        with pytest.raises(mx.MXNetError, match="'nope'.*without_dropout"):
            net.optimize_for('nope')
    finally:
        del backends.BACKENDS['without_dropout']


def test_equal_computations_are_made_once(monkeypatch):
    a, b = sym.var('a'), sym.var('b')
    shapes = {'a': (2,), 'b': (2,)}

    def nodes(net, **given):
        return len(net.simple_bind(mx.cpu(), **given).get_optimized_symbol().get_internals())

    for net, saved in (((a + b) + (a + b), 1), ((a + 1) + (a + 2), 0), (sym.Dropout(a) + sym.Dropout(a), 0),
                       (sym.Group([a * b, a * b]), 0), (sym.Group([a * b + a, a * b + a]), 1)):
        given = {k: v for k, v in shapes.items() if k in net.list_arguments()}
        assert nodes(net, **given) == len(net.get_internals()) - saved
        monkeypatch.setenv('MXNET_ELIMINATE_COMMON_EXPR', '0')
        assert nodes(net, **given) == len(net.get_internals())
        monkeypatch.delenv('MXNET_ELIMINATE_COMMON_EXPR')


def test_the_operator_of_a_symbol_alone():
    net = sym.RNN(sym.var('data'), sym.var('p'), sym.var('h'), sym.var('c'), state_size=3, num_layers=2, mode='lstm',
                  state_outputs=True, name='rnn')
    alone = net._gen_atomic_symbol()
    assert alone.list_outputs() == net.list_outputs() and alone.list_arguments()[0] == 'rnn_data'
    with pytest.raises(mx.MXNetError, match='data is a variable'):
        sym.var('data')._gen_atomic_symbol()


def test_unknown_lengths_of_a_file_in_np_mode():
    text = sym.FullyConnected(sym.var('data'), sym.var('weight', shape=(4, 0)), num_hidden=4).tojson()
    for np_mode in (False, True):
        with mx.np_shape(np_mode):
            assert sym.load_json(text).infer_shape(data=(2, 7))[0][1] == (4, 7)


def test_normal_numbers_in_the_shape_of_another_symbol():
    drawn = sym.random.randn(loc=5, scale=0.1, dtype='float64', data=sym.var('x')).eval(x=mx.nd.zeros((30, 20)))[0]
    assert drawn.shape == (30, 20) and drawn.dtype == np.float64 and abs(drawn.asnumpy().mean() - 5) < 0.1


def test_attributes_of_nodes_with_one_name():
    net = sym.reshape(sym.Convolution(sym.var('data'), kernel=(1, 1), num_filter=2, name='x'), shape=(-1,), name='x')
    assert net.attr_dict()['x'] == {'kernel': '(1, 1)', 'num_filter': '2', 'shape': '(-1,)'}
