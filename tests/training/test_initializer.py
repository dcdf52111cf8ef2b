"""Initializers: which rule takes which name, what they fill in, and how they are written down."""
import json
import logging
import math

import numpy as np
import pytest

import mxnet as mx
from mxnet.initializer import InitDesc


def filled(init, shape, name='fc_weight', dtype='float32', **desc):
    """What an initializer makes of an array."""
    array = mx.nd.full(shape, 7, dtype=dtype)
    init(InitDesc(name, **desc), array)
    assert array.shape == tuple(shape) and array.dtype == np.dtype(dtype)
    return array.asnumpy()


# --- names ---

@pytest.mark.parametrize('name, wanted', [
    ('fc_weight', 3), ('weight', 3), ('fc_bias', 0), ('bn_gamma', 1), ('bn_beta', 0), ('quantized_min', 0),
    ('quantized_max', 1), ('fc_bias_quantize', 0)])
def test_names_decide(name, wanted):
    assert (filled(mx.init.Constant(3), (2, 3), name) == wanted).all()


def test_quantized_weights_are_random_bytes():
    mx.random.seed(1)
    values = filled(mx.init.Zero(), (50, 40), 'fc_weight_quantize', dtype='int8')
    assert values.min() >= -127 and values.max() < 127 and len(np.unique(values)) > 100


@pytest.mark.parametrize('name', ['data', 'bn_moving_mean', 'fc_weights'])
def test_other_names_have_no_rule(name):
    with pytest.raises(ValueError, match=f'{name}: no rule .*mx.sym.var'):
        filled(mx.init.Zero(), (2,), name)


def test_attributes_come_first():
    own = {'__init__': mx.init.Constant(5).dumps()}
    for name in ('fc_weight', 'fc_bias', 'anything'):
        assert (filled(mx.init.Zero(), (2, 2), name, attrs=own) == 5).all()
    assert (filled(mx.init.Zero(), (8,), 'lstm_bias', attrs={'__init__': mx.init.LSTMBias(2.0).dumps()})
            == [0, 0, 2, 2, 0, 0, 0, 0]).all()


def test_variables_carry_initializers():
    net = mx.sym.BatchNorm(mx.sym.var('data'), gamma=mx.sym.var('g', init=mx.init.One()), name='bn')
    attrs = net.attr_dict()
    for name, wanted in (('g', 1), ('bn_moving_mean', 0), ('bn_moving_var', 1)):
        assert (filled(mx.init.Uniform(), (3,), name, attrs=attrs[name]) == wanted).all()


def test_the_first_initializer_stays_the_global_one():
    desc = InitDesc('fc_weight')
    first = mx.init.Zero()
    first(desc, mx.nd.ones((1,)))
    mx.init.One()(desc, mx.nd.ones((1,)))
    assert desc.global_init is first and desc == 'fc_weight' and desc.attrs == {}


@pytest.mark.filterwarnings('ignore:an initializer is called with a name')
@pytest.mark.parametrize('name, wanted', [
    ('fc_weight', 3), ('fc_bias', 0), ('bn_gamma', 1), ('bn_beta', 0), ('bn_moving_mean', 0), ('bn_moving_var', 1),
    ('bn_moving_inv_var', 0), ('bn_moving_avg', 0), ('a_min', 0), ('a_max', 1), ('stn_loc_weight', 0)])
def test_plain_names(name, wanted):
    array = mx.nd.full((2, 3), 7)
    mx.init.Constant(3)(name, array)
    assert (array.asnumpy() == wanted).all()


def test_plain_names_are_deprecated():
    with pytest.warns(DeprecationWarning, match="InitDesc\\('fc_weight'\\)"):
        mx.init.Zero()('fc_weight', mx.nd.ones((1,)))


@pytest.mark.filterwarnings('ignore:an initializer is called with a name')
def test_plain_names_of_special_layers():
    bias, weight = mx.nd.ones((6,)), mx.nd.ones((1, 1, 4, 4))
    mx.init.Zero()('stn_loc_bias', bias)
    mx.init.Zero()('upsampling_weight', weight)
    assert bias.asnumpy().tolist() == [1, 0, 0, 0, 1, 0]
    assert (weight.asnumpy() == filled(mx.init.Bilinear(), (1, 1, 4, 4))).all()
    with pytest.raises(AssertionError, match='6 values, not 5'):
        mx.init.Zero()('stn_loc_bias', mx.nd.ones((5,)))
    with pytest.raises(ValueError, match='no rule'):
        mx.init.Zero()('data', bias)
    with pytest.raises(TypeError, match='must be a string'):
        mx.init.Zero()(3, bias)
    with pytest.raises(TypeError, match='not a numpy.ndarray'):
        mx.init.Zero()('fc_weight', np.ones(3))


# --- values ---

def test_constants():
    assert (filled(mx.init.Zero(), (2, 3)) == 0).all() and (filled(mx.init.One(), (2, 3)) == 1).all()
    values = np.arange(6.0).reshape(2, 3)
    for one in (values, mx.nd.array(values), values.tolist()):
        assert (filled(mx.init.Constant(one), (2, 3)) == values).all()


def moments(values, mean, deviation):
    n = values.size
    assert abs(values.mean() - mean) < 5 * deviation / math.sqrt(n)
    assert values.std() == pytest.approx(deviation, rel=5 / math.sqrt(n))


@pytest.mark.parametrize('dtype', ['float32', 'float64', 'float16'])
def test_random_numbers(dtype):
    mx.random.seed(3)
    uniform = filled(mx.init.Uniform(0.5), (100, 90), dtype=dtype)
    moments(uniform.astype('float64'), 0, 0.5 / math.sqrt(3))
    assert abs(uniform).max() <= 0.5
    moments(filled(mx.init.Normal(2), (100, 90), dtype=dtype).astype('float64'), 0, 2)


@pytest.mark.parametrize('factor_type, n', [('in', 20 * 9), ('out', 40 * 9), ('avg', 30 * 9)])
def test_xavier(factor_type, n):
    mx.random.seed(4)
    shape = (40, 20, 3, 3)
    uniform = filled(mx.init.Xavier(factor_type=factor_type, magnitude=2), shape)
    moments(uniform, 0, math.sqrt(2 / n / 3))
    assert abs(uniform).max() <= math.sqrt(2 / n)
    moments(filled(mx.init.Xavier('gaussian', factor_type, 2), shape), 0, math.sqrt(2 / n))
    moments(filled(mx.init.MSRAPrelu(factor_type, slope=0.5), shape), 0, math.sqrt(2 / 1.25 / n))


@pytest.mark.parametrize('shape', [(20, 10), (10, 20), (4, 2, 3, 3), (8, 8)])
@pytest.mark.parametrize('rand_type', ['uniform', 'normal'])
def test_orthogonal(shape, rand_type):
    matrix = filled(mx.init.Orthogonal(2.0, rand_type), shape).reshape(shape[0], -1)
    product = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)


def test_seed():
    for init in (mx.init.Uniform(), mx.init.Normal(), mx.init.Xavier(), mx.init.Orthogonal()):
        mx.random.seed(5)
        first = filled(init, (4, 5))
        assert (filled(init, (4, 5)) != first).any()
        mx.random.seed(5)
        assert (filled(init, (4, 5)) == first).all()


@pytest.mark.parametrize('size', [4, 5, 8])        # 2 * factor - factor % 2
def test_bilinear_enlarges(size):
    """A Deconvolution with these weights reproduces a plane that rises evenly."""
    weight = filled(mx.init.Bilinear(), (2, 1, size, size))
    assert (weight[0] == weight[1]).all()
    factor = (size + 1) // 2
    plane = np.add.outer(np.arange(9.0), 2 * np.arange(9.0))
    large = mx.nd.Deconvolution(mx.nd.array(plane[None, None]), mx.nd.array(weight[:1]), kernel=(size, size),
                                stride=(factor, factor), num_filter=1).asnumpy()[0, 0]
    inside = large[2 * size:-2 * size, 2 * size:-2 * size]
    np.testing.assert_allclose(np.diff(inside, axis=0), 1 / factor, rtol=1e-5)
    np.testing.assert_allclose(np.diff(inside, axis=1), 2 / factor, rtol=1e-5)


@pytest.mark.parametrize('mode', ['lstm', 'gru', 'rnn_tanh', 'rnn_relu'])
@pytest.mark.parametrize('bidirectional', [False, True])
def test_fused_recurrent_layers(mode, bidirectional):
    """The parts are those of the RNN operator, in its order, and fill its parameter without a gap."""
    hidden, features, gates = 3, 4, {'lstm': 4, 'gru': 3}.get(mode, 1)
    cell = {'state_cell': mx.sym.var('cell')} if mode == 'lstm' else {}
    net = mx.sym.RNN(mx.sym.var('data'), mx.sym.var('p'), mx.sym.var('state'), mode=mode, num_layers=2,
                     state_size=hidden, bidirectional=bidirectional, name='rnn', **cell)
    shape = dict(zip(net.list_arguments(), net.infer_shape(data=(1, 1, features))[0]))['p']
    parts = []

    class Watch(mx.init.Initializer):
        def _init_weight(self, name, arr):
            parts.append((str(name), arr.shape))
            arr[:] = len(parts)
        _init_bias = _init_weight

    fused = mx.init.FusedRNN(None, hidden, 2, mode, bidirectional, forget_bias=-5.0)
    whole = filled(Watch(), shape, 'rnn_parameters', attrs={'__init__': fused.dumps()})
    directions = 2 if bidirectional else 1
    forget = 4 * directions if mode == 'lstm' else 0         # biases from input and state, of two layers
    assert len(parts) == 2 * directions * gates * 4 - forget
    assert (whole == -5).sum() == forget * hidden
    first = 'l0_i2h_i_weight' if mode == 'lstm' else 'l0_i2h_r_weight' if mode == 'gru' else 'l0_i2h_weight'
    assert parts[0] == (first, (hidden, features))
    names = [name for name, _ in parts]
    assert len(set(names)) == len(names) and any(n.startswith('r1_h2h') for n in names) == bidirectional
    # the order in memory is that of the parts
    assert (np.diff([v for v in whole if v != -5]) >= 0).all()


def test_fused_recurrent_layer_with_an_initializer():
    fused = mx.init.FusedRNN('["constant", {"value": 2}]', 3, 1, 'gru')
    values = filled(mx.init.Zero(), ((4 + 3 + 2) * 3 * 3,), 'x', attrs={'__init__': fused.dumps()})
    assert sorted(set(values)) == [0, 2] and (values == 0).sum() == 2 * 3 * 3           # its biases are 0
    assert mx.init.create(fused.dumps()) == fused
    with pytest.raises(ValueError, match='cannot belong'):
        filled(mx.init.Zero(), (80,), 'x', attrs={'__init__': fused.dumps()})
    with pytest.raises(ValueError, match='mode must be one of'):
        mx.init.FusedRNN(None, 3, 1, 'lsmt')
    with pytest.raises(ValueError, match='needs the initializer of the network'):
        mx.init.FusedRNN(None, 3, 1, 'gru')._init_weight('x', mx.nd.zeros((81,)))


@pytest.mark.parametrize('init, shape, message', [
    (mx.init.Xavier(), (3,), r'fc_weight has shape \(3,\); Xavier is for arrays of 2 or more axes'),
    (mx.init.Xavier(factor_type='both'), (3, 3), "'avg', 'in' or 'out', not 'both'"),
    (mx.init.Xavier(rnd_type='normal'), (3, 3), "'uniform' or 'gaussian', not 'normal'"),
    (mx.init.Orthogonal(rand_type='gaussian'), (3, 3), "'uniform' or 'normal', not 'gaussian'")])
def test_mistakes(init, shape, message):
    with pytest.raises(ValueError, match=message):
        filled(init, shape)


# --- choosing ---

def test_mixed():
    mixed = mx.init.Mixed(['.*bias', 'fc1', '.*'], [mx.init.Zero(), mx.init.One(), mx.init.Constant(2)])
    assert (filled(mixed, (2,), 'fc1_bias') == 0).all()
    assert (filled(mixed, (2,), 'fc1_weight') == 1).all()
    assert (filled(mixed, (2,), 'fc2_weight') == 2).all()
    with pytest.raises(ValueError, match="fc2_weight matches none of the patterns 'fc1'"):
        filled(mx.init.Mixed(['fc1'], [mx.init.Zero()]), (2,), 'fc2_weight')
    with pytest.raises(AssertionError, match='1 patterns and 2 initializers'):
        mx.init.Mixed(['.*'], [mx.init.Zero(), mx.init.One()])


def test_load(tmp_path, caplog):
    path = tmp_path / 'model.params'
    mx.nd.save(str(path), {'arg:fc_weight': mx.nd.array([1, 2]), 'aux:bn_moving_mean': mx.nd.array([3])})
    for source in (path, str(path)):
        load = mx.init.Load(source, default_init=mx.init.One())
        assert filled(load, (2,), 'fc_weight').tolist() == [1, 2]
        assert filled(load, (1,), 'bn_moving_mean').tolist() == [3]
        assert filled(load, (2,), 'other_weight').tolist() == [1, 1]
    caplog.set_level(logging.INFO)
    load = mx.init.Load({'a_weight': mx.nd.ones((2,))}, verbose=True)
    filled(load, (2,), 'a_weight')
    assert caplog.messages == ['Initialized a_weight by loading']
    with pytest.raises(AssertionError, match=r'a_weight has shape \(3,\), but \(2,\)'):
        filled(load, (3,), 'a_weight')
    with pytest.raises(AssertionError, match='b_weight is not among the loaded'):
        filled(load, (2,), 'b_weight')
    with pytest.raises(AssertionError, match='not a list'):
        mx.init.Load([1])


# --- writing down ---

@pytest.mark.parametrize('init, text', [
    (mx.init.Zero(), '["zero", {}]'), (mx.init.Constant(1), '["constant", {"value": 1}]'),
    (mx.init.Normal(0.5), '["normal", {"sigma": 0.5}]'),
    (mx.init.Xavier(factor_type='in', magnitude=2.34),
     '["xavier", {"rnd_type": "uniform", "factor_type": "in", "magnitude": 2.34}]'),
    (mx.init.MSRAPrelu(), '["msraprelu", {"factor_type": "avg", "slope": 0.25}]'),
    (mx.init.Orthogonal(), '["orthogonal", {"scale": 1.414, "rand_type": "uniform"}]'),
    (mx.init.LSTMBias(), '["lstmbias", {"forget_bias": 1.0}]')])
def test_dumps(init, text):
    assert init.dumps() == text
    assert mx.init.create(text) == init and mx.init.create(text) != mx.init.One()


def test_constants_of_arrays_are_written_as_lists():
    values = np.arange(4.0).reshape(2, 2)
    for one in (values, mx.nd.array(values)):
        init = mx.init.Constant(one)
        assert json.loads(init.dumps()) == ['constant', {'value': values.tolist()}]
        again = mx.init.create(init.dumps())
        assert again == init and again != mx.init.Constant(0)
        assert (filled(again, (2, 2)) == values).all()
    assert mx.init.Constant(np.float32(2)).dumps() == '["constant", {"value": 2.0}]'


def test_names_of_initializers():
    for name, kind in (('zeros', mx.init.Zero), ('ones', mx.init.One), ('Xavier', mx.init.Xavier)):
        assert type(mx.init.create(name)) is kind
    with pytest.raises(mx.MXNetError, match="no initializer called 'xaver'"):
        mx.init.create('xaver')


def test_register():
    @mx.init.register
    @mx.init.alias('test_only_halves')
    class TestOnlyInit(mx.init.Initializer):
        def _init_weight(self, name, arr):
            arr[:] = 0.5

        def _init_default(self, name, arr):
            arr[:] = 0.25

    init = mx.init.create('test_only_halves')
    assert type(init) is TestOnlyInit and init == mx.init.create('testonlyinit')
    assert (filled(init, (2,)) == 0.5).all() and (filled(init, (2,), 'whatever') == 0.25).all()
    with pytest.raises(NotImplementedError, match='Initializer does not define _init_weight'):
        filled(mx.init.Initializer(), (2,))


def test_verbosity(caplog):
    caplog.set_level(logging.INFO)
    init = mx.init.Constant(2).set_verbosity(True)
    filled(init, (3, 3))
    filled(init.set_verbosity(True, lambda array: f'{array.size} values'), (3,), 'fc_bias')
    filled(init, (3,), 'x', attrs={'__init__': 'one'})
    assert caplog.messages == ['Initialized fc_weight as weight: 2.0', 'Initialized fc_bias as bias: 3 values',
                               'Initialized x as one: 3 values']
