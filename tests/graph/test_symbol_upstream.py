"""Symbols and parameters handed over to MXNet 1.9.1 and back; needs MXNET191_PYTHON.

The same program runs on both sides.  It builds networks, saves them (`-symbol.json`, `.params`) with what they compute,
then loads what the other side saved and computes that: outputs and gradients must agree, and the other side's files
must be as our own.
"""
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

SCRIPT = '''
import sys
import numpy as np
import mxnet as mx

stage, me, other = sys.argv[1:]
sym = mx.sym


def convolutional():
    x = sym.Convolution(sym.var('data'), kernel=(3, 3), num_filter=6, pad=(1, 1), name='conv')
    x = sym.BatchNorm(x, fix_gamma=False, momentum=0.7, name='bn')
    x = sym.Activation(x, act_type='relu', name='act')
    side = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type='avg', pooling_convention='full', name='side')
    x = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type='max', name='pool')
    x = sym.Concat(x, side, dim=1, name='both')
    x = sym.Dropout(x, p=0.5, name='drop')
    x = sym.Deconvolution(x, kernel=(2, 2), stride=(2, 2), num_filter=3, no_bias=False, name='deconv')
    x = sym.LeakyReLU(x, act_type='prelu', name='prelu')
    x = sym.Flatten(x)
    with mx.AttrScope(__lr_mult__='2', ctx_group='head'):
        x = sym.FullyConnected(x, num_hidden=5, name='fc', attr={'wd_mult': '0.5'})
    return sym.SoftmaxOutput(x, sym.var('label'), normalization='batch', name='softmax')


def recurrent():
    x = sym.Embedding(sym.var('words'), input_dim=11, output_dim=4, name='embed')
    x = sym.LayerNorm(x, name='norm')
    x = sym.RNN(x, sym.var('rnn_parameters'), sym.var('h'), sym.var('c'), state_size=3, num_layers=2,
                bidirectional=True, mode='lstm', state_outputs=True, name='rnn')
    return sym.Group([x[0] * 2, x[1], x[2]])


def cells():
    cell = mx.rnn.SequentialRNNCell()
    cell.add(mx.rnn.LSTMCell(4, prefix='lstm_'))
    cell.add(mx.rnn.GRUCell(3, prefix='gru_'))
    outputs, _ = cell.unroll(3, sym.var('data'), begin_state=cell.begin_state(func=sym.var), layout='NTC',
                             merge_outputs=True)
    return outputs


def loops():
    weight, i, s = sym.var('weight'), sym.var('i'), sym.var('s')

    def step(data, states):
        out = sym.FullyConnected(data, weight, num_hidden=4, no_bias=True) + states[0]
        return out * 2, [out]

    outputs, states = sym.contrib.foreach(step, sym.var('data'), [sym.var('state')])
    # as often as it can: upstream leaves the rest of its outputs undefined
    total, last = sym.contrib.while_loop(lambda i, s: i < 9, lambda i, s: (s * 2, [i + 1, sym.broadcast_add(s, i)]),
                                         [i, s], max_iterations=5)
    chosen = sym.contrib.cond(i < 1, lambda: s + 1, lambda: s - 1)
    return sym.Group([outputs, states[0], total, last[1], chosen])


def mixture():
    x = sym.var('data', shape=(2, 3, 4), dtype='float32', init=mx.init.One())
    a, b, c = sym.split(x, num_outputs=3, axis=1, squeeze_axis=True, name='parts')
    y = sym.broadcast_add(sym.dot(a, b, transpose_b=True), sym.mean(c, axis=1, keepdims=True)) ** 2 - 0.5
    y = sym.Reshape(sym.transpose(sym.tile(y, reps=(2, 3)), axes=(1, 0)), shape=(-4, 2, -1, 0))
    y = sym.slice(y, begin=(0, None, 1), end=(None, 2, 4), step=(1, 1, 2))
    z = sym.topk(sym.log_softmax(y), k=2, ret_typ='both')
    return sym.Group([y, z[0], z[1], sym.clip(sym.cast(y, dtype='float64'), -0.1, 1e-7), sym.zeros((2,)) + 3])


NETS = {'convolutional': (convolutional, {'data': (2, 3, 8, 8), 'label': (2,)}),
        'recurrent': (recurrent, {'words': (5, 2), 'h': (4, 2, 3), 'c': (4, 2, 3)}),
        'cells': (cells, {'data': (2, 3, 5), 'lstm_begin_state_0': (2, 4), 'lstm_begin_state_1': (2, 4),
                          'gru_begin_state_0': (2, 3)}),
        'loops': (loops, {'data': (3, 2, 4), 'state': (2, 4), 'weight': (4, 4), 'i': (1,), 's': (2, 2)}),
        'mixture': (mixture, {'data': (2, 3, 4)})}
WHOLE = {'label', 'i', 'words'}         # what holds whole numbers, and gets no gradient


def values(name, shape, whole):
    draw = np.random.RandomState(sum(map(ord, name)))
    return np.zeros(shape) + (draw.randint(0, 3, shape) if whole else draw.uniform(0.1, 1, shape))


def run(name, net, params):
    """Outputs and gradients, in training (without Dropout, which draws) and in prediction."""
    # not simple_bind: upstream does not find out what a while_loop gives
    args = {k: params[k] for k in net.list_arguments()}
    grads = {k: mx.nd.zeros(v.shape) for k, v in args.items() if k not in WHOLE}
    executor = net.bind(mx.cpu(), args, grads, {k: 'write' if k in grads else 'null' for k in args},
                        {k: params[k] for k in net.list_auxiliary_states()})
    found = {}
    for i, array in enumerate(executor.forward(is_train=False)):
        found['predict%d' % i] = array.asnumpy()
    drops = name == 'convolutional'
    if not drops:
        executor.forward(is_train=True)
        executor.backward([mx.nd.array(values('head', o.shape, False), dtype=o.dtype) for o in executor.outputs])
        for i, array in enumerate(executor.outputs):
            found['train%d' % i] = array.asnumpy()
        for key, array in executor.grad_dict.items():
            if array is not None:
                found['gradient_' + key] = array.asnumpy()
    return found


def block(name):
    """A Gluon network; exported, it is a checkpoint."""
    mx.random.seed(1)
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, activation='relu'), nn.BatchNorm(), nn.MaxPool2D(), nn.Flatten(), nn.Dropout(0.2),
                nn.Dense(3, activation='tanh'), nn.LayerNorm())
    net.initialize(mx.init.Xavier())
    net.hybridize()
    return net


data = mx.nd.array(values('image', (2, 3, 8, 8), False))
if stage == '1':
    for name, (build, shapes) in NETS.items():
        net = build()
        inputs, _, states = net.infer_shape_partial(**shapes)
        shapes = list(zip(net.list_arguments(), inputs)) + list(zip(net.list_auxiliary_states(), states))
        params = {k: mx.nd.array(values(k, s, k in WHOLE)) for k, s in shapes}
        net.save(me + name + '-symbol.json')
        mx.nd.save(me + name + '.params', params)
        np.savez(me + name, **run(name, net, params))
    net = block('gluon')
    np.savez(me + 'gluon', net(data).asnumpy())
    net.export(me + 'gluon')
else:
    for name in NETS:
        net = mx.sym.load(other + name + '-symbol.json')
        np.savez(me + name, **run(name, net, mx.nd.load(other + name + '.params')))
        net.save(me + name + '-symbol.json')
    net = mx.gluon.SymbolBlock.imports(other + 'gluon-symbol.json', ['data'], other + 'gluon-0000.params')
    np.savez(me + 'gluon', net(data).asnumpy())
'''
NAMES = ('convolutional', 'recurrent', 'cells', 'loops', 'mixture', 'gluon')


@pytest.fixture(scope='module')
def places(tmp_path_factory):
    """{(side, stage): folder}: what each side saved and computed, and what it computed from the other's files."""
    python = os.environ.get('MXNET191_PYTHON')
    if not python:
        pytest.skip('MXNET191_PYTHON names no Python with MXNet 1.9.1')
    folder = tmp_path_factory.mktemp('symbols')
    script = folder / 'script.py'
    script.write_text(SCRIPT)
    root = str(ROOT)
    plain = {k: v for k, v in os.environ.items() if k != 'PYTHONPATH'}
    sides = {'ours': (sys.executable, {**plain, 'PYTHONPATH': root}), 'upstream': (python, plain)}
    found = {(side, stage): f'{folder}/{side}{stage}-' for side in sides for stage in '12'}
    for stage in '12':
        for side, other in (('ours', 'upstream'), ('upstream', 'ours')):
            interpreter, environment = sides[side]
            done = subprocess.run([interpreter, '-W', 'ignore', str(script), stage, found[side, stage],
                                   found[other, '1']], cwd=folder, env=environment, capture_output=True, text=True,
                                  timeout=240)
            assert done.returncode == 0, f'{side}, stage {stage}:\n{done.stderr[-3000:]}'
    return found


@pytest.mark.parametrize('name', NAMES)
def test_handed_over(places, name):
    """Each side computes from the other's files what the other computed, and from its own what the other does."""
    def load(side, stage):
        with np.load(places[side, stage] + name + '.npz') as data:
            return dict(data)

    for one, two in ((('ours', '1'), ('upstream', '2')), (('upstream', '1'), ('ours', '2'))) \
            + (((('ours', '1'), ('upstream', '1')),) if name != 'gluon' else ()):
        first, second = load(*one), load(*two)
        assert list(first) == list(second)
        for key in first:
            assert first[key].dtype == second[key].dtype, key
            np.testing.assert_allclose(first[key], second[key], rtol=1e-4, atol=1e-5, err_msg=f'{one}, {two}: {key}')


@pytest.mark.parametrize('name', NAMES[:-1])
def test_the_files_say_the_same(places, name):
    """The graph that we write is the one that 1.9.1 writes, and what it writes after reading ours."""
    def load(side, stage):
        with open(places[side, stage] + name + '-symbol.json') as file:
            return json.load(file)

    ours, upstream, again = load('ours', '1'), load('upstream', '1'), load('upstream', '2')
    for other in (upstream, again):
        assert [(n['op'], n['name'], n.get('inputs')) for n in ours['nodes']] == \
            [(n['op'], n['name'], n.get('inputs')) for n in other['nodes']]
        assert ours['heads'] == other['heads'] and ours['arg_nodes'] == other['arg_nodes']
