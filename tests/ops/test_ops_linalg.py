"""Linear algebra operators against formulas, finite differences and meta tensors."""
import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet._ops.core.table import NAMES
from mxnet.base import MXNetError

torch.manual_seed(0)


def rand(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def definite(*shape):
    a = rand(*shape)
    return a @ a.mT + shape[-1] * torch.eye(shape[-1], dtype=torch.float64)


def call(name, *inputs, **attributes):
    return NAMES['_linalg_' + name].function(*inputs, **attributes)


A, B, C, S = rand(2, 3, 4), rand(2, 4, 5), rand(2, 3, 5), definite(2, 3, 3)
T = rand(2, 3, 3) + 3 * torch.eye(3, dtype=torch.float64)
L = torch.linalg.cholesky(S)
X, Y = rand(2, 3, 4), rand(2, 4, 3)

# operator, inputs, attributes, what it must be
CASES = [
    ('gemm', (A, B, C), {'alpha': 2, 'beta': 3}, lambda a, b, c: 2 * a @ b + 3 * c),
    ('gemm', (A.mT, B.mT, C), {'transpose_a': True, 'transpose_b': True}, lambda a, b, c: a.mT @ b.mT + c),
    ('gemm', (rand(3, 2, 4), rand(4, 2, 5), rand(3, 2, 5)), {'axis': 0},
     lambda a, b, c: torch.einsum('ibj,jbk->ibk', a, b) + c),
    ('gemm2', (A, B), {'alpha': 0.5}, lambda a, b: a @ b / 2),
    ('gemm2', (rand(2, 3, 5, 4), rand(2, 4, 5, 2)), {'axis': 1}, lambda a, b: torch.einsum('xibj,xjbk->xibk', a, b)),
    ('syrk', (A,), {'alpha': 2}, lambda a: 2 * a @ a.mT),
    ('syrk', (A,), {'transpose': True}, lambda a: a.mT @ a),
    ('potrf', (S,), {}, torch.linalg.cholesky),
    ('potrf', (S,), {'lower': False}, lambda a: torch.linalg.cholesky(a).mT),
    ('potri', (L,), {}, lambda a: torch.linalg.inv(a @ a.mT)),
    ('potri', (L.mT.contiguous(),), {'lower': False}, lambda a: torch.linalg.inv(a.mT @ a)),
    ('inverse', (T,), {}, torch.linalg.inv),
    ('det', (T,), {}, torch.linalg.det),
    ('sumlogdiag', (S,), {}, lambda a: torch.einsum('bii->bi', a).log().sum(-1)),
    ('extractdiag', (T,), {'offset': -1}, lambda a: torch.stack([a[:, 1, 0], a[:, 2, 1]], -1)),
    ('makediag', (A[:, 0],), {'offset': 1}, lambda a: torch.stack([torch.diag(r, 1) for r in a])),
]
for transpose in (False, True):
    for lower in (False, True):
        def triangle(a, lower=lower, transpose=transpose):
            t = a.tril() if lower else a.triu()
            return t.mT if transpose else t
        attributes = {'transpose': transpose, 'lower': lower, 'alpha': 1.5}
        CASES += [
            ('trmm', (T, X), attributes, lambda a, b, f=triangle: 1.5 * f(a) @ b),
            ('trmm', (T, Y), {**attributes, 'rightside': True}, lambda a, b, f=triangle: 1.5 * b @ f(a)),
            ('trsm', (T, X), attributes, lambda a, b, f=triangle: 1.5 * torch.linalg.inv(f(a)) @ b),
            ('trsm', (T, Y), {**attributes, 'rightside': True},
             lambda a, b, f=triangle: 1.5 * b @ torch.linalg.inv(f(a)))]
IDS = [f'{c[0]}-{i}' for i, c in enumerate(CASES)]


@pytest.mark.parametrize(('name', 'inputs', 'attributes', 'formula'), CASES, ids=IDS)
def test_value_gradient_and_shape(name, inputs, attributes, formula):
    found = call(name, *inputs, **attributes)
    torch.testing.assert_close(found, formula(*inputs), rtol=1e-7, atol=1e-9)
    meta = call(name, *[x.to('meta') for x in inputs], **attributes)
    assert (meta.shape, meta.dtype) == (found.shape, found.dtype)
    ours, theirs = ([x.clone().requires_grad_() for x in inputs] for _ in range(2))
    head = rand(*found.shape)
    call(name, *ours, **attributes).backward(head)
    formula(*theirs).backward(head)
    for a, b in zip(ours, theirs):
        gradient = b.grad
        if name == 'potri':                # only the triangle is read
            gradient = gradient.tril() if attributes.get('lower', True) else gradient.triu()
        torch.testing.assert_close(a.grad, gradient, rtol=1e-6, atol=1e-8)


@pytest.mark.gpu
@pytest.mark.parametrize(('name', 'inputs', 'attributes', 'formula'), CASES, ids=IDS)
def test_gpu_agrees_with_cpu(name, inputs, attributes, formula):
    found = call(name, *[x.cuda() for x in inputs], **attributes)
    torch.testing.assert_close(found.cpu(), formula(*inputs), rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------------- factorisations
def test_lq_factors_multiply_to_the_matrix():
    q, l = call('gelqf', A)
    torch.testing.assert_close(l @ q, A)
    torch.testing.assert_close(l, l.tril())
    torch.testing.assert_close(q @ q.mT, torch.eye(3).double().expand(2, 3, 3))
    assert torch.autograd.gradcheck(lambda a: call('gelqf', a), [A.clone().requires_grad_()])


def test_eigenvectors_are_rows_with_a_positive_largest_entry():
    u, values = call('syevd', S)
    torch.testing.assert_close(u.mT @ torch.diag_embed(values) @ u, S)
    assert (values.diff() > 0).all()
    assert (u.gather(-1, u.abs().argmax(-1, keepdim=True)) > 0).all()
    assert torch.autograd.gradcheck(lambda a: call('syevd', (a + a.mT) / 2), [S.clone().requires_grad_()])


def test_sign_and_logarithm_of_the_determinant():
    matrices = torch.stack([S[0], -S[0], torch.zeros(3, 3).double()])
    sign, log = call('slogdet', matrices)
    assert sign.tolist() == [1, -1, 0] and log[2] == -torch.inf
    torch.testing.assert_close(log[:2], torch.linalg.det(S[0]).log().expand(2))


@pytest.mark.parametrize('name', ['det', 'slogdet', 'sumlogdiag'])
def test_one_matrix_gives_shape_1_and_in_np_mode_a_scalar(name):
    def shapes():
        found = call(name, S[0])
        return {tuple(x.shape) for x in (found if isinstance(found, tuple) else (found,))}
    assert shapes() == {(1,)}
    with mx.util.np_shape(True):
        assert shapes() == ({(1,)} if name == 'sumlogdiag' else {()})


# ---------------------------------------------------------------------- triangles
M = torch.arange(9.).view(3, 3)


@pytest.mark.parametrize(('offset', 'lower', 'wanted'), [
    (0, True, [0, 3, 4, 6, 7, 8]), (0, False, [0, 1, 4, 2, 5, 8]), (1, True, [1, 2, 5]), (1, False, [1, 2, 5]),
    (-1, True, [3, 6, 7]), (-1, False, [3, 6, 7]), (2, True, [2]), (-2, True, [6])])
def test_triangles_are_taken_out_and_put_back(offset, lower, wanted):
    vector = call('extracttrian', M, offset=offset, lower=lower)
    assert vector.tolist() == wanted
    back = call('maketrian', vector, offset=offset, lower=lower)
    on_that_side = M.triu(offset) if offset > 0 or offset == 0 and not lower else M.tril(offset)
    assert back.tolist() == on_that_side.tolist()
    assert call('maketrian', vector.to('meta'), offset=offset, lower=lower).shape == (3, 3)
    assert torch.autograd.gradcheck(lambda a: call('maketrian', a, offset=offset, lower=lower),
                                    [vector.double().requires_grad_()])


def test_old_names_and_fluent_namespace_are_the_same_operator():
    a = mx.nd.array([[2, 0], [1, 3]])
    np.testing.assert_allclose(mx.nd.linalg_gemm2(a, a).asnumpy(), mx.nd.linalg.gemm2(a, a).asnumpy())
    assert NAMES['_npi_det'] is NAMES['linalg_det'] is NAMES['_linalg_det']


ONES = mx.nd.ones
ERRORS = [
    (lambda: mx.nd.linalg.gemm2(ONES((2, 3)), ONES((1, 3, 4))), 'the same number of axes'),
    (lambda: mx.nd.linalg.gemm2(ONES((2, 2, 3)), ONES((1, 3, 4))), r'not \(2,\) and \(1,\)'),
    (lambda: mx.nd.linalg.gemm(ONES((2, 3)), ONES((3, 4)), ONES((1, 4))), r'C has shape \(1, 4\).*\(2, 4\)'),
    (lambda: mx.nd.linalg.trsm(ONES((3, 3)), ONES((2, 3))), 'B must have 3 rows'),
    (lambda: mx.nd.linalg.trmm(ONES((3, 3)), ONES((3, 2)), rightside=True), 'B must have 3 columns'),
    (lambda: mx.nd.linalg.det(ONES((2, 3))), 'must be a square matrix'),
    (lambda: mx.nd.linalg.potrf(-ONES((2, 2))), 'positive-definite'),
    (lambda: mx.nd.linalg.inverse(ONES((2, 2))), 'singular'),
    (lambda: mx.nd.linalg.gelqf(ONES((3, 2))), 'more rows than columns'),
    (lambda: mx.nd.linalg.extractdiag(ONES((3, 3)), offset=3), 'offset=3 is outside'),
    (lambda: mx.nd.linalg.maketrian(ONES((5,))), 'is not the number'),
]


@pytest.mark.parametrize(('call', 'message'), ERRORS, ids=[m for _, m in ERRORS])
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(MXNetError, match=message):
        call()


def test_the_third_operand_of_gemm_has_the_shape_of_the_product():
    op = NAMES['_linalg_gemm']
    assert op.shapes({'A': (2, 3, 4), 'B': (2, 4, 5)}, op.complete({})) == {'C': (2, 3, 5)}
    assert op.shapes({'A': (4, 2, 3), 'B': (5, 2, 4)},
                     op.complete({'axis': 0, 'transpose_a': True, 'transpose_b': True})) == {'C': (3, 2, 5)}
