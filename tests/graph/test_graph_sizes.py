"""Rules for the shapes of ATen calls (`infer/sizes.py`): what the calls give, and no answer where that is an error."""
import itertools
import os
import subprocess
import sys

import pytest
import torch

from mxnet._graph.infer import sizes

aten = torch.ops.aten
FLOATS = torch.float32, torch.float64, torch.bfloat16
P = torch.tensor([0, 2, 1])


def t(*shape, dtype=torch.float32):
    return torch.ones(shape, dtype=dtype)


def on_meta(value):
    if isinstance(value, (list, tuple)):
        return type(value)(map(on_meta, value))
    return value.to('meta') if isinstance(value, torch.Tensor) else value


def outcome(function, *args, **kwargs):
    """[(shape, dtype)] of the results, or None for an error."""
    try:
        found = function(*args, **kwargs)
    except (AssertionError, RuntimeError, IndexError, TypeError, ValueError, ZeroDivisionError):
        return None
    return [(tuple(f.shape), f.dtype) for f in (found if isinstance(found, (list, tuple)) else [found])]


def agrees(function, *args, answers=None, **kwargs):
    """Under `Sizes` as on a CPU; if `answers`, by a rule."""
    expected, asked = outcome(function, *args, **kwargs), []
    rule = sizes._RULES.get(function)
    if rule is not None:
        asked = rule(*on_meta(args), **kwargs)
        if expected is None:
            assert asked is None, f'{function} gives an error, its rule {asked}'
    with sizes.Sizes():
        found = outcome(function, *on_meta(args), **kwargs)
    if expected is not None:
        assert found == expected, f'{function}{tuple(getattr(a, "shape", a) for a in args)}'
        assert not answers or asked is not None
    return expected is not None


def check(function, cases, answers=True):
    """`answers`: every case that is valid has an answer by a rule."""
    valid = [agrees(function, *args, answers=answers, **kwargs) for args, kwargs in cases]
    assert any(valid)


def plain(*cases):
    return [(args, {}) for args in cases]


LENGTHS = list(itertools.product((1, 5, 6, 7, 8), (1, 2, 3), (1, 2, 3), (0, 1, 2), (1, 2), (False, True)))


def test_max_pooling():
    check(aten.max_pool2d_with_indices.default,
          plain(*[(t(2, 3, n, 9), [k, k], [s, s], [p, p], [d, d], ceil) for n, k, s, p, d, ceil in LENGTHS],
                (t(2, 3, 8, 8), [2, 3]), (t(2, 3, 0, 8), [2, 2]), (t(3, 8, 8), [2, 2])), answers=False)


def test_average_pooling():
    check(aten.avg_pool2d.default,
          plain(*[(t(2, 3, n, 9, dtype=FLOATS[d]), [k, k], [s, s], [p, p], ceil) for n, k, s, p, d, ceil in LENGTHS],
                (t(2, 3, 8, 8), [2, 3]), (t(2, 3, 8, 8, dtype=torch.int32), [2, 2])), answers=False)


@pytest.mark.parametrize('transposed', [False, True])
def test_convolution(transposed):
    cases = []
    for n, k, s, p, d, grouped in LENGTHS:
        groups = 2 if grouped else 1
        weight = t(4, 6 // groups, k, 2) if transposed else t(6, 4 // groups, k, 2)
        cases += [(t(2, 4, n, 9), weight, bias, [s, 1], [p, 0], [d, 2], transposed, [0, 0], groups)
                  for bias in (None, t(6))]
    cases += [(t(2, 4, 8), t(4, 4, 3) if transposed else t(6, 4, 3), None, [2], [1], [1], transposed, [1], 1),
              (t(2, 4, 5, 5, 5), t(4, 4, 3, 3, 3), None, [1] * 3, [0] * 3, [1] * 3, transposed, [0] * 3, 1),
              (t(2, 5, 8), t(6, 4, 3), None, [1], [0], [1], transposed, [0], 1),
              (t(2, 4, 8), t(6, 4, 3), t(5), [1], [0], [1], transposed, [0], 1),
              (t(2, 4, 8), t(6, 4, 3), t(6), [0], [0], [1], transposed, [0], 1),
              (t(2, 4, 8), t(6, 4, 3), t(6), [1], [-1], [1], transposed, [0], 1),
              (t(2, 4, 8), t(6, 4, 3, dtype=torch.float64), None, [1], [0], [1], transposed, [0], 1)]
    check(aten.convolution.default, plain(*cases), answers=False)


@pytest.mark.parametrize('function, cases', [
    (aten.mm.default, plain((t(2, 3), t(3, 4)), (t(2, 3), t(4, 4)), (t(0, 3), t(3, 2)), (t(3), t(3, 2)),
                            (t(2, 3), t(3, 4, dtype=torch.float64)))),
    (aten.addmm.default, plain((t(4), t(2, 3), t(3, 4)), (t(2, 4), t(2, 3), t(3, 4)), (t(3), t(2, 3), t(3, 4)),
                               (t(1), t(2, 3), t(3, 4)), (t(2, 2, 4), t(2, 3), t(3, 4)))),
    (aten.bmm.default, plain((t(5, 2, 3), t(5, 3, 4)), (t(5, 2, 3), t(4, 3, 4)), (t(5, 2, 3), t(5, 4, 4)))),
    (aten.native_batch_norm.default, plain(
        *[(t(4, 3, 2, dtype=d), t(3, dtype=d), t(3, dtype=d), None, None, True, .1, 1e-5) for d in FLOATS],
        (t(4, 3), None, None, t(3), t(3), False, .1, 1e-5),
        (t(4, 3, 2, dtype=torch.bfloat16), t(3), t(3), t(3), t(3), False, .1, 1e-5))),
    (aten.native_layer_norm.default, plain(
        (t(4, 3, 2), [2], t(2), t(2), 1e-5), (t(4, 3, 2), [3, 2], None, None, 1e-5), (t(4, 3), [4], None, None, 1e-5),
        (t(4, 3, dtype=torch.float64), [3], None, None, 1e-5))),
    (aten.native_group_norm.default, plain((t(2, 4, 3), t(4), t(4), 2, 4, 3, 2, 1e-5),
                                           (t(2, 4), None, None, 2, 4, 1, 4, 1e-5))),
    (aten.max_pool3d_with_indices.default, plain((t(2, 3, 8, 8, 8), [2, 3, 2]), (t(2, 3, 5, 5, 5), [3], [2], [1]),
                                                 (t(2, 3, 5, 5, 5), [3, 3, 3], [2], [2]),
                                                 (t(2, 3, 5, 5, 5), [2, 2, 2], [2, 1, 2], [1, 1, 1], [1, 2, 1], True))),
    (aten.avg_pool3d.default, plain((t(2, 3, 8, 8, 8), [2, 3, 2]), (t(2, 3, 5, 5, 5), [3, 3, 3], [2], [1], True))),
    (aten.adaptive_max_pool2d.default, plain((t(2, 3, 8, 8), [1, 1]), (t(2, 3, 8, 8), [3, 2]),
                                             (t(2, 3, 0, 8), [1, 1]))),
    (aten.adaptive_max_pool3d.default, plain((t(2, 3, 8, 8, 4), [1, 1, 2]))),
    (aten.reflection_pad2d.default, plain((t(2, 3, 8, 7), [1, 2, 3, 4]), (t(2, 3, 3, 7), [1, 2, 3, 4]))),
    (aten.reflection_pad1d.default, plain((t(2, 3, 8), [1, 2]), (t(2, 3, 2), [2, 1]))),
    (aten.reflection_pad3d.default, plain((t(2, 3, 8, 7, 6), [1, 2, 3, 4, 5, 0]))),
    (aten.replication_pad2d.default, plain((t(2, 3, 8, 7), [1, 2, 3, 4]))),
    (aten.replication_pad1d.default, plain((t(2, 3, 8), [1, 0]))),
    (aten.replication_pad3d.default, plain((t(2, 3, 8, 7, 6), [1, 2, 3, 4, 5, 0]))),
    (aten._softmax.default, plain((t(2, 3), 1, False), (t(2, 3), -2, False), (t(2, 3), 2, False), (t(), 0, False),
                                  (t(2, dtype=torch.int32), 0, False))),
    (aten._log_softmax.default, plain((t(2, 3), 1, False), (t(2, 3, dtype=torch.bfloat16), 0, False))),
    (aten.sum.dim_IntList, [((t(2, 3, 4, dtype=d), axes, keep), {}) for d in (*FLOATS, torch.int32, torch.bool)
                            for axes in (None, [], [0], [-1, 0], [3], [0, 1, 2]) for keep in (False, True)]
     + [((t(2, 3), [0]), {'dtype': torch.float64})]),
    (aten.mean.dim, [((t(2, 3, dtype=d), axes, keep), {}) for d in (*FLOATS, torch.int32)
                     for axes in ([0], [-1, 0], [2]) for keep in (False, True)]),
    (aten.amax.default, plain((t(2, 3), [0]), (t(2, 3), [1], True), (t(2, 3),), (t(0, 3), [0]), (t(2, 3), [2]))),
    (aten.amin.default, plain((t(2, 3, dtype=torch.int32), [0]))),
    (aten.argmax.default, plain((t(2, 3),), (t(2, 3), 1), (t(2, 3), -1, True), (t(2, 3), None, True), (t(2, 3), 2))),
    (aten.argmin.default, plain((t(2, 3), 0))),
    (aten.cat.default, plain(([t(2, 3), t(4, 3)],), ([t(2, 3), t(2, 1)], 1), ([t(2, 3), t(2, 1)], -1),
                             ([t(2, 3), t(2, 1)], 0), ([t(2, 3), t(2)], 0), ([t(2, 3)], 2))),
    (aten.stack.default, plain(([t(2, 3), t(2, 3)],), ([t(2, 3), t(2, 3)], -1), ([t(2, 3), t(2, 3)], 1),
                               ([t(2, 3), t(2, 2)], 1), ([t(), t()], 0))),
    (aten.embedding.default, plain((t(5, 3), t(2, 4, dtype=torch.int64)), (t(5, 3), t(dtype=torch.int32)),
                                   (t(5, 3), t(2)))),
    (aten.gather.default, plain((t(2, 3), 1, torch.zeros(2, 1, dtype=torch.int64)),
                                (t(2, 3), -2, torch.zeros(4, 3, dtype=torch.int64)),
                                (t(2, 3), 1, torch.zeros(3, 1, dtype=torch.int64)), (t(2, 3), 1, t(2, 1)))),
    (aten.flip.default, plain((t(2, 3), [0]), (t(2, 3), [0, -1]), (t(2, 3), [2]), (t(2, 3), [0, 0]))),
    (aten.repeat.default, plain((t(2, 3), [2, 2]), (t(3), [2, 2]), (t(2, 3), [2]), (t(2, 3), [0, 1]))),
    (aten.leaky_relu.default, plain((t(2, 3),), (t(2, 3), 0.1), (t(),))),
    (aten._prelu_kernel.default, plain((t(2, 3), t(1, 3)), (t(2, 3), t(1, 1)))),
    (aten.zeros_like.default, [((t(2, 3),), {}), ((t(2, 3),), {'dtype': torch.int64})]),
    (aten.ones_like.default, plain((t(2, dtype=torch.bool),))),
    (aten.empty_like.default, plain((t(),))),
    (aten.index_select.default, plain((t(4, 3), 0, P), (t(4, 3), -1, P), (t(4, 3), 2, P), (t(4, 3), 0, P.int()),
                                      (t(4, 3), 0, P.float()), (t(4, 3), 0, P[None]))),
    (aten.take.default, plain((t(4, 3), P), (t(4, 3), P[None]), (t(4, 3), P.int()), (t(0), P))),
    (aten.sort.stable, [((t(4, 3, dtype=d),), {'stable': True, 'dim': axis, 'descending': True})
                        for d in (torch.float32, torch.int32) for axis in (0, 1, -1, 2)]),
    (aten.max.dim, plain((t(4, 3), 0), (t(4, 3), -1, True), (t(4, 3), 2), (t(0, 3), 0))),
    (aten.min.dim, plain((t(4, 3, dtype=torch.int64), 1))),
    (aten.constant_pad_nd.default, plain((t(4, 3), [1, 2]), (t(4, 3), [1, 2, 0, 3]), (t(2, 2, 4, 3), [0, 0, 1, 1], 5.0),
                                         (t(4, 3), [1, 2, 3]), (t(4, 3), [1, 2, 3, 4, 5, 6]))),
    (aten.upsample_nearest2d.default, plain((t(1, 2, 3, 3), [6, 9]), (t(1, 2, 3, 3), [6, 9], 2.0, 3.0),
                                            (t(1, 2, 3, 3), [0, 9]), (t(2, 3, 3), [6, 9]))),
    (aten._adaptive_avg_pool2d.default, plain((t(1, 2, 6, 6), [3, 2]), (t(1, 2, 6, 6), [1, 1]))),
    (aten.bernoulli_.float, plain((t(4, 3), 0.5), (t(4, 3), 2.0))),
    (aten.uniform_.default, plain((t(4, 3),), (t(4, 3), -1.0, 2.0), (t(4, 3), 2.0, 1.0))),
    (aten.normal_.default, plain((t(4, 3),), (t(4, 3), 1.0, 2.0), (t(4, 3), 1.0, -2.0))),
    (aten.exponential_.default, plain((t(4, 3),), (t(4, 3), 2.0), (t(4, 3), -1.0))),
], ids=lambda x: getattr(x, '__name__', ''))
def test_others(function, cases):
    check(function, cases)


def test_indices():
    for data, indices in ((t(4, 3, 5), [P]), (t(4, 3, 5), [P, P]), (t(4, 3, 5), [None, P]),
                          (t(4, 3, 5), [P[None], P[:, None]]),
                          (t(4, 3, 5), [None, P, P]), (t(4, 3, 5), [P, None, P]), (t(4, 3, 5), [P, t(3)]),
                          (t(4, 3), [P, P, P]), (t(4, 3), [P, P[:2]]), (t(0, 3), [P])):
        agrees(aten.index.Tensor, data, indices)


@pytest.mark.parametrize('function, args, kwargs', [
    (aten.arange.default, (5,), {}), (aten.arange.default, (5.5,), {}), (aten.arange.start, (2, 9), {}),
    (aten.arange.start, (2, 9), {'dtype': torch.float32}), (aten.arange.start_step, (2, 9, 3), {}),
    (aten.arange.start_step, (9, 2, -3), {}), (aten.arange.start_step, (0.5, 2, 0.25), {}),
    (aten.full.default, ([2, 3], 1), {}), (aten.full.default, ([2, 3], 1.5), {}), (aten.full.default, ([], True), {}),
    (aten.full.default, ([2], 1), {'dtype': torch.float64}), (aten.zeros.default, ([2, 3],), {}),
    (aten.ones.default, ([2],), {'dtype': torch.int32}), (aten.scalar_tensor.default, (2.0,), {'dtype': torch.float64}),
])
def test_what_is_made(function, args, kwargs):
    expected = outcome(function, *args, **kwargs)
    assert sizes._RULES[function](*args, **kwargs) is None           # on a CPU: not asked
    found = sizes._RULES[function](*args, **kwargs, device='meta')
    assert (tuple(found.shape), found.dtype) == expected[0] and found.is_meta
    with sizes.Sizes():
        assert outcome(function, *args, **kwargs, device='meta') == expected
        assert function(*args, **kwargs).device.type == 'cpu'


def test_ranges_that_are_none_are_errors():
    for args in ((0, 5, 0), (0, 5, -1), (5, 0, 1), (0, float('inf'), 1)):
        assert sizes._RULES[aten.arange.start_step](*args, device='meta') is None


LINES = ('S.one_hot(x, 5)', 'S.sort(x)', 'S.topk(x, k=2)', 'S.Dropout(x)', 'S.take(x, S.var("i", shape=(2,)))',
         'S.pick(x, S.var("i"))', 'S.LRN(x, nsize=3)', 'S.UpSampling(x, scale=2, sample_type="nearest", num_args=1)',
         'S.contrib.AdaptiveAvgPooling2D(x, output_size=2)', 'S.gather_nd(x, S.var("i", shape=(2, 3)))',
         'x + S.random.normal(shape=(1, 3, 4, 6))', 'x * S.random.uniform(shape=(1, 3, 4, 6))')


def test_first_inference_needs_no_compiler():
    code = f"""import sys, mxnet as mx; S = mx.sym; x = S.var('x')
for line in {LINES}:
    eval(line).infer_shape(x=(1, 3, 4, 6))
    assert 'sympy' not in sys.modules, line"""
    subprocess.run([sys.executable, '-c', code], check=True,
                   env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)})


DTYPES = torch.float32, torch.float64, torch.bfloat16, torch.int32, torch.uint8, torch.bool


@pytest.mark.parametrize('function', [aten.add.Tensor, aten.mul.Tensor, aten.div.Tensor, aten.maximum.default,
                                      aten.eq.Tensor, aten.pow.Tensor_Tensor, aten.atan2.default])
def test_two_arguments_element_by_element(function):
    for a, b in itertools.product(DTYPES, DTYPES):
        for one, two in (((2, 3), (2, 3)), ((2, 1), (3,)), ((), (2,)), ((2,), ()), ((2, 3), (2,)), ((0, 3), (1, 3))):
            agrees(function, t(*one, dtype=a), t(*two, dtype=b))


@pytest.mark.parametrize('function', [aten.relu.default, aten.exp.default, aten.sigmoid.default, aten.neg.default,
                                      aten.logical_not.default, aten.gelu.default, aten.floor.default,
                                      aten.isnan.default])
def test_one_argument_element_by_element(function):
    for dtype in DTYPES:
        for shape in ((), (2, 3), (0,)):
            agrees(function, t(*shape, dtype=dtype))


def test_numbers_and_places():
    for dtype in DTYPES:
        for number in (1, 2.5, True):
            agrees(aten.mul.Tensor, t(2, dtype=dtype), number)
            agrees(aten.add_.Tensor, t(2, dtype=dtype), number)
            agrees(aten.where.self, t(2, 1) > 0, t(2, dtype=dtype), t(2, 2))
    agrees(aten.clamp.default, t(2), 0, 1)
    agrees(aten.add_.Tensor, t(3), t(2, 3))
    agrees(aten.add_.Tensor, t(2, 3), t(3))
    with sizes.Sizes():
        x = torch.empty(2, device='meta')
        assert x.mul_(2) is x


STEPS = """
import sys, mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn
loss, adam = gluon.loss.SoftmaxCrossEntropyLoss(), 'adam'
for name, layers, shape, label, optimizer in (
        ('dense', [nn.Dense(64, activation='relu'), nn.Dense(10)], (64, 784), 64, 'sgd'),
        ('pictures', [nn.Conv2D(8, 3), nn.BatchNorm(), nn.Activation('relu'), nn.MaxPool2D(2, 2), nn.Dropout(0.5),
                      nn.Dense(10)], (16, 3, 32, 32), 16, 'sgd'),
        ('text', [nn.Embedding(20, 8), rnn.LSTM(8), nn.LayerNorm(), nn.Dense(5, flatten=False)], (7, 4), (7, 4), adam)):
    net = nn.HybridSequential()
    net.add(*layers)
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), optimizer)
    for _ in range(3):
        with autograd.record():
            found = loss(net(mx.nd.ones(shape)), mx.nd.zeros(label))
        found.backward()
        trainer.step(4)
    net(mx.nd.ones(shape)).asnumpy()
    assert not {'sympy', 'torch._dynamo', 'torch.distributed.tensor'} & {*sys.modules}, name
"""


def test_first_steps_need_no_compiler():
    """To import it takes longer than all of these steps."""
    surroundings = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, '-c', STEPS], check=True, env=surroundings)
