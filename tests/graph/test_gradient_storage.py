"""The storage types of gradients that `simple_bind` makes, and what lazy updates make of them: as MXNet 1.9.1's."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, sym

# For a weight w, dense or row sparse: is its gradient by rows ('r') or dense ('d') as a head, behind dot(csr, .),
# behind dot(csr, ., transpose_a=True), and in a sum. Recorded from MXNet 1.9.1.
SEEN = {
    'w': (lambda w: w, 'drdd', 'rrdd'),
    'w * 2': (lambda w: w * 2, 'drdd', 'rrdd'),
    '1 - w': (lambda w: 1 - w, 'drdd', 'drdd'),
    'w + 1': (lambda w: w + 1, 'drdd', 'drdd'),
    '-w': (lambda w: -w, 'drdd', 'rrdd'),
    'exp': (sym.exp, 'drdd', 'drdd'),
    'Flatten': (sym.Flatten, 'drdd', 'drdd'),
    'w + w': (lambda w: w + w, 'drdd', 'rrdd'),
    '2w + exp(w)': (lambda w: w * 2 + sym.exp(w), 'drdd', 'drdd'),
    'w + v': (lambda w: w + sym.var('v', shape=(6, 3)), 'drdd', 'drdd'),
    'w * v': (lambda w: w * sym.var('v', shape=(6, 3)), 'dddd', 'dddd'),
    'square': (sym.square, 'dddd', 'rrdd'),
    'abs': (sym.abs, 'dddd', 'rrdd'),
    'relu': (sym.relu, 'dddd', 'rrdd'),
    'cos': (sym.cos, 'dddd', 'drdd'),
    'tanh': (sym.tanh, 'dddd', 'dddd'),
    'floor': (sym.floor, 'dddd', 'rrrr'),
    'BlockGrad': (sym.BlockGrad, 'dddd', 'rrrr'),
    'reshape': (lambda w: sym.reshape(w, shape=(6, 3)), 'dddd', 'dddd'),
    'slice': (lambda w: sym.slice_axis(w, axis=0, begin=0, end=6), 'dddd', 'dddd'),
    'to dense': (lambda w: sym.cast_storage(w, 'default'), 'drdd', 'drdd'),
    'to rows': (lambda w: sym.cast_storage(w, 'row_sparse'), 'rrdd', 'rrdd'),
    'dense . w': (lambda w: sym.dot(sym.var('y', shape=(6, 6)), w), 'dddd', 'dddd'),
}
TAILS = {
    'head': lambda h: h,
    'dot': lambda h: sym.dot(sym.var('x', stype='csr', shape=(6, 6)), h),
    'dot of the transpose': lambda h: sym.dot(sym.var('x', stype='csr', shape=(6, 6)), h, transpose_a=True),
    'sum': sym.sum,
}


@pytest.mark.parametrize('name', SEEN)
@pytest.mark.parametrize('stype', ['default', 'row_sparse'])
def test_gradients_by_rows(name, stype):
    of_weight, *wants = SEEN[name]
    found = ''
    for tail in TAILS.values():
        s = tail(of_weight(sym.var('w', stype=stype, shape=(6, 3))))
        executor = s.simple_bind(mx.cpu(), grad_req={'w': 'write'})
        assert executor.arg_dict['w'].stype == stype
        found += executor.grad_dict['w'].stype[0]
    assert found == wants[stype == 'row_sparse']


@pytest.mark.parametrize('stype', ['default', 'row_sparse'])
def test_numbers_do_not_depend_on_the_storage(stype):
    """Each of these graphs has the gradient of the same graph without sparse arrays."""
    draw = np.random.RandomState(2)
    x, w = (draw.randint(-8, 9, (6, n)).astype('float32') / 8 for n in (6, 3))
    x[:, [1, 4]] = 0
    for name, (of_weight, *_) in SEEN.items():
        if name in ('to dense', 'to rows'):
            continue
        found = []
        for of_x, of_w in (('csr', stype), ('default', 'default')):
            s = sym.dot(sym.var('x', stype=of_x, shape=(6, 6)), of_weight(sym.var('w', stype=of_w, shape=(6, 3))))
            executor = s.simple_bind(mx.cpu(), grad_req={'w': 'write'})
            nd.array(x).tostype(of_x).copyto(executor.arg_dict['x'])
            nd.array(w).tostype(of_w).copyto(executor.arg_dict['w'])
            for other in {'v', 'y'} & set(executor.arg_dict):
                executor.arg_dict[other][:] = .5
            executor.forward(is_train=True)
            executor.backward([nd.ones((6, 3))])
            found.append(executor.grad_dict['w'].asnumpy())
        np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-6, err_msg=name)


# a linear model of csr data and a dense weight, three steps of SGD; recorded from MXNet 1.9.1
TRAINED = [({}, [.9605, .9537, .9665, 1, 1, 1]), ({'momentum': .9}, [.8829, .9537, .9665, 1, 1, 1]),
           ({'wd': .1}, [.9319, .9437, .9565, 1, 1, 1]), ({'momentum': .9, 'wd': .1}, [.8293, .9437, .9565, 1, 1, 1])]


@pytest.mark.parametrize('stype', ['default', 'row_sparse'])
@pytest.mark.parametrize('kvstore', [None, 'local', 'device'])
@pytest.mark.parametrize('options, want', TRAINED)
def test_training_on_csr_data_leaves_other_features_alone(options, want, kvstore, stype):
    score = sym.dot(sym.var('x', stype='csr'), sym.var('w_weight', stype=stype, shape=(6, 1)))
    module = mx.mod.Module(sym.LinearRegressionOutput(score, sym.var('L')), data_names=['x'], label_names=['L'])
    module.bind([('x', (4, 6))], [('L', (4, 1))])
    module.init_params(mx.init.One())
    module.init_optimizer(kvstore, 'sgd', {'learning_rate': .1, **options})
    for step in range(3):
        x = np.zeros((4, 6), 'float32')
        x[0, step], x[2, 0] = 1, .5
        labels = np.random.RandomState(step).randint(-255, 256, size=(4, 1)) / 256 + 1 / 1024
        module.forward_backward(mx.io.DataBatch([nd.array(x).tostype('csr')], [nd.array(labels)]))
        module.update()
    np.testing.assert_allclose(module.get_params()[0]['w_weight'].asnumpy().ravel(), want, atol=6e-5)
