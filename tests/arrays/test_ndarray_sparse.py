"""Sparse storage: making, converting, writing, saving csr and row_sparse arrays; operators see them as dense."""
import base64
import copy
import operator
import pickle

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd
from mxnet.base import MXNetError, NotSupportedForSparseNDArray

sparse = nd.sparse
DENSE = [[0, 1, 0], [2, 0, 0], [0, 0, 0], [0, 0, 3]]
STYPES = ['csr', 'row_sparse']

# What MXNet 1.9.1 wrote for the two arrays of `upstream_arrays`: nd.save, and pickle.dumps(..., 2)
SAVED = (
    '5&-}J0000000000000000ssI200000$@-J|0ssI20RR910{{R3000000ssI20ssI2000000{{R3000000RR9100000000001^@s60RR910{{R300000'
    '1^@s60RR910{{R300000004kL000000000$00000000000RR91000000{{R30000000000000000RR91000000ssI200000$@-J|0RR910ssI20ssI2'
    '000000ssI2000000ssI21poj5000000ssI2000000RR9100000000001^@s60RR910ssI200000004kL0000$000000000000000000000ssI200000'
    '0ssI2000000RR9100000V*vmF000000CE')
PICKLED = (
    'fC61{04QT^cy48ME^cIDa&lpLE^}~Ua&u)0LsL>tL_u<LVR;I10ZxT+0#b1UeQ^X>1^@s6Xkl(-Y-Mo;V_#olb!lvLX>MO%3SxP5Wnpr1VR;I124i1i'
    'Z)9a-a|&f{V{c?-3ULQml>h($!->PX!jr?f0ssI20RR910{{R3000000ssI20ssI2000000{{R3000000RR9100000000001^@s60RR910{{R300000'
    '1^@s60RR910{{R300000006>(KL7v#00000KmY&$00000009610000000RI3000000000000000009610000000IC2000000C5Od1^@s6Y+-b1ZZUBQ'
    'hH(l~aSMfU3{r6ob7Es{cy48ME^cIDa&lpLE^}~Ua&u)0Qg3%taA9(DWllsva&lpL3ULl-0#b1geQ^+I1!x9n2Uu|c006^@!@9zg!?^(f0006200062'
    '00000000620000000062000F5000000006200000000310000000000000I600031000620000000000!hk;j002M$00000000000000000002000000'
    '001S5oig9aS~E-6NPaUQgIb?Vr4D')


def upstream_arrays():
    """With zeros among the stored values, which must survive."""
    return [sparse.csr_matrix(([1., 0, 2], [0, 1, 2], [0, 1, 3]), shape=(2, 3)),
            sparse.row_sparse_array(([[1, 2], [0, 0]], [0, 2]), shape=(5, 2))]


def make(stype='csr', values=DENSE, **kwargs):
    return nd.array(values, **kwargs).tostype(stype)


def parts(x):
    names = ('data', 'indptr', 'indices') if x.stype == 'csr' else ('data', 'indices')
    return [getattr(x, name).asnumpy().tolist() for name in names]


def same(x, y):
    assert type(x) is type(y) and x.shape == y.shape and x.dtype == y.dtype
    assert parts(x) == parts(y)


# ---------------------------------------------------------------------- what an array is
@pytest.mark.parametrize('stype, cls, values', [
    ('csr', 'CSRNDArray', [[1, 2, 3], [0, 1, 2, 2, 3], [1, 0, 2]]),
    ('row_sparse', 'RowSparseNDArray', [[[0, 1, 0], [2, 0, 0], [0, 0, 3]], [0, 1, 3]]),
])
def test_parts_and_properties(stype, cls, values):
    x = make(stype)
    assert type(x).__name__ == cls and isinstance(x, sparse.BaseSparseNDArray) and isinstance(x, nd.NDArray)
    assert parts(x) == values
    assert (x.stype, x.shape, x.ndim, len(x), x.dtype, x.context) == (stype, (4, 3), 2, 4, np.float32, mx.cpu())
    assert x.indices.dtype == np.int64 and x._num_aux == len(values) - 1
    assert repr(x) == f'\n<{cls} 4x3 @cpu(0)>'
    assert cls in x._repr_html_() and '3 stored' in x._repr_html_()
    assert x.asnumpy().tolist() == DENSE and np.asarray(x).tolist() == DENSE
    assert x.grad is None and x.wait_to_read() is None
    x.data[:] = 7                                       # a copy
    assert x.asnumpy().tolist() == DENSE


@pytest.mark.parametrize('stype', STYPES)
def test_what_sparse_arrays_lack(stype):
    x = make(stype)
    with pytest.raises(NotImplementedError, match='ambiguous'):
        x.size                                          # noqa: B018
    with pytest.raises(NotSupportedForSparseNDArray, match='reshape.* is not available for a sparse array'):
        x.reshape((2, 6))
    with pytest.raises(NotImplementedError, match='cannot be set alone'):
        x.data = nd.ones((3,))
    with pytest.raises(ValueError, match='np.ndarray'):
        x.as_np_ndarray()
    with pytest.raises(ValueError, match='several elements'):
        bool(x)
    with pytest.raises(ValueError, match='without a copy'):
        x.__array__(copy=False)
    with pytest.raises(MXNetError, match=f'to_dlpack_for_write writes into the memory of a {stype} array'):
        x.to_dlpack_for_write()
    with pytest.raises(TypeError, match='is made by'):
        type(x)(torch.ones(2, 2))


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64', 'bfloat16', 'uint8', 'int8', 'int32', 'int64',
                                   'bool'])
@pytest.mark.parametrize('stype', STYPES)
def test_dtypes(stype, dtype):
    x, dense = make(stype, dtype=dtype), nd.array(DENSE, dtype=dtype)
    assert x.dtype == dense.dtype
    assert np.array_equal(x.asnumpy(), dense.asnumpy())
    as_float = x.astype('float32')
    assert as_float.stype == stype and as_float.dtype == np.float32
    assert x.astype(dtype, copy=False) is x and x.astype(dtype) is not x


@pytest.mark.parametrize('shape', [(1, 1), (0, 3), (3, 0), (7, 5), (40, 30)])
@pytest.mark.parametrize('density', [0, 0.3, 1])
@pytest.mark.parametrize('stype', STYPES)
def test_dense_and_back(stype, density, shape):
    rng = np.random.default_rng(0)
    values = (rng.random(shape) * (rng.random(shape) < density)).astype('float32')
    x = make(stype, values)
    x.check_format()
    assert np.array_equal(x.asnumpy(), values)
    if stype == 'csr':
        assert len(x.data) == np.count_nonzero(values)
        assert x.indptr.asnumpy().tolist() == [0, *np.cumsum((values != 0).sum(1))]
    else:
        assert x.indices.asnumpy().tolist() == np.flatnonzero((values != 0).any(1)).tolist()


def test_row_sparse_of_any_number_of_axes():
    values = np.zeros((4, 2, 3), dtype='float32')
    values[2, 1] = 5
    x = make('row_sparse', values)
    assert x.data.shape == (1, 2, 3) and x.indices.asnumpy().tolist() == [2]
    assert np.array_equal(x.asnumpy(), values)
    assert parts(make('row_sparse', [0, 3, 0])) == [[3], [1]]


def test_nan_is_stored_and_minus_zero_is_not():
    assert parts(make('csr', [[float('nan'), 0, -0.0]]))[1:] == [[0, 1], [0]]


def test_storage_types():
    x = nd.array(DENSE)
    for stype in STYPES:
        y = x.tostype(stype)
        assert y.tostype('default').stype == 'default' and type(y.tostype('default')) is nd.NDArray
        assert y.tostype(stype) is not y
        same(y.tostype(stype), y)
        same(nd.cast_storage(x, stype), y)
        assert nd.cast_storage(y, stype='default').asnumpy().tolist() == DENSE
        with pytest.raises(MXNetError, match="not 'coo'"):
            y.tostype('coo')
    with pytest.raises(MXNetError, match="not 'coo'"):
        x.tostype('coo')
    with pytest.raises(ValueError, match='cannot become a row_sparse one'):
        make('csr').tostype('row_sparse')
    with pytest.raises(ValueError, match='cannot become a csr one'):
        make('row_sparse').tostype('csr')
    for bad in (nd.ones((3,)), nd.ones((1, 2, 3))):
        with pytest.raises(ValueError, match='csr array has two axes'):
            bad.tostype('csr')
        with pytest.raises(MXNetError, match='csr array has two axes'):
            nd.cast_storage(bad, stype='csr')
    with pytest.raises(MXNetError, match='csr array cannot become a row_sparse one'):
        nd.cast_storage(make('csr'), 'row_sparse')
    with pytest.raises(MXNetError, match='argument stype is missing'):
        nd.cast_storage(x)
    out = sparse.zeros('csr', (4, 3))
    assert nd.cast_storage(x, stype='csr', out=out) is out and out.asnumpy().tolist() == DENSE
    with pytest.raises(MXNetError, match='out is a default array'):
        nd.cast_storage(x, stype='csr', out=nd.zeros((4, 3)))


# ---------------------------------------------------------------------- making arrays
def test_csr_matrix_of_parts():
    x = sparse.csr_matrix(([1, 2, 3], [1, 0, 2], [0, 1, 2, 2, 3]), shape=(4, 3))
    same(x, make('csr'))
    assert sparse.csr_matrix(([1, 2], [0, 5], [0, 1, 2])).shape == (2, 6)
    kept = sparse.csr_matrix((np.array([1, 2]), nd.array([0, 1]), torch.tensor([0, 1, 2])))
    assert kept.dtype == np.int64 and kept.indptr.dtype == np.int64
    assert sparse.csr_matrix((np.array([1., 2]), [0, 1], [0, 1, 2]), dtype='float16').dtype == np.float16
    assert parts(sparse.csr_matrix(([], [], [0, 0]), shape=(1, 2))) == [[], [0, 0], []]


@pytest.mark.parametrize('arguments, error, message', [
    ((([], [], [0, 0]),), ValueError, 'the shape must be given'),
    ((([], [], []), (0, 2)), ValueError, 'indptr one entry or more'),
    ((([[1]], [0], [0, 1]), (1, 1)), ValueError, 'have one axis'),
    ((([1], [0], [0, 1]), (3, 3)), MXNetError, 'needs 4 entries in indptr, not 2'),
    ((([1, 2], [0], [0, 1]), (1, 3)), MXNetError, 'as many indices as values'),
    ((([1], [0], [0, 1]), (3,)), ValueError, 'two axes'),
    (((1, 2, 3, 4),), ValueError, '2 or 3 members'),
    (((2, 3), (2, 4)), ValueError, 'the shape is'),
    (([[1, 2]], (2, 4)), ValueError, 'the shape is'),
    (([1, 2],), ValueError, 'two axes'),
    ((([1, 2], ([0, 1], [0])),), ValueError, 'the same length'),
    ((([1], ([0], [4])), (2, 2)), ValueError, 'column has indices outside'),
    ((([], ([], [])),), ValueError, 'the shape must be given'),
])
def test_csr_matrix_of_nonsense(arguments, error, message):
    with pytest.raises(error, match=message):
        sparse.csr_matrix(*arguments)


def test_csr_matrix_of_coordinates():
    x = sparse.csr_matrix(([3, 1, 2, 4], ([1, 0, 0, 1], [0, 1, 1, 2])))
    assert x.dtype == np.int64 and parts(x) == [[3, 3, 4], [0, 1, 3], [1, 0, 2]]
    x.check_format()
    y = sparse.csr_matrix((nd.array([1, 2]), (np.array([2, 0]), nd.array([1, 1]))), shape=(4, 4))
    assert y.dtype == np.float32 and y.asnumpy()[2, 1] == 1 and y.asnumpy()[0, 1] == 2
    assert parts(sparse.csr_matrix(([], ([], [])), shape=(2, 2)))[1] == [0, 0, 0]


def test_row_sparse_array():
    x = sparse.row_sparse_array(([[0, 1, 0], [2, 0, 0], [0, 0, 3]], [0, 1, 3]), shape=(4, 3))
    same(x, make('row_sparse'))
    assert sparse.row_sparse_array(([[1, 2]], [4])).shape == (5, 2)
    assert sparse.row_sparse_array((np.array([[1, 2]]), [4])).dtype == np.int64
    assert sparse.row_sparse_array((np.int32(2), 3)).shape == (2, 3)
    assert sparse.row_sparse_array((2, 3, 4)).data.shape == (0, 3, 4)
    same(sparse.row_sparse_array(DENSE), make('row_sparse'))
    assert sparse.row_sparse_array(np.eye(2)).dtype == np.float64
    for arguments, error, message in [
            (((2,),), ValueError, 'a shape of two or more'),
            (((2, 3), (2, 4)), ValueError, 'the shape is'),
            ((([], []),), ValueError, 'the shape must be given'),
            ((([], []), (5, 2)), ValueError, 'data has 2 axes'),
            ((([[1, 2]], [[0]]), (5, 2)), ValueError, 'indices one'),
            ((([[1, 2]], [0]), (5, 3)), MXNetError, r'needs data of shape \(1, 3\)'),
            ((make('csr'),), ValueError, 'csr array cannot become')]:
        with pytest.raises(error, match=message):
            sparse.row_sparse_array(*arguments)
    with pytest.raises(ValueError, match='row_sparse array cannot become'):
        sparse.csr_matrix(make('row_sparse'))


@pytest.mark.parametrize('stype', STYPES)
def test_zeros(stype):
    for x in (sparse.zeros(stype, (2, 3)), nd.zeros((2, 3), stype=stype), sparse.empty(stype, (2, 3)),
              nd.empty((2, 3), stype=stype)):
        assert x.stype == stype and x.dtype == np.float32 and not x.asnumpy().any() and len(x.indices) == 0
    x = sparse.zeros(stype, (2, 3), ctx=mx.cpu(1), dtype='int32')
    assert x.context == mx.cpu(1) and x.dtype == np.int32 and x.data.context == mx.cpu(1)
    out = make(stype)
    assert sparse.zeros(stype, (4, 3), out=out) is out and not out.asnumpy().any()


def test_zeros_of_nonsense():
    assert sparse.zeros('default', (2, 3)).stype == 'default'
    assert sparse.zeros('row_sparse', 3).shape == (3,)
    with pytest.raises(ValueError, match="not 'coo'"):
        sparse.zeros('coo', (2, 3))
    with pytest.raises(MXNetError, match='two axes'):
        sparse.zeros('csr', (2,))
    with pytest.raises(ValueError, match='nd.empty makes dense'):
        sparse.empty('default', (2, 3))


def test_array_keeps_the_storage_type():
    for stype in STYPES:
        x = make(stype, dtype='float64')
        for y in (sparse.array(x), nd.array(x)):
            assert y is not x
            same(y, x)
        moved = sparse.array(x, ctx=mx.cpu(1), dtype='int32')
        assert moved.context == mx.cpu(1) and moved.dtype == np.int32 and moved.asnumpy().tolist() == DENSE
    for bad in ([1], np.eye(2), nd.ones((2, 2))):
        with pytest.raises(ValueError, match='takes a sparse array'):
            sparse.array(bad)


def test_scipy():
    scipy_sparse = pytest.importorskip('scipy.sparse')
    x = make('csr', dtype='float64')
    matrix = x.asscipy()
    assert scipy_sparse.isspmatrix_csr(matrix) and matrix.dtype == np.float64 and matrix.toarray().tolist() == DENSE
    matrix.data[:] = 0                                  # a copy
    assert x.asnumpy().tolist() == DENSE
    for source in (scipy_sparse.csr_matrix(DENSE), scipy_sparse.coo_matrix(DENSE), scipy_sparse.csc_array(DENSE)):
        for y in (nd.array(source), sparse.array(source), sparse.csr_matrix(source)):
            assert y.stype == 'csr' and y.dtype == np.int64 and y.asnumpy().tolist() == DENSE
            y.check_format()
    doubled = scipy_sparse.csr_matrix((np.array([1., 2, 3]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    assert parts(nd.array(doubled, dtype='float32')) == [[2, 4], [0, 2], [0, 2]]
    assert doubled.nnz == 3                             # left as it was


# ---------------------------------------------------------------------- the parts a program gives
@pytest.mark.parametrize('data, indices, indptr', [
    ([7, 8, 9], [0, 2, 1], [0, 5, 2, 3]), ([7, 8, 9], [2, 1, 1], [0, 2, 2, 3]), ([7, 8, 9], [1, 2, 1], [0, 2, 2, 4]),
    ([7, 8, 9], [0, 2, 1], [0, -2, 2, 3]), ([7, 8, 9], [0, 7, 1], [0, 1, 2, 3]), ([7, 8, 9], [0, -7, 1], [0, 1, 2, 3]),
    ([7, 8, 9], [0, 0, 1], [0, 2, 2, 3]), ([7, 8, 9], [0, 1, 1], [1, 2, 2, 3])])
def test_check_format_of_csr(data, indices, indptr):
    x = sparse.csr_matrix((data, indices, indptr), shape=(3, 4))
    x.check_format(full_check=False)
    with pytest.raises(MXNetError, match='csr array'):
        x.check_format()


@pytest.mark.parametrize('indices', [[1, 4], [1, 0], [1, -2], [1, 1]])
def test_check_format_of_row_sparse(indices):
    x = sparse.row_sparse_array(([[1, 2], [3, 4]], indices), shape=(3, 2))
    x.check_format(full_check=False)
    with pytest.raises(MXNetError, match='row_sparse array'):
        x.check_format()


def test_indices_outside_of_the_array_are_an_error_when_used():
    x = sparse.csr_matrix(([1, 2], [0, 9], [0, 1, 2]), shape=(2, 3))
    y = sparse.row_sparse_array(([[1, 2]], [7]), shape=(3, 2))
    uses = [nd.NDArray.asnumpy, lambda z: z.tostype('default'), lambda z: z + 1, lambda z: nd.square(z),
            lambda z: z * nd.ones(z.shape)]
    for use in uses:
        with pytest.raises(MXNetError, match='must be from 0 to 2, not 9'):
            use(x)
        with pytest.raises(MXNetError, match='must be from 0 to 2, not 7'):
            use(y)
    with pytest.raises(MXNetError, match='not 9'):
        x[0:1]


def test_rows_in_any_order():
    x = sparse.row_sparse_array(([[1, 2], [3, 4]], [2, 0]), shape=(3, 2))
    assert x.asnumpy().tolist() == [[3, 4], [0, 0], [1, 2]]


# ---------------------------------------------------------------------- indexing
def test_rows_of_csr():
    x = make('csr')
    for key in (0, 3, -1, -4, slice(1, 3), slice(-2, -1), slice(2, 9), slice(None, 2), slice(2, None), slice(3, 1),
                slice(0, 2, 1), np.int64(1)):
        y = x[key]
        y.check_format()
        expected = np.array(DENSE)[key]
        assert y.stype == 'csr' and y.asnumpy().tolist() == expected.reshape(-1, 3).tolist(), key
    assert x[:] is x
    assert [row.asnumpy().tolist() for row in x] == [[row] for row in DENSE]
    taken = x[0:2]
    x[:] = 0
    assert taken.asnumpy().tolist() == DENSE[:2]
    for key, error in [(4, IndexError), (-5, IndexError), (slice(0, 4, 2), ValueError), ((0, 1), ValueError),
                       ([0, 1], ValueError), (nd.array([0]), ValueError), (None, ValueError)]:
        with pytest.raises(error):
            x[key]


def test_rows_of_row_sparse():
    x = make('row_sparse')
    assert x[:] is x
    for key in (0, slice(0, 2), (0, 1), [0]):
        with pytest.raises(ValueError, match='retain'):
            x[key]


def test_retain():
    x = make('row_sparse')
    assert x.retain(nd.array([3, 2])).asnumpy().tolist() == [[0] * 3, [0] * 3, [0] * 3, [0, 0, 3]]
    assert sparse.retain(x, nd.array([0, 1], dtype='int64')).asnumpy().tolist() == [*DENSE[:2], [0] * 3, [0] * 3]
    assert not sparse.retain(x, nd.array([])).asnumpy().any()
    assert not sparse.retain(sparse.zeros('row_sparse', (4, 3)), nd.array([1])).asnumpy().any()
    out = sparse.zeros('row_sparse', (4, 3))
    assert sparse.retain(data=x, indices=nd.array([1]), out=out) is out
    assert out.asnumpy()[1].tolist() == DENSE[1] and parts(out)[1] == [1]
    for bad, message in [(lambda: sparse.retain(make('csr'), nd.array([0])), 'row_sparse array, not a csr'),
                         (lambda: sparse.retain(nd.ones((2, 2)), nd.array([0])), 'not a default'),
                         (lambda: sparse.retain(x, nd.array([4])), 'from 0 to 3'),
                         (lambda: sparse.retain(x), 'indices is missing'),
                         (lambda: sparse.retain(x, nd.array([0]), garbage=1), 'unknown argument garbage')]:
        with pytest.raises(MXNetError, match=message):
            bad()


# ---------------------------------------------------------------------- writing
@pytest.mark.parametrize('stype', STYPES)
def test_assignment(stype):
    x = make(stype)
    other = np.array([[0, 0, 0], [4, 0, 0], [0, 5, 0], [0, 0, 0]], dtype='float32')
    for value in (nd.array(other), make(stype, other), other, other.tolist(), nd.array(other, dtype='float64'),
                  make(stype, other, dtype='int32'), torch.from_numpy(other)):
        x[:] = DENSE
        x[:] = value
        same(x, make(stype, other))
    for number in (0, 2, np.float32(3)):
        x[:] = number
        assert x.stype == stype and (x.asnumpy() == float(number)).all()
    x[:] = DENSE
    x[:] = x
    assert x.asnumpy().tolist() == DENSE
    foreign = make('row_sparse' if stype == 'csr' else 'csr')
    for key, value, error in [(0, 1, TypeError), ((0, 0), 1, TypeError), (slice(1, 2), 0, ValueError),
                              (slice(None), nd.ones((2, 2)), MXNetError), (slice(None), [1, 2], MXNetError),
                              (slice(None), foreign, TypeError), (slice(None), 'abc', TypeError)]:
        with pytest.raises(error):
            x[key] = value
    assert x.asnumpy().tolist() == DENSE


@pytest.mark.parametrize('stype', STYPES)
def test_written_values_are_not_shared(stype):
    x, source = sparse.zeros(stype, (4, 3)), make(stype)
    x[:] = source
    source[:] = 0
    y = x.copy()
    x[:] = 1
    assert y.asnumpy().tolist() == DENSE


@pytest.mark.parametrize('stype', STYPES)
def test_copyto(stype):
    x = make(stype)
    dense = nd.zeros((4, 3), dtype='int32')
    assert x.copyto(dense) is dense and dense.asnumpy().tolist() == DENSE
    other = sparse.zeros(stype, (4, 3), dtype='float64')
    assert x.copyto(other) is other and other.dtype == np.float64 and other.asnumpy().tolist() == DENSE
    assert nd.array(DENSE).copyto(other) is other and parts(other) == parts(x)
    nd.zeros((4, 3)).copyto(other)
    assert len(other.indices) == 0
    for moved in (x.copyto(mx.cpu(1)), x.as_in_context(mx.cpu(1))):
        assert moved.context == mx.cpu(1)
        same(moved, x)
    assert x.as_in_context(mx.cpu()) is x
    with pytest.warns(RuntimeWarning, match='to itself'):
        x.copyto(x)
    for bad in (nd.zeros((3, 3)), sparse.zeros(stype, (3, 3))):
        with pytest.raises((ValueError, MXNetError), match='does not fit'):
            x.copyto(bad)
    foreign = sparse.zeros('row_sparse' if stype == 'csr' else 'csr', (4, 3))
    with pytest.raises(TypeError, match='cannot be stored'):
        x.copyto(foreign)
    with pytest.raises(TypeError, match='Context'):
        x.copyto('cpu')


@pytest.mark.parametrize('stype', STYPES)
def test_out_and_in_place(stype):
    dense = np.array(DENSE, dtype='float32')
    x = make(stype)
    assert nd.square(nd.array(DENSE), out=x) is x
    same(x, make(stype, dense ** 2))
    nd.square(x, out=x)
    same(x, make(stype, dense ** 4))
    for inplace, other in [(operator.iadd, 1), (operator.isub, 2), (operator.imul, 3), (operator.itruediv, 2),
                           (operator.imod, 2), (operator.iadd, nd.ones((4, 3))),
                           (operator.iadd, make(stype)), (operator.isub, make(stype)), (operator.imul, make(stype))]:
        x = make(stype)
        value = other if isinstance(other, int) else other.asnumpy()
        result = inplace(x, other)
        assert result is x and x.stype == stype
        np.testing.assert_allclose(x.asnumpy(), inplace(dense.copy(), value), rtol=1e-6)
    x = before = make(stype)
    x **= 2                     # a new array, as in upstream
    np.testing.assert_allclose(x.asnumpy(), dense ** 2, rtol=1e-6)
    same(before, make(stype))
    with pytest.raises(MXNetError, match='shape'):
        nd.square(nd.ones((2, 2)), out=x)


def test_operators_that_change_their_inputs():
    weight, gradient = nd.array(DENSE).tostype('row_sparse'), nd.ones((4, 3))
    momentum = sparse.zeros('row_sparse', (4, 3))
    nd.sgd_mom_update(weight, gradient, momentum, out=weight, lr=0.5, momentum=0.9)
    assert weight.stype == momentum.stype == 'row_sparse'
    assert momentum.asnumpy().tolist() == [[-0.5] * 3] * 4
    assert np.allclose(weight.asnumpy(), np.array(DENSE) - 0.5)


# ---------------------------------------------------------------------- arithmetic
A = np.array(DENSE, dtype='float32')
B = np.array([[0, 4, 5], [6, 0, 0], [0, 0, 0], [7, 0, 0]], dtype='float32')
ROW, COLUMN = np.array([1, 2, 4], dtype='float32'), np.array([[1], [2], [4], [8]], dtype='float32')


@pytest.mark.parametrize('op', [operator.add, operator.sub, operator.mul, operator.truediv], ids=lambda op: op.__name__)
@pytest.mark.parametrize('stype', STYPES)
def test_arithmetic(stype, op):
    x, y, foreign = make(stype, A), make(stype, B), make('row_sparse' if stype == 'csr' else 'csr', B)
    sums, product = op in (operator.add, operator.sub), op is operator.mul
    csr_product = stype == 'csr' and not sums
    with np.errstate(all='ignore'):
        for lhs, rhs, expected, keeps in [
                (x, y, op(A, B), sums or product), (x, foreign, op(A, B), False),
                (x, nd.array(B + 1), op(A, B + 1), product), (nd.array(B + 1), x, op(B + 1, A), False),
                (x, 2, op(A, 2), not sums), (x, 0.5, op(A, .5), not sums), (2, x, op(2, A), product),
                (x, nd.array(ROW), op(A, ROW), csr_product), (x, nd.array(COLUMN), op(A, COLUMN), csr_product),
                (nd.array(ROW), x, op(ROW, A), False)]:
            result = op(lhs, rhs)
            assert result.stype == (stype if keeps else 'default'), (lhs, rhs)
            assert np.array_equal(result.asnumpy(), expected, equal_nan=True), (lhs, rhs)
    if sums:
        assert op(x, 0).stype == stype and op(x, 0).asnumpy().tolist() == DENSE
    assert (-x).stype == stype and (-x).asnumpy().tolist() == (-A).tolist()
    assert x.asnumpy().tolist() == DENSE                # left as it was


def test_elements_that_are_not_stored_stay_zero():
    x = make('csr') / 0
    assert np.array_equal(x.asnumpy(), np.where(A != 0, np.inf, 0))
    assert (make('csr') / nd.array([0, 1, 1])).asnumpy().tolist() == [[0, 1, 0], [np.inf, 0, 0], [0, 0, 0], [0, 0, 3]]


def test_functions_of_two_numbers_and_of_nonsense():
    assert (sparse.add(1, 2), sparse.subtract(1, 2), sparse.multiply(3, 2), sparse.divide(1, 2)) == (3, -1, 6, 0.5)
    x = make('csr')
    assert sparse.subtract(1, x).asnumpy().tolist() == (1 - A).tolist()
    assert sparse.multiply(2, x).stype == sparse.multiply(nd.array(B), x).stype == 'csr'
    for function in (sparse.add, sparse.subtract, sparse.multiply, sparse.divide):
        with pytest.raises(TypeError, match='not supported'):
            function(x, 'a')
        with pytest.raises(MXNetError):
            function(x, nd.ones((5, 5)))
        with pytest.raises(MXNetError, match='same dtype'):
            function(x, nd.ones((4, 3), dtype='float64'))


@pytest.mark.parametrize('stype', STYPES)
def test_integers(stype):
    x = make(stype, dtype='int32')
    for result, expected in [(x * 2, A * 2), (x / 2, A // 2), (x + x, A + A), (x * x, A * A)]:
        assert result.dtype == np.int32 and result.stype == stype and result.asnumpy().tolist() == expected.tolist()


@pytest.mark.parametrize('stype', STYPES)
def test_other_operators_are_dense(stype):
    x = make(stype)
    with np.errstate(all='ignore'):
        for result, expected in [
                (x ** 2, A ** 2), (2 ** x, 2 ** A), (x % 2, A % 2), (x == 0, A == 0), (x > -1, A > -1), (-1 < x,
                                                                                                         A > -1),
                (x >= nd.array(B), A >= B), (nd.array(B) < x, B < A), (x != x, A != A), (x.T, A.T),
                (nd.cos(x), np.cos(A)), (x.exp(), np.exp(A)), (x.sum(axis=1), A.sum(1)),
                (sparse.sum(x, axis=0), A.sum(0)),
                (nd.dot(x, nd.array(B.T)), A @ B.T), (sparse.dot(x, make(stype, B), transpose_a=True), A.T @ B),
                (nd.concat(x, x, dim=1), np.concatenate([A, A], 1)), (x.flatten(), A), (x.expand_dims(0), A[None]),
                (x.broadcast_to((2, 4, 3)), np.broadcast_to(A, (2, 4, 3))),
                (nd.where(x, nd.array(B), x), np.where(A, B, A)),
                (x.reshape_like(nd.ones((3, 4))), A.reshape(3, 4)), (nd.ones_like(x), np.ones_like(A))]:
            assert np.allclose(result.asnumpy(), expected)
            assert result.stype == 'default'
    assert x.asnumpy().tolist() == DENSE


@pytest.mark.parametrize('stype', STYPES)
def test_dense_arrays_take_sparse_ones(stype):
    x = nd.zeros((4, 3))
    x[:] = make(stype)
    x += make(stype)
    assert x.asnumpy().tolist() == (A * 2).tolist()
    x[1:3] = make(stype, DENSE[:2])
    assert x.asnumpy()[1:3].tolist() == DENSE[:2]


# ---------------------------------------------------------------------- gradients
@pytest.mark.parametrize('stype', STYPES)
def test_gradient_through_conversions(stype):
    x = nd.array(DENSE)
    x.attach_grad()
    weights = nd.array(np.arange(12).reshape(4, 3))
    for compute, expected in [
            (lambda: x.tostype(stype) * weights, weights.asnumpy()),
            (lambda: (x.tostype(stype) * 2).tostype('default') * x, A * 4),
            (lambda: x.tostype(stype) * x.tostype(stype), A * 2),
            (lambda: x.tostype(stype).astype('float64').astype('float32'), np.ones((4, 3))),
            (lambda: x.tostype(stype).copy() + x, np.full((4, 3), 2)),
            (lambda: x.tostype(stype).detach() * x, A),
            (lambda: nd.square(x.tostype(stype)), A * 2)]:
        with autograd.record():
            y = compute()
        y.backward()
        assert x.grad.asnumpy().tolist() == expected.tolist()


def test_gradient_through_rows():
    x = nd.array(DENSE)
    x.attach_grad()
    with autograd.record():
        y = x.tostype('csr')[1:3] * 3
    y.backward()
    assert x.grad.asnumpy().tolist() == [[0] * 3, [3] * 3, [3] * 3, [0] * 3]
    with autograd.record():
        y = sparse.retain(x.tostype('row_sparse'), nd.array([3]))
    y.backward()
    assert x.grad.asnumpy().tolist() == [[0] * 3, [0] * 3, [0] * 3, [1] * 3]


@pytest.mark.parametrize('stype', STYPES)
def test_gradient_of_a_sparse_array(stype):
    x = make(stype)
    x.attach_grad()
    assert x.grad.stype == stype and len(x.grad.indices) == 0
    for _ in range(2):
        with autograd.record():
            y = nd.square(x) + x * 3
        y.backward()
        assert x.grad.stype == stype and np.allclose(x.grad.asnumpy(), 2 * x.asnumpy() + 3)
        x[:] = B                                # the next pass must see it
    assert x.asnumpy().tolist() == B.tolist()


@pytest.mark.parametrize('stype', STYPES)
def test_sparse_gradient_of_a_dense_array(stype):
    x = nd.array(DENSE)
    x.attach_grad(grad_req='add', stype=stype)
    for _ in range(2):
        with autograd.record():
            y = nd.square(x)
        y.backward()
    assert x.grad.stype == stype and x.grad.asnumpy().tolist() == (A * 4).tolist()


def test_attaching_a_gradient_leaves_the_parts():
    x = upstream_arrays()[0]
    x.attach_grad()
    assert parts(x) == parts(upstream_arrays()[0])


def test_writing_while_recording():
    x = make('csr')
    x.attach_grad()
    with autograd.record():
        for write in (lambda: x.__setitem__(slice(None), 0), lambda: x.__iadd__(x), lambda: nd.square(x, out=x)):
            with pytest.raises(MXNetError, match='while recording'):
                write()
        z = sparse.zeros('csr', (4, 3))
        z[:] = nd.square(x)                         # nothing knows z: it takes part
        y = z * 2
    y.backward()
    assert x.grad.asnumpy().tolist() == (A * 4).tolist()


def test_what_was_recorded_does_not_follow_later_writes():
    x = nd.array(DENSE)
    x.attach_grad()
    with autograd.record():
        y = x.tostype('csr')
    x[:] = 9
    assert y.asnumpy().tolist() == DENSE and y.tostype('default').asnumpy().tolist() == DENSE


# ---------------------------------------------------------------------- files
def test_files_of_upstream(tmp_path):
    written = base64.b85decode(SAVED)
    loaded = nd.load_frombuffer(written)
    for x, expected in zip(loaded.values(), upstream_arrays()):
        same(x, expected)
    for arrays in (loaded, dict(zip('cr', upstream_arrays()))):
        nd.save(str(tmp_path / 'again.params'), arrays)
        assert (tmp_path / 'again.params').read_bytes() == written


def test_pickles_of_upstream():
    for x, expected in zip(pickle.loads(base64.b85decode(PICKLED)), upstream_arrays()):
        same(x, expected)


@pytest.mark.parametrize('stype', STYPES)
def test_pickles(stype):
    for x in (make(stype), sparse.zeros(stype, (2, 3), dtype='int64'), make(stype).as_in_context(mx.cpu(1))):
        for y in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
            same(y, x)
            assert y.context == x.context
    assert f'mxnet.ndarray.sparse\n{type(make(stype)).__name__}\n'.encode() in pickle.dumps(make(stype), 0)
    empty = type(make(stype))(None)
    with pytest.raises(MXNetError, match='holds a default array'):
        empty.__setstate__(nd.ones((2, 2)).__getstate__())


@pytest.mark.parametrize('stype', STYPES)
def test_files(stype, tmp_path):
    name = str(tmp_path / 'x.params')
    arrays = {'a': make(stype), 'none': sparse.zeros(stype, (5, 2)), 'half': make(stype, dtype='float16'),
              'dense': nd.ones((2,))}
    nd.save(name, arrays)
    loaded = nd.load(name)
    for key in ('a', 'none', 'half'):
        same(loaded[key], arrays[key])
    assert loaded['dense'].stype == 'default'


def test_int32_indices_of_a_file_are_kept():
    from mxnet._files import params
    record = params.Record('csr', (2, 3), torch.tensor([1., 2.]),
                           (torch.tensor([0, 1, 2], dtype=torch.int32), torch.tensor([2, 0], dtype=torch.int32)))
    written = b''.join(params.encode([record]))
    x, = nd.load_frombuffer(written)
    assert x.indices.dtype == np.int32 and x.asnumpy().tolist() == [[0, 0, 1], [2, 0, 0]]
    x.check_format()
    assert x[1:].asnumpy().tolist() == [[2, 0, 0]] and (x * nd.ones((3,))).asnumpy().tolist() == x.asnumpy().tolist()
    assert bytes(nd.utils.to_bytes(x)) in written


def test_recorded_files(shared, tmp_path):
    path = shared / 'golden' / 'files' / 'sparse.params'
    loaded = nd.load(str(path))
    assert {x.stype for x in loaded.values()} >= set(STYPES)
    nd.save(str(tmp_path / 'again.params'), loaded)
    assert (tmp_path / 'again.params').read_bytes() == path.read_bytes()


# ---------------------------------------------------------------------- devices
@pytest.mark.gpu
@pytest.mark.parametrize('stype', STYPES)
def test_on_a_gpu(stype):
    x = make(stype).as_in_context(mx.gpu())
    assert x.context == mx.gpu() and x.data.context == mx.gpu() and x.asnumpy().tolist() == DENSE
    assert (x * 2 + x).asnumpy().tolist() == (A * 3).tolist()
    x[:] = nd.array(B, ctx=mx.gpu())
    same(x.copyto(mx.cpu()), make(stype, B))
    assert pickle.loads(pickle.dumps(x)).context == mx.cpu()
    with pytest.raises(MXNetError):
        x + nd.ones((4, 3))
