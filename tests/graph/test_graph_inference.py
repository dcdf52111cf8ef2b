"""What shapes and dtypes of a graph follow from, and that a network's repeated blocks are looked at once."""
import numpy
import pytest

import mxnet as mx
from mxnet._cache import Cache
from mxnet._graph.infer import inference


def chain(blocks, channels=8):
    x = mx.sym.var('data')
    for i in range(blocks):
        x = mx.sym.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=channels, name=f'conv{i}')
        x = mx.sym.Activation(mx.sym.BatchNorm(x, name=f'norm{i}'), act_type='relu') + x
    return x


@pytest.fixture
def learned(monkeypatch):
    """Names of the nodes that inference has looked at, with nothing remembered before."""
    names, learn = [], inference._learn

    def counted(node, *rest):
        names.append(node.name)
        return learn(node, *rest)

    monkeypatch.setattr(inference, '_learn', counted)
    monkeypatch.setattr(inference, '_learned', Cache(inference.LIMIT))
    return names


def test_blocks_that_repeat_are_looked_at_once(learned):
    _, outputs, _ = chain(30).infer_shape(data=(2, 8, 5, 5))
    assert outputs == [(2, 8, 5, 5)] and len(learned) <= 3 * 4
    learned.clear()
    args, outputs, aux = chain(40).infer_shape(data=(2, 8, 5, 5))
    assert not learned and outputs == [(2, 8, 5, 5)] and args[1] == (8, 8, 3, 3) and aux[0] == (8,)
    assert chain(3).infer_shape(data=(2, 8, 6, 5))[1] == [(2, 8, 6, 5)] and learned


def test_what_differs_is_not_taken_for_the_same(learned):
    x = mx.sym.var('x')
    for attributes, shape in (({'axis': 0}, (3,)), ({'axis': 1}, (2,)), ({'axis': 1, 'keepdims': True}, (2, 1))):
        assert mx.sym.sum(x, **attributes).infer_shape(x=(2, 3))[1] == [shape]
    for dtype in ('float16', 'int32'):
        both = mx.sym.var('a', dtype=dtype) + mx.sym.var('b')
        assert both.infer_type()[0] == [numpy.dtype(dtype).type] * 2


def test_clashes_are_errors_each_time():
    a, b = mx.sym.var('a'), mx.sym.var('b')
    for _ in range(3):
        with pytest.raises(mx.MXNetError, match='shapes clash'):
            (a + b).infer_shape(a=(2, 3), b=(3, 3))
        assert (a + b).infer_shape(a=(2, 3))[0] == [(2, 3), (2, 3)]


def test_an_operator_of_the_program_is_asked_each_time():
    asked = []

    class Prop(mx.operator.CustomOpProp):
        def list_arguments(self):
            return ['data']

        def infer_shape(self, in_shape):
            asked.append(1)
            return in_shape, [[len(asked)]], []

    mx.operator.register('inference_counts')(Prop)
    shapes = []
    for i in range(2):
        shapes += mx.sym.Custom(mx.sym.var('x'), op_type='inference_counts', name=f'n{i}').infer_shape(x=(2 + i,))[1]
    assert len(asked) >= 2 and shapes[0] != shapes[1]


def test_the_memory_is_bounded(monkeypatch, learned):
    monkeypatch.setattr(inference._learned, 'limit', 5)
    for n in range(1, 20):
        assert mx.sym.relu(mx.sym.var('x')).infer_shape(x=(n,))[1] == [(n,)]
        assert 0 < len(inference._learned) <= 5
