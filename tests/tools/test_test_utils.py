"""The tools for tests: what they accept, what they refuse, and what they say."""
import http.server
import json
import os
import threading
import zipfile

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, sym, test_utils


# ---------------------------------------------------------------------- comparisons
def test_tolerances_follow_dtypes():
    assert test_utils.get_tols(nd.ones((1,)), np.ones((1,)), None, None) == (1e-4, 1e-3)
    assert test_utils.get_tols(nd.ones((1,), dtype='float16'), nd.ones((1,)), None, None) == (1e-2, 1e-1)
    assert test_utils.get_tols(nd.ones((1,), dtype='bfloat16'), 1.0, None, None) == (1e-2, 1e-1)
    assert test_utils.get_tols(np.ones(1, 'int32'), np.ones(1, 'int32'), None, 5) == (0, 5)
    assert test_utils.get_tols(nd.ones((1,)), nd.ones((1,)), {np.dtype('float32'): 0.5}, None)[0] == 0.5
    assert test_utils.default_numeric_eps()[np.dtype('float32')] == 2 ** -9
    assert test_utils.get_rtol() == 1e-5 and test_utils.get_atol(0.1) == 0.1 and test_utils.get_etol() == 0
    assert test_utils.default_dtype() is np.float32


@pytest.mark.parametrize('a, b, options', [
    (nd.array([1, 2]), np.array([1, 2]), {}),
    (nd.array([1, 2]), nd.array([1.00005, 2]), {}),
    (np.array([1.0, np.inf]), np.array([1.0, np.inf]), {}),
    (np.array([np.nan]), np.array([np.nan]), {'equal_nan': True}),
    (nd.ones((2, 2)), 1, {}),
    ([1.0, 2.0], np.array([1.0, 2.0]), {}),
    (np.array([True]), np.array([True]), {}),
    (nd.ones((2,), dtype='bfloat16'), nd.ones((2,)), {}),
])
def test_equal_enough(a, b, options):
    test_utils.assert_almost_equal(a, b, **options)


@pytest.mark.parametrize('a, b, options, message', [
    (nd.array([1, 2, 3]), nd.array([1, 2.5, 3]), {},
     r'1 of 3 elements \(33.33%\) of a and b differ.*at \(1,\): a=2.0+, b=2.5'),
    (np.array([np.nan, 0]), np.array([0, 0.0]), {}, r'inf x the tolerance, largest error at \(0,\)'),
    (np.zeros((2, 3)), np.eye(2, 3), {'names': ('found', 'wanted')}, r'2 of 6 .* found and wanted.*at \(0, 0\)'),
    (np.array([True]), np.array([False]), {}, 'not equal'),
    (np.zeros((2, 1)), np.zeros((2,)), {'use_broadcast': False}, r'the shapes \(2, 1\) and \(2,\) differ'),
    (np.array(1.0), np.array(2.0), {}, r'at \(\): a=1.0+, b=2.0'),
])
def test_not_equal(a, b, options, message):
    with pytest.raises(AssertionError, match='(?s)' + message):
        test_utils.assert_almost_equal(a, b, **options)


def test_as_many_of_the_worst_as_asked_for():
    with pytest.raises(AssertionError) as caught:
        test_utils.assert_almost_equal(np.arange(10.0), np.zeros(10), mismatches=(3, 10))
    lines = [line for line in str(caught.value).splitlines() if 'error at' in line]
    assert [line.partition('at ')[2][:4] for line in lines] == ['(9,)', '(8,)', '(7,)']


def test_other_comparisons():
    assert test_utils.same(nd.ones((2,)), np.ones(2)) and not test_utils.same(np.ones(2), np.ones(3))
    assert test_utils.almost_equal(np.ones(2), np.ones(2) + 1e-9)
    test_utils.assert_allclose(np.ones(2), np.ones(2))
    with pytest.raises(AssertionError):
        test_utils.assert_allclose(np.ones(2), np.ones(2) + 1e-6)
    test_utils.assert_almost_equal_ignore_nan(np.array([np.nan, 1]), np.array([5, 1.0]))
    with pytest.raises(AssertionError):
        test_utils.assert_almost_equal_ignore_nan(np.array([np.nan, 1]), np.array([5, 2.0]))
    test_utils.compare_ndarray_tuple((nd.ones((2,)), (None, nd.zeros((1,)))), (nd.ones((2,)), (3, nd.zeros((1,)))))
    x = nd.ones((4,))
    assert test_utils.same_array(x, x[:]) and test_utils.same_array(x[1:2], x[1:2])
    assert not test_utils.same_array(x, x.copy())
    assert x.asnumpy().tolist() == [1, 1, 1, 1]


def test_a_share_may_differ():
    a, b = np.zeros(10), np.eye(10)[0]
    test_utils.assert_almost_equal_with_err(a, b, etol=0.1)
    with pytest.raises(AssertionError, match='more than 5.00% of the elements differ'):
        test_utils.assert_almost_equal_with_err(a, b, etol=0.05)
    with pytest.raises(AssertionError, match='1 of 10 elements'):
        test_utils.assert_almost_equal_with_err(a, b)


def test_assert_exception():
    test_utils.assert_exception(int, ValueError, 'x')
    with pytest.raises(AssertionError, match='int raised no ValueError'):
        test_utils.assert_exception(int, ValueError, '3')
    with pytest.raises(TypeError):
        test_utils.assert_exception(int, ValueError, None)


@pytest.mark.parametrize('axis, keepdims', [(None, False), (None, True), (1, False), ((0, 2), True), (-1, False)])
def test_np_reduce(axis, keepdims):
    x = np.random.rand(2, 3, 4)
    np.testing.assert_allclose(test_utils.np_reduce(x, axis, keepdims, np.sum), x.sum(axis=axis, keepdims=keepdims))


def test_collapse_sum_like():
    x = np.ones((2, 3, 4))
    assert test_utils.collapse_sum_like(x, (3, 1)).tolist() == [[8], [8], [8]]
    assert test_utils.collapse_sum_like(np.ones((0, 2)), (2,)).tolist() == [0, 0]
    with pytest.raises(AssertionError, match=r'shape \(2, 4\) cannot be broadcast'):
        test_utils.collapse_sum_like(x, (2, 4))


# ---------------------------------------------------------------------- random arrays
def test_shapes_and_arrays():
    shapes = test_utils.rand_shape_nd(5, dim=3), test_utils.rand_shape_2d(3, 3), test_utils.rand_shape_3d(3, 3, 3)
    for shape in shapes:
        assert all(isinstance(n, int) and 1 <= n <= 3 for n in shape)
    assert 0 in test_utils.rand_shape_nd(200, dim=3, allow_zero_size=True)
    one, (two, three) = test_utils.random_arrays((2,)), test_utils.random_arrays((2, 3), ())
    assert one.shape == (2,) and two.shape == (2, 3) and three.shape == () and one.dtype == np.float32
    low, = test_utils.random_uniform_arrays((100,), low=5, high=6)
    assert 5 <= low.min() and low.max() <= 6
    assert sorted(test_utils.random_sample([1, 2, 3], 3)) == [1, 2, 3]
    with pytest.raises(AssertionError, match='4 elements cannot be drawn from 3'):
        test_utils.random_sample([1, 2, 3], 4)
    x, y = test_utils.rand_coord_2d(0, 5, 10, 12)
    assert 0 <= x < 5 and 10 <= y < 12
    assert test_utils.create_2d_tensor(2, 3).asnumpy().tolist() == [[0, 0, 0], [1, 1, 1]]
    assert test_utils.create_vector(3).asnumpy().tolist() == [0, 1, 2]
    assert test_utils.get_identity_mat_batch(2).shape == (2, 2, 2)


def test_seeds_reproduce():
    found = []
    for _ in range(2):
        np.random.seed(3)
        found.append(test_utils.rand_ndarray((2, 3)).asnumpy().tolist())
    assert found[0] == found[1]


def test_assign_each():
    x = np.array([[1.0, 2.0]])
    assert test_utils.assign_each(x, lambda v: v * 2).tolist() == [[2, 4]]
    assert test_utils.assign_each2(x, x, lambda v, w: v + w).tolist() == [[2, 4]]
    assert test_utils.assign_each(x, None).tolist() == test_utils.assign_each2(x, x, None).tolist() == [[1, 2]]
    with pytest.raises(AssertionError, match='differ'):
        test_utils.assign_each2(x, x[0], max)


@pytest.mark.parametrize('density', [0.0, 0.3, 1.0])
def test_sparse_arrays(density):
    rows, (data, indices) = test_utils.rand_sparse_ndarray((10, 3), 'row_sparse', density=density)
    assert rows.stype == 'row_sparse' and len(indices) == len(data)
    csr, (indptr, _, values) = test_utils.rand_sparse_ndarray((10, 4), 'csr', density=density)
    assert csr.stype == 'csr' and len(values) == round(40 * density) == int(indptr[-1].asscalar())
    assert test_utils.rand_ndarray((3, 3), 'csr', density=density).stype == 'csr'


def test_sparse_arrays_as_asked_for():
    rows = test_utils.create_sparse_array((5, 2), 'row_sparse', data_init=7, rsp_indices=[3, 0])
    assert rows.asnumpy().tolist() == [[7, 7], [0, 0], [0, 0], [7, 7], [0, 0]]
    none = test_utils.create_sparse_array_zd((5, 2), 'row_sparse', density=1)
    assert none.asnumpy().sum() == 0
    doubled = test_utils.create_sparse_array((4, 4), 'row_sparse', density=1, data_init=2,
                                             modifier_func=lambda v: v * 2)
    assert (doubled.asnumpy() == 4).all()
    power = test_utils.rand_sparse_ndarray((5, 16), 'csr', density=0.5, distribution='powerlaw')[0]
    assert np.count_nonzero(power.asnumpy(), axis=1).tolist() == [2, 4, 8, 16, 10]
    with pytest.raises(ValueError, match='two a row or more'):
        test_utils.rand_sparse_ndarray((5, 16), 'csr', density=0.05, distribution='powerlaw')
    with pytest.raises(AssertionError, match="not 'other'"):
        test_utils.rand_sparse_ndarray((5, 16), 'other')
    with pytest.raises(ValueError, match='density must be between 0 and 1'):
        test_utils.rand_sparse_ndarray((5, 16), 'csr', density=2)


def test_matrices():
    q = test_utils.new_orthonormal_matrix_2d(4)
    np.testing.assert_allclose(q @ q.T, np.eye(4), atol=1e-10)
    for matrix in test_utils.new_matrix_with_real_eigvals_nd((2, 3, 3)):
        values = np.linalg.eigvals(matrix)
        assert abs(values.imag).max() < 1e-9 and abs(values).max() <= 10
    symmetric = test_utils.new_sym_matrix_with_real_eigvals_nd((3, 3))
    np.testing.assert_allclose(symmetric, symmetric.T, atol=1e-10)


# ---------------------------------------------------------------------- distributions
def test_distributions():
    pytest.importorskip('scipy')
    rng = np.random.RandomState(0)
    assert test_utils.mean_check(lambda n: rng.normal(2, 1, n), 2, 1, 10000)
    assert not test_utils.mean_check(lambda n: rng.normal(2, 1, n), 3, 1, 10000)
    assert test_utils.var_check(lambda n: rng.normal(2, 3, n), 3, 10000)
    assert not test_utils.var_check(lambda n: rng.normal(2, 1, n), 3, 10000)
    buckets, probs = test_utils.gen_buckets_probs_with_ppf(lambda q: q, 4)
    assert buckets == [(0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1)] and probs == [0.25] * 4
    test_utils.verify_generator(lambda n: rng.rand(n), buckets, probs, nsamples=20000)
    test_utils.verify_generator(lambda n: rng.randint(0, 3, n), [0, 1, 2], [1 / 3] * 3, nsamples=20000)
    with pytest.raises(AssertionError, match='does not draw from this distribution'):
        test_utils.verify_generator(lambda n: rng.rand(n) ** 2, buckets, probs, nsamples=20000)


# ---------------------------------------------------------------------- surroundings
def test_environment(monkeypatch):
    monkeypatch.setenv('REMX_TEST_A', 'before')
    monkeypatch.delenv('REMX_TEST_B', raising=False)
    with pytest.raises(KeyError), test_utils.environment({'REMX_TEST_A': None, 'REMX_TEST_B': '1'}):
        assert 'REMX_TEST_A' not in os.environ and os.environ['REMX_TEST_B'] == '1'
        raise KeyError
    assert os.environ['REMX_TEST_A'] == 'before' and 'REMX_TEST_B' not in os.environ
    with test_utils.environment('REMX_TEST_A', 'now'):
        assert os.environ['REMX_TEST_A'] == 'now'
    with pytest.raises(AssertionError, match='a name and a value'), test_utils.environment('a'):
        pass


def test_discard_stderr(capfd):
    with test_utils.discard_stderr():
        os.write(2, b'from below\n')
    os.write(2, b'seen\n')
    assert capfd.readouterr().err == 'seen\n'


def test_retry():
    tries = []

    @test_utils.retry(3)
    def third_time():
        tries.append(1)
        assert len(tries) == 3

    third_time()
    assert len(tries) == 3
    with pytest.raises(AssertionError):
        test_utils.retry(2)(lambda: test_utils.assert_almost_equal(1.0, 2.0))()


def test_contexts():
    assert test_utils.default_context() == mx.cpu()
    test_utils.set_default_context(mx.cpu(2))
    try:
        assert nd.ones((1,)).context == test_utils.default_context() == mx.cpu(2)
    finally:
        test_utils.set_default_context(mx.cpu())
    assert list(test_utils.list_gpus()) == list(range(mx.num_gpus()))
    assert test_utils.is_op_runnable() and not test_utils.has_tvm_ops()
    with test_utils.environment('CD_JOB', '1'):
        assert test_utils.is_cd_run()
    with pytest.raises(OSError, match='remx im2rec'):
        with test_utils.environment('MXNET_HOME', '/nowhere'):
            test_utils.get_im2rec_path()


# ---------------------------------------------------------------------- graphs
def test_simple_forward():
    x, y = sym.var('x'), sym.var('y')
    assert test_utils.simple_forward(x * y, x=np.array([2, 3]), y=np.array([4, 5])).tolist() == [8, 15]
    both = test_utils.simple_forward(sym.Group([x + 1, x * 2]), x=np.array([2]))
    assert [b.tolist() for b in both] == [[3], [4]]


def test_check_symbolic_forward_and_backward():
    x, y = sym.var('x'), sym.var('y')
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    test_utils.check_symbolic_forward(x * y, [a, b], [a * b])
    product = sym.broadcast_mul(x, y, name='p')
    test_utils.check_symbolic_forward(product, {'y': b, 'x': a}, {'p_output': a * b}, dtype='asnumpy')
    with pytest.raises(AssertionError, match='EXPECTED_.*FORWARD_'):
        test_utils.check_symbolic_forward(x * y, [a, b], [a])
    for req in ('write', 'add', 'null', {'x': 'add', 'y': 'write'}, ['write', 'null']):
        test_utils.check_symbolic_backward(x * y, [a, b], [np.ones(2)], [b, a], grad_req=req)
    with pytest.raises(AssertionError, match='EXPECTED_x.*BACKWARD_x'):
        test_utils.check_symbolic_backward(x * y, [a, b], [np.ones(2)], [a, a])
    with pytest.raises(ValueError, match=r"arguments are given for \['x'\], but the symbol has \['x', 'y'\]"):
        test_utils.check_symbolic_forward(x * y, {'x': a}, [a])
    with pytest.raises(AssertionError, match='dtype must be'):
        test_utils.check_symbolic_forward(x * y, [a, b], [a * b], dtype='int32')


@pytest.mark.parametrize('grad_nodes', [None, ['x'], {'x': 'add', 'y': 'write'}, {'x': 'null', 'y': 'write'}])
def test_check_numeric_gradient(grad_nodes):
    x, y = sym.var('x'), sym.var('y')
    location = [np.random.rand(2, 3), np.random.rand(2, 3)]
    test_utils.check_numeric_gradient(x * sym.tanh(y), location, rtol=0.01, atol=1e-3, grad_nodes=grad_nodes)


def test_check_numeric_gradient_finds_a_wrong_one():
    x = sym.var('x')
    with pytest.raises(AssertionError, match='NUMERICAL_x.*BACKWARD_x'):
        test_utils.check_numeric_gradient(sym.BlockGrad(x) + x * 2, [np.random.rand(2, 3)])


def test_check_numeric_gradient_with_states():
    x = sym.var('data')
    norm = sym.BatchNorm(x, fix_gamma=False, name='bn')
    location = [np.random.rand(4, 2) * 3, np.ones(2), np.zeros(2)]
    test_utils.check_numeric_gradient(norm, location, [np.zeros(2), np.ones(2)], numeric_eps=1e-2, rtol=0.1, atol=0.05)


def test_check_consistency():
    x = sym.FullyConnected(sym.var('data'), num_hidden=3, name='fc')
    places = [{'ctx': mx.cpu(i), 'data': (2, 4), 'type_dict': {'data': dtype}} for i, dtype in
              enumerate((np.float64, np.float32))]
    truth = test_utils.check_consistency(x, places)
    assert truth['fc_output'].dtype == np.float64 and truth['fc_weight'].shape == (3, 4)
    test_utils.check_consistency(x, places, grad_req='null', use_uniform=True)
    test_utils.check_consistency(x, places, grad_req='add', scale=0.1)
    with pytest.raises(AssertionError, match='prediction: place 1'):
        other = sym.FullyConnected(sym.var('data') * 1.1, num_hidden=3, name='fc')
        test_utils.check_consistency([x, other], places, grad_req='null')
    with pytest.raises(AssertionError, match='two or more places'):
        test_utils.check_consistency(x, places[:1])


def test_check_speed():
    x = sym.FullyConnected(sym.var('data'), num_hidden=3)
    assert test_utils.check_speed(x, N=2, data=(2, 4)) > 0
    assert test_utils.check_speed(x, N=2, typ='forward', data=(2, 4)) > 0
    with pytest.raises(ValueError, match="typ must be 'whole' or 'forward'"):
        test_utils.check_speed(x, typ='half', data=(2, 4))


def test_same_symbol_structure():
    x = sym.var('x')
    assert test_utils.same_symbol_structure(sym.exp(x), sym.exp(sym.var('y')))
    assert not test_utils.same_symbol_structure(sym.exp(x), sym.log(x))


def test_optimizers_and_blocks():
    adam = [mx.optimizer.Adam() for _ in range(2)]
    test_utils.compare_optimizer(*adam, shape=(3, 4), dtype='float32')
    test_utils.compare_optimizer(mx.optimizer.SGD(), mx.optimizer.SGD(), [(2, 3), (4,)], 'float32', ntensors=2)
    with pytest.raises(AssertionError):
        test_utils.compare_optimizer(mx.optimizer.Adam(learning_rate=0.1), mx.optimizer.Adam(), (3, 4), 'float32')


# ---------------------------------------------------------------------- data
@pytest.fixture
def site(tmp_path):
    """A web server; its folder, its address, and the paths asked for.  `.lost` promises more than it sends."""
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=tmp_path / 'site')

        def do_GET(self):
            asked.append(self.path)
            if not self.path.endswith('.lost'):
                return super().do_GET()
            self.send_response(200)
            self.send_header('Content-Length', '100')
            self.end_headers()
            self.wfile.write(b'few')

        def log_message(self, *args):
            pass

    (tmp_path / 'site').mkdir()
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield tmp_path / 'site', f'http://127.0.0.1:{server.server_port}', asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_download(site, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, address, asked = site
    (folder / 'a.txt').write_text('one')
    assert test_utils.download(f'{address}/a.txt', dirname='got') == os.path.join('got', 'a.txt')
    (folder / 'a.txt').write_text('two')
    test_utils.download(f'{address}/a.txt', dirname='got')
    assert (tmp_path / 'got/a.txt').read_text() == 'one' and len(asked) == 1
    test_utils.download(f'{address}/a.txt', fname='b.txt', dirname='got', overwrite=True)
    assert (tmp_path / 'got/b.txt').read_text() == 'two'
    for missing in ('none.txt', 'x.lost'):
        asked.clear()
        with pytest.raises(OSError, match=f'cannot fetch {address}/{missing}'):
            test_utils.download(f'{address}/{missing}', retries=2)
        assert len(asked) == 2 and not (tmp_path / missing).exists()


def test_archives_and_models(site, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, address, _ = site
    with zipfile.ZipFile(folder / 'data.zip', 'w') as archive:
        archive.writestr('inside.txt', 'text')
    test_utils.get_zip_data('zipped', f'{address}/data.zip', 'data.zip')
    assert (tmp_path / 'zipped/inside.txt').read_text() == 'text'
    import bz2
    (folder / 'data.bz2').write_bytes(bz2.compress(b'text'))
    test_utils.get_bz2_data('packed', 'plain', f'{address}/data.bz2', 'data.bz2')
    assert os.listdir('packed') == ['plain']
    (folder / 'm.json').write_text(json.dumps({}))
    meta = {'m': {'symbol': f'{address}/m.json', 'params': f'{address}/m.json'}}
    assert test_utils.download_model('m', 'models', meta) == (os.path.join('models', 'm'), 0)
    assert sorted(os.listdir('models')) == ['m-0000.params', 'm-symbol.json']
    assert test_utils.download_model('other', 'models', meta) == (None, 0)


def test_dummy_iter():
    real = mx.io.NDArrayIter(nd.arange(6).reshape((6, 1)), batch_size=2)
    dummy = test_utils.DummyIter(real)
    assert iter(dummy) is dummy
    assert dummy.next() is dummy.next() is dummy.the_batch
    assert dummy.provide_data == real.provide_data


# ---------------------------------------------------------------------- names
def test_star_import_leaks_what_it_always_leaked(run_python):
    """Tests of MXNet programs take NumPy and mxnet itself from here."""
    names = ('np, mx, npt, rnd, os, sys, time, json, logging, OrderedDict, contextmanager, Context, current_context, '
             'array, use_np, getenv, setenv, Features, assert_almost_equal, Symbol, DummyIter')
    run_python('-c', f'from mxnet.test_utils import *; {names}')


def test_unknown_names():
    with pytest.raises(AttributeError, match="'mxnet.test_utils' has no attribute 'nothing'"):
        _ = test_utils.nothing
