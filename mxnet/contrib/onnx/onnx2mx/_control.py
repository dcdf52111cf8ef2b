"""Branches and loops: If, Scan and Loop, whose bodies are graphs of their own."""
import numpy as np

from .... import symbol as sym
from ._lengths import Length
from ._registry import translates
from .import_onnx import Tensor

MOST_STEPS = 1 << 20


def _branch(n, key):
    body = n.get(key)
    if body is None or not hasattr(body, 'node'):
        raise n.error(f'it has no {key}')
    return body


@translates('If')
def if_(n):
    """The branch alone where the condition is known; a branch sees what is outside."""
    branches = [_branch(n, key) for key in ('then_branch', 'else_branch')]
    known = n.input(0).values
    if known is not None:
        if known.size != 1:
            raise n.error(f'its condition has {known.size} elements')
        return _walked(n, branches[0 if known.item() else 1])
    readers = [n.graph.body(branch) for branch in branches]
    # a condition of no axes has one here
    condition = n.sym() if n.tensors[0].rank else sym.Reshape(n.sym(), shape=(1,))
    found = sym.contrib.cond(condition, *[_later(n, reader, branch) for reader, branch in
                                          zip(readers, branches, strict=True)])
    return found if isinstance(found, list) else [found]


def _walked(n, branch):
    return n.graph.body(branch).walk(branch, [])


def _later(n, reader, branch):
    return lambda: [sym.identity(part) for part in reader.walk(branch, [])]


def _paired(n, inputs, symbols):
    if len(inputs) != len(symbols):
        raise n.error(f'its body has {len(inputs)} inputs, but it is called with {len(symbols)}')
    return list(zip(inputs, symbols, strict=True))


@translates('Scan')
def scan(n):
    body, count = _branch(n, 'body'), n.get('num_scan_inputs')
    if n.opset < 9:
        raise n.error('before opset 9')
    if type(count) is not int or not 0 < count <= len(n):
        raise n.error(f'num_scan_inputs={count!r}')
    states = len(n) - count
    rows = [_along(n, n.sym(states + i), n.get('scan_input_axes', [0] * count)[i],
                   n.get('scan_input_directions', [0] * count)[i], n.rank(states + i)) for i in range(count)]
    reader = n.graph.body(body)
    given = [n.sym(i) for i in range(states)]

    def step(slices, values):
        outputs = reader.walk(body, _paired(n, body.input, [*values, *slices]))
        # a slice or a state that nothing uses takes part with a factor of nothing
        used = {name for output in outputs for name in output.list_inputs()}
        for variable in (*slices, *values):
            if variable.name not in used:
                outputs[-1] = _with(outputs[-1], variable)
        return outputs[states:], outputs[:states]
    outputs, after = sym.contrib.foreach(step, rows, given)
    kinds, ways = n.get('scan_output_axes'), n.get('scan_output_directions')
    found = list(after)
    for i, output in enumerate(outputs):
        axis, back = (kinds[i] if kinds else 0), (ways[i] if ways else 0)
        if axis < 0:
            axis += len(body.output[states + i].type.tensor_type.shape.dim) + 1
        output = sym.reverse(output, axis=0) if back else output
        found.append(_moved(output, 0, axis))
    return found


def _with(symbol, variable):
    """The same values, which depend on a variable as well."""
    nothing = sym.zeros_like(sym.Reshape(sym.sum(variable), shape=(1,)))
    return sym.broadcast_add(symbol, sym.Cast(nothing, dtype='float32'))


def _moved(x, start, end):
    """An axis in another place."""
    for axis in range(start, end, 1 if end > start else -1):
        x = sym.SwapAxis(x, dim1=axis, dim2=axis + (1 if end > start else -1))
    return x


def _along(n, x, axis, back, rank):
    x = _moved(x, axis % rank, 0)
    return sym.reverse(x, axis=0) if back else x


@translates('Loop')
def loop(n):
    body = _branch(n, 'body')
    most = n.values(0)
    if most is None:
        raise n.error('the number of its steps has no limit')
    most = int(np.ravel(most)[0])
    if not 0 < most <= MOST_STEPS:
        raise n.error(f'it has at most {most} steps; from 1 to {MOST_STEPS} can be translated')
    reader = n.graph.body(body)
    first = n.sym(1) if n.has(1) else n.parameter(np.ones(1, np.float32), 'goes_on')
    # two variables may begin with one value; each has a name of its own
    begin = [sym.identity(s) for s in (n.parameter(np.zeros(1, np.int64), 'step'), sym.Reshape(first, shape=(1,)),
                                       *[n.sym(i) for i in range(2, len(n))])]
    states, again = len(begin) - 2, []

    def step(number, before, *values):
        outputs = reader.walk(body, _paired(n, body.input, [number, before, *values]))
        name, same = body.output[0].name, {n.output[0]: n.input[0] for n in body.node if n.op_type == 'Identity'}
        known = reader.tensors[name].values
        while name in same:
            name = same.pop(name)
        again.append(name == body.input[1].name or known is not None and bool(np.all(known)))
        goes_on = sym.Cast(sym.Reshape(outputs[0], shape=(1,)), dtype='float32')
        if not any(output.name == before.name for output in outputs):
            goes_on = sym.broadcast_add(goes_on, sym.Cast(before, dtype='float32') * 0)
        return outputs[1 + states:], [number + 1, goes_on, *outputs[1:1 + states]]
    outputs, after = sym.contrib.while_loop(lambda number, before, *values: before, step, begin, max_iterations=most)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    starts = not n.has(1) or n.tensors[1].values is not None and bool(np.all(n.tensors[1].values))
    if starts and again[0]:
        return [*after[2:], *outputs]
    found: list = list(after[2:])
    for name, output in zip(n.outputs[states:], outputs):
        tensor = Tensor(dims=(Length({(f'{name}:steps',): 1}),))
        tensor.rows, tensor.padded = most, output
        found.append(tensor)
    return found
