"""Calls every operator of the table with odd attributes: huge, negative, NaN, of wrong types, empty.

    python tests/scripts/fuzz_operators.py [--operator Convolution] [--part 0/4]

The calls begin with those of the examples, so that one attribute at a time is wrong.  A call is good when it gives a
value, or an MXNetError that names the operator and the attribute and speaks no words of the libraries below.  It is a
defect when it raises anything else, dies, takes longer than ten seconds, or asks for more memory than there is.
"""

import argparse
import collections
import contextlib
import io
import json
import math
import re
import sys

import numpy as np
import torch
from call_limits import Hang, limited

import mxnet as mx
from mxnet._array import wrap
from mxnet._dispatch import Interceptor, install, remove
from mxnet._frontend import reference
from mxnet._frontend.examples import examples
from mxnet._ops.core.table import TABLE
from mxnet.base import MXNetError
from mxnet.ndarray import _invoke

ODD = (
    -1,
    0,
    1,
    3,
    2**31,
    2**62,
    10**18,
    -(2**31),
    -(2**63),
    2**70,
    1e18,
    1e300,
    math.nan,
    math.inf,
    -math.inf,
    0.5,
    '',
    'x',
    'None',
    None,
    True,
    (),
    (0,),
    (-1,),
    (1, 1),
    (1,) * 40,
    (2**40, 2**40),
    (2**62,),
    [1, 'a'],
    {},
    b'x',
    '(1,',
    '1e400',
    '-' * 3000,
    [[]],
    (math.nan,),
    np.float32('nan'),
    np.zeros(2),
    'float99',
    '٣',
)
RAW = re.compile(
    r"object has no attribute|not subscriptable|object is not|unhashable|not supported between|"
    r"unsupported operand|unexpected keyword|division by zero|maximum recursion|INTERNAL ASSERT|"
    r"DefaultCPUAllocator|Exception raised from|aten::|c10::|at::"
)


def recorded(names=None):
    """{operator: (tensors, attributes)} of the first call that its example makes, of all or of those named."""
    calls = {}
    sessions = examples()
    if names:
        sessions = {}
        for name in names:
            with contextlib.suppress(KeyError):         # some are not public, and have none
                sessions[name] = reference.example_of(TABLE[name])

    class FirstCalls(Interceptor):
        def kernel(self, op, function, node, tensors, attributes):
            result = function(*tensors, **attributes)
            if op.name not in calls and function is op.function:
                calls[op.name] = (
                    [t.detach().clone() if isinstance(t, torch.Tensor) else t for t in tensors],
                    {k: v for k, v in attributes.items() if k in op.attributes and k != 'ctx'},
                )
            return result

    watch = FirstCalls()

    for name, session in sessions.items():
        import doctest

        install(watch)
        try:
            test = doctest.DocTestParser().get_doctest(session, reference.scope(), name, None, 0)
            with (
                reference.surroundings(name),
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.suppress(Exception),
            ):
                for example in test.examples:
                    exec(compile(example.source, '<example>', 'single'), test.globs)
        finally:
            remove(watch)
    return calls


def arrays_of(tensors):
    return [None if t is None else wrap(t.clone(), mx.cpu(), mx.nd.NDArray) for t in tensors]


def eager(op, tensors, attributes):
    arrays = arrays_of(tensors)
    named = {} if op.variadic is not None else dict(zip(op.inputs, arrays))
    _invoke.call(op, () if named else tuple(arrays), {**named, **attributes}, mx.nd.NDArray)


def graph(op, tensors, attributes):
    from mxnet.symbol import Symbol
    from mxnet.symbol._compose import call

    names = [f'x{i}' for i, t in enumerate(tensors) if t is not None]
    inputs = [None if t is None else mx.sym.var(f'x{i}') for i, t in enumerate(tensors)]
    named = {} if op.variadic is not None else {k: v for k, v in zip(op.inputs, inputs) if v is not None}
    net = call(op, 'net', () if op.variadic is None else tuple(inputs), {**named, **attributes}, Symbol)
    known = {n: tuple(t.shape) for n, t in zip(names, [t for t in tensors if t is not None])}
    if all(known.values()):
        net.infer_shape(**known)
    net.tojson()


def judge(op, name, error):
    """What is wrong with an error: '' if nothing."""
    text = str(error)
    if isinstance(error, MemoryError) or not isinstance(error, MXNetError):
        return f'{type(error).__name__}: {text}'
    if RAW.search(text):
        return f'raw words: {text}'
    if not any(n in text or re.sub('^_(contrib|npi|npx|np)_', '', n) in text for n in op.names):
        return f'does not name the operator: {text}'
    if name not in text:
        return f'does not name {name}: {text}'
    return ''


def attempt(way, op, tensors, attributes):
    try:
        with limited():
            way(op, tensors, attributes)
        return None
    except (Hang, Exception) as error:
        return error


def campaign(names=None, part=(0, 1), odd=ODD, tell=None):
    """(counts, defects) over all operators, or those named."""
    calls = recorded(names)
    counts, defects = collections.Counter(), []
    for number, (key, op) in enumerate(sorted(TABLE.items())):
        if number % part[1] != part[0] or names and key not in names or not op.attributes:
            continue
        if key == '_CustomFunction':            # stands for a function of a program, and says so whatever it is given
            continue
        tensors, attributes = calls.get(key, ([], {}))
        # attributes that a call gives by position would be there twice
        tensors = [t for t in tensors if t is None or isinstance(t, torch.Tensor)][: len(op.inputs) or None]
        counts['operators'] += 1
        if key not in calls:
            counts['without an example'] += 1
            tensors = [torch.ones(2, 3) for _ in op.inputs]
        base = {way: str(attempt(way, op, tensors, attributes)) for way in (eager, graph)}
        for name in op.attributes:
            for value in odd:
                for way in (eager, graph):
                    counts['calls'] += 1
                    if tell is not None:
                        tell(key, name, value, way.__name__)
                    error = attempt(way, op, tensors, {**attributes, name: value})
                    if error is None:
                        counts['values'] += 1
                        continue
                    problem = judge(op, name, error)
                    # without an example, nobody has given what else the operator needs
                    other = key not in calls and ('is missing' in str(error) or 'needs at least one' in str(error))
                    if not problem or other or str(error) == base[way]:
                        counts['errors'] += 1
                    else:
                        counts['defects'] += 1
                        defects.append(
                            {
                                'operator': key,
                                'attribute': name,
                                'value': repr(value)[:60],
                                'way': way.__name__,
                                'problem': problem[:400],
                            }
                        )
    return counts, defects


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--operator', action='append')
    parser.add_argument('--part', default='0/1')
    parser.add_argument('--log', help='a file with the call that is being made, to know what a crash was')
    options = parser.parse_args()
    import warnings

    warnings.simplefilter('ignore')
    log = open(options.log, 'w') if options.log else None

    def tell(*call):
        if log is not None:
            log.seek(0)
            log.write(repr(call) + '\n')
            log.truncate()
            log.flush()

    counts, defects = campaign(options.operator, tuple(map(int, options.part.split('/'))), tell=tell)
    for defect in defects:
        print(json.dumps(defect))
    print(dict(counts))
    return 1 if defects else 0


if __name__ == '__main__':
    sys.exit(main())
