"""Which public functions end the deferral of a pending array: those that need its values, and no others.

A function is called on arrays that have the same shape and dtype and other values.  If the results are the same, all
that it needs is metadata (`array.meta()`), and a call on a pending array must leave that pending.
"""
import contextlib
import inspect
import types

import numpy
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd, np, npx
from mxnet._frontend import reference
from mxnet._lazy.inference import SHAPE_ONLY
from mxnet._lazy.step import BoundStep
from mxnet._ops.core.table import TABLE
from mxnet.contrib import amp
from mxnet.gluon import nn

SHAPE = (4, 3)
VALUES = [numpy.random.RandomState(0).rand(*SHAPE).astype('float32'),
          numpy.array([[-7, 0, 2.5], [1, 1, 1], [3e4, -2, 9], [5, 0.25, -1]], 'float32'),
          numpy.array([[numpy.nan, 1, 0], [numpy.inf, -1, 2], [-numpy.inf, 3, 4], [8, 8, -8]], 'float32'),
          numpy.zeros(SHAPE, 'float32')]
OTHER = VALUES[0][::-1] * (numpy.arange(12).reshape(SHAPE) % 5 != 0)
VALUES.append(OTHER)          # so that comparisons with it differ
FAILED = object()           # the outcome of a call that raises

# Functions that give the same for other values and end the deferral nevertheless: why.
MAY_END = {
    **{f'{cls}.{name}': why for cls in ('NDArray', 'ndarray') for name, why in {
        'attach_grad': 'the tensor itself becomes a leaf of the tape',
        'wait_to_read': 'its meaning is to compute',
        'wait_to_write': 'its meaning is to compute',
        '__dlpack_device__': 'the first half of an exchange that hands the memory over'}.items()},
    **dict.fromkeys(('nd.LinearRegressionOutput', 'nd.LogisticRegressionOutput', 'nd.MAERegressionOutput', 'nd.Softmax',
                     'nd.SoftmaxOutput'), 'the gradient depends on the values of the label'),
    **dict.fromkeys(('nd.SequenceLast', 'nd.SequenceMask', 'nd.SequenceReverse', 'npx.sequence_mask'),
                    'the second input is used with other attributes'),
    'nd.IdentityAttachKLSparseReg': 'the second input is a state, which the call writes',
    **dict.fromkeys(('NDArray.shape_array', 'NDArray.size_array', 'nd.shape_array', 'nd.size_array',
                     'nd.contrib.index_array', 'ndarray.shape_array', 'ndarray.size_array', 'npx.shape_array'),
                    'integers, whose history calls that are deferred would not know'),
    **dict.fromkeys(('nd.random.negative_binomial_like', 'nd.random.generalized_negative_binomial_like'),
                    'not inferred'),
    # without `out` they are deferred: test_like_operators_of_pending_arrays
    **dict.fromkeys(('NDArray.ones_like', 'NDArray.zeros_like', 'nd.ones_like', 'nd.zeros_like', 'ndarray.ones_like',
                     'ndarray.zeros_like'), 'the second argument is `out`'),
    **dict.fromkeys(('np.frexp', 'np.modf', 'np.positive', 'np.signbit', 'np.spacing'), 'the second array is `out`'),
    **dict.fromkeys(('np.may_share_memory', 'np.shares_memory'), 'they compare addresses'),
    **dict.fromkeys(('np.min_scalar_type', 'np.result_type', 'np.tril_indices_from', 'np.triu_indices_from'),
                    'they go through NumPy, which refuses what is recorded: whether the array is, its tensor tells'),
}


@pytest.fixture(autouse=True)
def no_np_mode():
    yield
    npx.reset_np()


def canonical(value):
    """What two results are compared by."""
    if isinstance(value, mx.nd.NDArray):
        if value.stype != 'default':
            return value.stype, canonical(value.tostype('default'))
        return type(value).__name__, str(value.meta().dtype), canonical(value.asnumpy())
    if isinstance(value, torch.Tensor):
        return canonical(value.detach().numpy())
    if isinstance(value, numpy.ndarray):
        return value.dtype.str, value.shape, numpy.nan_to_num(value, nan=77.0).tobytes()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, *map(canonical, value)
    if isinstance(value, dict):
        return tuple((k, canonical(v)) for k, v in value.items())
    if isinstance(value, (types.GeneratorType, types.MethodType, types.FunctionType)) or hasattr(value, '__next__'):
        return object()             # says nothing
    if isinstance(value, float) and value != value:
        return 'nan'
    return repr(value) if isinstance(value, (type, numpy.dtype, torch.Size)) or value is None else value


def outcome(function, array, others):
    """What a call gives; FAILED if it raises, writes into the array, or gives something that cannot be compared."""
    mx.random.seed(0)
    before = array.asnumpy().tobytes()
    try:
        result = canonical(function(*others(array)))
    except Exception:
        return FAILED
    return FAILED if type(result) is object or array.asnumpy().tobytes() != before else result


def needs_values(function, cls, others):
    """Whether results differ with values; None if the function does not take such arguments, or says nothing."""
    found = []
    for values in VALUES:
        found.append(outcome(function, cls(values.copy()), others))
        if found[-1] is FAILED:
            return None
    return not all(f == found[0] for f in found[1:])


class Pending:
    """A network whose output is pending while recording."""

    def __init__(self, cls):
        self.net = nn.Dense(SHAPE[1])
        self.net.initialize()
        self.net.hybridize()
        self.x = cls(numpy.ones((SHAPE[0], 2), 'float32'))
        for _ in range(3):
            with autograd.record():
                out = self.net(self.x)
            out.backward()

    def kept(self, function, others=lambda x: (x,)):
        """Whether a call leaves the array pending."""
        self.net._cached_op.deferral.budget = 8
        with autograd.record():
            out = self.net(self.x)
            assert out._pending is not None
            with contextlib.suppress(Exception):
                function(*others(out))
            return out._pending is not None


def public(owner):
    # `hasattr`: names of other libraries are errors that suggest a name (_names.suggest_members)
    return [n for n in dir(owner)
            if (not n.startswith('_') or n in ('__len__', '__dlpack_device__')) and hasattr(owner, n)]


def members(cls, name):
    """{name: function of an array} of all attributes and methods of arrays."""
    found = {}
    for key in public(cls):
        what = inspect.getattr_static(cls, key)
        if isinstance(what, property):
            found[f'{name}.{key}'] = what.fget
        elif callable(getattr(cls, key)) and not isinstance(what, (staticmethod, classmethod)):
            found[f'{name}.{key}'] = getattr(cls, key)
    return found


def functions(owner, name):
    return {f'{name}.{key}': getattr(owner, key) for key in public(owner)
            if callable(getattr(owner, key)) and not isinstance(getattr(owner, key), type)}


def everything():
    dense = {**members(nd.NDArray, 'NDArray'), **functions(nd, 'nd'), **functions(nd.contrib, 'nd.contrib'),
             **functions(nd.random, 'nd.random'), **functions(gluon.utils, 'gluon.utils')}
    numpys = {**members(np.ndarray, 'ndarray'), **functions(np, 'np'), **functions(npx, 'npx'),
              **functions(np.random, 'np.random')}
    return [('nd', dense), ('np', numpys)]


# They change the process, wait for it, write files and standard output, or are taken from elsewhere.
LEFT_OUT = {'npx.set_np', 'npx.reset_np', 'npx.waitall', 'nd.waitall', 'np.set_printoptions', 'npx.savez', 'npx.save',
            'np.save', 'np.savez', 'NDArray.save', 'nd.save', 'gluon.utils.download', 'gluon.utils.before_write'}


@pytest.mark.parametrize('which', ['nd', 'np'])
def test_functions_that_need_metadata_leave_arrays_pending(which):
    found, ends = [], []
    if which == 'np':
        npx.set_np()
    cls = {'nd': nd.array, 'np': np.array}[which]
    pending = Pending(cls)
    for name, function in dict(everything())[which].items():
        if name in LEFT_OUT:
            continue
        for others in (lambda x: (x,), lambda x: (x, cls(OTHER)), lambda x: (cls(OTHER), x)):
            if needs_values(function, cls, others) is False:
                found.append(name)
                if name not in MAY_END and not pending.kept(function, others):
                    ends.append(name)
    # the search finds what it must find
    expected = {'nd': ['NDArray.shape', 'NDArray.dtype', 'NDArray.context', 'NDArray.size', 'NDArray.ndim',
                       'NDArray.stype', 'NDArray.__len__', 'NDArray.zeros_like', 'NDArray.ones_like', 'nd.shape_array',
                       'nd.zeros_like', 'nd.contrib.arange_like', 'nd.random.uniform_like'],
                'np': ['ndarray.shape', 'ndarray.dtype', 'ndarray.size', 'ndarray.itemsize', 'ndarray.nbytes',
                       'np.shape', 'np.ndim', 'np.size', 'np.zeros_like', 'np.ones_like']}[which]
    assert not set(expected) - set(found)
    assert not ends, 'these need metadata only, and compute'
    assert not [n for n in MAY_END if n in dict(everything())[which] and n not in found], 'they need no exemption'


def first_call(op):
    """Kernel, tensors and attributes of the first call in the example of an operator; None if it has none."""
    try:
        session = reference.example_of(op)
    except KeyError:
        return None
    calls = []

    class Facts(reference.Facts):
        def _note(self, *call):
            calls.append(call)
            super()._note(*call)

    Facts(op, session, next((n for n in reference.names_of(op)), op.name))
    return calls[0] if calls else None


@pytest.mark.parametrize('name', SHAPE_ONLY)
def test_operators_that_read_shapes_only(name):
    op = TABLE[name]
    at = op.inputs.index(SHAPE_ONLY[name])
    call = first_call(op)
    if call is None:
        pytest.skip('the operator has no public name, and so no example')
    kernel, args, kwargs, _ = call
    results = []
    for fill in (0, 1, float('nan')):
        given = list(args)
        given[at] = torch.empty((), dtype=args[at].dtype).fill_(fill if args[at].is_floating_point() else 1).expand(
            args[at].shape)
        if op.wants_rng:
            kwargs = {**kwargs, 'rng': torch.Generator().manual_seed(0)}
        results.append(kernel(*given, **kwargs))
    assert results[0].is_contiguous() or name == 'broadcast_like'
    assert all(torch.equal(r, results[0]) and r.dtype is results[0].dtype for r in results)


def test_like_operators_of_pending_arrays():
    pending = Pending(nd.array)
    label = nd.arange(12)
    for function in (lambda x: nd.reshape_like(label, x), lambda x: nd.slice_like(nd.ones((5, 5)), x),
                     lambda x: nd.broadcast_like(nd.ones((4, 1)), x), lambda x: x.zeros_like(), nd.ones_like,
                     nd.random.uniform_like, nd.random.normal_like, nd.random.gamma_like, nd.random.poisson_like,
                     nd.random.exponential_like, nd.contrib.arange_like,
                     lambda x: nd.contrib.MultiBoxPrior(x.expand_dims(0).expand_dims(0)),
                     lambda x: x.astype('float32', copy=False)):
        assert pending.kept(function)
    of_numpy = Pending(np.array)
    for function in (lambda x: x.zeros_like(), lambda x: x.ones_like(), np.zeros_like, np.ones_like):
        assert of_numpy.kept(function)
    with autograd.record():
        out = pending.net(pending.x)
        like = nd.reshape_like(label, out)
        filled = nd.ones_like(out) * 2
        (out * like).sum().backward()
    assert (like.asnumpy() == label.asnumpy().reshape(SHAPE)).all() and (filled.asnumpy() == 2).all()
    expected = label.asnumpy().reshape(SHAPE).sum(0)
    assert numpy.allclose(pending.net.weight.grad().asnumpy(), numpy.stack([expected, expected], 1))


def test_metrics_handle_their_arguments_by_metadata():
    """Lists, names and shapes are checked before values are read; then the values are needed."""
    pending = Pending(nd.array)
    metric = mx.metric.Accuracy()
    with autograd.record():
        out = pending.net(pending.x)
    with pytest.raises(ValueError, match='1 labels and 2 predictions'):
        mx.metric.check_label_shapes([nd.ones(3)], [out, out])
    assert out._pending is not None
    metric.update([nd.zeros(4)], [out])
    assert out._pending is None and metric.get()[1] >= 0


# ---------------------------------------------------------------------- plans that run
@pytest.fixture
def plans(monkeypatch):
    """How many steps ran as one plan."""
    ran, run = [], BoundStep.run

    def counted(self, *args, **kwargs):
        run(self, *args, **kwargs)
        ran.append(self)

    monkeypatch.setattr(BoundStep, 'run', counted)
    return lambda: len(ran)


def train(net, head, steps=30):
    net.initialize()
    net.hybridize()
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    x, y = nd.random.normal(shape=(8, 6)), nd.array([0, 1, 2, 3] * 2)
    for _ in range(steps):
        with autograd.record():
            value = head(loss(net(x), y))
        value.backward()
        trainer.step(1)


def mlp():
    net = nn.HybridSequential()
    net.add(nn.Dense(16, activation='relu'), nn.Dense(4))
    return net


HEADS = {'mean': lambda v: v.mean(), 'sum': lambda v: v.sum(), 'nd.mean': nd.mean, 'divided': lambda v: v.sum() / 8,
         'as it is': lambda v: v, 'shape': lambda v: v.sum() / v.shape[0], 'size': lambda v: v.sum() / v.size}


@pytest.mark.parametrize('head', HEADS)
def test_amp_keeps_the_plans(head, plans):
    train(mlp(), HEADS[head])
    without = plans()
    assert without >= 20
    amp.init('bfloat16')
    try:
        train(mlp(), HEADS[head])
    finally:
        amp.stop()
    assert plans() - without == without


def chain(written):
    """Two blocks, of which the second takes what the first gives; `written`: forward is written on arrays."""
    class Arrays(nn.HybridBlock):
        def __init__(self, count, **kwargs):
            super().__init__(**kwargs)
            self.dense = nn.Dense(count)

        def forward(self, x):
            return nd.tanh(self.dense(x))

    class Symbols(nn.HybridBlock):
        def __init__(self, count, **kwargs):
            super().__init__(**kwargs)
            self.dense = nn.Dense(count)

        def hybrid_forward(self, F, x):
            return F.tanh(self.dense(x))

    class Chain(gluon.Block):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.first, self.second = [(Arrays if written else Symbols)(n) for n in (5, 4)]

        def forward(self, x):
            return self.second(self.first(x))

    return Chain()


@pytest.mark.parametrize('head', ['mean', 'as it is'])
def test_blocks_written_on_arrays_keep_the_plans(head, plans):
    train(chain(written=False), HEADS[head])
    without = plans()
    assert without >= 20
    train(chain(written=True), HEADS[head])
    assert plans() - without == without


def test_a_loop_that_looks_at_metadata_keeps_the_plans(plans):
    def head(value):
        assert value.shape == (8,) and value.dtype == numpy.float32 and len(value) == value.size == 8
        assert value.context == mx.cpu() and value.ndim == 1 and value.stype == 'default'
        return value.mean() * (value.shape[0] / 8)

    train(mlp(), HEADS['mean'])
    without = plans()
    train(mlp(), head)
    assert plans() - without >= without - 1
