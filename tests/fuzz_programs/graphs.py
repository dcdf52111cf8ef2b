"""Blocks that are random graphs of operators, with several outputs, into which the program writes.

What plans rewrite: calls that repeat, views, pieces of concatenations, axes of length 1, constants, results of weights
alone.
"""
import math
import re

import numpy as np

from .program import Program, lines
from .program import Statement as S

SHAPES = ((3, 4), (3, 4), (4, 4), (3, 1), (1, 4), (4,), (1,), (2, 3, 4), (3, 2, 1), (1, 1))
UNARY = lines('''
    F.exp({a})
    F.tanh({a})
    F.relu({a})
    F.sigmoid({a})
    F.abs({a})
    F.square({a})
    F.identity({a})
    F.BlockGrad({a})
    F.zeros_like({a})
    F.ones_like({a})
    F.floor({a})
    F.cast(F.cast({a}, 'float64'), 'float32')
    F.cast(F.cast({a}, 'float16'), 'float32')
    F.cast(F.cast({a}, 'int32'), 'float32')
    F.clip({a}, -0.5, 0.5)
    F.smooth_l1({a}, scalar=1.0)
    F.softmax({a})
    F.log_softmax({a})
    F.cumsum({a}, axis=0)
    F.flip({a}, axis=0)
    F.sort({a}, axis=-1)
    F.Dropout({a}, p=0)
    F.hard_sigmoid({a}, alpha=-1)
    F.transpose(F.transpose({a}))
    -{a}
    {a} * 1
    {a} * -1
    {a} * -1.0
    {a} * -0.0
    {a} + 0
    {a} / 2
    1 - {a}
    {a} ** 2
''')
BINARY = lines('''
    F.broadcast_add({a}, {b})
    F.broadcast_sub({a}, {b})
    F.broadcast_mul({a}, {b})
    F.broadcast_maximum({a}, {b})
    F.broadcast_greater({a}, {b})
''')
# what has no gradient, or is no result of the inputs
CUT = re.compile(r'F\.(BlockGrad|zeros_like|ones_like|floor|shape_array|ones|eye|arange|full|broadcast_greater)\('
                 r'|int32')
OVER = ('sum', 'mean', 'max', 'min', 'prod', 'nansum')


class Graph:
    """Values, by name, with their shapes, and the lines that compute them."""

    def __init__(self, r):
        self.r, self.lines = r, []
        self.shapes = {'x': r.choice(SHAPES), 'y': r.choice(SHAPES), 'w': r.choice(SHAPES[:8])}
        self.inputs = dict(self.shapes)
        if r.random() < 0.5:
            self.shapes['y'] = self.inputs['y'] = self.shapes['x']
        for _ in range(r.randint(2, 8)):
            self.add()

    def add(self):
        found = None
        while found is None:
            found = self.r.choice((self.unary, self.unary, self.binary, self.binary, self.over, self.over, self.moved,
                                   self.moved, self.moved, self.part, self.joined, self.joined, self.taken, self.taken,
                                   self.constant, self.again))()
        name = f'v{len(self.lines)}'
        text, self.shapes[name] = found
        self.lines.append((name, text))

    def pick(self):
        names = list(self.shapes)
        return self.r.choice(names[-4:] + names)

    def unary(self):
        a = self.pick()
        return self.r.choice(UNARY).format(a=a), self.shapes[a]

    def binary(self):
        a, b = self.pick(), self.pick()
        if len(self.shapes[a]) != len(self.shapes[b]):
            return None
        try:
            shape = np.broadcast_shapes(self.shapes[a], self.shapes[b])
        except ValueError:
            return None
        return self.r.choice(BINARY).format(a=a, b=b), shape

    def over(self):
        a = self.pick()
        shape = self.shapes[a]
        axis, keep = self.r.randrange(len(shape)), self.r.random() < 0.5
        rest = (*shape[:axis], *((1,) if keep else ()), *shape[axis + 1:]) or (1,)
        return f'F.{self.r.choice(OVER)}({a}, axis={axis}, keepdims={keep})', rest

    def moved(self):
        a = self.pick()
        shape = self.shapes[a]
        axis = self.r.randrange(len(shape))
        order = self.r.sample(range(len(shape)), len(shape))
        return self.r.choice((
            (f'F.reshape({a}, (-1,))', (math.prod(shape),)),
            (f'F.reshape({a}, (1, -1))', (1, math.prod(shape))),
            (f'F.expand_dims({a}, axis={axis})', (*shape[:axis], 1, *shape[axis:])),
            (f'F.squeeze({a}, axis={axis})', (*shape[:axis], *shape[axis + 1:])) if shape[axis] == 1 < len(shape)
            else None,
            (f'F.transpose({a}, axes={tuple(order)})', tuple(shape[i] for i in order)),
            (f'F.transpose({a}, axes={tuple(order)})', tuple(shape[i] for i in order)),
            (f'F.repeat({a}, repeats=2, axis={axis})', (*shape[:axis], 2 * shape[axis], *shape[axis + 1:])),
            (f'F.broadcast_axis({a}, axis={axis}, size=3)', (*shape[:axis], 3, *shape[axis + 1:]))
            if shape[axis] == 1 else None))

    def part(self):
        a = self.pick()
        shape = self.shapes[a]
        axis = self.r.randrange(len(shape))
        if shape[axis] < 2:
            return None
        begin = self.r.randrange(shape[axis] - 1)
        end = self.r.randint(begin + 1, shape[axis])
        return f'F.slice_axis({a}, axis={axis}, begin={begin}, end={end})', (*shape[:axis], end - begin,
                                                                             *shape[axis + 1:])

    def _pair(self):
        a, b = self.pick(), self.pick()
        mine, its = self.shapes[a], self.shapes[b]
        axis = self.r.randrange(len(mine))
        if len(its) != len(mine) or mine[:axis] != its[:axis] or mine[axis + 1:] != its[axis + 1:]:
            return None
        return a, b, axis

    def joined(self):
        found = self._pair()
        if found is None:
            return None
        a, b, axis = found
        mine, its = self.shapes[a], self.shapes[b]
        if mine == its and self.r.random() < 0.4:
            return f'F.stack({a}, {b}, axis={axis})', (*mine[:axis], 2, *mine[axis:])
        return f'F.concat({a}, {b}, dim={axis})', (*mine[:axis], mine[axis] + its[axis], *mine[axis + 1:])

    def taken(self):
        """A part of what was joined."""
        found = self._pair()
        if found is None:
            return None
        a, b, axis = found
        if self.shapes[a] == self.shapes[b] and self.r.random() < 0.5:
            number = self.r.randrange(2)
            return f'F.split(F.concat({a}, {b}, dim={axis}), 2, axis={axis})[{number}]', self.shapes[a]
        return f'F.slice_axis(F.concat({a}, {b}, dim={axis}), axis={axis}, begin=0, end={self.shapes[a][axis]})', \
            self.shapes[a]

    def constant(self):
        return self.r.choice((('F.ones((3, 4))', (3, 4)), ('F.ones((2, 2)) + 1', (2, 2)), ('F.eye(3)', (3, 3)),
                              ('F.arange(0, 4)', (4,)), ('F.full((3, 1), -0.5)', (3, 1)),
                              ("F.cast(F.shape_array(x), 'float32')", (len(self.shapes['x']),))))

    def able(self):
        """Names of values that surely have a gradient."""
        found = set(self.inputs)
        for name, text in self.lines:
            if not CUT.search(text) and any(re.search(rf'\b{a}\b', text) for a in found):
                found.add(name)
        return found

    def again(self):
        """A line once more."""
        return (self.lines[-1][1], self.shapes[self.lines[-1][0]]) if self.lines else None


def graphs(g):
    r = g.r
    graph = Graph(r)
    names = [name for name, _ in graph.lines]
    outputs = list(dict.fromkeys([names[-1], *r.sample(names, min(len(names), r.choice((0, 1, 1, 2))))]))
    shapes, able = graph.inputs, graph.able()
    heads = [number for number, name in enumerate(outputs) if name in able]
    made = f"self.w = self.params.get('w', shape={shapes['w']})"
    body = (*[S(f'{name} = {text}') for name, text in graph.lines], S(f'return [{", ".join(outputs)}]'))
    setup = [S('class Graph(gluon.HybridBlock):', (
        S('def __init__(self):', (S('super().__init__()'), S('with self.name_scope():', (S(made),)))),
        S('def hybrid_forward(self, F, x, y, w):', body))),
        S('net = Graph()'), S('net.initialize(Fixed())'), S('H(net)'), S('keep = []'),
        S(f'x, y = A(1, {_args(shapes["x"])}), A(2, {_args(shapes["y"])})'),
        S(f"x.attach_grad('{r.choice(('write', 'write', 'add'))}')"), S('y.attach_grad()')]
    iterations, usual = [], r.random() < 0.7
    for number in range(r.randint(4, 7)):
        statements = []
        if heads and (usual if r.random() < 0.8 else not usual):
            statements.append(S('with autograd.record():', (S('outputs = net(x, y)'),)))
            if r.random() < 0.3:
                statements.append(S('see(*outputs)'))
            statements += [S(f'autograd.backward([outputs[i] for i in {heads}])'),
                           S('see(x.grad, y.grad, net.w.grad())')]
        else:
            statements.append(S('outputs = net(x, y)'))
        statements.append(S('see(*outputs)'))
        if r.random() < 0.6:
            statements += [S(f'outputs[{r.randrange(len(outputs))}][:] = {number + 5}'), S('see(*outputs, x, y)')]
        statements.append(S('keep += outputs'))
        if r.random() < 0.3:
            statements.append(S(r.choice(('net.w.set_data(net.w.data() * 0.5)', 'net.w.data()[:] = 0.25',
                                          f'x[:] = A({number + 9}, {_args(shapes["x"])})'))))
        iterations.append(tuple(statements))
    return Program(tuple(setup), tuple(iterations), (S('see(*keep)'), S('see(x, y, net.w.data())')), 'graphs')


def _args(shape):
    return ', '.join(map(str, shape))
