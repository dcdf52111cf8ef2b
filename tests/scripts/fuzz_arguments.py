"""Calls public functions, classes and methods with one odd argument: None, texts, huge numbers, arrays of other shapes.

    python tests/scripts/fuzz_arguments.py [--part 0/4] [--every 7] [--calls nd.array] [--no-examples]

The good calls are those of `argument_calls.txt` and of the operators' examples.  In each, one argument after another
is replaced by each odd value.  A call is good when it gives a value, an MXNetError, or what a `raise` of this package
made, as long as no raw text is quoted.  It is a defect when what Python, NumPy or torch raised inside of this package
comes out, or when it takes longer than ten seconds of the processor.
"""

import argparse
import ast
import collections
import contextlib
import copy
import doctest
import io
import json
import math
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from call_limits import Hang, limited

import mxnet as mx
from mxnet._frontend import reference
from mxnet._frontend.examples import examples
from mxnet._internal_errors import is_internal

CALLS = Path(__file__).with_name('argument_calls.txt')
ODD = {
    'None': None,
    "'x'": 'x',
    "''": '',
    "'float99'": 'float99',
    "b'x'": b'x',
    '-1': -1,
    '0': 0,
    '2**40': 2**40,
    '2**70': 2**70,
    '-2**63': -(2**63),
    'nan': math.nan,
    'inf': math.inf,
    '0.5': 0.5,
    '1j': 1j,
    'True': True,
    '()': (),
    '(2**40, 2**40)': (2**40, 2**40),
    '[1, "a"]': [1, 'a'],
    '[[1], [2, 3]]': [[1], [2, 3]],
    '[None]': [None],
    "{'a': 1}": {'a': 1},
    'object array': np.array([None, 'a'], object),
    'array of texts': np.array(['a', 'b']),
    'numpy (7, 5)': np.ones((7, 5)),
    'NDArray (7, 5)': mx.nd.ones((7, 5)),
    'NDArray (1,)': mx.nd.zeros((1,)),
    'NDArray int8': mx.nd.ones((2, 3), dtype='int8'),
    'row_sparse': mx.nd.ones((2, 3)).tostype('row_sparse'),
    'Symbol': mx.sym.var('a'),
    'object()': object(),
    'the class int': int,
    'a function': lambda *_: None,
    'a generator': None,
}
RAW = re.compile(
    r"object has no attribute|not subscriptable|' object is not|unhashable|not supported between|is not iterable|"
    r"unsupported operand|unexpected keyword|division by zero|maximum recursion|INTERNAL ASSERT|bad operand type|"
    r"DefaultCPUAllocator|Exception raised from|aten::|c10::|\bat::|\btorch\.|\bTensors?\b|mat1|"
    r"invalid literal|could not convert|cannot be interpreted|values to unpack|index out of range|has no len|"
    r"can only concatenate|can't multiply|must be real number|too (?:large|big) to convert|cannot fit 'int'|"
    r"cannot convert float|indices must be integers|bytes-like|expected str|argument must be|SymInt|"
    r"missing \d+ required|takes \d+ positional|ufunc|operands could not|"
    r"Unable to allocate|received an invalid combination|must be str, not|inhomogeneous|setting an array element|"
    r"cannot unpack|dictionary update|can't convert|math domain|first argument must be|maximum supported dimension|"
    r"\(expected in range of|dimensions? out of range|not implemented for '"
)


def scope():
    """What the texts of calls may name."""
    from mxnet import autograd, gluon, nd, sym
    names = {'mx': mx, 'nd': nd, 'sym': sym, 'gluon': gluon, 'nn': gluon.nn, 'rnn': gluon.rnn, 'autograd': autograd,
             'np': mx.np, 'npx': mx.npx, 'numpy': np, 'x': nd.ones((2, 3)), 'y': nd.ones((2, 3)) * 2,
             'w': nd.ones((3, 2)), 'picture': nd.ones((8, 8, 3), dtype='uint8'), 'image': nd.ones((1, 3, 8, 8)),
             'a': mx.np.ones((2, 3)), 'b': mx.np.ones((2, 3)) * 2, 'v': nd.ones((4,)), 'i': nd.array([0, 1]),
             's': sym.var('s'), 't': sym.var('t')}
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize()
    return {**names, 'net': net, 'params': net.collect_params(),
            'module': mx.mod.Module(sym.FullyConnected(sym.var('data'), num_hidden=2, name='fc'), label_names=None)}


def good_calls(every=1, only=None, sessions=True):
    """[(text of a call, names of its scope)] of the list, and of the operators' examples unless `sessions` is False."""
    found = []
    names = scope()
    for line in CALLS.read_text().splitlines():
        if line.strip() and not line.startswith('#'):
            found.append((line, names))
    own = reference.scope()
    for session in examples().values() if sessions else ():
        globals_ = dict(own)
        for example in doctest.DocTestParser().get_examples(session):
            found.append((example.source.strip(), globals_))
    return [call for call in found if not only or any(text in call[0] for text in only)][::every]


def calls_in(tree):
    """The calls with arguments in a statement, the outermost first; those of Python's own functions are left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (node.args or node.keywords) \
                and not (isinstance(node.func, ast.Name) and node.func.id in dir(__builtins__)):
            yield node


def variants(text):
    """(the name of an argument, code with `_odd_` in its place) for each argument of each call in a statement."""
    tree = ast.parse(text)
    for number, call in enumerate(calls_in(tree)):
        if 'numpy.' in ast.unparse(call.func) or ast.unparse(call.func).endswith(('.attach_grad', 'print')):
            continue
        places = [('args', k) for k in range(len(call.args))] + [('keywords', k) for k in range(len(call.keywords))]
        for kind, k in places:
            changed = copy.deepcopy(tree)
            target = list(calls_in(changed))[number]
            odd = ast.Name('_odd_', ast.Load())
            if kind == 'args':
                if isinstance(target.args[k], ast.Starred):
                    continue
                target.args[k], name = odd, str(k)
            elif target.keywords[k].arg is None:
                continue
            else:
                name, target.keywords[k].value = str(target.keywords[k].arg), odd
            ast.fix_missing_locations(changed)
            yield f'{ast.unparse(call.func)}[{name}]', changed


def run(tree, names):
    """Runs a statement; the value of an expression is computed to its end."""
    body = tree.body
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        value = eval(compile(ast.Expression(body[0].value), '<call>', 'eval'), names)
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(each, mx.nd.NDArray):
                each.wait_to_read()
    else:
        exec(compile(tree, '<call>', 'exec'), names)


def problem(error):
    """What is wrong with an error; '' if nothing is."""
    text = str(error)
    if isinstance(error, Hang):
        return 'hang'
    ours = error.__traceback__
    while ours is not None and not str(ours.tb_frame.f_globals.get('__name__')).startswith('mxnet'):
        ours = ours.tb_next
    if ours is not None and is_internal(error.with_traceback(ours)):
        return f'not ours: {type(error).__name__}: {text}'
    if RAW.search(text):
        return f'raw: {type(error).__name__}: {text}'
    return '' if text else f'{type(error).__name__} without a text'


def attempt(tree, names):
    try:
        with limited(), contextlib.redirect_stdout(io.StringIO()):
            run(tree, names)
        return None
    except (Hang, Exception) as error:
        return error


def campaign(part=(0, 1), every=1, only=None, tell=None, sessions=True):
    """(counts, defects)"""
    counts, defects, seen = collections.Counter(), [], set()
    for number, (text, names) in enumerate(good_calls(every, only, sessions)):
        try:
            base = attempt(ast.parse(text), names)
        except SyntaxError:
            continue
        if base is not None:
            counts['good calls that fail'] += 1
            if tell is not None:
                tell(f'# {text}: {type(base).__name__}: {str(base)[:200]}')
            continue
        counts['good calls'] += 1
        if number % part[1] != part[0]:
            continue
        for what, tree in variants(text):
            if (what, text) in seen:
                continue
            seen.add((what, text))
            for shown, value in ODD.items():
                counts['calls'] += 1
                # the names stay those of the good call: an odd value must not be what a later line begins with
                own = {**names, '_odd_': (n for n in (1, 2)) if shown == 'a generator' else value}
                error = attempt(tree, own)
                if error is None:
                    counts['values'] += 1
                elif found := problem(error):
                    counts['defects'] += 1
                    defects.append({'call': text[:120], 'argument': what, 'value': shown, 'problem': found[:300]})
                else:
                    counts['errors'] += 1
                mx.util.reset_np()
                mx.nd.waitall()
    return counts, defects


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--part', default='0/1')
    parser.add_argument('--every', type=int, default=1, help='only each so manieth good call')
    parser.add_argument('--calls', action='append', help='only good calls with this text in them')
    parser.add_argument('--no-examples', action='store_true', help='without the examples of operators')
    options = parser.parse_args()
    warnings.simplefilter('ignore')
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        counts, defects = campaign(tuple(map(int, options.part.split('/'))), options.every, options.calls,
                                   lambda line: print(line, file=sys.stderr), not options.no_examples)
        os.chdir('/')
    for defect in defects:
        print(json.dumps(defect))
    print(dict(counts))
    return 1 if defects else 0


if __name__ == '__main__':
    sys.exit(main())
